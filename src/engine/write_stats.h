/**
 * Delta's per-file statistics, collected from the vectors as they are written (PROTOCOL.md "Per-file Statistics"; the numbers are Spark's).
 *
 * The Parquet footer tells some of them too (write_footer_stats.h), but it counts nulls of lists and maps otherwise, leaves NaN out, and cuts strings. Not aggregates in SQL: one pass
 * in C over vectors that are in cache costs a few nanoseconds a value.
 */
#ifndef ENGINE_WRITE_STATS_H
#define ENGINE_WRITE_STATS_H

#include "engine/internal.h"

typedef struct stats_tree stats_tree;
typedef struct stats_leaf stats_leaf;

/** Which columns are counted is decided once from the spec. NULL when memory ran out. Belongs to one thread at a time. */
stats_tree *stats_tree_new(const write_spec *spec);
void stats_tree_free(stats_tree *t); /**< NULL is fine */
void stats_tree_reset(stats_tree *t);
/** Add rows [from, to) of the flat vectors, one per field of spec->schema (NULL for a column that is not in the chunk). false when memory ran out. */
bool stats_tree_add(stats_tree *t, duckdb_vector *columns, size_t from, size_t to);
/** Both of the same spec. false when memory ran out. */
bool stats_tree_merge(stats_tree *into, const stats_tree *other);
int64_t stats_tree_rows(const stats_tree *t);
/** Does a file's footer tell the statistics of a column of the type (write_footer_stats.h)? */
bool stats_are_in_footer(const data_type *type);
/** The tree does not look at columns of such types: stats_tree_add may be given NULL for them. To be said before the first row. */
void stats_tree_leave_to_footer(stats_tree *t);
/** The leaf of a counted column that is left to the footer, borrowed; NULL for other columns. */
stats_leaf *stats_tree_left_out(stats_tree *t, size_t column, bool *out_bounded);
/** add.stats as JSON text. */
void stats_tree_write(const stats_tree *t, buf *out);

#endif
