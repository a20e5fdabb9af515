/** Borrowed byte strings. A `str` never owns its bytes and need not end in NUL; {NULL, 0} is the absent string. */
#ifndef BASE_STR_H
#define BASE_STR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct str {
    const char *ptr;
    size_t len;
} str;

#define STR(literal) ((str){"" literal "", sizeof(literal) - 1})
#define STR_NULL     ((str){NULL, 0})
/** For printf's "%.*s". Cuts at INT_MAX. */
#define STR_ARG(s) (int)((s).len > 0x7fffffff ? 0x7fffffff : (s).len), ((s).ptr ? (s).ptr : "")

static inline str str_of(const char *z) { return z ? (str){z, strlen(z)} : STR_NULL; }
static inline bool str_is_null(str s) { return s.ptr == NULL; }
static inline bool str_eq(str a, str b) { return a.len == b.len && (a.len == 0 || memcmp(a.ptr, b.ptr, a.len) == 0); }
static inline bool str_eqz(str a, const char *z) { return str_eq(a, str_of(z)); }
static inline str str_slice(str s, size_t from, size_t to) { return (str){s.ptr + from, to - from}; }

/** Bytewise order (UTF-8 order equals code point order). */
int str_cmp(str a, str b);
/** Equality without ASCII case; for Spark's case-insensitive names use str_eq_fold. */
bool str_eq_ascii_fold(str a, str b);
/** Equality under simple Unicode lower-casing of the common scripts (Latin, Greek, Cyrillic); other code points compare exactly. */
bool str_eq_fold(str a, str b);
bool str_starts_with(str s, str prefix);
bool str_ends_with(str s, str suffix);
/** Offset of the first occurrence, or SIZE_MAX. */
size_t str_find(str s, str needle);
size_t str_find_char(str s, char c);
size_t str_rfind_char(str s, char c);
str str_trim(str s);
/** Cut the next piece before `sep` off `*rest`; false when nothing is left. */
bool str_next(str *rest, char sep, str *out_piece);
/** Whole-string decimal integer with an optional sign; false on overflow or any other byte. */
bool str_to_i64(str s, int64_t *out);
/** Whole-string double by the C locale's rules, plus NaN, Infinity, -Infinity. */
bool str_to_f64(str s, double *out);
bool str_is_utf8(str s);
/** Decode one code point at *pos and step over it; invalid bytes give U+FFFD and step one byte. */
uint32_t str_next_codepoint(str s, size_t *pos);
uint64_t str_hash(str s);
/** A checksum that begins with `start`, of many bytes fast: against accidents, not against attackers. The same on every run. */
uint64_t bytes_sum(const char *p, size_t n, uint64_t start);

#ifdef __cplusplus
}
#endif

#endif
