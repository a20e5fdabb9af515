/*
 * CONVERT TO DELTA with a fault at each of its storage calls. Afterwards the folder is as it was or a whole table, its data files are untouched, and the same statement run again by a
 * fresh session ends well.
 */
#include "support/fault_world.h"

#define MAX_CALLS 400
#define ROWS      30

static fault_world w;

/* Rows of the table in the folder; -1: there is none. */
static int64_t rows_of(void) {
    char sql[256];
    int64_t out = 0;
    silt_error err = {0};
    silt_session *s = world_open(&w);
    snprintf(sql, sizeof sql, "SELECT count(DISTINCT id * 10 + p) FROM delta.`%s/t`", w.warehouse);
    silt_status status = session_number(s, sql, &out, &err);
    silt_session_close(s);
    if (status == SILT_NOT_FOUND) return -1;
    if (status != SILT_OK) fail_msg("%s: [%s] %s %s", sql, err.condition, err.message, err.detail);
    return out;
}

static bool run_once(const char *options, store_fault fault, size_t at) {
    fault_order o = {.at = at, .fault = fault}, again = {.at = SIZE_MAX};
    silt_error err = {0}, second = {0};
    char sql[256];
    fault_world_fresh(&w);
    snprintf(sql, sizeof sql, "CONVERT TO DELTA parquet.`%s/t` %sPARTITIONED BY (p INT)", w.warehouse, options);
    silt_status status = world_run(&w, sql, fault_on_order, &o, &err);
    if (!o.given) return o.calls >= at;
    int64_t found = rows_of();
    fault_check_told(sql, &o, status, &err, found == -1, found == ROWS);
    if (world_run(&w, sql, fault_on_order, &again, &second) != SILT_OK) fault_fail(sql, &o, "run again: [%s] %s", second.condition, second.message);
    assert_int_equal(rows_of(), ROWS);
    shell("diff -r --exclude=_delta_log '%s/t' '%s/t'", w.base, w.warehouse);
    return true;
}

static void explore(const char *options) {
    static const store_fault faults[] = {FAULT_FAIL, FAULT_LOST_REPLY, FAULT_CRASH, FAULT_CRASH_AFTER, FAULT_SHORT};
    size_t runs = 0;
    bool more = true;
    for (size_t at = 1; more; at += STEP) {
        assert_true(at < MAX_CALLS);
        more = false;
        for (size_t f = 0; f < ARRAY_LEN(faults); f++)
            if (faults[f] == FAULT_FAIL || f == at / STEP % ARRAY_LEN(faults)) more |= run_once(options, faults[f], at), runs++;
    }
    print_message("# %s: %zu runs\n", options, runs);
}

static void every_call(void **state) {
    (void)state;
    explore("");
}

static void every_call_without_statistics(void **state) {
    (void)state;
    explore("NO STATISTICS ");
}

static int begin(void **state) {
    (void)state;
    fault_world_begin(&w, "convert");
    fault_world_set(&w, "silt.threads", "2");
    silt_session *s = world_open(&w);
    must(s, "CREATE TABLE delta.`%s/t` (id INT, d DOUBLE, p INT) USING DELTA PARTITIONED BY (p)", w.warehouse);
    must(s, "INSERT INTO delta.`%s/t` SELECT id, id / 7, id %% 3 FROM range(%d)", w.warehouse, ROWS);
    silt_session_close(s);
    shell("rm -r '%s/t/_delta_log'", w.warehouse);
    fault_world_keep(&w);
    return 0;
}

static int end(void **state) {
    (void)state;
    fault_world_end(&w);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_call), cmocka_unit_test(every_call_without_statistics)};
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, begin, end);
}
