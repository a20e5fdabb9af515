/*
 * Symlink manifests that a table keeps by its property, with a fault at each storage call of a statement that changes it: the statement's outcome does not depend on them; a manifest
 * is a whole list of files that are there, whatever happened; and a later GENERATE, or a later statement on the partition, makes them right again.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "support/hooked_session.h"

#define MAX_CALLS 300

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { STEP = 4 };
#else
enum { STEP = 1 };
#endif

static char folder[64], base[96], warehouse[96];

static void shell(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void shell(const char *format, ...) {
    char command[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(command, sizeof command, format, args);
    va_end(args);
    if (system(command) != 0) fail_msg("%s", command);
}

static silt_session *open_plain(void) {
    const char *const keys[] = {"spark.sql.warehouse.dir"}, *const values[] = {warehouse};
    silt_session_options options = {.struct_size = sizeof options, .keys = keys, .values = values, .n_settings = 1};
    silt_session *s;
    silt_error err = {0};
    if (silt_session_open(&options, &s, &err) != SILT_OK) fail_msg("[%s] %s", err.condition, err.message);
    return s;
}

static void must(silt_session *s, const char *sql) {
    silt_error err = {0};
    if (session_execute(s, sql, &err) != SILT_OK) fail_msg("%s: [%s] %s %s", sql, err.condition, err.message, err.detail);
}

/* Every manifest ends its last line, and every file that one names is there. */
static void check_whole(void) {
    shell("cd '%s/t/_symlink_format_manifest' && for f in $(find . -name manifest); do test -z \"$(tail -c 1 $f)\" && sed 's/^file://' $f | xargs -r -d '\\n' ls > /dev/null || exit 1; done", warehouse);
}

/* A copy without the scheme of local files, which the store under a hooked session does not have. */
static void copy_manifests(const char *name) {
    shell("rm -rf '%s/%s' && cp -r '%s/t/_symlink_format_manifest' '%s/%s' && find '%s/%s' -name manifest -exec sed -i 's/^file://' {} +", folder, name, warehouse, folder, name, folder, name);
}

/* What is there is what GENERATE makes of the newest version. */
static void check_right(silt_session *s) {
    copy_manifests("kept");
    must(s, "GENERATE symlink_format_manifest FOR TABLE t");
    copy_manifests("right");
    shell("diff -r '%s/kept' '%s/right'", folder, folder);
}

typedef struct order {
    size_t at, calls;
    store_fault fault;
} order;

static store_fault on_order(void *ctx, const char *call, str path, size_t nth) {
    order *o = ctx;
    (void)call, (void)path, (void)nth;
    return __atomic_add_fetch(&o->calls, 1, __ATOMIC_RELAXED) == o->at ? o->fault : FAULT_NONE;
}

static const char *const statements[] = {"INSERT INTO t VALUES (9, 0), (9, 3)", "DELETE FROM t WHERE p = 1", "UPDATE t SET p = 2 WHERE p = 0", "RESTORE t TO VERSION AS OF 1"};

static bool run_once(const char *sql, store_fault fault, size_t at) {
    const char *const keys[] = {"spark.sql.warehouse.dir"}, *const values[] = {warehouse};
    order o = {.at = at, .fault = fault};
    hooked_session h;
    silt_error err = {0};
    shell("rm -rf '%s' && cp -r '%s' '%s'", warehouse, base, warehouse);
    assert_int_equal(hooked_session_open(&h, keys, values, 1, on_order, &o, &err), SILT_OK);
    (void)session_execute(h.session, sql, &err);
    hooked_session_close(&h);
    check_whole();
    silt_session *s = open_plain();
    must(s, "GENERATE symlink_format_manifest FOR TABLE t");
    must(s, "INSERT INTO t VALUES (10, 0), (10, 1), (10, 2)");
    check_right(s);
    silt_session_close(s);
    return o.calls >= at;
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
        shell("rm -rf '%s' && cp -r '%s' '%s'", warehouse, base, warehouse);
        silt_session *s = open_plain();
        must(s, statements[i]);
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
    const char *const keys[] = {"spark.sql.warehouse.dir", "silt.threads"}, *const values[] = {warehouse, "1"};
    rival r = {0};
    hooked_session h;
    silt_error err = {0};
    (void)state;
    shell("rm -rf '%s' && cp -r '%s' '%s'", warehouse, base, warehouse);
    r.session = open_plain();
    assert_int_equal(hooked_session_open(&h, keys, values, 2, let_rival, &r, &err), SILT_OK);
    assert_int_equal(session_execute(h.session, "INSERT INTO t VALUES (19, 0)", &err), SILT_OK);
    hooked_session_close(&h);
    assert_true(r.done);
    check_right(r.session);
    silt_session_close(r.session);
}

static int begin(void **state) {
    (void)state;
    strcpy(folder, "/tmp/silt-manifest-XXXXXX");
    if (!mkdtemp(folder)) return -1;
    snprintf(base, sizeof base, "%s/base", folder);
    snprintf(warehouse, sizeof warehouse, "%s/wh", folder);
    char create[300];
    silt_session *s = open_plain();
    snprintf(create, sizeof create, "CREATE TABLE t (id INT, p INT) USING DELTA PARTITIONED BY (p) LOCATION '%s/t' TBLPROPERTIES ('delta.compatibility.symlinkFormatManifest.enabled' = 'true')", warehouse);
    must(s, create);
    must(s, "INSERT INTO t VALUES (1, 0), (2, 1), (3, 2)");
    must(s, "INSERT INTO t VALUES (4, 0)");
    silt_session_close(s);
    shell("mv '%s' '%s'", warehouse, base);
    return 0;
}

static int end(void **state) {
    (void)state;
    shell("rm -rf '%s'", folder);
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
