/*
 * The scheduler of schedule.h. A writer's store is a fault store whose `before` parks the writer; semaphores hand the one turn to
 * and fro. A choice is (fault, writer), numbered fault * 8 + writer, so that a set of choices is a 64-bit mask and plain steps come
 * before faults.
 */
#include "support/schedule.h"

#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>

#define N_FAULTS 6 /* of store_fault, with FAULT_NONE */

typedef struct run run;

typedef struct writer {
    run *run;
    size_t index;
    pthread_t thread;
    store *store;
    sem_t may_move;
    bool is_done, is_crashed;
    store_fault fault; /* ordered for the call it stands before */
    const char *call;  /* it stands before; valid while parked */
    str path;
    size_t calls;
    silt_status status;
    silt_error error;
} writer;

typedef struct step {
    size_t writer;
    store_fault fault;
    const char *call;
    char *path;
} step;

struct run {
    const schedule_options *options;
    sem_t has_stopped; /* the writer that moved is parked or done */
    bool is_abandoned; /* calls fail without a stop, so that the threads end */
    writer writers[SCHEDULE_MAX_WRITERS];
    step *steps;
    size_t n_steps, step_capacity;
    size_t n_faults;
};

/* One choice point of the tree, on the path that is being walked. */
typedef struct node {
    uint64_t enabled; /* choices */
    uint64_t asleep;  /* choices whose subtree was walked elsewhere */
    uint64_t walked;  /* choices already taken here */
    unsigned chosen;
} node;

typedef struct exploration {
    const schedule_options *options;
    schedule_stats *stats;
    node *path;
    size_t depth, capacity;
    uint64_t random;
} exploration;

static size_t writer_of(unsigned choice) { return choice % SCHEDULE_MAX_WRITERS; }
static store_fault fault_of(unsigned choice) { return (store_fault)(choice / SCHEDULE_MAX_WRITERS); }
static unsigned choice_of(size_t w, store_fault fault) { return (unsigned)fault * SCHEDULE_MAX_WRITERS + (unsigned)w; }
static uint64_t bit(unsigned choice) { return UINT64_C(1) << choice; }

static void wait_for(sem_t *sem) {
    while (sem_wait(sem) != 0) continue; /* EINTR */
}

static void *allocate(void *old, size_t n, size_t size) {
    void *p = realloc(old, n * size);
    if (!p) {
        fprintf(stderr, "schedule: out of memory\n");
        abort();
    }
    return p;
}

/* ---- the writers' side ---- */

static store_fault park(void *ctx, const char *call, str path, size_t nth_call) {
    writer *w = ctx;
    (void)nth_call;
    if (w->run->is_abandoned) return FAULT_CRASH;
    w->calls++;
    if (w->run->options->is_point && !w->run->options->is_point(w->run->options->ctx, call, path)) return FAULT_NONE;
    w->call = call;
    w->path = path;
    sem_post(&w->run->has_stopped);
    wait_for(&w->may_move);
    return w->run->is_abandoned ? FAULT_CRASH : w->fault;
}

static void bind_to_one_processor(void) {
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) != 0) return;
    for (size_t i = 0; i < CPU_SETSIZE; i++) {
        if (!CPU_ISSET(i, &set)) continue;
        CPU_ZERO(&set);
        CPU_SET(i, &set);
        (void)sched_setaffinity(0, sizeof set, &set);
        return;
    }
}

static void *writer_main(void *arg) {
    writer *w = arg;
    bind_to_one_processor();
    wait_for(&w->may_move);
    w->status = w->run->options->writer(w->run->options->ctx, w->index, w->store, &w->error);
    w->is_done = true;
    sem_post(&w->run->has_stopped);
    return NULL;
}

/* Let one writer go on to its next stop. */
static void move(run *r, writer *w) {
    sem_post(&w->may_move);
    wait_for(&r->has_stopped);
}

/* ---- one run ---- */

static bool is_write(const char *call) {
    return strcmp(call, "read") != 0 && strcmp(call, "stat") != 0 && strcmp(call, "list") != 0 && strcmp(call, "local_read_path") != 0;
}

static bool is_at_or_below(str path, str dir) {
    while (dir.len > 0 && dir.ptr[dir.len - 1] == '/') dir.len--;
    return str_starts_with(path, dir) && (path.len == dir.len || path.ptr[dir.len] == '/');
}

/* Does a call with this fault reach the store at all? */
static bool has_effect(store_fault fault) { return fault != FAULT_FAIL && fault != FAULT_CRASH; }

/* Do the two choices lead to the same state in either order? */
static bool are_independent(const run *r, unsigned x, unsigned y) {
    const writer *v = &r->writers[writer_of(x)], *w = &r->writers[writer_of(y)];
    if (v == w) return false;
    if (fault_of(x) != FAULT_NONE && fault_of(y) != FAULT_NONE) return false; /* the one may leave no fault for the other */
    if (!has_effect(fault_of(x)) || !has_effect(fault_of(y))) return true;
    if (!is_write(v->call) && !is_write(w->call)) return true;
    return !is_at_or_below(v->path, w->path) && !is_at_or_below(w->path, v->path);
}

static uint64_t enabled_choices(const run *r) {
    const schedule_options *o = r->options;
    uint64_t mask = 0;
    for (size_t i = 0; i < o->n_writers; i++) {
        const writer *w = &r->writers[i];
        if (w->is_done) continue;
        mask |= bit(choice_of(i, FAULT_NONE));
        for (unsigned f = FAULT_FAIL; f < N_FAULTS && r->n_faults < o->max_faults; f++)
            if ((o->faults >> f & 1) && (f != FAULT_SHORT || strcmp(w->call, "read") == 0)) mask |= bit(choice_of(i, (store_fault)f));
    }
    return mask;
}

static void record_step(run *r, const writer *w) {
    if (r->n_steps == r->step_capacity) {
        r->step_capacity = r->step_capacity ? r->step_capacity * 2 : 32;
        r->steps = allocate(r->steps, r->step_capacity, sizeof *r->steps);
    }
    char *path = allocate(NULL, w->path.len + 1, 1);
    memcpy(path, w->path.ptr, w->path.len);
    path[w->path.len] = '\0';
    r->steps[r->n_steps++] = (step){w->index, w->fault, w->call, path};
}

static void take_step(run *r, unsigned choice) {
    writer *w = &r->writers[writer_of(choice)];
    w->fault = fault_of(choice);
    w->is_crashed |= w->fault == FAULT_CRASH || w->fault == FAULT_CRASH_AFTER;
    if (w->fault != FAULT_NONE) r->n_faults++;
    record_step(r, w);
    move(r, w);
}

static void print_run(const run *r, const char *why) {
    static const char *const faults[] = {"", " FAILS", ": REPLY LOST", ": DIES BEFORE", ": DIES AFTER", ": SHORT"};
    fprintf(stderr, "schedule: %s in this run:\n", why);
    for (size_t i = 0; i < r->n_steps; i++) {
        const step *s = &r->steps[i];
        fprintf(stderr, "  %zu. writer %zu: %s %s%s\n", i + 1, s->writer, s->call, s->path, faults[s->fault]);
    }
    for (size_t i = 0; i < r->options->n_writers; i++) {
        const writer *w = &r->writers[i];
        fprintf(stderr, "  writer %zu: status %d %s %s %s\n", i, (int)w->status, w->error.condition, w->error.message, w->error.detail);
    }
}

static bool start(run *r, store *world) {
    sem_init(&r->has_stopped, 0, 0);
    for (size_t i = 0; i < r->options->n_writers; i++) {
        writer *w = &r->writers[i];
        *w = (writer){.run = r, .index = i};
        sem_init(&w->may_move, 0, 0);
        if (store_fault_open(world, park, w, &w->store, NULL) != SILT_OK) return false;
        if (pthread_create(&w->thread, NULL, writer_main, w) != 0) return false;
    }
    for (size_t i = 0; i < r->options->n_writers; i++) move(r, &r->writers[i]); /* to its first call */
    return true;
}

static void finish(run *r) {
    for (size_t i = 0; i < r->options->n_writers; i++) {
        writer *w = &r->writers[i];
        if (!w->is_done) sem_post(&w->may_move); /* an abandoned run */
        pthread_join(w->thread, NULL);
        store_close(w->store);
        sem_destroy(&w->may_move);
    }
    sem_destroy(&r->has_stopped);
}

static bool check(const run *r, store *world) {
    schedule_result result = {.n_faults = r->n_faults};
    for (size_t i = 0; i < r->options->n_writers; i++) {
        const writer *w = &r->writers[i];
        result.writers[i].status = w->status;
        result.writers[i].crashed = w->is_crashed;
        result.writers[i].calls = w->calls;
        result.writers[i].error = w->error;
    }
    if (r->options->check(r->options->ctx, world, &result)) return true;
    print_run(r, "the check failed");
    return false;
}

/* ---- the tree ---- */

static uint64_t next_random(exploration *e) { /* xorshift64* */
    e->random ^= e->random >> 12;
    e->random ^= e->random << 25;
    e->random ^= e->random >> 27;
    return e->random * UINT64_C(0x2545f4914f6cdd1d);
}

/* One of the mask's choices; a fault once in eight steps. */
static unsigned pick_random(exploration *e, uint64_t mask) {
    uint64_t plain = mask & ((UINT64_C(1) << SCHEDULE_MAX_WRITERS) - 1), faulty = mask & ~plain;
    if (faulty && next_random(e) % 8 == 0) plain = faulty;
    uint64_t skip = next_random(e) % (uint64_t)__builtin_popcountll(plain);
    for (; skip > 0; skip--) plain &= plain - 1;
    return (unsigned)__builtin_ctzll(plain);
}

static node *push_node(exploration *e, uint64_t enabled, uint64_t asleep) {
    if (e->depth == e->capacity) {
        e->capacity = e->capacity ? e->capacity * 2 : 64;
        e->path = allocate(e->path, e->capacity, sizeof *e->path);
    }
    e->path[e->depth] = (node){.enabled = enabled, .asleep = asleep};
    return &e->path[e->depth++];
}

/* What sleeps below a node: what slept or was walked there, unless the step taken touches it. */
static uint64_t asleep_below(const run *r, const node *n) {
    uint64_t candidates = n->asleep | (n->walked & ~bit(n->chosen)), out = 0;
    for (; candidates; candidates &= candidates - 1) {
        unsigned choice = (unsigned)__builtin_ctzll(candidates);
        if (are_independent(r, choice, n->chosen)) out |= bit(choice);
    }
    return out;
}

typedef enum outcome { CHECKED, LEFT_OUT, FAILED } outcome;

/* Follow the path, then go on by first choices to a leaf. */
static outcome walk(exploration *e, run *r) {
    uint64_t asleep = 0, enabled;
    for (size_t at = 0; (enabled = enabled_choices(r)) != 0; at++) {
        if (e->options->random_runs) {
            take_step(r, pick_random(e, enabled));
            continue;
        }
        node *n = at < e->depth ? &e->path[at] : push_node(e, enabled, asleep);
        if (n->enabled != enabled) {
            print_run(r, "a writer is not deterministic");
            return FAILED;
        }
        if (!(n->walked & bit(n->chosen))) { /* a new node */
            uint64_t open = enabled & ~asleep;
            if (!open) return LEFT_OUT;
            n->chosen = (unsigned)__builtin_ctzll(open);
            n->walked |= bit(n->chosen);
        }
        asleep = asleep_below(r, n);
        take_step(r, n->chosen);
    }
    return CHECKED;
}

/* To the next leaf: the deepest node with a choice left. false: the tree is done. */
static bool advance(exploration *e) {
    while (e->depth > 0) {
        node *n = &e->path[e->depth - 1];
        uint64_t open = n->enabled & ~n->asleep & ~n->walked;
        if (open) {
            n->chosen = (unsigned)__builtin_ctzll(open);
            n->walked |= bit(n->chosen);
            return true;
        }
        e->depth--;
    }
    return false;
}

static outcome run_once(exploration *e) {
    const schedule_options *o = e->options;
    store *world = o->begin(o->ctx);
    if (!world) {
        fprintf(stderr, "schedule: begin failed\n");
        return FAILED;
    }
    run r = {.options = o};
    if (!start(&r, world)) {
        fprintf(stderr, "schedule: a thread or a store could not be made\n");
        abort();
    }
    outcome result = walk(e, &r);
    r.is_abandoned = result != CHECKED;
    finish(&r);
    if (result == CHECKED && !check(&r, world)) result = FAILED;
    if (o->end) o->end(o->ctx, world);
    if (r.n_steps > e->stats->most_steps) e->stats->most_steps = r.n_steps;
    for (size_t i = 0; i < r.n_steps; i++) free(r.steps[i].path);
    free(r.steps);
    return result;
}

bool schedule_explore(const schedule_options *options, schedule_stats *out_stats) {
    exploration e = {.options = options, .stats = out_stats, .random = options->seed ? options->seed : UINT64_C(0x9e3779b97f4a7c15)};
    *out_stats = (schedule_stats){0};
    size_t limit = options->random_runs ? options->random_runs : options->max_runs ? options->max_runs : SIZE_MAX;
    outcome result;
    bool more;
    do {
        result = run_once(&e);
        out_stats->runs += result == CHECKED;
        out_stats->left_out += result == LEFT_OUT;
        more = options->random_runs || advance(&e);
    } while (result != FAILED && more && out_stats->runs < limit);
    out_stats->complete = result != FAILED && !more;
    free(e.path);
    return result != FAILED;
}
