/*
 * DELETE and TRUNCATE. Rows of which the condition is NULL stay. A condition that the log decides for whole files touches the log only.
 */
#include "base/time.h"
#include "delta/properties.h"
#include "ops/commit.h"
#include "ops/dml_common.h"
#include "ops/row_change.h"
#include "ops/row_find.h"

/** One DELETE while it runs. */
typedef struct delete_run {
    const op *o;
    const delete_spec *spec;
    row_find find;
    row_change change;
    int64_t started_ms, found_ms, written_ms;
    str predicate; /**< as commitInfo names it */
} delete_run;

silt_status ops_check_not_append_only(const op *o, const dml_target *t) {
    bool only = delta_config_bool(&delta_snapshot_metadata(t->snapshot)->configuration, "delta.appendOnly");
    return only ? err_DELTA_CANNOT_MODIFY_APPEND_ONLY(o->err, t->table_name) : SILT_OK;
}

str ops_condition_text(const op *o, const expr *condition) {
    buf b;
    buf_init(&b, BUF_MAX_DEFAULT);
    expr_print_spark(condition, &b);
    return buf_take(&b, o->a);
}

/* ---- the change feed ---- */

/* Deleted rows as they were: those found, and all of the files that go whole. */
static silt_status deleted_rows(delete_run *d) {
    row_change *c = &d->change;
    const op *o = d->o;
    relation *rows;
    expr *gone;
    query *found = NULL, *whole = NULL;
    if (!c->needs_changes) return SILT_OK;
    uint8_t *partly = ARENA_ARRAY(o->a, d->find.n_files + 1, uint8_t);
    if (!partly) return error_no_memory(o->err);
    for (size_t i = 0; i < d->find.n_files; i++) partly[i] = c->touched[i] && !d->find.whole[i];
    TRY(row_change_rows(c, partly, STR_NULL, &rows));
    TRY(row_change_is_gone(c, rows, &gone));
    TRY(row_find_narrow(&d->find, rows, gone, &gone));
    TRY(row_change_select_changes(c, rows, gone, "delete", &found));
    if (d->find.n_whole > 0) {
        TRY(row_change_rows(c, d->find.whole, STR_NULL, &rows));
        TRY(row_change_select_changes(c, rows, NULL, "delete", &whole));
    }
    return row_change_union(o, found, whole, &c->changes);
}

/* ---- committing ---- */

static str parameters(const delete_run *d) {
    json_object j;
    ops_json_object_begin(&j);
    ops_json_object_names(&j, "predicate", &d->predicate, 1);
    return ops_json_object_end(&j, d->o->a);
}

static str metrics(const delete_run *d) {
    const row_change_counts *n = &d->change.counts;
    json_object j;
    ops_json_object_begin(&j);
    ops_json_object_count(&j, "numRemovedFiles", n->files_removed);
    ops_json_object_count(&j, "numRemovedBytes", n->bytes_removed);
    if (n->rows_gone_known) ops_json_object_count(&j, "numCopiedRows", n->rows_copied);
    ops_json_object_count(&j, "numDeletionVectorsAdded", n->dvs_added);
    ops_json_object_count(&j, "executionTimeMs", time_now_ms() - d->started_ms);
    ops_json_object_count(&j, "numDeletionVectorsUpdated", n->dvs_updated);
    ops_json_object_count(&j, "numAddedFiles", n->files_added);
    ops_json_object_count(&j, "numDeletionVectorsRemoved", n->dvs_removed);
    ops_json_object_count(&j, "numAddedChangeFiles", n->change_files);
    if (n->rows_gone_known) ops_json_object_count(&j, "numDeletedRows", n->rows_gone);
    ops_json_object_count(&j, "scanTimeMs", d->found_ms - d->started_ms);
    ops_json_object_count(&j, "numAddedBytes", n->bytes_added);
    ops_json_object_count(&j, "rewriteTimeMs", d->written_ms - d->found_ms);
    return ops_json_object_end(&j, d->o->a);
}

static silt_status commit(delete_run *d, dml_result *out) {
    const op *o = d->o;
    d->written_ms = time_now_ms();
    delta_commit_info info = {.operation = "DELETE",
                              .operation_parameters = parameters(d),
                              .operation_metrics = metrics(d),
                              .user_metadata = ops_setting(o, "spark.databricks.delta.commitInfo.userMetadata")};
    if (d->change.has_row_ids) info.tags = STR(ROW_IDS_KEPT_TAGS);
    if (str_is_null(info.operation_parameters) || str_is_null(info.operation_metrics)) return error_no_memory(o->err);
    const commit_target table = {d->change.table_name, d->change.root, &d->change.target.metadata};
    return ops_commit(o, &table, d->change.txn, &info, &out->version);
}

/* ---- DELETE ---- */

static silt_status find(delete_run *d) {
    TRY(ops_check_not_append_only(d->o, &d->spec->target));
    TRY(row_find_plan(d->o, &d->spec->target, d->spec->condition, &d->find));
    d->predicate = d->find.query->where ? ops_condition_text(d->o, d->find.query->where) : STR("true");
    return str_is_null(d->predicate) ? error_no_memory(d->o->err) : SILT_OK;
}

static silt_status change_and_commit(delete_run *d, dml_result *out) {
    row_change *c = &d->change;
    TRY(row_change_plan(c));
    TRY(deleted_rows(d));
    TRY(row_find_note_reads(&d->find, c->txn));
    TRY(row_change_apply(c));
    return commit(d, out);
}

static silt_status delete_rows(delete_run *d, dml_result *out) {
    const op *o = d->o;
    row_change *c = &d->change;
    TRY(row_find_run(&d->find));
    d->found_ms = time_now_ms();
    if (d->find.n_whole == 0 && row_set_count(d->find.rows) == 0) return SILT_OK;
    c->gone = d->find.rows;
    c->whole_files = d->find.whole;
    c->use_dv = row_change_uses_dv(o, &c->target, "delete");
    silt_status status = change_and_commit(d, out);
    if (status != SILT_OK && status != SILT_UNKNOWN) row_change_discard(c);
    if (status == SILT_OK) out->rows = c->counts.rows_gone_known ? c->counts.rows_gone : -1;
    row_change_end(c);
    return status;
}

static silt_status run_delete(const op *o, const delete_spec *spec, dml_result *out) {
    delete_run d = {.o = o, .spec = spec, .started_ms = time_now_ms()};
    const dml_target *t = &spec->target;
    d.change = (row_change){.o = o, .table_name = t->table_name, .root = t->root, .snapshot = t->snapshot};
    ops_write_target_init(&d.change.target, t->snapshot);
    TRY(delta_txn_begin(o->env->delta, t->snapshot, t->root, &d.change.txn, o->err)); /* refuses what this build must not write */
    silt_status status = find(&d);
    if (status == SILT_OK) status = delete_rows(&d, out);
    delta_txn_free(d.change.txn);
    return status;
}

silt_status ops_delete(const ops_env *env, const delete_spec *spec, dml_result *out, silt_error *err) {
    op o = {env, arena_new(), err};
    if (!o.a) return error_no_memory(err);
    *out = (dml_result){.version = -1};
    silt_status status = run_delete(&o, spec, out);
    arena_free(o.a);
    return status;
}

silt_status ops_explain_delete(const ops_env *env, const delete_spec *spec, bool extended, buf *out, silt_error *err) {
    op o = {env, arena_new(), err};
    if (!o.a) return error_no_memory(err);
    delete_run d = {.o = &o, .spec = spec};
    write_target t;
    ops_write_target_init(&t, spec->target.snapshot);
    silt_status status = find(&d);
    if (status == SILT_OK)
        status = row_find_explain(&d.find, "Delete", row_change_uses_dv(&o, &t, "delete") ? "deletion vectors" : "copy-on-write",
                                  extended, out);
    arena_free(o.a);
    return status;
}
