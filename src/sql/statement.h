/** Parsed statements. A query is a statement too; its tree is expr/tree.h's. All in the parser's arena, names as written. */
#ifndef SQL_STATEMENT_H
#define SQL_STATEMENT_H

#include "expr/parser.h"

typedef enum statement_kind {
    STMT_QUERY, STMT_EXPLAIN, STMT_INSERT,
    STMT_CREATE_TABLE, STMT_CREATE_TABLE_LIKE, STMT_DROP_TABLE,
    STMT_CREATE_VIEW, STMT_DROP_VIEW,
    STMT_CREATE_DATABASE, STMT_DROP_DATABASE, STMT_USE,
    STMT_SHOW_DATABASES, STMT_SHOW_TABLES, STMT_SHOW_VIEWS, STMT_SHOW_COLUMNS, STMT_SHOW_TBLPROPERTIES, STMT_SHOW_CREATE_TABLE, STMT_SHOW_PARTITIONS,
    STMT_SHOW_FUNCTIONS, STMT_SHOW_CURRENT,
    STMT_DESCRIBE_TABLE, STMT_DESCRIBE_QUERY, STMT_DESCRIBE_DETAIL, STMT_DESCRIBE_HISTORY, STMT_DESCRIBE_DATABASE, STMT_DESCRIBE_FUNCTION,
    STMT_SET, STMT_RESET,
    STMT_ALTER,
    STMT_DELETE, STMT_UPDATE, STMT_TRUNCATE, STMT_MERGE,
    STMT_OPTIMIZE,
    STMT_RESTORE, STMT_CLONE, STMT_GENERATE, STMT_CONVERT, STMT_PUBLISH,
    STMT_VACUUM, STMT_FSCK,
    STMT_DOCTOR
} statement_kind;

/** `k = v` lists: OPTIONS, TBLPROPERTIES. */
typedef struct property_list { const str *keys, *values; size_t count; } property_list;

typedef struct statement {
    statement_kind kind;
    str text;                     /**< the statement as written */

    relation *table;              /**< the table the statement is about (REL_TABLE), NULL where none */
    query *query;                 /**< QUERY, INSERT, CREATE … AS, DESCRIBE QUERY */
    struct statement *inner;      /**< EXPLAIN */
    bool if_exists, if_not_exists, or_replace, replace_only, extended, cascade, temporary, global_temporary;

    /* CREATE TABLE */
    const field *columns; size_t n_columns; bool has_columns;
    str provider;                 /**< USING x, {NULL,0} when absent */
    const str *partition_columns; size_t n_partition_columns;
    const str *cluster_columns; size_t n_cluster_columns;
    str location, comment; bool has_location, has_comment;
    property_list properties, options;
    relation *like;               /**< CREATE TABLE t LIKE like */

    /* INSERT */
    bool overwrite, by_name;
    const str *insert_columns; size_t n_insert_columns;
    const str *partition_names; expr *const *partition_values; size_t n_partition; bool has_partition; /**< value NULL: dynamic */

    /* names, patterns, limits */
    name_parts name;              /**< database, view, function or column the statement is about */
    str pattern; bool has_pattern;
    const str *view_columns; size_t n_view_columns;
    str view_text;                /**< CREATE VIEW: the query's text */
    int64_t limit; bool has_limit;/**< DESCRIBE HISTORY t LIMIT n */

    str key, value; bool has_key, has_value; /**< SET, SHOW TBLPROPERTIES (key) */

    struct dml_statement *dml;     /**< DELETE, UPDATE, INSERT … REPLACE; else NULL: sql/dml_statement.h */
    struct merge_statement *merge; /**< MERGE: sql/merge_statement.h */
    cte_def *ctes, *ctes_again; size_t n_ctes; bool recursive; /**< WITH … in front of DELETE, UPDATE, MERGE; twice, for statements that bind two queries over it */
    struct alter_statement *alter; /**< ALTER, COMMENT ON: sql/alter_statement.h */
    struct optimize_statement *optimize; /**< OPTIMIZE, REORG TABLE: sql/optimize_statement.h */
    struct restore_statement *restore; /**< RESTORE, CREATE … CLONE, GENERATE: sql/restore_statement.h */
    struct vacuum_statement *vacuum; /**< VACUUM, FSCK REPAIR TABLE: sql/vacuum_statement.h */
    struct convert_statement *convert; /**< CONVERT TO DELTA, PUBLISH TABLE: sql/convert_statement.h */
} statement;

/** Parse one statement; a trailing ';' is allowed. A statement of Spark that Silt does not run yet is refused by name (UNSUPPORTED_FEATURE). */
silt_status statement_parse(str text, arena *a, statement *out, silt_error *err) MUST_CHECK;

#endif
