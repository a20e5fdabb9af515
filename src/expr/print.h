/** Inside the DuckDB printer. */
#ifndef EXPR_PRINT_H
#define EXPR_PRINT_H

#include "expr/coerce.h"
#include "expr/expr.h"
#include "expr/functions.h"
#include "expr/tree_tools.h"

/** Expressions that are printed as a text of their own: grouped expressions and aggregates above their GROUP BY, select list items in ORDER BY. */
typedef struct print_map print_map;
struct print_map {
    const print_map *outer;
    const expr **exprs;
    str *texts;
    size_t n, capacity, text_count, text_capacity;
};

/** Columns of a relation that a lateral view above it has taken along: r<id>.c<i> is then x<view>.r<id>c<i>. */
typedef struct relation_move {
    uint32_t relation, view;
} relation_move;

struct printer {
    buf *out;
    const bind_env *env;
    scan_printer *scans;
    silt_error *err;
    arena *a;
    const print_map *map;
    bool fixed_zone; /**< the session zone is a fixed offset, in us: */
    int64_t zone_offset_us;
    relation_move *moves;
    size_t n_moves, move_capacity;
    uint32_t next_name; /**< for lambda parameters that the printer makes up */
};

/* print_duckdb.c */
silt_status print_expr(printer *p, const expr *e) MUST_CHECK;
/** The same into the printer's arena, to be printed in more than one place. */
silt_status print_expr_text(printer *p, const expr *e, str *out) MUST_CHECK;
/** The buffer's text in the printer's arena, the buffer disposed of; where there was no memory, what is printed fails as a whole (buf_ok). */
str print_take(printer *p, buf *b);
silt_status print_exprs(printer *p, expr *const *items, size_t n, const char *separator) MUST_CHECK;
silt_status print_template(printer *p, const char *text, const expr *call) MUST_CHECK;
void print_string(printer *p, str s); /**< a DuckDB string literal, any bytes */
silt_status print_literal(printer *p, const value *v) MUST_CHECK;
void print_identifier(buf *out, str name);
/**
 * Rule 4 of the engine: a C function that raises must not be pushed below the deletion vector filter. Behind this CASE, whose branch never taken is volatile and raises
 * by DuckDB's own error(), DuckDB leaves it where it is. Print begin, the raising expression, end.
 */
void print_guard_begin(printer *p);
void print_guard_end(printer *p);
/** e behind the guard: for the list argument of DuckDB's lambda functions, which do not tell DuckDB that their body may raise. */
silt_status print_guarded(printer *p, const expr *e) MUST_CHECK;
/** Print `body` over a name for e's value, evaluated once: a column or other cheap text is printed itself, all else bound by a one-element list. */
typedef silt_status (*print_let_fn)(printer *p, str name, const void *ctx);
silt_status print_let(printer *p, const expr *e, print_let_fn body, const void *ctx) MUST_CHECK;
void print_constant_error(printer *p, const char *condition, const char *sqlstate, const char *message,
                          const data_type *type); /**< an expression of that type that raises when evaluated */
/** A TIMESTAMP of the session's zone from a timestamp, timestamp_ntz or date expression. */
silt_status print_local(printer *p, const expr *e) MUST_CHECK;
/** Opens and closes the conversion of a local TIMESTAMP back to a zoned one. */
void print_zoned_begin(printer *p);
void print_zoned_end(printer *p);
/** What Spark's order of a struct compares, over a name for its value: DuckDB takes a null field for the greatest, Spark for the least. */
bool print_needs_order_key(const data_type *t);
void print_order_key(printer *p, str text, const data_type *t);
/* print_call.c */
silt_status print_call(printer *p, const expr *e) MUST_CHECK;
silt_status print_argument(printer *p, const expr *call,
                           const expr *argument) MUST_CHECK;            /* of an aggregate: NULL where its FILTER is not true */
silt_status print_window_tail(printer *p, const expr *call) MUST_CHECK; /**< FILTER and OVER */
/* print_arithmetic.c */
silt_status print_arithmetic(printer *p, const expr *e) MUST_CHECK;
silt_status print_divisor(printer *p, const expr *e, const char *condition,
                          const char *message) MUST_CHECK; /**< e, raising when it is 0 */
/** DECIMAL(p,s) from the HUGEINT of unscaled digits printed in between; raises NUMERIC_VALUE_OUT_OF_RANGE unless `or_null`. */
void print_decimal_begin(printer *p, const data_type *t, bool or_null);
void print_decimal_end(printer *p, bool or_null);
/* print_cast.c */
silt_status print_cast(printer *p, const expr *arg, const data_type *to, bool is_try, str insert_column) MUST_CHECK;
/* print_query.c */
silt_status print_query(printer *p, const query *q) MUST_CHECK;
silt_status print_relation(printer *p, const relation *r) MUST_CHECK;
/** How a column is called where the printer stands. */
void print_column_name(printer *p, const relation *r, uint32_t column);
/* print_lateral.c */
typedef struct condition_list {
    const expr **items;
    size_t n, capacity;
} condition_list;
/** Is it a view that prints as one SELECT with unnest (explode, posexplode, inline)? */
bool print_is_flat_view(const relation *r);
/** The view as a derived table. Conditions of the query that do not need the view's columns go inside; what is left of `conditions` belongs to the query's WHERE. */
silt_status print_flat_view(printer *p, const relation *r, condition_list *conditions) MUST_CHECK;

#endif
