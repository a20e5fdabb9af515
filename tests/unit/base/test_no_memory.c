/* base when memory runs out: every function says so, leaks nothing and leaves what it was given usable. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/json.h"
#include "base/thread.h"
#include "base/uri.h"
#include "support/no_memory.h"

static silt_status parse_and_write(void *ctx) {
    (void)ctx;
    static const char text[] = "{\"a\":[1,2,{\"b\":\"x\\u00e9\"}],\"c\":\"\\ud83d\\ude00\",\"d\":[[],{},null,true,1.5]}";
    arena *a = arena_new();
    if (!a) return SILT_NO_MEMORY;
    const json_node *root;
    buf b;
    silt_error err = {0};
    buf_init(&b, BUF_MAX_DEFAULT);
    silt_status status = json_parse(str_of(text), a, &root, &err);
    if (status == SILT_OK) {
        for (int i = 0; i < 100; i++) json_write_node(&b, root);
        if (!buf_ok(&b)) status = SILT_NO_MEMORY;
    } else if (strcmp(err.condition, "OUT_OF_MEMORY") != 0) {
        status = SILT_INTERNAL;
    }
    buf_dispose(&b);
    arena_free(a);
    return status;
}

static silt_status parse_locations(void *ctx) {
    (void)ctx;
    arena *a = arena_new();
    if (!a) return SILT_NO_MEMORY;
    uri u;
    silt_status status = uri_parse(STR("file:///a%20b/../c"), a, &u, NULL);
    if (status == SILT_OK) status = uri_parse(STR("relative/x"), a, &u, NULL);
    if (status == SILT_OK) status = uri_parse(STR("s3a://bucket/key"), a, &u, NULL);
    for (int i = 0; i < 2000 && status == SILT_OK; i++)
        if (str_is_null(hive_escape(STR("a:b"), a)) || str_is_null(uri_encode_path(STR("a b"), a)) || str_is_null(path_join(a, STR("/a"), STR("b"))))
            status = SILT_NO_MEMORY;
    arena_free(a);
    return status;
}

static silt_status fill_an_arena(void *ctx) {
    (void)ctx;
    arena *a = arena_new();
    if (!a) return SILT_NO_MEMORY;
    int *items = NULL;
    size_t count = 0, capacity = 0;
    silt_status status = SILT_OK;
    for (int i = 0; i < 100000 && status == SILT_OK; i++)
        if (!ARENA_PUSH(a, items, count, capacity, i)) status = SILT_NO_MEMORY;
    for (size_t i = 0; i < count; i++) assert_int_equal(items[i], i);
    arena_free(a);
    return status;
}

static void json(void **state) { (void)state; no_memory_torture(parse_and_write, NULL); }
static void locations(void **state) { (void)state; no_memory_torture(parse_locations, NULL); }
static void arenas(void **state) { (void)state; no_memory_torture(fill_an_arena, NULL); }

int main(void) {
    cmocka_set_message_output(CM_OUTPUT_TAP);
    const struct CMUnitTest tests[] = {cmocka_unit_test(json), cmocka_unit_test(locations), cmocka_unit_test(arenas)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
