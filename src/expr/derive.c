/*
 * Partition filters from generated columns: of a table partitioned by `day DATE GENERATED ALWAYS AS (CAST(ts AS DATE))`, ts >= x needs no partition with day < CAST(x AS
 * DATE). Delta has the same idea (its OptimizablePartitionExpression); here the expression itself is evaluated for the literal:
 *
 *   base = x      any expression f over that column alone: part <=> f(x)
 *   base < x …    f never decreases: part <= f(x). Strict comparisons become inclusive: many values share one f.
 *   year, month, day, hour of one column in columns of their own are compared together, as tuples
 *
 * A TIMESTAMP's day depends on the session zone of whoever wrote the row. No two zones are more than 26 hours apart, so the literal is moved by that much; statistics of the
 * column itself prune what this leaves. A NULL in the partition column proves nothing (a failed cast): such partitions are always kept.
 */
#include "expr/derive.h"

#include "expr/bind.h"

#define ZONES_APART_US (26 * 3600 * INT64_C(1000000))

/** Parts of a time that are compared together, in this order. */
enum { PART_YEAR, PART_MONTH, PART_DAY, PART_HOUR, N_PARTS };

/** One generated partition column. */
typedef struct rule {
    uint32_t partition, base; /**< fields of the table */
    const expr *tree;         /**< unbound, over the base alone */
    bool grows;               /**< never decreases with the base */
    bool is_text;             /**< a formatted date: years before 0 and after 9999 sort elsewhere */
    int part;                 /**< PART_…, -1: none */
} rule;

typedef struct deriver {
    const relation *r;
    const data_type *schema;
    const bind_env *env;
    arena *a;
    silt_error *err;
    rule *rules;
    size_t n_rules;
} deriver;

/* ---- predicates ---- */

static silt_status make_tree(deriver *d, predicate_kind kind, const predicate *x, const predicate *y, const predicate **out) {
    const predicate **children = ARENA_ARRAY(d->a, 2, const predicate *);
    predicate *p = ARENA_NEW(d->a, predicate);
    if (!children || !p) return error_no_memory(d->err);
    children[0] = x;
    children[1] = y;
    *p = (predicate){.kind = kind, .children = children, .n_children = 2};
    *out = p;
    return SILT_OK;
}

/* NULL stands for "nothing is known". */
static silt_status both(deriver *d, const predicate *x, const predicate *y, const predicate **out) {
    *out = x ? x : y;
    return x && y ? make_tree(d, PRED_AND, x, y, out) : SILT_OK;
}

static silt_status make_leaf(deriver *d, predicate_kind kind, uint32_t column, const value *v, const predicate **out) {
    uint32_t *path = ARENA_NEW(d->a, uint32_t);
    value *literal = ARENA_NEW(d->a, value);
    predicate *p = ARENA_NEW(d->a, predicate);
    if (!path || !literal || !p) return error_no_memory(d->err);
    *path = column;
    if (v) *literal = *v;
    *p = (predicate){.kind = kind,
                     .column = {path, 1},
                     .column_type = d->schema->fields[column].type,
                     .literals = literal,
                     .n_literals = v ? 1 : 0};
    *out = p;
    return SILT_OK;
}

/* part op v, or part IS NULL */
static silt_status compare(deriver *d, predicate_kind kind, uint32_t column, const value *v, const predicate **out) {
    const predicate *leaf, *null;
    if (v->is_null) return make_leaf(d, PRED_IS_NULL, column, NULL, out);
    TRY(make_leaf(d, kind, column, v, &leaf));
    TRY(make_leaf(d, PRED_IS_NULL, column, NULL, &null));
    return make_tree(d, PRED_OR, leaf, null, out);
}

/* ---- rules ---- */

typedef struct base_search {
    const data_type *schema;
    int base;
    bool single;
} base_search;

static bool note_base(void *ctx, expr *e) {
    base_search *s = ctx;
    if (e->kind != EXPR_COLUMN) return true;
    int at = e->name.count == 1 ? schema_find(s->schema, e->name.parts[0]) : -1;
    if (at < 0 || (s->base >= 0 && s->base != at)) s->single = false;
    s->base = at;
    return s->single;
}

static bool is_call(const expr *e, const char *name, size_t n_args) {
    return e->kind == EXPR_CALL && e->n_args == n_args && !e->filter && !e->over &&
           str_eq_ascii_fold(e->function_name, str_of(name));
}

static bool literal_text(const expr *e, str *out) {
    if (e->kind != EXPR_LITERAL || e->literal.is_null || !e->literal.type || e->literal.type->id != TYPE_STRING) return false;
    *out = e->literal.as.bytes;
    return true;
}

static bool is_prefix(const expr *e) {
    const expr *from = e->args[1];
    return from->kind == EXPR_LITERAL && !from->literal.is_null && type_is_integral(from->literal.type) &&
           (from->literal.as.i64 == 0 || from->literal.as.i64 == 1) && e->args[2]->kind == EXPR_LITERAL;
}

static bool is_growing_format(const expr *e) {
    static const char *const formats[] = {"yyyy",     "yyyy-MM",       "yyyyMM",     "yyyy-MM-dd",
                                          "yyyyMMdd", "yyyy-MM-dd-HH", "yyyyMMddHH", "yyyy-MM-dd HH"};
    str text;
    for (size_t i = 0; literal_text(e, &text) && i < ARRAY_LEN(formats); i++)
        if (str_eqz(text, formats[i])) return true;
    return false;
}

static bool is_time(const data_type *t) { return t->id == TYPE_DATE || t->id == TYPE_TIMESTAMP || t->id == TYPE_TIMESTAMP_NTZ; }

/* Does the expression never decrease as its base grows? */
static bool grows(const expr *e, const data_type *base, bool *is_text) {
    str text;
    if (e->kind == EXPR_COLUMN) return true;
    if (e->kind == EXPR_CAST)
        return !e->is_try && is_time(e->cast_type) && is_time(base) && grows(e->args[0], base, is_text) && !*is_text;
    if ((is_call(e, "substring", 3) || is_call(e, "substr", 3)) && base->id == TYPE_STRING)
        return is_prefix(e) && e->args[0]->kind == EXPR_COLUMN;
    if (!is_time(base)) return false;
    if (is_call(e, "year", 1) || is_call(e, "to_date", 1) || is_call(e, "date", 1))
        return grows(e->args[0], base, is_text) && !*is_text;
    if (is_call(e, "date_trunc", 2)) return literal_text(e->args[0], &text) && grows(e->args[1], base, is_text) && !*is_text;
    if (is_call(e, "trunc", 2)) return literal_text(e->args[1], &text) && grows(e->args[0], base, is_text) && !*is_text;
    if (!is_call(e, "date_format", 2) || !is_growing_format(e->args[1]) || !grows(e->args[0], base, is_text) || *is_text)
        return false;
    *is_text = true;
    return true;
}

static int part_of(const expr *e, const data_type *base) {
    static const struct {
        const char *name;
        int part;
    } names[] = {{"year", PART_YEAR}, {"month", PART_MONTH}, {"day", PART_DAY}, {"dayofmonth", PART_DAY}, {"hour", PART_HOUR}};
    bool is_text = false;
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (is_call(e, names[i].name, 1) && is_time(base) && grows(e->args[0], base, &is_text) && !is_text &&
            !is_call(e->args[0], "year", 1) && !is_call(e->args[0], "date_trunc", 2) && !is_call(e->args[0], "trunc", 2))
            return names[i].part;
    return -1;
}

/* Equal values of these are not always the same value: 0.0 and -0.0, CHARs of other padding. */
static bool has_twins(const data_type *t) {
    return t->id == TYPE_FLOAT || t->id == TYPE_DOUBLE || (t->id == TYPE_STRING && t->is_char);
}

static silt_status add_rule(deriver *d, uint32_t partition) {
    const field *f = &d->schema->fields[partition];
    const json_node *text = field_metadata_get(f, "delta.generationExpression", d->a);
    base_search s = {d->schema, -1, true};
    expr *tree;
    silt_error ignored;
    if (!text || text->type != JSON_STRING) return SILT_OK;
    silt_status status = expr_parse(text->text, d->a, &tree, &ignored);
    if (status == SILT_NO_MEMORY) return error_no_memory(d->err);
    if (status != SILT_OK) return SILT_OK;
    expr_walk(tree, note_base, &s);
    if (!s.single || s.base < 0 || has_twins(d->schema->fields[s.base].type)) return SILT_OK;
    rule *out = &d->rules[d->n_rules++];
    *out = (rule){.partition = partition, .base = (uint32_t)s.base, .tree = tree};
    const data_type *base = d->schema->fields[s.base].type;
    out->grows = grows(tree, base, &out->is_text);
    out->part = part_of(tree, base);
    return SILT_OK;
}

static silt_status find_rules(deriver *d) {
    const table_source *t = d->r->source;
    d->rules = ARENA_ARRAY(d->a, t->n_partition_columns + 1, rule);
    if (!d->rules) return error_no_memory(d->err);
    for (size_t i = 0; i < t->n_partition_columns; i++) TRY(add_rule(d, t->partition_columns[i]));
    return SILT_OK;
}

/* ---- values ---- */

typedef struct base_value {
    value v;
    arena *a;
} base_value;

static bool put_value(void *ctx, expr *e) {
    const base_value *b = ctx;
    if (e->kind != EXPR_COLUMN) return true;
    *e = (expr){.kind = EXPR_LITERAL, .span = e->span, .literal = b->v};
    return true;
}

/* An instant in an expression over something else depends on the session zone, and only literals of TIMESTAMP are moved for it. */
static bool is_zoneless(void *ctx, expr *e) {
    (void)ctx;
    bool by_name = is_call(e, "unix_timestamp", e->n_args) || is_call(e, "to_unix_timestamp", e->n_args) ||
                   is_call(e, "from_unixtime", e->n_args);
    return !by_name && (!e->type || e->type->id != TYPE_TIMESTAMP);
}

/* The partition column's value for one value of its base, moved by so many microseconds; *out_ok false where it has none. */
static silt_status value_for(deriver *d, const rule *u, const value *v, int64_t move_us, value *out, bool *out_ok) {
    const field *f = &d->schema->fields[u->partition];
    base_value b = {*v, d->a};
    expr *e = expr_clone(u->tree, d->a), *cast = expr_new(d->a, EXPR_CAST, (source_span){0, 0});
    silt_error ignored;
    *out_ok = false;
    if (!e || !cast || !(cast->args = ARENA_ARRAY(d->a, 1, expr *))) return error_no_memory(d->err);
    if (!v->is_null && __builtin_add_overflow(v->as.i64, move_us, &b.v.as.i64)) return SILT_OK;
    b.v.type = d->schema->fields[u->base].type;
    expr_walk(e, put_value, &b);
    cast->args[0] = e;
    cast->n_args = 1;
    cast->cast_type = f->type;
    silt_status status = expr_bind(cast, NULL, d->env, d->a, &cast, &ignored);
    if (status == SILT_OK && expr_has_volatile(cast)) return SILT_OK;
    if (status == SILT_OK && b.v.type->id != TYPE_TIMESTAMP && !expr_walk(cast, is_zoneless, NULL)) return SILT_OK;
    if (status == SILT_OK) status = expr_fold(cast, d->env, d->a, out, &ignored);
    if (status == SILT_NO_MEMORY) return error_no_memory(d->err);
    *out_ok = status == SILT_OK;
    if (!*out_ok) return SILT_OK;
    out->type = f->type;
    if (f->type->id == TYPE_TIMESTAMP && !out->is_null)
        *out_ok = !__builtin_add_overflow(out->as.i64, move_us, &out->as.i64); /* midnights differ too */
    return SILT_OK;
}

/* How far the literal moves for a lower (-1) or an upper (1) bound. */
static int64_t zone_move(const deriver *d, const rule *u, int way) {
    return d->schema->fields[u->base].type->id == TYPE_TIMESTAMP ? way * ZONES_APART_US : 0;
}

/* ---- from a comparison of the base ---- */

/* part >= low or part <= high, for one growing expression. */
static silt_status bound(deriver *d, const rule *u, const value *v, int way, const predicate **out) {
    value at;
    bool ok;
    *out = NULL;
    TRY(value_for(d, u, v, zone_move(d, u, way), &at, &ok));
    if (!ok || at.is_null) return SILT_OK;
    if (u->is_text && (at.as.bytes.len == 0 || at.as.bytes.ptr[0] < '0')) return SILT_OK; /* a year that does not sort as text */
    TRY(compare(d, way < 0 ? PRED_GE : PRED_LE, u->partition, &at, out));
    if (!u->is_text || way > 0) return SILT_OK;
    value digit = {.type = at.type, .as.bytes = STR("0")}; /* years beyond 9999 begin with '+' */
    const predicate *beyond;
    TRY(make_leaf(d, PRED_LT, u->partition, &digit, &beyond));
    return make_tree(d, PRED_OR, *out, beyond, out);
}

/* The rules for year, month, day, hour of one base, as far as they go without a gap; the number of them. */
static size_t tuple_of(const deriver *d, uint32_t base, const rule **out) {
    size_t n = 0;
    for (; n < N_PARTS; n++) {
        out[n] = NULL;
        for (size_t i = 0; i < d->n_rules; i++)
            if (d->rules[i].base == base && d->rules[i].part == (int)n) out[n] = &d->rules[i];
        if (!out[n]) break;
    }
    return n;
}

/* (y, m, d) >= (Y, M, D): y > Y or (y = Y and (m > M or (m = M and d >= D))). */
static silt_status tuple_bound(deriver *d, uint32_t base, const value *v, int way, const predicate **out) {
    const rule *parts[N_PARTS];
    size_t n = tuple_of(d, base, parts);
    *out = NULL;
    for (size_t i = n; n > 1 && i-- > 0;) {
        value at;
        bool ok;
        const predicate *beyond, *equal;
        TRY(value_for(d, parts[i], v, zone_move(d, parts[i], way), &at, &ok));
        if (!ok || at.is_null) {
            *out = NULL;
            return SILT_OK;
        }
        if (i + 1 == n) {
            TRY(compare(d, way < 0 ? PRED_GE : PRED_LE, parts[i]->partition, &at, out));
            continue;
        }
        TRY(compare(d, way < 0 ? PRED_GT : PRED_LT, parts[i]->partition, &at, &beyond));
        TRY(compare(d, PRED_EQ, parts[i]->partition, &at, &equal));
        TRY(make_tree(d, PRED_AND, equal, *out, &equal));
        TRY(make_tree(d, PRED_OR, beyond, equal, out));
    }
    return SILT_OK;
}

static silt_status bounds(deriver *d, uint32_t base, const value *v, int way, const predicate **out) {
    const predicate *one;
    TRY(tuple_bound(d, base, v, way, out));
    for (size_t i = 0; i < d->n_rules; i++) {
        if (d->rules[i].base != base || !d->rules[i].grows) continue;
        TRY(bound(d, &d->rules[i], v, way, &one));
        TRY(both(d, *out, one, out));
    }
    return SILT_OK;
}

/* base = v, or base IS NULL where v is null. */
static silt_status equality(deriver *d, uint32_t base, const value *v, const predicate **out) {
    const predicate *low, *high;
    *out = NULL;
    bool zoned = d->schema->fields[base].type->id == TYPE_TIMESTAMP && !v->is_null;
    if (zoned) {
        TRY(bounds(d, base, v, -1, &low));
        TRY(bounds(d, base, v, 1, &high));
        return both(d, low, high, out);
    }
    for (size_t i = 0; i < d->n_rules; i++) {
        value at;
        bool ok;
        if (d->rules[i].base != base) continue;
        TRY(value_for(d, &d->rules[i], v, 0, &at, &ok));
        if (!ok) continue;
        TRY(compare(d, PRED_EQ, d->rules[i].partition, &at, &low));
        TRY(both(d, *out, low, out));
    }
    return SILT_OK;
}

static bool has_rule(const deriver *d, uint32_t base) {
    for (size_t i = 0; i < d->n_rules; i++)
        if (d->rules[i].base == base) return true;
    return false;
}

static silt_status from_in(deriver *d, uint32_t base, const predicate *p, const predicate **out) {
    *out = NULL;
    for (size_t i = 0; i < p->n_literals; i++) {
        const predicate *one;
        TRY(equality(d, base, &p->literals[i], &one));
        if (!one) {
            *out = NULL;
            return SILT_OK;
        }
        if (i == 0)
            *out = one;
        else
            TRY(make_tree(d, PRED_OR, *out, one, out));
    }
    return SILT_OK;
}

static silt_status from_leaf(deriver *d, const predicate *p, const predicate **out) {
    *out = NULL;
    if (p->column.depth != 1 || !has_rule(d, p->column.index[0])) return SILT_OK;
    uint32_t base = p->column.index[0];
    const data_type *type = d->schema->fields[base].type;
    for (size_t i = 0; i < p->n_literals; i++)
        if (!p->literals[i].is_null && !type_equal(p->literals[i].type, type)) return SILT_OK;
    value null = {.type = type, .is_null = true};
    switch (p->kind) {
        case PRED_EQ:
        case PRED_EQ_NULL_SAFE: return equality(d, base, &p->literals[0], out);
        case PRED_IN: return from_in(d, base, p, out);
        case PRED_LT:
        case PRED_LE: return bounds(d, base, &p->literals[0], 1, out);
        case PRED_GT:
        case PRED_GE: return bounds(d, base, &p->literals[0], -1, out);
        case PRED_IS_NULL: return equality(d, base, &null, out);
        default: return SILT_OK;
    }
}

/* What is true of the partition where `p` is true of a row; NULL: nothing. */
static silt_status derive(deriver *d, const predicate *p, const predicate **out) {
    *out = NULL;
    if (p->kind != PRED_AND && p->kind != PRED_OR) return p->kind > PRED_NOT ? from_leaf(d, p, out) : SILT_OK;
    for (size_t i = 0; i < p->n_children; i++) {
        const predicate *one;
        TRY(derive(d, p->children[i], &one));
        if (p->kind == PRED_AND) {
            TRY(both(d, *out, one, out));
        } else if (!one) {
            *out = NULL;
            return SILT_OK;
        } else if (i == 0) {
            *out = one;
        } else {
            TRY(make_tree(d, PRED_OR, *out, one, out));
        }
    }
    return SILT_OK;
}

static bool has_generated_partitions(const table_source *t) {
    for (size_t i = 0; i < t->n_partition_columns; i++)
        if (str_find(t->schema->fields[t->partition_columns[i]].metadata, STR("delta.generationExpression")) != SIZE_MAX)
            return true;
    return false;
}

silt_status predicate_derive(const predicate *p, const relation *r, const bind_env *env, arena *a, const predicate **out,
                             silt_error *err) {
    *out = p;
    if (p->kind <= PRED_FALSE || !r->source || !has_generated_partitions(r->source)) return SILT_OK;
    deriver d = {.r = r, .schema = r->source->schema, .env = env, .a = a, .err = err};
    const predicate *more;
    TRY(find_rules(&d));
    TRY(derive(&d, p, &more));
    return more ? make_tree(&d, PRED_AND, p, more, out) : SILT_OK;
}
