/*
 * Schema enforcement and evolution of one column: the table's type against the type of the values that are written to it.
 *
 * Without evolution the table's type stays and values are cast to it; only what a cast cannot bridge is refused here: structs with more or fewer fields,
 * and, for a DataFrame (`strict_types`), types whose values would not survive exactly. With evolution (mergeSchema) new struct fields are appended at the end of
 * their struct, nullable; with type widening enabled too, a column takes the source's wider type where the protocol allows the change
 * (PROTOCOL.md "Type Widening"), which is recorded in the metadata of the nearest struct field.
 */
#include "ops/internal.h"

typedef struct merge {
    const op *o;
    const merge_rules *rules;
    const field *nearest; /**< the struct field whose metadata records type changes */
    str metadata;         /**< of it, with the changes so far */
    str path;             /**< from it: "element", "value.key", … */
} merge;

static silt_status merge_type(merge *m, const data_type *table, const data_type *source, const data_type **out);

/* ---- widening ---- */

static int decimal_digits_of(type_id id) { return id == TYPE_LONG ? 20 : 10; }

/* PROTOCOL.md "Type Widening", supported changes. */
bool ops_schema_is_widening(const data_type *from, const data_type *to) {
    bool narrow_int = from->id >= TYPE_BYTE && from->id <= TYPE_INT;
    switch (to->id) {
        case TYPE_SHORT:
        case TYPE_INT:
        case TYPE_LONG: return type_is_integral(from) && from->id < to->id;
        case TYPE_DOUBLE: return narrow_int || from->id == TYPE_FLOAT;
        case TYPE_DECIMAL:
            if (type_is_integral(from)) return to->precision - to->scale >= decimal_digits_of(from->id);
            return from->id == TYPE_DECIMAL && to->scale >= from->scale &&
                   to->precision - to->scale >= from->precision - from->scale &&
                   (to->scale != from->scale || to->precision != from->precision);
        case TYPE_TIMESTAMP_NTZ: return from->id == TYPE_DATE;
        default: return false;
    }
}

bool ops_schema_is_lossless(const data_type *from, const data_type *to) {
    if (from->id == TYPE_VOID || type_equal(from, to)) return true;
    if (to->id == TYPE_DECIMAL && type_is_integral(from)) {
        static const int digits[] = {3, 5, 10, 19};
        return to->precision - to->scale >= digits[from->id - TYPE_BYTE];
    }
    return ops_schema_is_widening(from, to) && to->id != TYPE_TIMESTAMP_NTZ;
}

/* The JSON name of a primitive type, in its quotes. */
static silt_status json_type_text(const op *o, const data_type *type, str *out) {
    buf b;
    buf_init(&b, BUF_MAX_DEFAULT);
    schema_write_json(&b, type);
    *out = buf_take(&b, o->a);
    return str_is_null(*out) ? error_no_memory(o->err) : SILT_OK;
}

silt_status ops_schema_record_widening(const op *o, str metadata, str path, const data_type *from, const data_type *to, str *out) {
    field f = {.metadata = metadata};
    const json_node *old = field_metadata_get(&f, "delta.typeChanges", o->a);
    str to_text, from_text, list;
    TRY(json_type_text(o, to, &to_text));
    TRY(json_type_text(o, from, &from_text));
    str place = path.len ? arena_printf(o->a, ",\"fieldPath\":\"%.*s\"", STR_ARG(path)) : STR("");
    str before = old && old->type == JSON_ARRAY && old->count
                     ? arena_printf(o->a, "%.*s,", STR_ARG(str_slice(old->text, 1, old->text.len - 1)))
                     : STR("");
    if (str_is_null(place) || str_is_null(before)) return error_no_memory(o->err);
    list = arena_printf(o->a, "[%.*s{\"toType\":%.*s,\"fromType\":%.*s%.*s}]", STR_ARG(before), STR_ARG(to_text),
                        STR_ARG(from_text), STR_ARG(place));
    if (str_is_null(list)) return error_no_memory(o->err);
    *out = field_metadata_set(metadata.len ? metadata : STR("{}"), "delta.typeChanges", list, o->a);
    return str_is_null(*out) ? error_no_memory(o->err) : SILT_OK;
}

static silt_status record_change(merge *m, const data_type *from, const data_type *to) {
    return ops_schema_record_widening(m->o, m->metadata, m->path, from, to, &m->metadata);
}

/* ---- structs ---- */

static silt_status merge_sub_field(const merge *m, const field *f, const data_type *source, field *out) {
    return ops_schema_merge_field(m->o, m->rules, f, source, out);
}

static silt_status check_more_fields(const merge *m, const data_type *table, const data_type *source) {
    if (m->rules->evolve) return SILT_OK;
    str text = arena_printf(m->o->a, "the struct %.*s has fields that the table's %.*s lacks", STR_ARG(type_sql(source, m->o->a)),
                            STR_ARG(type_sql(table, m->o->a)));
    return err_DELTA_METADATA_MISMATCH(m->o->err, text);
}

static silt_status append_field(const merge *m, field *fields, size_t *n, const field *source) {
    const data_type *type;
    if (source->type->id == TYPE_VOID) return SILT_OK;
    TRY(ops_schema_as_nullable(m->o, source->type, &type));
    fields[(*n)++] = field_make(source->name, type, true);
    return SILT_OK;
}

static silt_status merge_struct(const merge *m, const data_type *table, const data_type *source, const data_type **out) {
    const op *o = m->o;
    field *fields = ARENA_ARRAY(o->a, table->n_fields + source->n_fields + 1, field);
    if (!fields) return error_no_memory(o->err);
    size_t n = table->n_fields;
    bool changed = false;
    memcpy(fields, table->fields, n * sizeof *fields);
    if (!m->rules->fields_by_name && source->n_fields < n)
        return err_DELTA_INSERT_NESTED_ARITY_MISMATCH(o->err, m->rules->table_name, m->nearest->name, (int64_t)n,
                                                      (int64_t)source->n_fields);
    for (size_t i = 0; i < source->n_fields; i++) {
        int at = m->rules->fields_by_name ? schema_find(table, source->fields[i].name) : i < table->n_fields ? (int)i : -1;
        if (at < 0) {
            TRY(check_more_fields(m, table, source));
            TRY(append_field(m, fields, &n, &source->fields[i]));
            continue;
        }
        TRY(merge_sub_field(m, &table->fields[at], source->fields[i].type, &fields[at]));
        changed |= fields[at].type != table->fields[at].type;
    }
    *out = table;
    if (!changed && n == table->n_fields) return SILT_OK;
    *out = type_struct(o->a, fields, n);
    return *out ? SILT_OK : error_no_memory(o->err);
}

/* ---- all types ---- */

static silt_status merge_inside(merge *m, const char *step, const data_type *table, const data_type *source,
                                const data_type **out) {
    str kept = m->path;
    m->path = kept.len ? arena_printf(m->o->a, "%.*s.%s", STR_ARG(kept), step) : str_of(step);
    if (str_is_null(m->path)) return error_no_memory(m->o->err);
    TRY(merge_type(m, table, source, out));
    m->path = kept;
    return SILT_OK;
}

static silt_status merge_array(merge *m, const data_type *table, const data_type *source, const data_type **out) {
    const data_type *element;
    TRY(merge_inside(m, "element", table->element, source->element, &element));
    *out = element == table->element ? table : type_array(m->o->a, element, table->contains_null);
    return *out ? SILT_OK : error_no_memory(m->o->err);
}

static silt_status merge_map(merge *m, const data_type *table, const data_type *source, const data_type **out) {
    const data_type *key, *element;
    TRY(merge_inside(m, "key", table->key, source->key, &key));
    TRY(merge_inside(m, "value", table->element, source->element, &element));
    *out = key == table->key && element == table->element ? table : type_map(m->o->a, key, element, table->contains_null);
    return *out ? SILT_OK : error_no_memory(m->o->err);
}

static silt_status merge_type(merge *m, const data_type *table, const data_type *source, const data_type **out) {
    *out = table;
    if (source->id == TYPE_VOID) return SILT_OK;
    if (table->id == TYPE_STRUCT && source->id == TYPE_STRUCT) return merge_struct(m, table, source, out);
    if (table->id == TYPE_ARRAY && source->id == TYPE_ARRAY) return merge_array(m, table, source, out);
    if (table->id == TYPE_MAP && source->id == TYPE_MAP) return merge_map(m, table, source, out);
    if (m->rules->widen && ops_schema_is_widening(table, source)) {
        *out = source;
        return record_change(m, table, source);
    }
    if (!m->rules->strict_types || ops_schema_is_lossless(source, table)) return SILT_OK;
    return err_DELTA_FAILED_TO_MERGE_FIELDS(m->o->err, m->nearest->name, type_sql(table, m->o->a), type_sql(source, m->o->a));
}

silt_status ops_schema_merge_field(const op *o, const merge_rules *rules, const field *f, const data_type *source, field *out) {
    merge m = {.o = o, .rules = rules, .nearest = f, .metadata = f->metadata, .path = STR("")};
    field merged = *f;
    TRY(merge_type(&m, f->type, source, &merged.type));
    merged.metadata = m.metadata;
    *out = merged;
    return SILT_OK;
}
