/* Space-filling curves: a place for every point and a point for every place, neighbours next to one another, and the interleaving of Delta's interleave_bits. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "engine/curve_bits.h"

/* Coordinates of the point of that number, counting all points of the grid. */
static void point_of(uint64_t number, size_t n, int bits, uint32_t *out) {
    for (size_t i = 0; i < n; i++) out[i] = (uint32_t)(number >> ((size_t)bits * i)) & ((1u << bits) - 1);
}

typedef uint64_t curve_fn(const uint32_t *coordinates, size_t n, int bits);

/* Every place of the curve is that of one point; *out_points: the number of the point at each place. */
static void assert_bijection(curve_fn *curve, size_t n, int bits, uint64_t **out_points) {
    uint64_t total = (uint64_t)1 << (n * (size_t)bits);
    uint64_t *points = malloc(total * sizeof *points);
    assert_non_null(points);
    memset(points, 0xFF, total * sizeof *points);
    for (uint64_t i = 0; i < total; i++) {
        uint32_t x[16];
        point_of(i, n, bits, x);
        uint64_t place = curve(x, n, bits);
        assert_true(place < total);
        assert_true(points[place] == UINT64_MAX);
        points[place] = i;
    }
    *out_points = points;
}

static void each_point_has_a_place_of_its_own(void **state) {
    (void)state;
    for (size_t n = 2; n <= 6; n++)
        for (int bits = 1; (int)n * bits <= 16; bits++) {
            uint64_t *points;
            assert_bijection(curve_hilbert, n, bits, &points);
            free(points);
            assert_bijection(curve_interleave, n, bits, &points);
            free(points);
        }
}

static void neighbours_on_a_hilbert_curve_are_neighbours_in_space(void **state) {
    (void)state;
    for (size_t n = 2; n <= 7; n++)
        for (int bits = 1; (int)n * bits <= 18; bits++) {
            uint64_t *points, total = (uint64_t)1 << (n * (size_t)bits);
            assert_bijection(curve_hilbert, n, bits, &points);
            for (uint64_t i = 1; i < total; i++) {
                uint32_t a[16], b[16], steps = 0;
                point_of(points[i - 1], n, bits, a);
                point_of(points[i], n, bits, b);
                for (size_t k = 0; k < n; k++) steps += a[k] > b[k] ? a[k] - b[k] : b[k] - a[k];
                assert_int_equal(steps, 1);
            }
            assert_int_equal(points[0], 0); /* it begins at the origin */
            free(points);
        }
}

/* interleave_bits says: the highest of the 32 bits of each number in turn, then the next ones. */
static uint64_t slow_interleave(const uint32_t *x, size_t n, int bits) {
    uint64_t out = 0;
    for (int bit = 31; bit >= 0; bit--)
        for (size_t i = 0; i < n; i++)
            if (bit < bits) out = out * 2 + ((x[i] >> bit) & 1);
    return out;
}

static void interleaving_is_that_of_delta(void **state) {
    (void)state;
    uint32_t seed = 7;
    for (int round = 0; round < 20000; round++) {
        size_t n = 1 + (size_t)round % 9;
        int bits = (int)(63 / n);
        uint32_t x[9];
        if (bits > 31) bits = 31;
        for (size_t i = 0; i < n; i++) {
            seed = seed * 1664525u + 1013904223u;
            x[i] = seed >> (32 - bits);
        }
        assert_true(curve_interleave(x, n, bits) == slow_interleave(x, n, bits));
    }
}

/* Numbers that Delta's test of interleave_bits has: (0,1) → …01, (1,0) → …10, (3,0) → …1010. */
static void small_numbers_interleave_as_written(void **state) {
    (void)state;
    uint32_t a[2] = {0, 1}, b[2] = {1, 0}, c[2] = {3, 0}, d[3] = {1, 2, 4};
    assert_int_equal(curve_interleave(a, 2, 31), 1);
    assert_int_equal(curve_interleave(b, 2, 31), 2);
    assert_int_equal(curve_interleave(c, 2, 31), 10);
    assert_int_equal(curve_interleave(d, 3, 21), 0x54); /* 001 010 100 by columns */
}

/* The widest keys: nothing is lost at 63 bits, and the order follows the highest bits. */
static void the_widest_keys_keep_every_bit(void **state) {
    (void)state;
    uint32_t one_each[63], all_set[3] = {(1u << 21) - 1, (1u << 21) - 1, (1u << 21) - 1};
    for (size_t i = 0; i < 63; i++) one_each[i] = 1;
    assert_true(curve_interleave(one_each, 63, 1) == ((uint64_t)1 << 63) - 1);
    assert_true(curve_interleave(all_set, 3, 21) == ((uint64_t)1 << 63) - 1);
    assert_true(curve_hilbert(one_each, 63, 1) < (uint64_t)1 << 63);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_point_has_a_place_of_its_own), cmocka_unit_test(neighbours_on_a_hilbert_curve_are_neighbours_in_space),
        cmocka_unit_test(interleaving_is_that_of_delta),     cmocka_unit_test(small_numbers_interleave_as_written),
        cmocka_unit_test(the_widest_keys_keep_every_bit)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
