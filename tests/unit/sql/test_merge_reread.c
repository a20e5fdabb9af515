/*
 * MERGE whose new rows are rows of the source, read by place after the join (ops/merge_reread.c): what it writes is what the clauses say, also where a row of the source is written more than
 * once, and a source that changes in between is an error that leaves the table.
 */
#include <dirent.h>

#include "support/sql_world.h"

/* ---- answers ---- */

/* The rows of a query that gives one text per row, "a|b\n". */
static const char *rows(sql_world *w, const char *statement) {
    statement_result *r;
    buf text;
    buf_init(&text, BUF_MAX_DEFAULT);
    if (session_run(w->session, str_of(statement), NULL, &r, &w->err) != SILT_OK) fail_msg("%s: %s %s", statement, w->err.message, w->err.detail);
    for (;;) {
        struct ArrowArray batch = {.release = NULL};
        assert_int_equal(statement_result_next(r, &batch, &w->err), SILT_OK);
        if (!batch.release) break;
        const struct ArrowArray *column = batch.children[0];
        const int32_t *ends = (const int32_t *)column->buffers[1] + column->offset;
        for (int64_t i = 0; i < batch.length; i++) {
            buf_append(&text, (str){(const char *)column->buffers[2] + ends[i], (size_t)(ends[i + 1] - ends[i])});
            buf_append_char(&text, '\n');
        }
        batch.release(&batch);
    }
    statement_result_free(r);
    const char *out = arena_cstr(w->a, buf_str(&text));
    buf_dispose(&text);
    return out;
}

static const char *all(sql_world *w) { return rows(w, "SELECT concat_ws('|', id, v, coalesce(p, '-')) FROM t ORDER BY id, v, p"); }

static const char *plan(sql_world *w, const char *statement) { return rows(w, arena_printf(w->a, "EXPLAIN EXTENDED %s", statement).ptr); }

static void make(sql_world *w, bool vectors) {
    OK(arena_printf(w->a, "CREATE TABLE t (id BIGINT, v BIGINT, p STRING) USING DELTA TBLPROPERTIES ('delta.enableDeletionVectors' = '%s')", vectors ? "true" : "false").ptr);
    OK("INSERT INTO t VALUES (1, 10, 'a'), (2, 20, 'b'), (3, 30, 'c')");
    OK("INSERT INTO t VALUES (4, 40, 'd'), (5, 50, 'e')");
    OK("CREATE TABLE s (v BIGINT, id BIGINT, p STRING, op STRING) USING DELTA TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')");
    OK("INSERT INTO s VALUES (21, 2, 'B', 'U'), (31, 3, 'C', 'D'), (61, 6, 'F', 'U')");
    OK("INSERT INTO s VALUES (0, 0, 'none', 'U'), (41, 4, 'D', 'U'), (71, 7, 'G', 'X')");
    OK("DELETE FROM s WHERE id = 0");
}

#define UPDATE "UPDATE SET id = s.id, v = s.v + 1, p = s.p"
#define INSERT "INSERT (id, v, p) VALUES (s.id, s.v + 1, s.p)"

/* ---- what is written ---- */

static void upserts(sql_world *w, bool vectors) {
    make(w, vectors);
    const char *statement = "MERGE INTO t USING s ON t.id = s.id WHEN MATCHED AND s.op = 'D' THEN DELETE WHEN MATCHED THEN " UPDATE " WHEN NOT MATCHED AND s.op = 'U' THEN " INSERT;
    assert_non_null(strstr(plan(w, statement), "source_row")); /* else this file tests something else */
    OK(statement);
    assert_string_equal(w->message, "2 updated, 1 deleted, 1 inserted, version 3");
    assert_string_equal(all(w), "1|10|a\n2|22|B\n4|42|D\n5|50|e\n6|62|F\n");
}

static void an_upsert_copies(void **state) { upserts(*state, false); }
static void an_upsert_masks(void **state) { upserts(*state, true); }

static void lone_rows_of_the_target_are_deleted(void **state) {
    sql_world *w = *state;
    make(w, true);
    OK("MERGE INTO t USING s ON t.id = s.id WHEN MATCHED THEN " UPDATE " WHEN NOT MATCHED BY SOURCE AND t.v < 50 THEN DELETE");
    assert_string_equal(w->message, "3 updated, 1 deleted, 0 inserted, version 3");
    assert_string_equal(all(w), "2|22|B\n3|32|C\n4|42|D\n5|50|e\n");
    OK("MERGE INTO t USING s ON t.id = s.id AND s.op <> 'X' WHEN NOT MATCHED THEN " INSERT " WHEN NOT MATCHED BY SOURCE THEN DELETE");
    assert_string_equal(all(w), "2|22|B\n3|32|C\n4|42|D\n6|62|F\n7|72|G\n");
}

/* Both of one file and of several, and rows that come back from what a vector hides. */
static void a_row_of_the_source_changes_several_of_the_target(void **state) {
    sql_world *w = *state;
    for (int vectors = 0; vectors < 2; vectors++) {
        make(w, vectors);
        OK("INSERT INTO t VALUES (2, 200, 'x'), (2, 201, NULL), (4, 400, 'y')");
        OK("MERGE INTO t USING s ON t.id = s.id WHEN MATCHED AND t.v = 201 THEN DELETE WHEN MATCHED THEN " UPDATE " WHEN NOT MATCHED AND s.op = 'U' THEN " INSERT);
        assert_string_equal(w->message, "5 updated, 1 deleted, 1 inserted, version 4");
        assert_string_equal(all(w), "1|10|a\n2|22|B\n2|22|B\n3|32|C\n4|42|D\n4|42|D\n5|50|e\n6|62|F\n");
        OK("DROP TABLE t");
        OK("DROP TABLE s");
    }
}

static void two_rows_of_the_source_for_one_of_the_target(void **state) {
    sql_world *w = *state;
    make(w, true);
    OK("INSERT INTO s VALUES (22, 2, 'again', 'X')");
    FAILS("DELTA_MULTIPLE_SOURCE_ROW_MATCHING_TARGET_ROW_IN_MERGE", "MERGE INTO t USING s ON t.id = s.id WHEN MATCHED THEN " UPDATE);
    FAILS("DELTA_MULTIPLE_SOURCE_ROW_MATCHING_TARGET_ROW_IN_MERGE", "MERGE INTO t USING s ON t.id = s.id WHEN MATCHED AND s.op <> 'X' THEN " UPDATE " WHEN NOT MATCHED THEN " INSERT);
    assert_int_equal(sql_world_latest(w, "t"), 2);
}

/* An expression may fail for rows that no clause takes. */
static void values_are_computed_for_rows_that_are_taken(void **state) {
    sql_world *w = *state;
    make(w, true);
    OK("MERGE INTO t USING s ON t.id = s.id WHEN MATCHED AND s.op = 'D' THEN DELETE WHEN NOT MATCHED AND s.id > 6 THEN INSERT (id, v, p) VALUES (s.id, CAST(100 / (s.id - 6) AS BIGINT), s.p)");
    assert_string_equal(all(w), "1|10|a\n2|20|b\n4|40|d\n5|50|e\n7|100|G\n");
    FAILS("DIVIDE_BY_ZERO", "MERGE INTO t USING s ON t.id = s.id WHEN MATCHED AND t.v < 0 THEN DELETE WHEN NOT MATCHED THEN INSERT (id, v, p) VALUES (s.id, CAST(100 / (s.id - 6) AS BIGINT), s.p)");
    assert_int_equal(sql_world_latest(w, "t"), 3);
}

static void other_merges_keep_their_way(void **state) {
    sql_world *w = *state;
    make(w, false);
    static const char *const others[] = {
        "MERGE INTO t USING s ON t.id = s.id WHEN MATCHED THEN UPDATE SET v = s.v",                                                                          /* the rest is the target's */
        "MERGE INTO t USING s ON t.id = s.id WHEN MATCHED THEN " UPDATE " WHEN NOT MATCHED THEN INSERT (id, v, p) VALUES (s.id, 0, s.p)",                    /* two values */
        "MERGE INTO t USING (SELECT * FROM s WHERE op = 'U') s ON t.id = s.id WHEN MATCHED THEN " UPDATE,                                                    /* no plain source */
        "MERGE INTO t USING s ON t.id = s.id WHEN MATCHED THEN UPDATE SET id = s.id, v = CAST(rand() AS BIGINT), p = s.p",                                   /* of no row */
        "MERGE INTO t USING s ON t.id = s.id WHEN NOT MATCHED THEN " INSERT};                                                                                /* an append */
    for (size_t i = 0; i < ARRAY_LEN(others); i++)
        if (strstr(plan(w, others[i]), "source_row")) fail_msg("%s", others[i]);
}

/* ---- a source that changes ---- */

typedef struct swap {
    char from[PATH_MAX], to[PATH_MAX];
    bool armed;
} swap;

static void find_file(sql_world *w, const char *table, char out[PATH_MAX]) {
    char folder[PATH_MAX / 2];
    snprintf(folder, sizeof folder, "%s/%s", w->folder, table);
    DIR *d = opendir(folder);
    assert_non_null(d);
    for (struct dirent *e; (e = readdir(d));)
        if (strstr(e->d_name, ".parquet")) snprintf(out, PATH_MAX, "%s/%.255s", folder, e->d_name);
    closedir(d);
}

/* Between the join and the second reading. */
static void swap_file(void *ctx, const char *text, double fraction) {
    swap *s = ctx;
    char bytes[1 << 16];
    (void)fraction;
    if (!s->armed || strcmp(text, "writing data files") != 0) return;
    s->armed = false;
    FILE *from = fopen(s->from, "rb"), *to = fopen(s->to, "wb");
    assert_true(from && to);
    size_t n = fread(bytes, 1, sizeof bytes, from);
    assert_true(n > 0 && fwrite(bytes, 1, n, to) == n);
    fclose(from);
    fclose(to);
}

static void a_source_that_changes_is_refused(void **state) {
    sql_world *w = *state;
    swap s = {.armed = false};
    str key = STR("spark.sql.warehouse.dir"), folder = str_of(w->folder);
    session_options options = {.stores = w->stores, .keys = &key, .values = &folder, .n_settings = 1, .progress = swap_file, .progress_ctx = &s};
    session_close(w->session);
    assert_int_equal(session_open(&options, &w->session, &w->err), SILT_OK);
    OK("CREATE TABLE t USING DELTA AS SELECT id, id AS v, 'x' AS p FROM range(10)");
    OK("CREATE TABLE one USING DELTA AS SELECT id, id + 100 AS v, 'one' AS p FROM range(5)");
    OK("CREATE TABLE other USING DELTA AS SELECT id + 1 AS id, id + 1000 AS v, 'the other' AS p FROM range(6)");
    find_file(w, "other", s.from);
    find_file(w, "one", s.to);
    const char *statement = arena_printf(w->a, "MERGE INTO t USING parquet.`%s` s ON t.id = s.id WHEN MATCHED THEN UPDATE SET id = s.id, v = s.v, p = s.p", s.to).ptr;
    assert_non_null(strstr(plan(w, statement), "source_row"));
    s.armed = true;
    FAILS("MERGE_SOURCE_CHANGED", statement);
    assert_false(s.armed);
    assert_int_equal(sql_world_latest(w, "t"), 0);
    assert_string_equal(rows(w, "SELECT concat_ws('|', count(*), sum(v)) FROM t"), "10|45\n");
    OK(statement); /* as it is now */
    assert_string_equal(rows(w, "SELECT concat_ws('|', count(*), sum(v)) FROM t"), "10|6039\n");
}

#define WITH_WORLD(fn) cmocka_unit_test_setup_teardown(fn, sql_world_setup, sql_world_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        WITH_WORLD(an_upsert_copies),
        WITH_WORLD(an_upsert_masks),
        WITH_WORLD(lone_rows_of_the_target_are_deleted),
        WITH_WORLD(a_row_of_the_source_changes_several_of_the_target),
        WITH_WORLD(two_rows_of_the_source_for_one_of_the_target),
        WITH_WORLD(values_are_computed_for_rows_that_are_taken),
        WITH_WORLD(other_merges_keep_their_way),
        WITH_WORLD(a_source_that_changes_is_refused),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
