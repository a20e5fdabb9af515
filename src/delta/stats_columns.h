/** Which columns have statistics: delta.dataSkippingNumIndexedCols and delta.dataSkippingStatsColumns (notes on Delta's writer; PROTOCOL.md "Per-file Statistics"). */
#ifndef DELTA_STATS_COLUMNS_H
#define DELTA_STATS_COLUMNS_H

#include "delta/actions.h"
#include "table/predicate.h"

/**
 * The columns that delta.dataSkippingStatsColumns names, as paths into m->schema (a struct stands for all of its leaves). *out_has false: the property is absent
 * and the first delta.dataSkippingNumIndexedCols leaves count.
 * @return INVALID (DELTA_COLUMN_NOT_FOUND_IN_SCHEMA), NO_MEMORY
 */
silt_status delta_stats_columns(const delta_metadata *m, arena *arena, const column_path **out, size_t *out_n, bool *out_has, silt_error *err) MUST_CHECK;

/**
 * Types of minValues/maxValues and of nullCount in stats_parsed, named by physical names. NULL where no column belongs into it.
 */
silt_status delta_stats_types(const delta_metadata *m, arena *arena, const data_type **out_bounds, const data_type **out_null_counts, silt_error *err) MUST_CHECK;

#endif
