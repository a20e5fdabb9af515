/**
 * A folder of Parquet files that is no table: its files, what Hive's folder names say of them, and what their footers say. What CONVERT TO DELTA and a clone of a Parquet
 * folder need. Internal to ops/.
 *
 *     convert_files_list      names, sizes and times, folder by folder, in parallel; hidden ones left out by Spark's rules
 *     convert_files_partition the folders' values for the partition columns
 *     convert_files_footers   every footer, in parallel: rows, and which of the few distinct schemas
 *     convert_files_schema    those schemas merged into the table's, as Spark merges them
 */
#ifndef OPS_MAINTAIN_CONVERT_FILES_H
#define OPS_MAINTAIN_CONVERT_FILES_H

#include "ops/internal.h"
#include "table/parquet_schema.h"

/** A folder that holds files. */
typedef struct convert_folder {
    str path;       /**< relative to the root, "" for the root itself; as it is on disk */
    str_map values; /**< partition values as the log has them; after convert_files_partition */
} convert_folder;

typedef struct convert_file {
    str path; /**< relative to the root, as it is on disk (Hive-escaped, not URI-encoded) */
    int64_t size_bytes, modified_ms;
    int64_t rows;     /**< -1 before its footer was read */
    uint32_t folder;  /**< index into folders */
    uint32_t variant; /**< index into variants; UINT32_MAX before its footer was read */
    str stats;        /**< JSON text, null without */
    bool is_skipped;  /**< no Parquet file, and the session leaves such files out */
} convert_file;

/** One of the distinct schemas. */
typedef struct convert_variant {
    uint64_t hash;
    str schema_bytes, spark_schema; /**< what decides: both of the footer */
    const data_type *type;          /**< of its columns, as Spark infers it */
    size_t sample;                  /**< a file that has it: the first */
} convert_variant;

typedef struct convert_files {
    store *store;
    str root;
    convert_folder *folders;
    size_t n_folders, folders_capacity;
    convert_file *files; /**< folder by folder, by path in each */
    size_t n_files, files_capacity;
    convert_variant *variants;
    size_t n_variants, variants_capacity;
    size_t n_skipped;
    int64_t rows, bytes;
    bool from_sink_log; /**< the files are those that a Spark stream has committed (_spark_metadata) */
} convert_files;

/**
 * List the files below `root`. Errors: DELTA_DIRECTORY_NOT_FOUND, CONVERT_NESTED_TABLE (a Delta table below it or above it), DELTA_CONVERT_NON_PARQUET_TABLE (Iceberg, Hudi, Hive's
 * transactional folders). No files is no error here.
 */
silt_status convert_files_list(const op *o, str root, convert_files *out) MUST_CHECK;

/**
 * The partition values of every folder that has files, for these columns: types checked as Spark casts. Timestamps get their zone (the session's); other texts stay as they are,
 * where they are valid as a partition value of the log.
 * Errors: DELTA_UNEXPECTED_NUM_PARTITION_COLUMNS_FROM_FILE_NAME, DELTA_UNEXPECTED_PARTITION_COLUMN_FROM_FILE_NAME, DELTA_FAILED_CAST_PARTITION_VALUE, PARTITION_FOLDER_INVALID.
 */
silt_status convert_files_partition(const op *o, convert_files *f, const field *columns, size_t n) MUST_CHECK;

/** Every footer, without what it says of columns. DELTA_FAILED_READ_FILE_FOOTER names the file, PARQUET_TYPE_… the column too. */
silt_status convert_files_footers(const op *o, convert_files *f) MUST_CHECK;

/** The merged schema of the files, then the partition columns (in the place of a file's column of that name). DELTA_FAILED_MERGE_SCHEMA_FILE. */
silt_status convert_files_schema(const op *o, const convert_files *f, const field *columns, size_t n, const data_type **out) MUST_CHECK;

/** The add action of a file; strings in o->a. Partition values and statistics as far as they are known. */
silt_status convert_files_add(const op *o, const convert_files *f, size_t i, delta_add *out) MUST_CHECK;

/** How messages name a file: file:/path. */
str convert_file_name(const op *o, const convert_files *f, str relative);

/* ---- the parts ---- */
/** convert_sink_log.c: the files by the log of a Spark stream in `root`; *out_found false where there is none. */
silt_status convert_sink_log(const op *o, convert_files *f, bool *out_found) MUST_CHECK;
/** Index of the folder of that relative path, added where it is not the last one: files come folder by folder. */
silt_status convert_folder_of(const op *o, convert_files *f, str path, uint32_t *out) MUST_CHECK;

/** Threads' own memory: as many sets as threads, handed out one to a call. */
typedef struct convert_worker {
    arena *keep;    /**< lives as long as the pool */
    arena *scratch; /**< reset at each handing out */
    buf bytes;
    bool is_taken;
} convert_worker;
typedef struct convert_pool convert_pool;
/** Ended with o->a. */
silt_status convert_pool_new(const op *o, convert_pool **out) MUST_CHECK;
convert_worker *convert_pool_take(convert_pool *p, silt_error *err); /**< NULL: out of memory */
void convert_pool_give(convert_pool *p, convert_worker *w);
/** The number of threads to run over the pool. */
int convert_pool_threads(const op *o);
/** … where each mostly waits for the store. */
int convert_pool_askers(const op *o);

#endif
