/** The one registry of Delta's table features: a row each in features.c. Source: PROTOCOL.md "Table Features", notes of what Spark 4.3 does. */
#ifndef DELTA_FEATURES_H
#define DELTA_FEATURES_H

#include "delta/actions.h"

typedef enum feature_kind { FEATURE_WRITER, FEATURE_READER_WRITER } feature_kind;

typedef struct delta_feature {
    const char *name;             /**< as in readerFeatures / writerFeatures */
    feature_kind kind;
    int8_t legacy_reader, legacy_writer; /**< version that implies it; 0 for native features */
    bool can_read, can_write;     /**< by this build */
    const char *enabled_by;       /**< "delta.enableX" property that enables it, or NULL */
    const char *depends_on[3];    /**< feature names, NULL-terminated */
    bool auto_enable_existing;    /**< set on an existing table by its property alone */
} delta_feature;

const delta_feature *delta_feature_find(str name); /**< NULL when unknown */
size_t delta_feature_count(void);
const delta_feature *delta_feature_at(size_t i);

/** Whether the protocol lists or implies the feature. */
bool delta_protocol_has(const delta_protocol *p, const char *feature);
/** Consistency of versions and lists (DELTA_INVALID_PROTOCOL_VERSION), then reader features known and readable (DELTA_UNSUPPORTED_FEATURES_FOR_READ; catalog-managed tables:
 * DELTA_PATH_BASED_ACCESS_TO_CATALOG_MANAGED_TABLE_BLOCKED). */
silt_status delta_protocol_check_read(const delta_protocol *p, str table, silt_error *err) MUST_CHECK;
/**
 * The same for writing: every listed writer feature must be known and, if it is active in `metadata` (NULL: treat as active), writable by this build: generated columns, identity,
 * CHECK constraints, CDF … are refused by name as long as Silt does not write them; a listed but inactive feature does not stop a write.
 */
silt_status delta_protocol_check_write(const delta_protocol *p, const delta_metadata *metadata, str table, silt_error *err) MUST_CHECK;

/**
 * Protocol for a new table (old == NULL) or a metadata change: the lowest versions and features that schema and configuration need.
 * `properties` are the user's TBLPROPERTIES (delta.feature.*, delta.minReaderVersion … are consumed: *out_configuration holds what is stored, keys in canonical spelling,
 * column mapping ids and physical names are NOT assigned here). Unknown delta.* keys, bad values and internal keys are refused.
 * notes/delta.md §2 and §12, protocol_new_tables.txt.
 */
silt_status delta_protocol_for(const delta_protocol *old, const data_type *schema, str_map properties, bool allow_arbitrary, arena *arena, delta_protocol *out_protocol,
                               str_map *out_configuration, silt_error *err) MUST_CHECK;
/** New column mapping ids and physical names ("col-<uuid>" on a new table, the logical name on upgrade) for every field that lacks them; updates metadata and delta.columnMapping.maxColumnId. */
silt_status delta_assign_column_mapping(const data_type *schema, int64_t max_id, bool new_table, arena *arena, const data_type **out_schema, int64_t *out_max_id, silt_error *err) MUST_CHECK;

#endif
