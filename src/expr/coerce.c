/*
 * Spark's ANSI type coercion (org.apache.spark.sql.catalyst.analysis: the ANSI implicit cast, least common type and decimal precision rules, as documented in Spark's
 * "ANSI Compliance" page). Not here: where casts are put into the tree (bind_*.c) and how they run (print_cast.c).
 */
#include "expr/coerce.h"

static int min_int(int x, int y) { return x < y ? x : y; }
static int max_int(int x, int y) { return x > y ? x : y; }

const data_type *coerce_decimal_adjust(arena *a, int precision, int scale) {
    if (precision <= 38) return type_decimal(a, precision, scale);
    int kept = min_int(scale, 6), room = 38 - (precision - scale);
    return type_decimal(a, 38, max_int(room, kept));
}

const data_type *coerce_decimal_of(arena *a, const data_type *type) {
    switch (type->id) {
        case TYPE_BYTE: return type_decimal(a, 3, 0);
        case TYPE_SHORT: return type_decimal(a, 5, 0);
        case TYPE_INT: return type_decimal(a, 10, 0);
        case TYPE_LONG: return type_decimal(a, 20, 0);
        case TYPE_DECIMAL: return type;
        default: return NULL;
    }
}

const data_type *coerce_decimal_of_expr(arena *a, const expr *e) {
    if (e->kind != EXPR_LITERAL || e->literal.is_null || !type_is_integral(e->type)) return coerce_decimal_of(a, e->type);
    int digits = 1;
    for (int64_t v = e->literal.as.i64 / 10; v != 0; v /= 10) digits++;
    return type_decimal(a, digits, 0);
}

const data_type *coerce_decimal_wider(arena *a, const data_type *x, const data_type *y) {
    int scale = max_int(x->scale, y->scale), range = max_int(x->precision - x->scale, y->precision - y->scale);
    if (range + scale <= 38) return type_decimal(a, range + scale, scale);
    return type_decimal(a, 38, max_int(0, min_int(scale, 38 - range)));
}

/* ---- common types ---- */

static const data_type *common_numeric(arena *a, const data_type *x, const data_type *y) {
    if (x->id == TYPE_DOUBLE || y->id == TYPE_DOUBLE) return &type_double;
    if (x->id == TYPE_FLOAT || y->id == TYPE_FLOAT) return x->id == y->id ? &type_float : &type_double;
    if (x->id == TYPE_DECIMAL || y->id == TYPE_DECIMAL)
        return coerce_decimal_wider(a, coerce_decimal_of(a, x), coerce_decimal_of(a, y));
    return x->id >= y->id ? x : y;
}

static bool is_datetime(const data_type *t) {
    return t->id == TYPE_DATE || t->id == TYPE_TIMESTAMP || t->id == TYPE_TIMESTAMP_NTZ;
}
static bool is_interval(const data_type *t) { return t->id >= TYPE_INTERVAL_YM && t->id <= TYPE_INTERVAL; }

static const data_type *common(arena *a, const data_type *x, const data_type *y, bool strings);

static const data_type *common_struct(arena *a, const data_type *x, const data_type *y, bool strings) {
    if (x->n_fields != y->n_fields) return NULL;
    field *fields = ARENA_ARRAY(a, x->n_fields, field);
    if (!fields) return NULL;
    for (size_t i = 0; i < x->n_fields; i++) {
        if (!str_eq_fold(x->fields[i].name, y->fields[i].name)) return NULL;
        const data_type *t = common(a, x->fields[i].type, y->fields[i].type, strings);
        if (!t) return NULL;
        fields[i] = field_make(x->fields[i].name, t, x->fields[i].nullable || y->fields[i].nullable);
    }
    return type_struct(a, fields, x->n_fields);
}

static const data_type *common_with_string(const data_type *other) {
    if (type_is_integral(other)) return &type_long;
    if (type_is_numeric(other)) return &type_double;
    if (is_interval(other) || type_is_nested(other) || other->id == TYPE_VARIANT) return NULL;
    return other;
}

static const data_type *common(arena *a, const data_type *x, const data_type *y, bool strings) {
    if (x->id == TYPE_VOID) return y;
    if (y->id == TYPE_VOID) return x;
    if (x->id == TYPE_STRING && y->id == TYPE_STRING) return &type_string;
    if (type_equal(x, y) && !type_is_nested(x)) return x;
    if (type_is_numeric(x) && type_is_numeric(y)) return common_numeric(a, x, y);
    if (is_datetime(x) && is_datetime(y)) {
        bool zoned = x->id == TYPE_TIMESTAMP || y->id == TYPE_TIMESTAMP;
        return zoned ? &type_timestamp : &type_timestamp_ntz;
    }
    if (is_interval(x) && is_interval(y)) return x->id == y->id ? x : NULL;
    if (x->id == TYPE_ARRAY && y->id == TYPE_ARRAY) {
        const data_type *t = common(a, x->element, y->element, strings);
        return t ? type_array(a, t, x->contains_null || y->contains_null) : NULL;
    }
    if (x->id == TYPE_MAP && y->id == TYPE_MAP) {
        const data_type *k = common(a, x->key, y->key, strings), *v = common(a, x->element, y->element, strings);
        return k && v ? type_map(a, k, v, x->contains_null || y->contains_null) : NULL;
    }
    if (x->id == TYPE_STRUCT && y->id == TYPE_STRUCT) return common_struct(a, x, y, strings);
    if (strings && x->id == TYPE_STRING) return common_with_string(y);
    if (strings && y->id == TYPE_STRING) return common_with_string(x);
    return NULL;
}

const data_type *coerce_common(arena *a, const data_type *x, const data_type *y) { return common(a, x, y, true); }

const data_type *coerce_common_apart(arena *a, const data_type *x, const data_type *y) { return common(a, x, y, false); }

/* ---- which casts exist ---- */

static bool nested_ok(const data_type *from, const data_type *to, bool (*ok)(const data_type *, const data_type *)) {
    if (from->id != to->id) return false;
    if (from->id == TYPE_ARRAY) return ok(from->element, to->element);
    if (from->id == TYPE_MAP) return ok(from->key, to->key) && ok(from->element, to->element);
    if (from->n_fields != to->n_fields) return false;
    for (size_t i = 0; i < from->n_fields; i++)
        if (!ok(from->fields[i].type, to->fields[i].type)) return false;
    return true;
}

bool coerce_store_ok(const data_type *from, const data_type *to) {
    if (from->id == TYPE_VOID || type_equal(from, to)) return true;
    if (type_is_nested(from) || type_is_nested(to)) return nested_ok(from, to, coerce_store_ok);
    if (type_is_numeric(from) && type_is_numeric(to)) return true;
    if (to->id == TYPE_STRING) return from->id != TYPE_VARIANT;
    if (is_datetime(from) && is_datetime(to)) return true;
    return is_interval(from) && from->id == to->id;
}

bool coerce_implicit_ok(const data_type *from, const data_type *to) {
    if (from->id == TYPE_VOID || type_equal(from, to)) return true;
    if (type_is_nested(from) || type_is_nested(to)) return nested_ok(from, to, coerce_implicit_ok);
    if (from->id == TYPE_STRING && to->id != TYPE_VARIANT) return true;
    return coerce_store_ok(from, to);
}

bool coerce_explicit_ok(const data_type *from, const data_type *to) {
    if (from->id == TYPE_VOID || type_equal(from, to)) return true;
    if (to->id == TYPE_VOID) return false;
    if (to->id == TYPE_STRING) return true;
    if (from->id == TYPE_VARIANT) return true;
    if (to->id == TYPE_VARIANT) return from->id != TYPE_INTERVAL;
    if (type_is_nested(from) || type_is_nested(to)) return nested_ok(from, to, coerce_explicit_ok);
    switch (to->id) {
        case TYPE_BINARY: return from->id == TYPE_STRING; /* ANSI mode: not from integers */
        case TYPE_BOOLEAN: return from->id == TYPE_STRING || type_is_numeric(from);
        case TYPE_DATE:
        case TYPE_TIMESTAMP_NTZ: return from->id == TYPE_STRING || is_datetime(from);
        case TYPE_TIMESTAMP: return from->id == TYPE_STRING || is_datetime(from) || type_is_numeric(from);
        case TYPE_INTERVAL_YM:
        case TYPE_INTERVAL_DT: return from->id == TYPE_STRING || type_is_integral(from) || from->id == TYPE_DECIMAL;
        case TYPE_INTERVAL: return from->id == TYPE_STRING;
        default: break;
    }
    if (!type_is_numeric(to)) return false;
    if (from->id == TYPE_INTERVAL_YM || from->id == TYPE_INTERVAL_DT) return type_is_integral(to) || to->id == TYPE_DECIMAL;
    return from->id == TYPE_STRING || from->id == TYPE_BOOLEAN || from->id == TYPE_TIMESTAMP || type_is_numeric(from);
}

bool coerce_is_exact_widening(const data_type *from, const data_type *to) {
    if (type_equal(from, to)) return true;
    if (type_is_integral(from) && type_is_integral(to)) return from->id < to->id;
    if (from->id == TYPE_FLOAT) return to->id == TYPE_DOUBLE;
    if (to->id == TYPE_DOUBLE) return from->id == TYPE_BYTE || from->id == TYPE_SHORT || from->id == TYPE_INT;
    if (to->id == TYPE_DECIMAL) {
        int digits = from->id == TYPE_BYTE    ? 3
                     : from->id == TYPE_SHORT ? 5
                     : from->id == TYPE_INT   ? 10
                     : from->id == TYPE_LONG  ? 19
                                              : 0;
        if (digits) return to->precision - to->scale >= digits;
        return from->id == TYPE_DECIMAL && to->scale >= from->scale && to->precision - to->scale >= from->precision - from->scale;
    }
    return from->id == TYPE_DATE && to->id == TYPE_TIMESTAMP_NTZ;
}
