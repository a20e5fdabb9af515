/*
 * The Hilbert curve by walking down from the highest bits: at each level the cell is one of 2^n, numbered along a Gray code that is seen through the orientation of the
 * levels above it: the corner where the curve enters, and the axis along which it leaves (after C. Hamilton, "Compact Hilbert Indices", 2006). No tables: n is not bounded by them.
 */
#include "engine/curve_bits.h"

/* Bit `level` of every coordinate, the first one's highest. */
static uint64_t bits_at(const uint32_t *coordinates, size_t n, int level) {
    uint64_t out = 0;
    for (size_t i = 0; i < n; i++) out = out << 1 | (coordinates[i] >> level & 1);
    return out;
}

uint64_t curve_interleave(const uint32_t *coordinates, size_t n, int bits) {
    uint64_t out = 0;
    for (int level = bits - 1; level >= 0; level--) out = out << n | bits_at(coordinates, n, level);
    return out;
}

static uint64_t rotate_left(uint64_t x, size_t by, size_t n) {
    uint64_t mask = ((uint64_t)1 << n) - 1;
    by %= n;
    return by ? (x << by | x >> (n - by)) & mask : x;
}

static uint64_t gray(uint64_t i) { return i ^ i >> 1; }

static uint64_t gray_inverse(uint64_t g) {
    for (int by = 1; by < 64; by *= 2) g ^= g >> by;
    return g;
}

/* The axis along which cell i is left for cell i + 1: the trailing ones of i. */
static size_t exit_axis(uint64_t i, size_t n) {
    size_t ones = i ? (size_t)__builtin_ctzll(~i) : 0;
    return ones % n;
}

/* The same within a cell: where the curve of the next level goes. */
static size_t inner_axis(uint64_t i, size_t n) {
    if (i == 0) return 0;
    return i & 1 ? exit_axis(i, n) : exit_axis(i - 1, n);
}

/* The corner of cell i at which the curve enters it. */
static uint64_t entry(uint64_t i) { return i ? gray(2 * ((i - 1) / 2)) : 0; }

uint64_t curve_hilbert(const uint32_t *coordinates, size_t n, int bits) {
    uint64_t out = 0, corner = 0;
    size_t axis = 0;
    for (int level = bits - 1; level >= 0; level--) {
        uint64_t seen = rotate_left(bits_at(coordinates, n, level) ^ corner, n - (axis + 1) % n, n);
        uint64_t cell = gray_inverse(seen);
        out = out << n | cell;
        corner ^= rotate_left(entry(cell), axis + 1, n);
        axis = (axis + inner_axis(cell, n) + 1) % n;
    }
    return out;
}
