/*
 * Data skipping: can a row of this file make the predicate TRUE?
 *
 * The idea. For one file, a predicate is evaluated to the SET of outcomes that its rows may have, out of TRUE, FALSE and NULL,
 * always a superset of what really occurs. A file is skipped when TRUE is not in the set. Because a leaf says separately whether
 * TRUE, FALSE and NULL are possible, NOT merely swaps the first two and needs no pushing down to the leaves: NOT (a < 5) is as
 * sharp as a >= 5, and nulls stay nulls. AND and OR combine each pair of outcomes by three-valued logic; taking the children as
 * independent only makes the set larger.
 *
 * Rejected: rewriting the tree into negation normal form and asking only "may be true". It needs an inverse for every leaf (NOT
 * IN, NOT LIKE, NOT <=>) and cannot answer predicate_all_match.
 *
 * What a leaf rests on (Delta protocol, "Per-file Statistics"):
 * - min and max enclose the non-null values of live rows, tight or not, cut strings or not: they are used as bounds only, never
 *   as values that occur. NE can be refuted only when min = max = literal: then nothing else fits between.
 * - nullCount = 0 means no live row is null; nullCount = numRecords means every live row is null. Both hold also when tightBounds
 *   is false (deleting rows cannot break "all" or "none"). A count in between proves nothing: IS NULL and IS NOT NULL are both
 *   possible. So tightBounds is not asked at all.
 * - a missing bound, count or column is unknown and widens the set.
 */
#include "table/predicate.h"

#include <math.h>

enum { MAY_TRUE = 1, MAY_FALSE = 2, MAY_NULL = 4, MAY_ALL = 7 };
typedef unsigned outcomes;

/* What is known of one column of one file. */
typedef struct column_range {
    bool may_null, may_value; /* some row may be null / not null */
    bool has_min, has_max;
    value min, max; /* every non-null value v: min <= v <= max, but for NaN where nan_above */
    bool nan_above; /* NaN may occur although max is below it */
} column_range;

static bool is_floating(const data_type *t) { return t->id == TYPE_FLOAT || t->id == TYPE_DOUBLE; }
static bool is_timestamp(const data_type *t) { return t->id == TYPE_TIMESTAMP || t->id == TYPE_TIMESTAMP_NTZ; }

/*
 * Nulls. Counts that contradict each other (negative, more nulls than records) are no counts. A file of 0 records has neither
 * nulls nor values, so that nothing matches.
 */
static void read_nulls(const stats_source *s, column_path column, column_range *r) {
    int64_t nulls, records;
    r->may_null = r->may_value = true;
    bool has_records = s->num_records && s->num_records(s, &records) && records >= 0;
    if (!s->null_count || !s->null_count(s, column, &nulls) || nulls < 0 || (has_records && nulls > records)) return;
    r->may_null = nulls > 0;
    r->may_value = !has_records || nulls < records;
}

/*
 * Statistics cut timestamps to the millisecond at or before them, the maximum too: the true maximum is up to 999 µs later.
 * Harmless where a writer kept microseconds.
 */
static void widen_timestamp_max(value *max) {
    if (__builtin_add_overflow(max->as.i64, (int64_t)999, &max->as.i64)) max->as.i64 = INT64_MAX;
}

/*
 * Floating point. Spark counts NaN as the greatest value and writes "NaN" as the maximum; but writers that take their bounds from
 * a Parquet footer leave NaN out, and their files cannot be told apart. So a maximum other than NaN says nothing of NaN: it
 * bounds the numbers only. A minimum of NaN (Spark: all values are NaN) is right either way. ±0 compare equal.
 */
static void read_bounds(const stats_source *s, column_path column, const data_type *type, column_range *r) {
    bool comparable;
    r->has_min = s->min && s->min(s, column, type, &r->min) && !r->min.is_null;
    r->has_max = s->max && s->max(s, column, type, &r->max) && !r->max.is_null;
    if (r->has_max && is_timestamp(r->max.type)) widen_timestamp_max(&r->max);
    r->nan_above = is_floating(type) && !(r->has_max && is_floating(r->max.type) && isnan(r->max.as.f64));
    if (!r->has_min || !r->has_max) return;
    int order = value_compare(&r->min, &r->max, &comparable);
    if (!comparable || order > 0) r->has_min = r->has_max = false; /* nonsense: trust neither */
}

static void read_column(const stats_source *s, const predicate *p, column_range *r) {
    value v;
    *r = (column_range){0};
    if (!s->constant || !s->constant(s, p->column, p->column_type, &v)) {
        read_nulls(s, p->column, r);
        read_bounds(s, p->column, p->column_type, r);
        return;
    }
    r->may_null = v.is_null;
    r->may_value = r->has_min = r->has_max = !v.is_null;
    r->min = r->max = v;
}

static double as_double(const value *v) {
    if (is_floating(v->type)) return v->as.f64;
    return v->type->id == TYPE_DECIMAL ? (double)v->as.decimal / pow(10, v->type->scale) : (double)v->as.i64;
}

/* How far rounding may move a number of this exact type where it meets a FLOAT or DOUBLE, as a share of its size. */
static double rounding_share(const data_type *exact, const data_type *floating) {
    if (exact->id == TYPE_BYTE || exact->id == TYPE_SHORT) return 0; /* exact even in float */
    if (floating->id == TYPE_FLOAT) return 1e-6;                     /* float or double, by ANSI mode */
    return exact->id == TYPE_DECIMAL ? 1e-12 : 0;                    /* a whole number's cast is one rounding, always the same */
}

static double give_way(double bound, double share) { return isfinite(bound) ? bound + fabs(bound) * share : bound; }

/*
 * Where a whole or decimal number meets a FLOAT or DOUBLE (column against literal, either way round), the query compares after a
 * cast to floating point that rounds: numbers that differ may count as equal (d = 0.1 with the decimal 0.1, long =
 * 9007199254740992.0). So the comparison is made in double here too. The cast keeps the order, hence bounds stay bounds; where
 * engines may round differently the bounds give way by far more than any rounding.
 */
static void meet_as_doubles(column_range *r, const data_type *column_type, value *literal) {
    bool floating_column = is_floating(column_type);
    if (floating_column == is_floating(literal->type) || !type_is_numeric(column_type) || !type_is_numeric(literal->type)) return;
    double share = floating_column ? rounding_share(literal->type, column_type) : rounding_share(column_type, literal->type);
    if (r->has_min) r->min = (value){.type = &type_double, .as.f64 = give_way(as_double(&r->min), -share)};
    if (r->has_max) r->max = (value){.type = &type_double, .as.f64 = give_way(as_double(&r->max), share)};
    *literal = (value){.type = &type_double, .as.f64 = as_double(literal)};
}

/* Order of the bound and the literal as -1, 0, 1; false when the bound is missing or they cannot be compared. */
static bool order_of(bool has, const value *bound, const value *literal, int *out) {
    bool comparable;
    if (!has) return false;
    int order = value_compare(bound, literal, &comparable);
    *out = (order > 0) - (order < 0);
    return comparable;
}

/*
 * Outcomes of `v op literal` over the non-null values v. Each test reads: TRUE (FALSE) is possible unless the bound refutes it
 * for every v. With lo = order(min, literal) and hi = order(max, literal):
 *   =  : TRUE unless lo > 0 or hi < 0;   FALSE unless lo = hi = 0
 *   <  : TRUE unless lo >= 0;            FALSE unless hi < 0
 *   <= : TRUE unless lo > 0;             FALSE unless hi <= 0
 * and <>, >=, > are their negations. NaN above the maximum is an extra value: it is = only to NaN, and < or <= nothing but NaN.
 */
static outcomes compare_values(predicate_kind kind, const column_range *range, const data_type *column_type, const value *with) {
    column_range r = *range;
    value literal = *with;
    int lo = 0, hi = 0;
    meet_as_doubles(&r, column_type, &literal);
    bool has_lo = order_of(r.has_min, &r.min, &literal, &lo), has_hi = order_of(r.has_max, &r.max, &literal, &hi);
    bool t, f;
    switch (kind) {
        case PRED_LT:
        case PRED_GE:
            t = !(has_lo && lo >= 0);
            f = !(has_hi && hi < 0);
            break;
        case PRED_LE:
        case PRED_GT:
            t = !(has_lo && lo > 0);
            f = !(has_hi && hi <= 0);
            break;
        default: /* EQ, NE, EQ_NULL_SAFE, IN */
            t = !(has_lo && lo > 0) && !(has_hi && hi < 0);
            f = !(has_lo && lo == 0 && has_hi && hi == 0);
            break;
    }
    if (r.nan_above) {
        bool literal_is_nan = is_floating(literal.type) && isnan(literal.as.f64);
        bool nan_true = literal_is_nan && kind != PRED_LT && kind != PRED_GE; /* NaN = NaN, NaN <= NaN */
        t |= nan_true;
        f |= !nan_true;
    }
    bool negated = kind == PRED_NE || kind == PRED_GE || kind == PRED_GT;
    return (t ? (negated ? MAY_FALSE : MAY_TRUE) : 0u) | (f ? (negated ? MAY_TRUE : MAY_FALSE) : 0u);
}

/* CHAR(n) is stored unpadded but compared padded, an order that bounds do not have; nested values have no bounds. */
static bool is_decidable(const data_type *column_type) { return !column_type->is_char && !type_is_nested(column_type); }

static outcomes compare(const predicate *p, const column_range *r) {
    const value *literal = &p->literals[0];
    if (literal->is_null) return MAY_NULL;
    outcomes values = is_decidable(p->column_type) ? compare_values(p->kind, r, p->column_type, literal) : MAY_TRUE | MAY_FALSE;
    return (r->may_value ? values : 0u) | (r->may_null ? MAY_NULL : 0u);
}

static outcomes is_null(const column_range *r) { return (r->may_null ? MAY_TRUE : 0u) | (r->may_value ? MAY_FALSE : 0u); }

/* <=> never gives NULL: null <=> null is TRUE, null <=> value FALSE. */
static outcomes compare_null_safe(const predicate *p, const column_range *r) {
    if (p->literals[0].is_null) return is_null(r);
    outcomes values =
        is_decidable(p->column_type) ? compare_values(PRED_EQ, r, p->column_type, &p->literals[0]) : MAY_TRUE | MAY_FALSE;
    return (r->may_value ? values : 0u) | (r->may_null ? MAY_FALSE : 0u);
}

/*
 * IN: TRUE if one literal may be equal; FALSE unless one literal must be equal; a null column gives NULL, and so does a null in
 * the list wherever FALSE would stand (1 IN (2, NULL) is NULL).
 */
static outcomes in_list(const predicate *p, const column_range *r) {
    bool has_null = p->has_null, may_equal = false, must_equal = false;
    for (size_t i = 0; i < p->n_literals; i++) {
        if (p->literals[i].is_null) {
            has_null = true;
            continue;
        }
        outcomes one =
            is_decidable(p->column_type) ? compare_values(PRED_EQ, r, p->column_type, &p->literals[i]) : MAY_TRUE | MAY_FALSE;
        may_equal |= (one & MAY_TRUE) != 0;
        must_equal |= !(one & MAY_FALSE);
    }
    outcomes otherwise = has_null ? MAY_NULL : MAY_FALSE;
    outcomes values = (may_equal ? MAY_TRUE : 0u) | (must_equal ? 0u : otherwise);
    return (r->may_value ? values : 0u) | (r->may_null ? MAY_NULL : 0u);
}

/* The first n bytes: their order against a prefix of n bytes is that of the string against all strings with the prefix. */
static str cut(str s, size_t n) { return s.len > n ? str_slice(s, 0, n) : s; }

/*
 * LIKE 'prefix%'. The strings with a prefix are an interval of the bytewise order. TRUE is possible unless max lies before or min
 * after it; FALSE unless both lie inside. Holds for cut bounds as well: they are bounds.
 */
static outcomes starts_with(const predicate *p, const column_range *r) {
    const value *literal = &p->literals[0];
    if (literal->is_null) return MAY_NULL;
    outcomes values = MAY_TRUE | MAY_FALSE;
    if (literal->type->id == TYPE_STRING && p->column_type->id == TYPE_STRING && is_decidable(p->column_type)) {
        str prefix = literal->as.bytes;
        bool has_lo = r->has_min && r->min.type->id == TYPE_STRING, has_hi = r->has_max && r->max.type->id == TYPE_STRING;
        int lo = has_lo ? str_cmp(cut(r->min.as.bytes, prefix.len), prefix) : -1;
        int hi = has_hi ? str_cmp(cut(r->max.as.bytes, prefix.len), prefix) : 1;
        values = (lo <= 0 && hi >= 0 ? MAY_TRUE : 0u) | (lo == 0 && hi == 0 ? 0u : MAY_FALSE);
    }
    return (r->may_value ? values : 0u) | (r->may_null ? MAY_NULL : 0u);
}

static outcomes leaf(const predicate *p, const stats_source *s) {
    column_range r;
    read_column(s, p, &r);
    switch (p->kind) {
        case PRED_EQ:
        case PRED_NE:
        case PRED_LT:
        case PRED_LE:
        case PRED_GT:
        case PRED_GE: return compare(p, &r);
        case PRED_EQ_NULL_SAFE: return compare_null_safe(p, &r);
        case PRED_IN: return in_list(p, &r);
        case PRED_IS_NULL: return is_null(&r);
        case PRED_IS_NOT_NULL: return (r.may_value ? MAY_TRUE : 0u) | (r.may_null ? MAY_FALSE : 0u);
        case PRED_STARTS_WITH: return starts_with(p, &r);
        default: return MAY_ALL;
    }
}

static outcomes negate(outcomes a) { return (a & MAY_TRUE ? MAY_FALSE : 0u) | (a & MAY_FALSE ? MAY_TRUE : 0u) | (a & MAY_NULL); }

/* FALSE if either is; TRUE if both are; NULL if one is NULL and the other not FALSE. OR is the same by De Morgan. */
static outcomes both(outcomes a, outcomes b) {
    outcomes out = (a | b) & MAY_FALSE;
    if (a & b & MAY_TRUE) out |= MAY_TRUE;
    if ((a & MAY_NULL && b & (MAY_NULL | MAY_TRUE)) || (b & MAY_NULL && a & MAY_TRUE)) out |= MAY_NULL;
    return out;
}

/* The depth of the tree is bounded by the SQL parser's. */
static outcomes evaluate(const predicate *p, const stats_source *s) {
    outcomes out;
    switch (p->kind) {
        case PRED_UNKNOWN: return MAY_ALL;
        case PRED_TRUE: return MAY_TRUE;
        case PRED_FALSE: return MAY_FALSE;
        case PRED_NOT: return negate(evaluate(p->children[0], s));
        case PRED_AND:
            out = MAY_TRUE;
            for (size_t i = 0; i < p->n_children && out != MAY_FALSE; i++) out = both(out, evaluate(p->children[i], s));
            return out;
        case PRED_OR:
            out = MAY_TRUE; /* of the negations */
            for (size_t i = 0; i < p->n_children && out != MAY_FALSE; i++) out = both(out, negate(evaluate(p->children[i], s)));
            return negate(out);
        default: return leaf(p, s);
    }
}

static bool is_empty_file(const stats_source *s) {
    int64_t records;
    return s->num_records && s->num_records(s, &records) && records == 0;
}

bool predicate_may_match(const predicate *p, const stats_source *stats) {
    return !is_empty_file(stats) && (evaluate(p, stats) & MAY_TRUE) != 0;
}

bool predicate_all_match(const predicate *p, const stats_source *stats) { return evaluate(p, stats) == MAY_TRUE; }
