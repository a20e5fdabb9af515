/** Inside the binder: scopes, the state of one bind, and the pieces that its files share. */
#ifndef EXPR_BIND_H
#define EXPR_BIND_H

#include "expr/coerce.h"
#include "expr/expr.h"
#include "expr/functions.h"
#include "expr/tree_tools.h"

/** One resolvable column of a FROM clause. */
typedef struct scope_item {
    str name;
    const str *qualifier;
    size_t n_qualifier; /**< table alias, or catalog/database/table; matched by its tail */
    relation *source;
    uint32_t column; /**< the leaf relation and its column */
    expr *value;     /**< instead of a column: coalesce(l, r) of a FULL JOIN's USING column */
    const data_type *type;
    bool nullable;
    bool hidden; /**< not part of `*` */
} scope_item;

/** A name that a lambda introduces. */
typedef struct lambda_name {
    str name, unique;
    const data_type *type;
    bool nullable;
} lambda_name;

typedef enum clause {
    CLAUSE_OTHER,
    CLAUSE_SELECT,
    CLAUSE_WHERE,
    CLAUSE_GROUP,
    CLAUSE_HAVING,
    CLAUSE_ORDER,
    CLAUSE_ON,
    CLAUSE_QUALIFY,
    CLAUSE_GENERATOR
} clause;

typedef struct scope scope;
struct scope {
    scope *outer; /**< of the enclosing query, NULL at the top */
    scope_item *items;
    size_t n_items, item_capacity;
    query *q;           /**< whose select list aliases may be used (lateral aliases, ORDER BY, HAVING), or NULL */
    size_t n_aliases;   /**< projections of q bound so far */
    bool aliases_first; /**< ORDER BY and HAVING: the select list wins over FROM */
    lambda_name *lambdas;
    size_t n_lambdas, lambda_capacity;
    clause where;
    bool in_aggregate;
    window_spec *const *window_specs;
    const str *window_names;
    size_t n_windows;
};

typedef struct cte_frame cte_frame;
struct cte_frame {
    cte_frame *outer;
    cte_def *def;
    bool is_recursive;
    relation_column *columns;
    size_t n_columns;
};

struct binder {
    const bind_env *env;
    arena *a;
    silt_error *err;
    uint32_t next_id;
    cte_frame *ctes;
    int depth;            /**< nesting of queries, views and macros, bounded */
    scope *current;       /**< of the call being bound, for the rows' own bind functions */
    bool grouping_sets;   /**< the query being bound has them */
    cte_frame *recursive; /**< whose anchor is being bound: gets its columns when that is done */
};

#define BIND_MAX_DEPTH 200
#define BIND_NEW(var, expression)                   \
    do {                                            \
        (var) = (expression);                       \
        if (!(var)) return error_no_memory(b->err); \
    } while (0)

/* bind_query.c */
silt_status bind_query(binder *b, query *q, scope *outer) MUST_CHECK;
silt_status bind_subquery_expr(binder *b, scope *s, expr *e) MUST_CHECK;
/* bind_relation.c */
silt_status bind_relation(binder *b, relation *r, scope *s, scope *outer) MUST_CHECK; /**< binds it and adds its columns to s */
silt_status bind_table_columns(binder *b, relation *r) MUST_CHECK;
/* bind_function.c */
/** A function that the resolver knows: r becomes a subquery over its rows, to be bound. */
silt_status bind_resolver_function(binder *b, relation *r) MUST_CHECK;
silt_status scope_add_relation(binder *b, scope *s, relation *r) MUST_CHECK; /**< columns of a bound relation; joins too */
silt_status bind_generator(binder *b, scope *s, expr *call, relation *r) MUST_CHECK; /**< r gets the generator's output columns */
/* bind_scope.c */
silt_status scope_add(binder *b, scope *s, scope_item item) MUST_CHECK;
silt_status scope_resolve(binder *b, scope *s, expr *column) MUST_CHECK;
silt_status scope_expand_star(binder *b, scope *s, const expr *star, expr ***out, str **out_names, size_t *out_count) MUST_CHECK;
/** `name` as an output column of the query being bound: index, -1 none, -2 ambiguous. */
int scope_find_alias(const scope *s, str name);
/* bind_expr.c */
silt_status bind_expr(binder *b, scope *s, expr *e) MUST_CHECK;
silt_status bind_expr_list(binder *b, scope *s, expr **items, size_t n) MUST_CHECK;
/** Bound, and a boolean or refused by that error with its text and type; NULL: what can be cast is, as HAVING does. */
typedef silt_status (*condition_refusal)(silt_error *err, str expression, str type);
silt_status bind_condition(binder *b, scope *s, expr **slot, condition_refusal refuse) MUST_CHECK;
/** Replace the slot's expression by one of type `to` (cast, or the literal re-typed) if it is not already. The cast must be allowed by the caller. */
silt_status bind_cast_slot(binder *b, expr **slot, const data_type *to) MUST_CHECK;
/** Same, after checking that the implicit cast exists; else DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE naming `parent`. */
silt_status bind_coerce_slot(binder *b, expr **slot, const data_type *to, const expr *parent, size_t position) MUST_CHECK;
/** Same, of what must be a condition: NULL is one, a string is not. */
silt_status bind_truth_slot(binder *b, expr **slot, const expr *parent, size_t position) MUST_CHECK;
silt_status bind_common_slots(binder *b, expr **slots, size_t n, const expr *parent, const data_type **out) MUST_CHECK;
/** DATATYPE_MISMATCH.DATA_DIFF_TYPES naming `parent` and the slots' types. */
silt_status bind_refuse_types(binder *b, expr *const *slots, size_t n, const expr *parent) MUST_CHECK;
str bind_text(binder *b, const expr *e);      /**< the expression as Spark text, for messages */
void bind_become(expr *e, const expr *other); /**< *e = *other but for the span */
/* bind_operator.c */
bool bind_is_operator(str name);
silt_status bind_operator(binder *b, scope *s, expr *e) MUST_CHECK; /**< arguments are bound */
/* bind_call.c */
silt_status bind_call(binder *b, scope *s, expr *e) MUST_CHECK;
silt_status bind_function_row(binder *b, expr *call, const function_row *row, bool *out_matched) MUST_CHECK;
/** Bind a lambda argument of a higher-order function with these parameter types (as many as it names; fewer names than types is fine). */
silt_status bind_lambda(binder *b, expr *lambda, const data_type *const *types, const bool *nullable, size_t n) MUST_CHECK;
silt_status bind_macro(binder *b, scope *s, expr *e,
                       const char *text) MUST_CHECK; /**< e becomes the bound macro text over its unbound arguments :p1 … */
bool bind_is_generator(const expr *e);
/* bind_window.c */
silt_status bind_window(binder *b, scope *s, window_spec *w) MUST_CHECK;
/* bind_cast.c */
silt_status bind_cast(binder *b, expr *e) MUST_CHECK;
/* fold.c */
/** The value of a bound expression when that is known without the engine (literals, casts and simple arithmetic of them); false otherwise. */
bool fold_simple(const expr *e, const bind_env *env, arena *a, value *out);
/** Value of a constant by fold_simple or the engine. */
silt_status bind_fold(binder *b, expr *e, value *out, bool *out_folded) MUST_CHECK;
/** Constant sides of comparisons in a bound condition become literals, by the engine where need be: files and row groups can then be pruned by them. One whose evaluation
 * fails stays as it is, since it may never be reached. */
silt_status bind_fold_condition(binder *b, expr *e) MUST_CHECK;
bool expr_is_constant(const expr *e);
bool expr_has_volatile(const expr *e);

#endif
