/* Mathematical functions. What libm does, Spark does too; domain errors give NaN or NULL as Java's Math and Spark's logarithms have it. */
#include "expr/functions_tables.h"

static bool named(const expr *e, const char *name) { return str_eq_ascii_fold(e->function_name, str_of(name)); }

/* ---- rounding ---- */

static bool literal_digits(const expr *e, int64_t *out) {
    const expr *d = e;
    bool negative = false;
    if (d->kind == EXPR_CALL && named(d, "negative")) d = d->args[0], negative = true;
    if (d->kind != EXPR_LITERAL || d->literal.is_null || !type_is_integral(d->type)) return false;
    *out = negative ? -d->literal.as.i64 : d->literal.as.i64;
    return true;
}

/* round, bround: decimals lose scale and may gain a digit before the point; other types stay. */
static silt_status bind_round(binder *b, expr *e) {
    const data_type *t = e->args[0]->type;
    int64_t digits = 0;
    if (e->n_args == 2) {
        TRY(bind_coerce_slot(b, &e->args[1], &type_int, e, 1));
        value v;
        bool folded;
        if (!literal_digits(e->args[1], &digits)) {
            TRY(bind_fold(b, e->args[1], &v, &folded));
            if (!folded || v.is_null) return err_NON_FOLDABLE_ARGUMENT(b->err, e->function_name, "`scale`");
            digits = v.as.i64;
        }
    }
    e->column = (uint32_t)(int32_t)digits;
    e->type = t;
    if (t->id != TYPE_DECIMAL) return SILT_OK;
    int p = t->precision, s = t->scale, integral = p - s + 1;
    if (digits < 0)
        BIND_NEW(e->type, type_decimal(b->a,
                                       integral > -(int)digits + 1 ? (integral > 38 ? 38 : integral)
                                                                   : (-(int)digits + 1 > 38 ? 38 : -(int)digits + 1),
                                       0));
    else {
        int scale = digits > s ? s : (int)digits;
        BIND_NEW(e->type, type_decimal(b->a, integral + scale > 38 ? 38 : integral + scale, scale));
    }
    return SILT_OK;
}

static silt_status print_round(printer *p, const expr *e) {
    int digits = (int32_t)e->column;
    const char *mode = named(e, "bround") ? "even" : named(e, "floor") ? "floor" : named(e, "round") ? "up" : "ceil";
    type_id t = e->args[0]->type->id;
    if (t == TYPE_DECIMAL) {
        print_decimal_begin(p, e->type, false);
        buf_append_z(p->out, "silt_decimal_round(");
        TRY(print_expr(p, e->args[0]));
        buf_printf(p->out, ", %d, '%s')", digits > e->type->scale ? e->type->scale : digits, mode);
        print_decimal_end(p, false);
        return SILT_OK;
    }
    if (type_is_integral(e->args[0]->type)) {
        if (digits >= 0) return print_expr(p, e->args[0]);
        print_guard_begin(p);
        buf_append_z(p->out, "CAST(silt_integer_round(CAST(");
        TRY(print_expr(p, e->args[0]));
        buf_printf(p->out, " AS BIGINT), %d, '%s', %d) AS ", digits, mode,
                   e->type->id == TYPE_LONG    ? 64
                   : e->type->id == TYPE_INT   ? 32
                   : e->type->id == TYPE_SHORT ? 16
                                               : 8);
        type_print_duckdb(p->out, e->type, false);
        buf_append_char(p->out, ')');
        print_guard_end(p);
        return SILT_OK;
    }
    buf_append_z(p->out, t == TYPE_FLOAT ? "CAST(silt_round(CAST(" : "silt_round(");
    TRY(print_expr(p, e->args[0]));
    buf_printf(p->out, t == TYPE_FLOAT ? " AS DOUBLE), %d, '%s') AS FLOAT)" : ", %d, '%s')", digits, mode);
    return SILT_OK;
}

/* ceil, floor: BIGINT for doubles, DECIMAL(p-s+1, 0) for decimals; with a scale argument like round, by way of decimals. */
static silt_status bind_ceil(binder *b, expr *e) {
    if (str_eq_ascii_fold(e->function_name, STR("ceiling"))) e->function_name = STR("ceil");
    if (e->n_args == 2) {
        const data_type *t = e->args[0]->type;
        if (t->id != TYPE_DECIMAL) {
            const data_type *d = coerce_decimal_of(b->a, t);
            if (!d) BIND_NEW(d, type_decimal(b->a, 30, 15));
            TRY(bind_cast_slot(b, &e->args[0], d));
        }
        return bind_round(b, e);
    }
    const data_type *t = e->args[0]->type;
    e->column = 0;
    if (t->id == TYPE_DECIMAL) {
        int integral = t->precision - t->scale + (t->scale > 0);
        BIND_NEW(e->type, type_decimal(b->a, integral < 1 ? 1 : integral > 38 ? 38 : integral, 0));
        return SILT_OK;
    }
    if (!type_is_integral(t)) TRY(bind_cast_slot(b, &e->args[0], &type_double));
    e->type = &type_long;
    return SILT_OK;
}

static silt_status print_ceil(printer *p, const expr *e) {
    type_id t = e->args[0]->type->id;
    if (t == TYPE_DECIMAL) return print_round(p, e);
    if (t != TYPE_DOUBLE) {
        buf_append_z(p->out, "CAST(");
        TRY(print_expr(p, e->args[0]));
        buf_append_z(p->out, " AS BIGINT)");
        return SILT_OK;
    }
    buf_printf(p->out, "silt_%s_long(", named(e, "floor") ? "floor" : "ceil");
    TRY(print_expr(p, e->args[0]));
    buf_append_char(p->out, ')');
    return SILT_OK;
}

/* ---- shifts, bits ---- */

static silt_status bind_shift(binder *b, expr *e) {
    const data_type *t = e->args[0]->type;
    if (t->id != TYPE_LONG) TRY(bind_cast_slot(b, &e->args[0], &type_int));
    e->type = e->args[0]->type;
    return SILT_OK;
}

static silt_status print_shift(printer *p, const expr *e) {
    bool wide = e->type->id == TYPE_LONG;
    const char *fn = named(e, "shiftleft") ? "left" : named(e, "shiftright") ? "right" : "right_unsigned";
    buf_append_z(p->out, wide ? "" : "CAST(");
    buf_printf(p->out, "silt_shift_%s(CAST(", fn);
    TRY(print_expr(p, e->args[0]));
    buf_append_z(p->out, " AS BIGINT), ");
    TRY(print_expr(p, e->args[1]));
    buf_printf(p->out, ", %d)%s", wide ? 64 : 32, wide ? "" : " AS INTEGER)");
    return SILT_OK;
}

/* ---- try_ forms ---- */

static silt_status bind_try(binder *b, expr *e) {
    static const struct {
        const char *name, *op;
    } ops[] = {{"try_add", "+"}, {"try_subtract", "-"}, {"try_multiply", "*"}, {"try_divide", "/"}, {"try_mod", "%"}};
    const char *op = NULL;
    for (size_t i = 0; i < ARRAY_LEN(ops); i++)
        if (named(e, ops[i].name)) op = ops[i].op;
    expr *inner;
    BIND_NEW(inner, expr_call(b->a, op, e->args, 2, e->span));
    TRY(bind_expr(b, b->current, inner));
    BIND_NEW(e->args, ARENA_ARRAY(b->a, 1, expr *));
    e->args[0] = inner;
    e->n_args = 1;
    e->type = inner->type;
    e->nullable = true;
    return SILT_OK;
}

/* The operands raise as they do elsewhere; only the operator itself gives NULL. */
static silt_status print_try(printer *p, const expr *e) {
    const expr *op = e->args[0];
    const char sign = op->function_name.ptr[0];
    bool by = sign == '/' || sign == '%',
         numbers = op->n_args == 2 && type_is_numeric(op->args[0]->type) && type_is_numeric(op->args[1]->type);
    if (!numbers) return print_expr(p, op);
    if (op->args[0]->type->id == TYPE_DECIMAL) {
        print_decimal_begin(p, op->type, true);
        buf_printf(p->out, "silt_decimal_try('%c', ", sign);
        TRY(print_exprs(p, op->args, 2, ", "));
        buf_printf(p->out, ", %d)", op->type->scale);
        print_decimal_end(p, true);
        return SILT_OK;
    }
    str x, y;
    TRY(print_expr_text(p, op->args[0], &x));
    TRY(print_expr_text(p, op->args[1], &y));
    if (by)
        buf_printf(p->out, "CASE WHEN %.*s <> 0 THEN %.*s %c %.*s END", STR_ARG(y), STR_ARG(x), sign, STR_ARG(y));
    else if (type_is_integral(op->type)) {
        buf_printf(p->out, "TRY_CAST(CAST(%.*s AS HUGEINT) %c CAST(%.*s AS HUGEINT) AS ", STR_ARG(x), sign, STR_ARG(y));
        type_print_duckdb(p->out, op->type, false);
        buf_append_char(p->out, ')');
    } else
        buf_printf(p->out, "(%.*s %c %.*s)", STR_ARG(x), sign, STR_ARG(y));
    return SILT_OK;
}

/* ---- random numbers ---- */

static silt_status bind_random(binder *b, expr *e) {
    (void)b;
    e->type = &type_double;
    e->nullable = false;
    return SILT_OK;
}

static silt_status print_random(printer *p, const expr *e) {
    (void)e;
    buf_append_z(p->out, named(e, "randn") ? "silt_randn()" : "random()");
    return SILT_OK;
}

/* uniform(low, high[, seed]): of their common type. */
static silt_status bind_uniform(binder *b, expr *e) {
    TRY(bind_common_slots(b, e->args, 2, e, &e->type));
    if (!type_is_numeric(e->type)) return err_DATATYPE_MISMATCH(b->err, bind_text(b, e), STR("uniform takes numbers"));
    e->nullable = false;
    return SILT_OK;
}

#define D1(name_, doc_) SCALAR(#name_, NULL, "double -> double", "silt_" #name_ "($1)", doc_)

static const function_row rows[] = {
    SCALAR("abs", NULL, "=interval_dt -> arg1", "silt_interval_abs($1)", "Absolute value"),
    SCALAR("abs", NULL, "=interval_ym -> arg1", "silt_interval_abs($1)", "Absolute value"),
    SCALAR("abs", NULL, "number -> arg1", "abs($1)", "Absolute value"),
    SCALAR("sign", "signum", "double -> double", "silt_sign($1)", "-1.0, 0.0 or 1.0"),
    CUSTOM("round", NULL, "number, int? -> custom", 0, bind_round, print_round, "Rounded half up"),
    CUSTOM("bround", NULL, "number, int? -> custom", 0, bind_round, print_round, "Rounded half to even"),
    CUSTOM("ceil", "ceiling", "number, int? -> custom", 0, bind_ceil, print_ceil, "Least whole number not below"),
    CUSTOM("floor", NULL, "number, int? -> custom", 0, bind_ceil, print_ceil, "Greatest whole number not above"),
    D1(rint, "Nearest whole number as a double, half to even"),
    D1(sqrt, "Square root"),
    D1(cbrt, "Cube root"),
    D1(exp, "e to the power"),
    D1(expm1, "exp(x) - 1"),
    SCALAR_F("ln", NULL, "double -> double", FN_NULLABLE, "silt_ln($1)", "Natural logarithm, NULL for x <= 0"),
    SCALAR_F("log", NULL, "double -> double", FN_NULLABLE, "silt_ln($1)", "Natural logarithm"),
    SCALAR_F("log", NULL, "double, double -> double", FN_NULLABLE, "silt_log($1, $2)",
             "Logarithm of the second to the base of the first"),
    SCALAR_F("log10", NULL, "double -> double", FN_NULLABLE, "silt_log10($1)", "Logarithm to base 10"),
    SCALAR_F("log2", NULL, "double -> double", FN_NULLABLE, "silt_log2($1)", "Logarithm to base 2"),
    SCALAR_F("log1p", NULL, "double -> double", FN_NULLABLE, "silt_log1p($1)", "ln(1 + x)"),
    SCALAR("pow", "power", "double, double -> double", "silt_pow($1, $2)", "First to the power of the second"),
    D1(sin, "Sine"),
    D1(cos, "Cosine"),
    D1(tan, "Tangent"),
    D1(asin, "Arc sine"),
    D1(acos, "Arc cosine"),
    D1(atan, "Arc tangent"),
    D1(sinh, "Hyperbolic sine"),
    D1(cosh, "Hyperbolic cosine"),
    D1(tanh, "Hyperbolic tangent"),
    D1(asinh, "Inverse hyperbolic sine"),
    D1(acosh, "Inverse hyperbolic cosine"),
    D1(atanh, "Inverse hyperbolic tangent"),
    D1(cot, "Cotangent"),
    D1(sec, "Secant"),
    D1(csc, "Cosecant"),
    D1(degrees, "Radians to degrees"),
    D1(radians, "Degrees to radians"),
    SCALAR("atan2", NULL, "double, double -> double", "silt_atan2($1, $2)", "Angle of the point (second, first)"),
    SCALAR("hypot", NULL, "double, double -> double", "silt_hypot($1, $2)", "sqrt(a² + b²)"),
    SCALAR("pi", NULL, "-> double", "'3.141592653589793'::DOUBLE", "π"),
    SCALAR("e", NULL, "-> double", "'2.718281828459045'::DOUBLE", "Euler's number"),
    MACRO("pmod", NULL, "any, any ->", "CASE WHEN :p1 % :p2 < 0 THEN (:p1 % :p2 + :p2) % :p2 ELSE :p1 % :p2 END",
          "Remainder that is not negative"),
    SCALAR("bin", NULL, "long -> string", "silt_bin($1)", "Binary digits"),
    SCALAR("hex", NULL, "=binary -> string", "hex($1)", "Hexadecimal digits"),
    SCALAR("hex", NULL, "=string -> string", "hex(encode($1))", "Hexadecimal digits"),
    SCALAR("hex", NULL, "long -> string", "silt_hex($1)", "Hexadecimal digits"),
    SCALAR_F("unhex", NULL, "string -> binary", FN_NULLABLE, "silt_unhex($1)",
             "Bytes of hexadecimal digits, NULL if there are others"),
    SCALAR_F("conv", NULL, "string, int, int -> string", FN_NULLABLE | FN_RAISES, "silt_conv($1, $2, $3)",
             "A number's text from one base to another"),
    SCALAR("bit_count", NULL, "=bool -> int", "CAST($1 AS INTEGER)", "Number of bits that are 1"),
    SCALAR("bit_count", NULL, "long -> int", "silt_bit_count($1)", "Number of bits that are 1"),
    SCALAR_F("bit_get", "getbit", "long, int -> byte", FN_RAISES, "silt_bit_get($1, $2)", "One bit, counted from the right"),
    SCALAR_F("factorial", NULL, "int -> long", FN_NULLABLE, "silt_factorial($1)", "n!, NULL outside 0 … 20"),
    SCALAR_F("width_bucket", NULL, "double, double, double, long -> long", FN_NULLABLE, "silt_width_bucket($1, $2, $3, $4)",
             "Number of the bucket"),
    CUSTOM("shiftleft", "<<", "integral, int -> custom", 0, bind_shift, print_shift, "Bits moved to the left"),
    CUSTOM("shiftright", ">>", "integral, int -> custom", 0, bind_shift, print_shift, "Bits moved to the right, sign kept"),
    CUSTOM("shiftrightunsigned", ">>>", "integral, int -> custom", 0, bind_shift, print_shift, "Bits moved to the right"),
    CUSTOM("try_add", NULL, "any, any -> custom", FN_NULLABLE, bind_try, print_try, "Sum, NULL on overflow"),
    CUSTOM("try_subtract", NULL, "any, any -> custom", FN_NULLABLE, bind_try, print_try, "Difference, NULL on overflow"),
    CUSTOM("try_multiply", NULL, "any, any -> custom", FN_NULLABLE, bind_try, print_try, "Product, NULL on overflow"),
    CUSTOM("try_divide", NULL, "any, any -> custom", FN_NULLABLE, bind_try, print_try, "Quotient, NULL for a divisor of 0"),
    CUSTOM("try_mod", NULL, "any, any -> custom", FN_NULLABLE, bind_try, print_try, "Remainder, NULL for a divisor of 0"),
    CUSTOM("rand", "random", "long? -> custom", FN_VOLATILE, bind_random, print_random,
           "Random number in [0, 1); a seed is not kept"),
    {.name = "uniform",
     .signature = "any, any, long? -> custom",
     .flags = FN_VOLATILE,
     .sql = "CAST(trunc($1 + random() * ($2 - $1), 0) AS $T)",
     .bind = bind_uniform,
     .doc = "Random number between two"},
    CUSTOM("randn", NULL, "long? -> custom", FN_VOLATILE, bind_random, print_random, "Normally distributed random number"),
};

GROUP_OF(functions_math, "Math", rows);
