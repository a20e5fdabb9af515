/* Making room in the read cache, and telling what is in it. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/cache/cache.h"

#define NS_PER_S  1000000000LL
#define MAP_END   ".map"
#define NAME_LEN  CACHE_NAME_LEN

/* Files of one entry, and what else has its name. */
typedef struct found {
    char folder[3], name[NAME_LEN + 1];
    int64_t used_ns, bytes;
} found;

typedef struct inventory {
    found *items;
    size_t count, capacity;
    arena *arena;
} inventory;

static bool add_file(inventory *v, const char *folder, int dir, const char *name) {
    struct stat st;
    if (strlen(name) < NAME_LEN || fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) != 0) return true;
    found f = {.bytes = (int64_t)st.st_blocks * 512, .used_ns = -1};
    snprintf(f.folder, sizeof f.folder, "%.2s", folder);
    snprintf(f.name, sizeof f.name, "%.*s", NAME_LEN, name);
    if (strcmp(name + NAME_LEN, MAP_END) == 0) f.used_ns = (int64_t)st.st_mtim.tv_sec * NS_PER_S + st.st_mtim.tv_nsec;
    return ARENA_PUSH(v->arena, v->items, v->count, v->capacity, f);
}

static bool add_folder(const cache_folder *f, inventory *v, const char *name) {
    char path[PATH_MAX];
    bool ok = true;
    snprintf(path, sizeof path, "%s/objects/%.2s", f->dir, name);
    DIR *d = opendir(path);
    if (!d) return true;
    for (struct dirent *e; ok && (e = readdir(d));)
        if (e->d_name[0] != '.') ok = add_file(v, name, dirfd(d), e->d_name);
    closedir(d);
    return ok;
}

static int by_name(const void *a, const void *b) { return strcmp(((const found *)a)->name, ((const found *)b)->name); }

static int by_use(const void *a, const void *b) {
    int64_t x = ((const found *)a)->used_ns, y = ((const found *)b)->used_ns;
    return x < y ? -1 : x > y;
}

/* The files of one entry become one item; without a map it was used never. */
static void join_files(inventory *v) {
    size_t n = 0;
    if (v->count) qsort(v->items, v->count, sizeof *v->items, by_name);
    for (size_t i = 0; i < v->count; i++) {
        if (n && strcmp(v->items[n - 1].name, v->items[i].name) == 0) {
            v->items[n - 1].bytes += v->items[i].bytes;
            if (v->items[i].used_ns > v->items[n - 1].used_ns) v->items[n - 1].used_ns = v->items[i].used_ns;
        } else {
            v->items[n++] = v->items[i];
        }
    }
    v->count = n;
}

static silt_status take_inventory(const cache_folder *f, inventory *v, silt_error *err) {
    char objects[PATH_MAX];
    bool ok = true;
    snprintf(objects, sizeof objects, "%s/objects", f->dir);
    DIR *d = opendir(objects);
    if (!d) return errno == ENOENT ? SILT_OK : cache_folder_failure(f, errno, "opendir", err);
    for (struct dirent *e; ok && (e = readdir(d));)
        if (e->d_name[0] != '.' && strlen(e->d_name) == 2) ok = add_folder(f, v, e->d_name);
    closedir(d);
    if (!ok) return error_no_memory(err);
    join_files(v);
    return SILT_OK;
}

/* The map first: a file without one is nobody's. */
static void remove_entry(const cache_folder *f, const found *item) {
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/objects/%s/%s" MAP_END, f->dir, item->folder, item->name);
    (void)unlink(path);
    snprintf(path, sizeof path, "%s/objects/%s", f->dir, item->folder);
    DIR *d = opendir(path);
    if (!d) return;
    for (struct dirent *e; (e = readdir(d));)
        if (strncmp(e->d_name, item->name, NAME_LEN) == 0) (void)unlinkat(dirfd(d), e->d_name, 0);
    closedir(d);
}

static void remove_unused(const cache_folder *f, inventory *v, int64_t keep_bytes, store_cache_usage *left, store_cache_usage *removed) {
    int64_t oldest = cache_lease_oldest(f);
    if (v->count) qsort(v->items, v->count, sizeof *v->items, by_use);
    for (size_t i = 0; i < v->count && left->bytes > keep_bytes; i++) {
        if (v->items[i].used_ns >= oldest) break;
        remove_entry(f, &v->items[i]);
        left->bytes -= v->items[i].bytes;
        left->entries--;
        removed->bytes += v->items[i].bytes;
        removed->entries++;
    }
}

silt_status cache_evict(const cache_folder *f, int64_t keep_bytes, store_cache_usage *left, store_cache_usage *removed, silt_error *err) {
    inventory v = {.arena = arena_new()};
    store_cache_usage unused;
    if (!removed) removed = &unused;
    *left = *removed = (store_cache_usage){0};
    if (!v.arena) return error_no_memory(err);
    bool only_look = keep_bytes == INT64_MAX;
    int lock = only_look ? -1 : cache_folder_lock(f, true);
    silt_status status = only_look || lock >= 0 ? take_inventory(f, &v, err) : cache_folder_failure(f, errno, "lock", err);
    if (status == SILT_OK) {
        for (size_t i = 0; i < v.count; i++) left->bytes += v.items[i].bytes;
        left->entries = (int64_t)v.count;
        if (!only_look) remove_unused(f, &v, keep_bytes, left, removed);
        if (!only_look) cache_counts_set(f, left->bytes, false);
    }
    if (lock >= 0) close(lock);
    arena_free(v.arena);
    return status;
}

/* ---- for people ---- */

static bool is_there(const cache_folder *f) { return access(f->dir, F_OK) == 0; }

silt_status store_cache_show(str dir, store_cache_usage *out, silt_error *err) {
    cache_folder f;
    cache_counts counts;
    *out = (store_cache_usage){0};
    TRY(cache_folder_set(&f, dir, err));
    if (!is_there(&f)) return SILT_OK;
    TRY(cache_evict(&f, INT64_MAX, out, NULL, err));
    cache_counts_add(&f, NULL, &counts);
    out->hits = counts.hits;
    out->misses = counts.misses;
    out->bytes_hit = counts.bytes_hit;
    out->bytes_fetched = counts.bytes_fetched;
    return SILT_OK;
}

silt_status store_cache_clear(str dir, store_cache_usage *out, silt_error *err) {
    cache_folder f;
    store_cache_usage left;
    *out = (store_cache_usage){0};
    TRY(cache_folder_set(&f, dir, err));
    if (!is_there(&f)) return SILT_OK;
    TRY(cache_folder_make(&f, err));
    TRY(cache_evict(&f, 0, &left, out, err));
    cache_counts_set(&f, left.bytes, true);
    return SILT_OK;
}
