/*
 * Listing, level by level: the folders of one depth side by side. Folders are entered, and files taken, by Spark's rules: a name that begins with '_' or '.' is hidden, but a
 * folder named like a partition (_x=1) is not. Links are followed; a circle of links ends by the depth.
 */
#include "base/uri.h"
#include "ops/maintain/convert_files.h"

#define MAX_DEPTH 64

typedef struct level {
    const op *o;
    convert_pool *pool;
    convert_files *files;
    const str *folders; /* absolute */
    size_t n;
    store_list_result *lists; /* by folder */
} level;

static bool is_hidden(str name) { return name.len == 0 || name.ptr[0] == '_' || name.ptr[0] == '.'; }

static silt_status list_one(void *ctx, size_t i, silt_error *err) {
    level *l = ctx;
    TRY(cancel_check(l->o->env->delta->cancel, err));
    convert_worker *w = convert_pool_take(l->pool, err);
    if (!w) return SILT_NO_MEMORY;
    silt_status status = store_list(l->files->store, l->folders[i], STR_NULL, false, w->keep, &l->lists[i], err);
    convert_pool_give(l->pool, w);
    return status;
}

static str relative(const convert_files *f, str path) {
    if (path.len <= f->root.len) return STR("");
    return str_slice(path, f->root.len + (f->root.len > 1 ? 1 : 0), path.len);
}

/* ---- what is no folder of plain Parquet files ---- */

static silt_status refuse_source(const op *o, const convert_files *f, const char *source) {
    return err_DELTA_CONVERT_NON_PARQUET_TABLE(o->err, str_of(source), store_path_named(f->store, f->root, o->a));
}

/* metadata/v3.metadata.json, metadata/00001-….metadata.json */
static silt_status look_for_iceberg(const op *o, const convert_files *f, str folder) {
    store_list_result list = {0};
    TRY(store_list(f->store, folder, STR_NULL, false, o->a, &list, o->err));
    for (size_t i = 0; i < list.count; i++)
        if (str_ends_with(list.items[i].path, STR(".metadata.json"))) return refuse_source(o, f, "iceberg");
    return SILT_OK;
}

/* base_0000007, delta_0000001_0000004_0000: rows of Hive's transactional tables are those of several such folders together. */
static bool is_hive_acid(str name) {
    size_t at = str_starts_with(name, STR("base_")) ? 5 : str_starts_with(name, STR("delta_")) ? 6 : 0;
    if (at == 0 || name.len < at + 7) return false;
    for (size_t i = at; i < at + 7; i++)
        if (name.ptr[i] < '0' || name.ptr[i] > '9') return false;
    return true;
}

static silt_status nested(const op *o, str folder, str table) {
    const store *s = o->env->delta->store;
    return err_CONVERT_NESTED_TABLE(o->err, store_path_named(s, folder, o->a), store_path_named(s, table, o->a));
}

static silt_status look_at_folder(const op *o, const convert_files *f, const store_entry *e, bool is_top) {
    str name = path_name(e->path);
    if (str_eqz(name, "_delta_log") && !is_top) {
        bool exists;
        str table = path_parent(e->path);
        TRY(delta_table_exists(o->env->delta, table, &exists, o->err));
        if (exists) return nested(o, f->root, table);
    }
    if (str_eqz(name, ".hoodie")) return refuse_source(o, f, "hudi");
    if (str_eqz(name, "metadata") && is_top) return look_for_iceberg(o, f, e->path);
    return is_hive_acid(name) ? refuse_source(o, f, "transactional Hive") : SILT_OK;
}

static silt_status look_above(const op *o, str root) {
    for (str folder = path_parent(root); folder.len > 1; folder = path_parent(folder)) {
        bool exists;
        TRY(delta_table_exists(o->env->delta, folder, &exists, o->err));
        if (exists) return nested(o, root, folder);
    }
    return SILT_OK;
}

/* ---- taking one level ---- */

silt_status convert_folder_of(const op *o, convert_files *f, str path, uint32_t *out) {
    convert_folder folder = {.path = path};
    bool is_last = f->n_folders > 0 && str_eq(f->folders[f->n_folders - 1].path, path);
    if (!is_last && !ARENA_PUSH(o->a, f->folders, f->n_folders, f->folders_capacity, folder)) return error_no_memory(o->err);
    *out = (uint32_t)(f->n_folders - 1);
    return SILT_OK;
}

static silt_status take_file(const op *o, convert_files *f, const store_entry *e) {
    convert_file file = {.path = relative(f, e->path), .size_bytes = e->size_bytes, .modified_ms = e->modified_ms, .rows = -1, .variant = UINT32_MAX};
    TRY(convert_folder_of(o, f, relative(f, path_parent(e->path)), &file.folder));
    return ARENA_PUSH(o->a, f->files, f->n_files, f->files_capacity, file) ? SILT_OK : error_no_memory(o->err);
}

typedef struct folder_list {
    str *items;
    size_t count, capacity;
} folder_list;

static silt_status take_level(const level *l, bool is_top, folder_list *next) {
    const op *o = l->o;
    for (size_t i = 0; i < l->n; i++) {
        for (size_t k = 0; k < l->lists[i].count; k++) {
            const store_entry *e = &l->lists[i].items[k];
            str name = path_name(e->path);
            if (e->is_dir) TRY(look_at_folder(o, l->files, e, is_top));
            if (is_hidden(name) && !(e->is_dir && str_find_char(name, '=') != SIZE_MAX)) continue;
            if (!e->is_dir)
                TRY(take_file(o, l->files, e));
            else if (!ARENA_PUSH(o->a, next->items, next->count, next->capacity, e->path))
                return error_no_memory(o->err);
        }
    }
    return SILT_OK;
}

static silt_status list_levels(const op *o, convert_files *f) {
    convert_pool *pool;
    str *first = ARENA_NEW(o->a, str);
    if (!first) return error_no_memory(o->err);
    TRY(convert_pool_new(o, &pool));
    *first = f->root;
    level l = {.o = o, .pool = pool, .files = f, .folders = first, .n = 1};
    for (int depth = 0; l.n > 0; depth++) {
        if (depth > MAX_DEPTH) return err_UNSUPPORTED_FEATURE(o->err, "folders nested more than 64 deep (a circle of links?)");
        folder_list next = {0};
        l.lists = ARENA_ARRAY(o->a, l.n, store_list_result);
        if (!l.lists) return error_no_memory(o->err);
        TRY(thread_for(convert_pool_askers(o), l.n, list_one, &l, o->err));
        TRY(take_level(&l, depth == 0, &next));
        if (o->env->progress) o->env->progress(o->env->progress_ctx, "listing files", -1);
        l.folders = next.items;
        l.n = next.count;
    }
    return SILT_OK;
}

static silt_status check_root(const op *o, str root) {
    store_entry entry;
    silt_error failure = {0};
    silt_status status = store_stat(o->env->delta->store, root, o->a, &entry, &failure);
    if (status == SILT_NOT_FOUND) return err_DELTA_DIRECTORY_NOT_FOUND(o->err, store_path_named(o->env->delta->store, root, o->a));
    if (status != SILT_OK) {
        if (o->err) *o->err = failure;
        return status;
    }
    return entry.is_dir ? SILT_OK : err_DELTA_DIRECTORY_NOT_FOUND(o->err, arena_printf(o->a, "The folder %.*s", STR_ARG(store_path_named(o->env->delta->store, root, o->a))));
}

silt_status convert_files_list(const op *o, str root, convert_files *out) {
    *out = (convert_files){.store = o->env->delta->store, .root = root};
    TRY(check_root(o, root));
    TRY(look_above(o, root));
    bool found = false;
    if (ops_setting_bool(o, "spark.databricks.delta.convert.useMetadataLog", true)) TRY(convert_sink_log(o, out, &found));
    if (!found) TRY(list_levels(o, out));
    for (size_t i = 0; i < out->n_files; i++) out->bytes += out->files[i].size_bytes;
    return SILT_OK;
}

str convert_file_name(const op *o, const convert_files *f, str path) {
    return arena_printf(o->a, "%s%.*s/%.*s", store_uri_prefix(f->store), STR_ARG(f->root), STR_ARG(path));
}

/* A ':' in the first name of a relative path would make it a URI with a scheme. */
static str action_path(const op *o, str path) {
    str encoded = uri_encode_path(path, o->a);
    size_t slash = str_find_char(encoded, '/'), colon = str_find_char(encoded, ':');
    if (str_is_null(encoded) || colon == SIZE_MAX || colon > slash) return encoded;
    buf b;
    buf_init(&b, BUF_MAX_DEFAULT);
    for (size_t i = 0; i < encoded.len; i++) {
        if (encoded.ptr[i] == ':' && i < slash) buf_append_z(&b, "%3A");
        else buf_append_char(&b, encoded.ptr[i]);
    }
    return buf_take(&b, o->a);
}

silt_status convert_files_add(const op *o, const convert_files *f, size_t i, delta_add *out) {
    const convert_file *file = &f->files[i];
    *out = (delta_add){.path = action_path(o, file->path),
                       .partition_values = f->folders[file->folder].values,
                       .size_bytes = file->size_bytes,
                       .modification_time_ms = file->modified_ms,
                       .data_change = true,
                       .stats = file->stats,
                       .dv = {.offset = -1},
                       .base_row_id = -1,
                       .default_row_commit_version = -1};
    return str_is_null(out->path) ? error_no_memory(o->err) : SILT_OK;
}
