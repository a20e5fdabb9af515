/** One MERGE while it is planned and run: what the files ops/merge*.c share. */
#ifndef OPS_MERGE_RUN_H
#define OPS_MERGE_RUN_H

#include "ops/identity.h"
#include "ops/merge.h"
#include "ops/row_change.h"
#include "ops/row_find.h"

/** A side of the join: `scope` is what expressions are bound over (no hidden columns), `rows` what is read in the end; columns have the same numbers. */
typedef struct merge_side {
    relation scope;
    relation *rows;
} merge_side;

/** column[.field…] = value, bound over the sides. */
typedef struct merge_assignment {
    const str *path; /**< names; path[0] is the column */
    size_t depth;
    expr *value;     /**< NULL: DEFAULT */
    source_span span;
    bool keeps_target_fields; /**< of UPDATE SET * with evolution: fields that the source's struct lacks keep their value */
} merge_assignment;

typedef struct bound_clause {
    const merge_clause *clause;
    expr *condition; /**< NULL: none */
    merge_assignment *items;
    size_t n_items;
} bound_clause;

/** An equality between the sides that a join can hash on. */
typedef struct merge_key {
    expr *target, *source; /**< the two sides of `equality`, which are its arguments */
    expr *equality;
    bool null_safe;
} merge_key;

/** The parts of ON. */
typedef struct merge_on {
    expr **target_only, **source_only; /**< conjuncts over one side */
    expr **compared;                   /**< that compare something of one side with something of the other (t.a < s.a) */
    expr **residual;                   /**< other ones */
    size_t n_target_only, n_source_only, n_compared, n_residual;
    merge_key *keys;
    size_t n_keys;
} merge_on;

/** The column numbers of the set of changes behind the table's columns. */
typedef struct change_layout {
    size_t action, file, row, row_id, missing;
    size_t source_file, source_row; /**< only with merge_reread.values */
    size_t n;
} change_layout;

/** merge_reread.c: new rows that are read from the source by place. */
typedef struct merge_reread {
    expr **values;       /**< per column of the final schema, over the source's scope; NULL: the changes have values themselves */
    table_scan files;    /**< of the source */
    size_t n_files;      /**< 1 + the greatest scan_file.index */
    store_entry *before; /**< of the files before the join, NULL: they do not change */
    row_set *taken;      /**< rows of the source that become rows of the target */
    bool taken_twice;    /**< one of them more than once */
    uint64_t taken_id;
} merge_reread;

typedef struct merge_run {
    const op *o;
    const merge_spec *spec;
    const data_type *schema;     /**< of the table as it is */
    bool evolve;
    bool has_matched, has_not_matched, has_by_source, insert_only, matched_only, one_plain_delete;
    merge_side target, source;
    relation both;               /**< the two scopes */
    expr *on;
    merge_on parts;
    bound_clause *clauses;
    bool reads_target_too;       /**< the source, or a subquery, reads the target */
    str predicate;               /**< ON as commitInfo shows it */
    str *conditions;             /**< of the clauses, {NULL,0} for none */

    /* pruning */
    size_t n_files;
    uint8_t *keep;               /**< files that are read */
    size_t n_keep, pruned_by_partition, pruned_by_stats;
    const predicate *read;       /**< what rows may matter; NULL: all */
    int64_t n_source_rows;
    table_source *kept_source;   /**< the source set aside, NULL: it is read as it is */

    /* the set of changes */
    query *changes;
    change_layout layout;
    merge_reread reread;
    identity_run identity;
    table_source *found;         /**< the changes, materialised */
    row_set *gone, *deleted;     /**< rows of the target that a clause takes, and those of them that do not come back */
    row_set *left;               /**< rows with a match that no clause takes */
    uint64_t gone_id, deleted_id;
    int64_t n_rows, matched_updated, matched_deleted, by_source_updated, by_source_deleted, inserted;

    row_change change;
    ops_result change_note;      /**< what a protocol upgrade has to tell */
    bool metadata_changed;       /**< other than by identity columns */
    int64_t started_ms, found_ms, written_ms, source_ms;
} merge_run;

/* ---- merge_bind.c: names ---- */
/** The clauses' expressions over the sides; assignments with stars expanded. */
silt_status merge_bind(merge_run *m) MUST_CHECK;

/* ---- merge_schema.c: evolution ---- */
/** Sets the change's target to the table as the statement leaves it. */
silt_status merge_evolve(merge_run *m) MUST_CHECK;

/* ---- merge_values.c ---- */
/** Column `c` of the final schema in the rows that the clause (an UPDATE or INSERT) makes, bound over the scopes. */
silt_status merge_value(merge_run *m, const bound_clause *c, size_t column, expr **out) MUST_CHECK;
/** Does the clause leave the column to the table (generated and identity columns)? */
bool merge_leaves(const merge_run *m, const bound_clause *c, size_t column);
/** Assignments that contradict one another, or cannot be made. */
silt_status merge_check_values(merge_run *m) MUST_CHECK;

/** merge.c: sets the source aside unless it can be read again for nothing. `is_asked`: its values are about to decide which files matter. */
silt_status merge_keep_source(merge_run *m, bool is_asked) MUST_CHECK;

/* ---- merge_prune.c ---- */
/** Which files of the target are read, by the conditions alone (`with_source` false) or by the source's values too; the source may be set aside for it. */
silt_status merge_prune(merge_run *m, bool with_source) MUST_CHECK;

/* ---- merge_plan.c ---- */
/** The query whose rows are the changes: final columns, action, place, … */
silt_status merge_plan(merge_run *m) MUST_CHECK;
/** The source must be set aside with a number per row, as its last column: see merge_plan.c. */
bool merge_numbers_source(const merge_run *m);
/** The name of the join, for EXPLAIN. */
const char *merge_join_name(const merge_run *m);

/* ---- merge_reread.c ---- */
/** Sets reread.values if new rows may be read from the source by place; `values` [column][clause], NULL: the clause makes no row. */
silt_status merge_reread_decide(merge_run *m, expr ***values) MUST_CHECK;
/** The source's columns, numbered as in its scope, and behind them the file and the row of each row. */
silt_status merge_reread_source(merge_run *m, relation **out) MUST_CHECK;
/** A row of the source becomes a row of the target. */
silt_status merge_reread_take(merge_run *m, size_t file, uint64_t row) MUST_CHECK;
/** The query of the new rows, once all are taken. */
silt_status merge_reread_rows(merge_run *m, query **out) MUST_CHECK;
/** After the write: MERGE_SOURCE_CHANGED where the files are not the same any more. */
silt_status merge_reread_check(merge_run *m) MUST_CHECK;

/* ---- merge.c ---- */
/** Does a row of the changes, as `rows` has them, become a row of the target? NULL where no clause makes rows. */
silt_status merge_makes_rows(merge_run *m, relation *rows, expr **out) MUST_CHECK;
/** Runs the query into a table of the engine's own, which lives as long as the operation. */
silt_status merge_set_aside(const op *o, query *q, table_source **out) MUST_CHECK;

#endif
