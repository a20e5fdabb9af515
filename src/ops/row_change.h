/**
 * Rows of a table leave their files, others are added: the one way in which DELETE, UPDATE, MERGE and REPLACE WHERE change a table.
 *
 *     row_change c = {.o = o, …};              what is given
 *     c.new_rows = …; row_change_write_ahead(&c)   only where `gone` is found while they are written (engine_note_row)
 *     row_change_plan(&c)                      decides about every touched file: removed, deletion vector, or rewritten
 *     c.new_rows = …; c.changes = …;           queries over row_change_rows and the statement's own
 *     row_change_apply(&c)                     writes files, deletion vectors and change files, and stages everything in c.txn
 *     delta_txn_commit(…)
 *     row_change_discard(&c)                   if that failed, unless its outcome is unknown
 *     row_change_end(&c)                       always
 *
 * The user's conditions are not evaluated here: `gone` says which rows they chose, so that rand() or a source that changes cannot give another answer the second time.
 */
#ifndef OPS_ROW_CHANGE_H
#define OPS_ROW_CHANGE_H

#include "delta/dv_write.h"
#include "ops/internal.h"
#include "table/row_set.h"

#define ROW_IDS_KEPT_TAGS "{\"delta.rowTracking.preserved\":\"true\"}" /**< commitInfo.tags of a change with has_row_ids */

typedef enum file_fate {
    FATE_REMOVED,  /**< no live row is left */
    FATE_MASKED,   /**< added again with a deletion vector */
    FATE_REWRITTEN /**< its other rows are copied to new files */
} file_fate;

/** A file that loses rows. */
typedef struct touched_file {
    size_t index;  /**< in the snapshot */
    delta_add add; /**< with statistics */
    file_fate fate;
    int64_t physical; /**< rows in the file, deleted or not; -1: not known, and nobody had to know */
    int64_t gone;     /**< rows that leave it; -1 as above */
} touched_file;

/** What happened, as operationMetrics count it. */
typedef struct row_change_counts {
    int64_t files_touched, bytes_touched; /**< files that lose rows */
    int64_t files_removed, bytes_removed; /**< those of them that are not there any more afterwards */
    int64_t files_added, bytes_added;     /**< new data files */
    int64_t change_files;
    int64_t dvs_added, dvs_removed, dvs_updated; /**< an update counts as added and removed too, as Spark has it */
    int64_t rows_gone;                           /**< of all touched files, where rows_gone_known */
    bool rows_gone_known;
    int64_t rows_written; /**< in new data files, copies among them */
    int64_t rows_copied;  /**< rows_written less those of new_rows */
} row_change_counts;

typedef struct row_change {
    /* ---- given by the caller ---- */
    const op *o;
    str table_name, root;
    const delta_snapshot *snapshot;
    delta_txn *txn;
    write_target target;        /**< the table as of the end of the statement (schema evolution) */
    write_options options;      /**< file size, codec */
    const row_set *gone;        /**< rows that leave their file, deleted or updated; NULL: none */
    const uint8_t *whole_files; /**< per file of the snapshot: every row leaves, without being in `gone`; NULL: none */
    bool use_dv;                /**< row_change_uses_dv: what property and session say */
    bool updates;               /**< some of the rows come back changed: the change feed then needs change files in every case */

    /* ---- given between row_change_plan and row_change_apply; bound, NULL: none ---- */
    query *
        new_rows; /**< columns of row_schema: inserted and updated rows; checked here (NOT NULL, CHECK, lengths), generated columns are the caller's */
    query *
        rewritten_rows; /**< instead of copying: every row of the rewritten files as it will be and nothing else, same columns; only where each touched file is rewritten or removed */
    query *changes;     /**< columns of change_schema; asked for by needs_changes */

    /* ---- decided by row_change_plan ---- */
    const data_type *
        row_schema; /**< target.schema, and with has_row_ids two more BIGINT: row id, row commit version (kept row: both as they were; updated: id, NULL; inserted: NULL, NULL) */
    bool has_row_ids;
    const data_type *change_schema; /**< target.schema and _change_type STRING */
    bool
        needs_changes; /**< the change feed is on and cannot be told from the commit's adds and removes: `changes` must hold all changed rows */
    touched_file *files; /**< ascending by index */
    size_t n_files, n_masked, n_rewritten;
    uint8_t *touched, *rewritten; /**< flags per file of the snapshot, for row_change_rows */

    /* ---- results ---- */
    row_change_counts counts;

    /* ---- inner state ---- */
    bool planned, written_ahead;
    uint64_t row_set_id;
    write_spec data_spec, change_spec;
    write_result data, change_data;
    str *dv_paths;
    size_t n_dv_paths;
    int64_t n_new_rows; /**< of new_rows, -1 unknown */
} row_change;

/** The table may have new deletion vectors, and the session does not forbid it: `operation` is "delete", "update" or "merge". */
bool row_change_uses_dv(const op *o, const write_target *t, const char *operation);
/** Is the change data feed on? */
bool row_change_has_feed(const write_target *t);

/** Sets row_schema, has_row_ids and change_schema by the target alone, for who needs them earlier; row_change_plan does it too. */
silt_status row_change_shape(row_change *c) MUST_CHECK;
silt_status row_change_plan(row_change *c) MUST_CHECK;
/**
 * The rows of some files (`keep` flags, NULL: those touched) as a FROM item with the columns of target.schema (a file that lacks one gives NULL), `_metadata`, silt_file and silt_row.
 * Rows that a deletion vector hides are left out.
 */
silt_status row_change_rows(row_change *c, const uint8_t *keep, str alias, relation **out) MUST_CHECK;
/** Bound BOOLEAN: does the row of such a FROM item leave its file? */
silt_status row_change_is_gone(row_change *c, relation *rows, expr **out) MUST_CHECK;
/** Its row id and row commit version (BIGINT), for the two columns behind target.schema; only with has_row_ids. */
silt_status row_change_row_ids(row_change *c, relation *rows, expr **out_id, expr **out_version) MUST_CHECK;
/** SELECT every column of row_schema FROM rows WHERE condition (NULL: all): rows as they are, with their row ids. */
silt_status row_change_select(row_change *c, relation *rows, expr *condition, query **out) MUST_CHECK;
/** SELECT the columns of target.schema and a change type FROM rows WHERE condition: a part of `changes`. */
silt_status row_change_select_changes(row_change *c, relation *rows, expr *condition, const char *change_type,
                                      query **out) MUST_CHECK;
/** a UNION ALL b, bound; either may be NULL. */
silt_status row_change_union(const op *o, query *a, query *b, query **out) MUST_CHECK;
/**
 * Writes new_rows before the plan is made, which then must not ask for rewritten files or change files: else row_change_discard, and everything as if nothing had been written. No other rows
 * are asked for by then; *out_rows: how many were written.
 */
silt_status row_change_write_ahead(row_change *c, int64_t *out_rows) MUST_CHECK;
/** Of a file's rows, before it is rewritten instead of getting a deletion vector; in 0 … 1. */
double row_change_hidden_share_max(const op *o);
silt_status row_change_apply(row_change *c) MUST_CHECK;
void row_change_discard(row_change *c);
void row_change_end(row_change *c);

#endif
