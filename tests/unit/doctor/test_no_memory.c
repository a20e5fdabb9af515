/* Every allocation of an examination fails once: it says so, and has freed what it had. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "doctor/doctor.h"
#include "support/no_memory.h"

#define SCHEMA                                                                                                       \
    "{\\\"type\\\":\\\"struct\\\",\\\"fields\\\":[{\\\"name\\\":\\\"a "                                              \
    "b\\\",\\\"type\\\":\\\"long\\\",\\\"nullable\\\":true,\\\"metadata\\\":{}},"                                    \
    "{\\\"name\\\":\\\"A "                                                                                           \
    "B\\\",\\\"type\\\":\\\"%s\\\",\\\"nullable\\\":true,\\\"metadata\\\":{}},{\\\"name\\\":\\\"p\\\",\\\"type\\\":" \
    "\\\"string\\\",\\\"nullable\\\":true,\\\"metadata\\\":{}}]}"
#define INFO                                                                                                    \
    "{\"commitInfo\":{\"timestamp\":%d,\"operation\":\"WRITE\",\"operationParameters\":{\"zOrderBy\":\"[\\\"a " \
    "b\\\"]\"},\"operationMetrics\":{\"executionTimeMs\":\"999999999\"}}}\n"
#define METADATA                                                                                                  \
    "{\"metaData\":{\"id\":\"i\",\"format\":{\"provider\":\"parquet\",\"options\":{}},\"schemaString\":\"" SCHEMA \
    "\",\"partitionColumns\":[\"p\"],\"configuration\":{\"delta.dataSkippingNumIndexedCols\":\"0\",\"delta."      \
    "logRetentionDuration\":\"interval 1 day\"},\"createdTime\":1}}\n"
#define PROTOCOL "{\"protocol\":{\"minReaderVersion\":2,\"minWriterVersion\":5}}\n"
#define ADD(path)                                                                                            \
    "{\"add\":{\"path\":\"" path "\",\"partitionValues\":{\"p\":\"__HIVE_DEFAULT_PARTITION__\"},\"size\":9," \
                                 "\"modificationTime\":1,\"dataChange\":true,\"stats\":\"{\\\"numRecords\\\":1}\"}}\n"
#define GONE(path) "{\"remove\":{\"path\":\"" path "\",\"deletionTimestamp\":2,\"dataChange\":true}}\n"

typedef struct fixture {
    char dir[64];
    store *store;
    delta_env env;
    bool damaged;
} fixture;

static void put(fixture *f, const char *name, const char *text) {
    char path[200];
    snprintf(path, sizeof path, "%s/%s", f->dir, name);
    assert_int_equal(store_put(f->store, str_of(path), str_of(text), STORE_PUT_REPLACE, NULL), SILT_OK);
}

/* A table with something for most checks: files missing and resized, orphans, flipping types, odd names, properties that are too short. */
static int set_up(void **state) {
    static fixture f;
    char text[4000];
    static const char *const types[] = {"long", "string", "long"};
    f = (fixture){0};
    strcpy(f.dir, "/tmp/silt-doctor-XXXXXX");
    assert_non_null(mkdtemp(f.dir));
    assert_int_equal(store_local_open(&f.store, NULL), SILT_OK);
    f.env = (delta_env){.store = f.store, .n_threads = 1};
    for (int v = 0; v < 3; v++) {
        char name[64];
        snprintf(text, sizeof text, INFO "%s" METADATA "%s", 1000000 - 400000 * v, v ? "" : PROTOCOL, types[v],
                 v == 0   ? ADD("f0") ADD("f%2520x")
                 : v == 1 ? ADD("gone") ADD("/elsewhere/f")
                          : GONE("f0"));
        snprintf(name, sizeof name, "_delta_log/%020d.json", v);
        put(&f, name, text);
    }
    put(&f, "_delta_log/_last_checkpoint", "{}");
    put(&f, "f0", "data");
    put(&f, "f%20x", "data");
    put(&f, "orphan", "data");
    put(&f, "metadata/v1.metadata.json", "{}");
    *state = &f;
    return 0;
}

static int tear_down(void **state) {
    fixture *f = *state;
    store_close(f->store);
    char command[96];
    snprintf(command, sizeof command, "rm -rf '%s'", f->dir);
    return system(command);
}

static silt_status examine(void *ctx) {
    fixture *f = ctx;
    str readers[] = {STR("hive"), STR("parquet"), STR("manifest")}, filters[] = {STR("A B")};
    doctor_subject subject = {.env = &f->env, .root = str_of(f->dir), .sql_name = STR("t")};
    doctor_options options = {
        .readers = readers, .n_readers = 3, .filters = filters, .n_filters = 1, .now_ms = INT64_C(4000000000000)};
    doctor_finding *findings;
    size_t n;
    silt_error err = {0};
    arena *a = arena_new();
    if (!a) return SILT_NO_MEMORY;
    silt_status status = doctor_examine(&subject, &options, a, &findings, &n, &err);
    if (status == SILT_OK && !f->damaged) assert_true(n >= 10);
    if (status == SILT_OK && f->damaged) assert_true(n >= 1);
    arena_free(a);
    return status;
}

static void sick_table(void **state) { no_memory_torture(examine, *state); }

static void table_that_does_not_open(void **state) {
    fixture *f = *state;
    f->damaged = true;
    put(f, "_delta_log/00000000000000000001.json", "{\"add\":{\n");
    no_memory_torture(examine, f);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test_setup_teardown(sick_table, set_up, tear_down),
                                       cmocka_unit_test_setup_teardown(table_that_does_not_open, set_up, tear_down)};
    return cmocka_run_group_tests_name("doctor_no_memory", tests, NULL, NULL);
}
