/*
 * Local files on their way from and to HDFS.
 *
 * A data file goes up under its final name in two requests: its name is its writer's own, and nothing refers to it before the commit. Only where that did not succeed at once, or where
 * something has the name, does it take the longer way of hdfs_put.c, after which a late request of the first try can do no harm (overwrite=false).
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/thread.h"
#include "base/uri.h"
#include "store/hdfs/hdfs.h"

#define UPLOADS 16

/* ---- the folder ---- */

static silt_status make_folder(hdfs_store *s, silt_error *err) {
    const char *base = getenv("TMPDIR");
    if (s->folder[0]) return SILT_OK;
    int n = snprintf(s->folder, sizeof s->folder, "%s/silt-hdfs-XXXXXX", base && *base ? base : "/tmp");
    bool fits = n > 0 && (size_t)n < sizeof s->folder;
    if (fits && mkdtemp(s->folder)) return SILT_OK;
    silt_status status = error_from_errno(err, fits ? errno : ENAMETOOLONG, "mkdtemp", str_of(base));
    s->folder[0] = '\0';
    return status;
}

/* A fresh name that ends as the path does, which tells engines what it is. */
static silt_status local_name(hdfs_store *s, str path, arena *a, str *out, silt_error *err) {
    pthread_mutex_lock(&s->lock);
    silt_status status = make_folder(s, err);
    uint64_t number = s->next_file++;
    pthread_mutex_unlock(&s->lock);
    TRY(status);
    str end = path_name(path);
    if (end.len > 100) end = str_slice(end, end.len - 100, end.len);
    *out = arena_printf(a, "%s/%llu-%.*s", s->folder, (unsigned long long)number, STR_ARG(end));
    return str_is_null(*out) ? error_no_memory(err) : SILT_OK;
}

void hdfs_files_dispose(hdfs_store *s) {
    struct dirent *entry;
    if (!s->folder[0]) return;
    DIR *stream = opendir(s->folder);
    while (stream && (entry = readdir(stream)) != NULL)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) unlinkat(dirfd(stream), entry->d_name, 0);
    if (stream) closedir(stream);
    rmdir(s->folder);
}

/* Only what write_begin gave is ours to remove. */
static void remove_local(const hdfs_store *s, str local) {
    char z[4096];
    if (local.len >= sizeof z || !s->folder[0] || !str_starts_with(local, str_of(s->folder))) return;
    memcpy(z, local.ptr, local.len);
    z[local.len] = '\0';
    unlink(z);
}

/* ---- down ---- */

typedef struct download {
    int fd;
    str local;
} download;

static silt_status write_piece(void *ctx, int64_t offset, str bytes, silt_error *err) {
    const download *d = ctx;
    if (offset == 0 && ftruncate(d->fd, 0) != 0) return error_from_errno(err, errno, "ftruncate", d->local);
    while (bytes.len > 0) {
        ssize_t n = pwrite(d->fd, bytes.ptr, bytes.len, offset);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return error_from_errno(err, errno, "write", d->local);
        bytes = str_slice(bytes, (size_t)n, bytes.len);
        offset += n;
    }
    return SILT_OK;
}

static void unlink_local(void *path) { unlink(path); }

silt_status hdfs_local_read_path(store *base, str path, arena *a, str *out, silt_error *err) {
    hdfs_store *s = (hdfs_store *)base;
    TRY(local_name(s, path, a, out, err));
    download d = {.fd = open(out->ptr, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600), .local = *out};
    if (d.fd < 0) return error_from_errno(err, errno, "open", *out);
    silt_status status = hdfs_read_to(s, path, write_piece, &d, err);
    if (close(d.fd) != 0 && status == SILT_OK) status = error_from_errno(err, errno, "close", *out);
    if (status == SILT_OK && !arena_defer(a, unlink_local, (char *)(uintptr_t)out->ptr)) status = error_no_memory(err);
    if (status != SILT_OK) unlink(out->ptr);
    return status;
}

/* ---- up ---- */

silt_status hdfs_write_begin(store *s, str path, arena *a, str *out_local, silt_error *err) {
    TRY(hdfs_check_path(path, err));
    return local_name((hdfs_store *)s, path, a, out_local, err);
}

static silt_status upload_file(hdfs_store *s, str path, const hdfs_body *body, arena *a, silt_error *err) {
    hdfs_answer answer = {.exception = STR_NULL};
    silt_error why = {.status = SILT_OK};
    silt_status status = hdfs_create(s, path, body, a, &answer, &why);
    if (status == SILT_OK) return SILT_OK;
    bool taken = hdfs_is(&answer, "FileAlreadyExistsException");
    bool passing = status == SILT_UNKNOWN || (status == SILT_IO && strcmp(why.condition, "HDFS_SAFE_MODE") != 0);
    if (taken || passing) status = hdfs_put_body(s, path, body, true, err);
    else if (err) *err = why;
    bool was_there;
    if (status != SILT_OK && !taken && answer.may_have_applied) (void)hdfs_discard(s, path, &was_there);
    return status;
}

static silt_status upload(hdfs_store *s, str path, str local, silt_error *err) {
    struct stat st;
    arena *a = arena_new();
    const char *z = a ? arena_cstr(a, local) : NULL;
    silt_status status;
    if (!z) status = error_no_memory(err);
    else if (stat(z, &st) != 0) status = error_from_errno(err, errno, "stat", local);
    else status = upload_file(s, path, &(hdfs_body){.file = z, .size = st.st_size}, a, err);
    arena_free(a);
    return status;
}

silt_status hdfs_write_finish(store *base, str path, str local, silt_error *err) {
    hdfs_store *s = (hdfs_store *)base;
    TRY(hdfs_check_path(path, err));
    TRY(upload(s, path, local, err));
    remove_local(s, local);
    return SILT_OK;
}

typedef struct uploads {
    hdfs_store *s;
    const str *paths, *locals;
} uploads;

static silt_status finish_nth(void *ctx, size_t i, silt_error *err) {
    const uploads *u = ctx;
    TRY(hdfs_check_path(u->paths[i], err));
    return upload(u->s, u->paths[i], u->locals[i], err);
}

silt_status hdfs_write_finish_many(store *base, const str *paths, const str *locals, size_t n, silt_error *err) {
    uploads u = {(hdfs_store *)base, paths, locals};
    TRY(thread_for(UPLOADS, n, finish_nth, &u, err));
    for (size_t i = 0; i < n; i++) remove_local(u.s, locals[i]);
    return SILT_OK;
}

void hdfs_write_abort(store *base, str path, str local) {
    (void)path; /* what was uploaded already is referred to by nothing, and VACUUM takes it */
    remove_local((const hdfs_store *)base, local);
}
