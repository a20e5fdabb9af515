/*
 * Two sessions make one table at once: each way to make one, with the other session's whole work done just before the n-th storage call of the first, for every n. Whoever
 * comes second is told so by the right condition, and what was acknowledged is there.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "support/hooked_session.h"

#define MAX_RUNS 300 /* more storage calls than a CREATE makes */

/* The sanitizers make each run several times slower, and look for other faults than the release build's runs: every third call is enough for them. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { STEP = 3 };
#else
enum { STEP = 1 };
#endif

static char folder[64];

/* In the statements, '@' stands for the warehouse's path. */
typedef struct race {
    const char *first;          /**< the statement; NULL: rows loaded through the API */
    silt_save_mode mode;       /**< of the load */
    const char *const *rival;   /**< statements of the other session, NULL-terminated */
    const char *const *allowed; /**< conditions that the first may end with when the rival made the table; "" = success; NULL-terminated */
    const char *rows;           /**< count(*) when both succeeded */
} race;

typedef struct run {
    const race *race;
    silt_session *rival;
    size_t at;          /**< run the rival before this call */
    bool rival_ran;
    bool rival_made_it; /**< its first statement succeeded */
    bool rival_done;    /**< all of them did */
} run;

static silt_status execute_at(silt_session *s, const char *sql, silt_error *err) {
    char text[512], *out = text;
    const char *warehouse = silt_session_get(s, "spark.sql.warehouse.dir");
    for (const char *in = sql; *in && out < text + sizeof text - 128; in++) {
        if (*in == '@') out += snprintf(out, 128, "%s", warehouse);
        else *out++ = *in;
    }
    *out = '\0';
    return session_execute(s, text, err);
}

static void run_rival(run *r) {
    r->rival_ran = r->rival_done = true;
    for (size_t i = 0; r->race->rival[i] && r->rival_done; i++) {
        r->rival_done = execute_at(r->rival, r->race->rival[i], NULL) == SILT_OK;
        if (i == 0) r->rival_made_it = r->rival_done;
    }
}

static store_fault before(void *ctx, const char *call, str path, size_t nth) {
    run *r = ctx;
    (void)call, (void)path;
    if (nth == r->at) run_rival(r);
    return FAULT_NONE;
}

static int64_t count_rows(silt_session *s) {
    silt_error err = {0};
    int64_t n = -1;
    if (session_number(s, "SELECT count(*) FROM t", &n, &err) != SILT_OK) fail_msg("[%s] %s", err.condition, err.message);
    return n;
}

static void remove_folder(const char *path) {
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", path);
    assert_int_equal(system(command), 0);
}

static bool is_allowed(const race *c, const char *condition) {
    for (size_t i = 0; c->allowed[i]; i++)
        if (strcmp(c->allowed[i], condition) == 0) return true;
    return false;
}

static silt_status run_first(const race *c, silt_session *s, silt_error *err) {
    if (c->first) return execute_at(s, c->first, err);
    struct ArrowArrayStream rows;
    silt_write_options options = {.struct_size = sizeof options, .mode = c->mode};
    TRY(silt_query(s, "SELECT 100 AS id", NULL, &rows, err));
    return silt_write(s, "t", &rows, &options, NULL, err);
}

/* false: the first ended before its at-th call. */
static bool run_once(const race *c, size_t at) {
    char warehouse[96];
    snprintf(warehouse, sizeof warehouse, "%s/wh%zu", folder, at);
    const char *const keys[] = {"spark.sql.warehouse.dir"}, *const values[] = {warehouse};
    silt_session_options options = {.struct_size = sizeof options, .keys = keys, .values = values, .n_settings = 1};
    run r = {.race = c, .at = at};
    hooked_session first;
    silt_error err = {0};
    assert_int_equal(silt_session_open(&options, &r.rival, &err), SILT_OK);
    assert_int_equal(hooked_session_open(&first, keys, values, 1, before, &r, &err), SILT_OK);
    err = (silt_error){0};
    silt_status status = run_first(c, first.session, &err);
    r.at = 0;
    const char *condition = status == SILT_OK ? "" : err.condition;
    if (r.rival_made_it && !is_allowed(c, condition)) fail_msg("%s; the rival before call %zu: [%s] %s", c->first, at, condition, err.message);
    if (!r.rival_made_it && status != SILT_OK) fail_msg("%s; nobody made the table, call %zu: [%s] %s", c->first, at, condition, err.message);
    int64_t rows = count_rows(r.rival);
    if (status == SILT_OK && r.rival_done && c->rows && rows != strtoll(c->rows, NULL, 10)) fail_msg("%s; call %zu: %lld rows", c->first, at, (long long)rows);
    assert_int_equal(count_rows(first.session), rows);
    hooked_session_close(&first);
    silt_session_close(r.rival);
    remove_folder(warehouse);
    return r.rival_ran;
}

static void explore(const race *c) {
    size_t at = 1;
    for (; run_once(c, at); at += STEP) assert_true(at < MAX_RUNS);
    assert_true(at > 3);
    print_message("# %s: %zu places\n", c->first ? c->first : "load", at - 1);
}

static const char *const creates[] = {"CREATE TABLE t (id INT) USING DELTA", "INSERT INTO t VALUES (1), (2)", NULL};
static const char *const creates_as_select[] = {"CREATE TABLE t USING DELTA AS SELECT id FROM VALUES (1), (2) AS v(id)", NULL};
static const char *const ok_only[] = {"", NULL}, *const exists[] = {"TABLE_OR_VIEW_ALREADY_EXISTS", NULL};

static void create_if_not_exists(void **state) {
    (void)state;
    explore(&(race){.first = "CREATE TABLE IF NOT EXISTS t (id INT) USING DELTA", .rival = creates, .allowed = ok_only, .rows = "2"});
    explore(&(race){.first = "CREATE TABLE IF NOT EXISTS t (id INT) USING DELTA", .rival = creates_as_select, .allowed = ok_only, .rows = "2"});
    explore(&(race){.first = "CREATE TABLE IF NOT EXISTS t USING DELTA AS SELECT 7 AS id", .rival = creates, .allowed = ok_only, .rows = "2"});
}

static void create(void **state) {
    (void)state;
    explore(&(race){.first = "CREATE TABLE t (id INT) USING DELTA", .rival = creates, .allowed = exists});
    explore(&(race){.first = "CREATE TABLE t (id INT) USING DELTA", .rival = creates_as_select, .allowed = exists});
    explore(&(race){.first = "CREATE TABLE t USING DELTA AS SELECT 7 AS id", .rival = creates, .allowed = exists});
    explore(&(race){.first = "CREATE TABLE t USING DELTA AS SELECT 7 AS id", .rival = creates_as_select, .allowed = exists});
}

/* Tables at a place of their own, where another name may lead to the same table. */
static void create_at_a_location(void **state) {
    (void)state;
    static const char *const same_name[] = {"CREATE TABLE t (id INT) USING DELTA LOCATION '@/there'", "INSERT INTO t VALUES (1), (2)", NULL};
    static const char *const other_name[] = {"CREATE TABLE u (id INT) USING DELTA LOCATION '@/there'", "INSERT INTO u VALUES (1), (2)", NULL};
    static const char *const by_path[] = {"CREATE TABLE delta.`@/there` (id INT) USING DELTA", "INSERT INTO delta.`@/there` VALUES (1), (2)", NULL};
    explore(&(race){.first = "CREATE TABLE IF NOT EXISTS t (id INT) USING DELTA LOCATION '@/there'", .rival = same_name, .allowed = ok_only, .rows = "2"});
    explore(&(race){.first = "CREATE TABLE t (id INT) USING DELTA LOCATION '@/there'", .rival = same_name, .allowed = exists});
    explore(&(race){.first = "CREATE TABLE t (id INT) USING DELTA LOCATION '@/there'", .rival = other_name, .allowed = ok_only, .rows = "2"});
    explore(&(race){.first = "CREATE TABLE t (id INT) USING DELTA LOCATION '@/there'", .rival = by_path, .allowed = ok_only, .rows = "2"});
}

/* Rows of a lost AS SELECT are not written a second time unasked: a conflict, as in Delta. */
static void create_or_replace(void **state) {
    (void)state;
    static const char *const or_conflict[] = {"", "DELTA_PROTOCOL_CHANGED", NULL};
    explore(&(race){.first = "CREATE OR REPLACE TABLE t (id INT) USING DELTA", .rival = creates, .allowed = ok_only});
    explore(&(race){.first = "CREATE OR REPLACE TABLE t USING DELTA AS SELECT 7 AS id", .rival = creates, .allowed = or_conflict});
}

static void load(void **state) {
    (void)state;
    static const char *const or_conflict[] = {"", "DELTA_PROTOCOL_CHANGED", "DELTA_CONCURRENT_APPEND.WITHOUT_HINT", "DELTA_CONCURRENT_APPEND", NULL};
    static const char *const path_exists[] = {"TABLE_OR_VIEW_ALREADY_EXISTS", "DELTA_PATH_EXISTS", NULL};
    explore(&(race){.mode = SILT_APPEND, .rival = creates, .allowed = or_conflict, .rows = "3"});
    explore(&(race){.mode = SILT_OVERWRITE, .rival = creates, .allowed = or_conflict});
    explore(&(race){.mode = SILT_ERROR_IF_EXISTS, .rival = creates, .allowed = path_exists});
    explore(&(race){.mode = SILT_IGNORE, .rival = creates, .allowed = ok_only, .rows = "2"});
}

static int begin(void **state) {
    (void)state;
    strcpy(folder, "/tmp/silt-race-XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static int end(void **state) {
    (void)state;
    remove_folder(folder);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(create_if_not_exists),
        cmocka_unit_test(create),
        cmocka_unit_test(create_at_a_location),
        cmocka_unit_test(create_or_replace),
        cmocka_unit_test(load),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, begin, end);
}
