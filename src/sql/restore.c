/* RESTORE and GENERATE: names and times resolved, the work is ops'. */
#include "ops/maintain/restore.h"

#include <string.h>

#include "base/time.h"
#include "ops/maintain/manifest.h"
#include "sql/restore_statement.h"
#include "sql/run.h"

/* The newest version of the statement's table. */
static silt_status open_newest(run *r, const char *statement_name, resolved_table *t, delta_snapshot **out, silt_error *err) {
    TRY(run_bind(r, err));
    TRY(resolve_table(r, r->st->table, false, t, err));
    if (!str_eqz(t->format, "delta")) return err_DELTA_ONLY_OPERATION(err, statement_name);
    TRY(open_delta(r, r->st->table, statement_name, t, out, err));
    bool is_old = !t->in_catalog && t->root.len > delta_snapshot_root(*out).len; /* path@v1 */
    return is_old ? err_DELTA_UNSUPPORTED_TIME_TRAVEL_MULTIPLE_FORMATS(err, t->display) : SILT_OK;
}

/* ---- RESTORE ---- */

/* What a clock on the wall where the process runs shows at that time. */
static silt_status in_process_zone(run *r, int64_t *us, silt_error *err) {
    const source_span nowhere = {0};
    int32_t offset_seconds;
    value v;
    if (time_zone_fixed_offset(r->s->process_zone, &offset_seconds)) {
        *us += offset_seconds * INT64_C(1000000);
        return SILT_OK;
    }
    expr *micros = expr_literal_i64(r->a, *us), *zone = expr_literal_str(r->a, r->s->process_zone), *bound;
    expr *at = micros ? expr_call(r->a, "timestamp_micros", &micros, 1, nowhere) : NULL;
    expr *shown = at && zone ? expr_call(r->a, "from_utc_timestamp", (expr *[]){at, zone}, 2, nowhere) : NULL;
    if (!shown) return error_no_memory(err);
    TRY(expr_bind(shown, NULL, &r->bind, r->a, &bound, err));
    TRY(expr_fold(bound, &r->bind, r->a, &v, err));
    if (!v.is_null) *us = v.as.i64;
    return SILT_OK;
}

/* As java.sql.Timestamp prints it: in the zone of the process, whatever the session's is, and with at least one digit of the fraction. */
static silt_status java_timestamp(run *r, int64_t us, str *out, silt_error *err) {
    buf b;
    TRY(in_process_zone(r, &us, err));
    buf_init(&b, 128);
    time_write_timestamp_short(&b, us, ' ');
    if (us % 1000000 == 0) buf_append_z(&b, ".0");
    *out = buf_take(&b, r->a);
    return str_is_null(*out) ? error_no_memory(err) : SILT_OK;
}

/* A time travel error in RESTORE's own words. */
static silt_status refuse_time(run *r, const delta_env *env, const delta_snapshot *current, int64_t asked_us, const silt_error *cause, silt_error *err) {
    str asked, limit;
    int64_t earliest, latest;
    delta_snapshot *first;
    bool too_early = strcmp(cause->condition, "DELTA_TIMESTAMP_EARLIER_THAN_COMMIT_RETENTION") == 0;
    bool too_late = strcmp(cause->condition, "DELTA_TIMESTAMP_GREATER_THAN_COMMIT") == 0;
    if (!too_early && !too_late) {
        if (err) *err = *cause;
        return cause->status;
    }
    TRY(java_timestamp(r, asked_us, &asked, err));
    TRY(java_timestamp(r, delta_snapshot_commit_time_ms(current) * 1000, &limit, err));
    if (too_late) return err_DELTA_CANNOT_RESTORE_TIMESTAMP_GREATER(err, asked, limit);
    TRY(delta_version_range(env, delta_snapshot_root(current), &earliest, &latest, err));
    TRY(delta_snapshot_load(env, delta_snapshot_root(current), earliest, &first, err));
    silt_status status = java_timestamp(r, delta_snapshot_commit_time_ms(first) * 1000, &limit, err);
    delta_snapshot_release(first);
    TRY(status);
    return err_DELTA_CANNOT_RESTORE_TIMESTAMP_EARLIER(err, asked, limit);
}

static silt_status version_of_time(run *r, const delta_env *env, restore_spec *spec, int64_t *out, silt_error *err) {
    int64_t us, ms;
    silt_error cause = {.status = SILT_OK};
    TRY(fold_timestamp_us(r, r->st->restore->travel.timestamp, &us, err));
    TRY(fold_timestamp_ms(r, r->st->restore->travel.timestamp, &ms, err));
    silt_status status = delta_version_at(env, spec->root, ms, out, &cause);
    if (status != SILT_OK) return refuse_time(r, env, spec->current, us, &cause, err);
    return java_timestamp(r, us, &spec->timestamp, err);
}

static silt_status version_of_number(run *r, const delta_env *env, const restore_spec *spec, int64_t *out, silt_error *err) {
    int64_t earliest, latest;
    TRY(fold_version(r, &r->st->restore->travel, out, err));
    TRY(delta_version_range(env, spec->root, &earliest, &latest, err));
    return *out >= earliest && *out <= latest ? SILT_OK : err_DELTA_CANNOT_RESTORE_TABLE_VERSION(err, *out, earliest, latest);
}

static silt_status find_target(run *r, const resolved_table *t, const delta_env *env, restore_spec *spec, silt_error *err) {
    int64_t version;
    delta_snapshot *target;
    if (r->st->restore->travel.timestamp) TRY(version_of_time(r, env, spec, &version, err));
    else TRY(version_of_number(r, env, spec, &version, err));
    travel_spec at = {.version = expr_literal_i64(r->a, version)};
    if (!at.version) return error_no_memory(err);
    TRY(open_snapshot(r, t, &at, &target, err));
    spec->target = target;
    return SILT_OK;
}

static silt_status add_numbers(run *r, const int64_t *numbers, size_t n, silt_error *err) {
    bool ok = true;
    for (size_t i = 0; i < n; i++) ok = ok && arrow_append_i64(rows_column(r, i), numbers[i]);
    return ok && arrow_finish_row(r->result->rows) ? SILT_OK : error_no_memory(err);
}

static silt_status show_restored(run *r, const restore_result *n, silt_error *err) {
    static const char columns[] = "table_size_after_restore BIGINT, num_of_files_after_restore BIGINT, num_removed_files BIGINT, num_restored_files BIGINT, "
                                  "removed_files_size BIGINT, restored_files_size BIGINT";
    ops_result told = {0};
    TRY(rows_begin(r, columns, err));
    if (n->version < 0) { /* as Spark: no row */
        r->result->message = arena_printf(r->a, "the table is at that version");
        return SILT_OK;
    }
    const int64_t numbers[] = {n->size_after, n->files_after, n->removed_files, n->restored_files, n->removed_bytes, n->restored_bytes};
    TRY(add_numbers(r, numbers, ARRAY_LEN(numbers), err));
    r->result->message = arena_printf(r->a, "restored, version %lld", (long long)n->version);
    memcpy(told.note, n->note, sizeof told.note);
    return run_add_note(r, &told, err);
}

silt_status run_restore(run *r, silt_error *err) {
    resolved_table t;
    delta_snapshot *current;
    restore_result done;
    TRY(open_newest(r, "RESTORE", &t, &current, err));
    const delta_env *env = delta_snapshot_env(current);
    restore_spec spec = {.table_name = t.display, .root = delta_snapshot_root(current), .current = current, .timestamp = STR_NULL};
    TRY(find_target(r, &t, env, &spec, err));
    ops_env ops = run_ops_env(r, env);
    TRY(ops_restore(&ops, &spec, &done, err));
    return show_restored(r, &done, err);
}

/* ---- GENERATE ---- */

silt_status run_generate(run *r, silt_error *err) {
    resolved_table t;
    delta_snapshot *snapshot;
    if (!str_eq_ascii_fold(r->st->restore->mode, STR("symlink_format_manifest"))) return err_DELTA_MODE_NOT_SUPPORTED(err, r->st->restore->mode);
    TRY(open_newest(r, "GENERATE", &t, &snapshot, err));
    ops_env ops = run_ops_env(r, delta_snapshot_env(snapshot));
    return ops_generate_manifest(&ops, snapshot, err);
}
