/* The registry as data: every row can be called, says what it is, and its text names no argument that it does not have. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "expr/functions.h"
#include "support.h"

static void every_row_is_complete(void **state) {
    (void)state;
    size_t total = 0;
    for (size_t g = 0; g < function_group_count; g++) {
        for (size_t i = 0; i < function_groups[g]->count; i++) {
            const function_row *row = &function_groups[g]->rows[i];
            total++;
            assert_non_null(row->name);
            assert_non_null(row->doc);
            assert_non_null(strstr(row->signature, "->"));
            bool grouping = strncmp(row->name, "grouping", 8) == 0; /* printed by the query that groups */
            if (!row->sql && !row->print && !row->bind && !grouping) fail_msg("%s prints nothing", row->name);
            size_t min, max;
            function_arity(row, &min, &max);
            if (min > max) fail_msg("%s has no arity", row->name);
            for (const char *at = row->sql; at && *at && !(row->flags & FN_MACRO); at++) {
                if (*at != '$') continue;
                const char *digit = at[1] == 'L' || at[1] == 'T' || at[1] == 'G' ? at + 2 : at + 1;
                if (*digit >= '1' && *digit <= '9' && (size_t)(*digit - '0') > max) fail_msg("%s: %s", row->name, row->sql);
            }
        }
    }
    assert_true(total > 250);
}

/* An alias finds its row, and overloads of a name with one arity differ in what they take. */
static void names_and_aliases_lead_to_rows(void **state) {
    (void)state;
    static const struct {
        const char *name;
        size_t n;
        const char *row;
    } known[] = {
        {"SUBSTR", 3, "substring"},
        {"ucase", 1, "upper"},
        {"mean", 1, "avg"},
        {"nvl", 2, "ifnull"},
        {"power", 2, "pow"},
        {"cardinality", 1, "size"},
        {"reduce", 3, "aggregate"},
        {"now", 0, "current_timestamp"},
        {"every", 1, "bool_and"},
        {"string_agg", 2, "listagg"},
        {"posexplode_outer", 1, "explode"},
    };
    bool found;
    for (size_t i = 0; i < ARRAY_LEN(known); i++) {
        const function_row *row = function_find(str_of(known[i].name), known[i].n, &found);
        if (!row || strcmp(row->name, known[i].row) != 0) fail_msg("%s", known[i].name);
    }
    assert_null(function_find(STR("length"), 0, &found));
    assert_true(found);
    assert_null(function_find(STR("no_such_thing"), 1, &found));
    assert_false(found);
}

static void overloads_are_chosen_by_type(void **state) {
    (void)state;
    static const struct {
        const char *expr, *printed;
    } cases[] = {
        {"length('é')", "CAST(length('é') AS INTEGER)"},
        {"length(X'C3A9')", "CAST(octet_length('\\xC3\\xA9'::BLOB) AS INTEGER)"},
        {"reverse(array(1))", "list_reverse([1::INTEGER])"},
        {"size(map('a', 1))", "CAST(cardinality(map(['a'], [1::INTEGER])) AS INTEGER)"},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        arena *a = arena_new();
        bind_env env = test_env(STR_NULL);
        expr *e;
        buf out;
        buf_init(&out, 10000);
        assert_int_equal(expr_parse(str_of(cases[i].expr), a, &e, NULL), SILT_OK);
        assert_int_equal(expr_bind(e, NULL, &env, a, &e, NULL), SILT_OK);
        assert_int_equal(expr_print_duckdb(e, &env, NULL, &out, NULL), SILT_OK);
        assert_string_equal(buf_cstr(&out), cases[i].printed);
        buf_dispose(&out);
        arena_free(a);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_row_is_complete), cmocka_unit_test(names_and_aliases_lead_to_rows),
                                       cmocka_unit_test(overloads_are_chosen_by_type)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
