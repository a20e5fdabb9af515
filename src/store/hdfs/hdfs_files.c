/*
 * Local files on their way from and to HDFS.
 *
 * A data file goes up under its final name in two requests: its name is its writer's own, and nothing refers to it before the commit. Only where that did not succeed at once, or where
 * something has the name, does it take the longer way of hdfs_put.c, after which a late request of the first try can do no harm (overwrite=false).
 */
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/thread.h"
#include "base/uri.h"
#include "store/download.h"
#include "store/hdfs/hdfs.h"

#define UPLOADS 16

/* ---- the folder ---- */

static silt_status local_name(hdfs_store *s, str path, arena *a, str *out, silt_error *err) {
    pthread_mutex_lock(&s->lock);
    silt_status status = temp_folder_name(&s->temp, s->temp_base, path, a, out, err);
    pthread_mutex_unlock(&s->lock);
    return status;
}

/* Only what write_begin gave is ours to remove. */
static void remove_local(hdfs_store *s, str local) {
    pthread_mutex_lock(&s->lock);
    temp_folder_remove(&s->temp, local);
    pthread_mutex_unlock(&s->lock);
}

/* ---- down ---- */

typedef struct fetching {
    hdfs_store *s;
    str path;
} fetching;

static silt_status fetch(void *ctx, store_download *d, silt_error *err) {
    const fetching *f = ctx;
    return hdfs_read_to(f->s, f->path, store_download_write, d, err);
}

silt_status hdfs_local_read_path(store *base, str path, arena *a, str *out, silt_error *err) {
    fetching f = {(hdfs_store *)base, path};
    TRY(local_name(f.s, path, a, out, err));
    return store_download_run(*out, fetch, &f, a, err);
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
    remove_local((hdfs_store *)base, local);
}
