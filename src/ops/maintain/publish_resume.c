/*
 * What a killed run had finished. A folder with its marker is whole and durable (the marker is written last), and its fingerprint says of what: it is taken over by moving it. All else
 * begins again, even a copied file of the right size: nobody knows whether its bytes had reached the disk. Whoever owned the stage is dead: its name says which process that was.
 */
#include <stdlib.h>

#include "base/uri.h"
#include "ops/maintain/publish_run.h"

/* ---- trees ---- */

/* All that is below a folder, this store's temporary files too, which other listings leave out. */
typedef struct tree {
    const publish_run *r;
    str *files, *folders; /* relative */
    size_t n_files, n_folders, files_capacity, folders_capacity;
} tree;

static store_walk_wish look(void *ctx, const store_walk_entry *e) {
    (void)ctx, (void)e;
    return STORE_WALK_TAKE;
}

static silt_status take(void *ctx, const store_walk_entry *e, silt_error *err) {
    tree *t = ctx;
    arena *a = t->r->o->a;
    str path = arena_str(a, e->path);
    if (str_is_null(path)) return error_no_memory(err);
    bool ok = e->kind == STORE_FOLDER ? ARENA_PUSH(a, t->folders, t->n_folders, t->folders_capacity, path) : ARENA_PUSH(a, t->files, t->n_files, t->files_capacity, path);
    return ok ? SILT_OK : error_no_memory(err);
}

static int deepest_first(const void *a, const void *b) { return str_cmp(*(const str *)b, *(const str *)a); }

static silt_status list_tree(const publish_run *r, str folder, tree *out) {
    *out = (tree){.r = r};
    const store_walker w = {.ctx = out, .n_threads = 1, .cancel = r->o->env->delta->cancel, .look = look, .take = take};
    TRY(store_walk(r->spec->store, folder, &w, r->o->err));
    if (out->n_folders > 1) qsort(out->folders, out->n_folders, sizeof *out->folders, deepest_first);
    return SILT_OK;
}

static silt_status remove_file(const publish_run *r, str folder, str relative) { return publish_remove_file(r, path_join(r->o->a, folder, relative)); }

silt_status publish_remove_tree(const publish_run *r, str folder) {
    tree t;
    TRY(list_tree(r, folder, &t));
    for (size_t i = 0; i < t.n_files; i++) TRY(remove_file(r, folder, t.files[i]));
    for (size_t i = 0; i < t.n_folders; i++) {
        str path = t.folders[i].len ? path_join(r->o->a, folder, t.folders[i]) : STR("");
        if (str_is_null(path)) return error_no_memory(r->o->err);
        if (path.len) TRY(publish_remove_empty(r, path));
    }
    return publish_remove_empty(r, folder);
}

static str folder_above(str relative) {
    size_t slash = str_rfind_char(relative, '/');
    return slash == SIZE_MAX ? STR("") : str_slice(relative, 0, slash);
}

/* The marker of the nearest folder that has one, from that of the file up: what is below it was finished, and may have been in the copy. */
static silt_status nearest_marker(const publish_run *r, str folder, str above, publish_marker *out) {
    for (;; above = folder_above(above)) {
        str path = above.len ? path_join(r->o->a, folder, above) : folder;
        if (str_is_null(path)) return error_no_memory(r->o->err);
        TRY(publish_marker_read(r, path, out));
        if (out->exists || above.len == 0) return SILT_OK;
    }
}

static bool is_temporary(str name) { return str_starts_with(name, STR(".silt-")) && str_ends_with(name, STR(".tmp")); }

/* Files of folders that were not finished go, and folders that are empty then; of finished ones what the writing of their marker may have left. *out_marked: there are finished ones. */
static silt_status drop_unfinished(const publish_run *r, str folder, bool *out_marked) {
    const op *o = r->o;
    tree t;
    publish_marker m = {.exists = false};
    str of = STR_NULL;
    silt_error not_empty = {.status = SILT_OK};
    *out_marked = false;
    TRY(list_tree(r, folder, &t));
    for (size_t i = 0; i < t.n_files; i++) {
        str above = folder_above(t.files[i]), name = path_name(t.files[i]);
        if (str_is_null(of) || !str_eq(of, above)) TRY(nearest_marker(r, folder, above, &m));
        of = above;
        *out_marked |= m.exists;
        if (!m.exists || is_temporary(name)) TRY(remove_file(r, folder, t.files[i]));
    }
    for (size_t i = 0; i < t.n_folders; i++) {
        str path = t.folders[i].len ? path_join(o->a, folder, t.folders[i]) : STR("");
        if (str_is_null(path)) return error_no_memory(o->err);
        if (path.len) (void)!store_remove_dir(r->spec->store, path, &not_empty);
    }
    return *out_marked ? SILT_OK : publish_remove_empty(r, folder);
}

/* ---- folders ---- */

/* It may have been emptied by hand. */
static silt_status has_files(const publish_run *r, str folder, const publish_marker *m, bool *out) {
    *out = true;
    for (size_t i = 0; *out && i < m->n_files; i++) {
        store_entry entry;
        silt_error failure = {.status = SILT_OK};
        str path = path_join(r->o->a, folder, m->files[i]);
        if (str_is_null(path)) return error_no_memory(r->o->err);
        *out = store_stat(r->spec->store, path, r->o->a, &entry, &failure) == SILT_OK && !entry.is_dir;
    }
    return SILT_OK;
}

static silt_status is_wanted(const publish_run *r, const publish_folder *f, str folder, bool *out) {
    publish_marker m;
    *out = false;
    if (!f->is_changed || f->is_built) return SILT_OK;
    TRY(publish_marker_read(r, folder, &m));
    bool same = m.exists && str_eqz(m.fingerprint, f->fingerprint) && str_eq(m.source, delta_snapshot_root(r->spec->snapshot));
    return same ? has_files(r, folder, &m, out) : SILT_OK;
}

static silt_status take_folder(publish_run *r, publish_folder *f, str dead) {
    bool wanted, marked;
    str from = f->path.len ? path_join(r->o->a, dead, f->path) : dead, to = f->path.len ? path_join(r->o->a, r->stage, f->path) : r->stage;
    if (str_is_null(from) || str_is_null(to)) return error_no_memory(r->o->err);
    TRY(is_wanted(r, f, from, &wanted));
    if (!wanted) return SILT_OK;
    TRY(drop_unfinished(r, from, &marked)); /* what the writing of its marker may have left */
    TRY(store_move_dir(r->spec->store, from, to, r->o->err));
    f->is_built = true;
    return SILT_OK;
}

silt_status publish_resume(publish_run *r, str dead, str left) {
    bool keep = false, is_one = r->target.metadata.n_partition_columns == 0;
    for (size_t i = 0; i < r->n_folders; i++) TRY(take_folder(r, &r->folders[i], dead));
    if (is_one && r->folders[0].is_built) return SILT_OK; /* the stage itself was the folder */
    TRY(drop_unfinished(r, dead, &keep));
    return keep ? store_move_dir(r->spec->store, dead, left, r->o->err) : SILT_OK;
}
