/*
 * Writing objects: conditional puts and their outcome, data files by way of local ones.
 *
 * A put-if-absent is one conditional request, sent again where no answer came. Then "something was there" may mean this very put: so whenever an attempt may have been carried
 * out, the object is read back. Equal bytes are ours (a commit holds its own txnId; of equal bytes it would not matter whose they are), others are another writer's. Where the
 * object is still absent, the last attempt may yet be carried out, so that "failed" would be a guess: the put is repeated, and ends as "unknown" if that fails too.
 */
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/thread.h"
#include "base/uri.h"
#include "store/download.h"
#include "store/log_store.h"
#include "store/object/object_early.h"
#include "store/object/object_internal.h"

#define PUT_ROUNDS 3

/* ---- put ---- */

typedef struct put_call {
    object_store *o;
    str path, bytes;
    bool if_absent;
    bool unsure; /* an attempt may have been carried out although the status is a failure */
} put_call;

static silt_status put_once(put_call *c, arena *a, silt_error *err) {
    http_header headers[OBJECT_HEADERS];
    http_request r;
    http_response answer;
    str key = object_key(c->path);
    object_error e = {.code = STR_NULL, .message = STR_NULL};
    TRY(object_request_begin(c->o, c->if_absent ? OBJECT_PUT_IF_ABSENT : OBJECT_PUT, key, headers, &r, a, err));
    r.body = c->bytes;
    r.repeatable = true;
    silt_status status = object_send(c->o, &r, "Writing", a, &answer, err);
    c->unsure = answer.may_have_applied;
    if (status != SILT_OK) return status;
    if (http_is_ok(&answer)) return SILT_OK;
    c->unsure |= answer.status >= 500 || answer.status == 408;
    if (c->if_absent && c->o->driver->parse_error) c->o->driver->parse_error(c->o, &answer, a, &e);
    if (c->if_absent && c->o->driver->is_taken(&answer, &e)) return store_path_error(&c->o->base, c->path, err_PATH_ALREADY_EXISTS, err);
    c->unsure |= c->if_absent && c->o->driver->is_unsettled && c->o->driver->is_unsettled(&answer, &e);
    return object_error_without(c->o, &answer, "Writing", key, a, err);
}

static silt_status unknown(const put_call *c, const silt_error *why, silt_error *err) {
    silt_status status = store_path_error(&c->o->base, c->path, err_WRITE_OUTCOME_UNKNOWN, err);
    error_detail(err, "%s", why->message);
    return status;
}

/* OK: it is ours. EXISTS: another's. NOT_FOUND: absent. UNKNOWN. */
static silt_status look_back(const put_call *c, silt_error *err) {
    silt_error why = {0};
    buf found;
    buf_init(&found, c->bytes.len + 1); /* one more byte than ours is enough to know */
    store *s = &c->o->base;
    silt_status status = s->ops->read(s, c->path, 0, (int64_t)c->bytes.len + 1, &found, &why);
    bool ours = status == SILT_OK && str_eq(buf_str(&found), c->bytes);
    buf_dispose(&found);
    if (ours) return SILT_OK;
    if (status == SILT_OK) return store_path_error(&c->o->base, c->path, err_PATH_ALREADY_EXISTS, err);
    return status == SILT_NOT_FOUND ? SILT_NOT_FOUND : unknown(c, &why, err);
}

static silt_status put_if_absent(put_call *c, arena *a, silt_error *err) {
    silt_error why = {0};
    for (int round = 1;; round++) {
        arena_reset(a);
        silt_status status = put_once(c, a, &why);
        if (status == SILT_OK || !c->unsure) return status == SILT_OK ? SILT_OK : object_copy_error(&why, err);
        status = look_back(c, err);
        if (status != SILT_NOT_FOUND) return status;
        if (round == PUT_ROUNDS) return unknown(c, &why, err);
    }
}

/* Replacing twice is replacing once. */
static silt_status put_replace(put_call *c, arena *a, silt_error *err) {
    silt_error why = {0};
    silt_status status = put_once(c, a, &why);
    if (status == SILT_OK) return SILT_OK;
    return c->unsure ? unknown(c, &why, err) : object_copy_error(&why, err);
}

silt_status object_store_put(store *s, str path, str bytes, store_put_mode mode, silt_error *err) {
    put_call c = {.o = (object_store *)s, .path = path, .bytes = bytes, .if_absent = mode != STORE_PUT_REPLACE};
    if (c.if_absent && !str_is_null(c.o->log_store)) return log_store_refuse(c.o->log_store, err);
    arena *a = arena_new();
    if (!a) return error_no_memory(err);
    silt_status status = c.if_absent ? put_if_absent(&c, a, err) : put_replace(&c, a, err);
    arena_free(a);
    return status;
}

/* ---- local files ---- */

static silt_status local_name(object_store *o, str path, arena *a, str *out, silt_error *err) {
    pthread_mutex_lock(&o->lock);
    silt_status status = temp_folder_name(&o->temp, o->temp_base, path, a, out, err);
    pthread_mutex_unlock(&o->lock);
    return status;
}

typedef struct fetching {
    object_store *o;
    str key;
    arena *a;
} fetching;

static silt_status fetch(void *ctx, store_download *d, silt_error *err) {
    const fetching *f = ctx;
    http_header headers[OBJECT_HEADERS];
    http_request r;
    http_response answer;
    int64_t told;
    TRY(object_request_begin(f->o, OBJECT_READ, f->key, headers, &r, f->a, err));
    r.sink = store_download_write;
    r.sink_ctx = d;
    r.repeatable = true;
    TRY(object_send(f->o, &r, "Reading", f->a, &answer, err));
    if (!http_is_ok(&answer)) return object_error_of(f->o, &answer, "Reading", f->key, f->a, err);
    str length = http_header_get(&answer, "content-length");
    bool is_whole = str_is_null(length) || !str_is_null(http_header_get(&answer, "content-encoding")) || (str_to_i64(length, &told) && told == d->end);
    return answer.status == 206 || !is_whole ? object_bad_answer(f->o, "Reading", "not the whole object", err) : SILT_OK;
}

silt_status object_store_local_read_path(store *s, str path, arena *a, str *out, silt_error *err) {
    fetching f = {(object_store *)s, object_key(path), a};
    TRY(local_name(f.o, path, a, out, err));
    return store_download_run(*out, fetch, &f, a, err);
}

/* ---- data files ---- */

silt_status object_store_write_begin(store *s, str path, arena *a, str *out_local, silt_error *err) {
    TRY(object_check_key((object_store *)s, object_key(path), err));
    return local_name((object_store *)s, path, a, out_local, err);
}

silt_status object_put_file(object_store *o, str key, str local, int64_t size, arena *a, silt_error *err) {
    http_header headers[OBJECT_HEADERS];
    http_request r;
    http_response answer;
    TRY(object_request_begin(o, OBJECT_PUT, key, headers, &r, a, err));
    r.body_file = local.ptr;
    r.body_length = size;
    r.repeatable = true; /* the name of a data file is its writer's own */
    TRY(object_send(o, &r, "Writing", a, &answer, err));
    return http_is_ok(&answer) ? SILT_OK : object_error_without(o, &answer, "Writing", key, a, err);
}

static silt_status upload(object_store *o, str path, str local, silt_error *err) {
    struct stat st;
    object_early early;
    arena *a = arena_new();
    str z = a ? arena_str(a, local) : STR_NULL;
    silt_status status = SILT_OK;
    if (str_is_null(z)) status = error_no_memory(err);
    else if (stat(z.ptr, &st) != 0) status = error_from_errno(err, errno, "stat", local);
    else if (object_early_finish(o, object_key(path), local, st.st_size, a, &early)) status = o->driver->upload(o, object_key(path), z, st.st_size, &early, a, err);
    else if (st.st_size > o->piece_bytes) status = o->driver->upload(o, object_key(path), z, st.st_size, NULL, a, err);
    else status = object_put_file(o, object_key(path), z, st.st_size, a, err);
    arena_free(a);
    return status;
}

static void remove_local(object_store *o, str local) {
    pthread_mutex_lock(&o->lock);
    temp_folder_remove(&o->temp, local);
    pthread_mutex_unlock(&o->lock);
}

silt_status object_store_write_finish(store *s, str path, str local, silt_error *err) {
    TRY(upload((object_store *)s, path, local, err));
    remove_local((object_store *)s, local);
    return SILT_OK;
}

typedef struct uploads {
    store *s;
    const str *paths, *locals;
} uploads;

static silt_status finish_one(void *ctx, size_t i, silt_error *err) {
    const uploads *u = ctx;
    return upload((object_store *)u->s, u->paths[i], u->locals[i], err);
}

silt_status object_store_write_finish_many(store *s, const str *paths, const str *locals, size_t n, silt_error *err) {
    uploads u = {s, paths, locals};
    TRY(thread_for(OBJECT_REQUESTS, n, finish_one, &u, err));
    for (size_t i = 0; i < n; i++) remove_local((object_store *)s, locals[i]);
    return SILT_OK;
}

void object_store_write_follow(store *s, str path, str local) { object_early_follow((object_store *)s, path, local); }

void object_store_write_abort(store *s, str path, str local) {
    (void)path;
    object_early_give_up((object_store *)s, local);
    remove_local((object_store *)s, local);
}
