/**
 * The engine: DuckDB 1.5.6 behind one narrow door. Everything that names DuckDB is in this folder.
 * Rules whose breach gives silently wrong answers: docs/decisions/002-engine-rules.md (scan node, globbing, deletion vectors, field ids, NaN, one connection per stream).
 */
#ifndef ENGINE_ENGINE_H
#define ENGINE_ENGINE_H

#include "base/thread.h"
#include "expr/expr.h"
#include "table/row_set.h"

typedef struct engine engine;

typedef struct engine_options {
    str temp_directory;         /**< where the private folder for what is spilled is made, which is removed on close; null: $TMPDIR, else /tmp */
    str memory_limit;           /**< DuckDB's text, "2GB"; null = its default */
    int threads;                /**< <= 0: all */
    str time_zone;              /**< session zone; null = UTC */
    const cancel_token *cancel; /**< polled while queries run */
    store_registry *stores;     /**< for engine_file_source: where files that are not local are; may be NULL: then only local ones are read. Must outlive the engine */
    bool ends_with_process; /**< engine_close leaves DuckDB's memory and threads to the system, which is about to take back the whole process */
    bool no_pruning; /**< the self-check (design 11): scans print every column filter off, no row-group pruning, no log answers */
} engine_options;

/** One in-memory database. Thread rule: any thread; each running query has a connection of its own.
 * Errors: ENGINE_VERSION (another libduckdb than 1.5.6), INVALID (a memory limit or zone that is none), IO, NO_MEMORY. */
silt_status engine_open(const engine_options *options, engine **out, silt_error *err) MUST_CHECK;
/** An engine that is opened (25 ms) by the first call that needs it, which then tells what engine_open would have, or from engine_open_ahead on by a thread. The options are copied. NO_MEMORY. */
silt_status engine_new(const engine_options *options, engine **out, silt_error *err) MUST_CHECK;
/** Where it is not open, because nothing needed it yet or because that failed: it is opened by these from now on. Without effect where it is open or being opened. */
silt_status engine_set_options(engine *e, const engine_options *options, silt_error *err) MUST_CHECK;
/** It will be needed soon: a thread opens it meanwhile. A failure is told by the first call that needs it. */
void engine_open_ahead(engine *e);
void engine_close(engine *e); /**< waits for that thread; NULL is fine */
silt_status engine_set_time_zone(engine *e, str zone, silt_error *err) MUST_CHECK;
/** The formats' Parquet service; lives as long as the engine, and opens it when it is used. */
parquet_service *engine_parquet(engine *e);
/** Evaluate a bound column-free expression; fits bind_env.fold with fold_ctx = engine. */
silt_status engine_fold(void *engine_ctx, expr *e, arena *a, value *out, silt_error *err) MUST_CHECK;

/* ---- queries ---- */
typedef struct scan_report { /**< what EXPLAIN and the statement's metrics show, one per table read */
    str description;
    size_t files_total, files_read, pruned_by_partition, pruned_by_stats;
    int64_t bytes_total, bytes_read;
    str predicate; /**< readable, null if none */
    bool from_log; /**< answered by statistics alone */
} scan_report;

typedef struct engine_result engine_result;

/**
 * Plan and start a bound query (expr_push_predicates has run): plans the scan of every table, prints the SQL, prepares it on a connection of its own and streams.
 * count(*) without filter (or with partition filters that decide whole files), and min/max where table_source.column_bounds is certain, are answered from the log.
 * The query tree, its arena and the table sources must outlive the result.
 */
silt_status engine_run(engine *e, query *q, const bind_env *env, engine_result **out, silt_error *err) MUST_CHECK;
void engine_result_free(engine_result *r); /**< ends a running query */
/** Logical output type: names and Spark types as bound. Borrowed. */
const data_type *engine_result_type(const engine_result *r);
/** Next batch as a struct array in the layout of arrow_schema_from_type(engine_result_type); out->release == NULL at the end. Streams in bounded memory. */
silt_status engine_result_next(engine_result *r, struct ArrowArray *out, silt_error *err) MUST_CHECK;
const scan_report *engine_result_scans(const engine_result *r, size_t *out_count);
/** Progress of a running query, 0..1, or a negative number when unknown. */
double engine_result_progress(const engine_result *r);
/** Text lines of EXPLAIN for a bound query: the scans with files and bytes (total, pruned, read), the predicate used, the plan; extended adds the printed SQL and DuckDB's plan. */
silt_status engine_explain(engine *e, query *q, const bind_env *env, bool extended, buf *out, silt_error *err) MUST_CHECK;

/* ---- row-level changes ---- */
/** Makes a row set known to queries under a number. The set is borrowed and must not change while a query uses it. */
silt_status engine_row_set_register(engine *e, const row_set *s, uint64_t *out_id, silt_error *err) MUST_CHECK;
void engine_row_set_unregister(engine *e, uint64_t id); /**< 0 is fine */
/** Bound BOOLEAN NOT NULL expression: is the row in the set? `file` and `row` are bound BIGINT expressions (the columns silt_file and silt_row); null: not in it. */
silt_status engine_in_row_set(uint64_t id, expr *file, expr *row, arena *a, expr **out, silt_error *err) MUST_CHECK;

/** Rows that a query takes, noted while it runs. One query at a time. */
typedef struct row_notes row_notes;
/** Into an empty set, which is borrowed. A file of which more than `share_max` of the rows are noted makes the query fail (with any error; engine_row_notes_are_too_many), early. */
silt_status engine_row_notes_new(engine *e, row_set *into, double share_max, row_notes **out, silt_error *err) MUST_CHECK;
void engine_row_notes_free(row_notes *n); /**< NULL is fine; not while a query uses it */
/** Bound BOOLEAN NOT NULL expression, true always: notes the row. It must be evaluated once for each row that counts, as in a select list. */
silt_status engine_note_row(const row_notes *n, expr *file, expr *row, arena *a, expr **out, silt_error *err) MUST_CHECK;
/** After the query: are the notes right, being those of so many rows, each once? */
bool engine_row_notes_are_of(const row_notes *n, int64_t rows);
bool engine_row_notes_are_too_many(const row_notes *n);
/**
 * Run a bound query (expr_push_predicates has run) into a table of the engine's own, which spills to the temp directory under the memory limit. The source has the query's
 * column names and types and may be read as often as wanted, also by several queries at once; row_count is known. ops->release drops the table; the engine must still be open.
 */
silt_status engine_materialize(engine *e, query *q, const bind_env *env, table_source **out, silt_error *err) MUST_CHECK;

/* ---- sources that are not tables ---- */
/** parquet.`path`, csv.`path`, json.`path` (a file, a folder or a glob), with Spark's reader options (header, sep, quote, escape, nullValue, dateFormat, inferSchema, multiLine, mergeSchema, schema).
 * `declared` (may be NULL) is a given schema. Hive partition folders become columns as in Spark. */
silt_status engine_file_source(engine *e, str format, const str *paths, size_t n_paths, const str *option_keys,
                               const str *option_values, size_t n_options, const data_type *declared, table_source **out,
                               silt_error *err) MUST_CHECK;
/** An Arrow stream as a table, read once; takes over *stream. */
silt_status engine_arrow_source(engine *e, struct ArrowArrayStream *stream, table_source **out, silt_error *err) MUST_CHECK;

/* ---- writing data files ---- */
typedef struct write_spec {
    store *store;
    str root;                /**< table root in the store */
    const data_type *schema; /**< full table schema incl. partition columns; physical names and ids set */
    const uint32_t *partition_columns;
    size_t n_partition_columns;
    int64_t target_file_bytes; /**< also within partitions */
    bool
        random_prefix; /**< folders are two random characters instead of partition folders (column mapping, randomizeFilePrefixes) */
    bool write_field_ids;
    bool write_partition_columns; /**< materializePartitionColumns */
    str compression;              /**< null = snappy */
    /* statistics, by Delta's rules (notes/delta.md §7) */
    bool collect_stats;
    int32_t num_indexed_columns; /**< delta.dataSkippingNumIndexedCols, -1 = all */
    const column_path *stats_columns;
    size_t n_stats_columns;
    bool has_stats_columns;       /**< delta.dataSkippingStatsColumns */
    int32_t string_prefix_length; /**< 32 */
    bool write_tight_bounds;      /**< "tightBounds":true (tables with deletion vectors) */
    str time_zone; /**< statistics' timestamps are written in UTC with Z; partition folders show the session zone */
    int64_t max_records_per_file; /**< at most so many rows in one file; <= 0: no limit */
    str folder; /**< files go under root/folder/…, which the paths of written_file include ("_change_data"); null: none */
    const char *file_prefix; /**< NULL: "part"; "cdc" for change files */
    bool any_order; /**< the rows' order means nothing (a rewrite): faster on few processors; row groups then overlap a little in what they hold */
    int64_t group_rows; /**< at most so many rows in a row group; <= 0: DuckDB's 122,880. Each thread encodes groups of its own, and what is less than half of one is left to the last of them */
    bool bundles_small; /**< of a rewrite: many small files are read as few; a failure then does not name the file, so that the write must be tried again without */
    bool one_thread; /**< other writes run beside this one, as many as there are processors: a single file is read by one thread, and makes fewer, larger row groups */
    size_t n_extra_columns;  /**< the last n fields of `schema` are no columns of the table: written by their names, without statistics (_change_type, materialised row ids) */
} write_spec;

typedef struct written_file {
    str path; /**< relative to root, not URI-encoded (Hive-escaped folders) */
    int64_t size_bytes, num_records, modified_ms;
    const value *partition; /**< n_partition_columns */
    str stats;              /**< JSON text, null without statistics */
} written_file;

typedef struct write_result {
    written_file *files;
    size_t n_files;
    int64_t rows, bytes;
} write_result;

/**
 * Run a bound query whose columns are exactly spec->schema's (order and types) and write its rows as data files under spec->root, durable when it returns OK.
 * File names: part-<5 digits>-<uuid>-c000.snappy.parquet, with ".c000" in partitioned tables, as Spark has them. On failure everything written is removed. No rows: no files.
 * A checked column is the query's business: constraints are expressions that raise.
 */
silt_status engine_write(engine *e, query *q, const bind_env *env, const write_spec *spec, arena *a, write_result *out,
                         silt_error *err) MUST_CHECK;
/** Remove the files of a write whose commit failed. Best effort. */
void engine_write_discard(const write_spec *spec, const write_result *r);

/** COPY a running query's rows to one local Parquet file for `--format parquet`; names are the logical ones. */
silt_status engine_export_parquet(engine *e, query *q, const bind_env *env, str local_path, silt_error *err) MUST_CHECK;

#endif
