/* Every allocation of CONVERT TO DELTA and PUBLISH TABLE fails once: the statement says so and nothing has changed, or it is done. Files are those whose footers tell everything, so that
 * no engine is asked. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "ops/maintain/convert.h"
#include "ops/maintain/publish.h"
#include "support/no_memory.h"

typedef struct fixture {
    char dir[64], root[96];
    store *store;
    delta_env delta;
    ops_env env;
    bind_env bind;
    delta_snapshot *snapshot;
    bool no_statistics;
    int64_t next; /* number of the next copy */
} fixture;

static void shell(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void shell(const char *format, ...) {
    char command[768];
    va_list args;
    va_start(args, format);
    vsnprintf(command, sizeof command, format, args);
    va_end(args);
    assert_int_equal(system(command), 0);
}

static int set_up(void **state) {
    static fixture f;
    f = (fixture){0};
    strcpy(f.dir, "/tmp/silt-convert-XXXXXX");
    assert_non_null(mkdtemp(f.dir));
    snprintf(f.root, sizeof f.root, "%s/t", f.dir);
    shell("mkdir -p '%s/p=1' '%s/p=2' '%s/_delta_log' && cp '%s'/tests/golden/tables/in_commit_timestamp_later/*.parquet '%s/p=1' && cp '%s'/p=1/* '%s/p=2'", f.root, f.root, f.root, SILT_SOURCE_DIR, f.root, f.root, f.root);
    assert_int_equal(store_local_open(&f.store, NULL), SILT_OK);
    f.delta = (delta_env){.store = f.store, .n_threads = 1};
    f.env = (ops_env){.delta = &f.delta, .bind = &f.bind};
    *state = &f;
    return 0;
}

static int tear_down(void **state) {
    fixture *f = *state;
    store_close(f->store);
    shell("rm -rf '%s'", f->dir);
    return 0;
}

static silt_status without_doubt(silt_status status) { return status == SILT_UNKNOWN ? SILT_NO_MEMORY : status; }

static silt_status convert(void *ctx) {
    fixture *f = ctx;
    char entry[160];
    snprintf(entry, sizeof entry, "%s/_delta_log/00000000000000000000.json", f->root);
    (void)unlink(entry); /* of a try that could not tell */
    field p = field_make(STR("p"), &type_int, true);
    convert_spec spec = {.table_name = STR("t"), .root = str_of(f->root), .catalog_name = STR_NULL, .partition = &p, .n_partition = 1, .no_statistics = f->no_statistics};
    convert_result done;
    arena *a = arena_new();
    if (!a) return SILT_NO_MEMORY;
    silt_error err = {0};
    silt_status status = ops_convert(&f->env, &spec, a, &done, &err);
    if (status != SILT_OK && status != SILT_NO_MEMORY) printf("# [%s] %s %s\n", err.condition, err.message, err.detail);
    arena_free(a);
    return without_doubt(status);
}

static void converted(void **state) {
    fixture *f = *state;
    no_memory_torture(convert, f);
    f->no_statistics = true;
    no_memory_torture(convert, f);
    shell("test -e '%s/_delta_log/00000000000000000000.json'", f->root);
}

/* Each try goes to a folder of its own: one that was published although the statement could not say so has nothing to do. */
static silt_status publish(void *ctx) {
    fixture *f = ctx;
    char folder[128];
    snprintf(folder, sizeof folder, "%s/copy%lld", f->dir, (long long)f->next++);
    publish_spec spec = {.table_name = STR("t"), .snapshot = f->snapshot, .folder = str_of(folder)};
    publish_result done;
    arena *a = arena_new();
    silt_error err = {0};
    silt_status status = a ? store_local_open(&spec.store, &err) : SILT_NO_MEMORY; /* its own: a store remembers folders that it made until they are on disk */
    if (status == SILT_OK) status = ops_publish(&f->env, &spec, a, &done, &err);
    store_close(spec.store);
    arena_free(a);
    return status;
}

static void published(void **state) {
    fixture *f = *state;
    f->no_statistics = true;
    assert_int_equal(convert(f), SILT_OK);
    assert_int_equal(delta_snapshot_load(&f->delta, str_of(f->root), DELTA_LATEST, &f->snapshot, NULL), SILT_OK);
    no_memory_torture(publish, f);
    delta_snapshot_release(f->snapshot);
    shell("test $(ls '%s/copy%lld'/p=*/*.parquet | wc -l) = $(ls '%s'/p=*/*.parquet | wc -l)", f->dir, (long long)f->next - 1, f->root);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test_setup_teardown(converted, set_up, tear_down), cmocka_unit_test_setup_teardown(published, set_up, tear_down)};
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
