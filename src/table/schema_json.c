/*
 * Delta's schemaString (Spark's schema JSON) to types and back. Delta protocol, "Schema Serialization Format", "Column Mapping".
 *
 * Metadata is carried as the text that stood there: Delta keeps keys in it that this build need not know (identity, generation
 * expressions, type changes, comments), and a writer must hand them on unchanged. Only what changes how a column is found or
 * checked is taken out of it: the physical name, the field id and the declared CHAR/VARCHAR length.
 */
#include <stdio.h>

#include "table/type.h"

static const struct {
    const char *name;
    const data_type *type;
} simple_types[] = {
    {"string", &type_string},
    {"long", &type_long},
    {"integer", &type_int},
    {"short", &type_short},
    {"byte", &type_byte},
    {"float", &type_float},
    {"double", &type_double},
    {"boolean", &type_boolean},
    {"binary", &type_binary},
    {"date", &type_date},
    {"timestamp", &type_timestamp},
    {"timestamp_ntz", &type_timestamp_ntz},
    {"variant", &type_variant},
    {"void", &type_void},
    {"null", &type_void}, /* what Spark before 3.0 wrote for void */
    {"interval year to month", &type_interval_ym},
    {"interval day to second", &type_interval_dt},
    {"interval", &type_interval},
};

#define CHAR_VARCHAR_KEY  "__CHAR_VARCHAR_TYPE_STRING"
#define PHYSICAL_NAME_KEY "delta.columnMapping.physicalName"
#define FIELD_ID_KEY      "delta.columnMapping.id"

static silt_status bad_schema(silt_error *err, const char *why) { return err_DELTA_INVALID_SCHEMA(err, why); }

/* Reads an unsigned number of at most four digits at *pos. */
static bool take_number(str s, size_t *pos, int *out) {
    size_t start = *pos;
    int n = 0;
    while (*pos < s.len && *pos - start < 4 && s.ptr[*pos] >= '0' && s.ptr[*pos] <= '9') n = n * 10 + (s.ptr[(*pos)++] - '0');
    *out = n;
    return *pos > start;
}

static void skip_spaces(str s, size_t *pos) {
    while (*pos < s.len && s.ptr[*pos] == ' ') ++*pos;
}

static bool take_char(str s, size_t *pos, char c) {
    skip_spaces(s, pos);
    if (*pos >= s.len || s.ptr[*pos] != c) return false;
    ++*pos;
    skip_spaces(s, pos);
    return true;
}

/* "decimal", "decimal(p)" or "decimal(p,s)"; NULL type when the text is no valid decimal type. */
static silt_status parse_decimal(str name, arena *a, const data_type **out, silt_error *err) {
    int precision = 10, scale = 0;
    size_t pos = strlen("decimal");
    if (pos < name.len) {
        if (!take_char(name, &pos, '(') || !take_number(name, &pos, &precision)) return bad_schema(err, "malformed decimal type");
        if (take_char(name, &pos, ',') && !take_number(name, &pos, &scale)) return bad_schema(err, "malformed decimal type");
        if (!take_char(name, &pos, ')') || pos != name.len) return bad_schema(err, "malformed decimal type");
    }
    if (precision < 1 || precision > 38 || scale > precision) return bad_schema(err, "decimal precision or scale out of range");
    *out = type_decimal(a, precision, scale);
    return *out ? SILT_OK : error_no_memory(err);
}

/* "char(n)" or "varchar(n)" at *pos of `s`: steps over it. */
static bool take_limited(str s, size_t *pos, int32_t *out_length, bool *out_is_char) {
    str rest = str_slice(s, *pos, s.len);
    size_t p;
    if (str_starts_with(rest, STR("char("))) {
        *out_is_char = true;
        p = strlen("char(");
    } else if (str_starts_with(rest, STR("varchar("))) {
        *out_is_char = false;
        p = strlen("varchar(");
    } else {
        return false;
    }
    int64_t n = 0;
    size_t digits = p;
    while (p < rest.len && rest.ptr[p] >= '0' && rest.ptr[p] <= '9' && n <= INT32_MAX) n = n * 10 + (rest.ptr[p++] - '0');
    if (p == digits || n < 1 || n > INT32_MAX || p >= rest.len || rest.ptr[p] != ')') return false;
    *out_length = (int32_t)n;
    *pos += p + 1;
    return true;
}

static silt_status parse_simple(str name, arena *a, const data_type **out, silt_error *err) {
    for (size_t i = 0; i < ARRAY_LEN(simple_types); i++) {
        if (!str_eqz(name, simple_types[i].name)) continue;
        *out = simple_types[i].type;
        return SILT_OK;
    }
    if (str_starts_with(name, STR("decimal"))) return parse_decimal(name, a, out, err);
    return err_DELTA_UNSUPPORTED_DATA_TYPES(err, name);
}

/*
 * Lay the lengths of a declared type text ("array<varchar(5)>", "struct<a:char(2),b:int>") over the parsed type. Spark keeps the
 * text at the top-level column only, unquoted, so that names are matched by the known field names rather than parsed. NULL where
 * the two do not fit together; the plain type is then kept.
 */
static const data_type *overlay(str text, size_t *pos, const data_type *t, arena *a);

static bool take_text(str s, size_t *pos, str piece) {
    if (!str_starts_with(str_slice(s, *pos, s.len), piece)) return false;
    *pos += piece.len;
    return true;
}

static const data_type *overlay_struct(str text, size_t *pos, const data_type *t, arena *a) {
    field *fields = ARENA_ARRAY(a, t->n_fields, field);
    if (!fields || !take_text(text, pos, STR("struct<"))) return NULL;
    for (size_t i = 0; i < t->n_fields; i++) {
        fields[i] = t->fields[i];
        if ((i && !take_text(text, pos, STR(","))) || !take_text(text, pos, t->fields[i].name) || !take_text(text, pos, STR(":")))
            return NULL;
        fields[i].type = overlay(text, pos, t->fields[i].type, a);
        if (!fields[i].type) return NULL;
    }
    return take_text(text, pos, STR(">")) ? type_struct(a, fields, t->n_fields) : NULL;
}

static const data_type *overlay(str text, size_t *pos, const data_type *t, arena *a) {
    const data_type *key = NULL, *element;
    switch (t->id) {
        case TYPE_STRUCT: return overlay_struct(text, pos, t, a);
        case TYPE_ARRAY:
            if (!take_text(text, pos, STR("array<"))) return NULL;
            element = overlay(text, pos, t->element, a);
            return element && take_text(text, pos, STR(">")) ? type_array(a, element, t->contains_null) : NULL;
        case TYPE_MAP:
            if (!take_text(text, pos, STR("map<"))) return NULL;
            key = overlay(text, pos, t->key, a);
            if (!key || !take_text(text, pos, STR(","))) return NULL;
            element = overlay(text, pos, t->element, a);
            return element && take_text(text, pos, STR(">")) ? type_map(a, key, element, t->contains_null) : NULL;
        case TYPE_STRING: {
            int32_t length;
            bool is_char;
            if (take_limited(text, pos, &length, &is_char)) return type_text_limited(a, length, is_char);
            return take_text(text, pos, STR("string")) ? t : NULL;
        }
        default: return take_text(text, pos, type_simple(t, a)) ? t : NULL;
    }
}

static void take_declared_lengths(field *f, const json_node *metadata, arena *a) {
    str declared = json_get_str(metadata, CHAR_VARCHAR_KEY, STR_NULL);
    size_t pos = 0;
    if (str_is_null(declared)) return;
    const data_type *limited = overlay(declared, &pos, f->type, a);
    if (limited && pos == declared.len) f->type = limited;
}

static silt_status parse_type(const json_node *node, arena *a, const data_type **out, silt_error *err);

static silt_status parse_field(const json_node *node, arena *a, field *out, silt_error *err) {
    const json_node *name = json_get(node, "name"), *type = json_get(node, "type");
    const json_node *nullable = json_get(node, "nullable"), *metadata = json_get(node, "metadata");
    if (!name || name->type != JSON_STRING) return bad_schema(err, "a field has no name");
    if (!type) return bad_schema(err, "a field has no type");
    if (nullable && nullable->type != JSON_BOOL) return bad_schema(err, "a field's nullable is not a boolean");
    if (metadata && metadata->type != JSON_OBJECT && metadata->type != JSON_NULL)
        return bad_schema(err, "a field's metadata is not an object");

    *out = field_make(name->text, NULL, !nullable || nullable->boolean);
    TRY(parse_type(type, a, &out->type, err));
    if (!metadata || metadata->type == JSON_NULL || metadata->count == 0) return SILT_OK;

    out->metadata = metadata->text;
    str physical = json_get_str(metadata, PHYSICAL_NAME_KEY, STR_NULL);
    if (!str_is_null(physical)) out->physical_name = physical;
    int64_t id = json_get_i64(metadata, FIELD_ID_KEY, -1);
    if (id >= 0 && id <= INT32_MAX) out->field_id = (int32_t)id;
    take_declared_lengths(out, metadata, a);
    return SILT_OK;
}

static silt_status parse_struct(const json_node *node, arena *a, const data_type **out, silt_error *err) {
    const json_node *items = json_get(node, "fields");
    if (!items || items->type != JSON_ARRAY) return bad_schema(err, "a struct has no array of fields");
    field *fields = ARENA_ARRAY(a, items->count, field);
    if (!fields) return error_no_memory(err);
    for (size_t i = 0; i < items->count; i++) TRY(parse_field(&items->values[i], a, &fields[i], err));
    *out = type_struct(a, fields, items->count);
    return *out ? SILT_OK : error_no_memory(err);
}

static silt_status parse_array(const json_node *node, arena *a, const data_type **out, silt_error *err) {
    const json_node *element = json_get(node, "elementType");
    const data_type *type;
    if (!element) return bad_schema(err, "an array has no elementType");
    TRY(parse_type(element, a, &type, err));
    *out = type_array(a, type, json_get_bool(node, "containsNull", true));
    return *out ? SILT_OK : error_no_memory(err);
}

static silt_status parse_map(const json_node *node, arena *a, const data_type **out, silt_error *err) {
    const json_node *key = json_get(node, "keyType"), *value = json_get(node, "valueType");
    const data_type *key_type, *value_type;
    if (!key || !value) return bad_schema(err, "a map has no keyType or valueType");
    TRY(parse_type(key, a, &key_type, err));
    TRY(parse_type(value, a, &value_type, err));
    *out = type_map(a, key_type, value_type, json_get_bool(node, "valueContainsNull", true));
    return *out ? SILT_OK : error_no_memory(err);
}

/* The depth is bounded by json_parse. */
static silt_status parse_type(const json_node *node, arena *a, const data_type **out, silt_error *err) {
    if (node->type == JSON_STRING) return parse_simple(node->text, a, out, err);
    if (node->type != JSON_OBJECT) return bad_schema(err, "a type is neither a name nor an object");
    str kind = json_get_str(node, "type", STR(""));
    if (str_eqz(kind, "struct")) return parse_struct(node, a, out, err);
    if (str_eqz(kind, "array")) return parse_array(node, a, out, err);
    if (str_eqz(kind, "map")) return parse_map(node, a, out, err);
    if (kind.len == 0) return bad_schema(err, "a type object has no type");
    return err_DELTA_UNSUPPORTED_DATA_TYPES(err, kind); /* "udt" among others */
}

silt_status schema_parse_json(str json, arena *a, const data_type **out_struct, silt_error *err) {
    const json_node *root;
    silt_error cause = {0};
    silt_status s = json_parse(json, a, &root, &cause);
    if (s == SILT_NO_MEMORY) return error_no_memory(err);
    if (s != SILT_OK) {
        s = bad_schema(err, "it is not valid JSON");
        error_detail(err, "%s", cause.detail);
        return s;
    }
    if (root->type != JSON_OBJECT || !str_eqz(json_get_str(root, "type", STR("")), "struct"))
        return bad_schema(err, "the top level is not a struct");
    return parse_type(root, a, out_struct, err);
}

/* ---- writing ---- */

static void write_simple_name(buf *out, const data_type *type) {
    char decimal[32];
    if (type->id == TYPE_DECIMAL) {
        snprintf(decimal, sizeof decimal, "decimal(%d,%d)", type->precision, type->scale);
        json_write_str(out, str_of(decimal));
        return;
    }
    for (size_t i = 0; i < ARRAY_LEN(simple_types); i++) {
        if (simple_types[i].type->id != type->id) continue;
        json_write_str(out, str_of(simple_types[i].name));
        return;
    }
}

static void write_bool_member(buf *out, const char *key, bool v) { buf_printf(out, ",\"%s\":%s", key, v ? "true" : "false"); }

static void write_field(buf *out, const field *f) {
    buf_append_z(out, "{\"name\":");
    json_write_str(out, f->name);
    buf_append_z(out, ",\"type\":");
    schema_write_json(out, f->type);
    write_bool_member(out, "nullable", f->nullable);
    buf_append_z(out, ",\"metadata\":");
    buf_append(out, f->metadata.len ? f->metadata : STR("{}"));
    buf_append_char(out, '}');
}

void schema_write_json(buf *out, const data_type *type) {
    switch (type->id) {
        case TYPE_STRUCT:
            buf_append_z(out, "{\"type\":\"struct\",\"fields\":[");
            for (size_t i = 0; i < type->n_fields; i++) {
                if (i) buf_append_char(out, ',');
                write_field(out, &type->fields[i]);
            }
            buf_append_z(out, "]}");
            break;
        case TYPE_ARRAY:
            buf_append_z(out, "{\"type\":\"array\",\"elementType\":");
            schema_write_json(out, type->element);
            write_bool_member(out, "containsNull", type->contains_null);
            buf_append_char(out, '}');
            break;
        case TYPE_MAP:
            buf_append_z(out, "{\"type\":\"map\",\"keyType\":");
            schema_write_json(out, type->key);
            buf_append_z(out, ",\"valueType\":");
            schema_write_json(out, type->element);
            write_bool_member(out, "valueContainsNull", type->contains_null);
            buf_append_char(out, '}');
            break;
        default: write_simple_name(out, type);
    }
}
