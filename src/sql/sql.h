/** The face of `sql`: a session runs statements. */
#ifndef SQL_SQL_H
#define SQL_SQL_H

#include "catalog/catalog.h"
#include "engine/engine.h"
#include "ops/ops.h"

typedef struct session session;

typedef struct session_options {
    store_registry *stores;         /**< borrowed */
    /** Configuration in spark-defaults.conf terms: "spark.sql.warehouse.dir", "spark.sql.session.timeZone", … */
    const str *keys, *values; size_t n_settings;
    const cancel_token *cancel;
    /** Progress lines ("writing 3 files, 12 MB"), NULL for none; called from the statement's thread. */
    void (*progress)(void *ctx, const char *text, double fraction); void *progress_ctx;
    bool ends_with_process; /* engine_options */
} session_options;

silt_status session_open(const session_options *options, session **out, silt_error *err) MUST_CHECK;
void session_close(session *s);
silt_status session_set(session *s, str key, str value, silt_error *err) MUST_CHECK;
/** The value or the key's default; {NULL,0} when neither is known. */
str session_get(session *s, str key);
/** Each setting that was made, defaults not. */
void session_each(const session *s, void (*take)(void *taker, str key, str value), void *taker);

/** What one statement gave: always a table of rows (DDL gives none; INSERT gives num_affected_rows …). */
typedef struct statement_result statement_result;
const data_type *statement_result_type(const statement_result *r); /**< n_fields 0 for statements without output */
/** Struct arrays; out->release == NULL at the end. */
silt_status statement_result_next(statement_result *r, struct ArrowArray *out, silt_error *err) MUST_CHECK;
void statement_result_free(statement_result *r);
/** One line for people about what was done ("3 rows in 1 file, version 4"), {NULL,0} for none. */
str statement_result_message(const statement_result *r);
/** What the user should know even where nobody watches (a protocol that was upgraded, and who can no longer use the table); "" for nothing. Borrowed. */
const char *statement_result_note(const statement_result *r);
const scan_report *statement_result_scans(const statement_result *r, size_t *out_count);
double statement_result_progress(const statement_result *r);

/** Named (":x") and positional ("") parameters; values are literals. */
typedef struct statement_parameters { const str *names; const value *values; size_t count; } statement_parameters;

/** Run one statement. The result must be freed before the session is closed. */
silt_status session_run(session *s, str text, const statement_parameters *parameters, statement_result **out, silt_error *err) MUST_CHECK;

/* ---- what the API needs beside SQL ---- */
/** The rows of a query as one local Parquet file. */
silt_status session_export_parquet(session *s, str text, str local_path, silt_error *err) MUST_CHECK;
/** A table by catalog name, path, URI or format.`path`, at a version / timestamp (either may be unset: version -1, timestamp null). The caller releases the snapshot before
 * the session closes. */
silt_status session_open_table(session *s, str table, int64_t version, str timestamp, delta_snapshot **out, silt_error *err) MUST_CHECK;
/** The session's engine, opened when it is used. */
silt_status session_engine(session *s, engine **out, silt_error *err) MUST_CHECK;
/** Rows of one snapshot: `columns` are Spark SQL projections (none: all), `where` a predicate (null: none), limit <= 0: all. The snapshot must outlive the result. */
silt_status session_scan(session *s, const delta_snapshot *snapshot, const str *columns, size_t n_columns, str where, int64_t limit, statement_result **out, silt_error *err) MUST_CHECK;

/** A write of rows that come from outside SQL (files, an Arrow stream), as Spark's DataFrame writer does it. */
typedef struct session_write_spec {
    str table;                      /**< catalog name, path or URI; an absent name becomes a managed table */
    save_mode mode;
    const str *partition_columns; size_t n_partition_columns;
    str_map properties;
    write_options options;
} session_write_spec;
/**
 * Do `once`, and again as often as silt.commit.rerun allows while it ends in SILT_CONFLICT, with a pause before each. For what begins anew each time: reads its input, loads
 * the table's state. *out_reruns: how often it was done again.
 */
silt_status session_rerun(session *s, silt_status (*once)(void *ctx, silt_error *err), void *ctx, int64_t *out_reruns, silt_error *err) MUST_CHECK;
/** Takes over `source` in every case. */
silt_status session_write(session *s, const session_write_spec *spec, table_source *source, ops_result *out, silt_error *err) MUST_CHECK;

#endif
