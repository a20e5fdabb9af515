/* Dates, timestamps, zones and intervals as Spark reads and writes them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include <time.h>

#include "base/time.h"

#define DAY INT64_C(86400000000)

static void the_calendar_agrees_with_the_c_library(void **state) {
    (void)state;
    for (int64_t days = -1000000; days <= 1000000; days += 173) {
        int64_t year;
        int month, day;
        civil_from_days(days, &year, &month, &day);
        assert_int_equal(days_from_civil(year, month, day), days);
        time_t seconds = days * 86400;
        struct tm tm;
        assert_non_null(gmtime_r(&seconds, &tm));
        assert_int_equal(year, tm.tm_year + 1900);
        assert_int_equal(month, tm.tm_mon + 1);
        assert_int_equal(day, tm.tm_mday);
    }
    assert_int_equal(days_from_civil(1970, 1, 1), 0);
    assert_int_equal(days_from_civil(2000, 2, 29), 11016);
    assert_int_equal(days_from_civil(1582, 10, 15), -141427);
    assert_int_equal(days_from_civil(1, 1, 1), -719162);
    assert_int_equal(days_from_civil(0, 1, 1), -719528);
    assert_int_equal(days_from_civil(9999, 12, 31), 2932896);
}

static void assert_date(int64_t days, const char *text) {
    buf b;
    buf_init(&b, 100);
    time_write_date(&b, days);
    assert_string_equal(buf_cstr(&b), text);
    buf_dispose(&b);
}

static void dates_are_written(void **state) {
    (void)state;
    assert_date(0, "1970-01-01");
    assert_date(-1, "1969-12-31");
    assert_date(-719162, "0001-01-01");
    assert_date(-719528, "0000-01-01");
    assert_date(-719529, "-0001-12-31");
    assert_date(2932896, "9999-12-31");
    assert_date(2932897, "+10000-01-01");
    assert_date(days_from_civil(-12345, 6, 7), "-12345-06-07");
}

static void assert_timestamp(int64_t us, char separator, int digits, const char *suffix, const char *text) {
    buf b;
    buf_init(&b, 100);
    if (digits < 0) time_write_timestamp_short(&b, us, separator);
    else time_write_timestamp(&b, us, separator, digits, suffix);
    assert_string_equal(buf_cstr(&b), text);
    buf_dispose(&b);
}

static void timestamps_are_written(void **state) {
    (void)state;
    assert_timestamp(0, 'T', 6, "Z", "1970-01-01T00:00:00.000000Z");
    assert_timestamp(-1, 'T', 6, "Z", "1969-12-31T23:59:59.999999Z");
    assert_timestamp(-1, 'T', 3, "Z", "1969-12-31T23:59:59.999Z");
    assert_timestamp(1234567, ' ', 0, "", "1970-01-01 00:00:01");
    assert_timestamp(1769853600123456, 'T', 3, "Z", "2026-01-31T10:00:00.123Z");
    assert_timestamp(1769853600123456, ' ', -1, "", "2026-01-31 10:00:00.123456");
    assert_timestamp(1769853600120000, ' ', -1, "", "2026-01-31 10:00:00.12");
    assert_timestamp(1769853600000001, ' ', -1, "", "2026-01-31 10:00:00.000001");
    assert_timestamp(1769853600000000, ' ', -1, "", "2026-01-31 10:00:00");
    assert_timestamp(-62135596800000000 - 1, ' ', -1, "", "0000-12-31 23:59:59.999999");
    assert_timestamp(INT64_MAX, 'T', 6, "Z", "+294247-01-10T04:00:54.775807Z");
    assert_timestamp(INT64_MIN, 'T', 6, "Z", "-290308-12-21T19:59:05.224192Z");
}

static void dates_are_read_by_sparks_rules(void **state) {
    (void)state;
    static const struct {
        const char *text;
        int64_t year;
        int month, day;
    } good[] = {{"2026-01-31", 2026, 1, 31}, {"2026-1-3", 2026, 1, 3}, {"2026", 2026, 1, 1}, {"2026-02", 2026, 2, 1}, {" 2026-01-31 ", 2026, 1, 31},
                {"2026-01-31T10:00:00", 2026, 1, 31}, {"2026-01-31 nonsense", 2026, 1, 31}, {"2026-01-31T", 2026, 1, 31}, {"+12345-01-01", 12345, 1, 1},
                {"-0001-12-31", -1, 12, 31}, {"0000-01-01", 0, 1, 1}, {"2024-02-29", 2024, 2, 29}, {"1500-03-01", 1500, 3, 1}, {"12345-6-7", 12345, 6, 7}};
    static const char *const bad[] = {"", " ", "202", "26-01-31", "2026-13-01", "2026-00-01", "2026-01-32", "2026-02-29", "1900-02-29", "2026-01-", "2026-",
                                      "2026-01-31x", "x2026-01-31", "2026/01/31", "2026-001-01", "2026-01-031", "12345678-01-01", "2026-01T",
                                      "--2026-01-01", "9999999-01-01"};
    int64_t days;
    for (size_t i = 0; i < ARRAY_LEN(good); i++) {
        if (!time_parse_date(str_of(good[i].text), &days)) fail_msg("refused: %s", good[i].text);
        assert_int_equal(days, days_from_civil(good[i].year, good[i].month, good[i].day));
    }
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        if (time_parse_date(str_of(bad[i]), &days)) fail_msg("accepted: %s", bad[i]);
    }
}

static void timestamps_are_read_by_sparks_rules(void **state) {
    (void)state;
    static const struct {
        const char *text;
        int64_t us;
        bool zone;
    } good[] = {
        {"1970-01-01 00:00:00", 0, false},
        {"1970-01-02", DAY, false},
        {"1970", 0, false},
        {"1970-02", 31 * DAY, false},
        {"1970-01-01T00:00:01Z", 1000000, true},
        {"1970-01-01 00:00:01.5", 1500000, false},
        {"1970-01-01 00:00:01.", 1000000, false},
        {"1970-01-01 00:00:00.123456789", 123456, false}, /* digits behind the sixth are dropped */
        {"1970-01-01 1:2:3", 3723000000, false},
        {"1970-01-01 10", 36000000000, false},
        {"1970-01-01T10:30", 37800000000, false},
        {"1970-01-01T00:00:00+01:00", -3600000000, true},
        {"1970-01-01T00:00:00.25-05:30", 19800250000, true},
        {"1970-01-01 00:00:00 UTC", 0, true},
        {"1970-01-01 00:00:00 +02:00", -7200000000, true},
        {"1970-01-01 00:00:00GMT+1", -3600000000, true},
        {"1970-01-01 00:00:00.5UTC-08:00", 28800500000, true},
        {"1970-01-01T00:00:00+1:0", -3600000000, true},
        {"1970-01-01T00:00:00+0530", -19800000000, true},
        {"1970-01-01T00:00:00-18:00", 64800000000, true},
        {"  1970-01-01 00:00:00\t", 0, false},
        {"-0001-01-01 00:00:00", -719893 * DAY, false},
        {"1969-12-31 23:59:59.999999", -1, false},
        {"+294247-01-10 04:00:54.775807", INT64_MAX, false},
    };
    static const char *const bad[] = {
        "", "x", "1970-01-01T", "1970-01-01T24:00:00", "1970-01-01T00:60:00", "1970-01-01T00:00:60", "1970-01-01T00:00:00 Europe/Paris",
        "1970-01-01T00:00:00+19:00", "1970-01-01T00:00:00+18:01", "1970-01-01T00:00:00+", "1970-01-01T00:00:00++1", "1970-01-01T00:00Z", "1970-01-01Z",
        "1970-01-01T000:00:00", "1970-01-01T00:00:00.5x", "1970-02-30 00:00:00", "1970-13-01", "1970-01-01 00-00-00", "1970-01-01T00:00:00+1:60",
        "1234567-01-01", "+294247-01-10 04:00:54.775808", "1970-01-01 00:", "1970-01-01t00:00:00", "1970-01-01T:00:00", "1970-01-01T00:00:00+01:00:0"};
    int64_t us;
    bool zone;
    for (size_t i = 0; i < ARRAY_LEN(good); i++) {
        if (!time_parse_timestamp(str_of(good[i].text), &us, &zone)) fail_msg("refused: %s", good[i].text);
        assert_int_equal(us, good[i].us);
        assert_int_equal(zone, good[i].zone);
    }
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        if (time_parse_timestamp(str_of(bad[i]), &us, &zone)) fail_msg("accepted: %s", bad[i]);
    }
}

static void what_is_written_is_read(void **state) {
    (void)state;
    static const int64_t values[] = {0, -1, 1, 999999, -999999, 1769853600123456, -62135596800000000, INT64_MAX, INT64_MAX / 2, INT64_MIN / 2, INT64_MIN};
    for (size_t i = 0; i < ARRAY_LEN(values); i++) {
        buf b;
        int64_t us;
        bool zone;
        buf_init(&b, 100);
        time_write_timestamp(&b, values[i], 'T', 6, "Z");
        assert_true(time_parse_timestamp(buf_str(&b), &us, &zone));
        assert_int_equal(us, values[i]);
        assert_true(zone);
        buf_dispose(&b);
    }
}

static void zones(void **state) {
    (void)state;
    static const struct {
        const char *name;
        int seconds;
    } good[] = {{"Z", 0}, {"UTC", 0}, {"GMT", 0}, {"Etc/UTC", 0}, {"Etc/GMT", 0}, {"+05:30", 19800}, {"-05:30", -19800}, {"GMT+1", 3600}, {"UTC+01:00", 3600}, {"UT-2", -7200},
                {"+1", 3600}, {"+01", 3600}, {"+0130", 5400}, {"+01:30:15", 5415}, {"+013015", 5415}, {"-18:00", -64800}, {"+1:30", 5400}, {"+01:3", 3780},
                {"-00:00", 0}};
    static const char *const bad[] = {"", "Europe/Paris", "z", "utc", "Etc/GMT+1", "+", "+19", "+24:00", "+001", "1", "01:00", "GMT1", "+01:60", "+1:2:3:4", "+a", "+00:00x"};
    int32_t seconds;
    for (size_t i = 0; i < ARRAY_LEN(good); i++) {
        if (!time_zone_fixed_offset(str_of(good[i].name), &seconds)) fail_msg("refused: %s", good[i].name);
        assert_int_equal(seconds, good[i].seconds);
    }
    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        if (time_zone_fixed_offset(str_of(bad[i]), &seconds)) fail_msg("accepted: %s", bad[i]);
}

static void the_systems_zone_comes_from_tz_first(void **state) {
    (void)state;
    arena *a = arena_new();
    setenv("TZ", "Europe/Paris", 1);
    assert_true(str_eqz(time_system_zone(a), "Europe/Paris"));
    setenv("TZ", ":America/New_York", 1);
    assert_true(str_eqz(time_system_zone(a), "America/New_York"));
    setenv("TZ", "/usr/share/zoneinfo/Asia/Tokyo", 1);
    assert_true(str_eqz(time_system_zone(a), "Asia/Tokyo"));
    unsetenv("TZ");
    assert_true(time_system_zone(a).len > 0);
    arena_free(a);
}

static void intervals(void **state) {
    (void)state;
    static const struct {
        const char *text;
        int64_t ms;
    } good[] = {{"interval 7 days", 604800000}, {"1 week", 604800000}, {"24 hours 30 minutes", 88200000}, {"INTERVAL 1 Day", 86400000}, {"2 weeks 1 day", 1296000000},
                {" interval   30   days ", 2592000000}, {"1 second", 1000}, {"1.5 seconds", 1500}, {"0.001 second", 1}, {"-1 hour", -3600000}, {"- 1 hour", -3600000},
                {"1 hour -30 minutes", 1800000}, {"100 milliseconds", 100}, {"1500 microseconds", 1}, {"0 days", 0}, {"1 days", 86400000}};
    static const char *const bad[] = {"", "interval", "7", "days", "7 day s", "7 fortnights", "1 month", "interval 1 year", "1 year 2 days", "x days", "1.5 days", "1 day 2",
                                      "99999999999999 weeks", "1 ", "1..5 seconds", "--1 day", "1. second", "7days"};
    int64_t ms;
    for (size_t i = 0; i < ARRAY_LEN(good); i++) {
        if (!time_parse_interval_ms(str_of(good[i].text), &ms)) fail_msg("refused: %s", good[i].text);
        assert_int_equal(ms, good[i].ms);
    }
    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        if (time_parse_interval_ms(str_of(bad[i]), &ms)) fail_msg("accepted: %s", bad[i]);
}

static void clocks_run(void **state) {
    (void)state;
    int64_t seconds = (int64_t)time(NULL);
    assert_in_range(time_now_ms() / 1000, (uint64_t)seconds - 1, (uint64_t)seconds + 5);
    assert_in_range(time_now_us() / 1000000, (uint64_t)seconds - 1, (uint64_t)seconds + 5);
    int64_t first = time_monotonic_ms();
    assert_true(time_monotonic_ms() >= first);
}

int main(void) {
    cmocka_set_message_output(CM_OUTPUT_TAP);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_calendar_agrees_with_the_c_library),
        cmocka_unit_test(dates_are_written),
        cmocka_unit_test(timestamps_are_written),
        cmocka_unit_test(dates_are_read_by_sparks_rules),
        cmocka_unit_test(timestamps_are_read_by_sparks_rules),
        cmocka_unit_test(what_is_written_is_read),
        cmocka_unit_test(zones),
        cmocka_unit_test(the_systems_zone_comes_from_tz_first),
        cmocka_unit_test(intervals),
        cmocka_unit_test(clocks_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
