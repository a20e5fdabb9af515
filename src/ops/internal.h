/** What the files of `ops` share. No other module includes it. */
#ifndef OPS_INTERNAL_H
#define OPS_INTERNAL_H

#include "ops/ops.h"

/** One operation: its environment, memory and error. */
typedef struct op {
    const ops_env *env;
    arena *a;
    silt_error *err;
} op;

/* ---- settings.c ---- */
/** The session's value, {NULL,0} when unset or empty. */
str ops_setting(const op *o, const char *key);
bool ops_setting_bool(const op *o, const char *key, bool absent);
/** A size as Spark writes it ("268435456", "256m", "1gb"); false when malformed. */
bool ops_parse_bytes(str text, int64_t *out);

/* ---- rows.c: queries over a query's rows ---- */
/**
 * `q` as a FROM item. Columns are called names[i]; with names NULL by its own names behind a prefix that no user has, numbers where those repeat, so that source columns of one name
 * stay apart.
 */
silt_status ops_rows_over(const op *o, query *q, const str *names, relation **out) MUST_CHECK;
/** A bound reference to one of its columns. */
silt_status ops_rows_column(const op *o, relation *rows, size_t i, expr **out) MUST_CHECK;
/** An unbound one, for trees that are bound as a whole. */
silt_status ops_rows_name(const op *o, const relation *rows, size_t i, expr **out) MUST_CHECK;
/** Bind a tree of such names that uses only the given columns of `rows`. */
silt_status ops_rows_bind(const op *o, relation *rows, const size_t *columns, size_t n, expr *e, expr **out) MUST_CHECK;
/** SELECT items FROM rows, bound: `items` are bound expressions, one per field of `schema`, whose names and types the query gives. */
silt_status ops_rows_select(const op *o, relation *rows, expr **items, const data_type *schema, query **out) MUST_CHECK;

/**
 * A bound FROM item over a source, not through the resolver; `alias` may be null. With row_ids a Delta table's hidden columns silt_file and silt_row (BIGINT) are there too.
 * Columns: the schema's fields, `_metadata` (index n_fields, hidden), silt_file (n_fields + 1, hidden), silt_row (n_fields + 2, hidden). Each call gives a number of its own.
 */
silt_status ops_rows_of_source(const op *o, table_source *source, bool row_ids, str alias, relation **out) MUST_CHECK;

/* ---- trees.c: unbound trees; a node belongs to one place of one tree ---- */
silt_status ops_tree_call(const op *o, const char *function, expr *x, expr *y, expr **out) MUST_CHECK; /**< y may be NULL */
/** CASE WHEN args[0] THEN args[1] … ELSE otherwise END; the caller fills in the branches. */
silt_status ops_tree_case(const op *o, size_t n_branches, expr *otherwise, expr **out) MUST_CHECK;
/** Is the condition TRUE, and not FALSE or NULL? As a CASE, in which AND and OR end as soon as they know: `d = 0 OR n / d < 9` raises nothing, which as a value it would. */
silt_status ops_tree_is_true(const op *o, expr *condition, expr **out) MUST_CHECK;
silt_status ops_tree_cast(const op *o, expr *e, const data_type *to, expr **out) MUST_CHECK;
silt_status ops_tree_field(const op *o, expr *e, str name, expr **out) MUST_CHECK;
/** item -> args[0]: the caller fills in the body over *out_item; lambdas inside one another have different depths. */
silt_status ops_tree_lambda(const op *o, int depth, expr **out_item, expr **out) MUST_CHECK;
silt_status ops_tree_text(const op *o, str text, expr **out) MUST_CHECK; /**< {NULL,0} counts as exhaustion */
silt_status ops_tree_null(const op *o, expr **out) MUST_CHECK;
/** The error's text as a literal that silt_raise takes. */
silt_status ops_tree_error_text(const op *o, const silt_error *error, expr **out) MUST_CHECK;
/** An expression that raises that error (condition, SQLSTATE, message) for the row that reaches it. */
silt_status ops_tree_raise(const op *o, const silt_error *error, expr **out) MUST_CHECK;
bool ops_tree_has_subquery(expr *e);

/* ---- schema_check.c ---- */
/** Names, duplicates and types of a table's new schema. `mapped`: column mapping is on, every character is allowed. */
silt_status ops_schema_check(const op *o, const data_type *schema, bool mapped) MUST_CHECK;
/** The change data feed has columns of its own. */
silt_status ops_schema_check_change_feed(const op *o, const data_type *schema, const str_map *configuration) MUST_CHECK;
/** Partition columns, resolved without case to the schema's spelling. */
silt_status ops_schema_check_partitioning(const op *o, const data_type *schema, const str *columns, size_t n,
                                          const str **out) MUST_CHECK;
/** Defaults need their feature and must fit their column. */
silt_status ops_schema_check_defaults(const op *o, const data_type *schema, const delta_protocol *protocol) MUST_CHECK;
/** Every field at every depth nullable. */
silt_status ops_schema_as_nullable(const op *o, const data_type *type, const data_type **out) MUST_CHECK;

/* ---- schema_merge.c ---- */
typedef struct merge_rules {
    bool evolve;         /**< new columns and fields may be added (mergeSchema) */
    bool widen;          /**< the table has type widening on, and evolves */
    bool fields_by_name; /**< nested fields pair by name (DataFrame), else by position */
    bool strict_types;   /**< DataFrame: a type that would lose values is an error, not a cast */
    str table_name;
} merge_rules;
/**
 * Table type ⊔ source type: what the table's column becomes when such values are written to it. *out == table where nothing changes. `f` is the table's field.
 * Errors: DELTA_METADATA_MISMATCH, DELTA_INSERT_COLUMN_ARITY_MISMATCH, DELTA_FAILED_TO_MERGE_FIELDS.
 */
silt_status ops_schema_merge_field(const op *o, const merge_rules *rules, const field *f, const data_type *source,
                                   field *out) MUST_CHECK;
/** A change of type that Delta can widen to in place (PROTOCOL.md "Type Widening"). */
bool ops_schema_is_widening(const data_type *from, const data_type *to);
/** Metadata of the nearest struct field with one more delta.typeChanges entry; `path`: "" or "element", "value.key" … from that field. */
silt_status ops_schema_record_widening(const op *o, str metadata, str path, const data_type *from, const data_type *to, str *out) MUST_CHECK;
/** Every value of `from` is a value of `to`, kept exactly. */
bool ops_schema_is_lossless(const data_type *from, const data_type *to);

/* ---- default_value.c ---- */
/** The column's DEFAULT as an unbound expression, NULL when it has none. */
silt_status ops_default_parse(const op *o, const field *f, expr **out) MUST_CHECK;
/** The default must be an expression over constants whose type the column takes: INVALID_DEFAULT_VALUE. */
silt_status ops_default_validate(const op *o, const field *f) MUST_CHECK;
/** Its value for rows that do not give one: the default, else NULL; cast to the column's type, bound. */
silt_status ops_default_value(const op *o, const field *f, expr **out) MUST_CHECK;

/* ---- write_target.c: the table as it will be ---- */
typedef struct write_target {
    delta_metadata metadata; /**< in effect when the files are written */
    delta_protocol protocol;
    const data_type *schema; /**< of metadata */
    bool metadata_changed, protocol_changed;
    const bool *computed; /**< per column: generated, and computed in every row of the write: needs no check; NULL: none */
} write_target;
/** The table as it is. */
void ops_write_target_init(write_target *t, const delta_snapshot *snapshot);
/** The table with another schema: new fields get ids and physical names, the protocol what their types need. */
silt_status ops_write_target_set_schema(const op *o, write_target *t, const data_type *schema) MUST_CHECK;
bool ops_write_target_is_mapped(const write_target *t);
/** The lowest protocol with the features of both, never lower than `old`. */
silt_status ops_protocol_merge(const op *o, const delta_protocol *old, const delta_protocol *other, delta_protocol *out) MUST_CHECK;
bool ops_protocol_equal(const delta_protocol *a, const delta_protocol *b); /**< of which one was made from the other */

/* ---- iceberg_compat.c ---- */
#define ICEBERG_ROW_ID                       2147483540 /**< Iceberg's reserved field ids of row lineage: V3's materialised row ids, */
#define ICEBERG_LAST_UPDATED_SEQUENCE_NUMBER 2147483539 /**< and row commit versions */
/** What delta.enableIcebergCompatV1 to V3 forbid: DELTA_ICEBERG_COMPAT_VIOLATION. `before` (may be NULL) is the table as it was, with its files. */
silt_status ops_iceberg_check(const op *o, const write_target *t, const delta_snapshot *before) MUST_CHECK;
/** The part of it that another writer may have left undone, before files are written: Delta 4.3 takes V3's property and nothing that it asks for. */
silt_status ops_iceberg_check_writable(const op *o, const write_target *t) MUST_CHECK;
/** V2 and V3: ids of elements, keys and values that have none. After column ids were assigned. */
silt_status ops_iceberg_assign_ids(const op *o, write_target *t) MUST_CHECK;
/** What is asked only where a version begins. `before` is the configuration of the table whose files stay; NULL: a new table, or one that replaces the old. */
silt_status ops_iceberg_check_enabling(const op *o, const write_target *t, const str_map *before) MUST_CHECK;
/** What the configuration lacks: row tracking (V3), and of a new table column mapping by name, unless another mode is asked for. Before columns are mapped. */
silt_status ops_iceberg_defaults(const op *o, write_target *t, bool is_new) MUST_CHECK;
/** An added file: its tags (V2 and V3), and numRecords must be there. */
silt_status ops_iceberg_file(const op *o, const write_target *t, delta_add *add) MUST_CHECK;

/* ---- protocol_note.c ---- */
/**
 * To be asked before a protocol is staged (`old` NULL: a new table): fills in out->note (`out` may be NULL) with what changes and who is shut out.
 * @return OK; PROTOCOL_UPGRADE_NOT_ALLOWED where the session says silt.protocol.noUpgrade
 */
silt_status ops_protocol_upgrade(const op *o, const delta_protocol *old, const delta_protocol *next, ops_result *out) MUST_CHECK;

/* ---- assign.c: source columns → table columns ---- */
typedef enum value_origin { VALUE_SOURCE, VALUE_STATIC, VALUE_DEFAULT } value_origin;
typedef struct column_value {
    value_origin origin;
    size_t source; /**< SOURCE: column of the query */
    expr *fixed;   /**< STATIC: bound constant of PARTITION (p = constant) */
} column_value;
typedef struct assignment {
    column_value *values; /**< one per column of the table */
    const uint32_t *extra;
    size_t n_extra; /**< source columns without a column, in order */
} assignment;
/** keeps_extra: source columns that the table lacks are no error yet (mergeSchema). */
silt_status ops_assign_columns(const op *o, const insert_spec *spec, const data_type *schema, bool keeps_extra,
                               assignment *out) MUST_CHECK;
/** The table's schema after the write: merged types and appended columns (which `as` then covers too). */
silt_status ops_assign_merge_schema(const op *o, const insert_spec *spec, const data_type *schema, const merge_rules *rules,
                                    assignment *as, const data_type **out) MUST_CHECK;
/** Unbound: `e`, of type `from`, as a value of type `to`, struct fields paired by name at every depth (one that is missing is NULL). depth 0 outside of lambdas. */
silt_status ops_assign_by_name(const op *o, expr *e, const data_type *from, const data_type *to, int depth, expr **out) MUST_CHECK;
/** The query whose columns are exactly the schema's. */
silt_status ops_assign_query(const op *o, const insert_spec *spec, const data_type *schema, const assignment *as,
                             query **out) MUST_CHECK;

/* ---- checks.c ---- */
/** Wraps `q`, whose columns are the table's, in what every written row must satisfy: '' → NULL in string partition columns, NOT NULL, CHAR/VARCHAR lengths, CHECK constraints. */
silt_status ops_checks_wrap(const op *o, const write_target *t, query *q, query **out) MUST_CHECK;
/** The first CHECK constraint that speaks of the column, {NULL,0} when none does. */
silt_status ops_checks_find(const op *o, const str_map *configuration, str column, str *out_constraint) MUST_CHECK;
/** CHECK constraints must be boolean expressions over the table's columns. */
silt_status ops_checks_validate(const op *o, const data_type *schema, const str_map *configuration) MUST_CHECK;

/* ---- write_plan.c ---- */
silt_status ops_write_plan(const op *o, const write_target *t, str root, const write_options *options,
                           write_spec *out) MUST_CHECK;
/** Wrap in checks, push predicates, write. Discard with engine_write_discard when the commit fails. */
silt_status ops_write_rows(const op *o, const write_target *t, const write_spec *spec, query *q, write_result *out) MUST_CHECK;
/** The file's partition values as the log has them, by physical names. */
silt_status ops_write_partition_values(const op *o, const write_target *t, const written_file *f, str_map *out) MUST_CHECK;
/** One add action per written file. */
silt_status ops_write_add_files(const op *o, const write_target *t, const write_result *written, delta_txn *txn) MUST_CHECK;

/* ---- overwrite.c: which files an overwrite removes ---- */
typedef struct removal {
    int64_t files, bytes, rows; /**< rows: live ones */
    bool rows_known;
} removal;
silt_status ops_overwrite_all(const op *o, const delta_snapshot *s, delta_txn *txn, removal *out) MUST_CHECK;
/** Files of the partitions that hold new rows. */
silt_status ops_overwrite_written_partitions(const op *o, const delta_snapshot *s, const write_result *written, delta_txn *txn,
                                             removal *out) MUST_CHECK;
/** Files whose partition columns have the given values (value.type NULL: any), null-safe. */
silt_status ops_overwrite_partition(const op *o, const delta_snapshot *s, const value *values, delta_txn *txn,
                                    removal *out) MUST_CHECK;

/* ---- insert.c ---- */
/** What a write of rows is told beyond the INSERT: by the DataFrame writer (load.c). */
typedef struct write_job {
    const insert_spec *insert;
    const char *mode; /**< as commitInfo names it */
    const str *partition_by;
    size_t n_partition_by; /**< as given with the write; must be the table's unless the schema is overwritten */
} write_job;
silt_status ops_write_into_table(const op *o, const write_job *job, ops_result *out) MUST_CHECK;
/** commitInfo's userMetadata of a write. */
str ops_write_user_metadata(const op *o, const write_options *options);

/* ---- idempotence.c ---- */
/** Completes txnAppId/txnVersion from the session. */
silt_status ops_idempotence_options(const op *o, write_options *options) MUST_CHECK;
/** The table has seen this (or a later) version of the application already. */
bool ops_idempotence_seen(const write_options *options, const delta_snapshot *s);

/* ---- commit_text.c ---- */
/** operationParameters / operationMetrics, built key by key as JSON. */
typedef struct json_object {
    buf text;
    bool first;
} json_object;
void ops_json_object_begin(json_object *j);
void ops_json_object_str(json_object *j, const char *key, str text);                     /**< null: JSON null */
void ops_json_object_true(json_object *j, const char *key);                              /**< a bare true */
void ops_json_object_bool(json_object *j, const char *key, bool v);                      /**< a bare true or false */
void ops_json_object_number(json_object *j, const char *key, int64_t v);                 /**< a bare number */
void ops_json_object_count(json_object *j, const char *key, int64_t v);                  /**< the number as a string */
void ops_json_object_names(json_object *j, const char *key, const str *names, size_t n); /**< a JSON array in a string */
/** Ends it: the text in the arena, {NULL,0} on exhaustion. */
str ops_json_object_end(json_object *j, arena *a);

/** A commit in the words of WRITE. */
typedef struct write_words {
    const char *mode; /**< "Append", "Overwrite", "ErrorIfExists", "Ignore" */
    const str *partition_by;
    size_t n_partition_by;
    str predicate; /**< null for none */
    str replace_on, replace_using; /**< of INSERT … REPLACE, null for none */
    bool dynamic_overwrite, overwrite_schema, merge_schema;
} write_words;
str ops_write_parameters(const op *o, const write_words *w);
/** Metrics of a write; `removed` NULL for an append; by_predicate adds what a replaced part reports. */
str ops_write_metrics(const op *o, const write_result *written, const removal *removed, bool by_predicate);

/* ---- clustering.c ---- */
/** CLUSTER BY columns checked; the domain's configuration by physical names, and the names as history shows them. */
silt_status ops_clustering_plan(const op *o, const data_type *schema, const str_map *configuration, const str *columns, size_t n,
                                str *out_domain, const str **out_names) MUST_CHECK;
#define CLUSTERING_DOMAIN "delta.clustering"
#define CLUSTERING_NONE \
    "{\"clusteringColumns\":[],\"domainName\":\"" CLUSTERING_DOMAIN "\"}" /**< the feature stays, without columns */
/** The domain's configuration as it is once the columns' names are physical too; null where nothing is clustered. */
silt_status ops_clustering_by_names(const delta_snapshot *s, arena *a, str *out_domain, silt_error *err) MUST_CHECK;
/** The domain's array of paths by physical names (["c","d"]); NULL where the table is not clustered. */
silt_status ops_clustering_paths(const delta_snapshot *s, arena *a, const json_node **out, silt_error *err) MUST_CHECK;
/** Logical names of the domain's columns ("a", "c.d"). */
silt_status ops_clustering_columns(const delta_snapshot *s, arena *a, const str **out, size_t *out_n, silt_error *err) MUST_CHECK;

/* ---- new_table.c ---- */
typedef struct table_definition {
    str table_name;
    const data_type *schema;
    const str *partition_columns;
    size_t n_partition_columns;
    const str *cluster_columns;
    size_t n_cluster_columns;
    str comment;
    str_map properties; /**< as the user wrote them */
} table_definition;
typedef struct new_table {
    write_target target;
    bool is_clustered;
    str clustering_domain;
    const str *cluster_names;
    size_t n_cluster_names;
} new_table;
/** Checks the definition and makes metadata and protocol; `replaced` (may be NULL) is the table that it takes the place of. */
silt_status ops_new_table_define(const op *o, const table_definition *d, const delta_snapshot *replaced,
                                 new_table *out) MUST_CHECK;
silt_status ops_new_table_stage(const op *o, const new_table *n, const delta_snapshot *replaced, delta_txn *txn) MUST_CHECK;
/** A query's columns as the schema of a new table. */
silt_status ops_new_table_schema_of(const op *o, const query *q, const data_type **out) MUST_CHECK;
/** CREATE where ops_new_table_look found nothing; EXISTS when a table has come there since. */
silt_status ops_create_new(const op *o, const create_spec *spec, ops_result *out) MUST_CHECK;
/* ---- note_scans.c ---- */
/** Declares to the transaction what a bound query, whose predicates were pushed, reads of the snapshot's table in that version, which is the transaction's own. */
silt_status ops_note_scans(const op *o, query *q, const delta_snapshot *snapshot, delta_txn *txn) MUST_CHECK;

/** Is a table at `root`? Where none is, the folder must be missing or empty: DELTA_CREATE_TABLE_WITH_NON_EMPTY_LOCATION. */
silt_status ops_new_table_look(const op *o, str table_name, str root, bool *out_exists) MUST_CHECK;

#endif
