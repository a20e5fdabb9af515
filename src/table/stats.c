/*
 * Statistics of one file, read lazily from the JSON text of add.stats. Delta protocol, "Per-file Statistics", "Column Mapping"
 * (the keys are physical names).
 *
 * Spark's bounds are exact texts. Other writers' are not always, and a table may hold both, so that the source handed to
 * predicates widens a bound wherever it may have been rounded on its way into the text:
 * - DECIMAL of more than 15 digits: delta-rs computes these bounds as doubles. A number of 15 digits survives that, and a text of
 *   more than 17 cannot come from it; in between, the bound gives way by a few units in the last place of a double.
 * - DOUBLE that was FLOAT in older files (type widening): the text is the float's shortest, 0.1, while the rows now read as
 *   0.10000000149…: the bound gives way to the nearest float.
 * - STRING maxima that end in U+FFFD: the tie-breaker of old Delta versions, which sorted as UTF-16 and is below the
 *   supplementary characters in UTF-8 order. Such a maximum is unknown.
 */
#include "table/stats.h"

#include <math.h>

#include "table/json_scan.h"

static bool is_object(str json) { return json.len > 0 && json.ptr[0] == '{'; }

static void take_member(file_stats *s, const json_member *m) {
    if (str_eqz(m->key, "numRecords")) {
        if (!str_to_i64(m->value, &s->num_records) || s->num_records < 0) s->num_records = -1;
    } else if (str_eqz(m->key, "tightBounds")) {
        s->tight_bounds = !str_eqz(m->value, "false");
    } else if (is_object(m->value)) {
        if (str_eqz(m->key, "minValues")) s->min_values = m->value;
        if (str_eqz(m->key, "maxValues")) s->max_values = m->value;
        if (str_eqz(m->key, "nullCount")) s->null_count = m->value;
    }
}

void file_stats_parse(str json, const data_type *schema, arena *a, file_stats *out) {
    const file_stats unknown = {.schema = schema, .arena = a, .num_records = -1, .tight_bounds = true};
    json_scan scan;
    json_member m;
    bool ok = false;
    *out = unknown;
    if (!json_scan_object(json, &scan)) return;
    while (json_scan_next(&scan, &m, &ok)) take_member(out, &m);
    if (!ok || !json_scan_at_end(&scan)) *out = unknown; /* damaged somewhere: trust none of it */
}

void file_stats_set_partition(file_stats *s, const uint32_t *columns, size_t n, const value *values) {
    s->partition_columns = columns;
    s->n_partition_columns = n;
    s->partition_values = values;
}

/* The column's partition value; NULL for the columns in the file. */
static const value *partition_value_of(const file_stats *s, column_path column) {
    if (column.depth != 1) return NULL;
    for (size_t i = 0; i < s->n_partition_columns; i++)
        if (s->partition_columns[i] == column.index[0]) return &s->partition_values[i];
    return NULL;
}

/* Walk schema and JSON side by side to the column's member in one of the three objects; *out_field is the column itself. */
static bool find_column(const file_stats *s, str object, column_path column, const field **out_field, str *out_value) {
    const data_type *type = s->schema;
    for (size_t i = 0; i < column.depth; i++) {
        if (type->id != TYPE_STRUCT || column.index[i] >= type->n_fields || !is_object(object)) return false;
        *out_field = &type->fields[column.index[i]];
        if (!json_scan_find(object, (*out_field)->physical_name, &object)) return false;
        type = (*out_field)->type;
    }
    *out_value = object;
    return column.depth > 0;
}

/* Also hands out the field, for what its metadata says about older files. */
static bool read_bound(const file_stats *s, column_path column, stats_bound which, const field **out_field, value *out) {
    str text;
    const value *partition = partition_value_of(s, column);
    *out_field = NULL;
    if (partition) {
        *out = *partition;
        return partition->type && !partition->is_null;
    }
    if (!find_column(s, which == STATS_MIN ? s->min_values : s->max_values, column, out_field, &text)) return false;
    bool quoted = text.ptr[0] == '"';
    if (quoted && !json_scan_string(text, s->arena, &text)) return false;
    return value_from_stats_text(text, quoted, (*out_field)->type, out);
}

bool file_stats_bound(const file_stats *s, column_path column, stats_bound which, value *out) {
    const field *f;
    return read_bound(s, column, which, &f, out);
}

bool file_stats_null_count(const file_stats *s, column_path column, int64_t *out) {
    const field *f;
    str text;
    const value *partition = partition_value_of(s, column);
    if (partition) {
        *out = partition->is_null ? s->num_records : 0;
        return partition->type && *out >= 0;
    }
    return find_column(s, s->null_count, column, &f, &text) && str_to_i64(text, out) && *out >= 0;
}

/* ---- the source for predicates ---- */

static int significant_digits(int128 v) {
    int n = 0;
    while (v && v % 10 == 0) v /= 10;
    for (; v; v /= 10) n++;
    return n;
}

static void widen_decimal(value *v, stats_bound which) {
    const int128 exact_below = 1000000000000000; /* 15 digits */
    int128 size = v->as.decimal < 0 ? -v->as.decimal : v->as.decimal;
    if (size < exact_below || significant_digits(size) > 17) return;
    int128 give = (size >> 50) + 1;
    v->as.decimal += which == STATS_MIN ? -give : give;
}

static void widen_from_float(value *v, stats_bound which) {
    double as_float = (double)(float)v->as.f64;
    if (!isfinite(as_float)) return; /* beyond float: cannot have been one */
    if (which == STATS_MIN ? as_float < v->as.f64 : as_float > v->as.f64) v->as.f64 = as_float;
}

static bool was_widened(const field *f) { return str_find(f->metadata, STR("delta.typeChanges")) != SIZE_MAX; }

static bool source_bound(const stats_source *source, column_path column, stats_bound which, value *out) {
    const field *f;
    if (!read_bound(source->ctx, column, which, &f, out)) return false;
    if (!f) return true; /* a partition value is exact */
    switch (f->type->id) {
        case TYPE_DECIMAL: widen_decimal(out, which); return true;
        case TYPE_DOUBLE:
            if (was_widened(f)) widen_from_float(out, which);
            return true;
        case TYPE_STRING: return which == STATS_MIN || !str_ends_with(out->as.bytes, STR("\xEF\xBF\xBD"));
        default: return true;
    }
}

/* The schema's own type is used: `type` is the caller's idea of the same column. */
static bool source_min(const stats_source *s, column_path column, const data_type *type, value *out) {
    (void)type;
    return source_bound(s, column, STATS_MIN, out);
}

static bool source_max(const stats_source *s, column_path column, const data_type *type, value *out) {
    (void)type;
    return source_bound(s, column, STATS_MAX, out);
}

static bool source_null_count(const stats_source *s, column_path column, int64_t *out) {
    return file_stats_null_count(s->ctx, column, out);
}

static bool source_num_records(const stats_source *source, int64_t *out) {
    const file_stats *s = source->ctx;
    *out = s->num_records;
    return *out >= 0;
}

static bool source_constant(const stats_source *source, column_path column, const data_type *type, value *out) {
    const value *partition = partition_value_of(source->ctx, column);
    (void)type;
    if (!partition || !partition->type) return false;
    *out = *partition;
    return true;
}

void file_stats_source(const file_stats *s, stats_source *out) {
    *out = (stats_source){
        .ctx = (void *)(uintptr_t)s, /* only read: the interface has one pointer for all kinds of sources */
        .min = source_min,
        .max = source_max,
        .null_count = source_null_count,
        .num_records = source_num_records,
        .tight_bounds = s->tight_bounds,
        .constant = source_constant,
    };
}
