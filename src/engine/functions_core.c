/* The guard, zones with a fixed offset, checks of indexes, intervals. */
#include <math.h>

#include "base/time.h"
#include "engine/functions_call.h"

static void never(call *c, idx_t row) { ret_bool(c, row, false); }

/* TIMESTAMPTZ ↔ TIMESTAMP: the same microseconds, moved by the zone's offset. Infinities of DuckDB do not come from Spark's data. */
static void local(call *c, idx_t row) {
    ret_i64(c, row, (int64_t)((uint64_t)call_i64(c, 0, row) + (uint64_t)call_i64(c, 1, row)));
}
static void zoned(call *c, idx_t row) {
    ret_i64(c, row, (int64_t)((uint64_t)call_i64(c, 0, row) - (uint64_t)call_i64(c, 1, row)));
}

/* a[i], from 0 → DuckDB's position from 1. */
static void array_index(call *c, idx_t row) {
    int64_t i = call_i64(c, 0, row), n = call_i64(c, 1, row);
    if (i < 0 || i >= n)
        call_raise(c, "INVALID_ARRAY_INDEX", "22003",
                   "The index %lld is out of bounds. The array has %lld elements. Use the SQL function get() to tolerate "
                   "accessing element at invalid index and return NULL instead.",
                   (long long)i, (long long)n);
    else
        ret_i64(c, row, i + 1);
}

/* element_at(a, i): from 1, negative from the end. */
static void element_index(call *c, idx_t row) {
    int64_t i = call_i64(c, 0, row), n = call_i64(c, 1, row);
    bool tolerant = call_bool(c, 2, row);
    if (i == 0)
        call_raise(c, "INVALID_INDEX_OF_ZERO", "22003",
                   "The index 0 is invalid. An index shall be either < 0 or > 0 (the first element has index 1).");
    else if (i > n || i < -n) {
        if (tolerant)
            ret_null(c, row);
        else
            call_raise(c, "INVALID_ARRAY_INDEX_IN_ELEMENT_AT", "22003",
                       "The index %lld is out of bounds. The array has %lld elements. Use try_element_at to tolerate accessing "
                       "element at invalid index and return NULL instead.",
                       (long long)i, (long long)n);
    } else
        ret_i64(c, row, i);
}

/* slice(a, start, length): where it begins, from 1; length checked. 0 when nothing is left. */
static void slice_start(call *c, idx_t row) {
    int64_t start = call_i64(c, 0, row), length = call_i64(c, 1, row), n = call_i64(c, 2, row);
    if (start == 0)
        call_raise(c, "INVALID_PARAMETER_VALUE.START", "22023",
                   "The value of parameter(s) `start` in `slice` is invalid: Expects a positive or a negative value for `start`, "
                   "but got 0.");
    else if (length < 0)
        call_raise(c, "INVALID_PARAMETER_VALUE.LENGTH", "22023",
                   "The value of parameter(s) `length` in `slice` is invalid: Expects `length` greater than or equal to 0, but "
                   "got %lld.",
                   (long long)length);
    else {
        int64_t first = start > 0 ? start : n + start + 1;
        ret_i64(c, row, first < 1 || first > n ? n + 1 : first);
    }
}

static void no_negative_zero(call *c, idx_t row) {
    double v = call_f64(c, 0, row);
    ret_f64(c, row, fpclassify(v) == FP_ZERO ? 0.0 : v);
}

static void remainder_of(call *c, idx_t row) {
    int64_t x = call_i64(c, 0, row), y = call_i64(c, 1, row);
    if (y == 0)
        call_raise(c, "REMAINDER_BY_ZERO", "22012",
                   "Remainder by zero. Use try_mod to tolerate a divisor of 0 and return NULL instead.");
    else
        ret_i64(c, row, y == -1 ? 0 : x % y);
}

static void floor_div(call *c, idx_t row) {
    int64_t x = call_i64(c, 0, row), y = call_i64(c, 1, row);
    ret_i64(c, row, x / y - (x % y != 0 && (x < 0) != (y < 0)));
}

/* ---- intervals: day-time ones are microseconds only ---- */

#define DAY_US 86400000000LL

static int64_t interval_us_of(duckdb_interval v) { return (int64_t)v.days * DAY_US + v.micros; }

static void interval_us(call *c, idx_t row) {
    ret_interval(c, row, (duckdb_interval){0, 0, interval_us_of(call_interval(c, 0, row))});
}

static void interval_rest(call *c, idx_t row) {
    ret_interval(c, row, (duckdb_interval){0, 0, interval_us_of(call_interval(c, 0, row)) % DAY_US});
}

static void overflow(call *c) {
    call_raise(c, "INTERVAL_ARITHMETIC_OVERFLOW.WITHOUT_SUGGESTION", "22015", "Integer overflow while operating with intervals.");
}

static void scaled_interval(call *c, idx_t row, double by) {
    duckdb_interval v = call_interval(c, 0, row);
    double months = (double)v.months * by, us = (double)interval_us_of(v) * by;
    months = round(months);
    us = round(us);
    if (!(fabs(months) < 2147483648.0) || !(fabs(us) < 9.2e18))
        overflow(c);
    else
        ret_interval(c, row, (duckdb_interval){(int32_t)months, 0, (int64_t)us});
}

static void interval_multiply(call *c, idx_t row) { scaled_interval(c, row, call_f64(c, 1, row)); }

static void interval_divide(call *c, idx_t row) {
    double by = call_f64(c, 1, row);
    if (fpclassify(by) == FP_ZERO)
        call_raise(c, "INTERVAL_DIVIDED_BY_ZERO", "22012",
                   "Division by zero. Use try_divide to tolerate a divisor of 0 and return NULL instead.");
    else {
        duckdb_interval v = call_interval(c, 0, row);
        double months = round((double)v.months / by), us = round((double)interval_us_of(v) / by);
        if (!(fabs(months) < 2147483648.0) || !(fabs(us) < 9.2e18))
            overflow(c);
        else
            ret_interval(c, row, (duckdb_interval){(int32_t)months, 0, (int64_t)us});
    }
}

static void interval_part(call *c, idx_t row) {
    duckdb_interval v = call_interval(c, 0, row);
    str part = call_str(c, 1, row);
    int64_t us = interval_us_of(v);
    if (str_eqz(part, "months"))
        ret_i64(c, row, v.months);
    else if (str_eqz(part, "year"))
        ret_i64(c, row, v.months / 12);
    else if (str_eqz(part, "month"))
        ret_i64(c, row, v.months % 12);
    else if (str_eqz(part, "day"))
        ret_i64(c, row, us / DAY_US);
    else if (str_eqz(part, "hour"))
        ret_i64(c, row, us % DAY_US / 3600000000LL);
    else if (str_eqz(part, "minute"))
        ret_i64(c, row, us % 3600000000LL / 60000000LL);
    else if (str_eqz(part, "seconds"))
        ret_i64(c, row, us / 1000000);
    else
        ret_i64(c, row, us % 60000000LL); /* microseconds of the minute */
}

static void number_interval(call *c, idx_t row) {
    double v = call_f64(c, 0, row);
    bool ym = str_eqz(call_str(c, 1, row), "ym");
    double scaled = ym ? round(v) : round(v * 1e6);
    if (!(fabs(scaled) < (ym ? 2147483648.0 : 9.2e18)))
        overflow(c);
    else
        ret_interval(c, row, ym ? (duckdb_interval){(int32_t)scaled, 0, 0} : (duckdb_interval){0, 0, (int64_t)scaled});
}

static const call_def defs[] = {
    {"silt_never", never, "", 'b', CALL_VOLATILE},
    {"silt_local", local, "zl", 't', 0},
    {"silt_zoned", zoned, "tl", 'z', 0},
    {"silt_array_index", array_index, "ll", 'l', CALL_RAISES},
    {"silt_element_index", element_index, "llb", 'l', CALL_RAISES},
    {"silt_slice_start", slice_start, "lll", 'l', CALL_RAISES},
    {"silt_no_negative_zero", no_negative_zero, "d", 'd', 0},
    {"silt_remainder", remainder_of, "ll", 'l', CALL_RAISES},
    {"silt_floor_div", floor_div, "ll", 'l', 0},
    {"silt_interval_us", interval_us, "v", 'v', 0},
    {"silt_interval_rest", interval_rest, "v", 'v', 0},
    {"silt_interval_multiply", interval_multiply, "vd", 'v', CALL_RAISES},
    {"silt_interval_divide", interval_divide, "vd", 'v', CALL_RAISES},
    {"silt_interval_part", interval_part, "vs", 'l', 0},
    {"silt_number_interval", number_interval, "ds", 'v', CALL_RAISES},
};

const call_group calls_core = {defs, ARRAY_LEN(defs)};
