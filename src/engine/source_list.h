/** The files behind a path, folder or glob, with the partition columns that Hive's folder names give. */
#ifndef ENGINE_SOURCE_LIST_H
#define ENGINE_SOURCE_LIST_H

#include "engine/internal.h"

typedef struct listed_file {
    str path; /**< absolute */
    int64_t size_bytes, modified_ms;
    const str *partition; /**< raw values by partition column; null for Hive's marker */
} listed_file;

typedef struct source_list {
    listed_file *files;
    size_t n_files, capacity;
    str *columns; /**< partition columns */
    size_t n_columns;
    const data_type **types; /**< inferred as Spark does */
    value **values;          /**< by file, by column */
} source_list;

/** Files in the order of their paths; hidden ones (leading '_' or '.') are passed over. PATH_NOT_FOUND, CONFLICTING_PARTITION_COLUMN_NAMES. All in `a`. */
silt_status source_list_files(const str *paths, size_t n_paths, arena *a, source_list *out, silt_error *err) MUST_CHECK;

/** Reader options: keys without case. */
typedef struct source_options {
    const str *keys, *values;
    size_t count;
} source_options;
str source_option(const source_options *o, const char *key, str absent);
silt_status source_option_bool(const source_options *o, const char *key, bool absent, bool *out, silt_error *err) MUST_CHECK;

#endif
