/*
 * RESTORE beside VACUUM. A RESTORE that was told to be done has every file of its table, whatever a VACUUM did meanwhile; one that cannot promise that says so and commits nothing.
 */
#include "support/fault_world.h"

static fault_world w;

/* Version 1 has the rows of both partitions; version 2, ten days ago, lost those of p = 1, and version 3, today, those of p = 0. So VACUUM takes the file of p = 1 alone. */
static int begin(void **state) {
    (void)state;
    fault_world_begin(&w, "restore");
    silt_session *s = world_open(&w);
    must(s, "CREATE TABLE t (id INT, p INT) USING DELTA PARTITIONED BY (p) LOCATION '%s/t'", w.warehouse);
    must(s, "INSERT INTO t SELECT CAST(id AS INT), CAST(id %% 2 AS INT) FROM range(10)");
    must(s, "DELETE FROM t WHERE p = 1");
    shell("cd '%s/t' && sed -i -E 's/\"(deletionTimestamp|timestamp)\":[0-9]+/\"\\1\":'$(date -d '10 days ago' +%%s)000'/' _delta_log/*.json && rm -f _delta_log/*.crc && "
          "find . -type f -exec touch -d '10 days ago' {} +", w.warehouse);
    for (int v = 0; v <= 2; v++) shell("touch -d '10 days ago + %d seconds' '%s'/t/_delta_log/%020d.json", v, w.warehouse, v);
    must(s, "DELETE FROM t WHERE p = 0");
    silt_session_close(s);
    fault_world_keep(&w);
    return 0;
}

static int end(void **state) {
    (void)state;
    fault_world_end(&w);
    return 0;
}

#define ALL  "RESTORE t TO VERSION AS OF 1" /* needs the file that VACUUM takes */
#define EVEN "RESTORE t TO VERSION AS OF 2" /* does not */

static void check_rows(int64_t expected) {
    silt_session *s = world_open(&w);
    assert_int_equal(number(s, "SELECT count(*) + count(id) * 100 FROM t"), expected * 101);
    silt_session_close(s);
}

/* What a rival does once, before the call that is awaited. */
typedef struct rival {
    const char *sql, *call;
    silt_status status;
    silt_error err;
    bool done;
} rival;

static store_fault let_rival(void *ctx, const char *call, str path, size_t nth) {
    rival *r = ctx;
    (void)nth;
    bool awaited = r->call ? strcmp(call, r->call) == 0 : is_commit_put(call, path);
    if (r->done || !awaited) return FAULT_NONE;
    r->done = true;
    silt_session *s = world_open(&w);
    r->status = session_execute(s, r->sql, &r->err);
    silt_session_close(s);
    return FAULT_NONE;
}

static void vacuum_in_the_window(void **state) {
    (void)state;
    rival r = {.sql = "VACUUM t"};
    silt_error err = {0};
    fault_world_fresh(&w);
    assert_int_equal(world_run(&w, ALL, let_rival, &r, &err), SILT_NOT_FOUND);
    assert_true(r.done && r.status == SILT_OK);
    assert_string_equal(err.condition, "RESTORE_FILES_MISSING");
    check_rows(0);
}

static void vacuum_in_the_window_of_files_that_it_keeps(void **state) {
    (void)state;
    rival r = {.sql = "VACUUM t"};
    silt_error err = {0};
    fault_world_fresh(&w);
    if (world_run(&w, EVEN, let_rival, &r, &err) != SILT_OK) fail_msg("[%s] %s", err.condition, err.message);
    assert_true(r.done && r.status == SILT_OK);
    check_rows(5);
}

/* VACUUM has looked at the log for the last time and is about to remove the file. */
static void restore_while_vacuum_removes(void **state) {
    (void)state;
    rival r = {.sql = ALL, .call = "remove"};
    silt_error err = {0};
    fault_world_fresh(&w);
    assert_int_equal(world_run(&w, "VACUUM t", let_rival, &r, &err), SILT_OK);
    assert_true(r.done);
    assert_int_equal(r.status, SILT_CONFLICT);
    assert_string_equal(r.err.condition, "RESTORE_BESIDE_VACUUM");
    check_rows(0);
}

static void restore_of_other_files_while_vacuum_removes(void **state) {
    (void)state;
    rival r = {.sql = EVEN, .call = "remove"};
    silt_error err = {0};
    fault_world_fresh(&w);
    assert_int_equal(world_run(&w, "VACUUM t", let_rival, &r, &err), SILT_OK);
    if (r.status != SILT_OK) fail_msg("[%s] %s", r.err.condition, r.err.message);
    check_rows(5);
}

/* ---- one that died: nobody can see that it removes nothing any more ---- */

static store_fault die_at_removal(void *ctx, const char *call, str path, size_t nth) {
    (void)ctx, (void)path, (void)nth;
    return strcmp(call, "remove") == 0 ? FAULT_CRASH : FAULT_NONE;
}

static void vacuum_that_dies(void) {
    silt_error err = {0};
    fault_world_fresh(&w);
    (void)world_run(&w, "VACUUM t", die_at_removal, NULL, &err);
}

static void refuse(silt_session *s, const char *condition) {
    silt_error err = {0};
    assert_int_not_equal(session_execute(s, ALL, &err), SILT_OK);
    assert_string_equal(err.condition, condition);
}

static void vacuum_that_died(void **state) {
    (void)state;
    vacuum_that_dies();
    silt_session *s = world_open(&w);
    refuse(s, "RESTORE_BESIDE_VACUUM");
    must(s, "SET silt.restore.besideVacuum = true");
    must(s, ALL);
    check_rows(10);
    silt_session_close(s);
}

static void vacuum_that_died_days_ago(void **state) {
    (void)state;
    vacuum_that_dies();
    shell("sed -i -E 's/\"timestamp\":[0-9]+/\"timestamp\":'$(date -d '2 days ago' +%%s)000'/' '%s'/t/_delta_log/%020d.json", w.warehouse, 4);
    silt_session *s = world_open(&w);
    must(s, ALL);
    check_rows(10);
    silt_session_close(s);
}

/* What is gone is gone, whoever took it. */
static void vacuum_that_died_and_one_that_ended(void **state) {
    (void)state;
    vacuum_that_dies();
    silt_session *s = world_open(&w);
    must(s, "VACUUM t");
    refuse(s, "RESTORE_FILES_MISSING");
    must(s, EVEN);
    check_rows(5);
    silt_session_close(s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(vacuum_in_the_window),
        cmocka_unit_test(vacuum_in_the_window_of_files_that_it_keeps),
        cmocka_unit_test(restore_while_vacuum_removes),
        cmocka_unit_test(restore_of_other_files_while_vacuum_removes),
        cmocka_unit_test(vacuum_that_died),
        cmocka_unit_test(vacuum_that_died_days_ago),
        cmocka_unit_test(vacuum_that_died_and_one_that_ended),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, begin, end);
}
