/* Schema enforcement and evolution: mergeSchema, overwriteSchema, type widening, the DataFrame writer's rules (literals of Spark 4.1.2 with Delta 4.3.1). */
#include "ops_test.h"

#define ROWS(query, text) assert_string_equal(world_rows(w, (query)), (text))
#define INSERT(...)       world_insert(w, (insert_words){__VA_ARGS__})

static const write_options merge = {.merge_schema = true};

static const char *schema(world *w) {
    delta_snapshot *s = world_snapshot(w);
    const char *text = arena_cstr(w->a, type_sql(delta_snapshot_metadata(s)->schema, w->a));
    delta_snapshot_release(s);
    return text;
}

static const char *schema_json(world *w) {
    delta_snapshot *s = world_snapshot(w);
    const char *text = arena_cstr(w->a, delta_snapshot_metadata(s)->schema_json);
    delta_snapshot_release(s);
    return text;
}

static void new_columns_are_appended(void **state) {
    world *w = *state;
    OK(world_create(w, (create_words){.columns = "a INT NOT NULL"}));
    FAILS("DELTA_METADATA_MISMATCH", INSERT(.query = "SELECT 1 AS a, 'x' AS b"));
    OK(INSERT(.query = "SELECT 'x' AS b, 1 AS a", .by_name = true, .options = merge));
    assert_string_equal(world_actions(w, 1), "commitInfo metaData add");
    assert_string_equal(world_parameters(w, 1), "{\"mode\":\"Append\",\"partitionBy\":\"[]\",\"canMergeSchema\":true}");
    assert_true(json_get_bool(world_action(w, 1, "commitInfo"), "isBlindAppend", false));
    assert_string_equal(schema(w), "STRUCT<a: INT NOT NULL, b: STRING>");
    OK(INSERT(.query = "SELECT 2, 'y', 3.5D AS c", .options = merge)); /* by position: what is left over has its own name */
    assert_string_equal(schema(w), "STRUCT<a: INT NOT NULL, b: STRING, c: DOUBLE>");
    OK(INSERT(.query = "SELECT 3 AS a, NULL AS nothing", .by_name = true,
              .options = merge)); /* a column of nothing but NULL says nothing */
    assert_string_equal(world_actions(w, 3), "commitInfo add");
    ROWS("SELECT a, b, CAST(c AS STRING) FROM t ORDER BY a", "1|x|NULL\n2|y|3.5\n3|NULL|NULL\n");
    FAILS("COLUMN_ALREADY_EXISTS", INSERT(.query = "SELECT 2, 'y', 3D, 4 AS A", .options = merge));
    FAILS("DELTA_INVALID_CHARACTERS_IN_COLUMN_NAMES", INSERT(.query = "SELECT 2, 'y', 3D, 4 AS `x y`", .options = merge));
    world_set(w, "spark.databricks.delta.schema.autoMerge.enabled", "true");
    OK(INSERT(.query = "SELECT 4 AS a, 5 AS d", .by_name = true));
    assert_string_equal(schema(w), "STRUCT<a: INT NOT NULL, b: STRING, c: DOUBLE, d: INT>");
}

static void new_fields_are_appended_to_their_struct(void **state) {
    world *w = *state;
    OK(world_create(w, (create_words){.columns = "s STRUCT<a: INT>, l ARRAY<STRUCT<x: INT>>"}));
    const char *rows = "SELECT named_struct('a', 1, 'b', 'z') AS s, array(named_struct('x', 1, 'y', 2)) AS l";
    FAILS("DELTA_METADATA_MISMATCH", INSERT(.query = rows));
    OK(INSERT(.query = rows, .options = merge));
    assert_string_equal(schema(w), "STRUCT<s: STRUCT<a: INT, b: STRING>, l: ARRAY<STRUCT<x: INT, y: INT>>>");
    ROWS("SELECT s.a, s.b, l[0].x, l[0].y FROM t", "1|z|1|2\n");
    FAILS("DELTA_INSERT_COLUMN_ARITY_MISMATCH", INSERT(.query = "SELECT named_struct('a', 1), NULL", .options = merge));
    assert_non_null(strstr(w->err.message, "not enough nested fields in s"));
}

static void mapped_tables_give_new_columns_fresh_ids(void **state) {
    world *w = *state;
    OK(world_create(w, (create_words){.columns = "a INT", .properties = "delta.columnMapping.mode=name"}));
    OK(INSERT(.query = "SELECT 1 AS a, 2 AS `b c`", .by_name = true, .options = merge));
    delta_snapshot *s = world_snapshot(w);
    const field *f = &delta_snapshot_metadata(s)->schema->fields[1];
    assert_int_equal(f->field_id, 2);
    assert_true(str_starts_with(f->physical_name, STR("col-")));
    assert_true(str_eqz(delta_snapshot_property(s, "delta.columnMapping.maxColumnId"), "2"));
    delta_snapshot_release(s);
    ROWS("SELECT a, `b c` FROM t", "1|2\n");
}

static void types_widen_where_the_table_allows_it(void **state) {
    world *w = *state;
    OK(world_create(w, (create_words){.columns = "a TINYINT, m MAP<INT, FLOAT>, d DECIMAL(5,2), s STRUCT<x: INT>"}));
    const char *wider = "SELECT 300, map(1, 1.5D), CAST(12345.678 AS DECIMAL(8,3)), named_struct('x', 5000000000)";
    FAILS("CAST_OVERFLOW_IN_TABLE_INSERT", INSERT(.query = wider, .options = merge));
    OK(world_create(w, (create_words){.columns = "a TINYINT, m MAP<INT, FLOAT>, d DECIMAL(5,2), s STRUCT<x: INT>",
                                      .properties = "delta.enableTypeWidening=true",
                                      .or_replace = true}));
    FAILS("CAST_OVERFLOW_IN_TABLE_INSERT", INSERT(.query = wider)); /* only a write that may change the schema */
    OK(INSERT(.query = wider, .options = merge));
    assert_string_equal(schema(w), "STRUCT<a: INT, m: MAP<INT, DOUBLE>, d: DECIMAL(8,3), s: STRUCT<x: BIGINT>>");
    OK(INSERT(.query = "SELECT 5000000000, NULL, NULL, NULL", .options = merge));
    assert_string_equal(
        schema_json(w),
        "{\"type\":\"struct\",\"fields\":[{\"name\":\"a\",\"type\":\"long\",\"nullable\":true,\"metadata\":{\"delta."
        "typeChanges\":["
        "{\"toType\":\"integer\",\"fromType\":\"byte\"},{\"toType\":\"long\",\"fromType\":\"integer\"}]}},"
        "{\"name\":\"m\",\"type\":{\"type\":\"map\",\"keyType\":\"integer\",\"valueType\":\"double\",\"valueContainsNull\":true},"
        "\"nullable\":true,"
        "\"metadata\":{\"delta.typeChanges\":[{\"toType\":\"double\",\"fromType\":\"float\",\"fieldPath\":\"value\"}]}},"
        "{\"name\":\"d\",\"type\":\"decimal(8,3)\",\"nullable\":true,\"metadata\":{\"delta.typeChanges\":[{\"toType\":\"decimal("
        "8,3)\",\"fromType\":\"decimal(5,2)\"}]}},"
        "{\"name\":\"s\",\"type\":{\"type\":\"struct\",\"fields\":[{\"name\":\"x\",\"type\":\"long\",\"nullable\":true,"
        "\"metadata\":"
        "{\"delta.typeChanges\":[{\"toType\":\"long\",\"fromType\":\"integer\"}]}}]},\"nullable\":true,\"metadata\":{}}]}");
    FAILS("CAST_INVALID_INPUT", INSERT(.query = "SELECT 'x', NULL, NULL, NULL", .options = merge)); /* no widening: cast */
    ROWS("SELECT a, CAST(d AS STRING), s.x FROM t ORDER BY a", "300|12345.678|5000000000\n5000000000|NULL|NULL\n");
}

/* ---- the DataFrame writer ---- */

static void data_frames_pair_by_name_and_do_not_cast(void **state) {
    world *w = *state;
    OK(world_create(w, (create_words){.columns = "i INT, s STRING, st STRUCT<a: INT, b: STRING>, nn INT NOT NULL, l BIGINT"}));
    OK(INSERT(.query = "SELECT 1 AS nn, 2 AS I", .data_frame = true));
    FAILS("DELTA_MISSING_NOT_NULL_COLUMN_VALUE", INSERT(.query = "SELECT 1 AS i", .data_frame = true));
    FAILS("DELTA_METADATA_MISMATCH", INSERT(.query = "SELECT 1 AS nn, 2 AS zz", .data_frame = true));
    FAILS("DELTA_FAILED_TO_MERGE_FIELDS", INSERT(.query = "SELECT 1 AS nn, 'x' AS i", .data_frame = true));
    FAILS("DELTA_FAILED_TO_MERGE_FIELDS", INSERT(.query = "SELECT 1 AS nn, 5L AS i", .data_frame = true));
    FAILS("DELTA_FAILED_TO_MERGE_FIELDS", INSERT(.query = "SELECT 1 AS nn, 5 AS s", .data_frame = true));
    FAILS("DELTA_FAILED_TO_MERGE_FIELDS", INSERT(.query = "SELECT 1 AS nn, array(1) AS i", .data_frame = true));
    FAILS("DELTA_DUPLICATE_COLUMNS_FOUND", INSERT(.query = "SELECT 1 AS nn, 2 AS i, 3 AS I", .data_frame = true));
    OK(INSERT(.query = "SELECT 2 AS nn, NULL AS whatever, 7 AS l", .data_frame = true)); /* nothing is lost from int to bigint */
    OK(INSERT(.query = "SELECT 3 AS nn, named_struct('B', 'x', 'a', 1) AS st", .data_frame = true));
    OK(INSERT(.query = "SELECT 4 AS nn, named_struct('b', 'y') AS st", .data_frame = true));
    ROWS("SELECT nn, i, st.a, st.b, l FROM t ORDER BY nn",
         "1|2|NULL|NULL|NULL\n2|NULL|NULL|NULL|7\n3|NULL|1|x|NULL\n4|NULL|NULL|y|NULL\n");
    ROWS("SELECT count(*) FROM t WHERE st IS NULL", "2\n");
    OK(INSERT(.query = "SELECT 5 AS nn, named_struct('c', 9, 'b', 'z') AS st", .data_frame = true, .options = merge));
    assert_string_equal(schema(w),
                        "STRUCT<i: INT, s: STRING, st: STRUCT<a: INT, b: STRING, c: INT>, nn: INT NOT NULL, l: BIGINT>");
    ROWS("SELECT st.a, st.b, st.c FROM t WHERE nn = 5", "NULL|z|9\n");
}

static void collections_of_structs_pair_by_name(void **state) {
    world *w = *state;
    OK(world_create(w, (create_words){.columns = "l ARRAY<STRUCT<a: INT, b: INT>>, m MAP<STRING, STRUCT<a: INT, b: INT>>"}));
    OK(INSERT(.query = "SELECT array(named_struct('b', 2, 'a', 1), NULL) AS l, map('k', named_struct('b', 4, 'a', 3)) AS m",
              .data_frame = true));
    OK(INSERT(.query = "SELECT CAST(NULL AS ARRAY<STRUCT<b: INT, a: INT>>) AS l", .data_frame = true));
    ROWS("SELECT l[0].a, l[0].b, l[1].a, m['k'].a, m['k'].b FROM t WHERE l IS NOT NULL", "1|2|NULL|3|4\n");
    ROWS("SELECT count(*) FROM t WHERE l IS NULL", "1\n");
}

static void a_load_makes_the_table_that_is_not_there(void **state) {
    world *w = *state;
    OK(world_load(w, "SELECT * FROM VALUES (1, 'a'), (2, 'b') AS v(id, p)", SAVE_ERROR_IF_EXISTS, "p", (write_options){0}));
    assert_string_equal(world_actions(w, 0), "commitInfo metaData protocol add add");
    assert_string_equal(world_parameters(w, 0), "{\"mode\":\"ErrorIfExists\",\"partitionBy\":\"[\\\"p\\\"]\"}");
    assert_string_equal(world_metrics(w, 0), "numFiles=2 numOutputRows=2");
    FAILS("DELTA_PATH_EXISTS", world_load(w, "SELECT 1 AS id", SAVE_ERROR_IF_EXISTS, NULL, (write_options){0}));
    OK(world_load(w, "SELECT 1 AS id", SAVE_IGNORE, NULL, (write_options){0}));
    assert_int_equal(w->done.version, -1);
    OK(world_load(w, "SELECT 'b' AS p, 3 AS id", SAVE_APPEND, "P", (write_options){0}));
    FAILS("DELTA_METADATA_MISMATCH", world_load(w, "SELECT 'b' AS p, 3 AS id", SAVE_APPEND, "id", (write_options){0}));
    OK(world_load(w, "SELECT 'c' AS p, 4 AS id", SAVE_OVERWRITE, NULL, (write_options){0}));
    assert_string_equal(world_parameters(w, 2), "{\"mode\":\"Overwrite\",\"partitionBy\":\"[]\"}");
    assert_string_equal(world_metrics(w, 2), "numFiles=1 numRemovedFiles=3 numOutputRows=1");
    ROWS("SELECT id, p FROM t", "4|c\n");
}

static void an_overwrite_may_bring_its_own_schema(void **state) {
    world *w = *state;
    const write_options overwrite = {.overwrite_schema = true};
    OK(world_load(w, "SELECT 1 AS a, 'x' AS p", SAVE_APPEND, "p", (write_options){0}));
    str id = json_get_str(world_action(w, 0, "metaData"), "id", STR_NULL);
    FAILS("DELTA_FAILED_TO_MERGE_FIELDS",
          world_load(w, "SELECT 'text' AS a, 'x' AS p", SAVE_OVERWRITE, NULL, (write_options){0}));
    FAILS("DELTA_METADATA_MISMATCH", world_load(w, "SELECT 1 AS a, 'x' AS p, 1 AS b", SAVE_OVERWRITE, NULL, (write_options){0}));
    OK(world_load(w, "SELECT 'text' AS a, 5 AS v", SAVE_OVERWRITE, "v", overwrite));
    assert_string_equal(world_actions(w, 1), "commitInfo metaData add remove");
    assert_string_equal(world_parameters(w, 1),
                        "{\"mode\":\"Overwrite\",\"partitionBy\":\"[\\\"v\\\"]\",\"canOverwriteSchema\":true}");
    assert_string_equal(schema(w), "STRUCT<a: STRING, v: INT>");
    assert_true(str_eq(json_get_str(world_action(w, 1, "metaData"), "id", STR_NULL), id));
    ROWS("SELECT a, v FROM t", "text|5\n");
    OK(world_load(w, "SELECT 'again' AS a, 6 AS v", SAVE_OVERWRITE, NULL, overwrite)); /* no partitioning given: none */
    assert_int_equal(json_get(world_action(w, 2, "metaData"), "partitionColumns")->count, 0);
    OK(world_load(w, "SELECT 1 AS a, 6 AS v", SAVE_OVERWRITE, "v", overwrite));
    const write_options dynamic = {.overwrite_schema = true, .dynamic_known = true, .dynamic_overwrite = true};
    FAILS("DELTA_OVERWRITE_SCHEMA_WITH_DYNAMIC_PARTITION_OVERWRITE",
          world_load(w, "SELECT 1 AS a, 6 AS v", SAVE_OVERWRITE, "v", dynamic));
}

static void a_column_of_a_check_keeps_its_type(void **state) {
    world *w = *state;
    OK(world_create(
        w, (create_words){.columns = "i INT, j INT", .properties = "delta.constraints.c=i > 0;delta.enableTypeWidening=true"}));
    FAILS("DELTA_CONSTRAINT_DATA_TYPE_MISMATCH", INSERT(.query = "SELECT 'x' AS i", .data_frame = true));
    FAILS("DELTA_CONSTRAINT_DATA_TYPE_MISMATCH", INSERT(.query = "SELECT 5L AS i", .data_frame = true, .options = merge));
    FAILS("DELTA_CONSTRAINT_DATA_TYPE_MISMATCH", INSERT(.query = "SELECT array(1) AS i", .data_frame = true));
    FAILS("DELTA_FAILED_TO_MERGE_FIELDS", INSERT(.query = "SELECT 'x' AS j", .data_frame = true));
    OK(INSERT(.query = "SELECT 5L AS j, 1 AS i", .data_frame = true, .options = merge));
    assert_string_equal(schema(w), "STRUCT<i: INT, j: BIGINT>");
}

static void a_replaced_schema_is_no_longer_clustered(void **state) {
    world *w = *state;
    OK(world_create(w, (create_words){.columns = "a INT", .cluster_by = "a"}));
    OK(world_load(w, "SELECT 1 AS a", SAVE_OVERWRITE, NULL, (write_options){0})); /* the same schema: still clustered */
    assert_null(world_action(w, 1, "domainMetadata"));
    OK(world_load(w, "SELECT 'x' AS b", SAVE_OVERWRITE, NULL, (write_options){.overwrite_schema = true}));
    assert_true(str_eqz(json_get_str(world_action(w, 2, "domainMetadata"), "configuration", STR_NULL),
                        "{\"clusteringColumns\":[],\"domainName\":\"delta.clustering\"}"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        WITH_WORLD(new_columns_are_appended),
        WITH_WORLD(new_fields_are_appended_to_their_struct),
        WITH_WORLD(mapped_tables_give_new_columns_fresh_ids),
        WITH_WORLD(types_widen_where_the_table_allows_it),
        WITH_WORLD(data_frames_pair_by_name_and_do_not_cast),
        WITH_WORLD(collections_of_structs_pair_by_name),
        WITH_WORLD(a_load_makes_the_table_that_is_not_there),
        WITH_WORLD(an_overwrite_may_bring_its_own_schema),
        WITH_WORLD(a_column_of_a_check_keeps_its_type),
        WITH_WORLD(a_replaced_schema_is_no_longer_clustered),
    };
    return RUN_TESTS(tests);
}
