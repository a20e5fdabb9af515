/**
 * Errors. Every user-facing error is one row of errors.def, which gives a typed constructor:
 *
 *     return err_DELTA_VERSION_NOT_FOUND(err, version, earliest, latest);
 *
 * returns the row's status after filling `err` (NULL allowed). Add the cause with error_detail, which keeps the rest:
 *
 *     silt_status s = err_DELTA_LOG_FILE_CORRUPT(err, path, line);  error_detail(err, "…", …);  return s;
 *
 * Strings are cut to their buffers on a UTF-8 boundary; control characters become spaces. Never put a secret in one.
 */
#ifndef BASE_ERROR_H
#define BASE_ERROR_H

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"
#include "silt/error.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Fill `err` from parts; the constructors below are the way to call it. Returns status. */
silt_status error_set(silt_error *err, silt_status status, const char *condition, const char *sqlstate, const char *hint,
                      const char *message_format, ...) __attribute__((format(printf, 6, 7)));
/** Replace the detail (the cause). NULL err is fine. */
void error_detail(silt_error *err, const char *format, ...) __attribute__((format(printf, 2, 3)));
/** Replace the hint (the remedy). */
void error_hint(silt_error *err, const char *format, ...) __attribute__((format(printf, 2, 3)));
/** SILT_NO_MEMORY, condition OUT_OF_MEMORY. */
silt_status error_no_memory(silt_error *err);
/** From errno after a failed call on `what` (a path): ENOENT → NOT_FOUND, EACCES → DENIED, ENOSPC/EDQUOT → NO_SPACE, else IO. */
silt_status error_from_errno(silt_error *err, int saved_errno, const char *call, str what);

/*
 * X(NAME, "SQLSTATE", STATUS, (typed parameters), "hint", "message format", arguments…)
 * generates  static inline silt_status err_NAME(silt_error *err, typed parameters).
 * A row without parameters writes (void) and passes no arguments: use X0(NAME, "SQLSTATE", STATUS, "hint", "message").
 */
#define ERR_UNPAREN(...) __VA_ARGS__
#define X(name, sqlstate, status_, params, hint_, ...)                                       \
    static inline silt_status err_##name(silt_error *err, ERR_UNPAREN params) {              \
        return error_set(err, status_, #name, sqlstate, hint_, __VA_ARGS__);                 \
    }
/* XS: like X for a condition with a sub-class, whose name cannot be an identifier: XS(IDENT, "NAME.SUB", …). */
#define XS(ident, name, sqlstate, status_, params, hint_, ...)                               \
    static inline silt_status err_##ident(silt_error *err, ERR_UNPAREN params) {             \
        return error_set(err, status_, name, sqlstate, hint_, __VA_ARGS__);                  \
    }
#define X0(name, sqlstate, status_, hint_, message)                                          \
    static inline silt_status err_##name(silt_error *err) {                                  \
        return error_set(err, status_, #name, sqlstate, hint_, "%s", message);               \
    }
#include "base/errors.def"
#undef X
#undef XS
#undef X0

/** The remedy that the rows of errors.def give for a condition; "" where they do not know it. For conditions that come as text. */
const char *error_hint_of(const char *condition);

#ifdef __cplusplus
}
#endif

#endif
