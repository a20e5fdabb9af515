/* TRUNCATE TABLE: every file goes, by the log alone. */
#include "base/time.h"
#include "ops/commit.h"
#include "ops/dml_common.h"

static str metrics(const op *o, const removal *removed, int64_t started_ms) {
    json_object j;
    ops_json_object_begin(&j);
    ops_json_object_count(&j, "numRemovedFiles", removed->files);
    ops_json_object_count(&j, "executionTimeMs", time_now_ms() - started_ms);
    return ops_json_object_end(&j, o->a);
}

static silt_status remove_and_commit(const op *o, const dml_target *t, delta_txn *txn, dml_result *out) {
    removal removed;
    int64_t started_ms = time_now_ms();
    TRY(ops_check_not_append_only(o, t));
    TRY(ops_overwrite_all(o, t->snapshot, txn, &removed));
    if (removed.files == 0) return SILT_OK;
    delta_commit_info info = {.operation = "TRUNCATE",
                              .operation_metrics = metrics(o, &removed, started_ms),
                              .user_metadata = ops_setting(o, "spark.databricks.delta.commitInfo.userMetadata")};
    if (str_is_null(info.operation_metrics)) return error_no_memory(o->err);
    const commit_target table = {t->table_name, t->root, delta_snapshot_metadata(t->snapshot)};
    TRY(ops_commit(o, &table, txn, &info, &out->version));
    out->rows = removed.rows_known ? removed.rows : -1;
    return SILT_OK;
}

silt_status ops_truncate(const ops_env *env, const dml_target *target, dml_result *out, silt_error *err) {
    op o = {env, arena_new(), err};
    delta_txn *txn;
    if (!o.a) return error_no_memory(err);
    *out = (dml_result){.version = -1};
    silt_status status = delta_txn_begin(env->delta, target->snapshot, target->root, &txn, err);
    if (status == SILT_OK) {
        status = remove_and_commit(&o, target, txn, out);
        delta_txn_free(txn);
    }
    arena_free(o.a);
    return status;
}
