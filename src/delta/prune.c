/*
 * Which files a scan needs. Partition values decide first, once per distinct map; only where the predicate also asks about other
 * columns are the statistics of the files that are left fetched and read, view by view on all threads. A missing log file
 * (cleaned up under an old snapshot) makes statistics unknown, never a failure.
 */
#include "delta/source.h"
#include "delta/stats_fetch.h"

/* ---- partition values ---- */

static str partition_text(const str_map *map, const field *f, bool *out_null) {
    for (int pass = 0; pass < 2; pass++) /* the physical name; else some writers' other case of it */
        for (size_t i = 0; i < map->count; i++)
            if (pass == 0 ? str_eq(map->keys[i], f->physical_name) : str_eq_ascii_fold(map->keys[i], f->physical_name)) {
                *out_null = str_is_null(map->values[i]);
                return map->values[i];
            }
    *out_null = true;
    return STR_NULL;
}

static silt_status parse_map(const delta_source *t, const str_map *map, arena *a, value *out, silt_error *err) {
    for (size_t c = 0; c < t->base.n_partition_columns; c++) {
        const field *f = &t->base.schema->fields[t->base.partition_columns[c]];
        bool null;
        str text = partition_text(map, f, &null);
        TRY(partition_value_parse(text, null, f->type, t->snapshot->env->zone_offset_seconds, a, &out[c], err));
    }
    return SILT_OK;
}

silt_status partition_table_build(const delta_source *t, arena *a, partition_table *out, silt_error *err) {
    const delta_snapshot *s = t->snapshot;
    *out = (partition_table){.n_columns = t->base.n_partition_columns};
    if (out->n_columns == 0) return SILT_OK;
    out->views = ARENA_ARRAY(a, s->n_views, const value *);
    if (!out->views) return error_no_memory(err);
    for (size_t v = 0; v < s->n_views; v++) {
        const file_batch *b = s->views[v].batch;
        if (s->views[v].n_adds == 0) continue;
        size_t n = b->n_partitions + 1; /* the last one for rows without a map */
        value *values = ARENA_ARRAY(a, n * out->n_columns, value);
        if (!values) return error_no_memory(err);
        static const str_map none = {0};
        for (size_t i = 0; i < n; i++)
            TRY(parse_map(t, i < b->n_partitions ? &b->partitions[i] : &none, a, values + i * out->n_columns, err));
        out->views[v] = values;
    }
    return SILT_OK;
}

const value *partition_table_row(const partition_table *p, const delta_source *t, size_t view, uint32_t row) {
    if (p->n_columns == 0) return NULL;
    const file_batch *b = t->snapshot->views[view].batch;
    size_t i = b->rows[row].flags & ROW_HAS_PARTITION ? b->rows[row].partition : b->n_partitions;
    return p->views[view] + i * p->n_columns;
}

static bool is_partition_column(const delta_source *t, column_path c) {
    for (size_t i = 0; i < t->base.n_partition_columns; i++)
        if (c.depth == 1 && c.index[0] == t->base.partition_columns[i]) return true;
    return false;
}

/* Does some leaf ask about a column in the files? */
static bool asks_data(const delta_source *t, const predicate *p) {
    if (p->kind <= PRED_FALSE) return false;
    if (p->kind > PRED_NOT) return !is_partition_column(t, p->column);
    for (size_t i = 0; i < (p->kind == PRED_NOT ? 1 : p->n_children); i++)
        if (asks_data(t, p->children[i])) return true;
    return false;
}

/* The verdict about each map of one view: 0 not asked yet, 1 keep, 2 drop. */
static void prune_view_partitions(const delta_source *t, const predicate *where, const partition_table *p, size_t view,
                                  uint8_t *verdicts, arena *a, prune_result *out) {
    const batch_view *v = &t->snapshot->views[view];
    uint8_t *keep = out->keep + t->snapshot->first_file[view];
    for (uint32_t k = 0; k < v->n_adds; k++) {
        uint32_t row = batch_view_add(v, k);
        if (!keep[k]) continue;
        uint8_t *verdict = &verdicts[p->n_columns && v->batch->rows[row].flags & ROW_HAS_PARTITION ? v->batch->rows[row].partition
                                                                                                   : v->batch->n_partitions];
        if (*verdict == 0) {
            file_stats stats;
            stats_source source;
            file_stats_parse(STR_NULL, t->base.schema, a, &stats);
            if (p->n_columns)
                file_stats_set_partition(&stats, t->base.partition_columns, p->n_columns, partition_table_row(p, t, view, row));
            file_stats_source(&stats, &source);
            *verdict = predicate_may_match(where, &source) ? 1 : 2;
        }
        if (*verdict == 1) continue;
        keep[k] = 0;
        out->by_partition++;
    }
}

/* ---- statistics ---- */

typedef silt_status (*file_stats_fn)(void *ctx, size_t view, uint32_t k, const file_stats *stats, silt_error *err);

typedef struct stats_job {
    const delta_source *t;
    const partition_table *partitions;
    const uint8_t *keep; /**< NULL: all */
    file_stats_fn fn;
    void *ctx;
} stats_job;

/* One view's turn. */
typedef struct stats_turn {
    const stats_job *job;
    size_t view;
    const uint32_t *rows, *numbers; /* rows asked for, and their numbers among the view's adds */
    arena *arena;
    uint32_t since_reset;
} stats_turn;

static silt_status take_stats(void *ctx, uint32_t k, str text, silt_error *err) {
    stats_turn *turn = ctx;
    const stats_job *job = turn->job;
    const batch_view *v = &job->t->snapshot->views[turn->view];
    uint32_t row = turn->rows[k];
    file_stats stats;
    if (++turn->since_reset == 1024) {
        arena_reset(turn->arena);
        turn->since_reset = 0;
    }
    file_stats_parse(text, job->t->base.schema, turn->arena, &stats);
    if (stats.num_records < 0 && v->batch->rows[row].num_records >= 0) stats.num_records = v->batch->rows[row].num_records;
    if (job->partitions->n_columns)
        file_stats_set_partition(&stats, job->t->base.partition_columns, job->partitions->n_columns,
                                 partition_table_row(job->partitions, job->t, turn->view, row));
    return job->fn(job->ctx, turn->view, turn->numbers[k], &stats, err);
}

static silt_status stats_of_view(void *ctx, size_t view, silt_error *err) {
    const stats_job *job = ctx;
    const delta_snapshot *s = job->t->snapshot;
    const batch_view *v = &s->views[view];
    if (v->n_adds == 0) return SILT_OK;
    arena *local = arena_new(), *texts = arena_new();
    uint32_t *rows = local ? ARENA_ARRAY(local, v->n_adds, uint32_t) : NULL,
             *numbers = local ? ARENA_ARRAY(local, v->n_adds, uint32_t) : NULL, n = 0;
    silt_status status = rows && numbers && texts ? SILT_OK : error_no_memory(err);
    for (uint32_t k = 0; status == SILT_OK && k < v->n_adds; k++) {
        if (job->keep && !job->keep[s->first_file[view] + k]) continue;
        rows[n] = batch_view_add(v, k);
        numbers[n++] = k;
    }
    stats_turn turn = {.job = job, .view = view, .rows = rows, .numbers = numbers, .arena = texts};
    if (status == SILT_OK && n) status = stats_fetch(s->env, v->batch, rows, n, take_stats, &turn, err);
    arena_free(texts);
    arena_free(local);
    return status;
}

static silt_status each_stats(stats_job *job, silt_error *err) {
    const delta_snapshot *s = job->t->snapshot;
    return thread_for(s->env->n_threads, s->n_views, stats_of_view, job, err);
}

/* The log was cleaned up, or the checkpoint written again since: a file without statistics is one that may hold anything. */
static bool is_only_unknown(silt_status status, const silt_error *why) { return status == SILT_NOT_FOUND || (status == SILT_IO && store_met_another_version(why)); }

typedef struct prune_job {
    const predicate *where;
    const size_t *first_file;
    uint8_t *keep;
    size_t dropped; /* atomic */
} prune_job;

static silt_status prune_by_stats(void *ctx, size_t view, uint32_t k, const file_stats *stats, silt_error *err) {
    prune_job *job = ctx;
    stats_source source;
    (void)err;
    file_stats_source(stats, &source);
    if (predicate_may_match(job->where, &source)) return SILT_OK;
    job->keep[job->first_file[view] + k] = 0;
    __atomic_add_fetch(&job->dropped, 1, __ATOMIC_RELAXED);
    return SILT_OK;
}

silt_status source_prune(const delta_source *t, const predicate *where, const partition_table *p, arena *a, prune_result *out,
                         silt_error *err) {
    const delta_snapshot *s = t->snapshot;
    size_t n = delta_snapshot_n_files(s);
    *out = (prune_result){.keep = arena_alloc(a, n + 1)};
    if (!out->keep) return error_no_memory(err);
    memset(out->keep, 1, n + 1);
    if (t->keep) memcpy(out->keep, t->keep, n);
    if (!where || where->kind == PRED_UNKNOWN || where->kind == PRED_TRUE) return SILT_OK;
    for (size_t v = 0; v < s->n_views; v++) {
        uint8_t *verdicts = ARENA_ARRAY(a, s->views[v].batch->n_partitions + 1, uint8_t);
        if (!verdicts) return error_no_memory(err);
        prune_view_partitions(t, where, p, v, verdicts, a, out);
    }
    if (!asks_data(t, where) || out->by_partition == t->n_kept) return SILT_OK;
    prune_job job = {.where = where, .first_file = s->first_file, .keep = out->keep};
    stats_job stats = {.t = t, .partitions = p, .keep = out->keep, .fn = prune_by_stats, .ctx = &job};
    silt_error why = {0};
    silt_status status = each_stats(&stats, &why);
    out->by_stats = job.dropped;
    if (status == SILT_OK || is_only_unknown(status, &why)) return SILT_OK; /* what could not be read stays kept */
    if (err) *err = why;
    return status;
}

/* ---- files of which every row is meant ---- */

typedef struct match_job {
    const predicate *where;
    const size_t *first_file;
    uint8_t *all;
} match_job;

static silt_status match_stats(void *ctx, size_t view, uint32_t k, const file_stats *stats, silt_error *err) {
    match_job *job = ctx;
    stats_source source;
    (void)err;
    file_stats_source(stats, &source);
    job->all[job->first_file[view] + k] = predicate_all_match(job->where, &source);
    return SILT_OK;
}

/* Partition values decide alone: no statistics are fetched. */
static silt_status match_partitions(const delta_source *t, const partition_table *p, const uint8_t *some, match_job *job, silt_error *err) {
    const delta_snapshot *s = t->snapshot;
    arena *scratch = arena_new();
    if (!scratch) return error_no_memory(err);
    for (size_t v = 0; v < s->n_views; v++)
        for (uint32_t k = 0; k < s->views[v].n_adds; k++) {
            file_stats stats;
            if (!some[s->first_file[v] + k]) continue;
            file_stats_parse(STR_NULL, t->base.schema, scratch, &stats);
            if (p->n_columns)
                file_stats_set_partition(&stats, t->base.partition_columns, p->n_columns, partition_table_row(p, t, v, batch_view_add(&s->views[v], k)));
            (void)match_stats(job, v, k, &stats, NULL);
        }
    arena_free(scratch);
    return SILT_OK;
}

silt_status delta_files_matching(const table_source *base, const predicate *where, arena *a, uint8_t **out_some, uint8_t **out_all, silt_error *err) {
    const delta_source *t = (const delta_source *)base;
    partition_table partitions;
    prune_result pruned;
    TRY(partition_table_build(t, a, &partitions, err));
    TRY(source_prune(t, where, &partitions, a, &pruned, err));
    *out_some = pruned.keep;
    *out_all = ARENA_ARRAY(a, delta_snapshot_n_files(t->snapshot) + 1, uint8_t);
    if (!*out_all) return error_no_memory(err);
    if (!where || where->kind == PRED_UNKNOWN) return SILT_OK;
    match_job job = {.where = where, .first_file = t->snapshot->first_file, .all = *out_all};
    if (!asks_data(t, where)) return match_partitions(t, &partitions, pruned.keep, &job, err);
    stats_job stats = {.t = t, .partitions = &partitions, .keep = pruned.keep, .fn = match_stats, .ctx = &job};
    silt_error why = {0};
    silt_status status = each_stats(&stats, &why);
    if (status == SILT_OK || is_only_unknown(status, &why)) return SILT_OK; /* what could not be read has no flag */
    if (err) *err = why;
    return status;
}

/* ---- exact bounds ---- */

/* Types whose bounds every writer keeps exactly. */
static bool has_exact_bounds(const data_type *t) { return type_is_integral(t) || t->id == TYPE_DATE; }

typedef struct bounds_job {
    const delta_source *t;
    column_path column;
    const data_type *type;
    bool partition;
    pthread_mutex_t lock;
    bool certain, any;
    value min, max;
} bounds_job;

static void widen(bounds_job *job, const value *lo, const value *hi) {
    bool comparable = true;
    if (!job->any || value_compare(lo, &job->min, &comparable) < 0) job->min = *lo;
    if (comparable && (!job->any || value_compare(hi, &job->max, &comparable) > 0)) job->max = *hi;
    if (!comparable) job->certain = false;
    job->any = true;
}

/* The live rows of a file, -1 unknown. */
static int64_t live_rows_of(const batch_view *v, uint32_t row, int64_t records) {
    delta_dv dv = file_batch_dv(v->batch, row);
    return records < 0 ? -1 : records - (dv.storage ? dv.cardinality : 0);
}

static bool file_bounds(const bounds_job *job, const batch_view *v, uint32_t row, const file_stats *stats, value *lo, value *hi,
                        bool *out_empty) {
    int64_t live = live_rows_of(v, row, stats->num_records), nulls;
    *out_empty = live == 0;
    if (live < 0) return false;
    if (live == 0) return true;
    if (job->partition) {
        if (file_stats_bound(stats, job->column, STATS_MIN, lo)) {
            *hi = *lo;
            return true;
        }
        *out_empty = file_stats_null_count(stats, job->column, &nulls) && nulls > 0;
        return *out_empty;
    }
    if (!stats->tight_bounds || v->batch->rows[row].dv) return false;
    if (!file_stats_null_count(stats, job->column, &nulls) || nulls > stats->num_records) return false;
    *out_empty = nulls == stats->num_records;
    return *out_empty ||
           (file_stats_bound(stats, job->column, STATS_MIN, lo) && file_stats_bound(stats, job->column, STATS_MAX, hi));
}

static silt_status take_bounds(void *ctx, size_t view, uint32_t k, const file_stats *stats, silt_error *err) {
    bounds_job *job = ctx;
    const batch_view *v = &job->t->snapshot->views[view];
    value lo, hi;
    bool empty;
    (void)err;
    bool known = file_bounds(job, v, batch_view_add(v, k), stats, &lo, &hi, &empty);
    pthread_mutex_lock(&job->lock);
    if (!known)
        job->certain = false;
    else if (!empty && job->certain)
        widen(job, &lo, &hi);
    bool go_on = job->certain;
    pthread_mutex_unlock(&job->lock);
    return go_on ? SILT_OK : SILT_NOT_FOUND; /* one unknown file ends it */
}

static const data_type *column_type(const delta_source *t, column_path c) {
    const data_type *type = t->base.schema;
    for (size_t i = 0; i < c.depth; i++) {
        if (type->id != TYPE_STRUCT || c.index[i] >= type->n_fields) return NULL;
        type = type->fields[c.index[i]].type;
    }
    return type;
}

silt_status source_bounds(const delta_source *t, column_path column, arena *a, bool *out_certain, value *out_min, value *out_max,
                          silt_error *err) {
    const data_type *type = column_type(t, column);
    partition_table partitions;
    *out_certain = false;
    bounds_job job = {.t = t, .column = column, .type = type, .partition = is_partition_column(t, column), .certain = true};
    if (!type || (!job.partition && !has_exact_bounds(type))) return SILT_OK;
    TRY(partition_table_build(t, a, &partitions, err));
    if (pthread_mutex_init(&job.lock, NULL) != 0) return error_no_memory(err);
    stats_job stats = {.t = t, .partitions = &partitions, .keep = t->keep, .fn = take_bounds, .ctx = &job};
    silt_error why = {0};
    silt_status status = each_stats(&stats, &why);
    pthread_mutex_destroy(&job.lock);
    if (status != SILT_OK && job.certain && !is_only_unknown(status, &why)) {
        if (err) *err = why;
        return status;
    }
    *out_certain = job.certain && status == SILT_OK;
    value none = {.type = type, .is_null = true};
    *out_min = job.any ? job.min : none;
    *out_max = job.any ? job.max : none;
    return SILT_OK;
}
