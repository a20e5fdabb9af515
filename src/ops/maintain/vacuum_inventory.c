/*
 * VACUUM … USING INVENTORY: garbage by a list that somebody else made (an object store's inventory report), as a query's rows: path STRING, length
 * BIGINT, isDir BOOLEAN, modificationTime BIGINT (ms); other columns are ignored. The list is a hint where to look: whether a file is there and how old
 * it is, the store says.
 */
#include "base/uri.h"
#include "ops/maintain/vacuum_run.h"

enum { PATH, LENGTH, IS_DIR, MODIFIED, N_COLUMNS };

static const struct {
    const char *name;
    type_id type;
} wanted[N_COLUMNS] = {{"path", TYPE_STRING}, {"length", TYPE_LONG}, {"isDir", TYPE_BOOLEAN}, {"modificationTime", TYPE_LONG}};

static silt_status find_columns(const vacuum_run *v, const query *q, size_t out[N_COLUMNS]) {
    for (size_t k = 0; k < N_COLUMNS; k++) {
        size_t found = SIZE_MAX;
        for (size_t i = 0; i < q->n_columns; i++)
            if (str_eqz(q->column_names[i], wanted[k].name) && q->column_types[i]->id == wanted[k].type) found = i;
        if (found == SIZE_MAX) return err_DELTA_INVALID_INVENTORY_SCHEMA(v->o->err);
        out[k] = found;
    }
    return SILT_OK;
}

static bool bit(const void *bits, int64_t i) { return (((const uint8_t *)bits)[i / 8] >> (i % 8)) & 1; }
static bool is_null(const struct ArrowArray *c, int64_t row) { return c->null_count != 0 && c->buffers[0] && !bit(c->buffers[0], row + c->offset); }

static str text_of(const struct ArrowArray *c, int64_t row) {
    const int32_t *ends = (const int32_t *)c->buffers[1] + c->offset + row;
    return (str){(const char *)c->buffers[2] + ends[0], (size_t)(ends[1] - ends[0])};
}

/* file:/root/x, file:///root/x and /root/x; {NULL,0} outside of the root. */
static str below_root(const vacuum_run *v, str path) {
    str root = v->spec->root;
    if (str_starts_with(path, STR("file:"))) {
        path = str_slice(path, 5, path.len);
        if (str_starts_with(path, STR("//"))) {
            size_t slash = str_find_char(str_slice(path, 2, path.len), '/');
            path = slash == SIZE_MAX ? STR("") : str_slice(path, 2 + slash, path.len);
        }
    } else if (str_find(path, STR("://")) != SIZE_MAX) {
        size_t slash = str_find_char(str_slice(path, str_find(path, STR("://")) + 3, path.len), '/');
        path = slash == SIZE_MAX ? STR("") : str_slice(path, str_find(path, STR("://")) + 3 + slash, path.len);
    }
    path = path.len ? path_normalize(v->o->a, path) : path;
    if (path.len <= root.len + 1 || !str_starts_with(path, root) || path.ptr[root.len] != '/') return STR_NULL;
    return str_slice(path, root.len + 1, path.len);
}

/* A folder counts as empty when the store says so now. */
static silt_status take_folder(vacuum_run *v, str path) {
    const op *o = v->o;
    store_list_result list = {0};
    store_entry e;
    silt_error why = {.status = SILT_OK};
    str whole = path_join(o->a, v->spec->root, path);
    v->n_folders_seen++;
    if (str_is_null(whole)) return error_no_memory(o->err);
    silt_status status = store_stat(o->env->delta->store, whole, o->a, &e, &why);
    if (status == SILT_OK && !e.is_dir) return SILT_OK;
    if (status == SILT_OK) status = store_list(o->env->delta->store, whole, STR_NULL, false, o->a, &list, &why);
    if (status == SILT_NOT_FOUND || (status == SILT_OK && list.count > 0)) return SILT_OK;
    if (status != SILT_OK) {
        if (o->err) *o->err = why;
        return status;
    }
    vacuum_folder f = {.path = path, .is_old = e.modified_ms < v->folder_cutoff_ms};
    return ARENA_PUSH(o->a, v->folders, v->n_folders, v->folders_capacity, f) ? SILT_OK : error_no_memory(o->err);
}

static silt_status take_row(vacuum_run *v, const struct ArrowArray *batch, const size_t at[N_COLUMNS], int64_t row) {
    const struct ArrowArray *c[N_COLUMNS];
    for (size_t k = 0; k < N_COLUMNS; k++) c[k] = batch->children[at[k]];
    if (is_null(c[PATH], row) || is_null(c[IS_DIR], row) || is_null(c[MODIFIED], row)) return SILT_OK;
    str path = below_root(v, text_of(c[PATH], row));
    if (str_is_null(path) || vacuum_is_hidden(v, path)) return SILT_OK;
    str copy = arena_str(v->o->a, path);
    if (str_is_null(copy)) return error_no_memory(v->o->err);
    if (bit(c[IS_DIR]->buffers[1], row + c[IS_DIR]->offset)) return take_folder(v, copy);
    if (((const int64_t *)c[MODIFIED]->buffers[1])[row + c[MODIFIED]->offset] >= v->cutoff_ms || delta_retained_has(v->retained, copy)) return SILT_OK;
    vacuum_file f = {.path = copy};
    return ARENA_PUSH(v->o->a, v->files, v->n_files, v->files_capacity, f) ? SILT_OK : error_no_memory(v->o->err);
}

static silt_status read_rows(vacuum_run *v, engine_result *rows, const size_t at[N_COLUMNS]) {
    for (;;) {
        struct ArrowArray batch = {.release = NULL};
        TRY(engine_result_next(rows, &batch, v->o->err));
        if (!batch.release) return SILT_OK;
        silt_status status = SILT_OK;
        for (int64_t i = 0; i < batch.length && status == SILT_OK; i++) status = take_row(v, &batch, at, i);
        batch.release(&batch);
        TRY(status);
    }
}

silt_status vacuum_find_in_inventory(vacuum_run *v) {
    const op *o = v->o;
    query *q = v->spec->inventory;
    size_t at[N_COLUMNS];
    engine_result *rows;
    v->has_checksums = true;
    TRY(find_columns(v, q, at));
    TRY(expr_push_predicates(q, o->env->bind, o->a, o->err));
    TRY(engine_run(o->env->engine, q, o->env->bind, &rows, o->err));
    silt_status status = read_rows(v, rows, at);
    engine_result_free(rows);
    TRY(status);
    return vacuum_confirm_files(v);
}
