/*
 * UPDATE. The condition chooses rows once (row_find.c); their new values are computed in one query over the touched files:
 *
 *   SELECT columns, values FROM files WHERE picked        deletion vectors, the change feed, generated columns: only the picked rows are written anew
 *   SELECT CASE WHEN picked THEN value ELSE column END …  copy-on-write: picked and other rows go through one scan and one write
 *   SELECT columns, CASE WHEN noted THEN value END FROM files WHERE condition     deletion vectors, and a condition that a scan tests early: no search before; which rows
 *                                                         they were is noted as they are written. Should a file turn out to be better rewritten, that write is thrown away
 *
 * A value is evaluated for picked rows alone in both: CAST(s AS INT) may fail for others. Nested fields: SET s.x = … writes the whole struct anew with one field replaced.
 */
#include "base/time.h"
#include "expr/lexer.h"
#include "ops/commit.h"
#include "ops/dml_common.h"
#include "ops/generated.h"
#include "ops/identity.h"
#include "ops/row_change.h"
#include "ops/row_find.h"

#define MAX_DEPTH 64

/** One item of SET, resolved. */
typedef struct assignment_path {
    uint32_t index[MAX_DEPTH]; /**< column, then fields of structs */
    size_t depth;
    const data_type *type;
    str name;  /**< dotted, for messages */
    size_t at; /**< which column of the inner query has its value */
} assignment_path;

/** One UPDATE while it runs. */
typedef struct update_run {
    const op *o;
    const update_spec *spec;
    const data_type *schema;
    assignment_path *paths; /**< n_items */
    row_find find;
    row_change change;
    relation *table; /**< over which the values are bound */
    expr **values;   /**< bound, of the assigned columns' types */
    bool in_one_scan;
    row_notes *notes; /**< NULL but while the rows are found and written at once */
    int64_t started_ms, found_ms, written_ms;
    str predicate; /**< null: none */
} update_run;

/* ---- SET ---- */

static bool is_target_name(const dml_target *t, const name_parts *column, size_t n) {
    const relation *r = t->reference;
    if (!str_is_null(r->alias)) return n == 1 && str_eq_fold(column->parts[0], r->alias);
    if (n > r->name.count) return false;
    for (size_t i = 0; i < n; i++)
        if (!str_eq_fold(column->parts[i], r->name.parts[r->name.count - n + i])) return false;
    return true;
}

static silt_status unresolved(const op *o, const update_item *item) {
    buf b;
    buf_init(&b, BUF_MAX_DEFAULT);
    for (size_t i = 0; i < item->column.count; i++) {
        if (i) buf_append_z(&b, "`.`");
        buf_append(&b, item->column.parts[i]);
    }
    silt_status status = err_UNRESOLVED_COLUMN(o->err, buf_str(&b));
    buf_dispose(&b);
    str text = o->env->bind->source_text;
    if (item->span.to > item->span.from && text.len >= item->span.to)
        error_detail(o->err, "%.*s", STR_ARG(lexer_caret(text, item->span.from, o->a)));
    return status;
}

/* The first part that is a column: behind the table's name, where that stands before it. */
static bool find_column(const update_run *u, const name_parts *column, size_t *out_part) {
    for (size_t i = 0; i < column->count; i++)
        if ((i == 0 || is_target_name(&u->spec->target, column, i)) && schema_find(u->schema, column->parts[i]) >= 0) {
            *out_part = i;
            return true;
        }
    return false;
}

static silt_status resolve_path(const update_run *u, const update_item *item, assignment_path *out) {
    const op *o = u->o;
    size_t part;
    if (!find_column(u, &item->column, &part)) return unresolved(o, item);
    const data_type *t = u->schema;
    *out = (assignment_path){.name = STR("")};
    for (; part < item->column.count; part++) {
        str name = item->column.parts[part];
        if (t->id == TYPE_ARRAY || t->id == TYPE_MAP) return err_DELTA_UNSUPPORTED_NESTED_FIELD_IN_UPDATE(o->err, out->name);
        if (t->id != TYPE_STRUCT) return err_INVALID_EXTRACT_BASE_FIELD_TYPE(o->err, out->name, type_sql(t, o->a));
        int at = schema_find(t, name);
        if (at < 0) return err_FIELD_NOT_FOUND(o->err, name, out->name);
        if (out->depth == MAX_DEPTH) return err_UNSUPPORTED_FEATURE(o->err, "fields nested that deeply");
        out->index[out->depth++] = (uint32_t)at;
        out->name =
            out->name.len ? arena_printf(o->a, "%.*s.%.*s", STR_ARG(out->name), STR_ARG(t->fields[at].name)) : t->fields[at].name;
        t = t->fields[at].type;
        if (str_is_null(out->name)) return error_no_memory(o->err);
    }
    out->type = t;
    return SILT_OK;
}

/* One begins with the other: both say what the shorter one's value is. */
static bool overlap(const assignment_path *a, const assignment_path *b) {
    size_t n = a->depth < b->depth ? a->depth : b->depth;
    return memcmp(a->index, b->index, n * sizeof *a->index) == 0;
}

static silt_status resolve_items(update_run *u) {
    const op *o = u->o;
    u->paths = ARENA_ARRAY(o->a, u->spec->n_items + 1, assignment_path);
    if (!u->paths) return error_no_memory(o->err);
    for (size_t i = 0; i < u->spec->n_items; i++) {
        TRY(resolve_path(u, &u->spec->items[i], &u->paths[i]));
        TRY(ops_identity_check_update(o, &u->schema->fields[u->paths[i].index[0]]));
        for (size_t k = 0; k < i; k++)
            if (overlap(&u->paths[i], &u->paths[k]))
                return err_DELTA_CONFLICT_SET_COLUMN(o->err, u->paths[k].name, u->paths[i].name);
    }
    return SILT_OK;
}

/* ---- values ---- */

static bool is_default(void *ctx, expr *e) {
    bool *found = ctx;
    *found |= e->kind == EXPR_DEFAULT;
    return !*found;
}

/* DEFAULT is the column's own; a field of a struct has none. */
static silt_status replace_default(const update_run *u, size_t i, expr **value_slot) {
    const op *o = u->o;
    const assignment_path *p = &u->paths[i];
    bool within = false;
    if ((*value_slot)->kind != EXPR_DEFAULT) {
        expr_walk(*value_slot, is_default, &within);
        return within ? err_DEFAULT_PLACEMENT_INVALID(o->err) : SILT_OK;
    }
    expr *given = NULL;
    if (p->depth == 1) TRY(ops_default_parse(o, &u->schema->fields[p->index[0]], &given));
    if (!given) return ops_tree_null(o, value_slot);
    *value_slot = given;
    return SILT_OK;
}

static bool is_window(void *ctx, expr *e) {
    bool *found = ctx;
    *found |= e->over != NULL;
    return !*found;
}

static silt_status check_scalar(const update_run *u, const query *q) {
    bool windowed = false;
    if (q->has_aggregates) return err_UNSUPPORTED_EXPR_FOR_OPERATOR(u->o->err, "aggregate functions", "UPDATE");
    if (q->from != u->table) return err_UNSUPPORTED_EXPR_FOR_OPERATOR(u->o->err, "generator functions", "UPDATE");
    for (size_t i = 0; i < q->n_projections; i++) expr_walk(q->projections[i], is_window, &windowed);
    return windowed ? err_UNSUPPORTED_EXPR_FOR_OPERATOR(u->o->err, "window functions", "UPDATE") : SILT_OK;
}

/* Structs are paired by name, and each must have all fields of the other. */
static bool same_names(const data_type *from, const data_type *to) {
    if (from->id == TYPE_VOID || !type_is_nested(to)) return true;
    if (from->id != to->id) return true; /* the cast itself refuses it */
    if (to->id == TYPE_MAP && !same_names(from->key, to->key)) return false;
    if (to->id != TYPE_STRUCT) return same_names(from->element, to->element);
    if (from->n_fields != to->n_fields) return false;
    for (size_t i = 0; i < to->n_fields; i++) {
        int at = schema_find(from, to->fields[i].name);
        if (at < 0 || !same_names(from->fields[at].type, to->fields[i].type)) return false;
    }
    return true;
}

/* Refuses now, before any row is looked for, what the casts of the parts will not do. */
static silt_status check_casts(const op *o, const expr *e, const data_type *from, const data_type *to, str name) {
    if (from->id == TYPE_VOID) return SILT_OK;
    if (from->id != to->id || !type_is_nested(to)) {
        expr part = *e, *cast;
        part.type = from;
        return expr_coerce(&part, to, CAST_EXPLICIT, name, o->env->bind, o->a, &cast, o->err);
    }
    if (to->id == TYPE_MAP) TRY(check_casts(o, e, from->key, to->key, name));
    if (to->id != TYPE_STRUCT) return check_casts(o, e, from->element, to->element, name);
    for (size_t i = 0; i < to->n_fields; i++) TRY(check_casts(o, e, from->fields[schema_find(from, to->fields[i].name)].type, to->fields[i].type, name));
    return SILT_OK;
}

/*
 * An UPDATE casts where an INSERT would refuse (a number from a string), but tells an overflow as a write's, with the column's name. Nested values are cast where the rows are
 * put together, by name.
 */
static silt_status cast_value(const op *o, const assignment_path *p, expr *e, expr **out) {
    *out = e;
    if (type_is_nested(p->type) && type_is_nested(e->type)) {
        if (same_names(e->type, p->type)) return check_casts(o, e, e->type, p->type, p->name);
        return err_DELTA_UPDATE_SCHEMA_MISMATCH_EXPRESSION(o->err, type_sql(e->type, o->a), type_sql(p->type, o->a));
    }
    silt_error refused;
    silt_status status = expr_coerce(e, p->type, CAST_STORE_ASSIGNMENT, p->name, o->env->bind, o->a, out, &refused);
    if (status == SILT_OK) return SILT_OK;
    if (status == SILT_NO_MEMORY) return error_no_memory(o->err);
    return expr_coerce(e, p->type, CAST_EXPLICIT, p->name, o->env->bind, o->a, out, o->err);
}

/* The first generated column that SET does not name. */
static const field *first_left_out(const update_run *u) {
    for (size_t c = 0; c < u->schema->n_fields; c++) {
        bool named = !ops_is_generated(&u->schema->fields[c], u->o->a, NULL);
        for (size_t i = 0; i < u->spec->n_items && !named; i++) named = u->paths[i].index[0] == c;
        if (!named) return &u->schema->fields[c];
    }
    return NULL;
}

/* Bound as the select list of a query over the target, so that subqueries may name its columns. */
static silt_status bind_values(update_run *u) {
    const op *o = u->o;
    const dml_target *t = &u->spec->target;
    query *q = ARENA_NEW(o->a, query);
    size_t n = u->spec->n_items;
    expr **items = ARENA_ARRAY(o->a, n + 1, expr *);
    if (!q || !items) return error_no_memory(o->err);
    for (size_t i = 0; i < n; i++) {
        items[i] = u->spec->items[i].value;
        TRY(replace_default(u, i, &items[i]));
    }
    TRY(row_find_reference(o, t, NULL, &u->table));
    *q = (query){.from = u->table,
                 .projections = items,
                 .n_projections = n,
                 .ctes = t->ctes_again,
                 .n_ctes = t->n_ctes,
                 .recursive = t->recursive};
    TRY(query_bind(q, o->env->bind, o->a, o->err));
    TRY(check_scalar(u, q));
    if (q->n_projections != n) return err_UNSUPPORTED_EXPR_FOR_OPERATOR(o->err, "*", "UPDATE");
    u->values = ARENA_ARRAY(o->a, n + 1, expr *);
    if (!u->values) return error_no_memory(o->err);
    const field *left_out = first_left_out(u);
    for (size_t i = 0; i < n; i++) TRY(ops_generated_refused(o, left_out, cast_value(o, &u->paths[i], q->projections[i], &u->values[i])));
    if (row_find_reads_table(q, t->snapshot, u->table)) u->find.reads_target_too = true;
    return SILT_OK;
}

/* ---- rows as they will be ---- */

/* The inner query's columns: the table's, then row ids, then `picked`, then the values. */
typedef struct inner_layout {
    size_t row_ids, picked, values, n;
} inner_layout;

static inner_layout layout(const update_run *u) {
    inner_layout l = {.row_ids = u->schema->n_fields};
    l.picked = l.row_ids + (u->change.has_row_ids ? 2 : 0);
    l.values = l.picked + (u->in_one_scan ? 1 : 0);
    l.n = l.values + u->spec->n_items;
    return l;
}

/* CASE WHEN picked THEN value END, of bound parts. */
static silt_status only_if(const op *o, expr *picked, expr *value_expr, expr **out) {
    expr *e = expr_new(o->a, EXPR_CASE, (source_span){0, 0});
    if (!e || !(e->args = ARENA_ARRAY(o->a, 2, expr *))) return error_no_memory(o->err);
    e->args[0] = picked;
    e->args[1] = value_expr;
    e->n_args = 2;
    e->type = value_expr->type;
    e->nullable = true;
    *out = e;
    return SILT_OK;
}

static bool has_partial_files(const update_run *u) { return row_set_count(u->find.rows) > 0; }

/* The value of a row that is noted by the way. */
static silt_status noting(const update_run *u, expr **value_slot) {
    const op *o = u->o;
    size_t n = u->schema->n_fields;
    expr *file, *row, *noted, *given = *value_slot;
    TRY(ops_rows_column(o, u->table, n + 1, &file));
    TRY(ops_rows_column(o, u->table, n + 2, &row));
    TRY(engine_note_row(u->notes, file, row, o->a, &noted, o->err));
    TRY(only_if(o, noted, given, value_slot));
    (*value_slot)->nullable = given->nullable;
    return SILT_OK;
}

static silt_status inner_query(update_run *u, query **out) {
    const op *o = u->o;
    row_change *c = &u->change;
    inner_layout l = layout(u);
    expr **items = ARENA_ARRAY(o->a, l.n + 1, expr *), *picked = NULL;
    field *fields = ARENA_ARRAY(o->a, l.n + 1, field);
    if (!items || !fields) return error_no_memory(o->err);
    for (size_t i = 0; i < l.row_ids; i++) TRY(ops_rows_column(o, u->table, i, &items[i]));
    if (c->has_row_ids) TRY(row_change_row_ids(c, u->table, &items[l.row_ids], &items[l.row_ids + 1]));
    if (u->in_one_scan) TRY(row_change_is_gone(c, u->table, &items[l.picked]));
    for (size_t i = 0; i < u->spec->n_items; i++) {
        items[l.values + i] = u->values[i];
        if (!u->in_one_scan) continue;
        TRY(row_change_is_gone(c, u->table, &picked));
        TRY(only_if(o, picked, u->values[i], &items[l.values + i]));
    }
    if (u->notes) TRY(noting(u, &items[l.values]));
    for (size_t i = 0; i < l.n; i++) {
        fields[i] = field_make(arena_printf(o->a, "c%zu", i), items[i]->type, true);
        if (str_is_null(fields[i].name)) return error_no_memory(o->err);
    }
    const data_type *type = type_struct(o->a, fields, l.n);
    if (!type) return error_no_memory(o->err);
    TRY(ops_rows_select(o, u->table, items, type, out));
    (*out)->ctes = u->spec->target.ctes_again;
    (*out)->n_ctes = u->spec->target.n_ctes;
    (*out)->recursive = u->spec->target.recursive;
    if (u->notes) return row_find_condition(&u->find, u->table, &(*out)->where);
    if (u->in_one_scan || !has_partial_files(u)) return SILT_OK;
    TRY(row_change_is_gone(c, u->table, &picked));
    return row_find_narrow(&u->find, u->table, picked, &(*out)->where);
}

/** Making one column's new value: an unbound tree over the inner query. */
typedef struct rebuild {
    const update_run *u;
    relation *rows;
    size_t column;
    size_t *used; /**< columns of the inner query that the tree names, this one first */
    size_t n_used;
} rebuild;

static silt_status value_of(rebuild *b, size_t item, expr **out) {
    size_t at = layout(b->u).values + item;
    const data_type *from = b->rows->columns[at].type, *to = b->u->paths[item].type;
    b->used[b->n_used++] = at;
    TRY(ops_rows_name(b->u->o, b->rows, at, out));
    return type_is_nested(to) ? ops_assign_by_name(b->u->o, *out, from, to, 0, out) : SILT_OK;
}

static bool under(const assignment_path *p, const uint32_t *index, size_t depth) {
    return p->depth >= depth && memcmp(p->index, index, depth * sizeof *index) == 0;
}

static silt_status old_field(const rebuild *b, const uint32_t *index, size_t depth, expr **out) {
    const data_type *t = b->u->schema->fields[index[0]].type;
    TRY(ops_rows_name(b->u->o, b->rows, b->column, out));
    for (size_t i = 1; i < depth; i++) {
        TRY(ops_tree_field(b->u->o, *out, t->fields[index[i]].name, out));
        t = t->fields[index[i]].type;
    }
    return SILT_OK;
}

/* index[0…depth): a column or a field of it; assigned whole, in part, or not at all. */
static silt_status rebuild_place(rebuild *b, uint32_t *index, size_t depth, const data_type *t, expr **out) {
    const op *o = b->u->o;
    bool within = false;
    for (size_t i = 0; i < b->u->spec->n_items; i++) {
        const assignment_path *p = &b->u->paths[i];
        if (!under(p, index, depth)) continue;
        if (p->depth == depth) return value_of(b, i, out);
        within = true;
    }
    if (!within) return old_field(b, index, depth, out);
    expr **args = ARENA_ARRAY(o->a, 2 * t->n_fields + 1, expr *);
    if (!args) return error_no_memory(o->err);
    for (size_t i = 0; i < t->n_fields; i++) {
        index[depth] = (uint32_t)i;
        TRY(ops_tree_text(o, t->fields[i].name, &args[2 * i]));
        TRY(rebuild_place(b, index, depth + 1, t->fields[i].type, &args[2 * i + 1]));
    }
    *out = expr_call(o->a, "named_struct", args, 2 * t->n_fields, (source_span){0, 0});
    return *out ? SILT_OK : error_no_memory(o->err);
}

static bool is_assigned(const update_run *u, size_t column) {
    for (size_t i = 0; i < u->spec->n_items; i++)
        if (u->paths[i].index[0] == column) return true;
    return false;
}

/* CASE WHEN picked THEN fresh ELSE old END */
static silt_status choose(rebuild *b, expr *fresh, expr **out) {
    const op *o = b->u->o;
    size_t picked = layout(b->u).picked;
    expr *old;
    TRY(ops_rows_name(o, b->rows, b->column, &old));
    TRY(ops_tree_case(o, 1, old, out));
    TRY(ops_rows_name(o, b->rows, picked, &(*out)->args[0]));
    (*out)->args[1] = fresh;
    b->used[b->n_used++] = picked;
    return SILT_OK;
}

static silt_status new_column(update_run *u, relation *rows, size_t column, expr **out) {
    const op *o = u->o;
    rebuild b = {.u = u, .rows = rows, .column = column, .used = ARENA_ARRAY(o->a, u->spec->n_items + 3, size_t)};
    uint32_t index[MAX_DEPTH + 1] = {(uint32_t)column};
    expr *e;
    if (!is_assigned(u, column)) return ops_rows_column(o, rows, column, out);
    if (!b.used) return error_no_memory(o->err);
    b.used[b.n_used++] = column;
    TRY(rebuild_place(&b, index, 1, u->schema->fields[column].type, &e));
    if (u->in_one_scan) TRY(choose(&b, e, &e));
    TRY(ops_rows_bind(o, rows, b.used, b.n_used, e, out));
    return expr_coerce(*out, u->schema->fields[column].type, CAST_EXPLICIT, u->schema->fields[column].name, o->env->bind, o->a,
                       out, o->err);
}

/* An updated row keeps its id and gets the commit's version, which NULL stands for. */
static silt_status new_row_version(update_run *u, relation *rows, expr **out) {
    const op *o = u->o;
    inner_layout l = layout(u);
    size_t used[2] = {l.row_ids + 1, l.picked};
    expr *none, *old, *e;
    TRY(ops_tree_null(o, &none));
    TRY(ops_tree_cast(o, none, &type_long, &e));
    if (u->in_one_scan) {
        none = e;
        TRY(ops_rows_name(o, rows, used[0], &old));
        TRY(ops_tree_case(o, 1, old, &e));
        TRY(ops_rows_name(o, rows, used[1], &e->args[0]));
        e->args[1] = none;
    }
    return ops_rows_bind(o, rows, used, u->in_one_scan ? 2 : 1, e, out);
}

static silt_status missing_generated(update_run *u, bool **out) {
    size_t n = u->schema->n_fields + 2; /* row ids behind the columns are none */
    bool *computed = ARENA_ARRAY(u->o->a, n, bool);
    *out = ARENA_ARRAY(u->o->a, n, bool);
    if (!*out || !computed) return error_no_memory(u->o->err);
    for (size_t i = 0; i < u->schema->n_fields; i++) {
        (*out)[i] = !is_assigned(u, i);
        computed[i] = (*out)[i] && ops_is_generated(&u->schema->fields[i], u->o->a, NULL);
    }
    u->change.target.computed = computed;
    return SILT_OK;
}

/* The rows of the touched files as they will be: all of them in one scan, else those that were picked. */
static silt_status updated_rows(update_run *u, query **out) {
    const op *o = u->o;
    size_t n = u->schema->n_fields;
    query *inner;
    relation *rows;
    expr **items = ARENA_ARRAY(o->a, n + 3, expr *);
    bool *missing;
    if (!items) return error_no_memory(o->err);
    TRY(inner_query(u, &inner));
    TRY(ops_rows_over(o, inner, NULL, &rows));
    for (size_t i = 0; i < n; i++) TRY(new_column(u, rows, i, &items[i]));
    if (u->change.has_row_ids) {
        TRY(ops_rows_column(o, rows, n, &items[n]));
        TRY(new_row_version(u, rows, &items[n + 1]));
    }
    TRY(ops_rows_select(o, rows, items, u->change.row_schema, out));
    if (u->in_one_scan || !ops_has_generated(u->schema, o->a)) return SILT_OK;
    TRY(missing_generated(u, &missing));
    return ops_generated_wrap(o, u->schema, *out, &(generated_missing){.always = missing}, out);
}

/* ---- the change feed ---- */

static void release_source(void *source) {
    table_source *t = source;
    t->ops->release(t);
}

/* Kept aside: new rows and their images in the change feed must be the same, whatever their expressions would say a second time. */
static silt_status set_aside(const op *o, query *q, table_source **out) {
    TRY(expr_push_predicates(q, o->env->bind, o->a, o->err));
    TRY(engine_materialize(o->env->engine, q, o->env->bind, out, o->err));
    if (arena_defer(o->a, release_source, *out)) return SILT_OK;
    release_source(*out);
    return error_no_memory(o->err);
}

static silt_status select_all(const op *o, table_source *source, const data_type *schema, query **out) {
    relation *rows;
    expr **items = ARENA_ARRAY(o->a, schema->n_fields + 1, expr *);
    if (!items) return error_no_memory(o->err);
    TRY(ops_rows_of_source(o, source, false, STR_NULL, &rows));
    for (size_t i = 0; i < schema->n_fields; i++) TRY(ops_rows_column(o, rows, i, &items[i]));
    return ops_rows_select(o, rows, items, schema, out);
}

static silt_status images(update_run *u) {
    row_change *c = &u->change;
    const op *o = u->o;
    table_source *fresh;
    relation *rows;
    expr *gone = NULL;
    query *before, *after;
    TRY(set_aside(o, c->new_rows, &fresh));
    TRY(select_all(o, fresh, c->row_schema, &c->new_rows));
    TRY(row_change_rows(c, NULL, STR_NULL, &rows));
    if (has_partial_files(u)) {
        TRY(row_change_is_gone(c, rows, &gone));
        TRY(row_find_narrow(&u->find, rows, gone, &gone));
    }
    TRY(row_change_select_changes(c, rows, gone, "update_preimage", &before));
    TRY(ops_rows_of_source(o, fresh, false, STR_NULL, &rows));
    TRY(row_change_select_changes(c, rows, NULL, "update_postimage", &after));
    return row_change_union(o, before, after, &c->changes);
}

/* ---- committing ---- */

static str parameters(const update_run *u) {
    json_object j;
    ops_json_object_begin(&j);
    ops_json_object_names(&j, "predicate", &u->predicate, str_is_null(u->predicate) ? 0 : 1);
    return ops_json_object_end(&j, u->o->a);
}

static str metrics(const update_run *u) {
    const row_change_counts *n = &u->change.counts;
    json_object j;
    ops_json_object_begin(&j);
    ops_json_object_count(&j, "numRemovedFiles", n->files_touched);
    ops_json_object_count(&j, "numRemovedBytes", n->bytes_touched);
    ops_json_object_count(&j, "numCopiedRows", n->rows_copied);
    ops_json_object_count(&j, "numDeletionVectorsAdded", n->dvs_added);
    ops_json_object_count(&j, "executionTimeMs", time_now_ms() - u->started_ms);
    ops_json_object_count(&j, "numDeletionVectorsUpdated", n->dvs_updated);
    ops_json_object_count(&j, "scanTimeMs", u->found_ms - u->started_ms);
    ops_json_object_count(&j, "numAddedFiles", n->files_added);
    ops_json_object_count(&j, "numUpdatedRows", n->rows_written - n->rows_copied);
    ops_json_object_count(&j, "numDeletionVectorsRemoved", n->dvs_removed);
    ops_json_object_count(&j, "numAddedChangeFiles", n->change_files);
    ops_json_object_count(&j, "numAddedBytes", n->bytes_added);
    ops_json_object_count(&j, "rewriteTimeMs", u->written_ms - u->found_ms);
    return ops_json_object_end(&j, u->o->a);
}

static silt_status commit(update_run *u, dml_result *out) {
    const op *o = u->o;
    u->written_ms = time_now_ms();
    delta_commit_info info = {.operation = "UPDATE",
                              .operation_parameters = parameters(u),
                              .operation_metrics = metrics(u),
                              .user_metadata = ops_setting(o, "spark.databricks.delta.commitInfo.userMetadata")};
    if (u->change.has_row_ids) info.tags = STR(ROW_IDS_KEPT_TAGS);
    if (str_is_null(info.operation_parameters) || str_is_null(info.operation_metrics)) return error_no_memory(o->err);
    const commit_target table = {u->change.table_name, u->change.root, &u->change.target.metadata};
    return ops_commit(o, &table, u->change.txn, &info, &out->version);
}

/* ---- UPDATE ---- */

/* The values are evaluated over the touched files only; before they are known, over those that may be. */
static silt_status narrow_table(update_run *u, const uint8_t *keep) {
    table_source *source;
    const op *o = u->o;
    TRY(delta_table_source_files(u->spec->target.snapshot, keep, &source, o->err));
    if (arena_defer(o->a, release_source, source)) {
        u->table->source = source;
        return SILT_OK;
    }
    release_source(source);
    return error_no_memory(o->err);
}

static silt_status finish(update_run *u, dml_result *out) {
    TRY(row_find_note_reads(&u->find, u->change.txn));
    TRY(row_change_apply(&u->change));
    return commit(u, out);
}

static silt_status change_and_commit(update_run *u, dml_result *out) {
    row_change *c = &u->change;
    query *rows;
    TRY(row_change_plan(c));
    if (c->written_ahead && c->n_rewritten > 0) row_change_discard(c);
    if (c->written_ahead) return finish(u, out);
    TRY(narrow_table(u, c->touched));
    u->in_one_scan = c->n_rewritten > 0 && c->n_masked == 0 && !row_change_has_feed(&c->target) && has_partial_files(u) &&
                     !ops_has_generated(u->schema, u->o->a);
    TRY(updated_rows(u, &rows));
    if (u->in_one_scan)
        c->rewritten_rows = rows;
    else
        c->new_rows = rows;
    if (c->needs_changes) TRY(images(u));
    return finish(u, out);
}

/* Files are taken whole only where all are: the rows of a scan need one condition. */
static silt_status find(update_run *u) {
    const op *o = u->o;
    TRY(ops_check_not_append_only(o, &u->spec->target));
    TRY(resolve_items(u));
    TRY(row_find_plan(o, &u->spec->target, u->spec->condition, &u->find));
    TRY(bind_values(u));
    if (u->find.n_whole < u->find.n_candidates) {
        memset(u->find.whole, 0, u->find.n_files);
        u->find.n_whole = 0;
    }
    u->predicate = u->find.query->where ? ops_condition_text(o, u->find.query->where) : STR_NULL;
    return SILT_OK;
}

/* The cast of an assigned value tells its overflow as an INSERT's; here it is a write's. */
static silt_status name_overflow(const op *o, silt_status status) {
    if (status == SILT_OK || !o->err || strcmp(o->err->condition, "CAST_OVERFLOW_IN_TABLE_INSERT") != 0) return status;
    silt_error was = *o->err;
    return err_DELTA_CAST_OVERFLOW_IN_TABLE_WRITE(o->err, str_of(was.message));
}

/* ---- finding and writing at once ---- */

static bool may_write_ahead(const update_run *u) {
    const row_find *f = &u->find;
    return u->change.use_dv && !row_change_has_feed(&u->change.target) && !f->reads_target_too && f->n_candidates > 0 && f->n_whole == 0 && row_find_is_early(f, u->table);
}

/* Rows are found and written as usual, then. */
static silt_status forget_ahead(update_run *u) {
    row_change_discard(&u->change);
    u->change.new_rows = NULL;
    return row_find_clear(&u->find);
}

static silt_status write_noted(update_run *u) {
    const op *o = u->o;
    row_change *c = &u->change;
    int64_t rows;
    TRY(row_change_shape(c));
    TRY(narrow_table(u, u->find.candidates));
    TRY(updated_rows(u, &c->new_rows));
    silt_status status = row_change_write_ahead(c, &rows);
    if (status != SILT_OK && engine_row_notes_are_too_many(u->notes)) {
        if (o->err) *o->err = (silt_error){0};
        return forget_ahead(u);
    }
    TRY(status);
    return engine_row_notes_are_of(u->notes, rows) ? SILT_OK : forget_ahead(u);
}

static silt_status write_ahead(update_run *u) {
    const op *o = u->o;
    u->found_ms = time_now_ms();
    TRY(engine_row_notes_new(o->env->engine, u->find.rows, row_change_hidden_share_max(o), &u->notes, o->err));
    silt_status status = write_noted(u);
    engine_row_notes_free(u->notes);
    u->notes = NULL;
    if (status != SILT_OK) row_change_discard(&u->change);
    return status;
}

static silt_status update_rows(update_run *u, dml_result *out) {
    row_change *c = &u->change;
    c->whole_files = u->find.whole;
    c->updates = true;
    c->use_dv = row_change_uses_dv(u->o, &c->target, "update");
    if (may_write_ahead(u)) TRY(write_ahead(u));
    if (!c->written_ahead) TRY(row_find_run(&u->find));
    if (!c->written_ahead) u->found_ms = time_now_ms();
    if (u->find.n_whole == 0 && !has_partial_files(u)) return SILT_OK;
    c->gone = u->find.rows;
    silt_status status = change_and_commit(u, out);
    if (status != SILT_OK && status != SILT_UNKNOWN) row_change_discard(c);
    if (status == SILT_OK) out->rows = c->counts.rows_written - c->counts.rows_copied;
    row_change_end(c);
    return status;
}

static silt_status begin(const op *o, const update_spec *spec, update_run *out) {
    const dml_target *t = &spec->target;
    *out =
        (update_run){.o = o, .spec = spec, .schema = delta_snapshot_metadata(t->snapshot)->schema, .started_ms = time_now_ms()};
    out->change = (row_change){.o = o, .table_name = t->table_name, .root = t->root, .snapshot = t->snapshot};
    ops_write_target_init(&out->change.target, t->snapshot);
    return delta_txn_begin(o->env->delta, t->snapshot, t->root, &out->change.txn,
                           o->err); /* refuses what this build must not write */
}

silt_status ops_update(const ops_env *env, const update_spec *spec, dml_result *out, silt_error *err) {
    op o = {env, arena_new(), err};
    update_run u;
    if (!o.a) return error_no_memory(err);
    *out = (dml_result){.version = -1};
    silt_status status = begin(&o, spec, &u);
    if (status == SILT_OK) {
        status = find(&u);
        if (status == SILT_OK) status = update_rows(&u, out);
        status = name_overflow(&o, status);
        delta_txn_free(u.change.txn);
    }
    arena_free(o.a);
    return status;
}

silt_status ops_explain_update(const ops_env *env, const update_spec *spec, bool extended, buf *out, silt_error *err) {
    op o = {env, arena_new(), err};
    update_run u;
    if (!o.a) return error_no_memory(err);
    silt_status status = begin(&o, spec, &u);
    if (status == SILT_OK) {
        status = find(&u);
        bool dv = row_change_uses_dv(&o, &u.change.target, "update");
        if (status == SILT_OK)
            status = row_find_explain(
                &u.find, "Update", dv ? "deletion vectors and new files for the changed rows" : "copy-on-write", extended, out);
        delta_txn_free(u.change.txn);
    }
    arena_free(o.a);
    return status;
}
