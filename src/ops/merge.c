/*
 * MERGE INTO. The changes are found once and set aside (merge_plan.c); their places fill the row sets by which the files are rewritten or get deletion vectors, their values
 * become the new rows. A merge of NOT MATCHED clauses alone sets nothing aside: its query's rows are appended as they come. Of changes
 * whose new rows are rows of the source only the places are set aside (merge_reread.c).
 *
 * Ambiguity, as Delta has it: two rows of the source that match one row of the target by ON are an error, whatever the clauses say of them, unless there is no MATCHED and no
 * NOT MATCHED BY SOURCE clause, or the only MATCHED clause is an unconditional DELETE.
 */
#include "base/time.h"
#include "ops/commit.h"
#include "ops/dml_common.h"
#include "ops/merge_run.h"

/* ---- setting aside ---- */

static void release_source(void *source) {
    table_source *t = source;
    t->ops->release(t);
}

silt_status merge_set_aside(const op *o, query *q, table_source **out) {
    TRY(expr_push_predicates(q, o->env->bind, o->a, o->err));
    TRY(engine_materialize(o->env->engine, q, o->env->bind, out, o->err));
    if (arena_defer(o->a, release_source, *out)) return SILT_OK;
    release_source(*out);
    return error_no_memory(o->err);
}

/* ---- the sides ---- */

static silt_status open_target(merge_run *m) {
    const op *o = m->o;
    const dml_target *t = &m->spec->target;
    table_source *source;
    relation *all;
    TRY(delta_table_source(t->snapshot, &source, o->err));
    if (!arena_defer(o->a, release_source, source)) {
        release_source(source);
        return error_no_memory(o->err);
    }
    TRY(ops_rows_of_source(o, source, false, t->reference->alias, &all));
    m->target.scope = *all;
    m->target.scope.name = t->reference->name;
    m->target.scope.n_columns = source->schema->n_fields; /* _metadata is not seen, as in Delta */
    m->n_files = delta_snapshot_n_files(t->snapshot);
    return SILT_OK;
}

static silt_status open_source(merge_run *m) {
    const op *o = m->o;
    query *q = m->spec->source;
    const relation *written = m->spec->source_reference;
    TRY(ops_rows_over(o, q, q->column_names, &m->source.rows));
    m->source.scope = *m->source.rows;
    m->source.scope.alias = written->alias;
    m->source.scope.name = written->name;
    if (q->from && q->from->kind == REL_TABLE) { /* then catalog and database qualify its columns too */
        m->source.scope.kind = REL_TABLE;
        m->source.scope.source = q->from->source;
    }
    m->both = (relation){.kind = REL_JOIN, .join = JOIN_CROSS, .left = &m->target.scope, .right = &m->source.scope, .sample_percent = -1, .sample_rows = -1, .id = m->source.rows->id};
    m->reads_target_too = row_find_reads_table(q, m->spec->target.snapshot, NULL);
    return SILT_OK;
}

/* A Delta table by its name gives the same rows as often as it is read. */
static bool is_steady(const query *q) {
    const relation *r = q->from;
    return r && r->kind == REL_TABLE && r->source && str_eqz(r->source->format, "delta") && q->n_ctes == 0 && r->sample_percent < 0 && r->sample_rows < 0;
}

typedef struct use_check {
    const merge_run *m;
    bool *used;
} use_check;

static bool note_use(void *ctx, expr *e) {
    use_check *u = ctx;
    if (e->kind == EXPR_COLUMN && e->source == &u->m->source.scope) u->used[e->column] = true;
    return true;
}

static silt_status used_columns(merge_run *m, bool **out) {
    use_check u = {m, ARENA_ARRAY(m->o->a, m->source.scope.n_columns + 1, bool)};
    if (!u.used) return error_no_memory(m->o->err);
    expr_walk(m->on, note_use, &u);
    for (size_t i = 0; i < m->spec->n_clauses; i++) {
        const bound_clause *c = &m->clauses[i];
        if (c->condition) expr_walk(c->condition, note_use, &u);
        for (size_t k = 0; k < c->n_items; k++)
            if (c->items[k].value) expr_walk(c->items[k].value, note_use, &u);
    }
    *out = u.used;
    return SILT_OK;
}

/* Columns that nobody names keep their number, but not their values. */
static silt_status set_source_aside(merge_run *m) {
    const op *o = m->o;
    size_t n = m->source.scope.n_columns, total = n + (merge_numbers_source(m) ? 1 : 0);
    bool *used;
    query *q;
    expr **items = ARENA_ARRAY(o->a, n + 2, expr *);
    field *fields = ARENA_ARRAY(o->a, n + 2, field);
    if (!items || !fields) return error_no_memory(o->err);
    TRY(used_columns(m, &used));
    for (size_t i = 0; i < n; i++) {
        const data_type *type = used[i] ? m->source.scope.columns[i].type : &type_boolean;
        fields[i] = field_make(arena_printf(o->a, "c%zu", i), type, true);
        if (str_is_null(fields[i].name)) return error_no_memory(o->err);
        if (used[i]) {
            TRY(ops_rows_column(o, m->source.rows, i, &items[i]));
            continue;
        }
        TRY(ops_tree_null(o, &items[i]));
        TRY(ops_tree_cast(o, items[i], type, &items[i]));
        TRY(expr_bind(items[i], NULL, o->env->bind, o->a, &items[i], o->err));
    }
    if (total > n) {
        items[n] = expr_call(o->a, "monotonically_increasing_id", NULL, 0, (source_span){0, 0});
        if (!items[n]) return error_no_memory(o->err);
        TRY(expr_bind(items[n], NULL, o->env->bind, o->a, &items[n], o->err));
        fields[n] = field_make(STR("number"), &type_long, false);
    }
    const data_type *type = type_struct(o->a, fields, total);
    if (!type) return error_no_memory(o->err);
    TRY(ops_rows_select(o, m->source.rows, items, type, &q));
    if (o->env->progress) o->env->progress(o->env->progress_ctx, "reading the source", -1);
    TRY(merge_set_aside(o, q, &m->kept_source));
    return ops_rows_of_source(o, m->kept_source, false, STR_NULL, &m->source.rows);
}

/* All of a Parquet source: its rows are counted by the footers, and the join is what reads them. */
static bool is_counted_for_nothing(const query *q) {
    const relation *r = q->from;
    return r && r->kind == REL_TABLE && r->source && str_eqz(r->source->format, "parquet") && q->n_ctes == 0 && q->set == SET_NONE && !q->where && !q->has_aggregates &&
           !q->distinct && !q->having && !q->qualify && !q->limit && !q->offset && r->sample_percent < 0 && r->sample_rows < 0;
}

silt_status merge_keep_source(merge_run *m, bool is_asked) {
    if (merge_numbers_source(m)) return set_source_aside(m);
    if (is_steady(m->spec->source) || (!is_asked && is_counted_for_nothing(m->spec->source))) return SILT_OK;
    return set_source_aside(m);
}

/* ---- beginning ---- */

static void note_kinds(merge_run *m) {
    size_t matched = 0, plain_deletes = 0;
    for (size_t i = 0; i < m->spec->n_clauses; i++) {
        const merge_clause *c = &m->spec->clauses[i];
        matched += c->when == WHEN_MATCHED;
        plain_deletes += c->when == WHEN_MATCHED && c->action == MERGE_DELETE && !c->condition;
        m->has_not_matched |= c->when == WHEN_NOT_MATCHED;
        m->has_by_source |= c->when == WHEN_NOT_MATCHED_BY_SOURCE;
    }
    m->has_matched = matched > 0;
    m->insert_only = m->has_not_matched && !m->has_matched && !m->has_by_source;
    m->matched_only = m->has_matched && !m->has_not_matched && !m->has_by_source;
    m->one_plain_delete = matched == 1 && plain_deletes == 1;
}

static silt_status begin(const op *o, const merge_spec *spec, merge_run *m) {
    const dml_target *t = &spec->target;
    *m = (merge_run){.o = o, .spec = spec, .schema = delta_snapshot_metadata(t->snapshot)->schema, .started_ms = time_now_ms()};
    m->evolve = spec->evolve || ops_setting_bool(o, "spark.databricks.delta.schema.autoMerge.enabled", false);
    m->change = (row_change){.o = o, .table_name = t->table_name, .root = t->root, .snapshot = t->snapshot};
    ops_write_target_init(&m->change.target, t->snapshot);
    note_kinds(m);
    return delta_txn_begin(o->env->delta, t->snapshot, t->root, &m->change.txn, o->err); /* refuses what this build must not write */
}

static silt_status prepare(merge_run *m) {
    TRY(open_target(m));
    TRY(open_source(m));
    TRY(merge_bind(m));
    TRY(merge_evolve(m));
    m->metadata_changed = m->change.target.metadata_changed;
    return merge_check_values(m);
}

/* ---- finding the changes ---- */

static void free_rows(void *rows) { row_set_free(rows); }

static silt_status new_row_set(merge_run *m, size_t n_files, row_set **out) {
    *out = row_set_new(n_files);
    if (!*out) return error_no_memory(m->o->err);
    if (arena_defer(m->o->a, free_rows, *out)) return SILT_OK;
    row_set_free(*out);
    return error_no_memory(m->o->err);
}

static silt_status take_target_row(merge_run *m, const bound_clause *c, size_t file, uint64_t row) {
    const op *o = m->o;
    bool fresh, matched = !c || c->clause->when == WHEN_MATCHED;
    if (!row_set_add(c ? m->gone : m->left, file, row, &fresh)) return error_no_memory(o->err);
    if (matched) {
        fresh = fresh && !row_set_contains(c ? m->left : m->gone, file, row);
        if (!fresh && !m->one_plain_delete) return err_DELTA_MULTIPLE_SOURCE_ROW_MATCHING_TARGET_ROW_IN_MERGE(o->err);
        if (!fresh) return SILT_OK;
    }
    if (!c) return SILT_OK;
    if (c->clause->action == MERGE_UPDATE) {
        *(matched ? &m->matched_updated : &m->by_source_updated) += 1;
        return SILT_OK;
    }
    *(matched ? &m->matched_deleted : &m->by_source_deleted) += 1;
    return row_set_add(m->deleted, file, row, NULL) ? SILT_OK : error_no_memory(o->err);
}

static const int64_t *i64_column(const struct ArrowArray *c) { return (const int64_t *)c->buffers[1] + c->offset; }

static silt_status take_batch(merge_run *m, const struct ArrowArray *batch) {
    const int64_t *action = i64_column(batch->children[0]), *file = i64_column(batch->children[1]), *row = i64_column(batch->children[2]);
    bool rereads = m->reread.values != NULL;
    const int64_t *source_file = rereads ? i64_column(batch->children[3]) : NULL, *source_row = rereads ? i64_column(batch->children[4]) : NULL;
    for (int64_t i = 0; i < batch->length; i++) {
        const bound_clause *c = action[i] > 0 ? &m->clauses[action[i] - 1] : NULL;
        if (rereads && c && c->clause->action != MERGE_DELETE) TRY(merge_reread_take(m, (size_t)source_file[i], (uint64_t)source_row[i]));
        if (c && c->clause->action == MERGE_INSERT) m->inserted++;
        else TRY(take_target_row(m, c, (size_t)file[i], (uint64_t)row[i]));
    }
    m->n_rows += batch->length;
    return SILT_OK;
}

static silt_status read_places(merge_run *m, query *q) {
    const op *o = m->o;
    engine_result *result;
    TRY(expr_push_predicates(q, o->env->bind, o->a, o->err));
    TRY(engine_run(o->env->engine, q, o->env->bind, &result, o->err));
    silt_status status;
    for (;;) {
        struct ArrowArray batch = {.release = NULL};
        status = engine_result_next(result, &batch, o->err);
        if (status != SILT_OK || !batch.release) break;
        status = take_batch(m, &batch);
        batch.release(&batch);
        if (status != SILT_OK) break;
    }
    engine_result_free(result);
    return status;
}

/* What a row set is made of, from the changes set aside: action and place, and the place in the source where that is read again. */
static silt_status find_changes(merge_run *m) {
    const op *o = m->o;
    change_layout l = m->layout;
    const size_t columns[5] = {l.action, l.file, l.row, l.source_file, l.source_row};
    relation *rows;
    query *q;
    expr **items = ARENA_ARRAY(o->a, 5, expr *);
    field fields[5] = {field_make(STR("action"), &type_long, false), field_make(STR("file"), &type_long, true), field_make(STR("row"), &type_long, true),
                       field_make(STR("source_file"), &type_long, true), field_make(STR("source_row"), &type_long, true)};
    const data_type type = {.id = TYPE_STRUCT, .fields = fields, .n_fields = m->reread.values ? 5 : 3};
    if (!items) return error_no_memory(o->err);
    TRY(new_row_set(m, m->n_files, &m->left));
    TRY(new_row_set(m, m->n_files, &m->gone));
    TRY(new_row_set(m, m->n_files, &m->deleted));
    if (m->reread.values) TRY(new_row_set(m, m->reread.n_files, &m->reread.taken));
    if (o->env->progress) o->env->progress(o->env->progress_ctx, "finding matches", -1);
    TRY(merge_set_aside(o, m->changes, &m->found));
    TRY(ops_rows_of_source(o, m->found, false, STR_NULL, &rows));
    for (size_t i = 0; i < type.n_fields; i++) TRY(ops_rows_column(o, rows, columns[i], &items[i]));
    TRY(ops_rows_select(o, rows, items, &type, &q));
    return read_places(m, q);
}

/* ---- new rows and the change feed ---- */

/* Rows over the changes: of the clauses with that action, NULL where no clause has it. */
static silt_status of_action(merge_run *m, relation *rows, merge_action action, bool or_insert, expr **out) {
    const op *o = m->o;
    expr *e = NULL;
    for (size_t i = 0; i < m->spec->n_clauses; i++) {
        merge_action a = m->clauses[i].clause->action;
        expr *column, *n = expr_literal_i64(o->a, (int64_t)i + 1), *one;
        if (a != action && !(or_insert && a == MERGE_INSERT)) continue;
        if (!n) return error_no_memory(o->err);
        TRY(ops_rows_column(o, rows, m->layout.action, &column));
        TRY(ops_tree_call(o, "=", column, n, &one));
        if (e) TRY(ops_tree_call(o, "or", e, one, &e));
        else e = one;
    }
    *out = e;
    return e ? expr_bind(e, NULL, o->env->bind, o->a, out, o->err) : SILT_OK;
}

silt_status merge_makes_rows(merge_run *m, relation *rows, expr **out) { return of_action(m, rows, MERGE_UPDATE, true, out); }

static silt_status null_id(const op *o, expr **out) {
    TRY(ops_tree_null(o, out));
    TRY(ops_tree_cast(o, *out, &type_long, out));
    return expr_bind(*out, NULL, o->env->bind, o->a, out, o->err);
}

static silt_status changes_as_rows(merge_run *m, relation **out) {
    return m->found ? ops_rows_of_source(m->o, m->found, false, STR_NULL, out) : ops_rows_over(m->o, m->changes, NULL, out);
}

static silt_status new_rows(merge_run *m) {
    const op *o = m->o;
    row_change *c = &m->change;
    size_t n = c->target.schema->n_fields;
    relation *rows;
    expr **items = ARENA_ARRAY(o->a, n + 3, expr *);
    if (!items) return error_no_memory(o->err);
    if (m->reread.values) return merge_reread_rows(m, &c->new_rows);
    if (m->layout.action == 0) return SILT_OK; /* deletes only */
    TRY(changes_as_rows(m, &rows));
    for (size_t i = 0; i < n; i++) TRY(ops_rows_column(o, rows, i, &items[i]));
    if (c->has_row_ids) {
        if (m->layout.missing > m->layout.row_id) TRY(ops_rows_column(o, rows, m->layout.row_id, &items[n]));
        else TRY(null_id(o, &items[n]));
        TRY(null_id(o, &items[n + 1]));
    }
    TRY(ops_rows_select(o, rows, items, c->row_schema, &c->new_rows));
    return merge_makes_rows(m, rows, &c->new_rows->where);
}

static silt_status in_set(merge_run *m, uint64_t *id, const row_set *set, relation *rows, expr **out) {
    const op *o = m->o;
    size_t n = rows->source->schema->n_fields;
    expr *file, *row;
    if (!*id) TRY(engine_row_set_register(o->env->engine, set, id, o->err));
    TRY(ops_rows_column(o, rows, n + 1, &file));
    TRY(ops_rows_column(o, rows, n + 2, &row));
    return engine_in_row_set(*id, file, row, o->a, out, o->err);
}

/* Rows of the target that were updated: gone, and not deleted. */
static silt_status was_updated(merge_run *m, relation *rows, expr **out) {
    const op *o = m->o;
    expr *deleted;
    TRY(in_set(m, &m->gone_id, m->gone, rows, out));
    if (row_set_count(m->deleted) == 0) return SILT_OK;
    TRY(in_set(m, &m->deleted_id, m->deleted, rows, &deleted));
    TRY(ops_tree_call(o, "not", deleted, NULL, &deleted));
    TRY(ops_tree_call(o, "and", *out, deleted, out));
    return expr_bind(*out, NULL, o->env->bind, o->a, out, o->err);
}

static silt_status add_changes(merge_run *m, relation *rows, expr *condition, const char *type) {
    query *q;
    TRY(row_change_select_changes(&m->change, rows, condition, type, &q));
    return row_change_union(m->o, m->change.changes, q, &m->change.changes);
}

static silt_status change_feed(merge_run *m) {
    relation *rows;
    expr *condition;
    if (!m->change.needs_changes) return SILT_OK;
    if (row_set_count(m->deleted) > 0) {
        TRY(row_change_rows(&m->change, NULL, STR_NULL, &rows));
        TRY(in_set(m, &m->deleted_id, m->deleted, rows, &condition));
        TRY(add_changes(m, rows, condition, "delete"));
    }
    if (m->matched_updated + m->by_source_updated > 0) {
        TRY(row_change_rows(&m->change, NULL, STR_NULL, &rows));
        TRY(was_updated(m, rows, &condition));
        TRY(add_changes(m, rows, condition, "update_preimage"));
        TRY(changes_as_rows(m, &rows));
        TRY(of_action(m, rows, MERGE_UPDATE, false, &condition));
        TRY(add_changes(m, rows, condition, "update_postimage"));
    }
    if (m->inserted == 0) return SILT_OK;
    TRY(changes_as_rows(m, &rows));
    TRY(of_action(m, rows, MERGE_INSERT, false, &condition));
    return add_changes(m, rows, condition, "insert");
}

/* ---- what was read ---- */

static silt_status note_reads(merge_run *m) {
    const op *o = m->o;
    delta_txn *txn = m->change.txn;
    bool all = m->reads_target_too || m->read->kind == PRED_UNKNOWN || m->read->kind == PRED_TRUE;
    if (all) {
        delta_txn_read_whole_table(txn);
        return SILT_OK;
    }
    TRY(delta_txn_read_predicate(txn, m->read, o->err));
    for (size_t i = 0; i < m->n_files; i++) {
        delta_add add;
        if (!m->keep[i]) continue;
        TRY(delta_snapshot_file(m->spec->target.snapshot, i, false, o->a, &add, o->err));
        TRY(delta_txn_read_file(txn, add.path, o->err));
    }
    return SILT_OK;
}

/* ---- committing ---- */

/* [{"predicate":"…","actionType":"update"}, …], a text in a text. */
static void write_clauses(const merge_run *m, merge_when when, json_object *j, const char *key) {
    static const char *const actions[] = {[MERGE_DELETE] = "delete", [MERGE_UPDATE] = "update", [MERGE_INSERT] = "insert"};
    buf b;
    buf_init(&b, BUF_MAX_DEFAULT);
    buf_append_char(&b, '[');
    for (size_t i = 0; i < m->spec->n_clauses; i++) {
        if (m->clauses[i].clause->when != when) continue;
        buf_append_z(&b, b.len > 1 ? ",{" : "{");
        if (!str_is_null(m->conditions[i])) {
            buf_append_z(&b, "\"predicate\":");
            json_write_str(&b, m->conditions[i]);
            buf_append_char(&b, ',');
        }
        buf_printf(&b, "\"actionType\":\"%s\"}", actions[m->clauses[i].clause->action]);
    }
    buf_append_char(&b, ']');
    if (!buf_ok(&b)) j->text.failed = true;
    ops_json_object_str(j, key, buf_str(&b));
    buf_dispose(&b);
}

static str parameters(const merge_run *m) {
    json_object j;
    ops_json_object_begin(&j);
    ops_json_object_names(&j, "predicate", &m->predicate, 1);
    write_clauses(m, WHEN_MATCHED, &j, "matchedPredicates");
    write_clauses(m, WHEN_NOT_MATCHED, &j, "notMatchedPredicates");
    write_clauses(m, WHEN_NOT_MATCHED_BY_SOURCE, &j, "notMatchedBySourcePredicates");
    return ops_json_object_end(&j, m->o->a);
}

static str metrics(const merge_run *m) {
    const row_change_counts *n = &m->change.counts;
    int64_t updated = m->matched_updated + m->by_source_updated, deleted = m->matched_deleted + m->by_source_deleted;
    bool masks = m->change.use_dv; /* then Delta counts only files that are not there any more */
    json_object j;
    ops_json_object_begin(&j);
    ops_json_object_count(&j, "numTargetRowsCopied", n->rows_copied);
    ops_json_object_count(&j, "numTargetRowsDeleted", deleted);
    ops_json_object_count(&j, "numTargetBytesRemoved", masks ? n->bytes_removed : n->bytes_touched);
    ops_json_object_count(&j, "numTargetDeletionVectorsAdded", n->dvs_added);
    ops_json_object_count(&j, "numTargetRowsMatchedUpdated", m->matched_updated);
    ops_json_object_count(&j, "numTargetRowsMatchedDeleted", m->matched_deleted);
    ops_json_object_count(&j, "numTargetRowsUpdated", updated);
    ops_json_object_count(&j, "numTargetChangeFilesAdded", n->change_files);
    ops_json_object_count(&j, "numTargetRowsNotMatchedBySourceDeleted", m->by_source_deleted);
    ops_json_object_count(&j, "rewriteTimeMs", m->written_ms - m->found_ms);
    ops_json_object_count(&j, "numTargetFilesAdded", n->files_added);
    ops_json_object_count(&j, "numTargetBytesAdded", n->bytes_added);
    ops_json_object_count(&j, "executionTimeMs", time_now_ms() - m->started_ms);
    ops_json_object_count(&j, "materializeSourceTimeMs", m->source_ms - m->started_ms);
    ops_json_object_count(&j, "numTargetRowsInserted", m->inserted);
    ops_json_object_count(&j, "numTargetDeletionVectorsUpdated", n->dvs_updated);
    ops_json_object_count(&j, "scanTimeMs", m->found_ms - m->source_ms);
    ops_json_object_count(&j, "numOutputRows", n->rows_written);
    ops_json_object_count(&j, "numTargetDeletionVectorsRemoved", n->dvs_removed);
    ops_json_object_count(&j, "numTargetRowsNotMatchedBySourceUpdated", m->by_source_updated);
    ops_json_object_count(&j, "numSourceRows", m->n_source_rows);
    ops_json_object_count(&j, "numTargetFilesRemoved", masks ? n->files_removed : n->files_touched);
    return ops_json_object_end(&j, m->o->a);
}

static silt_status commit(merge_run *m, merge_result *out) {
    const op *o = m->o;
    row_change *c = &m->change;
    m->written_ms = time_now_ms();
    if (c->target.metadata_changed) TRY(delta_txn_set_metadata(c->txn, &c->target.metadata, o->err));
    if (c->target.protocol_changed) TRY(delta_txn_set_protocol(c->txn, &c->target.protocol, o->err));
    delta_commit_info info = {.operation = "MERGE",
                              .operation_parameters = parameters(m),
                              .operation_metrics = metrics(m),
                              .user_metadata = ops_setting(o, "spark.databricks.delta.commitInfo.userMetadata")};
    if (c->target.metadata_changed && !m->metadata_changed) info.tags = STR(IDENTITY_TAGS);
    if (c->has_row_ids) info.tags = STR(ROW_IDS_KEPT_TAGS);
    if (str_is_null(info.operation_parameters) || str_is_null(info.operation_metrics)) return error_no_memory(o->err);
    const commit_target table = {c->table_name, c->root, &c->target.metadata};
    return ops_commit(o, &table, c->txn, &info, &out->version);
}

/* ---- MERGE ---- */

static silt_status plan_files(merge_run *m) {
    const op *o = m->o;
    TRY(merge_prune(m, true));
    m->source_ms = time_now_ms();
    if (m->change.target.protocol_changed)
        return ops_protocol_upgrade(o, delta_snapshot_protocol(m->spec->target.snapshot), &m->change.target.protocol, &m->change_note);
    return SILT_OK;
}

static silt_status write_and_commit(merge_run *m, merge_result *out) {
    row_change *c = &m->change;
    TRY(row_change_plan(c));
    TRY(new_rows(m));
    TRY(change_feed(m));
    TRY(note_reads(m));
    TRY(row_change_apply(c));
    if (m->reread.values) TRY(merge_reread_check(m));
    if (m->insert_only) m->inserted = m->n_rows = c->counts.rows_written;
    if (m->inserted > 0) TRY(ops_identity_finish(m->o, &m->identity, m->n_rows, &c->target));
    bool nothing = c->counts.files_touched == 0 && c->counts.files_added == 0 && !c->target.metadata_changed && !c->target.protocol_changed;
    return nothing ? SILT_OK : commit(m, out);
}

static silt_status change_rows(merge_run *m, merge_result *out) {
    row_change *c = &m->change;
    if (!m->insert_only) TRY(find_changes(m));
    m->found_ms = time_now_ms();
    c->gone = m->gone;
    c->updates = m->matched_updated + m->by_source_updated > 0 || (m->inserted > 0 && m->gone && row_set_count(m->gone) > 0);
    c->use_dv = row_change_uses_dv(m->o, &c->target, "merge");
    silt_status status = write_and_commit(m, out);
    if (status != SILT_OK && status != SILT_UNKNOWN) row_change_discard(c);
    engine_row_set_unregister(m->o->env->engine, m->gone_id);
    engine_row_set_unregister(m->o->env->engine, m->deleted_id);
    engine_row_set_unregister(m->o->env->engine, m->reread.taken_id);
    row_change_end(c);
    return status;
}

/* The cast of an assigned value tells its overflow as an INSERT's; here it is a write's. */
static silt_status name_overflow(const op *o, silt_status status) {
    if (status == SILT_OK || !o->err || strcmp(o->err->condition, "CAST_OVERFLOW_IN_TABLE_INSERT") != 0) return status;
    silt_error was = *o->err;
    return err_DELTA_CAST_OVERFLOW_IN_TABLE_WRITE(o->err, str_of(was.message));
}

static silt_status run(merge_run *m, merge_result *out) {
    TRY(prepare(m));
    TRY(plan_files(m));
    TRY(merge_plan(m));
    TRY(change_rows(m, out));
    out->updated = m->matched_updated + m->by_source_updated;
    out->deleted = m->matched_deleted + m->by_source_deleted;
    out->inserted = m->inserted;
    return SILT_OK;
}

silt_status ops_merge(const ops_env *env, const merge_spec *spec, merge_result *out, silt_error *err) {
    op o = {env, arena_new(), err};
    merge_run m;
    if (!o.a) return error_no_memory(err);
    *out = (merge_result){.version = -1};
    silt_status status = begin(&o, spec, &m);
    if (status == SILT_OK) {
        status = name_overflow(&o, run(&m, out));
        out->note = m.change_note;
        delta_txn_free(m.change.txn);
    }
    arena_free(o.a);
    return status;
}

/* ---- EXPLAIN ---- */

static void explain_clause(const merge_run *m, size_t i, buf *out) {
    static const char *const kinds[] = {"matched", "not matched", "not matched by source"}, *const actions[] = {"delete", "update", "insert"};
    const merge_clause *c = m->clauses[i].clause;
    buf_printf(out, "  when %s", kinds[c->when]);
    if (!str_is_null(m->conditions[i])) buf_printf(out, " and %.*s", STR_ARG(m->conditions[i]));
    buf_printf(out, ": %s", actions[c->action]);
    if (c->action != MERGE_DELETE) buf_append_z(out, c->star ? " *" : " ");
    for (size_t k = 0; !c->star && k < m->clauses[i].n_items; k++) {
        const merge_assignment *a = &m->clauses[i].items[k];
        buf_append_z(out, k ? ", " : "");
        for (size_t p = 0; p < a->depth; p++) buf_printf(out, "%s%.*s", p ? "." : "", STR_ARG(a->path[p]));
    }
    buf_append_char(out, '\n');
}

static void explain_keys(const merge_run *m, buf *out) {
    if (m->parts.n_keys == 0 || m->n_keep < 2) return;
    buf_append_z(out, "  more files are left out by the source's values of");
    for (size_t i = 0; i < m->parts.n_keys; i++) {
        buf_append_z(out, i ? ", " : " ");
        expr_print_spark(m->parts.keys[i].target, out);
    }
    buf_append_char(out, '\n');
}

static silt_status explain(merge_run *m, bool extended, buf *out) {
    const op *o = m->o;
    TRY(prepare(m));
    TRY(merge_prune(m, false));
    bool dv = row_change_uses_dv(o, &m->change.target, "merge");
    buf_printf(out, "Merge into `%.*s`\n  on %.*s\n", STR_ARG(m->spec->target.table_name), STR_ARG(m->predicate));
    for (size_t i = 0; i < m->spec->n_clauses; i++) explain_clause(m, i, out);
    buf_printf(out, "  files of the target: %zu of %zu (left out: %zu by partition, %zu by statistics)\n", m->n_keep, m->n_files, m->pruned_by_partition, m->pruned_by_stats);
    explain_keys(m, out);
    TRY(merge_plan(m));
    buf_printf(out, "  join: %s\n", merge_join_name(m));
    buf_printf(out, "  way: %s\n", m->insert_only ? "append only" : dv ? "deletion vectors, and new files for updated and inserted rows" : "copy-on-write");
    TRY(expr_push_predicates(m->changes, o->env->bind, o->a, o->err));
    return engine_explain(o->env->engine, m->changes, o->env->bind, extended, out, o->err);
}

silt_status ops_explain_merge(const ops_env *env, const merge_spec *spec, bool extended, buf *out, silt_error *err) {
    op o = {env, arena_new(), err};
    merge_run m;
    if (!o.a) return error_no_memory(err);
    silt_status status = begin(&o, spec, &m);
    if (status == SILT_OK) {
        status = explain(&m, extended, out);
        delta_txn_free(m.change.txn);
    }
    arena_free(o.a);
    return status;
}
