/*
 * The values of updated and inserted rows. Every node is bound once, so bound values go as they are into trees that are then bound as a whole.
 *
 * Structs are paired by name at every depth; without evolution each must have all fields of the other, with it fields that the value lacks become NULL, or keep what the
 * target has in UPDATE SET *. A null struct stays one. SET s.x = … writes the struct anew with one field replaced, even where it was null.
 */
#include "expr/tree_tools.h"
#include "ops/generated.h"
#include "ops/merge_run.h"

static silt_status clone(const op *o, const expr *e, expr **out) {
    *out = expr_clone(e, o->a);
    return *out ? SILT_OK : error_no_memory(o->err);
}

static silt_status bind_tree(const op *o, expr *e, expr **out) { return expr_bind(e, NULL, o->env->bind, o->a, out, o->err); }

static silt_status null_of(const op *o, const data_type *type, expr **out) {
    TRY(ops_tree_null(o, out));
    return ops_tree_cast(o, *out, type, out);
}

/* e.field, bound like e; the caller gives up e. */
static silt_status field_of(const op *o, expr *e, const data_type *type, size_t i, expr **out) {
    TRY(ops_tree_field(o, e, type->fields[i].name, out));
    (*out)->field_index = (int32_t)i;
    (*out)->type = type->fields[i].type;
    (*out)->nullable = true;
    return SILT_OK;
}

/* ---- pairing by name ---- */

/* All fields of the value have their place, and without evolution all places their field. */
static bool fields_fit(const data_type *from, const data_type *to, bool may_lack) {
    if (from->id == TYPE_VOID || !type_is_nested(to) || from->id != to->id) return true; /* the cast itself refuses what it must */
    if (to->id == TYPE_MAP && !fields_fit(from->key, to->key, may_lack)) return false;
    if (to->id != TYPE_STRUCT) return fields_fit(from->element, to->element, may_lack);
    if (from->n_fields != to->n_fields && !may_lack) return false;
    for (size_t i = 0; i < from->n_fields; i++) {
        int at = schema_find(to, from->fields[i].name);
        if (at < 0 || !fields_fit(from->fields[i].type, to->fields[at].type, may_lack)) return false;
    }
    return true;
}

/* A value of type `from` as one of type `to`. */
static silt_status convert(const op *o, expr *e, const data_type *to, str column, expr **out) {
    const data_type *from = e->type;
    if (type_equal(from, to)) {
        *out = e;
        return SILT_OK;
    }
    if (type_is_nested(from) && from->id == to->id) {
        TRY(ops_assign_by_name(o, e, from, to, 0, &e));
        TRY(bind_tree(o, e, &e));
    }
    return expr_coerce(e, to, CAST_STORE_ASSIGNMENT, column, o->env->bind, o->a, out, o->err);
}

/* ---- UPDATE SET * with evolution ---- */

/* Has the struct fields, at any depth of structs, that the other lacks? */
static bool has_more(const data_type *to, const data_type *from) {
    if (to->id != TYPE_STRUCT || from->id != TYPE_STRUCT) return false;
    for (size_t i = 0; i < to->n_fields; i++) {
        int at = schema_find(from, to->fields[i].name);
        if (at < 0 || has_more(to->fields[i].type, from->fields[at].type)) return true;
    }
    return false;
}

static silt_status and_null(const op *o, expr *value_expr, expr *old, expr **out) {
    expr *other;
    TRY(ops_tree_call(o, "isnull", value_expr, NULL, out));
    if (!old) return SILT_OK;
    TRY(ops_tree_call(o, "isnull", old, NULL, &other));
    return ops_tree_call(o, "and", *out, other, out);
}

/* `old` is NULL for what the target did not have before. */
static silt_status overlay(const op *o, expr *value_expr, expr *old, const data_type *to, str column, expr **out) {
    const data_type *from = value_expr->type;
    if (from->id != TYPE_STRUCT || to->id != TYPE_STRUCT || type_equal(from, to)) return convert(o, value_expr, to, column, out);
    expr **args = ARENA_ARRAY(o->a, 2 * to->n_fields + 1, expr *), *part, *kept, *absent, *none;
    if (!args) return error_no_memory(o->err);
    for (size_t i = 0; i < to->n_fields; i++) {
        int at = schema_find(from, to->fields[i].name), was = old ? schema_find(old->type, to->fields[i].name) : -1;
        TRY(ops_tree_text(o, to->fields[i].name, &args[2 * i]));
        kept = part = NULL;
        if (was >= 0) TRY(clone(o, old, &kept));
        if (was >= 0) TRY(field_of(o, kept, old->type, (size_t)was, &kept));
        if (at >= 0) {
            TRY(clone(o, value_expr, &part));
            TRY(field_of(o, part, from, (size_t)at, &part));
            TRY(overlay(o, part, kept, to->fields[i].type, column, &args[2 * i + 1]));
        } else if (kept) {
            TRY(convert(o, kept, to->fields[i].type, column, &args[2 * i + 1]));
        } else {
            TRY(null_of(o, to->fields[i].type, &args[2 * i + 1]));
        }
    }
    expr *made = expr_call(o->a, "named_struct", args, 2 * to->n_fields, (source_span){0, 0});
    if (!made) return error_no_memory(o->err);
    TRY(and_null(o, value_expr, has_more(to, from) ? old : NULL, &absent));
    TRY(null_of(o, to, &none));
    TRY(ops_tree_case(o, 1, made, out));
    (*out)->args[0] = absent;
    (*out)->args[1] = none;
    TRY(bind_tree(o, *out, out));
    return expr_coerce(*out, to, CAST_STORE_ASSIGNMENT, column, o->env->bind, o->a, out, o->err);
}

/* ---- one assignment ---- */

static silt_status refuse_fields(const op *o, const data_type *from, const data_type *to) {
    return err_DELTA_UPDATE_SCHEMA_MISMATCH_EXPRESSION(o->err, type_sql(from, o->a), type_sql(to, o->a));
}

static silt_status default_of(merge_run *m, const merge_assignment *a, const field *f, expr **out) {
    const op *o = m->o;
    if (a->depth == 1) return ops_default_value(o, f, out);
    TRY(null_of(o, f->type, out));
    return bind_tree(o, *out, out);
}

/* `old`: the place's value in the target, NULL where there is none; taken over. */
static silt_status assigned_value(merge_run *m, const merge_assignment *a, const field *f, expr *old, expr **out) {
    const op *o = m->o;
    expr *e;
    if (!a->value) return default_of(m, a, f, out);
    TRY(clone(o, a->value, &e));
    if (!fields_fit(e->type, f->type, m->evolve)) return refuse_fields(o, e->type, f->type);
    if (a->keeps_target_fields) return overlay(o, e, old, f->type, f->name, out);
    return convert(o, e, f->type, f->name, out);
}

/** A column of the final schema or a field in it, while its new value is put together. */
typedef struct place {
    const field *f;
    expr *old;  /**< its value in the target, NULL where the table had none */
    str path[64];
    size_t depth;
} place;

/* How the clause's i-th assignment stands to the place: 0 not at all, 1 the place itself, 2 something in it. */
static int relates(const merge_assignment *a, const place *p) {
    if (a->depth < p->depth) return 0;
    for (size_t i = 0; i < p->depth; i++)
        if (!str_eq_fold(a->path[i], p->path[i])) return 0;
    return a->depth == p->depth ? 1 : 2;
}

static silt_status old_value(const op *o, const place *p, expr **out) {
    if (p->old) return convert(o, p->old, p->f->type, p->f->name, out);
    TRY(null_of(o, p->f->type, out));
    return bind_tree(o, *out, out);
}

static silt_status rebuild(merge_run *m, const bound_clause *c, const place *p, expr **out) {
    const op *o = m->o;
    bool within = false;
    for (size_t i = 0; i < c->n_items; i++) {
        int how = relates(&c->items[i], p);
        if (how == 1) return assigned_value(m, &c->items[i], p->f, p->old, out);
        within |= how == 2;
    }
    if (!within) return old_value(o, p, out);
    const data_type *t = p->f->type;
    if (t->id != TYPE_STRUCT) return err_DELTA_UNSUPPORTED_NESTED_FIELD_IN_UPDATE(o->err, p->f->name);
    if (p->depth == ARRAY_LEN(p->path)) return err_UNSUPPORTED_FEATURE(o->err, "fields nested that deeply");
    expr **args = ARENA_ARRAY(o->a, 2 * t->n_fields + 1, expr *);
    if (!args) return error_no_memory(o->err);
    for (size_t i = 0; i < t->n_fields; i++) {
        place below = *p;
        int was = p->old && p->old->type->id == TYPE_STRUCT ? schema_find(p->old->type, t->fields[i].name) : -1;
        below.f = &t->fields[i];
        below.path[below.depth++] = t->fields[i].name;
        below.old = NULL;
        if (was >= 0) TRY(clone(o, p->old, &below.old));
        if (was >= 0) TRY(field_of(o, below.old, p->old->type, (size_t)was, &below.old));
        TRY(ops_tree_text(o, t->fields[i].name, &args[2 * i]));
        TRY(rebuild(m, c, &below, &args[2 * i + 1]));
    }
    expr *made = expr_call(o->a, "named_struct", args, 2 * t->n_fields, (source_span){0, 0});
    if (!made) return error_no_memory(o->err);
    TRY(bind_tree(o, made, &made));
    return expr_coerce(made, t, CAST_STORE_ASSIGNMENT, p->f->name, o->env->bind, o->a, out, o->err);
}

/* ---- columns ---- */

static const merge_assignment *whole_assignment(const bound_clause *c, str column) {
    for (size_t i = 0; i < c->n_items; i++)
        if (str_eq_fold(c->items[i].path[0], column)) return &c->items[i];
    return NULL;
}

bool merge_leaves(const merge_run *m, const bound_clause *c, size_t column) {
    const field *f = &m->change.target.schema->fields[column];
    bool computed = ops_is_generated(f, m->o->a, NULL), numbered = ops_is_identity(f, m->o->a, NULL);
    if (!computed && !(numbered && c->clause->action == MERGE_INSERT)) return false;
    return !whole_assignment(c, f->name);
}

/* The first generated column that the clause does not name. */
static const field *first_left_out(const merge_run *m, const bound_clause *c) {
    const data_type *schema = m->change.target.schema;
    for (size_t i = 0; i < schema->n_fields; i++)
        if (ops_is_generated(&schema->fields[i], m->o->a, NULL) && merge_leaves(m, c, i)) return &schema->fields[i];
    return NULL;
}

silt_status merge_value(merge_run *m, const bound_clause *c, size_t column, expr **out) {
    const op *o = m->o;
    const field *f = &m->change.target.schema->fields[column];
    if (c->clause->action == MERGE_INSERT) {
        const merge_assignment *a = whole_assignment(c, f->name);
        if (a) return assigned_value(m, a, f, NULL, out);
        return ops_default_value(o, f, out);
    }
    place p = {.f = f, .path = {f->name}, .depth = 1};
    int was = schema_find(m->schema, f->name);
    if (was >= 0) TRY(ops_rows_column(o, &m->target.scope, (size_t)was, &p.old));
    silt_status status = rebuild(m, c, &p, out);
    return status == SILT_OK ? SILT_OK : ops_generated_refused(o, first_left_out(m, c), status);
}

/* ---- what cannot be assigned ---- */

static str path_text(const op *o, const merge_assignment *a) {
    str text = a->path[0];
    for (size_t i = 1; i < a->depth; i++) text = arena_printf(o->a, "%.*s.%.*s", STR_ARG(text), STR_ARG(a->path[i]));
    return text;
}

/* One begins with the other: both say what the shorter one's value is. */
static bool overlap(const merge_assignment *a, const merge_assignment *b) {
    size_t n = a->depth < b->depth ? a->depth : b->depth;
    for (size_t i = 0; i < n; i++)
        if (!str_eq_fold(a->path[i], b->path[i])) return false;
    return true;
}

static silt_status check_clause(merge_run *m, const bound_clause *c) {
    const op *o = m->o;
    bool inserts = c->clause->action == MERGE_INSERT;
    const data_type *schema = m->change.target.schema;
    for (size_t i = 0; i < c->n_items; i++) {
        const merge_assignment *a = &c->items[i];
        for (size_t k = 0; k < i; k++) {
            if (!overlap(a, &c->items[k])) continue;
            return inserts ? err_DELTA_DUPLICATE_COLUMNS_ON_INSERT(o->err) : err_DELTA_CONFLICT_SET_COLUMN(o->err, path_text(o, &c->items[k]), path_text(o, a));
        }
        int at = schema_find(schema, a->path[0]);
        if (at < 0) return err_INTERNAL_ERROR(o->err, "an assigned column is not in the schema");
        TRY(inserts ? ops_identity_check_insert(o, &schema->fields[at]) : ops_identity_check_update(o, &schema->fields[at]));
    }
    return SILT_OK;
}

silt_status merge_check_values(merge_run *m) {
    for (size_t i = 0; i < m->spec->n_clauses; i++)
        if (m->clauses[i].clause->action != MERGE_DELETE) TRY(check_clause(m, &m->clauses[i]));
    return SILT_OK;
}
