/* FROM items made of sources and of queries: hidden row places, and numbers that stay apart in one statement. */
#include <stdio.h>

#include "ops/internal.h"
#include "ops_test.h"

static table_source *source_of(world *w) {
    delta_snapshot *s = world_snapshot(w);
    table_source *t;
    OK(delta_table_source(s, &t, &w->err));
    delta_snapshot_release(s);
    return t;
}

static void put_rows(world *w) {
    OK(world_create(w, (create_words){.columns = "a INT, silt_row STRING"}));
    OK(world_insert(w, (insert_words){.query = "SELECT * FROM VALUES (1, 'x'), (2, 'y')"}));
    OK(world_insert(w, (insert_words){.query = "SELECT * FROM VALUES (3, 'z')"}));
}

static void the_places_of_rows(void **state) {
    world *w = *state;
    op o = {&w->env, w->a, &w->err};
    put_rows(w);
    table_source *t = source_of(w);
    relation *plain, *places;
    OK(ops_rows_of_source(&o, t, false, STR_NULL, &plain));
    assert_int_equal(plain->n_columns, 3);
    OK(ops_rows_of_source(&o, t, true, STR("target"), &places));
    assert_int_equal(places->n_columns, 5);
    assert_true(places->id != plain->id);
    assert_true(str_eqz(places->columns[3].name, "silt_file"));
    assert_false(str_eqz(places->columns[4].name, "silt_row")); /* the table has a column of that name */
    expr *items[3];
    OK(ops_rows_column(&o, places, 0, &items[0]));
    OK(ops_rows_column(&o, places, 3, &items[1]));
    OK(ops_rows_column(&o, places, 4, &items[2]));
    const field fields[] = {field_make(STR("a"), &type_int, true), field_make(STR("f"), &type_long, false),
                            field_make(STR("r"), &type_long, false)};
    query *q;
    OK(ops_rows_select(&o, places, items, type_struct(w->a, fields, 3), &q));
    OK(expr_push_predicates(q, &w->bind, w->a, &w->err));
    table_source *kept;
    OK(engine_materialize(w->engine, q, &w->bind, &kept, &w->err));
    int64_t rows;
    assert_true(kept->ops->row_count(kept, &rows));
    assert_int_equal(rows, 3);
    kept->ops->release(kept);
    t->ops->release(t);
}

/* A star shows the table's columns alone, whatever it is qualified by; names find the hidden ones behind the alias. */
static void hidden_places_in_a_query(void **state) {
    world *w = *state;
    op o = {&w->env, w->a, &w->err};
    put_rows(w);
    table_source *t = source_of(w);
    query *q;
    OK(query_parse(STR("SELECT t2.*, t2.silt_file FROM x t2 WHERE t2.silt_file < 9"), w->a, &q, &w->err));
    q->from->source = t;
    q->from->needs_row_id = true;
    OK(query_bind(q, &w->bind, w->a, &w->err));
    assert_int_equal(q->n_columns, 3);
    assert_true(str_eqz(q->column_names[1], "silt_row"));
    assert_true(str_eqz(q->column_names[2], "silt_file"));
    assert_int_equal(q->column_types[1]->id, TYPE_STRING);
    assert_int_equal(q->column_types[2]->id, TYPE_LONG);
    relation *over, *again;
    OK(ops_rows_over(&o, q, NULL, &over));
    OK(ops_rows_over(&o, q, NULL, &again));
    assert_true(over->id != again->id);
    t->ops->release(t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        WITH_WORLD(the_places_of_rows),
        WITH_WORLD(hidden_places_in_a_query),
    };
    return RUN_TESTS(tests);
}
