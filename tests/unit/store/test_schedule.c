/* The scheduler itself: how many orders it walks, that it finds a lost update, and that faults come at each call. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <unistd.h>

#include <cmocka.h>

#include "support/schedule.h"

typedef struct world {
    size_t puts; /* per writer */
    bool shared_path;
    size_t seen_statuses[16];
    size_t objects_after; /* over all runs */
} world;

static store *begin_empty(void *ctx) {
    (void)ctx;
    store *s = NULL;
    return store_memory_open(1, &s, NULL) == SILT_OK ? s : NULL;
}

static void end_world(void *ctx, store *s) {
    (void)ctx;
    store_close(s);
}

static bool accept(void *ctx, store *s, const schedule_result *result) {
    (void)ctx;
    (void)s;
    (void)result;
    return true;
}

static silt_status put_several(void *ctx, size_t writer, store *s, silt_error *err) {
    const world *w = ctx;
    char path[64];
    for (size_t i = 0; i < w->puts; i++) {
        snprintf(path, sizeof path, "/f%zu", w->shared_path ? 0 : writer);
        TRY(store_put(s, str_of(path), STR("x"), STORE_PUT_REPLACE, err));
    }
    return SILT_OK;
}

static void every_order_of_dependent_calls_is_walked_once(void **state) {
    (void)state;
    world w = {.puts = 3, .shared_path = true};
    schedule_options o = {.n_writers = 2, .ctx = &w, .begin = begin_empty, .writer = put_several, .check = accept, .end = end_world};
    schedule_stats stats;
    assert_true(schedule_explore(&o, &stats));
    assert_true(stats.complete);
    assert_int_equal(stats.runs, 20); /* 6! / (3! 3!) */
    assert_int_equal(stats.most_steps, 6);

    o.n_writers = 3;
    w.puts = 2;
    assert_true(schedule_explore(&o, &stats));
    assert_int_equal(stats.runs, 90); /* 6! / (2! 2! 2!) */
}

static void orders_of_independent_calls_are_left_out(void **state) {
    (void)state;
    world w = {.puts = 3, .shared_path = false};
    schedule_options o = {.n_writers = 3, .ctx = &w, .begin = begin_empty, .writer = put_several, .check = accept, .end = end_world};
    schedule_stats stats;
    assert_true(schedule_explore(&o, &stats));
    assert_true(stats.complete);
    assert_int_equal(stats.runs, 1);
}

static void a_run_limit_is_kept_and_told(void **state) {
    (void)state;
    world w = {.puts = 3, .shared_path = true};
    schedule_options o = {.n_writers = 2, .ctx = &w, .begin = begin_empty, .writer = put_several, .check = accept, .end = end_world, .max_runs = 7};
    schedule_stats stats;
    assert_true(schedule_explore(&o, &stats));
    assert_int_equal(stats.runs, 7);
    assert_false(stats.complete);
}

static bool skip_f0(void *ctx, const char *call, str path) {
    (void)ctx;
    (void)call;
    return !str_eqz(path, "/f0");
}

static void calls_that_are_no_points_do_not_branch(void **state) {
    (void)state;
    world w = {.puts = 3, .shared_path = true};
    schedule_options o = {.n_writers = 2, .ctx = &w, .begin = begin_empty, .writer = put_several, .check = accept, .end = end_world, .is_point = skip_f0};
    schedule_stats stats;
    assert_true(schedule_explore(&o, &stats));
    assert_int_equal(stats.runs, 1);
    assert_int_equal(stats.most_steps, 0);
}

/* ---- a lost update is found; a compare-and-set loop loses none ---- */

static silt_status read_number(store *s, str path, int *out, silt_error *err) {
    buf b;
    buf_init(&b, 64);
    silt_status status = store_read(s, path, 0, -1, &b, err);
    *out = b.len ? b.ptr[0] - '0' : 0;
    buf_dispose(&b);
    return status == SILT_NOT_FOUND ? SILT_OK : status;
}

static silt_status increment_blindly(void *ctx, size_t writer, store *s, silt_error *err) {
    (void)ctx;
    (void)writer;
    int n;
    TRY(read_number(s, STR("/n"), &n, err));
    char text = (char)('0' + n + 1);
    return store_put(s, STR("/n"), (str){&text, 1}, STORE_PUT_REPLACE, err);
}

static bool both_counted(void *ctx, store *s, const schedule_result *result) {
    (void)ctx;
    (void)result;
    int n;
    return read_number(s, STR("/n"), &n, NULL) == SILT_OK && n == 2;
}

static void a_lost_update_is_found(void **state) {
    (void)state;
    schedule_options o = {.n_writers = 2, .begin = begin_empty, .writer = increment_blindly, .check = both_counted, .end = end_world};
    schedule_stats stats;
    fflush(stderr);
    int saved = dup(2); /* the run is printed; that is not for the test's output */
    assert_non_null(freopen("/dev/null", "w", stderr));
    bool ok = schedule_explore(&o, &stats);
    fflush(stderr);
    dup2(saved, 2);
    close(saved);
    assert_false(ok);
}

/* The log of a table in small: claim the first free number. */
static silt_status claim_next(void *ctx, size_t writer, store *s, silt_error *err) {
    (void)ctx;
    char path[32], owner = (char)('0' + writer);
    for (int n = 0;; n++) {
        snprintf(path, sizeof path, "/log/%d", n);
        silt_status status = store_put(s, str_of(path), (str){&owner, 1}, STORE_PUT_IF_ABSENT, err);
        if (status == SILT_UNKNOWN) {
            buf b;
            buf_init(&b, 8);
            status = store_read(s, str_of(path), 0, -1, &b, err);
            bool mine = status == SILT_OK && b.len == 1 && b.ptr[0] == owner;
            buf_dispose(&b);
            if (status == SILT_NOT_FOUND) n--;
            if (mine) return SILT_OK;
            if (status == SILT_OK || status == SILT_NOT_FOUND) continue;
        }
        if (status != SILT_EXISTS) return status;
    }
}

/* Numbers without a gap; who was told OK has exactly one; who was told of a failure and did not die has none. */
static bool log_is_right(void *ctx, store *s, const schedule_result *result) {
    world *w = ctx;
    arena *a = arena_new();
    store_list_result list;
    size_t owned[SCHEDULE_MAX_WRITERS] = {0}, n = 0;
    silt_status status = store_list(s, STR("/log"), STR_NULL, false, a, &list, NULL);
    bool ok = status == SILT_OK || status == SILT_NOT_FOUND;
    for (size_t i = 0; ok && i < list.count; i++, n++) {
        char expected[32];
        snprintf(expected, sizeof expected, "/log/%zu", i);
        buf b;
        buf_init(&b, 8);
        ok = str_eqz(list.items[i].path, expected) && store_read(s, list.items[i].path, 0, -1, &b, NULL) == SILT_OK && b.len == 1;
        if (ok) owned[b.ptr[0] - '0']++;
        buf_dispose(&b);
    }
    for (size_t i = 0; i < 3; i++) {
        if (result->writers[i].crashed) ok = ok && owned[i] <= 1;
        else if (result->writers[i].status == SILT_OK) ok = ok && (owned[i] == 1 || result->writers[i].calls == 0);
        else ok = ok && owned[i] == 0;
        w->seen_statuses[result->writers[i].status]++;
    }
    w->objects_after += n;
    arena_free(a);
    return ok;
}

static void three_claimants_with_every_fault_keep_the_log_whole(void **state) {
    (void)state;
    world w = {0};
    schedule_options o = {.n_writers = 3, .ctx = &w, .begin = begin_empty, .writer = claim_next, .check = log_is_right, .end = end_world,
                          .faults = SCHEDULE_FAIL | SCHEDULE_LOST_REPLY | SCHEDULE_CRASH | SCHEDULE_CRASH_AFTER, .max_faults = 1};
    schedule_stats stats;
    assert_true(schedule_explore(&o, &stats));
    assert_true(stats.complete);
    assert_true(stats.runs > 60);
    assert_true(w.seen_statuses[SILT_IO] > 0);
    print_message("# %zu runs, %zu left out\n", stats.runs, stats.left_out);
}

static void one_writer_meets_each_fault_at_each_call(void **state) {
    (void)state;
    world w = {.puts = 4, .shared_path = true};
    schedule_options o = {.n_writers = 1, .ctx = &w, .begin = begin_empty, .writer = put_several, .check = accept, .end = end_world,
                          .faults = SCHEDULE_ALL_FAULTS, .max_faults = 1};
    schedule_stats stats;
    assert_true(schedule_explore(&o, &stats));
    assert_int_equal(stats.runs, 1 + 4 * 4); /* none, or one of four kinds (no short read) at one of four puts */
}

static void random_runs_are_as_many_as_asked_for(void **state) {
    (void)state;
    world w = {0};
    schedule_options o = {.n_writers = 3, .ctx = &w, .begin = begin_empty, .writer = claim_next, .check = log_is_right, .end = end_world,
                          .faults = SCHEDULE_ALL_FAULTS, .max_faults = 1, .random_runs = 200, .seed = 7};
    schedule_stats stats;
    assert_true(schedule_explore(&o, &stats));
    assert_int_equal(stats.runs, 200);
    assert_false(stats.complete);
}

int main(void) {
    cmocka_set_message_output(CM_OUTPUT_TAP);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_order_of_dependent_calls_is_walked_once),
        cmocka_unit_test(orders_of_independent_calls_are_left_out),
        cmocka_unit_test(a_run_limit_is_kept_and_told),
        cmocka_unit_test(calls_that_are_no_points_do_not_branch),
        cmocka_unit_test(a_lost_update_is_found),
        cmocka_unit_test(three_claimants_with_every_fault_keep_the_log_whole),
        cmocka_unit_test(one_writer_meets_each_fault_at_each_call),
        cmocka_unit_test(random_runs_are_as_many_as_asked_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
