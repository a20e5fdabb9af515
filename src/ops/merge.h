/** MERGE INTO: rows of a source decide what becomes of the rows of a table. */
#ifndef OPS_MERGE_H
#define OPS_MERGE_H

#include "ops/dml.h"

typedef enum merge_when { WHEN_MATCHED, WHEN_NOT_MATCHED, WHEN_NOT_MATCHED_BY_SOURCE } merge_when;
typedef enum merge_action { MERGE_DELETE, MERGE_UPDATE, MERGE_INSERT } merge_action;

/** One WHEN clause as written; trees are bound in place. */
typedef struct merge_clause {
    merge_when when;
    merge_action action;
    expr *condition;          /**< NULL: none */
    bool star;                /**< SET *, INSERT * */
    const str *except;        /**< columns that the star leaves out */
    size_t n_except;
    const update_item *items; /**< else column = value, of an INSERT too */
    size_t n_items;
} merge_clause;

typedef struct merge_spec {
    dml_target target;
    query *source;            /**< bound: SELECT * FROM the source as written, behind the statement's WITH */
    relation *source_reference; /**< as written: alias and name, which qualify its columns */
    expr *on;
    merge_clause *clauses;    /**< matched, then not matched, then not matched by source */
    size_t n_clauses;
    bool evolve;              /**< WITH SCHEMA EVOLUTION */
} merge_spec;

typedef struct merge_result {
    int64_t version;          /**< -1: nothing changed, nothing was committed */
    int64_t updated, deleted, inserted;
    ops_result note;          /**< only `note`: what else there is to tell */
} merge_result;

silt_status ops_merge(const ops_env *env, const merge_spec *spec, merge_result *out, silt_error *err) MUST_CHECK;
/** Lines that tell the clauses, the join, the files that would be read and the way rows would be changed. */
silt_status ops_explain_merge(const ops_env *env, const merge_spec *spec, bool extended, buf *out, silt_error *err) MUST_CHECK;

#endif
