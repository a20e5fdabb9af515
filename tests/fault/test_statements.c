/*
 * Every statement that writes, with a failure, a lost reply or the death of its process at each of its storage calls in turn. Afterwards a fresh session finds the table as it was
 * before or as it should be, never anything else; what the statement was told is true; a statement that failed and lived has left no file behind; and the next statement works.
 */
#include "support/fault_world.h"
#include "support/table_files.h"

#define MAX_CALLS 400

static fault_world w;

/* Under `make test` the table with all features meets one fault at each call in turn; SILT_EVERY_FAULT=1 in the environment tries each. */
typedef struct statement_case {
    const char *sql;
    bool many_commits; /**< may stop between its own commits; each of them leaves a table that is in order */
} statement_case;

static const statement_case statements[] = {
    {"INSERT INTO t VALUES (10, 0, 0), (11, 1, 0)", false},
    {"INSERT OVERWRITE t VALUES (10, 0, 0)", false},
    {"INSERT INTO t REPLACE WHERE p = 1 VALUES (12, 1, 5)", false},
    {"DELETE FROM t WHERE id = 1", false},
    {"DELETE FROM t WHERE p = 1", false},
    {"UPDATE t SET v = v + 1 WHERE id < 3", false},
    {"MERGE INTO t USING (SELECT * FROM VALUES (1, 5), (3, 6), (9, 9) AS s(id, v)) AS s ON t.id = s.id WHEN MATCHED AND s.v > 5 THEN DELETE WHEN MATCHED THEN UPDATE SET v = s.v "
     "WHEN NOT MATCHED THEN INSERT (id, p, v) VALUES (s.id, 1, s.v)", false},
    {"TRUNCATE TABLE t", false},
    {"RESTORE TABLE t TO VERSION AS OF 1", false},
    {"OPTIMIZE t", false},
    {"ALTER TABLE t ADD COLUMNS (w INT)", false},
    {"ALTER TABLE t ADD CONSTRAINT c CHECK (id > 0)", false},
    {"ALTER TABLE t SET TBLPROPERTIES ('delta.enableInCommitTimestamps' = 'true')", false},
    {"ALTER TABLE t SET TBLPROPERTIES ('delta.enableRowTracking' = 'true')", true},
    {"CREATE OR REPLACE TABLE t USING DELTA AS SELECT 7 AS id, 7 AS p, 7 AS v", false},
};

static const char *const columns[] = {"count(*)", "COALESCE(sum(id), 0)", "CAST(COALESCE(sum(id * id * 7 + p * 3 + v), 0) AS BIGINT)"};

/* What tells the contents apart: a few sums, and the number of columns. */
typedef struct contents {
    int64_t sums[ARRAY_LEN(columns)];
} contents;

static contents contents_of(silt_session *s, const char *what) {
    contents c = {{0}};
    for (size_t i = 0; i < ARRAY_LEN(columns); i++) {
        char sql[160];
        silt_error err = {0};
        snprintf(sql, sizeof sql, "SELECT %s FROM t", columns[i]);
        if (session_number(s, sql, &c.sums[i], &err) != SILT_OK) fail_msg("after %s: %s: [%s] %s %s", what, sql, err.condition, err.message, err.detail);
    }
    return c;
}

static bool same(const contents *a, const contents *b) { return memcmp(a, b, sizeof *a) == 0; }

/* ---- one run ---- */

typedef struct run {
    const statement_case *c;
    contents before, after;
} run;

static void check_files(const run *r, const fault_order *o) {
    char root[128], stray[256];
    snprintf(root, sizeof root, "%s/t", w.warehouse);
    if (table_stray_file(root, stray, sizeof stray)) fault_fail(r->c->sql, o, "it left %s", stray);
}

/* false: the statement ended before its at-th call. */
static bool run_once(run *r, store_fault fault, size_t at) {
    fault_order o = {.at = at, .fault = fault};
    silt_error err = {0};
    fault_world_fresh(&w);
    silt_status status = world_run(&w, r->c->sql, fault_on_order, &o, &err);
    if (!o.given) return o.calls >= at;
    silt_session *s = world_open(&w);
    contents found = contents_of(s, r->c->sql);
    if (!r->c->many_commits) fault_check_told(r->c->sql, &o, status, &err, same(&found, &r->before), same(&found, &r->after));
    if (fault_is_survived(&o) && status != SILT_OK && status != SILT_UNKNOWN) check_files(r, &o);
    must(s, "INSERT INTO t (id, p, v) VALUES (100, 0, 0)");
    contents next = contents_of(s, "the next statement");
    assert_int_equal(next.sums[0], found.sums[0] + 1);
    silt_session_close(s);
    return true;
}

static store_fault everything_twice(void *ctx, const char *call, str path, size_t nth) {
    size_t *times = ctx;
    (void)path, (void)nth;
    if (strcmp(call, "put") != 0 && strcmp(call, "remove") != 0) return FAULT_NONE;
    __atomic_add_fetch(times, 1, __ATOMIC_SEQ_CST);
    return FAULT_TWICE;
}

/* Something on the way sends requests again, and tells the outcome of the second: nobody notices. */
static void run_twice(run *r) {
    fault_order o = {.fault = FAULT_TWICE};
    silt_error err = {0};
    fault_world_fresh(&w);
    silt_status status = world_run(&w, r->c->sql, everything_twice, &o.calls, &err);
    if (status != SILT_OK) fault_fail(r->c->sql, &o, "[%s] %s %s", err.condition, err.message, err.detail);
    assert_true(o.calls > 0);
    silt_session *s = world_open(&w);
    contents found = contents_of(s, r->c->sql);
    if (!same(&found, &r->after)) fault_fail(r->c->sql, &o, "it is not what it should be");
    silt_session_close(s);
}

static const store_fault faults[] = {FAULT_FAIL, FAULT_LOST_REPLY, FAULT_CRASH, FAULT_CRASH_AFTER};

/* Every fault at every call, or one at each in turn. */
static size_t explore_statement(run *r, bool every_fault) {
    size_t runs = 0;
    bool more = true;
    for (size_t at = 1; more; at += STEP) {
        assert_true(at < MAX_CALLS);
        more = false;
        for (size_t f = 0; f < ARRAY_LEN(faults); f++) {
            if (!every_fault && f != at / STEP % ARRAY_LEN(faults)) continue;
            more |= run_once(r, faults[f], at);
            runs++;
        }
    }
    return runs;
}

static void explore(const char *properties, const statement_case *cases, size_t n_cases, bool every_fault) {
    run r = {0};
    shell("rm -rf '%s'", w.warehouse);
    silt_session *s = world_open(&w);
    must(s, "CREATE TABLE t (id INT, p INT, v INT) USING DELTA PARTITIONED BY (p) LOCATION '%s/t'%s%s%s", w.warehouse, properties ? " TBLPROPERTIES (" : "", properties ? properties : "",
         properties ? ")" : "");
    must(s, "INSERT INTO t VALUES (1, 0, 0), (2, 0, 0), (3, 1, 0), (4, 1, 0)");
    must(s, "INSERT INTO t VALUES (5, 0, 1), (6, 1, 1)");
    r.before = contents_of(s, "setup");
    silt_session_close(s);
    fault_world_keep(&w);
    for (size_t i = 0; i < n_cases; i++) {
        r.c = &cases[i];
        fault_world_fresh(&w);
        s = world_open(&w);
        must(s, "%s", r.c->sql);
        r.after = contents_of(s, r.c->sql);
        silt_session_close(s);
        run_twice(&r);
        size_t runs = explore_statement(&r, every_fault);
        print_message("# %.40s: %zu runs\n", r.c->sql, runs);
    }
}

static void plain(void **state) {
    (void)state;
    explore(NULL, statements, ARRAY_LEN(statements), STEP == 1);
}

static void all_features(void **state) {
    (void)state;
    explore("'delta.enableDeletionVectors' = 'true', 'delta.enableChangeDataFeed' = 'true', 'delta.enableRowTracking' = 'true', 'delta.checkpointInterval' = '3'", statements, ARRAY_LEN(statements), getenv("SILT_EVERY_FAULT") != NULL);
}

/* Without the change feed an UPDATE writes its rows while it finds them: a file gets a vector, and of another no row stays. */
static void vectors_alone(void **state) {
    (void)state;
    static const statement_case updates[] = {{"UPDATE t SET v = v + 1 WHERE id = 3", false}, {"UPDATE t SET v = v + 1 WHERE v = 0 AND id <> 4", false}};
    explore("'delta.enableDeletionVectors' = 'true'", updates, ARRAY_LEN(updates), STEP == 1);
}

static int begin(void **state) {
    (void)state;
    fault_world_begin(&w, "statements");
    return 0;
}

static int end(void **state) {
    (void)state;
    fault_world_end(&w);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain),
        cmocka_unit_test(all_features),
        cmocka_unit_test(vectors_alone),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, begin, end);
}
