/* CAST to text as Spark writes it: Java's doubles, timestamps without trailing zeros, "[1, null]", "{a -> 1}", "{1, x}". */
#include <stdio.h>

#include "base/time.h"
#include "engine/functions_call.h"
#include "engine/functions_nested.h"

static void double_text(call *c, idx_t row) {
    text_write_f64_java(&c->text, call_f64(c, 0, row));
    ret_text(c, row);
}

static void float_text(call *c, idx_t row) {
    text_write_f32_java(&c->text, call_f32(c, 0, row));
    ret_text(c, row);
}

static void date_text(call *c, idx_t row) {
    time_write_date(&c->text, call_i32(c, 0, row));
    ret_text(c, row);
}

static void timestamp_text(call *c, idx_t row) {
    time_write_timestamp_short(&c->text, call_i64(c, 0, row), ' ');
    ret_text(c, row);
}

/* Bytes as UTF-8; what is not becomes U+FFFD, since a VARCHAR must be valid. */
static void write_utf8(buf *out, str s) {
    if (str_is_utf8(s)) {
        buf_append(out, s);
        return;
    }
    for (size_t at = 0; at < s.len;) {
        size_t from = at;
        uint32_t cp = str_next_codepoint(s, &at);
        if (cp == 0xFFFD)
            buf_append_z(out, "\xEF\xBF\xBD");
        else
            buf_append(out, str_slice(s, from, at));
    }
}

static void binary_text(call *c, idx_t row) {
    write_utf8(&c->text, call_str(c, 0, row));
    ret_text(c, row);
}

/* ---- intervals ---- */

void interval_write(buf *out, duckdb_interval v, str kind) {
    if (str_eqz(kind, "ym")) {
        int64_t m = v.months, mag = m < 0 ? -m : m;
        buf_printf(out, "INTERVAL '%s%lld-%lld' YEAR TO MONTH", m < 0 ? "-" : "", (long long)(mag / 12), (long long)(mag % 12));
        return;
    }
    int64_t us = (int64_t)v.days * 86400000000LL + v.micros;
    if (str_eqz(kind, "dt")) {
        uint64_t mag = us < 0 ? (uint64_t)0 - (uint64_t)us : (uint64_t)us, s = mag / 1000000, f = mag % 1000000;
        buf_printf(out, "INTERVAL '%s%llu %02llu:%02llu:%02llu", us < 0 ? "-" : "", (unsigned long long)(s / 86400),
                   (unsigned long long)(s / 3600 % 24), (unsigned long long)(s / 60 % 60), (unsigned long long)(s % 60));
        if (f) {
            char digits[8];
            snprintf(digits, sizeof digits, "%06llu", (unsigned long long)f);
            size_t n = 6;
            while (n > 0 && digits[n - 1] == '0') n--;
            buf_printf(out, ".%.*s", (int)n, digits);
        }
        buf_append_z(out, "' DAY TO SECOND");
        return;
    }
    /* a calendar interval: "1 years 2 months 3 days 4 hours" */
    size_t start = out->len;
    int64_t parts[] = {v.months / 12, v.months % 12, v.days, v.micros / 3600000000LL, v.micros / 60000000LL % 60};
    static const char *const names[] = {"years", "months", "days", "hours", "minutes"};
    for (size_t i = 0; i < ARRAY_LEN(parts); i++)
        if (parts[i]) buf_printf(out, "%s%lld %s", out->len > start ? " " : "", (long long)parts[i], names[i]);
    int64_t rest = v.micros % 60000000LL;
    if (rest) {
        uint64_t mag = rest < 0 ? (uint64_t)0 - (uint64_t)rest : (uint64_t)rest;
        buf_printf(out, "%s%s%llu", out->len > start ? " " : "", rest < 0 ? "-" : "", (unsigned long long)(mag / 1000000));
        if (mag % 1000000) {
            char digits[8];
            snprintf(digits, sizeof digits, "%06llu", (unsigned long long)(mag % 1000000));
            size_t n = 6;
            while (n > 0 && digits[n - 1] == '0') n--;
            buf_printf(out, ".%.*s", (int)n, digits);
        }
        buf_append_z(out, " seconds");
    }
    if (out->len == start) buf_append_z(out, "0 seconds");
}

static void interval_text(call *c, idx_t row) {
    interval_write(&c->text, call_interval(c, 0, row), call_str(c, 1, row));
    ret_text(c, row);
}

static void interval_abs(call *c, idx_t row) {
    duckdb_interval v = call_interval(c, 0, row);
    int64_t us = (int64_t)v.days * 86400000000LL + v.micros;
    ret_interval(c, row, (duckdb_interval){v.months < 0 ? -v.months : v.months, 0, us < 0 ? -us : us});
}

static void decimal_text(call *c, idx_t row) {
    int128 v;
    int scale;
    (void)call_exact(c, 0, row, &v, &scale);
    decimal_write(&c->text, v, scale);
    ret_text(c, row);
}

/* ---- nested values ---- */

static void write_value(buf *out, const nested *n, idx_t row, int64_t offset);

static void write_list(buf *out, const nested *n, idx_t row, int64_t offset) {
    duckdb_list_entry entry = nested_list(n, row);
    bool map = n->id == DUCKDB_TYPE_MAP;
    buf_append_char(out, map ? '{' : '[');
    for (idx_t i = 0; i < entry.length; i++) {
        if (i) buf_append_z(out, ", ");
        if (map) {
            write_value(out, &n->children[0].children[0], entry.offset + i, offset);
            buf_append_z(out, " -> ");
            write_value(out, &n->children[0].children[1], entry.offset + i, offset);
        } else {
            write_value(out, &n->children[0], entry.offset + i, offset);
        }
    }
    buf_append_char(out, map ? '}' : ']');
}

static void write_value(buf *out, const nested *n, idx_t row, int64_t offset) {
    if (nested_is_null(n, row)) {
        buf_append_z(out, "null");
        return;
    }
    switch (n->id) {
        case DUCKDB_TYPE_LIST:
        case DUCKDB_TYPE_MAP: write_list(out, n, row, offset); return;
        case DUCKDB_TYPE_STRUCT:
            buf_append_char(out, '{');
            for (idx_t i = 0; i < n->n_children; i++) {
                if (i) buf_append_z(out, ", ");
                write_value(out, &n->children[i], row, offset);
            }
            buf_append_char(out, '}');
            return;
        case DUCKDB_TYPE_BLOB: write_utf8(out, nested_str(n, row)); return;
        default: nested_write_scalar(out, n, row, offset); return;
    }
}

/* silt_text(value, zone offset of timestamps in us) */
static void any_text(call *c, idx_t row) {
    const nested *n = call_nested(c, 0);
    if (!n) {
        call_raise(c, "OUT_OF_MEMORY", "53200", "Out of memory");
        return;
    }
    write_value(&c->text, n, row, call_i64(c, 1, row));
    ret_text(c, row);
}

static const call_def defs[] = {
    {"silt_double_text", double_text, "d", 's', 0},   {"silt_float_text", float_text, "f", 's', 0},
    {"silt_date_text", date_text, "D", 's', 0},       {"silt_timestamp_text", timestamp_text, "t", 's', 0},
    {"silt_binary_text", binary_text, "B", 's', 0},   {"silt_interval_text", interval_text, "vs", 's', 0},
    {"silt_interval_abs", interval_abs, "v", 'v', 0}, {"silt_text", any_text, "*l", 's', 0},
    {"silt_decimal_text", decimal_text, "*", 's', 0},
};

const call_group calls_text = {defs, ARRAY_LEN(defs)};
