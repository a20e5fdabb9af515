/** One commit file as plain actions, in the order of its lines: for the conflict rules, history and change data. */
#ifndef DELTA_COMMIT_READ_H
#define DELTA_COMMIT_READ_H

#include "delta/delta.h"

typedef struct delta_commit {
    int64_t version;
    str commit_info;                /**< the commitInfo object's JSON text, {NULL,0} when there is none */
    int64_t in_commit_timestamp_ms; /**< -1 when absent */
    const delta_protocol *protocol; /**< NULL when absent */
    const delta_metadata *metadata;
    const delta_add *adds;
    size_t n_adds; /**< with statistics and tags */
    const delta_remove *removes;
    size_t n_removes;
    const delta_txn_id *txns;
    size_t n_txns;
    const delta_domain *domains;
    size_t n_domains;
    const delta_cdc *cdcs;
    size_t n_cdcs; /**< change data files, without tags */
} delta_commit;

/**
 * Read <version>.json whole. NOT_FOUND (DELTA_LOG_FILE_NOT_FOUND) when it is not there, CORRUPT with file and line. Everything is
 * in `arena`.
 */
silt_status delta_commit_read(const delta_env *env, str root, int64_t version, arena *arena, delta_commit *out,
                              silt_error *err) MUST_CHECK;

/**
 * Only the commitInfo object's JSON text of one version ({NULL,0} when it has none): reads the first lines only where it stands
 * there, as it does in practice.
 */
silt_status delta_commit_info_read(const delta_env *env, str root, int64_t version, arena *arena, str *out,
                                   silt_error *err) MUST_CHECK;

#endif
