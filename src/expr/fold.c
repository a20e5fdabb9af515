/* Constants: what can be said of an expression without columns here, before the engine is asked. Not an evaluator: literals, casts between them, a minus sign. */
#include "base/time.h"
#include "expr/bind.h"

/* ---- what is constant ---- */

static bool constant_node(void *ctx, expr *e) {
    (void)ctx;
    switch (e->kind) {
        case EXPR_COLUMN:
        case EXPR_STAR:
        case EXPR_SUBQUERY:
        case EXPR_EXISTS:
        case EXPR_IN_SUBQUERY:
        case EXPR_PARAMETER:
        case EXPR_DEFAULT: return false;
        case EXPR_CALL:
            return !e->over && (!e->function || (e->function->kind == FUNCTION_SCALAR && !(e->function->flags & FN_VOLATILE)));
        default: return true;
    }
}

bool expr_is_constant(const expr *e) { return expr_walk((expr *)(uintptr_t)e, constant_node, NULL); }

static bool not_volatile(void *ctx, expr *e) {
    (void)ctx;
    return !(e->kind == EXPR_CALL && e->function && (e->function->flags & FN_VOLATILE));
}

bool expr_has_volatile(const expr *e) { return !expr_walk((expr *)(uintptr_t)e, not_volatile, NULL); }

/* ---- casts of literals ---- */

static bool int_in_range(int64_t v, type_id id) {
    switch (id) {
        case TYPE_BYTE: return v >= INT8_MIN && v <= INT8_MAX;
        case TYPE_SHORT: return v >= INT16_MIN && v <= INT16_MAX;
        case TYPE_INT: return v >= INT32_MIN && v <= INT32_MAX;
        default: return true;
    }
}

static bool zone_offset(const bind_env *env, int64_t *out_us) {
    int32_t seconds;
    if (!time_zone_fixed_offset(env->time_zone, &seconds)) return false;
    *out_us = (int64_t)seconds * 1000000;
    return true;
}

static bool decimal_fits(int128 v, int precision) {
    int128 limit = 1;
    for (int i = 0; i < precision; i++) limit *= 10;
    return v < limit && v > -limit;
}

static bool cast_integer(int64_t v, const data_type *to, arena *a, value *out) {
    (void)a;
    if (type_is_integral(to)) {
        out->as.i64 = v;
        return int_in_range(v, to->id);
    }
    if (to->id == TYPE_DOUBLE)
        out->as.f64 = (double)v;
    else if (to->id == TYPE_FLOAT)
        out->as.f64 = (double)(float)v;
    else if (to->id == TYPE_DECIMAL) {
        int128 d = v;
        for (int i = 0; i < to->scale; i++) d *= 10;
        out->as.decimal = d;
        return to->precision - to->scale <= 19 ? decimal_fits(d, to->precision) : true;
    } else
        return false;
    return true;
}

static bool cast_string(str s, const data_type *to, const bind_env *env, value *out) {
    str t = str_trim(s);
    bool has_zone;
    int64_t offset;
    switch (to->id) {
        case TYPE_BYTE:
        case TYPE_SHORT:
        case TYPE_INT:
        case TYPE_LONG: return str_to_i64(t, &out->as.i64) && int_in_range(out->as.i64, to->id);
        case TYPE_DATE: return time_parse_date(t, &out->as.i64);
        case TYPE_TIMESTAMP:
            if (!time_parse_timestamp(t, &out->as.i64, &has_zone)) return false;
            if (has_zone) return true;
            if (!zone_offset(env, &offset)) return false;
            out->as.i64 -= offset;
            return true;
        case TYPE_TIMESTAMP_NTZ: return time_parse_timestamp(t, &out->as.i64, &has_zone) && !has_zone;
        default: return false;
    }
}

static int64_t floor_div(int64_t x, int64_t y) { return x / y - (x % y != 0 && (x < 0) != (y < 0)); }

static bool cast_time(const value *v, const data_type *to, const bind_env *env, value *out) {
    const int64_t day = 86400000000;
    int64_t offset = 0;
    bool from_zoned = v->type->id == TYPE_TIMESTAMP, to_zoned = to->id == TYPE_TIMESTAMP;
    if (from_zoned != to_zoned && !zone_offset(env, &offset)) return false;
    int64_t local = v->type->id == TYPE_DATE ? v->as.i64 * day : v->as.i64 + (from_zoned ? offset : 0);
    if (from_zoned == to_zoned) offset = 0;
    if (to->id == TYPE_DATE)
        out->as.i64 = floor_div(local, day);
    else
        out->as.i64 = to_zoned && !from_zoned ? local - offset : local;
    return true;
}

static bool fold_cast(const value *v, const data_type *to, const bind_env *env, arena *a, value *out) {
    *out = (value){.type = to, .is_null = v->is_null};
    if (v->is_null) return true;
    type_id from = v->type->id;
    if (type_equal(v->type, to)) {
        *out = *v;
        out->type = to;
        return true;
    }
    if (type_is_integral(v->type)) return cast_integer(v->as.i64, to, a, out);
    if (from == TYPE_STRING) return cast_string(v->as.bytes, to, env, out);
    bool time_from = from == TYPE_DATE || from == TYPE_TIMESTAMP || from == TYPE_TIMESTAMP_NTZ;
    bool time_to = to->id == TYPE_DATE || to->id == TYPE_TIMESTAMP || to->id == TYPE_TIMESTAMP_NTZ;
    if (time_from && time_to) return cast_time(v, to, env, out);
    if (from == TYPE_FLOAT && to->id == TYPE_DOUBLE) {
        out->as.f64 = v->as.f64;
        return true;
    }
    if (from == TYPE_DECIMAL && to->id == TYPE_DECIMAL && to->scale >= v->type->scale) {
        int128 d = v->as.decimal;
        for (int i = v->type->scale; i < to->scale; i++)
            if (__builtin_mul_overflow(d, (int128)10, &d)) return false;
        out->as.decimal = d;
        return decimal_fits(d, to->precision);
    }
    if (from == TYPE_DECIMAL && to->id == TYPE_DOUBLE) {
        buf text;
        buf_init(&text, 100);
        decimal_write(&text, v->as.decimal, v->type->scale);
        bool ok = str_to_f64(buf_str(&text), &out->as.f64);
        buf_dispose(&text);
        return ok;
    }
    return false;
}

bool fold_simple(const expr *e, const bind_env *env, arena *a, value *out) {
    if (e->kind == EXPR_LITERAL) {
        *out = e->literal;
        return true;
    }
    value v;
    if (e->kind == EXPR_CAST && e->type) {
        const data_type *to = e->type;
        return fold_simple(e->args[0], env, a, &v) && fold_cast(&v, to, env, a, out);
    }
    if (e->kind == EXPR_CALL && str_eqz(e->function_name, "negative") && fold_simple(e->args[0], env, a, &v) &&
        type_is_integral(v.type) && !v.is_null) {
        *out = v;
        return v.as.i64 != INT64_MIN && int_in_range(out->as.i64 = -v.as.i64, v.type->id);
    }
    return false;
}

silt_status bind_fold(binder *b, expr *e, value *out, bool *out_folded) {
    *out_folded = fold_simple(e, b->env, b->a, out);
    if (*out_folded || !b->env->fold || !expr_is_constant(e)) return SILT_OK;
    TRY(b->env->fold(b->env->fold_ctx, e, b->a, out, b->err));
    *out_folded = true;
    return SILT_OK;
}

static bool is_foldable_type(const data_type *t) {
    return !type_is_nested(t) && t->id != TYPE_VOID && t->id != TYPE_VARIANT &&
           !(t->id >= TYPE_INTERVAL_YM && t->id <= TYPE_INTERVAL);
}

silt_status bind_fold_condition(binder *b, expr *e) {
    if (e->kind != EXPR_CALL || expr_is_constant(e)) return SILT_OK;
    for (size_t i = 0; i < e->n_args; i++) {
        expr *side = e->args[i];
        if (side->kind == EXPR_LITERAL) continue;
        if (!expr_is_constant(side)) {
            TRY(bind_fold_condition(b, side));
            continue;
        }
        if (!side->type || !is_foldable_type(side->type) || side->kind == EXPR_LAMBDA) continue;
        value v;
        bool folded = false;
        silt_error scratch, *kept = b->err;
        b->err = &scratch;
        silt_status st = bind_fold(b, side, &v, &folded);
        b->err = kept;
        if (st == SILT_NO_MEMORY) return error_no_memory(b->err);
        if (st != SILT_OK || !folded) continue;
        v.type = side->type;
        expr *lit;
        BIND_NEW(lit, expr_literal(b->a, v, side->span));
        e->args[i] = lit;
    }
    return SILT_OK;
}

silt_status expr_fold_condition(expr *e, const bind_env *env, arena *a, silt_error *err) {
    binder b = {.env = env, .a = a, .err = err, .next_id = 1};
    return bind_fold_condition(&b, e);
}

silt_status expr_fold(expr *e, const bind_env *env, arena *a, value *out, silt_error *err) {
    binder b = {.env = env, .a = a, .err = err, .next_id = 1};
    bool folded;
    TRY(bind_fold(&b, e, out, &folded));
    return folded ? SILT_OK : err_UNSUPPORTED_FEATURE(err, "an expression with columns where a constant is needed");
}
