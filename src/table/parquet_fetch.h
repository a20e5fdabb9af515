/**
 * Which bytes of Parquet files a reader needs, and having them at hand: footers first, of all files at once, then the chunks of the wanted columns, of all files at once.
 *
 * What is fetched is what DuckDB 1.5.6 reads of a file for those columns (watched by its system calls, and proven by tests/contract/test_remote_reads.c over files whose other bytes are poison): the last 8 bytes, the footer,
 * whole column chunks, and Bloom filters; it does not read page indexes.
 */
#ifndef TABLE_PARQUET_FETCH_H
#define TABLE_PARQUET_FETCH_H

#include "table/parquet_footer.h"

/** A column or a group of columns by its names from the root; all below it is meant. Names are compared without case, as DuckDB does. */
typedef struct parquet_path {
    const str *names;
    size_t n_names;
} parquet_path;

typedef struct parquet_want {
    str path; /**< in the store */
    int64_t size_bytes; /**< as a log or a listing tells it; one that is not the file's is found out and costs a request */
    str tag;            /**< as in store_sparse */
    bool proves_tag;    /**< so is this */
    int64_t footer_guess; /**< bytes that the footer probably has; 0: unknown */
    bool whole;           /**< all of it is wanted anyway */
    const parquet_path *paths;
    size_t n_paths;
    str local; /**< out: a local path at which it can be read; in the arena given */
    /* from footers to columns */
    int64_t footer_bytes; /**< its length, once it is known; else 0 */
    store_present present; /**< what was there before */
} parquet_want;

/** What the footer of a file of `rows` rows (-1: unknown) and so many columns probably takes. */
int64_t parquet_footer_guess(size_t n_leaves, int64_t rows, int64_t size_bytes);

/**
 * The footers of all files readable at wants[i].local; small files as a whole. Two rounds of requests where a guess was too small, otherwise one. A file without a footer that can be found is fetched whole, for
 * its reader to complain about. *out_failed (may be NULL): the file that an error is about, else n.
 * @return as store_local_ranges
 */
silt_status parquet_fetch_footers(store *s, parquet_want *wants, size_t n, const cancel_token *cancel, arena *a, size_t *out_failed, silt_error *err) MUST_CHECK;
/** After that, with the same arena: the wanted columns too. `local` may be another path then. A file of which all was there before is not asked for again. */
silt_status parquet_fetch_columns(store *s, parquet_want *wants, size_t n, const cancel_token *cancel, arena *a, size_t *out_failed, silt_error *err) MUST_CHECK;

/**
 * The stretches of those columns: ascending. What lies between a chunk and the next thing that the footer names belongs to the chunk where it is not much: writers have left a few bytes out of lengths.
 * `footer_offset` is where the footer begins. false: the footer's places are impossible, or not there: the whole file is needed.
 */
bool parquet_spans(const parquet_footer *f, int64_t footer_offset, const parquet_path *paths, size_t n_paths, arena *a, store_span **out, size_t *out_count);

#endif
