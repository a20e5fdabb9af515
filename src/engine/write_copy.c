/**
 * COPY statements for Spark's readers: INT32 for byte and short, micros in UTC, decimals by width are what DuckDB writes by itself. Variants are written unshredded as
 * a group of metadata and value (write_variant.c). Void columns are not written, as Delta has it.
 */
#include "engine/write_copy.h"

#include <stdio.h>

silt_status copy_choose_format(str compression, copy_format *out, silt_error *err) {
    static const struct {
        const char *name;
        copy_format format;
    } known[] = {{"snappy", {"snappy", ".snappy.parquet"}},
                 {"zstd", {"zstd", ".zstd.parquet"}},
                 {"gzip", {"gzip", ".gz.parquet"}},
                 {"none", {"uncompressed", ".parquet"}},
                 {"uncompressed", {"uncompressed", ".parquet"}},
                 {"lz4_raw", {"lz4_raw", ".lz4raw.parquet"}},
                 {"brotli", {"brotli", ".br.parquet"}}};
    for (size_t i = 0; i < ARRAY_LEN(known); i++)
        if (compression.len == 0 || str_eq_ascii_fold(compression, str_of(known[i].name))) {
            *out = known[i].format;
            return SILT_OK;
        }
    return err_INVALID_PARAMETER_VALUE(err, STR("compression"), compression, "snappy, zstd, gzip, lz4_raw, brotli or none");
}

static bool is_written(const write_spec *spec, size_t column) {
    if (spec->schema->fields[column].type->id == TYPE_VOID) return false;
    for (size_t i = 0; !spec->write_partition_columns && i < spec->n_partition_columns; i++)
        if (spec->partition_columns[i] == column) return false;
    return true;
}

/* ---- field ids ---- */

/* Ids of list elements and map entries that Iceberg compatibility keeps in the metadata of the nearest field, by paths such as "col-1.element". */
typedef struct nested_ids {
    const json_node *ids;
    arena *a;
} nested_ids;

static void write_id(buf *sql, bool *first, int64_t id) {
    if (id < 0) return;
    buf_printf(sql, "%s__duckdb_field_id: %lld", *first ? "" : ", ", (long long)id);
    *first = false;
}

static void write_field_ids(buf *sql, bool *first, const field *f, arena *a);

static bool has_ids(const data_type *type, const json_node *ids) {
    if (ids || type->id == TYPE_STRUCT) return true;
    return (type->element && has_ids(type->element, ids)) || (type->key && has_ids(type->key, ids));
}

/* {__duckdb_field_id: 4, element: {…}} */
static void write_type_ids(buf *sql, const data_type *type, int64_t id, const nested_ids *nested, str path) {
    bool first = true;
    buf_append_char(sql, '{');
    write_id(sql, &first, id);
    for (size_t i = 0; i < type->n_fields; i++) write_field_ids(sql, &first, &type->fields[i], nested->a);
    struct {
        const char *name;
        const data_type *type;
    } parts[2] = {{"element", type->id == TYPE_ARRAY ? type->element : NULL}, {NULL, NULL}};
    if (type->id == TYPE_MAP) {
        parts[0].name = "key", parts[0].type = type->key;
        parts[1].name = "value", parts[1].type = type->element;
    }
    for (size_t i = 0; i < 2 && parts[i].type; i++) {
        if (!has_ids(parts[i].type, nested->ids)) continue;
        str part_path = arena_printf(nested->a, "%.*s.%s", STR_ARG(path), parts[i].name);
        int64_t part_id = part_path.ptr ? json_get_i64(nested->ids, part_path.ptr, -1) : -1;
        buf_printf(sql, "%s%s: ", first ? "" : ", ", parts[i].name);
        first = false;
        write_type_ids(sql, parts[i].type, part_id, nested, part_path);
    }
    buf_append_char(sql, '}');
}

static void write_field_ids(buf *sql, bool *first, const field *f, arena *a) {
    if (f->type->id == TYPE_VOID) return;
    nested_ids nested = {.ids = field_metadata_get(f, "delta.columnMapping.nested.ids", a), .a = a};
    bool below = type_is_nested(f->type) && has_ids(f->type, nested.ids);
    if (f->field_id < 0 && !below) return;
    buf_append_z(sql, *first ? "" : ", ");
    *first = false;
    engine_write_name(sql, f->physical_name);
    buf_append_z(sql, ": ");
    if (!below)
        buf_append_i64(sql, f->field_id);
    else
        write_type_ids(sql, f->type, f->field_id, &nested, f->physical_name);
}

static void write_ids(buf *sql, const write_spec *spec) {
    arena *a = arena_new();
    if (!a) {
        sql->failed = true;
        return;
    }
    bool first = true;
    buf_append_z(sql, ", FIELD_IDS {");
    for (size_t i = 0; i < spec->schema->n_fields; i++)
        if (is_written(spec, i)) write_field_ids(sql, &first, &spec->schema->fields[i], a);
    buf_append_char(sql, '}');
    arena_free(a);
}

/* ---- the statement ---- */

void copy_write_statement(buf *sql, const write_spec *spec, const copy_format *format, str rows, const copy_override *override,
                          str local_path) {
    bool first = true;
    buf_append_z(sql, "COPY (SELECT ");
    for (size_t i = 0; i < spec->schema->n_fields; i++) {
        const field *f = &spec->schema->fields[i];
        char name[24];
        str column = {name, (size_t)snprintf(name, sizeof name, "c%zu", i)};
        if (!is_written(spec, i)) continue;
        if (!first) buf_append_z(sql, ", ");
        first = false;
        if (override && override->column == i)
            buf_append(sql, override->text);
        else if (write_holds_variant(f->type))
            write_variant_print(sql, column, f->type, 0);
        else
            buf_append(sql, column);
        buf_append_z(sql, " AS ");
        engine_write_name(sql, f->physical_name);
    }
    buf_append_z(sql, " FROM ");
    buf_append(sql, rows);
    buf_append_z(sql, ") TO ");
    engine_write_literal(sql, local_path);
    buf_printf(sql, " (FORMAT parquet, COMPRESSION %s", format->codec);
    if (spec->write_field_ids) write_ids(sql, spec);
    if (spec->group_rows > 0) buf_printf(sql, ", ROW_GROUP_SIZE %lld", (long long)spec->group_rows);
    buf_append_char(sql, ')');
}
