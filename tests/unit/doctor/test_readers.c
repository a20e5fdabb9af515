/* Readers by name and release, against protocols. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "doctor/readers.h"

static const char *refused(arena *a, const char *name, int32_t version, const char *const *features, size_t n) {
    reader r;
    silt_error err = {0};
    str list[8];
    const char **out;
    size_t n_out;
    for (size_t i = 0; i < n; i++) list[i] = str_of(features[i]);
    delta_protocol p = {.min_reader_version = version,
                        .min_writer_version = 7,
                        .reader_features = list,
                        .n_reader_features = n,
                        .has_reader_features = n > 0};
    assert_int_equal(reader_parse(str_of(name), &r, &err), SILT_OK);
    assert_int_equal(reader_refuses(&r, &p, a, &out, &n_out, &err), SILT_OK);
    str text = STR("");
    for (size_t i = 0; i < n_out; i++) text = arena_printf(a, "%.*s%s%s", STR_ARG(text), i ? "," : "", out[i]);
    return arena_cstr(a, text);
}

#define REFUSED(name, ...) \
    refused(a, name, 3, (const char *const[]){__VA_ARGS__}, sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *))

static void releases(void **state) {
    arena *a = arena_new();
    (void)state;
    assert_string_equal(REFUSED("delta-2.2", "deletionVectors"), "deletionVectors");
    assert_string_equal(REFUSED("delta-2.3", "deletionVectors"), "");
    assert_string_equal(REFUSED("spark-3.2", "deletionVectors", "columnMapping"), "deletionVectors");
    assert_string_equal(REFUSED("spark-3.5.1", "deletionVectors", "timestampNtz", "v2Checkpoint", "variantType"), "variantType");
    assert_string_equal(REFUSED("Spark-4.1", "deletionVectors", "typeWidening", "variantType", "vacuumProtocolCheck"), "");
    assert_string_equal(REFUSED("spark", "variantType"), "");
    assert_string_equal(REFUSED("trino-410", "deletionVectors", "columnMapping"), "deletionVectors");
    assert_string_equal(REFUSED("trino-455", "deletionVectors", "columnMapping", "timestampNtz", "v2Checkpoint"), "");
    assert_string_equal(REFUSED("trino", "variantType"), "variantType");
    assert_string_equal(REFUSED("hive", "deletionVectors", "timestampNtz"), "deletionVectors,timestampNtz");
    assert_string_equal(REFUSED("parquet", "deletionVectors", "timestampNtz"), "deletionVectors");
    assert_string_equal(REFUSED("deltalake-1.6", "vacuumProtocolCheck", "deletionVectors"), "vacuumProtocolCheck");
    arena_free(a);
}

static void legacy_versions(void **state) {
    arena *a = arena_new();
    (void)state;
    assert_string_equal(refused(a, "hive", 1, NULL, 0), "");
    assert_string_equal(refused(a, "hive", 2, NULL, 0), "columnMapping");
    assert_string_equal(refused(a, "delta-1.0", 2, NULL, 0), "columnMapping");
    assert_string_equal(refused(a, "polars", 2, NULL, 0), "columnMapping");
    arena_free(a);
}

static void unknown_names(void **state) {
    static const char *const bad[] = {"",          "trin",     "trino-", "trino-x",   "trino455", "spark-",
                                      "spark-x.y", "spark--3", "excel",  "delta-3.x", "hive-"};
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        reader r;
        silt_error err = {0};
        assert_int_equal(reader_parse(str_of(bad[i]), &r, &err), SILT_INVALID);
        assert_string_equal(err.condition, "INVALID_PARAMETER_VALUE");
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(releases), cmocka_unit_test(legacy_versions),
                                       cmocka_unit_test(unknown_names)};
    return cmocka_run_group_tests_name("readers", tests, NULL, NULL);
}
