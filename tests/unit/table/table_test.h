/** What the table tests share: cmocka's includes, an arena per test, texts out of buffers. */
#ifndef TABLE_TEST_H
#define TABLE_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/base.h"

int table_arena_setup(void **state);
int table_arena_teardown(void **state);
/** The buffer's text in the arena; empties the buffer. */
const char *table_take_text(buf *b, arena *a);

#define WITH_ARENA(fn)   cmocka_unit_test_setup_teardown(fn, table_arena_setup, table_arena_teardown)
#define RUN_TESTS(tests) (cmocka_set_message_output(CM_OUTPUT_TAP), cmocka_run_group_tests(tests, NULL, NULL))

#endif
