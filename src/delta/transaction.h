/**
 * Delta transactions: optimistic, put-if-absent of the next log entry. PROTOCOL.md "Writer Requirements"; conflict rules as Delta's ConflictChecker (notes/delta.md §6).
 *
 *     delta_txn_begin(env, snapshot, root, &txn, err)          snapshot NULL: the table does not exist yet
 *     delta_txn_set_metadata / set_protocol / add / remove / …  any order; strings are copied
 *     delta_txn_commit(txn, &info, &version, err)
 *     delta_txn_free(txn)                                       always
 *
 * One thread at a time per transaction.
 */
#ifndef DELTA_TRANSACTION_H
#define DELTA_TRANSACTION_H

#include "delta/delta.h"
#include "delta/features.h"

typedef struct delta_txn delta_txn;

silt_status delta_txn_begin(const delta_env *env, const delta_snapshot *snapshot, str root, delta_txn **out, silt_error *err) MUST_CHECK;
void delta_txn_free(delta_txn *t);

silt_status delta_txn_set_protocol(delta_txn *t, const delta_protocol *p, silt_error *err) MUST_CHECK;
/** schema_json decides; where it is {NULL,0} it is written from `schema`. In-commit timestamps that this metadata enables on an existing table get their two
 * enablement properties at the commit. */
silt_status delta_txn_set_metadata(delta_txn *t, const delta_metadata *m, silt_error *err) MUST_CHECK;
/** base_row_id and default_row_commit_version -1 where the file is new (not 0): a table that tracks rows then gets fresh ones; others are kept. */
silt_status delta_txn_add(delta_txn *t, const delta_add *add, silt_error *err) MUST_CHECK;
/** Fresh row ids begin above those that were given out up to `older`, files of which come back (RESTORE): its mark may be the higher one where row tracking was dropped since. */
void delta_txn_raise_row_id_mark(delta_txn *t, const delta_snapshot *older);
silt_status delta_txn_remove(delta_txn *t, const delta_remove *remove, silt_error *err) MUST_CHECK;
/** The remove action that undoes `add` (extendedFileMetadata, size, partition values, DV, row ids, numRecords stats kept). */
silt_status delta_txn_remove_file(delta_txn *t, const delta_add *add, bool data_change, silt_error *err) MUST_CHECK;
/** Once a commit has one, readers of the change feed see nothing else of it: then every changed row of the commit is in such a file. */
silt_status delta_txn_add_cdc(delta_txn *t, const delta_cdc *cdc, silt_error *err) MUST_CHECK;
silt_status delta_txn_set_txn_id(delta_txn *t, str app_id, int64_t version, silt_error *err) MUST_CHECK;
silt_status delta_txn_set_domain(delta_txn *t, str domain, str configuration, bool removed, silt_error *err) MUST_CHECK;
/** The domain ends: its action with removed=true. The one way to end delta.rowTracking (DROP FEATURE). */
silt_status delta_txn_end_domain(delta_txn *t, const delta_domain *domain, silt_error *err) MUST_CHECK;

/* What was read, for the conflict rules. A transaction that calls none of these read nothing (blind). */
void delta_txn_read_whole_table(delta_txn *t);
/** Partition predicate over the snapshot's schema; copied shallowly, must live as long as the transaction. */
silt_status delta_txn_read_predicate(delta_txn *t, const predicate *p, silt_error *err) MUST_CHECK;
silt_status delta_txn_read_file(delta_txn *t, str path, silt_error *err) MUST_CHECK;

/**
 * Called after each lost race whose winners were stepped over, with the newest version, before the next try: for what a transaction found outside of the log (files in the
 * store) and what a winner may have changed there. A non-OK status ends the commit with that error. `ctx` must live as long as the transaction.
 */
void delta_txn_before_retry(delta_txn *t, silt_status (*fn)(void *ctx, int64_t newest_version, silt_error *err), void *ctx);

typedef struct delta_commit_info {
    const char *operation;          /**< "WRITE", "CREATE TABLE", … (notes/delta.md §4) */
    str operation_parameters;       /**< JSON object text, as Spark writes it */
    str operation_metrics;          /**< JSON object text of string values */
    str user_metadata;              /**< {NULL,0} for none */
    str tags;                       /**< JSON object text with at least one key, {NULL,0} for none */
    str engine_info;                /**< {NULL,0} = "Silt/<version>" */
    str isolation_level;            /**< {NULL,0} = the table's */
    bool is_blind_append_known, is_blind_append; /**< unknown: adds only and nothing read */
    int64_t max_attempts;           /**< 0 = Spark's default */
    bool no_pauses;                 /**< do not wait between tries of a store that fails (tests) */
} delta_commit_info;

/**
 * Commit. On a lost race every winner is read and checked by the conflict rules, then the next version is tried, row ids and in-commit timestamp redone.
 * A lost reply is resolved by reading the entry back and comparing txnId. After the commit: version checksum, checkpoint at the table's interval,
 * _last_checkpoint, clean-up of expired log files; their failure never fails the commit (delta_txn_post_commit_error tells).
 * @param out_version  the committed version
 * @return OK; CONFLICT (the conditions of 2D521, naming version and operation of the winner), UNKNOWN (40003), EXISTS for a new table that exists by now, IO …
 */
silt_status delta_txn_commit(delta_txn *t, const delta_commit_info *info, int64_t *out_version, silt_error *err) MUST_CHECK;
/** Its file actions so far. */
size_t delta_txn_n_files(const delta_txn *t);
/** The i-th where it is an add, else NULL. Borrowed. */
const delta_add *delta_txn_added(const delta_txn *t, size_t i);
/** What went wrong after the commit, or NULL. Borrowed. */
const silt_error *delta_txn_post_commit_error(const delta_txn *t);
/** This transaction's commitInfo.txnId. */
str delta_txn_uuid(const delta_txn *t);

/** Write a checkpoint of this snapshot now (classic or V2 by the table's policy) and _last_checkpoint. */
silt_status delta_checkpoint_write(const delta_snapshot *s, silt_error *err) MUST_CHECK;
/** Remove expired log files by Delta's rules (notes/delta.md §9); returns how many. now_ms for tests. */
silt_status delta_log_cleanup(const delta_snapshot *s, int64_t now_ms, size_t *out_removed, silt_error *err) MUST_CHECK;
/** The same with the cutoff at `cutoff_ms` instead of the retention's midnight, whether or not history is protected (DROP FEATURE … TRUNCATE HISTORY). */
silt_status delta_log_truncate(const delta_snapshot *s, int64_t cutoff_ms, size_t *out_removed, silt_error *err) MUST_CHECK;
/** Write N.crc for this snapshot. */
silt_status delta_checksum_write(const delta_snapshot *s, str txn_id, silt_error *err) MUST_CHECK;

#endif
