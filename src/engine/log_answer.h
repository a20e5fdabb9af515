/** Queries that the log alone answers. */
#ifndef ENGINE_LOG_ANSWER_H
#define ENGINE_LOG_ANSWER_H

#include "engine/run.h"

/**
 * count(*), count(1), and min and max of plain columns over one table, without WHERE (or with one that decides whole files by partition values), grouping or joins.
 * When *out_answered, r->sql is a SELECT of constants and the report tells so.
 */
silt_status log_answer(running_query *r, bool *out_answered, scan_report **out_reports, size_t *out_count,
                       silt_error *err) MUST_CHECK;

#endif
