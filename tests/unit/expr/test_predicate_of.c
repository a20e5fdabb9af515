/* What a query says about each of its tables: exact where casts and zones allow it, nothing where an outer join, LIMIT or a doubtful cast stands between. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support.h"

typedef struct collected {
    arena *a;
    str text;
} collected;

static bool collect(void *ctx, relation *r) {
    collected *c = ctx;
    if (r->kind != REL_TABLE) return true;
    buf b;
    buf_init(&b, 10000);
    if (r->where)
        predicate_write(&b, r->where, r->source->schema);
    else
        buf_append_char(&b, '-');
    c->text = arena_printf(c->a, "%.*s%s%.*s", STR_ARG(c->text), c->text.len ? " ; " : "", STR_ARG(buf_str(&b)));
    buf_dispose(&b);
    return true;
}

static str predicates_of(const char *sql, arena *a) {
    bind_env env = test_env(str_of(sql));
    silt_error err = {0};
    query *q;
    if (test_bind(sql, a, &q, &err) != SILT_OK) fail_msg("%s: %s %s", sql, err.condition, err.message);
    assert_int_equal(expr_push_predicates(q, &env, a, &err), SILT_OK);
    collected c = {a, STR("")};
    (void)query_walk_relations(q, collect, &c);
    return c.text;
}

typedef struct answer {
    const char *sql, *expected;
} answer;

static void check_all(const answer *answers, size_t n) {
    for (size_t i = 0; i < n; i++) {
        arena *a = arena_new();
        str got = predicates_of(answers[i].sql, a);
        if (!str_eqz(got, answers[i].expected))
            fail_msg("%s\n  got      %.*s\n  expected %s", answers[i].sql, STR_ARG(got), answers[i].expected);
        arena_free(a);
    }
}

static void conditions_on_columns(void **state) {
    (void)state;
    static const answer answers[] = {
        {"SELECT 1 FROM t WHERE id = 5", "id = 5"},
        {"SELECT 1 FROM t WHERE 5 < id AND name = 'x'", "(id > 5 AND name = 'x')"},
        {"SELECT 1 FROM t WHERE id IN (1, 2) OR day IS NULL", "(id IN (1, 2) OR day IS NULL)"},
        {"SELECT 1 FROM t WHERE NOT (id >= 3)", "NOT (id >= 3)"},
        {"SELECT 1 FROM t WHERE s.a = 1", "s.a = 1"},
        {"SELECT 1 FROM t WHERE name LIKE 'ab%'", "name LIKE 'ab%'"},
        {"SELECT 1 FROM t WHERE flag", "flag = true"},
        {"SELECT 1 FROM t WHERE id = 5L", "id = 5"},
        {"SELECT 1 FROM t WHERE amount = 1.5", "amount = 1.50"},
        {"SELECT 1 FROM t WHERE id + 1 = 5", "-"},
        {"SELECT 1 FROM t WHERE name = 5", "-"},
        {"SELECT 1 FROM t WHERE day = '2020-01-31'", "day = DATE '2020-01-31'"},
        {"SELECT 1 FROM t WHERE day >= TIMESTAMP'2020-01-31 10:00:00'", "day > DATE '2020-01-31'"},
        {"SELECT 1 FROM t WHERE day < TIMESTAMP'2020-01-31 00:00:00'", "day < DATE '2020-01-31'"},
        {"SELECT 1 FROM t WHERE length(name) = 3 AND id = 1", "id = 1"},
    };
    check_all(answers, ARRAY_LEN(answers));
}

static void char_literals_are_padded(void **state) {
    (void)state;
    static const answer answers[] = {{"SELECT 1 FROM t WHERE code = 'ab'", "code = 'ab  '"}};
    check_all(answers, ARRAY_LEN(answers));
}

static void joins_and_subqueries_let_through_what_is_sound(void **state) {
    (void)state;
    static const answer answers[] = {
        {"SELECT 1 FROM t JOIN u ON t.id = u.id AND u.big > 3 WHERE t.id = 1", "id = 1 ; big > 3"},
        {"SELECT 1 FROM t LEFT JOIN u ON t.id = u.id AND t.id > 2 AND u.big > 3", "- ; big > 3"},
        {"SELECT 1 FROM t LEFT JOIN u ON t.id = u.id WHERE u.big IS NULL", "- ; -"},
        {"SELECT 1 FROM t LEFT JOIN u ON t.id = u.id WHERE u.big = 7 AND t.id = 1", "id = 1 ; big = 7"},
        {"SELECT 1 FROM t FULL JOIN u ON t.id = u.id AND t.id = 1 WHERE t.id > 4", "id > 4 ; -"},
        {"SELECT 1 FROM t LEFT ANTI JOIN u ON t.id = u.id AND u.big = 1 AND t.id = 2", "- ; big = 1"},
        {"SELECT 1 FROM (SELECT id AS k FROM t) WHERE k = 3", "id = 3"},
        {"SELECT 1 FROM (SELECT id AS k FROM t LIMIT 5) WHERE k = 3", "-"},
        {"SELECT 1 FROM (SELECT id + 1 AS k FROM t) WHERE k = 3", "-"},
        {"SELECT 1 FROM (SELECT name, count(*) AS n FROM t GROUP BY name) WHERE name = 'x' AND n > 1", "name = 'x'"},
        {"SELECT 1 FROM (SELECT id, row_number() OVER (ORDER BY id) AS r FROM t) WHERE id = 3", "-"},
        {"SELECT 1 FROM (SELECT id FROM t UNION ALL SELECT id FROM u) WHERE id = 3", "id = 3 ; id = 3"},
        {"WITH w AS (SELECT id AS k FROM t) SELECT 1 FROM w WHERE k = 9", "id = 9"},
        {"WITH w AS (SELECT id AS k FROM t) SELECT 1 FROM w a, w b WHERE a.k = 9", "-"},
        {"SELECT 1 FROM t WHERE id IN (SELECT id FROM u WHERE big = 2)", "- ; big = 2"},
        {"SELECT 1 FROM v WHERE k < 20", "(id < 20 AND id > 10)"},
    };
    check_all(answers, ARRAY_LEN(answers));
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(conditions_on_columns), cmocka_unit_test(char_literals_are_padded),
                                       cmocka_unit_test(joins_and_subqueries_let_through_what_is_sound)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
