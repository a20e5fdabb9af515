/** What the statement runners share: the session's insides, one statement's context, and results made of rows. */
#ifndef SQL_RUN_H
#define SQL_RUN_H

#include "ops/ops.h"
#include "sql/sql.h"
#include "sql/statement.h"

typedef struct setting { str key, value; } setting;
typedef struct temp_view { str name, text; } temp_view;
typedef struct cached_snapshot { str root; store *store; delta_snapshot *snapshot; } cached_snapshot;

#define SNAPSHOT_CACHE_SIZE 16

struct session {
    arena *a;                       /* the session's life */
    store_registry *stores;
    engine *engine;                 /* made by the first statement that may need it, opened when it does */
    catalog *catalog;
    str database;                   /* current */
    setting *settings; size_t n_settings, settings_capacity;
    setting *initial; size_t n_initial; /* as the session was opened, for RESET */
    temp_view *views; size_t n_views, views_capacity;
    delta_env **envs; size_t n_envs, envs_capacity; /* one per store; snapshots borrow them */
    cached_snapshot cache[SNAPSHOT_CACHE_SIZE]; size_t cache_next;
    const store *unguarded;         /* the last one of which it was told that nothing keeps its writers apart */
    str process_zone;               /* of the process that opened it, whatever spark.sql.session.timeZone says */
    const cancel_token *cancel;
    void (*progress)(void *ctx, const char *text, double fraction); void *progress_ctx;
    bool ends_with_process; /* engine_options */
};

struct statement_result {
    arena *a;                       /* the statement's life: tree, sources, rows */
    const data_type *type;
    engine_result *stream;          /* a query's rows, or NULL */
    arrow_builder *rows;            /* rows made by the statement itself, or NULL */
    bool rows_done;
    str message;
    const char *note;               /* what must be told, NULL for nothing */
};

/** One running statement. Everything in `a` lives as long as its result. */
typedef struct run {
    session *s;
    arena *a;
    const statement *st;
    statement_result *result;
    bind_env bind;
    table_resolver resolver;
    str defining_database, defining_name; /* the view that the statement gives a query, which must not read itself; database null: temporary */
    cached_snapshot *pinned; size_t n_pinned, pinned_capacity; /* newest versions that the statement has seen: every reference to a table means the same one */
} run;

/* ---- settings.c ---- */
bool session_flag(session *s, const char *key, bool absent);
silt_status settings_list(run *r, silt_error *err) MUST_CHECK;

/* ---- resolve.c ---- */
/** Where a table reference leads. */
typedef struct resolved_table {
    str display;            /* as errors name it */
    str database, name;     /* catalog tables; null for path tables */
    bool in_catalog;
    catalog_table entry;
    str format;             /* "delta", "parquet", "csv", "json", "view" */
    str location;           /* as written or in the catalog */
    store *store; str root; /* of the location */
    str at_path;            /* path table written as path@v1 …: the part behind '@', else null */
    bool in_quotes;         /* path table written as '/path', without a format */
} resolved_table;

/** Catalog entry or path; NOT_FOUND (TABLE_OR_VIEW_NOT_FOUND) unless `may_be_absent`, which then leaves in_catalog false and location empty. */
silt_status resolve_table(run *r, const relation *rel, bool may_be_absent, resolved_table *out, silt_error *err) MUST_CHECK;
silt_status resolve_location(session *s, str location, arena *a, store **out_store, str *out_root, silt_error *err) MUST_CHECK;
/** Snapshot of a Delta table at its travel spec (NULL: latest); retained by the statement. */
silt_status open_snapshot(run *r, const resolved_table *t, const travel_spec *travel, delta_snapshot **out, silt_error *err) MUST_CHECK;
/** The same of a table whose rows are asked for or changed: PATH_NOT_FOUND where there is nothing at its path. */
silt_status open_rows(run *r, const resolved_table *t, const travel_spec *travel, delta_snapshot **out, silt_error *err) MUST_CHECK;
/** `t` is a Delta table: else EXPECT_TABLE_NOT_VIEW, DELTA_ONLY_OPERATION (a table of the catalog), DELTA_TABLE_ONLY_OPERATION. */
silt_status need_delta(const resolved_table *t, const char *statement_name, silt_error *err) MUST_CHECK;
/** resolve_table, need_delta and the newest snapshot. A path without a table is DELTA_MISSING_DELTA_TABLE, one in quotes DELTA_TABLE_ONLY_OPERATION. */
silt_status open_delta(run *r, const relation *rel, const char *statement_name, resolved_table *t, delta_snapshot **out, silt_error *err) MUST_CHECK;
/** The version of a table that this statement has read as the newest, or NULL; lives as long as the statement. */
const delta_snapshot *run_pinned(const run *r, const store *st, str root);
/** Tables that were read before are read from their logs' beginning by the next statement. */
void session_forget_snapshots(session *s);
silt_status session_env(session *s, store *st, delta_env **out, silt_error *err) MUST_CHECK;
silt_status session_need_engine(session *s, silt_error *err) MUST_CHECK;
/** db and name of a catalog reference (1 to 3 parts). */
silt_status split_name(run *r, name_parts name, str *database, str *table, silt_error *err) MUST_CHECK;
silt_status run_bind(run *r, silt_error *err) MUST_CHECK; /* fills r->bind and the resolver */
silt_status run_bind_rows(run *r, silt_error *err) MUST_CHECK; /* the same for a statement that reads or writes rows: a thread opens the engine while its tables' newest versions are looked up */
ops_env run_ops_env(run *r, const delta_env *env);
str name_join(name_parts name, arena *a);
/** The table of a text: a catalog name where it is one, else a path or URI (in_catalog false, name null). */
silt_status resolve_text(run *r, str table, resolved_table *out, silt_error *err) MUST_CHECK;

/** A constant's time, ms since the epoch, in the session's zone; DELTA_TIMESTAMP_INVALID. */
silt_status fold_timestamp_ms(run *r, expr *e, int64_t *out_ms, silt_error *err) MUST_CHECK;
silt_status fold_timestamp_us(run *r, expr *e, int64_t *out_us, silt_error *err) MUST_CHECK;
/** The version of a travel spec that gives one; INVALID_TIME_TRAVEL_VERSION. */
silt_status fold_version(run *r, const travel_spec *travel, int64_t *out, silt_error *err) MUST_CHECK;

/* ---- changes.c: the change data feed ---- */
/** table_resolver.resolve_function: table_changes and table_changes_by_path. */
silt_status resolve_changes_function(table_resolver *self, str name, expr *const *args, size_t n_args, arena *a, table_source *out[2], size_t *out_n, silt_error *err) MUST_CHECK;
/** The reader option readChangeFeed is on. */
bool relation_reads_changes(const relation *rel);
/** Then: the table's changes as a query's text. */
silt_status resolve_change_options(run *r, const resolved_table *t, const relation *rel, str *out_view, silt_error *err) MUST_CHECK;

/* ---- ddl.c ---- */
silt_status register_table(run *r, const resolved_table *t, bool managed, str comment, silt_error *err) MUST_CHECK; /* into the catalog; path tables: nothing */

/** CREATE of what `spec` defines, at a table or name that may be there already; the catalog's entry too. *done: version -1 where nothing was committed. */
silt_status create_table_at(run *r, resolved_table *t, create_spec *spec, ops_result *done, silt_error *err) MUST_CHECK;

/* ---- rerun.c ---- */
#define MAX_RERUNS 1000
/** One run of a statement; session_run is this and, where that is set, its repetition after a conflict. */
silt_status session_run_once(session *s, str text, const statement_parameters *parameters, statement_result **out, silt_error *err) MUST_CHECK;
/** Wait; ends early with CANCELLED. */
silt_status session_pause(session *s, int64_t ms, silt_error *err) MUST_CHECK;

/* ---- dml.c ---- */
/** The text of EXPLAIN for a DELETE or UPDATE. */
silt_status explain_dml(run *r, const statement *st, buf *out, silt_error *err) MUST_CHECK;

/* ---- merge.c ---- */
silt_status explain_merge(run *r, const statement *st, buf *out, silt_error *err) MUST_CHECK;

/* ---- optimize.c ---- */
silt_status explain_optimize(run *r, const statement *st, buf *out, silt_error *err) MUST_CHECK;

/* ---- result.c ---- */
/** Begin rows of the statement's own: columns "name type, …" as DDL text. */
silt_status rows_begin(run *r, const char *columns_ddl, silt_error *err) MUST_CHECK;
arrow_builder *rows_column(run *r, size_t i);
/** Append one row of strings; a null str appends NULL. All columns are STRING. */
silt_status rows_add(run *r, const str *values, size_t n, silt_error *err) MUST_CHECK;
/** Tell the user something beside the result; one that there is no memory for is lost. */
void run_note(run *r, const char *text);
/** Keep what the operation has to tell (done->note: a protocol that was upgraded). */
silt_status run_add_note(run *r, const ops_result *done, silt_error *err) MUST_CHECK;
bool like_pattern_matches(str pattern, str text); /* SHOW … LIKE 'a*|b*', without case */

/* ---- the runners: one per statement kind, in query.c, insert.c, ddl.c, show.c, describe.c ---- */
typedef silt_status (*statement_runner)(run *r, silt_error *err);
silt_status run_query(run *r, silt_error *err) MUST_CHECK;
silt_status run_explain(run *r, silt_error *err) MUST_CHECK;
silt_status run_insert(run *r, silt_error *err) MUST_CHECK;
silt_status run_delete(run *r, silt_error *err) MUST_CHECK;
silt_status run_update(run *r, silt_error *err) MUST_CHECK;
silt_status run_truncate(run *r, silt_error *err) MUST_CHECK;
silt_status run_merge(run *r, silt_error *err) MUST_CHECK;
silt_status run_create_table(run *r, silt_error *err) MUST_CHECK;
silt_status run_create_table_like(run *r, silt_error *err) MUST_CHECK;
silt_status run_drop_table(run *r, silt_error *err) MUST_CHECK;
silt_status run_create_view(run *r, silt_error *err) MUST_CHECK;
silt_status run_drop_view(run *r, silt_error *err) MUST_CHECK;
silt_status run_create_database(run *r, silt_error *err) MUST_CHECK;
silt_status run_drop_database(run *r, silt_error *err) MUST_CHECK;
silt_status run_use(run *r, silt_error *err) MUST_CHECK;
silt_status run_show_databases(run *r, silt_error *err) MUST_CHECK;
silt_status run_show_tables(run *r, silt_error *err) MUST_CHECK;
silt_status run_show_views(run *r, silt_error *err) MUST_CHECK;
silt_status run_show_columns(run *r, silt_error *err) MUST_CHECK;
silt_status run_show_tblproperties(run *r, silt_error *err) MUST_CHECK;
silt_status run_show_create_table(run *r, silt_error *err) MUST_CHECK;
silt_status run_show_partitions(run *r, silt_error *err) MUST_CHECK;
silt_status run_show_functions(run *r, silt_error *err) MUST_CHECK;
silt_status run_show_current(run *r, silt_error *err) MUST_CHECK;
silt_status run_describe_table(run *r, silt_error *err) MUST_CHECK;
silt_status run_describe_query(run *r, silt_error *err) MUST_CHECK;
silt_status run_describe_detail(run *r, silt_error *err) MUST_CHECK;
silt_status run_describe_history(run *r, silt_error *err) MUST_CHECK;
silt_status run_describe_database(run *r, silt_error *err) MUST_CHECK;
silt_status run_describe_function(run *r, silt_error *err) MUST_CHECK;
silt_status run_set(run *r, silt_error *err) MUST_CHECK;
silt_status run_reset(run *r, silt_error *err) MUST_CHECK;
silt_status run_alter(run *r, silt_error *err) MUST_CHECK;
silt_status run_doctor(run *r, silt_error *err) MUST_CHECK;
silt_status run_vacuum(run *r, silt_error *err) MUST_CHECK;
silt_status run_fsck(run *r, silt_error *err) MUST_CHECK;
silt_status run_optimize(run *r, silt_error *err) MUST_CHECK;
silt_status run_restore(run *r, silt_error *err) MUST_CHECK;
silt_status run_clone(run *r, silt_error *err) MUST_CHECK;
silt_status run_generate(run *r, silt_error *err) MUST_CHECK;

/* ---- convert.c, publish.c ---- */
silt_status run_convert(run *r, silt_error *err) MUST_CHECK;
silt_status run_publish(run *r, silt_error *err) MUST_CHECK;

#endif
