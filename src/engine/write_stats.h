/**
 * Delta's per-file statistics, collected from the vectors as they are written (PROTOCOL.md "Per-file Statistics"; the numbers are Spark's).
 *
 * Not the Parquet footer's: that counts nulls of lists and maps otherwise, leaves NaN out, cuts strings elsewhere or drops them. Not aggregates in SQL either: one pass
 * in C over vectors that are in cache costs a few nanoseconds a value.
 */
#ifndef ENGINE_WRITE_STATS_H
#define ENGINE_WRITE_STATS_H

#include "engine/internal.h"

typedef struct stats_tree stats_tree;

/** Which columns are counted is decided once from the spec. NULL when memory ran out. Belongs to one thread at a time. */
stats_tree *stats_tree_new(const write_spec *spec);
void stats_tree_free(stats_tree *t); /**< NULL is fine */
void stats_tree_reset(stats_tree *t);
/** Add rows [from, to) of the flat vectors, one per field of spec->schema (NULL for a column that is not in the chunk). false when memory ran out. */
bool stats_tree_add(stats_tree *t, duckdb_vector *columns, size_t from, size_t to);
/** Both of the same spec. false when memory ran out. */
bool stats_tree_merge(stats_tree *into, const stats_tree *other);
int64_t stats_tree_rows(const stats_tree *t);
/** add.stats as JSON text. */
void stats_tree_write(const stats_tree *t, buf *out);

#endif
