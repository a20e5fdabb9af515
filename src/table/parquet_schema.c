/*
 * Parquet types → Spark types (what Spark's ParquetToSparkSchemaConverter does): lists and maps also in the shapes of old writers, unsigned integers one size up,
 * times of day and nanoseconds refused by name.
 */
#include "table/parquet_schema.h"

typedef struct inference {
    const parquet_footer *f;
    const parquet_rules *rules;
    arena *a;
    silt_error *err;
} inference;

static silt_status convert(inference *in, const parquet_element *e, const data_type **out);

static const parquet_element *first_child(const inference *in, const parquet_element *e) {
    return e->n_children ? in->f->elements + (e - in->f->elements) + 1 : NULL;
}

static const parquet_element *sibling(const inference *in, const parquet_element *e) { return in->f->elements + e->next; }

/* ---- columns ---- */

static const char *physical_name(const parquet_element *e) {
    static const char *const names[] = {"BOOLEAN", "INT32", "INT64", "INT96", "FLOAT", "DOUBLE", "BINARY", "FIXED_LEN_BYTE_ARRAY", "a group"};
    return names[e->physical];
}

static const char *meaning_name(const parquet_element *e) {
    static const char *const names[] = {"",         "STRING",  "ENUM",      "JSON",    "BSON",          "UUID",    "DECIMAL",  "DATE",      "TIME",   "TIMESTAMP", "INTEGER",
                                        "INTERVAL", "FLOAT16", "UNKNOWN", "LIST",    "MAP",       "MAP_KEY_VALUE", "VARIANT", "GEOMETRY", "GEOGRAPHY", "an unknown annotation"};
    return names[e->meaning];
}

static str type_text(const inference *in, const parquet_element *e) {
    static const char *const units[] = {"MILLIS", "MICROS", "NANOS"};
    if (e->meaning == PARQUET_PLAIN) return str_of(physical_name(e));
    if (e->meaning == PARQUET_TIME || e->meaning == PARQUET_TIMESTAMP)
        return arena_printf(in->a, "%s (%s(%s,%s))", physical_name(e), meaning_name(e), units[e->unit], e->is_utc ? "true" : "false");
    if (e->meaning == PARQUET_DECIMAL) return arena_printf(in->a, "%s (DECIMAL(%d,%d))", physical_name(e), e->precision, e->scale);
    if (e->meaning == PARQUET_INTEGER) return arena_printf(in->a, "%s (INTEGER(%d,%s))", physical_name(e), e->bits, e->is_signed ? "true" : "false");
    return arena_printf(in->a, "%s (%s)", physical_name(e), meaning_name(e));
}

static silt_status illegal(inference *in, const parquet_element *e) {
    str type = type_text(in, e);
    return err_PARQUET_TYPE_ILLEGAL(in->err, e->name, type);
}

static silt_status not_supported(inference *in, const parquet_element *e) {
    str type = type_text(in, e);
    return err_PARQUET_TYPE_NOT_SUPPORTED(in->err, e->name, type);
}

/* The most digits that every value of so many bytes can hold. */
static int digits_of_bytes(int32_t bytes) {
    static const uint8_t digits[] = {0, 2, 4, 6, 9, 11, 14, 16, 18, 21, 23, 26, 28, 31, 33, 35, 38};
    if (bytes < 1) return 0;
    return bytes < (int32_t)ARRAY_LEN(digits) ? digits[bytes] : 38;
}

static silt_status decimal(inference *in, const parquet_element *e, int most, const data_type **out) {
    if (e->precision < 1 || e->precision > most || e->scale < 0 || e->scale > e->precision) return illegal(in, e);
    *out = type_decimal(in->a, e->precision, e->scale);
    return *out ? SILT_OK : error_no_memory(in->err);
}

static silt_status int32_type(inference *in, const parquet_element *e, const data_type **out) {
    switch (e->meaning) {
        case PARQUET_PLAIN: *out = &type_int; return SILT_OK;
        case PARQUET_DATE: *out = &type_date; return SILT_OK;
        case PARQUET_DECIMAL: return decimal(in, e, 9, out);
        case PARQUET_INTEGER:
            if (e->bits == 8) *out = e->is_signed ? &type_byte : &type_short;
            if (e->bits == 16) *out = e->is_signed ? &type_short : &type_int;
            if (e->bits == 32) *out = e->is_signed ? &type_int : &type_long;
            return *out ? SILT_OK : illegal(in, e);
        default: return illegal(in, e);
    }
}

static silt_status int64_type(inference *in, const parquet_element *e, const data_type **out) {
    switch (e->meaning) {
        case PARQUET_PLAIN: *out = &type_long; return SILT_OK;
        case PARQUET_DECIMAL: return decimal(in, e, 18, out);
        case PARQUET_TIME: return not_supported(in, e);
        case PARQUET_TIMESTAMP:
            if (e->unit == PARQUET_NANOS) return illegal(in, e);
            *out = e->is_utc || !in->rules->infer_ntz ? &type_timestamp : &type_timestamp_ntz;
            return SILT_OK;
        case PARQUET_INTEGER:
            if (e->bits != 64) return illegal(in, e);
            *out = e->is_signed ? &type_long : type_decimal(in->a, 20, 0);
            return *out ? SILT_OK : error_no_memory(in->err);
        default: return illegal(in, e);
    }
}

static silt_status bytes_type(inference *in, const parquet_element *e, const data_type **out) {
    switch (e->meaning) {
        case PARQUET_STRING:
        case PARQUET_ENUM:
        case PARQUET_JSON: *out = &type_string; return SILT_OK;
        case PARQUET_BSON: *out = &type_binary; return SILT_OK;
        case PARQUET_PLAIN: *out = in->rules->binary_as_string ? &type_string : &type_binary; return SILT_OK;
        case PARQUET_DECIMAL: return decimal(in, e, 38, out);
        default: return illegal(in, e);
    }
}

static silt_status fixed_type(inference *in, const parquet_element *e, const data_type **out) {
    switch (e->meaning) {
        case PARQUET_PLAIN: *out = &type_binary; return SILT_OK;
        case PARQUET_DECIMAL: return decimal(in, e, digits_of_bytes(e->length), out);
        case PARQUET_INTERVAL: return not_supported(in, e);
        default: return illegal(in, e);
    }
}

static silt_status column_type(inference *in, const parquet_element *e, const data_type **out) {
    *out = NULL;
    switch (e->physical) {
        case PARQUET_BOOLEAN: *out = &type_boolean; return SILT_OK;
        case PARQUET_FLOAT: *out = &type_float; return SILT_OK;
        case PARQUET_DOUBLE: *out = &type_double; return SILT_OK;
        case PARQUET_INT32: return int32_type(in, e, out);
        case PARQUET_INT64: return int64_type(in, e, out);
        case PARQUET_INT96: *out = &type_timestamp; return in->rules->int96_as_timestamp ? SILT_OK : illegal(in, e);
        case PARQUET_BYTES: return bytes_type(in, e, out);
        case PARQUET_FIXED: return fixed_type(in, e, out);
        case PARQUET_GROUP: break;
    }
    return illegal(in, e);
}

/* ---- groups ---- */

static silt_status list_type(inference *in, const parquet_element *e, const data_type **out) {
    const parquet_element *repeated = first_child(in, e);
    const data_type *element;
    if (e->n_children != 1 || repeated->repetition != PARQUET_REPEATED) return illegal(in, e);
    const parquet_element *inner = first_child(in, repeated);
    bool is_tuple = str_ends_with(repeated->name, STR("_tuple")) && repeated->name.len == e->name.len + 6 && str_starts_with(repeated->name, e->name);
    bool two_levels = !inner || repeated->n_children > 1 || inner->repetition == PARQUET_REPEATED || str_eqz(repeated->name, "array") || is_tuple;
    TRY(convert(in, two_levels ? repeated : inner, &element));
    *out = type_array(in->a, element, true);
    return *out ? SILT_OK : error_no_memory(in->err);
}

static silt_status map_type(inference *in, const parquet_element *e, const data_type **out) {
    const parquet_element *pair = first_child(in, e);
    const data_type *key, *val;
    if (e->n_children != 1 || pair->physical != PARQUET_GROUP || pair->repetition != PARQUET_REPEATED || pair->n_children != 2) return illegal(in, e);
    const parquet_element *first = first_child(in, pair);
    TRY(convert(in, first, &key));
    TRY(convert(in, sibling(in, first), &val));
    *out = type_map(in->a, key, val, true);
    return *out ? SILT_OK : error_no_memory(in->err);
}

static silt_status struct_type(inference *in, const parquet_element *e, const data_type **out) {
    size_t n = (size_t)e->n_children;
    field *fields = ARENA_ARRAY(in->a, n + 1, field);
    const parquet_element *child = first_child(in, e);
    if (!fields) return error_no_memory(in->err);
    for (size_t i = 0; i < n; i++, child = sibling(in, child)) {
        const data_type *type;
        str name = arena_str(in->a, child->name);
        if (str_is_null(name)) return error_no_memory(in->err);
        TRY(convert(in, child, &type));
        if (child->repetition == PARQUET_REPEATED) type = type_array(in->a, type, true); /* a list without a mark */
        if (!type) return error_no_memory(in->err);
        fields[i] = field_make(name, type, true);
    }
    *out = type_struct(in->a, fields, n);
    return *out ? SILT_OK : error_no_memory(in->err);
}

static silt_status convert(inference *in, const parquet_element *e, const data_type **out) {
    if (e->physical != PARQUET_GROUP) return column_type(in, e, out);
    switch (e->meaning) {
        case PARQUET_PLAIN: return struct_type(in, e, out);
        case PARQUET_LIST: return list_type(in, e, out);
        case PARQUET_MAP:
        case PARQUET_MAP_KEY_VALUE: return map_type(in, e, out);
        case PARQUET_VARIANT: return not_supported(in, e);
        default: return illegal(in, e);
    }
}

/* ---- Spark's own schema ---- */

static silt_status keep_comment(inference *in, field *f) {
    const json_node *comment = field_metadata_get(f, "comment", in->a);
    str text = STR("{}");
    if (comment && comment->type == JSON_STRING) {
        buf json;
        buf_init(&json, BUF_MAX_DEFAULT);
        json_write_str(&json, comment->text);
        text = buf_ok(&json) ? field_metadata_set(STR("{}"), "comment", buf_str(&json), in->a) : STR_NULL;
        buf_dispose(&json);
    }
    f->metadata = text;
    return str_is_null(text) ? error_no_memory(in->err) : SILT_OK;
}

/* As it survives Spark's way through DDL text: nullable, comments only. */
static silt_status plain_type(inference *in, const data_type *type, const data_type **out) {
    *out = type;
    if (!type_is_nested(type) && type->length == 0) return SILT_OK;
    data_type *copy = ARENA_NEW(in->a, data_type);
    field *fields = ARENA_ARRAY(in->a, type->n_fields + 1, field);
    if (!copy || !fields) return error_no_memory(in->err);
    *copy = *type;
    copy->length = 0;
    copy->is_char = false;
    copy->contains_null = true;
    if (type->key) TRY(plain_type(in, type->key, &copy->key));
    if (type->element) TRY(plain_type(in, type->element, &copy->element));
    for (size_t i = 0; i < type->n_fields; i++) {
        fields[i] = type->fields[i];
        fields[i].nullable = true;
        fields[i].physical_name = fields[i].name;
        fields[i].field_id = -1;
        TRY(keep_comment(in, &fields[i]));
        TRY(plain_type(in, fields[i].type, &fields[i].type));
    }
    if (type->id == TYPE_STRUCT) copy->fields = fields;
    *out = copy;
    return SILT_OK;
}

/* Does the file have a column for every field, nested ones too? A schema that somebody else's rewriting left behind is not believed. */
static bool is_of_file(const inference *in, const parquet_element *parent, const data_type *type) {
    if (type->id != TYPE_STRUCT) return true;
    for (size_t i = 0; i < type->n_fields; i++) {
        const parquet_element *child = parquet_find_child(in->f, parent, type->fields[i].name);
        if (!child || ((child->physical != PARQUET_GROUP) == type_is_nested(type->fields[i].type))) return false;
        if (!is_of_file(in, child, type->fields[i].type)) return false;
    }
    return (size_t)parent->n_children == type->n_fields;
}

static bool spark_type(inference *in, const data_type **out) {
    const data_type *found;
    if (str_is_null(in->f->spark_schema) || schema_parse_json(in->f->spark_schema, in->a, &found, NULL) != SILT_OK) return false;
    if (found->id != TYPE_STRUCT || !is_of_file(in, &in->f->elements[0], found)) return false;
    *out = found;
    return true;
}

silt_status parquet_schema_type(const parquet_footer *f, const parquet_rules *rules, arena *a, const data_type **out, silt_error *err) {
    inference in = {.f = f, .rules = rules, .a = a, .err = err};
    const data_type *found;
    if (spark_type(&in, &found)) return plain_type(&in, found, out);
    return struct_type(&in, &f->elements[0], out);
}

const parquet_element *parquet_find_child(const parquet_footer *f, const parquet_element *parent, str name) {
    if (!parent) parent = &f->elements[0];
    const parquet_element *child = parent + 1, *folded = NULL;
    size_t n_folded = 0;
    for (int32_t i = 0; i < parent->n_children; i++, child = f->elements + child->next) {
        if (str_eq(child->name, name)) return child;
        if (str_eq_fold(child->name, name)) folded = child, n_folded++;
    }
    return n_folded == 1 ? folded : NULL;
}
