/* The failing allocator of no_memory.h, over glibc's own names for the real one. */
#include "support/no_memory.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#define NONE (-1L)

static long fail_from = NONE; /* how many succeed before */
static long n_live;

void no_memory_from(long nth) { __atomic_store_n(&fail_from, nth, __ATOMIC_RELAXED); }

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define CAN_FAIL 1

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *old, size_t size);
void __libc_free(void *p);

static bool may_allocate(void) {
    long left = __atomic_load_n(&fail_from, __ATOMIC_RELAXED);
    while (left > 0 && !__atomic_compare_exchange_n(&fail_from, &left, left - 1, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) continue;
    if (left != 0) return true;
    errno = ENOMEM;
    return false;
}

static void *counted(void *p, long n) {
    if (p) __atomic_add_fetch(&n_live, n, __ATOMIC_RELAXED);
    return p;
}

/* Visible, so that what the C library allocates for its caller (strndup, getcwd) comes from here too. */
#pragma GCC visibility push(default)
void *malloc(size_t size) { return may_allocate() ? counted(__libc_malloc(size), 1) : NULL; }
void *calloc(size_t n, size_t size) { return may_allocate() ? counted(__libc_calloc(n, size), 1) : NULL; }
void *realloc(void *old, size_t size) { return may_allocate() ? counted(__libc_realloc(old, size), old ? 0 : 1) : NULL; }
void free(void *p) {
    counted(p, -1);
    __libc_free(p);
}
#pragma GCC visibility pop
#else
#define CAN_FAIL 0
#endif

void no_memory_torture(silt_status (*fn)(void *ctx), void *ctx) {
    if (!CAN_FAIL) {
        print_message("# skipped: a sanitizer brings its own allocator\n");
        skip();
    }
    assert_int_equal(fn(ctx), SILT_OK); /* what the C library sets up once is set up now */
    for (long n = 0; n < 100000; n++) {
        long before = n_live;
        no_memory_from(n);
        silt_status status = fn(ctx);
        no_memory_from(NONE);
        if (n_live != before) fail_msg("allocation %ld failed and %ld blocks leaked", n, n_live - before);
        if (status == SILT_OK) return;
        if (status != SILT_NO_MEMORY) fail_msg("allocation %ld failed and status %d was returned", n, (int)status);
    }
    fail_msg("it never got through");
}
