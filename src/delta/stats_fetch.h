/** Statistics of files, fetched from where they stayed: tokens of the log, or the columns of a checkpoint. */
#ifndef DELTA_STATS_FETCH_H
#define DELTA_STATS_FETCH_H

#include "delta/delta.h"
#include "delta/file_batch.h"

/** `k` is the index into the rows asked for; stats is {NULL,0} when the file has none, and lives for the call. */
typedef silt_status (*stats_fn)(void *ctx, uint32_t k, str stats, silt_error *err);

/**
 * Call fn for rows[0, n) of a batch, ascending (rows NULL: 0 … n-1), with the statistics' JSON text. Statistics that a checkpoint
 * has only as columns (stats_parsed) are written as JSON. Log files are read in windows around the tokens, checkpoints as one
 * stream of that column.
 * @return NOT_FOUND (DELTA_LOG_FILE_NOT_FOUND: the log was cleaned up), CORRUPT, IO (also STORE_OBJECT_CHANGED: the checkpoint was written again since, with other rows; perhaps after some were told), NO_MEMORY, or what
 *         fn returned
 */
silt_status stats_fetch(const delta_env *env, const file_batch *b, const uint32_t *rows, uint32_t n, stats_fn fn, void *ctx,
                        silt_error *err) MUST_CHECK;

/** numRecords of a statistics text; false when it is not there. `scratch` is used where the text has to be parsed. */
bool stats_num_records(str stats, arena *scratch, int64_t *out);

#endif
