/*
 * What follows a commit: version checksum, then at the table's interval a checkpoint with _last_checkpoint, then the clean-up of expired log files. The commit is
 * done by now: nothing here can fail it, the first problem is kept for delta_txn_post_commit_error.
 */
#include "delta/properties.h"
#include "delta/txn_state.h"

#include "base/time.h"

static void note(delta_txn *t, silt_status status, const silt_error *err) {
    if (status != SILT_OK && t->post_commit.status == SILT_OK) t->post_commit = *err;
}

/* The state at the committed version: mostly the newest, so replay only what is new since the snapshot that was read. */
static silt_status snapshot_at(const delta_txn *t, int64_t version, delta_snapshot **out, silt_error *err) {
    *out = NULL;
    if (t->snapshot) TRY(delta_snapshot_update(t->env, t->snapshot, out, err));
    if (*out && delta_snapshot_version(*out) == version) return SILT_OK;
    delta_snapshot_release(*out);
    return delta_snapshot_load(t->env, t->root, version, out, err);
}

static void checkpoint(delta_txn *t, int64_t version) {
    silt_error err = {.status = SILT_OK};
    delta_snapshot *s = NULL;
    silt_status status = snapshot_at(t, version, &s, &err);
    if (status == SILT_OK) status = delta_checkpoint_write(s, &err);
    size_t removed;
    if (status == SILT_OK && delta_config_bool(&delta_snapshot_metadata(s)->configuration, "delta.enableExpiredLogCleanup"))
        status = delta_log_cleanup(s, time_now_ms(), &removed, &err);
    note(t, status, &err);
    delta_snapshot_release(s);
}

void post_commit(delta_txn *t, const delta_commit_info *info, int64_t version) {
    silt_error err = {.status = SILT_OK};
    note(t, checksum_write_incremental(t, info, version, &err), &err);
    int64_t interval = delta_config_i64(&txn_metadata(t)->configuration, "delta.checkpointInterval");
    if (version > 0 && interval > 0 && version % interval == 0) checkpoint(t, version);
}
