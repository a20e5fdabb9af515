/*
 * The local file system as a store. Paths are those of the system, data files are written in place under their final names (they are
 * unique and nothing refers to them before the commit), and everything that is reported as done survives a crash of the machine.
 * Removals are not synced: a file that comes back after a crash is garbage that nothing refers to.
 */
#include "store/local/local.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/thread.h"
#include "base/uri.h"

#define SYNC_THREADS 8

static void local_close(store *s) {
    local_store *local = (local_store *)s;
    local_folders_dispose(local);
    pthread_mutex_destroy(&local->lock);
    free(local);
}

static silt_status is_a_folder(str path, silt_error *err) {
    silt_status status = err_FILE_NOT_FOUND(err, path);
    error_detail(err, "It is a folder.");
    return status;
}

/* Opens a regular file. O_NONBLOCK: a pipe of that name must not hang the process. */
static silt_status open_file(str path, int *out_fd, int64_t *out_size, silt_error *err) {
    local_path z;
    struct stat st;
    int fd;
    TRY(local_path_set(&z, path, err));
    do fd = open(z.z, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    while (fd < 0 && errno == EINTR);
    if (fd < 0) return error_from_errno(err, errno, "open", path);
    int error = fstat(fd, &st) != 0 ? errno : S_ISDIR(st.st_mode) ? EISDIR : S_ISREG(st.st_mode) ? 0 : EINVAL;
    if (error) {
        close(fd);
        return error == EISDIR ? is_a_folder(path, err) : error_from_errno(err, error, "open", path);
    }
    *out_fd = fd;
    *out_size = st.st_size;
    return SILT_OK;
}

/* Up to `length` bytes; fewer where the file ends before. */
static silt_status read_range(int fd, str path, int64_t offset, int64_t length, buf *out, silt_error *err) {
    if ((uint64_t)length > SIZE_MAX || !buf_reserve(out, (size_t)length)) return error_no_memory(err);
    while (length > 0) {
        ssize_t n = pread(fd, out->ptr + out->len, (size_t)length, offset);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return error_from_errno(err, errno, "read", path);
        if (n == 0) break;
        out->len += (size_t)n;
        offset += n;
        length -= n;
    }
    return SILT_OK;
}

static silt_status local_read(store *s, str path, int64_t offset, int64_t length, buf *out, silt_error *err) {
    (void)s;
    int fd;
    int64_t size;
    TRY(open_file(path, &fd, &size, err));
    silt_status status = SILT_OK;
    int64_t available = offset < size ? size - offset : 0;
    if (length < 0 || length > available) length = available;
    if (length > 0) status = read_range(fd, path, offset, length, out, err);
    close(fd);
    return status;
}

static silt_status local_stat(store *s, str path, arena *a, store_entry *out, silt_error *err) {
    (void)s;
    local_path z;
    struct stat st;
    TRY(local_path_set(&z, path, err));
    if (stat(z.z, &st) != 0) return error_from_errno(err, errno, "stat", path);
    str copy = arena_str(a, path);
    if (str_is_null(copy)) return error_no_memory(err);
    bool is_dir = S_ISDIR(st.st_mode);
    *out = (store_entry){.path = copy,
                         .size_bytes = is_dir ? 0 : st.st_size,
                         .modified_ms = (int64_t)st.st_mtim.tv_sec * 1000 + st.st_mtim.tv_nsec / 1000000,
                         .is_dir = is_dir};
    return SILT_OK;
}

static silt_status local_remove(store *s, str path, silt_error *err) {
    (void)s;
    local_path z;
    TRY(local_path_set(&z, path, err));
    if (unlink(z.z) == 0) return SILT_OK;
    return errno == EISDIR ? is_a_folder(path, err) : error_from_errno(err, errno, "unlink", path);
}

static silt_status local_make_dirs(store *s, str dir, silt_error *err) {
    local_store *local = (local_store *)s;
    TRY(local_folders_make(local, dir, err));
    return local_folders_sync_above(local, dir, err);
}

static silt_status local_remove_dir(store *s, str dir, silt_error *err) {
    (void)s;
    local_path z;
    TRY(local_path_set(&z, dir, err));
    if (rmdir(z.z) == 0) return SILT_OK;
    bool not_empty = errno == ENOTEMPTY || errno == EEXIST;
    return not_empty ? err_FOLDER_NOT_EMPTY(err, dir) : error_from_errno(err, errno, "rmdir", dir);
}

/* RENAME_NOREPLACE: two sessions that rename at once must not lay one table over another. */
static silt_status local_move_dir(store *s, str from, str to, silt_error *err) {
    local_store *l = (local_store *)s;
    local_path old, new;
    TRY(local_path_set(&old, from, err));
    TRY(local_path_set(&new, to, err));
    TRY(local_folders_make(l, path_parent(to), err));
    if (renameat2(AT_FDCWD, old.z, AT_FDCWD, new.z, RENAME_NOREPLACE) != 0)
        return errno == EEXIST ? err_PATH_ALREADY_EXISTS(err, to) : error_from_errno(err, errno, "rename", from);
    TRY(local_folders_sync(l, path_parent(to), err));
    return local_folders_sync(l, path_parent(from), err);
}

/* Opened to see that it is there and may be read: a missing file is to be reported by its name, not by the engine. */
static silt_status local_local_read_path(store *s, str path, arena *a, str *out, silt_error *err) {
    (void)s;
    int fd;
    int64_t size;
    TRY(open_file(path, &fd, &size, err));
    close(fd);
    *out = arena_str(a, path);
    return str_is_null(*out) ? error_no_memory(err) : SILT_OK;
}

/* Asks for permission here, because the engine that is to write the file would report it in words of its own. */
static silt_status local_write_begin(store *s, str path, arena *a, str *out_local, silt_error *err) {
    str folder = path_parent(path);
    local_path z;
    TRY(local_path_set(&z, folder, err));
    TRY(local_folders_make((local_store *)s, folder, err));
    if (faccessat(AT_FDCWD, z.z, W_OK | X_OK, AT_EACCESS) != 0) return error_from_errno(err, errno, "open", path);
    *out_local = arena_str(a, path);
    return str_is_null(*out_local) ? error_no_memory(err) : SILT_OK;
}

static silt_status sync_file(str path, silt_error *err) {
    int fd;
    int64_t size;
    TRY(open_file(path, &fd, &size, err));
    int error = local_fsync(fd);
    close(fd);
    return error ? error_from_errno(err, error, "fsync", path) : SILT_OK;
}

/* Written beside its name: the object appears whole. */
static silt_status move_file(str local, str path, silt_error *err) {
    if (str_eq(local, path)) return SILT_OK;
    local_path from, to;
    TRY(local_path_set(&from, local, err));
    TRY(local_path_set(&to, path, err));
    return rename(from.z, to.z) == 0 ? SILT_OK : error_from_errno(err, errno, "rename", path);
}

static silt_status local_write_finish(store *s, str path, str local, silt_error *err) {
    TRY(sync_file(local, err));
    TRY(move_file(local, path, err));
    return local_folders_sync((local_store *)s, path_parent(path), err);
}

static silt_status sync_nth_file(void *ctx, size_t i, silt_error *err) { return sync_file(((const str *)ctx)[i], err); }

static silt_status local_write_finish_many(store *s, const str *paths, const str *locals, size_t n, silt_error *err) {
    TRY(thread_for(SYNC_THREADS, n, sync_nth_file, (void *)(uintptr_t)locals, err));
    for (size_t i = 0; i < n; i++) TRY(move_file(locals[i], paths[i], err));
    str *folders = malloc((n ? n : 1) * sizeof *folders);
    if (!folders) return error_no_memory(err);
    for (size_t i = 0; i < n; i++) folders[i] = path_parent(paths[i]);
    silt_status status = local_folders_sync_many((local_store *)s, folders, n, err);
    free(folders);
    return status;
}

static void local_write_abort(store *s, str path, str local) {
    (void)s;
    (void)path;
    local_path z;
    if (local_path_set(&z, local, NULL) == SILT_OK) unlink(z.z);
}

static const store_ops local_ops = {
    .name = "local",
    .close = local_close,
    .read = local_read,
    .stat = local_stat,
    .put = local_put,
    .list = local_list,
    .remove = local_remove,
    .make_dirs = local_make_dirs,
    .remove_dir = local_remove_dir,
    .local_read_path = local_local_read_path,
    .write_begin = local_write_begin,
    .write_finish = local_write_finish,
    .write_abort = local_write_abort,
    .write_finish_many = local_write_finish_many,
    .move_dir = local_move_dir,
    .swap_dirs = local_swap_dirs,
    .walk = local_walk,
    .remove_below = local_remove_below,
    .real_path = local_real_path,
};

silt_status store_local_open(store **out, silt_error *err) {
    local_store *s = calloc(1, sizeof *s);
    if (!s) return error_no_memory(err);
    s->base.ops = &local_ops;
    pthread_mutex_init(&s->lock, NULL);
    *out = &s->base;
    return SILT_OK;
}
