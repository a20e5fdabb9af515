/**
 * CREATE TABLE … SHALLOW | DEEP CLONE: a table with the rows of another as they are at one version. A shallow clone names the source's files where they are; a deep one copies
 * them, and brings an earlier deep clone up to date by copying what is new.
 */
#ifndef OPS_MAINTAIN_CLONE_H
#define OPS_MAINTAIN_CLONE_H

#include "ops/ops.h"

typedef struct clone_numbers {
    int64_t source_bytes, source_files;
    int64_t removed_files, copied_files, removed_bytes, copied_bytes; /**< 0 in a shallow clone */
    int64_t found_files; /**< of the copied ones: left by an earlier run, not copied again */
} clone_numbers;

/** What create_spec.clone points to: ops_create then makes the table from it, where the target may be by the rules of CREATE and CREATE OR REPLACE. */
typedef struct clone_spec {
    str source_name;               /**< as the history shows it */
    str source_base;               /**< the source's root as a URI, for absolute paths of its files */
    const delta_snapshot *source;  /**< NULL: the Parquet files of a folder */
    const delta_env *folder_env; str folder; /**< then */
    bool is_deep;
    clone_numbers numbers;         /**< filled in */
} clone_spec;

#endif
