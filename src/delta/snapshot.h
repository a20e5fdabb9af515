/**
 * Inside of a delta_snapshot. Only the reading half of this module includes it, and commit.c, which asks whether the log was
 * replaced underneath.
 */
#ifndef DELTA_SNAPSHOT_H
#define DELTA_SNAPSHOT_H

#include <pthread.h>

#include "delta/checkpoint_read.h"
#include "delta/delta.h"
#include "delta/replay.h"

/** Protocol and metadata: shared by the snapshots between two changes of them. */
typedef struct table_state {
    int refs; /* atomic */
    arena *arena;
    delta_protocol protocol;
    delta_metadata metadata;
} table_state;

/** Transaction ids and domains, likewise. */
typedef struct app_state {
    int refs; /* atomic */
    arena *arena;
    delta_txn_id *txns;
    size_t n_txns;
    delta_domain *domains;
    size_t n_domains; /**< without removed ones */
} app_state;

struct delta_snapshot {
    int refs; /* atomic */
    const delta_env *env;
    arena *arena;
    str root;
    int64_t version;
    int64_t commit_time_ms;
    int64_t commit_size,
        commit_modified_ms; /**< of the commit file of `version`, -1 unknown: tells whether the log was replaced underneath */
    table_state *table;
    app_state *apps;
    batch_view *views;
    size_t n_views;     /**< ascending by age */
    size_t *first_file; /**< n_views + 1: number of each view's first file */
    int64_t size_bytes;
    const str *checkpoint_files;
    size_t n_checkpoint_files; /**< Parquet files whose tombstones belong to this snapshot */
    pthread_mutex_t lock;      /**< guards what follows */
    bool counted, count_known;
    int64_t num_records;
};

/* ---- snapshot_state.c ---- */
/** Newest protocol among actions, parsed into `a`; *out NULL when there is none. */
silt_status state_find_protocol(const delta_env *env, const raw_actions *actions, arena *a, const delta_protocol **out,
                                silt_error *err) MUST_CHECK;
silt_status state_find_metadata(const delta_env *env, const raw_actions *actions, arena *a, const delta_metadata **out,
                                silt_error *err) MUST_CHECK;
/** Deep copies; one reference. Checks that the metadata asks for nothing that the protocol does not have. */
silt_status table_state_new(const delta_protocol *p, const delta_metadata *m, table_state **out, silt_error *err) MUST_CHECK;
void table_state_release(table_state *s);
/** `older` (the checkpoint's or an older snapshot's lists) and the newer actions; of each key the newest counts. */
silt_status app_state_new(const delta_env *env, const delta_txn_id *txns, size_t n_txns, const delta_domain *domains,
                          size_t n_domains, const raw_actions *newer, app_state **out, silt_error *err) MUST_CHECK;
void app_state_release(app_state *s);
/** In-commit timestamps are on. */
bool state_has_ict(const delta_protocol *p, const delta_metadata *m);

/* ---- checksum.c ---- */
/** Compare with <version>.crc; one that cannot be read is ignored. DELTA_TXN_LOG_FAILED_INTEGRITY. */
silt_status checksum_verify(const delta_snapshot *s, const log_file *crc, silt_error *err) MUST_CHECK;

/* ---- snapshot_files.c ---- */
/** View and row of file i. */
void snapshot_locate(const delta_snapshot *s, size_t i, size_t *out_view, uint32_t *out_row);

#endif
