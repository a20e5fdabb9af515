/*
 * Dates and times in the proleptic Gregorian calendar, written and read as Spark does (SparkDateTimeUtils, TimestampFormatter).
 *
 * The civil calendar is computed in 400-year eras that start on the 1st of March, so that the leap day is the last of its year
 * and a month's first day is a linear formula. Spark bounds a year to seven digits in a date and six in a timestamp, which fits
 * 32-bit days; any 64-bit count of microseconds is a valid timestamp.
 */
#include "base/time.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define US_PER_SECOND INT64_C(1000000)
#define US_PER_DAY    (INT64_C(86400) * US_PER_SECOND)

static int64_t clock_us(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return (int64_t)t.tv_sec * US_PER_SECOND + t.tv_nsec / 1000;
}

int64_t time_now_us(void) { return clock_us(CLOCK_REALTIME); }
int64_t time_now_ms(void) { return time_now_us() / 1000; }
int64_t time_monotonic_ms(void) { return clock_us(CLOCK_MONOTONIC) / 1000; }

/* For b > 0, and without an overflow in between: any count of microseconds is a timestamp. */
static int64_t floor_div(int64_t a, int64_t b) { return a / b - (a % b < 0); }
static int64_t floor_mod(int64_t a, int64_t b) { return a % b + (a % b < 0 ? b : 0); }

int64_t days_from_civil(int64_t year, int month, int day) {
    if (month <= 2) year--;
    int64_t era = floor_div(year, 400);
    int64_t year_of_era = year - era * 400;
    int64_t day_of_year = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1;
    return era * 146097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719468;
}

void civil_from_days(int64_t days, int64_t *year, int *month, int *day) {
    days += 719468; /* from 0000-03-01 */
    int64_t era = floor_div(days, 146097);
    int64_t day_of_era = days - era * 146097;
    int64_t year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
    int64_t day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    int64_t shifted = (5 * day_of_year + 2) / 153; /* 0 is March */
    *day = (int)(day_of_year - (153 * shifted + 2) / 5 + 1);
    *month = (int)(shifted < 10 ? shifted + 3 : shifted - 9);
    *year = year_of_era + era * 400 + (*month <= 2);
}

/* ---- writing ---- */

/* The digits of value >= 0, at least `width` of them; returns behind them. By hand: results have millions of these. */
static char *put_number(char *p, int64_t value, int width) {
    char digits[20];
    int n = 0;
    for (; value > 0 || n < width; value /= 10) digits[n++] = (char)('0' + value % 10);
    while (n > 0) *p++ = digits[--n];
    return p;
}

static char *put_date(char *p, int64_t days) {
    int64_t year;
    int month, day;
    civil_from_days(days, &year, &month, &day);
    if (year < 0 || year > 9999) *p++ = year < 0 ? '-' : '+';
    p = put_number(p, year < 0 ? -year : year, 4);
    *p++ = '-';
    p = put_number(p, month, 2);
    *p++ = '-';
    return put_number(p, day, 2);
}

static char *put_seconds(char *p, int64_t us, char separator) {
    int seconds = (int)(floor_mod(us, US_PER_DAY) / US_PER_SECOND);
    p = put_date(p, floor_div(us, US_PER_DAY));
    *p++ = separator;
    p = put_number(p, seconds / 3600, 2);
    *p++ = ':';
    p = put_number(p, seconds / 60 % 60, 2);
    *p++ = ':';
    return put_number(p, seconds % 60, 2);
}

#define TEXT_MAX 64 /* a 64-bit year is the longest part */

void time_write_date(buf *out, int64_t days) {
    char text[TEXT_MAX];
    buf_append_bytes(out, text, (size_t)(put_date(text, days) - text));
}

void time_write_timestamp(buf *out, int64_t us, char separator, int fraction_digits, const char *suffix) {
    char text[TEXT_MAX], *p = put_seconds(text, us, separator);
    int64_t fraction = floor_mod(us, US_PER_SECOND);
    if (fraction_digits > 0) *p++ = '.';
    if (fraction_digits == 3) p = put_number(p, fraction / 1000, 3);
    else if (fraction_digits == 6) p = put_number(p, fraction, 6);
    buf_append_bytes(out, text, (size_t)(p - text));
    buf_append_z(out, suffix);
}

void time_write_timestamp_short(buf *out, int64_t us, char separator) {
    char text[TEXT_MAX], *p = put_seconds(text, us, separator);
    int64_t fraction = floor_mod(us, US_PER_SECOND);
    if (fraction > 0) {
        *p++ = '.';
        p = put_number(p, fraction, 6);
        while (p[-1] == '0') p--;
    }
    buf_append_bytes(out, text, (size_t)(p - text));
}

/* ---- reading ---- */

/* UTF8String.trimAll: white space and ISO controls, at both ends. */
static str trim_all(str s) {
    while (s.len && ((unsigned char)s.ptr[0] <= ' ' || s.ptr[0] == 0x7f)) s = str_slice(s, 1, s.len);
    while (s.len && ((unsigned char)s.ptr[s.len - 1] <= ' ' || s.ptr[s.len - 1] == 0x7f)) s.len--;
    return s;
}

/* Between `least` and `most` digits off the front of *s. */
static bool take_number(str *s, size_t least, size_t most, int64_t *out) {
    size_t n = 0;
    int64_t value = 0;
    while (n < s->len && s->ptr[n] >= '0' && s->ptr[n] <= '9') {
        if (n == most) return false;
        value = value * 10 + (s->ptr[n++] - '0');
    }
    if (n < least) return false;
    *s = str_slice(*s, n, s->len);
    *out = value;
    return true;
}

static bool take_char(str *s, char c) {
    if (s->len == 0 || s->ptr[0] != c) return false;
    *s = str_slice(*s, 1, s->len);
    return true;
}

static bool is_valid_day(int64_t year, int64_t month, int64_t day) {
    static const uint8_t lengths[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    if (month < 1 || month > 12 || day < 1) return false;
    bool leap = month == 2 && year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    return day <= lengths[month - 1] + (leap ? 1 : 0);
}

/* [+-]y{4,max}[-M{1,2}[-d{1,2}]] off the front; *out_parts is how many of the three were there. */
static bool take_date(str *s, size_t max_year_digits, int64_t *out_days, int *out_parts) {
    bool negative = take_char(s, '-');
    if (!negative) take_char(s, '+');
    int64_t year, month = 1, day = 1;
    if (!take_number(s, 4, max_year_digits, &year)) return false;
    *out_parts = 1;
    if (take_char(s, '-')) {
        if (!take_number(s, 1, 2, &month)) return false;
        *out_parts = 2;
        if (take_char(s, '-')) {
            if (!take_number(s, 1, 2, &day)) return false;
            *out_parts = 3;
        }
    }
    if (negative) year = -year;
    if (!is_valid_day(year, month, day)) return false;
    *out_days = days_from_civil(year, (int)month, (int)day);
    return true;
}

bool time_parse_date(str s, int64_t *out_days) {
    int64_t days;
    int parts;
    s = trim_all(s);
    if (!take_date(&s, 7, &days, &parts)) return false;
    bool more_is_fine = parts == 3 && s.len > 0 && (s.ptr[0] == ' ' || s.ptr[0] == 'T');
    if (s.len > 0 && !more_is_fine) return false;
    if (days < INT32_MIN || days > INT32_MAX) return false; /* DATE is 32 bits of days */
    *out_days = days;
    return true;
}

/* .f*: any number of digits, those behind the sixth are dropped. */
static int64_t take_fraction(str *s) {
    int64_t value = 0;
    int digits = 0;
    for (; s->len > 0 && s->ptr[0] >= '0' && s->ptr[0] <= '9'; *s = str_slice(*s, 1, s->len))
        if (digits < 6) value = value * 10 + (s->ptr[0] - '0'), digits++;
    for (; digits < 6; digits++) value *= 10;
    return value;
}

/* h{1,2}[:m{1,2}[:s{1,2}[.f*]]]; a zone may follow only behind the seconds. */
static bool take_time(str *s, int64_t *out_us, bool *out_may_have_zone) {
    int64_t hour, minute = 0, second = 0, fraction = 0;
    if (!take_number(s, 1, 2, &hour)) return false;
    *out_may_have_zone = false;
    if (take_char(s, ':')) {
        if (!take_number(s, 1, 2, &minute)) return false;
        if (take_char(s, ':')) {
            if (!take_number(s, 1, 2, &second)) return false;
            *out_may_have_zone = true;
            if (take_char(s, '.')) fraction = take_fraction(s);
        }
    }
    if (hour > 23 || minute > 59 || second > 59) return false;
    *out_us = ((hour * 60 + minute) * 60 + second) * US_PER_SECOND + fraction;
    return true;
}

bool time_parse_timestamp(str s, int64_t *out_us, bool *out_has_zone) {
    int64_t days, time_us = 0;
    int32_t offset = 0;
    int parts;
    bool may_have_zone = false, has_zone = false;
    s = trim_all(s);
    if (!take_date(&s, 6, &days, &parts)) return false;
    if (s.len > 0) {
        if (parts != 3 || !(take_char(&s, ' ') || take_char(&s, 'T'))) return false;
        if (!take_time(&s, &time_us, &may_have_zone)) return false;
    }
    if (s.len > 0) {
        if (!may_have_zone || !time_zone_fixed_offset(trim_all(s), &offset)) return false;
        has_zone = true;
    }
    __int128 us = (__int128)days * US_PER_DAY + time_us - offset * US_PER_SECOND;
    if (us < INT64_MIN || us > INT64_MAX) return false;
    *out_us = (int64_t)us;
    *out_has_zone = has_zone;
    return true;
}

/* ---- zones ---- */

/* What java.time's ZoneOffset.of takes, plus Spark's h:mm and hh:m: ±h, ±hh, ±hhmm, ±hh:mm, ±hhmmss, ±hh:mm:ss, up to 18 hours. */
static bool parse_offset(str s, int32_t *out_seconds) {
    bool negative = s.len > 0 && s.ptr[0] == '-';
    if (!take_char(&s, '-') && !take_char(&s, '+')) return false;
    int64_t hours, minutes = 0, seconds = 0;
    if (str_find_char(s, ':') == SIZE_MAX) {
        size_t len = s.len;
        str high = str_slice(s, 0, len < 2 ? len : 2), middle = str_slice(s, len < 2 ? len : 2, len < 4 ? len : 4);
        str low = str_slice(s, len < 4 ? len : 4, len);
        if (len == 0 || len == 3 || len == 5 || len > 6) return false;
        if (!take_number(&high, len == 1 ? 1 : 2, 2, &hours) || high.len) return false;
        if (len >= 4 && (!take_number(&middle, 2, 2, &minutes) || middle.len)) return false;
        if (len == 6 && (!take_number(&low, 2, 2, &seconds) || low.len)) return false;
    } else {
        if (!take_number(&s, 1, 2, &hours) || !take_char(&s, ':') || !take_number(&s, 1, 2, &minutes)) return false;
        if (take_char(&s, ':') && !take_number(&s, 2, 2, &seconds)) return false;
        if (s.len) return false;
    }
    int64_t total = hours * 3600 + minutes * 60 + seconds;
    if (minutes > 59 || seconds > 59 || total > 18 * 3600) return false;
    *out_seconds = (int32_t)(negative ? -total : total);
    return true;
}

bool time_zone_fixed_offset(str zone, int32_t *out_seconds) {
    static const struct {
        const char *name;
        int32_t seconds;
    } names[] = {{"Z", 0}, {"UTC", 0}, {"GMT", 0}, {"UT", 0}, {"Etc/UTC", 0}, {"Etc/GMT", 0}, {"GMT0", 0}, {"EST", -5 * 3600}, {"MST", -7 * 3600}, {"HST", -10 * 3600}};
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (str_eqz(zone, names[i].name)) return *out_seconds = names[i].seconds, true;
    if (str_starts_with(zone, STR("UTC")) || str_starts_with(zone, STR("GMT"))) zone = str_slice(zone, 3, zone.len);
    else if (str_starts_with(zone, STR("UT"))) zone = str_slice(zone, 2, zone.len);
    return parse_offset(zone, out_seconds);
}

/* Reads /etc/timezone: one line with a name. */
static str zone_from_file(arena *a) {
    char text[256];
    int fd = open("/etc/timezone", O_RDONLY | O_CLOEXEC);
    if (fd < 0) return STR_NULL;
    ssize_t n = read(fd, text, sizeof text);
    close(fd);
    str name = n > 0 ? str_trim((str){text, (size_t)n}) : STR_NULL;
    bool one_word = name.len > 0 && name.ptr[0] != '#' && str_find_char(name, '\n') == SIZE_MAX;
    return one_word ? arena_str(a, name) : STR_NULL;
}

static str after_zoneinfo(str path, arena *a) {
    size_t at = str_find(path, STR("zoneinfo/"));
    if (at == SIZE_MAX) return STR_NULL;
    str name = str_slice(path, at + strlen("zoneinfo/"), path.len);
    if (str_starts_with(name, STR("posix/"))) name = str_slice(name, strlen("posix/"), name.len);
    return name.len ? arena_str(a, name) : STR_NULL;
}

static str zone_from_link(arena *a) {
    char target[PATH_MAX];
    ssize_t n = readlink("/etc/localtime", target, sizeof target);
    return n > 0 && (size_t)n < sizeof target ? after_zoneinfo((str){target, (size_t)n}, a) : STR_NULL;
}

str time_system_zone(arena *a) {
    str name = STR_NULL;
    const char *tz = getenv("TZ");
    if (tz && *tz == ':') tz++;
    if (tz && *tz == '/') name = after_zoneinfo(str_of(tz), a);
    else if (tz && *tz) name = arena_str(a, str_of(tz));
    if (!name.len) name = zone_from_link(a);
    if (!name.len) name = zone_from_file(a);
    return name.len ? name : STR("UTC");
}

/* ---- intervals ---- */

static bool next_word(str *rest, str *out) {
    *rest = str_trim(*rest);
    size_t n = 0;
    while (n < rest->len && (unsigned char)rest->ptr[n] > ' ') n++;
    *out = str_slice(*rest, 0, n);
    *rest = str_slice(*rest, n, rest->len);
    return n > 0;
}

/* [+-]digits[.digits] as microseconds of a unit; a fraction is for seconds only. */
static bool scale(str number, int64_t unit_us, int64_t *out_us) {
    bool negative = take_char(&number, '-');
    if (!negative) take_char(&number, '+');
    int64_t whole = 0, fraction = 0;
    size_t dot = str_find_char(number, '.');
    str digits = dot == SIZE_MAX ? number : str_slice(number, 0, dot);
    bool starts_with_digit = digits.len > 0 && digits.ptr[0] >= '0' && digits.ptr[0] <= '9';
    if (dot == SIZE_MAX || digits.len > 0)
        if (!starts_with_digit || !str_to_i64(digits, &whole)) return false;
    if (dot != SIZE_MAX) {
        str rest = str_slice(number, dot + 1, number.len);
        if (unit_us != US_PER_SECOND || rest.len == 0 || rest.len > 9) return false;
        fraction = take_fraction(&rest);
        if (rest.len) return false;
    }
    if (__builtin_mul_overflow(whole, unit_us, &whole) || __builtin_add_overflow(whole, fraction, &whole)) return false;
    *out_us = negative ? -whole : whole;
    return true;
}

static int64_t unit_us(str unit) {
    static const struct {
        const char *name;
        int64_t us;
    } units[] = {{"microsecond", 1},   {"millisecond", 1000}, {"second", US_PER_SECOND}, {"minute", 60 * US_PER_SECOND},
                 {"hour", 3600 * US_PER_SECOND}, {"day", US_PER_DAY},   {"week", 7 * US_PER_DAY}};
    for (size_t i = 0; i < ARRAY_LEN(units); i++) {
        str name = str_of(units[i].name);
        bool plural = unit.len == name.len + 1 && (unit.ptr[name.len] == 's' || unit.ptr[name.len] == 'S');
        if (str_eq_ascii_fold(plural ? str_slice(unit, 0, name.len) : unit, name)) return units[i].us;
    }
    return 0;
}

bool time_parse_interval_ms(str s, int64_t *out_ms) {
    str rest = s, word, unit;
    int64_t total = 0;
    if (!next_word(&rest, &word)) return false;
    if (str_eq_ascii_fold(word, STR("interval")) && !next_word(&rest, &word)) return false;
    do {
        bool lone_minus = str_eq(word, STR("-"));
        if ((lone_minus || str_eq(word, STR("+"))) && !next_word(&rest, &word)) return false;
        int64_t us, part;
        if (!next_word(&rest, &unit) || (us = unit_us(unit)) == 0 || !scale(word, us, &part)) return false;
        if (lone_minus) part = -part;
        if (__builtin_add_overflow(total, part, &total)) return false;
    } while (next_word(&rest, &word));
    *out_ms = total / 1000;
    return true;
}
