/*
 * CLONE and GENERATE with a fault at each of their storage calls. Afterwards the clone is as before (absent, or the older one) or as it should be, and its source as it was; the same
 * statement, run again by a fresh session, ends well, and the clone has the source's rows. A file that a run has finished is not copied again by the next one.
 */
#include "support/fault_world.h"

#define MAX_CALLS 400

static fault_world w;

/* The sum over a table's rows; -1 where there is no table. */
static int64_t sum_of(silt_session *s, const char *table) {
    char sql[256];
    int64_t out = 0;
    silt_error err = {0};
    snprintf(sql, sizeof sql, "SELECT CAST(COALESCE(sum(id * 10 + p), 0) AS BIGINT) FROM %s", table);
    silt_status status = session_number(s, sql, &out, &err);
    if (status == SILT_NOT_FOUND) return -1;
    if (status != SILT_OK) fail_msg("%s: [%s] %s %s", sql, err.condition, err.message, err.detail);
    return out;
}

typedef struct order {
    fault_order fault;
    size_t copies;
} order;

static store_fault on_order(void *ctx, const char *call, str path, size_t nth) {
    order *o = ctx;
    if (strcmp(call, "write_finish") == 0 && str_find(path, STR(".parquet")) != SIZE_MAX) __atomic_add_fetch(&o->copies, 1, __ATOMIC_RELAXED);
    return fault_on_order(&o->fault, call, path, nth);
}

typedef struct clone_case {
    const char *sql;
    int64_t before; /* the clone's sum, -1: there is none */
    bool may_exist; /* run again, it may say that the table is there */
    bool every_fault;
} clone_case;

static silt_status run_ordered(const char *sql, order *o, silt_error *err) { return world_run(&w, sql, on_order, o, err); }

static void check_outcome(const clone_case *c, const char *clone, const order *o, silt_status status, const silt_error *err, int64_t after, bool *out_is_there) {
    silt_session *s = world_open(&w);
    int64_t found = sum_of(s, clone);
    fault_check_told(c->sql, &o->fault, status, err, found == c->before, found == after);
    assert_int_equal(sum_of(s, "s"), after);
    *out_is_there = found == after;
    silt_session_close(s);
}

/* false: it ended before its at-th call. */
static bool run_once(const clone_case *c, store_fault fault, size_t at, int64_t after) {
    order o = {.fault = {.at = at, .fault = fault}}, again = {.fault = {.at = SIZE_MAX}};
    silt_error err = {0};
    char sql[512], clone[160];
    bool is_there;
    fault_world_fresh(&w);
    snprintf(sql, sizeof sql, c->sql, w.warehouse);
    snprintf(clone, sizeof clone, "delta.`%s/c`", w.warehouse);
    silt_status status = run_ordered(sql, &o, &err);
    if (!o.fault.given) return o.fault.calls >= at;
    check_outcome(c, clone, &o, status, &err, after, &is_there);
    silt_error second = {0};
    status = run_ordered(sql, &again, &second);
    if (status != SILT_OK && !(c->may_exist && is_there)) fault_fail(sql, &o.fault, "run again: [%s] %s %s", second.condition, second.message, second.detail);
    if (is_there && again.copies > 0) fault_fail(sql, &o.fault, "%zu files were copied though the clone was there", again.copies);
    silt_session *s = world_open(&w);
    assert_int_equal(sum_of(s, clone), after);
    assert_int_equal(sum_of(s, "s"), after);
    silt_session_close(s);
    return true;
}

static void explore(const clone_case *c) {
    static const store_fault faults[] = {FAULT_FAIL, FAULT_LOST_REPLY, FAULT_CRASH, FAULT_CRASH_AFTER};
    size_t runs = 0;
    fault_world_fresh(&w);
    silt_session *s = world_open(&w);
    int64_t after = sum_of(s, "s");
    silt_session_close(s);
    bool more = true;
    for (size_t at = 1; more; at += STEP) {
        assert_true(at < MAX_CALLS);
        more = false;
        for (size_t f = 0; f < ARRAY_LEN(faults); f++)
            if ((STEP == 1 && c->every_fault) || f == at / STEP % ARRAY_LEN(faults)) more |= run_once(c, faults[f], at, after), runs++;
    }
    print_message("# %.30s: %zu runs\n", c->sql, runs);
}

static void shallow(void **state) {
    (void)state;
    const clone_case c = {"CREATE TABLE delta.`%s/c` SHALLOW CLONE s", -1, true, false};
    explore(&c);
}

static void deep(void **state) {
    (void)state;
    const clone_case c = {"CREATE OR REPLACE TABLE delta.`%s/c` DEEP CLONE s", -1, false, true};
    explore(&c);
}

/* A clone that is there and behind its source: what runs begin with until the end of the program. */
static void deep_again(void **state) {
    (void)state;
    fault_world_fresh(&w);
    silt_session *s = world_open(&w);
    must(s, "CREATE TABLE delta.`%s/c` DEEP CLONE s", w.warehouse);
    const clone_case c = {"CREATE OR REPLACE TABLE delta.`%s/c` DEEP CLONE s", sum_of(s, "s"), false, false};
    must(s, "INSERT INTO s VALUES (70, 7), (71, 0)");
    must(s, "DELETE FROM s WHERE id = 2");
    must(s, "DELETE FROM s WHERE p = 1");
    silt_session_close(s);
    fault_world_keep(&w);
    explore(&c);
}

/* An interrupted first run: what it had finished stays, is found, and is not copied again. */
static void resumed(void **state) {
    (void)state;
    char sql[256];
    silt_error err = {0};
    order first = {.fault = {.at = SIZE_MAX}}, second = first, third = first;
    fault_world_fresh(&w);
    snprintf(sql, sizeof sql, "CREATE TABLE delta.`%s/c` DEEP CLONE s", w.warehouse);
    assert_int_equal(run_ordered(sql, &first, &err), SILT_OK);
    assert_true(first.copies > 0);
    shell("rm -rf '%s/c/_delta_log'", w.warehouse); /* as if it had died before its commit */
    assert_int_equal(run_ordered(sql, &second, &err), SILT_OK);
    assert_int_equal(second.copies, 0);
    shell("rm -rf '%s/c/_delta_log' && f=$(ls '%s'/c/*/*.parquet | head -1) && truncate -s 10 \"$f\"", w.warehouse, w.warehouse); /* half a file has another size: copied anew */
    assert_int_equal(run_ordered(sql, &third, &err), SILT_OK);
    assert_int_equal(third.copies, 1);
    shell("rm -rf '%s/c/_delta_log' && touch '%s/c/mine.parquet'", w.warehouse, w.warehouse);
    assert_int_not_equal(run_ordered(sql, &third, &err), SILT_OK);
    assert_string_equal(err.condition, "DELTA_CREATE_TABLE_WITH_NON_EMPTY_LOCATION");
}

static void source_file_of_another_size(void **state) {
    (void)state;
    char sql[256];
    silt_error err = {0};
    fault_world_fresh(&w);
    shell("f=$(ls '%s'/s/*/*.parquet | head -1) && echo more >> \"$f\"", w.warehouse);
    snprintf(sql, sizeof sql, "CREATE TABLE delta.`%s/c` DEEP CLONE s", w.warehouse);
    silt_session *s = world_open(&w);
    assert_int_equal(session_execute(s, sql, &err), SILT_CORRUPT);
    assert_string_equal(err.condition, "CLONE_FILE_CHANGED");
    silt_session_close(s);
    shell("test ! -e '%s/c/_delta_log'/00000000000000000000.json && test -z \"$(find '%s/c' -name '.silt*')\"", w.warehouse, w.warehouse);
}

static int begin(void **state) {
    (void)state;
    fault_world_begin(&w, "clone");
    fault_world_set(&w, "silt.threads", "2");
    silt_session *s = world_open(&w);
    must(s, "CREATE TABLE s (id INT, p INT) USING DELTA PARTITIONED BY (p) LOCATION '%s/s' TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')", w.warehouse);
    must(s, "INSERT INTO s SELECT id, id %% 3 FROM range(30)");
    must(s, "DELETE FROM s WHERE id = 4");
    silt_session_close(s);
    fault_world_keep(&w);
    return 0;
}

static int end(void **state) {
    (void)state;
    fault_world_end(&w);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shallow),
        cmocka_unit_test(deep),
        cmocka_unit_test(resumed),
        cmocka_unit_test(source_file_of_another_size),
        cmocka_unit_test(deep_again),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, begin, end);
}
