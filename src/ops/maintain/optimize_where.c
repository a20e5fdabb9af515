/*
 * WHERE of OPTIMIZE and REORG: an expression over partition columns alone, evaluated by the engine once for each combination of partition values that the table has. Nothing
 * of it is left to pruning, which may keep a file too many: the predicate says exactly which partitions are rewritten.
 */
#include "expr/tree_tools.h"
#include "ops/maintain/optimize_run.h"

#define NUMBER_COLUMN "\x01silt_partition" /* beside the partition columns: not typed by anybody */
#define ROWS_AT_ONCE  5000

/* ---- what the predicate may be ---- */

typedef struct reference_check {
    const op *o;
    const delta_metadata *m;
    silt_status status;
} reference_check;

static str partition_names(const op *o, const delta_metadata *m) {
    buf b;
    buf_init(&b, BUF_MAX_DEFAULT);
    for (size_t i = 0; i < m->n_partition_columns; i++) buf_printf(&b, "%s%.*s", i ? ", " : "", STR_ARG(m->partition_columns[i]));
    return buf_take(&b, o->a);
}

static str dotted(const op *o, name_parts name) {
    str text = name.count ? name.parts[0] : STR("*");
    for (size_t i = 1; i < name.count && !str_is_null(text); i++) text = arena_printf(o->a, "%.*s.%.*s", STR_ARG(text), STR_ARG(name.parts[i]));
    return text;
}

static bool is_partition_column(const delta_metadata *m, name_parts name) {
    for (size_t i = 0; name.count == 1 && i < m->n_partition_columns; i++)
        if (str_eq_fold(m->partition_columns[i], name.parts[0])) return true;
    return false;
}

static bool check_node(void *ctx, expr *e) {
    reference_check *c = ctx;
    bool asks = e->kind == EXPR_SUBQUERY || e->kind == EXPR_EXISTS || e->kind == EXPR_IN_SUBQUERY;
    if (asks) c->status = err_DELTA_UNSUPPORTED_SUBQUERY_IN_PARTITION_PREDICATES(c->o->err);
    if (e->kind == EXPR_COLUMN && !is_partition_column(c->m, e->name)) {
        str name = dotted(c->o, e->name), names = partition_names(c->o, c->m);
        c->status = str_is_null(name) || str_is_null(names) ? error_no_memory(c->o->err) : err_DELTA_NON_PARTITION_COLUMN_REFERENCE(c->o->err, name, names);
    }
    return c->status == SILT_OK;
}

silt_status optimize_check_where(const op *o, const delta_metadata *m, expr *where) {
    reference_check c = {o, m, SILT_OK};
    expr_walk(where, check_node, &c);
    return c.status;
}

/* ---- evaluating it ---- */

static silt_status row_of(const optimize_run *r, size_t number, expr ***out) {
    const op *o = r->o;
    size_t n = delta_snapshot_metadata(r->snapshot)->n_partition_columns;
    expr **row = ARENA_ARRAY(o->a, n + 1, expr *);
    if (!row) return error_no_memory(o->err);
    for (size_t i = 0; i < n; i++) {
        const value *v = &r->partitions[number].values[i];
        expr *literal = expr_literal(o->a, *v, (source_span){0, 0});
        if (!literal) return error_no_memory(o->err);
        TRY(ops_tree_cast(o, literal, v->type, &row[i])); /* a null has the column's type too */
    }
    row[n] = expr_literal_i64(o->a, (int64_t)number);
    *out = row;
    return row[n] ? SILT_OK : error_no_memory(o->err);
}

static silt_status rows_of(const optimize_run *r, size_t first, size_t n, relation **out) {
    const op *o = r->o;
    const delta_metadata *m = delta_snapshot_metadata(r->snapshot);
    relation *values = ARENA_NEW(o->a, relation);
    str *names = ARENA_ARRAY(o->a, m->n_partition_columns + 1, str);
    if (!values || !names) return error_no_memory(o->err);
    for (size_t i = 0; i < m->n_partition_columns; i++) names[i] = m->partition_columns[i];
    names[m->n_partition_columns] = STR(NUMBER_COLUMN);
    *values = (relation){.kind = REL_VALUES,
                         .alias = STR("silt_partitions"),
                         .column_aliases = names,
                         .n_column_aliases = m->n_partition_columns + 1,
                         .sample_percent = -1,
                         .sample_rows = -1,
                         .rows = ARENA_ARRAY(o->a, n, expr **),
                         .n_rows = n,
                         .n_row_columns = m->n_partition_columns + 1};
    if (!values->rows) return error_no_memory(o->err);
    for (size_t i = 0; i < n; i++) TRY(row_of(r, first + i, &values->rows[i]));
    *out = values;
    return SILT_OK;
}

static silt_status take_numbers(optimize_run *r, engine_result *result) {
    for (;;) {
        struct ArrowArray batch = {.release = NULL};
        TRY(engine_result_next(result, &batch, r->o->err));
        if (!batch.release) return SILT_OK;
        const int64_t *numbers = (const int64_t *)batch.children[0]->buffers[1] + batch.children[0]->offset;
        for (int64_t i = 0; i < batch.length; i++) r->partitions[numbers[i]].is_wanted = true;
        batch.release(&batch);
    }
}

static silt_status ask(optimize_run *r, size_t first, size_t n, const expr *where) {
    const op *o = r->o;
    engine_result *result;
    query *q = ARENA_NEW(o->a, query);
    expr **items = ARENA_ARRAY(o->a, 1, expr *), *number = expr_column(o->a, STR(NUMBER_COLUMN));
    expr *condition = expr_clone(where, o->a); /* a tree is bound once */
    if (!q || !items || !number || !condition) return error_no_memory(o->err);
    TRY(ops_tree_cast(o, number, &type_long, &items[0]));
    *q = (query){.where = condition, .projections = items, .n_projections = 1};
    TRY(rows_of(r, first, n, &q->from));
    TRY(query_bind(q, o->env->bind, o->a, o->err));
    TRY(expr_push_predicates(q, o->env->bind, o->a, o->err));
    TRY(engine_run(o->env->engine, q, o->env->bind, &result, o->err));
    silt_status status = take_numbers(r, result);
    engine_result_free(result);
    return status;
}

silt_status optimize_apply_where(optimize_run *r, expr *where) {
    if (!where) return SILT_OK;
    for (size_t i = 0; i < r->n_partitions; i++) r->partitions[i].is_wanted = false;
    for (size_t i = 0; i < r->n_partitions; i += ROWS_AT_ONCE) {
        size_t left = r->n_partitions - i;
        TRY(ask(r, i, left < ROWS_AT_ONCE ? left : ROWS_AT_ONCE, where));
    }
    return SILT_OK;
}

/* ---- as history shows it ---- */

static bool print(const expr *e, buf *out);

/* Texts and numbers stand bare. */
static bool print_literal(const expr *e, buf *out) {
    const value *v = &e->literal;
    if (v->is_null) {
        buf_append_z(out, "null");
        return true;
    }
    switch (v->type->id) {
        case TYPE_BOOLEAN: buf_append_z(out, v->as.boolean ? "true" : "false"); return true;
        case TYPE_BYTE:
        case TYPE_SHORT:
        case TYPE_INT:
        case TYPE_LONG: buf_append_i64(out, v->as.i64); return true;
        case TYPE_STRING: buf_append(out, v->as.bytes); return true;
        case TYPE_DECIMAL:
        case TYPE_DATE: return partition_value_write(out, v);
        default: return false;
    }
}

static bool print_list(expr *const *items, size_t n, const char *between, buf *out) {
    for (size_t i = 0; i < n; i++) {
        if (i) buf_append_z(out, between);
        if (!print(items[i], out)) return false;
    }
    return true;
}

/* Spark's unresolved trees: binary operators in parentheses, everything else as a call. */
static bool print_operator(const expr *e, const char *word, buf *out) {
    bool negated = str_eqz(e->function_name, "<>");
    buf_append_z(out, negated ? "NOT (" : "(");
    if (!print(e->args[0], out)) return false;
    buf_printf(out, " %s ", negated ? "=" : word);
    bool ok = print(e->args[1], out);
    buf_append_char(out, ')');
    return ok;
}

static bool print_call(const expr *e, buf *out) {
    static const struct {
        const char *name, *word;
    } operators[] = {{"=", "="}, {"<=>", "<=>"}, {"<>", "="}, {"<", "<"}, {"<=", "<="}, {">", ">"}, {">=", ">="}, {"and", "AND"}, {"or", "OR"}};
    if (e->over || e->is_distinct || e->filter) return false;
    for (size_t i = 0; e->n_args == 2 && i < ARRAY_LEN(operators); i++)
        if (str_eqz(e->function_name, operators[i].name)) return print_operator(e, operators[i].word, out);
    bool is_in = str_eqz(e->function_name, "in"), is_plain = true;
    if (is_in) {
        if (e->negated) buf_append_z(out, "NOT ");
        if (!print(e->args[0], out)) return false;
        buf_append_z(out, " IN (");
        bool ok = print_list(e->args + 1, e->n_args - 1, ",", out);
        buf_append_char(out, ')');
        return ok;
    }
    if (str_eqz(e->function_name, "not") && e->n_args == 1) {
        buf_append_z(out, "NOT ");
        return print(e->args[0], out);
    }
    for (size_t i = 0; i < e->function_name.len; i++) {
        char c = e->function_name.ptr[i];
        is_plain &= (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    }
    bool is_test = str_eqz(e->function_name, "isnull") || str_eqz(e->function_name, "isnotnull");
    if (!is_plain || e->negated) return false;
    buf_printf(out, "%s%.*s(", is_test ? "" : "'", STR_ARG(e->function_name));
    bool ok = print_list(e->args, e->n_args, ", ", out);
    buf_append_char(out, ')');
    return ok;
}

static bool print(const expr *e, buf *out) {
    switch (e->kind) {
        case EXPR_LITERAL: return print_literal(e, out);
        case EXPR_COLUMN:
            buf_printf(out, "'%.*s", STR_ARG(e->name.parts[0]));
            return true;
        case EXPR_CALL: return print_call(e, out);
        default: return false;
    }
}

silt_status optimize_where_text(const op *o, const expr *where, str written, str *out) {
    buf b;
    buf_init(&b, BUF_MAX_DEFAULT);
    bool known = print(where, &b);
    *out = !known ? written : buf_ok(&b) ? arena_str(o->a, buf_str(&b)) : STR_NULL;
    buf_dispose(&b);
    return str_is_null(*out) ? error_no_memory(o->err) : SILT_OK;
}
