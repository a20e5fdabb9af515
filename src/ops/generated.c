/*
 * Generated columns: computing what a write does not give. The expressions are Spark SQL texts over the table's other columns; a generated column never depends on
 * another generated one, so that one query around the rows is enough.
 */
#include "ops/generated.h"

#include "expr/functions.h"
#include "expr/tree_tools.h"

#define GENERATION "delta.generationExpression"

bool ops_is_generated(const field *f, arena *a, str *out_text) {
    const json_node *text = field_metadata_get(f, GENERATION, a);
    if (!text || text->type != JSON_STRING) return false;
    if (out_text) *out_text = text->text;
    return true;
}

bool ops_has_generated(const data_type *schema, arena *a) {
    for (size_t i = 0; i < schema->n_fields; i++)
        if (ops_is_generated(&schema->fields[i], a, NULL)) return true;
    return false;
}

/* ---- columns that an expression uses ---- */

typedef struct uses {
    const data_type *schema;
    size_t *columns; /**< top-level fields, each once */
    size_t n;
} uses;

static bool note_use(void *ctx, expr *e) {
    uses *u = ctx;
    if (e->kind != EXPR_COLUMN || e->name.count == 0) return true;
    int at = schema_find(u->schema, e->name.parts[0]);
    for (size_t i = 0; i < u->n; i++)
        if (at >= 0 && u->columns[i] == (size_t)at) return true;
    if (at >= 0) u->columns[u->n++] = (size_t)at;
    return true;
}

static silt_status find_uses(const op *o, const data_type *schema, expr *e, uses *out) {
    *out = (uses){.schema = schema, .columns = ARENA_ARRAY(o->a, schema->n_fields + 2, size_t)};
    if (!out->columns) return error_no_memory(o->err);
    expr_walk(e, note_use, out);
    return SILT_OK;
}

static bool uses_column(const uses *u, size_t column) {
    for (size_t i = 0; i < u->n; i++)
        if (u->columns[i] == column) return true;
    return false;
}

silt_status ops_generated_find(const op *o, const data_type *schema, str column, str *out_generated) {
    *out_generated = STR_NULL;
    int wanted = schema_find(schema, column);
    for (size_t i = 0; wanted >= 0 && i < schema->n_fields && str_is_null(*out_generated); i++) {
        str text;
        expr *e;
        uses u;
        if (!ops_is_generated(&schema->fields[i], o->a, &text)) continue;
        TRY(expr_parse(text, o->a, &e, o->err));
        TRY(find_uses(o, schema, e, &u));
        if (uses_column(&u, (size_t)wanted)) *out_generated = schema->fields[i].name;
    }
    return SILT_OK;
}

/* ---- computing ---- */

static bool is_missing(const generated_missing *m, size_t column) {
    return (m->always && m->always[column]) || (m->in_rows && m->in_rows[column] >= 0);
}

/* Names of the rows' columns: the table's, then names that nobody has. */
static silt_status row_names(const op *o, const data_type *schema, const query *q, const str **out) {
    str *names = ARENA_ARRAY(o->a, q->n_columns + 1, str);
    if (!names) return error_no_memory(o->err);
    for (size_t i = 0; i < q->n_columns; i++) {
        names[i] = i < schema->n_fields ? schema->fields[i].name : arena_printf(o->a, "\x01silt_g%zu", i);
        if (str_is_null(names[i])) return error_no_memory(o->err);
    }
    *out = names;
    return SILT_OK;
}

/* The value, bound: the expression, or CASE WHEN missing THEN expression ELSE given END. */
static silt_status computed(const op *o, const data_type *schema, relation *rows, const generated_missing *m, size_t column,
                            str text, expr **out) {
    const field *f = &schema->fields[column];
    expr *e, *given, *flag;
    uses u;
    TRY(expr_parse(text, o->a, &e, o->err));
    TRY(find_uses(o, schema, e, &u));
    TRY(ops_tree_cast(o, e, f->type->id == TYPE_STRING ? &type_string : f->type, &e));
    if (m->in_rows && m->in_rows[column] >= 0 && !(m->always && m->always[column])) {
        size_t at = (size_t)m->in_rows[column];
        TRY(ops_rows_name(o, rows, column, &given));
        TRY(ops_rows_name(o, rows, at, &flag));
        TRY(ops_tree_case(o, 1, given, out));
        (*out)->args[0] = flag;
        (*out)->args[1] = e;
        e = *out;
        if (!uses_column(&u, column)) u.columns[u.n++] = column;
        u.columns[u.n++] = at;
    }
    return ops_rows_bind(o, rows, u.columns, u.n, e, out);
}

silt_status ops_generated_wrap(const op *o, const data_type *schema, query *q, const generated_missing *missing, query **out) {
    bool any = false;
    *out = q;
    for (size_t i = 0; i < schema->n_fields; i++)
        any |= is_missing(missing, i) && ops_is_generated(&schema->fields[i], o->a, NULL);
    if (!any) return SILT_OK;
    const str *names;
    relation *rows;
    field *fields = ARENA_ARRAY(o->a, q->n_columns + 1, field);
    expr **items = ARENA_ARRAY(o->a, q->n_columns + 1, expr *);
    if (!items || !fields) return error_no_memory(o->err);
    TRY(row_names(o, schema, q, &names));
    TRY(ops_rows_over(o, q, names, &rows));
    for (size_t i = 0; i < q->n_columns; i++) {
        str text;
        fields[i] = (field){.name = q->column_names[i], .type = q->column_types[i]};
        if (i < schema->n_fields && is_missing(missing, i) && ops_is_generated(&schema->fields[i], o->a, &text))
            TRY(computed(o, schema, rows, missing, i, text, &items[i]));
        else
            TRY(ops_rows_column(o, rows, i, &items[i]));
    }
    const data_type all = {.id = TYPE_STRUCT, .fields = fields, .n_fields = q->n_columns};
    return ops_rows_select(o, rows, items, &all, out);
}

/* ---- validation ---- */

/* Constants of the statement, not of the row. */
static bool is_of_the_moment(const expr *e) {
    static const char *const names[] = {"current_date",
                                        "curdate",
                                        "current_timestamp",
                                        "now",
                                        "localtimestamp",
                                        "current_timezone",
                                        "current_user",
                                        "user",
                                        "session_user",
                                        "current_catalog",
                                        "current_database",
                                        "current_schema",
                                        "raise_error",
                                        "assert_true",
                                        "version"};
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (str_eq_ascii_fold(e->function_name, str_of(names[i]))) return true;
    return e->n_args == 0 && str_eq_ascii_fold(e->function_name, STR("unix_timestamp"));
}

typedef struct refusal {
    const op *o;
    silt_status status;
} refusal;

typedef silt_status (*refuse_fn)(silt_error *err, str expression);

static bool refuse(refusal *r, refuse_fn fn, const expr *e) {
    buf b;
    buf_init(&b, BUF_MAX_DEFAULT);
    expr_print_spark(e, &b);
    r->status = fn(r->o->err, buf_str(&b));
    buf_dispose(&b);
    return false;
}

/* One node: false, with the status set, where a generated column cannot have it. */
static bool is_allowed(void *ctx, expr *e) {
    refusal *r = ctx;
    bool known;
    if (e->subquery || e->over || e->kind == EXPR_LAMBDA || e->kind == EXPR_PARAMETER || e->kind == EXPR_DEFAULT ||
        e->kind == EXPR_STAR)
        return refuse(r, err_DELTA_UNSUPPORTED_EXPRESSION_GENERATED_COLUMN, e);
    if (e->kind != EXPR_CALL) return true;
    const function_row *row = function_find(e->function_name, e->n_args, &known);
    if (is_of_the_moment(e)) return refuse(r, err_DELTA_UNSUPPORTED_EXPRESSION_GENERATED_COLUMN, e);
    if (!row) return true; /* an operator; or unknown, which binding tells */
    if (row->kind == FUNCTION_AGGREGATE) return refuse(r, err_DELTA_AGGREGATE_IN_GENERATED_COLUMN, e);
    if (row->kind != FUNCTION_SCALAR) return refuse(r, err_DELTA_UNSUPPORTED_EXPRESSION_GENERATED_COLUMN, e);
    if (row->flags & FN_VOLATILE) return refuse(r, err_DELTA_NON_DETERMINISTIC_EXPRESSION_IN_GENERATED_COLUMN, e);
    return true;
}

typedef struct references {
    const data_type *schema;
    arena *a;
    bool bad;
} references;

static bool check_reference(void *ctx, expr *e) {
    references *r = ctx;
    if (e->kind != EXPR_COLUMN || e->name.count == 0) return true;
    int at = schema_find(r->schema, e->name.parts[0]);
    r->bad |= at < 0 || ops_is_generated(&r->schema->fields[at], r->a, NULL);
    return !r->bad;
}

/* The table's columns as something to bind over. */
static silt_status table_columns(const op *o, const data_type *schema, relation **out) {
    relation *rows = ARENA_NEW(o->a, relation);
    if (!rows || !(rows->columns = ARENA_ARRAY(o->a, schema->n_fields + 1, relation_column))) return error_no_memory(o->err);
    rows->kind = REL_SUBQUERY;
    rows->n_columns = schema->n_fields;
    for (size_t i = 0; i < schema->n_fields; i++)
        rows->columns[i] = (relation_column){
            .name = schema->fields[i].name, .type = schema->fields[i].type, .nullable = schema->fields[i].nullable};
    *out = rows;
    return SILT_OK;
}

static silt_status validate_column(const op *o, const data_type *schema, relation *rows, const field *f, str text) {
    expr *e;
    refusal r = {o, SILT_OK};
    references used = {schema, o->a, false};
    if (field_metadata_get(f, "CURRENT_DEFAULT", o->a)) return err_GENERATED_COLUMN_WITH_DEFAULT_VALUE(o->err, f->name, text);
    TRY(expr_parse(text, o->a, &e, o->err));
    (void)expr_walk(e, is_allowed, &r);
    TRY(r.status);
    (void)expr_walk(e, check_reference, &used);
    if (used.bad) return err_DELTA_INVALID_GENERATED_COLUMN_REFERENCES(o->err);
    TRY(expr_bind(e, rows, o->env->bind, o->a, &e, o->err));
    if (type_equal(e->type, f->type)) return SILT_OK;
    return err_DELTA_GENERATED_COLUMNS_EXPR_TYPE_MISMATCH(o->err, f->name, type_sql(e->type, o->a), type_sql(f->type, o->a));
}

silt_status ops_generated_validate(const op *o, const data_type *schema) {
    relation *rows = NULL;
    for (size_t i = 0; i < schema->n_fields; i++) {
        str text;
        if (!ops_is_generated(&schema->fields[i], o->a, &text)) continue;
        if (!rows) TRY(table_columns(o, schema, &rows));
        TRY(validate_column(o, schema, rows, &schema->fields[i], text));
    }
    return SILT_OK;
}

/* ---- refused casts ---- */

silt_status ops_generated_refused(const op *o, const field *left_out, silt_status status) {
    str text;
    if (status != SILT_INVALID || !o->err || !left_out || !ops_is_generated(left_out, o->a, &text)) return status;
    if (!str_starts_with(str_of(o->err->condition), STR("DATATYPE_MISMATCH.CAST_"))) return status;
    const silt_error refused = *o->err;
    status = err_DELTA_CANNOT_RESOLVE_EXPRESSION(o->err, text);
    error_detail(o->err, "[%s] %s", refused.condition, refused.message);
    return status;
}
