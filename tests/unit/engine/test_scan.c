/* The scan node: one test for each rule of docs/decisions/002-engine-rules.md whose breach gives a wrong answer without an error. */
#include "support.h"

#include "engine/scan.h"

#include <unistd.h>

/* ---- names ---- */

static void columns_named_like_virtual_ones_are_the_users(void **state) {
    (void)state;
    run_sql("COPY (SELECT 7::BIGINT AS file_index, 8::BIGINT AS \"filename\", 9::BIGINT AS file_row_number, 10::BIGINT AS "
            "\"FILE_INDEX_\" FROM range(3)) TO '{}/virtual.parquet'");
    fake_table *t = make_table("file_index BIGINT, filename BIGINT, file_row_number BIGINT, FILE_INDEX_ BIGINT");
    scan_file *f = add_file(t, "virtual.parquet");
    static const int64_t gone[] = {1};
    f->deleted = deleted_rows(gone, 1);
    assert_string_equal(rows_of(select_all(make_relation(t))), "7,8,9,10\n7,8,9,10");
}

static void glob_characters_in_paths_are_plain(void **state) {
    (void)state;
    run_sql("COPY (SELECT 1::BIGINT AS x) TO '{}/a[1]*.parquet'");
    run_sql("COPY (SELECT 2::BIGINT AS x) TO '{}/a1zzz.parquet'");
    run_sql("COPY (SELECT 3::BIGINT AS x) TO '{}/q?.parquet'");
    run_sql("COPY (SELECT 4::BIGINT AS x) TO '{}/qq.parquet'");
    run_sql("COPY (SELECT 5::BIGINT AS x) TO '{}/it''s.parquet'");
    fake_table *t = make_table("x BIGINT");
    add_file(t, "a[1]*.parquet");
    add_file(t, "q?.parquet");
    add_file(t, "it's.parquet");
    assert_string_equal(rows_of(select_all(make_relation(t))), "1\n3\n5");
}

static void missing_columns_are_null_and_more_are_ignored(void **state) {
    (void)state;
    run_sql("COPY (SELECT 1 AS a, {'x': 1, 'extra': 2} AS s, 'u' AS unknown) TO '{}/old.parquet'");
    fake_table *t = make_table("a INT, added STRING, s STRUCT<x: INT, y: ARRAY<INT>>, m MAP<STRING, INT>");
    add_file(t, "old.parquet");
    assert_string_equal(rows_of(select_all(make_relation(t))), "1,null,(1 null),null");
}

static void widened_types_are_cast(void **state) {
    (void)state;
    run_sql("COPY (SELECT 1::TINYINT AS a, 2::INTEGER AS b, 1.5::FLOAT AS c, 1.25::DECIMAL(5,2) AS d, DATE '2020-01-02' AS e, "
            "[3::SMALLINT] AS f, 7::INTEGER AS g) TO '{}/narrow.parquet'");
    fake_table *t = make_table("a INT, b BIGINT, c DOUBLE, d DECIMAL(12,4), e TIMESTAMP_NTZ, f ARRAY<BIGINT>, g DOUBLE");
    add_file(t, "narrow.parquet");
    assert_string_equal(rows_of(select_all(make_relation(t))), "1,2,1.5,1.2500,2020-01-02T00:00:00,[3],7.0");
}

static void void_columns_are_null(void **state) {
    (void)state;
    run_sql("COPY (SELECT 1 AS a) TO '{}/v.parquet'");
    fake_table *t = make_table("a INT, v INT");
    const data_type *schema = t->base.schema;
    field *fields = ARENA_ARRAY(fix.arena, 2, field);
    fields[0] = schema->fields[0];
    fields[1] = field_make(STR("v"), &type_void, true);
    t->base.schema = type_struct(fix.arena, fields, 2);
    add_file(t, "v.parquet");
    assert_string_equal(rows_of(select_all(make_relation(t))), "1,null");
}

/* ---- mapping ---- */

static const data_type *mapped_schema(void) {
    field *inner = ARENA_ARRAY(fix.arena, 2, field), *top = ARENA_ARRAY(fix.arena, 2, field);
    inner[0] = field_make(STR("x"), &type_int, true);
    inner[0].physical_name = STR("col-x");
    inner[0].field_id = 3;
    inner[1] = field_make(STR("y"), &type_string, true);
    inner[1].physical_name = STR("col-y");
    inner[1].field_id = 4;
    top[0] = field_make(STR("a"), &type_long, true);
    top[0].physical_name = STR("col-a");
    top[0].field_id = 1;
    top[1] = field_make(STR("s"), type_array(fix.arena, type_struct(fix.arena, inner, 2), true), true);
    top[1].physical_name = STR("col-s");
    top[1].field_id = 2;
    return type_struct(fix.arena, top, 2);
}

static void name_mode_reads_physical_names(void **state) {
    (void)state;
    run_sql("COPY (SELECT 1::BIGINT AS \"col-a\", [{'col-x': 5, 'col-y': 'z'}, NULL] AS \"col-s\", 99::BIGINT AS a) TO "
            "'{}/mapped.parquet'");
    fake_table *t = make_table("a INT");
    t->base.schema = mapped_schema();
    add_file(t, "mapped.parquet");
    assert_string_equal(rows_of(select_all(make_relation(t))), "1,[(5 z) null]");
}

static void id_mode_reads_each_file_by_its_ids(void **state) {
    (void)state;
    run_sql("COPY (SELECT 1::BIGINT AS p, [{'q': 5, 'r': 'z'}] AS t) TO '{}/id1.parquet' (FIELD_IDS {p: 1, t: "
            "{__duckdb_field_id: 2, element: {q: 3, r: 4}}})");
    run_sql("COPY (SELECT 2::BIGINT AS a, [{'q': 'w', 'r': 6}] AS t) TO '{}/id2.parquet' (FIELD_IDS {a: 1, t: "
            "{__duckdb_field_id: 2, element: {q: 4, r: 3}}})");
    run_sql("COPY (SELECT 3::BIGINT AS \"col-a\", [{'col-x': 7, 'col-y': 'v'}] AS \"col-s\") TO '{}/id3.parquet'");
    run_sql("COPY (SELECT 4::BIGINT AS \"col-s\") TO '{}/id4.parquet' (FIELD_IDS {\"col-s\": 1})");
    fake_table *t = make_table("a INT");
    t->base.schema = mapped_schema();
    t->base.match = MATCH_BY_FIELD_ID;
    add_file(t, "id1.parquet");
    add_file(t, "id2.parquet");
    add_file(t, "id3.parquet");
    add_file(t, "id4.parquet");
    assert_string_equal(rows_of(select_all(make_relation(t))), "1,[(5 z)]\n2,[(6 w)]\n3,[(7 v)]\n4,null");
}

/* ---- deletion vectors ---- */

static fake_table *table_with_deleted(void) {
    run_sql("COPY (SELECT i AS x FROM range(10000) t(i)) TO '{}/ten.parquet'");
    run_sql("COPY (SELECT (20000 + i) AS x FROM range(10) t(i)) TO '{}/tail.parquet'");
    fake_table *t = make_table("x BIGINT");
    static int64_t gone[9998];
    for (int64_t i = 0; i < 9998; i++) gone[i] = i < 5000 ? i : i + 1; /* all but 5000 and 9999 */
    add_file(t, "ten.parquet")->deleted = deleted_rows(gone, ARRAY_LEN(gone));
    static const int64_t gone_tail[] = {0, 9};
    add_file(t, "tail.parquet")->deleted = deleted_rows(gone_tail, 2);
    return t;
}

static void deleted_rows_stay_out(void **state) {
    (void)state;
    assert_string_equal(rows_of(select_all(make_relation(table_with_deleted()))),
                        "5000\n9999\n20001\n20002\n20003\n20004\n20005\n20006\n20007\n20008");
}

static void filters_see_live_rows_only(void **state) {
    (void)state;
    relation *r = make_relation(table_with_deleted());
    expr *x = column_of(r, "x");
    query *q = make_query(r, &x, 1, call_of("<", &type_boolean, column_of(r, "x"), long_literal(9000)));
    assert_string_equal(rows_of(q), "5000");
}

/* 1 div (x - 1) raises for the deleted row x = 1; the same for a division that DuckDB itself would do. */
static void expressions_do_not_see_deleted_rows(void **state) {
    (void)state;
    run_sql("COPY (SELECT i AS x FROM range(4) t(i)) TO '{}/poison.parquet'");
    fake_table *t = make_table("x BIGINT");
    static const int64_t gone[] = {1};
    add_file(t, "poison.parquet")->deleted = deleted_rows(gone, 1);
    relation *r = make_relation(t);
    expr *x = column_of(r, "x");
    expr *quotient = call_of("div", &type_long, long_literal(10), call_of("-", &type_long, column_of(r, "x"), long_literal(1)));
    query *q = make_query(r, &x, 1, call_of(">", &type_boolean, quotient, long_literal(-100)));
    assert_string_equal(rows_of(q), "0\n2\n3");
}

static void duplicate_and_empty_files_keep_their_places(void **state) {
    (void)state;
    run_sql("COPY (SELECT 1::BIGINT AS x WHERE false) TO '{}/empty.parquet'");
    run_sql("COPY (SELECT i AS x FROM range(3) t(i)) TO '{}/three.parquet'");
    fake_table *t = make_table("x BIGINT, p STRING");
    static const uint32_t columns[] = {1};
    t->base.partition_columns = columns;
    t->base.n_partition_columns = 1;
    static const value parts[] = {{.type = &type_string, .as.bytes = {"e", 1}},
                                  {.type = &type_string, .as.bytes = {"a", 1}},
                                  {.type = &type_string, .as.bytes = {"b", 1}}};
    static const int64_t gone[] = {0, 2};
    add_file(t, "empty.parquet")->partition = &parts[0];
    add_file(t, "three.parquet")->partition = &parts[1];
    scan_file *again = add_file(t, "three.parquet");
    again->partition = &parts[2];
    again->deleted = deleted_rows(gone, 2);
    assert_string_equal(rows_of(select_all(make_relation(t))), "0,a\n1,a\n2,a\n1,b");
}

/* A large single file is given a second one without rows, so that DuckDB reads it by several threads: nothing of that shows. */
static void a_large_single_file_is_itself(void **state) {
    (void)state;
    run_sql("COPY (SELECT i AS x, md5(i::VARCHAR) AS s FROM range(300000) t(i)) TO '{}/large [1].parquet'");
    fake_table *t = make_table("x BIGINT, p INT");
    static const uint32_t columns[] = {1};
    t->base.partition_columns = columns;
    t->base.n_partition_columns = 1;
    static const value part = {.type = &type_int, .as.i64 = 5};
    static const int64_t gone[] = {0, 299999};
    scan_file *f = add_file(t, "large [1].parquet");
    f->partition = &part;
    f->deleted = deleted_rows(gone, 2);
    assert_true(f->size_bytes > 2 << 20);
    relation *r = make_relation(t);
    expr *items[] = {call_of("count", &type_long, column_of(r, "p"), NULL)};
    assert_string_equal(rows_of(make_query(r, items, 1, NULL)), "299998");
    const char *rows = rows_of(select_all(make_relation(t)));
    assert_int_equal(strncmp(rows, "1,5\n2,5\n3,5\n", 12), 0); /* the order is the file's */
}

/* ---- partition values ---- */

static void partition_values_of_every_type(void **state) {
    (void)state;
    run_sql("COPY (SELECT i AS x FROM range(2) t(i)) TO '{}/p.parquet'");
    fake_table *t = make_table("x BIGINT, bo BOOLEAN, by TINYINT, sh SMALLINT, i INT, l BIGINT, f FLOAT, d DOUBLE, dc "
                               "DECIMAL(20,3), s STRING, bi BINARY, dt DATE, ts TIMESTAMP, "
                               "tn TIMESTAMP_NTZ");
    static const uint32_t columns[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13};
    t->base.partition_columns = columns;
    t->base.n_partition_columns = ARRAY_LEN(columns);
    value *set = ARENA_ARRAY(fix.arena, 13, value), *none = ARENA_ARRAY(fix.arena, 13, value);
    for (size_t i = 0; i < 13; i++) {
        set[i].type = none[i].type = t->base.schema->fields[i + 1].type;
        none[i].is_null = true;
    }
    set[0].as.boolean = true;
    set[1].as.i64 = -128;
    set[2].as.i64 = 32767;
    set[3].as.i64 = -2147483647 - 1;
    set[4].as.i64 = INT64_MIN;
    set[5].as.f64 = 1.5;
    set[6].as.f64 = -0.0;
    set[7].as.decimal = (int128)-1234567890123456789 * 10;
    set[8].as.bytes = STR("it's \xc3\xa9");
    set[9].as.bytes = STR("\x01\xff");
    set[10].as.i64 = -719528 - 365; /* -0001-01-01 */
    set[11].as.i64 = -1;
    set[12].as.i64 = 1;
    add_file(t, "p.parquet")->partition = set;
    add_file(t, "p.parquet")->partition = none;
    const char *values = "true,-128,32767,-2147483648,-9223372036854775808,1.5,-0.0,-12345678901234567.890,it's "
                         "\xc3\xa9,01ff,-0001-01-01,1969-12-31T23:59:59.999999Z,1970-01-01T00:00:00.000001";
    const char *nulls = "null,null,null,null,null,null,null,null,null,null,null,null,null";
    assert_string_equal(rows_of(select_all(make_relation(t))),
                        arena_printf(fix.arena, "0,%s\n1,%s\n0,%s\n1,%s", values, values, nulls, nulls).ptr);
}

static void filters_on_partition_values(void **state) {
    (void)state;
    run_sql("COPY (SELECT i AS x FROM range(2) t(i)) TO '{}/p.parquet'");
    fake_table *t = make_table("x BIGINT, p BIGINT");
    static const uint32_t columns[] = {1};
    t->base.partition_columns = columns;
    t->base.n_partition_columns = 1;
    static const value parts[] = {
        {.type = &type_long, .as.i64 = 5}, {.type = &type_long, .is_null = true}, {.type = &type_long, .as.i64 = 6}};
    for (size_t i = 0; i < 3; i++) add_file(t, "p.parquet")->partition = &parts[i];
    relation *r = make_relation(t);
    expr *items[] = {column_of(r, "x"), column_of(r, "p")};
    assert_string_equal(rows_of(make_query(r, items, 2, call_of("<>", &type_boolean, column_of(r, "p"), long_literal(5)))),
                        "0,6\n1,6");
    assert_string_equal(rows_of(make_query(r, items, 2, call_of("isnull", &type_boolean, column_of(r, "p"), NULL))),
                        "0,null\n1,null");
}

/* ---- floats ---- */

/* The footer says max = 2.0 although NaN, which Spark holds for greater than any number, is there (as pyarrow and delta-rs write it). */
static void nan_is_not_pruned_by_footers(void **state) {
    (void)state;
    str path = arena_printf(fix.arena, "%s/tests/unit/engine/data/nan.parquet", SILT_SOURCE_DIR);
    fake_table *t = make_table("d DOUBLE, i BIGINT, s STRUCT<x: DOUBLE, y: BIGINT>");
    add_file(t, "unused")->path = path;
    relation *r = make_relation(t);
    expr *i = column_of(r, "i");
    expr *five = expr_new(fix.arena, EXPR_LITERAL, (source_span){0, 0});
    five->literal = (value){.type = &type_double, .as.f64 = 5.0};
    five->type = &type_double;
    assert_string_equal(rows_of(make_query(r, &i, 1, call_of(">", &type_boolean, column_of(r, "d"), five))), "2");
    expr *x = expr_new(fix.arena, EXPR_FIELD, (source_span){0, 0});
    expr *s = column_of(r, "s");
    x->args = ARENA_ARRAY(fix.arena, 1, expr *);
    x->args[0] = s;
    x->n_args = 1;
    x->field_index = 0;
    x->field_name = STR("x");
    x->type = &type_double;
    x->nullable = true;
    assert_string_equal(rows_of(make_query(r, &i, 1, call_of(">", &type_boolean, x, five))), "2");
}

/* ---- old encodings ---- */

static void int96_is_utc_in_any_zone(void **state) {
    (void)state;
    str path = arena_printf(fix.arena, "%s/tests/unit/engine/data/int96.parquet", SILT_SOURCE_DIR);
    fake_table *t = make_table("ts TIMESTAMP, i BIGINT");
    add_file(t, "unused")->path = path;
    silt_error err = {0};
    assert_ok(engine_set_time_zone(fix.engine, STR("America/New_York"), &err), &err);
    assert_string_equal(rows_of(select_all(make_relation(t))), "2024-01-01T12:00:00Z,1\nnull,2");
    assert_ok(engine_set_time_zone(fix.engine, STR("UTC"), &err), &err);
}

static void unmarked_binary_is_text(void **state) {
    (void)state;
    run_sql("COPY (SELECT encode('a\\b') AS s, 1 AS i) TO '{}/unmarked.parquet'");
    fake_table *t = make_table("s STRING, i INT");
    add_file(t, "unmarked.parquet");
    assert_string_equal(rows_of(select_all(make_relation(t))), "a\\b,1");
}

/* ---- metadata and row ids ---- */

static expr *metadata_field(relation *r, const char *name) {
    expr *e = expr_new(fix.arena, EXPR_FIELD, (source_span){0, 0});
    const data_type *type = r->columns[r->n_columns - 1].type;
    e->args = ARENA_ARRAY(fix.arena, 1, expr *);
    e->args[0] = column_of(r, "_metadata");
    e->n_args = 1;
    e->field_index = schema_find(type, str_of(name));
    e->field_name = str_of(name);
    e->type = type->fields[e->field_index].type;
    e->nullable = true;
    return e;
}

static void row_ids_are_base_plus_position_or_the_materialised_one(void **state) {
    (void)state;
    run_sql("COPY (SELECT i AS x, CASE WHEN i = 1 THEN 77::BIGINT END AS \"_row_id\", CASE WHEN i = 1 THEN 3::BIGINT END AS "
            "\"_rcv\" FROM range(3) t(i)) TO '{}/ids.parquet'");
    run_sql("COPY (SELECT i AS x FROM range(3) t(i)) TO '{}/noids.parquet'");
    fake_table *t = make_table("x BIGINT");
    t->base.has_row_ids = true;
    t->base.row_id_column = STR("_row_id");
    t->base.row_commit_version_column = STR("_rcv");
    scan_file *f = add_file(t, "ids.parquet");
    f->base_row_id = 100;
    f->default_row_commit_version = 9;
    f->size_bytes = 42;
    static const int64_t gone[] = {0};
    f = add_file(t, "noids.parquet");
    f->base_row_id = 200;
    f->default_row_commit_version = 8;
    f->deleted = deleted_rows(gone, 1);
    relation *r = make_relation(t);
    expr *items[] = {column_of(r, "x"), metadata_field(r, "row_id"), metadata_field(r, "row_commit_version"),
                     metadata_field(r, "row_index"), metadata_field(r, "file_name")};
    assert_string_equal(
        rows_of(make_query(r, items, 5, NULL)),
        "0,100,9,0,ids.parquet\n1,77,3,1,ids.parquet\n2,102,9,2,ids.parquet\n1,201,8,1,noids.parquet\n2,202,8,2,noids.parquet");
}

static relation *places_over(table_source *t) {
    relation *r = relation_over(t);
    silt_error err = {0};
    r->needs_row_id = true;
    assert_ok(relation_bind_columns(r, fix.arena, &err), &err);
    return r;
}

/* Row-level operations ask for the file's number in the format's own counting and the row's place in the file. */
static void row_places_are_given_on_request(void **state) {
    (void)state;
    run_sql("COPY (SELECT i AS x FROM range(4) t(i)) TO '{}/places.parquet'");
    fake_table *t = make_table("x BIGINT");
    static const int64_t gone[] = {0, 2};
    add_file(t, "places.parquet")->index = 70;
    scan_file *f = add_file(t, "places.parquet");
    f->index = 71;
    f->deleted = deleted_rows(gone, 2);
    relation *r = places_over(&t->base);
    expr *items[] = {column_of(r, "silt_file"), column_of(r, "silt_row"), column_of(r, "x")};
    assert_string_equal(rows_of(make_query(r, items, 3, NULL)), "70,0,0\n70,1,1\n70,2,2\n70,3,3\n71,1,1\n71,3,3");
    relation *only = places_over(&t->base);
    expr *row[] = {column_of(only, "silt_row")};
    assert_string_equal(rows_of(make_query(only, row, 1, NULL)), "0\n1\n2\n3\n1\n3");
}

static void places_of_a_table_without_files(void **state) {
    (void)state;
    relation *r = places_over(&make_table("x BIGINT")->base);
    expr *items[] = {column_of(r, "silt_file"), column_of(r, "silt_row")};
    assert_string_equal(rows_of(make_query(r, items, 2, NULL)), "");
}

static void a_column_named_like_a_place_is_the_users(void **state) {
    (void)state;
    run_sql("COPY (SELECT 40 + i AS silt_file, 50 + i AS \"SILT_ROW\" FROM range(2) t(i)) TO '{}/placenames.parquet'");
    fake_table *t = make_table("silt_file BIGINT, SILT_ROW BIGINT");
    add_file(t, "placenames.parquet")->index = 5;
    relation *r = places_over(&t->base);
    expr *items[] = {column_of(r, "silt_file"), column_of(r, "SILT_ROW"), column_of(r, "\x01silt_file"),
                     column_of(r, "\x01silt_row")};
    assert_string_equal(rows_of(make_query(r, items, 4, NULL)), "40,50,5,0\n41,51,5,1");
}

/* ---- nothing to read, and failures ---- */

static void a_table_without_files_has_no_rows(void **state) {
    (void)state;
    assert_string_equal(rows_of(select_all(make_relation(make_table("x BIGINT, s STRUCT<a: INT>")))), "");
}

static void a_missing_file_is_named(void **state) {
    (void)state;
    run_sql("COPY (SELECT 1::BIGINT AS x) TO '{}/there.parquet'");
    fake_table *t = make_table("x BIGINT");
    add_file(t, "there.parquet");
    add_file(t, "gone [1].parquet");
    const char *text;
    silt_error err = {0};
    assert_condition(try_rows(select_all(make_relation(t)), &text, &err), &err, "DELTA_FILE_NOT_FOUND_DETAILED");
    assert_non_null(strstr(err.message, "gone [1].parquet"));
}

static void a_damaged_file_is_named(void **state) {
    (void)state;
    run_sql("COPY (SELECT i AS x, md5(i::VARCHAR) AS s FROM range(5000) t(i)) TO '{}/damaged.parquet'");
    str path = in_folder("damaged.parquet");
    FILE *f = fopen(path.ptr, "r+b");
    fseek(f, 40, SEEK_SET);
    for (int i = 0; i < 20000; i++) fputc(0x5a, f);
    fclose(f);
    fake_table *t = make_table("x BIGINT, s STRING");
    add_file(t, "damaged.parquet");
    const char *text;
    silt_error err = {0};
    assert_condition(try_rows(select_all(make_relation(t)), &text, &err), &err, "FAILED_READ_FILE");
    assert_non_null(strstr(err.message, "damaged.parquet"));
}

static void a_truncated_file_is_named(void **state) {
    (void)state;
    run_sql("COPY (SELECT i AS x FROM range(5000) t(i)) TO '{}/short.parquet'");
    assert_int_equal(truncate(in_folder("short.parquet").ptr, 300), 0);
    fake_table *t = make_table("x BIGINT");
    add_file(t, "short.parquet");
    const char *text;
    silt_error err = {0};
    assert_condition(try_rows(select_all(make_relation(t)), &text, &err), &err, "FAILED_READ_FILE");
    assert_non_null(strstr(err.message, "short.parquet"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns_named_like_virtual_ones_are_the_users),
        cmocka_unit_test(glob_characters_in_paths_are_plain),
        cmocka_unit_test(missing_columns_are_null_and_more_are_ignored),
        cmocka_unit_test(widened_types_are_cast),
        cmocka_unit_test(void_columns_are_null),
        cmocka_unit_test(name_mode_reads_physical_names),
        cmocka_unit_test(id_mode_reads_each_file_by_its_ids),
        cmocka_unit_test(deleted_rows_stay_out),
        cmocka_unit_test(filters_see_live_rows_only),
        cmocka_unit_test(expressions_do_not_see_deleted_rows),
        cmocka_unit_test(duplicate_and_empty_files_keep_their_places),
        cmocka_unit_test(a_large_single_file_is_itself),
        cmocka_unit_test(partition_values_of_every_type),
        cmocka_unit_test(filters_on_partition_values),
        cmocka_unit_test(nan_is_not_pruned_by_footers),
        cmocka_unit_test(int96_is_utc_in_any_zone),
        cmocka_unit_test(unmarked_binary_is_text),
        cmocka_unit_test(row_ids_are_base_plus_position_or_the_materialised_one),
        cmocka_unit_test(row_places_are_given_on_request),
        cmocka_unit_test(places_of_a_table_without_files),
        cmocka_unit_test(a_column_named_like_a_place_is_the_users),
        cmocka_unit_test(a_table_without_files_has_no_rows),
        cmocka_unit_test(a_missing_file_is_named),
        cmocka_unit_test(a_damaged_file_is_named),
        cmocka_unit_test(a_truncated_file_is_named),
    };
    return cmocka_run_group_tests(tests, fixture_open, fixture_close);
}
