/*
 * The one query of a MERGE. Source and target are joined once, as the clauses need it, and every pair or lone row gets the number of the clause that takes it:
 *
 *     source INNER JOIN target   MATCHED clauses only            source RIGHT JOIN target   with NOT MATCHED BY SOURCE
 *     source LEFT JOIN target    with NOT MATCHED                source FULL JOIN target    with both
 *     source ANTI JOIN target    NOT MATCHED clauses only: nothing but an append
 *
 *     SELECT final columns, action, file, row … FROM (SELECT …, CASE … END AS action FROM (SELECT … FROM join)) WHERE action IS NOT NULL
 *
 * Action 0 is a match that no clause takes: it counts for ambiguity. NULL: a lone row that no clause takes. Values stand in branches by action, so that an expression is
 * evaluated only for the rows of its clause.
 *
 * DuckDB hashes an outer join only where every conjunct of ON compares the two sides. A conjunct over one side is therefore put into a key: (CASE WHEN it THEN key END) equals
 * nothing where it does not hold. Where another conjunct takes from both sides at once (t.a + s.b > 3), an inner join, which is hashed all the same, finds the pairs, and outer
 * joins by the source's row number and the target row's place bring in what has no partner.
 */
#include "expr/tree_tools.h"
#include "ops/generated.h"
#include "ops/merge_run.h"

static silt_status bind_tree(const op *o, expr *e, expr **out) { return expr_bind(e, NULL, o->env->bind, o->a, out, o->err); }

static join_type join_of(const merge_run *m) {
    if (m->insert_only) return JOIN_LEFT_ANTI;
    if (m->has_by_source) return m->has_not_matched ? JOIN_FULL : JOIN_RIGHT;
    return m->has_not_matched ? JOIN_LEFT : JOIN_INNER;
}

const char *merge_join_name(const merge_run *m) {
    switch (join_of(m)) {
        case JOIN_LEFT_ANTI: return "anti join (rows of the source without a match)";
        case JOIN_FULL: return "full outer join";
        case JOIN_RIGHT: return "right outer join (every row of the target)";
        case JOIN_LEFT: return "left outer join (every row of the source)";
        default: return "inner join";
    }
}

/* ---- the sides ---- */

static void release_source(void *source) {
    table_source *t = source;
    t->ops->release(t);
}

static silt_status target_rows(merge_run *m, relation **out) {
    const op *o = m->o;
    table_source *source;
    TRY(delta_table_source_files(m->spec->target.snapshot, m->keep, &source, o->err));
    if (!arena_defer(o->a, release_source, source)) {
        release_source(source);
        return error_no_memory(o->err);
    }
    TRY(ops_rows_of_source(o, source, true, m->spec->target.reference->alias, out));
    (*out)->name = m->spec->target.reference->name; /* for EXPLAIN */
    return SILT_OK;
}

static bool needs_marker(const merge_run *m) { return m->has_by_source; }

/* The source's rows with a TRUE behind their columns, which an outer join makes NULL, and their number behind that where they have one. */
static silt_status mark_source(merge_run *m, relation *rows, relation **out) {
    const op *o = m->o;
    size_t n = m->source.scope.n_columns, total = n + (merge_numbers_source(m) && m->kept_source ? 2 : 1);
    expr **items = ARENA_ARRAY(o->a, n + 2, expr *);
    field *fields = ARENA_ARRAY(o->a, n + 2, field);
    query *q;
    if (!items || !fields) return error_no_memory(o->err);
    for (size_t i = 0; i < n; i++) {
        TRY(ops_rows_column(o, rows, i, &items[i]));
        fields[i] = field_make(m->source.scope.columns[i].name, items[i]->type, true);
    }
    items[n] = expr_literal(o->a, (value){.type = &type_boolean, .as.boolean = true}, (source_span){0, 0});
    if (!items[n]) return error_no_memory(o->err);
    TRY(bind_tree(o, items[n], &items[n]));
    fields[n] = field_make(STR("present"), &type_boolean, false);
    if (total == n + 2) {
        TRY(ops_rows_column(o, rows, n, &items[n + 1]));
        fields[n + 1] = field_make(STR("number"), &type_long, true);
    }
    const data_type *type = type_struct(o->a, fields, total);
    if (!type) return error_no_memory(o->err);
    TRY(ops_rows_select(o, rows, items, type, &q));
    return ops_rows_over(o, q, q->column_names, out);
}

static bool move_side(void *ctx, expr *e) {
    merge_run *m = ctx;
    if (e->kind != EXPR_COLUMN) return true;
    if (e->source == &m->target.scope) e->source = m->target.rows;
    if (e->source == &m->source.scope) e->source = m->source.rows;
    return true;
}

/* ---- ON ---- */

/* Halves: a condition of thousands of terms is no deep tree. */
static silt_status all_of(const op *o, expr **items, size_t n, expr **out) {
    expr *left, *right;
    *out = items[0];
    if (n == 1) return SILT_OK;
    TRY(all_of(o, items, n / 2, &left));
    TRY(all_of(o, items + n / 2, n - n / 2, &right));
    return ops_tree_call(o, "and", left, right, out);
}

static silt_status conjunction(const op *o, expr **items, size_t n, expr **out) {
    *out = NULL;
    if (n == 0) return SILT_OK;
    TRY(all_of(o, items, n, out));
    return bind_tree(o, *out, out);
}

/* *side becomes CASE WHEN conditions THEN *side END. */
static silt_status guard_key(const op *o, expr **side, expr **conditions, size_t n) {
    expr *all, *none, *guarded;
    if (n == 0) return SILT_OK;
    TRY(conjunction(o, conditions, n, &all));
    TRY(ops_tree_null(o, &none));
    TRY(ops_tree_case(o, 1, none, &guarded));
    guarded->args[0] = all;
    guarded->args[1] = *side;
    return bind_tree(o, guarded, side);
}

static merge_key *hashable_key(merge_on *on) {
    for (size_t i = 0; i < on->n_keys; i++)
        if (!on->keys[i].null_safe) return &on->keys[i];
    return NULL;
}

static void set_side(merge_key *k, const expr *was, expr *now) {
    for (size_t i = 0; i < 2; i++)
        if (k->equality->args[i] == was) k->equality->args[i] = now;
}

static silt_status guard_keys(merge_run *m, bool guard_target, bool guard_source) {
    merge_on *on = &m->parts;
    merge_key *k = hashable_key(on);
    if (!k) return SILT_OK;
    if (guard_target) {
        expr *side = k->target;
        TRY(guard_key(m->o, &side, on->target_only, on->n_target_only));
        set_side(k, k->target, side);
        on->n_target_only = 0;
    }
    if (guard_source) {
        expr *side = k->source;
        TRY(guard_key(m->o, &side, on->source_only, on->n_source_only));
        set_side(k, k->source, side);
        on->n_source_only = 0;
    }
    return SILT_OK;
}

bool merge_numbers_source(const merge_run *m) { return m->parts.n_residual > 0 && join_of(m) != JOIN_INNER && m->parts.n_keys > 0; }

static silt_status join_condition(merge_run *m, join_type j, expr **out) {
    const op *o = m->o;
    merge_on *on = &m->parts;
    TRY(guard_keys(m, j == JOIN_FULL || j == JOIN_RIGHT, j == JOIN_FULL || j == JOIN_LEFT || j == JOIN_LEFT_ANTI));
    expr **items = ARENA_ARRAY(o->a, on->n_keys + on->n_target_only + on->n_source_only + on->n_compared + on->n_residual + 1, expr *);
    size_t n = 0;
    if (!items) return error_no_memory(o->err);
    for (size_t i = 0; i < on->n_keys; i++) items[n++] = on->keys[i].equality;
    for (size_t i = 0; i < on->n_target_only; i++) items[n++] = on->target_only[i];
    for (size_t i = 0; i < on->n_source_only; i++) items[n++] = on->source_only[i];
    for (size_t i = 0; i < on->n_compared; i++) items[n++] = on->compared[i];
    for (size_t i = 0; i < on->n_residual; i++) items[n++] = on->residual[i];
    TRY(conjunction(o, items, n, out));
    expr_walk(*out, move_side, m);
    return SILT_OK;
}

/* ---- columns that go up from the join ---- */

typedef struct lift {
    merge_run *m;
    expr **items;
    field *fields;
    size_t n, capacity, n_fields, field_capacity;
    uint32_t *of_target, *of_source; /**< number + 1 by column of the side, 0: not lifted */
    relation *to;                    /**< when moving: the relation over the lifted columns */
    bool failed;
} lift;

/* Names are for EXPLAIN alone. */
static bool add_item(lift *l, expr *e, const char *side, str column, uint32_t *out) {
    arena *a = l->m->o->a;
    field f = field_make(arena_printf(a, "%s.%.*s", side, STR_ARG(column)), e->type, true);
    if (str_is_null(f.name)) return false;
    if (!ARENA_PUSH(a, l->items, l->n, l->capacity, e) || !ARENA_PUSH(a, l->fields, l->n_fields, l->field_capacity, f)) return false;
    *out = (uint32_t)l->n;
    return true;
}

static uint32_t *lifted_place(lift *l, const expr *e) {
    if (e->kind != EXPR_COLUMN) return NULL;
    if (e->source == &l->m->target.scope || e->source == l->m->target.rows) return &l->of_target[e->column];
    if (e->source == &l->m->source.scope || e->source == l->m->source.rows) return &l->of_source[e->column];
    return NULL;
}

static bool lift_column(void *ctx, expr *e) {
    lift *l = ctx;
    uint32_t *place = lifted_place(l, e);
    if (!place || *place) return true;
    bool of_target = e->source == &l->m->target.scope || e->source == l->m->target.rows;
    relation *side = of_target ? l->m->target.rows : l->m->source.rows;
    expr *item;
    l->failed = ops_rows_column(l->m->o, side, e->column, &item) != SILT_OK || !add_item(l, item, of_target ? "target" : "source", side->columns[e->column].name, place);
    return !l->failed;
}

static bool move_column(void *ctx, expr *e) {
    lift *l = ctx;
    const uint32_t *place = lifted_place(l, e);
    if (!place) return true;
    e->column = *place - 1;
    e->source = l->to;
    return true;
}

static silt_status lift_expr(lift *l, expr *e) {
    if (e) expr_walk(e, lift_column, l);
    return l->failed ? error_no_memory(l->m->o->err) : SILT_OK;
}

static void move_expr(lift *l, relation *to, expr *e) {
    l->to = to;
    if (e) expr_walk(e, move_column, l);
}

/* ---- actions ---- */

static silt_status number(const op *o, int64_t n, expr **out) {
    *out = expr_literal_i64(o->a, n);
    return *out ? SILT_OK : error_no_memory(o->err);
}

/* CASE WHEN condition THEN number … END over the clauses of one kind, in order. */
static silt_status choose_clause(merge_run *m, merge_when when, expr **out) {
    const op *o = m->o;
    size_t n = 0, k = 0;
    expr *otherwise;
    for (size_t i = 0; i < m->spec->n_clauses; i++) n += m->clauses[i].clause->when == when && m->clauses[i].condition;
    if (when == WHEN_MATCHED) TRY(number(o, 0, &otherwise));
    else TRY(ops_tree_null(o, &otherwise));
    for (size_t i = 0; i < m->spec->n_clauses; i++)
        if (m->clauses[i].clause->when == when && !m->clauses[i].condition) TRY(number(o, (int64_t)i + 1, &otherwise));
    *out = otherwise;
    if (n == 0) return SILT_OK;
    TRY(ops_tree_case(o, n, otherwise, out));
    for (size_t i = 0; i < m->spec->n_clauses; i++) {
        if (m->clauses[i].clause->when != when || !m->clauses[i].condition) continue;
        (*out)->args[2 * k] = m->clauses[i].condition;
        TRY(number(o, (int64_t)i + 1, &(*out)->args[2 * k + 1]));
        k++;
    }
    return SILT_OK;
}

static silt_status absent(const op *o, relation *rows, uint32_t column, expr **out) {
    expr *e;
    TRY(ops_rows_column(o, rows, column, &e));
    return ops_tree_call(o, "isnull", e, NULL, out);
}

/* Which clause takes the row: over the lifted columns, of which `file` and `present` tell whether the sides have a part in it. */
static silt_status action_of(merge_run *m, relation *rows, uint32_t file, uint32_t present, expr **out) {
    const op *o = m->o;
    expr *matched, *not_matched, *by_source;
    TRY(choose_clause(m, WHEN_MATCHED, &matched));
    TRY(choose_clause(m, WHEN_NOT_MATCHED, &not_matched));
    TRY(choose_clause(m, WHEN_NOT_MATCHED_BY_SOURCE, &by_source));
    join_type j = join_of(m);
    if (j == JOIN_INNER) *out = matched;
    else if (j == JOIN_LEFT_ANTI) *out = not_matched;
    else {
        size_t n = j == JOIN_FULL ? 2 : 1, k = 0;
        TRY(ops_tree_case(o, n, matched, out));
        if (j != JOIN_LEFT) {
            TRY(absent(o, rows, present, &(*out)->args[2 * k]));
            (*out)->args[2 * k++ + 1] = by_source;
        }
        if (j != JOIN_RIGHT) {
            TRY(absent(o, rows, file, &(*out)->args[2 * k]));
            (*out)->args[2 * k + 1] = not_matched;
        }
    }
    TRY(bind_tree(o, *out, out));
    return expr_coerce(*out, &type_long, CAST_EXPLICIT, STR("action"), o->env->bind, o->a, out, o->err);
}

/* ---- values ---- */

static bool makes_row(const bound_clause *c) { return c->clause->action != MERGE_DELETE; }

static silt_status is_action(const op *o, relation *rows, size_t action, size_t clause, expr **out) {
    expr *column, *n;
    TRY(ops_rows_column(o, rows, action, &column));
    TRY(number(o, (int64_t)clause + 1, &n));
    return ops_tree_call(o, "=", column, n, out);
}

static bool is_plain(const expr *e) { return e->kind == EXPR_COLUMN || e->kind == EXPR_LITERAL; }

/* values[k]: of the k-th clause, NULL where it makes no row. */
static silt_status by_action(merge_run *m, relation *rows, size_t action, expr *const *values, const data_type *type, expr **out) {
    const op *o = m->o;
    size_t n = 0, k = 0, last = 0;
    expr *none;
    for (size_t i = 0; i < m->spec->n_clauses; i++)
        if (values[i]) n++, last = i;
    bool same = n > 0 && is_plain(values[last]);
    for (size_t i = 0; same && i < m->spec->n_clauses; i++) same = !values[i] || expr_equal(values[i], values[last]);
    if (same) { /* UPDATE SET * and INSERT * */
        *out = values[last];
        return SILT_OK;
    }
    TRY(ops_tree_null(o, &none));
    TRY(ops_tree_case(o, n, none, out));
    for (size_t i = 0; i < m->spec->n_clauses; i++) {
        if (!values[i]) continue;
        TRY(is_action(o, rows, action, i, &(*out)->args[2 * k]));
        (*out)->args[2 * k++ + 1] = values[i];
    }
    TRY(bind_tree(o, *out, out));
    return expr_coerce(*out, type, CAST_EXPLICIT, STR("value"), o->env->bind, o->a, out, o->err);
}

/** Everything that the query is made of. */
typedef struct plan {
    merge_run *m;
    lift up;
    uint32_t file, row, present; /**< lifted columns */
    uint32_t source_file, source_row; /**< those of a source that is read again (merge_reread.c) */
    expr *row_id;                /**< over the target's rows, NULL */
    expr ***values;              /**< [column][clause]; NULL: no clause makes rows */
    bool *missing;               /**< columns that some clause leaves to the table */
    size_t n_missing;
} plan;

static silt_status make_values(plan *p) {
    merge_run *m = p->m;
    const op *o = m->o;
    size_t n = m->change.target.schema->n_fields, rows = 0;
    p->missing = ARENA_ARRAY(o->a, n + 1, bool);
    if (!p->missing) return error_no_memory(o->err);
    for (size_t i = 0; i < m->spec->n_clauses; i++) rows += makes_row(&m->clauses[i]);
    if (rows == 0) return SILT_OK;
    p->values = ARENA_ARRAY(o->a, n + 1, expr **);
    if (!p->values) return error_no_memory(o->err);
    for (size_t c = 0; c < n; c++) {
        p->values[c] = ARENA_ARRAY(o->a, m->spec->n_clauses + 1, expr *);
        if (!p->values[c]) return error_no_memory(o->err);
        for (size_t i = 0; i < m->spec->n_clauses; i++) {
            if (!makes_row(&m->clauses[i])) continue;
            TRY(merge_value(m, &m->clauses[i], c, &p->values[c][i]));
            p->missing[c] |= merge_leaves(m, &m->clauses[i], c);
        }
        p->n_missing += p->missing[c];
    }
    return SILT_OK;
}

static silt_status lift_place(plan *p, relation *side, size_t column, uint32_t *out) {
    expr *e;
    uint32_t place;
    TRY(ops_rows_column(p->m->o, side, column, &e));
    if (!add_item(&p->up, e, side == p->m->source.rows ? "source" : "target", side->columns[column].name, &place)) return error_no_memory(p->m->o->err);
    *out = place - 1;
    return SILT_OK;
}

static silt_status lift_all(plan *p) {
    merge_run *m = p->m;
    size_t n = m->change.target.schema->n_fields, hidden = m->target.rows->source->schema->n_fields;
    p->up = (lift){.m = m, .of_target = ARENA_ARRAY(m->o->a, hidden + 4, uint32_t), .of_source = ARENA_ARRAY(m->o->a, m->source.rows->n_columns + 2, uint32_t)};
    if (!p->up.of_target || !p->up.of_source) return error_no_memory(m->o->err);
    if (!m->insert_only) {
        TRY(lift_place(p, m->target.rows, hidden + 1, &p->file));
        TRY(lift_place(p, m->target.rows, hidden + 2, &p->row));
    }
    if (m->reread.values) {
        TRY(lift_place(p, m->source.rows, m->source.scope.n_columns, &p->source_file));
        TRY(lift_place(p, m->source.rows, m->source.scope.n_columns + 1, &p->source_row));
        p->present = p->source_row;
    } else if (needs_marker(m)) TRY(lift_place(p, m->source.rows, m->source.scope.n_columns, &p->present));
    for (size_t i = 0; i < m->spec->n_clauses; i++) TRY(lift_expr(&p->up, m->clauses[i].condition));
    for (size_t c = 0; p->values && c < n; c++)
        for (size_t i = 0; i < m->spec->n_clauses; i++) TRY(lift_expr(&p->up, p->values[c][i]));
    return lift_expr(&p->up, p->row_id);
}

/* ---- the queries, from the inside out ---- */

static silt_status select_items(const op *o, relation *rows, expr **items, const field *fields, size_t n, query **out) {
    field *copy = ARENA_ARRAY(o->a, n + 1, field);
    if (!copy) return error_no_memory(o->err);
    memcpy(copy, fields, n * sizeof *copy);
    const data_type *type = type_struct(o->a, copy, n);
    return type ? ops_rows_select(o, rows, items, type, out) : error_no_memory(o->err);
}

static silt_status join_rows(const op *o, join_type j, relation *left, relation *right, relation **out) {
    relation *r = ARENA_NEW(o->a, relation);
    if (!r) return error_no_memory(o->err);
    *r = (relation){.kind = REL_JOIN, .join = j, .left = left, .right = right, .sample_percent = -1, .sample_rows = -1};
    *out = r;
    return SILT_OK;
}

static silt_status equal_columns(const op *o, relation *a, size_t column_a, relation *b, size_t column_b, expr **out) {
    expr *x, *y;
    TRY(ops_rows_column(o, a, column_a, &x));
    TRY(ops_rows_column(o, b, column_b, &y));
    return ops_tree_call(o, "=", x, y, out);
}

/** The parts of a join that goes by numbers and places. */
typedef struct numbered {
    relation *pairs;           /**< number, then the lifted columns */
    relation *source, *target; /**< the sides once more, for what has no partner */
    size_t number;             /**< column of `source` */
} numbered;

static silt_status find_pairs(plan *p, numbered *n) {
    merge_run *m = p->m;
    const op *o = m->o;
    relation *r;
    query *q;
    expr **items = ARENA_ARRAY(o->a, p->up.n + 1, expr *);
    field *fields = ARENA_ARRAY(o->a, p->up.n + 1, field);
    if (!items || !fields) return error_no_memory(o->err);
    TRY(join_rows(o, JOIN_INNER, m->source.rows, m->target.rows, &r));
    TRY(join_condition(m, JOIN_INNER, &r->on));
    TRY(ops_rows_column(o, m->source.rows, n->number, &items[0]));
    fields[0] = field_make(STR("number"), &type_long, true);
    memcpy(items + 1, p->up.items, p->up.n * sizeof *items);
    memcpy(fields + 1, p->up.fields, p->up.n * sizeof *fields);
    TRY(select_items(o, r, items, fields, p->up.n + 1, &q));
    return ops_rows_over(o, q, q->column_names, &n->pairs);
}

/* pairs RIGHT JOIN target by place */
static silt_status all_of_target(plan *p, numbered *n, relation **out) {
    const op *o = p->m->o;
    size_t hidden = n->target->source->schema->n_fields;
    expr *file, *row;
    TRY(join_rows(o, JOIN_RIGHT, n->pairs, n->target, out));
    TRY(equal_columns(o, n->pairs, 1 + p->file, n->target, hidden + 1, &file));
    TRY(equal_columns(o, n->pairs, 1 + p->row, n->target, hidden + 2, &row));
    TRY(ops_tree_call(o, "and", file, row, &(*out)->on));
    return bind_tree(o, (*out)->on, &(*out)->on);
}

/* source j rows by number */
static silt_status all_of_source(plan *p, numbered *n, join_type j, relation *rows, relation **out) {
    const op *o = p->m->o;
    TRY(join_rows(o, j, n->source, rows, out));
    TRY(equal_columns(o, n->source, n->number, n->pairs, 0, &(*out)->on));
    return bind_tree(o, (*out)->on, &(*out)->on);
}

static silt_status joined_by_number(plan *p, relation **out) {
    merge_run *m = p->m;
    const op *o = m->o;
    join_type j = join_of(m);
    numbered n = {.number = m->source.scope.n_columns + (needs_marker(m) ? 1 : 0)};
    relation *r;
    query *q;
    expr **items = ARENA_ARRAY(o->a, p->up.n + 1, expr *);
    if (!items) return error_no_memory(o->err);
    TRY(find_pairs(p, &n));
    TRY(ops_rows_of_source(o, m->kept_source, false, STR_NULL, &n.source));
    if (needs_marker(m)) TRY(mark_source(m, n.source, &n.source));
    TRY(target_rows(m, &n.target));
    r = n.pairs;
    if (j == JOIN_RIGHT || j == JOIN_FULL) TRY(all_of_target(p, &n, &r));
    if (j != JOIN_RIGHT) TRY(all_of_source(p, &n, j, r, &r));
    for (size_t i = 0; i < p->up.n; i++) {
        const expr *e = p->up.items[i];
        bool of_source = e->kind == EXPR_COLUMN && e->source == m->source.rows, of_target = e->kind == EXPR_COLUMN && e->source == m->target.rows;
        if (of_source && j != JOIN_RIGHT) TRY(ops_rows_column(o, n.source, e->column, &items[i]));
        else if (of_target && (j == JOIN_RIGHT || j == JOIN_FULL)) TRY(ops_rows_column(o, n.target, e->column, &items[i]));
        else if (of_source || of_target) TRY(ops_rows_column(o, n.pairs, 1 + i, &items[i]));
        else TRY(bind_tree(o, p->up.items[i], &items[i]));
    }
    TRY(select_items(o, r, items, p->up.fields, p->up.n, &q));
    return ops_rows_over(o, q, q->column_names, out);
}

static silt_status joined(plan *p, relation **out) {
    merge_run *m = p->m;
    const op *o = m->o;
    relation *r;
    query *q;
    uint32_t unused;
    if (p->up.n == 0) { /* INSERT of constants alone: a query has at least one column */
        expr *one;
        TRY(number(o, 1, &one));
        TRY(bind_tree(o, one, &one));
        if (!add_item(&p->up, one, "no", STR("column"), &unused)) return error_no_memory(o->err);
    }
    if (merge_numbers_source(m) && m->kept_source) return joined_by_number(p, out);
    TRY(join_rows(o, join_of(m), m->source.rows, m->target.rows, &r));
    TRY(join_condition(m, r->join, &r->on));
    TRY(select_items(o, r, p->up.items, p->up.fields, p->up.n, &q));
    return ops_rows_over(o, q, q->column_names, out);
}

static silt_status with_action(plan *p, relation *rows, size_t *out_action, relation **out) {
    merge_run *m = p->m;
    const op *o = m->o;
    size_t n = p->up.n;
    expr **items = ARENA_ARRAY(o->a, n + 1, expr *);
    field *fields = ARENA_ARRAY(o->a, n + 1, field);
    query *q;
    if (!items || !fields) return error_no_memory(o->err);
    for (size_t i = 0; i < n; i++) TRY(ops_rows_column(o, rows, i, &items[i]));
    memcpy(fields, p->up.fields, n * sizeof *fields);
    for (size_t i = 0; i < m->spec->n_clauses; i++) move_expr(&p->up, rows, m->clauses[i].condition);
    TRY(action_of(m, rows, p->file, p->present, &items[n]));
    fields[n] = field_make(STR("action"), &type_long, true);
    TRY(select_items(o, rows, items, fields, n + 1, &q));
    *out_action = n;
    return ops_rows_over(o, q, q->column_names, out);
}

static silt_status missing_flag(plan *p, relation *rows, size_t action, size_t column, expr **out) {
    merge_run *m = p->m;
    const op *o = m->o;
    expr *e = NULL;
    for (size_t i = 0; i < m->spec->n_clauses; i++) {
        expr *one;
        if (!makes_row(&m->clauses[i]) || !merge_leaves(m, &m->clauses[i], column)) continue;
        TRY(is_action(o, rows, action, i, &one));
        if (e) TRY(ops_tree_call(o, "or", e, one, &e));
        else e = one;
    }
    return bind_tree(o, e, out);
}

static change_layout layout_of(const plan *p) {
    const merge_run *m = p->m;
    change_layout l = {.action = p->values ? m->change.target.schema->n_fields : 0};
    l.file = l.action + 1;
    l.row = l.file + (m->insert_only ? 0 : 1);
    l.row_id = l.row + (m->insert_only ? 0 : 1);
    l.missing = l.row_id + (p->row_id ? 1 : 0);
    l.source_file = l.missing + p->n_missing;
    l.source_row = l.source_file + 1;
    l.n = l.source_file + (m->reread.values ? 2 : 0);
    return l;
}

/* Of a column behind the table's own: by its part, for EXPLAIN. */
static str change_name(const op *o, const change_layout *l, size_t i) {
    if (i == l->action) return STR("\x01""action");
    if (i == l->file && l->row > l->file) return STR("\x01""file");
    if (i == l->row && l->row > l->file) return STR("\x01""row");
    if (i == l->source_file) return STR("\x01""source_file");
    if (i == l->source_row) return STR("\x01""source_row");
    return i < l->missing ? STR("\x01""row_id") : arena_printf(o->a, "\x01missing_%zu", i - l->missing);
}

static silt_status change_rows(plan *p, relation *rows, size_t action, query **out) {
    merge_run *m = p->m;
    const op *o = m->o;
    const data_type *schema = m->change.target.schema;
    change_layout l = m->layout = layout_of(p);
    expr **items = ARENA_ARRAY(o->a, l.n + 1, expr *), *chosen;
    field *fields = ARENA_ARRAY(o->a, l.n + 1, field);
    size_t missing = l.missing;
    if (!items || !fields) return error_no_memory(o->err);
    for (size_t c = 0; c < l.action; c++) {
        for (size_t i = 0; i < m->spec->n_clauses; i++) move_expr(&p->up, rows, p->values[c][i]);
        TRY(by_action(m, rows, action, p->values[c], schema->fields[c].type, &items[c]));
    }
    TRY(ops_rows_column(o, rows, action, &items[l.action]));
    if (!m->insert_only) {
        TRY(ops_rows_column(o, rows, p->file, &items[l.file]));
        TRY(ops_rows_column(o, rows, p->row, &items[l.row]));
    }
    if (p->row_id) {
        move_expr(&p->up, rows, p->row_id);
        items[l.row_id] = p->row_id;
    }
    if (m->reread.values) {
        TRY(ops_rows_column(o, rows, p->source_file, &items[l.source_file]));
        TRY(ops_rows_column(o, rows, p->source_row, &items[l.source_row]));
    }
    for (size_t c = 0; c < schema->n_fields; c++)
        if (p->missing[c]) TRY(missing_flag(p, rows, action, c, &items[missing++]));
    for (size_t i = 0; i < l.n; i++) fields[i] = i < l.action ? schema->fields[i] : field_make(change_name(o, &l, i), items[i]->type, true);
    for (size_t i = 0; i < l.n; i++)
        if (str_is_null(fields[i].name)) return error_no_memory(o->err);
    TRY(select_items(o, rows, items, fields, l.n, out));
    TRY(ops_rows_column(o, rows, action, &chosen));
    TRY(ops_tree_call(o, "isnotnull", chosen, NULL, &chosen));
    return bind_tree(o, chosen, &(*out)->where);
}

/* Values that the clauses leave to the table: identity columns, then generated ones, which may depend on them. */
static silt_status compute_missing(plan *p) {
    merge_run *m = p->m;
    const op *o = m->o;
    const data_type *schema = m->change.target.schema;
    if (p->n_missing == 0) return SILT_OK;
    int32_t *numbers = ARENA_ARRAY(o->a, schema->n_fields + 1, int32_t), *computed = ARENA_ARRAY(o->a, schema->n_fields + 1, int32_t);
    size_t at = m->layout.missing;
    if (!numbers || !computed) return error_no_memory(o->err);
    for (size_t c = 0; c < schema->n_fields; c++) {
        int32_t flag = p->missing[c] ? (int32_t)at++ : -1;
        bool generated = ops_is_generated(&schema->fields[c], o->a, NULL);
        numbers[c] = generated ? -1 : flag;
        computed[c] = generated ? flag : -1;
    }
    TRY(ops_identity_wrap(o, schema, m->changes, NULL, numbers, &m->identity, &m->changes));
    return ops_generated_wrap(o, schema, m->changes, &(generated_missing){.in_rows = computed}, &m->changes);
}

silt_status merge_plan(merge_run *m) {
    plan p = {.m = m};
    relation *rows;
    size_t action;
    TRY(target_rows(m, &m->target.rows));
    TRY(row_change_shape(&m->change));
    TRY(make_values(&p));
    if (p.values && p.n_missing == 0) TRY(merge_reread_decide(m, p.values));
    if (m->reread.values) {
        p.values = NULL;
        TRY(merge_reread_source(m, &m->source.rows));
    } else if (needs_marker(m)) TRY(mark_source(m, m->source.rows, &m->source.rows));
    if (m->change.has_row_ids && !m->insert_only && p.values) {
        expr *version;
        TRY(row_change_row_ids(&m->change, m->target.rows, &p.row_id, &version));
    }
    TRY(lift_all(&p));
    TRY(joined(&p, &rows));
    TRY(with_action(&p, rows, &action, &rows));
    TRY(change_rows(&p, rows, action, &m->changes));
    return compute_missing(&p);
}
