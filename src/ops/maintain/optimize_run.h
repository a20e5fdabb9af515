/** What the files of OPTIMIZE share: from the table's files to bins, from bins to commits. Internal to ops/maintain. */
#ifndef OPS_MAINTAIN_OPTIMIZE_RUN_H
#define OPS_MAINTAIN_OPTIMIZE_RUN_H

#include "ops/maintain/cluster_cubes.h"
#include "ops/maintain/optimize.h"
#include "ops/row_change.h"

/** The sizes that decide, from the session and the table. */
typedef struct optimize_limits {
    int64_t min_bytes;   /**< smaller files take part */
    int64_t max_bytes;   /**< of the inputs of one new file */
    double max_deleted;  /**< share of rows that a file may hide before it takes part whatever its size */
    int64_t batch_bytes; /**< of the inputs of one commit */
    bool has_batch_setting; /**< spark.databricks.delta.optimize.batchSize is set: then nothing to do is no batch */
} optimize_limits;

/** One live file, as far as choosing needs it. */
typedef struct optimize_file {
    size_t index; /**< in the snapshot */
    int64_t bytes;
    uint32_t partition; /**< number in the list of partitions */
    bool is_hiding;     /**< a deletion vector hides rows of it, or how many is not known */
    float hidden_share; /**< of its rows; 2 where the log does not tell how many rows it has */
    bool is_candidate;
} optimize_file;

/** A combination of partition values that some file has. */
typedef struct optimize_partition {
    str key;             /**< one text for equal values */
    const value *values; /**< one per partition column */
    bool is_wanted;      /**< WHERE is true for it */
} optimize_partition;

/** Files that are rewritten together: to one new file, or to several in the order of a curve. All of one partition. */
typedef struct optimize_bin {
    const size_t *files; /**< numbers in the snapshot */
    size_t n_files;
    int64_t bytes;
    uint32_t partition;
} optimize_bin;

typedef enum optimize_mode { OPTIMIZE_COMPACT, OPTIMIZE_ZORDER, OPTIMIZE_CLUSTER } optimize_mode;

typedef struct file_sizes {
    int64_t files, bytes, min, max;
} file_sizes;

typedef struct optimize_run {
    const op *o;
    const optimize_spec *spec;
    const delta_snapshot *snapshot;
    bool is_auto;         /**< auto compaction */
    const str *predicate; /**< as history shows it, NULL for none */
    optimize_limits limits;
    optimize_mode mode;
    bool keeps_cubes;    /**< REORG of a clustered table: files stay in their cube */
    curve_columns curve; /**< ZORDER, CLUSTER */
    cluster_plan cluster;
    /* ---- chosen ---- */
    optimize_file *files;
    size_t n_files;
    optimize_partition *partitions;
    size_t n_partitions;
    optimize_bin *bins;
    size_t n_bins;
    /* ---- results ---- */
    int64_t version, commits;
    int64_t considered, batches, optimized_partitions;
    file_sizes added, removed;
    int64_t dvs, dv_rows;
    int64_t started_ms;
} optimize_run;

/* ---- optimize_files.c ---- */
/** The live files and their partitions. Statistics are asked for only where deletion vectors can be. */
silt_status optimize_list_files(optimize_run *r) MUST_CHECK;
/** The key of a file's partition. */
silt_status optimize_partition_key(const op *o, const delta_snapshot *s, const delta_add *add, arena *a, str *out) MUST_CHECK;

/* ---- optimize_where.c ---- */
/** WHERE may speak of partition columns only: DELTA_NON_PARTITION_COLUMN_REFERENCE, DELTA_UNSUPPORTED_SUBQUERY_IN_PARTITION_PREDICATES. */
silt_status optimize_check_where(const op *o, const delta_metadata *m, expr *where) MUST_CHECK;
/** Marks the partitions that it means, all without one. */
silt_status optimize_apply_where(optimize_run *r, expr *where) MUST_CHECK;
/** The predicate as Spark's history has it: unresolved. `written` where it uses what has no such form here. */
silt_status optimize_where_text(const op *o, const expr *where, str written, str *out) MUST_CHECK;

/* ---- optimize_purge.c ---- */
/** Marks the wanted files that REORG … APPLY (PURGE) rewrites. */
silt_status optimize_choose_purged(optimize_run *r) MUST_CHECK;

/* ---- optimize_bins.c ---- */
/** From the wanted candidates to bins. */
silt_status optimize_make_bins(optimize_run *r) MUST_CHECK;
/** The bins' order of work: smallest first, and where each batch ends (exclusive bin numbers). */
silt_status optimize_make_batches(optimize_run *r, size_t **out_ends, size_t *out_n) MUST_CHECK;

/* ---- optimize_batch.c ---- */
/** Rewrites the bins and commits them. */
silt_status optimize_run_batch(optimize_run *r, const optimize_bin *bins, size_t n) MUST_CHECK;

/* ---- optimize_rows.c ---- */
silt_status optimize_result_rows(const optimize_run *r, arena *a, const data_type **out_type, arrow_builder **out_rows) MUST_CHECK;

/* ---- optimize.c ---- */
silt_status optimize_limits_of(const op *o, const delta_snapshot *s, optimize_limits *out) MUST_CHECK;
int optimize_threads(const op *o); /**< that the engine works with */
/** After the files were listed and their partitions marked: chooses, rewrites and commits by what `r` says. */
silt_status optimize_execute(optimize_run *r) MUST_CHECK;

#endif
