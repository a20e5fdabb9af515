/** The rows of a small query as values. Internal to ops/. */
#ifndef OPS_QUERY_VALUES_H
#define OPS_QUERY_VALUES_H

#include "ops/internal.h"

typedef struct query_values {
    value *items; /**< row by row, n_columns each; in o->a */
    size_t n, capacity, n_columns;
} query_values;

/** Run a bound query of columns without nesting (predicates are pushed here) and take all of its rows. */
silt_status ops_query_values(const op *o, query *q, query_values *out) MUST_CHECK;

#endif
