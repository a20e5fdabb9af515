/** Finding the rows that a condition means: the first half of DELETE, UPDATE and REPLACE WHERE. */
#ifndef OPS_ROW_FIND_H
#define OPS_ROW_FIND_H

#include "ops/dml.h"
#include "ops/internal.h"
#include "table/row_set.h"

typedef struct row_find {
    const op *o;
    const dml_target *target;
    relation *table;       /**< bound, with silt_file and silt_row */
    query *query;          /**< bound: SELECT silt_file, silt_row FROM table WHERE condition */
    bool reads_target_too; /**< a subquery of the condition reads the target */
    size_t n_files;        /**< of the snapshot */
    uint8_t *candidates;   /**< files that may hold such a row */
    uint8_t *whole;        /**< those of them of which every row is one, by the log alone */
    size_t n_candidates, n_whole;
    row_set *rows; /**< of the candidates that are not whole; freed with the operation's arena */
} row_find;

/** Binds `condition` (NULL: every row) over the target and asks the log which files matter. */
silt_status row_find_plan(const op *o, const dml_target *target, expr *condition, row_find *out) MUST_CHECK;
/** Takes the rows found back: an empty set. */
silt_status row_find_clear(row_find *f) MUST_CHECK;
/** Reads the candidates that are not whole. */
silt_status row_find_run(row_find *f) MUST_CHECK;
/**
 * `gone` (a test that a row of `rows` was found) and, where its second evaluation must give the same, the condition before it: it changes nothing but lets the scan leave
 * out row groups and values early. `rows` has the target's columns.
 */
silt_status row_find_narrow(const row_find *f, relation *rows, expr *gone, expr **out) MUST_CHECK;
/**
 * Is the condition over `rows` one that a scan of whole rows tests before it reads the other columns, so that looking for the rows first saves nothing? A part of it must compare a column with a
 * constant; and a second evaluation must give the same.
 */
bool row_find_is_early(const row_find *f, const relation *rows);
/** The condition itself over `rows`, for a search in the same query that takes the rows; only where row_find_is_early. */
silt_status row_find_condition(const row_find *f, relation *rows, expr **out) MUST_CHECK;
/** What was read, for the conflict rules: the condition on partitions, and the candidates. */
silt_status row_find_note_reads(const row_find *f, delta_txn *txn) MUST_CHECK;

/** Lines of EXPLAIN: which files go by the log alone, which are scanned, and `way`, how those with rows found will change. */
silt_status row_find_explain(const row_find *f, const char *what, const char *way, bool extended, buf *out) MUST_CHECK;

/** A REL_TABLE for the target that queries may be bound over by name, reading the files `keep` (NULL: all). Not bound yet. */
silt_status row_find_reference(const op *o, const dml_target *target, const uint8_t *keep, relation **out) MUST_CHECK;
/** Does some FROM item of the query, in subqueries too, read the table of the snapshot, in whatever version? `except` (may be NULL) does not count. */
bool row_find_reads_table(query *q, const delta_snapshot *target, const relation *except);

#endif
