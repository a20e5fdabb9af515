/*
 * A JSON reader that stays on the text: it steps over values and compares keys, and builds nothing. Statistics of one file are a
 * few hundred bytes of which a predicate needs one number; a tree of them costs more than the whole rest of pruning. RFC 8259
 * grammar, values nested up to 64 deep.
 */
#include "table/json_scan.h"

#define MAX_DEPTH 64

static void skip_space(json_scan *s) {
    while (s->p < s->end && (*s->p == ' ' || *s->p == '\t' || *s->p == '\n' || *s->p == '\r')) s->p++;
}

static bool take(json_scan *s, char c) {
    if (s->p >= s->end || *s->p != c) return false;
    s->p++;
    return true;
}

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

static int hex_digit(char c) {
    if (is_digit(c)) return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* Behind the backslash; must be one of JSON's escapes. */
static bool skip_escape(json_scan *s) {
    if (s->p >= s->end) return false;
    char c = *s->p++;
    if (c != 'u') return c && strchr("\"\\/bfnrt", c);
    for (int i = 0; i < 4; i++)
        if (s->p >= s->end || hex_digit(*s->p++) < 0) return false;
    return true;
}

/*
 * Steps over characters that mean nothing in a string, eight at a time: a byte of `v` is zero where the text has the byte `c`,
 * and x - 0x01… & ~x & 0x80… is non-zero where a byte of x is zero (or, for the last test, below 0x20). Bytes above a found one
 * may be misjudged, which only ends the loop early.
 */
static void skip_plain(json_scan *s) {
    const uint64_t ones = 0x0101010101010101u, tops = ones * 0x80;
    while (s->end - s->p >= 8) {
        uint64_t v;
        memcpy(&v, s->p, 8);
        uint64_t quote = v ^ (ones * '"'), backslash = v ^ (ones * '\\');
        if (((quote - ones) & ~quote & tops) | ((backslash - ones) & ~backslash & tops) | ((v - ones * 0x20) & ~v & tops)) return;
        s->p += 8;
    }
}

/* Steps behind the closing quote. */
static bool skip_string(json_scan *s) {
    if (!take(s, '"')) return false;
    skip_plain(s);
    while (s->p < s->end) {
        char c = *s->p++;
        if (c == '"') return true;
        if ((unsigned char)c < 0x20 || (c == '\\' && !skip_escape(s))) return false;
        if (c == '\\') skip_plain(s);
    }
    return false;
}

static bool skip_digits(json_scan *s) {
    const char *start = s->p;
    while (s->p < s->end && is_digit(*s->p)) s->p++;
    return s->p > start;
}

static bool skip_number(json_scan *s) {
    take(s, '-');
    if (!take(s, '0') && !skip_digits(s)) return false;
    if (take(s, '.') && !skip_digits(s)) return false;
    if (s->p < s->end && (*s->p == 'e' || *s->p == 'E')) {
        s->p++;
        if (!take(s, '+')) take(s, '-');
        if (!skip_digits(s)) return false;
    }
    return true;
}

static bool skip_word(json_scan *s, const char *word) {
    size_t n = strlen(word);
    if ((size_t)(s->end - s->p) < n || memcmp(s->p, word, n) != 0) return false;
    s->p += n;
    return true;
}

static bool skip_value(json_scan *s, int depth);

static bool skip_key(json_scan *s) {
    if (!skip_string(s)) return false;
    skip_space(s);
    if (!take(s, ':')) return false;
    skip_space(s);
    return true;
}

/* The rest of an object or array behind its opening bracket. */
static bool skip_items(json_scan *s, char close, int depth) {
    skip_space(s);
    if (take(s, close)) return true;
    do {
        skip_space(s);
        if (close == '}' && !skip_key(s)) return false;
        if (!skip_value(s, depth)) return false;
        skip_space(s);
    } while (take(s, ','));
    return take(s, close);
}

static bool skip_value(json_scan *s, int depth) {
    if (s->p >= s->end || depth > MAX_DEPTH) return false;
    switch (*s->p) {
        case '"': return skip_string(s);
        case '{': s->p++; return skip_items(s, '}', depth + 1);
        case '[': s->p++; return skip_items(s, ']', depth + 1);
        case 't': return skip_word(s, "true");
        case 'f': return skip_word(s, "false");
        case 'n': return skip_word(s, "null");
        default: return skip_number(s);
    }
}

bool json_scan_object(str text, json_scan *out) {
    if (!text.ptr) return false;
    *out = (json_scan){.p = text.ptr, .end = text.ptr + text.len};
    skip_space(out);
    return take(out, '{');
}

bool json_scan_next(json_scan *s, json_member *out, bool *out_ok) {
    *out_ok = false;
    skip_space(s);
    if (take(s, '}')) {
        *out_ok = true;
        return false;
    }
    if (s->inside) {
        if (!take(s, ',')) return false;
        skip_space(s);
    }
    s->inside = true;
    const char *key = s->p;
    if (!skip_string(s)) return false;
    out->key = (str){key + 1, (size_t)(s->p - key) - 2};
    skip_space(s);
    if (!take(s, ':')) return false;
    skip_space(s);
    const char *value = s->p;
    if (!skip_value(s, 1)) return false;
    out->value = (str){value, (size_t)(s->p - value)};
    *out_ok = true;
    return true;
}

bool json_scan_at_end(json_scan *s) {
    skip_space(s);
    return s->p == s->end;
}

/* ---- escapes ---- */

static bool take_hex4(str s, size_t *pos, uint32_t *out) {
    uint32_t v = 0;
    if (s.len - *pos < 4) return false;
    for (int i = 0; i < 4; i++) {
        int digit = hex_digit(s.ptr[(*pos)++]);
        if (digit < 0) return false;
        v = v << 4 | (uint32_t)digit;
    }
    *out = v;
    return true;
}

static bool take_unicode(str s, size_t *pos, uint32_t *out) {
    uint32_t low;
    if (!take_hex4(s, pos, out)) return false;
    if (*out < 0xd800 || *out > 0xdfff) return true;
    if (*out > 0xdbff || s.len - *pos < 6 || s.ptr[*pos] != '\\' || s.ptr[*pos + 1] != 'u') return false;
    *pos += 2;
    if (!take_hex4(s, pos, &low) || low < 0xdc00 || low > 0xdfff) return false;
    *out = 0x10000 + ((*out - 0xd800) << 10) + (low - 0xdc00);
    return true;
}

static size_t encode_utf8(uint32_t c, char out[4]) {
    if (c < 0x80) {
        out[0] = (char)c;
        return 1;
    }
    size_t n = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    for (size_t i = n - 1; i > 0; i--, c >>= 6) out[i] = (char)(0x80 | (c & 0x3f));
    out[0] = (char)(c | (n == 2 ? 0xc0 : n == 3 ? 0xe0 : 0xf0));
    return n;
}

/* The next piece of an escaped text: one byte, or what one escape stands for. 0 when malformed. */
static size_t next_piece(str s, size_t *pos, char out[4]) {
    static const char names[] = "\"\\/bfnrt", meanings[] = "\"\\/\b\f\n\r\t";
    if (s.ptr[*pos] != '\\') {
        out[0] = s.ptr[(*pos)++];
        return 1;
    }
    if (s.len - *pos < 2) return 0;
    char name = s.ptr[*pos + 1];
    *pos += 2;
    if (name == 'u') {
        uint32_t c;
        return take_unicode(s, pos, &c) ? encode_utf8(c, out) : 0;
    }
    const char *found = name ? strchr(names, name) : NULL;
    if (!found) return 0;
    out[0] = meanings[found - names];
    return 1;
}

static bool key_is(str key, str name) {
    if (str_find_char(key, '\\') == SIZE_MAX) return str_eq(key, name);
    size_t at = 0;
    char piece[4];
    for (size_t pos = 0; pos < key.len;) {
        size_t n = next_piece(key, &pos, piece);
        if (n == 0 || n > name.len - at || memcmp(name.ptr + at, piece, n) != 0) return false;
        at += n;
    }
    return at == name.len;
}

bool json_scan_find(str object, str name, str *out_value) {
    json_scan s;
    json_member m;
    bool ok;
    if (!json_scan_object(object, &s)) return false;
    while (json_scan_next(&s, &m, &ok)) {
        if (!key_is(m.key, name)) continue;
        *out_value = m.value;
        return true;
    }
    return false;
}

bool json_scan_string(str text, arena *a, str *out) {
    str raw = str_slice(text, 1, text.len - 1);
    *out = raw;
    if (str_find_char(raw, '\\') == SIZE_MAX) return true;
    char *p = arena_alloc(a, raw.len); /* an escape is never shorter than what it stands for */
    if (!p) return false;
    size_t len = 0;
    for (size_t pos = 0; pos < raw.len;) {
        char piece[4];
        size_t n = next_piece(raw, &pos, piece);
        if (n == 0) return false;
        memcpy(p + len, piece, n);
        len += n;
    }
    *out = (str){p, len};
    return true;
}
