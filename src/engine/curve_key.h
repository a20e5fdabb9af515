/** A curve's inside: its columns' ranges, and the keys of rows. */
#ifndef ENGINE_CURVE_KEY_H
#define ENGINE_CURVE_KEY_H

#include "engine/curve.h"
#include "engine/curve_ranges.h"
#include "engine/internal.h"

struct engine_curve {
    engine *engine;
    uint64_t id; /**< 0: not registered */
    curve_kind kind;
    size_t n_columns;
    curve_ranges *columns[CURVE_MAX_COLUMNS];
    int bits;      /**< of a range's number */
    bool by_value; /**< one column, whose values are the keys */
    int64_t *quantiles; /**< of the sample's keys, ascending: what a sorter needs to know of them */
    size_t n_quantiles;
};

/** Keys of rows [0, n), one vector per column. false when memory ran out. */
bool curve_keys(const engine_curve *c, const duckdb_vector *columns, size_t n, int64_t *out);
/** Once the ranges are there: the quantiles of the sample's keys. false when memory ran out. */
bool curve_take_quantiles(engine_curve *c);

/** The curve of an expression that engine_curve_key made, NULL for any other. */
const engine_curve *curve_of_key(engine *e, const expr *key);

#endif
