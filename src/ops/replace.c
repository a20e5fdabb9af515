/*
 * INSERT … REPLACE WHERE / ON / USING and the writer's options of the same names: a DELETE and an append that are one commit. Rows outside of a WHERE are refused, so that what
 * was replaced can be replaced again by the same condition.
 */
#include "ops/replace.h"

#include "expr/tree_tools.h"
#include "ops/dml_common.h"

#define SOURCE_ALIAS "s"

bool replace_is_asked(const insert_spec *spec, const write_options *options) {
    return spec->replace.kind != REPLACE_NOTHING ||
           (spec->overwrite && !str_is_null(options->replace_where)); /* an append lets the option be, as Spark does */
}

/* ---- the condition ---- */

static silt_status check_options(const replace_run *r) {
    const write_options *w = r->options;
    const insert_spec *spec = r->spec;
    if (spec->replace.kind != REPLACE_NOTHING && !str_is_null(w->replace_where))
        return err_DELTA_OVERWRITE_BY_FILTER_INCOMPATIBLE_REPLACE_ON_OR_USING(r->o->err);
    bool partitioned = delta_snapshot_metadata(spec->snapshot)->n_partition_columns > 0;
    return partitioned && w->dynamic_overwrite && w->dynamic_known
               ? err_DELTA_REPLACE_WHERE_WITH_DYNAMIC_PARTITION_OVERWRITE(r->o->err)
               : SILT_OK;
}

static silt_status where_condition(replace_run *r, expr **out) {
    const op *o = r->o;
    *out = r->spec->replace.condition;
    if (*out) {
        r->predicate = ops_condition_text(o, *out);
    } else {
        r->predicate = r->options->replace_where;
        TRY(expr_parse(r->predicate, o->a, out, o->err));
    }
    if (ops_tree_has_subquery(*out))
        return err_UNSUPPORTED_FEATURE(o->err,
                                       "subqueries in REPLACE WHERE (UNSUPPORTED_FEATURE.OVERWRITE_BY_SUBQUERY in Spark)");
    r->check = expr_clone(*out, o->a);
    return r->check && !str_is_null(r->predicate) ? SILT_OK : error_no_memory(o->err);
}

/* ---- ON and USING: conditions over a row of the table and one of the query ---- */

static void release_source(void *source) {
    table_source *t = source;
    t->ops->release(t);
}

static silt_status set_aside(const op *o, query *q, table_source **out) {
    TRY(expr_push_predicates(q, o->env->bind, o->a, o->err));
    TRY(engine_materialize(o->env->engine, q, o->env->bind, out, o->err));
    if (arena_defer(o->a, release_source, *out)) return SILT_OK;
    release_source(*out);
    return error_no_memory(o->err);
}

static silt_status select_all(const op *o, table_source *source, const data_type *schema, query **out) {
    relation *rows;
    expr **items = ARENA_ARRAY(o->a, schema->n_fields + 1, expr *);
    if (!items) return error_no_memory(o->err);
    TRY(ops_rows_of_source(o, source, false, STR_NULL, &rows));
    for (size_t i = 0; i < schema->n_fields; i++) TRY(ops_rows_column(o, rows, i, &items[i]));
    return ops_rows_select(o, rows, items, schema, out);
}

static silt_status qualified(const op *o, str table, str column, expr **out) {
    str *parts = ARENA_ARRAY(o->a, 2, str);
    *out = expr_column(o->a, column);
    if (!parts || !*out) return error_no_memory(o->err);
    parts[0] = table;
    parts[1] = column;
    (*out)->name = (name_parts){parts, 2};
    return SILT_OK;
}

/* The query's column for a USING column: of that name, else in its place. */
static silt_status source_column(const replace_run *r, size_t column, str name, str *out) {
    const data_type *s = r->source->schema;
    int at = schema_find(s, name);
    if (at < 0 && !r->spec->by_name && !r->spec->is_data_frame && column < s->n_fields) at = (int)column;
    if (at < 0) return err_UNRESOLVED_INSERT_REPLACE_USING_COLUMN(r->o->err, name, "the query");
    *out = s->fields[at].name;
    return SILT_OK;
}

static silt_status using_condition(const replace_run *r, str target, str source, expr **out) {
    const op *o = r->o;
    const data_type *schema = delta_snapshot_metadata(r->spec->snapshot)->schema;
    *out = NULL;
    for (size_t i = 0; i < r->spec->replace.n_columns; i++) {
        str name = r->spec->replace.columns[i], other;
        int at = schema_find(schema, name);
        expr *ours, *theirs, *equal;
        if (at < 0) return err_UNRESOLVED_INSERT_REPLACE_USING_COLUMN(o->err, name, "the table");
        TRY(source_column(r, (size_t)at, name, &other));
        TRY(qualified(o, target, schema->fields[at].name, &ours));
        TRY(qualified(o, source, other, &theirs));
        TRY(ops_tree_call(o, "=", ours, theirs, &equal)); /* NULL replaces nothing */
        if (*out) TRY(ops_tree_call(o, "and", *out, equal, &equal));
        *out = equal;
    }
    return SILT_OK;
}

/** Looking for names that mean a column of the table as well as one of the query. */
typedef struct name_search {
    const data_type *table, *source;
    str found;
} name_search;

static bool names_both(void *ctx, expr *e) {
    name_search *s = ctx;
    bool plain = e->kind == EXPR_COLUMN && e->name.count == 1;
    if (plain && schema_find(s->table, e->name.parts[0]) >= 0 && schema_find(s->source, e->name.parts[0]) >= 0)
        s->found = e->name.parts[0];
    return str_is_null(s->found);
}

static silt_status check_names(const replace_run *r) {
    name_search s = {delta_snapshot_metadata(r->spec->snapshot)->schema, r->source->schema, STR_NULL};
    expr_walk(r->spec->replace.condition, names_both, &s);
    return str_is_null(s.found) ? SILT_OK : err_DELTA_INSERT_REPLACE_ON_AMBIGUOUS_COLUMNS_IN_CONDITION(r->o->err, s.found);
}

/* EXISTS (SELECT 1 FROM the rows set aside WHERE condition) */
static silt_status exists_match(replace_run *r, expr **out) {
    const op *o = r->o;
    const replace_clause *c = &r->spec->replace;
    relation *rows = ARENA_NEW(o->a, relation);
    query *q = ARENA_NEW(o->a, query);
    expr **one = ARENA_ARRAY(o->a, 1, expr *), *e = expr_new(o->a, EXPR_EXISTS, (source_span){0, 0}), *condition = c->condition;
    if (!rows || !q || !one || !e || !(one[0] = expr_literal_i64(o->a, 1))) return error_no_memory(o->err);
    str alias = str_is_null(c->source_alias) ? STR(SOURCE_ALIAS) : c->source_alias;
    if (c->kind == REPLACE_BY_COLUMNS) {
        alias = STR("\x01source"); /* not typed by anybody */
        TRY(using_condition(r, r->target.reference->alias, alias, &condition));
    }
    *rows = (relation){.kind = REL_TABLE, .alias = alias, .source = r->source, .sample_percent = -1, .sample_rows = -1};
    *q = (query){.from = rows, .where = condition, .projections = one, .n_projections = 1};
    e->subquery = q;
    *out = e;
    return SILT_OK;
}

static silt_status match_condition(replace_run *r, query **source, expr **out) {
    const op *o = r->o;
    TRY(set_aside(o, *source, &r->source));
    TRY(select_all(o, r->source, r->source->schema, source));
    if (r->spec->replace.kind == REPLACE_BY_CONDITION) TRY(check_names(r));
    return exists_match(r, out);
}

/* ---- beginning ---- */

/* The table as conditions name it; USING needs a name that no column is called by. */
static silt_status name_target(replace_run *r) {
    const op *o = r->o;
    const insert_spec *spec = r->spec;
    relation *reference = ARENA_NEW(o->a, relation);
    str *name = ARENA_NEW(o->a, str);
    if (!reference || !name) return error_no_memory(o->err);
    *name = spec->table_name;
    if (spec->replace.reference)
        *reference = *spec->replace.reference;
    else
        reference->name = (name_parts){name, 1};
    if (!str_is_null(spec->replace.target_alias)) reference->alias = spec->replace.target_alias;
    if (spec->replace.kind == REPLACE_BY_COLUMNS) reference->alias = STR("\x01target");
    r->target =
        (dml_target){.table_name = spec->table_name, .root = spec->root, .snapshot = spec->snapshot, .reference = reference};
    return SILT_OK;
}

/* (a,b) */
static silt_status join_columns(replace_run *r) {
    buf b;
    buf_init(&b, BUF_MAX_DEFAULT);
    for (size_t i = 0; i < r->spec->replace.n_columns; i++) {
        buf_append_char(&b, i ? ',' : '(');
        buf_append(&b, r->spec->replace.columns[i]);
    }
    buf_append_char(&b, ')');
    r->using_text = buf_take(&b, r->o->a);
    return str_is_null(r->using_text) ? error_no_memory(r->o->err) : SILT_OK;
}

/* REPLACE WHERE TRUE is an overwrite of everything to Spark, which no row can miss. */
static silt_status find_everything(replace_run *r) {
    const op *o = r->o;
    value v;
    if (r->spec->replace.kind != REPLACE_BY_WHERE) return SILT_OK;
    expr *condition = expr_clone(r->find.query->where, o->a);
    if (!condition) return error_no_memory(o->err);
    r->everything = expr_fold(condition, o->env->bind, o->a, &v, NULL) == SILT_OK && !v.is_null && v.as.boolean;
    return SILT_OK;
}

/* The row breaks a rule of the table, and the message of Spark is that of a row outside of the condition: which rule it is, is its cause. */
silt_status replace_told(const op *o, str condition, silt_status status) {
    static const char *const rules[] = {"DELTA_VIOLATE_CONSTRAINT_WITH_VALUES", "DELTA_NOT_NULL_CONSTRAINT_VIOLATED", "DELTA_EXCEED_CHAR_VARCHAR_LIMIT"};
    if (status != SILT_CONSTRAINT || !o->err) return status;
    const silt_error rule = *o->err;
    for (size_t i = 0; i < ARRAY_LEN(rules); i++) {
        if (strcmp(rule.condition, rules[i]) != 0) continue;
        status = err_DELTA_REPLACE_WHERE_MISMATCH(o->err, condition);
        error_detail(o->err, "[%s] %s", rule.condition, rule.message);
        error_hint(o->err, "Correct the rows; nothing was committed.");
    }
    return status;
}

silt_status replace_begin(replace_run *r, query **source) {
    expr *condition;
    TRY(check_options(r));
    TRY(name_target(r));
    TRY(ops_check_not_append_only(r->o, &r->target));
    replace_clause_kind kind = r->spec->replace.kind;
    if (kind == REPLACE_BY_CONDITION) r->on_text = r->spec->replace.text;
    if (kind == REPLACE_BY_COLUMNS) TRY(join_columns(r));
    if (kind == REPLACE_BY_CONDITION || kind == REPLACE_BY_COLUMNS)
        TRY(match_condition(r, source, &condition));
    else
        TRY(where_condition(r, &condition));
    TRY(row_find_plan(r->o, &r->target, condition, &r->find));
    return find_everything(r);
}

/* ---- rows ---- */

/* Every new row must be one that the condition means: CASE WHEN NOT (condition is TRUE) THEN raise ELSE column END around the first column. */
static silt_status check_rows(const replace_run *r, const data_type *schema, query *q, query **out) {
    const op *o = r->o;
    relation *rows;
    silt_error mismatch;
    str *names = ARENA_ARRAY(o->a, schema->n_fields + 1, str);
    size_t *all = ARENA_ARRAY(o->a, schema->n_fields + 1, size_t);
    expr **items = ARENA_ARRAY(o->a, schema->n_fields + 1, expr *), *raise, *holds, *first, *choice;
    if (!names || !all || !items) return error_no_memory(o->err);
    for (size_t i = 0; i < schema->n_fields; i++) names[i] = schema->fields[i].name, all[i] = i;
    TRY(ops_rows_over(o, q, names, &rows));
    rows->alias = r->target.reference->alias.ptr ? r->target.reference->alias
                                                 : r->target.reference->name.parts[r->target.reference->name.count - 1];
    for (size_t i = 0; i < schema->n_fields; i++) TRY(ops_rows_column(o, rows, i, &items[i]));
    (void)err_DELTA_REPLACE_WHERE_MISMATCH(&mismatch, r->predicate);
    TRY(ops_tree_raise(o, &mismatch, &raise));
    TRY(ops_tree_is_true(o, r->check, &holds));
    TRY(ops_tree_call(o, "not", holds, NULL, &holds));
    TRY(ops_rows_name(o, rows, 0, &first));
    TRY(ops_tree_case(o, 1, first, &choice));
    choice->args[0] = holds;
    choice->args[1] = raise;
    TRY(ops_rows_bind(o, rows, all, schema->n_fields, choice, &items[0]));
    return ops_rows_select(o, rows, items, schema, out);
}

/* Inserted rows get fresh ids: NULL behind the table's columns. */
static silt_status add_row_ids(row_change *c, query *q, query **out) {
    const op *o = c->o;
    size_t n = c->target.schema->n_fields;
    relation *rows;
    expr **items = ARENA_ARRAY(o->a, n + 3, expr *);
    *out = q;
    if (!c->has_row_ids) return SILT_OK;
    if (!items) return error_no_memory(o->err);
    TRY(ops_rows_over(o, q, NULL, &rows));
    for (size_t i = 0; i < n; i++) TRY(ops_rows_column(o, rows, i, &items[i]));
    for (size_t i = n; i < n + 2; i++) {
        items[i] = expr_literal(o->a, (value){.type = &type_long, .is_null = true}, (source_span){0, 0});
        if (!items[i]) return error_no_memory(o->err);
        items[i]->type = &type_long;
        items[i]->nullable = true;
    }
    return ops_rows_select(o, rows, items, c->row_schema, out);
}

/* ---- the change feed ---- */

static silt_status deleted_rows(replace_run *r, query **out) {
    row_change *c = &r->change;
    const op *o = r->o;
    relation *rows;
    expr *gone;
    query *found = NULL, *whole = NULL;
    uint8_t *partly = ARENA_ARRAY(o->a, r->find.n_files + 1, uint8_t);
    if (!partly) return error_no_memory(o->err);
    for (size_t i = 0; i < r->find.n_files; i++) partly[i] = c->touched[i] && !r->find.whole[i];
    TRY(row_change_rows(c, partly, STR_NULL, &rows));
    TRY(row_change_is_gone(c, rows, &gone));
    TRY(row_find_narrow(&r->find, rows, gone, &gone));
    TRY(row_change_select_changes(c, rows, gone, "delete", &found));
    if (r->find.n_whole > 0) {
        TRY(row_change_rows(c, r->find.whole, STR_NULL, &rows));
        TRY(row_change_select_changes(c, rows, NULL, "delete", &whole));
    }
    return row_change_union(o, found, whole, out);
}

/* With change files for what leaves there must be some for what comes, and both reads of the new rows must see the same. */
static silt_status changes(replace_run *r, query **new_rows) {
    row_change *c = &r->change;
    const op *o = r->o;
    table_source *fresh;
    relation *rows;
    query *deleted, *inserted;
    TRY(set_aside(o, *new_rows, &fresh));
    TRY(select_all(o, fresh, c->target.schema, new_rows));
    TRY(deleted_rows(r, &deleted));
    TRY(ops_rows_of_source(o, fresh, false, STR_NULL, &rows));
    TRY(row_change_select_changes(c, rows, NULL, "insert", &inserted));
    return row_change_union(o, deleted, inserted, &c->changes);
}

/* ---- applying ---- */

silt_status replace_apply(replace_run *r, const write_target *t, delta_txn *txn, query *rows) {
    row_change *c = &r->change;
    const op *o = r->o;
    TRY(row_find_run(&r->find));
    *c = (row_change){.o = o,
                      .table_name = r->spec->table_name,
                      .root = r->spec->root,
                      .snapshot = r->spec->snapshot,
                      .txn = txn,
                      .target = *t,
                      .options = *r->options,
                      .gone = r->find.rows,
                      .whole_files = r->find.whole,
                      .use_dv = row_change_uses_dv(o, t, "delete")};
    TRY(row_change_plan(c));
    if (r->check) TRY(check_rows(r, t->schema, rows, &rows));
    if (c->needs_changes) TRY(changes(r, &rows));
    TRY(add_row_ids(c, rows, &c->new_rows));
    TRY(row_find_note_reads(&r->find, txn));
    TRY(row_change_apply(c));
    r->changed = c->counts.files_touched > 0 || c->counts.files_added > 0;
    return SILT_OK;
}

str replace_metrics(const replace_run *r) {
    const row_change_counts *n = &r->change.counts;
    json_object j;
    bool wrote = n->files_added > 0; /* Spark counts rows where it wrote some */
    ops_json_object_begin(&j);
    ops_json_object_count(&j, "numFiles", n->files_added);
    ops_json_object_count(&j, "numRemovedFiles", n->files_removed);
    ops_json_object_count(&j, "numRemovedBytes", n->bytes_removed);
    if (wrote && n->rows_gone_known) ops_json_object_count(&j, "numCopiedRows", n->rows_copied);
    ops_json_object_count(&j, "numAddedChangeFiles", n->change_files);
    if (wrote && n->rows_gone_known) ops_json_object_count(&j, "numDeletedRows", n->rows_gone);
    if (wrote) ops_json_object_count(&j, "numOutputRows", n->rows_written);
    ops_json_object_count(&j, "numOutputBytes", n->bytes_added);
    return ops_json_object_end(&j, r->o->a);
}

void replace_discard(replace_run *r) {
    if (r->change.o) row_change_discard(&r->change);
}

void replace_end(replace_run *r) {
    if (r->change.o) row_change_end(&r->change);
}
