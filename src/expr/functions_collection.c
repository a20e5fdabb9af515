/*
 * Arrays, maps and structs. DuckDB's list functions where they agree; elements that may be null need care, since Spark's answers tell "absent" from "unknown".
 * FN_LET rows print their first argument once, by a name.
 */
#include "expr/functions_tables.h"

static bool named(const expr *e, const char *name) { return str_eq_ascii_fold(e->function_name, str_of(name)); }

/* ---- constructors ---- */

static silt_status bind_array(binder *b, expr *e) {
    const data_type *t = &type_void;
    bool nullable = false;
    if (e->n_args) {
        TRY(bind_common_slots(b, e->args, e->n_args, e, &t));
        for (size_t i = 0; i < e->n_args; i++) nullable |= e->args[i]->nullable;
    }
    BIND_NEW(e->type, type_array(b->a, t, nullable));
    e->nullable = false;
    return SILT_OK;
}

static silt_status print_array(printer *p, const expr *e) {
    bool typed = e->n_args == 0 || e->type->element->id == TYPE_VOID;
    buf_append_z(p->out, typed ? "CAST([" : "[");
    TRY(print_exprs(p, e->args, e->n_args, ", "));
    buf_append_char(p->out, ']');
    if (!typed) return SILT_OK;
    buf_append_z(p->out, " AS ");
    type_print_duckdb(p->out, e->type, false);
    buf_append_char(p->out, ')');
    return SILT_OK;
}

static silt_status bind_map(binder *b, expr *e) {
    size_t n = e->n_args / 2;
    if (e->n_args % 2) return err_WRONG_NUM_ARGS(b->err, e->function_name, STR("2n (n > 0)"), (int64_t)e->n_args);
    expr **keys, **values;
    const data_type *k = &type_void, *v = &type_void;
    bool nullable = false;
    BIND_NEW(keys, ARENA_ARRAY(b->a, n, expr *));
    BIND_NEW(values, ARENA_ARRAY(b->a, n, expr *));
    for (size_t i = 0; i < n; i++) keys[i] = e->args[2 * i], values[i] = e->args[2 * i + 1], nullable |= values[i]->nullable;
    if (n) {
        TRY(bind_common_slots(b, keys, n, e, &k));
        TRY(bind_common_slots(b, values, n, e, &v));
    }
    for (size_t i = 0; i < n; i++) e->args[2 * i] = keys[i], e->args[2 * i + 1] = values[i];
    BIND_NEW(e->type, type_map(b->a, k, v, nullable));
    e->nullable = false;
    return SILT_OK;
}

static silt_status print_map_call(printer *p, const expr *e) {
    if (e->n_args == 0) {
        buf_append_z(p->out, "CAST(map() AS ");
        type_print_duckdb(p->out, e->type, false);
        buf_append_char(p->out, ')');
        return SILT_OK;
    }
    buf_append_z(p->out, "map([");
    for (size_t i = 0; i < e->n_args; i += 2) {
        if (i) buf_append_z(p->out, ", ");
        TRY(print_expr(p, e->args[i]));
    }
    buf_append_z(p->out, "], [");
    for (size_t i = 1; i < e->n_args; i += 2) {
        if (i > 1) buf_append_z(p->out, ", ");
        TRY(print_expr(p, e->args[i]));
    }
    buf_append_z(p->out, "])");
    return SILT_OK;
}

/* struct(a, b AS x, 1): fields named for columns and aliases, else col1, col2, …; named_struct('a', 1, …). */
static silt_status bind_struct(binder *b, expr *e) {
    bool pairs = named(e, "named_struct");
    size_t n = pairs ? e->n_args / 2 : e->n_args;
    if (pairs && e->n_args % 2) return err_WRONG_NUM_ARGS(b->err, e->function_name, STR("2n (n > 0)"), (int64_t)e->n_args);
    field *fields;
    expr **values;
    if (n == 0) return err_UNSUPPORTED_FEATURE(b->err, "structs without fields");
    BIND_NEW(fields, ARENA_ARRAY(b->a, n, field));
    BIND_NEW(values, ARENA_ARRAY(b->a, n, expr *));
    for (size_t i = 0; i < n; i++) {
        str name = arena_printf(b->a, "col%zu", i + 1);
        const expr *item = e->args[i];
        if (pairs) {
            item = e->args[2 * i];
            if (item->kind != EXPR_LITERAL || item->literal.is_null || item->literal.type->id != TYPE_STRING)
                return err_NON_FOLDABLE_ARGUMENT(b->err, e->function_name, "`name`");
            name = item->literal.as.bytes;
            values[i] = e->args[2 * i + 1];
        } else if (item->kind == EXPR_NAMED) {
            name = item->aliases[0];
            values[i] = item->args[0];
        } else {
            if (item->kind == EXPR_COLUMN && item->name.count)
                name = item->name.parts[item->name.count - 1];
            else if (item->kind == EXPR_COLUMN && item->source)
                name = item->source->columns[item->column].name;
            else if (item->kind == EXPR_FIELD)
                name = item->field_name;
            values[i] = e->args[i];
        }
        fields[i] = field_make(name, values[i]->type, values[i]->nullable);
    }
    e->args = values;
    e->n_args = n;
    BIND_NEW(e->type, type_struct(b->a, fields, n));
    e->nullable = false;
    return SILT_OK;
}

static silt_status print_struct(printer *p, const expr *e) {
    buf_append_char(p->out, '{');
    for (size_t i = 0; i < e->n_args; i++) {
        if (i) buf_append_z(p->out, ", ");
        print_string(p, e->type->fields[i].name);
        buf_append_z(p->out, ": ");
        bool untyped = e->args[i]->type->id == TYPE_VOID;
        if (untyped) buf_append_z(p->out, "CAST(");
        TRY(print_expr(p, e->args[i]));
        if (untyped) buf_append_z(p->out, " AS INTEGER)");
    }
    buf_append_char(p->out, '}');
    return SILT_OK;
}

/* ---- maps from arrays ---- */

static silt_status bind_from_entries(binder *b, expr *e) {
    const data_type *t = e->args[0]->type->element;
    if (t->id != TYPE_STRUCT || t->n_fields != 2)
        return err_DATATYPE_MISMATCH(b->err, bind_text(b, e),
                                     STR("the first parameter requires an array of structs of two fields"));
    BIND_NEW(e->type, type_map(b->a, t->fields[0].type, t->fields[1].type, t->fields[1].nullable));
    e->nullable = e->args[0]->nullable || e->args[0]->type->contains_null;
    return SILT_OK;
}

static silt_status print_from_entries(printer *p, const expr *e) {
    const data_type *t = e->args[0]->type->element;
    str name = arena_printf(p->a, "l%u", p->next_name++);
    buf_append_z(p->out, "map_from_entries(list_transform(");
    TRY(print_expr(p, e->args[0]));
    buf_printf(p->out, ", lambda %.*s: {'key': struct_extract(%.*s, ", STR_ARG(name), STR_ARG(name));
    print_string(p, t->fields[0].name);
    buf_printf(p->out, "), 'value': struct_extract(%.*s, ", STR_ARG(name));
    print_string(p, t->fields[1].name);
    buf_append_z(p->out, ")}))");
    return SILT_OK;
}

static silt_status bind_from_arrays(binder *b, expr *e) {
    BIND_NEW(e->type, type_map(b->a, e->args[0]->type->element, e->args[1]->type->element, e->args[1]->type->contains_null));
    return SILT_OK;
}

static silt_status bind_entries(binder *b, expr *e) {
    const data_type *m = e->args[0]->type, *s;
    field *fields;
    BIND_NEW(fields, ARENA_ARRAY(b->a, 2, field));
    fields[0] = field_make(STR("key"), m->key, false);
    fields[1] = field_make(STR("value"), m->element, m->contains_null);
    BIND_NEW(s, type_struct(b->a, fields, 2));
    BIND_NEW(e->type, type_array(b->a, s, false));
    return SILT_OK;
}

static silt_status bind_map_concat(binder *b, expr *e) {
    if (e->n_args == 0) return err_WRONG_NUM_ARGS(b->err, e->function_name, STR("> 0"), 0);
    return bind_common_slots(b, e->args, e->n_args, e, &e->type);
}

/* Duplicate keys raise, as in map(). */
static silt_status print_map_concat(printer *p, const expr *e) {
    buf_append_z(p->out, "map_from_entries(");
    for (size_t i = 0; i + 1 < e->n_args; i++) buf_append_z(p->out, "list_concat(");
    for (size_t i = 0; i < e->n_args; i++) {
        buf_append_z(p->out, i ? ", map_entries(" : "map_entries(");
        TRY(print_expr(p, e->args[i]));
        buf_append_z(p->out, i ? "))" : ")");
    }
    buf_append_char(p->out, ')');
    return SILT_OK;
}

/* ---- element access ---- */

static silt_status bind_element_at(binder *b, expr *e) {
    const data_type *t = e->args[0]->type;
    e->nullable = true;
    if (t->id == TYPE_MAP) {
        TRY(bind_coerce_slot(b, &e->args[1], t->key, e, 1));
        e->type = t->element;
        return SILT_OK;
    }
    if (t->id != TYPE_ARRAY)
        return err_DATATYPE_MISMATCH(b->err, bind_text(b, e),
                                     STR("the first parameter requires the (\"ARRAY\" or \"MAP\") type"));
    TRY(bind_coerce_slot(b, &e->args[1], &type_int, e, 1));
    e->type = t->element;
    return SILT_OK;
}

static silt_status element_body(printer *p, str array, const void *ctx) {
    const expr *e = ctx;
    buf_printf(p->out, "list_extract(%.*s, ", STR_ARG(array));
    print_guard_begin(p);
    buf_append_z(p->out, "silt_element_index(CAST(");
    TRY(print_expr(p, e->args[1]));
    buf_printf(p->out, " AS BIGINT), len(%.*s), %s)", STR_ARG(array), named(e, "try_element_at") ? "true" : "false");
    print_guard_end(p);
    buf_append_char(p->out, ')');
    return SILT_OK;
}

static silt_status print_element_at(printer *p, const expr *e) {
    if (e->args[0]->type->id == TYPE_ARRAY) return print_let(p, e->args[0], element_body, e);
    return print_template(p, "map_extract_value($1, $2)", e);
}

static silt_status get_body(printer *p, str array, const void *ctx) {
    const expr *e = ctx;
    buf_append_z(p->out, "CASE WHEN ");
    TRY(print_expr(p, e->args[1]));
    buf_printf(p->out, " >= 0 THEN list_extract(%.*s, ", STR_ARG(array));
    TRY(print_expr(p, e->args[1]));
    buf_append_z(p->out, " + 1) END");
    return SILT_OK;
}

static silt_status print_get(printer *p, const expr *e) { return print_let(p, e->args[0], get_body, e); }

/* list_slice takes first and last; the first is checked. */
static silt_status print_slice(printer *p, const expr *e) {
    str array, start, length;
    TRY(print_expr_text(p, e->args[0], &array));
    TRY(print_expr_text(p, e->args[1], &start));
    TRY(print_expr_text(p, e->args[2], &length));
    print_guard_begin(p);
    buf_printf(p->out,
               "list_slice(%.*s, silt_slice_start(CAST(%.*s AS BIGINT), CAST(%.*s AS BIGINT), len(%.*s)), "
               "silt_slice_start(CAST(%.*s AS BIGINT), CAST(%.*s AS BIGINT), len(%.*s)) + %.*s - 1)",
               STR_ARG(array), STR_ARG(start), STR_ARG(length), STR_ARG(array), STR_ARG(start), STR_ARG(length), STR_ARG(array),
               STR_ARG(length));
    print_guard_end(p);
    return SILT_OK;
}

/* ---- searching ---- */

/* Printed over a name for the first argument: text with @ for the name, then the usual placeholders. */
typedef struct let_template {
    const char *text;
    const expr *e;
} let_template;

static silt_status let_body(printer *p, str name, const void *ctx) {
    const let_template *t = ctx;
    buf text;
    buf_init(&text, 65536);
    for (const char *at = t->text; *at; at++) {
        if (*at == '@')
            buf_append(&text, name);
        else
            buf_append_char(&text, *at);
    }
    char *copy = arena_cstr(p->a, buf_str(&text));
    buf_dispose(&text);
    return copy ? print_template(p, copy, t->e) : error_no_memory(p->err);
}

static silt_status print_with_let(printer *p, const expr *e, const char *text) {
    return print_let(p, e->args[0], let_body, &(let_template){text, e});
}

#define LET(function_, text_) \
    static silt_status function_(printer *p, const expr *e) { return print_with_let(p, e, text_); }

/* true, or null where a null element might have been it, or false */
LET(print_contains, "CASE WHEN $2 IS NULL THEN NULL WHEN list_contains(@, $2) THEN true WHEN len(@) > len(list_filter(@, lambda "
                    "x: x IS NOT NULL)) THEN NULL ELSE @ IS NULL AND NULL END")
LET(print_distinct, "list_filter(@, lambda x, i: coalesce(list_position(@, x), i) = i)")
LET(print_position, "CASE WHEN @ IS NOT NULL AND $2 IS NOT NULL THEN CAST(coalesce(list_position(@, $2), 0) AS BIGINT) END")
LET(print_remove, "CASE WHEN $2 IS NOT NULL THEN list_filter(@, lambda x: x IS DISTINCT FROM $2) END")
LET(print_union, "CASE WHEN @ IS NOT NULL AND $2 IS NOT NULL THEN list_filter(list_concat(@, $2), lambda x, i: "
                 "coalesce(list_position(list_concat(@, $2), x), i) = i) END")
LET(print_intersect, "CASE WHEN $2 IS NOT NULL THEN list_filter(@, lambda x, i: coalesce(list_position(@, x), i) = i AND "
                     "list_position($2, x) IS NOT NULL) END")
LET(print_except, "CASE WHEN $2 IS NOT NULL THEN list_filter(@, lambda x, i: coalesce(list_position(@, x), i) = i AND "
                  "list_position($2, x) IS NULL) END")
LET(print_overlap, "CASE WHEN list_has_any(list_filter(@, lambda x: x IS NOT NULL), list_filter($2, lambda x: x IS NOT NULL)) "
                   "THEN true WHEN len(@) > 0 AND len($2) > 0 AND (len(@) > "
                   "len(list_filter(@, lambda x: x IS NOT NULL)) OR len($2) > len(list_filter($2, lambda x: x IS NOT NULL))) "
                   "THEN NULL WHEN @ IS NOT NULL AND $2 IS NOT NULL THEN false END")
LET(print_sort, "list_sort(@, 'ASC', 'NULLS FIRST')")
LET(print_flatten, "CASE WHEN len(@) = len(list_filter(@, lambda x: x IS NOT NULL)) THEN flatten(@) END")
LET(print_append, "CASE WHEN @ IS NOT NULL THEN list_concat(@, [$2]) END")
LET(print_prepend, "CASE WHEN @ IS NOT NULL THEN list_concat([$2], @) END")

static silt_status print_sort_array(printer *p, const expr *e) {
    if (e->n_args == 1) return print_sort(p, e);
    if (e->args[1]->kind == EXPR_LITERAL)
        return print_template(
            p, e->args[1]->literal.as.boolean ? "list_sort($1, 'ASC', 'NULLS FIRST')" : "list_sort($1, 'DESC', 'NULLS LAST')", e);
    return print_template(p, "CASE WHEN $2 THEN list_sort($1, 'ASC', 'NULLS FIRST') ELSE list_sort($1, 'DESC', 'NULLS LAST') END",
                          e);
}

static silt_status bind_flatten(binder *b, expr *e) {
    const data_type *t = e->args[0]->type;
    if (t->element->id != TYPE_ARRAY)
        return err_DATATYPE_MISMATCH(b->err, bind_text(b, e), STR("the first parameter requires an array of arrays"));
    e->type = t->element;
    e->nullable = e->args[0]->nullable || t->contains_null;
    return SILT_OK;
}

/* Both arrays, or an array and its element, with one element type. */
static silt_status bind_two_arrays(binder *b, expr *e) {
    if (e->args[1]->type->id != TYPE_ARRAY || e->args[0]->type->id != TYPE_ARRAY)
        return err_DATATYPE_MISMATCH(b->err, bind_text(b, e), STR("both parameters must be arrays of one element type"));
    const data_type *common;
    TRY(bind_common_slots(b, e->args, 2, e, &common));
    e->type = named(e, "arrays_overlap") ? &type_boolean : common;
    return SILT_OK;
}

/* ---- arrays of other things ---- */

static silt_status bind_zip(binder *b, expr *e) {
    field *fields;
    BIND_NEW(fields, ARENA_ARRAY(b->a, e->n_args, field));
    for (size_t i = 0; i < e->n_args; i++) {
        const expr *x = e->args[i];
        if (x->type->id != TYPE_ARRAY)
            return err_DATATYPE_MISMATCH(b->err, bind_text(b, e), STR("all parameters must be arrays"));
        str name = x->kind == EXPR_COLUMN && x->name.count ? x->name.parts[x->name.count - 1]
                   : x->kind == EXPR_FIELD                 ? x->field_name
                                                           : arena_printf(b->a, "%zu", i);
        fields[i] = field_make(name, x->type->element, true);
    }
    const data_type *s;
    BIND_NEW(s, type_struct(b->a, fields, e->n_args));
    BIND_NEW(e->type, type_array(b->a, s, false));
    return SILT_OK;
}

static silt_status print_zip(printer *p, const expr *e) {
    str *texts = ARENA_ARRAY(p->a, e->n_args, str);
    if (!texts) return error_no_memory(p->err);
    for (size_t i = 0; i < e->n_args; i++) TRY(print_expr_text(p, e->args[i], &texts[i]));
    str name = arena_printf(p->a, "l%u", p->next_name++);
    buf_append_z(p->out, "list_transform(range(1, 1 + greatest(");
    for (size_t i = 0; i < e->n_args; i++) buf_printf(p->out, "%slen(%.*s)", i ? ", " : "", STR_ARG(texts[i]));
    buf_append_z(p->out, ")");
    for (size_t i = 0; i < e->n_args; i++)
        buf_printf(p->out, " + 0 * len(%.*s)", STR_ARG(texts[i])); /* a null array gives null */
    buf_printf(p->out, "), lambda %.*s: {", STR_ARG(name));
    for (size_t i = 0; i < e->n_args; i++) {
        if (i) buf_append_z(p->out, ", ");
        print_string(p, e->type->element->fields[i].name);
        buf_printf(p->out, ": list_extract(%.*s, %.*s)", STR_ARG(texts[i]), STR_ARG(name));
    }
    buf_append_z(p->out, "})");
    return SILT_OK;
}

static silt_status bind_array_join(binder *b, expr *e) {
    TRY(bind_coerce_slot(b, &e->args[0], type_array(b->a, &type_string, true), e, 0));
    e->type = &type_string;
    return SILT_OK;
}

static silt_status print_array_join(printer *p, const expr *e) {
    if (e->n_args == 2) return print_template(p, "silt_join($1, $2)", e);
    return print_template(p, "silt_join(list_transform($1, lambda x: coalesce(x, $3)), $2)", e);
}

static silt_status bind_repeat(binder *b, expr *e) {
    BIND_NEW(e->type, type_array(b->a, e->args[0]->type, e->args[0]->nullable));
    e->nullable = e->args[1]->nullable;
    return SILT_OK;
}

static silt_status print_repeat(printer *p, const expr *e) {
    bool untyped = e->args[0]->type->id == TYPE_VOID;
    return print_template(p,
                          untyped ? "list_transform(range(greatest($2, 0)), lambda x: CAST(NULL AS INTEGER))"
                                  : "list_transform(range(greatest($2, 0)), lambda x: $1)",
                          e);
}

/* array_insert(a, i, x): from 1, negative from the end; gaps are null. */
static silt_status print_insert(printer *p, const expr *e) {
    return print_with_let(p, e,
                          "CASE WHEN $2 > 0 THEN list_concat(list_concat(list_slice(@, 1, $2 - 1), "
                          "list_transform(range(greatest($2 - 1 - len(@), 0)), lambda x: CAST(NULL AS $T3))), "
                          "list_concat([$3], list_slice(@, $2, len(@)))) WHEN $2 < 0 THEN list_concat(list_concat(list_slice(@, "
                          "1, len(@) + $2 + 1), [$3]), "
                          "list_concat(list_transform(range(greatest(-$2 - 1 - len(@), 0)), lambda x: CAST(NULL AS $T3)), "
                          "list_slice(@, greatest(len(@) + $2 + 2, 1), len(@)))) "
                          "ELSE error('[INVALID_INDEX_OF_ZERO|22003] The index 0 is invalid. An index shall be either < 0 or > 0 "
                          "(the first element has index 1).[/]') END");
}

/* ---- sequence ---- */

static silt_status bind_sequence(binder *b, expr *e) {
    const data_type *t;
    TRY(bind_common_slots(b, e->args, 2, e, &t));
    bool time = t->id == TYPE_DATE || t->id == TYPE_TIMESTAMP || t->id == TYPE_TIMESTAMP_NTZ;
    if (!time && !type_is_integral(t))
        return err_DATATYPE_MISMATCH(b->err, bind_text(b, e), STR("sequence takes integers, dates or timestamps"));
    if (e->n_args == 3 && !time) TRY(bind_coerce_slot(b, &e->args[2], t, e, 2));
    BIND_NEW(e->type, type_array(b->a, t, false));
    return SILT_OK;
}

static silt_status print_sequence(printer *p, const expr *e) {
    const data_type *t = e->type->element;
    if (type_is_integral(t)) {
        buf_append_z(p->out, "CAST(");
        print_guard_begin(p);
        const char *text = e->n_args == 3
                               ? "generate_series(CAST($1 AS BIGINT), CAST($2 AS BIGINT), silt_sequence_step(CAST($1 AS BIGINT), "
                                 "CAST($2 AS BIGINT), CAST($3 AS BIGINT)))"
                               : "generate_series(CAST($1 AS BIGINT), CAST($2 AS BIGINT), CASE WHEN $1 <= $2 THEN 1 ELSE -1 END)";
        TRY(print_template(p, text, e));
        print_guard_end(p);
        buf_append_z(p->out, " AS ");
        type_print_duckdb(p->out, e->type, false);
        buf_append_char(p->out, ')');
        return SILT_OK;
    }
    str name = arena_printf(p->a, "l%u", p->next_name++);
    bool cast = t->id != TYPE_TIMESTAMP_NTZ, months = e->n_args == 3 && e->args[2]->type->id == TYPE_INTERVAL_YM;
    if (cast) buf_append_z(p->out, "list_transform(");
    if (months) /* counted from the beginning each time: a step from the 29th would stay there */
        TRY(print_template(p,
                           "list_filter(list_transform(range(0, 2 + abs(datediff('month', $L1, $L2) // "
                           "greatest(abs(silt_interval_part($3, 'months')), 1))), lambda i: $L1 + to_months(CAST(i * "
                           "silt_interval_part($3, 'months') AS INTEGER))), lambda x: CASE WHEN silt_interval_part($3, 'months') "
                           ">= 0 THEN x <= $L2 ELSE x >= $L2 END)",
                           e));
    else
        TRY(print_template(p,
                           e->n_args == 3 ? "generate_series($L1, $L2, $3)"
                                          : "generate_series($L1, $L2, CASE WHEN $1 <= $2 THEN to_days(1) ELSE to_days(-1) END)",
                           e));
    if (!cast) return SILT_OK;
    buf_printf(p->out, ", lambda %.*s: ", STR_ARG(name));
    if (t->id == TYPE_DATE) {
        buf_printf(p->out, "CAST(%.*s AS DATE))", STR_ARG(name));
        return SILT_OK;
    }
    print_zoned_begin(p);
    buf_append(p->out, name);
    print_zoned_end(p);
    buf_append_char(p->out, ')');
    return SILT_OK;
}

static const function_row rows[] = {
    CUSTOM("array", NULL, "any* -> custom", 0, bind_array, print_array, "Array of its arguments"),
    CUSTOM("map", NULL, "any* -> custom", 0, bind_map, print_map_call, "Map of key, value, key, value …"),
    CUSTOM("struct", NULL, "any* -> custom", 0, bind_struct, print_struct, "Struct of its arguments"),
    CUSTOM("named_struct", NULL, "any* -> custom", 0, bind_struct, print_struct, "Struct of name, value, name, value …"),
    SCALAR("size", "cardinality", "=map -> int", "CAST(cardinality($1) AS INTEGER)", "Number of entries"),
    SCALAR("size", "cardinality", "array -> int", "CAST(len($1) AS INTEGER)", "Number of elements"),
    SCALAR("array_size", NULL, "array -> int", "CAST(len($1) AS INTEGER)", "Number of elements"),
    CUSTOM("element_at", "try_element_at", "any, any -> custom", FN_NULLABLE, bind_element_at, print_element_at,
           "Element from 1 (negative: from the end), or value of a key"),
    CUSTOM("get", NULL, "array, int -> elem", FN_NULLABLE, NULL, print_get, "Element from 0, NULL outside"),
    CUSTOM("array_contains", NULL, "array, elem -> bool", FN_NULLABLE, NULL, print_contains, "Does it hold the value"),
    CUSTOM("array_distinct", NULL, "array -> arg1", 0, NULL, print_distinct, "Without duplicates"),
    CUSTOM("array_position", NULL, "array, elem -> long", 0, NULL, print_position,
           "First position of the value, from 1, 0 without"),
    CUSTOM("array_remove", NULL, "array, elem -> arg1", 0, NULL, print_remove, "Without that value"),
    CUSTOM("array_append", NULL, "array, elem -> arg1", 0, NULL, print_append, "With the value at the end"),
    CUSTOM("array_prepend", NULL, "array, elem -> arg1", 0, NULL, print_prepend, "With the value at the beginning"),
    CUSTOM("array_insert", NULL, "array, int, elem -> arg1", 0, NULL, print_insert, "With the value at a position"),
    CUSTOM("array_union", NULL, "any, any -> custom", 0, bind_two_arrays, print_union, "Values of either, each once"),
    CUSTOM("array_intersect", NULL, "any, any -> custom", 0, bind_two_arrays, print_intersect, "Values of both, each once"),
    CUSTOM("array_except", NULL, "any, any -> custom", 0, bind_two_arrays, print_except,
           "Values of the first that the second has not, each once"),
    CUSTOM("arrays_overlap", NULL, "any, any -> custom", FN_NULLABLE, bind_two_arrays, print_overlap,
           "Have they a value in common"),
    CUSTOM("arrays_zip", NULL, "any* -> custom", 0, bind_zip, print_zip, "Array of structs of the n-th elements"),
    CUSTOM("array_join", NULL, "any, string, string? -> custom", 0, bind_array_join, print_array_join,
           "Elements joined to one string"),
    CUSTOM("array_repeat", NULL, "any, int -> custom", 0, bind_repeat, print_repeat, "The value n times"),
    SCALAR_F("array_min", NULL, "array -> elem", FN_NULLABLE, "list_min($1)", "Least element"),
    SCALAR_F("array_max", NULL, "array -> elem", FN_NULLABLE, "list_max($1)", "Greatest element"),
    SCALAR("array_compact", NULL, "array -> arg1", "list_filter($1, lambda x: x IS NOT NULL)", "Without nulls"),
    CUSTOM("sort_array", NULL, "array, bool? -> arg1", 0, NULL, print_sort_array, "Sorted, nulls first ascending"),
    SCALAR_F("shuffle", NULL, "array -> arg1", FN_VOLATILE,
             "list_transform(list_sort(list_transform($G1, lambda x: {'r': random(), 'v': x})), lambda s: s.v)",
             "In random order"),
    SCALAR("array_sort", NULL, "array -> arg1", "list_sort($1, 'ASC', 'NULLS LAST')", "Sorted, nulls last"),
    SCALAR("reverse", NULL, "=array -> arg1", "list_reverse($1)", "From the end to the beginning"),
    SCALAR("reverse", NULL, "string -> string", "silt_reverse($1)", "From the end to the beginning"),
    CUSTOM("slice", NULL, "array, int, int -> arg1", 0, NULL, print_slice, "Part of an array"),
    CUSTOM("flatten", NULL, "array -> custom", FN_NULLABLE, bind_flatten, print_flatten, "Arrays of an array put together"),
    CUSTOM("sequence", NULL, "any, any, any? -> custom", 0, bind_sequence, print_sequence, "Numbers or times from … to …"),
    SCALAR("map_keys", NULL, "map -> array(key)", "map_keys($1)", "Keys"),
    SCALAR("map_values", NULL, "map -> array(val)", "map_values($1)", "Values"),
    {.name = "map_entries",
     .signature = "map -> custom",
     .sql = "map_entries($1)",
     .bind = bind_entries,
     .doc = "Array of structs of key and value"},
    CUSTOM("map_from_entries", NULL, "array -> custom", 0, bind_from_entries, print_from_entries, "Map of an array of structs"),
    {.name = "map_from_arrays",
     .signature = "array, array -> custom",
     .sql = "map($1, $2)",
     .bind = bind_from_arrays,
     .doc = "Map of keys and values"},
    CUSTOM("map_concat", NULL, "any* -> custom", 0, bind_map_concat, print_map_concat, "Entries of all maps"),
    SCALAR("map_contains_key", NULL, "map, key -> bool", "map_contains($1, $2)", "Is there such a key"),
};

GROUP_OF(functions_collection, "Arrays, maps and structs", rows);
