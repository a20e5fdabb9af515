/* A snapshot as the table_source that binder and engine see: schema, how columns are found in the files, and planned scans. */
#include "delta/source.h"

#include <stdlib.h>

#include "base/uri.h"
#include "delta/features.h"

static const delta_source *of(const table_source *t) { return (const delta_source *)t; }

/* ---- scans ---- */

static silt_status resolve(const delta_snapshot *s, const file_batch *b, uint32_t row, arena *a, scan_file *out,
                           silt_error *err) {
    str path = file_batch_path(b, row);
    if (!(b->rows[row].flags & ROW_PLAIN_PATH) || path.ptr[0] == '/' || str_find_char(path, ':') != SIZE_MAX)
        return delta_resolve_path(s->env, s->root, path, a, &out->store, &out->path, err);
    out->store = s->env->store;
    out->path = path_join(a, s->root, path);
    return out->path.ptr ? SILT_OK : error_no_memory(err);
}

static silt_status plan_file(const delta_source *t, const partition_table *p, size_t view, uint32_t k, arena *a, scan_file *out,
                             silt_error *err) {
    const batch_view *v = &t->snapshot->views[view];
    uint32_t row = batch_view_add(v, k);
    const file_row *r = &v->batch->rows[row];
    const file_extra *e = v->batch->extras ? &v->batch->extras[row] : NULL;
    *out = (scan_file){.size_bytes = r->size_bytes,
                       .num_records = r->num_records >= 0 ? r->num_records : -1,
                       .partition = partition_table_row(p, t, view, row),
                       .base_row_id = e ? e->base_row_id : -1,
                       .default_row_commit_version = e ? e->default_row_commit_version : -1,
                       .modified_ms = r->time_ms,
                       .index = t->snapshot->first_file[view] + k};
    return resolve(t->snapshot, v->batch, row, a, out, err);
}

typedef struct dv_job {
    const delta_snapshot *s;
    scan_file *files;
    const size_t *with_dv; /* indexes into files */
    bitmap **bitmaps;
} dv_job;

static silt_status load_dv(void *ctx, size_t i, silt_error *err) {
    dv_job *job = ctx;
    scan_file *f = &job->files[job->with_dv[i]];
    size_t view;
    uint32_t row;
    snapshot_locate(job->s, f->index, &view, &row);
    delta_dv dv = file_batch_dv(job->s->views[view].batch, row);
    TRY(delta_dv_load(job->s->env, job->s->root, &dv, &job->bitmaps[i], err));
    f->deleted = job->bitmaps[i];
    return SILT_OK;
}

typedef struct bitmap_list {
    bitmap **items;
    size_t count;
} bitmap_list;

static void free_bitmaps(void *ctx) {
    bitmap_list *l = ctx;
    for (size_t i = 0; i < l->count; i++) bitmap_free(l->items[i]);
}

static silt_status load_dvs(const delta_snapshot *s, scan_file *files, const size_t *with_dv, size_t n, arena *a,
                            silt_error *err) {
    if (n == 0) return SILT_OK;
    bitmap_list *list = ARENA_NEW(a, bitmap_list);
    if (!list || !(list->items = ARENA_ARRAY(a, n, bitmap *)) || !arena_defer(a, free_bitmaps, list)) return error_no_memory(err);
    list->count = n;
    dv_job job = {.s = s, .files = files, .with_dv = with_dv, .bitmaps = list->items};
    bool remote = store_is_remote(s->env->store); /* then reading them is waiting */
    return thread_for(remote ? store_parallel(s->env->store) : s->env->n_threads, n, load_dv, &job, err);
}

static silt_status plan_files(const delta_source *t, const partition_table *p, const prune_result *pruned, arena *a,
                              table_scan *out, silt_error *err) {
    const delta_snapshot *s = t->snapshot;
    size_t n = out->total_files - pruned->by_partition - pruned->by_stats, at = 0, n_dv = 0;
    scan_file *files = ARENA_ARRAY(a, n, scan_file);
    size_t *with_dv = ARENA_ARRAY(a, n, size_t);
    if (!files || !with_dv) return error_no_memory(err);
    for (size_t view = 0; view < s->n_views; view++) {
        const batch_view *v = &s->views[view];
        for (uint32_t k = 0; k < v->n_adds; k++) {
            if (!pruned->keep[s->first_file[view] + k]) continue;
            TRY(plan_file(t, p, view, k, a, &files[at], err));
            out->read_bytes += files[at].size_bytes;
            if (v->batch->rows[batch_view_add(v, k)].dv) with_dv[n_dv++] = at;
            at++;
        }
    }
    out->files = files;
    out->n_files = at;
    return load_dvs(s, files, with_dv, n_dv, a, err);
}

static silt_status source_scan(const table_source *base, const predicate *where, arena *a, table_scan *out, silt_error *err) {
    const delta_source *t = of(base);
    partition_table partitions;
    prune_result pruned;
    *out = (table_scan){.total_files = t->n_kept, .total_bytes = t->kept_bytes};
    TRY(partition_table_build(t, a, &partitions, err));
    TRY(source_prune(t, where, &partitions, a, &pruned, err));
    out->pruned_by_partition = pruned.by_partition;
    out->pruned_by_stats = pruned.by_stats;
    if (where && where->kind != PRED_UNKNOWN && where->kind != PRED_TRUE) out->used = where;
    return plan_files(t, &partitions, &pruned, a, out, err);
}

/* ---- answers from the log ---- */

static bool source_row_count(const table_source *base, int64_t *out) {
    bool known;
    if (of(base)->keep) return false;
    return delta_snapshot_num_records(of(base)->snapshot, &known, out, NULL) == SILT_OK && known;
}

static bool source_column_bounds(const table_source *base, column_path column, arena *a, value *out_min, value *out_max) {
    bool certain;
    return source_bounds(of(base), column, a, &certain, out_min, out_max, NULL) == SILT_OK && certain;
}

static void source_release(table_source *base) {
    if (!base) return;
    delta_source *t = (delta_source *)base;
    delta_snapshot_release(t->snapshot);
    arena_free(t->arena);
    free(t);
}

static const table_source_ops source_ops = {
    .scan = source_scan, .row_count = source_row_count, .column_bounds = source_column_bounds, .release = source_release};

/* ---- making one ---- */

static int64_t count_fields(const data_type *t) {
    int64_t n = (t->key ? count_fields(t->key) : 0) + (t->element ? count_fields(t->element) : 0);
    for (size_t i = 0; i < t->n_fields; i++) n += 1 + count_fields(t->fields[i].type);
    return n;
}

/* Every field that there ever was has got an id: with more ids than fields some were dropped, and an old file's struct may have none of those that are left. */
column_match source_column_match(const delta_metadata *m) {
    str mode = str_map_get(&m->configuration, STR("delta.columnMapping.mode"));
    int64_t max_id;
    if (str_eq_ascii_fold(mode, STR("id"))) return MATCH_BY_FIELD_ID;
    if (!str_eq_ascii_fold(mode, STR("name")) || !str_to_i64(str_map_get(&m->configuration, STR("delta.columnMapping.maxColumnId")), &max_id)) return MATCH_BY_NAME;
    return max_id > count_fields(m->schema) ? MATCH_BY_NAME_CHECKED : MATCH_BY_NAME;
}

static silt_status describe(delta_source *t, const delta_snapshot *s, silt_error *err) {
    const delta_metadata *m = &s->table->metadata;
    if (m->schema->n_fields == 0) return err_DELTA_READ_TABLE_WITHOUT_COLUMNS(err, delta_table_name(s->env, s->root, t->arena));
    uint32_t *columns = ARENA_ARRAY(t->arena, m->n_partition_columns, uint32_t);
    if (!columns) return error_no_memory(err);
    for (size_t i = 0; i < m->n_partition_columns; i++) {
        int at = schema_find(m->schema, m->partition_columns[i]);
        if (at < 0) return err_DELTA_PARTITION_COLUMN_NOT_FOUND(err, m->partition_columns[i]);
        columns[i] = (uint32_t)at;
    }
    str name = delta_table_name(s->env, s->root, t->arena);
    t->base = (table_source){
        .ops = &source_ops,
        .schema = m->schema,
        .partition_columns = columns,
        .n_partition_columns = m->n_partition_columns,
        .match = source_column_match(m),
        .has_row_ids = delta_protocol_has(&s->table->protocol, "rowTracking") &&
                       str_eq_ascii_fold(delta_snapshot_property(s, "delta.enableRowTracking"), STR("true")),
        .row_id_column = delta_snapshot_property(s, "delta.rowTracking.materializedRowIdColumnName"),
        .row_commit_version_column = delta_snapshot_property(s, "delta.rowTracking.materializedRowCommitVersionColumnName"),
        .description = arena_printf(t->arena, "delta.`%.*s`", STR_ARG(name)),
        .format = STR("delta"),
        .location = arena_str(t->arena, name),
        .version = s->version};
    return t->base.description.ptr && t->base.location.ptr ? SILT_OK : error_no_memory(err);
}

static bool is_at(const delta_snapshot *read, const delta_snapshot *s) { return read == s || (read->env->store == s->env->store && str_eq(read->root, s->root)); }

bool delta_source_is_of(const table_source *t, const delta_snapshot *s) {
    if (!t || t->ops != &source_ops) return false;
    return is_at(of(t)->snapshot, s) || str_eq(of(t)->snapshot->table->metadata.id, s->table->metadata.id);
}

bool delta_source_has_files_of(const table_source *t, const delta_snapshot *s) {
    return t && t->ops == &source_ops && of(t)->snapshot->version == s->version && is_at(of(t)->snapshot, s);
}

static silt_status keep_files(delta_source *t, const delta_snapshot *s, const uint8_t *keep, silt_error *err) {
    size_t n = delta_snapshot_n_files(s);
    t->n_kept = n;
    t->kept_bytes = s->size_bytes;
    if (!keep) return SILT_OK;
    uint8_t *copy = arena_alloc(t->arena, n + 1);
    if (!copy) return error_no_memory(err);
    memcpy(copy, keep, n);
    t->keep = copy;
    t->n_kept = 0;
    t->kept_bytes = 0;
    for (size_t v = 0; v < s->n_views; v++)
        for (uint32_t k = 0; k < s->views[v].n_adds; k++) {
            if (!keep[s->first_file[v] + k]) continue;
            t->n_kept++;
            t->kept_bytes += s->views[v].batch->rows[batch_view_add(&s->views[v], k)].size_bytes;
        }
    return SILT_OK;
}

static silt_status make_source(const delta_snapshot *s, const uint8_t *keep, table_source **out, silt_error *err) {
    *out = NULL;
    delta_source *t = calloc(1, sizeof *t);
    if (!t) return error_no_memory(err);
    t->arena = arena_new();
    t->snapshot = delta_snapshot_retain(s);
    silt_status status = t->arena ? describe(t, s, err) : error_no_memory(err);
    if (status == SILT_OK) status = keep_files(t, s, keep, err);
    if (status == SILT_OK)
        *out = &t->base;
    else
        source_release(&t->base);
    return status;
}

silt_status delta_table_source(const delta_snapshot *s, table_source **out, silt_error *err) { return make_source(s, NULL, out, err); }

silt_status delta_table_source_files(const delta_snapshot *s, const uint8_t *keep, table_source **out, silt_error *err) {
    return make_source(s, keep, out, err);
}
