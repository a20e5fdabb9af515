/*
 * One bound of Delta's JSON statistics. Delta protocol, "Per-file Statistics"; what the texts look like: Spark's writer, and
 * others'.
 *
 * A text that is not surely a value of the column's type is no bound at all: pruning then keeps the file. That covers time zones
 * that are missing, numbers out of the type's range, decimals with more digits than the scale (a writer that went through double)
 * and numbers in quotes.
 */
#include <math.h>
#include <stdlib.h>

#include "base/time.h"
#include "table/value.h"

static bool whole_number(str text, type_id id, int64_t *out) {
    static const int bits[] = {[TYPE_BYTE] = 8, [TYPE_SHORT] = 16, [TYPE_INT] = 32, [TYPE_LONG] = 64};
    int128 v = 0, limit = (int128)1 << (bits[id] - 1);
    if (!str_to_i64(text, out)) { /* "1E3", "5.0" */
        if (!decimal_parse(text, 0, &v) || v >= limit || v < -limit) return false;
        *out = (int64_t)v;
        return true;
    }
    return *out < limit && *out >= -limit;
}

/* Quoted only for what JSON numbers cannot say. */
static bool floating(str text, bool quoted, const data_type *type, double *out) {
    bool special = str_eqz(text, "NaN") || str_eqz(text, "Infinity") || str_eqz(text, "-Infinity");
    if (special != quoted || !str_to_f64(text, out)) return false;
    if (type->id == TYPE_FLOAT) *out = (double)(float)*out;
    return special || isfinite(*out);
}

static bool decimal(str text, const data_type *type, int128 *out) {
    int128 limit = 1;
    for (int i = 0; i < type->precision; i++) limit *= 10;
    return decimal_parse(text, type->scale, out) && *out < limit && -*out < limit;
}

/* TIMESTAMP needs its zone: without one the writer's clock is anybody's guess. TIMESTAMP_NTZ has none, but a Z is tolerated. */
static bool timestamp(str text, const data_type *type, int64_t *out) {
    bool has_zone;
    if (!time_parse_timestamp(text, out, &has_zone)) return false;
    return type->id == TYPE_TIMESTAMP ? has_zone : !has_zone || str_ends_with(text, STR("Z"));
}

bool value_from_stats_text(str text, bool quoted, const data_type *type, value *out) {
    *out = (value){.type = type};
    switch (type->id) {
        case TYPE_BOOLEAN: out->as.boolean = str_eqz(text, "true"); return !quoted && (out->as.boolean || str_eqz(text, "false"));
        case TYPE_BYTE:
        case TYPE_SHORT:
        case TYPE_INT:
        case TYPE_LONG: return !quoted && whole_number(text, type->id, &out->as.i64);
        case TYPE_FLOAT:
        case TYPE_DOUBLE: return floating(text, quoted, type, &out->as.f64);
        case TYPE_DECIMAL: return decimal(text, type, &out->as.decimal); /* some writers quote decimals to keep their digits */
        case TYPE_DATE: return quoted && time_parse_date(text, &out->as.i64);
        case TYPE_TIMESTAMP:
        case TYPE_TIMESTAMP_NTZ: return quoted && timestamp(text, type, &out->as.i64);
        case TYPE_STRING: out->as.bytes = text; return quoted;
        default: return false; /* binary, variant and nested values have no bounds */
    }
}

bool value_from_stats_json(const json_node *node, const data_type *type, value *out, arena *a) {
    if (!node) return false;
    switch (node->type) {
        case JSON_BOOL: return value_from_stats_text(node->boolean ? STR("true") : STR("false"), false, type, out);
        case JSON_NUMBER: return value_from_stats_text(node->text, false, type, out);
        case JSON_STRING:
            if (!value_from_stats_text(node->text, true, type, out)) return false;
            if (type->id == TYPE_STRING) out->as.bytes = arena_str(a, node->text);
            return type->id != TYPE_STRING || !str_is_null(out->as.bytes);
        default: return false;
    }
}

static void write_quoted_special(buf *out, double v, void (*write)(buf *, double)) {
    bool quote = !isfinite(v);
    if (quote) buf_append_char(out, '"');
    write(out, v);
    if (quote) buf_append_char(out, '"');
}

static void write_f32(buf *out, double v) { text_write_f32_java(out, (float)v); }

/* The millisecond at or before it, in the past too. */
static int64_t floor_to_ms(int64_t us) {
    int64_t r = us % 1000;
    if (r < 0) r += 1000;
    return us < INT64_MIN + 1000 ? us : us - r; /* the very first microseconds of the range have no millisecond before them */
}

void value_write_stats_json(buf *out, const value *v) {
    switch (v->type->id) {
        case TYPE_BOOLEAN: buf_append_z(out, v->as.boolean ? "true" : "false"); break;
        case TYPE_BYTE:
        case TYPE_SHORT:
        case TYPE_INT:
        case TYPE_LONG: buf_append_i64(out, v->as.i64); break;
        case TYPE_FLOAT: write_quoted_special(out, v->as.f64, write_f32); break;
        case TYPE_DOUBLE: write_quoted_special(out, v->as.f64, text_write_f64_java); break;
        case TYPE_DECIMAL: decimal_write_java(out, v->as.decimal, v->type->scale); break;
        case TYPE_STRING: json_write_str(out, v->as.bytes); break;
        case TYPE_DATE:
            buf_append_char(out, '"');
            time_write_date(out, v->as.i64);
            buf_append_char(out, '"');
            break;
        case TYPE_TIMESTAMP:
        case TYPE_TIMESTAMP_NTZ:
            buf_append_char(out, '"');
            time_write_timestamp(out, floor_to_ms(v->as.i64), 'T', 3, v->type->id == TYPE_TIMESTAMP ? "Z" : "");
            buf_append_char(out, '"');
            break;
        default: buf_append_z(out, "null"); /* no type that Delta keeps bounds of */
    }
}
