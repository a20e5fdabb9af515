/** The change data feed of a table between two ends, by Spark's rules for versions, times and schemas. */
#ifndef OPS_CHANGES_H
#define OPS_CHANGES_H

#include "ops/ops.h"

/** One end of a range; none of the two set: the newest version (of the end). */
typedef struct change_boundary {
    bool has_version, has_time;
    int64_t version, time_ms;
} change_boundary;

typedef struct changes_spec {
    const delta_snapshot *latest; /**< the table's newest snapshot; borrowed for the call */
    change_boundary from, to;     /**< both included */
} changes_spec;

/**
 * One or two sources with the same columns (delta/changes.h), to be joined by UNION ALL; released with ops->release.
 *
 * The rows have the schema of the newest version; with column mapping that of the end of the range (spark.databricks.delta.changeDataFeed.
 * defaultSchemaModeForColumnMappingTable), because names may have changed since.
 *
 * Errors: DELTA_CDC_START_VERSION_AFTER_LATEST, DELTA_INVALID_CDC_RANGE, those of times and of delta_changes_load.
 */
silt_status ops_changes(const ops_env *env, const changes_spec *spec, table_source *out[2], size_t *out_n,
                        silt_error *err) MUST_CHECK;

#endif
