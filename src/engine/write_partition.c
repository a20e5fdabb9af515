/**
 * Partition values as the writer meets them.
 *
 * Rows come sorted by partition_write_sort_key, which need not be Spark's order but must bring together what becomes one folder: strings that are written as null are
 * null, and floats go by their text, because -0.0 and 0.0 sort as equal and yet are two partitions.
 */
#include "engine/write_partition.h"

#include "base/ident.h"

#define HIVE_NULL "__HIVE_DEFAULT_PARTITION__"

static size_t storage_width(const data_type *type) {
    switch (type->id) {
        case TYPE_BOOLEAN:
        case TYPE_BYTE: return 1;
        case TYPE_SHORT: return 2;
        case TYPE_INT:
        case TYPE_FLOAT:
        case TYPE_DATE: return 4;
        case TYPE_DECIMAL: return type->precision <= 4 ? 2 : type->precision <= 9 ? 4 : type->precision <= 18 ? 8 : 16;
        default: return 8;
    }
}

static bool is_text(const data_type *type) { return type->id == TYPE_STRING || type->id == TYPE_BINARY; }

static str text_at(duckdb_vector vector, size_t row) {
    duckdb_string_t *s = (duckdb_string_t *)duckdb_vector_get_data(vector) + row;
    return (str){duckdb_string_t_data(s), duckdb_string_t_length(*s)};
}

static bool is_null(duckdb_vector vector, const data_type *type, size_t row) {
    uint64_t *validity = duckdb_vector_get_validity(vector);
    if (type->id == TYPE_VOID || (validity && !duckdb_validity_row_is_valid(validity, row))) return true;
    if (!is_text(type)) return false;
    str s = text_at(vector, row);
    return s.len == 0 || str_eqz(s, HIVE_NULL);
}

bool partition_rows_equal(duckdb_vector vector, const data_type *type, size_t i, duckdb_vector other, size_t j) {
    bool null_i = is_null(vector, type, i), null_j = is_null(other, type, j);
    if (null_i || null_j) return null_i && null_j;
    if (is_text(type)) return str_eq(text_at(vector, i), text_at(other, j));
    size_t width = storage_width(type);
    return memcmp((const char *)duckdb_vector_get_data(vector) + i * width,
                  (const char *)duckdb_vector_get_data(other) + j * width, width) == 0;
}

static int128 integer_at(const void *data, size_t row, size_t width) {
    int128 v = 0;
    memcpy(&v, (const char *)data + row * width, width);
    int bits = (int)(128 - 8 * width);
    return bits ? (int128)((unsigned __int128)v << bits) >> bits : v;
}

silt_status partition_row_value(duckdb_vector vector, const data_type *type, size_t row, arena *a, value *out, silt_error *err) {
    *out = (value){.type = type};
    if (is_null(vector, type, row)) {
        out->is_null = true;
        return SILT_OK;
    }
    const void *data = duckdb_vector_get_data(vector);
    switch (type->id) {
        case TYPE_BOOLEAN: out->as.boolean = ((const uint8_t *)data)[row] != 0; return SILT_OK;
        case TYPE_FLOAT: out->as.f64 = (double)((const float *)data)[row]; return SILT_OK;
        case TYPE_DOUBLE: out->as.f64 = ((const double *)data)[row]; return SILT_OK;
        case TYPE_DECIMAL: out->as.decimal = integer_at(data, row, storage_width(type)); return SILT_OK;
        case TYPE_STRING:
        case TYPE_BINARY:
            out->as.bytes = arena_str(a, text_at(vector, row));
            return out->as.bytes.ptr ? SILT_OK : error_no_memory(err);
        case TYPE_BYTE:
        case TYPE_SHORT:
        case TYPE_INT:
        case TYPE_LONG:
        case TYPE_DATE:
        case TYPE_TIMESTAMP:
        case TYPE_TIMESTAMP_NTZ: out->as.i64 = (int64_t)integer_at(data, row, storage_width(type)); return SILT_OK;
        default: return err_INVALID_PARTITION_COLUMN_DATA_TYPE(err, type_sql(type, a));
    }
}

void partition_write_sort_key(buf *out, const data_type *type, size_t column) {
    if (type->id == TYPE_STRING)
        buf_printf(out, "nullif(nullif(c%zu, ''), '" HIVE_NULL "')", column);
    else if (type->id == TYPE_BINARY)
        buf_printf(out, "nullif(nullif(c%zu, ''::BLOB), '" HIVE_NULL "'::BLOB)", column);
    else if (type->id == TYPE_FLOAT || type->id == TYPE_DOUBLE)
        buf_printf(out, "CAST(c%zu AS VARCHAR)", column);
    else
        buf_printf(out, "c%zu", column);
}

static void write_random_prefix(buf *out) {
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
    uint8_t random[2];
    random_bytes(random, sizeof random);
    buf_append_char(out, letters[random[0] % 62]);
    buf_append_char(out, letters[random[1] % 62]);
    buf_append_char(out, '/');
}

void partition_write_folder(buf *out, const write_spec *spec, const value *values, arena *a) {
    if (spec->folder.len) {
        buf_append(out, spec->folder);
        buf_append_char(out, '/');
    }
    if (spec->random_prefix) {
        write_random_prefix(out);
        return;
    }
    for (size_t i = 0; i < spec->n_partition_columns; i++) {
        partition_folder_write(out, spec->schema->fields[spec->partition_columns[i]].name, &values[i], a);
        buf_append_char(out, '/');
    }
}
