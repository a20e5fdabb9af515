/*
 * What a writer must not commit, checked before the first attempt (PROTOCOL.md "Additional Requirements for Writers", "Append-only Tables", "Domain Metadata",
 * "Row Tracking").
 */
#include "base/uri.h"
#include "delta/properties.h"
#include "delta/txn_state.h"

static silt_status check_complete(const delta_txn *t, silt_error *err) {
    if (t->committed) return err_INTERNAL_ERROR(err, "a transaction is committed twice");
    if (!txn_protocol(t) || !txn_metadata(t)) return err_INTERNAL_ERROR(err, "a new table needs protocol and metadata");
    return SILT_OK;
}

#define MANIFESTS "delta.compatibility.symlinkFormatManifest.enabled"

static silt_status refuse_vector(void *ctx, size_t i, const delta_add *add, silt_error *err) {
    const delta_txn *t = ctx;
    (void)i;
    return add->dv.storage ? err_MANIFESTS_WITH_DELETION_VECTORS_LEFT(err, txn_table_name(t)) : SILT_OK;
}

/* Symlink manifests cannot say what deletion vectors and column mapping mean: refused before the commit, as there is no undoing it when the manifests turn out to be impossible. */
static silt_status check_manifests(const delta_txn *t, const delta_metadata *m, silt_error *err) {
    bool is_new = !t->metadata || !delta_config_bool(&t->metadata->configuration, MANIFESTS);
    str mode = delta_config_str(&m->configuration, "delta.columnMapping.mode");
    if (delta_config_bool(&m->configuration, "delta.enableDeletionVectors")) return err_MANIFESTS_WITH_DELETION_VECTORS_ON(err, txn_table_name(t));
    if (mode.len > 0 && !str_eq_ascii_fold(mode, STR("none"))) return err_DELTA_UNSUPPORTED_MANIFEST_GENERATION_WITH_COLUMN_MAPPING(err);
    for (size_t i = 0; i < t->n_files; i++)
        if (!t->files[i].is_remove && t->files[i].as.add.dv.storage) return err_MANIFESTS_WITH_DELETION_VECTORS_LEFT(err, txn_table_name(t));
    if (!is_new || !t->snapshot) return SILT_OK;
    return delta_snapshot_each_file(t->snapshot, false, refuse_vector, (void *)(uintptr_t)t, err);
}

/* The first commit's protocol and metadata, and every change of them, must fit together and be writable by this build. */
static silt_status check_writable(const delta_txn *t, silt_error *err) {
    const delta_metadata *m = txn_metadata(t);
    TRY(delta_protocol_check_write(txn_protocol(t), m, txn_table_name(t), err));
    return delta_config_bool(&m->configuration, MANIFESTS) ? check_manifests(t, m, err) : SILT_OK;
}

/* (path, deletion vector) once per commit, adds and removes together; the paths alone of what is removed are kept for the conflict rules. */
static silt_status check_duplicate_files(delta_txn *t, silt_error *err) {
    path_set seen = {NULL, 0, 0};
    for (size_t i = 0; i < t->n_files; i++) {
        const file_action *f = &t->files[i];
        str path = f->is_remove ? f->as.remove.path : f->as.add.path;
        const delta_dv *dv = f->is_remove ? &f->as.remove.dv : &f->as.add.dv;
        str key = path;
        if (dv->storage) {
            str id = delta_dv_unique_id(dv, t->arena);
            key = arena_printf(t->arena, "%.*s\n%.*s", STR_ARG(path), STR_ARG(id));
            if (str_is_null(key)) return error_no_memory(err);
        }
        bool added;
        if (!path_set_add(&seen, key, t->arena, &added)) return error_no_memory(err);
        if (!added) return err_DELTA_DUPLICATE_ACTIONS_FOUND(err, path);
        if (f->is_remove && !path_set_add(&t->removed_paths, uri_decode(path, t->arena), t->arena, &added)) return error_no_memory(err);
    }
    return SILT_OK;
}

static silt_status check_duplicate_ids(const delta_txn *t, silt_error *err) {
    for (size_t i = 0; i < t->n_txn_ids; i++)
        for (size_t k = 0; k < i; k++)
            if (str_eq(t->txn_ids[i].app_id, t->txn_ids[k].app_id)) return err_DELTA_DUPLICATE_ACTIONS_FOUND(err, t->txn_ids[i].app_id);
    for (size_t i = 0; i < t->n_domains; i++)
        for (size_t k = 0; k < i; k++)
            if (str_eq(t->domains[i].domain, t->domains[k].domain)) return err_DELTA_DUPLICATE_ACTIONS_FOUND(err, t->domains[i].domain);
    return SILT_OK;
}

static silt_status check_domains(const delta_txn *t, silt_error *err) {
    if (t->n_domains == 0 || delta_protocol_has(txn_protocol(t), "domainMetadata")) return SILT_OK;
    return err_DELTA_DOMAIN_METADATA_NOT_SUPPORTED(err, t->domains[0].domain);
}

/* The property as it was read decides: a transaction cannot lift it for itself. */
static silt_status check_append_only(const delta_txn *t, silt_error *err) {
    if (!t->metadata || !delta_config_bool(&t->metadata->configuration, "delta.appendOnly")) return SILT_OK;
    for (size_t i = 0; i < t->n_files; i++)
        if (t->files[i].is_remove && t->files[i].as.remove.data_change) return err_DELTA_CANNOT_MODIFY_APPEND_ONLY(err, txn_table_name(t));
    return SILT_OK;
}

static bool has_partition_value(const delta_add *add, str physical_name) {
    for (size_t i = 0; i < add->partition_values.count; i++)
        if (str_eq(add->partition_values.keys[i], physical_name)) return true;
    return false;
}

/* Every partition column of the schema has a value, or null, in every added file. */
static silt_status check_partition_values(const delta_txn *t, silt_error *err) {
    const delta_metadata *m = txn_metadata(t);
    for (size_t p = 0; p < m->n_partition_columns; p++) {
        int index = schema_find(m->schema, m->partition_columns[p]);
        if (index < 0) return err_DELTA_PARTITION_COLUMN_NOT_FOUND(err, m->partition_columns[p]);
        str physical = m->schema->fields[index].physical_name;
        for (size_t i = 0; i < t->n_files; i++)
            if (!t->files[i].is_remove && !has_partition_value(&t->files[i].as.add, physical))
                return err_INTERNAL_ERROR(err, "an added file lacks the value of a partition column");
    }
    return SILT_OK;
}

typedef struct enablement {
    const delta_txn *t;
    path_set numbered; /* decoded paths of files that this commit gives their ids again (RESTORE to before row tracking was dropped) */
} enablement;

static silt_status has_row_id(void *ctx, size_t i, const delta_add *add, silt_error *err) {
    const enablement *e = ctx;
    (void)i;
    if (add->base_row_id >= 0) return SILT_OK;
    str path = uri_decode(add->path, e->t->arena);
    if (path_set_has(&e->t->removed_paths, path) || path_set_has(&e->numbered, path)) return SILT_OK; /* CREATE OR REPLACE removes them all */
    return err_UNSUPPORTED_FEATURE(err, "enabling row tracking on a table with files that have no row ids (backfill)");
}

/* Enabled row tracking promises an id for every row; files from before would need a backfill. */
static silt_status check_row_tracking_enablement(const delta_txn *t, silt_error *err) {
    bool now = t->new_metadata && delta_config_bool(&t->new_metadata->configuration, "delta.enableRowTracking");
    bool before = t->metadata && delta_config_bool(&t->metadata->configuration, "delta.enableRowTracking");
    if (!now || before || !t->snapshot) return SILT_OK;
    enablement e = {.t = t};
    for (size_t i = 0; i < t->n_files; i++) {
        const file_action *f = &t->files[i];
        bool added;
        if (f->is_remove || f->as.add.base_row_id < 0) continue;
        if (!path_set_add(&e.numbered, uri_decode(f->as.add.path, t->arena), t->arena, &added)) return error_no_memory(err);
    }
    return delta_snapshot_each_file(t->snapshot, false, has_row_id, &e, err);
}

static bool is_blind(const delta_txn *t) {
    if (t->read_whole_table || t->n_read_predicates > 0 || t->read_files.count > 0 || txn_replaces_table(t)) return false;
    return t->removed_paths.count == 0;
}

silt_status commit_check(delta_txn *t, const delta_commit_info *info, silt_error *err) {
    TRY(check_complete(t, err));
    TRY(check_writable(t, err));
    TRY(check_duplicate_files(t, err));
    TRY(check_duplicate_ids(t, err));
    TRY(check_domains(t, err));
    TRY(check_append_only(t, err));
    TRY(check_partition_values(t, err));
    TRY(check_row_tracking_enablement(t, err));
    t->is_blind = is_blind(t);
    t->is_backfill = operation_is_backfill(str_of(info->operation));
    t->isolation = str_is_null(info->isolation_level) ? conflict_isolation_level(t, info->operation) : info->isolation_level;
    return SILT_OK;
}
