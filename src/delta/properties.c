/*
 * The table of delta.* properties. One row each; a new property is a row here and nothing else. Only what OSS Delta 4.3 accepts may be set by users:
 * other delta.* keys are refused unless arbitrary properties are allowed (the caller's setting), but are kept where another engine has stored them.
 */
#include "delta/properties.h"

#include "base/time.h"

#define BOOL(name, dflt)          {name, PROPERTY_BOOL, dflt, 0, NULL, true}
#define INT(name, dflt, min)      {name, PROPERTY_INT, dflt, min, NULL, true}
#define INTERVAL(name, dflt)      {name, PROPERTY_INTERVAL, dflt, 0, NULL, true}
#define ENUM(name, dflt, choices) {name, PROPERTY_ENUM, dflt, 0, choices, true}
#define TEXT(name, dflt)          {name, PROPERTY_STRING, dflt, 0, NULL, true}
#define INTERNAL(name, kind)      {name, kind, NULL, 0, NULL, false}

static const delta_property properties[] = {
    BOOL("delta.appendOnly", "false"),
    INTERVAL("delta.logRetentionDuration", "interval 30 days"),
    INTERVAL("delta.deletedFileRetentionDuration", "interval 1 week"),
    INTERVAL("delta.checkpointRetentionDuration", "interval 2 days"),
    INTERVAL("delta.sampleRetentionDuration", "interval 7 days"),
    INTERVAL("delta.setTransactionRetentionDuration", NULL),
    INTERVAL("delta.dropFeatureTruncateHistory.retentionDuration", "interval 24 hours"),
    INT("delta.checkpointInterval", "10", 1),
    ENUM("delta.checkpointPolicy", "classic", "classic|v2"),
    BOOL("delta.checkpoint.writeStatsAsJson", "true"),
    BOOL("delta.checkpoint.writeStatsAsStruct", "true"),
    BOOL("delta.enableExpiredLogCleanup", "true"),
    BOOL("delta.enableFullRetentionRollback", "true"),
    INT("delta.dataSkippingNumIndexedCols", "32", -1),
    TEXT("delta.dataSkippingStatsColumns", NULL),
    INT("delta.dataSkippingStringPrefixLength", NULL, 1),
    BOOL("delta.enableChangeDataFeed", "false"),
    BOOL("delta.enableDeletionVectors", "false"),
    ENUM("delta.columnMapping.mode", "none", "none|name|id"),
    INTERNAL("delta.columnMapping.maxColumnId", PROPERTY_INT),
    BOOL("delta.enableRowTracking", "false"),
    BOOL("delta.rowTrackingSuspended", "false"),
    INTERNAL("delta.rowTracking.materializedRowIdColumnName", PROPERTY_STRING),
    INTERNAL("delta.rowTracking.materializedRowCommitVersionColumnName", PROPERTY_STRING),
    BOOL("delta.enableInCommitTimestamps", "false"),
    INTERNAL("delta.inCommitTimestampEnablementVersion", PROPERTY_INT),
    INTERNAL("delta.inCommitTimestampEnablementTimestamp", PROPERTY_INT),
    BOOL("delta.enableTypeWidening", "false"),
    ENUM("delta.isolationLevel", "Serializable", "Serializable"),
    BOOL("delta.autoOptimize.optimizeWrite", NULL),
    ENUM("delta.autoOptimize.autoCompact", NULL, "true|false|auto|legacy"),
    BOOL("delta.autoOptimize", NULL),
    BOOL("delta.randomizeFilePrefixes", "false"),
    INT("delta.randomPrefixLength", "2", 1),
    BOOL("delta.compatibility.symlinkFormatManifest.enabled", "false"),
    TEXT("delta.universalFormat.enabledFormats", ""),
    BOOL("delta.enableIcebergCompatV1", NULL),
    BOOL("delta.enableIcebergCompatV2", NULL),
    BOOL("delta.enableIcebergCompatV3", NULL),
    BOOL("delta.universalFormat.iceberg.atomicConversion.supported", "false"),
    BOOL("delta.castIcebergTimeType", "false"),
    BOOL("delta.ignoreIcebergBucketPartition", "false"),
    BOOL("delta.enableVariantShredding", "false"),
    ENUM("delta.parquet.format.version", "1.0.0", "1.0.0|2.12.0"),
    INT("delta.requireCheckpointProtectionBeforeVersion", "0", 0),
    BOOL("delta.enableMaterializePartitionColumnsFeature", NULL),
    BOOL("delta.writePartitionColumnsToParquet", NULL),
    TEXT("delta.coordinatedCommits.commitCoordinator-preview", NULL),
    TEXT("delta.coordinatedCommits.commitCoordinatorConf-preview", NULL),
    TEXT("delta.coordinatedCommits.tableConf-preview", NULL),
    TEXT("delta.redirectReaderWriter-preview", NULL),
    TEXT("delta.redirectWriterOnly-preview", NULL),
};

size_t delta_property_count(void) { return ARRAY_LEN(properties); }
const delta_property *delta_property_at(size_t i) { return &properties[i]; }

const delta_property *delta_property_find(str name) {
    if (str_eq_ascii_fold(name, STR("delta.enableChangeDataCapture"))) name = STR("delta.enableChangeDataFeed");
    for (size_t i = 0; i < ARRAY_LEN(properties); i++)
        if (str_eq_ascii_fold(str_of(properties[i].name), name)) return &properties[i];
    return NULL;
}

static bool parse_bool(str val, bool *out) {
    *out = str_eq_ascii_fold(val, STR("true"));
    return *out || str_eq_ascii_fold(val, STR("false"));
}

static bool is_choice(str val, const char *choices) {
    str rest = str_of(choices), piece;
    while (str_next(&rest, '|', &piece))
        if (str_eq(val, piece)) return true;
    return false;
}

static silt_status invalid(const delta_property *p, str val, const char *expected, silt_error *err) {
    return err_DELTA_INVALID_PROPERTY_VALUE(err, str_of(p->name), val, expected);
}

silt_status delta_property_validate(const delta_property *p, str val, silt_error *err) {
    bool flag;
    int64_t number;
    switch (p->kind) {
    case PROPERTY_BOOL:
        return parse_bool(str_trim(val), &flag) ? SILT_OK : invalid(p, val, "true or false", err);
    case PROPERTY_INT:
        if (str_to_i64(str_trim(val), &number) && number >= p->min) return SILT_OK;
        return invalid(p, val, p->min > 0 ? "a positive integer" : p->min == 0 ? "an integer of at least 0" : "an integer of at least -1", err);
    case PROPERTY_INTERVAL:
        if (time_parse_interval_ms(val, &number) && number >= 0) return SILT_OK;
        return invalid(p, val, "a calendar interval such as '2 weeks', without months and years", err);
    case PROPERTY_ENUM:
        return is_choice(val, p->choices) ? SILT_OK : invalid(p, val, p->choices, err);
    case PROPERTY_STRING:
        break;
    }
    return SILT_OK;
}

str delta_config_str(const str_map *configuration, const char *name) {
    str stored = str_map_get(configuration, str_of(name));
    if (!str_is_null(stored)) return stored;
    const delta_property *p = delta_property_find(str_of(name));
    return p ? str_of(p->default_value) : STR_NULL;
}

static str default_of(const char *name) {
    const delta_property *p = delta_property_find(str_of(name));
    return p ? str_of(p->default_value) : STR_NULL;
}

bool delta_config_bool(const str_map *configuration, const char *name) {
    bool flag;
    if (parse_bool(str_trim(delta_config_str(configuration, name)), &flag)) return flag;
    return parse_bool(default_of(name), &flag) && flag;
}

int64_t delta_config_i64(const str_map *configuration, const char *name) {
    const delta_property *p = delta_property_find(str_of(name));
    int64_t number = 0;
    if (str_to_i64(str_trim(delta_config_str(configuration, name)), &number) && (!p || number >= p->min)) return number;
    return str_to_i64(default_of(name), &number) ? number : 0;
}

int64_t delta_config_interval_ms(const str_map *configuration, const char *name) {
    int64_t ms;
    str text = delta_config_str(configuration, name);
    if (!str_is_null(text) && time_parse_interval_ms(text, &ms) && ms >= 0) return ms;
    text = default_of(name);
    return !str_is_null(text) && time_parse_interval_ms(text, &ms) ? ms : -1;
}

int delta_config_iceberg_compat(const str_map *configuration) {
    if (delta_config_bool(configuration, "delta.enableIcebergCompatV3")) return 3;
    if (delta_config_bool(configuration, "delta.enableIcebergCompatV2")) return 2;
    return delta_config_bool(configuration, "delta.enableIcebergCompatV1") ? 1 : 0;
}

silt_status delta_properties_check_together(const str_map *configuration, silt_error *err) {
    static const char deleted[] = "delta.deletedFileRetentionDuration", log[] = "delta.logRetentionDuration";
    if (delta_config_interval_ms(configuration, deleted) > delta_config_interval_ms(configuration, log)) {
        bool deleted_given = !str_is_null(str_map_get(configuration, str_of(deleted)));
        const char *key = deleted_given ? deleted : log;
        return err_DELTA_INVALID_PROPERTY_VALUE(err, str_of(key), delta_config_str(configuration, key),
                                                deleted_given ? "less than or equal to delta.logRetentionDuration"
                                                              : "greater than or equal to delta.deletedFileRetentionDuration (1 week)");
    }
    if (delta_config_bool(configuration, "delta.enableRowTracking") && delta_config_bool(configuration, "delta.rowTrackingSuspended"))
        return err_DELTA_INVALID_PROPERTY_VALUE(err, STR("delta.rowTrackingSuspended"), STR("true"), "false while delta.enableRowTracking is true");
    return SILT_OK;
}
