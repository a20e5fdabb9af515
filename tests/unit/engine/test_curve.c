/* Keys of a curve over every type, and rows written in their order: by the sorter, by parts when memory is short, and by ORDER BY where the sorter cannot keep a type. */
#include <math.h>

#include "support.h"

#include "engine/curve.h"

static engine_curve *curve_over(fake_table *t, const char *const *columns, size_t n, curve_kind kind, int64_t ranges) {
    expr *items[8];
    relation *r = make_relation(t);
    engine_curve *c;
    silt_error err = {0};
    for (size_t i = 0; i < n; i++) items[i] = column_of(r, columns[i]);
    assert_ok(engine_curve_open(fix.engine, make_query(r, items, n, NULL), &plain_env, kind, ranges, &c, &err), &err);
    return c;
}

static expr *key_of(const engine_curve *c, relation *r, const char *const *columns, size_t n) {
    expr *items[8], *made;
    silt_error err = {0};
    for (size_t i = 0; i < n; i++) items[i] = column_of(r, columns[i]);
    assert_ok(engine_curve_key(c, items, fix.arena, &made, &err), &err);
    return made;
}

static fake_table *table_of(const char *ddl, const char *select) {
    static int number;
    const char *name = arena_printf(fix.arena, "curve%d.parquet", ++number).ptr;
    run_sql(arena_printf(fix.arena, "COPY (%s) TO '{}/%s'", select, name).ptr);
    fake_table *t = make_table(ddl);
    add_file(t, name);
    return t;
}

/* Rows in the order of the curve, written and read again: "c0,c1,…" lines of the given DuckDB expressions over the file. */
static written_file *write_ordered(fake_table *t, const engine_curve *c, const char *const *columns, size_t n, int64_t file_bytes, size_t *out_files) {
    static int number;
    relation *r = make_relation(t);
    expr *items[16];
    for (size_t i = 0; i < t->base.schema->n_fields; i++) items[i] = column_of(r, arena_cstr(fix.arena, t->base.schema->fields[i].name));
    query *q = make_query(r, items, t->base.schema->n_fields, NULL);
    sort_key *k = ARENA_NEW(fix.arena, sort_key);
    k->value = key_of(c, r, columns, n);
    k->nulls_first = true;
    q->order_by = k;
    q->n_order_by = 1;
    write_spec spec = {.store = fix.store,
                       .root = arena_printf(fix.arena, "%s/w%d", fix.folder, ++number),
                       .schema = t->base.schema,
                       .target_file_bytes = file_bytes,
                       .collect_stats = true,
                       .num_indexed_columns = 32,
                       .string_prefix_length = 32,
                       .time_zone = STR("UTC")};
    write_result w;
    silt_error err = {0};
    assert_ok(engine_write(fix.engine, q, &plain_env, &spec, fix.arena, &w, &err), &err);
    *out_files = w.n_files;
    for (size_t i = 0; i < w.n_files; i++) w.files[i].path = arena_printf(fix.arena, "%.*s/%.*s", STR_ARG(spec.root), STR_ARG(w.files[i].path));
    return w.files;
}

static const char *files_sql(const written_file *files, size_t n) {
    str out = STR("");
    for (size_t i = 0; i < n; i++) out = arena_printf(fix.arena, "%.*s%s'%.*s'", STR_ARG(out), i ? ", " : "", STR_ARG(files[i].path));
    return arena_printf(fix.arena, "read_parquet([%.*s], file_row_number = true, filename = true)", STR_ARG(out)).ptr;
}

static const char *source_of(const fake_table *t) { return arena_printf(fix.arena, "read_parquet('%.*s')", STR_ARG(t->files[0].path)).ptr; }

/* The same rows as before, as a bag. */
static void assert_same_rows(const fake_table *t, const char *files) {
    const char *columns = "* EXCLUDE (file_row_number, filename)";
    assert_string_equal(duck_rows(arena_printf(fix.arena,
                                               "SELECT (SELECT count(*) FROM (SELECT %s FROM %s EXCEPT ALL SELECT * FROM %s)) + (SELECT count(*) FROM (SELECT * FROM %s EXCEPT ALL SELECT %s FROM %s))",
                                               columns, files, source_of(t), source_of(t), columns, files)
                                      .ptr),
                        "0");
}

/* ---- the order of one column is that of its values ---- */

static const struct {
    const char *type, *values; /* a DuckDB list, in the order in which they must come out; each value is there many times, shuffled */
} ordered[] = {
    {"BIGINT", "[NULL, -9223372036854775807, -1, 0, 1, 9223372036854775807]"},
    {"INT", "[NULL, -2147483648, -5, 7, 2147483647]::INT[]"},
    {"SMALLINT", "[NULL, -32768, 0, 32767]::SMALLINT[]"},
    {"TINYINT", "[NULL, -128, -1, 127]::TINYINT[]"},
    {"BOOLEAN", "[NULL, false, true]"},
    {"DOUBLE", "[NULL, '-inf', '-1e300', '-1.5', '-1e-300', '0', '1e-300', '2', '1e300', 'inf', 'nan']::DOUBLE[]"},
    {"FLOAT", "[NULL, '-inf', '-2.5', '0', '0.5', 'inf', 'nan']::FLOAT[]"},
    {"DECIMAL(10,2)", "[NULL, -99999999.99, -0.01, 0.00, 5.50]::DECIMAL(10,2)[]"},
    {"DECIMAL(38,0)", "[NULL, -99999999999999999999999999999999999999, -1, 0, 1, 99999999999999999999999999999999999999]::DECIMAL(38,0)[]"},
    {"DATE", "[NULL, '0001-01-01', '1969-12-31', '1970-01-01', '9999-12-31']::DATE[]"},
    {"TIMESTAMP", "[NULL, '0001-01-01 00:00:00+00', '1969-12-31 23:59:59.999999+00', '2020-02-29 12:00:00+00']::TIMESTAMPTZ[]"},
    {"TIMESTAMP_NTZ", "[NULL, '0001-01-01 00:00:00', '2020-02-29 12:00:00.000001']::TIMESTAMP[]"},
    {"STRING", "[NULL, '', 'B', 'a', 'a longer text than a string holds itself, 1', 'a longer text than a string holds itself, 2', 'b', 'é', '\xF0\x9F\x98\x80']"},
    {"BINARY", "['\\x00'::BLOB, '\\x00\\x00'::BLOB, '\\x7F'::BLOB, '\\x80'::BLOB, '\\xFF\\xFF'::BLOB]"},
};

static void one_column_is_in_its_own_order(void **state) {
    (void)state;
    static const char *const c[] = {"c"};
    for (size_t i = 0; i < ARRAY_LEN(ordered); i++) {
        fake_table *t = table_of(arena_printf(fix.arena, "c %s, n BIGINT", ordered[i].type).ptr,
                                 arena_printf(fix.arena, "SELECT v[1 + (i * 7919) %% len(v)] AS c, (i * 7919) %% len(v) AS n FROM (SELECT %s AS v), range(5000) t(i)", ordered[i].values).ptr);
        for (int kind = CURVE_ZORDER; kind <= CURVE_HILBERT; kind++) {
            size_t n;
            engine_curve *curve = curve_over(t, c, 1, (curve_kind)kind, 1000);
            const char *files = files_sql(write_ordered(t, curve, c, 1, 0, &n), 1);
            assert_int_equal(n, 1);
            assert_same_rows(t, files);
            /* n is the number of the value in the list: never smaller than in the row before */
            assert_string_equal(duck_rows(arena_printf(fix.arena, "SELECT count(*) FROM (SELECT n, lag(n) OVER (ORDER BY file_row_number) AS before FROM %s) WHERE n < before", files).ptr), "0");
            engine_curve_close(curve);
        }
    }
}

/* ---- several columns ---- */

/* How many of 64 files hold rows with x in a range of a hundredth, and with y: a row order by one column gives 1 and 64. */
static void two_columns_have_an_equal_say(void **state) {
    (void)state;
    static const char *const columns[] = {"x", "y"};
    fake_table *t = table_of("x INT, y STRING, z BIGINT", "SELECT CAST((i * 7919) % 40000 AS INT) AS x, printf('value %06d', (i * 104729 + i // 3) % 40009) AS y, i AS z FROM range(40000) t(i)");
    for (int kind = CURVE_ZORDER; kind <= CURVE_HILBERT; kind++) {
        size_t n;
        engine_curve *curve = curve_over(t, columns, 2, (curve_kind)kind, 1000);
        const char *files = files_sql(write_ordered(t, curve, columns, 2, 0, &n), 1);
        assert_same_rows(t, files);
        const char *pieces = arena_printf(fix.arena, "(SELECT file_row_number // 625 AS piece, min(x) AS x0, max(x) AS x1, min(y) AS y0, max(y) AS y1 FROM %s GROUP BY 1)", files).ptr;
        const char *counts = duck_rows(arena_printf(fix.arena, "SELECT count(*) FILTER (x0 <= 20400 AND x1 >= 20000), count(*) FILTER (y0 <= 'value 020400' AND y1 >= 'value 020000'), count(*) FROM %s", pieces).ptr);
        int by_x, by_y, all;
        assert_int_equal(sscanf(counts, "%d,%d,%d", &by_x, &by_y, &all), 3);
        assert_int_equal(all, 64);
        assert_true(by_x <= 17 && by_y <= 17); /* 8 of 64 at best, and twice that where the range lies on a seam */
        engine_curve_close(curve);
    }
}

/* Two values must not drown beside a column of thousands: of 40 pieces but those on a seam have one of them. */
static void a_column_of_few_values_counts(void **state) {
    (void)state;
    static const char *const columns[] = {"x", "flag", "constant"};
    fake_table *t = table_of("x INT, flag BOOLEAN, constant STRING, n BIGINT", "SELECT CAST((i * 7919) % 40000 AS INT) AS x, i % 2 = 0 AS flag, 'same' AS constant, i AS n FROM range(40000) t(i)");
    for (int kind = CURVE_ZORDER; kind <= CURVE_HILBERT; kind++) {
        size_t n;
        engine_curve *curve = curve_over(t, columns, 3, (curve_kind)kind, 1000);
        const char *files = files_sql(write_ordered(t, curve, columns, 3, 0, &n), 1);
        assert_same_rows(t, files);
        assert_string_equal(duck_rows(arena_printf(fix.arena, "SELECT count(*) FROM (SELECT file_row_number // 1000 AS piece, count(DISTINCT flag) AS flags, max(x) - min(x) AS width FROM %s GROUP BY 1) HAVING count(*) FILTER (flags = 1) >= 37 AND max(width) FILTER (flags = 1) < 21000", files).ptr), "40");
        engine_curve_close(curve);
    }
}

/* No row, nulls alone, one row: there is no sample to speak of. */
static void samples_of_nothing(void **state) {
    (void)state;
    static const char *const columns[] = {"x", "y"};
    static const char *const selects[] = {"SELECT 1::INT AS x, 'a' AS y WHERE false", "SELECT NULL::INT AS x, NULL::VARCHAR AS y FROM range(3000)", "SELECT 1::INT AS x, 'a' AS y"};
    for (size_t i = 0; i < ARRAY_LEN(selects); i++) {
        size_t n;
        fake_table *t = table_of("x INT, y STRING", selects[i]);
        engine_curve *curve = curve_over(t, columns, 2, CURVE_HILBERT, 1000);
        written_file *files = write_ordered(t, curve, columns, 2, 0, &n);
        assert_int_equal(n, i > 0);
        if (n) assert_same_rows(t, files_sql(files, n));
        engine_curve_close(curve);
    }
}

/* ---- the sorter ---- */

static const char wide_ddl[] = "k BIGINT, s STRING, b BINARY, d DECIMAL(38,4), l ARRAY<STRUCT<a: INT, t: STRING>>, m MAP<STRING, ARRAY<BIGINT>>, g STRUCT<x: DOUBLE, h: STRUCT<y: DATE, z: ARRAY<INT>>>, e TIMESTAMP";
static const char wide_select[] =
    "SELECT (i * 7919) % 30011 AS k, CASE WHEN i % 11 = 0 THEN NULL ELSE repeat('x', i % 40) || i END AS s, CASE WHEN i % 5 <> 0 THEN encode('b' || i) END AS b, "
    "CASE WHEN i % 3 <> 0 THEN (i::HUGEINT * 1000000007 * 1000000009)::DECIMAL(38,4) END AS d, "
    "CASE WHEN i % 7 = 0 THEN NULL WHEN i % 7 = 1 THEN [] ELSE [NULL, {'a': i::INT, 't': 'a text that is long enough ' || i}, {'a': NULL, 't': NULL}] END AS l, "
    "CASE WHEN i % 6 = 0 THEN NULL ELSE MAP {'k' || i: [i, NULL], 'other': NULL} END AS m, "
    "CASE WHEN i % 4 = 0 THEN NULL ELSE {'x': i / 3, 'h': CASE WHEN i % 8 = 1 THEN NULL ELSE {'y': DATE '2000-01-01' + (i % 1000)::INT, 'z': [i::INT]} END} END AS g, "
    "CASE WHEN i % 9 <> 0 THEN make_timestamptz(i * 1000003) END AS e FROM range(30000) t(i)";

static void every_type_comes_back_as_it_went(void **state) {
    (void)state;
    static const char *const columns[] = {"k", "s", "e"};
    fake_table *t = table_of(wide_ddl, wide_select);
    size_t n;
    engine_curve *curve = curve_over(t, columns, 3, CURVE_ZORDER, 1000);
    written_file *files = write_ordered(t, curve, columns, 3, 0, &n);
    assert_same_rows(t, files_sql(files, n));
    engine_curve_close(curve);
    curve = curve_over(t, columns, 1, CURVE_ZORDER, 1000);
    files = write_ordered(t, curve, columns, 1, 200000, &n); /* several files: each begins where the one before has ended */
    assert_true(n > 2);
    assert_same_rows(t, files_sql(files, n));
    for (size_t i = 1; i < n; i++)
        assert_string_equal(duck_rows(arena_printf(fix.arena, "SELECT (SELECT max(k) FROM %s) <= (SELECT min(k) FROM %s)", files_sql(&files[i - 1], 1), files_sql(&files[i], 1)).ptr), "true");
    engine_curve_close(curve);
}

/* 48 MB of rows where 32 MB may be kept. */
static void more_rows_than_memory(void **state) {
    (void)state;
    static const char *const columns[] = {"k"};
    fake_table *t = table_of("k BIGINT, s STRING", "SELECT (i * 7919) % 400009 AS k, repeat(chr((65 + i % 26)::INT), 100) AS s FROM range(400000) t(i)");
    size_t n;
    t->rows = 400000;
    run_sql("SET memory_limit = '128MB'");
    engine_curve *curve = curve_over(t, columns, 1, CURVE_ZORDER, 1000);
    const char *files = files_sql(write_ordered(t, curve, columns, 1, 0, &n), 1);
    run_sql("SET memory_limit = '4GB'");
    assert_same_rows(t, files);
    /* several threads write row groups: these, and no more, may change places */
    assert_string_equal(duck_rows(arena_printf(fix.arena, "SELECT count(*) < 20 FROM (SELECT k, lag(k) OVER (ORDER BY file_row_number) AS before FROM %s) WHERE k < before", files).ptr), "true");
    engine_curve_close(curve);
}

/* All rows are one bucket's, which is sorted in parts; and rows that are larger than a page. */
static void one_key_and_large_rows(void **state) {
    (void)state;
    static const char *const columns[] = {"k", "f"};
    static const char *const selects[] = {"SELECT 7::BIGINT AS k, NULL::DOUBLE AS f, repeat(chr((65 + i % 26)::INT), 100) AS s FROM range(400000) t(i)",
                                          "SELECT i % 7 AS k, i / 3 AS f, repeat(chr((65 + i % 26)::INT), 300000 + i::INT) AS s FROM range(200) t(i)"};
    for (size_t i = 0; i < ARRAY_LEN(selects); i++) {
        fake_table *t = table_of("k BIGINT, f DOUBLE, s STRING", selects[i]);
        size_t n;
        run_sql(i == 0 ? "SET memory_limit = '160MB'" : "SET memory_limit = '4GB'");
        engine_curve *curve = curve_over(t, columns, 2, CURVE_HILBERT, 1000);
        const char *files = files_sql(write_ordered(t, curve, columns, 2, 0, &n), 1);
        assert_int_equal(n, 1);
        assert_same_rows(t, files);
        engine_curve_close(curve);
        run_sql("SET memory_limit = '4GB'");
    }
}

/* One thread, so that rows stand in the file as they were given. */
static int one_thread(void **state) {
    (void)state;
    run_sql("SET threads = 1");
    return 0;
}

static int all_threads(void **state) {
    (void)state;
    run_sql("RESET threads");
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test_setup_teardown(one_column_is_in_its_own_order, one_thread, all_threads),
                                       cmocka_unit_test_setup_teardown(two_columns_have_an_equal_say, one_thread, all_threads),
                                       cmocka_unit_test_setup_teardown(a_column_of_few_values_counts, one_thread, all_threads),
                                       cmocka_unit_test(samples_of_nothing),
                                       cmocka_unit_test(every_type_comes_back_as_it_went), cmocka_unit_test(more_rows_than_memory), cmocka_unit_test(one_key_and_large_rows)};
    return cmocka_run_group_tests(tests, fixture_open, fixture_close);
}
