/*
 * ALTER TABLE: the kind of change works out the table as it is to be, then one commit carries metadata, protocol and domain. Nothing of the table's rows changes here but
 * where a feature is dropped or column mapping is removed.
 */
#include "delta/metadata_copy.h"
#include "ops/alter_run.h"
#include "ops/commit.h"

silt_status alter_configuration_set(const alter_run *run, str_map *configuration, str key, str text) {
    const op *o = run->o;
    if (!str_is_null(text)) return str_map_with(configuration, key, text, o->a, configuration) ? SILT_OK : error_no_memory(o->err);
    str *keys = ARENA_ARRAY(o->a, configuration->count + 1, str), *values = ARENA_ARRAY(o->a, configuration->count + 1, str);
    if (!keys || !values) return error_no_memory(o->err);
    size_t n = 0;
    for (size_t i = 0; i < configuration->count; i++) {
        if (str_eq(configuration->keys[i], key)) continue;
        keys[n] = configuration->keys[i];
        values[n++] = configuration->values[i];
    }
    *configuration = (str_map){keys, values, n};
    return SILT_OK;
}

/* ---- the commit ---- */

static silt_status stage_target(alter_run *run, delta_txn *txn) {
    const op *o = run->o;
    if (run->target.metadata_changed) TRY(delta_txn_set_metadata(txn, &run->target.metadata, o->err));
    if (run->target.protocol_changed) {
        TRY(ops_protocol_upgrade(o, delta_snapshot_protocol(run->snapshot), &run->target.protocol, run->out));
        TRY(delta_txn_set_protocol(txn, &run->target.protocol, o->err));
    }
    if (!str_is_null(run->domain)) TRY(delta_txn_set_domain(txn, run->domain, run->domain_configuration, false, o->err));
    if (run->ended_domain) TRY(delta_txn_end_domain(txn, run->ended_domain, o->err));
    if (run->rewrites) delta_txn_read_whole_table(txn);
    return SILT_OK;
}

/* The next commit of the same statement starts from what this one left. */
silt_status alter_move_on(alter_run *run) {
    delta_snapshot *now;
    TRY(delta_snapshot_update(run->o->env->delta, run->snapshot, &now, run->o->err));
    delta_snapshot_release(run->owned);
    run->snapshot = run->owned = now;
    ops_write_target_init(&run->target, now);
    run->parameters = run->tags = run->metrics = run->domain = STR_NULL;
    run->rewrites = run->only_next_version = false;
    run->ended_domain = NULL;
    return SILT_OK;
}

silt_status alter_commit(alter_run *run, silt_status (*stage)(alter_run *run, delta_txn *txn, void *ctx), void *ctx) {
    const op *o = run->o;
    delta_txn *txn;
    TRY(delta_txn_begin(o->env->delta, run->snapshot, run->spec->root, &txn, o->err));
    silt_status status = stage_target(run, txn);
    if (status == SILT_OK && stage) status = stage(run, txn, ctx);
    if (status == SILT_OK) {
        delta_commit_info info = {.operation = run->operation,
                                  .operation_parameters = run->parameters,
                                  .operation_metrics = run->metrics,
                                  .tags = run->tags,
                                  .max_attempts = run->only_next_version ? 1 : 0,
                                  .user_metadata = ops_setting(o, "spark.databricks.delta.commitInfo.userMetadata")};
        const commit_target table = {run->spec->table_name, run->spec->root, &run->target.metadata};
        status = ops_commit(o, &table, txn, &info, &run->out->version);
    }
    delta_txn_free(txn);
    return status;
}

/* ---- the kinds ---- */

static silt_status work_out(alter_run *run) {
    switch (run->spec->kind) {
    case ALTER_ADD_COLUMNS:
    case ALTER_REPLACE_COLUMNS:
    case ALTER_RENAME_COLUMN:
    case ALTER_DROP_COLUMNS:
    case ALTER_CHANGE_COLUMNS: return alter_columns(run);
    case ALTER_SET_PROPERTIES:
    case ALTER_UNSET_PROPERTIES:
    case ALTER_COMMENT: return alter_properties(run);
    case ALTER_ADD_CONSTRAINT:
    case ALTER_DROP_CONSTRAINT: return alter_constraint(run);
    case ALTER_CLUSTER_BY: return alter_clustering(run);
    case ALTER_DROP_FEATURE: return alter_drop_feature(run);
    case ALTER_SYNC_IDENTITY: return alter_sync_identity(run);
    }
    return err_INTERNAL_ERROR(run->o->err, "an unknown kind of ALTER TABLE");
}

silt_status ops_alter(const ops_env *env, const alter_spec *spec, ops_result *out, silt_error *err) {
    op o = {env, arena_new(), err};
    if (!o.a) return error_no_memory(err);
    *out = (ops_result){.version = -1, .existed = true};
    alter_run run = {.o = &o, .spec = spec, .snapshot = spec->snapshot, .out = out};
    ops_write_target_init(&run.target, spec->snapshot);
    silt_status status = delta_protocol_check_write(&run.target.protocol, &run.target.metadata, spec->table_name, err);
    if (status == SILT_OK) status = work_out(&run);
    if (status == SILT_OK && !run.nothing) status = alter_commit(&run, NULL, NULL);
    delta_snapshot_release(run.owned);
    arena_free(o.a);
    return status;
}

silt_status ops_alter_check_location(const ops_env *env, const delta_snapshot *now, const delta_snapshot *there, silt_error *err) {
    op o = {env, NULL, err};
    const delta_metadata *a = delta_snapshot_metadata(now), *b = delta_snapshot_metadata(there);
    if (ops_setting_bool(&o, "spark.databricks.delta.alterLocation.bypassSchemaCheck", false)) return SILT_OK;
    bool same = type_equal_fold(a->schema, b->schema) && a->n_partition_columns == b->n_partition_columns;
    for (size_t i = 0; same && i < a->n_partition_columns; i++) same = str_eq_fold(a->partition_columns[i], b->partition_columns[i]);
    return same ? SILT_OK : err_DELTA_SET_LOCATION_SCHEMA_MISMATCH(err);
}
