/*
 * VACUUM from the retention to the rows. The order of things is what makes it safe beside writers: the state is read before the folder is looked at,
 * files younger than the retention never count, and the log is asked again before anything goes. VACUUM START and VACUUM END tell of it in the table's
 * history, as Delta does.
 */
#include "ops/maintain/vacuum.h"

#include <math.h>
#include <stdio.h>

#include "base/time.h"
#include "delta/properties.h"
#include "ops/describe_rows.h"
#include "ops/maintain/vacuum_run.h"

#define HOUR_MS       INT64_C(3600000)
#define MAX_HOURS     1e9
#define COMMIT_TRIES  10
#define SETTING(name) "spark.databricks.delta." name

/* ---- the retention ---- */

static silt_status too_short(const vacuum_run *v) {
    int64_t hours = (v->default_retention_ms + HOUR_MS - 1) / HOUR_MS;
    return err_DELTA_VACUUM_RETENTION_PERIOD_TOO_SHORT(v->o->err, hours);
}

static silt_status decide_retention(vacuum_run *v) {
    const vacuum_spec *spec = v->spec;
    const delta_metadata *m = delta_snapshot_metadata(spec->snapshot);
    bool ignored = spec->retention_hours != 0 && ops_setting_bool(v->o, SETTING("vacuum.retentionWindowIgnore.enabled"), false);
    v->default_retention_ms = delta_config_interval_ms(&m->configuration, "delta.deletedFileRetentionDuration");
    v->check_enabled = ops_setting_bool(v->o, SETTING("retentionDurationCheck.enabled"), true);
    v->specified_ms = -1;
    if (spec->has_retention && !ignored) {
        if (!(spec->retention_hours >= 0)) return err_DELTA_VACUUM_RETENTION_PERIOD_NEGATIVE(v->o->err);
        v->specified_ms = llround(fmin(spec->retention_hours, MAX_HOURS) * (double)HOUR_MS);
        if (v->check_enabled && v->specified_ms < v->default_retention_ms) return too_short(v);
    }
    v->retention_ms = v->specified_ms >= 0 ? v->specified_ms : v->default_retention_ms;
    v->cutoff_ms = v->now_ms - v->retention_ms;
    v->folder_cutoff_ms = v->now_ms - (v->retention_ms < HOUR_MS ? v->retention_ms : HOUR_MS);
    return SILT_OK;
}

static str time_text(int64_t ms, arena *a) {
    buf b;
    buf_init(&b, 128);
    time_write_timestamp(&b, ms * 1000, ' ', 0, " UTC");
    return buf_take(&b, a);
}

/* A retention below the table's own takes time travel away that readers may count on. */
static silt_status note_lost_versions(const vacuum_run *v) {
    const op *o = v->o;
    char text[512];
    int64_t earliest, latest, first = delta_retained_first_version(v->retained);
    if (v->retention_ms >= v->default_retention_ms || v->out->files == 0) return SILT_OK;
    TRY(delta_version_range(o->env->delta, v->spec->root, &earliest, &latest, o->err));
    if (first <= earliest) return SILT_OK;
    (void)snprintf(
        text, sizeof text,
        "a retention of %g hours is below the table's own %g: versions %lld to %lld %s the files that only they need, and with them time travel to before %.*s",
        (double)v->retention_ms / (double)HOUR_MS, (double)v->default_retention_ms / (double)HOUR_MS, (long long)earliest, (long long)first - 1,
        v->spec->dry_run ? "would lose" : "lose", STR_ARG(time_text(v->cutoff_ms, o->a)));
    ops_note(o, text);
    return SILT_OK;
}

/* ---- history ---- */

/* On every store, unlike Spark: commits are safe on all of them, and a RESTORE sees a VACUUM only by its entries. */
static bool is_logged(const vacuum_run *v) { return ops_setting_bool(v->o, SETTING("vacuum.logging.enabled"), true); }

static silt_status commit_once(const vacuum_run *v, const delta_commit_info *info) {
    const op *o = v->o;
    delta_snapshot *now;
    delta_txn *txn = NULL;
    int64_t version;
    TRY(delta_snapshot_update(o->env->delta, v->spec->snapshot, &now, o->err));
    const commit_target target = {v->spec->table_name, v->spec->root, delta_snapshot_metadata(now)};
    silt_status status = delta_txn_begin(o->env->delta, now, v->spec->root, &txn, o->err);
    if (status == SILT_OK) status = ops_commit(o, &target, txn, info, &version);
    delta_txn_free(txn);
    delta_snapshot_release(now);
    return status;
}

/* An entry without actions: whatever a rival committed, it is still true. */
static silt_status commit_entry(const vacuum_run *v, const char *operation, str parameters, str metrics) {
    if (str_is_null(parameters) || str_is_null(metrics)) return error_no_memory(v->o->err);
    const delta_commit_info info = {.operation = operation,
                                    .operation_parameters = parameters,
                                    .operation_metrics = metrics,
                                    .isolation_level = STR("SnapshotIsolation"),
                                    .is_blind_append_known = true,
                                    .is_blind_append = true};
    silt_status status = SILT_CONFLICT;
    for (int i = 0; i < COMMIT_TRIES && status == SILT_CONFLICT; i++) status = commit_once(v, &info);
    return status;
}

static silt_status commit_start(const vacuum_run *v) {
    arena *a = v->o->a;
    str specified = v->specified_ms >= 0 ? arena_printf(a, ",\"specifiedRetentionMillis\":%lld", (long long)v->specified_ms) : STR("");
    str parameters = arena_printf(a, "{\"retentionCheckEnabled\":%s,\"defaultRetentionMillis\":%lld%.*s}", v->check_enabled ? "true" : "false",
                                  (long long)v->default_retention_ms, STR_ARG(specified));
    str metrics = arena_printf(a, "{\"numFilesToDelete\":\"%lld\",\"sizeOfDataToDelete\":\"%lld\"}", (long long)(v->out->files + v->out->folders),
                               (long long)v->out->bytes);
    return commit_entry(v, "VACUUM START", parameters, metrics);
}

static silt_status commit_end(const vacuum_run *v, bool completed) {
    if (!completed) return commit_entry(v, "VACUUM END", STR("{\"status\":\"FAILED\"}"), STR("{}"));
    str metrics = arena_printf(v->o->a, "{\"numDeletedFiles\":\"%lld\",\"numVacuumedDirectories\":\"%lld\"}", (long long)(v->out->files + v->out->folders),
                               (long long)v->out->folders_visited);
    return commit_entry(v, "VACUUM END", STR("{\"status\":\"COMPLETED\"}"), metrics);
}

/* ---- running ---- */

static silt_status plan(vacuum_run *v) {
    const vacuum_spec *spec = v->spec;
    TRY(delta_retained_load(spec->snapshot, v->cutoff_ms, &v->retained, v->o->err));
    v->lite_version = delta_retained_version_at_cutoff(v->retained);
    v->n_folders_seen = 1;
    TRY(spec->inventory ? vacuum_find_in_inventory(v) : v->is_lite ? vacuum_find_in_log(v) : vacuum_find_in_folder(v));
    return vacuum_settle(v);
}

/* The error of the removal counts, not that of telling about it. */
static silt_status run_removal(vacuum_run *v) {
    bool logged = is_logged(v);
    if (logged) TRY(commit_start(v));
    silt_status status = vacuum_remove(v);
    if (status == SILT_OK) {
        if (!v->spec->inventory && v->out->failed == 0) vacuum_keep_last(v);
        return logged ? commit_end(v, true) : SILT_OK;
    }
    silt_error why = {.status = SILT_OK};
    op own = {v->o->env, v->o->a, &why};
    vacuum_run failed = *v;
    failed.o = &own;
    if (logged) (void)!commit_end(&failed, false);
    return status;
}

/* ---- the rows ---- */

static str location_of(const vacuum_run *v, str path, arena *a) {
    return arena_printf(a, "%s%.*s%s%.*s", store_uri_prefix(v->o->env->delta->store), STR_ARG(v->spec->root), path.len ? "/" : "", STR_ARG(path));
}

static silt_status add_row(const vacuum_run *v, describe_row *row, arena *scratch, str path) {
    arena_reset(scratch);
    str shown = location_of(v, path, scratch);
    if (str_is_null(shown)) return error_no_memory(v->o->err);
    ops_describe_str(row, shown);
    return ops_describe_finish(row, v->o->err);
}

/* Files and folders, both ascending, as one list. */
static silt_status add_rows(const vacuum_run *v, describe_row *row, arena *scratch) {
    if (!v->spec->dry_run) return add_row(v, row, scratch, STR(""));
    for (size_t i = 0, k = 0; i < v->n_files || k < v->n_folders;) {
        bool file = k == v->n_folders || (i < v->n_files && str_cmp(v->files[i].path, v->folders[k].path) < 0);
        TRY(add_row(v, row, scratch, file ? v->files[i++].path : v->folders[k++].path));
    }
    return SILT_OK;
}

static silt_status run(vacuum_run *v) {
    const op *o = v->o;
    const delta_snapshot *s = v->spec->snapshot;
    TRY(delta_protocol_check_write(delta_snapshot_protocol(s), delta_snapshot_metadata(s), v->spec->table_name, o->err));
    TRY(decide_retention(v));
    TRY(plan(v));
    TRY(note_lost_versions(v));
    return v->spec->dry_run ? SILT_OK : run_removal(v);
}

silt_status ops_vacuum(const ops_env *env, const vacuum_spec *spec, arena *a, const data_type **out_type, arrow_builder **out_rows, vacuum_result *out,
                       silt_error *err) {
    op o = {env, arena_new(), err};
    arena *scratch = arena_new();
    arrow_builder *rows = NULL;
    *out = (vacuum_result){0};
    vacuum_run v = {.o = &o, .spec = spec, .out = out, .now_ms = time_now_ms()};
    silt_status status = o.a && scratch ? SILT_OK : error_no_memory(err);
    if (status == SILT_OK) {
        v.is_lite = spec->kind == VACUUM_LITE || (spec->kind == VACUUM_DEFAULT && ops_setting_bool(&o, SETTING("vacuum.lite.enabled"), false));
        status = run(&v);
    }
    if (status == SILT_OK) status = ops_describe_begin("path STRING", a, out_type, &rows, err);
    describe_row row = {.rows = rows};
    if (status == SILT_OK) status = add_rows(&v, &row, scratch);
    if (status == SILT_OK)
        *out_rows = rows;
    else if (rows)
        arrow_builder_free(rows);
    delta_retained_free(v.retained);
    arena_free(scratch);
    arena_free(o.a);
    return status;
}
