/* Every allocation of the reading half fails once: the status says so, nothing leaks, nothing is half done. */
#include "read_support.h"

#include "delta/commit_read.h"
#include "support/no_memory.h"

static silt_status keep(void *ctx, size_t i, const delta_add *add, silt_error *err) {
    (void)i;
    (void)add;
    (void)err;
    ++*(int *)ctx;
    return SILT_OK;
}

static silt_status read_snapshot(log_fixture *f, const delta_snapshot *s, arena *a) {
    static const uint32_t column[] = {0};
    static const value five = {.type = &type_long, .as.i64 = 5};
    predicate where = {.kind = PRED_GT, .column = {column, 1}, .column_type = &type_long, .literals = &five, .n_literals = 1};
    table_source *t;
    table_scan scan;
    int seen = 0;
    TRY(delta_snapshot_each_file(s, true, keep, &seen, NULL));
    assert_int_equal(seen, 3);
    TRY(delta_table_source(s, &t, NULL));
    silt_status status = t->ops->scan(t, &where, a, &scan, NULL);
    if (status == SILT_OK) assert_int_equal(scan.n_files, 2); /* one is pruned by its statistics, however short memory is */
    (void)f;
    t->ops->release(t);
    return status;
}

static silt_status load_and_update(void *ctx) {
    log_fixture *f = ctx;
    delta_snapshot *s = NULL, *newer = NULL;
    arena *a = arena_new();
    if (!a) return SILT_NO_MEMORY;
    silt_status status = delta_snapshot_load(&f->env, LOG_ROOT, 1, &s, NULL);
    if (status == SILT_OK) status = delta_snapshot_update(&f->env, s, &newer, NULL);
    if (status == SILT_OK) {
        assert_int_equal(delta_snapshot_version(newer), 2);
        assert_int_equal(delta_snapshot_n_files(newer), 3);
        status = read_snapshot(f, newer, a);
    }
    delta_snapshot_release(newer);
    delta_snapshot_release(s);
    arena_free(a);
    return status;
}

static silt_status read_commit(void *ctx) {
    log_fixture *f = ctx;
    delta_commit commit;
    delta_history_entry *entries;
    size_t n;
    int64_t version;
    arena *a = arena_new();
    if (!a) return SILT_NO_MEMORY;
    silt_status status = delta_commit_read(&f->env, LOG_ROOT, 1, a, &commit, NULL);
    if (status == SILT_OK) assert_true(commit.n_adds == 2 && commit.n_removes == 1 && commit.n_txns == 1);
    if (status == SILT_OK) status = delta_history(&f->env, LOG_ROOT, -1, a, &entries, &n, NULL);
    if (status == SILT_OK) status = delta_version_at(&f->env, LOG_ROOT, 1001, &version, NULL);
    arena_free(a);
    return status;
}

static void torture(void **state) {
    log_fixture *f = *state;
    f->env.n_threads = 1;
    log_commit(f, 0, START ADD("f0"));
    log_commit(f, 1,
               "{'commitInfo':{'operation':'WRITE'}}\n" REMOVE("f0")
                   ADD_STATS("a%20b", "{`numRecords`:1,`minValues`:{`a`:1},`maxValues`:{`a`:2},`nullCount`:{`a`:0}}") ADD_STATS(
                       "f2", "{`numRecords`:1,`maxValues`:{`a`:9}}") "{'txn':{'appId':'x','version':1}}\n{'domainMetadata':{'"
                                                                     "domain':'d','configuration':'c','removed':false}}\n");
    log_commit(f, 2, ADD("f3") "{'txn':{'appId':'y','version':1}}\n" METADATA);
    no_memory_torture(load_and_update, f);
    no_memory_torture(read_commit, f);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test_setup_teardown(torture, log_setup, log_teardown)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
