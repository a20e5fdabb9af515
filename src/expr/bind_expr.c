/* Binding one expression in place: children first, then the node's own type. Every node is bound once; a bound node is left alone. */
#include "expr/bind.h"

void bind_become(expr *e, const expr *other) {
    source_span span = e->span;
    *e = *other;
    if (span.to > span.from) e->span = span;
}

str bind_text(binder *b, const expr *e) {
    buf text;
    buf_init(&text, 4096);
    expr_print_spark(e, &text);
    str copy = arena_str(b->a, buf_str(&text));
    buf_dispose(&text);
    return copy;
}

static bool is_bound(const expr *e) {
    switch (e->kind) {
        case EXPR_LITERAL:
        case EXPR_INTERVAL: return true;
        case EXPR_NAMED: return false;
        default: return e->type != NULL;
    }
}

/* ---- casts put in by the binder ---- */

static bool literal_fits(const expr *e, const data_type *to, value *out) {
    if (e->kind != EXPR_LITERAL) return false;
    *out = (value){.type = to, .is_null = e->literal.is_null};
    if (e->literal.is_null) return e->type->id == TYPE_VOID;
    if (type_is_integral(e->type) && (to->id == TYPE_LONG || (type_is_integral(to) && to->id >= e->type->id))) {
        out->as.i64 = e->literal.as.i64;
        return true;
    }
    if (type_is_integral(e->type) && to->id == TYPE_DOUBLE && e->literal.as.i64 <= (1LL << 53) &&
        e->literal.as.i64 >= -(1LL << 53)) {
        out->as.f64 = (double)e->literal.as.i64;
        return true;
    }
    if (e->type->id == TYPE_STRING && to->id == TYPE_STRING && to->length == 0) {
        out->as.bytes = e->literal.as.bytes;
        return true;
    }
    return false;
}

silt_status bind_cast_slot(binder *b, expr **slot, const data_type *to) {
    expr *e = *slot, *cast;
    if (type_equal(e->type, to)) return SILT_OK;
    value v;
    if (literal_fits(e, to, &v)) {
        expr *lit;
        BIND_NEW(lit, expr_literal(b->a, v, e->span));
        *slot = lit;
        return SILT_OK;
    }
    bool constructor = e->kind == EXPR_CALL && to->id == TYPE_ARRAY && e->function && str_eqz(str_of(e->function->name), "array");
    if (constructor) { /* array(1, 2) of another element type: constants stay constants */
        for (size_t i = 0; i < e->n_args; i++) TRY(bind_cast_slot(b, &e->args[i], to->element));
        BIND_NEW(e->type, type_array(b->a, to->element, e->type->contains_null));
        return SILT_OK;
    }
    BIND_NEW(cast, expr_new(b->a, EXPR_CAST, e->span));
    BIND_NEW(cast->args, ARENA_ARRAY(b->a, 1, expr *));
    cast->args[0] = e;
    cast->n_args = 1;
    cast->cast_type = to;
    cast->implicit = true;
    cast->is_aggregate = e->is_aggregate;
    cast->type = to;
    cast->nullable = e->nullable;
    *slot = cast;
    return SILT_OK;
}

static const char *ordinal(size_t position) {
    static const char *const words[] = {"first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth"};
    return position < ARRAY_LEN(words) ? words[position] : "next";
}

static silt_status refuse_slot(binder *b, expr *const *slot, const data_type *to, const expr *parent, size_t position) {
    return err_DATATYPE_MISMATCH(
        b->err, bind_text(b, parent),
        arena_printf(b->a, "the %s parameter requires the \"%.*s\" type, however \"%.*s\" has the type \"%.*s\"",
                     ordinal(position), STR_ARG(type_sql(to, b->a)), STR_ARG(bind_text(b, *slot)),
                     STR_ARG(type_sql((*slot)->type, b->a))));
}

silt_status bind_coerce_slot(binder *b, expr **slot, const data_type *to, const expr *parent, size_t position) {
    return coerce_implicit_ok((*slot)->type, to) ? bind_cast_slot(b, slot, to) : refuse_slot(b, slot, to, parent, position);
}

silt_status bind_truth_slot(binder *b, expr **slot, const expr *parent, size_t position) {
    type_id t = (*slot)->type->id;
    return t == TYPE_BOOLEAN || t == TYPE_VOID ? bind_cast_slot(b, slot, &type_boolean) : refuse_slot(b, slot, &type_boolean, parent, position);
}

silt_status bind_refuse_types(binder *b, expr *const *slots, size_t n, const expr *parent) {
    str types = STR("");
    for (size_t i = 0; i < n; i++)
        types = arena_printf(b->a, "%.*s%s\"%.*s\"", STR_ARG(types), i ? ", " : "", STR_ARG(type_sql(slots[i]->type, b->a)));
    return err_DATATYPE_MISMATCH_DATA_DIFF_TYPES(b->err, bind_text(b, parent), types);
}

silt_status bind_common_slots(binder *b, expr **slots, size_t n, const expr *parent, const data_type **out) {
    const data_type *common = &type_void;
    bool strings = false;
    for (size_t i = 0; i < n; i++) strings |= slots[i]->type->id == TYPE_STRING;
    for (size_t i = 0; i < n && common; i++)
        if (slots[i]->type->id != TYPE_STRING) common = coerce_common(b->a, common, slots[i]->type);
    if (common && strings) common = coerce_common(b->a, common, &type_string);
    if (!common) return bind_refuse_types(b, slots, n, parent);
    for (size_t i = 0; i < n; i++) TRY(bind_cast_slot(b, &slots[i], common));
    *out = common;
    return SILT_OK;
}

silt_status bind_condition(binder *b, scope *s, expr **slot, condition_refusal refuse) {
    TRY(bind_expr(b, s, *slot));
    type_id t = (*slot)->type->id;
    if (t == TYPE_BOOLEAN) return SILT_OK;
    if (!refuse && coerce_explicit_ok((*slot)->type, &type_boolean)) return bind_cast_slot(b, slot, &type_boolean);
    if (!refuse) refuse = err_DATATYPE_MISMATCH_FILTER_NOT_BOOLEAN;
    return refuse(b->err, bind_text(b, *slot), type_sql((*slot)->type, b->a));
}

silt_status bind_expr_list(binder *b, scope *s, expr **items, size_t n) {
    for (size_t i = 0; i < n; i++) TRY(bind_expr(b, s, items[i]));
    return SILT_OK;
}

/* ---- CASE ---- */

/* CASE x WHEN v … becomes CASE WHEN x = v …. */
static silt_status open_operand(binder *b, scope *s, expr *e) {
    expr *operand = e->args[0];
    for (size_t i = 1; i + 1 < e->n_args; i += 2) {
        expr *pair[2] = {NULL, e->args[i]}, *test;
        BIND_NEW(pair[0], expr_clone(operand, b->a));
        BIND_NEW(test, expr_call(b->a, "=", pair, 2, e->args[i]->span));
        TRY(bind_expr(b, s, test));
        e->args[i] = test;
    }
    e->args++;
    e->n_args--;
    e->has_operand = false;
    return SILT_OK;
}

static silt_status bind_case(binder *b, scope *s, expr *e) {
    TRY(bind_expr_list(b, s, e->args, e->n_args));
    if (e->has_operand) TRY(open_operand(b, s, e));
    size_t pairs = e->n_args / 2, n = pairs + e->has_else;
    expr **values;
    BIND_NEW(values, ARENA_ARRAY(b->a, n, expr *));
    for (size_t i = 0; i < pairs; i++) {
        expr *when = e->args[2 * i];
        if (when->type->id != TYPE_BOOLEAN)
            return err_DATATYPE_MISMATCH(
                b->err, bind_text(b, e),
                arena_printf(b->a, "a condition requires the \"BOOLEAN\" type, however it has the type \"%.*s\"",
                             STR_ARG(type_sql(when->type, b->a))));
        values[i] = e->args[2 * i + 1];
    }
    if (e->has_else) values[pairs] = e->args[e->n_args - 1];
    TRY(bind_common_slots(b, values, n, e, &e->type));
    e->nullable = !e->has_else;
    for (size_t i = 0; i < pairs; i++) e->args[2 * i + 1] = values[i], e->nullable |= values[i]->nullable;
    if (e->has_else) e->args[e->n_args - 1] = values[pairs], e->nullable |= values[pairs]->nullable;
    return SILT_OK;
}

/* ---- parts of nested values ---- */

static silt_status field_of_struct(binder *b, expr *e, const data_type *type, int *out_index) {
    int at = schema_find(type, e->field_name);
    if (at < 0) {
        str names = STR("");
        for (size_t i = 0; i < type->n_fields; i++)
            names = arena_printf(b->a, "%.*s%s`%.*s`", STR_ARG(names), i ? ", " : "", STR_ARG(type->fields[i].name));
        return err_FIELD_NOT_FOUND(b->err, e->field_name, names);
    }
    *out_index = at;
    return SILT_OK;
}

static silt_status bind_field(binder *b, scope *s, expr *e) {
    TRY(bind_expr(b, s, e->args[0]));
    expr *base = e->args[0];
    const data_type *t = base->type;
    int at = -1;
    if (t->id == TYPE_STRUCT) {
        TRY(field_of_struct(b, e, t, &at));
        e->field_index = at;
        e->type = t->fields[at].type;
        e->nullable = base->nullable || t->fields[at].nullable;
        return SILT_OK;
    }
    if (t->id == TYPE_ARRAY && t->element->id == TYPE_STRUCT) {
        TRY(field_of_struct(b, e, t->element, &at));
        e->field_index = at;
        BIND_NEW(e->type, type_array(b->a, t->element->fields[at].type, t->contains_null || t->element->fields[at].nullable));
        e->nullable = base->nullable;
        return SILT_OK;
    }
    if (t->id == TYPE_MAP) {
        expr *pair[2] = {base, NULL}, *node;
        BIND_NEW(pair[1], expr_literal_str(b->a, e->field_name));
        BIND_NEW(node, expr_call(b->a, "[]", pair, 2, e->span));
        node->kind = EXPR_INDEX;
        bind_become(e, node);
        return bind_expr(b, s, e);
    }
    return err_INVALID_EXTRACT_BASE_FIELD_TYPE(b->err, bind_text(b, base), type_sql(t, b->a));
}

static silt_status bind_index(binder *b, scope *s, expr *e) {
    TRY(bind_expr_list(b, s, e->args, 2));
    const data_type *t = e->args[0]->type;
    if (t->id == TYPE_ARRAY) {
        if (!type_is_integral(e->args[1]->type)) TRY(bind_coerce_slot(b, &e->args[1], &type_int, e, 1));
        e->type = t->element;
        e->nullable = true;
        return SILT_OK;
    }
    if (t->id == TYPE_MAP) {
        TRY(bind_coerce_slot(b, &e->args[1], t->key, e, 1));
        e->type = t->element;
        e->nullable = true;
        return SILT_OK;
    }
    if (t->id == TYPE_STRUCT && e->args[1]->kind == EXPR_LITERAL && e->args[1]->type->id == TYPE_STRING) {
        str name = e->args[1]->literal.as.bytes;
        e->kind = EXPR_FIELD;
        e->field_name = name;
        e->n_args = 1;
        return bind_field(b, s, e);
    }
    return err_INVALID_EXTRACT_BASE_FIELD_TYPE(b->err, bind_text(b, e->args[0]), type_sql(t, b->a));
}

/* ---- the rest ---- */

static silt_status bind_parameter(binder *b, scope *s, expr *e) {
    const bind_env *env = b->env;
    size_t found = SIZE_MAX, position = e->column; /* set by the parser for '?' */
    for (size_t i = 0; i < env->n_parameters; i++) {
        bool unnamed = e->function_name.len == 0;
        if (unnamed ? i == position : str_eq_fold(env->parameter_names[i], e->function_name)) {
            found = i;
            break;
        }
    }
    if (found == SIZE_MAX) return err_UNBOUND_SQL_PARAMETER(b->err, e->function_name.len ? e->function_name : STR("?"));
    expr *copy;
    BIND_NEW(copy, expr_clone(env->parameter_values[found], b->a));
    bind_become(e, copy);
    return bind_expr(b, s, e);
}

static silt_status bind_node(binder *b, scope *s, expr *e) {
    switch (e->kind) {
        case EXPR_LITERAL:
            e->type = e->literal.type;
            e->nullable = e->literal.is_null;
            return SILT_OK;
        case EXPR_INTERVAL:
        case EXPR_LAMBDA_VAR: return SILT_OK;
        case EXPR_COLUMN: {
            scope none = {0};
            return scope_resolve(b, s ? s : &none, e);
        }
        case EXPR_STAR: return err_STAR_GROUP_BY_POS(b->err, "in this place");
        case EXPR_CALL: return bind_call(b, s, e);
        case EXPR_CAST: TRY(bind_expr(b, s, e->args[0])); return bind_cast(b, e);
        case EXPR_CASE: return bind_case(b, s, e);
        case EXPR_FIELD: return bind_field(b, s, e);
        case EXPR_INDEX: return bind_index(b, s, e);
        case EXPR_SUBQUERY:
        case EXPR_EXISTS:
        case EXPR_IN_SUBQUERY: return bind_subquery_expr(b, s, e);
        case EXPR_PARAMETER: return bind_parameter(b, s, e);
        case EXPR_NAMED: {
            TRY(bind_expr(b, s, e->args[0]));
            e->type = e->args[0]->type;
            e->nullable = e->args[0]->nullable;
            return SILT_OK;
        }
        case EXPR_LAMBDA: return err_UNSUPPORTED_FEATURE(b->err, "a lambda outside a higher-order function");
        case EXPR_DEFAULT: return err_UNSUPPORTED_FEATURE(b->err, "DEFAULT in this place");
    }
    return err_INTERNAL_ERROR(b->err, "unknown expression");
}

silt_status bind_expr(binder *b, scope *s, expr *e) {
    if (is_bound(e)) {
        if (e->kind == EXPR_LITERAL) e->type = e->literal.type, e->nullable = e->literal.is_null;
        return SILT_OK;
    }
    if (++b->depth > 2000) return err_UNSUPPORTED_FEATURE(b->err, "an expression nested that deeply");
    TRY(bind_node(b, s, e));
    b->depth--;
    for (size_t i = 0; i < e->n_args; i++) e->is_aggregate |= e->args[i]->is_aggregate;
    if (e->over) {
        for (size_t i = 0; i < e->over->n_partition_by; i++) e->is_aggregate |= e->over->partition_by[i]->is_aggregate;
        for (size_t i = 0; i < e->over->n_order_by; i++) e->is_aggregate |= e->over->order_by[i].value->is_aggregate;
    }
    return SILT_OK;
}
