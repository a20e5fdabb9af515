/**
 * The face of `base`: memory, strings, errors and the macros every module uses.
 * Include this one; the finer headers (json.h, time.h, uri.h, thread.h, codec.h) come on their own.
 */
#ifndef BASE_BASE_H
#define BASE_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/str.h"

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))
#define MUST_CHECK   __attribute__((warn_unused_result))
#define PRINTF(f, a) __attribute__((format(printf, f, a)))

/** Return early on failure. Only where nothing but arena memory is held; otherwise TRY_OUT with the label `out:`. */
#define TRY(expr)                                  \
    do {                                           \
        silt_status try_status_ = (expr);          \
        if (try_status_ != SILT_OK) return try_status_; \
    } while (0)

/** Store the status in the local `status` and jump to `out:` on failure. */
#define TRY_OUT(expr)                  \
    do {                               \
        status = (expr);               \
        if (status != SILT_OK) goto out; \
    } while (0)

#endif
