/*
 * CONVERT TO DELTA with a fault at each of its storage calls. Afterwards the folder is as it was or a whole table, its data files are untouched, and the same statement run again by a
 * fresh session ends well.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "support/hooked_session.h"

#define MAX_CALLS 400

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { STEP = 5 };
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

typedef struct order {
    size_t at, calls;
    store_fault fault;
    bool given;
} order;

static store_fault on_order(void *ctx, const char *call, str path, size_t nth) {
    order *o = ctx;
    (void)path;
    (void)nth;
    if (__atomic_add_fetch(&o->calls, 1, __ATOMIC_RELAXED) != o->at) return FAULT_NONE;
    bool reads = strcmp(call, "read") == 0 || strcmp(call, "stat") == 0 || strcmp(call, "list") == 0 || strcmp(call, "local_read_path") == 0;
    o->given = !reads || o->fault == FAULT_FAIL || (o->fault == FAULT_SHORT && strcmp(call, "read") == 0);
    return o->given ? o->fault : FAULT_NONE;
}

static silt_status run_hooked(const char *sql, order *o, silt_error *err) {
    const char *const keys[] = {"spark.sql.warehouse.dir", "silt.threads"}, *const values[] = {warehouse, "2"};
    hooked_session h;
    assert_int_equal(hooked_session_open(&h, keys, values, 2, on_order, o, err), SILT_OK);
    silt_status status = session_execute(h.session, sql, err);
    hooked_session_close(&h);
    return status;
}

/* Rows of the table in the folder; -1: there is none. */
static int64_t rows_of(void) {
    char sql[256];
    int64_t out = 0;
    silt_error err = {0};
    silt_session *s = open_plain();
    snprintf(sql, sizeof sql, "SELECT count(DISTINCT id * 10 + p) FROM delta.`%s/t`", warehouse);
    silt_status status = session_number(s, sql, &out, &err);
    silt_session_close(s);
    if (status == SILT_NOT_FOUND) return -1;
    if (status != SILT_OK) fail_msg("%s: [%s] %s %s", sql, err.condition, err.message, err.detail);
    return out;
}

static bool run_once(const char *options, store_fault fault, size_t at) {
    order o = {.at = at, .fault = fault}, again = {.at = SIZE_MAX};
    silt_error err = {0}, second = {0};
    char sql[256];
    shell("rm -rf '%s' && cp -a '%s' '%s'", warehouse, base, warehouse);
    snprintf(sql, sizeof sql, "CONVERT TO DELTA parquet.`%s/t` %sPARTITIONED BY (p INT)", warehouse, options);
    silt_status status = run_hooked(sql, &o, &err);
    if (!o.given) return o.calls >= at;
    int64_t found = rows_of();
    if (found != -1 && found != 30) fail_msg("fault %d at call %zu: %lld rows", (int)fault, at, (long long)found);
    bool died = fault == FAULT_CRASH || fault == FAULT_CRASH_AFTER || status == SILT_UNKNOWN;
    if (!died && status == SILT_OK && found != 30) fail_msg("fault %d at call %zu: told that it is done, and it is not", (int)fault, at);
    if (!died && status != SILT_OK && found != -1) fail_msg("fault %d at call %zu: told [%s] %s, and it is done", (int)fault, at, err.condition, err.message);
    if (run_hooked(sql, &again, &second) != SILT_OK) fail_msg("fault %d at call %zu: run again: [%s] %s", (int)fault, at, second.condition, second.message);
    assert_int_equal(rows_of(), 30);
    shell("diff -r --exclude=_delta_log '%s/t' '%s/t'", base, warehouse);
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
    char sql[256];
    strcpy(folder, "/tmp/silt-convert-XXXXXX");
    if (!mkdtemp(folder)) return -1;
    snprintf(base, sizeof base, "%s/base", folder);
    snprintf(warehouse, sizeof warehouse, "%s/wh", folder);
    silt_session *s = open_plain();
    snprintf(sql, sizeof sql, "CREATE TABLE delta.`%s/t` (id INT, d DOUBLE, p INT) USING DELTA PARTITIONED BY (p)", warehouse);
    must(s, sql);
    snprintf(sql, sizeof sql, "INSERT INTO delta.`%s/t` SELECT id, id / 7, id %% 3 FROM range(30)", warehouse);
    must(s, sql);
    silt_session_close(s);
    shell("rm -r '%s/t/_delta_log' && mv '%s' '%s'", warehouse, warehouse, base);
    return 0;
}

static int end(void **state) {
    (void)state;
    shell("rm -rf '%s'", folder);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_call), cmocka_unit_test(every_call_without_statistics)};
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, begin, end);
}
