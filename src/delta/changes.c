/*
 * The changed files of a range as table_sources. What is the same for all rows of a file (partition values, version, time, and for whole files the kind of change) are
 * partition columns of the source: they cost nothing per row, and predicates on them prune. Change data files have _change_type as a column, so they are a source of
 * their own.
 */
#include "delta/changes.h"
#include "delta/source.h"

#include <stdlib.h>

#include "delta/changes_list.h"
#include "delta/segment.h"
#include "table/stats.h"

/** What the two sources share. */
typedef struct change_set {
    int refs; /* atomic */
    arena *arena;
    delta_snapshot *read;
    change_list list;
} change_set;

typedef struct changes_source {
    table_source base;
    change_set *set;
    const change_file **files;
    const value *values; /**< n_partition_columns per file */
    size_t n_files;
    int64_t bytes;
} changes_source;

static void set_release(change_set *set) {
    if (!set || __atomic_sub_fetch(&set->refs, 1, __ATOMIC_ACQ_REL) != 0) return;
    change_list_dispose(&set->list);
    delta_snapshot_release(set->read);
    arena_free(set->arena);
    free(set);
}

static const changes_source *of(const table_source *t) { return (const changes_source *)t; }

static void source_release(table_source *t) {
    if (!t) return;
    change_set *set = ((changes_source *)t)->set;
    free(t);
    set_release(set);
}

/* ---- scans ---- */

static const value *values_of(const changes_source *t, size_t i) { return t->values + i * t->base.n_partition_columns; }

/* Partition values alone, then with the statistics. */
static bool may_match(const changes_source *t, size_t i, const predicate *where, bool with_stats, arena *a) {
    file_stats stats;
    stats_source source;
    file_stats_parse(with_stats ? t->files[i]->stats : STR_NULL, t->base.schema, a, &stats);
    file_stats_set_partition(&stats, t->base.partition_columns, t->base.n_partition_columns, values_of(t, i));
    file_stats_source(&stats, &source);
    return predicate_may_match(where, &source);
}

typedef struct bitmap_list {
    bitmap **items;
    size_t n;
} bitmap_list;

static void free_bitmaps(void *ctx) {
    bitmap_list *l = ctx;
    for (size_t i = 0; i < l->n; i++) bitmap_free(l->items[i]);
}

typedef struct mask_job {
    const changes_source *t;
    scan_file *files;
    const size_t *masked; /**< numbers in files */
    bitmap **bitmaps;
} mask_job;

static silt_status load_dv(const changes_source *t, const delta_dv *dv, bitmap **out, silt_error *err) {
    const delta_snapshot *s = t->set->read;
    *out = NULL;
    return dv->storage ? delta_dv_load(delta_snapshot_env(s), delta_snapshot_root(s), dv, out, err) : SILT_OK;
}

/* Rows of `with` that `without` lacks; takes both. */
static bitmap *difference(bitmap *with, bitmap *without) {
    if (!without) return with;
    bitmap *out = bitmap_new();
    uint64_t row = 0;
    for (bool more = out && bitmap_next(with, 0, &row); more; more = bitmap_next(with, row + 1, &row))
        if (!bitmap_contains(without, row) && !bitmap_add(out, row)) {
            bitmap_free(out);
            out = NULL;
            break;
        }
    bitmap_free(with);
    bitmap_free(without);
    return out;
}

static silt_status load_mask(void *ctx, size_t i, silt_error *err) {
    mask_job *job = ctx;
    scan_file *f = &job->files[job->masked[i]];
    const change_file *c = job->t->files[f->index];
    bitmap *with, *without;
    TRY(load_dv(job->t, &c->without, &without, err));
    if (!c->only_difference) {
        f->deleted = job->bitmaps[i] = without;
        return SILT_OK;
    }
    silt_status status = load_dv(job->t, &c->with, &with, err);
    if (status != SILT_OK) {
        bitmap_free(without);
        return status;
    }
    f->only = job->bitmaps[i] = difference(with, without);
    return f->only ? SILT_OK : error_no_memory(err);
}

static silt_status load_masks(const changes_source *t, scan_file *files, const size_t *masked, size_t n, arena *a,
                              silt_error *err) {
    if (n == 0) return SILT_OK;
    bitmap_list *list = ARENA_NEW(a, bitmap_list);
    if (!list || !(list->items = ARENA_ARRAY(a, n, bitmap *)) || !arena_defer(a, free_bitmaps, list)) return error_no_memory(err);
    list->n = n;
    mask_job job = {.t = t, .files = files, .masked = masked, .bitmaps = list->items};
    return thread_for(delta_snapshot_env(t->set->read)->n_threads, n, load_mask, &job, err);
}

/* Of two deletion vectors mostly only one has rows that the other lacks. */
static void drop_empty(scan_file *files, table_scan *scan) {
    size_t n = 0;
    for (size_t i = 0; i < scan->n_files; i++) {
        if (files[i].only && bitmap_cardinality(files[i].only) == 0)
            scan->read_bytes -= files[i].size_bytes;
        else
            files[n++] = files[i];
    }
    scan->n_files = n;
}

static silt_status plan_file(const changes_source *t, size_t i, arena *a, scan_file *out, silt_error *err) {
    const change_file *c = t->files[i];
    const delta_snapshot *s = t->set->read;
    *out = (scan_file){.size_bytes = c->size_bytes > 0 ? c->size_bytes : 0,
                       .num_records = -1,
                       .partition = values_of(t, i),
                       .base_row_id = -1,
                       .default_row_commit_version = -1,
                       .modified_ms = c->modified_ms,
                       .index = i};
    return delta_resolve_path(delta_snapshot_env(s), delta_snapshot_root(s), c->path, a, &out->store, &out->path, err);
}

static silt_status source_scan(const table_source *base, const predicate *where, arena *a, table_scan *out, silt_error *err) {
    const changes_source *t = of(base);
    bool prunes = where && where->kind != PRED_UNKNOWN && where->kind != PRED_TRUE;
    scan_file *files = ARENA_ARRAY(a, t->n_files + 1, scan_file);
    size_t *masked = ARENA_ARRAY(a, t->n_files + 1, size_t), n_masked = 0;
    if (!files || !masked) return error_no_memory(err);
    *out = (table_scan){.files = files, .total_files = t->n_files, .total_bytes = t->bytes, .used = prunes ? where : NULL};
    for (size_t i = 0; i < t->n_files; i++) {
        if (prunes && !may_match(t, i, where, false, a)) {
            out->pruned_by_partition++;
            continue;
        }
        if (prunes && t->files[i]->stats.ptr && !may_match(t, i, where, true, a)) {
            out->pruned_by_stats++;
            continue;
        }
        TRY(plan_file(t, i, a, &files[out->n_files], err));
        out->read_bytes += files[out->n_files].size_bytes;
        if (t->files[i]->only_difference || t->files[i]->without.storage) masked[n_masked++] = out->n_files;
        out->n_files++;
    }
    TRY(load_masks(t, files, masked, n_masked, a, err));
    drop_empty(files, out);
    return SILT_OK;
}

static bool no_row_count(const table_source *t, int64_t *out) {
    (void)t, (void)out;
    return false;
}

static bool no_bounds(const table_source *t, column_path column, arena *a, value *out_min, value *out_max) {
    (void)t, (void)column, (void)a, (void)out_min, (void)out_max;
    return false;
}

static const table_source_ops source_ops = {
    .scan = source_scan, .row_count = no_row_count, .column_bounds = no_bounds, .release = source_release};

/* ---- schema ---- */

static silt_status change_schema(const data_type *schema, arena *a, const data_type **out, silt_error *err) {
    static const struct {
        const char *name;
        const data_type *type;
    } columns[DELTA_CHANGE_COLUMNS] = {
        {"_change_type", &type_string}, {"_commit_version", &type_long}, {"_commit_timestamp", &type_timestamp}};
    size_t n = schema->n_fields;
    field *fields = ARENA_ARRAY(a, n + DELTA_CHANGE_COLUMNS, field);
    if (!fields) return error_no_memory(err);
    if (n) memcpy(fields, schema->fields, n * sizeof *fields);
    for (size_t i = 0; i < DELTA_CHANGE_COLUMNS; i++) {
        str name = str_of(columns[i].name);
        int at = schema_find(schema, name);
        if (at >= 0) return err_DELTA_TABLE_ALREADY_CONTAINS_CDC_COLUMNS(err, schema->fields[at].name);
        fields[n + i] = field_make(name, columns[i].type, true);
    }
    *out = type_struct(a, fields, n + DELTA_CHANGE_COLUMNS);
    return *out ? SILT_OK : error_no_memory(err);
}

/* The table's partition columns, then the change columns that are constants of a file. */
static silt_status partition_columns(const delta_metadata *m, bool mixed, arena *a, const uint32_t **out, size_t *out_n,
                                     silt_error *err) {
    uint32_t *columns = ARENA_ARRAY(a, m->n_partition_columns + DELTA_CHANGE_COLUMNS, uint32_t);
    size_t n = 0;
    if (!columns) return error_no_memory(err);
    for (size_t i = 0; i < m->n_partition_columns; i++) {
        int at = schema_find(m->schema, m->partition_columns[i]);
        if (at < 0) return err_DELTA_PARTITION_COLUMN_NOT_FOUND(err, m->partition_columns[i]);
        columns[n++] = (uint32_t)at;
    }
    for (size_t i = mixed ? 1 : 0; i < DELTA_CHANGE_COLUMNS; i++) columns[n++] = (uint32_t)(m->schema->n_fields + i);
    *out = columns;
    *out_n = n;
    return SILT_OK;
}

static silt_status file_values(const changes_source *t, const delta_metadata *m, const change_file *f, arena *a, value *out,
                               silt_error *err) {
    size_t n = m->n_partition_columns;
    for (size_t i = 0; i < n; i++) {
        const field *column = &t->base.schema->fields[t->base.partition_columns[i]];
        str text = str_map_get(&f->partition_values, column->physical_name);
        int32_t zone = delta_snapshot_env(t->set->read)->zone_offset_seconds;
        TRY(partition_value_parse(text, str_is_null(text), column->type, zone, a, &out[i], err));
    }
    if (f->kind != CHANGE_MIXED)
        out[n++] = (value){.type = &type_string, .as.bytes = f->kind == CHANGE_INSERT ? STR("insert") : STR("delete")};
    out[n++] = (value){.type = &type_long, .as.i64 = f->version};
    out[n] = (value){.type = &type_timestamp, .as.i64 = f->timestamp_us};
    return SILT_OK;
}

/* ---- making them ---- */

static silt_status fill_source(changes_source *t, const data_type *schema, bool mixed, silt_error *err) {
    arena *a = t->set->arena;
    const delta_snapshot *s = t->set->read;
    const delta_metadata *m = delta_snapshot_metadata(s);
    const change_list *l = &t->set->list;
    str name = delta_table_name(delta_snapshot_env(s), delta_snapshot_root(s), a);
    t->base =
        (table_source){.ops = &source_ops,
                       .schema = schema,
                       .match = source_column_match(m),
                       .description = arena_printf(a, "changes of delta.`%.*s`%s", STR_ARG(name), mixed ? " (change files)" : ""),
                       .format = STR("delta"),
                       .location = arena_str(a, name),
                       .version = -1}; /* what happened is no state of the table: whoever reads it does not depend on one */
    if (str_is_null(t->base.description) || str_is_null(t->base.location)) return error_no_memory(err);
    TRY(partition_columns(m, mixed, a, &t->base.partition_columns, &t->base.n_partition_columns, err));
    t->files = ARENA_ARRAY(a, l->n_files + 1, const change_file *);
    value *values = ARENA_ARRAY(a, (l->n_files + 1) * t->base.n_partition_columns, value);
    if (!t->files || !values) return error_no_memory(err);
    t->values = values;
    for (size_t i = 0; i < l->n_files; i++) {
        const change_file *f = &l->files[i];
        if ((f->kind == CHANGE_MIXED) != mixed) continue;
        TRY(file_values(t, m, f, a, values + t->n_files * t->base.n_partition_columns, err));
        t->bytes += f->size_bytes > 0 ? f->size_bytes : 0;
        t->files[t->n_files++] = f;
    }
    return SILT_OK;
}

static silt_status make_source(change_set *set, const data_type *schema, bool mixed, table_source **out, silt_error *err) {
    changes_source *t = calloc(1, sizeof *t);
    if (!t) return error_no_memory(err);
    t->set = set;
    __atomic_add_fetch(&set->refs, 1, __ATOMIC_RELAXED);
    silt_status status = fill_source(t, schema, mixed, err);
    if (status == SILT_OK)
        *out = &t->base;
    else
        source_release(&t->base);
    return status;
}

static bool has_kind(const change_list *l, bool mixed) {
    for (size_t i = 0; i < l->n_files; i++)
        if ((l->files[i].kind == CHANGE_MIXED) == mixed) return true;
    return false;
}

static silt_status make_sources(change_set *set, const delta_changes_spec *spec, table_source *out[2], size_t *out_n,
                                silt_error *err) {
    const data_type *schema;
    TRY(change_schema(delta_snapshot_metadata(spec->read)->schema, set->arena, &schema, err));
    TRY(change_list_load(spec, set->arena, &set->list, err));
    bool files = has_kind(&set->list, true);
    if (!files || has_kind(&set->list, false)) {
        TRY(make_source(set, schema, false, &out[0], err));
        *out_n = 1;
    }
    if (!files) return SILT_OK;
    TRY(make_source(set, schema, true, &out[*out_n], err));
    ++*out_n;
    return SILT_OK;
}

silt_status delta_changes_load(const delta_changes_spec *spec, table_source *out[2], size_t *out_n, silt_error *err) {
    change_set *set = calloc(1, sizeof *set);
    *out_n = 0;
    if (!set) return error_no_memory(err);
    set->refs = 1;
    set->read = delta_snapshot_retain(spec->read);
    set->arena = arena_new();
    silt_status status = set->arena ? make_sources(set, spec, out, out_n, err) : error_no_memory(err);
    if (status != SILT_OK)
        while (*out_n > 0) source_release(out[--*out_n]);
    set_release(set);
    return status;
}

/* ---- from times to versions ---- */

/* The version at a time; *out_before where that is before the first. */
static silt_status version_at(const delta_env *env, str root, int64_t timestamp_ms, int64_t *out, bool *out_before,
                              silt_error *err) {
    silt_error why = {0};
    silt_status status = delta_version_at(env, root, timestamp_ms, out, &why);
    *out_before = status != SILT_OK && strcmp(why.condition, "DELTA_TIMESTAMP_EARLIER_THAN_COMMIT_RETENTION") == 0;
    if (*out_before) return SILT_OK;
    if (status != SILT_OK && err) *err = why;
    return status;
}

silt_status delta_changes_version_from(const delta_env *env, str root, int64_t timestamp_ms, int64_t *out, silt_error *err) {
    int64_t earliest, latest, before;
    bool is_before;
    TRY(delta_version_range(env, root, &earliest, &latest, err));
    *out = earliest;
    TRY(version_at(env, root, timestamp_ms, out, &is_before, err));
    if (is_before) return SILT_OK;
    TRY(version_at(env, root, timestamp_ms - 1, &before, &is_before, err));
    if (!is_before && before == *out) ++*out; /* committed earlier: the next one is the first after the time */
    return SILT_OK;
}
