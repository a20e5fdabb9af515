/*
 * Symlink manifests that a table keeps by its property, with a fault at each storage call of a statement that changes it: the statement's outcome does not depend on them; a manifest
 * is a whole list of files that are there, whatever happened; and a later GENERATE, or a later statement on the partition, makes them right again.
 */
#include "support/fault_world.h"

#define MAX_CALLS 300

static fault_world w;

/* Every manifest ends its last line, and every file that one names is there. */
static void check_whole(void) {
    shell("cd '%s/t/_symlink_format_manifest' && for f in $(find . -name manifest); do test -z \"$(tail -c 1 $f)\" && sed 's/^file://' $f | xargs -r -d '\\n' ls > /dev/null || exit 1; done", w.warehouse);
}

/* A copy without the scheme of local files, which the store under a hooked session does not have. */
static void copy_manifests(const char *name) {
    shell("rm -rf '%s/%s' && cp -r '%s/t/_symlink_format_manifest' '%s/%s' && find '%s/%s' -name manifest -exec sed -i 's/^file://' {} +", w.folder, name, w.warehouse, w.folder, name, w.folder, name);
}

/* What is there is what GENERATE makes of the newest version. */
static void check_right(silt_session *s) {
    copy_manifests("kept");
    must(s, "GENERATE symlink_format_manifest FOR TABLE t");
    copy_manifests("right");
    shell("diff -r '%s/kept' '%s/right'", w.folder, w.folder);
}

static const char *const statements[] = {"INSERT INTO t VALUES (9, 0), (9, 3)", "DELETE FROM t WHERE p = 1", "UPDATE t SET p = 2 WHERE p = 0", "RESTORE t TO VERSION AS OF 1"};

static bool run_once(const char *sql, store_fault fault, size_t at) {
    fault_order o = {.at = at, .fault = fault};
    silt_error err = {0};
    fault_world_fresh(&w);
    (void)world_run(&w, sql, fault_on_order, &o, &err);
    if (!o.given) return o.calls >= at;
    check_whole();
    silt_session *s = world_open(&w);
    must(s, "GENERATE symlink_format_manifest FOR TABLE t");
    must(s, "INSERT INTO t VALUES (10, 0), (10, 1), (10, 2)");
    check_right(s);
    silt_session_close(s);
    return true;
}

static void faults(void **state) {
    static const store_fault all[] = {FAULT_FAIL, FAULT_LOST_REPLY, FAULT_CRASH, FAULT_CRASH_AFTER};
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(statements); i++) {
        size_t at = 1;
        for (bool more = true; more; at += STEP) {
            assert_true(at < MAX_CALLS);
            more = run_once(statements[i], all[at / STEP % ARRAY_LEN(all)], at);
        }
    }
}

/* Without faults the hook alone keeps them right, also where two writers' hooks meet. */
static void kept(void **state) {
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(statements); i++) {
        fault_world_fresh(&w);
        silt_session *s = world_open(&w);
        must(s, "%s", statements[i]);
        check_right(s);
        silt_session_close(s);
    }
}

typedef struct rival {
    silt_session *session;
    bool done;
} rival;

/* Just before the first manifest is written, the other commits and writes its own. */
static store_fault let_rival(void *ctx, const char *call, str path, size_t nth) {
    rival *r = ctx;
    (void)nth;
    if (r->done || strcmp(call, "put") != 0 || str_find(path, STR("manifest")) == SIZE_MAX) return FAULT_NONE;
    r->done = true;
    must(r->session, "INSERT INTO t VALUES (20, 0), (20, 5)");
    return FAULT_NONE;
}

static void late_writer(void **state) {
    rival r = {0};
    silt_error err = {0};
    (void)state;
    fault_world_fresh(&w);
    r.session = world_open(&w);
    if (world_run(&w, "INSERT INTO t VALUES (19, 0)", let_rival, &r, &err) != SILT_OK) fail_msg("[%s] %s", err.condition, err.message);
    assert_true(r.done);
    check_right(r.session);
    silt_session_close(r.session);
}

static int begin(void **state) {
    (void)state;
    fault_world_begin(&w, "manifest");
    fault_world_set(&w, "silt.threads", "1");
    silt_session *s = world_open(&w);
    must(s, "CREATE TABLE t (id INT, p INT) USING DELTA PARTITIONED BY (p) LOCATION '%s/t' TBLPROPERTIES ('delta.compatibility.symlinkFormatManifest.enabled' = 'true')", w.warehouse);
    must(s, "INSERT INTO t VALUES (1, 0), (2, 1), (3, 2)");
    must(s, "INSERT INTO t VALUES (4, 0)");
    silt_session_close(s);
    fault_world_keep(&w);
    return 0;
}

static int end(void **state) {
    (void)state;
    fault_world_end(&w);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(faults),
        cmocka_unit_test(kept),
        cmocka_unit_test(late_writer),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, begin, end);
}
