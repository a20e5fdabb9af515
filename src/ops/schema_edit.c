/* Types along the path are made anew, everything beside it is shared with the old schema. */
#include "ops/schema_edit.h"

/* ---- places ---- */

static bool step_into(const data_type *type, str name, schema_step *out) {
    *out = (schema_step){.kind = STEP_FIELD};
    if (type->id == TYPE_STRUCT) {
        int at = schema_find(type, name);
        out->field = at < 0 ? 0 : (size_t)at;
        return at >= 0;
    }
    if (type->id == TYPE_ARRAY && str_eq_ascii_fold(name, STR("element"))) out->kind = STEP_ELEMENT;
    if (type->id == TYPE_MAP && str_eq_ascii_fold(name, STR("key"))) out->kind = STEP_KEY;
    if (type->id == TYPE_MAP && str_eq_ascii_fold(name, STR("value"))) out->kind = STEP_VALUE;
    return out->kind != STEP_FIELD;
}

static const data_type *take_step(const data_type *type, const schema_step *s) {
    return s->kind == STEP_FIELD ? type->fields[s->field].type : s->kind == STEP_KEY ? type->key : type->element;
}

path_outcome schema_path_find(const data_type *schema, name_parts names, schema_path *out) {
    out->depth = 0;
    for (size_t i = 0; i < names.count; i++) {
        if (i >= SCHEMA_PATH_MAX) return PATH_ABSENT;
        if (!step_into(schema, names.parts[i], &out->steps[i])) return schema->id == TYPE_STRUCT ? PATH_ABSENT : PATH_NOT_A_STRUCT;
        schema = take_step(schema, &out->steps[i]);
        out->depth++;
    }
    return PATH_FOUND;
}

const data_type *schema_type_at(const data_type *schema, const schema_step *steps, size_t depth) {
    for (size_t i = 0; i < depth; i++) schema = take_step(schema, &steps[i]);
    return schema;
}

const field *schema_nearest_field(const data_type *schema, const schema_path *path, size_t *out_depth) {
    const field *nearest = NULL;
    for (size_t i = 0; i < path->depth; i++) {
        if (path->steps[i].kind == STEP_FIELD) {
            nearest = &schema->fields[path->steps[i].field];
            if (out_depth) *out_depth = i + 1;
        }
        schema = take_step(schema, &path->steps[i]);
    }
    return nearest;
}

str schema_path_text(const data_type *schema, const schema_step *steps, size_t depth, arena *a) {
    static const char *const words[] = {[STEP_ELEMENT] = "element", [STEP_KEY] = "key", [STEP_VALUE] = "value"};
    str text = STR("");
    for (size_t i = 0; i < depth && text.ptr; i++) {
        str name = steps[i].kind == STEP_FIELD ? schema->fields[steps[i].field].name : str_of(words[steps[i].kind]);
        text = i ? arena_printf(a, "%.*s.%.*s", STR_ARG(text), STR_ARG(name)) : name;
        schema = take_step(schema, &steps[i]);
    }
    return text;
}

/* ---- structs ---- */

const data_type *struct_insert(const data_type *type, size_t at, const field *f, arena *a) {
    field *fields = ARENA_ARRAY(a, type->n_fields + 1, field);
    if (!fields) return NULL;
    if (at) memcpy(fields, type->fields, at * sizeof *fields);
    fields[at] = *f;
    if (at < type->n_fields) memcpy(fields + at + 1, type->fields + at, (type->n_fields - at) * sizeof *fields);
    return type_struct(a, fields, type->n_fields + 1);
}

const data_type *struct_remove(const data_type *type, size_t at, arena *a) {
    field *fields = ARENA_ARRAY(a, type->n_fields, field);
    if (!fields) return NULL;
    if (at) memcpy(fields, type->fields, at * sizeof *fields);
    size_t after = type->n_fields - at - 1;
    if (after) memcpy(fields + at, type->fields + at + 1, after * sizeof *fields);
    return type_struct(a, fields, type->n_fields - 1);
}

const data_type *struct_move(const data_type *type, size_t from, size_t to, arena *a) {
    const data_type *without = struct_remove(type, from, a);
    return without ? struct_insert(without, to, &type->fields[from], a) : NULL;
}

/* ---- along a path ---- */

static const data_type *with_field(const data_type *type, size_t at, const field *f, arena *a) {
    field *fields = ARENA_ARRAY(a, type->n_fields, field);
    if (!fields) return NULL;
    memcpy(fields, type->fields, type->n_fields * sizeof *fields);
    fields[at] = *f;
    return type_struct(a, fields, type->n_fields);
}

const data_type *schema_replace_type(const data_type *schema, const schema_step *steps, size_t depth, const data_type *type, arena *a) {
    if (depth == 0) return type;
    const data_type *below = schema_replace_type(take_step(schema, steps), steps + 1, depth - 1, type, a);
    if (!below) return NULL;
    if (steps->kind == STEP_FIELD) {
        field f = schema->fields[steps->field];
        f.type = below;
        return with_field(schema, steps->field, &f, a);
    }
    data_type *copy = ARENA_NEW(a, data_type);
    if (!copy) return NULL;
    *copy = *schema;
    if (steps->kind == STEP_KEY) copy->key = below;
    else copy->element = below;
    return copy;
}

const data_type *schema_replace_field(const data_type *schema, const schema_step *steps, size_t depth, const field *f, arena *a) {
    const data_type *parent = with_field(schema_type_at(schema, steps, depth - 1), steps[depth - 1].field, f, a);
    return parent ? schema_replace_type(schema, steps, depth - 1, parent, a) : NULL;
}

/* ---- metadata ---- */

static bool strip_field(field *f, const char *const *keys, size_t n_keys, bool logical_names, arena *a) {
    for (size_t i = 0; f->metadata.len > 2 && i < n_keys; i++) {
        if (str_find(f->metadata, str_of(keys[i])) == SIZE_MAX) continue;
        f->metadata = field_metadata_set(f->metadata, keys[i], STR_NULL, a);
        if (str_is_null(f->metadata)) return false;
    }
    if (logical_names) {
        f->physical_name = f->name;
        f->field_id = -1;
    }
    return true;
}

const data_type *schema_strip(const data_type *type, const char *const *keys, size_t n_keys, bool logical_names, arena *a) {
    if (!type_is_nested(type)) return type;
    data_type *copy = ARENA_NEW(a, data_type);
    field *fields = ARENA_ARRAY(a, type->n_fields + 1, field);
    if (!copy || !fields) return NULL;
    *copy = *type;
    if (type->key && !(copy->key = schema_strip(type->key, keys, n_keys, logical_names, a))) return NULL;
    if (type->element && !(copy->element = schema_strip(type->element, keys, n_keys, logical_names, a))) return NULL;
    for (size_t i = 0; i < type->n_fields; i++) {
        fields[i] = type->fields[i];
        if (!strip_field(&fields[i], keys, n_keys, logical_names, a)) return NULL;
        fields[i].type = schema_strip(type->fields[i].type, keys, n_keys, logical_names, a);
        if (!fields[i].type) return NULL;
    }
    if (type->id == TYPE_STRUCT) copy->fields = fields;
    return copy;
}
