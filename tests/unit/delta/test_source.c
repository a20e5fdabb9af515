/* A snapshot as a table: planned scans, data skipping over a log, and answers from the log alone. A file that has a match is
 * never dropped. */
#include "read_support.h"

static const uint32_t column_a[] = {0}, column_p[] = {1}, column_nested[] = {2, 0};

#define NESTED "{`name`:`st`,`type`:{`type`:`struct`,`fields`:[" FIELD("b", "long") "]},`nullable`:true,`metadata`:{}}"
#define TABLE(more) \
    PROTOCOL_12 METADATA_OF(SCHEMA(FIELD("a", "long") "," FIELD("p", "string") "," NESTED "," FIELD("f", "double")), "'p'", more)
#define FILE_OF(path, p, stats)                                                                                                \
    "{'add':{'path':'" path "','partitionValues':{'p':" p "},'size':10,'modificationTime':7,'dataChange':true,'stats':'" stats \
    "'}}\n"
#define BOUNDS(n, lo, hi, nulls, lo_b, hi_b)                                                                   \
    "{`numRecords`:" n ",`minValues`:{`a`:" lo ",`st`:{`b`:" lo_b "}},`maxValues`:{`a`:" hi ",`st`:{`b`:" hi_b \
    "}},`nullCount`:{`a`:" nulls ",`st`:{`b`:0}}}"

static void put_table(log_fixture *f) {
    log_commit(f, 0,
               TABLE("") FILE_OF("f0", "'x'", BOUNDS("10", "0", "9", "0", "5", "6"))
                   FILE_OF("f1", "'y'", BOUNDS("10", "10", "19", "0", "5", "6")));
    log_commit(f, 1,
               FILE_OF("f2", "'x'", BOUNDS("5", "20", "29", "2", "50", "60")) FILE_OF(
                   "f3", "null",
                   BOUNDS("5", "30", "30", "0", "5", "6")) "{'add':{'path':'f4','partitionValues':{'p':'x'},'size':10,'"
                                                           "modificationTime':7,'dataChange':true}}\n"); /* no statistics */
}

static predicate compare(predicate_kind kind, const uint32_t *column, size_t depth, const data_type *type, const value *literal) {
    return (predicate){
        .kind = kind, .column = {.index = column, .depth = depth}, .column_type = type, .literals = literal, .n_literals = 1};
}

static const char *names(log_fixture *f, const table_scan *scan) {
    buf b;
    buf_init(&b, 1 << 20);
    for (size_t i = 0; i < scan->n_files; i++) buf_printf(&b, "%s%.*s", i ? "," : "", STR_ARG(scan->files[i].path));
    const char *out = arena_cstr(f->arena, buf_str(&b));
    buf_dispose(&b);
    return out;
}

static table_source *open_source(log_fixture *f) {
    delta_snapshot *s = log_load(f, DELTA_LATEST);
    table_source *t;
    if (delta_table_source(s, &t, &f->err) != SILT_OK) fail_msg("%s: %s", f->err.condition, f->err.message);
    delta_snapshot_release(s); /* the source holds it */
    return t;
}

static const char *scanned(log_fixture *f, const table_source *t, const predicate *where, table_scan *scan) {
    if (t->ops->scan(t, where, f->arena, scan, &f->err) != SILT_OK) fail_msg("%s: %s", f->err.condition, f->err.message);
    return names(f, scan);
}

/* A statement that reads the table that it writes has read it, wherever the table is: no text is compared, which a store's tables have as a URI. */
static void a_source_knows_its_table(void **state) {
    log_fixture *f = *state;
    put_table(f);
    f->env.store->uri_prefix = "s3a://bucket";
    table_source *t = open_source(f);
    delta_snapshot *newest = log_load(f, DELTA_LATEST), *first = log_load(f, 0), *other, *elsewhere;
    assert_true(delta_source_is_of(t, newest));
    assert_true(delta_source_is_of(t, first));
    assert_false(delta_source_is_of(NULL, newest));
    str log = log_text(f, START);
    assert_int_equal(store_put(f->store, STR("/u/_delta_log/00000000000000000000.json"), log, STORE_PUT_IF_ABSENT, NULL), SILT_OK);
    assert_int_equal(delta_snapshot_load(&f->env, STR("/u"), DELTA_LATEST, &other, &f->err), SILT_OK);
    assert_true(delta_source_is_of(t, other)); /* another name of it, or a copy */
    assert_true(delta_source_has_files_of(t, newest));
    assert_false(delta_source_has_files_of(t, first));
    assert_false(delta_source_has_files_of(t, other));
    assert_false(delta_source_has_files_of(NULL, newest));
    store *box;
    assert_int_equal(store_memory_open(1000, &box, NULL), SILT_OK);
    str stranger = log_text(f, PROTOCOL_12 "{'metaData':{'id':'another','format':{'provider':'parquet','options':{}},'schemaString':'" SCHEMA(FIELD("a", "long")) "','partitionColumns':[],'configuration':{}}}\n");
    assert_int_equal(store_put(box, STR("/t/_delta_log/00000000000000000000.json"), stranger, STORE_PUT_IF_ABSENT, NULL), SILT_OK);
    delta_env env = {.store = box};
    assert_int_equal(delta_snapshot_load(&env, LOG_ROOT, DELTA_LATEST, &elsewhere, &f->err), SILT_OK);
    assert_false(delta_source_is_of(t, elsewhere)); /* the same folder of another store */
    t->ops->release(t);
    delta_snapshot *all[] = {newest, first, other, elsewhere};
    for (size_t i = 0; i < ARRAY_LEN(all); i++) delta_snapshot_release(all[i]);
    store_close(box);
}

static void whole_scan(void **state) {
    log_fixture *f = *state;
    put_table(f);
    f->env.store->uri_prefix = "s3a://bucket";
    table_source *t = open_source(f);
    table_scan scan;
    assert_string_equal(scanned(f, t, NULL, &scan), "/t/f0,/t/f1,/t/f2,/t/f3,/t/f4");
    assert_int_equal(scan.total_files, 5);
    assert_int_equal(scan.total_bytes, 50);
    assert_int_equal(scan.read_bytes, 50);
    assert_null(scan.used);
    assert_int_equal(scan.files[0].num_records, 10);
    assert_int_equal(scan.files[4].num_records, -1);
    assert_text("x", scan.files[0].partition[0].as.bytes);
    assert_true(scan.files[3].partition[0].is_null);
    assert_ptr_equal(scan.files[0].store, f->store);
    assert_int_equal(scan.files[2].index, 2);
    assert_int_equal(scan.files[2].base_row_id, -1);
    assert_text("delta.`s3a://bucket/t`", t->description);
    assert_text("delta", t->format);
    assert_int_equal(t->version, 1);
    assert_int_equal(t->n_partition_columns, 1);
    assert_int_equal(t->partition_columns[0], 1);
    assert_int_equal(t->match, MATCH_BY_NAME);
    assert_false(t->has_row_ids);
    t->ops->release(t);
}

static const char *flags(log_fixture *f, const table_source *t, const predicate *where) {
    uint8_t *some, *all;
    char *out = arena_calloc(f->arena, 1, 16);
    if (delta_files_matching(t, where, f->arena, &some, &all, &f->err) != SILT_OK) fail_msg("%s: %s", f->err.condition, f->err.message);
    for (size_t i = 0; i < 5; i++) out[i] = all[i] ? 'A' : some[i] ? 's' : '-'; /* all, some, none */
    return out;
}

/* What a DELETE may do by the log alone. f2 has nulls, f3 the partition null, f4 no statistics. */
static void files_that_match_whole(void **state) {
    log_fixture *f = *state;
    put_table(f);
    table_source *t = open_source(f);
    const value x = {.type = &type_string, .as.bytes = STR("x")}, twenty = {.type = &type_long, .as.i64 = 20}, thirty = {.type = &type_long, .as.i64 = 30};
    predicate p = compare(PRED_EQ, column_p, 1, &type_string, &x), below = compare(PRED_LT, column_a, 1, &type_long, &twenty),
              is = compare(PRED_EQ, column_a, 1, &type_long, &thirty), from = compare(PRED_GE, column_a, 1, &type_long, &twenty);
    assert_string_equal(flags(f, t, &p), "A-A-A"); /* a partition decides without statistics */
    assert_string_equal(flags(f, t, &below), "AA--s");
    assert_string_equal(flags(f, t, &is), "---As");
    assert_string_equal(flags(f, t, &from), "--sAs"); /* a null is not >= 20 */
    const predicate *not_p[] = {&p}, *either[] = {&p, &from};
    const predicate unknown = {.kind = PRED_UNKNOWN}, other = {.kind = PRED_NOT, .children = not_p, .n_children = 1}, any = {.kind = PRED_OR, .children = either, .n_children = 2};
    assert_string_equal(flags(f, t, &other), "-A---"); /* NOT (p = 'x') is null where p is */
    assert_string_equal(flags(f, t, &any), "A-AAA");
    assert_string_equal(flags(f, t, &unknown), "sssss");
    assert_string_equal(flags(f, t, NULL), "sssss");
    t->ops->release(t);
}

/* A rewrite reads the files it touches again: their numbers stay those of the snapshot. */
static void only_some_files(void **state) {
    log_fixture *f = *state;
    put_table(f);
    delta_snapshot *s = log_load(f, DELTA_LATEST);
    uint8_t keep[] = {0, 1, 1, 0, 1};
    table_source *t;
    if (delta_table_source_files(s, keep, &t, &f->err) != SILT_OK) fail_msg("%s: %s", f->err.condition, f->err.message);
    delta_snapshot_release(s);
    memset(keep, 0, sizeof keep); /* the source has its copy */
    table_scan scan;
    assert_string_equal(scanned(f, t, NULL, &scan), "/t/f1,/t/f2,/t/f4");
    assert_int_equal(scan.total_files, 3);
    assert_int_equal(scan.total_bytes, 30);
    assert_int_equal(scan.files[0].index, 1);
    assert_int_equal(scan.files[2].index, 4);
    const value x = {.type = &type_string, .as.bytes = STR("x")}, fifteen = {.type = &type_long, .as.i64 = 15};
    predicate p = compare(PRED_EQ, column_p, 1, &type_string, &x), a = compare(PRED_EQ, column_a, 1, &type_long, &fifteen);
    assert_string_equal(scanned(f, t, &p, &scan), "/t/f2,/t/f4");
    assert_int_equal(scan.pruned_by_partition, 1);
    assert_string_equal(scanned(f, t, &a, &scan), "/t/f1,/t/f4");
    assert_int_equal(scan.pruned_by_stats, 1);
    int64_t rows;
    value low, high;
    assert_false(t->ops->row_count(t, &rows));
    assert_false(t->ops->column_bounds(t, (column_path){column_a, 1}, f->arena, &low, &high)); /* f4 has no statistics */
    t->ops->release(t);
}

static void bounds_are_those_of_the_kept_files(void **state) {
    log_fixture *f = *state;
    put_table(f);
    delta_snapshot *s = log_load(f, DELTA_LATEST);
    static const uint8_t keep[] = {0, 1, 0, 1, 0}, none[] = {0, 0, 0, 0, 0};
    table_source *t;
    table_scan scan;
    value low, high;
    if (delta_table_source_files(s, keep, &t, &f->err) != SILT_OK) fail_msg("%s: %s", f->err.condition, f->err.message);
    assert_true(t->ops->column_bounds(t, (column_path){column_a, 1}, f->arena, &low, &high));
    assert_int_equal(low.as.i64, 10);
    assert_int_equal(high.as.i64, 30);
    t->ops->release(t);
    if (delta_table_source_files(s, none, &t, &f->err) != SILT_OK) fail_msg("%s: %s", f->err.condition, f->err.message);
    assert_string_equal(scanned(f, t, NULL, &scan), "");
    t->ops->release(t);
    delta_snapshot_release(s);
}

static void pruned_by_partition(void **state) {
    log_fixture *f = *state;
    put_table(f);
    table_source *t = open_source(f);
    table_scan scan;
    value x = {.type = &type_string, .as.bytes = STR("x")};
    predicate p = compare(PRED_EQ, column_p, 1, &type_string, &x);
    assert_string_equal(scanned(f, t, &p, &scan), "/t/f0,/t/f2,/t/f4");
    assert_int_equal(scan.pruned_by_partition, 2);
    assert_int_equal(scan.pruned_by_stats, 0);
    assert_int_equal(scan.read_bytes, 30);
    assert_ptr_equal(scan.used, &p);
    predicate is_null = {.kind = PRED_IS_NULL, .column = {column_p, 1}, .column_type = &type_string};
    assert_string_equal(scanned(f, t, &is_null, &scan), "/t/f3");
    t->ops->release(t);
}

static void pruned_by_statistics(void **state) {
    log_fixture *f = *state;
    put_table(f);
    table_source *t = open_source(f);
    table_scan scan;
    value twelve = {.type = &type_long, .as.i64 = 12}, fifty = {.type = &type_long, .as.i64 = 50},
          x = {.type = &type_string, .as.bytes = STR("x")};
    predicate above = compare(PRED_GT, column_a, 1, &type_long, &twelve);
    assert_string_equal(scanned(f, t, &above, &scan), "/t/f1,/t/f2,/t/f3,/t/f4");
    assert_int_equal(scan.pruned_by_stats, 1);
    predicate nested = compare(PRED_GE, column_nested, 2, &type_long, &fifty);
    assert_string_equal(scanned(f, t, &nested, &scan), "/t/f2,/t/f4");
    predicate nulls = {.kind = PRED_IS_NULL, .column = {column_a, 1}, .column_type = &type_long};
    assert_string_equal(scanned(f, t, &nulls, &scan), "/t/f2,/t/f4");
    predicate is_x = compare(PRED_EQ, column_p, 1, &type_string, &x);
    const predicate *both[] = {&above, &is_x};
    predicate and = {.kind = PRED_AND, .children = both, .n_children = 2},
              or = {.kind = PRED_OR, .children = both, .n_children = 2};
    assert_string_equal(scanned(f, t, &and, &scan), "/t/f2,/t/f4");
    assert_int_equal(scan.pruned_by_partition, 2);
    assert_int_equal(scan.pruned_by_stats, 1);
    assert_string_equal(scanned(f, t, & or, &scan), "/t/f0,/t/f1,/t/f2,/t/f3,/t/f4");
    const predicate *one[] = {&is_x};
    predicate not = {.kind = PRED_NOT, .children = one, .n_children = 1};
    assert_string_equal(scanned(f, t, &not, &scan), "/t/f1"); /* NOT (null = 'x') is null */
    predicate unknown = {.kind = PRED_UNKNOWN}, none = {.kind = PRED_FALSE};
    assert_string_equal(scanned(f, t, &unknown, &scan), "/t/f0,/t/f1,/t/f2,/t/f3,/t/f4");
    assert_null(scan.used);
    assert_string_equal(scanned(f, t, &none, &scan), "");
    t->ops->release(t);
}

/* Damaged statistics, or a log file that was cleaned up under an open snapshot, prove nothing: the files stay. */
static void unusable_statistics_keep_files(void **state) {
    log_fixture *f = *state;
    log_commit(f, 0,
               TABLE("") FILE_OF("f0", "'x'", "{`numRecords`:1,") FILE_OF("f1", "'x'", "not json") FILE_OF("f2", "'x'", "")
                   FILE_OF("f3", "'x'", "{`maxValues`:{`a`:`high`}}")
                       FILE_OF("f4", "'x'", BOUNDS("10", "0", "9", "0", "5", "6")));
    table_source *t = open_source(f);
    table_scan scan;
    value big = {.type = &type_long, .as.i64 = 1000};
    predicate p = compare(PRED_GT, column_a, 1, &type_long, &big);
    assert_string_equal(scanned(f, t, &p, &scan), "/t/f0,/t/f1,/t/f2,/t/f3");
    log_remove(f, log_name(f, 0, ".json"));
    assert_string_equal(scanned(f, t, &p, &scan), "/t/f0,/t/f1,/t/f2,/t/f3,/t/f4");
    t->ops->release(t);
}

static void bad_partition_value(void **state) {
    log_fixture *f = *state;
    log_commit(f, 0,
               PROTOCOL_12 METADATA_OF(SCHEMA(FIELD("a", "long") "," FIELD("p", "integer")), "'p'", "")
                   FILE_OF("f0", "'seven'", ""));
    table_source *t = open_source(f);
    table_scan scan;
    assert_int_equal(t->ops->scan(t, NULL, f->arena, &scan, &f->err), SILT_CORRUPT);
    assert_condition(&f->err, "DELTA_FAILED_CAST_PARTITION_VALUE");
    t->ops->release(t);
}

static void counts(void **state) {
    log_fixture *f = *state;
    int64_t n = 0;
    put_table(f);
    table_source *t = open_source(f);
    assert_false(t->ops->row_count(t, &n)); /* f4 has no statistics */
    t->ops->release(t);
    log_commit(f, 2,
               REMOVE("f4") "{'add':{'path':'f5','partitionValues':{'p':'x'},'size':10,'modificationTime':7,'dataChange':true,'"
                            "stats':'{`tightBounds`:true,`numRecords`:8}',"
                            "'deletionVector':{'storageType':'u','pathOrInlineDv':'aaaaaaaaaaaaaaaaaaaa','offset':1,'sizeInBytes'"
                            ":34,'cardinality':3}}}\n");
    t = open_source(f);
    assert_true(t->ops->row_count(t, &n));
    assert_int_equal(n, 10 + 10 + 5 + 5 + 8 - 3);
    t->ops->release(t);
}

static bool bounds(log_fixture *f, const uint32_t *column, size_t depth, value *lo, value *hi) {
    table_source *t = open_source(f);
    bool certain = t->ops->column_bounds(t, (column_path){column, depth}, f->arena, lo, hi);
    t->ops->release(t);
    return certain;
}

static void exact_bounds(void **state) {
    log_fixture *f = *state;
    value lo, hi;
    static const uint32_t column_f[] = {3};
    put_table(f);
    assert_false(bounds(f, column_a, 1, &lo, &hi)); /* f4 */
    log_commit(f, 2, REMOVE("f4"));
    assert_true(bounds(f, column_a, 1, &lo, &hi));
    assert_int_equal(lo.as.i64, 0);
    assert_int_equal(hi.as.i64, 30);
    assert_true(bounds(f, column_nested, 2, &lo, &hi));
    assert_int_equal(lo.as.i64, 5);
    assert_int_equal(hi.as.i64, 60);
    assert_true(bounds(f, column_p, 1, &lo, &hi));
    assert_text("x", lo.as.bytes);
    assert_text("y", hi.as.bytes);
    assert_false(bounds(f, column_f, 1, &lo, &hi)); /* floating: NaN may be missing from a maximum */
    log_commit(f, 3, FILE_OF("f6", "'x'", "{`numRecords`:4,`nullCount`:{`a`:4,`st`:{`b`:4}}}"));
    assert_true(bounds(f, column_a, 1, &lo, &hi)); /* only nulls: adds nothing */
    assert_int_equal(hi.as.i64, 30);
    log_commit(f, 4, FILE_OF("f7", "'z'", "{`numRecords`:0}"));
    assert_true(bounds(f, column_p, 1, &lo, &hi));
    assert_text("y", hi.as.bytes); /* no row has p = z */
    log_commit(
        f, 5,
        FILE_OF("f8", "'x'", "{`numRecords`:4,`tightBounds`:false,`minValues`:{`a`:1},`maxValues`:{`a`:2},`nullCount`:{`a`:0}}"));
    assert_false(bounds(f, column_a, 1, &lo, &hi));
}

static void bounds_of_nothing(void **state) {
    log_fixture *f = *state;
    value lo, hi;
    log_commit(f, 0, TABLE(""));
    assert_true(bounds(f, column_a, 1, &lo, &hi));
    assert_true(lo.is_null && hi.is_null);
}

static void no_columns(void **state) {
    log_fixture *f = *state;
    log_commit(
        f, 0,
        PROTOCOL_12
        "{'metaData':{'id':'m','format':{'provider':'parquet','options':{}},'partitionColumns':[],'configuration':{}}}\n" ADD(
            "f"));
    delta_snapshot *s = log_load(f, DELTA_LATEST);
    table_source *t;
    assert_int_equal(delta_snapshot_metadata(s)->schema->n_fields, 0);
    assert_int_equal(delta_snapshot_n_files(s), 1);
    assert_int_equal(delta_table_source(s, &t, &f->err), SILT_INVALID);
    assert_condition(&f->err, "DELTA_READ_TABLE_WITHOUT_COLUMNS");
    delta_snapshot_release(s);
}

static void row_tracking(void **state) {
    log_fixture *f = *state;
    log_commit(f, 0,
               "{'protocol':{'minReaderVersion':1,'minWriterVersion':7,'writerFeatures':['rowTracking','domainMetadata']}}"
               "\n" METADATA_OF(
                   SCHEMA(FIELD("a", "long")), "",
                   "'delta.enableRowTracking':'true','delta.rowTracking.materializedRowIdColumnName':'_id','delta.rowTracking."
                   "materializedRowCommitVersionColumnName':'_v'") "{'add':{'path':'f','partitionValues':{},'size':10,'"
                                                                   "modificationTime':7,'dataChange':true,'baseRowId':100,'"
                                                                   "defaultRowCommitVersion':3}}\n");
    table_source *t = open_source(f);
    table_scan scan;
    assert_true(t->has_row_ids);
    assert_text("_id", t->row_id_column);
    assert_text("_v", t->row_commit_version_column);
    scanned(f, t, NULL, &scan);
    assert_int_equal(scan.files[0].base_row_id, 100);
    assert_int_equal(scan.files[0].default_row_commit_version, 3);
    t->ops->release(t);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, log_setup, log_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(only_some_files), TEST(files_that_match_whole),      TEST(bounds_are_those_of_the_kept_files),
        TEST(a_source_knows_its_table),
        TEST(whole_scan),           TEST(pruned_by_partition),
        TEST(pruned_by_statistics), TEST(unusable_statistics_keep_files),
        TEST(bad_partition_value),  TEST(counts),
        TEST(exact_bounds),         TEST(bounds_of_nothing),
        TEST(no_columns),           TEST(row_tracking),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
