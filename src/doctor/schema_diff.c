/*
 * The comparison: pairs are found first, then what differs within them is told in the order of the newer schema; what has no
 * partner was added or dropped.
 */
#include "doctor/schema_diff.h"

typedef struct diffing {
    arena *a;
    bool by_name;
    schema_change *items;
    size_t n, capacity;
} diffing;

const char *schema_change_name(schema_change_kind k) {
    static const char *const names[] = {"added", "dropped", "renamed", "type", "nullability", "order", "metadata"};
    return names[k];
}

static silt_status add(diffing *d, schema_change c, silt_error *err) {
    return ARENA_PUSH(d->a, d->items, d->n, d->capacity, c) ? SILT_OK : error_no_memory(err);
}

static const field *partner(const diffing *d, const data_type *in, const field *f) {
    bool by_id = !d->by_name && f->field_id >= 0;
    for (size_t i = 0; by_id && i < in->n_fields; i++)
        if (in->fields[i].field_id == f->field_id) return &in->fields[i];
    int at = schema_find(in, f->name);
    if (at < 0) return NULL;
    const field *other = &in->fields[at];
    return by_id && other->field_id >= 0 ? NULL : other; /* another column of that name */
}

/* Values of the older type are values of the newer one, as Delta widens them. */
static bool widens(const data_type *from, const data_type *to) {
    if (from->id == TYPE_VOID) return true;
    if (type_is_integral(from) && type_is_integral(to)) return from->id <= to->id;
    if (from->id == TYPE_FLOAT && to->id == TYPE_DOUBLE) return true;
    if (type_is_integral(from) && from->id <= TYPE_INT && to->id == TYPE_DOUBLE) return true;
    if (from->id == TYPE_DATE && to->id == TYPE_TIMESTAMP_NTZ) return true;
    if (to->id != TYPE_DECIMAL) return from->id == to->id && from->id == TYPE_STRING; /* lengths of VARCHAR are no types */
    int whole = to->precision - to->scale;
    if (from->id == TYPE_DECIMAL) return to->scale >= from->scale && whole >= from->precision - from->scale;
    return type_is_integral(from) && whole >= (from->id == TYPE_LONG ? 20 : 10);
}

static silt_status diff_types(diffing *d, str path, const data_type *before, const data_type *after, silt_error *err);

static str nullable_text(bool nullable) { return nullable ? STR("nullable") : STR("not null"); }

static silt_status diff_nullability(diffing *d, str path, bool before, bool after, silt_error *err) {
    if (before == after) return SILT_OK;
    return add(d, (schema_change){SCHEMA_NULLABILITY, path, nullable_text(before), nullable_text(after), false}, err);
}

static silt_status diff_structs(diffing *d, str prefix, const data_type *before, const data_type *after, silt_error *err) {
    const field *last = NULL; /* partners in the older schema come in its order, unless columns were moved */
    for (size_t i = 0; i < after->n_fields; i++) {
        const field *f = &after->fields[i], *old = partner(d, before, f);
        str path = prefix.len ? arena_printf(d->a, "%.*s.%.*s", STR_ARG(prefix), STR_ARG(f->name)) : f->name;
        if (!path.ptr) return error_no_memory(err);
        if (!old) {
            str type = type_simple(f->type, d->a);
            TRY(add(d,
                    (schema_change){SCHEMA_ADDED, path, STR_NULL,
                                    f->nullable ? type : arena_printf(d->a, "%.*s not null", STR_ARG(type)), false},
                    err));
            continue;
        }
        if (!str_eq(old->name, f->name)) TRY(add(d, (schema_change){SCHEMA_RENAMED, path, old->name, f->name, true}, err));
        if (last && old < last) TRY(add(d, (schema_change){SCHEMA_ORDER, path, STR_NULL, STR_NULL, false}, err));
        if (!last || old > last) last = old;
        TRY(diff_types(d, path, old->type, f->type, err));
        TRY(diff_nullability(d, path, old->nullable, f->nullable, err));
        if (!str_eq(old->metadata, f->metadata))
            TRY(add(d, (schema_change){SCHEMA_METADATA, path, old->metadata, f->metadata, false}, err));
    }
    for (size_t i = 0; i < before->n_fields; i++) {
        const field *f = &before->fields[i];
        if (partner(d, after, f)) continue;
        str path = prefix.len ? arena_printf(d->a, "%.*s.%.*s", STR_ARG(prefix), STR_ARG(f->name)) : f->name;
        if (!path.ptr) return error_no_memory(err);
        TRY(add(d, (schema_change){SCHEMA_DROPPED, path, type_simple(f->type, d->a), STR_NULL, true}, err));
    }
    return SILT_OK;
}

static silt_status diff_types(diffing *d, str path, const data_type *before, const data_type *after, silt_error *err) {
    if (before->id == TYPE_STRUCT && after->id == TYPE_STRUCT) return diff_structs(d, path, before, after, err);
    if (before->id == TYPE_ARRAY && after->id == TYPE_ARRAY) {
        str item = arena_printf(d->a, "%.*s.element", STR_ARG(path));
        TRY(diff_types(d, item, before->element, after->element, err));
        return diff_nullability(d, item, before->contains_null, after->contains_null, err);
    }
    if (before->id == TYPE_MAP && after->id == TYPE_MAP) {
        str key = arena_printf(d->a, "%.*s.key", STR_ARG(path)), item = arena_printf(d->a, "%.*s.value", STR_ARG(path));
        TRY(diff_types(d, key, before->key, after->key, err));
        TRY(diff_types(d, item, before->element, after->element, err));
        return diff_nullability(d, item, before->contains_null, after->contains_null, err);
    }
    if (type_equal(before, after)) return SILT_OK;
    return add(d, (schema_change){SCHEMA_TYPE, path, type_simple(before, d->a), type_simple(after, d->a), !widens(before, after)},
               err);
}

silt_status schema_diff(const data_type *before, const data_type *after, bool by_name, arena *a, schema_change **out,
                        size_t *out_n, silt_error *err) {
    diffing d = {.a = a, .by_name = by_name};
    TRY(diff_structs(&d, STR(""), before, after, err));
    *out = d.items;
    *out_n = d.n;
    return SILT_OK;
}
