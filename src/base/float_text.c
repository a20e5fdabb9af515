/*
 * Floating point numbers as text. Digits come from float_door.h; this file lays them out.
 *
 * Java's layout (Double.toString, JDK 19 and later): plain with at least one digit on each side of the point where
 * 10^-3 <= |v| < 10^7, otherwise d.dddE±n. Java chooses among decimals of at least two digits, so that where one digit would do
 * it takes the nearest two-digit decimal: 4.9E-324, not 5.0E-324.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/float_door.h"
#include "base/json.h"

typedef struct decimal {
    char digits[20];
    int count;
    int exponent; /* 0.digits × 10^exponent */
} decimal;

static void append_zeros(buf *out, int n) {
    for (; n > 0; n--) buf_append_char(out, '0');
}

/* digits[from, to), or one 0 where that is empty. */
static void append_digits(buf *out, const decimal *d, int from, int to) {
    if (from >= to) buf_append_char(out, '0');
    else buf_append_bytes(out, d->digits + from, (size_t)(to - from));
}

static void write_plain(buf *out, const decimal *d) {
    if (d->exponent <= 0) {
        buf_append(out, STR("0."));
        append_zeros(out, -d->exponent);
        append_digits(out, d, 0, d->count);
        return;
    }
    int whole = d->exponent < d->count ? d->exponent : d->count;
    append_digits(out, d, 0, whole);
    append_zeros(out, d->exponent - whole);
    buf_append_char(out, '.');
    append_digits(out, d, whole, d->count);
}

static void write_scientific(buf *out, const decimal *d) {
    append_digits(out, d, 0, 1);
    buf_append_char(out, '.');
    append_digits(out, d, 1, d->count);
    buf_append_char(out, 'E');
    buf_append_i64(out, d->exponent - 1);
}

/* Plain from 10^(least-1) up to 10^most. */
static void write_decimal(buf *out, const decimal *d, int least, int most) {
    if (d->exponent >= least && d->exponent <= most) write_plain(out, d);
    else write_scientific(out, d);
}

static bool write_special(buf *out, bool is_nan, bool is_infinite, bool negative, bool is_zero) {
    if (is_nan) return buf_append(out, STR("NaN")), true;
    if (negative) buf_append_char(out, '-');
    if (is_infinite) return buf_append(out, STR("Infinity")), true;
    if (is_zero) return buf_append(out, STR("0.0")), true;
    return false;
}

/* A 0 as second digit is laid out anyway. */
static void drop_zero(decimal *d) {
    if (d->count == 2 && d->digits[1] == '0') d->count = 1;
}

void text_write_f64_java(buf *out, double v) {
    if (write_special(out, isnan(v), isinf(v), signbit(v), v == 0)) return;
    decimal d;
    v = fabs(v);
    d.count = float_door_f64(v, d.digits, &d.exponent);
    if (d.count == 1) {
        decimal two;
        two.count = float_door_f64_two(v, two.digits, &two.exponent);
        drop_zero(&two);
        char text[32];
        double back;
        int n = snprintf(text, sizeof text, "%c%ce%d", two.digits[0], two.count == 2 ? two.digits[1] : '0', two.exponent - 2);
        if (str_to_f64((str){text, (size_t)n}, &back) && back == v) d = two;
    }
    write_decimal(out, &d, -2, 7);
}

void text_write_f32_java(buf *out, float v) {
    if (write_special(out, isnan(v), isinf(v), signbit(v), v == 0)) return;
    decimal d;
    v = fabsf(v);
    d.count = float_door_f32(v, d.digits, &d.exponent);
    if (d.count == 1) {
        decimal two;
        two.count = float_door_f32_two(v, two.digits, &two.exponent);
        drop_zero(&two);
        char text[32];
        snprintf(text, sizeof text, "%c%ce%d", two.digits[0], two.count == 2 ? two.digits[1] : '0', two.exponent - 2);
        if (strtof(text, NULL) == v) d = two; /* no decimal point in it: the locale does not matter */
    }
    write_decimal(out, &d, -2, 7);
}

/* Numbers where JSON has them, names in quotes where it has not. */
static bool write_json_special(buf *out, bool is_finite, const char *name) {
    if (is_finite) return false;
    buf_printf(out, "\"%s\"", name);
    return true;
}

void json_write_f64(buf *out, double v) {
    if (write_json_special(out, isfinite(v), isnan(v) ? "NaN" : v > 0 ? "Infinity" : "-Infinity")) return;
    if (write_special(out, false, false, signbit(v), v == 0)) return;
    decimal d;
    d.count = float_door_f64(fabs(v), d.digits, &d.exponent);
    write_decimal(out, &d, -4, 17);
}

void json_write_f32(buf *out, float v) {
    if (write_json_special(out, isfinite(v), isnan(v) ? "NaN" : v > 0 ? "Infinity" : "-Infinity")) return;
    if (write_special(out, false, false, signbit(v), v == 0)) return;
    decimal d;
    d.count = float_door_f32(fabsf(v), d.digits, &d.exponent);
    write_decimal(out, &d, -4, 17);
}
