/*
 * What sessions see of each other: a statement reads one version of each table however many references it has, the next statement sees what the last one did, an open result
 * keeps its version, and a statement that lost is run again where the session asks for that.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "support/hooked_session.h"

#define MAX_CALLS 300

typedef struct rivalry {
    char folder[64];
    hooked_session first;
    silt_session *rival;
    const char *statement; /**< of the rival */
    size_t at;             /**< before this call of the first; 0: before the puts of commits */
    size_t calls, times;   /**< how often it may still act */
    size_t acted;
} rivalry;

static store_fault before(void *ctx, const char *call, str path, size_t nth) {
    rivalry *r = ctx;
    (void)nth;
    bool is_now = ++r->calls == r->at || (r->at == 0 && is_commit_put(call, path));
    if (!is_now || r->times == 0 || !r->statement) return FAULT_NONE;
    r->times--;
    if (session_execute(r->rival, r->statement, NULL) == SILT_OK) r->acted++;
    return FAULT_NONE;
}

static void must(silt_session *s, const char *sql) {
    silt_error err = {0};
    if (session_execute(s, sql, &err) != SILT_OK) fail_msg("%s: [%s] %s %s", sql, err.condition, err.message, err.detail);
}

static int64_t number(silt_session *s, const char *sql) {
    silt_error err = {0};
    int64_t n = -1;
    if (session_number(s, sql, &n, &err) != SILT_OK) fail_msg("%s: [%s] %s %s", sql, err.condition, err.message, err.detail);
    return n;
}

static int begin(void **state) {
    rivalry *r = calloc(1, sizeof *r);
    char warehouse[96];
    const char *const keys[] = {"spark.sql.warehouse.dir"}, *const values[] = {warehouse};
    silt_session_options options = {.struct_size = sizeof options, .keys = keys, .values = values, .n_settings = 1};
    strcpy(r->folder, "/tmp/silt-sessions-XXXXXX");
    if (!mkdtemp(r->folder)) return -1;
    snprintf(warehouse, sizeof warehouse, "%s/wh", r->folder);
    assert_int_equal(silt_session_open(&options, &r->rival, NULL), SILT_OK);
    assert_int_equal(hooked_session_open(&r->first, keys, values, 1, before, r, NULL), SILT_OK);
    must(r->rival, "CREATE TABLE t (id INT, n INT) USING DELTA");
    must(r->rival, "INSERT INTO t VALUES (1, 10), (2, 20)");
    *state = r;
    return 0;
}

static int end(void **state) {
    rivalry *r = *state;
    char command[96];
    hooked_session_close(&r->first);
    silt_session_close(r->rival);
    snprintf(command, sizeof command, "rm -rf '%s'", r->folder);
    assert_int_equal(system(command), 0);
    free(r);
    return 0;
}

/* ---- versions ---- */

static void one_statement_reads_one_version(void **state) {
    rivalry *r = *state;
    size_t acted = 0;
    r->statement = "INSERT INTO t VALUES (3, 30)";
    for (r->at = 1; r->at < MAX_CALLS; r->at++) {
        must(r->rival, "INSERT OVERWRITE t VALUES (1, 10), (2, 20)");
        r->calls = 0;
        r->times = 1;
        r->acted = 0;
        assert_int_equal(number(r->first.session, "SELECT (SELECT count(*) FROM t) - (SELECT count(*) FROM t AS u) + (SELECT count(*) FROM t AS v WHERE id < 3) - 2"), 0);
        if (r->acted == 0) break;
        acted++;
    }
    assert_true(acted >= 3 && r->at < MAX_CALLS);
}

/* The rows that are inserted are those of the version that the commit is checked against. */
static void an_insert_reads_the_version_it_writes_to(void **state) {
    rivalry *r = *state;
    r->statement = "INSERT INTO t VALUES (3, 30)";
    for (r->at = 1; r->at < MAX_CALLS; r->at++) {
        silt_error err = {0};
        must(r->rival, "INSERT OVERWRITE t VALUES (1, 10), (2, 20)");
        r->calls = 0;
        r->times = 1;
        r->acted = 0;
        silt_status status = session_execute(r->first.session, "INSERT INTO t SELECT id + 100, n FROM t", &err);
        if (status != SILT_OK) assert_string_equal(err.condition, "DELTA_CONCURRENT_APPEND.WITHOUT_HINT");
        int64_t doubled = number(r->rival, "SELECT count(*) FROM t WHERE id > 100"), plain = number(r->rival, "SELECT count(*) FROM t WHERE id < 100");
        if (status != SILT_OK) assert_int_equal(doubled, 0);
        else assert_true(doubled == 2 || (doubled == 3 && plain == 3));
        if (r->acted == 0) break;
    }
    assert_true(r->at > 3 && r->at < MAX_CALLS);
}

/* A table replaced by a query over itself does not lose what was committed while the query was planned. */
static void a_replacement_reads_the_version_it_replaces(void **state) {
    rivalry *r = *state;
    bool lost = false;
    r->statement = "INSERT INTO t VALUES (3, 30)";
    for (r->at = 1; r->at < MAX_CALLS; r->at++) {
        silt_error err = {0};
        must(r->rival, "INSERT OVERWRITE t VALUES (1, 10), (2, 20)");
        r->calls = 0;
        r->times = 1;
        r->acted = 0;
        silt_status status = session_execute(r->first.session, "CREATE OR REPLACE TABLE t USING DELTA AS SELECT * FROM t", &err);
        if (status != SILT_OK) assert_int_equal(status, SILT_CONFLICT);
        lost |= status != SILT_OK;
        assert_int_equal(number(r->rival, "SELECT count(*) FROM t"), 2 + (int64_t)r->acted);
        if (r->acted == 0) break;
    }
    assert_true(lost && r->at < MAX_CALLS);
}

static void a_script_sees_its_own_work(void **state) {
    rivalry *r = *state;
    silt_session *s = r->first.session;
    for (int i = 0; i < 3; i++) {
        char sql[96];
        int64_t n = number(s, "SELECT count(*) FROM t");
        snprintf(sql, sizeof sql, "INSERT INTO t SELECT max(id) + 1, %d FROM t", i);
        must(s, sql);
        assert_int_equal(number(s, "SELECT count(*) FROM t"), n + 1);
        assert_int_equal(number(s, "SELECT CAST(max(id) AS BIGINT) FROM t"), n + 1);
    }
}

static void an_open_result_keeps_its_version(void **state) {
    rivalry *r = *state;
    struct ArrowArrayStream rows;
    struct ArrowArray batch = {0};
    int64_t n = 0;
    must(r->rival, "INSERT INTO t SELECT CAST(id AS INT), 0 FROM range(300000)");
    assert_int_equal(silt_query(r->first.session, "SELECT id FROM t", NULL, &rows, NULL), SILT_OK);
    assert_int_equal(rows.get_next(&rows, &batch), 0);
    n += batch.length;
    batch.release(&batch);
    must(r->rival, "INSERT OVERWRITE t VALUES (7, 7)");
    must(r->rival, "CREATE OR REPLACE TABLE t (other STRING) USING DELTA");
    while (rows.get_next(&rows, &batch) == 0 && batch.release) {
        n += batch.length;
        batch.release(&batch);
    }
    rows.release(&rows);
    assert_int_equal(n, 300002);
    assert_int_equal(number(r->first.session, "SELECT count(other) FROM t"), 0);
}

/* ---- running again ---- */

static void a_loser_is_not_run_again_unasked(void **state) {
    rivalry *r = *state;
    silt_error err = {0};
    r->statement = "INSERT INTO t VALUES (3, 30)";
    r->times = 1;
    assert_int_equal(session_execute(r->first.session, "INSERT INTO t SELECT id, n + 1 FROM t", &err), SILT_CONFLICT);
    assert_string_equal(err.condition, "DELTA_CONCURRENT_APPEND.WITHOUT_HINT");
    assert_non_null(strstr(err.hint, "silt.commit.rerun"));
    assert_int_equal(number(r->rival, "SELECT count(*) FROM t"), 3);
}

static void a_loser_is_run_again_over_what_the_winner_left(void **state) {
    rivalry *r = *state;
    r->statement = "INSERT INTO t VALUES (3, 30)";
    r->times = 2;
    must(r->first.session, "SET silt.commit.rerun = 2");
    must(r->first.session, "INSERT INTO t SELECT id, n + 1 FROM t");
    assert_int_equal(r->acted, 2);
    assert_int_equal(number(r->rival, "SELECT count(*) FROM t"), 8);
    assert_int_equal(number(r->rival, "SELECT count(*) FROM t WHERE n = 31"), 2);
}

/* A statement that is run again takes identity values anew, above the winner's. */
static void identity_values_are_taken_anew(void **state) {
    rivalry *r = *state;
    must(r->rival, "CREATE TABLE numbered (id BIGINT GENERATED ALWAYS AS IDENTITY, n INT) USING DELTA");
    r->statement = "INSERT INTO numbered (n) VALUES (1), (1)";
    r->times = 1;
    must(r->first.session, "SET silt.commit.rerun = 1");
    must(r->first.session, "INSERT INTO numbered (n) VALUES (2), (2)");
    assert_int_equal(r->acted, 1);
    assert_int_equal(number(r->rival, "SELECT count(DISTINCT id) FROM numbered"), 4);
    assert_int_equal(number(r->rival, "SELECT min(id) FROM numbered WHERE n = 2") - number(r->rival, "SELECT max(id) FROM numbered WHERE n = 1"), 1);
}

/* The other statements that can lose: each again over what the winner left. */
static void every_statement_can_be_run_again(void **state) {
    static const char *const statements[] = {
        "UPDATE t SET n = n + 1", "DELETE FROM t WHERE n = 11", "MERGE INTO t USING (SELECT 2 AS id, 5 AS n) AS s ON t.id = s.id WHEN MATCHED THEN UPDATE SET n = t.n + s.n",
        "INSERT OVERWRITE t SELECT id, n FROM t WHERE id = 2", "ALTER TABLE t SET TBLPROPERTIES ('mine' = '1')", "TRUNCATE TABLE t",
    };
    rivalry *r = *state;
    must(r->first.session, "SET silt.commit.rerun = 3");
    for (size_t i = 0; i < ARRAY_LEN(statements); i++) {
        char sql[96];
        snprintf(sql, sizeof sql, "ALTER TABLE t SET TBLPROPERTIES ('theirs' = '%zu')", i); /* stops everyone */
        r->statement = sql;
        r->times = 1;
        r->acted = 0;
        must(r->first.session, statements[i]);
        if (r->acted != 1) fail_msg("%s: the rival acted %zu times", statements[i], r->acted);
    }
    assert_int_equal(number(r->rival, "SELECT count(*) FROM t"), 0);
}

/* The same for a load, which reads its files again; unasked it loses. */
static void a_load_can_be_run_again(void **state) {
    rivalry *r = *state;
    char path[96];
    const char *file = path;
    silt_error err = {0};
    silt_load_options load = {.struct_size = sizeof load, .schema = "id INT, n INT"};
    silt_write_options options = {.struct_size = sizeof options, .mode = SILT_OVERWRITE};
    silt_write_result done = {.struct_size = sizeof done};
    snprintf(path, sizeof path, "%s/rows.jsonl", r->folder);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs("{\"id\": 7, \"n\": 70}\n{\"id\": 8, \"n\": 80}\n", f);
    assert_int_equal(fclose(f), 0);
    r->statement = "ALTER TABLE t SET TBLPROPERTIES ('theirs' = '1')"; /* stops everyone */
    r->times = 1;
    assert_int_equal(silt_load(r->first.session, "t", &file, 1, &load, &options, &done, &err), SILT_CONFLICT);
    assert_int_equal(number(r->rival, "SELECT sum(id) FROM t"), 3);
    must(r->first.session, "SET silt.commit.rerun = 3");
    r->times = 2;
    r->acted = 0;
    if (silt_load(r->first.session, "t", &file, 1, &load, &options, &done, &err) != SILT_OK) fail_msg("[%s] %s", err.condition, err.message);
    assert_int_equal(r->acted, 2);
    assert_int_equal(done.num_rows, 2);
    assert_int_equal(number(r->rival, "SELECT sum(id) FROM t"), 15);
}

static void reruns_are_counted(void **state) {
    rivalry *r = *state;
    silt_error err = {0};
    r->statement = "INSERT INTO t VALUES (3, 30)";
    r->times = 3;
    must(r->first.session, "SET silt.commit.rerun = 2");
    assert_int_equal(session_execute(r->first.session, "INSERT INTO t SELECT id, n + 1 FROM t", &err), SILT_CONFLICT);
    assert_int_equal(r->acted, 3);
    assert_int_equal(number(r->rival, "SELECT count(*) FROM t"), 5);
    static const char *const wrong[] = {"SET silt.commit.rerun = -1", "SET silt.commit.rerun = often", "SET silt.commit.rerun = 1001"};
    for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
        assert_int_equal(session_execute(r->first.session, wrong[i], &err), SILT_INVALID);
        assert_string_equal(err.condition, "INVALID_PARAMETER_VALUE");
    }
}

/* A failure that is no conflict is not tried again, and neither is one that may have committed. */
static void other_failures_stay(void **state) {
    rivalry *r = *state;
    silt_error err = {0};
    must(r->first.session, "SET silt.commit.rerun = 5");
    assert_int_not_equal(session_execute(r->first.session, "INSERT INTO t SELECT id, n / 0 FROM t", &err), SILT_OK);
    assert_string_equal(err.condition, "DIVIDE_BY_ZERO");
    silt_session_cancel(r->first.session);
    r->statement = "INSERT INTO t VALUES (3, 30)";
    r->times = 1;
    assert_int_equal(session_execute(r->first.session, "INSERT INTO t SELECT id, n FROM t", &err), SILT_CANCELLED);
    silt_session_resume(r->first.session);
}

#define WITH_RIVAL(f) cmocka_unit_test_setup_teardown(f, begin, end)

int main(void) {
    const struct CMUnitTest tests[] = {
        WITH_RIVAL(one_statement_reads_one_version),
        WITH_RIVAL(an_insert_reads_the_version_it_writes_to),
        WITH_RIVAL(a_replacement_reads_the_version_it_replaces),
        WITH_RIVAL(a_script_sees_its_own_work),
        WITH_RIVAL(an_open_result_keeps_its_version),
        WITH_RIVAL(a_loser_is_not_run_again_unasked),
        WITH_RIVAL(a_loser_is_run_again_over_what_the_winner_left),
        WITH_RIVAL(identity_values_are_taken_anew),
        WITH_RIVAL(every_statement_can_be_run_again),
        WITH_RIVAL(a_load_can_be_run_again),
        WITH_RIVAL(reruns_are_counted),
        WITH_RIVAL(other_failures_stay),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
