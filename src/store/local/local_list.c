/*
 * Listing folders of the local file system. Sizes and times take one stat per entry, so names below `start_at` are dropped before
 * it. Links to files count as files; a recursive listing does not follow links to folders, which may form a circle or lead to files
 * that are not the table's. Entries that vanish between the two calls, dangling links and devices are left out.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/local/local.h"

typedef struct listing {
    arena *a;
    str start_at;
    bool recursive;
    store_list_result *out;
    str *folders; /* to visit still */
    size_t n_folders, folder_capacity;
} listing;

static str child_path(arena *a, str dir, const char *name) {
    size_t name_len = strlen(name), dir_len = dir.len == 1 ? 0 : dir.len; /* "/" */
    char *p = arena_alloc(a, dir_len + name_len + 2);
    if (!p) return STR_NULL;
    memcpy(p, dir.ptr, dir_len);
    p[dir_len] = '/';
    memcpy(p + dir_len + 1, name, name_len + 1);
    return (str){p, dir_len + 1 + name_len};
}

static bool is_wanted(const listing *l, const char *name) {
    if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0 || local_is_temporary(name)) return false;
    return str_is_null(l->start_at) || str_cmp(str_of(name), l->start_at) >= 0;
}

/* 0: *out is the entry, links to files followed; otherwise errno, ENOENT for what is to be left out. */
static int stat_entry(const listing *l, int folder, const char *name, struct stat *out) {
    if (fstatat(folder, name, out, AT_SYMLINK_NOFOLLOW) != 0) return errno;
    if (!S_ISLNK(out->st_mode)) return 0;
    if (fstatat(folder, name, out, 0) != 0) return errno == ELOOP ? ENOENT : errno;
    return l->recursive && S_ISDIR(out->st_mode) ? ENOENT : 0;
}

static silt_status add_entry(listing *l, int folder, str dir, const char *name, silt_error *err) {
    struct stat st;
    int error = stat_entry(l, folder, name, &st);
    if (error) return error == ENOENT ? SILT_OK : error_from_errno(err, error, "stat", dir);
    if (!S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode)) return SILT_OK;
    str path = child_path(l->a, dir, name);
    if (str_is_null(path)) return error_no_memory(err);
    bool ok;
    if (S_ISDIR(st.st_mode) && l->recursive) {
        ok = ARENA_PUSH(l->a, l->folders, l->n_folders, l->folder_capacity, path);
    } else {
        bool is_dir = S_ISDIR(st.st_mode);
        store_entry entry = {.path = path, .size_bytes = is_dir ? 0 : st.st_size, .is_dir = is_dir};
        entry.modified_ms = (int64_t)st.st_mtim.tv_sec * 1000 + st.st_mtim.tv_nsec / 1000000;
        ok = ARENA_PUSH(l->a, l->out->items, l->out->count, l->out->capacity, entry);
    }
    return ok ? SILT_OK : error_no_memory(err);
}

static silt_status list_stream(listing *l, DIR *stream, str dir, silt_error *err) {
    for (;;) {
        errno = 0;
        struct dirent *entry = readdir(stream);
        if (!entry) return errno ? error_from_errno(err, errno, "readdir", dir) : SILT_OK;
        if (is_wanted(l, entry->d_name)) TRY(add_entry(l, dirfd(stream), dir, entry->d_name, err));
    }
}

/* A folder below the first that is gone when its turn comes was removed meanwhile. */
static silt_status list_folder(listing *l, str dir, bool is_first, silt_error *err) {
    local_path z;
    TRY(local_path_set(&z, dir, err));
    DIR *stream = opendir(z.z);
    if (!stream) return errno == ENOENT && !is_first ? SILT_OK : error_from_errno(err, errno, "opendir", dir);
    silt_status status = list_stream(l, stream, dir, err);
    closedir(stream);
    return status;
}

static int compare_entries(const void *x, const void *y) {
    return str_cmp(((const store_entry *)x)->path, ((const store_entry *)y)->path);
}

silt_status local_list(store *s, str dir, str start_at, bool recursive, arena *a, store_list_result *out, silt_error *err) {
    (void)s;
    listing l = {.a = a, .start_at = start_at, .recursive = recursive, .out = out};
    TRY(list_folder(&l, dir, true, err));
    while (l.n_folders > 0) {
        str next = l.folders[--l.n_folders];
        TRY(list_folder(&l, next, false, err));
    }
    if (out->count > 1) qsort(out->items, out->count, sizeof *out->items, compare_entries);
    return SILT_OK;
}
