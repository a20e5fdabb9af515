/**
 * The interfaces between table formats and what stands above them: a readable table (what the binder and the engine see of a Delta or Iceberg snapshot, or of plain
 * files), the list of files of one scan, and the Parquet service that a format needs for its own metadata files.
 */
#ifndef TABLE_FORMAT_H
#define TABLE_FORMAT_H

#include "store/store.h"
#include "table/arrow.h"
#include "table/bitmap.h"
#include "table/predicate.h"

/** One data file of a scan. */
typedef struct scan_file {
    str path;                   /**< absolute path in `store` */
    store *store;               /**< borrowed */
    int64_t size_bytes;
    int64_t num_records;        /**< physical rows by the log, -1 unknown */
    const bitmap *deleted;      /**< rows to leave out, NULL if none; borrowed from the scan */
    const bitmap *only;         /**< rows to read alone, NULL: all that are not deleted; borrowed from the scan */
    const value *partition;     /**< one per partition column of the table, in partition column order; NULL when unpartitioned */
    int64_t base_row_id;        /**< -1 when absent */
    int64_t default_row_commit_version; /**< -1 when absent */
    int64_t modified_ms;
    str tag;                    /**< of files that may be overwritten, as a listing told it (store_sparse.tag); null: never overwritten */
    size_t index;               /**< the format's own number of the file (delta: index in the snapshot), to find the add again */
} scan_file;

/** The outcome of planning one scan. Immutable; lives until scan_release (ops->scan's arena owns the arrays, the bitmaps are freed with the arena). */
typedef struct table_scan {
    const scan_file *files;
    size_t n_files;
    size_t total_files;         /**< of the snapshot */
    int64_t total_bytes, read_bytes;
    size_t pruned_by_partition, pruned_by_stats;
    const predicate *used;      /**< what pruned, or NULL */
} table_scan;

/** How the columns of a table are found in its Parquet files. */
typedef enum column_match {
    MATCH_BY_NAME,
    MATCH_BY_NAME_CHECKED, /**< by name, but a struct in a file may share no field with the schema's: the files' own structs must be looked at */
    MATCH_BY_FIELD_ID
} column_match;

typedef struct table_source table_source;

/** What a format implements for one open snapshot. Everything is immutable and may be used by several threads. */
typedef struct table_source_ops {
    /** Files that may hold a row for which `where` (may be NULL) is true. `arena` owns the result. */
    silt_status (*scan)(const table_source *t, const predicate *where, arena *arena, table_scan *out, silt_error *err);
    /** Live rows by the log alone, when every file has numRecords; false otherwise. `where` NULL only, or partition-only predicates that decide files wholly. */
    bool (*row_count)(const table_source *t, int64_t *out);
    /** Exact min and max over live rows from the log alone; false when not certain (no stats, not tight, truncated strings, timestamps cut to ms, NaN …). *out is null for a table without non-null values. */
    bool (*column_bounds)(const table_source *t, column_path column, arena *arena, value *out_min, value *out_max);
    void (*release)(table_source *t);
} table_source_ops;

struct table_source {
    const table_source_ops *ops;
    const data_type *schema;         /**< logical schema incl. partition columns, physical names set */
    const uint32_t *partition_columns; /**< top-level field indexes, in partition order */
    size_t n_partition_columns;
    column_match match;
    bool has_row_ids;                /**< _metadata.row_id / row_commit_version can be read */
    str row_id_column;               /**< materialized physical column names, or null */
    str row_commit_version_column;
    str description;                 /**< for EXPLAIN and errors: "delta.`/x`" */
    str format;                      /**< "delta", "parquet", "csv", "json" */
    str location;                    /**< table root or file path as the user would write it */
    int64_t version;                 /**< -1 for formats without */
};

/** Parquet for a format's own files (checkpoints). Implemented by the engine; the formats know nothing of DuckDB. */
typedef struct parquet_service parquet_service;
struct parquet_service {
    void *ctx;
    /**
     * Stream rows of one Parquet file, projected to `columns` (a struct type: the wanted columns with the wanted nested fields and types; fields missing in the file
     * come as null, more in the file are ignored). Batches are struct arrays. A struct that is null in the file may come as a struct of nulls. The row order is the file's. out->release frees everything.
     */
    silt_status (*read)(parquet_service *s, str local_path, const data_type *columns, struct ArrowArrayStream *out, silt_error *err);
    /** The file's own top-level columns and types as a Spark struct type (group names kept). */
    silt_status (*read_schema)(parquet_service *s, str local_path, arena *arena, const data_type **out, silt_error *err);
    /** Write one file from a stream of struct arrays of type `columns`; Snappy. */
    silt_status (*write)(parquet_service *s, str local_path, const data_type *columns, struct ArrowArrayStream *rows, silt_error *err);
    /** Like read, but only the rows in which every one of the leaves, named by dotted paths ("add.size"), is null; leaves that the file does not have are null. May be NULL. */
    silt_status (*read_where_null)(parquet_service *s, str local_path, const data_type *columns, const str *leaves, size_t n_leaves, struct ArrowArrayStream *out, silt_error *err);
    /** Like read, but only the rows numbered [first, end), so that several threads can share a large file. May be NULL, with count_rows. */
    silt_status (*read_rows)(parquet_service *s, str local_path, const data_type *columns, int64_t first, int64_t end, struct ArrowArrayStream *out, silt_error *err);
    /** Rows of the file, by its footer. May be NULL. */
    silt_status (*count_rows)(parquet_service *s, str local_path, int64_t *out, silt_error *err);
    /** It will be used soon: what takes time to be made ready may be, meanwhile, by a thread. Returns at once. May be NULL. */
    void (*soon)(parquet_service *s);
};

#endif
