/** From the coordinates of a point to its place on a space-filling curve. */
#ifndef ENGINE_CURVE_BITS_H
#define ENGINE_CURVE_BITS_H

#include <stddef.h>
#include <stdint.h>

/**
 * Both take n coordinates of `bits` bits each, n * bits <= 63, and give a number of n * bits bits; each is a bijection.
 * Interleaved: the highest bits of all coordinates first, the first coordinate's before the second's (Delta's interleave_bits).
 */
uint64_t curve_interleave(const uint32_t *coordinates, size_t n, int bits);
/** The place on a Hilbert curve: places that follow each other differ by one in one coordinate. n >= 2. */
uint64_t curve_hilbert(const uint32_t *coordinates, size_t n, int bits);

#endif
