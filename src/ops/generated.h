/**
 * Generated columns (PROTOCOL.md "Generated Columns"): delta.generationExpression in a column's metadata. A value that is not given is computed
 * from the row's other columns; one that is given must be equal to what would be computed (checks.c raises otherwise).
 */
#ifndef OPS_GENERATED_H
#define OPS_GENERATED_H

#include "ops/internal.h"

/** Whether the column is generated, and its expression's text as it was written. */
bool ops_is_generated(const field *f, arena *a, str *out_text);
bool ops_has_generated(const data_type *schema, arena *a);

/** Which values of a query over the table's columns nobody gave. Only generated columns are looked at. */
typedef struct generated_missing {
    const bool *always; /**< per column: given in no row; NULL: none */
    const int32_t *
        in_rows; /**< per column: number of a BOOLEAN column of the query, behind the table's, that is true in the rows without; -1: none; NULL: none */
} generated_missing;
/**
 * The query with those values computed. Its first columns are exactly the schema's; what stands behind them stays behind them, untouched.
 * *out is `q` where there is nothing to compute.
 *
 * An UPDATE or MERGE says `always` of every column that it does not assign: a generated column follows its base columns, the old value never stays.
 * Behind it ops_checks_wrap checks what was given.
 */
silt_status ops_generated_wrap(const op *o, const data_type *schema, query *q, const generated_missing *missing,
                               query **out) MUST_CHECK;

/**
 * The outcome of binding what a SET assigns, which leaves out the generated column `left_out` (NULL: none): a cast that is not possible is told as Spark tells it there, where that
 * column's expression is looked at first and fails with it.
 */
silt_status ops_generated_refused(const op *o, const field *left_out, silt_status status) MUST_CHECK;
/** The columns of a new or changed schema may be generated so: allowed expressions, over columns of the table that are not generated themselves, of the column's
 * type, no default and no identity beside it. */
silt_status ops_generated_validate(const op *o, const data_type *schema) MUST_CHECK;
/** The first generated column whose expression uses the column (a top-level name), {NULL,0} when none does: it must not be dropped, renamed or change its type. */
silt_status ops_generated_find(const op *o, const data_type *schema, str column, str *out_generated) MUST_CHECK;

#endif
