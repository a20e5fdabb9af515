/* Queries: WITH, SELECT with its clauses in Spark's order of meaning, set operations; and subqueries in expressions. */
#include "expr/bind_query.h"

/* ---- output columns ---- */

static silt_status set_output(binder *b, query *q, size_t n) {
    BIND_NEW(q->column_names, ARENA_ARRAY(b->a, n, str));
    BIND_NEW(q->column_types, ARENA_ARRAY(b->a, n, const data_type *));
    BIND_NEW(q->column_nullable, ARENA_ARRAY(b->a, n, bool));
    q->n_columns = n;
    return SILT_OK;
}

static void note_types(query *q) {
    for (size_t i = 0; i < q->n_columns; i++) {
        q->column_types[i] = q->projections[i]->type;
        q->column_nullable[i] = q->projections[i]->nullable;
    }
}

/* ---- select list ---- */

typedef struct select_list {
    expr **items;
    str *names;
    size_t n, capacity, n_names, names_capacity;
} select_list;

static silt_status select_add(binder *b, scope *s, select_list *list, expr *e, str name) {
    bool ok = ARENA_PUSH(b->a, list->items, list->n, list->capacity, e) &&
              ARENA_PUSH(b->a, list->names, list->n_names, list->names_capacity, name);
    if (!ok) return error_no_memory(b->err);
    s->q->projections = list->items;
    s->q->column_names = list->names;
    s->n_aliases = list->n; /* the next items may use this name */
    return SILT_OK;
}

/* SELECT explode(x): the generator becomes a lateral view of the FROM clause and the item its columns. */
static silt_status select_generator(binder *b, scope *s, query *q, select_list *list, expr *call, const str *aliases,
                                    size_t n_aliases) {
    relation *view, *left = q->from;
    if (!left) {
        BIND_NEW(left, ARENA_NEW(b->a, relation));
        left->kind = REL_EMPTY;
    }
    BIND_NEW(view, ARENA_NEW(b->a, relation));
    view->kind = REL_LATERAL_VIEW;
    view->span = call->span;
    view->left = left;
    BIND_NEW(view->args, ARENA_ARRAY(b->a, 1, expr *));
    view->args[0] = call;
    view->n_args = 1;
    TRY(bind_generator(b, s, call, view));
    view->id = b->next_id++;
    if (n_aliases != 0 && n_aliases != view->n_columns)
        return err_ASSIGNMENT_ARITY_MISMATCH(b->err, (int64_t)n_aliases, (int64_t)view->n_columns);
    q->from = view;
    for (size_t i = 0; i < view->n_columns; i++) {
        expr *column;
        BIND_NEW(column, expr_new(b->a, EXPR_COLUMN, call->span));
        column->source = view;
        column->column = (uint32_t)i;
        column->type = view->columns[i].type;
        column->nullable = view->columns[i].nullable;
        str name = n_aliases ? aliases[i] : view->columns[i].name;
        TRY(select_add(b, s, list, column, name));
    }
    return SILT_OK;
}

static silt_status select_star(binder *b, scope *s, select_list *list, const expr *star) {
    expr **items;
    str *names;
    size_t n;
    if (s->n_items == 0 && star->name.count == 0) return err_STAR_GROUP_BY_POS(b->err, "without a FROM clause");
    TRY(scope_expand_star(b, s, star, &items, &names, &n));
    for (size_t i = 0; i < n; i++) TRY(select_add(b, s, list, items[i], names[i]));
    return SILT_OK;
}

static silt_status select_item(binder *b, scope *s, query *q, select_list *list, expr *item) {
    const str *aliases = NULL;
    size_t n_aliases = 0;
    expr *e = item;
    if (item->kind == EXPR_NAMED) {
        e = item->args[0];
        aliases = item->aliases;
        n_aliases = item->n_aliases;
    }
    if (e->kind == EXPR_STAR) return select_star(b, s, list, e);
    if (bind_is_generator(e)) return select_generator(b, s, q, list, e, aliases, n_aliases);
    if (n_aliases > 1) return err_ASSIGNMENT_ARITY_MISMATCH(b->err, (int64_t)n_aliases, 1);
    str name = n_aliases ? aliases[0] : expr_auto_name(e, b->env->source_text, b->a);
    if (!name.ptr) return error_no_memory(b->err);
    TRY(bind_expr(b, s, e));
    return select_add(b, s, list, e, name);
}

static silt_status bind_select_list(binder *b, scope *s, query *q) {
    select_list list = {0};
    expr **items = q->projections;
    size_t n = q->n_projections;
    s->where = CLAUSE_SELECT;
    s->q = q;
    for (size_t i = 0; i < n; i++) TRY(select_item(b, s, q, &list, items[i]));
    q->projections = list.items;
    q->n_projections = list.n;
    str *names = list.names;
    TRY(set_output(b, q, list.n));
    if (list.n) memcpy(q->column_names, names, list.n * sizeof *names);
    note_types(q);
    return SILT_OK;
}

/* ---- ORDER BY, LIMIT ---- */

static bool ordinal_of(const expr *e, int64_t *out) {
    if (e->kind != EXPR_LITERAL || e->literal.is_null || e->literal.type->id != TYPE_INT) return false;
    *out = e->literal.as.i64;
    return true;
}

static silt_status order_all(binder *b, query *q) {
    sort_key *keys;
    BIND_NEW(keys, ARENA_ARRAY(b->a, q->n_columns, sort_key));
    for (size_t i = 0; i < q->n_columns; i++) {
        BIND_NEW(keys[i].value, expr_literal_i64(b->a, (int64_t)i + 1));
        keys[i].descending = q->order_all_descending;
        keys[i].nulls_first = !q->order_all_descending;
    }
    q->order_by = keys;
    q->n_order_by = q->n_columns;
    return SILT_OK;
}

static silt_status bind_order(binder *b, scope *s, query *q, expr *(*output)(binder *, query *, size_t)) {
    if (q->order_by_all) TRY(order_all(b, q));
    for (size_t i = 0; i < q->n_order_by; i++) {
        int64_t at;
        if (ordinal_of(q->order_by[i].value, &at)) {
            if (at < 1 || (size_t)at > q->n_columns) return err_ORDER_BY_POS_OUT_OF_RANGE(b->err, at, (int64_t)q->n_columns);
            BIND_NEW(q->order_by[i].value, output(b, q, (size_t)at - 1));
            continue;
        }
        if (bind_is_generator(q->order_by[i].value))
            return err_UNSUPPORTED_GENERATOR_NESTED(b->err, bind_text(b, q->order_by[i].value));
        TRY(bind_expr(b, s, q->order_by[i].value));
    }
    return SILT_OK;
}

static silt_status bind_limit(binder *b, expr **slot, const char *what) {
    expr *e = *slot;
    if (!e) return SILT_OK;
    scope none = {0};
    silt_error *kept = b->err;
    silt_error scratch;
    b->err = &scratch;
    silt_status st = bind_expr(b, &none, e);
    b->err = kept;
    value v = {0};
    bool folded = false;
    if (st == SILT_OK && expr_is_constant(e)) TRY(bind_fold(b, e, &v, &folded));
    if (!folded) return err_INVALID_LIMIT_UNFOLDABLE(b->err, what);
    if (v.is_null || !type_is_integral(v.type)) return err_INVALID_LIMIT_UNFOLDABLE(b->err, what);
    if (v.as.i64 < 0) return err_INVALID_LIMIT_NEGATIVE(b->err, what, v.as.i64);
    BIND_NEW(*slot, expr_literal_i64(b->a, v.as.i64));
    return SILT_OK;
}

/* ---- SELECT ---- */

static expr *projection_of(binder *b, query *q, size_t i) { return expr_clone(q->projections[i], b->a); }

static silt_status set_windows(binder *b, scope *s, query *q) {
    if (q->n_windows == 0) return SILT_OK;
    window_spec **specs;
    str *names;
    BIND_NEW(specs, ARENA_ARRAY(b->a, q->n_windows, window_spec *));
    BIND_NEW(names, ARENA_ARRAY(b->a, q->n_windows, str));
    for (size_t i = 0; i < q->n_windows; i++) specs[i] = q->windows[i].spec, names[i] = q->windows[i].name;
    s->window_specs = specs;
    s->window_names = names;
    s->n_windows = q->n_windows;
    return SILT_OK;
}

/* ---- generators over aggregates ---- */

static bool find_aggregate(void *ctx, expr *e) {
    bool *found = ctx, known;
    const function_row *row = e->kind == EXPR_CALL && !e->over ? function_find(e->function_name, e->n_args, &known) : NULL;
    *found |= row && row->kind == FUNCTION_AGGREGATE;
    return !*found;
}

static expr *item_of(expr *projection) { return projection->kind == EXPR_NAMED ? projection->args[0] : projection; }

/* Does a generator of the select list stand above GROUP BY or an aggregate? */
static bool generates_over_groups(query *q) {
    bool generator = false, grouped = q->group != GROUP_NONE;
    for (size_t i = 0; i < q->n_projections; i++) {
        expr *e = item_of(q->projections[i]);
        if (e->kind == EXPR_STAR) return false;
        generator |= bind_is_generator(e);
        if (!grouped) (void)expr_walk(e, find_aggregate, &grouped);
    }
    return generator && grouped;
}

static silt_status name_item(binder *b, expr *e, str name, expr **out) {
    BIND_NEW(*out, expr_new(b->a, EXPR_NAMED, e->span));
    BIND_NEW((*out)->args, ARENA_ARRAY(b->a, 1, expr *));
    (*out)->args[0] = e;
    (*out)->n_args = 1;
    str *alias;
    BIND_NEW(alias, ARENA_NEW(b->a, str));
    *alias = name;
    (*out)->aliases = alias;
    (*out)->n_aliases = 1;
    return SILT_OK;
}

/* SELECT g, explode(collect_list(x)) … GROUP BY g becomes SELECT g, explode(v) FROM (SELECT g, collect_list(x) AS v … GROUP BY g): generators come after aggregates. */
static silt_status split_generators(binder *b, query *q) {
    query *inner;
    relation *from;
    BIND_NEW(inner, ARENA_NEW(b->a, query));
    BIND_NEW(from, ARENA_NEW(b->a, relation));
    *inner = (query){.span = q->span,
                     .from = q->from,
                     .where = q->where,
                     .group = q->group,
                     .group_items = q->group_items,
                     .n_group_items = q->n_group_items,
                     .group_sets = q->group_sets,
                     .n_group_sets = q->n_group_sets,
                     .having = q->having,
                     .windows = q->windows,
                     .n_windows = q->n_windows,
                     .qualify = q->qualify};
    size_t room = 0, n = 0;
    for (size_t i = 0; i < q->n_projections; i++) room += 1 + item_of(q->projections[i])->n_args;
    BIND_NEW(inner->projections, ARENA_ARRAY(b->a, room, expr *));
    for (size_t i = 0; i < q->n_projections; i++) {
        expr *item = q->projections[i], *e = item_of(item);
        if (bind_is_generator(e)) {
            for (size_t k = 0; k < e->n_args; k++) {
                str name = arena_printf(b->a, " generated %zu %zu", i, k);
                TRY(name_item(b, e->args[k], name, &inner->projections[n++]));
                BIND_NEW(e->args[k], expr_column(b->a, name));
            }
            continue;
        }
        str name = item->kind == EXPR_NAMED ? item->aliases[0] : expr_auto_name(e, b->env->source_text, b->a);
        expr *column;
        TRY(name_item(b, e, name, &inner->projections[n++]));
        BIND_NEW(column, expr_column(b->a, name));
        TRY(name_item(b, column, name, &q->projections[i]));
    }
    inner->n_projections = n;
    from->kind = REL_SUBQUERY;
    from->span = q->span;
    from->subquery = inner;
    from->sample_percent = -1;
    from->sample_rows = -1;
    q->from = from;
    q->where = q->having = q->qualify = NULL;
    q->group = GROUP_NONE;
    q->n_group_items = q->n_group_sets = q->n_windows = 0;
    return SILT_OK;
}

static silt_status bind_select(binder *b, query *q, scope *outer) {
    scope s = {.outer = outer};
    if (generates_over_groups(q)) TRY(split_generators(b, q));
    bool kept_sets = b->grouping_sets;
    b->grouping_sets = q->group == GROUP_ROLLUP || q->group == GROUP_CUBE || q->group == GROUP_SETS;
    TRY(bind_relation(b, q->from, &s, outer));
    TRY(set_windows(b, &s, q));
    if (q->where) {
        s.where = CLAUSE_WHERE;
        TRY(bind_condition(b, &s, &q->where, err_DATATYPE_MISMATCH_FILTER_NOT_BOOLEAN));
        TRY(bind_fold_condition(b, q->where));
    }
    TRY(bind_select_list(b, &s, q));
    TRY(bind_group_by(b, &s, q));
    s.aliases_first = true;
    s.where = CLAUSE_HAVING;
    if (q->having && q->group == GROUP_NONE) TRY(bind_check_ungrouped(b, q));
    if (q->having) TRY(bind_condition(b, &s, &q->having, NULL));
    s.where = CLAUSE_QUALIFY;
    if (q->qualify) TRY(bind_condition(b, &s, &q->qualify, err_DATATYPE_MISMATCH_FILTER_NOT_BOOLEAN));
    s.where = CLAUSE_ORDER;
    TRY(bind_order(b, &s, q, projection_of));
    TRY(bind_check_aggregation(b, q));
    b->grouping_sets = kept_sets;
    return SILT_OK;
}

/* ---- set operations ---- */

static const char *set_name(const query *q) {
    return q->set == SET_UNION ? "UNION" : q->set == SET_INTERSECT ? "INTERSECT" : "EXCEPT";
}

/* Give output column i of a query another type: casts go into the branches' select lists. */
static silt_status recast_column(binder *b, query *q, size_t i, const data_type *to) {
    if (type_equal(q->column_types[i], to)) {
        q->column_types[i] = to;
        return SILT_OK;
    }
    if (q->set != SET_NONE) {
        TRY(recast_column(b, q->left, i, to));
        TRY(recast_column(b, q->right, i, to));
    } else {
        TRY(bind_cast_slot(b, &q->projections[i], to));
    }
    q->column_types[i] = to;
    return SILT_OK;
}

/* UNION BY NAME: the right side's columns in the order of the left's names. */
static silt_status reorder_by_name(binder *b, query *q) {
    query *left = q->left, *right = q->right;
    if (right->n_columns != left->n_columns)
        return err_NUM_COLUMNS_MISMATCH(b->err, "UNION BY NAME", (int64_t)left->n_columns, (int64_t)right->n_columns);
    if (right->set != SET_NONE) return err_UNSUPPORTED_FEATURE(b->err, "UNION BY NAME of a set operation");
    expr **items;
    BIND_NEW(items, ARENA_ARRAY(b->a, left->n_columns, expr *));
    for (size_t i = 0; i < left->n_columns; i++) {
        size_t k = 0;
        while (k < right->n_columns && !str_eq_fold(right->column_names[k], left->column_names[i])) k++;
        if (k == right->n_columns) return err_UNRESOLVED_COLUMN(b->err, left->column_names[i]);
        items[i] = right->projections[k];
    }
    right->projections = items;
    for (size_t i = 0; i < left->n_columns; i++) right->column_names[i] = left->column_names[i];
    note_types(right);
    return SILT_OK;
}

static silt_status unify_sides(binder *b, query *q) {
    query *l = q->left, *r = q->right;
    if (q->set_by_name) TRY(reorder_by_name(b, q));
    if (l->n_columns != r->n_columns)
        return err_NUM_COLUMNS_MISMATCH(b->err, set_name(q), (int64_t)l->n_columns, (int64_t)r->n_columns);
    TRY(set_output(b, q, l->n_columns));
    for (size_t i = 0; i < l->n_columns; i++) {
        const data_type *common = coerce_common(b->a, l->column_types[i], r->column_types[i]);
        if (!common)
            return err_INCOMPATIBLE_COLUMN_TYPE(b->err, set_name(q), (int64_t)i + 1, type_sql(l->column_types[i], b->a),
                                                type_sql(r->column_types[i], b->a));
        TRY(recast_column(b, l, i, common));
        TRY(recast_column(b, r, i, common));
        q->column_names[i] = l->column_names[i];
        q->column_types[i] = common;
        q->column_nullable[i] = l->column_nullable[i] || (q->set == SET_UNION && r->column_nullable[i]);
    }
    return SILT_OK;
}

/* The output of a set operation as a relation that its ORDER BY sees; printed as r<id>. */
static silt_status set_relation(binder *b, query *q, relation **out) {
    BIND_NEW(*out, ARENA_NEW(b->a, relation));
    (*out)->kind = REL_SUBQUERY;
    (*out)->id = q->id;
    (*out)->n_columns = q->n_columns;
    BIND_NEW((*out)->columns, ARENA_ARRAY(b->a, q->n_columns, relation_column));
    for (size_t i = 0; i < q->n_columns; i++)
        (*out)->columns[i] =
            (relation_column){.name = q->column_names[i], .type = q->column_types[i], .nullable = q->column_nullable[i]};
    q->from = *out;
    return SILT_OK;
}

static expr *set_column_of(binder *b, query *q, size_t i) {
    expr *e = expr_new(b->a, EXPR_COLUMN, (source_span){0, 0});
    if (!e) return NULL;
    e->source = q->from;
    e->column = (uint32_t)i;
    e->type = q->column_types[i];
    e->nullable = q->column_nullable[i];
    return e;
}

static silt_status recursive_anchor_done(binder *b, const query *anchor) {
    cte_frame *f = b->recursive;
    b->recursive = NULL;
    size_t n = anchor->n_columns;
    if (f->def->n_column_aliases && f->def->n_column_aliases != n)
        return err_ASSIGNMENT_ARITY_MISMATCH(b->err, (int64_t)f->def->n_column_aliases, (int64_t)n);
    BIND_NEW(f->columns, ARENA_ARRAY(b->a, n, relation_column));
    f->n_columns = n;
    for (size_t i = 0; i < n; i++)
        f->columns[i] = (relation_column){.name = f->def->n_column_aliases ? f->def->column_aliases[i] : anchor->column_names[i],
                                          .type = anchor->column_types[i],
                                          .nullable = true};
    return SILT_OK;
}

static silt_status bind_set(binder *b, query *q, scope *outer) {
    bool anchor = b->recursive && b->recursive->def->body == q;
    TRY(bind_query(b, q->left, outer));
    if (anchor) TRY(recursive_anchor_done(b, q->left));
    TRY(bind_query(b, q->right, outer));
    TRY(unify_sides(b, q));
    relation *own;
    TRY(set_relation(b, q, &own));
    scope s = {.outer = outer, .where = CLAUSE_ORDER};
    TRY(scope_add_relation(b, &s, own));
    return bind_order(b, &s, q, set_column_of);
}

/* ---- WITH ---- */

static silt_status frame_columns(binder *b, cte_frame *f) {
    const query *q = f->def->body;
    if (f->def->n_column_aliases && f->def->n_column_aliases != q->n_columns)
        return err_ASSIGNMENT_ARITY_MISMATCH(b->err, (int64_t)f->def->n_column_aliases, (int64_t)q->n_columns);
    f->n_columns = q->n_columns;
    BIND_NEW(f->columns, ARENA_ARRAY(b->a, q->n_columns, relation_column));
    for (size_t i = 0; i < q->n_columns; i++)
        f->columns[i] = (relation_column){.name = f->def->n_column_aliases ? f->def->column_aliases[i] : q->column_names[i],
                                          .type = q->column_types[i],
                                          .nullable = q->column_nullable[i]};
    return SILT_OK;
}

static silt_status bind_ctes(binder *b, query *q, scope *outer) {
    for (size_t i = 0; i < q->n_ctes; i++) {
        cte_def *def = &q->ctes[i];
        for (size_t k = 0; k < i; k++)
            if (str_eq_fold(q->ctes[k].name, def->name)) return err_DUPLICATED_CTE_NAMES(b->err, def->name);
        cte_frame *f;
        BIND_NEW(f, ARENA_NEW(b->a, cte_frame));
        f->def = def;
        def->id = b->next_id++;
        f->outer = b->ctes;
        bool recursive = q->recursive && def->body->set == SET_UNION;
        if (recursive) {
            f->is_recursive = true;
            b->ctes = f;
            b->recursive = f;
        }
        TRY(bind_query(b, def->body, outer));
        b->ctes = f;
        if (!recursive) TRY(frame_columns(b, f));
    }
    return SILT_OK;
}

silt_status bind_query(binder *b, query *q, scope *outer) {
    if (++b->depth > 1500) return err_UNSUPPORTED_FEATURE(b->err, "queries nested that deeply");
    cte_frame *kept = b->ctes;
    q->id = b->next_id++;
    TRY(bind_ctes(b, q, outer));
    if (q->set != SET_NONE)
        TRY(bind_set(b, q, outer));
    else
        TRY(bind_select(b, q, outer));
    TRY(bind_limit(b, &q->limit, "limit"));
    TRY(bind_limit(b, &q->offset, "offset"));
    b->ctes = kept;
    b->depth--;
    return SILT_OK;
}

/* ---- subqueries in expressions ---- */

static silt_status bind_in_subquery(binder *b, expr *e) {
    query *q = e->subquery;
    if (q->n_columns != e->n_args)
        return err_DATATYPE_MISMATCH_IN_SUBQUERY_LENGTH(b->err, (int64_t)e->n_args, (int64_t)q->n_columns);
    for (size_t i = 0; i < e->n_args; i++) {
        const data_type *common = coerce_common(b->a, e->args[i]->type, q->column_types[i]);
        if (!common)
            return err_DATATYPE_MISMATCH_DATA_DIFF_TYPES(b->err, bind_text(b, e),
                                                         arena_printf(b->a, "\"%.*s\" and \"%.*s\"",
                                                                      STR_ARG(type_sql(e->args[i]->type, b->a)),
                                                                      STR_ARG(type_sql(q->column_types[i], b->a))));
        TRY(bind_cast_slot(b, &e->args[i], common));
        TRY(recast_column(b, q, i, common));
    }
    e->type = &type_boolean;
    e->nullable = true;
    return SILT_OK;
}

silt_status bind_subquery_expr(binder *b, scope *s, expr *e) {
    if (e->kind == EXPR_IN_SUBQUERY) TRY(bind_expr_list(b, s, e->args, e->n_args));
    bool kept = b->grouping_sets;
    b->grouping_sets = false;
    TRY(bind_query(b, e->subquery, s));
    b->grouping_sets = kept;
    if (e->kind == EXPR_IN_SUBQUERY) return bind_in_subquery(b, e);
    if (e->kind == EXPR_EXISTS) {
        e->type = &type_boolean;
        e->nullable = false;
        return SILT_OK;
    }
    if (e->subquery->n_columns != 1) return err_SCALAR_SUBQUERY_COLUMNS(b->err, (int64_t)e->subquery->n_columns);
    e->type = e->subquery->column_types[0];
    e->nullable = true;
    return SILT_OK;
}

/* ---- the face ---- */

silt_status query_bind(query *q, const bind_env *env, arena *a, silt_error *err) {
    binder b = {.env = env, .a = a, .err = err, .next_id = 1};
    return bind_query(&b, q, NULL);
}

silt_status expr_bind(expr *e, relation *r, const bind_env *env, arena *a, expr **out, silt_error *err) {
    binder b = {.env = env, .a = a, .err = err, .next_id = 1};
    scope s = {0};
    if (r) {
        b.next_id = (r->id > 1000000 ? r->id : 1000000) + 1;
        if (r->kind == REL_TABLE && !r->columns && r->source)
            TRY(bind_table_columns(&b, r));
        else if (!r->columns && r->kind != REL_JOIN)
            TRY(bind_relation(&b, r, &s, NULL));
        if (s.n_items == 0) TRY(scope_add_relation(&b, &s, r));
    }
    TRY(bind_expr(&b, &s, e));
    *out = e;
    return SILT_OK;
}
