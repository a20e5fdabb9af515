/* What the copy is to hold, what it holds, and the difference. Partitions are compared by a fingerprint of everything that decides their content, so no history is needed. */
#include <stdio.h>
#include <stdlib.h>

#include "base/uri.h"
#include "ops/maintain/publish_run.h"

/* ---- the table ---- */

typedef struct listing {
    publish_run *r;
    const field *columns; /* of the partition, in order */
    size_t n_columns;
} listing;

static silt_status folder_of(const listing *l, const delta_add *add, str *out) {
    const op *o = l->r->o;
    buf b;
    buf_init(&b, BUF_MAX_DEFAULT);
    silt_status status = SILT_OK;
    for (size_t i = 0; status == SILT_OK && i < l->n_columns; i++) {
        value v;
        str text = str_map_get(&add->partition_values, l->columns[i].physical_name);
        status = partition_value_parse(text, str_is_null(text), l->columns[i].type, o->env->delta->zone_offset_seconds, o->a, &v, o->err);
        if (i) buf_append_char(&b, '/');
        if (status == SILT_OK) partition_folder_write(&b, l->columns[i].name, &v, o->a);
    }
    *out = buf_take(&b, o->a);
    TRY(status);
    return str_is_null(*out) ? error_no_memory(o->err) : SILT_OK;
}

static silt_status take_file(void *ctx, size_t i, const delta_add *add, silt_error *err) {
    listing *l = ctx;
    const op *o = l->r->o;
    publish_file f = {.index = i, .path = arena_str(o->a, add->path), .size_bytes = add->size_bytes, .has_dv = add->dv.storage != 0};
    f.dv = delta_dv_unique_id(&add->dv, o->a);
    TRY(folder_of(l, add, &f.folder));
    f.name = arena_printf(o->a, "part-%016llx.parquet", (unsigned long long)str_hash(f.path));
    if (str_is_null(f.path) || str_is_null(f.name)) return error_no_memory(err);
    return ARENA_PUSH(o->a, l->r->files, l->r->n_files, l->r->files_capacity, f) ? SILT_OK : error_no_memory(err);
}

static int by_folder(const void *a, const void *b) {
    const publish_file *x = a, *y = b;
    int order = str_cmp(x->folder, y->folder);
    return order ? order : str_cmp(x->path, y->path);
}

static silt_status fingerprint(const publish_run *r, publish_folder *folder, str schema) {
    buf b;
    buf_init(&b, BUF_MAX_DEFAULT);
    buf_append(&b, schema);
    for (size_t i = folder->first; i < folder->first + folder->n; i++) {
        const publish_file *f = &r->files[i];
        buf_printf(&b, "\n%lld ", (long long)f->size_bytes);
        buf_append(&b, f->path);
        buf_append_char(&b, ' ');
        buf_append(&b, f->dv);
    }
    bool ok = buf_ok(&b);
    uint64_t forward = ok ? str_hash(buf_str(&b)) : 0;
    for (size_t i = 0, k = b.len; ok && i < --k; i++) { /* two independent halves: the text, and the text from its end */
        char c = b.ptr[i];
        b.ptr[i] = b.ptr[k];
        b.ptr[k] = c;
    }
    if (ok) snprintf(folder->fingerprint, sizeof folder->fingerprint, "%016llx%016llx", (unsigned long long)forward, (unsigned long long)str_hash(buf_str(&b)));
    buf_dispose(&b);
    return ok ? SILT_OK : error_no_memory(r->o->err);
}

static silt_status make_folders(publish_run *r) {
    const op *o = r->o;
    buf schema;
    buf_init(&schema, BUF_MAX_DEFAULT);
    schema_write_json(&schema, r->schema);
    silt_status status = buf_ok(&schema) ? SILT_OK : error_no_memory(o->err);
    for (size_t i = 0; status == SILT_OK && i < r->n_files;) {
        publish_folder folder = {.path = r->files[i].folder, .first = i};
        while (i < r->n_files && str_eq(r->files[i].folder, folder.path)) i++, folder.n++;
        status = fingerprint(r, &folder, buf_str(&schema));
        if (status == SILT_OK && !ARENA_PUSH(o->a, r->folders, r->n_folders, r->folders_capacity, folder)) status = error_no_memory(o->err);
    }
    bool is_one = r->target.metadata.n_partition_columns == 0;
    publish_folder empty = {.path = STR("")};
    if (status == SILT_OK && is_one && r->n_folders == 0) {
        status = fingerprint(r, &empty, buf_str(&schema));
        if (status == SILT_OK && !ARENA_PUSH(o->a, r->folders, r->n_folders, r->folders_capacity, empty)) status = error_no_memory(o->err);
    }
    buf_dispose(&schema);
    return status;
}

silt_status publish_list_table(publish_run *r) {
    const op *o = r->o;
    const delta_metadata *m = delta_snapshot_metadata(r->spec->snapshot);
    field *columns = ARENA_ARRAY(o->a, m->n_partition_columns + 1, field);
    if (!columns) return error_no_memory(o->err);
    for (size_t i = 0; i < m->n_partition_columns; i++) columns[i] = m->schema->fields[schema_find(m->schema, m->partition_columns[i])];
    listing l = {.r = r, .columns = columns, .n_columns = m->n_partition_columns};
    TRY(delta_snapshot_each_file(r->spec->snapshot, false, take_file, &l, o->err));
    if (r->n_files > 1) qsort(r->files, r->n_files, sizeof *r->files, by_folder);
    return make_folders(r);
}

/* ---- the copy ---- */

static silt_status not_own(const publish_run *r, const char *why) { return err_PUBLISH_FOLDER_NOT_OWN(r->o->err, store_path_named(r->spec->store, r->spec->folder, r->o->a), why); }

static silt_status check_empty(const publish_run *r) {
    const op *o = r->o;
    store_list_result list = {0};
    TRY(store_list(r->spec->store, r->spec->folder, STR_NULL, false, o->a, &list, o->err));
    for (size_t i = 0; i < list.count; i++)
        if (str_eqz(path_name(list.items[i].path), "_delta_log")) return not_own(r, "it is the folder of a Delta table");
    return list.count == 0 ? SILT_OK : not_own(r, "it is not empty, and PUBLISH did not make it");
}

static publish_folder *find_folder(const publish_run *r, str path) {
    size_t low = 0, high = r->n_folders;
    while (low < high) {
        size_t middle = (low + high) / 2;
        int order = str_cmp(r->folders[middle].path, path);
        if (order == 0) return &r->folders[middle];
        if (order < 0) low = middle + 1;
        else high = middle;
    }
    return NULL;
}

static silt_status look_at_folder(publish_run *r, str path, str relative) {
    const op *o = r->o;
    publish_marker m;
    TRY(publish_marker_read(r, path, &m));
    publish_folder *wanted = r->whole ? NULL : find_folder(r, relative);
    if (!m.exists) return wanted ? publish_check_foreign(r, path, &m) : SILT_OK;
    bool same = wanted && !r->spec->full && str_eqz(m.fingerprint, wanted->fingerprint);
    if (wanted) wanted->is_changed = !same;
    if (same) return SILT_OK;
    if (relative.len || r->target.metadata.n_partition_columns == 0) TRY(publish_check_foreign(r, path, &m));
    if (wanted || relative.len == 0) return SILT_OK;
    return ARENA_PUSH(o->a, r->leaving, r->n_leaving, r->leaving_capacity, relative) ? SILT_OK : error_no_memory(o->err);
}

/* Every folder named like a partition; others are not ours and stay as they are. */
static silt_status walk_copy(publish_run *r, str path, str relative, int depth) {
    const op *o = r->o;
    store_list_result list = {0};
    if (depth > 64) return not_own(r, "its folders are nested too deeply");
    TRY(store_list(r->spec->store, path, STR_NULL, false, o->a, &list, o->err));
    if (relative.len) TRY(look_at_folder(r, path, relative));
    for (size_t i = 0; i < list.count; i++) {
        str name = path_name(list.items[i].path);
        if (!list.items[i].is_dir || str_find_char(name, '=') == SIZE_MAX) continue;
        str inner = relative.len ? path_join(o->a, relative, name) : name;
        if (str_is_null(inner)) return error_no_memory(o->err);
        TRY(walk_copy(r, list.items[i].path, inner, depth + 1));
    }
    return SILT_OK;
}

/* The folder changes as one: nothing in it may be another's. */
static silt_status check_whole(publish_run *r, const publish_marker *root) {
    const op *o = r->o;
    store_list_result list = {0};
    TRY(store_list(r->spec->store, r->spec->folder, STR_NULL, true, o->a, &list, o->err));
    str last = STR_NULL;
    publish_marker m = *root;
    for (size_t i = 0; i < list.count; i++) {
        str folder = path_parent(list.items[i].path);
        if (str_eq(folder, last)) continue;
        last = folder;
        TRY(publish_marker_read(r, folder, &m));
        store_list_result files = {0};
        TRY(store_list(r->spec->store, folder, STR_NULL, false, o->a, &files, o->err));
        for (size_t k = 0; k < files.count; k++) {
            bool known = files.items[k].is_dir || str_eqz(path_name(files.items[k].path), PUBLISH_MARKER);
            for (size_t n = 0; !known && n < m.n_files; n++) known = str_eq(m.files[n], path_name(files.items[k].path));
            if (!known) return not_own(r, "it holds files that PUBLISH did not write");
        }
    }
    return SILT_OK;
}

static silt_status compare_with(publish_run *r, const publish_marker *root) {
    const op *o = r->o;
    size_t n_columns = r->target.metadata.n_partition_columns;
    buf layout;
    buf_init(&layout, BUF_MAX_DEFAULT);
    for (size_t i = 0; i < n_columns; i++) {
        if (i) buf_append_char(&layout, '/');
        buf_append(&layout, hive_escape(r->target.metadata.partition_columns[i], o->a));
    }
    r->whole = n_columns == 0 || !str_eq(buf_str(&layout), root->layout);
    bool ok = buf_ok(&layout);
    buf_dispose(&layout);
    if (!ok) return error_no_memory(o->err);
    if (!r->whole) return walk_copy(r, r->spec->folder, STR(""), 0);
    bool same = n_columns == 0 && root->layout.len == 0 && str_eqz(root->fingerprint, r->folders[0].fingerprint) && !r->spec->full;
    if (same) r->folders[0].is_changed = false;
    return same ? SILT_OK : check_whole(r, root);
}

/* Neither may be in the other: what one's upkeep removes would be the other's. */
static silt_status check_apart(const publish_run *r) {
    const op *o = r->o;
    str root = delta_snapshot_root(r->spec->snapshot), folder = r->spec->folder, real;
    if (store_real_path(r->spec->store, folder, o->a, &real, NULL) == SILT_OK) folder = real;
    if (store_real_path(o->env->delta->store, root, o->a, &real, NULL) == SILT_OK) root = real;
    for (int turn = 0; turn < 2; turn++) {
        str outer = turn ? root : folder, inner = turn ? folder : root;
        if (str_starts_with(inner, outer) && (inner.len == outer.len || inner.ptr[outer.len] == '/')) return not_own(r, "the table is in it, or it is in the table's folder");
    }
    return SILT_OK;
}

silt_status publish_compare(publish_run *r) {
    const op *o = r->o;
    store_entry entry;
    publish_marker root;
    bool exists;
    silt_error failure = {0};
    for (size_t i = 0; i < r->n_folders; i++) r->folders[i].is_changed = true;
    TRY(check_apart(r));
    for (str above = r->spec->folder; above.len > 1; above = path_parent(above)) {
        delta_env env = *o->env->delta;
        env.store = r->spec->store;
        TRY(delta_table_exists(&env, above, &exists, o->err));
        if (exists) return not_own(r, "it is the folder of a Delta table, or in one");
    }
    silt_status status = store_stat(r->spec->store, r->spec->folder, o->a, &entry, &failure);
    r->whole = true;
    if (status == SILT_NOT_FOUND) return SILT_OK;
    if (status != SILT_OK) {
        if (o->err) *o->err = failure;
        return status;
    }
    if (!entry.is_dir) return not_own(r, "it is a file");
    TRY(publish_marker_read(r, r->spec->folder, &root));
    if (!root.exists) return check_empty(r);
    if (!str_eq(root.source, delta_snapshot_root(r->spec->snapshot))) return not_own(r, "it is the copy of another table");
    return compare_with(r, &root);
}
