/* From the ranges of a row's columns to its key. */
#include "engine/curve_key.h"

#include <stdlib.h>

#include "engine/curve_bits.h"

/* ranges[i * n + row]: column by column. */
static void fold_ranges(const engine_curve *c, const uint32_t *ranges, size_t n, int64_t *out) {
    for (size_t row = 0; row < n; row++) {
        uint32_t at[CURVE_MAX_COLUMNS];
        for (size_t i = 0; i < c->n_columns; i++) at[i] = ranges[i * n + row];
        out[row] = (int64_t)(c->kind == CURVE_HILBERT ? curve_hilbert(at, c->n_columns, c->bits) : curve_interleave(at, c->n_columns, c->bits));
    }
}

bool curve_keys(const engine_curve *c, const duckdb_vector *columns, size_t n, int64_t *out) {
    if (c->by_value) {
        curve_ranges_values(columns[0], n, out);
        return true;
    }
    uint32_t *ranges = malloc(n * c->n_columns * sizeof *ranges);
    if (!ranges) return false;
    for (size_t i = 0; i < c->n_columns; i++) curve_ranges_of(c->columns[i], columns[i], n, ranges + i * n);
    fold_ranges(c, ranges, n, out);
    free(ranges);
    return true;
}

#define QUANTILES 4096

static bool sample_keys(const engine_curve *c, int64_t *out) {
    size_t n = curve_ranges_sample_rows(c->columns[0]);
    if (c->by_value) {
        curve_ranges_sample_values(c->columns[0], out);
        return true;
    }
    uint32_t *ranges = malloc((n ? n : 1) * c->n_columns * sizeof *ranges);
    if (!ranges) return false;
    for (size_t i = 0; i < c->n_columns; i++) curve_ranges_of_sample(c->columns[i], ranges + i * n);
    fold_ranges(c, ranges, n, out);
    free(ranges);
    return true;
}

static int by_key(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

bool curve_take_quantiles(engine_curve *c) {
    size_t n = curve_ranges_sample_rows(c->columns[0]);
    int64_t *keys = malloc((n ? n : 1) * sizeof *keys);
    if (!keys || !sample_keys(c, keys)) {
        free(keys);
        return false;
    }
    qsort(keys, n, sizeof *keys, by_key);
    c->n_quantiles = n < QUANTILES ? n : QUANTILES;
    for (size_t i = 0; i < c->n_quantiles; i++) keys[i] = keys[i * n / c->n_quantiles]; /* to places before those that are still to be read */
    c->quantiles = keys;
    int64_t *less = realloc(keys, (c->n_quantiles ? c->n_quantiles : 1) * sizeof *keys);
    if (less) c->quantiles = less;
    return true;
}
