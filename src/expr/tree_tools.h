/** Tree helpers shared inside `expr`: comparison, copies, walks over one query's own expressions. */
#ifndef EXPR_TREE_TOOLS_H
#define EXPR_TREE_TOOLS_H

#include "expr/tree.h"

/** Same meaning by structure: columns by what they are bound to (not by how many levels out), names without case. Subqueries are equal only to themselves. */
bool expr_equal(const expr *a, const expr *b);
/** A copy of all nodes; subqueries are shared with the original. NULL on exhaustion. */
expr *expr_clone(const expr *e, arena *a);
window_spec *window_clone(const window_spec *w, arena *a);
/** Every expression that belongs to the query itself, not to its FROM clause and not into subqueries. */
bool query_walk_exprs(query *q, bool (*fn)(void *ctx, expr *e), void *ctx);
/** Every expression of a FROM item (ON, generator calls, VALUES), not into subqueries. */
bool relation_walk_exprs(relation *r, bool (*fn)(void *ctx, expr *e), void *ctx);

#endif
