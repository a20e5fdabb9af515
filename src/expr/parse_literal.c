/* Literals: numbers with their Spark types, typed literals (DATE '…'), and INTERVAL in all its forms. */
#include <float.h>
#include <stdlib.h>

#include "base/time.h"
#include "expr/parse_internal.h"

static silt_status bad_literal(parser *p, str text, const char *type) {
    silt_status s = err_INVALID_TYPED_LITERAL(p->err, text, type);
    error_detail(p->err, "%.*s", STR_ARG(lexer_caret(p->text, p->tokens[p->at > 0 ? p->at - 1 : 0].from, p->a)));
    return s;
}

static silt_status number_out_of_range(parser *p, str text, const char *type) {
    silt_status s = err_INVALID_NUMERIC_LITERAL_RANGE(p->err, text, type);
    error_detail(p->err, "%.*s", STR_ARG(lexer_caret(p->text, p->tokens[p->at - 1].from, p->a)));
    return s;
}

static silt_status integer_literal(parser *p, str digits, char suffix, source_span span, expr **out) {
    int64_t v;
    if (!str_to_i64(digits, &v)) {
        if (suffix) return number_out_of_range(p, digits, suffix == 'L' ? "bigint" : suffix == 'S' ? "smallint" : "tinyint");
        int128 wide; /* more digits than BIGINT holds: a decimal, as Spark */
        size_t n = digits.len - (digits.ptr[0] == '-');
        if (n > 38) return err_DECIMAL_PRECISION_EXCEEDS_MAX_PRECISION(p->err, (int64_t)n);
        if (!decimal_parse(digits, 0, &wide)) return number_out_of_range(p, digits, "decimal");
        const data_type *t = type_decimal(p->a, (int)n, 0);
        if (!t) return error_no_memory(p->err);
        NEW_OR_FAIL(*out, expr_literal(p->a, (value){.type = t, .as.decimal = wide}, span));
        return SILT_OK;
    }
    const data_type *t = suffix == 'L' ? &type_long : suffix == 'S' ? &type_short : suffix == 'Y' ? &type_byte : v >= INT32_MIN && v <= INT32_MAX ? &type_int : &type_long;
    if (suffix == 'S' && (v < INT16_MIN || v > INT16_MAX)) return number_out_of_range(p, digits, "smallint");
    if (suffix == 'Y' && (v < INT8_MIN || v > INT8_MAX)) return number_out_of_range(p, digits, "tinyint");
    NEW_OR_FAIL(*out, expr_literal(p->a, (value){.type = t, .as.i64 = v}, span));
    return SILT_OK;
}

/* 1.50 → DECIMAL(3,2); 1.5E2BD → by its plain form. Precision counts the digits without leading zeros, at least the scale (and at least 1). */
static silt_status decimal_literal(parser *p, str digits, source_span span, expr **out) {
    bool negative = digits.len > 0 && digits.ptr[0] == '-';
    int128 unscaled = 0;
    int n_digits = 0, scale = 0;
    int64_t exponent = 0;
    bool point = false;
    for (size_t i = negative ? 1 : 0; i < digits.len; i++) {
        char c = digits.ptr[i];
        if (c == '.') {
            point = true;
        } else if (c == 'e' || c == 'E') {
            size_t from = i + 1 + (i + 1 < digits.len && digits.ptr[i + 1] == '+');
            if (!str_to_i64(str_slice(digits, from, digits.len), &exponent) || exponent > 1000 || exponent < -1000) return number_out_of_range(p, digits, "decimal");
            break;
        } else {
            if (n_digits > 0 || c != '0') n_digits++;
            if (n_digits > 38) return number_out_of_range(p, digits, "decimal");
            unscaled = unscaled * 10 + (c - '0');
            scale += point;
        }
    }
    int64_t final_scale = scale - exponent;
    for (; final_scale < 0; final_scale++) {
        if (unscaled != 0) n_digits++;
        if (n_digits > 38) return number_out_of_range(p, digits, "decimal");
        unscaled *= 10;
    }
    if (final_scale > 38) return number_out_of_range(p, digits, "decimal");
    int precision = n_digits > final_scale ? n_digits : (int)final_scale;
    const data_type *t = type_decimal(p->a, precision > 0 ? precision : 1, (int)final_scale);
    if (!t) return error_no_memory(p->err);
    NEW_OR_FAIL(*out, expr_literal(p->a, (value){.type = t, .as.decimal = negative ? -unscaled : unscaled}, span));
    return SILT_OK;
}

silt_status parse_number(parser *p, bool negative, uint32_t from, expr **out) {
    const token *t = parser_peek(p, 0);
    str digits = t->text;
    p->at++;
    if (negative) {
        digits = arena_printf(p->a, "-%.*s", STR_ARG(t->text));
        if (!digits.ptr) return error_no_memory(p->err);
    }
    source_span span = span_from(p, from);
    char suffix = t->suffix;
    if (suffix == 'B') return decimal_literal(p, digits, span, out);
    if (suffix == 'D' || suffix == 'F' || t->kind == TOKEN_EXPONENT) {
        double d;
        if (!str_to_f64(digits, &d) || d - d != 0) return number_out_of_range(p, digits, suffix == 'F' ? "float" : "double");
        if (suffix == 'F') {
            bool fits = d <= (double)FLT_MAX && d >= -(double)FLT_MAX; /* Spark's check is on the text's own value */
            d = strtof(arena_cstr(p->a, digits), NULL);                 /* rounded once from the text, not by way of double */
            if (!fits) return number_out_of_range(p, digits, "float");
        }
        NEW_OR_FAIL(*out, expr_literal(p->a, (value){.type = suffix == 'F' ? &type_float : &type_double, .as.f64 = d}, span));
        return SILT_OK;
    }
    if (t->kind == TOKEN_DECIMAL) return decimal_literal(p, digits, span, out);
    return integer_literal(p, digits, suffix, span, out);
}

/* ---- DATE '…', TIMESTAMP '…', X'…' ---- */

static silt_status binary_literal(parser *p, str hex, source_span span, expr **out) {
    size_t n = (hex.len + 1) / 2;
    char *bytes = arena_alloc(p->a, n + 1);
    if (!bytes) return error_no_memory(p->err);
    size_t odd = hex.len % 2; /* X'F' is one byte 0x0F */
    memset(bytes, 0, n + 1);
    for (size_t i = 0; i < hex.len; i++) {
        char c = hex.ptr[i];
        int d = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
        if (d < 0) return bad_literal(p, hex, "X");
        size_t nibble = i + odd;
        bytes[nibble / 2] = (char)((unsigned char)bytes[nibble / 2] << 4 | d);
    }
    NEW_OR_FAIL(*out, expr_literal(p->a, (value){.type = &type_binary, .as.bytes = {bytes, n}}, span));
    return SILT_OK;
}

/* A timestamp text without a fixed zone needs the session's: it stays a cast, folded by the binder. */
static silt_status timestamp_literal(parser *p, str text, const data_type *type, source_span span, expr **out) {
    int64_t us;
    bool has_zone;
    bool parsed = time_parse_timestamp(text, &us, &has_zone);
    bool region = !parsed && str_find_char(text, '/') != SIZE_MAX;
    if (!parsed && !region) return bad_literal(p, text, type == &type_timestamp ? "TIMESTAMP" : "TIMESTAMP_NTZ");
    if (parsed && (type == &type_timestamp) == has_zone) {
        NEW_OR_FAIL(*out, expr_literal(p->a, (value){.type = type, .as.i64 = us}, span));
        return SILT_OK;
    }
    if (parsed && type == &type_timestamp_ntz) return bad_literal(p, text, "TIMESTAMP_NTZ");
    expr *cast, *lit;
    NEW_OR_FAIL(lit, expr_literal(p->a, (value){.type = &type_string, .as.bytes = text}, span));
    NEW_OR_FAIL(cast, expr_new(p->a, EXPR_CAST, span));
    expr_list list = {0};
    TRY(parse_list_add(p, &list, lit));
    cast->args = list.items;
    cast->n_args = 1;
    cast->cast_type = type;
    *out = cast;
    return SILT_OK;
}

silt_status parse_typed_literal(parser *p, expr **out) {
    *out = NULL;
    const token *t = parser_peek(p, 0), *next = parser_peek(p, 1);
    if (t->kind != TOKEN_NAME || next->kind != TOKEN_STRING) return SILT_OK;
    static const char *const kinds[] = {"DATE", "TIMESTAMP", "TIMESTAMP_LTZ", "TIMESTAMP_NTZ", "X"};
    size_t kind = 0;
    while (kind < ARRAY_LEN(kinds) && !str_eq_ascii_fold(t->text, str_of(kinds[kind]))) kind++;
    if (kind == ARRAY_LEN(kinds)) return SILT_OK;
    p->at += 2;
    source_span span = span_from(p, t->from);
    if (kind == 4) return binary_literal(p, next->text, span, out);
    if (kind > 0) return timestamp_literal(p, next->text, kind == 3 ? &type_timestamp_ntz : &type_timestamp, span, out);
    int64_t days;
    if (!time_parse_date(next->text, &days)) return bad_literal(p, next->text, "DATE");
    NEW_OR_FAIL(*out, expr_literal(p->a, (value){.type = &type_date, .as.i64 = days}, span));
    return SILT_OK;
}

/* ---- intervals ---- */

typedef struct interval_sum {
    int64_t months, us;
    bool has_ym, has_dt;
} interval_sum;

typedef struct interval_unit { const char *name; int64_t months, us; } interval_unit;
static const interval_unit units[] = {
    {"year", 12, 0}, {"month", 1, 0}, {"quarter", 3, 0}, {"week", 0, 604800000000}, {"day", 0, 86400000000}, {"hour", 0, 3600000000}, {"minute", 0, 60000000},
    {"second", 0, 1000000}, {"millisecond", 0, 1000}, {"microsecond", 0, 1},
};

static const interval_unit *unit_find(str name) {
    for (size_t i = 0; i < ARRAY_LEN(units); i++) {
        str u = str_of(units[i].name);
        if (str_eq_ascii_fold(name, u)) return &units[i];
        if (name.len == u.len + 1 && (name.ptr[u.len] | 0x20) == 's' && str_eq_ascii_fold(str_slice(name, 0, u.len), u)) return &units[i];
    }
    return NULL;
}

/* quantity × unit; a fraction is for seconds only. */
static bool interval_add(interval_sum *sum, str quantity, const interval_unit *u, bool negative) {
    str q = str_trim(quantity);
    bool minus = false;
    if (q.len > 0 && (q.ptr[0] == '-' || q.ptr[0] == '+')) {
        minus = q.ptr[0] == '-';
        q = str_slice(q, 1, q.len);
    }
    size_t dot = str_find_char(q, '.');
    int64_t whole = 0, fraction_us = 0;
    str whole_text = dot == SIZE_MAX ? q : str_slice(q, 0, dot);
    if (q.len == 0 || (whole_text.len > 0 && !str_to_i64(whole_text, &whole)) || whole < 0) return false;
    if (dot != SIZE_MAX) {
        if (u->us != 1000000) return false;
        int64_t scale = 100000;
        for (size_t i = dot + 1; i < q.len; i++, scale /= 10) {
            if (q.ptr[i] < '0' || q.ptr[i] > '9' || i > dot + 9) return false;
            fraction_us += (q.ptr[i] - '0') * scale;
        }
    }
    int64_t months, us;
    if (__builtin_mul_overflow(whole, u->months, &months) || __builtin_mul_overflow(whole, u->us, &us) || __builtin_add_overflow(us, fraction_us, &us)) return false;
    int64_t sign = minus != negative ? -1 : 1;
    if (u->months) sum->has_ym = true;
    else sum->has_dt = true;
    return !__builtin_add_overflow(sum->months, sign * months, &sum->months) && !__builtin_add_overflow(sum->us, sign * us, &sum->us);
}

/* 'y-m', 'd h:m:s.f' and their parts, for FROM TO units. */
static bool interval_range(interval_sum *sum, str text, str from, str to, bool negative) {
    const interval_unit *a = unit_find(from), *b = unit_find(to);
    if (!a || !b) return false;
    str s = str_trim(text);
    bool minus = s.len > 0 && s.ptr[0] == '-';
    if (s.len > 0 && (s.ptr[0] == '-' || s.ptr[0] == '+')) s = str_slice(s, 1, s.len);
    size_t i = (size_t)(a - units), last = (size_t)(b - units);
    if (a->months == 12 && b->months == 1) {
        size_t dash = str_find_char(s, '-');
        if (dash == SIZE_MAX) return false;
        return interval_add(sum, str_slice(s, 0, dash), a, minus != negative) && interval_add(sum, str_slice(s, dash + 1, s.len), b, minus != negative);
    }
    if (i < 4 || last > 7 || last <= i) return false; /* day … second */
    for (; i <= last; i++) {
        char separator = i == 4 ? ' ' : ':';
        size_t cut = i == last ? s.len : str_find_char(s, separator);
        if (cut == SIZE_MAX || !interval_add(sum, str_slice(s, 0, cut), &units[i], minus != negative)) return false;
        s = i == last ? STR("") : str_slice(s, cut + 1, s.len);
    }
    return true;
}

/* 'INTERVAL 3 days 2 hours' in one string. */
static bool interval_text(interval_sum *sum, str text, bool negative) {
    str rest = str_trim(text);
    if (rest.len >= 8 && str_eq_ascii_fold(str_slice(rest, 0, 8), STR("interval"))) rest = str_trim(str_slice(rest, 8, rest.len));
    if (rest.len == 0) return false;
    while (rest.len > 0) {
        size_t cut = str_find_char(rest, ' ');
        if (cut == SIZE_MAX) return false;
        str quantity = str_slice(rest, 0, cut);
        rest = str_trim(str_slice(rest, cut, rest.len));
        cut = str_find_char(rest, ' ');
        str name = cut == SIZE_MAX ? rest : str_slice(rest, 0, cut);
        rest = cut == SIZE_MAX ? STR("") : str_trim(str_slice(rest, cut, rest.len));
        const interval_unit *u = unit_find(name);
        if (!u || !interval_add(sum, quantity, u, negative)) return false;
    }
    return true;
}

silt_status parse_interval(parser *p, expr **out) {
    uint32_t from = p->tokens[p->at - 1].from;
    interval_sum sum = {0};
    bool ok = true;
    size_t parts = 0;
    for (;; parts++) {
        size_t start = p->at;
        bool negative = parser_accept_op(p, "-");
        if (!negative) (void)parser_accept_op(p, "+");
        const token *t = parser_peek(p, 0), *unit = parser_peek(p, 1);
        bool quantity = t->kind == TOKEN_STRING || t->kind == TOKEN_INTEGER || t->kind == TOKEN_DECIMAL;
        bool has_unit = unit->kind == TOKEN_NAME && unit_find(unit->text);
        if (!quantity || (!has_unit && (t->kind != TOKEN_STRING || parts > 0))) {
            p->at = start;
            break;
        }
        if (!has_unit) { /* INTERVAL '3 days' */
            p->at++;
            ok = ok && interval_text(&sum, t->text, negative);
            parts++;
            break;
        }
        p->at += 2;
        const token *to = parser_peek(p, 1);
        if (parser_at_keyword(p, "TO") && to->kind == TOKEN_NAME && unit_find(to->text)) {
            p->at += 2;
            ok = ok && interval_range(&sum, t->text, unit->text, to->text, negative);
            parts++;
            break;
        }
        ok = ok && interval_add(&sum, t->text, unit_find(unit->text), negative);
    }
    if (parts == 0) return parser_fail(p, "an interval value and unit");
    source_span span = span_from(p, from);
    if (!ok || sum.months > INT32_MAX || sum.months < INT32_MIN) return bad_literal(p, str_slice(p->text, span.from, span.to), "INTERVAL");
    NEW_OR_FAIL(*out, expr_new(p->a, EXPR_INTERVAL, span));
    (*out)->interval_months = (int32_t)sum.months;
    (*out)->interval_us = sum.us;
    (*out)->interval_is_ym = sum.has_ym && !sum.has_dt;
    (*out)->type = sum.has_ym && sum.has_dt ? &type_interval : sum.has_ym ? &type_interval_ym : &type_interval_dt;
    return SILT_OK;
}
