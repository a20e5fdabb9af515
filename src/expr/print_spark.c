/*
 * Trees as Spark SQL: for EXPLAIN, error messages, stored texts and the Spark back end. Parentheses stand around every operator, so that precedence is never in question.
 * Casts that the binder put in are left out; relations without an alias of their own keep their names.
 */
#include <math.h>

#include "base/time.h"
#include "expr/expr.h"
#include "expr/functions.h"
#include "expr/parse_internal.h"

/* Words that would be read as something else where a name stands; those that end a clause are known to the parser. */
static bool is_reserved(str s) {
    static const char *const words[] = {"CASE",   "CAST", "TRY_CAST", "NULL",  "TRUE",    "FALSE", "INTERVAL", "DISTINCT",
                                        "EXISTS", "ALL",  "ANY",      "TABLE", "DEFAULT", "DATE",  "BY"};
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (str_eq_ascii_fold(s, str_of(words[i]))) return true;
    return parse_is_clause_word(s);
}

static bool is_plain(str s) {
    bool plain = s.len > 0 && !(s.ptr[0] >= '0' && s.ptr[0] <= '9');
    for (size_t i = 0; i < s.len && plain; i++) {
        char c = s.ptr[i];
        plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    }
    return plain;
}

/* Columns that a statement makes for itself have names that begin with a control character, so that no table has them; shown is the rest. */
static void print_name(buf *out, str s) {
    while (s.len > 1 && s.ptr[0] == '\x01') s = str_slice(s, 1, s.len);
    if (is_plain(s) && !is_reserved(s)) {
        buf_append(out, s);
        return;
    }
    buf_append_char(out, '`');
    for (size_t i = 0; i < s.len; i++) {
        if (s.ptr[i] == '`') buf_append_char(out, '`');
        buf_append_char(out, s.ptr[i]);
    }
    buf_append_char(out, '`');
}

static void print_dotted(buf *out, name_parts n) {
    for (size_t i = 0; i < n.count; i++) {
        if (i) buf_append_char(out, '.');
        print_name(out, n.parts[i]);
    }
}

static void print_quoted(buf *out, str s) {
    buf_append_char(out, '\'');
    for (size_t i = 0; i < s.len; i++) {
        char c = s.ptr[i];
        if (c == '\'' || c == '\\') buf_append_char(out, '\\');
        if (c == '\n')
            buf_append_z(out, "\\n");
        else if (c == '\r')
            buf_append_z(out, "\\r");
        else if (c == '\t')
            buf_append_z(out, "\\t");
        else if (c == 0)
            buf_append_z(out, "\\0");
        else
            buf_append_char(out, c);
    }
    buf_append_char(out, '\'');
}

/* ---- literals ---- */

static void print_floating(buf *out, double v, bool single) {
    if (isnan(v) || isinf(v)) {
        buf_printf(out, "CAST('%s' AS %s)", isnan(v) ? "NaN" : v < 0 ? "-Infinity" : "Infinity", single ? "FLOAT" : "DOUBLE");
        return;
    }
    if (single)
        text_write_f32_java(out, (float)v);
    else
        text_write_f64_java(out, v);
    buf_append_char(out, single ? 'F' : 'D');
}

static void print_literal_spark(buf *out, const value *v) {
    type_id t = v->type->id;
    if (v->is_null) {
        if (t == TYPE_VOID) {
            buf_append_z(out, "NULL");
            return;
        }
        buf_append_z(out, "CAST(NULL AS ");
        type_write_sql(out, v->type);
        buf_append_char(out, ')');
        return;
    }
    switch (t) {
        case TYPE_BOOLEAN: buf_append_z(out, v->as.boolean ? "true" : "false"); return;
        case TYPE_BYTE:
        case TYPE_SHORT:
        case TYPE_INT:
        case TYPE_LONG:
            buf_append_i64(out, v->as.i64);
            if (t != TYPE_INT) buf_append_char(out, t == TYPE_LONG ? 'L' : t == TYPE_SHORT ? 'S' : 'Y');
            return;
        case TYPE_FLOAT:
        case TYPE_DOUBLE: print_floating(out, v->as.f64, t == TYPE_FLOAT); return;
        case TYPE_DECIMAL:
            decimal_write(out, v->as.decimal, v->type->scale);
            if (v->type->scale == 0) buf_append_z(out, "BD");
            return;
        case TYPE_STRING: print_quoted(out, v->as.bytes); return;
        case TYPE_BINARY:
            buf_append_z(out, "X'");
            for (size_t i = 0; i < v->as.bytes.len; i++) buf_printf(out, "%02X", (unsigned char)v->as.bytes.ptr[i]);
            buf_append_char(out, '\'');
            return;
        case TYPE_DATE:
            buf_append_z(out, "DATE '");
            time_write_date(out, v->as.i64);
            buf_append_char(out, '\'');
            return;
        case TYPE_TIMESTAMP:
        case TYPE_TIMESTAMP_NTZ:
            buf_append_z(out, t == TYPE_TIMESTAMP ? "TIMESTAMP '" : "TIMESTAMP_NTZ '");
            time_write_timestamp_short(out, v->as.i64, ' ');
            buf_append_z(out, t == TYPE_TIMESTAMP ? "Z'" : "'");
            return;
        default: buf_append_z(out, "NULL"); return;
    }
}

static void print_interval_spark(buf *out, const expr *e) {
    buf_append_z(out, "INTERVAL");
    if (e->interval_months || (e->type && e->type->id == TYPE_INTERVAL_YM)) buf_printf(out, " '%d' MONTH", e->interval_months);
    if (e->interval_us || (e->type && e->type->id == TYPE_INTERVAL_DT) || !e->interval_months) {
        int64_t us = e->interval_us;
        uint64_t mag = us < 0 ? (uint64_t)0 - (uint64_t)us : (uint64_t)us;
        buf_printf(out, " '%s%llu.%06llu' SECOND", us < 0 ? "-" : "", (unsigned long long)(mag / 1000000),
                   (unsigned long long)(mag % 1000000));
    }
}

/* ---- calls ---- */

static bool is(const expr *e, const char *op) { return str_eqz(e->function_name, op); }

static void print_list(buf *out, expr *const *items, size_t n) {
    for (size_t i = 0; i < n; i++) {
        if (i) buf_append_z(out, ", ");
        expr_print_spark(items[i], out);
    }
}

static void print_keys(buf *out, const sort_key *keys, size_t n) {
    for (size_t i = 0; i < n; i++) {
        if (i) buf_append_z(out, ", ");
        expr_print_spark(keys[i].value, out);
        buf_append_z(out, keys[i].descending ? " DESC" : " ASC");
        buf_append_z(out, keys[i].nulls_first ? " NULLS FIRST" : " NULLS LAST");
    }
}

static void print_frame_bound(buf *out, frame_bound_kind kind, const expr *e) {
    static const char *const words[] = {"UNBOUNDED PRECEDING", " PRECEDING", "CURRENT ROW", " FOLLOWING", "UNBOUNDED FOLLOWING"};
    if (e && (kind == FRAME_PRECEDING || kind == FRAME_FOLLOWING)) expr_print_spark(e, out);
    buf_append_z(out, words[kind]);
}

static void print_window(buf *out, const window_spec *w) {
    bool space = false;
    buf_append_char(out, '(');
    if (w->base_name.len) {
        print_name(out, w->base_name);
        space = true;
    }
    if (w->n_partition_by) {
        buf_append_z(out, space ? " PARTITION BY " : "PARTITION BY ");
        print_list(out, w->partition_by, w->n_partition_by);
        space = true;
    }
    if (w->n_order_by) {
        buf_append_z(out, space ? " ORDER BY " : "ORDER BY ");
        print_keys(out, w->order_by, w->n_order_by);
        space = true;
    }
    if (w->has_frame) {
        buf_append_z(out, space ? " " : "");
        buf_append_z(out, w->is_range ? "RANGE BETWEEN " : "ROWS BETWEEN ");
        print_frame_bound(out, w->start_kind, w->start);
        buf_append_z(out, " AND ");
        print_frame_bound(out, w->end_kind, w->end);
    }
    buf_append_char(out, ')');
}

static void print_tail(buf *out, const expr *e) {
    if (e->n_within_order) {
        buf_append_z(out, " WITHIN GROUP (ORDER BY ");
        print_keys(out, e->within_order, e->n_within_order);
        buf_append_char(out, ')');
    }
    if (e->filter) {
        buf_append_z(out, " FILTER (WHERE ");
        expr_print_spark(e->filter, out);
        buf_append_char(out, ')');
    }
    if (e->ignore_nulls) buf_append_z(out, " IGNORE NULLS");
    if (!e->over) return;
    buf_append_z(out, " OVER ");
    print_window(out, e->over);
}

static bool print_operator_spark(buf *out, const expr *e) {
    static const char *const infix[] = {"=", "<=>", "<>", "<", "<=", ">", ">=", "+", "-", "*", "/", "%", "&", "|", "^", "||"};
    static const struct { const char *op, *word; } words[] = {{"and", "AND"}, {"or", "OR"}, {"div", "div"}};
    const char *word = NULL;
    for (size_t i = 0; i < ARRAY_LEN(infix); i++)
        if (is(e, infix[i])) word = infix[i];
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (is(e, words[i].op)) word = words[i].word;
    if (word && e->n_args == 2) {
        buf_append_char(out, '(');
        expr_print_spark(e->args[0], out);
        buf_printf(out, " %s ", word);
        expr_print_spark(e->args[1], out);
        buf_append_char(out, ')');
        return true;
    }
    bool like = is(e, "like") || is(e, "ilike") || is(e, "rlike");
    if (like && e->n_args >= 2) {
        buf_append_char(out, '(');
        expr_print_spark(e->args[0], out);
        buf_printf(out, "%s %s ", e->negated ? " NOT" : "", is(e, "like") ? "LIKE" : is(e, "ilike") ? "ILIKE" : "RLIKE");
        expr_print_spark(e->args[1], out);
        if (e->n_args == 3) {
            buf_append_z(out, " ESCAPE ");
            expr_print_spark(e->args[2], out);
        }
        buf_append_char(out, ')');
        return true;
    }
    if (is(e, "between") && e->n_args == 3) {
        buf_append_char(out, '(');
        expr_print_spark(e->args[0], out);
        buf_append_z(out, e->negated ? " NOT BETWEEN " : " BETWEEN ");
        expr_print_spark(e->args[1], out);
        buf_append_z(out, " AND ");
        expr_print_spark(e->args[2], out);
        buf_append_char(out, ')');
        return true;
    }
    if (is(e, "in") && e->n_args >= 2) {
        buf_append_char(out, '(');
        expr_print_spark(e->args[0], out);
        buf_append_z(out, e->negated ? " NOT IN (" : " IN (");
        print_list(out, e->args + 1, e->n_args - 1);
        buf_append_z(out, "))");
        return true;
    }
    if ((is(e, "isnull") || is(e, "isnotnull")) && e->n_args == 1) {
        buf_append_char(out, '(');
        expr_print_spark(e->args[0], out);
        buf_append_z(out, is(e, "isnull") ? " IS NULL)" : " IS NOT NULL)");
        return true;
    }
    const char *prefix = is(e, "not") ? "(NOT " : is(e, "negative") ? "(- " : is(e, "positive") ? "(+ " : is(e, "~") ? "~" : NULL;
    if (!prefix || e->n_args != 1) return false;
    buf_append_z(out, prefix);
    expr_print_spark(e->args[0], out);
    if (prefix[0] == '(') buf_append_char(out, ')');
    return true;
}

static void print_call_spark(buf *out, const expr *e) {
    if (!e->over && !e->is_distinct && print_operator_spark(out, e)) return;
    if (is_plain(e->function_name))
        buf_append(out, e->function_name); /* left(…), if(…): a call is no clause */
    else
        print_name(out, e->function_name);
    buf_append_char(out, '(');
    if (e->is_distinct) buf_append_z(out, "DISTINCT ");
    print_list(out, e->args, e->n_args);
    buf_append_char(out, ')');
    print_tail(out, e);
}

/* ---- the other kinds ---- */

static void print_case_spark(buf *out, const expr *e) {
    size_t i = 0;
    buf_append_z(out, "CASE");
    if (e->has_operand) {
        buf_append_char(out, ' ');
        expr_print_spark(e->args[i++], out);
    }
    size_t end = e->n_args - e->has_else;
    for (; i + 1 < end; i += 2) {
        buf_append_z(out, " WHEN ");
        expr_print_spark(e->args[i], out);
        buf_append_z(out, " THEN ");
        expr_print_spark(e->args[i + 1], out);
    }
    if (e->has_else) {
        buf_append_z(out, " ELSE ");
        expr_print_spark(e->args[e->n_args - 1], out);
    }
    buf_append_z(out, " END");
}

static void print_column_spark(buf *out, const expr *e) {
    if (e->name.count || !e->source) {
        print_dotted(out, e->name);
        return;
    }
    const relation *r = e->source;
    if (r->alias.len) {
        print_name(out, r->alias);
        buf_append_char(out, '.');
    }
    print_name(out, e->column < r->n_columns ? r->columns[e->column].name : STR("?"));
}

static void print_subquery_spark(buf *out, const expr *e) {
    if (e->kind == EXPR_IN_SUBQUERY) {
        buf_append_char(out, '(');
        if (e->n_args > 1) buf_append_char(out, '(');
        print_list(out, e->args, e->n_args);
        if (e->n_args > 1) buf_append_char(out, ')');
        buf_append_z(out, e->negated ? " NOT IN (" : " IN (");
        query_print_spark(e->subquery, out);
        buf_append_z(out, "))");
        return;
    }
    if (e->kind == EXPR_EXISTS) buf_append_z(out, e->negated ? "NOT EXISTS" : "EXISTS");
    buf_append_char(out, '(');
    query_print_spark(e->subquery, out);
    buf_append_char(out, ')');
}

static void print_star_spark(buf *out, const expr *e) {
    print_dotted(out, e->name);
    buf_append_z(out, e->name.count ? ".*" : "*");
    if (e->n_except == 0) return;
    buf_append_z(out, " EXCEPT (");
    for (size_t i = 0; i < e->n_except; i++) {
        if (i) buf_append_z(out, ", ");
        print_dotted(out, e->except[i]);
    }
    buf_append_char(out, ')');
}

static void print_aliases(buf *out, const str *names, size_t n) {
    if (n > 1) buf_append_char(out, '(');
    for (size_t i = 0; i < n; i++) {
        if (i) buf_append_z(out, ", ");
        print_name(out, names[i]);
    }
    if (n > 1) buf_append_char(out, ')');
}

static void print_lambda_spark(buf *out, const expr *e) {
    if (e->n_lambda_params > 1) buf_append_char(out, '(');
    for (size_t i = 0; i < e->n_lambda_params; i++) {
        if (i) buf_append_z(out, ", ");
        print_name(out, e->lambda_params[i]);
    }
    buf_append_z(out, e->n_lambda_params > 1 ? ") -> " : " -> ");
    expr_print_spark(e->args[0], out);
}

void expr_print_spark(const expr *e, buf *out) {
    if (!e) return;
    switch (e->kind) {
        case EXPR_LITERAL: print_literal_spark(out, &e->literal); return;
        case EXPR_COLUMN: print_column_spark(out, e); return;
        case EXPR_STAR: print_star_spark(out, e); return;
        case EXPR_CALL: print_call_spark(out, e); return;
        case EXPR_CAST:
            if (e->implicit) {
                expr_print_spark(e->args[0], out);
                return;
            }
            buf_append_z(out, e->is_try ? "TRY_CAST(" : "CAST(");
            expr_print_spark(e->args[0], out);
            buf_append_z(out, " AS ");
            type_write_sql(out, e->cast_type);
            buf_append_char(out, ')');
            return;
        case EXPR_CASE: print_case_spark(out, e); return;
        case EXPR_FIELD:
            expr_print_spark(e->args[0], out);
            buf_append_char(out, '.');
            print_name(out, e->field_name);
            return;
        case EXPR_INDEX:
            expr_print_spark(e->args[0], out);
            buf_append_char(out, '[');
            expr_print_spark(e->args[1], out);
            buf_append_char(out, ']');
            return;
        case EXPR_LAMBDA: print_lambda_spark(out, e); return;
        case EXPR_LAMBDA_VAR: print_name(out, e->function_name); return;
        case EXPR_SUBQUERY:
        case EXPR_EXISTS:
        case EXPR_IN_SUBQUERY: print_subquery_spark(out, e); return;
        case EXPR_INTERVAL: print_interval_spark(out, e); return;
        case EXPR_PARAMETER:
            if (e->function_name.len == 0)
                buf_append_char(out, '?');
            else
                buf_printf(out, ":%.*s", STR_ARG(e->function_name));
            return;
        case EXPR_DEFAULT: buf_append_z(out, "DEFAULT"); return;
        case EXPR_NAMED:
            expr_print_spark(e->args[0], out);
            buf_append_z(out, " AS ");
            print_aliases(out, e->aliases, e->n_aliases);
            return;
    }
}

/* ---- relations and queries ---- */

static void print_alias_of(buf *out, const relation *r) {
    if (r->alias.len) {
        buf_append_z(out, " AS ");
        print_name(out, r->alias);
    }
    if (r->n_column_aliases == 0) return;
    if (!r->alias.len) buf_append_z(out, " AS ");
    buf_append_char(out, '(');
    for (size_t i = 0; i < r->n_column_aliases; i++) {
        if (i) buf_append_z(out, ", ");
        print_name(out, r->column_aliases[i]);
    }
    buf_append_char(out, ')');
}

static void print_relation_spark(buf *out, const relation *r);

static void print_join_spark(buf *out, const relation *r) {
    static const char *const words[] = {" JOIN ",       " LEFT JOIN ",      " RIGHT JOIN ",    " FULL JOIN ",
                                        " CROSS JOIN ", " LEFT SEMI JOIN ", " LEFT ANTI JOIN "};
    print_relation_spark(out, r->left);
    if (r->natural) buf_append_z(out, " NATURAL");
    buf_append_z(out, words[r->join]);
    if (r->lateral) buf_append_z(out, "LATERAL ");
    bool parens = r->right->kind == REL_JOIN;
    if (parens) buf_append_char(out, '(');
    print_relation_spark(out, r->right);
    if (parens) buf_append_char(out, ')');
    if (r->n_using_columns && !r->natural) {
        buf_append_z(out, " USING (");
        for (size_t i = 0; i < r->n_using_columns; i++) {
            if (i) buf_append_z(out, ", ");
            print_name(out, r->using_columns[i]);
        }
        buf_append_char(out, ')');
    } else if (r->on && !r->natural) {
        buf_append_z(out, " ON ");
        expr_print_spark(r->on, out);
    }
}

static void print_table_spark(buf *out, const relation *r) {
    print_dotted(out, r->name);
    if (r->travel.version) {
        buf_append_z(out, " VERSION AS OF ");
        expr_print_spark(r->travel.version, out);
    }
    if (r->travel.timestamp) {
        buf_append_z(out, " TIMESTAMP AS OF ");
        expr_print_spark(r->travel.timestamp, out);
    }
    if (r->sample_percent >= 0 && r->kind == REL_TABLE && r->sample_percent > 0)
        buf_printf(out, " TABLESAMPLE (%g PERCENT)", r->sample_percent);
    print_alias_of(out, r);
}

static void print_function_spark(buf *out, const relation *r) {
    bool opened = r->n_args == 1 && r->args[0]->kind == EXPR_CALL && str_eq(r->args[0]->function_name, r->function_name);
    print_name(out, r->function_name);
    buf_append_char(out, '(');
    if (opened)
        print_list(out, r->args[0]->args, r->args[0]->n_args);
    else
        print_list(out, r->args, r->n_args);
    buf_append_char(out, ')');
    print_alias_of(out, r);
}

static void print_relation_spark(buf *out, const relation *r) {
    if (r->kind == REL_SUBQUERY && r->function_name.len) { /* made of a function: bind_function.c */
        print_function_spark(out, r);
        return;
    }
    switch (r->kind) {
        case REL_TABLE:
        case REL_CTE: print_table_spark(out, r); return;
        case REL_SUBQUERY:
            buf_append_char(out, '(');
            if (r->subquery) query_print_spark(r->subquery, out);
            buf_append_char(out, ')');
            print_alias_of(out, r);
            return;
        case REL_VALUES:
            buf_append_z(out, "VALUES ");
            for (size_t i = 0; i < r->n_rows; i++) {
                buf_append_z(out, i ? ", (" : "(");
                print_list(out, r->rows[i], r->n_row_columns);
                buf_append_char(out, ')');
            }
            print_alias_of(out, r);
            return;
        case REL_JOIN: print_join_spark(out, r); return;
        case REL_FUNCTION: print_function_spark(out, r); return;
        case REL_LATERAL_VIEW:
            if (r->left->kind == REL_EMPTY)
                buf_append_z(out, "VALUES (1)");
            else
                print_relation_spark(out, r->left);
            buf_append_z(out, r->outer ? " LATERAL VIEW OUTER " : " LATERAL VIEW ");
            expr_print_spark(r->args[0], out);
            if (r->alias.len) {
                buf_append_char(out, ' ');
                print_name(out, r->alias);
            }
            if (r->n_column_aliases) {
                buf_append_z(out, " AS ");
                for (size_t i = 0; i < r->n_column_aliases; i++) {
                    if (i) buf_append_z(out, ", ");
                    print_name(out, r->column_aliases[i]);
                }
            }
            return;
        case REL_EMPTY: return;
    }
}

static void print_group_spark(buf *out, const query *q) {
    if (q->group == GROUP_NONE) return;
    buf_append_z(out, " GROUP BY ");
    switch (q->group) {
        case GROUP_ALL: buf_append_z(out, "ALL"); return;
        case GROUP_SETS:
            buf_append_z(out, "GROUPING SETS (");
            for (size_t i = 0; i < q->n_group_sets; i++) {
                buf_append_z(out, i ? ", (" : "(");
                print_list(out, q->group_sets[i].items, q->group_sets[i].count);
                buf_append_char(out, ')');
            }
            buf_append_char(out, ')');
            return;
        default: break;
    }
    bool call = q->group == GROUP_ROLLUP || q->group == GROUP_CUBE;
    if (call) buf_append_z(out, q->group == GROUP_ROLLUP ? "ROLLUP (" : "CUBE (");
    print_list(out, q->group_items, q->n_group_items);
    if (call) buf_append_char(out, ')');
}

static void print_select_spark(buf *out, const query *q) {
    buf_append_z(out, q->distinct ? "SELECT DISTINCT " : "SELECT ");
    for (size_t i = 0; i < q->n_projections; i++) {
        if (i) buf_append_z(out, ", ");
        expr_print_spark(q->projections[i], out);
        bool bound = q->column_names && i < q->n_columns && q->projections[i]->kind != EXPR_NAMED;
        if (!bound) continue;
        buf_append_z(out, " AS ");
        print_name(out, q->column_names[i]);
    }
    if (q->from && q->from->kind != REL_EMPTY) {
        buf_append_z(out, " FROM ");
        print_relation_spark(out, q->from);
    }
    if (q->where) {
        buf_append_z(out, " WHERE ");
        expr_print_spark(q->where, out);
    }
    print_group_spark(out, q);
    if (q->having) {
        buf_append_z(out, " HAVING ");
        expr_print_spark(q->having, out);
    }
    if (q->qualify) {
        buf_append_z(out, " QUALIFY ");
        expr_print_spark(q->qualify, out);
    }
    for (size_t i = 0; i < q->n_windows; i++) {
        buf_append_z(out, i ? ", " : " WINDOW ");
        print_name(out, q->windows[i].name);
        buf_append_z(out, " AS ");
        print_window(out, q->windows[i].spec);
    }
}

void query_print_spark(const query *q, buf *out) {
    for (size_t i = 0; i < q->n_ctes; i++) {
        const cte_def *c = &q->ctes[i];
        buf_append_z(out, i ? ", " : q->recursive ? "WITH RECURSIVE " : "WITH ");
        print_name(out, c->name);
        if (c->n_column_aliases) {
            buf_append_char(out, '(');
            for (size_t k = 0; k < c->n_column_aliases; k++) {
                if (k) buf_append_z(out, ", ");
                print_name(out, c->column_aliases[k]);
            }
            buf_append_char(out, ')');
        }
        buf_append_z(out, " AS (");
        query_print_spark(c->body, out);
        buf_append_char(out, ')');
    }
    if (q->n_ctes) buf_append_char(out, ' ');
    if (q->set == SET_NONE) {
        print_select_spark(out, q);
    } else {
        static const char *const words[] = {"", " UNION ", " INTERSECT ", " EXCEPT "};
        buf_append_char(out, '(');
        query_print_spark(q->left, out);
        buf_append_char(out, ')');
        buf_append_z(out, words[q->set]);
        if (q->set_all) buf_append_z(out, "ALL ");
        if (q->set_by_name) buf_append_z(out, "BY NAME ");
        buf_append_char(out, '(');
        query_print_spark(q->right, out);
        buf_append_char(out, ')');
    }
    if (q->n_order_by) {
        buf_append_z(out, " ORDER BY ");
        print_keys(out, q->order_by, q->n_order_by);
    } else if (q->order_by_all) {
        buf_append_z(out, q->order_all_descending ? " ORDER BY ALL DESC" : " ORDER BY ALL");
    }
    if (q->limit) {
        buf_append_z(out, " LIMIT ");
        expr_print_spark(q->limit, out);
    }
    if (q->offset) {
        buf_append_z(out, " OFFSET ");
        expr_print_spark(q->offset, out);
    }
}
