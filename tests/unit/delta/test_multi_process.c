/* Sixteen processes append to one table on the local disk at once: every commit is there once, versions are contiguous, and it is fast. */
#include "write_support.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/time.h"

#define N_PROCESSES 16
#define N_APPENDS   13 /* 208 commits in all */

static char folder[] = "/tmp/silt-commits-XXXXXX";

static silt_status append_in(const delta_env *env, str root, const char *path, int64_t *out_version, silt_error *err) {
    delta_snapshot *s;
    delta_txn *t = NULL;
    arena *a = arena_new();
    const delta_commit_info info = {.operation = "WRITE"};
    TRY(delta_snapshot_load(env, root, DELTA_LATEST, &s, err));
    silt_status status = delta_txn_begin(env, s, root, &t, err);
    delta_add add = write_file(path, NULL, 10, a);
    if (status == SILT_OK) status = delta_txn_add(t, &add, err);
    if (status == SILT_OK) status = delta_txn_commit(t, &info, out_version, err);
    delta_txn_free(t);
    delta_snapshot_release(s);
    arena_free(a);
    return status;
}

static int child(int number) {
    store *s;
    silt_error err = {0};
    if (store_local_open(&s, &err) != SILT_OK) return 1;
    const delta_env env = {.store = s, .n_threads = 1};
    int64_t before = -1;
    int failures = 0;
    for (int i = 0; i < N_APPENDS; i++) {
        char path[64];
        int64_t version;
        snprintf(path, sizeof path, "p%d-%d.parquet", number, i);
        if (append_in(&env, str_of(folder), path, &version, &err) != SILT_OK) {
            fprintf(stderr, "process %d: %s %s %s\n", number, err.condition, err.message, err.detail);
            failures++;
            break;
        }
        failures += version <= before;
        before = version;
    }
    store_close(s);
    return failures;
}

static void create_table(store *s) {
    const delta_env env = {.store = s, .n_threads = 1};
    arena *a = arena_new();
    silt_error err = {0};
    delta_protocol p;
    delta_metadata m;
    delta_txn *t;
    int64_t version;
    const delta_commit_info info = {.operation = "CREATE TABLE"};
    assert_ok(write_definition(&(table_spec){.properties = "delta.checkpointInterval=1000000"}, a, &p, &m, &err), &err);
    assert_ok(delta_txn_begin(&env, NULL, str_of(folder), &t, &err), &err);
    assert_ok(delta_txn_set_protocol(t, &p, &err), &err);
    assert_ok(delta_txn_set_metadata(t, &m, &err), &err);
    assert_ok(delta_txn_commit(t, &info, &version, &err), &err);
    delta_txn_free(t);
    arena_free(a);
}

static silt_status count_file(void *ctx, size_t i, const delta_add *add, silt_error *err) {
    (void)i, (void)err;
    int number, nth;
    char (*seen)[N_APPENDS] = ctx;
    char path[64];
    snprintf(path, sizeof path, "%.*s", STR_ARG(add->path));
    assert_int_equal(sscanf(path, "p%d-%d.parquet", &number, &nth), 2);
    seen[number][nth]++;
    return SILT_OK;
}

static void sixteen_processes_lose_nothing(void **state) {
    (void)state;
    store *s;
    silt_error err = {0};
    assert_non_null(mkdtemp(folder));
    assert_ok(store_local_open(&s, &err), &err);
    create_table(s);
    int64_t start = time_monotonic_ms();
    for (int i = 0; i < N_PROCESSES; i++) {
        fflush(NULL);
        pid_t pid = fork();
        assert_true(pid >= 0);
        if (pid == 0) _exit(child(i));
    }
    int failures = 0, status;
    for (int i = 0; i < N_PROCESSES; i++) {
        assert_true(wait(&status) > 0);
        failures += !WIFEXITED(status) || WEXITSTATUS(status) != 0;
    }
    print_message("# %d commits by %d processes in %lld ms\n", N_PROCESSES * N_APPENDS, N_PROCESSES, (long long)(time_monotonic_ms() - start));
    assert_int_equal(failures, 0);

    const delta_env env = {.store = s, .n_threads = 1};
    delta_snapshot *snapshot;
    char seen[N_PROCESSES][N_APPENDS] = {{0}};
    assert_ok(delta_snapshot_load(&env, str_of(folder), DELTA_LATEST, &snapshot, &err), &err);
    assert_int_equal(delta_snapshot_version(snapshot), N_PROCESSES * N_APPENDS);
    assert_int_equal(delta_snapshot_n_files(snapshot), N_PROCESSES * N_APPENDS);
    assert_ok(delta_snapshot_each_file(snapshot, false, count_file, seen, &err), &err);
    for (int i = 0; i < N_PROCESSES; i++)
        for (int k = 0; k < N_APPENDS; k++) assert_int_equal(seen[i][k], 1);
    delta_snapshot_release(snapshot);
    store_close(s);
}

static int remove_folder(void **state) {
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    return system(command);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(sixteen_processes_lose_nothing)};
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, remove_folder);
}
