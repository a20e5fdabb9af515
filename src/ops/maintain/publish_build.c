/*
 * The new folders. A data file is taken as it is where it holds exactly the copy's columns, by their names and types, and all of its rows live; the rows of all other files are written
 * anew. Copies, not links: whoever gets the copy may treat its files as its own. All of it in batches of folders, each of which is finished before the next: what a killed run had
 * finished need not be made again.
 */
#include <stdlib.h>

#include "base/uri.h"
#include "ops/maintain/convert_files.h"
#include "ops/maintain/publish_run.h"

#define BATCH_FILES 64
#define BATCH_BYTES ((int64_t)1 << 30)

typedef struct copying {
    publish_run *r;
    convert_pool *pool;
    const data_type *file_columns; /* of the copy without the partition columns */
    bool names_differ;             /* the table maps columns to other names */
    size_t *files;                 /* of the batch's folders */
    size_t n;
    str *paths, *locals; /* of those that are copied */
} copying;

/* ---- which files may be taken ---- */

static bool has_other_names(const data_type *t) {
    bool differ = (t->key && has_other_names(t->key)) || (t->element && has_other_names(t->element));
    for (size_t i = 0; t->id == TYPE_STRUCT && i < t->n_fields; i++) differ |= !str_eq(t->fields[i].name, t->fields[i].physical_name) || has_other_names(t->fields[i].type);
    return differ;
}

static bool has_columns(const data_type *found, const data_type *wanted) {
    if (found->n_fields != wanted->n_fields) return false;
    for (size_t i = 0; i < wanted->n_fields; i++) {
        int at = schema_find(found, wanted->fields[i].name);
        if (at < 0 || !str_eq(found->fields[at].name, wanted->fields[i].name) || !type_equal(found->fields[at].type, wanted->fields[i].type)) return false;
    }
    return true;
}

static silt_status source_of(const copying *c, const publish_file *f, arena *a, store **out_store, str *out_path, silt_error *err) {
    return delta_resolve_path(c->r->o->env->delta, delta_snapshot_root(c->r->spec->snapshot), f->path, a, out_store, out_path, err);
}

static silt_status look_at_file(void *ctx, size_t i, silt_error *err) {
    copying *c = ctx;
    publish_file *f = &c->r->files[c->files[i]];
    static const parquet_rules rules = {.int96_as_timestamp = true, .infer_ntz = true};
    parquet_footer footer;
    parquet_look look;
    const data_type *type;
    store *source;
    str path;
    if (f->has_dv || c->names_differ) return SILT_OK;
    convert_worker *w = convert_pool_take(c->pool, err);
    if (!w) return SILT_NO_MEMORY;
    silt_error ignored = {0}; /* a file that is not understood here is read by the engine, whose error counts */
    silt_status status = source_of(c, f, w->scratch, &source, &path, err);
    if (status == SILT_OK && parquet_footer_read(source, path, f->size_bytes, false, &w->bytes, w->scratch, &footer, &look, &ignored) == SILT_OK &&
        parquet_schema_type(&footer, &rules, w->scratch, &type, &ignored) == SILT_OK)
        f->is_plain = has_columns(type, c->file_columns);
    convert_pool_give(c->pool, w);
    return status;
}

/* ---- copies ---- */

static silt_status copy_file(void *ctx, size_t i, silt_error *err) {
    copying *c = ctx;
    const publish_file *f = &c->r->files[c->files[i]];
    store *source;
    str path;
    int64_t bytes;
    if (!f->is_plain) return SILT_OK;
    convert_worker *w = convert_pool_take(c->pool, err);
    if (!w) return SILT_NO_MEMORY;
    silt_status status = source_of(c, f, w->scratch, &source, &path, err);
    if (status == SILT_OK) status = store_write_begin(c->r->spec->store, c->paths[i], w->keep, &c->locals[i], err);
    if (status == SILT_OK) status = store_copy_out(source, path, c->locals[i], c->r->o->env->delta->cancel, &bytes, err);
    if (status == SILT_OK && bytes != f->size_bytes) status = err_CLONE_FILE_CHANGED(err, store_path_named(source, path, w->scratch), f->size_bytes, bytes);
    convert_pool_give(c->pool, w);
    return status;
}

static silt_status finish_copies(copying *c) {
    const op *o = c->r->o;
    str *paths = ARENA_ARRAY(o->a, c->n + 1, str), *locals = ARENA_ARRAY(o->a, c->n + 1, str);
    size_t n = 0;
    if (!paths || !locals) return error_no_memory(o->err);
    for (size_t i = 0; i < c->n; i++) {
        if (!c->r->files[c->files[i]].is_plain) continue;
        paths[n] = c->paths[i];
        locals[n++] = c->locals[i];
    }
    c->r->out->files_copied += (int64_t)n;
    return n ? store_write_finish_many(c->r->spec->store, paths, locals, n, o->err) : SILT_OK;
}

static silt_status copy_files(copying *c) {
    const op *o = c->r->o;
    c->paths = ARENA_ARRAY(o->a, c->n + 1, str);
    c->locals = ARENA_ARRAY(o->a, c->n + 1, str);
    if (!c->paths || !c->locals) return error_no_memory(o->err);
    for (size_t i = 0; i < c->n; i++) {
        const publish_file *f = &c->r->files[c->files[i]];
        c->paths[i] = path_join(o->a, f->folder.len ? path_join(o->a, c->r->stage, f->folder) : c->r->stage, f->name);
        if (str_is_null(c->paths[i])) return error_no_memory(o->err);
    }
    if (o->env->progress) o->env->progress(o->env->progress_ctx, "copying data files", -1);
    TRY(thread_for(convert_pool_askers(o), c->n, copy_file, c, o->err));
    return finish_copies(c);
}

/* ---- rows ---- */

static void release_source(void *source) {
    table_source *t = source;
    t->ops->release(t);
}

static silt_status select_rows(const publish_run *r, const uint8_t *keep, query **out) {
    const op *o = r->o;
    const data_type *table = delta_snapshot_metadata(r->spec->snapshot)->schema;
    table_source *source;
    relation *rows;
    expr **items = ARENA_ARRAY(o->a, r->schema->n_fields + 1, expr *);
    if (!items) return error_no_memory(o->err);
    TRY(delta_table_source_files(r->spec->snapshot, keep, &source, o->err));
    if (!arena_defer(o->a, release_source, source)) {
        release_source(source);
        return error_no_memory(o->err);
    }
    TRY(ops_rows_of_source(o, source, false, STR_NULL, &rows));
    for (size_t i = 0, k = 0; i < table->n_fields; i++)
        if (table->fields[i].type->id != TYPE_VOID) TRY(ops_rows_column(o, rows, i, &items[k++]));
    return ops_rows_select(o, rows, items, r->schema, out);
}

static int by_path(const void *a, const void *b) { return str_cmp(((const publish_folder *)a)->path, *(const str *)b); }

static silt_status take_written(publish_run *r, const write_result *written) {
    const op *o = r->o;
    for (size_t i = 0; i < written->n_files; i++) {
        str path = written->files[i].path, folder = path_parent(arena_printf(o->a, "/%.*s", STR_ARG(path)));
        folder = folder.len > 1 ? str_slice(folder, 1, folder.len) : STR("");
        publish_folder *f = NULL;
        for (size_t low = 0, high = r->n_folders; low < high && !f;) {
            size_t middle = (low + high) / 2;
            int order = by_path(&r->folders[middle], &folder);
            if (order == 0) f = &r->folders[middle];
            else if (order < 0) low = middle + 1;
            else high = middle;
        }
        if (!f) return err_INTERNAL_ERROR(o->err, "rows were written into a partition that the table does not have");
        if (!ARENA_PUSH(o->a, f->rewritten, f->n_rewritten, f->capacity, path_name(path))) return error_no_memory(o->err);
    }
    r->out->files_rewritten += (int64_t)written->n_files;
    r->out->rows_rewritten += written->rows;
    return SILT_OK;
}

static silt_status rewrite_rows(copying *c) {
    publish_run *r = c->r;
    const op *o = r->o;
    uint8_t *keep = ARENA_ARRAY(o->a, delta_snapshot_n_files(r->spec->snapshot) + 1, uint8_t);
    size_t n = 0;
    query *q;
    write_spec spec;
    write_options options = {0};
    write_result written;
    if (!keep) return error_no_memory(o->err);
    for (size_t i = 0; i < c->n; i++) {
        const publish_file *f = &r->files[c->files[i]];
        keep[f->index] = !f->is_plain;
        n += !f->is_plain;
    }
    if (n == 0) return SILT_OK;
    TRY(select_rows(r, keep, &q));
    TRY(expr_push_predicates(q, o->env->bind, o->a, o->err));
    TRY(ops_write_plan(o, &r->target, r->stage, &options, &spec));
    spec.store = r->spec->store;
    spec.collect_stats = false;
    spec.time_zone = STR("UTC"); /* of the folders of times */
    spec.any_order = true;
    if (o->env->progress) o->env->progress(o->env->progress_ctx, "writing rows of changed files", -1);
    TRY(engine_write(o->env->engine, q, o->env->bind, &spec, o->a, &written, o->err));
    return take_written(r, &written);
}

/* ---- the whole ---- */

static silt_status mark_folder(publish_run *r, publish_folder *f) {
    const op *o = r->o;
    str *names = ARENA_ARRAY(o->a, f->n + f->n_rewritten + 1, str);
    size_t n = 0;
    if (!names) return error_no_memory(o->err);
    for (size_t i = f->first; i < f->first + f->n; i++)
        if (r->files[i].is_plain) names[n++] = r->files[i].name;
    for (size_t i = 0; i < f->n_rewritten; i++) names[n++] = f->rewritten[i];
    str folder = f->path.len ? path_join(o->a, r->stage, f->path) : r->stage;
    if (str_is_null(folder)) return error_no_memory(o->err);
    TRY(store_make_dirs(r->spec->store, folder, o->err));
    return publish_marker_write(r, folder, str_of(f->fingerprint), names, n);
}

static silt_status file_columns(const publish_run *r, const data_type **out) {
    const op *o = r->o;
    field *fields = ARENA_ARRAY(o->a, r->schema->n_fields + 1, field);
    size_t n = 0;
    if (!fields) return error_no_memory(o->err);
    for (size_t i = 0; i < r->schema->n_fields; i++) {
        bool is_partition = false;
        for (size_t k = 0; k < r->target.metadata.n_partition_columns; k++) is_partition |= str_eq_fold(r->target.metadata.partition_columns[k], r->schema->fields[i].name);
        if (!is_partition) fields[n++] = r->schema->fields[i];
    }
    *out = type_struct(o->a, fields, n);
    return *out ? SILT_OK : error_no_memory(o->err);
}

/* Folders from `from` on, as many as make a batch; those that need nothing are passed over. */
static size_t next_batch(copying *c, size_t from) {
    const publish_run *r = c->r;
    int64_t bytes = 0;
    size_t i = from;
    for (c->n = 0; i < r->n_folders && c->n < BATCH_FILES && bytes < BATCH_BYTES; i++) {
        const publish_folder *f = &r->folders[i];
        if (!f->is_changed || f->is_built) continue;
        for (size_t k = f->first; k < f->first + f->n; k++) {
            c->files[c->n++] = k;
            bytes += r->files[k].size_bytes;
        }
    }
    return i;
}

static silt_status build_batch(copying *c, size_t from, size_t to) {
    publish_run *r = c->r;
    TRY(thread_for(convert_pool_askers(r->o), c->n, look_at_file, c, r->o->err));
    TRY(copy_files(c));
    TRY(rewrite_rows(c));
    for (size_t i = from; i < to; i++)
        if (r->folders[i].is_changed && !r->folders[i].is_built) TRY(mark_folder(r, &r->folders[i]));
    return SILT_OK;
}

silt_status publish_build(publish_run *r) {
    const op *o = r->o;
    copying c = {.r = r, .names_differ = has_other_names(delta_snapshot_metadata(r->spec->snapshot)->schema)};
    c.files = ARENA_ARRAY(o->a, r->n_files + 1, size_t);
    if (!c.files) return error_no_memory(o->err);
    TRY(file_columns(r, &c.file_columns));
    TRY(convert_pool_new(o, &c.pool));
    for (size_t from = 0; from < r->n_folders;) {
        size_t to = next_batch(&c, from);
        TRY(build_batch(&c, from, to));
        from = to;
    }
    bool has_root = r->target.metadata.n_partition_columns == 0;
    return r->whole && !has_root ? publish_marker_write(r, r->stage, STR_NULL, NULL, 0) : SILT_OK;
}
