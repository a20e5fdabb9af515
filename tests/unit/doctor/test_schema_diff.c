/* schema_diff: what changed between two schemas, by name and by column mapping id. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "doctor/schema_diff.h"

typedef struct fixture {
    arena *a;
} fixture;

static int setup(void **state) {
    fixture *f = calloc(1, sizeof *f);
    f->a = arena_new();
    *state = f;
    return f->a ? 0 : -1;
}

static int teardown(void **state) {
    fixture *f = *state;
    arena_free(f->a);
    free(f);
    return 0;
}

static const data_type *schema(arena *a, const char *fields) {
    silt_error err = {0};
    const data_type *out = NULL;
    str json = arena_printf(a, "{\"type\":\"struct\",\"fields\":[%s]}", fields);
    assert_int_equal(schema_parse_json(json, a, &out, &err), SILT_OK);
    return out;
}

#define F(name, type)        "{\"name\":\"" name "\",\"type\":" type ",\"nullable\":true,\"metadata\":{}}"
#define REQUIRED(name, type) "{\"name\":\"" name "\",\"type\":" type ",\"nullable\":false,\"metadata\":{}}"
#define WITH_ID(name, type, id)                                                                               \
    "{\"name\":\"" name "\",\"type\":" type ",\"nullable\":true,\"metadata\":{\"delta.columnMapping.id\":" id \
    ",\"delta.columnMapping.physicalName\":\"p" id "\"}}"

/* The changes as one text: "kind column before after!;", '!' where it breaks readers. */
static const char *diff(arena *a, const char *before, const char *after, bool by_name) {
    schema_change *c;
    size_t n;
    silt_error err = {0};
    str out = STR("");
    assert_int_equal(schema_diff(schema(a, before), schema(a, after), by_name, a, &c, &n, &err), SILT_OK);
    for (size_t i = 0; i < n; i++)
        if (c[i].kind != SCHEMA_METADATA)
            out = arena_printf(a, "%.*s%s %.*s %.*s %.*s%s;", STR_ARG(out), schema_change_name(c[i].kind), STR_ARG(c[i].column),
                               STR_ARG(c[i].before), STR_ARG(c[i].after), c[i].breaks ? "!" : "");
    return arena_cstr(a, out);
}

static void same(void **state) {
    fixture *f = *state;
    assert_string_equal(
        diff(f->a, F("a", "\"long\"") "," F("b", "\"string\""), F("a", "\"long\"") "," F("b", "\"string\""), false), "");
}

static void added_and_dropped(void **state) {
    fixture *f = *state;
    assert_string_equal(diff(f->a, F("a", "\"long\""), F("a", "\"long\"") "," REQUIRED("b", "\"date\""), false),
                        "added b  date not null;");
    assert_string_equal(diff(f->a, F("a", "\"long\"") "," F("b", "\"date\""), F("a", "\"long\""), false), "dropped b date !;");
}

static void types(void **state) {
    fixture *f = *state;
    static const struct {
        const char *before, *after;
        bool breaks;
    } cases[] = {
        {"\"integer\"", "\"long\"", false},
        {"\"long\"", "\"integer\"", true},
        {"\"byte\"", "\"short\"", false},
        {"\"float\"", "\"double\"", false},
        {"\"integer\"", "\"double\"", false},
        {"\"long\"", "\"double\"", true},
        {"\"date\"", "\"timestamp_ntz\"", false},
        {"\"date\"", "\"timestamp\"", true},
        {"\"decimal(10,2)\"", "\"decimal(12,4)\"", false},
        {"\"decimal(10,2)\"", "\"decimal(11,4)\"", true},
        {"\"integer\"", "\"decimal(10,0)\"", false},
        {"\"integer\"", "\"decimal(10,1)\"", true},
        {"\"long\"", "\"decimal(20,0)\"", false},
        {"\"string\"", "\"long\"", true},
        {"\"long\"", "\"string\"", true},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        char before[200], after[200];
        snprintf(before, sizeof before, F("a", "%s"), cases[i].before);
        snprintf(after, sizeof after, F("a", "%s"), cases[i].after);
        const char *text = diff(f->a, before, after, false);
        assert_memory_equal(text, "type a ", 7);
        assert_int_equal(strchr(text, '!') != NULL, cases[i].breaks);
    }
}

static void nullability_and_order(void **state) {
    fixture *f = *state;
    assert_string_equal(diff(f->a, REQUIRED("a", "\"long\""), F("a", "\"long\""), false), "nullability a not null nullable;");
    assert_string_equal(diff(f->a, F("a", "\"long\"") "," F("b", "\"long\"") "," F("c", "\"long\""),
                             F("c", "\"long\"") "," F("a", "\"long\"") "," F("b", "\"long\""), false),
                        "order a  ;order b  ;");
}

static void names(void **state) {
    fixture *f = *state;
    assert_string_equal(diff(f->a, F("Name", "\"long\""), F("name", "\"long\""), false), "renamed name Name name!;");
    assert_string_equal(diff(f->a, WITH_ID("a", "\"long\"", "1"), WITH_ID("b", "\"long\"", "1"), false), "renamed b a b!;");
    assert_string_equal(diff(f->a, WITH_ID("a", "\"long\"", "1"), WITH_ID("a", "\"long\"", "2"), false),
                        "added a  bigint;dropped a bigint !;");
    assert_string_equal(diff(f->a, WITH_ID("a", "\"long\"", "1"), WITH_ID("a", "\"long\"", "2"), true), "");
    assert_string_equal(diff(f->a, WITH_ID("a", "\"long\"", "1") "," WITH_ID("b", "\"long\"", "2"),
                             WITH_ID("b", "\"long\"", "1") "," WITH_ID("a", "\"long\"", "2"), false),
                        "renamed b a b!;renamed a b a!;");
}

static void nested(void **state) {
    fixture *f = *state;
    const char *before =
        F(
            "s", "{\"type\":\"struct\",\"fields\":[" F(
                     "x", "\"integer\"") "]}") "," F("l", "{\"type\":\"array\",\"elementType\":\"integer\",\"containsNull\":"
                                                          "false}") "," F("m",
                                                                          "{\"type\":\"map\",\"keyType\":\"string\","
                                                                          "\"valueType\":{\"type\":\"struct\",\"fields\":[" F(
                                                                              "y", "\"long\"") "]},\"valueContainsNull\":true}");
    const char *after = F("s", "{\"type\":\"struct\",\"fields\":[" F("x", "\"long\"") "," F("z", "\"string\"") "]}") "," F(
        "l", "{\"type\":\"array\",\"elementType\":\"long\",\"containsNull\":true}") "," F("m", "{\"type\":\"map\",\"keyType\":"
                                                                                               "\"string\",\"valueType\":{"
                                                                                               "\"type\":\"struct\",\"fields\":[]"
                                                                                               "},\"valueContainsNull\":true}");
    assert_string_equal(diff(f->a, before, after, false),
                        "type s.x int bigint;added s.z  string;type l.element int bigint;nullability l.element not null "
                        "nullable;dropped m.value.y bigint !;");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(same, setup, teardown),
        cmocka_unit_test_setup_teardown(added_and_dropped, setup, teardown),
        cmocka_unit_test_setup_teardown(types, setup, teardown),
        cmocka_unit_test_setup_teardown(nullability_and_order, setup, teardown),
        cmocka_unit_test_setup_teardown(names, setup, teardown),
        cmocka_unit_test_setup_teardown(nested, setup, teardown),
    };
    return cmocka_run_group_tests_name("schema_diff", tests, NULL, NULL);
}
