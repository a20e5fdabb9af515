/** A whole object on its way into a file of this machine. Internal to store/. */
#ifndef STORE_DOWNLOAD_H
#define STORE_DOWNLOAD_H

#include "base/base.h"

typedef struct store_download {
    int fd;
    str local;
    int64_t end; /**< of the bytes of the attempt that is under way, which may be fewer than those of one before */
} store_download;

typedef silt_status (*store_download_fn)(void *ctx, store_download *d, silt_error *err);

/**
 * Make the file `local` (its path ends in a NUL) and have `fetch` fill it by store_download_write. It goes when `a` is reset or freed; where this
 * fails nothing stays.
 * @return EXISTS where the file is there already, NO_SPACE, …, or what `fetch` returned
 */
silt_status store_download_run(str local, store_download_fn fetch, void *ctx, arena *a, silt_error *err) MUST_CHECK;
/** Bytes of the object at `offset`; an attempt that begins again begins at 0. In the form of http_request.sink; d: store_download *. */
silt_status store_download_write(void *d, int64_t offset, str bytes, silt_error *err) MUST_CHECK;

#endif
