/* Data skipping by hand-made files: what must be skipped, and what must not be although it looks so. */
#include "table_test.h"

#include <math.h>

#include "table/stats.h"

/* One column `c` of some type, and a partition column `p`. */
typedef struct file_case {
    arena *a;
    const data_type *schema;
    file_stats stats;
    stats_source source;
    value partition;
} file_case;

static const uint32_t C[] = {0}, P[] = {1};

static void open_file(arena *a, const char *type, const char *json, file_case *out) {
    str schema = arena_printf(
        a, "{\"type\":\"struct\",\"fields\":[{\"name\":\"c\",\"type\":\"%s\"},{\"name\":\"p\",\"type\":\"integer\"}]}", type);
    out->a = a;
    out->partition = (value){0};
    assert_int_equal(schema_parse_json(schema, a, &out->schema, NULL), SILT_OK);
    file_stats_parse(str_of(json), out->schema, a, &out->stats);
    file_stats_set_partition(&out->stats, P, 1, &out->partition);
    file_stats_source(&out->stats, &out->source);
}

static value literal(arena *a, const char *type, const char *text) {
    str schema = arena_printf(a, "{\"type\":\"struct\",\"fields\":[{\"name\":\"c\",\"type\":\"%s\"}]}", type);
    const data_type *t;
    value v = {0};
    assert_int_equal(schema_parse_json(schema, a, &t, NULL), SILT_OK);
    if (text && !text[0]) { /* an empty string is a value here */
        v = (value){.type = t->fields[0].type, .as.bytes = STR("")};
    } else {
        assert_int_equal(partition_value_parse(str_of(text), text == NULL, t->fields[0].type, 0, a, &v, NULL), SILT_OK);
    }
    return v;
}

static predicate leaf_on(const file_case *f, const uint32_t *column, predicate_kind kind, const value *literals, size_t n) {
    return (predicate){.kind = kind,
                       .column = {column, 1},
                       .column_type = f->schema->fields[column[0]].type,
                       .literals = literals,
                       .n_literals = n};
}

static bool may(const file_case *f, predicate_kind kind, const char *type, const char *text) {
    value v = literal(f->a, type, text);
    predicate p = leaf_on(f, C, kind, &v, 1);
    bool result = predicate_may_match(&p, &f->source);
    /* NOT (NOT p) says the same, and <> is NOT = … */
    const predicate *inner = &p;
    predicate once = {.kind = PRED_NOT, .children = &inner, .n_children = 1};
    inner = &p;
    const predicate *middle = &once;
    predicate twice = {.kind = PRED_NOT, .children = &middle, .n_children = 1};
    assert_int_equal(predicate_may_match(&twice, &f->source), result);
    predicate opposite = p;
    opposite.kind = kind == PRED_EQ   ? PRED_NE
                    : kind == PRED_NE ? PRED_EQ
                    : kind == PRED_LT ? PRED_GE
                    : kind == PRED_GE ? PRED_LT
                    : kind == PRED_LE ? PRED_GT
                                      : PRED_LE;
    if (kind >= PRED_EQ && kind <= PRED_GE)
        assert_int_equal(predicate_may_match(&once, &f->source), predicate_may_match(&opposite, &f->source));
    return result;
}

static bool may_unary(const file_case *f, const uint32_t *column, predicate_kind kind) {
    predicate p = leaf_on(f, column, kind, NULL, 0);
    return predicate_may_match(&p, &f->source);
}

static void comparisons_against_a_range(void **state) {
    file_case f;
    open_file(*state, "integer", "{\"numRecords\":3,\"minValues\":{\"c\":10},\"maxValues\":{\"c\":20},\"nullCount\":{\"c\":0}}",
              &f);
    static const struct {
        const char *literal;
        bool eq, ne, lt, le, gt, ge;
    } expected[] = {
        {"9", false, true, false, false, true, true},  {"10", true, true, false, true, true, true},
        {"15", true, true, true, true, true, true},    {"20", true, true, true, true, false, true},
        {"21", false, true, true, true, false, false},
    };
    for (size_t i = 0; i < ARRAY_LEN(expected); i++) {
        assert_int_equal(may(&f, PRED_EQ, "integer", expected[i].literal), expected[i].eq);
        assert_int_equal(may(&f, PRED_NE, "integer", expected[i].literal), expected[i].ne);
        assert_int_equal(may(&f, PRED_LT, "integer", expected[i].literal), expected[i].lt);
        assert_int_equal(may(&f, PRED_LE, "integer", expected[i].literal), expected[i].le);
        assert_int_equal(may(&f, PRED_GT, "integer", expected[i].literal), expected[i].gt);
        assert_int_equal(may(&f, PRED_GE, "integer", expected[i].literal), expected[i].ge);
        assert_int_equal(may(&f, PRED_EQ_NULL_SAFE, "long", expected[i].literal), expected[i].eq);
        assert_int_equal(may(&f, PRED_EQ, "decimal(12,2)", expected[i].literal), expected[i].eq);
        assert_int_equal(may(&f, PRED_EQ, "double", expected[i].literal), expected[i].eq);
    }
    assert_false(may(&f, PRED_EQ, "decimal(12,2)", "9.99"));
    assert_false(may(&f, PRED_GT, "double", "20.0"));
    assert_true(may(&f, PRED_EQ, "string", "1")); /* not comparable: unknown */
}

static void not_equal_is_refuted_only_by_one_single_value(void **state) {
    file_case f;
    open_file(*state, "integer",
              "{\"numRecords\":3,\"minValues\":{\"c\":5},\"maxValues\":{\"c\":5},\"nullCount\":{\"c\":1},\"tightBounds\":false}",
              &f);
    assert_false(may(&f, PRED_NE, "integer", "5"));
    assert_true(may(&f, PRED_NE, "integer", "6"));
    open_file(*state, "integer", "{\"numRecords\":3,\"minValues\":{\"c\":5},\"nullCount\":{\"c\":0}}", &f);
    assert_true(may(&f, PRED_NE, "integer", "5"));
}

static void one_bound_alone_still_skips(void **state) {
    file_case f;
    open_file(*state, "string", "{\"minValues\":{\"c\":\"m\"}}", &f);
    assert_false(may(&f, PRED_EQ, "string", "a"));
    assert_false(may(&f, PRED_LT, "string", "m"));
    assert_true(may(&f, PRED_LE, "string", "m"));
    assert_true(may(&f, PRED_GT, "string", "zzz"));
    open_file(*state, "string", "{\"maxValues\":{\"c\":\"m\"}}", &f);
    assert_false(may(&f, PRED_GT, "string", "m"));
    assert_true(may(&f, PRED_LT, "string", "a"));
}

static void null_literals_never_match(void **state) {
    file_case f;
    open_file(*state, "integer", "{\"numRecords\":3,\"minValues\":{\"c\":10},\"maxValues\":{\"c\":20},\"nullCount\":{\"c\":0}}",
              &f);
    for (predicate_kind k = PRED_EQ; k <= PRED_GE; k++) assert_false(may(&f, k, "integer", NULL));
    assert_false(may(&f, PRED_EQ_NULL_SAFE, "integer", NULL)); /* <=> NULL is IS NULL, and there is none */
    open_file(*state, "integer", "{\"numRecords\":3,\"nullCount\":{\"c\":1}}", &f);
    assert_true(may(&f, PRED_EQ_NULL_SAFE, "integer", NULL));
}

static void null_counts(void **state) {
    static const struct {
        const char *json;
        bool is_null, is_not_null, eq;
    } cases[] = {
        {"{\"numRecords\":3,\"nullCount\":{\"c\":0}}", false, true, true},
        {"{\"numRecords\":3,\"nullCount\":{\"c\":1}}", true, true, true},
        {"{\"numRecords\":3,\"nullCount\":{\"c\":3}}", true, false, false},
        {"{\"numRecords\":3,\"nullCount\":{\"c\":0},\"tightBounds\":false}", false, true, true},
        {"{\"numRecords\":3,\"nullCount\":{\"c\":2},\"tightBounds\":false}", true, true, true},
        {"{\"numRecords\":3,\"nullCount\":{\"c\":3},\"tightBounds\":false}", true, false, false},
        {"{\"nullCount\":{\"c\":3}}", true, true, true},
        {"{\"nullCount\":{\"c\":0}}", false, true, true},
        {"{\"numRecords\":3}", true, true, true},
        {"{\"numRecords\":3,\"nullCount\":{\"c\":4}}", true, true, true}, /* nonsense */
        {"{\"numRecords\":3,\"nullCount\":{\"c\":-1}}", true, true, true},
        {"{\"numRecords\":0,\"nullCount\":{\"c\":0}}", false, false, false},
        {NULL, true, true, true},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        file_case f;
        open_file(*state, "integer", cases[i].json, &f);
        assert_int_equal(may_unary(&f, C, PRED_IS_NULL), cases[i].is_null);
        assert_int_equal(may_unary(&f, C, PRED_IS_NOT_NULL), cases[i].is_not_null);
        assert_int_equal(may(&f, PRED_EQ, "integer", "5"), cases[i].eq);
    }
}

/* A stored maximum of .123 may be a row at .123999. */
static void timestamp_maxima_reach_to_the_end_of_their_millisecond(void **state) {
    file_case f;
    open_file(*state, "timestamp",
              "{\"minValues\":{\"c\":\"2024-01-01T00:00:00.100Z\"},\"maxValues\":{\"c\":\"2024-01-01T00:00:00.123Z\"}}", &f);
    assert_true(may(&f, PRED_EQ, "timestamp", "2024-01-01T00:00:00.123999Z"));
    assert_false(may(&f, PRED_EQ, "timestamp", "2024-01-01T00:00:00.124000Z"));
    assert_true(may(&f, PRED_GT, "timestamp", "2024-01-01T00:00:00.123998Z"));
    assert_false(may(&f, PRED_GT, "timestamp", "2024-01-01T00:00:00.123999Z"));
    assert_false(may(&f, PRED_EQ, "timestamp", "2024-01-01T00:00:00.099999Z"));
    assert_true(may(&f, PRED_EQ, "timestamp_ntz", "1999-01-01 00:00:00")); /* another clock: unknown */
    open_file(*state, "timestamp",
              "{\"minValues\":{\"c\":\"2024-01-01T00:00:00.000Z\"},\"maxValues\":{\"c\":\"2024-01-01T00:00:00.000Z\"}}", &f);
    assert_true(may(&f, PRED_NE, "timestamp", "2024-01-01T00:00:00.000000Z"));
    open_file(*state, "date", "{\"minValues\":{\"c\":\"2024-01-01\"},\"maxValues\":{\"c\":\"2024-01-31\"}}", &f);
    assert_false(may(&f, PRED_GE, "date", "2024-02-01"));
    assert_false(may(&f, PRED_LT, "date", "2024-01-01"));
    assert_false(may(&f, PRED_GT, "timestamp_ntz", "2024-01-31 00:00:00"));
}

static void nan_and_zeros(void **state) {
    file_case f;
    /* As Spark writes it: NaN is in the file, and the greatest. */
    open_file(*state, "double",
              "{\"numRecords\":2,\"minValues\":{\"c\":1.5},\"maxValues\":{\"c\":\"NaN\"},\"nullCount\":{\"c\":0}}", &f);
    assert_true(may(&f, PRED_EQ, "double", "NaN"));
    assert_true(may(&f, PRED_GT, "double", "Infinity"));
    assert_false(may(&f, PRED_LT, "double", "1.5"));
    /* A maximum that is a number does not say that there is no NaN: writers that copy the footer leave it out. */
    open_file(*state, "double", "{\"numRecords\":2,\"minValues\":{\"c\":1.5},\"maxValues\":{\"c\":2.5},\"nullCount\":{\"c\":0}}",
              &f);
    assert_true(may(&f, PRED_EQ, "double", "NaN"));
    assert_true(may(&f, PRED_GT, "double", "100.0"));
    assert_true(may(&f, PRED_GE, "double", "100.0"));
    assert_false(may(&f, PRED_EQ, "double", "100.0"));
    assert_false(may(&f, PRED_LT, "double", "1.5"));
    assert_false(may(&f, PRED_LE, "double", "1.0"));
    open_file(*state, "double", "{\"numRecords\":2,\"minValues\":{\"c\":1.5},\"maxValues\":{\"c\":1.5},\"nullCount\":{\"c\":0}}",
              &f);
    assert_true(may(&f, PRED_NE, "double", "1.5"));
    open_file(*state, "float",
              "{\"numRecords\":1,\"minValues\":{\"c\":\"NaN\"},\"maxValues\":{\"c\":\"NaN\"},\"nullCount\":{\"c\":0}}", &f);
    assert_false(may(&f, PRED_LT, "float", "Infinity"));
    assert_false(may(&f, PRED_LT, "float", "NaN"));
    assert_false(may(&f, PRED_NE, "float", "NaN"));
    assert_true(may(&f, PRED_LE, "float", "NaN"));
    open_file(*state, "double", "{\"minValues\":{\"c\":-0.0},\"maxValues\":{\"c\":-0.0}}", &f);
    assert_true(may(&f, PRED_EQ, "double", "0.0"));
    assert_true(may(&f, PRED_GE, "double", "0.0"));
    assert_true(may(&f, PRED_LE, "double", "-0.0"));
}

/* d = 0.1 with the decimal literal 0.1, bigint = double: compared after a cast that rounds. */
static void literals_of_another_numeric_type_are_compared_as_the_query_does(void **state) {
    file_case f;
    open_file(*state, "double", "{\"minValues\":{\"c\":0.1},\"maxValues\":{\"c\":0.1}}", &f);
    assert_true(may(&f, PRED_EQ, "decimal(1,1)", "0.1"));
    assert_true(may(&f, PRED_LE, "decimal(1,1)", "0.1"));
    assert_false(may(&f, PRED_EQ, "decimal(2,1)", "0.2"));
    open_file(*state, "long", "{\"minValues\":{\"c\":9007199254740993},\"maxValues\":{\"c\":9007199254740993}}", &f);
    assert_true(may(&f, PRED_EQ, "double", "9007199254740992"));
    assert_false(may(&f, PRED_EQ, "long", "9007199254740992"));
    assert_false(may(&f, PRED_EQ, "double", "9007199254740000"));
    open_file(*state, "integer", "{\"minValues\":{\"c\":16777217},\"maxValues\":{\"c\":16777217}}", &f);
    assert_true(may(&f, PRED_EQ, "float", "16777216"));
    assert_false(may(&f, PRED_EQ, "double", "16777216"));
    open_file(*state, "decimal(20,2)", "{\"minValues\":{\"c\":0.10},\"maxValues\":{\"c\":0.10}}", &f);
    assert_true(may(&f, PRED_EQ, "double", "0.1"));
    assert_false(may(&f, PRED_EQ, "double", "0.2"));
    assert_false(may(&f, PRED_EQ, "decimal(3,3)", "0.101"));
    open_file(*state, "float", "{\"minValues\":{\"c\":1.0},\"maxValues\":{\"c\":1.6777216E7}}", &f);
    assert_true(may(&f, PRED_EQ, "integer", "16777217"));
    assert_false(may(&f, PRED_EQ, "integer", "16778000"));
    assert_false(may(&f, PRED_LT, "short", "1"));
}

/* CHAR(n) compares padded, its statistics are unpadded. */
static void char_columns_are_skipped_by_nulls_only(void **state) {
    arena *a = *state;
    file_case f;
    open_file(a, "string\",\"metadata\":{\"__CHAR_VARCHAR_TYPE_STRING\":\"char(4)\"},\"x\":\"",
              "{\"numRecords\":2,\"minValues\":{\"c\":\"ab\"},\"maxValues\":{\"c\":\"ab\"},\"nullCount\":{\"c\":0}}", &f);
    assert_true(may(&f, PRED_EQ, "string", "ab  "));
    assert_true(may(&f, PRED_LT, "string", "a"));
    assert_true(may(&f, PRED_STARTS_WITH, "string", "x"));
    assert_false(may_unary(&f, C, PRED_IS_NULL));
}

static void prefixes(void **state) {
    file_case f;
    open_file(*state, "string",
              "{\"numRecords\":9,\"minValues\":{\"c\":\"cab\"},\"maxValues\":{\"c\":\"dog\"},\"nullCount\":{\"c\":0}}", &f);
    static const struct {
        const char *prefix;
        bool may;
    } cases[] = {{"", true},      {"c", true},  {"d", true},    {"ca", true}, {"cab", true}, {"caba", true}, {"dog", true},
                 {"dogs", false}, {"b", false}, {"caa", false}, {"e", false}, {"do", true},  {"dp", false},  {"da", true}};
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        if (may(&f, PRED_STARTS_WITH, "string", cases[i].prefix) != cases[i].may) fail_msg("LIKE '%s%%'", cases[i].prefix);
    /* NOT LIKE is refuted where both ends have the prefix. */
    open_file(*state, "string",
              "{\"numRecords\":9,\"minValues\":{\"c\":\"abc\"},\"maxValues\":{\"c\":\"abz\"},\"nullCount\":{\"c\":0}}", &f);
    value v = literal(*state, "string", "ab");
    predicate p = leaf_on(&f, C, PRED_STARTS_WITH, &v, 1);
    const predicate *child = &p;
    predicate negated = {.kind = PRED_NOT, .children = &child, .n_children = 1};
    assert_false(predicate_may_match(&negated, &f.source));
    assert_true(predicate_all_match(&p, &f.source));
    v = literal(*state, "string", "abc");
    assert_true(predicate_may_match(&negated, &f.source));
}

static bool may_in(const file_case *f, const char *const *texts, size_t n, bool has_null, bool negated) {
    value values[4];
    for (size_t i = 0; i < n; i++) values[i] = literal(f->a, "integer", texts[i]);
    predicate p = leaf_on(f, C, PRED_IN, values, n);
    p.has_null = has_null;
    const predicate *child = &p;
    predicate not_in = {.kind = PRED_NOT, .children = &child, .n_children = 1};
    return predicate_may_match(negated ? &not_in : &p, &f->source);
}

static void in_lists(void **state) {
    file_case f;
    open_file(*state, "integer", "{\"numRecords\":3,\"minValues\":{\"c\":10},\"maxValues\":{\"c\":20},\"nullCount\":{\"c\":0}}",
              &f);
    assert_false(may_in(&f, (const char *[]){"1", "21"}, 2, false, false));
    assert_true(may_in(&f, (const char *[]){"1", "15"}, 2, false, false));
    assert_true(may_in(&f, (const char *[]){"1", "15"}, 2, false, true));
    assert_false(may_in(&f, (const char *[]){"1", "15"}, 2, true, true)); /* NOT IN (…, NULL) is never true */
    assert_false(may_in(&f, (const char *[]){"1", NULL}, 2, false, true));
    assert_false(may_in(&f, NULL, 0, true, false));
    assert_true(may_in(&f, (const char *[]){"10", NULL}, 2, false, false));
    open_file(*state, "integer", "{\"numRecords\":3,\"minValues\":{\"c\":10},\"maxValues\":{\"c\":10},\"nullCount\":{\"c\":1}}",
              &f);
    assert_false(may_in(&f, (const char *[]){"9", "10"}, 2, false, true));
}

static void partition_values_decide_exactly(void **state) {
    file_case f;
    open_file(*state, "integer", NULL, &f);
    f.partition = literal(*state, "integer", "7");
    value seven = literal(*state, "integer", "7"), eight = literal(*state, "integer", "8");
    predicate p = leaf_on(&f, P, PRED_EQ, &seven, 1);
    assert_true(predicate_may_match(&p, &f.source));
    assert_true(predicate_all_match(&p, &f.source));
    p.kind = PRED_NE;
    assert_false(predicate_may_match(&p, &f.source));
    p.literals = &eight;
    assert_true(predicate_all_match(&p, &f.source));
    assert_false(may_unary(&f, P, PRED_IS_NULL));
    assert_true(may_unary(&f, P, PRED_IS_NOT_NULL));

    f.partition.is_null = true; /* also without numRecords */
    assert_false(predicate_may_match(&p, &f.source));
    p.kind = PRED_EQ_NULL_SAFE;
    assert_false(predicate_may_match(&p, &f.source));
    assert_true(may_unary(&f, P, PRED_IS_NULL));
    assert_false(may_unary(&f, P, PRED_IS_NOT_NULL));
}

/* Three-valued logic over: T (true), F (false), U (anything), N (null: a comparison of an all-null column). */
static void connectives(void **state) {
    file_case f;
    open_file(*state, "integer", "{\"numRecords\":3,\"nullCount\":{\"c\":3}}", &f);
    value one = literal(*state, "integer", "1");
    predicate t = {.kind = PRED_TRUE}, no = {.kind = PRED_FALSE}, u = {.kind = PRED_UNKNOWN},
              n = leaf_on(&f, C, PRED_EQ, &one, 1);
    const struct {
        predicate_kind kind;
        const predicate *a, *b;
        bool may, may_not, all;
    } cases[] = {
        {PRED_AND, &t, &t, true, false, true},   {PRED_AND, &t, &no, false, true, false}, {PRED_AND, &t, &u, true, true, false},
        {PRED_AND, &no, &u, false, true, false}, {PRED_AND, &n, &t, false, false, false}, {PRED_AND, &n, &no, false, true, false},
        {PRED_AND, &n, &u, false, true, false},  {PRED_OR, &t, &u, true, false, true},    {PRED_OR, &no, &u, true, true, false},
        {PRED_OR, &no, &no, false, true, false}, {PRED_OR, &n, &t, true, false, true},    {PRED_OR, &n, &no, false, false, false},
        {PRED_OR, &n, &u, true, false, false},   {PRED_OR, &n, &n, false, false, false},
    };
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const predicate *children[] = {cases[i].a, cases[i].b};
        predicate p = {.kind = cases[i].kind, .children = children, .n_children = 2};
        const predicate *self = &p;
        predicate negated = {.kind = PRED_NOT, .children = &self, .n_children = 1};
        assert_int_equal(predicate_may_match(&p, &f.source), cases[i].may);
        assert_int_equal(predicate_may_match(&negated, &f.source), cases[i].may_not);
        assert_int_equal(predicate_all_match(&p, &f.source), cases[i].all);
    }
    predicate all = {.kind = PRED_AND}, none = {.kind = PRED_OR};
    assert_true(predicate_may_match(&all, &f.source));
    assert_false(predicate_may_match(&none, &f.source));
}

static void contradictory_bounds_are_not_trusted(void **state) {
    file_case f;
    open_file(*state, "integer", "{\"minValues\":{\"c\":20},\"maxValues\":{\"c\":10}}", &f);
    assert_true(may(&f, PRED_EQ, "integer", "15"));
    assert_true(may(&f, PRED_EQ, "integer", "5"));
    assert_true(may(&f, PRED_GT, "integer", "30"));
}

static void texts_for_explain(void **state) {
    arena *a = *state;
    file_case f;
    open_file(a, "string", NULL, &f);
    value s = literal(a, "string", "it's"), one = literal(a, "integer", "1"), null = literal(a, "integer", NULL);
    value list[] = {one, literal(a, "decimal(5,2)", "2.50"), literal(a, "date", "2024-01-01"), literal(a, "double", "1e10"),
                    literal(a, "timestamp", "2024-01-01T00:00:00.5Z")};
    predicate eq = leaf_on(&f, C, PRED_EQ, &s, 1), safe = leaf_on(&f, P, PRED_EQ_NULL_SAFE, &null, 1),
              in = leaf_on(&f, P, PRED_IN, list, 5), unknown = {.kind = PRED_UNKNOWN};
    predicate like = leaf_on(&f, C, PRED_STARTS_WITH, &s, 1), is_null = leaf_on(&f, C, PRED_IS_NULL, NULL, 0);
    in.has_null = true;
    const predicate *inner = &like, *ors[] = {&eq, &safe, &in}, *ands[3];
    predicate no = {.kind = PRED_NOT, .children = &inner, .n_children = 1},
              any = {.kind = PRED_OR, .children = ors, .n_children = 3};
    ands[0] = &any, ands[1] = &no, ands[2] = &unknown;
    predicate all = {.kind = PRED_AND, .children = ands, .n_children = 3};
    buf b;
    buf_init(&b, BUF_MAX_DEFAULT);
    predicate_write(&b, &all, f.schema);
    assert_string_equal(
        table_take_text(&b, a),
        "((c = 'it\\'s' OR p <=> NULL OR p IN (1, 2.50, DATE '2024-01-01', 1.0E10, TIMESTAMP '2024-01-01 00:00:00.5Z', NULL))"
        " AND NOT (c LIKE 'it\\'s%') AND …)");
    buf_init(&b, BUF_MAX_DEFAULT);
    predicate_write(&b, &is_null, f.schema);
    assert_string_equal(table_take_text(&b, a), "c IS NULL");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        WITH_ARENA(comparisons_against_a_range),
        WITH_ARENA(not_equal_is_refuted_only_by_one_single_value),
        WITH_ARENA(one_bound_alone_still_skips),
        WITH_ARENA(null_literals_never_match),
        WITH_ARENA(null_counts),
        WITH_ARENA(timestamp_maxima_reach_to_the_end_of_their_millisecond),
        WITH_ARENA(nan_and_zeros),
        WITH_ARENA(literals_of_another_numeric_type_are_compared_as_the_query_does),
        WITH_ARENA(char_columns_are_skipped_by_nulls_only),
        WITH_ARENA(prefixes),
        WITH_ARENA(in_lists),
        WITH_ARENA(partition_values_decide_exactly),
        WITH_ARENA(connectives),
        WITH_ARENA(contradictory_bounds_are_not_trusted),
        WITH_ARENA(texts_for_explain),
    };
    return RUN_TESTS(tests);
}
