/*
 * Every statement that writes, with a failure, a lost reply or the death of its process at each of its storage calls in turn. Afterwards a fresh session finds the table as it was
 * before or as it should be, never anything else; what the statement was told is true; a statement that failed and lived has left no file behind; and the next statement works.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "support/hooked_session.h"
#include "support/table_files.h"

#define MAX_CALLS 400

static char folder[64];

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

typedef struct order {
    size_t at, calls;
    store_fault fault;
    bool given;
} order;

static store_fault on_order(void *ctx, const char *call, str path, size_t nth) {
    order *o = ctx;
    (void)path, (void)nth;
    if (++o->calls != o->at) return FAULT_NONE;
    bool writes = strcmp(call, "read") != 0 && strcmp(call, "stat") != 0 && strcmp(call, "list") != 0 && strcmp(call, "local_read_path") != 0;
    o->given = writes || o->fault == FAULT_FAIL; /* to die before a read is to die before the next write */
    return o->given ? o->fault : FAULT_NONE;
}

/* ---- a world: a warehouse that is copied for every run ---- */

static void shell(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void shell(const char *format, ...) {
    char command[512];
    va_list args;
    va_start(args, format);
    vsnprintf(command, sizeof command, format, args);
    va_end(args);
    assert_int_equal(system(command), 0);
}

static silt_session *open_plain(const char *warehouse) {
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
    char base[96], warehouse[96];
    contents before, after;
} run;

static void check_told(const run *r, const order *o, silt_status status, const silt_error *err, const contents *found) {
    bool is_before = same(found, &r->before), is_after = same(found, &r->after), died = o->fault == FAULT_CRASH || o->fault == FAULT_CRASH_AFTER;
    if (!is_before && !is_after) fail_msg("%s: fault %d at call %zu: neither before nor after", r->c->sql, (int)o->fault, o->at);
    if (died || status == SILT_UNKNOWN) return;
    if (status == SILT_OK && !is_after) fail_msg("%s: fault %d at call %zu: told that it is done, and it is not", r->c->sql, (int)o->fault, o->at);
    if (status != SILT_OK && !is_before) fail_msg("%s: fault %d at call %zu: told [%s] %s, and it is done", r->c->sql, (int)o->fault, o->at, err->condition, err->message);
}

static void check_files(const run *r, const order *o) {
    char root[128], stray[256];
    snprintf(root, sizeof root, "%s/t", r->warehouse);
    if (table_stray_file(root, stray, sizeof stray)) fail_msg("%s: fault %d at call %zu: it left %s", r->c->sql, (int)o->fault, o->at, stray);
}

/* false: the statement ended before its at-th call. */
static bool run_once(run *r, store_fault fault, size_t at) {
    const char *const keys[] = {"spark.sql.warehouse.dir"}, *const values[] = {r->warehouse};
    order o = {.at = at, .fault = fault};
    hooked_session first;
    silt_error err = {0};
    shell("rm -rf '%s' && cp -r '%s' '%s'", r->warehouse, r->base, r->warehouse);
    assert_int_equal(hooked_session_open(&first, keys, values, 1, on_order, &o, &err), SILT_OK);
    silt_status status = session_execute(first.session, r->c->sql, &err);
    hooked_session_close(&first);
    bool ended = o.calls < at;
    if (!o.given) return !ended;
    silt_session *s = open_plain(r->warehouse);
    contents found = contents_of(s, r->c->sql);
    if (!r->c->many_commits) check_told(r, &o, status, &err, &found);
    bool lived = fault == FAULT_FAIL || fault == FAULT_LOST_REPLY;
    if (lived && status != SILT_OK && status != SILT_UNKNOWN) check_files(r, &o);
    must(s, "INSERT INTO t (id, p, v) VALUES (100, 0, 0)");
    contents next = contents_of(s, "the next statement");
    assert_int_equal(next.sums[0], found.sums[0] + 1);
    silt_session_close(s);
    return true;
}

/* The sanitizers make each run several times slower, and look for other faults than the release build's runs: every third call is enough for them. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { STEP = 3, SANITIZED = 1 };
#else
enum { STEP = 1, SANITIZED = 0 };
#endif

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

static void explore(const char *properties, bool every_fault) {
    run r = {0};
    snprintf(r.base, sizeof r.base, "%s/base", folder);
    snprintf(r.warehouse, sizeof r.warehouse, "%s/wh", folder);
    shell("rm -rf '%s' '%s'", r.base, r.warehouse);
    silt_session *s = open_plain(r.base);
    char create[400];
    /* the catalog keeps absolute paths: the table is made where its copies will be */
    snprintf(create, sizeof create, "CREATE TABLE t (id INT, p INT, v INT) USING DELTA PARTITIONED BY (p) LOCATION '%s/t'%s%s%s", r.warehouse, properties ? " TBLPROPERTIES (" : "",
             properties ? properties : "", properties ? ")" : "");
    must(s, create);
    must(s, "INSERT INTO t VALUES (1, 0, 0), (2, 0, 0), (3, 1, 0), (4, 1, 0)");
    must(s, "INSERT INTO t VALUES (5, 0, 1), (6, 1, 1)");
    r.before = contents_of(s, "setup");
    silt_session_close(s);
    shell("mv '%s/t' '%s/t'", r.warehouse, r.base);
    for (size_t i = 0; i < ARRAY_LEN(statements); i++) {
        r.c = &statements[i];
        shell("rm -rf '%s' && cp -r '%s' '%s'", r.warehouse, r.base, r.warehouse);
        s = open_plain(r.warehouse);
        must(s, r.c->sql);
        r.after = contents_of(s, r.c->sql);
        silt_session_close(s);
        size_t runs = explore_statement(&r, every_fault);
        print_message("# %.40s: %zu runs\n", r.c->sql, runs);
    }
}

static void plain(void **state) {
    (void)state;
    explore(NULL, !SANITIZED);
}

static void all_features(void **state) {
    (void)state;
    explore("'delta.enableDeletionVectors' = 'true', 'delta.enableChangeDataFeed' = 'true', 'delta.enableRowTracking' = 'true', 'delta.checkpointInterval' = '3'", getenv("SILT_EVERY_FAULT") != NULL);
}

static int begin(void **state) {
    (void)state;
    strcpy(folder, "/tmp/silt-statements-XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static int end(void **state) {
    (void)state;
    shell("rm -rf '%s'", folder);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain),
        cmocka_unit_test(all_features),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, begin, end);
}
