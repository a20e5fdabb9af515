/* INSERT INTO and INSERT OVERWRITE: pairing of columns, casts, partitions, what is committed and how it is recorded (literals of Spark 4.1.2 with Delta 4.3.1). */
#include "ops_test.h"

#define ACTIONS(version, text)    assert_string_equal(world_actions(w, (version)), (text))
#define PARAMETERS(version, text) assert_string_equal(world_parameters(w, (version)), (text))
#define METRICS(version, text)    assert_string_equal(world_metrics(w, (version)), (text))
#define ROWS(query, text)         assert_string_equal(world_rows(w, (query)), (text))
#define INSERT(...)               world_insert(w, (insert_words){__VA_ARGS__})

static bool is_blind(world *w, int64_t version) {
    return json_get_bool(world_action(w, version, "commitInfo"), "isBlindAppend", false);
}

/* ---- the commit ---- */

static void an_append_is_recorded_as_spark_does(void **state) {
    world *w = *state;
    OK(world_create(w, (create_words){.columns = "id BIGINT, p INT", .partitioned_by = "p"}));
    OK(INSERT(.query = "VALUES (1L, 1), (2L, 2), (3L, 1)"));
    assert_int_equal(w->done.version, 1);
    assert_int_equal(w->done.rows, 3);
    ACTIONS(1, "commitInfo add add");
    PARAMETERS(1, "{\"mode\":\"Append\",\"partitionBy\":\"[]\"}");
    METRICS(1, "numFiles=2 numOutputRows=3");
    const json_node *info = world_action(w, 1, "commitInfo");
    assert_true(str_eqz(json_get_str(info, "operation", STR_NULL), "WRITE"));
    assert_int_equal(json_get_i64(info, "readVersion", -1), 0);
    assert_true(is_blind(w, 1));
    const json_node *add = world_action(w, 1, "add");
    assert_true(str_starts_with(json_get_str(add, "path", STR_NULL), STR("p=1/part-00000-")));
    assert_true(json_get_bool(add, "dataChange", false));
    assert_true(str_eqz(json_get_str(add, "stats", STR_NULL),
                        "{\"numRecords\":2,\"minValues\":{\"id\":1},\"maxValues\":{\"id\":3},\"nullCount\":{\"id\":0}}"));
    ROWS("SELECT id, p FROM t ORDER BY id", "1|1\n2|2\n3|1\n");
}

static void an_insert_that_reads_its_table_is_not_blind(void **state) {
    world *w = *state;
    OK(world_create(w, (create_words){.columns = "id INT"}));
    OK(INSERT(.query = "VALUES (1)"));
    OK(INSERT(.query = "SELECT id + 10 FROM t", .reads_target = true));
    assert_false(is_blind(w, 2));
    PARAMETERS(2, "{\"mode\":\"Append\",\"partitionBy\":\"[]\"}");
    ROWS("SELECT id FROM t ORDER BY id", "1\n11\n");
}

static void no_rows_make_no_version(void **state) {
    world *w = *state;
    OK(world_create(w, (create_words){.columns = "id INT, p INT", .partitioned_by = "p"}));
    OK(INSERT(.query = "SELECT 1, 1 WHERE false"));
    assert_int_equal(w->done.version, -1);
    OK(INSERT(.query = "SELECT 1, 1 WHERE false", .overwrite = true)); /* of an empty table */
    assert_int_equal(world_version(w), 0);
    OK(INSERT(.query = "VALUES (1, 1)"));
    OK(INSERT(.query = "SELECT 1, 1 WHERE false", .overwrite = true,
              .options = {.dynamic_known = true, .dynamic_overwrite = true}));
    assert_int_equal(world_version(w), 1);
    OK(INSERT(.query = "SELECT 1, 1 WHERE false", .overwrite = true));
    assert_int_equal(world_version(w), 2);
    METRICS(2, "numFiles=0 numRemovedFiles=1 numOutputRows=0");
    ROWS("SELECT id FROM t", "");
}

static void user_metadata_and_transaction_ids_are_kept(void **state) {
    world *w = *state;
    OK(world_create(w, (create_words){.columns = "id INT"}));
    OK(INSERT(.query = "VALUES (1)",
              .options = {.user_metadata = STR("um"), .has_txn = true, .txn_app_id = STR("app"), .txn_version = 5}));
    ACTIONS(1, "commitInfo txn add");
    assert_true(str_eqz(json_get_str(world_action(w, 1, "commitInfo"), "userMetadata", STR_NULL), "um"));
    assert_true(is_blind(w, 1));
    assert_int_equal(json_get_i64(world_action(w, 1, "txn"), "version", -1), 5);
    OK(INSERT(.query = "VALUES (2)",
              .options = {.has_txn = true, .txn_app_id = STR("app"), .txn_version = 5})); /* seen: skipped silently */
    assert_int_equal(w->done.version, -1);
    OK(INSERT(.query = "VALUES (2)", .options = {.has_txn = true, .txn_app_id = STR("app"), .txn_version = 4}));
    assert_int_equal(world_version(w), 1);
    OK(INSERT(.query = "VALUES (3)", .options = {.has_txn = true, .txn_app_id = STR("app"), .txn_version = 6}));
    world_set(w, "spark.databricks.delta.write.txnAppId", "app");
    FAILS("DELTA_INVALID_IDEMPOTENT_WRITES_OPTIONS", INSERT(.query = "VALUES (4)"));
    world_set(w, "spark.databricks.delta.write.txnVersion", "6");
    world_set(w, "spark.databricks.delta.commitInfo.userMetadata", "from the session");
    OK(INSERT(.query = "VALUES (4)"));
    assert_int_equal(w->done.version, -1);
    world_set(w, "spark.databricks.delta.write.txnVersion", "7");
    OK(INSERT(.query = "VALUES (4)"));
    assert_true(str_eqz(json_get_str(world_action(w, 3, "commitInfo"), "userMetadata", STR_NULL), "from the session"));
    ROWS("SELECT id FROM t ORDER BY id", "1\n3\n4\n");
}

static void a_failing_row_leaves_nothing_behind(void **state) {
    world *w = *state;
    OK(world_create(w, (create_words){.columns = "id INT NOT NULL, p INT", .partitioned_by = "p"}));
    FAILS("DELTA_NOT_NULL_CONSTRAINT_VIOLATED",
          INSERT(.query = "SELECT CASE WHEN id < 99 THEN id END, CAST(id % 3 AS INT) FROM range(100)"));
    assert_int_equal(world_version(w), 0);
    assert_int_equal(world_data_files(w), 0);
}

/* ---- pairing, after wrong_inserts.txt ---- */

static const char wi_columns[] = "i INT, s STRING, d DECIMAL(5,2), st STRUCT<a: INT, b: STRING>, ar ARRAY<INT>, dt DATE, b "
                                 "BOOLEAN, nn INT NOT NULL, vc VARCHAR(3)";

static const char *wi(world *w, const char *i, const char *s, const char *d, const char *st, const char *ar, const char *dt,
                      const char *b, const char *nn, const char *vc) {
    return arena_printf(w->a, "SELECT %s, %s, %s, %s, %s, %s, %s, %s, %s", i ? i : "1", s ? s : "'s'", d ? d : "1.5",
                        st ? st : "named_struct('a', 1, 'b', 'x')", ar ? ar : "array(1)", dt ? dt : "date'2024-01-01'",
                        b ? b : "true", nn ? nn : "1", vc ? vc : "'abc'")
        .ptr;
}

#define WI(...) wi(w, __VA_ARGS__)

static void columns_are_paired_by_position(void **state) {
    world *w = *state;
    OK(world_create(w, (create_words){.columns = wi_columns}));
    OK(INSERT(.query = WI(NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)));
    FAILS("DELTA_INSERT_COLUMN_ARITY_MISMATCH", INSERT(.query = "SELECT 1"));
    assert_non_null(strstr(w->err.message, "target table has 9 column(s) but the inserted data has 1 column(s)"));
    FAILS("DELTA_INSERT_COLUMN_ARITY_MISMATCH", INSERT(.query = "VALUES (1)"));
    FAILS("DELTA_METADATA_MISMATCH",
          INSERT(.query = arena_printf(w->a, "%s, 1", WI(NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)).ptr));
    OK(INSERT(.query = "SELECT 1, 1", .columns = "i, nn"));
    FAILS("DELTA_INSERT_COLUMN_MISMATCH", INSERT(.query = "SELECT 1", .columns = "i"));
    assert_non_null(strstr(w->err.message, "Column nn is not specified in INSERT"));
    FAILS("UNRESOLVED_COLUMN.WITH_SUGGESTION", INSERT(.query = "SELECT 1, 1", .columns = "zz, nn"));
    FAILS("COLUMN_ALREADY_EXISTS", INSERT(.query = "SELECT 1, 1, 1", .columns = "i, I, nn"));
    FAILS("INSERT_COLUMN_ARITY_MISMATCH.NOT_ENOUGH_DATA_COLUMNS", INSERT(.query = "SELECT 1", .columns = "i, nn"));
    FAILS("INSERT_COLUMN_ARITY_MISMATCH.TOO_MANY_DATA_COLUMNS", INSERT(.query = "SELECT 1, 1, 1", .columns = "i, nn"));
    ROWS("SELECT count(*) FROM t", "2\n");
}

static void values_are_cast_as_ansi_says(void **state) {
    world *w = *state;
    OK(world_create(w, (create_words){.columns = wi_columns}));
    FAILS("CAST_OVERFLOW_IN_TABLE_INSERT", INSERT(.query = WI("5000000000", NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)));
    FAILS("CAST_OVERFLOW_IN_TABLE_INSERT", INSERT(.query = "SELECT id * 5000000000, 1 FROM range(3)", .columns = "i, nn"));
    FAILS("CAST_INVALID_INPUT", INSERT(.query = WI("'abc'", NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)));
    OK(INSERT(.query = WI("'12'", NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)));
    OK(INSERT(.query = WI("1.7D", NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)));
    OK(INSERT(.query = WI("true", NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)));
    FAILS("CAST_OVERFLOW_IN_TABLE_INSERT", INSERT(.query = WI(NULL, NULL, "12345.67", NULL, NULL, NULL, NULL, NULL, NULL)));
    OK(INSERT(.query = WI(NULL, NULL, "1.239", NULL, NULL, NULL, NULL, NULL, NULL)));
    OK(INSERT(.query = WI(NULL, "5", NULL, NULL, NULL, NULL, NULL, NULL, NULL)));
    OK(INSERT(.query = WI(NULL, NULL, NULL, NULL, NULL, "'2024-01-01'", NULL, NULL, NULL)));
    OK(INSERT(.query = WI(NULL, NULL, NULL, NULL, NULL, "timestamp'2024-01-01 10:00:00'", NULL, NULL, NULL)));
    FAILS("CAST_INVALID_INPUT", INSERT(.query = WI(NULL, NULL, NULL, NULL, NULL, "'x'", NULL, NULL, NULL)));
    FAILS("DATATYPE_MISMATCH.CAST_WITH_FUNC_SUGGESTION",
          INSERT(.query = WI(NULL, NULL, NULL, NULL, NULL, "5", NULL, NULL, NULL)));
    ROWS("SELECT i, CAST(d AS STRING), s FROM t ORDER BY i, d, s",
         "1|1.24|s\n1|1.50|5\n1|1.50|s\n1|1.50|s\n1|1.50|s\n1|1.50|s\n12|1.50|s\n");
}

static void structs_are_paired_by_position(void **state) {
    world *w = *state;
    OK(world_create(w, (create_words){.columns = wi_columns}));
    FAILS("DELTA_METADATA_MISMATCH",
          INSERT(.query = WI(NULL, NULL, NULL, "named_struct('a', 1, 'b', 'x', 'c', 2)", NULL, NULL, NULL, NULL, NULL)));
    FAILS("DELTA_INSERT_COLUMN_ARITY_MISMATCH",
          INSERT(.query = WI(NULL, NULL, NULL, "named_struct('a', 1)", NULL, NULL, NULL, NULL, NULL)));
    FAILS("CAST_INVALID_INPUT",
          INSERT(.query = WI(NULL, NULL, NULL, "named_struct('b', 'x', 'a', 1)", NULL, NULL, NULL, NULL, NULL)));
    FAILS("DATATYPE_MISMATCH.CAST_WITHOUT_SUGGESTION",
          INSERT(.query = WI("named_struct('a', 1)", NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)));
    FAILS("CAST_INVALID_INPUT", INSERT(.query = WI(NULL, NULL, NULL, NULL, "array('x')", NULL, NULL, NULL, NULL)));
    OK(INSERT(.query = WI(NULL, NULL, NULL, "named_struct('b', '7', 'a', 8)", NULL, NULL, NULL, NULL, NULL)));
    OK(INSERT(.query = WI(NULL, NULL, NULL, "NULL", NULL, NULL, NULL, NULL, NULL)));
    ROWS("SELECT st.a, st.b FROM t ORDER BY 1", "NULL|NULL\n7|8\n");
    ROWS("SELECT count(*) FROM t WHERE st IS NULL", "1\n");
}

static void by_name_fills_what_is_missing(void **state) {
    world *w = *state;
    OK(world_create(w, (create_words){.columns = "a INT, b STRING, c INT"}));
    OK(INSERT(.query = "SELECT 3 AS c, 1 AS a", .by_name = true));
    OK(INSERT(.query = "SELECT 'x' AS B, 3 AS C", .by_name = true));
    FAILS("DELTA_METADATA_MISMATCH", INSERT(.query = "SELECT 1 AS a, 2 AS zz", .by_name = true));
    FAILS("DELTA_METADATA_MISMATCH", INSERT(.query = "SELECT 1 AS a, '2' AS b, 3 AS c, 4 AS d", .by_name = true));
    FAILS("INSERT_COLUMN_ARITY_MISMATCH.TOO_MANY_DATA_COLUMNS",
          INSERT(.query = "SELECT 1 AS a, 2 AS b, 3 AS c, 4 AS d", .by_name = true));
    FAILS("DELTA_DUPLICATE_COLUMNS_FOUND",
          INSERT(.query = "SELECT 1 AS zz, 2 AS ZZ", .by_name = true, .options = {.merge_schema = true}));
    FAILS("DELTA_DUPLICATE_COLUMNS_FOUND", INSERT(.query = "SELECT 1 AS a, 2 AS A", .by_name = true));
    ROWS("SELECT * FROM t ORDER BY a", "NULL|x|3\n1|NULL|3\n");
    OK(world_create(w, (create_words){.columns = "a INT NOT NULL, b STRING", .or_replace = true}));
    FAILS("DELTA_INSERT_COLUMN_MISMATCH", INSERT(.query = "SELECT 'x' AS b", .by_name = true));
}

static void defaults_stand_in(void **state) {
    world *w = *state;
    OK(world_create(
        w, (create_words){.columns = "a INT DEFAULT 7, b STRING", .properties = "delta.feature.allowColumnDefaults=supported"}));
    OK(INSERT(.query = "SELECT 'z' AS b", .by_name = true));
    OK(INSERT(.query = "SELECT 'w'", .columns = "b"));
    OK(INSERT(.query = "VALUES (DEFAULT, 'x'), (1, DEFAULT)"));
    OK(INSERT(.query = "VALUES ('v', DEFAULT)", .columns = "b, a"));
    OK(INSERT(.query = "SELECT 'y' AS b", .data_frame = true));
    ROWS("SELECT a, b FROM t ORDER BY b", "1|NULL\n7|v\n7|w\n7|x\n7|y\n7|z\n");
}

/* ---- partitions ---- */

static void empty_text_is_null_in_a_partition_column(void **state) {
    world *w = *state;
    OK(world_create(w, (create_words){.columns = "id INT, p STRING", .partitioned_by = "p"}));
    OK(INSERT(.query = "VALUES (1, ''), (2, NULL), (3, 'a b:c')"));
    assert_int_equal(world_count(w, 1, "add"), 2);
    ROWS("SELECT id, p FROM t ORDER BY id", "1|NULL\n2|NULL\n3|a b:c\n");
    size_t n;
    const json_node **lines;
    bool seen_null = false, seen_text = false;
    world_commit(w, 1, &n, &lines);
    for (size_t i = 1; i < n; i++) {
        const json_node *add = json_get(lines[i], "add"), *p = json_get(json_get(add, "partitionValues"), "p");
        str path = json_get_str(add, "path", STR_NULL);
        if (p->type == JSON_NULL)
            seen_null = str_starts_with(path, STR("p=__HIVE_DEFAULT_PARTITION__/"));
        else
            seen_text = str_eqz(p->text, "a b:c") && str_starts_with(path, STR("p=a%20b%253Ac/"));
    }
    assert_true(seen_null && seen_text);
    OK(world_create(w, (create_words){.columns = "id INT, p STRING NOT NULL", .partitioned_by = "p", .or_replace = true}));
    FAILS("DELTA_NOT_NULL_CONSTRAINT_VIOLATED", INSERT(.query = "VALUES (1, '')"));
}

static void static_partitions_are_not_part_of_the_data(void **state) {
    world *w = *state;
    OK(world_create(w, (create_words){.columns = "id INT, p INT, q STRING, v INT", .partitioned_by = "p,q"}));
    OK(INSERT(.query = "SELECT 1, 'x', 10", .partition = "p=5"));
    OK(INSERT(.query = "SELECT 2, 20", .partition = "P='6',q='y'"));
    OK(INSERT(.query = "SELECT 30, 3", .partition = "p=7,q=''", .columns = "v, id"));
    ROWS("SELECT id, p, q, v FROM t ORDER BY id", "1|5|x|10\n2|6|y|20\n3|7|NULL|30\n");
    FAILS("NON_PARTITION_COLUMN", INSERT(.query = "SELECT 1, 2, 'x'", .partition = "id=5"));
    FAILS("DELTA_INSERT_COLUMN_ARITY_MISMATCH", INSERT(.query = "SELECT 1", .partition = "p=5"));
}

/* ---- overwriting ---- */

static void an_overwrite_replaces_the_whole_table(void **state) {
    world *w = *state;
    OK(world_create(w,
                    (create_words){.query = "SELECT * FROM VALUES (1, 1), (2, 2), (3, 2) AS v(id, p)", .partitioned_by = "p"}));
    OK(INSERT(.query = "VALUES (9, 1)", .overwrite = true));
    ACTIONS(1, "commitInfo add remove remove");
    PARAMETERS(1, "{\"mode\":\"Overwrite\",\"partitionBy\":\"[]\"}");
    METRICS(1, "numFiles=1 numRemovedFiles=2 numOutputRows=1");
    assert_false(is_blind(w, 1));
    ROWS("SELECT id FROM t", "9\n");
    OK(INSERT(.query = "SELECT id + 1, p FROM t", .overwrite = true, .reads_target = true));
    ROWS("SELECT id FROM t", "10\n");
    /* PARTITION without a constant fixes nothing */
    OK(INSERT(.query = "VALUES (7, 3)", .overwrite = true, .partition = "p"));
    ROWS("SELECT id FROM t", "7\n");
}

static void a_static_overwrite_replaces_its_partition(void **state) {
    world *w = *state;
    OK(world_create(w, (create_words){.query = "SELECT * FROM VALUES (1, 1, 'a'), (2, 2, 'a'), (3, 1, 'b') AS v(id, p, q)",
                                      .partitioned_by = "p,q"}));
    OK(INSERT(.query = "SELECT 10, 'c'", .overwrite = true, .partition = "p=1"));
    ACTIONS(1, "commitInfo add remove remove");
    PARAMETERS(1, "{\"mode\":\"Overwrite\",\"partitionBy\":\"[]\",\"predicate\":\"(p <=> 1)\"}");
    METRICS(1, "numFiles=1 numRemovedFiles=2 numCopiedRows=0 numAddedChangeFiles=0 numDeletedRows=2 numOutputRows=1");
    assert_false(is_blind(w, 1));
    ROWS("SELECT id, p, q FROM t ORDER BY id", "2|2|a\n10|1|c\n");
    OK(INSERT(.query = "SELECT 11", .overwrite = true, .partition = "p=2,q='a'"));
    PARAMETERS(2, "{\"mode\":\"Overwrite\",\"partitionBy\":\"[]\",\"predicate\":\"((p <=> 2) AND (q <=> 'a'))\"}");
    ROWS("SELECT id, p, q FROM t ORDER BY id", "10|1|c\n11|2|a\n");
    OK(INSERT(.query = "SELECT 12", .overwrite = true, .partition = "p=NULL,q='a\\'b'"));
    PARAMETERS(3, "{\"mode\":\"Overwrite\",\"partitionBy\":\"[]\",\"predicate\":\"((p IS NULL) AND (q <=> 'a\\\\'b'))\"}");
    OK(INSERT(.query = "SELECT 1 WHERE false", .overwrite = true, .partition = "p=NULL,q='a\\'b'")); /* empties it */
    OK(INSERT(.query = "SELECT 1 WHERE false", .overwrite = true, .partition = "p=2,q='a'"));
    ROWS("SELECT id, p, q FROM t ORDER BY id", "10|1|c\n");
}

static void a_dynamic_overwrite_replaces_the_partitions_it_writes(void **state) {
    world *w = *state;
    const write_options dynamic = {.dynamic_known = true, .dynamic_overwrite = true};
    OK(world_create(w, (create_words){.query = "SELECT * FROM VALUES (1, 'a'), (2, 'b'), (3, NULL), (4, NULL) AS v(id, p)",
                                      .partitioned_by = "p"}));
    OK(INSERT(.query = "VALUES (9, 'a'), (10, NULL)", .overwrite = true, .options = dynamic));
    PARAMETERS(1, "{\"mode\":\"Overwrite\",\"partitionBy\":\"[]\",\"isDynamicPartitionOverwrite\":true}");
    METRICS(1, "numFiles=2 numRemovedFiles=2 numOutputRows=2");
    ROWS("SELECT id, p FROM t ORDER BY id", "2|b\n9|a\n10|NULL\n");
    world_set(w, "spark.sql.sources.partitionOverwriteMode", "DYNAMIC");
    OK(INSERT(.query = "VALUES (11, 'b')", .overwrite = true));
    ROWS("SELECT id, p FROM t ORDER BY id", "9|a\n10|NULL\n11|b\n");
    OK(INSERT(.query = "VALUES (12, 'b')", .overwrite = true, .options = {.dynamic_known = true})); /* the option wins */
    ROWS("SELECT id, p FROM t ORDER BY id", "12|b\n");
    OK(world_create(w, (create_words){.query = "SELECT 1 AS id", .or_replace = true}));
    OK(INSERT(.query = "VALUES (2)", .overwrite = true, .options = dynamic)); /* not partitioned: all of it */
    PARAMETERS(5, "{\"mode\":\"Overwrite\",\"partitionBy\":\"[]\",\"isDynamicPartitionOverwrite\":true}");
    ROWS("SELECT id FROM t", "2\n");
}

static void timestamps_of_other_writers_are_the_same_partition(void **state) {
    world *w = *state;
    OK(world_create(w, (create_words){.query = "SELECT 1 AS id, timestamp'2024-01-01 00:00:00' AS p", .partitioned_by = "p"}));
    assert_true(
        str_eqz(json_get(json_get(world_action(w, 0, "add"), "partitionValues"), "p")->text, "2024-01-01T00:00:00.000000Z"));
    /* the same partition in the older form, as another writer leaves it */
    str path = arena_printf(w->a, "%s/_delta_log/%020d.json", w->root, 1);
    str line = arena_printf(w->a, "{\"commitInfo\":{\"operation\":\"WRITE\"}}\n{\"add\":{\"path\":\"other.parquet\","
                                  "\"partitionValues\":{\"p\":\"2024-01-01 00:00:00\"},"
                                  "\"size\":1,\"modificationTime\":1,\"dataChange\":true}}\n");
    OK(store_put(w->store, path, line, STORE_PUT_IF_ABSENT, &w->err));
    OK(INSERT(.query = "SELECT 2, timestamp'2024-01-01 00:00:00'", .overwrite = true,
              .options = {.dynamic_known = true, .dynamic_overwrite = true}));
    assert_int_equal(world_count(w, 2, "remove"), 2);
}

static void an_append_only_table_is_not_overwritten(void **state) {
    world *w = *state;
    OK(world_create(w, (create_words){.query = "SELECT 1 AS id", .properties = "delta.appendOnly=true"}));
    FAILS("DELTA_CANNOT_MODIFY_APPEND_ONLY", INSERT(.query = "VALUES (2)", .overwrite = true));
    assert_int_equal(world_data_files(w), 1); /* the new file is gone again */
    OK(INSERT(.query = "VALUES (2)"));
}

/* ---- files ---- */

static void files_are_cut_by_rows_and_named_by_codec(void **state) {
    world *w = *state;
    OK(world_create(w, (create_words){.columns = "id BIGINT"}));
    OK(INSERT(.query = "SELECT id FROM range(25)", .options = {.max_records_per_file = 10, .compression = STR("ZSTD")}));
    METRICS(1, "numFiles=3 numOutputRows=25");
    assert_true(str_ends_with(json_get_str(world_action(w, 1, "add"), "path", STR_NULL), STR(".zstd.parquet")));
    FAILS("INVALID_PARAMETER_VALUE", INSERT(.query = "SELECT 1", .options = {.compression = STR("lzma")}));
}

static void files_are_cut_by_size_within_partitions_too(void **state) {
    world *w = *state;
    world_set(w, "spark.databricks.delta.targetFileSize", "100kb");
    OK(world_create(w, (create_words){.columns = "id BIGINT, p INT", .partitioned_by = "p"}));
    OK(INSERT(.query = "SELECT id, CAST(id % 2 AS INT) FROM range(400000)"));
    size_t n = world_count(w, 1, "add");
    assert_true(n >= 6); /* 3.2 MB of numbers that hardly compress */
    ROWS("SELECT count(*) FROM t", "400000\n");
    world_set(w, "spark.databricks.delta.targetFileSize", "big");
    FAILS("INVALID_PARAMETER_VALUE", INSERT(.query = "SELECT 1, 1"));
}

static void statistics_follow_the_properties(void **state) {
    world *w = *state;
    OK(world_create(
        w,
        (create_words){
            .columns = "a INT, b INT, s STRUCT<x: INT, y: STRING>",
            .properties =
                "delta.dataSkippingStatsColumns=b,s.y;delta.enableDeletionVectors=true;delta.dataSkippingStringPrefixLength=3"}));
    OK(INSERT(.query = "VALUES (1, 2, named_struct('x', 3, 'y', 'abcdef'))"));
    assert_string_equal(
        arena_cstr(w->a, json_get_str(world_action(w, 1, "add"), "stats", STR_NULL)),
        "{\"numRecords\":1,\"minValues\":{\"b\":2,\"s\":{\"y\":\"abc\"}},\"maxValues\":{\"b\":2,\"s\":{\"y\":\"abc\x7f\"}},"
        "\"nullCount\":{\"b\":0,\"s\":{\"y\":0}},\"tightBounds\":true}");
}

static void row_tracking_and_commit_timestamps_are_served(void **state) {
    world *w = *state;
    OK(world_create(w, (create_words){.columns = "a BIGINT",
                                      .properties = "delta.enableRowTracking=true;delta.enableInCommitTimestamps=true"}));
    OK(INSERT(.query = "SELECT id FROM range(3)"));
    OK(INSERT(.query = "SELECT id FROM range(2)"));
    assert_int_equal(json_get_i64(world_action(w, 1, "add"), "baseRowId", -1), 0);
    assert_int_equal(json_get_i64(world_action(w, 2, "add"), "baseRowId", -1), 3);
    assert_int_equal(json_get_i64(world_action(w, 2, "add"), "defaultRowCommitVersion", -1), 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        WITH_WORLD(an_append_is_recorded_as_spark_does),
        WITH_WORLD(an_insert_that_reads_its_table_is_not_blind),
        WITH_WORLD(no_rows_make_no_version),
        WITH_WORLD(user_metadata_and_transaction_ids_are_kept),
        WITH_WORLD(a_failing_row_leaves_nothing_behind),
        WITH_WORLD(columns_are_paired_by_position),
        WITH_WORLD(values_are_cast_as_ansi_says),
        WITH_WORLD(structs_are_paired_by_position),
        WITH_WORLD(by_name_fills_what_is_missing),
        WITH_WORLD(defaults_stand_in),
        WITH_WORLD(empty_text_is_null_in_a_partition_column),
        WITH_WORLD(static_partitions_are_not_part_of_the_data),
        WITH_WORLD(an_overwrite_replaces_the_whole_table),
        WITH_WORLD(a_static_overwrite_replaces_its_partition),
        WITH_WORLD(a_dynamic_overwrite_replaces_the_partitions_it_writes),
        WITH_WORLD(timestamps_of_other_writers_are_the_same_partition),
        WITH_WORLD(an_append_only_table_is_not_overwritten),
        WITH_WORLD(files_are_cut_by_rows_and_named_by_codec),
        WITH_WORLD(files_are_cut_by_size_within_partitions_too),
        WITH_WORLD(statistics_follow_the_properties),
        WITH_WORLD(row_tracking_and_commit_timestamps_are_served),
    };
    return RUN_TESTS(tests);
}
