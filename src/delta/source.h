/** Inside of the table_source of a snapshot: source.c plans scans, prune.c decides about files. */
#ifndef DELTA_SOURCE_H
#define DELTA_SOURCE_H

#include "delta/snapshot.h"
#include "table/stats.h"

typedef struct delta_source {
    table_source base;
    delta_snapshot *snapshot; /**< retained */
    arena *arena;
    const uint8_t *keep; /**< by file number: only these files; NULL: all */
    size_t n_kept;
    int64_t kept_bytes;
} delta_source;

/** Partition values of every map in every view of a snapshot, typed. */
typedef struct partition_table {
    const value **views; /**< views[v] = n_partitions(v) * n_columns values, or NULL for a view without files */
    size_t n_columns;
} partition_table;

/** How this table's columns are found in its files. */
column_match source_column_match(const delta_metadata *m);
/** Values of one row's map; NULL in an unpartitioned table. */
const value *partition_table_row(const partition_table *p, const delta_source *t, size_t view, uint32_t row);
/** DELTA_FAILED_CAST_PARTITION_VALUE when one is malformed. In `a`. */
silt_status partition_table_build(const delta_source *t, arena *a, partition_table *out, silt_error *err) MUST_CHECK;

typedef struct prune_result {
    uint8_t *keep; /**< by file number */
    size_t by_partition, by_stats;
} prune_result;

/** Which files may hold a row for which `where` (may be NULL) is true. */
silt_status source_prune(const delta_source *t, const predicate *where, const partition_table *p, arena *a, prune_result *out,
                         silt_error *err) MUST_CHECK;
/** Exact bounds from the log; false in *out_certain when they are not. */
silt_status source_bounds(const delta_source *t, column_path column, arena *a, bool *out_certain, value *out_min, value *out_max,
                          silt_error *err) MUST_CHECK;

#endif
