/*
 * Column defaults (allowColumnDefaults): the text in CURRENT_DEFAULT stands for DEFAULT in an INSERT and for columns that the INSERT leaves out. It is evaluated when
 * the row is written; EXISTS_DEFAULT is not kept by Delta (a column that is added later reads as NULL in older files).
 */
#include "expr/tree.h"
#include "ops/internal.h"

silt_status ops_default_parse(const op *o, const field *f, expr **out) {
    *out = NULL;
    const json_node *text = field_metadata_get(f, "CURRENT_DEFAULT", o->a);
    if (!text || text->type != JSON_STRING) return SILT_OK;
    return expr_parse(text->text, o->a, out, o->err);
}

silt_status ops_default_value(const op *o, const field *f, expr **out) {
    expr *e;
    TRY(ops_default_parse(o, f, &e));
    if (!e) TRY(ops_tree_null(o, &e));
    TRY(expr_bind(e, NULL, o->env->bind, o->a, &e, o->err));
    return expr_coerce(e, f->type, CAST_STORE_ASSIGNMENT, f->name, o->env->bind, o->a, out, o->err);
}

/* ---- validation at CREATE ---- */

/* An integer that fits a narrower column, 1.5 for a DECIMAL(5,2): constants are taken by value. */
static bool constant_fits(const op *o, const field *f, expr *bound) {
    value v = {0};
    expr *cast;
    if (!type_is_numeric(bound->type) || !type_is_numeric(f->type)) return false;
    if (type_is_integral(f->type) && !type_is_integral(bound->type)) return false;
    silt_status status = expr_coerce(bound, f->type, CAST_STORE_ASSIGNMENT, f->name, o->env->bind, o->a, &cast, NULL);
    return status == SILT_OK && expr_fold(cast, o->env->bind, o->a, &v, NULL) == SILT_OK;
}

static bool fits(const op *o, const field *f, expr *bound) {
    if (ops_schema_is_lossless(bound->type, f->type)) return true;
    if (f->type->id == TYPE_STRING) return !type_is_nested(bound->type);
    bool to_timestamp = f->type->id == TYPE_TIMESTAMP || f->type->id == TYPE_TIMESTAMP_NTZ;
    if (bound->type->id == TYPE_DATE && to_timestamp) return true;
    return constant_fits(o, f, bound);
}

silt_status ops_default_validate(const op *o, const field *f) {
    const json_node *text = field_metadata_get(f, "CURRENT_DEFAULT", o->a);
    expr *e;
    TRY(ops_default_parse(o, f, &e));
    if (!e) return SILT_OK;
    if (ops_tree_has_subquery(e)) return err_INVALID_DEFAULT_SUBQUERY(o->err, f->name, text->text);
    silt_status status = expr_bind(e, NULL, o->env->bind, o->a, &e, o->err);
    if (status == SILT_INVALID) return err_INVALID_DEFAULT_UNRESOLVED(o->err, f->name, text->text);
    TRY(status);
    return fits(o, f, e)
               ? SILT_OK
               : err_INVALID_DEFAULT_TYPE(o->err, f->name, text->text, type_sql(f->type, o->a), type_sql(e->type, o->a));
}

/* ---- the word DEFAULT, before the query is bound ---- */

/* Which table column each position of an INSERT's source is for; -1: none. */
static silt_status positions(const op *o, const insert_spec *spec, const data_type *schema, int **out, size_t *out_n) {
    size_t n = spec->n_columns ? spec->n_columns : schema->n_fields, count = 0;
    int *columns = ARENA_ARRAY(o->a, n + 1, int);
    if (!columns) return error_no_memory(o->err);
    for (size_t i = 0; i < n; i++) {
        bool fixed = false;
        int column = spec->n_columns ? schema_find(schema, spec->columns[i]) : (int)i;
        for (size_t p = 0; !spec->n_columns && p < spec->n_partition; p++)
            fixed |= spec->partition_values[p] && str_eq_fold(spec->partition_names[p], schema->fields[i].name);
        if (!fixed) columns[count++] = column;
    }
    *out = columns;
    *out_n = count;
    return SILT_OK;
}

/* DEFAULT → CAST(its expression AS the column's type); a plain NULL where the column has none. */
static silt_status replace_default(const op *o, const data_type *schema, int column, expr **slot) {
    expr *e = *slot, *given;
    if (e->kind == EXPR_NAMED && e->n_args == 1 && e->args[0]->kind == EXPR_DEFAULT)
        return replace_default(o, schema, column, &e->args[0]);
    if (e->kind != EXPR_DEFAULT || column < 0) return SILT_OK;
    const field *f = &schema->fields[column];
    TRY(ops_default_parse(o, f, &given));
    if (!given) TRY(ops_tree_null(o, &given));
    return ops_tree_cast(o, given, f->type->id == TYPE_STRING ? &type_string : f->type, slot);
}

static silt_status replace_in_query(const op *o, const data_type *schema, const int *columns, size_t n, query *q) {
    if (q->set != SET_NONE) {
        TRY(replace_in_query(o, schema, columns, n, q->left));
        return replace_in_query(o, schema, columns, n, q->right);
    }
    relation *from = q->from;
    bool star = q->n_projections == 1 && q->projections[0]->kind == EXPR_STAR;
    if (star && from && from->kind == REL_SUBQUERY) return replace_in_query(o, schema, columns, n, from->subquery);
    if (star && from && from->kind == REL_VALUES) {
        for (size_t row = 0; row < from->n_rows; row++)
            for (size_t i = 0; i < from->n_row_columns && i < n; i++)
                TRY(replace_default(o, schema, columns[i], &from->rows[row][i]));
        return SILT_OK;
    }
    for (size_t i = 0; i < q->n_projections && i < n; i++) TRY(replace_default(o, schema, columns[i], &q->projections[i]));
    return SILT_OK;
}

silt_status ops_insert_defaults(const ops_env *env, const insert_spec *spec, query *source, arena *a, silt_error *err) {
    op o = {env, a, err};
    const data_type *schema = delta_snapshot_metadata(spec->snapshot)->schema;
    int *columns;
    size_t n;
    if (spec->by_name) return SILT_OK;
    TRY(positions(&o, spec, schema, &columns, &n));
    return replace_in_query(&o, schema, columns, n, source);
}
