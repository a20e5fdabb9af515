/* From what a user says of a range of changes to versions and a schema to read them by. */
#include "ops/changes.h"

#include "delta/changes.h"
#include "delta/properties.h"
#include "ops/internal.h"

#define FEED_CONF "spark.databricks.delta.changeDataFeed."

typedef struct range {
    int64_t from, to;
} range;

/* The time is behind the newest commit. */
static bool is_late(silt_status status, const silt_error *why) {
    return status != SILT_OK && strcmp(why->condition, "DELTA_TIMESTAMP_GREATER_THAN_COMMIT") == 0;
}

static silt_status first_version(const op *o, const changes_spec *spec, bool may_exceed, int64_t *out) {
    const delta_snapshot *latest = spec->latest;
    silt_error why = {0};
    *out = spec->from.version;
    if (!spec->from.has_time) return SILT_OK;
    silt_status status =
        delta_changes_version_from(delta_snapshot_env(latest), delta_snapshot_root(latest), spec->from.time_ms, out, &why);
    if (may_exceed && is_late(status, &why)) {
        *out = delta_snapshot_version(latest) + 1;
        return SILT_OK;
    }
    if (status != SILT_OK && o->err) *o->err = why;
    return status;
}

static silt_status last_version(const op *o, const changes_spec *spec, bool may_exceed, int64_t *out) {
    const delta_snapshot *latest = spec->latest;
    int64_t newest = delta_snapshot_version(latest);
    silt_error why = {0};
    *out = spec->to.has_version ? spec->to.version : newest;
    if (!spec->to.has_time) return SILT_OK;
    silt_status status = delta_version_at(delta_snapshot_env(latest), delta_snapshot_root(latest), spec->to.time_ms, out, &why);
    if (may_exceed && is_late(status, &why)) {
        *out = newest;
        return SILT_OK;
    }
    if (status != SILT_OK && o->err) *o->err = why;
    return status;
}

static silt_status find_range(const op *o, const changes_spec *spec, range *out) {
    bool may_exceed = ops_setting_bool(o, FEED_CONF "timestampOutOfRange.enabled", false);
    int64_t newest = delta_snapshot_version(spec->latest);
    TRY(first_version(o, spec, may_exceed, &out->from));
    TRY(last_version(o, spec, may_exceed, &out->to));
    if (out->from < 0)
        return err_DELTA_LOG_FILE_NOT_FOUND(o->err, arena_printf(o->a, "_delta_log/%020lld.json", (long long)out->from));
    if (out->from > newest && may_exceed) {
        out->to = out->from - 1; /* no versions */
        return SILT_OK;
    }
    if (out->from > newest) return err_DELTA_CDC_START_VERSION_AFTER_LATEST(o->err, out->from, newest);
    if (out->to < out->from) return err_DELTA_INVALID_CDC_RANGE(o->err, out->from, out->to);
    if (out->to > newest) out->to = newest;
    return SILT_OK;
}

/* The snapshot whose schema the rows have; the caller's reference. */
static silt_status read_snapshot(const op *o, const delta_snapshot *latest, const range *r, delta_snapshot **out) {
    str mapping = delta_config_str(&delta_snapshot_metadata(latest)->configuration, "delta.columnMapping.mode");
    str mode = ops_setting(o, FEED_CONF "defaultSchemaModeForColumnMappingTable");
    bool mapped = mapping.len > 0 && !str_eq_ascii_fold(mapping, STR("none"));
    bool by_end = mapped && (mode.len == 0 || str_eq_ascii_fold(mode, STR("endVersion"))) && r->to >= r->from;
    if (by_end && r->to < delta_snapshot_version(latest))
        return delta_snapshot_load(delta_snapshot_env(latest), delta_snapshot_root(latest), r->to, out, o->err);
    *out = delta_snapshot_retain(latest);
    return SILT_OK;
}

static silt_status changes(const op *o, const changes_spec *spec, table_source *out[2], size_t *out_n) {
    range r;
    delta_snapshot *read;
    TRY(find_range(o, spec, &r));
    TRY(read_snapshot(o, spec->latest, &r, &read));
    const delta_changes_spec wanted = {
        .read = read,
        .from = r.from,
        .to = r.to,
        .unsafe = ops_setting_bool(o, FEED_CONF "unsafeBatchReadOnIncompatibleSchemaChanges.enabled", false)};
    silt_status status = delta_changes_load(&wanted, out, out_n, o->err);
    delta_snapshot_release(read);
    return status;
}

silt_status ops_changes(const ops_env *env, const changes_spec *spec, table_source *out[2], size_t *out_n, silt_error *err) {
    op o = {env, arena_new(), err};
    *out_n = 0;
    if (!o.a) return error_no_memory(err);
    silt_status status = changes(&o, spec, out, out_n);
    arena_free(o.a);
    return status;
}
