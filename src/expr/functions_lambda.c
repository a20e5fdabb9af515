/* Higher-order functions. A lambda's index parameter counts from 0 in Spark, from 1 in DuckDB: its uses print as (name - 1). */
#include "expr/functions_tables.h"

static bool named(const expr *e, const char *name) { return str_eq_ascii_fold(e->function_name, str_of(name)); }

/* Argument i is a lambda of so many parameters. */
static silt_status need_lambda(binder *b, const expr *e, size_t i, size_t least, size_t most) {
    if (i >= e->n_args || e->args[i]->kind != EXPR_LAMBDA)
        return err_DATATYPE_MISMATCH(b->err, bind_text(b, e), STR("a lambda (x -> …) is required"));
    size_t n = e->args[i]->n_lambda_params;
    if (n >= least && n <= most) return SILT_OK;
    return err_DATATYPE_MISMATCH(b->err, bind_text(b, e),
                                 arena_printf(b->a, "a lambda of %zu parameters is required, not of %zu", most, n));
}

typedef struct rename_ctx {
    str from, to;
} rename_ctx;

static bool rename_use(void *ctx, expr *e) {
    rename_ctx *r = ctx;
    if (e->kind == EXPR_LAMBDA_VAR && str_eq(e->function_name, r->from)) e->function_name = r->to;
    return true;
}

/* Parameter i of a bound lambda is DuckDB's 1-based index. */
static silt_status shift_index(binder *b, expr *lambda, size_t i) {
    if (i >= lambda->n_lambda_params) return SILT_OK;
    rename_ctx r = {lambda->lambda_params[i], arena_printf(b->a, "CAST(%.*s - 1 AS INTEGER)", STR_ARG(lambda->lambda_params[i]))};
    if (!r.to.ptr) return error_no_memory(b->err);
    (void)expr_walk(lambda->args[0], rename_use, &r);
    return SILT_OK;
}

static silt_status boolean_body(binder *b, expr *lambda) {
    const data_type *t = lambda->args[0]->type;
    if (t->id != TYPE_BOOLEAN && t->id != TYPE_VOID)
        return err_DATATYPE_MISMATCH(b->err, bind_text(b, lambda),
                                     arena_printf(b->a, "a condition requires the \"BOOLEAN\" type, however it has the type \"%.*s\"", STR_ARG(type_sql(t, b->a))));
    TRY(bind_coerce_slot(b, &lambda->args[0], &type_boolean, lambda, 0));
    lambda->type = &type_boolean;
    return SILT_OK;
}

/* transform(a, (x[, i]) -> y), filter(a, (x[, i]) -> bool) */
static silt_status bind_transform(binder *b, expr *e) {
    TRY(need_lambda(b, e, 1, 1, 2));
    const data_type *t = e->args[0]->type;
    TRY(bind_lambda(b, e->args[1], (const data_type *[]){t->element, &type_int}, (bool[]){t->contains_null, false}, 2));
    TRY(shift_index(b, e->args[1], 1));
    e->nullable = e->args[0]->nullable;
    if (named(e, "filter")) {
        TRY(boolean_body(b, e->args[1]));
        e->type = t;
    } else {
        BIND_NEW(e->type, type_array(b->a, e->args[1]->type, e->args[1]->nullable));
    }
    return SILT_OK;
}

static silt_status bind_test(binder *b, expr *e) {
    TRY(need_lambda(b, e, 1, 1, 1));
    const data_type *t = e->args[0]->type;
    TRY(bind_lambda(b, e->args[1], (const data_type *[]){t->element}, (bool[]){t->contains_null}, 1));
    TRY(boolean_body(b, e->args[1]));
    e->type = &type_boolean;
    e->nullable = true;
    return SILT_OK;
}

/* Three-valued: exists is OR over the elements, forall is AND; OR of none is false, AND of none true. */
static silt_status print_exists(printer *p, const expr *e) {
    bool exists = named(e, "exists") || named(e, "any_match");
    str tests, array;
    TRY(print_expr_text(p, e->args[0], &array));
    buf text, *kept = p->out;
    buf_init(&text, BUF_MAX_DEFAULT);
    p->out = &text;
    buf_append_z(&text, "list_transform(");
    print_guard_begin(p);
    buf_append(&text, array);
    print_guard_end(p);
    buf_append_z(&text, ", ");
    silt_status st = print_expr(p, e->args[1]);
    buf_append_char(&text, ')');
    p->out = kept;
    tests = print_take(p, &text);
    TRY(st);
    buf_printf(p->out,
               "CASE WHEN list_contains(%.*s, %s) THEN %s WHEN len(list_filter(%.*s, lambda t: t IS NULL)) > 0 THEN NULL WHEN "
               "%.*s IS NOT NULL THEN %s END",
               STR_ARG(tests), exists ? "true" : "false", exists ? "true" : "false", STR_ARG(tests), STR_ARG(array),
               exists ? "false" : "true");
    return SILT_OK;
}

/* aggregate(a, zero, (acc, x) -> acc[, acc -> y]): the accumulator has the zero's type. */
static silt_status bind_aggregate(binder *b, expr *e) {
    TRY(need_lambda(b, e, 2, 2, 2));
    const data_type *t = e->args[0]->type, *acc = e->args[1]->type;
    TRY(bind_lambda(b, e->args[2], (const data_type *[]){acc, t->element}, (bool[]){true, t->contains_null}, 2));
    expr *merge = e->args[2];
    if (!type_equal(merge->type, acc)) {
        if (!coerce_implicit_ok(merge->type, acc))
            return err_DATATYPE_MISMATCH(
                b->err, bind_text(b, e),
                arena_printf(b->a, "the third parameter requires the \"%.*s\" type, however it has the type \"%.*s\"",
                             STR_ARG(type_sql(acc, b->a)), STR_ARG(type_sql(merge->type, b->a))));
        TRY(bind_cast_slot(b, &merge->args[0], acc));
    }
    e->type = acc;
    e->nullable = true;
    if (e->n_args == 4) {
        TRY(need_lambda(b, e, 3, 1, 1));
        TRY(bind_lambda(b, e->args[3], (const data_type *[]){acc}, (bool[]){true}, 1));
        e->type = e->args[3]->type;
    }
    return SILT_OK;
}

static silt_status print_aggregate(printer *p, const expr *e) {
    bool finish = e->n_args == 4;
    if (finish) {
        buf_append_z(p->out, "list_transform(");
        print_guard_begin(p);
        buf_append_char(p->out, '[');
    }
    buf_append_z(p->out, "list_reduce(");
    TRY(print_guarded(p, e->args[0]));
    buf_append_z(p->out, ", ");
    TRY(print_expr(p, e->args[2]));
    buf_append_z(p->out, ", ");
    TRY(print_expr(p, e->args[1]));
    buf_append_char(p->out, ')');
    if (!finish) return SILT_OK;
    buf_append_char(p->out, ']');
    print_guard_end(p);
    buf_append_z(p->out, ", ");
    TRY(print_expr(p, e->args[3]));
    buf_append_z(p->out, ")[1]");
    return SILT_OK;
}

static silt_status bind_zip_with(binder *b, expr *e) {
    TRY(need_lambda(b, e, 2, 2, 2));
    const data_type *x = e->args[0]->type, *y = e->args[1]->type;
    TRY(bind_lambda(b, e->args[2], (const data_type *[]){x->element, y->element}, (bool[]){true, true}, 2));
    BIND_NEW(e->type, type_array(b->a, e->args[2]->type, e->args[2]->nullable));
    e->nullable = e->args[0]->nullable || e->args[1]->nullable;
    return SILT_OK;
}

/* The body is printed over the parts of one value: its parameters are mapped to texts. */
static silt_status print_body(printer *p, const expr *lambda, const str *texts) {
    print_map m = {.outer = p->map};
    expr *uses = ARENA_ARRAY(p->a, lambda->n_lambda_params, expr);
    if (!uses) return error_no_memory(p->err);
    for (size_t i = 0; i < lambda->n_lambda_params; i++) {
        uses[i] = (expr){.kind = EXPR_LAMBDA_VAR, .function_name = lambda->lambda_params[i]};
        bool ok = ARENA_PUSH(p->a, m.exprs, m.n, m.capacity, &uses[i]) &&
                  ARENA_PUSH(p->a, m.texts, m.text_count, m.text_capacity, texts[i]);
        if (!ok) return error_no_memory(p->err);
    }
    const print_map *kept = p->map;
    p->map = &m;
    silt_status st = print_expr(p, lambda->args[0]);
    p->map = kept;
    return st;
}

static silt_status print_zip_with(printer *p, const expr *e) {
    str x, y, i = arena_printf(p->a, "l%u", p->next_name++);
    TRY(print_expr_text(p, e->args[0], &x));
    TRY(print_expr_text(p, e->args[1], &y));
    buf_append_z(p->out, "list_transform(");
    print_guard_begin(p);
    buf_printf(p->out, "range(1, 1 + greatest(len(%.*s), len(%.*s)) + 0 * len(%.*s) + 0 * len(%.*s))", STR_ARG(x), STR_ARG(y),
               STR_ARG(x), STR_ARG(y));
    print_guard_end(p);
    buf_printf(p->out, ", lambda %.*s: ", STR_ARG(i));
    str texts[2] = {arena_printf(p->a, "list_extract(%.*s, %.*s)", STR_ARG(x), STR_ARG(i)),
                    arena_printf(p->a, "list_extract(%.*s, %.*s)", STR_ARG(y), STR_ARG(i))};
    TRY(print_body(p, e->args[2], texts));
    buf_append_char(p->out, ')');
    return SILT_OK;
}

/* map_filter, transform_keys, transform_values: (k, v) -> … */
static silt_status bind_map_lambda(binder *b, expr *e) {
    TRY(need_lambda(b, e, 1, 2, 2));
    const data_type *m = e->args[0]->type;
    expr *lambda = e->args[1];
    TRY(bind_lambda(b, lambda, (const data_type *[]){m->key, m->element}, (bool[]){false, m->contains_null}, 2));
    e->nullable = e->args[0]->nullable;
    e->type = m;
    if (named(e, "map_filter")) return boolean_body(b, lambda);
    if (named(e, "transform_keys"))
        BIND_NEW(e->type, type_map(b->a, lambda->type, m->element, m->contains_null));
    else
        BIND_NEW(e->type, type_map(b->a, m->key, lambda->type, lambda->nullable));
    return SILT_OK;
}

static silt_status print_map_lambda(printer *p, const expr *e) {
    bool filter = named(e, "map_filter"), keys = named(e, "transform_keys");
    str name = arena_printf(p->a, "l%u", p->next_name++);
    str texts[2] = {arena_printf(p->a, "%.*s.key", STR_ARG(name)), arena_printf(p->a, "%.*s.value", STR_ARG(name))};
    buf_printf(p->out, "map_from_entries(list_%s(", filter ? "filter" : "transform");
    print_guard_begin(p);
    buf_append_z(p->out, "map_entries(");
    TRY(print_expr(p, e->args[0]));
    buf_append_char(p->out, ')');
    print_guard_end(p);
    buf_printf(p->out, ", lambda %.*s: ", STR_ARG(name));
    if (!filter) buf_printf(p->out, keys ? "{'key': " : "{'key': %.*s, 'value': ", STR_ARG(texts[0]));
    TRY(print_body(p, e->args[1], texts));
    if (!filter && keys) buf_printf(p->out, ", 'value': %.*s", STR_ARG(texts[1]));
    buf_append_z(p->out, filter ? "))" : "}))");
    return SILT_OK;
}

static silt_status bind_map_zip(binder *b, expr *e) {
    TRY(need_lambda(b, e, 2, 3, 3));
    const data_type *x = e->args[0]->type, *y = e->args[1]->type, *k = coerce_common(b->a, x->key, y->key);
    if (!k) return err_DATATYPE_MISMATCH(b->err, bind_text(b, e), STR("both maps must have one key type"));
    TRY(bind_lambda(b, e->args[2], (const data_type *[]){k, x->element, y->element}, (bool[]){false, true, true}, 3));
    BIND_NEW(e->type, type_map(b->a, k, e->args[2]->type, e->args[2]->nullable));
    return SILT_OK;
}

static silt_status print_map_zip(printer *p, const expr *e) {
    str x, y, k = arena_printf(p->a, "l%u", p->next_name++);
    TRY(print_expr_text(p, e->args[0], &x));
    TRY(print_expr_text(p, e->args[1], &y));
    str texts[3] = {k, arena_printf(p->a, "map_extract_value(%.*s, %.*s)", STR_ARG(x), STR_ARG(k)),
                    arena_printf(p->a, "map_extract_value(%.*s, %.*s)", STR_ARG(y), STR_ARG(k))};
    buf_append_z(p->out, "map_from_entries(list_transform(");
    print_guard_begin(p);
    buf_printf(p->out, "list_concat(map_keys(%.*s), list_filter(map_keys(%.*s), lambda o: NOT map_contains(%.*s, o)))",
               STR_ARG(x), STR_ARG(y), STR_ARG(x));
    print_guard_end(p);
    buf_printf(p->out, ", lambda %.*s: {'key': %.*s, 'value': ", STR_ARG(k), STR_ARG(k));
    TRY(print_body(p, e->args[2], texts));
    buf_append_z(p->out, "}))");
    return SILT_OK;
}

/* array_sort(a, (l, r) -> …): each element's place is the number of elements that come before it, so that the comparator needs no help of DuckDB's sort. Quadratic. */
static silt_status bind_sort_by(binder *b, expr *e) {
    TRY(need_lambda(b, e, 1, 2, 2));
    const data_type *t = e->args[0]->type;
    TRY(bind_lambda(b, e->args[1], (const data_type *[]){t->element, t->element}, (bool[]){t->contains_null, t->contains_null},
                    2));
    TRY(bind_coerce_slot(b, &e->args[1]->args[0], &type_int, e, 1));
    e->type = t;
    return SILT_OK;
}

static silt_status print_sort_by(printer *p, const expr *e) {
    str a, i = arena_printf(p->a, "l%u", p->next_name), j = arena_printf(p->a, "l%u", p->next_name + 1);
    p->next_name += 2;
    TRY(print_expr_text(p, e->args[0], &a));
    str texts[2] = {arena_printf(p->a, "list_extract(%.*s, %.*s)", STR_ARG(a), STR_ARG(j)),
                    arena_printf(p->a, "list_extract(%.*s, %.*s)", STR_ARG(a), STR_ARG(i))};
    str range = arena_printf(p->a, "range(1, 1 + len(%.*s))", STR_ARG(a));
    if (!i.ptr || !j.ptr || !texts[0].ptr || !texts[1].ptr || !range.ptr) return error_no_memory(p->err);
    buf_append_z(p->out, "list_transform(list_sort(list_transform(");
    print_guard_begin(p);
    buf_append(p->out, range);
    print_guard_end(p);
    buf_printf(p->out, ", lambda %.*s: {'k': len(list_filter(%.*s, lambda %.*s: CASE WHEN %.*s = %.*s THEN false ELSE CASE ",
               STR_ARG(i), STR_ARG(range), STR_ARG(j), STR_ARG(j), STR_ARG(i));
    TRY(print_body(p, e->args[1], texts));
    buf_printf(p->out, " WHEN 0 THEN %.*s < %.*s ELSE ", STR_ARG(j), STR_ARG(i));
    TRY(print_body(p, e->args[1], texts));
    buf_printf(p->out, " < 0 END END)), 'v': %.*s})), lambda s: s.v)", STR_ARG(texts[1]));
    return SILT_OK;
}

static const function_row rows[] = {
    CUSTOM("array_sort", NULL, "array, lambda -> custom", 0, bind_sort_by, print_sort_by,
           "Sorted by a comparator: (l, r) -> negative, 0 or positive"),
    {.name = "transform",
     .signature = "array, lambda -> custom",
     .sql = "list_transform($G1, $2)",
     .bind = bind_transform,
     .doc = "Every element through a lambda"},
    {.name = "filter",
     .signature = "array, lambda -> custom",
     .sql = "list_filter($G1, $2)",
     .bind = bind_transform,
     .doc = "Elements for which it is true"},
    CUSTOM("exists", "any_match", "array, lambda -> custom", FN_NULLABLE, bind_test, print_exists, "Is it true for one element"),
    CUSTOM("forall", "all_match", "array, lambda -> custom", FN_NULLABLE, bind_test, print_exists, "Is it true for all elements"),
    CUSTOM("aggregate", "reduce", "array, any, lambda, lambda? -> custom", FN_NULLABLE, bind_aggregate, print_aggregate,
           "Elements folded into one value"),
    CUSTOM("zip_with", NULL, "array, array, lambda -> custom", 0, bind_zip_with, print_zip_with,
           "The n-th elements of both through a lambda"),
    CUSTOM("map_filter", NULL, "map, lambda -> custom", 0, bind_map_lambda, print_map_lambda, "Entries for which it is true"),
    CUSTOM("transform_keys", NULL, "map, lambda -> custom", 0, bind_map_lambda, print_map_lambda, "Every key through a lambda"),
    CUSTOM("transform_values", NULL, "map, lambda -> custom", 0, bind_map_lambda, print_map_lambda,
           "Every value through a lambda"),
    CUSTOM("map_zip_with", NULL, "map, map, lambda -> custom", 0, bind_map_zip, print_map_zip,
           "Values of both maps through a lambda"),
};

GROUP_OF(functions_lambda, "Higher-order functions", rows);
