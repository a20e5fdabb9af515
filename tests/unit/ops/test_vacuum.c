/* VACUUM over an object store: what it asks of the store for a large table, and that entries which lose a race are written again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/time.h"
#include "ops/maintain/vacuum.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { PARTITIONS = 2000 };
#else
enum { PARTITIONS = 20000 };
#endif
enum { FILES = PARTITIONS * 10, ORPHANS = PARTITIONS };

#define DAY_MS   INT64_C(86400000)
#define ROOT     STR("/t")
#define PROTOCOL "{\"protocol\":{\"minReaderVersion\":1,\"minWriterVersion\":2}}\n"
#define METADATA                                                                                                                                        \
    "{\"metaData\":{\"id\":\"m\",\"format\":{\"provider\":\"parquet\",\"options\":{}},\"schemaString\":\"{\\\"type\\\":\\\"struct\\\",\\\"fields\\\":[" \
    "{\\\"name\\\":\\\"a\\\",\\\"type\\\":\\\"long\\\",\\\"nullable\\\":true,\\\"metadata\\\":{}}]}\",\"partitionColumns\":[],\"configuration\":{},"    \
    "\"createdTime\":5}}\n"

typedef struct counts {
    size_t lists, removes, stats, puts;
} counts;

static store_fault count(void *ctx, const char *call, str path, size_t nth) {
    counts *c = ctx;
    (void)path, (void)nth;
    size_t *which = strcmp(call, "list") == 0     ? &c->lists
                    : strcmp(call, "remove") == 0 ? &c->removes
                    : strcmp(call, "stat") == 0   ? &c->stats
                    : strcmp(call, "put") == 0    ? &c->puts
                                                  : NULL;
    if (which) __atomic_add_fetch(which, 1, __ATOMIC_RELAXED);
    return FAULT_NONE;
}

typedef struct world {
    store *memory, *store;
    counts counts;
    delta_env delta;
    ops_env env;
    arena *a;
    silt_error err;
    const char *retention_check;
} world;

static str setting(void *ctx, const char *key) {
    const world *w = ctx;
    return strcmp(key, "spark.databricks.delta.retentionDurationCheck.enabled") == 0 ? str_of(w->retention_check) : STR_NULL;
}

static void must(silt_status status, const silt_error *err) {
    if (status != SILT_OK) fail_msg("[%s] %s %s", err->condition, err->message, err->detail);
}

static void put(world *w, const char *path, str bytes) { must(store_put(w->memory, str_of(path), bytes, STORE_PUT_IF_ABSENT, &w->err), &w->err); }

/* FILES of the log and ORPHANS beside them, eleven in each partition folder; all a month old. Names ascend, so that the store takes each at its end. */
static void make_table(world *w) {
    buf log;
    char path[64];
    buf_init(&log, BUF_MAX_DEFAULT);
    store_memory_set_clock(w->memory, time_now_ms() - 30 * DAY_MS);
    buf_append_z(&log, PROTOCOL METADATA);
    for (int p = 0; p < PARTITIONS; p++)
        for (int f = 0; f < 11; f++) {
            snprintf(path, sizeof path, "/t/p=%05d/f%02d", p, f);
            put(w, path, STR("x"));
            if (f > 0) buf_printf(&log, "{\"add\":{\"path\":\"%s\",\"partitionValues\":{},\"size\":1,\"modificationTime\":1,\"dataChange\":true}}\n", path + 3);
        }
    put(w, "/t/_delta_log/00000000000000000000.json", buf_str(&log));
    buf_dispose(&log);
    store_memory_set_clock(w->memory, time_now_ms());
}

static int setup(void **state) {
    static world w;
    w = (world){.a = arena_new()};
    must(store_memory_open(1, &w.memory, &w.err), &w.err);
    must(store_fault_open(w.memory, count, &w.counts, &w.store, &w.err), &w.err);
    w.delta = (delta_env){.store = w.store, .n_threads = 2};
    w.env = (ops_env){.delta = &w.delta, .setting = setting, .setting_ctx = &w};
    *state = &w;
    return 0;
}

static int teardown(void **state) {
    world *w = *state;
    store_close(w->store);
    store_close(w->memory);
    arena_free(w->a);
    return 0;
}

static vacuum_result vacuum(world *w, bool dry_run, int64_t *out_rows) {
    delta_snapshot *s;
    const data_type *type;
    arrow_builder *rows;
    vacuum_result done;
    must(delta_snapshot_load(&w->delta, ROOT, DELTA_LATEST, &s, &w->err), &w->err);
    const vacuum_spec spec = {.table_name = STR("t"), .root = ROOT, .snapshot = s, .dry_run = dry_run};
    w->counts = (counts){0};
    must(ops_vacuum(&w->env, &spec, w->a, &type, &rows, &done, &w->err), &w->err);
    *out_rows = arrow_builder_rows(rows);
    arrow_builder_free(rows);
    delta_snapshot_release(s);
    return done;
}

/* One request lists STORE_PAGE files, whatever folders they are in. Those of the log come on top. */
static void listing_costs_a_request_per_page(void **state) {
    world *w = *state;
    int64_t rows;
    make_table(w);
    vacuum_result done = vacuum(w, true, &rows);
    assert_int_equal(done.files, ORPHANS);
    assert_int_equal(rows, ORPHANS);
    assert_true(w->counts.lists <= (FILES + ORPHANS) / STORE_PAGE + 10);
    assert_int_equal(w->counts.removes, 0);
    assert_int_equal(w->counts.puts, 0);
    assert_true(w->counts.stats < 10); /* a listing tells sizes and times */
    done = vacuum(w, false, &rows);
    assert_int_equal(done.files, ORPHANS);
    assert_int_equal(rows, 1);
    assert_true(w->counts.lists <= (FILES + ORPHANS) / STORE_PAGE + ORPHANS / STORE_PAGE + 20);
    done = vacuum(w, true, &rows);
    assert_int_equal(done.files, 0);
}

/* A store without folders tells of every object by its whole path: what is hidden stays hidden. */
static void hidden_parts_of_paths_where_there_are_no_folders(void **state) {
    static const char *const kept[] = {"/t/_delta_log/_sidecars/x.parquet",
                                       "/t/_delta_log/00000000000000000000.crc",
                                       "/t/_hidden/a/b",
                                       "/t/a/.hidden/b",
                                       "/t/.x",
                                       "/t/sub/_delta_log/00000000000000000000.json",
                                       "/t/sub/data"};
    static const char *const garbage[] = {"/t/orphan", "/t/_change_data/orphan", "/t/a/b/orphan", "/t/a/.silt-1.tmp"};
    world *w = *state;
    int64_t rows;
    store_memory_set_clock(w->memory, time_now_ms() - 30 * DAY_MS);
    put(w, "/t/_delta_log/00000000000000000000.json", STR(PROTOCOL METADATA));
    for (size_t i = 0; i < ARRAY_LEN(kept); i++) put(w, kept[i], STR("x"));
    for (size_t i = 0; i < ARRAY_LEN(garbage); i++) put(w, garbage[i], STR("x"));
    store_memory_set_clock(w->memory, time_now_ms());
    vacuum_result done = vacuum(w, false, &rows);
    assert_int_equal(done.files, ARRAY_LEN(garbage));
    for (size_t i = 0; i < ARRAY_LEN(kept); i++) {
        store_entry e;
        if (store_stat(w->memory, str_of(kept[i]), w->a, &e, &w->err) != SILT_OK) fail_msg("%s is gone", kept[i]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(listing_costs_a_request_per_page, setup, teardown),
        cmocka_unit_test_setup_teardown(hidden_parts_of_paths_where_there_are_no_folders, setup, teardown),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
