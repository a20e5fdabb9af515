/* Small unbound trees, for expressions that are put together here and bound as a whole. */
#include "ops/internal.h"

#define NOWHERE ((source_span){0, 0})

silt_status ops_tree_call(const op *o, const char *function, expr *x, expr *y, expr **out) {
    expr *args[2] = {x, y};
    *out = expr_call(o->a, function, args, y ? 2 : 1, NOWHERE);
    return *out ? SILT_OK : error_no_memory(o->err);
}

/* A node with room for n arguments. */
static silt_status tree_node(const op *o, expr_kind kind, size_t n, expr **out) {
    expr *e = expr_new(o->a, kind, NOWHERE);
    if (!e || !(e->args = ARENA_ARRAY(o->a, n, expr *))) return error_no_memory(o->err);
    e->n_args = n;
    *out = e;
    return SILT_OK;
}

silt_status ops_tree_case(const op *o, size_t n_branches, expr *otherwise, expr **out) {
    TRY(tree_node(o, EXPR_CASE, 2 * n_branches + 1, out));
    (*out)->args[2 * n_branches] = otherwise;
    (*out)->has_else = true;
    return SILT_OK;
}

silt_status ops_tree_is_true(const op *o, expr *condition, expr **out) {
    expr *yes = expr_literal(o->a, (value){.type = &type_boolean, .as.boolean = true}, (source_span){0, 0}), *no = expr_literal(o->a, (value){.type = &type_boolean}, (source_span){0, 0});
    if (!yes || !no) return error_no_memory(o->err);
    TRY(ops_tree_case(o, 1, no, out));
    (*out)->args[0] = condition;
    (*out)->args[1] = yes;
    return SILT_OK;
}

silt_status ops_tree_cast(const op *o, expr *e, const data_type *to, expr **out) {
    expr *cast;
    TRY(tree_node(o, EXPR_CAST, 1, &cast));
    cast->args[0] = e;
    cast->cast_type = to;
    *out = cast;
    return SILT_OK;
}

silt_status ops_tree_field(const op *o, expr *e, str name, expr **out) {
    expr *f;
    TRY(tree_node(o, EXPR_FIELD, 1, &f));
    f->args[0] = e;
    f->field_name = name;
    *out = f;
    return SILT_OK;
}

silt_status ops_tree_lambda(const op *o, int depth, expr **out_item, expr **out) {
    str *names = ARENA_NEW(o->a, str);
    expr *lambda;
    TRY(tree_node(o, EXPR_LAMBDA, 1, &lambda));
    if (!names) return error_no_memory(o->err);
    names[0] = arena_printf(o->a, "silt_item_%d", depth);
    *out_item = str_is_null(names[0]) ? NULL : expr_column(o->a, names[0]);
    if (!*out_item) return error_no_memory(o->err);
    lambda->lambda_params = names;
    lambda->n_lambda_params = 1;
    *out = lambda;
    return SILT_OK;
}

silt_status ops_tree_text(const op *o, str text, expr **out) {
    *out = str_is_null(text) ? NULL : expr_literal_str(o->a, text);
    return *out ? SILT_OK : error_no_memory(o->err);
}

silt_status ops_tree_null(const op *o, expr **out) {
    *out = expr_literal(o->a, (value){.type = &type_void, .is_null = true}, NOWHERE);
    return *out ? SILT_OK : error_no_memory(o->err);
}

silt_status ops_tree_error_text(const op *o, const silt_error *error, expr **out) {
    return ops_tree_text(o, arena_printf(o->a, "[%s|%s] %s[/]", error->condition, error->sqlstate, error->message), out);
}

silt_status ops_tree_raise(const op *o, const silt_error *error, expr **out) {
    expr *message;
    TRY(ops_tree_error_text(o, error, &message));
    return ops_tree_call(o, "silt_raise", message, NULL, out);
}

static bool is_subquery(void *ctx, expr *e) {
    bool *found = ctx;
    *found |= e->kind == EXPR_SUBQUERY || e->kind == EXPR_EXISTS || e->kind == EXPR_IN_SUBQUERY;
    return !*found;
}

bool ops_tree_has_subquery(expr *e) {
    bool found = false;
    expr_walk(e, is_subquery, &found);
    return found;
}
