/* The change data feed as scans: which files and rows stand for a version's changes, what prunes them, and which ranges cannot be read. */
#include "delta/changes.h"
#include "read_support.h"

#define FEED_ON  "'delta.enableChangeDataFeed':'true'"
#define TWO      SCHEMA(FIELD("a", "long") "," FIELD("p", "string"))
#define TABLE(n) PROTOCOL_12 METADATA_OF(TWO, "'p'", FEED_ON)
#define FILE_IN(path, p, more) \
    "{'add':{'path':'" path "','partitionValues':{'p':'" p "'},'size':10,'modificationTime':7,'dataChange':true" more "}}\n"
#define GONE(path, p, more)                                                                                                \
    "{'remove':{'path':'" path                                                                                             \
    "','deletionTimestamp':9,'dataChange':true,'extendedFileMetadata':true,'partitionValues':{'p':'" p "'},'size':10" more \
    "}}\n"
#define CDC(path, p)   "{'cdc':{'path':'_change_data/" path "','partitionValues':{'p':'" p "'},'size':5,'dataChange':false}}\n"
#define BOUNDS(lo, hi) ",'stats':'{`numRecords`:10,`minValues`:{`a`:" lo "},`maxValues`:{`a`:" hi "},`nullCount`:{`a`:0}}'"
/* bits {0, 5} and {0, 1, 4, 5} */
#define DV_2                                                                                                                   \
    ",'deletionVector':{'storageType':'i','pathOrInlineDv':'^Bg9^0rr910000000000iXQKl0rr91000315c8Xg000f5','sizeInBytes':36,'" \
    "cardinality':2}"
#define DV_4                                                                                                                    \
    ",'deletionVector':{'storageType':'i','pathOrInlineDv':'^Bg9^0rr910000000000iXQKl0rr91000935c8Xg000311onP9','sizeInBytes':" \
    "40,'cardinality':4}"

typedef struct opened {
    table_source *sources[2];
    size_t n;
} opened;

static silt_status try_open(log_fixture *f, int64_t read_version, int64_t from, int64_t to, opened *out) {
    delta_snapshot *s = log_load(f, read_version);
    delta_changes_spec spec = {.read = s, .from = from, .to = to};
    silt_status status = delta_changes_load(&spec, out->sources, &out->n, &f->err);
    delta_snapshot_release(s);
    return status;
}

static opened open_changes(log_fixture *f, int64_t from, int64_t to) {
    opened o;
    if (try_open(f, DELTA_LATEST, from, to, &o) != SILT_OK) fail_msg("%s: %s", f->err.condition, f->err.message);
    return o;
}

static void close_changes(opened *o) {
    for (size_t i = 0; i < o->n; i++) o->sources[i]->ops->release(o->sources[i]);
}

static void write_bits(buf *b, const char *name, const bitmap *bits) {
    uint64_t row = 0;
    if (!bits) return;
    buf_append_z(b, name);
    for (bool more = bitmap_next(bits, 0, &row); more; more = bitmap_next(bits, row + 1, &row))
        buf_printf(b, " %llu", (unsigned long long)row);
}

/* "path kind@version [-rows left out] [=rows alone]; …" */
static const char *scanned(log_fixture *f, const table_source *t, const predicate *where) {
    table_scan scan;
    if (t->ops->scan(t, where, f->arena, &scan, &f->err) != SILT_OK) fail_msg("%s: %s", f->err.condition, f->err.message);
    buf b;
    buf_init(&b, 1 << 20);
    for (size_t i = 0; i < scan.n_files; i++) {
        const scan_file *file = &scan.files[i];
        size_t n = t->n_partition_columns;
        bool mixed = t->partition_columns[1] != t->schema->n_fields - 3;
        str kind = mixed ? STR("mixed") : file->partition[1].as.bytes;
        buf_printf(&b, "%s%.*s %.*s@%lld", i ? "; " : "", STR_ARG(file->path), STR_ARG(kind),
                   (long long)file->partition[n - 2].as.i64);
        write_bits(&b, " -", file->deleted);
        write_bits(&b, " =", file->only);
    }
    const char *text = arena_cstr(f->arena, buf_str(&b));
    buf_dispose(&b);
    return text;
}

static void put_history(log_fixture *f) {
    log_commit(f, 0, TABLE() FILE_IN("f0", "x", BOUNDS("0", "9")) FILE_IN("f1", "y", BOUNDS("10", "19")));
    log_commit(f, 1, GONE("f0", "x", "") FILE_IN("f0b", "x", "") CDC("c1", "x")); /* rewritten: only the change file counts */
    log_commit(f, 2, GONE("f1", "y", BOUNDS("10", "19")));                        /* dropped whole */
    log_commit(f, 3,
               "{'remove':{'path':'f0b','dataChange':false}}\n{'add':{'path':'f3','partitionValues':{'p':'x'},'size':10,'"
               "modificationTime':7,'dataChange':false}}\n"); /* moved */
    log_commit(f, 4, FILE_IN("f4", "z", DV_2));
    log_commit(f, 5, GONE("f4", "z", DV_2) FILE_IN("f4", "z", DV_4));
    log_commit(f, 6, GONE("f4", "z", DV_4) FILE_IN("f4", "z", ""));
}

static void files_of_versions(void **state) {
    log_fixture *f = *state;
    put_history(f);
    opened o = open_changes(f, 0, 6);
    assert_int_equal(o.n, 2);
    assert_string_equal(
        scanned(f, o.sources[0], NULL),
        "/t/f0 insert@0; /t/f1 insert@0; /t/f1 delete@2; /t/f4 insert@4 - 0 5; /t/f4 delete@5 = 1 4; /t/f4 insert@6 = 0 1 4 5");
    assert_string_equal(scanned(f, o.sources[1], NULL), "/t/_change_data/c1 mixed@1");
    assert_true(type_equal(o.sources[0]->schema, o.sources[1]->schema));
    assert_int_equal(o.sources[0]->schema->n_fields, 5);
    close_changes(&o);
    o = open_changes(f, 1, 1);
    assert_int_equal(o.n, 1);
    assert_string_equal(scanned(f, o.sources[0], NULL), "/t/_change_data/c1 mixed@1");
    close_changes(&o);
    o = open_changes(f, 3, 3);
    assert_int_equal(o.n, 1);
    assert_string_equal(scanned(f, o.sources[0], NULL), "");
    close_changes(&o);
    o = open_changes(f, 7, 6); /* no versions */
    assert_string_equal(scanned(f, o.sources[0], NULL), "");
    close_changes(&o);
}

static const uint32_t column_a[] = {0}, column_p[] = {1}, column_kind[] = {2}, column_version[] = {3}, column_time[] = {4};

static predicate compare(predicate_kind kind, const uint32_t *column, const data_type *type, const value *literal) {
    return (predicate){
        .kind = kind, .column = {.index = column, .depth = 1}, .column_type = type, .literals = literal, .n_literals = 1};
}

static void pruned_by_constants_and_statistics(void **state) {
    log_fixture *f = *state;
    put_history(f);
    opened o = open_changes(f, 0, 2);
    value y = {.type = &type_string, .as.bytes = STR("y")}, del = {.type = &type_string, .as.bytes = STR("delete")},
          two = {.type = &type_long, .as.i64 = 2}, five = {.type = &type_long, .as.i64 = 5},
          late = {.type = &type_timestamp, .as.i64 = 1000000000000};
    predicate p = compare(PRED_EQ, column_p, &type_string, &y);
    assert_string_equal(scanned(f, o.sources[0], &p), "/t/f1 insert@0; /t/f1 delete@2");
    assert_string_equal(scanned(f, o.sources[1], &p), "");
    p = compare(PRED_EQ, column_kind, &type_string, &del);
    assert_string_equal(scanned(f, o.sources[0], &p), "/t/f1 delete@2");
    assert_string_equal(scanned(f, o.sources[1], &p), "/t/_change_data/c1 mixed@1"); /* its rows say for themselves */
    p = compare(PRED_EQ, column_version, &type_long, &two);
    assert_string_equal(scanned(f, o.sources[0], &p), "/t/f1 delete@2");
    p = compare(PRED_GT, column_time, &type_timestamp, &late);
    assert_string_equal(scanned(f, o.sources[0], &p), "");
    p = compare(PRED_LT, column_a, &type_long, &five);
    assert_string_equal(scanned(f, o.sources[0], &p), "/t/f0 insert@0");
    assert_string_equal(scanned(f, o.sources[1], &p), "/t/_change_data/c1 mixed@1");
    close_changes(&o);
}

static void copied_rows_are_no_changes(void **state) {
    log_fixture *f = *state;
    log_commit(f, 0, TABLE() FILE_IN("f0", "x", ""));
    log_commit(f, 1,
               "{'commitInfo':{'operation':'MERGE','operationMetrics':{'numTargetRowsInserted':'0','numTargetRowsUpdated':'0','"
               "numTargetRowsDeleted':'0'}}}\n" GONE("f0", "x", "") FILE_IN("f1", "x", ""));
    log_commit(f, 2,
               "{'commitInfo':{'operation':'MERGE','operationMetrics':{'numTargetRowsInserted':'1','numTargetRowsUpdated':'0','"
               "numTargetRowsDeleted':'0'}}}\n" FILE_IN("f2", "x", ""));
    opened o = open_changes(f, 1, 2);
    assert_string_equal(scanned(f, o.sources[0], NULL), "/t/f2 insert@2");
    close_changes(&o);
}

static void fails(log_fixture *f, int64_t read_version, int64_t from, int64_t to, const char *condition) {
    opened o;
    silt_status status = try_open(f, read_version, from, to, &o);
    if (status == SILT_OK) close_changes(&o);
    assert_int_not_equal(status, SILT_OK);
    assert_condition(&f->err, condition);
}

static void ranges_without_a_feed(void **state) {
    log_fixture *f = *state;
    log_commit(f, 0, PROTOCOL_12 METADATA_OF(TWO, "'p'", ""));
    log_commit(f, 1, METADATA_OF(TWO, "'p'", FEED_ON));
    log_commit(f, 2, FILE_IN("f2", "x", ""));
    log_commit(f, 3, METADATA_OF(TWO, "'p'", ""));
    log_commit(f, 4, METADATA_OF(TWO, "'p'", FEED_ON));
    fails(f, DELTA_LATEST, 0, 2, "DELTA_MISSING_CHANGE_DATA");
    fails(f, DELTA_LATEST, 2, 4, "DELTA_MISSING_CHANGE_DATA");
    opened o = open_changes(f, 1, 2);
    assert_string_equal(scanned(f, o.sources[0], NULL), "/t/f2 insert@2");
    close_changes(&o);
}

static void schemas_in_the_range(void **state) {
    log_fixture *f = *state;
    log_commit(f, 0, PROTOCOL_12 METADATA_OF(SCHEMA(FIELD("a", "long")), "", FEED_ON));
    log_commit(f, 1, METADATA_OF(SCHEMA(FIELD("a", "long") "," FIELD("b", "string")), "", FEED_ON));
    log_commit(f, 2, METADATA_OF(SCHEMA(FIELD("a", "long")), "", FEED_ON));
    log_commit(f, 3, METADATA_OF(SCHEMA(FIELD("a", "double")), "", FEED_ON));
    opened o;
    assert_int_equal(try_open(f, 1, 0, 1, &o), SILT_OK); /* a column came */
    close_changes(&o);
    fails(f, 2, 1, 2, "DELTA_CHANGE_DATA_FEED_INCOMPATIBLE_DATA_SCHEMA"); /* one went */
    fails(f, 2, 0, 2, "DELTA_CHANGE_DATA_FEED_INCOMPATIBLE_SCHEMA_CHANGE");
    fails(f, 3, 0, 1, "DELTA_CHANGE_DATA_FEED_INCOMPATIBLE_DATA_SCHEMA"); /* another type */
    assert_int_equal(try_open(f, 2, 2, 2, &o), SILT_OK);
    close_changes(&o);
}

static void names_of_the_feed_are_taken(void **state) {
    log_fixture *f = *state;
    log_commit(f, 0, PROTOCOL_12 METADATA_OF(SCHEMA(FIELD("_Change_Type", "string")), "", FEED_ON));
    fails(f, DELTA_LATEST, 0, 0, "DELTA_TABLE_ALREADY_CONTAINS_CDC_COLUMNS");
}

static void versions_of_times(void **state) {
    log_fixture *f = *state;
    log_commit(f, 0, TABLE());
    log_commit(f, 1, FILE_IN("f1", "x", ""));
    log_commit(f, 2, FILE_IN("f2", "x", ""));
    delta_snapshot *s = log_load(f, 0), *t = log_load(f, 1);
    int64_t first = delta_snapshot_commit_time_ms(s), second = delta_snapshot_commit_time_ms(t), v;
    delta_snapshot_release(s);
    delta_snapshot_release(t);
    const struct { int64_t ms, version; } cases[] = {{0, 0}, {first, 0}, {second, 1}, {second + 1, 2}};
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        assert_int_equal(delta_changes_version_from(&f->env, LOG_ROOT, cases[i].ms, &v, &f->err), SILT_OK);
        assert_int_equal(v, cases[i].version);
    }
    assert_int_not_equal(delta_changes_version_from(&f->env, LOG_ROOT, second + 1000000, &v, &f->err), SILT_OK);
    assert_condition(&f->err, "DELTA_TIMESTAMP_GREATER_THAN_COMMIT");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(files_of_versions, log_setup, log_teardown),
        cmocka_unit_test_setup_teardown(pruned_by_constants_and_statistics, log_setup, log_teardown),
        cmocka_unit_test_setup_teardown(copied_rows_are_no_changes, log_setup, log_teardown),
        cmocka_unit_test_setup_teardown(ranges_without_a_feed, log_setup, log_teardown),
        cmocka_unit_test_setup_teardown(schemas_in_the_range, log_setup, log_teardown),
        cmocka_unit_test_setup_teardown(names_of_the_feed_are_taken, log_setup, log_teardown),
        cmocka_unit_test_setup_teardown(versions_of_times, log_setup, log_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
