/* Operators: which types meet, what comes out. Decimal rules: Spark's DecimalPrecision with allowPrecisionLoss; date and interval arithmetic. */
#include "expr/bind.h"

static const char *const operators[] = {
    "and", "or", "not", "=",        "<=>",      "<>", "<", "<=", ">", ">=",   "between", "in",    "+",      "-",        "*",
    "/",   "%",  "div", "negative", "positive", "~",  "&", "|",  "^", "like", "ilike",   "rlike", "isnull", "isnotnull"};

bool bind_is_operator(str name) {
    for (size_t i = 0; i < ARRAY_LEN(operators); i++)
        if (str_eqz(name, operators[i])) return true;
    return false;
}

static bool is(const expr *e, const char *op) { return str_eqz(e->function_name, op); }
static int min_int(int x, int y) { return x < y ? x : y; }
static int max_int(int x, int y) { return x > y ? x : y; }

static silt_status diff_types(binder *b, const expr *e) {
    return err_DATATYPE_MISMATCH_BINARY_OP_DIFF_TYPES(b->err, bind_text(b, e), type_sql(e->args[0]->type, b->a),
                                                      type_sql(e->args[1]->type, b->a));
}

static silt_status wrong_type(binder *b, const expr *e, const char *expected) {
    return err_DATATYPE_MISMATCH_BINARY_OP_WRONG_TYPE(b->err, bind_text(b, e), expected, type_sql(e->args[0]->type, b->a));
}

static bool any_nullable(const expr *e) {
    for (size_t i = 0; i < e->n_args; i++)
        if (e->args[i]->nullable) return true;
    return false;
}

static silt_status become_boolean(expr *e, bool nullable) {
    e->type = &type_boolean;
    e->nullable = nullable;
    return SILT_OK;
}

/* ---- logic ---- */

/* A string, and beside it another or NULL. */
static bool only_text(const expr *x, const expr *y) {
    type_id p = x->type->id, q = y->type->id;
    return (p == TYPE_STRING && (q == TYPE_STRING || q == TYPE_VOID)) || (p == TYPE_VOID && q == TYPE_STRING);
}

/* A string is cast where the other side says that it is a condition. */
static silt_status bind_logic(binder *b, expr *e) {
    bool binary = e->n_args == 2;
    if (binary && only_text(e->args[0], e->args[1])) return wrong_type(b, e, "\"BOOLEAN\"");
    for (size_t i = 0; i < e->n_args; i++) {
        type_id t = e->args[i]->type->id;
        if (t == TYPE_BOOLEAN) continue;
        if (t == TYPE_VOID || t == TYPE_STRING) {
            TRY(bind_cast_slot(b, &e->args[i], &type_boolean));
            continue;
        }
        if (binary && !type_equal(e->args[0]->type, e->args[1]->type)) return diff_types(b, e);
        if (binary) return wrong_type(b, e, "\"BOOLEAN\"");
        return err_DATATYPE_MISMATCH(
            b->err, bind_text(b, e),
            arena_printf(b->a, "the first parameter requires the \"BOOLEAN\" type, however it has the type \"%.*s\"",
                         STR_ARG(type_sql(e->args[i]->type, b->a))));
    }
    return become_boolean(e, any_nullable(e));
}

/* ---- comparison ---- */

static bool is_orderable(const data_type *t) {
    if (t->id == TYPE_MAP || t->id == TYPE_VARIANT || t->id == TYPE_INTERVAL) return false;
    if (t->id == TYPE_ARRAY) return is_orderable(t->element);
    for (size_t i = 0; t->id == TYPE_STRUCT && i < t->n_fields; i++)
        if (!is_orderable(t->fields[i].type)) return false;
    return true;
}

/* CHAR(n) of a table, or NULL. */
static const data_type *char_type(const expr *e) {
    if (e->kind != EXPR_COLUMN || !e->source || e->source->kind != REL_TABLE || e->column >= e->source->n_columns) return NULL;
    const data_type *t = e->source->columns[e->column].type;
    return t->id == TYPE_STRING && t->is_char ? t : NULL;
}

/* CHAR(n) values are padded; a shorter literal that one is compared with is padded too. */
static silt_status pad_char_literals(binder *b, expr *e) {
    const data_type *t = NULL;
    for (size_t i = 0; i < e->n_args && !t; i++) t = char_type(e->args[i]);
    for (size_t i = 0; t && i < e->n_args; i++) {
        expr *lit = e->args[i];
        if (lit->kind != EXPR_LITERAL || lit->literal.is_null || lit->literal.type->id != TYPE_STRING) continue;
        str s = lit->literal.as.bytes;
        int32_t chars = 0;
        for (size_t at = 0; at < s.len; chars++) (void)str_next_codepoint(s, &at);
        if (chars >= t->length) continue;
        value padded = {.type = &type_string,
                        .as.bytes = arena_printf(b->a, "%.*s%*s", STR_ARG(s), (int)(t->length - chars), "")};
        if (!padded.as.bytes.ptr) return error_no_memory(b->err);
        BIND_NEW(e->args[i], expr_literal(b->a, padded, lit->span));
    }
    return SILT_OK;
}

/* Beside a decimal an integer literal is a decimal of its own digits, so that amount > 5 does not widen the column. */
static silt_status narrow_literals(binder *b, expr *e) {
    bool decimal = false;
    for (size_t i = 0; i < e->n_args; i++) decimal |= e->args[i]->type->id == TYPE_DECIMAL;
    for (size_t i = 0; decimal && i < e->n_args; i++) {
        if (e->args[i]->kind != EXPR_LITERAL || e->args[i]->literal.is_null || !type_is_integral(e->args[i]->type)) continue;
        const data_type *d;
        BIND_NEW(d, coerce_decimal_of_expr(b->a, e->args[i]));
        TRY(bind_cast_slot(b, &e->args[i], d));
    }
    return SILT_OK;
}

/* A cast of a literal whose value is known becomes the literal. */
static silt_status fold_casts(binder *b, expr *e) {
    for (size_t i = 0; i < e->n_args; i++) {
        value v;
        if (e->args[i]->kind != EXPR_CAST || !fold_simple(e->args[i], b->env, b->a, &v)) continue;
        v.type = e->args[i]->type;
        BIND_NEW(e->args[i], expr_literal(b->a, v, e->args[i]->span));
    }
    return SILT_OK;
}

static silt_status bind_comparison(binder *b, expr *e) {
    TRY(pad_char_literals(b, e));
    TRY(narrow_literals(b, e));
    const data_type *common = coerce_common(b->a, e->args[0]->type, e->args[1]->type);
    if (!common) return diff_types(b, e);
    if (!is_orderable(common)) return wrong_type(b, e, "an orderable type");
    TRY(bind_cast_slot(b, &e->args[0], common));
    TRY(bind_cast_slot(b, &e->args[1], common));
    TRY(fold_casts(b, e));
    return become_boolean(e, !is(e, "<=>") && any_nullable(e));
}

static silt_status two(binder *b, scope *s, const char *op, const expr *x, expr *y, source_span span, expr **out) {
    expr *pair[2] = {NULL, y};
    BIND_NEW(pair[0], expr_clone(x, b->a));
    BIND_NEW(*out, expr_call(b->a, op, pair, 2, span));
    return bind_expr(b, s, *out);
}

/* BETWEEN stays one node where the three share a type; else it is x >= low AND x <= high, each with its own coercion, as Spark has it. */
static silt_status bind_between(binder *b, scope *s, expr *e) {
    TRY(pad_char_literals(b, e));
    const data_type *t = e->args[0]->type;
    if (type_equal(t, e->args[1]->type) && type_equal(t, e->args[2]->type) && is_orderable(t))
        return become_boolean(e, any_nullable(e));
    expr *pair[2], *both;
    TRY(two(b, s, ">=", e->args[0], e->args[1], e->span, &pair[0]));
    TRY(two(b, s, "<=", e->args[0], e->args[2], e->span, &pair[1]));
    BIND_NEW(both, expr_call(b->a, "and", pair, 2, e->span));
    if (e->negated) BIND_NEW(both, expr_call(b->a, "not", &both, 1, e->span));
    TRY(bind_expr(b, s, both));
    bind_become(e, both);
    return SILT_OK;
}

static silt_status bind_in(binder *b, expr *e) {
    TRY(pad_char_literals(b, e));
    TRY(narrow_literals(b, e));
    const data_type *common;
    TRY(bind_common_slots(b, e->args, e->n_args, e, &common));
    TRY(fold_casts(b, e));
    if (!is_orderable(common)) return wrong_type(b, e, "an orderable type");
    return become_boolean(e, any_nullable(e));
}

/* ---- arithmetic ---- */

static const data_type *decimal_result(binder *b, const expr *e, const data_type *x, const data_type *y) {
    int p1 = x->precision, s1 = x->scale, p2 = y->precision, s2 = y->scale;
    if (is(e, "+") || is(e, "-")) {
        int scale = max_int(s1, s2);
        return coerce_decimal_adjust(b->a, max_int(p1 - s1, p2 - s2) + scale + 1, scale);
    }
    if (is(e, "*")) return coerce_decimal_adjust(b->a, p1 + p2 + 1, s1 + s2);
    if (is(e, "/")) {
        int scale = max_int(6, s1 + p2 + 1);
        return coerce_decimal_adjust(b->a, p1 - s1 + s2 + scale, scale);
    }
    int scale = max_int(s1, s2);
    return coerce_decimal_adjust(b->a, min_int(p1 - s1, p2 - s2) + scale, scale);
}

/* Decimals keep their own types as operands (the printer knows the rules); a fractional float makes it double. */
static silt_status bind_decimal_arithmetic(binder *b, expr *e) {
    for (size_t i = 0; i < 2; i++) {
        const data_type *d;
        BIND_NEW(d, coerce_decimal_of_expr(b->a, e->args[i]));
        TRY(bind_cast_slot(b, &e->args[i], d));
    }
    if (is(e, "div"))
        e->type = &type_long;
    else
        BIND_NEW(e->type, decimal_result(b, e, e->args[0]->type, e->args[1]->type));
    e->nullable = any_nullable(e);
    return SILT_OK;
}

static bool is_datetime(const data_type *t) {
    return t->id == TYPE_DATE || t->id == TYPE_TIMESTAMP || t->id == TYPE_TIMESTAMP_NTZ;
}
static bool is_interval(const data_type *t) { return t->id >= TYPE_INTERVAL_YM && t->id <= TYPE_INTERVAL; }

static silt_status rename_call(binder *b, scope *s, expr *e, const char *function) {
    e->function_name = str_of(function);
    e->type = NULL;
    return bind_call(b, s, e);
}

/* Sums with dates, timestamps and intervals. *out_done tells that it was one. */
static silt_status bind_time_arithmetic(binder *b, scope *s, expr *e, bool *out_done) {
    const data_type *x = e->args[0]->type, *y = e->args[1]->type;
    bool plus = is(e, "+"), minus = is(e, "-");
    *out_done = true;
    if (plus && is_interval(x) && is_datetime(y)) {
        expr *swap = e->args[0];
        e->args[0] = e->args[1];
        e->args[1] = swap;
        x = e->args[0]->type, y = e->args[1]->type;
    }
    if (plus && type_is_integral(x) && y->id == TYPE_DATE) {
        expr *swap = e->args[0];
        e->args[0] = e->args[1];
        e->args[1] = swap;
        return rename_call(b, s, e, "date_add");
    }
    if ((plus || minus) && x->id == TYPE_DATE && (type_is_integral(y) || (y->id == TYPE_STRING && plus)))
        return rename_call(b, s, e, plus ? "date_add" : "date_sub");
    if ((plus || minus) && is_datetime(x) && is_interval(y)) {
        if (x->id == TYPE_DATE && y->id == TYPE_INTERVAL_DT) {
            bool whole_days = e->args[1]->kind == EXPR_INTERVAL && e->args[1]->interval_us % 86400000000 == 0;
            if (!whole_days) TRY(bind_cast_slot(b, &e->args[0], &type_timestamp));
        } else if (x->id == TYPE_DATE && y->id == TYPE_INTERVAL) {
            TRY(bind_cast_slot(b, &e->args[0], &type_timestamp));
        }
        e->type = e->args[0]->type;
        e->nullable = any_nullable(e);
        return SILT_OK;
    }
    if (minus && (is_datetime(x) || is_datetime(y)) && (is_datetime(x) || x->id == TYPE_STRING) &&
        (is_datetime(y) || y->id == TYPE_STRING)) {
        const data_type *common = coerce_common(b->a, x, y);
        TRY(bind_cast_slot(b, &e->args[0], common));
        TRY(bind_cast_slot(b, &e->args[1], common));
        e->type = &type_interval_dt;
        e->nullable = any_nullable(e);
        return SILT_OK;
    }
    if ((plus || minus) && is_interval(x) && x->id == y->id) {
        e->type = x;
        e->nullable = any_nullable(e);
        return SILT_OK;
    }
    bool scaled = is(e, "*") || is(e, "/");
    if (is(e, "*") && type_is_numeric(x) && is_interval(y)) {
        expr *swap = e->args[0];
        e->args[0] = e->args[1];
        e->args[1] = swap;
        x = e->args[0]->type, y = e->args[1]->type;
    }
    if (scaled && is_interval(x) && (type_is_numeric(y) || y->id == TYPE_STRING)) {
        if (y->id == TYPE_STRING || y->id == TYPE_DECIMAL || y->id == TYPE_FLOAT)
            TRY(bind_cast_slot(b, &e->args[1], &type_double));
        e->type = x;
        e->nullable = any_nullable(e);
        return SILT_OK;
    }
    *out_done = false;
    return SILT_OK;
}

static silt_status bind_arithmetic(binder *b, scope *s, expr *e) {
    bool done;
    TRY(bind_time_arithmetic(b, s, e, &done));
    if (done) return SILT_OK;
    const data_type *x = e->args[0]->type, *y = e->args[1]->type;
    if (x->id == TYPE_STRING && y->id == TYPE_STRING) return wrong_type(b, e, "(\"NUMERIC\" or \"INTERVAL\")");
    bool numeric_x = type_is_numeric(x) || x->id == TYPE_VOID || x->id == TYPE_STRING,
         numeric_y = type_is_numeric(y) || y->id == TYPE_VOID || y->id == TYPE_STRING;
    if (!numeric_x || !numeric_y) return type_equal(x, y) ? wrong_type(b, e, "(\"NUMERIC\" or \"INTERVAL\")") : diff_types(b, e);
    bool division = is(e, "/");
    bool decimals = (x->id == TYPE_DECIMAL || y->id == TYPE_DECIMAL) && coerce_decimal_of(b->a, x) && coerce_decimal_of(b->a, y);
    if (decimals) return bind_decimal_arithmetic(b, e);
    const data_type *common = coerce_common(b->a, x, y);
    if (common->id == TYPE_VOID) common = division ? &type_double : &type_double;
    if (is(e, "div"))
        common = type_is_integral(common) ? &type_long : common->id == TYPE_DECIMAL ? common : &type_long;
    else if (division && common->id != TYPE_DECIMAL)
        common = &type_double;
    TRY(bind_cast_slot(b, &e->args[0], common));
    TRY(bind_cast_slot(b, &e->args[1], common));
    if (common->id == TYPE_DECIMAL) return bind_decimal_arithmetic(b, e);
    e->type = is(e, "div") ? &type_long : common;
    e->nullable = any_nullable(e);
    return SILT_OK;
}

static silt_status bind_sign(binder *b, expr *e) {
    const data_type *t = e->args[0]->type;
    if (t->id == TYPE_STRING || t->id == TYPE_VOID) TRY(bind_cast_slot(b, &e->args[0], &type_double));
    t = e->args[0]->type;
    if (!type_is_numeric(t) && !is_interval(t))
        return err_DATATYPE_MISMATCH(
            b->err, bind_text(b, e),
            arena_printf(b->a,
                         "the first parameter requires the (\"NUMERIC\" or \"INTERVAL\") type, however it has the type \"%.*s\"",
                         STR_ARG(type_sql(t, b->a))));
    if (is(e, "positive")) {
        bind_become(e, e->args[0]);
        return SILT_OK;
    }
    e->type = t;
    e->nullable = e->args[0]->nullable;
    return SILT_OK;
}

static silt_status bind_bits(binder *b, expr *e) {
    const data_type *common = e->args[0]->type;
    if (e->n_args == 2) common = coerce_common(b->a, common, e->args[1]->type);
    if (!common) return diff_types(b, e);
    if (common->id == TYPE_STRING) common = &type_long;
    if (common->id == TYPE_VOID) common = &type_int;
    if (!type_is_integral(common)) return wrong_type(b, e, "\"INTEGRAL\"");
    for (size_t i = 0; i < e->n_args; i++) TRY(bind_cast_slot(b, &e->args[i], common));
    e->type = common;
    e->nullable = any_nullable(e);
    return SILT_OK;
}

/* ---- patterns, nulls ---- */

static silt_status bind_pattern(binder *b, expr *e) {
    for (size_t i = 0; i < e->n_args; i++) TRY(bind_coerce_slot(b, &e->args[i], &type_string, e, i));
    if (e->n_args == 3) {
        str escape = e->args[2]->literal.as.bytes;
        size_t at = 0;
        if (escape.len) (void)str_next_codepoint(escape, &at);
        if (escape.len == 0 || at != escape.len) return err_INVALID_ESC(b->err, escape);
    }
    return become_boolean(e, any_nullable(e));
}

silt_status bind_operator(binder *b, scope *s, expr *e) {
    if (is(e, "and") || is(e, "or") || is(e, "not")) return bind_logic(b, e);
    if (is(e, "between")) return bind_between(b, s, e);
    if (is(e, "in")) return bind_in(b, e);
    if (is(e, "isnull") || is(e, "isnotnull")) return become_boolean(e, false);
    if (is(e, "like") || is(e, "ilike") || is(e, "rlike")) return bind_pattern(b, e);
    if (is(e, "negative") || is(e, "positive")) return bind_sign(b, e);
    if (is(e, "~") || is(e, "&") || is(e, "|") || is(e, "^")) return bind_bits(b, e);
    static const char *const sums[] = {"+", "-", "*", "/", "%", "div"};
    for (size_t i = 0; i < ARRAY_LEN(sums); i++)
        if (is(e, sums[i])) return bind_arithmetic(b, s, e);
    return bind_comparison(b, e);
}
