/*
 * Which column of the source fills which column of the table, as INSERT and the DataFrame writer have it:
 *
 *   by position     the columns of the table without those that PARTITION (p = constant) fixes, in table order
 *   column list     the named columns, in the order of the list; the others take their default, else NULL
 *   by name         BY NAME and DataFrames; names without case
 *
 * Values are cast by Spark's rules for a table insertion (ANSI casts; an overflow names the column). Structs: INSERT pairs their fields by position, a
 * DataFrame by name.
 */
#include "expr/tree_tools.h"
#include "ops/generated.h"
#include "ops/identity.h"

/* ---- pairing ---- */

static silt_status missing_column(const op *o, const insert_spec *spec, const field *f) {
    if (f->nullable || field_metadata_get(f, "CURRENT_DEFAULT", o->a)) return SILT_OK;
    if (ops_is_generated(f, o->a, NULL) || ops_is_identity(f, o->a, NULL)) return SILT_OK;
    return spec->is_data_frame ? err_DELTA_MISSING_NOT_NULL_COLUMN_VALUE(o->err, f->name)
                               : err_DELTA_INSERT_COLUMN_MISMATCH(o->err, f->name);
}

/** While pairing: which columns of the table have their value. */
typedef struct pairing {
    const op *o;
    const insert_spec *spec;
    const data_type *schema;
    column_value *values;
    bool *taken;
    uint32_t *extra;
    size_t n_extra, extra_capacity;
    bool keeps_extra; /**< columns that the table lacks may be added */
} pairing;

static bool is_partition_column(const pairing *p, str name) {
    const delta_metadata *m = delta_snapshot_metadata(p->spec->snapshot);
    for (size_t i = 0; i < m->n_partition_columns; i++)
        if (str_eq_fold(m->partition_columns[i], name)) return true;
    return false;
}

static silt_status pair_static_partitions(pairing *p) {
    const insert_spec *spec = p->spec;
    for (size_t i = 0; i < spec->n_partition; i++) {
        str name = spec->partition_names[i];
        int column = schema_find(p->schema, name);
        if (column < 0 || !is_partition_column(p, name)) return err_NON_PARTITION_COLUMN(p->o->err, name);
        for (size_t k = 0; k < i; k++)
            if (str_eq_fold(spec->partition_names[k], name)) return err_COLUMN_ALREADY_EXISTS(p->o->err, name);
        if (!spec->partition_values[i]) continue;
        p->values[column] = (column_value){.origin = VALUE_STATIC, .fixed = spec->partition_values[i]};
        p->taken[column] = true;
    }
    return SILT_OK;
}

static silt_status pair_one(pairing *p, size_t source, int column, str name) {
    bool of_query = p->spec->is_data_frame || (p->spec->by_name && p->values[column].origin == VALUE_SOURCE);
    if (p->taken[column]) return of_query ? err_DELTA_DUPLICATE_COLUMNS_FOUND(p->o->err, name) : err_COLUMN_ALREADY_EXISTS(p->o->err, name);
    p->values[column] = (column_value){.origin = VALUE_SOURCE, .source = source};
    p->taken[column] = true;
    return SILT_OK;
}

static silt_status pair_extra(pairing *p, size_t source) {
    const query *q = p->spec->source;
    for (size_t i = 0; i < p->n_extra; i++)
        if (str_eq_fold(q->column_names[p->extra[i]], q->column_names[source]))
            return err_DELTA_DUPLICATE_COLUMNS_FOUND(p->o->err, q->column_names[source]);
    bool refused = p->spec->by_name && !p->keeps_extra;
    if (q->column_types[source]->id == TYPE_VOID && !refused) return SILT_OK; /* a column of nothing but NULL says nothing about the table */
    return ARENA_PUSH(p->o->a, p->extra, p->n_extra, p->extra_capacity, (uint32_t)source) ? SILT_OK : error_no_memory(p->o->err);
}

static silt_status pair_by_list(pairing *p) {
    const insert_spec *spec = p->spec;
    int64_t listed = (int64_t)spec->n_columns, given = (int64_t)spec->source->n_columns;
    for (size_t i = 0; i < spec->n_columns; i++) {
        int column = schema_find(p->schema, spec->columns[i]);
        if (column < 0) return err_UNRESOLVED_COLUMN(p->o->err, spec->columns[i]);
        TRY(pair_one(p, i, column, spec->columns[i]));
    }
    if (given < listed) return err_INSERT_NOT_ENOUGH_DATA_COLUMNS(p->o->err, spec->table_name, listed, given);
    if (given > listed) return err_INSERT_TOO_MANY_DATA_COLUMNS(p->o->err, spec->table_name, listed, given);
    return SILT_OK;
}

/* Is a value of type `from` one of type `to` as it is? Fields that `to` lacks do not matter here. */
static bool is_alike(const data_type *from, const data_type *to) {
    if (from->id != to->id) return false;
    if (from->id == TYPE_ARRAY) return is_alike(from->element, to->element);
    if (from->id == TYPE_MAP) return is_alike(from->key, to->key) && is_alike(from->element, to->element);
    for (size_t i = 0; from->id == TYPE_STRUCT && i < to->n_fields; i++) {
        int at = schema_find(from, to->fields[i].name);
        if (at < 0 || !is_alike(from->fields[at].type, to->fields[i].type)) return false;
    }
    return from->id == TYPE_STRUCT || from->id == TYPE_STRING || type_equal(from, to);
}

/* INSERT … BY NAME, and some column's values must be cast or renamed: only then Spark asks the names first. */
static bool must_adjust(const pairing *p) {
    const query *q = p->spec->source;
    if (!p->spec->by_name || p->keeps_extra) return false;
    for (size_t i = 0; i < q->n_columns; i++) {
        int column = schema_find(p->schema, q->column_names[i]);
        if (column < 0) continue;
        const field *f = &p->schema->fields[column];
        if (!str_eq(f->name, q->column_names[i]) || !is_alike(q->column_types[i], f->type)) return true;
    }
    return false;
}

static str column_list(const pairing *p) {
    str text = STR("");
    for (size_t c = 0; c < p->schema->n_fields; c++) text = arena_printf(p->o->a, "%.*s%s%.*s", STR_ARG(text), c ? ", " : "", STR_ARG(p->schema->fields[c].name));
    return text;
}

static silt_status pair_by_name(pairing *p) {
    const query *q = p->spec->source;
    bool adjusts = must_adjust(p);
    size_t given = q->n_columns;
    for (size_t c = 0; c < p->schema->n_fields; c++) given += p->taken[c];
    if (adjusts && given > p->schema->n_fields) return err_INSERT_TOO_MANY_DATA_COLUMNS(p->o->err, p->spec->table_name, (int64_t)p->schema->n_fields, (int64_t)given);
    for (size_t i = 0; i < q->n_columns; i++) {
        str name = q->column_names[i];
        int column = schema_find(p->schema, name);
        if (column < 0 && adjusts) return err_DELTA_MISSING_COLUMN(p->o->err, name, column_list(p));
        if (column < 0)
            TRY(pair_extra(p, i));
        else
            TRY(pair_one(p, i, column, name));
    }
    return SILT_OK;
}

static silt_status pair_by_position(pairing *p) {
    const query *q = p->spec->source;
    size_t source = 0;
    for (size_t c = 0; c < p->schema->n_fields && source < q->n_columns; c++)
        if (!p->taken[c]) TRY(pair_one(p, source++, (int)c, p->schema->fields[c].name));
    for (; source < q->n_columns; source++) TRY(pair_extra(p, source));
    for (size_t c = 0; c < p->schema->n_fields; c++) {
        if (p->taken[c]) continue;
        size_t fixed = 0;
        for (size_t k = 0; k < p->schema->n_fields; k++) fixed += p->values[k].origin == VALUE_STATIC;
        return err_DELTA_INSERT_COLUMN_ARITY_MISMATCH(p->o->err, p->spec->table_name, (int64_t)p->schema->n_fields,
                                                      (int64_t)(q->n_columns + fixed));
    }
    return SILT_OK;
}

silt_status ops_assign_columns(const op *o, const insert_spec *spec, const data_type *schema, bool keeps_extra, assignment *out) {
    pairing p = {.o = o, .spec = spec, .schema = schema, .keeps_extra = keeps_extra};
    p.values = ARENA_ARRAY(o->a, schema->n_fields + 1, column_value);
    p.taken = ARENA_ARRAY(o->a, schema->n_fields + 1, bool);
    if (!p.values || !p.taken) return error_no_memory(o->err);
    for (size_t c = 0; c < schema->n_fields; c++) p.values[c].origin = VALUE_DEFAULT;
    TRY(pair_static_partitions(&p));
    if (spec->n_columns)
        TRY(pair_by_list(&p));
    else if (spec->by_name || spec->is_data_frame)
        TRY(pair_by_name(&p));
    else
        TRY(pair_by_position(&p));
    bool refused = p.n_extra > 0 && spec->by_name && !keeps_extra; /* which is told first */
    for (size_t c = 0; c < schema->n_fields && !refused; c++)
        if (!p.taken[c]) TRY(missing_column(o, spec, &schema->fields[c]));
    *out = (assignment){.values = p.values, .extra = p.extra, .n_extra = p.n_extra};
    return SILT_OK;
}

/* ---- the schema after the write ---- */

static silt_status refuse_extra(const op *o, const insert_spec *spec, const assignment *as) {
    buf b;
    buf_init(&b, BUF_MAX_DEFAULT);
    buf_append_z(&b, "the data has columns that the table lacks:");
    for (size_t i = 0; i < as->n_extra; i++) {
        buf_append_z(&b, i ? ", " : " ");
        buf_append(&b, spec->source->column_names[as->extra[i]]);
        buf_append_char(&b, ' ');
        type_write_sql(&b, spec->source->column_types[as->extra[i]]);
    }
    silt_status status = err_DELTA_METADATA_MISMATCH(o->err, buf_str(&b));
    buf_dispose(&b);
    return status;
}

/* A column that a CHECK or a generated column speaks of keeps its type: their meaning might change with it. */
static silt_status merge_column(const op *o, const insert_spec *spec, const merge_rules *rules, const field *f,
                                const data_type *source, field *out) {
    silt_error failed;
    op quiet = {o->env, o->a, &failed};
    silt_status status = ops_schema_merge_field(&quiet, rules, f, source, out);
    bool atomic = !type_is_nested(f->type);
    if (atomic && (status == SILT_INVALID || (status == SILT_OK && out->type != f->type))) {
        str constraint;
        TRY(ops_checks_find(o, &delta_snapshot_metadata(spec->snapshot)->configuration, f->name, &constraint));
        if (!str_is_null(constraint))
            return err_DELTA_CONSTRAINT_DATA_TYPE_MISMATCH(o->err, f->name, type_sql(f->type, o->a), type_sql(source, o->a),
                                                           constraint);
        str generated;
        TRY(ops_generated_find(o, delta_snapshot_metadata(spec->snapshot)->schema, f->name, &generated));
        if (!str_is_null(generated))
            return err_DELTA_GENERATED_COLUMNS_DATA_TYPE_MISMATCH(o->err, f->name, type_sql(f->type, o->a), type_sql(source, o->a), generated);
    }
    if (status != SILT_OK && o->err) *o->err = failed;
    return status;
}

silt_status ops_assign_merge_schema(const op *o, const insert_spec *spec, const data_type *schema, const merge_rules *rules,
                                    assignment *as, const data_type **out) {
    if (as->n_extra > 0 && !rules->evolve) return refuse_extra(o, spec, as);
    size_t n = schema->n_fields, total = n + as->n_extra;
    field *fields = ARENA_ARRAY(o->a, total + 1, field);
    column_value *values = ARENA_ARRAY(o->a, total + 1, column_value);
    if (!fields || !values) return error_no_memory(o->err);
    bool changed = as->n_extra > 0;
    for (size_t c = 0; c < n; c++) {
        fields[c] = schema->fields[c];
        values[c] = as->values[c];
        if (values[c].origin != VALUE_SOURCE) continue;
        TRY(merge_column(o, spec, rules, &schema->fields[c], spec->source->column_types[values[c].source], &fields[c]));
        changed |= fields[c].type != schema->fields[c].type;
    }
    for (size_t i = 0; i < as->n_extra; i++) {
        size_t source = as->extra[i];
        const data_type *type;
        TRY(ops_schema_as_nullable(o, spec->source->column_types[source], &type));
        fields[n + i] = field_make(spec->source->column_names[source], type, true);
        values[n + i] = (column_value){.origin = VALUE_SOURCE, .source = source};
    }
    *as = (assignment){.values = values};
    *out = schema;
    if (!changed) return SILT_OK;
    *out = type_struct(o->a, fields, total);
    return *out ? SILT_OK : error_no_memory(o->err);
}

/* ---- values ---- */

static silt_status null_of(const op *o, const data_type *type, expr **out) {
    TRY(ops_tree_null(o, out));
    return ops_tree_cast(o, *out, type, out);
}

static silt_status field_of(const op *o, expr *e, str name, expr **out) {
    expr *own = expr_clone(e, o->a);
    return own ? ops_tree_field(o, own, name, out) : error_no_memory(o->err);
}

/* CASE WHEN e IS NULL THEN NULL ELSE named_struct(…) END: a null struct stays one. */
static silt_status struct_by_name(const op *o, expr *e, const data_type *from, const data_type *to, int depth, expr **out) {
    expr **args = ARENA_ARRAY(o->a, 2 * to->n_fields + 1, expr *);
    if (!args) return error_no_memory(o->err);
    for (size_t i = 0; i < to->n_fields; i++) {
        const field *f = &to->fields[i];
        int at = schema_find(from, f->name);
        args[2 * i] = expr_literal_str(o->a, f->name);
        if (!args[2 * i]) return error_no_memory(o->err);
        if (at < 0) {
            TRY(null_of(o, f->type, &args[2 * i + 1]));
            continue;
        }
        expr *part;
        TRY(field_of(o, e, from->fields[at].name, &part));
        TRY(ops_assign_by_name(o, part, from->fields[at].type, f->type, depth, &args[2 * i + 1]));
    }
    expr *made = expr_call(o->a, "named_struct", args, 2 * to->n_fields, (source_span){0, 0}), *is_null, *none;
    if (!made) return error_no_memory(o->err);
    TRY(ops_tree_call(o, "isnull", e, NULL, &is_null));
    TRY(null_of(o, to, &none));
    TRY(ops_tree_case(o, 1, made, out));
    (*out)->args[0] = is_null;
    (*out)->args[1] = none;
    return SILT_OK;
}

static silt_status array_by_name(const op *o, expr *e, const data_type *from, const data_type *to, int depth, expr **out) {
    expr *lambda, *item;
    TRY(ops_tree_lambda(o, depth, &item, &lambda));
    TRY(ops_assign_by_name(o, item, from, to, depth + 1, &lambda->args[0]));
    return ops_tree_call(o, "transform", e, lambda, out);
}

static silt_status map_by_name(const op *o, expr *e, const data_type *from, const data_type *to, int depth, expr **out) {
    expr *keys, *values, *again = expr_clone(e, o->a);
    if (!again) return error_no_memory(o->err);
    TRY(ops_tree_call(o, "map_keys", again, NULL, &keys));
    TRY(ops_tree_call(o, "map_values", e, NULL, &values));
    TRY(array_by_name(o, keys, from->key, to->key, depth, &keys));
    TRY(array_by_name(o, values, from->element, to->element, depth, &values));
    return ops_tree_call(o, "map_from_arrays", keys, values, out);
}

silt_status ops_assign_by_name(const op *o, expr *e, const data_type *from, const data_type *to, int depth, expr **out) {
    *out = e;
    if (type_equal(from, to)) return SILT_OK;
    if (from->id == TYPE_STRUCT && to->id == TYPE_STRUCT) return struct_by_name(o, e, from, to, depth, out);
    if (from->id == TYPE_ARRAY && to->id == TYPE_ARRAY) return array_by_name(o, e, from->element, to->element, depth, out);
    if (from->id == TYPE_MAP && to->id == TYPE_MAP) return map_by_name(o, e, from, to, depth, out);
    return ops_tree_cast(o, e, to, out);
}

static silt_status source_value(const op *o, const insert_spec *spec, relation *rows, size_t source, const field *f, expr **out) {
    const data_type *from = rows->columns[source].type;
    expr *e;
    if (spec->is_data_frame && type_is_nested(from)) {
        TRY(ops_rows_name(o, rows, source, &e));
        TRY(ops_assign_by_name(o, e, from, f->type, 0, &e));
        TRY(ops_rows_bind(o, rows, &source, 1, e, &e));
    } else {
        TRY(ops_rows_column(o, rows, source, &e));
    }
    return expr_coerce(e, f->type, CAST_STORE_ASSIGNMENT, f->name, o->env->bind, o->a, out, o->err);
}

silt_status ops_assign_query(const op *o, const insert_spec *spec, const data_type *schema, const assignment *as, query **out) {
    relation *rows;
    TRY(ops_rows_over(o, spec->source, NULL, &rows));
    expr **items = ARENA_ARRAY(o->a, schema->n_fields + 1, expr *);
    if (!items) return error_no_memory(o->err);
    for (size_t c = 0; c < schema->n_fields; c++) {
        const field *f = &schema->fields[c];
        const column_value *v = &as->values[c];
        switch (v->origin) {
            case VALUE_SOURCE: TRY(source_value(o, spec, rows, v->source, f, &items[c])); break;
            case VALUE_STATIC:
                TRY(expr_coerce(v->fixed, f->type, CAST_STORE_ASSIGNMENT, f->name, o->env->bind, o->a, &items[c], o->err));
                break;
            case VALUE_DEFAULT: TRY(ops_default_value(o, f, &items[c])); break;
        }
    }
    return ops_rows_select(o, rows, items, schema, out);
}
