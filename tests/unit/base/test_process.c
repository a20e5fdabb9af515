#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/process.h"

static void this_process_is_not_gone(void **state) {
    char name[PROCESS_NAME_LEN + 1];
    (void)state;
    process_name(name);
    assert_null(strpbrk(name, " -/"));
    assert_false(process_is_gone(str_of(name)));
}

static void a_child_is_gone_when_it_has_ended(void **state) {
    char name[PROCESS_NAME_LEN + 1] = {0};
    int ends[2], hold[2];
    (void)state;
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(pipe(hold), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        char byte;
        close(hold[1]);
        process_name(name);
        (void)!write(ends[1], name, sizeof name);
        (void)!read(hold[0], &byte, 1);
        _exit(0);
    }
    assert_int_equal(read(ends[0], name, sizeof name), sizeof name);
    assert_false(process_is_gone(str_of(name)));
    close(hold[1]);
    assert_int_equal(waitpid(child, NULL, 0), child);
    assert_true(process_is_gone(str_of(name)));
    close(hold[0]), close(ends[0]), close(ends[1]);
}

/* The same number, but begun at another time; another machine; no name at all. */
static void others(void **state) {
    char name[PROCESS_NAME_LEN + 1], other[PROCESS_NAME_LEN + 8];
    (void)state;
    process_name(name);
    snprintf(other, sizeof other, "%s1", name);
    assert_true(process_is_gone(str_of(other)));
    other[0] = name[0] == '0' ? '1' : '0';
    assert_false(process_is_gone(str_of(other)));
    static const char *const none[] = {"", "x", "_", "0123456789abcdef_", "0123456789abcdef_1", "0123456789abcdef_0_0", "0123456789abcdef_1_1_1",
                                       "00000000000000000000000000000000000000000000000000000000000000000000"};
    for (size_t i = 0; i < ARRAY_LEN(none); i++) assert_false(process_is_gone(str_of(none[i])));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(this_process_is_not_gone), cmocka_unit_test(a_child_is_gone_when_it_has_ended), cmocka_unit_test(others)};
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
