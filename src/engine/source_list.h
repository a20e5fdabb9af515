/** The files behind a path, folder or glob, with the partition columns that Hive's folder names give. */
#ifndef ENGINE_SOURCE_LIST_H
#define ENGINE_SOURCE_LIST_H

#include "engine/internal.h"

typedef struct listed_file {
    str path;  /**< absolute; in `store` where that is not NULL */
    str local; /**< where it can be read: the path itself; of a remote file null until it was fetched */
    store *store; /**< NULL: the local file system; borrowed */
    str tag;      /**< of a remote file */
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
silt_status source_list_files(engine *e, const str *paths, size_t n_paths, arena *a, source_list *out, silt_error *err) MUST_CHECK;
/** The remote ones among them, whole, side by side; kept until `a` ends. */
silt_status source_list_fetch(engine *e, source_list *list, arena *a, silt_error *err) MUST_CHECK;

/* ---- between source_list.c and source_list_remote.c ---- */

typedef struct source_walk {
    arena *a;
    source_list *list;
    str base; /**< folders below it may be partitions */
    silt_error *err;
} source_walk;
/** Names that Spark's readers pass over. */
bool source_is_hidden(str name);
/** Takes the file, with the partition values of its folders below w->base. */
silt_status source_add_file(source_walk *w, listed_file file) MUST_CHECK;
/** What is behind one location of a store: a file, a folder, or a pattern with * ? [ ] { }. */
silt_status source_list_remote(source_walk *w, store_registry *stores, str location) MUST_CHECK;
/** Reader options: keys without case. */
typedef struct source_options {
    const str *keys, *values;
    size_t count;
} source_options;
str source_option(const source_options *o, const char *key, str absent);
silt_status source_option_bool(const source_options *o, const char *key, bool absent, bool *out, silt_error *err) MUST_CHECK;

#endif
