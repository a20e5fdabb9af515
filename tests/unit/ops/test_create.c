/* CREATE TABLE in all its forms: the commit in Spark's words (tests/golden literals of Spark 4.1.2 with Delta 4.3.1), what is kept and what is refused. */
#include "ops_test.h"

#define ACTIONS(version, text)    assert_string_equal(world_actions(w, (version)), (text))
#define PARAMETERS(version, text) assert_string_equal(world_parameters(w, (version)), (text))
#define METRICS(version, text)    assert_string_equal(world_metrics(w, (version)), (text))

static str info(world *w, int64_t version, const char *key) {
    const json_node *node = json_get(world_action(w, version, "commitInfo"), key);
    return node ? node->text : STR_NULL;
}

static bool is_blind(world *w, int64_t version) {
    return json_get_bool(world_action(w, version, "commitInfo"), "isBlindAppend", false);
}

static const char *schema_of(world *w, int64_t version) {
    return arena_cstr(w->a, json_get_str(world_action(w, version, "metaData"), "schemaString", STR_NULL));
}

static str property(world *w, const char *key) {
    delta_snapshot *s = world_snapshot(w);
    str text = delta_snapshot_property(s, key);
    text = str_is_null(text) ? text : arena_str(w->a, text);
    delta_snapshot_release(s);
    return text;
}

/* ---- the commit ---- */

static void create_table_is_recorded_as_spark_does(void **state) {
    world *w = *state;
    OK(world_create(
        w, (create_words){.columns = "id BIGINT, p INT", .partitioned_by = "p", .comment = "hello", .is_managed = true}));
    assert_int_equal(w->done.version, 0);
    ACTIONS(0, "commitInfo metaData protocol");
    PARAMETERS(0, "{\"partitionBy\":\"[\\\"p\\\"]\",\"clusterBy\":\"[]\",\"description\":\"hello\",\"isManaged\":\"true\","
                  "\"properties\":\"{}\"}");
    METRICS(0, "");
    assert_true(str_eqz(info(w, 0, "operation"), "CREATE TABLE"));
    assert_true(str_eqz(info(w, 0, "isolationLevel"), "Serializable"));
    assert_true(str_is_null(info(w, 0, "readVersion")));
    assert_true(is_blind(w, 0));
    const json_node *protocol = world_action(w, 0, "protocol");
    assert_int_equal(json_get_i64(protocol, "minReaderVersion", 0), 1);
    assert_int_equal(json_get_i64(protocol, "minWriterVersion", 0), 2);
    assert_string_equal(schema_of(w, 0),
                        "{\"type\":\"struct\",\"fields\":[{\"name\":\"id\",\"type\":\"long\",\"nullable\":true,\"metadata\":{}},"
                        "{\"name\":\"p\",\"type\":\"integer\",\"nullable\":true,\"metadata\":{}}]}");
}

static void as_select_writes_rows_in_the_first_commit(void **state) {
    world *w = *state;
    OK(world_create(w, (create_words){.query = "SELECT * FROM VALUES (1, 'a'), (2, 'b'), (3, 'a') AS v(id, p)",
                                      .partitioned_by = "p",
                                      .is_managed = true}));
    ACTIONS(0, "commitInfo metaData protocol add add");
    PARAMETERS(0, "{\"partitionBy\":\"[\\\"p\\\"]\",\"clusterBy\":\"[]\",\"description\":null,\"isManaged\":\"true\","
                  "\"properties\":\"{}\"}");
    METRICS(0, "numFiles=2 numOutputRows=3");
    assert_true(str_eqz(info(w, 0, "operation"), "CREATE TABLE AS SELECT"));
    assert_true(is_blind(w, 0));
    assert_string_equal(world_rows(w, "SELECT id, p FROM t ORDER BY id"), "1|a\n2|b\n3|a\n");
    /* the columns of a query are nullable in the table */
    assert_string_equal(
        schema_of(w, 0),
        "{\"type\":\"struct\",\"fields\":[{\"name\":\"id\",\"type\":\"integer\",\"nullable\":true,\"metadata\":{}},"
        "{\"name\":\"p\",\"type\":\"string\",\"nullable\":true,\"metadata\":{}}]}");
}

static void replacing_removes_the_files_in_the_same_commit(void **state) {
    world *w = *state;
    OK(world_create(w, (create_words){.query = "SELECT * FROM VALUES (1, 'a'), (2, 'b') AS v(id, p)",
                                      .partitioned_by = "p",
                                      .is_managed = true}));
    OK(world_create(w, (create_words){.query = "SELECT 7 AS x", .or_replace = true, .is_managed = true}));
    ACTIONS(1, "commitInfo metaData add remove remove");
    PARAMETERS(1,
               "{\"partitionBy\":\"[]\",\"clusterBy\":\"[]\",\"description\":null,\"isManaged\":\"true\",\"properties\":\"{}\"}");
    METRICS(1, "numFiles=1 numRemovedFiles=2 numOutputRows=1");
    assert_true(str_eqz(info(w, 1, "operation"), "CREATE OR REPLACE TABLE AS SELECT"));
    assert_false(is_blind(w, 1));
    assert_string_equal(world_rows(w, "SELECT * FROM t"), "7\n");

    OK(world_create(w, (create_words){.columns = "a INT", .replace_only = true, .is_managed = true}));
    ACTIONS(2, "commitInfo metaData remove");
    METRICS(2, "");
    assert_true(str_eqz(info(w, 2, "operation"), "REPLACE TABLE"));
    assert_false(is_blind(w, 2));

    OK(world_create(w, (create_words){.columns = "b INT", .or_replace = true, .is_managed = true}));
    ACTIONS(3, "commitInfo metaData");
    assert_true(str_eqz(info(w, 3, "operation"), "CREATE OR REPLACE TABLE"));
    assert_false(is_blind(w, 3));
}

static void clustering_is_a_domain_and_a_feature(void **state) {
    world *w = *state;
    OK(world_create(
        w, (create_words){.columns = "a BIGINT, b STRING, c STRUCT<d: INT>", .cluster_by = "A,c.d", .is_managed = true}));
    ACTIONS(0, "commitInfo metaData protocol domainMetadata");
    PARAMETERS(0, "{\"partitionBy\":\"[]\",\"clusterBy\":\"[\\\"a\\\",\\\"c.d\\\"]\",\"description\":null,\"isManaged\":\"true\","
                  "\"properties\":\"{}\"}");
    const json_node *domain = world_action(w, 0, "domainMetadata"), *protocol = world_action(w, 0, "protocol");
    assert_true(str_eqz(json_get_str(domain, "domain", STR_NULL), "delta.clustering"));
    assert_true(str_eqz(json_get_str(domain, "configuration", STR_NULL),
                        "{\"clusteringColumns\":[[\"a\"],[\"c\",\"d\"]],\"domainName\":\"delta.clustering\"}"));
    assert_int_equal(json_get_i64(protocol, "minReaderVersion", 0), 1);
    assert_int_equal(json_get_i64(protocol, "minWriterVersion", 0), 7);
    assert_int_equal(json_get(protocol, "writerFeatures")->count, 4); /* domainMetadata, clustering, invariants, appendOnly */

    /* replaced without CLUSTER BY the domain stays, with no columns */
    OK(world_create(w, (create_words){.columns = "a BIGINT", .or_replace = true}));
    domain = world_action(w, 1, "domainMetadata");
    assert_true(str_eqz(json_get_str(domain, "configuration", STR_NULL),
                        "{\"clusteringColumns\":[],\"domainName\":\"delta.clustering\"}"));
    assert_false(json_get_bool(domain, "removed", true));
    FAILS("DELTA_CLUSTERING_REPLACE_TABLE_WITH_PARTITIONED_TABLE",
          world_create(w, (create_words){.columns = "a BIGINT, b INT", .partitioned_by = "b", .or_replace = true}));
}

static void clustering_columns_need_statistics(void **state) {
    world *w = *state;
    FAILS("DELTA_CLUSTER_BY_INVALID_NUM_COLUMNS",
          world_create(w, (create_words){.columns = "a INT, b INT, c INT, d INT, e INT", .cluster_by = "a,b,c,d,e"}));
    FAILS("DELTA_CLUSTERING_COLUMNS_DATATYPE_NOT_SUPPORTED",
          world_create(w, (create_words){.columns = "a BOOLEAN, b INT", .cluster_by = "a"}));
    FAILS("DELTA_CLUSTERING_COLUMN_MISSING_STATS",
          world_create(w, (create_words){
                              .columns = "a INT, b INT", .cluster_by = "b", .properties = "delta.dataSkippingNumIndexedCols=1"}));
    FAILS("DELTA_CLUSTER_BY_WITH_PARTITIONED_BY",
          world_create(w, (create_words){.columns = "a INT, b INT", .cluster_by = "a", .partitioned_by = "b"}));
    FAILS("DELTA_COLUMN_NOT_FOUND_IN_SCHEMA", world_create(w, (create_words){.columns = "a INT", .cluster_by = "z"}));
    assert_int_equal(world_version(w), -1);
}

/* ---- properties ---- */

static void properties_are_stored_and_recorded(void **state) {
    world *w = *state;
    OK(world_create(
        w, (create_words){.columns = "a INT", .properties = "delta.ENABLEinCommitTimestamps=true;mine=1", .is_managed = true}));
    PARAMETERS(0, "{\"partitionBy\":\"[]\",\"clusterBy\":\"[]\",\"description\":null,\"isManaged\":\"true\","
                  "\"properties\":\"{\\\"delta.enableInCommitTimestamps\\\":\\\"true\\\",\\\"mine\\\":\\\"1\\\"}\"}");
    assert_true(str_eqz(world_action(w, 0, "commitInfo")->keys[0], "inCommitTimestamp"));
    FAILS("DELTA_UNKNOWN_CONFIGURATION",
          world_create(w, (create_words){.columns = "a INT", .properties = "delta.foo=1", .or_replace = true}));
}

static void session_defaults_apply_to_new_tables(void **state) {
    world *w = *state;
    world_set(w, "spark.databricks.delta.properties.defaults.appendOnly", "true");
    world_set(w, "spark.databricks.delta.properties.defaults.checkpointInterval", "3");
    OK(world_create(w, (create_words){.columns = "a INT", .properties = "delta.checkpointInterval=7"}));
    assert_true(str_eqz(property(w, "delta.appendOnly"), "true"));
    assert_true(str_eqz(property(w, "delta.checkpointInterval"), "7"));
}

static void column_mapping_gives_ids_and_names(void **state) {
    world *w = *state;
    OK(world_create(w, (create_words){.columns = "`a b` INT, s STRUCT<x: INT>, p INT",
                                      .partitioned_by = "p",
                                      .properties = "delta.columnMapping.mode=name"}));
    assert_true(str_eqz(property(w, "delta.columnMapping.maxColumnId"), "4"));
    delta_snapshot *s = world_snapshot(w);
    const field *f = &delta_snapshot_metadata(s)->schema->fields[0];
    assert_int_equal(f->field_id, 1);
    assert_true(str_starts_with(f->physical_name, STR("col-")));
    delta_snapshot_release(s);
    OK(world_insert(w, (insert_words){.query = "VALUES (1, named_struct('x', 2), 3)"}));
    const json_node *add = world_action(w, 1, "add");
    assert_true(str_starts_with(json_get(add, "partitionValues")->keys[0], STR("col-")));
    assert_false(str_starts_with(json_get_str(add, "path", STR_NULL), STR("p=")));
    assert_string_equal(world_rows(w, "SELECT `a b`, s.x, p FROM t"), "1|2|3\n");
}

static void replacing_keeps_what_delta_keeps(void **state) {
    world *w = *state;
    OK(world_create(w, (create_words){.columns = "a INT",
                                      .properties = "delta.enableDeletionVectors=true;delta.enableRowTracking=true;delta."
                                                    "checkpointPolicy=v2;delta.appendOnly=false;mine=1"}));
    str row_ids = property(w, "delta.rowTracking.materializedRowIdColumnName"),
        id = json_get_str(world_action(w, 0, "metaData"), "id", STR_NULL);
    OK(world_create(w, (create_words){.columns = "b INT", .or_replace = true}));
    assert_true(str_eqz(property(w, "delta.enableDeletionVectors"), "true"));
    assert_true(str_eqz(property(w, "delta.enableRowTracking"), "true"));
    assert_true(str_eq(property(w, "delta.rowTracking.materializedRowIdColumnName"), row_ids));
    assert_true(str_eqz(property(w, "delta.checkpointPolicy"), "v2"));
    assert_true(str_is_null(property(w, "mine")));
    assert_true(str_is_null(property(w, "delta.appendOnly")));
    assert_false(str_eq(json_get_str(world_action(w, 1, "metaData"), "id", STR_NULL), id));
    assert_int_equal(world_count(w, 1, "protocol"), 0); /* never lowered, nothing new */
}

static void a_replaced_table_may_gain_row_tracking(void **state) {
    world *w = *state;
    OK(world_create(w, (create_words){.query = "SELECT 1 AS a"}));
    OK(world_create(w,
                    (create_words){.query = "SELECT 2 AS a", .or_replace = true, .properties = "delta.enableRowTracking=true"}));
    assert_int_equal(json_get_i64(world_action(w, 1, "add"), "baseRowId", -1), 0);
}

static void the_change_feed_reserves_its_columns(void **state) {
    world *w = *state;
    FAILS("DELTA_TABLE_ALREADY_CONTAINS_CDC_COLUMNS",
          world_create(w,
                       (create_words){.columns = "a INT, _CHANGE_TYPE STRING", .properties = "delta.enableChangeDataFeed=true"}));
    OK(world_create(w, (create_words){.columns = "a INT, _change_type STRING"}));
}

static void a_default_needs_its_feature(void **state) {
    world *w = *state;
    FAILS("WRONG_COLUMN_DEFAULTS_FOR_DELTA_FEATURE_NOT_ENABLED",
          world_create(w, (create_words){.columns = "a INT DEFAULT 7, b STRING"}));
    const char *feature = "delta.feature.allowColumnDefaults=supported";
    FAILS("INVALID_DEFAULT_VALUE.DATA_TYPE",
          world_create(w, (create_words){.columns = "a INT DEFAULT 'x'", .properties = feature}));
    FAILS("INVALID_DEFAULT_VALUE.DATA_TYPE",
          world_create(w, (create_words){.columns = "a TINYINT DEFAULT 300", .properties = feature}));
    FAILS("INVALID_DEFAULT_VALUE.SUBQUERY_EXPRESSION",
          world_create(w, (create_words){.columns = "a INT DEFAULT (SELECT 1)", .properties = feature}));
    FAILS("INVALID_DEFAULT_VALUE.UNRESOLVED_EXPRESSION",
          world_create(w, (create_words){.columns = "a INT DEFAULT zz", .properties = feature}));
    OK(world_create(
        w, (create_words){.columns = "a DATE DEFAULT current_date(), b TINYINT DEFAULT 5, c STRING DEFAULT 1, d BIGINT DEFAULT 1",
                          .properties = feature}));
    OK(world_create(w, (create_words){.or_replace = true,
                                      .columns = "a INT DEFAULT 7, b STRING",
                                      .properties = "delta.feature.allowColumnDefaults=supported"}));
    assert_string_equal(schema_of(w, 1), "{\"type\":\"struct\",\"fields\":[{\"name\":\"a\",\"type\":\"integer\",\"nullable\":"
                                         "true,\"metadata\":{\"CURRENT_DEFAULT\":\"7\"}},"
                                         "{\"name\":\"b\",\"type\":\"string\",\"nullable\":true,\"metadata\":{}}]}");
}

/* ---- refusals ---- */

static void names_and_types_are_checked(void **state) {
    world *w = *state;
    const char *bad[] = {"`a b` INT", "`a,b` INT",  "`a;b` INT",  "`a{b` INT",           "`a(b` INT",
                         "`a=b` INT", "`a\tb` INT", "`a\nb` INT", "s STRUCT<`x y`: INT>"};
    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        FAILS("DELTA_INVALID_CHARACTERS_IN_COLUMN_NAMES", world_create(w, (create_words){.columns = bad[i]}));
    FAILS("COLUMN_ALREADY_EXISTS", world_create(w, (create_words){.columns = "a INT, A STRING"}));
    FAILS("DELTA_DUPLICATE_COLUMNS_FOUND", world_create(w, (create_words){.columns = "s STRUCT<x: INT, X: INT>"}));
    FAILS("COLUMN_ALREADY_EXISTS", world_create(w, (create_words){.query = "SELECT 1 AS a, 2 AS A"}));
    FAILS("DELTA_NESTED_NOT_NULL_CONSTRAINT", world_create(w, (create_words){.columns = "a ARRAY<STRUCT<x: INT NOT NULL>>"}));
    OK(world_create(w, (create_words){.columns = "`c.d` INT, `été` INT"})); /* dots are fine */
}

static void partition_columns_are_checked(void **state) {
    world *w = *state;
    FAILS("ALL_PARTITION_COLUMNS_NOT_ALLOWED",
          world_create(w, (create_words){.columns = "a INT, b INT", .partitioned_by = "a,b"}));
    FAILS("DELTA_PARTITION_COLUMN_NOT_FOUND", world_create(w, (create_words){.columns = "a INT", .partitioned_by = "b"}));
    FAILS("INVALID_PARTITION_COLUMN_DATA_TYPE",
          world_create(w, (create_words){.columns = "a INT, s STRUCT<x: INT>", .partitioned_by = "s"}));
    FAILS("INVALID_PARTITION_COLUMN_DATA_TYPE",
          world_create(w, (create_words){.columns = "a INT, s ARRAY<INT>", .partitioned_by = "s"}));
    FAILS("INVALID_PARTITION_COLUMN_DATA_TYPE",
          world_create(w, (create_words){.columns = "a INT, s VARIANT", .partitioned_by = "s"}));
    FAILS("COLUMN_ALREADY_EXISTS", world_create(w, (create_words){.columns = "a INT, b INT", .partitioned_by = "b,B"}));
    OK(world_create(w, (create_words){.columns = "a INT, Bin BINARY", .partitioned_by = "BIN"}));
    assert_true(str_eqz(json_get(world_action(w, 0, "metaData"), "partitionColumns")->values[0].text, "Bin"));
}

static void a_check_must_be_a_condition_over_the_columns(void **state) {
    world *w = *state;
    FAILS("UNRESOLVED_COLUMN.WITH_SUGGESTION",
          world_create(w, (create_words){.columns = "a INT", .properties = "delta.constraints.c=z > 0"}));
    FAILS("DATATYPE_MISMATCH.FILTER_NOT_BOOLEAN",
          world_create(w, (create_words){.columns = "a INT", .properties = "delta.constraints.c=a + 1"}));
}

/* ---- what is at the location ---- */

static void an_existing_table_is_taken_over_when_it_fits(void **state) {
    world *w = *state;
    create_words words = {.columns = "a INT, p STRING", .partitioned_by = "p", .properties = "delta.appendOnly=true"};
    OK(world_create(w, words));
    OK(world_create(w, words));
    assert_true(w->done.existed);
    assert_int_equal(w->done.version, -1);
    assert_int_equal(world_version(w), 0);
    OK(world_create(w, (create_words){0})); /* no definition at all */
    FAILS("DELTA_CREATE_TABLE_SCHEME_MISMATCH",
          world_create(w, (create_words){.columns = "a BIGINT, p STRING", .partitioned_by = "p"}));
    FAILS("DELTA_CREATE_TABLE_SCHEME_MISMATCH",
          world_create(w, (create_words){.columns = "a INT NOT NULL, p STRING", .partitioned_by = "p"}));
    FAILS("DELTA_CREATE_TABLE_WITH_DIFFERENT_PARTITIONING", world_create(w, (create_words){.columns = "a INT, p STRING"}));
    FAILS("DELTA_CREATE_TABLE_WITH_DIFFERENT_CLUSTERING",
          world_create(w, (create_words){.columns = "a INT, p STRING", .partitioned_by = "p", .cluster_by = "a"}));
    words.properties = "delta.appendOnly=false";
    FAILS("DELTA_CREATE_TABLE_WITH_DIFFERENT_PROPERTY", world_create(w, words));
    FAILS("DELTA_CREATE_TABLE_WITH_NON_EMPTY_LOCATION", world_create(w, (create_words){.columns = "a INT", .is_managed = true}));
    FAILS("DELTA_CREATE_TABLE_WITH_NON_EMPTY_LOCATION", world_create(w, (create_words){.query = "SELECT 1 AS a"}));
}

static void or_replace_under_a_new_name_does_not_wipe_a_table(void **state) {
    world *w = *state;
    OK(world_create(w, (create_words){.query = "SELECT 1 AS a"}));
    FAILS("DELTA_CREATE_TABLE_SCHEME_MISMATCH",
          world_create(w, (create_words){.columns = "x INT", .or_replace = true, .is_new_name = true}));
    OK(world_create(w, (create_words){.columns = "a INT", .or_replace = true, .is_new_name = true})); /* it fits: taken over */
    assert_int_equal(world_version(w), 0);
    OK(world_create(w, (create_words){.query = "SELECT 2 AS x", .or_replace = true, .is_new_name = true}));
    assert_int_equal(world_version(w), 1);
}

static void a_table_at_its_own_path_exists_already(void **state) {
    world *w = *state;
    OK(world_create(w, (create_words){.columns = "a INT", .is_path = true}));
    FAILS("TABLE_OR_VIEW_ALREADY_EXISTS", world_create(w, (create_words){.columns = "a INT", .is_path = true}));
    OK(world_create(w, (create_words){.columns = "b STRING", .is_path = true, .if_not_exists = true}));
    OK(world_create(w, (create_words){.columns = "b STRING", .is_path = true, .or_replace = true}));
    assert_int_equal(world_version(w), 1);
}

static void foreign_files_are_not_built_upon(void **state) {
    world *w = *state;
    str path = arena_printf(w->a, "%s/notes.txt", w->root);
    OK(store_put(w->store, path, STR("x"), STORE_PUT_IF_ABSENT, &w->err));
    FAILS("DELTA_CREATE_TABLE_WITH_NON_EMPTY_LOCATION", world_create(w, (create_words){.columns = "a INT"}));
    FAILS("DELTA_CREATE_TABLE_WITH_NON_EMPTY_LOCATION",
          world_create(w, (create_words){.query = "SELECT 1 AS a", .or_replace = true}));
    OK(store_remove(w->store, path, &w->err));
    OK(world_create(w, (create_words){.columns = "a INT"}));
}

static void nothing_to_replace_and_nothing_to_take(void **state) {
    world *w = *state;
    FAILS("TABLE_OR_VIEW_NOT_FOUND", world_create(w, (create_words){.columns = "a INT", .replace_only = true}));
    FAILS("DELTA_CREATE_TABLE_MISSING_TABLE_NAME_OR_LOCATION", world_create(w, (create_words){0}));
}

static void a_query_that_fails_leaves_no_table(void **state) {
    world *w = *state;
    FAILS("DIVIDE_BY_ZERO", world_create(w, (create_words){.query = "SELECT 1 / (id - 3) AS x FROM range(10)"}));
    assert_int_equal(world_version(w), -1);
    assert_int_equal(world_data_files(w), 0);
    OK(world_create(w, (create_words){.query = "SELECT 1 AS x"}));
    FAILS("DIVIDE_BY_ZERO",
          world_create(w, (create_words){.query = "SELECT 1 / (id - 3) AS x FROM range(10)", .or_replace = true}));
    assert_string_equal(world_rows(w, "SELECT * FROM t"), "1\n");
    assert_int_equal(world_data_files(w), 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        WITH_WORLD(create_table_is_recorded_as_spark_does),
        WITH_WORLD(as_select_writes_rows_in_the_first_commit),
        WITH_WORLD(replacing_removes_the_files_in_the_same_commit),
        WITH_WORLD(clustering_is_a_domain_and_a_feature),
        WITH_WORLD(clustering_columns_need_statistics),
        WITH_WORLD(properties_are_stored_and_recorded),
        WITH_WORLD(session_defaults_apply_to_new_tables),
        WITH_WORLD(column_mapping_gives_ids_and_names),
        WITH_WORLD(replacing_keeps_what_delta_keeps),
        WITH_WORLD(a_replaced_table_may_gain_row_tracking),
        WITH_WORLD(the_change_feed_reserves_its_columns),
        WITH_WORLD(a_default_needs_its_feature),
        WITH_WORLD(names_and_types_are_checked),
        WITH_WORLD(partition_columns_are_checked),
        WITH_WORLD(a_check_must_be_a_condition_over_the_columns),
        WITH_WORLD(an_existing_table_is_taken_over_when_it_fits),
        WITH_WORLD(or_replace_under_a_new_name_does_not_wipe_a_table),
        WITH_WORLD(a_table_at_its_own_path_exists_already),
        WITH_WORLD(foreign_files_are_not_built_upon),
        WITH_WORLD(nothing_to_replace_and_nothing_to_take),
        WITH_WORLD(a_query_that_fails_leaves_no_table),
    };
    return RUN_TESTS(tests);
}
