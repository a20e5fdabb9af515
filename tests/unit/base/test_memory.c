/* Arenas and byte buffers: alignment, growth, limits, deferred calls. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/base.h"

static int trace[8], n_trace;
static void note(void *ctx) { trace[n_trace++] = *(int *)ctx; }

static void allocations_are_aligned_and_distinct(void **state) {
    (void)state;
    arena *a = arena_new();
    char *last = NULL;
    for (size_t size = 0; size < 20000; size = size * 2 + 1) {
        char *p = arena_alloc(a, size);
        assert_non_null(p);
        assert_int_equal((uintptr_t)p % 16, 0);
        assert_ptr_not_equal(p, last);
        memset(p, 0xab, size);
        last = p;
    }
    assert_true(arena_bytes(a) >= 20000);
    arena_free(a);
    arena_free(NULL);
}

static void impossible_sizes_give_null(void **state) {
    (void)state;
    arena *a = arena_new();
    assert_null(arena_alloc(a, SIZE_MAX));
    assert_null(arena_alloc(a, SIZE_MAX - 20));
    assert_null(arena_calloc(a, SIZE_MAX / 2, 3));
    assert_null(arena_grow(a, NULL, 0, SIZE_MAX - 3));
    assert_non_null(arena_alloc(a, 1)); /* still usable */
    arena_free(a);
}

static void calloc_gives_zeros_after_reuse(void **state) {
    (void)state;
    arena *a = arena_new();
    memset(arena_alloc(a, 1000), 0xff, 1000);
    arena_reset(a);
    const char *p = arena_calloc(a, 10, 100);
    for (int i = 0; i < 1000; i++) assert_int_equal(p[i], 0);
    arena_free(a);
}

static void reset_keeps_one_block_only(void **state) {
    (void)state;
    arena *a = arena_new();
    for (int i = 0; i < 1000; i++) assert_non_null(arena_alloc(a, 1000));
    assert_non_null(arena_alloc(a, 5000000));
    size_t before = arena_bytes(a);
    arena_reset(a);
    assert_true(arena_bytes(a) < before / 4);
    size_t kept = arena_bytes(a);
    for (int i = 0; i < 3; i++) {
        for (int n = 0; n < 20; n++) assert_non_null(arena_alloc(a, 1000));
        arena_reset(a);
    }
    assert_int_equal(arena_bytes(a), kept);
    arena_free(a);
}

static void deferred_calls_run_newest_first_and_once(void **state) {
    (void)state;
    static int numbers[] = {1, 2, 3, 4};
    arena *a = arena_new();
    n_trace = 0;
    assert_true(arena_defer(a, note, &numbers[0]));
    assert_true(arena_defer(a, note, &numbers[1]));
    assert_true(arena_defer(a, note, &numbers[2]));
    arena_reset(a);
    assert_int_equal(n_trace, 3);
    assert_int_equal(trace[0], 3);
    assert_int_equal(trace[2], 1);
    assert_true(arena_defer(a, note, &numbers[3]));
    arena_free(a);
    assert_int_equal(n_trace, 4);
    assert_int_equal(trace[3], 4);
}

static void pushed_items_stay(void **state) {
    (void)state;
    arena *a = arena_new();
    int *items = NULL, *others = NULL;
    size_t count = 0, capacity = 0, n_others = 0, others_capacity = 0;
    for (int i = 0; i < 100000; i++) {
        assert_true(ARENA_PUSH(a, items, count, capacity, i));
        if (i % 3 == 0) assert_true(ARENA_PUSH(a, others, n_others, others_capacity, -i));
    }
    for (int i = 0; i < 100000; i++) assert_int_equal(items[i], i);
    for (int i = 0; i < (int)n_others; i++) assert_int_equal(others[i], -3 * i);
    arena_free(a);
}

static void growing_keeps_the_bytes(void **state) {
    (void)state;
    arena *a = arena_new();
    char *p = arena_alloc(a, 5);
    memcpy(p, "12345", 5);
    char *q = arena_grow(a, p, 5, 100); /* the newest: in place */
    assert_ptr_equal(p, q);
    assert_non_null(arena_alloc(a, 1));
    char *r = arena_grow(a, q, 100, 3000);
    assert_memory_equal(r, "12345", 5);
    r = arena_grow(a, r, 3000, 3); /* smaller is allowed */
    assert_memory_equal(r, "123", 3);
    arena_free(a);
}

static void copies_end_in_nul(void **state) {
    (void)state;
    arena *a = arena_new();
    str s = arena_str(a, STR("abc"));
    assert_int_equal(s.len, 3);
    assert_int_equal(s.ptr[3], 0);
    str nothing = arena_str(a, STR_NULL);
    assert_non_null(nothing.ptr);
    assert_int_equal(nothing.len, 0);
    str printed = arena_printf(a, "%0*d", 1000, 7);
    assert_int_equal(printed.len, 1000);
    assert_int_equal(printed.ptr[999], '7');
    assert_int_equal(printed.ptr[1000], 0);
    arena_free(a);
}

static void a_buffer_stops_at_its_maximum(void **state) {
    (void)state;
    buf b;
    buf_init(&b, 10);
    buf_append_z(&b, "12345");
    buf_append_z(&b, "67890");
    assert_true(buf_ok(&b));
    assert_string_equal(buf_cstr(&b), "1234567890"); /* the NUL does not count */
    buf_append_char(&b, 'x');
    assert_false(buf_ok(&b));
    assert_int_equal(b.len, 10);
    assert_null(buf_cstr(&b));
    buf_append_z(&b, "");
    assert_false(buf_ok(&b));
    buf_clear(&b);
    buf_append_char(&b, 'y');
    assert_string_equal(buf_cstr(&b), "y");
    buf_append_bytes(&b, "0123456789", 10);
    assert_false(buf_ok(&b));
    assert_int_equal(b.len, 1);
    buf_dispose(&b);
    assert_int_equal(buf_str(&b).len, 0);
    assert_non_null(buf_str(&b).ptr);
}

/* What an arena takes over is whole, or nothing; the buffer is empty either way. */
static void a_buffer_is_taken(void **state) {
    (void)state;
    arena *a = arena_new();
    buf b;
    buf_init(&b, 4);
    buf_append_z(&b, "1234");
    str text = buf_take(&b, a);
    assert_true(str_eqz(text, "1234"));
    assert_null(b.ptr);
    assert_true(buf_take(&b, a).ptr && buf_take(&b, a).len == 0);
    buf_append_z(&b, "123");
    buf_append_z(&b, "45");
    assert_true(str_is_null(buf_take(&b, a)));
    assert_null(b.ptr);
    assert_true(buf_ok(&b));
    arena_free(a);
}

static void a_buffer_prints(void **state) {
    (void)state;
    buf b;
    buf_init(&b, BUF_MAX_DEFAULT);
    buf_append_i64(&b, 0);
    buf_append_char(&b, ' ');
    buf_append_i64(&b, INT64_MIN);
    buf_append_char(&b, ' ');
    buf_append_i64(&b, INT64_MAX);
    assert_string_equal(buf_cstr(&b), "0 -9223372036854775808 9223372036854775807");
    buf_clear(&b);
    buf_printf(&b, "%s %0*d|", "a", 500, 1);
    buf_printf(&b, "%d", 42);
    assert_int_equal(b.len, 2 + 500 + 1 + 2);
    assert_string_equal(buf_cstr(&b) + 502, "|42");
    buf_dispose(&b);
    buf_init(&b, 100);
    buf_printf(&b, "%0*d", 101, 1);
    assert_false(buf_ok(&b));
    buf_dispose(&b);
    buf_init(&b, 300);
    buf_printf(&b, "%0*d", 300, 1); /* exactly the maximum */
    assert_true(buf_ok(&b));
    assert_int_equal(b.len, 300);
    buf_dispose(&b);
    assert_false(buf_reserve(&b, SIZE_MAX));
    buf_dispose(&b);
}

int main(void) {
    cmocka_set_message_output(CM_OUTPUT_TAP);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(allocations_are_aligned_and_distinct),
        cmocka_unit_test(impossible_sizes_give_null),
        cmocka_unit_test(calloc_gives_zeros_after_reuse),
        cmocka_unit_test(reset_keeps_one_block_only),
        cmocka_unit_test(deferred_calls_run_newest_first_and_once),
        cmocka_unit_test(pushed_items_stay),
        cmocka_unit_test(growing_keeps_the_bytes),
        cmocka_unit_test(copies_end_in_nul),
        cmocka_unit_test(a_buffer_stops_at_its_maximum),
        cmocka_unit_test(a_buffer_is_taken),
        cmocka_unit_test(a_buffer_prints),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
