/*
 * Queries over the rows of a bound query. The tree is put together bound: binding the source a second time would not be the same query (its stars, aliases and
 * subqueries are resolved already), and its columns may share names.
 */
#include "ops/internal.h"

#define ROWS_PREFIX   "\x01" /* not typed by anybody: a control character, which messages leave out */
#define NAMED_COLUMNS 256
#define ROWS_FIRST_ID 2000000u /* above what a statement's own relations get, and what is bound alone */
#define ROWS_ID_STEP  1000u    /* expr_bind numbers what it finds in an expression from its relation's number on */

static uint32_t take_id(const op *o) { return ROWS_FIRST_ID + ROWS_ID_STEP * arena_number(o->a); }

/* The query's own name where no column before has it, so that an error about a value names the column that the user knows. Very wide rows have numbers: nothing here may cost the
 * square of their width. */
static silt_status row_name(const op *o, const query *q, const str *before, size_t i, str *out) {
    str name = q->column_names[i];
    while (str_starts_with(name, STR(ROWS_PREFIX))) name = str_slice(name, 1, name.len);
    bool taken = name.len == 0 || q->n_columns > NAMED_COLUMNS;
    *out = arena_printf(o->a, ROWS_PREFIX "%.*s", STR_ARG(name));
    for (size_t k = 0; k < i && !taken; k++) taken = str_eq_fold(before[k], *out);
    if (taken) *out = arena_printf(o->a, ROWS_PREFIX ROWS_PREFIX "%zu", i);
    return str_is_null(*out) ? error_no_memory(o->err) : SILT_OK;
}

static silt_status row_names(const op *o, const query *q, const str **out) {
    str *names = ARENA_ARRAY(o->a, q->n_columns + 1, str);
    if (!names) return error_no_memory(o->err);
    for (size_t i = 0; i < q->n_columns; i++) TRY(row_name(o, q, names, i, &names[i]));
    *out = names;
    return SILT_OK;
}

silt_status ops_rows_over(const op *o, query *q, const str *names, relation **out) {
    if (!names) TRY(row_names(o, q, &names));
    relation *r = ARENA_NEW(o->a, relation);
    if (!r) return error_no_memory(o->err);
    r->kind = REL_SUBQUERY;
    r->subquery = q;
    r->sample_percent = -1;
    r->sample_rows = -1;
    r->id = take_id(o);
    r->n_columns = q->n_columns;
    r->columns = ARENA_ARRAY(o->a, q->n_columns + 1, relation_column);
    if (!r->columns) return error_no_memory(o->err);
    for (size_t i = 0; i < q->n_columns; i++)
        r->columns[i] = (relation_column){.name = names[i], .type = q->column_types[i], .nullable = q->column_nullable[i]};
    *out = r;
    return SILT_OK;
}

silt_status ops_rows_of_source(const op *o, table_source *source, bool row_ids, str alias, relation **out) {
    relation *r = ARENA_NEW(o->a, relation);
    if (!r) return error_no_memory(o->err);
    *r = (relation){.kind = REL_TABLE,
                    .alias = alias,
                    .sample_percent = -1,
                    .sample_rows = -1,
                    .source = source,
                    .id = take_id(o),
                    .needs_row_id = row_ids};
    TRY(relation_bind_columns(r, o->a, o->err));
    *out = r;
    return SILT_OK;
}

silt_status ops_rows_column(const op *o, relation *rows, size_t i, expr **out) {
    TRY(ops_rows_name(o, rows, i, out));
    (*out)->source = rows;
    (*out)->column = (uint32_t)i;
    (*out)->type = rows->columns[i].type;
    (*out)->nullable = rows->columns[i].nullable;
    return SILT_OK;
}

silt_status ops_rows_name(const op *o, const relation *rows, size_t i, expr **out) {
    *out = expr_column(o->a, rows->columns[i].name);
    return *out ? SILT_OK : error_no_memory(o->err);
}

/** Moves the columns of a bound tree from one relation to another. */
typedef struct rehome {
    const relation *from;
    relation *to;
    const size_t *columns; /**< of `to`, one per column of `from` */
} rehome;

static bool move_column(void *ctx, expr *e) {
    const rehome *m = ctx;
    if (e->kind == EXPR_COLUMN && e->source == m->from) {
        e->source = m->to;
        e->column = (uint32_t)m->columns[e->column];
    }
    return true;
}

/* A scope costs as much as the relation has columns: binding one expression per column of a wide table over all of them would be quadratic. */
silt_status ops_rows_bind(const op *o, relation *rows, const size_t *columns, size_t n, expr *e, expr **out) {
    relation narrow = *rows;
    narrow.n_columns = n;
    narrow.columns = ARENA_ARRAY(o->a, n + 1, relation_column);
    if (!narrow.columns) return error_no_memory(o->err);
    for (size_t i = 0; i < n; i++) narrow.columns[i] = rows->columns[columns[i]];
    TRY(expr_bind(e, &narrow, o->env->bind, o->a, out, o->err));
    rehome m = {&narrow, rows, columns};
    expr_walk(*out, move_column, &m);
    return SILT_OK;
}

static silt_status take_output(const op *o, query *q, expr **items, const data_type *schema) {
    size_t n = schema->n_fields;
    q->column_names = ARENA_ARRAY(o->a, n + 1, str);
    q->column_types = ARENA_ARRAY(o->a, n + 1, const data_type *);
    q->column_nullable = ARENA_ARRAY(o->a, n + 1, bool);
    if (!q->column_names || !q->column_types || !q->column_nullable) return error_no_memory(o->err);
    for (size_t i = 0; i < n; i++) {
        q->column_names[i] = schema->fields[i].name;
        q->column_types[i] = items[i]->type;
        q->column_nullable[i] = items[i]->nullable;
    }
    q->n_columns = n;
    return SILT_OK;
}

silt_status ops_rows_select(const op *o, relation *rows, expr **items, const data_type *schema, query **out) {
    query *q = ARENA_NEW(o->a, query);
    if (!q) return error_no_memory(o->err);
    q->from = rows;
    q->projections = items;
    q->n_projections = schema->n_fields;
    q->id = take_id(o);
    TRY(take_output(o, q, items, schema));
    *out = q;
    return SILT_OK;
}
