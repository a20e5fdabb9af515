/* Version checksums: the keys of Spark's files, and totals by addition equal to totals by counting. */
#include "write_support.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/json.h"

typedef struct fixture {
    store *store;
    delta_env env;
    arena *arena;
    silt_error err;
} fixture;

static void open_fixture(fixture *f, const table_spec *spec) {
    *f = (fixture){.arena = arena_new()};
    assert_int_equal(store_memory_open(1700000000000, &f->store, NULL), SILT_OK);
    f->env = (delta_env){.store = f->store, .n_threads = 1};
    assert_created(&f->env, spec);
}

static void close_fixture(fixture *f) {
    arena_free(f->arena);
    store_close(f->store);
}

static const json_node *checksum_of(fixture *f, int version) {
    char name[32];
    snprintf(name, sizeof name, "%020d.crc", version);
    const char *text = write_log_text(f->store, name, f->arena);
    if (!text) return NULL;
    const json_node *root;
    assert_int_equal(json_parse(str_of(text), f->arena, &root, NULL), SILT_OK);
    return root;
}

static void assert_keys(const json_node *object, const char *expected) {
    buf b;
    buf_init(&b, 4096);
    for (size_t i = 0; i < object->count; i++) {
        if (i) buf_append_char(&b, ',');
        buf_append(&b, object->keys[i]);
    }
    assert_string_equal(buf_cstr(&b), expected);
    buf_dispose(&b);
}

/* Write the checksum again by counting the files of the snapshot, and compare. */
static void assert_equals_counting(fixture *f, int version) {
    char path[64], name[32];
    delta_snapshot *s;
    snprintf(name, sizeof name, "%020d.crc", version);
    snprintf(path, sizeof path, "/t/_delta_log/%s", name);
    const char *added = write_log_text(f->store, name, f->arena);
    assert_non_null(added);
    assert_ok(delta_snapshot_load(&f->env, ROOT, version, &s, &f->err), &f->err);
    assert_ok(store_remove(f->store, str_of(path), &f->err), &f->err);
    const json_node *root;
    assert_int_equal(json_parse(str_of(added), f->arena, &root, NULL), SILT_OK);
    assert_ok(delta_checksum_write(s, json_get_str(root, "txnId", STR_NULL), &f->err), &f->err);
    assert_string_equal(write_log_text(f->store, name, f->arena), added);
    delta_snapshot_release(s);
}

static void keys_of_a_plain_table(void **state) {
    (void)state;
    fixture f;
    open_fixture(&f, &(table_spec){0});
    assert_appended(&f.env, "x|y");
    const json_node *c = checksum_of(&f, 1);
    assert_keys(c, "txnId,tableSizeBytes,numFiles,numMetadata,numProtocol,setTransactions,domainMetadata,metadata,protocol,fileSizeHistogram");
    assert_int_equal(json_get_i64(c, "tableSizeBytes", -1), 200);
    assert_int_equal(json_get_i64(c, "numFiles", -1), 2);
    const json_node *histogram = json_get(c, "fileSizeHistogram");
    assert_int_equal(json_get(histogram, "sortedBinBoundaries")->count, 95);
    int64_t n;
    assert_true(json_node_i64(&json_get(histogram, "fileCounts")->values[0], &n));
    assert_int_equal(n, 2);
    assert_true(json_node_i64(&json_get(histogram, "sortedBinBoundaries")->values[94], &n));
    assert_int_equal(n, INT64_C(274877906944));
    close_fixture(&f);
}

static void keys_with_deletion_vectors_and_timestamps(void **state) {
    (void)state;
    fixture f;
    open_fixture(&f, &(table_spec){.properties = "delta.enableDeletionVectors=true|delta.enableInCommitTimestamps=true"});
    assert_keys(checksum_of(&f, 0), "txnId,tableSizeBytes,numFiles,numDeletedRecordsOpt,numDeletionVectorsOpt,numMetadata,numProtocol,inCommitTimestampOpt,"
                                    "setTransactions,domainMetadata,metadata,protocol,fileSizeHistogram,deletedRecordCountsHistogramOpt");
    close_fixture(&f);
}

/* Files around the boundaries of the bins, with deletion vectors of several sizes, added and removed. */
static void addition_equals_counting(void **state) {
    (void)state;
    fixture f;
    open_fixture(&f, &(table_spec){.properties = "delta.enableDeletionVectors=true"});
    const int64_t sizes[] = {0, 8191, 8192, 8193, 12582911, 12582912, INT64_C(274877906944), INT64_C(300000000000)};
    const int64_t deleted[] = {1, 9, 10, 99, 100, 9999999, 10000000, 2147483647};
    delta_snapshot *s;
    delta_txn *t;
    int64_t version;
    assert_ok(write_begin(&f.env, &s, &t, &f.err), &f.err);
    for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
        char path[32];
        snprintf(path, sizeof path, "f%zu", i);
        delta_add add = write_file(path, NULL, 10, f.arena);
        add.size_bytes = sizes[i];
        add.dv = (delta_dv){'u', STR("ab^-aqEH.-t@S}K{vb[*k^"), (int32_t)(1 + i * 10), 40, deleted[i]};
        assert_ok(delta_txn_add(t, &add, &f.err), &f.err);
    }
    assert_ok(write_add_files(t, "plain", &f.err), &f.err);
    assert_ok(write_commit(t, "WRITE", &version, &f.err), &f.err);
    delta_txn_free(t);
    delta_snapshot_release(s);
    assert_equals_counting(&f, 1);
    const json_node *c = checksum_of(&f, 1);
    assert_int_equal(json_get_i64(c, "numDeletionVectorsOpt", -1), 8);
    const json_node *bins = json_get(json_get(c, "deletedRecordCountsHistogramOpt"), "deletedRecordCounts");
    const int64_t expected[] = {1, 2, 2, 1, 0, 0, 0, 1, 1, 1}; /* 0 | 1, 9 | 10, 99 | 100 | | | | 9999999 | 10000000 | 2147483647 */
    for (size_t i = 0; i < ARRAY_LEN(expected); i++) {
        int64_t n;
        assert_true(json_node_i64(&bins->values[i], &n));
        assert_int_equal(n, expected[i]);
    }
    assert_ok(write_overwrite(&f.env, "z", &version, &f.err), &f.err);
    assert_equals_counting(&f, 2);
    close_fixture(&f);
}

static void lists_follow(void **state) {
    (void)state;
    fixture f;
    delta_snapshot *s;
    delta_txn *t;
    int64_t version;
    open_fixture(&f, &(table_spec){.properties = "delta.enableRowTracking=true"});
    for (int i = 0; i < 3; i++) {
        assert_ok(write_begin(&f.env, &s, &t, &f.err), &f.err);
        assert_ok(delta_txn_set_txn_id(t, i == 1 ? STR("other") : STR("app"), i, &f.err), &f.err);
        assert_ok(delta_txn_set_domain(t, STR("mine"), i == 1 ? STR("{\"a\":1}") : STR("{}"), i == 2, &f.err), &f.err);
        char path[16];
        snprintf(path, sizeof path, "f%d", i);
        assert_ok(write_add_files(t, path, &f.err), &f.err);
        assert_ok(write_commit(t, "WRITE", &version, &f.err), &f.err);
        delta_txn_free(t);
        delta_snapshot_release(s);
    }
    const json_node *c = checksum_of(&f, 3);
    assert_int_equal(json_get(c, "setTransactions")->count, 2);
    assert_int_equal(json_get(c, "domainMetadata")->count, 1); /* "mine" was removed, the row ids' is there */
    assert_true(str_eqz(json_get_str(&json_get(c, "domainMetadata")->values[0], "domain", STR("")), "delta.rowTracking"));
    assert_int_equal(json_get(checksum_of(&f, 2), "domainMetadata")->count, 2);
    assert_ok(delta_snapshot_load(&f.env, ROOT, 3, &s, &f.err), &f.err); /* the reader verifies what it says */
    delta_snapshot_release(s);
    close_fixture(&f);
}

/* A winner came between: its checksum is what this one is built on; without it none is written. */
static void after_a_lost_race(void **state) {
    (void)state;
    for (int with_theirs = 0; with_theirs < 2; with_theirs++) {
        fixture f;
        delta_snapshot *s;
        delta_txn *t;
        int64_t version;
        open_fixture(&f, &(table_spec){0});
        assert_ok(write_begin(&f.env, &s, &t, &f.err), &f.err);
        assert_ok(write_add_files(t, "mine", &f.err), &f.err);
        assert_appended(&f.env, "theirs");
        if (!with_theirs) assert_ok(store_remove(f.store, STR("/t/_delta_log/00000000000000000001.crc"), &f.err), &f.err);
        assert_ok(write_commit(t, "WRITE", &version, &f.err), &f.err);
        assert_int_equal(version, 2);
        if (with_theirs) assert_equals_counting(&f, 2);
        else assert_null(checksum_of(&f, 2));
        delta_txn_free(t);
        delta_snapshot_release(s);
        close_fixture(&f);
    }
}

/* The checksum before is missing or wrong: the snapshot's own totals decide. */
static void a_broken_chain_is_mended(void **state) {
    (void)state;
    fixture f;
    open_fixture(&f, &(table_spec){0});
    assert_appended(&f.env, "x");
    assert_ok(store_remove(f.store, STR("/t/_delta_log/00000000000000000001.crc"), &f.err), &f.err);
    assert_appended(&f.env, "y");
    assert_equals_counting(&f, 2);
    assert_ok(store_put(f.store, STR("/t/_delta_log/00000000000000000002.crc"), STR("{\"txn"), STORE_PUT_REPLACE, &f.err), &f.err);
    delta_env trusting = f.env;
    trusting.skip_version_checksum = true;
    assert_appended(&trusting, "z");
    assert_equals_counting(&f, 3);
    close_fixture(&f);
}

static void is_never_written_over(void **state) {
    (void)state;
    fixture f;
    delta_snapshot *s;
    open_fixture(&f, &(table_spec){0});
    const char *first = write_log_text(f.store, "00000000000000000000.crc", f.arena);
    assert_ok(delta_snapshot_load(&f.env, ROOT, 0, &s, &f.err), &f.err);
    assert_ok(delta_checksum_write(s, STR("other"), &f.err), &f.err);
    assert_string_equal(write_log_text(f.store, "00000000000000000000.crc", f.arena), first);
    delta_snapshot_release(s);
    close_fixture(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_of_a_plain_table),
        cmocka_unit_test(keys_with_deletion_vectors_and_timestamps),
        cmocka_unit_test(addition_equals_counting),
        cmocka_unit_test(lists_follow),
        cmocka_unit_test(after_a_lost_race),
        cmocka_unit_test(a_broken_chain_is_mended),
        cmocka_unit_test(is_never_written_over),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
