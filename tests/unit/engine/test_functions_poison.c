/*
 * Poison rows: every third row of the file holds values that make the expression raise. With a filter below that takes those rows out, as a deletion vector does, no query
 * may raise, whatever DuckDB's optimiser moves; without it, each of them must. The file's columns have few values, so that DuckDB reads them as dictionaries, over all
 * of whose values it would run a function that does not say that it may raise.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "engine/functions.h"
#include "expr/expr.h"

static duckdb_database database;
static duckdb_connection connection;
static char file_path[] = "/tmp/silt-poison-XXXXXX.parquet";
static bool rows_deleted;

static const char *const columns = "id INT, s STRING, z INT, big INT, d DOUBLE, huge DOUBLE, dec DECIMAL(10,2), ds STRING";

static void is_live(duckdb_function_info info, duckdb_data_chunk input, duckdb_vector output) {
    (void)info;
    const int64_t *row = duckdb_vector_get_data(duckdb_data_chunk_get_vector(input, 0));
    bool *live = duckdb_vector_get_data(output);
    for (idx_t i = 0; i < duckdb_data_chunk_get_size(input); i++) live[i] = row[i] % 3 != 0;
}

static void run(const char *sql) {
    duckdb_result r;
    if (duckdb_query(connection, sql, &r) != DuckDBSuccess) fail_msg("%s", duckdb_result_error(&r));
    duckdb_destroy_result(&r);
}

static int set_up(void **state) {
    (void)state;
    silt_error err = {0};
    if (engine_load_duckdb(&err) != SILT_OK) fail_msg("%s %s", err.message, err.detail);
    assert_int_equal(duckdb_open_ext(NULL, &database, NULL, NULL), DuckDBSuccess);
    assert_int_equal(duckdb_connect(database, &connection), DuckDBSuccess);
    if (engine_register_functions(connection, &err) != SILT_OK) fail_msg("%s %s", err.message, err.detail);
    for (uint8_t p = 1; p <= 38; p++)
        for (uint8_t s = 0; s <= p; s++) assert_true(engine_register_decimal(connection, p, s));
    duckdb_scalar_function f = duckdb_create_scalar_function();
    duckdb_logical_type bigint = duckdb_create_logical_type(DUCKDB_TYPE_BIGINT),
                        boolean = duckdb_create_logical_type(DUCKDB_TYPE_BOOLEAN);
    duckdb_scalar_function_set_name(f, "test_live");
    duckdb_scalar_function_add_parameter(f, bigint);
    duckdb_scalar_function_set_return_type(f, boolean);
    duckdb_scalar_function_set_function(f, is_live);
    assert_int_equal(duckdb_register_scalar_function(connection, f), DuckDBSuccess);
    duckdb_destroy_scalar_function(&f);
    duckdb_destroy_logical_type(&bigint);
    duckdb_destroy_logical_type(&boolean);
    int fd = mkstemps(file_path, 8);
    assert_true(fd >= 0);
    close(fd);
    char sql[2000];
    snprintf(sql, sizeof sql,
             "COPY (SELECT i::INTEGER AS id, CASE WHEN i %% 3 = 0 THEN 'bad' ELSE (i %% 3)::VARCHAR END AS s, (i %% 3)::INTEGER "
             "AS z, CASE WHEN i %% 3 = 0 THEN 2147483647 ELSE i %% 3 END::INTEGER AS big, "
             "(i %% 3)::DOUBLE AS d, CASE WHEN i %% 3 = 0 THEN 1e300 ELSE i %% 3 END::DOUBLE AS huge, (i %% 3)::DECIMAL(10,2) AS "
             "dec, CASE WHEN i %% 3 = 0 THEN '2020-13-45' ELSE '2020-01-01' END AS ds "
             "FROM range(6000) t(i)) TO '%s' (FORMAT parquet, ROW_GROUP_SIZE 2048)",
             file_path);
    run(sql);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    duckdb_disconnect(&connection);
    duckdb_close(&database);
    unlink(file_path);
    return 0;
}

static silt_status resolve(table_resolver *r, const relation *rel, arena *a, table_source **out, str *out_view, silt_error *err) {
    (void)r;
    (void)rel;
    (void)out_view;
    table_source *s = ARENA_NEW(a, table_source);
    if (!s) return error_no_memory(err);
    *out = s;
    return schema_parse_ddl(str_of(columns), a, &s->schema, err);
}

static silt_status print_scan(scan_printer *p, const relation *r, buf *out, silt_error *err) {
    (void)p;
    (void)err;
    buf_append_z(out, "(SELECT file_index AS f");
    for (size_t i = 0; i < r->source->schema->n_fields; i++)
        if (r->column_used[i]) buf_printf(out, ", %.*s AS c%zu", STR_ARG(r->source->schema->fields[i].name), i);
    buf_printf(out, " FROM (SELECT *, file_index FROM read_parquet('%s')%s))", file_path,
               rows_deleted ? " WHERE test_live(file_row_number)" : "");
    return SILT_OK;
}

/* The condition that the query raises, "" for none. */
static void condition_of(const char *sql, char out[static sizeof((silt_error *)0)->condition]) {
    arena *a = arena_new();
    silt_error err = {0};
    table_resolver resolver = {.resolve = resolve};
    scan_printer scans = {NULL, print_scan};
    bind_env env = {.resolver = &resolver, .time_zone = STR("UTC"), .ansi = true, .source_text = str_of(sql)};
    query *q;
    buf text;
    buf_init(&text, 1 << 20);
    bool ok = query_parse(str_of(sql), a, &q, &err) == SILT_OK && query_bind(q, &env, a, &err) == SILT_OK &&
              expr_push_predicates(q, &env, a, &err) == SILT_OK &&
              query_print_duckdb(q, &env, &scans, true, &text, &err) == SILT_OK;
    if (!ok) fail_msg("%s: %s %s", sql, err.condition, err.message);
    duckdb_result r;
    out[0] = 0;
    if (duckdb_query(connection, buf_cstr(&text), &r) != DuckDBSuccess) {
        (void)engine_error_from_text(&err, duckdb_result_error(&r));
        snprintf(out, sizeof err.condition, "%s", err.condition);
    }
    duckdb_destroy_result(&r);
    buf_dispose(&text);
    arena_free(a);
}

static const struct {
    const char *sql, *raises;
} queries[] = {
    {"SELECT count(*) FROM p WHERE cast(s AS int) > 3", "CAST_INVALID_INPUT"},
    {"SELECT sum(x) FROM (SELECT cast(s AS int) AS x, id FROM p) WHERE x > 10 AND id > 5", "CAST_INVALID_INPUT"},
    {"SELECT count(*) FROM p WHERE cast(s AS double) > 3", "CAST_INVALID_INPUT"},
    {"SELECT count(*) FROM p WHERE cast(s AS decimal(10,2)) > 3", "CAST_INVALID_INPUT"},
    {"SELECT count(*) FROM p WHERE cast(ds AS date) = DATE'2020-01-01'", "CAST_INVALID_INPUT"},
    {"SELECT count(*) FROM p WHERE cast(ds AS timestamp) > TIMESTAMP'2019-01-01 00:00:00'", "CAST_INVALID_INPUT"},
    {"SELECT count(*) FROM p WHERE to_date(ds, 'yyyy-MM-dd') = DATE'2020-01-01'", "CANNOT_PARSE_TIMESTAMP"},
    {"SELECT count(*) FROM p WHERE 10 / z > 1", "DIVIDE_BY_ZERO"},
    {"SELECT count(*) FROM p WHERE 10 div z > 1", "DIVIDE_BY_ZERO"},
    {"SELECT count(*) FROM p WHERE id % z = 0", "REMAINDER_BY_ZERO"},
    {"SELECT count(*) FROM p WHERE 1D / d > 0.5", "DIVIDE_BY_ZERO"},
    {"SELECT count(*) FROM p WHERE 1.0 / dec > 0.1", "DIVIDE_BY_ZERO"},
    {"SELECT count(*) FROM p WHERE big + id > 4", "ARITHMETIC_OVERFLOW"},
    {"SELECT count(*) FROM p WHERE big * (id + 1) > 4", "ARITHMETIC_OVERFLOW"},
    {"SELECT count(*) FROM p WHERE cast(huge AS int) > z", "CAST_OVERFLOW"},
    {"SELECT count(*) FROM p WHERE cast(big AS smallint) > z", "CAST_OVERFLOW"},
    {"SELECT count(*) FROM p WHERE cast(huge AS decimal(10,2)) > 3", "NUMERIC_VALUE_OUT_OF_RANGE.WITH_SUGGESTION"},
    {"SELECT count(*) FROM p WHERE array(1, 2, 3)[CASE WHEN s = 'bad' THEN 9 ELSE 0 END] = 1", "INVALID_ARRAY_INDEX"},
    {"SELECT count(*) FROM p WHERE element_at(array(1, 2, 3), CASE WHEN s = 'bad' THEN 9 ELSE 1 END) = 1",
     "INVALID_ARRAY_INDEX_IN_ELEMENT_AT"},
    {"SELECT count(*) FROM p WHERE assert_true(s <> 'bad') IS NULL", "USER_RAISED_EXCEPTION"},
    {"SELECT count(*) FROM p WHERE s LIKE concat(s, CASE WHEN s = 'bad' THEN '\\\\' ELSE '' END)",
     "INVALID_FORMAT.ESC_AT_THE_END"},
    {"SELECT count(*) FROM p WHERE split_part(s, 'a', CASE WHEN s = 'bad' THEN 0 ELSE 1 END) = '1'", "INVALID_INDEX_OF_ZERO"},
    {"SELECT count(*) FROM p WHERE next_day(DATE'2020-01-01', CASE WHEN s = 'bad' THEN 'x' ELSE 'MON' END) > DATE'2019-01-01'",
     "ILLEGAL_DAY_OF_WEEK"},
    {"SELECT count(*) FROM p WHERE make_date(2020, CASE WHEN s = 'bad' THEN 13 ELSE 1 END, 1) > DATE'2019-01-01'",
     "DATETIME_FIELD_OUT_OF_BOUNDS.WITH_SUGGESTION"},
    {"SELECT count(*) FROM p WHERE transform(array(s), x -> cast(x AS int))[0] = 1", "CAST_INVALID_INPUT"},
    {"SELECT count(*) FROM p WHERE exists(array(big), x -> x + 1 > 1)", "ARITHMETIC_OVERFLOW"},
    {"SELECT count(*) FROM p WHERE aggregate(array(big), 1, (a, x) -> a + x) > 1", "ARITHMETIC_OVERFLOW"},
    {"SELECT count(*) FROM p WHERE map('a', 1, CASE WHEN s = 'bad' THEN 'a' ELSE s END, 2)['a'] = 1", "DUPLICATED_MAP_KEY"},
    {"SELECT count(*) FROM p a JOIN p b ON cast(a.ds AS date) = cast(b.ds AS date) AND a.id = b.id", "CAST_INVALID_INPUT"},
    {"SELECT count(*) FROM p a, p b WHERE cast(a.s AS int) = b.id", "CAST_INVALID_INPUT"},
    {"SELECT count(*) FROM (SELECT * FROM p UNION ALL SELECT * FROM p) WHERE cast(s AS int) > 3", "CAST_INVALID_INPUT"},
    {"SELECT count(*) FROM (SELECT s, count(*) AS c FROM p GROUP BY s) WHERE cast(s AS int) > 3", "CAST_INVALID_INPUT"},
    {"SELECT count(*) FROM p WHERE id IN (SELECT cast(s AS int) FROM p)", "CAST_INVALID_INPUT"},
    {"WITH c AS (SELECT 100 / z AS x FROM p) SELECT count(*) FROM c a JOIN c b ON a.x = b.x WHERE a.x > 200", "DIVIDE_BY_ZERO"},
    {"SELECT cast(ds AS date) AS d, count(*) FROM p GROUP BY 1", "CAST_INVALID_INPUT"},
    {"SELECT max(cast(ds AS date)) OVER (ORDER BY id) FROM p", "CAST_INVALID_INPUT"},
    {"SELECT id FROM p ORDER BY cast(ds AS date), id LIMIT 2", "CAST_INVALID_INPUT"},
};

static void deleted_rows_never_raise(void **state) {
    (void)state;
    rows_deleted = true;
    for (size_t i = 0; i < ARRAY_LEN(queries); i++) {
        char condition[sizeof((silt_error *)0)->condition];
        condition_of(queries[i].sql, condition);
        if (condition[0]) fail_msg("%s raised %s", queries[i].sql, condition);
    }
}

static void live_rows_raise_sparks_conditions(void **state) {
    (void)state;
    rows_deleted = false;
    for (size_t i = 0; i < ARRAY_LEN(queries); i++) {
        char condition[sizeof((silt_error *)0)->condition];
        condition_of(queries[i].sql, condition);
        if (strcmp(condition, queries[i].raises) != 0)
            fail_msg("%s raised '%s', expected %s", queries[i].sql, condition, queries[i].raises);
    }
}

/* A guard stands to the left of what it guards. */
static void conditions_are_tested_from_left_to_right(void **state) {
    (void)state;
    static const char *const guarded[] = {
        "SELECT count(*) FROM p WHERE z <> 0 AND 10 / z > 1",
        "SELECT count(*) FROM p WHERE s <> 'bad' AND cast(s AS int) > 0",
        "SELECT sum(CASE WHEN z = 0 THEN 0 ELSE 10 / z END) FROM p",
        "SELECT count(*) FROM p WHERE if(s = 'bad', 0, cast(s AS int)) > 0",
        "SELECT count(*) FROM p WHERE s = 'bad' OR cast(s AS int) > 0",
        "SELECT count(*) FROM p WHERE coalesce(try_cast(s AS int), 0) > 0",
    };
    rows_deleted = false;
    for (size_t i = 0; i < ARRAY_LEN(guarded); i++) {
        char condition[sizeof((silt_error *)0)->condition];
        condition_of(guarded[i], condition);
        if (condition[0]) fail_msg("%s raised %s", guarded[i], condition);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(deleted_rows_never_raise),
                                       cmocka_unit_test(live_rows_raise_sparks_conditions),
                                       cmocka_unit_test(conditions_are_tested_from_left_to_right)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
