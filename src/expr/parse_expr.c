/*
 * Expressions by precedence climbing, in the layers of Spark's grammar (SqlBaseParser.g4): OR < AND < NOT < predicates (BETWEEN, IN, LIKE, IS) < comparison
 * < | < ^ < & < shifts < + - || < * / % DIV < unary < postfix. Comparison binds tighter than the predicates, so `a = b IS NULL` is `(a = b) IS NULL`.
 */
#include "expr/parse_internal.h"

static silt_status too_deep(parser *p) {
    silt_status s = err_PARSE_SYNTAX_ERROR(p->err, STR("…"));
    error_detail(p->err, "the statement nests deeper than %d levels", PARSER_MAX_DEPTH);
    return s;
}

silt_status parse_enter(parser *p) { return ++p->depth <= PARSER_MAX_DEPTH ? SILT_OK : too_deep(p); }

silt_status parse_list_add(parser *p, expr_list *list, expr *e) {
    return ARENA_PUSH(p->a, list->items, list->count, list->capacity, e) ? SILT_OK : error_no_memory(p->err);
}

silt_status parse_expr_list(parser *p, expr_list *out) {
    do {
        expr *e;
        TRY(parser_expr(p, &e));
        TRY(parse_list_add(p, out, e));
    } while (parser_accept_op(p, ","));
    return SILT_OK;
}

static silt_status call2(parser *p, const char *fn, expr *a, expr *b, uint32_t from, expr **out) {
    NEW_OR_FAIL(*out, expr_call(p->a, fn, (expr *[]){a, b}, 2, span_from(p, from)));
    return SILT_OK;
}

static silt_status call1(parser *p, const char *fn, expr *a, uint32_t from, expr **out) {
    NEW_OR_FAIL(*out, expr_call(p->a, fn, &a, 1, span_from(p, from)));
    return SILT_OK;
}

/* A tree of halves over items[low, high], as Spark builds it: a condition of thousands of terms is a dozen levels deep. */
static silt_status halves(parser *p, const char *fn, const expr_list *list, size_t low, size_t high, expr **out) {
    *out = list->items[low];
    if (low == high) return SILT_OK;
    size_t middle = low + (high - low) / 2;
    expr *left, *right;
    TRY(halves(p, fn, list, low, middle, &left));
    TRY(halves(p, fn, list, middle + 1, high, &right));
    NEW_OR_FAIL(*out, expr_call(p->a, fn, (expr *[]){left, right}, 2, (source_span){left->span.from, right->span.to}));
    return SILT_OK;
}

static silt_status bool_literal(parser *p, bool b, expr **out) {
    NEW_OR_FAIL(*out, expr_literal(p->a, (value){.type = &type_boolean, .as.boolean = b}, span_from(p, parser_peek(p, 0)->from)));
    return SILT_OK;
}

/* ---- value expressions ---- */

/* Binary operator at the current token: its function name, precedence (higher binds tighter) and how many tokens it takes. */
static int binary_operator(const parser *p, const char **fn, size_t *tokens) {
    static const struct { const char *op, *fn; int level; } table[] = {
        {"=", "=", 1}, {"==", "=", 1}, {"<=>", "<=>", 1}, {"<>", "<>", 1}, {"!=", "<>", 1}, {"<", "<", 1}, {"<=", "<=", 1}, {"!>", "<=", 1},
        {">", ">", 1}, {">=", ">=", 1}, {"!<", ">=", 1}, {"|", "|", 2}, {"^", "^", 3}, {"&", "&", 4}, {"<<", "shiftleft", 5},
        {"+", "+", 6}, {"-", "-", 6}, {"||", "||", 6}, {"*", "*", 7}, {"/", "/", 7}, {"%", "%", 7},
    };
    const token *t = parser_peek(p, 0);
    *tokens = 1;
    if (t->kind == TOKEN_NAME && str_eq_ascii_fold(t->text, STR("DIV"))) {
        *fn = "div";
        return 7;
    }
    if (t->kind != TOKEN_OP) return 0;
    if (str_eqz(t->text, ">")) { /* >> and >>> are adjacent '>' tokens */
        const token *b = parser_peek(p, 1), *c = parser_peek(p, 2);
        if (b->kind == TOKEN_OP && b->from == t->to && str_eqz(b->text, ">")) {
            bool three = c->kind == TOKEN_OP && c->from == b->to && str_eqz(c->text, ">");
            *fn = three ? "shiftrightunsigned" : "shiftright";
            *tokens = three ? 3 : 2;
            return 5;
        }
    }
    for (size_t i = 0; i < ARRAY_LEN(table); i++) {
        if (str_eqz(t->text, table[i].op)) {
            *fn = table[i].fn;
            return table[i].level;
        }
    }
    return 0;
}

static silt_status parse_unary(parser *p, expr **out) {
    uint32_t from = parser_peek(p, 0)->from;
    const char *fn = parser_at_op(p, "-") ? "negative" : parser_at_op(p, "+") ? "positive" : parser_at_op(p, "~") ? "~" : NULL;
    if (!fn) return parse_primary(p, out);
    p->at++;
    const token *t = parser_peek(p, 0);
    bool number = t->kind == TOKEN_INTEGER || t->kind == TOKEN_DECIMAL || t->kind == TOKEN_EXPONENT;
    if (*fn == 'n' && number) { /* a sign is part of the number: -9223372036854775808 is a BIGINT */
        const token *after = parser_peek(p, 1);
        bool postfix = after->kind == TOKEN_OP && (str_eqz(after->text, "[") || str_eqz(after->text, "::"));
        if (!postfix) return parse_number(p, true, from, out);
    }
    expr *e;
    TRY(parse_enter(p));
    TRY(parse_unary(p, &e));
    parse_leave(p);
    return call1(p, fn, e, from, out);
}

static silt_status parse_binary(parser *p, int min_level, expr **out) {
    uint32_t from = parser_peek(p, 0)->from;
    expr *left;
    TRY(parse_enter(p));
    TRY(parse_unary(p, &left));
    for (int links = 0;; links++) { /* a chain grows a tree as deep as it is long */
        const char *fn;
        size_t tokens;
        int level = binary_operator(p, &fn, &tokens);
        if (level == 0 || level < min_level) break;
        if (links > 2 * PARSER_MAX_DEPTH) return too_deep(p);
        p->at += tokens;
        expr *right;
        TRY(parse_binary(p, level + 1, &right));
        TRY(call2(p, fn, left, right, from, &left));
    }
    parse_leave(p);
    *out = left;
    return SILT_OK;
}

silt_status parse_value_expr(parser *p, expr **out) { return parse_binary(p, 1, out); }

/* ---- predicates ---- */

static silt_status negate_if(parser *p, bool negated, uint32_t from, expr **e) { return negated ? call1(p, "not", *e, from, e) : SILT_OK; }

static silt_status parse_between(parser *p, expr *left, bool negated, uint32_t from, expr **out) {
    expr *args[3] = {left};
    TRY(parse_value_expr(p, &args[1]));
    TRY(parser_expect_keyword(p, "AND"));
    TRY(parse_value_expr(p, &args[2]));
    NEW_OR_FAIL(*out, expr_call(p->a, "between", args, 3, span_from(p, from)));
    (*out)->negated = negated;
    return SILT_OK;
}

static silt_status parse_in(parser *p, expr *left, bool negated, uint32_t from, expr **out) {
    expr *e;
    if (!parser_at_op(p, "(")) return parser_fail(p, "'(' after IN");
    p->at++;
    bool is_query = parser_at_query(p);
    p->at--;
    if (is_query) {
        NEW_OR_FAIL(e, expr_new(p->a, EXPR_IN_SUBQUERY, (source_span){from, from}));
        bool row = left->kind == EXPR_CALL && str_eqz(left->function_name, "struct") && left->span.from < left->span.to && p->text.ptr[left->span.from] == '(';
        expr_list list = {0};
        if (row) {
            for (size_t i = 0; i < left->n_args; i++) TRY(parse_list_add(p, &list, left->args[i]));
        } else {
            TRY(parse_list_add(p, &list, left));
        }
        e->args = list.items;
        e->n_args = list.count;
        TRY(parse_subquery(p, &e->subquery));
    } else {
        p->at++;
        expr_list list = {0};
        TRY(parse_list_add(p, &list, left));
        if (parser_at_op(p, ")")) return parser_fail(p, "a value");
        TRY(parse_expr_list(p, &list));
        TRY(parser_expect_op(p, ")"));
        NEW_OR_FAIL(e, expr_call(p->a, "in", list.items, list.count, (source_span){from, from}));
    }
    e->negated = negated;
    e->span = span_from(p, from);
    *out = e;
    return SILT_OK;
}

/* LIKE 'p' [ESCAPE 'c'], and LIKE ANY|SOME|ALL (p, …), which is an OR or AND of plain ones. */
static silt_status parse_like(parser *p, const char *fn, expr *left, bool negated, uint32_t from, expr **out) {
    bool any = parser_at_keyword(p, "ANY") || parser_at_keyword(p, "SOME"), all = parser_at_keyword(p, "ALL");
    const token *next = parser_peek(p, 1);
    if ((any || all) && next->kind == TOKEN_OP && str_eqz(next->text, "(")) {
        p->at += 2;
        expr_list patterns = {0};
        TRY(parse_expr_list(p, &patterns));
        TRY(parser_expect_op(p, ")"));
        for (size_t i = 0; i < patterns.count; i++) {
            TRY(call2(p, fn, left, patterns.items[i], from, &patterns.items[i]));
            patterns.items[i]->negated = negated;
        }
        return halves(p, any ? "or" : "and", &patterns, 0, patterns.count - 1, out);
    }
    expr *args[3] = {left};
    size_t n = 2;
    TRY(parse_value_expr(p, &args[1]));
    if (parser_accept_keyword(p, "ESCAPE")) {
        str escape;
        TRY(parser_string(p, &escape));
        NEW_OR_FAIL(args[2], expr_literal_str(p->a, escape));
        n = 3;
    }
    NEW_OR_FAIL(*out, expr_call(p->a, fn, args, n, span_from(p, from)));
    (*out)->negated = negated;
    return SILT_OK;
}

static silt_status parse_is(parser *p, expr *left, uint32_t from, expr **out) {
    bool negated = parser_accept_keyword(p, "NOT");
    if (parser_accept_keyword(p, "NULL")) return call1(p, negated ? "isnotnull" : "isnull", left, from, out);
    if (parser_accept_keyword(p, "UNKNOWN")) return call1(p, negated ? "isnotnull" : "isnull", left, from, out);
    bool is_true = parser_at_keyword(p, "TRUE");
    if (is_true || parser_at_keyword(p, "FALSE")) {
        p->at++;
        expr *b;
        TRY(bool_literal(p, is_true, &b));
        TRY(call2(p, "<=>", left, b, from, out));
        return negate_if(p, negated, from, out);
    }
    if (parser_accept_keywords(p, "DISTINCT", "FROM")) {
        expr *right;
        TRY(parse_value_expr(p, &right));
        TRY(call2(p, "<=>", left, right, from, out));
        return negate_if(p, !negated, from, out);
    }
    return parser_fail(p, "NULL, TRUE, FALSE, UNKNOWN or DISTINCT FROM");
}

static silt_status parse_predicated(parser *p, expr **out) {
    uint32_t from = parser_peek(p, 0)->from;
    TRY(parse_value_expr(p, out));
    for (;;) { /* Spark takes one predicate; a chain (a IS NULL IS NULL) is read left to right */
        size_t start = p->at;
        bool negated = parser_accept_keyword(p, "NOT") || (parser_at_op(p, "!") && (p->at++, true));
        if (parser_accept_keyword(p, "BETWEEN")) TRY(parse_between(p, *out, negated, from, out));
        else if (parser_accept_keyword(p, "IN")) TRY(parse_in(p, *out, negated, from, out));
        else if (parser_accept_keyword(p, "LIKE")) TRY(parse_like(p, "like", *out, negated, from, out));
        else if (parser_accept_keyword(p, "ILIKE")) TRY(parse_like(p, "ilike", *out, negated, from, out));
        else if (parser_accept_keyword(p, "RLIKE") || parser_accept_keyword(p, "REGEXP")) TRY(parse_like(p, "rlike", *out, negated, from, out));
        else if (!negated && parser_accept_keyword(p, "IS")) TRY(parse_is(p, *out, from, out));
        else {
            p->at = start;
            return SILT_OK;
        }
    }
}

static bool at_exists(const parser *p) {
    const token *next = parser_peek(p, 1);
    if (!parser_at_keyword(p, "EXISTS") || next->kind != TOKEN_OP || !str_eqz(next->text, "(")) return false;
    parser inner = *p;
    inner.at += 2;
    return parser_at_query(&inner);
}

static silt_status parse_not(parser *p, expr **out) {
    uint32_t from = parser_peek(p, 0)->from;
    const token *next = parser_peek(p, 1);
    bool not_word = parser_at_keyword(p, "NOT") && !(next->kind == TOKEN_OP && strchr("),.", next->text.ptr[0])) && next->kind != TOKEN_END;
    if (not_word || parser_at_op(p, "!")) {
        p->at++;
        expr *e;
        TRY(parse_enter(p));
        TRY(parse_not(p, &e));
        parse_leave(p);
        return call1(p, "not", e, from, out);
    }
    if (at_exists(p)) {
        p->at++;
        expr *e;
        NEW_OR_FAIL(e, expr_new(p->a, EXPR_EXISTS, (source_span){from, from}));
        TRY(parse_subquery(p, &e->subquery));
        e->span = span_from(p, from);
        *out = e;
        return SILT_OK;
    }
    return parse_predicated(p, out);
}

static silt_status parse_chain(parser *p, const char *keyword, const char *fn, silt_status (*term)(parser *p, expr **out), expr **out) {
    TRY(term(p, out));
    if (!parser_at_keyword(p, keyword)) return SILT_OK;
    expr_list list = {0};
    TRY(parse_list_add(p, &list, *out));
    while (parser_accept_keyword(p, keyword)) {
        expr *next;
        TRY(term(p, &next));
        TRY(parse_list_add(p, &list, next));
    }
    return halves(p, fn, &list, 0, list.count - 1, out);
}

static silt_status parse_and(parser *p, expr **out) { return parse_chain(p, "AND", "and", parse_not, out); }

silt_status parser_expr(parser *p, expr **out) {
    TRY(parse_enter(p));
    TRY(parse_chain(p, "OR", "or", parse_and, out));
    parse_leave(p);
    return SILT_OK;
}

bool parse_is_clause_word(str word) {
    static const char *const words[] = {
        "FROM", "WHERE", "GROUP", "HAVING", "ORDER", "SORT", "CLUSTER", "DISTRIBUTE", "LIMIT", "OFFSET", "UNION", "EXCEPT", "MINUS", "SETMINUS", "INTERSECT", "WINDOW",
        "QUALIFY", "LATERAL", "JOIN", "INNER", "CROSS", "LEFT", "RIGHT", "FULL", "NATURAL", "SEMI", "ANTI", "ON", "USING", "PIVOT", "UNPIVOT", "TABLESAMPLE", "WHEN", "THEN",
        "ELSE", "END", "AND", "OR", "NOT", "IN", "BETWEEN", "LIKE", "ILIKE", "RLIKE", "REGEXP", "IS", "DIV", "SET", "AS", "WITH", "FOR", "VERSION", "TIMESTAMP", "SYSTEM_VERSION",
        "SYSTEM_TIME", "ESCAPE", "VALUES", "SELECT", "OPTIONS",
    };
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (str_eq_ascii_fold(word, str_of(words[i]))) return true;
    return false;
}

silt_status parser_named_expr(parser *p, expr **out) {
    uint32_t from = parser_peek(p, 0)->from;
    expr *e;
    TRY(parser_expr(p, &e));
    str *aliases = NULL;
    size_t n = 0, capacity = 0;
    const token *t = parser_peek(p, 0);
    bool as = parser_accept_keyword(p, "AS");
    if (as && parser_accept_op(p, "(")) {
        do {
            str name;
            TRY(parser_identifier(p, &name));
            if (!ARENA_PUSH(p->a, aliases, n, capacity, name)) return error_no_memory(p->err);
        } while (parser_accept_op(p, ","));
        TRY(parser_expect_op(p, ")"));
    } else if (as || t->kind == TOKEN_QUOTED_NAME || (t->kind == TOKEN_NAME && !parse_is_clause_word(t->text))) {
        str name;
        TRY(parser_identifier(p, &name));
        if (!ARENA_PUSH(p->a, aliases, n, capacity, name)) return error_no_memory(p->err);
    }
    if (n == 0) {
        *out = e;
        return SILT_OK;
    }
    expr *named;
    NEW_OR_FAIL(named, expr_new(p->a, EXPR_NAMED, span_from(p, from)));
    expr_list list = {0};
    TRY(parse_list_add(p, &list, e));
    named->args = list.items;
    named->n_args = 1;
    named->aliases = aliases;
    named->n_aliases = n;
    *out = named;
    return SILT_OK;
}

silt_status parser_sort_keys(parser *p, sort_key **out, size_t *out_count) {
    sort_key *keys = NULL;
    size_t count = 0, capacity = 0;
    do {
        sort_key key = {0};
        TRY(parser_expr(p, &key.value));
        if (parser_accept_keyword(p, "DESC")) key.descending = true;
        else (void)parser_accept_keyword(p, "ASC");
        key.nulls_first = !key.descending;
        if (parser_accept_keywords(p, "NULLS", "FIRST")) key.nulls_first = true;
        else if (parser_accept_keywords(p, "NULLS", "LAST")) key.nulls_first = false;
        if (!ARENA_PUSH(p->a, keys, count, capacity, key)) return error_no_memory(p->err);
    } while (parser_accept_op(p, ","));
    *out = keys;
    *out_count = count;
    return SILT_OK;
}

silt_status expr_parse(str text, arena *a, expr **out, silt_error *err) {
    parser p;
    TRY(parser_init(&p, text, a, err));
    TRY(parser_expr(&p, out));
    return parser_expect_end(&p);
}
