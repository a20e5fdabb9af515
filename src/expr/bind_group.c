/* GROUP BY and the rule that what stands beside an aggregate must be grouped. */
#include "expr/bind_query.h"

static silt_status group_item(binder *b, scope *s, query *q, expr **slot) {
    expr *e = *slot;
    if (e->kind == EXPR_LITERAL && !e->literal.is_null && e->literal.type->id == TYPE_INT) {
        int64_t at = e->literal.as.i64;
        if (at < 1 || (size_t)at > q->n_columns) return err_GROUP_BY_POS_OUT_OF_RANGE(b->err, at, (int64_t)q->n_columns);
        if (q->projections[at - 1]->is_aggregate) return err_GROUP_BY_POS_AGGREGATE(b->err, at);
        BIND_NEW(*slot, expr_clone(q->projections[at - 1], b->a));
        return SILT_OK;
    }
    TRY(bind_expr(b, s, e));
    return e->is_aggregate ? err_GROUP_BY_AGGREGATE(b->err, bind_text(b, e)) : SILT_OK;
}

static silt_status group_all(binder *b, query *q) {
    BIND_NEW(q->group_items, ARENA_ARRAY(b->a, q->n_projections, expr *));
    q->n_group_items = 0;
    for (size_t i = 0; i < q->n_projections; i++) {
        if (q->projections[i]->is_aggregate) continue;
        BIND_NEW(q->group_items[q->n_group_items], expr_clone(q->projections[i], b->a));
        q->n_group_items++;
    }
    q->group = GROUP_EXPRS;
    return SILT_OK;
}

/* The columns of all sets together, each once: what a row of the result is keyed by. */
static silt_status set_columns(binder *b, query *q) {
    size_t capacity = q->n_group_items;
    for (size_t i = 0; i < q->n_group_sets; i++) {
        for (size_t k = 0; k < q->group_sets[i].count; k++) {
            expr *e = q->group_sets[i].items[k];
            bool known = false;
            for (size_t j = 0; j < q->n_group_items && !known; j++) known = expr_equal(q->group_items[j], e);
            if (!known && !ARENA_PUSH(b->a, q->group_items, q->n_group_items, capacity, e)) return error_no_memory(b->err);
        }
    }
    return SILT_OK;
}

silt_status bind_group_by(binder *b, scope *s, query *q) {
    s->where = CLAUSE_GROUP;
    if (q->group == GROUP_ALL) TRY(group_all(b, q));
    for (size_t i = 0; i < q->n_group_items; i++) TRY(group_item(b, s, q, &q->group_items[i]));
    for (size_t i = 0; i < q->n_group_sets; i++)
        for (size_t k = 0; k < q->group_sets[i].count; k++) TRY(group_item(b, s, q, &q->group_sets[i].items[k]));
    return q->group == GROUP_SETS ? set_columns(b, q) : SILT_OK;
}

/* ---- the check ---- */

static bool is_aggregate_call(const expr *e) {
    return e->kind == EXPR_CALL && !e->over && e->function && e->function->kind == FUNCTION_AGGREGATE;
}

static const expr *find_loose(const query *q, const expr *e);

static const expr *find_loose_keys(const query *q, const sort_key *keys, size_t n) {
    for (size_t i = 0; i < n; i++) {
        const expr *loose = find_loose(q, keys[i].value);
        if (loose) return loose;
    }
    return NULL;
}

/* A column of this query that stands neither in an aggregate nor in a grouped expression. */
static const expr *find_loose(const query *q, const expr *e) {
    if (!e) return NULL;
    for (size_t i = 0; i < q->n_group_items; i++)
        if (expr_equal(q->group_items[i], e)) return NULL;
    if (is_aggregate_call(e)) return NULL;
    if (e->kind == EXPR_COLUMN && e->outer_levels == 0) return e;
    for (size_t i = 0; i < e->n_args; i++) {
        const expr *loose = find_loose(q, e->args[i]);
        if (loose) return loose;
    }
    if (!e->over) return NULL;
    for (size_t i = 0; i < e->over->n_partition_by; i++) {
        const expr *loose = find_loose(q, e->over->partition_by[i]);
        if (loose) return loose;
    }
    return find_loose_keys(q, e->over->order_by, e->over->n_order_by);
}

static silt_status check_one(binder *b, const query *q, const expr *e) {
    const expr *loose = find_loose(q, e);
    if (!loose) return SILT_OK;
    if (q->group == GROUP_NONE) return err_MISSING_GROUP_BY(b->err);
    return err_MISSING_AGGREGATION(b->err, bind_text(b, loose));
}

silt_status bind_check_ungrouped(binder *b, query *q) {
    for (size_t i = 0; i < q->n_projections; i++) TRY(check_one(b, q, q->projections[i]));
    return SILT_OK;
}

silt_status bind_check_aggregation(binder *b, query *q) {
    q->has_aggregates = q->group != GROUP_NONE;
    for (size_t i = 0; i < q->n_projections; i++) q->has_aggregates |= q->projections[i]->is_aggregate;
    if (q->having) q->has_aggregates = true;
    for (size_t i = 0; i < q->n_order_by; i++) q->has_aggregates |= q->order_by[i].value->is_aggregate;
    if (q->qualify) q->has_aggregates |= q->qualify->is_aggregate;
    if (!q->has_aggregates) return SILT_OK;
    for (size_t i = 0; i < q->n_projections; i++) TRY(check_one(b, q, q->projections[i]));
    if (q->having) TRY(check_one(b, q, q->having));
    if (q->qualify) TRY(check_one(b, q, q->qualify));
    for (size_t i = 0; i < q->n_order_by; i++) TRY(check_one(b, q, q->order_by[i].value));
    return SILT_OK;
}
