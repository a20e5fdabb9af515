/* The checksum of _last_checkpoint: the example of PROTOCOL.md "JSON checksum", and files as Spark writes them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "base/ident.h"
#include "base/json.h"
#include "delta/last_checkpoint.h"

static void canonical_form_of(const char *json, buf *out) {
    arena *a = arena_new();
    const json_node *root;
    buf_init(out, 1 << 20);
    assert_int_equal(json_parse(str_of(json), a, &root, NULL), SILT_OK);
    assert_int_equal(last_checkpoint_canonical(root, out, NULL), SILT_OK);
    arena_free(a);
}

static void protocol_example(void **state) {
    (void)state;
    buf canonical;
    char md5[33];
    canonical_form_of("{\"k0\":\"'v 0'\", \"checksum\": \"adsaskfljadfkjadfkj\", \"k1\":{\"k2\": 2, \"k3\": [\"v3\", [1, 2], {\"k4\": \"v4\", "
                      "\"k5\": [\"v5\", \"v6\", \"v7\"]}]}}",
                      &canonical);
    assert_string_equal(buf_cstr(&canonical), "\"k0\"=\"%27v%200%27\",\"k1\"+\"k2\"=2,\"k1\"+\"k3\"+0=\"v3\",\"k1\"+\"k3\"+1+0=1,\"k1\"+\"k3\"+1+1=2,"
                                              "\"k1\"+\"k3\"+2+\"k4\"=\"v4\",\"k1\"+\"k3\"+2+\"k5\"+0=\"v5\",\"k1\"+\"k3\"+2+\"k5\"+1=\"v6\","
                                              "\"k1\"+\"k3\"+2+\"k5\"+2=\"v7\"");
    md5_hex(canonical.ptr, canonical.len, md5);
    assert_string_equal(md5, "6a92d155a59bf2eecbd4b4ec7fd1f875");
    buf_dispose(&canonical);
}

static void scalars_and_order(void **state) {
    (void)state;
    buf canonical;
    canonical_form_of("{\"b\":{\"y\":null,\"x\":\"https://delta.io\"},\"a\":1.50,\"c\":[true,false],\"e\":{},\"f\":[],\"é\":\"\\u00e9~-_.\"}", &canonical);
    assert_string_equal(buf_cstr(&canonical), "\"%C3%A9\"=\"%C3%A9~-_.\",\"a\"=1.50,\"b\"+\"x\"=\"https%3A%2F%2Fdelta.io\",\"b\"+\"y\"=null,"
                                              "\"c\"+0=true,\"c\"+1=false");
    buf_dispose(&canonical);
}

static void does_not_go_backwards(void **state) {
    (void)state;
    store *s;
    buf text;
    assert_int_equal(store_memory_open(1, &s, NULL), SILT_OK);
    const delta_env env = {.store = s};
    const last_checkpoint ten = {.version = 10, .n_actions = 12, .size_bytes = 19809, .n_adds = 10, .v2_checkpoint = STR_NULL};
    const last_checkpoint nine = {.version = 9, .n_actions = 1, .size_bytes = 1, .n_adds = 1, .v2_checkpoint = STR_NULL};
    assert_int_equal(last_checkpoint_write(&env, STR("/t"), &ten, NULL), SILT_OK);
    assert_int_equal(last_checkpoint_write(&env, STR("/t"), &nine, NULL), SILT_OK);
    buf_init(&text, 1 << 20);
    assert_int_equal(store_read(s, STR("/t/_delta_log/_last_checkpoint"), 0, -1, &text, NULL), SILT_OK);
    /* the checksum, computed by hand over "numOfAddFiles"=10,"size"=12,"sizeInBytes"=19809,"version"=10 */
    const char form[] = "\"numOfAddFiles\"=10,\"size\"=12,\"sizeInBytes\"=19809,\"version\"=10";
    char md5[33];
    md5_hex(form, sizeof form - 1, md5);
    assert_true(str_starts_with(buf_str(&text), STR("{\"version\":10,\"size\":12,\"sizeInBytes\":19809,\"numOfAddFiles\":10,\"checksum\":\"")));
    assert_int_not_equal(str_find(buf_str(&text), str_of(md5)), SIZE_MAX);
    buf_dispose(&text);
    store_close(s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(protocol_example),
        cmocka_unit_test(scalars_and_order),
        cmocka_unit_test(does_not_go_backwards),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
