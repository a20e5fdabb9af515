/* What a table's schema may be: names, duplicates, types, partition columns and defaults. */
#include "delta/path_set.h"
#include "delta/properties.h"
#include "ops/internal.h"

static bool has_invalid_character(str name) {
    for (size_t i = 0; i < name.len; i++)
        if (strchr(" ,;{}()\n\t=", name.ptr[i])) return true;
    return false;
}

/** While walking a schema. */
typedef struct check {
    const op *o;
    bool mapped, allow_unenforced;
    bool nested;        /**< below the top level */
    bool in_collection; /**< below an array or a map: NOT NULL cannot be enforced there */
} check;

static silt_status check_type(const check *c, const field *f, const data_type *type);

static silt_status check_field(const check *c, const field *f) {
    if (!c->mapped && has_invalid_character(f->name)) return err_DELTA_INVALID_CHARACTERS_IN_COLUMN_NAMES(c->o->err, f->name);
    if (c->in_collection && !f->nullable && !c->allow_unenforced) return err_DELTA_NESTED_NOT_NULL_CONSTRAINT(c->o->err, f->name);
    return check_type(c, f, f->type);
}

static silt_status check_struct(const check *c, const data_type *type) {
    path_set seen = {NULL, 0, 0};
    for (size_t i = 0; i < type->n_fields; i++) {
        const field *f = &type->fields[i];
        str lower = arena_str_lower(c->o->a, f->name);
        bool added;
        if (str_is_null(lower) || !path_set_add(&seen, lower, c->o->a, &added)) return error_no_memory(c->o->err);
        if (!added)
            return c->nested ? err_DELTA_DUPLICATE_COLUMNS_FOUND(c->o->err, f->name)
                             : err_COLUMN_ALREADY_EXISTS(c->o->err, f->name);
        TRY(check_field(c, f));
    }
    return SILT_OK;
}

static silt_status refuse_type(const check *c, const field *f, const data_type *type) {
    return err_DELTA_UNSUPPORTED_DATA_TYPES(
        c->o->err, arena_printf(c->o->a, "%.*s %.*s", STR_ARG(f->name), STR_ARG(type_sql(type, c->o->a))));
}

static silt_status check_type(const check *c, const field *f, const data_type *type) {
    check below = *c;
    below.nested = true; /* for what is inside this type */
    switch (type->id) {
        case TYPE_STRUCT: return check_struct(&below, type);
        case TYPE_MAP:
            below.in_collection = true;
            TRY(check_type(&below, f, type->key));
            return check_type(&below, f, type->element);
        case TYPE_ARRAY: below.in_collection = true; return check_type(&below, f, type->element);
        case TYPE_VOID:
            if (!c->nested) return SILT_OK; /* kept in the schema, never in a file */
            return refuse_type(c, f, type);
        case TYPE_INTERVAL_YM:
        case TYPE_INTERVAL_DT:
        case TYPE_INTERVAL: return refuse_type(c, f, type);
        default: return SILT_OK;
    }
}

silt_status ops_schema_check(const op *o, const data_type *schema, bool mapped) {
    check c = {.o = o, .mapped = mapped};
    c.allow_unenforced = ops_setting_bool(o, "spark.databricks.delta.constraints.allowUnenforcedNotNull.enabled", false);
    return check_struct(&c, schema);
}

silt_status ops_schema_check_change_feed(const op *o, const data_type *schema, const str_map *configuration) {
    static const char *const reserved[] = {"_change_type", "_commit_version", "_commit_timestamp"};
    if (!delta_config_bool(configuration, "delta.enableChangeDataFeed")) return SILT_OK;
    for (size_t i = 0; i < ARRAY_LEN(reserved); i++) {
        int at = schema_find(schema, str_of(reserved[i]));
        if (at >= 0) return err_DELTA_TABLE_ALREADY_CONTAINS_CDC_COLUMNS(o->err, schema->fields[at].name);
    }
    return SILT_OK;
}

/* ---- partitioning ---- */

static bool may_partition(const data_type *type) {
    return !type_is_nested(type) && type->id != TYPE_VARIANT && type->id != TYPE_VOID;
}

silt_status ops_schema_check_partitioning(const op *o, const data_type *schema, const str *columns, size_t n, const str **out) {
    str *names = ARENA_ARRAY(o->a, n + 1, str);
    if (!names) return error_no_memory(o->err);
    for (size_t i = 0; i < n; i++) {
        int at = schema_find(schema, columns[i]);
        if (at < 0) return err_DELTA_PARTITION_COLUMN_NOT_FOUND(o->err, columns[i]);
        const field *f = &schema->fields[at];
        names[i] = f->name;
        for (size_t k = 0; k < i; k++)
            if (str_eq(names[k], f->name)) return err_COLUMN_ALREADY_EXISTS(o->err, f->name);
        if (!may_partition(f->type)) return err_INVALID_PARTITION_COLUMN_DATA_TYPE(o->err, type_sql(f->type, o->a));
    }
    if (n > 0 && n == schema->n_fields) return err_ALL_PARTITION_COLUMNS_NOT_ALLOWED(o->err);
    *out = names;
    return SILT_OK;
}

/* ---- column features ---- */

silt_status ops_schema_check_defaults(const op *o, const data_type *schema, const delta_protocol *protocol) {
    for (size_t i = 0; i < schema->n_fields; i++) {
        const field *f = &schema->fields[i];
        if (!field_metadata_get(f, "CURRENT_DEFAULT", o->a)) continue;
        if (!delta_protocol_has(protocol, "allowColumnDefaults"))
            return err_WRONG_COLUMN_DEFAULTS_FOR_DELTA_FEATURE_NOT_ENABLED(o->err, f->name);
        TRY(ops_default_validate(o, f));
    }
    return SILT_OK;
}

/* ---- nullability ---- */

static silt_status nullable_struct(const op *o, const data_type *type, const data_type **out) {
    field *fields = ARENA_ARRAY(o->a, type->n_fields + 1, field);
    if (!fields) return error_no_memory(o->err);
    for (size_t i = 0; i < type->n_fields; i++) {
        const data_type *inner;
        TRY(ops_schema_as_nullable(o, type->fields[i].type, &inner));
        fields[i] = field_make(type->fields[i].name, inner, true);
    }
    *out = type_struct(o->a, fields, type->n_fields);
    return *out ? SILT_OK : error_no_memory(o->err);
}

silt_status ops_schema_as_nullable(const op *o, const data_type *type, const data_type **out) {
    const data_type *key, *element;
    switch (type->id) {
        case TYPE_STRUCT: return nullable_struct(o, type, out);
        case TYPE_ARRAY:
            TRY(ops_schema_as_nullable(o, type->element, &element));
            *out = type_array(o->a, element, true);
            break;
        case TYPE_MAP:
            TRY(ops_schema_as_nullable(o, type->key, &key));
            TRY(ops_schema_as_nullable(o, type->element, &element));
            *out = type_map(o->a, key, element, true);
            break;
        case TYPE_STRING: *out = &type_string; break;
        default: *out = type; break;
    }
    return *out ? SILT_OK : error_no_memory(o->err);
}
