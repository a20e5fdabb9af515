/* What is particular to the stores for tests (the memory store's clock, each kind of fault) and the registry of stores. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include <unistd.h>

#include "store/store.h"

static arena *memory;
static store *inner;
static int begin(void **state) {
    (void)state;
    memory = arena_new();
    return store_memory_open(1000, &inner, NULL) == SILT_OK ? 0 : -1;
}
static int end(void **state) {
    (void)state;
    store_close(inner);
    arena_free(memory);
    return 0;
}

/* ---- memory ---- */

static int64_t time_of(const char *path) {
    store_entry entry;
    assert_int_equal(store_stat(inner, str_of(path), memory, &entry, NULL), SILT_OK);
    return entry.modified_ms;
}

static void each_put_has_the_next_time(void **state) {
    (void)state;
    assert_int_equal(store_put(inner, STR("/a"), STR("1"), STORE_PUT_IF_ABSENT, NULL), SILT_OK);
    assert_int_equal(store_put(inner, STR("/b"), STR("1"), STORE_PUT_IF_ABSENT, NULL), SILT_OK);
    assert_int_equal(store_put(inner, STR("/b"), STR("2"), STORE_PUT_IF_ABSENT, NULL), SILT_EXISTS); /* takes no time */
    assert_int_equal(store_put(inner, STR("/a"), STR("2"), STORE_PUT_REPLACE, NULL), SILT_OK);
    assert_int_equal(time_of("/b"), 1001);
    assert_int_equal(time_of("/a"), 1002);
    store_memory_set_clock(inner, 500);
    assert_int_equal(store_put(inner, STR("/c"), STR("1"), STORE_PUT_IF_ABSENT, NULL), SILT_OK);
    assert_int_equal(store_put(inner, STR("/d"), STR("1"), STORE_PUT_IF_ABSENT, NULL), SILT_OK);
    assert_int_equal(time_of("/c"), 500);
    assert_int_equal(time_of("/d"), 501);
}

static void local_files_go_with_the_store(void **state) {
    (void)state;
    str local;
    store *s;
    assert_int_equal(store_memory_open(1, &s, NULL), SILT_OK);
    assert_int_equal(store_put(s, STR("/x.parquet"), STR("PAR1"), STORE_PUT_IF_ABSENT, NULL), SILT_OK);
    assert_int_equal(store_local_read_path(s, STR("/x.parquet"), memory, &local, NULL), SILT_OK);
    assert_int_equal(access(local.ptr, R_OK), 0);
    store_close(s);
    assert_int_equal(access(local.ptr, F_OK), -1);
}

/* ---- faults ---- */

typedef struct orders {
    size_t at; /* this call, from 1 */
    store_fault fault;
    size_t asked;
    char last_call[32], last_path[64];
} orders;

static store_fault obey(void *ctx, const char *call, str path, size_t nth_call) {
    orders *o = ctx;
    o->asked = nth_call;
    snprintf(o->last_call, sizeof o->last_call, "%s", call);
    snprintf(o->last_path, sizeof o->last_path, "%.*s", STR_ARG(path));
    return nth_call == o->at ? o->fault : FAULT_NONE;
}

static store *faulty(orders *o) {
    store *s;
    assert_int_equal(store_fault_open(inner, obey, o, &s, NULL), SILT_OK);
    return s;
}

static bool is_there(const char *path) {
    store_entry entry;
    return store_stat(inner, str_of(path), memory, &entry, NULL) == SILT_OK;
}

static void a_failed_call_does_nothing(void **state) {
    (void)state;
    orders o = {.at = 2, .fault = FAULT_FAIL};
    store *s = faulty(&o);
    silt_error err = {0};
    assert_int_equal(store_put(s, STR("/a"), STR("1"), STORE_PUT_IF_ABSENT, NULL), SILT_OK);
    assert_int_equal(store_put(s, STR("/b"), STR("1"), STORE_PUT_IF_ABSENT, &err), SILT_IO);
    assert_string_equal(err.condition, "IO_ERROR");
    assert_false(is_there("/b"));
    assert_int_equal(store_put(s, STR("/c"), STR("1"), STORE_PUT_IF_ABSENT, NULL), SILT_OK);
    store_close(s);
}

static void a_lost_reply_is_unknown_but_done(void **state) {
    (void)state;
    orders o = {.at = 1, .fault = FAULT_LOST_REPLY};
    store *s = faulty(&o);
    assert_int_equal(store_put(s, STR("/a"), STR("1"), STORE_PUT_IF_ABSENT, NULL), SILT_UNKNOWN);
    assert_true(is_there("/a"));
    o.at = 2; /* also where the put had lost the race */
    assert_int_equal(store_put(s, STR("/a"), STR("2"), STORE_PUT_IF_ABSENT, NULL), SILT_UNKNOWN);
    o.at = 3;
    buf b;
    buf_init(&b, 10);
    assert_int_equal(store_read(s, STR("/a"), 0, -1, &b, NULL), SILT_IO);
    assert_int_equal(b.len, 0);
    o.at = 4;
    assert_int_equal(store_remove(s, STR("/a"), NULL), SILT_IO);
    assert_false(is_there("/a"));
    buf_dispose(&b);
    store_close(s);
}

static void after_a_crash_nothing_works(void **state) {
    (void)state;
    static const store_fault kinds[] = {FAULT_CRASH, FAULT_CRASH_AFTER};
    for (size_t i = 0; i < 2; i++) {
        orders o = {.at = 1, .fault = kinds[i]};
        store *s = faulty(&o);
        store_list_result list;
        str local;
        const char *path = i ? "/after" : "/before";
        assert_int_equal(store_put(s, str_of(path), STR("1"), STORE_PUT_IF_ABSENT, NULL), SILT_IO);
        assert_int_equal(is_there(path), kinds[i] == FAULT_CRASH_AFTER);
        assert_int_equal(store_put(s, STR("/b"), STR("1"), STORE_PUT_IF_ABSENT, NULL), SILT_IO);
        assert_int_equal(store_list(s, STR("/"), STR_NULL, false, memory, &list, NULL), SILT_IO);
        assert_int_equal(store_write_begin(inner, STR("/d"), memory, &local, NULL), SILT_OK);
        FILE *file = fopen(local.ptr, "wb");
        assert_non_null(file);
        fclose(file);
        store_write_abort(s, STR("/d"), local); /* the dead clean up nothing */
        assert_int_equal(access(local.ptr, F_OK), 0);
        assert_false(is_there("/b"));
        assert_int_equal(o.asked, 1);
        store_close(s);
    }
}

static void a_short_read_gives_half(void **state) {
    (void)state;
    orders o = {.at = 1, .fault = FAULT_SHORT};
    store *s = faulty(&o);
    buf b;
    buf_init(&b, 100);
    buf_append_z(&b, ">");
    assert_int_equal(store_put(inner, STR("/a"), STR("12345678"), STORE_PUT_IF_ABSENT, NULL), SILT_OK);
    assert_int_equal(store_read(s, STR("/a"), 0, -1, &b, NULL), SILT_OK);
    assert_string_equal(buf_cstr(&b), ">1234");
    buf_dispose(&b);
    store_close(s);
}

static void twice_is_told_of_the_second(void **state) {
    (void)state;
    orders o = {.at = 1, .fault = FAULT_TWICE};
    store *s = faulty(&o);
    assert_int_equal(store_put(s, STR("/a"), STR("1"), STORE_PUT_IF_ABSENT, NULL), SILT_EXISTS);
    assert_true(is_there("/a"));
    o.at = 2;
    assert_int_equal(store_put(s, STR("/a"), STR("2"), STORE_PUT_REPLACE, NULL), SILT_OK);
    o.at = 3;
    assert_int_equal(store_remove(s, STR("/a"), NULL), SILT_NOT_FOUND);
    assert_false(is_there("/a"));
    store_close(s);
}

/* ---- names of one's own ---- */

static void a_name_of_ones_own_is_settled_by_what_is_there(void **state) {
    (void)state;
    static const store_fault kinds[] = {FAULT_NONE, FAULT_TWICE, FAULT_LOST_REPLY};
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        orders o = {.at = 1, .fault = kinds[i]};
        store *s = faulty(&o);
        str path = arena_printf(memory, "/own-%zu", i);
        assert_int_equal(store_put_own(s, path, STR("mine"), NULL), SILT_OK);
        assert_true(is_there(path.ptr));
        store_close(s);
    }
}

static void another_ones_bytes_are_told(void **state) {
    (void)state;
    silt_error err = {0};
    static const char *const others[] = {"else", "minX", "mine and more", "min", ""};
    for (size_t i = 0; i < ARRAY_LEN(others); i++) {
        str path = arena_printf(memory, "/taken-%zu", i);
        assert_int_equal(store_put(inner, path, str_of(others[i]), STORE_PUT_IF_ABSENT, NULL), SILT_OK);
        assert_int_equal(store_put_own(inner, path, STR("mine"), &err), SILT_EXISTS);
    }
    assert_string_equal(err.condition, "PATH_ALREADY_EXISTS");
}

static store_fault never_answers(void *ctx, const char *call, str path, size_t nth_call) {
    (void)path;
    (void)nth_call;
    return strcmp(call, (const char *)ctx) == 0 ? FAULT_LOST_REPLY : FAULT_NONE;
}

/* The same of data files: who is told 40003 asks himself whether rows were committed. */
static void a_data_file_in_doubt_is_a_failure(void **state) {
    (void)state;
    char finish[] = "write_finish";
    store *mute;
    str local;
    silt_error err = {0};
    assert_int_equal(store_fault_open(inner, never_answers, finish, &mute, NULL), SILT_OK);
    for (int many = 0; many < 2; many++) {
        str path = many ? STR("/many") : STR("/one");
        assert_int_equal(store_write_begin(mute, path, memory, &local, NULL), SILT_OK);
        FILE *file = fopen(local.ptr, "wb");
        assert_non_null(file);
        fclose(file);
        assert_int_equal(many ? store_write_finish_many(mute, &path, &local, 1, &err) : store_write_finish(mute, path, local, &err), SILT_IO);
        assert_non_null(strstr(err.detail, "did not tell"));
        assert_true(is_there(path.ptr));
    }
    store_close(mute);
}

/* A statement whose vector is in doubt has not committed: that is no unknown outcome. */
static void what_cannot_be_settled_is_a_failure_and_not_unknown(void **state) {
    (void)state;
    store *deaf, *mute;
    silt_error err = {0};
    char put[] = "put", read[] = "read";
    assert_int_equal(store_fault_open(inner, never_answers, read, &deaf, NULL), SILT_OK);
    assert_int_equal(store_fault_open(deaf, never_answers, put, &mute, NULL), SILT_OK);
    assert_int_equal(store_put_own(mute, STR("/own"), STR("mine"), &err), SILT_IO);
    assert_int_equal(store_put_own(mute, STR("/own-too"), STR("mine"), NULL), SILT_IO);
    store_close(mute);
    store_close(deaf);
}

static void every_call_is_asked_for_by_name(void **state) {
    (void)state;
    orders o = {0};
    store *s = faulty(&o);
    store_entry entry;
    store_list_result list;
    str local;
    buf b;
    buf_init(&b, 10);
#define ASKED(expression, call, path)             \
    do {                                          \
        size_t before = o.asked;                  \
        (void)!(expression);                      \
        assert_int_equal(o.asked, before + 1);    \
        assert_string_equal(o.last_call, (call)); \
        assert_string_equal(o.last_path, (path)); \
    } while (0)
    ASKED(store_put(s, STR("/a"), STR("x"), STORE_PUT_IF_ABSENT, NULL), "put", "/a");
    ASKED(store_read(s, STR("/a"), 0, -1, &b, NULL), "read", "/a");
    ASKED(store_stat(s, STR("/a"), memory, &entry, NULL), "stat", "/a");
    ASKED(store_list(s, STR("/"), STR_NULL, false, memory, &list, NULL), "list", "/");
    ASKED(store_make_dirs(s, STR("/d"), NULL), "make_dirs", "/d");
    ASKED(store_remove_dir(s, STR("/d"), NULL), "remove_dir", "/d");
    ASKED(store_local_read_path(s, STR("/a"), memory, &local, NULL), "local_read_path", "/a");
    ASKED(store_write_begin(s, STR("/w"), memory, &local, NULL), "write_begin", "/w");
    ASKED(store_write_finish(s, STR("/w"), local, NULL), "write_finish", "/w");
    ASKED((store_write_abort(s, STR("/w"), local), SILT_OK), "write_abort", "/w");
    ASKED(store_remove(s, STR("/a"), NULL), "remove", "/a");
    str paths[2] = {STR("/p"), STR("/q")};
    assert_int_equal(store_write_finish_many(s, paths, paths, 2, NULL), SILT_NOT_FOUND);
    assert_string_equal(o.last_call, "write_finish");
    buf_dispose(&b);
    store_close(s);
}

/* ---- registry ---- */

typedef struct opener {
    int opened;
    char authority[64];
    silt_status answer;
} opener;

static silt_status open_memory(str authority, void *config, store **out, silt_error *err) {
    opener *o = config;
    o->opened++;
    snprintf(o->authority, sizeof o->authority, "%.*s", STR_ARG(authority));
    if (o->answer != SILT_OK) return err_IO_ERROR(err, "open", authority);
    return store_memory_open(1, out, err);
}

static void stores_are_opened_once_per_scheme_and_authority(void **state) {
    (void)state;
    opener files = {0}, buckets = {0};
    store_registry *r;
    store *first, *second, *third;
    str path;
    assert_int_equal(store_registry_new(&r, NULL), SILT_OK);
    assert_int_equal(store_registry_add(r, "file", open_memory, &files, NULL), SILT_OK);
    assert_int_equal(store_registry_add(r, "s3a", open_memory, &buckets, NULL), SILT_OK);
    assert_int_equal(store_registry_find(r, STR("/a/b c"), memory, &first, &path, NULL), SILT_OK);
    assert_true(str_eqz(path, "/a/b c"));
    assert_int_equal(store_registry_find(r, STR("file:///d%20e"), memory, &second, &path, NULL), SILT_OK);
    assert_true(str_eqz(path, "/d e"));
    assert_ptr_equal(first, second);
    assert_int_equal(files.opened, 1);
    assert_int_equal(store_registry_find(r, STR("s3a://one/k"), memory, &first, &path, NULL), SILT_OK);
    assert_string_equal(buckets.authority, "one");
    assert_int_equal(store_registry_find(r, STR("s3a://two/k"), memory, &second, &path, NULL), SILT_OK);
    assert_int_equal(store_registry_find(r, STR("S3A://one/other"), memory, &third, &path, NULL), SILT_OK);
    assert_ptr_not_equal(first, second);
    assert_ptr_equal(first, third);
    assert_int_equal(buckets.opened, 2);
    store_registry_free(r);
    store_registry_free(NULL);
}

static void unknown_schemes_are_refused_by_name(void **state) {
    (void)state;
    store_registry *r;
    store *s;
    str path;
    silt_error err = {0};
    assert_int_equal(store_registry_new(&r, NULL), SILT_OK);
    assert_int_equal(store_registry_find(r, STR("gs://b/k"), memory, &s, &path, &err), SILT_UNSUPPORTED);
    assert_non_null(strstr(err.message, "gs:"));
    store_registry_free(r);
}

static void a_store_that_does_not_open_is_tried_again(void **state) {
    (void)state;
    opener o = {.answer = SILT_IO};
    store_registry *r;
    store *s;
    str path;
    assert_int_equal(store_registry_new(&r, NULL), SILT_OK);
    assert_int_equal(store_registry_add(r, "s3", open_memory, &o, NULL), SILT_OK);
    assert_int_equal(store_registry_find(r, STR("s3://b/k"), memory, &s, &path, NULL), SILT_IO);
    o.answer = SILT_OK;
    assert_int_equal(store_registry_find(r, STR("s3://b/k"), memory, &s, &path, NULL), SILT_OK);
    assert_int_equal(o.opened, 2);
    store_registry_free(r);
}

/* Names that the registry reads again as the same path of the same store; local ones stay plain paths. */
static void what_errors_name_leads_back(void **state) {
    static const char *const locations[] = {"s3a://b/a b/%41/x?y#z", "https://h:80/a%20b/c%25", "/a b/c%41"};
    static const char *const schemes[] = {"s3a", "https", "file"};
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(locations); i++) {
        opener o = {.answer = SILT_OK};
        store_registry *r;
        store *s, *again;
        str path, path_again;
        silt_error err = {0};
        assert_int_equal(store_registry_new(&r, NULL), SILT_OK);
        assert_int_equal(store_registry_add(r, schemes[i], open_memory, &o, NULL), SILT_OK);
        assert_int_equal(store_registry_find(r, str_of(locations[i]), memory, &s, &path, NULL), SILT_OK);
        str named = store_path_named(s, path, memory);
        assert_true(str_eqz(named, locations[i]));
        assert_int_equal(store_registry_find(r, named, memory, &again, &path_again, NULL), SILT_OK);
        assert_ptr_equal(s, again);
        assert_true(str_eq(path, path_again));
        assert_int_equal(store_path_error(s, path, err_FILE_NOT_FOUND, &err), SILT_NOT_FOUND);
        assert_non_null(strstr(err.message, locations[i]));
        assert_int_equal(store_path_error(s, path, err_FILE_NOT_FOUND, NULL), SILT_NOT_FOUND);
        store_registry_free(r);
    }
}

static silt_status open_in_front(str authority, void *config, store **out, silt_error *err) {
    (void)authority;
    TRY(store_memory_open(1, out, err));
    (*out)->inner = config;
    return SILT_OK;
}

/* As a read cache is opened: the store behind it gives its errors the same names. */
static void a_store_behind_another_is_named_with_it(void **state) {
    (void)state;
    store_registry *r;
    store *front, *behind;
    str path;
    assert_int_equal(store_memory_open(1, &behind, NULL), SILT_OK);
    assert_string_equal(store_uri_prefix(behind), "");
    assert_int_equal(store_registry_new(&r, NULL), SILT_OK);
    assert_int_equal(store_registry_add(r, "gs", open_in_front, behind, NULL), SILT_OK);
    assert_int_equal(store_registry_find(r, STR("gs://b/k"), memory, &front, &path, NULL), SILT_OK);
    assert_string_equal(store_uri_prefix(behind), "gs://b");
    store_registry_free(r);
    store_close(behind);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void) {
    cmocka_set_message_output(CM_OUTPUT_TAP);
    const struct CMUnitTest tests[] = {
        TEST(each_put_has_the_next_time),
        TEST(local_files_go_with_the_store),
        TEST(a_failed_call_does_nothing),
        TEST(a_lost_reply_is_unknown_but_done),
        TEST(after_a_crash_nothing_works),
        TEST(a_short_read_gives_half),
        TEST(twice_is_told_of_the_second),
        TEST(a_name_of_ones_own_is_settled_by_what_is_there),
        TEST(another_ones_bytes_are_told),
        TEST(a_data_file_in_doubt_is_a_failure),
        TEST(what_cannot_be_settled_is_a_failure_and_not_unknown),
        TEST(every_call_is_asked_for_by_name),
        TEST(stores_are_opened_once_per_scheme_and_authority),
        TEST(what_errors_name_leads_back),
        TEST(a_store_behind_another_is_named_with_it),
        TEST(unknown_schemes_are_refused_by_name),
        TEST(a_store_that_does_not_open_is_tried_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
