/*
 * A bound condition over one relation → what statistics can decide of it. Sound by construction: a part that is not understood becomes PRED_UNKNOWN, a cast of the column
 * is looked through only where it keeps every value and the order (or, for dates and timestamps, where the bound moves with it), and a literal is compared at its exact
 * value. NOT stays a node: the predicate's own logic has three values.
 */
#include "base/time.h"
#include "expr/bind.h"
#include "expr/derive.h"

typedef struct extractor {
    const relation *r;
    const bind_env *env;
    arena *a;
    silt_error *err;
} extractor;

#define DAY_US 86400000000LL

static silt_status extract(extractor *x, const expr *e, const predicate **out);

static silt_status make(extractor *x, predicate_kind kind, predicate **out) {
    *out = ARENA_NEW(x->a, predicate);
    if (!*out) return error_no_memory(x->err);
    (*out)->kind = kind;
    return SILT_OK;
}

static silt_status make_const(extractor *x, predicate_kind kind, const predicate **out) {
    predicate *p;
    TRY(make(x, kind, &p));
    *out = p;
    return SILT_OK;
}

static silt_status make_tree(extractor *x, predicate_kind kind, const predicate *const *children, size_t n,
                             const predicate **out) {
    predicate *p;
    const predicate **copy = ARENA_ARRAY(x->a, n, const predicate *);
    if (!copy) return error_no_memory(x->err);
    memcpy(copy, children, n * sizeof *copy);
    TRY(make(x, kind, &p));
    p->children = copy;
    p->n_children = n;
    *out = p;
    return SILT_OK;
}

/* ---- columns and constants ---- */

typedef struct column_ref {
    column_path path;
    const data_type *type;    /**< of the column itself */
    const data_type *seen_as; /**< after the casts that were looked through */
} column_ref;

static bool column_path_of(extractor *x, const expr *e, column_ref *out) {
    uint32_t index[64];
    size_t depth = 0;
    for (; e->kind == EXPR_FIELD; e = e->args[0]) {
        if (e->args[0]->type->id != TYPE_STRUCT || depth >= ARRAY_LEN(index) - 1) return false;
        index[depth++] = (uint32_t)e->field_index;
    }
    if (e->kind != EXPR_COLUMN || e->source != x->r || e->outer_levels != 0 || !x->r->source ||
        e->column >= x->r->source->schema->n_fields)
        return false;
    index[depth++] = e->column;
    uint32_t *path = ARENA_ARRAY(x->a, depth, uint32_t);
    if (!path) return false;
    for (size_t i = 0; i < depth; i++) path[i] = index[depth - 1 - i];
    out->path = (column_path){path, depth};
    const data_type *t = x->r->source->schema->fields[path[0]].type;
    for (size_t i = 1; i < depth; i++) t = t->fields[path[i]].type;
    out->type = t;
    return true;
}

static bool is_time(const data_type *t) { return t->id == TYPE_DATE || t->id == TYPE_TIMESTAMP || t->id == TYPE_TIMESTAMP_NTZ; }

/* The column under widening casts, or under one cast between times. */
static bool column_of(extractor *x, const expr *e, column_ref *out) {
    const data_type *seen = e->type;
    while (e->kind == EXPR_CAST && !e->is_try) {
        const data_type *from = e->args[0]->type, *to = e->type;
        bool times = is_time(from) && is_time(to) && e->args[0]->kind != EXPR_CAST;
        if (!times && !coerce_is_exact_widening(from, to)) return false;
        e = e->args[0];
    }
    out->seen_as = seen;
    return column_path_of(x, e, out);
}

static bool is_simple(const data_type *t) {
    return !type_is_nested(t) && t->id != TYPE_VARIANT && t->id != TYPE_VOID &&
           !(t->id >= TYPE_INTERVAL_YM && t->id <= TYPE_INTERVAL);
}

/* A constant whose evaluation fails is no constant here: the query itself will say why, if it gets there. */
static silt_status constant_of(extractor *x, const expr *e, value *out, bool *out_ok) {
    *out_ok = false;
    if (!expr_is_constant(e) || !is_simple(e->type)) return SILT_OK;
    if (fold_simple(e, x->env, x->a, out)) {
        *out_ok = true;
        return SILT_OK;
    }
    if (!x->env->fold) return SILT_OK;
    silt_error scratch;
    silt_status st = x->env->fold(x->env->fold_ctx, (expr *)(uintptr_t)e, x->a, out, &scratch);
    if (st == SILT_NO_MEMORY) return error_no_memory(x->err);
    *out_ok = st == SILT_OK;
    return SILT_OK;
}

/* ---- comparisons ---- */

static silt_status compare(extractor *x, predicate_kind kind, const column_ref *c, const value *literals, size_t n,
                           const predicate **out) {
    predicate *p;
    value *copy = ARENA_ARRAY(x->a, n ? n : 1, value);
    if (!copy) return error_no_memory(x->err);
    if (n) memcpy(copy, literals, n * sizeof *copy);
    TRY(make(x, kind, &p));
    p->column = c->path;
    p->column_type = c->type;
    p->literals = copy;
    p->n_literals = n;
    *out = p;
    return SILT_OK;
}

static int64_t floor_div(int64_t v, int64_t by) { return v / by - (v % by != 0 && (v < 0) != (by < 0)); }

static bool zone_us(const extractor *x, int64_t *out) {
    int32_t seconds = 0;
    if (x->env->time_zone.len && !time_zone_fixed_offset(x->env->time_zone, &seconds)) return false;
    *out = (int64_t)seconds * 1000000;
    return true;
}

/* DATE column seen as a timestamp against a timestamp: the bound becomes a day. */
static silt_status compare_day(extractor *x, predicate_kind kind, const column_ref *c, int64_t local_us, const predicate **out) {
    int64_t day = floor_div(local_us, DAY_US);
    bool exact = day * DAY_US == local_us;
    value v = {.type = &type_date, .as.i64 = day};
    switch (kind) {
        case PRED_EQ: return exact ? compare(x, PRED_EQ, c, &v, 1, out) : make_const(x, PRED_FALSE, out);
        case PRED_LT: return compare(x, exact ? PRED_LT : PRED_LE, c, &v, 1, out);
        case PRED_GE: return compare(x, exact ? PRED_GE : PRED_GT, c, &v, 1, out);
        case PRED_LE:
        case PRED_GT: return compare(x, kind, c, &v, 1, out);
        default: return make_const(x, PRED_UNKNOWN, out);
    }
}

/* Timestamp column seen as a date against a day: [midnight, next midnight). */
static silt_status compare_midnight(extractor *x, predicate_kind kind, const column_ref *c, int64_t day, int64_t offset,
                                    const predicate **out) {
    value from = {.type = c->type}, to = {.type = c->type};
    if (day > 100000000 || day < -100000000) return make_const(x, PRED_UNKNOWN, out);
    from.as.i64 = day * DAY_US - offset;
    to.as.i64 = (day + 1) * DAY_US - offset;
    const predicate *both[2];
    switch (kind) {
        case PRED_EQ:
            TRY(compare(x, PRED_GE, c, &from, 1, &both[0]));
            TRY(compare(x, PRED_LT, c, &to, 1, &both[1]));
            return make_tree(x, PRED_AND, both, 2, out);
        case PRED_LT: return compare(x, PRED_LT, c, &from, 1, out);
        case PRED_LE: return compare(x, PRED_LT, c, &to, 1, out);
        case PRED_GT: return compare(x, PRED_GE, c, &to, 1, out);
        case PRED_GE: return compare(x, PRED_GE, c, &from, 1, out);
        default: return make_const(x, PRED_UNKNOWN, out);
    }
}

static silt_status compare_times(extractor *x, predicate_kind kind, const column_ref *c, const value *v, const predicate **out) {
    int64_t zone;
    type_id column = c->type->id, seen = c->seen_as->id;
    bool crosses = (column == TYPE_TIMESTAMP) != (seen == TYPE_TIMESTAMP);
    if (crosses && !zone_us(x, &zone)) return make_const(x, PRED_UNKNOWN, out);
    if (!crosses) zone = 0;
    if (column == TYPE_DATE) return compare_day(x, kind, c, v->as.i64 + (seen == TYPE_TIMESTAMP ? zone : 0), out);
    if (seen == TYPE_DATE) return compare_midnight(x, kind, c, v->as.i64, column == TYPE_TIMESTAMP ? zone : 0, out);
    value moved = {.type = c->type, .as.i64 = v->as.i64 + (seen == TYPE_TIMESTAMP ? zone : -zone)};
    return compare(x, kind, c, &moved, 1, out);
}

/* CHAR(n) values are stored and compared padded. */
static bool pad_literal(extractor *x, const column_ref *c, value *v) {
    if (c->type->id != TYPE_STRING || !c->type->is_char || v->is_null) return true;
    size_t chars = 0, at = 0;
    while (at < v->as.bytes.len) (void)str_next_codepoint(v->as.bytes, &at), chars++;
    if (chars >= (size_t)c->type->length) return true;
    size_t pad = (size_t)c->type->length - chars;
    char *text = arena_alloc(x->a, v->as.bytes.len + pad + 1);
    if (!text) return false;
    memcpy(text, v->as.bytes.ptr, v->as.bytes.len);
    memset(text + v->as.bytes.len, ' ', pad);
    v->as.bytes = (str){text, v->as.bytes.len + pad};
    return true;
}

static silt_status compare_value(extractor *x, predicate_kind kind, const column_ref *c, value v, const predicate **out) {
    if (!is_simple(c->type)) return make_const(x, PRED_UNKNOWN, out);
    if (is_time(c->type) && c->seen_as->id != c->type->id)
        return kind == PRED_EQ_NULL_SAFE || kind == PRED_NE ? make_const(x, PRED_UNKNOWN, out)
                                                            : compare_times(x, kind, c, &v, out);
    bool numbers = type_is_numeric(c->type) && type_is_numeric(v.type);
    if (!numbers && c->type->id != v.type->id) return make_const(x, PRED_UNKNOWN, out);
    if (!pad_literal(x, c, &v)) return error_no_memory(x->err);
    return compare(x, kind, c, &v, 1, out);
}

static predicate_kind kind_of(str op) {
    static const struct {
        const char *op;
        predicate_kind kind;
    } kinds[] = {{"=", PRED_EQ},  {"<>", PRED_NE},           {"<", PRED_LT}, {"<=", PRED_LE}, {">", PRED_GT},
                 {">=", PRED_GE}, {"<=>", PRED_EQ_NULL_SAFE}};
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
        if (str_eqz(op, kinds[i].op)) return kinds[i].kind;
    return PRED_UNKNOWN;
}

static predicate_kind flipped(predicate_kind k) {
    return k == PRED_LT ? PRED_GT : k == PRED_LE ? PRED_GE : k == PRED_GT ? PRED_LT : k == PRED_GE ? PRED_LE : k;
}

static silt_status extract_pair(extractor *x, predicate_kind kind, const expr *left, const expr *right, const predicate **out) {
    column_ref c;
    value v;
    bool ok;
    if (!column_of(x, left, &c)) {
        if (!column_of(x, right, &c)) return make_const(x, PRED_UNKNOWN, out);
        const expr *swap = left;
        left = right;
        right = swap;
        kind = flipped(kind);
    }
    TRY(constant_of(x, right, &v, &ok));
    if (!ok) return make_const(x, PRED_UNKNOWN, out);
    if (v.is_null && kind != PRED_EQ_NULL_SAFE) return make_const(x, PRED_FALSE, out); /* never true, nor is its negation */
    if (v.is_null) return compare(x, PRED_IS_NULL, &c, NULL, 0, out);
    return compare_value(x, kind, &c, v, out);
}

static silt_status negate(extractor *x, const predicate **p) { return make_tree(x, PRED_NOT, p, 1, p); }

static silt_status extract_between(extractor *x, const expr *e, const predicate **out) {
    const predicate *both[2];
    TRY(extract_pair(x, PRED_GE, e->args[0], e->args[1], &both[0]));
    TRY(extract_pair(x, PRED_LE, e->args[0], e->args[2], &both[1]));
    return make_tree(x, PRED_AND, both, 2, out);
}

static silt_status extract_in(extractor *x, const expr *e, const predicate **out) {
    column_ref c;
    if (!column_of(x, e->args[0], &c) || !is_simple(c.type)) return make_const(x, PRED_UNKNOWN, out);
    bool moved = is_time(c.type) && c.seen_as->id != c.type->id;
    value *literals = ARENA_ARRAY(x->a, e->n_args, value);
    const predicate **each = ARENA_ARRAY(x->a, e->n_args, const predicate *);
    if (!literals || !each) return error_no_memory(x->err);
    size_t n = 0;
    bool has_null = false;
    for (size_t i = 1; i < e->n_args; i++) {
        value v;
        bool ok;
        TRY(constant_of(x, e->args[i], &v, &ok));
        bool numbers = ok && type_is_numeric(c.type) && type_is_numeric(v.type);
        if (!ok || (!v.is_null && !moved && !numbers && v.type->id != c.type->id)) return make_const(x, PRED_UNKNOWN, out);
        if (v.is_null) {
            has_null = true;
            continue;
        }
        if (moved)
            TRY(compare_times(x, PRED_EQ, &c, &v, &each[n]));
        else if (!pad_literal(x, &c, &v))
            return error_no_memory(x->err);
        literals[n++] = v;
    }
    if (n == 0) return make_const(x, PRED_FALSE, out);
    if (moved) return has_null ? make_const(x, PRED_UNKNOWN, out) : make_tree(x, PRED_OR, each, n, out);
    TRY(compare(x, PRED_IN, &c, literals, n, out));
    predicate *p = (predicate *)(uintptr_t)*out;
    p->has_null = has_null;
    return SILT_OK;
}

/* LIKE 'prefix%…': rows begin with what stands before the first wildcard. A pattern without one is an equality. Only the positive form may use the prefix alone. */
static silt_status extract_like(extractor *x, const expr *e, const predicate **out) {
    column_ref c;
    bool usable = column_of(x, e->args[0], &c) && c.type->id == TYPE_STRING && !c.type->is_char &&
                  e->args[1]->kind == EXPR_LITERAL && !e->args[1]->literal.is_null && e->n_args == 2;
    if (!usable) return make_const(x, PRED_UNKNOWN, out);
    str pattern = e->args[1]->literal.as.bytes;
    size_t n = 0;
    while (n < pattern.len && pattern.ptr[n] != '%' && pattern.ptr[n] != '_' && pattern.ptr[n] != '\\') n++;
    value v = {.type = &type_string, .as.bytes = str_slice(pattern, 0, n)};
    if (n == pattern.len) return compare(x, PRED_EQ, &c, &v, 1, out);
    bool whole = pattern.ptr[n] == '%' && n + 1 == pattern.len;
    if (n == 0 || (e->negated && !whole)) return make_const(x, PRED_UNKNOWN, out);
    return compare(x, PRED_STARTS_WITH, &c, &v, 1, out);
}

static silt_status extract_starts(extractor *x, const expr *e, const predicate **out) {
    column_ref c;
    value v;
    bool ok;
    if (!column_of(x, e->args[0], &c) || c.type->id != TYPE_STRING || c.type->is_char) return make_const(x, PRED_UNKNOWN, out);
    TRY(constant_of(x, e->args[1], &v, &ok));
    if (!ok || v.is_null || v.as.bytes.len == 0) return make_const(x, PRED_UNKNOWN, out);
    return compare(x, PRED_STARTS_WITH, &c, &v, 1, out);
}

static silt_status extract_null_test(extractor *x, const expr *e, bool is_null, const predicate **out) {
    column_ref c;
    if (!column_of(x, e->args[0], &c)) return make_const(x, PRED_UNKNOWN, out);
    return compare(x, is_null ? PRED_IS_NULL : PRED_IS_NOT_NULL, &c, NULL, 0, out);
}

static silt_status extract_call(extractor *x, const expr *e, const predicate **out) {
    str op = e->function_name;
    if (str_eqz(op, "and") || str_eqz(op, "or")) {
        const predicate *both[2];
        TRY(extract(x, e->args[0], &both[0]));
        TRY(extract(x, e->args[1], &both[1]));
        return make_tree(x, str_eqz(op, "and") ? PRED_AND : PRED_OR, both, 2, out);
    }
    if (str_eqz(op, "not")) {
        TRY(extract(x, e->args[0], out));
        return negate(x, out);
    }
    if (str_eqz(op, "isnull")) return extract_null_test(x, e, true, out);
    if (str_eqz(op, "isnotnull")) return extract_null_test(x, e, false, out);
    predicate_kind kind = kind_of(op);
    if (kind != PRED_UNKNOWN) return extract_pair(x, kind, e->args[0], e->args[1], out);
    if (str_eqz(op, "between"))
        TRY(extract_between(x, e, out));
    else if (str_eqz(op, "in"))
        TRY(extract_in(x, e, out));
    else if (str_eqz(op, "like"))
        TRY(extract_like(x, e, out));
    else if (e->function && str_eqz(str_of(e->function->name), "startswith"))
        TRY(extract_starts(x, e, out));
    else
        return make_const(x, PRED_UNKNOWN, out);
    return e->negated ? negate(x, out) : SILT_OK;
}

static silt_status extract(extractor *x, const expr *e, const predicate **out) {
    if (e->kind == EXPR_CALL) return extract_call(x, e, out);
    if (e->kind == EXPR_LITERAL) {
        if (e->type->id != TYPE_BOOLEAN || e->literal.is_null) return make_const(x, PRED_UNKNOWN, out);
        return make_const(x, e->literal.as.boolean ? PRED_TRUE : PRED_FALSE, out);
    }
    column_ref c;
    if (e->type && e->type->id == TYPE_BOOLEAN && column_path_of(x, e, &c)) {
        c.seen_as = c.type;
        return compare(x, PRED_EQ, &c, &(value){.type = &type_boolean, .as.boolean = true}, 1, out);
    }
    return make_const(x, PRED_UNKNOWN, out);
}

silt_status expr_to_predicate(const expr *e, const relation *r, const bind_env *env, arena *a, const predicate **out,
                              silt_error *err) {
    extractor x = {r, env, a, err};
    TRY(extract(&x, e, out));
    return predicate_derive(*out, r, env, a, out, err);
}
