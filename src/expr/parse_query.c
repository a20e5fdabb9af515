/* Queries: WITH, SELECT, set operations (INTERSECT binds tighter than UNION, EXCEPT and MINUS), VALUES, TABLE t, ORDER BY, LIMIT. */
#include "expr/parse_internal.h"

static silt_status parse_set_term(parser *p, int level, query **out);

static silt_status new_query(parser *p, query **out) {
    NEW_OR_FAIL(*out, ARENA_NEW(p->a, query));
    (*out)->span.from = parser_peek(p, 0)->from;
    return SILT_OK;
}

static silt_status star_projection(parser *p, query *q) {
    expr *star;
    expr_list list = {0};
    NEW_OR_FAIL(star, expr_new(p->a, EXPR_STAR, q->span));
    TRY(parse_list_add(p, &list, star));
    q->projections = list.items;
    q->n_projections = 1;
    return SILT_OK;
}

/* SELECT * FROM (inner): for a parenthesised query that gets clauses of its own once more. */
static silt_status wrap_query(parser *p, query *inner, query **out) {
    relation *r;
    TRY(new_query(p, out));
    (*out)->span = inner->span;
    NEW_OR_FAIL(r, ARENA_NEW(p->a, relation));
    r->kind = REL_SUBQUERY;
    r->subquery = inner;
    r->span = inner->span;
    (*out)->from = r;
    return star_projection(p, *out);
}

static bool has_tail(const query *q) { return q->n_order_by || q->order_by_all || q->limit || q->offset || q->n_ctes || q->n_windows; }

/* ---- GROUP BY ---- */

static silt_status group_set_items(parser *p, group_set *out) {
    expr_list list = {0};
    if (parser_accept_op(p, "(")) {
        if (!parser_at_op(p, ")")) TRY(parse_expr_list(p, &list));
        TRY(parser_expect_op(p, ")"));
    } else {
        expr *e;
        TRY(parser_expr(p, &e));
        TRY(parse_list_add(p, &list, e));
    }
    *out = (group_set){list.items, list.count};
    return SILT_OK;
}

static silt_status grouping_sets(parser *p, query *q) {
    size_t capacity = 0;
    q->group = GROUP_SETS;
    TRY(parser_expect_op(p, "("));
    do {
        group_set set;
        TRY(group_set_items(p, &set));
        if (!ARENA_PUSH(p->a, q->group_sets, q->n_group_sets, capacity, set)) return error_no_memory(p->err);
    } while (parser_accept_op(p, ","));
    return parser_expect_op(p, ")");
}

static silt_status parse_group_by(parser *p, query *q) {
    if (parser_at_keyword(p, "ALL") && parser_peek(p, 1)->kind != TOKEN_OP) {
        p->at++;
        q->group = GROUP_ALL;
        return SILT_OK;
    }
    if (parser_accept_keywords(p, "GROUPING", "SETS")) return grouping_sets(p, q);
    const token *next = parser_peek(p, 1);
    bool paren = next->kind == TOKEN_OP && str_eqz(next->text, "(");
    if (paren && (parser_at_keyword(p, "ROLLUP") || parser_at_keyword(p, "CUBE"))) {
        q->group = parser_at_keyword(p, "ROLLUP") ? GROUP_ROLLUP : GROUP_CUBE;
        p->at++;
        group_set set;
        TRY(group_set_items(p, &set));
        q->group_items = set.items;
        q->n_group_items = set.count;
        return SILT_OK;
    }
    q->group = GROUP_EXPRS;
    expr_list list = {0};
    TRY(parse_expr_list(p, &list));
    q->group_items = list.items;
    q->n_group_items = list.count;
    if (parser_accept_keywords(p, "WITH", "ROLLUP")) q->group = GROUP_ROLLUP;
    else if (parser_accept_keywords(p, "WITH", "CUBE")) q->group = GROUP_CUBE;
    else if (parser_accept_keywords(p, "GROUPING", "SETS")) return grouping_sets(p, q);
    if (q->group == GROUP_EXPRS) {
        for (size_t i = 0; i < list.count; i++) {
            const expr *e = list.items[i];
            bool grouping = e->kind == EXPR_CALL && e->span.to > e->span.from &&
                            (str_eq_ascii_fold(e->function_name, STR("rollup")) || str_eq_ascii_fold(e->function_name, STR("cube")));
            if (grouping) return err_UNSUPPORTED_FEATURE(p->err, "GROUP BY that mixes expressions with ROLLUP or CUBE; use GROUPING SETS");
        }
    }
    return SILT_OK;
}

/* ---- SELECT ---- */

static silt_status parse_windows(parser *p, query *q) {
    size_t capacity = 0;
    do {
        named_window w;
        TRY(parser_identifier(p, &w.name));
        TRY(parser_expect_keyword(p, "AS"));
        TRY(parse_window_spec(p, &w.spec));
        if (!ARENA_PUSH(p->a, q->windows, q->n_windows, capacity, w)) return error_no_memory(p->err);
    } while (parser_accept_op(p, ","));
    return SILT_OK;
}

static silt_status parse_from(parser *p, query *q) {
    TRY(parser_relation(p, &q->from));
    while (parser_accept_op(p, ",")) { /* a comma is a cross join */
        relation *r, *join;
        bool lateral = parser_at_keyword(p, "LATERAL");
        TRY(parser_relation(p, &r));
        NEW_OR_FAIL(join, ARENA_NEW(p->a, relation));
        join->kind = REL_JOIN;
        join->join = JOIN_CROSS;
        join->left = q->from;
        join->right = r;
        join->lateral = lateral;
        join->span = (source_span){q->from->span.from, r->span.to};
        q->from = join;
    }
    return SILT_OK;
}

static silt_status parse_select(parser *p, query **out) {
    TRY(new_query(p, out));
    query *q = *out;
    expr_list list = {0};
    TRY(parser_expect_keyword(p, "SELECT"));
    const token *next = parser_peek(p, 1);
    if (parser_at_keyword(p, "DISTINCT") && !(next->kind == TOKEN_OP && strchr(",.", next->text.ptr[0]))) {
        q->distinct = true;
        p->at++;
    } else if (parser_at_keyword(p, "ALL") && next->kind != TOKEN_OP) {
        p->at++;
    }
    do {
        expr *e;
        TRY(parser_named_expr(p, &e));
        TRY(parse_list_add(p, &list, e));
    } while (parser_accept_op(p, ","));
    q->projections = list.items;
    q->n_projections = list.count;
    if (parser_accept_keyword(p, "FROM")) TRY(parse_from(p, q));
    if (parser_accept_keyword(p, "WHERE")) TRY(parser_expr(p, &q->where));
    if (parser_accept_keywords(p, "GROUP", "BY")) TRY(parse_group_by(p, q));
    if (parser_accept_keyword(p, "HAVING")) TRY(parser_expr(p, &q->having));
    if (parser_accept_keyword(p, "QUALIFY")) TRY(parser_expr(p, &q->qualify));
    if (parser_accept_keyword(p, "WINDOW")) TRY(parse_windows(p, q));
    return SILT_OK;
}

static silt_status parse_query_primary(parser *p, query **out) {
    uint32_t from = parser_peek(p, 0)->from;
    if (parser_accept_op(p, "(")) {
        TRY(parser_query(p, out));
        TRY(parser_expect_op(p, ")"));
    } else if (parser_at_keyword(p, "SELECT")) {
        TRY(parse_select(p, out));
    } else if (parser_at_keyword(p, "VALUES")) {
        TRY(new_query(p, out));
        TRY(parser_relation(p, &(*out)->from));
        TRY(star_projection(p, *out));
    } else if (parser_accept_keyword(p, "TABLE")) {
        TRY(new_query(p, out));
        TRY(parser_table_ref(p, &(*out)->from));
        TRY(star_projection(p, *out));
    } else if (parser_accept_keyword(p, "FROM")) { /* FROM t SELECT a WHERE … */
        query head = {0};
        TRY(parse_from(p, &head));
        TRY(parse_select(p, out));
        (*out)->from = head.from;
    } else {
        return parser_fail(p, "a query (SELECT, VALUES, TABLE, WITH or a parenthesised query)");
    }
    (*out)->span = span_from(p, from);
    return SILT_OK;
}

static set_op at_set_op(const parser *p, int *level) {
    *level = 1;
    if (parser_at_keyword(p, "UNION")) return SET_UNION;
    if (parser_at_keyword(p, "EXCEPT") || parser_at_keyword(p, "MINUS") || parser_at_keyword(p, "SETMINUS")) return SET_EXCEPT;
    *level = 2;
    return parser_at_keyword(p, "INTERSECT") ? SET_INTERSECT : SET_NONE;
}

static silt_status parse_set_term(parser *p, int min_level, query **out) {
    uint32_t from = parser_peek(p, 0)->from;
    query *left;
    TRY(parse_enter(p));
    TRY(parse_query_primary(p, &left));
    for (;;) {
        int level;
        set_op op = at_set_op(p, &level);
        if (op == SET_NONE || level < min_level) break;
        p->at++;
        query *q, *right;
        bool all = parser_accept_keyword(p, "ALL");
        if (!all) (void)parser_accept_keyword(p, "DISTINCT");
        bool by_name = parser_accept_keywords(p, "BY", "NAME");
        TRY(parse_set_term(p, level + 1, &right));
        TRY(new_query(p, &q));
        q->set = op;
        q->set_all = all;
        q->set_by_name = by_name;
        q->left = left;
        q->right = right;
        q->span = span_from(p, from);
        left = q;
    }
    parse_leave(p);
    *out = left;
    return SILT_OK;
}

static silt_status parse_tail(parser *p, query *q) {
    if (parser_accept_keywords(p, "ORDER", "BY")) {
        const token *next = parser_peek(p, 1);
        if (parser_at_keyword(p, "ALL") && (next->kind != TOKEN_OP || str_eqz(next->text, ")") || str_eqz(next->text, ";"))) {
            p->at++;
            q->order_by_all = true;
            q->order_all_descending = parser_accept_keyword(p, "DESC");
            if (!q->order_all_descending) (void)parser_accept_keyword(p, "ASC");
        } else {
            TRY(parser_sort_keys(p, &q->order_by, &q->n_order_by));
        }
    } else if (parser_accept_keywords(p, "SORT", "BY")) { /* one partition: the same as ORDER BY */
        TRY(parser_sort_keys(p, &q->order_by, &q->n_order_by));
        q->sort_by = true;
    } else if (parser_accept_keywords(p, "CLUSTER", "BY")) {
        TRY(parser_sort_keys(p, &q->order_by, &q->n_order_by));
        q->sort_by = true;
    } else if (parser_accept_keywords(p, "DISTRIBUTE", "BY")) {
        expr_list ignored = {0};
        TRY(parse_expr_list(p, &ignored));
        if (parser_accept_keywords(p, "SORT", "BY")) {
            TRY(parser_sort_keys(p, &q->order_by, &q->n_order_by));
            q->sort_by = true;
        }
    }
    if (parser_accept_keyword(p, "WINDOW")) TRY(parse_windows(p, q));
    if (parser_accept_keyword(p, "LIMIT") && !parser_accept_keyword(p, "ALL")) TRY(parser_expr(p, &q->limit));
    if (parser_accept_keyword(p, "OFFSET")) TRY(parser_expr(p, &q->offset));
    return SILT_OK;
}

static bool at_tail(const parser *p) {
    return parser_at_keywords(p, "ORDER", "BY") || parser_at_keywords(p, "SORT", "BY") || parser_at_keywords(p, "CLUSTER", "BY") ||
           parser_at_keywords(p, "DISTRIBUTE", "BY") || parser_at_keyword(p, "LIMIT") || parser_at_keyword(p, "OFFSET") || parser_at_keyword(p, "WINDOW");
}

silt_status parser_ctes(parser *p, cte_def **out, size_t *out_count, bool *recursive) {
    cte_def *ctes = NULL;
    size_t count = 0, capacity = 0;
    *recursive = parser_accept_keyword(p, "RECURSIVE");
    do {
        cte_def c = {.span.from = parser_peek(p, 0)->from};
        TRY(parser_identifier(p, &c.name));
        if (parser_accept_op(p, "(")) {
            str *names = NULL;
            size_t n = 0, cap = 0;
            do {
                str name;
                TRY(parser_identifier(p, &name));
                if (!ARENA_PUSH(p->a, names, n, cap, name)) return error_no_memory(p->err);
            } while (parser_accept_op(p, ","));
            TRY(parser_expect_op(p, ")"));
            c.column_aliases = names;
            c.n_column_aliases = n;
        }
        (void)parser_accept_keyword(p, "AS");
        TRY(parse_subquery(p, &c.body));
        c.span = span_from(p, c.span.from);
        if (!ARENA_PUSH(p->a, ctes, count, capacity, c)) return error_no_memory(p->err);
    } while (parser_accept_op(p, ","));
    *out = ctes;
    *out_count = count;
    return SILT_OK;
}

silt_status parser_query(parser *p, query **out) {
    uint32_t from = parser_peek(p, 0)->from;
    cte_def *ctes = NULL;
    size_t n_ctes = 0;
    bool recursive = false;
    TRY(parse_enter(p));
    if (parser_accept_keyword(p, "WITH")) TRY(parser_ctes(p, &ctes, &n_ctes, &recursive));
    query *q;
    TRY(parse_set_term(p, 1, &q));
    if ((at_tail(p) || n_ctes > 0) && has_tail(q)) TRY(wrap_query(p, q, &q));
    TRY(parse_tail(p, q));
    if (n_ctes > 0) {
        q->ctes = ctes;
        q->n_ctes = n_ctes;
        q->recursive = recursive;
    }
    q->span = span_from(p, from);
    parse_leave(p);
    *out = q;
    return SILT_OK;
}

silt_status query_parse(str text, arena *a, query **out, silt_error *err) {
    parser p;
    TRY(parser_init(&p, text, a, err));
    TRY(parser_query(&p, out));
    return parser_expect_end(&p);
}
