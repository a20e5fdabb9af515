/**
 * The one tree of Spark SQL expressions and queries: the parser makes it, the binder fills in sources and types, the printers write it as DuckDB's or Spark's SQL.
 * Nodes live in one arena and are never shared between trees. Fields under "bound" are zero until the binder has run.
 */
#ifndef EXPR_TREE_H
#define EXPR_TREE_H

#include "table/format.h"

typedef struct expr expr;
typedef struct query query;
typedef struct relation relation;
typedef struct function_row function_row; /* expr/functions.h */

/** Byte range of the source text a node came from, for messages with a caret. */
typedef struct source_span { uint32_t from, to; } source_span;

/** A dotted name: `a`.b.c */
typedef struct name_parts {
    const str *parts;
    size_t count;
} name_parts;

typedef struct sort_key {
    expr *value;
    bool descending;
    bool nulls_first; /**< resolved: Spark's default is NULLS FIRST for ASC, NULLS LAST for DESC */
} sort_key;

typedef enum frame_bound_kind { FRAME_UNBOUNDED_PRECEDING, FRAME_PRECEDING, FRAME_CURRENT_ROW, FRAME_FOLLOWING, FRAME_UNBOUNDED_FOLLOWING } frame_bound_kind;
typedef struct window_spec {
    str base_name;            /**< OVER name / OVER (name …), or null */
    expr *const *partition_by; size_t n_partition_by;
    const sort_key *order_by;  size_t n_order_by;
    bool has_frame, is_range;  /**< RANGE rather than ROWS */
    frame_bound_kind start_kind, end_kind;
    expr *start, *end;         /**< of PRECEDING/FOLLOWING */
} window_spec;

typedef enum expr_kind {
    EXPR_LITERAL,     /**< literal; an untyped NULL has type_void */
    EXPR_COLUMN,      /**< name (unbound: parts, may end in struct fields); bound: relation + column (+ outer) */
    EXPR_STAR,        /**< name = qualifier parts; except = names of EXCEPT (…); also the argument of count(*) */
    EXPR_CALL,        /**< function_name + args; operators too, by their SQL spelling: "+" "-" "*" "/" "%" "div" "=" "<=>" "<>" "<" "<=" ">" ">=" "and" "or" "not" "||" "&" "|" "^" "~"
                           "isnull" "isnotnull" "like" "ilike" "rlike" "between" "in" "negative" "positive" … (lower case) */
    EXPR_CAST,        /**< args[0] AS cast_type; is_try; `::` too */
    EXPR_CASE,        /**< args: [operand?] (when, then)* [else?]; has_operand, has_else */
    EXPR_FIELD,       /**< args[0].field_name; bound: field_index */
    EXPR_INDEX,       /**< args[0][args[1]]: array (0-based) or map */
    EXPR_LAMBDA,      /**< lambda_params → args[0] */
    EXPR_LAMBDA_VAR,  /**< bound only: a use of a lambda parameter (function_name = its name) */
    EXPR_SUBQUERY,    /**< scalar subquery */
    EXPR_EXISTS,      /**< EXISTS (subquery) */
    EXPR_IN_SUBQUERY, /**< args IN (subquery); several args = row value */
    EXPR_INTERVAL,    /**< INTERVAL literal as parsed: interval_months, interval_us, interval_is_ym; `INTERVAL expr unit` with a non-literal is EXPR_CALL make_interval… */
    EXPR_PARAMETER,   /**< ? or :name (function_name; empty for ?) */
    EXPR_DEFAULT,     /**< DEFAULT in VALUES, UPDATE SET, INSERT */
    EXPR_NAMED        /**< args[0] AS alias (projection items only); several aliases for generators */
} expr_kind;

struct expr {
    expr_kind kind;
    source_span span;
    expr **args;
    size_t n_args;

    value literal;            /**< LITERAL */
    name_parts name;          /**< COLUMN, STAR */
    str function_name;        /**< CALL (as written for functions, lower case for operators), LAMBDA_VAR, PARAMETER */
    bool is_distinct;         /**< CALL: count(DISTINCT x) */
    bool ignore_nulls;        /**< CALL: IGNORE NULLS */
    bool negated;             /**< CALL "like" "ilike" "rlike" "between" "in"; EXISTS, IN_SUBQUERY: NOT before it */
    bool is_try;              /**< CAST */
    bool has_operand, has_else; /**< CASE */
    expr *filter;             /**< CALL: FILTER (WHERE …) */
    const sort_key *within_order; size_t n_within_order; /**< CALL: WITHIN GROUP (ORDER BY …) */
    window_spec *over;        /**< CALL: OVER, NULL if none */
    const data_type *cast_type; /**< CAST */
    str field_name;           /**< FIELD */
    const str *lambda_params; size_t n_lambda_params; /**< LAMBDA */
    query *subquery;          /**< SUBQUERY, EXISTS, IN_SUBQUERY */
    int32_t interval_months; int64_t interval_us; bool interval_is_ym; /**< INTERVAL */
    const str *aliases; size_t n_aliases; /**< NAMED */
    const name_parts *except; size_t n_except; /**< STAR */

    /* ---- bound ---- */
    const data_type *type;
    bool nullable;
    relation *source;         /**< COLUMN: where it comes from */
    uint32_t column;          /**< COLUMN: index in source's columns; PARAMETER ?: its number in the text */
    uint32_t outer_levels;    /**< COLUMN: 0 = this query's FROM, n = n queries further out (correlated) */
    int32_t field_index;      /**< FIELD: index in the struct type */
    const function_row *function; /**< CALL */
    void *function_data;      /**< CALL: what the row's binder computed */
    bool is_aggregate;        /**< holds an aggregate call of this query level (not windowed) */
    bool implicit;            /**< CAST: put in by the binder, not written by the user */
};

typedef enum relation_kind {
    REL_TABLE,        /**< catalog name or format.`path` */
    REL_SUBQUERY,     /**< (query) or a view / CTE after binding */
    REL_CTE,          /**< bound only: a reference to a CTE of an enclosing query */
    REL_VALUES,       /**< inline VALUES … as a relation */
    REL_JOIN,
    REL_FUNCTION,     /**< table function: range(…), explode(…), … */
    REL_LATERAL_VIEW, /**< left LATERAL VIEW [OUTER] generator */
    REL_EMPTY         /**< no FROM clause: one row */
} relation_kind;

typedef enum join_type { JOIN_INNER, JOIN_LEFT, JOIN_RIGHT, JOIN_FULL, JOIN_CROSS, JOIN_LEFT_SEMI, JOIN_LEFT_ANTI } join_type;

/** Time travel of a table reference. At most one of the two. */
typedef struct travel_spec {
    expr *version;   /**< VERSION AS OF / FOR SYSTEM_VERSION AS OF: integer literal or string */
    expr *timestamp; /**< TIMESTAMP AS OF / FOR SYSTEM_TIME AS OF: a foldable expression without columns */
} travel_spec;

/** A column that a relation gives to the scope above it. */
typedef struct relation_column {
    str name;
    const data_type *type;
    bool nullable;
    bool hidden;      /**< resolvable by name but not part of `*`: _metadata, the duplicate side of USING */
} relation_column;

struct relation {
    relation_kind kind;
    source_span span;
    str alias;                 /**< {NULL,0} for none */
    const str *column_aliases; size_t n_column_aliases;

    name_parts name;           /**< TABLE, CTE, FUNCTION */
    travel_spec travel;        /**< TABLE */
    const str *option_keys, *option_values; size_t n_options; /**< TABLE: WITH (k = v), load options */
    double sample_percent; int64_t sample_rows; /**< TABLESAMPLE: -1 / -1 when absent */

    query *subquery;           /**< SUBQUERY */
    expr ***rows; size_t n_rows, n_row_columns; /**< VALUES */
    relation *left, *right;    /**< JOIN; LATERAL_VIEW: left */
    join_type join;            /**< JOIN */
    bool natural, lateral;     /**< JOIN: NATURAL; right side is LATERAL */
    expr *on;                  /**< JOIN */
    const str *using_columns; size_t n_using_columns; /**< JOIN */
    expr **args; size_t n_args;/**< FUNCTION, LATERAL_VIEW: generator call is args[0] */
    str function_name;         /**< FUNCTION */
    bool outer;                /**< LATERAL_VIEW OUTER */

    /* ---- bound ---- */
    uint32_t id;               /**< unique in the statement; printed as r<id>, its columns as c<i> */
    relation_column *columns; size_t n_columns;
    table_source *source;      /**< TABLE: borrowed from the statement's resolver */
    bool *column_used;         /**< n_columns flags: what the query needs; set by expr_push_predicates */
    bool needs_row_id;         /**< TABLE, set before binding: it also has the hidden columns silt_file and silt_row (row-level operations; expr.h) */
    const predicate *where;    /**< TABLE: what the query's filters say about this relation alone; filled by expr_push_predicates */
    query *cte;                /**< CTE */
    uint32_t cte_id;
};

typedef enum set_op { SET_NONE, SET_UNION, SET_INTERSECT, SET_EXCEPT } set_op;
typedef enum group_kind { GROUP_NONE, GROUP_EXPRS, GROUP_ALL, GROUP_ROLLUP, GROUP_CUBE, GROUP_SETS } group_kind;

typedef struct group_set { expr **items; size_t count; } group_set;

typedef struct cte_def { str name; const str *column_aliases; size_t n_column_aliases; query *body; source_span span; uint32_t id; } cte_def;
typedef struct named_window { str name; window_spec *spec; } named_window;

/** One query: WITH … body ORDER BY … LIMIT. The body is a SELECT (set == SET_NONE) or left SET right. */
struct query {
    source_span span;
    cte_def *ctes; size_t n_ctes;
    bool recursive;

    set_op set; bool set_all; bool set_by_name; query *left, *right;

    bool distinct;
    expr **projections; size_t n_projections; /**< as written; bound: stars expanded, each an expression (NAMED removed, names in column_names) */
    relation *from;            /**< NULL = no FROM */
    expr *where;
    group_kind group;
    expr **group_items; size_t n_group_items; /**< GROUP_EXPRS, ROLLUP, CUBE */
    group_set *group_sets; size_t n_group_sets; /**< GROUP_SETS */
    expr *having;
    named_window *windows; size_t n_windows;
    expr *qualify;

    sort_key *order_by; size_t n_order_by; bool order_by_all, order_all_descending; bool sort_by; /**< SORT BY / DISTRIBUTE BY / CLUSTER BY are read as hints */
    expr *limit, *offset;      /**< NULL = none; LIMIT ALL = none */

    /* ---- bound ---- */
    str *column_names; const data_type **column_types; bool *column_nullable; size_t n_columns; /**< the output */
    bool has_aggregates;
    size_t n_hidden_order;     /**< projections appended only for ORDER BY */
    uint32_t id;
    bool *column_used;         /**< n_columns flags set by expr_push_predicates: outputs that somebody reads; NULL = all */
};

/** Walk every expression below (depth first, children before the node), incl. windows, filters; not into subqueries. Stops on false. */
bool expr_walk(expr *e, bool (*fn)(void *ctx, expr *e), void *ctx);
/** Walk every relation of the query, its subqueries (in FROM, in expressions), CTEs and set branches. */
bool query_walk_relations(query *q, bool (*fn)(void *ctx, relation *r), void *ctx);

expr *expr_new(arena *a, expr_kind kind, source_span span);
expr *expr_call(arena *a, const char *function, expr *const *args, size_t n_args, source_span span);
expr *expr_literal(arena *a, value v, source_span span);
expr *expr_literal_str(arena *a, str s);
expr *expr_literal_i64(arena *a, int64_t v); /**< INT where it fits, else BIGINT */
expr *expr_column(arena *a, str name);

#endif
