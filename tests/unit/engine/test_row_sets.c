/* Queries that ask about rows found before: `silt_in_rows` over every shape of vector that a plan may hand it. */
#include "support.h"

#include "engine/internal.h"

static relation *places_over(table_source *t) {
    relation *r = relation_over(t);
    silt_error err = {0};
    r->needs_row_id = true;
    assert_ok(relation_bind_columns(r, fix.arena, &err), &err);
    return r;
}

static expr *in_set(uint64_t id, relation *r) {
    expr *made;
    silt_error err = {0};
    assert_ok(engine_in_row_set(id, column_of(r, "silt_file"), column_of(r, "silt_row"), fix.arena, &made, &err), &err);
    return made;
}

static uint64_t registered(const row_set *s) {
    uint64_t id;
    silt_error err = {0};
    assert_ok(engine_row_set_register(fix.engine, s, &id, &err), &err);
    return id;
}

static row_set *every(size_t n_files, size_t file, uint64_t rows, uint64_t step) {
    row_set *s = row_set_new(n_files);
    for (uint64_t i = 0; i < rows; i += step) assert_true(row_set_add(s, file, i, NULL));
    return s;
}

/* 10,000 rows a file: several chunks, and chunks that end inside a file. */
static fake_table *two_files(void) {
    run_sql("COPY (SELECT i AS x FROM range(10000) t(i)) TO '{}/rows_a.parquet'");
    run_sql("COPY (SELECT 100000 + i AS x FROM range(10000) t(i)) TO '{}/rows_b.parquet'");
    fake_table *t = make_table("x BIGINT");
    add_file(t, "rows_a.parquet")->index = 3;
    add_file(t, "rows_b.parquet")->index = 9;
    return t;
}

static const char *sums(relation *r, expr *where) {
    expr *items[] = {call_of("count", &type_long, column_of(r, "x"), NULL), call_of("sum", &type_long, column_of(r, "x"), NULL)};
    items[0]->is_aggregate = items[1]->is_aggregate = true;
    query *q = make_query(r, items, 2, where);
    q->has_aggregates = true;
    return rows_of(q);
}

static void rows_of_the_set_are_kept_or_left_out(void **state) {
    (void)state;
    fake_table *t = two_files();
    row_set *s = every(10, 9, 10000, 5);
    uint64_t id = registered(s);
    relation *r = places_over(&t->base);
    assert_string_equal(sums(r, in_set(id, r)), "2000,209995000");
    r = places_over(&t->base);
    assert_string_equal(sums(r, call_of("not", &type_boolean, in_set(id, r), NULL)), "18000,889995000");
    engine_row_set_unregister(fix.engine, id);
    row_set_free(s);
}

static void rows_that_a_filter_took_out_do_not_matter(void **state) {
    (void)state;
    fake_table *t = two_files();
    row_set *s = every(4, 3, 10000, 1);
    static const int64_t gone[] = {0, 1, 2, 9999};
    t->files[0].deleted = deleted_rows(gone, 4);
    uint64_t id = registered(s);
    relation *r = places_over(&t->base);
    expr *some = call_of("<", &type_boolean, column_of(r, "x"), long_literal(6));
    assert_string_equal(sums(r, call_of("and", &type_boolean, some, in_set(id, r))), "3,12");
    engine_row_set_unregister(fix.engine, id);
    row_set_free(s);
}

/* A single file: the condition is one on the row number alone, tested inside the reader, beside the deletion vector and another condition. */
static void rows_of_a_single_file(void **state) {
    (void)state;
    run_sql("COPY (SELECT i AS x, 'text ' || i AS s FROM range(10000) t(i)) TO '{}/single.parquet' (ROW_GROUP_SIZE 2048)");
    fake_table *t = make_table("x BIGINT, s STRING");
    scan_file *f = add_file(t, "single.parquet");
    static const int64_t gone[] = {10, 11, 9990};
    f->index = 6;
    f->deleted = deleted_rows(gone, 3);
    row_set *s = every(7, 6, 10000, 10);
    uint64_t id = registered(s);
    relation *r = places_over(&t->base);
    assert_string_equal(sums(r, in_set(id, r)), "998,4985000");
    r = places_over(&t->base);
    assert_string_equal(sums(r, call_of("not", &type_boolean, in_set(id, r), NULL)), "8999,44999989");
    r = places_over(&t->base);
    expr *one = call_of("=", &type_boolean, column_of(r, "x"), long_literal(40));
    expr *items[] = {column_of(r, "s"), column_of(r, "silt_file"), column_of(r, "silt_row")};
    assert_string_equal(rows_of(make_query(r, items, 3, call_of("and", &type_boolean, one, in_set(id, r)))), "text 40,6,40");
    engine_row_set_unregister(fix.engine, id);
    row_set_free(s);
}

static void a_file_beyond_the_set_has_no_row_in_it(void **state) {
    (void)state;
    fake_table *t = two_files();
    row_set *s = every(1, 0, 10, 1);
    uint64_t id = registered(s);
    relation *r = places_over(&t->base);
    assert_string_equal(sums(r, in_set(id, r)), "0,null");
    engine_row_set_unregister(fix.engine, id);
    row_set_free(s);
}

/* Places from elsewhere than a scan: any order, nulls of an outer join, constants. */
static void places_in_any_order_and_null(void **state) {
    (void)state;
    row_set *s = every(3, 2, 100, 10);
    uint64_t id = registered(s);
    assert_string_equal(
        duck_rows(arena_printf(fix.arena,
                               "SELECT coalesce(silt_in_rows(%llu, f, r), NULL) FROM (VALUES (2::BIGINT, 10::BIGINT), "
                               "(1, 10), (2, 30), (2, 31), (NULL, 10), (2, NULL), (-1, 10), (2, -1), (2, 0)) t(f, r)",
                               (unsigned long long)id)
                      .ptr),
        "true\nfalse\ntrue\nfalse\nfalse\nfalse\nfalse\nfalse\ntrue");
    assert_string_equal(
        duck_rows(arena_printf(fix.arena,
                               "SELECT silt_in_rows(%llu, 2, 20), silt_in_rows(%llu, 2, 21), "
                               "count(*) FILTER (WHERE silt_in_rows(%llu, 2, (i * 7919) %% 200)) FROM range(200) t(i)",
                               (unsigned long long)id, (unsigned long long)id, (unsigned long long)id)
                      .ptr),
        "true,false,10");
    engine_row_set_unregister(fix.engine, id);
    engine_row_set_unregister(fix.engine, 0);
    row_set_free(s);
}

static void a_set_that_is_gone_is_an_error(void **state) {
    (void)state;
    row_set *s = every(1, 0, 1, 1);
    uint64_t id = registered(s);
    engine_row_set_unregister(fix.engine, id);
    row_set_free(s);
    relation *r = places_over(&two_files()->base);
    const char *text;
    silt_error err = {0};
    expr *items[] = {column_of(r, "x")};
    assert_condition(try_rows(make_query(r, items, 1, in_set(id, r)), &text, &err), &err, "INTERNAL_ERROR");
}

/* ---- notes ---- */

static row_notes *noting(row_set *into, double share_max) {
    row_notes *n;
    silt_error err = {0};
    assert_ok(engine_row_notes_new(fix.engine, into, share_max, &n, &err), &err);
    return n;
}

/* SELECT CASE WHEN noted THEN x END FROM r WHERE … */
static query *noted_values(relation *r, row_notes *n, expr *where) {
    silt_error err = {0};
    expr *noted, *made = expr_new(fix.arena, EXPR_CASE, (source_span){0, 0});
    assert_ok(engine_note_row(n, column_of(r, "silt_file"), column_of(r, "silt_row"), fix.arena, &noted, &err), &err);
    made->args = ARENA_ARRAY(fix.arena, 2, expr *);
    made->args[0] = noted;
    made->args[1] = column_of(r, "x");
    made->n_args = 2;
    made->type = &type_long;
    expr *items[] = {made};
    return make_query(r, items, 1, where);
}

static void a_query_notes_the_rows_that_it_takes(void **state) {
    (void)state;
    fake_table *t = two_files();
    static const int64_t gone[] = {0, 9990};
    t->files[0].deleted = deleted_rows(gone, 2);
    row_set *s = row_set_new(10);
    row_notes *n = noting(s, 1);
    relation *r = places_over(&t->base);
    expr *few = call_of("or", &type_boolean, call_of("<", &type_boolean, column_of(r, "x"), long_literal(2)), call_of(">", &type_boolean, column_of(r, "x"), long_literal(109997)));
    assert_string_equal(rows_of(noted_values(r, n, few)), "1\n109998\n109999");
    assert_true(row_set_contains(s, 3, 1) && row_set_contains(s, 9, 9998) && row_set_contains(s, 9, 9999));
    assert_int_equal(row_set_count(s), 3);
    assert_true(engine_row_notes_are_of(n, 3));
    assert_false(engine_row_notes_are_of(n, 4));
    assert_false(engine_row_notes_are_of(n, -1));
    assert_false(engine_row_notes_are_too_many(n));
    r = places_over(&t->base);
    few = call_of("=", &type_boolean, column_of(r, "x"), long_literal(1)); /* once more: the set does not grow, the calls do */
    assert_string_equal(rows_of(noted_values(r, n, few)), "1");
    assert_false(engine_row_notes_are_of(n, 3));
    assert_false(engine_row_notes_are_of(n, 4));
    engine_row_notes_free(n);
    row_set_free(s);
}

static void places_that_are_none_make_notes_wrong(void **state) {
    (void)state;
    static const char *const places[] = {"NULL, 1", "1, NULL", "-1, 1", "1, -1", "2, 1"};
    for (size_t i = 0; i < ARRAY_LEN(places); i++) {
        row_set *s = row_set_new(2);
        row_notes *n = noting(s, 1);
        silt_error err = {0};
        expr *note;
        assert_ok(engine_note_row(n, long_literal(0), long_literal(0), fix.arena, &note, &err), &err);
        unsigned long long id = (unsigned long long)note->args[0]->literal.as.i64;
        assert_string_equal(duck_rows(arena_printf(fix.arena, "SELECT silt_note(%llu, %s), silt_note(%llu, 1, 5)", id, places[i], id).ptr), "true,true");
        assert_true(row_set_contains(s, 1, 5));
        assert_false(engine_row_notes_are_of(n, 2));
        assert_false(engine_row_notes_are_of(n, 1));
        engine_row_notes_free(n);
        row_set_free(s);
    }
}

static void a_query_that_takes_most_of_a_file_ends_early(void **state) {
    (void)state;
    run_sql("COPY (SELECT i AS x FROM range(60000) t(i)) TO '{}/most.parquet'");
    fake_table *t = make_table("x BIGINT");
    add_file(t, "most.parquet");
    row_set *s = row_set_new(1);
    row_notes *n = noting(s, 0.5);
    relation *r = places_over(&t->base);
    const char *text;
    silt_error err = {0};
    assert_condition(try_rows(noted_values(r, n, call_of(">=", &type_boolean, column_of(r, "x"), long_literal(10))), &text, &err), &err, "INTERNAL_ERROR");
    assert_true(engine_row_notes_are_too_many(n));
    assert_in_range(row_set_count(s), 16385, 40000);
    engine_row_notes_free(n);
    engine_row_notes_free(NULL);
    row_set_free(s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_of_the_set_are_kept_or_left_out),
        cmocka_unit_test(rows_that_a_filter_took_out_do_not_matter),
        cmocka_unit_test(rows_of_a_single_file),
        cmocka_unit_test(a_file_beyond_the_set_has_no_row_in_it),
        cmocka_unit_test(places_in_any_order_and_null),
        cmocka_unit_test(a_set_that_is_gone_is_an_error),
        cmocka_unit_test(a_query_notes_the_rows_that_it_takes),
        cmocka_unit_test(places_that_are_none_make_notes_wrong),
        cmocka_unit_test(a_query_that_takes_most_of_a_file_ends_early),
    };
    return cmocka_run_group_tests(tests, fixture_open, fixture_close);
}
