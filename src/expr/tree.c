/* Making, walking, comparing and copying trees. */
#include "expr/tree.h"

#include "expr/tree_tools.h"

expr *expr_new(arena *a, expr_kind kind, source_span span) {
    expr *e = ARENA_NEW(a, expr);
    if (e) e->kind = kind, e->span = span, e->field_index = -1;
    return e;
}

expr *expr_call(arena *a, const char *function, expr *const *args, size_t n_args, source_span span) {
    expr *e = expr_new(a, EXPR_CALL, span);
    if (!e) return NULL;
    e->function_name = str_of(function);
    if (n_args == 0) return e;
    e->args = ARENA_ARRAY(a, n_args, expr *);
    if (!e->args) return NULL;
    memcpy(e->args, args, n_args * sizeof *args);
    e->n_args = n_args;
    return e;
}

expr *expr_literal(arena *a, value v, source_span span) {
    expr *e = expr_new(a, EXPR_LITERAL, span);
    if (!e) return NULL;
    e->literal = v;
    e->type = v.type;
    e->nullable = v.is_null;
    return e;
}

expr *expr_literal_str(arena *a, str s) {
    return expr_literal(a, (value){.type = &type_string, .as.bytes = s.ptr ? s : STR("")}, (source_span){0, 0});
}

expr *expr_literal_i64(arena *a, int64_t v) {
    const data_type *type = v >= INT32_MIN && v <= INT32_MAX ? &type_int : &type_long;
    return expr_literal(a, (value){.type = type, .as.i64 = v}, (source_span){0, 0});
}

expr *expr_column(arena *a, str name) {
    expr *e = expr_new(a, EXPR_COLUMN, (source_span){0, 0});
    str *part = ARENA_NEW(a, str);
    if (!e || !part) return NULL;
    *part = name;
    e->name = (name_parts){part, 1};
    return e;
}

/* ---- walking ---- */

static bool walk_keys(const sort_key *keys, size_t n, bool (*fn)(void *, expr *), void *ctx) {
    for (size_t i = 0; i < n; i++)
        if (!expr_walk(keys[i].value, fn, ctx)) return false;
    return true;
}

static bool walk_window(const window_spec *w, bool (*fn)(void *, expr *), void *ctx) {
    if (!w) return true;
    for (size_t i = 0; i < w->n_partition_by; i++)
        if (!expr_walk(w->partition_by[i], fn, ctx)) return false;
    return walk_keys(w->order_by, w->n_order_by, fn, ctx) && expr_walk(w->start, fn, ctx) && expr_walk(w->end, fn, ctx);
}

bool expr_walk(expr *e, bool (*fn)(void *ctx, expr *e), void *ctx) {
    if (!e) return true;
    for (size_t i = 0; i < e->n_args; i++)
        if (!expr_walk(e->args[i], fn, ctx)) return false;
    if (!expr_walk(e->filter, fn, ctx)) return false;
    if (!walk_keys(e->within_order, e->n_within_order, fn, ctx)) return false;
    if (!walk_window(e->over, fn, ctx)) return false;
    return fn(ctx, e);
}

bool query_walk_exprs(query *q, bool (*fn)(void *ctx, expr *e), void *ctx) {
    for (size_t i = 0; i < q->n_projections; i++)
        if (!expr_walk(q->projections[i], fn, ctx)) return false;
    if (!expr_walk(q->where, fn, ctx)) return false;
    for (size_t i = 0; i < q->n_group_items; i++)
        if (!expr_walk(q->group_items[i], fn, ctx)) return false;
    for (size_t i = 0; i < q->n_group_sets; i++)
        for (size_t j = 0; j < q->group_sets[i].count; j++)
            if (!expr_walk(q->group_sets[i].items[j], fn, ctx)) return false;
    if (!expr_walk(q->having, fn, ctx) || !expr_walk(q->qualify, fn, ctx)) return false;
    return walk_keys(q->order_by, q->n_order_by, fn, ctx) && expr_walk(q->limit, fn, ctx) && expr_walk(q->offset, fn, ctx);
}

bool relation_walk_exprs(relation *r, bool (*fn)(void *ctx, expr *e), void *ctx) {
    if (!r) return true;
    if (!relation_walk_exprs(r->left, fn, ctx) || !relation_walk_exprs(r->right, fn, ctx)) return false;
    for (size_t i = 0; i < r->n_args; i++)
        if (!expr_walk(r->args[i], fn, ctx)) return false;
    for (size_t i = 0; i < r->n_rows; i++)
        for (size_t j = 0; j < r->n_row_columns; j++)
            if (!expr_walk(r->rows[i][j], fn, ctx)) return false;
    return expr_walk(r->on, fn, ctx);
}

typedef struct relation_walk {
    bool (*fn)(void *ctx, relation *r);
    void *ctx;
} relation_walk;

static bool walk_subquery_of(void *ctx, expr *e) {
    relation_walk *w = ctx;
    return !e->subquery || query_walk_relations(e->subquery, w->fn, w->ctx);
}

static bool walk_relation(relation_walk *w, relation *r) {
    if (!r) return true;
    if (!walk_relation(w, r->left) || !walk_relation(w, r->right)) return false;
    if (r->kind == REL_SUBQUERY && r->subquery && !query_walk_relations(r->subquery, w->fn, w->ctx)) return false;
    if (r->kind != REL_JOIN && r->kind != REL_LATERAL_VIEW) {
        for (size_t i = 0; i < r->n_args; i++)
            if (!expr_walk(r->args[i], walk_subquery_of, w)) return false;
        for (size_t i = 0; i < r->n_rows; i++)
            for (size_t j = 0; j < r->n_row_columns; j++)
                if (!expr_walk(r->rows[i][j], walk_subquery_of, w)) return false;
    } else {
        for (size_t i = 0; i < r->n_args; i++)
            if (!expr_walk(r->args[i], walk_subquery_of, w)) return false;
        if (!expr_walk(r->on, walk_subquery_of, w)) return false;
    }
    return w->fn(w->ctx, r);
}

bool query_walk_relations(query *q, bool (*fn)(void *ctx, relation *r), void *ctx) {
    if (!q) return true;
    relation_walk w = {fn, ctx};
    for (size_t i = 0; i < q->n_ctes; i++)
        if (!query_walk_relations(q->ctes[i].body, fn, ctx)) return false;
    if (!query_walk_relations(q->left, fn, ctx) || !query_walk_relations(q->right, fn, ctx)) return false;
    return walk_relation(&w, q->from) && query_walk_exprs(q, walk_subquery_of, &w);
}

/* ---- comparing ---- */

static bool literals_equal(const value *a, const value *b) {
    if (!type_equal(a->type, b->type) || a->is_null != b->is_null) return false;
    if (a->is_null) return true;
    switch (a->type->id) {
        case TYPE_BOOLEAN: return a->as.boolean == b->as.boolean;
        case TYPE_FLOAT:
        case TYPE_DOUBLE: return memcmp(&a->as.f64, &b->as.f64, sizeof a->as.f64) == 0;
        case TYPE_DECIMAL: return a->as.decimal == b->as.decimal;
        case TYPE_STRING:
        case TYPE_BINARY: return str_eq(a->as.bytes, b->as.bytes);
        default: return a->as.i64 == b->as.i64;
    }
}

static bool keys_equal(const sort_key *a, const sort_key *b, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (a[i].descending != b[i].descending || a[i].nulls_first != b[i].nulls_first || !expr_equal(a[i].value, b[i].value))
            return false;
    return true;
}

static bool windows_equal(const window_spec *a, const window_spec *b) {
    if (!a || !b) return a == b;
    if (a->n_partition_by != b->n_partition_by || a->n_order_by != b->n_order_by || a->has_frame != b->has_frame) return false;
    for (size_t i = 0; i < a->n_partition_by; i++)
        if (!expr_equal(a->partition_by[i], b->partition_by[i])) return false;
    if (!keys_equal(a->order_by, b->order_by, a->n_order_by)) return false;
    if (!a->has_frame) return true;
    return a->is_range == b->is_range && a->start_kind == b->start_kind && a->end_kind == b->end_kind &&
           expr_equal(a->start, b->start) && expr_equal(a->end, b->end);
}

static bool nodes_equal(const expr *a, const expr *b) {
    switch (a->kind) {
        case EXPR_LITERAL: return literals_equal(&a->literal, &b->literal);
        case EXPR_COLUMN:
            if (a->source || b->source) return a->source == b->source && a->column == b->column;
            if (a->name.count != b->name.count) return false;
            for (size_t i = 0; i < a->name.count; i++)
                if (!str_eq_fold(a->name.parts[i], b->name.parts[i])) return false;
            return true;
        case EXPR_CALL:
            return str_eq_ascii_fold(a->function_name, b->function_name) && a->is_distinct == b->is_distinct &&
                   a->ignore_nulls == b->ignore_nulls && a->negated == b->negated && expr_equal(a->filter, b->filter) &&
                   a->n_within_order == b->n_within_order && keys_equal(a->within_order, b->within_order, a->n_within_order) &&
                   windows_equal(a->over, b->over);
        case EXPR_CAST: return type_equal(a->cast_type, b->cast_type) && a->is_try == b->is_try;
        case EXPR_CASE: return a->has_operand == b->has_operand && a->has_else == b->has_else;
        case EXPR_FIELD: return a->field_index == b->field_index && str_eq_fold(a->field_name, b->field_name);
        case EXPR_LAMBDA_VAR:
        case EXPR_PARAMETER: return str_eq(a->function_name, b->function_name);
        case EXPR_INTERVAL:
            return a->interval_months == b->interval_months && a->interval_us == b->interval_us &&
                   a->interval_is_ym == b->interval_is_ym;
        case EXPR_SUBQUERY:
        case EXPR_EXISTS:
        case EXPR_IN_SUBQUERY: return a->subquery == b->subquery && a->negated == b->negated;
        case EXPR_LAMBDA:
            if (a->n_lambda_params != b->n_lambda_params) return false;
            for (size_t i = 0; i < a->n_lambda_params; i++)
                if (!str_eq(a->lambda_params[i], b->lambda_params[i])) return false;
            return true;
        case EXPR_INDEX:
        case EXPR_DEFAULT: return true;
        case EXPR_STAR:
        case EXPR_NAMED: return false;
    }
    return false;
}

bool expr_equal(const expr *a, const expr *b) {
    if (a == b) return true;
    if (!a || !b || a->kind != b->kind || a->n_args != b->n_args) return false;
    if (a->type && b->type && !type_equal(a->type, b->type)) return false;
    for (size_t i = 0; i < a->n_args; i++)
        if (!expr_equal(a->args[i], b->args[i])) return false;
    return nodes_equal(a, b);
}

/* ---- copying ---- */

static bool clone_keys(arena *a, const sort_key **keys, size_t n) {
    if (n == 0) return true;
    sort_key *copy = ARENA_ARRAY(a, n, sort_key);
    if (!copy) return false;
    for (size_t i = 0; i < n; i++) {
        copy[i] = (*keys)[i];
        if (!(copy[i].value = expr_clone(copy[i].value, a))) return false;
    }
    *keys = copy;
    return true;
}

window_spec *window_clone(const window_spec *w, arena *a) {
    window_spec *copy = ARENA_NEW(a, window_spec);
    if (!copy) return NULL;
    *copy = *w;
    if (w->n_partition_by) {
        expr **parts = ARENA_ARRAY(a, w->n_partition_by, expr *);
        if (!parts) return NULL;
        for (size_t i = 0; i < w->n_partition_by; i++)
            if (!(parts[i] = expr_clone(w->partition_by[i], a))) return NULL;
        copy->partition_by = parts;
    }
    if (!clone_keys(a, &copy->order_by, copy->n_order_by)) return NULL;
    if (w->start && !(copy->start = expr_clone(w->start, a))) return NULL;
    if (w->end && !(copy->end = expr_clone(w->end, a))) return NULL;
    return copy;
}

expr *expr_clone(const expr *e, arena *a) {
    expr *copy = ARENA_NEW(a, expr);
    if (!copy) return NULL;
    *copy = *e;
    if (e->n_args) {
        copy->args = ARENA_ARRAY(a, e->n_args, expr *);
        if (!copy->args) return NULL;
        for (size_t i = 0; i < e->n_args; i++)
            if (!(copy->args[i] = expr_clone(e->args[i], a))) return NULL;
    }
    if (e->filter && !(copy->filter = expr_clone(e->filter, a))) return NULL;
    if (!clone_keys(a, &copy->within_order, copy->n_within_order)) return NULL;
    if (e->over && !(copy->over = window_clone(e->over, a))) return NULL;
    return copy;
}
