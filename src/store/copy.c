/* Bytes of an object into a local file, by the kernel where it can (on file systems that share blocks nothing is copied at all), else through a buffer. */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/thread.h"
#include "store/local/local.h"
#include "store/store.h"

#define CHUNK_BYTES (8 * 1024 * 1024)

static bool is_of_writing(int error) { return error == ENOSPC || error == EDQUOT || error == EFBIG; }

static bool must_be_read(int error) { return error == EXDEV || error == ENOSYS || error == EINVAL || error == EOPNOTSUPP || error == EPERM; }

/* Errors name the side that they are about: `path` is read, `local` written. */
static silt_status copy_by_kernel(int from, int to, str path, str local, const cancel_token *cancel, bool *out_done, int64_t *out_bytes, silt_error *err) {
    for (;;) {
        TRY(cancel_check(cancel, err));
        ssize_t n = copy_file_range(from, NULL, to, NULL, CHUNK_BYTES, 0);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0 && *out_bytes == 0 && must_be_read(errno)) return SILT_OK;
        if (n < 0) return error_from_errno(err, errno, "copy_file_range", is_of_writing(errno) ? local : path);
        *out_bytes += n;
        *out_done = n == 0;
        if (n == 0) return SILT_OK;
    }
}

static silt_status write_all(int to, const char *bytes, size_t n, str local, silt_error *err) {
    while (n > 0) {
        ssize_t done = write(to, bytes, n);
        if (done < 0 && errno == EINTR) continue;
        if (done < 0) return error_from_errno(err, errno, "write", local);
        bytes += done;
        n -= (size_t)done;
    }
    return SILT_OK;
}

static silt_status copy_by_hand(int from, int to, str path, str local, const cancel_token *cancel, int64_t *out_bytes, silt_error *err) {
    char bytes[65536];
    for (;;) {
        TRY(cancel_check(cancel, err));
        ssize_t n = read(from, bytes, sizeof bytes);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return error_from_errno(err, errno, "read", path);
        if (n == 0) return SILT_OK;
        TRY(write_all(to, bytes, (size_t)n, local, err));
        *out_bytes += n;
    }
}

static silt_status copy_open(int from, str path, str local, const cancel_token *cancel, int64_t *out_bytes, silt_error *err) {
    local_path z;
    bool done = false;
    TRY(local_path_set(&z, local, err));
    int to = open(z.z, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (to < 0) return error_from_errno(err, errno, "open", local);
    silt_status status = copy_by_kernel(from, to, path, local, cancel, &done, out_bytes, err);
    if (status == SILT_OK && !done) status = copy_by_hand(from, to, path, local, cancel, out_bytes, err);
    if (close(to) != 0 && status == SILT_OK) status = error_from_errno(err, errno, "close", local);
    return status;
}

static silt_status copy_out(store *s, str path, str local, const cancel_token *cancel, arena *a, int64_t *out_bytes, silt_error *err) {
    str readable;
    local_path z;
    TRY(store_local_read_path(s, path, a, &readable, err));
    TRY(local_path_set(&z, readable, err));
    int from = open(z.z, O_RDONLY | O_CLOEXEC);
    if (from < 0) return error_from_errno(err, errno, "open", path);
    silt_status status = copy_open(from, path, local, cancel, out_bytes, err);
    close(from);
    return status;
}

silt_status store_copy_out(store *s, str path, str local, const cancel_token *cancel, int64_t *out_bytes, silt_error *err) {
    arena *a = arena_new();
    *out_bytes = 0;
    silt_status status = a ? copy_out(s, path, local, cancel, a, out_bytes, err) : error_no_memory(err);
    arena_free(a);
    return status;
}
