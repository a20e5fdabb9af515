/* Digests and encodings: SHA-2, CRC-32, base 64, character sets, URLs. */
#include <ctype.h>
#include <stdio.h>

#include "base/ident.h"
#include "engine/functions_call.h"

/* ---- SHA-2 (FIPS 180-4) ---- */

static const uint64_t sha_k[80] = {
    0x428a2f98d728ae22u, 0x7137449123ef65cdu, 0xb5c0fbcfec4d3b2fu, 0xe9b5dba58189dbbcu, 0x3956c25bf348b538u, 0x59f111f1b605d019u,
    0x923f82a4af194f9bu, 0xab1c5ed5da6d8118u, 0xd807aa98a3030242u, 0x12835b0145706fbeu, 0x243185be4ee4b28cu, 0x550c7dc3d5ffb4e2u,
    0x72be5d74f27b896fu, 0x80deb1fe3b1696b1u, 0x9bdc06a725c71235u, 0xc19bf174cf692694u, 0xe49b69c19ef14ad2u, 0xefbe4786384f25e3u,
    0x0fc19dc68b8cd5b5u, 0x240ca1cc77ac9c65u, 0x2de92c6f592b0275u, 0x4a7484aa6ea6e483u, 0x5cb0a9dcbd41fbd4u, 0x76f988da831153b5u,
    0x983e5152ee66dfabu, 0xa831c66d2db43210u, 0xb00327c898fb213fu, 0xbf597fc7beef0ee4u, 0xc6e00bf33da88fc2u, 0xd5a79147930aa725u,
    0x06ca6351e003826fu, 0x142929670a0e6e70u, 0x27b70a8546d22ffcu, 0x2e1b21385c26c926u, 0x4d2c6dfc5ac42aedu, 0x53380d139d95b3dfu,
    0x650a73548baf63deu, 0x766a0abb3c77b2a8u, 0x81c2c92e47edaee6u, 0x92722c851482353bu, 0xa2bfe8a14cf10364u, 0xa81a664bbc423001u,
    0xc24b8b70d0f89791u, 0xc76c51a30654be30u, 0xd192e819d6ef5218u, 0xd69906245565a910u, 0xf40e35855771202au, 0x106aa07032bbd1b8u,
    0x19a4c116b8d2d0c8u, 0x1e376c085141ab53u, 0x2748774cdf8eeb99u, 0x34b0bcb5e19b48a8u, 0x391c0cb3c5c95a63u, 0x4ed8aa4ae3418acbu,
    0x5b9cca4f7763e373u, 0x682e6ff3d6b2b8a3u, 0x748f82ee5defb2fcu, 0x78a5636f43172f60u, 0x84c87814a1f0ab72u, 0x8cc702081a6439ecu,
    0x90befffa23631e28u, 0xa4506cebde82bde9u, 0xbef9a3f7b2c67915u, 0xc67178f2e372532bu, 0xca273eceea26619cu, 0xd186b8c721c0c207u,
    0xeada7dd6cde0eb1eu, 0xf57d4f7fee6ed178u, 0x06f067aa72176fbau, 0x0a637dc5a2c898a6u, 0x113f9804bef90daeu, 0x1b710b35131c471bu,
    0x28db77f523047d84u, 0x32caab7b40c72493u, 0x3c9ebe0a15c9bebcu, 0x431d67c49c100d4cu, 0x4cc5d4becb3e42b6u, 0x597f299cfc657e2au,
    0x5fcb6fab3ad6faecu, 0x6c44198c4a475817u};

static uint32_t r32(uint32_t x, int n) { return x >> n | x << (32 - n); }
static uint64_t r64(uint64_t x, int n) { return x >> n | x << (64 - n); }

/* The 32-bit constants are the high halves of the 64-bit ones. */
static void sha256_block(uint32_t h[8], const uint8_t *p) {
    uint32_t w[64], s[8];
    for (int i = 0; i < 16; i++)
        w[i] = (uint32_t)p[4 * i] << 24 | (uint32_t)p[4 * i + 1] << 16 | (uint32_t)p[4 * i + 2] << 8 | p[4 * i + 3];
    for (int i = 16; i < 64; i++) {
        uint32_t a = w[i - 15], b = w[i - 2];
        w[i] = w[i - 16] + w[i - 7] + (r32(a, 7) ^ r32(a, 18) ^ a >> 3) + (r32(b, 17) ^ r32(b, 19) ^ b >> 10);
    }
    memcpy(s, h, sizeof s);
    for (int i = 0; i < 64; i++) {
        uint32_t t1 = s[7] + (r32(s[4], 6) ^ r32(s[4], 11) ^ r32(s[4], 25)) + ((s[4] & s[5]) ^ (~s[4] & s[6])) +
                      (uint32_t)(sha_k[i] >> 32) + w[i];
        uint32_t t2 = (r32(s[0], 2) ^ r32(s[0], 13) ^ r32(s[0], 22)) + ((s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]));
        memmove(s + 1, s, 7 * sizeof *s);
        s[4] += t1;
        s[0] = t1 + t2;
    }
    for (int i = 0; i < 8; i++) h[i] += s[i];
}

static void sha512_block(uint64_t h[8], const uint8_t *p) {
    uint64_t w[80], s[8];
    for (int i = 0; i < 16; i++) {
        w[i] = 0;
        for (int k = 0; k < 8; k++) w[i] = w[i] << 8 | p[8 * i + k];
    }
    for (int i = 16; i < 80; i++) {
        uint64_t a = w[i - 15], b = w[i - 2];
        w[i] = w[i - 16] + w[i - 7] + (r64(a, 1) ^ r64(a, 8) ^ a >> 7) + (r64(b, 19) ^ r64(b, 61) ^ b >> 6);
    }
    memcpy(s, h, sizeof s);
    for (int i = 0; i < 80; i++) {
        uint64_t t1 = s[7] + (r64(s[4], 14) ^ r64(s[4], 18) ^ r64(s[4], 41)) + ((s[4] & s[5]) ^ (~s[4] & s[6])) + sha_k[i] + w[i];
        uint64_t t2 = (r64(s[0], 28) ^ r64(s[0], 34) ^ r64(s[0], 39)) + ((s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]));
        memmove(s + 1, s, 7 * sizeof *s);
        s[4] += t1;
        s[0] = t1 + t2;
    }
    for (int i = 0; i < 8; i++) h[i] += s[i];
}

/* The last one or two blocks: the rest of the text, 0x80, zeros, the length in bits. */
static size_t sha_tail(str s, size_t block, uint8_t tail[256]) {
    size_t rest = s.len % block, n = rest + 1 + block / 8 <= block ? block : 2 * block;
    memset(tail, 0, 256);
    memcpy(tail, s.ptr + s.len - rest, rest);
    tail[rest] = 0x80;
    uint64_t bits = (uint64_t)s.len * 8;
    for (int i = 0; i < 8; i++) tail[n - 1 - (size_t)i] = (uint8_t)(bits >> (8 * i));
    return n;
}

static void sha256_text(buf *out, str s, bool short_form) {
    uint32_t h[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    static const uint32_t h224[8] = {0xc1059ed8, 0x367cd507, 0x3070dd17, 0xf70e5939,
                                     0xffc00b31, 0x68581511, 0x64f98fa7, 0xbefa4fa4};
    if (short_form) memcpy(h, h224, sizeof h);
    uint8_t tail[256];
    for (size_t i = 0; i + 64 <= s.len; i += 64) sha256_block(h, (const uint8_t *)s.ptr + i);
    size_t n = sha_tail(s, 64, tail);
    for (size_t i = 0; i < n; i += 64) sha256_block(h, tail + i);
    for (int i = 0; i < (short_form ? 7 : 8); i++) buf_printf(out, "%08x", h[i]);
}

static void sha512_text(buf *out, str s, bool short_form) {
    uint64_t h[8] = {0x6a09e667f3bcc908u, 0xbb67ae8584caa73bu, 0x3c6ef372fe94f82bu, 0xa54ff53a5f1d36f1u,
                     0x510e527fade682d1u, 0x9b05688c2b3e6c1fu, 0x1f83d9abfb41bd6bu, 0x5be0cd19137e2179u};
    static const uint64_t h384[8] = {0xcbbb9d5dc1059ed8u, 0x629a292a367cd507u, 0x9159015a3070dd17u, 0x152fecd8f70e5939u,
                                     0x67332667ffc00b31u, 0x8eb44a8768581511u, 0xdb0c2e0d64f98fa7u, 0x47b5481dbefa4fa4u};
    if (short_form) memcpy(h, h384, sizeof h);
    uint8_t tail[256];
    for (size_t i = 0; i + 128 <= s.len; i += 128) sha512_block(h, (const uint8_t *)s.ptr + i);
    size_t n = sha_tail(s, 128, tail);
    for (size_t i = 0; i < n; i += 128) sha512_block(h, tail + i);
    for (int i = 0; i < (short_form ? 6 : 8); i++) buf_printf(out, "%016llx", (unsigned long long)h[i]);
}

static void sha2(call *c, idx_t row) {
    str s = call_str(c, 0, row);
    switch (call_i32(c, 1, row)) {
        case 224: sha256_text(&c->text, s, true); break;
        case 0:
        case 256: sha256_text(&c->text, s, false); break;
        case 384: sha512_text(&c->text, s, true); break;
        case 512: sha512_text(&c->text, s, false); break;
        default: ret_null(c, row); return;
    }
    ret_text(c, row);
}

static void crc32(call *c, idx_t row) {
    str s = call_str(c, 0, row);
    ret_i64(c, row, crc32_of(s.ptr, s.len));
}

/* ---- base 64, hex ---- */

static void base64(call *c, idx_t row) {
    str s = call_str(c, 0, row);
    base64_write(&c->text, (const uint8_t *)s.ptr, s.len);
    ret_text(c, row);
}

/* As Java's MIME decoder: characters outside the alphabet are passed over. */
static bool unbase64_text(buf *out, str s) {
    uint32_t bits = 0;
    int have = 0;
    for (size_t i = 0; i < s.len; i++) {
        char ch = s.ptr[i];
        int v = ch >= 'A' && ch <= 'Z'   ? ch - 'A'
                : ch >= 'a' && ch <= 'z' ? ch - 'a' + 26
                : ch >= '0' && ch <= '9' ? ch - '0' + 52
                : ch == '+'              ? 62
                : ch == '/'              ? 63
                                         : -1;
        if (ch == '=') break;
        if (v < 0) continue;
        bits = bits << 6 | (uint32_t)v;
        have += 6;
        if (have >= 8) {
            have -= 8;
            buf_append_char(out, (char)(bits >> have));
        }
    }
    return have != 6;
}

static void conversion_failed(call *c, const char *function, str text) {
    call_raise(c, "CONVERSION_INVALID_INPUT", "22018",
               "The value '%.*s' (\"STRING\") cannot be converted to \"BINARY\" by %s because the value is malformed.",
               STR_ARG(text), function);
}

static void unbase64(call *c, idx_t row) {
    str s = call_str(c, 0, row);
    if (unbase64_text(&c->text, s))
        ret_text(c, row);
    else
        conversion_failed(c, "unbase64", s);
}

static int hex_digit(char ch) {
    return ch >= '0' && ch <= '9'   ? ch - '0'
           : ch >= 'a' && ch <= 'f' ? ch - 'a' + 10
           : ch >= 'A' && ch <= 'F' ? ch - 'A' + 10
                                    : -1;
}

static bool unhex_text(buf *out, str s) {
    size_t i = 0;
    if (s.len % 2) {
        int d = hex_digit(s.ptr[i++]);
        if (d < 0) return false;
        buf_append_char(out, (char)d);
    }
    for (; i < s.len; i += 2) {
        int a = hex_digit(s.ptr[i]), b = hex_digit(s.ptr[i + 1]);
        if (a < 0 || b < 0) return false;
        buf_append_char(out, (char)(a << 4 | b));
    }
    return true;
}

/* ---- character sets ---- */

typedef enum charset {
    CHARSET_NONE,
    CHARSET_UTF8,
    CHARSET_ASCII,
    CHARSET_LATIN1,
    CHARSET_UTF16BE,
    CHARSET_UTF16LE,
    CHARSET_UTF16,
    CHARSET_UTF32
} charset;

static charset charset_of(str s) {
    static const struct {
        const char *name;
        charset set;
    } names[] = {{"utf-8", CHARSET_UTF8},        {"utf8", CHARSET_UTF8},        {"us-ascii", CHARSET_ASCII},
                 {"iso-8859-1", CHARSET_LATIN1}, {"utf-16be", CHARSET_UTF16BE}, {"utf-16le", CHARSET_UTF16LE},
                 {"utf-16", CHARSET_UTF16},      {"utf-32", CHARSET_UTF32}};
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (str_eq_ascii_fold(s, str_of(names[i].name))) return names[i].set;
    return CHARSET_NONE;
}

static void put16(buf *out, uint32_t v, bool little) {
    buf_append_char(out, (char)(little ? v : v >> 8));
    buf_append_char(out, (char)(little ? v >> 8 : v));
}

static bool encode_text(buf *out, str s, charset set) {
    if (set == CHARSET_UTF8) {
        buf_append(out, s);
        return true;
    }
    bool little = set == CHARSET_UTF16LE;
    if (set == CHARSET_UTF16) put16(out, 0xFEFF, false);
    for (size_t at = 0; at < s.len;) {
        uint32_t cp = str_next_codepoint(s, &at);
        if (set == CHARSET_ASCII || set == CHARSET_LATIN1) {
            if (cp >= (set == CHARSET_ASCII ? 0x80u : 0x100u)) return false;
            buf_append_char(out, (char)cp);
        } else if (set == CHARSET_UTF32) {
            put16(out, cp >> 16, false);
            put16(out, cp & 0xFFFF, false);
        } else if (cp >= 0x10000) {
            put16(out, 0xD800 + ((cp - 0x10000) >> 10), little);
            put16(out, 0xDC00 + ((cp - 0x10000) & 0x3FF), little);
        } else
            put16(out, cp, little);
    }
    return true;
}

static void put_utf8(buf *out, uint32_t cp) {
    if (cp < 0x80)
        buf_append_char(out, (char)cp);
    else if (cp < 0x800)
        buf_printf(out, "%c%c", (int)(0xC0 | cp >> 6), (int)(0x80 | (cp & 0x3F)));
    else if (cp < 0x10000)
        buf_printf(out, "%c%c%c", (int)(0xE0 | cp >> 12), (int)(0x80 | (cp >> 6 & 0x3F)), (int)(0x80 | (cp & 0x3F)));
    else
        buf_printf(out, "%c%c%c%c", (int)(0xF0 | cp >> 18), (int)(0x80 | (cp >> 12 & 0x3F)), (int)(0x80 | (cp >> 6 & 0x3F)),
                   (int)(0x80 | (cp & 0x3F)));
}

static bool decode_text(buf *out, str s, charset set) {
    const uint8_t *p = (const uint8_t *)s.ptr;
    if (set == CHARSET_UTF8) {
        buf_append(out, s);
        return str_is_utf8(s);
    }
    if (set == CHARSET_ASCII || set == CHARSET_LATIN1) {
        for (size_t i = 0; i < s.len; i++) {
            if (set == CHARSET_ASCII && p[i] >= 0x80) return false;
            put_utf8(out, p[i]);
        }
        return true;
    }
    size_t unit = set == CHARSET_UTF32 ? 4 : 2, i = 0;
    bool little = set == CHARSET_UTF16LE;
    if (s.len % unit) return false;
    if (set == CHARSET_UTF16 && s.len >= 2 && ((p[0] == 0xFE && p[1] == 0xFF) || (p[0] == 0xFF && p[1] == 0xFE))) {
        little = p[0] == 0xFF;
        i = 2;
    }
    for (; i < s.len; i += unit) {
        uint32_t cp = unit == 4 ? (uint32_t)p[i] << 24 | (uint32_t)p[i + 1] << 16 | (uint32_t)p[i + 2] << 8 | p[i + 3]
                      : little  ? (uint32_t)(p[i] | p[i + 1] << 8)
                                : (uint32_t)(p[i] << 8 | p[i + 1]);
        if (cp >= 0xD800 && cp < 0xDC00) {
            if (unit == 4 || i + 4 > s.len) return false;
            i += 2;
            uint32_t low = little ? (uint32_t)(p[i] | p[i + 1] << 8) : (uint32_t)(p[i] << 8 | p[i + 1]);
            if (low < 0xDC00 || low > 0xDFFF) return false;
            cp = 0x10000 + ((cp - 0xD800) << 10) + (low - 0xDC00);
        } else if ((cp >= 0xDC00 && cp < 0xE000) || cp > 0x10FFFF)
            return false;
        put_utf8(out, cp);
    }
    return true;
}

static void encode_or_decode(call *c, idx_t row, bool encode) {
    str name = call_str(c, 1, row);
    charset set = charset_of(name);
    if (set == CHARSET_NONE) {
        call_raise(c, "INVALID_PARAMETER_VALUE.CHARSET", "22023",
                   "The value of parameter(s) `charset` is invalid: expects one of the charsets iso-8859-1, us-ascii, utf-16, "
                   "utf-16be, utf-16le, utf-32, utf-8, but got %.*s.",
                   STR_ARG(name));
        return;
    }
    bool ok = encode ? encode_text(&c->text, call_str(c, 0, row), set) : decode_text(&c->text, call_str(c, 0, row), set);
    if (ok)
        ret_text(c, row);
    else
        call_raise(c, "MALFORMED_CHARACTER_CODING", "22000", "Invalid value found when performing %s with %.*s",
                   encode ? "`encode`" : "`decode`", STR_ARG(name));
}
static void encode_fn(call *c, idx_t row) { encode_or_decode(c, row, true); }
static void decode_fn(call *c, idx_t row) { encode_or_decode(c, row, false); }

static void to_binary(call *c, idx_t row) {
    str s = call_str(c, 0, row), format = call_str(c, 1, row);
    bool is_try = call_bool(c, 2, row), ok = true;
    if (str_eq_ascii_fold(format, STR("hex")))
        ok = unhex_text(&c->text, s);
    else if (str_eq_ascii_fold(format, STR("base64")))
        ok = unbase64_text(&c->text, s);
    else if (str_eq_ascii_fold(format, STR("utf-8")) || str_eq_ascii_fold(format, STR("utf8")))
        buf_append(&c->text, s);
    else {
        call_raise(c, "INVALID_PARAMETER_VALUE.BINARY_FORMAT", "22023",
                   "The format must be one of hex, utf-8, utf8, base64, but got %.*s.", STR_ARG(format));
        return;
    }
    if (ok)
        ret_text(c, row);
    else if (is_try)
        ret_null(c, row);
    else
        conversion_failed(c, "to_binary", s);
}

/* ---- URLs ---- */

static void url_encode(call *c, idx_t row) {
    str s = call_str(c, 0, row);
    for (size_t i = 0; i < s.len; i++) {
        unsigned char ch = (unsigned char)s.ptr[i];
        if (isalnum(ch) || strchr(".-*_", ch))
            buf_append_char(&c->text, (char)ch);
        else if (ch == ' ')
            buf_append_char(&c->text, '+');
        else
            buf_printf(&c->text, "%%%02X", ch);
    }
    ret_text(c, row);
}

static void url_decode(call *c, idx_t row) {
    str s = call_str(c, 0, row);
    bool ok = true;
    for (size_t i = 0; i < s.len && ok; i++) {
        if (s.ptr[i] == '+')
            buf_append_char(&c->text, ' ');
        else if (s.ptr[i] == '%') {
            int a = i + 2 < s.len + 0 ? hex_digit(s.ptr[i + 1]) : -1, b = i + 2 < s.len + 0 ? hex_digit(s.ptr[i + 2]) : -1;
            ok = a >= 0 && b >= 0;
            if (ok) buf_append_char(&c->text, (char)(a << 4 | b));
            i += 2;
        } else
            buf_append_char(&c->text, s.ptr[i]);
    }
    ok = ok && str_is_utf8(buf_str(&c->text));
    if (ok)
        ret_text(c, row);
    else if (call_bool(c, 1, row))
        ret_null(c, row);
    else
        call_raise(c, "CANNOT_DECODE_URL", "22546",
                   "The provided URL cannot be decoded: %.*s. Please ensure that the URL is properly formatted and try again.",
                   STR_ARG(s));
}

typedef struct url {
    str scheme, authority, user, host, path, query, fragment, file;
    bool has_query, has_fragment;
} url;

static void url_split(str s, url *u) {
    *u = (url){0};
    size_t hash = str_find_char(s, '#');
    if (hash != SIZE_MAX) {
        u->has_fragment = true;
        u->fragment = str_slice(s, hash + 1, s.len);
        s = str_slice(s, 0, hash);
    }
    size_t colon = str_find_char(s, ':');
    if (colon != SIZE_MAX && colon > 0 && memchr(s.ptr, '/', colon) == NULL) {
        u->scheme = str_slice(s, 0, colon);
        s = str_slice(s, colon + 1, s.len);
    }
    if (str_starts_with(s, STR("//"))) {
        s = str_slice(s, 2, s.len);
        size_t end = 0;
        while (end < s.len && s.ptr[end] != '/' && s.ptr[end] != '?') end++;
        u->authority = str_slice(s, 0, end);
        s = str_slice(s, end, s.len);
        size_t at = str_rfind_char(u->authority, '@');
        u->user = at == SIZE_MAX ? STR_NULL : str_slice(u->authority, 0, at);
        str host = at == SIZE_MAX ? u->authority : str_slice(u->authority, at + 1, u->authority.len);
        size_t port = str_rfind_char(host, ':');
        u->host = port == SIZE_MAX ? host : str_slice(host, 0, port);
    }
    u->file = s;
    size_t mark = str_find_char(s, '?');
    u->path = mark == SIZE_MAX ? s : str_slice(s, 0, mark);
    if (mark != SIZE_MAX) {
        u->has_query = true;
        u->query = str_slice(s, mark + 1, s.len);
    }
}

static str query_value(str query, str key) {
    str piece;
    while (str_next(&query, '&', &piece)) {
        size_t equals = str_find_char(piece, '=');
        if (equals != SIZE_MAX && str_eq(str_slice(piece, 0, equals), key)) return str_slice(piece, equals + 1, piece.len);
    }
    return STR_NULL;
}

static void parse_url(call *c, idx_t row) {
    url u;
    str part = call_str(c, 1, row), key = call_str(c, 2, row), out = STR_NULL;
    url_split(call_str(c, 0, row), &u);
    if (str_eqz(part, "HOST"))
        out = u.host;
    else if (str_eqz(part, "PATH"))
        out = u.path.ptr ? u.path : STR("");
    else if (str_eqz(part, "QUERY"))
        out = !u.has_query ? STR_NULL : key.len ? query_value(u.query, key) : u.query;
    else if (str_eqz(part, "REF"))
        out = u.has_fragment ? u.fragment : STR_NULL;
    else if (str_eqz(part, "PROTOCOL"))
        out = u.scheme;
    else if (str_eqz(part, "FILE"))
        out = u.file;
    else if (str_eqz(part, "AUTHORITY"))
        out = u.authority;
    else if (str_eqz(part, "USERINFO"))
        out = u.user;
    if (out.ptr)
        ret_str(c, row, out);
    else
        ret_null(c, row);
}

static const call_def defs[] = {
    {"silt_sha2", sha2, "Bi", 's', 0},
    {"silt_crc32", crc32, "B", 'l', 0},
    {"silt_base64", base64, "B", 's', 0},
    {"silt_unbase64", unbase64, "s", 'B', CALL_RAISES},
    {"silt_encode", encode_fn, "ss", 'B', CALL_RAISES},
    {"silt_decode", decode_fn, "Bs", 's', CALL_RAISES},
    {"silt_to_binary", to_binary, "ssb", 'B', CALL_RAISES},
    {"silt_url_encode", url_encode, "s", 's', 0},
    {"silt_url_decode", url_decode, "sb", 's', CALL_RAISES},
    {"silt_parse_url", parse_url, "sss", 's', 0},
};

const call_group calls_digest = {defs, ARRAY_LEN(defs)};
