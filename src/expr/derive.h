/** What a condition on a table's columns says about partition columns that are generated from them. */
#ifndef EXPR_DERIVE_H
#define EXPR_DERIVE_H

#include "expr/expr.h"

/**
 * `p` and what follows from it for the generated partition columns of the relation's table; *out is `p` where nothing does. A part whose value cannot be computed adds
 * nothing: never a failure but NO_MEMORY.
 */
silt_status predicate_derive(const predicate *p, const relation *r, const bind_env *env, arena *a, const predicate **out,
                             silt_error *err) MUST_CHECK;

#endif
