/*
 * Variants in data files: groups of metadata and value, unshredded, at every depth. DuckDB's own form is shredded and only for columns, and it has one null for SQL's NULL and
 * JSON's: what is written is SQL's, which is what nearly every null variant is meant to be.
 */
#include <stdio.h>

#include "engine/write_copy.h"

bool write_holds_variant(const data_type *type) {
    if (type->id == TYPE_VARIANT) return true;
    if (type->element && write_holds_variant(type->element)) return true;
    if (type->key && write_holds_variant(type->key)) return true;
    for (size_t i = 0; i < type->n_fields; i++)
        if (write_holds_variant(type->fields[i].type)) return true;
    return false;
}

/* Fields by their place: the value has the query's names, the file gets the physical ones. */
static void print_struct(buf *out, str value_text, const data_type *type, int depth) {
    buf part;
    bool first = true;
    buf_init(&part, BUF_MAX_DEFAULT);
    buf_printf(out, "CASE WHEN %.*s IS NOT NULL THEN struct_pack(", STR_ARG(value_text));
    for (size_t i = 0; i < type->n_fields; i++) {
        buf_clear(&part);
        buf_printf(&part, "struct_extract_at(%.*s, %zu)", STR_ARG(value_text), i + 1);
        if (!first) buf_append_z(out, ", ");
        first = false;
        engine_write_name(out, type->fields[i].physical_name);
        buf_append_z(out, " := ");
        write_variant_print(out, buf_str(&part), type->fields[i].type, depth);
    }
    buf_append_z(out, ") END");
    if (!buf_ok(&part)) out->failed = true;
    buf_dispose(&part);
}

void write_variant_print(buf *out, str value_text, const data_type *type, int depth) {
    char item[24], part[40];
    snprintf(item, sizeof item, "silt_v%d", depth);
    if (type->id == TYPE_VARIANT) {
        buf_printf(out, "CASE WHEN %.*s IS NOT NULL THEN variant_to_parquet_variant(%.*s) END", STR_ARG(value_text),
                   STR_ARG(value_text));
    } else if (type->id == TYPE_STRUCT) {
        print_struct(out, value_text, type, depth);
    } else if (type->id == TYPE_ARRAY) {
        buf_printf(out, "list_transform(%.*s, lambda %s: ", STR_ARG(value_text), item);
        write_variant_print(out, str_of(item), type->element, depth + 1);
        buf_append_char(out, ')');
    } else if (type->id == TYPE_MAP) {
        buf_printf(out, "map_from_entries(list_transform(map_entries(%.*s), lambda %s: struct_pack(k := ", STR_ARG(value_text),
                   item);
        snprintf(part, sizeof part, "%s.key", item);
        write_variant_print(out, str_of(part), type->key, depth + 1);
        buf_append_z(out, ", v := ");
        snprintf(part, sizeof part, "%s.value", item);
        write_variant_print(out, str_of(part), type->element, depth + 1);
        buf_append_z(out, ")))");
    } else {
        buf_append(out, value_text);
    }
}
