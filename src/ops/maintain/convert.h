/** CONVERT TO DELTA: a folder of Parquet files becomes a table in one commit; no file is moved or rewritten. */
#ifndef OPS_MAINTAIN_CONVERT_H
#define OPS_MAINTAIN_CONVERT_H

#include "ops/ops.h"

typedef struct convert_spec {
    str table_name;          /**< for messages */
    str root;                /**< the folder */
    str catalog_name;        /**< as commitInfo has it; null: converted by path */
    const field *partition;  /**< PARTITIONED BY; with infer_partition: not looked at */
    size_t n_partition;
    bool infer_partition;    /**< of the folders' names and values, as a catalog's table has it */
    bool no_statistics;      /**< NO STATISTICS */
    bool verify;             /**< count the rows of every partition before and after */
} convert_spec;

/** Rows of one partition: in its files, and as the table gives them. */
typedef struct convert_count {
    str partition; /**< "p=1/q=b", "" of an unpartitioned table */
    int64_t before, after;
} convert_count;

typedef struct convert_result {
    int64_t version; /**< 0; -1: it was a table already, and nothing was done */
    int64_t files, rows, bytes;
    int64_t skipped; /**< files left out because they are no Parquet files */
    const convert_count *counts; /**< with verify */
    size_t n_counts;
    char note[512];
} convert_result;

/**
 * Results in `a`. Nothing is written before the one commit, so an interrupted or failed run leaves the folder as it was. Errors beside those of maintain/convert_files.h:
 * DELTA_EMPTY_DIRECTORY, DELTA_CONVERT_TO_DELTA_ROW_TRACKING_WITHOUT_STATS, DELTA_CONVERSION_UNSUPPORTED_COLUMN_MAPPING, those of a new table's schema, CONVERT_FILE_CHANGED,
 * CONVERT_COUNTS_DIFFER.
 */
silt_status ops_convert(const ops_env *env, const convert_spec *spec, arena *a, convert_result *out, silt_error *err) MUST_CHECK;

#endif
