/*
 * What to ask of the store: the stretches that are wanted and not there, joined where the gap costs less than another request, cut where more connections are faster, all in one go.
 *
 * Each piece is written as soon as it is whole, so that no more than the pieces under way are in memory. No lock is held while the store is waited for: two processes that want the same bytes at
 * the same moment both read them, and the second finds them there.
 */
#include <stdlib.h>
#include <time.h>

#include "store/cache/cache.h"

#define PIECE_MIN   ((int64_t)512 << 10)
#define PIECE_MAX   ((int64_t)4 << 20)
#define GAP_MIN     ((int64_t)8 << 10)
#define GAP_MAX     ((int64_t)1 << 20)
#define GAP_SHARE   32 /* gaps read along are at most this part of what is wanted */
#define LEARN_BYTES 1000000.0 /* from less than that no bandwidth is learned */

/* ---- the pace ---- */

static double now_us(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static void learn(double *known, double seen) { *known = *known > 0 ? *known * 0.7 + seen * 0.3 : seen; }

/* As many bytes as one connection moves in the time that another request would take. */
static int64_t worthwhile_gap(cache_pace *p, int in_flight) {
    pthread_mutex_lock(&p->lock);
    double gap = p->latency_us * p->bytes_per_us / in_flight;
    pthread_mutex_unlock(&p->lock);
    return gap < (double)GAP_MIN ? GAP_MIN : gap > (double)GAP_MAX ? GAP_MAX : (int64_t)gap;
}

/* ---- the plan ---- */

typedef struct piece {
    size_t want; /* which file */
    int64_t offset, length;
} piece;

typedef struct plan {
    piece *items;
    size_t count, capacity;
    int64_t bytes;
} plan;

/* What is missing of one wanted stretch, in order. */
static bool add_missing(cache_spans *out, const cache_spans *present, int64_t from, int64_t to, arena *a) {
    for (size_t i = 0; i < present->count && from < to; i++) {
        int64_t start = present->items[i].offset, end = start + present->items[i].length;
        if (end <= from) continue;
        if (start >= to) break;
        if (start > from && !cache_spans_add(out, from, start - from, a)) return false;
        from = end;
    }
    return from >= to || cache_spans_add(out, from, to - from, a);
}

static bool missing_of(const cache_want *w, arena *a, cache_spans *out) {
    int64_t size = w->key.size;
    if (w->n_spans == 0) return add_missing(out, &w->present, 0, size, a);
    for (size_t i = 0; i < w->n_spans; i++) {
        int64_t from = w->spans[i].offset < 0 ? 0 : w->spans[i].offset;
        int64_t length = from > size ? 0 : w->spans[i].length > size - from ? size - from : w->spans[i].length;
        if (!add_missing(out, &w->present, from, from + length, a)) return false;
    }
    return true;
}

/* Gaps between what is missing, also over what is there: it comes once more. */
static bool join_near(cache_spans *s, int64_t gap, arena *a) {
    int64_t wanted = 0, spent = 0;
    for (size_t i = 0; i < s->count; i++) wanted += s->items[i].length;
    for (size_t i = 1; i < s->count; i++) {
        int64_t end = s->items[i - 1].offset + s->items[i - 1].length, between = s->items[i].offset - end;
        if (between > gap || spent + between > wanted / GAP_SHARE) continue;
        spent += between;
        if (!cache_spans_add(s, end, between, a)) return false;
        i--; /* the two are one now */
    }
    return true;
}

static bool cut(plan *p, size_t want, const cache_spans *s, int64_t piece_bytes, arena *a) {
    for (size_t i = 0; i < s->count; i++) {
        int64_t n = (s->items[i].length + piece_bytes - 1) / piece_bytes, each = (s->items[i].length + n - 1) / n;
        for (int64_t at = 0; at < s->items[i].length; at += each) {
            int64_t length = s->items[i].length - at < each ? s->items[i].length - at : each;
            if (!ARENA_PUSH(a, p->items, p->count, p->capacity, ((piece){want, s->items[i].offset + at, length}))) return false;
        }
    }
    return true;
}

static bool make_plan(cache_want *wants, size_t n, int64_t gap, int in_flight, arena *a, plan *out) {
    cache_spans *missing = ARENA_ARRAY(a, n + 1, cache_spans);
    if (!missing) return false;
    for (size_t i = 0; i < n; i++) {
        if (!missing_of(&wants[i], a, &missing[i]) || !join_near(&missing[i], gap, a)) return false;
        wants[i].hit = missing[i].count == 0;
        for (size_t k = 0; k < missing[i].count; k++) out->bytes += missing[i].items[k].length;
    }
    int64_t each = out->bytes / in_flight;
    each = each < PIECE_MIN ? PIECE_MIN : each > PIECE_MAX ? PIECE_MAX : each;
    for (size_t i = 0; i < n; i++)
        if (!cut(out, i, &missing[i], each, a)) return false;
    return true;
}

/* ---- reading ---- */

typedef struct fetch {
    const cache_folder *folder;
    const cache_want *wants;
    const plan *plan;
    store_range *ranges;
    double started_us;
    double first_us; /* atomically set once: the first answer */
    bool answered;
} fetch;

static silt_status too_short(str path, silt_error *err) {
    silt_status status = err_IO_ERROR(err, "read", path);
    error_detail(err, "The object is shorter than it was said to be when it was listed or written.");
    return status;
}

static silt_status keep_piece(void *ctx, size_t i, silt_error *err) {
    fetch *f = ctx;
    const piece *p = &f->plan->items[i];
    const cache_want *w = &f->wants[p->want];
    buf *bytes = f->ranges[i].out;
    if (!__atomic_exchange_n(&f->answered, true, __ATOMIC_RELAXED)) f->first_us = now_us() - f->started_us;
    silt_status status = (int64_t)bytes->len == p->length ? cache_entry_add(f->folder, &w->key, p->offset, buf_str(bytes), err) : too_short(w->path, err);
    buf_dispose(bytes);
    return status;
}

static silt_status read_pieces(store *inner, int in_flight, fetch *f, const cancel_token *cancel, arena *a, size_t *out_failed, silt_error *err) {
    size_t n = f->plan->count;
    buf *bytes = ARENA_ARRAY(a, n + 1, buf);
    f->ranges = ARENA_ARRAY(a, n + 1, store_range);
    if (!bytes || !f->ranges) return error_no_memory(err);
    for (size_t i = 0; i < n; i++) {
        const piece *p = &f->plan->items[i];
        buf_init(&bytes[i], (size_t)p->length + 1);
        f->ranges[i] = (store_range){.path = f->wants[p->want].path, .offset = p->offset, .length = p->length, .tag = f->wants[p->want].tag, .out = &bytes[i]};
    }
    store_read_options o = {.in_flight = inner->ops->read_many ? 0 : in_flight, .cancel = cancel, .done = keep_piece, .ctx = f};
    silt_status status = store_read_many(inner, f->ranges, n, &o, err);
    for (size_t i = 0; i < n; i++) {
        buf_dispose(&bytes[i]);
        bool is_cause = status != SILT_OK && f->ranges[i].status == status;
        if (is_cause && f->plan->items[i].want < *out_failed) *out_failed = f->plan->items[i].want;
    }
    return status;
}

static void learn_pace(cache_pace *p, const fetch *f, double us, int64_t bytes) {
    pthread_mutex_lock(&p->lock);
    if (f->answered) learn(&p->latency_us, f->first_us);
    double moving = us - f->first_us;
    if ((double)bytes >= LEARN_BYTES && moving > 0) learn(&p->bytes_per_us, (double)bytes / moving);
    pthread_mutex_unlock(&p->lock);
}

silt_status cache_fetch(store *inner, int in_flight, const cache_folder *folder, cache_pace *pace, cache_want *wants, size_t n, const cancel_token *cancel, arena *a, int64_t *out_bytes, size_t *out_failed,
                        silt_error *err) {
    plan p = {0};
    *out_bytes = 0;
    *out_failed = n;
    if (!make_plan(wants, n, worthwhile_gap(pace, in_flight), in_flight, a, &p)) return error_no_memory(err);
    if (p.count == 0) return SILT_OK;
    fetch f = {.folder = folder, .wants = wants, .plan = &p, .started_us = now_us()};
    TRY(read_pieces(inner, in_flight, &f, cancel, a, out_failed, err));
    learn_pace(pace, &f, now_us() - f.started_us, p.bytes);
    *out_bytes = p.bytes;
    return SILT_OK;
}
