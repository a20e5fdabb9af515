/* Primary expressions: literals, names, calls with everything that may follow them, CASE, CAST, subqueries, lambdas, and postfix . [] :: and : */
#include "expr/parse_internal.h"

static bool at_name_then(const parser *p, const char *op) {
    const token *next = parser_peek(p, 1);
    return parser_peek(p, 0)->kind == TOKEN_NAME && next->kind == TOKEN_OP && str_eqz(next->text, op);
}

/* (SELECT … is no argument list: a condition that ends in a name may stand before an enclosed query. */
static bool at_enclosed_query(const parser *p) {
    const token *t = parser_peek(p, 1);
    return t->kind == TOKEN_NAME && (str_eq_ascii_fold(t->text, STR("SELECT")) || str_eq_ascii_fold(t->text, STR("WITH")));
}

static bool at_call_of(const parser *p, const char *name) { return at_name_then(p, "(") && parser_at_keyword(p, name); }

silt_status parse_subquery(parser *p, query **out) {
    TRY(parser_expect_op(p, "("));
    TRY(parser_query(p, out));
    return parser_expect_op(p, ")");
}

static silt_status make_cast(parser *p, expr *e, const data_type *type, bool is_try, uint32_t from, expr **out) {
    expr_list list = {0};
    TRY(parse_list_add(p, &list, e));
    NEW_OR_FAIL(*out, expr_new(p->a, EXPR_CAST, span_from(p, from)));
    (*out)->args = list.items;
    (*out)->n_args = 1;
    (*out)->cast_type = type;
    (*out)->is_try = is_try;
    return SILT_OK;
}

static silt_status parse_cast(parser *p, bool is_try, expr **out) {
    uint32_t from = parser_peek(p, 0)->from;
    p->at++;
    TRY(parser_expect_op(p, "("));
    expr *e;
    const data_type *type;
    TRY(parser_expr(p, &e));
    TRY(parser_expect_keyword(p, "AS"));
    TRY(parser_type(p, &type));
    TRY(parser_expect_op(p, ")"));
    return make_cast(p, e, type, is_try, from, out);
}

static silt_status parse_case(parser *p, expr **out) {
    uint32_t from = parser_peek(p, 0)->from;
    p->at++;
    expr_list list = {0};
    bool has_operand = !parser_at_keyword(p, "WHEN"), has_else = false;
    expr *e;
    if (has_operand) {
        TRY(parser_expr(p, &e));
        TRY(parse_list_add(p, &list, e));
    }
    if (!parser_at_keyword(p, "WHEN")) return parser_fail(p, "WHEN");
    while (parser_accept_keyword(p, "WHEN")) {
        TRY(parser_expr(p, &e));
        TRY(parse_list_add(p, &list, e));
        TRY(parser_expect_keyword(p, "THEN"));
        TRY(parser_expr(p, &e));
        TRY(parse_list_add(p, &list, e));
    }
    if (parser_accept_keyword(p, "ELSE")) {
        has_else = true;
        TRY(parser_expr(p, &e));
        TRY(parse_list_add(p, &list, e));
    }
    TRY(parser_expect_keyword(p, "END"));
    NEW_OR_FAIL(*out, expr_new(p->a, EXPR_CASE, span_from(p, from)));
    (*out)->args = list.items;
    (*out)->n_args = list.count;
    (*out)->has_operand = has_operand;
    (*out)->has_else = has_else;
    return SILT_OK;
}

/* ---- windows ---- */

static silt_status frame_bound(parser *p, frame_bound_kind *kind, expr **distance) {
    if (parser_accept_keywords(p, "CURRENT", "ROW")) {
        *kind = FRAME_CURRENT_ROW;
        return SILT_OK;
    }
    bool unbounded = parser_accept_keyword(p, "UNBOUNDED");
    if (!unbounded) TRY(parse_value_expr(p, distance)); /* AND ends a bound */
    if (parser_accept_keyword(p, "PRECEDING")) *kind = unbounded ? FRAME_UNBOUNDED_PRECEDING : FRAME_PRECEDING;
    else if (parser_accept_keyword(p, "FOLLOWING")) *kind = unbounded ? FRAME_UNBOUNDED_FOLLOWING : FRAME_FOLLOWING;
    else return parser_fail(p, "PRECEDING or FOLLOWING");
    return SILT_OK;
}

silt_status parse_window_spec(parser *p, window_spec **out) {
    window_spec *w;
    NEW_OR_FAIL(w, ARENA_NEW(p->a, window_spec));
    *out = w;
    if (!parser_accept_op(p, "(")) return parser_identifier(p, &w->base_name);
    const token *t = parser_peek(p, 0);
    bool clause = parser_at_keyword(p, "PARTITION") || parser_at_keyword(p, "ORDER") || parser_at_keyword(p, "ROWS") || parser_at_keyword(p, "RANGE") ||
                  parser_at_keyword(p, "DISTRIBUTE") || parser_at_keyword(p, "SORT") || parser_at_keyword(p, "CLUSTER");
    if ((t->kind == TOKEN_NAME && !clause) || t->kind == TOKEN_QUOTED_NAME) TRY(parser_identifier(p, &w->base_name));
    if (parser_accept_keywords(p, "PARTITION", "BY") || parser_accept_keywords(p, "DISTRIBUTE", "BY")) {
        expr_list list = {0};
        TRY(parse_expr_list(p, &list));
        w->partition_by = list.items;
        w->n_partition_by = list.count;
    }
    if (parser_accept_keywords(p, "ORDER", "BY") || parser_accept_keywords(p, "SORT", "BY")) {
        sort_key *keys;
        TRY(parser_sort_keys(p, &keys, &w->n_order_by));
        w->order_by = keys;
    }
    if (parser_at_keyword(p, "ROWS") || parser_at_keyword(p, "RANGE")) {
        w->has_frame = true;
        w->is_range = parser_at_keyword(p, "RANGE");
        p->at++;
        w->end_kind = FRAME_CURRENT_ROW;
        if (parser_accept_keyword(p, "BETWEEN")) {
            TRY(frame_bound(p, &w->start_kind, &w->start));
            TRY(parser_expect_keyword(p, "AND"));
            TRY(frame_bound(p, &w->end_kind, &w->end));
        } else {
            TRY(frame_bound(p, &w->start_kind, &w->start));
        }
    }
    return parser_expect_op(p, ")");
}

/* ---- calls ---- */

static silt_status call_tail(parser *p, expr *e) {
    if (parser_accept_keywords(p, "WITHIN", "GROUP")) {
        TRY(parser_expect_op(p, "("));
        TRY(parser_expect_keyword(p, "ORDER"));
        TRY(parser_expect_keyword(p, "BY"));
        sort_key *keys;
        TRY(parser_sort_keys(p, &keys, &e->n_within_order));
        e->within_order = keys;
        TRY(parser_expect_op(p, ")"));
    }
    const token *next = parser_peek(p, 1);
    if (parser_at_keyword(p, "FILTER") && next->kind == TOKEN_OP && str_eqz(next->text, "(")) {
        p->at += 2;
        TRY(parser_expect_keyword(p, "WHERE"));
        TRY(parser_expr(p, &e->filter));
        TRY(parser_expect_op(p, ")"));
    }
    if (parser_accept_keywords(p, "IGNORE", "NULLS")) e->ignore_nulls = true;
    else (void)parser_accept_keywords(p, "RESPECT", "NULLS");
    if (parser_accept_keyword(p, "OVER")) TRY(parse_window_spec(p, &e->over));
    return SILT_OK;
}

static bool at_lambda(const parser *p) {
    if (at_name_then(p, "->")) return true;
    if (!parser_at_op(p, "(")) return false;
    size_t i = 1; /* ( name [, name]* ) -> */
    for (;;) {
        const token *name = parser_peek(p, i), *sep = parser_peek(p, i + 1);
        if ((name->kind != TOKEN_NAME && name->kind != TOKEN_QUOTED_NAME) || sep->kind != TOKEN_OP) return false;
        i += 2;
        if (str_eqz(sep->text, ")")) break;
        if (!str_eqz(sep->text, ",")) return false;
    }
    const token *arrow = parser_peek(p, i);
    return arrow->kind == TOKEN_OP && str_eqz(arrow->text, "->");
}

static silt_status parse_lambda(parser *p, expr **out) {
    uint32_t from = parser_peek(p, 0)->from;
    str *names = NULL;
    size_t n = 0, capacity = 0;
    bool parens = parser_accept_op(p, "(");
    do {
        str name;
        TRY(parser_identifier(p, &name));
        if (!ARENA_PUSH(p->a, names, n, capacity, name)) return error_no_memory(p->err);
    } while (parens && parser_accept_op(p, ","));
    if (parens) TRY(parser_expect_op(p, ")"));
    TRY(parser_expect_op(p, "->"));
    expr *body;
    TRY(parser_expr(p, &body));
    expr_list list = {0};
    TRY(parse_list_add(p, &list, body));
    NEW_OR_FAIL(*out, expr_new(p->a, EXPR_LAMBDA, span_from(p, from)));
    (*out)->args = list.items;
    (*out)->n_args = 1;
    (*out)->lambda_params = names;
    (*out)->n_lambda_params = n;
    return SILT_OK;
}

static silt_status call_argument(parser *p, expr **out) {
    if (at_lambda(p)) return parse_lambda(p, out);
    uint32_t from = parser_peek(p, 0)->from;
    if (parser_accept_op(p, "*")) {
        NEW_OR_FAIL(*out, expr_new(p->a, EXPR_STAR, span_from(p, from)));
        return SILT_OK;
    }
    return parser_named_expr(p, out); /* struct(a AS x) names its fields */
}

silt_status parse_call(parser *p, name_parts name, uint32_t from, expr **out) {
    expr_list list = {0};
    bool distinct = false;
    TRY(parser_expect_op(p, "("));
    if (!parser_at_op(p, ")")) {
        distinct = parser_accept_keyword(p, "DISTINCT");
        if (!distinct && parser_at_keyword(p, "ALL") && !at_name_then(p, ",") && !at_name_then(p, ")")) p->at++;
        do {
            expr *arg;
            if (at_name_then(p, "=>")) return parser_fail(p, "an argument by position (named arguments are not supported)");
            TRY(call_argument(p, &arg));
            TRY(parse_list_add(p, &list, arg));
        } while (parser_accept_op(p, ","));
    }
    TRY(parser_expect_op(p, ")"));
    expr *e;
    NEW_OR_FAIL(e, expr_new(p->a, EXPR_CALL, (source_span){from, from}));
    e->function_name = name.parts[name.count - 1];
    e->name = name;
    e->args = list.items;
    e->n_args = list.count;
    e->is_distinct = distinct;
    TRY(call_tail(p, e));
    e->span = span_from(p, from);
    *out = e;
    return SILT_OK;
}

/* EXTRACT(f FROM x), POSITION(a IN b), TRIM([BOTH|LEADING|TRAILING] [c] FROM s), SUBSTRING(s FROM a [FOR b]), OVERLAY(s PLACING r FROM a [FOR b]),
 * and the calls whose first argument is a unit: *out NULL when the ordinary call form stands here. */
static silt_status special_call(parser *p, expr **out) {
    uint32_t from = parser_peek(p, 0)->from;
    size_t start = p->at;
    expr *args[4];
    size_t n = 0;
    const char *fn = NULL;
    *out = NULL;
    if (at_call_of(p, "EXTRACT")) {
        p->at += 2;
        str unit;
        if (parser_peek(p, 0)->kind == TOKEN_STRING) TRY(parser_string(p, &unit));
        else TRY(parser_identifier(p, &unit));
        NEW_OR_FAIL(args[0], expr_literal_str(p->a, unit));
        n = 1;
        TRY(parser_expect_keyword(p, "FROM"));
        TRY(parser_expr(p, &args[n++]));
        fn = "date_part";
    } else if (at_call_of(p, "POSITION")) {
        p->at += 2;
        TRY(parse_value_expr(p, &args[0]));
        if (!parser_accept_keyword(p, "IN")) {
            p->at = start;
            return SILT_OK;
        }
        TRY(parse_value_expr(p, &args[1]));
        n = 2;
        fn = "position";
    } else if (at_call_of(p, "TRIM")) {
        p->at += 2;
        fn = parser_accept_keyword(p, "LEADING") ? "ltrim" : parser_accept_keyword(p, "TRAILING") ? "rtrim" : (parser_accept_keyword(p, "BOTH"), "trim");
        bool explicit_side = p->at > start + 2;
        expr *first = NULL;
        if (!parser_at_keyword(p, "FROM")) TRY(parser_expr(p, &first));
        if (!parser_accept_keyword(p, "FROM")) {
            if (explicit_side) return parser_fail(p, "FROM");
            p->at = start;
            return SILT_OK;
        }
        if (first) args[n++] = first; /* Spark's function form: ltrim(chars, text) */
        TRY(parser_expr(p, &args[n++]));
    } else if (at_call_of(p, "SUBSTRING") || at_call_of(p, "SUBSTR") || at_call_of(p, "OVERLAY")) {
        bool overlay = parser_at_keyword(p, "OVERLAY");
        p->at += 2;
        TRY(parser_expr(p, &args[n++]));
        if (overlay && parser_accept_keyword(p, "PLACING")) TRY(parser_expr(p, &args[n++]));
        if (!parser_accept_keyword(p, "FROM")) {
            p->at = start;
            return SILT_OK;
        }
        TRY(parser_expr(p, &args[n++]));
        if (parser_accept_keyword(p, "FOR")) TRY(parser_expr(p, &args[n++]));
        fn = overlay ? "overlay" : "substring";
    } else if (at_call_of(p, "TIMESTAMPADD") || at_call_of(p, "TIMESTAMPDIFF") || at_call_of(p, "DATEADD") || at_call_of(p, "DATE_ADD") || at_call_of(p, "DATEDIFF") ||
               at_call_of(p, "DATE_DIFF")) {
        static const char *const names[] = {"YEAR", "QUARTER", "MONTH", "WEEK", "DAY", "DAYOFYEAR", "HOUR", "MINUTE", "SECOND", "MILLISECOND", "MICROSECOND"};
        bool diff = parser_at_keyword(p, "TIMESTAMPDIFF") || parser_at_keyword(p, "DATEDIFF") || parser_at_keyword(p, "DATE_DIFF");
        p->at += 2;
        bool is_unit = false;
        for (size_t i = 0; i < ARRAY_LEN(names); i++) is_unit = is_unit || (at_name_then(p, ",") && parser_at_keyword(p, names[i]));
        if (!is_unit) {
            p->at = start;
            return SILT_OK;
        }
        NEW_OR_FAIL(args[0], expr_literal_str(p->a, parser_peek(p, 0)->text));
        n = 1;
        p->at++;
        while (n < 3) {
            TRY(parser_expect_op(p, ","));
            TRY(parser_expr(p, &args[n++]));
        }
        fn = diff ? "timestampdiff" : "timestampadd";
    } else {
        return SILT_OK;
    }
    TRY(parser_expect_op(p, ")"));
    NEW_OR_FAIL(*out, expr_call(p->a, fn, args, n, span_from(p, from)));
    return SILT_OK;
}

/* ---- names ---- */

static silt_status parse_star(parser *p, name_parts qualifier, uint32_t from, expr **out) {
    name_parts *except = NULL;
    size_t n = 0, capacity = 0;
    NEW_OR_FAIL(*out, expr_new(p->a, EXPR_STAR, span_from(p, from)));
    (*out)->name = qualifier;
    const token *next = parser_peek(p, 1);
    if (parser_at_keyword(p, "EXCEPT") && next->kind == TOKEN_OP && str_eqz(next->text, "(")) {
        parser inner = *p;
        inner.at++;
        if (!parser_at_query(&inner)) {
            inner.at++;
            if (!parser_at_query(&inner)) {
                p->at += 2;
                do {
                    name_parts name;
                    TRY(parser_name(p, &name));
                    if (!ARENA_PUSH(p->a, except, n, capacity, name)) return error_no_memory(p->err);
                } while (parser_accept_op(p, ","));
                TRY(parser_expect_op(p, ")"));
            }
        }
    }
    (*out)->except = except;
    (*out)->n_except = n;
    (*out)->span = span_from(p, from);
    return SILT_OK;
}

/* Names that are functions of no arguments when they stand alone. */
static bool is_niladic(str word) {
    static const char *const words[] = {"CURRENT_DATE", "CURRENT_TIMESTAMP", "CURRENT_TIME", "CURRENT_USER", "USER", "SESSION_USER", "LOCALTIMESTAMP"};
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (str_eq_ascii_fold(word, str_of(words[i]))) return true;
    return false;
}

static silt_status parse_name_expr(parser *p, expr **out) {
    const token *t = parser_peek(p, 0);
    uint32_t from = t->from;
    str *parts = NULL;
    size_t count = 0, capacity = 0;
    for (;;) {
        str part;
        TRY(parser_identifier(p, &part));
        if (!ARENA_PUSH(p->a, parts, count, capacity, part)) return error_no_memory(p->err);
        if (!parser_at_op(p, ".")) break;
        const token *after = parser_peek(p, 1);
        if (after->kind == TOKEN_OP && str_eqz(after->text, "*")) {
            p->at += 2;
            return parse_star(p, (name_parts){parts, count}, from, out);
        }
        p->at++;
    }
    name_parts name = {parts, count};
    if (parser_at_op(p, "(") && !at_enclosed_query(p)) return parse_call(p, name, from, out);
    if (count == 1 && t->kind == TOKEN_NAME && is_niladic(t->text)) {
        NEW_OR_FAIL(*out, expr_call(p->a, arena_cstr(p->a, t->text), NULL, 0, span_from(p, from)));
        return SILT_OK;
    }
    NEW_OR_FAIL(*out, expr_new(p->a, EXPR_COLUMN, span_from(p, from)));
    (*out)->name = name;
    return SILT_OK;
}

static silt_status parse_parenthesised(parser *p, expr **out) {
    uint32_t from = parser_peek(p, 0)->from;
    parser inner = *p;
    inner.at++;
    if (parser_at_query(&inner)) {
        NEW_OR_FAIL(*out, expr_new(p->a, EXPR_SUBQUERY, (source_span){from, from}));
        TRY(parse_subquery(p, &(*out)->subquery));
        (*out)->span = span_from(p, from);
        return SILT_OK;
    }
    p->at++;
    expr_list list = {0};
    do {
        expr *e;
        TRY(parser_named_expr(p, &e));
        TRY(parse_list_add(p, &list, e));
    } while (parser_accept_op(p, ","));
    TRY(parser_expect_op(p, ")"));
    if (list.count == 1 && list.items[0]->kind != EXPR_NAMED) {
        *out = list.items[0];
        return SILT_OK;
    }
    NEW_OR_FAIL(*out, expr_call(p->a, "struct", list.items, list.count, span_from(p, from))); /* (a, b) is a row value */
    return SILT_OK;
}

static silt_status simple_literal(parser *p, expr **out) {
    const token *t = parser_peek(p, 0);
    source_span span = {t->from, t->to};
    *out = NULL;
    if (t->kind == TOKEN_STRING) {
        str s;
        TRY(parser_string(p, &s));
        NEW_OR_FAIL(*out, expr_literal(p->a, (value){.type = &type_string, .as.bytes = s}, span_from(p, t->from)));
        return SILT_OK;
    }
    if (t->kind == TOKEN_INTEGER || t->kind == TOKEN_DECIMAL || t->kind == TOKEN_EXPONENT) return parse_number(p, false, t->from, out);
    const token *next = parser_peek(p, 1);
    bool followed = next->kind == TOKEN_OP && (str_eqz(next->text, "(") || str_eqz(next->text, "."));
    if (followed) return SILT_OK;
    if (parser_accept_keyword(p, "NULL")) {
        NEW_OR_FAIL(*out, expr_literal(p->a, (value){.type = &type_void, .is_null = true}, span));
    } else if (parser_at_keyword(p, "TRUE") || parser_at_keyword(p, "FALSE")) {
        bool b = parser_at_keyword(p, "TRUE");
        p->at++;
        NEW_OR_FAIL(*out, expr_literal(p->a, (value){.type = &type_boolean, .as.boolean = b}, span));
    } else if (parser_accept_keyword(p, "DEFAULT")) {
        NEW_OR_FAIL(*out, expr_new(p->a, EXPR_DEFAULT, span));
    }
    return SILT_OK;
}

static silt_status parse_parameter(parser *p, expr **out) {
    uint32_t from = parser_peek(p, 0)->from;
    str name = STR("");
    uint32_t position = 0; /* of a '?' among those of the text, whatever order they are bound in */
    if (parser_accept_op(p, ":")) {
        TRY(parser_identifier(p, &name));
    } else {
        for (size_t i = 0; i < p->at; i++) position += p->tokens[i].kind == TOKEN_OP && str_eqz(p->tokens[i].text, "?");
        p->at++;
    }
    NEW_OR_FAIL(*out, expr_new(p->a, EXPR_PARAMETER, span_from(p, from)));
    (*out)->function_name = name;
    (*out)->column = position;
    return SILT_OK;
}

static silt_status parse_atom(parser *p, expr **out) {
    const token *t = parser_peek(p, 0), *next = parser_peek(p, 1);
    if (t->kind == TOKEN_OP) {
        if (str_eqz(t->text, "(")) return at_lambda(p) ? parse_lambda(p, out) : parse_parenthesised(p, out);
        if (str_eqz(t->text, ":") || str_eqz(t->text, "?")) return parse_parameter(p, out);
        if (str_eqz(t->text, "*")) {
            p->at++;
            return parse_star(p, (name_parts){0}, t->from, out);
        }
        return parser_fail(p, "an expression");
    }
    TRY(simple_literal(p, out));
    if (*out) return SILT_OK;
    TRY(parse_typed_literal(p, out));
    if (*out) return SILT_OK;
    if (parser_at_keyword(p, "CASE") && !(next->kind == TOKEN_OP && strchr(",).", next->text.ptr[0])) && next->kind != TOKEN_END) return parse_case(p, out);
    if (at_call_of(p, "CAST")) return parse_cast(p, false, out);
    if (at_call_of(p, "TRY_CAST")) return parse_cast(p, true, out);
    bool signed_quantity = next->kind == TOKEN_OP && (str_eqz(next->text, "-") || str_eqz(next->text, "+"));
    const token *quantity = parser_peek(p, signed_quantity ? 2 : 1);
    if (parser_at_keyword(p, "INTERVAL") && (quantity->kind == TOKEN_STRING || quantity->kind == TOKEN_INTEGER || quantity->kind == TOKEN_DECIMAL)) {
        p->at++;
        return parse_interval(p, out);
    }
    TRY(special_call(p, out));
    if (*out) return SILT_OK;
    if (t->kind == TOKEN_NAME || t->kind == TOKEN_QUOTED_NAME) {
        if (t->kind == TOKEN_NAME && parse_is_clause_word(t->text) && !(next->kind == TOKEN_OP && strchr("(.", next->text.ptr[0]))) {
            static const char *const never[] = {"FROM", "WHERE", "GROUP", "HAVING", "ORDER", "LIMIT", "UNION", "JOIN", "SELECT", "WHEN", "THEN", "ELSE", "AND", "OR", "ON"};
            for (size_t i = 0; i < ARRAY_LEN(never); i++)
                if (parser_at_keyword(p, never[i])) return parser_fail(p, "an expression");
        }
        return parse_name_expr(p, out);
    }
    return parser_fail(p, "an expression");
}

/* v:a.b[0]['c'] on a variant: the path's text goes to variant_get. */
static silt_status parse_variant_path(parser *p, expr *base, uint32_t from, expr **out) {
    uint32_t path_from = parser_peek(p, 0)->from, path_to = path_from;
    str first;
    TRY(parser_identifier(p, &first));
    path_to = p->tokens[p->at - 1].to;
    for (;;) {
        if (parser_at_op(p, ".")) {
            p->at++;
            TRY(parser_identifier(p, &first));
        } else if (parser_at_op(p, "[")) {
            p->at++;
            const token *t = parser_peek(p, 0);
            if (t->kind != TOKEN_INTEGER && t->kind != TOKEN_STRING && !(t->kind == TOKEN_OP && str_eqz(t->text, "*"))) return parser_fail(p, "an index or a key");
            p->at++;
            TRY(parser_expect_op(p, "]"));
        } else {
            break;
        }
        path_to = p->tokens[p->at - 1].to;
    }
    str path = arena_printf(p->a, "$.%.*s", STR_ARG(str_slice(p->text, path_from, path_to)));
    expr *args[2] = {base};
    if (!path.ptr) return error_no_memory(p->err);
    NEW_OR_FAIL(args[1], expr_literal_str(p->a, path));
    NEW_OR_FAIL(*out, expr_call(p->a, "variant_get", args, 2, span_from(p, from)));
    return SILT_OK;
}

silt_status parse_primary(parser *p, expr **out) {
    uint32_t from = parser_peek(p, 0)->from;
    TRY(parse_enter(p));
    TRY(parse_atom(p, out));
    for (;;) {
        const token *next = parser_peek(p, 1);
        if (parser_accept_op(p, "::")) {
            const data_type *type;
            TRY(parser_type(p, &type));
            TRY(make_cast(p, *out, type, false, from, out));
        } else if (parser_at_op(p, ":") && (next->kind == TOKEN_NAME || next->kind == TOKEN_QUOTED_NAME)) {
            p->at++;
            TRY(parse_variant_path(p, *out, from, out));
        } else if (parser_accept_op(p, "[")) {
            expr_list list = {0};
            expr *index;
            TRY(parse_list_add(p, &list, *out));
            TRY(parser_expr(p, &index));
            TRY(parse_list_add(p, &list, index));
            TRY(parser_expect_op(p, "]"));
            NEW_OR_FAIL(*out, expr_new(p->a, EXPR_INDEX, span_from(p, from)));
            (*out)->args = list.items;
            (*out)->n_args = 2;
        } else if (parser_at_op(p, ".") && (next->kind == TOKEN_NAME || next->kind == TOKEN_QUOTED_NAME || next->kind == TOKEN_OP)) {
            p->at++;
            expr *base = *out;
            if (parser_accept_op(p, "*")) return parser_fail(p, "a field name");
            str name;
            TRY(parser_identifier(p, &name));
            expr_list list = {0};
            TRY(parse_list_add(p, &list, base));
            NEW_OR_FAIL(*out, expr_new(p->a, EXPR_FIELD, span_from(p, from)));
            (*out)->args = list.items;
            (*out)->n_args = 1;
            (*out)->field_name = name;
        } else {
            break;
        }
    }
    parse_leave(p);
    return SILT_OK;
}
