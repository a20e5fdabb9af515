/*
 * Which schemas a range of the change data feed may go through while it is read by one of them: columns may be added, nothing else.
 */
#include "delta/changes.h"
#include "delta/properties.h"

static bool is_mapped(const delta_metadata *m) {
    str mode = delta_config_str(&m->configuration, "delta.columnMapping.mode");
    return mode.len > 0 && !str_eq_ascii_fold(mode, STR("none"));
}

static const field *find_physical(const data_type *t, str physical_name) {
    for (size_t i = 0; i < t->n_fields; i++)
        if (str_eq(t->fields[i].physical_name, physical_name)) return &t->fields[i];
    return NULL;
}

/* Every field of `older` is in `newer` under its own name: none was dropped, none renamed. */
static bool keeps_names(const data_type *older, const data_type *newer) {
    if (older->id != newer->id) return true; /* another type: not this question */
    if (older->element && newer->element && !keeps_names(older->element, newer->element)) return false;
    if (older->key && newer->key && !keeps_names(older->key, newer->key)) return false;
    for (size_t i = 0; older->id == TYPE_STRUCT && i < older->n_fields; i++) {
        const field *f = &older->fields[i], *now = find_physical(newer, f->physical_name);
        if (!now || !str_eq(now->name, f->name) || !keeps_names(f->type, now->type)) return false;
    }
    return true;
}

static bool mapping_fits(const delta_metadata *older, const delta_metadata *newer) {
    bool was = is_mapped(older), is = is_mapped(newer);
    if (!was && !is) return true;
    return is && keeps_names(older->schema,
                             newer->schema); /* without mapping physical names are the names: an upgrade compares alike */
}

/** Which of two nullabilities may differ. */
typedef enum null_rule { NULLS_MUST_STAY, NULLS_MUST_NOT_APPEAR } null_rule;

static bool null_fits(bool was, bool is, null_rule rule) { return rule == NULLS_MUST_STAY ? is || !was : was || !is; }

static bool type_fits(const data_type *was, const data_type *is, null_rule rule);

static bool struct_fits(const data_type *was, const data_type *is, null_rule rule) {
    for (size_t i = 0; i < was->n_fields; i++) {
        int at = schema_find(is, was->fields[i].name);
        if (at < 0) return false;
        const field *f = &is->fields[at];
        if (!str_eq(f->name, was->fields[i].name) || !null_fits(was->fields[i].nullable, f->nullable, rule) ||
            !type_fits(was->fields[i].type, f->type, rule))
            return false;
    }
    return true;
}

static bool type_fits(const data_type *was, const data_type *is, null_rule rule) {
    if (was->id != is->id) return false;
    switch (was->id) {
        case TYPE_STRUCT: return struct_fits(was, is, rule);
        case TYPE_ARRAY:
            return null_fits(was->contains_null, is->contains_null, rule) && type_fits(was->element, is->element, rule);
        case TYPE_MAP:
            return null_fits(was->contains_null, is->contains_null, rule) && type_fits(was->key, is->key, rule) &&
                   type_fits(was->element, is->element, rule);
        default: return type_equal(was, is);
    }
}

/* Partition values stand in the log: under another partitioning they would not be found. */
static bool partitioning_fits(const delta_metadata *a, const delta_metadata *b) {
    bool fits = a->n_partition_columns == b->n_partition_columns;
    for (size_t i = 0; fits && i < a->n_partition_columns; i++)
        fits = str_eq_fold(a->partition_columns[i], b->partition_columns[i]);
    return fits;
}

bool delta_changes_schema_fits(const delta_metadata *files, int64_t version, const delta_metadata *read, int64_t read_version) {
    if (!partitioning_fits(files, read)) return false;
    if (version <= read_version) return mapping_fits(files, read) && type_fits(files->schema, read->schema, NULLS_MUST_STAY);
    return mapping_fits(read, files) && type_fits(read->schema, files->schema, NULLS_MUST_NOT_APPEAR);
}
