/*
 * MERGE INTO in the log and in files: which files are read, what is written which way, commit parameters and metrics in Spark's words, change files, EXPLAIN. What the statement
 * answers is in tests/sql/spark/merge.test and tests/sql/write/merge.test.
 */
#include "base/json.h"
#include "support/sql_world.h"

/* ---- answers ---- */

/* The rows of a query of integers, "1|2\n": read through the session's own result. */
static const char *rows(sql_world *w, const char *statement) {
    statement_result *r;
    buf text;
    buf_init(&text, BUF_MAX_DEFAULT);
    if (session_run(w->session, str_of(statement), NULL, &r, &w->err) != SILT_OK) fail_msg("%s: %s", statement, w->err.message);
    for (;;) {
        struct ArrowArray batch = {.release = NULL};
        assert_int_equal(statement_result_next(r, &batch, &w->err), SILT_OK);
        if (!batch.release) break;
        for (int64_t i = 0; i < batch.length; i++)
            for (int64_t c = 0; c < batch.n_children; c++) {
                const struct ArrowArray *column = batch.children[c];
                int64_t at = i + column->offset;
                const uint8_t *valid = column->buffers[0];
                bool null = column->null_count != 0 && valid && !((valid[at / 8] >> (at % 8)) & 1);
                if (null) buf_append_z(&text, "NULL");
                else buf_append_i64(&text, ((const int64_t *)column->buffers[1])[at]);
                buf_append_char(&text, c + 1 < batch.n_children ? '|' : '\n');
            }
        batch.release(&batch);
    }
    statement_result_free(r);
    const char *out = arena_cstr(w->a, buf_str(&text));
    buf_dispose(&text);
    return out;
}

/* The text of EXPLAIN. */
static const char *plan(sql_world *w, const char *statement) {
    statement_result *r;
    buf text;
    buf_init(&text, BUF_MAX_DEFAULT);
    str explain = arena_printf(w->a, "EXPLAIN %s", statement);
    if (session_run(w->session, explain, NULL, &r, &w->err) != SILT_OK) fail_msg("%s: %s", statement, w->err.message);
    struct ArrowArray batch = {.release = NULL};
    assert_int_equal(statement_result_next(r, &batch, &w->err), SILT_OK);
    for (int64_t i = 0; i < batch.length; i++) {
        const int32_t *ends = batch.children[0]->buffers[1];
        buf_append(&text, (str){(const char *)batch.children[0]->buffers[2] + ends[i], (size_t)(ends[i + 1] - ends[i])});
        buf_append_char(&text, '\n');
    }
    batch.release(&batch);
    statement_result_free(r);
    const char *out = arena_cstr(w->a, buf_str(&text));
    buf_dispose(&text);
    return out;
}

static void shows(const char *text, const char *part) {
    if (!strstr(text, part)) fail_msg("\"%s\" is not in: %s", part, text);
}

static const char *parameter(sql_world *w, int64_t version, const char *key) {
    return arena_cstr(w->a, json_get_str(json_get(sql_world_action(w, "t", version, "commitInfo"), "operationParameters"), key, STR("?")));
}

static int64_t metric(sql_world *w, int64_t version, const char *key) {
    int64_t n = -1;
    str text = json_get_str(json_get(sql_world_action(w, "t", version, "commitInfo"), "operationMetrics"), key, STR(""));
    return str_to_i64(text, &n) ? n : -1;
}

static size_t count(sql_world *w, int64_t version, const char *name) {
    size_t n = 0;
    str rest = str_of(sql_world_actions(w, "t", version)), word;
    while (str_next(&rest, ' ', &word)) n += str_eqz(word, name);
    return n;
}

static const char *all(sql_world *w) { return rows(w, "SELECT id, v, p FROM t ORDER BY id"); }

/* ids 0 … 9, v = 1, p = id % 2 */
static void make(sql_world *w, const char *properties, const char *partitioning) {
    OK(arena_printf(w->a, "CREATE TABLE t (id BIGINT, v BIGINT, p BIGINT) USING DELTA %s %s", partitioning, properties).ptr);
    OK("INSERT INTO t SELECT id, 1L, id % 2 FROM range(10)");
}

#define VECTORS "TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')"
#define FEED    "TBLPROPERTIES ('delta.enableChangeDataFeed' = 'true')"

/* ---- ways ---- */

static void an_upsert_copies(void **state) {
    sql_world *w = *state;
    make(w, "", "");
    OK("MERGE INTO t USING (SELECT * FROM VALUES (3L, 30L), (20L, 200L) s(id, v)) s ON t.id = s.id WHEN MATCHED AND s.v > 5 THEN UPDATE SET v = s.v WHEN NOT MATCHED THEN INSERT (id, v) VALUES (s.id, s.v)");
    assert_string_equal(w->message, "1 updated, 0 deleted, 1 inserted, version 2");
    assert_string_equal(sql_world_actions(w, "t", 2), "commitInfo remove add");
    assert_string_equal(parameter(w, 2, "predicate"), "[\"(t.id = s.id)\"]");
    assert_string_equal(parameter(w, 2, "matchedPredicates"), "[{\"predicate\":\"(s.v > 5L)\",\"actionType\":\"update\"}]");
    assert_string_equal(parameter(w, 2, "notMatchedPredicates"), "[{\"actionType\":\"insert\"}]");
    assert_string_equal(parameter(w, 2, "notMatchedBySourcePredicates"), "[]");
    assert_int_equal(metric(w, 2, "numTargetRowsCopied"), 9);
    assert_int_equal(metric(w, 2, "numTargetRowsUpdated"), 1);
    assert_int_equal(metric(w, 2, "numTargetRowsMatchedUpdated"), 1);
    assert_int_equal(metric(w, 2, "numTargetRowsInserted"), 1);
    assert_int_equal(metric(w, 2, "numOutputRows"), 11);
    assert_int_equal(metric(w, 2, "numSourceRows"), 2);
    assert_int_equal(metric(w, 2, "numTargetFilesAdded"), 1);
    assert_int_equal(metric(w, 2, "numTargetFilesRemoved"), 1);
}

static void an_upsert_with_vectors_writes_what_changed(void **state) {
    sql_world *w = *state;
    make(w, VECTORS, "");
    OK("MERGE INTO t USING (SELECT * FROM VALUES (3L, 30L), (20L, 200L) s(id, v)) s ON t.id = s.id WHEN MATCHED THEN UPDATE SET v = s.v WHEN NOT MATCHED THEN INSERT (id, v) VALUES (s.id, s.v)");
    assert_int_equal(count(w, 2, "add"), 2);
    assert_int_equal(count(w, 2, "remove"), 1);
    assert_int_equal(metric(w, 2, "numTargetDeletionVectorsAdded"), 1);
    assert_int_equal(metric(w, 2, "numOutputRows"), 2);
    assert_int_equal(metric(w, 2, "numTargetRowsCopied"), 0);
    OK("SET spark.databricks.delta.merge.deletionVectors.persistent=false");
    OK("MERGE INTO t USING (SELECT 4L AS id) s ON t.id = s.id WHEN MATCHED THEN DELETE");
    assert_int_equal(metric(w, 3, "numTargetDeletionVectorsAdded"), 0);
    OK("RESET spark.databricks.delta.merge.deletionVectors.persistent");
}

static void inserts_alone_are_appended(void **state) {
    sql_world *w = *state;
    make(w, "TBLPROPERTIES ('delta.appendOnly' = 'true')", "");
    OK("MERGE INTO t USING (SELECT id, 7L AS v, 0L AS p FROM range(8, 12)) s ON t.id = s.id WHEN NOT MATCHED THEN INSERT *");
    assert_string_equal(sql_world_actions(w, "t", 2), "commitInfo add");
    assert_int_equal(metric(w, 2, "numTargetRowsInserted"), 2);
    FAILS("DELTA_CANNOT_MODIFY_APPEND_ONLY", "MERGE INTO t USING (SELECT 1L AS id) s ON t.id = s.id WHEN MATCHED THEN DELETE");
    assert_int_equal(sql_world_latest(w, "t"), 2);
}

static void nothing_changed_is_no_commit(void **state) {
    sql_world *w = *state;
    make(w, "", "");
    OK("MERGE INTO t USING (SELECT 77L AS id) s ON t.id = s.id WHEN MATCHED THEN DELETE");
    OK("MERGE INTO t USING (SELECT 7L AS id) s ON t.id = s.id WHEN MATCHED AND t.v = 5 THEN DELETE WHEN NOT MATCHED THEN INSERT (id) VALUES (s.id)");
    OK("MERGE INTO t USING (SELECT 7L AS id) s ON t.id = s.id WHEN NOT MATCHED THEN INSERT (id) VALUES (s.id)");
    assert_string_equal(w->message, "nothing to change");
    assert_int_equal(sql_world_latest(w, "t"), 1);
}

/* ---- pruning: a file that is not needed may as well be gone ---- */

static void lose(sql_world *w, const char *folder) {
    char command[160];
    snprintf(command, sizeof command, "rm -rf '%s/t/%s'", w->folder, folder);
    assert_int_equal(system(command), 0);
}

static void conditions_leave_partitions_out(void **state) {
    sql_world *w = *state;
    make(w, "", "PARTITIONED BY (p)");
    const char *merge = "MERGE INTO t USING (SELECT id, 5L AS v FROM range(4)) s ON t.id = s.id AND t.p = 1 WHEN MATCHED THEN UPDATE SET v = s.v";
    shows(plan(w, merge), "files of the target: 1 of 2 (left out: 1 by partition, 0 by statistics)");
    lose(w, "p=0");
    OK(merge);
    assert_string_equal(w->message, "2 updated, 0 deleted, 0 inserted, version 2");
    OK("MERGE INTO t USING (SELECT id FROM range(4)) s ON t.id = s.id WHEN MATCHED AND t.p > 0 AND s.id > 2 THEN DELETE");
    assert_string_equal(w->message, "0 updated, 1 deleted, 0 inserted, version 3");
}

static void the_sources_values_leave_partitions_out(void **state) {
    sql_world *w = *state;
    make(w, "", "PARTITIONED BY (p)");
    lose(w, "p=0");
    OK("MERGE INTO t USING (SELECT 3L AS id, 1L AS p UNION ALL SELECT 4L, 1L) s ON t.id = s.id AND t.p = s.p WHEN MATCHED THEN UPDATE SET v = 9 WHEN NOT MATCHED THEN INSERT (id, v, p) VALUES (s.id, 8, s.p)");
    assert_string_equal(w->message, "1 updated, 0 deleted, 1 inserted, version 2");
    OK("MERGE INTO t USING (SELECT 5L AS id, CAST(NULL AS BIGINT) AS p) s ON t.id = s.id AND t.p = s.p WHEN MATCHED THEN DELETE");
    assert_string_equal(w->message, "nothing to change");
}

static void the_sources_range_leaves_files_out(void **state) {
    sql_world *w = *state;
    make(w, "", "");
    OK("INSERT INTO t SELECT id, 1L, 3L FROM range(100, 110)");
    str path = json_get_str(sql_world_action(w, "t", 1, "add"), "path", STR("?"));
    lose(w, arena_cstr(w->a, path));
    OK("MERGE INTO t USING (SELECT id FROM range(105, 500)) s ON t.id = s.id WHEN MATCHED THEN DELETE WHEN NOT MATCHED AND s.id = 400 THEN INSERT (id) VALUES (s.id)");
    assert_string_equal(w->message, "0 updated, 5 deleted, 1 inserted, version 3");
}

/* Rows that a NOT MATCHED BY SOURCE clause may take are read, others not. */
static void lone_rows_of_the_target_are_read(void **state) {
    sql_world *w = *state;
    make(w, "", "PARTITIONED BY (p)");
    lose(w, "p=0");
    OK("MERGE INTO t USING (SELECT 1L AS id, 1L AS p) s ON t.id = s.id AND t.p = s.p WHEN NOT MATCHED BY SOURCE AND t.p = 1 AND t.id < 6 THEN DELETE");
    assert_string_equal(w->message, "0 updated, 2 deleted, 0 inserted, version 2");
    assert_int_not_equal(sql_world_run(w, "MERGE INTO t USING (SELECT 1L AS id, 1L AS p) s ON t.id = s.id AND t.p = s.p WHEN NOT MATCHED BY SOURCE THEN DELETE"), SILT_OK);
}

/* ---- the change feed ---- */

static void changes_of_all_kinds(void **state) {
    sql_world *w = *state;
    make(w, FEED, "");
    OK("MERGE INTO t USING (SELECT * FROM VALUES (1L, 10L), (2L, 20L), (30L, 300L) s(id, v)) s ON t.id = s.id WHEN MATCHED AND s.id = 1 THEN DELETE WHEN MATCHED THEN UPDATE SET v = s.v WHEN NOT MATCHED THEN INSERT (id, v) VALUES (s.id, s.v) "
       "WHEN NOT MATCHED BY SOURCE AND t.id = 9 THEN UPDATE SET v = 0 WHEN NOT MATCHED BY SOURCE AND t.id = 8 THEN DELETE");
    assert_int_equal(count(w, 2, "cdc"), 1);
    assert_string_equal(rows(w, "SELECT id, v, CASE _change_type WHEN 'delete' THEN 1L WHEN 'update_preimage' THEN 2L WHEN 'update_postimage' THEN 3L ELSE 4L END AS kind FROM table_changes('t', 2, 2) ORDER BY ALL"),
                        "1|1|1\n2|1|2\n2|20|3\n8|1|1\n9|0|3\n9|1|2\n30|300|4\n");
    OK("MERGE INTO t USING (SELECT 31L AS id) s ON t.id = s.id WHEN NOT MATCHED THEN INSERT (id) VALUES (s.id)");
    assert_int_equal(count(w, 3, "cdc"), 0);
}

/* ---- the source ---- */

static void the_source_is_read_once(void **state) {
    sql_world *w = *state;
    make(w, "", "PARTITIONED BY (p)");
    OK("MERGE INTO t USING (SELECT CAST(floor(rand() * 10) AS BIGINT) AS id, 1000L AS v FROM range(1)) s ON t.id = s.id WHEN MATCHED THEN UPDATE SET v = s.v + s.id WHEN NOT MATCHED THEN INSERT (id) VALUES (-1)");
    assert_string_equal(w->message, "1 updated, 0 deleted, 0 inserted, version 2");
    assert_string_equal(rows(w, "SELECT count(*) FROM t WHERE v = 1000 + id"), "1\n");
}

static void the_target_is_its_own_source(void **state) {
    sql_world *w = *state;
    make(w, "", "");
    OK("MERGE INTO t USING t AS s ON t.id = s.id + 5 WHEN MATCHED THEN UPDATE SET v = s.id WHEN NOT MATCHED AND s.id < 7 THEN INSERT (id, v, p) VALUES (s.id + 5, -1, 0) WHEN NOT MATCHED BY SOURCE AND t.id < 4 THEN DELETE");
    assert_string_equal(all(w), "4|1|0\n5|0|1\n6|1|0\n7|2|1\n8|3|0\n9|4|1\n10|-1|0\n11|-1|0\n");
}

/* Conjuncts over both sides at once: outer joins then go by row numbers. */
static void conditions_over_both_sides(void **state) {
    sql_world *w = *state;
    make(w, "", "");
    const char *source = "(SELECT * FROM VALUES (1L, 1L), (2L, 5L), (3L, 1L), (50L, 1L) s(id, v)) s ON t.id = s.id AND t.id + s.v > 3";
    OK(arena_printf(w->a, "MERGE INTO t USING %s WHEN MATCHED THEN UPDATE SET v = 100 WHEN NOT MATCHED THEN INSERT (id, v) VALUES (-s.id, s.v) WHEN NOT MATCHED BY SOURCE AND t.id > 6 THEN DELETE", source).ptr);
    assert_string_equal(all(w), "-50|1|NULL\n-1|1|NULL\n0|1|0\n1|1|1\n2|100|0\n3|100|1\n4|1|0\n5|1|1\n6|1|0\n");
    OK(arena_printf(w->a, "MERGE INTO t USING %s WHEN NOT MATCHED AND s.id > 10 THEN INSERT (id) VALUES (s.id)", source).ptr);
    assert_string_equal(w->message, "0 updated, 0 deleted, 1 inserted, version 3");
    OK(arena_printf(w->a, "MERGE INTO t USING %s WHEN MATCHED THEN DELETE WHEN NOT MATCHED BY SOURCE AND t.id > 4 THEN UPDATE SET v = -7", source).ptr);
    assert_string_equal(all(w), "-50|1|NULL\n-1|1|NULL\n0|1|0\n1|1|1\n4|1|0\n5|-7|1\n6|-7|0\n");
}

/* ---- refusals leave nothing ---- */

static void a_refused_merge_leaves_the_table(void **state) {
    sql_world *w = *state;
    make(w, "TBLPROPERTIES ('delta.constraints.small' = 'v < 50')", "");
    FAILS("DELTA_MULTIPLE_SOURCE_ROW_MATCHING_TARGET_ROW_IN_MERGE", "MERGE INTO t USING (SELECT 1L AS id UNION ALL SELECT 1L) s ON t.id = s.id WHEN MATCHED THEN UPDATE SET v = 2");
    FAILS("DELTA_VIOLATE_CONSTRAINT_WITH_VALUES", "MERGE INTO t USING (SELECT 1L AS id) s ON t.id = s.id WHEN MATCHED THEN UPDATE SET v = 50");
    FAILS("DIVIDE_BY_ZERO", "MERGE INTO t USING (SELECT 1L AS id) s ON t.id = s.id WHEN MATCHED THEN UPDATE SET v = CAST(1 / (t.v - 1) AS BIGINT)");
    OK("MERGE INTO t USING (SELECT 1L AS id UNION ALL SELECT 1L) s ON t.id = s.id WHEN MATCHED THEN DELETE");
    assert_string_equal(w->message, "0 updated, 1 deleted, 0 inserted, version 2");
    /* an expression is evaluated for the rows of its clause alone */
    OK("MERGE INTO t USING (SELECT id FROM range(2, 4)) s ON t.id = s.id WHEN MATCHED AND s.id = 2 THEN UPDATE SET v = CAST(10 / (s.id - 1) AS BIGINT) WHEN MATCHED THEN UPDATE SET v = CAST(10 / (s.id - 2) AS BIGINT)");
    assert_string_equal(rows(w, "SELECT v FROM t WHERE id IN (2, 3)"), "10\n10\n");
}

static void explain_tells_the_plan(void **state) {
    sql_world *w = *state;
    make(w, VECTORS, "");
    const char *text = plan(w, "MERGE INTO t USING (SELECT 1L AS id) s ON t.id = s.id AND t.id < 100 WHEN MATCHED AND t.v = 1 THEN DELETE WHEN NOT MATCHED THEN INSERT (id) VALUES (s.id) WHEN NOT MATCHED BY SOURCE THEN UPDATE SET v = 2");
    shows(text, "on ((t.id = s.id) AND (t.id < 100L))");
    shows(text, "when matched and (t.v = 1L): delete");
    shows(text, "when not matched: insert id");
    shows(text, "when not matched by source: update v");
    shows(text, "join: full outer join");
    shows(text, "way: deletion vectors");
    shows(plan(w, "MERGE INTO t USING (SELECT 1L AS id) s ON t.id = s.id WHEN NOT MATCHED THEN INSERT (id) VALUES (s.id)"), "way: append only");
    assert_int_equal(sql_world_latest(w, "t"), 1);
}

#define WITH_WORLD(fn) cmocka_unit_test_setup_teardown(fn, sql_world_setup, sql_world_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        WITH_WORLD(an_upsert_copies),
        WITH_WORLD(an_upsert_with_vectors_writes_what_changed),
        WITH_WORLD(inserts_alone_are_appended),
        WITH_WORLD(nothing_changed_is_no_commit),
        WITH_WORLD(conditions_leave_partitions_out),
        WITH_WORLD(the_sources_values_leave_partitions_out),
        WITH_WORLD(the_sources_range_leaves_files_out),
        WITH_WORLD(lone_rows_of_the_target_are_read),
        WITH_WORLD(changes_of_all_kinds),
        WITH_WORLD(the_source_is_read_once),
        WITH_WORLD(the_target_is_its_own_source),
        WITH_WORLD(conditions_over_both_sides),
        WITH_WORLD(a_refused_merge_leaves_the_table),
        WITH_WORLD(explain_tells_the_plan),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
