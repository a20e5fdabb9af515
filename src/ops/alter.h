/** ALTER TABLE: what a statement asks for, in the parser's words, and the operations that do it. One statement is one commit, but for those that Delta itself makes of several
 * (row tracking, dropping a feature). */
#ifndef OPS_ALTER_H
#define OPS_ALTER_H

#include "ops/ops.h"

typedef enum alter_kind {
    ALTER_ADD_COLUMNS, ALTER_REPLACE_COLUMNS, ALTER_RENAME_COLUMN, ALTER_DROP_COLUMNS, ALTER_CHANGE_COLUMNS,
    ALTER_SET_PROPERTIES, ALTER_UNSET_PROPERTIES, ALTER_COMMENT, ALTER_ADD_CONSTRAINT, ALTER_DROP_CONSTRAINT, ALTER_CLUSTER_BY,
    ALTER_DROP_FEATURE, ALTER_SYNC_IDENTITY
} alter_kind;

typedef enum column_place { PLACE_KEEP, PLACE_FIRST, PLACE_AFTER } column_place;

/** One column that is added, changed, renamed or dropped. */
typedef struct column_edit {
    name_parts path;        /**< a.b.c; element, key and value lead into arrays and maps */
    field column;           /**< ADD, REPLACE: the new field (its name is the path's last part) */
    const data_type *type;  /**< CHANGE: TYPE, NULL for none */
    str comment;            /**< CHANGE: {NULL,0} for none */
    bool set_not_null, drop_not_null;
    str default_text;       /**< CHANGE: SET DEFAULT, {NULL,0} for none */
    bool drop_default;
    column_place place;
    str after;              /**< PLACE_AFTER */
    str new_name;           /**< RENAME */
    bool is_redundant;      /**< CHANGE: the statement asks for nothing but a type; where that is the column's own, nothing is committed */
} column_edit;

typedef struct alter_spec {
    str table_name;         /**< for messages */
    str root;
    const delta_snapshot *snapshot;
    alter_kind kind;
    const column_edit *columns; size_t n_columns;
    str_map properties;     /**< SET */
    const str *keys; size_t n_keys; /**< UNSET */
    bool if_exists;
    str comment;            /**< COMMENT ON TABLE: {NULL,0} for NULL */
    str name;               /**< constraint, feature */
    str expression;         /**< ADD CONSTRAINT: the text between the parentheses, as written */
    const str *cluster_columns; size_t n_cluster_columns; /**< CLUSTER BY; none: CLUSTER BY NONE */
    bool truncate_history;  /**< DROP FEATURE */
} alter_spec;

/** out->version: of the last commit; -1: nothing was to be done. */
silt_status ops_alter(const ops_env *env, const alter_spec *spec, ops_result *out, silt_error *err) MUST_CHECK;
/** What `ALTER TABLE … SET LOCATION` requires of the table at the new place: the same schema and partitioning. */
silt_status ops_alter_check_location(const ops_env *env, const delta_snapshot *now, const delta_snapshot *there, silt_error *err) MUST_CHECK;

#endif
