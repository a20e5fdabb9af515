/*
 * Data skipping against the truth: random small files with nulls, NaN, both zeros, long strings and deleted rows; statistics as
 * Delta's writers make them (and leave out); random predicates, decided row by row by the evaluator in this file. A skipped file
 * must not hold a live row that matches, and a file said to match wholly must not hold one that does not.
 */
#include "table_test.h"

#include <math.h>

#include "table/stats.h"

#define CASES    60000
#define MAX_ROWS 7
#define N_LEAVES 12

/* ---- a deterministic source of choices ---- */

static uint64_t seed;

static uint64_t next(void) {
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return seed;
}

static size_t below(size_t n) { return (size_t)(next() >> 20) % n; }
static bool one_in(size_t n) { return below(n) == 0; }

/* ---- the table ---- */

/* The leaves in the order of `leaf_paths`; the last two are partition columns. */
static const char schema_json[] =
    "{\"type\":\"struct\",\"fields\":[{\"name\":\"l\",\"type\":\"long\"},{\"name\":\"i\",\"type\":\"integer\"},{\"name\":\"d\","
    "\"type\":\"double\"},"
    "{\"name\":\"f\",\"type\":\"float\"},{\"name\":\"s\",\"type\":\"string\"},{\"name\":\"t\",\"type\":\"timestamp\"},{\"name\":"
    "\"m\",\"type\":\"decimal(10,2)\"},"
    "{\"name\":\"st\",\"type\":{\"type\":\"struct\",\"fields\":[{\"name\":\"a\",\"type\":\"integer\"},{\"name\":\"b\",\"type\":"
    "\"string\"}]}},"
    "{\"name\":\"dt\",\"type\":\"date\"},{\"name\":\"p\",\"type\":\"integer\"},{\"name\":\"q\",\"type\":\"timestamp\"}]}";
static const uint32_t leaf_paths[N_LEAVES][2] = {{0, 0}, {1, 0}, {2, 0}, {3, 0}, {4, 0}, {5, 0},
                                                 {6, 0}, {7, 0}, {7, 1}, {8, 0}, {9, 0}, {10, 0}};
static const size_t leaf_depths[N_LEAVES] = {1, 1, 1, 1, 1, 1, 1, 2, 2, 1, 1, 1};
#define FIRST_PARTITION 10
static const uint32_t partition_columns[] = {9, 10};
static const data_type *leaf_types[N_LEAVES];
static const data_type *schema;

static column_path path_of(size_t leaf) { return (column_path){leaf_paths[leaf], leaf_depths[leaf]}; }

/* Small domains, so that literals and rows meet; the corners are in each. */
static const int64_t whole_pool[] = {-2, -1, 0, 1, 2, 3, 16777216, 16777217};
static const int64_t long_pool[] = {INT64_MIN, -1, 0, 1, 2, 9007199254740992, 9007199254740993, INT64_MAX};
static const double real_pool[] = {-INFINITY, -1.5, -0.0, 0.0, 0.1, 0.5, 1, 16777216, INFINITY, NAN};
static const int64_t time_pool[] = {-1000, -999, -1, 0, 1, 999, 1000, 1001, 1999, 2000};
#define A32 "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
static const char *const string_pool[] = {
    "",
    "a",
    "ab",
    "b",
    "\x7f",
    "é",
    A32,
    A32 "a",
    A32 "zz",
    A32 "\x7f",
    A32 "é",
    A32 "\xEF\xBF\xBD",
    A32 "\xF0\x9F\x98\x80",
    A32 "\xF4\x8F\xBF\xBF",
    A32 "\xF4\x8F\xBF\xBF"
        "b",
    "\"\\\n",
};

static value random_value(const data_type *type) {
    value v = {.type = type};
    switch (type->id) {
        case TYPE_LONG: v.as.i64 = long_pool[below(ARRAY_LEN(long_pool))]; break;
        case TYPE_INT: v.as.i64 = whole_pool[below(ARRAY_LEN(whole_pool))]; break;
        case TYPE_SHORT:
        case TYPE_DATE: v.as.i64 = (int64_t)below(4) - 1; break;
        case TYPE_FLOAT: v.as.f64 = (double)(float)real_pool[below(ARRAY_LEN(real_pool))]; break;
        case TYPE_DOUBLE: v.as.f64 = real_pool[below(ARRAY_LEN(real_pool))]; break;
        case TYPE_DECIMAL: v.as.decimal = (int128)below(9) * 10 - 20; break;
        case TYPE_STRING: v.as.bytes = str_of(string_pool[below(ARRAY_LEN(string_pool))]); break;
        default: v.as.i64 = time_pool[below(ARRAY_LEN(time_pool))];
    }
    return v;
}

typedef struct file_model {
    size_t n_rows;
    value rows[MAX_ROWS][N_LEAVES];
    bool deleted[MAX_ROWS];
    bool any_deleted;
} file_model;

static void random_rows(file_model *f) {
    *f = (file_model){.n_rows = one_in(40) ? 0 : 1 + below(MAX_ROWS)};
    value partition[2] = {random_value(leaf_types[FIRST_PARTITION]), random_value(leaf_types[FIRST_PARTITION + 1])};
    bool same[N_LEAVES], all_null[N_LEAVES], no_null[N_LEAVES];
    for (size_t c = 0; c < N_LEAVES; c++) same[c] = one_in(4), all_null[c] = one_in(8), no_null[c] = one_in(2);
    for (size_t k = 0; k < 2; k++) partition[k].is_null = one_in(4);
    for (size_t r = 0; r < f->n_rows; r++) {
        bool null_struct = one_in(6);
        for (size_t c = 0; c < N_LEAVES; c++) {
            f->rows[r][c] = same[c] && r > 0 ? f->rows[0][c] : random_value(leaf_types[c]);
            f->rows[r][c].is_null = all_null[c] || (!no_null[c] && one_in(3)) || (leaf_depths[c] == 2 && null_struct);
            if (c >= FIRST_PARTITION) f->rows[r][c] = partition[c - FIRST_PARTITION];
        }
        f->deleted[r] = one_in(5);
        f->any_deleted |= f->deleted[r];
    }
}

/* ---- comparing, independently of value_compare ---- */

static bool is_real(const value *v) { return v->type->id == TYPE_FLOAT || v->type->id == TYPE_DOUBLE; }

static double to_double(const value *v) {
    if (is_real(v)) return v->as.f64;
    return v->type->id == TYPE_DECIMAL ? (double)v->as.decimal / 100 : (double)v->as.i64;
}

/* -1, 0, 1 by Spark's rules: strings by bytes, NaN greatest, a real number against another number in double, decimals exactly. */
static int order(const value *a, const value *b) {
    if (a->type->id == TYPE_STRING) {
        size_t n = a->as.bytes.len < b->as.bytes.len ? a->as.bytes.len : b->as.bytes.len;
        int c = memcmp(a->as.bytes.ptr, b->as.bytes.ptr, n);
        return c ? (c > 0) - (c < 0) : (a->as.bytes.len > b->as.bytes.len) - (a->as.bytes.len < b->as.bytes.len);
    }
    if (is_real(a) || is_real(b)) {
        double x = to_double(a), y = to_double(b);
        if (isnan(x) || isnan(y)) return (isnan(x) != 0) - (isnan(y) != 0);
        return (x > y) - (x < y);
    }
    int128 x = a->type->id == TYPE_DECIMAL ? a->as.decimal : (int128)a->as.i64 * 100;
    int128 y = b->type->id == TYPE_DECIMAL ? b->as.decimal : (int128)b->as.i64 * 100;
    return (x > y) - (x < y);
}

/* ---- statistics the Delta way ---- */

typedef struct stats_options {
    bool no_min, no_max, no_nulls, no_records, nan_left_out, old_tie_breaker;
} stats_options;

/* Delta 0.x and 1.x: U+FFFD behind the prefix, which takes in what is not below it in UTF-16 (a surrogate is). */
static bool old_string_max(buf *out, str s) {
    size_t end = stats_string_min(s).len;
    for (size_t pos = end; pos < s.len; end = pos) {
        uint32_t c = str_next_codepoint(s, &pos);
        if (c < 0xfffd || c > 0xffff) break;
    }
    buf_append(out, str_slice(s, 0, end));
    if (end < s.len) buf_append_z(out, "\xEF\xBF\xBD");
    return true;
}

static void write_max(buf *b, const value *v, const stats_options *o) {
    if (v->type->id != TYPE_STRING) {
        value_write_stats_json(b, v);
        return;
    }
    buf text;
    buf_init(&text, BUF_MAX_DEFAULT);
    if (o->old_tie_breaker ? old_string_max(&text, v->as.bytes) : stats_string_max(&text, v->as.bytes))
        json_write_str(b, buf_str(&text));
    else
        buf_append_z(b, "null");
    buf_dispose(&text);
}

/* The extreme of a leaf over all physical rows; NULL when there is none. */
static const value *extreme(const file_model *f, size_t leaf, int sign, bool skip_nan) {
    const value *best = NULL;
    for (size_t r = 0; r < f->n_rows; r++) {
        const value *v = &f->rows[r][leaf];
        if (v->is_null || (skip_nan && is_real(v) && isnan(v->as.f64))) continue;
        if (!best || order(v, best) * sign > 0) best = v;
    }
    return best;
}

/* what: -1 minima, 1 maxima, 0 null counts. */
static void write_leaf(buf *b, const file_model *f, size_t leaf, int what, const stats_options *o) {
    if (what == 0) {
        int64_t n = 0;
        for (size_t r = 0; r < f->n_rows; r++) n += f->rows[r][leaf].is_null;
        buf_append_i64(b, n);
        return;
    }
    const value *v = extreme(f, leaf, what, o->nan_left_out);
    if (!v) {
        buf_append_z(b, "null");
    } else if (what > 0) {
        write_max(b, v, o);
    } else if (v->type->id == TYPE_STRING) {
        json_write_str(b, stats_string_min(v->as.bytes));
    } else {
        value_write_stats_json(b, v);
    }
}

static void write_leaves(buf *b, const file_model *f, int what, const stats_options *o) {
    static const char *const names[] = {"l", "i", "d", "f", "s", "t", "m", "a", "b", "dt"};
    bool first = true;
    buf_append_char(b, '{');
    for (size_t c = 0; c < FIRST_PARTITION; c++) {
        if (c == 7) {
            json_write_key(b, &first, "st");
            buf_append_char(b, '{');
            first = true;
        }
        json_write_key(b, &first, names[c]);
        write_leaf(b, f, c, what, o);
        if (c == 8) {
            buf_append_char(b, '}');
            first = false;
        }
    }
    buf_append_char(b, '}');
}

static str write_stats(const file_model *f, const stats_options *o, arena *a) {
    buf b;
    buf_init(&b, BUF_MAX_DEFAULT);
    buf_append_z(&b, "{\"tightBounds\":");
    buf_append_z(&b, f->any_deleted ? "false" : "true");
    if (!o->no_records) buf_printf(&b, ",\"numRecords\":%zu", f->n_rows);
    if (!o->no_min) {
        buf_append_z(&b, ",\"minValues\":");
        write_leaves(&b, f, -1, o);
    }
    if (!o->no_max) {
        buf_append_z(&b, ",\"maxValues\":");
        write_leaves(&b, f, 1, o);
    }
    if (!o->no_nulls) {
        buf_append_z(&b, ",\"nullCount\":");
        write_leaves(&b, f, 0, o);
    }
    buf_append_char(&b, '}');
    return str_of(table_take_text(&b, a));
}

/* ---- predicates ---- */

static const data_type *literal_type(const data_type *column, const data_type *decimal_type) {
    if (one_in(2) || !type_is_numeric(column)) return column;
    const data_type *others[] = {&type_long, &type_int, &type_short, &type_double, decimal_type};
    return others[below(ARRAY_LEN(others))];
}

static const predicate *random_predicate(arena *a, int depth);

static const predicate *random_node(arena *a, int depth) {
    predicate *p = ARENA_NEW(a, predicate);
    p->kind = one_in(3) ? PRED_NOT : one_in(2) ? PRED_AND : PRED_OR;
    p->n_children = p->kind == PRED_NOT ? 1 : 1 + below(3);
    const predicate **children = ARENA_ARRAY(a, p->n_children, const predicate *);
    for (size_t i = 0; i < p->n_children; i++) children[i] = random_predicate(a, depth - 1);
    p->children = children;
    return p;
}

static const predicate *random_predicate(arena *a, int depth) {
    if (depth > 0 && one_in(2)) return random_node(a, depth);
    predicate *p = ARENA_NEW(a, predicate);
    if (one_in(25)) {
        p->kind = one_in(3) ? PRED_UNKNOWN : one_in(2) ? PRED_TRUE : PRED_FALSE;
        return p;
    }
    size_t leaf = below(N_LEAVES);
    p->column = path_of(leaf);
    p->column_type = leaf_types[leaf];
    p->kind = PRED_EQ + (predicate_kind)below(PRED_STARTS_WITH - PRED_EQ + 1);
    if (p->kind == PRED_STARTS_WITH && p->column_type->id != TYPE_STRING) p->kind = PRED_EQ;
    p->n_literals = p->kind == PRED_IN ? below(4) : 1;
    value *literals = ARENA_ARRAY(a, p->n_literals, value);
    for (size_t i = 0; i < p->n_literals; i++) {
        literals[i] = random_value(literal_type(p->column_type, leaf_types[6]));
        literals[i].is_null = one_in(20);
    }
    p->has_null = p->kind == PRED_IN && one_in(5);
    p->literals = literals;
    return p;
}

/* ---- the truth ---- */

typedef enum truth { NO, YES, NIL } truth;

/* What PRED_UNKNOWN stands for; a file must be kept if any of the three makes a row match. */
static truth unknown_is;

static truth of(bool b) { return b ? YES : NO; }

static size_t leaf_index(column_path path) {
    for (size_t c = 0; c < N_LEAVES; c++)
        if (leaf_paths[c] == path.index) return c;
    return 0;
}

static bool holds(predicate_kind kind, int o) {
    switch (kind) {
        case PRED_NE: return o != 0;
        case PRED_LT: return o < 0;
        case PRED_LE: return o <= 0;
        case PRED_GT: return o > 0;
        case PRED_GE: return o >= 0;
        default: return o == 0;
    }
}

static truth truth_of_in(const predicate *p, const value *v) {
    bool null_seen = p->has_null;
    if (v->is_null) return NIL;
    for (size_t i = 0; i < p->n_literals; i++) {
        if (p->literals[i].is_null)
            null_seen = true;
        else if (order(v, &p->literals[i]) == 0)
            return YES;
    }
    return null_seen ? NIL : NO;
}

static truth truth_of(const predicate *p, const value *row) {
    truth out;
    switch (p->kind) {
        case PRED_UNKNOWN: return unknown_is;
        case PRED_TRUE: return YES;
        case PRED_FALSE: return NO;
        case PRED_NOT: out = truth_of(p->children[0], row); return out == NIL ? NIL : of(out == NO);
        case PRED_AND:
        case PRED_OR:
            out = of(p->kind == PRED_AND);
            for (size_t i = 0; i < p->n_children; i++) {
                truth t = truth_of(p->children[i], row);
                if (t == of(p->kind == PRED_OR)) return t;
                if (t == NIL) out = NIL;
            }
            return out;
        default: break;
    }
    const value *v = &row[leaf_index(p->column)], *literal = p->literals;
    switch (p->kind) {
        case PRED_IS_NULL: return of(v->is_null);
        case PRED_IS_NOT_NULL: return of(!v->is_null);
        case PRED_IN: return truth_of_in(p, v);
        case PRED_EQ_NULL_SAFE:
            return of(v->is_null || literal->is_null ? v->is_null && literal->is_null : order(v, literal) == 0);
        case PRED_STARTS_WITH:
            if (v->is_null || literal->is_null) return NIL;
            return of(v->as.bytes.len >= literal->as.bytes.len &&
                      memcmp(v->as.bytes.ptr, literal->as.bytes.ptr, literal->as.bytes.len) == 0);
        default: return v->is_null || literal->is_null ? NIL : of(holds(p->kind, order(v, literal)));
    }
}

/* ---- the property ---- */

typedef struct tally {
    size_t skipped, kept_without_match, kept_with_match, wholly;
} tally;

static void report(const char *what, int n, const predicate *p, str stats) {
    buf b;
    buf_init(&b, BUF_MAX_DEFAULT);
    predicate_write(&b, p, schema);
    print_error("case %d: %s\n  %.*s\n  %.*s\n", n, what, STR_ARG(buf_str(&b)), STR_ARG(stats));
    buf_dispose(&b);
    fail();
}

static void check(const file_model *f, const stats_source *source, const predicate *p, int n, str json, tally *t) {
    size_t most = 0, fewest = MAX_ROWS, live = 0;
    for (size_t r = 0; r < f->n_rows; r++) live += !f->deleted[r];
    for (unknown_is = NO; unknown_is <= NIL; unknown_is++) {
        size_t matches = 0;
        for (size_t r = 0; r < f->n_rows; r++) matches += !f->deleted[r] && truth_of(p, f->rows[r]) == YES;
        if (matches > most) most = matches;
        if (matches < fewest) fewest = matches;
    }
    if (predicate_may_match(p, source)) {
        t->kept_with_match += most > 0;
        t->kept_without_match += most == 0;
    } else {
        if (most > 0) report("skipped a file with a match", n, p, json);
        t->skipped++;
    }
    if (!predicate_all_match(p, source)) return;
    if (fewest < live) report("not every row matches", n, p, json);
    t->wholly++;
}

static void one_case(arena *a, int n, tally *t) {
    file_model f;
    random_rows(&f);
    stats_options o = {one_in(8), one_in(8), one_in(8), one_in(8), one_in(4), one_in(4)};
    str json = write_stats(&f, &o, a);
    value partition[2];
    for (size_t k = 0; k < 2; k++)
        partition[k] = f.n_rows ? f.rows[0][FIRST_PARTITION + k] : random_value(leaf_types[FIRST_PARTITION + k]);

    file_stats stats;
    stats_source source;
    file_stats_parse(one_in(20) ? STR_NULL : json, schema, a, &stats);
    file_stats_set_partition(&stats, partition_columns, 2, partition);
    file_stats_source(&stats, &source);

    for (int k = 0; k < 4; k++) check(&f, &source, random_predicate(a, 3), n, json, t);
}

static void no_file_with_a_match_is_skipped(void **state) {
    arena *a = *state;
    tally t = {0};
    assert_int_equal(schema_parse_json(str_of(schema_json), a, &schema, NULL), SILT_OK);
    for (size_t c = 0; c < N_LEAVES; c++) {
        const field *f = &schema->fields[leaf_paths[c][0]];
        leaf_types[c] = leaf_depths[c] == 2 ? f->type->fields[leaf_paths[c][1]].type : f->type;
    }
    arena *scratch = arena_new();
    seed = 0x9E3779B97F4A7C15u;
    for (int n = 0; n < CASES; n++) {
        one_case(scratch, n, &t);
        arena_reset(scratch);
    }
    arena_free(scratch);
    print_message("# %zu skipped, %zu kept with a match, %zu kept without, %zu wholly\n", t.skipped, t.kept_with_match,
                  t.kept_without_match, t.wholly);
    /* It would be no proof if everything were kept: most files without a match are skipped (not all: bounds show no gaps). */
    assert_true(t.skipped > t.kept_without_match);
    assert_true(t.skipped > CASES / 2 && t.wholly > CASES / 10);
}

int main(void) {
    const struct CMUnitTest tests[] = {WITH_ARENA(no_file_with_a_match_is_skipped)};
    return RUN_TESTS(tests);
}
