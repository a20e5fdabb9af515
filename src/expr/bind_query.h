/** Pieces of query binding in files of their own. */
#ifndef EXPR_BIND_QUERY_H
#define EXPR_BIND_QUERY_H

#include "expr/bind.h"

/** GROUP BY: ordinals, aliases, ALL, sets; q->group_items become bound expressions. */
silt_status bind_group_by(binder *b, scope *s, query *q) MUST_CHECK;
/** HAVING without GROUP BY makes one group of all: the select list must not name columns outside aggregates. */
silt_status bind_check_ungrouped(binder *b, query *q) MUST_CHECK;
/** Every column outside an aggregate must be grouped by; sets q->has_aggregates. */
silt_status bind_check_aggregation(binder *b, query *q) MUST_CHECK;

#endif
