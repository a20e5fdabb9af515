/*
 * Names in a MERGE. ON and MATCHED clauses see both sides, NOT MATCHED clauses the source alone, NOT MATCHED BY SOURCE clauses the target alone. What stands left of `=` is a
 * column of the target; with schema evolution it may be one of the source that the target gets.
 *
 * Conditions must be deterministic and without aggregates and subqueries: they are evaluated once for finding rows, and where rows are counted. Values may be anything that
 * a row has one of, and scalar subqueries that do not look at the row.
 */
#include "expr/functions.h"
#include "expr/tree_tools.h"
#include "ops/merge_run.h"

/* ---- what an expression holds ---- */

typedef struct contents {
    bool aggregate, window, generator, subquery, predicate_subquery, volatile_call;
} contents;

static bool look_at(void *ctx, expr *e) {
    contents *c = ctx;
    bool known;
    c->subquery |= e->subquery != NULL;
    c->predicate_subquery |= e->kind == EXPR_EXISTS || e->kind == EXPR_IN_SUBQUERY;
    c->window |= e->over != NULL;
    const function_row *row = e->kind != EXPR_CALL ? NULL : e->function ? e->function : function_find(e->function_name, e->n_args, &known);
    if (!row || e->over) return true;
    c->aggregate |= row->kind == FUNCTION_AGGREGATE;
    c->generator |= row->kind == FUNCTION_GENERATOR;
    c->volatile_call |= (row->flags & FN_VOLATILE) != 0;
    return true;
}

static contents contents_of(expr *e) {
    contents c = {0};
    expr_walk(e, look_at, &c);
    return c;
}

static str text_of(const op *o, const expr *e) {
    buf b;
    buf_init(&b, BUF_MAX_DEFAULT);
    expr_print_spark(e, &b);
    return buf_take(&b, o->a);
}

/* Unbound: what Spark refuses whatever the names mean. */
static silt_status check_condition(const op *o, expr *e, const char *clause) {
    contents c = contents_of(e);
    str operation = arena_printf(o->a, "%s condition of MERGE operation", clause);
    if (str_is_null(operation)) return error_no_memory(o->err);
    if (c.volatile_call) return err_DELTA_NON_DETERMINISTIC_FUNCTION_NOT_SUPPORTED(o->err, operation.ptr, text_of(o, e));
    if (c.aggregate) return err_DELTA_AGGREGATION_NOT_SUPPORTED(o->err, operation.ptr, text_of(o, e));
    if (c.subquery) return err_DELTA_UNSUPPORTED_SUBQUERY(o->err, operation.ptr, text_of(o, e));
    return c.window ? err_UNSUPPORTED_EXPR_FOR_OPERATOR(o->err, "window functions", "MERGE") : SILT_OK;
}

static silt_status check_value(const op *o, expr *e) {
    contents c = contents_of(e);
    if (c.aggregate) return err_UNSUPPORTED_EXPR_FOR_OPERATOR(o->err, "aggregate functions", "MERGE");
    if (c.window) return err_UNSUPPORTED_EXPR_FOR_OPERATOR(o->err, "window functions", "MERGE");
    if (c.generator) return err_UNSUPPORTED_GENERATOR_OUTSIDE_SELECT(o->err, text_of(o, e));
    return c.predicate_subquery ? err_UNSUPPORTED_IN_EXISTS_SUBQUERY(o->err, text_of(o, e)) : SILT_OK;
}

/* ---- subqueries of values ---- */

typedef struct outer_search {
    const merge_run *m;
    bool found;
} outer_search;

static bool is_outer(void *ctx, expr *e);

static bool is_outer_in(void *ctx, relation *r) {
    outer_search *s = ctx;
    (void)relation_walk_exprs(r, is_outer, s);
    if (!s->found && r->subquery) (void)query_walk_exprs(r->subquery, is_outer, s);
    return !s->found;
}

static void search_query(outer_search *s, query *q) {
    (void)query_walk_exprs(q, is_outer, s);
    if (!s->found) (void)query_walk_relations(q, is_outer_in, s);
}

static bool is_outer(void *ctx, expr *e) {
    outer_search *s = ctx;
    s->found |= e->kind == EXPR_COLUMN && (e->source == &s->m->target.scope || e->source == &s->m->source.scope);
    if (!s->found && e->subquery) search_query(s, e->subquery);
    return !s->found;
}

typedef struct subquery_check {
    merge_run *m;
    bool correlated;
} subquery_check;

static bool check_subquery(void *ctx, expr *e) {
    subquery_check *c = ctx;
    if (!e->subquery) return true;
    outer_search s = {c->m, false};
    search_query(&s, e->subquery);
    c->correlated |= s.found;
    c->m->reads_target_too |= row_find_reads_table(e->subquery, c->m->spec->target.snapshot, NULL);
    return !c->correlated;
}

static silt_status check_subqueries(merge_run *m, expr *bound) {
    subquery_check c = {m, false};
    expr_walk(bound, check_subquery, &c);
    return c.correlated ? err_UNSUPPORTED_CORRELATED_SCALAR_SUBQUERY(m->o->err, text_of(m->o, bound)) : SILT_OK;
}

/* ---- binding ---- */

static void append_columns(buf *out, const relation *r) {
    for (size_t i = 0; i < r->n_columns; i++) {
        if (out->len) buf_append_z(out, ", ");
        if (r->alias.len) buf_printf(out, "%.*s.", STR_ARG(r->alias));
        buf_append(out, r->columns[i].name);
    }
}

/* The binder's "cannot be resolved" in Delta's words: which clause, and what it could have named. */
static silt_status tell_unresolved(const merge_run *m, silt_status status, const relation *scope, const char *clause) {
    silt_error *err = m->o->err;
    if (status == SILT_OK || !err || strncmp(err->condition, "UNRESOLVED_COLUMN", 17) != 0) return status;
    str message = str_of(err->message), detail = arena_str(m->o->a, str_of(err->detail));
    size_t from = str_find_char(message, '`'), to = str_rfind_char(message, '`');
    str name = from < to ? arena_str(m->o->a, str_slice(message, from, to + 1)) : STR("?");
    buf b;
    buf_init(&b, 2048);
    if (scope->kind == REL_JOIN) append_columns(&b, scope->left), append_columns(&b, scope->right);
    else append_columns(&b, scope);
    status = err_DELTA_MERGE_UNRESOLVED_EXPRESSION(err, name, clause, buf_str(&b));
    if (detail.len) error_detail(err, "%.*s", STR_ARG(detail));
    buf_dispose(&b);
    return status;
}

static silt_status bind_over(merge_run *m, expr *e, relation *scope, const char *clause, expr **out) {
    const op *o = m->o;
    return tell_unresolved(m, expr_bind(e, scope, o->env->bind, o->a, out, o->err), scope, clause);
}

/* Beside such a clause Spark takes NULL for a condition, alone it does not. */
static bool has_by_source(const merge_run *m) {
    for (size_t i = 0; i < m->spec->n_clauses; i++)
        if (m->spec->clauses[i].when == WHEN_NOT_MATCHED_BY_SOURCE) return true;
    return false;
}

static silt_status bind_condition(merge_run *m, expr *e, relation *scope, const char *clause, expr **out) {
    const op *o = m->o;
    bool is_on = str_eqz(str_of(clause), "search");
    str where = is_on ? STR("search condition") : arena_printf(o->a, "%s condition", clause);
    if (str_is_null(where)) return error_no_memory(o->err);
    TRY(check_condition(o, e, clause));
    TRY(bind_over(m, e, scope, where.ptr, out));
    const data_type *t = (*out)->type;
    if (t->id == TYPE_VOID && !is_on && has_by_source(m)) return expr_coerce(*out, &type_boolean, CAST_EXPLICIT, STR(""), o->env->bind, o->a, out, o->err);
    if (t->id != TYPE_BOOLEAN && is_on) return err_JOIN_CONDITION_IS_NOT_BOOLEAN_TYPE(o->err, text_of(o, *out), type_sql(t, o->a));
    if (t->id != TYPE_BOOLEAN) return err_DATATYPE_MISMATCH_FILTER_NOT_BOOLEAN(o->err, text_of(o, *out), type_sql(t, o->a));
    return SILT_OK;
}

static relation *scope_of(merge_run *m, merge_when when) {
    return when == WHEN_MATCHED ? &m->both : when == WHEN_NOT_MATCHED ? &m->source.scope : &m->target.scope;
}

static const char *clause_name(const merge_clause *c) {
    return c->action == MERGE_DELETE ? "DELETE" : c->action == MERGE_UPDATE ? "UPDATE" : "INSERT";
}

/* ---- the left side of an assignment ---- */

static size_t path_depth(const expr *e) {
    size_t n = 1;
    for (; e->kind == EXPR_FIELD; e = e->args[0]) n++;
    return n;
}

static silt_status path_of(const merge_run *m, const expr *key, merge_assignment *out) {
    const op *o = m->o;
    size_t n = path_depth(key);
    str *path = ARENA_ARRAY(o->a, n, str);
    if (!path) return error_no_memory(o->err);
    out->path = path;
    out->depth = n;
    for (; key->kind == EXPR_FIELD; key = key->args[0]) {
        const data_type *t = key->args[0]->type;
        if (t->id != TYPE_STRUCT) return err_DELTA_UNSUPPORTED_NESTED_FIELD_IN_UPDATE(o->err, text_of(o, key->args[0]));
        path[--n] = t->fields[key->field_index].name;
    }
    if (key->kind != EXPR_COLUMN) return err_DELTA_UNSUPPORTED_NESTED_FIELD_IN_UPDATE(o->err, text_of(o, key));
    path[0] = key->source->columns[key->column].name;
    return SILT_OK;
}

static silt_status bind_key(merge_run *m, const update_item *item, relation *scope, const char *clause, expr **out) {
    expr *key = expr_new(m->o->a, EXPR_COLUMN, item->span);
    if (!key) return error_no_memory(m->o->err);
    key->name = item->column;
    return bind_over(m, key, scope, clause, out);
}

static silt_status resolve_key(merge_run *m, const bound_clause *c, const update_item *item, const char *clause, merge_assignment *out) {
    expr *key;
    silt_status status = bind_key(m, item, &m->target.scope, clause, &key);
    bool from_source = m->evolve && c->clause->when != WHEN_NOT_MATCHED_BY_SOURCE;
    if (status == SILT_INVALID && from_source) status = bind_key(m, item, &m->source.scope, clause, &key);
    TRY(status);
    TRY(path_of(m, key, out));
    if (c->clause->action != MERGE_INSERT || out->depth == 1) return SILT_OK;
    return err_DELTA_UNSUPPORTED_NESTED_FIELD_IN_OPERATION(m->o->err, "INSERT clause of MERGE operation", text_of(m->o, key));
}

static bool is_default(void *ctx, expr *e) {
    bool *found = ctx;
    *found |= e->kind == EXPR_DEFAULT;
    return !*found;
}

static silt_status bind_items(merge_run *m, bound_clause *c, const char *clause) {
    const op *o = m->o;
    c->n_items = c->clause->n_items;
    c->items = ARENA_ARRAY(o->a, c->n_items + 1, merge_assignment);
    if (!c->items) return error_no_memory(o->err);
    for (size_t i = 0; i < c->n_items; i++) {
        const update_item *item = &c->clause->items[i];
        merge_assignment *a = &c->items[i];
        bool within = false;
        a->span = item->span;
        TRY(resolve_key(m, c, item, clause, a));
        if (item->value->kind == EXPR_DEFAULT) continue;
        expr_walk(item->value, is_default, &within);
        if (within) return err_DEFAULT_PLACEMENT_INVALID(o->err);
        TRY(check_value(o, item->value));
        TRY(bind_over(m, item->value, scope_of(m, c->clause->when), clause, &a->value));
        TRY(check_subqueries(m, a->value));
    }
    return SILT_OK;
}

/* ---- stars ---- */

static bool is_excepted(const merge_clause *c, str name) {
    for (size_t i = 0; i < c->n_except; i++)
        if (str_eq_fold(c->except[i], name)) return true;
    return false;
}

static silt_status add_star_item(merge_run *m, bound_clause *c, str name, expr *value_expr, size_t *capacity) {
    const op *o = m->o;
    str *path = ARENA_NEW(o->a, str);
    if (!path) return error_no_memory(o->err);
    *path = name;
    bool keeps = m->evolve && c->clause->action == MERGE_UPDATE;
    merge_assignment a = {.path = path, .depth = 1, .value = value_expr, .keeps_target_fields = keeps};
    return ARENA_PUSH(o->a, c->items, c->n_items, *capacity, a) ? SILT_OK : error_no_memory(o->err);
}

/* Without evolution every column of the target wants a column of the source by its name; with it, it is the source's columns that are taken. */
static silt_status expand_star(merge_run *m, bound_clause *c, const char *clause) {
    const op *o = m->o;
    size_t capacity = 0;
    for (size_t i = 0; i < c->clause->n_except; i++)
        if (schema_find(m->schema, c->clause->except[i]) < 0) return tell_unresolved(m, err_UNRESOLVED_COLUMN(o->err, c->clause->except[i]), &m->target.scope, clause);
    for (size_t i = 0; !m->evolve && i < m->schema->n_fields; i++) {
        str name = m->schema->fields[i].name;
        expr *e;
        if (m->schema->fields[i].type->id == TYPE_VOID || is_excepted(c->clause, name)) continue;
        e = expr_column(o->a, name);
        if (!e) return error_no_memory(o->err);
        TRY(bind_over(m, e, &m->source.scope, clause, &e));
        TRY(add_star_item(m, c, name, e, &capacity));
    }
    for (size_t i = 0; m->evolve && i < m->source.scope.n_columns; i++) {
        expr *e;
        str name = m->source.scope.columns[i].name;
        if (m->source.scope.columns[i].hidden || is_excepted(c->clause, name)) continue;
        TRY(ops_rows_column(o, &m->source.scope, i, &e));
        TRY(add_star_item(m, c, name, e, &capacity));
    }
    return SILT_OK;
}

static silt_status bind_clause(merge_run *m, const merge_clause *clause, bound_clause *out) {
    const char *name = clause_name(clause);
    str where = arena_printf(m->o->a, "%s clause", name);
    if (str_is_null(where)) return error_no_memory(m->o->err);
    *out = (bound_clause){.clause = clause};
    if (clause->action != MERGE_DELETE) TRY(clause->star ? expand_star(m, out, where.ptr) : bind_items(m, out, where.ptr));
    return clause->condition ? bind_condition(m, clause->condition, scope_of(m, clause->when), name, &out->condition) : SILT_OK;
}

/* ---- the parts of ON ---- */

typedef struct sides_used {
    const merge_run *m;
    bool target, source;
} sides_used;

static bool note_side(void *ctx, expr *e) {
    sides_used *s = ctx;
    if (e->kind != EXPR_COLUMN) return true;
    s->target |= e->source == &s->m->target.scope;
    s->source |= e->source == &s->m->source.scope;
    return true;
}

static sides_used sides_of(const merge_run *m, expr *e) {
    sides_used s = {m, false, false};
    expr_walk(e, note_side, &s);
    return s;
}

static bool is_comparison(const expr *e) {
    static const char *const tests[] = {"=", "<=>", "<", "<=", ">", ">=", "<>"};
    bool is = false;
    for (size_t i = 0; e->kind == EXPR_CALL && i < ARRAY_LEN(tests); i++) is |= str_eqz(e->function_name, tests[i]);
    return is;
}

/* A key, or another comparison of the sides. */
static silt_status add_comparison(merge_run *m, expr *e, bool *out_is_one) {
    *out_is_one = false;
    if (!is_comparison(e)) return SILT_OK;
    sides_used left = sides_of(m, e->args[0]), right = sides_of(m, e->args[1]);
    bool forward = left.target && !left.source && right.source && !right.target, backward = left.source && !left.target && right.target && !right.source;
    if (!forward && !backward) return SILT_OK;
    bool null_safe = str_eqz(e->function_name, "<=>"), equal = null_safe || str_eqz(e->function_name, "=");
    *out_is_one = true;
    if (equal) m->parts.keys[m->parts.n_keys++] = (merge_key){.target = e->args[forward ? 0 : 1], .source = e->args[forward ? 1 : 0], .equality = e, .null_safe = null_safe};
    else m->parts.compared[m->parts.n_compared++] = e;
    return SILT_OK;
}

static size_t count_conjuncts(const expr *e) {
    bool both = e->kind == EXPR_CALL && str_eqz(e->function_name, "and");
    return both ? count_conjuncts(e->args[0]) + count_conjuncts(e->args[1]) : 1;
}

static silt_status split_on(merge_run *m, expr *e) {
    merge_on *p = &m->parts;
    bool is_comparison_of_both;
    if (e->kind == EXPR_CALL && str_eqz(e->function_name, "and")) {
        TRY(split_on(m, e->args[0]));
        return split_on(m, e->args[1]);
    }
    TRY(add_comparison(m, e, &is_comparison_of_both));
    if (is_comparison_of_both) return SILT_OK;
    sides_used s = sides_of(m, e);
    if (s.target && !s.source) p->target_only[p->n_target_only++] = e;
    else if (s.source && !s.target) p->source_only[p->n_source_only++] = e;
    else p->residual[p->n_residual++] = e;
    return SILT_OK;
}

static silt_status take_parts(merge_run *m) {
    const op *o = m->o;
    size_t n = count_conjuncts(m->on) + 1;
    merge_on *p = &m->parts;
    p->target_only = ARENA_ARRAY(o->a, n, expr *);
    p->source_only = ARENA_ARRAY(o->a, n, expr *);
    p->compared = ARENA_ARRAY(o->a, n, expr *);
    p->residual = ARENA_ARRAY(o->a, n, expr *);
    p->keys = ARENA_ARRAY(o->a, n, merge_key);
    if (!p->target_only || !p->source_only || !p->compared || !p->residual || !p->keys) return error_no_memory(o->err);
    return split_on(m, m->on);
}

/* ---- all of it ---- */

/* As Spark shows a condition, before constants in it are computed. */
static silt_status take_texts(merge_run *m) {
    const op *o = m->o;
    m->predicate = text_of(o, m->on);
    m->conditions = ARENA_ARRAY(o->a, m->spec->n_clauses + 1, str);
    if (!m->conditions || str_is_null(m->predicate)) return error_no_memory(o->err);
    for (size_t i = 0; i < m->spec->n_clauses; i++) {
        if (!m->clauses[i].condition) continue;
        m->conditions[i] = text_of(o, m->clauses[i].condition);
        if (str_is_null(m->conditions[i])) return error_no_memory(o->err);
    }
    return SILT_OK;
}

static bool is_varying(void *ctx, expr *e) {
    bool *found = ctx;
    *found |= e->kind == EXPR_COLUMN;
    return !*found;
}

/* A condition without columns is one constant: false leaves every file out. One that fails stays as it is, since it may never be reached. */
static silt_status fold_condition(merge_run *m, expr **slot) {
    const op *o = m->o;
    bool varies = false;
    value v;
    expr_walk(*slot, is_varying, &varies);
    if (varies) return expr_fold_condition(*slot, o->env->bind, o->a, o->err);
    if (expr_fold(*slot, o->env->bind, o->a, &v, NULL) != SILT_OK) return SILT_OK;
    v.type = &type_boolean;
    expr *constant = expr_literal(o->a, v, (*slot)->span);
    if (!constant) return error_no_memory(o->err);
    return expr_bind(constant, NULL, o->env->bind, o->a, slot, o->err);
}

static silt_status fold_conditions(merge_run *m) {
    TRY(fold_condition(m, &m->on));
    for (size_t i = 0; i < m->spec->n_clauses; i++)
        if (m->clauses[i].condition) TRY(fold_condition(m, &m->clauses[i].condition));
    return SILT_OK;
}

silt_status merge_bind(merge_run *m) {
    const op *o = m->o;
    m->clauses = ARENA_ARRAY(o->a, m->spec->n_clauses + 1, bound_clause);
    if (!m->clauses) return error_no_memory(o->err);
    TRY(bind_condition(m, m->spec->on, &m->both, "search", &m->on));
    for (size_t i = 0; i < m->spec->n_clauses; i++) TRY(bind_clause(m, &m->spec->clauses[i], &m->clauses[i]));
    TRY(take_texts(m));
    TRY(fold_conditions(m));
    return take_parts(m);
}
