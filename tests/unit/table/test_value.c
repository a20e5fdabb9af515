/* The order of values across types, and decimals as text. Expected orders are worked out by hand. */
#include "table_test.h"

#include <math.h>

#include "table/value.h"

static value whole(const data_type *t, int64_t v) { return (value){.type = t, .as.i64 = v}; }
static value real(const data_type *t, double v) { return (value){.type = t, .as.f64 = v}; }
static value text(const char *z) { return (value){.type = &type_string, .as.bytes = str_of(z)}; }

static value dec(arena *a, const char *z, int precision, int scale) {
    value v = {.type = type_decimal(a, precision, scale)};
    assert_true(decimal_parse(str_of(z), scale, &v.as.decimal));
    return v;
}

static void assert_order(value a, value b, int expected) {
    bool comparable;
    int order = value_compare(&a, &b, &comparable);
    assert_true(comparable);
    assert_int_equal((order > 0) - (order < 0), expected);
    order = value_compare(&b, &a, &comparable);
    assert_true(comparable);
    assert_int_equal((order > 0) - (order < 0), -expected);
}

static void assert_incomparable(value a, value b) {
    bool comparable;
    value_compare(&a, &b, &comparable);
    assert_false(comparable);
    value_compare(&b, &a, &comparable);
    assert_false(comparable);
}

static void same_types_compare_in_spark_order(void **state) {
    (void)state;
    assert_order(whole(&type_long, INT64_MIN), whole(&type_long, INT64_MAX), -1);
    assert_order(whole(&type_byte, 5), whole(&type_long, 5), 0);
    assert_order(text("a"), text("ab"), -1);
    assert_order(text(""), text("a"), -1);
    assert_order(text("\xEF\xBF\xBF"), text("\xF0\x9F\x98\x80"), -1); /* U+FFFF below an emoji, as bytes */
    assert_order((value){.type = &type_boolean, .as.boolean = false}, (value){.type = &type_boolean, .as.boolean = true}, -1);
    assert_order(whole(&type_timestamp, -1), whole(&type_timestamp, 0), -1);
    assert_order(whole(&type_date, 1), whole(&type_timestamp_ntz, 86400000000), 0);
    assert_order(whole(&type_date, INT32_MAX), whole(&type_timestamp_ntz, INT64_MAX), 1);
}

static void nan_is_greatest_and_zeros_are_equal(void **state) {
    (void)state;
    assert_order(real(&type_double, NAN), real(&type_double, INFINITY), 1);
    assert_order(real(&type_double, NAN), real(&type_float, NAN), 0);
    assert_order(real(&type_double, -0.0), real(&type_double, 0.0), 0);
    assert_order(real(&type_double, NAN), whole(&type_long, INT64_MAX), 1);
    assert_order(real(&type_double, -INFINITY), whole(&type_long, INT64_MIN), -1);
}

static void numbers_of_different_types_compare_exactly(void **state) {
    arena *a = *state;
    assert_order(whole(&type_long, 9007199254740993), real(&type_double, 9007199254740992.0), 1);
    assert_order(whole(&type_long, INT64_MAX), real(&type_double, 0x1p63), -1);
    assert_order(whole(&type_long, INT64_MIN), real(&type_double, -0x1p63), 0);
    assert_order(whole(&type_int, 0), real(&type_double, 5e-324), -1);
    assert_order(whole(&type_int, 0), real(&type_double, -5e-324), 1);
    assert_order(whole(&type_int, 0), real(&type_double, -0.0), 0);
    assert_order(dec(a, "0.1", 38, 38), real(&type_double, 0.1), -1); /* the double is 0.1000000000000000055… */
    assert_order(dec(a, "0.3", 5, 2), real(&type_double, 0.3), 1);    /* the double is 0.299999999999999988… */
    assert_order(dec(a, "-0.1", 5, 2), real(&type_double, -0.1), 1);
    assert_order(dec(a, "-0.5", 5, 2), real(&type_double, -0.5), 0);
    assert_order(dec(a, "-0.5", 5, 2), real(&type_double, 0.25), -1);
    assert_order(dec(a, "0.25", 5, 2), real(&type_double, -0.5), 1);
    assert_order(dec(a, "12345678901234567890.5", 38, 1), real(&type_double, 12345678901234567168.0), 1);
    assert_order(dec(a, "99999999999999999999999999999999999999", 38, 0), real(&type_double, 1e38),
                 1); /* 99999999999999997748809823456034029568 */
    assert_order(dec(a, "99999999999999999999999999999999999999", 38, 0), real(&type_double, 1.1e38), -1);
    assert_order(dec(a, "-99999999999999999999999999999999999999", 38, 0), real(&type_double, -1e300), 1);
    assert_order(dec(a, "1.50", 10, 2), dec(a, "1.5", 38, 37), 0);
    assert_order(dec(a, "99999999999999999999999999999999999999", 38, 0),
                 dec(a, "0.99999999999999999999999999999999999999", 38, 38), 1);
    assert_order(dec(a, "-1.5", 10, 2), whole(&type_int, -1), -1);
    assert_order(dec(a, "-1.00", 10, 2), whole(&type_int, -1), 0);
    assert_order(dec(a, "0.01", 10, 2), dec(a, "0.010000000000000000000000000000000001", 38, 36), -1);
}

static void unrelated_types_do_not_compare(void **state) {
    (void)state;
    assert_incomparable(text("1"), whole(&type_int, 1));
    assert_incomparable(whole(&type_timestamp, 1), whole(&type_timestamp_ntz, 1));
    assert_incomparable(whole(&type_timestamp, 1), whole(&type_date, 1));
    assert_incomparable(whole(&type_date, 1), whole(&type_int, 1));
    assert_incomparable(text("a"), (value){.type = &type_binary, .as.bytes = STR("a")});
    assert_incomparable((value){.type = &type_int, .is_null = true}, whole(&type_int, 1));
    assert_incomparable((value){.type = &type_boolean, .as.boolean = true}, whole(&type_int, 1));
}

static void decimals_parse_exactly(void **state) {
    (void)state;
    static const struct {
        const char *text;
        int scale;
        const char *unscaled; /* NULL: refused */
    } cases[] = {
        {"0", 0, "0"},
        {"-0.00", 2, "0"},
        {"1", 2, "100"},
        {"+1.5", 2, "150"},
        {"1.00", 2, "100"},
        {"1.000000000000000000000000000000000000000000", 2, "100"},
        {"100.50", 2, "10050"},
        {"0.05", 2, "5"},
        {".5", 1, "5"},
        {"5.", 0, "5"},
        {"1E-38", 38, "1"},
        {"1e+28", 0, "10000000000000000000000000000"},
        {"1.5E1", 0, "15"},
        {"12.5e-1", 2, "125"},
        {"0E-38", 38, "0"},
        {"0e999999", 0, "0"},
        {"000000000000000000000000000000000000000000001", 0, "1"},
        {"99999999999999999999999999999999999999", 0, "99999999999999999999999999999999999999"},
        {"-0.99999999999999999999999999999999999999", 38, "-99999999999999999999999999999999999999"},
        {"100000000000000000000000000000000000000", 0, NULL},
        {"1e38", 0, NULL},
        {"1", 38, NULL},
        {"1.005", 2, NULL},
        {"1E-39", 38, NULL},
        {"", 0, NULL},
        {"-", 0, NULL},
        {".", 0, NULL},
        {"1e", 0, NULL},
        {"1e+", 0, NULL},
        {"1.2.3", 1, NULL},
        {"1x", 0, NULL},
        {" 1", 0, NULL},
        {"NaN", 0, NULL},
        {"1e99999999999999999999", 0, NULL},
        {"1e-99999999999999999999", 0, NULL},
        {"0x10", 0, NULL},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        int128 v = 0;
        bool ok = decimal_parse(str_of(cases[i].text), cases[i].scale, &v);
        if (ok != (cases[i].unscaled != NULL)) fail_msg("%s at scale %d: %d", cases[i].text, cases[i].scale, ok);
        if (!ok) continue;
        buf b;
        buf_init(&b, 100);
        decimal_write(&b, v, 0);
        assert_string_equal(table_take_text(&b, *state), cases[i].unscaled);
    }
}

static void decimals_print_with_their_scale(void **state) {
    static const struct {
        const char *text;
        int scale;
        const char *plain, *java;
    } cases[] = {
        {"123.45", 2, "123.45", "123.45"},
        {"1", 2, "1.00", "1.00"},
        {"-0.05", 2, "-0.05", "-0.05"},
        {"0", 0, "0", "0"},
        {"0", 2, "0.00", "0.00"},
        {"1E-38", 38, "0.00000000000000000000000000000000000001", "1E-38"},
        {"-1.5E-10", 12, "-0.000000000150", "-1.50E-10"},
        {"0.000001", 6, "0.000001", "0.000001"},
        {"0.0000001", 7, "0.0000001", "1E-7"},
        {"0", 38, "0.00000000000000000000000000000000000000", "0E-38"},
        {"0.1", 38, "0.10000000000000000000000000000000000000", "0.10000000000000000000000000000000000000"},
        {"-99999999999999999999999999999999999999", 0, "-99999999999999999999999999999999999999",
         "-99999999999999999999999999999999999999"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        int128 v;
        buf b;
        assert_true(decimal_parse(str_of(cases[i].text), cases[i].scale, &v));
        buf_init(&b, 100);
        decimal_write(&b, v, cases[i].scale);
        assert_string_equal(table_take_text(&b, *state), cases[i].plain);
        buf_init(&b, 100);
        decimal_write_java(&b, v, cases[i].scale);
        assert_string_equal(table_take_text(&b, *state), cases[i].java);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        WITH_ARENA(same_types_compare_in_spark_order),
        WITH_ARENA(nan_is_greatest_and_zeros_are_equal),
        WITH_ARENA(numbers_of_different_types_compare_exactly),
        WITH_ARENA(unrelated_types_do_not_compare),
        WITH_ARENA(decimals_parse_exactly),
        WITH_ARENA(decimals_print_with_their_scale),
    };
    return RUN_TESTS(tests);
}
