/* Deletion vectors against bytes that Spark 4.1 with Delta 4.3 wrote, and every way in which they can be damaged. PROTOCOL.md
 * "Deletion Vectors". */
#include "read_support.h"

#include "base/ident.h"
#include "base/uri.h"
#include "table/bitmap.h"

/* deletion_vector_fe3558b8-be38-4580-bb2a-6c13650a9ca7.bin: two vectors in one file, the rows {3, 4} and {47}. */
static const char spark_file[] = "0100000024d1d339640100000000000000000000003a300000010000000000010010000000030004008d7cc9e5"
                                 "00000022d1d339640100000000000000000000003a3000000100000000000000100000002f00e5ba8cd8";
#define FILE_PATH "/t/deletion_vector_fe3558b8-be38-4580-bb2a-6c13650a9ca7.bin"
#define FILE_ID   "@XW//ZbOMiYddRgwEs%9"

static str unhex(log_fixture *f, const char *hex) {
    size_t n = strlen(hex) / 2;
    char *bytes = arena_alloc(f->arena, n + 1);
    for (size_t i = 0; i < n; i++) {
        unsigned byte = 0;
        for (int k = 0; k < 2; k++)
            byte = byte * 16 + (unsigned)(strchr("0123456789abcdef", hex[2 * i + (size_t)k]) - "0123456789abcdef");
        bytes[i] = (char)byte;
    }
    return (str){bytes, n};
}

static void put(log_fixture *f, const char *path, str bytes) {
    assert_int_equal(store_put(f->store, str_of(path), bytes, STORE_PUT_REPLACE, &f->err), SILT_OK);
}

static bitmap *load(log_fixture *f, delta_dv dv) {
    bitmap *b;
    if (delta_dv_load(&f->env, LOG_ROOT, &dv, &b, &f->err) != SILT_OK)
        fail_msg("%s: %s (%s)", f->err.condition, f->err.message, f->err.detail);
    return b;
}

static void fails(log_fixture *f, delta_dv dv, const char *condition) {
    bitmap *b = (bitmap *)1;
    assert_int_not_equal(delta_dv_load(&f->env, LOG_ROOT, &dv, &b, &f->err), SILT_OK);
    assert_null(b);
    assert_condition(&f->err, condition);
}

static const delta_dv first = {.storage = 'u', .path_or_inline = {FILE_ID, 20}, .offset = 1, .size_bytes = 36, .cardinality = 2};
static const delta_dv second = {
    .storage = 'u', .path_or_inline = {FILE_ID, 20}, .offset = 45, .size_bytes = 34, .cardinality = 1};

static void two_in_one_file(void **state) {
    log_fixture *f = *state;
    put(f, FILE_PATH, unhex(f, spark_file));
    bitmap *b = load(f, first);
    assert_int_equal(bitmap_cardinality(b), 2);
    assert_true(bitmap_contains(b, 3));
    assert_true(bitmap_contains(b, 4));
    bitmap_free(b);
    b = load(f, second);
    assert_int_equal(bitmap_cardinality(b), 1);
    assert_true(bitmap_contains(b, 47));
    bitmap_free(b);
}

static void prefixed_and_absolute(void **state) {
    log_fixture *f = *state;
    put(f, "/t/ab/deletion_vector_fe3558b8-be38-4580-bb2a-6c13650a9ca7.bin", unhex(f, spark_file));
    delta_dv dv = first;
    dv.path_or_inline = STR("ab" FILE_ID);
    bitmap_free(load(f, dv));
    put(f, "/else where/x.bin", unhex(f, spark_file));
    dv.storage = 'p';
    dv.path_or_inline = STR("file:/else%20where/x.bin");
    bitmap_free(load(f, dv));
    dv.path_or_inline = STR("/else%20where/x.bin");
    bitmap_free(load(f, dv));
}

/* Rows 2 and 5, made by hand; Spark reads it. */
static void inline_vector(void **state) {
    log_fixture *f = *state;
    delta_dv dv = {.storage = 'i',
                   .path_or_inline = STR("^Bg9^0rr910000000000iXQKl0rr91000315c8Xg0SSx7"),
                   .offset = -1,
                   .size_bytes = 36,
                   .cardinality = 2};
    bitmap *b;
    silt_status status = delta_dv_load(&f->env, LOG_ROOT, &dv, &b, &f->err);
    if (status != SILT_OK) fail_msg("%s: %s (%s)", f->err.condition, f->err.message, f->err.detail);
    assert_true(bitmap_contains(b, 2));
    assert_true(bitmap_contains(b, 5));
    assert_int_equal(bitmap_cardinality(b), 2);
    bitmap_free(b);
    dv.cardinality = 3;
    fails(f, dv, "DELTA_DELETION_VECTOR_CARDINALITY_MISMATCH");
    dv.size_bytes = 41;
    fails(f, dv, "DELTA_DELETION_VECTOR_SIZE_MISMATCH");
    dv.path_or_inline = STR("~~~~~");
    fails(f, dv, "DELTA_DELETION_VECTOR_INVALID");
}

static void damage(void **state) {
    log_fixture *f = *state;
    delta_dv dv = first;
    fails(f, dv, "DELTA_FILE_NOT_FOUND_DETAILED");
    put(f, FILE_PATH, unhex(f, spark_file));
    dv.size_bytes = 35;
    fails(f, dv, "DELTA_DELETION_VECTOR_SIZE_MISMATCH");
    dv.size_bytes = -1;
    fails(f, dv, "DELTA_DELETION_VECTOR_SIZE_MISMATCH");
    dv.size_bytes = INT32_MAX;
    fails(f, dv, "DELTA_DELETION_VECTOR_SIZE_MISMATCH");
    dv = first;
    dv.cardinality = 1;
    fails(f, dv, "DELTA_DELETION_VECTOR_CARDINALITY_MISMATCH");
    dv = first;
    dv.offset = 2;
    fails(f, dv, "DELTA_DELETION_VECTOR_SIZE_MISMATCH");
    dv.offset = 100000;
    fails(f, dv, "DELTA_DELETION_VECTOR_SIZE_MISMATCH");
    dv = first;
    dv.storage = 'x';
    fails(f, dv, "DELTA_DELETION_VECTOR_INVALID");
    dv = first;
    dv.path_or_inline = STR("short");
    fails(f, dv, "DELTA_DELETION_VECTOR_INVALID");
    put(f, FILE_PATH, STR(""));
    fails(f, first, "DELTA_DELETION_VECTOR_INVALID");
    put(f, FILE_PATH, STR("\x02"));
    fails(f, first, "DELTA_DELETION_VECTOR_INVALID");
}

/* One bit wrong anywhere in a stored vector is noticed. */
static void flipped_bits(void **state) {
    log_fixture *f = *state;
    str good = unhex(f, spark_file);
    char *bytes = arena_cstr(f->arena, good);
    for (size_t i = 0; i < 45; i++)
        for (int bit = 0; bit < 8; bit++) {
            bitmap *b = NULL;
            bytes[i] = (char)(bytes[i] ^ (1 << bit));
            put(f, FILE_PATH, (str){bytes, good.len});
            assert_int_equal(delta_dv_load(&f->env, LOG_ROOT, &first, &b, &f->err), SILT_CORRUPT);
            bytes[i] = (char)(bytes[i] ^ (1 << bit));
        }
}

static void truncated(void **state) {
    log_fixture *f = *state;
    str good = unhex(f, spark_file);
    for (size_t n = 0; n < 45; n++) {
        bitmap *b = NULL;
        put(f, FILE_PATH, str_slice(good, 0, n));
        assert_int_equal(delta_dv_load(&f->env, LOG_ROOT, &first, &b, &f->err), SILT_CORRUPT);
    }
}

static void resolved_paths(void **state) {
    static const struct {
        const char *action, *path;
    } cases[] = {
        {"a.parquet", "/t/a.parquet"},
        {"p=a%253Ab/x%20y.parquet", "/t/p=a%3Ab/x y.parquet"},
        {"p=1:2/x", "/t/p=1:2/x"},
        {"/abs/x%23.parquet", "/abs/x#.parquet"},
        {"file:/abs/x", "/abs/x"},
        {"file:///abs/x%25", "/abs/x%"},
        {"file://localhost/abs/x", "/abs/x"},
    };
    log_fixture *f = *state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        store *s;
        str path;
        assert_int_equal(delta_resolve_path(&f->env, LOG_ROOT, str_of(cases[i].action), f->arena, &s, &path, &f->err), SILT_OK);
        assert_text(cases[i].path, path);
        assert_ptr_equal(s, f->store);
    }
    store *s;
    str path;
    assert_int_equal(delta_resolve_path(&f->env, LOG_ROOT, STR("s3a://bucket/x"), f->arena, &s, &path, &f->err),
                     SILT_UNSUPPORTED);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, log_setup, log_teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(two_in_one_file), TEST(prefixed_and_absolute), TEST(inline_vector), TEST(damage), TEST(flipped_bits),
        TEST(truncated),       TEST(resolved_paths),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
