/** The rows of a checkpoint as a stream of Arrow batches in bounded memory. */
#ifndef DELTA_CHECKPOINT_ROWS_H
#define DELTA_CHECKPOINT_ROWS_H

#include "delta/delta.h"

typedef enum checkpoint_content {
    CHECKPOINT_ALL,  /**< a classic checkpoint: txn, add, remove, metaData, protocol, domainMetadata */
    CHECKPOINT_FILES /**< a sidecar: add and remove */
} checkpoint_content;

/** The shape of one checkpoint, from the table's schema and properties. */
typedef struct checkpoint_shape {
    checkpoint_content content;
    const data_type *type;         /**< the file's columns */
    int32_t txn, add, remove, metadata, protocol, domain; /**< column indexes, -1 when not there */
    /* inside add: -1 when left out */
    int32_t stats, partition_values_parsed, stats_parsed;
    const data_type *partition_type; /**< of partitionValues_parsed */
    const data_type *stats_type;     /**< of stats_parsed */
    int32_t min_values, max_values, null_count, tight_bounds; /**< inside stats_parsed; -1 when left out */
} checkpoint_shape;

silt_status checkpoint_shape_of(const delta_snapshot *s, checkpoint_content content, arena *arena, checkpoint_shape *out, silt_error *err) MUST_CHECK;

typedef struct checkpoint_counts {
    int64_t adds, removes, others;
} checkpoint_counts;

typedef struct checkpoint_rows checkpoint_rows;
/**
 * Begin. `now_ms` decides which tombstones and application transactions have expired. shape and snapshot are borrowed until the stream is released.
 * *out_stream is given to the Parquet writer, which releases it; *out is the caller's, for checkpoint_rows_end after that.
 */
silt_status checkpoint_rows_begin(const delta_snapshot *s, const checkpoint_shape *shape, int64_t now_ms, checkpoint_rows **out,
                                  struct ArrowArrayStream *out_stream, silt_error *err) MUST_CHECK;
/** Wait for the end, free it. @return the status of reading the snapshot (a writer reports a broken stream as its own error: this one is the cause). */
silt_status checkpoint_rows_end(checkpoint_rows *r, checkpoint_counts *out_counts, silt_error *err) MUST_CHECK;

/** An application transaction is kept until delta.setTransactionRetentionDuration after its last update, for ever where that is not set. */
bool checkpoint_keeps_txn(const delta_metadata *m, const delta_txn_id *t, int64_t now_ms);

#endif
