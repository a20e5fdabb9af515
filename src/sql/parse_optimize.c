/* OPTIMIZE t [FULL] [WHERE predicate] [ZORDER BY (columns) | columns] · REORG TABLE t [WHERE predicate] APPLY (PURGE). */
#include "sql/optimize_statement.h"
#include "sql/parse.h"

static silt_status begin(parser *p, statement *s) {
    p->at++;
    s->kind = STMT_OPTIMIZE;
    s->optimize = ARENA_NEW(p->a, optimize_statement);
    return s->optimize ? SILT_OK : error_no_memory(p->err);
}

static silt_status parse_where(parser *p, optimize_statement *o) {
    if (!parser_accept_keyword(p, "WHERE")) return SILT_OK;
    uint32_t from = parser_peek(p, 0)->from;
    TRY(parser_expr(p, &o->where));
    o->where_text = str_slice(p->text, from, p->tokens[p->at - 1].to);
    return SILT_OK;
}

static silt_status parse_zorder(parser *p, optimize_statement *o) {
    name_parts *columns = NULL, name;
    size_t capacity = 0;
    if (!parser_accept_keywords(p, "ZORDER", "BY")) return SILT_OK;
    bool in_parentheses = parser_accept_op(p, "(");
    do {
        TRY(parser_name(p, &name));
        if (!ARENA_PUSH(p->a, columns, o->n_zorder_by, capacity, name)) return error_no_memory(p->err);
    } while (parser_accept_op(p, ","));
    o->zorder_by = columns;
    return in_parentheses ? parser_expect_op(p, ")") : SILT_OK;
}

silt_status parse_optimize(parser *p, statement *s) {
    TRY(begin(p, s));
    TRY(parse_table_name(p, &s->table));
    s->optimize->full = parser_accept_keyword(p, "FULL");
    TRY(parse_where(p, s->optimize));
    return parse_zorder(p, s->optimize);
}

silt_status parse_reorg(parser *p, statement *s) {
    TRY(begin(p, s));
    TRY(parser_expect_keyword(p, "TABLE"));
    TRY(parse_table_name(p, &s->table));
    TRY(parse_where(p, s->optimize));
    TRY(parser_expect_keyword(p, "APPLY"));
    TRY(parser_expect_op(p, "("));
    if (parser_at_keywords(p, "UPGRADE", "UNIFORM")) return err_UNSUPPORTED_FEATURE(p->err, "REORG TABLE … APPLY (UPGRADE UNIFORM)");
    TRY(parser_expect_keyword(p, "PURGE"));
    s->optimize->purge = true;
    return parser_expect_op(p, ")");
}
