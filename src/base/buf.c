/*
 * Byte buffers. The maximum is checked against the length asked for, not against the capacity, so that doubling never makes a
 * buffer fail early; a failed append leaves the bytes as they were.
 */
#include "base/buf.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void buf_init(buf *b, size_t max) { *b = (buf){.max = max}; }

void buf_dispose(buf *b) {
    free(b->ptr);
    *b = (buf){.max = b->max};
}

void buf_clear(buf *b) {
    b->len = 0;
    b->failed = false;
}

/* Room for `extra` more bytes, `slack` of which do not count against the maximum. */
static bool grow(buf *b, size_t extra, size_t slack) {
    if (b->failed) return false;
    if (extra > b->max || b->len > b->max - extra || b->len + extra > SIZE_MAX - slack) {
        b->failed = true;
        return false;
    }
    size_t needed = b->len + extra + slack;
    if (needed <= b->capacity) return true;
    size_t capacity = b->capacity < 64 ? 64 : b->capacity;
    while (capacity < needed) capacity = capacity > SIZE_MAX / 2 ? needed : capacity * 2;
    char *p = realloc(b->ptr, capacity);
    if (!p && capacity > needed) {
        capacity = needed; /* a large buffer may still fit exactly */
        p = realloc(b->ptr, capacity);
    }
    if (!p) {
        b->failed = true;
        return false;
    }
    b->ptr = p;
    b->capacity = capacity;
    return true;
}

bool buf_reserve(buf *b, size_t extra) { return grow(b, extra, 0); }

void buf_append_bytes(buf *b, const void *bytes, size_t len) {
    if (len == 0 || !grow(b, len, 0)) return;
    memcpy(b->ptr + b->len, bytes, len);
    b->len += len;
}

void buf_append(buf *b, str s) { buf_append_bytes(b, s.ptr, s.len); }

void buf_append_z(buf *b, const char *z) { buf_append_bytes(b, z, strlen(z)); }

void buf_append_char(buf *b, char c) {
    if (!grow(b, 1, 0)) return;
    b->ptr[b->len++] = c;
}

void buf_append_i64(buf *b, int64_t v) {
    char digits[24];
    char *p = digits + sizeof digits;
    uint64_t u = v < 0 ? 0 - (uint64_t)v : (uint64_t)v;
    do {
        *--p = (char)('0' + u % 10);
        u /= 10;
    } while (u);
    if (v < 0) *--p = '-';
    buf_append_bytes(b, p, (size_t)(digits + sizeof digits - p));
}

void buf_printf(buf *b, const char *format, ...) {
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    char small[256];
    int n = vsnprintf(small, sizeof small, format, args);
    if (n < 0) {
        b->failed = true;
    } else if ((size_t)n < sizeof small) {
        buf_append_bytes(b, small, (size_t)n);
    } else if (grow(b, (size_t)n, 1)) {
        vsnprintf(b->ptr + b->len, (size_t)n + 1, format, again);
        b->len += (size_t)n;
    }
    va_end(again);
    va_end(args);
}

const char *buf_cstr(buf *b) {
    if (!grow(b, 0, 1)) return NULL;
    b->ptr[b->len] = '\0';
    return b->ptr;
}

str buf_take(buf *b, arena *a) {
    str out = buf_ok(b) ? arena_str(a, buf_str(b)) : STR_NULL;
    buf_dispose(b);
    return out;
}
