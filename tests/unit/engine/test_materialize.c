/* A query's rows kept as a source: every type, any names, read as often as wanted, gone when released. */
#include "support.h"

#include "engine/internal.h"

static table_source *kept(query *q) {
    table_source *t;
    silt_error err = {0};
    assert_ok(engine_materialize(fix.engine, q, &plain_env, &t, &err), &err);
    return t;
}

static const char *tables(void) { return duck_rows("SELECT count(*) FROM duckdb_tables() WHERE table_name LIKE 'silt_m%'"); }

static void every_type_comes_back(void **state) {
    (void)state;
    run_sql("COPY (SELECT 1::BIGINT AS l, 1.5::DECIMAL(38,10) AS d, 'text' AS s, 'ab'::BLOB AS b, DATE '2020-01-02' AS dt, "
            "TIMESTAMPTZ '2020-01-02 03:04:05.000006+00' AS ts, TIMESTAMP '2020-01-02 03:04:05' AS n, [1, NULL, 3] AS a, "
            "MAP {'k': {'x': 1.5::DOUBLE}} AS m, {'f': [{'g': true}]} AS st UNION ALL SELECT NULL, NULL, NULL, NULL, NULL, NULL, "
            "NULL, "
            "NULL, NULL, NULL) TO '{}/types.parquet'");
    fake_table *t =
        make_table("l BIGINT, d DECIMAL(38,10), s STRING, b BINARY, dt DATE, ts TIMESTAMP, n TIMESTAMP_NTZ, a ARRAY<INT>, "
                   "m MAP<STRING, STRUCT<x: DOUBLE>>, st STRUCT<f: ARRAY<STRUCT<g: BOOLEAN>>>");
    add_file(t, "types.parquet");
    const char *plain = rows_of(select_all(make_relation(t)));
    table_source *k = kept(select_all(make_relation(t)));
    assert_string_equal(rows_of(select_all(relation_over(k))), plain);
    assert_string_equal(rows_of(select_all(relation_over(k))), plain);
    int64_t rows;
    assert_true(k->ops->row_count(k, &rows));
    assert_int_equal(rows, 2);
    assert_string_equal(tables(), "1");
    k->ops->release(k);
    assert_string_equal(tables(), "0");
}

static void names_may_clash(void **state) {
    (void)state;
    run_sql("COPY (SELECT 1 AS a, 2 AS b) TO '{}/clash.parquet'");
    fake_table *t = make_table("a INT, b INT");
    add_file(t, "clash.parquet");
    query *q = select_all(make_relation(t));
    q->column_names[0] = q->column_names[1] = STR("Same \"name\"");
    table_source *k = kept(q);
    assert_int_equal(k->schema->n_fields, 2);
    assert_true(str_eqz(k->schema->fields[1].name, "Same \"name\""));
    assert_string_equal(rows_of(select_all(relation_over(k))), "1,2");
    k->ops->release(k);
}

/* Under column mapping nested fields have other names in files; a kept row has the logical ones. */
static void nested_names_are_the_logical_ones(void **state) {
    (void)state;
    run_sql("COPY (SELECT {'col-x': 5} AS \"col-s\") TO '{}/mapped.parquet'");
    field *inner = ARENA_ARRAY(fix.arena, 1, field), *top = ARENA_ARRAY(fix.arena, 1, field);
    inner[0] = field_make(STR("x"), &type_int, true);
    inner[0].physical_name = STR("col-x");
    top[0] = field_make(STR("s"), type_struct(fix.arena, inner, 1), true);
    top[0].physical_name = STR("col-s");
    fake_table *t = make_table("s STRUCT<x: INT>");
    t->base.schema = type_struct(fix.arena, top, 1);
    add_file(t, "mapped.parquet");
    table_source *k = kept(select_all(make_relation(t)));
    relation *r = relation_over(k);
    expr *x = expr_new(fix.arena, EXPR_FIELD, (source_span){0, 0});
    x->args = ARENA_ARRAY(fix.arena, 1, expr *);
    x->args[0] = column_of(r, "s");
    x->n_args = 1;
    x->field_name = STR("x");
    x->field_index = 0;
    x->type = &type_int;
    assert_string_equal(rows_of(make_query(r, &x, 1, NULL)), "5");
    k->ops->release(k);
}

static void void_and_variant_columns(void **state) {
    (void)state;
    run_sql("COPY (SELECT 1 AS a, CAST('{\"k\": [1, 2]}'::JSON AS VARIANT) AS v) TO '{}/variant.parquet'");
    fake_table *t = make_table("a INT, v VARIANT, n INT");
    field *fields = ARENA_ARRAY(fix.arena, 3, field);
    memcpy(fields, t->base.schema->fields, 3 * sizeof *fields);
    fields[2].type = &type_void;
    t->base.schema = type_struct(fix.arena, fields, 3);
    add_file(t, "variant.parquet");
    table_source *k = kept(select_all(make_relation(t)));
    relation *r = relation_over(k);
    expr *items[] = {column_of(r, "a"), column_of(r, "v"), column_of(r, "n")};
    query *q = make_query(r, items, 3, NULL);
    q->column_types[2] = &type_int;
    assert_string_equal(rows_of(q), "1,{\"k\":[1,2]},null");
    k->ops->release(k);
}

static void a_query_that_fails_leaves_no_table(void **state) {
    (void)state;
    fake_table *t = make_table("x BIGINT");
    add_file(t, "nowhere.parquet");
    table_source *k;
    silt_error err = {0};
    assert_int_not_equal(engine_materialize(fix.engine, select_all(make_relation(t)), &plain_env, &k, &err), SILT_OK);
    assert_string_equal(err.condition, "DELTA_FILE_NOT_FOUND_DETAILED");
    assert_string_equal(tables(), "0");
}

static void a_cancelled_statement_can_release(void **state) {
    (void)state;
    run_sql("COPY (SELECT i AS x FROM range(5000) t(i)) TO '{}/kept.parquet'");
    fake_table *t = make_table("x BIGINT");
    add_file(t, "kept.parquet");
    table_source *k = kept(select_all(make_relation(t)));
    cancel_request(&fix.cancel, true);
    k->ops->release(k);
    cancel_request(&fix.cancel, false);
    assert_string_equal(tables(), "0");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_type_comes_back),
        cmocka_unit_test(names_may_clash),
        cmocka_unit_test(nested_names_are_the_logical_ones),
        cmocka_unit_test(void_and_variant_columns),
        cmocka_unit_test(a_query_that_fails_leaves_no_table),
        cmocka_unit_test(a_cancelled_statement_can_release),
    };
    return cmocka_run_group_tests(tests, fixture_open, fixture_close);
}
