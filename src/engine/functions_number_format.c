/*
 * to_number and to_char by Spark's number formats: 9 and 0 are digits, '.' or D the point, ',' or G the group separator, $ a currency sign, S a sign, MI a trailing or
 * leading minus, PR angle brackets around negative numbers.
 */
#include "engine/functions_call.h"
#include "engine/functions_decimal.h"

#define FORMAT_MAX 80

typedef struct number_format {
    char whole[FORMAT_MAX]; /**< '9', '0' and ',' before the point, in order */
    size_t n_whole, whole_digits, decimals;
    bool dollar, sign, minus, brackets, sign_last;
} number_format;

static bool format_parse(str f, number_format *out) {
    *out = (number_format){0};
    bool after = false, any = false;
    for (size_t i = 0; i < f.len; i++) {
        char c = f.ptr[i];
        char next = i + 1 < f.len ? (char)(f.ptr[i + 1] & ~0x20) : 0;
        char up = (char)(c >= 'a' && c <= 'z' ? c - 32 : c);
        if (c == '9' || c == '0') {
            any = true;
            if (after)
                out->decimals++;
            else {
                if (out->n_whole == FORMAT_MAX) return false;
                out->whole[out->n_whole++] = c;
                out->whole_digits++;
            }
        } else if (c == ',' || up == 'G') {
            if (after || out->n_whole == FORMAT_MAX) return false;
            out->whole[out->n_whole++] = ',';
        } else if (c == '.' || up == 'D') {
            if (after) return false;
            after = true;
        } else if (c == '$') {
            if (out->dollar || any) return false;
            out->dollar = true;
        } else if (up == 'S') {
            out->sign = true;
            out->sign_last = any;
        } else if (up == 'M' && next == 'I') {
            out->minus = true;
            out->sign_last = any;
            i++;
        } else if (up == 'P' && next == 'R' && i + 2 == f.len) {
            out->brackets = true;
            i++;
        } else
            return false;
    }
    return any && out->whole_digits + out->decimals <= 38;
}

/* ---- text → number ---- */

static bool take(str *s, char c) {
    if (s->len == 0 || s->ptr[0] != c) return false;
    *s = str_slice(*s, 1, s->len);
    return true;
}

static bool take_last(str *s, char c) {
    if (s->len == 0 || s->ptr[s->len - 1] != c) return false;
    s->len--;
    return true;
}

/* Digits and separators from the right: each comma must stand where the format has one. */
static bool match_whole(str s, const number_format *f, int128 *v) {
    size_t at = f->n_whole, digits = 0;
    for (size_t i = s.len; i-- > 0;) {
        if (at == 0) return false;
        char wanted = f->whole[--at], c = s.ptr[i];
        if (wanted == ',' ? c != ',' : c < '0' || c > '9') return false;
        digits += wanted != ',';
    }
    for (size_t i = 0; i < at; i++)
        if (f->whole[i] == '0') return false; /* a group that begins with 0 wants all its digits */
    for (size_t i = 0; i < s.len; i++)
        if (s.ptr[i] != ',') *v = *v * 10 + (s.ptr[i] - '0');
    return digits > 0 || f->decimals > 0;
}

static bool match_number(str s, const number_format *f, int128 *out) {
    s = str_trim(s);
    bool negative = false;
    int128 v = 0;
    if (f->brackets && take(&s, '<')) {
        negative = true;
        if (!take_last(&s, '>')) return false;
    }
    if (f->sign || f->minus) {
        bool minus = f->sign_last ? take_last(&s, '-') : take(&s, '-');
        bool plus = !minus && f->sign && (f->sign_last ? take_last(&s, '+') : take(&s, '+'));
        (void)plus;
        negative |= minus;
    }
    if (f->dollar && !take(&s, '$')) return false;
    size_t point = str_find_char(s, '.');
    str whole = point == SIZE_MAX ? s : str_slice(s, 0, point),
        rest = point == SIZE_MAX ? STR("") : str_slice(s, point + 1, s.len);
    if (!match_whole(whole, f, &v) || rest.len > f->decimals) return false;
    for (size_t i = 0; i < f->decimals; i++) {
        char c = i < rest.len ? rest.ptr[i] : '0';
        if (c < '0' || c > '9') return false;
        v = v * 10 + (c - '0');
    }
    *out = negative ? -v : v;
    return true;
}

static void bad_format(call *c, str format) {
    call_raise(c, "INVALID_FORMAT.UNEXPECTED_TOKEN", "42601", "The format is invalid: '%.*s'.", STR_ARG(format));
}

static void to_number(call *c, idx_t row) {
    number_format f;
    str text = call_str(c, 0, row), format = call_str(c, 1, row);
    int128 v;
    if (!format_parse(format, &f))
        bad_format(c, format);
    else if (match_number(text, &f, &v))
        ret_i128(c, row, v);
    else if (call_bool(c, 2, row))
        ret_null(c, row);
    else
        call_raise(c, "INVALID_FORMAT.MISMATCH_INPUT", "42601",
                   "The format is invalid: '%.*s'. The input \"STRING\" '%.*s' does not match the format.", STR_ARG(format),
                   STR_ARG(text));
}

/* ---- number → text ---- */

/* Leading places that 9 leaves empty are spaces; a number that does not fit shows #. */
static void to_char(call *c, idx_t row) {
    number_format f;
    str format = call_str(c, 1, row);
    int128 v;
    int scale;
    if (!format_parse(format, &f)) {
        bad_format(c, format);
        return;
    }
    if (!call_exact(c, 0, row, &v, &scale) || !decimal_rescale(v, scale, (int)f.decimals, &v)) {
        ret_null(c, row);
        return;
    }
    bool negative = v < 0, fits = decimal_fits(v, (int)(f.whole_digits + f.decimals));
    char digits[64];
    size_t n = 0;
    for (int128 rest = negative ? -v : v; n < f.whole_digits + f.decimals; rest /= 10)
        digits[n++] = (char)('0' + (int)(rest % 10));
    buf body;
    buf_init(&body, 1024);
    bool started = false;
    size_t place = f.whole_digits;
    for (size_t i = 0; i < f.n_whole; i++) {
        if (f.whole[i] == ',') {
            buf_append_char(&body, started ? ',' : ' ');
            continue;
        }
        place--;
        char d = digits[f.decimals + place];
        started |= d != '0' || f.whole[i] == '0' || (place == 0 && f.decimals == 0);
        buf_append_char(&body, !fits ? '#' : started ? d : ' ');
    }
    if (f.decimals) {
        buf_append_char(&body, '.');
        for (size_t i = f.decimals; i-- > 0;) buf_append_char(&body, fits ? digits[i] : '#');
    }
    str text = buf_str(&body);
    size_t blanks = 0;
    while (blanks < text.len && text.ptr[blanks] == ' ') blanks++;
    for (size_t i = 0; i < blanks; i++) buf_append_char(&c->text, ' ');
    if (f.brackets && negative) buf_append_char(&c->text, '<');
    if (f.sign && !f.sign_last) buf_append_char(&c->text, negative ? '-' : '+');
    if (f.minus && !f.sign_last && negative) buf_append_char(&c->text, '-');
    if (f.dollar) buf_append_char(&c->text, '$');
    buf_append(&c->text, str_slice(text, blanks, text.len));
    if (f.sign && f.sign_last) buf_append_char(&c->text, negative ? '-' : '+');
    if (f.minus && f.sign_last) buf_append_char(&c->text, negative ? '-' : ' ');
    if (f.brackets) {
        if (negative)
            buf_append_char(&c->text, '>');
        else
            buf_append_z(&c->text, "  ");
    }
    buf_dispose(&body);
    ret_text(c, row);
}

static const call_def defs[] = {
    {"silt_to_number", to_number, "ssb", 'H', CALL_RAISES},
    {"silt_to_char", to_char, "*s", 's', CALL_RAISES},
};

const call_group calls_number_format = {defs, ARRAY_LEN(defs)};
