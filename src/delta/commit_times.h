/** When the versions of a log were committed. */
#ifndef DELTA_COMMIT_TIMES_H
#define DELTA_COMMIT_TIMES_H

#include "delta/segment.h"

typedef struct commit_time {
    int64_t version, time_ms;
} commit_time;

/**
 * Every commit of a whole listing with its file's time, ascending, made strictly increasing as Delta does: a time that is not
 * above the one before it becomes that plus 1 ms.
 */
silt_status commit_times(const log_listing *l, arena *a, commit_time **out, size_t *out_count, silt_error *err) MUST_CHECK;

/** In-commit timestamps of a table: from which version on they count. */
typedef struct ict_range {
    bool enabled;
    int64_t from_version; /**< the first version that has one */
    int64_t from_time_ms; /**< its timestamp; INT64_MIN when all versions have one */
} ict_range;

/** By the table's newest state. Cheap for tables without: the newest commit is looked at, not the state. */
silt_status ict_range_load(const delta_env *env, str root, int64_t latest, arena *a, ict_range *out, silt_error *err) MUST_CHECK;
/** inCommitTimestamp of a version; DELTA_MISSING_COMMIT_INFO, DELTA_MISSING_COMMIT_TIMESTAMP. */
silt_status ict_of_version(const delta_env *env, str root, int64_t version, int64_t *out, silt_error *err) MUST_CHECK;

#endif
