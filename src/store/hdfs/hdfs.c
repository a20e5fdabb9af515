/*
 * HDFS over WebHDFS and HttpFS: opening a store, and the operations that are one request.
 *
 * What the server cannot tell apart by itself is looked at first: DELETE removes files and empty folders alike, so that remove_dir asks what is there; remove does not, because a
 * folder that is removed in a file's place was empty, and a request saved for each of a million files counts more.
 */
#include "store/hdfs/hdfs.h"

#include <stdlib.h>

#include "base/thread.h"
#include "base/uri.h"
#include "store/log_store.h"

#define REMOVERS 16

/* ---- looking ---- */

static silt_status status_of(hdfs_store *s, str path, arena *a, hdfs_answer *out, silt_error *err) {
    const hdfs_request stat = {.method = "GET", .op = "GETFILESTATUS", .path = path, .repeatable = true, .what = "looking at"};
    TRY(hdfs_call(s, &stat, a, out, err));
    return hdfs_is_ok(out) ? SILT_OK : hdfs_failure_to_find(s, out, "looking at", path, err);
}

silt_status hdfs_stat(store *s, str path, arena *a, store_entry *out, silt_error *err) {
    hdfs_answer answer;
    TRY(hdfs_check_path(path, err));
    TRY(status_of((hdfs_store *)s, path, a, &answer, err));
    return hdfs_parse_status(answer.body, path, a, out, err);
}

/* ---- removing ---- */

static silt_status delete_path(hdfs_store *s, str path, arena *a, bool *out_was_there, silt_error *err) {
    hdfs_answer answer;
    const hdfs_request remove = {.method = "DELETE", .op = "DELETE", .path = path, .params = STR("&recursive=false"), .repeatable = true, .what = "removing"};
    TRY(hdfs_call(s, &remove, a, &answer, err));
    if (!hdfs_is_ok(&answer)) return hdfs_failure_to_find(s, &answer, "removing", path, err);
    *out_was_there = hdfs_answer_boolean(&answer, a) || answer.may_have_applied; /* a second sending finds nothing */
    return SILT_OK;
}

static silt_status remove_file(hdfs_store *s, str path, arena *a, silt_error *err) {
    bool was_there;
    silt_error why = {.status = SILT_OK};
    TRY(hdfs_check_path(path, err));
    silt_status status = delete_path(s, path, a, &was_there, &why);
    if (status == SILT_EXISTS) {
        status = store_path_error(&s->base, path, err_FILE_NOT_FOUND, err);
        error_detail(err, "It is a folder.");
        return status;
    }
    if (status != SILT_OK && err) *err = why;
    return status == SILT_OK && !was_there ? store_path_error(&s->base, path, err_FILE_NOT_FOUND, err) : status;
}

static silt_status remove_empty(hdfs_store *s, str dir, arena *a, silt_error *err) {
    store_entry e;
    bool was_there;
    TRY(hdfs_stat(&s->base, dir, a, &e, err));
    if (!e.is_dir) return store_path_error(&s->base, dir, err_FILE_NOT_FOUND, err);
    TRY(delete_path(s, dir, a, &was_there, err));
    return was_there ? SILT_OK : store_path_error(&s->base, dir, err_FILE_NOT_FOUND, err);
}

static silt_status in_arena(silt_status (*run)(hdfs_store *, str, arena *, silt_error *), store *s, str path, silt_error *err) {
    arena *a = arena_new();
    silt_status status = a ? run((hdfs_store *)s, path, a, err) : error_no_memory(err);
    arena_free(a);
    return status;
}

static silt_status hdfs_remove(store *s, str path, silt_error *err) { return in_arena(remove_file, s, path, err); }
static silt_status hdfs_remove_dir(store *s, str dir, silt_error *err) { return in_arena(remove_empty, s, dir, err); }

typedef struct removals {
    store *s;
    str dir;
    const str *names;
    silt_status *out;
    pthread_mutex_t lock; /* over what follows */
    size_t first;         /* of the names, that failed otherwise than by not being there; n: none */
    silt_error *err;      /* its error; may be NULL */
} removals;

static void note_failure(removals *r, size_t i, const silt_error *why) {
    pthread_mutex_lock(&r->lock);
    if (i < r->first) {
        r->first = i;
        if (r->err) *r->err = *why;
    }
    pthread_mutex_unlock(&r->lock);
}

static silt_status remove_nth(void *ctx, size_t i, silt_error *err) {
    removals *r = ctx;
    silt_error why = {.status = SILT_OK};
    arena *a = arena_new();
    str path = a ? path_join(a, r->dir, r->names[i]) : STR_NULL;
    (void)err;
    r->out[i] = str_is_null(path) ? error_no_memory(&why) : remove_file((hdfs_store *)r->s, path, a, &why);
    if (r->out[i] != SILT_OK && r->out[i] != SILT_NOT_FOUND) note_failure(r, i, &why);
    arena_free(a);
    return SILT_OK;
}

silt_status hdfs_remove_below(store *s, str dir, const str *names, size_t n, silt_status *out, silt_error *err) {
    removals r = {.s = s, .dir = dir, .names = names, .out = out, .first = n, .err = err};
    silt_error own;
    pthread_mutex_init(&r.lock, NULL);
    silt_status status = thread_for(REMOVERS, n, remove_nth, &r, &own);
    pthread_mutex_destroy(&r.lock);
    if (status != SILT_OK && err) *err = own;
    return status;
}

/* ---- folders ---- */

static silt_status make_folders(hdfs_store *s, str dir, arena *a, silt_error *err) {
    hdfs_answer answer;
    const hdfs_request make = {.method = "PUT", .op = "MKDIRS", .path = dir, .params = s->site.folder_params, .repeatable = true, .what = "making the folder"};
    TRY(hdfs_check_path(dir, err));
    TRY(hdfs_call_ok(s, &make, a, &answer, err));
    return hdfs_answer_boolean(&answer, a) ? SILT_OK : err_HDFS_REMOTE_EXCEPTION(err, s->site.name, make.what, dir);
}

silt_status hdfs_make_dirs(store *s, str dir, silt_error *err) { return in_arena(make_folders, s, dir, err); }

typedef struct moving {
    hdfs_store *s;
    str from, to;
    int64_t id; /* of the folder's inode, which keeps it */
    arena *a;
} moving;

/* Was it moved, by a request whose answer was lost or came twice? The inode tells. */
static bool is_moved(const moving *m) {
    hdfs_answer answer;
    return m->id && status_of(m->s, m->to, m->a, &answer, NULL) == SILT_OK && hdfs_parse_file_id(answer.body, m->a) == m->id;
}

static silt_status move_once(const moving *m, hdfs_answer *out, silt_error *err) {
    str params = arena_printf(m->a, "&destination=%.*s&renameoptions=NONE", STR_ARG(http_encode(m->to, true, m->a)));
    const hdfs_request rename = {.method = "PUT", .op = "RENAME", .path = m->from, .params = params, .what = "renaming"};
    return str_is_null(params) ? error_no_memory(err) : hdfs_call(m->s, &rename, m->a, out, err);
}

/* Sending it again after a broken connection does no harm: it moves what is still there, or says that it is not. */
static silt_status move_surely(const moving *m, hdfs_answer *out, silt_error *err) {
    silt_status status = SILT_OK;
    for (int i = 1; i <= m->s->site.attempts; i++) {
        if (i > 1) hdfs_wait(m->s, i);
        status = move_once(m, out, err);
        if (status != SILT_UNKNOWN) return status;
    }
    return status;
}

/* HttpFS answers with a boolean, and its rename onto a folder would move into it: what is there is looked at before. */
static bool is_renamed(const moving *m, const hdfs_answer *answer) {
    return hdfs_is_ok(answer) && (str_trim(answer->body).len == 0 || hdfs_answer_boolean(answer, m->a));
}

static silt_status move(moving *m, silt_error *err) {
    hdfs_answer answer;
    store_entry there;
    TRY(status_of(m->s, m->from, m->a, &answer, err));
    m->id = hdfs_parse_file_id(answer.body, m->a);
    if (hdfs_stat(&m->s->base, m->to, m->a, &there, NULL) == SILT_OK) return store_path_error(&m->s->base, m->to, err_PATH_ALREADY_EXISTS, err);
    TRY(make_folders(m->s, path_parent(m->to), m->a, err));
    TRY(move_surely(m, &answer, err));
    if (is_renamed(m, &answer) || is_moved(m)) return SILT_OK;
    if (hdfs_is_ok(&answer)) return err_HDFS_REMOTE_EXCEPTION(err, m->s->site.name, "renaming", m->from);
    if (hdfs_is(&answer, "IOException") && hdfs_stat(&m->s->base, m->to, m->a, &there, NULL) == SILT_OK) return store_path_error(&m->s->base, m->to, err_PATH_ALREADY_EXISTS, err);
    return hdfs_failure(m->s, &answer, "renaming", m->from, err);
}

static silt_status hdfs_move_dir(store *s, str from, str to, silt_error *err) {
    TRY(hdfs_check_path(from, err));
    TRY(hdfs_check_path(to, err));
    arena *a = arena_new();
    moving m = {.s = (hdfs_store *)s, .from = from, .to = to, .a = a};
    silt_status status = a ? move(&m, err) : error_no_memory(err);
    arena_free(a);
    return status;
}

/* ---- the store ---- */

/* The name service or the NameNodes: whoever reaches the same ones by one spelling sees the same files. */
static void hdfs_identity(store *base, buf *out) {
    const hdfs_store *s = (const hdfs_store *)base;
    buf_append_z(out, "hdfs ");
    buf_append(out, s->site.name);
    for (size_t i = 0; i < s->site.n_services; i++) {
        buf_append_char(out, ' ');
        buf_append(out, s->site.services[i]);
    }
}

static void hdfs_close(store *base) {
    hdfs_store *s = (hdfs_store *)base;
    http_client_free(s->client);
    temp_folder_close(&s->temp);
    free(s->cookie);
    free(s->data_node);
    free(s->data_query);
    pthread_mutex_destroy(&s->lock);
    arena_free(s->settings);
    free(s);
}

static const store_ops hdfs_ops = {
    .name = "hdfs",
    .close = hdfs_close,
    .read = hdfs_read,
    .stat = hdfs_stat,
    .put = hdfs_put,
    .list = hdfs_list,
    .remove = hdfs_remove,
    .make_dirs = hdfs_make_dirs,
    .remove_dir = hdfs_remove_dir,
    .local_read_path = hdfs_local_read_path,
    .write_begin = hdfs_write_begin,
    .write_finish = hdfs_write_finish,
    .write_abort = hdfs_write_abort,
    .write_finish_many = hdfs_write_finish_many,
    .move_dir = hdfs_move_dir,
    .walk = hdfs_walk,
    .remove_below = hdfs_remove_below,
    .parallel = 32,
    .identity = hdfs_identity,
};

static silt_status configure(hdfs_store *s, hdfs_kind kind, str authority, const store_settings *settings, silt_error *err) {
    hdfs_conf conf;
    s->settings = arena_new();
    if (!s->settings) return error_no_memory(err);
    TRY(hdfs_conf_load(settings, NULL, s->settings, &conf, err));
    TRY(hdfs_site_resolve(kind, authority, &conf, s->settings, &s->site, err));
    TRY(store_setting_temp_dir(settings, s->settings, &s->temp_base, err));
    static const char *const schemes[] = {"hdfs", "webhdfs", "swebhdfs", "viewfs", NULL};
    TRY(log_store_find_unknown(settings, schemes, s->settings, &s->log_store, err));
    if (settings) s->site.http.waiter = settings->waiter;
    return http_client_new(&s->site.http, &s->client, err);
}

static silt_status open_store(hdfs_kind kind, str authority, const store_settings *settings, store **out, silt_error *err) {
    hdfs_store *s = calloc(1, sizeof *s);
    if (!s) return error_no_memory(err);
    s->base.ops = &hdfs_ops;
    pthread_mutex_init(&s->lock, NULL);
    silt_status status = configure(s, kind, authority, settings, err);
    if (status == SILT_OK) *out = &s->base;
    else hdfs_close(&s->base);
    return status;
}

silt_status store_hdfs_open(str authority, void *config, store **out, silt_error *err) { return open_store(HDFS_BY_RPC, authority, config, out, err); }
silt_status store_webhdfs_open(str authority, void *config, store **out, silt_error *err) { return open_store(HDFS_BY_HTTP, authority, config, out, err); }
silt_status store_swebhdfs_open(str authority, void *config, store **out, silt_error *err) { return open_store(HDFS_BY_HTTPS, authority, config, out, err); }
