/** The rows of a checkpoint as a stream of Arrow batches in bounded memory. */
#ifndef DELTA_CHECKPOINT_ROWS_H
#define DELTA_CHECKPOINT_ROWS_H

#include "delta/delta.h"

typedef enum checkpoint_content {
    CHECKPOINT_ALL,  /**< a classic checkpoint: txn, add, remove, metaData, protocol, domainMetadata */
    CHECKPOINT_FILES, /**< a sidecar: add and remove */
    CHECKPOINT_TOP   /**< a V2 checkpoint's top-level file: everything but files, the checkpoint's own metadata and its sidecars */
} checkpoint_content;

/** The shape of one checkpoint, from the table's schema and properties. */
typedef struct checkpoint_shape {
    checkpoint_content content;
    const data_type *type;         /**< the file's columns */
    int32_t txn, add, remove, metadata, protocol, domain, checkpoint_metadata, sidecar; /**< column indexes, -1 when not there */
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

typedef struct sidecar_file {
    str name;
    int64_t size_bytes, modified_ms;
} sidecar_file;

typedef struct checkpoint_spec {
    const checkpoint_shape *shape;
    int64_t now_ms;    /**< decides which tombstones and application transactions have expired */
    int64_t part_rows; /**< so many rows in one stream, then another may follow; <= 0: one stream has all */
    str_map tags;      /**< CHECKPOINT_TOP: of checkpointMetadata */
    const sidecar_file *sidecars;
    size_t n_sidecars; /**< CHECKPOINT_TOP */
} checkpoint_spec;

typedef struct checkpoint_rows checkpoint_rows;
/** Begin. spec and snapshot are borrowed until checkpoint_rows_end, which is the caller's duty. */
silt_status checkpoint_rows_begin(const delta_snapshot *s, const checkpoint_spec *spec, checkpoint_rows **out, silt_error *err) MUST_CHECK;
/** The next part of the rows, for the Parquet writer, which releases the stream. *out_more false: there is none (the first is always there, if without rows). */
void checkpoint_rows_part(checkpoint_rows *r, struct ArrowArrayStream *out_stream, bool *out_more);
/** Wait for the end, free it. @return the status of reading the snapshot (a writer reports a broken stream as its own error: this one is the cause). */
silt_status checkpoint_rows_end(checkpoint_rows *r, checkpoint_counts *out_counts, silt_error *err) MUST_CHECK;

/** File actions of a checkpoint at that time. */
silt_status checkpoint_count_files(const delta_snapshot *s, int64_t now_ms, int64_t *out, silt_error *err) MUST_CHECK;

/** An application transaction is kept until delta.setTransactionRetentionDuration after its last update, for ever where that is not set. */
bool checkpoint_keeps_txn(const delta_metadata *m, const delta_txn_id *t, int64_t now_ms);

#endif
