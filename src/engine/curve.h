/**
 * Keys by which rows are ordered along a space-filling curve over several columns. A sample of the rows tells where each column's values are cut into ranges of about as many rows
 * each (as Delta's range_partition_id); a row's key is made of the numbers of its ranges, bit by bit.
 *
 * Ranges and not the values themselves: columns of unlike types and skewed values get an equal say, and any type that has an order will do.
 */
#ifndef ENGINE_CURVE_H
#define ENGINE_CURVE_H

#include "engine/engine.h"

typedef enum curve_kind {
    CURVE_ZORDER, /**< the bits interleaved */
    CURVE_HILBERT /**< neighbours on the curve are neighbours in space; of one column: its own order */
} curve_kind;

#define CURVE_MAX_COLUMNS 63 /**< a key has 63 bits: beyond that no column would get one */

typedef struct engine_curve engine_curve;

/** A type that has ranges: every atomic one but variants and intervals. */
bool engine_curve_takes(const data_type *type);
/**
 * Runs `sample` (bound; its columns are those of the curve, at most CURVE_MAX_COLUMNS; expr_push_predicates has run) and keeps its rows in memory: it must be small.
 * `ranges`: into how many a column is cut, at least 2; rounded up to a power of two, and down to what the key has room for.
 */
silt_status engine_curve_open(engine *e, query *sample, const bind_env *env, curve_kind kind, int64_t ranges, engine_curve **out, silt_error *err) MUST_CHECK;
void engine_curve_close(engine_curve *c); /**< NULL is fine; no query may use its keys any more */
/** Bound BIGINT NOT NULL: the key of a row with such values. `columns` are bound, of the sample's types and number. */
silt_status engine_curve_key(const engine_curve *c, expr *const *columns, arena *a, expr **out, silt_error *err) MUST_CHECK;
/** Bound BOOLEAN NOT NULL: one row of `every`, always the same ones. `file` and `row` are bound BIGINT (silt_file, silt_row). */
silt_status engine_curve_sampled(int64_t every, expr *file, expr *row, arena *a, expr **out, silt_error *err) MUST_CHECK;

#endif
