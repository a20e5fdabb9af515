/* CAST from text, and checked conversions of numbers: Spark's rules for what a text may look like, and its errors. The last argument `try` gives NULL instead. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/time.h"
#include "engine/functions_call.h"
#include "engine/functions_decimal.h"

static void invalid(call *c, idx_t row, bool is_try, str text, const char *to) {
    if (is_try) {
        ret_null(c, row);
        return;
    }
    size_t n = text.len > 200 ? 200 : text.len;
    call_raise(c, "CAST_INVALID_INPUT", "22018",
               "The value '%.*s' of the type \"STRING\" cannot be cast to \"%s\" because it is malformed. Correct the value as "
               "per the syntax, or change its target type.",
               (int)n, text.ptr, to);
}

/* Spark trims white space and control characters (UTF8String.trimAll) before it parses. */
static str trim_all(str s) {
    while (s.len > 0 && (unsigned char)s.ptr[0] <= ' ') s.ptr++, s.len--;
    while (s.len > 0 && ((unsigned char)s.ptr[s.len - 1] <= ' ' || s.ptr[s.len - 1] == 0x7f)) s.len--;
    return s;
}

/* ---- numbers ---- */

static bool parse_digits(str s, int64_t *out) {
    bool negative = s.len > 0 && s.ptr[0] == '-';
    size_t i = s.len > 0 && (s.ptr[0] == '-' || s.ptr[0] == '+') ? 1 : 0;
    int64_t v = 0;
    if (i == s.len) return false;
    for (; i < s.len; i++) {
        int d = s.ptr[i] - '0';
        if (d < 0 || d > 9 || __builtin_mul_overflow(v, (int64_t)10, &v) || __builtin_sub_overflow(v, (int64_t)d, &v))
            return false;
    }
    if (!negative && v == INT64_MIN) return false;
    *out = negative ? v : -v;
    return true;
}

static void parse_long(call *c, idx_t row) {
    str text = call_str(c, 0, row), to = call_str(c, 2, row);
    int64_t v, low = INT64_MIN, high = INT64_MAX;
    if (str_eqz(to, "TINYINT"))
        low = INT8_MIN, high = INT8_MAX;
    else if (str_eqz(to, "SMALLINT"))
        low = INT16_MIN, high = INT16_MAX;
    else if (str_eqz(to, "INT"))
        low = INT32_MIN, high = INT32_MAX;
    if (!parse_digits(trim_all(text), &v) || v < low || v > high) {
        char name[16] = {0};
        memcpy(name, to.ptr, to.len < 15 ? to.len : 15);
        invalid(c, row, call_bool(c, 1, row), text, name);
    } else
        ret_i64(c, row, v);
}

static bool equals_fold(str s, const char *z) { return str_eq_ascii_fold(s, str_of(z)); }

/* Java's decimal floating point grammar; also its d and f suffixes, and Infinity, Inf and NaN in any case. */
static bool parse_floating(str s, bool single, double *out) {
    str body = s;
    bool negative = body.len > 0 && body.ptr[0] == '-';
    if (body.len > 0 && (body.ptr[0] == '-' || body.ptr[0] == '+')) body.ptr++, body.len--;
    if (equals_fold(body, "inf") || equals_fold(body, "infinity")) {
        *out = negative ? -INFINITY : INFINITY;
        return true;
    }
    if (equals_fold(s, "nan")) {
        *out = NAN;
        return true;
    }
    if (body.len > 1 && strchr("dDfF", body.ptr[body.len - 1])) body.len--, s.len--;
    size_t i = 0, digits = 0;
    for (; i < body.len && isdigit((unsigned char)body.ptr[i]); i++) digits++;
    if (i < body.len && body.ptr[i] == '.') i++;
    for (; i < body.len && isdigit((unsigned char)body.ptr[i]); i++) digits++;
    if (digits == 0) return false;
    if (i < body.len && (body.ptr[i] | 0x20) == 'e') {
        i++;
        if (i < body.len && (body.ptr[i] == '+' || body.ptr[i] == '-')) i++;
        size_t exponent = 0;
        for (; i < body.len && isdigit((unsigned char)body.ptr[i]); i++) exponent++;
        if (exponent == 0) return false;
    }
    if (i != body.len || s.len > 4000) return false;
    char copy[4001];
    memcpy(copy, s.ptr, s.len);
    copy[s.len] = 0;
    *out = single ? (double)strtof(copy, NULL) : strtod(copy, NULL);
    return true;
}

static void parse_double(call *c, idx_t row) {
    str text = call_str(c, 0, row), to = call_str(c, 2, row);
    bool single = str_eqz(to, "FLOAT");
    double v;
    if (parse_floating(trim_all(text), single, &v))
        ret_f64(c, row, v);
    else
        invalid(c, row, call_bool(c, 1, row), text, single ? "FLOAT" : "DOUBLE");
}

static void parse_boolean(call *c, idx_t row) {
    str text = call_str(c, 0, row), s = trim_all(text);
    static const char *const yes[] = {"t", "true", "y", "yes", "1"}, *const no[] = {"f", "false", "n", "no", "0"};
    for (size_t i = 0; i < ARRAY_LEN(yes); i++) {
        if (equals_fold(s, yes[i])) {
            ret_bool(c, row, true);
            return;
        }
        if (equals_fold(s, no[i])) {
            ret_bool(c, row, false);
            return;
        }
    }
    invalid(c, row, call_bool(c, 1, row), text, "BOOLEAN");
}

/* ---- decimals ---- */

typedef enum decimal_outcome { DECIMAL_OK, DECIMAL_MALFORMED, DECIMAL_TOO_LARGE } decimal_outcome;

/* Digits with sign, point and exponent → unscaled at `scale`, half up. */
static decimal_outcome text_to_decimal(str s, int scale, int128 *out) {
    bool negative = s.len > 0 && s.ptr[0] == '-';
    size_t i = s.len > 0 && (s.ptr[0] == '-' || s.ptr[0] == '+') ? 1 : 0;
    size_t digits = 0, first = i;
    int64_t point = -1, exponent = 0, seen = 0;
    for (; i < s.len && (isdigit((unsigned char)s.ptr[i]) || s.ptr[i] == '.'); i++) {
        if (s.ptr[i] == '.') {
            if (point >= 0) return DECIMAL_MALFORMED;
            point = seen;
        } else {
            digits++;
            seen++;
        }
    }
    size_t end = i;
    if (digits == 0) return DECIMAL_MALFORMED;
    if (i < s.len && (s.ptr[i] | 0x20) == 'e') {
        str tail = str_slice(s, i + 1, s.len);
        if (tail.len > 0 && tail.ptr[0] == '+') tail = str_slice(tail, 1, tail.len);
        if (!str_to_i64(tail, &exponent) || exponent > 100000 || exponent < -100000) return DECIMAL_MALFORMED;
        i = s.len;
    }
    if (i != s.len) return DECIMAL_MALFORMED;
    int64_t integral = (point >= 0 ? point : seen) + exponent; /* digits before the point, after the exponent moved it */
    int64_t keep = integral + scale;                           /* digits that stay */
    int128 v = 0;
    int64_t at = 0;
    int round_digit = 0;
    bool any = false;
    for (size_t k = first; k < end; k++) {
        if (s.ptr[k] == '.') continue;
        int d = s.ptr[k] - '0';
        if (at < keep) {
            if (__builtin_mul_overflow(v, (int128)10, &v) || __builtin_add_overflow(v, (int128)d, &v)) return DECIMAL_TOO_LARGE;
        } else if (at == keep)
            round_digit = d;
        any |= d != 0;
        at++;
    }
    for (; at < keep && any; at++)
        if (__builtin_mul_overflow(v, (int128)10, &v)) return DECIMAL_TOO_LARGE;
    if (keep >= 0 && round_digit >= 5) v++;
    *out = negative ? -v : v;
    return decimal_fits(*out, 38) ? DECIMAL_OK : DECIMAL_TOO_LARGE;
}

static void too_large(call *c, idx_t row, bool is_try, str message, int precision, int scale) {
    if (is_try)
        ret_null(c, row);
    else if (message.len)
        call_raise(c, "CAST_OVERFLOW_IN_TABLE_INSERT", "22003", "%.*s", STR_ARG(message));
    else
        call_raise(c, "NUMERIC_VALUE_OUT_OF_RANGE.WITH_SUGGESTION", "22003",
                   "The value cannot be represented as DECIMAL(%d, %d). If necessary set \"spark.sql.ansi.enabled\" to \"false\" "
                   "to bypass this error, and return NULL instead.",
                   precision, scale);
}

/* silt_to_decimal(x, try, precision, scale, insert_message): text, doubles (by their shortest text, as BigDecimal does) and exact numbers. */
static void to_decimal(call *c, idx_t row) {
    bool is_try = call_bool(c, 1, row);
    int precision = call_i32(c, 2, row), scale = call_i32(c, 3, row), from_scale;
    str message = call_str(c, 4, row);
    const call_type *t = call_type_of(c, 0);
    int128 v = 0;
    decimal_outcome outcome;
    if (t->id == DUCKDB_TYPE_VARCHAR) {
        str text = call_str(c, 0, row);
        outcome = text_to_decimal(trim_all(text), scale, &v);
        if (outcome == DECIMAL_MALFORMED) {
            char to[32];
            snprintf(to, sizeof to, "DECIMAL(%d,%d)", precision, scale);
            invalid(c, row, is_try, text, to);
            return;
        }
    } else if (t->id == DUCKDB_TYPE_DOUBLE || t->id == DUCKDB_TYPE_FLOAT) {
        double d = t->id == DUCKDB_TYPE_DOUBLE ? call_f64(c, 0, row) : (double)call_f32(c, 0, row);
        if (isnan(d) || isinf(d))
            outcome = DECIMAL_TOO_LARGE;
        else {
            text_write_f64_java(&c->text, d);
            outcome = text_to_decimal(buf_str(&c->text), scale, &v);
        }
    } else if (call_exact(c, 0, row, &v, &from_scale)) {
        outcome = decimal_rescale(v, from_scale, scale, &v) ? DECIMAL_OK : DECIMAL_TOO_LARGE;
    } else {
        call_raise(c, "INTERNAL_ERROR", "XX000", "no decimal of this type");
        return;
    }
    if (outcome != DECIMAL_OK || !decimal_fits(v, precision))
        too_large(c, row, is_try, message, precision, scale);
    else
        ret_i128(c, row, v);
}

/* silt_narrow(x, low, high, message): any number cut to a whole one in a range; what INSERT into a narrower column does. */
static void narrow(call *c, idx_t row) {
    const call_type *t = call_type_of(c, 0);
    int64_t low = call_i64(c, 1, row), high = call_i64(c, 2, row);
    int128 v;
    int scale;
    bool ok;
    if (t->id == DUCKDB_TYPE_DOUBLE || t->id == DUCKDB_TYPE_FLOAT) {
        double d = trunc(t->id == DUCKDB_TYPE_DOUBLE ? call_f64(c, 0, row) : (double)call_f32(c, 0, row));
        ok = d >= -9223372036854775808.0 && d < 9223372036854775808.0;
        v = ok ? (int128)d : 0;
    } else {
        ok = call_exact(c, 0, row, &v, &scale);
        for (; ok && scale > 0; scale--) v /= 10;
    }
    if (ok && v >= low && v <= high)
        ret_i64(c, row, (int64_t)v);
    else
        call_raise(c, "CAST_OVERFLOW_IN_TABLE_INSERT", "22003", "%.*s", STR_ARG(call_str(c, 3, row)));
}

static void double_float(call *c, idx_t row) { ret_f32(c, row, (float)call_f64(c, 0, row)); }

/* ---- times ---- */

static void parse_date(call *c, idx_t row) {
    str text = call_str(c, 0, row);
    int64_t days;
    if (time_parse_date(trim_all(text), &days) && days >= INT32_MIN && days <= INT32_MAX)
        ret_i32(c, row, (int32_t)days);
    else
        invalid(c, row, call_bool(c, 1, row), text, "DATE");
}

/* [T]h:m[:s[.f]] without a date is today's, by the zone's offset. */
static bool parse_time_of_today(str s, int64_t offset_us, int64_t *out_us) {
    bool has_zone;
    str time = s.len > 0 && s.ptr[0] == 'T' ? str_slice(s, 1, s.len) : s;
    size_t colon = str_find_char(time, ':');
    if (colon == SIZE_MAX || colon > 2 || time.len > 40) return false;
    char text[64];
    int n = snprintf(text, sizeof text, "1970-01-01T%.*s", STR_ARG(time));
    if (!time_parse_timestamp((str){text, (size_t)n}, out_us, &has_zone) || has_zone) return false;
    int64_t now = time_now_us() + offset_us;
    *out_us += now - now % 86400000000LL;
    return true;
}

static void parse_timestamp(call *c, idx_t row) {
    str text = call_str(c, 0, row);
    int64_t us;
    bool has_zone;
    if (time_parse_timestamp(trim_all(text), &us, &has_zone))
        ret_i64(c, row, has_zone ? us : us - call_i64(c, 2, row));
    else if (parse_time_of_today(trim_all(text), call_i64(c, 2, row), &us))
        ret_i64(c, row, us - call_i64(c, 2, row));
    else
        invalid(c, row, call_bool(c, 1, row), text, "TIMESTAMP");
}

static void parse_ntz(call *c, idx_t row) {
    str text = call_str(c, 0, row);
    int64_t us;
    bool has_zone;
    if (time_parse_timestamp(trim_all(text), &us, &has_zone))
        ret_i64(c, row, us);
    else
        invalid(c, row, call_bool(c, 1, row), text, "TIMESTAMP_NTZ");
}

/* Where a region's name ("Europe/Paris", "PST") stands behind a timestamp that is well formed without it; SIZE_MAX: none. */
static size_t region_at(str s) {
    int64_t us;
    bool has_zone;
    size_t i = 0;
    if (time_parse_timestamp(s, &us, &has_zone)) return SIZE_MAX;
    while (i < s.len &&
           !(isalpha((unsigned char)s.ptr[i]) && !(s.ptr[i] == 'T' && i + 1 < s.len && isdigit((unsigned char)s.ptr[i + 1]))))
        i++;
    if (i < 8 || s.len - i < 3 || !time_parse_timestamp(str_trim(str_slice(s, 0, i)), &us, &has_zone) || has_zone)
        return SIZE_MAX;
    return i;
}

/* Java's short names for regions; others are taken as they are. */
static str region_name(str s) {
    static const char *const names[][2] = {{"PST", "America/Los_Angeles"}, {"CST", "America/Chicago"},
                                           {"IST", "Asia/Kolkata"},        {"JST", "Asia/Tokyo"},
                                           {"AET", "Australia/Sydney"},    {"ECT", "Europe/Paris"},
                                           {"CTT", "Asia/Shanghai"},       {"BST", "Asia/Dhaka"},
                                           {"AST", "America/Anchorage"},   {"ACT", "Australia/Darwin"},
                                           {"ART", "Africa/Cairo"},        {"BET", "America/Sao_Paulo"},
                                           {"CAT", "Africa/Harare"},       {"CNT", "America/St_Johns"},
                                           {"EAT", "Africa/Addis_Ababa"},  {"IET", "America/Indiana/Indianapolis"},
                                           {"MIT", "Pacific/Apia"},        {"NET", "Asia/Yerevan"},
                                           {"NST", "Pacific/Auckland"},    {"PLT", "Asia/Karachi"},
                                           {"PNT", "America/Phoenix"},     {"PRT", "America/Puerto_Rico"},
                                           {"SST", "Pacific/Guadalcanal"}, {"VST", "Asia/Ho_Chi_Minh"},
                                           {"EST", "Etc/GMT+5"},           {"MST", "Etc/GMT+7"},
                                           {"HST", "Etc/GMT+10"}};
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (str_eqz(s, names[i][0])) return str_of(names[i][1]);
    return s;
}

static void text_region(call *c, idx_t row) {
    str s = trim_all(call_str(c, 0, row));
    size_t at = region_at(s);
    if (at == SIZE_MAX)
        ret_null(c, row);
    else
        ret_str(c, row, region_name(str_slice(s, at, s.len)));
}

static void text_without_region(call *c, idx_t row) {
    str s = trim_all(call_str(c, 0, row));
    size_t at = region_at(s);
    ret_str(c, row, at == SIZE_MAX ? s : str_trim(str_slice(s, 0, at)));
}

static void has_zone_of(call *c, idx_t row) {
    int64_t us;
    bool has_zone;
    ret_bool(c, row, time_parse_timestamp(trim_all(call_str(c, 0, row)), &us, &has_zone) && has_zone);
}

static void cast_overflow(call *c, const char *to) {
    call_raise(
        c, "CAST_OVERFLOW", "22003",
        "The value cannot be cast to \"%s\" due to an overflow. Use try_cast to tolerate overflow and return NULL instead.", to);
}

/* Seconds since the epoch, of any numeric type. NaN and infinity give NULL, as in Spark. */
static void seconds_timestamp(call *c, idx_t row) {
    const call_type *t = call_type_of(c, 0);
    int128 v;
    int scale;
    if (t->id == DUCKDB_TYPE_DOUBLE || t->id == DUCKDB_TYPE_FLOAT) {
        double us = (t->id == DUCKDB_TYPE_DOUBLE ? call_f64(c, 0, row) : (double)call_f32(c, 0, row)) * 1e6;
        if (isnan(us) || isinf(us))
            ret_null(c, row);
        else if (fabs(us) >= 9.2e18)
            cast_overflow(c, "TIMESTAMP");
        else
            ret_i64(c, row, (int64_t)us);
        return;
    }
    if (!call_exact(c, 0, row, &v, &scale)) {
        ret_null(c, row);
        return;
    }
    for (; scale < 6; scale++)
        if (__builtin_mul_overflow(v, (int128)10, &v)) v = (int128)INT64_MAX + 1, scale = 6;
    for (; scale > 6; scale--) v /= 10;
    if (v > INT64_MAX || v < INT64_MIN)
        cast_overflow(c, "TIMESTAMP");
    else
        ret_i64(c, row, (int64_t)v);
}

/* ---- intervals from text: the forms that CAST writes ---- */

static bool parse_ym(str s, duckdb_interval *out) {
    bool negative = s.len > 0 && s.ptr[0] == '-';
    if (s.len > 0 && (s.ptr[0] == '-' || s.ptr[0] == '+')) s = str_slice(s, 1, s.len);
    size_t dash = str_find_char(s, '-');
    int64_t years, months;
    if (dash == SIZE_MAX || !str_to_i64(str_slice(s, 0, dash), &years) || !str_to_i64(str_slice(s, dash + 1, s.len), &months))
        return false;
    if (years < 0 || months < 0 || months > 11 || years > 178956970) return false;
    int64_t total = years * 12 + months;
    if (total > INT32_MAX) return false;
    out->months = (int32_t)(negative ? -total : total);
    return true;
}

/* d h:m:s[.f] */
static bool parse_dt(str s, duckdb_interval *out) {
    bool negative = s.len > 0 && s.ptr[0] == '-';
    if (s.len > 0 && (s.ptr[0] == '-' || s.ptr[0] == '+')) s = str_slice(s, 1, s.len);
    size_t space = str_find_char(s, ' ');
    int64_t parts[4] = {0}, fraction = 0;
    static const int64_t units[] = {86400000000LL, 3600000000LL, 60000000LL, 1000000LL};
    if (space == SIZE_MAX || !str_to_i64(str_slice(s, 0, space), &parts[0])) return false;
    str rest = str_slice(s, space + 1, s.len), piece;
    size_t dot = str_find_char(rest, '.');
    if (dot != SIZE_MAX) {
        int64_t scale = 100000;
        for (size_t i = dot + 1; i < rest.len; i++, scale /= 10) {
            if (!isdigit((unsigned char)rest.ptr[i])) return false;
            fraction += (rest.ptr[i] - '0') * scale;
        }
        rest = str_slice(rest, 0, dot);
    }
    size_t n = 1;
    while (n < 4 && str_next(&rest, ':', &piece))
        if (!str_to_i64(piece, &parts[n++])) return false;
    if (n != 4 || rest.len) return false;
    int64_t us = fraction;
    for (size_t i = 0; i < 4; i++) {
        int64_t add;
        if (parts[i] < 0 || __builtin_mul_overflow(parts[i], units[i], &add) || __builtin_add_overflow(us, add, &us))
            return false;
    }
    out->micros = negative ? -us : us;
    return true;
}

static void parse_interval(call *c, idx_t row) {
    str text = call_str(c, 0, row), s = trim_all(text), kind = call_str(c, 2, row);
    bool ym = str_eqz(kind, "ym");
    if (s.len > 9 && str_eq_ascii_fold(str_slice(s, 0, 9), STR("interval "))) {
        s = str_trim(str_slice(s, 9, s.len));
        size_t close = s.len > 1 && s.ptr[0] == '\'' ? str_find_char(str_slice(s, 1, s.len), '\'') : SIZE_MAX;
        if (close != SIZE_MAX) s = str_slice(s, 1, close + 1);
    }
    duckdb_interval v = {0, 0, 0};
    if (ym ? parse_ym(s, &v) : parse_dt(s, &v))
        ret_interval(c, row, v);
    else
        invalid(c, row, call_bool(c, 1, row), text, ym ? "INTERVAL YEAR TO MONTH" : "INTERVAL DAY TO SECOND");
}

static const call_def defs[] = {
    {"silt_parse_long", parse_long, "sbs", 'l', CALL_RAISES},
    {"silt_parse_double", parse_double, "sbs", 'd', CALL_RAISES},
    {"silt_parse_boolean", parse_boolean, "sb", 'b', CALL_RAISES},
    {"silt_to_decimal", to_decimal, "*biis", 'H', CALL_RAISES},
    {"silt_narrow", narrow, "*lls", 'l', CALL_RAISES},
    {"silt_double_float", double_float, "d", 'f', 0},
    {"silt_parse_date", parse_date, "sb", 'D', CALL_RAISES},
    {"silt_parse_timestamp", parse_timestamp, "sbl", 'z', CALL_RAISES},
    {"silt_parse_ntz", parse_ntz, "sb", 't', CALL_RAISES},
    {"silt_text_region", text_region, "s", 's', 0},
    {"silt_text_without_region", text_without_region, "s", 's', 0},
    {"silt_has_zone", has_zone_of, "s", 'b', 0},
    {"silt_seconds_timestamp", seconds_timestamp, "*", 'z', CALL_RAISES},
    {"silt_parse_interval", parse_interval, "sbs", 'v', CALL_RAISES},
};

const call_group calls_cast = {defs, ARRAY_LEN(defs)};
