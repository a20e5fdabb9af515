/**
 * Prunable predicates and data skipping. A predicate is what remains of a WHERE clause after everything that statistics cannot decide was replaced
 * by PRED_UNKNOWN; it only ever proves that a file has NO row for which the clause is true.
 */
#ifndef TABLE_PREDICATE_H
#define TABLE_PREDICATE_H

#include "table/value.h"

typedef enum predicate_kind {
    PRED_UNKNOWN,     /**< anything: may be true, false or null */
    PRED_TRUE, PRED_FALSE /**< constants; a NULL constant is PRED_FALSE only at a place where null means "row not selected" (the extractor's business) */,
    PRED_AND, PRED_OR, PRED_NOT,
    PRED_EQ, PRED_NE, PRED_LT, PRED_LE, PRED_GT, PRED_GE, /**< column op literal */
    PRED_EQ_NULL_SAFE, /**< column <=> literal (literal may be null) */
    PRED_IN,           /**< column IN literals; has_null tells that the list held NULL */
    PRED_IS_NULL, PRED_IS_NOT_NULL,
    PRED_STARTS_WITH   /**< column LIKE 'prefix%' */
} predicate_kind;

/** A column of the table: top-level field index, then indexes of nested struct fields. */
typedef struct column_path {
    const uint32_t *index;
    size_t depth; /**< >= 1 */
} column_path;

typedef struct predicate predicate;
struct predicate {
    predicate_kind kind;
    const predicate *const *children; /**< AND, OR: n_children; NOT: 1 */
    size_t n_children;
    column_path column;
    const data_type *column_type;
    const value *literals; /**< compare: 1; IN: n_literals */
    size_t n_literals;
    bool has_null;
};

/** What is known of one file (or row group). Each getter returns false for "unknown". */
typedef struct stats_source stats_source;
struct stats_source {
    void *ctx;
    /** Lower / upper bound of the non-null values. *out may be NaN (upper). Not exact: real values lie within. */
    bool (*min)(const stats_source *s, column_path column, const data_type *type, value *out);
    bool (*max)(const stats_source *s, column_path column, const data_type *type, value *out);
    bool (*null_count)(const stats_source *s, column_path column, int64_t *out);
    bool (*num_records)(const stats_source *s, int64_t *out);
    bool tight_bounds; /**< false: null_count and bounds may count deleted rows too */
    /** The one value that the column has in every row (a partition column); *out may be null. Exact, unlike min and max. May be NULL: no such columns. */
    bool (*constant)(const stats_source *s, column_path column, const data_type *type, value *out);
};

/** false only if no row of the file can make the predicate TRUE. Three-valued logic: see predicate.c. Timestamp upper bounds are widened by 1 ms (999 µs) here. */
bool predicate_may_match(const predicate *p, const stats_source *stats);
/** true only if every row of the file makes the predicate TRUE (so that its rows may be counted without reading them). Never true for a predicate with PRED_UNKNOWN
 * that matters. */
bool predicate_all_match(const predicate *p, const stats_source *stats);
/** Readable text for EXPLAIN, with the column names of `schema`. */
void predicate_write(buf *out, const predicate *p, const data_type *schema);

#endif
