/* A filter, an order, an aggregate, a window or a generator needs more rows than come out, so that only plain columns qualify. Rows come in the order of files, as they do without this. */
#include "engine/scan_limit.h"

#include "engine/sources.h"

static bool is_plain(const expr *e) {
    switch (e->kind) {
        case EXPR_LITERAL: return true;
        case EXPR_COLUMN: return e->outer_levels == 0;
        case EXPR_NAMED:
        case EXPR_CAST:
        case EXPR_FIELD: return e->n_args == 1 && is_plain(e->args[0]);
        default: return false;
    }
}

static bool is_count(const expr *e, int64_t *out) {
    *out = 0;
    if (!e) return true;
    if (e->kind != EXPR_LITERAL || e->literal.is_null || !e->literal.type || !type_is_integral(e->literal.type)) return false;
    *out = e->literal.as.i64;
    return *out >= 0 && *out < INT64_MAX / 4;
}

void scan_limit_find(scan_plan *plan, const query *q) {
    int64_t limit, offset;
    bool plain = q->set == SET_NONE && q->n_ctes == 0 && !q->distinct && q->group == GROUP_NONE && !q->having && !q->qualify && !q->where && q->n_order_by == 0 && !q->order_by_all &&
                 !q->sort_by && q->n_hidden_order == 0 && !q->has_aggregates && q->limit && q->from && q->from->kind == REL_TABLE && q->from->source && !q->from->where &&
                 !engine_source_is_own(q->from->source) && q->from->sample_percent < 0 && q->from->sample_rows < 0;
    for (size_t i = 0; plain && i < q->n_projections; i++) plain = is_plain(q->projections[i]);
    if (!plain || !is_count(q->limit, &limit) || !is_count(q->offset, &offset)) return;
    plan->limited = q->from;
    plan->rows_wanted = limit + offset;
}

void scan_limit_files(const scan_plan *plan, scan_node *node) {
    if (plan->limited != node->rel || plan->engine->no_pruning) return;
    table_scan *scan = &node->scan;
    int64_t rows = 0, bytes = 0;
    for (size_t i = 0; i < scan->n_files; i++) {
        const scan_file *f = &scan->files[i];
        if (f->num_records < 0 || f->only || !store_is_remote(f->store)) return;
        rows += f->num_records - (f->deleted ? (int64_t)bitmap_cardinality(f->deleted) : 0);
        bytes += f->size_bytes;
        if (rows < plan->rows_wanted) continue;
        scan->n_files = i + 1;
        scan->read_bytes = bytes;
        return;
    }
}
