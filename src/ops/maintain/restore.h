/** RESTORE: the table as it was at an older version, by one commit that keeps the history. */
#ifndef OPS_MAINTAIN_RESTORE_H
#define OPS_MAINTAIN_RESTORE_H

#include "ops/ops.h"

typedef struct restore_spec {
    str table_name, root;
    const delta_snapshot *current; /**< the newest version */
    const delta_snapshot *target;  /**< the version to go back to */
    str timestamp;                 /**< how the history shows the time that was asked for; {NULL,0}: a version was */
} restore_spec;

typedef struct restore_result {
    int64_t version;               /**< -1: the table is at that version; nothing was committed */
    int64_t size_after, files_after, removed_files, restored_files, removed_bytes, restored_bytes;
    char note[512];                /**< a protocol that was upgraded, as in ops_result */
} restore_result;

/**
 * Adds the target's files that the table has no more, removes the others, and puts metadata, protocol (never lowered unless the session says
 * spark.databricks.delta.restore.protocolDowngradeAllowed) and clustering back. Looks whether the files are there (but with spark.sql.files.ignoreMissingFiles) and whether a VACUUM
 * is under way that may remove one (but with silt.restore.besideVacuum), first and after every commit that it steps over.
 * @return RESTORE_FILES_MISSING, RESTORE_BESIDE_VACUUM; CONFLICT when another writer commits meanwhile
 */
silt_status ops_restore(const ops_env *env, const restore_spec *spec, restore_result *out, silt_error *err) MUST_CHECK;

#endif
