/*
 * Predicates and needed columns, from the whole query down to its tables. Nothing is moved in the tree: the filters stay where they are, a table only learns which of its
 * files cannot matter. A conjunct reaches a table through joins and subqueries as far as that is sound:
 *   - below the null-extended side of an outer join only if it is not true for a null-extended row (dropping a file there turns a match into a null row);
 *   - ON conditions go to the sides whose unmatched rows are not kept;
 *   - not below LIMIT, window functions, or aggregates other than by grouped columns.
 */
#include "expr/bind.h"

typedef struct conjunct {
    const expr *e;
    bool null_extended; /**< the table stands where rows may be made of nulls after this filter saw … before it */
} conjunct;

typedef struct conjuncts {
    conjunct *items;
    size_t n, capacity;
} conjuncts;

typedef struct cte_count {
    uint32_t id;
    size_t uses;
    relation *first;
} cte_count;

typedef struct pusher {
    const bind_env *env;
    arena *a;
    silt_error *err;
    cte_count *ctes;
    size_t n_ctes, cte_capacity;
    silt_status status; /**< of a walk that stopped */
} pusher;

static silt_status push_query(pusher *p, query *q, const conjuncts *from_above);

static silt_status add(pusher *p, conjuncts *list, const expr *e, bool null_extended) {
    if (e->kind == EXPR_CALL && str_eqz(e->function_name, "and")) {
        TRY(add(p, list, e->args[0], null_extended));
        return add(p, list, e->args[1], null_extended);
    }
    return ARENA_PUSH(p->a, list->items, list->n, list->capacity, ((conjunct){e, null_extended})) ? SILT_OK
                                                                                                  : error_no_memory(p->err);
}

/* ---- tables ---- */

/* Is the predicate never true where the column is null? */
static bool rejects_null(const predicate *p) {
    switch (p->kind) {
        case PRED_EQ:
        case PRED_NE:
        case PRED_LT:
        case PRED_LE:
        case PRED_GT:
        case PRED_GE:
        case PRED_IN:
        case PRED_STARTS_WITH:
        case PRED_IS_NOT_NULL:
        case PRED_FALSE: return true;
        case PRED_AND:
            for (size_t i = 0; i < p->n_children; i++)
                if (rejects_null(p->children[i])) return true;
            return false;
        case PRED_OR:
            for (size_t i = 0; i < p->n_children; i++)
                if (!rejects_null(p->children[i])) return false;
            return p->n_children > 0;
        default: return false;
    }
}

static silt_status push_table(pusher *p, relation *r, const conjuncts *list) {
    const predicate **parts = ARENA_ARRAY(p->a, list->n + 1, const predicate *);
    if (!parts) return error_no_memory(p->err);
    size_t n = 0;
    for (size_t i = 0; i < list->n; i++) {
        const predicate *one;
        TRY(expr_to_predicate(list->items[i].e, r, p->env, p->a, &one, p->err));
        if (one->kind == PRED_UNKNOWN || (list->items[i].null_extended && !rejects_null(one))) continue;
        parts[n++] = one;
    }
    if (n == 0) return SILT_OK;
    if (n == 1) {
        r->where = parts[0];
        return SILT_OK;
    }
    predicate *all = ARENA_NEW(p->a, predicate);
    if (!all) return error_no_memory(p->err);
    all->kind = PRED_AND;
    all->children = parts;
    all->n_children = n;
    r->where = all;
    return SILT_OK;
}

/* ---- through subqueries ---- */

typedef struct substitution {
    pusher *p;
    const relation *r;
    const query *q;
    bool failed, touched;
} substitution;

static bool has_window(void *ctx, expr *e) {
    (void)ctx;
    return !e->over;
}

static bool is_grouped(const query *q, const expr *e) {
    for (size_t i = 0; i < q->n_group_items; i++)
        if (expr_equal(q->group_items[i], e)) return true;
    return false;
}

static bool put_projection(void *ctx, expr *e) {
    substitution *s = ctx;
    if (e->subquery) s->failed = true;
    if (e->kind != EXPR_COLUMN) return !s->failed;
    if (e->source != s->r || e->outer_levels) {
        s->failed = true;
        return false;
    }
    expr *projection = s->q->projections[e->column];
    if (s->q->has_aggregates && !is_grouped(s->q, projection)) s->failed = true;
    expr *copy = s->failed ? NULL : expr_clone(projection, s->p->a);
    if (!copy) {
        s->failed = true;
        return false;
    }
    *e = *copy;
    s->touched = true;
    return true;
}

static bool query_has_windows(query *q) {
    for (size_t i = 0; i < q->n_projections; i++)
        if (!expr_walk(q->projections[i], has_window, NULL)) return true;
    return q->qualify != NULL;
}

/* What filters above a subquery say about the query inside, in terms of its FROM. */
static silt_status conjuncts_inside(pusher *p, const relation *r, query *q, const conjuncts *list, conjuncts *out) {
    bool closed = q->limit || q->offset || q->set != SET_NONE || query_has_windows(q) || q->group == GROUP_ROLLUP ||
                  q->group == GROUP_CUBE || q->group == GROUP_SETS;
    if (closed) return SILT_OK;
    for (size_t i = 0; i < list->n; i++) {
        expr *copy = expr_clone(list->items[i].e, p->a);
        if (!copy) return error_no_memory(p->err);
        substitution s = {p, r, q, false, false};
        (void)expr_walk(copy, put_projection, &s);
        if (s.failed || !s.touched || expr_has_volatile(copy)) continue;
        TRY(add(p, out, copy, list->items[i].null_extended));
    }
    return SILT_OK;
}

static silt_status push_into(pusher *p, const relation *r, query *q, const conjuncts *list) {
    if (q->set == SET_UNION && !q->limit && !q->offset && q->n_ctes == 0) {
        TRY(push_into(p, r, q->left, list));
        return push_into(p, r, q->right, list);
    }
    conjuncts inside = {0};
    TRY(conjuncts_inside(p, r, q, list, &inside));
    return push_query(p, q, &inside);
}

/* ---- FROM ---- */

static silt_status push_relation(pusher *p, relation *r, const conjuncts *list);

static silt_status copy_list(pusher *p, const conjuncts *list, bool null_extended, conjuncts *out) {
    for (size_t i = 0; i < list->n; i++) TRY(add(p, out, list->items[i].e, list->items[i].null_extended || null_extended));
    return SILT_OK;
}

static silt_status push_join(pusher *p, relation *r, const conjuncts *list) {
    conjuncts left = {0}, right = {0};
    join_type j = r->join;
    TRY(copy_list(p, list, j == JOIN_RIGHT || j == JOIN_FULL, &left));
    TRY(copy_list(p, list, j == JOIN_LEFT || j == JOIN_FULL, &right));
    bool on_left = j == JOIN_INNER || j == JOIN_CROSS || j == JOIN_RIGHT || j == JOIN_LEFT_SEMI;
    bool on_right = j == JOIN_INNER || j == JOIN_CROSS || j == JOIN_LEFT || j == JOIN_LEFT_SEMI || j == JOIN_LEFT_ANTI;
    if (r->on && on_left) TRY(add(p, &left, r->on, false));
    if (r->on && on_right) TRY(add(p, &right, r->on, false));
    TRY(push_relation(p, r->left, &left));
    return push_relation(p, r->right, &right);
}

static cte_count *find_cte(pusher *p, uint32_t id) {
    for (size_t i = 0; i < p->n_ctes; i++)
        if (p->ctes[i].id == id) return &p->ctes[i];
    return NULL;
}

static silt_status push_relation(pusher *p, relation *r, const conjuncts *list) {
    if (!r) return SILT_OK;
    switch (r->kind) {
        case REL_TABLE: return push_table(p, r, list);
        case REL_JOIN: return push_join(p, r, list);
        case REL_LATERAL_VIEW: return push_relation(p, r->left, list);
        case REL_SUBQUERY: return push_into(p, r, r->subquery, list);
        case REL_CTE: { /* used once, it is a subquery */
            const cte_count *c = find_cte(p, r->cte_id);
            return c && c->uses == 1 ? push_into(p, r, r->cte, list) : SILT_OK;
        }
        default: return SILT_OK;
    }
}

/* ---- queries ---- */

static silt_status push_subqueries(pusher *p, query *q);

static bool push_expr_subquery(void *ctx, expr *e) {
    pusher *p = ctx;
    conjuncts none = {0};
    if (!e->subquery) return true;
    p->status = push_query(p, e->subquery, &none);
    return p->status == SILT_OK;
}

static silt_status push_subqueries(pusher *p, query *q) {
    bool ok = query_walk_exprs(q, push_expr_subquery, p) &&
              relation_walk_exprs(q->set == SET_NONE ? q->from : NULL, push_expr_subquery, p);
    return ok ? SILT_OK : p->status;
}

static silt_status push_query(pusher *p, query *q, const conjuncts *from_above) {
    conjuncts none = {0};
    for (size_t i = 0; i < q->n_ctes; i++) {
        const cte_count *c = find_cte(p, q->ctes[i].id);
        if (!c || c->uses != 1) TRY(push_query(p, q->ctes[i].body, &none));
    }
    if (q->set != SET_NONE) {
        TRY(push_query(p, q->left, &none));
        return push_query(p, q->right, &none);
    }
    conjuncts list = {0};
    TRY(copy_list(p, from_above, false, &list));
    if (q->where) TRY(add(p, &list, q->where, false));
    TRY(push_relation(p, q->from, &list));
    return push_subqueries(p, q);
}

static bool count_cte(void *ctx, relation *r) {
    pusher *p = ctx;
    if (r->kind != REL_CTE) return true;
    cte_count *c = find_cte(p, r->cte_id);
    if (c) {
        c->uses++;
        return true;
    }
    return ARENA_PUSH(p->a, p->ctes, p->n_ctes, p->cte_capacity, ((cte_count){r->cte_id, 1, r}));
}

/* A recursive CTE refers to itself: more than one use. */
static void count_recursive(pusher *p, query *q) {
    for (size_t i = 0; i < q->n_ctes; i++) {
        cte_count *c = find_cte(p, q->ctes[i].id);
        if (c && q->recursive) c->uses += 2;
        count_recursive(p, q->ctes[i].body);
    }
    if (q->left) count_recursive(p, q->left);
    if (q->right) count_recursive(p, q->right);
}

/* ---- needed columns ---- */

typedef struct user {
    arena *a;
    bool failed;
} user;

static void use_query(user *u, query *q);
static void use_output(user *u, query *q, size_t column);

static bool use_node(void *ctx, expr *e) {
    user *u = ctx;
    if (e->subquery) {
        use_query(u, e->subquery);
        bool all = e->kind != EXPR_EXISTS;
        for (size_t i = 0; all && i < e->subquery->n_columns; i++) use_output(u, e->subquery, i);
    }
    if (e->kind != EXPR_COLUMN || !e->source) return !u->failed;
    relation *r = e->source;
    if (!r->column_used && r->n_columns) {
        r->column_used = ARENA_ARRAY(u->a, r->n_columns, bool);
        if (!r->column_used) {
            u->failed = true;
            return false;
        }
    }
    if (e->column >= r->n_columns || r->column_used[e->column]) return true;
    r->column_used[e->column] = true;
    if (r->kind == REL_SUBQUERY && r->subquery) use_output(u, r->subquery, e->column);
    if (r->kind == REL_CTE && r->cte) use_output(u, r->cte, e->column);
    return !u->failed;
}

static void use_expr(user *u, expr *e) { (void)expr_walk(e, use_node, u); }

static bool ensure_flags(user *u, query *q) {
    if (!q->column_used && q->n_columns) q->column_used = ARENA_ARRAY(u->a, q->n_columns, bool);
    if (!q->column_used && q->n_columns) u->failed = true;
    return !u->failed;
}

static void use_output(user *u, query *q, size_t column) {
    if (!ensure_flags(u, q) || q->column_used[column]) return;
    q->column_used[column] = true;
    if (q->set != SET_NONE) {
        use_output(u, q->left, column);
        use_output(u, q->right, column);
        return;
    }
    use_expr(u, q->projections[column]);
}

static void use_relation(user *u, relation *r) {
    if (!r) return;
    use_relation(u, r->left);
    use_relation(u, r->right);
    for (size_t i = 0; i < r->n_args; i++) use_expr(u, r->args[i]);
    for (size_t i = 0; i < r->n_rows; i++)
        for (size_t k = 0; k < r->n_row_columns; k++) use_expr(u, r->rows[i][k]);
    if (r->on) use_expr(u, r->on);
    if (r->kind == REL_SUBQUERY && r->subquery) use_query(u, r->subquery);
}

static bool use_beside(void *ctx, expr *e) { return use_node(ctx, e); }

/* All but the select list: that is used column by column. */
static void use_query(user *u, query *q) {
    if (!ensure_flags(u, q)) return;
    for (size_t i = 0; i < q->n_ctes; i++) use_query(u, q->ctes[i].body);
    if (q->set != SET_NONE) {
        use_query(u, q->left);
        use_query(u, q->right);
        bool distinct = !(q->set == SET_UNION && q->set_all);
        for (size_t i = 0; distinct && i < q->n_columns; i++) use_output(u, q, i);
        for (size_t i = 0; i < q->n_order_by; i++) {
            expr *e = q->order_by[i].value;
            (void)expr_walk(e, use_beside, u);
        }
        for (size_t i = 0; q->n_order_by && i < q->n_columns; i++) use_output(u, q, i);
        return;
    }
    use_relation(u, q->from);
    use_expr(u, q->where);
    for (size_t i = 0; i < q->n_group_items; i++) use_expr(u, q->group_items[i]);
    use_expr(u, q->having);
    use_expr(u, q->qualify);
    for (size_t i = 0; i < q->n_order_by; i++) use_expr(u, q->order_by[i].value);
    /* Printed by its position: the ordered item itself. Distinct rows are distinct in all columns; a recursion's columns feed each other. */
    for (size_t i = 0; i < q->n_columns; i++) {
        bool ordered = false;
        for (size_t k = 0; k < q->n_order_by && !ordered; k++) ordered = expr_equal(q->projections[i], q->order_by[k].value);
        if (q->distinct || ordered) use_output(u, q, i);
    }
}

silt_status expr_push_predicates(query *q, const bind_env *env, arena *a, silt_error *err) {
    pusher p = {.env = env, .a = a, .err = err};
    conjuncts none = {0};
    if (!query_walk_relations(q, count_cte, &p)) return error_no_memory(err);
    count_recursive(&p, q);
    TRY(push_query(&p, q, &none));
    user u = {a, false};
    use_query(&u, q);
    for (size_t i = 0; i < q->n_columns; i++) use_output(&u, q, i);
    return u.failed ? error_no_memory(err) : SILT_OK;
}
