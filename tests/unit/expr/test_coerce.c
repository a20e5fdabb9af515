/* Decimal precision, common types and the casts that exist, against Spark's documented rules. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "expr/coerce.h"
#include "expr/expr.h"

static const data_type *parse(const char *text, arena *a) {
    const data_type *t;
    assert_int_equal(type_parse(str_of(text), a, &t, NULL), SILT_OK);
    return t;
}

static void precision_beyond_38_gives_up_scale_down_to_6(void **state) {
    (void)state;
    static const struct {
        int p, s;
        const char *expected;
    } cases[] = {{38, 10, "decimal(38,10)"}, {49, 6, "decimal(38,6)"},  {49, 10, "decimal(38,6)"},
                 {40, 20, "decimal(38,18)"}, {77, 20, "decimal(38,6)"}, {50, 2, "decimal(38,2)"}};
    arena *a = arena_new();
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        str got = type_simple(coerce_decimal_adjust(a, cases[i].p, cases[i].s), a);
        assert_true(str_eqz(got, cases[i].expected));
    }
    arena_free(a);
}

static void common_types(void **state) {
    (void)state;
    static const struct {
        const char *x, *y, *expected;
    } cases[] = {
        {"int", "bigint", "bigint"},
        {"int", "float", "double"},
        {"float", "float", "float"},
        {"int", "decimal(5,2)", "decimal(12,2)"},
        {"decimal(10,2)", "double", "double"},
        {"string", "int", "bigint"},
        {"string", "double", "double"},
        {"string", "date", "date"},
        {"string", "boolean", "boolean"},
        {"date", "timestamp", "timestamp"},
        {"date", "timestamp_ntz", "timestamp_ntz"},
        {"void", "date", "date"},
        {"array<int>", "array<bigint>", "array<bigint>"},
        {"int", "date", NULL},
        {"array<int>", "int", NULL},
        {"boolean", "int", NULL},
        {"map<string,int>", "map<string,double>", "map<string,double>"},
    };
    arena *a = arena_new();
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const data_type *t = coerce_common(a, parse(cases[i].x, a), parse(cases[i].y, a)),
                        *back = coerce_common(a, parse(cases[i].y, a), parse(cases[i].x, a));
        if (!cases[i].expected) {
            if (t || back) fail_msg("%s, %s", cases[i].x, cases[i].y);
            continue;
        }
        if (!t || !type_equal(t, parse(cases[i].expected, a)) || !type_equal(t, back)) fail_msg("%s, %s", cases[i].x, cases[i].y);
    }
    arena_free(a);
}

static void exact_widenings_are_only_those_that_keep_every_value(void **state) {
    (void)state;
    static const struct {
        const char *from, *to;
        bool exact;
    } cases[] = {
        {"int", "bigint", true},
        {"int", "double", true},
        {"bigint", "double", false},
        {"int", "float", false},
        {"float", "double", true},
        {"int", "decimal(10,0)", true},
        {"int", "decimal(9,0)", false},
        {"bigint", "decimal(20,0)", true},
        {"decimal(5,2)", "decimal(7,3)", true},
        {"decimal(5,2)", "decimal(6,4)", false},
        {"string", "int", false},
        {"date", "timestamp", false},
        {"bigint", "int", false},
    };
    arena *a = arena_new();
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        if (coerce_is_exact_widening(parse(cases[i].from, a), parse(cases[i].to, a)) != cases[i].exact)
            fail_msg("%s → %s", cases[i].from, cases[i].to);
    arena_free(a);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(precision_beyond_38_gives_up_scale_down_to_6),
                                       cmocka_unit_test(common_types),
                                       cmocka_unit_test(exact_widenings_are_only_those_that_keep_every_value)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
