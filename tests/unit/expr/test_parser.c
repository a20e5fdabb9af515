/* The parser against Spark's grammar: precedence, names, literals, the shapes of queries, and the place of syntax errors. Trees are compared as S-expressions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "expr/parser.h"

static void dump(buf *b, const expr *e);

static void dump_args(buf *b, const expr *e) {
    for (size_t i = 0; i < e->n_args; i++) {
        buf_append_char(b, ' ');
        dump(b, e->args[i]);
    }
}

static void dump_literal(buf *b, const value *v) {
    if (v->is_null) buf_append_z(b, "NULL");
    else if (v->type->id == TYPE_STRING) buf_printf(b, "'%.*s'", STR_ARG(v->as.bytes));
    else if (v->type->id == TYPE_BOOLEAN) buf_append_z(b, v->as.boolean ? "true" : "false");
    else if (v->type->id == TYPE_DECIMAL) decimal_write(b, v->as.decimal, v->type->scale);
    else if (v->type->id == TYPE_DOUBLE || v->type->id == TYPE_FLOAT) text_write_f64_java(b, v->as.f64);
    else if (v->type->id == TYPE_BINARY) buf_printf(b, "x%zu", v->as.bytes.len);
    else buf_append_i64(b, v->as.i64);
    if (v->type->id != TYPE_INT && v->type->id != TYPE_STRING && v->type->id != TYPE_BOOLEAN && v->type->id != TYPE_VOID) {
        buf_append_char(b, ':');
        type_write_simple(b, v->type);
    }
}

static void dump(buf *b, const expr *e) {
    if (e->negated) buf_append_z(b, "!");
    switch (e->kind) {
    case EXPR_LITERAL: dump_literal(b, &e->literal); return;
    case EXPR_COLUMN:
        for (size_t i = 0; i < e->name.count; i++) buf_printf(b, "%s%.*s", i ? "." : "", STR_ARG(e->name.parts[i]));
        return;
    case EXPR_STAR: buf_printf(b, "*%zu-%zu", e->name.count, e->n_except); return;
    case EXPR_CALL:
        buf_printf(b, "(%.*s%s", STR_ARG(e->function_name), e->is_distinct ? " distinct" : "");
        dump_args(b, e);
        if (e->filter) {
            buf_append_z(b, " filter ");
            dump(b, e->filter);
        }
        if (e->over) buf_printf(b, " over %zu %zu %d-%d", e->over->n_partition_by, e->over->n_order_by, (int)e->over->start_kind, (int)e->over->end_kind);
        buf_append_char(b, ')');
        return;
    case EXPR_CAST:
        buf_append_z(b, e->is_try ? "(try_cast" : "(cast");
        dump_args(b, e);
        buf_append_char(b, ' ');
        type_write_simple(b, e->cast_type);
        buf_append_char(b, ')');
        return;
    case EXPR_CASE: buf_printf(b, "(case%s%s", e->has_operand ? " of" : "", e->has_else ? " else" : ""); break;
    case EXPR_FIELD: buf_printf(b, "(.%.*s", STR_ARG(e->field_name)); break;
    case EXPR_INDEX: buf_append_z(b, "([]"); break;
    case EXPR_LAMBDA: buf_printf(b, "(lambda%zu", e->n_lambda_params); break;
    case EXPR_SUBQUERY: buf_append_z(b, "(subquery"); break;
    case EXPR_EXISTS: buf_append_z(b, "(exists"); break;
    case EXPR_IN_SUBQUERY: buf_append_z(b, "(in-query"); break;
    case EXPR_INTERVAL: buf_printf(b, "interval[%d,%lld]", e->interval_months, (long long)e->interval_us); return;
    case EXPR_PARAMETER: buf_printf(b, "param[%.*s]", STR_ARG(e->function_name)); return;
    case EXPR_DEFAULT: buf_append_z(b, "DEFAULT"); return;
    case EXPR_NAMED: buf_printf(b, "(as %.*s", STR_ARG(e->aliases[0])); break;
    default: buf_append_z(b, "?"); return;
    }
    dump_args(b, e);
    buf_append_char(b, ')');
}

static void assert_parses(const char *text, const char *expected) {
    arena *a = arena_new();
    expr *e;
    silt_error err = {0};
    if (expr_parse(str_of(text), a, &e, &err) != SILT_OK) fail_msg("%s: %s %s", text, err.message, err.detail);
    buf b;
    buf_init(&b, 1 << 20);
    dump(&b, e);
    assert_string_equal(buf_cstr(&b), expected);
    buf_dispose(&b);
    arena_free(a);
}

static void precedence_follows_sparks_grammar(void **state) {
    (void)state;
    assert_parses("1 + 2 * 3", "(+ 1 (* 2 3))");
    assert_parses("(1 + 2) * 3", "(* (+ 1 2) 3)");
    assert_parses("1 - 2 - 3", "(- (- 1 2) 3)");
    assert_parses("a or b and not c = 1", "(or a (and b (not (= c 1))))");
    assert_parses("a = b is null", "(isnull (= a b))");
    assert_parses("a between 1 and 2 and c", "(and (between a 1 2) c)");
    assert_parses("not a in (1, 2)", "(not (in a 1 2))");
    assert_parses("a not in (1)", "!(in a 1)");
    assert_parses("a || b || c", "(|| (|| a b) c)");
    assert_parses("1 | 2 ^ 3 & 4", "(| 1 (^ 2 (& 3 4)))");
    assert_parses("a << 1 + 2", "(shiftleft a (+ 1 2))");
    assert_parses("a >> 1 >>> 2", "(shiftrightunsigned (shiftright a 1) 2)");
}

static void unary_and_division(void **state) {
    (void)state;
    assert_parses("-a * b", "(* (negative a) b)");
    assert_parses("- -1", "(negative -1)");
    assert_parses("5 div 2 % 3", "(% (div 5 2) 3)");
    assert_parses("~a + 1", "(+ (~ a) 1)");
    assert_parses("-9223372036854775808", "-9223372036854775808:bigint");
    assert_parses("a <=> null", "(<=> a NULL)");
    assert_parses("a is not distinct from b", "(<=> a b)");
    assert_parses("a is distinct from b", "(not (<=> a b))");
    assert_parses("a is not true", "(not (<=> a true))");
    assert_parses("!a", "(not a)");
}

static void numbers_have_sparks_types(void **state) {
    (void)state;
    assert_parses("2147483648", "2147483648:bigint");
    assert_parses("1L", "1:bigint");
    assert_parses("1S", "1:smallint");
    assert_parses("1Y", "1:tinyint");
    assert_parses("1.50", "1.50:decimal(3,2)");
    assert_parses(".5", "0.5:decimal(1,1)");
    assert_parses("0.001", "0.001:decimal(3,3)");
    assert_parses("1.", "1:decimal(1,0)");
    assert_parses("1e3", "1000.0:double");
    assert_parses("1.5D", "1.5:double");
    assert_parses("1.5F", "1.5:float");
    assert_parses("15BD", "15:decimal(2,0)");
    assert_parses("1.5E2BD", "150:decimal(3,0)");
    assert_parses("12345678901234567890", "12345678901234567890:decimal(20,0)");
    assert_parses("x'ff0'", "x2:binary");
}

static void strings_and_their_escapes(void **state) {
    (void)state;
    assert_parses("'it''s'", "'it's'");
    assert_parses("'a\\nb'", "'a\nb'");
    assert_parses("\"double\"", "'double'");
    assert_parses("r'a\\nb'", "'a\\nb'");
    assert_parses("'a' 'b'", "'ab'");
    assert_parses("'\\u00e9\\101\\%'", "'\xc3\xa9" "A\\%'");
    assert_parses("'\\uD83D\\uDE00'", "'\xf0\x9f\x98\x80'");
}

static void names_and_calls(void **state) {
    (void)state;
    assert_parses("`a b`.c", "a b.c");
    assert_parses("`a``b`", "a`b");
    assert_parses("1a + 1", "(+ 1a 1)");
    assert_parses("count(*)", "(count *0-0)");
    assert_parses("count(distinct a, b)", "(count distinct a b)");
    assert_parses("sum(a) filter (where b > 1)", "(sum a filter (> b 1))");
    assert_parses("row_number() over (partition by a order by b desc)", "(row_number over 1 1 0-0)");
    assert_parses("sum(a) over (order by b rows between 1 preceding and unbounded following)", "(sum a over 0 1 1-4)");
    assert_parses("transform(xs, x -> x + 1)", "(transform xs (lambda1 (+ x 1)))");
    assert_parses("aggregate(xs, 0, (acc, x) -> acc + x)", "(aggregate xs 0 (lambda2 (+ acc x)))");
    assert_parses("a[0].b['k']", "([] (.b ([] a 0)) 'k')");
    assert_parses("a.b.c", "a.b.c");
    assert_parses("f(x).y", "(.y (f x))");
    assert_parses("t.*", "*1-0");
    assert_parses("left(a, 1)", "(left a 1)");
    assert_parses("if(a, b, c)", "(if a b c)");
    assert_parses("current_date", "(current_date)");
    assert_parses("date", "date");
    assert_parses("struct(a as x, b)", "(struct (as x a) b)");
    assert_parses("(a, b)", "(struct a b)");
    assert_parses("extract(year from d)", "(date_part 'year' d)");
    assert_parses("trim(both 'x' from s)", "(trim 'x' s)");
    assert_parses("trim(s)", "(trim s)");
    assert_parses("substring(s from 2 for 3)", "(substring s 2 3)");
    assert_parses("position('a' in s)", "(position 'a' s)");
    assert_parses("v:a.b[0]::int", "(cast (variant_get v '$.a.b[0]') int)");
    assert_parses(":p + ?", "(+ param[p] param[])");
}

static void casts_cases_intervals(void **state) {
    (void)state;
    assert_parses("cast(a as array<map<string, decimal(10,2)>>)", "(cast a array<map<string,decimal(10,2)>>)");
    assert_parses("try_cast('1' as int)", "(try_cast '1' int)");
    assert_parses("a::bigint + 1", "(+ (cast a bigint) 1)");
    assert_parses("case when a then 1 else 2 end", "(case else a 1 2)");
    assert_parses("case a when 1 then 'x' end", "(case of a 1 'x')");
    assert_parses("interval 1 day 2 hours", "interval[0,93600000000]");
    assert_parses("interval '1-2' year to month", "interval[14,0]");
    assert_parses("interval '1 02:03:04.5' day to second", "interval[0,93784500000]");
    assert_parses("interval '3' months", "interval[3,0]");
    assert_parses("interval -5 minutes", "interval[0,-300000000]");
    assert_parses("date'2020-01-02'", "18263:date");
    assert_parses("timestamp'2020-01-01T00:00:00Z'", "1577836800000000:timestamp");
    assert_parses("timestamp_ntz'2020-01-01 00:00:00'", "1577836800000000:timestamp_ntz");
    assert_parses("timestamp'2020-01-01 00:00:00'", "(cast '2020-01-01 00:00:00' timestamp)");
    assert_parses("a like 'x%' escape '/'", "(like a 'x%' '/')");
    assert_parses("a not like all ('x', 'y')", "(and !(like a 'x') !(like a 'y'))");
}

static void subqueries_in_expressions(void **state) {
    (void)state;
    assert_parses("((select 1) + 1)", "(+ (subquery) 1)");
    assert_parses("a in (select b from t)", "(in-query a)");
    assert_parses("(a, b) in (select 1, 2)", "(in-query a b)");
    assert_parses("a in ((select 1), 2)", "(in a (subquery) 2)");
    assert_parses("not exists (select 1)", "(not (exists))");
    assert_parses("exists(xs, x -> x > 1)", "(exists xs (lambda1 (> x 1)))");
}

/* ---- queries ---- */

static query *parse_query_text(arena *a, const char *text) {
    query *q;
    silt_error err = {0};
    if (query_parse(str_of(text), a, &q, &err) != SILT_OK) fail_msg("%s: %s %s", text, err.message, err.detail);
    return q;
}

static void query_clauses(void **state) {
    (void)state;
    arena *a = arena_new();
    query *q = parse_query_text(a, "WITH c(x) AS (SELECT 1), d AS (SELECT 2) SELECT DISTINCT a, t.b AS bb FROM t JOIN u USING (k) WHERE a > 1 GROUP BY a HAVING count(*) > 1 "
                                   "ORDER BY a DESC, b NULLS LAST LIMIT 5 OFFSET 2");
    assert_int_equal(q->n_ctes, 2);
    assert_int_equal(q->ctes[0].n_column_aliases, 1);
    assert_true(q->distinct);
    assert_int_equal(q->n_projections, 2);
    assert_int_equal(q->from->kind, REL_JOIN);
    assert_int_equal(q->from->n_using_columns, 1);
    assert_non_null(q->where);
    assert_int_equal(q->group, GROUP_EXPRS);
    assert_non_null(q->having);
    assert_int_equal(q->n_order_by, 2);
    assert_true(q->order_by[0].descending && !q->order_by[0].nulls_first);
    assert_true(!q->order_by[1].descending && !q->order_by[1].nulls_first);
    assert_non_null(q->limit);
    assert_non_null(q->offset);
    arena_free(a);
}

static void set_operations(void **state) {
    (void)state;
    arena *a = arena_new();
    query *q = parse_query_text(a, "SELECT 1 UNION ALL SELECT 2 INTERSECT SELECT 3 ORDER BY 1");
    assert_int_equal(q->set, SET_UNION);
    assert_true(q->set_all);
    assert_int_equal(q->right->set, SET_INTERSECT);
    assert_int_equal(q->n_order_by, 1);
    q = parse_query_text(a, "(SELECT 1 ORDER BY 1 LIMIT 1) UNION (SELECT 2)");
    assert_int_equal(q->set, SET_UNION);
    assert_non_null(q->left->limit);
    q = parse_query_text(a, "(SELECT 1 LIMIT 2) LIMIT 1"); /* the outer LIMIT wraps the inner query */
    assert_int_equal(q->from->kind, REL_SUBQUERY);
    q = parse_query_text(a, "SELECT 1 MINUS SELECT 2");
    assert_int_equal(q->set, SET_EXCEPT);
    arena_free(a);
}

static void relations(void **state) {
    (void)state;
    arena *a = arena_new();
    query *q = parse_query_text(a, "SELECT * FROM delta.`/a b` VERSION AS OF 3 x, u TIMESTAMP AS OF '2020-01-01' AS y");
    assert_int_equal(q->from->kind, REL_JOIN);
    assert_int_equal(q->from->join, JOIN_CROSS);
    assert_non_null(q->from->left->travel.version);
    assert_true(str_eqz(q->from->left->alias, "x"));
    assert_non_null(q->from->right->travel.timestamp);
    q = parse_query_text(a, "SELECT * FROM t FOR SYSTEM_VERSION AS OF 1");
    assert_non_null(q->from->travel.version);
    q = parse_query_text(a, "SELECT * FROM a LEFT OUTER JOIN b ON a.x = b.x LEFT SEMI JOIN c ON a.x = c.x ANTI JOIN d ON true FULL JOIN e ON true");
    assert_int_equal(q->from->join, JOIN_FULL);
    assert_int_equal(q->from->left->join, JOIN_LEFT_ANTI);
    assert_int_equal(q->from->left->left->join, JOIN_LEFT_SEMI);
    assert_int_equal(q->from->left->left->left->join, JOIN_LEFT);
    q = parse_query_text(a, "SELECT * FROM ((SELECT 1 AS a) x JOIN t y ON x.a = y.a)");
    assert_int_equal(q->from->kind, REL_JOIN);
    q = parse_query_text(a, "SELECT * FROM ((SELECT 1 AS a)) x");
    assert_int_equal(q->from->kind, REL_SUBQUERY);
    q = parse_query_text(a, "SELECT * FROM VALUES (1, 'a'), (2, 'b') AS t(x, y)");
    assert_int_equal(q->from->n_rows, 2);
    assert_int_equal(q->from->n_row_columns, 2);
    q = parse_query_text(a, "SELECT * FROM t LATERAL VIEW OUTER explode(xs) e AS x LATERAL VIEW posexplode(ys) AS p, y");
    assert_int_equal(q->from->kind, REL_LATERAL_VIEW);
    assert_int_equal(q->from->n_column_aliases, 2);
    assert_true(q->from->left->outer);
    q = parse_query_text(a, "SELECT * FROM range(5) r WHERE r.id > 1");
    assert_int_equal(q->from->kind, REL_FUNCTION);
    q = parse_query_text(a, "SELECT a, count(*) FROM t GROUP BY GROUPING SETS ((a), ())");
    assert_int_equal(q->n_group_sets, 2);
    arena_free(a);
}

/* ---- errors ---- */

static void assert_error_at(const char *text, const char *near, const char *place) {
    arena *a = arena_new();
    query *q;
    silt_error err = {0};
    assert_int_equal(query_parse(str_of(text), a, &q, &err), SILT_INVALID);
    assert_string_equal(err.condition, "PARSE_SYNTAX_ERROR");
    assert_non_null(strstr(err.message, near));
    assert_non_null(strstr(err.detail, place));
    assert_non_null(strchr(err.detail, '^'));
    arena_free(a);
}

static void syntax_errors_show_the_place(void **state) {
    (void)state;
    assert_error_at("SELECT a FROM", "end of input", "line 1, column 14");
    assert_error_at("SELECT a,\n  FROM t", "FROM", "line 2, column 3");
    assert_error_at("SELECT (a FROM t", "FROM", "line 1, column 11");
    assert_error_at("SELECT 'abc", "'abc", "unclosed string");
    assert_error_at("SELECT a b c", "c", "line 1, column 12");
    assert_error_at("SELECT * FROM t WHERE", "end of input", "an expression");
    assert_error_at("SELECT \x01", "\x20", "starts no token");
}

static void deep_nesting_is_refused(void **state) {
    (void)state;
    arena *a = arena_new();
    buf b;
    silt_error err = {0};
    expr *e;
    buf_init(&b, 1 << 20);
    for (int i = 0; i < 5000; i++) buf_append_char(&b, '(');
    buf_append_char(&b, '1');
    for (int i = 0; i < 5000; i++) buf_append_char(&b, ')');
    assert_int_equal(expr_parse(buf_str(&b), a, &e, &err), SILT_INVALID);
    buf_clear(&b);
    for (int i = 0; i < 200; i++) buf_append_z(&b, "(1 + ");
    buf_append_char(&b, '1');
    for (int i = 0; i < 200; i++) buf_append_char(&b, ')');
    assert_int_equal(expr_parse(buf_str(&b), a, &e, &err), SILT_OK);
    buf_dispose(&b);
    arena_free(a);
}

static void scripts_are_split_by_tokens(void **state) {
    static const struct { const char *statement; bool blank, whole; } parts[] = {
        {"SELECT ';' ;", false, true}, {" -- a ; comment\n SELECT `;` /* ; */;", false, true}, {";", true, true}, {" SELECT 3", false, false}, {"", true, false}};
    (void)state;
    str rest = STR("SELECT ';' ; -- a ; comment\n SELECT `;` /* ; */;; SELECT 3");
    for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
        arena *a = arena_new();
        size_t end;
        bool blank, whole;
        assert_int_equal(lexer_first_statement(rest, a, &end, &blank, &whole, NULL), SILT_OK);
        assert_true(str_eqz(str_slice(rest, 0, end), parts[i].statement));
        assert_int_equal(blank, parts[i].blank);
        assert_int_equal(whole, parts[i].whole);
        rest = str_slice(rest, end, rest.len);
        arena_free(a);
    }
    size_t end; /* what is wrong in a later statement is that one's business */
    bool blank, whole;
    arena *a = arena_new();
    assert_int_equal(lexer_first_statement(STR("SELECT 1; SELECT 'open"), a, &end, &blank, &whole, NULL), SILT_OK);
    assert_true(whole && end == 9);
    assert_int_equal(lexer_first_statement(STR("SELECT 'open"), a, &end, &blank, &whole, NULL), SILT_INVALID);
    arena_free(a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(precedence_follows_sparks_grammar), cmocka_unit_test(unary_and_division), cmocka_unit_test(numbers_have_sparks_types),
        cmocka_unit_test(strings_and_their_escapes), cmocka_unit_test(names_and_calls), cmocka_unit_test(casts_cases_intervals), cmocka_unit_test(subqueries_in_expressions),
        cmocka_unit_test(query_clauses), cmocka_unit_test(set_operations), cmocka_unit_test(relations), cmocka_unit_test(syntax_errors_show_the_place),
        cmocka_unit_test(deep_nesting_is_refused), cmocka_unit_test(scripts_are_split_by_tokens),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
