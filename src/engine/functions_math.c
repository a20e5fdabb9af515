/* Mathematics: libm where Java's StrictMath does the same, Spark's own rules at the edges. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/ident.h"
#include "engine/functions_call.h"
#include "engine/functions_decimal.h"

#define LIBM(name) \
    static void f_##name(call *c, idx_t row) { ret_f64(c, row, name(call_f64(c, 0, row))); }
LIBM(sqrt)
LIBM(cbrt) LIBM(exp) LIBM(expm1) LIBM(rint) LIBM(sin) LIBM(cos) LIBM(tan) LIBM(asin) LIBM(acos) LIBM(atan) LIBM(sinh) LIBM(cosh)
    LIBM(tanh) LIBM(asinh) LIBM(acosh) LIBM(atanh)

        static void cot(call *c, idx_t row) {
    ret_f64(c, row, 1 / tan(call_f64(c, 0, row)));
}
static void sec(call *c, idx_t row) { ret_f64(c, row, 1 / cos(call_f64(c, 0, row))); }
static void csc(call *c, idx_t row) { ret_f64(c, row, 1 / sin(call_f64(c, 0, row))); }
static void degrees(call *c, idx_t row) { ret_f64(c, row, call_f64(c, 0, row) * (180.0 / M_PI)); }
static void radians(call *c, idx_t row) { ret_f64(c, row, call_f64(c, 0, row) / 180.0 * M_PI); }
static void atan2_of(call *c, idx_t row) { ret_f64(c, row, atan2(call_f64(c, 0, row) + 0.0, call_f64(c, 1, row) + 0.0)); }
static void hypot_of(call *c, idx_t row) { ret_f64(c, row, hypot(call_f64(c, 0, row), call_f64(c, 1, row))); }

/* Math.pow: 1 to the power NaN is NaN in Java. */
static void pow_of(call *c, idx_t row) {
    double x = call_f64(c, 0, row), y = call_f64(c, 1, row);
    if (isnan(y) || (fabs(x) == 1 && isinf(y)))
        ret_f64(c, row, NAN);
    else
        ret_f64(c, row, pow(x, y));
}

static void sign(call *c, idx_t row) {
    double v = call_f64(c, 0, row);
    ret_f64(c, row, v > 0 ? 1 : v < 0 ? -1 : v);
}

static void logarithm(call *c, idx_t row, double (*fn)(double), double lowest) {
    double v = call_f64(c, 0, row);
    if (v <= lowest)
        ret_null(c, row);
    else
        ret_f64(c, row, fn(v));
}
static void ln(call *c, idx_t row) { logarithm(c, row, log, 0); }
static void log10_of(call *c, idx_t row) { logarithm(c, row, log10, 0); }
static void log2_of(call *c, idx_t row) { logarithm(c, row, log2, 0); }
static void log1p_of(call *c, idx_t row) { logarithm(c, row, log1p, -1); }
static void log_base(call *c, idx_t row) {
    double base = call_f64(c, 0, row), v = call_f64(c, 1, row);
    if (base <= 0 || v <= 0)
        ret_null(c, row);
    else
        ret_f64(c, row, log(v) / log(base));
}

/* ---- rounding ---- */

/* A double rounded at its shortest decimal text, as BigDecimal(x).setScale does. */
static void round_double(call *c, idx_t row) {
    double v = call_f64(c, 0, row);
    int digits = call_i32(c, 1, row);
    bool even = str_eqz(call_str(c, 2, row), "even");
    if (isnan(v) || isinf(v) || digits > 300) {
        ret_f64(c, row, v);
        return;
    }
    text_write_f64_java(&c->text, fabs(v));
    str s = buf_str(&c->text);
    /* digits d1d2…dn with the point behind position p: shift it, cut it, round by what is cut */
    char all[400];
    int n = 0, point = 0, exponent = 0;
    bool after = false;
    for (size_t i = 0; i < s.len; i++) {
        if (s.ptr[i] == '.')
            after = true;
        else if (s.ptr[i] == 'E') {
            int64_t e = 0;
            (void)str_to_i64(str_slice(s, i + 1, s.len), &e);
            exponent = (int)e;
            break;
        } else if (n < 390) {
            all[n++] = s.ptr[i];
            if (!after) point++;
        }
    }
    int keep = point + exponent + digits;
    if (keep >= n) {
        ret_f64(c, row, v);
        return;
    }
    bool up = false;
    if (keep >= 0) {
        int next = all[keep] - '0';
        bool rest = false;
        for (int i = keep + 1; i < n; i++) rest |= all[i] != '0';
        bool odd = keep > 0 && ((all[keep - 1] - '0') & 1);
        up = even ? next > 5 || (next == 5 && (rest || odd)) : next >= 5;
    }
    char out[420];
    int len = keep < 0 ? 0 : keep;
    out[0] = '0';
    memcpy(out + 1, all, (size_t)len);
    if (up) {
        int i = len;
        while (i > 0 && out[i] == '9') out[i--] = '0';
        out[i]++;
    }
    snprintf(out + 1 + len, sizeof out - 1 - (size_t)len, "e%d", -digits);
    double rounded = strtod(out, NULL);
    ret_f64(c, row, v < 0 || (v == 0 && signbit(v)) ? -rounded : rounded);
}

static void round_integer(call *c, idx_t row) {
    int64_t v = call_i64(c, 0, row);
    int digits = -call_i32(c, 1, row);
    str mode = call_str(c, 2, row);
    if (digits > 18) {
        ret_i64(c, row, 0);
        return;
    }
    int64_t unit = 1;
    for (int i = 0; i < digits; i++) unit *= 10;
    int64_t q = v / unit, rest = v % unit, mag = rest < 0 ? -rest : rest;
    int s = v < 0 ? -1 : 1;
    if (str_eqz(mode, "up"))
        q += mag >= unit - mag ? s : 0;
    else if (str_eqz(mode, "even"))
        q += mag > unit - mag || (mag == unit - mag && q % 2 != 0) ? s : 0;
    else if (str_eqz(mode, "ceil"))
        q += rest > 0;
    else
        q -= rest < 0;
    int bits = call_i32(c, 3, row);
    int64_t limit = bits == 64 ? INT64_MAX : ((int64_t)1 << (bits - 1)) - 1;
    if (__builtin_mul_overflow(q, unit, &v) || v > limit || v < -limit - 1)
        call_raise(c, "ARITHMETIC_OVERFLOW", "22003", "Overflow in rounding. Use try_cast to a wider type first.");
    else
        ret_i64(c, row, v);
}

static void whole(call *c, idx_t row, double v) {
    if (isnan(v))
        ret_i64(c, row, 0);
    else if (v >= 9223372036854775808.0)
        ret_i64(c, row, INT64_MAX);
    else if (v <= -9223372036854775808.0)
        ret_i64(c, row, INT64_MIN);
    else
        ret_i64(c, row, (int64_t)v);
}
static void ceil_long(call *c, idx_t row) { whole(c, row, ceil(call_f64(c, 0, row))); }
static void floor_long(call *c, idx_t row) { whole(c, row, floor(call_f64(c, 0, row))); }

/* ---- bits and bases ---- */

static void shift_left(call *c, idx_t row) {
    uint64_t v = (uint64_t)call_i64(c, 0, row);
    int by = call_i32(c, 1, row), width = call_i32(c, 2, row);
    ret_i64(c, row, width == 64 ? (int64_t)(v << (by & 63)) : (int32_t)((uint32_t)v << (by & 31)));
}
static void shift_right(call *c, idx_t row) {
    int64_t v = call_i64(c, 0, row);
    ret_i64(c, row, v >> (call_i32(c, 1, row) & (call_i32(c, 2, row) - 1)));
}
static void shift_right_unsigned(call *c, idx_t row) {
    uint64_t v = (uint64_t)call_i64(c, 0, row);
    int by = call_i32(c, 1, row), width = call_i32(c, 2, row);
    ret_i64(c, row, width == 64 ? (int64_t)(v >> (by & 63)) : (int32_t)((uint32_t)v >> (by & 31)));
}
static void bit_count(call *c, idx_t row) { ret_i32(c, row, __builtin_popcountll((uint64_t)call_i64(c, 0, row))); }
static void bit_get(call *c, idx_t row) {
    int at = call_i32(c, 1, row);
    if (at < 0 || at > 63)
        call_raise(c, "INVALID_PARAMETER_VALUE.BIT_POSITION_RANGE", "22023",
                   "The value of parameter(s) `pos` in `bit_get` is invalid: expects an integer value in [0, 64), but got %d.",
                   at);
    else
        ret_i8(c, row, (int8_t)((uint64_t)call_i64(c, 0, row) >> at & 1));
}

static void write_base(buf *out, uint64_t v, unsigned base) {
    char digits[65];
    size_t n = sizeof digits;
    do digits[--n] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"[v % base];
    while (v /= base);
    buf_append(out, (str){digits + n, sizeof digits - n});
}
static void bin(call *c, idx_t row) {
    write_base(&c->text, (uint64_t)call_i64(c, 0, row), 2);
    ret_text(c, row);
}
static void hex(call *c, idx_t row) {
    write_base(&c->text, (uint64_t)call_i64(c, 0, row), 16);
    ret_text(c, row);
}

static int digit_of(char ch) {
    return ch >= '0' && ch <= '9'   ? ch - '0'
           : ch >= 'a' && ch <= 'z' ? ch - 'a' + 10
           : ch >= 'A' && ch <= 'Z' ? ch - 'A' + 10
                                    : 99;
}

static void unhex(call *c, idx_t row) {
    str s = call_str(c, 0, row);
    int high = 0;
    bool odd = s.len % 2;
    for (size_t i = 0; i < s.len; i++) {
        int d = digit_of(s.ptr[i]);
        if (d > 15) {
            ret_null(c, row);
            return;
        }
        if ((i % 2 == 0) != odd)
            high = d;
        else
            buf_append_char(&c->text, (char)(high << 4 | d)), high = 0;
    }
    ret_text(c, row);
}

/* conv(text, from, to): unsigned 64-bit, saturating; a negative target base shows it as signed. */
static void conv(call *c, idx_t row) {
    str s = str_trim(call_str(c, 0, row));
    int from = call_i32(c, 1, row), to = call_i32(c, 2, row), base = abs(to);
    if (from < 2 || from > 36 || base < 2 || base > 36 || s.len == 0) {
        ret_null(c, row);
        return;
    }
    bool negative = s.ptr[0] == '-', overflow = false;
    uint64_t v = 0;
    for (size_t i = negative ? 1 : 0; i < s.len; i++) {
        int d = digit_of(s.ptr[i]);
        if (d >= from) break;
        if (__builtin_mul_overflow(v, (uint64_t)from, &v) || __builtin_add_overflow(v, (uint64_t)d, &v)) overflow = true;
    }
    if (overflow) {
        call_raise(c, "ARITHMETIC_OVERFLOW", "22003",
                   "Overflow in function conv(). Use 'try_conv' to tolerate overflow and return NULL instead.");
        return;
    }
    if (negative) v = (uint64_t)0 - v;
    bool shown_negative = to < 0 && (int64_t)v < 0;
    if (shown_negative) {
        buf_append_char(&c->text, '-');
        v = (uint64_t)0 - v;
    }
    write_base(&c->text, v, (unsigned)base);
    ret_text(c, row);
}

static void factorial(call *c, idx_t row) {
    int n = call_i32(c, 0, row);
    if (n < 0 || n > 20) {
        ret_null(c, row);
        return;
    }
    int64_t v = 1;
    for (int i = 2; i <= n; i++) v *= i;
    ret_i64(c, row, v);
}

static void width_bucket(call *c, idx_t row) {
    double v = call_f64(c, 0, row), low = call_f64(c, 1, row), high = call_f64(c, 2, row);
    int64_t n = call_i64(c, 3, row);
    bool bad = n <= 0 || n == INT64_MAX || isnan(v) || low == high || isnan(low) || isnan(high) || isinf(low) || isinf(high);
    if (bad) {
        ret_null(c, row);
        return;
    }
    double lower = low < high ? low : high, upper = low < high ? high : low;
    int64_t at;
    if (low < high)
        at = v < lower ? 0 : v >= upper ? n + 1 : (int64_t)((double)n * (v - lower) / (upper - lower)) + 1;
    else
        at = v > upper ? 0 : v <= lower ? n + 1 : (int64_t)((double)n * (upper - v) / (upper - lower)) + 1;
    ret_i64(c, row, at);
}

static void sequence_step(call *c, idx_t row) {
    int64_t from = call_i64(c, 0, row), to = call_i64(c, 1, row), step = call_i64(c, 2, row);
    bool ok = (step > 0 && from <= to) || (step < 0 && from >= to) || (step == 0 && from == to);
    if (ok)
        ret_i64(c, row, step == 0 ? 1 : step);
    else
        call_raise(c, "ILLEGAL_SEQUENCE_BOUNDARIES", "22023", "Illegal sequence boundaries: %lld to %lld by %lld.",
                   (long long)from, (long long)to, (long long)step);
}

static void randn(call *c, idx_t row) {
    uint64_t bits[2];
    random_bytes(bits, sizeof bits);
    double u = ((double)(bits[0] >> 11) + 1) / 9007199254740993.0, v = (double)(bits[1] >> 11) / 9007199254740992.0;
    ret_f64(c, row, sqrt(-2 * log(u)) * cos(2 * M_PI * v));
}

#define F1(name) \
    { "silt_" #name, f_##name, "d", 'd', 0 }
static const call_def defs[] = {
    F1(sqrt),
    F1(cbrt),
    F1(exp),
    F1(expm1),
    F1(rint),
    F1(sin),
    F1(cos),
    F1(tan),
    F1(asin),
    F1(acos),
    F1(atan),
    F1(sinh),
    F1(cosh),
    F1(tanh),
    F1(asinh),
    F1(acosh),
    F1(atanh),
    {"silt_cot", cot, "d", 'd', 0},
    {"silt_sec", sec, "d", 'd', 0},
    {"silt_csc", csc, "d", 'd', 0},
    {"silt_degrees", degrees, "d", 'd', 0},
    {"silt_radians", radians, "d", 'd', 0},
    {"silt_atan2", atan2_of, "dd", 'd', 0},
    {"silt_hypot", hypot_of, "dd", 'd', 0},
    {"silt_pow", pow_of, "dd", 'd', 0},
    {"silt_sign", sign, "d", 'd', 0},
    {"silt_ln", ln, "d", 'd', 0},
    {"silt_log10", log10_of, "d", 'd', 0},
    {"silt_log2", log2_of, "d", 'd', 0},
    {"silt_log1p", log1p_of, "d", 'd', 0},
    {"silt_log", log_base, "dd", 'd', 0},
    {"silt_round", round_double, "dis", 'd', 0},
    {"silt_integer_round", round_integer, "lisi", 'l', CALL_RAISES},
    {"silt_ceil_long", ceil_long, "d", 'l', 0},
    {"silt_floor_long", floor_long, "d", 'l', 0},
    {"silt_shift_left", shift_left, "lii", 'l', 0},
    {"silt_shift_right", shift_right, "lii", 'l', 0},
    {"silt_shift_right_unsigned", shift_right_unsigned, "lii", 'l', 0},
    {"silt_bit_count", bit_count, "l", 'i', 0},
    {"silt_bit_get", bit_get, "li", 'y', CALL_RAISES},
    {"silt_bin", bin, "l", 's', 0},
    {"silt_hex", hex, "l", 's', 0},
    {"silt_unhex", unhex, "s", 'B', 0},
    {"silt_conv", conv, "sii", 's', CALL_RAISES},
    {"silt_factorial", factorial, "i", 'l', 0},
    {"silt_width_bucket", width_bucket, "dddl", 'l', 0},
    {"silt_sequence_step", sequence_step, "lll", 'l', CALL_RAISES},
    {"silt_randn", randn, "", 'd', CALL_VOLATILE},
};

const call_group calls_math = {defs, ARRAY_LEN(defs)};
