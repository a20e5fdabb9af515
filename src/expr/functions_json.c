/* JSON text and variants. */
#include "expr/functions_tables.h"

static silt_status bind_to_json(binder *b, expr *e) {
    const data_type *t = e->args[0]->type;
    if (!type_is_nested(t) && t->id != TYPE_VARIANT)
        return err_DATATYPE_MISMATCH(b->err, bind_text(b, e),
                                     STR("the first parameter requires a struct, array, map or variant"));
    e->type = &type_string;
    e->n_args = 1;
    return SILT_OK;
}

static silt_status print_to_json(printer *p, const expr *e) {
    if (e->args[0]->type->id == TYPE_VARIANT) return print_template(p, "silt_json_compact(CAST(CAST($1 AS JSON) AS VARCHAR))", e);
    buf_append_z(p->out, "silt_to_json(");
    TRY(print_expr(p, e->args[0]));
    buf_printf(p->out, ", (%lld)::BIGINT)", (long long)p->zone_offset_us);
    return SILT_OK;
}

/* from_json(text, schema): malformed text gives a struct of nulls (PERMISSIVE), a value of another kind null. */
static silt_status bind_from_json(binder *b, expr *e) {
    if (e->args[1]->kind != EXPR_LITERAL || e->args[1]->literal.is_null)
        return err_NON_FOLDABLE_ARGUMENT(b->err, e->function_name, "`schema`");
    str text = e->args[1]->literal.as.bytes;
    silt_error scratch;
    if (type_parse(text, b->a, &e->type, &scratch) != SILT_OK) TRY(schema_parse_ddl(text, b->a, &e->type, b->err));
    e->n_args = 2;
    e->nullable = true;
    return SILT_OK;
}

static silt_status print_from_json(printer *p, const expr *e) {
    buf type;
    buf_init(&type, BUF_MAX_DEFAULT);
    type_print_duckdb(&type, e->type, false);
    str text;
    TRY(print_expr_text(p, e->args[0], &text));
    bool is_struct = e->type->id == TYPE_STRUCT;
    buf_printf(p->out, "CASE WHEN %.*s IS NULL THEN NULL WHEN json_valid(%.*s) THEN TRY_CAST(TRY_CAST(%.*s AS JSON) AS %.*s)",
               STR_ARG(text), STR_ARG(text), STR_ARG(text), STR_ARG(buf_str(&type)));
    if (is_struct) {
        buf_append_z(p->out, " ELSE {");
        for (size_t i = 0; i < e->type->n_fields; i++) {
            if (i) buf_append_z(p->out, ", ");
            print_string(p, e->type->fields[i].name);
            buf_append_z(p->out, ": CAST(NULL AS ");
            type_print_duckdb(p->out, e->type->fields[i].type, false);
            buf_append_char(p->out, ')');
        }
        buf_append_char(p->out, '}');
    }
    buf_append_z(p->out, " END");
    buf_dispose(&type);
    return SILT_OK;
}

/* variant_get(v, path, type): by way of JSON. */
static silt_status bind_variant_get(binder *b, expr *e) {
    if (e->args[1]->kind != EXPR_LITERAL) return err_NON_FOLDABLE_ARGUMENT(b->err, e->function_name, "`path`");
    e->type = &type_variant;
    e->nullable = true;
    if (e->n_args < 3) return SILT_OK;
    if (e->args[2]->kind != EXPR_LITERAL) return err_NON_FOLDABLE_ARGUMENT(b->err, e->function_name, "`type`");
    return type_parse(e->args[2]->literal.as.bytes, b->a, &e->type, b->err);
}

static silt_status print_variant_get(printer *p, const expr *e) {
    bool is_try = str_starts_with(e->function_name, STR("try_"));
    if (e->type->id == TYPE_VARIANT) return print_template(p, "CAST(json_extract(CAST($1 AS JSON), $2) AS VARIANT)", e);
    buf text, *kept = p->out;
    buf_init(&text, BUF_MAX_DEFAULT);
    p->out = &text;
    bool nested = type_is_nested(e->type);
    silt_status st =
        print_template(p, nested ? "json_extract(CAST($1 AS JSON), $2)" : "json_extract_string(CAST($1 AS JSON), $2)", e);
    p->out = kept;
    str source = print_take(p, &text);
    TRY(st);
    if (nested) {
        buf_printf(p->out, "%s(%.*s AS ", is_try ? "TRY_CAST" : "CAST", STR_ARG(source));
        type_print_duckdb(p->out, e->type, false);
        buf_append_char(p->out, ')');
        return SILT_OK;
    }
    expr mapped = {.kind = EXPR_LAMBDA_VAR, .function_name = source, .type = &type_string};
    return print_cast(p, &mapped, e->type, is_try, STR_NULL);
}

static const function_row rows[] = {
    SCALAR_F("schema_of_json", NULL, "string -> string", FN_RAISES, "silt_json_schema($1, false)",
             "Schema of a JSON text as DDL"),
    SCALAR_F("schema_of_variant", NULL, "variant -> string", FN_RAISES,
             "silt_json_schema(CAST(CAST($1 AS JSON) AS VARCHAR), true)", "Schema of a variant"),
    SCALAR_F("get_json_object", NULL, "string, string -> string", FN_NULLABLE, "silt_json_path($1, $2)",
             "Value at a path as text"),
    CUSTOM("to_json", NULL, "any, any? -> custom", 0, bind_to_json, print_to_json, "JSON text"),
    CUSTOM("from_json", NULL, "string, any, any? -> custom", FN_NULLABLE, bind_from_json, print_from_json,
           "Value of a JSON text by a schema"),
    SCALAR_F("json_array_length", NULL, "string -> int", FN_NULLABLE, "silt_json_array_length($1)",
             "Number of elements of a JSON array"),
    SCALAR_F("json_object_keys", NULL, "string -> array(string)", FN_NULLABLE, "silt_json_keys($1)", "Keys of a JSON object"),
    SCALAR_F("parse_json", NULL, "string -> variant", FN_RAISES, "CAST(CAST(silt_check_json($1) AS JSON) AS VARIANT)",
             "Variant of a JSON text"),
    SCALAR_F("try_parse_json", NULL, "string -> variant", FN_NULLABLE, "CAST(TRY_CAST($1 AS JSON) AS VARIANT)",
             "Variant of a JSON text, NULL where malformed"),
    CUSTOM("variant_get", "try_variant_get", "variant, string, string? -> custom", FN_NULLABLE, bind_variant_get,
           print_variant_get, "Part of a variant"),
    SCALAR_F("is_variant_null", NULL, "variant -> bool", FN_NEVER_NULL,
             "coalesce(CAST(CAST($1 AS JSON) AS VARCHAR) = 'null', false)", "Is it the JSON null"),
};

GROUP_OF(functions_json, "JSON and variants", rows);
