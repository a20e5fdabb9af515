/** The ranges of one column of a curve: a sample of its values, where the ranges end, and in which one a value falls. */
#ifndef ENGINE_CURVE_RANGES_H
#define ENGINE_CURVE_RANGES_H

#include "engine/duckdb_extra.h"
#include "table/value.h"

/** How values are compared: all fixed-width types as whole numbers in the type's order. */
typedef enum range_form { RANGE_I64, RANGE_I128, RANGE_BYTES } range_form;

typedef struct curve_ranges curve_ranges;

bool curve_ranges_take(const data_type *type);
curve_ranges *curve_ranges_new(const data_type *type); /**< NULL on exhaustion */
void curve_ranges_free(curve_ranges *r);               /**< NULL is fine */
range_form curve_ranges_form(const curve_ranges *r);

/** Rows [0, n) of a flat vector of the column's type; false on exhaustion. */
bool curve_ranges_sample(curve_ranges *r, duckdb_vector vector, size_t n);
/** Ends the sample: 2^bits ranges of about as many rows. Nulls come first. false on exhaustion. */
bool curve_ranges_end(curve_ranges *r, int bits);
/** The ranges of rows [0, n): numbers in [0, 2^bits). */
void curve_ranges_of(const curve_ranges *r, duckdb_vector vector, size_t n, uint32_t *out);
/** The ranges of the sample's own rows, in the order in which they came. */
void curve_ranges_of_sample(const curve_ranges *r, uint32_t *out);
size_t curve_ranges_sample_rows(const curve_ranges *r);
/** Frees the sample: only the bounds are needed from now on. false on exhaustion. */
bool curve_ranges_drop_sample(curve_ranges *r);
/** Only RANGE_I64: the values themselves, nulls as the least. */
void curve_ranges_values(duckdb_vector vector, size_t n, int64_t *out);
void curve_ranges_sample_values(const curve_ranges *r, int64_t *out);

#endif
