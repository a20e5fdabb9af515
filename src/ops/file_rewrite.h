/** Rows that stay the same and get new files: deletion vectors purged, column mapping removed, types of old files brought up to date. Internal to ops/. */
#ifndef OPS_FILE_REWRITE_H
#define OPS_FILE_REWRITE_H

#include "ops/row_change.h"

typedef struct file_rewrite {
    const op *o;
    str table_name, root;
    const delta_snapshot *snapshot;
    write_target read;        /**< the table as the files are read: the snapshot's */
    write_target target;      /**< as they are written; the same columns in the same order */
    const uint8_t *files;     /**< flag per file of the snapshot */
    /* ---- results and inner state ---- */
    row_change change;
    write_spec spec;
    write_result written;
    bool has_written;
} file_rewrite;

/** Writes the files anew and stages removes and adds with dataChange=false; row ids are kept. */
silt_status file_rewrite_apply(file_rewrite *r, delta_txn *txn) MUST_CHECK;
/** After a commit that failed: remove what was written. */
void file_rewrite_discard(file_rewrite *r);
void file_rewrite_end(file_rewrite *r);
/** operationMetrics as REORG and OPTIMIZE have them; null on exhaustion. */
str file_rewrite_metrics(const file_rewrite *r);
/** commitInfo's tags of such a commit, null where the table has no row ids. */
str file_rewrite_tags(const write_target *t);

#endif
