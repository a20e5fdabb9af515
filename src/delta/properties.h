/**
 * The one table of Delta's table properties (delta.*): canonical spelling, kind, default, and who may set them. Values are kept as the user typed
 * them ('TRUE' stays 'TRUE'); the getters below read them as Delta does. Source: PROTOCOL.md "Table Properties" and what Spark 4.3 accepts.
 */
#ifndef DELTA_PROPERTIES_H
#define DELTA_PROPERTIES_H

#include "delta/actions.h"

typedef enum property_kind {
    PROPERTY_BOOL,     /**< true or false, any case */
    PROPERTY_INT,      /**< whole number >= min */
    PROPERTY_INTERVAL, /**< calendar interval without months and years, >= 0 */
    PROPERTY_ENUM,     /**< one of `choices`, separated by '|' */
    PROPERTY_STRING    /**< anything */
} property_kind;

typedef struct delta_property {
    const char *name;          /**< canonical spelling */
    property_kind kind;
    const char *default_value; /**< NULL: none */
    int64_t min;               /**< PROPERTY_INT */
    const char *choices;       /**< PROPERTY_ENUM */
    bool user_settable;        /**< false: written by Delta itself, refused from users */
} delta_property;

/** By name without ASCII case, aliases too (delta.enableChangeDataCapture); NULL when unknown. */
const delta_property *delta_property_find(str name);
size_t delta_property_count(void);
const delta_property *delta_property_at(size_t i);
/** DELTA_INVALID_PROPERTY_VALUE naming what was expected. */
silt_status delta_property_validate(const delta_property *p, str value, silt_error *err) MUST_CHECK;
/** delta.deletedFileRetentionDuration <= delta.logRetentionDuration, and row tracking not both enabled and suspended. */
silt_status delta_properties_check_together(const str_map *configuration, silt_error *err) MUST_CHECK;

/* The value in effect: the stored one, else the default. A stored value that does not parse counts as absent (another engine wrote it). */
bool delta_config_bool(const str_map *configuration, const char *name);
int64_t delta_config_i64(const str_map *configuration, const char *name);
int64_t delta_config_interval_ms(const str_map *configuration, const char *name); /**< -1: no default and none stored */
/** The stored text, else the default, else {NULL,0}. */
str delta_config_str(const str_map *configuration, const char *name);
/** The version of delta.enableIcebergCompatV1 to V3 that is on, the highest where several are; 0: none. */
int delta_config_iceberg_compat(const str_map *configuration);

#endif
