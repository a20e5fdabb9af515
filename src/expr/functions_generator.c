/* Generators: rows from a value. Their type is a struct of the output columns; they print as a SELECT with columns c0…. */
#include "expr/functions_tables.h"

static bool has_position(const expr *e) {
    return e->function_name.len > 3 && str_eq_ascii_fold(str_slice(e->function_name, 0, 3), STR("pos"));
}

static silt_status set_columns(binder *b, expr *e, const field *fields, size_t n) {
    field *copy;
    BIND_NEW(copy, ARENA_ARRAY(b->a, n + 1, field));
    size_t at = 0;
    if (has_position(e)) copy[at++] = field_make(STR("pos"), &type_int, false);
    for (size_t i = 0; i < n; i++) copy[at++] = fields[i];
    BIND_NEW(e->type, type_struct(b->a, copy, at));
    return SILT_OK;
}

static silt_status bind_explode(binder *b, expr *e) {
    const data_type *t = e->args[0]->type;
    if (t->id == TYPE_ARRAY) return set_columns(b, e, (field[]){field_make(STR("col"), t->element, t->contains_null)}, 1);
    if (t->id == TYPE_MAP)
        return set_columns(
            b, e, (field[]){field_make(STR("key"), t->key, false), field_make(STR("value"), t->element, t->contains_null)}, 2);
    return err_DATATYPE_MISMATCH(
        b->err, bind_text(b, e),
        arena_printf(b->a, "the first parameter requires the (\"ARRAY\" or \"MAP\") type, however it has the type \"%.*s\"",
                     STR_ARG(type_sql(t, b->a))));
}

static silt_status print_explode(printer *p, const expr *e) {
    bool map = e->args[0]->type->id == TYPE_MAP, position = has_position(e);
    if (map) {
        return print_template(p,
                              position
                                  ? "SELECT e.i AS c0, e.v.key AS c1, e.v.value AS c2 FROM (SELECT "
                                    "CAST(unnest(range(cardinality($1))) AS INTEGER) AS i, unnest(map_entries($1)) AS v) AS e"
                                  : "SELECT e.v.key AS c0, e.v.value AS c1 FROM (SELECT unnest(map_entries($1)) AS v) AS e",
                              e);
    }
    return print_template(
        p, position ? "SELECT CAST(unnest(range(len($1))) AS INTEGER) AS c0, unnest($1) AS c1" : "SELECT unnest($1) AS c0", e);
}

static silt_status bind_inline(binder *b, expr *e) {
    const data_type *t = e->args[0]->type;
    if (t->id != TYPE_ARRAY || t->element->id != TYPE_STRUCT)
        return err_DATATYPE_MISMATCH(b->err, bind_text(b, e), STR("the first parameter requires an array of structs"));
    return set_columns(b, e, t->element->fields, t->element->n_fields);
}

static silt_status print_inline(printer *p, const expr *e) {
    const data_type *t = e->args[0]->type->element;
    buf_append_z(p->out, "SELECT ");
    for (size_t i = 0; i < t->n_fields; i++) {
        buf_append_z(p->out, i ? ", struct_extract(e.v, " : "struct_extract(e.v, ");
        print_string(p, t->fields[i].name);
        buf_printf(p->out, ") AS c%zu", i);
    }
    return print_template(p, " FROM (SELECT unnest($1) AS v) AS e", e);
}

/* stack(n, v1, …): the values in n rows. */
static silt_status bind_stack(binder *b, expr *e) {
    value n;
    bool folded;
    TRY(bind_fold(b, e->args[0], &n, &folded));
    if (!folded || n.is_null || n.as.i64 < 1) return err_NON_FOLDABLE_ARGUMENT(b->err, e->function_name, "`n`");
    size_t rows_n = (size_t)n.as.i64, width = (e->n_args - 1 + rows_n - 1) / rows_n;
    field *fields;
    BIND_NEW(fields, ARENA_ARRAY(b->a, width, field));
    for (size_t c = 0; c < width; c++) {
        const data_type *t = &type_void;
        for (size_t r = 0; r < rows_n; r++) {
            size_t i = 1 + r * width + c;
            if (i < e->n_args) t = coerce_common(b->a, t, e->args[i]->type);
            if (!t) return err_DATATYPE_MISMATCH_DATA_DIFF_TYPES(b->err, bind_text(b, e), STR("different"));
        }
        for (size_t r = 0; r < rows_n; r++)
            if (1 + r * width + c < e->n_args) TRY(bind_cast_slot(b, &e->args[1 + r * width + c], t));
        fields[c] = field_make(arena_printf(b->a, "col%zu", c), t, true);
    }
    e->column = (uint32_t)rows_n;
    return set_columns(b, e, fields, width);
}

static silt_status print_stack(printer *p, const expr *e) {
    size_t width = e->type->n_fields;
    for (size_t r = 0; r < e->column; r++) {
        buf_append_z(p->out, r ? " UNION ALL SELECT " : "SELECT ");
        for (size_t c = 0; c < width; c++) {
            if (c) buf_append_z(p->out, ", ");
            size_t i = 1 + r * width + c;
            if (i < e->n_args)
                TRY(print_expr(p, e->args[i]));
            else
                buf_append_z(p->out, "NULL");
            buf_printf(p->out, " AS c%zu", c);
        }
    }
    return SILT_OK;
}

static silt_status bind_json_tuple(binder *b, expr *e) {
    field *fields;
    size_t n = e->n_args - 1;
    BIND_NEW(fields, ARENA_ARRAY(b->a, n, field));
    for (size_t i = 0; i < n; i++) fields[i] = field_make(arena_printf(b->a, "c%zu", i), &type_string, true);
    return set_columns(b, e, fields, n);
}

static silt_status print_json_tuple(printer *p, const expr *e) {
    buf_append_z(p->out, "SELECT ");
    for (size_t i = 1; i < e->n_args; i++) {
        buf_append_z(p->out, i > 1 ? ", silt_json_field(" : "silt_json_field(");
        TRY(print_expr(p, e->args[0]));
        buf_append_z(p->out, ", ");
        TRY(print_expr(p, e->args[i]));
        buf_printf(p->out, ") AS c%zu", i - 1);
    }
    return SILT_OK;
}

#define GENERATOR(name_, aliases_, signature_, bind_, print_, doc_)                                               \
    {                                                                                                             \
        .name = name_, .aliases = aliases_, .signature = signature_, .bind = bind_, .print = print_, .doc = doc_, \
        .kind = FUNCTION_GENERATOR                                                                                \
    }

static const function_row rows[] = {
    GENERATOR("explode", "explode_outer posexplode posexplode_outer", "any -> custom", bind_explode, print_explode,
              "A row for each element or entry; pos… with its position, …_outer also for none"),
    GENERATOR("inline", "inline_outer", "any -> custom", bind_inline, print_inline, "A row for each struct of an array"),
    GENERATOR("stack", NULL, "int, any, any* -> custom", bind_stack, print_stack, "The values in n rows"),
    GENERATOR("json_tuple", NULL, "string, string, string* -> custom", bind_json_tuple, print_json_tuple,
              "Top-level values of a JSON object as columns"),
};

GROUP_OF(functions_generator, "Generators", rows);
