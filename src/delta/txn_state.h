/** Inside of a delta_txn: what transaction.c records, commit.c writes and conflict.c checks. Only the writing half of this module includes it. */
#ifndef DELTA_TXN_STATE_H
#define DELTA_TXN_STATE_H

#include "delta/commit_read.h"
#include "delta/path_set.h"
#include "delta/transaction.h"

#define ROW_TRACKING_DOMAIN "delta.rowTracking"

typedef struct file_action {
    bool is_remove;
    bool fresh_row_ids;  /**< an add that came without baseRowId: assigned at each attempt */
    bool fresh_version;  /**< an add that came without defaultRowCommitVersion */
    union {
        delta_add add;
        delta_remove remove;
    } as;
} file_action;

struct delta_txn {
    const delta_env *env;
    delta_snapshot *snapshot;    /**< retained; NULL for a new table */
    str root;
    arena *arena;
    char uuid[37];
    int64_t read_version;        /**< -1 for a new table */

    /* what it wants to write */
    const delta_protocol *new_protocol; /**< NULL: unchanged */
    const delta_metadata *new_metadata;
    file_action *files;
    size_t n_files, files_capacity;
    delta_cdc *cdcs;
    size_t n_cdcs, cdcs_capacity;
    delta_txn_id *txn_ids;
    size_t n_txn_ids, txn_ids_capacity;
    delta_domain *domains;       /**< without delta.rowTracking, which is recomputed at each attempt */
    size_t n_domains, domains_capacity;

    /* what it read */
    bool read_whole_table;
    const predicate **read_predicates;
    size_t n_read_predicates, read_predicates_capacity;
    path_set read_files;         /**< decoded: another engine may encode the same path differently */

    silt_status (*before_retry)(void *ctx, int64_t newest_version, silt_error *err); /**< NULL: nothing to ask */
    void *before_retry_ctx;

    /* the state it is rebased on: the snapshot's at first, then that of each winner */
    const delta_protocol *protocol;
    const delta_metadata *metadata;
    int64_t base_version;        /**< newest version that was checked; the next attempt is base_version + 1 */
    int64_t base_time_ms;        /**< its in-commit timestamp, or its file's modification time; -1 unknown */
    int64_t row_id_high_water;   /**< -1: no row id was given yet */
    int64_t row_id_floor;        /**< fresh ids are above this too; -1 */
    bool row_tracking_enabled_by_winner; /**< then this commit cannot claim to have preserved row ids */

    /* derived at commit */
    path_set removed_paths;      /**< decoded */
    bool is_blind;               /**< adds only, and nothing was read */
    bool is_backfill;            /**< gives row ids to files that have none */
    str isolation;
    int64_t timestamp_ms;        /**< in-commit timestamp of this attempt, -1 where not enabled */

    bool committed;
    const delta_metadata *written_metadata; /**< new_metadata with what commit.c put in, NULL when unchanged */
    int64_t written_high_water;  /**< row id high water mark after the commit */

    silt_error post_commit;      /**< status SILT_OK: nothing went wrong */
};

/** The protocol / metadata that the commit leaves behind. */
static inline const delta_protocol *txn_protocol(const delta_txn *t) { return t->new_protocol ? t->new_protocol : t->protocol; }
static inline const delta_metadata *txn_metadata(const delta_txn *t) { return t->new_metadata ? t->new_metadata : t->metadata; }
/** The new metadata is that of another table in the same place (REPLACE TABLE): whatever was in it was read, by meaning. */
static inline bool txn_replaces_table(const delta_txn *t) { return t->new_metadata && t->metadata && !str_eq(t->new_metadata->id, t->metadata->id); }
/** How errors name the table. */
str txn_table_name(const delta_txn *t);
bool txn_has_data_change(const delta_txn *t);

/* ---- commit_check.c ---- */
/** What can be refused before anything is written: protocol, duplicates, append-only, partition values. Fills removed_paths, is_blind, isolation. */
silt_status commit_check(delta_txn *t, const delta_commit_info *info, silt_error *err) MUST_CHECK;

/* ---- row_tracking.c ---- */
/** Row ids are to be given: supported and not suspended. */
bool row_tracking_is_on(const delta_protocol *p, const delta_metadata *m);
/** High water mark in a snapshot's or commit's domains, -1 when there is none. */
int64_t row_tracking_high_water(const delta_domain *domains, size_t n);
/** Give baseRowId above the mark and defaultRowCommitVersion = version to every fresh add. *out_high_water is the new mark. */
silt_status row_tracking_assign(delta_txn *t, int64_t version, int64_t *out_high_water, silt_error *err) MUST_CHECK;

/* ---- conflict.c ---- */
/** Check one winner by the rules in order and take over what it changed. */
silt_status conflict_check(delta_txn *t, const delta_commit *winner, silt_error *err) MUST_CHECK;
/** ROW TRACKING BACKFILL or UNBACKFILL. */
bool operation_is_backfill(str operation);
bool txn_protocol_drops_features(const delta_protocol *old, const delta_protocol *now);
/** The level at which this transaction is checked and recorded. */
str conflict_isolation_level(const delta_txn *t, const char *operation);

/* ---- commit_info.c ---- */
/** The first line of the entry. */
void commit_info_write(buf *out, const delta_txn *t, const delta_commit_info *info);
/** "WRITE" … of a commitInfo text, or "an unknown operation". In `arena`. */
str commit_info_operation(str commit_info, arena *arena);

/* ---- post_commit.c ---- */
/** Checksum, checkpoint and clean-up after `version`; problems go to t->post_commit. */
void post_commit(delta_txn *t, const delta_commit_info *info, int64_t version);

/* ---- checksum_write.c ---- */
/** N.crc from the previous version's totals and this commit's actions; does nothing where they are not known. */
silt_status checksum_write_incremental(delta_txn *t, const delta_commit_info *info, int64_t version, silt_error *err) MUST_CHECK;

#endif
