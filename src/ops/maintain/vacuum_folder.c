/*
 * Garbage by looking at the folder. The retained files are known by their hashes, so a walk needs names alone for them: only what is not retained costs
 * a look at its age. A table of a million files is walked without holding them.
 */
#include "base/uri.h"
#include "delta/properties.h"
#include "ops/maintain/vacuum_run.h"

/* Temporary files that a writer of this engine left when it died. */
static bool is_leftover(str name) { return str_starts_with(name, STR(".silt-")) && str_ends_with(name, STR(".tmp")); }

static bool has_iceberg_metadata(const vacuum_run *v) {
    str formats = str_map_get(&delta_snapshot_metadata(v->spec->snapshot)->configuration, STR("delta.universalFormat.enabledFormats")), format;
    while (formats.ptr && str_next(&formats, ',', &format))
        if (str_eq_ascii_fold(str_trim(format), STR("iceberg"))) return true;
    return false;
}

bool vacuum_hides_name(const vacuum_run *v, str name) {
    const delta_metadata *m = delta_snapshot_metadata(v->spec->snapshot);
    if (str_eqz(name, "metadata") && has_iceberg_metadata(v)) return true;
    if (name.len == 0 || (name.ptr[0] != '.' && name.ptr[0] != '_')) return false;
    if (str_starts_with(name, STR("_delta_index")) || str_starts_with(name, STR("_change_data"))) return false;
    for (size_t i = 0; i < m->n_partition_columns; i++) {
        str column = m->partition_columns[i];
        if (name.len > column.len && str_starts_with(name, column) && name.ptr[column.len] == '=') return false;
    }
    return true;
}

bool vacuum_is_hidden(const vacuum_run *v, str path) {
    str part;
    while (path.len && str_next(&path, '/', &part))
        if (vacuum_hides_name(v, part)) return true;
    return false;
}

/* The folder of another table's log: "sub" of "sub/_delta_log" and "sub/_delta_log/x"; {NULL,0} where it is none. */
static str table_in(str path) {
    size_t at = str_find(path, STR("/_delta_log"));
    if (at == SIZE_MAX || at == 0) return STR_NULL;
    str rest = str_slice(path, at + sizeof "/_delta_log" - 1, path.len);
    return rest.len == 0 || rest.ptr[0] == '/' ? str_slice(path, 0, at) : STR_NULL;
}

/* Several threads at once. A store without folders tells of files in hidden ones too, so every part of the path counts. */
static store_walk_wish look(void *ctx, const store_walk_entry *e) {
    vacuum_run *v = ctx;
    str name = path_name(e->path);
    if (e->kind == STORE_LINK || !str_is_null(table_in(e->path))) return STORE_WALK_TAKE;
    if (name.len < e->path.len && vacuum_is_hidden(v, str_slice(e->path, 0, e->path.len - name.len - 1))) return STORE_WALK_SKIP;
    if (vacuum_hides_name(v, name)) {
        if (e->kind == STORE_FILE && is_leftover(name)) return STORE_WALK_TAKE;
        if (e->kind == STORE_FILE && str_ends_with(name, STR(".crc"))) __atomic_store_n(&v->has_checksums, true, __ATOMIC_RELAXED);
        return STORE_WALK_SKIP;
    }
    if (e->kind == STORE_FILE && delta_retained_has(v->retained, e->path)) return STORE_WALK_PASS;
    return STORE_WALK_TAKE;
}

/* What a link leads to is in use, whoever made it. */
static silt_status take_link(vacuum_run *v, str path, silt_error *err) {
    store *s = v->o->env->delta->store;
    str root, target, whole = path_join(v->o->a, v->spec->root, path);
    silt_error why = {.status = SILT_OK};
    if (str_is_null(whole)) return error_no_memory(err);
    if (store_real_path(s, whole, v->o->a, &target, &why) != SILT_OK)
        return why.status == SILT_NO_MEMORY ? error_no_memory(err) : SILT_OK; /* it leads nowhere */
    TRY(store_real_path(s, v->spec->root, v->o->a, &root, err));
    if (target.len <= root.len + 1 || !str_starts_with(target, root) || target.ptr[root.len] != '/') return SILT_OK;
    target = str_slice(target, root.len + 1, target.len);
    return ARENA_PUSH(v->o->a, v->in_use, v->n_in_use, v->in_use_capacity, target) ? SILT_OK : error_no_memory(err);
}

static silt_status take_folder(vacuum_run *v, const store_walk_entry *e, silt_error *err) {
    v->n_folders_seen++;
    if (e->n_files > 0) return SILT_OK;
    vacuum_folder f = {.path = arena_str(v->o->a, e->path), .n_folders = e->n_folders, .is_old = e->modified_ms < v->folder_cutoff_ms};
    if (str_is_null(f.path) || !ARENA_PUSH(v->o->a, v->folders, v->n_folders, v->folders_capacity, f)) return error_no_memory(err);
    return SILT_OK;
}

static silt_status take_file(vacuum_run *v, const store_walk_entry *e, silt_error *err) {
    if (e->modified_ms >= v->cutoff_ms) return SILT_OK;
    vacuum_file f = {.path = arena_str(v->o->a, e->path), .size_bytes = e->size_bytes};
    if (str_is_null(f.path) || !ARENA_PUSH(v->o->a, v->files, v->n_files, v->files_capacity, f)) return error_no_memory(err);
    return SILT_OK;
}

/* Whoever made a table inside of this one did not mean its files to be garbage. Entries of one log mostly come together. */
static silt_status take_table(vacuum_run *v, str path, silt_error *err) {
    if (v->n_tables > 0 && str_eq(v->tables[v->n_tables - 1], path)) return SILT_OK;
    str copy = arena_str(v->o->a, path);
    return !str_is_null(copy) && ARENA_PUSH(v->o->a, v->tables, v->n_tables, v->tables_capacity, copy) ? SILT_OK : error_no_memory(err);
}

static silt_status take(void *ctx, const store_walk_entry *e, silt_error *err) {
    vacuum_run *v = ctx;
    str table = table_in(e->path);
    if (!str_is_null(table)) return take_table(v, table, err);
    if (e->kind == STORE_LINK) return take_link(v, e->path, err);
    return e->kind == STORE_FOLDER ? take_folder(v, e, err) : take_file(v, e, err);
}

silt_status vacuum_find_in_folder(vacuum_run *v) {
    const delta_env *env = v->o->env->delta;
    const store_walker w = {.ctx = v, .n_threads = env->n_threads, .cancel = env->cancel, .look = look, .take = take};
    if (v->o->env->progress) v->o->env->progress(v->o->env->progress_ctx, "listing files", -1);
    return store_walk(env->store, v->spec->root, &w, v->o->err);
}
