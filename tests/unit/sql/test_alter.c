/*
 * The commits of ALTER TABLE, read back from the log: operation, parameters, order of the actions, isBlindAppend and protocol are literals of Spark 4.1.2 with Delta 4.3.1 (the one
 * exception is the text of a constraint, which Silt keeps as written).
 */
#include "base/json.h"
#include "base/time.h"
#include "support/sql_world.h"

static const char *operation(sql_world *w, const char *table, int64_t version) {
    return arena_cstr(w->a, json_get_str(sql_world_action(w, table, version, "commitInfo"), "operation", STR("?")));
}

/* Operations from a version to the newest: "UNSET TBLPROPERTIES, REORG, DROP FEATURE". */
static const char *operations(sql_world *w, const char *table, int64_t from) {
    str names = STR("");
    for (int64_t v = from; v <= sql_world_latest(w, table); v++)
        names = arena_printf(w->a, "%.*s%s%s", STR_ARG(names), names.len ? ", " : "", operation(w, table, v));
    return arena_cstr(w->a, names);
}

static void add_list(str *text, const json_node *list, arena *a) {
    for (size_t i = 0; list && i < list->count; i++) *text = arena_printf(a, "%.*s%s%.*s", STR_ARG(*text), i ? "," : "", STR_ARG(list->values[i].text));
}

/* "3/7 R[deletionVectors] W[deletionVectors,invariants,appendOnly]" of the newest protocol action. */
static const char *protocol(sql_world *w, const char *table) {
    const json_node *p = NULL;
    for (int64_t v = sql_world_latest(w, table); !p; v--) p = sql_world_action(w, table, v, "protocol");
    str text = arena_printf(w->a, "%lld/%lld", (long long)json_get_i64(p, "minReaderVersion", 0), (long long)json_get_i64(p, "minWriterVersion", 0));
    if (json_get(p, "readerFeatures")) {
        text = arena_printf(w->a, "%.*s R[", STR_ARG(text));
        add_list(&text, json_get(p, "readerFeatures"), w->a);
        text = arena_printf(w->a, "%.*s]", STR_ARG(text));
    }
    if (json_get(p, "writerFeatures")) {
        text = arena_printf(w->a, "%.*s W[", STR_ARG(text));
        add_list(&text, json_get(p, "writerFeatures"), w->a);
        text = arena_printf(w->a, "%.*s]", STR_ARG(text));
    }
    return arena_cstr(w->a, text);
}

static const char *property(sql_world *w, const char *table, const char *key) {
    const json_node *m = NULL;
    for (int64_t v = sql_world_latest(w, table); !m && v >= 0; v--) m = sql_world_action(w, table, v, "metaData");
    str text = json_get_str(json_get(m, "configuration"), key, STR_NULL);
    return str_is_null(text) ? NULL : arena_cstr(w->a, text);
}

static const char *schema_json(sql_world *w, const char *table) {
    const json_node *m = NULL;
    for (int64_t v = sql_world_latest(w, table); !m && v >= 0; v--) m = sql_world_action(w, table, v, "metaData");
    return arena_cstr(w->a, json_get_str(m, "schemaString", STR("")));
}

/* ---- one commit each ---- */

typedef struct expected_commit {
    const char *sql, *operation, *parameters, *actions;
    bool blind;
} expected_commit;

static const expected_commit commits[] = {
    {"ALTER TABLE t ADD COLUMNS (c2 STRING COMMENT 'two' FIRST, c3 DECIMAL(5,2) AFTER id)", "ADD COLUMNS",
     "{\"columns\":\"[{\\\"column\\\":{\\\"name\\\":\\\"c2\\\",\\\"type\\\":\\\"string\\\",\\\"nullable\\\":true,\\\"metadata\\\":{\\\"comment\\\":\\\"two\\\"}},\\\"position\\\":\\\"FIRST\\\"},"
     "{\\\"column\\\":{\\\"name\\\":\\\"c3\\\",\\\"type\\\":\\\"decimal(5,2)\\\",\\\"nullable\\\":true,\\\"metadata\\\":{}},\\\"position\\\":\\\"AFTER id\\\"}]\"}",
     "commitInfo metaData", true},
    {"ALTER TABLE t ADD COLUMN vc VARCHAR(3)", "ADD COLUMNS", "{\"columns\":\"[{\\\"column\\\":{\\\"name\\\":\\\"vc\\\",\\\"type\\\":\\\"varchar(3)\\\",\\\"nullable\\\":true,\\\"metadata\\\":{}}}]\"}",
     "commitInfo metaData", true},
    {"ALTER TABLE t ALTER COLUMN s.w FIRST", "CHANGE COLUMN", "{\"column\":\"{\\\"name\\\":\\\"s.w\\\",\\\"type\\\":\\\"integer\\\",\\\"nullable\\\":true,\\\"metadata\\\":{}}\",\"position\":\"FIRST\"}",
     "commitInfo metaData", true},
    {"ALTER TABLE t ALTER COLUMN vc TYPE VARCHAR(5)", "CHANGE COLUMN",
     "{\"column\":\"{\\\"name\\\":\\\"vc\\\",\\\"type\\\":\\\"string\\\",\\\"nullable\\\":true,\\\"metadata\\\":{\\\"__CHAR_VARCHAR_TYPE_STRING\\\":\\\"varchar(5)\\\"}}\"}", "commitInfo metaData", true},
    {"ALTER TABLE t ADD CONSTRAINT pos CHECK (id >= 0 AND c2  is null)", "ADD CONSTRAINT", "{\"name\":\"pos\",\"expr\":\"id >= 0 AND c2  is null\"}", "commitInfo metaData protocol", false},
    {"ALTER TABLE t DROP CONSTRAINT pos", "DROP CONSTRAINT", "{\"name\":\"pos\",\"expr\":\"id >= 0 AND c2  is null\",\"existed\":\"true\"}", "commitInfo metaData", true},
    {"ALTER TABLE t DROP CONSTRAINT IF EXISTS pos", "DROP CONSTRAINT", "{\"name\":\"pos\",\"existed\":\"false\"}", "commitInfo metaData", true},
    {"ALTER TABLE t SET TBLPROPERTIES ('DELTA.logretentionduration' = 'interval 40 days', 'mine' = '1')", "SET TBLPROPERTIES",
     "{\"properties\":\"{\\\"delta.logRetentionDuration\\\":\\\"interval 40 days\\\",\\\"mine\\\":\\\"1\\\"}\"}", "commitInfo metaData", true},
    {"ALTER TABLE t UNSET TBLPROPERTIES ('mine')", "UNSET TBLPROPERTIES", "{\"properties\":\"[\\\"mine\\\"]\",\"ifExists\":true}", "commitInfo metaData", true},
    {"COMMENT ON TABLE t IS 'nn'", "SET TBLPROPERTIES", "{\"properties\":\"{\\\"comment\\\":\\\"nn\\\"}\"}", "commitInfo metaData", true},
    {"COMMENT ON COLUMN t.id IS 'key'", "CHANGE COLUMN", "{\"column\":\"{\\\"name\\\":\\\"id\\\",\\\"type\\\":\\\"integer\\\",\\\"nullable\\\":true,\\\"metadata\\\":{\\\"comment\\\":\\\"key\\\"}}\"}",
     "commitInfo metaData", true},
    {"ALTER TABLE t CLUSTER BY (id, s.w)", "CLUSTER BY", "{\"oldClusteringColumns\":\"\",\"newClusteringColumns\":\"id,s.w\"}", "commitInfo metaData protocol domainMetadata", true},
    {"ALTER TABLE t CLUSTER BY NONE", "CLUSTER BY", "{\"oldClusteringColumns\":\"id,s.w\",\"newClusteringColumns\":\"\"}", "commitInfo domainMetadata", true},
    {"ALTER TABLE t SET TBLPROPERTIES ('delta.columnMapping.mode' = 'name')", "SET TBLPROPERTIES", "{\"properties\":\"{\\\"delta.columnMapping.mode\\\":\\\"name\\\"}\"}",
     "commitInfo metaData protocol", true},
    {"ALTER TABLE t RENAME COLUMN s.w TO ww", "RENAME COLUMN", "{\"oldColumnPath\":\"s.w\",\"newColumnPath\":\"s.ww\"}", "commitInfo metaData", true},
    {"ALTER TABLE t DROP COLUMNS (c2, s.x)", "DROP COLUMNS", "{\"columns\":\"[\\\"c2\\\",\\\"s.x\\\"]\"}", "commitInfo metaData", true},
};

static void commits_are_spelled_as_spark_spells_them(void **state) {
    sql_world *w = *state;
    OK("CREATE TABLE t (id INT, s STRUCT<x: INT, w: INT>) USING DELTA");
    OK("INSERT INTO t VALUES (1, named_struct('x', 1, 'w', 2))");
    for (size_t i = 0; i < ARRAY_LEN(commits); i++) {
        const expected_commit *c = &commits[i];
        int64_t before = sql_world_latest(w, "t");
        OK(c->sql);
        assert_int_equal(sql_world_latest(w, "t"), before + 1);
        const json_node *info = sql_world_action(w, "t", before + 1, "commitInfo");
        assert_string_equal(operation(w, "t", before + 1), c->operation);
        assert_string_equal(arena_cstr(w->a, json_get(info, "operationParameters")->text), c->parameters);
        assert_string_equal(sql_world_actions(w, "t", before + 1), c->actions);
        assert_int_equal(json_get_bool(info, "isBlindAppend", !c->blind), c->blind);
    }
}

static void what_asks_for_nothing_commits_nothing(void **state) {
    static const char *const statements[] = {"ALTER TABLE t ALTER COLUMN id TYPE INT", "ALTER TABLE t DROP COLUMN IF EXISTS nope", "ALTER TABLE t CLUSTER BY NONE", "ALTER TABLE t CHANGE COLUMN id id INT"};
    sql_world *w = *state;
    OK("CREATE TABLE t (id INT) USING DELTA");
    for (size_t i = 0; i < ARRAY_LEN(statements); i++) OK(statements[i]);
    assert_int_equal(sql_world_latest(w, "t"), 0);
}

/* ---- properties ---- */

typedef struct expected_protocol {
    const char *set, *protocol, *operations;
} expected_protocol;

/* SET TBLPROPERTIES on a plain table with a row in it. */
static const expected_protocol by_property[] = {
    {"'delta.appendOnly' = 'true'", "1/2", "SET TBLPROPERTIES"},
    {"'delta.enableChangeDataFeed' = 'true'", "1/7 W[changeDataFeed,invariants,appendOnly]", "SET TBLPROPERTIES"},
    {"'delta.enableDeletionVectors' = 'true'", "3/7 R[deletionVectors] W[deletionVectors,invariants,appendOnly]", "SET TBLPROPERTIES"},
    {"'delta.columnMapping.mode' = 'name'", "2/7 W[columnMapping,invariants,appendOnly]", "SET TBLPROPERTIES"},
    {"'delta.enableRowTracking' = 'true'", "1/7 W[domainMetadata,rowTracking,invariants,appendOnly]", "UPGRADE PROTOCOL, ROW TRACKING BACKFILL, SET TBLPROPERTIES"},
    {"'delta.enableInCommitTimestamps' = 'true'", "1/7 W[inCommitTimestamp,invariants,appendOnly]", "SET TBLPROPERTIES"},
    {"'delta.enableTypeWidening' = 'true'", "3/7 R[typeWidening] W[typeWidening,invariants,appendOnly]", "SET TBLPROPERTIES"},
    {"'delta.checkpointPolicy' = 'v2'", "3/7 R[v2Checkpoint] W[v2Checkpoint,invariants,appendOnly]", "SET TBLPROPERTIES"},
    {"'delta.feature.v2Checkpoint' = 'supported'", "3/7 R[v2Checkpoint] W[v2Checkpoint,invariants,appendOnly]", "SET TBLPROPERTIES"},
    {"'delta.feature.timestampNtz' = 'supported'", "3/7 R[timestampNtz] W[timestampNtz,invariants,appendOnly]", "SET TBLPROPERTIES"},
    {"'delta.feature.allowColumnDefaults' = 'supported'", "1/7 W[allowColumnDefaults,invariants,appendOnly]", "SET TBLPROPERTIES"},
    {"'delta.feature.domainMetadata' = 'supported'", "1/7 W[domainMetadata,invariants,appendOnly]", "SET TBLPROPERTIES"},
    {"'delta.feature.vacuumProtocolCheck' = 'supported'", "3/7 R[vacuumProtocolCheck] W[vacuumProtocolCheck,invariants,appendOnly]", "SET TBLPROPERTIES"},
    {"'delta.feature.identityColumns' = 'supported'", "1/7 W[identityColumns,invariants,appendOnly]", "SET TBLPROPERTIES"},
    {"'delta.feature.checkConstraints' = 'supported'", "1/3", "SET TBLPROPERTIES"},
    {"'delta.feature.generatedColumns' = 'supported'", "1/7 W[generatedColumns,invariants,appendOnly]", "SET TBLPROPERTIES"},
    {"'delta.feature.rowTracking' = 'supported'", "1/7 W[domainMetadata,rowTracking,invariants,appendOnly]", "SET TBLPROPERTIES"},
    {"'delta.feature.typeWidening-preview' = 'supported'", "3/7 R[typeWidening-preview] W[typeWidening-preview,invariants,appendOnly]", "SET TBLPROPERTIES"},
    {"'delta.feature.variantType' = 'supported'", "3/7 R[variantType] W[variantType,invariants,appendOnly]", "SET TBLPROPERTIES"},
    {"'delta.enableVariantShredding' = 'true'", "3/7 R[variantShredding-preview] W[variantShredding-preview,invariants,appendOnly]", "SET TBLPROPERTIES"},
    {"'delta.feature.variantShredding' = 'supported'", "3/7 R[variantType,variantShredding] W[variantType,variantShredding,invariants,appendOnly]", "SET TBLPROPERTIES"},
    {"'delta.feature.checkpointProtection' = 'supported'", "1/7 W[checkpointProtection,invariants,appendOnly]", "SET TBLPROPERTIES"},
    {"'delta.enableMaterializePartitionColumnsFeature' = 'true'", "1/7 W[materializePartitionColumns,invariants,appendOnly]", "SET TBLPROPERTIES"},
    {"'delta.minReaderVersion' = '2', 'delta.minWriterVersion' = '5'", "2/5", "SET TBLPROPERTIES"},
    {"'delta.minReaderVersion' = '3', 'delta.minWriterVersion' = '7'", "1/2", "SET TBLPROPERTIES"},
    {"'delta.minWriterVersion' = '4'", "1/4", "SET TBLPROPERTIES"},
    {"'delta.columnMapping.mode' = 'name', 'delta.enableDeletionVectors' = 'true'", "3/7 R[deletionVectors,columnMapping] W[deletionVectors,columnMapping,invariants,appendOnly]", "SET TBLPROPERTIES"},
    {"'delta.columnMapping.mode' = 'name', 'delta.enableIcebergCompatV2' = 'true'", "2/7 W[columnMapping,icebergCompatV2,invariants,appendOnly]", "SET TBLPROPERTIES"},
};

static void properties_bring_their_features(void **state) {
    sql_world *w = *state;
    for (size_t i = 0; i < ARRAY_LEN(by_property); i++) {
        const expected_protocol *e = &by_property[i];
        OK("CREATE TABLE p (a INT, b STRING) USING DELTA");
        OK("INSERT INTO p VALUES (1, 'x')");
        OK(arena_cstr(w->a, arena_printf(w->a, "ALTER TABLE p SET TBLPROPERTIES (%s)", e->set)));
        assert_string_equal(protocol(w, "p"), e->protocol);
        assert_string_equal(operations(w, "p", 2), e->operations);
        OK("INSERT INTO p VALUES (2, 'y')"); /* and the table can be written */
        OK("DROP TABLE p");
    }
}

static void rows_get_their_ids_before_row_tracking_is_on(void **state) {
    sql_world *w = *state;
    OK("CREATE TABLE t (a INT) USING DELTA");
    OK("INSERT INTO t VALUES (1), (2)");
    OK("ALTER TABLE t SET TBLPROPERTIES ('delta.enableRowTracking' = 'true')");
    assert_string_equal(sql_world_actions(w, "t", 2), "commitInfo protocol");
    assert_string_equal(arena_cstr(w->a, json_get(sql_world_action(w, "t", 2, "commitInfo"), "operationParameters")->text),
                        "{\"newProtocol\":\"{\\\"minReaderVersion\\\":1,\\\"minWriterVersion\\\":7,\\\"readerFeatures\\\":null,\\\"writerFeatures\\\":[\\\"domainMetadata\\\",\\\"rowTracking\\\","
                        "\\\"invariants\\\",\\\"appendOnly\\\"]}\"}");
    assert_string_equal(sql_world_actions(w, "t", 3), "commitInfo add domainMetadata");
    const json_node *add = sql_world_action(w, "t", 3, "add"), *info = sql_world_action(w, "t", 3, "commitInfo");
    assert_false(json_get_bool(add, "dataChange", true));
    assert_int_equal(json_get_i64(add, "baseRowId", -1), 0);
    assert_int_equal(json_get_i64(add, "defaultRowCommitVersion", -1), 3);
    assert_false(json_get_bool(info, "isBlindAppend", true));
    assert_true(str_eqz(json_get_str(info, "isolationLevel", STR("")), "SnapshotIsolation"));
    assert_string_equal(arena_cstr(w->a, json_get(sql_world_action(w, "t", 3, "domainMetadata"), "configuration")->text), "{\"rowIdHighWaterMark\":1,\"domainName\":\"delta.rowTracking\"}");
    assert_string_equal(arena_cstr(w->a, json_get(sql_world_action(w, "t", 4, "commitInfo"), "tags")->text), "{\"rowTrackingEnablementOnly\":\"true\"}");
    assert_non_null(property(w, "t", "delta.rowTracking.materializedRowIdColumnName"));
}

static void in_commit_timestamps_start_in_mid_life(void **state) {
    sql_world *w = *state;
    OK("CREATE TABLE t (a INT) USING DELTA");
    OK("ALTER TABLE t SET TBLPROPERTIES ('delta.enableInCommitTimestamps' = 'true')");
    int64_t at = json_get_i64(sql_world_action(w, "t", 1, "commitInfo"), "inCommitTimestamp", -1);
    assert_true(at > 0);
    assert_string_equal(property(w, "t", "delta.inCommitTimestampEnablementVersion"), "1");
    assert_int_equal(strtoll(property(w, "t", "delta.inCommitTimestampEnablementTimestamp"), NULL, 10), at);
    OK("ALTER TABLE t SET TBLPROPERTIES ('delta.enableInCommitTimestamps' = 'false')");
    assert_null(json_get(sql_world_action(w, "t", 2, "commitInfo"), "inCommitTimestamp"));
    OK("ALTER TABLE t SET TBLPROPERTIES ('delta.enableInCommitTimestamps' = 'true')");
    assert_string_equal(property(w, "t", "delta.inCommitTimestampEnablementVersion"), "3");
}

static void widened_types_are_recorded_where_they_are(void **state) {
    sql_world *w = *state;
    OK("CREATE TABLE t (a TINYINT, m MAP<INT, ARRAY<FLOAT>>) USING DELTA TBLPROPERTIES ('delta.enableTypeWidening' = 'true')");
    OK("ALTER TABLE t ALTER COLUMN a TYPE SMALLINT");
    OK("ALTER TABLE t ALTER COLUMN a TYPE INT");
    OK("ALTER TABLE t ALTER COLUMN m.key TYPE BIGINT");
    OK("ALTER TABLE t ALTER COLUMN m.value.element TYPE DOUBLE");
    assert_string_equal(schema_json(w, "t"),
                        "{\"type\":\"struct\",\"fields\":[{\"name\":\"a\",\"type\":\"integer\",\"nullable\":true,\"metadata\":{\"delta.typeChanges\":[{\"toType\":\"short\",\"fromType\":\"byte\"},"
                        "{\"toType\":\"integer\",\"fromType\":\"short\"}]}},{\"name\":\"m\",\"type\":{\"type\":\"map\",\"keyType\":\"long\",\"valueType\":{\"type\":\"array\",\"elementType\":\"double\","
                        "\"containsNull\":true},\"valueContainsNull\":true},\"nullable\":true,\"metadata\":{\"delta.typeChanges\":[{\"toType\":\"long\",\"fromType\":\"integer\",\"fieldPath\":\"key\"},"
                        "{\"toType\":\"double\",\"fromType\":\"float\",\"fieldPath\":\"value.element\"}]}}]}");
}

/* ---- protocol skew ---- */

static void an_upgrade_is_told_or_refused(void **state) {
    sql_world *w = *state;
    OK("CREATE TABLE t (a INT) USING DELTA");
    assert_string_equal(w->message, "created, version 0");
    OK("ALTER TABLE t SET TBLPROPERTIES ('delta.enableTypeWidening' = 'true')");
    assert_string_equal(w->message, "version 1");
    assert_string_equal(w->note, "the table's protocol is now reader 3, writer 7 with typeWidening; can no longer read it: deltalake 1.6, polars 2.1, "
                                    "can no longer write it: DuckDB delta, Trino");
    OK("SET silt.protocol.noUpgrade = true");
    FAILS("PROTOCOL_UPGRADE_NOT_ALLOWED", "ALTER TABLE t ADD CONSTRAINT c CHECK (a > 0)");
    FAILS("PROTOCOL_UPGRADE_NOT_ALLOWED", "ALTER TABLE t SET TBLPROPERTIES ('delta.enableRowTracking' = 'true')");
    FAILS("PROTOCOL_UPGRADE_NOT_ALLOWED", "ALTER TABLE t ADD COLUMN v VARIANT");
    FAILS("PROTOCOL_UPGRADE_NOT_ALLOWED", "ALTER TABLE t CLUSTER BY (a)");
    FAILS("PROTOCOL_UPGRADE_NOT_ALLOWED", "CREATE TABLE n (a INT) USING DELTA TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')");
    FAILS("PROTOCOL_UPGRADE_NOT_ALLOWED", "CREATE TABLE n USING DELTA AS SELECT TIMESTAMP_NTZ'2020-01-01' AS t");
    assert_int_equal(sql_world_latest(w, "t"), 1);
    OK("ALTER TABLE t SET TBLPROPERTIES ('mine' = 'x')");
    OK("CREATE TABLE n (a INT) USING DELTA");
}

/* ---- DROP FEATURE ---- */

typedef struct expected_drop {
    const char *properties, *feature, *operations, *protocol;
} expected_drop;

#define EMPTY_3 "Empty Commit, Empty Commit, Empty Commit"

static const expected_drop drops[] = {
    {"'delta.feature.checkConstraints' = 'supported'", "checkConstraints", "DROP FEATURE", "1/2"},
    {"'delta.columnMapping.mode' = 'name'", "columnMapping", "REMOVE COLUMN MAPPING, " EMPTY_3 ", DROP FEATURE", "1/7 W[checkpointProtection,invariants,appendOnly]"},
    {"'delta.enableRowTracking' = 'true'", "rowTracking", "SET TBLPROPERTIES, ROW TRACKING UNBACKFILL, DROP FEATURE", "1/7 W[domainMetadata,invariants,appendOnly]"},
    {"'delta.feature.domainMetadata' = 'supported'", "domainMetadata", "DROP FEATURE", "1/2"},
    {"'delta.checkpointPolicy' = 'v2'", "v2Checkpoint", "SET TBLPROPERTIES, " EMPTY_3 ", DROP FEATURE", "1/7 W[checkpointProtection,invariants,appendOnly]"},
    {"'delta.enableInCommitTimestamps' = 'true'", "inCommitTimestamp", "UNSET TBLPROPERTIES, DROP FEATURE", "1/2"},
    {"'delta.feature.vacuumProtocolCheck' = 'supported'", "vacuumProtocolCheck", EMPTY_3 ", DROP FEATURE", "1/7 W[checkpointProtection,invariants,appendOnly]"},
    {"'delta.feature.materializePartitionColumns' = 'supported'", "materializePartitionColumns", "DROP FEATURE", "1/2"},
    {"'delta.enableDeletionVectors' = 'true'", "deletionVectors", "UNSET TBLPROPERTIES, Deletion Vector Tombstones, " EMPTY_3 ", DROP FEATURE",
     "1/7 W[checkpointProtection,invariants,appendOnly]"},
    {"'delta.enableTypeWidening' = 'true'", "typeWidening", "UNSET TBLPROPERTIES, " EMPTY_3 ", DROP FEATURE", "1/7 W[checkpointProtection,invariants,appendOnly]"},
};

static void features_are_retired_and_dropped(void **state) {
    sql_world *w = *state;
    for (size_t i = 0; i < ARRAY_LEN(drops); i++) {
        const expected_drop *d = &drops[i];
        OK(arena_cstr(w->a, arena_printf(w->a, "CREATE TABLE f (a INT, b STRING) USING DELTA TBLPROPERTIES (%s)", d->properties)));
        OK("INSERT INTO f VALUES (1, 'x')");
        OK(arena_cstr(w->a, arena_printf(w->a, "ALTER TABLE f DROP FEATURE %s", d->feature)));
        assert_string_equal(operations(w, "f", 2), d->operations);
        assert_string_equal(protocol(w, "f"), d->protocol);
        const char *before = property(w, "f", "delta.requireCheckpointProtectionBeforeVersion");
        if (strstr(d->protocol, "checkpointProtection")) assert_int_equal(strtoll(before, NULL, 10), sql_world_latest(w, "f"));
        else assert_null(before);
        OK("INSERT INTO f VALUES (2, 'y')");
        OK("DROP TABLE f");
    }
}

static void checkpoints_fence_off_the_versions_that_used_it(void **state) {
    sql_world *w = *state;
    store_entry entry;
    OK("CREATE TABLE f (a INT) USING DELTA TBLPROPERTIES ('delta.checkpointPolicy' = 'v2')");
    OK("ALTER TABLE f DROP FEATURE v2Checkpoint");
    for (int v = 2; v <= 4; v++) {
        str path = arena_printf(w->a, "%s/f/_delta_log/%020d.checkpoint.parquet", w->folder, v);
        assert_int_equal(store_stat(w->files, path, w->a, &entry, NULL), SILT_OK);
    }
}

static void clustering_columns_follow_when_the_mapping_goes(void **state) {
    sql_world *w = *state;
    OK("CREATE TABLE t (a INT, s STRUCT<x: INT>) USING DELTA CLUSTER BY (a, s.x) TBLPROPERTIES ('delta.columnMapping.mode' = 'name')");
    OK("ALTER TABLE t RENAME COLUMN a TO `b c`");
    FAILS("DELTA_INVALID_COLUMN_NAMES_WHEN_REMOVING_COLUMN_MAPPING", "ALTER TABLE t SET TBLPROPERTIES ('delta.columnMapping.mode' = 'none')");
    OK("ALTER TABLE t RENAME COLUMN `b c` TO `b.c`");
    OK("ALTER TABLE t SET TBLPROPERTIES ('delta.columnMapping.mode' = 'none')");
    str configuration = json_get_str(sql_world_action(w, "t", 3, "domainMetadata"), "configuration", STR(""));
    assert_string_equal(arena_cstr(w->a, configuration), "{\"clusteringColumns\":[[\"b.c\"],[\"s\",\"x\"]],\"domainName\":\"delta.clustering\"}");
}

static void what_cannot_be_dropped_is_refused(void **state) {
    sql_world *w = *state;
    OK("CREATE TABLE f (a INT) USING DELTA TBLPROPERTIES ('delta.enableRowTracking' = 'true', 'delta.feature.checkpointProtection' = 'supported')");
    FAILS("DELTA_FEATURE_DROP_UNSUPPORTED_CLIENT_FEATURE", "ALTER TABLE f DROP FEATURE nosuch");
    FAILS("DELTA_FEATURE_DROP_NONREMOVABLE_FEATURE", "ALTER TABLE f DROP FEATURE appendOnly");
    FAILS("DELTA_FEATURE_DROP_FEATURE_NOT_PRESENT", "ALTER TABLE f DROP FEATURE 'deletionVectors'");
    FAILS("DELTA_FEATURE_DROP_DEPENDENT_FEATURE", "ALTER TABLE f DROP FEATURE domainMetadata");
    FAILS("DELTA_FEATURE_DROP_HISTORY_TRUNCATION_NOT_ALLOWED", "ALTER TABLE f DROP FEATURE rowTracking TRUNCATE HISTORY");
    FAILS("DELTA_FEATURE_CAN_ONLY_DROP_CHECKPOINT_PROTECTION_WITH_HISTORY_TRUNCATION", "ALTER TABLE f DROP FEATURE checkpointProtection");
    assert_int_equal(sql_world_latest(w, "f"), 0);
}

static void history_is_truncated_when_its_time_has_come(void **state) {
    sql_world *w = *state;
    OK("CREATE TABLE f (a INT) USING DELTA TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')");
    OK("INSERT INTO f VALUES (1)");
    FAILS("DELTA_FEATURE_DROP_WAIT_FOR_RETENTION_PERIOD", "ALTER TABLE f DROP FEATURE deletionVectors TRUNCATE HISTORY");
    assert_string_equal(operations(w, "f", 2), "UNSET TBLPROPERTIES, Deletion Vector Tombstones, Empty Commit");
    FAILS("DELTA_FEATURE_DROP_HISTORICAL_VERSIONS_EXIST", "ALTER TABLE f DROP FEATURE deletionVectors TRUNCATE HISTORY");
    assert_int_equal(sql_world_latest(w, "f"), 4);
    OK("ALTER TABLE f SET TBLPROPERTIES ('delta.dropFeatureTruncateHistory.retentionDuration' = 'interval 0 seconds')");
    OK("ALTER TABLE f DROP FEATURE deletionVectors TRUNCATE HISTORY");
    assert_true(str_is_null(sql_world_commit(w, "f", 0))); /* gone, with all that used the feature */
    const json_node *p = sql_world_action(w, "f", 6, "protocol");
    assert_int_equal(json_get_i64(p, "minWriterVersion", 0), 2);
    assert_null(json_get(p, "writerFeatures"));
    OK("INSERT INTO f VALUES (2)");
}

/* ---- names and places ---- */

static void a_managed_table_takes_its_folder_along(void **state) {
    sql_world *w = *state;
    store_entry entry;
    OK("CREATE TABLE a (x INT) USING DELTA");
    OK("INSERT INTO a VALUES (1)");
    OK("ALTER TABLE a RENAME TO b");
    assert_int_equal(store_stat(w->files, arena_printf(w->a, "%s/a", w->folder), w->a, &entry, NULL), SILT_NOT_FOUND);
    assert_int_equal(sql_world_latest(w, "b"), 1);
    OK("CREATE TABLE a (y STRING) USING DELTA"); /* the old name is free */
    FAILS("TABLE_OR_VIEW_ALREADY_EXISTS", "ALTER TABLE a RENAME TO b");
    OK("INSERT INTO b VALUES (2)");
    assert_int_equal(sql_world_latest(w, "b"), 2);
    OK(arena_cstr(w->a, arena_printf(w->a, "CREATE TABLE e (x INT) USING DELTA LOCATION '%s/elsewhere'", w->folder)));
    OK("ALTER TABLE e RENAME TO e2"); /* an external table stays where it is */
    OK("INSERT INTO e2 VALUES (1)");
    assert_int_equal(sql_world_latest(w, "elsewhere"), 1);
}

static void sync_identity_covers_what_is_there(void **state) {
    sql_world *w = *state;
    OK("CREATE TABLE t (id BIGINT GENERATED BY DEFAULT AS IDENTITY (START WITH 10 INCREMENT BY -3), v INT) USING DELTA");
    OK("INSERT INTO t VALUES (-100, 1)");
    FAILS("DELTA_IDENTITY_COLUMNS_ALTER_NON_IDENTITY_COLUMN", "ALTER TABLE t ALTER COLUMN v SYNC IDENTITY");
    OK("ALTER TABLE t ALTER COLUMN id SYNC IDENTITY");
    assert_non_null(strstr(schema_json(w, "t"), "\"delta.identity.highWaterMark\":-101"));
    int64_t v = sql_world_latest(w, "t");
    assert_string_equal(operation(w, "t", v), "CHANGE COLUMN");
    assert_string_equal(arena_cstr(w->a, json_get(sql_world_action(w, "t", v, "commitInfo"), "tags")->text), "{\"delta.identity.schemaUpdate\":\"true\"}");
}

int main(void) {
#define TEST(fn) cmocka_unit_test_setup_teardown(fn, sql_world_setup, sql_world_teardown)
    const struct CMUnitTest tests[] = {
        TEST(commits_are_spelled_as_spark_spells_them),
        TEST(what_asks_for_nothing_commits_nothing),
        TEST(properties_bring_their_features),
        TEST(rows_get_their_ids_before_row_tracking_is_on),
        TEST(in_commit_timestamps_start_in_mid_life),
        TEST(widened_types_are_recorded_where_they_are),
        TEST(an_upgrade_is_told_or_refused),
        TEST(features_are_retired_and_dropped),
        TEST(checkpoints_fence_off_the_versions_that_used_it),
        TEST(clustering_columns_follow_when_the_mapping_goes),
        TEST(what_cannot_be_dropped_is_refused),
        TEST(history_is_truncated_when_its_time_has_come),
        TEST(a_managed_table_takes_its_folder_along),
        TEST(sync_identity_covers_what_is_there),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
