/*
 * CLONE and GENERATE with a fault at each of their storage calls. Afterwards the clone is as before (absent, or the older one) or as it should be, and its source as it was; the same
 * statement, run again by a fresh session, ends well, and the clone has the source's rows. A file that a run has finished is not copied again by the next one.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "support/hooked_session.h"

#define MAX_CALLS 400

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { STEP = 4 };
#else
enum { STEP = 1 };
#endif

static char folder[64], base[96], warehouse[96];

static void shell(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void shell(const char *format, ...) {
    char command[512];
    va_list args;
    va_start(args, format);
    vsnprintf(command, sizeof command, format, args);
    va_end(args);
    if (system(command) != 0) fail_msg("%s", command);
}

static silt_session *open_plain(void) {
    const char *const keys[] = {"spark.sql.warehouse.dir"}, *const values[] = {warehouse};
    silt_session_options options = {.struct_size = sizeof options, .keys = keys, .values = values, .n_settings = 1};
    silt_session *s;
    silt_error err = {0};
    if (silt_session_open(&options, &s, &err) != SILT_OK) fail_msg("[%s] %s", err.condition, err.message);
    return s;
}

static void must(silt_session *s, const char *sql) {
    silt_error err = {0};
    if (session_execute(s, sql, &err) != SILT_OK) fail_msg("%s: [%s] %s %s", sql, err.condition, err.message, err.detail);
}

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
    size_t at, calls, copies;
    store_fault fault;
    bool given;
} order;

static store_fault on_order(void *ctx, const char *call, str path, size_t nth) {
    order *o = ctx;
    (void)nth;
    if (strcmp(call, "write_finish") == 0 && str_find(path, STR(".parquet")) != SIZE_MAX) __atomic_add_fetch(&o->copies, 1, __ATOMIC_RELAXED);
    if (__atomic_add_fetch(&o->calls, 1, __ATOMIC_RELAXED) != o->at) return FAULT_NONE;
    bool writes = strcmp(call, "read") != 0 && strcmp(call, "stat") != 0 && strcmp(call, "list") != 0 && strcmp(call, "local_read_path") != 0;
    o->given = writes || o->fault == FAULT_FAIL;
    return o->given ? o->fault : FAULT_NONE;
}

typedef struct clone_case {
    const char *sql;
    int64_t before; /* the clone's sum, -1: there is none */
    bool may_exist; /* run again, it may say that the table is there */
    bool every_fault;
} clone_case;

static silt_status run_hooked(const char *sql, order *o, silt_error *err) {
    const char *const keys[] = {"spark.sql.warehouse.dir", "silt.threads"}, *const values[] = {warehouse, "2"};
    hooked_session h;
    assert_int_equal(hooked_session_open(&h, keys, values, 2, on_order, o, err), SILT_OK);
    silt_status status = session_execute(h.session, sql, err);
    hooked_session_close(&h);
    return status;
}

static void check_outcome(const clone_case *c, const order *o, silt_status status, const silt_error *err, int64_t found, int64_t after) {
    bool died = o->fault == FAULT_CRASH || o->fault == FAULT_CRASH_AFTER;
    if (found != c->before && found != after) fail_msg("%s: fault %d at call %zu: neither before nor after: %lld", c->sql, (int)o->fault, o->at, (long long)found);
    if (died || status == SILT_UNKNOWN) return;
    if (status == SILT_OK && found != after) fail_msg("%s: fault %d at call %zu: told that it is done, and it is not", c->sql, (int)o->fault, o->at);
    if (status != SILT_OK && found != c->before) fail_msg("%s: fault %d at call %zu: told [%s] %s, and it is done", c->sql, (int)o->fault, o->at, err->condition, err->message);
}

/* false: it ended before its at-th call. */
static bool run_once(const clone_case *c, store_fault fault, size_t at, int64_t after) {
    order o = {.at = at, .fault = fault}, again = {.at = SIZE_MAX};
    silt_error err = {0};
    char sql[512], clone[160];
    shell("rm -rf '%s' && cp -r '%s' '%s'", warehouse, base, warehouse);
    snprintf(sql, sizeof sql, c->sql, warehouse);
    snprintf(clone, sizeof clone, "delta.`%s/c`", warehouse);
    silt_status status = run_hooked(sql, &o, &err);
    if (!o.given) return o.calls >= at;
    silt_session *s = open_plain();
    int64_t found = sum_of(s, clone);
    check_outcome(c, &o, status, &err, found, after);
    assert_int_equal(sum_of(s, "s"), after);
    silt_session_close(s);
    silt_error second = {0};
    status = run_hooked(sql, &again, &second);
    if (status != SILT_OK && !(c->may_exist && found == after)) fail_msg("%s: fault %d at call %zu: run again: [%s] %s %s", sql, (int)fault, at, second.condition, second.message, second.detail);
    if (found == after && again.copies > 0) fail_msg("%s: fault %d at call %zu: %zu files were copied though the clone was there", sql, (int)fault, at, again.copies);
    s = open_plain();
    assert_int_equal(sum_of(s, clone), after);
    assert_int_equal(sum_of(s, "s"), after);
    silt_session_close(s);
    return true;
}

static void explore(const clone_case *c) {
    static const store_fault faults[] = {FAULT_FAIL, FAULT_LOST_REPLY, FAULT_CRASH, FAULT_CRASH_AFTER};
    silt_session *s;
    size_t runs = 0;
    shell("rm -rf '%s' && cp -r '%s' '%s'", warehouse, base, warehouse);
    s = open_plain();
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

static void deep_again(void **state) {
    (void)state;
    char sql[512];
    strcat(base, "2");
    shell("cp -r '%s/base' '%s' && rm -rf '%s' && cp -r '%s' '%s'", folder, base, warehouse, base, warehouse);
    silt_session *s = open_plain();
    snprintf(sql, sizeof sql, "CREATE TABLE delta.`%s/c` DEEP CLONE s", warehouse);
    must(s, sql);
    clone_case c = {"CREATE OR REPLACE TABLE delta.`%s/c` DEEP CLONE s", sum_of(s, "s"), false, false};
    must(s, "INSERT INTO s VALUES (70, 7), (71, 0)");
    must(s, "DELETE FROM s WHERE id = 2");
    must(s, "DELETE FROM s WHERE p = 1");
    silt_session_close(s);
    shell("rm -rf '%s' && mv '%s' '%s'", base, warehouse, base);
    explore(&c);
    base[strlen(base) - 1] = '\0';
}

/* An interrupted first run: what it had finished stays, is found, and is not copied again. */
static void resumed(void **state) {
    (void)state;
    char sql[256];
    silt_error err = {0};
    order first = {.at = SIZE_MAX}, second = {.at = SIZE_MAX};
    shell("rm -rf '%s' && cp -r '%s' '%s'", warehouse, base, warehouse);
    snprintf(sql, sizeof sql, "CREATE TABLE delta.`%s/c` DEEP CLONE s", warehouse);
    assert_int_equal(run_hooked(sql, &first, &err), SILT_OK);
    assert_true(first.copies > 0);
    shell("rm -rf '%s/c/_delta_log'", warehouse); /* as if it had died before its commit */
    assert_int_equal(run_hooked(sql, &second, &err), SILT_OK);
    assert_int_equal(second.copies, 0);
    shell("rm -rf '%s/c/_delta_log' && f=$(ls '%s'/c/*/*.parquet | head -1) && truncate -s 10 \"$f\"", warehouse, warehouse); /* half a file has another size: copied anew */
    order third = {.at = SIZE_MAX};
    assert_int_equal(run_hooked(sql, &third, &err), SILT_OK);
    assert_int_equal(third.copies, 1);
    shell("rm -rf '%s/c/_delta_log' && touch '%s/c/mine.parquet'", warehouse, warehouse);
    assert_int_not_equal(run_hooked(sql, &third, &err), SILT_OK);
    assert_string_equal(err.condition, "DELTA_CREATE_TABLE_WITH_NON_EMPTY_LOCATION");
}

static void source_file_of_another_size(void **state) {
    (void)state;
    char sql[256];
    silt_error err = {0};
    shell("rm -rf '%s' && cp -r '%s' '%s' && f=$(ls '%s'/s/*/*.parquet | head -1) && echo more >> \"$f\"", warehouse, base, warehouse, warehouse);
    snprintf(sql, sizeof sql, "CREATE TABLE delta.`%s/c` DEEP CLONE s", warehouse);
    silt_session *s = open_plain();
    assert_int_equal(session_execute(s, sql, &err), SILT_CORRUPT);
    assert_string_equal(err.condition, "CLONE_FILE_CHANGED");
    silt_session_close(s);
    shell("test ! -e '%s/c/_delta_log'/00000000000000000000.json && test -z \"$(find '%s/c' -name '.silt*')\"", warehouse, warehouse);
}

static int begin(void **state) {
    (void)state;
    strcpy(folder, "/tmp/silt-clone-XXXXXX");
    if (!mkdtemp(folder)) return -1;
    snprintf(base, sizeof base, "%s/base", folder);
    snprintf(warehouse, sizeof warehouse, "%s/wh", folder);
    char create[256];
    silt_session *s = open_plain();
    snprintf(create, sizeof create, "CREATE TABLE s (id INT, p INT) USING DELTA PARTITIONED BY (p) LOCATION '%s/s' TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')", warehouse);
    must(s, create);
    must(s, "INSERT INTO s SELECT id, id % 3 FROM range(30)");
    must(s, "DELETE FROM s WHERE id = 4");
    silt_session_close(s);
    shell("mv '%s' '%s'", warehouse, base);
    return 0;
}

static int end(void **state) {
    (void)state;
    shell("rm -rf '%s'", folder);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shallow),
        cmocka_unit_test(deep),
        cmocka_unit_test(deep_again),
        cmocka_unit_test(resumed),
        cmocka_unit_test(source_file_of_another_size),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, begin, end);
}
