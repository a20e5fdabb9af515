/*
 * Whole objects as files of this machine, for libraries that read files only. An attempt that broke may have come further than the one that succeeds: the file
 * is cut to what that one brought.
 */
#include "store/download.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

silt_status store_download_write(void *ctx, int64_t offset, str bytes, silt_error *err) {
    store_download *d = ctx;
    while (bytes.len > 0) {
        ssize_t n = pwrite(d->fd, bytes.ptr, bytes.len, offset);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return error_from_errno(err, errno, "write", d->local);
        bytes = str_slice(bytes, (size_t)n, bytes.len);
        offset += n;
    }
    d->end = offset;
    return SILT_OK;
}

static void unlink_local(void *path) { unlink(path); }

silt_status store_download_run(str local, store_download_fn fetch, void *ctx, arena *a, silt_error *err) {
    store_download d = {.fd = open(local.ptr, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600), .local = local};
    if (d.fd < 0) return error_from_errno(err, errno, "open", local);
    silt_status status = fetch(ctx, &d, err);
    if (status == SILT_OK && ftruncate(d.fd, d.end) != 0) status = error_from_errno(err, errno, "ftruncate", local);
    if (close(d.fd) != 0 && status == SILT_OK) status = error_from_errno(err, errno, "close", local);
    if (status == SILT_OK && !arena_defer(a, unlink_local, (char *)(uintptr_t)local.ptr)) status = error_no_memory(err);
    if (status != SILT_OK) unlink(local.ptr);
    return status;
}
