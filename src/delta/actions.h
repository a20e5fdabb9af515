/** The actions of a Delta log (PROTOCOL.md "Actions") as plain structs: what the reader returns and the transaction writes. */
#ifndef DELTA_ACTIONS_H
#define DELTA_ACTIONS_H

#include "table/type.h"

/** A string map in its stored order. A null value has values[i].ptr == NULL. */
typedef struct str_map {
    const str *keys, *values;
    size_t count;
} str_map;
/** The value, or {NULL,0}. Keys compare exactly. */
str str_map_get(const str_map *map, str key);

typedef struct delta_protocol {
    int32_t min_reader_version, min_writer_version;
    const str *reader_features; size_t n_reader_features; bool has_reader_features; /**< the list was present */
    const str *writer_features; size_t n_writer_features; bool has_writer_features;
} delta_protocol;

typedef struct delta_metadata {
    str id, name, description;       /**< name, description: {NULL,0} when absent */
    str format_provider; str_map format_options;
    str schema_json;                 /**< schemaString as stored */
    const data_type *schema;         /**< parsed; physical names set by the column mapping mode */
    const str *partition_columns; size_t n_partition_columns; /**< logical names */
    str_map configuration;
    int64_t created_time_ms;         /**< -1 when absent */
} delta_metadata;

/** PROTOCOL.md "Deletion Vectors". storage 0 = none; 'u' relative by uuid, 'i' inline, 'p' absolute path. */
typedef struct delta_dv {
    char storage;
    str path_or_inline;
    int32_t offset;        /**< -1 when absent */
    int32_t size_bytes;
    int64_t cardinality;
} delta_dv;

typedef struct delta_add {
    str path;              /**< as in the log (URI-encoded, relative to the table root or absolute) */
    str_map partition_values; /**< physical names */
    int64_t size_bytes, modification_time_ms;
    bool data_change;
    str stats;             /**< JSON text, {NULL,0} when absent (or not loaded: see delta_snapshot_file) */
    str tags;              /**< JSON object text, {NULL,0} when absent */
    delta_dv dv;
    int64_t base_row_id, default_row_commit_version; /**< -1 when absent */
    str clustering_provider;
} delta_add;

typedef struct delta_remove {
    str path;
    int64_t deletion_timestamp_ms; /**< -1 when absent */
    bool data_change;
    bool extended_file_metadata;
    str_map partition_values;
    int64_t size_bytes;            /**< -1 when absent */
    str stats, tags;
    delta_dv dv;
    int64_t base_row_id, default_row_commit_version;
} delta_remove;

/** A change data file (PROTOCOL.md "Add CDC File"): rows with _change_type, read in place of the commit's adds and removes. dataChange is always false. */
typedef struct delta_cdc {
    str path;                 /**< as add.path */
    str_map partition_values; /**< physical names */
    int64_t size_bytes;
    str tags;                 /**< JSON object text, {NULL,0} when absent */
} delta_cdc;

typedef struct delta_txn_id { str app_id; int64_t version; int64_t last_updated_ms; /**< -1 when absent */ } delta_txn_id;
typedef struct delta_domain { str domain, configuration; bool removed; } delta_domain;

#endif
