/** Log compaction files, PROTOCOL.md "Log Compaction Files": one file in the place of a run of commits, for readers that use it. */
#ifndef DELTA_LOG_COMPACTION_H
#define DELTA_LOG_COMPACTION_H

#include "delta/delta.h"

/**
 * Write <from>.<to>.compacted.json: the actions of the commits from..to (to > from), each file, transaction and domain by its newest one. The commits
 * stay. Where the file is there already, nothing is done: it says the same.
 * @return DELTA_LOG_FILE_NOT_FOUND (a commit of the range is gone), CORRUPT, IO, NO_MEMORY
 */
silt_status delta_log_compact(const delta_env *env, str root, int64_t from, int64_t to, silt_error *err) MUST_CHECK;

#endif
