/* Values of Arrow arrays as JSON and as Spark's text. Only the layouts that Silt's streams have. */
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/cli.h"

void text_add(text_buf *b, const char *bytes, size_t len) {
    if (b->capacity - b->len < len + 1) {
        size_t capacity = (b->capacity ? b->capacity * 2 : 256) + len;
        char *grown = realloc(b->ptr, capacity);
        if (!grown) {
            fputs("silt: out of memory\n", stderr);
            exit(EXIT_FAILED);
        }
        b->ptr = grown;
        b->capacity = capacity;
    }
    if (len) memcpy(b->ptr + b->len, bytes, len);
    b->len += len;
    b->ptr[b->len] = '\0';
}

void text_add_z(text_buf *b, const char *z) { text_add(b, z, strlen(z)); }

void text_printf(text_buf *b, const char *format, ...) {
    char small[512];
    va_list args;
    va_start(args, format);
    int n = vsnprintf(small, sizeof small, format, args);
    va_end(args);
    if (n > 0) text_add(b, small, (size_t)n < sizeof small ? (size_t)n : sizeof small - 1);
}

static bool is_null(const struct ArrowArray *a, int64_t row) {
    if (a->n_buffers == 0 || !a->buffers[0]) return a->n_buffers == 0; /* the null type has no buffers */
    int64_t i = row + a->offset;
    return !(((const uint8_t *)a->buffers[0])[i / 8] >> (i % 8) & 1);
}

/* ---- numbers ---- */

static void write_integer(text_buf *b, int64_t v) {
    char digits[24];
    size_t at = sizeof digits;
    uint64_t u = v < 0 ? -(uint64_t)v : (uint64_t)v;
    do digits[--at] = (char)('0' + (int)(u % 10));
    while (u /= 10);
    if (v < 0) digits[--at] = '-';
    text_add(b, digits + at, sizeof digits - at);
}

/*
 * Digits and decimal exponent of the shortest text that reads back the same: d.ddd × 10^e. A decimal of up to 15 digits (float: 6) survives the way through
 * the number, so where 15 rounded digits read back the same they are the shortest text and zeros; else 16 or 17 are needed.
 */
static void shortest(double v, bool is_float, char digits[32], int *exponent) {
    char text[64];
    bool subnormal = fabs(v) < (is_float ? (double)FLT_MIN : DBL_MIN); /* has fewer digits than that */
    for (int precision = subnormal ? 1 : is_float ? 6 : 15; precision <= 17; precision++) {
        snprintf(text, sizeof text, "%.*e", precision - 1, v);
        if (is_float ? strtof(text, NULL) == (float)v : strtod(text, NULL) == v) break;
    }
    size_t n = 0;
    const char *p = text;
    for (; *p && *p != 'e'; p++)
        if (*p >= '0' && *p <= '9') digits[n++] = *p;
    while (n > 1 && digits[n - 1] == '0') n--;
    digits[n] = '\0';
    *exponent = *p ? atoi(p + 1) : 0;
}

/* Java's Double.toString: plain digits where short, else d.dddE±x. */
static void write_double(text_buf *b, double v, bool is_float, bool json) {
    static const char zeros[] = "00000000";
    if (isnan(v) || isinf(v)) {
        text_printf(b, json ? "\"%s\"" : "%s", isnan(v) ? "NaN" : v > 0 ? "Infinity" : "-Infinity");
        return;
    }
    if (v == trunc(v) && fabs(v) < 1e7) {
        if (signbit(v)) text_add_z(b, "-");
        write_integer(b, (int64_t)fabs(v));
        text_add_z(b, ".0");
        return;
    }
    char d[32];
    int e;
    shortest(fabs(v), is_float, d, &e);
    int n = (int)strlen(d), whole = e + 1;
    if (signbit(v)) text_add_z(b, "-");
    if (e >= -3 && e < 0) {
        text_add_z(b, "0.");
        text_add(b, zeros, (size_t)(-1 - e));
        text_add_z(b, d);
    } else if (e >= 0 && e < 7) {
        text_add(b, d, (size_t)(n < whole ? n : whole));
        if (n < whole) text_add(b, zeros, (size_t)(whole - n));
        text_add_z(b, ".");
        text_add_z(b, n > whole ? d + whole : "0");
    } else {
        text_printf(b, "%c.%sE%d", d[0], n > 1 ? d + 1 : "0", e);
    }
}

static void write_decimal(text_buf *b, const struct ArrowArray *a, int64_t row, int scale) {
    __int128 v;
    memcpy(&v, (const char *)a->buffers[1] + (row + a->offset) * 16, 16);
    char digits[48];
    size_t at = sizeof digits;
    unsigned __int128 u = v < 0 ? -(unsigned __int128)v : (unsigned __int128)v;
    int written = 0;
    do {
        if (written == scale && scale > 0) digits[--at] = '.';
        digits[--at] = (char)('0' + (int)(u % 10));
        u /= 10;
        written++;
    } while (u > 0 || written <= scale);
    if (v < 0) digits[--at] = '-';
    text_add(b, digits + at, sizeof digits - at);
}

/* ---- dates and times ---- */

static void civil(int64_t days, int64_t *year, int *month, int *day) {
    days += 719468;
    int64_t era = (days >= 0 ? days : days - 146096) / 146097, doe = days - era * 146097;
    int64_t yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365, doy = doe - (365 * yoe + yoe / 4 - yoe / 100), mp = (5 * doy + 2) / 153;
    *day = (int)(doy - (153 * mp + 2) / 5 + 1);
    *month = (int)(mp < 10 ? mp + 3 : mp - 9);
    *year = yoe + era * 400 + (*month <= 2);
}

static void write_date(text_buf *b, int64_t days) {
    int64_t year;
    int month, day;
    civil(days, &year, &month, &day);
    if (year > 9999) text_printf(b, "+%" PRId64, year);
    else if (year < 0) text_printf(b, "-%04" PRId64, -year);
    else text_printf(b, "%04" PRId64, year);
    text_printf(b, "-%02d-%02d", month, day);
}

static int64_t floor_div(int64_t a, int64_t b) { return a / b - (a % b < 0); }

static void write_clock(text_buf *b, int64_t us_of_day, bool always_six) {
    int64_t s = us_of_day / 1000000, fraction = us_of_day % 1000000;
    text_printf(b, "%02d:%02d:%02d", (int)(s / 3600), (int)(s / 60 % 60), (int)(s % 60));
    if (always_six) {
        text_printf(b, ".%06d", (int)fraction);
    } else if (fraction) {
        text_printf(b, ".%06d", (int)fraction);
        while (b->ptr[b->len - 1] == '0') b->ptr[--b->len] = '\0';
    }
}

/* The process's zone (TZ), as localtime_r knows it. */
static int64_t zone_offset_us(int64_t us) {
    time_t t = (time_t)floor_div(us, 1000000);
    struct tm tm;
    return localtime_r(&t, &tm) ? (int64_t)tm.tm_gmtoff * 1000000 : 0;
}

static void write_timestamp(text_buf *b, int64_t us, bool json, bool has_zone) {
    if (!json && has_zone) us += zone_offset_us(us);
    int64_t day = floor_div(us, 86400000000);
    write_date(b, day);
    text_add_z(b, json ? "T" : " ");
    write_clock(b, us - day * 86400000000, json);
    if (json && has_zone) text_add_z(b, "Z");
}

/* ---- intervals as Spark shows them ---- */

static void write_months(text_buf *b, int32_t months) {
    int32_t abs = months < 0 ? -months : months;
    text_printf(b, "INTERVAL '%s%d-%d' YEAR TO MONTH", months < 0 ? "-" : "", abs / 12, abs % 12);
}

static void write_duration(text_buf *b, int64_t us) {
    uint64_t abs = us < 0 ? (uint64_t)0 - (uint64_t)us : (uint64_t)us;
    text_printf(b, "INTERVAL '%s%" PRIu64 " ", us < 0 ? "-" : "", abs / 86400000000U);
    write_clock(b, (int64_t)(abs % 86400000000U), false);
    text_add_z(b, "' DAY TO SECOND");
}

/* ---- bytes ---- */

static void json_string(text_buf *b, const char *s, size_t n) {
    text_add_z(b, "\"");
    size_t from = 0;
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)s[i];
        if (c >= 0x20 && c != '"' && c != '\\') continue;
        text_add(b, s + from, i - from);
        from = i + 1;
        if (c == '"' || c == '\\') text_printf(b, "\\%c", c);
        else if (c == '\n') text_add_z(b, "\\n");
        else if (c == '\t') text_add_z(b, "\\t");
        else if (c == '\r') text_add_z(b, "\\r");
        else text_printf(b, "\\u%04x", c);
    }
    text_add(b, s + from, n - from);
    text_add_z(b, "\"");
}

static void json_base64(text_buf *b, const uint8_t *p, size_t n) {
    static const char set[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    text_add_z(b, "\"");
    for (size_t i = 0; i < n; i += 3) {
        uint32_t v = (uint32_t)p[i] << 16 | (i + 1 < n ? (uint32_t)p[i + 1] << 8 : 0) | (i + 2 < n ? p[i + 2] : 0);
        char out[4] = {set[v >> 18], set[v >> 12 & 63], i + 1 < n ? set[v >> 6 & 63] : '=', i + 2 < n ? set[v & 63] : '='};
        text_add(b, out, 4);
    }
    text_add_z(b, "\"");
}

static const char *bytes_at(const struct ArrowArray *a, int64_t row, bool large, size_t *len) {
    int64_t i = row + a->offset, from, to;
    if (large) {
        from = ((const int64_t *)a->buffers[1])[i];
        to = ((const int64_t *)a->buffers[1])[i + 1];
    } else {
        from = ((const int32_t *)a->buffers[1])[i];
        to = ((const int32_t *)a->buffers[1])[i + 1];
    }
    *len = (size_t)(to - from);
    return a->buffers[2] ? (const char *)a->buffers[2] + from : "";
}

/* Field metadata is length-prefixed pairs; Silt's one key that matters here is silt.type = variant. */
static bool is_variant(const struct ArrowSchema *s) {
    if (!s->metadata) return false;
    int32_t pairs, at = 4;
    memcpy(&pairs, s->metadata, 4);
    for (int32_t i = 0; i < pairs; i++) {
        int32_t key_len, value_len;
        memcpy(&key_len, s->metadata + at, 4);
        const char *key = s->metadata + at + 4;
        memcpy(&value_len, key + key_len, 4);
        const char *text = key + key_len + 4;
        if (key_len == 9 && memcmp(key, "silt.type", 9) == 0 && value_len == 7 && memcmp(text, "variant", 7) == 0) return true;
        at += 8 + key_len + value_len;
    }
    return false;
}

static int64_t integer_at(const char *format, const struct ArrowArray *a, int64_t row) {
    int64_t i = row + a->offset;
    switch (*format) {
    case 'c': return ((const int8_t *)a->buffers[1])[i];
    case 's': return ((const int16_t *)a->buffers[1])[i];
    case 'i': return ((const int32_t *)a->buffers[1])[i];
    default: return ((const int64_t *)a->buffers[1])[i];
    }
}

/* ---- nested ---- */

static void list_bounds(const struct ArrowArray *a, int64_t row, int64_t *from, int64_t *to) {
    const int32_t *offsets = (const int32_t *)a->buffers[1] + row + a->offset;
    *from = offsets[0];
    *to = offsets[1];
}

static void text_or_null(text_buf *b, const struct ArrowSchema *s, const struct ArrowArray *a, int64_t row) {
    if (!value_write_text(b, s, a, row)) text_add_z(b, "NULL");
}

static void write_struct(text_buf *b, const struct ArrowSchema *s, const struct ArrowArray *a, int64_t row, bool json) {
    text_add_z(b, "{");
    for (int64_t i = 0; i < s->n_children; i++) {
        if (i) text_add_z(b, json ? "," : ", ");
        if (json) {
            json_string(b, s->children[i]->name, strlen(s->children[i]->name));
            text_add_z(b, ":");
            value_write_json(b, s->children[i], a->children[i], row + a->offset);
        } else {
            text_or_null(b, s->children[i], a->children[i], row + a->offset);
        }
    }
    text_add_z(b, "}");
}

static void write_list(text_buf *b, const struct ArrowSchema *s, const struct ArrowArray *a, int64_t row, bool json) {
    int64_t from, to;
    list_bounds(a, row, &from, &to);
    text_add_z(b, "[");
    for (int64_t i = from; i < to; i++) {
        if (i > from) text_add_z(b, json ? "," : ", ");
        if (json) value_write_json(b, s->children[0], a->children[0], i);
        else text_or_null(b, s->children[0], a->children[0], i);
    }
    text_add_z(b, "]");
}

static void write_map(text_buf *b, const struct ArrowSchema *s, const struct ArrowArray *a, int64_t row, bool json) {
    const struct ArrowSchema *pair = s->children[0];
    const struct ArrowArray *entries = a->children[0];
    int64_t from, to;
    list_bounds(a, row, &from, &to);
    text_add_z(b, json ? "[" : "{");
    for (int64_t i = from; i < to; i++) {
        int64_t at = i + entries->offset;
        if (i > from) text_add_z(b, json ? "," : ", ");
        if (json) {
            text_add_z(b, "[");
            value_write_json(b, pair->children[0], entries->children[0], at);
            text_add_z(b, ",");
            value_write_json(b, pair->children[1], entries->children[1], at);
            text_add_z(b, "]");
        } else {
            text_or_null(b, pair->children[0], entries->children[0], at);
            text_add_z(b, " -> ");
            text_or_null(b, pair->children[1], entries->children[1], at);
        }
    }
    text_add_z(b, json ? "]" : "}");
}

/* ---- the two forms ---- */

static void write_value(text_buf *b, const struct ArrowSchema *s, const struct ArrowArray *a, int64_t row, bool json) {
    const char *f = s->format;
    size_t n;
    const char *bytes;
    switch (f[0]) {
    case 'b': {
        int64_t i = row + a->offset;
        text_add_z(b, ((const uint8_t *)a->buffers[1])[i / 8] >> (i % 8) & 1 ? "true" : "false");
        return;
    }
    case 'c':
    case 's':
    case 'i':
    case 'l': write_integer(b, integer_at(f, a, row)); return;
    case 'f': write_double(b, (double)((const float *)a->buffers[1])[row + a->offset], true, json); return;
    case 'g': write_double(b, ((const double *)a->buffers[1])[row + a->offset], false, json); return;
    case 'd': {
        const char *comma = strchr(f, ',');
        if (json) text_add_z(b, "\"");
        write_decimal(b, a, row, comma ? atoi(comma + 1) : 0);
        if (json) text_add_z(b, "\"");
        return;
    }
    case 'u':
    case 'U':
        bytes = bytes_at(a, row, f[0] == 'U', &n);
        if (json && !is_variant(s)) json_string(b, bytes, n);
        else text_add(b, bytes, n);
        return;
    case 'z':
    case 'Z':
        bytes = bytes_at(a, row, f[0] == 'Z', &n);
        if (json) json_base64(b, (const uint8_t *)bytes, n);
        else text_add(b, bytes, n);
        return;
    case 't':
        if (json) text_add_z(b, "\"");
        if (f[1] == 'd') write_date(b, integer_at("i", a, row));
        else if (f[1] == 's') write_timestamp(b, integer_at("l", a, row), json, f[3] == ':' && f[4] != '\0');
        else if (f[1] == 'i' && f[2] == 'M') write_months(b, (int32_t)integer_at("i", a, row));
        else write_duration(b, integer_at("l", a, row));
        if (json) text_add_z(b, "\"");
        return;
    case '+':
        if (f[1] == 's') write_struct(b, s, a, row, json);
        else if (f[1] == 'm') write_map(b, s, a, row, json);
        else write_list(b, s, a, row, json);
        return;
    default: text_add_z(b, json ? "null" : "NULL"); return;
    }
}

void value_write_json(text_buf *b, const struct ArrowSchema *s, const struct ArrowArray *a, int64_t row) {
    if (is_null(a, row)) text_add_z(b, "null");
    else write_value(b, s, a, row, true);
}

bool value_write_text(text_buf *b, const struct ArrowSchema *s, const struct ArrowArray *a, int64_t row) {
    if (is_null(a, row)) return false;
    write_value(b, s, a, row, false);
    return true;
}
