/* Strings by code points (Spark's UTF8String), and small text algorithms. */
#include <ctype.h>
#include <stdlib.h>

#include "base/ident.h"
#include "engine/functions_call.h"
#include "engine/functions_nested.h"

/* ---- code points ---- */

static size_t char_count(str s) {
    size_t n = 0;
    for (size_t i = 0; i < s.len; i++) n += ((unsigned char)s.ptr[i] & 0xC0) != 0x80;
    return n;
}

/* Byte offset of the n-th character; the end when there are fewer. */
static size_t char_offset(str s, int64_t n) {
    size_t i = 0;
    for (; i < s.len && n > 0; n--) {
        i++;
        while (i < s.len && ((unsigned char)s.ptr[i] & 0xC0) == 0x80) i++;
    }
    return i;
}

static void put_codepoint(buf *out, uint32_t cp) {
    if (cp < 0x80)
        buf_append_char(out, (char)cp);
    else if (cp < 0x800) {
        buf_append_char(out, (char)(0xC0 | cp >> 6));
        buf_append_char(out, (char)(0x80 | (cp & 0x3F)));
    } else if (cp < 0x10000) {
        buf_append_char(out, (char)(0xE0 | cp >> 12));
        buf_append_char(out, (char)(0x80 | (cp >> 6 & 0x3F)));
        buf_append_char(out, (char)(0x80 | (cp & 0x3F)));
    } else {
        buf_append_char(out, (char)(0xF0 | cp >> 18));
        buf_append_char(out, (char)(0x80 | (cp >> 12 & 0x3F)));
        buf_append_char(out, (char)(0x80 | (cp >> 6 & 0x3F)));
        buf_append_char(out, (char)(0x80 | (cp & 0x3F)));
    }
}

/* substringSQL: from 1, 0 is 1, negative from the end; a start before the beginning uses up length. */
static void bounds(int64_t n, int64_t pos, int64_t length, int64_t *from, int64_t *to) {
    int64_t start = pos > 0 ? pos - 1 : pos < 0 ? n + pos : 0;
    int64_t end = length >= 2147483647 ? n : start + length;
    if (end > n) end = n;
    if (start < 0) start = 0;
    *from = start;
    *to = end < start ? start : end;
}

static void substring(call *c, idx_t row) {
    str s = call_str(c, 0, row);
    int64_t from, to;
    bounds((int64_t)char_count(s), call_i32(c, 1, row), call_i32(c, 2, row), &from, &to);
    size_t a = char_offset(s, from);
    str rest = str_slice(s, a, s.len);
    ret_str(c, row, str_slice(rest, 0, char_offset(rest, to - from)));
}

static void subbinary(call *c, idx_t row) {
    str s = call_str(c, 0, row);
    int64_t from, to, n = (int64_t)s.len;
    bounds(n, call_i32(c, 1, row), call_i32(c, 2, row), &from, &to);
    if (from > n) from = to = n;
    ret_str(c, row, str_slice(s, (size_t)from, (size_t)to));
}

static void right(call *c, idx_t row) {
    str s = call_str(c, 0, row);
    int64_t n = call_i32(c, 1, row), total = (int64_t)char_count(s);
    ret_str(c, row, n <= 0 ? STR("") : str_slice(s, char_offset(s, total - n), s.len));
}

static void pad(call *c, idx_t row, bool left) {
    str s = call_str(c, 0, row), fill = call_str(c, 2, row);
    int64_t n = call_i32(c, 1, row), have = (int64_t)char_count(s);
    if (n <= 0) n = 0;
    if (have >= n || fill.len == 0) {
        ret_str(c, row, str_slice(s, 0, char_offset(s, n)));
        return;
    }
    int64_t missing = n - have, width = (int64_t)char_count(fill);
    if (!left) buf_append(&c->text, s);
    for (; missing >= width && buf_ok(&c->text); missing -= width) buf_append(&c->text, fill);
    buf_append(&c->text, str_slice(fill, 0, char_offset(fill, missing)));
    if (left) buf_append(&c->text, s);
    ret_text(c, row);
}
static void lpad(call *c, idx_t row) { pad(c, row, true); }
static void rpad(call *c, idx_t row) { pad(c, row, false); }

static void reverse(call *c, idx_t row) {
    str s = call_str(c, 0, row);
    for (size_t end = s.len; end > 0;) {
        size_t at = end - 1;
        while (at > 0 && ((unsigned char)s.ptr[at] & 0xC0) == 0x80) at--;
        buf_append(&c->text, str_slice(s, at, end));
        end = at;
    }
    ret_text(c, row);
}

static void repeat(call *c, idx_t row) {
    str s = call_str(c, 0, row);
    for (int32_t n = call_i32(c, 1, row); n > 0 && buf_ok(&c->text) && s.len; n--) buf_append(&c->text, s);
    ret_text(c, row);
}

static void ascii(call *c, idx_t row) {
    str s = call_str(c, 0, row);
    size_t at = 0;
    ret_i32(c, row, s.len ? (int32_t)str_next_codepoint(s, &at) : 0);
}

static void chr(call *c, idx_t row) {
    int64_t n = call_i64(c, 0, row);
    if (n >= 0) put_codepoint(&c->text, (uint32_t)(n & 0xFF));
    ret_text(c, row);
}

/* ---- case ---- */

static uint32_t title_case(uint32_t cp) {
    if (cp < 0x80) return (uint32_t)toupper((int)cp);
    if ((cp >= 0xE0 && cp <= 0xFE && cp != 0xF7) || (cp >= 0x3B1 && cp <= 0x3C9 && cp != 0x3C2) || (cp >= 0x430 && cp <= 0x44F))
        return cp - 32;
    if (cp >= 0x450 && cp <= 0x45F) return cp - 80;
    if (cp >= 0x100 && cp <= 0x17F && cp % 2 == 1 && cp != 0x131 && cp != 0x149) return cp - 1;
    return cp;
}

/* Words are what stands between spaces. */
static void initcap(call *c, idx_t row) {
    str s = call_str(c, 0, row);
    bool first = true;
    for (size_t at = 0; at < s.len;) {
        uint32_t cp = str_next_codepoint(s, &at);
        put_codepoint(&c->text, first ? title_case(cp) : cp);
        first = cp == ' ';
    }
    ret_text(c, row);
}

/* ---- searching and replacing ---- */

static void locate(call *c, idx_t row) {
    str needle = call_str(c, 0, row), s = call_str(c, 1, row);
    int64_t from = call_i32(c, 2, row);
    int64_t n = (int64_t)char_count(s);
    if (from < 1 || (from > n + 1)) {
        ret_i32(c, row, 0);
        return;
    }
    size_t start = char_offset(s, from - 1), found = str_find(str_slice(s, start, s.len), needle);
    if (needle.len == 0)
        ret_i32(c, row, (int32_t)from > 1 ? (int32_t)from : 1);
    else if (found == SIZE_MAX)
        ret_i32(c, row, 0);
    else
        ret_i32(c, row, (int32_t)char_count(str_slice(s, 0, start + found)) + 1);
}

static void replace(call *c, idx_t row) {
    str s = call_str(c, 0, row), from = call_str(c, 1, row), to = call_str(c, 2, row);
    if (from.len == 0) {
        ret_str(c, row, s);
        return;
    }
    for (size_t at; (at = str_find(s, from)) != SIZE_MAX; s = str_slice(s, at + from.len, s.len)) {
        buf_append(&c->text, str_slice(s, 0, at));
        buf_append(&c->text, to);
    }
    buf_append(&c->text, s);
    ret_text(c, row);
}

/* The first occurrence of a character in `from` decides; beyond the end of `to` it is left out. */
static void translate(call *c, idx_t row) {
    str s = call_str(c, 0, row), from = call_str(c, 1, row), to = call_str(c, 2, row);
    for (size_t at = 0; at < s.len;) {
        uint32_t cp = str_next_codepoint(s, &at);
        int64_t index = 0;
        bool found = false;
        for (size_t f = 0; f < from.len && !found; index += !found) found = str_next_codepoint(from, &f) == cp;
        if (!found)
            put_codepoint(&c->text, cp);
        else {
            size_t t = char_offset(to, index);
            if (t < to.len) put_codepoint(&c->text, str_next_codepoint(to, &t));
        }
    }
    ret_text(c, row);
}

static void overlay(call *c, idx_t row) {
    str s = call_str(c, 0, row), with = call_str(c, 1, row);
    int64_t pos = call_i32(c, 2, row), length = call_i32(c, 3, row);
    if (length < 0) length = (int64_t)char_count(with);
    int64_t n = (int64_t)char_count(s), from, to;
    bounds(n, 1, pos - 1, &from, &to);
    buf_append(&c->text, str_slice(s, 0, char_offset(s, to)));
    buf_append(&c->text, with);
    bounds(n, pos + length, 2147483647, &from, &to);
    buf_append(&c->text, str_slice(s, char_offset(s, from), s.len));
    ret_text(c, row);
}

static void find_in_set(call *c, idx_t row) {
    str word = call_str(c, 0, row), list = call_str(c, 1, row), piece;
    int32_t at = 0;
    if (str_find_char(word, ',') != SIZE_MAX) {
        ret_i32(c, row, 0);
        return;
    }
    for (;;) {
        size_t comma = str_find_char(list, ',');
        piece = comma == SIZE_MAX ? list : str_slice(list, 0, comma);
        at++;
        if (str_eq(piece, word)) {
            ret_i32(c, row, at);
            return;
        }
        if (comma == SIZE_MAX) break;
        list = str_slice(list, comma + 1, list.len);
    }
    ret_i32(c, row, 0);
}

static void split_part(call *c, idx_t row) {
    str s = call_str(c, 0, row), by = call_str(c, 1, row);
    int64_t wanted = call_i32(c, 2, row), n = 1;
    if (wanted == 0) {
        call_raise(c, "INVALID_INDEX_OF_ZERO", "22003",
                   "The index 0 is invalid. An index shall be either < 0 or > 0 (the first element has index 1).");
        return;
    }
    if (by.len == 0) {
        ret_str(c, row, wanted == 1 || wanted == -1 ? s : STR(""));
        return;
    }
    if (wanted < 0) {
        str rest = s;
        for (size_t at; (at = str_find(rest, by)) != SIZE_MAX; rest = str_slice(rest, at + by.len, rest.len)) n++;
        wanted = n + wanted + 1;
    }
    str rest = s;
    for (n = 1; wanted >= 1; n++) {
        size_t at = str_find(rest, by);
        if (n == wanted) {
            ret_str(c, row, at == SIZE_MAX ? rest : str_slice(rest, 0, at));
            return;
        }
        if (at == SIZE_MAX) break;
        rest = str_slice(rest, at + by.len, rest.len);
    }
    ret_str(c, row, STR(""));
}

static void substring_index(call *c, idx_t row) {
    str s = call_str(c, 0, row), by = call_str(c, 1, row);
    int64_t n = call_i32(c, 2, row);
    if (n == 0 || by.len == 0) {
        ret_str(c, row, STR(""));
        return;
    }
    if (n > 0) {
        size_t from = 0;
        for (; n > 0; n--) {
            size_t at = str_find(str_slice(s, from, s.len), by);
            if (at == SIZE_MAX) {
                ret_str(c, row, s);
                return;
            }
            if (n == 1) {
                ret_str(c, row, str_slice(s, 0, from + at));
                return;
            }
            from += at + 1;
        }
    }
    size_t end = s.len;
    for (; n < 0; n++) {
        size_t at = SIZE_MAX;
        for (size_t i = end >= by.len ? end - by.len + 1 : 0; i-- > 0 && at == SIZE_MAX;)
            if (memcmp(s.ptr + i, by.ptr, by.len) == 0) at = i;
        if (at == SIZE_MAX) {
            ret_str(c, row, s);
            return;
        }
        if (n == -1) {
            ret_str(c, row, str_slice(s, at + by.len, s.len));
            return;
        }
        end = at + by.len - 1;
    }
}

static void starts(call *c, idx_t row) { ret_bool(c, row, str_starts_with(call_str(c, 0, row), call_str(c, 1, row))); }
static void ends(call *c, idx_t row) { ret_bool(c, row, str_ends_with(call_str(c, 0, row), call_str(c, 1, row))); }

/* ---- LIKE with an escape ---- */

static uint32_t fold(uint32_t cp) {
    if (cp < 0x80) return (uint32_t)tolower((int)cp);
    if ((cp >= 0xC0 && cp <= 0xDE && cp != 0xD7) || (cp >= 0x391 && cp <= 0x3A9) || (cp >= 0x410 && cp <= 0x42F)) return cp + 32;
    if (cp >= 0x400 && cp <= 0x40F) return cp + 80;
    if (cp >= 0x100 && cp <= 0x17F && cp % 2 == 0 && cp != 0x130) return cp + 1;
    return cp;
}

typedef struct like_pattern {
    const uint32_t *cp;
    const uint8_t *wild;
    size_t n;
} like_pattern; /* wild: 0 literal, 1 any one, 2 any run */

static bool like_match(str s, const like_pattern *p, bool ignore_case) {
    size_t at = 0, i = 0, star = SIZE_MAX, star_at = 0;
    while (at < s.len) {
        size_t next = at;
        uint32_t cp = str_next_codepoint(s, &next);
        if (ignore_case) cp = fold(cp);
        if (i < p->n && p->wild[i] == 2) {
            star = ++i;
            star_at = at;
        } else if (i < p->n && (p->wild[i] == 1 || (p->wild[i] == 0 && p->cp[i] == cp))) {
            i++;
            at = next;
        } else if (star != SIZE_MAX) {
            i = star;
            (void)str_next_codepoint(s, &star_at);
            at = star_at;
        } else
            return false;
    }
    while (i < p->n && p->wild[i] == 2) i++;
    return i == p->n;
}

static void like(call *c, idx_t row) {
    str s = call_str(c, 0, row), pattern = call_str(c, 1, row), escape = call_str(c, 2, row);
    bool ignore_case = call_bool(c, 3, row);
    size_t e_at = 0, n = 0;
    uint32_t esc = escape.len ? str_next_codepoint(escape, &e_at) : 0;
    uint32_t *cps = malloc((pattern.len + 1) * sizeof *cps);
    uint8_t *wild = malloc(pattern.len + 1);
    if (!cps || !wild) call_raise(c, "OUT_OF_MEMORY", "53200", "Out of memory");
    for (size_t at = 0; at < pattern.len && !c->failed;) {
        uint32_t cp = str_next_codepoint(pattern, &at);
        wild[n] = 0;
        if (cp == esc && escape.len) {
            if (at >= pattern.len) {
                call_raise(c, "INVALID_FORMAT.ESC_AT_THE_END", "42601",
                           "The format is invalid: '%.*s'. The escape character is not allowed to end with.", STR_ARG(pattern));
                break;
            }
            cp = str_next_codepoint(pattern, &at);
            if (cp != '_' && cp != '%' && cp != esc) {
                call_raise(c, "INVALID_FORMAT.ESC_IN_THE_MIDDLE", "42601",
                           "The format is invalid: '%.*s'. The escape character is not allowed to precede this character.",
                           STR_ARG(pattern));
                break;
            }
        } else if (cp == '%' || cp == '_')
            wild[n] = cp == '%' ? 2 : 1;
        cps[n++] = ignore_case ? fold(cp) : cp;
    }
    if (!c->failed) ret_bool(c, row, like_match(s, &(like_pattern){cps, wild, n}, ignore_case));
    free(cps);
    free(wild);
}

/* ---- regular expressions ---- */

/* Java's replacement text ($1, ${name} not known, \x literal) → RE2's (\1, \\). */
static void re2_replacement(call *c, idx_t row) {
    str s = call_str(c, 0, row);
    for (size_t i = 0; i < s.len; i++) {
        char ch = s.ptr[i];
        if (ch == '$' && i + 1 < s.len && isdigit((unsigned char)s.ptr[i + 1])) {
            buf_append_char(&c->text, '\\');
            buf_append_char(&c->text, s.ptr[++i]);
        } else if (ch == '\\' && i + 1 < s.len) {
            ch = s.ptr[++i];
            if (ch == '\\') buf_append_char(&c->text, '\\');
            buf_append_char(&c->text, ch);
        } else {
            buf_append_char(&c->text, ch);
        }
    }
    ret_text(c, row);
}

/* silt_split(text, matches, limit): the parts between the matches, which are found again one after the other. An empty match stands before each character. */
static void split(call *c, idx_t row) {
    str s = call_str(c, 0, row);
    int32_t limit = call_i32(c, 2, row);
    const nested *m = call_nested(c, 1);
    list_writer w;
    if (!m) {
        call_raise(c, "OUT_OF_MEMORY", "53200", "Out of memory");
        return;
    }
    duckdb_list_entry matches = nested_list(m, row);
    ret_list_begin(c, row, &w);
    size_t from = 0;
    int32_t parts = 1;
    bool ok = true;
    for (idx_t i = 0; i < matches.length && ok && (limit <= 0 || parts < limit); i++) {
        str match = nested_str(&m->children[0], matches.offset + i);
        size_t at;
        if (match.len == 0) {
            at = char_offset(str_slice(s, from, s.len), 1);
            if (from >= s.len) break;
            if (from + at >= s.len) break;
            ok = ret_list_add(&w, str_slice(s, from, from + at));
            from += at;
        } else {
            at = str_find(str_slice(s, from, s.len), match);
            if (at == SIZE_MAX) break;
            ok = ret_list_add(&w, str_slice(s, from, from + at));
            from += at + match.len;
        }
        parts++;
    }
    ok = ok && ret_list_add(&w, str_slice(s, from, s.len));
    ret_list_end(c, row, &w);
    if (!ok) call_raise(c, "OUT_OF_MEMORY", "53200", "Out of memory");
}

/* silt_join(strings, separator): nulls left out. */
static void join(call *c, idx_t row) {
    const nested *m = call_nested(c, 0);
    str by = call_str(c, 1, row);
    if (!m) {
        call_raise(c, "OUT_OF_MEMORY", "53200", "Out of memory");
        return;
    }
    duckdb_list_entry list = nested_list(m, row);
    bool first = true;
    for (idx_t i = 0; i < list.length; i++) {
        if (nested_is_null(&m->children[0], list.offset + i)) continue;
        if (!first) buf_append(&c->text, by);
        buf_append(&c->text, nested_str(&m->children[0], list.offset + i));
        first = false;
    }
    ret_text(c, row);
}

/* ---- distances and codes ---- */

static void levenshtein(call *c, idx_t row) {
    str a = call_str(c, 0, row), b = call_str(c, 1, row);
    int32_t limit = call_i32(c, 2, row);
    size_t n = char_count(b);
    int32_t *costs = malloc((n + 1) * sizeof *costs);
    if (!costs) {
        call_raise(c, "OUT_OF_MEMORY", "53200", "Out of memory");
        return;
    }
    for (size_t i = 0; i <= n; i++) costs[i] = (int32_t)i;
    for (size_t x = 0; x < a.len;) {
        uint32_t ca = str_next_codepoint(a, &x);
        int32_t corner = costs[0]++;
        size_t k = 1;
        for (size_t y = 0; y < b.len; k++) {
            uint32_t cb = str_next_codepoint(b, &y);
            int32_t up = costs[k], best = corner + (ca != cb);
            if (up + 1 < best) best = up + 1;
            if (costs[k - 1] + 1 < best) best = costs[k - 1] + 1;
            corner = up;
            costs[k] = best;
        }
    }
    ret_i32(c, row, limit >= 0 && costs[n] > limit ? -1 : costs[n]);
    free(costs);
}

static void soundex(call *c, idx_t row) {
    static const char codes[] = "01230127022455012623017202";
    str s = call_str(c, 0, row);
    if (s.len == 0 || !isalpha((unsigned char)s.ptr[0])) {
        ret_str(c, row, s);
        return;
    }
    char out[5] = {(char)toupper((unsigned char)s.ptr[0]), '0', '0', '0', 0}, last = codes[out[0] - 'A'];
    size_t n = 1;
    for (size_t i = 1; i < s.len && n < 4; i++) {
        char ch = (char)toupper((unsigned char)s.ptr[i]);
        if (ch < 'A' || ch > 'Z') {
            last = '0';
            continue;
        }
        char code = codes[ch - 'A'];
        if (code == '7') continue; /* H and W do not separate */
        if (code != '0' && code != last) out[n++] = code;
        last = code;
    }
    ret_str(c, row, (str){out, 4});
}

static void luhn(call *c, idx_t row) {
    str s = call_str(c, 0, row);
    int sum = 0;
    bool twice = false, ok = s.len > 0;
    for (size_t i = s.len; ok && i-- > 0; twice = !twice) {
        ok = isdigit((unsigned char)s.ptr[i]);
        int d = s.ptr[i] - '0';
        if (twice) d = d * 2 > 9 ? d * 2 - 9 : d * 2;
        sum += d;
    }
    ret_bool(c, row, ok && sum % 10 == 0);
}

static void elt_index(call *c, idx_t row) {
    int64_t i = call_i64(c, 0, row), n = call_i64(c, 1, row);
    if (i >= 1 && i <= n)
        ret_i64(c, row, i);
    else
        call_raise(c, "INVALID_ARRAY_INDEX", "22003", "The index %lld is out of bounds. The array has %lld elements.",
                   (long long)i, (long long)n);
}

static void mask(call *c, idx_t row) {
    if (call_is_null(c, 0, row)) {
        ret_null(c, row);
        return;
    }
    str s = call_str(c, 0, row);
    for (size_t at = 0; at < s.len;) {
        size_t from = at;
        uint32_t cp = str_next_codepoint(s, &at);
        bool up = (cp < 0x80 && isupper((int)cp)) || (cp >= 0x80 && fold(cp) != cp),
             low = (cp < 0x80 && islower((int)cp)) || (cp >= 0x80 && title_case(cp) != cp);
        idx_t by = up ? 1 : low ? 2 : cp < 0x80 && isdigit((int)cp) ? 3 : 4;
        if (call_is_null(c, by, row))
            buf_append(&c->text, str_slice(s, from, at));
        else
            buf_append(&c->text, call_str(c, by, row));
    }
    ret_text(c, row);
}

static void quote(call *c, idx_t row) {
    str s = call_str(c, 0, row);
    buf_append_char(&c->text, '\'');
    for (size_t i = 0; i < s.len; i++) {
        if (s.ptr[i] == '\'') buf_append_char(&c->text, '\\');
        buf_append_char(&c->text, s.ptr[i]);
    }
    buf_append_char(&c->text, '\'');
    ret_text(c, row);
}

static void randstr(call *c, idx_t row) {
    static const char alphabet[] = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    int32_t n = call_i32(c, 0, row);
    if (n < 0) {
        call_raise(c, "INVALID_PARAMETER_VALUE.LENGTH", "22023",
                   "The value of parameter(s) `length` in `randstr` is invalid: expects a value >= 0, but got %d.", n);
        return;
    }
    for (int32_t i = 0; i < n && buf_ok(&c->text); i++) {
        uint8_t byte;
        do random_bytes(&byte, 1);
        while (byte >= 248); /* 4 × 62: every letter as likely as the others */
        buf_append_char(&c->text, alphabet[byte % 62]);
    }
    ret_text(c, row);
}

static void is_utf8(call *c, idx_t row) { ret_bool(c, row, str_is_utf8(call_str(c, 0, row))); }

static const call_def defs[] = {
    {"silt_substring", substring, "sii", 's', 0},
    {"silt_subbinary", subbinary, "Bii", 'B', 0},
    {"silt_right", right, "si", 's', 0},
    {"silt_lpad", lpad, "sis", 's', 0},
    {"silt_rpad", rpad, "sis", 's', 0},
    {"silt_reverse", reverse, "s", 's', 0},
    {"silt_repeat", repeat, "si", 's', 0},
    {"silt_ascii", ascii, "s", 'i', 0},
    {"silt_chr", chr, "l", 's', 0},
    {"silt_initcap", initcap, "s", 's', 0},
    {"silt_locate", locate, "ssi", 'i', 0},
    {"silt_replace", replace, "sss", 's', 0},
    {"silt_translate", translate, "sss", 's', 0},
    {"silt_overlay", overlay, "ssii", 's', 0},
    {"silt_find_in_set", find_in_set, "ss", 'i', 0},
    {"silt_split_part", split_part, "ssi", 's', CALL_RAISES},
    {"silt_substring_index", substring_index, "ssi", 's', 0},
    {"silt_starts", starts, "BB", 'b', 0},
    {"silt_ends", ends, "BB", 'b', 0},
    {"silt_like", like, "sssb", 'b', CALL_RAISES},
    {"silt_re2_replacement", re2_replacement, "s", 's', 0},
    {"silt_split", split, "sSi", 'S', 0},
    {"silt_join", join, "Ss", 's', 0},
    {"silt_levenshtein", levenshtein, "ssi", 'i', 0},
    {"silt_soundex", soundex, "s", 's', 0},
    {"silt_luhn", luhn, "s", 'b', 0},
    {"silt_elt_index", elt_index, "ll", 'l', CALL_RAISES},
    {"silt_randstr", randstr, "i", 's', CALL_RAISES},
    {"silt_mask", mask, "sssss", 's', CALL_NULLS},
    {"silt_quote", quote, "s", 's', 0},
    {"silt_is_utf8", is_utf8, "s", 'b', 0},
};

const call_group calls_string = {defs, ARRAY_LEN(defs)};
