/*
 * Column mapping: ids and physical names for the fields that lack them, at every depth. PROTOCOL.md "Column Mapping": ids are unique over the life of the table
 * (delta.columnMapping.maxColumnId only grows), a physical name never changes and is never used again. Ids run depth first, as Spark gives them.
 *
 * A field's own values are kept as they are, so that the same call serves a new table, an upgrade and a table that gained columns (new_table = true there
 * too: a new column must not take the physical name of a dropped one).
 */
#include "base/ident.h"
#include "delta/features.h"

#define ID_KEY            "delta.columnMapping.id"
#define PHYSICAL_NAME_KEY "delta.columnMapping.physicalName"

typedef struct assignment {
    arena *arena;
    int64_t max_id;
    bool new_table;
} assignment;

/* {a:1} + key → {a:1,"key":value}; the text is an object by the contract of field.metadata. */
static str metadata_with(str metadata, const char *key, str json_value, arena *mem) {
    str body = str_trim(metadata);
    if (body.len <= 2) return arena_printf(mem, "{\"%s\":%.*s}", key, STR_ARG(json_value));
    body = str_trim(str_slice(body, 0, body.len - 1));
    bool empty = body.len == 1; /* "{ }" */
    return arena_printf(mem, "%.*s%s\"%s\":%.*s}", STR_ARG(body), empty ? "" : ",", key, STR_ARG(json_value));
}

static str json_string(str s, arena *mem) {
    buf b;
    buf_init(&b, s.len * 6 + 16);
    json_write_str(&b, s);
    return buf_take(&b, mem);
}

static silt_status assign_id(assignment *a, field *f, silt_error *err) {
    const json_node *node = field_metadata_get(f, ID_KEY, a->arena);
    int64_t id;
    if (node && json_node_i64(node, &id) && id >= 0 && id <= INT32_MAX) {
        f->field_id = (int32_t)id;
        return SILT_OK;
    }
    if (a->max_id >= INT32_MAX) return err_DELTA_INVALID_SCHEMA(err, "no column id is left");
    f->field_id = (int32_t)++a->max_id;
    str val = arena_printf(a->arena, "%d", f->field_id);
    f->metadata = metadata_with(f->metadata, ID_KEY, val, a->arena);
    return str_is_null(f->metadata) ? error_no_memory(err) : SILT_OK;
}

static silt_status assign_physical_name(assignment *a, field *f, silt_error *err) {
    const json_node *node = field_metadata_get(f, PHYSICAL_NAME_KEY, a->arena);
    if (node && node->type == JSON_STRING && node->text.len) {
        f->physical_name = node->text;
        return SILT_OK;
    }
    char id[37];
    uuid_generate(id);
    f->physical_name = a->new_table ? arena_printf(a->arena, "col-%s", id) : f->name;
    str text = json_string(f->physical_name, a->arena);
    if (str_is_null(text)) return error_no_memory(err);
    f->metadata = metadata_with(f->metadata, PHYSICAL_NAME_KEY, text, a->arena);
    return str_is_null(f->metadata) ? error_no_memory(err) : SILT_OK;
}

static silt_status assign_type(assignment *a, const data_type *type, const data_type **out, silt_error *err);

static silt_status assign_struct(assignment *a, const data_type *type, const data_type **out, silt_error *err) {
    field *fields = ARENA_ARRAY(a->arena, type->n_fields + 1, field);
    if (!fields) return error_no_memory(err);
    for (size_t i = 0; i < type->n_fields; i++) {
        fields[i] = type->fields[i];
        TRY(assign_id(a, &fields[i], err));
        TRY(assign_physical_name(a, &fields[i], err));
        TRY(assign_type(a, fields[i].type, &fields[i].type, err));
    }
    *out = type_struct(a->arena, fields, type->n_fields);
    return *out ? SILT_OK : error_no_memory(err);
}

static silt_status assign_type(assignment *a, const data_type *type, const data_type **out, silt_error *err) {
    if (type->id == TYPE_STRUCT) return assign_struct(a, type, out, err);
    *out = type;
    if (type->id != TYPE_ARRAY && type->id != TYPE_MAP) return SILT_OK;
    data_type *copy = ARENA_NEW(a->arena, data_type);
    if (!copy) return error_no_memory(err);
    *copy = *type;
    if (type->id == TYPE_MAP) TRY(assign_type(a, type->key, &copy->key, err));
    TRY(assign_type(a, type->element, &copy->element, err));
    *out = copy;
    return SILT_OK;
}

/* Ids that are there already (CREATE TABLE LIKE, a clone) bound the new ones from below. */
static void raise_to_existing_ids(assignment *a, const data_type *type) {
    if (type->id == TYPE_MAP) raise_to_existing_ids(a, type->key);
    if (type->id == TYPE_MAP || type->id == TYPE_ARRAY) raise_to_existing_ids(a, type->element);
    if (type->id != TYPE_STRUCT) return;
    for (size_t i = 0; i < type->n_fields; i++) {
        const json_node *node = field_metadata_get(&type->fields[i], ID_KEY, a->arena);
        int64_t id;
        if (node && json_node_i64(node, &id) && id > a->max_id && id <= INT32_MAX) a->max_id = id;
        raise_to_existing_ids(a, type->fields[i].type);
    }
}

silt_status delta_assign_column_mapping(const data_type *schema, int64_t max_id, bool new_table, arena *mem, const data_type **out_schema,
                                        int64_t *out_max_id, silt_error *err) {
    assignment a = {mem, max_id > 0 ? max_id : 0, new_table};
    raise_to_existing_ids(&a, schema);
    TRY(assign_type(&a, schema, out_schema, err));
    *out_max_id = a.max_id;
    return SILT_OK;
}
