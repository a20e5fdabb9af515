/*
 * RESTORE. Files are the same where path and deletion vector are: a file whose rows were deleted since comes back with the vector that it had. Files that come back bring the row
 * ids that they had, and the mark of ids never falls, so that no id is given out twice. What the log keeps about itself rather than about the table (since when commits have
 * timestamps, the names of the row id columns) stays as it is now, and identity columns go on where they are.
 */
#include "ops/maintain/restore.h"

#include "base/time.h"
#include "delta/file_batch.h"
#include "delta/metadata_copy.h"
#include "delta/path_set.h"
#include "delta/properties.h"
#include "delta/protocol_upgrade.h"
#include "ops/commit.h"
#include "ops/identity.h"
#include "ops/maintain/presence.h"
#include "ops/maintain/running_vacuum.h"

typedef struct restore_run {
    const op *o;
    const restore_spec *spec;
    delta_txn *txn;
    path_set now, then;  /* keys of the files of both versions */
    path_set unnumbered; /* of those now that have no row ids, where the target's rows have them */
    uint8_t *comes;      /* by number in the target */
    uint8_t *goes;       /* by number in the current version */
    restore_result *out;
} restore_run;

/* ---- which files ---- */

/* Path and vector as one text: nearly always the snapshot's own. */
static silt_status file_key_of(const op *o, const delta_add *add, str *out) {
    if (!add->dv.storage && path_is_plain(add->path)) {
        *out = add->path;
        return SILT_OK;
    }
    char *text = arena_alloc(o->a, add->path.len + 1);
    if (!text) return error_no_memory(o->err);
    str path = {text, path_canonical(add->path, text)};
    str vector = add->dv.storage ? delta_dv_unique_id(&add->dv, o->a) : STR("");
    *out = add->dv.storage ? arena_printf(o->a, "%.*s\n%.*s", STR_ARG(path), STR_ARG(vector)) : path;
    return str_is_null(*out) || str_is_null(vector) ? error_no_memory(o->err) : SILT_OK;
}

static bool tracks_rows(const delta_snapshot *s) { return delta_config_bool(&delta_snapshot_metadata(s)->configuration, "delta.enableRowTracking"); }

static silt_status note_current(void *ctx, size_t i, const delta_add *add, silt_error *err) {
    restore_run *r = ctx;
    const op *o = r->o;
    str key;
    bool added, ok;
    (void)i;
    TRY(file_key_of(o, add, &key));
    ok = path_set_add(&r->now, key, o->a, &added);
    if (ok && add->base_row_id < 0 && tracks_rows(r->spec->target)) ok = path_set_add(&r->unnumbered, key, o->a, &added);
    return ok ? SILT_OK : error_no_memory(err);
}

/* A file that lost its row ids (row tracking was dropped) comes with those that it had. */
static silt_status compare_target(void *ctx, size_t i, const delta_add *add, silt_error *err) {
    restore_run *r = ctx;
    str key;
    bool added;
    TRY(file_key_of(r->o, add, &key));
    if (!path_set_add(&r->then, key, r->o->a, &added)) return error_no_memory(err);
    r->comes[i] = !path_set_has(&r->now, key) || (add->base_row_id >= 0 && path_set_has(&r->unnumbered, key));
    if (!r->comes[i]) return SILT_OK;
    r->out->restored_files++;
    r->out->restored_bytes += add->size_bytes;
    return SILT_OK;
}

static silt_status compare_current(void *ctx, size_t i, const delta_add *add, silt_error *err) {
    restore_run *r = ctx;
    str key;
    (void)err;
    TRY(file_key_of(r->o, add, &key));
    r->goes[i] = !path_set_has(&r->then, key);
    if (!r->goes[i]) return SILT_OK;
    r->out->removed_files++;
    r->out->removed_bytes += add->size_bytes;
    return SILT_OK;
}

static silt_status compare(restore_run *r) {
    const op *o = r->o;
    const restore_spec *spec = r->spec;
    r->comes = ARENA_ARRAY(o->a, delta_snapshot_n_files(spec->target) + 1, uint8_t);
    r->goes = ARENA_ARRAY(o->a, delta_snapshot_n_files(spec->current) + 1, uint8_t);
    if (!r->comes || !r->goes) return error_no_memory(o->err);
    TRY(delta_snapshot_each_file(spec->current, false, note_current, r, o->err));
    TRY(delta_snapshot_each_file(spec->target, false, compare_target, r, o->err));
    TRY(delta_snapshot_each_file(spec->current, false, compare_current, r, o->err));
    r->out->files_after = (int64_t)delta_snapshot_n_files(spec->target);
    r->out->size_after = delta_snapshot_size_bytes(spec->target);
    return SILT_OK;
}

/* Fails with the first names in the message and as many as fit in the detail. */
static silt_status check_present(const op *o, const restore_run *r) {
    missing_files missing;
    buf names;
    if (ops_setting_bool(o, "spark.sql.files.ignoreMissingFiles", false)) return SILT_OK;
    TRY(ops_find_missing(o, r->spec->target, r->comes, &missing));
    if (missing.n == 0) return SILT_OK;
    buf_init(&names, BUF_MAX_DEFAULT);
    for (size_t i = 0; i < missing.n && i < 100; i++) buf_printf(&names, "%s%.*s", i ? ", " : "", STR_ARG(missing.paths[i]));
    silt_status status = err_RESTORE_FILES_MISSING(o->err, delta_snapshot_version(r->spec->target), (int64_t)missing.n, r->out->restored_files, missing.paths[0]);
    error_detail(o->err, "%s%.*s", missing.n > 100 ? "the first 100: " : "", STR_ARG(buf_str(&names)));
    buf_dispose(&names);
    return status;
}

/* A file that is there now may be gone in a moment. */
static silt_status check_no_vacuum(const op *o, const restore_run *r, int64_t newest) {
    int64_t began;
    str file;
    if (ops_setting_bool(o, "silt.restore.besideVacuum", false)) return SILT_OK;
    TRY(ops_vacuum_may_remove(o, r->spec->current, r->spec->target, newest, r->comes, &began, &file));
    return began < 0 ? SILT_OK : err_RESTORE_BESIDE_VACUUM(o->err, began, file);
}

static silt_status check_files(const op *o, const restore_run *r, int64_t newest) {
    if (r->out->restored_files == 0) return SILT_OK;
    TRY(check_present(o, r));
    return check_no_vacuum(o, r, newest);
}

/* Of the commits that a RESTORE steps over, those of VACUUM are the ones that matter. */
static silt_status check_files_again(void *ctx, int64_t newest, silt_error *err) {
    const restore_run *r = ctx;
    const op o = {r->o->env, r->o->a, err};
    return check_files(&o, r, newest);
}

/* ---- metadata, protocol, domains ---- */

/* What the log keeps about itself. For the table's whole life: names of the row id columns, and up to where history is protected: those of now, or, where the feature was dropped since,
 * those of then. The times since when commits have timestamps are those of now, as long as there are timestamps; where they come back, the commit writes new ones. */
static const char *const for_life[] = {"delta.rowTracking.materializedRowIdColumnName", "delta.rowTracking.materializedRowCommitVersionColumnName",
                                       "delta.requireCheckpointProtectionBeforeVersion"};
static const char *const timestamp_begin[] = {"delta.inCommitTimestampEnablementVersion", "delta.inCommitTimestampEnablementTimestamp"};

static bool is_one_of(str key, const char *const *keys, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (str_eqz(key, keys[i])) return true;
    return false;
}

static bool is_for_life(str key) { return is_one_of(key, for_life, ARRAY_LEN(for_life)); }
static bool is_timestamp_begin(str key) { return is_one_of(key, timestamp_begin, ARRAY_LEN(timestamp_begin)); }

static bool has_key(const str_map *map, str key) {
    for (size_t i = 0; i < map->count; i++)
        if (str_eq(map->keys[i], key)) return true;
    return false;
}

static silt_status merge_configuration(const op *o, const str_map *now, const str_map *then, str_map *out) {
    str *keys = ARENA_ARRAY(o->a, now->count + then->count + 1, str), *values = ARENA_ARRAY(o->a, now->count + then->count + 1, str);
    bool timestamps = delta_config_bool(then, "delta.enableInCommitTimestamps");
    size_t n = 0;
    if (!keys || !values) return error_no_memory(o->err);
    for (size_t i = 0; i < then->count; i++) {
        str key = then->keys[i];
        if (is_timestamp_begin(key) || (is_for_life(key) && has_key(now, key))) continue;
        keys[n] = key;
        values[n++] = then->values[i];
    }
    for (size_t i = 0; i < now->count; i++) {
        str key = now->keys[i];
        if (!is_for_life(key) && !(timestamps && is_timestamp_begin(key))) continue;
        keys[n] = key;
        values[n++] = now->values[i];
    }
    *out = (str_map){keys, values, n};
    return SILT_OK;
}

static silt_status stage_metadata(const restore_run *r) {
    const op *o = r->o;
    const delta_metadata *now = delta_snapshot_metadata(r->spec->current);
    delta_metadata m = *delta_snapshot_metadata(r->spec->target);
    TRY(merge_configuration(o, &now->configuration, &m.configuration, &m.configuration));
    TRY(ops_identity_keep_marks(o, now->schema, &m));
    return delta_txn_set_metadata(r->txn, &m, o->err);
}

static silt_status merged_protocol(const restore_run *r, delta_protocol *out) {
    const op *o = r->o;
    const delta_protocol *now = delta_snapshot_protocol(r->spec->current), *then = delta_snapshot_protocol(r->spec->target);
    if (ops_setting_bool(o, "spark.databricks.delta.restore.protocolDowngradeAllowed", false)) {
        *out = *then;
        return SILT_OK;
    }
    return ops_protocol_merge(o, now, then, out);
}

static silt_status stage_protocol(const restore_run *r) {
    const op *o = r->o;
    delta_protocol p;
    ops_result told = {0};
    TRY(merged_protocol(r, &p));
    TRY(ops_protocol_upgrade(o, delta_snapshot_protocol(r->spec->current), &p, &told));
    memcpy(r->out->note, told.note, sizeof told.note);
    return delta_txn_set_protocol(r->txn, &p, o->err);
}

/* The clustering columns of then; none where there was no clustering, because the feature stays. Row ids are the transaction's, every other domain stays as it is. */
static silt_status stage_clustering(const restore_run *r) {
    const delta_domain *now = delta_snapshot_find_domain(r->spec->current, STR(CLUSTERING_DOMAIN)),
                       *then = delta_snapshot_find_domain(r->spec->target, STR(CLUSTERING_DOMAIN));
    if (!now && !then) return SILT_OK;
    return delta_txn_set_domain(r->txn, STR(CLUSTERING_DOMAIN), then ? then->configuration : STR(CLUSTERING_NONE), false, r->o->err);
}

/* ---- files ---- */

static silt_status stage_add(void *ctx, size_t i, const delta_add *add, silt_error *err) {
    const restore_run *r = ctx;
    delta_add back = *add;
    if (!r->comes[i]) return SILT_OK;
    back.data_change = true;
    return delta_txn_add(r->txn, &back, err);
}

/* With all of its statistics, as Spark leaves them here. */
static silt_status stage_remove(void *ctx, size_t i, const delta_add *add, silt_error *err) {
    const restore_run *r = ctx;
    if (!r->goes[i]) return SILT_OK;
    delta_remove gone = {.path = add->path,
                         .deletion_timestamp_ms = time_now_ms(),
                         .data_change = true,
                         .extended_file_metadata = true,
                         .partition_values = add->partition_values,
                         .size_bytes = add->size_bytes,
                         .stats = add->stats,
                         .tags = add->tags,
                         .dv = add->dv,
                         .base_row_id = add->base_row_id,
                         .default_row_commit_version = add->default_row_commit_version};
    return delta_txn_remove(r->txn, &gone, err);
}

typedef silt_status (*file_fn)(void *ctx, size_t i, const delta_add *add, silt_error *err);

/* The chosen files with their statistics: one by one where they are few of many, since the others' need not be read then. */
static silt_status each_chosen(restore_run *r, const delta_snapshot *s, const uint8_t *chosen, int64_t n_chosen, file_fn fn) {
    const op *o = r->o;
    size_t n = delta_snapshot_n_files(s);
    if (n_chosen > 100 || n < 1000) return n_chosen > 0 ? delta_snapshot_each_file(s, true, fn, r, o->err) : SILT_OK;
    for (size_t i = 0; i < n; i++) {
        delta_add add;
        if (!chosen[i]) continue;
        TRY(delta_snapshot_file(s, i, true, o->a, &add, o->err));
        TRY(fn(r, i, &add, o->err));
    }
    return SILT_OK;
}

static silt_status stage_files(restore_run *r) {
    TRY(each_chosen(r, r->spec->target, r->comes, r->out->restored_files, stage_add));
    return each_chosen(r, r->spec->current, r->goes, r->out->removed_files, stage_remove);
}

/* ---- commit ---- */

static silt_status parameters(const restore_run *r, str *out) {
    json_object j;
    ops_json_object_begin(&j);
    if (str_is_null(r->spec->timestamp)) ops_json_object_number(&j, "version", delta_snapshot_version(r->spec->target));
    else ops_json_object_str(&j, "version", STR_NULL);
    ops_json_object_str(&j, "timestamp", r->spec->timestamp);
    *out = ops_json_object_end(&j, r->o->a);
    return str_is_null(*out) ? error_no_memory(r->o->err) : SILT_OK;
}

static silt_status metrics(const restore_run *r, str *out) {
    const restore_result *n = r->out;
    json_object j;
    ops_json_object_begin(&j);
    ops_json_object_count(&j, "numRestoredFiles", n->restored_files);
    ops_json_object_count(&j, "removedFilesSize", n->removed_bytes);
    ops_json_object_count(&j, "numRemovedFiles", n->removed_files);
    ops_json_object_count(&j, "restoredFilesSize", n->restored_bytes);
    ops_json_object_count(&j, "numOfFilesAfterRestore", n->files_after);
    ops_json_object_count(&j, "tableSizeAfterRestore", n->size_after);
    *out = ops_json_object_end(&j, r->o->a);
    return str_is_null(*out) ? error_no_memory(r->o->err) : SILT_OK;
}

static silt_status commit(const restore_run *r) {
    const op *o = r->o;
    commit_target target = {r->spec->table_name, r->spec->root, delta_snapshot_metadata(r->spec->target)};
    delta_commit_info info = {.operation = "RESTORE",
                              .user_metadata = ops_setting(o, "spark.databricks.delta.commitInfo.userMetadata"),
                              .isolation_level = STR("Serializable"),
                              .is_blind_append_known = true};
    TRY(parameters(r, &info.operation_parameters));
    TRY(metrics(r, &info.operation_metrics));
    return ops_commit(o, &target, r->txn, &info, &r->out->version);
}

static silt_status run(restore_run *r) {
    const op *o = r->o;
    TRY(compare(r));
    TRY(check_files(o, r, delta_snapshot_version(r->spec->current)));
    TRY(delta_txn_begin(o->env->delta, r->spec->current, r->spec->root, &r->txn, o->err));
    delta_txn_read_whole_table(r->txn);
    delta_txn_before_retry(r->txn, check_files_again, r);
    delta_txn_raise_row_id_mark(r->txn, r->spec->target);
    TRY(stage_metadata(r));
    TRY(stage_protocol(r));
    TRY(stage_files(r));
    TRY(stage_clustering(r));
    return commit(r);
}

silt_status ops_restore(const ops_env *env, const restore_spec *spec, restore_result *out, silt_error *err) {
    op o = {env, arena_new(), err};
    if (!o.a) return error_no_memory(err);
    *out = (restore_result){.version = -1};
    restore_run r = {.o = &o, .spec = spec, .out = out};
    bool is_there = delta_snapshot_version(spec->current) == delta_snapshot_version(spec->target);
    silt_status status = is_there ? SILT_OK : run(&r);
    delta_txn_free(r.txn);
    arena_free(o.a);
    return status;
}
