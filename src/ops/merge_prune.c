/*
 * Which files of the target a MERGE reads. A row can matter only
 *
 *   as a match       the conjuncts of ON over the target alone are true, its join keys are among the source's values, and where there are MATCHED clauses only, what some
 *                    clause asks of the target alone is true
 *   by itself        the condition of a NOT MATCHED BY SOURCE clause is true
 *
 * so a file where neither can be true is not opened. The source's values are asked for when several files are left: the distinct values of keys that are partition columns
 * (two of four hundred partitions, wherever they lie), else the least and the greatest. Delta counts source rows that match one target row over the files that such
 * conditions leave, before the conditions decide about rows; so does merge.c.
 */
#include "expr/tree_tools.h"
#include "ops/merge_run.h"
#include "ops/query_values.h"

#define DISTINCT_MAX        2000 /* partition values that are listed; above, the range */
#define DISTINCT_SOURCE_MAX 256  /* rows of a source whose values are listed for other columns too */

static silt_status bind_tree(const op *o, expr *e, expr **out) { return expr_bind(e, NULL, o->env->bind, o->a, out, o->err); }

static silt_status junction(const op *o, predicate_kind kind, const predicate **parts, size_t n, const predicate **out) {
    *out = n == 1 ? parts[0] : NULL;
    if (n == 1) return SILT_OK;
    predicate *p = ARENA_NEW(o->a, predicate);
    if (!p) return error_no_memory(o->err);
    p->kind = n > 0 ? kind : kind == PRED_AND ? PRED_TRUE : PRED_FALSE;
    p->children = parts;
    p->n_children = n;
    *out = p;
    return SILT_OK;
}

static silt_status over_target(const merge_run *m, const expr *e, const predicate **out) {
    const op *o = m->o;
    return expr_to_predicate(e, &m->target.scope, o->env->bind, o->a, out, o->err);
}

/* ---- the source's values ---- */

static bool is_listed_type(const data_type *t) { return !type_is_nested(t) && t->id != TYPE_VOID && t->id != TYPE_BINARY && t->id != TYPE_VARIANT && t->id < TYPE_INTERVAL_YM; }

static bool to_rows(void *ctx, expr *e) {
    merge_run *m = ctx;
    if (e->kind == EXPR_COLUMN && e->source == &m->source.scope) e->source = m->source.rows;
    return true;
}

static silt_status source_expr(merge_run *m, const expr *e, expr **out) {
    *out = expr_clone(e, m->o->a);
    if (!*out) return error_no_memory(m->o->err);
    expr_walk(*out, to_rows, m);
    return SILT_OK;
}

static silt_status select_from_source(merge_run *m, expr **items, size_t n, query **out) {
    const op *o = m->o;
    field *fields = ARENA_ARRAY(o->a, n, field);
    if (!fields) return error_no_memory(o->err);
    for (size_t i = 0; i < n; i++) fields[i] = field_make(STR("v"), items[i]->type, true);
    data_type *type = ARENA_NEW(o->a, data_type);
    if (!type) return error_no_memory(o->err);
    *type = (data_type){.id = TYPE_STRUCT, .fields = fields, .n_fields = n};
    return ops_rows_select(o, m->source.rows, items, type, out);
}

static silt_status aggregate_source(merge_run *m, const char *const *functions, expr *const *args, size_t n, query_values *out) {
    const op *o = m->o;
    expr **items = ARENA_ARRAY(o->a, n, expr *);
    query *q;
    if (!items) return error_no_memory(o->err);
    for (size_t i = 0; i < n; i++) {
        TRY(ops_tree_call(o, functions[i], args[i], NULL, &items[i]));
        TRY(bind_tree(o, items[i], &items[i]));
    }
    TRY(select_from_source(m, items, n, &q));
    q->has_aggregates = true;
    return ops_query_values(o, q, out);
}

static silt_status count_source(merge_run *m) {
    const op *o = m->o;
    query_values rows;
    expr *one = expr_literal_i64(o->a, 1);
    if (!one) return error_no_memory(o->err);
    TRY(aggregate_source(m, (const char *const[]){"count"}, (expr *const[]){one}, 1, &rows));
    m->n_source_rows = rows.n == 1 ? rows.items[0].as.i64 : 0;
    return SILT_OK;
}

/* ---- what the values say about the target ---- */

static silt_status literal(const op *o, const value *v, expr **out) {
    *out = expr_literal(o->a, *v, (source_span){0, 0});
    return *out ? SILT_OK : error_no_memory(o->err);
}

static silt_status compare(merge_run *m, const merge_key *k, const char *test, const value *v, const predicate **out) {
    const op *o = m->o;
    expr *column = expr_clone(k->target, o->a), *other, *e;
    if (!column) return error_no_memory(o->err);
    TRY(literal(o, v, &other));
    TRY(ops_tree_call(o, test, column, other, &e));
    TRY(bind_tree(o, e, &e));
    return over_target(m, e, out);
}

static silt_status in_list(merge_run *m, const merge_key *k, const value *values, size_t n, const predicate **out) {
    const op *o = m->o;
    expr **args = ARENA_ARRAY(o->a, n + 1, expr *), *e;
    if (!args || !(args[0] = expr_clone(k->target, o->a))) return error_no_memory(o->err);
    for (size_t i = 0; i < n; i++) TRY(literal(o, &values[i], &args[i + 1]));
    e = expr_call(o->a, "in", args, n + 1, (source_span){0, 0});
    if (!e) return error_no_memory(o->err);
    TRY(bind_tree(o, e, &e));
    return over_target(m, e, out);
}

static silt_status or_null(merge_run *m, const merge_key *k, bool has_null, const predicate **p) {
    const op *o = m->o;
    if (!k->null_safe || !has_null) return SILT_OK;
    const predicate **parts = ARENA_ARRAY(o->a, 2, const predicate *);
    expr *column = expr_clone(k->target, o->a), *e;
    if (!parts || !column) return error_no_memory(o->err);
    TRY(ops_tree_call(o, "isnull", column, NULL, &e));
    TRY(bind_tree(o, e, &e));
    parts[0] = *p;
    TRY(over_target(m, e, &parts[1]));
    return junction(o, PRED_OR, parts, 2, p);
}

static bool is_partition_key(const merge_run *m, const merge_key *k) {
    const expr *e = k->target;
    while (e->kind == EXPR_CAST) e = e->args[0];
    const table_source *t = m->target.scope.source;
    for (size_t i = 0; e->kind == EXPR_COLUMN && i < t->n_partition_columns; i++)
        if (t->partition_columns[i] == e->column) return true;
    return false;
}

/* The distinct values, *out_listed false where there are too many. */
static silt_status listed_values(merge_run *m, const merge_key *k, const predicate **out, bool *out_listed) {
    const op *o = m->o;
    query_values rows;
    query *q;
    expr **items = ARENA_ARRAY(o->a, 1, expr *);
    bool has_null = false;
    size_t n = 0;
    if (!items) return error_no_memory(o->err);
    TRY(source_expr(m, k->source, &items[0]));
    TRY(select_from_source(m, items, 1, &q));
    q->distinct = true;
    q->limit = expr_literal_i64(o->a, DISTINCT_MAX + 1);
    if (!q->limit) return error_no_memory(o->err);
    TRY(bind_tree(o, q->limit, &q->limit));
    TRY(ops_query_values(o, q, &rows));
    *out_listed = rows.n <= DISTINCT_MAX;
    if (!*out_listed) return SILT_OK;
    for (size_t i = 0; i < rows.n; i++) {
        if (rows.items[i].is_null) has_null = true;
        else rows.items[n++] = rows.items[i];
    }
    if (n == 0) TRY(junction(o, PRED_OR, NULL, 0, out));
    else TRY(in_list(m, k, rows.items, n, out));
    return or_null(m, k, has_null, out);
}

static silt_status range_of_values(merge_run *m, const merge_key *k, const predicate **out) {
    const op *o = m->o;
    query_values rows;
    expr *args[3];
    for (size_t i = 0; i < 3; i++) TRY(source_expr(m, k->source, &args[i]));
    TRY(aggregate_source(m, (const char *const[]){"min", "max", "count"}, args, 3, &rows));
    const predicate **parts = ARENA_ARRAY(o->a, 2, const predicate *);
    if (!parts) return error_no_memory(o->err);
    bool any = rows.n == 3 && !rows.items[0].is_null && !rows.items[1].is_null;
    if (any) {
        TRY(compare(m, k, ">=", &rows.items[0], &parts[0]));
        TRY(compare(m, k, "<=", &rows.items[1], &parts[1]));
    }
    TRY(junction(o, any ? PRED_AND : PRED_OR, parts, any ? 2 : 0, out));
    return or_null(m, k, !any || rows.items[2].as.i64 < m->n_source_rows, out);
}

static silt_status values_of_key(merge_run *m, const merge_key *k, const predicate **out) {
    bool listed = false;
    if (is_partition_key(m, k) || m->n_source_rows <= DISTINCT_SOURCE_MAX) TRY(listed_values(m, k, out, &listed));
    return listed ? SILT_OK : range_of_values(m, k, out);
}

/* ---- conditions ---- */

typedef struct side_check {
    const merge_run *m;
    bool ok;
} side_check;

static bool is_target_only(void *ctx, expr *e) {
    side_check *c = ctx;
    c->ok &= e->kind != EXPR_COLUMN || e->source == &c->m->target.scope;
    return c->ok;
}

static silt_status add_target_conjuncts(const merge_run *m, expr *e, const predicate **parts, size_t *n) {
    if (e->kind == EXPR_CALL && str_eqz(e->function_name, "and")) {
        TRY(add_target_conjuncts(m, e->args[0], parts, n));
        return add_target_conjuncts(m, e->args[1], parts, n);
    }
    side_check c = {m, true};
    expr_walk(e, is_target_only, &c);
    return c.ok ? over_target(m, e, &parts[(*n)++]) : SILT_OK;
}

static size_t count_conjuncts(const expr *e) {
    bool both = e->kind == EXPR_CALL && str_eqz(e->function_name, "and");
    return both ? count_conjuncts(e->args[0]) + count_conjuncts(e->args[1]) : 1;
}

/* What a condition asks of the target alone; everything is possible where it asks nothing. */
static silt_status target_part(const merge_run *m, expr *condition, const predicate **out) {
    const op *o = m->o;
    size_t n = 0;
    const predicate **parts = ARENA_ARRAY(o->a, condition ? count_conjuncts(condition) : 1, const predicate *);
    if (!parts) return error_no_memory(o->err);
    if (condition) TRY(add_target_conjuncts(m, condition, parts, &n));
    return junction(o, PRED_AND, parts, n, out);
}

static silt_status any_clause(const merge_run *m, merge_when when, const predicate **out) {
    const op *o = m->o;
    size_t n = 0;
    const predicate **parts = ARENA_ARRAY(o->a, m->spec->n_clauses + 1, const predicate *);
    if (!parts) return error_no_memory(o->err);
    for (size_t i = 0; i < m->spec->n_clauses; i++)
        if (m->clauses[i].clause->when == when) TRY(target_part(m, m->clauses[i].condition, &parts[n++]));
    return junction(o, PRED_OR, parts, n, out);
}

static silt_status may_match(merge_run *m, bool with_source, const predicate **out) {
    const op *o = m->o;
    const merge_on *on = &m->parts;
    size_t n = 0;
    const predicate **parts = ARENA_ARRAY(o->a, on->n_target_only + on->n_keys + 2, const predicate *);
    if (!parts) return error_no_memory(o->err);
    for (size_t i = 0; i < on->n_target_only; i++) TRY(over_target(m, on->target_only[i], &parts[n++]));
    if (m->matched_only) TRY(any_clause(m, WHEN_MATCHED, &parts[n++]));
    for (size_t i = 0; with_source && i < on->n_keys; i++)
        if (is_listed_type(on->keys[i].source->type)) TRY(values_of_key(m, &on->keys[i], &parts[n++]));
    return junction(o, PRED_AND, parts, n, out);
}

static silt_status may_matter(merge_run *m, bool with_source, const predicate **out) {
    const op *o = m->o;
    const predicate **parts = ARENA_ARRAY(o->a, 2, const predicate *);
    if (!parts) return error_no_memory(o->err);
    TRY(may_match(m, with_source, &parts[0]));
    if (m->has_by_source) TRY(any_clause(m, WHEN_NOT_MATCHED_BY_SOURCE, &parts[1]));
    return junction(o, PRED_OR, parts, m->has_by_source ? 2 : 1, out);
}

/* ---- files ---- */

/* The same predicate with everything but partition columns unknown. */
static silt_status partition_part(const merge_run *m, const predicate *p, const predicate **out) {
    const op *o = m->o;
    predicate *copy = ARENA_NEW(o->a, predicate);
    const predicate **children = ARENA_ARRAY(o->a, p->n_children + 1, const predicate *);
    if (!copy || !children) return error_no_memory(o->err);
    *copy = *p;
    bool is_partition = false;
    const table_source *t = m->target.scope.source;
    for (size_t i = 0; p->column.depth == 1 && i < t->n_partition_columns; i++) is_partition |= t->partition_columns[i] == p->column.index[0];
    if (p->column.depth > 0 && !is_partition) copy->kind = PRED_UNKNOWN;
    for (size_t i = 0; i < p->n_children; i++) TRY(partition_part(m, p->children[i], &children[i]));
    copy->children = children;
    *out = copy;
    return SILT_OK;
}

static size_t count_kept(const uint8_t *keep, size_t n) {
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) kept += keep[i] != 0;
    return kept;
}

static silt_status ask_log(merge_run *m) {
    const op *o = m->o;
    uint8_t *by_partition, *all;
    const predicate *partition;
    TRY(partition_part(m, m->read, &partition));
    TRY(delta_files_matching(m->target.scope.source, partition, o->a, &by_partition, &all, o->err));
    TRY(delta_files_matching(m->target.scope.source, m->read, o->a, &m->keep, &all, o->err));
    m->n_keep = count_kept(m->keep, m->n_files);
    m->pruned_by_partition = m->n_files - count_kept(by_partition, m->n_files);
    m->pruned_by_stats = m->n_files - m->pruned_by_partition - m->n_keep;
    return SILT_OK;
}

silt_status merge_prune(merge_run *m, bool with_source) {
    TRY(may_matter(m, false, &m->read));
    TRY(ask_log(m));
    if (!with_source) return SILT_OK;
    bool asks_source = m->n_keep > 1 && m->parts.n_keys > 0;
    TRY(merge_keep_source(m, asks_source));
    TRY(count_source(m));
    if (!asks_source) return SILT_OK;
    TRY(may_matter(m, true, &m->read));
    return ask_log(m);
}
