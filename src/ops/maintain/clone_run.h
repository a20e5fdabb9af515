/** The parts of a CLONE. Internal to ops/maintain. */
#ifndef OPS_MAINTAIN_CLONE_RUN_H
#define OPS_MAINTAIN_CLONE_RUN_H

#include "delta/path_set.h"
#include "ops/internal.h"
#include "ops/maintain/clone.h"
#include "ops/maintain/convert_files.h"

/** What is cloned: a version of a Delta table, or the Parquet files of a folder. */
typedef struct clone_source {
    const delta_snapshot *snapshot; /**< NULL: `files` */
    convert_files *files;
    const delta_env *env;
    str root;
    const delta_metadata *metadata;
    const delta_protocol *protocol;
    const delta_domain *clustering; /**< NULL: none */
    int64_t version;                /**< -1 of a folder */
    size_t n_files;
    int64_t bytes;
} clone_source;

typedef struct clone_run {
    const op *o;
    const create_spec *spec;
    clone_spec *clone;
    clone_source source;
    const delta_snapshot *replaced; /**< NULL: the table is new */
    delta_txn *txn;
    delta_metadata metadata; /**< of the clone */
    delta_protocol protocol;
} clone_run;

/** One file of the source in a deep clone. */
typedef struct deep_file {
    str path;      /**< in the clone, as in the log */
    delta_dv dv;
    bool is_kept;  /**< the clone has it already */
} deep_file;

/** An object to copy. */
typedef struct copy_task {
    str from;      /**< as the source's log names it */
    str to;        /**< relative to the clone's root, not encoded */
    int64_t bytes; /**< -1: whatever the source's object has */
} copy_task;

typedef struct deep_plan {
    deep_file *files; /**< by number in the source */
    uint8_t *leaves;  /**< of the replaced table's files, by number */
    size_t n_kept, n_leaving;
    copy_task *tasks;
    size_t n_tasks, tasks_capacity;
    path_set targets; /**< tasks[].to */
} deep_plan;

/* ---- clone_source.c ---- */
silt_status clone_source_open(clone_run *r) MUST_CHECK;
/** Every file in order, numbered from 0. A folder's have no statistics. */
silt_status clone_source_each(const clone_run *r, bool with_stats, silt_status (*fn)(void *ctx, size_t i, const delta_add *add, silt_error *err), void *ctx) MUST_CHECK;

/* ---- clone_files.c ---- */
/** Adds of the source's files where they are. */
silt_status clone_stage_shallow(clone_run *r) MUST_CHECK;
/** What the clone has already, what has to be copied, what leaves it. */
silt_status clone_plan_deep(clone_run *r, deep_plan *plan) MUST_CHECK;
silt_status clone_stage_deep(clone_run *r, const deep_plan *plan) MUST_CHECK;

/* ---- clone_copy.c ---- */
/** The folder of a new clone may hold what an interrupted run left, and nothing else: DELTA_CREATE_TABLE_WITH_NON_EMPTY_LOCATION. */
silt_status clone_check_folder(const clone_run *r, const deep_plan *plan) MUST_CHECK;
/** Durable under their names when it returns; objects that are there with the right size are not copied again. */
silt_status clone_copy(clone_run *r, const deep_plan *plan) MUST_CHECK;

/** CREATE calls it where the target may be cloned into; `replaced` NULL: a new table. */
silt_status clone_make(const op *o, const create_spec *spec, const delta_snapshot *replaced, ops_result *out) MUST_CHECK;

#endif
