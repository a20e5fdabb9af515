/*
 * Folders of the local store: making them, and making them durable.
 *
 * A new file survives a crash of the machine once its folder was fsynced, and a new folder once the folder above it was. Syncing at
 * once would cost one wait per folder made (100 partitions: 100 syncs of the table's folder), so the store remembers in which
 * folders it made others and syncs each once, before it reports a file below as durable. A folder is noted before mkdir, so that
 * a thread that finds the new folder there also finds the note; the note goes only when no folder was made during its fsync.
 * Folders that other processes make at the same moment are their concern.
 */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/thread.h"
#include "base/uri.h"
#include "store/local/local.h"

#define SYNC_THREADS 8 /* they wait for the disk, not for a processor */

int local_fsync(int fd) {
    while (fsync(fd) != 0)
        if (errno != EINTR) return errno;
    return 0;
}

silt_status local_path_set(local_path *out, str path, silt_error *err) {
    if (path.len >= sizeof out->z) return error_from_errno(err, ENAMETOOLONG, "open", path);
    memcpy(out->z, path.ptr, path.len);
    out->z[path.len] = '\0';
    return SILT_OK;
}

/* ---- the notes ---- */

static local_unsynced *find_note(local_store *s, str path) {
    for (size_t i = 0; i < s->n_unsynced; i++)
        if (str_eqz(path, s->unsynced[i].path)) return &s->unsynced[i];
    return NULL;
}

static bool add_note(local_store *s, str path) {
    if (s->n_unsynced == s->unsynced_capacity) {
        size_t capacity = s->unsynced_capacity ? s->unsynced_capacity * 2 : 8;
        local_unsynced *p = realloc(s->unsynced, capacity * sizeof *p);
        if (!p) return false;
        s->unsynced = p;
        s->unsynced_capacity = capacity;
    }
    char *copy = strndup(path.ptr, path.len);
    if (!copy) return false;
    s->unsynced[s->n_unsynced++] = (local_unsynced){.path = copy, .generation = ++s->next_generation};
    return true;
}

/* *out_generation: to take back a note that was not there before; 0 where it was. */
static silt_status note_unsynced(local_store *s, str path, uint64_t *out_generation, silt_error *err) {
    pthread_mutex_lock(&s->lock);
    local_unsynced *note = find_note(s, path);
    bool ok = true;
    if (note) note->generation = ++s->next_generation;
    else ok = add_note(s, path);
    *out_generation = note ? 0 : s->next_generation;
    pthread_mutex_unlock(&s->lock);
    return ok ? SILT_OK : error_no_memory(err);
}

/* 0: not noted. */
static uint64_t noted_generation(local_store *s, str path) {
    pthread_mutex_lock(&s->lock);
    local_unsynced *note = find_note(s, path);
    uint64_t generation = note ? note->generation : 0;
    pthread_mutex_unlock(&s->lock);
    return generation;
}

static void forget_note(local_store *s, str path, uint64_t generation) {
    pthread_mutex_lock(&s->lock);
    local_unsynced *note = find_note(s, path);
    if (note && note->generation == generation) {
        free(note->path);
        *note = s->unsynced[--s->n_unsynced];
    }
    pthread_mutex_unlock(&s->lock);
}

void local_folders_dispose(local_store *s) {
    for (size_t i = 0; i < s->n_unsynced; i++) free(s->unsynced[i].path);
    free(s->unsynced);
}

/* ---- making ---- */

static silt_status not_a_folder(str path, silt_error *err) {
    silt_status status = err_PATH_ALREADY_EXISTS(err, path);
    error_detail(err, "A file stands where a folder is needed.");
    return status;
}

/* mkdir of one folder whose parent should be there. *out_missing: the parent is not. */
static silt_status make_one(local_store *s, str dir, const char *z, bool *out_missing, silt_error *err) {
    str parent = path_parent(dir);
    uint64_t generation;
    struct stat st;
    *out_missing = false;
    TRY(note_unsynced(s, parent, &generation, err));
    if (mkdir(z, 0777) == 0) return SILT_OK;
    int error = errno;
    if (error == EEXIST && stat(z, &st) == 0 && S_ISDIR(st.st_mode)) return SILT_OK; /* the note stays: its maker may not have synced */
    forget_note(s, parent, generation);
    *out_missing = error == ENOENT;
    if (*out_missing) return SILT_OK;
    if (error == EEXIST) return not_a_folder(dir, err);
    if (error == ENOTDIR) return not_a_folder(parent, err);
    return error_from_errno(err, error, "mkdir", dir);
}

silt_status local_folders_make(local_store *s, str dir, silt_error *err) {
    local_path z;
    struct stat st;
    TRY(local_path_set(&z, dir, err));
    if (stat(z.z, &st) == 0) return S_ISDIR(st.st_mode) ? SILT_OK : not_a_folder(dir, err);
    /* Up to the first folder that is there, then down again, without recursion: a path has up to 2,000 components. */
    size_t len = dir.len;
    bool missing = true;
    while (missing) {
        str part = str_slice(dir, 0, len);
        z.z[len] = '\0';
        TRY(make_one(s, part, z.z, &missing, err));
        if (!missing) break;
        if (len == 1) return error_from_errno(err, ENOENT, "mkdir", dir);
        len = path_parent(part).len;
    }
    while (len < dir.len) {
        size_t slash = str_find_char(str_slice(dir, len + 1, dir.len), '/');
        memcpy(z.z, dir.ptr, dir.len);
        len = slash == SIZE_MAX ? dir.len : len + 1 + slash;
        z.z[len] = '\0';
        TRY(make_one(s, str_slice(dir, 0, len), z.z, &missing, err));
        if (missing) return error_from_errno(err, ENOENT, "mkdir", str_slice(dir, 0, len)); /* removed at this moment */
    }
    return SILT_OK;
}

/* ---- syncing ---- */

/* Some file systems have nothing to sync in a folder and say so. */
static silt_status sync_folder_fd(int fd, str dir, silt_error *err) {
    int error = local_fsync(fd);
    bool fine = error == 0 || error == EINVAL || error == ENOTSUP || error == ENOSYS;
    return fine ? SILT_OK : error_from_errno(err, error, "fsync", dir);
}

static silt_status sync_folder(str dir, silt_error *err) {
    local_path z;
    TRY(local_path_set(&z, dir, err));
    int fd = open(z.z, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return error_from_errno(err, errno, "open", dir);
    silt_status status = sync_folder_fd(fd, dir, err);
    close(fd);
    return status;
}

static silt_status sync_noted(local_store *s, str dir, silt_error *err) {
    uint64_t generation = noted_generation(s, dir);
    if (generation == 0) return SILT_OK;
    TRY(sync_folder(dir, err));
    forget_note(s, dir, generation);
    return SILT_OK;
}

silt_status local_folders_sync_above(local_store *s, str dir, silt_error *err) {
    while (dir.len > 1) {
        dir = path_parent(dir);
        TRY(sync_noted(s, dir, err));
    }
    return SILT_OK;
}

silt_status local_folders_sync_fd(local_store *s, str dir, int fd, silt_error *err) {
    uint64_t generation = noted_generation(s, dir);
    TRY(sync_folder_fd(fd, dir, err));
    if (generation) forget_note(s, dir, generation);
    return local_folders_sync_above(s, dir, err);
}

silt_status local_folders_sync(local_store *s, str dir, silt_error *err) {
    uint64_t generation = noted_generation(s, dir);
    TRY(sync_folder(dir, err));
    if (generation) forget_note(s, dir, generation);
    return local_folders_sync_above(s, dir, err);
}

typedef struct sync_job {
    local_store *s;
    const str *dirs;
} sync_job;

static silt_status sync_nth(void *ctx, size_t i, silt_error *err) {
    sync_job *job = ctx;
    uint64_t generation = noted_generation(job->s, job->dirs[i]);
    TRY(sync_folder(job->dirs[i], err));
    if (generation) forget_note(job->s, job->dirs[i], generation);
    return SILT_OK;
}

static int compare_str(const void *x, const void *y) { return str_cmp(*(const str *)x, *(const str *)y); }

silt_status local_folders_sync_many(local_store *s, const str *dirs, size_t n, silt_error *err) {
    if (n == 0) return SILT_OK;
    str *unique = malloc(n * sizeof *unique);
    if (!unique) return error_no_memory(err);
    memcpy(unique, dirs, n * sizeof *unique);
    qsort(unique, n, sizeof *unique, compare_str);
    size_t count = 0;
    for (size_t i = 0; i < n; i++)
        if (count == 0 || !str_eq(unique[count - 1], unique[i])) unique[count++] = unique[i];
    sync_job job = {.s = s, .dirs = unique};
    silt_status status;
    TRY_OUT(thread_for(SYNC_THREADS, count, sync_nth, &job, err));
    for (size_t i = 0; i < count; i++) TRY_OUT(local_folders_sync_above(s, unique[i], err));
out:
    free(unique);
    return status;
}
