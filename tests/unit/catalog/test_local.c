/* The local catalog: names without case, databases, tables, and what happens to several processes, a missing file and a damaged one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>
#include <sqlite3.h>

#include "base/uri.h"
#include "catalog/catalog.h"

#define N_PROCESSES 8
#define N_TABLES    20

typedef struct world {
    char folder[64];
    catalog *c;
    arena *a;
    silt_error err;
} world;

static int setup(void **state) {
    world *w = calloc(1, sizeof *w);
    strcpy(w->folder, "/tmp/silt-catalog-XXXXXX");
    if (!mkdtemp(w->folder)) return -1;
    char warehouse[96];
    snprintf(warehouse, sizeof warehouse, "%s/deep/warehouse", w->folder);
    w->a = arena_new();
    *state = w;
    return catalog_local_open(str_of(warehouse), STR_NULL, &w->c, &w->err) == SILT_OK ? 0 : -1;
}

static int teardown(void **state) {
    world *w = *state;
    catalog_close(w->c);
    arena_free(w->a);
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", w->folder);
    int code = system(command);
    free(w);
    return code;
}

static char *catalog_file(world *w) {
    return arena_cstr(w->a, arena_printf(w->a, "%s/deep/warehouse/.silt-catalog.sqlite", w->folder));
}

static catalog_table sample(const char *database, const char *name) {
    return (catalog_table){
        .database = str_of(database), .name = str_of(name), .provider = STR("delta"), .location = STR("/x/t"), .created_ms = 5};
}

static void assert_fails(world *w, silt_status status, const char *condition) {
    assert_int_not_equal(status, SILT_OK);
    assert_string_equal(w->err.condition, condition);
}

#define OK(call) assert_int_equal((call), SILT_OK)

static void reading_makes_no_file_and_default_exists(void **state) {
    world *w = *state;
    catalog_database *databases, d;
    catalog_table *tables, t;
    size_t n;
    OK(w->c->ops->list_databases(w->c, w->a, &databases, &n, &w->err));
    assert_int_equal(n, 1);
    assert_true(str_eqz(databases[0].name, "default"));
    OK(w->c->ops->get_database(w->c, STR("DEFAULT"), w->a, &d, &w->err));
    OK(w->c->ops->list_tables(w->c, STR("default"), w->a, &tables, &n, &w->err));
    assert_int_equal(n, 0);
    assert_fails(w, w->c->ops->get_table(w->c, STR("default"), STR("t"), w->a, &t, &w->err), "TABLE_OR_VIEW_NOT_FOUND");
    assert_fails(w, w->c->ops->get_table(w->c, STR("nope"), STR("t"), w->a, &t, &w->err), "SCHEMA_NOT_FOUND");
    assert_int_not_equal(access(catalog_file(w), F_OK), 0);
}

static void names_are_kept_in_lower_case_and_found_without_case(void **state) {
    world *w = *state;
    catalog_table t = sample("Default", "ÄPFEL"), got;
    t.is_managed = true;
    t.comment = STR("a 'comment'");
    OK(w->c->ops->create_table(w->c, &t, &w->err));
    OK(w->c->ops->get_table(w->c, STR("DEFAULT"), STR("Äpfel"), w->a, &got, &w->err));
    assert_true(str_eqz(got.name, "äpfel"));
    assert_true(str_eqz(got.database, "default"));
    assert_true(str_eqz(got.provider, "delta"));
    assert_true(str_eqz(got.comment, "a 'comment'"));
    assert_true(got.is_managed && !got.is_view && str_is_null(got.view_text));
    assert_int_equal(got.created_ms, 5);
    t.name = STR("äpfel");
    assert_fails(w, w->c->ops->create_table(w->c, &t, &w->err), "TABLE_OR_VIEW_ALREADY_EXISTS");
    t.location = STR("/other");
    OK(w->c->ops->replace_table(w->c, &t, &w->err));
    OK(w->c->ops->get_table(w->c, STR("default"), STR("Äpfel"), w->a, &got, &w->err));
    assert_true(str_eqz(got.location, "/other"));
}

static void tables_are_renamed_and_dropped(void **state) {
    world *w = *state;
    catalog_table b = sample("default", "b"), a = sample("default", "a"), *tables, got;
    size_t n;
    OK(w->c->ops->create_table(w->c, &b, &w->err));
    OK(w->c->ops->create_table(w->c, &a, &w->err));
    OK(w->c->ops->list_tables(w->c, STR("default"), w->a, &tables, &n, &w->err));
    assert_int_equal(n, 2);
    assert_true(str_eqz(tables[0].name, "a") && str_eqz(tables[1].name, "b"));
    assert_fails(w, w->c->ops->rename_table(w->c, STR("default"), STR("a"), STR("default"), STR("B"), &w->err),
                 "TABLE_OR_VIEW_ALREADY_EXISTS");
    OK(w->c->ops->rename_table(w->c, STR("default"), STR("A"), STR("default"), STR("C"), &w->err));
    OK(w->c->ops->get_table(w->c, STR("default"), STR("c"), w->a, &got, &w->err));
    OK(w->c->ops->drop_table(w->c, STR("default"), STR("C"), &w->err));
    assert_fails(w, w->c->ops->drop_table(w->c, STR("default"), STR("c"), &w->err), "TABLE_OR_VIEW_NOT_FOUND");
}

static void databases_hold_tables_and_give_locations(void **state) {
    world *w = *state;
    catalog_database d = {.name = STR("Sales")}, got, *databases;
    catalog_table t = sample("sales", "t");
    size_t n;
    str location;
    assert_fails(w, w->c->ops->create_table(w->c, &t, &w->err), "SCHEMA_NOT_FOUND");
    OK(w->c->ops->create_database(w->c, &d, &w->err));
    assert_fails(w, w->c->ops->create_database(w->c, &d, &w->err), "SCHEMA_ALREADY_EXISTS");
    d = (catalog_database){.name = STR("archive"), .location = STR("/elsewhere/arch")};
    OK(w->c->ops->create_database(w->c, &d, &w->err));
    OK(w->c->ops->list_databases(w->c, w->a, &databases, &n, &w->err));
    assert_int_equal(n, 3);
    assert_true(str_eqz(databases[0].name, "archive") && str_eqz(databases[1].name, "default") &&
                str_eqz(databases[2].name, "sales"));
    OK(w->c->ops->get_database(w->c, STR("SALES"), w->a, &got, &w->err));
    assert_true(str_ends_with(got.location, STR("/deep/warehouse/sales.db")));
    OK(w->c->ops->managed_location(w->c, STR("archive"), STR("Tab"), w->a, &location, &w->err));
    assert_true(str_eqz(location, "/elsewhere/arch/tab"));
    OK(w->c->ops->managed_location(w->c, STR("default"), STR("Tab"), w->a, &location, &w->err));
    assert_true(str_ends_with(location, STR("/deep/warehouse/tab")));
    OK(w->c->ops->create_table(w->c, &t, &w->err));
    assert_fails(w, w->c->ops->drop_database(w->c, STR("sales"), false, &w->err), "SCHEMA_NOT_EMPTY");
    OK(w->c->ops->drop_database(w->c, STR("sales"), true, &w->err));
    assert_fails(w, w->c->ops->drop_database(w->c, STR("sales"), true, &w->err), "SCHEMA_NOT_FOUND");
    assert_fails(w, w->c->ops->drop_database(w->c, STR("default"), true, &w->err), "UNSUPPORTED_FEATURE");
}

/* One of the processes: its own tables, and one name that all of them want. Exit status: how often it won that name. */
static int create_many(const char *folder, int number) {
    char warehouse[96], name[32];
    snprintf(warehouse, sizeof warehouse, "%s/deep/warehouse", folder);
    catalog *c;
    if (catalog_local_open(str_of(warehouse), STR_NULL, &c, NULL) != SILT_OK) return 100;
    int won = 0;
    for (int i = 0; i < N_TABLES; i++) {
        snprintf(name, sizeof name, "t_%d_%d", number, i);
        catalog_table t = sample("default", name);
        if (c->ops->create_table(c, &t, NULL) != SILT_OK) return 101;
        if (c->ops->create_table(c, &t, NULL) != SILT_EXISTS) return 102;
        snprintf(name, sizeof name, "shared_%d", i);
        t.name = str_of(name);
        silt_status status = c->ops->create_table(c, &t, NULL);
        if (status == SILT_OK)
            won++;
        else if (status != SILT_EXISTS)
            return 103;
    }
    catalog_close(c);
    return won;
}

static void a_database_gets_another_comment_and_location(void **state) {
    world *w = *state;
    catalog_database d = {.name = STR("Sales"), .comment = STR("old")}, got;
    str location;
    OK(w->c->ops->create_database(w->c, &d, &w->err));
    d = (catalog_database){.name = STR("SALES"), .location = STR("/elsewhere/s"), .comment = STR("it's new")};
    OK(w->c->ops->replace_database(w->c, &d, &w->err));
    OK(w->c->ops->get_database(w->c, STR("sales"), w->a, &got, &w->err));
    assert_true(str_eqz(got.comment, "it's new"));
    OK(w->c->ops->managed_location(w->c, STR("sales"), STR("t"), w->a, &location, &w->err));
    assert_true(str_eqz(location, "/elsewhere/s/t"));
    d.name = STR("nope");
    assert_fails(w, w->c->ops->replace_database(w->c, &d, &w->err), "SCHEMA_NOT_FOUND");
    d.name = STR("Default");
    assert_fails(w, w->c->ops->replace_database(w->c, &d, &w->err), "UNSUPPORTED_FEATURE");
}

static void eight_processes_create_tables_at_once(void **state) {
    world *w = *state;
    pid_t children[N_PROCESSES];
    for (int i = 0; i < N_PROCESSES; i++) {
        children[i] = fork();
        if (children[i] == 0) _exit(create_many(w->folder, i));
    }
    int won = 0;
    for (int i = 0; i < N_PROCESSES; i++) {
        int code;
        assert_int_equal(waitpid(children[i], &code, 0), children[i]);
        assert_true(WIFEXITED(code) && WEXITSTATUS(code) < 100);
        won += WEXITSTATUS(code);
    }
    assert_int_equal(won, N_TABLES); /* each shared name has one creator */
    catalog_table *tables;
    size_t n;
    OK(w->c->ops->list_tables(w->c, STR("default"), w->a, &tables, &n, &w->err));
    assert_int_equal(n, N_PROCESSES * N_TABLES + N_TABLES);
}

static void write_file(const char *path, const char *bytes, size_t n) {
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes, 1, n, f), n);
    fclose(f);
}

static void a_damaged_file_is_named_and_left_alone(void **state) {
    world *w = *state;
    catalog_table t = sample("default", "t"), got;
    OK(w->c->ops->create_table(w->c, &t, &w->err));
    const char *path = catalog_file(w);
    char garbage[5000];
    memset(garbage, 'x', sizeof garbage);
    write_file(path, garbage, sizeof garbage);
    assert_fails(w, w->c->ops->get_table(w->c, STR("default"), STR("t"), w->a, &got, &w->err), "CATALOG_DAMAGED");
    assert_fails(w, w->c->ops->create_table(w->c, &t, &w->err), "CATALOG_DAMAGED");
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_size, sizeof garbage);
}

static void run_sqlite(const char *path, const char *sql) {
    sqlite3 *db;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(db);
}

static void a_foreign_or_newer_file_is_refused(void **state) {
    world *w = *state;
    catalog_table t = sample("default", "t"), got;
    OK(w->c->ops->create_table(w->c, &t, &w->err));
    run_sqlite(catalog_file(w), "UPDATE silt_catalog SET version = 2");
    assert_fails(w, w->c->ops->get_table(w->c, STR("default"), STR("t"), w->a, &got, &w->err), "CATALOG_DAMAGED");
    run_sqlite(catalog_file(w), "DROP TABLE silt_catalog");
    assert_fails(w, w->c->ops->create_table(w->c, &t, &w->err), "CATALOG_DAMAGED");
}

static void a_file_that_was_removed_reads_as_empty(void **state) {
    world *w = *state;
    catalog_table t = sample("default", "t"), got;
    OK(w->c->ops->create_table(w->c, &t, &w->err));
    assert_int_equal(unlink(catalog_file(w)), 0);
    assert_fails(w, w->c->ops->get_table(w->c, STR("default"), STR("t"), w->a, &got, &w->err), "TABLE_OR_VIEW_NOT_FOUND");
    OK(w->c->ops->create_table(w->c, &t, &w->err));
    write_file(catalog_file(w), "", 0); /* made, but nothing written yet */
    assert_fails(w, w->c->ops->get_table(w->c, STR("default"), STR("t"), w->a, &got, &w->err), "TABLE_OR_VIEW_NOT_FOUND");
    OK(w->c->ops->create_table(w->c, &t, &w->err));
}

/* The tables go there; the names stay in a local folder. */
static void a_remote_warehouse_keeps_its_names_here(void **state) {
    world *w = *state;
    catalog *c;
    catalog_database d;
    str place, folder = path_join(w->a, str_of(w->folder), STR("names"));
    assert_int_equal(catalog_local_open(STR("s3a://bucket/warehouse/"), folder, &c, NULL), SILT_OK);
    assert_int_equal(c->ops->managed_location(c, STR("default"), STR("T"), w->a, &place, NULL), SILT_OK);
    assert_true(str_eqz(place, "s3a://bucket/warehouse/t"));
    assert_int_equal(c->ops->create_database(c, &(catalog_database){.name = STR("sales")}, NULL), SILT_OK);
    assert_int_equal(c->ops->get_database(c, STR("sales"), w->a, &d, NULL), SILT_OK);
    assert_true(str_eqz(d.location, "s3a://bucket/warehouse/sales.db"));
    assert_int_equal(access(path_join(w->a, folder, STR(".silt-catalog.sqlite")).ptr, F_OK), 0);
    catalog_close(c);
    assert_int_equal(catalog_local_open(STR("/tmp/w"), STR("s3a://bucket/names"), &c, NULL), SILT_INVALID);
    assert_null(c);
}

/* Nobody named the folder: that a file was made there is told, once. */
static void names_kept_in_the_working_folder_are_told(void **state) {
    world *w = *state;
    catalog *c;
    char *before = getcwd(NULL, 0);
    assert_non_null(before);
    assert_int_equal(chdir(w->folder), 0);
    assert_int_equal(catalog_local_open(STR("gs://bucket/warehouse"), STR_NULL, &c, NULL), SILT_OK);
    assert_null(c->news);
    assert_int_equal(c->ops->create_database(c, &(catalog_database){.name = STR("one")}, NULL), SILT_OK);
    assert_non_null(c->news);
    assert_non_null(strstr(c->news, "/spark-warehouse/.silt-catalog.sqlite"));
    c->news = NULL;
    assert_int_equal(c->ops->create_database(c, &(catalog_database){.name = STR("two")}, NULL), SILT_OK);
    assert_null(c->news);
    catalog_close(c);
    assert_int_equal(chdir(before), 0);
    free(before);
    OK(w->c->ops->create_database(w->c, &(catalog_database){.name = STR("beside")}, &w->err)); /* in the warehouse itself */
    assert_null(w->c->news);
}

#define WITH_CATALOG(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        WITH_CATALOG(reading_makes_no_file_and_default_exists), WITH_CATALOG(names_are_kept_in_lower_case_and_found_without_case),
        WITH_CATALOG(tables_are_renamed_and_dropped),           WITH_CATALOG(databases_hold_tables_and_give_locations),
        WITH_CATALOG(a_database_gets_another_comment_and_location),
        WITH_CATALOG(eight_processes_create_tables_at_once),    WITH_CATALOG(a_damaged_file_is_named_and_left_alone),
        WITH_CATALOG(a_foreign_or_newer_file_is_refused),       WITH_CATALOG(a_file_that_was_removed_reads_as_empty),
        WITH_CATALOG(a_remote_warehouse_keeps_its_names_here),
        WITH_CATALOG(names_kept_in_the_working_folder_are_told),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
