/**
 * Checkpoints, PROTOCOL.md "Checkpoints": classic and multi-part Parquet, V2 in Parquet or JSON with or without sidecars, all
 * through parquet_service.
 */
#ifndef DELTA_CHECKPOINT_READ_H
#define DELTA_CHECKPOINT_READ_H

#include "delta/replay.h"

/** The actions of a checkpoint that are no files. Everything in the arena given to checkpoint_read. */
typedef struct checkpoint_state {
    delta_protocol *protocol; /**< NULL when absent */
    delta_metadata *metadata; /**< its schema is not parsed yet (action_bind_schema) */
    delta_txn_id *txns;
    size_t n_txns, txns_capacity;
    delta_domain *domains;
    size_t n_domains, domains_capacity;
    str *parquet_files;
    size_t n_parquet_files, parquet_files_capacity; /**< where its tombstones are */
    file_batch **batches;
    size_t n_batches, batches_capacity; /**< frozen; one reference each, the caller's */
} checkpoint_state;

/**
 * Read the checkpoint of a segment: all non-file actions, and of the adds what a file list needs. Statistics and (in Parquet)
 * tombstones are left where they are.
 * @return CORRUPT (DELTA_CHECKPOINT_CORRUPT, DELTA_LOG_FILE_CORRUPT), NOT_FOUND (a sidecar is missing), UNSUPPORTED (Parquet
 * without a service), IO, NO_MEMORY
 */
silt_status checkpoint_read(const delta_env *env, str root, const delta_segment *segment, arena *a, checkpoint_state *out,
                            silt_error *err) MUST_CHECK;
void checkpoint_state_release(checkpoint_state *s); /**< gives the batches back */

/** Call fn for every tombstone in one Parquet file of a checkpoint. The remove's strings live for the call. */
typedef silt_status (*checkpoint_remove_fn)(void *ctx, const delta_remove *remove, silt_error *err);
silt_status checkpoint_each_remove(const delta_env *env, str parquet_path, checkpoint_remove_fn fn, void *ctx,
                                   silt_error *err) MUST_CHECK;

/** Open a Parquet file of the log projected to `columns`; *out is the caller's to release. */
silt_status checkpoint_open(const delta_env *env, str path, const data_type *columns, arena *a, struct ArrowArrayStream *out,
                            silt_error *err) MUST_CHECK;
/** The type of a file's column by dotted path ("add.stats_parsed"), NULL when it has none. */
const data_type *checkpoint_column(const data_type *file_schema, const char *path);
silt_status checkpoint_schema(const delta_env *env, str path, arena *a, const data_type **out, silt_error *err) MUST_CHECK;

#endif
