/* Typed appends to the columns of one struct builder. */
#include "ops/describe_rows.h"

silt_status ops_describe_begin(const char *columns_ddl, arena *a, const data_type **out_type, arrow_builder **out_rows,
                               silt_error *err) {
    TRY(schema_parse_ddl(str_of(columns_ddl), a, out_type, err));
    *out_rows = arrow_builder_new(*out_type);
    return *out_rows ? SILT_OK : error_no_memory(err);
}

static arrow_builder *next_column(describe_row *r) { return arrow_child(r->rows, r->column++); }

static void note(describe_row *r, bool ok) { r->failed |= !ok; }

void ops_describe_null(describe_row *r) { note(r, arrow_append_null(next_column(r))); }

void ops_describe_str(describe_row *r, str s) {
    arrow_builder *b = next_column(r);
    note(r, str_is_null(s) ? arrow_append_null(b) : arrow_append_str(b, s));
}

void ops_describe_i64(describe_row *r, int64_t v) { note(r, arrow_append_i64(next_column(r), v)); }

void ops_describe_bool(describe_row *r, bool v) { note(r, arrow_append_bool(next_column(r), v)); }

void ops_describe_timestamp_ms(describe_row *r, int64_t ms) {
    if (ms < 0 || ms > INT64_MAX / 1000)
        ops_describe_null(r);
    else
        ops_describe_i64(r, ms * 1000);
}

void ops_describe_list(describe_row *r, const str *items, size_t n) {
    arrow_builder *b = next_column(r);
    for (size_t i = 0; i < n; i++) note(r, arrow_append_str(arrow_child(b, 0), items[i]));
    note(r, arrow_finish_row(b));
}

void ops_describe_map(describe_row *r, const str_map *map) {
    arrow_builder *b = next_column(r);
    for (size_t i = 0; i < map->count; i++) {
        arrow_builder *values = arrow_child(b, 1);
        note(r, arrow_append_str(arrow_child(b, 0), map->keys[i]));
        note(r, str_is_null(map->values[i]) ? arrow_append_null(values) : arrow_append_str(values, map->values[i]));
    }
    note(r, arrow_finish_row(b));
}

silt_status ops_describe_finish(describe_row *r, silt_error *err) {
    r->column = 0;
    note(r, arrow_finish_row(r->rows));
    return r->failed ? error_no_memory(err) : SILT_OK;
}
