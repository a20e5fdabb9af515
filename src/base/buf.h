/** Growing byte buffers with a maximum given at init. A failed append sets `failed` and later appends do nothing, so that a long
 * run of appends is checked once (buf_ok). */
#ifndef BASE_BUF_H
#define BASE_BUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/str.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct buf {
    char *ptr; /**< owned; not NUL-terminated, see buf_cstr */
    size_t len;
    size_t capacity;
    size_t max;  /**< bytes; an append beyond it fails */
    bool failed; /**< an append did not fit or memory ran out */
} buf;

#define BUF_MAX_DEFAULT ((size_t)1 << 40)

void buf_init(buf *b, size_t max);
void buf_dispose(buf *b);
/** Empty it and clear `failed`; keeps the memory. */
void buf_clear(buf *b);
bool buf_reserve(buf *b, size_t extra);
void buf_append(buf *b, str s);
void buf_append_bytes(buf *b, const void *bytes, size_t len);
void buf_append_z(buf *b, const char *z);
void buf_append_char(buf *b, char c);
void buf_append_i64(buf *b, int64_t v);
void buf_printf(buf *b, const char *format, ...) __attribute__((format(printf, 2, 3)));
/** Borrowed until the next append. */
static inline str buf_str(const buf *b) { return (str){b->ptr ? b->ptr : "", b->len}; }
/** Ends the bytes with a NUL that is not counted; NULL when memory ran out or an append had failed. */
const char *buf_cstr(buf *b);
static inline bool buf_ok(const buf *b) { return !b->failed; }
/** The bytes as a string of the arena, and the buffer disposed of; STR_NULL when memory ran out or an append had failed. */
str buf_take(buf *b, arena *a);

#ifdef __cplusplus
}
#endif

#endif
