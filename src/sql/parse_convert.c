/*
 * CONVERT TO DELTA name [NO STATISTICS] [PARTITIONED BY (column type [NOT NULL] [COMMENT text], …)]
 * PUBLISH TABLE name TO 'folder' [FULL]
 */
#include "sql/convert_statement.h"
#include "sql/parse.h"

static silt_status new_convert(parser *p, statement *s, statement_kind kind) {
    p->at++;
    s->kind = kind;
    s->convert = ARENA_NEW(p->a, convert_statement);
    return s->convert ? SILT_OK : error_no_memory(p->err);
}

static silt_status parse_column(parser *p, field *out) {
    str name, comment;
    const data_type *type;
    TRY(parser_identifier(p, &name));
    TRY(parser_type(p, &type));
    *out = field_make(name, type, !parser_accept_keywords(p, "NOT", "NULL"));
    return parser_accept_keyword(p, "COMMENT") ? parser_string(p, &comment) : SILT_OK; /* which Spark drops here */
}

static silt_status parse_columns(parser *p, convert_statement *c) {
    field *columns = NULL;
    size_t n = 0, capacity = 0;
    TRY(parser_expect_op(p, "("));
    do {
        field f;
        TRY(parse_column(p, &f));
        if (!ARENA_PUSH(p->a, columns, n, capacity, f)) return error_no_memory(p->err);
    } while (parser_accept_op(p, ","));
    c->partition = columns;
    c->n_partition = n;
    c->has_partition = true;
    return parser_expect_op(p, ")");
}

silt_status parse_convert(parser *p, statement *s) {
    TRY(new_convert(p, s, STMT_CONVERT));
    TRY(parser_expect_keyword(p, "TO"));
    TRY(parser_expect_keyword(p, "DELTA"));
    TRY(parse_table_name(p, &s->table));
    s->convert->no_statistics = parser_accept_keywords(p, "NO", "STATISTICS");
    return parser_accept_keywords(p, "PARTITIONED", "BY") ? parse_columns(p, s->convert) : SILT_OK;
}

silt_status parse_publish(parser *p, statement *s) {
    TRY(new_convert(p, s, STMT_PUBLISH));
    TRY(parser_expect_keyword(p, "TABLE"));
    TRY(parse_table_name(p, &s->table));
    TRY(parser_expect_keyword(p, "TO"));
    TRY(parser_string(p, &s->convert->directory));
    s->convert->full = parser_accept_keyword(p, "FULL");
    return SILT_OK;
}
