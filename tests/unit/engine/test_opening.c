/* When the engine is opened: when it is needed, or ahead; what is wrong is told to who needs it, and once. */
#include "support.h"

#include <pthread.h>

#include "engine/internal.h"

static engine *made(const engine_options *options) {
    engine *e;
    silt_error err = {0};
    assert_ok(engine_new(options, &e, &err), &err);
    assert_false(e->is_open);
    return e;
}

static int64_t count_of(engine *e, const char *sql) {
    engine_connection *c;
    duckdb_result result;
    silt_error err = {0};
    assert_ok(engine_connect(e, &c, &err), &err);
    assert_ok(engine_query(c, sql, &result, &err), &err);
    int64_t n = duckdb_value_int64(&result, 0, 0);
    duckdb_destroy_result(&result);
    engine_disconnect(c);
    return n;
}

static void opened_by_who_needs_it(void **state) {
    (void)state;
    engine *e = made(&(engine_options){.threads = 1});
    assert_int_equal(count_of(e, "SELECT 41 + 1"), 42);
    assert_true(e->is_open);
    engine_open_ahead(e); /* no more to be done */
    engine_close(e);
}

static void never_needed(void **state) {
    (void)state;
    engine *e = made(&(engine_options){.threads = 1});
    engine_close(e);
    e = made(&(engine_options){.threads = 1});
    engine_open_ahead(e);
    engine_close(e);
    engine_close(NULL);
}

static void *need(void *ctx) {
    silt_error err = {0};
    return engine_need(ctx, &err) == SILT_OK && ((engine *)ctx)->is_open ? ctx : NULL;
}

static void needed_by_several_threads_at_once(void **state) {
    (void)state;
    for (int ahead = 0; ahead < 2; ahead++) {
        pthread_t threads[4];
        engine *e = made(&(engine_options){.threads = 1});
        if (ahead) e->parquet.soon(&e->parquet);
        for (size_t i = 0; i < ARRAY_LEN(threads); i++) assert_int_equal(pthread_create(&threads[i], NULL, need, e), 0);
        engine_open_ahead(e);
        for (size_t i = 0; i < ARRAY_LEN(threads); i++) {
            void *done;
            pthread_join(threads[i], &done);
            assert_ptr_equal(done, e);
        }
        assert_int_equal(count_of(e, "SELECT count(*) FROM range(7)"), 7);
        engine_close(e);
    }
}

/* Told to the first who needs it; other options make it good. */
static void what_is_wrong_is_told_by_need(void **state) {
    (void)state;
    for (int ahead = 0; ahead < 2; ahead++) {
        silt_error err = {0};
        engine *e = made(&(engine_options){.threads = 1, .memory_limit = STR("much")});
        if (ahead) engine_open_ahead(e);
        assert_condition(engine_need(e, &err), &err, "INVALID_PARAMETER_VALUE");
        assert_condition(engine_need(e, &err), &err, "INVALID_PARAMETER_VALUE");
        assert_ok(engine_set_options(e, &(engine_options){.threads = 1, .time_zone = STR("Europe/Nowhere")}, &err), &err);
        if (ahead) engine_open_ahead(e);
        assert_condition(engine_set_time_zone(e, STR("UTC"), &err), &err, "INVALID_PARAMETER_VALUE");
        assert_non_null(strstr(err.message, "Europe/Nowhere"));
        assert_ok(engine_set_options(e, &(engine_options){.threads = 1, .time_zone = STR("Europe/Paris")}, &err), &err);
        assert_int_equal(count_of(e, "SELECT 3"), 3);
        assert_string_equal(e->time_zone, "Europe/Paris");
        assert_ok(engine_set_options(e, &(engine_options){.memory_limit = STR("much")}, &err), &err); /* open as it is */
        assert_int_equal(count_of(e, "SELECT 4"), 4);
        engine_close(e);
    }
}

static void a_zone_set_while_it_is_opened(void **state) {
    (void)state;
    silt_error err = {0};
    engine *e = made(&(engine_options){.threads = 1, .time_zone = STR("Europe/Paris")});
    engine_open_ahead(e);
    assert_ok(engine_set_time_zone(e, STR("+02:00"), &err), &err);
    assert_string_equal(e->time_zone, "+02:00");
    engine_close(e);
}

/* A source of files remembers the zone in which their times are read. */
static void a_source_of_files_needs_it(void **state) {
    (void)state;
    silt_error err = {0};
    table_source *source = NULL;
    engine *e = made(&(engine_options){.threads = 1, .time_zone = STR("Europe/Paris")});
    str path = STR("/tmp/silt-no-such-file.csv");
    assert_int_not_equal(engine_file_source(e, STR("csv"), &path, 1, NULL, NULL, 0, NULL, &source, &err), SILT_OK);
    assert_true(e->is_open);
    engine_close(e);
}

static void cancelled_while_it_is_opened(void **state) {
    (void)state;
    silt_error err = {0};
    cancel_token cancel = {0};
    engine *e = made(&(engine_options){.threads = 1, .time_zone = STR("Europe/Paris"), .cancel = &cancel});
    cancel_request(&cancel, true);
    engine_open_ahead(e);
    assert_condition(engine_need(e, &err), &err, "OPERATION_CANCELLED");
    cancel_request(&cancel, false);
    assert_int_equal(count_of(e, "SELECT 5"), 5);
    engine_close(e);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(opened_by_who_needs_it),       cmocka_unit_test(never_needed),
        cmocka_unit_test(needed_by_several_threads_at_once), cmocka_unit_test(what_is_wrong_is_told_by_need),
        cmocka_unit_test(a_zone_set_while_it_is_opened), cmocka_unit_test(a_source_of_files_needs_it),
        cmocka_unit_test(cancelled_while_it_is_opened),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
