/* Rows of several files: adding tells what was there, files without rows have no bitmap. */
#include "table_test.h"

#include "table/row_set.h"

static void rows_are_of_their_file(void **state) {
    (void)state;
    row_set *s = row_set_new(3);
    bool added;
    assert_int_equal(row_set_n_files(s), 3);
    assert_true(row_set_add(s, 2, 7, &added));
    assert_true(added);
    assert_true(row_set_add(s, 2, 7, &added));
    assert_false(added);
    assert_true(row_set_add(s, 0, (uint64_t)1 << 40, NULL));
    assert_true(row_set_contains(s, 2, 7));
    assert_false(row_set_contains(s, 1, 7));
    assert_true(row_set_contains(s, 0, (uint64_t)1 << 40));
    assert_false(row_set_contains(s, 0, 0));
    assert_int_equal(row_set_count(s), 2);
    assert_null(row_set_of_file(s, 1));
    assert_int_equal(bitmap_cardinality(row_set_of_file(s, 2)), 1);
    row_set_free(s);
}

static void files_beyond_the_last_are_refused(void **state) {
    (void)state;
    row_set *s = row_set_new(1), *none = row_set_new(0);
    assert_false(row_set_add(s, 1, 0, NULL));
    assert_false(row_set_add(none, 0, 0, NULL));
    assert_false(row_set_contains(s, 1, 0));
    assert_null(row_set_of_file(s, 1));
    assert_int_equal(row_set_count(s), 0);
    row_set_free(s);
    row_set_free(none);
    row_set_free(NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_of_their_file),
        cmocka_unit_test(files_beyond_the_last_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
