/* Locations, percent-encoding, Hive's escaping, paths. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include <unistd.h>

#include "base/uri.h"

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

static void locations(void **state) {
    (void)state;
    static const struct {
        const char *text, *scheme, *authority, *path;
    } cases[] = {
        {"/a/b", "file", "", "/a/b"},
        {"/a b/%41", "file", "", "/a b/%41"}, /* a path is not decoded */
        {"/a//b/./c/../d/", "file", "", "/a/b/d"},
        {"/", "file", "", "/"},
        {"file:/a/b", "file", "", "/a/b"},
        {"file:///a%20b/%2541", "file", "", "/a b/%41"}, /* decoded once */
        {"file://localhost/a", "file", "", "/a"},
        {"file://host/a", "file", "host", "/a"},
        {"FILE:///A", "file", "", "/A"},
        {"s3a://bucket/key/part=1/x%20y", "s3a", "bucket", "/key/part=1/x%20y"},
        {"https://host:8443/t/x%20y", "https", "host:8443", "/t/x y"},
        {"s3://bucket", "s3", "bucket", "/"},
        {"hdfs://nn:8020/user/x/", "hdfs", "nn:8020", "/user/x/"},
        {"abfss://c@acct.dfs.core.windows.net/p", "abfss", "c@acct.dfs.core.windows.net", "/p"},
        {"hdfs:/user/x", "hdfs", "", "/user/x"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        uri u;
        assert_int_equal(uri_parse(str_of(cases[i].text), memory, &u, NULL), SILT_OK);
        assert_string_equal(u.scheme.ptr, cases[i].scheme);
        assert_true(str_eqz(u.authority, cases[i].authority));
        assert_true(str_eqz(u.path, cases[i].path));
    }
}

static void relative_paths_start_at_the_current_folder(void **state) {
    (void)state;
    uri u;
    assert_int_equal(chdir("/tmp"), 0);
    static const char *const cases[][2] = {{"x", "/tmp/x"}, {"./x/", "/tmp/x"}, {"../y", "/y"}, {"a:b", "/tmp/a:b"}, {"1:/x", "/tmp/1:/x"}, {"a b%20", "/tmp/a b%20"}};
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        assert_int_equal(uri_parse(str_of(cases[i][0]), memory, &u, NULL), SILT_OK);
        assert_true(str_eqz(u.path, cases[i][1]));
        assert_true(str_eqz(u.scheme, "file"));
    }
}

static void no_locations(void **state) {
    (void)state;
    uri u;
    assert_int_equal(uri_parse(STR(""), memory, &u, NULL), SILT_INVALID);
    assert_int_equal(uri_parse(STR_NULL, memory, &u, NULL), SILT_INVALID);
    assert_int_equal(uri_parse(STR("/a\0b"), memory, &u, NULL), SILT_INVALID);
    assert_int_equal(uri_parse(STR("file:///a%00b"), memory, &u, NULL), SILT_INVALID);
}

static void add_paths_are_encoded_as_java_does(void **state) {
    (void)state;
    /* what Spark writes to add.path, and what lies on disk */
    static const char *const cases[][2] = {
        {"part-00000.parquet", "part-00000.parquet"},
        {"p=a b/x", "p=a%20b/x"},
        {"p=a%3Ab/x", "p=a%253Ab/x"},
        {"p=<>|}{`^\\\"", "p=%3C%3E%7C%7D%7B%60%5E%5C%22"},
        {"p=+&!$~'()*,;@_-.:", "p=+&!$~'()*,;@_-.:"},
        {"p=#?[]", "p=%23%3F%5B%5D"},
        {"p=caf\xc3\xa9\xf0\x9f\x98\x80", "p=caf\xc3\xa9\xf0\x9f\x98\x80"},
        {"p=\xc2\x85\xc2\xa0\xe3\x80\x80", "p=%C2%85%C2%A0%E3%80%80"},
        {"p=\x01\x7f", "p=%01%7F"},
        {"p=\xff", "p=%FF"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        assert_string_equal(uri_encode_path(str_of(cases[i][0]), memory).ptr, cases[i][1]);
        assert_true(str_eqz(uri_decode(str_of(cases[i][1]), memory), cases[i][0]));
    }
}

static void malformed_escapes_stay(void **state) {
    (void)state;
    static const char *const cases[][2] = {{"%", "%"}, {"%4", "%4"}, {"%zz", "%zz"}, {"%4g", "%4g"}, {"%%41", "%A"}, {"%c3%A9", "\xc3\xa9"}, {"", ""}, {"a+b", "a+b"}};
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) assert_string_equal(uri_decode(str_of(cases[i][0]), memory).ptr, cases[i][1]);
}

static void partition_folders_are_escaped_as_hive_does(void **state) {
    (void)state;
    static const char *const cases[][2] = {
        {"a:b", "a%3Ab"},
        {"\"#%'*/:=?\\{[]^", "%22%23%25%27%2A%2F%3A%3D%3F%5C%7B%5B%5D%5E"},
        {"\x01\x1f\x7f\n", "%01%1F%7F%0A"},
        {"a b}<>|`+&!$~.", "a b}<>|`+&!$~."},
        {"caf\xc3\xa9", "caf\xc3\xa9"},
        {"2024-01-01 00:00:00", "2024-01-01 00%3A00%3A00"},
        {"", ""},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        assert_string_equal(hive_escape(str_of(cases[i][0]), memory).ptr, cases[i][1]);
        assert_true(str_eqz(hive_unescape(str_of(cases[i][1]), memory), cases[i][0]));
    }
}

static void paths_are_joined_and_taken_apart(void **state) {
    (void)state;
    assert_string_equal(path_join(memory, STR("/a"), STR("b")).ptr, "/a/b");
    assert_string_equal(path_join(memory, STR("/a/"), STR("/b")).ptr, "/a/b");
    assert_string_equal(path_join(memory, STR("/"), STR("b")).ptr, "/b");
    static const struct {
        const char *path, *parent, *name;
    } cases[] = {{"/a/b", "/a", "b"}, {"/a", "/", "a"}, {"/", "/", ""}, {"a", "", "a"}, {"a/b", "a", "b"}, {"/a/b/", "/a", "b"}, {"/a//b", "/a", "b"}};
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        assert_true(str_eqz(path_parent(str_of(cases[i].path)), cases[i].parent));
        assert_true(str_eqz(path_name(str_of(cases[i].path)), cases[i].name));
    }
}

static void paths_are_normalized(void **state) {
    (void)state;
    static const char *const cases[][2] = {{"/", "/"}, {"//", "/"}, {"/a/", "/a"}, {"/a/./b", "/a/b"}, {"/a/../b", "/b"}, {"/../a", "/a"}, {"/a/..", "/"},
                                           {"/a/b/../../..", "/"}, {"a/..", "."}, {"../a", "../a"}, {"../../a/..", "../.."}, {"", "."}, {".", "."}, {"a//b", "a/b"},
                                           {"/..a/.b", "/..a/.b"}, {"/.../x", "/.../x"}};
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) assert_string_equal(path_normalize(memory, str_of(cases[i][0])).ptr, cases[i][1]);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void) {
    cmocka_set_message_output(CM_OUTPUT_TAP);
    const struct CMUnitTest tests[] = {
        TEST(locations),
        TEST(relative_paths_start_at_the_current_folder),
        TEST(no_locations),
        TEST(add_paths_are_encoded_as_java_does),
        TEST(malformed_escapes_stay),
        TEST(partition_folders_are_escaped_as_hive_does),
        TEST(paths_are_joined_and_taken_apart),
        TEST(paths_are_normalized),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
