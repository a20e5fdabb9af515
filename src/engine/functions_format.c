/* Text by formats: dates by Java patterns, format_string, format_number. */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "engine/functions_call.h"
#include "engine/functions_decimal.h"
#include "engine/functions_nested.h"
#include "engine/functions_pattern.h"

static void bad_pattern(call *c, str pattern) {
    call_raise(
        c, "INVALID_DATETIME_PATTERN.WITH_SUGGESTION", "22007",
        "Unrecognized datetime pattern: %.*s. You can form a valid datetime pattern with the guide of Spark's datetime patterns.",
        STR_ARG(pattern));
}

static void date_format(call *c, idx_t row) {
    str pattern = call_str(c, 1, row);
    char bad;
    if (pattern_write(&c->text, pattern, call_i64(c, 0, row), call_i64(c, 2, row), call_str(c, 3, row), &bad))
        ret_text(c, row);
    else
        bad_pattern(c, pattern);
}

static bool read_pattern(call *c, idx_t row, bool is_try, int64_t *us, bool *has_zone) {
    str text = call_str(c, 0, row), pattern = call_str(c, 1, row);
    char bad;
    switch (pattern_read(text, pattern, us, has_zone, &bad)) {
        case PATTERN_OK: return true;
        case PATTERN_BAD: bad_pattern(c, pattern); return false;
        case PATTERN_MISMATCH: break;
    }
    if (is_try)
        ret_null(c, row);
    else
        call_raise(c, "CANNOT_PARSE_TIMESTAMP", "22007",
                   "Text '%.*s' could not be parsed by the pattern '%.*s'. Use try_to_timestamp to tolerate invalid input string "
                   "and return NULL instead.",
                   STR_ARG(text), STR_ARG(pattern));
    return false;
}

static void parse_pattern(call *c, idx_t row) {
    int64_t us;
    bool has_zone;
    if (read_pattern(c, row, call_bool(c, 2, row), &us, &has_zone)) ret_i64(c, row, us);
}

static void parse_pattern_zoned(call *c, idx_t row) {
    int64_t us;
    bool has_zone;
    if (read_pattern(c, row, call_bool(c, 2, row), &us, &has_zone)) ret_i64(c, row, has_zone ? us : us - call_i64(c, 3, row));
}

/* ---- numbers with separators ---- */

/* Digits "123456.78" (no sign) → "123,456.78". */
static void write_grouped(buf *out, str digits, bool group) {
    size_t point = str_find_char(digits, '.');
    if (point == SIZE_MAX) point = digits.len;
    for (size_t i = 0; i < point; i++) {
        buf_append_char(out, digits.ptr[i]);
        if (group && i + 1 < point && (point - i - 1) % 3 == 0) buf_append_char(out, ',');
    }
    buf_append(out, str_slice(digits, point, digits.len));
}

/* The number rounded half to even at `digits` decimals, as plain text without a sign; false for NaN and infinities (written already). */
static bool plain_number(call *c, idx_t row, idx_t arg, int digits, buf *out, bool *negative) {
    const call_type *t = call_type_of(c, arg);
    int128 v;
    int scale;
    if (t->id == DUCKDB_TYPE_DOUBLE || t->id == DUCKDB_TYPE_FLOAT) {
        double d = t->id == DUCKDB_TYPE_DOUBLE ? call_f64(c, arg, row) : (double)call_f32(c, arg, row);
        *negative = signbit(d) && !isnan(d);
        if (isnan(d) || isinf(d)) {
            buf_append_z(out, isnan(d) ? "NaN" : "∞");
            return false;
        }
        buf_printf(out, "%.*f", digits, fabs(d));
        return true;
    }
    if (!call_exact(c, arg, row, &v, &scale)) return false;
    *negative = v < 0;
    if (v < 0) v = -v;
    if (scale > digits) {
        int128 unit = 1;
        for (int i = digits; i < scale; i++) unit *= 10;
        int128 q = v / unit, rest = v % unit;
        if (rest > unit - rest || (rest == unit - rest && q % 2 != 0)) q++;
        v = q;
        scale = digits;
    }
    decimal_write(out, v, scale);
    if (digits > scale) {
        if (scale == 0) buf_append_char(out, '.');
        for (int i = scale; i < digits; i++) buf_append_char(out, '0');
    }
    return true;
}

static bool all_zero(str s) {
    for (size_t i = 0; i < s.len; i++)
        if (s.ptr[i] >= '1' && s.ptr[i] <= '9') return false;
    return true;
}

static void format_number(call *c, idx_t row) {
    int digits = call_i32(c, 1, row);
    if (digits < 0) {
        ret_null(c, row);
        return;
    }
    buf plain;
    bool negative = false;
    buf_init(&plain, 4096);
    bool number = plain_number(c, row, 0, digits > 300 ? 300 : digits, &plain, &negative);
    if (negative && !all_zero(buf_str(&plain)))
        buf_append_char(&c->text, '-');
    else if (negative && number)
        buf_append_char(&c->text, '-');
    if (number)
        write_grouped(&c->text, buf_str(&plain), true);
    else
        buf_append(&c->text, buf_str(&plain));
    buf_dispose(&plain);
    ret_text(c, row);
}

/* #,##0.00: grouping, least whole digits, least and most decimals. */
static void format_pattern(call *c, idx_t row) {
    str pattern = call_str(c, 1, row);
    bool group = false, after = false, negative = false;
    int whole = 0, least = 0, most = 0;
    for (size_t i = 0; i < pattern.len; i++) {
        char ch = pattern.ptr[i];
        if (ch == ',')
            group = true;
        else if (ch == '.')
            after = true;
        else if (ch == '0' || ch == '#') {
            if (!after)
                whole += ch == '0';
            else
                most++, least += ch == '0';
        }
    }
    buf plain;
    buf_init(&plain, 4096);
    if (plain_number(c, row, 0, most > 300 ? 300 : most, &plain, &negative)) {
        str s = buf_str(&plain);
        size_t point = str_find_char(s, '.');
        if (point != SIZE_MAX) {
            size_t end = s.len;
            while (end > point + 1 + (size_t)least && s.ptr[end - 1] == '0') end--;
            if (end == point + 1) end = point;
            s.len = end;
        }
        if (whole == 0 && s.len > 1 && s.ptr[0] == '0' && s.ptr[1] == '.') s = str_slice(s, 1, s.len);
        if (negative) buf_append_char(&c->text, '-');
        size_t whole_len = str_find_char(s, '.') == SIZE_MAX ? s.len : str_find_char(s, '.');
        buf padded;
        buf_init(&padded, 4096);
        for (size_t i = whole_len; i < (size_t)whole; i++) buf_append_char(&padded, '0');
        buf_append(&padded, s);
        write_grouped(&c->text, buf_str(&padded), group);
        buf_dispose(&padded);
    } else
        buf_append(&c->text, buf_str(&plain));
    buf_dispose(&plain);
    ret_text(c, row);
}

/* ---- format_string ---- */

typedef struct spec {
    bool left, zero, plus, space, comma, paren, alternate;
    int width, precision; /* -1: none */
    char conversion;
} spec;

static void write_field(buf *out, const spec *s, str text) {
    size_t chars = 0;
    for (size_t i = 0; i < text.len; i++) chars += ((unsigned char)text.ptr[i] & 0xC0) != 0x80;
    size_t missing = s->width > 0 && (size_t)s->width > chars ? (size_t)s->width - chars : 0;
    if (!s->left)
        for (; missing > 0; missing--) buf_append_char(out, ' ');
    buf_append(out, text);
    for (; missing > 0; missing--) buf_append_char(out, ' ');
}

/* Sign, separators and zero padding around plain digits. */
static void write_number(buf *out, const spec *s, str digits, bool negative) {
    buf text;
    buf_init(&text, 8192);
    if (negative)
        buf_append_char(&text, s->paren ? '(' : '-');
    else if (s->plus)
        buf_append_char(&text, '+');
    else if (s->space)
        buf_append_char(&text, ' ');
    buf grouped;
    buf_init(&grouped, 8192);
    write_grouped(&grouped, digits, s->comma);
    size_t need = text.len + grouped.len + (negative && s->paren);
    if (s->zero)
        for (; need < (size_t)(s->width > 0 ? s->width : 0); need++) buf_append_char(&text, '0');
    buf_append(&text, buf_str(&grouped));
    if (negative && s->paren) buf_append_char(&text, ')');
    write_field(out, s, buf_str(&text));
    buf_dispose(&grouped);
    buf_dispose(&text);
}

static bool write_floating(buf *out, const spec *s, double d) {
    char text[512];
    bool negative = signbit(d) && !isnan(d);
    if (isnan(d) || isinf(d)) {
        spec plain = *s;
        plain.zero = false;
        write_field(out, &plain,
                    isnan(d)   ? STR("NaN")
                    : negative ? STR("-Infinity")
                    : s->plus  ? STR("+Infinity")
                               : STR("Infinity"));
        return true;
    }
    int precision = s->precision < 0 ? 6 : s->precision;
    if (precision > 400) return false;
    switch (s->conversion) {
        case 'e': snprintf(text, sizeof text, "%.*e", precision, fabs(d)); break;
        case 'E': snprintf(text, sizeof text, "%.*E", precision, fabs(d)); break;
        case 'g':
            snprintf(text, sizeof text, fabs(d) >= 1e-4 && fabs(d) < pow(10, precision) ? "%#.*g" : "%.*e",
                     fabs(d) >= 1e-4 && fabs(d) < pow(10, precision) ? precision : precision - 1, fabs(d));
            break;
        default: {
            buf long_text;
            buf_init(&long_text, 8192);
            buf_printf(&long_text, "%.*f", precision, fabs(d));
            write_number(out, s, buf_str(&long_text), negative);
            buf_dispose(&long_text);
            return true;
        }
    }
    write_number(out, s, str_of(text), negative);
    return true;
}

static bool write_integer(buf *out, const spec *s, int128 v, int bits) {
    buf text;
    buf_init(&text, 256);
    bool negative = false;
    if (s->conversion == 'd') {
        negative = v < 0;
        decimal_write(&text, negative ? -v : v, 0);
    } else {
        unsigned base = s->conversion == 'o' ? 8 : 16;
        unsigned __int128 u = (unsigned __int128)v;
        if (bits < 128) u &= ((unsigned __int128)1 << bits) - 1;
        char digits[130];
        size_t n = sizeof digits;
        do digits[--n] = (s->conversion == 'X' ? "0123456789ABCDEF" : "0123456789abcdef")[u % base];
        while (u /= base);
        if (s->alternate) buf_append_z(&text, base == 8 ? "0" : "0x");
        buf_append(&text, (str){digits + n, sizeof digits - n});
    }
    write_number(out, s, buf_str(&text), negative);
    buf_dispose(&text);
    return true;
}

static void write_text_value(buf *out, const nested *n, idx_t row) {
    if (nested_is_null(n, row))
        buf_append_z(out, "null");
    else
        nested_write_scalar(out, n, row, 0);
}

static bool write_argument(call *c, const spec *s, const nested *n, idx_t row) {
    int128 v;
    char conversion = (char)tolower((unsigned char)s->conversion);
    bool null = nested_is_null(n, row);
    if (conversion == 's' || null) {
        buf text;
        buf_init(&text, (size_t)1 << 30);
        if (null && conversion == 'b')
            buf_append_z(&text, "false");
        else
            write_text_value(&text, n, row);
        str t = buf_str(&text);
        if (s->precision >= 0 && (size_t)s->precision < t.len) t.len = (size_t)s->precision;
        if (s->conversion == 'S')
            for (size_t i = 0; i < t.len; i++) text.ptr[i] = (char)toupper((unsigned char)text.ptr[i]);
        write_field(&c->text, s, t);
        buf_dispose(&text);
        return true;
    }
    if (conversion == 'b') {
        bool b = n->id == DUCKDB_TYPE_BOOLEAN ? ((const bool *)n->data)[row] : true;
        write_field(&c->text, s, b ? STR("true") : STR("false"));
        return true;
    }
    if (conversion == 'e' || conversion == 'f' || conversion == 'g') {
        if (n->id == DUCKDB_TYPE_DOUBLE) return write_floating(&c->text, s, ((const double *)n->data)[row]);
        if (n->id == DUCKDB_TYPE_FLOAT) return write_floating(&c->text, s, (double)((const float *)n->data)[row]);
        if (n->id == DUCKDB_TYPE_DECIMAL && nested_exact(n, row, &v)) {
            int precision = s->precision < 0 ? 6 : s->precision;
            int128 rounded;
            if (conversion != 'f' || !decimal_rescale(v, n->scale, precision, &rounded))
                return write_floating(&c->text, s, decimal_to_double(v, n->scale));
            buf text;
            buf_init(&text, 256);
            decimal_write(&text, rounded < 0 ? -rounded : rounded, precision);
            write_number(&c->text, s, buf_str(&text), v < 0);
            buf_dispose(&text);
            return true;
        }
        return false;
    }
    bool integral = n->id == DUCKDB_TYPE_TINYINT || n->id == DUCKDB_TYPE_SMALLINT || n->id == DUCKDB_TYPE_INTEGER ||
                    n->id == DUCKDB_TYPE_BIGINT;
    if (!integral || !nested_exact(n, row, &v)) return false;
    if (conversion == 'c') {
        char one[2] = {(char)v, 0};
        write_field(&c->text, s, str_of(one));
        return v >= 0 && v < 128;
    }
    int bits = n->id == DUCKDB_TYPE_TINYINT ? 8 : n->id == DUCKDB_TYPE_SMALLINT ? 16 : n->id == DUCKDB_TYPE_INTEGER ? 32 : 64;
    return write_integer(&c->text, s, v, bits);
}

static void format_string(call *c, idx_t row) {
    if (call_is_null(c, 0, row)) {
        ret_null(c, row);
        return;
    }
    str f = call_str(c, 0, row);
    idx_t next = 1;
    for (size_t i = 0; i < f.len; i++) {
        if (f.ptr[i] != '%') {
            buf_append_char(&c->text, f.ptr[i]);
            continue;
        }
        spec s = {.width = -1, .precision = -1};
        size_t from = i++;
        int64_t number = 0, index = -1;
        size_t mark = i;
        while (i < f.len && isdigit((unsigned char)f.ptr[i]) && number < 100000) number = number * 10 + (f.ptr[i++] - '0');
        if (i < f.len && f.ptr[i] == '$')
            index = number, i++;
        else
            i = mark;
        for (; i < f.len && strchr("-+ 0,(#", f.ptr[i]); i++) {
            switch (f.ptr[i]) {
                case '-': s.left = true; break;
                case '+': s.plus = true; break;
                case ' ': s.space = true; break;
                case '0': s.zero = true; break;
                case ',': s.comma = true; break;
                case '(': s.paren = true; break;
                default: s.alternate = true; break;
            }
        }
        for (number = 0; i < f.len && isdigit((unsigned char)f.ptr[i]) && number < 100000; i++)
            number = number * 10 + (f.ptr[i] - '0'), s.width = (int)number;
        if (i < f.len && f.ptr[i] == '.') {
            i++;
            s.precision = 0;
            for (number = 0; i < f.len && isdigit((unsigned char)f.ptr[i]) && number < 100000; i++)
                number = number * 10 + (f.ptr[i] - '0'), s.precision = (int)number;
        }
        s.conversion = i < f.len ? f.ptr[i] : 0;
        if (s.conversion == '%' || s.conversion == 'n') {
            write_field(&c->text, &s, s.conversion == '%' ? STR("%") : STR("\n"));
            continue;
        }
        idx_t arg = index > 0 ? (idx_t)index : next++;
        const nested *n = arg < c->n_args ? call_nested(c, arg) : NULL;
        bool known = s.conversion && strchr("dxXosSbBcCeEfgG", s.conversion);
        if (!n || !known || !write_argument(c, &s, n, row)) {
            call_raise(c, "INVALID_PARAMETER_VALUE.FORMAT", "22023", "The format '%.*s' does not fit its argument.",
                       (int)(i < f.len ? i + 1 - from : f.len - from), f.ptr + from);
            return;
        }
    }
    ret_text(c, row);
}

static const call_def defs[] = {
    {"silt_date_format", date_format, "tsls", 's', CALL_RAISES},
    {"silt_parse_pattern", parse_pattern, "ssbs", 't', CALL_RAISES},
    {"silt_parse_pattern_zoned", parse_pattern_zoned, "ssbl", 'z', CALL_RAISES},
    {"silt_format_number", format_number, "*i", 's', 0},
    {"silt_format_pattern", format_pattern, "*s", 's', 0},
    {"silt_format_string", format_string, "s+", 's', CALL_NULLS | CALL_RAISES},
};

const call_group calls_format = {defs, ARRAY_LEN(defs)};
