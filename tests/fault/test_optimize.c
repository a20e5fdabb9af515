/*
 * OPTIMIZE in batches, and auto compaction behind an INSERT, with a failure, a lost reply or the death of the process at each storage call in turn. The rows are always the same; each
 * batch is there or not, never half; what failed and lived has left no file behind; and the statement that comes next finishes the work. A compaction that fails takes nothing from the
 * INSERT before it.
 */
#include <glob.h>

#include "support/fault_world.h"
#include "support/table_files.h"

#define MAX_CALLS 600
#define SUM       "SELECT CAST(COALESCE(sum(id * 7 + p * 3 + v), 0) + 1000000 * count(*) AS BIGINT) FROM t"
#define FILES     "SELECT count(DISTINCT _metadata.file_path) FROM t"

static fault_world w;

static size_t n_commits(void) {
    char pattern[160];
    glob_t found;
    snprintf(pattern, sizeof pattern, "%s/t/_delta_log/*.json", w.warehouse);
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
    shell("rm -rf '%s'", w.warehouse);
    silt_session *s = world_open(&w);
    for (size_t i = 0; i < ARRAY_LEN(c->setup) && c->setup[i]; i++) must(s, "%s", c->setup[i]);
    c->before = number(s, SUM);
    silt_session_close(s);
    c->commits = n_commits();
    fault_world_keep(&w);
    fault_world_fresh(&w);
    s = world_open(&w);
    must(s, "%s", c->sql);
    c->after = number(s, SUM);
    silt_session_close(s);
}

typedef struct outcome {
    silt_status status;
    silt_error err;
    fault_order order;
} outcome;

/* false: the statement ended before its at-th call. */
static bool run_with_fault(const scene *c, size_t at, store_fault fault, outcome *out) {
    *out = (outcome){.order = {.at = at, .fault = fault}};
    fault_world_fresh(&w);
    out->status = world_run(&w, c->sql, fault_on_order, &out->order, &out->err);
    return out->order.calls >= at;
}

static void check_no_stray(const scene *c, const outcome *out) {
    char root[128], stray[256];
    snprintf(root, sizeof root, "%s/t", w.warehouse);
    if (fault_is_survived(&out->order) && out->status != SILT_OK && out->status != SILT_UNKNOWN && table_stray_file(root, stray, sizeof stray))
        fault_fail(c->sql, &out->order, "it left %s", stray);
}

/* Three files in each of two partitions, one of them with a deleted row: a batch makes one of three. */
static void check_batches(const scene *c, const outcome *out) {
    silt_session *s = world_open(&w);
    int64_t sum = number(s, SUM), files = number(s, FILES), done = (int64_t)(n_commits() - c->commits);
    if (sum != c->before) fault_fail(c->sql, &out->order, "rows have changed");
    if (done < 0 || done > 2 || files != 6 - 2 * done) fault_fail(c->sql, &out->order, "%lld files after %lld batches", (long long)files, (long long)done);
    if (fault_is_survived(&out->order) && out->status == SILT_OK) assert_int_equal(done, 2);
    check_no_stray(c, out);
    must(s, "%s", c->sql);
    assert_int_equal(number(s, FILES), 2);
    assert_int_equal(number(s, SUM), c->before);
    silt_session_close(s);
}

static void check_insert(const scene *c, const outcome *out) {
    silt_session *s = world_open(&w);
    int64_t sum = number(s, SUM);
    fault_check_told(c->sql, &out->order, out->status, &out->err, sum == c->before, sum == c->after);
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
    fault_world_begin(&w, "optimize");
    fault_world_set(&w, "spark.databricks.delta.optimize.batchSize", "1");
    fault_world_set(&w, "spark.databricks.delta.autoCompact.minNumFiles", "2");
    return 0;
}

static int end(void **state) {
    (void)state;
    fault_world_end(&w);
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
