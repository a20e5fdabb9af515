/* delta_protocol_for against the protocols that Spark 4.1 with Delta 4.3 gave for the same properties and schemas. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "delta/features.h"
#include "delta/protocol_upgrade.h"

#define MAX_PAIRS 4

typedef struct pair {
    const char *key, *value;
} pair;

typedef struct expectation {
    pair set[MAX_PAIRS];
    int reader, writer;
    const char *reader_features; /* comma list, NULL: no list */
    const char *writer_features;
    const char *stored;          /* "key=value|…" of the configuration, generated names as "*"; NULL: none */
} expectation;

#define W(list) list ",invariants,appendOnly"
#define ROW_NAMES "delta.rowTracking.materializedRowIdColumnName=*|delta.rowTracking.materializedRowCommitVersionColumnName=*"

/* New tables of the schema (a bigint, b string). */
static const expectation new_tables[] = {
    {{{NULL, NULL}}, 1, 2, NULL, NULL, NULL},
    {{{"delta.appendOnly", "true"}}, 1, 2, NULL, NULL, "delta.appendOnly=true"},
    {{{"DELTA.APPENDONLY", "TRUE"}}, 1, 2, NULL, NULL, "delta.appendOnly=TRUE"},
    {{{"delta.enableChangeDataFeed", "true"}}, 1, 7, NULL, W("changeDataFeed"), "delta.enableChangeDataFeed=true"},
    {{{"delta.enableDeletionVectors", "true"}}, 3, 7, "deletionVectors", W("deletionVectors"), "delta.enableDeletionVectors=true"},
    {{{"delta.columnMapping.mode", "name"}}, 2, 7, NULL, W("columnMapping"), "delta.columnMapping.mode=name"},
    {{{"delta.columnMapping.mode", "id"}}, 2, 7, NULL, W("columnMapping"), "delta.columnMapping.mode=id"},
    {{{"delta.enableRowTracking", "true"}}, 1, 7, NULL, W("domainMetadata,rowTracking"), "delta.enableRowTracking=true|" ROW_NAMES},
    {{{"delta.enableInCommitTimestamps", "true"}}, 1, 7, NULL, W("inCommitTimestamp"), "delta.enableInCommitTimestamps=true"},
    {{{"delta.enableTypeWidening", "true"}}, 3, 7, "typeWidening", W("typeWidening"), "delta.enableTypeWidening=true"},
    {{{"delta.checkpointPolicy", "v2"}}, 3, 7, "v2Checkpoint", W("v2Checkpoint"), "delta.checkpointPolicy=v2"},
    {{{"delta.feature.v2Checkpoint", "supported"}}, 3, 7, "v2Checkpoint", W("v2Checkpoint"), NULL},
    {{{"delta.feature.timestampNtz", "supported"}}, 3, 7, "timestampNtz", W("timestampNtz"), NULL},
    {{{"delta.feature.allowColumnDefaults", "supported"}}, 1, 7, NULL, W("allowColumnDefaults"), NULL},
    {{{"delta.feature.domainMetadata", "supported"}}, 1, 7, NULL, W("domainMetadata"), NULL},
    {{{"delta.feature.vacuumProtocolCheck", "supported"}}, 3, 7, "vacuumProtocolCheck", W("vacuumProtocolCheck"), NULL},
    {{{"delta.feature.identityColumns", "supported"}}, 1, 7, NULL, W("identityColumns"), NULL},
    {{{"delta.feature.checkConstraints", "supported"}}, 1, 3, NULL, NULL, NULL},
    {{{"delta.feature.generatedColumns", "supported"}}, 1, 7, NULL, W("generatedColumns"), NULL},
    {{{"delta.feature.changeDataFeed", "supported"}}, 1, 7, NULL, W("changeDataFeed"), NULL},
    {{{"delta.feature.invariants", "supported"}}, 1, 2, NULL, NULL, NULL},
    {{{"delta.feature.appendOnly", "supported"}}, 1, 2, NULL, NULL, NULL},
    {{{"delta.feature.columnMapping", "supported"}}, 2, 7, NULL, W("columnMapping"), NULL},
    {{{"delta.feature.deletionVectors", "supported"}}, 3, 7, "deletionVectors", W("deletionVectors"), NULL},
    {{{"delta.feature.deletionVectors", "enabled"}}, 3, 7, "deletionVectors", W("deletionVectors"), NULL},
    {{{"delta.feature.rowTracking", "supported"}}, 1, 7, NULL, W("domainMetadata,rowTracking"), ROW_NAMES},
    {{{"delta.feature.typeWidening", "supported"}}, 3, 7, "typeWidening", W("typeWidening"), NULL},
    {{{"delta.feature.typeWidening-preview", "supported"}}, 3, 7, "typeWidening-preview", W("typeWidening-preview"), NULL},
    {{{"delta.feature.variantType", "supported"}}, 3, 7, "variantType", W("variantType"), NULL},
    {{{"delta.feature.variantType-preview", "supported"}}, 3, 7, "variantType-preview", W("variantType-preview"), NULL},
    {{{"delta.enableVariantShredding", "true"}}, 3, 7, "variantShredding-preview", W("variantShredding-preview"), "delta.enableVariantShredding=true"},
    {{{"delta.feature.variantShredding", "supported"}}, 3, 7, "variantType,variantShredding", W("variantType,variantShredding"), NULL},
    {{{"delta.feature.variantShredding-preview", "supported"}}, 3, 7, "variantShredding-preview", W("variantShredding-preview"), NULL},
    {{{"delta.feature.icebergCompatV1", "supported"}}, 2, 7, NULL, W("columnMapping,icebergCompatV1"), NULL},
    {{{"delta.feature.icebergCompatV2", "supported"}}, 2, 7, NULL, W("columnMapping,icebergCompatV2"), NULL},
    {{{"delta.feature.icebergCompatV3", "supported"}}, 2, 7, NULL, W("domainMetadata,rowTracking,columnMapping,icebergCompatV3"), ROW_NAMES},
    {{{"delta.feature.checkpointProtection", "supported"}}, 1, 7, NULL, W("checkpointProtection"), NULL},
    {{{"delta.feature.materializePartitionColumns", "supported"}}, 1, 7, NULL, W("materializePartitionColumns"), NULL},
    {{{"delta.minReaderVersion", "2"}, {"delta.minWriterVersion", "5"}}, 2, 5, NULL, NULL, NULL},
    {{{"delta.minReaderVersion", "3"}, {"delta.minWriterVersion", "7"}}, 1, 1, NULL, NULL, NULL},
    {{{"delta.minReaderVersion", "1"}, {"delta.minWriterVersion", "7"}}, 1, 1, NULL, NULL, NULL},
    {{{"delta.minWriterVersion", "4"}}, 1, 4, NULL, NULL, NULL},
    {{{"delta.minWriterVersion", "3"}}, 1, 3, NULL, NULL, NULL},
    {{{"delta.minReaderVersion", "2"}, {"delta.minWriterVersion", "2"}}, 1, 2, NULL, NULL, NULL},
    {{{"delta.columnMapping.mode", "name"}, {"delta.enableDeletionVectors", "true"}}, 3, 7, "deletionVectors,columnMapping",
     W("deletionVectors,columnMapping"), "delta.columnMapping.mode=name|delta.enableDeletionVectors=true"},
    {{{"delta.columnMapping.mode", "name"}, {"delta.enableInCommitTimestamps", "true"}}, 2, 7, NULL, W("columnMapping,inCommitTimestamp"),
     "delta.columnMapping.mode=name|delta.enableInCommitTimestamps=true"},
    {{{"delta.enableChangeDataFeed", "true"}, {"delta.enableInCommitTimestamps", "true"}}, 1, 7, NULL, W("inCommitTimestamp,changeDataFeed"),
     "delta.enableChangeDataFeed=true|delta.enableInCommitTimestamps=true"},
    {{{"delta.randomizeFilePrefixes", "true"}}, 1, 2, NULL, NULL, "delta.randomizeFilePrefixes=true"},
    {{{"delta.parquet.format.version", "2.12.0"}}, 1, 2, NULL, NULL, "delta.parquet.format.version=2.12.0"},
    {{{"delta.dataSkippingStringPrefixLength", "10"}}, 1, 2, NULL, NULL, "delta.dataSkippingStringPrefixLength=10"},
    {{{"delta.rowTrackingSuspended", "true"}}, 1, 2, NULL, NULL, "delta.rowTrackingSuspended=true"},
    {{{"delta.dataSkippingStatsColumns", " a,`B`"}}, 1, 2, NULL, NULL, "delta.dataSkippingStatsColumns= a,`B`"},
    {{{"mine", "1"}, {"delta.appendOnly", "false"}}, 1, 2, NULL, NULL, "mine=1|delta.appendOnly=false"},
    {{{"delta.constraints.c", "a > 0"}}, 1, 3, NULL, NULL, "delta.constraints.c=a > 0"},
    {{{"delta.enableIcebergCompatV1", "true"}}, 2, 7, NULL, W("columnMapping,icebergCompatV1"),
     "delta.enableIcebergCompatV1=true|delta.columnMapping.mode=name|delta.universalFormat.iceberg.atomicConversion.supported=true"},
    {{{"delta.enableIcebergCompatV2", "true"}, {"delta.columnMapping.mode", "id"}}, 2, 7, NULL, W("columnMapping,icebergCompatV2"),
     "delta.enableIcebergCompatV2=true|delta.columnMapping.mode=id|delta.universalFormat.iceberg.atomicConversion.supported=true"},
    {{{"delta.enableIcebergCompatV3", "true"}}, 2, 7, NULL, W("domainMetadata,rowTracking,columnMapping,icebergCompatV3"),
     "delta.enableIcebergCompatV3=true|delta.columnMapping.mode=name|delta.enableRowTracking=true|delta.universalFormat.iceberg.atomicConversion.supported=true|" ROW_NAMES},
};

/* The same on an existing plain table of protocol 1/2. */
static const expectation existing_tables[] = {
    {{{"delta.appendOnly", "true"}}, 1, 2, NULL, NULL, "delta.appendOnly=true"},
    {{{"delta.enableChangeDataFeed", "true"}}, 1, 7, NULL, W("changeDataFeed"), "delta.enableChangeDataFeed=true"},
    {{{"delta.enableDeletionVectors", "true"}}, 3, 7, "deletionVectors", W("deletionVectors"), "delta.enableDeletionVectors=true"},
    {{{"delta.columnMapping.mode", "name"}}, 2, 7, NULL, W("columnMapping"), "delta.columnMapping.mode=name"},
    {{{"delta.enableInCommitTimestamps", "true"}}, 1, 7, NULL, W("inCommitTimestamp"), "delta.enableInCommitTimestamps=true"},
    {{{"delta.enableTypeWidening", "true"}}, 3, 7, "typeWidening", W("typeWidening"), "delta.enableTypeWidening=true"},
    {{{"delta.checkpointPolicy", "v2"}}, 3, 7, "v2Checkpoint", W("v2Checkpoint"), "delta.checkpointPolicy=v2"},
    {{{"delta.feature.timestampNtz", "supported"}}, 3, 7, "timestampNtz", W("timestampNtz"), NULL},
    {{{"delta.feature.allowColumnDefaults", "supported"}}, 1, 7, NULL, W("allowColumnDefaults"), NULL},
    {{{"delta.feature.rowTracking", "supported"}}, 1, 7, NULL, W("domainMetadata,rowTracking"), ROW_NAMES},
    {{{"delta.feature.checkConstraints", "supported"}}, 1, 3, NULL, NULL, NULL},
    {{{"delta.enableVariantShredding", "true"}}, 3, 7, "variantShredding-preview", W("variantShredding-preview"), "delta.enableVariantShredding=true"},
    {{{"delta.minReaderVersion", "2"}, {"delta.minWriterVersion", "5"}}, 2, 5, NULL, NULL, NULL},
    {{{"delta.minReaderVersion", "3"}, {"delta.minWriterVersion", "7"}}, 1, 2, NULL, NULL, NULL},
    {{{"delta.minReaderVersion", "1"}, {"delta.minWriterVersion", "7"}}, 1, 2, NULL, NULL, NULL},
    {{{"delta.minWriterVersion", "4"}}, 1, 4, NULL, NULL, NULL},
    {{{"delta.minWriterVersion", "3"}}, 1, 3, NULL, NULL, NULL},
    {{{"delta.minReaderVersion", "2"}, {"delta.minWriterVersion", "2"}}, 1, 2, NULL, NULL, NULL},
    {{{"delta.columnMapping.mode", "name"}, {"delta.enableDeletionVectors", "true"}}, 3, 7, "deletionVectors,columnMapping",
     W("deletionVectors,columnMapping"), "delta.columnMapping.mode=name|delta.enableDeletionVectors=true"},
};

typedef struct refusal {
    pair set[MAX_PAIRS];
    const char *condition, *sqlstate;
} refusal;

/* Where Spark gives a bare IllegalArgumentException, the condition is Silt's own. */
static const refusal refusals_new[] = {
    {{{"delta.feature.clustering", "supported"}}, "DELTA_CREATE_TABLE_SET_CLUSTERING_TABLE_FEATURE_NOT_ALLOWED", "42000"},
    {{{"delta.feature.catalogManaged", "supported"}}, "DELTA_UNSUPPORTED_CATALOG_MANAGED_TABLE_CREATION", "0AKDC"},
    {{{"delta.feature.nosuch", "supported"}}, "DELTA_UNSUPPORTED_FEATURES_IN_CONFIG", "56038"},
    {{{"delta.feature.deletionVectors", "on"}}, "DELTA_INVALID_PROPERTY_VALUE", "22023"},
    {{{"delta.foo", "1"}}, "DELTA_UNKNOWN_CONFIGURATION", "F0000"},
    {{{"delta.isolationLevel", "WriteSerializable"}}, "DELTA_INVALID_PROPERTY_VALUE", "22023"},
    {{{"delta.isolationLevel", "SnapshotIsolation"}}, "DELTA_INVALID_PROPERTY_VALUE", "22023"},
    {{{"delta.deletedFileRetentionDuration", "interval 60 days"}}, "DELTA_INVALID_PROPERTY_VALUE", "22023"},
    {{{"delta.logRetentionDuration", "2 days"}}, "DELTA_INVALID_PROPERTY_VALUE", "22023"},
    {{{"delta.logRetentionDuration", "interval 1 month"}}, "DELTA_INVALID_PROPERTY_VALUE", "22023"},
    {{{"delta.columnMapping.maxColumnId", "5"}}, "DELTA_CANNOT_MODIFY_TABLE_PROPERTY", "42939"},
    {{{"delta.rowTracking.materializedRowIdColumnName", "x"}}, "DELTA_CANNOT_MODIFY_TABLE_PROPERTY", "42939"},
    {{{"delta.checkpointInterval", "0"}}, "DELTA_INVALID_PROPERTY_VALUE", "22023"},
    {{{"delta.dataSkippingNumIndexedCols", "-2"}}, "DELTA_INVALID_PROPERTY_VALUE", "22023"},
    {{{"delta.appendOnly", "yes"}}, "DELTA_INVALID_PROPERTY_VALUE", "22023"},
    {{{"delta.minReaderVersion", "4"}}, "DELTA_INVALID_PROPERTY_VALUE", "22023"},
    {{{"delta.dataSkippingStatsColumns", "a, nosuch"}}, "DELTA_COLUMN_NOT_FOUND_IN_SCHEMA", "42703"},
    {{{"delta.dataSkippingStatsColumns", "a, `b"}}, "DELTA_COLUMN_NOT_FOUND_IN_SCHEMA", "42703"},
    {{{"delta.feature.icebergWriterCompatV1", "supported"}}, "DELTA_UNSUPPORTED_FEATURES_IN_CONFIG", "56038"},
    {{{"delta.feature.icebergWriterCompatV3", "supported"}}, "DELTA_UNSUPPORTED_FEATURES_IN_CONFIG", "56038"},
    {{{"delta.enableIcebergWriterCompatV1", "true"}}, "DELTA_UNKNOWN_CONFIGURATION", "F0000"},
    {{{"delta.enableIcebergWriterCompatV3", "true"}}, "DELTA_UNKNOWN_CONFIGURATION", "F0000"},
    /* what this build does not write is refused by name before any file is written */
    {{{"delta.universalFormat.enabledFormats", "iceberg"}}, "UNSUPPORTED_FEATURE", "0A000"},
};

static const refusal refusals_existing[] = {
    {{{"delta.columnMapping.mode", "id"}}, "DELTA_UNSUPPORTED_COLUMN_MAPPING_MODE_CHANGE", "0AKDC"},
    {{{"delta.feature.clustering", "supported"}}, "DELTA_ALTER_TABLE_SET_CLUSTERING_TABLE_FEATURE_NOT_ALLOWED", "42000"},
    {{{"delta.constraints.c", "a > 0"}}, "DELTA_ADD_CONSTRAINTS", "0A000"},
    {{{"delta.foo", "1"}}, "DELTA_UNKNOWN_CONFIGURATION", "F0000"},
};

/* ---- helpers ---- */

static str_map map_of(const pair *set, arena *a) {
    str *keys = ARENA_ARRAY(a, MAX_PAIRS, str), *values = ARENA_ARRAY(a, MAX_PAIRS, str);
    size_t n = 0;
    for (; n < MAX_PAIRS && set[n].key; n++) {
        keys[n] = str_of(set[n].key);
        values[n] = str_of(set[n].value);
    }
    return (str_map){keys, values, n};
}

static const data_type *plain_schema(arena *a) {
    field *f = ARENA_ARRAY(a, 2, field);
    f[0] = field_make(STR("a"), &type_long, true);
    f[1] = field_make(STR("b"), &type_string, true);
    return type_struct(a, f, 2);
}

static const char *list_text(bool present, const str *items, size_t n, buf *b) {
    if (!present) return "none";
    buf_clear(b);
    for (size_t i = 0; i < n; i++) {
        if (i) buf_append_char(b, ',');
        buf_append(b, items[i]);
    }
    return buf_cstr(b);
}

static void assert_list(bool present, const str *items, size_t n, const char *expected) {
    buf b;
    buf_init(&b, 4096);
    assert_string_equal(list_text(present, items, n, &b), expected ? expected : "none");
    buf_dispose(&b);
}

static void assert_configuration(const str_map *stored, const char *expected) {
    str rest = str_of(expected ? expected : ""), piece;
    size_t n = 0;
    while (str_next(&rest, '|', &piece)) {
        if (piece.len == 0) continue;
        size_t eq = str_find_char(piece, '=');
        str key = str_slice(piece, 0, eq), text = str_slice(piece, eq + 1, piece.len);
        str found = str_map_get(stored, key);
        if (str_is_null(found)) fail_msg("%.*s is not stored", STR_ARG(key));
        if (!str_eqz(text, "*") && !str_eq(found, text)) fail_msg("%.*s is stored as %.*s", STR_ARG(key), STR_ARG(found));
        n++;
    }
    assert_int_equal(stored->count, n);
}

static void check(const expectation *e, const delta_protocol *old) {
    arena *a = arena_new();
    silt_error err = {0};
    delta_protocol p;
    str_map stored;
    silt_status status = delta_protocol_for(old, plain_schema(a), map_of(e->set, a), false, a, &p, &stored, &err);
    if (status != SILT_OK) fail_msg("%s: %s %s", e->set[0].key, err.condition, err.message);
    assert_int_equal(p.min_reader_version, e->reader);
    assert_int_equal(p.min_writer_version, e->writer);
    assert_list(p.has_reader_features, p.reader_features, p.n_reader_features, e->reader_features);
    assert_list(p.has_writer_features, p.writer_features, p.n_writer_features, e->writer_features);
    assert_configuration(&stored, e->stored);
    arena_free(a);
}

static const delta_protocol plain_protocol = {.min_reader_version = 1, .min_writer_version = 2};

static void new_table_protocols(void **state) {
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(new_tables); i++) check(&new_tables[i], NULL);
}

static void existing_table_protocols(void **state) {
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(existing_tables); i++) check(&existing_tables[i], &plain_protocol);
}

static void check_refusal(const refusal *r, const delta_protocol *old) {
    arena *a = arena_new();
    silt_error err = {0};
    delta_protocol p;
    str_map stored;
    assert_int_not_equal(delta_protocol_for(old, plain_schema(a), map_of(r->set, a), false, a, &p, &stored, &err), SILT_OK);
    if (strcmp(err.condition, r->condition) != 0) fail_msg("%s=%s: %s, not %s", r->set[0].key, r->set[0].value, err.condition, r->condition);
    assert_string_equal(err.sqlstate, r->sqlstate);
    arena_free(a);
}

/* The lowest protocol without a feature: back to a version number where one says it all. */
static void without_a_feature(void **state) {
    static const struct {
        const char *set, *dropped;
        bool protect;
        int reader, writer;
        const char *writer_list;
    } cases[] = {
        {"delta.feature.checkConstraints", "checkConstraints", false, 1, 2, NULL},
        {"delta.feature.checkConstraints", "checkConstraints", true, 1, 7, "invariants,appendOnly,checkpointProtection"},
        {"delta.feature.deletionVectors", "deletionVectors", true, 1, 7, "invariants,appendOnly,checkpointProtection"},
        {"delta.feature.deletionVectors", "deletionVectors", false, 1, 2, NULL},
        {"delta.feature.rowTracking", "rowTracking", false, 1, 7, "domainMetadata,invariants,appendOnly"},
        {"delta.feature.columnMapping", "columnMapping", false, 1, 2, NULL},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        arena *a = arena_new();
        delta_protocol with, without;
        str_map stored;
        const pair set[MAX_PAIRS] = {{cases[i].set, "supported"}};
        assert_int_equal(delta_protocol_for(NULL, plain_schema(a), map_of(set, a), false, a, &with, &stored, NULL), SILT_OK);
        assert_int_equal(delta_protocol_without(&with, cases[i].dropped, cases[i].protect, a, &without, NULL), SILT_OK);
        assert_int_equal(without.min_reader_version, cases[i].reader);
        assert_int_equal(without.min_writer_version, cases[i].writer);
        assert_false(delta_protocol_has(&without, cases[i].dropped));
        assert_int_equal(without.has_writer_features, cases[i].writer_list != NULL);
        assert_false(without.has_reader_features);
        arena_free(a);
    }
    delta_protocol rows = {.min_reader_version = 1, .min_writer_version = 7, .writer_features = (const str[]){STR("rowTracking"), STR("domainMetadata")}, .n_writer_features = 2, .has_writer_features = true};
    arena *a = arena_new();
    assert_true(str_eqz(delta_protocol_dependents(&rows, "domainMetadata", a), "rowTracking"));
    assert_true(str_eqz(delta_protocol_dependents(&rows, "rowTracking", a), ""));
    arena_free(a);
}

static void refused_properties(void **state) {
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(refusals_new); i++) check_refusal(&refusals_new[i], NULL);
    for (size_t i = 0; i < ARRAY_LEN(refusals_existing); i++) check_refusal(&refusals_existing[i], &plain_protocol);
}

static void refusals_name_the_feature(void **state) {
    (void)state;
    arena *a = arena_new();
    silt_error err = {0};
    delta_protocol p;
    str_map stored;
    const pair set[MAX_PAIRS] = {{"delta.feature.coordinatedCommits-preview", "supported"}};
    assert_int_equal(delta_protocol_for(NULL, plain_schema(a), map_of(set, a), false, a, &p, &stored, &err), SILT_UNSUPPORTED);
    assert_non_null(strstr(err.message, "coordinatedCommits-preview"));
    arena_free(a);
}

static void arbitrary_properties_where_allowed(void **state) {
    (void)state;
    arena *a = arena_new();
    delta_protocol p;
    str_map stored;
    const pair set[MAX_PAIRS] = {{"delta.foo", "1"}};
    assert_int_equal(delta_protocol_for(NULL, plain_schema(a), map_of(set, a), true, a, &p, &stored, NULL), SILT_OK);
    assert_configuration(&stored, "delta.foo=1");
    arena_free(a);
}

/* ---- what the schema needs ---- */

static silt_status with_schema(const char *json, const delta_protocol *old, const pair *set, arena *a, delta_protocol *p, silt_error *err) {
    const data_type *schema;
    str_map stored;
    assert_int_equal(schema_parse_json(str_of(json), a, &schema, err), SILT_OK);
    return delta_protocol_for(old, schema, map_of(set, a), false, a, p, &stored, err);
}

#define ONE_FIELD(type, nullable, metadata) \
    "{\"type\":\"struct\",\"fields\":[{\"name\":\"a\",\"type\":" type ",\"nullable\":" nullable ",\"metadata\":{" metadata "}}]}"
static const char ntz_schema[] = ONE_FIELD("\"timestamp_ntz\"", "true", "");
static const char nested_ntz_schema[] =
    ONE_FIELD("{\"type\":\"array\",\"elementType\":{\"type\":\"map\",\"keyType\":\"string\",\"valueType\":\"timestamp_ntz\",\"valueContainsNull\":true},"
              "\"containsNull\":true}", "true", "");
static const char variant_schema[] = ONE_FIELD("\"variant\"", "true", "");
static const char not_null_schema[] = ONE_FIELD("\"long\"", "false", "");
static const char default_schema[] = ONE_FIELD("\"long\"", "true", "\"CURRENT_DEFAULT\":\"3\"");
static const char generated_schema[] = ONE_FIELD("\"long\"", "true", "\"delta.generationExpression\":\"b + 1\"");
static const pair no_properties[MAX_PAIRS] = {{NULL, NULL}};

static void schemas_of_new_tables(void **state) {
    (void)state;
    arena *a = arena_new();
    delta_protocol p;
    silt_error err = {0};
    assert_int_equal(with_schema(not_null_schema, NULL, no_properties, a, &p, &err), SILT_OK);
    assert_int_equal(p.min_writer_version, 2);
    const char *ntz[] = {ntz_schema, nested_ntz_schema};
    for (size_t i = 0; i < ARRAY_LEN(ntz); i++) {
        assert_int_equal(with_schema(ntz[i], NULL, no_properties, a, &p, &err), SILT_OK);
        assert_int_equal(p.min_reader_version, 3);
        assert_list(true, p.reader_features, p.n_reader_features, "timestampNtz");
        assert_list(true, p.writer_features, p.n_writer_features, W("timestampNtz"));
    }
    assert_int_equal(with_schema(variant_schema, NULL, no_properties, a, &p, &err), SILT_OK);
    assert_list(true, p.reader_features, p.n_reader_features, "variantType");
    assert_int_equal(with_schema(default_schema, NULL, no_properties, a, &p, &err), SILT_INVALID);
    assert_string_equal(err.condition, "WRONG_COLUMN_DEFAULTS_FOR_DELTA_FEATURE_NOT_ENABLED");
    const pair allow[MAX_PAIRS] = {{"delta.feature.allowColumnDefaults", "supported"}};
    assert_int_equal(with_schema(default_schema, NULL, allow, a, &p, &err), SILT_OK);
    assert_int_equal(with_schema(generated_schema, NULL, no_properties, a, &p, &err), SILT_OK);
    assert_list(true, p.writer_features, p.n_writer_features, W("generatedColumns"));
    arena_free(a);
}

static void schemas_of_existing_tables(void **state) {
    (void)state;
    arena *a = arena_new();
    delta_protocol p;
    silt_error err = {0};
    assert_int_equal(with_schema(ntz_schema, &plain_protocol, no_properties, a, &p, &err), SILT_INVALID);
    assert_string_equal(err.condition, "DELTA_FEATURES_REQUIRE_MANUAL_ENABLEMENT");
    assert_non_null(strstr(err.message, "timestampNtz"));
    const pair by_hand[MAX_PAIRS] = {{"delta.feature.timestampNtz", "supported"}};
    assert_int_equal(with_schema(ntz_schema, &plain_protocol, by_hand, a, &p, &err), SILT_OK);
    assert_int_equal(with_schema(variant_schema, &plain_protocol, no_properties, a, &p, &err), SILT_OK);
    assert_list(true, p.writer_features, p.n_writer_features, W("variantType"));
    arena_free(a);
}

/* ---- upgrades keep what is there ---- */

static delta_protocol listed(int reader, const str *readers, size_t n_readers, const str *writers, size_t n_writers) {
    return (delta_protocol){.min_reader_version = reader, .min_writer_version = 7, .reader_features = readers, .n_reader_features = n_readers,
                            .has_reader_features = reader == 3, .writer_features = writers, .n_writer_features = n_writers, .has_writer_features = true};
}

static void upgrade_of_lists(void **state) {
    (void)state;
    arena *a = arena_new();
    delta_protocol p;
    str_map stored;
    const str cm[] = {STR("columnMapping"), STR("invariants"), STR("appendOnly")};
    delta_protocol old = listed(2, NULL, 0, cm, 3);
    const pair dv[MAX_PAIRS] = {{"delta.enableDeletionVectors", "true"}};
    assert_int_equal(delta_protocol_for(&old, plain_schema(a), map_of(dv, a), false, a, &p, &stored, NULL), SILT_OK);
    assert_int_equal(p.min_reader_version, 3);
    assert_list(true, p.reader_features, p.n_reader_features, "columnMapping,deletionVectors");
    assert_list(true, p.writer_features, p.n_writer_features, W("columnMapping,deletionVectors"));

    const str dvs[] = {STR("deletionVectors"), STR("invariants"), STR("appendOnly")};
    old = listed(3, dvs, 1, dvs, 3);
    const pair name[MAX_PAIRS] = {{"delta.columnMapping.mode", "name"}};
    assert_int_equal(delta_protocol_for(&old, plain_schema(a), map_of(name, a), false, a, &p, &stored, NULL), SILT_OK);
    assert_list(true, p.reader_features, p.n_reader_features, "deletionVectors,columnMapping");
    assert_list(true, p.writer_features, p.n_writer_features, W("deletionVectors,columnMapping"));

    const pair off[MAX_PAIRS] = {{"delta.enableDeletionVectors", "false"}};
    assert_int_equal(delta_protocol_for(&old, plain_schema(a), map_of(off, a), false, a, &p, &stored, NULL), SILT_OK);
    assert_int_equal(p.min_reader_version, 3); /* switching off removes nothing */
    assert_list(true, p.writer_features, p.n_writer_features, W("deletionVectors"));
    arena_free(a);
}

/* 1/4 with in-commit timestamps: every feature that 1/4 stood for is written out. */
static void upgrade_of_version_numbers(void **state) {
    (void)state;
    arena *a = arena_new();
    delta_protocol old = {.min_reader_version = 1, .min_writer_version = 4}, p;
    str_map stored;
    const pair ict[MAX_PAIRS] = {{"delta.enableInCommitTimestamps", "true"}};
    assert_int_equal(delta_protocol_for(&old, plain_schema(a), map_of(ict, a), false, a, &p, &stored, NULL), SILT_OK);
    assert_int_equal(p.min_reader_version, 1);
    assert_int_equal(p.min_writer_version, 7);
    const char *names[] = {"checkConstraints", "generatedColumns", "invariants", "changeDataFeed", "appendOnly", "inCommitTimestamp"};
    assert_int_equal(p.n_writer_features, ARRAY_LEN(names));
    for (size_t i = 0; i < ARRAY_LEN(names); i++) assert_true(delta_protocol_has(&p, names[i]));
    arena_free(a);
}

static void clustering_by_name(void **state) {
    (void)state;
    arena *a = arena_new();
    delta_protocol p;
    const char *const names[] = {"clustering"};
    assert_int_equal(delta_protocol_add_features(NULL, names, 1, a, &p, NULL), SILT_OK);
    assert_int_equal(p.min_reader_version, 1);
    assert_list(true, p.writer_features, p.n_writer_features, W("domainMetadata,clustering"));
    assert_int_equal(delta_protocol_add_features(&plain_protocol, names, 1, a, &p, NULL), SILT_OK);
    assert_list(true, p.writer_features, p.n_writer_features, W("domainMetadata,clustering"));
    arena_free(a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(new_table_protocols),
        cmocka_unit_test(existing_table_protocols),
        cmocka_unit_test(refused_properties),
        cmocka_unit_test(without_a_feature),
        cmocka_unit_test(refusals_name_the_feature),
        cmocka_unit_test(arbitrary_properties_where_allowed),
        cmocka_unit_test(schemas_of_new_tables),
        cmocka_unit_test(schemas_of_existing_tables),
        cmocka_unit_test(upgrade_of_lists),
        cmocka_unit_test(upgrade_of_version_numbers),
        cmocka_unit_test(clustering_by_name),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
