/*
 * Filling a silt_error. Texts come from outside (paths, column names, an engine's message): they are cut on a UTF-8 boundary and
 * lose their control characters, so that a message is always one printable line. The detail alone may have several lines: a statement
 * with a caret under the place. What looks like a secret, in a path or a quoted setting, is covered: see secret.h.
 */
#include "base/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/secret.h"

/* Texts of the table's own are never cut: it would not compile. */
#define FITS(text, field) _Static_assert(sizeof text <= sizeof((silt_error *)0)->field, "too long for a silt_error: " text)
#define X(name, sqlstate_, status_, params, hint_, ...)                    \
    FITS(#name, condition);                                                \
    FITS(hint_, hint);                                                     \
    _Static_assert(sizeof sqlstate_ == 6, "five characters: " sqlstate_);
#define XS(ident, name, sqlstate_, status_, params, hint_, ...)            \
    FITS(name, condition);                                                 \
    FITS(hint_, hint);                                                     \
    _Static_assert(sizeof sqlstate_ == 6, "five characters: " sqlstate_);
#define X0(name, sqlstate_, status_, hint_, message_)                      \
    FITS(#name, condition);                                                \
    FITS(hint_, hint);                                                     \
    FITS(message_, message);                                               \
    _Static_assert(sizeof sqlstate_ == 6, "five characters: " sqlstate_);
#include "base/errors.def"
#undef X
#undef XS
#undef X0
#undef FITS

const char *error_hint_of(const char *condition) {
#define X(name, sqlstate_, status_, params, hint_, ...)         {#name, hint_},
#define XS(ident, name, sqlstate_, status_, params, hint_, ...) {name, hint_},
#define X0(name, sqlstate_, status_, hint_, message_)           {#name, hint_},
    static const struct {
        const char *condition, *hint;
    } rows[] = {
#include "base/errors.def"
    };
#undef X
#undef XS
#undef X0
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(rows[i].condition, condition) == 0) return rows[i].hint;
    return "";
}

/* Cut a text that vsnprintf filled to the last whole character and blank out its control characters. */
static void tidy(char *text, size_t capacity, int wanted, bool lines) {
    size_t len = strlen(text);
    if (wanted < 0 || (size_t)wanted >= capacity) {
        size_t lead = len;
        while (lead > 0 && len - lead < 4 && ((unsigned char)text[lead - 1] & 0xc0) == 0x80) lead--;
        if (lead > 0) {
            unsigned char c = (unsigned char)text[lead - 1];
            size_t needs = c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : c >= 0xc0 ? 2 : 1;
            if (needs > len - (lead - 1)) len = lead - 1;
        }
        text[len] = '\0';
    }
    for (size_t i = 0; i < len; i++)
        if (((unsigned char)text[i] < 0x20 && !(lines && text[i] == '\n')) || text[i] == 0x7f) text[i] = ' ';
}

__attribute__((format(printf, 4, 0))) static void write_text(char *out, size_t capacity, bool lines, const char *format, va_list args) {
    int n = vsnprintf(out, capacity, format, args);
    if (n < 0) out[0] = '\0';
    else secret_mask(out, strlen(out), false);
    tidy(out, capacity, n, lines);
}

static void copy_text(char *out, size_t capacity, const char *text) {
    int n = snprintf(out, capacity, "%s", text ? text : "");
    tidy(out, capacity, n, false);
}

silt_status error_set(silt_error *err, silt_status status, const char *condition, const char *sqlstate, const char *hint,
                      const char *message_format, ...) {
    if (!err) return status;
    /* Built apart: an argument may point into *err (an error that quotes the one before). */
    char message[sizeof err->message];
    va_list args;
    va_start(args, message_format);
    write_text(message, sizeof message, false, message_format, args);
    va_end(args);
    err->status = status;
    err->code = 0;
    copy_text(err->condition, sizeof err->condition, condition);
    copy_text(err->sqlstate, sizeof err->sqlstate, sqlstate);
    memcpy(err->message, message, sizeof message);
    err->detail[0] = '\0';
    copy_text(err->hint, sizeof err->hint, hint);
    return status;
}

void error_detail(silt_error *err, const char *format, ...) {
    if (!err) return;
    char text[sizeof err->detail];
    va_list args;
    va_start(args, format);
    write_text(text, sizeof text, true, format, args);
    va_end(args);
    memcpy(err->detail, text, sizeof text);
}

void error_hint(silt_error *err, const char *format, ...) {
    if (!err) return;
    char text[sizeof err->hint];
    va_list args;
    va_start(args, format);
    write_text(text, sizeof text, false, format, args);
    va_end(args);
    memcpy(err->hint, text, sizeof text);
}

silt_status error_no_memory(silt_error *err) {
    return err_OUT_OF_MEMORY(err);
}

static silt_status status_of_errno(silt_error *err, int saved_errno, const char *call, str what) {
    switch (saved_errno) {
        case ENOENT:
        case ENOTDIR: return err_FILE_NOT_FOUND(err, what);
        case EEXIST: return err_PATH_ALREADY_EXISTS(err, what);
        case EACCES:
        case EPERM:
        case EROFS: return err_PERMISSION_DENIED(err, what);
        case ENOSPC:
        case EDQUOT: return err_NO_SPACE_LEFT(err, what);
        case ENOMEM: return err_OUT_OF_MEMORY(err);
        default: return err_IO_ERROR(err, call, what);
    }
}

silt_status error_from_errno(silt_error *err, int saved_errno, const char *call, str what) {
    silt_status status = status_of_errno(err, saved_errno, call, what);
    if (err) {
        char text[128];
        err->code = saved_errno;
        error_detail(err, "%s: %s", call, strerror_r(saved_errno, text, sizeof text));
    }
    return status;
}
