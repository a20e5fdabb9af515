/* DELETE, UPDATE, TRUNCATE, and what an INSERT replaces. */
#include "sql/dml_statement.h"
#include "sql/parse.h"

static silt_status new_dml(parser *p, statement *s) {
    s->dml = ARENA_NEW(p->a, dml_statement);
    return s->dml ? SILT_OK : error_no_memory(p->err);
}

silt_status parse_target_alias(parser *p, relation *target, const char *in) {
    static const char *const clauses[] = {"WHERE", "SET", "USING", "REPLACE", "BY"};
    const token *t = parser_peek(p, 0);
    bool as = parser_accept_keyword(p, "AS"), named = t->kind == TOKEN_NAME || t->kind == TOKEN_QUOTED_NAME;
    for (size_t i = 0; !as && i < ARRAY_LEN(clauses); i++) named &= !parser_at_keyword(p, clauses[i]);
    if (as || named) TRY(parser_identifier(p, &target->alias));
    return (as || named) && parser_at_op(p, "(") ? err_COLUMN_ALIASES_NOT_ALLOWED(p->err, in) : SILT_OK;
}

static silt_status parse_condition(parser *p, dml_statement *d) {
    uint32_t from = parser_peek(p, 0)->from;
    TRY(parser_expr(p, &d->condition));
    d->condition_text = str_trim(str_slice(p->text, from, p->tokens[p->at - 1].to));
    return SILT_OK;
}

silt_status parse_delete(parser *p, statement *s) {
    p->at++;
    s->kind = STMT_DELETE;
    TRY(new_dml(p, s));
    TRY(parser_expect_keyword(p, "FROM"));
    TRY(parse_table_name(p, &s->table));
    TRY(parse_target_alias(p, s->table, "DELETE"));
    return parser_accept_keyword(p, "WHERE") ? parse_condition(p, s->dml) : SILT_OK;
}

static silt_status parse_assignments(parser *p, dml_statement *d) {
    update_item *items = NULL;
    size_t n = 0, capacity = 0;
    do {
        update_item item = {.span.from = parser_peek(p, 0)->from};
        TRY(parser_name(p, &item.column));
        item.span.to = p->tokens[p->at - 1].to;
        if (!parser_accept_op(p, "==")) TRY(parser_expect_op(p, "="));
        TRY(parser_expr(p, &item.value));
        if (!ARENA_PUSH(p->a, items, n, capacity, item)) return error_no_memory(p->err);
    } while (parser_accept_op(p, ","));
    d->items = items;
    d->n_items = n;
    return SILT_OK;
}

silt_status parse_update(parser *p, statement *s) {
    p->at++;
    s->kind = STMT_UPDATE;
    TRY(new_dml(p, s));
    TRY(parse_table_name(p, &s->table));
    TRY(parse_target_alias(p, s->table, "UPDATE"));
    TRY(parser_expect_keyword(p, "SET"));
    TRY(parse_assignments(p, s->dml));
    return parser_accept_keyword(p, "WHERE") ? parse_condition(p, s->dml) : SILT_OK;
}

silt_status parse_truncate(parser *p, statement *s) {
    p->at++;
    s->kind = STMT_TRUNCATE;
    TRY(parser_expect_keyword(p, "TABLE"));
    TRY(parse_table_name(p, &s->table));
    return parser_at_keyword(p, "PARTITION") ? err_DELTA_TRUNCATE_TABLE_PARTITION_NOT_SUPPORTED(p->err) : SILT_OK;
}

silt_status parse_insert_replace(parser *p, statement *s) {
    TRY(new_dml(p, s));
    TRY(parser_expect_keyword(p, "REPLACE"));
    if (parser_accept_keyword(p, "USING")) {
        s->dml->replace = REPLACE_USING;
        return parse_name_list(p, &s->dml->using_columns, &s->dml->n_using_columns);
    }
    s->dml->replace = parser_accept_keyword(p, "ON") ? REPLACE_ON : REPLACE_WHERE;
    if (s->dml->replace == REPLACE_WHERE) TRY(parser_expect_keyword(p, "WHERE"));
    return parse_condition(p, s->dml);
}
