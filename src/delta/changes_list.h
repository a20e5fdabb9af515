/** The files that hold the changes of a range of versions: changes_list.c reads them out of the commits, changes.c makes table sources of them. */
#ifndef DELTA_CHANGES_LIST_H
#define DELTA_CHANGES_LIST_H

#include "delta/changes.h"

typedef enum change_kind {
    CHANGE_INSERT,
    CHANGE_DELETE,
    CHANGE_MIXED /**< a change data file: its own _change_type column says */
} change_kind;

typedef struct change_file {
    change_kind kind;
    str path; /**< as in the log */
    str_map partition_values;
    int64_t size_bytes, modified_ms;
    str stats;              /**< {NULL,0} when unknown */
    bool only_difference;   /**< rows in `with` that are not in `without`; else all rows that are not in `without` */
    delta_dv with, without; /**< storage 0: none */
    int64_t version, timestamp_us;
} change_file;

typedef struct change_list {
    change_file *files; /**< ascending by version */
    size_t n_files;
    arena **arenas; /**< hold the files' texts, one per commit; release with change_list_dispose */
    size_t n_arenas;
} change_list;

/** Reads the commits in parallel and checks that the feed was on and the schemas fit. `a` owns the arrays; also after a failure dispose. */
silt_status change_list_load(const delta_changes_spec *spec, arena *a, change_list *out, silt_error *err) MUST_CHECK;
void change_list_dispose(change_list *l);

#endif
