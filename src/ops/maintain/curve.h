/**
 * The order of rows in which several columns are clustered at once: along a space-filling curve, so that rows near one another in the file are near in every column and files
 * (and row groups) can be passed over by the bounds of each.
 *
 *     curve *c;
 *     curve_open(o, snapshot, keep, &columns, CURVE_ZORDER, &c)     a sample of those files' rows: where the ranges of each column end
 *     curve_order(o, c, rows, &query->order_by, &query->n_order_by) for a query that reads `rows`
 *     …                                                             run it
 *     curve_close(o, c)                                             always; NULL is fine
 */
#ifndef OPS_MAINTAIN_CURVE_H
#define OPS_MAINTAIN_CURVE_H

#include "engine/curve.h"
#include "ops/internal.h"

/** Columns of a table by which its rows are ordered. */
typedef struct curve_columns {
    const str *names;         /**< as history and tags show them: "a", "c.d" */
    const column_path *paths; /**< into the metadata's schema */
    size_t n;
} curve_columns;

typedef struct curve curve;

/**
 * ZORDER BY's columns. `names` come out as they were written.
 * @return DELTA_ZORDERING_ON_PARTITION_COLUMN, DELTA_ZORDERING_COLUMN_DOES_NOT_EXIST, DELTA_ZORDERING_ON_COLUMN_WITHOUT_STATS (unless
 * spark.databricks.delta.optimize.zorder.checkStatsCollection.enabled is false), UNSUPPORTED for types without an order
 */
silt_status curve_zorder_columns(const op *o, const delta_snapshot *s, const name_parts *columns, size_t n, curve_columns *out) MUST_CHECK;

/** The clustering columns of a table that has some, by logical names. */
silt_status curve_clustering_columns(const op *o, const delta_snapshot *s, curve_columns *out) MUST_CHECK;
/** Names as they were written, for messages: "a, `b c`.d". */
silt_status curve_names(const op *o, const name_parts *columns, size_t n, str *out) MUST_CHECK;

/** `keep`: flags of the snapshot's files whose rows will be ordered (one bin: a partition, or a cube). */
silt_status curve_open(const op *o, const delta_snapshot *s, const uint8_t *keep, const curve_columns *columns, curve_kind kind, curve **out) MUST_CHECK;
/** Sort keys over a FROM item that has the snapshot's columns in their order first, as row_change_rows and ops_rows_of_source give it. */
silt_status curve_order(const op *o, const curve *c, relation *rows, sort_key **out, size_t *out_n) MUST_CHECK;
void curve_close(const op *o, curve *c);

#endif
