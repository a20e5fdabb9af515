/*
 * Spark's data types as immutable values: construction, comparison and look-up.
 *
 * Types without parameters are static objects, so that they can be compared by pointer where speed matters; the others live in
 * the caller's arena. What a type is called in JSON, DDL or messages is not here: schema_json.c and type_text.c.
 */
#include "table/type.h"

#define SIMPLE_TYPE(name, type_id_) const data_type name = {.id = (type_id_)}
SIMPLE_TYPE(type_void, TYPE_VOID);
SIMPLE_TYPE(type_boolean, TYPE_BOOLEAN);
SIMPLE_TYPE(type_byte, TYPE_BYTE);
SIMPLE_TYPE(type_short, TYPE_SHORT);
SIMPLE_TYPE(type_int, TYPE_INT);
SIMPLE_TYPE(type_long, TYPE_LONG);
SIMPLE_TYPE(type_float, TYPE_FLOAT);
SIMPLE_TYPE(type_double, TYPE_DOUBLE);
SIMPLE_TYPE(type_string, TYPE_STRING);
SIMPLE_TYPE(type_binary, TYPE_BINARY);
SIMPLE_TYPE(type_date, TYPE_DATE);
SIMPLE_TYPE(type_timestamp, TYPE_TIMESTAMP);
SIMPLE_TYPE(type_timestamp_ntz, TYPE_TIMESTAMP_NTZ);
SIMPLE_TYPE(type_interval_ym, TYPE_INTERVAL_YM);
SIMPLE_TYPE(type_interval_dt, TYPE_INTERVAL_DT);
SIMPLE_TYPE(type_interval, TYPE_INTERVAL);
SIMPLE_TYPE(type_variant, TYPE_VARIANT);

static data_type *new_type(arena *a, type_id id) {
    data_type *t = ARENA_NEW(a, data_type);
    if (t) t->id = id;
    return t;
}

const data_type *type_decimal(arena *a, int precision, int scale) {
    data_type *t = new_type(a, TYPE_DECIMAL);
    if (!t) return NULL;
    t->precision = (uint8_t)precision;
    t->scale = (uint8_t)scale;
    return t;
}

const data_type *type_text_limited(arena *a, int32_t length, bool is_char) {
    data_type *t = new_type(a, TYPE_STRING);
    if (!t) return NULL;
    t->length = length;
    t->is_char = is_char;
    return t;
}

const data_type *type_array(arena *a, const data_type *element, bool contains_null) {
    data_type *t = new_type(a, TYPE_ARRAY);
    if (!t) return NULL;
    t->element = element;
    t->contains_null = contains_null;
    return t;
}

const data_type *type_map(arena *a, const data_type *key, const data_type *value, bool value_contains_null) {
    data_type *t = new_type(a, TYPE_MAP);
    if (!t) return NULL;
    t->key = key;
    t->element = value;
    t->contains_null = value_contains_null;
    return t;
}

const data_type *type_struct(arena *a, const field *fields, size_t n_fields) {
    data_type *t = new_type(a, TYPE_STRUCT);
    if (!t) return NULL;
    t->fields = fields;
    t->n_fields = n_fields;
    return t;
}

field field_make(str name, const data_type *type, bool nullable) {
    return (field){
        .name = name, .type = type, .nullable = nullable, .metadata = STR("{}"), .physical_name = name, .field_id = -1};
}

/* CHAR and VARCHAR compare equal to STRING: the length is a check on write kept in the metadata, the stored type is string. */
static bool equal(const data_type *a, const data_type *b, bool (*same_name)(str, str)) {
    if (a == b) return true;
    if (!a || !b || a->id != b->id) return false;
    switch (a->id) {
        case TYPE_DECIMAL: return a->precision == b->precision && a->scale == b->scale;
        case TYPE_ARRAY: return equal(a->element, b->element, same_name);
        case TYPE_MAP: return equal(a->key, b->key, same_name) && equal(a->element, b->element, same_name);
        case TYPE_STRUCT:
            if (a->n_fields != b->n_fields) return false;
            for (size_t i = 0; i < a->n_fields; i++)
                if (!same_name(a->fields[i].name, b->fields[i].name) || !equal(a->fields[i].type, b->fields[i].type, same_name))
                    return false;
            return true;
        default: return true;
    }
}

bool type_equal(const data_type *a, const data_type *b) { return equal(a, b, str_eq); }
bool type_equal_fold(const data_type *a, const data_type *b) { return equal(a, b, str_eq_fold); }

int schema_find(const data_type *struct_type, str name) {
    for (size_t i = 0; i < struct_type->n_fields; i++)
        if (str_eq(struct_type->fields[i].name, name)) return (int)i;
    for (size_t i = 0; i < struct_type->n_fields; i++)
        if (str_eq_fold(struct_type->fields[i].name, name)) return (int)i;
    return -1;
}

size_t type_leaf_count(const data_type *type) {
    if (type->id != TYPE_STRUCT) return 1;
    size_t n = 0;
    for (size_t i = 0; i < type->n_fields; i++) n += type_leaf_count(type->fields[i].type);
    return n;
}

static const data_type *logical(const data_type *t, arena *a);

static const data_type *logical_struct(const data_type *t, arena *a) {
    field *fields = ARENA_ARRAY(a, t->n_fields, field);
    if (!fields) return NULL;
    for (size_t i = 0; i < t->n_fields; i++) {
        fields[i] = t->fields[i];
        fields[i].physical_name = fields[i].name;
        fields[i].field_id = -1;
        fields[i].type = logical(t->fields[i].type, a);
        if (!fields[i].type) return NULL;
    }
    return type_struct(a, fields, t->n_fields);
}

static const data_type *logical(const data_type *t, arena *a) {
    switch (t->id) {
        case TYPE_STRUCT: return logical_struct(t, a);
        case TYPE_ARRAY: {
            const data_type *element = logical(t->element, a);
            return element ? type_array(a, element, t->contains_null) : NULL;
        }
        case TYPE_MAP: {
            const data_type *key = logical(t->key, a), *value = key ? logical(t->element, a) : NULL;
            return value ? type_map(a, key, value, t->contains_null) : NULL;
        }
        default: return t;
    }
}

const data_type *schema_use_logical_names(const data_type *schema, arena *a) { return logical(schema, a); }
