/* DOCTOR [TABLE] t, DOCTOR 'path', DOCTOR DATABASE [d]; each with OPTIONS (…). A statement of Silt's own. */
#include "sql/parse.h"

silt_status parse_doctor(parser *p, statement *s) {
    p->at++;
    s->kind = STMT_DOCTOR;
    if (parser_accept_keyword(p, "DATABASE") || parser_accept_keyword(p, "SCHEMA")) {
        const token *next = parser_peek(p, 0);
        bool named = next->kind == TOKEN_QUOTED_NAME || (next->kind == TOKEN_NAME && !parser_at_keyword(p, "OPTIONS"));
        if (named) TRY(parser_name(p, &s->name));
    } else {
        (void)parser_accept_keyword(p, "TABLE");
        TRY(parse_table_name(p, &s->table));
    }
    if (!parser_accept_keyword(p, "OPTIONS")) return SILT_OK;
    return parser_properties(p, &s->options.keys, &s->options.values, &s->options.count);
}
