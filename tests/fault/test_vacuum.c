/*
 * VACUUM with a failure, a lost reply or the death of its process at each of its storage calls in turn. Afterwards every version that was current within
 * the retention reads as before, nothing but garbage is gone, and the next VACUUM finishes the work. Then the races: a commit takes garbage back while
 * VACUUM is between looking and removing.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "support/hooked_session.h"

#define MAX_CALLS 400

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { STEP = 4 };
#else
enum { STEP = 1 };
#endif

static char folder[64];

static void shell(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void shell(const char *format, ...) {
    char command[2048];
    va_list args;
    va_start(args, format);
    vsnprintf(command, sizeof command, format, args);
    va_end(args);
    if (system(command) != 0) fail_msg("failed: %s", command);
}

static silt_session *open_plain(void) {
    char warehouse[96];
    snprintf(warehouse, sizeof warehouse, "%s/wh", folder);
    const char *const keys[] = {"spark.sql.warehouse.dir"}, *const values[] = {warehouse};
    silt_session_options options = {.struct_size = sizeof options, .keys = keys, .values = values, .n_settings = 1};
    silt_session *s;
    silt_error err = {0};
    if (silt_session_open(&options, &s, &err) != SILT_OK) fail_msg("[%s] %s", err.condition, err.message);
    return s;
}

static void must(silt_session *s, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void must(silt_session *s, const char *format, ...) {
    char sql[512];
    silt_error err = {0};
    va_list args;
    va_start(args, format);
    vsnprintf(sql, sizeof sql, format, args);
    va_end(args);
    if (session_execute(s, sql, &err) != SILT_OK) fail_msg("%s: [%s] %s %s", sql, err.condition, err.message, err.detail);
}

/* ---- the table: versions 0 to 4 are ten days old, 5 and 6 of today. 4 was current seven days ago, so 4, 5 and 6 are retained ---- */

enum { FIRST_RETAINED = 4, NEWEST = 6 };

static int64_t sum_of(silt_session *s, int version) {
    char sql[200];
    int64_t sum;
    silt_error err = {0};
    snprintf(sql, sizeof sql, "SELECT CAST(sum(id * 1000 + p * 100 + v) AS BIGINT) + count(*) FROM delta.`%s/t` VERSION AS OF %d", folder, version);
    if (session_number(s, sql, &sum, &err) != SILT_OK) fail_msg("%s: [%s] %s %s", sql, err.condition, err.message, err.detail);
    return sum;
}

static int64_t sums[NEWEST + 1];

/* "old" and "young" files that nobody knows; everything called kept… must stay. */
static void strew(void) {
    shell("cd '%s/t' && mkdir -p sub/deep _change_data _hidden _x=1 empty/inner && touch orphan.parquet sub/deep/orphan p=0/orphan _change_data/orphan "
          ".silt-left.tmp kept_young .kept_hidden _kept_hidden "
          "_hidden/kept _x=1/kept && touch -d '10 days ago' orphan.parquet sub/deep/orphan p=0/orphan _change_data/orphan .silt-left.tmp .kept_hidden "
          "_kept_hidden _hidden/kept _x=1/kept empty/inner empty",
          folder);
}

static int make_table(void **state) {
    (void)state;
    strcpy(folder, "/tmp/silt-vacuum-XXXXXX");
    if (!mkdtemp(folder)) return -1;
    silt_session *s = open_plain();
    must(s,
         "CREATE TABLE delta.`%s/t` (id INT, p INT, v INT) USING DELTA PARTITIONED BY (p) TBLPROPERTIES ('delta.enableDeletionVectors' = 'true', "
         "'delta.enableChangeDataFeed' = 'true')",
         folder);
    must(s, "INSERT INTO delta.`%s/t` SELECT CAST(id AS INT), CAST(id %% 2 AS INT), 0 FROM range(2000)", folder);
    must(s, "DELETE FROM delta.`%s/t` WHERE id %% 3 = 1", folder);
    must(s, "UPDATE delta.`%s/t` SET v = 5 WHERE id %% 9 = 2", folder);
    must(s, "DELETE FROM delta.`%s/t` WHERE p = 1", folder);
    shell("cd '%s/t' && sed -i -E 's/\"deletionTimestamp\":[0-9]+/\"deletionTimestamp\":'$(date -d '10 days ago' +%%s)000'/' _delta_log/*.json && rm -f "
          "_delta_log/*.crc && find . -type f -exec touch -d '10 days ago' {} +",
          folder);
    for (int v = 0; v <= FIRST_RETAINED; v++) shell("touch -d '10 days ago + %d seconds' '%s'/t/_delta_log/%020d.json", v, folder, v);
    must(s, "INSERT INTO delta.`%s/t` VALUES (5, 0, 1), (6, 1, 1)", folder);
    must(s, "DELETE FROM delta.`%s/t` WHERE id %% 7 = 3", folder);
    strew();
    for (int v = FIRST_RETAINED; v <= NEWEST; v++) sums[v] = sum_of(s, v);
    silt_session_close(s);
    shell("mv '%s/t' '%s/base'", folder, folder);
    return 0;
}

static int remove_all(void **state) {
    (void)state;
    shell("rm -rf '%s'", folder);
    return 0;
}

static void fresh(void) { shell("rm -rf '%s/t' && cp -a '%s/base' '%s/t'", folder, folder, folder); }

/* Names of all that is not the log's, ascending. */
static void list_to(const char *file) { shell("cd '%s/t' && find . -path ./_delta_log -prune -o -print | LC_ALL=C sort > '%s/%s'", folder, folder, file); }

/* Everything that a whole VACUUM leaves is still there. */
static void check_kept(const char *what) {
    char command[300];
    list_to("now");
    snprintf(command, sizeof command, "LC_ALL=C comm -23 '%s/kept' '%s/now' | grep .", folder, folder);
    if (system(command) == 0) fail_msg("%s: these are gone", what);
}

static void check_versions(silt_session *s, const char *what) {
    for (int v = FIRST_RETAINED; v <= NEWEST; v++)
        if (sum_of(s, v) != sums[v]) fail_msg("%s: version %d reads otherwise", what, v);
}

static void what_goes_and_what_stays(void **state) {
    (void)state;
    silt_session *s = open_plain();
    fresh();
    must(s, "VACUUM delta.`%s/t`", folder);
    list_to("kept");
    shell("cd '%s/t' && ! ls orphan.parquet sub/deep/orphan p=0/orphan _change_data/orphan .silt-left.tmp empty 2>/dev/null", folder);
    shell("cd '%s/t' && ls kept_young .kept_hidden _kept_hidden _hidden/kept _x=1/kept > /dev/null", folder);
    check_versions(s, "VACUUM");
    shell("cd '%s/t' && test $(find . -name '*.parquet' -not -path './_*' | wc -l) -lt $(find '%s/base' -name '*.parquet' -not -path '%s/base/_*' | wc -l)",
          folder, folder, folder);
    silt_session_close(s);
}

/* ---- faults ---- */

typedef struct order {
    size_t at, calls;
    store_fault fault;
} order;

static store_fault on_order(void *ctx, const char *call, str path, size_t nth) {
    order *o = ctx;
    (void)call, (void)path, (void)nth;
    return __atomic_add_fetch(&o->calls, 1, __ATOMIC_RELAXED) == o->at ? o->fault : FAULT_NONE;
}

static silt_status vacuum_hooked(store_fault_fn before, void *ctx, silt_error *err) {
    char warehouse[96], sql[128];
    snprintf(warehouse, sizeof warehouse, "%s/wh", folder);
    snprintf(sql, sizeof sql, "VACUUM delta.`%s/t`", folder);
    const char *const keys[] = {"spark.sql.warehouse.dir"}, *const values[] = {warehouse};
    hooked_session h;
    assert_int_equal(hooked_session_open(&h, keys, values, 1, before, ctx, err), SILT_OK);
    silt_status status = session_execute(h.session, sql, err);
    hooked_session_close(&h);
    return status;
}

static void a_fault_at_every_call(void **state) {
    static const store_fault faults[] = {FAULT_FAIL, FAULT_CRASH, FAULT_LOST_REPLY, FAULT_CRASH_AFTER};
    (void)state;
    bool more = true;
    size_t runs = 0;
    for (size_t at = 1; more; at += STEP, runs++) {
        char what[64];
        order o = {.at = at, .fault = faults[at / STEP % ARRAY_LEN(faults)]};
        silt_error err = {0};
        assert_true(at < MAX_CALLS);
        snprintf(what, sizeof what, "fault %d at call %zu", (int)o.fault, at);
        fresh();
        (void)vacuum_hooked(on_order, &o, &err);
        more = o.calls >= at;
        check_kept(what);
        silt_session *s = open_plain();
        check_versions(s, what);
        must(s, "VACUUM delta.`%s/t`", folder);
        check_versions(s, what);
        list_to("now");
        shell("cd '%s/t' && ! ls orphan.parquet sub/deep/orphan p=0/orphan _change_data/orphan 2>/dev/null", folder);
        must(s, "INSERT INTO delta.`%s/t` VALUES (9, 0, 0)", folder);
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
    shell("cd '%s/t/_delta_log' && grep '\"add\"' %020d.json > %020d.json.part && mv %020d.json.part %020d.json", folder, 1, NEWEST + 1, NEWEST + 1,
          NEWEST + 1);
    return FAULT_NONE;
}

static void files_that_are_taken_back_meanwhile_stay(void **state) {
    (void)state;
    rival r = {false};
    silt_error err = {0};
    fresh();
    if (vacuum_hooked(take_back, &r, &err) != SILT_OK) fail_msg("[%s] %s", err.condition, err.message);
    assert_true(r.done);
    silt_session *s = open_plain();
    assert_true(sum_of(s, NEWEST + 1) > sums[NEWEST]);
    check_versions(s, "taken back");
    shell("cd '%s/t' && ! ls orphan.parquet 2>/dev/null", folder);
    silt_session_close(s);
}

/* An ALTER in the same moment costs VACUUM's entry a second try, not the statement. */
static store_fault alter_meanwhile(void *ctx, const char *call, str path, size_t nth) {
    rival *r = ctx;
    (void)nth;
    if (r->done || !is_commit_put(call, path)) return FAULT_NONE;
    r->done = true;
    silt_session *s = open_plain();
    must(s, "ALTER TABLE delta.`%s/t` SET TBLPROPERTIES ('note' = 'x')", folder);
    silt_session_close(s);
    return FAULT_NONE;
}

static void a_change_of_metadata_meanwhile_is_survived(void **state) {
    (void)state;
    rival r = {false};
    silt_error err = {0};
    fresh();
    if (vacuum_hooked(alter_meanwhile, &r, &err) != SILT_OK) fail_msg("[%s] %s", err.condition, err.message);
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
