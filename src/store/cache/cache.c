/*
 * The store around a store that gives local paths: see store.h, and cache.h for the parts. Nothing but those paths goes through the folder; what is read, listed and written through the store
 * itself is the inner store's business.
 */
#include "store/cache/cache.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/ident.h"
#include "base/uri.h"

#define LOOK_THREADS_FROM 64 /* files: below, threads cost more than they bring */
#define DEFAULT_BYTES     ((int64_t)10 << 30)

typedef struct cache_store {
    store base;
    store_ops ops; /* those slots that the inner store has */
    store *inner;  /* owned */
    cache_folder folder;
    int64_t max_bytes;
    str identity; /* owned */
    cache_lease *lease;
    cache_known *known;
    cache_packs *packs;
    cache_pace pace;
} cache_store;

static store *inner_of(store *s) { return ((cache_store *)s)->inner; }

/* ---- passed through ---- */

static cache_known *known_of(store *s) { return ((cache_store *)s)->known; }

static silt_status cache_stat(store *s, str path, arena *a, store_entry *out, silt_error *err) {
    cache_known_forget(known_of(s), path);
    TRY(store_stat(inner_of(s), path, a, out, err));
    cache_known_tell(known_of(s), out, 1);
    return SILT_OK;
}
static silt_status cache_put(store *s, str path, str bytes, store_put_mode mode, silt_error *err) {
    cache_known_forget(known_of(s), path);
    return store_put(inner_of(s), path, bytes, mode, err);
}
static silt_status cache_list(store *s, str dir, str start_at, bool recursive, arena *a, store_list_result *out, silt_error *err) {
    TRY(store_list(inner_of(s), dir, start_at, recursive, a, out, err));
    cache_known_tell(known_of(s), out->items, out->count);
    return SILT_OK;
}
static silt_status cache_list_first(store *s, str dir, const cancel_token *cancel, arena *a, store_list_result *out, bool *out_all, silt_error *err) {
    TRY(store_list_first(inner_of(s), dir, cancel, a, out, out_all, err));
    cache_known_tell(known_of(s), out->items, out->count);
    return SILT_OK;
}
static silt_status cache_remove(store *s, str path, silt_error *err) {
    cache_known_forget(known_of(s), path);
    return store_remove(inner_of(s), path, err);
}
static silt_status cache_make_dirs(store *s, str dir, silt_error *err) { return store_make_dirs(inner_of(s), dir, err); }
static silt_status cache_remove_dir(store *s, str dir, silt_error *err) { return store_remove_dir(inner_of(s), dir, err); }
static silt_status cache_write_begin(store *s, str path, arena *a, str *out_local, silt_error *err) { return store_write_begin(inner_of(s), path, a, out_local, err); }
static void cache_write_follow(store *s, str path, str local) { store_write_follow(inner_of(s), path, local); }
static silt_status cache_write_finish(store *s, str path, str local, silt_error *err) {
    cache_known_forget(known_of(s), path);
    return store_write_finish(inner_of(s), path, local, err);
}
static silt_status cache_write_finish_many(store *s, const str *paths, const str *locals, size_t n, silt_error *err) {
    for (size_t i = 0; i < n; i++) cache_known_forget(known_of(s), paths[i]);
    return store_write_finish_many(inner_of(s), paths, locals, n, err);
}
static void cache_write_abort(store *s, str path, str local) { store_write_abort(inner_of(s), path, local); }
static silt_status cache_move_dir(store *s, str from, str to, silt_error *err) {
    cache_known_clear(known_of(s));
    return store_move_dir(inner_of(s), from, to, err);
}
static silt_status cache_swap_dirs(store *s, str a, str b, silt_error *err) {
    cache_known_clear(known_of(s));
    return store_swap_dirs(inner_of(s), a, b, err);
}
static silt_status cache_walk(store *s, str dir, const store_walker *w, silt_error *err) { return store_walk(inner_of(s), dir, w, err); }
static silt_status cache_list_page(store *s, str dir, str after, size_t limit, arena *a, store_list_result *out, silt_error *err) {
    return inner_of(s)->ops->list_page(inner_of(s), dir, after, limit, a, out, err);
}
static silt_status cache_remove_below(store *s, str dir, const str *names, size_t n, silt_status *out, silt_error *err) {
    cache_known_clear(known_of(s));
    return store_remove_below(inner_of(s), dir, names, n, out, err);
}
static silt_status cache_real_path(store *s, str path, arena *a, str *out, silt_error *err) { return store_real_path(inner_of(s), path, a, out, err); }
static silt_status cache_read_many(store *s, store_range *ranges, size_t n, const store_read_options *o, silt_error *err) {
    store_read_options all = *o;
    if (all.in_flight <= 0 && !inner_of(s)->ops->read_many) all.in_flight = store_parallel(s);
    return store_read_many(inner_of(s), ranges, n, &all, err);
}
static bool cache_proves_tags(store *s) { return store_proves_tags(inner_of(s)); }
static void cache_identity(store *s, buf *out) { inner_of(s)->ops->identity(inner_of(s), out); }
static void cache_guard(store *s, buf *out) { inner_of(s)->ops->guard(inner_of(s), out); }

/* ---- looking up ---- */

typedef struct look_job {
    cache_store *c;
    const store_sparse *files;
    cache_want *wants;
    arena **arenas; /* one per slice of the files: an arena belongs to one thread */
    size_t n, n_slices;
    int64_t used_ns;
} look_job;

static silt_status look_at(const look_job *j, size_t i, arena *a, silt_error *err) {
    const store_sparse *file = &j->files[i];
    cache_want *w = &j->wants[i];
    *w = (cache_want){.path = file->path, .tag = file->proves_tag ? file->tag : STR_NULL, .spans = file->spans, .n_spans = file->n_spans};
    TRY(cache_key_make(&j->c->folder, j->c->identity, file, a, &w->key, err));
    return cache_entry_look(&j->c->folder, &w->key, j->used_ns, a, &w->present, err);
}

static silt_status look_at_slice(void *ctx, size_t slice, silt_error *err) {
    look_job *j = ctx;
    size_t from = j->n * slice / j->n_slices, to = j->n * (slice + 1) / j->n_slices;
    for (size_t i = from; i < to; i++) TRY(look_at(j, i, j->arenas[slice], err));
    return SILT_OK;
}

static void free_arena(void *a) { arena_free(a); }

/* All files under one lock of the folder: from here on none of them is removed until `a` ends. */
static silt_status look_up(cache_store *c, const store_sparse *files, size_t n, arena *a, arena *scratch, cache_want *wants, silt_error *err) {
    look_job j = {.c = c, .files = files, .wants = wants, .n = n};
    j.n_slices = n < LOOK_THREADS_FROM ? 1 : (size_t)thread_count_default();
    j.arenas = ARENA_ARRAY(scratch, j.n_slices, arena *);
    if (!j.arenas) return error_no_memory(err);
    for (size_t i = 0; i < j.n_slices; i++) {
        j.arenas[i] = arena_new();
        if (!j.arenas[i]) return error_no_memory(err);
        if (arena_defer(scratch, free_arena, j.arenas[i])) continue;
        arena_free(j.arenas[i]);
        return error_no_memory(err);
    }
    int lock = cache_folder_lock(&c->folder, false);
    if (lock < 0) return cache_folder_failure(&c->folder, errno, "lock", err);
    silt_status status = cache_lease_hold(c->lease, a, &j.used_ns, err);
    if (status == SILT_OK) status = thread_for((int)j.n_slices, j.n_slices, look_at_slice, &j, err);
    close(lock);
    return status;
}

/* ---- room ---- */

static int64_t limit_of(const cache_store *c) {
    struct statvfs v;
    if (c->max_bytes > 0) return c->max_bytes;
    if (statvfs(c->folder.dir, &v) != 0) return DEFAULT_BYTES;
    double tenth = (double)v.f_bavail * (double)v.f_frsize / 10;
    return tenth < (double)DEFAULT_BYTES ? (int64_t)tenth : DEFAULT_BYTES;
}

/* A tenth more than needed goes, so that not every query looks through the folder. */
static void make_room(cache_store *c, int64_t bytes) {
    store_cache_usage left;
    int64_t limit = limit_of(c);
    if (bytes > limit) (void)!cache_evict(&c->folder, limit - limit / 10, &left, NULL, NULL);
}

static void add_counts(cache_store *c, const cache_counts *add) {
    cache_counts now;
    cache_counts_add(&c->folder, add, &now);
    make_room(c, now.bytes);
}

static void count(cache_store *c, const cache_want *wants, size_t n, int64_t fetched) {
    cache_counts add = {.bytes_fetched = (uint64_t)fetched, .bytes = fetched};
    for (size_t i = 0; i < n; i++) {
        int64_t wanted = wants[i].n_spans ? 0 : wants[i].key.size;
        for (size_t k = 0; k < wants[i].n_spans; k++) wanted += wants[i].spans[k].length;
        if (wants[i].hit) {
            add.hits++;
            add.bytes_hit += (uint64_t)wanted;
        } else {
            add.misses++;
        }
    }
    add_counts(c, &add);
}

/* ---- local paths ---- */

static silt_status fetch(cache_store *c, cache_want *wants, size_t n, const cancel_token *cancel, arena *scratch, int64_t *out_bytes, size_t *out_failed, silt_error *err) {
    store_cache_usage left;
    silt_status status = cache_fetch(c->inner, store_parallel(&c->base), &c->folder, &c->pace, wants, n, cancel, scratch, out_bytes, out_failed, err);
    if (status != SILT_NO_SPACE) return status;
    TRY(cache_evict(&c->folder, 0, &left, NULL, err)); /* what others may need later must go for what is needed now */
    return cache_fetch(c->inner, store_parallel(&c->base), &c->folder, &c->pace, wants, n, cancel, scratch, out_bytes, out_failed, err);
}

static bool tell_present(const cache_spans *found, arena *a, store_present *out) {
    store_span *items = ARENA_ARRAY(a, found->count + 1, store_span);
    if (!items) return false;
    if (found->count) memcpy(items, found->items, found->count * sizeof *items);
    *out = (store_present){items, found->count};
    return true;
}

static silt_status make_local(cache_store *c, const store_sparse *files, size_t n, const cancel_token *cancel, arena *a, arena *scratch, str *out_paths, size_t *out_failed, silt_error *err) {
    int64_t fetched = 0;
    cache_want *wants = ARENA_ARRAY(scratch, n + 1, cache_want);
    if (!wants) return error_no_memory(err);
    TRY(cache_folder_make(&c->folder, err));
    TRY(look_up(c, files, n, a, scratch, wants, err));
    TRY(fetch(c, wants, n, cancel, scratch, &fetched, out_failed, err));
    count(c, wants, n, fetched);
    for (size_t i = 0; i < n; i++) {
        out_paths[i] = arena_str(a, wants[i].key.data);
        if (str_is_null(out_paths[i]) || (files[i].present && !tell_present(&wants[i].present, a, files[i].present))) return error_no_memory(err);
    }
    return SILT_OK;
}

/* Sizes that nobody told are asked for, with the tag that comes along. */
typedef struct ask_job {
    cache_store *c;
    store_sparse *files;
    arena **arenas;
} ask_job;

static silt_status ask_nth(void *ctx, size_t i, silt_error *err) {
    ask_job *j = ctx;
    store_sparse *f = &j->files[i];
    store_entry e;
    if (f->size_bytes >= 0 || cache_known_find(j->c->known, f->path, j->arenas[i], &f->size_bytes, &f->tag)) return SILT_OK;
    TRY(store_stat(j->c->inner, f->path, j->arenas[i], &e, err));
    if (e.is_dir) return err_FILE_NOT_FOUND(err, f->path);
    f->size_bytes = e.size_bytes;
    f->tag = cache_tag_of(&e, j->arenas[i]);
    return str_is_null(f->tag) ? error_no_memory(err) : SILT_OK;
}

static silt_status ask_sizes(cache_store *c, const store_sparse *files, size_t n, arena *scratch, const store_sparse **out, silt_error *err) {
    size_t i = 0;
    while (i < n && files[i].size_bytes >= 0) i++;
    *out = files;
    if (i == n) return SILT_OK;
    ask_job j = {c, ARENA_ARRAY(scratch, n, store_sparse), ARENA_ARRAY(scratch, n, arena *)};
    if (!j.files || !j.arenas) return error_no_memory(err);
    memcpy(j.files, files, n * sizeof *files);
    for (i = 0; i < n; i++) {
        j.arenas[i] = files[i].size_bytes < 0 ? arena_new() : NULL;
        if (files[i].size_bytes >= 0) continue;
        if (!j.arenas[i]) return error_no_memory(err);
        if (arena_defer(scratch, free_arena, j.arenas[i])) continue;
        arena_free(j.arenas[i]);
        return error_no_memory(err);
    }
    *out = j.files;
    return thread_for(store_parallel(&c->base), n, ask_nth, &j, err);
}

static silt_status cache_local_ranges(store *s, const store_sparse *files, size_t n, const cancel_token *cancel, arena *a, str *out_paths, size_t *out_failed, silt_error *err) {
    cache_store *c = (cache_store *)s;
    *out_failed = n;
    if (n == 0) return SILT_OK;
    arena *scratch = arena_new();
    if (!scratch) return error_no_memory(err);
    const store_sparse *sized;
    silt_status status = ask_sizes(c, files, n, scratch, &sized, err);
    if (status == SILT_NOT_FOUND && n == 1) *out_failed = 0;
    if (status == SILT_OK) status = make_local(c, sized, n, cancel, a, scratch, out_paths, out_failed, err);
    arena_free(scratch);
    return status;
}

static silt_status cache_local_read_path(store *s, str path, arena *a, str *out, silt_error *err) {
    store_sparse whole = {.path = path, .size_bytes = -1};
    size_t unused;
    return cache_local_ranges(s, &whole, 1, NULL, a, out, &unused, err);
}

static int64_t cache_kept_ns(store *s, const store_sparse *file) {
    const cache_store *c = (const cache_store *)s;
    struct stat st;
    cache_key key;
    arena *a = arena_new();
    bool known = a && file->size_bytes >= 0 && cache_key_make(&c->folder, c->identity, file, a, &key, NULL) == SILT_OK && stat(key.data.ptr, &st) == 0;
    arena_free(a);
    return known ? (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec : INT64_MAX;
}

/* The map goes first: nobody takes the rest for good then. */
static void cache_drop_copy(store *s, str local) {
    const cache_store *c = (const cache_store *)s;
    char path[PATH_MAX];
    size_t name = str_rfind_char(local, '/');
    if (!str_starts_with(local, str_of(c->folder.dir)) || name == SIZE_MAX || local.len - name <= CACHE_NAME_LEN || local.len >= sizeof path) return;
    snprintf(path, sizeof path, "%.*s.map", (int)(name + 1 + CACHE_NAME_LEN), local.ptr);
    unlink(path);
    snprintf(path, sizeof path, "%.*s", STR_ARG(local));
    unlink(path);
}

static int64_t cache_hint(store *s, str log_dir) {
    const cache_store *c = (const cache_store *)s;
    return cache_packs_hint(c->packs, &c->folder, c->identity, log_dir);
}
static void cache_set_hint(store *s, str log_dir, int64_t version) {
    const cache_store *c = (const cache_store *)s;
    if (cache_folder_make(&c->folder, NULL) == SILT_OK) cache_packs_set_hint(c->packs, &c->folder, c->identity, log_dir, version);
}

/* ---- reading files of logs ---- */

static silt_status fetch_small(cache_store *c, const store_sparse *files, size_t n, const cancel_token *cancel, silt_error *err) {
    cache_counts counts = {0};
    if (n == 0) return SILT_OK;
    TRY(cache_folder_make(&c->folder, err));
    silt_status status = cache_ahead(c->packs, c->inner, store_parallel(&c->base), &c->folder, c->identity, files, n, cancel, &counts, err);
    add_counts(c, &counts);
    return status;
}

static silt_status fetch_ahead(cache_store *c, const store_sparse *files, size_t n, const cancel_token *cancel, arena *a, arena *scratch, silt_error *err) {
    const store_sparse *sized;
    size_t n_small = 0, n_large = 0, unused;
    store_sparse *small = ARENA_ARRAY(scratch, n, store_sparse), *large = ARENA_ARRAY(scratch, n, store_sparse);
    str *paths = ARENA_ARRAY(scratch, n, str);
    if (!small || !large || !paths) return error_no_memory(err);
    TRY(ask_sizes(c, files, n, scratch, &sized, err));
    for (size_t i = 0; i < n; i++) *(cache_packs_takes(&sized[i]) ? &small[n_small++] : &large[n_large++]) = sized[i];
    TRY(fetch_small(c, small, n_small, cancel, err));
    return n_large ? make_local(c, large, n_large, cancel, a, scratch, paths, &unused, err) : SILT_OK;
}

static silt_status cache_fetch_ahead(store *s, const store_sparse *files, size_t n, const cancel_token *cancel, arena *a, silt_error *err) {
    arena *scratch = arena_new();
    silt_status status = scratch ? fetch_ahead((cache_store *)s, files, n, cancel, a, scratch, err) : error_no_memory(err);
    arena_free(scratch);
    return status;
}

/* A commit is read whole at first and its statistics again later: one request. Of larger files (checkpoints in JSON) what is asked for. */
#define WHOLE_BYTES ((int64_t)4 << 20)

/* A deletion vector's file has an identifier of its own for a name and is never written again, so that what was read of it once holds without a question about its size. */
static bool is_vector(str path) {
    str name = path_name(path);
    return str_starts_with(name, STR("deletion_vector_")) && str_ends_with(name, STR(".bin"));
}

/* The file as far as it is read: one entry per range. */
static bool vector_range(int64_t offset, int64_t length, arena *a, store_sparse *file) {
    file->size_bytes = offset + length;
    file->tag = arena_printf(a, "range %lld", (long long)offset);
    return !str_is_null(file->tag);
}

static silt_status read_file(int fd, str path, int64_t offset, int64_t length, buf *out, silt_error *err) {
    if (!buf_reserve(out, (size_t)length)) return error_no_memory(err);
    while (length > 0) {
        ssize_t n = pread(fd, out->ptr + out->len, (size_t)length, offset);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return n < 0 ? error_from_errno(err, errno, "read", path) : err_IO_ERROR(err, "read", path);
        out->len += (size_t)n;
        offset += n;
        length -= n;
    }
    return SILT_OK;
}

/* false: nothing was read, and nothing is known to be wrong with the object. */
static bool read_kept(cache_store *c, const store_sparse *file, int64_t offset, int64_t length, arena *a, buf *out) {
    cache_key key;
    size_t before = out->len, unused;
    str local;
    store_span span = {offset, length};
    store_sparse want = *file;
    if (cache_key_make(&c->folder, c->identity, file, a, &key, NULL) != SILT_OK) return false;
    int fd = cache_entry_open(&c->folder, &key, offset, length, a);
    if (file->size_bytes > WHOLE_BYTES || is_vector(file->path)) want.spans = &span, want.n_spans = 1;
    if (fd < 0 && cache_local_ranges(&c->base, &want, 1, NULL, a, &local, &unused, NULL) == SILT_OK) fd = open(local.ptr, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return false;
    bool done = read_file(fd, file->path, offset, length, out, NULL) == SILT_OK;
    close(fd);
    if (!done) out->len = before;
    return done;
}

/* The same of a small file of a log. */
static bool read_packed(cache_store *c, const store_sparse *file, int64_t offset, int64_t length, buf *out) {
    if (!cache_packs_takes(file)) return false;
    return cache_packs_read(c->packs, file, offset, length, out) || (fetch_small(c, file, 1, NULL, NULL) == SILT_OK && cache_packs_read(c->packs, file, offset, length, out));
}

static silt_status cache_read(store *s, str path, int64_t offset, int64_t length, buf *out, silt_error *err) {
    cache_store *c = (cache_store *)s;
    store_sparse file = {.path = path};
    arena *a = arena_new();
    if (!a) return error_no_memory(err);
    bool done = is_vector(path) && length > 0 ? vector_range(offset, length, a, &file) : cache_known_find(c->known, path, a, &file.size_bytes, &file.tag);
    int64_t rest = !done || offset >= file.size_bytes ? 0 : file.size_bytes - offset;
    if (length < 0 || length > rest) length = done ? rest : length;
    if (done && length > 0) done = read_packed(c, &file, offset, length, out) || read_kept(c, &file, offset, length, a, out);
    arena_free(a);
    return done ? SILT_OK : store_read(c->inner, path, offset, length, out, err);
}

/* ---- opening ---- */

static void cache_close(store *s) {
    cache_store *c = (cache_store *)s;
    cache_lease_release(c->lease);
    cache_known_free(c->known);
    cache_packs_free(c->packs);
    store_close(c->inner);
    pthread_mutex_destroy(&c->pace.lock);
    free((void *)(uintptr_t)c->identity.ptr);
    free(c);
}

static store_ops ops_around(const store_ops *inner) {
    store_ops ops = {
        .name = inner->name,
        .close = cache_close,
        .read = cache_read,
        .stat = cache_stat,
        .put = cache_put,
        .list = cache_list,
        .list_first = inner->list_first ? cache_list_first : NULL,
        .remove = cache_remove,
        .make_dirs = cache_make_dirs,
        .remove_dir = cache_remove_dir,
        .local_read_path = cache_local_read_path,
        .write_begin = cache_write_begin,
        .write_follow = cache_write_follow,
        .write_finish = cache_write_finish,
        .write_abort = cache_write_abort,
        .write_finish_many = cache_write_finish_many,
        .move_dir = inner->move_dir ? cache_move_dir : NULL,
        .swap_dirs = inner->swap_dirs ? cache_swap_dirs : NULL,
        .walk = inner->walk ? cache_walk : NULL,
        .list_page = inner->list_page ? cache_list_page : NULL,
        .remove_below = inner->remove_below ? cache_remove_below : NULL,
        .real_path = inner->real_path ? cache_real_path : NULL,
        .parallel = inner->parallel,
        .read_many = cache_read_many,
        .local_ranges = cache_local_ranges,
        .fetch_ahead = cache_fetch_ahead,
        .kept_ns = cache_kept_ns,
        .drop_copy = cache_drop_copy,
        .hint = cache_hint,
        .set_hint = cache_set_hint,
        .proves_tags = inner->proves_tags ? cache_proves_tags : NULL,
        .identity = inner->identity ? cache_identity : NULL,
        .guard = inner->guard ? cache_guard : NULL,
    };
    return ops;
}

/* A store that does not tell who it is shares its entries with nobody. */
static bool take_identity(cache_store *c) {
    buf text;
    char uuid[37];
    buf_init(&text, BUF_MAX_DEFAULT);
    if (c->inner->ops->identity) {
        c->inner->ops->identity(c->inner, &text);
    } else {
        uuid_generate(uuid);
        buf_append_z(&text, uuid);
    }
    char *copy = buf_ok(&text) ? malloc(text.len + 1) : NULL;
    if (copy) memcpy(copy, text.ptr, text.len);
    if (copy) c->identity = (str){copy, text.len};
    buf_dispose(&text);
    return copy != NULL;
}

silt_status store_cache_open(store *inner, const store_cache_settings *settings, store **out, silt_error *err) {
    cache_store *c = calloc(1, sizeof *c);
    if (!c) return error_no_memory(err);
    c->inner = c->base.inner = inner;
    c->max_bytes = settings->max_bytes;
    pthread_mutex_init(&c->pace.lock, NULL);
    silt_status status = cache_folder_set(&c->folder, settings->dir, err);
    c->folder.poison = settings->poison;
    if (status == SILT_OK && !take_identity(c)) status = error_no_memory(err);
    if (status == SILT_OK && !(c->lease = cache_lease_new(&c->folder))) status = error_no_memory(err);
    if (status == SILT_OK && !(c->known = cache_known_new())) status = error_no_memory(err);
    if (status == SILT_OK && !(c->packs = cache_packs_new())) status = error_no_memory(err);
    if (status == SILT_OK) {
        c->ops = ops_around(inner->ops);
        c->base.ops = &c->ops;
        *out = &c->base;
        return SILT_OK;
    }
    cache_lease_release(c->lease);
    cache_known_free(c->known);
    pthread_mutex_destroy(&c->pace.lock);
    free((void *)(uintptr_t)c->identity.ptr);
    free(c);
    return status;
}
