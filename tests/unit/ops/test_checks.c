/* What every written row must satisfy: NOT NULL, CHAR/VARCHAR lengths, CHECK constraints and the older column invariants. */
#include "ops_test.h"

#define ROWS(query, text) assert_string_equal(world_rows(w, (query)), (text))
#define INSERT(...)       world_insert(w, (insert_words){__VA_ARGS__})

static void null_parents_violate_their_children(void **state) {
    world *w = *state;
    OK(world_create(w, (create_words){.columns = "s STRUCT<a: INT NOT NULL, b: STRUCT<c: INT NOT NULL>>"}));
    OK(INSERT(.query = "SELECT named_struct('a', 1, 'b', named_struct('c', 2))"));
    FAILS("DELTA_NOT_NULL_CONSTRAINT_VIOLATED",
          INSERT(.query = "SELECT named_struct('a', CAST(NULL AS INT), 'b', named_struct('c', 2))"));
    assert_string_equal(w->err.message, "NOT NULL constraint violated for column: s.a");
    assert_string_equal(w->err.sqlstate, "23502");
    FAILS("DELTA_NOT_NULL_CONSTRAINT_VIOLATED", INSERT(.query = "SELECT named_struct('a', 1, 'b', NULL)"));
    assert_string_equal(w->err.message, "NOT NULL constraint violated for column: s.b.c");
    FAILS("DELTA_NOT_NULL_CONSTRAINT_VIOLATED", INSERT(.query = "SELECT NULL"));
    ROWS("SELECT s.b.c FROM t", "2\n");
}

static void lengths_count_characters_and_trailing_spaces(void **state) {
    world *w = *state;
    OK(world_create(w, (create_words){.columns = "a VARCHAR(3), b CHAR(5)"}));
    OK(INSERT(.query = "SELECT 'äöü', 'x'"));
    FAILS("DELTA_EXCEED_CHAR_VARCHAR_LIMIT", INSERT(.query = "SELECT 'abcd', 'x'"));
    assert_string_equal(w->err.sqlstate, "22001");
    FAILS("DELTA_EXCEED_CHAR_VARCHAR_LIMIT", INSERT(.query = "SELECT 'abc  ', 'x'"));
    FAILS("DELTA_EXCEED_CHAR_VARCHAR_LIMIT", INSERT(.query = "SELECT 'a', 'xxxxxx'"));
    FAILS("DELTA_EXCEED_CHAR_VARCHAR_LIMIT", INSERT(.query = "SELECT 'qqqq' AS a, 'y' AS b", .data_frame = true));
    OK(INSERT(.query = "SELECT NULL, NULL"));
    /* stored unpadded: statistics show it */
    assert_non_null(strstr(json_get_str(world_action(w, 1, "add"), "stats", STR_NULL).ptr, "\"b\":\"x\""));
}

static void lengths_reach_into_collections(void **state) {
    world *w = *state;
    OK(world_create(w, (create_words){.columns = "l ARRAY<VARCHAR(2)>, m MAP<VARCHAR(2), VARCHAR(3)>, s STRUCT<x: VARCHAR(2)>, "
                                                 "ls ARRAY<STRUCT<n: INT, x: VARCHAR(2), y: VARCHAR(1)>>"}));
    OK(INSERT(.query = "SELECT array('ab', NULL), map('k', 'abc'), named_struct('x', 'ab'), array(named_struct('n', 1, 'x', "
                       "'ab', 'y', NULL), NULL)"));
    FAILS("DELTA_EXCEED_CHAR_VARCHAR_LIMIT", INSERT(.query = "SELECT array('ab', 'abc'), NULL, NULL, NULL"));
    FAILS("DELTA_EXCEED_CHAR_VARCHAR_LIMIT", INSERT(.query = "SELECT NULL, map('kkk', 'abc'), NULL, NULL"));
    FAILS("DELTA_EXCEED_CHAR_VARCHAR_LIMIT", INSERT(.query = "SELECT NULL, map('k', 'abcd'), NULL, NULL"));
    FAILS("DELTA_EXCEED_CHAR_VARCHAR_LIMIT", INSERT(.query = "SELECT NULL, NULL, named_struct('x', 'abc'), NULL"));
    FAILS("DELTA_EXCEED_CHAR_VARCHAR_LIMIT",
          INSERT(.query = "SELECT NULL, NULL, NULL, array(named_struct('n', 1, 'x', 'ab', 'y', 'zz'))"));
}

static void a_check_must_be_true(void **state) {
    world *w = *state;
    OK(world_create(w, (create_words){.columns = "a INT, b STRING", .properties = "delta.constraints.C=a > 0"}));
    assert_int_equal(json_get_i64(world_action(w, 0, "protocol"), "minWriterVersion", 0), 3);
    OK(INSERT(.query = "VALUES (1, 'x'), (2, NULL)"));
    FAILS("DELTA_VIOLATE_CONSTRAINT_WITH_VALUES", INSERT(.query = "VALUES (1, 'x'), (0, 'y')"));
    assert_string_equal(w->err.sqlstate, "23001");
    assert_string_equal(w->err.message, "CHECK constraint c (a > 0) violated by a row with values: - a : 0");
    FAILS("DELTA_VIOLATE_CONSTRAINT_WITH_VALUES", INSERT(.query = "VALUES (NULL, 'x')"));
    assert_string_equal(w->err.message, "CHECK constraint c (a > 0) violated by a row with values: - a : null");
    FAILS("DELTA_VIOLATE_CONSTRAINT_WITH_VALUES", INSERT(.query = "SELECT 'z' AS b", .by_name = true));
    FAILS("DELTA_VIOLATE_CONSTRAINT_WITH_VALUES", INSERT(.query = "VALUES (-1, 'x')", .overwrite = true));
    ROWS("SELECT a FROM t ORDER BY a", "1\n2\n");
}

/* The order of Spark 4.1.2 with Delta 4.1: CHECKs as the table has them, NOT NULL, lengths, generated columns; of several rows the first that breaks one. */
static void a_row_is_told_its_first_violation(void **state) {
    static const struct {
        const char *rows, *message;
    } cases[] = {
        {"(NULL, 'abcd', 0, 9)", "CHECK constraint z (q > 0) violated by a row with values: - q : 0"},
        {"(NULL, 'abcd', 7, 9)", "CHECK constraint a (q <> 7) violated by a row with values: - q : 7"},
        {"(NULL, 'abcd', 1, 9)", "NOT NULL constraint violated for column: id"},
        {"(1, 'abcd', 1, 9)", "Value exceeds the VARCHAR(3) length limitation of column v"},
        {"(1, 'abc', 1, 9)", "CHECK constraint Generated Column (g <=> (id * 2)) violated by a row with values: - id : 1 - g : 9"},
        {"(NULL, 'a', 1, NULL), (1, 'a', 0, 2)", "NOT NULL constraint violated for column: id"},
        {"(1, 'a', 0, 2), (NULL, 'a', 1, NULL)", "CHECK constraint z (q > 0) violated by a row with values: - q : 0"},
        {"(1, 'a', 1, 2), (1, 'abcd', 1, 2), (NULL, 'a', 0, NULL)", "Value exceeds the VARCHAR(3) length limitation of column v"},
    };
    world *w = *state;
    OK(world_create(w, (create_words){.columns = "id INT NOT NULL, v VARCHAR(3), q INT, g INT GENERATED ALWAYS AS (id * 2)",
                                      .properties = "delta.constraints.z=q > 0;delta.constraints.a=q <> 7"}));
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        assert_int_equal(INSERT(.query = arena_printf(w->a, "VALUES %s", cases[i].rows).ptr), SILT_CONSTRAINT);
        assert_string_equal(w->err.message, cases[i].message);
    }
    OK(INSERT(.query = "VALUES (1, 'abc', 1, 2)"));
}

/* As Spark has it; the rule and its remedy are in the error all the same. */
static void where_a_condition_says_what_is_replaced_a_rule_is_a_cause(void **state) {
    world *w = *state;
    const write_options where = {.replace_where = STR("p = 1")};
    OK(world_create(w, (create_words){.columns = "id INT NOT NULL, p INT", .partitioned_by = "p", .properties = "delta.constraints.z=id > 0"}));
    FAILS("DELTA_REPLACE_WHERE_MISMATCH", INSERT(.query = "SELECT CAST(NULL AS INT) AS id, 1 AS p", .overwrite = true, .data_frame = true, .options = where));
    assert_string_equal(w->err.detail, "[DELTA_VIOLATE_CONSTRAINT_WITH_VALUES] CHECK constraint z (id > 0) violated by a row with values: - id : null");
    assert_string_equal(w->err.hint, "Correct the rows; nothing was committed.");
    FAILS("DELTA_REPLACE_WHERE_MISMATCH", INSERT(.query = "SELECT 0", .overwrite = true, .partition = "p=1"));
    assert_non_null(strstr(w->err.message, "'(p <=> 1)'"));
    FAILS("DELTA_VIOLATE_CONSTRAINT_WITH_VALUES", INSERT(.query = "SELECT 0", .partition = "p=1"));
    FAILS("DELTA_REPLACE_WHERE_MISMATCH", INSERT(.query = "SELECT 1 AS id, 2 AS p", .overwrite = true, .data_frame = true, .options = where));
    assert_string_equal(w->err.detail, "");
    assert_int_equal(world_data_files(w), 0);
}

static void every_column_of_a_wide_table_is_checked(void **state) {
    enum { N = 400 };
    world *w = *state;
    buf columns, rows;
    buf_init(&columns, BUF_MAX_DEFAULT);
    buf_init(&rows, BUF_MAX_DEFAULT);
    for (int i = 0; i < N; i++) buf_printf(&columns, "%sc%d INT NOT NULL", i ? ", " : "", i);
    OK(world_create(w, (create_words){.columns = buf_take(&columns, w->a).ptr}));
    for (int i = 0; i < N; i++) buf_printf(&rows, "%s%s", i ? ", " : "SELECT ", i == N - 1 ? "CAST(NULL AS INT)" : "1");
    FAILS("DELTA_NOT_NULL_CONSTRAINT_VIOLATED", INSERT(.query = buf_take(&rows, w->a).ptr));
    assert_string_equal(w->err.message, "NOT NULL constraint violated for column: c399");
}

static void adjacent_texts_of_a_check_are_joined(void **state) {
    world *w = *state;
    OK(world_create(w, (create_words){.columns = "b STRING", .properties = "delta.constraints.k=b IN ( 'x' , 'y' 'z' )"}));
    OK(INSERT(.query = "VALUES ('yz')"));
    FAILS("DELTA_VIOLATE_CONSTRAINT_WITH_VALUES", INSERT(.query = "VALUES ('y''z')"));
}

static void old_column_invariants_hold(void **state) {
    world *w = *state;
    OK(world_create(w, (create_words){.columns = "a INT"}));
    /* as an early Delta release left it */
    str path = arena_printf(w->a, "%s/_delta_log/%020d.json", w->root, 1);
    str line = STR(
        "{\"metaData\":{\"id\":\"x\",\"format\":{\"provider\":\"parquet\",\"options\":{}},\"schemaString\":\"{\\\"type\\\":"
        "\\\"struct\\\",\\\"fields\\\":["
        "{\\\"name\\\":\\\"a\\\",\\\"type\\\":\\\"integer\\\",\\\"nullable\\\":true,\\\"metadata\\\":{\\\"delta.invariants\\\":"
        "\\\"{\\\\\\\"expression\\\\\\\":{\\\\\\\"expression\\\\\\\":\\\\\\\"a > "
        "3\\\\\\\"}}\\\"}}]}\",\"partitionColumns\":[],\"configuration\":{}}}\n");
    OK(store_put(w->store, path, line, STORE_PUT_IF_ABSENT, &w->err));
    OK(INSERT(.query = "VALUES (4)"));
    FAILS("DELTA_VIOLATE_CONSTRAINT_WITH_VALUES", INSERT(.query = "VALUES (3)"));
}

static void a_check_with_a_subquery_is_refused(void **state) {
    world *w = *state;
    FAILS("UNSUPPORTED_FEATURE",
          world_create(w, (create_words){.columns = "a INT", .properties = "delta.constraints.k=a IN (SELECT 1)"}));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        WITH_WORLD(null_parents_violate_their_children),  WITH_WORLD(lengths_count_characters_and_trailing_spaces),
        WITH_WORLD(lengths_reach_into_collections),       WITH_WORLD(a_check_must_be_true),
        WITH_WORLD(adjacent_texts_of_a_check_are_joined), WITH_WORLD(old_column_invariants_hold),
        WITH_WORLD(a_check_with_a_subquery_is_refused),   WITH_WORLD(a_row_is_told_its_first_violation),
        WITH_WORLD(every_column_of_a_wide_table_is_checked), WITH_WORLD(where_a_condition_says_what_is_replaced_a_rule_is_a_cause),
    };
    return RUN_TESTS(tests);
}
