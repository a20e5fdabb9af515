/*
 * MERGE [WITH SCHEMA EVOLUTION] INTO target [alias] USING source [alias] ON condition, and its WHEN clauses in Spark's order: MATCHED, then NOT MATCHED [BY TARGET], then
 * NOT MATCHED BY SOURCE. Within a kind only the last may go without a condition.
 */
#include "sql/merge_statement.h"
#include "sql/parse.h"

/* ---- source ---- */

static silt_status parse_source(parser *p, relation **out) {
    relation *r;
    if (parser_at_op(p, "(")) {
        r = ARENA_NEW(p->a, relation);
        if (!r) return error_no_memory(p->err);
        *r = (relation){.kind = REL_SUBQUERY, .sample_percent = -1, .sample_rows = -1, .span.from = parser_peek(p, 0)->from};
        p->at++;
        TRY(parser_query(p, &r->subquery));
        TRY(parser_expect_op(p, ")"));
    } else {
        TRY(parse_table_name(p, &r));
    }
    const token *t = parser_peek(p, 0);
    bool as = parser_accept_keyword(p, "AS"), named = (t->kind == TOKEN_NAME && !parser_at_keyword(p, "ON")) || t->kind == TOKEN_QUOTED_NAME;
    if (as || named) TRY(parser_identifier(p, &r->alias));
    if ((as || named) && parser_at_op(p, "(")) return err_COLUMN_ALIASES_NOT_ALLOWED(p->err, "MERGE");
    r->span.to = p->tokens[p->at - 1].to;
    *out = r;
    return SILT_OK;
}

/* ---- actions ---- */

static silt_status parse_star(parser *p, merge_clause *c) {
    c->star = true;
    return parser_accept_keyword(p, "EXCEPT") ? parse_name_list(p, &c->except, &c->n_except) : SILT_OK;
}

static silt_status parse_column(parser *p, update_item *item) {
    item->span.from = parser_peek(p, 0)->from;
    TRY(parser_name(p, &item->column));
    item->span.to = p->tokens[p->at - 1].to;
    return SILT_OK;
}

static silt_status parse_assignments(parser *p, merge_clause *c) {
    update_item *items = NULL;
    size_t capacity = 0;
    do {
        update_item item = {0};
        TRY(parse_column(p, &item));
        if (!parser_accept_op(p, "==")) TRY(parser_expect_op(p, "="));
        TRY(parser_expr(p, &item.value));
        if (!ARENA_PUSH(p->a, items, c->n_items, capacity, item)) return error_no_memory(p->err);
    } while (parser_accept_op(p, ","));
    c->items = items;
    return SILT_OK;
}

static silt_status parse_insert_values(parser *p, merge_clause *c) {
    update_item *items = NULL;
    size_t capacity = 0, n_values = 0;
    TRY(parser_expect_op(p, "("));
    do {
        update_item item = {0};
        TRY(parse_column(p, &item));
        if (!ARENA_PUSH(p->a, items, c->n_items, capacity, item)) return error_no_memory(p->err);
    } while (parser_accept_op(p, ","));
    TRY(parser_expect_op(p, ")"));
    TRY(parser_expect_keyword(p, "VALUES"));
    TRY(parser_expect_op(p, "("));
    do {
        expr *value_expr;
        TRY(parser_expr(p, &value_expr));
        if (n_values < c->n_items) items[n_values].value = value_expr;
        n_values++;
    } while (parser_accept_op(p, ","));
    TRY(parser_expect_op(p, ")"));
    c->items = items;
    return n_values == c->n_items ? SILT_OK : err_ASSIGNMENT_ARITY_MISMATCH(p->err, (int64_t)c->n_items, (int64_t)n_values);
}

static silt_status parse_action(parser *p, merge_clause *c) {
    TRY(parser_expect_keyword(p, "THEN"));
    if (c->when == WHEN_NOT_MATCHED) {
        c->action = MERGE_INSERT;
        TRY(parser_expect_keyword(p, "INSERT"));
        return parser_accept_op(p, "*") ? parse_star(p, c) : parse_insert_values(p, c);
    }
    c->action = MERGE_DELETE;
    if (parser_accept_keyword(p, "DELETE")) return SILT_OK;
    c->action = MERGE_UPDATE;
    if (!parser_accept_keyword(p, "UPDATE")) return parser_fail(p, "UPDATE or DELETE");
    TRY(parser_expect_keyword(p, "SET"));
    return c->when == WHEN_MATCHED && parser_accept_op(p, "*") ? parse_star(p, c) : parse_assignments(p, c);
}

/* ---- clauses ---- */

static silt_status parse_when(parser *p, merge_clause *c) {
    bool negated = parser_accept_keyword(p, "NOT");
    TRY(parser_expect_keyword(p, "MATCHED"));
    c->when = negated ? WHEN_NOT_MATCHED : WHEN_MATCHED;
    if (negated && parser_accept_keyword(p, "BY")) {
        if (parser_accept_keyword(p, "SOURCE"))
            c->when = WHEN_NOT_MATCHED_BY_SOURCE;
        else if (!parser_accept_keyword(p, "TARGET"))
            return parser_fail(p, "SOURCE or TARGET");
    }
    if (parser_accept_keyword(p, "AND")) TRY(parser_expr(p, &c->condition));
    return parse_action(p, c);
}

static silt_status check_conditions(parser *p, const merge_statement *m) {
    for (size_t i = 0; i + 1 < m->n_clauses; i++) {
        const merge_clause *c = &m->clauses[i];
        if (c->condition || m->clauses[i + 1].when != c->when) continue;
        switch (c->when) {
            case WHEN_MATCHED: return err_NON_LAST_MATCHED_CLAUSE_OMIT_CONDITION(p->err);
            case WHEN_NOT_MATCHED: return err_NON_LAST_NOT_MATCHED_BY_TARGET_CLAUSE_OMIT_CONDITION(p->err);
            case WHEN_NOT_MATCHED_BY_SOURCE: return err_NON_LAST_NOT_MATCHED_BY_SOURCE_CLAUSE_OMIT_CONDITION(p->err);
        }
    }
    return SILT_OK;
}

static silt_status parse_clauses(parser *p, merge_statement *m) {
    size_t capacity = 0;
    while (parser_at_keyword(p, "WHEN")) {
        merge_clause c = {0};
        size_t at = p->at++;
        TRY(parse_when(p, &c));
        if (m->n_clauses > 0 && c.when < m->clauses[m->n_clauses - 1].when) {
            p->at = at;
            return parser_fail(p, "the clauses in the order MATCHED, NOT MATCHED, NOT MATCHED BY SOURCE");
        }
        if (!ARENA_PUSH(p->a, m->clauses, m->n_clauses, capacity, c)) return error_no_memory(p->err);
    }
    return m->n_clauses > 0 ? check_conditions(p, m) : err_MERGE_WITHOUT_WHEN(p->err);
}

silt_status parse_merge(parser *p, statement *s) {
    merge_statement *m = ARENA_NEW(p->a, merge_statement);
    if (!m) return error_no_memory(p->err);
    p->at++;
    s->kind = STMT_MERGE;
    s->merge = m;
    if (parser_accept_keyword(p, "WITH")) {
        TRY(parser_expect_keyword(p, "SCHEMA"));
        TRY(parser_expect_keyword(p, "EVOLUTION"));
        m->evolve = true;
    }
    TRY(parser_expect_keyword(p, "INTO"));
    TRY(parse_table_name(p, &s->table));
    TRY(parse_target_alias(p, s->table, "MERGE"));
    TRY(parser_expect_keyword(p, "USING"));
    TRY(parse_source(p, &m->source));
    TRY(parser_expect_keyword(p, "ON"));
    TRY(parser_expr(p, &m->on));
    return parse_clauses(p, m);
}
