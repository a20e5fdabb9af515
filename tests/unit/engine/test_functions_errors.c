/* DuckDB's texts → Spark's conditions. The texts are those that libduckdb 1.5.6 gave. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "engine/functions.h"

static void texts_become_conditions(void **state) {
    (void)state;
    static const struct {
        const char *text, *condition, *sqlstate, *message;
        silt_status status;
    } cases[] = {
        {"Invalid Input Error: [CAST_INVALID_INPUT|22018] The value 'x' is malformed.[/]\n\nLINE 1: SELECT …",
         "CAST_INVALID_INPUT", "22018", "The value 'x' is malformed.", SILT_CONSTRAINT},
        {"Conversion Error: Could not convert string '[DIVIDE_BY_ZERO|22012] Division by zero.[/]' to DOUBLE", "DIVIDE_BY_ZERO",
         "22012", "Division by zero.", SILT_CONSTRAINT},
        {"Invalid Input Error: [INVALID_PARAMETER_VALUE.START|22023] a [b|c] d[/]", "INVALID_PARAMETER_VALUE.START", "22023",
         "a [b|c] d", SILT_CONSTRAINT},
        {"Out of Range Error: Overflow in addition of INT32 (2147483647 + 1)!", "ARITHMETIC_OVERFLOW", "22003", NULL,
         SILT_CONSTRAINT},
        {"Out of Range Error: Overflow in multiplication of INT16 (32767 * 2)!", "BINARY_ARITHMETIC_OVERFLOW", "22003", NULL,
         SILT_CONSTRAINT},
        {"Out of Range Error: Overflow in addition of DECIMAL(38) (9 + 1);", "NUMERIC_VALUE_OUT_OF_RANGE.WITH_SUGGESTION",
         "22003", NULL, SILT_CONSTRAINT},
        {"Conversion Error: Type INT32 with value 300 can't be cast because the value is out of range for the destination type "
         "INT8",
         "CAST_OVERFLOW", "22003", NULL, SILT_CONSTRAINT},
        {"Conversion Error: Type INT128 with value 9223372036854775808 can't be cast because the value is out of range for the "
         "destination type INT64",
         "ARITHMETIC_OVERFLOW", "22003", NULL, SILT_CONSTRAINT},
        {"Conversion Error: Could not cast value 1000 to DECIMAL(3,0)", "NUMERIC_VALUE_OUT_OF_RANGE.WITH_SUGGESTION", "22003",
         NULL, SILT_CONSTRAINT},
        {"Invalid Input Error: More than one row returned by a subquery used as an expression - scalar subqueries can only "
         "return a single row.",
         "SCALAR_SUBQUERY_TOO_MANY_ROWS", "21000", NULL, SILT_CONSTRAINT},
        {"Invalid Input Error: Map keys must be unique.", "DUPLICATED_MAP_KEY", "23505", NULL, SILT_CONSTRAINT},
        {"Binder Error: something new", "INTERNAL_ERROR", "XX000", NULL, SILT_INTERNAL},
        {"IO Error: [not a condition] at [x|y", "INTERNAL_ERROR", "XX000", NULL, SILT_INTERNAL},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        silt_error err = {0};
        assert_int_equal(engine_error_from_text(&err, cases[i].text), cases[i].status);
        if (strcmp(err.condition, cases[i].condition) != 0) fail_msg("%s: %s", cases[i].text, err.condition);
        assert_string_equal(err.sqlstate, cases[i].sqlstate);
        if (cases[i].message) assert_string_equal(err.message, cases[i].message);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(texts_become_conditions)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
