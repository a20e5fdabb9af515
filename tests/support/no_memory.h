/**
 * The Nth allocation fails. A program that links this has an allocator that fails on order; its own malloc, calloc, realloc and free
 * stand before the C library's. A sanitizer's allocator cannot be replaced: there the tests are skipped, with the reason.
 */
#ifndef SUPPORT_NO_MEMORY_H
#define SUPPORT_NO_MEMORY_H

#include "base/base.h"

/** From here the nth allocation (0: the next one) and all after it fail; -1: none. */
void no_memory_from(long nth);

/**
 * In a cmocka test: call fn(ctx) with the first allocation failing, then the second, … until it gets through. Each time it must
 * return SILT_NO_MEMORY, or SILT_OK in the end, and have freed all that it allocated.
 */
void no_memory_torture(silt_status (*fn)(void *ctx), void *ctx);

#endif
