/**
 * Every order of several writers: a deterministic scheduler over the calls of a store.
 *
 * Each writer runs in a thread of its own but only one of them moves at a time. A writer stops before each call of its store; the
 * scheduler picks the one that goes on, and may order a fault for that call (a failure, a lost reply, death before or after it).
 * The choices form a tree, which schedule_explore walks depth first, running the writers from the start for each leaf. So
 * with two writers that make m and n calls it tries all (m+n)!/(m!n!) orders, and with faults each order with each fault at each call.
 *
 * Orders that differ only in calls that do not touch each other (reads; writes of different paths) lead to the same end, and all
 * but one of them are left out (sleep sets, after Godefroid). Two calls touch each other where at least one writes and one path
 * is the other's or a folder above it. That is right as long as the writers share nothing but the store: no cache between them,
 * no clock that counts their calls (the memory store's clock does so; do not compare times of objects in different folders).
 *
 *     static silt_status append(void *ctx, size_t writer, store *s, silt_error *err) { … a transaction over `s` … }
 *     static bool lost_nothing(void *ctx, store *s, const schedule_result *r) { … read with `s`; r->writers[i].status … }
 *
 *     schedule_options o = {.n_writers = 2, .begin = new_table, .writer = append, .check = lost_nothing, .end = close_table, .ctx = &t,
 *                           .faults = SCHEDULE_LOST_REPLY | SCHEDULE_CRASH | SCHEDULE_CRASH_AFTER, .max_faults = 1};
 *     schedule_stats stats;
 *     assert_true(schedule_explore(&o, &stats));
 *     assert_true(stats.complete);
 *
 * A writer must be deterministic but for random names: the same answers of the store lead to the same calls. It must call the store from
 * one thread; its thread is bound to one processor, so that thread_for with the default number of threads does. It should return
 * after a crash: every call of its store fails then. It must not assert (no cmocka calls outside the test's thread): it returns a status.
 */
#ifndef SUPPORT_SCHEDULE_H
#define SUPPORT_SCHEDULE_H

#include "store/store.h"

#define SCHEDULE_MAX_WRITERS 8

/** Faults to try at each call; combine with |. */
enum {
    SCHEDULE_FAIL = 1 << FAULT_FAIL,
    SCHEDULE_LOST_REPLY = 1 << FAULT_LOST_REPLY,
    SCHEDULE_CRASH = 1 << FAULT_CRASH,
    SCHEDULE_CRASH_AFTER = 1 << FAULT_CRASH_AFTER,
    SCHEDULE_SHORT = 1 << FAULT_SHORT, /**< reads only */
    SCHEDULE_ALL_FAULTS = SCHEDULE_FAIL | SCHEDULE_LOST_REPLY | SCHEDULE_CRASH | SCHEDULE_CRASH_AFTER | SCHEDULE_SHORT
};

typedef struct schedule_result {
    struct {
        silt_status status; /**< what its function returned */
        bool crashed;       /**< it was ordered to; its status is then of no interest */
        size_t calls;
        silt_error error;
    } writers[SCHEDULE_MAX_WRITERS];
    size_t n_faults; /**< ordered in this run */
} schedule_result;

typedef struct schedule_options {
    size_t n_writers; /**< 1 … SCHEDULE_MAX_WRITERS; 1 is for crash points */
    void *ctx;        /**< for the functions below */
    store *(*begin)(void *ctx); /**< a fresh world for each run: the store that all writers share; NULL ends with a failure */
    silt_status (*writer)(void *ctx, size_t writer, store *s, silt_error *err); /**< in its own thread; s is its own, do not close it */
    /** After each run, in the caller's thread, over the store of `begin`, free of faults. false: the run is printed, exploration ends. */
    bool (*check)(void *ctx, store *s, const schedule_result *result);
    void (*end)(void *ctx, store *s); /**< take the world down; after check */

    unsigned faults;   /**< kinds to try, 0: none */
    size_t max_faults; /**< in one run */
    size_t max_runs;   /**< stop after so many, 0: no limit */
    /** Instead of every order: so many random ones from `seed` (for three writers with long transactions). */
    size_t random_runs;
    uint64_t seed;
    /** NULL: a writer stops before every call. false: it runs through this one (say, reads of what never changes). */
    bool (*is_point)(void *ctx, const char *call, str path);
} schedule_options;

typedef struct schedule_stats {
    size_t runs;       /**< checked */
    size_t left_out;   /**< begun and found to equal one that was checked */
    size_t most_steps; /**< choices in the longest run */
    bool complete;     /**< every order was tried; false after random runs or at max_runs */
} schedule_stats;

/** @return false when a check failed (the run is then on stderr, step by step) or a writer was not deterministic */
bool schedule_explore(const schedule_options *options, schedule_stats *out_stats);

#endif
