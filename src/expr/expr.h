/** The face of `expr`: text → tree → bound tree → text. */
#ifndef EXPR_EXPR_H
#define EXPR_EXPR_H

#include "expr/tree.h"

/* ---- parsing (lexer.c, parse_expr.c, parse_query.c, parse_type.c) ---- */
/** Syntax errors: PARSE_SYNTAX_ERROR; the detail shows line, column, the line itself with a caret under it, and what was expected. */
silt_status expr_parse(str text, arena *a, expr **out, silt_error *err) MUST_CHECK;   /**< one expression, the whole text */
silt_status query_parse(str text, arena *a, query **out, silt_error *err) MUST_CHECK; /**< one query, the whole text */
silt_status type_parse(str text, arena *a, const data_type **out, silt_error *err) MUST_CHECK; /**< "INT", "STRUCT<a: INT NOT NULL COMMENT 'x', b: ARRAY<STRING>>", "decimal(10,2)", "varchar(5)" */
/** A column list "a INT NOT NULL COMMENT 'x', b STRING DEFAULT 'y'" → struct (comments and defaults in field metadata). */
silt_status schema_parse_ddl(str text, arena *a, const data_type **out, silt_error *err) MUST_CHECK;

/* ---- binding (bind_*.c, functions*.c, coerce.c) ---- */
/** Gives names their tables. Lives as long as the statement; sources it returns are its own. */
typedef struct table_resolver table_resolver;
struct table_resolver {
    void *ctx;
    /** `rel` is a REL_TABLE with name, travel and options. Either *out_source (a table) or *out_view (a view's query text, parsed and bound by the binder in its own scope). */
    silt_status (*resolve)(table_resolver *r, const relation *rel, arena *a, table_source **out_source, str *out_view, silt_error *err);
    /** The rows of a function in FROM that is not the binder's own (table_changes): one or two sources with the same columns, which together have them; none: no such
     * function. `args` are unbound; they must be constants. May be NULL. */
    silt_status (*resolve_function)(table_resolver *r, str name, expr *const *args, size_t n_args, arena *a, table_source *out_sources[2], size_t *out_n, silt_error *err);
};

typedef struct bind_env {
    table_resolver *resolver;
    str time_zone;                 /**< session zone, e.g. "UTC" */
    bool ansi;                     /**< spark.sql.ansi.enabled, default true */
    bool case_sensitive;           /**< spark.sql.caseSensitive, default false */
    int64_t now_us;                /**< current_timestamp() of the statement */
    str current_database, current_user, current_catalog;
    str source_text;               /**< the statement, for messages */
    const str *parameter_names; expr *const *parameter_values; size_t n_parameters; /**< :name and ? (empty names, in order) */
    /** Fold a column-free bound expression to a value by the engine (for literals with time zones, functions over literals); may be NULL: then only plain literals fold. */
    silt_status (*fold)(void *fold_ctx, expr *e, arena *a, value *out, silt_error *err);
    void *fold_ctx;
} bind_env;

/** Bind a query in place: names, functions, types, implicit casts, stars, group by ordinals and aliases, ORDER BY, subqueries. */
silt_status query_bind(query *q, const bind_env *env, arena *a, silt_error *err) MUST_CHECK;
/** Bind one expression over the columns of one relation (CHECK, defaults, DELETE's WHERE, replaceWhere); `scope` may be NULL for constants. */
silt_status expr_bind(expr *e, relation *scope, const bind_env *env, arena *a, expr **out, silt_error *err) MUST_CHECK;
/** The hidden last column `_metadata` of a REL_TABLE (index schema->n_fields): struct of file_path, file_name, file_size, file_block_start, file_block_length,
 * file_modification_time, row_index and, where the table has them, row_id, row_commit_version. The scan gives it as such a struct when column_used says so. */
const data_type *relation_metadata_type(const table_source *t, arena *a);
/**
 * Fills in the columns of a REL_TABLE whose source is set: the schema's fields, the hidden `_metadata` (index n_fields), and where needs_row_id is set two more hidden ones,
 * BIGINT NOT NULL: silt_file (n_fields + 1), the file's number in the format's own counting, and silt_row (n_fields + 2), the row's place in its file, from 0. They are named
 * behind an alias only (t.silt_file); a table's own column of that name keeps it.
 */
silt_status relation_bind_columns(relation *r, arena *a, silt_error *err) MUST_CHECK;
/** Wrap a bound expression in the cast to `target`: store assignment (ANSI) for INSERT — refuses by DATATYPE_MISMATCH / DELTA_FAILED_TO_MERGE_FIELDS rules what Spark refuses,
 * marks overflow as CAST_OVERFLOW_IN_TABLE_INSERT — or explicit CAST. Structs by position. `column` for messages. */
typedef enum cast_mode { CAST_EXPLICIT, CAST_STORE_ASSIGNMENT, CAST_TRY } cast_mode;
silt_status expr_coerce(expr *e, const data_type *target, cast_mode mode, str column, const bind_env *env, arena *a, expr **out, silt_error *err) MUST_CHECK;
/** For each REL_TABLE of the bound query set `where` from WHERE, ON and HAVING conjuncts that speak of it alone (outer joins respected) and `column_used`. */
silt_status expr_push_predicates(query *q, const bind_env *env, arena *a, silt_error *err) MUST_CHECK;
/** Constant sides of comparisons in a bound condition become literals, as WHERE and ON have it: files can then be pruned by them. */
silt_status expr_fold_condition(expr *e, const bind_env *env, arena *a, silt_error *err) MUST_CHECK;
/** A bound boolean expression over one relation → prunable predicate (never NULL: PRED_UNKNOWN where nothing is known). */
silt_status expr_to_predicate(const expr *e, const relation *r, const bind_env *env, arena *a, const predicate **out, silt_error *err) MUST_CHECK;
/** Spark's name for an unaliased projection: "(a + 1)", "count(1)", … */
str expr_auto_name(const expr *e, str source_text, arena *a);
/** The value of a bound expression without columns. */
silt_status expr_fold(expr *e, const bind_env *env, arena *a, value *out, silt_error *err) MUST_CHECK;

/* ---- printing ---- */
/** Prints how one REL_TABLE is read: a parenthesised SELECT that gives columns c0…cn (all of the used ones). Implemented by the engine's scan node. */
typedef struct scan_printer scan_printer;
struct scan_printer {
    void *ctx;
    silt_status (*print)(scan_printer *p, const relation *rel, buf *out, silt_error *err);
};
/** DuckDB SQL of a bound query. Output columns are named c0…cn. `for_output` also casts what Arrow cannot carry (variants to JSON text, remapped struct names). */
silt_status query_print_duckdb(const query *q, const bind_env *env, scan_printer *scans, bool for_output, buf *out, silt_error *err) MUST_CHECK;
silt_status expr_print_duckdb(const expr *e, const bind_env *env, scan_printer *scans, buf *out, silt_error *err) MUST_CHECK;
void type_print_duckdb(buf *out, const data_type *type, bool physical_names);
/** Spark SQL of an unbound or bound tree (EXPLAIN, stored texts, the Spark back end). */
void query_print_spark(const query *q, buf *out);
void expr_print_spark(const expr *e, buf *out);

/* Names that begin with `silt_` are the C functions of engine/functions_*.c: only the printers and the registry write them. */

#endif
