/**
 * PUBLISH TABLE: a copy of a table as plain Parquet in Hive's folders, for engines that cannot read Delta: no log, no deletion vectors, no mapped names.
 *
 * The guarantee. A folder of the copy changes from one version of its partition to another in one step (the two folders change places): a listing of it is of one version. Partitions
 * change one after the other, so a reader of several may see some of the new version and some of the old. A reader that has listed a folder and opens its files after the change does not
 * find those that left: it fails and can begin again; it never gets a mixture. What left is kept for
 * silt.publish.keepSeconds (600) beside the copy, in a hidden folder .<name>.silt-published-…, and removed by the first run after that. A table without partitions is one folder, which changes as a whole.
 */
#ifndef OPS_MAINTAIN_PUBLISH_H
#define OPS_MAINTAIN_PUBLISH_H

#include "ops/ops.h"

typedef struct publish_spec {
    str table_name;
    const delta_snapshot *snapshot;
    store *store; /**< of the folder; local */
    str folder;
    bool full;    /**< write everything anew */
} publish_spec;

typedef struct publish_result {
    int64_t version;
    int64_t partitions_written, partitions_removed, partitions_unchanged;
    int64_t files_copied; /**< as they are */
    int64_t files_rewritten, rows_rewritten;
} publish_result;

/**
 * Bring the copy to the snapshot's version. Unchanged partitions are left alone; a run that was killed is completed by the next, which takes over the partitions that it
 * had finished. Nothing that PUBLISH did not write is removed.
 * Errors: PUBLISH_FOLDER_NOT_OWN, PUBLISH_UNSUPPORTED, UNSUPPORTED_FEATURE (a store or file system that cannot exchange folders).
 */
silt_status ops_publish(const ops_env *env, const publish_spec *spec, arena *a, publish_result *out, silt_error *err) MUST_CHECK;

#endif
