/*
 * Columns with statistics. Leaves count depth first, without the partition columns: arrays, maps, variants, binaries and booleans count as one leaf and have a null
 * count only. By default the first 32 count; a list of names overrides the number.
 */
#include "delta/stats_columns.h"

#include "delta/properties.h"

/* ---- the list of names ---- */

/* The next part of a dotted name: plain, or in backticks with `` for one. Both *rest and the text are left behind the part. */
static bool next_name_part(str *rest, str *out, arena *mem) {
    *rest = str_trim(*rest);
    if (rest->len == 0 || rest->ptr[0] != '`') {
        size_t end = 0;
        while (end < rest->len && rest->ptr[end] != '.' && rest->ptr[end] != ',') end++;
        *out = str_trim(str_slice(*rest, 0, end));
        *rest = str_slice(*rest, end, rest->len);
        return out->len > 0;
    }
    char *copy = arena_alloc(mem, rest->len);
    if (!copy) return false;
    size_t n = 0, i = 1;
    for (; i < rest->len; i++) {
        if (rest->ptr[i] == '`' && !(i + 1 < rest->len && rest->ptr[i + 1] == '`')) break;
        if (rest->ptr[i] == '`') i++;
        copy[n++] = rest->ptr[i];
    }
    if (i >= rest->len) return false; /* no closing backtick */
    *out = (str){copy, n};
    *rest = str_slice(*rest, i + 1, rest->len);
    return true;
}

static const data_type *struct_of(const data_type *type) { return type->id == TYPE_STRUCT ? type : NULL; }

/* One name "a.b.c" at the front of *rest → its path. */
static silt_status resolve_name(str *rest, const data_type *schema, arena *mem, column_path *out, silt_error *err) {
    str whole = *rest;
    uint32_t *index = NULL;
    size_t depth = 0, capacity = 0;
    const data_type *in = schema;
    for (;;) {
        str part;
        int at = -1;
        if (next_name_part(rest, &part, mem) && in) at = schema_find(in, part);
        if (at < 0) return err_DELTA_COLUMN_NOT_FOUND_IN_SCHEMA(err, str_trim(str_slice(whole, 0, (size_t)(rest->ptr - whole.ptr))));
        if (!ARENA_PUSH(mem, index, depth, capacity, (uint32_t)at)) return error_no_memory(err);
        in = struct_of(in->fields[at].type);
        *rest = str_trim(*rest);
        if (rest->len == 0 || rest->ptr[0] != '.') break;
        *rest = str_slice(*rest, 1, rest->len);
    }
    *out = (column_path){index, depth};
    return SILT_OK;
}

silt_status delta_stats_columns(const delta_metadata *m, arena *mem, const column_path **out, size_t *out_n, bool *out_has, silt_error *err) {
    column_path *paths = NULL;
    size_t n = 0, capacity = 0;
    str rest = str_map_get(&m->configuration, STR("delta.dataSkippingStatsColumns"));
    *out_has = !str_is_null(rest);
    *out = NULL;
    *out_n = 0;
    rest = str_trim(rest);
    while (rest.len > 0) {
        column_path path;
        TRY(resolve_name(&rest, m->schema, mem, &path, err));
        if (!ARENA_PUSH(mem, paths, n, capacity, path)) return error_no_memory(err);
        if (rest.len > 0 && rest.ptr[0] != ',') return err_DELTA_COLUMN_NOT_FOUND_IN_SCHEMA(err, rest);
        if (rest.len > 0) rest = str_trim(str_slice(rest, 1, rest.len));
    }
    *out = paths;
    *out_n = n;
    return SILT_OK;
}

/* ---- the types ---- */

typedef struct selection {
    const delta_metadata *metadata;
    arena *arena;
    const column_path *named;
    size_t n_named;
    bool has_named;
    int64_t left; /* leaves still to index; < 0: all */
} selection;

/* The types whose bounds Delta keeps. */
static bool has_bounds(const data_type *t) {
    return (t->id >= TYPE_BYTE && t->id <= TYPE_STRING) || t->id == TYPE_DATE || t->id == TYPE_TIMESTAMP || t->id == TYPE_TIMESTAMP_NTZ;
}

static bool is_partition_column(const delta_metadata *m, str name) {
    for (size_t i = 0; i < m->n_partition_columns; i++)
        if (str_eq_fold(m->partition_columns[i], name)) return true;
    return false;
}

static bool is_named(const selection *s, const uint32_t *path, size_t depth) {
    for (size_t i = 0; i < s->n_named; i++) {
        const column_path *p = &s->named[i];
        if (p->depth <= depth && memcmp(p->index, path, p->depth * sizeof *path) == 0) return true;
    }
    return false;
}

static bool take_leaf(selection *s, const uint32_t *path, size_t depth) {
    if (s->has_named) return is_named(s, path, depth);
    if (s->left == 0) return false;
    if (s->left > 0) s->left--;
    return true;
}

typedef struct field_list {
    field *items;
    size_t count, capacity;
} field_list;

static silt_status push_field(selection *s, field_list *list, str name, const data_type *type, silt_error *err) {
    return ARENA_PUSH(s->arena, list->items, list->count, list->capacity, field_make(name, type, true)) ? SILT_OK : error_no_memory(err);
}

static silt_status select_fields(selection *s, const data_type *in, uint32_t *path, size_t depth, field_list *bounds, field_list *counts, silt_error *err);

#define MAX_DEPTH 64

static silt_status select_field(selection *s, const field *f, uint32_t *path, size_t depth, field_list *bounds, field_list *counts, silt_error *err) {
    if (f->type->id != TYPE_STRUCT) {
        if (!take_leaf(s, path, depth) || f->type->id == TYPE_VOID) return SILT_OK;
        if (has_bounds(f->type)) TRY(push_field(s, bounds, f->physical_name, f->type->id == TYPE_STRING ? &type_string : f->type, err));
        return push_field(s, counts, f->physical_name, &type_long, err);
    }
    if (depth + 1 > MAX_DEPTH) return SILT_OK;
    field_list inner_bounds = {NULL, 0, 0}, inner_counts = {NULL, 0, 0};
    TRY(select_fields(s, f->type, path, depth, &inner_bounds, &inner_counts, err));
    const data_type *b = type_struct(s->arena, inner_bounds.items, inner_bounds.count);
    const data_type *c = type_struct(s->arena, inner_counts.items, inner_counts.count);
    if (!b || !c) return error_no_memory(err);
    if (inner_bounds.count) TRY(push_field(s, bounds, f->physical_name, b, err));
    return inner_counts.count ? push_field(s, counts, f->physical_name, c, err) : SILT_OK;
}

static silt_status select_fields(selection *s, const data_type *in, uint32_t *path, size_t depth, field_list *bounds, field_list *counts, silt_error *err) {
    for (size_t i = 0; i < in->n_fields; i++) {
        if (depth == 0 && is_partition_column(s->metadata, in->fields[i].name)) continue;
        path[depth] = (uint32_t)i;
        TRY(select_field(s, &in->fields[i], path, depth + 1, bounds, counts, err));
    }
    return SILT_OK;
}

silt_status delta_stats_types(const delta_metadata *m, arena *mem, const data_type **out_bounds, const data_type **out_null_counts, silt_error *err) {
    selection s = {.metadata = m, .arena = mem, .left = delta_config_i64(&m->configuration, "delta.dataSkippingNumIndexedCols")};
    /* A list that names a column which is gone does not stop a checkpoint: the default count then decides what is parsed. */
    if (delta_stats_columns(m, mem, &s.named, &s.n_named, &s.has_named, NULL) != SILT_OK) s.has_named = false;
    uint32_t path[MAX_DEPTH + 1];
    field_list bounds = {NULL, 0, 0}, counts = {NULL, 0, 0};
    TRY(select_fields(&s, m->schema, path, 0, &bounds, &counts, err));
    *out_bounds = bounds.count ? type_struct(mem, bounds.items, bounds.count) : NULL;
    *out_null_counts = counts.count ? type_struct(mem, counts.items, counts.count) : NULL;
    if ((bounds.count && !*out_bounds) || (counts.count && !*out_null_counts)) return error_no_memory(err);
    return SILT_OK;
}
