/**
 * OPTIMIZE of a clustered table: which files take part, and in which groups (cubes) they are ordered anew. Files that one run has written together carry the same cube's id in
 * their tags; a cube that has reached its size is left alone by later runs, so that each run pays for what is new and not for the table (OptimizeTableStrategy of Delta 4.3).
 */
#ifndef OPS_MAINTAIN_CLUSTER_CUBES_H
#define OPS_MAINTAIN_CLUSTER_CUBES_H

#include "ops/maintain/curve.h"

#define CLUSTER_PROVIDER "liquid" /**< add.clusteringProvider of the files of a cube */

/** Files that become one cube. */
typedef struct cluster_bin {
    const size_t *files; /**< numbers in the snapshot */
    size_t n_files;
    int64_t bytes;
} cluster_bin;

typedef struct cluster_file_stats {
    int64_t files, bytes;
} cluster_file_stats;

/** The metrics' clusteringStats, in its order of fields. */
typedef struct cluster_stats {
    cluster_file_stats input_cube_files, input_other_files;
    int64_t input_cubes;
    cluster_file_stats merged_files;
    int64_t output_cubes;
} cluster_stats;

typedef struct cluster_plan {
    curve_columns columns; /**< the clustering columns, by logical names */
    cluster_bin *bins;     /**< none: nothing to do */
    size_t n_bins;
    cluster_stats stats;
} cluster_plan;

/** Does the protocol have clustering (then neither WHERE nor ZORDER BY may be said)? *out_columns: and are there clustering columns (without: plain compaction)? */
silt_status cluster_is_clustered(const op *o, const delta_snapshot *s, bool *out, bool *out_columns) MUST_CHECK;

/**
 * What the statement may say of this table, in Spark's order. `where`: its predicate's text, null for none.
 * @return DELTA_CLUSTERING_WITH_PARTITION_PREDICATE, DELTA_CLUSTERING_WITH_ZORDER_BY, DELTA_OPTIMIZE_FULL_NOT_SUPPORTED
 */
silt_status cluster_check(const op *o, const delta_snapshot *s, bool full, str where, const name_parts *zorder_by, size_t n_zorder_by) MUST_CHECK;

/** Only for tables with clustering columns. */
silt_status cluster_plan_make(const op *o, const delta_snapshot *s, bool full, cluster_plan *out) MUST_CHECK;
/** add.tags of the files of one new cube (JSON object); a new id in each call. */
silt_status cluster_cube_tags(const op *o, const cluster_plan *p, str *out) MUST_CHECK;

#endif
