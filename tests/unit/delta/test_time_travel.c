/* From times to versions and the history, against what Spark 4.1 with Delta 4.3 answered for the same commit times. */
#include "read_support.h"

static void commit_at(log_fixture *f, int64_t version, int64_t time_ms, const char *text) {
    store_memory_set_clock(f->store, time_ms);
    log_commit(f, version, text);
}

static int64_t version_at(log_fixture *f, int64_t time_ms) {
    int64_t version = -1;
    if (delta_version_at(&f->env, LOG_ROOT, time_ms, &version, &f->err) != SILT_OK)
        fail_msg("%s: %s", f->err.condition, f->err.message);
    return version;
}

static void fails_at(log_fixture *f, int64_t time_ms, const char *condition) {
    int64_t version;
    assert_int_not_equal(delta_version_at(&f->env, LOG_ROOT, time_ms, &version, &f->err), SILT_OK);
    assert_condition(&f->err, condition);
}

#define T0    INT64_C(1700000000000)
#define EARLY "DELTA_TIMESTAMP_EARLIER_THAN_COMMIT_RETENTION"
#define LATE  "DELTA_TIMESTAMP_GREATER_THAN_COMMIT"

/* Versions 1, 2 and 3 have one modification time, 2 even an earlier one: they count as 10.000, 10.001 and 10.002 s. */
static void adjusted_times(log_fixture *f) {
    commit_at(f, 0, T0, "{'commitInfo':{'operation':'CREATE TABLE'}}\n" START);
    commit_at(f, 1, T0 + 10000, "{'commitInfo':{'operation':'WRITE'}}\n");
    commit_at(f, 2, T0 + 9000, "\n");
    commit_at(f, 3, T0 + 10000, "{'commitInfo':{'operation':'DELETE'}}\n");
    commit_at(f, 4, T0 + 259200000, ADD("x") "{'commitInfo':{'operation':'MERGE'}}\n");
}

static void modification_times(void **state) {
    static const struct {
        int64_t at;
        int version;
    } cases[] = {
        {0, 0}, {1, 0}, {9999, 0}, {10000, 1}, {10001, 2}, {10002, 3}, {10003, 3}, {259199999, 3}, {259200000, 4},
    };
    log_fixture *f = *state;
    adjusted_times(f);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) assert_int_equal(version_at(f, T0 + cases[i].at), cases[i].version);
    fails_at(f, T0 - 1, EARLY);
    assert_non_null(strstr(f->err.message, "2023-11-14 22:13:19.999"));
    assert_non_null(strstr(f->err.message, "2023-11-14 22:13:20)"));
    fails_at(f, T0 + 259200001, LATE);
}

static void history(void **state) {
    static const int64_t times[] = {T0 + 259200000, T0 + 10002, T0 + 10001, T0 + 10000, T0};
    static const char *const infos[] = {"{\"operation\":\"MERGE\"}", "{\"operation\":\"DELETE\"}", NULL,
                                        "{\"operation\":\"WRITE\"}", "{\"operation\":\"CREATE TABLE\"}"};
    log_fixture *f = *state;
    delta_history_entry *entries;
    size_t n;
    adjusted_times(f);
    assert_int_equal(delta_history(&f->env, LOG_ROOT, -1, f->arena, &entries, &n, &f->err), SILT_OK);
    assert_int_equal(n, 5);
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(entries[i].version, 4 - i);
        assert_int_equal(entries[i].timestamp_ms, times[i]);
        if (infos[i])
            assert_text(infos[i], entries[i].commit_info);
        else
            assert_true(str_is_null(entries[i].commit_info));
    }
    assert_int_equal(delta_history(&f->env, LOG_ROOT, 2, f->arena, &entries, &n, &f->err), SILT_OK);
    assert_int_equal(n, 2);
    assert_int_equal(entries[1].version, 3);
}

static void only_what_can_be_rebuilt(void **state) {
    log_fixture *f = *state;
    adjusted_times(f);
    log_put(f, log_name(f, 2, ".checkpoint.parquet"), "x");
    log_remove(f, log_name(f, 0, ".json"));
    assert_int_equal(version_at(f, T0 + 10002), 3);
    fails_at(f, T0 + 9999, EARLY);
}

#define ICT(time) "{'commitInfo':{'inCommitTimestamp':" time ",'operation':'WRITE'}}\n"
#define ICT_ON(more)                                                                                                 \
    "{'protocol':{'minReaderVersion':1,'minWriterVersion':7,'writerFeatures':['inCommitTimestamp']}}\n" METADATA_OF( \
        SCHEMA(FIELD("a", "long")), "", "'delta.enableInCommitTimestamps':'true'" more)

static void in_commit_timestamps(void **state) {
    log_fixture *f = *state;
    commit_at(f, 0, 9000, ICT("100") ICT_ON(""));
    commit_at(f, 1, 8000, ICT("200"));
    commit_at(f, 2, 7000, ICT("300"));
    assert_int_equal(version_at(f, 100), 0);
    assert_int_equal(version_at(f, 199), 0);
    assert_int_equal(version_at(f, 200), 1);
    assert_int_equal(version_at(f, 300), 2);
    fails_at(f, 99, EARLY);
    fails_at(f, 301, LATE);
    commit_at(f, 3, 7000, "{'commitInfo':{'operation':'WRITE','inCommitTimestamp':400}}\n");
    commit_at(f, 1, 8000, "{'commitInfo':{'operation':'WRITE'}}\n");
    fails_at(f, 250, "DELTA_MISSING_COMMIT_TIMESTAMP");
    commit_at(f, 1, 8000, ADD("x"));
    fails_at(f, 250, "DELTA_MISSING_COMMIT_INFO");
}

/* Turned on at version 2: before that, the files' times. */
static void in_commit_timestamps_from_a_version_on(void **state) {
    log_fixture *f = *state;
    delta_history_entry *entries;
    size_t n;
    commit_at(f, 0, 1000, START);
    commit_at(f, 1, 2000, "{}\n");
    commit_at(f, 2, 500000,
              ICT("5000")
                  ICT_ON(",'delta.inCommitTimestampEnablementVersion':'2','delta.inCommitTimestampEnablementTimestamp':'5000'"));
    commit_at(f, 3, 600000, ICT("6000"));
    assert_int_equal(version_at(f, 1500), 0);
    assert_int_equal(version_at(f, 2000), 1);
    assert_int_equal(version_at(f, 4999), 1);
    assert_int_equal(version_at(f, 5000), 2);
    assert_int_equal(version_at(f, 6000), 3);
    fails_at(f, 999, EARLY);
    fails_at(f, 6001, LATE);
    assert_int_equal(delta_history(&f->env, LOG_ROOT, -1, f->arena, &entries, &n, &f->err), SILT_OK);
    assert_int_equal(entries[0].timestamp_ms, 6000);
    assert_int_equal(entries[1].timestamp_ms, 5000);
    assert_int_equal(entries[2].timestamp_ms, 2000);
    assert_int_equal(entries[3].timestamp_ms, 1000);
}

static void no_table(void **state) {
    log_fixture *f = *state;
    delta_history_entry *entries;
    size_t n;
    fails_at(f, 0, "DELTA_TABLE_NOT_FOUND");
    assert_int_not_equal(delta_history(&f->env, LOG_ROOT, -1, f->arena, &entries, &n, &f->err), SILT_OK);
    assert_condition(&f->err, "DELTA_TABLE_NOT_FOUND");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, log_setup, log_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(modification_times),
        TEST(history),
        TEST(only_what_can_be_rebuilt),
        TEST(in_commit_timestamps),
        TEST(in_commit_timestamps_from_a_version_on),
        TEST(no_table),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
