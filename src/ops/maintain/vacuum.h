/** VACUUM: removing the files of a table's folder that no retained version needs. Source: notes of what Spark 4.3 does; PROTOCOL.md "VACUUM Protocol Check". */
#ifndef OPS_MAINTAIN_VACUUM_H
#define OPS_MAINTAIN_VACUUM_H

#include "ops/ops.h"

typedef enum vacuum_kind {
    VACUUM_DEFAULT, /**< FULL, or LITE where spark.databricks.delta.vacuum.lite.enabled says so */
    VACUUM_FULL,    /**< whatever stands in the folder */
    VACUUM_LITE     /**< only what commits took out of the table: nothing is listed */
} vacuum_kind;

typedef struct vacuum_spec {
    str table_name, root;
    const delta_snapshot *snapshot; /**< the newest version */
    vacuum_kind kind;
    bool has_retention;
    double retention_hours; /**< RETAIN n HOURS */
    bool dry_run;
    query *inventory; /**< USING INVENTORY, bound; NULL: none */
} vacuum_spec;

typedef struct vacuum_result {
    int64_t files, folders;  /**< what a dry run found or a run removed */
    int64_t bytes;           /**< of the files found */
    int64_t failed;          /**< could not be removed; a note tells why */
    int64_t folders_visited; /**< with the root */
} vacuum_result;

/**
 * Rows as Spark gives them: one column `path`; a dry run: every file and empty folder that the run would remove, ascending; the run: the table's location.
 *
 * What is kept: everything that a version needs which was current within the retention (delta/retained.h); files whose modification time is within it,
 * for their writer may not have committed yet; hidden files and folders by Spark's rules; links, and what they lead to; everything outside of the root.
 * Between finding and removing, the log is looked at again before each STORE_PAGE files, so that what a commit took back in the meantime is kept too;
 * only a commit that brings back files older than the retention within the moment of one such removal could still lose them. Cancelling is safe at any
 * time: what was removed was garbage.
 * @return INVALID (DELTA_VACUUM_RETENTION_PERIOD_NEGATIVE, _TOO_SHORT, DELTA_INVALID_INVENTORY_SCHEMA, DELTA_CANNOT_VACUUM_LITE), UNSUPPORTED
 *   (protocol), IO, DENIED, CANCELLED
 */
silt_status ops_vacuum(const ops_env *env, const vacuum_spec *spec, arena *a, const data_type **out_type, arrow_builder **out_rows, vacuum_result *out,
                       silt_error *err) MUST_CHECK;

/** FSCK REPAIR TABLE: entries whose files are gone leave the log. */
typedef struct fsck_spec {
    str table_name, root;
    const delta_snapshot *snapshot;
    bool dry_run;
} fsck_spec;

/**
 * Rows as Databricks names them: dataFilePath, dataFileMissing, deletionVectorPath, deletionVectorFileMissing; one per entry that is (or would be)
 * removed. Only a file that the store says is absent counts: any other failure to look at it ends the statement before anything is changed.
 * @return CONFLICT, IO, DENIED, …
 */
silt_status ops_fsck(const ops_env *env, const fsck_spec *spec, arena *a, const data_type **out_type, arrow_builder **out_rows, ops_result *out,
                     silt_error *err) MUST_CHECK;

#endif
