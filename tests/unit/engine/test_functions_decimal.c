/* Decimal arithmetic beyond 128 bits against results worked out by hand (and by bc). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "engine/functions_decimal.h"

static int128 number(const char *text, int *out_scale) {
    const char *point = strchr(text, '.');
    *out_scale = point ? (int)strlen(point + 1) : 0;
    int128 v;
    assert_true(decimal_parse(str_of(text), *out_scale, &v));
    return v;
}

static void operations(void **state) {
    (void)state;
    static const struct {
        const char *x;
        char op;
        const char *y;
        int scale;
        const char *expected;
    } cases[] = {
        {"1", '/', "3", 6, "0.333333"},
        {"2", '/', "3", 6, "0.666667"},
        {"-2", '/', "3", 6, "-0.666667"},
        {"1", '/', "8", 2, "0.13"},
        {"-1", '/', "8", 2, "-0.13"},
        {"10.50", 'd', "3", 0, "3"},
        {"-10.50", 'd', "3", 0, "-3"},
        {"10.5", '%', "3", 1, "1.5"},
        {"-10.5", '%', "3", 1, "-1.5"},
        {"99999999999999999999999999999999999999", '/', "3", 0, "33333333333333333333333333333333333333"},
        {"1.00000000000000000000", '*', "1.00000000000000000005", 30, "1.000000000000000000050000000000"},
        {"12345678901234567890.123456789", '*', "1.000000001", 6, "12345678913580246791.358025"},
        {"99999999999999999999999999999999999999", '+', "1", 0, NULL},
        {"0.5", '+', "0.05", 1, "0.6"},
        {"0.5", '-', "0.55", 1, "-0.1"},
        {"1", '/', "0.00000000000000000001", 0, "100000000000000000000"},
        {"99999999999999999999", '*', "99999999999999999999", 0, NULL},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        int xs, ys, es;
        int128 x = number(cases[i].x, &xs), y = number(cases[i].y, &ys), out = 0;
        bool ok = decimal_calculate(cases[i].op, x, xs, y, ys, cases[i].scale, &out);
        if (ok != (cases[i].expected != NULL)) fail_msg("%s %c %s", cases[i].x, cases[i].op, cases[i].y);
        if (!ok) continue;
        int128 expected = number(cases[i].expected, &es);
        assert_int_equal(es, cases[i].scale);
        if (out != expected) fail_msg("%s %c %s", cases[i].x, cases[i].op, cases[i].y);
    }
}

static void rescaling_rounds_half_away_from_zero(void **state) {
    (void)state;
    assert_true(decimal_round_down(125, 1) == 13);
    assert_true(decimal_round_down(-125, 1) == -13);
    assert_true(decimal_round_down(124, 1) == 12);
    assert_true(decimal_round_down(5, 5) == 0);
    int128 v;
    assert_true(decimal_rescale(1, 0, 37, &v));
    assert_false(decimal_rescale(10, 0, 37, &v));
    assert_true(decimal_rescale(0, 0, 38, &v));
    assert_true(decimal_fits(999, 3));
    assert_false(decimal_fits(-1000, 3));
}

static void doubles_are_correctly_rounded(void **state) {
    (void)state;
    int s;
    int128 v = number("0.1", &s);
    assert_true(decimal_to_double(v, s) == 0.1);
    v = number("123456789012345678901234567890.12345678", &s);
    assert_true(decimal_to_double(v, s) == 123456789012345678901234567890.12345678);
    v = number("-9007199254740993", &s);
    assert_true(decimal_to_double(v, s) == -9007199254740992.0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(operations), cmocka_unit_test(rescaling_rounds_half_away_from_zero),
                                       cmocka_unit_test(doubles_are_correctly_rounded)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
