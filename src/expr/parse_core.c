/* The parser's hands: looking at tokens, names, literals of one token, and the syntax error with its caret. */
#include "expr/parser.h"

silt_status parser_init(parser *p, str text, arena *a, silt_error *err) {
    token_list tokens;
    *p = (parser){.text = text, .a = a, .err = err};
    TRY(lexer_run(text, a, &tokens, err));
    p->tokens = tokens.items;
    return SILT_OK;
}

const token *parser_peek(const parser *p, size_t ahead) {
    size_t i = p->at;
    while (ahead > 0 && p->tokens[i].kind != TOKEN_END) i++, ahead--;
    return &p->tokens[i];
}

static bool is_keyword(const token *t, const char *keyword) { return t->kind == TOKEN_NAME && str_eq_ascii_fold(t->text, str_of(keyword)); }

bool parser_at_keyword(const parser *p, const char *keyword) { return is_keyword(parser_peek(p, 0), keyword); }

bool parser_at_keywords(const parser *p, const char *first, const char *second) {
    return is_keyword(parser_peek(p, 0), first) && is_keyword(parser_peek(p, 1), second);
}

bool parser_accept_keyword(parser *p, const char *keyword) {
    if (!parser_at_keyword(p, keyword)) return false;
    p->at++;
    return true;
}

bool parser_accept_keywords(parser *p, const char *first, const char *second) {
    if (!parser_at_keywords(p, first, second)) return false;
    p->at += 2;
    return true;
}

bool parser_at_op(const parser *p, const char *op) {
    const token *t = parser_peek(p, 0);
    return t->kind == TOKEN_OP && str_eqz(t->text, op);
}

bool parser_accept_op(parser *p, const char *op) {
    if (!parser_at_op(p, op)) return false;
    p->at++;
    return true;
}

silt_status parser_fail(parser *p, const char *expected) {
    const token *t = parser_peek(p, 0);
    str near = t->kind == TOKEN_END ? STR("end of input") : lexer_shown(p->text, t->from, t->to, p->a);
    if (near.len > 60) near.len = 60;
    silt_status s = err_PARSE_SYNTAX_ERROR(p->err, near);
    error_detail(p->err, "expected %s: %.*s", expected, STR_ARG(lexer_caret(p->text, t->from, p->a)));
    return s;
}

silt_status parser_expect_keyword(parser *p, const char *keyword) { return parser_accept_keyword(p, keyword) ? SILT_OK : parser_fail(p, keyword); }

silt_status parser_expect_op(parser *p, const char *op) {
    if (parser_accept_op(p, op)) return SILT_OK;
    char quoted[16];
    size_t n = strlen(op) < 10 ? strlen(op) : 10;
    quoted[0] = '\'';
    memcpy(quoted + 1, op, n);
    memcpy(quoted + 1 + n, "'", 2);
    return parser_fail(p, quoted);
}

silt_status parser_expect_end(parser *p) {
    while (parser_accept_op(p, ";")) {}
    return parser_peek(p, 0)->kind == TOKEN_END ? SILT_OK : parser_fail(p, "the end of the statement");
}

silt_status parser_identifier(parser *p, str *out) {
    const token *t = parser_peek(p, 0);
    if (t->kind == TOKEN_NAME || (t->kind == TOKEN_QUOTED_NAME && t->text.len > 0)) {
        *out = t->text;
        p->at++;
        return SILT_OK;
    }
    return parser_fail(p, "a name");
}

silt_status parser_name(parser *p, name_parts *out) {
    str *parts = NULL;
    size_t count = 0, capacity = 0;
    do {
        str part;
        TRY(parser_identifier(p, &part));
        if (!ARENA_PUSH(p->a, parts, count, capacity, part)) return error_no_memory(p->err);
    } while (parser_accept_op(p, "."));
    *out = (name_parts){parts, count};
    return SILT_OK;
}

silt_status parser_string(parser *p, str *out) {
    const token *t = parser_peek(p, 0);
    if (t->kind != TOKEN_STRING) return parser_fail(p, "a string");
    p->at++;
    *out = t->text;
    while ((t = parser_peek(p, 0))->kind == TOKEN_STRING) { /* adjacent literals are one */
        char *joined = arena_alloc(p->a, out->len + t->text.len + 1); /* not printf: a string may hold NUL */
        if (!joined) return error_no_memory(p->err);
        if (out->len) memcpy(joined, out->ptr, out->len);
        if (t->text.len) memcpy(joined + out->len, t->text.ptr, t->text.len);
        joined[out->len + t->text.len] = '\0';
        *out = (str){joined, out->len + t->text.len};
        p->at++;
    }
    return SILT_OK;
}

silt_status parser_integer(parser *p, int64_t *out) {
    size_t start = p->at;
    bool negative = parser_accept_op(p, "-");
    const token *t = parser_peek(p, 0);
    int64_t v;
    if (t->kind != TOKEN_INTEGER || !str_to_i64(t->text, &v)) {
        p->at = start;
        return parser_fail(p, "a whole number");
    }
    p->at++;
    *out = negative ? -v : v;
    return SILT_OK;
}

/* One "k = v" of a property list: the key dotted or a string, the value a string, number or TRUE/FALSE (kept as written). */
static silt_status property(parser *p, str *key, str *val) {
    if (parser_peek(p, 0)->kind == TOKEN_STRING) {
        TRY(parser_string(p, key));
    } else {
        name_parts name;
        TRY(parser_name(p, &name));
        *key = name.parts[0];
        for (size_t i = 1; i < name.count; i++) {
            *key = arena_printf(p->a, "%.*s.%.*s", STR_ARG(*key), STR_ARG(name.parts[i]));
            if (!key->ptr) return error_no_memory(p->err);
        }
    }
    *val = STR("");
    bool equals = parser_accept_op(p, "=");
    const token *t = parser_peek(p, 0);
    if (t->kind == TOKEN_STRING) return parser_string(p, val);
    size_t from = t->from;
    bool sign = parser_accept_op(p, "-");
    t = parser_peek(p, 0);
    bool number = t->kind == TOKEN_INTEGER || t->kind == TOKEN_DECIMAL || t->kind == TOKEN_EXPONENT;
    if (number || (!sign && (parser_at_keyword(p, "TRUE") || parser_at_keyword(p, "FALSE")))) {
        p->at++;
        *val = str_slice(p->text, from, t->to);
        return SILT_OK;
    }
    return equals || sign ? parser_fail(p, "a property value") : SILT_OK;
}

static silt_status twice(parser *p, str key, uint32_t at) {
    silt_status s = err_DUPLICATE_KEY(p->err, key);
    error_detail(p->err, "%.*s", STR_ARG(lexer_caret(p->text, at, p->a)));
    return s;
}

silt_status parser_properties(parser *p, const str **keys, const str **values, size_t *count) {
    str *k = NULL, *v = NULL;
    size_t nk = 0, nv = 0, ck = 0, cv = 0;
    TRY(parser_expect_op(p, "("));
    do {
        str key, val;
        uint32_t from = parser_peek(p, 0)->from;
        TRY(property(p, &key, &val));
        for (size_t i = 0; i < nk; i++)
            if (str_eq(k[i], key)) return twice(p, key, from);
        if (!ARENA_PUSH(p->a, k, nk, ck, key) || !ARENA_PUSH(p->a, v, nv, cv, val)) return error_no_memory(p->err);
    } while (parser_accept_op(p, ","));
    TRY(parser_expect_op(p, ")"));
    *keys = k;
    *values = v;
    *count = nk;
    return SILT_OK;
}

/* What may follow a parenthesised query that is itself (part of) a query: the end, a set operation, ORDER BY … */
static bool continues_query(const token *t) {
    static const char *const words[] = {"UNION", "EXCEPT", "MINUS", "SETMINUS", "INTERSECT", "ORDER", "SORT", "CLUSTER", "DISTRIBUTE", "LIMIT", "OFFSET"};
    if (t->kind == TOKEN_END) return true;
    if (t->kind == TOKEN_OP) return str_eqz(t->text, ")") || str_eqz(t->text, ";");
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (is_keyword(t, words[i])) return true;
    return false;
}

/* Walks the opening parens inwards by a loop; each must hold a query and be followed by what continues one: ((SELECT 1) + 1) is an expression. */
bool parser_at_query(const parser *p) {
    size_t at = p->at;
    for (; p->tokens[at].kind == TOKEN_OP && str_eqz(p->tokens[at].text, "("); at++) {
        size_t close = p->tokens[at].close;
        if (p->tokens[close].kind != TOKEN_END && !continues_query(&p->tokens[close + 1])) return false;
    }
    static const char *const starts[] = {"SELECT", "WITH", "VALUES", "FROM"};
    const token *t = &p->tokens[at];
    const token *next = t->kind == TOKEN_END ? t : t + 1;
    for (size_t i = 0; i < ARRAY_LEN(starts); i++) { /* a column or function of that name is no query */
        if (is_keyword(t, starts[i])) return next->kind != TOKEN_END && !(next->kind == TOKEN_OP && strchr("),.=<>", next->text.ptr[0]));
    }
    return is_keyword(t, "TABLE") && (next->kind == TOKEN_NAME || next->kind == TOKEN_QUOTED_NAME);
}
