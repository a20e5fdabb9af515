/* Calls: operators, templates of the registry, aggregates and windows. */
#include "expr/print.h"

static bool is(const expr *e, const char *op) { return str_eqz(e->function_name, op); }

/* ---- windows ---- */

static silt_status print_bound(printer *p, frame_bound_kind kind, const expr *e) {
    static const char *const words[] = {"UNBOUNDED PRECEDING", " PRECEDING", "CURRENT ROW", " FOLLOWING", "UNBOUNDED FOLLOWING"};
    if (e && (kind == FRAME_PRECEDING || kind == FRAME_FOLLOWING)) {
        buf_append_char(p->out, '(');
        TRY(print_expr(p, e));
        buf_append_char(p->out, ')');
    }
    buf_append_z(p->out, words[kind]);
    return SILT_OK;
}

static silt_status print_keys(printer *p, const sort_key *keys, size_t n) {
    for (size_t i = 0; i < n; i++) {
        buf_append_z(p->out, i ? ", " : "ORDER BY ");
        TRY(print_expr(p, keys[i].value));
        buf_append_z(p->out, keys[i].descending ? " DESC" : " ASC");
        buf_append_z(p->out, keys[i].nulls_first ? " NULLS FIRST" : " NULLS LAST");
    }
    return SILT_OK;
}

static silt_status print_over(printer *p, const window_spec *w) {
    buf_append_z(p->out, " OVER (");
    if (w->n_partition_by) {
        buf_append_z(p->out, "PARTITION BY ");
        TRY(print_exprs(p, w->partition_by, w->n_partition_by, ", "));
        buf_append_char(p->out, ' ');
    }
    TRY(print_keys(p, w->order_by, w->n_order_by));
    if (w->has_frame) {
        buf_append_z(p->out, w->is_range ? " RANGE BETWEEN " : " ROWS BETWEEN ");
        TRY(print_bound(p, w->start_kind, w->start));
        buf_append_z(p->out, " AND ");
        TRY(print_bound(p, w->end_kind, w->end));
    }
    buf_append_char(p->out, ')');
    return SILT_OK;
}

silt_status print_window_tail(printer *p, const expr *call) {
    if (call->filter) {
        buf_append_z(p->out, " FILTER (WHERE ");
        TRY(print_expr(p, call->filter));
        buf_append_char(p->out, ')');
    }
    return call->over ? print_over(p, call->over) : SILT_OK;
}

/* ---- templates ---- */

/* An aggregate's FILTER keeps its argument from being computed for the other rows, which could raise; DuckDB computes arguments before it filters. */
silt_status print_argument(printer *p, const expr *call, const expr *argument) {
    if (!call->filter || argument->kind == EXPR_LITERAL || argument->kind == EXPR_COLUMN) return print_expr(p, argument);
    buf_append_z(p->out, "CASE WHEN ");
    TRY(print_expr(p, call->filter));
    buf_append_z(p->out, " THEN ");
    TRY(print_expr(p, argument));
    buf_append_z(p->out, " END");
    return SILT_OK;
}

static silt_status print_arguments(printer *p, const expr *call, size_t from) {
    for (size_t i = from; i < call->n_args; i++) {
        if (i > from) buf_append_z(p->out, ", ");
        TRY(print_argument(p, call, call->args[i]));
    }
    return SILT_OK;
}

static silt_status print_placeholder(printer *p, const char **at, const expr *call) {
    const char *c = *at + 1;
    bool guarded = *c == 'G' && c[1] >= '1' && c[1] <= '9', local = *c == 'L' && c[1] >= '1' && c[1] <= '9',
         typed = *c == 'T' && c[1] >= '1' && c[1] <= '9';
    *at = c + 1;
    if (local || typed || guarded) {
        size_t i = (size_t)(c[1] - '1');
        *at = c + 2;
        if (i >= call->n_args) return err_INTERNAL_ERROR(p->err, "template names a missing argument");
        if (local) return print_local(p, call->args[i]);
        if (guarded) return print_guarded(p, call->args[i]);
        type_print_duckdb(p->out, call->args[i]->type, false);
        return SILT_OK;
    }
    if (*c >= '1' && *c <= '9') {
        size_t i = (size_t)(*c - '1');
        if (c[1] == '*') {
            *at = c + 2;
            return print_arguments(p, call, i);
        }
        if (i >= call->n_args) return err_INTERNAL_ERROR(p->err, "template names a missing argument");
        return print_argument(p, call, call->args[i]);
    }
    switch (*c) {
        case '*': return print_exprs(p, call->args, call->n_args, ", ");
        case 'Z': print_string(p, p->env->time_zone.len ? p->env->time_zone : STR("UTC")); return SILT_OK;
        case 'T': type_print_duckdb(p->out, call->type, false); return SILT_OK;
        case 'D': buf_append_z(p->out, call->is_distinct ? "DISTINCT " : ""); return SILT_OK;
        case 'I': buf_append_z(p->out, call->ignore_nulls ? " IGNORE NULLS" : ""); return SILT_OK;
        case 'F': return print_window_tail(p, call);
        case 'O': return print_keys(p, call->within_order, call->n_within_order);
        default: buf_append_char(p->out, *c); return SILT_OK;
    }
}

silt_status print_template(printer *p, const char *text, const expr *call) {
    for (const char *at = text; *at;) {
        if (*at == '$')
            TRY(print_placeholder(p, &at, call));
        else
            buf_append_char(p->out, *at++);
    }
    return SILT_OK;
}

/* ---- operators ---- */

static silt_status print_infix(printer *p, const expr *e, const char *op) {
    buf_append_char(p->out, '(');
    TRY(print_expr(p, e->args[0]));
    buf_printf(p->out, " %s ", op);
    TRY(print_expr(p, e->args[1]));
    buf_append_char(p->out, ')');
    return SILT_OK;
}

/* A chain of AND or OR, whichever way its tree leans: one pair of parentheses for all. */
static silt_status print_chain(printer *p, const expr *e, const char *word, bool top) {
    if (top) buf_append_char(p->out, '(');
    for (size_t i = 0; i < 2; i++) {
        const expr *side = e->args[i];
        bool goes_on = side->kind == EXPR_CALL && str_eq(side->function_name, e->function_name);
        if (i > 0) buf_append_z(p->out, word);
        TRY(goes_on ? print_chain(p, side, word, false) : print_expr(p, side));
    }
    if (top) buf_append_char(p->out, ')');
    return SILT_OK;
}

static silt_status print_between(printer *p, const expr *e) {
    buf_append_char(p->out, '(');
    TRY(print_expr(p, e->args[0]));
    buf_append_z(p->out, e->negated ? " NOT BETWEEN " : " BETWEEN ");
    TRY(print_expr(p, e->args[1]));
    buf_append_z(p->out, " AND ");
    TRY(print_expr(p, e->args[2]));
    buf_append_char(p->out, ')');
    return SILT_OK;
}

static silt_status print_in(printer *p, const expr *e) {
    buf_append_char(p->out, '(');
    TRY(print_expr(p, e->args[0]));
    buf_append_z(p->out, e->negated ? " NOT IN (" : " IN (");
    TRY(print_exprs(p, e->args + 1, e->n_args - 1, ", "));
    buf_append_z(p->out, "))");
    return SILT_OK;
}

/* A literal pattern without an escape is DuckDB's LIKE (and keeps its prefix tricks); others go through Silt's, which knows Spark's errors. */
static silt_status print_like(printer *p, const expr *e) {
    const expr *pattern = e->args[1];
    bool ilike = is(e, "ilike"), literal = pattern->kind == EXPR_LITERAL && !pattern->literal.is_null;
    bool plain = literal && str_find_char(pattern->literal.as.bytes,
                                          e->n_args == 3 ? e->args[2]->literal.as.bytes.ptr[0] : '\\') == SIZE_MAX;
    if (plain) {
        buf_append_char(p->out, '(');
        TRY(print_expr(p, e->args[0]));
        buf_printf(p->out, "%s%s ", e->negated ? " NOT" : "", ilike ? " ILIKE" : " LIKE");
        TRY(print_expr(p, pattern));
        buf_append_char(p->out, ')');
        return SILT_OK;
    }
    buf_append_z(p->out, e->negated ? "(NOT " : "(");
    print_guard_begin(p);
    buf_printf(p->out, "silt_like(");
    TRY(print_exprs(p, e->args, 2, ", "));
    buf_append_z(p->out, ", ");
    if (e->n_args == 3)
        TRY(print_expr(p, e->args[2]));
    else
        buf_append_z(p->out, "'\\'");
    buf_printf(p->out, ", %s)", ilike ? "true" : "false");
    print_guard_end(p);
    buf_append_char(p->out, ')');
    return SILT_OK;
}

static silt_status print_prefix(printer *p, const expr *e, const char *word) {
    buf_printf(p->out, "(%s", word);
    TRY(print_expr(p, e->args[0]));
    buf_append_char(p->out, ')');
    return SILT_OK;
}

static silt_status print_null_test(printer *p, const expr *e, const char *word) {
    buf_append_char(p->out, '(');
    TRY(print_expr(p, e->args[0]));
    buf_append_z(p->out, word);
    return SILT_OK;
}

static silt_status print_operator(printer *p, const expr *e) {
    if (is(e, "and")) return print_chain(p, e, " AND ", true);
    if (is(e, "or")) return print_chain(p, e, " OR ", true);
    if (is(e, "not")) return print_prefix(p, e, "NOT ");
    if (is(e, "between")) return print_between(p, e);
    if (is(e, "in")) return print_in(p, e);
    if (is(e, "isnull")) return print_null_test(p, e, " IS NULL)");
    if (is(e, "isnotnull")) return print_null_test(p, e, " IS NOT NULL)");
    if (is(e, "like") || is(e, "ilike")) return print_like(p, e);
    if (is(e, "<=>")) return print_infix(p, e, "IS NOT DISTINCT FROM");
    if (is(e, "negative")) return print_prefix(p, e, "-");
    if (is(e, "~")) return print_prefix(p, e, "~");
    if (is(e, "^")) {
        buf_append_z(p->out, "xor(");
        TRY(print_exprs(p, e->args, 2, ", "));
        buf_append_char(p->out, ')');
        return SILT_OK;
    }
    static const char *const infix[] = {"=", "<>", "<", "<=", ">", ">=", "&", "|"};
    for (size_t i = 0; i < ARRAY_LEN(infix); i++)
        if (is(e, infix[i])) return print_infix(p, e, infix[i]);
    return print_arithmetic(p, e);
}

static silt_status print_rlike(printer *p, const expr *e) {
    buf_append_z(p->out, e->negated ? "(NOT regexp_matches(" : "regexp_matches(");
    TRY(print_exprs(p, e->args, 2, ", "));
    buf_append_z(p->out, e->negated ? "))" : ")");
    return SILT_OK;
}

silt_status print_call(printer *p, const expr *e) {
    if (is(e, "rlike")) return print_rlike(p, e);
    if (!e->function) return print_operator(p, e);
    const function_row *row = e->function;
    bool raises = row->flags & FN_RAISES;
    if (raises) print_guard_begin(p);
    if (row->print)
        TRY(row->print(p, e));
    else
        TRY(print_template(p, row->sql, e));
    if (raises) print_guard_end(p);
    return SILT_OK;
}
