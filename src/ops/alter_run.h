/** One ALTER TABLE while it runs: what the kinds of change share. Internal to ops/. */
#ifndef OPS_ALTER_RUN_H
#define OPS_ALTER_RUN_H

#include "ops/alter.h"
#include "ops/internal.h"
#include "ops/schema_edit.h"

typedef struct alter_run {
    const op *o;
    const alter_spec *spec;
    const delta_snapshot *snapshot; /**< the table before the next commit; moves on with each */
    write_target target;            /**< the table as the statement leaves it */
    const char *operation;          /**< as commitInfo names it */
    str parameters;
    str tags;                       /**< JSON object text, null for none */
    str metrics;                    /**< likewise; `stage` may set it */
    bool rewrites;                  /**< the whole table is read: the commit is not a blind one, and a winner that added rows is a conflict */
    bool nothing;                   /**< the statement asks for what is there: no commit */
    str domain, domain_configuration; /**< to be set with the commit; null for none */
    const delta_domain *ended_domain; /**< ends with the commit; NULL for none */
    bool only_next_version;         /**< the commit names its own version: a lost race is an error */
    ops_result *out;
    delta_snapshot *owned;          /**< `snapshot`, where it is not the statement's */
} alter_run;

/** One commit of target, protocol and domain; `stage` (may be NULL) adds files. */
silt_status alter_commit(alter_run *run, silt_status (*stage)(alter_run *run, delta_txn *txn, void *ctx), void *ctx) MUST_CHECK;
/** After a commit, before the next one of the same statement: run->snapshot and run->target are the table as it is now, the words of the commit are cleared. */
silt_status alter_move_on(alter_run *run) MUST_CHECK;
/**
 * May this column, or a field of it, be renamed, dropped or get another type? DELTA_CONSTRAINT_DEPENDENT_COLUMN_CHANGE, DELTA_GENERATED_COLUMNS_DEPENDENT_COLUMN_CHANGE.
 */
silt_status alter_check_dependents(const alter_run *run, name_parts path) MUST_CHECK;
/** delta.dataSkippingStatsColumns follows a column that is renamed (new_name null: dropped). */
silt_status alter_stats_columns(const alter_run *run, str_map *configuration, name_parts path, str new_name) MUST_CHECK;
/** The kinds of change. They fill in target, operation and parameters; alter.c commits. */
silt_status alter_columns(alter_run *run) MUST_CHECK;
silt_status alter_change_columns(alter_run *run) MUST_CHECK;
silt_status alter_properties(alter_run *run) MUST_CHECK;
silt_status alter_constraint(alter_run *run) MUST_CHECK;
silt_status alter_clustering(alter_run *run) MUST_CHECK;
/** These commit by themselves. */
silt_status alter_drop_feature(alter_run *run) MUST_CHECK;
silt_status alter_sync_identity(alter_run *run) MUST_CHECK;
/** UPGRADE PROTOCOL and ROW TRACKING BACKFILL, as far as they are needed before delta.enableRowTracking may be set. */
silt_status alter_row_tracking_backfill(alter_run *run) MUST_CHECK;
/** REMOVE COLUMN MAPPING: the files written anew under the logical names, in one commit with the metadata of run->target. */
silt_status alter_remove_column_mapping(alter_run *run) MUST_CHECK;

/** Configuration with a key set, or without it where the value is null. */
silt_status alter_configuration_set(const alter_run *run, str_map *configuration, str key, str text) MUST_CHECK;
/** {"name":…,"type":…,"nullable":…,"metadata":…} of a column as commitInfo shows it: only the name of a nested type. */
void alter_column_json(buf *out, str name, const field *f);

#endif
