/** The one way in which an operation commits, and what follows a commit by the table's properties. Internal to ops/. */
#ifndef OPS_COMMIT_H
#define OPS_COMMIT_H

#include "ops/internal.h"

/** The table that a commit belongs to. */
typedef struct commit_target {
    str table_name, root;
    const delta_metadata *metadata; /**< as of the commit */
} commit_target;

/** A commit that has happened, as hooks see it. */
typedef struct committed {
    const commit_target *target;
    const delta_txn *txn;
    const delta_commit_info *info;
    int64_t version;
} committed;

/**
 * delta_txn_commit, then the hooks. What a hook cannot do never fails the statement, whose rows are committed: it becomes a note.
 * @return as delta_txn_commit
 */
silt_status ops_commit(const op *o, const commit_target *t, delta_txn *txn, const delta_commit_info *info, int64_t *out_version) MUST_CHECK;

/** Tell the user something beside the statement's result. */
void ops_note(const op *o, const char *text);

/* ---- the hooks: each looks at the table's properties first and does nothing where it is not asked for ---- */
/** maintain/auto_compact.c: delta.autoOptimize.autoCompact. */
silt_status auto_compact_hook(const op *o, const committed *c) MUST_CHECK;
/** maintain/manifest_hook.c: delta.compatibility.symlinkFormatManifest.enabled. */
silt_status symlink_manifest_hook(const op *o, const committed *c) MUST_CHECK;

/** maintain/log_compaction_hook.c: the session's silt.logCompaction.interval. */
silt_status log_compaction_hook(const op *o, const committed *c) MUST_CHECK;

#endif
