/* The rows of stores.h, and running the tests over them. */
#include "stores.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/uri.h"
#include "store/settings.h"

/* ---- without a server ---- */

static store_fault no_fault(void *ctx, const char *call, str path, size_t nth_call) {
    (void)ctx;
    (void)call;
    (void)path;
    (void)nth_call;
    return FAULT_NONE;
}

static silt_status open_local(fixture *f, store **out, silt_error *err) {
    (void)f;
    return store_local_open(out, err);
}

static silt_status open_memory(fixture *f, store **out, silt_error *err) {
    (void)f;
    return store_memory_open(1700000000000, out, err);
}

static silt_status behind_fault(fixture *f, silt_status opened, store **out, silt_error *err) {
    f->inner = *out;
    return opened == SILT_OK ? store_fault_open(f->inner, no_fault, NULL, out, err) : opened;
}

static silt_status open_fault_local(fixture *f, store **out, silt_error *err) { return behind_fault(f, open_local(f, out, err), out, err); }
static silt_status open_fault_memory(fixture *f, store **out, silt_error *err) { return behind_fault(f, open_memory(f, out, err), out, err); }

/* ---- with one ---- */

typedef struct pair {
    const char *key;
    const char *value;
} pair;

static str get_pair(void *ctx, const char *key) {
    for (const pair *p = ctx; p->key; p++)
        if (strcmp(p->key, key) == 0) return str_of(p->value);
    return STR_NULL;
}

static silt_status open_with(store_open_fn open, const char *authority, pair *pairs, store **out, silt_error *err) {
    store_settings settings = {.get = get_pair, .ctx = pairs};
    return open(str_of(authority), &settings, out, err);
}

/* SILT_TEST_<STORE><_WHAT>; never NULL, since the starters print all of them. */
static const char *told(const char *variable, const char *what) {
    char name[128];
    snprintf(name, sizeof name, "%s%s", variable, what);
    const char *value = getenv(name);
    return value ? value : "";
}

#define WRONG_KEY "d3Jvbmcga2V5LCB3cm9uZyBrZXksIHdyb25nIGtleSE="

static silt_status open_s3(fixture *f, store **out, silt_error *err) {
    const char *v = f->kind->variable;
    pair pairs[] = {{"fs.s3a.endpoint", told(v, "")},
                    {"fs.s3a.endpoint.region", "us-east-1"},
                    {"fs.s3a.path.style.access", "true"},
                    {"fs.s3a.access.key", told(v, "_ACCESS_KEY")},
                    {"fs.s3a.secret.key", f->wrong_key ? WRONG_KEY : told(v, "_SECRET_KEY")},
                    {NULL, NULL}};
    return open_with(store_s3a_open, told(v, "_BUCKET"), pairs, out, err);
}

static silt_status open_azure(fixture *f, store **out, silt_error *err) {
    const char *v = f->kind->variable;
    char authority[256], key[256];
    snprintf(authority, sizeof authority, "%s@%s.dfs.core.windows.net", told(v, "_CONTAINER"), told(v, "_ACCOUNT"));
    snprintf(key, sizeof key, "fs.azure.account.key.%s.dfs.core.windows.net", told(v, "_ACCOUNT"));
    pair pairs[] = {{"silt.azure.endpoint", told(v, "")}, {key, f->wrong_key ? WRONG_KEY : told(v, "_KEY")}, {NULL, NULL}};
    return open_with(store_azure_open, authority, pairs, out, err);
}

static silt_status open_gcs(fixture *f, store **out, silt_error *err) {
    const char *v = f->kind->variable;
    pair pairs[] = {{"fs.gs.storage.root.url", told(v, "")}, {"fs.gs.auth.type", "UNAUTHENTICATED"}, {NULL, NULL}};
    return open_with(store_gcs_open, told(v, "_BUCKET"), pairs, out, err);
}

/* No keys here but users: somebody who may not enter the folder. */
static silt_status open_hdfs(fixture *f, store **out, silt_error *err) {
    const char *endpoint = told(f->kind->variable, "");
    pair pairs[] = {{"silt.hdfs.user", f->wrong_key ? "stranger" : "hdfs"}, {"fs.permissions.umask-mode", "077"}, {NULL, NULL}};
    const char *host = strstr(endpoint, "://");
    assert_non_null(host);
    return open_with(store_webhdfs_open, host + 3, pairs, out, err);
}

/* ---- the rows ---- */

static const char *const none[] = {NULL};
static const char *const utf8_only[] = {"not utf8 \xff\xfe", NULL};

static const char *const azure_cannot[] = {"not utf8 \xff\xfe", "new\nline", "tab\tand\x01", NULL}; /* its lists are XML 1.0 */
static const char *const gcs_cannot[] = {"not utf8 \xff\xfe", "new\nline", NULL};
static const char *const hdfs_cannot[] = {"not utf8 \xff\xfe", "a:b", NULL};

static const contract_store rows[] = {
    {"local", HAS_FOLDERS | IS_LOCAL | IS_SHARED | TELLS_REMOVED, NULL, 0, none, open_local},
    {"memory", HAS_FOLDERS | FIXED_CLOCK | TELLS_REMOVED, NULL, 0, none, open_memory},
    {"fault_around_local", HAS_FOLDERS | IS_LOCAL | TELLS_REMOVED, NULL, 0, none, open_fault_local},
    {"fault_around_memory", HAS_FOLDERS | FIXED_CLOCK | TELLS_REMOVED, NULL, 0, none, open_fault_memory},
    {"s3", IS_SERVER | IS_SHARED | CHECKS_KEYS, "SILT_TEST_S3", 1024, utf8_only, open_s3},
    {"s3_weed", IS_SERVER | IS_SHARED | CHECKS_KEYS, "SILT_TEST_S3_WEED", 700, utf8_only, open_s3},
    {"hdfs", HAS_FOLDERS | SMALL_PAGES | IS_SERVER | IS_SHARED | CHECKS_KEYS | TELLS_REMOVED | OTHER_ORDER, "SILT_TEST_HDFS", 0, hdfs_cannot, open_hdfs},
    {"azure", IS_SERVER | IS_SHARED | CHECKS_KEYS | TELLS_REMOVED, "SILT_TEST_AZURE", 1024, azure_cannot, open_azure},
    {"gcs", IS_SERVER | IS_SHARED | TELLS_REMOVED, "SILT_TEST_GCS", 1024, gcs_cannot, open_gcs},
};
enum { ROWS = ARRAY_LEN(rows), TESTS_MAX = 400 };

static bool takes_part(const contract_store *s) {
    const char *only = getenv("SILT_CONTRACT_STORE");
    return only ? strcmp(only, s->name) == 0 : !s->variable;
}

/* ---- fixtures ---- */

/* *state is the row at first, the fixture afterwards. */
static int open_fixture(void **state) {
    static int number;
    const contract_store *kind = *state;
    fixture *f = calloc(1, sizeof *f);
    silt_error err = {0};
    assert_non_null(f);
    f->arena = arena_new();
    f->kind = kind;
    f->is_local = has(f, IS_LOCAL);
    strcpy(f->root, "/tmp/silt-contract-XXXXXX");
    if (f->is_local) assert_non_null(mkdtemp(f->root));
    else snprintf(f->root, sizeof f->root, "%s/contract-%lld-%d-%d", kind->variable ? told(kind->variable, "_FOLDER") : "", (long long)time(NULL), (int)getpid(), number++);
    if (kind->open(f, &f->store, &err) != SILT_OK) fail_msg("%s cannot be opened: %s %s", kind->name, err.message, err.detail);
    if (!f->is_local) assert_int_equal(store_make_dirs(f->store, str_of(f->root), NULL), SILT_OK);
    *state = f;
    return 0;
}

static int close_fixture(void **state) {
    fixture *f = *state;
    if (f->is_local) {
        char command[256];
        snprintf(command, sizeof command, "rm -rf '%s'", f->root);
        if (system(command) != 0) fail();
    }
    store_close(f->store);
    store_close(f->inner);
    arena_free(f->arena);
    free(f);
    return 0;
}

int contract_run(const contract_test *tests, size_t n) {
    static struct CMUnitTest all[TESTS_MAX];
    static char names[TESTS_MAX][160];
    size_t count = 0;
    cmocka_set_message_output(CM_OUTPUT_TAP);
    for (size_t r = 0; r < ROWS; r++)
        for (size_t i = 0; i < n && takes_part(&rows[r]) && count < TESTS_MAX; i++) {
            if ((rows[r].traits & tests[i].needs) != tests[i].needs) continue;
            snprintf(names[count], sizeof names[count], "%s/%s", rows[r].name, tests[i].name);
            all[count] = (struct CMUnitTest){names[count], tests[i].run, open_fixture, close_fixture, (void *)(uintptr_t)&rows[r]};
            count++;
        }
    return _cmocka_run_group_tests("contract", all, count, NULL, NULL);
}

str at(fixture *f, const char *name) { return path_join(f->arena, str_of(f->root), str_of(name)); }

bool cannot_be_named(const fixture *f, const char *name) {
    for (const char *const *n = f->kind->no_names; *n; n++)
        if (strcmp(*n, name) == 0) return true;
    return false;
}
