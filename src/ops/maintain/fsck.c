/*
 * FSCK REPAIR TABLE: entries of the newest version whose data file or deletion vector is gone leave the log, so that what is left can be read again.
 * Only the store's own word that a file is absent counts; a look that fails for any other reason ends the statement, for a folder that may not be read
 * has lost nothing.
 */
#include <stdio.h>

#include "base/uri.h"
#include "delta/properties.h"
#include "ops/commit.h"
#include "ops/describe_rows.h"
#include "ops/maintain/presence.h"
#include "ops/maintain/vacuum.h"

#define CHUNK 256 /* of local files, for whose arena a look is no match */

enum { DATA_MISSING = 1, VECTOR_MISSING = 2 };

typedef struct fsck_run {
    size_t chunk; /**< files that one thread asks for one after the other */
    const op *o;
    const fsck_spec *spec;
    uint8_t *missing; /**< flags by number of the file */
    size_t n_files, n_missing;
    path_set listed;
    size_t n_unreachable; /**< outside of the table, in folders that are not there; counted by several threads */
} fsck_run;

/* ---- looking ---- */

static silt_status look_for(store *s, str path, arena *a, bool *out_absent, silt_error *err) {
    store_entry e;
    silt_error why = {.status = SILT_OK};
    silt_status status = store_stat(s, path, a, &e, &why);
    *out_absent = status == SILT_NOT_FOUND;
    if (status == SILT_OK || status == SILT_NOT_FOUND) return SILT_OK;
    if (err) *err = why;
    return status;
}

static bool is_below(str path, str root) { return path.len > root.len && str_starts_with(path, root) && path.ptr[root.len] == '/'; }

/* A file of another table (clones) whose whole folder is not there: its disk may not be mounted, which looks the same as gone. */
static silt_status is_absent(fsck_run *f, str path, arena *a, bool *out, silt_error *err) {
    store *s;
    str where;
    bool no_folder;
    *out = false;
    TRY(delta_resolve_path(f->o->env->delta, f->spec->root, path, a, &s, &where, err));
    if (s == f->o->env->delta->store && ops_is_listed(&f->listed, f->spec->root, where)) return SILT_OK;
    TRY(look_for(s, where, a, out, err));
    if (!*out || is_below(where, f->spec->root)) return SILT_OK;
    TRY(look_for(s, path_parent(where), a, &no_folder, err));
    if (no_folder) __atomic_add_fetch(&f->n_unreachable, 1, __ATOMIC_RELAXED);
    *out = !no_folder;
    return SILT_OK;
}

static silt_status look_at(fsck_run *f, size_t i, arena *a, silt_error *err) {
    delta_add add;
    str vector;
    bool absent;
    TRY(delta_snapshot_file(f->spec->snapshot, i, false, a, &add, err));
    TRY(is_absent(f, add.path, a, &absent, err));
    if (absent) f->missing[i] |= DATA_MISSING;
    TRY(ops_vector_path(&add.dv, a, &vector, err));
    if (str_is_null(vector)) return SILT_OK;
    TRY(is_absent(f, vector, a, &absent, err));
    if (absent) f->missing[i] |= VECTOR_MISSING;
    return SILT_OK;
}

static silt_status look_at_chunk(void *ctx, size_t chunk, silt_error *err) {
    fsck_run *f = ctx;
    arena *a = arena_new();
    silt_status status = a ? cancel_check(f->o->env->delta->cancel, err) : error_no_memory(err);
    for (size_t i = chunk * f->chunk; status == SILT_OK && i < (chunk + 1) * f->chunk && i < f->n_files; i++) {
        arena_reset(a);
        status = look_at(f, i, a, err);
    }
    arena_free(a);
    return status;
}

static silt_status look(fsck_run *f) {
    const op *o = f->o;
    f->n_files = delta_snapshot_n_files(f->spec->snapshot);
    f->missing = ARENA_ARRAY(o->a, f->n_files + 1, uint8_t);
    if (!f->missing) return error_no_memory(o->err);
    if (o->env->progress) o->env->progress(o->env->progress_ctx, "looking for files", -1);
    store *s = o->env->delta->store;
    f->chunk = store_is_remote(s) ? 1 : CHUNK;
    TRY(ops_list_present(o, f->spec->snapshot, NULL, &f->listed));
    TRY(thread_for(store_threads(s, o->env->delta->n_threads), (f->n_files + f->chunk - 1) / f->chunk, look_at_chunk, f, o->err));
    for (size_t i = 0; i < f->n_files; i++) f->n_missing += f->missing[i] != 0;
    return SILT_OK;
}

/* ---- removing ---- */

static silt_status stage(const fsck_run *f, delta_txn *txn) {
    for (size_t i = 0; i < f->n_files; i++) {
        delta_add add;
        if (!f->missing[i]) continue;
        TRY(delta_snapshot_file(f->spec->snapshot, i, true, f->o->a, &add, f->o->err));
        TRY(delta_txn_read_file(txn, add.path, f->o->err));
        TRY(delta_txn_remove_file(txn, &add, true, f->o->err));
    }
    return SILT_OK;
}

static silt_status commit(const fsck_run *f, int64_t *out_version) {
    const op *o = f->o;
    const delta_metadata *m = delta_snapshot_metadata(f->spec->snapshot);
    const commit_target target = {f->spec->table_name, f->spec->root, m};
    delta_txn *txn = NULL;
    str metrics = arena_printf(o->a, "{\"numRemovedFiles\":\"%zu\",\"numFilesScanned\":\"%zu\"}", f->n_missing, f->n_files);
    const delta_commit_info info = {.operation = "FSCK", .operation_parameters = STR("{}"), .operation_metrics = metrics, .is_blind_append_known = true};
    if (str_is_null(metrics)) return error_no_memory(o->err);
    if (delta_config_bool(&m->configuration, "delta.appendOnly")) return err_DELTA_CANNOT_MODIFY_APPEND_ONLY(o->err, f->spec->table_name);
    silt_status status = delta_txn_begin(o->env->delta, f->spec->snapshot, f->spec->root, &txn, o->err);
    if (status == SILT_OK) status = stage(f, txn);
    if (status == SILT_OK) status = ops_commit(o, &target, txn, &info, out_version);
    delta_txn_free(txn);
    return status;
}

/* ---- the rows ---- */

static silt_status add_rows(const fsck_run *f, arrow_builder *rows, silt_error *err) {
    describe_row row = {.rows = rows};
    for (size_t i = 0; i < f->n_files; i++) {
        delta_add add;
        str vector;
        if (!f->missing[i]) continue;
        TRY(delta_snapshot_file(f->spec->snapshot, i, false, f->o->a, &add, err));
        TRY(ops_vector_path(&add.dv, f->o->a, &vector, err));
        ops_describe_str(&row, add.path);
        ops_describe_bool(&row, f->missing[i] & DATA_MISSING);
        ops_describe_str(&row, vector);
        ops_describe_bool(&row, f->missing[i] & VECTOR_MISSING);
        TRY(ops_describe_finish(&row, err));
    }
    return SILT_OK;
}

static void note_unreachable(const fsck_run *f) {
    char text[256];
    if (f->n_unreachable == 0) return;
    (void)snprintf(text, sizeof text, "%zu files outside of the table lie in folders that are not there; their entries stay, for a disk may not be mounted",
                   f->n_unreachable);
    ops_note(f->o, text);
}

static silt_status run(fsck_run *f, ops_result *out) {
    const delta_snapshot *s = f->spec->snapshot;
    TRY(delta_protocol_check_write(delta_snapshot_protocol(s), delta_snapshot_metadata(s), f->spec->table_name, f->o->err));
    TRY(look(f));
    note_unreachable(f);
    out->files = (int64_t)f->n_missing;
    return f->n_missing == 0 || f->spec->dry_run ? SILT_OK : commit(f, &out->version);
}

silt_status ops_fsck(const ops_env *env, const fsck_spec *spec, arena *a, const data_type **out_type, arrow_builder **out_rows, ops_result *out,
                     silt_error *err) {
    static const char columns[] = "dataFilePath STRING, dataFileMissing BOOLEAN, deletionVectorPath STRING, deletionVectorFileMissing BOOLEAN";
    op o = {env, arena_new(), err};
    arrow_builder *rows = NULL;
    fsck_run f = {.o = &o, .spec = spec};
    *out = (ops_result){.version = -1};
    silt_status status = o.a ? run(&f, out) : error_no_memory(err);
    if (status == SILT_OK) status = ops_describe_begin(columns, a, out_type, &rows, err);
    if (status == SILT_OK) status = add_rows(&f, rows, err);
    if (status == SILT_OK)
        *out_rows = rows;
    else if (rows)
        arrow_builder_free(rows);
    arena_free(o.a);
    return status;
}
