/* Dates and times: truncation, units, fields → values. Local times are microseconds since 1970 without a zone. */
#include "base/time.h"

#include <ctype.h>
#include <math.h>

#include "engine/functions_call.h"

#define SECOND_US 1000000LL
#define DAY_US    86400000000LL

static int64_t floor_div(int64_t x, int64_t y) { return x / y - (x % y != 0 && (x < 0) != (y < 0)); }
static int64_t floor_mod(int64_t x, int64_t y) { return x - floor_div(x, y) * y; }

static void out_of_range(call *c) { call_raise(c, "DATETIME_OVERFLOW", "22008", "Datetime operation overflow."); }

static void ret_date(call *c, idx_t row, int64_t days) {
    if (days < INT32_MIN || days > INT32_MAX)
        out_of_range(c);
    else
        ret_i32(c, row, (int32_t)days);
}

static int days_in_month(int64_t year, int month) {
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    return month == 2 && leap ? 29 : days[month - 1];
}

static int64_t add_months_to(int64_t days, int64_t months) {
    int64_t year;
    int month, day;
    civil_from_days(days, &year, &month, &day);
    int64_t total = year * 12 + (month - 1) + months;
    int64_t y = floor_div(total, 12);
    int m = (int)floor_mod(total, 12) + 1, last = days_in_month(y, m);
    return days_from_civil(y, m, day > last ? last : day);
}

static void date_add(call *c, idx_t row) { ret_date(c, row, (int64_t)call_i32(c, 0, row) + call_i64(c, 1, row)); }
static void add_months(call *c, idx_t row) { ret_date(c, row, add_months_to(call_i32(c, 0, row), call_i32(c, 1, row))); }

static void make_date(call *c, idx_t row) {
    int year = call_i32(c, 0, row), month = call_i32(c, 1, row), day = call_i32(c, 2, row);
    if (month < 1 || month > 12)
        call_raise(c, "DATETIME_FIELD_OUT_OF_BOUNDS.WITH_SUGGESTION", "22023",
                   "Invalid value for MonthOfYear (valid values 1 - 12): %d", month);
    else if (day < 1 || day > days_in_month(year, month))
        call_raise(c, "DATETIME_FIELD_OUT_OF_BOUNDS.WITH_SUGGESTION", "22023", "Invalid date: the month has no day %d", day);
    else
        ret_date(c, row, days_from_civil(year, month, day));
}

/* year, month, day, hour, minute, seconds with a fraction (exact), try */
static void make_timestamp(call *c, idx_t row) {
    int year = call_i32(c, 0, row), month = call_i32(c, 1, row), day = call_i32(c, 2, row), hour = call_i32(c, 3, row),
        minute = call_i32(c, 4, row), scale;
    bool is_try = call_bool(c, 6, row);
    int128 us = 0;
    (void)call_exact(c, 5, row, &us, &scale);
    for (; scale < 6; scale++) us *= 10;
    bool full = us == 60 * SECOND_US; /* 60 seconds without a fraction is the next minute */
    const char *bad = month < 1 || month > 12                       ? "MonthOfYear (valid values 1 - 12)"
                      : day < 1 || day > days_in_month(year, month) ? "DayOfMonth"
                      : hour < 0 || hour > 23                       ? "HourOfDay (valid values 0 - 23)"
                      : minute < 0 || minute > 59                   ? "MinuteOfHour (valid values 0 - 59)"
                      : us < 0 || (us >= 60 * SECOND_US && !full)   ? "SecondOfMinute (valid values 0 - 59)"
                                                                    : NULL;
    if (bad) {
        if (is_try)
            ret_null(c, row);
        else
            call_raise(c, "DATETIME_FIELD_OUT_OF_BOUNDS.WITH_SUGGESTION", "22023", "Invalid value for %s", bad);
        return;
    }
    ret_i64(c, row, days_from_civil(year, month, day) * DAY_US + ((int64_t)hour * 60 + minute) * 60 * SECOND_US + (int64_t)us);
}

static void us_timestamp(call *c, idx_t row) {
    int64_t v;
    if (__builtin_mul_overflow(call_i64(c, 0, row), call_i64(c, 1, row), &v))
        call_raise(c, "ARITHMETIC_OVERFLOW", "22003", "long overflow.");
    else
        ret_i64(c, row, v);
}

/* 1970-01-01 was a Thursday. 0 = Monday. */
static int weekday_of(int64_t days) { return (int)floor_mod(days + 3, 7); }

static void next_day(call *c, idx_t row) {
    static const char *const names[7][3] = {{"MO", "MON", "MONDAY"},   {"TU", "TUE", "TUESDAY"}, {"WE", "WED", "WEDNESDAY"},
                                            {"TH", "THU", "THURSDAY"}, {"FR", "FRI", "FRIDAY"},  {"SA", "SAT", "SATURDAY"},
                                            {"SU", "SUN", "SUNDAY"}};
    int64_t days = call_i32(c, 0, row);
    str name = str_trim(call_str(c, 1, row));
    for (int i = 0; i < 7; i++)
        for (int k = 0; k < 3; k++)
            if (str_eq_ascii_fold(name, str_of(names[i][k]))) {
                int ahead = (i - weekday_of(days) + 7) % 7;
                ret_date(c, row, days + (ahead ? ahead : 7));
                return;
            }
    call_raise(c, "ILLEGAL_DAY_OF_WEEK", "22009", "Illegal input for day of week: %.*s.", STR_ARG(name));
}

/* ---- truncation ---- */

typedef enum unit {
    UNIT_NONE,
    UNIT_MICROSECOND,
    UNIT_MILLISECOND,
    UNIT_SECOND,
    UNIT_MINUTE,
    UNIT_HOUR,
    UNIT_DAY,
    UNIT_WEEK,
    UNIT_MONTH,
    UNIT_QUARTER,
    UNIT_YEAR
} unit;

static unit unit_of(str s, bool truncation) {
    static const struct {
        const char *name;
        unit u;
    } names[] = {
        {"MICROSECOND", UNIT_MICROSECOND},
        {"MILLISECOND", UNIT_MILLISECOND},
        {"SECOND", UNIT_SECOND},
        {"MINUTE", UNIT_MINUTE},
        {"HOUR", UNIT_HOUR},
        {"DAY", UNIT_DAY},
        {"DD", UNIT_DAY},
        {"DAYOFYEAR", UNIT_DAY},
        {"WEEK", UNIT_WEEK},
        {"MONTH", UNIT_MONTH},
        {"MON", UNIT_MONTH},
        {"MM", UNIT_MONTH},
        {"QUARTER", UNIT_QUARTER},
        {"YEAR", UNIT_YEAR},
        {"YYYY", UNIT_YEAR},
        {"YY", UNIT_YEAR},
    };
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (str_eq_ascii_fold(s, str_of(names[i].name))) return names[i].u;
    (void)truncation;
    return UNIT_NONE;
}

static int64_t trunc_days(int64_t days, unit u) {
    int64_t year;
    int month, day;
    if (u == UNIT_WEEK) return days - weekday_of(days);
    civil_from_days(days, &year, &month, &day);
    if (u == UNIT_MONTH) return days_from_civil(year, month, 1);
    if (u == UNIT_QUARTER) return days_from_civil(year, (month - 1) / 3 * 3 + 1, 1);
    if (u == UNIT_YEAR) return days_from_civil(year, 1, 1);
    return days;
}

static void date_trunc(call *c, idx_t row) {
    static const int64_t sizes[] = {[UNIT_MICROSECOND] = 1,         [UNIT_MILLISECOND] = 1000,      [UNIT_SECOND] = SECOND_US,
                                    [UNIT_MINUTE] = 60 * SECOND_US, [UNIT_HOUR] = 3600 * SECOND_US, [UNIT_DAY] = DAY_US};
    unit u = unit_of(call_str(c, 0, row), true);
    int64_t us = call_i64(c, 1, row);
    if (u == UNIT_NONE)
        ret_null(c, row);
    else if (u <= UNIT_DAY)
        ret_i64(c, row, floor_div(us, sizes[u]) * sizes[u]);
    else
        ret_i64(c, row, trunc_days(floor_div(us, DAY_US), u) * DAY_US);
}

static void trunc_date(call *c, idx_t row) {
    unit u = unit_of(call_str(c, 1, row), true);
    if (str_eq_ascii_fold(call_str(c, 1, row), STR("Q"))) u = UNIT_NONE;
    if (u < UNIT_WEEK)
        ret_null(c, row);
    else
        ret_date(c, row, trunc_days(call_i32(c, 0, row), u));
}

/* ---- units ---- */

static void add_unit(call *c, idx_t row) {
    str name = call_str(c, 0, row);
    int64_t n = call_i32(c, 1, row), us = call_i64(c, 2, row), size = 0, out;
    unit u = unit_of(name, false);
    switch (u) {
        case UNIT_MICROSECOND: size = 1; break;
        case UNIT_MILLISECOND: size = 1000; break;
        case UNIT_SECOND: size = SECOND_US; break;
        case UNIT_MINUTE: size = 60 * SECOND_US; break;
        case UNIT_HOUR: size = 3600 * SECOND_US; break;
        case UNIT_DAY: size = DAY_US; break;
        case UNIT_WEEK: size = 7 * DAY_US; break;
        case UNIT_MONTH:
        case UNIT_QUARTER:
        case UNIT_YEAR: {
            int64_t days = floor_div(us, DAY_US), months = n * (u == UNIT_MONTH ? 1 : u == UNIT_QUARTER ? 3 : 12);
            ret_i64(c, row, add_months_to(days, months) * DAY_US + floor_mod(us, DAY_US));
            return;
        }
        case UNIT_NONE:
            call_raise(c, "INVALID_PARAMETER_VALUE.DATETIME_UNIT", "22023", "The unit %.*s is not known.", STR_ARG(name));
            return;
    }
    if (__builtin_mul_overflow(n, size, &size) || __builtin_add_overflow(us, size, &out))
        out_of_range(c);
    else
        ret_i64(c, row, out);
}

/* Whole months from a to b, as java.time.temporal.ChronoUnit counts them. */
static int64_t whole_months(int64_t a, int64_t b) {
    int64_t ya, yb, da = floor_div(a, DAY_US), db = floor_div(b, DAY_US);
    int ma, mb, x, y;
    civil_from_days(da, &ya, &ma, &x);
    civil_from_days(db, &yb, &mb, &y);
    int64_t months = (yb * 12 + mb) - (ya * 12 + ma);
    int64_t ta = (int64_t)x * DAY_US + floor_mod(a, DAY_US), tb = (int64_t)y * DAY_US + floor_mod(b, DAY_US);
    if (months > 0 && tb < ta)
        months--;
    else if (months < 0 && tb > ta)
        months++;
    return months;
}

static void diff_unit(call *c, idx_t row) {
    str name = call_str(c, 0, row);
    int64_t a = call_i64(c, 1, row), b = call_i64(c, 2, row);
    switch (unit_of(name, false)) {
        case UNIT_MICROSECOND: ret_i64(c, row, b - a); return;
        case UNIT_MILLISECOND: ret_i64(c, row, (b - a) / 1000); return;
        case UNIT_SECOND: ret_i64(c, row, (b - a) / SECOND_US); return;
        case UNIT_MINUTE: ret_i64(c, row, (b - a) / (60 * SECOND_US)); return;
        case UNIT_HOUR: ret_i64(c, row, (b - a) / (3600 * SECOND_US)); return;
        case UNIT_DAY: ret_i64(c, row, (b - a) / DAY_US); return;
        case UNIT_WEEK: ret_i64(c, row, (b - a) / (7 * DAY_US)); return;
        case UNIT_MONTH: ret_i64(c, row, whole_months(a, b)); return;
        case UNIT_QUARTER: ret_i64(c, row, whole_months(a, b) / 3); return;
        case UNIT_YEAR: ret_i64(c, row, whole_months(a, b) / 12); return;
        case UNIT_NONE:
            call_raise(c, "INVALID_PARAMETER_VALUE.DATETIME_UNIT", "22023", "The unit %.*s is not known.", STR_ARG(name));
            return;
    }
}

/* Same day of the month, or both last days: whole months; else in parts of 31 days with the time of day. */
static void months_between(call *c, idx_t row) {
    int64_t a = call_i64(c, 0, row), b = call_i64(c, 1, row), ya, yb, da = floor_div(a, DAY_US), db = floor_div(b, DAY_US);
    int ma, mb, x, y;
    civil_from_days(da, &ya, &ma, &x);
    civil_from_days(db, &yb, &mb, &y);
    double months = (double)((ya * 12 + ma) - (yb * 12 + mb));
    if (x == y || (x == days_in_month(ya, ma) && y == days_in_month(yb, mb))) {
        ret_f64(c, row, months);
        return;
    }
    int64_t seconds =
        (int64_t)(x - y) * 86400 + floor_div(floor_mod(a, DAY_US), SECOND_US) - floor_div(floor_mod(b, DAY_US), SECOND_US);
    double v = months + (double)seconds / (31.0 * 86400.0);
    ret_f64(c, row, call_bool(c, 2, row) ? round(v * 1e8) / 1e8 : v);
}

static const call_def defs[] = {
    {"silt_date_add", date_add, "Dl", 'D', CALL_RAISES},
    {"silt_add_months", add_months, "Di", 'D', CALL_RAISES},
    {"silt_make_date", make_date, "iii", 'D', CALL_RAISES},
    {"silt_make_timestamp", make_timestamp, "iiiii*b", 't', CALL_RAISES},
    {"silt_us_timestamp", us_timestamp, "ll", 'z', CALL_RAISES},
    {"silt_next_day", next_day, "Ds", 'D', CALL_RAISES},
    {"silt_date_trunc", date_trunc, "st", 't', 0},
    {"silt_trunc", trunc_date, "Ds", 'D', CALL_RAISES},
    {"silt_add_unit", add_unit, "sit", 't', CALL_RAISES},
    {"silt_diff_unit", diff_unit, "stt", 'l', CALL_RAISES},
    {"silt_months_between", months_between, "ttb", 'd', 0},
};

const call_group calls_datetime = {defs, ARRAY_LEN(defs)};
