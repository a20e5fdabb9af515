/*
 * Decimals as 128-bit unscaled integers: text in any exponent form, exactly, and back. Never through double: Delta's statistics
 * carry 38 digits.
 */
#include "table/value.h"

#define MAX_DIGITS 38

/* 10^n for n in 0..38; every power fits. */
static int128 power_of_ten(int n) {
    int128 p = 1;
    while (n-- > 0) p *= 10;
    return p;
}

/* The number as written: up to 38 significant digits times 10^exponent. */
typedef struct written {
    bool negative;
    int128 digits;    /* without leading and trailing zeros */
    int64_t exponent; /* of ten */
} written;

static bool take_exponent(str text, size_t pos, int64_t *out) {
    bool negative = false;
    int64_t e = 0;
    if (pos < text.len && (text.ptr[pos] == '+' || text.ptr[pos] == '-')) negative = text.ptr[pos++] == '-';
    if (pos == text.len) return false;
    for (; pos < text.len; pos++) {
        if (text.ptr[pos] < '0' || text.ptr[pos] > '9' || e > 1000000) return false;
        e = e * 10 + (text.ptr[pos] - '0');
    }
    *out = negative ? -e : e;
    return true;
}

/* Grammar: [+-] digits [. digits] [(e|E) [+-] digits], at least one digit before the exponent. */
static bool read_number(str text, written *out) {
    size_t pos = 0;
    int n_digits = 0;
    int64_t pending_zeros = 0, exponent = 0;
    bool any = false, after_point = false;
    *out = (written){0};

    if (pos < text.len && (text.ptr[pos] == '+' || text.ptr[pos] == '-')) out->negative = text.ptr[pos++] == '-';
    for (; pos < text.len; pos++) {
        char c = text.ptr[pos];
        if (c == '.' && !after_point) {
            after_point = true;
            continue;
        }
        if (c < '0' || c > '9') break;
        any = true;
        if (after_point) exponent--;
        if (c == '0') { /* zeros count only once a digit follows them: trailing ones go into the exponent */
            pending_zeros += n_digits > 0;
            continue;
        }
        if (n_digits + pending_zeros + 1 > MAX_DIGITS) return false;
        out->digits = out->digits * power_of_ten((int)pending_zeros + 1) + (c - '0');
        n_digits += (int)pending_zeros + 1;
        pending_zeros = 0;
    }
    if (!any) return false;
    if (pos < text.len) {
        int64_t e;
        if ((text.ptr[pos] != 'e' && text.ptr[pos] != 'E') || !take_exponent(text, pos + 1, &e)) return false;
        exponent += e;
    }
    out->exponent = exponent + pending_zeros;
    return true;
}

bool decimal_parse(str text, int scale, int128 *out_unscaled) {
    written w;
    if (!read_number(text, &w)) return false;
    if (w.digits == 0) {
        *out_unscaled = 0;
        return true;
    }
    int64_t shift = w.exponent + scale;
    if (shift < 0 || shift >= MAX_DIGITS) return false; /* digits beyond the scale, or too large */
    int128 limit = power_of_ten(MAX_DIGITS) - 1, p = power_of_ten((int)shift);
    if (w.digits > limit / p) return false;
    *out_unscaled = w.negative ? -w.digits * p : w.digits * p;
    return true;
}

/* Digits of |v|, most significant first, no leading zeros ("0" for zero); returns their number. */
static int magnitude_digits(int128 v, char out[40]) {
    unsigned __int128 m = v < 0 ? -(unsigned __int128)v : (unsigned __int128)v;
    char reversed[40];
    int n = 0;
    do {
        reversed[n++] = (char)('0' + (int)(m % 10));
        m /= 10;
    } while (m);
    for (int i = 0; i < n; i++) out[i] = reversed[n - 1 - i];
    return n;
}

void decimal_write(buf *out, int128 unscaled, int scale) {
    char digits[40];
    int n = magnitude_digits(unscaled, digits), whole = n - scale;
    if (unscaled < 0) buf_append_char(out, '-');
    if (whole <= 0) {
        buf_append_z(out, "0.");
        for (int i = whole; i < 0; i++) buf_append_char(out, '0');
        buf_append_bytes(out, digits, (size_t)n);
        return;
    }
    buf_append_bytes(out, digits, (size_t)whole);
    if (scale == 0) return;
    buf_append_char(out, '.');
    buf_append_bytes(out, digits + whole, (size_t)scale);
}

/* Plain while the leading digit stands within six places after the point, then 1.5E-10: java.math.BigDecimal.toString. */
void decimal_write_java(buf *out, int128 unscaled, int scale) {
    char digits[40];
    int n = magnitude_digits(unscaled, digits), adjusted = n - 1 - scale;
    if (adjusted >= -6) {
        decimal_write(out, unscaled, scale);
        return;
    }
    if (unscaled < 0) buf_append_char(out, '-');
    buf_append_char(out, digits[0]);
    if (n > 1) {
        buf_append_char(out, '.');
        buf_append_bytes(out, digits + 1, (size_t)n - 1);
    }
    buf_printf(out, "E%d", adjusted);
}
