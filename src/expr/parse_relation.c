/* FROM items: tables with time travel, subqueries, VALUES, table functions, joins, LATERAL VIEW. */
#include "expr/parse_internal.h"

static silt_status new_relation(parser *p, relation_kind kind, relation **out) {
    NEW_OR_FAIL(*out, ARENA_NEW(p->a, relation));
    (*out)->kind = kind;
    (*out)->span.from = parser_peek(p, 0)->from;
    (*out)->sample_percent = -1;
    (*out)->sample_rows = -1;
    return SILT_OK;
}

static silt_status name_list(parser *p, const str **out, size_t *out_count) {
    str *names = NULL;
    size_t n = 0, capacity = 0;
    TRY(parser_expect_op(p, "("));
    do {
        str name;
        TRY(parser_identifier(p, &name));
        if (!ARENA_PUSH(p->a, names, n, capacity, name)) return error_no_memory(p->err);
    } while (parser_accept_op(p, ","));
    TRY(parser_expect_op(p, ")"));
    *out = names;
    *out_count = n;
    return SILT_OK;
}

/* [AS] alias [(c1, c2)] */
static silt_status parse_alias(parser *p, relation *r) {
    const token *t = parser_peek(p, 0);
    bool as = parser_accept_keyword(p, "AS");
    if (!as && t->kind != TOKEN_QUOTED_NAME && (t->kind != TOKEN_NAME || parse_is_clause_word(t->text))) return SILT_OK;
    if (as && parser_at_op(p, "(")) return name_list(p, &r->column_aliases, &r->n_column_aliases);
    TRY(parser_identifier(p, &r->alias));
    if (parser_at_op(p, "(")) TRY(name_list(p, &r->column_aliases, &r->n_column_aliases));
    return SILT_OK;
}

silt_status parser_travel(parser *p, travel_spec *travel) {
    size_t start = p->at;
    bool has_for = parser_accept_keyword(p, "FOR");
    bool version = parser_accept_keyword(p, "SYSTEM_VERSION") || parser_accept_keyword(p, "VERSION");
    bool timestamp = !version && (parser_accept_keyword(p, "SYSTEM_TIME") || parser_accept_keyword(p, "TIMESTAMP"));
    if ((!version && !timestamp) || !parser_accept_keywords(p, "AS", "OF")) {
        p->at = start;
        return has_for && (version || timestamp) ? parser_fail(p, "AS OF") : SILT_OK;
    }
    if (timestamp) return parse_value_expr(p, &travel->timestamp);
    const token *t = parser_peek(p, 0);
    if (t->kind != TOKEN_INTEGER && t->kind != TOKEN_STRING && !parser_at_op(p, ":") && !parser_at_op(p, "?")) return parser_fail(p, "a version number");
    return parse_value_expr(p, &travel->version);
}

static silt_status parse_sample(parser *p, relation *r) {
    if (!parser_accept_keyword(p, "TABLESAMPLE")) return SILT_OK;
    TRY(parser_expect_op(p, "("));
    const token *t = parser_peek(p, 0);
    double number;
    if ((t->kind != TOKEN_INTEGER && t->kind != TOKEN_DECIMAL) || !str_to_f64(t->text, &number)) return parser_fail(p, "a number");
    p->at++;
    if (parser_accept_keyword(p, "PERCENT")) {
        if (number < 0 || number > 100) return parser_fail(p, "a percentage from 0 to 100");
        r->sample_percent = number;
    } else if (parser_accept_keyword(p, "ROWS") && t->kind == TOKEN_INTEGER) {
        r->sample_rows = (int64_t)number;
    } else {
        return parser_fail(p, "PERCENT or ROWS");
    }
    TRY(parser_expect_op(p, ")"));
    if (parser_accept_keyword(p, "REPEATABLE")) {
        int64_t seed;
        TRY(parser_expect_op(p, "("));
        TRY(parser_integer(p, &seed));
        TRY(parser_expect_op(p, ")"));
    }
    return SILT_OK;
}

silt_status parser_table_ref(parser *p, relation **out) {
    relation *r;
    TRY(new_relation(p, REL_TABLE, &r));
    TRY(parser_name(p, &r->name));
    const token *next = parser_peek(p, 1);
    if (parser_at_keyword(p, "WITH") && next->kind == TOKEN_OP && str_eqz(next->text, "(")) {
        p->at++;
        TRY(parser_properties(p, &r->option_keys, &r->option_values, &r->n_options));
    }
    TRY(parser_travel(p, &r->travel));
    TRY(parse_sample(p, r));
    TRY(parse_alias(p, r));
    r->span = span_from(p, r->span.from);
    *out = r;
    return SILT_OK;
}

/* VALUES (1, 'a'), (2, 'b') or VALUES 1, 2 */
static silt_status parse_values(parser *p, relation **out) {
    relation *r;
    expr ***rows = NULL;
    size_t n = 0, capacity = 0;
    TRY(new_relation(p, REL_VALUES, &r));
    p->at++;
    do {
        expr_list list = {0};
        expr *e;
        uint32_t from = parser_peek(p, 0)->from;
        TRY(parser_expr(p, &e));
        bool row = e->kind == EXPR_CALL && str_eqz(e->function_name, "struct") && e->span.from == from && p->text.ptr[from] == '(';
        if (row) list = (expr_list){e->args, e->n_args, e->n_args};
        else TRY(parse_list_add(p, &list, e));
        if (n > 0 && list.count != r->n_row_columns) {
            silt_status s = err_INVALID_INLINE_TABLE(p->err, (int64_t)r->n_row_columns, (int64_t)list.count);
            error_detail(p->err, "%.*s", STR_ARG(lexer_caret(p->text, from, p->a)));
            return s;
        }
        r->n_row_columns = list.count;
        if (!ARENA_PUSH(p->a, rows, n, capacity, list.items)) return error_no_memory(p->err);
    } while (parser_accept_op(p, ","));
    r->rows = rows;
    r->n_rows = n;
    TRY(parse_alias(p, r));
    r->span = span_from(p, r->span.from);
    *out = r;
    return SILT_OK;
}

static silt_status parse_table_function(parser *p, relation **out) {
    relation *r;
    name_parts name;
    expr *call;
    TRY(new_relation(p, REL_FUNCTION, &r));
    TRY(parser_name(p, &name));
    TRY(parse_call(p, name, r->span.from, &call));
    r->name = name;
    r->function_name = call->function_name;
    r->args = call->args;
    r->n_args = call->n_args;
    TRY(parse_alias(p, r));
    r->span = span_from(p, r->span.from);
    *out = r;
    return SILT_OK;
}

static silt_status parse_parenthesised(parser *p, relation **out) {
    relation *r;
    parser inner = *p;
    inner.at++;
    if (parser_at_query(&inner)) { /* ((SELECT 1)) is a query, ((SELECT 1) a JOIN b) a relation */
        TRY(new_relation(p, REL_SUBQUERY, &r));
        TRY(parse_subquery(p, &r->subquery));
        TRY(parse_sample(p, r));
        TRY(parse_alias(p, r));
        r->span = span_from(p, r->span.from);
        *out = r;
        return SILT_OK;
    }
    p->at++;
    TRY(parser_relation(p, &r));
    TRY(parser_expect_op(p, ")"));
    relation named = {0};
    TRY(parse_alias(p, &named));
    if (named.alias.ptr) return parser_fail(p, "no alias on a parenthesised join");
    *out = r;
    return SILT_OK;
}

static silt_status parse_relation_primary(parser *p, relation **out) {
    (void)parser_accept_keyword(p, "LATERAL"); /* noted by the caller */
    if (parser_at_op(p, "(")) return parse_parenthesised(p, out);
    const token *next = parser_peek(p, 1);
    bool call = next->kind == TOKEN_OP && str_eqz(next->text, "(");
    if (parser_at_keyword(p, "VALUES")) return parse_values(p, out);
    if (call && parser_peek(p, 0)->kind == TOKEN_NAME) return parse_table_function(p, out);
    const token *t = parser_peek(p, 0);
    if (t->kind == TOKEN_NAME && parse_is_clause_word(t->text) && !(next->kind == TOKEN_OP && str_eqz(next->text, "."))) return parser_fail(p, "a table, a subquery or a table function");
    return parser_table_ref(p, out);
}

/* ---- joins ---- */

static bool accept_join(parser *p, join_type *type, bool *natural) {
    size_t start = p->at;
    *natural = parser_accept_keyword(p, "NATURAL");
    *type = JOIN_INNER;
    bool left = parser_accept_keyword(p, "LEFT");
    if (parser_accept_keyword(p, "SEMI")) *type = JOIN_LEFT_SEMI;
    else if (parser_accept_keyword(p, "ANTI")) *type = JOIN_LEFT_ANTI;
    else if (left) *type = JOIN_LEFT, (void)parser_accept_keyword(p, "OUTER");
    else if (parser_accept_keyword(p, "RIGHT")) *type = JOIN_RIGHT, (void)parser_accept_keyword(p, "OUTER");
    else if (parser_accept_keyword(p, "FULL")) *type = JOIN_FULL, (void)parser_accept_keyword(p, "OUTER");
    else if (parser_accept_keyword(p, "CROSS")) *type = JOIN_CROSS;
    else (void)parser_accept_keyword(p, "INNER");
    if (parser_accept_keyword(p, "JOIN")) return true;
    p->at = start;
    return false;
}

static silt_status parse_lateral_view(parser *p, relation *left, relation **out) {
    relation *r;
    TRY(new_relation(p, REL_LATERAL_VIEW, &r));
    p->at += 2;
    r->left = left;
    r->outer = parser_accept_keyword(p, "OUTER");
    name_parts name;
    expr *call;
    uint32_t from = parser_peek(p, 0)->from;
    TRY(parser_name(p, &name));
    TRY(parse_call(p, name, from, &call));
    expr_list list = {0};
    TRY(parse_list_add(p, &list, call));
    r->args = list.items;
    r->n_args = 1;
    r->function_name = call->function_name;
    const token *t = parser_peek(p, 0);
    if (!parser_at_keyword(p, "AS") && (t->kind == TOKEN_QUOTED_NAME || (t->kind == TOKEN_NAME && !parse_is_clause_word(t->text)))) TRY(parser_identifier(p, &r->alias));
    if (parser_accept_keyword(p, "AS")) {
        str *names = NULL;
        size_t n = 0, capacity = 0;
        do {
            str column;
            TRY(parser_identifier(p, &column));
            if (!ARENA_PUSH(p->a, names, n, capacity, column)) return error_no_memory(p->err);
        } while (parser_accept_op(p, ","));
        r->column_aliases = names;
        r->n_column_aliases = n;
    }
    r->span = span_from(p, r->span.from);
    *out = r;
    return SILT_OK;
}

silt_status parser_relation(parser *p, relation **out) {
    uint32_t from = parser_peek(p, 0)->from;
    relation *left;
    TRY(parse_enter(p));
    TRY(parse_relation_primary(p, &left));
    for (;;) {
        join_type type;
        bool natural;
        if (parser_at_keywords(p, "LATERAL", "VIEW")) {
            TRY(parse_lateral_view(p, left, &left));
            continue;
        }
        if (parser_at_keyword(p, "PIVOT") || parser_at_keyword(p, "UNPIVOT")) {
            const token *next = parser_peek(p, 1);
            if (next->kind == TOKEN_OP && str_eqz(next->text, "(")) return err_UNSUPPORTED_FEATURE(p->err, "PIVOT and UNPIVOT");
        }
        if (!accept_join(p, &type, &natural)) break;
        relation *join;
        TRY(new_relation(p, REL_JOIN, &join));
        join->join = type;
        join->natural = natural;
        join->left = left;
        join->lateral = parser_at_keyword(p, "LATERAL");
        TRY(parse_relation_primary(p, &join->right));
        if (parser_accept_keyword(p, "ON")) TRY(parser_expr(p, &join->on));
        else if (parser_accept_keyword(p, "USING")) TRY(name_list(p, &join->using_columns, &join->n_using_columns));
        join->span = span_from(p, from);
        left = join;
    }
    parse_leave(p);
    *out = left;
    return SILT_OK;
}
