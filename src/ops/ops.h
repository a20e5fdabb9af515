/** Operations on Delta tables: what a statement does once its names are resolved. Constraints, defaults and generated columns are Spark SQL texts, hence here. */
#ifndef OPS_OPS_H
#define OPS_OPS_H

#include "delta/transaction.h"
#include "engine/engine.h"

/** What every operation runs in. Borrowed for the call. */
typedef struct ops_env {
    engine *engine;
    const delta_env *delta;         /**< of the table's store */
    const bind_env *bind;
    str (*setting)(void *ctx, const char *key); void *setting_ctx; /**< session configuration, {NULL,0} when unset */
    void (*progress)(void *ctx, const char *text, double fraction); void *progress_ctx; /**< may be NULL */
    void (*note)(void *ctx, const char *text); void *note_ctx; /**< what the user should know beside the result; may be NULL */
} ops_env;

/** Writer options by Spark's names, from OPTIONS / CLI / API. */
typedef struct write_options {
    bool merge_schema, overwrite_schema;
    bool dynamic_overwrite; bool dynamic_known; /**< partitionOverwriteMode given */
    str replace_where;              /**< null when absent */
    str txn_app_id; int64_t txn_version; bool has_txn;
    str user_metadata;
    int64_t max_records_per_file;   /**< 0 = none */
    str compression;
    const table_source *files;      /**< of a load: the Parquet files whose rows the query gives, all of them and as they are; NULL: rows of another kind. See take_files.h */
} write_options;

typedef enum save_mode { SAVE_APPEND, SAVE_OVERWRITE, SAVE_ERROR_IF_EXISTS, SAVE_IGNORE } save_mode;

typedef struct create_spec {
    str table_name;                 /**< for messages and the location's display */
    str root;                       /**< table root in the store */
    const data_type *schema;        /**< NULL: from `source`, or the existing table's */
    const str *partition_columns; size_t n_partition_columns;
    const str *cluster_columns; size_t n_cluster_columns;
    str comment;
    str_map properties;             /**< as the user wrote them */
    query *source;                  /**< AS SELECT, bound; NULL */
    struct clone_spec *clone;       /**< CLONE: ops/maintain/clone.h; NULL */
    const delta_snapshot *snapshot; /**< the version of a table at `root` that `source` reads; NULL: it reads none there */
    bool or_replace, replace_only, if_not_exists, is_managed;
    bool is_path;                   /**< CREATE TABLE delta.`/path`: a table there is the table itself, not one to take over */
    bool is_new_name;               /**< a catalog name that does not exist yet: OR REPLACE without AS SELECT then takes over a table at its location only if it fits */
    write_options options;          /**< of AS SELECT's write: application id, user metadata, file size and codec */
} create_spec;

typedef struct ops_result {
    int64_t version;                /**< -1: nothing was committed (idempotent skip, nothing to do) */
    int64_t rows, files, bytes;
    bool existed;
    int64_t files_taken;            /**< by a load: as they are, without reading their rows */
    char why_rewritten[256];        /**< why a load of Parquet files took none; "" otherwise */
    char note[512];                 /**< what the user should know beside: a protocol that was upgraded, and who can no longer use the table; "" for none */
} ops_result;

silt_status ops_create(const ops_env *env, const create_spec *spec, ops_result *out, silt_error *err) MUST_CHECK;

/** INSERT … REPLACE WHERE condition | ON condition | USING (columns): which rows of the table leave for those of the query. */
typedef enum replace_clause_kind { REPLACE_NOTHING, REPLACE_BY_WHERE, REPLACE_BY_CONDITION, REPLACE_BY_COLUMNS } replace_clause_kind;
typedef struct replace_clause {
    replace_clause_kind kind;
    expr *condition;                /**< unbound */
    str text;                       /**< the condition as written */
    const str *columns; size_t n_columns;
    const relation *reference;      /**< the table as written, for names in the condition */
    str target_alias, source_alias; /**< null: none */
} replace_clause;

typedef struct insert_spec {
    str table_name, root;
    const delta_snapshot *snapshot;
    query *source;                  /**< bound */
    bool by_name;
    const str *columns; size_t n_columns;  /**< INSERT (a, b); 0 = all by position */
    bool overwrite;
    /* static partitions: PARTITION (p = literal, q): q dynamic has value NULL expr */
    const str *partition_names; expr *const *partition_values; size_t n_partition; bool has_partition_clause;
    bool is_data_frame;             /**< load/API semantics (DataFrame writer): by name, no ANSI cast between unlike types */
    bool reads_target;              /**< the source reads the target table: not a blind append */
    replace_clause replace;
    write_options options;
} insert_spec;

silt_status ops_insert(const ops_env *env, const insert_spec *spec, ops_result *out, silt_error *err) MUST_CHECK;
/** Before the source is bound: the word DEFAULT in its VALUES or select list becomes the column's default (spec->source is not looked at). */
silt_status ops_insert_defaults(const ops_env *env, const insert_spec *spec, query *source, arena *a, silt_error *err) MUST_CHECK;
/** Snapshot of the table at `root`: at a version (DELTA_LATEST), or at a timestamp (text as in TIMESTAMP AS OF, session zone) where that is not null. */
silt_status ops_open(const ops_env *env, str root, int64_t version, str timestamp, delta_snapshot **out, silt_error *err) MUST_CHECK;

/* ---- what is told about a table: rows as an arrow builder (the caller frees it) of struct type *out_type (in `a`) ---- */
/** DESCRIBE DETAIL: one row with Spark's columns; `name` is the catalog name or null. */
silt_status ops_detail(const delta_snapshot *snapshot, str name, arena *a, const data_type **out_type, arrow_builder **out_rows, silt_error *err) MUST_CHECK;
/** The same of a folder that is no Delta table: its place, and nothing else. */
silt_status ops_detail_of_folder(str location, arena *a, const data_type **out_type, arrow_builder **out_rows, silt_error *err) MUST_CHECK;
/** DESCRIBE HISTORY, newest first; limit < 0 = all. */
silt_status ops_history(const delta_env *env, str root, int64_t limit, arena *a, const data_type **out_type, arrow_builder **out_rows, silt_error *err) MUST_CHECK;
/** Remove a managed table's folder, file by file, never outside `root`. A missing folder is fine. */
silt_status ops_drop_files(const ops_env *env, str root, silt_error *err) MUST_CHECK;

/** `silt load`: write a bound source query into the table at `root` by a save mode, as Spark's DataFrame writer does; an absent table is created with the query's columns. */
typedef struct load_spec {
    str table_name, root;
    query *source;                  /**< bound */
    save_mode mode;
    const str *partition_columns; size_t n_partition_columns; /**< of a new table; must match an existing one when given */
    str_map properties;             /**< of a new table */
    write_options options;
    bool is_managed;
} load_spec;
silt_status ops_load(const ops_env *env, const load_spec *spec, ops_result *out, silt_error *err) MUST_CHECK;

#endif
