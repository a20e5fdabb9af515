/* DELETE, UPDATE, TRUNCATE and their EXPLAIN: the target resolved and opened, then ops. */
#include "sql/dml_statement.h"
#include "sql/run.h"

static silt_status open_target(run *r, const statement *st, const char *what, dml_target *out, silt_error *err) {
    resolved_table t;
    delta_snapshot *snapshot;
    TRY(run_bind_rows(r, err));
    TRY(resolve_table(r, st->table, false, &t, err));
    if (!str_eqz(t.format, "delta")) return err_DELTA_UNSUPPORTED_SOURCE(err, what);
    TRY(st->kind == STMT_TRUNCATE ? open_delta(r, st->table, what, &t, &snapshot, err) : open_rows(r, &t, NULL, &snapshot, err));
    bool is_old = !t.in_catalog && t.root.len > delta_snapshot_root(snapshot).len; /* path@v1 */
    if (is_old) return err_UNSUPPORTED_FEATURE(err, "changing rows of an older version; RESTORE it first");
    *out = (dml_target){.table_name = t.display,
                        .root = delta_snapshot_root(snapshot),
                        .snapshot = snapshot,
                        .reference = st->table,
                        .ctes = st->ctes,
                        .ctes_again = st->ctes_again,
                        .n_ctes = st->n_ctes,
                        .recursive = st->recursive};
    return SILT_OK;
}

/* num_affected_rows as Spark gives it, and a line for people. */
static silt_status answer(run *r, const dml_result *done, const char *did, silt_error *err) {
    TRY(rows_begin(r, "num_affected_rows BIGINT", err));
    if (!arrow_append_i64(rows_column(r, 0), done->rows) || !arrow_finish_row(r->result->rows)) return error_no_memory(err);
    if (done->version < 0)
        r->result->message = STR("no row matches");
    else if (done->rows < 0)
        r->result->message = arena_printf(r->a, "%s, version %lld", did, (long long)done->version);
    else
        r->result->message = arena_printf(r->a, "%lld row%s %s, version %lld", (long long)done->rows, done->rows == 1 ? "" : "s", did, (long long)done->version);
    return SILT_OK;
}

silt_status run_delete(run *r, silt_error *err) {
    delete_spec spec = {.condition = r->st->dml->condition};
    dml_result done;
    TRY(open_target(r, r->st, "DELETE", &spec.target, err));
    ops_env env = run_ops_env(r, delta_snapshot_env(spec.target.snapshot));
    TRY(ops_delete(&env, &spec, &done, err));
    return answer(r, &done, "deleted", err);
}

silt_status run_update(run *r, silt_error *err) {
    const dml_statement *d = r->st->dml;
    update_spec spec = {.items = d->items, .n_items = d->n_items, .condition = d->condition};
    dml_result done;
    TRY(open_target(r, r->st, "UPDATE", &spec.target, err));
    ops_env env = run_ops_env(r, delta_snapshot_env(spec.target.snapshot));
    TRY(ops_update(&env, &spec, &done, err));
    return answer(r, &done, "updated", err);
}

silt_status run_truncate(run *r, silt_error *err) {
    dml_target target;
    dml_result done;
    TRY(open_target(r, r->st, "TRUNCATE TABLE", &target, err));
    ops_env env = run_ops_env(r, delta_snapshot_env(target.snapshot));
    TRY(ops_truncate(&env, &target, &done, err));
    r->result->message = done.version < 0 ? STR("the table is empty") : arena_printf(r->a, "emptied, version %lld", (long long)done.version);
    return SILT_OK;
}

silt_status explain_dml(run *r, const statement *st, buf *out, silt_error *err) {
    dml_target target;
    bool extended = r->st->extended;
    TRY(open_target(r, st, st->kind == STMT_DELETE ? "DELETE" : "UPDATE", &target, err));
    ops_env env = run_ops_env(r, delta_snapshot_env(target.snapshot));
    if (st->kind == STMT_DELETE) {
        delete_spec spec = {target, st->dml->condition};
        return ops_explain_delete(&env, &spec, extended, out, err);
    }
    update_spec spec = {target, st->dml->items, st->dml->n_items, st->dml->condition};
    return ops_explain_update(&env, &spec, extended, out, err);
}
