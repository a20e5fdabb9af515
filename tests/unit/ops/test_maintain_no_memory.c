/* Every allocation of RESTORE, CLONE and GENERATE fails once: the statement says so and has committed nothing, or it is done. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "ops/maintain/clone.h"
#include "ops/maintain/manifest.h"
#include "ops/maintain/restore.h"
#include "support/no_memory.h"

#define SCHEMA                                                                                                          \
    "{\\\"type\\\":\\\"struct\\\",\\\"fields\\\":[{\\\"name\\\":\\\"a\\\",\\\"type\\\":\\\"long\\\",\\\"nullable\\\":true,\\\"metadata\\\":{}}," \
    "{\\\"name\\\":\\\"p\\\",\\\"type\\\":\\\"integer\\\",\\\"nullable\\\":true,\\\"metadata\\\":{}}]}"
#define FILE_OF(path, p)                                                                                                                        \
    "{\"add\":{\"path\":\"" path "\",\"partitionValues\":{\"p\":\"" p "\"},\"size\":4,\"modificationTime\":1,\"dataChange\":true,\"stats\":\"{\\\"numRecords\\\":1}\"}}\n"
#define GONE(path, p) "{\"remove\":{\"path\":\"" path "\",\"deletionTimestamp\":2,\"dataChange\":true,\"extendedFileMetadata\":true,\"partitionValues\":{\"p\":\"" p "\"},\"size\":4}}\n"
#define INFO          "{\"commitInfo\":{\"timestamp\":1,\"operation\":\"WRITE\",\"operationParameters\":{}}}\n"

/* A store that keeps nothing of its objects in memory: what a statement has written would count as leaked. */
typedef struct fixture {
    char dir[64], table[96];
    store *store;
    delta_env delta;
    ops_env env;
    delta_snapshot *old, *now;
    int64_t next; /* number of the next clone */
} fixture;

static void put(fixture *f, const char *name, const char *text) {
    char path[160];
    snprintf(path, sizeof path, "%s%s", f->dir, name);
    assert_int_equal(store_put(f->store, str_of(path), str_of(text), STORE_PUT_REPLACE, NULL), SILT_OK);
}

static int set_up(void **state) {
    static fixture f;
    f = (fixture){0};
    strcpy(f.dir, "/tmp/silt-maintain-XXXXXX");
    assert_non_null(mkdtemp(f.dir));
    snprintf(f.table, sizeof f.table, "%s/t", f.dir);
    assert_int_equal(store_local_open(&f.store, NULL), SILT_OK);
    f.delta = (delta_env){.store = f.store, .n_threads = 1};
    f.env = (ops_env){.delta = &f.delta};
    put(&f, "/t/_delta_log/00000000000000000000.json",
        INFO "{\"protocol\":{\"minReaderVersion\":1,\"minWriterVersion\":7,\"writerFeatures\":[\"rowTracking\",\"domainMetadata\",\"clustering\",\"appendOnly\",\"invariants\"]}}\n"
             "{\"metaData\":{\"id\":\"i\",\"format\":{\"provider\":\"parquet\",\"options\":{}},\"schemaString\":\"" SCHEMA "\",\"partitionColumns\":[\"p\"],\"configuration\":{\"k\":\"v\"},"
             "\"createdTime\":1}}\n{\"domainMetadata\":{\"domain\":\"delta.clustering\",\"configuration\":\"{}\",\"removed\":false}}\n" FILE_OF("p=1/f0", "1") FILE_OF("p=2/f1", "2"));
    put(&f, "/t/_delta_log/00000000000000000001.json", INFO FILE_OF("p=2/f2", "2") GONE("p=1/f0", "1"));
    put(&f, "/t/p=1/f0", "data");
    put(&f, "/t/p=2/f1", "data");
    put(&f, "/t/p=2/f2", "data");
    assert_int_equal(delta_snapshot_load(&f.delta, str_of(f.table), 0, &f.old, NULL), SILT_OK);
    assert_int_equal(delta_snapshot_load(&f.delta, str_of(f.table), DELTA_LATEST, &f.now, NULL), SILT_OK);
    *state = &f;
    return 0;
}

static int tear_down(void **state) {
    fixture *f = *state;
    delta_snapshot_release(f->old);
    delta_snapshot_release(f->now);
    store_close(f->store);
    char command[96];
    snprintf(command, sizeof command, "rm -rf '%s'", f->dir);
    return system(command);
}

static bool is_there(fixture *f, const char *name) {
    char path[160];
    snprintf(path, sizeof path, "%s%s", f->dir, name);
    return access(path, F_OK) == 0;
}

/* Where even the entry cannot be read back after a put that failed, nobody knows: that is said, and is the same to this test. */
static silt_status without_doubt(silt_status status) { return status == SILT_UNKNOWN ? SILT_NO_MEMORY : status; }

static silt_status restore(void *ctx) {
    fixture *f = ctx;
    char entry[160];
    snprintf(entry, sizeof entry, "%s/_delta_log/00000000000000000002.json", f->table);
    (void)unlink(entry); /* of a try that could not tell */
    restore_spec spec = {.table_name = STR("t"), .root = str_of(f->table), .current = f->now, .target = f->old, .timestamp = STR_NULL};
    restore_result done;
    return without_doubt(ops_restore(&f->env, &spec, &done, NULL));
}

static void restored(void **state) {
    fixture *f = *state;
    no_memory_torture(restore, f);
    assert_true(is_there(f, "/t/_delta_log/00000000000000000002.json"));
    assert_false(is_there(f, "/t/_delta_log/00000000000000000003.json"));
}

/* The store remembers folders that it made until they are on disk: these are there before. */
static void make_folder(const char *root, const char *name) {
    char path[160];
    snprintf(path, sizeof path, "%s%s", root, name);
    assert_int_equal(mkdir(path, 0700), 0);
}

/* A clone that was made although the statement could not say so is not made again: each try goes to a place of its own. */
static silt_status clone(fixture *f, bool deep) {
    char root[128];
    snprintf(root, sizeof root, "%s/c%lld", f->dir, (long long)f->next++);
    make_folder(root, "");
    make_folder(root, "/_delta_log");
    if (deep) make_folder(root, "/p=2");
    clone_spec clone = {.source_name = STR("t"), .source_base = str_of(f->table), .source = f->now, .is_deep = deep};
    create_spec spec = {.table_name = STR("c"), .root = str_of(root), .clone = &clone};
    ops_result done;
    return without_doubt(ops_create(&f->env, &spec, &done, NULL));
}

static silt_status shallow_once(void *ctx) { return clone(ctx, false); }
static silt_status deep_once(void *ctx) { return clone(ctx, true); }

static void cloned(void **state) {
    fixture *f = *state;
    no_memory_torture(shallow_once, f);
    no_memory_torture(deep_once, f);
    char path[80];
    snprintf(path, sizeof path, "/c%lld/_delta_log/00000000000000000000.json", (long long)f->next - 1);
    assert_true(is_there(f, path));
}

static silt_status generate(void *ctx) {
    fixture *f = ctx;
    return ops_generate_manifest(&f->env, f->now, NULL);
}

static void generated(void **state) {
    fixture *f = *state;
    put(f, "/t/_symlink_format_manifest/p=1/manifest", "/x/p=1/f0\n");
    no_memory_torture(generate, f);
    assert_true(is_there(f, "/t/_symlink_format_manifest/p=2/manifest"));
    assert_false(is_there(f, "/t/_symlink_format_manifest/p=1/manifest"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(restored, set_up, tear_down),
        cmocka_unit_test_setup_teardown(cloned, set_up, tear_down),
        cmocka_unit_test_setup_teardown(generated, set_up, tear_down),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
