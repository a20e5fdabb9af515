/**
 * Delta Lake tables: log → snapshot, time travel, history. No SQL and no Parquet code here (checkpoints are read and written through parquet_service).
 * Source: PROTOCOL.md; what it leaves to the engine is as Spark 4.1 with Delta 4.3 does it.
 */
#ifndef DELTA_DELTA_H
#define DELTA_DELTA_H

#include "base/thread.h"
#include "delta/actions.h"
#include "table/format.h"

/** What opening a table needs. Borrowed for the life of the snapshots made with it. */
typedef struct delta_env {
    store *store;              /**< the store that holds the table root */
    store_registry *stores;    /**< for absolute file paths (clones); may be NULL: then only this store */
    parquet_service *parquet;  /**< may be NULL: then checkpoints in Parquet cannot be read (refused) */
    int n_threads;             /**< <= 0: default */
    const cancel_token *cancel; /**< may be NULL */
    int32_t zone_offset_seconds; /**< for zone-less timestamp partition values: 0 = UTC */
    bool skip_version_checksum; /**< do not verify N.crc */
    bool checkpoint_top_parquet; /**< V2 checkpoints: the top-level file in Parquet instead of JSON */
    int64_t checkpoint_part_rows; /**< V2 checkpoints: at most so many file actions in one sidecar; <= 0: no limit */
} delta_env;

#define DELTA_LATEST ((int64_t)-1)

typedef struct delta_snapshot delta_snapshot;

/**
 * Load the table state at `version` (DELTA_LATEST for the newest).
 * `root` is the table folder in env->store. The protocol is checked for reading (delta_protocol_check_read) before anything else is believed.
 * Cost: one listing from the checkpoint hint on, the commits after the newest complete checkpoint, the file columns of that checkpoint; statistics are not kept.
 * @return NOT_FOUND (DELTA_TABLE_NOT_FOUND: no _delta_log or no commit; DELTA_VERSION_NOT_FOUND), CORRUPT (gap, bad line, checkpoint), UNSUPPORTED, IO, NO_MEMORY
 * Thread rule: a snapshot is immutable and may be shared by threads; release from any.
 */
silt_status delta_snapshot_load(const delta_env *env, str root, int64_t version, delta_snapshot **out, silt_error *err) MUST_CHECK;
/** Newest state, reusing `older` (its files, replaying only newer commits) where that is cheaper. `older` stays valid. */
silt_status delta_snapshot_update(const delta_env *env, const delta_snapshot *older, delta_snapshot **out, silt_error *err) MUST_CHECK;
delta_snapshot *delta_snapshot_retain(const delta_snapshot *s);
void delta_snapshot_release(delta_snapshot *s); /**< NULL is fine */
/** true when `root` has a _delta_log with at least one commit or checkpoint. */
silt_status delta_table_exists(const delta_env *env, str root, bool *out, silt_error *err) MUST_CHECK;

/* All borrowed from the snapshot. */
int64_t delta_snapshot_version(const delta_snapshot *s);
str delta_snapshot_root(const delta_snapshot *s);
const delta_env *delta_snapshot_env(const delta_snapshot *s);
const delta_protocol *delta_snapshot_protocol(const delta_snapshot *s);
const delta_metadata *delta_snapshot_metadata(const delta_snapshot *s);
size_t delta_snapshot_n_files(const delta_snapshot *s);
int64_t delta_snapshot_size_bytes(const delta_snapshot *s);
/** Sum of numRecords minus deletion vector cardinalities; false when a file lacks numRecords. Reads statistics (cost: the log bytes once). */
silt_status delta_snapshot_num_records(const delta_snapshot *s, bool *out_known, int64_t *out, silt_error *err) MUST_CHECK;
size_t delta_snapshot_n_txns(const delta_snapshot *s);
const delta_txn_id *delta_snapshot_txn(const delta_snapshot *s, size_t i);
/** Version of that application id, or -1. */
int64_t delta_snapshot_txn_version(const delta_snapshot *s, str app_id);
size_t delta_snapshot_n_domains(const delta_snapshot *s);
const delta_domain *delta_snapshot_domain(const delta_snapshot *s, size_t i);
const delta_domain *delta_snapshot_find_domain(const delta_snapshot *s, str domain);
/** Commit time of this version: in-commit timestamp where enabled, else the commit file's modification time. ms, UTC. */
int64_t delta_snapshot_commit_time_ms(const delta_snapshot *s);
/** A configuration value, or {NULL,0}. */
str delta_snapshot_property(const delta_snapshot *s, const char *key);

/** One active file, i < n_files, in `arena`. with_stats also fetches the statistics text (I/O); otherwise stats is {NULL,0}. */
silt_status delta_snapshot_file(const delta_snapshot *s, size_t i, bool with_stats, arena *arena, delta_add *out, silt_error *err) MUST_CHECK;
/** Call fn for every active file in order, statistics fetched in bulk when asked. A non-OK status from fn stops and is returned. */
silt_status delta_snapshot_each_file(const delta_snapshot *s, bool with_stats, silt_status (*fn)(void *ctx, size_t i, const delta_add *add, silt_error *err), void *ctx,
                                     silt_error *err) MUST_CHECK;
/** Unexpired and expired tombstones that the log segment still shows (for checkpoints and VACUUM). */
silt_status delta_snapshot_each_remove(const delta_snapshot *s, silt_status (*fn)(void *ctx, const delta_remove *remove, silt_error *err), void *ctx, silt_error *err) MUST_CHECK;

/** add.path → store and absolute path (decodes once; absolute URIs go through env->stores). */
silt_status delta_resolve_path(const delta_env *env, str root, str action_path, arena *arena, store **out_store, str *out_path, silt_error *err) MUST_CHECK;
/** Load a deletion vector, verifying size, CRC and cardinality. The caller frees the bitmap. */
silt_status delta_dv_load(const delta_env *env, str root, const delta_dv *dv, bitmap **out, silt_error *err) MUST_CHECK;
/** The file of a deletion vector with storage 'u', relative to the table root. In `arena`. */
silt_status delta_dv_relative_path(const delta_dv *dv, arena *arena, str *out, silt_error *err) MUST_CHECK;
/** Replay key's second half: storageType + pathOrInlineDv [+ "@" + offset]; empty for none. */
str delta_dv_unique_id(const delta_dv *dv, arena *arena);

/**
 * The snapshot as a table_source for binder and engine (retains the snapshot; ops->release gives it back). Scans prune by partition values and statistics
 * and load the deletion vectors of the surviving files.
 */
silt_status delta_table_source(const delta_snapshot *s, table_source **out, silt_error *err) MUST_CHECK;

/**
 * The same source of only some of its files: file i where keep[i] (copied; delta_snapshot_n_files flags). scan_file.index stays the snapshot's number. Scans still prune;
 * counts and bounds are those of the kept files or unknown.
 */
silt_status delta_table_source_files(const delta_snapshot *s, const uint8_t *keep, table_source **out, silt_error *err) MUST_CHECK;

/**
 * Is the source (of any format) the table of the snapshot, in whatever version and by whatever name (s3 and s3a, a symlink)? By its folder, or by the table's id: a copy of the folder, which has the id too, is taken
 * for it. A source's location is not asked, which is a text for people.
 */
bool delta_source_is_of(const table_source *t, const delta_snapshot *s);
/** Are its files the snapshot's, numbered alike? Only where folder and version are the same. */
bool delta_source_has_files_of(const table_source *t, const delta_snapshot *s);

/**
 * What the log alone says about a predicate and the files of a source of delta_table_source: out_some[i] = 0: no row of file i is TRUE; out_all[i] = 1: every row is.
 * Flags by scan_file.index, in `a`. Reads statistics only where the predicate asks for more than partition columns; no deletion vector, no data file.
 */
silt_status delta_files_matching(const table_source *t, const predicate *where, arena *a, uint8_t **out_some, uint8_t **out_all, silt_error *err) MUST_CHECK;

/* ---- time travel and history ---- */
/** Latest version with commit time <= timestamp_ms (adjusted to be strictly increasing; in-commit timestamps where on).
 * Errors: DELTA_TIMESTAMP_EARLIER_THAN_COMMIT_RETENTION, DELTA_TIMESTAMP_GREATER_THAN_COMMIT. */
silt_status delta_version_at(const delta_env *env, str root, int64_t timestamp_ms, int64_t *out_version, silt_error *err) MUST_CHECK;
/** Versions that can be rebuilt now. */
silt_status delta_version_range(const delta_env *env, str root, int64_t *out_earliest, int64_t *out_latest, silt_error *err) MUST_CHECK;

typedef struct delta_history_entry {
    int64_t version;
    int64_t timestamp_ms;  /**< adjusted commit time (or in-commit timestamp) */
    str commit_info;       /**< the commitInfo object's JSON text, {NULL,0} when the commit has none */
} delta_history_entry;
/** Newest first; limit < 0 = all that is still in the log. */
silt_status delta_history(const delta_env *env, str root, int64_t limit, arena *arena, delta_history_entry **out, size_t *out_count, silt_error *err) MUST_CHECK;

#endif
