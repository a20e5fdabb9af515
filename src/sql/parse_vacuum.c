/* VACUUM t [RETAIN n HOURS] [DRY RUN] [FULL | LITE] [USING INVENTORY (query) | table], in any order and each at most once · FSCK REPAIR TABLE t [DRY RUN]. */
#include "sql/parse.h"
#include "sql/vacuum_statement.h"

static silt_status begin(parser *p, statement *s, statement_kind kind) {
    s->kind = kind;
    s->vacuum = ARENA_NEW(p->a, vacuum_statement);
    return s->vacuum ? SILT_OK : error_no_memory(p->err);
}

static silt_status retain(parser *p, vacuum_statement *v) {
    bool negative = parser_accept_op(p, "-");
    const token *t = parser_peek(p, 0);
    bool is_number = t->kind == TOKEN_INTEGER || t->kind == TOKEN_DECIMAL || t->kind == TOKEN_EXPONENT;
    if (!is_number || !str_to_f64(t->text, &v->retention_hours)) return parser_fail(p, "a number of hours");
    p->at++;
    if (negative) v->retention_hours = -v->retention_hours;
    v->has_retention = true;
    return parser_expect_keyword(p, "HOURS");
}

/* All rows of a table. */
static silt_status whole_table(parser *p, query **out) {
    query *q = ARENA_NEW(p->a, query);
    expr **list = ARENA_ARRAY(p->a, 1, expr *);
    if (!q || !list) return error_no_memory(p->err);
    TRY(parse_table_name(p, &q->from));
    list[0] = expr_new(p->a, EXPR_STAR, q->from->span);
    if (!list[0]) return error_no_memory(p->err);
    q->projections = list;
    q->n_projections = 1;
    *out = q;
    return SILT_OK;
}

static silt_status inventory(parser *p, vacuum_statement *v) {
    TRY(parser_expect_keyword(p, "INVENTORY"));
    if (!parser_accept_op(p, "(")) return whole_table(p, &v->inventory);
    TRY(parser_query(p, &v->inventory));
    return parser_expect_op(p, ")");
}

static silt_status once(parser *p, bool already, const char *clause) {
    if (!already) return SILT_OK;
    silt_status status = err_DUPLICATE_CLAUSES(p->err, clause);
    error_detail(p->err, "%.*s", STR_ARG(lexer_caret(p->text, p->tokens[p->at - 1].from, p->a)));
    return status;
}

static silt_status modifiers(parser *p, vacuum_statement *v) {
    for (;;) {
        if (parser_accept_keyword(p, "RETAIN")) {
            TRY(once(p, v->has_retention, "RETAIN"));
            TRY(retain(p, v));
        } else if (parser_accept_keywords(p, "DRY", "RUN")) {
            TRY(once(p, v->dry_run, "DRY RUN"));
            v->dry_run = true;
        } else if (parser_at_keyword(p, "FULL") || parser_at_keyword(p, "LITE")) {
            bool lite = parser_accept_keyword(p, "LITE");
            if (!lite) (void)parser_accept_keyword(p, "FULL");
            TRY(once(p, v->kind != VACUUM_DEFAULT, "LITE/FULL"));
            v->kind = lite ? VACUUM_LITE : VACUUM_FULL;
        } else if (parser_accept_keyword(p, "USING")) {
            TRY(once(p, v->inventory != NULL, "INVENTORY"));
            TRY(inventory(p, v));
        } else {
            return v->inventory && v->kind == VACUUM_LITE ? err_DELTA_OPERATION_NOT_ALLOWED(p->err, "USING INVENTORY with LITE") : SILT_OK;
        }
    }
}

silt_status parse_vacuum(parser *p, statement *s) {
    p->at++;
    TRY(begin(p, s, STMT_VACUUM));
    TRY(parse_table_name(p, &s->table));
    return modifiers(p, s->vacuum);
}

silt_status parse_fsck(parser *p, statement *s) {
    p->at++;
    TRY(begin(p, s, STMT_FSCK));
    TRY(parser_expect_keyword(p, "REPAIR"));
    TRY(parser_expect_keyword(p, "TABLE"));
    TRY(parse_table_name(p, &s->table));
    s->vacuum->dry_run = parser_accept_keywords(p, "DRY", "RUN");
    return SILT_OK;
}
