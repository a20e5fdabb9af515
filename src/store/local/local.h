/** The parts of the local store. Internal to store/. */
#ifndef STORE_LOCAL_H
#define STORE_LOCAL_H

#include <limits.h>
#include <pthread.h>

#include "store/store.h"

/** A folder in which this store made another one and whose entries are not known to be on disk yet. */
typedef struct local_unsynced {
    char *path;
    uint64_t generation; /**< changes with every folder made in it */
} local_unsynced;

typedef struct local_store {
    store base;
    pthread_mutex_t lock; /**< over what follows */
    local_unsynced *unsynced;
    size_t n_unsynced, unsynced_capacity;
    uint64_t next_generation;
} local_store;

/** A NUL-terminated copy of a path. */
typedef struct local_path {
    char z[PATH_MAX];
} local_path;
silt_status local_path_set(local_path *out, str path, silt_error *err) MUST_CHECK;

/** Names of this store's own temporary files. */
bool local_is_temporary(const char *name);

/** Make `dir` and its missing parents. They are durable after the next local_folders_sync of anything below them. */
silt_status local_folders_make(local_store *s, str dir, silt_error *err) MUST_CHECK;
/** fsync `dir`, and the folders above it in which this store made new ones. */
silt_status local_folders_sync(local_store *s, str dir, silt_error *err) MUST_CHECK;
/** Only the folders above it. */
silt_status local_folders_sync_above(local_store *s, str dir, silt_error *err) MUST_CHECK;
/** Like local_folders_sync, for an open `dir`. */
silt_status local_folders_sync_fd(local_store *s, str dir, int fd, silt_error *err) MUST_CHECK;
/** Like local_folders_sync for many; each folder once. */
silt_status local_folders_sync_many(local_store *s, const str *dirs, size_t n, silt_error *err) MUST_CHECK;
void local_folders_dispose(local_store *s);

silt_status local_put(store *s, str path, str bytes, store_put_mode mode, silt_error *err) MUST_CHECK;
silt_status local_list(store *s, str dir, str start_at, bool recursive, arena *a, store_list_result *out, silt_error *err) MUST_CHECK;
silt_status local_walk(store *s, str dir, const store_walker *w, silt_error *err) MUST_CHECK;
silt_status local_remove_below(store *s, str dir, const str *names, size_t n, silt_status *out, silt_error *err) MUST_CHECK;
silt_status local_real_path(store *s, str path, arena *arena, str *out, silt_error *err) MUST_CHECK;

/** local_swap.c: two folders change places in one step. */
silt_status local_swap_dirs(store *s, str a, str b, silt_error *err) MUST_CHECK;

/** fsync, repeated where a signal interrupts it. 0 or errno. */
int local_fsync(int fd);

#endif
