/* Clean-up of the log: what expires, and that nothing which must stay readable goes. Times by the memory store's clock; days are UTC. */
#include "write_support.h"

#include <stdio.h>
#include <stdlib.h>

#define DAY INT64_C(86400000)
#define NOON (20000 * DAY + DAY / 2) /* of day 20000 */

typedef struct fixture {
    store *store;
    delta_env env;
    arena *arena;
    silt_error err;
} fixture;

/* Versions 0 … n-1; version v was committed ages[v] days before NOON. Checkpoints are named only: cleaning up does not open classic ones. */
static void open_fixture(fixture *f, const char *properties, const int *ages, int n) {
    *f = (fixture){.arena = arena_new()};
    assert_int_equal(store_memory_open(NOON - ages[0] * DAY, &f->store, NULL), SILT_OK);
    f->env = (delta_env){.store = f->store, .n_threads = 1};
    assert_created(&f->env, &(table_spec){.properties = properties});
    for (int v = 1; v < n; v++) {
        char path[16];
        snprintf(path, sizeof path, "f%d", v);
        store_memory_set_clock(f->store, NOON - ages[v] * DAY);
        assert_int_equal(assert_appended(&f->env, path), v);
    }
    store_memory_set_clock(f->store, NOON);
}

static void close_fixture(fixture *f) {
    arena_free(f->arena);
    store_close(f->store);
}

static void put(fixture *f, const char *name) {
    str path = arena_printf(f->arena, "/t/_delta_log/%s", name);
    assert_ok(store_put(f->store, path, STR("PAR1"), STORE_PUT_REPLACE, &f->err), &f->err);
}

static void put_checkpoint(fixture *f, int version) {
    char name[64];
    snprintf(name, sizeof name, "%020d.checkpoint.parquet", version);
    put(f, name);
}

static size_t clean(fixture *f, int version, int64_t now) {
    delta_snapshot *s;
    size_t removed = 0;
    assert_ok(delta_snapshot_load(&f->env, ROOT, version, &s, &f->err), &f->err);
    put_checkpoint(f, version);
    assert_ok(delta_log_cleanup(s, now, &removed, &f->err), &f->err);
    delta_snapshot_release(s);
    return removed;
}

static bool there(fixture *f, int version, const char *suffix) {
    char name[64];
    snprintf(name, sizeof name, "%020d%s", version, suffix);
    return write_log_text(f->store, name, f->arena) != NULL;
}

/* Commits from `from` on, and no earlier ones. */
static void assert_starts_at(fixture *f, int from, int n) {
    for (int v = 0; v < n; v++) {
        assert_int_equal(there(f, v, ".json"), v >= from);
        assert_int_equal(there(f, v, ".crc"), v >= from);
    }
}

/* Retention 10 days, cutoff midnight of day 19990: versions 0 to 3 are older, 3 is the newest of them. A checkpoint at 3. */
static void cleans_up_to_the_checkpoint(void **state) {
    (void)state;
    fixture f;
    const int ages[] = {40, 30, 20, 15, 9, 5, 1};
    delta_snapshot *s;
    size_t removed;
    open_fixture(&f, "delta.logRetentionDuration=interval 10 days", ages, 7);
    assert_ok(delta_snapshot_load(&f.env, ROOT, 6, &s, &f.err), &f.err);
    put_checkpoint(&f, 1);
    put_checkpoint(&f, 3);
    put_checkpoint(&f, 6);
    assert_ok(delta_log_cleanup(s, NOON, &removed, &f.err), &f.err);
    assert_int_equal(removed, 3 + 3 + 1); /* commits and checksums 0 to 2, checkpoint 1 */
    assert_starts_at(&f, 3, 7);
    assert_true(there(&f, 3, ".checkpoint.parquet"));
    assert_true(there(&f, 6, ".checkpoint.parquet"));
    assert_ok(delta_log_cleanup(s, NOON, &removed, &f.err), &f.err);
    assert_int_equal(removed, 0);
    delta_snapshot_release(s);
    close_fixture(&f);
}

/* The state as of the cutoff is version 3; the checkpoint after it does not hold it, so the one before is what everything hangs on. */
static void keeps_what_the_cutoff_needs(void **state) {
    (void)state;
    fixture f;
    const int ages[] = {40, 30, 20, 15, 9, 5, 1};
    delta_snapshot *s;
    size_t removed;
    open_fixture(&f, "delta.logRetentionDuration=interval 10 days", ages, 7);
    assert_ok(delta_snapshot_load(&f.env, ROOT, 6, &s, &f.err), &f.err);
    put_checkpoint(&f, 2);
    put_checkpoint(&f, 4);
    assert_ok(delta_log_cleanup(s, NOON, &removed, &f.err), &f.err);
    assert_starts_at(&f, 2, 7);
    delta_snapshot_release(s);
    close_fixture(&f);
}

static void nothing_without_an_old_checkpoint(void **state) {
    (void)state;
    fixture f;
    const int ages[] = {40, 30, 20, 15, 9, 5, 1};
    open_fixture(&f, "delta.logRetentionDuration=interval 10 days", ages, 7);
    assert_int_equal(clean(&f, 6, NOON), 0);
    assert_starts_at(&f, 0, 7);
    close_fixture(&f);
}

static void nothing_within_the_retention(void **state) {
    (void)state;
    fixture f;
    const int ages[] = {29, 20, 10, 1};
    delta_snapshot *s;
    size_t removed;
    open_fixture(&f, NULL, ages, 4); /* 30 days by default */
    assert_ok(delta_snapshot_load(&f.env, ROOT, 3, &s, &f.err), &f.err);
    put_checkpoint(&f, 2);
    assert_ok(delta_log_cleanup(s, NOON, &removed, &f.err), &f.err);
    assert_int_equal(removed, 0);
    delta_snapshot_release(s);
    close_fixture(&f);
}

/* The cutoff is cut down to midnight: a commit of exactly ten days ago, at noon, is younger than it. */
static void the_cutoff_is_midnight(void **state) {
    (void)state;
    fixture f;
    const int ages[] = {20, 10, 5};
    delta_snapshot *s;
    size_t removed;
    open_fixture(&f, "delta.logRetentionDuration=interval 10 days", ages, 3);
    assert_ok(delta_snapshot_load(&f.env, ROOT, 2, &s, &f.err), &f.err);
    put_checkpoint(&f, 1);
    assert_ok(delta_log_cleanup(s, NOON, &removed, &f.err), &f.err);
    assert_int_equal(removed, 0);
    assert_ok(delta_log_cleanup(s, NOON + DAY, &removed, &f.err), &f.err);
    assert_int_equal(removed, 2);
    delta_snapshot_release(s);
    close_fixture(&f);
}

/* Times that run backwards do not expire a version before an older one: 1 counts as just after 0. */
static void times_are_made_increasing(void **state) {
    (void)state;
    fixture f;
    const int ages[] = {5, 40, 30, 1};
    delta_snapshot *s;
    size_t removed;
    open_fixture(&f, "delta.logRetentionDuration=interval 10 days", ages, 4);
    assert_ok(delta_snapshot_load(&f.env, ROOT, 3, &s, &f.err), &f.err);
    put_checkpoint(&f, 2);
    assert_ok(delta_log_cleanup(s, NOON, &removed, &f.err), &f.err);
    assert_int_equal(removed, 0);
    delta_snapshot_release(s);
    close_fixture(&f);
}

static void incomplete_checkpoints_do_not_count(void **state) {
    (void)state;
    fixture f;
    const int ages[] = {40, 30, 20, 1};
    delta_snapshot *s;
    size_t removed;
    open_fixture(&f, "delta.logRetentionDuration=interval 10 days", ages, 4);
    assert_ok(delta_snapshot_load(&f.env, ROOT, 3, &s, &f.err), &f.err);
    put(&f, "00000000000000000002.checkpoint.0000000001.0000000002.parquet");
    assert_ok(delta_log_cleanup(s, NOON, &removed, &f.err), &f.err);
    assert_int_equal(removed, 0);
    put(&f, "00000000000000000002.checkpoint.0000000002.0000000002.parquet");
    assert_ok(delta_log_cleanup(s, NOON, &removed, &f.err), &f.err);
    assert_int_equal(removed, 4);
    assert_starts_at(&f, 2, 4);
    delta_snapshot_release(s);
    close_fixture(&f);
}

static void foreign_files_stay(void **state) {
    (void)state;
    fixture f;
    const int ages[] = {40, 30, 20, 1};
    delta_snapshot *s;
    size_t removed;
    open_fixture(&f, "delta.logRetentionDuration=interval 10 days", ages, 4);
    assert_ok(delta_snapshot_load(&f.env, ROOT, 3, &s, &f.err), &f.err);
    put_checkpoint(&f, 2);
    put(&f, "00000000000000000000.json.bak");
    put(&f, "notes.txt");
    put(&f, "00000000000000000000.00000000000000000001.compacted.json");
    assert_ok(delta_log_cleanup(s, NOON, &removed, &f.err), &f.err);
    assert_non_null(write_log_text(f.store, "00000000000000000000.json.bak", f.arena));
    assert_non_null(write_log_text(f.store, "notes.txt", f.arena));
    assert_null(write_log_text(f.store, "00000000000000000000.00000000000000000001.compacted.json", f.arena));
    delta_snapshot_release(s);
    close_fixture(&f);
}

static void checkpoint_protection(void **state) {
    (void)state;
    fixture f;
    const int ages[] = {40, 30, 20, 15, 1};
    delta_snapshot *s;
    size_t removed;
    open_fixture(&f, "delta.logRetentionDuration=interval 10 days|delta.feature.checkpointProtection=supported|"
                     "delta.requireCheckpointProtectionBeforeVersion=3", ages, 5);
    assert_ok(delta_snapshot_load(&f.env, ROOT, 4, &s, &f.err), &f.err);
    put_checkpoint(&f, 2);
    assert_ok(delta_log_cleanup(s, NOON, &removed, &f.err), &f.err);
    assert_int_equal(removed, 0); /* version 2 is within what may only go all at once */
    put_checkpoint(&f, 3);
    assert_ok(delta_log_cleanup(s, NOON, &removed, &f.err), &f.err);
    assert_starts_at(&f, 3, 5);
    delta_snapshot_release(s);
    close_fixture(&f);
}

/* ---- sidecars ---- */

static silt_status write_anything(parquet_service *p, str local_path, const data_type *columns, struct ArrowArrayStream *rows, silt_error *err) {
    char path[4096];
    (void)p, (void)columns;
    for (struct ArrowArray batch; rows->get_next(rows, &batch) == 0 && batch.release;) batch.release(&batch);
    rows->release(rows);
    snprintf(path, sizeof path, "%.*s", STR_ARG(local_path));
    FILE *out = fopen(path, "wb");
    if (!out) return err_IO_ERROR(err, "fopen", local_path);
    fputs("PAR1", out);
    fclose(out);
    return SILT_OK;
}

/* Silt's own classic checkpoints: no column for sidecars. */
static silt_status plain_schema(parquet_service *p, str local_path, arena *a, const data_type **out, silt_error *err) {
    (void)p, (void)local_path;
    field *add = ARENA_NEW(a, field);
    if (!add) return error_no_memory(err);
    *add = field_make(STR("add"), &type_string, true);
    *out = type_struct(a, add, 1);
    return SILT_OK;
}

static void put_text(fixture *f, const char *name, const char *text) {
    str path = arena_printf(f->arena, "/t/_delta_log/%s", name);
    assert_ok(store_put(f->store, path, str_of(text), STORE_PUT_REPLACE, &f->err), &f->err);
}

/* a: of a checkpoint that goes. b: of one that stays. orphan: of none. young: of one that may still be written. */
static void sidecars_go_with_their_checkpoints(void **state) {
    (void)state;
    fixture f;
    const int ages[] = {40, 30, 20, 15, 1};
    parquet_service parquet = {.write = write_anything, .read_schema = plain_schema};
    delta_snapshot *s;
    size_t removed;
    open_fixture(&f, "delta.logRetentionDuration=interval 10 days|delta.checkpointPolicy=v2", ages, 5);
    f.env.parquet = &parquet;
    assert_ok(delta_snapshot_load(&f.env, ROOT, 4, &s, &f.err), &f.err);
    store_memory_set_clock(f.store, NOON - 30 * DAY);
    put_text(&f, "_sidecars/a.parquet", "x");
    put_text(&f, "_sidecars/b b.parquet", "x");
    put_text(&f, "_sidecars/orphan.parquet", "x");
    store_memory_set_clock(f.store, NOON - DAY / 4);
    put_text(&f, "_sidecars/young.parquet", "x");
    put_text(&f, "00000000000000000001.checkpoint.00000000-0000-0000-0000-000000000001.json", "{\"sidecar\":{\"path\":\"a.parquet\"}}\n");
    put_text(&f, "00000000000000000003.checkpoint.00000000-0000-0000-0000-000000000003.json",
             "{\"checkpointMetadata\":{\"version\":3}}\n{\"sidecar\":{\"path\":\"b%20b.parquet\"}}\n");
    assert_ok(delta_log_cleanup(s, NOON, &removed, &f.err), &f.err);
    assert_starts_at(&f, 3, 5);
    assert_null(write_log_text(f.store, "_sidecars/a.parquet", f.arena));
    assert_null(write_log_text(f.store, "_sidecars/orphan.parquet", f.arena));
    assert_non_null(write_log_text(f.store, "_sidecars/b b.parquet", f.arena));
    assert_non_null(write_log_text(f.store, "_sidecars/young.parquet", f.arena));
    /* readers that do not know V2 find a classic checkpoint */
    assert_true(there(&f, 4, ".checkpoint.parquet"));
    delta_snapshot_release(s);
    close_fixture(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cleans_up_to_the_checkpoint),
        cmocka_unit_test(keeps_what_the_cutoff_needs),
        cmocka_unit_test(nothing_without_an_old_checkpoint),
        cmocka_unit_test(nothing_within_the_retention),
        cmocka_unit_test(the_cutoff_is_midnight),
        cmocka_unit_test(times_are_made_increasing),
        cmocka_unit_test(incomplete_checkpoints_do_not_count),
        cmocka_unit_test(foreign_files_stay),
        cmocka_unit_test(checkpoint_protection),
        cmocka_unit_test(sidecars_go_with_their_checkpoints),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
