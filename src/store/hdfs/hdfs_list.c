/*
 * Listing folders by LISTSTATUS_BATCH, a page of (by default) 1,000 entries per request.
 *
 * HDFS keeps names in the order of their bytes as signed numbers, so that names with characters outside ASCII come before all others; here they are sorted. A listing from a name on
 * (start_at) is one request where few entries follow, which is how a poll for a new version costs one. It then does not see names that HDFS has before start_at and bytewise order
 * has behind it, those whose first different character is outside ASCII; only where start_at begins with a digit, as the log's names do, is that shorter way taken.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/thread.h"
#include "base/uri.h"
#include "store/hdfs/hdfs.h"

#define LISTERS 16

/* ---- pages ---- */

/* NameNodes want the parameter in lower case, HttpFS as it is in Hadoop's own client. */
static str after_params(str after, arena *a) {
    if (str_is_null(after)) return STR("");
    str encoded = http_encode(after, false, a);
    return str_is_null(encoded) ? encoded : arena_printf(a, "&startafter=%.*s&startAfter=%.*s", STR_ARG(encoded), STR_ARG(encoded));
}

static bool knows_batches(hdfs_store *s) {
    pthread_mutex_lock(&s->lock);
    bool knows = !s->no_batch;
    pthread_mutex_unlock(&s->lock);
    return knows;
}

/* An older HttpFS answers 400 and names the operation. */
static bool is_unknown_operation(const hdfs_answer *a) { return a->status == 400 && str_find(a->message, STR("LISTSTATUS_BATCH")) != SIZE_MAX; }

silt_status hdfs_list_page(hdfs_store *s, str dir, str after, const cancel_token *cancel, arena *a, hdfs_page *out, silt_error *err) {
    hdfs_answer answer;
    hdfs_request list = {.method = "GET", .op = "LISTSTATUS_BATCH", .path = dir, .params = after_params(after, a), .repeatable = true, .what = "listing", .cancel = cancel};
    if (str_is_null(list.params)) return error_no_memory(err);
    if (!knows_batches(s)) list.op = "LISTSTATUS", list.params = STR("");
    TRY(hdfs_call(s, &list, a, &answer, err));
    if (is_unknown_operation(&answer)) {
        pthread_mutex_lock(&s->lock);
        s->no_batch = true;
        pthread_mutex_unlock(&s->lock);
        list.op = "LISTSTATUS";
        list.params = STR("");
        TRY(hdfs_call(s, &list, a, &answer, err));
    }
    if (!hdfs_is_ok(&answer)) return hdfs_failure_to_find(s, &answer, "listing", dir, err);
    return hdfs_parse_page(answer.body, dir, a, out, err);
}

str hdfs_before(str start_at, arena *a) {
    if (start_at.len == 0 || start_at.ptr[0] < '0' || start_at.ptr[0] > '9') return STR_NULL;
    unsigned char last = (unsigned char)start_at.ptr[start_at.len - 1];
    if (last <= ' ' || last >= 0x7f) return STR_NULL;
    last--;
    if (last == '/') last--; /* no name holds it */
    return arena_printf(a, "%.*s%c~", (int)(start_at.len - 1), start_at.ptr, last); /* '~' is the last of ASCII: few names, if any, lie between the two */
}

/* Every page of a folder, told to `each`. Its entries stay in `a`. */
typedef silt_status (*page_fn)(void *ctx, const hdfs_page *page, silt_error *err);

static silt_status for_each_page(hdfs_store *s, str dir, str after, const cancel_token *cancel, arena *a, page_fn each, void *ctx, silt_error *err) {
    for (;;) {
        hdfs_page page;
        TRY(hdfs_list_page(s, dir, after, cancel, a, &page, err));
        if (page.is_file) return store_path_error(&s->base, dir, err_FILE_NOT_FOUND, err);
        TRY(each(ctx, &page, err));
        if (!page.more) return SILT_OK;
        if (!str_is_null(after) && str_eq(page.last, after)) return err_HDFS_ANSWER_INVALID(err, "a page that ends where it began");
        after = page.last;
    }
}

/* ---- one folder ---- */

typedef struct flat {
    str start_at;
    arena *a;
    store_list_result *out;
} flat;

static silt_status add_page(void *ctx, const hdfs_page *page, silt_error *err) {
    flat *f = ctx;
    for (size_t i = 0; i < page->count; i++) {
        str name = path_name(page->items[i].path);
        if (hdfs_is_temporary(name) || (!str_is_null(f->start_at) && str_cmp(name, f->start_at) < 0)) continue;
        if (!ARENA_PUSH(f->a, f->out->items, f->out->count, f->out->capacity, page->items[i])) return error_no_memory(err);
    }
    return SILT_OK;
}

static int compare_entries(const void *x, const void *y) { return str_cmp(((const store_entry *)x)->path, ((const store_entry *)y)->path); }

static void sort(store_list_result *list) {
    if (list->count > 1) qsort(list->items, list->count, sizeof *list->items, compare_entries);
}

static silt_status list_flat(hdfs_store *s, str dir, str start_at, arena *a, store_list_result *out, silt_error *err) {
    flat f = {start_at, a, out};
    TRY(for_each_page(s, dir, str_is_null(start_at) ? STR_NULL : hdfs_before(start_at, a), NULL, a, add_page, &f, err));
    sort(out);
    return SILT_OK;
}

/* ---- folders below folders, several at once ---- */

typedef struct tree {
    hdfs_store *s;
    str dir;
    const store_walker *w;
    pthread_mutex_t lock, take_lock;
    pthread_cond_t more;
    char **folders; /* absolute paths still to visit; under lock, as what follows */
    size_t n_folders, capacity;
    size_t n_busy; /* threads that may add some */
    bool stop;
} tree;

static silt_status add_folder(tree *t, str path, silt_error *err) {
    char *copy = strndup(path.ptr, path.len);
    bool ok = copy != NULL;
    pthread_mutex_lock(&t->lock);
    if (ok && t->n_folders == t->capacity) {
        size_t capacity = t->capacity ? t->capacity * 2 : 64;
        char **p = realloc(t->folders, capacity * sizeof *p);
        ok = p != NULL;
        if (ok) {
            t->folders = p;
            t->capacity = capacity;
        }
    }
    if (ok) t->folders[t->n_folders++] = copy;
    if (ok) pthread_cond_signal(&t->more);
    pthread_mutex_unlock(&t->lock);
    if (!ok) free(copy);
    return ok ? SILT_OK : error_no_memory(err);
}

/* NULL: nothing is left and nobody can add anything. `was_busy`: with another one before. */
static char *next_folder(tree *t, bool was_busy) {
    char *path = NULL;
    pthread_mutex_lock(&t->lock);
    if (was_busy) t->n_busy--;
    while (t->n_folders == 0 && t->n_busy > 0 && !t->stop) pthread_cond_wait(&t->more, &t->lock);
    if (t->n_folders > 0 && !t->stop) path = t->folders[--t->n_folders];
    if (path) t->n_busy++;
    else pthread_cond_broadcast(&t->more);
    pthread_mutex_unlock(&t->lock);
    return path;
}

static silt_status take(tree *t, const store_walk_entry *e, silt_error *err) {
    pthread_mutex_lock(&t->take_lock);
    silt_status status = t->w->take(t->w->ctx, e, err);
    pthread_mutex_unlock(&t->take_lock);
    return status;
}

static str relative(const tree *t, str path) {
    size_t skip = t->dir.len == 1 ? 1 : t->dir.len + 1;
    return path.len > skip ? str_slice(path, skip, path.len) : STR("");
}

typedef struct visit {
    tree *t;
    size_t n_files, n_folders;
} visit;

static silt_status visit_page(void *ctx, const hdfs_page *page, silt_error *err) {
    visit *v = ctx;
    for (size_t i = 0; i < page->count; i++) {
        const store_entry *item = &page->items[i];
        store_walk_entry e = {.path = relative(v->t, item->path), .kind = item->is_dir ? STORE_FOLDER : STORE_FILE};
        if (item->is_dir) v->n_folders++;
        else v->n_files++;
        store_walk_wish wish = v->t->w->look(v->t->w->ctx, &e);
        if (wish == STORE_WALK_SKIP) continue;
        if (item->is_dir) {
            TRY(add_folder(v->t, item->path, err));
        } else if (wish == STORE_WALK_TAKE) {
            e.size_bytes = item->size_bytes;
            e.modified_ms = item->modified_ms;
            TRY(take(v->t, &e, err));
        }
    }
    return cancel_check(v->t->w->cancel, err);
}

/* The time of a folder is of its own status, which a listing of what is in it does not tell: one more request where it is taken. */
static silt_status take_folder(const visit *v, str path, arena *a, silt_error *err) {
    store_walk_entry e = {.path = relative(v->t, path), .kind = STORE_FOLDER};
    store_entry entry;
    if (e.path.len == 0 || v->t->w->look(v->t->w->ctx, &e) != STORE_WALK_TAKE) return SILT_OK;
    silt_status status = hdfs_stat(&v->t->s->base, path, a, &entry, err);
    if (status == SILT_NOT_FOUND) return SILT_OK;
    TRY(status);
    e.modified_ms = entry.modified_ms;
    e.n_files = v->n_files;
    e.n_folders = v->n_folders;
    return take(v->t, &e, err);
}

static silt_status visit_folder(tree *t, const char *path, arena *a, silt_error *err) {
    visit v = {.t = t};
    silt_error why = {.status = SILT_OK};
    silt_status status = for_each_page(t->s, str_of(path), STR_NULL, t->w->cancel, a, visit_page, &v, &why);
    if (status == SILT_NOT_FOUND && strlen(path) != t->dir.len) return SILT_OK; /* removed meanwhile */
    if (status != SILT_OK && err) *err = why;
    return status == SILT_OK ? take_folder(&v, str_of(path), a, err) : status;
}

static silt_status work(void *ctx, size_t i, silt_error *err) {
    tree *t = ctx;
    char *folder;
    arena *a = arena_new();
    silt_status status = a ? SILT_OK : error_no_memory(err);
    (void)i;
    bool was_busy = false;
    while (status == SILT_OK && (folder = next_folder(t, was_busy)) != NULL) {
        was_busy = true;
        status = cancel_check(t->w->cancel, err);
        if (status == SILT_OK) status = visit_folder(t, folder, a, err);
        free(folder);
        arena_reset(a);
    }
    if (status != SILT_OK) {
        pthread_mutex_lock(&t->lock);
        t->stop = true;
        pthread_cond_broadcast(&t->more);
        pthread_mutex_unlock(&t->lock);
    }
    arena_free(a);
    return status;
}

silt_status hdfs_walk(store *s, str dir, const store_walker *w, silt_error *err) {
    tree t = {.s = (hdfs_store *)s, .dir = dir, .w = w};
    TRY(hdfs_check_path(dir, err));
    pthread_mutex_init(&t.lock, NULL);
    pthread_mutex_init(&t.take_lock, NULL);
    pthread_cond_init(&t.more, NULL);
    silt_status status = add_folder(&t, dir, err);
    if (status == SILT_OK) status = thread_for(LISTERS, LISTERS, work, &t, err);
    for (size_t i = 0; i < t.n_folders; i++) free(t.folders[i]);
    free(t.folders);
    pthread_cond_destroy(&t.more);
    pthread_mutex_destroy(&t.take_lock);
    pthread_mutex_destroy(&t.lock);
    return status;
}

/* ---- a recursive listing is a walk that keeps what it sees ---- */

typedef struct collector {
    str dir;
    arena *a;
    store_list_result *out;
} collector;

static store_walk_wish want_files(void *ctx, const store_walk_entry *e) {
    (void)ctx;
    if (e->kind == STORE_FOLDER) return STORE_WALK_PASS;
    return hdfs_is_temporary(path_name(e->path)) ? STORE_WALK_SKIP : STORE_WALK_TAKE;
}

static silt_status keep_file(void *ctx, const store_walk_entry *e, silt_error *err) {
    collector *c = ctx;
    store_entry entry = {.path = path_join(c->a, c->dir, e->path), .size_bytes = e->size_bytes, .modified_ms = e->modified_ms, .tag = STR_NULL};
    if (str_is_null(entry.path) || !ARENA_PUSH(c->a, c->out->items, c->out->count, c->out->capacity, entry)) return error_no_memory(err);
    return SILT_OK;
}

silt_status hdfs_list(store *s, str dir, str start_at, bool recursive, arena *a, store_list_result *out, silt_error *err) {
    collector c = {dir, a, out};
    const store_walker w = {.ctx = &c, .look = want_files, .take = keep_file};
    TRY(hdfs_check_path(dir, err));
    if (!recursive) return list_flat((hdfs_store *)s, dir, start_at, a, out, err);
    TRY(hdfs_walk(s, dir, &w, err));
    sort(out);
    return SILT_OK;
}
