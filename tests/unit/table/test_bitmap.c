/* Row bitmaps: set operations, and the portable format against deletion vectors that Spark wrote and against damaged bytes. */
#include "table_test.h"

#include <stdio.h>

#include "table/bitmap.h"

static str from_hex(arena *a, const char *hex) {
    size_t n = strlen(hex) / 2;
    char *p = arena_alloc(a, n);
    for (size_t i = 0; i < n; i++) {
        unsigned byte;
        assert_int_equal(sscanf(hex + 2 * i, "%2x", &byte), 1);
        p[i] = (char)byte;
    }
    return (str){p, n};
}

static bitmap *parse_hex(arena *a, const char *hex) {
    bitmap *b = NULL;
    silt_error err = {0};
    silt_status s = bitmap_parse_portable(from_hex(a, hex), &b, &err);
    if (s != SILT_OK) print_error("%s: %s\n", hex, err.detail);
    assert_int_equal(s, SILT_OK);
    return b;
}

static void assert_rows(const bitmap *b, const uint64_t *rows, size_t n) {
    uint64_t row = 0, from = 0;
    assert_int_equal(bitmap_cardinality(b), n);
    for (size_t i = 0; i < n; i++) {
        assert_true(bitmap_next(b, from, &row));
        assert_true(row == rows[i]);
        assert_true(bitmap_contains(b, row));
        from = row + 1;
    }
    assert_false(bitmap_next(b, from, &row));
}

static void assert_bytes(arena *a, const bitmap *b, const char *hex) {
    buf out;
    buf_init(&out, BUF_MAX_DEFAULT);
    assert_int_equal(bitmap_write_portable(b, &out, NULL), SILT_OK);
    str expected = from_hex(a, hex);
    assert_int_equal(out.len, expected.len);
    assert_memory_equal(out.ptr, expected.ptr, expected.len);
    buf_dispose(&out);
}

/* Bodies of deletion vectors from .bin files of Spark (array containers), the rows as Spark deleted them. */
static const struct {
    const char *hex;
    uint64_t rows[3];
    size_t n;
} spark_arrays[] = {
    {"d1d339640100000000000000000000003a300000010000000000020010000000030004000700", {3, 4, 7}, 3},
    {"d1d339640100000000000000000000003a3000000100000000000100100000000300"
     "0400",
     {3, 4},
     2},
    {"d1d339640100000000000000000000003a3000000100000000000000100000002f00", {47}, 1},
    {"d1d339640100000000000000000000003a30000001000000000001001000000002000500", {2, 5}, 2},
};

static void sparks_bytes_are_read_and_written_again(void **state) {
    for (size_t i = 0; i < ARRAY_LEN(spark_arrays); i++) {
        bitmap *b = parse_hex(*state, spark_arrays[i].hex);
        assert_rows(b, spark_arrays[i].rows, spark_arrays[i].n);
        assert_bytes(*state, b, spark_arrays[i].hex);
        bitmap_free(b);
    }
}

/* 150,000 rows in runs, over three containers. */
static void sparks_runs_are_read_and_written_again(void **state) {
    const char *hex = "d1d339640100000000000000000000003b300200070000ffff0100ffff0200ef4901000000ffff01000000ffff01000000ef49";
    bitmap *b = parse_hex(*state, hex);
    assert_int_equal(bitmap_cardinality(b), 150000);
    uint64_t row;
    assert_true(bitmap_next(b, 0, &row) && row == 0);
    assert_true(bitmap_contains(b, 149999));
    assert_false(bitmap_contains(b, 150000));
    assert_false(bitmap_next(b, 150000, &row));
    assert_bytes(*state, b, hex);
    bitmap_free(b);

    b = bitmap_new();
    for (uint64_t i = 0; i < 150000; i++) assert_true(bitmap_add(b, i));
    assert_bytes(*state, b, hex);
    bitmap_free(b);
}

static void the_empty_bitmap_round_trips(void **state) {
    const char *hex = "d1d339640000000000000000";
    bitmap *b = parse_hex(*state, hex);
    assert_rows(b, NULL, 0);
    assert_bytes(*state, b, hex);
    bitmap_free(b);
    /* an empty group between others, as an array of groups by position has it */
    b = parse_hex(*state, "d1d339640200000000000000"
                          "000000003a30000000000000"
                          "010000003a3000000100000000000000100000000500");
    assert_rows(b, (uint64_t[]){0x100000005}, 1);
    bitmap_free(b);
}

static void rows_beyond_32_bits(void **state) {
    static const uint64_t rows[] = {0,           4294967295u,       4294967296u,
                                    4294967297u, (uint64_t)5 << 32, (uint64_t)0x7fffffff << 32 | 0xffffffff};
    bitmap *b = bitmap_new();
    for (size_t i = ARRAY_LEN(rows); i-- > 0;) assert_true(bitmap_add(b, rows[i]));
    assert_true(bitmap_add(b, 0));
    assert_rows(b, rows, ARRAY_LEN(rows));
    assert_false(bitmap_contains(b, 1));
    buf out;
    buf_init(&out, BUF_MAX_DEFAULT);
    assert_int_equal(bitmap_write_portable(b, &out, NULL), SILT_OK);
    bitmap *again = NULL;
    assert_int_equal(bitmap_parse_portable(buf_str(&out), &again, NULL), SILT_OK);
    assert_rows(again, rows, ARRAY_LEN(rows));
    buf_dispose(&out);
    bitmap_free(again);
    bitmap_free(b);
    (void)state;
}

static void or_adds_groups_and_rows(void **state) {
    bitmap *a = bitmap_new(), *b = bitmap_new();
    bitmap_add(a, 1);
    bitmap_add(a, (uint64_t)2 << 32);
    bitmap_add(b, 1);
    bitmap_add(b, 2);
    bitmap_add(b, (uint64_t)1 << 32);
    assert_true(bitmap_or(a, b));
    assert_rows(a, (uint64_t[]){1, 2, (uint64_t)1 << 32, (uint64_t)2 << 32}, 4);
    assert_rows(b, (uint64_t[]){1, 2, (uint64_t)1 << 32}, 3);
    bitmap_free(a);
    bitmap_free(b);
    (void)state;
}

static void live_flags_cover_any_window(void **state) {
    static const uint64_t rows[] = {0, 5, 100, 65535, 65536, 4294967290u, 4294967296u, 4294967300u};
    static const uint64_t starts[] = {0, 1, 90, 65530, 4294967280u, 4294967296u, (uint64_t)9 << 32};
    bitmap *b = bitmap_new();
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) bitmap_add(b, rows[i]);
    for (size_t i = 0; i < ARRAY_LEN(starts); i++) {
        uint8_t live[40];
        memset(live, 7, sizeof live);
        bitmap_fill_live(b, starts[i], 32, live);
        for (size_t k = 0; k < 32; k++) {
            bool deleted = false;
            for (size_t r = 0; r < ARRAY_LEN(rows); r++) deleted |= rows[r] == starts[i] + k;
            assert_int_equal(live[k], !deleted);
        }
        assert_int_equal(live[32], 7); /* not beyond n */
        bitmap_fill_live(b, starts[i], 0, live);
    }
    bitmap_free(b);
    (void)state;
}

static void dense_and_sparse_containers_round_trip(void **state) {
    bitmap *b = bitmap_new(), *again = NULL;
    uint64_t x = 88172645463325252u, n = 0;
    for (int i = 0; i < 60000; i++) {
        x ^= x << 13, x ^= x >> 7, x ^= x << 17;
        bitmap_add(b, i < 30000 ? x % 65536 : x % ((uint64_t)3 << 32)); /* a bitset container, and many arrays */
    }
    n = bitmap_cardinality(b);
    buf out;
    buf_init(&out, BUF_MAX_DEFAULT);
    assert_int_equal(bitmap_write_portable(b, &out, NULL), SILT_OK);
    assert_int_equal(bitmap_parse_portable(buf_str(&out), &again, NULL), SILT_OK);
    assert_int_equal(bitmap_cardinality(again), n);
    uint64_t row, from = 0, count = 0;
    for (; bitmap_next(b, from, &row); from = row + 1, count++) assert_true(bitmap_contains(again, row));
    assert_int_equal(count, n);
    buf_dispose(&out);
    bitmap_free(b);
    bitmap_free(again);
    (void)state;
}

static void damaged_bytes_are_refused(void **state) {
    arena *a = *state;
    static const struct {
        const char *hex, *why;
    } bad[] = {
        {"", "end too early"},
        {"d1d33964", "end too early"},
        {"d0d339640000000000000000", "magic"},
        {"396439d30000000000000000", "magic"},
        {"d1d33964000000000000000000", "follow"},
        {"d1d33964ffffffffffffffff", "more groups"},
        {"d1d339640100000000000000", "more groups"},
        {"d1d339640100000000000000000000003b300000", "end too early"},
        {"d1d339640100000000000000000000803a30000000000000", "keys"},                         /* sign bit */
        {"d1d339640200000000000000010000003a30000000000000000000003a30000000000000", "keys"}, /* descending */
        {"d1d339640200000000000000010000003a30000000000000010000003a30000000000000", "keys"}, /* twice */
        {"d1d3396401000000000000000000000039300000010000000000000010000000"
         "2f00",
         "cookie"},
        {"d1d339640100000000000000000000003a30000001000100"
         "000000",
         "too many"},
        {"d1d339640100000000000000000000003a300000010000000000020010000000030004000400", "ascending"},
        {"d1d339640100000000000000000000003a300000010000000000020010000000070004000300", "ascending"},
        {"d1d339640100000000000000000000003a3000000200000001000000000000001800000000000000"
         "01000100",
         "container keys"},
        {"d1d339640100000000000000000000003a3000000100000000000200100000000300040007", "end too early"},
        {"d1d339640100000000000000000000003a30000001000000000002001000000003000400070000", "follow"},
        {"d1d339640100000000000000000000003b3000000100000000"
         "0000",
         "is empty"}, /* no run */
        {"d1d339640100000000000000000000003b3000000100000000"
         "0200"
         "0000050003000100",
         "overlap"},
        {"d1d339640100000000000000000000003b3000000100000000"
         "0100"
         "ffff0100",
         "run over"},
        {"d1d339640100000000000000000000003b3000000100000000"
         "ffff"
         "00000000",
         "end too early"},
    };
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        bitmap *b = NULL;
        silt_error err = {0};
        silt_status s = bitmap_parse_portable(from_hex(a, bad[i].hex), &b, &err);
        if (s != SILT_CORRUPT) fail_msg("%s was taken", bad[i].hex);
        assert_string_equal(err.condition, "DELTA_DELETION_VECTOR_INVALID");
        if (!strstr(err.detail, bad[i].why)) fail_msg("%s: '%s' does not say '%s'", bad[i].hex, err.detail, bad[i].why);
        assert_null(b);
    }
}

/* A bitset container whose bits do not sum up to its stated cardinality. */
static void a_bitset_of_another_cardinality_is_refused(void **state) {
    arena *a = *state;
    static const char head[] = "d1d339640100000000000000000000003a300000010000000000001010000000"; /* 4,097 values */
    str start = from_hex(a, head);
    char *p = arena_calloc(a, start.len + 8192, 1);
    memcpy(p, start.ptr, start.len);
    memset(p + start.len, 0xff, 512);
    bitmap *b = NULL;
    silt_error err = {0};
    assert_int_equal(bitmap_parse_portable((str){p, start.len + 8192}, &b, &err), SILT_CORRUPT);
    assert_non_null(strstr(err.detail, "cardinality"));
    p[start.len + 512] = 1; /* now 4,097 */
    assert_int_equal(bitmap_parse_portable((str){p, start.len + 8192}, &b, &err), SILT_OK);
    assert_int_equal(bitmap_cardinality(b), 4097);
    bitmap_free(b);
}

static void live_rows_anywhere(void **state) {
    (void)state;
    bitmap *b = bitmap_new();
    for (uint64_t i = 0; i < 20000; i += 3) assert_true(bitmap_add(b, i));
    assert_true(bitmap_add(b, ((uint64_t)1 << 32) + 1));
    static const int64_t together[] = {4, 5, 6, 7, 8, 9}, reversed[] = {9, 8, 7, 6, 5, 4}, twice[] = {4, 6, 6, 9}, near[] = {0, 3000, 8191, 1, 4095},
                         far[] = {0, 19998, 20001, 5, 8192}, beyond[] = {(1LL << 32) - 1, 1LL << 32, (1LL << 32) + 1}, mixed[] = {4, 6, 5, 7};
    const struct {
        const int64_t *rows;
        size_t n;
    } cases[] = {{together, 6}, {reversed, 6}, {twice, 4}, {near, 5}, {far, 5}, {beyond, 3}, {mixed, 4}};
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        uint8_t live[8];
        bitmap_fill_live_at(b, cases[c].rows, cases[c].n, live);
        for (size_t i = 0; i < cases[c].n; i++) assert_int_equal(live[i], !bitmap_contains(b, (uint64_t)cases[c].rows[i]));
    }
    bitmap_fill_live_at(b, NULL, 0, NULL);
    bitmap_free(b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        WITH_ARENA(sparks_bytes_are_read_and_written_again),
        WITH_ARENA(sparks_runs_are_read_and_written_again),
        WITH_ARENA(the_empty_bitmap_round_trips),
        WITH_ARENA(rows_beyond_32_bits),
        WITH_ARENA(or_adds_groups_and_rows),
        WITH_ARENA(live_flags_cover_any_window),
        WITH_ARENA(live_rows_anywhere),
        WITH_ARENA(dense_and_sparse_containers_round_trip),
        WITH_ARENA(damaged_bytes_are_refused),
        WITH_ARENA(a_bitset_of_another_cardinality_is_refused),
    };
    return RUN_TESTS(tests);
}
