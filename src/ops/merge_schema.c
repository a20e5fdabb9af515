/*
 * What a MERGE with schema evolution makes of the table's columns: those of the source that some clause assigns and the table lacks are appended, with fields of structs
 * alike, and types are widened where the table allows it. A star assigns every column of the source; NOT MATCHED BY SOURCE clauses see no source.
 */
#include "delta/properties.h"
#include "expr/coerce.h"
#include "ops/merge_run.h"

/** A column of the source, or a field in it, by its names. */
typedef struct source_place {
    str names[64];
    size_t depth;
} source_place;

static bool has_star(const merge_run *m) {
    for (size_t i = 0; i < m->spec->n_clauses; i++)
        if (m->clauses[i].clause->star) return true;
    return false;
}

static bool begins(const str *a, size_t n_a, const source_place *b, size_t n_b) {
    size_t n = n_a < n_b ? n_a : n_b;
    for (size_t i = 0; i < n; i++)
        if (!str_eq_fold(a[i], b->names[i])) return false;
    return true;
}

typedef enum mention { NOT_ASSIGNED, PARTLY_ASSIGNED, ASSIGNED } mention;

static bool is_excepted_everywhere(const merge_run *m, str name) {
    for (size_t i = 0; i < m->spec->n_clauses; i++) {
        const merge_clause *c = m->clauses[i].clause;
        bool excepted = false;
        for (size_t k = 0; k < c->n_except; k++) excepted |= str_eq_fold(c->except[k], name);
        if (c->star && !excepted) return false;
    }
    return true;
}

static mention mention_of(const merge_run *m, const source_place *p) {
    mention found = NOT_ASSIGNED;
    for (size_t i = 0; i < m->spec->n_clauses; i++) {
        const bound_clause *c = &m->clauses[i];
        if (c->clause->star || c->clause->when == WHEN_NOT_MATCHED_BY_SOURCE) continue;
        for (size_t k = 0; k < c->n_items; k++) {
            const merge_assignment *a = &c->items[k];
            if (a->depth < p->depth || !begins(a->path, a->depth, p, p->depth)) continue;
            if (a->depth == p->depth) return ASSIGNED;
            found = PARTLY_ASSIGNED;
        }
    }
    return found;
}

static silt_status assigned_fields(const merge_run *m, source_place *at, const data_type *type, const data_type **out);

/* *out_type NULL: nobody assigns it. */
static silt_status assigned_part(const merge_run *m, source_place *at, const data_type *type, const data_type **out_type) {
    mention how = mention_of(m, at);
    *out_type = type;
    if (how == ASSIGNED) return SILT_OK;
    bool star = has_star(m) && !is_excepted_everywhere(m, at->names[0]);
    if (type->id == TYPE_STRUCT && (how == PARTLY_ASSIGNED || star) && at->depth < ARRAY_LEN(at->names)) return assigned_fields(m, at, type, out_type);
    if (!star) *out_type = NULL;
    return SILT_OK;
}

static silt_status assigned_fields(const merge_run *m, source_place *at, const data_type *type, const data_type **out) {
    const op *o = m->o;
    field *fields = ARENA_ARRAY(o->a, type->n_fields + 1, field);
    size_t n = 0;
    if (!fields) return error_no_memory(o->err);
    at->depth++;
    for (size_t i = 0; i < type->n_fields; i++) {
        const data_type *part;
        at->names[at->depth - 1] = type->fields[i].name;
        TRY(assigned_part(m, at, type->fields[i].type, &part));
        if (!part) continue;
        fields[n] = type->fields[i];
        fields[n++].type = part;
    }
    at->depth--;
    *out = type_struct(o->a, fields, n);
    return *out ? SILT_OK : error_no_memory(o->err);
}

static silt_status add_column(const merge_run *m, str name, const data_type *type, field *out) {
    const data_type *nullable;
    if (type->id == TYPE_VOID) return err_DELTA_MERGE_ADD_VOID_COLUMN(m->o->err, name);
    TRY(ops_schema_as_nullable(m->o, type, &nullable));
    *out = field_make(name, nullable, true);
    return SILT_OK;
}

static silt_status merge_column(const merge_run *m, const merge_rules *rules, const field *f, const data_type *type, field *out) {
    TRY(ops_schema_merge_field(m->o, rules, f, type, out));
    if (out->type != f->type || coerce_explicit_ok(type, f->type) || (type->id == TYPE_STRUCT && f->type->id == TYPE_STRUCT)) return SILT_OK;
    if (type->id == f->type->id) return SILT_OK; /* arrays and maps are converted part by part */
    return err_DELTA_FAILED_TO_MERGE_FIELDS(m->o->err, f->name, type_sql(f->type, m->o->a), type_sql(type, m->o->a));
}

/* ops_schema_merge_field without `evolve` refuses fewer fields; here missing ones are filled. */
static silt_status evolved_schema(const merge_run *m, const data_type **out) {
    const op *o = m->o;
    const relation *source = &m->source.scope;
    merge_rules rules = {.evolve = true,
                         .widen = delta_config_bool(&m->change.target.metadata.configuration, "delta.enableTypeWidening"),
                         .fields_by_name = true,
                         .table_name = m->spec->target.table_name};
    field *fields = ARENA_ARRAY(o->a, m->schema->n_fields + source->n_columns + 1, field);
    size_t n = m->schema->n_fields;
    bool changed = false;
    if (!fields) return error_no_memory(o->err);
    memcpy(fields, m->schema->fields, n * sizeof *fields);
    for (size_t i = 0; i < source->n_columns; i++) {
        source_place at = {.names = {source->columns[i].name}, .depth = 1};
        const data_type *type;
        if (source->columns[i].hidden) continue;
        TRY(assigned_part(m, &at, source->columns[i].type, &type));
        if (!type) continue;
        data_type so_far = {.id = TYPE_STRUCT, .fields = fields, .n_fields = n};
        int column = schema_find(&so_far, source->columns[i].name);
        if (column < 0) {
            TRY(add_column(m, source->columns[i].name, type, &fields[n++]));
            changed = true;
            continue;
        }
        const data_type *was = fields[column].type;
        TRY(merge_column(m, &rules, &fields[column], type, &fields[column]));
        changed |= fields[column].type != was;
    }
    *out = m->schema;
    if (!changed) return SILT_OK;
    *out = type_struct(o->a, fields, n);
    return *out ? SILT_OK : error_no_memory(o->err);
}

silt_status merge_evolve(merge_run *m) {
    const data_type *schema;
    if (!m->evolve) return SILT_OK;
    TRY(evolved_schema(m, &schema));
    if (schema == m->schema) return SILT_OK;
    TRY(ops_write_target_set_schema(m->o, &m->change.target, schema));
    return ops_checks_validate(m->o, m->change.target.schema, &m->change.target.metadata.configuration);
}
