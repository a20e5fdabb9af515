/* DESCRIBE DETAIL and DESCRIBE HISTORY, opening at a version or a time, and removing a dropped table's files. */
#include <stdio.h>

#include "base/time.h"
#include "ops_test.h"

#define INSERT(...) world_insert(w, (insert_words){__VA_ARGS__})

/* ---- reading the built rows ---- */

static str text_at(const struct ArrowArray *column, int64_t row) {
    const uint8_t *valid = column->buffers[0];
    const int32_t *ends = column->buffers[1];
    if (valid && !(valid[row / 8] >> (row % 8) & 1)) return STR_NULL;
    return (str){(const char *)column->buffers[2] + ends[row], (size_t)(ends[row + 1] - ends[row])};
}

static int64_t long_at(const struct ArrowArray *column, int64_t row) { return ((const int64_t *)column->buffers[1])[row]; }

/* "a=1 b=NULL" of a map column, "x y" of a list column. */
static const char *items_at(world *w, const struct ArrowArray *column, int64_t row, bool is_map) {
    const int32_t *ends = column->buffers[1];
    const struct ArrowArray *keys = is_map ? column->children[0]->children[0] : column->children[0];
    str out = STR("");
    for (int32_t i = ends[row]; i < ends[row + 1]; i++) {
        out = arena_printf(w->a, "%.*s%s%.*s", STR_ARG(out), out.len ? " " : "", STR_ARG(text_at(keys, i)));
        if (!is_map) continue;
        str v = text_at(column->children[0]->children[1], i);
        out = arena_printf(w->a, "%.*s=%.*s", STR_ARG(out), STR_ARG(str_is_null(v) ? STR("NULL") : v));
    }
    return arena_cstr(w->a, out);
}

static void finish(world *w, arrow_builder *rows, struct ArrowArray *out) {
    OK(arrow_builder_finish(rows, out, &w->err));
    arrow_builder_free(rows);
}

static struct ArrowArray *column(struct ArrowArray *rows, const data_type *type, const char *name) {
    int at = schema_find(type, str_of(name));
    assert_true(at >= 0);
    return rows->children[at];
}

static void detail_is_one_row_in_sparks_columns(void **state) {
    world *w = *state;
    OK(world_create(w, (create_words){.columns = "a INT, c STRUCT<d: INT>",
                                      .cluster_by = "a,c.d",
                                      .comment = "hello",
                                      .properties = "delta.columnMapping.mode=name"}));
    OK(INSERT(.query = "SELECT 1, named_struct('d', 2)"));
    delta_snapshot *s = world_snapshot(w);
    const data_type *type;
    arrow_builder *builder;
    struct ArrowArray rows;
    OK(ops_detail(s, STR("spark_catalog.default.t"), w->a, &type, &builder, &w->err));
    finish(w, builder, &rows);
    assert_int_equal(rows.length, 1);
    assert_string_equal(arena_cstr(w->a, type_simple(type, w->a)),
                        "struct<format:string,id:string,name:string,description:string,location:string,createdAt:timestamp,"
                        "lastModified:timestamp,"
                        "partitionColumns:array<string>,clusteringColumns:array<string>,numFiles:bigint,sizeInBytes:bigint,"
                        "properties:map<string,string>,"
                        "minReaderVersion:int,minWriterVersion:int,tableFeatures:array<string>>");
    assert_true(str_eqz(text_at(column(&rows, type, "format"), 0), "delta"));
    assert_true(str_eqz(text_at(column(&rows, type, "name"), 0), "spark_catalog.default.t"));
    assert_true(str_eqz(text_at(column(&rows, type, "description"), 0), "hello"));
    assert_true(str_eq(text_at(column(&rows, type, "location"), 0), arena_printf(w->a, "file:%s", w->root)));
    assert_string_equal(items_at(w, column(&rows, type, "clusteringColumns"), 0, false), "a c.d"); /* logical names */
    assert_string_equal(items_at(w, column(&rows, type, "partitionColumns"), 0, false), "");
    assert_string_equal(items_at(w, column(&rows, type, "properties"), 0, true),
                        "delta.columnMapping.mode=name delta.columnMapping.maxColumnId=3");
    assert_string_equal(items_at(w, column(&rows, type, "tableFeatures"), 0, false),
                        "appendOnly clustering columnMapping domainMetadata invariants");
    assert_int_equal(long_at(column(&rows, type, "numFiles"), 0), 1);
    assert_int_equal(long_at(column(&rows, type, "sizeInBytes"), 0), delta_snapshot_size_bytes(s));
    rows.release(&rows);
    delta_snapshot_release(s);
}

static void history_is_newest_first_and_survives_commits_without_info(void **state) {
    world *w = *state;
    OK(world_create(w, (create_words){.query = "SELECT 1 AS a", .is_managed = true}));
    OK(store_put(w->store, arena_printf(w->a, "%s/_delta_log/%020d.json", w->root, 1),
                 STR("{\"txn\":{\"appId\":\"x\",\"version\":1}}\n"), STORE_PUT_IF_ABSENT, &w->err));
    OK(INSERT(.query = "VALUES (2)", .options = {.merge_schema = true, .user_metadata = STR("um")}));
    const data_type *type;
    arrow_builder *builder;
    struct ArrowArray rows;
    OK(ops_history(&w->delta, str_of(w->root), -1, w->a, &type, &builder, &w->err));
    finish(w, builder, &rows);
    assert_int_equal(rows.length, 3);
    assert_string_equal(
        arena_cstr(w->a, type_simple(type, w->a)),
        "struct<version:bigint,timestamp:timestamp,userId:string,userName:string,operation:string,operationParameters:map<string,"
        "string>,"
        "job:struct<jobId:string,jobName:string,jobRunId:string,runId:string,jobOwnerId:string,triggerType:string>,"
        "notebook:struct<notebookId:string>,clusterId:string,readVersion:bigint,isolationLevel:string,isBlindAppend:boolean,"
        "operationMetrics:map<string,string>,userMetadata:string,engineInfo:string>");
    assert_int_equal(long_at(column(&rows, type, "version"), 0), 2);
    assert_true(str_eqz(text_at(column(&rows, type, "operation"), 0), "WRITE"));
    assert_true(str_eqz(text_at(column(&rows, type, "userMetadata"), 0), "um"));
    assert_string_equal(items_at(w, column(&rows, type, "operationParameters"), 0, true),
                        "mode=Append partitionBy=[] canMergeSchema=true");
    assert_true(str_is_null(text_at(column(&rows, type, "operation"), 1)));
    assert_true(str_eqz(text_at(column(&rows, type, "operation"), 2), "CREATE TABLE AS SELECT"));
    assert_string_equal(items_at(w, column(&rows, type, "operationParameters"), 2, true),
                        "partitionBy=[] clusterBy=[] description=NULL isManaged=true properties={}");
    rows.release(&rows);
    OK(ops_history(&w->delta, str_of(w->root), 1, w->a, &type, &builder, &w->err));
    finish(w, builder, &rows);
    assert_int_equal(rows.length, 1);
    rows.release(&rows);
}

static void a_table_opens_at_a_version_or_a_time(void **state) {
    world *w = *state;
    OK(world_create(w, (create_words){.query = "SELECT 1 AS a"}));
    OK(INSERT(.query = "VALUES (2)"));
    str root = str_of(w->root);
    delta_snapshot *s;
    OK(ops_open(&w->env, root, 0, STR_NULL, &s, &w->err));
    assert_int_equal(delta_snapshot_version(s), 0);
    str at = STR("2100-01-01 00:00:00");
    delta_snapshot_release(s);
    OK(ops_open(&w->env, root, DELTA_LATEST, STR_NULL, &s, &w->err));
    assert_int_equal(delta_snapshot_version(s), 1);
    buf text;
    buf_init(&text, BUF_MAX_DEFAULT);
    time_write_timestamp(&text, delta_snapshot_commit_time_ms(s) * 1000, ' ', 3, "");
    delta_snapshot_release(s);
    OK(ops_open(&w->env, root, DELTA_LATEST, buf_str(&text), &s, &w->err)); /* the very time of a commit gives it */
    assert_int_equal(delta_snapshot_version(s), 1);
    delta_snapshot_release(s);
    buf_dispose(&text);
    FAILS("DELTA_TIMESTAMP_GREATER_THAN_COMMIT", ops_open(&w->env, root, DELTA_LATEST, at, &s, &w->err));
    FAILS("DELTA_TIMESTAMP_EARLIER_THAN_COMMIT_RETENTION", ops_open(&w->env, root, DELTA_LATEST, STR("2001-01-01"), &s, &w->err));
    FAILS("DELTA_TIMESTAMP_INVALID", ops_open(&w->env, root, DELTA_LATEST, STR("garbage"), &s, &w->err));
    FAILS("DELTA_TIMESTAMP_INVALID", ops_open(&w->env, root, DELTA_LATEST, STR("1700000000"), &s, &w->err));
    FAILS("DELTA_ONEOF_IN_TIMETRAVEL", ops_open(&w->env, root, 0, at, &s, &w->err));
    FAILS("DELTA_VERSION_NOT_FOUND", ops_open(&w->env, root, 99, STR_NULL, &s, &w->err));
}

static void dropping_removes_the_folder_and_nothing_else(void **state) {
    world *w = *state;
    str beside = arena_printf(w->a, "%s-beside/file", w->root);
    OK(store_put(w->store, beside, STR("x"), STORE_PUT_IF_ABSENT, &w->err));
    OK(world_create(w, (create_words){.query = "SELECT id, CAST(id % 3 AS INT) AS p FROM range(9)", .partitioned_by = "p"}));
    OK(ops_drop_files(&w->env, str_of(w->root), &w->err));
    store_entry e;
    assert_int_equal(store_stat(w->store, str_of(w->root), w->a, &e, NULL), SILT_NOT_FOUND);
    OK(store_stat(w->store, beside, w->a, &e, &w->err));
    OK(ops_drop_files(&w->env, str_of(w->root), &w->err)); /* nothing there: fine */
    FAILS("INVALID_PARAMETER_VALUE", ops_drop_files(&w->env, STR("/"), &w->err));
    FAILS("INVALID_PARAMETER_VALUE", ops_drop_files(&w->env, STR("/tmp"), &w->err));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        WITH_WORLD(detail_is_one_row_in_sparks_columns),
        WITH_WORLD(history_is_newest_first_and_survives_commits_without_info),
        WITH_WORLD(a_table_opens_at_a_version_or_a_time),
        WITH_WORLD(dropping_removes_the_folder_and_nothing_else),
    };
    return RUN_TESTS(tests);
}
