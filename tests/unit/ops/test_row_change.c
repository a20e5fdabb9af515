/*
 * DELETE, UPDATE and REPLACE WHERE in the log and in files: which way a file is changed, deletion vectors on top of others, statistics, change files, row ids, metrics, what is left
 * behind when the store fails. What the statements answer is in tests/sql/spark/{delete,update,replace_where}.test.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ops/dml.h"
#include "ops_test.h"
#include "table/stats.h"

/* ---- statements in a few words ---- */

static dml_result done;

static const str target_name = {"t", 1};
static const relation reference = {.kind = REL_TABLE, .name = {&target_name, 1}};

static dml_target target_of(world *w, const delta_snapshot *s) {
    return (dml_target){.table_name = STR("t"), .root = str_of(w->root), .snapshot = s, .reference = &reference};
}

static expr *parsed(world *w, const char *text) {
    expr *e = NULL;
    if (text && expr_parse(str_of(text), w->a, &e, &w->err) != SILT_OK) fail_msg("%s: %s", text, w->err.message);
    return e;
}

static silt_status delete_from(world *w, const delta_snapshot *s, const char *condition) {
    delete_spec spec = {.target = target_of(w, s), .condition = parsed(w, condition)};
    return ops_delete(&w->env, &spec, &done, &w->err);
}

static silt_status delete_where(world *w, const char *condition) {
    delta_snapshot *s = world_snapshot(w);
    silt_status status = delete_from(w, s, condition);
    delta_snapshot_release(s);
    return status;
}

static silt_status update_of(world *w, const delta_snapshot *s, const char *column, const char *value_text,
                             const char *condition) {
    str *name = ARENA_NEW(w->a, str);
    *name = str_of(column);
    update_item item = {.column = {name, 1}, .value = parsed(w, value_text)};
    update_spec spec = {.target = target_of(w, s), .items = &item, .n_items = 1, .condition = parsed(w, condition)};
    return ops_update(&w->env, &spec, &done, &w->err);
}

static silt_status update_set(world *w, const char *column, const char *value_text, const char *condition) {
    delta_snapshot *s = world_snapshot(w);
    silt_status status = update_of(w, s, column, value_text, condition);
    delta_snapshot_release(s);
    return status;
}

static silt_status replace_where(world *w, const char *condition, const char *query_text) {
    return world_insert(
        w, (insert_words){
               .query = query_text, .data_frame = true, .overwrite = true, .options = {.replace_where = str_of(condition)}});
}

/* ids 0 … n-1 in one file, v = 'v<id>'. */
static void make(world *w, const char *properties, const char *partitioned_by, int n) {
    char query_text[160];
    OK(world_create(
        w, (create_words){.columns = "id BIGINT, v STRING, p INT", .properties = properties, .partitioned_by = partitioned_by}));
    snprintf(query_text, sizeof query_text, "SELECT id, concat('v', id), CAST(id %% 2 AS INT) FROM range(%d)", n);
    OK(world_insert(w, (insert_words){.query = query_text}));
}

static const char *ids(world *w) { return world_rows(w, "SELECT array_join(sort_array(collect_list(id)), ',') FROM t"); }

static const json_node *dv_of(world *w, int64_t version) { return json_get(world_action(w, version, "add"), "deletionVector"); }

/* ---- copy-on-write ---- */

static void a_delete_copies_the_other_rows(void **state) {
    world *w = *state;
    make(w, NULL, NULL, 10);
    OK(delete_where(w, "id IN (3, 4)"));
    assert_int_equal(done.rows, 2);
    assert_int_equal(done.version, 2);
    assert_string_equal(ids(w), "0,1,2,5,6,7,8,9\n");
    assert_string_equal(world_actions(w, 2), "commitInfo remove add");
    assert_string_equal(world_parameters(w, 2), "{\"predicate\":\"[\\\"(id IN (3L, 4L))\\\"]\"}");
}

static void nothing_found_is_no_commit(void **state) {
    world *w = *state;
    make(w, NULL, NULL, 10);
    OK(delete_where(w, "id = 77"));
    assert_int_equal(done.version, -1);
    assert_int_equal(done.rows, 0);
    OK(update_set(w, "v", "'x'", "id = 77"));
    assert_int_equal(done.version, -1);
    OK(delete_where(w, "v = 'v77'"));
    assert_int_equal(world_version(w), 1);
}

static void rows_where_the_condition_is_null_stay(void **state) {
    world *w = *state;
    make(w, NULL, NULL, 4);
    OK(update_set(w, "v", "CAST(NULL AS STRING)", "id = 1"));
    OK(delete_where(w, "v <> 'v2'"));
    assert_string_equal(ids(w), "1,2\n");
}

/* Partition columns and bounds decide: no data file is read, so that it may as well be gone. */
static void whole_files_go_by_the_log_alone(void **state) {
    world *w = *state;
    char command[320];
    make(w, NULL, "p", 10);
    snprintf(command, sizeof command, "rm -rf '%s/p=1' '%s/p=0'", w->root, w->root);
    assert_int_equal(system(command), 0);
    OK(delete_where(w, "p = 1"));
    assert_int_equal(done.rows, 5);
    assert_string_equal(world_actions(w, 2), "commitInfo remove");
    OK(delete_where(w, "id < 100 AND id >= 0"));
    assert_int_equal(done.rows, 5);
    assert_string_equal(world_actions(w, 3), "commitInfo remove");
}

static void all_rows_of_files_without_counts(void **state) {
    world *w = *state;
    world_set(w, "spark.databricks.delta.stats.collect", "false");
    make(w, NULL, "p", 10);
    OK(delete_where(w, "p = 1"));
    assert_int_equal(done.rows, -1);
    assert_null(strstr(world_metrics(w, 2), "numDeletedRows"));
    OK(delete_where(w, "id = 2")); /* the file itself is asked */
    assert_int_equal(done.rows, 1);
    assert_string_equal(ids(w), "0,4,6,8\n");
}

/* A predicate says less than LIKE 'v%1': nothing may go whole because of it. */
static void conditions_that_the_log_cannot_prove(void **state) {
    world *w = *state;
    make(w, NULL, NULL, 10);
    OK(delete_where(w, "v LIKE 'v%1'"));
    assert_int_equal(done.rows, 1);
    OK(delete_where(w, "NOT (id = NULL)"));
    assert_int_equal(done.rows, 0);
    OK(delete_where(w, "id >= 0 AND v <> 'v5'"));
    assert_string_equal(ids(w), "5\n");
}

static void an_update_is_one_file(void **state) {
    world *w = *state;
    make(w, NULL, NULL, 10);
    OK(update_set(w, "v", "concat(v, '!')", "id > 6"));
    assert_int_equal(done.rows, 3);
    assert_string_equal(world_actions(w, 2), "commitInfo remove add");
    assert_string_equal(world_rows(w, "SELECT v FROM t WHERE id > 5 ORDER BY id"), "v6\nv7!\nv8!\nv9!\n");
    OK(update_set(w, "p", "7", NULL));
    assert_int_equal(done.rows, 10);
    assert_string_equal(world_rows(w, "SELECT count(*), sum(p) FROM t"), "10|70\n");
}

/* CAST('x' AS INT) would fail for the other rows. */
static void values_are_evaluated_for_chosen_rows_only(void **state) {
    world *w = *state;
    make(w, NULL, NULL, 4);
    OK(update_set(w, "v", "'12'", "id = 2"));
    OK(update_set(w, "p", "CAST(v AS INT)", "id = 2"));
    assert_string_equal(world_rows(w, "SELECT p FROM t WHERE id = 2"), "12\n");
    FAILS("CAST_INVALID_INPUT", update_set(w, "p", "CAST(v AS INT)", "id < 3"));
}

/* rand() chose the rows once; a second look would choose others. */
static void the_condition_is_evaluated_once(void **state) {
    world *w = *state;
    make(w, NULL, NULL, 1000);
    OK(delete_where(w, "rand() < 0.5"));
    int64_t deleted = done.rows;
    assert_true(deleted > 300 && deleted < 700);
    char expected[32];
    snprintf(expected, sizeof expected, "%lld\n", 1000 - (long long)deleted);
    assert_string_equal(world_rows(w, "SELECT count(*) FROM t"), expected);
}

/* ---- deletion vectors ---- */

static void a_vector_grows_until_its_file_goes(void **state) {
    world *w = *state;
    make(w, "delta.enableDeletionVectors=true", NULL, 10);
    OK(delete_where(w, "id IN (3, 4)"));
    assert_string_equal(world_actions(w, 2), "commitInfo add remove");
    assert_int_equal(json_get_i64(dv_of(w, 2), "cardinality", 0), 2);
    str stats = json_get_str(world_action(w, 2, "add"), "stats", STR_NULL);
    assert_true(str_find(stats, STR("\"numRecords\":10,")) != SIZE_MAX);
    assert_true(str_ends_with(stats, STR(",\"tightBounds\":false}")));
    assert_true(str_find(stats, STR("\"maxValues\":{\"id\":9,")) != SIZE_MAX);
    OK(delete_where(w, "id = 5"));
    assert_int_equal(done.rows, 1);
    assert_int_equal(json_get_i64(dv_of(w, 3), "cardinality", 0), 3);
    assert_int_equal(json_get_i64(json_get(world_action(w, 3, "remove"), "deletionVector"), "cardinality", 0), 2);
    assert_string_equal(ids(w), "0,1,2,6,7,8,9\n");
    OK(delete_where(w, "v LIKE 'v%'"));
    assert_int_equal(done.rows, 7);
    assert_string_equal(world_actions(w, 4), "commitInfo remove");
    assert_int_equal(world_data_files(w), 1); /* no other was written */
}

static void a_file_of_which_most_is_hidden_is_rewritten(void **state) {
    world *w = *state;
    make(w, "delta.enableDeletionVectors=true", NULL, 10);
    OK(delete_where(w, "id < 5 AND v <> ''"));
    assert_non_null(dv_of(w, 2));
    OK(delete_where(w, "id = 5"));
    assert_null(dv_of(w, 3));
    assert_string_equal(ids(w), "6,7,8,9\n");
    assert_int_equal(
        json_get_i64(json_get(world_action(w, 3, "commitInfo"), "operationMetrics"), "numDeletionVectorsRemoved", -1), -1);
    assert_non_null(strstr(world_metrics(w, 3), "numDeletionVectorsRemoved=1"));
    assert_non_null(strstr(world_metrics(w, 3), "numCopiedRows=4"));
}

static void a_setting_keeps_copies(void **state) {
    world *w = *state;
    make(w, "delta.enableDeletionVectors=true", NULL, 10);
    OK(delete_where(w, "id = 1"));
    world_set(w, "spark.databricks.delta.delete.deletionVectors.persistent", "false");
    OK(delete_where(w, "id = 2"));
    assert_null(dv_of(w, 3));
    assert_string_equal(ids(w), "0,3,4,5,6,7,8,9\n");
}

static void an_update_adds_only_what_changed(void **state) {
    world *w = *state;
    make(w, "delta.enableDeletionVectors=true", NULL, 10);
    OK(update_set(w, "v", "'new'", "id = 3"));
    assert_string_equal(world_actions(w, 2), "commitInfo add remove add");
    assert_string_equal(world_rows(w, "SELECT id, v FROM t WHERE id IN (2, 3) ORDER BY id"), "2|v2\n3|new\n");
    const char *metrics = world_metrics(w, 2);
    assert_non_null(strstr(metrics, "numUpdatedRows=1"));
    assert_non_null(strstr(metrics, "numAddedFiles=1"));
    assert_non_null(strstr(metrics, "numRemovedFiles=1"));
    assert_non_null(strstr(metrics, "numDeletionVectorsAdded=1"));
    assert_non_null(strstr(metrics, "numCopiedRows=0"));
}

static void statistics_get_the_count_that_a_vector_needs(void **state) {
    world *w = *state;
    world_set(w, "spark.databricks.delta.stats.collect", "false");
    make(w, "delta.enableDeletionVectors=true", NULL, 10);
    OK(delete_where(w, "id = 3"));
    assert_true(str_eqz(json_get_str(world_action(w, 2, "add"), "stats", STR_NULL), "{\"numRecords\":10,\"tightBounds\":false}"));
    assert_string_equal(ids(w), "0,1,2,4,5,6,7,8,9\n");
}

/* Large vectors go to a file of their own, several together. */
static void large_vectors_share_a_file(void **state) {
    world *w = *state;
    make(w, "delta.enableDeletionVectors=true", "p", 20000);
    OK(delete_where(w, "id % 3 = 0"));
    assert_int_equal(world_count(w, 2, "add"), 2);
    assert_true(str_eqz(json_get_str(dv_of(w, 2), "storageType", STR_NULL), "u"));
    char command[320];
    snprintf(command, sizeof command, "test $(ls '%s' | grep -c deletion_vector_) = 1", w->root);
    assert_int_equal(system(command), 0);
    assert_string_equal(world_rows(w, "SELECT count(*), sum(id) FROM t"), "13333|133326667\n");
}

static const json_node *checksum(world *w, int64_t version) {
    buf text;
    const json_node *root = NULL;
    char path[192];
    snprintf(path, sizeof path, "%s/_delta_log/%020lld.crc", w->root, (long long)version);
    buf_init(&text, BUF_MAX_DEFAULT);
    OK(store_read(w->store, str_of(path), 0, -1, &text, &w->err));
    OK(json_parse(arena_str(w->a, buf_str(&text)), w->a, &root, &w->err));
    buf_dispose(&text);
    return root;
}

static void checksums_count_what_is_hidden(void **state) {
    world *w = *state;
    make(w, "delta.enableDeletionVectors=true", "p", 10);
    OK(delete_where(w, "id IN (3, 4)"));
    OK(delete_where(w, "id = 5"));
    const json_node *c = checksum(w, 3), *bins = json_get(json_get(c, "deletedRecordCountsHistogramOpt"), "deletedRecordCounts");
    assert_int_equal(json_get_i64(c, "numFiles", -1), 2);
    assert_int_equal(json_get_i64(c, "numDeletedRecordsOpt", -1), 3);
    assert_int_equal(json_get_i64(c, "numDeletionVectorsOpt", -1), 2);
    int64_t none, some;
    assert_true(json_node_i64(&bins->values[0], &none) && json_node_i64(&bins->values[1], &some));
    assert_int_equal(none, 0);
    assert_int_equal(some, 2);
    OK(delete_where(w, "p = 1"));
    c = checksum(w, 4);
    assert_int_equal(json_get_i64(c, "numFiles", -1), 1);
    assert_int_equal(json_get_i64(c, "numDeletedRecordsOpt", -1), 1);
}

/* ---- the change feed ---- */

static void change_files_where_the_log_cannot_tell(void **state) {
    world *w = *state;
    make(w, "delta.enableChangeDataFeed=true", NULL, 10);
    OK(delete_where(w, "id = 3"));
    assert_string_equal(world_actions(w, 2), "commitInfo remove add cdc");
    str path = json_get_str(world_action(w, 2, "cdc"), "path", STR_NULL);
    assert_true(str_starts_with(path, STR("_change_data/cdc-00000-")));
    assert_false(json_get_bool(world_action(w, 2, "cdc"), "dataChange", true));
    OK(update_set(w, "v", "'new'", "id = 4"));
    assert_string_equal(world_actions(w, 3), "commitInfo remove add cdc");
    assert_non_null(strstr(world_metrics(w, 3), "numAddedChangeFiles=1"));
    OK(replace_where(w, "id < 2", "SELECT 1L AS id, 'r' AS v, 0 AS p"));
    assert_string_equal(world_actions(w, 4), "commitInfo remove add cdc");
    OK(delete_where(w, NULL));
    assert_string_equal(world_actions(w, 5), "commitInfo remove");
}

static void vectors_are_changes_themselves(void **state) {
    world *w = *state;
    make(w, "delta.enableChangeDataFeed=true;delta.enableDeletionVectors=true", NULL, 10);
    OK(delete_where(w, "id = 3"));
    assert_string_equal(world_actions(w, 2), "commitInfo add remove");
    OK(delete_where(w, "id > 3 AND v <> 'v9'")); /* most of the file: still no rewrite, which would need change files */
    assert_string_equal(world_actions(w, 3), "commitInfo add remove");
    OK(update_set(w, "v", "'new'", "id = 1"));
    assert_string_equal(world_actions(w, 4), "commitInfo add remove add cdc");
    assert_string_equal(world_rows(w, "SELECT id, v FROM t ORDER BY id"), "0|v0\n1|new\n2|v2\n9|v9\n");
}

/* ---- row ids ---- */

static const char *row_ids(world *w) {
    return world_rows(w, "SELECT id, _metadata.row_id, _metadata.row_commit_version FROM t ORDER BY id");
}

static void rows_keep_their_ids(void **state) {
    world *w = *state;
    make(w, "delta.enableRowTracking=true", NULL, 5);
    OK(update_set(w, "v", "'u'", "id = 2"));
    assert_string_equal(row_ids(w), "0|0|1\n1|1|1\n2|2|2\n3|3|1\n4|4|1\n");
    OK(delete_where(w, "id = 0"));
    assert_string_equal(row_ids(w), "1|1|1\n2|2|2\n3|3|1\n4|4|1\n");
    assert_true(str_eqz(json_get_str(json_get(world_action(w, 3, "commitInfo"), "tags"), "delta.rowTracking.preserved", STR_NULL),
                        "true"));
    OK(replace_where(w, "id = 4", "SELECT 4L AS id, 'again' AS v, 0 AS p"));
    assert_string_equal(world_rows(w, "SELECT id, CAST(_metadata.row_id < 5 AS STRING) FROM t ORDER BY id"),
                        "1|true\n2|true\n3|true\n4|false\n");
    OK(update_set(w, "p", "9", NULL));
    assert_string_equal(
        world_rows(w, "SELECT id, _metadata.row_id, _metadata.row_commit_version FROM t WHERE id < 4 ORDER BY id"),
        "1|1|5\n2|2|5\n3|3|5\n");
}

static void ids_stay_with_vectors(void **state) {
    world *w = *state;
    make(w, "delta.enableRowTracking=true;delta.enableDeletionVectors=true", NULL, 5);
    OK(update_set(w, "v", "'u'", "id = 2"));
    OK(delete_where(w, "id = 0"));
    assert_string_equal(row_ids(w), "1|1|1\n2|2|2\n3|3|1\n4|4|1\n");
}

/* ---- REPLACE WHERE ---- */

static void a_replacement_is_one_commit(void **state) {
    world *w = *state;
    make(w, NULL, "p", 10);
    OK(replace_where(w, "p = 1", "SELECT 100L AS id, 'r' AS v, 1 AS p"));
    assert_string_equal(ids(w), "0,2,4,6,8,100\n");
    assert_string_equal(world_actions(w, 2), "commitInfo remove add");
    assert_non_null(strstr(world_parameters(w, 2), "\"predicate\":\"p = 1\""));
    FAILS("DELTA_REPLACE_WHERE_MISMATCH", replace_where(w, "p = 1", "SELECT 101L AS id, 'r' AS v, 2 AS p"));
    FAILS("DELTA_REPLACE_WHERE_MISMATCH", replace_where(w, "p = 1", "SELECT 101L AS id, 'r' AS v, CAST(NULL AS INT) AS p"));
    assert_int_equal(world_version(w), 2);
    OK(replace_where(w, "id < 5", "SELECT 3L AS id, 'r' AS v, 2 AS p"));
    assert_string_equal(ids(w), "3,6,8,100\n");
    assert_non_null(strstr(world_metrics(w, 3), "numCopiedRows=2"));
    assert_non_null(strstr(world_metrics(w, 3), "numDeletedRows=3"));
    assert_non_null(strstr(world_metrics(w, 3), "numOutputRows=3"));
}

/* ---- failures ---- */

static void append_only_is_refused(void **state) {
    world *w = *state;
    make(w, "delta.appendOnly=true", NULL, 4);
    FAILS("DELTA_CANNOT_MODIFY_APPEND_ONLY", delete_where(w, "id = 77"));
    FAILS("DELTA_CANNOT_MODIFY_APPEND_ONLY", update_set(w, "v", "'x'", "id = 1"));
    FAILS("DELTA_CANNOT_MODIFY_APPEND_ONLY", replace_where(w, "id = 1", "SELECT 1L AS id, 'r' AS v, 0 AS p"));
}

static size_t all_files(world *w) {
    char command[320];
    snprintf(command, sizeof command, "find '%s' -type f ! -path '*/_delta_log/*' | wc -l", w->root);
    FILE *p = popen(command, "r");
    size_t n = 0;
    assert_int_equal(fscanf(p, "%zu", &n), 1);
    pclose(p);
    return n;
}

static silt_status change_all_ways(world *w, const delta_snapshot *s, size_t round) {
    char condition[32];
    snprintf(condition, sizeof condition, "id %% 3 = %zu", round % 3);
    return round % 2 ? update_of(w, s, "v", "concat(v, '.')", condition) : delete_from(w, s, condition);
}

static void walk(world *w, const char *properties) {
    injector in = {.fault = FAULT_FAIL};
    store *faulty;
    make(w, properties, "p", 4000);
    OK(store_fault_open(w->store, world_inject, &in, &faulty, &w->err));
    size_t failed = 0;
    for (in.nth = 1; in.nth < 400; in.nth++) {
        int64_t version = world_version(w);
        size_t files = all_files(w);
        const char *rows = world_rows(w, "SELECT count(*), sum(id), count(DISTINCT v) FROM t");
        delta_snapshot *s = world_snapshot(w);
        in.calls = 0;
        in.armed = true;
        w->delta.store = faulty;
        silt_status status = change_all_ways(w, s, in.nth);
        w->delta.store = w->store;
        in.armed = false;
        delta_snapshot_release(s);
        if (status != SILT_OK && status != SILT_UNKNOWN) {
            failed++;
            assert_int_equal(world_version(w), version);
            assert_string_equal(world_rows(w, "SELECT count(*), sum(id), count(DISTINCT v) FROM t"), rows);
            assert_int_equal(all_files(w), files);
        }
        if (in.calls < in.nth) break;
    }
    assert_true(failed > 5);
    store_close(faulty);
}

static void a_failed_copy_leaves_nothing(void **state) { walk(*state, "delta.enableChangeDataFeed=true"); }
static void a_failed_vector_leaves_nothing(void **state) {
    walk(*state, "delta.enableChangeDataFeed=true;delta.enableDeletionVectors=true");
}

/* ---- conflicts ---- */

/* Another writer between the snapshot and the commit. */
static silt_status delete_behind(world *w, const char *condition, const char *first) {
    delta_snapshot *s = world_snapshot(w);
    OK(delete_where(w, first));
    silt_status status = delete_from(w, s, condition);
    delta_snapshot_release(s);
    return status;
}

static void what_was_read_decides(void **state) {
    world *w = *state;
    make(w, NULL, "p", 20);
    OK(delete_behind(w, "p = 1 AND id = 3", "p = 0 AND id = 2"));
    assert_int_equal(delete_behind(w, "p = 1 AND id = 5", "p = 1 AND id = 7"), SILT_CONFLICT);
    assert_int_equal(delete_behind(w, "id = 5", "id = 8"), SILT_CONFLICT);
    OK(delete_where(w, "id = 5"));
    assert_string_equal(ids(w), "0,1,4,6,9,10,11,12,13,14,15,16,17,18,19\n");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        WITH_WORLD(a_delete_copies_the_other_rows),
        WITH_WORLD(nothing_found_is_no_commit),
        WITH_WORLD(rows_where_the_condition_is_null_stay),
        WITH_WORLD(whole_files_go_by_the_log_alone),
        WITH_WORLD(all_rows_of_files_without_counts),
        WITH_WORLD(conditions_that_the_log_cannot_prove),
        WITH_WORLD(an_update_is_one_file),
        WITH_WORLD(values_are_evaluated_for_chosen_rows_only),
        WITH_WORLD(the_condition_is_evaluated_once),
        WITH_WORLD(a_vector_grows_until_its_file_goes),
        WITH_WORLD(a_file_of_which_most_is_hidden_is_rewritten),
        WITH_WORLD(a_setting_keeps_copies),
        WITH_WORLD(an_update_adds_only_what_changed),
        WITH_WORLD(statistics_get_the_count_that_a_vector_needs),
        WITH_WORLD(large_vectors_share_a_file),
        WITH_WORLD(checksums_count_what_is_hidden),
        WITH_WORLD(change_files_where_the_log_cannot_tell),
        WITH_WORLD(vectors_are_changes_themselves),
        WITH_WORLD(rows_keep_their_ids),
        WITH_WORLD(ids_stay_with_vectors),
        WITH_WORLD(a_replacement_is_one_commit),
        WITH_WORLD(append_only_is_refused),
        WITH_WORLD(a_failed_copy_leaves_nothing),
        WITH_WORLD(a_failed_vector_leaves_nothing),
        WITH_WORLD(what_was_read_decides),
    };
    return RUN_TESTS(tests);
}
