/**
 * Silt: Delta Lake tables without a JVM. The C API.
 *
 *     silt_session *session;
 *     silt_error err;
 *     if (silt_session_open(NULL, &session, &err) != SILT_OK) { fputs(err.message, stderr); return 1; }
 *     struct ArrowArrayStream rows;
 *     if (silt_query(session, "SELECT * FROM delta.`/data/events` WHERE day = '2026-01-31'", NULL, &rows, &err) == SILT_OK) { …; rows.release(&rows); }
 *     silt_session_close(session);
 *
 * Handles are opaque and belong to the caller, who ends each with its _close or _release. No call exits the process, prints, or keeps global state. Strings are
 * NUL-terminated UTF-8; a returned `const char *` is borrowed from the handle it came from. Times are milliseconds since the epoch, UTC, unless a name says otherwise.
 *
 * Rows travel as ArrowArrayStream: one struct array per batch, one child per column. timestamps are microseconds in UTC, decimals 128 bits, a variant is its JSON text
 * (the field's metadata has "silt.type" = "variant"). A stream's get_last_error gives "[CONDITION] message"; silt_stream_error gives the whole silt_error.
 *
 * Threads: a session and what was made from it belong to one thread at a time (different sessions are independent); silt_session_cancel may be called from any
 * thread and from a signal handler. A snapshot may be shared by threads.
 *
 * Structs that callers fill start with struct_size: set it to sizeof the struct, zero the rest; later versions of the library add members at the end.
 */
#ifndef SILT_SILT_H
#define SILT_SILT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "silt/arrow.h"
#include "silt/error.h"

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define SILT_API __attribute__((visibility("default")))
#else
#define SILT_API
#endif

/** "0.1.0" */
SILT_API const char *silt_version(void);

/* ---- sessions ---- */

typedef struct silt_session silt_session;

typedef struct silt_session_options {
    size_t struct_size;
    /** Configuration by Spark's names: "spark.sql.warehouse.dir" (default ./spark-warehouse), "spark.sql.session.timeZone", "spark.sql.ansi.enabled", …; Silt's own: "silt.memory.limit"
     * ("2GB"), "silt.threads", "silt.temp.dir", "silt.commit.rerun" (how often a statement that lost to another writer is run again; default 0). */
    const char *const *keys;
    const char *const *values;
    size_t n_settings;
    /** Called now and then during long statements from the calling thread: what is done, and a fraction 0..1 (negative: unknown). May be NULL. */
    void (*progress)(void *ctx, const char *text, double fraction);
    void *progress_ctx;
    /** Closing the session is about the last thing that the process does: memory and threads are then left for the system to take back at its end, which is several milliseconds faster. Files
     * are removed as ever. */
    bool ends_with_process;
} silt_session_options;

/** options may be NULL. */
SILT_API silt_status silt_session_open(const silt_session_options *options, silt_session **out, silt_error *err);
/** NULL is fine. Streams and tables of the session must be ended before. */
SILT_API void silt_session_close(silt_session *session);
SILT_API silt_status silt_session_set(silt_session *session, const char *key, const char *value, silt_error *err);
/** The value, or NULL when it is not set and has no default. Borrowed until the next call on the session. */
SILT_API const char *silt_session_get(silt_session *session, const char *key);
/** Ask the running statement to stop: it fails with SILT_CANCELLED and commits nothing. Async-signal-safe. */
SILT_API void silt_session_cancel(silt_session *session);
/** Forget an earlier cancel, before the next statement. */
SILT_API void silt_session_resume(silt_session *session);

/* ---- SQL ---- */

typedef struct silt_query_options {
    size_t struct_size;
    /** Parameters: ":name" by name, "?" by position (name NULL); values are SQL literals' texts, bound as STRING unless `types` gives a type such as "INT". */
    const char *const *parameter_names;
    const char *const *parameter_values; /**< NULL pointer: SQL NULL */
    const char *const *parameter_types;  /**< may be NULL */
    size_t n_parameters;
} silt_query_options;

/**
 * Run one statement. Rows come as a stream; statements without rows give a stream without columns. options may be NULL.
 * On failure *out is left released.
 * @return INVALID (syntax, names, types), NOT_FOUND, EXISTS, CONFLICT, CONSTRAINT (ANSI errors, NOT NULL …), UNSUPPORTED, CORRUPT, IO, CANCELLED, …
 */
SILT_API silt_status silt_query(silt_session *session, const char *sql, const silt_query_options *options, struct ArrowArrayStream *out, silt_error *err);
/** Write the rows of a query to one local Parquet file (Snappy); it appears whole or not at all. */
SILT_API silt_status silt_export_parquet(silt_session *session, const char *sql, const char *path, silt_error *err);
/** Why the stream's last get_next failed; status SILT_OK when it did not. Only for streams made by Silt. */
SILT_API void silt_stream_error(struct ArrowArrayStream *stream, silt_error *out);
/** One line about what the statement did ("3 rows in 1 file, version 4"), "" for none. Borrowed from the stream. */
SILT_API const char *silt_stream_message(struct ArrowArrayStream *stream);
/** What the user should know about the statement's effects also in a log: a protocol that was upgraded, and which engines can no longer use the table. "" for nothing. Borrowed from
 * the stream. */
SILT_API const char *silt_stream_note(struct ArrowArrayStream *stream);
/** Progress of the running query, 0..1, negative when unknown. */
SILT_API double silt_stream_progress(struct ArrowArrayStream *stream);
/**
 * Where the first statement of a script ends: the offset behind its ';' or the end. false when the text so far is no whole statement (an open string, comment or no ';'),
 * as a shell needs it for its continuation prompt. *out_is_blank: nothing but white space and comments.
 */
SILT_API bool silt_script_next(const char *text, size_t *out_end, bool *out_is_blank);
/** Is there a secret in it, by the look of it: a key like fs.s3a.secret.key that is set, a password or a query in a URL? Such a text belongs into no history or log. Also true when memory ran out. */
SILT_API bool silt_script_has_secret(const char *text);

/* ---- tables and snapshots ---- */

typedef struct silt_snapshot silt_snapshot;

#define SILT_LATEST ((int64_t)-1)

/**
 * Open a table: a catalog name ("db.t"), a path, a URI, or "delta.`/path`", at a version (SILT_LATEST) or as of a timestamp text (NULL for none; at most one of the two).
 */
SILT_API silt_status silt_snapshot_open(silt_session *session, const char *table, int64_t version, const char *timestamp, silt_snapshot **out, silt_error *err);
SILT_API void silt_snapshot_close(silt_snapshot *snapshot);
SILT_API int64_t silt_snapshot_version(const silt_snapshot *snapshot);
SILT_API int64_t silt_snapshot_timestamp_ms(const silt_snapshot *snapshot);
SILT_API int64_t silt_snapshot_num_files(const silt_snapshot *snapshot);
SILT_API int64_t silt_snapshot_size_bytes(const silt_snapshot *snapshot);
/** Live rows by the log, or -1 when a file has no statistics. */
SILT_API int64_t silt_snapshot_num_records(silt_snapshot *snapshot, silt_error *err);
/** Delta's schema as JSON. */
SILT_API const char *silt_snapshot_schema_json(const silt_snapshot *snapshot);
/** Location, version, protocol, id, name, schema, partitionColumns, configuration, numFiles, sizeInBytes, numRecords … as one JSON object. */
SILT_API silt_status silt_snapshot_describe_json(silt_snapshot *snapshot, const char **out, silt_error *err);
/** The version of an application's last transaction (idempotent writes), or -1. */
SILT_API int64_t silt_snapshot_txn_version(const silt_snapshot *snapshot, const char *app_id);
/** One row per data file: path, size, modificationTime, partitionValues, numRecords, deletionVector, stats. */
SILT_API silt_status silt_snapshot_files(silt_snapshot *snapshot, struct ArrowArrayStream *out, silt_error *err);

typedef struct silt_scan_options {
    size_t struct_size;
    const char *const *columns; /**< names or Spark SQL expressions; NULL = all columns */
    size_t n_columns;
    const char *where;          /**< Spark SQL predicate, NULL for none; prunes files and filters rows */
    int64_t limit;              /**< rows; 0 = all */
} silt_scan_options;

/** Rows of exactly this snapshot. The snapshot must outlive the stream. */
SILT_API silt_status silt_snapshot_scan(silt_snapshot *snapshot, const silt_scan_options *options, struct ArrowArrayStream *out, silt_error *err);
/** Write a checkpoint of this snapshot now. */
SILT_API silt_status silt_snapshot_checkpoint(silt_snapshot *snapshot, silt_error *err);

/**
 * What changed between two schemas, each Delta's schema JSON or DDL ("id BIGINT NOT NULL, day DATE"): one row per change, (column, change, before, after, breaking), where `change` is
 * added, dropped, renamed, type, nullability, order or metadata, and `breaking` tells that readers by the older schema fail or read something else. Columns pair by their column mapping
 * ids, or by_name. No rows: the same.
 */
SILT_API silt_status silt_schema_compare(const char *before, const char *after, bool by_name, struct ArrowArrayStream *out, silt_error *err);

/* ---- the read cache ---- */

/** What is kept on this machine of files in remote stores, by all processes of this user: settings silt.cache.dir and silt.cache.maxSize. */
typedef struct silt_cache_usage {
    size_t struct_size;
    int64_t bytes;                     /**< on the disk */
    int64_t entries;                   /**< files of which something is kept */
    uint64_t hits, misses;             /**< how often a file that was wanted was there as far as needed, and how often not */
    uint64_t bytes_hit, bytes_fetched; /**< bytes that need not be fetched, and that were */
} silt_cache_usage;

/** The folder; NULL where there is none (no home folder and no setting). Borrowed until the next call of this or silt_session_get. */
SILT_API const char *silt_cache_folder(silt_session *session);
SILT_API silt_status silt_cache_show(silt_session *session, silt_cache_usage *out, silt_error *err);
/** Remove what no running query uses, of this or another process; *out: what went (bytes and entries). */
SILT_API silt_status silt_cache_clear(silt_session *session, silt_cache_usage *out, silt_error *err);

/* ---- writing ---- */

typedef enum silt_save_mode { SILT_APPEND = 0, SILT_OVERWRITE = 1, SILT_ERROR_IF_EXISTS = 2, SILT_IGNORE = 3 } silt_save_mode;

typedef struct silt_write_options {
    size_t struct_size;
    silt_save_mode mode;
    const char *const *partition_by; /**< of a new table */
    size_t n_partition_by;
    bool merge_schema;               /**< add columns that the table lacks */
    bool overwrite_schema;           /**< with SILT_OVERWRITE: replace schema and partitioning */
    const char *txn_app_id;          /**< idempotent write: a txn_version that this application already committed is skipped; NULL for none */
    int64_t txn_version;
    const char *user_metadata;       /**< into the commit; NULL for none */
    const char *const *property_keys;   /**< table properties of a new table */
    const char *const *property_values;
    size_t n_properties;
    const char *replace_where;       /**< with SILT_OVERWRITE: a Spark SQL predicate; only rows that satisfy it are replaced, and all new rows must; NULL: the whole table */
} silt_write_options;

typedef struct silt_write_result {
    size_t struct_size;
    int64_t version;                 /**< the committed version; -1 when nothing was committed (ignored, or seen before) */
    int64_t num_rows, num_files, num_bytes;
    int64_t num_files_taken;         /**< of silt_load: Parquet files that were taken as they are, without reading their rows */
    char why_rewritten[256];         /**< why silt_load took none of the Parquet files so; "" otherwise */
} silt_write_result;

/**
 * Write the rows of `rows` into a table (name, path or URI) and commit them as one version. The stream is taken over and released in every case. Columns go by name.
 * Nothing is visible before the commit; on failure the files written are removed. options and out may be NULL.
 */
SILT_API silt_status silt_write(silt_session *session, const char *table, struct ArrowArrayStream *rows, const silt_write_options *options, silt_write_result *out, silt_error *err);

/** The same from files: format "csv", "json" or "parquet" (NULL: by the names), reader options by Spark's names, `schema` as DDL text or NULL to infer it. Files can be read again:
 * a load that lost to another writer is done anew as often as the session's silt.commit.rerun says. */
typedef struct silt_load_options {
    size_t struct_size;
    const char *format;
    const char *const *option_keys;
    const char *const *option_values;
    size_t n_options;
    const char *schema;
} silt_load_options;
SILT_API silt_status silt_load(silt_session *session, const char *table, const char *const *files, size_t n_files, const silt_load_options *load, const silt_write_options *options,
                               silt_write_result *out, silt_error *err);

#ifdef __cplusplus
}
#endif
#endif
