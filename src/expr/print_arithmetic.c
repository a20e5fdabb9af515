/*
 * + - * / % div and comparisons of numbers. Integers and doubles use DuckDB's own operators, which raise on overflow. Decimals use them where DuckDB's result has Spark's
 * scale (its sums and products are exact); where Spark gives up scale to stay within 38 digits, and for division, Silt's own 256-bit arithmetic runs:
 * silt_decimal_op(op, x, y, scale) gives the unscaled digits as a HUGEINT, and silt_decimal_<p>_<s> makes a decimal of it.
 */
#include "expr/print.h"

static bool is(const expr *e, const char *op) { return str_eqz(e->function_name, op); }
static int max_int(int x, int y) { return x > y ? x : y; }

static bool is_nonzero_literal(const expr *e) {
    if (e->kind != EXPR_LITERAL || e->literal.is_null) return false;
    switch (e->type->id) {
        case TYPE_FLOAT:
        case TYPE_DOUBLE: return e->literal.as.f64 < 0 || e->literal.as.f64 > 0;
        case TYPE_DECIMAL: return e->literal.as.decimal != 0;
        default: return type_is_integral(e->type) && e->literal.as.i64 != 0;
    }
}

silt_status print_divisor(printer *p, const expr *e, const char *condition, const char *message) {
    if (is_nonzero_literal(e)) return print_expr(p, e);
    str text;
    TRY(print_expr_text(p, e, &text));
    buf_printf(p->out, "CASE WHEN %.*s = 0 THEN ", STR_ARG(text));
    print_constant_error(p, condition, "22012", message, e->type);
    buf_printf(p->out, " ELSE %.*s END", STR_ARG(text));
    return SILT_OK;
}

void print_decimal_begin(printer *p, const data_type *t, bool or_null) {
    if (!or_null) print_guard_begin(p);
    buf_printf(p->out, "silt_decimal_%d_%d(", t->precision, t->scale);
}

void print_decimal_end(printer *p, bool or_null) {
    buf_append_z(p->out, or_null ? ", true)" : ", false)");
    if (!or_null) print_guard_end(p);
}

/* ---- decimals ---- */

/* Scale and precision that DuckDB gives to the sum or product; false when it cannot do it. */
static bool native_decimal(const expr *e, int *out_precision, int *out_scale) {
    const data_type *x = e->args[0]->type, *y = e->args[1]->type;
    if (is(e, "*")) {
        *out_precision = x->precision + y->precision;
        *out_scale = x->scale + y->scale;
    } else if (is(e, "+") || is(e, "-")) {
        *out_scale = max_int(x->scale, y->scale);
        *out_precision = max_int(x->precision - x->scale, y->precision - y->scale) + *out_scale + 1;
    } else {
        return false;
    }
    return *out_scale == e->type->scale && (*out_precision <= 38 || e->type->precision == 38);
}

static silt_status print_native_decimal(printer *p, const expr *e, int precision) {
    bool cast = (precision < 38 ? precision : 38) != e->type->precision;
    buf_append_z(p->out, cast ? "CAST((" : "(");
    TRY(print_expr(p, e->args[0]));
    buf_printf(p->out, " %.*s ", STR_ARG(e->function_name));
    TRY(print_expr(p, e->args[1]));
    if (!cast) {
        buf_append_char(p->out, ')');
        return SILT_OK;
    }
    buf_printf(p->out, ") AS DECIMAL(%d,%d))", e->type->precision, e->type->scale);
    return SILT_OK;
}

static silt_status print_decimal(printer *p, const expr *e) {
    int precision, scale;
    if (native_decimal(e, &precision, &scale)) return print_native_decimal(p, e, precision);
    bool whole = is(e, "div");
    if (whole) {
        print_guard_begin(p);
        buf_append_z(p->out, "CAST(silt_decimal_op('div', ");
    } else {
        print_decimal_begin(p, e->type, false);
        buf_printf(p->out, "silt_decimal_op('%.*s', ", STR_ARG(e->function_name));
    }
    TRY(print_expr(p, e->args[0]));
    buf_append_z(p->out, ", ");
    TRY(print_expr(p, e->args[1]));
    buf_printf(p->out, ", %d)", whole ? 0 : e->type->scale);
    if (whole) {
        buf_append_z(p->out, " AS BIGINT)");
        print_guard_end(p);
    } else {
        print_decimal_end(p, false);
    }
    return SILT_OK;
}

/* ---- times ---- */

static bool is_interval(const data_type *t) { return t->id >= TYPE_INTERVAL_YM && t->id <= TYPE_INTERVAL; }

/* A zoned time and days, hours …: whole days count in local time, the rest is exact time, across changes of the zone's offset. */
static silt_status print_day_time_sum(printer *p, const expr *e) {
    str time, interval;
    TRY(print_expr_text(p, e->args[0], &time));
    TRY(print_expr_text(p, e->args[1], &interval));
    buf_append_z(p->out, "silt_zoned(silt_local(timezone(");
    print_string(p, p->env->time_zone);
    buf_append_z(p->out, ", timezone(");
    print_string(p, p->env->time_zone);
    buf_printf(p->out,
               ", %.*s) %.*s to_days(CAST(silt_interval_part(%.*s, 'day') AS INTEGER))), 0::BIGINT) %.*s "
               "silt_interval_rest(%.*s), 0::BIGINT)",
               STR_ARG(time), STR_ARG(e->function_name), STR_ARG(interval), STR_ARG(e->function_name), STR_ARG(interval));
    return SILT_OK;
}

/* Dates and timestamps with intervals: in local time. */
static silt_status print_time_arithmetic(printer *p, const expr *e) {
    const data_type *x = e->args[0]->type, *y = e->args[1]->type;
    if (is_interval(x) && is_interval(y)) {
        buf_append_z(p->out, y->id == TYPE_INTERVAL_YM ? "(" : "silt_interval_us(");
        TRY(print_expr(p, e->args[0]));
        buf_printf(p->out, " %.*s ", STR_ARG(e->function_name));
        TRY(print_expr(p, e->args[1]));
        buf_append_char(p->out, ')');
        return SILT_OK;
    }
    if (is_interval(x)) {
        bool divide = is(e, "/");
        print_guard_begin(p);
        buf_printf(p->out, "silt_interval_%s(", divide ? "divide" : "multiply");
        TRY(print_expr(p, e->args[0]));
        buf_append_z(p->out, ", CAST(");
        TRY(print_expr(p, e->args[1]));
        buf_append_z(p->out, " AS DOUBLE))");
        print_guard_end(p);
        return SILT_OK;
    }
    if (!is_interval(y)) { /* difference of two */
        buf_append_z(p->out, "silt_interval_us(");
        for (size_t i = 0; i < 2; i++) {
            if (i) buf_append_z(p->out, " - ");
            TRY(print_local(p, e->args[i]));
        }
        buf_append_char(p->out, ')');
        return SILT_OK;
    }
    bool zoned = x->id == TYPE_TIMESTAMP, date = x->id == TYPE_DATE;
    if (zoned && y->id == TYPE_INTERVAL_DT && !p->fixed_zone) return print_day_time_sum(p, e);
    if (zoned) print_zoned_begin(p);
    buf_append_z(p->out, date ? "CAST((" : "(");
    TRY(print_local(p, e->args[0]));
    buf_printf(p->out, " %.*s ", STR_ARG(e->function_name));
    TRY(print_expr(p, e->args[1]));
    buf_append_z(p->out, date ? ") AS DATE)" : ")");
    if (zoned) print_zoned_end(p);
    return SILT_OK;
}

/* ---- the operators ---- */

static silt_status print_plain(printer *p, const expr *e, const char *op) {
    buf_append_char(p->out, '(');
    TRY(print_expr(p, e->args[0]));
    buf_printf(p->out, " %s ", op);
    TRY(print_expr(p, e->args[1]));
    buf_append_char(p->out, ')');
    return SILT_OK;
}

static silt_status print_division(printer *p, const expr *e, const char *op, const char *condition, const char *message) {
    buf_append_char(p->out, '(');
    TRY(print_expr(p, e->args[0]));
    buf_printf(p->out, " %s ", op);
    TRY(print_divisor(p, e->args[1], condition, message));
    buf_append_char(p->out, ')');
    return SILT_OK;
}

/* By a constant: a function that cannot fail, so that DuckDB filters by it while it reads. Its own % may, and is a filter above the scan. */
static silt_status print_modulo(printer *p, const expr *e) {
    buf_append_z(p->out, "silt_modulo(");
    TRY(print_expr(p, e->args[0]));
    buf_append_z(p->out, ", ");
    TRY(print_expr(p, e->args[1]));
    buf_append_char(p->out, ')');
    return SILT_OK;
}

/* MIN % -1 overflows in DuckDB and is 0. */
static silt_status print_remainder(printer *p, const expr *e) {
    bool integral = type_is_integral(e->type), constant = e->args[1]->kind == EXPR_LITERAL;
    if (integral && is_nonzero_literal(e->args[1]) && e->args[0]->type == e->type && e->args[1]->type == e->type) return print_modulo(p, e);
    if (!integral || constant)
        return print_division(p, e, "%", "REMAINDER_BY_ZERO",
                              "Remainder by zero. Use try_mod to tolerate a divisor of 0 and return NULL instead.");
    print_guard_begin(p);
    buf_append_z(p->out, "CAST(silt_remainder(CAST(");
    TRY(print_expr(p, e->args[0]));
    buf_append_z(p->out, " AS BIGINT), CAST(");
    TRY(print_expr(p, e->args[1]));
    buf_append_z(p->out, " AS BIGINT)) AS ");
    type_print_duckdb(p->out, e->type, false);
    buf_append_char(p->out, ')');
    print_guard_end(p);
    return SILT_OK;
}

silt_status print_arithmetic(printer *p, const expr *e) {
    const data_type *x = e->args[0]->type, *y = e->args[1]->type;
    bool time = type_is_numeric(x) && type_is_numeric(y) ? false : x->id != TYPE_VOID && y->id != TYPE_VOID;
    if (time) return print_time_arithmetic(p, e);
    if (x->id == TYPE_DECIMAL) return print_decimal(p, e);
    static const char *const by_zero = "Division by zero. Use try_divide to tolerate a divisor of 0 and return NULL instead.";
    if (is(e, "/")) return print_division(p, e, "/", "DIVIDE_BY_ZERO", by_zero);
    if (is(e, "div")) return print_division(p, e, "//", "DIVIDE_BY_ZERO", by_zero);
    if (is(e, "%")) return print_remainder(p, e);
    char op[2] = {e->function_name.ptr[0], 0};
    return print_plain(p, e, op);
}
