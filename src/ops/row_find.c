/*
 * Which rows a condition means. The log is asked first: files that cannot hold such a row are never opened, and files of which every row is one (a condition on
 * partition columns, or bounds that lie within it) need no reading either. Only what is left is scanned, and only for the columns of the condition.
 */
#include "ops/row_find.h"

#include "expr/functions.h"
#include "expr/tree_tools.h"

/* ---- the target as a FROM item ---- */

static void release_source(void *source) {
    table_source *t = source;
    t->ops->release(t);
}

silt_status row_find_reference(const op *o, const dml_target *target, const uint8_t *keep, relation **out) {
    relation *r = ARENA_NEW(o->a, relation);
    table_source *source;
    if (!r) return error_no_memory(o->err);
    *r = (relation){.kind = REL_TABLE,
                    .span = target->reference->span,
                    .alias = target->reference->alias,
                    .name = target->reference->name,
                    .sample_percent = -1,
                    .sample_rows = -1,
                    .needs_row_id = true};
    TRY(keep ? delta_table_source_files(target->snapshot, keep, &source, o->err)
             : delta_table_source(target->snapshot, &source, o->err));
    if (!arena_defer(o->a, release_source, source)) {
        release_source(source);
        return error_no_memory(o->err);
    }
    r->source = source;
    *out = r;
    return SILT_OK;
}

typedef struct table_search {
    const delta_snapshot *target;
    const relation *except;
    bool found;
} table_search;

static bool is_table(void *ctx, relation *r) {
    table_search *s = ctx;
    s->found |= r != s->except && r->kind == REL_TABLE && delta_source_is_of(r->source, s->target);
    return !s->found;
}

bool row_find_reads_table(query *q, const delta_snapshot *target, const relation *except) {
    table_search s = {target, except, false};
    query_walk_relations(q, is_table, &s);
    return s.found;
}

/* ---- conditions that the log can prove for a whole file ---- */

/*
 * A predicate for pruning may say less than the condition it was made of, which is harmless for leaving files out and fatal for taking them whole. So the condition must
 * be of parts that it says exactly: comparisons of a column with a constant of its own type.
 */
static bool is_exact_type(const data_type *t, bool is_partition) {
    if (type_is_integral(t) || t->id == TYPE_DATE || t->id == TYPE_DECIMAL) return true;
    if (!is_partition) return false; /* bounds of texts and timestamps are rounded, by other writers perhaps the wrong way */
    return t->id == TYPE_BOOLEAN || (t->id == TYPE_STRING && !t->is_char) || t->id == TYPE_TIMESTAMP ||
           t->id == TYPE_TIMESTAMP_NTZ;
}

static bool is_column_of(const expr *e, const relation *table) {
    const table_source *t = table->source;
    bool is_partition = false;
    if (e->kind != EXPR_COLUMN || e->source != table || e->outer_levels != 0 || e->column >= t->schema->n_fields) return false;
    for (size_t i = 0; i < t->n_partition_columns; i++) is_partition |= t->partition_columns[i] == e->column;
    return is_exact_type(e->type, is_partition);
}

static bool is_constant_like(const expr *e, const data_type *type) {
    return e->kind == EXPR_LITERAL && !e->literal.is_null && type_equal(e->type, type);
}

static bool is_exact_test(const expr *e, const relation *table) {
    static const char *const tests[] = {"=", "<>", "<", "<=", ">", ">=", "in", "between"};
    bool known = str_eqz(e->function_name, "isnull") || str_eqz(e->function_name, "isnotnull");
    if (known) return e->n_args == 1 && is_column_of(e->args[0], table);
    for (size_t i = 0; i < ARRAY_LEN(tests); i++) known |= str_eqz(e->function_name, tests[i]);
    if (!known || e->n_args < 2 || !is_column_of(e->args[0], table)) return false;
    for (size_t i = 1; i < e->n_args; i++)
        if (!is_constant_like(e->args[i], e->args[0]->type)) return false;
    return true;
}

static bool is_exact(const expr *e, const relation *table) {
    if (e->kind == EXPR_LITERAL) return e->type->id == TYPE_BOOLEAN && !e->literal.is_null;
    if (e->kind != EXPR_CALL) return false;
    bool joins = str_eqz(e->function_name, "and") || str_eqz(e->function_name, "or") || str_eqz(e->function_name, "not");
    if (!joins) return is_exact_test(e, table);
    for (size_t i = 0; i < e->n_args; i++)
        if (!is_exact(e->args[i], table)) return false;
    return true;
}

/* ---- planning ---- */

static silt_status bind_search(row_find *f, expr *condition) {
    const op *o = f->o;
    query *q = ARENA_NEW(o->a, query);
    expr **items = ARENA_ARRAY(o->a, 2, expr *);
    if (!q || !items || !(items[0] = expr_literal_i64(o->a, 1)) || !(items[1] = expr_literal_i64(o->a, 1)))
        return error_no_memory(o->err);
    TRY(row_find_reference(o, f->target, NULL, &f->table));
    *q = (query){.from = f->table,
                 .where = condition,
                 .projections = items,
                 .n_projections = 2,
                 .ctes = f->target->ctes,
                 .n_ctes = f->target->n_ctes,
                 .recursive = f->target->recursive};
    silt_status bound = query_bind(q, o->env->bind, o->a, o->err);
    if (bound != SILT_OK && o->err &&
        strcmp(o->err->condition, "INVALID_WHERE_CONDITION") == 0) /* as Spark has it outside of queries */
        return err_UNSUPPORTED_EXPR_FOR_OPERATOR(o->err, "aggregate, window and generator functions", "the condition");
    TRY(bound);
    size_t n = f->table->source->schema->n_fields;
    for (size_t i = 0; i < 2; i++) { /* by number: the table may have a column of such a name */
        TRY(ops_rows_column(o, f->table, n + 1 + i, &q->projections[i]));
        q->column_names[i] = i ? STR("row") : STR("file");
        q->column_types[i] = &type_long;
        q->column_nullable[i] = false;
    }
    f->query = q;
    f->reads_target_too = row_find_reads_table(q, f->target->snapshot, f->table);
    return expr_push_predicates(q, o->env->bind, o->a, o->err);
}

static silt_status ask_log(row_find *f) {
    const op *o = f->o;
    TRY(delta_files_matching(f->table->source, f->table->where, o->a, &f->candidates, &f->whole, o->err));
    bool exact = !f->query->where || is_exact(f->query->where, f->table);
    for (size_t i = 0; i < f->n_files; i++) {
        f->whole[i] = f->candidates[i] && exact && (!f->query->where || f->whole[i]);
        f->n_candidates += f->candidates[i];
        f->n_whole += f->whole[i];
    }
    return SILT_OK;
}

static void free_rows(void *rows) { row_set_free(rows); }

silt_status row_find_clear(row_find *f) {
    f->rows = row_set_new(f->n_files);
    if (!f->rows) return error_no_memory(f->o->err);
    if (arena_defer(f->o->a, free_rows, f->rows)) return SILT_OK;
    row_set_free(f->rows);
    return error_no_memory(f->o->err);
}

silt_status row_find_plan(const op *o, const dml_target *target, expr *condition, row_find *out) {
    *out = (row_find){.o = o, .target = target, .n_files = delta_snapshot_n_files(target->snapshot)};
    TRY(row_find_clear(out));
    TRY(bind_search(out, condition));
    return ask_log(out);
}

/* ---- reading ---- */

static silt_status take_rows(row_find *f, const struct ArrowArray *batch) {
    const struct ArrowArray *file = batch->children[0], *row = batch->children[1];
    const int64_t *files = (const int64_t *)file->buffers[1] + file->offset,
                  *rows = (const int64_t *)row->buffers[1] + row->offset;
    for (int64_t i = 0; i < batch->length; i++)
        if (!row_set_add(f->rows, (size_t)files[i], (uint64_t)rows[i], NULL)) return error_no_memory(f->o->err);
    return SILT_OK;
}

static silt_status read_all(row_find *f, engine_result *result) {
    for (;;) {
        struct ArrowArray batch = {.release = NULL};
        TRY(engine_result_next(result, &batch, f->o->err));
        if (!batch.release) return SILT_OK;
        silt_status status = take_rows(f, &batch);
        batch.release(&batch);
        TRY(status);
    }
}

silt_status row_find_run(row_find *f) {
    const op *o = f->o;
    engine_result *result;
    table_source *rest;
    if (f->n_candidates == f->n_whole) return SILT_OK;
    uint8_t *keep = ARENA_ARRAY(o->a, f->n_files + 1, uint8_t);
    if (!keep) return error_no_memory(o->err);
    for (size_t i = 0; i < f->n_files; i++) keep[i] = f->candidates[i] && !f->whole[i];
    TRY(delta_table_source_files(f->target->snapshot, keep, &rest, o->err));
    if (!arena_defer(o->a, release_source, rest)) {
        release_source(rest);
        return error_no_memory(o->err);
    }
    f->table->source = rest; /* the same table, less what is decided */
    if (o->env->progress) o->env->progress(o->env->progress_ctx, "finding rows", -1);
    TRY(engine_run(o->env->engine, f->query, o->env->bind, &result, o->err));
    silt_status status = read_all(f, result);
    engine_result_free(result);
    return status;
}

/* ---- the same condition once more ---- */

static bool is_repeatable(void *ctx, expr *e) {
    bool *same = ctx;
    bool asks = e->kind == EXPR_SUBQUERY || e->kind == EXPR_EXISTS || e->kind == EXPR_IN_SUBQUERY || e->over;
    if (asks || (e->function && (e->function->flags & (FN_VOLATILE | FN_RAISES)))) *same = false;
    return *same;
}

/** Moves the columns of a bound tree to another relation of the same columns. */
typedef struct rehome {
    const relation *from;
    relation *to;
} rehome;

static bool move_column(void *ctx, expr *e) {
    const rehome *m = ctx;
    if (e->kind == EXPR_COLUMN && e->source == m->from) e->source = m->to;
    return true;
}

/* The condition over another relation of the same columns; NULL without memory. */
static expr *condition_over(const row_find *f, relation *rows) {
    expr *again = expr_clone(f->query->where, f->o->a);
    rehome m = {f->table, rows};
    if (again) expr_walk(again, move_column, &m);
    return again;
}

static bool is_same_over(const row_find *f, const relation *rows) {
    bool same = f->query->where != NULL && rows->source->schema == f->table->source->schema;
    if (same) expr_walk(f->query->where, is_repeatable, &same);
    return same;
}

silt_status row_find_narrow(const row_find *f, relation *rows, expr *gone, expr **out) {
    const op *o = f->o;
    *out = gone;
    if (!is_same_over(f, rows)) return SILT_OK;
    expr *again = condition_over(f, rows);
    if (!again) return error_no_memory(o->err);
    TRY(ops_tree_call(o, "and", again, gone, out));
    (*out)->type = &type_boolean;
    (*out)->nullable = again->nullable;
    return SILT_OK;
}

/* ---- a condition that is tested while whole rows are read ---- */

/* A column of the data files that DuckDB's Parquet reader filters by. Of floats it does not: their bounds are not trusted (scan.c). */
static bool is_filtered_column(const expr *e, const relation *table) {
    const table_source *t = table->source;
    if (e->kind != EXPR_COLUMN || e->source != table || e->outer_levels != 0 || e->column >= t->schema->n_fields) return false;
    for (size_t i = 0; i < t->n_partition_columns; i++)
        if (t->partition_columns[i] == e->column) return false;
    return type_is_integral(e->type) || e->type->id == TYPE_DATE || e->type->id == TYPE_DECIMAL || e->type->id == TYPE_TIMESTAMP || e->type->id == TYPE_TIMESTAMP_NTZ ||
           (e->type->id == TYPE_STRING && !e->type->is_char);
}

static bool is_remainder(const expr *e, const relation *table) {
    return e->kind == EXPR_CALL && str_eqz(e->function_name, "%") && e->n_args == 2 && type_is_integral(e->type) && is_filtered_column(e->args[0], table) &&
           is_constant_like(e->args[1], e->args[0]->type) && e->args[1]->literal.as.i64 != 0;
}

static bool is_early_test(const expr *e, const relation *table) {
    static const char *const tests[] = {"=", "<", "<=", ">", ">=", "between"};
    bool known = false;
    if (e->kind != EXPR_CALL) return false;
    if (str_eqz(e->function_name, "and")) return is_early_test(e->args[0], table) || is_early_test(e->args[1], table);
    for (size_t i = 0; i < ARRAY_LEN(tests); i++) known |= str_eqz(e->function_name, tests[i]);
    if (!known || e->n_args < 2 || !(is_filtered_column(e->args[0], table) || is_remainder(e->args[0], table))) return false;
    for (size_t i = 1; i < e->n_args; i++)
        if (!is_constant_like(e->args[i], e->args[0]->type)) return false;
    return true;
}

bool row_find_is_early(const row_find *f, const relation *rows) { return is_same_over(f, rows) && is_early_test(f->query->where, f->table); }

silt_status row_find_condition(const row_find *f, relation *rows, expr **out) {
    *out = condition_over(f, rows);
    return *out ? SILT_OK : error_no_memory(f->o->err);
}

silt_status row_find_note_reads(const row_find *f, delta_txn *txn) {
    const op *o = f->o;
    const predicate *where = f->table->where;
    if (f->reads_target_too || !where || where->kind == PRED_UNKNOWN || where->kind == PRED_TRUE) {
        delta_txn_read_whole_table(txn);
        return SILT_OK;
    }
    TRY(delta_txn_read_predicate(txn, where, o->err));
    for (size_t i = 0; i < f->n_files; i++) {
        delta_add add;
        if (!f->candidates[i]) continue;
        TRY(delta_snapshot_file(f->target->snapshot, i, false, o->a, &add, o->err));
        TRY(delta_txn_read_file(txn, add.path, o->err));
    }
    return SILT_OK;
}

/* ---- EXPLAIN ---- */

silt_status row_find_explain(const row_find *f, const char *what, const char *way, bool extended, buf *out) {
    size_t scanned = f->n_candidates - f->n_whole;
    bool deletes = str_eqz(str_of(what), "Delete");
    buf_printf(out, "%s %s `%.*s`\n", what, deletes ? "from" : "rows of", STR_ARG(f->target->table_name));
    buf_printf(out, "  files: %zu of %zu may hold such rows\n", f->n_candidates, f->n_files);
    if (f->n_candidates == 0) buf_append_z(out, "  way: nothing to do, by the log alone\n");
    if (f->n_whole > 0)
        buf_printf(out, "  way: %zu file%s as a whole, %s\n", f->n_whole, f->n_whole == 1 ? "" : "s",
                   deletes ? "by the log alone" : "rewritten without a search");
    if (scanned > 0)
        buf_printf(out, "  way: %zu file%s scanned for rows; files with some: %s\n", scanned, scanned == 1 ? "" : "s", way);
    if (scanned == 0) return buf_ok(out) ? SILT_OK : error_no_memory(f->o->err);
    return engine_explain(f->o->env->engine, f->query, f->o->env->bind, extended, out, f->o->err);
}
