/* Conditionals and null handling; most are CASE in other words. */
#include "expr/functions_tables.h"

static silt_status bind_coalesce(binder *b, expr *e) {
    (void)b;
    e->nullable = true;
    for (size_t i = 0; i < e->n_args; i++) e->nullable = e->nullable && e->args[i]->nullable;
    return SILT_OK;
}

/* A string is compared with strings alone. */
static silt_status bind_extreme(binder *b, expr *e) {
    const data_type *common = &type_void;
    for (size_t i = 0; i < e->n_args && common; i++) common = coerce_common_apart(b->a, common, e->args[i]->type);
    if (!common) return bind_refuse_types(b, e->args, e->n_args, e);
    for (size_t i = 0; i < e->n_args; i++) TRY(bind_cast_slot(b, &e->args[i], common));
    e->type = common;
    return SILT_OK;
}

static silt_status bind_if(binder *b, expr *e) {
    expr *node;
    TRY(bind_truth_slot(b, &e->args[0], e, 0));
    BIND_NEW(node, expr_new(b->a, EXPR_CASE, e->span));
    node->args = e->args;
    node->n_args = 3;
    node->has_else = true;
    TRY(bind_expr(b, b->current, node));
    bind_become(e, node);
    return SILT_OK;
}

/* decode(x, k1, v1, …[, else]): null keys match null. With two arguments it is the charset function. */
static silt_status bind_decode(binder *b, expr *e) {
    size_t pairs = (e->n_args - 1) / 2, n = 2 * pairs + (e->n_args - 1) % 2;
    expr *node;
    BIND_NEW(node, expr_new(b->a, EXPR_CASE, e->span));
    BIND_NEW(node->args, ARENA_ARRAY(b->a, n, expr *));
    for (size_t i = 0; i < pairs; i++) {
        expr *pair[2] = {NULL, e->args[1 + 2 * i]};
        BIND_NEW(pair[0], expr_clone(e->args[0], b->a));
        BIND_NEW(node->args[2 * i], expr_call(b->a, "<=>", pair, 2, e->span));
        node->args[2 * i + 1] = e->args[2 + 2 * i];
    }
    if (n > 2 * pairs) node->args[n - 1] = e->args[e->n_args - 1], node->has_else = true;
    node->n_args = n;
    TRY(bind_expr(b, b->current, node));
    bind_become(e, node);
    return SILT_OK;
}

static const function_row rows[] = {
    CUSTOM("if", NULL, "any, any, any -> custom", 0, bind_if, NULL, "Second argument where the first, a condition, is true, else the third"),
    {.name = "coalesce",
     .signature = "same, same* -> same",
     .sql = "coalesce($*)",
     .bind = bind_coalesce,
     .doc = "First argument that is not null"},
    MACRO("ifnull", "nvl", "any, any ->", "coalesce(:p1, :p2)", "First argument, or the second where it is null"),
    MACRO("nvl2", NULL, "any, any, any ->", "CASE WHEN :p1 IS NOT NULL THEN :p2 ELSE :p3 END",
          "Second argument where the first is not null, else the third"),
    MACRO("nullif", NULL, "any, any ->", "CASE WHEN :p1 = :p2 THEN null ELSE :p1 END",
          "NULL where both are equal, else the first"),
    MACRO("zeroifnull", NULL, "any ->", "coalesce(:p1, 0)", "0 where it is null"),
    MACRO("nullifzero", NULL, "any ->", "CASE WHEN :p1 = 0 THEN null ELSE :p1 END", "NULL where it is 0"),
    {.name = "greatest",
     .signature = "any, any, any* -> custom",
     .flags = FN_NULLABLE,
     .sql = "greatest($*)",
     .bind = bind_extreme,
     .doc = "Greatest argument of one type (strings with strings alone), nulls left out"},
    {.name = "least",
     .signature = "any, any, any* -> custom",
     .flags = FN_NULLABLE,
     .sql = "least($*)",
     .bind = bind_extreme,
     .doc = "Least argument of one type (strings with strings alone), nulls left out"},
    SCALAR_F("nanvl", NULL, "double, double -> double", FN_NULLABLE, "CASE WHEN isnan($1) THEN $2 ELSE $1 END",
             "Second argument where the first is NaN"),
    SCALAR_F("isnan", NULL, "double -> bool", FN_NEVER_NULL, "coalesce(isnan($1), false)", "Is it NaN"),
    SCALAR_F("silt_raise", NULL, "string -> void", FN_VOLATILE, "error($1)",
             "Raises the error that the text names: [CONDITION|SQLSTATE] message[/] (checks of written rows)"),
    CUSTOM("decode", NULL, "any, any, any, any* -> custom", 0, bind_decode, NULL, "Value that stands beside the matching key"),
};

GROUP_OF(functions_conditional, "Conditionals", rows);
