/* Idempotent writes: an application names itself and numbers its writes; a number that the table has seen is skipped (PROTOCOL.md "Transaction Identifiers"). */
#include "ops/internal.h"

silt_status ops_idempotence_options(const op *o, write_options *options) {
    if (!options->has_txn) {
        str app = ops_setting(o, "spark.databricks.delta.write.txnAppId"),
            version = ops_setting(o, "spark.databricks.delta.write.txnVersion");
        if (str_is_null(app) && str_is_null(version)) return SILT_OK;
        options->has_txn = true;
        options->txn_app_id = app;
        if (!str_to_i64(version, &options->txn_version)) return err_DELTA_INVALID_IDEMPOTENT_WRITES_OPTIONS(o->err);
    }
    if (options->txn_app_id.len == 0 || options->txn_version < 0) return err_DELTA_INVALID_IDEMPOTENT_WRITES_OPTIONS(o->err);
    return SILT_OK;
}

bool ops_idempotence_seen(const write_options *options, const delta_snapshot *s) {
    return options->has_txn && s && delta_snapshot_txn_version(s, options->txn_app_id) >= options->txn_version;
}
