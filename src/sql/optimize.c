/* OPTIMIZE and REORG TABLE, and their EXPLAIN: the table resolved and opened, then ops. */
#include "ops/maintain/optimize.h"

#include "sql/optimize_statement.h"
#include "sql/run.h"

static silt_status open_spec(run *r, const statement *st, optimize_spec *out, silt_error *err) {
    const optimize_statement *o = st->optimize;
    resolved_table t;
    delta_snapshot *snapshot;
    TRY(run_bind_rows(r, err));
    TRY(open_delta(r, st->table, o->purge ? "REORG" : "OPTIMIZE", &t, &snapshot, err));
    bool is_old = !t.in_catalog && t.root.len > delta_snapshot_root(snapshot).len; /* path@v1 */
    if (is_old) return err_UNSUPPORTED_FEATURE(err, "rewriting files of an older version; RESTORE it first");
    *out = (optimize_spec){.table_name = t.display,
                           .root = delta_snapshot_root(snapshot),
                           .snapshot = snapshot,
                           .where = o->where,
                           .where_text = o->where_text,
                           .zorder_by = o->zorder_by,
                           .n_zorder_by = o->n_zorder_by,
                           .full = o->full,
                           .purge = o->purge};
    return SILT_OK;
}

silt_status run_optimize(run *r, silt_error *err) {
    optimize_spec spec;
    optimize_done done;
    TRY(open_spec(r, r->st, &spec, err));
    ops_env env = run_ops_env(r, delta_snapshot_env(spec.snapshot));
    TRY(ops_optimize(&env, &spec, r->a, &r->result->type, &r->result->rows, &done, err));
    if (done.version < 0)
        r->result->message = STR("nothing to rewrite");
    else
        r->result->message = arena_printf(r->a, "%lld file%s into %lld, version %lld", (long long)done.files_removed, done.files_removed == 1 ? "" : "s",
                                          (long long)done.files_added, (long long)done.version);
    return SILT_OK;
}

silt_status explain_optimize(run *r, const statement *st, buf *out, silt_error *err) {
    optimize_spec spec;
    TRY(open_spec(r, st, &spec, err));
    ops_env env = run_ops_env(r, delta_snapshot_env(spec.snapshot));
    return ops_explain_optimize(&env, &spec, out, err);
}
