/*
 * A store in memory, for tests: one sorted array of files and folders under one lock. It behaves like the local store in all that the
 * contract says, and its clock is a counter, so that a test's commit times are its own choice. Where another library needs a
 * file (local_read_path, write_begin) it is written to a temporary folder that close removes.
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/temp_folder.h"
#include "base/uri.h"
#include "store/store.h"

typedef struct object {
    char *path; /* owned, as are the bytes */
    size_t path_len;
    char *bytes;
    size_t len;
    int64_t modified_ms;
    bool is_dir;
} object;

typedef struct memory_store {
    store base;
    pthread_mutex_t lock;
    object *objects; /* ascending by path; "/" is not in it */
    size_t count, capacity;
    int64_t next_ms;
    temp_folder temp; /* of local files; not open until needed */
} memory_store;

static str path_of(const object *o) { return (str){o->path, o->path_len}; }

/* ---- the array ---- */

/* Where `path` is or would be. */
static size_t position(const memory_store *m, str path) {
    size_t low = 0, high = m->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (str_cmp(path_of(&m->objects[middle]), path) < 0) low = middle + 1;
        else high = middle;
    }
    return low;
}

static object *find(const memory_store *m, str path) {
    size_t at = position(m, path);
    return at < m->count && str_eq(path_of(&m->objects[at]), path) ? &m->objects[at] : NULL;
}

static bool is_folder(const memory_store *m, str path) {
    const object *o = find(m, path);
    return path.len == 1 || (o && o->is_dir);
}

static void release(object *o) {
    free(o->path);
    free(o->bytes);
}

/* Takes o->bytes over on success. */
static bool insert(memory_store *m, str path, object o) {
    if (m->count == m->capacity) {
        size_t capacity = m->capacity ? m->capacity * 2 : 64;
        object *p = realloc(m->objects, capacity * sizeof *p);
        if (!p) return false;
        m->objects = p;
        m->capacity = capacity;
    }
    o.path = strndup(path.ptr, path.len);
    o.path_len = path.len;
    if (!o.path) return false;
    size_t at = position(m, path);
    memmove(m->objects + at + 1, m->objects + at, (m->count - at) * sizeof o);
    m->objects[at] = o;
    m->count++;
    return true;
}

static void erase(memory_store *m, object *o) {
    size_t at = (size_t)(o - m->objects);
    release(o);
    memmove(o, o + 1, (m->count - at - 1) * sizeof *o);
    m->count--;
}

/* Objects below a folder do not lie together ("/a-b" sorts between "/a" and "/a/b"), so they are looked for by "/a/". */
static bool is_below(str path, str dir) {
    if (dir.len == 1) return true;
    return path.len > dir.len && path.ptr[dir.len] == '/' && str_starts_with(path, dir);
}

static size_t first_below(const memory_store *m, str dir) {
    size_t low = 0, high = m->count;
    if (dir.len == 1) return 0;
    while (low < high) { /* the first path > dir + "/" */
        size_t middle = (low + high) / 2;
        str path = path_of(&m->objects[middle]);
        str head = str_slice(path, 0, path.len < dir.len ? path.len : dir.len);
        int c = str_cmp(head, dir);
        if (c == 0) c = path.len == dir.len ? -1 : (unsigned char)path.ptr[dir.len] - '/';
        if (c < 0) low = middle + 1;
        else high = middle;
    }
    return low;
}

static silt_status make_folders(memory_store *m, str dir, silt_error *err) {
    for (size_t len = 1; len < dir.len;) {
        size_t slash = str_find_char(str_slice(dir, len + (len > 1), dir.len), '/');
        len = slash == SIZE_MAX ? dir.len : len + (len > 1) + slash;
        str part = str_slice(dir, 0, len);
        const object *o = find(m, part);
        if (o && o->is_dir) continue;
        if (o) {
            silt_status status = err_PATH_ALREADY_EXISTS(err, part);
            error_detail(err, "A file stands where a folder is needed.");
            return status;
        }
        if (!insert(m, part, (object){.is_dir = true, .modified_ms = m->next_ms})) return error_no_memory(err);
    }
    return SILT_OK;
}

/* ---- the operations, under the lock ---- */

static silt_status not_found(const memory_store *m, str path, silt_error *err) {
    silt_status status = err_FILE_NOT_FOUND(err, path);
    if (is_folder(m, path)) error_detail(err, "It is a folder.");
    return status;
}

static silt_status read_locked(memory_store *m, str path, int64_t offset, int64_t length, buf *out, silt_error *err) {
    const object *o = find(m, path);
    if (!o || o->is_dir) return not_found(m, path, err);
    size_t from = (uint64_t)offset < o->len ? (size_t)offset : o->len;
    size_t n = o->len - from;
    if (length >= 0 && (uint64_t)length < n) n = (size_t)length;
    if (n == 0) return SILT_OK;
    buf_append_bytes(out, o->bytes + from, n);
    return buf_ok(out) ? SILT_OK : error_no_memory(err);
}

static silt_status put_locked(memory_store *m, str path, str bytes, store_put_mode mode, silt_error *err) {
    TRY(make_folders(m, path_parent(path), err));
    object *old = find(m, path);
    if (old && (mode != STORE_PUT_REPLACE || old->is_dir)) return err_PATH_ALREADY_EXISTS(err, path);
    char *copy = malloc(bytes.len ? bytes.len : 1);
    if (!copy) return error_no_memory(err);
    if (bytes.len) memcpy(copy, bytes.ptr, bytes.len);
    if (old) {
        free(old->bytes);
        old->bytes = copy;
        old->len = bytes.len;
        old->modified_ms = m->next_ms++;
        return SILT_OK;
    }
    if (!insert(m, path, (object){.bytes = copy, .len = bytes.len, .modified_ms = m->next_ms})) {
        free(copy);
        return error_no_memory(err);
    }
    m->next_ms++;
    return SILT_OK;
}

static silt_status copy_entry(const object *o, arena *a, store_entry *out, silt_error *err) {
    str path = arena_str(a, path_of(o)), tag = o->is_dir ? STR_NULL : arena_printf(a, "\"%lld\"", (long long)o->modified_ms);
    if (str_is_null(path) || (!o->is_dir && str_is_null(tag))) return error_no_memory(err);
    *out = (store_entry){.path = path, .size_bytes = o->is_dir ? 0 : (int64_t)o->len, .modified_ms = o->modified_ms, .is_dir = o->is_dir, .tag = tag};
    return SILT_OK;
}

static silt_status stat_locked(memory_store *m, str path, arena *a, store_entry *out, silt_error *err) {
    const object *o = find(m, path);
    if (o) return copy_entry(o, a, out, err);
    if (path.len > 1) return not_found(m, path, err);
    *out = (store_entry){.path = STR("/"), .is_dir = true};
    return SILT_OK;
}

static silt_status list_locked(memory_store *m, str dir, str start_at, bool recursive, arena *a, store_list_result *out, silt_error *err) {
    if (!is_folder(m, dir)) return err_FILE_NOT_FOUND(err, dir);
    size_t skip = dir.len == 1 ? 1 : dir.len + 1;
    for (size_t i = first_below(m, dir); i < m->count && is_below(path_of(&m->objects[i]), dir); i++) {
        const object *o = &m->objects[i];
        str name = str_slice(path_of(o), skip, o->path_len);
        bool deeper = str_find_char(name, '/') != SIZE_MAX;
        if (recursive ? o->is_dir : deeper || (!str_is_null(start_at) && str_cmp(name, start_at) < 0)) continue;
        store_entry entry;
        TRY(copy_entry(o, a, &entry, err));
        if (!ARENA_PUSH(a, out->items, out->count, out->capacity, entry)) return error_no_memory(err);
    }
    return SILT_OK;
}

/* The first object behind `after` that is below `dir`. */
static size_t first_after(const memory_store *m, str dir, str after) {
    if (str_is_null(after)) return first_below(m, dir);
    size_t at = position(m, after);
    return at < m->count && str_eq(path_of(&m->objects[at]), after) ? at + 1 : at;
}

static silt_status list_page_locked(memory_store *m, str dir, str after, size_t limit, arena *a, store_list_result *out, silt_error *err) {
    if (!is_folder(m, dir)) return err_FILE_NOT_FOUND(err, dir);
    for (size_t i = first_after(m, dir, after); i < m->count && out->count < limit && is_below(path_of(&m->objects[i]), dir); i++) {
        store_entry entry;
        if (m->objects[i].is_dir) continue;
        TRY(copy_entry(&m->objects[i], a, &entry, err));
        if (!ARENA_PUSH(a, out->items, out->count, out->capacity, entry)) return error_no_memory(err);
    }
    return SILT_OK;
}

static silt_status remove_locked(memory_store *m, str path, silt_error *err) {
    object *o = find(m, path);
    if (!o || o->is_dir) return not_found(m, path, err);
    erase(m, o);
    return SILT_OK;
}

static silt_status remove_dir_locked(memory_store *m, str dir, silt_error *err) {
    object *o = find(m, dir);
    if (!o || !o->is_dir) return err_FILE_NOT_FOUND(err, dir);
    size_t below = first_below(m, dir);
    if (below < m->count && is_below(path_of(&m->objects[below]), dir)) return err_FOLDER_NOT_EMPTY(err, dir);
    erase(m, o);
    return SILT_OK;
}

/* ---- local files ---- */

static silt_status local_name(memory_store *m, str path, arena *a, str *out, silt_error *err) { return temp_folder_name(&m->temp, STR_NULL, path, a, out, err); }

static silt_status write_file(str path, const char *bytes, size_t len, silt_error *err) {
    FILE *file = fopen(path.ptr, "wb");
    if (!file) return error_from_errno(err, errno, "open", path);
    bool ok = fwrite(bytes, 1, len, file) == len;
    ok = fclose(file) == 0 && ok;
    return ok ? SILT_OK : error_from_errno(err, errno, "write", path);
}

static silt_status read_file(str path, buf *out, silt_error *err) {
    FILE *file = fopen(path.ptr, "rb");
    if (!file) return error_from_errno(err, errno, "open", path);
    char block[65536];
    size_t n;
    while ((n = fread(block, 1, sizeof block, file)) > 0) buf_append_bytes(out, block, n);
    bool ok = !ferror(file);
    fclose(file);
    if (!ok) return error_from_errno(err, EIO, "read", path);
    return buf_ok(out) ? SILT_OK : error_no_memory(err);
}

static silt_status local_read_path_locked(memory_store *m, str path, arena *a, str *out, silt_error *err) {
    const object *o = find(m, path);
    if (!o || o->is_dir) return not_found(m, path, err);
    TRY(local_name(m, path, a, out, err));
    return write_file(*out, o->bytes, o->len, err);
}

/* ---- the slots ---- */

#define LOCKED(call)                         \
    memory_store *m = (memory_store *)s;     \
    pthread_mutex_lock(&m->lock);            \
    silt_status status = (call);             \
    pthread_mutex_unlock(&m->lock);          \
    return status

static silt_status memory_read(store *s, str path, int64_t offset, int64_t length, buf *out, silt_error *err) {
    LOCKED(read_locked(m, path, offset, length, out, err));
}
static silt_status memory_stat(store *s, str path, arena *a, store_entry *out, silt_error *err) { LOCKED(stat_locked(m, path, a, out, err)); }
static silt_status memory_put(store *s, str path, str bytes, store_put_mode mode, silt_error *err) {
    LOCKED(put_locked(m, path, bytes, mode, err));
}
static silt_status memory_list(store *s, str dir, str start_at, bool recursive, arena *a, store_list_result *out, silt_error *err) {
    LOCKED(list_locked(m, dir, start_at, recursive, a, out, err));
}
static silt_status memory_list_page(store *s, str dir, str after, size_t limit, arena *a, store_list_result *out, silt_error *err) {
    LOCKED(list_page_locked(m, dir, after, limit, a, out, err));
}
static silt_status memory_remove(store *s, str path, silt_error *err) { LOCKED(remove_locked(m, path, err)); }
static silt_status memory_make_dirs(store *s, str dir, silt_error *err) { LOCKED(make_folders(m, dir, err)); }
static silt_status memory_remove_dir(store *s, str dir, silt_error *err) { LOCKED(remove_dir_locked(m, dir, err)); }
static silt_status memory_local_read_path(store *s, str path, arena *a, str *out, silt_error *err) {
    LOCKED(local_read_path_locked(m, path, a, out, err));
}
static silt_status memory_write_begin(store *s, str path, arena *a, str *out_local, silt_error *err) {
    LOCKED(local_name(m, path, a, out_local, err));
}

static silt_status memory_write_finish(store *s, str path, str local, silt_error *err) {
    buf bytes;
    buf_init(&bytes, BUF_MAX_DEFAULT);
    silt_status status = read_file(local, &bytes, err);
    if (status == SILT_OK) status = memory_put(s, path, buf_str(&bytes), STORE_PUT_REPLACE, err);
    if (status == SILT_OK) unlink(local.ptr);
    buf_dispose(&bytes);
    return status;
}

static void memory_write_abort(store *s, str path, str local) {
    (void)s;
    (void)path;
    unlink(local.ptr);
}

static void memory_close(store *s) {
    memory_store *m = (memory_store *)s;
    for (size_t i = 0; i < m->count; i++) release(&m->objects[i]);
    free(m->objects);
    temp_folder_close(&m->temp);
    pthread_mutex_destroy(&m->lock);
    free(m);
}

static const store_ops memory_ops = {
    .name = "memory",
    .close = memory_close,
    .read = memory_read,
    .stat = memory_stat,
    .put = memory_put,
    .list = memory_list,
    .remove = memory_remove,
    .make_dirs = memory_make_dirs,
    .remove_dir = memory_remove_dir,
    .local_read_path = memory_local_read_path,
    .write_begin = memory_write_begin,
    .write_finish = memory_write_finish,
    .write_abort = memory_write_abort,
    .list_page = memory_list_page,
};

silt_status store_memory_open(int64_t first_ms, store **out, silt_error *err) {
    memory_store *m = calloc(1, sizeof *m);
    if (!m) return error_no_memory(err);
    m->base.ops = &memory_ops;
    m->next_ms = first_ms;
    pthread_mutex_init(&m->lock, NULL);
    *out = &m->base;
    return SILT_OK;
}

void store_memory_set_clock(store *s, int64_t next_ms) {
    memory_store *m = (memory_store *)s;
    pthread_mutex_lock(&m->lock);
    m->next_ms = next_ms;
    pthread_mutex_unlock(&m->lock);
}
