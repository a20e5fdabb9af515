/* VACUUM and FSCK REPAIR TABLE. */
#include "sql/run.h"
#include "sql/vacuum_statement.h"

static silt_status open_target(run *r, resolved_table *t, delta_snapshot **out, silt_error *err) {
    TRY(run_bind(r, err));
    return open_delta(r, r->st->table, r->st->kind == STMT_VACUUM ? "VACUUM" : "FSCK REPAIR TABLE", t, out, err);
}

/* 1,234 bytes are said as they are, more in the largest unit that leaves a whole number before the point. */
static str size_text(int64_t bytes, arena *a) {
    static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB"};
    double size = (double)bytes;
    size_t unit = 0;
    while (size >= 1024 && unit + 1 < ARRAY_LEN(units)) size /= 1024, unit++;
    return unit == 0 ? arena_printf(a, "%lld bytes", (long long)bytes) : arena_printf(a, "%.1f %s", size, units[unit]);
}

silt_status run_vacuum(run *r, silt_error *err) {
    const vacuum_statement *v = r->st->vacuum;
    resolved_table t;
    delta_snapshot *snapshot;
    vacuum_result done;
    TRY(open_target(r, &t, &snapshot, err));
    if (v->inventory) TRY(query_bind(v->inventory, &r->bind, r->a, err));
    const vacuum_spec spec = {.table_name = t.display,
                              .root = delta_snapshot_root(snapshot),
                              .snapshot = snapshot,
                              .kind = v->kind,
                              .has_retention = v->has_retention,
                              .retention_hours = v->retention_hours,
                              .dry_run = v->dry_run,
                              .inventory = v->inventory};
    ops_env env = run_ops_env(r, delta_snapshot_env(snapshot));
    TRY(ops_vacuum(&env, &spec, r->a, &r->result->type, &r->result->rows, &done, err));
    str size = size_text(done.bytes, r->a);
    r->result->message = arena_printf(r->a,
                                      v->dry_run ? "Found %lld files (%.*s) and %lld empty folders that are safe to remove, in %lld folders"
                                                 : "Removed %lld files (%.*s) and %lld empty folders, in %lld folders",
                                      (long long)done.files, STR_ARG(size), (long long)done.folders, (long long)done.folders_visited);
    return SILT_OK;
}

silt_status run_fsck(run *r, silt_error *err) {
    resolved_table t;
    delta_snapshot *snapshot;
    ops_result done = {.version = -1};
    TRY(open_target(r, &t, &snapshot, err));
    const fsck_spec spec = {.table_name = t.display, .root = delta_snapshot_root(snapshot), .snapshot = snapshot, .dry_run = r->st->vacuum->dry_run};
    ops_env env = run_ops_env(r, delta_snapshot_env(snapshot));
    TRY(ops_fsck(&env, &spec, r->a, &r->result->type, &r->result->rows, &done, err));
    if (done.files == 0)
        r->result->message = STR("every file of the table is there");
    else if (done.version < 0)
        r->result->message = arena_printf(r->a, "%lld entries would be removed", (long long)done.files);
    else
        r->result->message = arena_printf(r->a, "%lld entries removed, version %lld", (long long)done.files, (long long)done.version);
    return SILT_OK;
}
