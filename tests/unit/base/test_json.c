/* JSON: what RFC 8259 accepts and refuses, the tree, look-ups, writing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/json.h"

static arena *memory;
static int begin(void **state) {
    (void)state;
    memory = arena_new();
    return memory ? 0 : -1;
}
static int end(void **state) {
    (void)state;
    arena_free(memory);
    return 0;
}

static const json_node *parse(str text) {
    const json_node *root = NULL;
    silt_error err = {0};
    if (json_parse(text, memory, &root, &err) != SILT_OK) fail_msg("%.*s: %s", STR_ARG(text), err.detail);
    return root;
}

static void assert_written(const json_node *node, const char *expected) {
    buf b;
    buf_init(&b, 1 << 20);
    json_write_node(&b, node);
    assert_string_equal(buf_cstr(&b), expected);
    buf_dispose(&b);
}

static void documents_of_every_kind_are_read(void **state) {
    (void)state;
    static const char *const cases[][2] = {
        {"{}", "{}"},
        {"[]", "[]"},
        {" [ ] \r\n\t", "[]"},
        {"{\"a\":1}", "{\"a\":1}"},
        {"{ \"a\" : [ 1 , { \"b\" : null } , true , false , \"x\" ] }", "{\"a\":[1,{\"b\":null},true,false,\"x\"]}"},
        {"[[],[[]],{},{\"a\":{}}]", "[[],[[]],{},{\"a\":{}}]"},
        {"{\"\":0}", "{\"\":0}"},
        {"\"text\"", "\"text\""},
        {" 12 ", "12"},
        {"true", "true"},
        {"false", "false"},
        {"null", "null"},
        {"\"\"", "\"\""},
        {"{\"a\":1,\"a\":2}", "{\"a\":1,\"a\":2}"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) assert_written(parse(str_of(cases[i][0])), cases[i][1]);
}

static void numbers_are_kept_as_written(void **state) {
    (void)state;
    static const char *const numbers[] = {"0",    "-0",  "-0.0",   "1.50",  "1e5",  "1E+5", "1e-05", "123456789012345678901234567890123456789",
                                          "0.1e1", "-1", "1.0E10", "9223372036854775807", "1e400", "0e0", "0.00"};
    for (size_t i = 0; i < ARRAY_LEN(numbers); i++) {
        assert_true(str_eqz(parse(str_of(numbers[i]))->text, numbers[i]));
        str inside = arena_printf(memory, "[ %s , {\"k\":%s } ]", numbers[i], numbers[i]);
        const json_node *root = parse(inside);
        assert_int_equal(root->values[0].type, JSON_NUMBER);
        assert_true(str_eqz(root->values[0].text, numbers[i]));
        assert_true(str_eqz(json_get(&root->values[1], "k")->text, numbers[i]));
    }
}

static void what_is_no_json_is_refused(void **state) {
    (void)state;
    static const char *const cases[] = {
        "",        " ",       "[",        "]",         "{",         "}",          "[}",         "{]",       "[1",       "[1,",     "[1,]",
        "[,1]",    "[1,,2]",  "[1 2]",    "[1][2]",    "[1]]",      "[1] 2",      "{\"a\"}",    "{\"a\":}", "{\"a\":1,}", "{,}",   "{\"a\" 1}",
        "{a:1}",   "{1:2}",   "{'a':1}",  "{\"a\":1 \"b\":2}", "{\"a\":1}}", "{\"a\":[1,2}", "01",  "[01]",     "[-]",      "[+1]",    "[.5]",
        "[5.]",    "[1.e5]",  "[1e]",     "[1e+]",     "[0x10]",    "[1a]",       "[--1]",      "-",        "+1",       "nul",     "[nul]",
        "[nulll]", "[tru]",   "[True]",   "[NaN]",     "NaN",       "[Infinity]", "[true1]",    "\"a",      "[\"a]",    "[\"a",    "\"a\"b",
        "\"a\"b\"", "\"a\" \"b\"", "true false", "1 2", "[\"\\x\"]", "[\"\\u12\"]", "[\"\\u12g4\"]", "\"\\\"", "\"\\u00\"", "[\"\\\"]", "[\"\\",
        "/* */ 1", "[1] // x", "[\"tab\there\"]", "\"tab\there\"", "[\"line\nbreak\"]", "undefined", "\xef\xbb\xbf{}", "[1]\x01",
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const json_node *root = NULL;
        silt_error err = {0};
        if (json_parse(str_of(cases[i]), memory, &root, &err) != SILT_CORRUPT) fail_msg("accepted: %s", cases[i]);
        assert_null(root);
        assert_string_equal(err.condition, "MALFORMED_JSON");
        assert_true(err.detail[0] != '\0');
    }
    const json_node *root;
    assert_int_equal(json_parse(STR("[1\0]"), memory, &root, NULL), SILT_CORRUPT);
    assert_int_equal(json_parse(STR("\"a\0b\""), memory, &root, NULL), SILT_CORRUPT);
    assert_int_equal(json_parse(STR("{}\0"), memory, &root, NULL), SILT_CORRUPT);
    assert_int_equal(json_parse(STR_NULL, memory, &root, NULL), SILT_CORRUPT);
}

static void the_error_names_the_place(void **state) {
    (void)state;
    static const struct {
        const char *text, *place;
    } cases[] = {{"{\"a\" 1}", "near byte 5"}, {" [1 2]", "near byte 4"}, {"[1, tru]", "near byte 4"}, {"[1] [2]", "near byte 4"}};
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const json_node *root;
        silt_error err = {0};
        assert_int_equal(json_parse(str_of(cases[i].text), memory, &root, &err), SILT_CORRUPT);
        if (!strstr(err.detail, cases[i].place)) fail_msg("%s: %s", cases[i].text, err.detail);
    }
}

static void invalid_utf8_is_refused(void **state) {
    (void)state;
    static const char *const cases[] = {"\"\xff\"", "[\"\xff\"]", "{\"\xc0\x80\":1}", "[\"\xed\xa0\x80\"]", "\"\xe2\x82\"", "[\"\xf4\x90\x80\x80\"]"};
    const json_node *root;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) assert_int_equal(json_parse(str_of(cases[i]), memory, &root, NULL), SILT_CORRUPT);
    assert_true(str_eqz(parse(STR("[\"\xf0\x9f\x98\x80\"]"))->values[0].text, "\xf0\x9f\x98\x80"));
}

static void strings_are_unescaped(void **state) {
    (void)state;
    static const char *const cases[][2] = {
        {"\\\"\\\\\\/\\b\\f\\n\\r\\t", "\"\\/\b\f\n\r\t"},
        {"\\u0041\\u00e9\\u20AC", "A\xc3\xa9\xe2\x82\xac"},
        {"\\ud83d\\ude00!", "\xf0\x9f\x98\x80!"},
        {"\\uD834\\uDD1E", "\xf0\x9d\x84\x9e"}, /* U+1D11E, the RFC's own example */
        {"\\ud83d", "\xef\xbf\xbd"},            /* lone surrogates, which Java writes */
        {"\\ude00x", "\xef\xbf\xbdx"},
        {"\\ud83d\\u0041", "\xef\xbf\xbd" "A"},
        {"\\ud83d\\ud83d\\ude00", "\xef\xbf\xbd\xf0\x9f\x98\x80"},
        {"a\\u007fb", "a\x7f" "b"},
        {"\\\\u0041", "\\u0041"},
        {"ends in \\\\", "ends in \\"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        str alone = arena_printf(memory, "\"%s\"", cases[i][0]), inside = arena_printf(memory, "{\"%s\":[\"%s\"]}", cases[i][0], cases[i][0]);
        assert_true(str_eqz(parse(alone)->text, cases[i][1]));
        const json_node *root = parse(inside);
        assert_true(str_eqz(root->keys[0], cases[i][1]));
        assert_true(str_eqz(root->values[0].values[0].text, cases[i][1]));
    }
    const json_node *nul = parse(STR("\"a\\u0000b\""));
    assert_int_equal(nul->text.len, 3);
    assert_memory_equal(nul->text.ptr, "a\0b", 3);
}

static void containers_keep_their_source(void **state) {
    (void)state;
    const json_node *root = parse(STR(" { \"a\" : [ 1 , 2 ] , \"b\":{ \"c\" : \"]}\" } ,\"d\": [ ] } "));
    assert_true(str_eqz(root->text, "{ \"a\" : [ 1 , 2 ] , \"b\":{ \"c\" : \"]}\" } ,\"d\": [ ] }"));
    assert_true(str_eqz(json_get(root, "a")->text, "[ 1 , 2 ]"));
    assert_true(str_eqz(json_get(root, "b")->text, "{ \"c\" : \"]}\" }"));
    assert_true(str_eqz(json_get(root, "d")->text, "[ ]"));
}

static void the_tree_outlives_the_text(void **state) {
    (void)state;
    char text[] = "{\"key\":\"value\",\"n\":12.50}";
    const json_node *root = parse(str_of(text));
    memset(text, 'x', sizeof text);
    assert_written(root, "{\"key\":\"value\",\"n\":12.50}");
}

static void depth_is_bounded(void **state) {
    (void)state;
    static const size_t depths[] = {100, 500, 501, 10000, 1000000};
    for (size_t i = 0; i < ARRAY_LEN(depths); i++) {
        size_t n = depths[i];
        char *text = arena_alloc(memory, 2 * n);
        memset(text, '[', n);
        memset(text + n, ']', n);
        const json_node *root;
        silt_error err = {0};
        silt_status status = json_parse((str){text, 2 * n}, memory, &root, &err);
        assert_int_equal(status, n <= 500 ? SILT_OK : SILT_CORRUPT);
    }
}

static void large_documents(void **state) {
    (void)state;
    buf b;
    buf_init(&b, 1 << 28);
    buf_append_char(&b, '[');
    for (int i = 0; i < 200000; i++) buf_printf(&b, "%s{\"id\":%d,\"name\":\"n\\u00e9%d\"}", i ? "," : "", i, i);
    buf_append_char(&b, ']');
    const json_node *root = parse(buf_str(&b));
    assert_int_equal(root->count, 200000);
    for (int i = 0; i < 200000; i += 777) {
        assert_int_equal(json_get_i64(&root->values[i], "id", -1), i);
        assert_true(str_eq(json_get_str(&root->values[i], "name", STR_NULL), arena_printf(memory, "n\xc3\xa9%d", i)));
    }
    buf_dispose(&b);
}

static void look_ups(void **state) {
    (void)state;
    const json_node *root = parse(STR("{\"i\":-7,\"f\":1.5,\"s\":\"x\",\"b\":true,\"n\":null,\"o\":{\"k\":1},\"i2\":1e3,\"d\":1,\"d\":2,\"nan\":\"NaN\",\"inf\":\"-Infinity\"}"));
    double f;
    int64_t i;
    assert_int_equal(json_get_i64(root, "i", 0), -7);
    assert_int_equal(json_get_i64(root, "f", 9), 9); /* no integer */
    assert_int_equal(json_get_i64(root, "i2", 9), 9);
    assert_int_equal(json_get_i64(root, "s", 9), 9);
    assert_int_equal(json_get_i64(root, "absent", 9), 9);
    assert_int_equal(json_get_i64(root, "d", 9), 2); /* the last of two */
    assert_true(str_eqz(json_get_str(root, "s", STR("?")), "x"));
    assert_true(str_eqz(json_get_str(root, "i", STR("?")), "?"));
    assert_true(str_eqz(json_get_str(root, "n", STR("?")), "?"));
    assert_true(json_get_bool(root, "b", false));
    assert_true(json_get_bool(root, "s", true));
    assert_int_equal(json_get(root, "n")->type, JSON_NULL);
    assert_int_equal(json_get_i64(json_get(root, "o"), "k", 0), 1);
    assert_null(json_get(json_get(json_get(root, "absent"), "x"), "y"));
    assert_null(json_get(json_get(root, "s"), "x"));
    assert_true(json_node_f64(json_get(root, "f"), &f) && f == 1.5);
    assert_true(json_node_f64(json_get(root, "i"), &f) && f == -7);
    assert_true(json_node_f64(json_get(root, "nan"), &f) && f != f);
    assert_true(json_node_f64(json_get(root, "inf"), &f) && f < -1e308);
    assert_false(json_node_f64(json_get(root, "s"), &f));
    assert_false(json_node_f64(NULL, &f));
    assert_false(json_node_i64(NULL, &i));
}

static void strings_are_escaped_only_where_json_requires(void **state) {
    (void)state;
    static const struct {
        str in;
        const char *out;
    } cases[] = {
        {{"", 0}, "\"\""},
        {{"a/b <&> '\x7f", 10}, "\"a/b <&> '\x7f\""},
        {{"\"\\\b\f\n\r\t\x01\x1f\0", 10}, "\"\\\"\\\\\\b\\f\\n\\r\\t\\u0001\\u001f\\u0000\""},
        {{"caf\xc3\xa9 \xf0\x9f\x98\x80", 10}, "\"caf\xc3\xa9 \xf0\x9f\x98\x80\""},
        {{"\xff" "a\xed\xa0\x80", 5}, "\"\xef\xbf\xbd" "a\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\""},
        {{"\xef\xbf\xbd", 3}, "\"\xef\xbf\xbd\""},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        buf b;
        buf_init(&b, 1000);
        json_write_str(&b, cases[i].in);
        assert_string_equal(buf_cstr(&b), cases[i].out);
        assert_int_equal(parse(buf_str(&b))->type, JSON_STRING);
        buf_dispose(&b);
    }
}

static void objects_are_written_key_by_key(void **state) {
    (void)state;
    buf b;
    bool first = true;
    buf_init(&b, 1000);
    buf_append_char(&b, '{');
    json_write_key(&b, &first, "a");
    json_write_i64(&b, INT64_MIN);
    json_write_key_str(&b, &first, STR("q\""));
    json_write_f64(&b, 0.1);
    buf_append_char(&b, '}');
    assert_string_equal(buf_cstr(&b), "{\"a\":-9223372036854775808,\"q\\\"\":0.1}");
    buf_dispose(&b);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void) {
    cmocka_set_message_output(CM_OUTPUT_TAP);
    const struct CMUnitTest tests[] = {
        TEST(documents_of_every_kind_are_read),
        TEST(numbers_are_kept_as_written),
        TEST(what_is_no_json_is_refused),
        TEST(the_error_names_the_place),
        TEST(invalid_utf8_is_refused),
        TEST(strings_are_unescaped),
        TEST(containers_keep_their_source),
        TEST(the_tree_outlives_the_text),
        TEST(depth_is_bounded),
        TEST(large_documents),
        TEST(look_ups),
        TEST(strings_are_escaped_only_where_json_requires),
        TEST(objects_are_written_key_by_key),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
