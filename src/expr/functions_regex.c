/*
 * Regular expressions. DuckDB's engine is RE2: the same language as Java's for what people write, without look-around and back references, which RE2 refuses with an error.
 * Replacement texts are Java's ($1, \$) and become RE2's (\1).
 */
#include "expr/functions_tables.h"

static bool named(const expr *e, const char *name) { return str_eq_ascii_fold(e->function_name, str_of(name)); }

static silt_status print_part(printer *p, const expr *e) {
    bool all = named(e, "regexp_extract_all");
    int64_t group = 1;
    if (e->n_args == 3 && e->args[2]->kind == EXPR_LITERAL)
        group = e->args[2]->literal.as.i64;
    else if (e->n_args == 3)
        return err_NON_FOLDABLE_ARGUMENT(p->err, e->function_name, "`idx`");
    buf_append_z(p->out, all ? "regexp_extract_all(" : "regexp_extract(");
    TRY(print_exprs(p, e->args, 2, ", "));
    buf_printf(p->out, ", %lld)", (long long)group);
    return SILT_OK;
}

static silt_status print_replace(printer *p, const expr *e) {
    bool from = e->n_args == 4;
    if (from) {
        TRY(print_template(p,
                           "(silt_substring($1, 1, $4 - 1) || regexp_replace(silt_substring($1, $4, 2147483647), $2, "
                           "silt_re2_replacement($3), 'g'))",
                           e));
        return SILT_OK;
    }
    return print_template(p, "regexp_replace($1, $2, silt_re2_replacement($3), 'g')", e);
}

/* split(text, regex[, limit]): with a positive limit the last part is all that is left. */
static silt_status print_split(printer *p, const expr *e) {
    const expr *limit = e->n_args == 3 ? e->args[2] : NULL;
    bool unlimited = !limit || (limit->kind == EXPR_LITERAL && !limit->literal.is_null && limit->literal.as.i64 <= 0);
    if (unlimited) return print_template(p, "silt_split($1, regexp_extract_all($1, $2, 0), -1)", e);
    return print_template(p, "silt_split($1, regexp_extract_all($1, $2, 0), $3)", e);
}

static const function_row rows[] = {
    CUSTOM("regexp_replace", NULL, "string, string, string, int? -> string", 0, NULL, print_replace, "Every match replaced"),
    CUSTOM("regexp_extract", NULL, "string, string, int? -> string", 0, NULL, print_part,
           "A group (1 if not said) of the first match, '' without one"),
    CUSTOM("regexp_extract_all", NULL, "string, string, int? -> array(string)", 0, NULL, print_part, "A group of every match"),
    SCALAR("regexp_count", NULL, "string, string -> int", "CAST(len(regexp_extract_all($1, $2, 0)) AS INTEGER)",
           "Number of matches"),
    SCALAR_F("regexp_substr", NULL, "string, string -> string", FN_NULLABLE,
             "CASE WHEN regexp_matches($1, $2) THEN regexp_extract($1, $2, 0) END", "The first match"),
    SCALAR("regexp_instr", NULL, "string, string, int? -> int",
           "CASE WHEN regexp_matches($1, $2) THEN silt_locate(regexp_extract($1, $2, 0), $1, 1) WHEN $1 || $2 IS NOT NULL THEN 0 "
           "END",
           "Position of the first match"),
    CUSTOM("split", NULL, "string, string, int? -> array(string)", 0, NULL, print_split, "Parts between matches"),
};

GROUP_OF(functions_regex, "Regular expressions", rows);
