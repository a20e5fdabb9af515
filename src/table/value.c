/*
 * The order of single values: Spark's sort order, exact across the numeric types.
 *
 * Numbers of different types are compared by their mathematical values, never by converting one into the other's type, since a
 * conversion that rounds can make different numbers equal. (A query that says CAST(long AS DOUBLE) = x means the rounded one: the
 * predicates take care of that, see predicate.c.)
 */
#include "table/value.h"

#include <math.h>

#define US_PER_DAY ((int64_t)86400 * 1000000)

static int sign_of(bool less, bool greater) { return greater - less; }
static int compare_i128(int128 a, int128 b) { return sign_of(a<b, a> b); }

static int compare_f64(double a, double b) {
    if (isnan(a) || isnan(b)) return (isnan(a) != 0) - (isnan(b) != 0);
    return sign_of(a<b, a> b);
}

/* A number of whole or decimal type as unscaled / 10^scale. */
typedef struct exact {
    int128 unscaled;
    int128 unit; /* 10^scale */
} exact;

static exact exact_of(const value *v) {
    exact e = {.unscaled = v->type->id == TYPE_DECIMAL ? v->as.decimal : v->as.i64, .unit = 1};
    int scale = v->type->id == TYPE_DECIMAL ? v->type->scale : 0;
    for (int i = 0; i < scale; i++) e.unit *= 10;
    return e;
}

/* Whole parts first; the remainders then fit into 128 bits at the larger unit (< 10^38). */
static int compare_exact(exact a, exact b) {
    int whole = compare_i128(a.unscaled / a.unit, b.unscaled / b.unit);
    if (whole) return whole;
    int128 ra = a.unscaled % a.unit, rb = b.unscaled % b.unit;
    if (a.unit < b.unit)
        ra *= b.unit / a.unit;
    else
        rb *= a.unit / b.unit;
    return compare_i128(ra, rb);
}

/*
 * a against the exact value of the double d. The whole parts compare as integers. The fractions compare bit by bit: doubling a
 * double and doubling a remainder below 10^38 in unsigned 128 bits are both exact. At most ~1,100 steps, usually a few.
 */
static int compare_exact_f64(exact a, double d) {
    if (isnan(d)) return -1;
    if (d >= 0x1p127) return -1; /* beyond every 38-digit number */
    if (d < -0x1p127) return 1;
    double whole_d = trunc(d), fraction = fabs(d - whole_d);
    int whole = compare_i128(a.unscaled / a.unit, (int128)whole_d);
    if (whole) return whole;

    bool negative = a.unscaled < 0 || d < 0; /* equal whole parts: of one sign, or zero */
    if ((a.unscaled < 0) != (d < 0) && a.unscaled != 0 && d != 0) return a.unscaled < 0 ? -1 : 1;
    int128 r = a.unscaled % a.unit;
    unsigned __int128 remainder = (unsigned __int128)(r < 0 ? -r : r), unit = (unsigned __int128)a.unit;
    int order = 0;
    while (order == 0 && (remainder || fraction != 0)) {
        remainder *= 2;
        fraction *= 2;
        bool bit_a = remainder >= unit, bit_d = fraction >= 1;
        if (bit_a) remainder -= unit;
        if (bit_d) fraction -= 1;
        order = (int)bit_a - (int)bit_d;
        if (fraction == 0 && remainder) order = order ? order : 1;
        if (remainder == 0 && fraction != 0) order = order ? order : -1;
    }
    return negative ? -order : order;
}

static bool is_floating(const data_type *t) { return t->id == TYPE_FLOAT || t->id == TYPE_DOUBLE; }

static int compare_numbers(const value *a, const value *b) {
    bool fa = is_floating(a->type), fb = is_floating(b->type);
    if (fa && fb) return compare_f64(a->as.f64, b->as.f64);
    if (fa) return -compare_exact_f64(exact_of(b), a->as.f64);
    if (fb) return compare_exact_f64(exact_of(a), b->as.f64);
    if (a->type->id != TYPE_DECIMAL && b->type->id != TYPE_DECIMAL) return compare_i128(a->as.i64, b->as.i64);
    return compare_exact(exact_of(a), exact_of(b));
}

static bool is_local_time(const data_type *t) { return t->id == TYPE_DATE || t->id == TYPE_TIMESTAMP_NTZ; }
static int128 local_us(const value *v) { return v->type->id == TYPE_DATE ? (int128)v->as.i64 * US_PER_DAY : v->as.i64; }

int value_compare(const value *a, const value *b, bool *out_comparable) {
    const data_type *ta = a->type, *tb = b->type;
    *out_comparable = !a->is_null && !b->is_null;
    if (!*out_comparable) return 0;
    if (type_is_numeric(ta) && type_is_numeric(tb)) return compare_numbers(a, b);
    if (is_local_time(ta) && is_local_time(tb)) return compare_i128(local_us(a), local_us(b));
    if (ta->id == tb->id) {
        switch (ta->id) {
            case TYPE_BOOLEAN: return (int)a->as.boolean - (int)b->as.boolean;
            case TYPE_STRING:
            case TYPE_BINARY: return str_cmp(a->as.bytes, b->as.bytes);
            case TYPE_TIMESTAMP:
            case TYPE_INTERVAL_YM:
            case TYPE_INTERVAL_DT: return compare_i128(a->as.i64, b->as.i64);
            default: break;
        }
    }
    *out_comparable = false;
    return 0;
}
