/* Byte strings, UTF-8 and errors. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include <errno.h>
#include <locale.h>

#include "base/base.h"

static void order_is_bytewise(void **state) {
    (void)state;
    assert_true(str_cmp(STR("a"), STR("b")) < 0);
    assert_true(str_cmp(STR("a"), STR("a\0")) < 0);
    assert_true(str_cmp(STR("Z"), STR("a")) < 0);
    assert_true(str_cmp(STR("z"), STR("\xc3\xa9")) < 0);
    assert_true(str_cmp(STR("\xef\xbf\xbd"), STR("\xf0\x9f\x98\x80")) < 0); /* code point order, unlike UTF-16's */
    assert_int_equal(str_cmp(STR_NULL, STR("")), 0);
    assert_true(str_eq(STR_NULL, STR("")));
    assert_true(str_is_null(str_of(NULL)));
}

static void case_folds_in_the_common_scripts(void **state) {
    (void)state;
    static const char *const same[][2] = {{"ABCxyz_1", "abcXYZ_1"}, {"\xc3\x89t\xc3\xa9", "\xc3\xa9T\xc3\x89"},         /* É é */
                                          {"\xce\xa9\xce\xb1", "\xcf\x89\xce\x91"},                                     /* Ω α */
                                          {"\xd0\x9f\xd1\x80\xd0\x98", "\xd0\xbf\xd0\xa0\xd0\xb8"},                     /* При */
                                          {"\xd0\x81", "\xd1\x91"},                                                     /* Ё ё */
                                          {"\xc5\xb8", "\xc3\xbf"},                                                     /* Ÿ ÿ */
                                          {"\xc4\x80\xc5\xbd", "\xc4\x81\xc5\xbe"},                                     /* Ā Ž */
                                          {"\xe1\xb8\x80", "\xe1\xb8\x81"},                                             /* Ḁ ḁ */
                                          {"\xe8\xa1\xa8\xf0\x9f\x98\x80", "\xe8\xa1\xa8\xf0\x9f\x98\x80"}};
    static const char *const different[][2] = {{"a", "b"},        {"a", "aa"},       {"\xc3\x97", "\xc3\xb7"}, /* × is not a letter */
                                               {"\xff", "\xfe"},  {"\xff", "\xef\xbf\xbd"}, {"[", "{"},        {"@", "`"},
                                               {"\xc3\x9f", "ss"}, {"\xc4\xb1", "i"}}; /* ß, ı */
    for (size_t i = 0; i < ARRAY_LEN(same); i++) assert_true(str_eq_fold(str_of(same[i][0]), str_of(same[i][1])));
    for (size_t i = 0; i < ARRAY_LEN(different); i++) assert_false(str_eq_fold(str_of(different[i][0]), str_of(different[i][1])));
    assert_true(str_eq_ascii_fold(STR("Select"), STR("sELECT")));
    assert_false(str_eq_ascii_fold(STR("\xc3\x89"), STR("\xc3\xa9")));
}

static void searching_and_cutting(void **state) {
    (void)state;
    assert_int_equal(str_find(STR("abcabc"), STR("ca")), 2);
    assert_int_equal(str_find(STR("abc"), STR("")), 0);
    assert_int_equal(str_find(STR("abc"), STR("abcd")), SIZE_MAX);
    assert_int_equal(str_find_char(STR("a/b/c"), '/'), 1);
    assert_int_equal(str_rfind_char(STR("a/b/c"), '/'), 3);
    assert_int_equal(str_rfind_char(STR_NULL, '/'), SIZE_MAX);
    assert_true(str_starts_with(STR("abc"), STR("ab")));
    assert_false(str_starts_with(STR("a"), STR("ab")));
    assert_true(str_ends_with(STR("a.json"), STR(".json")));
    assert_false(str_ends_with(STR("json"), STR(".json")));
    assert_true(str_eq(str_trim(STR(" \t\n a b \r")), STR("a b")));
    assert_int_equal(str_trim(STR("  ")).len, 0);
}

static void pieces(void **state) {
    (void)state;
    static const char *const expected[] = {"a", "", "b", ""};
    str rest = STR("a,,b,"), piece;
    size_t n = 0;
    while (str_next(&rest, ',', &piece)) assert_true(str_eqz(piece, expected[n++]));
    assert_int_equal(n, 4);
    rest = STR("");
    assert_true(str_next(&rest, ',', &piece));
    assert_int_equal(piece.len, 0);
    assert_false(str_next(&rest, ',', &piece));
}

static void integers(void **state) {
    (void)state;
    int64_t v;
    assert_true(str_to_i64(STR("9223372036854775807"), &v) && v == INT64_MAX);
    assert_true(str_to_i64(STR("-9223372036854775808"), &v) && v == INT64_MIN);
    assert_true(str_to_i64(STR("+007"), &v) && v == 7);
    static const char *const bad[] = {"", "-", "+", "9223372036854775808", "-9223372036854775809", "1 ", " 1", "1.0", "0x1", "1e3", "--1",
                                      "99999999999999999999"};
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) assert_false(str_to_i64(str_of(bad[i]), &v));
}

static void doubles(void **state) {
    (void)state;
    double v;
    assert_true(str_to_f64(STR("1.5e3"), &v) && v == 1500.0);
    assert_true(str_to_f64(STR("-0.0"), &v) && v == 0 && __builtin_signbit(v));
    assert_true(str_to_f64(STR("4.9E-324"), &v) && v > 0);
    assert_true(str_to_f64(STR("NaN"), &v) && v != v);
    assert_true(str_to_f64(STR("-Infinity"), &v) && v < -1e308);
    static const char *const bad[] = {"", "nan", "inf", "infinity", "0x1p3", "1,5", " 1", "1 ", "1e", "e1", "1.2.3", "-"};
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) assert_false(str_to_f64(str_of(bad[i]), &v));
    char long_text[300];
    memset(long_text, '1', sizeof long_text);
    assert_true(str_to_f64((str){long_text, sizeof long_text}, &v) && v > 1e299 && v < 2e299);
    if (setlocale(LC_NUMERIC, "de_DE.UTF-8")) { /* a comma as the decimal point changes nothing */
        assert_true(str_to_f64(STR("1.5"), &v) && v == 1.5);
        setlocale(LC_NUMERIC, "C");
    }
}

static void utf8_is_checked_by_the_standards_table(void **state) {
    (void)state;
    static const char *const good[] = {"", "a", "\xc2\x80", "\xdf\xbf", "\xe0\xa0\x80", "\xed\x9f\xbf", "\xee\x80\x80", "\xef\xbf\xbf",
                                       "\xf0\x90\x80\x80", "\xf4\x8f\xbf\xbf"};
    static const char *const bad[] = {"\x80", "\xc0\x80", "\xc1\xbf", "\xc2", "\xe0\x9f\xbf", "\xed\xa0\x80", "\xed\xbf\xbf", "\xe2\x82",
                                      "\xf0\x8f\xbf\xbf", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xf0\x9f\x98", "\xff", "a\xe2\x28\xa1"};
    for (size_t i = 0; i < ARRAY_LEN(good); i++) assert_true(str_is_utf8(str_of(good[i])));
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) assert_false(str_is_utf8(str_of(bad[i])));
    size_t pos = 0;
    str s = STR("\xf0\x9f\x98\x80\xff" "a");
    assert_int_equal(str_next_codepoint(s, &pos), 0x1f600);
    assert_int_equal(str_next_codepoint(s, &pos), 0xfffd);
    assert_int_equal(pos, 5);
    assert_int_equal(str_next_codepoint(s, &pos), 'a');
    assert_int_equal(pos, 6);
}

static void hashes_differ_for_near_strings(void **state) {
    (void)state;
    assert_int_equal(str_hash(STR("abcdefgh1")), str_hash(STR("abcdefgh1")));
    assert_int_not_equal(str_hash(STR("abcdefgh1")), str_hash(STR("abcdefgh2")));
    assert_int_not_equal(str_hash(STR("a")), str_hash(STR("a\0")));
    assert_int_not_equal(str_hash(STR("")), str_hash(STR("\0")));
    unsigned char used[1024] = {0};
    size_t taken = 0;
    for (int i = 0; i < 1024; i++) { /* the low bits spread: 1 - 1/e of the slots are expected */
        char text[32];
        int n = snprintf(text, sizeof text, "part-%05d.parquet", i);
        size_t slot = str_hash((str){text, (size_t)n}) % 1024;
        taken += !used[slot];
        used[slot] = 1;
    }
    assert_in_range(taken, 580, 720);
}

/* ---- errors ---- */

static void an_error_is_filled_from_its_row(void **state) {
    (void)state;
    silt_error err = {0};
    assert_int_equal(err_DELTA_VERSION_NOT_FOUND(&err, 7, 1, 5), SILT_NOT_FOUND);
    assert_string_equal(err.condition, "DELTA_VERSION_NOT_FOUND");
    assert_string_equal(err.sqlstate, "22003");
    assert_string_equal(err.message, "Cannot time travel Delta table to version 7. Available versions: [1, 5]");
    assert_string_equal(err.detail, "");
    assert_true(err.hint[0] != '\0');
    error_detail(&err, "because of %d", 3);
    error_hint(&err, "do %s", "that");
    assert_string_equal(err.detail, "because of 3");
    assert_string_equal(err.hint, "do that");
    assert_int_equal(err_OUT_OF_MEMORY(NULL), SILT_NO_MEMORY);
    error_detail(NULL, "x");
    error_hint(NULL, "x");
}

static void long_texts_are_cut_on_a_character(void **state) {
    (void)state;
    char path[4000];
    silt_error err = {0};
    for (size_t shift = 0; shift < 4; shift++) {
        for (size_t i = 0; i < sizeof path; i++) path[i] = "\xf0\x9f\x98\x80"[(i + shift) % 4];
        err_FILE_NOT_FOUND(&err, (str){path + (4 - shift) % 4, 3996});
        assert_true(strlen(err.message) >= sizeof err.message - 5);
        assert_true(str_is_utf8(str_of(err.message)));
        error_detail(&err, "%.*s%s", (int)shift, "abcd", err.message);
        assert_true(str_is_utf8(str_of(err.detail)));
    }
}

static void control_characters_become_spaces(void **state) {
    (void)state;
    silt_error err = {0};
    err_FILE_NOT_FOUND(&err, STR("/a\nb\x1b[31m\x7f"));
    assert_string_equal(err.message, "File does not exist: /a b [31m ");
}

static void an_error_may_quote_itself(void **state) {
    (void)state;
    silt_error err = {0};
    err_FILE_NOT_FOUND(&err, STR("/a"));
    err_FILE_NOT_FOUND(&err, str_of(err.message));
    assert_string_equal(err.message, "File does not exist: File does not exist: /a");
}

static void errno_maps_to_a_status(void **state) {
    (void)state;
    static const struct {
        int error;
        silt_status status;
        const char *condition;
    } cases[] = {{ENOENT, SILT_NOT_FOUND, "FILE_NOT_FOUND"}, {EACCES, SILT_DENIED, "PERMISSION_DENIED"}, {EPERM, SILT_DENIED, "PERMISSION_DENIED"},
                 {ENOSPC, SILT_NO_SPACE, "NO_SPACE_LEFT"},   {EDQUOT, SILT_NO_SPACE, "NO_SPACE_LEFT"},   {EIO, SILT_IO, "IO_ERROR"},
                 {ENOMEM, SILT_NO_MEMORY, "OUT_OF_MEMORY"},  {EEXIST, SILT_EXISTS, "PATH_ALREADY_EXISTS"}};
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        silt_error err = {0};
        assert_int_equal(error_from_errno(&err, cases[i].error, "open", STR("/x")), cases[i].status);
        assert_string_equal(err.condition, cases[i].condition);
        assert_int_equal(err.code, cases[i].error);
        assert_true(strncmp(err.detail, "open: ", 6) == 0 && strlen(err.detail) > 6);
    }
    assert_int_equal(error_from_errno(NULL, EIO, "open", STR("/x")), SILT_IO);
}

int main(void) {
    cmocka_set_message_output(CM_OUTPUT_TAP);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(order_is_bytewise),
        cmocka_unit_test(case_folds_in_the_common_scripts),
        cmocka_unit_test(searching_and_cutting),
        cmocka_unit_test(pieces),
        cmocka_unit_test(integers),
        cmocka_unit_test(doubles),
        cmocka_unit_test(utf8_is_checked_by_the_standards_table),
        cmocka_unit_test(hashes_differ_for_near_strings),
        cmocka_unit_test(an_error_is_filled_from_its_row),
        cmocka_unit_test(long_texts_are_cut_on_a_character),
        cmocka_unit_test(control_characters_become_spaces),
        cmocka_unit_test(an_error_may_quote_itself),
        cmocka_unit_test(errno_maps_to_a_status),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
