/*
 * One schema for files that differ in theirs, by the rules of Delta's schema merging: new columns and fields at the end, names without case, byte/short/int one another's, anything
 * else must be equal. Then the partition columns.
 */
#include <stdlib.h>

#include "ops/maintain/convert_files.h"

typedef struct merging {
    const op *o;
    str why; /* the innermost cause */
} merging;

static silt_status merge_types(merging *m, const data_type *a, const data_type *b, const data_type **out);

static silt_status differ(merging *m, str why) {
    m->why = why;
    return str_is_null(why) ? error_no_memory(m->o->err) : SILT_INVALID;
}

static silt_status merge_decimals(merging *m, const data_type *a, const data_type *b, const data_type **out) {
    *out = a;
    if (a->precision == b->precision && a->scale == b->scale) return SILT_OK;
    return differ(m, arena_printf(m->o->a, "DELTA_MERGE_INCOMPATIBLE_DECIMAL_TYPE: decimal types with precision %d and %d, scale %d and %d", a->precision, b->precision, a->scale, b->scale));
}

static silt_status merge_structs(merging *m, const data_type *a, const data_type *b, const data_type **out) {
    const op *o = m->o;
    field *fields = ARENA_ARRAY(o->a, a->n_fields + b->n_fields + 1, field);
    size_t n = a->n_fields;
    if (!fields) return error_no_memory(o->err);
    if (n) memcpy(fields, a->fields, n * sizeof *fields);
    for (size_t i = 0; i < b->n_fields; i++) {
        int at = schema_find(a, b->fields[i].name);
        if (at < 0) {
            fields[n++] = b->fields[i];
            continue;
        }
        silt_status status = merge_types(m, a->fields[at].type, b->fields[i].type, &fields[at].type);
        if (status == SILT_INVALID)
            return differ(m, arena_printf(o->a, "DELTA_FAILED_TO_MERGE_FIELDS: fields '%.*s' and '%.*s'; %.*s", STR_ARG(a->fields[at].name), STR_ARG(b->fields[i].name), STR_ARG(m->why)));
        TRY(status);
    }
    *out = type_struct(o->a, fields, n);
    return *out ? SILT_OK : error_no_memory(o->err);
}

static bool is_small_integer(const data_type *t) { return t->id == TYPE_BYTE || t->id == TYPE_SHORT || t->id == TYPE_INT; }

static silt_status merge_types(merging *m, const data_type *a, const data_type *b, const data_type **out) {
    const op *o = m->o;
    const data_type *key, *element;
    *out = a;
    if (a->id == TYPE_VOID) *out = b;
    if (a->id == TYPE_VOID || b->id == TYPE_VOID) return SILT_OK;
    if (is_small_integer(a) && is_small_integer(b)) *out = a->id > b->id ? a : b;
    if (is_small_integer(a) && is_small_integer(b)) return SILT_OK;
    if (a->id != b->id) return differ(m, arena_printf(o->a, "DELTA_MERGE_INCOMPATIBLE_DATATYPE: data types %.*s and %.*s", STR_ARG(type_sql(a, o->a)), STR_ARG(type_sql(b, o->a))));
    switch (a->id) {
        case TYPE_STRUCT: return merge_structs(m, a, b, out);
        case TYPE_DECIMAL: return merge_decimals(m, a, b, out);
        case TYPE_ARRAY:
            TRY(merge_types(m, a->element, b->element, &element));
            *out = type_array(o->a, element, a->contains_null);
            return *out ? SILT_OK : error_no_memory(o->err);
        case TYPE_MAP:
            TRY(merge_types(m, a->key, b->key, &key));
            TRY(merge_types(m, a->element, b->element, &element));
            *out = type_map(o->a, key, element, a->contains_null);
            return *out ? SILT_OK : error_no_memory(o->err);
        default: return SILT_OK;
    }
}

/* Names that differ in nothing but case are two columns to Parquet and one to Spark. */
static const field *find_double(const data_type *t) {
    for (size_t i = 0; t->id == TYPE_STRUCT && i < t->n_fields; i++) {
        for (size_t k = i + 1; k < t->n_fields; k++)
            if (str_eq_fold(t->fields[i].name, t->fields[k].name)) return &t->fields[k];
        const field *inner = find_double(t->fields[i].type);
        if (inner) return inner;
    }
    if (t->id == TYPE_MAP && find_double(t->key)) return find_double(t->key);
    return t->id == TYPE_ARRAY || t->id == TYPE_MAP ? find_double(t->element) : NULL;
}

static silt_status merge_variant(merging *m, const convert_files *f, const convert_variant *v, const data_type **schema) {
    const op *o = m->o;
    const field *doubled = find_double(v->type);
    if (doubled) {
        silt_status status = err_DELTA_DUPLICATE_COLUMNS_FOUND(o->err, doubled->name);
        error_detail(o->err, "In the file %.*s.", STR_ARG(f->files[v->sample].path));
        return status;
    }
    silt_status status = merge_types(m, *schema, v->type, schema);
    if (status != SILT_INVALID) return status;
    status = err_DELTA_FAILED_MERGE_SCHEMA_FILE(o->err, convert_file_name(o, f, f->files[v->sample].path));
    error_detail(o->err, "%.*s", STR_ARG(m->why));
    return status;
}

static silt_status add_partition_columns(const op *o, const data_type *schema, const field *columns, size_t n, const data_type **out) {
    field *fields = ARENA_ARRAY(o->a, schema->n_fields + n + 1, field);
    size_t count = schema->n_fields;
    if (!fields) return error_no_memory(o->err);
    if (count) memcpy(fields, schema->fields, count * sizeof *fields);
    for (size_t i = 0; i < n; i++) {
        int at = schema_find(schema, columns[i].name);
        fields[at >= 0 ? (size_t)at : count++] = columns[i];
    }
    *out = type_struct(o->a, fields, count);
    return *out ? SILT_OK : error_no_memory(o->err);
}

static int by_sample(const void *a, const void *b) {
    const convert_variant *x = *(const convert_variant *const *)a, *y = *(const convert_variant *const *)b;
    return (x->sample > y->sample) - (x->sample < y->sample);
}

/* In the order of the files, whatever thread was quicker. */
silt_status convert_files_schema(const op *o, const convert_files *f, const field *columns, size_t n, const data_type **out) {
    merging m = {.o = o};
    const convert_variant **order = ARENA_ARRAY(o->a, f->n_variants + 1, const convert_variant *);
    const data_type *schema = type_struct(o->a, NULL, 0);
    if (!order || !schema) return error_no_memory(o->err);
    for (size_t i = 0; i < f->n_variants; i++) order[i] = &f->variants[i];
    qsort(order, f->n_variants, sizeof *order, by_sample);
    for (size_t i = 0; i < f->n_variants; i++) TRY(merge_variant(&m, f, order[i], &schema));
    return add_partition_columns(o, schema, columns, n, out);
}
