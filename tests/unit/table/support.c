#include "table_test.h"

int table_arena_setup(void **state) {
    *state = arena_new();
    return *state ? 0 : -1;
}

int table_arena_teardown(void **state) {
    arena_free(*state);
    return 0;
}

const char *table_take_text(buf *b, arena *a) {
    assert_true(buf_ok(b));
    const char *z = arena_cstr(a, buf_str(b));
    buf_dispose(b);
    return z;
}
