/* PUBLISH TABLE: the table opened, the folder resolved, and what was done as one row. */
#include "ops/maintain/publish.h"

#include "sql/convert_statement.h"
#include "sql/run.h"

static silt_status show(run *r, const publish_result *done, silt_error *err) {
    static const char columns[] =
        "version BIGINT, partitions_written BIGINT, partitions_removed BIGINT, partitions_unchanged BIGINT, files_copied BIGINT, files_rewritten BIGINT";
    const int64_t numbers[] = {done->version, done->partitions_written, done->partitions_removed, done->partitions_unchanged, done->files_copied, done->files_rewritten};
    bool ok = true;
    TRY(rows_begin(r, columns, err));
    for (size_t i = 0; i < ARRAY_LEN(numbers); i++) ok = ok && arrow_append_i64(rows_column(r, i), numbers[i]);
    if (!ok || !arrow_finish_row(r->result->rows)) return error_no_memory(err);
    r->result->message = arena_printf(r->a, "published version %lld", (long long)done->version);
    return str_is_null(r->result->message) ? error_no_memory(err) : SILT_OK;
}

silt_status run_publish(run *r, silt_error *err) {
    const convert_statement *c = r->st->convert;
    resolved_table t;
    delta_snapshot *snapshot;
    publish_spec spec = {.full = c->full};
    publish_result done;
    TRY(run_bind(r, err));
    TRY(resolve_table(r, r->st->table, false, &t, err));
    if (!str_eqz(t.format, "delta")) return err_DELTA_ONLY_OPERATION(err, "PUBLISH TABLE");
    TRY(open_delta(r, r->st->table, "PUBLISH TABLE", &t, &snapshot, err));
    TRY(resolve_location(r->s, c->directory, r->a, &spec.store, &spec.folder, err));
    spec.table_name = t.display;
    spec.snapshot = snapshot;
    ops_env ops = run_ops_env(r, delta_snapshot_env(snapshot));
    TRY(ops_publish(&ops, &spec, r->a, &done, err));
    return show(r, &done, err);
}
