/**
 * Spark's types in DuckDB's words and back, and the quoting of what is printed into SQL.
 *
 * Void columns travel as INTEGER that is always NULL (DuckDB has no column of type NULL in a file or a result); intervals of months and of microseconds as
 * INTEGER and BIGINT would lose their meaning in expressions, so they are DuckDB's INTERVAL.
 */
#include "engine/internal.h"

void engine_write_literal(buf *out, str text) {
    buf_append_char(out, '\'');
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] == '\'') buf_append_char(out, '\'');
        buf_append_char(out, text.ptr[i]);
    }
    buf_append_char(out, '\'');
}

void engine_write_name(buf *out, str name) {
    buf_append_char(out, '"');
    for (size_t i = 0; i < name.len; i++) {
        if (name.ptr[i] == '"') buf_append_char(out, '"');
        buf_append_char(out, name.ptr[i]);
    }
    buf_append_char(out, '"');
}

void engine_write_path(buf *out, str path) {
    buf_append_char(out, '\'');
    for (size_t i = 0; i < path.len; i++) {
        char c = path.ptr[i];
        if (c == '[' || c == '*' || c == '?') {
            buf_append_char(out, '[');
            buf_append_char(out, c);
            buf_append_char(out, ']');
            continue;
        }
        if (c == '\'') buf_append_char(out, '\'');
        buf_append_char(out, c);
    }
    buf_append_char(out, '\'');
}

static const char *simple_name(type_id id) {
    switch (id) {
        case TYPE_VOID: return "INTEGER";
        case TYPE_BOOLEAN: return "BOOLEAN";
        case TYPE_BYTE: return "TINYINT";
        case TYPE_SHORT: return "SMALLINT";
        case TYPE_INT: return "INTEGER";
        case TYPE_LONG: return "BIGINT";
        case TYPE_FLOAT: return "FLOAT";
        case TYPE_DOUBLE: return "DOUBLE";
        case TYPE_STRING: return "VARCHAR";
        case TYPE_BINARY: return "BLOB";
        case TYPE_DATE: return "DATE";
        case TYPE_TIMESTAMP: return "TIMESTAMP WITH TIME ZONE";
        case TYPE_TIMESTAMP_NTZ: return "TIMESTAMP";
        case TYPE_INTERVAL_YM:
        case TYPE_INTERVAL_DT:
        case TYPE_INTERVAL: return "INTERVAL";
        case TYPE_VARIANT: return "VARIANT";
        case TYPE_DECIMAL:
        case TYPE_ARRAY:
        case TYPE_MAP:
        case TYPE_STRUCT: break;
    }
    return NULL;
}

static str field_name(const field *f, bool physical) { return physical && f->physical_name.ptr ? f->physical_name : f->name; }

void engine_write_type(buf *out, const data_type *type, bool physical_names) {
    switch (type->id) {
        case TYPE_DECIMAL: buf_printf(out, "DECIMAL(%d,%d)", type->precision, type->scale); return;
        case TYPE_ARRAY:
            engine_write_type(out, type->element, physical_names);
            buf_append_z(out, "[]");
            return;
        case TYPE_MAP:
            buf_append_z(out, "MAP(");
            engine_write_type(out, type->key, physical_names);
            buf_append_z(out, ", ");
            engine_write_type(out, type->element, physical_names);
            buf_append_char(out, ')');
            return;
        case TYPE_STRUCT:
            buf_append_z(out, "STRUCT(");
            for (size_t i = 0; i < type->n_fields; i++) {
                if (i) buf_append_z(out, ", ");
                engine_write_name(out, field_name(&type->fields[i], physical_names));
                buf_append_char(out, ' ');
                engine_write_type(out, type->fields[i].type, physical_names);
            }
            buf_append_char(out, ')');
            return;
        default: buf_append_z(out, simple_name(type->id)); return;
    }
}

/* ---- logical type objects ---- */

static duckdb_type simple_id(type_id id) {
    switch (id) {
        case TYPE_VOID: return DUCKDB_TYPE_INTEGER;
        case TYPE_BOOLEAN: return DUCKDB_TYPE_BOOLEAN;
        case TYPE_BYTE: return DUCKDB_TYPE_TINYINT;
        case TYPE_SHORT: return DUCKDB_TYPE_SMALLINT;
        case TYPE_INT: return DUCKDB_TYPE_INTEGER;
        case TYPE_LONG: return DUCKDB_TYPE_BIGINT;
        case TYPE_FLOAT: return DUCKDB_TYPE_FLOAT;
        case TYPE_DOUBLE: return DUCKDB_TYPE_DOUBLE;
        case TYPE_STRING: return DUCKDB_TYPE_VARCHAR;
        case TYPE_BINARY: return DUCKDB_TYPE_BLOB;
        case TYPE_DATE: return DUCKDB_TYPE_DATE;
        case TYPE_TIMESTAMP: return DUCKDB_TYPE_TIMESTAMP_TZ;
        case TYPE_TIMESTAMP_NTZ: return DUCKDB_TYPE_TIMESTAMP;
        case TYPE_INTERVAL_YM:
        case TYPE_INTERVAL_DT:
        case TYPE_INTERVAL: return DUCKDB_TYPE_INTERVAL;
        case TYPE_VARIANT: return DUCKDB_TYPE_VARCHAR; /* as its JSON text: the C API makes no VARIANT vectors */
        case TYPE_DECIMAL:
        case TYPE_ARRAY:
        case TYPE_MAP:
        case TYPE_STRUCT: break;
    }
    return DUCKDB_TYPE_INVALID;
}

static duckdb_logical_type struct_logical_type(const data_type *type, bool physical_names) {
    size_t n = type->n_fields;
    arena *a = arena_new();
    duckdb_logical_type *members = a ? ARENA_ARRAY(a, n + 1, duckdb_logical_type) : NULL;
    const char **names = members ? ARENA_ARRAY(a, n + 1, const char *) : NULL;
    bool ok = names != NULL;
    for (size_t i = 0; ok && i < n; i++) {
        names[i] = arena_cstr(a, field_name(&type->fields[i], physical_names));
        members[i] = engine_logical_type(type->fields[i].type, physical_names);
        ok = names[i] && members[i];
    }
    duckdb_logical_type made = ok ? duckdb_create_struct_type(members, names, n) : NULL;
    for (size_t i = 0; members && i < n; i++)
        if (members[i]) duckdb_destroy_logical_type(&members[i]);
    arena_free(a);
    return made;
}

duckdb_logical_type engine_logical_type(const data_type *type, bool physical_names) {
    switch (type->id) {
        case TYPE_DECIMAL: return duckdb_create_decimal_type(type->precision, type->scale);
        case TYPE_ARRAY: {
            duckdb_logical_type element = engine_logical_type(type->element, physical_names);
            duckdb_logical_type made = element ? duckdb_create_list_type(element) : NULL;
            if (element) duckdb_destroy_logical_type(&element);
            return made;
        }
        case TYPE_MAP: {
            duckdb_logical_type key = engine_logical_type(type->key, physical_names);
            duckdb_logical_type item = engine_logical_type(type->element, physical_names);
            duckdb_logical_type made = key && item ? duckdb_create_map_type(key, item) : NULL;
            if (key) duckdb_destroy_logical_type(&key);
            if (item) duckdb_destroy_logical_type(&item);
            return made;
        }
        case TYPE_STRUCT: return struct_logical_type(type, physical_names);
        default: return duckdb_create_logical_type(simple_id(type->id));
    }
}

/* ---- comparing ---- */

static bool struct_fits(duckdb_logical_type found, const data_type *type);

bool engine_type_fits(duckdb_logical_type found, const data_type *type) {
    int id = (int)duckdb_get_type_id(found);
    if (type->id == TYPE_VARIANT) return id == DUCKDB_TYPE_VARIANT_1_5;
    if (type->id == TYPE_STRUCT) return id == DUCKDB_TYPE_STRUCT && struct_fits(found, type);
    duckdb_logical_type wanted = engine_logical_type(type, false);
    bool fits = wanted && id == (int)duckdb_get_type_id(wanted);
    if (fits && type->id == TYPE_DECIMAL)
        fits = duckdb_decimal_internal_type(found) == duckdb_decimal_internal_type(wanted) &&
               duckdb_decimal_scale(found) == duckdb_decimal_scale(wanted);
    if (wanted) duckdb_destroy_logical_type(&wanted);
    if (fits && type->id == TYPE_ARRAY) {
        duckdb_logical_type child = duckdb_list_type_child_type(found);
        fits = engine_type_fits(child, type->element);
        duckdb_destroy_logical_type(&child);
    } else if (fits && type->id == TYPE_MAP) {
        duckdb_logical_type key = duckdb_map_type_key_type(found), item = duckdb_map_type_value_type(found);
        fits = engine_type_fits(key, type->key) && engine_type_fits(item, type->element);
        duckdb_destroy_logical_type(&key);
        duckdb_destroy_logical_type(&item);
    }
    return fits;
}

static bool struct_fits(duckdb_logical_type found, const data_type *type) {
    bool fits = duckdb_struct_type_child_count(found) == type->n_fields;
    for (size_t i = 0; fits && i < type->n_fields; i++) {
        duckdb_logical_type child = duckdb_struct_type_child_type(found, i);
        fits = engine_type_fits(child, type->fields[i].type);
        duckdb_destroy_logical_type(&child);
    }
    return fits;
}

/* ---- DuckDB → Spark ---- */

static silt_status struct_from_duck(duckdb_logical_type type, arena *a, const data_type **out, silt_error *err) {
    size_t n = duckdb_struct_type_child_count(type);
    field *fields = ARENA_ARRAY(a, n + 1, field);
    if (!fields) return error_no_memory(err);
    for (size_t i = 0; i < n; i++) {
        char *name = duckdb_struct_type_child_name(type, i);
        str kept = arena_str(a, str_of(name));
        duckdb_free(name);
        duckdb_logical_type child = duckdb_struct_type_child_type(type, i);
        const data_type *child_type = NULL;
        silt_status status = kept.ptr ? engine_type_from_duck(child, a, &child_type, err) : error_no_memory(err);
        duckdb_destroy_logical_type(&child);
        TRY(status);
        fields[i] = field_make(kept, child_type, true);
    }
    *out = type_struct(a, fields, n);
    return *out ? SILT_OK : error_no_memory(err);
}

static silt_status list_from_duck(duckdb_logical_type child, arena *a, const data_type **out, silt_error *err) {
    const data_type *element;
    silt_status status = engine_type_from_duck(child, a, &element, err);
    duckdb_destroy_logical_type(&child);
    TRY(status);
    *out = type_array(a, element, true);
    return *out ? SILT_OK : error_no_memory(err);
}

static silt_status map_from_duck(duckdb_logical_type type, arena *a, const data_type **out, silt_error *err) {
    const data_type *key = NULL, *item = NULL;
    duckdb_logical_type child = duckdb_map_type_key_type(type);
    silt_status status = engine_type_from_duck(child, a, &key, err);
    duckdb_destroy_logical_type(&child);
    TRY(status);
    child = duckdb_map_type_value_type(type);
    status = engine_type_from_duck(child, a, &item, err);
    duckdb_destroy_logical_type(&child);
    TRY(status);
    *out = type_map(a, key, item, true);
    return *out ? SILT_OK : error_no_memory(err);
}

static const data_type *simple_from_duck(int id) {
    switch (id) {
        case DUCKDB_TYPE_SQLNULL: return &type_void;
        case DUCKDB_TYPE_BOOLEAN: return &type_boolean;
        case DUCKDB_TYPE_TINYINT: return &type_byte;
        case DUCKDB_TYPE_UTINYINT:
        case DUCKDB_TYPE_SMALLINT: return &type_short;
        case DUCKDB_TYPE_USMALLINT:
        case DUCKDB_TYPE_INTEGER: return &type_int;
        case DUCKDB_TYPE_UINTEGER:
        case DUCKDB_TYPE_BIGINT: return &type_long;
        case DUCKDB_TYPE_FLOAT: return &type_float;
        case DUCKDB_TYPE_DOUBLE: return &type_double;
        case DUCKDB_TYPE_ENUM:
        case DUCKDB_TYPE_UUID:
        case DUCKDB_TYPE_VARCHAR: return &type_string;
        case DUCKDB_TYPE_BLOB: return &type_binary;
        case DUCKDB_TYPE_DATE: return &type_date;
        case DUCKDB_TYPE_TIMESTAMP_TZ: return &type_timestamp;
        case DUCKDB_TYPE_TIMESTAMP:
        case DUCKDB_TYPE_TIMESTAMP_S:
        case DUCKDB_TYPE_TIMESTAMP_MS:
        case DUCKDB_TYPE_TIMESTAMP_NS: return &type_timestamp_ntz;
        case DUCKDB_TYPE_VARIANT_1_5: return &type_variant;
        default: return NULL;
    }
}

silt_status engine_type_from_duck(duckdb_logical_type type, arena *a, const data_type **out, silt_error *err) {
    int id = (int)duckdb_get_type_id(type);
    const data_type *made = simple_from_duck(id);
    switch (id) {
        case DUCKDB_TYPE_DECIMAL: made = type_decimal(a, duckdb_decimal_width(type), duckdb_decimal_scale(type)); break;
        case DUCKDB_TYPE_UBIGINT: made = type_decimal(a, 20, 0); break;
        case DUCKDB_TYPE_HUGEINT: made = type_decimal(a, 38, 0); break;
        case DUCKDB_TYPE_LIST: return list_from_duck(duckdb_list_type_child_type(type), a, out, err);
        case DUCKDB_TYPE_ARRAY: return list_from_duck(duckdb_array_type_child_type(type), a, out, err);
        case DUCKDB_TYPE_MAP: return map_from_duck(type, a, out, err);
        case DUCKDB_TYPE_STRUCT: return struct_from_duck(type, a, out, err);
        default:
            if (!made) return err_UNSUPPORTED_FEATURE(err, "a file column of this type (time, interval, bit, union or geometry)");
            break;
    }
    *out = made;
    return made ? SILT_OK : error_no_memory(err);
}
