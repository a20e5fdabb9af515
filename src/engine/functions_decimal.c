/*
 * Decimal arithmetic for the cases where Spark gives up scale to stay within 38 digits, and for division. Operands are at most 38 digits, so that every intermediate
 * value (38 digits scaled by up to 76 more) fits 512 bits; a number is eight 64-bit words, least first, and a sign kept beside it.
 */
#include "engine/functions_decimal.h"

#include <stdlib.h>

#include "engine/functions_call.h"

typedef unsigned __int128 uint128;
typedef struct wide {
    uint64_t w[8];
} wide;

static uint128 magnitude(int128 x) { return x < 0 ? (uint128)0 - (uint128)x : (uint128)x; }

static wide wide_of(uint128 x) { return (wide){{(uint64_t)x, (uint64_t)(x >> 64)}}; }

static void wide_multiply(wide *x, uint64_t by) {
    uint64_t carry = 0;
    for (int i = 0; i < 8; i++) {
        uint128 t = (uint128)x->w[i] * by + carry;
        x->w[i] = (uint64_t)t;
        carry = (uint64_t)(t >> 64);
    }
}

static void wide_scale(wide *x, int digits) {
    for (; digits >= 19; digits -= 19) wide_multiply(x, 10000000000000000000u);
    uint64_t by = 1;
    for (; digits > 0; digits--) by *= 10;
    wide_multiply(x, by);
}

static wide wide_product(uint128 x, uint128 y) {
    wide low = wide_of(x), high = wide_of(x);
    wide_multiply(&low, (uint64_t)y);
    wide_multiply(&high, (uint64_t)(y >> 64));
    uint64_t carry = 0;
    for (int i = 1; i < 8; i++) {
        uint128 t = (uint128)low.w[i] + high.w[i - 1] + carry;
        low.w[i] = (uint64_t)t;
        carry = (uint64_t)(t >> 64);
    }
    return low;
}

static int wide_compare(const wide *x, const wide *y) {
    for (int i = 7; i >= 0; i--)
        if (x->w[i] != y->w[i]) return x->w[i] < y->w[i] ? -1 : 1;
    return 0;
}

static void wide_add(wide *x, const wide *y) {
    uint64_t carry = 0;
    for (int i = 0; i < 8; i++) {
        uint128 t = (uint128)x->w[i] + y->w[i] + carry;
        x->w[i] = (uint64_t)t;
        carry = (uint64_t)(t >> 64);
    }
}

static void wide_subtract(wide *x, const wide *y) {
    uint64_t borrow = 0;
    for (int i = 0; i < 8; i++) {
        uint128 t = (uint128)x->w[i] - y->w[i] - borrow;
        x->w[i] = (uint64_t)t;
        borrow = (uint64_t)(t >> 64) & 1;
    }
}

static void wide_shift_in(wide *x, uint64_t bit) {
    for (int i = 7; i > 0; i--) x->w[i] = x->w[i] << 1 | x->w[i - 1] >> 63;
    x->w[0] = x->w[0] << 1 | bit;
}

static int wide_bits(const wide *x) {
    for (int i = 7; i >= 0; i--)
        if (x->w[i]) return 64 * i + 64 - __builtin_clzll(x->w[i]);
    return 0;
}

/* Bit by bit: a few hundred steps for the largest, which only divisions and cut products pay. */
static wide wide_divide(const wide *x, const wide *y, wide *out_remainder) {
    wide quotient = {{0}}, remainder = {{0}};
    for (int i = wide_bits(x) - 1; i >= 0; i--) {
        wide_shift_in(&remainder, x->w[i / 64] >> (i % 64) & 1);
        bool fits = wide_compare(&remainder, y) >= 0;
        if (fits) wide_subtract(&remainder, y);
        wide_shift_in(&quotient, fits);
    }
    *out_remainder = remainder;
    return quotient;
}

static uint64_t wide_divide_small(wide *x, uint64_t by) {
    uint128 rest = 0;
    for (int i = 7; i >= 0; i--) {
        uint128 t = rest << 64 | x->w[i];
        x->w[i] = (uint64_t)(t / by);
        rest = t % by;
    }
    return (uint64_t)rest;
}

/* Drop digits: only the first one dropped decides. */
static void wide_drop(wide *x, int digits) {
    if (digits <= 0) return;
    for (int i = 1; i < digits; i++) (void)wide_divide_small(x, 10);
    wide five = wide_of(5);
    wide_add(x, &five);
    (void)wide_divide_small(x, 10);
}

static bool wide_to_decimal(const wide *x, bool negative, int128 *out) {
    for (int i = 2; i < 8; i++)
        if (x->w[i]) return false;
    uint128 v = (uint128)x->w[1] << 64 | x->w[0], limit = 1;
    for (int i = 0; i < 38; i++) limit *= 10;
    if (v >= limit) return false;
    *out = negative ? -(int128)v : (int128)v;
    return true;
}

/* ---- the face ---- */

int128 decimal_round_down(int128 x, int digits) {
    wide w = wide_of(magnitude(x));
    int128 out = 0;
    wide_drop(&w, digits > 40 ? 40 : digits);
    (void)wide_to_decimal(&w, x < 0, &out);
    return out;
}

bool decimal_scale_up(int128 x, int digits, int128 *out) {
    if (x == 0) {
        *out = 0;
        return true;
    }
    if (digits > 38) return false;
    for (; digits > 0; digits--)
        if (__builtin_mul_overflow(x, (int128)10, &x)) return false;
    *out = x;
    return decimal_fits(x, 38);
}

bool decimal_rescale(int128 x, int from_scale, int to_scale, int128 *out) {
    if (to_scale >= from_scale) return decimal_scale_up(x, to_scale - from_scale, out);
    *out = decimal_round_down(x, from_scale - to_scale);
    return true;
}

/* 10 to the power of n, 0 … 38. */
static int128 power_of_ten(int n) {
    static const int64_t powers[] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000, 1000000000, 10000000000, 100000000000, 1000000000000,
                                     10000000000000, 100000000000000, 1000000000000000, 10000000000000000, 100000000000000000, 1000000000000000000};
    int128 v = 1;
    for (; n > 18; n -= 18) v *= powers[18];
    return v * powers[n];
}

bool decimal_fits(int128 x, int precision) {
    int128 limit = power_of_ten(precision);
    return x < limit && x > -limit;
}

static bool sum(int128 x, int xs, int128 y, int ys, int scale, int128 *out) {
    int common = xs > ys ? xs : ys;
    wide a = wide_of(magnitude(x)), b = wide_of(magnitude(y));
    wide_scale(&a, common - xs);
    wide_scale(&b, common - ys);
    bool negative = x < 0;
    if ((x < 0) == (y < 0)) {
        wide_add(&a, &b);
    } else if (wide_compare(&a, &b) >= 0) {
        wide_subtract(&a, &b);
    } else {
        wide_subtract(&b, &a);
        a = b;
        negative = y < 0;
    }
    if (scale > common) wide_scale(&a, scale - common);
    wide_drop(&a, common - scale);
    return wide_to_decimal(&a, negative, out);
}

static bool product(int128 x, int xs, int128 y, int ys, int scale, int128 *out) {
    wide w = wide_product(magnitude(x), magnitude(y));
    if (scale > xs + ys) wide_scale(&w, scale - xs - ys);
    wide_drop(&w, xs + ys - scale);
    return wide_to_decimal(&w, (x < 0) != (y < 0), out);
}

static bool quotient(int128 x, int xs, int128 y, int ys, int scale, bool whole, int128 *out) {
    wide a = wide_of(magnitude(x)), b = wide_of(magnitude(y)), rest;
    int shift = scale + ys - xs;
    if (shift >= 0)
        wide_scale(&a, shift);
    else
        wide_scale(&b, -shift);
    wide q = wide_divide(&a, &b, &rest);
    if (!whole) {
        wide twice = rest;
        wide_add(&rest, &twice);
        wide one = wide_of(1);
        if (wide_compare(&rest, &b) >= 0) wide_add(&q, &one);
    }
    return wide_to_decimal(&q, (x < 0) != (y < 0), out);
}

static bool rest_of(int128 x, int xs, int128 y, int ys, int scale, int128 *out) {
    int common = xs > ys ? xs : ys;
    wide a = wide_of(magnitude(x)), b = wide_of(magnitude(y)), rest;
    wide_scale(&a, common - xs);
    wide_scale(&b, common - ys);
    (void)wide_divide(&a, &b, &rest);
    if (scale > common) wide_scale(&rest, scale - common);
    wide_drop(&rest, common - scale);
    return wide_to_decimal(&rest, x < 0, out);
}

bool decimal_calculate(char op, int128 x, int xs, int128 y, int ys, int scale, int128 *out) {
    switch (op) {
        case '+': return sum(x, xs, y, ys, scale, out);
        case '-': return sum(x, xs, -y, ys, scale, out);
        case '*': return product(x, xs, y, ys, scale, out);
        case '/': return quotient(x, xs, y, ys, scale, false, out);
        case 'd': return quotient(x, xs, y, ys, 0, true, out);
        default: return rest_of(x, xs, y, ys, scale, out);
    }
}

double decimal_to_double(int128 x, int scale) {
    static const double exact[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                   1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    if (x < (int128)1 << 53 && x > -((int128)1 << 53) && scale <= 22)
        return (double)x / exact[scale]; /* both exact: one rounding */
    char text[64];
    buf b;
    buf_init(&b, sizeof text);
    decimal_write(&b, x, scale);
    buf_append_char(&b, 0);
    double v = b.ptr ? strtod(b.ptr, NULL) : 0;
    buf_dispose(&b);
    return v;
}

/* ---- the functions ---- */

static void raise_range(call *c, int precision, int scale) {
    call_raise(c, "NUMERIC_VALUE_OUT_OF_RANGE.WITH_SUGGESTION", "22003", "The value cannot be represented as DECIMAL(%d, %d)",
               precision, scale);
}

/* The try_ operators: NULL instead of every error. */
static void decimal_try(call *c, idx_t row) {
    int128 x, y, out;
    int xs, ys;
    char o = call_str(c, 0, row).ptr[0];
    bool ok = call_exact(c, 1, row, &x, &xs) && call_exact(c, 2, row, &y, &ys) && !(y == 0 && (o == '/' || o == '%'));
    if (ok && decimal_calculate(o, x, xs, y, ys, call_i32(c, 3, row), &out))
        ret_i128(c, row, out);
    else
        ret_null(c, row);
}

static void decimal_op(call *c, idx_t row) {
    int128 x, y, out;
    int xs, ys, scale = call_i32(c, 3, row);
    str op = call_str(c, 0, row);
    if (!call_exact(c, 1, row, &x, &xs) || !call_exact(c, 2, row, &y, &ys)) {
        call_raise(c, "INTERNAL_ERROR", "XX000", "decimal arithmetic over another type");
        return;
    }
    char o = op.ptr[0];
    if (y == 0 && (o == '/' || o == 'd')) {
        call_raise(c, "DIVIDE_BY_ZERO", "22012",
                   "Division by zero. Use try_divide to tolerate a divisor of 0 and return NULL instead.");
    } else if (y == 0 && o == '%') {
        call_raise(c, "REMAINDER_BY_ZERO", "22012",
                   "Remainder by zero. Use try_mod to tolerate a divisor of 0 and return NULL instead.");
    } else if (!decimal_calculate(o, x, xs, y, ys, scale, &out)) {
        raise_range(c, 38, scale);
    } else {
        ret_i128(c, row, out);
    }
}

/* Unscaled digits → the result's decimal type; false: raised, or NULL for the try_ forms. */
static bool checked(call *c, idx_t row, int128 *out) {
    if (!c->out_precision) {
        duckdb_logical_type t = duckdb_vector_get_column_type(c->out);
        c->out_precision = duckdb_decimal_width(t);
        c->out_scale = duckdb_decimal_scale(t);
        duckdb_destroy_logical_type(&t);
    }
    *out = call_i128(c, 0, row);
    if (decimal_fits(*out, c->out_precision)) return true;
    if (call_bool(c, 1, row))
        ret_null(c, row);
    else
        raise_range(c, c->out_precision, c->out_scale);
    return false;
}

static void decimal_2(call *c, idx_t row) {
    int128 v;
    if (checked(c, row, &v)) ((int16_t *)c->out_data)[row] = (int16_t)v;
}

static void decimal_4(call *c, idx_t row) {
    int128 v;
    if (checked(c, row, &v)) ((int32_t *)c->out_data)[row] = (int32_t)v;
}

static void decimal_8(call *c, idx_t row) {
    int128 v;
    if (checked(c, row, &v)) ((int64_t *)c->out_data)[row] = (int64_t)v;
}

static void decimal_16(call *c, idx_t row) {
    int128 v;
    if (checked(c, row, &v)) ret_i128(c, row, v);
}

static void decimal_double(call *c, idx_t row) {
    int128 x;
    int scale;
    if (call_exact(c, 0, row, &x, &scale))
        ret_f64(c, row, decimal_to_double(x, scale));
    else
        ret_null(c, row);
}

/* silt_decimal_round(x, digits, half_even): digits after the point may be negative; the result keeps x's scale or the asked one. */
static void decimal_round(call *c, idx_t row) {
    int128 x, out;
    int scale, wanted = call_i32(c, 1, row);
    str mode = call_str(c, 2, row); /* "up", "even", "ceil", "floor" */
    if (!call_exact(c, 0, row, &x, &scale)) {
        ret_null(c, row);
        return;
    }
    int drop = scale - wanted, result_scale = wanted < 0 ? 0 : wanted;
    if (drop <= 0) {
        if (!decimal_scale_up(x, -drop, &out))
            raise_range(c, 38, wanted);
        else
            ret_i128(c, row, out);
        return;
    }
    int128 unit = 1;
    bool huge = drop > 38;
    for (int i = 0; i < drop && !huge; i++) unit *= 10;
    int128 q = huge ? 0 : x / unit, rest = huge ? x : x % unit, mag = rest < 0 ? -rest : rest;
    int sign = x < 0 ? -1 : 1;
    if (str_eqz(mode, "up"))
        q += huge ? 0 : mag >= unit - mag ? sign : 0;
    else if (str_eqz(mode, "even"))
        q += huge ? 0 : mag > unit - mag || (mag == unit - mag && q % 2 != 0) ? sign : 0;
    else if (str_eqz(mode, "ceil"))
        q += rest > 0 ? 1 : 0;
    else
        q -= rest < 0 ? 1 : 0;
    if (!decimal_scale_up(q, result_scale - wanted, &out))
        raise_range(c, 38, result_scale);
    else
        ret_i128(c, row, out);
}

const call_def calls_decimal[4] = {{"silt_decimal_2", decimal_2, "Hb", 'H', CALL_RAISES},
                                   {"silt_decimal_4", decimal_4, "Hb", 'H', CALL_RAISES},
                                   {"silt_decimal_8", decimal_8, "Hb", 'H', CALL_RAISES},
                                   {"silt_decimal_16", decimal_16, "Hb", 'H', CALL_RAISES}};

static const call_def defs[] = {
    {"silt_decimal_op", decimal_op, "s**i", 'H', CALL_RAISES},
    {"silt_decimal_try", decimal_try, "s**i", 'H', 0},
    {"silt_decimal_double", decimal_double, "*", 'd', 0},
    {"silt_decimal_round", decimal_round, "*is", 'H', CALL_RAISES},
};

const call_group calls_decimals = {defs, ARRAY_LEN(defs)};
