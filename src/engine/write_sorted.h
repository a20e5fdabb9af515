/** A write whose rows are ordered by the key of a curve: they go through a sorter (row_sorter.h) instead of an ORDER BY. */
#ifndef ENGINE_WRITE_SORTED_H
#define ENGINE_WRITE_SORTED_H

#include "engine/curve_key.h"
#include "engine/row_sorter.h"
#include "engine/run.h"

typedef struct write_sorted write_sorted;

/** The curve by whose key alone the query is ordered, NULL for any other order. */
const engine_curve *write_sorted_curve(engine *e, const query *q);
/** The query without its order, its key as one more column behind the others. */
silt_status write_sorted_query(arena *a, const query *q, query **out, silt_error *err) MUST_CHECK;
/** Every row is of the same partition, as far as the scans tell; and the columns' types can be kept. */
bool write_sorted_is_possible(const write_spec *spec, const running_query *r);
/**
 * Runs `r` (r->sql printed from such a query) and keeps its rows. *out NULL: the rows were not dealt out as they should have been, and must be sorted otherwise.
 * `bytes`, `rows`: of the files that are read; rows < 0: not known.
 */
silt_status write_sorted_run(running_query *r, const engine_curve *curve, const write_spec *spec, int64_t bytes, int64_t rows, write_sorted **out, silt_error *err) MUST_CHECK;
row_sorter *write_sorted_rows(write_sorted *s);
void write_sorted_free(write_sorted *s); /**< NULL is fine */

silt_status engine_register_sorted(engine *e, duckdb_connection connection, silt_error *err) MUST_CHECK;

#endif
