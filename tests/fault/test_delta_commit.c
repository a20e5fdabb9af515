/*
 * A commit that also writes a checkpoint and cleans up the log, with a crash or a lost reply at each of its store calls; real Parquet files. Afterwards a
 * fresh reader must find the table as it was before or after the commit, every version in the range that the log still offers, and room for the next commit.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

#include "delta/transaction.h"
#include "engine/engine.h"

#include "base/ident.h"

#define ROOT STR("/t")

static engine *duck;

typedef struct order {
    size_t nth;
    store_fault fault;
    bool given;
} order;

static store_fault at_nth(void *ctx, const char *call, str path, size_t nth) {
    order *o = ctx;
    (void)call, (void)path;
    if (nth != o->nth) return FAULT_NONE;
    o->given = true;
    return o->fault;
}

/* ---- a small table ---- */

static silt_status create(const delta_env *env, const char *policy, silt_error *err) {
    arena *a = arena_new();
    delta_txn *t = NULL;
    const data_type *schema;
    delta_protocol p;
    int64_t version;
    char id[37];
    uuid_generate(id);
    const str keys[] = {STR("delta.checkpointInterval"), STR("delta.checkpointPolicy")};
    const str values[] = {STR("2"), str_of(policy)};
    delta_metadata m = {.id = str_of(id), .format_provider = STR("parquet"), .created_time_ms = 1,
                        .schema_json = STR("{\"type\":\"struct\",\"fields\":[{\"name\":\"a\",\"type\":\"long\",\"nullable\":true,\"metadata\":{}}]}")};
    const delta_commit_info info = {.operation = "CREATE TABLE", .no_pauses = true};
    silt_status status = schema_parse_json(m.schema_json, a, &schema, err);
    if (status == SILT_OK) status = delta_protocol_for(NULL, schema, (str_map){keys, values, 2}, false, a, &p, &m.configuration, err);
    if (status == SILT_OK) status = delta_txn_begin(env, NULL, ROOT, &t, err);
    if (status == SILT_OK) status = delta_txn_set_protocol(t, &p, err);
    if (status == SILT_OK) status = delta_txn_set_metadata(t, &m, err);
    if (status == SILT_OK) status = delta_txn_commit(t, &info, &version, err);
    delta_txn_free(t);
    arena_free(a);
    return status;
}

static silt_status append(const delta_env *env, int number, int64_t *out_version, silt_error *err) {
    delta_snapshot *s = NULL;
    delta_txn *t = NULL;
    char path[32], stats[128];
    snprintf(path, sizeof path, "f%d.parquet", number);
    snprintf(stats, sizeof stats, "{\"numRecords\":1,\"minValues\":{\"a\":%d},\"maxValues\":{\"a\":%d},\"nullCount\":{\"a\":0}}", number, number);
    const delta_add add = {.path = str_of(path), .size_bytes = 10, .modification_time_ms = 1, .data_change = true, .stats = str_of(stats), .base_row_id = -1,
                           .default_row_commit_version = -1};
    const delta_commit_info info = {.operation = "WRITE", .no_pauses = true};
    silt_status status = delta_snapshot_load(env, ROOT, DELTA_LATEST, &s, err);
    if (status == SILT_OK) status = delta_txn_begin(env, s, ROOT, &t, err);
    if (status == SILT_OK) status = delta_txn_add(t, &add, err);
    if (status == SILT_OK) status = delta_txn_commit(t, &info, out_version, err);
    delta_txn_free(t);
    delta_snapshot_release(s);
    return status;
}

#define LAST_BEFORE 5 /* versions 0 to 5; a checkpoint at 4, the versions before it were cleaned up */

/* Commits of the year 2020: all of them have expired by now. */
static store *new_table(delta_env *env, const char *policy) {
    store *s;
    silt_error err = {0};
    int64_t version;
    assert_int_equal(store_memory_open(INT64_C(1577836800000), &s, NULL), SILT_OK);
    *env = (delta_env){.store = s, .parquet = engine_parquet(duck), .n_threads = 1};
    if (create(env, policy, &err) != SILT_OK) fail_msg("%s %s", err.condition, err.message);
    for (int i = 1; i <= LAST_BEFORE; i++)
        if (append(env, i, &version, &err) != SILT_OK) fail_msg("%s %s", err.condition, err.message);
    return s;
}

/* A copy of every object; a table is made once and copied for each fault. */
static store *copy_of(store *from) {
    store *to;
    arena *a = arena_new();
    store_list_result all = {0};
    buf bytes;
    buf_init(&bytes, 1 << 24);
    assert_int_equal(store_memory_open(INT64_C(1577836800000), &to, NULL), SILT_OK);
    assert_int_equal(store_list(from, ROOT, STR_NULL, true, a, &all, NULL), SILT_OK);
    for (size_t i = 0; i < all.count; i++) {
        buf_clear(&bytes);
        assert_int_equal(store_read(from, all.items[i].path, 0, -1, &bytes, NULL), SILT_OK);
        assert_int_equal(store_put(to, all.items[i].path, buf_str(&bytes), STORE_PUT_REPLACE, NULL), SILT_OK);
    }
    buf_dispose(&bytes);
    arena_free(a);
    return to;
}

/* ---- what must hold ---- */

static silt_status sum_files(void *ctx, size_t i, const delta_add *add, silt_error *err) {
    (void)i, (void)err;
    int number = 0;
    char path[64];
    snprintf(path, sizeof path, "%.*s", STR_ARG(add->path));
    assert_int_equal(sscanf(path, "f%d.parquet", &number), 1);
    *(int *)ctx += 1 << number;
    return SILT_OK;
}

/* Version v holds the files 1 … v. */
static void assert_version(const delta_env *env, int64_t version) {
    delta_snapshot *s;
    silt_error err = {0};
    int files = 0;
    if (delta_snapshot_load(env, ROOT, version, &s, &err) != SILT_OK) fail_msg("version %lld: %s %s (%s)", (long long)version, err.condition, err.message, err.detail);
    assert_int_equal(delta_snapshot_version(s), version);
    assert_int_equal(delta_snapshot_each_file(s, true, sum_files, &files, &err), SILT_OK);
    assert_int_equal(files, (2 << version) - 2);
    delta_snapshot_release(s);
}

/* The first and the last version that the log offers, the latest found without being named. */
static int64_t assert_sound(const delta_env *env) {
    int64_t earliest, latest;
    silt_error err = {0};
    delta_snapshot *s;
    if (delta_version_range(env, ROOT, &earliest, &latest, &err) != SILT_OK) fail_msg("%s %s", err.condition, err.message);
    if (earliest != latest) assert_version(env, earliest);
    assert_int_equal(delta_snapshot_load(env, ROOT, DELTA_LATEST, &s, &err), SILT_OK);
    assert_int_equal(delta_snapshot_version(s), latest);
    int files = 0;
    assert_int_equal(delta_snapshot_each_file(s, false, sum_files, &files, &err), SILT_OK);
    assert_int_equal(files, (2 << latest) - 2);
    delta_snapshot_release(s);
    return latest;
}

/* false: the fault never came, the commit makes fewer calls. */
static bool fault_at(store *table, size_t nth, store_fault fault) {
    store *s = copy_of(table), *faulty;
    delta_env env = {.store = s, .parquet = engine_parquet(duck), .n_threads = 1}, faulty_env;
    order o = {nth, fault, false};
    silt_error err = {0};
    int64_t version = -1;
    assert_int_equal(store_fault_open(s, at_nth, &o, &faulty, NULL), SILT_OK);
    faulty_env = env;
    faulty_env.store = faulty;
    silt_status status = append(&faulty_env, LAST_BEFORE + 1, &version, &err);
    int64_t latest = assert_sound(&env);
    if (status == SILT_OK) assert_int_equal(latest, LAST_BEFORE + 1);
    else if (status != SILT_UNKNOWN) assert_int_equal(latest, LAST_BEFORE);
    /* and it goes on */
    if (append(&env, (int)latest + 1, &version, &err) != SILT_OK) fail_msg("%s %s", err.condition, err.message);
    assert_int_equal(version, latest + 1);
    store_close(faulty);
    store_close(s);
    return o.given;
}

/* Death after a call leaves what death before the next one leaves. */
static void every_call(const char *policy, size_t n_faults) {
    static const store_fault faults[] = {FAULT_CRASH, FAULT_LOST_REPLY};
    delta_env env;
    store *table = new_table(&env, policy);
    for (size_t f = 0; f < n_faults; f++) {
        size_t nth = 1;
        while (fault_at(table, nth, faults[f])) nth++;
        assert_true(nth > 10);
    }
    store_close(table);
}

static void classic_checkpoints(void **state) {
    (void)state;
    every_call("classic", 2);
}

static void v2_checkpoints(void **state) {
    (void)state;
    every_call("v2", 1);
}

/* The set-up itself: what the clean-up leaves. */
static void the_log_was_cleaned_up(void **state) {
    (void)state;
    delta_env env;
    silt_error err = {0};
    int64_t earliest, latest;
    store *s = new_table(&env, "classic");
    assert_int_equal(delta_version_range(&env, ROOT, &earliest, &latest, &err), SILT_OK);
    assert_int_equal(earliest, 4);
    assert_int_equal(latest, LAST_BEFORE);
    assert_sound(&env);
    store_close(s);
}

static int open_engine(void **state) {
    (void)state;
    return engine_open(&(engine_options){.threads = 1}, &duck, NULL) == SILT_OK ? 0 : -1;
}

static int close_engine(void **state) {
    (void)state;
    engine_close(duck);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_log_was_cleaned_up),
        cmocka_unit_test(classic_checkpoints),
        cmocka_unit_test(v2_checkpoints),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, open_engine, close_engine);
}
