/* Floating point numbers as text: Java's layout (answers from java.lang.Double and Float), and the shortest JSON numbers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include <math.h>

#include "base/json.h"

typedef void (*write_f64)(buf *out, double v);

static void assert_text(write_f64 write, double v, const char *expected) {
    buf b;
    buf_init(&b, 100);
    write(&b, v);
    assert_string_equal(buf_cstr(&b), expected);
    buf_dispose(&b);
}

static void doubles_look_like_javas(void **state) {
    (void)state;
    static const struct {
        double v;
        const char *text;
    } cases[] = {
        {0.0, "0.0"}, {-0.0, "-0.0"}, {1.0, "1.0"}, {-1.5, "-1.5"}, {100.0, "100.0"}, {1234567.0, "1234567.0"}, {9999999.0, "9999999.0"},
        {1.0E7, "1.0E7"}, {1.2345678E7, "1.2345678E7"}, {1.0E10, "1.0E10"}, {0.001, "0.001"}, {0.0010000000000000002, "0.0010000000000000002"},
        {9.999999999999998E-4, "9.999999999999998E-4"}, {1.0E-4, "1.0E-4"}, {0.1, "0.1"}, {0.30000000000000004, "0.30000000000000004"},
        {1.0 / 3, "0.3333333333333333"}, {123456.789, "123456.789"}, {1.0E23, "1.0E23"}, {2.0E23, "2.0E23"}, {1.0E22, "1.0E22"},
        {4.9E-324, "4.9E-324"}, {9.9E-324, "9.9E-324"}, {2.0E-323, "2.0E-323"}, {2.2250738585072014E-308, "2.2250738585072014E-308"},
        {1.7976931348623157E308, "1.7976931348623157E308"}, {9007199254740992.0, "9.007199254740992E15"}, {3.141592653589793, "3.141592653589793"},
        {-123.456, "-123.456"}, {1.0E-5, "1.0E-5"}, {5.0E-5, "5.0E-5"}, {0.002, "0.002"}, {20.0, "20.0"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) assert_text(text_write_f64_java, cases[i].v, cases[i].text);
    assert_text(text_write_f64_java, NAN, "NaN");
    assert_text(text_write_f64_java, INFINITY, "Infinity");
    assert_text(text_write_f64_java, -INFINITY, "-Infinity");
}

static void floats_look_like_javas(void **state) {
    (void)state;
    static const struct {
        float v;
        const char *text;
    } cases[] = {
        {0.0f, "0.0"}, {-0.0f, "-0.0"}, {0.1f, "0.1"}, {1.0f, "1.0"}, {3.1415927f, "3.1415927"}, {1.0E10f, "1.0E10"}, {1.6777216E7f, "1.6777216E7"},
        {9999999.0f, "9999999.0"}, {0.001f, "0.001"}, {1.0E-4f, "1.0E-4"}, {1.4E-45f, "1.4E-45"}, {3.4028235E38f, "3.4028235E38"},
        {1.17549435E-38f, "1.1754944E-38"}, {0.33333334f, "0.33333334"}, {-2.5f, "-2.5"}, {123.456f, "123.456"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        buf b;
        buf_init(&b, 100);
        text_write_f32_java(&b, cases[i].v);
        assert_string_equal(buf_cstr(&b), cases[i].text);
        buf_dispose(&b);
    }
}

static void json_numbers_are_plain_in_the_middle(void **state) {
    (void)state;
    static const struct {
        double v;
        const char *text;
    } cases[] = {{0.0, "0.0"}, {-0.0, "-0.0"}, {1.0, "1.0"}, {0.1, "0.1"}, {1.0E7, "10000000.0"}, {1.0E10, "10000000000.0"}, {1.5E300, "1.5E300"},
                 {1.0E-300, "1.0E-300"}, {123456789.125, "123456789.125"}, {-2.5, "-2.5"}, {0.00001, "0.00001"}, {0.000001, "1.0E-6"}};
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) assert_text(json_write_f64, cases[i].v, cases[i].text);
    assert_text(json_write_f64, NAN, "\"NaN\"");
    assert_text(json_write_f64, INFINITY, "\"Infinity\"");
    assert_text(json_write_f64, -INFINITY, "\"-Infinity\"");
    buf b;
    buf_init(&b, 100);
    json_write_f32(&b, 0.1f);
    assert_string_equal(buf_cstr(&b), "0.1");
    buf_dispose(&b);
}

/* Any bit pattern reads back as itself, as JSON and as Java's text. */
static void every_text_reads_back(void **state) {
    (void)state;
    uint64_t random = 88172645463325252u;
    buf b;
    buf_init(&b, 100);
    for (int i = 0; i < 200000; i++) {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        uint64_t bits = i % 4 ? random : random >> (random % 64);
        double v, back;
        float f;
        memcpy(&v, &bits, 8);
        memcpy(&f, &bits, 4);
        if (isfinite(v)) {
            for (int java = 0; java < 2; java++) {
                buf_clear(&b);
                (java ? text_write_f64_java : json_write_f64)(&b, v);
                assert_true(str_to_f64(buf_str(&b), &back));
                assert_memory_equal(&back, &v, 8);
                if (strtod(buf_cstr(&b), NULL) != v) fail();
            }
        }
        if (isfinite(f)) {
            buf_clear(&b);
            text_write_f32_java(&b, f);
            float back32 = strtof(buf_cstr(&b), NULL);
            assert_memory_equal(&back32, &f, 4);
        }
    }
    buf_dispose(&b);
}

int main(void) {
    cmocka_set_message_output(CM_OUTPUT_TAP);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(doubles_look_like_javas),
        cmocka_unit_test(floats_look_like_javas),
        cmocka_unit_test(json_numbers_are_plain_in_the_middle),
        cmocka_unit_test(every_text_reads_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
