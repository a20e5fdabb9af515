/* RESTORE [TABLE] t [TO] VERSION | TIMESTAMP AS OF x · CREATE [OR REPLACE] TABLE t SHALLOW | DEEP CLONE source … · GENERATE mode FOR TABLE t. */
#include "sql/parse.h"
#include "sql/restore_statement.h"

static silt_status begin(parser *p, statement *s, statement_kind kind) {
    s->kind = kind;
    s->restore = ARENA_NEW(p->a, restore_statement);
    return s->restore ? SILT_OK : error_no_memory(p->err);
}

silt_status parse_restore(parser *p, statement *s) {
    p->at++;
    TRY(begin(p, s, STMT_RESTORE));
    (void)parser_accept_keyword(p, "TABLE");
    TRY(parse_table_name(p, &s->table));
    (void)parser_accept_keyword(p, "TO");
    TRY(parser_travel(p, &s->restore->travel));
    bool is_given = s->restore->travel.version || s->restore->travel.timestamp;
    return is_given ? SILT_OK : parser_fail(p, "VERSION AS OF or TIMESTAMP AS OF");
}

silt_status parse_generate(parser *p, statement *s) {
    p->at++;
    TRY(begin(p, s, STMT_GENERATE));
    TRY(parser_identifier(p, &s->restore->mode));
    TRY(parser_expect_keyword(p, "FOR"));
    TRY(parser_expect_keyword(p, "TABLE"));
    return parse_table_name(p, &s->table);
}

bool parse_at_clone(const parser *p) {
    return parser_at_keywords(p, "SHALLOW", "CLONE") || parser_at_keywords(p, "DEEP", "CLONE") || parser_at_keyword(p, "CLONE");
}

/* CLONE alone is Databricks' word for a deep one. */
silt_status parse_clone(parser *p, statement *s) {
    TRY(begin(p, s, STMT_CLONE));
    bool is_shallow = parser_accept_keyword(p, "SHALLOW");
    if (!is_shallow) (void)parser_accept_keyword(p, "DEEP");
    s->restore->is_deep = !is_shallow;
    TRY(parser_expect_keyword(p, "CLONE"));
    TRY(parse_table_name(p, &s->restore->source));
    TRY(parser_travel(p, &s->restore->source->travel));
    if (parser_accept_keyword(p, "TBLPROPERTIES")) TRY(parser_properties(p, &s->properties.keys, &s->properties.values, &s->properties.count));
    s->has_location = parser_accept_keyword(p, "LOCATION");
    return s->has_location ? parser_string(p, &s->location) : SILT_OK;
}
