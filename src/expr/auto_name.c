/* Names of select list items without an alias, as Spark makes them from the expression: (a + 1), count(1), CASE WHEN (a > 1) THEN 2 END. */
#include "expr/expr.h"

static void write_name(buf *out, const expr *e);

static void write_list(buf *out, expr *const *items, size_t n) {
    for (size_t i = 0; i < n; i++) {
        if (i) buf_append_z(out, ", ");
        write_name(out, items[i]);
    }
}

static void write_lower(buf *out, str s) {
    for (size_t i = 0; i < s.len; i++)
        buf_append_char(out, s.ptr[i] >= 'A' && s.ptr[i] <= 'Z' ? (char)(s.ptr[i] + 32) : s.ptr[i]);
}

static bool is(const expr *e, const char *op) { return str_eqz(e->function_name, op); }

static void write_pair(buf *out, const expr *e, const char *word) {
    buf_append_char(out, '(');
    write_name(out, e->args[0]);
    buf_printf(out, " %s ", word);
    write_name(out, e->args[1]);
    buf_append_char(out, ')');
}

static bool write_operator(buf *out, const expr *e) {
    static const char *const infix[] = {"=", "<=>", "<", "<=", ">", ">=", "+", "-", "*", "/", "%", "&", "|", "^", "div"};
    for (size_t i = 0; i < ARRAY_LEN(infix); i++) {
        if (!is(e, infix[i]) || e->n_args != 2) continue;
        write_pair(out, e, infix[i]);
        return true;
    }
    bool negated = e->negated;
    if (negated) buf_append_z(out, "(NOT ");
    bool done = true;
    if (is(e, "and"))
        write_pair(out, e, "AND");
    else if (is(e, "or"))
        write_pair(out, e, "OR");
    else if (is(e, "<>")) {
        buf_append_z(out, "(NOT ");
        write_pair(out, e, "=");
        buf_append_char(out, ')');
    } else if (is(e, "not")) {
        buf_append_z(out, "(NOT ");
        write_name(out, e->args[0]);
        buf_append_char(out, ')');
    } else if (is(e, "like") || is(e, "rlike")) {
        if (is(e, "like")) {
            write_name(out, e->args[0]);
            buf_append_z(out, " LIKE ");
            write_name(out, e->args[1]);
        } else {
            buf_append_z(out, "RLIKE(");
            write_list(out, e->args, e->n_args);
            buf_append_char(out, ')');
        }
    } else if (is(e, "between")) {
        buf_append_z(out, "between(");
        write_list(out, e->args, 3);
        buf_append_char(out, ')');
    } else if (is(e, "in")) {
        buf_append_char(out, '(');
        write_name(out, e->args[0]);
        buf_append_z(out, " IN (");
        write_list(out, e->args + 1, e->n_args - 1);
        buf_append_z(out, "))");
    } else if (is(e, "isnull") || is(e, "isnotnull")) {
        buf_append_char(out, '(');
        write_name(out, e->args[0]);
        buf_append_z(out, is(e, "isnull") ? " IS NULL)" : " IS NOT NULL)");
    } else if (is(e, "negative") || is(e, "positive")) {
        buf_append_z(out, is(e, "negative") ? "(- " : "(+ ");
        write_name(out, e->args[0]);
        buf_append_char(out, ')');
    } else if (is(e, "~")) {
        buf_append_char(out, '~');
        write_name(out, e->args[0]);
    } else if (is(e, "||")) {
        buf_append_z(out, "concat(");
        write_list(out, e->args, 2);
        buf_append_char(out, ')');
    } else
        done = false;
    if (negated && done) buf_append_char(out, ')');
    return done;
}

static void write_call(buf *out, const expr *e) {
    if (!e->over && write_operator(out, e)) return;
    write_lower(out, e->function_name);
    buf_append_char(out, '(');
    if (e->is_distinct) buf_append_z(out, "DISTINCT ");
    bool count_star = e->n_args == 1 && e->args[0]->kind == EXPR_STAR && e->args[0]->name.count == 0;
    if (count_star)
        buf_append_char(out, '1');
    else
        write_list(out, e->args, e->n_args);
    buf_append_char(out, ')');
    if (e->filter) {
        buf_append_z(out, " FILTER (WHERE ");
        write_name(out, e->filter);
        buf_append_char(out, ')');
    }
    if (!e->over) return;
    expr bare = {.kind = EXPR_CALL, .over = e->over};
    buf tail;
    buf_init(&tail, 65536);
    expr_print_spark(&bare, &tail);
    str s = buf_str(&tail);
    size_t at = str_find(s, STR(" OVER "));
    buf_append(out, at == SIZE_MAX ? STR(" OVER ()") : str_slice(s, at, s.len));
    buf_dispose(&tail);
}

static void write_name(buf *out, const expr *e) {
    switch (e->kind) {
        case EXPR_LITERAL:
            if (!e->literal.is_null && e->literal.type->id == TYPE_STRING)
                buf_append(out, e->literal.as.bytes);
            else if (!e->literal.is_null && (type_is_integral(e->literal.type)))
                buf_append_i64(out, e->literal.as.i64);
            else if (!e->literal.is_null && e->literal.type->id == TYPE_DECIMAL)
                decimal_write(out, e->literal.as.decimal, e->literal.type->scale);
            else if (!e->literal.is_null && e->literal.type->id == TYPE_DOUBLE)
                text_write_f64_java(out, e->literal.as.f64);
            else
                expr_print_spark(e, out);
            return;
        case EXPR_COLUMN:
            if (e->name.count) buf_append(out, e->name.parts[e->name.count - 1]);
            return;
        case EXPR_CALL: write_call(out, e); return;
        case EXPR_CAST:
            if (e->implicit) {
                write_name(out, e->args[0]);
                return;
            }
            buf_append_z(out, e->is_try ? "TRY_CAST(" : "CAST(");
            write_name(out, e->args[0]);
            buf_append_z(out, " AS ");
            type_write_sql(out, e->cast_type);
            buf_append_char(out, ')');
            return;
        case EXPR_CASE: {
            size_t i = e->has_operand ? 1 : 0, end = e->n_args - e->has_else;
            buf_append_z(out, "CASE");
            for (; i + 1 < end; i += 2) {
                buf_append_z(out, " WHEN ");
                if (e->has_operand) {
                    expr pair = {
                        .kind = EXPR_CALL, .function_name = STR("="), .args = (expr *[]){e->args[0], e->args[i]}, .n_args = 2};
                    write_name(out, &pair);
                } else
                    write_name(out, e->args[i]);
                buf_append_z(out, " THEN ");
                write_name(out, e->args[i + 1]);
            }
            if (e->has_else) {
                buf_append_z(out, " ELSE ");
                write_name(out, e->args[e->n_args - 1]);
            }
            buf_append_z(out, " END");
            return;
        }
        case EXPR_FIELD: buf_append(out, e->field_name); return;
        case EXPR_INDEX:
            write_name(out, e->args[0]);
            buf_append_char(out, '[');
            write_name(out, e->args[1]);
            buf_append_char(out, ']');
            return;
        case EXPR_SUBQUERY: buf_append_z(out, "scalarsubquery()"); return;
        case EXPR_EXISTS: buf_append_z(out, "exists()"); return;
        case EXPR_NAMED:
            write_name(out, e->args[0]);
            if (e->n_aliases == 1) {
                buf_append_z(out, " AS ");
                buf_append(out, e->aliases[0]);
            }
            return;
        default: expr_print_spark(e, out); return;
    }
}

str expr_auto_name(const expr *e, str source_text, arena *a) {
    (void)source_text;
    buf out;
    buf_init(&out, 65536);
    write_name(&out, e);
    str name = arena_str(a, buf_str(&out));
    buf_dispose(&out);
    return name;
}
