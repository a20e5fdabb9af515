/**
 * Rows put in the order of a whole number, in memory of a given size: dealt out by ranges of the key to buckets, of which the later pages go to a temporary file, and then sorted
 * bucket by bucket.
 *
 *     row_sorter_new(…)
 *     row_sorter_join(…), row_sorter_deal(…)   by any number of threads, each with a part of its own
 *     row_sorter_next(…)                       chunk by chunk, by one thread at a time, once all have been dealt
 *     row_sorter_free(…)
 *
 * Why not ORDER BY: a sort of whole rows takes as long as writing them. Since it is known beforehand how keys are distributed (a curve has its sample), rows need to be copied but
 * twice, and only what lies in one bucket is sorted, as pairs of key and place.
 */
#ifndef ENGINE_ROW_SORTER_H
#define ENGINE_ROW_SORTER_H

#include "engine/row_layout.h"

typedef struct row_sorter row_sorter;
typedef struct row_dealer row_dealer; /**< one thread's part; freed with the sorter */

typedef struct row_sorter_options {
    const int64_t *sample; /**< keys of some rows, ascending; none: all keys are one bucket's. Borrowed for the call */
    size_t n_sample;
    int64_t bytes;              /**< about, of all rows in memory: decides about the number of buckets */
    int64_t memory_bytes;       /**< kept in memory at most, but for one bucket that is being sorted */
    int threads;                /**< that deal, at most */
    const char *temp_directory; /**< borrowed */
} row_sorter_options;

row_sorter *row_sorter_new(const row_sorter_options *options); /**< NULL on exhaustion */
void row_sorter_free(row_sorter *s);                           /**< NULL is fine */
row_dealer *row_sorter_join(row_sorter *s);                    /**< NULL on exhaustion */
/** Rows [0, n) of the flat vectors; always as many columns of the same types. */
silt_status row_sorter_deal(row_dealer *d, const duckdb_vector *columns, size_t n_columns, const int64_t *keys, size_t n, silt_error *err) MUST_CHECK;
int64_t row_sorter_rows(row_sorter *s);
/** The next rows, ascending by key; rows of one key in any order. NULL at the end; end a chunk with duckdb_destroy_data_chunk. */
silt_status row_sorter_next(row_sorter *s, duckdb_data_chunk *out, silt_error *err) MUST_CHECK;

#endif
