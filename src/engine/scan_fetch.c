/* Files of a scan → what parquet_fetch wants, store by store. */
#include "engine/scan_fetch.h"

/* The remote files of one store. */
struct scan_remote {
    store *store;
    parquet_want *wants;
    size_t count;
};

static silt_status failed(const scan_node *node, silt_status status, const store *s, str path, arena *a, silt_error *err) {
    if (status == SILT_NOT_FOUND && path.ptr && str_eqz(node->source->format, "delta")) return err_DELTA_FILE_NOT_FOUND_DETAILED(err, store_path_named(s, path, a));
    return status;
}

/* ---- footers ---- */

static size_t count_leaves(const data_type *t) {
    size_t n = 0;
    if (t->id == TYPE_STRUCT)
        for (size_t i = 0; i < t->n_fields; i++) n += count_leaves(t->fields[i].type);
    else if (t->id == TYPE_MAP)
        n = count_leaves(t->key) + count_leaves(t->element);
    else
        n = t->id == TYPE_ARRAY ? count_leaves(t->element) : 1;
    return n;
}

static silt_status find_local(scan_node *node, arena *a, str *paths, size_t *out_remote, silt_error *err) {
    *out_remote = 0;
    for (size_t i = 0; i < node->scan.n_files; i++) {
        const scan_file *file = &node->scan.files[i];
        node->has_deleted |= file->deleted || file->only;
        if (store_is_remote(file->store)) {
            ++*out_remote;
            continue;
        }
        silt_status status = store_local_read_path(file->store, file->path, a, &paths[i], err);
        if (status != SILT_OK) return failed(node, status, file->store, file->path, a, err);
    }
    return SILT_OK;
}

static scan_remote *remote_of(scan_node *node, store *s) {
    for (size_t i = 0; i < node->n_remotes; i++)
        if (node->remotes[i].store == s) return &node->remotes[i];
    return NULL;
}

static silt_status add_remote(scan_node *node, store *s, size_t n_files, arena *a, silt_error *err) {
    scan_remote made = {.store = s, .wants = ARENA_ARRAY(a, n_files, parquet_want)};
    return made.wants && ARENA_PUSH(a, node->remotes, node->n_remotes, node->remote_capacity, made) ? SILT_OK : error_no_memory(err);
}

static silt_status sort_by_store(scan_node *node, size_t n_remote, int64_t whole_bytes, arena *a, silt_error *err) {
    size_t leaves = count_leaves(node->source->schema);
    node->wants = ARENA_ARRAY(a, node->scan.n_files + 1, parquet_want *);
    if (!node->wants) return error_no_memory(err);
    for (size_t i = 0; i < node->scan.n_files; i++) {
        const scan_file *f = &node->scan.files[i];
        if (!store_is_remote(f->store)) continue;
        if (!remote_of(node, f->store)) TRY(add_remote(node, f->store, n_remote, a, err));
        scan_remote *r = remote_of(node, f->store);
        parquet_want *w = node->wants[i] = &r->wants[r->count++];
        *w = (parquet_want){.path = f->path, .size_bytes = f->size_bytes, .tag = f->tag, .whole = f->size_bytes <= whole_bytes};
        w->footer_guess = parquet_footer_guess(leaves, f->num_records, f->size_bytes);
    }
    return SILT_OK;
}

static void take_paths(scan_node *node) {
    for (size_t i = 0; i < node->scan.n_files; i++)
        if (node->wants && node->wants[i]) node->local_paths[i] = node->wants[i]->local;
}

typedef silt_status (*fetch_fn)(store *s, parquet_want *wants, size_t n, const cancel_token *cancel, arena *a, size_t *out_failed, silt_error *err);

static silt_status fetch(scan_node *node, fetch_fn fn, arena *a, silt_error *err) {
    for (size_t i = 0; i < node->n_remotes; i++) {
        scan_remote *r = &node->remotes[i];
        size_t bad;
        silt_status status = fn(r->store, r->wants, r->count, node->engine->cancel, a, &bad, err);
        if (status != SILT_OK) return failed(node, status, r->store, bad < r->count ? r->wants[bad].path : STR_NULL, a, err);
    }
    take_paths(node);
    return SILT_OK;
}

silt_status scan_fetch_footers(scan_node *node, int64_t whole_bytes, arena *a, silt_error *err) {
    size_t n_remote;
    node->local_paths = ARENA_ARRAY(a, node->scan.n_files + 1, str);
    if (!node->local_paths) return error_no_memory(err);
    TRY(find_local(node, a, node->local_paths, &n_remote, err));
    if (n_remote == 0) return SILT_OK;
    TRY(sort_by_store(node, n_remote, whole_bytes, a, err));
    return fetch(node, parquet_fetch_footers, a, err);
}

/* ---- columns ---- */

/* By their names in the files; all that is below a column, since DuckDB reads a struct whole that is given by `schema=`. */
static silt_status tell_columns(const scan_group *g, arena *a, silt_error *err) {
    const scan_node *node = g->node;
    parquet_path *paths = ARENA_ARRAY(a, node->n_wanted + 1, parquet_path);
    size_t n = 0;
    if (!paths) return error_no_memory(err);
    for (size_t i = 0; i < node->n_wanted; i++)
        if (g->reads[i].exists) paths[n++] = (parquet_path){&g->reads[i].name, 1};
    for (size_t i = 0; i < g->n_files; i++) {
        parquet_want *w = node->wants[g->files ? g->files[i] : i];
        if (!w) continue; /* a bundle */
        w->paths = paths;
        w->n_paths = n;
    }
    return SILT_OK;
}

silt_status scan_fetch_columns(scan_node *node, arena *a, silt_error *err) {
    if (node->n_remotes == 0 || node->columns_are_there) return SILT_OK;
    for (size_t i = 0; i < node->n_groups; i++) TRY(tell_columns(&node->groups[i], a, err));
    TRY(fetch(node, parquet_fetch_columns, a, err));
    node->columns_are_there = true;
    return SILT_OK;
}
