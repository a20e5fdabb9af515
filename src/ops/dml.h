/** DELETE, UPDATE and TRUNCATE: from a parsed statement whose target is open to a commit. */
#ifndef OPS_DML_H
#define OPS_DML_H

#include "ops/ops.h"

/** The table that a statement changes. */
typedef struct dml_target {
    str table_name, root;
    const delta_snapshot *snapshot;
    const relation *reference;  /**< as written: name, alias, place in the text; not bound */
    cte_def *ctes, *ctes_again; /**< WITH … in front of the statement, two trees of it: a tree is bound once */
    size_t n_ctes;
    bool recursive;
} dml_target;

typedef struct delete_spec {
    dml_target target;
    expr *condition; /**< unbound; NULL: all rows. Bound in place */
} delete_spec;

/** column = value */
typedef struct update_item {
    name_parts column; /**< [table.]column[.field…] */
    source_span span;
    expr *value; /**< unbound, may be DEFAULT. Bound in place */
} update_item;

typedef struct update_spec {
    dml_target target;
    const update_item *items;
    size_t n_items;
    expr *condition;
} update_spec;

typedef struct dml_result {
    int64_t version; /**< -1: nothing to do, nothing was committed */
    int64_t rows;    /**< deleted or updated; -1: not known, because whole files went whose row count is not in the log */
} dml_result;

silt_status ops_delete(const ops_env *env, const delete_spec *spec, dml_result *out, silt_error *err) MUST_CHECK;
silt_status ops_update(const ops_env *env, const update_spec *spec, dml_result *out, silt_error *err) MUST_CHECK;
silt_status ops_truncate(const ops_env *env, const dml_target *target, dml_result *out, silt_error *err) MUST_CHECK;
/** Lines that tell which files would be read, and which way rows would be changed. */
silt_status ops_explain_delete(const ops_env *env, const delete_spec *spec, bool extended, buf *out, silt_error *err) MUST_CHECK;
silt_status ops_explain_update(const ops_env *env, const update_spec *spec, bool extended, buf *out, silt_error *err) MUST_CHECK;

#endif
