/**
 * The change data feed of a range of versions as tables that the engine can scan. PROTOCOL.md "Add CDC File", "Reader Requirements for Change Data Files".
 *
 * A commit's change data files hold its changes where it has any; else its adds are inserts and its removes deletes, as far as they change data, and a new deletion
 * vector deletes the rows that the old one did not (or brings rows back). Nothing is read but the log; the rows come out of the files when they are scanned.
 */
#ifndef DELTA_CHANGES_H
#define DELTA_CHANGES_H

#include "delta/delta.h"

typedef struct delta_changes_spec {
    const delta_snapshot *read; /**< the rows are read by its schema; retained by the sources */
    int64_t from, to;           /**< versions, both included; to <= the newest version; to < from: no rows */
    bool unsafe; /**< do not ask whether the files' schemas fit (…unsafeBatchReadOnIncompatibleSchemaChanges.enabled) */
} delta_changes_spec;

/** Columns behind the table's: _change_type STRING, _commit_version BIGINT, _commit_timestamp TIMESTAMP. */
#define DELTA_CHANGE_COLUMNS 3

/**
 * One or two sources with the same columns, to be joined by UNION ALL: they differ in where _change_type comes from. Scans prune by partition values, the change columns and
 * statistics. Everything returned is released with ops->release.
 *
 * Errors: DELTA_MISSING_CHANGE_DATA (the feed was off somewhere in the range), DELTA_CHANGE_DATA_FEED_INCOMPATIBLE_DATA_SCHEMA, …_SCHEMA_CHANGE,
 * DELTA_TABLE_ALREADY_CONTAINS_CDC_COLUMNS, those of opening a version.
 */
silt_status delta_changes_load(const delta_changes_spec *spec, table_source *out[2], size_t *out_n, silt_error *err) MUST_CHECK;

/** The first version at or after a time; the earliest one for times before it. DELTA_TIMESTAMP_GREATER_THAN_COMMIT behind the newest. */
silt_status delta_changes_version_from(const delta_env *env, str root, int64_t timestamp_ms, int64_t *out,
                                       silt_error *err) MUST_CHECK;
/** Can rows of `files`, written under its schema (of that version), be read by `read`'s (of read_version)? Only columns may have been added; PROTOCOL.md leaves it to engines: as Delta has it. */
bool delta_changes_schema_fits(const delta_metadata *files, int64_t version, const delta_metadata *read, int64_t read_version);

#endif
