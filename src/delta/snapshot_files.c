/* The files of a snapshot: one by number, all in order, tombstones, and the count of records. */
#include "delta/snapshot.h"
#include "delta/stats_fetch.h"

void snapshot_locate(const delta_snapshot *s, size_t i, size_t *out_view, uint32_t *out_row) {
    size_t lo = 0, hi = s->n_views;
    while (hi - lo > 1) {
        size_t mid = lo + (hi - lo) / 2;
        if (s->first_file[mid] <= i)
            lo = mid;
        else
            hi = mid;
    }
    *out_view = lo;
    *out_row = batch_view_add(&s->views[lo], (uint32_t)(i - s->first_file[lo]));
}

/* ---- one file ---- */

typedef struct one_stats {
    arena *arena;
    str *out;
} one_stats;

static silt_status take_one(void *ctx, uint32_t k, str stats, silt_error *err) {
    one_stats *o = ctx;
    (void)k;
    if (str_is_null(stats)) return SILT_OK;
    *o->out = arena_str(o->arena, stats);
    return o->out->ptr ? SILT_OK : error_no_memory(err);
}

silt_status delta_snapshot_file(const delta_snapshot *s, size_t i, bool with_stats, arena *a, delta_add *out, silt_error *err) {
    size_t view;
    uint32_t row;
    if (i >= delta_snapshot_n_files(s)) return err_INTERNAL_ERROR(err, "a file beyond the end of the snapshot was asked for");
    snapshot_locate(s, i, &view, &row);
    file_batch_get_add(s->views[view].batch, row, out);
    if (!with_stats) return SILT_OK;
    one_stats o = {.arena = a, .out = &out->stats};
    return stats_fetch(s->env, s->views[view].batch, &row, 1, take_one, &o, err);
}

/* ---- all files ---- */

typedef struct each_file {
    const delta_snapshot *s;
    size_t view;
    silt_status (*fn)(void *ctx, size_t i, const delta_add *add, silt_error *err);
    void *ctx;
} each_file;

static silt_status emit_file(void *ctx, uint32_t k, str stats, silt_error *err) {
    each_file *e = ctx;
    const batch_view *v = &e->s->views[e->view];
    delta_add add;
    file_batch_get_add(v->batch, batch_view_add(v, k), &add);
    add.stats = stats;
    return e->fn(e->ctx, e->s->first_file[e->view] + k, &add, err);
}

silt_status delta_snapshot_each_file(const delta_snapshot *s, bool with_stats,
                                     silt_status (*fn)(void *ctx, size_t i, const delta_add *add, silt_error *err), void *ctx,
                                     silt_error *err) {
    each_file e = {.s = s, .fn = fn, .ctx = ctx};
    for (e.view = 0; e.view < s->n_views; e.view++) {
        const batch_view *v = &s->views[e.view];
        TRY(cancel_check(s->env->cancel, err));
        if (with_stats) {
            TRY(stats_fetch(s->env, v->batch, v->adds ? v->adds->rows : NULL, v->n_adds, emit_file, &e, err));
            continue;
        }
        for (uint32_t k = 0; k < v->n_adds; k++) TRY(emit_file(&e, k, STR_NULL, err));
    }
    return SILT_OK;
}

/* ---- tombstones ---- */

typedef silt_status (*remove_fn)(void *ctx, const delta_remove *remove, silt_error *err);

typedef struct emit_remove {
    const batch_view *view;
    remove_fn fn;
    void *ctx;
} emit_remove;

static silt_status take_remove_stats(void *ctx, uint32_t k, str stats, silt_error *err) {
    emit_remove *e = ctx;
    delta_remove remove;
    file_batch_get_remove(e->view->batch, e->view->removes->rows[k], &remove);
    remove.stats = stats;
    return e->fn(e->ctx, &remove, err);
}

typedef struct checkpoint_removes {
    const live_keys *newer;
    remove_fn fn;
    void *ctx;
} checkpoint_removes;

/* A tombstone of the checkpoint counts unless a newer commit spoke of the same file. */
static silt_status take_checkpoint_remove(void *ctx, const delta_remove *remove, silt_error *err) {
    checkpoint_removes *c = ctx;
    return live_keys_has(c->newer, remove->path, &remove->dv) ? SILT_OK : c->fn(c->ctx, remove, err);
}

static silt_status each_checkpoint_remove(const delta_snapshot *s, remove_fn fn, void *ctx, silt_error *err) {
    if (s->n_checkpoint_files == 0) return SILT_OK;
    size_t first = 0;
    while (first < s->n_views && s->views[first].batch->sources[0].is_parquet)
        first++; /* the checkpoint's own adds cannot be tombstones too */
    live_keys *newer = live_keys_new(s->views + first, s->n_views - first);
    if (!newer) return error_no_memory(err);
    checkpoint_removes c = {.newer = newer, .fn = fn, .ctx = ctx};
    silt_status status = SILT_OK;
    for (size_t i = 0; i < s->n_checkpoint_files && status == SILT_OK; i++)
        status = checkpoint_each_remove(s->env, s->checkpoint_files[i], take_checkpoint_remove, &c, err);
    live_keys_free(newer);
    return status;
}

silt_status delta_snapshot_each_remove(const delta_snapshot *s, remove_fn fn, void *ctx, silt_error *err) {
    TRY(each_checkpoint_remove(s, fn, ctx, err));
    for (size_t i = 0; i < s->n_views; i++) {
        emit_remove e = {.view = &s->views[i], .fn = fn, .ctx = ctx};
        if (e.view->n_removes)
            TRY(stats_fetch(s->env, e.view->batch, e.view->removes->rows, e.view->n_removes, take_remove_stats, &e, err));
    }
    return SILT_OK;
}

/* ---- records ---- */

typedef struct record_count {
    const file_batch *batch;
    const uint32_t *rows;
    arena *scratch;
    bool known;
    int64_t total;
} record_count;

static bool add_records(record_count *c, const file_batch *b, uint32_t row, int64_t records) {
    delta_dv dv = file_batch_dv(b, row);
    int64_t live = records - (dv.storage ? dv.cardinality : 0);
    if (records < 0 || live < 0 || __builtin_add_overflow(c->total, live, &c->total)) c->known = false;
    return c->known;
}

static silt_status count_stats(void *ctx, uint32_t k, str stats, silt_error *err) {
    record_count *c = ctx;
    int64_t records;
    (void)err;
    if (!stats_num_records(stats, c->scratch, &records)) records = -1;
    arena_reset(c->scratch);
    add_records(c, c->batch, c->rows[k], records);
    return SILT_OK;
}

/* Adds what is known already; gathers the rows whose statistics have to be read. */
static silt_status count_view(const delta_snapshot *s, const batch_view *v, record_count *c, silt_error *err) {
    arena *a = arena_new();
    uint32_t *unknown = NULL;
    size_t n = 0, capacity = 0;
    silt_status status = a ? SILT_OK : error_no_memory(err);
    for (uint32_t i = 0; status == SILT_OK && c->known && i < v->n_adds; i++) {
        uint32_t row = batch_view_add(v, i);
        int64_t records = v->batch->rows[row].num_records;
        if (records != ROW_RECORDS_UNKNOWN)
            add_records(c, v->batch, row, records);
        else if (!ARENA_PUSH(a, unknown, n, capacity, row))
            status = error_no_memory(err);
    }
    c->batch = v->batch;
    c->rows = unknown;
    if (status == SILT_OK && c->known && n) status = stats_fetch(s->env, v->batch, unknown, (uint32_t)n, count_stats, c, err);
    arena_free(a);
    return status;
}

silt_status delta_snapshot_num_records(const delta_snapshot *s, bool *out_known, int64_t *out, silt_error *err) {
    delta_snapshot *m = (delta_snapshot *)(uintptr_t)s; /* the count is kept: a cache behind the lock */
    pthread_mutex_lock(&m->lock);
    silt_status status = SILT_OK;
    if (!m->counted) {
        record_count c = {.scratch = arena_new(), .known = true};
        if (!c.scratch) status = error_no_memory(err);
        for (size_t i = 0; i < s->n_views && status == SILT_OK && c.known; i++) status = count_view(s, &s->views[i], &c, err);
        arena_free(c.scratch);
        if (status == SILT_OK) {
            m->counted = true;
            m->count_known = c.known;
            m->num_records = c.total;
        }
    }
    *out_known = status == SILT_OK && m->count_known;
    *out = *out_known ? m->num_records : 0;
    pthread_mutex_unlock(&m->lock);
    return status;
}
