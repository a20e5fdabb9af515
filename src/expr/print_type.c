/* Spark's types as DuckDB writes them. */
#include "expr/print.h"

void print_identifier(buf *out, str name) {
    buf_append_char(out, '"');
    for (size_t i = 0; i < name.len; i++) {
        if (name.ptr[i] == '"') buf_append_char(out, '"');
        buf_append_char(out, name.ptr[i]);
    }
    buf_append_char(out, '"');
}

void type_print_duckdb(buf *out, const data_type *t, bool physical_names) {
    switch (t->id) {
        case TYPE_VOID: buf_append_z(out, "INTEGER"); return; /* DuckDB has no column of type NULL */
        case TYPE_BOOLEAN: buf_append_z(out, "BOOLEAN"); return;
        case TYPE_BYTE: buf_append_z(out, "TINYINT"); return;
        case TYPE_SHORT: buf_append_z(out, "SMALLINT"); return;
        case TYPE_INT: buf_append_z(out, "INTEGER"); return;
        case TYPE_LONG: buf_append_z(out, "BIGINT"); return;
        case TYPE_FLOAT: buf_append_z(out, "FLOAT"); return;
        case TYPE_DOUBLE: buf_append_z(out, "DOUBLE"); return;
        case TYPE_DECIMAL: buf_printf(out, "DECIMAL(%d,%d)", t->precision, t->scale); return;
        case TYPE_STRING: buf_append_z(out, "VARCHAR"); return;
        case TYPE_BINARY: buf_append_z(out, "BLOB"); return;
        case TYPE_DATE: buf_append_z(out, "DATE"); return;
        case TYPE_TIMESTAMP: buf_append_z(out, "TIMESTAMPTZ"); return;
        case TYPE_TIMESTAMP_NTZ: buf_append_z(out, "TIMESTAMP"); return;
        case TYPE_INTERVAL_YM:
        case TYPE_INTERVAL_DT:
        case TYPE_INTERVAL: buf_append_z(out, "INTERVAL"); return;
        case TYPE_VARIANT: buf_append_z(out, "VARIANT"); return;
        case TYPE_ARRAY:
            type_print_duckdb(out, t->element, physical_names);
            buf_append_z(out, "[]");
            return;
        case TYPE_MAP:
            buf_append_z(out, "MAP(");
            type_print_duckdb(out, t->key, physical_names);
            buf_append_z(out, ", ");
            type_print_duckdb(out, t->element, physical_names);
            buf_append_char(out, ')');
            return;
        case TYPE_STRUCT:
            buf_append_z(out, "STRUCT(");
            for (size_t i = 0; i < t->n_fields; i++) {
                if (i) buf_append_z(out, ", ");
                print_identifier(out, physical_names ? t->fields[i].physical_name : t->fields[i].name);
                buf_append_char(out, ' ');
                type_print_duckdb(out, t->fields[i].type, physical_names);
            }
            buf_append_char(out, ')');
            return;
    }
}
