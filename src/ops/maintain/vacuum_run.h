/** One VACUUM while it runs: what its parts share. Internal to ops/maintain/. */
#ifndef OPS_MAINTAIN_VACUUM_RUN_H
#define OPS_MAINTAIN_VACUUM_RUN_H

#include "delta/retained.h"
#include "ops/commit.h"
#include "ops/maintain/vacuum.h"

typedef struct vacuum_file {
    str path; /**< relative to the root */
    int64_t size_bytes;
} vacuum_file;

/** A folder in which no file stands. */
typedef struct vacuum_folder {
    str path;
    size_t n_folders, n_empty; /**< folders in it, and those of them that are empty */
    bool is_old;               /**< old enough not to be some writer's that has just made it */
} vacuum_folder;

typedef struct vacuum_run {
    const op *o;
    const vacuum_spec *spec;
    vacuum_result *out;
    bool is_lite, check_enabled;
    int64_t now_ms, default_retention_ms;
    int64_t retention_ms, specified_ms; /**< specified -1: none, or ignored */
    int64_t cutoff_ms;                  /**< files older than this may go */
    int64_t folder_cutoff_ms;
    int64_t lite_version; /**< the version that was current at the cutoff, -1 none: later vacuums of the log begin behind it */
    delta_retained *retained;
    vacuum_file *files; /**< garbage; ascending once it is planned */
    size_t n_files, files_capacity;
    vacuum_folder *folders;
    size_t n_folders, folders_capacity;
    str *in_use; /**< relative paths at and below which nothing goes: what links lead to, and other tables */
    size_t n_in_use, in_use_capacity;
    str *tables; /**< of folders that are tables of their own, as they were met: some twice */
    size_t n_tables, tables_capacity;
    int64_t n_folders_seen; /**< with the root */
    bool has_checksums;     /**< Hadoop's .<name>.crc may stand beside files; they go with them */
} vacuum_run;

/** Names that VACUUM does not look at, in any part of the path (relative to the root). */
bool vacuum_is_hidden(const vacuum_run *v, str path);
/** The same for one name. */
bool vacuum_hides_name(const vacuum_run *v, str name);

/* ---- where candidates come from; all keep to v->retained and the cutoff ---- */
silt_status vacuum_find_in_folder(vacuum_run *v) MUST_CHECK;    /**< vacuum_folder.c */
silt_status vacuum_find_in_log(vacuum_run *v) MUST_CHECK;       /**< vacuum_log.c */
silt_status vacuum_find_in_inventory(vacuum_run *v) MUST_CHECK; /**< vacuum_inventory.c */
/** Of v->files, found elsewhere than in the folder itself: sorted, each once, only those that are there, that no link stands before, and that are old. */
silt_status vacuum_confirm_files(vacuum_run *v) MUST_CHECK;
/** Remember for the next VACUUM LITE where this one ended. What goes wrong only costs it a full one. */
void vacuum_keep_last(const vacuum_run *v);

/* ---- vacuum_remove.c ---- */
/** Sort, drop what was committed meanwhile, find which folders are empty: what a dry run shows. */
silt_status vacuum_settle(vacuum_run *v) MUST_CHECK;
silt_status vacuum_remove(vacuum_run *v) MUST_CHECK;

#endif
