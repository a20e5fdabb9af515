/*
 * OPTIMIZE in batches, and auto compaction behind an INSERT, with a failure, a lost reply or the death of the process at each storage call in turn. The rows are always the same; each
 * batch is there or not, never half; what failed and lived has left no file behind; and the statement that comes next finishes the work. A compaction that fails takes nothing from the
 * INSERT before it.
 */
#include <glob.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "support/hooked_session.h"
#include "support/table_files.h"

#define MAX_CALLS 600
#define SUM       "SELECT CAST(COALESCE(sum(id * 7 + p * 3 + v), 0) + 1000000 * count(*) AS BIGINT) FROM t"
#define FILES     "SELECT count(DISTINCT _metadata.file_path) FROM t"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { STEP = 3 };
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
    assert_int_equal(system(command), 0);
}

/* ---- a fault on order ---- */

typedef struct order {
    size_t at, calls;
    store_fault fault;
    bool given;
} order;

static store_fault on_order(void *ctx, const char *call, str path, size_t nth) {
    order *o = ctx;
    (void)path, (void)nth;
    if (__atomic_add_fetch(&o->calls, 1, __ATOMIC_SEQ_CST) != o->at) return FAULT_NONE; /* bins are written by several threads */
    bool writes = strcmp(call, "read") != 0 && strcmp(call, "stat") != 0 && strcmp(call, "list") != 0 && strcmp(call, "local_read_path") != 0;
    o->given = writes || o->fault == FAULT_FAIL;
    return o->given ? o->fault : FAULT_NONE;
}

/* ---- sessions ---- */

static const char *const keys[] = {"spark.sql.warehouse.dir", "spark.databricks.delta.optimize.batchSize", "spark.databricks.delta.autoCompact.minNumFiles"};
enum { N_KEYS = 3 };

static silt_session *open_plain(void) {
    const char *const values[] = {warehouse, "1", "2"};
    silt_session_options options = {.struct_size = sizeof options, .keys = keys, .values = values, .n_settings = N_KEYS};
    silt_session *s;
    silt_error err = {0};
    if (silt_session_open(&options, &s, &err) != SILT_OK) fail_msg("[%s] %s", err.condition, err.message);
    return s;
}

static void must(silt_session *s, const char *sql) {
    silt_error err = {0};
    if (session_execute(s, sql, &err) != SILT_OK) fail_msg("%s: [%s] %s %s", sql, err.condition, err.message, err.detail);
}

static int64_t number(silt_session *s, const char *sql) {
    silt_error err = {0};
    int64_t n = 0;
    if (session_number(s, sql, &n, &err) != SILT_OK) fail_msg("%s: [%s] %s %s", sql, err.condition, err.message, err.detail);
    return n;
}

static size_t n_commits(void) {
    char pattern[160];
    glob_t found;
    snprintf(pattern, sizeof pattern, "%s/t/_delta_log/*.json", warehouse);
    size_t n = glob(pattern, 0, NULL, &found) == 0 ? found.gl_pathc : 0;
    globfree(&found);
    return n;
}

/* ---- one run ---- */

typedef struct scene {
    const char *setup[8], *sql;
    int64_t before, after; /* SUM */
    size_t commits;        /* of the setup */
} scene;

static void set_up(scene *c) {
    shell("rm -rf '%s' '%s'", base, warehouse);
    silt_session *s = open_plain();
    for (size_t i = 0; i < ARRAY_LEN(c->setup) && c->setup[i]; i++) must(s, c->setup[i]);
    c->before = number(s, SUM);
    silt_session_close(s);
    c->commits = n_commits();
    shell("cp -r '%s' '%s'", warehouse, base);
    s = open_plain();
    must(s, c->sql);
    c->after = number(s, SUM);
    silt_session_close(s);
}

typedef struct outcome {
    silt_status status;
    silt_error err;
    order order;
} outcome;

/* false: the statement ended before its at-th call. */
static bool run_with_fault(const scene *c, size_t at, store_fault fault, outcome *out) {
    const char *const values[] = {warehouse, "1", "2"};
    hooked_session first;
    *out = (outcome){.order = {.at = at, .fault = fault}};
    shell("rm -rf '%s' && cp -r '%s' '%s'", warehouse, base, warehouse);
    assert_int_equal(hooked_session_open(&first, keys, values, N_KEYS, on_order, &out->order, &out->err), SILT_OK);
    out->status = session_execute(first.session, c->sql, &out->err);
    hooked_session_close(&first);
    return out->order.calls >= at;
}

static void check_no_stray(const scene *c, const outcome *out) {
    char root[128], stray[256];
    bool lived = out->order.fault == FAULT_FAIL || out->order.fault == FAULT_LOST_REPLY;
    snprintf(root, sizeof root, "%s/t", warehouse);
    if (lived && out->status != SILT_OK && out->status != SILT_UNKNOWN && table_stray_file(root, stray, sizeof stray))
        fail_msg("%s: fault %d at call %zu: it left %s", c->sql, (int)out->order.fault, out->order.at, stray);
}

/* Three files in each of two partitions, one of them with a deleted row: a batch makes one of three. */
static void check_batches(const scene *c, const outcome *out) {
    silt_session *s = open_plain();
    int64_t sum = number(s, SUM), files = number(s, FILES), done = (int64_t)(n_commits() - c->commits);
    bool died = out->order.fault == FAULT_CRASH || out->order.fault == FAULT_CRASH_AFTER;
    if (sum != c->before) fail_msg("%s: fault %d at call %zu: rows have changed", c->sql, (int)out->order.fault, out->order.at);
    if (done < 0 || done > 2 || files != 6 - 2 * done)
        fail_msg("%s: fault %d at call %zu: %lld files after %lld batches", c->sql, (int)out->order.fault, out->order.at, (long long)files, (long long)done);
    if (!died && out->status == SILT_OK) assert_int_equal(done, 2);
    check_no_stray(c, out);
    must(s, c->sql);
    assert_int_equal(number(s, FILES), 2);
    assert_int_equal(number(s, SUM), c->before);
    silt_session_close(s);
}

static void check_insert(const scene *c, const outcome *out) {
    silt_session *s = open_plain();
    int64_t sum = number(s, SUM);
    bool died = out->order.fault == FAULT_CRASH || out->order.fault == FAULT_CRASH_AFTER;
    if (sum != c->before && sum != c->after) fail_msg("%s: fault %d at call %zu: neither before nor after", c->sql, (int)out->order.fault, out->order.at);
    if (!died && out->status == SILT_OK && sum != c->after) fail_msg("%s: fault %d at call %zu: told that it is done", c->sql, (int)out->order.fault, out->order.at);
    if (!died && out->status != SILT_OK && out->status != SILT_UNKNOWN && sum != c->before)
        fail_msg("%s: fault %d at call %zu: told [%s] %s, and it is done", c->sql, (int)out->order.fault, out->order.at, out->err.condition, out->err.message);
    check_no_stray(c, out);
    must(s, "INSERT INTO t VALUES (100, 0, 0)");
    assert_int_equal(number(s, FILES), 1); /* what was left undone is done behind the next write */
    silt_session_close(s);
}

/* One fault at each call in turn. */
static void explore(scene *c, void (*check)(const scene *, const outcome *)) {
    static const store_fault faults[] = {FAULT_FAIL, FAULT_LOST_REPLY, FAULT_CRASH, FAULT_CRASH_AFTER};
    size_t runs = 0;
    outcome out;
    set_up(c);
    for (size_t at = 1; run_with_fault(c, at, faults[at / STEP % ARRAY_LEN(faults)], &out); at += STEP) {
        assert_true(at < MAX_CALLS);
        if (out.order.given) check(c, &out);
        runs++;
    }
    print_message("# %.40s: %zu runs\n", c->sql, runs);
}

static void batches(void **state) {
    (void)state;
    scene c = {.setup = {"CREATE TABLE t (id INT, p INT, v INT) USING DELTA PARTITIONED BY (p) TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')",
                         "INSERT INTO t VALUES (1, 0, 0), (2, 0, 0), (3, 1, 0), (4, 1, 0)", "INSERT INTO t VALUES (5, 0, 1), (6, 1, 1)", "INSERT INTO t VALUES (7, 0, 1), (8, 1, 1)",
                         "DELETE FROM t WHERE id = 2"},
               .sql = "OPTIMIZE t"};
    explore(&c, check_batches);
}

static void behind_insert(void **state) {
    (void)state;
    scene c = {.setup = {"CREATE TABLE t (id INT, p INT, v INT) USING DELTA TBLPROPERTIES ('delta.autoOptimize.autoCompact' = 'true')", "INSERT INTO t VALUES (1, 0, 0), (2, 0, 0)"},
               .sql = "INSERT INTO t VALUES (3, 0, 0)"};
    explore(&c, check_insert);
}

static int begin(void **state) {
    (void)state;
    strcpy(folder, "/tmp/silt-optimize-XXXXXX");
    if (!mkdtemp(folder)) return -1;
    snprintf(base, sizeof base, "%s/base", folder);
    snprintf(warehouse, sizeof warehouse, "%s/wh", folder);
    return 0;
}

static int end(void **state) {
    (void)state;
    shell("rm -rf '%s'", folder);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(batches),
        cmocka_unit_test(behind_insert),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, begin, end);
}
