/* The printers: Spark text that reads back as the same tree, and DuckDB text without a user's identifier in it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support.h"

static const char *const queries[] = {
    "SELECT id, name AS n, -id, NOT flag, 1.50, 'it''s', X'0AFF', DATE'2020-01-01', null, true FROM t",
    "SELECT t.* EXCEPT (name), s.a, m['k'], xs[0] FROM t AS t",
    "SELECT CASE WHEN id > 1 THEN 'a' ELSE 'b' END, CASE id WHEN 1 THEN 2 END, CAST(id AS STRING), TRY_CAST(name AS INT) FROM t",
    "SELECT id FROM t WHERE id BETWEEN 1 AND 2 AND name NOT LIKE 'a%' ESCAPE '/' OR id IN (1, 2) AND name RLIKE 'x' AND s IS NOT "
    "NULL",
    "SELECT a.id FROM t AS a LEFT JOIN u AS b ON a.id = b.id CROSS JOIN u AS c LEFT SEMI JOIN u USING (id)",
    "SELECT name, count(DISTINCT id), sum(id) FILTER (WHERE id > 1) FROM t GROUP BY name HAVING count(*) > 1 ORDER BY name DESC "
    "NULLS FIRST LIMIT 5 OFFSET 1",
    "SELECT name FROM t GROUP BY ROLLUP (name, day)",
    "SELECT name FROM t GROUP BY GROUPING SETS ((name, day), (name), ())",
    "SELECT sum(id) OVER (PARTITION BY name ORDER BY id ROWS BETWEEN 1 PRECEDING AND CURRENT ROW), lag(id) OVER w FROM t WINDOW "
    "w AS (ORDER BY id)",
    "WITH w AS (SELECT 1 AS x), y(a) AS (SELECT 2) SELECT * FROM w, y",
    "(SELECT 1) UNION ALL (SELECT 2) ORDER BY 1",
    "SELECT (SELECT max(id) FROM u), id IN (SELECT id FROM u), NOT EXISTS (SELECT 1 FROM u) FROM t",
    "SELECT transform(xs, x -> x + 1), aggregate(xs, 0, (acc, x) -> acc + x) FROM t",
    "SELECT e FROM t LATERAL VIEW OUTER explode(xs) v AS e",
    "SELECT `select`, `a.b` AS `a ``b` FROM `odd name`",
    "SELECT * FROM VALUES (1, 'a'), (2, 'b') AS x(p, q)",
    "SELECT id FROM t VERSION AS OF 3",
    "SELECT DISTINCT id FROM range(3) AS r(id)",
    "SELECT INTERVAL '3' MONTH, INTERVAL '1.5' SECOND",
};

/* print(parse(x)) is a fixed point of print∘parse. */
static void spark_text_reads_back_the_same(void **state) {
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(queries); i++) {
        arena *a = arena_new();
        silt_error err = {0};
        query *q;
        buf first, second;
        buf_init(&first, 100000);
        buf_init(&second, 100000);
        if (query_parse(str_of(queries[i]), a, &q, &err) != SILT_OK) fail_msg("%s: %s", queries[i], err.detail);
        query_print_spark(q, &first);
        if (query_parse(buf_str(&first), a, &q, &err) != SILT_OK)
            fail_msg("%s\n  printed %s\n  %s", queries[i], buf_cstr(&first), err.detail);
        query_print_spark(q, &second);
        assert_string_equal(buf_cstr(&first), buf_cstr(&second));
        buf_dispose(&first);
        buf_dispose(&second);
        arena_free(a);
    }
}

/* Errors and the history name bound conditions. */
static void a_bound_field_is_named_once(void **state) {
    (void)state;
    arena *a = arena_new();
    silt_error err = {0};
    query *q;
    buf out;
    buf_init(&out, 4096);
    assert_int_equal(test_bind("SELECT 1 FROM t WHERE t.s.a = 1 AND s.b = 'x'", a, &q, &err), SILT_OK);
    expr_print_spark(q->where, &out);
    assert_string_equal(buf_cstr(&out), "((t.s.a = 1) AND (s.b = 'x'))");
    buf_dispose(&out);
    arena_free(a);
}

static char *print_sql(const char *sql, arena *a) {
    bind_env env = test_env(str_of(sql));
    silt_error err = {0};
    query *q;
    buf out;
    buf_init(&out, 100000);
    if (test_bind(sql, a, &q, &err) != SILT_OK) fail_msg("%s: %s %s", sql, err.condition, err.message);
    assert_int_equal(expr_push_predicates(q, &env, a, &err), SILT_OK);
    assert_int_equal(query_print_duckdb(q, &env, test_scans(), false, &out, &err), SILT_OK);
    char *text = arena_cstr(a, buf_str(&out));
    buf_dispose(&out);
    return text;
}

static void duckdb_text_is_exact(void **state) {
    (void)state;
    static const struct {
        const char *sql, *printed;
    } cases[] = {
        {"SELECT name FROM t WHERE id = 1 ORDER BY name",
         "SELECT r2.c1 AS c0 FROM (SCAN t c0 c1) AS r2 WHERE (r2.c0 = 1::INTEGER) ORDER BY 1 ASC NULLS FIRST"},
        {"SELECT id + 1 AS x FROM t ORDER BY id DESC LIMIT 3",
         "SELECT (r2.c0 + 1::INTEGER) AS c0 FROM (SCAN t c0) AS r2 ORDER BY r2.c0 DESC NULLS LAST LIMIT 3"},
        {"SELECT name, count(*) FROM t GROUP BY name HAVING count(*) > 1",
         "SELECT q1.k0 AS c0, q1.a0 AS c1 FROM (SELECT r2.c1 AS k0, count(*) AS a0 FROM (SCAN t c1) AS r2 GROUP BY k0) AS q1 "
         "WHERE (q1.a0 > 1::BIGINT)"},
        {"SELECT id / 2 FROM t", "SELECT (CAST(r2.c0 AS DOUBLE) / '2'::DOUBLE) AS c0 FROM (SCAN t c0) AS r2"},
        {"SELECT `a.b` FROM `odd name`", "SELECT r2.c1 AS c0 FROM (SCAN odd name c1) AS r2"},
        {"SELECT a FROM (SELECT id AS a, name AS unused FROM t) WHERE a > 1",
         "SELECT r4.c0 AS c0 FROM (SELECT r3.c0 AS c0, CAST(NULL AS VARCHAR) AS c1 FROM (SCAN t c0) AS r3) AS r4 WHERE (r4.c0 > "
         "1::INTEGER)"},
        {"SELECT count(*) FROM t", "SELECT q1.a0 AS c0 FROM (SELECT count(*) AS a0 FROM (SCAN t) AS r2) AS q1"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        arena *a = arena_new();
        assert_string_equal(print_sql(cases[i].sql, a), cases[i].printed);
        arena_free(a);
    }
}

/* Field access stays on the files' names, so that DuckDB can push it down; a whole struct is given its logical names. */
static void mapped_structs_print_physical_names(void **state) {
    (void)state;
    arena *a = arena_new();
    field inner[2] = {field_make(STR("a"), &type_int, true), field_make(STR("b"), &type_string, true)};
    inner[0].physical_name = STR("col-1");
    inner[1].physical_name = STR("col-2");
    field outer = field_make(STR("s"), type_struct(a, inner, 2), true);
    table_source source = {.schema = type_struct(a, &outer, 1)};
    relation r = {.kind = REL_TABLE, .source = &source, .sample_percent = -1, .sample_rows = -1};
    bind_env env = test_env(STR_NULL);
    static const struct {
        const char *expr, *printed;
    } cases[] = {
        {"s.a", "struct_extract(r1000001.c0, 'col-1')"},
        {"s", "remap_struct(r1000001.c0, NULL::STRUCT(\"a\" INTEGER, \"b\" VARCHAR), {\"a\": 'col-1', \"b\": 'col-2'}, NULL)"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        expr *e;
        buf out;
        buf_init(&out, 10000);
        assert_int_equal(expr_parse(str_of(cases[i].expr), a, &e, NULL), SILT_OK);
        assert_int_equal(expr_bind(e, &r, &env, a, &e, NULL), SILT_OK);
        assert_int_equal(expr_print_duckdb(e, &env, NULL, &out, NULL), SILT_OK);
        assert_string_equal(buf_cstr(&out), cases[i].printed);
        buf_dispose(&out);
    }
    arena_free(a);
}

/* A text that doubles at every level would have 2^60 pieces here. */
static void text_grows_with_the_tree(void **state) {
    (void)state;
    arena *a = arena_new();
    str sql = STR("id");
    for (int i = 0; i < 60; i++) sql = arena_printf(a, "(%.*s + 1) %% 7", STR_ARG(sql));
    sql = arena_printf(a, "SELECT element_at(array(%.*s), 1) FROM t", STR_ARG(sql));
    assert_true(strlen(print_sql(sql.ptr, a)) < 20000);
    arena_free(a);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(spark_text_reads_back_the_same), cmocka_unit_test(duckdb_text_is_exact),
                                       cmocka_unit_test(mapped_structs_print_physical_names), cmocka_unit_test(text_grows_with_the_tree),
                                       cmocka_unit_test(a_bound_field_is_named_once)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
