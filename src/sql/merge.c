/* MERGE INTO and its EXPLAIN: the target opened, the source bound, both handed to ops. */
#include "sql/merge_statement.h"
#include "sql/run.h"

static silt_status open_target(run *r, const statement *st, dml_target *out, silt_error *err) {
    resolved_table t;
    delta_snapshot *snapshot;
    TRY(run_bind_rows(r, err));
    TRY(resolve_table(r, st->table, false, &t, err));
    if (!str_eqz(t.format, "delta")) return err_DELTA_UNSUPPORTED_SOURCE(err, "MERGE");
    TRY(open_rows(r, &t, NULL, &snapshot, err));
    *out = (dml_target){.table_name = t.display, .root = delta_snapshot_root(snapshot), .snapshot = snapshot, .reference = st->table};
    return SILT_OK;
}

/* WITH … SELECT * FROM source */
static silt_status bind_source(run *r, const statement *st, query **out, silt_error *err) {
    query *q = ARENA_NEW(r->a, query);
    expr *star = expr_new(r->a, EXPR_STAR, st->merge->source->span);
    expr **items = ARENA_ARRAY(r->a, 1, expr *);
    if (!q || !star || !items) return error_no_memory(err);
    items[0] = star;
    *q = (query){.from = st->merge->source, .projections = items, .n_projections = 1, .ctes = st->ctes, .n_ctes = st->n_ctes, .recursive = st->recursive};
    TRY(query_bind(q, &r->bind, r->a, err));
    *out = q;
    return SILT_OK;
}

static silt_status prepare(run *r, const statement *st, relation *reference, merge_spec *out, silt_error *err) {
    const merge_statement *m = st->merge;
    *reference = *m->source; /* binding replaces a view's or CTE's reference by what it stands for */
    *out = (merge_spec){.source_reference = reference, .on = m->on, .clauses = m->clauses, .n_clauses = m->n_clauses, .evolve = m->evolve};
    TRY(open_target(r, st, &out->target, err));
    return bind_source(r, st, &out->source, err);
}

/* Spark's row of counts, and a line for people. */
static silt_status answer(run *r, const merge_result *done, silt_error *err) {
    const int64_t counts[] = {done->updated + done->deleted + done->inserted, done->updated, done->deleted, done->inserted};
    TRY(rows_begin(r, "num_affected_rows BIGINT, num_updated_rows BIGINT, num_deleted_rows BIGINT, num_inserted_rows BIGINT", err));
    for (size_t i = 0; i < ARRAY_LEN(counts); i++)
        if (!arrow_append_i64(rows_column(r, i), counts[i])) return error_no_memory(err);
    if (!arrow_finish_row(r->result->rows)) return error_no_memory(err);
    r->result->message = done->version < 0 ? STR("nothing to change")
                                           : arena_printf(r->a, "%lld updated, %lld deleted, %lld inserted, version %lld", (long long)done->updated, (long long)done->deleted,
                                                          (long long)done->inserted, (long long)done->version);
    return run_add_note(r, &done->note, err);
}

silt_status run_merge(run *r, silt_error *err) {
    merge_spec spec;
    relation reference;
    merge_result done;
    TRY(prepare(r, r->st, &reference, &spec, err));
    ops_env env = run_ops_env(r, delta_snapshot_env(spec.target.snapshot));
    TRY(ops_merge(&env, &spec, &done, err));
    return answer(r, &done, err);
}

silt_status explain_merge(run *r, const statement *st, buf *out, silt_error *err) {
    merge_spec spec;
    relation reference;
    TRY(prepare(r, st, &reference, &spec, err));
    ops_env env = run_ops_env(r, delta_snapshot_env(spec.target.snapshot));
    return ops_explain_merge(&env, &spec, r->st->extended, out, err);
}
