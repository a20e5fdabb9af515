/**
 * INSERT … REPLACE: rows that a condition means leave the table, the query's rows come in, in one commit.
 *
 *     REPLACE WHERE condition      over the table's columns; every new row must satisfy it too
 *     REPLACE ON condition         over a row of the table and one of the query: rows that match some new row leave
 *     REPLACE USING (columns)      the same with equality of those columns
 *
 * Between the assignment of columns (insert.c) and the commit. Internal to ops/.
 */
#ifndef OPS_REPLACE_H
#define OPS_REPLACE_H

#include "ops/row_change.h"
#include "ops/row_find.h"

typedef struct replace_run {
    /* given */
    const op *o;
    const insert_spec *spec;
    const write_options *options;
    /* between replace_begin and replace_apply */
    dml_target target;
    row_find find;
    expr *check;             /**< REPLACE WHERE: the condition once more, unbound, for the new rows */
    table_source *source;    /**< ON, USING: the query's rows, set aside */
    str predicate;           /**< WHERE: how commitInfo and errors name the condition; else null */
    str on_text, using_text; /**< the same of ON and USING */
    bool everything;         /**< WHERE: the condition is the constant TRUE */
    row_change change;
    bool changed; /**< something left or came */
} replace_run;

bool replace_is_asked(const insert_spec *spec, const write_options *options);
/** Binds the condition, before anything is written; for ON and USING *source becomes a query over the rows set aside. */
silt_status replace_begin(replace_run *r, query **source) MUST_CHECK;
/** Finds the rows, writes and stages everything in `txn`. `rows` are the new rows, bound, of exactly the target's columns. */
silt_status replace_apply(replace_run *r, const write_target *t, delta_txn *txn, query *rows) MUST_CHECK;
/** The outcome of a write under `condition`, as Spark tells it: a row that broke a CHECK, NOT NULL, a length or a generated column is one outside of the condition. */
silt_status replace_told(const op *o, str condition, silt_status status) MUST_CHECK;
/** operationMetrics of the WRITE. */
str replace_metrics(const replace_run *r);
void replace_discard(replace_run *r);
void replace_end(replace_run *r);

#endif
