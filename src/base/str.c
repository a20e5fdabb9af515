/* Byte strings: comparison, searching, cutting, numbers and UTF-8. */
#include "base/arena.h"
#include "base/str.h"

#include <errno.h>
#include <locale.h>
#include <stdlib.h>

int str_cmp(str a, str b) {
    size_t n = a.len < b.len ? a.len : b.len;
    int c = n ? memcmp(a.ptr, b.ptr, n) : 0;
    if (c) return c;
    return a.len < b.len ? -1 : a.len > b.len;
}

static unsigned char ascii_lower(unsigned char c) { return c >= 'A' && c <= 'Z' ? (unsigned char)(c + 32) : c; }

bool str_eq_ascii_fold(str a, str b) {
    if (a.len != b.len) return false;
    for (size_t i = 0; i < a.len; i++)
        if (ascii_lower((unsigned char)a.ptr[i]) != ascii_lower((unsigned char)b.ptr[i])) return false;
    return true;
}

/* Upper-case code points first, first + step, …, last; `delta` added gives the lower-case one. From UnicodeData.txt, field
 * "Simple_Lowercase_Mapping", the Latin, Greek, Cyrillic and Armenian blocks and the full-width letters. */
static const struct fold_run {
    uint16_t first, last, step;
    int32_t delta;
} fold_runs[] = {
    {0x00c0, 0x00d6, 1, 32}, {0x00d8, 0x00de, 1, 32}, {0x0100, 0x012e, 2, 1}, {0x0130, 0x0130, 1, -199},
    {0x0132, 0x0136, 2, 1}, {0x0139, 0x0147, 2, 1}, {0x014a, 0x0176, 2, 1}, {0x0178, 0x0178, 1, -121},
    {0x0179, 0x017d, 2, 1}, {0x0181, 0x0181, 1, 210}, {0x0182, 0x0184, 2, 1}, {0x0186, 0x0186, 1, 206},
    {0x0187, 0x0187, 1, 1}, {0x0189, 0x018a, 1, 205}, {0x018b, 0x018b, 1, 1}, {0x018e, 0x018e, 1, 79},
    {0x018f, 0x018f, 1, 202}, {0x0190, 0x0190, 1, 203}, {0x0191, 0x0191, 1, 1}, {0x0193, 0x0193, 1, 205},
    {0x0194, 0x0194, 1, 207}, {0x0196, 0x0196, 1, 211}, {0x0197, 0x0197, 1, 209}, {0x0198, 0x0198, 1, 1},
    {0x019c, 0x019c, 1, 211}, {0x019d, 0x019d, 1, 213}, {0x019f, 0x019f, 1, 214}, {0x01a0, 0x01a4, 2, 1},
    {0x01a6, 0x01a6, 1, 218}, {0x01a7, 0x01a7, 1, 1}, {0x01a9, 0x01a9, 1, 218}, {0x01ac, 0x01ac, 1, 1},
    {0x01ae, 0x01ae, 1, 218}, {0x01af, 0x01af, 1, 1}, {0x01b1, 0x01b2, 1, 217}, {0x01b3, 0x01b5, 2, 1},
    {0x01b7, 0x01b7, 1, 219}, {0x01b8, 0x01b8, 1, 1}, {0x01bc, 0x01bc, 1, 1}, {0x01c4, 0x01c4, 1, 2}, {0x01c5, 0x01c5, 1, 1},
    {0x01c7, 0x01c7, 1, 2}, {0x01c8, 0x01c8, 1, 1}, {0x01ca, 0x01ca, 1, 2}, {0x01cb, 0x01db, 2, 1}, {0x01de, 0x01ee, 2, 1},
    {0x01f1, 0x01f1, 1, 2}, {0x01f2, 0x01f4, 2, 1}, {0x01f6, 0x01f6, 1, -97}, {0x01f7, 0x01f7, 1, -56},
    {0x01f8, 0x021e, 2, 1}, {0x0220, 0x0220, 1, -130}, {0x0222, 0x0232, 2, 1}, {0x023a, 0x023a, 1, 10795},
    {0x023b, 0x023b, 1, 1}, {0x023d, 0x023d, 1, -163}, {0x023e, 0x023e, 1, 10792}, {0x0241, 0x0241, 1, 1},
    {0x0243, 0x0243, 1, -195}, {0x0244, 0x0244, 1, 69}, {0x0245, 0x0245, 1, 71}, {0x0246, 0x024e, 2, 1},
    {0x0370, 0x0372, 2, 1}, {0x0376, 0x0376, 1, 1}, {0x037f, 0x037f, 1, 116}, {0x0386, 0x0386, 1, 38},
    {0x0388, 0x038a, 1, 37}, {0x038c, 0x038c, 1, 64}, {0x038e, 0x038f, 1, 63}, {0x0391, 0x03a1, 1, 32},
    {0x03a3, 0x03ab, 1, 32}, {0x03cf, 0x03cf, 1, 8}, {0x03d8, 0x03ee, 2, 1}, {0x03f4, 0x03f4, 1, -60},
    {0x03f7, 0x03f7, 1, 1}, {0x03f9, 0x03f9, 1, -7}, {0x03fa, 0x03fa, 1, 1}, {0x03fd, 0x03ff, 1, -130},
    {0x0400, 0x040f, 1, 80}, {0x0410, 0x042f, 1, 32}, {0x0460, 0x0480, 2, 1}, {0x048a, 0x04be, 2, 1},
    {0x04c0, 0x04c0, 1, 15}, {0x04c1, 0x04cd, 2, 1}, {0x04d0, 0x052e, 2, 1}, {0x0531, 0x0556, 1, 48}, {0x1e00, 0x1e94, 2, 1},
    {0x1e9e, 0x1e9e, 1, -7615}, {0x1ea0, 0x1efe, 2, 1}, {0x1f08, 0x1f0f, 1, -8}, {0x1f18, 0x1f1d, 1, -8},
    {0x1f28, 0x1f2f, 1, -8}, {0x1f38, 0x1f3f, 1, -8}, {0x1f48, 0x1f4d, 1, -8}, {0x1f59, 0x1f5f, 2, -8},
    {0x1f68, 0x1f6f, 1, -8}, {0x1f88, 0x1f8f, 1, -8}, {0x1f98, 0x1f9f, 1, -8}, {0x1fa8, 0x1faf, 1, -8},
    {0x1fb8, 0x1fb9, 1, -8}, {0x1fba, 0x1fbb, 1, -74}, {0x1fbc, 0x1fbc, 1, -9}, {0x1fc8, 0x1fcb, 1, -86},
    {0x1fcc, 0x1fcc, 1, -9}, {0x1fd8, 0x1fd9, 1, -8}, {0x1fda, 0x1fdb, 1, -100}, {0x1fe8, 0x1fe9, 1, -8},
    {0x1fea, 0x1feb, 1, -112}, {0x1fec, 0x1fec, 1, -7}, {0x1ff8, 0x1ff9, 1, -128}, {0x1ffa, 0x1ffb, 1, -126},
    {0x1ffc, 0x1ffc, 1, -9}, {0x2c60, 0x2c60, 1, 1}, {0x2c62, 0x2c62, 1, -10743}, {0x2c63, 0x2c63, 1, -3814},
    {0x2c64, 0x2c64, 1, -10727}, {0x2c67, 0x2c6b, 2, 1}, {0x2c6d, 0x2c6d, 1, -10780}, {0x2c6e, 0x2c6e, 1, -10749},
    {0x2c6f, 0x2c6f, 1, -10783}, {0x2c70, 0x2c70, 1, -10782}, {0x2c72, 0x2c72, 1, 1}, {0x2c75, 0x2c75, 1, 1},
    {0x2c7e, 0x2c7f, 1, -10815}, {0xa640, 0xa66c, 2, 1}, {0xa680, 0xa69a, 2, 1}, {0xa722, 0xa72e, 2, 1},
    {0xa732, 0xa76e, 2, 1}, {0xa779, 0xa77b, 2, 1}, {0xa77d, 0xa77d, 1, -35332}, {0xa77e, 0xa786, 2, 1},
    {0xa78b, 0xa78b, 1, 1}, {0xa78d, 0xa78d, 1, -42280}, {0xa790, 0xa792, 2, 1}, {0xa796, 0xa7a8, 2, 1},
    {0xa7aa, 0xa7aa, 1, -42308}, {0xa7ab, 0xa7ab, 1, -42319}, {0xa7ac, 0xa7ac, 1, -42315}, {0xa7ad, 0xa7ad, 1, -42305},
    {0xa7ae, 0xa7ae, 1, -42308}, {0xa7b0, 0xa7b0, 1, -42258}, {0xa7b1, 0xa7b1, 1, -42282}, {0xa7b2, 0xa7b2, 1, -42261},
    {0xa7b3, 0xa7b3, 1, 928}, {0xa7b4, 0xa7c2, 2, 1}, {0xa7c4, 0xa7c4, 1, -48}, {0xa7c5, 0xa7c5, 1, -42307},
    {0xa7c6, 0xa7c6, 1, -35384}, {0xa7c7, 0xa7c9, 2, 1}, {0xa7d0, 0xa7d0, 1, 1}, {0xa7d6, 0xa7d8, 2, 1},
    {0xa7f5, 0xa7f5, 1, 1}, {0xff21, 0xff3a, 1, 32},
};

static uint32_t fold(uint32_t c) {
    if (c < 0x80) return ascii_lower((unsigned char)c);
    size_t low = 0, high = sizeof fold_runs / sizeof fold_runs[0];
    while (low < high) { /* the last run that starts at or before c */
        size_t middle = (low + high) / 2;
        if (fold_runs[middle].first <= c) low = middle + 1;
        else high = middle;
    }
    if (low == 0) return c;
    const struct fold_run *run = &fold_runs[low - 1];
    if (c > run->last || (c - run->first) % run->step != 0) return c;
    return (uint32_t)((int32_t)c + run->delta);
}

bool str_eq_fold(str a, str b) {
    size_t i = 0, j = 0;
    while (i < a.len && j < b.len) {
        size_t from_a = i, from_b = j;
        uint32_t x = str_next_codepoint(a, &i), y = str_next_codepoint(b, &j);
        if (fold(x) != fold(y)) return false;
        /* two different invalid bytes both decode to U+FFFD but are not the same name */
        if (x == 0xfffd && !str_eq(str_slice(a, from_a, i), str_slice(b, from_b, j))) return false;
    }
    return i == a.len && j == b.len;
}

bool str_starts_with(str s, str prefix) { return s.len >= prefix.len && str_eq((str){s.ptr, prefix.len}, prefix); }

bool str_ends_with(str s, str suffix) {
    return s.len >= suffix.len && (suffix.len == 0 || str_eq((str){s.ptr + (s.len - suffix.len), suffix.len}, suffix));
}

size_t str_find(str s, str needle) {
    if (needle.len == 0) return 0;
    if (s.len < needle.len) return SIZE_MAX;
    const char *p = memmem(s.ptr, s.len, needle.ptr, needle.len);
    return p ? (size_t)(p - s.ptr) : SIZE_MAX;
}

size_t str_find_char(str s, char c) {
    const char *p = s.len ? memchr(s.ptr, c, s.len) : NULL;
    return p ? (size_t)(p - s.ptr) : SIZE_MAX;
}

size_t str_rfind_char(str s, char c) {
    const char *p = s.len ? memrchr(s.ptr, c, s.len) : NULL;
    return p ? (size_t)(p - s.ptr) : SIZE_MAX;
}

static bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

str str_trim(str s) {
    while (s.len && is_space(s.ptr[0])) {
        s.ptr++;
        s.len--;
    }
    while (s.len && is_space(s.ptr[s.len - 1])) s.len--;
    return s;
}

bool str_next(str *rest, char sep, str *out_piece) {
    if (rest->ptr == NULL) return false;
    size_t at = str_find_char(*rest, sep);
    if (at == SIZE_MAX) {
        *out_piece = *rest;
        *rest = STR_NULL;
    } else {
        *out_piece = (str){rest->ptr, at};
        *rest = str_slice(*rest, at + 1, rest->len);
    }
    return true;
}

bool str_to_i64(str s, int64_t *out) {
    size_t i = 0;
    bool negative = s.len && s.ptr[0] == '-';
    if (s.len && (s.ptr[0] == '-' || s.ptr[0] == '+')) i++;
    if (i == s.len) return false;
    uint64_t limit = (uint64_t)INT64_MAX + (negative ? 1 : 0), value = 0;
    for (; i < s.len; i++) {
        unsigned digit = (unsigned)(unsigned char)s.ptr[i] - '0';
        if (digit > 9 || value > (limit - digit) / 10) return false;
        value = value * 10 + digit;
    }
    *out = negative ? (int64_t)(0 - value) : (int64_t)value;
    return true;
}

/* Parsed by strtod under the C locale, whatever the process has set: a comma is never a decimal point. */
static bool parse_double(const char *z, const char *end, double *out) {
    static locale_t c_locale; /* made once, kept for the life of the process */
    locale_t locale = __atomic_load_n(&c_locale, __ATOMIC_ACQUIRE);
    if (!locale) {
        locale_t made = newlocale(LC_ALL_MASK, "C", (locale_t)0);
        if (!made) return false;
        if (__atomic_compare_exchange_n(&c_locale, &locale, made, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) locale = made;
        else freelocale(made);
    }
    char *stop;
    *out = strtod_l(z, &stop, locale);
    return stop == end;
}

bool str_to_f64(str s, double *out) {
    if (str_eq(s, STR("NaN"))) return *out = __builtin_nan(""), true;
    if (str_eq(s, STR("Infinity"))) return *out = __builtin_inf(), true;
    if (str_eq(s, STR("-Infinity"))) return *out = -__builtin_inf(), true;
    for (size_t i = 0; i < s.len; i++) { /* neither hexadecimal nor "inf" nor white space */
        char c = s.ptr[i];
        if ((c < '0' || c > '9') && c != '.' && c != 'e' && c != 'E' && c != '+' && c != '-') return false;
    }
    if (s.len == 0) return false;
    char small[128];
    char *z = s.len < sizeof small ? small : malloc(s.len + 1);
    if (!z) return false;
    memcpy(z, s.ptr, s.len);
    z[s.len] = '\0';
    bool ok = parse_double(z, z + s.len, out);
    if (z != small) free(z);
    return ok;
}

/* Length of the well-formed UTF-8 sequence at *p (Unicode table 3-7), 0 if there is none; its code point in *out. */
static size_t sequence(const unsigned char *p, size_t left, uint32_t *out) {
    if (p[0] < 0x80) return *out = p[0], 1;
    size_t len = p[0] >= 0xf0 ? 4 : p[0] >= 0xe0 ? 3 : 2;
    if (p[0] < 0xc2 || p[0] > 0xf4 || left < len) return 0;
    uint32_t c = p[0] & (0xffu >> (len + 1));
    for (size_t i = 1; i < len; i++) {
        if ((p[i] & 0xc0) != 0x80) return 0;
        c = c << 6 | (p[i] & 0x3fu);
    }
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    if (c < least[len] || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff)) return 0;
    *out = c;
    return len;
}

bool str_is_utf8(str s) {
    uint32_t c;
    for (size_t i = 0; i < s.len;) {
        size_t n = sequence((const unsigned char *)s.ptr + i, s.len - i, &c);
        if (n == 0) return false;
        i += n;
    }
    return true;
}

uint32_t str_next_codepoint(str s, size_t *pos) {
    uint32_t c;
    size_t n = sequence((const unsigned char *)s.ptr + *pos, s.len - *pos, &c);
    if (n == 0) {
        (*pos)++;
        return 0xfffd;
    }
    *pos += n;
    return c;
}

static uint64_t mix(uint64_t h) {
    h ^= h >> 32;
    h *= 0xd6e8feb86659fd93u;
    h ^= h >> 32;
    h *= 0xd6e8feb86659fd93u;
    return h ^ (h >> 32);
}

/* Eight bytes at a time through a 64-bit mixer: for hash tables in memory, never stored. */
uint64_t str_hash(str s) {
    uint64_t h = 0x9e3779b97f4a7c15u ^ s.len;
    const char *p = s.ptr;
    size_t left = s.len;
    for (; left >= 8; left -= 8, p += 8) {
        uint64_t word;
        memcpy(&word, p, 8);
        h = mix(h ^ word) + 0x9e3779b97f4a7c15u;
    }
    if (left) {
        uint64_t word = 0;
        memcpy(&word, p, left);
        h ^= word;
    }
    return mix(h);
}

/* Four lanes, so that a processor has something to do while it waits for a product. */
uint64_t bytes_sum(const char *p, size_t n, uint64_t start) {
    const uint64_t k = 0x9fb21c651e98df25u;
    uint64_t lane[4] = {start ^ k, start + k, start ^ (k << 7), start + (k >> 9)};
    for (; n >= 32; n -= 32, p += 32) {
        uint64_t word[4];
        memcpy(word, p, sizeof word);
        for (int i = 0; i < 4; i++) {
            lane[i] = (lane[i] ^ word[i]) * k;
            lane[i] ^= lane[i] >> 29;
        }
    }
    uint64_t end = str_hash((str){p, n});
    for (int i = 0; i < 4; i++) {
        end = (end ^ lane[i]) * k;
        end ^= end >> 32;
    }
    return end;
}

static size_t write_codepoint(char *out, uint32_t c) {
    size_t n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    for (size_t i = n - 1; i > 0; i--, c >>= 6) out[i] = (char)(0x80 | (c & 0x3f));
    out[0] = (char)((n == 1 ? 0 : (0xf00 >> n) & 0xf0) | c);
    return n;
}

str arena_str_lower(arena *a, str s) {
    /* The lower-case form of a two-byte character may take three bytes; no other one grows. */
    char *out = s.len <= SIZE_MAX / 2 - 1 ? arena_alloc(a, s.len * 2 + 1) : NULL;
    if (!out) return STR_NULL;
    size_t len = 0;
    for (size_t i = 0; i < s.len;) {
        size_t from = i;
        uint32_t c = str_next_codepoint(s, &i), lower = fold(c);
        if (lower != c) {
            len += write_codepoint(out + len, lower);
        } else { /* as it stands: bytes that are not UTF-8 too */
            memcpy(out + len, s.ptr + from, i - from);
            len += i - from;
        }
    }
    out[len] = '\0';
    return (str){out, len};
}
