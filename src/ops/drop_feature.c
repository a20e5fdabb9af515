/*
 * ALTER TABLE … DROP FEATURE f [TRUNCATE HISTORY]. A feature is first taken out of use (drop_feature_retire.c), then out of the protocol.
 *
 * Versions of before still use it. For a feature that readers must know this matters: a reader of the lower protocol would rebuild them wrongly. Without TRUNCATE HISTORY they
 * are fenced off: three empty commits with a checkpoint each put complete states without the feature behind them, and checkpointProtection forbids writers to clean up
 * history other than all of it at once. With TRUNCATE HISTORY the statement must be run again after a retention period (24 hours): it then removes the history that uses the
 * feature, and the protocol has no trace of it.
 */
#include "base/time.h"
#include "delta/properties.h"
#include "delta/protocol_upgrade.h"
#include "ops/drop_feature.h"

#define PROTECTION         "checkpointProtection"
#define PROTECTED_BEFORE   "delta.requireCheckpointProtectionBeforeVersion"
#define RETENTION          "delta.dropFeatureTruncateHistory.retentionDuration"
#define N_CHECKPOINTS      3
#define MAX_LOST_RACES     10

static const removable_feature removable[] = {
    {"checkConstraints", false, retire_constraints, NULL, {NULL}},
    {"columnMapping", true, retire_column_mapping, "delta.columnMapping.mode", {"delta.columnMapping.physicalName"}},
    {"deletionVectors", true, retire_deletion_vectors, "delta.enableDeletionVectors", {"\"deletionVector\":", "\"delta.enableDeletionVectors\":\"true\""}},
    {"rowTracking", false, retire_row_tracking, NULL, {NULL}},
    {"domainMetadata", false, retire_domains, NULL, {NULL}},
    {"v2Checkpoint", true, retire_v2_checkpoint, NULL, {"\"delta.checkpointPolicy\":\"v2\""}},
    {"typeWidening", true, retire_type_widening, "delta.enableTypeWidening", {"delta.typeChanges", "\"delta.enableTypeWidening\":\"true\""}},
    {"typeWidening-preview", true, retire_type_widening, "delta.enableTypeWidening", {"delta.typeChanges", "\"delta.enableTypeWidening\":\"true\""}},
    {"inCommitTimestamp", false, retire_in_commit_timestamps, NULL, {NULL}},
    {"vacuumProtocolCheck", true, NULL, NULL, {NULL}},
    {"materializePartitionColumns", false, NULL, "delta.enableMaterializePartitionColumnsFeature", {NULL}}, /* files that have the columns too may stay */
    {PROTECTION, true, NULL, PROTECTED_BEFORE, {NULL}},
};

const removable_feature *removable_feature_find(str name) {
    for (size_t i = 0; i < ARRAY_LEN(removable); i++)
        if (str_eq_ascii_fold(name, str_of(removable[i].name))) return &removable[i];
    return NULL;
}

static bool is_protection(const removable_feature *f) { return strcmp(f->name, PROTECTION) == 0; }

/* ---- may it be dropped? ---- */

static silt_status check(const alter_run *run, const removable_feature **out) {
    const op *o = run->o;
    str name = run->spec->name;
    bool known = false;
    for (size_t i = 0; i < delta_feature_count(); i++) known |= str_eq_ascii_fold(name, str_of(delta_feature_at(i)->name));
    if (!known) return err_DELTA_FEATURE_DROP_UNSUPPORTED_CLIENT_FEATURE(o->err, name);
    const removable_feature *f = removable_feature_find(name);
    if (!f) return err_DELTA_FEATURE_DROP_NONREMOVABLE_FEATURE(o->err, name);
    if (!delta_protocol_has(&run->target.protocol, f->name)) return err_DELTA_FEATURE_DROP_FEATURE_NOT_PRESENT(o->err, name);
    if (run->spec->truncate_history && !f->history) return err_DELTA_FEATURE_DROP_HISTORY_TRUNCATION_NOT_ALLOWED(o->err);
    if (is_protection(f) && !run->spec->truncate_history) return err_DELTA_FEATURE_CAN_ONLY_DROP_CHECKPOINT_PROTECTION_WITH_HISTORY_TRUNCATION(o->err);
    str dependents = delta_protocol_dependents(&run->target.protocol, f->name, o->a);
    if (str_is_null(dependents)) return error_no_memory(o->err);
    *out = f;
    return dependents.len ? err_DELTA_FEATURE_DROP_DEPENDENT_FEATURE(o->err, name, dependents) : SILT_OK;
}

/* ---- commits ---- */

static silt_status empty_commit_and_checkpoint(alter_run *run) {
    run->operation = "Empty Commit";
    run->parameters = STR("{}");
    TRY(alter_commit(run, NULL, NULL));
    TRY(alter_move_on(run));
    return delta_checkpoint_write(run->snapshot, run->o->err);
}

static silt_status drop_parameters(alter_run *run, const removable_feature *f) {
    run->parameters = arena_printf(run->o->a, "{\"featureName\":\"%s\",\"truncateHistory\":%s}", f->name, run->spec->truncate_history ? "true" : "false");
    return str_is_null(run->parameters) ? error_no_memory(run->o->err) : SILT_OK;
}

static silt_status define_drop(alter_run *run, const removable_feature *f, bool protect) {
    const op *o = run->o;
    write_target *t = &run->target;
    str_map *configuration = &t->metadata.configuration;
    delta_protocol lower;
    TRY(delta_protocol_without(&t->protocol, f->name, protect, o->a, &lower, o->err));
    t->protocol = lower;
    t->protocol_changed = t->metadata_changed = true;
    if (f->property) TRY(alter_configuration_set(run, configuration, str_of(f->property), STR_NULL));
    if (protect) {
        str before = arena_printf(o->a, "%lld", (long long)delta_snapshot_version(run->snapshot) + 1);
        if (str_is_null(before)) return error_no_memory(o->err);
        TRY(alter_configuration_set(run, configuration, STR(PROTECTED_BEFORE), before));
    }
    run->operation = "DROP FEATURE";
    run->only_next_version = protect; /* its own number is in the property */
    return drop_parameters(run, f);
}

/* The property names the version of this very commit, so a lost race means to begin again from what is there now. */
static silt_status commit_drop(alter_run *run, const removable_feature *f, bool protect) {
    for (int lost = 0;; lost++) {
        TRY(define_drop(run, f, protect));
        silt_status status = alter_commit(run, NULL, NULL);
        bool raced = protect && status == SILT_CONFLICT && run->o->err && strcmp(run->o->err->condition, "DELTA_MAX_COMMIT_RETRIES_EXCEEDED") == 0;
        if (!raced || lost == MAX_LOST_RACES) return status;
        TRY(alter_move_on(run));
    }
}

/* ---- without TRUNCATE HISTORY ---- */

static silt_status drop_protected(alter_run *run, const removable_feature *f) {
    for (int i = 0; f->history && i < N_CHECKPOINTS; i++) TRY(empty_commit_and_checkpoint(run));
    return commit_drop(run, f, f->history);
}

/* ---- with TRUNCATE HISTORY ---- */

static bool has_trace(const removable_feature *f, str text) {
    for (size_t i = 0; i < ARRAY_LEN(f->traces) && f->traces[i]; i++)
        if (str_find(text, str_of(f->traces[i])) != SIZE_MAX) return true;
    return false;
}

static silt_status commit_has_trace(const alter_run *run, const removable_feature *f, int64_t version, bool *out) {
    const op *o = run->o;
    buf text;
    str path = arena_printf(o->a, "%.*s/_delta_log/%020lld.json", STR_ARG(run->spec->root), (long long)version);
    if (str_is_null(path)) return error_no_memory(o->err);
    buf_init(&text, BUF_MAX_DEFAULT);
    silt_status status = store_read(o->env->delta->store, path, 0, -1, &text, o->err);
    *out = status == SILT_OK && has_trace(f, buf_str(&text));
    buf_dispose(&text);
    return status == SILT_NOT_FOUND ? SILT_OK : status;
}

static silt_status file_has_dv(void *ctx, size_t i, const delta_add *add, silt_error *err) {
    (void)i;
    (void)err;
    if (add->dv.storage) *(bool *)ctx = true;
    return SILT_OK;
}

/* The oldest state that can still be rebuilt: what its checkpoint says is in no commit any more. */
static silt_status oldest_has_trace(const alter_run *run, const removable_feature *f, int64_t earliest, bool *out) {
    const op *o = run->o;
    delta_snapshot *s;
    TRY(delta_snapshot_load(o->env->delta, run->spec->root, earliest, &s, o->err));
    const delta_metadata *m = delta_snapshot_metadata(s);
    buf text;
    buf_init(&text, BUF_MAX_DEFAULT);
    buf_append(&text, m->schema_json);
    for (size_t i = 0; i < m->configuration.count; i++)
        buf_printf(&text, ",\"%.*s\":\"%.*s\"", STR_ARG(m->configuration.keys[i]), STR_ARG(m->configuration.values[i]));
    *out = has_trace(f, buf_str(&text));
    silt_status status = buf_ok(&text) ? SILT_OK : error_no_memory(o->err);
    if (status == SILT_OK && strcmp(f->name, "deletionVectors") == 0) status = delta_snapshot_each_file(s, false, file_has_dv, out, o->err);
    buf_dispose(&text);
    delta_snapshot_release(s);
    return status;
}

static silt_status history_has_trace(const alter_run *run, const removable_feature *f, bool *out) {
    int64_t earliest, latest;
    TRY(delta_version_range(run->o->env->delta, run->spec->root, &earliest, &latest, run->o->err));
    if (is_protection(f)) {
        *out = earliest < delta_config_i64(&run->target.metadata.configuration, PROTECTED_BEFORE);
        return SILT_OK;
    }
    TRY(oldest_has_trace(run, f, earliest, out));
    for (int64_t v = earliest; !*out && v <= latest; v++) TRY(commit_has_trace(run, f, v, out));
    return SILT_OK;
}

static silt_status wait_for_retention(const alter_run *run) {
    str period = delta_config_str(&run->target.metadata.configuration, RETENTION);
    return err_DELTA_FEATURE_DROP_WAIT_FOR_RETENTION_PERIOD(run->o->err, run->spec->name, period);
}

static silt_status drop_truncated(alter_run *run, const removable_feature *f, bool changed) {
    const op *o = run->o;
    if (changed) {
        TRY(empty_commit_and_checkpoint(run)); /* from here on there is a state without the feature to rebuild from */
        return wait_for_retention(run);
    }
    int64_t keep_ms = delta_config_interval_ms(&run->target.metadata.configuration, RETENTION);
    size_t removed;
    bool traces = false;
    TRY(delta_log_truncate(run->snapshot, time_now_ms() - (keep_ms > 0 ? keep_ms : 0), &removed, o->err));
    TRY(history_has_trace(run, f, &traces));
    if (traces && is_protection(f)) {
        TRY(empty_commit_and_checkpoint(run));
        return err_DELTA_FEATURE_DROP_CHECKPOINT_PROTECTION_WAIT_FOR_RETENTION_PERIOD(o->err, delta_config_str(&run->target.metadata.configuration, RETENTION));
    }
    if (traces) return err_DELTA_FEATURE_DROP_HISTORICAL_VERSIONS_EXIST(o->err, run->spec->name);
    return commit_drop(run, f, false);
}

silt_status alter_drop_feature(alter_run *run) {
    const removable_feature *f;
    bool changed = false;
    run->nothing = true; /* commits by itself */
    TRY(check(run, &f));
    if (f->retire) TRY(f->retire(run, &changed));
    return run->spec->truncate_history ? drop_truncated(run, f, changed) : drop_protected(run, f);
}
