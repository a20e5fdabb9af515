/*
 * VACUUM with a failure, a lost reply or the death of its process at each of its storage calls in turn. Afterwards every version that was current within
 * the retention reads as before, nothing but garbage is gone, and the next VACUUM finishes the work. Then the races: a commit takes garbage back while
 * VACUUM is between looking and removing.
 */
#include "support/fault_world.h"

#define MAX_CALLS 400

static fault_world w;

/* ---- the table: versions 0 to 4 are ten days old, 5 and 6 of today. 4 was current seven days ago, so 4, 5 and 6 are retained ---- */

enum { FIRST_RETAINED = 4, NEWEST = 6 };

static int64_t sum_of(silt_session *s, int version) {
    return number(s, "SELECT CAST(sum(id * 1000 + p * 100 + v) AS BIGINT) + count(*) FROM t VERSION AS OF %d", version);
}

static int64_t sums[NEWEST + 1];

/* "old" and "young" files that nobody knows; everything called kept… must stay. */
static void strew(void) {
    shell("cd '%s/t' && mkdir -p sub/deep _change_data _hidden _x=1 empty/inner && touch orphan.parquet sub/deep/orphan p=0/orphan _change_data/orphan "
          ".silt-left.tmp kept_young .kept_hidden _kept_hidden "
          "_hidden/kept _x=1/kept && touch -d '10 days ago' orphan.parquet sub/deep/orphan p=0/orphan _change_data/orphan .silt-left.tmp .kept_hidden "
          "_kept_hidden _hidden/kept _x=1/kept empty/inner empty",
          w.warehouse);
}

static int make_table(void **state) {
    (void)state;
    fault_world_begin(&w, "vacuum");
    silt_session *s = world_open(&w);
    must(s, "CREATE TABLE t (id INT, p INT, v INT) USING DELTA PARTITIONED BY (p) TBLPROPERTIES ('delta.enableDeletionVectors' = 'true', 'delta.enableChangeDataFeed' = 'true')");
    must(s, "INSERT INTO t SELECT CAST(id AS INT), CAST(id %% 2 AS INT), 0 FROM range(2000)");
    must(s, "DELETE FROM t WHERE id %% 3 = 1");
    must(s, "UPDATE t SET v = 5 WHERE id %% 9 = 2");
    must(s, "DELETE FROM t WHERE p = 1");
    shell("cd '%s/t' && sed -i -E 's/\"deletionTimestamp\":[0-9]+/\"deletionTimestamp\":'$(date -d '10 days ago' +%%s)000'/' _delta_log/*.json && rm -f "
          "_delta_log/*.crc && find . -type f -exec touch -d '10 days ago' {} +",
          w.warehouse);
    for (int v = 0; v <= FIRST_RETAINED; v++) shell("touch -d '10 days ago + %d seconds' '%s'/t/_delta_log/%020d.json", v, w.warehouse, v);
    must(s, "INSERT INTO t VALUES (5, 0, 1), (6, 1, 1)");
    must(s, "DELETE FROM t WHERE id %% 7 = 3");
    strew();
    for (int v = FIRST_RETAINED; v <= NEWEST; v++) sums[v] = sum_of(s, v);
    silt_session_close(s);
    fault_world_keep(&w);
    return 0;
}

static int remove_all(void **state) {
    (void)state;
    fault_world_end(&w);
    return 0;
}

/* Names of all that is not the log's, ascending. */
static void list_to(const char *file) { shell("cd '%s/t' && find . -path ./_delta_log -prune -o -print | LC_ALL=C sort > '%s/%s'", w.warehouse, w.folder, file); }

/* Everything that a whole VACUUM leaves is still there. */
static void check_kept(const char *what) {
    char command[300];
    list_to("now");
    snprintf(command, sizeof command, "LC_ALL=C comm -23 '%s/kept' '%s/now' | grep .", w.folder, w.folder);
    if (system(command) == 0) fail_msg("%s: these are gone", what);
}

static void check_versions(silt_session *s, const char *what) {
    for (int v = FIRST_RETAINED; v <= NEWEST; v++)
        if (sum_of(s, v) != sums[v]) fail_msg("%s: version %d reads otherwise", what, v);
}

static void what_goes_and_what_stays(void **state) {
    (void)state;
    silt_session *s = world_open(&w);
    fault_world_fresh(&w);
    must(s, "VACUUM t");
    list_to("kept");
    shell("cd '%s/t' && ! ls orphan.parquet sub/deep/orphan p=0/orphan _change_data/orphan .silt-left.tmp empty 2>/dev/null", w.warehouse);
    shell("cd '%s/t' && ls kept_young .kept_hidden _kept_hidden _hidden/kept _x=1/kept > /dev/null", w.warehouse);
    check_versions(s, "VACUUM");
    shell("cd '%s/t' && test $(find . -name '*.parquet' -not -path './_*' | wc -l) -lt $(find '%s/t' -name '*.parquet' -not -path '%s/t/_*' | wc -l)",
          w.warehouse, w.base, w.base);
    silt_session_close(s);
}

/* ---- faults ---- */

static void a_fault_at_every_call(void **state) {
    static const store_fault faults[] = {FAULT_FAIL, FAULT_CRASH, FAULT_LOST_REPLY, FAULT_CRASH_AFTER};
    (void)state;
    bool more = true;
    size_t runs = 0;
    for (size_t at = 1; more; at += STEP, runs++) {
        char what[64];
        fault_order o = {.at = at, .fault = faults[at / STEP % ARRAY_LEN(faults)]};
        silt_error err = {0};
        assert_true(at < MAX_CALLS);
        snprintf(what, sizeof what, "fault %d at call %zu", (int)o.fault, at);
        fault_world_fresh(&w);
        (void)world_run(&w, "VACUUM t", fault_on_order, &o, &err);
        more = o.calls >= at;
        check_kept(what);
        silt_session *s = world_open(&w);
        check_versions(s, what);
        must(s, "VACUUM t");
        check_versions(s, what);
        list_to("now");
        shell("cd '%s/t' && ! ls orphan.parquet sub/deep/orphan p=0/orphan _change_data/orphan 2>/dev/null", w.warehouse);
        must(s, "INSERT INTO t VALUES (9, 0, 0)");
        silt_session_close(s);
    }
    print_message("# %zu runs\n", runs);
}

/* ---- races ---- */

typedef struct rival {
    bool done;
} rival;

/* Before VACUUM tells of its start, somebody commits files of version 1 again, as RESTORE does. */
static store_fault take_back(void *ctx, const char *call, str path, size_t nth) {
    rival *r = ctx;
    (void)nth;
    if (r->done || !is_commit_put(call, path)) return FAULT_NONE;
    r->done = true;
    shell("cd '%s/t/_delta_log' && grep '\"add\"' %020d.json > %020d.json.part && mv %020d.json.part %020d.json", w.warehouse, 1, NEWEST + 1, NEWEST + 1,
          NEWEST + 1);
    return FAULT_NONE;
}

static void files_that_are_taken_back_meanwhile_stay(void **state) {
    (void)state;
    rival r = {false};
    silt_error err = {0};
    fault_world_fresh(&w);
    if (world_run(&w, "VACUUM t", take_back, &r, &err) != SILT_OK) fail_msg("[%s] %s", err.condition, err.message);
    assert_true(r.done);
    silt_session *s = world_open(&w);
    assert_true(sum_of(s, NEWEST + 1) > sums[NEWEST]);
    check_versions(s, "taken back");
    shell("cd '%s/t' && ! ls orphan.parquet 2>/dev/null", w.warehouse);
    silt_session_close(s);
}

/* An ALTER in the same moment costs VACUUM's entry a second try, not the statement. */
static store_fault alter_meanwhile(void *ctx, const char *call, str path, size_t nth) {
    rival *r = ctx;
    (void)nth;
    if (r->done || !is_commit_put(call, path)) return FAULT_NONE;
    r->done = true;
    silt_session *s = world_open(&w);
    must(s, "ALTER TABLE t SET TBLPROPERTIES ('note' = 'x')");
    silt_session_close(s);
    return FAULT_NONE;
}

static void a_change_of_metadata_meanwhile_is_survived(void **state) {
    (void)state;
    rival r = {false};
    silt_error err = {0};
    fault_world_fresh(&w);
    if (world_run(&w, "VACUUM t", alter_meanwhile, &r, &err) != SILT_OK) fail_msg("[%s] %s", err.condition, err.message);
    check_kept("altered meanwhile");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_goes_and_what_stays),
        cmocka_unit_test(a_fault_at_every_call),
        cmocka_unit_test(files_that_are_taken_back_meanwhile_stay),
        cmocka_unit_test(a_change_of_metadata_meanwhile_is_survived),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, make_table, remove_all);
}
