/*
 * Partition values: their texts in the log and in folder names. Delta protocol, "Partition Value Serialization".
 *
 * The log's text is the value; a folder name is only a place, in another form (session-zone timestamps, Hive escapes), and is
 * never parsed. What other engines write is read with the leniency of Spark's cast from string; what is written here is Spark
 * 4.3's form.
 */
#include <math.h>
#include <stdlib.h>

#include "base/time.h"
#include "base/uri.h"
#include "table/value.h"

#define HIVE_NULL "__HIVE_DEFAULT_PARTITION__"

static silt_status malformed(str text, const data_type *type, arena *a, silt_error *err) {
    return err_DELTA_FAILED_CAST_PARTITION_VALUE(err, text, type_sql(type, a));
}

static bool in_range(int64_t v, type_id id) {
    switch (id) {
        case TYPE_BYTE: return v >= INT8_MIN && v <= INT8_MAX;
        case TYPE_SHORT: return v >= INT16_MIN && v <= INT16_MAX;
        case TYPE_INT:
        case TYPE_DATE: return v >= INT32_MIN && v <= INT32_MAX;
        default: return true;
    }
}

static bool parse_boolean(str s, bool *out) {
    static const char *const yes[] = {"true", "t", "yes", "y", "1"}, *const no[] = {"false", "f", "no", "n", "0"};
    for (size_t i = 0; i < ARRAY_LEN(yes); i++) {
        *out = str_eq_ascii_fold(s, str_of(yes[i]));
        if (*out || str_eq_ascii_fold(s, str_of(no[i]))) return true;
    }
    return false;
}

/* A zone on a TIMESTAMP_NTZ text is tolerated where it is UTC (some writers put a Z); any other leaves open which clock it was. */
static bool parse_timestamp(str s, const data_type *type, int32_t zone_offset_seconds, int64_t *out) {
    bool has_zone;
    if (!time_parse_timestamp(s, out, &has_zone)) return false;
    if (type->id == TYPE_TIMESTAMP_NTZ) return !has_zone || str_ends_with(s, STR("Z"));
    return has_zone || !__builtin_sub_overflow(*out, (int64_t)zone_offset_seconds * 1000000, out);
}

static bool parse_text(str text, const data_type *type, int32_t zone_offset_seconds, value *out) {
    str trimmed = str_trim(text);
    switch (type->id) {
        case TYPE_BOOLEAN: return parse_boolean(trimmed, &out->as.boolean);
        case TYPE_BYTE:
        case TYPE_SHORT:
        case TYPE_INT:
        case TYPE_LONG: return str_to_i64(trimmed, &out->as.i64) && in_range(out->as.i64, type->id);
        case TYPE_FLOAT:
            if (!str_to_f64(trimmed, &out->as.f64)) return false;
            out->as.f64 = (double)(float)out->as.f64;
            return true;
        case TYPE_DOUBLE: return str_to_f64(trimmed, &out->as.f64);
        case TYPE_DECIMAL: {
            int128 limit = 1;
            for (int i = 0; i < type->precision; i++) limit *= 10;
            return decimal_parse(trimmed, type->scale, &out->as.decimal) && out->as.decimal < limit && -out->as.decimal < limit;
        }
        case TYPE_DATE: return time_parse_date(trimmed, &out->as.i64) && in_range(out->as.i64, TYPE_DATE);
        case TYPE_TIMESTAMP:
        case TYPE_TIMESTAMP_NTZ: return parse_timestamp(trimmed, type, zone_offset_seconds, &out->as.i64);
        default: return false; /* STRING and BINARY are copied by the caller; VOID is always null; nested types are refused */
    }
}

silt_status partition_value_parse(str text, bool is_null, const data_type *type, int32_t zone_offset_seconds, arena *a,
                                  value *out, silt_error *err) {
    *out = (value){.type = type};
    if (is_null || text.len == 0) {
        out->is_null = true;
        return SILT_OK;
    }
    if (type->id == TYPE_STRING || type->id == TYPE_BINARY) { /* binary: the UTF-8 bytes of the text, as Spark reads it */
        out->as.bytes = arena_str(a, text);
        return str_is_null(out->as.bytes) ? error_no_memory(err) : SILT_OK;
    }
    return parse_text(text, type, zone_offset_seconds, out) ? SILT_OK : malformed(text, type, a, err);
}

/* The common part of both texts; false for what is written as null. */
static bool write_text(buf *out, const value *v, bool folder) {
    if (v->is_null) return false;
    switch (v->type->id) {
        case TYPE_BOOLEAN: buf_append_z(out, v->as.boolean ? "true" : "false"); return true;
        case TYPE_BYTE:
        case TYPE_SHORT:
        case TYPE_INT:
        case TYPE_LONG: buf_append_i64(out, v->as.i64); return true;
        case TYPE_FLOAT: text_write_f32_java(out, (float)v->as.f64); return true;
        case TYPE_DOUBLE: text_write_f64_java(out, v->as.f64); return true;
        case TYPE_DECIMAL: decimal_write(out, v->as.decimal, v->type->scale); return true;
        case TYPE_DATE: time_write_date(out, v->as.i64); return true;
        case TYPE_TIMESTAMP:
            if (folder)
                time_write_timestamp_short(out, v->as.i64, ' ');
            else
                time_write_timestamp(out, v->as.i64, 'T', 6, "Z");
            return true;
        case TYPE_TIMESTAMP_NTZ: time_write_timestamp_short(out, v->as.i64, ' '); return true;
        case TYPE_STRING:
        case TYPE_BINARY:
            if (v->as.bytes.len == 0 || str_eqz(v->as.bytes, HIVE_NULL)) return false;
            buf_append(out, v->as.bytes);
            return true;
        default: return false;
    }
}

bool partition_value_write(buf *out, const value *v) { return write_text(out, v, false); }

void partition_folder_write(buf *out, str column, const value *v, arena *a) {
    buf text;
    buf_init(&text, BUF_MAX_DEFAULT);
    bool is_set = write_text(&text, v, true);
    str name = hive_escape(column, a), escaped = hive_escape(buf_str(&text), a);
    if (!buf_ok(&text) || str_is_null(name) || str_is_null(escaped)) out->failed = true;
    buf_append(out, name);
    buf_append_char(out, '=');
    buf_append(out, is_set ? escaped : STR(HIVE_NULL));
    buf_dispose(&text);
}
