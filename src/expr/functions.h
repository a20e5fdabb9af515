/**
 * The function registry: one row per function (or per overload). A row says how its arguments are coerced, what it gives, and how it prints as DuckDB's SQL.
 *
 * Signature: "param, param -> result". A param is a type word, with '?' when it may be left out and '*' when it repeats (last one only):
 *   any            kept as it is (void too)             same           all `same` arguments get their common type
 *   bool byte short int long float double string binary date timestamp ntz variant interval       coerced to that type
 *   number         numeric kept, strings become double  integral       byte … long kept, strings become long
 *   decimal        kept, integers become decimals       datetime       date, timestamp, ntz kept, strings become timestamp
 *   text           string or binary kept, others string array map struct lambda          must be one
 *   elem key val   coerced to the element type of the first array (key, value of the first map), which widens when needed
 *   =word          like word, but the row matches only when the argument already has that type (overloads)
 * Result: a type word; arg1…arg9 the argument's type; same; elem, key, val of the first array or map; array(x), map(x,y) of such words; `custom`: the row's bind says.
 *
 * DuckDB text: $1…$9 arguments, $G1 the argument behind the guard (lists that go into a lambda), $* all, $2* from the second on, $L1 the argument as a local TIMESTAMP (session zone), $Z the session zone as a string literal,
 * $T the result type, $T1 the type of an argument, $$ a dollar.
 */
#ifndef EXPR_FUNCTIONS_H
#define EXPR_FUNCTIONS_H

#include "expr/tree.h"

typedef struct binder binder;
typedef struct printer printer;

typedef enum function_kind { FUNCTION_SCALAR, FUNCTION_AGGREGATE, FUNCTION_WINDOW, FUNCTION_GENERATOR } function_kind;

enum {
    FN_NULLABLE = 1,   /**< may give NULL for arguments without NULL */
    FN_NEVER_NULL = 2, /**< never gives NULL */
    FN_VOLATILE = 4,   /**< another value at each call */
    FN_RAISES = 8,     /**< its C function raises: printed behind the guard of print_duckdb.c */
    FN_MACRO = 16,     /**< `sql` is Spark SQL over $1…$9, parsed and bound in its place */
    FN_DISTINCT = 32,  /**< aggregate: DISTINCT may stand in it */
    FN_ORDERED = 64    /**< aggregate: WITHIN GROUP (ORDER BY …) may follow */
};

struct function_row {
    const char *name;
    const char *aliases; /**< separated by spaces, NULL for none */
    const char *signature;
    const char *sql; /**< DuckDB template or macro text; NULL when `print` does it */
    const char *doc; /**< one line for docs/functions.md */
    function_kind kind;
    uint32_t flags;
    /** After the arguments are bound and coerced: sets call->type and nullable, may rewrite the call. NULL: the signature says all. */
    silt_status (*bind)(binder *b, expr *call);
    silt_status (*print)(printer *p, const expr *call);
};

/** All rows, group by group. */
typedef struct function_group {
    const char *title;
    const function_row *rows;
    size_t count;
} function_group;
extern const function_group *const function_groups[];
extern const size_t function_group_count;

/** First row with that name whose signature takes n arguments; *out_known tells whether the name exists at all. */
const function_row *function_find(str name, size_t n_args, bool *out_known);
/** The next overload behind `row` that takes n arguments, or NULL. */
const function_row *function_find_next(const function_row *row, str name, size_t n_args);
/** Accepted numbers of arguments; *out_max is SIZE_MAX when the last repeats. */
void function_arity(const function_row *row, size_t *out_min, size_t *out_max);

#endif
