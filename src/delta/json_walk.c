/* The cursor: see the header. The token of a string is found without looking at its bytes: it ends at the last quote before the
 * next token. */
#include "delta/json_walk.h"

json_walk json_walk_start(const char *text, const uint32_t *positions, size_t count) {
    return (json_walk){.text = text, .positions = positions, .count = count};
}

bool json_walk_fail(json_walk *w, const char *why) {
    if (!w->error) {
        w->error = why;
        w->error_at = w->positions[w->at < w->count ? w->at : w->count];
    }
    w->at = w->count; /* every later read meets the end */
    return false;
}

static inline bool is_space(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

/* The bytes of the scalar at `at`, without the white space behind it. */
static str token(const json_walk *w, size_t at) {
    size_t from = w->positions[at], to = w->positions[at + 1];
    while (to > from + 1 && is_space(w->text[to - 1])) to--;
    return (str){w->text + from, to - from};
}

bool json_walk_expect(json_walk *w, char c) {
    if (json_walk_peek(w) != c) return json_walk_fail(w, w->at < w->count ? "unexpected token" : "it ends too early");
    w->at++;
    return true;
}

static bool take_string(json_walk *w, str *out_raw) {
    str t = token(w, w->at);
    if (t.len < 2 || t.ptr[t.len - 1] != '"') return json_walk_fail(w, "a string has no end");
    *out_raw = str_slice(t, 1, t.len - 1);
    w->at++;
    return true;
}

static bool take_key(json_walk *w, str *out_key) {
    if (json_walk_peek(w) != '"') return json_walk_fail(w, "a member name was expected");
    return take_string(w, out_key) && json_walk_expect(w, ':');
}

bool json_walk_begin(json_walk *w, str *out_key) {
    if (json_walk_peek(w) != '{') return json_walk_fail(w, "an object was expected");
    w->at++;
    if (json_walk_peek(w) == '}') {
        w->at++;
        return false;
    }
    return take_key(w, out_key);
}

bool json_walk_next(json_walk *w, str *out_key) {
    char c = json_walk_peek(w);
    if (c == '}') {
        w->at++;
        return false;
    }
    if (c != ',') return json_walk_fail(w, w->at < w->count ? "a comma or a closing brace was expected" : "it ends too early");
    w->at++;
    return take_key(w, out_key);
}

/* ---- scalars ---- */

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

static bool is_number(str t) {
    size_t i = 0;
    if (i < t.len && t.ptr[i] == '-') i++;
    size_t digits = i;
    while (i < t.len && is_digit(t.ptr[i])) i++;
    if (i == digits || (t.ptr[digits] == '0' && i > digits + 1)) return false;
    if (i < t.len && t.ptr[i] == '.') {
        size_t from = ++i;
        while (i < t.len && is_digit(t.ptr[i])) i++;
        if (i == from) return false;
    }
    if (i < t.len && (t.ptr[i] == 'e' || t.ptr[i] == 'E')) {
        i++;
        if (i < t.len && (t.ptr[i] == '+' || t.ptr[i] == '-')) i++;
        size_t from = i;
        while (i < t.len && is_digit(t.ptr[i])) i++;
        if (i == from) return false;
    }
    return i == t.len;
}

static bool skip_scalar(json_walk *w) {
    str t = token(w, w->at);
    char c = t.ptr[0];
    bool good = c == '"'   ? t.len >= 2 && t.ptr[t.len - 1] == '"'
                : c == 't' ? str_eqz(t, "true")
                : c == 'f' ? str_eqz(t, "false")
                : c == 'n' ? str_eqz(t, "null")
                           : is_number(t);
    if (!good) return json_walk_fail(w, "a value was expected");
    w->at++;
    return true;
}

/* One value with everything in it, iteratively: `open` holds one bit per level, set for objects. */
bool json_walk_skip(json_walk *w) {
    uint64_t open[JSON_WALK_DEPTH / 64] = {0};
    size_t depth = 0;
    for (;;) {
        char c = json_walk_peek(w);
        if (c == '\0') return json_walk_fail(w, "it ends too early");
        bool opened = false;
        if (c == '{' || c == '[') {
            if (depth == JSON_WALK_DEPTH) return json_walk_fail(w, "it is nested too deeply");
            open[depth / 64] = (open[depth / 64] & ~(UINT64_C(1) << depth % 64)) | (uint64_t)(c == '{') << depth % 64;
            depth++;
            w->at++;
            opened = true;
        } else if (!skip_scalar(w)) {
            return false;
        }
        /* Behind a value, or at the start of a container: close what closes, then stand before the next value. */
        for (;;) {
            if (depth == 0) return true;
            bool object = open[(depth - 1) / 64] >> (depth - 1) % 64 & 1;
            if (json_walk_peek(w) == (object ? '}' : ']')) {
                w->at++;
                depth--;
                opened = false;
                continue;
            }
            str key;
            if (!opened && !json_walk_expect(w, ',')) return false;
            if (object && !take_key(w, &key)) return false;
            break;
        }
    }
}

bool json_walk_value(json_walk *w, str *out_text) {
    size_t from = w->positions[w->at < w->count ? w->at : w->count];
    if (!json_walk_skip(w)) return false;
    char first = w->text[from];
    size_t last = w->at - 1;
    *out_text = first == '{' || first == '[' ? (str){w->text + from, w->positions[last] + 1 - from} : token(w, last);
    return true;
}

bool json_walk_null(json_walk *w) {
    if (json_walk_peek(w) != 'n' || !str_eqz(token(w, w->at), "null")) return false;
    w->at++;
    return true;
}

bool json_walk_string(json_walk *w, str *out_raw) {
    if (json_walk_peek(w) == '"') return take_string(w, out_raw);
    *out_raw = STR_NULL;
    return json_walk_null(w) || json_walk_fail(w, "a string was expected");
}

/* 1.0E3 and the like: allowed where it is a whole number, as Jackson reads it. */
static bool whole_double(str t, int64_t *out) {
    double d;
    if (!is_number(t) || !str_to_f64(t, &d) || !(d >= -9.2e18 && d <= 9.2e18)) return false;
    *out = (int64_t)d;
    return true;
}

bool json_walk_i64(json_walk *w, int64_t *out) {
    char c = json_walk_peek(w);
    if (c != '-' && !is_digit(c)) return json_walk_null(w) || json_walk_fail(w, "a whole number was expected");
    str t = token(w, w->at);
    if (!(is_number(t) && str_to_i64(t, out)) && !whole_double(t, out)) return json_walk_fail(w, "a whole number was expected");
    w->at++;
    return true;
}

bool json_walk_bool(json_walk *w, bool *out) {
    str t = w->at < w->count ? token(w, w->at) : STR_NULL;
    if (str_eqz(t, "true"))
        *out = true;
    else if (str_eqz(t, "false"))
        *out = false;
    else
        return json_walk_null(w) || json_walk_fail(w, "true or false was expected");
    w->at++;
    return true;
}

/* ---- escapes ---- */

static bool hex4(str raw, size_t at, uint32_t *out) {
    if (raw.len - at < 4) return false;
    uint32_t v = 0;
    for (size_t i = at; i < at + 4; i++) {
        char c = raw.ptr[i];
        uint32_t d = is_digit(c)                          ? (uint32_t)(c - '0')
                     : (c | 32) >= 'a' && (c | 32) <= 'f' ? (uint32_t)((c | 32) - 'a' + 10)
                                                          : 16;
        if (d == 16) return false;
        v = v * 16 + d;
    }
    *out = v;
    return true;
}

static void append_utf8(buf *out, uint32_t c) {
    if (c < 0x80) {
        buf_append_char(out, (char)c);
    } else if (c < 0x800) {
        buf_append_char(out, (char)(0xc0 | c >> 6));
        buf_append_char(out, (char)(0x80 | (c & 0x3f)));
    } else if (c < 0x10000) {
        buf_append_char(out, (char)(0xe0 | c >> 12));
        buf_append_char(out, (char)(0x80 | (c >> 6 & 0x3f)));
        buf_append_char(out, (char)(0x80 | (c & 0x3f)));
    } else {
        buf_append_char(out, (char)(0xf0 | c >> 18));
        buf_append_char(out, (char)(0x80 | (c >> 12 & 0x3f)));
        buf_append_char(out, (char)(0x80 | (c >> 6 & 0x3f)));
        buf_append_char(out, (char)(0x80 | (c & 0x3f)));
    }
}

/* \uXXXX with *at behind the u; a pair of surrogates is one character. */
static bool unescape_unicode(str raw, size_t *at, buf *out) {
    uint32_t c, low;
    if (!hex4(raw, *at, &c)) return false;
    *at += 4;
    if (c >= 0xd800 && c <= 0xdbff && raw.len - *at >= 6 && raw.ptr[*at] == '\\' && raw.ptr[*at + 1] == 'u' &&
        hex4(raw, *at + 2, &low) && low >= 0xdc00 && low <= 0xdfff) {
        *at += 6;
        c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
    } else if (c >= 0xd800 && c <= 0xdfff) {
        c = 0xfffd;
    }
    append_utf8(out, c);
    return true;
}

/* Some byte of the word is a backslash. */
static bool has_backslash(uint64_t word) {
    uint64_t x = word ^ UINT64_C(0x5c5c5c5c5c5c5c5c);
    return ((x - UINT64_C(0x0101010101010101)) & ~x & UINT64_C(0x8080808080808080)) != 0;
}

/* Copy up to the next backslash; statistics have one every few bytes, so that a search and a copy call for each would cost more
 * than the bytes. Eight at a time, which may write beyond the end of what counts (reserved), then one by one. */
static size_t copy_plain(str raw, size_t at, buf *out) {
    char *to = out->ptr + out->len;
    for (uint64_t word; raw.len - at >= 8; at += 8, to += 8) {
        memcpy(&word, raw.ptr + at, 8);
        if (has_backslash(word)) break;
        memcpy(to, &word, 8);
    }
    while (at < raw.len && raw.ptr[at] != '\\') *to++ = raw.ptr[at++];
    out->len = (size_t)(to - out->ptr);
    return at;
}

bool json_raw_unescape(str raw, buf *out) {
    if (!buf_reserve(out, raw.len + 8)) return false; /* an escape never becomes longer */
    size_t at = 0;
    while (at < raw.len) {
        at = copy_plain(raw, at, out);
        if (at >= raw.len) break;
        at++;
        if (at >= raw.len) return false;
        char c = raw.ptr[at++];
        switch (c) {
            case '"':
            case '\\':
            case '/': out->ptr[out->len++] = c; break;
            case 'b': out->ptr[out->len++] = '\b'; break;
            case 'f': out->ptr[out->len++] = '\f'; break;
            case 'n': out->ptr[out->len++] = '\n'; break;
            case 'r': out->ptr[out->len++] = '\r'; break;
            case 't': out->ptr[out->len++] = '\t'; break;
            case 'u':
                if (!unescape_unicode(raw, &at, out)) return false;
                break;
            default: return false;
        }
    }
    return buf_ok(out);
}
