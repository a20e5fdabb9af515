/** OPTIMIZE and REORG TABLE … APPLY (PURGE): small files of a partition become large ones, rows are clustered, deleted rows and dropped columns leave the files. */
#ifndef OPS_MAINTAIN_OPTIMIZE_H
#define OPS_MAINTAIN_OPTIMIZE_H

#include "ops/ops.h"

typedef struct optimize_spec {
    str table_name, root;
    const delta_snapshot *snapshot;
    expr *where;    /**< unbound, over partition columns; NULL: the whole table */
    str where_text; /**< as written, null for none */
    const name_parts *zorder_by;
    size_t n_zorder_by;
    bool full;  /**< OPTIMIZE … FULL: cubes of a clustered table that are finished are made anew too */
    bool purge; /**< REORG … APPLY (PURGE): only files with deleted rows or dropped columns, each of them */
} optimize_spec;

typedef struct optimize_done {
    int64_t version; /**< of the last commit, -1: nothing to do */
    int64_t commits;
    int64_t files_removed, files_added, bytes_removed, bytes_added;
} optimize_done;

/**
 * Rewrites and commits, batch by batch: what was committed stays when a later batch fails. Conflicts: a writer that removed one of the files that were rewritten
 * (DELTA_CONCURRENT_DELETE_READ); appends and changes of metadata by others are none.
 * *out_rows (the caller frees it): Spark's one row, path and metrics; *out_type is in `a`.
 */
silt_status ops_optimize(const ops_env *env, const optimize_spec *spec, arena *a, const data_type **out_type, arrow_builder **out_rows, optimize_done *out,
                         silt_error *err) MUST_CHECK;
/** Lines that tell what would be done: partitions, bins, batches. Nothing is written. */
silt_status ops_explain_optimize(const ops_env *env, const optimize_spec *spec, buf *out, silt_error *err) MUST_CHECK;

#endif
