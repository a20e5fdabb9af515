/*
 * Spark SQL's lexer (the token rules of SqlBaseLexer), by hand: one pass, longest match, byte offsets kept for messages.
 *
 * What differs from most SQL lexers: names may start with a digit (`1a` is a name, `1L` and `1e3` are numbers); both quotes make strings with backslash
 * escapes; r'…' is raw; a doubled quote inside a string is that quote. '>' is always a token of its own so that ARRAY<ARRAY<INT>> needs no splitting: the
 * parser joins adjacent ones to shift operators. Hints are comments to Silt: they never change an answer.
 */
#include "base/secret.h"
#include "expr/lexer.h"

typedef struct lexer {
    str text;
    size_t at;
    arena *a;
    token_list *out;
    silt_error *err;
} lexer;

static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static bool is_name_char(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '_' || (unsigned char)c >= 0x80;
}
static bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v'; }

static char char_at(const lexer *l, size_t i) { return i < l->text.len ? l->text.ptr[i] : '\0'; }

str lexer_shown(str text, size_t from, size_t to, arena *a) {
    char *copy = arena_cstr(a, text);
    if (!copy) return STR("");
    secret_mask(copy, text.len, true);
    return str_slice((str){copy, text.len}, from, to);
}

str lexer_caret(str text, uint32_t offset, arena *a) {
    text = lexer_shown(text, 0, text.len, a);
    size_t at = offset < text.len ? offset : text.len;
    size_t start = at, line = 1;
    while (start > 0 && text.ptr[start - 1] != '\n') start--;
    size_t end = at;
    while (end < text.len && text.ptr[end] != '\n') end++;
    for (size_t i = 0; i < start; i++) line += text.ptr[i] == '\n';
    /* A long line is cut around the place: messages have bounded buffers. */
    size_t from = at - start > 100 ? at - 100 : start, to = end - at > 100 ? at + 100 : end;
    while (from < at && ((unsigned char)text.ptr[from] & 0xC0) == 0x80) from++;
    while (to > at && to < text.len && ((unsigned char)text.ptr[to] & 0xC0) == 0x80) to--;
    buf b;
    buf_init(&b, 4096);
    size_t column = 1;
    for (size_t i = start; i < at; i++) column += ((unsigned char)text.ptr[i] & 0xC0) != 0x80;
    buf_printf(&b, "line %zu, column %zu\n", line, column);
    buf_append(&b, str_slice(text, from, to));
    buf_append_char(&b, '\n');
    for (size_t i = from; i < at; i++)
        if (((unsigned char)text.ptr[i] & 0xC0) != 0x80) buf_append_char(&b, text.ptr[i] == '\t' ? '\t' : ' ');
    buf_append_char(&b, '^');
    str r = arena_str(a, buf_str(&b));
    buf_dispose(&b);
    return r;
}

static silt_status fail_at(lexer *l, size_t offset, const char *why) {
    size_t end = offset;
    while (end < l->text.len && end < offset + 20 && !is_space(l->text.ptr[end])) end++;
    silt_status s = err_PARSE_SYNTAX_ERROR(l->err, lexer_shown(l->text, offset, end, l->a));
    error_detail(l->err, "%s: %.*s", why, STR_ARG(lexer_caret(l->text, (uint32_t)offset, l->a)));
    return s;
}

static silt_status push(lexer *l, token t) {
    return ARENA_PUSH(l->a, l->out->items, l->out->count, l->out->capacity, t) ? SILT_OK : error_no_memory(l->err);
}

static token token_make(const lexer *l, token_kind kind, size_t from, size_t to) {
    return (token){.kind = kind, .from = (uint32_t)from, .to = (uint32_t)to, .text = str_slice(l->text, from, to)};
}

/* Skip white space and comments; block comments nest. */
static silt_status skip_blank(lexer *l) {
    for (;;) {
        while (l->at < l->text.len && is_space(l->text.ptr[l->at])) l->at++;
        if (char_at(l, l->at) == '-' && char_at(l, l->at + 1) == '-') {
            while (l->at < l->text.len && l->text.ptr[l->at] != '\n') l->at++;
        } else if (char_at(l, l->at) == '/' && char_at(l, l->at + 1) == '*') {
            size_t start = l->at;
            int depth = 0;
            do {
                if (l->at + 1 >= l->text.len) {
                    silt_status s = err_UNCLOSED_BRACKETED_COMMENT(l->err);
                    error_detail(l->err, "%.*s", STR_ARG(lexer_caret(l->text, (uint32_t)start, l->a)));
                    return s;
                }
                if (l->text.ptr[l->at] == '/' && l->text.ptr[l->at + 1] == '*') depth++, l->at += 2;
                else if (l->text.ptr[l->at] == '*' && l->text.ptr[l->at + 1] == '/') depth--, l->at += 2;
                else l->at++;
            } while (depth > 0);
        } else {
            return SILT_OK;
        }
    }
}

static void append_utf8(buf *b, uint32_t c) {
    if (c < 0x80) {
        buf_append_char(b, (char)c);
    } else if (c < 0x800) {
        buf_append_char(b, (char)(0xC0 | c >> 6));
        buf_append_char(b, (char)(0x80 | (c & 0x3F)));
    } else if (c < 0x10000) {
        buf_append_char(b, (char)(0xE0 | c >> 12));
        buf_append_char(b, (char)(0x80 | (c >> 6 & 0x3F)));
        buf_append_char(b, (char)(0x80 | (c & 0x3F)));
    } else {
        buf_append_char(b, (char)(0xF0 | c >> 18));
        buf_append_char(b, (char)(0x80 | (c >> 12 & 0x3F)));
        buf_append_char(b, (char)(0x80 | (c >> 6 & 0x3F)));
        buf_append_char(b, (char)(0x80 | (c & 0x3F)));
    }
}

static bool hex_value(str s, uint32_t *out) {
    uint32_t v = 0;
    for (size_t i = 0; i < s.len; i++) {
        char c = s.ptr[i];
        int d = is_digit(c) ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
        if (d < 0) return false;
        v = v << 4 | (uint32_t)d;
    }
    *out = v;
    return s.len > 0;
}

/* One backslash escape at s[*i] == '\\'; steps over it. Rules of Spark's unescapeSQLString. A pair of \u surrogates makes one code point. */
static void unescape_one(str s, size_t *i, buf *out) {
    char c = s.ptr[*i + 1];
    uint32_t v = 0, low = 0;
    if (c == 'u' && *i + 6 <= s.len && hex_value(str_slice(s, *i + 2, *i + 6), &v)) {
        *i += 6;
        if (v >= 0xD800 && v < 0xDC00 && *i + 6 <= s.len && s.ptr[*i] == '\\' && s.ptr[*i + 1] == 'u' && hex_value(str_slice(s, *i + 2, *i + 6), &low) &&
            low >= 0xDC00 && low < 0xE000) {
            v = 0x10000 + ((v - 0xD800) << 10) + (low - 0xDC00);
            *i += 6;
        }
        append_utf8(out, v >= 0xD800 && v < 0xE000 ? 0xFFFD : v);
        return;
    }
    if (c == 'U' && *i + 10 <= s.len && hex_value(str_slice(s, *i + 2, *i + 10), &v)) {
        *i += 10;
        append_utf8(out, v > 0x10FFFF || (v >= 0xD800 && v < 0xE000) ? 0xFFFD : v);
        return;
    }
    if ((c == '0' || c == '1') && *i + 4 <= s.len && s.ptr[*i + 2] >= '0' && s.ptr[*i + 2] <= '7' && s.ptr[*i + 3] >= '0' && s.ptr[*i + 3] <= '7') {
        append_utf8(out, (uint32_t)((c - '0') * 64 + (s.ptr[*i + 2] - '0') * 8 + (s.ptr[*i + 3] - '0')));
        *i += 4;
        return;
    }
    *i += 2;
    switch (c) {
    case '0': buf_append_char(out, '\0'); break;
    case 'b': buf_append_char(out, '\b'); break;
    case 'n': buf_append_char(out, '\n'); break;
    case 'r': buf_append_char(out, '\r'); break;
    case 't': buf_append_char(out, '\t'); break;
    case 'Z': buf_append_char(out, 0x1A); break;
    case '%': buf_append_z(out, "\\%"); break; /* kept for LIKE */
    case '_': buf_append_z(out, "\\_"); break;
    default: buf_append_char(out, c); break;
    }
}

static silt_status lex_string(lexer *l, bool raw) {
    size_t from = l->at - (raw ? 1 : 0), start = l->at;
    char quote = l->text.ptr[l->at++];
    buf b;
    buf_init(&b, BUF_MAX_DEFAULT);
    for (;;) {
        if (l->at >= l->text.len) {
            buf_dispose(&b);
            return fail_at(l, start, "unclosed string");
        }
        char c = l->text.ptr[l->at];
        if (c == quote) {
            if (!raw && char_at(l, l->at + 1) == quote) {
                buf_append_char(&b, quote);
                l->at += 2;
                continue;
            }
            l->at++;
            break;
        }
        if (c == '\\' && !raw && l->at + 1 < l->text.len) {
            unescape_one(l->text, &l->at, &b);
        } else {
            buf_append_char(&b, c);
            l->at++;
        }
    }
    token t = token_make(l, TOKEN_STRING, from, l->at);
    t.text = arena_str(l->a, buf_str(&b));
    bool ok = buf_ok(&b) && t.text.ptr;
    buf_dispose(&b);
    return ok ? push(l, t) : error_no_memory(l->err);
}

static silt_status lex_quoted_name(lexer *l) {
    size_t from = l->at++;
    buf b;
    buf_init(&b, BUF_MAX_DEFAULT);
    for (;;) {
        if (l->at >= l->text.len) {
            buf_dispose(&b);
            return fail_at(l, from, "unclosed `name`");
        }
        char c = l->text.ptr[l->at++];
        if (c == '`') {
            if (char_at(l, l->at) != '`') break;
            l->at++;
        }
        buf_append_char(&b, c);
    }
    token t = token_make(l, TOKEN_QUOTED_NAME, from, l->at);
    t.text = arena_str(l->a, buf_str(&b));
    bool ok = buf_ok(&b) && t.text.ptr;
    buf_dispose(&b);
    return ok ? push(l, t) : error_no_memory(l->err);
}

/* Length of a number at `from`, 0 if none; sets kind, suffix and the length of its digits. */
static size_t match_number(const lexer *l, size_t from, token_kind *kind, char *suffix, size_t *digits) {
    size_t i = from, int_digits = 0, fraction = 0;
    bool point = false;
    while (is_digit(char_at(l, i))) i++, int_digits++;
    if (char_at(l, i) == '.') {
        size_t j = i + 1;
        while (is_digit(char_at(l, j))) j++, fraction++;
        if (int_digits + fraction > 0) point = true, i = j;
    }
    if (int_digits + fraction == 0) return 0;
    *kind = point ? TOKEN_DECIMAL : TOKEN_INTEGER;
    char e = char_at(l, i);
    if (e == 'e' || e == 'E') {
        size_t j = i + 1;
        if (char_at(l, j) == '+' || char_at(l, j) == '-') j++;
        if (is_digit(char_at(l, j))) {
            while (is_digit(char_at(l, j))) j++;
            i = j;
            *kind = TOKEN_EXPONENT;
        }
    }
    *digits = i - from;
    *suffix = 0;
    char s = (char)(char_at(l, i) & ~0x20), s2 = (char)(char_at(l, i + 1) & ~0x20);
    size_t extra = 0;
    if (s == 'B' && s2 == 'D') *suffix = 'B', extra = 2;
    else if (s == 'D' || s == 'F') *suffix = s, extra = 1;
    else if (*kind == TOKEN_INTEGER && (s == 'L' || s == 'S' || s == 'Y')) *suffix = s, extra = 1;
    /* A name character behind it makes the whole a name (1a, 1Lx), or a point followed by a name (t.1a, 1.a). */
    if (is_name_char(char_at(l, i + extra))) return 0;
    return i + extra - from;
}

static silt_status lex_word(lexer *l) {
    size_t from = l->at;
    token_kind kind;
    char suffix;
    size_t digits;
    size_t n = is_digit(l->text.ptr[from]) || l->text.ptr[from] == '.' ? match_number(l, from, &kind, &suffix, &digits) : 0;
    if (n > 0) {
        l->at += n;
        token t = token_make(l, kind, from, l->at);
        t.text = str_slice(l->text, from, from + digits);
        t.suffix = suffix;
        return push(l, t);
    }
    while (is_name_char(char_at(l, l->at))) l->at++;
    return push(l, token_make(l, TOKEN_NAME, from, l->at));
}

static silt_status lex_op(lexer *l) {
    static const char *const ops[] = {"<=>", "<>", "!=", "<=", ">=", "==", "!<", "!>", "||", "::", "->", "=>", "<<", "|>"};
    size_t from = l->at;
    for (size_t i = 0; i < ARRAY_LEN(ops); i++) {
        size_t n = strlen(ops[i]);
        if (l->text.len - from >= n && memcmp(l->text.ptr + from, ops[i], n) == 0) {
            l->at += n;
            return push(l, token_make(l, TOKEN_OP, from, l->at));
        }
    }
    if (!strchr("+-*/%=<>!~&|^:?(),.[];{}", l->text.ptr[from]) || l->text.ptr[from] == '\0') return fail_at(l, from, "this character starts no token");
    l->at++;
    return push(l, token_make(l, TOKEN_OP, from, l->at));
}

/* One pass with a stack, so that looking ahead over a parenthesis costs nothing however deep it nests. */
static silt_status pair_parens(lexer *l) {
    token *items = l->out->items;
    size_t end = l->out->count - 1, depth = 0;
    uint32_t *open = ARENA_ARRAY(l->a, l->out->count, uint32_t);
    if (!open) return error_no_memory(l->err);
    for (size_t i = 0; i < end; i++) {
        if (items[i].kind != TOKEN_OP || items[i].text.len != 1) continue;
        if (items[i].text.ptr[0] == '(') {
            items[i].close = (uint32_t)end;
            open[depth++] = (uint32_t)i;
        } else if (items[i].text.ptr[0] == ')' && depth > 0) {
            items[open[--depth]].close = (uint32_t)i;
        }
    }
    return SILT_OK;
}

/* The next token, none where only blanks were left. */
static silt_status lex_next(lexer *l) {
    TRY(skip_blank(l));
    if (l->at >= l->text.len) return SILT_OK;
    char c = l->text.ptr[l->at], next = char_at(l, l->at + 1);
    if (c == '\'' || c == '"') return lex_string(l, false);
    if ((c == 'r' || c == 'R') && (next == '\'' || next == '"')) {
        l->at++;
        return lex_string(l, true);
    }
    if (c == '`') return lex_quoted_name(l);
    if (!is_name_char(c) && !(c == '.' && is_digit(next))) return lex_op(l);
    token_kind kind;
    char suffix;
    size_t digits, before = l->out->count;
    if (c == '.' && match_number(l, l->at, &kind, &suffix, &digits) == 0) return lex_op(l);
    TRY(lex_word(l));
    return l->out->count > before ? SILT_OK : err_INTERNAL_ERROR(l->err, "lexer made no progress");
}

static silt_status check_length(str text, silt_error *err) {
    return text.len <= UINT32_MAX - 1 ? SILT_OK : err_INVALID_PARAMETER_VALUE(err, STR("statement"), STR("(text)"), "less than 4 GiB of text");
}

silt_status lexer_run(str text, arena *a, token_list *out, silt_error *err) {
    lexer l = {.text = text, .a = a, .out = out, .err = err};
    *out = (token_list){0};
    TRY(check_length(text, err));
    while (l.at < text.len) TRY(lex_next(&l));
    TRY(push(&l, token_make(&l, TOKEN_END, text.len, text.len)));
    return pair_parens(&l);
}

silt_status lexer_first_statement(str text, arena *a, size_t *out_end, bool *out_is_blank, bool *out_is_whole, silt_error *err) {
    token_list tokens = {0};
    lexer l = {.text = text, .a = a, .out = &tokens, .err = err};
    *out_is_whole = false;
    TRY(check_length(text, err));
    while (l.at < text.len && !*out_is_whole) {
        size_t before = tokens.count;
        TRY(lex_next(&l));
        *out_is_whole = tokens.count > before && tokens.items[before].kind == TOKEN_OP && str_eqz(tokens.items[before].text, ";");
    }
    *out_is_blank = tokens.count == (size_t)*out_is_whole;
    *out_end = l.at;
    return SILT_OK;
}
