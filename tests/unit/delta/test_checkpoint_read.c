/* Checkpoints of every kind through a Parquet service: classic, in parts, V2 in both forms with and without sidecars. PROTOCOL.md
 * "Checkpoints", "Checkpoint Schema". */
#include "read_support.h"

#define F(name, type) "{'name':'" name "','type':" type ",'nullable':true,'metadata':{}}"
#define S(fields)     "{'type':'struct','fields':[" fields "]}"
#define MAP           "{'type':'map','keyType':'string','valueType':'string','valueContainsNull':true}"
#define LIST          "{'type':'array','elementType':'string','containsNull':true}"
#define DV_TYPE                                                                                            \
    S(F("storageType", "'string'") "," F("pathOrInlineDv", "'string'") "," F("offset", "'integer'") "," F( \
        "sizeInBytes", "'integer'") "," F("cardinality", "'long'"))
#define ADD_FIELDS                                                                                                               \
    F("path", "'string'")                                                                                                        \
    "," F("partitionValues", MAP) "," F("size", "'long'") "," F("modificationTime", "'long'") "," F(                             \
        "dataChange", "'boolean'") "," F("tags", MAP) "," F("deletionVector",                                                    \
                                                            DV_TYPE) "," F("baseRowId",                                          \
                                                                           "'long'") "," F("defaultRowCommitVersion",            \
                                                                                           "'long'") "," F("clusteringProvider", \
                                                                                                           "'string'")
#define REMOVE_TYPE                                                                                                       \
    S(F("path", "'string'") "," F("deletionTimestamp", "'long'") "," F("dataChange", "'boolean'") "," F("deletionVector", \
                                                                                                        DV_TYPE))
#define METADATA_TYPE                                                                                                          \
    S(F("id", "'string'") "," F("name", "'string'") "," F("format", S(F("provider", "'string'") "," F("options", MAP))) "," F( \
        "schemaString", "'string'") "," F("partitionColumns", LIST) "," F("configuration", MAP) "," F("createdTime", "'long'"))
#define PROTOCOL_TYPE                                                                                   \
    S(F("minReaderVersion", "'integer'") "," F("minWriterVersion", "'integer'") "," F("readerFeatures", \
                                                                                      LIST) "," F("writerFeatures", LIST))
#define TXN_TYPE     S(F("appId", "'string'") "," F("version", "'long'") "," F("lastUpdated", "'long'"))
#define DOMAIN_TYPE  S(F("domain", "'string'") "," F("configuration", "'string'") "," F("removed", "'boolean'"))
#define SIDECAR_TYPE S(F("path", "'string'") "," F("sizeInBytes", "'long'") "," F("modificationTime", "'long'"))
#define REST                 \
    F("remove", REMOVE_TYPE) \
    "," F("metaData", METADATA_TYPE) "," F("protocol", PROTOCOL_TYPE) "," F("txn", TXN_TYPE) "," F("domainMetadata", DOMAIN_TYPE)
#define STATS_TYPE                                                                                                       \
    S(F("numRecords", "'long'") "," F(                                                                                   \
        "minValues", S(F("a", "'long'") "," F("s", "'string'") "," F("d", "'decimal(38,2)'") "," F(                      \
                         "x", "'double'"))) "," F("maxValues",                                                           \
                                                  S(F("a", "'long'") "," F("t", "'timestamp'") "," F(                    \
                                                      "x", "'double'"))) "," F("nullCount",                              \
                                                                               S(F("a", "'long'"))) "," F("tightBounds", \
                                                                                                          "'boolean'"))
#define CLASSIC S(F("add", S(ADD_FIELDS "," F("stats", "'string'"))) "," REST) "\n"
#define HEAD                                                                                                 \
    "{'protocol':{'minReaderVersion':1,'minWriterVersion':2}}\n"                                             \
    "{'metaData':{'id':'m','name':'n','format':{'provider':'parquet','options':{}},'schemaString':'" SCHEMA( \
        FIELD("a", "long")) "','partitionColumns':[],'configuration':{'k':'v'},'createdTime':5}}\n"
#define ROW(path) "{'add':{'path':'" path "','partitionValues':{},'size':10,'modificationTime':7,'dataChange':false}}\n"
#define UUID      "80a083e8-7026-4e79-81be-64bd76c43a11"

static void only_checkpoint(log_fixture *f) { /* the commits before it are gone */
    log_commit(f, 3, "{'commitInfo':{}}\n");
}

static void classic(void **state) {
    log_fixture *f = *state;
    only_checkpoint(f);
    log_put(f, log_name(f, 3, ".checkpoint.parquet"),
            CLASSIC HEAD ROW(
                "f1") "{'add':{'path':'p=1/"
                      "f2','partitionValues':{'p':'1','q':null},'size':11,'modificationTime':8,'dataChange':false,'tags':{'k':'v`"
                      "'},'baseRowId':5,"
                      "'defaultRowCommitVersion':2,'clusteringProvider':'liquid','stats':'{`numRecords`:4}','deletionVector':{'"
                      "storageType':'u','pathOrInlineDv':'aaaaaaaaaaaaaaaaaaaa','offset':1,'sizeInBytes':34,'cardinality':2}}}\n"
                      "{'remove':{'path':'gone','deletionTimestamp':99,'dataChange':false}}\n{'txn':{'appId':'x','version':4}}\n{"
                      "'domainMetadata':{'domain':'d','configuration':'c','removed':false}}\n" ROW("f3"));
    delta_snapshot *s = log_load(f, DELTA_LATEST);
    delta_add add;
    assert_int_equal(delta_snapshot_version(s), 3);
    assert_string_equal(log_files(f, s), "f1,p=1/f2,f3");
    assert_string_equal(log_removes(f, s), "gone");
    assert_text("v", delta_snapshot_property(s, "k"));
    assert_text("n", delta_snapshot_metadata(s)->name);
    assert_int_equal(delta_snapshot_txn_version(s, STR("x")), 4);
    assert_non_null(delta_snapshot_find_domain(s, STR("d")));
    assert_int_equal(delta_snapshot_file(s, 1, true, f->arena, &add, &f->err), SILT_OK);
    assert_text("1", str_map_get(&add.partition_values, STR("p")));
    assert_true(str_is_null(add.partition_values.values[1]));
    assert_text("{\"k\":\"v\\\"\"}", add.tags);
    assert_text("{\"numRecords\":4}", add.stats);
    assert_text("liquid", add.clustering_provider);
    assert_int_equal(add.base_row_id, 5);
    assert_int_equal(add.dv.cardinality, 2);
    assert_int_equal(delta_snapshot_file(s, 0, true, f->arena, &add, &f->err), SILT_OK);
    assert_true(str_is_null(add.stats));
    assert_int_equal(add.base_row_id, -1);
    assert_int_equal(add.dv.storage, 0);
    delta_snapshot_release(s);
}

static void commits_on_top(void **state) {
    log_fixture *f = *state;
    only_checkpoint(f);
    log_put(f, log_name(f, 3, ".checkpoint.parquet"),
            CLASSIC HEAD ROW("f1") ROW("f2") ROW("f3") "{'remove':{'path':'gone','deletionTimestamp':99}}\n{'remove':{'path':'"
                                                       "back','deletionTimestamp':99}}\n{'txn':{'appId':'x','version':4}}\n");
    log_commit(f, 4, REMOVE("f2") ADD("back"));
    log_commit(f, 5, "{'protocol':{'minReaderVersion':1,'minWriterVersion':4}}\n{'txn':{'appId':'x','version':5}}\n" ADD("f4"));
    delta_snapshot *s = log_load(f, DELTA_LATEST);
    assert_string_equal(log_files(f, s), "f1,f3,back,f4");
    assert_string_equal(log_removes(f, s), "gone,f2");
    assert_int_equal(delta_snapshot_protocol(s)->min_writer_version, 4);
    assert_int_equal(delta_snapshot_txn_version(s, STR("x")), 5);
    delta_snapshot_release(s);
    s = log_load(f, 3); /* updating a snapshot that came from a checkpoint */
    delta_snapshot *next;
    assert_int_equal(delta_snapshot_update(&f->env, s, &next, &f->err), SILT_OK);
    assert_string_equal(log_files(f, next), "f1,f3,back,f4");
    assert_string_equal(log_removes(f, next), "gone,f2");
    delta_snapshot_release(next);
    delta_snapshot_release(s);
}

static void in_parts(void **state) {
    log_fixture *f = *state;
    only_checkpoint(f);
    log_put(f, log_name(f, 3, ".checkpoint.0000000001.0000000003.parquet"), CLASSIC ROW("f1") ROW("f2") ROW("f3"));
    log_put(f, log_name(f, 3, ".checkpoint.0000000002.0000000003.parquet"),
            S(F("txn", TXN_TYPE)) "\n{'txn':{'appId':'x','version':4}}\n");
    log_put(f, log_name(f, 3, ".checkpoint.0000000003.0000000003.parquet"), CLASSIC ROW("f4") HEAD);
    delta_snapshot *s = log_load(f, DELTA_LATEST);
    assert_string_equal(log_files(f, s), "f1,f2,f3,f4");
    assert_int_equal(delta_snapshot_txn_version(s, STR("x")), 4);
    delta_snapshot_release(s);
}

#define SIDECAR_FILE S(F("add", S(ADD_FIELDS)) "," F("remove", REMOVE_TYPE)) "\n"

static void put_sidecars(log_fixture *f) {
    log_put(f, "_sidecars/one.parquet", SIDECAR_FILE ROW("f1") ROW("f2"));
    log_put(f, "_sidecars/t wo.parquet", SIDECAR_FILE "{'remove':{'path':'gone','deletionTimestamp':9}}\n" ROW("f3"));
}

static void check_sidecars(log_fixture *f) {
    delta_snapshot *s = log_load(f, DELTA_LATEST);
    assert_string_equal(log_files(f, s), "f1,f2,f3");
    assert_string_equal(log_removes(f, s), "gone");
    delta_snapshot_release(s);
}

static void v2_json_with_sidecars(void **state) {
    log_fixture *f = *state;
    only_checkpoint(f);
    put_sidecars(f);
    log_put(f, log_name(f, 3, ".checkpoint." UUID ".json"),
            "{'checkpointMetadata':{'version':3,'tags':{}}}\n" START
            "{'sidecar':{'path':'one.parquet','sizeInBytes':1,'modificationTime':1}}\n{'sidecar':{'path':'t%20wo.parquet','"
            "sizeInBytes':1,'modificationTime':1}}\n");
    check_sidecars(f);
    log_remove(f, "_sidecars/t wo.parquet");
    log_load_fails(f, DELTA_LATEST, "DELTA_MISSING_PART_FILES");
    assert_non_null(strstr(f->err.message, "t wo.parquet"));
}

static void v2_parquet_with_sidecars(void **state) {
    log_fixture *f = *state;
    only_checkpoint(f);
    put_sidecars(f);
    log_put(f, log_name(f, 3, ".checkpoint." UUID ".parquet"),
            S(REST "," F("sidecar", SIDECAR_TYPE)) "\n" HEAD
                                                   "{'sidecar':{'path':'one.parquet'}}\n{'sidecar':{'path':'t%20wo.parquet'}}\n");
    check_sidecars(f);
}

static void v2_without_sidecars(void **state) {
    log_fixture *f = *state;
    only_checkpoint(f);
    log_put(f, log_name(f, 3, ".checkpoint." UUID ".json"),
            "{'checkpointMetadata':{'version':3}}\n" START ADD("f1") ADD("f2") ADD_STATS("f3", "{`numRecords`:1}")
                REMOVE("gone"));
    delta_snapshot *s = log_load(f, DELTA_LATEST);
    delta_add add;
    assert_string_equal(log_files(f, s), "f1,f2,f3");
    assert_string_equal(log_removes(f, s), "gone");
    assert_int_equal(delta_snapshot_file(s, 2, true, f->arena, &add, &f->err), SILT_OK);
    assert_text("{\"numRecords\":1}", add.stats);
    delta_snapshot_release(s);
}

/* Statistics that are only there as columns become the JSON that a commit would have; rows that have JSON keep it. */
static void statistics_as_columns(void **state) {
    log_fixture *f = *state;
    only_checkpoint(f);
#define PARSED                                                                                                             \
    "'stats_parsed':{'numRecords':4,'minValues':{'a':-1,'s':'q`','d':'123456789012345678901234567890123456.78','x':0.5},'" \
    "maxValues':{'a':7,'t':'2024-01-01T00:00:00.123456Z','x':'NaN'},'nullCount':{'a':0},'tightBounds':false}"
#define AS_JSON                                                                                                           \
    "{\"numRecords\":4,\"minValues\":{\"a\":-1,\"s\":\"q\\\"\",\"d\":123456789012345678901234567890123456.78,\"x\":0.5}," \
    "\"maxValues\":{\"a\":7,\"t\":\"2024-01-01T00:00:00.123456Z\",\"x\":\"NaN\"},\"nullCount\":{\"a\":0},\"tightBounds\":false}"
    log_put(f, log_name(f, 3, ".checkpoint.parquet"),
            S(F("add", S(ADD_FIELDS "," F("stats_parsed", STATS_TYPE))) "," REST) "\n" HEAD ROW(
                "f1") "{'add':{'path':'f2','size':1," PARSED "}}\n");
    delta_snapshot *s = log_load(f, DELTA_LATEST);
    delta_add add;
    assert_int_equal(delta_snapshot_file(s, 1, true, f->arena, &add, &f->err), SILT_OK);
    assert_text(AS_JSON, add.stats);
    assert_int_equal(delta_snapshot_file(s, 0, true, f->arena, &add, &f->err), SILT_OK);
    assert_true(str_is_null(add.stats));
    delta_snapshot_release(s);
    log_put(f, log_name(f, 3, ".checkpoint.parquet"),
            S(F("add", S(ADD_FIELDS "," F("stats", "'string'") "," F(
                           "stats_parsed",
                           STATS_TYPE))) "," REST) "\n" HEAD "{'add':{'path':'f0','size':1,'stats':'{`numRecords`:9}',"
                                                   "'stats_parsed':{'numRecords':9}}}\n" ROW(
                                                       "f1") "{'add':{'path':'f2','size':1," PARSED
                                                             "}}\n{'add':{'path':'f3','size':1,'stats':'{`numRecords`:8}'}}\n");
    s = log_load(f, DELTA_LATEST);
    static const char *const expected[] = {"{\"numRecords\":9}", NULL, AS_JSON, "{\"numRecords\":8}"};
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(delta_snapshot_file(s, i, true, f->arena, &add, &f->err), SILT_OK);
        if (expected[i])
            assert_text(expected[i], add.stats);
        else
            assert_true(str_is_null(add.stats));
    }
    bool known;
    int64_t n;
    assert_int_equal(delta_snapshot_num_records(s, &known, &n, &f->err), SILT_OK);
    assert_false(known); /* f1 has none */
    delta_snapshot_release(s);
}

typedef struct seen {
    int count;
    log_fixture *f;
} seen;

static silt_status check_order(void *ctx, size_t i, const delta_add *add, silt_error *err) {
    seen *s = ctx;
    (void)err;
    assert_int_equal(i, s->count++);
    assert_text(arena_printf(s->f->arena, "f%zu", i).ptr, add->path);
    assert_text(arena_printf(s->f->arena, "{\"numRecords\":%zu}", i).ptr, add->stats);
    return SILT_OK;
}

static silt_status ignore_file(void *ctx, size_t i, const delta_add *add, silt_error *err) {
    (void)ctx, (void)i, (void)add, (void)err;
    return SILT_OK;
}

/* Who writes a checkpoint of the same version again may order its rows otherwise: a snapshot that was read before must not take one file's statistics for another's. */
static size_t files_above_5(log_fixture *f, const delta_snapshot *s) {
    static const uint32_t a[] = {0};
    value five = {.type = &type_long, .as.i64 = 5};
    predicate where = {.kind = PRED_GT, .column = {a, 1}, .column_type = &type_long, .literals = &five, .n_literals = 1};
    table_source *t;
    table_scan scan;
    assert_int_equal(delta_table_source(s, &t, &f->err), SILT_OK);
    assert_int_equal(t->ops->scan(t, &where, f->arena, &scan, &f->err), SILT_OK);
    t->ops->release(t);
    return scan.n_files;
}

/* Such a file may hold anything then: it is read. */
static void a_checkpoint_written_again_prunes_nothing_wrongly(void **state) {
    log_fixture *f = *state;
#define BOUNDS(path, max) "{'add':{'path':'" path "','size':1,'stats':'{`numRecords`:9,`minValues`:{`a`:1},`maxValues`:{`a`:" max "}}'}}\n"
    only_checkpoint(f);
    log_put(f, log_name(f, 3, ".checkpoint.parquet"), CLASSIC HEAD BOUNDS("f1", "9") BOUNDS("f2", "2") BOUNDS("f3", "2"));
    delta_snapshot *s = log_load(f, DELTA_LATEST);
    assert_int_equal(files_above_5(f, s), 1);
    log_put(f, log_name(f, 3, ".checkpoint.parquet"), CLASSIC HEAD BOUNDS("f2", "2") BOUNDS("f1", "9") BOUNDS("f3", "2"));
    assert_int_equal(files_above_5(f, s), 3);
    delta_snapshot_release(s);
}

static void statistics_of_a_checkpoint_written_again(void **state) {
    log_fixture *f = *state;
    delta_add add;
#define ONE(path, n) "{'add':{'path':'" path "','size':1,'stats':'{`numRecords`:" n "}'}}\n"
    only_checkpoint(f);
    log_put(f, log_name(f, 3, ".checkpoint.parquet"), CLASSIC HEAD ONE("f1", "1") ONE("f2", "2") ONE("f3", "3"));
    delta_snapshot *s = log_load(f, DELTA_LATEST);
    log_put(f, log_name(f, 3, ".checkpoint.parquet"), CLASSIC HEAD ONE("f2", "2") ONE("f1", "1") ONE("f3", "3"));
    assert_int_equal(delta_snapshot_file(s, 0, true, f->arena, &add, &f->err), SILT_IO);
    assert_string_equal(f->err.condition, "STORE_OBJECT_CHANGED");
    assert_int_equal(delta_snapshot_each_file(s, true, ignore_file, NULL, &f->err), SILT_IO);
    assert_int_equal(delta_snapshot_file(s, 2, true, f->arena, &add, &f->err), SILT_OK);
    assert_text("{\"numRecords\":3}", add.stats);
    log_put(f, log_name(f, 3, ".checkpoint.parquet"), CLASSIC HEAD ONE("f1", "1") "{'remove':{'path':'f2'}}\n");
    assert_int_equal(delta_snapshot_file(s, 0, true, f->arena, &add, &f->err), SILT_OK);
    for (size_t i = 1; i < 3; i++) {
        assert_int_equal(delta_snapshot_file(s, i, true, f->arena, &add, &f->err), SILT_IO);
        assert_string_equal(f->err.condition, "STORE_OBJECT_CHANGED");
    }
    delta_snapshot_release(s);
}

/* Statistics come with their own files, over the borders of batches and of checkpoint and commits. */
static void each_file_with_its_statistics(void **state) {
    log_fixture *f = *state;
    buf b;
    buf_init(&b, BUF_MAX_DEFAULT);
    buf_append_z(&b, CLASSIC HEAD);
    for (int i = 0; i < 9; i++)
        buf_printf(&b, "{'add':{'path':'f%d','size':1,'stats':'{`numRecords`:%d}'}}\n%s", i, i,
                   i % 3 ? "" : ROW("dead") "{'remove':{'path':'x'}}\n");
    only_checkpoint(f);
    log_put(f, log_name(f, 3, ".checkpoint.parquet"), buf_cstr(&b));
    buf_dispose(&b);
    log_commit(f, 4, REMOVE("dead") ADD_STATS("f9", "{`numRecords`:9}") ADD_STATS("f10", "{`numRecords`:10}"));
    delta_snapshot *s = log_load(f, DELTA_LATEST);
    seen all = {.f = f};
    assert_int_equal(delta_snapshot_each_file(s, true, check_order, &all, &f->err), SILT_OK);
    assert_int_equal(all.count, 11);
    bool known;
    int64_t n;
    assert_int_equal(delta_snapshot_num_records(s, &known, &n, &f->err), SILT_OK);
    assert_true(known);
    assert_int_equal(n, 55);
    delta_snapshot_release(s);
}

/* A large file is read in ranges of rows by several threads: the order and the row numbers stay the file's. */
static void large_file_in_ranges(void **state) {
    enum { FILES = 2500, PAD = 4000 };
    log_fixture *f = *state;
    buf b;
    buf_init(&b, BUF_MAX_DEFAULT);
    f->env.n_threads = 3;
    buf_append_z(&b, CLASSIC);
    for (int i = 0; i < FILES; i++) {
        if (i == 1200)
            buf_append_z(&b, HEAD "{'txn':{'appId':'x','version':4}}\n{'remove':{'path':'gone','deletionTimestamp':9}}\n");
        buf_printf(&b, "{'add':{'path':'f%d','size':1,'stats':'{`numRecords`:%d}','pad':'%0*d'}}\n", i, i, PAD, i);
    }
    only_checkpoint(f);
    log_put(f, log_name(f, 3, ".checkpoint.parquet"), buf_cstr(&b));
    buf_dispose(&b);
    delta_snapshot *s = log_load(f, DELTA_LATEST);
    seen all = {.f = f};
    assert_int_equal(delta_snapshot_each_file(s, true, check_order, &all, &f->err), SILT_OK);
    assert_int_equal(all.count, FILES);
    assert_int_equal(delta_snapshot_txn_version(s, STR("x")), 4);
    assert_text("v", delta_snapshot_property(s, "k"));
    assert_string_equal(log_removes(f, s), "gone");
    delta_snapshot_release(s);
    f->parquet.count_rows = NULL; /* a service without: one stream */
    s = log_load(f, DELTA_LATEST);
    assert_int_equal(delta_snapshot_n_files(s), FILES);
    delta_snapshot_release(s);
}

static void damaged(void **state) {
    log_fixture *f = *state;
    only_checkpoint(f);
    log_put(f, log_name(f, 3, ".checkpoint.parquet"), "");
    log_load_fails(f, DELTA_LATEST, "DELTA_CHECKPOINT_CORRUPT");
    assert_non_null(strstr(f->err.message, "00000000000000000003.checkpoint.parquet"));
    log_put(f, log_name(f, 3, ".checkpoint.parquet"), CLASSIC HEAD "{'add':{'path':");
    log_load_fails(f, DELTA_LATEST, "DELTA_CHECKPOINT_CORRUPT");
    log_put(f, log_name(f, 3, ".checkpoint.parquet"), S(F("other", "'long'")) "\n{'other':1}\n");
    log_load_fails(f, DELTA_LATEST, "DELTA_CHECKPOINT_CORRUPT");
    log_put(f, log_name(f, 3, ".checkpoint.parquet"), CLASSIC HEAD "{'add':{'path':'','size':1}}\n");
    log_load_fails(f, DELTA_LATEST, "DELTA_CHECKPOINT_CORRUPT");
    log_put(f, log_name(f, 3, ".checkpoint.parquet"), CLASSIC ROW("f1"));
    log_load_fails(f, DELTA_LATEST, "DELTA_STATE_RECOVER_ERROR");
    f->env.parquet = NULL;
    log_load_fails(f, DELTA_LATEST, "UNSUPPORTED_FEATURE");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, log_setup, log_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(classic),
        TEST(commits_on_top),
        TEST(in_parts),
        TEST(v2_json_with_sidecars),
        TEST(v2_parquet_with_sidecars),
        TEST(v2_without_sidecars),
        TEST(statistics_as_columns),
        TEST(statistics_of_a_checkpoint_written_again), TEST(a_checkpoint_written_again_prunes_nothing_wrongly), TEST(each_file_with_its_statistics),
        TEST(large_file_in_ranges),
        TEST(damaged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
