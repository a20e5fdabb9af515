/** Spark's ANSI type coercion: common types, implicit and explicit casts, decimal precision. */
#ifndef EXPR_COERCE_H
#define EXPR_COERCE_H

#include "expr/tree.h"

/** Type that holds both (CASE, coalesce, IN, comparisons, set operations), or NULL. Strings give way to the other side as ANSI mode says. */
const data_type *coerce_common(arena *a, const data_type *x, const data_type *y);
/** As for greatest and least: strings do not mix with other types unless both are strings or void. */
const data_type *coerce_common_apart(arena *a, const data_type *x, const data_type *y);
/** May a function argument of type `from` be cast silently to `to`? */
bool coerce_implicit_ok(const data_type *from, const data_type *to);
/** May CAST(x AS to) be written (ANSI)? */
bool coerce_explicit_ok(const data_type *from, const data_type *to);
/** May INSERT store `from` in a column of type `to` (ANSI store assignment)? */
bool coerce_store_ok(const data_type *from, const data_type *to);
/** Decimal that holds every value of an integral type; of an integer literal: its own digits. NULL for other types. */
const data_type *coerce_decimal_of(arena *a, const data_type *type);
const data_type *coerce_decimal_of_expr(arena *a, const expr *e);
/** Precision beyond 38 is cut as Spark does (allowPrecisionLoss): at least 6 digits of scale stay. */
const data_type *coerce_decimal_adjust(arena *a, int precision, int scale);
/** Smallest decimal that holds both. */
const data_type *coerce_decimal_wider(arena *a, const data_type *x, const data_type *y);
/** Every value of `from` is kept exactly, and the order too. */
bool coerce_is_exact_widening(const data_type *from, const data_type *to);

#endif
