/*
 * Replay. Parsing is by pieces of about PIECE_BYTES: several small commits, one commit, or a part of a large one, so that threads
 * share the work whatever the commits' sizes are; each piece becomes one batch and no two threads meet.
 *
 * Reconciliation walks the rows from the newest to the oldest and asks a hash table of the keys met so far. A slot is 8 bytes
 * (half of the key, and the row's number), so that a million files need 16 MiB for a moment; threads split the key space, not the
 * rows, because "newest first" is an order over all rows.
 */
#include "delta/replay.h"

#include <pthread.h>
#include <stdlib.h>

#include "delta/log_fetch.h"

#define PIECE_BYTES (2 << 20)
#define PIECE_FILES 256

/* ---- views ---- */

void batch_view_retain(const batch_view *v) {
    file_batch_retain(v->batch);
    if (v->adds) __atomic_add_fetch(&v->adds->refs, 1, __ATOMIC_RELAXED);
    if (v->removes) __atomic_add_fetch(&v->removes->refs, 1, __ATOMIC_RELAXED);
}

static void live_release(live_rows *l) {
    if (l && __atomic_sub_fetch(&l->refs, 1, __ATOMIC_ACQ_REL) == 0) free(l);
}

void batch_view_release(batch_view *v) {
    live_release(v->adds);
    live_release(v->removes);
    file_batch_release(v->batch);
    *v = (batch_view){0};
}

/* ---- parsing ---- */

typedef struct piece_task {
    size_t first_file, n_files;
    int64_t from, to; /* of a part of one large file; to < 0: whole files */
    file_batch *batch;
    raw_actions actions;
    arena *arena;
    silt_status status;
    silt_error *error; /* in `arena`, when status is not SILT_OK */
} piece_task;

typedef struct parse_job {
    const delta_env *env;
    const log_file *files;
    int64_t info_version;
    piece_task *tasks;
    pthread_mutex_t lock;
    log_parser *idle[64]; /* parsers not in use */
    size_t n_idle;
} parse_job;

static log_parser *borrow_parser(parse_job *job) {
    pthread_mutex_lock(&job->lock);
    log_parser *p = job->n_idle ? job->idle[--job->n_idle] : NULL;
    pthread_mutex_unlock(&job->lock);
    return p ? p : log_parser_new();
}

static void return_parser(parse_job *job, log_parser *p) {
    pthread_mutex_lock(&job->lock);
    bool kept = job->n_idle < ARRAY_LEN(job->idle);
    if (kept) job->idle[job->n_idle++] = p;
    pthread_mutex_unlock(&job->lock);
    if (!kept) log_parser_free(p);
}

static silt_status parse_files(parse_job *job, piece_task *t, log_parser *p, silt_error *err) {
    for (size_t i = t->first_file; i < t->first_file + t->n_files; i++) {
        const log_file *f = &job->files[i];
        log_piece piece = {.path = f->path,
                           .version = f->name.end_version,
                           .from = t->from,
                           .to = t->to,
                           .want_commit_info = f->name.kind == LOG_COMMIT && f->name.version == job->info_version};
        TRY(cancel_check(job->env->cancel, err));
        TRY(log_parse_file(p, job->env->store, &piece, t->batch, &t->actions, t->arena, err));
    }
    return SILT_OK;
}

static silt_status parse_task(void *ctx, size_t i, silt_error *err) {
    parse_job *job = ctx;
    piece_task *t = &job->tasks[i];
    t->arena = arena_new();
    t->batch = file_batch_new();
    log_parser *p = t->arena && t->batch ? borrow_parser(job) : NULL;
    if (!p) return error_no_memory(err);
    silt_error local = {0};
    t->status = parse_files(job, t, p, &local);
    return_parser(job, p);
    if (t->status == SILT_NO_MEMORY) return error_no_memory(err);
    if (t->status != SILT_OK) {
        if (!(t->error = ARENA_NEW(t->arena, silt_error))) return error_no_memory(err);
        *t->error = local;
    }
    file_batch_freeze(t->batch);
    return SILT_OK;
}

static bool push_task(arena *a, piece_task **tasks, size_t *n, size_t *capacity, piece_task t) {
    return ARENA_PUSH(a, *tasks, *n, *capacity, t);
}

static bool plan_pieces(const log_file *files, size_t n_files, arena *a, piece_task **tasks, size_t *out_n) {
    size_t n = 0, capacity = 0;
    for (size_t i = 0; i < n_files;) {
        if (files[i].size_bytes > 2 * PIECE_BYTES) {
            for (int64_t from = 0; from < files[i].size_bytes; from += PIECE_BYTES) {
                bool last = from + PIECE_BYTES >= files[i].size_bytes;
                piece_task t = {.first_file = i, .n_files = 1, .from = from, .to = last ? -1 : from + PIECE_BYTES};
                if (!push_task(a, tasks, &n, &capacity, t)) return false;
            }
            i++;
            continue;
        }
        piece_task t = {.first_file = i, .to = -1};
        for (int64_t bytes = 0; i < n_files && t.n_files < PIECE_FILES && files[i].size_bytes <= 2 * PIECE_BYTES &&
                                (bytes == 0 || bytes + files[i].size_bytes <= PIECE_BYTES);
             t.n_files++)
            bytes += files[i++].size_bytes;
        if (!push_task(a, tasks, &n, &capacity, t)) return false;
    }
    *out_n = n;
    return true;
}

static void free_arena(void *a) { arena_free(a); }

/* Take over what the tasks made, in order. */
static silt_status collect(piece_task *tasks, size_t n, arena *a, parsed_log *out, silt_error *err) {
    out->batches = ARENA_ARRAY(a, n, file_batch *);
    if (!out->batches) return error_no_memory(err);
    for (size_t i = 0; i < n; i++) {
        piece_task *t = &tasks[i];
        if (t->status != SILT_OK && out->status == SILT_OK) {
            out->status = t->status;
            out->error = *t->error;
        }
        for (size_t k = 0; k < t->actions.count; k++)
            if (!ARENA_PUSH(a, out->actions.items, out->actions.count, out->actions.capacity, t->actions.items[k]))
                return error_no_memory(err);
        if (t->batch->n_rows)
            out->batches[out->n_batches++] = t->batch;
        else
            file_batch_release(t->batch);
        t->batch = NULL;
        if (!arena_defer(a, free_arena, t->arena)) return error_no_memory(err);
        t->arena = NULL;
    }
    return SILT_OK;
}

void parsed_log_release(parsed_log *p) {
    for (size_t i = 0; i < p->n_batches; i++) file_batch_release(p->batches[i]);
    p->n_batches = 0;
}

silt_status replay_parse(const delta_env *env, const log_file *files, size_t n_files, int64_t info_version, arena *a,
                         parsed_log *out, silt_error *err) {
    *out = (parsed_log){.status = SILT_OK};
    parse_job job = {.env = env, .files = files, .info_version = info_version, .lock = PTHREAD_MUTEX_INITIALIZER};
    size_t n = 0;
    TRY(log_fetch(env, files, n_files, a, err));
    if (!plan_pieces(files, n_files, a, &job.tasks, &n)) return error_no_memory(err);
    silt_status status = thread_for(env->n_threads, n, parse_task, &job, err);
    if (status == SILT_OK) status = collect(job.tasks, n, a, out, err);
    for (size_t i = 0; i < n; i++) { /* what was not taken over */
        file_batch_release(job.tasks[i].batch);
        arena_free(job.tasks[i].arena);
    }
    if (status != SILT_OK) parsed_log_release(out);
    for (size_t i = 0; i < job.n_idle; i++) log_parser_free(job.idle[i]);
    pthread_mutex_destroy(&job.lock);
    return status;
}

/* ---- reconciliation ---- */

typedef struct slot {
    uint32_t tag;    /* upper half of the key */
    uint32_t number; /* of the row over all batches, plus 1; 0 = empty */
} slot;

typedef struct key_set {
    slot *slots;
    uint64_t mask;
    file_batch *const *batches;
    const uint32_t *starts; /* starts[i] = number of batch i's first row; n + 1 entries */
    size_t n_batches;
} key_set;

static bool key_set_init(key_set *s, size_t n_keys) {
    uint64_t capacity = 16;
    while (capacity < n_keys * 2) capacity *= 2;
    s->mask = capacity - 1;
    s->slots = calloc(capacity, sizeof *s->slots);
    return s->slots != NULL;
}

static void locate(const key_set *s, uint32_t number, size_t *out_batch, uint32_t *out_row) {
    size_t lo = 0, hi = s->n_batches;
    while (hi - lo > 1) {
        size_t mid = lo + (hi - lo) / 2;
        if (s->starts[mid] <= number)
            lo = mid;
        else
            hi = mid;
    }
    *out_batch = lo;
    *out_row = number - s->starts[lo];
}

static bool is_same(const key_set *s, uint32_t number, const file_batch *b, uint32_t row) {
    size_t other;
    uint32_t other_row;
    locate(s, number, &other, &other_row);
    const file_batch *o = s->batches[other];
    return o->keys[other_row] == b->keys[row] && file_batch_same_file(o, other_row, b, row);
}

/* The slot that holds an equal key, or the empty one where it belongs. */
static slot *key_set_find(const key_set *s, const file_batch *b, uint32_t row) {
    uint64_t key = b->keys[row];
    uint32_t tag = (uint32_t)(key >> 32);
    for (uint64_t i = key & s->mask;; i = (i + 1) & s->mask) {
        slot *at = &s->slots[i];
        if (at->number == 0 || (at->tag == tag && is_same(s, at->number - 1, b, row))) return at;
    }
}

typedef struct reconcile_job {
    key_set set;          /* without slots */
    uint8_t *const *live; /* live[batch][row] */
    size_t parts;
    size_t n_rows;
} reconcile_job;

#define AHEAD 12

/* Rows whose key falls to part `p`, newest first: the first of each key lives. */
static silt_status reconcile_part(void *ctx, size_t p, silt_error *err) {
    reconcile_job *job = ctx;
    key_set set = job->set;
    size_t expected = job->n_rows / job->parts;
    if (!key_set_init(&set, expected + expected / 8 + 8)) return error_no_memory(err);
    size_t used = 0;
    for (size_t b = set.n_batches; b-- > 0;) {
        const file_batch *batch = set.batches[b];
        for (uint32_t row = batch->n_rows; row-- > 0;) {
            if (row >= AHEAD) __builtin_prefetch(&set.slots[batch->keys[row - AHEAD] & set.mask]);
            if ((batch->keys[row] >> 58) % job->parts != p) continue;
            slot *at = key_set_find(&set, batch, row);
            if (at->number) continue;
            if (++used > set.mask * 3 / 4) { /* a badly skewed log: more keys of this part than thought */
                free(set.slots);
                if (!key_set_init(&set, job->n_rows + 1)) return error_no_memory(err);
                b = set.n_batches; /* once more from the start, with room for all */
                used = 0;
                break;
            }
            *at = (slot){.tag = (uint32_t)(batch->keys[row] >> 32), .number = set.starts[b] + row + 1};
            job->live[b][row] = 1;
        }
    }
    free(set.slots);
    return SILT_OK;
}

static live_rows *live_new(uint32_t n) {
    live_rows *l = malloc(sizeof *l + (size_t)n * sizeof l->rows[0]);
    if (l) *l = (live_rows){.refs = 1, .count = n};
    return l;
}

/* Sizes come from the log, so a sum may not overflow. */
static int64_t add_sizes(int64_t a, int64_t b) {
    int64_t sum;
    return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

/* From marks to row lists; takes no reference of the batch. */
static bool make_view(file_batch *b, const uint8_t *live, batch_view *out) {
    uint32_t adds = 0, removes = 0;
    int64_t bytes = 0;
    for (uint32_t i = 0; i < b->n_rows; i++) {
        if (!live[i]) continue;
        if (file_row_is_remove(&b->rows[i])) {
            removes++;
        } else {
            adds++;
            bytes = add_sizes(bytes, b->rows[i].size_bytes);
        }
    }
    *out = (batch_view){.batch = b, .n_adds = adds, .n_removes = removes, .add_bytes = bytes};
    if (adds < b->n_rows && !(out->adds = live_new(adds))) return false;
    if (removes && !(out->removes = live_new(removes))) {
        live_release(out->adds);
        return false;
    }
    if (!out->adds) return true;
    for (uint32_t i = 0, na = 0, nr = 0; i < b->n_rows; i++) {
        if (!live[i]) continue;
        if (file_row_is_remove(&b->rows[i]))
            out->removes->rows[nr++] = i;
        else
            out->adds->rows[na++] = i;
    }
    return true;
}

/* Row numbers over all batches; false when they do not fit 32 bits. */
static bool number_rows(file_batch *const *batches, size_t n, uint32_t *starts, size_t *out_total) {
    uint64_t total = 0;
    for (size_t i = 0; i < n; i++) {
        starts[i] = (uint32_t)total;
        total += batches[i]->n_rows;
        if (total >= UINT32_MAX - 1) return false;
    }
    starts[n] = (uint32_t)total;
    *out_total = (size_t)total;
    return true;
}

static void drop_views(batch_view *views, size_t n) {
    for (size_t i = 0; i < n; i++) batch_view_release(&views[i]);
}

#define ROWS_FOR_THREADS 65536

silt_status replay_reconcile(file_batch *const *batches, size_t n, int n_threads, batch_view *out_views, silt_error *err) {
    silt_status status = SILT_OK;
    size_t total, done = 0;
    uint8_t *marks = NULL, **live = calloc(n + 1, sizeof *live);
    uint32_t *starts = calloc(n + 1, sizeof *starts);
    if (!live || !starts || !number_rows(batches, n, starts, &total) || !(marks = calloc(total + 1, 1))) {
        status = error_no_memory(err);
        goto out;
    }
    for (size_t i = 0; i < n; i++) live[i] = marks + starts[i];
    int threads = n_threads > 0 ? n_threads : thread_count_default();
    reconcile_job job = {.set = {.batches = batches, .starts = starts, .n_batches = n},
                         .live = live,
                         .n_rows = total,
                         .parts = total < ROWS_FOR_THREADS ? 1 : (size_t)(threads > 16 ? 16 : threads)};
    TRY_OUT(thread_for(n_threads, job.parts, reconcile_part, &job, err));
    for (; done < n; done++) {
        if (!make_view(batches[done], live[done], &out_views[done])) {
            status = error_no_memory(err);
            goto out;
        }
        file_batch_retain(batches[done]);
    }
out:
    if (status != SILT_OK) drop_views(out_views, done);
    free(marks);
    free(live);
    free(starts);
    return status;
}

/* `rows` without those whose key stands in the set; NULL with *out_same when none does. */
static bool filter_rows(const key_set *set, const file_batch *b, const live_rows *rows, uint32_t n, live_rows **out,
                        bool *out_same) {
    *out = NULL;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t row = rows ? rows->rows[i] : i;
        bool dead = key_set_find(set, b, row)->number != 0;
        if (dead && !*out) {
            if (!(*out = live_new(n))) return false;
            for (uint32_t k = 0; k < i; k++) (*out)->rows[k] = rows ? rows->rows[k] : k;
            (*out)->count = i;
        }
        if (!dead && *out) (*out)->rows[(*out)->count++] = row;
    }
    *out_same = *out == NULL;
    return true;
}

static bool filter_view(const key_set *set, const batch_view *old, batch_view *out) {
    live_rows *adds, *removes;
    bool same_adds, same_removes;
    if (!filter_rows(set, old->batch, old->adds, old->n_adds, &adds, &same_adds)) return false;
    if (!filter_rows(set, old->batch, old->removes, old->n_removes, &removes, &same_removes)) {
        live_release(adds);
        return false;
    }
    *out = *old;
    batch_view_retain(old);
    if (!same_adds) {
        live_release(out->adds);
        out->adds = adds;
        out->n_adds = adds->count;
        out->add_bytes = 0;
        for (uint32_t i = 0; i < adds->count; i++)
            out->add_bytes = add_sizes(out->add_bytes, out->batch->rows[adds->rows[i]].size_bytes);
    }
    if (!same_removes) {
        live_release(out->removes);
        out->removes = removes;
        out->n_removes = removes->count;
    }
    return true;
}

/* A set of all live keys of reconciled views. */
static bool fill_set(key_set *set, const batch_view *views, size_t n, size_t n_rows) {
    if (!key_set_init(set, n_rows + 1)) return false;
    for (size_t v = 0; v < n; v++) {
        const batch_view *view = &views[v];
        for (uint32_t i = 0; i < view->n_adds + view->n_removes; i++) {
            uint32_t row = i < view->n_adds ? batch_view_add(view, i) : view->removes->rows[i - view->n_adds];
            *key_set_find(set, view->batch, row) =
                (slot){.tag = (uint32_t)(view->batch->keys[row] >> 32), .number = set->starts[v] + row + 1};
        }
    }
    return true;
}

silt_status replay_reconcile_onto(const batch_view *older, size_t n_older, file_batch *const *newer, size_t n_newer,
                                  batch_view *out_views, silt_error *err) {
    size_t total = 0, done = 0;
    key_set set = {.batches = newer, .n_batches = n_newer};
    uint32_t *starts = calloc(n_newer + 1, sizeof *starts);
    silt_status status = SILT_OK;
    if (!starts || !number_rows(newer, n_newer, starts, &total)) {
        status = error_no_memory(err);
        goto out;
    }
    TRY_OUT(replay_reconcile(newer, n_newer, 1, out_views + n_older, err));
    set.starts = starts;
    if (!fill_set(&set, out_views + n_older, n_newer, total)) status = error_no_memory(err);
    for (; status == SILT_OK && done < n_older; done++)
        if (!filter_view(&set, &older[done], &out_views[done])) {
            status = error_no_memory(err);
            break;
        }
    if (status != SILT_OK) {
        drop_views(out_views, done);
        drop_views(out_views + n_older, n_newer);
    }
out:
    free(set.slots);
    free(starts);
    return status;
}

/* ---- looking up ---- */

struct live_keys {
    key_set set;
    file_batch **batches;
    uint32_t *starts;
};

live_keys *live_keys_new(const batch_view *views, size_t n) {
    live_keys *k = calloc(1, sizeof *k);
    size_t total, live = 0;
    if (!k) return NULL;
    k->batches = calloc(n + 1, sizeof *k->batches);
    k->starts = calloc(n + 1, sizeof *k->starts);
    if (!k->batches || !k->starts) goto failed;
    for (size_t i = 0; i < n; i++) {
        k->batches[i] = views[i].batch;
        live += (size_t)views[i].n_adds + views[i].n_removes;
    }
    k->set = (key_set){.batches = k->batches, .starts = k->starts, .n_batches = n};
    if (number_rows(k->batches, n, k->starts, &total) && fill_set(&k->set, views, n, live)) return k;
failed:
    live_keys_free(k);
    return NULL;
}

void live_keys_free(live_keys *k) {
    if (!k) return;
    free(k->set.slots);
    free(k->batches);
    free(k->starts);
    free(k);
}

bool live_keys_has(const live_keys *k, str path, const delta_dv *dv) {
    uint64_t key = file_key(path, dv);
    uint32_t tag = (uint32_t)(key >> 32), row;
    size_t b;
    for (uint64_t i = key & k->set.mask; k->set.slots[i].number; i = (i + 1) & k->set.mask) {
        if (k->set.slots[i].tag != tag) continue;
        locate(&k->set, k->set.slots[i].number - 1, &b, &row);
        if (k->batches[b]->keys[row] == key && file_batch_is_file(k->batches[b], row, path, dv)) return true;
    }
    return false;
}
