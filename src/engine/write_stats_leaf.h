/** Minimum, maximum and number of nulls of one column, vector by vector. */
#ifndef ENGINE_WRITE_STATS_LEAF_H
#define ENGINE_WRITE_STATS_LEAF_H

#include "engine/internal.h"

/** The rows of a chunk that are not null, its parents' nulls counted in. */
typedef struct row_mask {
    const uint64_t *words; /**< NULL: all valid; else a bit per row of the vector (not of the range) */
    uint64_t own[2048 / 64];
} row_mask;

/** false only when the vector is longer than the mask (never in DuckDB's standard build). */
bool row_mask_combine(row_mask *out, const row_mask *parent, duckdb_vector vector, size_t from, size_t to);

/** A kept string: its first bytes, more than any bound needs. */
typedef struct kept_text {
    char *bytes;
    size_t len, capacity;
    uint32_t head; /**< first four bytes, big endian, zero-padded: decides most comparisons */
} kept_text;

typedef struct stats_leaf {
    const data_type *type;
    size_t prefix; /**< of strings, in characters */
    int64_t nulls;
    bool has_value;
    int128 low, high; /**< integers, dates, timestamps, decimals */
    double float_low, float_high;
    bool has_number, has_nan; /**< floats */
    kept_text text_low, text_high;
} stats_leaf;

void stats_leaf_init(stats_leaf *l, const data_type *type, size_t prefix);
void stats_leaf_dispose(stats_leaf *l);
void stats_leaf_reset(stats_leaf *l);
bool stats_leaf_add(stats_leaf *l, duckdb_vector vector, const row_mask *mask, size_t from, size_t to, bool bounded);
bool stats_leaf_merge(stats_leaf *into, const stats_leaf *other);
/** The bound as JSON; false when there is none (no value, or a maximum that cannot be written). */
bool stats_leaf_write(const stats_leaf *l, bool is_max, buf *out);

#endif
