/**
 * The files of the log that make up one table version: at most one complete checkpoint, then the commits (or compacted files)
 * behind it, contiguous and ascending. PROTOCOL.md "Delta Log Entries", "Checkpoints", "Log Compaction Files", "Last Checkpoint
 * File".
 */
#ifndef DELTA_SEGMENT_H
#define DELTA_SEGMENT_H

#include "delta/delta.h"
#include "delta/log_path.h"

typedef struct log_file {
    str path; /**< absolute in the store */
    log_file_name name;
    int64_t size_bytes, modified_ms;
    str tag; /**< of a remote store, see log_file_tag */
    int64_t listed_ms; /**< by the local clock, when the listing was asked for that told of it; 0: by none */
} log_file;

typedef struct log_listing {
    log_file *files; /**< what log_path_parse knows, ascending by name */
    size_t count, capacity;
    int64_t from_version; /**< listed from here on; 0 = all */
} log_listing;

typedef struct delta_segment {
    int64_t version;
    const log_file *checkpoint; /**< parts ascending; NULL when n_checkpoint is 0 */
    size_t n_checkpoint;
    int64_t checkpoint_version; /**< -1 without one */
    const log_file *commits;    /**< behind the checkpoint, compacted files in place of the commits that they cover */
    size_t n_commits;
    const log_file *last_commit; /**< the commit of `version` itself; NULL where cleaned up */
    const log_file *checksum;    /**< of `version`, NULL when absent */
} delta_segment;

/** The log's files from `from_version` on. DELTA_TABLE_NOT_FOUND when there is no _delta_log. */
silt_status log_list(const delta_env *env, str root, int64_t from_version, arena *a, log_listing *out,
                     silt_error *err) MUST_CHECK;

/**
 * One ordered listing (two where _last_checkpoint misled); no log file is read. The hint is believed only in so far as a complete
 * checkpoint stands where it points.
 * @param version  DELTA_LATEST or the wanted one
 * @return DELTA_TABLE_NOT_FOUND (no log), DELTA_VERSION_NOT_FOUND, DELTA_VERSIONS_NOT_CONTIGUOUS,
 * DELTA_TRUNCATED_TRANSACTION_LOG, IO, DENIED, NO_MEMORY
 */
silt_status segment_load(const delta_env *env, str root, int64_t version, arena *a, delta_segment *out,
                         silt_error *err) MUST_CHECK;
/** The commits after `after` up to `to` out of a listing; CORRUPT when one is missing. */
silt_status segment_commits(const log_listing *l, int64_t after, int64_t to, bool use_compacted, arena *a, const log_file **out,
                            size_t *out_count, silt_error *err) MUST_CHECK;
/** Newest complete checkpoint of the listing at or below `version`: its parts. false when there is none. */
bool segment_checkpoint(const log_listing *l, int64_t version, arena *a, const log_file **out, size_t *out_count);

/** Newest version of a listing by commit or complete checkpoint, -1 when empty. */
int64_t log_listing_latest(const log_listing *l);
/** Oldest version that can be rebuilt from a whole listing, -1 when none. */
int64_t log_listing_earliest(const log_listing *l);
const log_file *log_listing_find(const log_listing *l, log_file_kind kind, int64_t version);

/** How errors name the table: its path, with the URI's beginning in front where it is not a local one. In arena, or `root` itself. */
str delta_table_name(const delta_env *env, str root, arena *arena);

#endif
