/* The binder against Spark 4.1's own answers: result types of expressions, names and scopes, and the condition of every refusal. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support.h"

typedef struct answer {
    const char *sql, *expected;
} answer;

static void check_all(const answer *answers, size_t n) {
    for (size_t i = 0; i < n; i++) {
        arena *a = arena_new();
        str got = test_types(answers[i].sql, a);
        if (!str_eqz(got, answers[i].expected))
            fail_msg("%s\n  got      %.*s\n  expected %s", answers[i].sql, STR_ARG(got), answers[i].expected);
        arena_free(a);
    }
}

static void result_types_are_sparks(void **state) {
    (void)state;
    static const answer answers[] = {
        {"SELECT id + 1, id / 2, id div 2, id % 2 FROM t", "int, double, bigint, int"},
        {"SELECT id + amount, amount * amount, amount / 3, amount % 2 FROM t",
         "decimal(13,2), decimal(21,4), decimal(14,6), decimal(3,2)"},
        {"SELECT amount + price, price * 2, -amount, name || id FROM t", "double, double, decimal(10,2), string"},
        {"SELECT sum(id), avg(id), sum(amount), avg(amount), count(*), max(day) FROM t",
         "bigint, double, decimal(20,2), decimal(14,6), bigint, date"},
        {"SELECT day + 1, day - day, at - at, day + INTERVAL 1 MONTH FROM t",
         "date, interval day to second, interval day to second, date"},
        {"SELECT s.a, s.b, m['k'], xs[0], m.k FROM t", "int, string, int, int, int"},
        {"SELECT CASE WHEN flag THEN id ELSE 2.5 END, coalesce(id, price), if(flag, 1, 2L), nullif(id, 1) FROM t",
         "decimal(11,1), double, bigint, int"},
        {"SELECT year(day), to_date(name), date_trunc('month', at), unix_timestamp(at) FROM t", "int, date, timestamp, bigint"},
        {"SELECT array(1, 2L), map('a', 1.5), struct(id, name AS n), named_struct('x', day) FROM t",
         "array<bigint>, map<string,decimal(2,1)>, struct<id:int,n:string>, struct<x:date>"},
        {"SELECT transform(xs, x -> x * 2.0), filter(xs, x -> x > 1), aggregate(xs, 0L, (a, x) -> a + x), exists(xs, x -> x > 1) "
         "FROM t",
         "array<decimal(13,1)>, array<int>, bigint, boolean"},
        {"SELECT row_number() OVER (ORDER BY id), sum(id) OVER (), lag(name) OVER (ORDER BY id) FROM t", "int, bigint, string"},
        {"SELECT id FROM t UNION ALL SELECT big FROM u", "bigint"},
        {"SELECT 1 AS a UNION SELECT null UNION SELECT 2.5", "decimal(11,1)"},
        {"VALUES (1, 'a'), (2L, null)", "bigint, string"},
        {"SELECT (SELECT max(big) FROM u), id IN (SELECT id FROM u), EXISTS (SELECT 1 FROM u) FROM t",
         "bigint, boolean, boolean"},
        {"SELECT current_date(), current_timestamp(), current_database(), typeof(1)", "date, timestamp, string, string"},
    };
    check_all(answers, ARRAY_LEN(answers));
}

static void names_are_found_as_in_spark(void **state) {
    (void)state;
    static const answer answers[] = {
        {"SELECT ID, T.Name, t.s.A FROM t", "int, string, int"},
        {"SELECT x.id FROM t x JOIN u y ON x.id = y.id", "int"},
        {"SELECT * FROM t JOIN u USING (id)", "int, string, decimal(10,2), double, date, timestamp, boolean, "
                                              "struct<a:int,b:string>, map<string,int>, array<int>, string, bigint, string"},
        {"SELECT u.*, id FROM t JOIN u USING (id)", "int, bigint, string, int"},
        {"SELECT * EXCEPT (name) FROM u", "int, bigint"},
        {"SELECT s.* FROM t", "int, string"},
        {"SELECT `select`, `a.b` FROM `odd name`", "int, int"},
        {"SELECT k + 1 AS j, j * 2 FROM v", "int, int"},
        {"SELECT id AS k FROM t GROUP BY k HAVING count(*) > 1 ORDER BY k", "int"},
        {"SELECT id FROM t WHERE EXISTS (SELECT 1 FROM u WHERE u.id = t.id AND big > (SELECT max(id) FROM t x WHERE x.name = "
         "u.name))",
         "int"},
        {"WITH w AS (SELECT id AS n FROM t), x(m) AS (SELECT n FROM w) SELECT m FROM x", "int"},
        {"WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 3) SELECT n FROM r", "int"},
        {"SELECT e FROM t LATERAL VIEW explode(xs) v AS e", "int"},
        {"SELECT posexplode(xs) AS (p, e) FROM t", "int, int"},
        {"SELECT _metadata.file_path FROM t", "string"},
        {"SELECT name, count(*) FROM t GROUP BY ALL", "string, bigint"},
        {"SELECT grouping(name), sum(id) FROM t GROUP BY ROLLUP (name)", "tinyint, bigint"},
    };
    check_all(answers, ARRAY_LEN(answers));
}

static void refusals_carry_sparks_conditions(void **state) {
    (void)state;
    static const answer answers[] = {
        {"SELECT nope FROM t", "ERROR UNRESOLVED_COLUMN.WITH_SUGGESTION"},
        {"SELECT nope", "ERROR UNRESOLVED_COLUMN.WITHOUT_SUGGESTION"},
        {"SELECT name FROM t JOIN u ON t.id = u.id", "ERROR AMBIGUOUS_REFERENCE"},
        {"SELECT s.nope FROM t", "ERROR FIELD_NOT_FOUND"},
        {"SELECT id.x FROM t", "ERROR INVALID_EXTRACT_BASE_FIELD_TYPE"},
        {"SELECT nope(1)", "ERROR UNRESOLVED_ROUTINE"},
        {"SELECT length()", "ERROR WRONG_NUM_ARGS.WITHOUT_SUGGESTION"},
        {"SELECT id + xs FROM t", "ERROR DATATYPE_MISMATCH.BINARY_OP_DIFF_TYPES"},
        {"SELECT NOT id FROM t", "ERROR DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE"},
        {"SELECT id FROM t WHERE id", "ERROR DATATYPE_MISMATCH.FILTER_NOT_BOOLEAN"},
        {"SELECT cast(xs AS INT) FROM t", "ERROR DATATYPE_MISMATCH.CAST_WITHOUT_SUGGESTION"},
        {"SELECT cast(day AS INT) FROM t", "ERROR DATATYPE_MISMATCH.CAST_WITH_FUNC_SUGGESTION"},
        {"SELECT name, count(*) FROM t", "ERROR MISSING_GROUP_BY"},
        {"SELECT name, sum(id) FROM t GROUP BY day", "ERROR MISSING_AGGREGATION"},
        {"SELECT id FROM t WHERE sum(id) > 1", "ERROR INVALID_WHERE_CONDITION"},
        {"SELECT sum(sum(id)) FROM t", "ERROR NESTED_AGGREGATE_FUNCTION"},
        {"SELECT id FROM t GROUP BY sum(id)", "ERROR GROUP_BY_AGGREGATE"},
        {"SELECT id FROM t GROUP BY 2", "ERROR GROUP_BY_POS_OUT_OF_RANGE"},
        {"SELECT id FROM t ORDER BY 2", "ERROR ORDER_BY_POS_OUT_OF_RANGE"},
        {"SELECT row_number() FROM t", "ERROR WINDOW_FUNCTION_WITHOUT_OVER_CLAUSE"},
        {"SELECT sum(id) OVER w FROM t", "ERROR MISSING_WINDOW_SPECIFICATION"},
        {"SELECT grouping(name) FROM t GROUP BY name", "ERROR UNSUPPORTED_GROUPING_EXPRESSION"},
        {"SELECT explode(xs) + 1 FROM t", "ERROR UNSUPPORTED_GENERATOR.NESTED_IN_EXPRESSIONS"},
        {"SELECT 1 UNION SELECT 1, 2", "ERROR NUM_COLUMNS_MISMATCH"},
        {"SELECT xs FROM t UNION SELECT name FROM t", "ERROR INCOMPATIBLE_COLUMN_TYPE"},
        {"SELECT (SELECT id, name FROM t)",
         "ERROR INVALID_SUBQUERY_EXPRESSION.SCALAR_SUBQUERY_RETURN_MORE_THAN_ONE_OUTPUT_COLUMN"},
        {"SELECT id FROM t LIMIT -1", "ERROR INVALID_LIMIT_LIKE_EXPRESSION.IS_NEGATIVE"},
        {"SELECT id FROM t LIMIT id", "ERROR INVALID_LIMIT_LIKE_EXPRESSION.IS_UNFOLDABLE"},
        {"WITH a AS (SELECT 1), a AS (SELECT 2) SELECT * FROM a", "ERROR DUPLICATED_CTE_NAMES"},
        {"SELECT * FROM t JOIN u USING (big)", "ERROR UNRESOLVED_USING_COLUMN_FOR_JOIN"},
        {"SELECT * FROM (SELECT 1) AS x(a, b)", "ERROR ASSIGNMENT_ARITY_MISMATCH"},
        {"SELECT * FROM nope", "ERROR TABLE_OR_VIEW_NOT_FOUND"},
        {"SELECT :p", "ERROR UNBOUND_SQL_PARAMETER"},
        {"SELECT hash(m) FROM t", "ERROR DATATYPE_MISMATCH.HASH_MAP_TYPE"},
    };
    check_all(answers, ARRAY_LEN(answers));
}

static void generated_names_are_sparks(void **state) {
    (void)state;
    static const answer answers[] = {
        {"id + 1", "(id + 1)"},
        {"count(*)", "count(1)"},
        {"count(DISTINCT id)", "count(DISTINCT id)"},
        {"t.name", "name"},
        {"s.a", "a"},
        {"CAST(id AS STRING)", "CAST(id AS STRING)"},
        {"CASE WHEN id > 1 THEN 'x' ELSE name END", "CASE WHEN (id > 1) THEN x ELSE name END"},
        {"xs[0]", "xs[0]"},
        {"NOT flag", "(NOT flag)"},
        {"id IS NULL", "(id IS NULL)"},
        {"id IN (1, 2)", "(id IN (1, 2))"},
        {"UPPER(name)", "upper(name)"},
        {"1.50", "1.50"},
        {"-id", "(- id)"},
        {"name LIKE 'a%'", "name LIKE a%"},
        {"id <> 1", "(NOT (id = 1))"},
    };
    for (size_t i = 0; i < ARRAY_LEN(answers); i++) {
        arena *a = arena_new();
        expr *e;
        assert_int_equal(expr_parse(str_of(answers[i].sql), a, &e, NULL), SILT_OK);
        str got = expr_auto_name(e, str_of(answers[i].sql), a);
        if (!str_eqz(got, answers[i].expected))
            fail_msg("%s: got %.*s, expected %s", answers[i].sql, STR_ARG(got), answers[i].expected);
        arena_free(a);
    }
}

static void parameters_are_put_in_place(void **state) {
    (void)state;
    arena *a = arena_new();
    query *q;
    expr *five;
    assert_int_equal(expr_parse(STR("5L"), a, &five, NULL), SILT_OK);
    bind_env env = test_env(STR_NULL);
    str name = STR("n");
    expr *values[1] = {five};
    env.parameter_names = &name;
    env.parameter_values = values;
    env.n_parameters = 1;
    assert_int_equal(query_parse(STR("SELECT :n + 1, id FROM t WHERE id = :n"), a, &q, NULL), SILT_OK);
    assert_int_equal(query_bind(q, &env, a, NULL), SILT_OK);
    assert_int_equal(q->column_types[0]->id, TYPE_LONG);
    arena_free(a);
}

/* The n-th ? is the n-th value, in whatever order the clauses are bound. */
static void question_marks_count_in_the_text(void **state) {
    (void)state;
    arena *a = arena_new();
    query *q;
    expr *values[3];
    str names[3] = {STR(""), STR(""), STR("")};
    static const char *const texts[3] = {"'s'", "1L", "2.5"};
    for (size_t i = 0; i < 3; i++) assert_int_equal(expr_parse(str_of(texts[i]), a, &values[i], NULL), SILT_OK);
    bind_env env = test_env(STR_NULL);
    env.parameter_names = names;
    env.parameter_values = values;
    env.n_parameters = 3;
    assert_int_equal(query_parse(STR("SELECT ?, (SELECT ? FROM u WHERE big = 1 AND id < ?) FROM t"), a, &q, NULL), SILT_OK);
    assert_int_equal(query_bind(q, &env, a, NULL), SILT_OK);
    assert_int_equal(q->column_types[0]->id, TYPE_STRING);
    assert_int_equal(q->column_types[1]->id, TYPE_LONG);
    arena_free(a);
}

/* A write to a Delta table casts as CAST does: text to numbers too, but not what CAST itself refuses. */
static void writes_cast_what_cast_allows(void **state) {
    (void)state;
    static const struct {
        const char *expr;
        const data_type *to;
        bool ok;
    } cases[] = {
        {"1L", &type_int, true},
        {"1.5", &type_int, true},
        {"'1'", &type_int, true},
        {"true", &type_int, true},
        {"1", &type_string, true},
        {"DATE'2020-01-01'", &type_timestamp, true},
        {"TIMESTAMP'2020-01-01 00:00:00'", &type_date, true},
        {"'2020-01-01'", &type_date, true},
        {"DATE'2020-01-01'", &type_int, false},
        {"array(1)", &type_int, false},
        {"null", &type_date, true},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        arena *a = arena_new();
        bind_env env = test_env(STR_NULL);
        expr *e, *out;
        assert_int_equal(expr_parse(str_of(cases[i].expr), a, &e, NULL), SILT_OK);
        assert_int_equal(expr_bind(e, NULL, &env, a, &e, NULL), SILT_OK);
        bool ok = expr_coerce(e, cases[i].to, CAST_STORE_ASSIGNMENT, STR("c"), &env, a, &out, NULL) == SILT_OK;
        if (ok != cases[i].ok) fail_msg("%s", cases[i].expr);
        arena_free(a);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(result_types_are_sparks),          cmocka_unit_test(names_are_found_as_in_spark),
        cmocka_unit_test(refusals_carry_sparks_conditions), cmocka_unit_test(generated_names_are_sparks),
        cmocka_unit_test(parameters_are_put_in_place),      cmocka_unit_test(question_marks_count_in_the_text),
        cmocka_unit_test(writes_cast_what_cast_allows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
