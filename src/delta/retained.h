/**
 * Which files of a table's folder its retained versions need: what VACUUM must keep. Held as 64-bit hashes of relative paths (16 bytes per file at
 * most): two paths of one hash keep a file too many, never one too few.
 */
#ifndef DELTA_RETAINED_H
#define DELTA_RETAINED_H

#include "delta/delta.h"

typedef struct delta_retained delta_retained;

/**
 * Versions that were current at `cutoff_ms` or later are retained. Their files are: those of the snapshot (the newest); what a tombstone not older than
 * the cutoff names; and what any commit after the cutoff removed or wrote as change data, however old its tombstone says it is. With each file its
 * deletion vector's. Cost: the snapshot's file list once; the commits after the cutoff that lie before its checkpoint are read again.
 * @return as delta_snapshot_load; a path or vector that cannot be understood is an error, not left out
 */
silt_status delta_retained_load(const delta_snapshot *s, int64_t cutoff_ms, delta_retained **out, silt_error *err) MUST_CHECK;
void delta_retained_free(delta_retained *r); /**< NULL is fine */
/** Add what commits since the last look added, removed or wrote. One listing of the log's end. */
silt_status delta_retained_update(delta_retained *r, silt_error *err) MUST_CHECK;
/** `path`: relative to the root, decoded. Any thread while no update runs. */
bool delta_retained_has(const delta_retained *r, str path);
/** The version that was current at the cutoff: older ones are not retained. */
int64_t delta_retained_first_version(const delta_retained *r);
/** The same, but -1 where every version that can be rebuilt is newer than the cutoff. */
int64_t delta_retained_version_at_cutoff(const delta_retained *r);

/** A file that a commit took out of the table: removed data, its deletion vector, or change data. */
typedef struct removed_file {
    str path;           /**< relative to the root, decoded; for the call */
    int64_t size_bytes; /**< -1 unknown */
    int64_t removed_ms; /**< 0 unknown */
} removed_file;

/**
 * Call fn for every file below the root that the commits from..to removed or wrote as change data; a file may come more than once.
 * @return DELTA_LOG_FILE_NOT_FOUND where a commit of the range is gone
 */
silt_status delta_each_removed_file(const delta_env *env, str root, int64_t from, int64_t to,
                                    silt_status (*fn)(void *ctx, const removed_file *f, silt_error *err), void *ctx, silt_error *err) MUST_CHECK;
/** Oldest commit file in the log, -1 without any. */
silt_status delta_earliest_commit(const delta_env *env, str root, int64_t *out, silt_error *err) MUST_CHECK;

#endif
