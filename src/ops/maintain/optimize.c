/*
 * OPTIMIZE and REORG: what takes part (Delta's rules: small files, and those with many deleted rows), in which bins, and batch by batch the rewriting. Each batch is a commit of
 * its own that changes no row, so that a run which stops has kept what it finished.
 */
#include "ops/maintain/optimize.h"

#include <stdio.h>

#include "base/time.h"
#include "ops/maintain/optimize_run.h"

#define DEFAULT_FILE_BYTES   ((int64_t)1 << 30)
#define DEFAULT_BATCH_BYTES  ((int64_t)4 << 30) /* about a minute's work: what a stopped run loses at most */
#define DEFAULT_MAX_DELETED  0.05

/* ---- settings ---- */

static silt_status size_setting(const op *o, const char *key, int64_t min, int64_t *out, bool *out_given) {
    str text = ops_setting(o, key);
    *out_given = !str_is_null(text);
    if (!*out_given) return SILT_OK;
    bool ok = ops_parse_bytes(text, out) && *out >= min;
    return ok ? SILT_OK : err_INVALID_PARAMETER_VALUE(o->err, str_of(key), text, "a size such as 1gb");
}

static silt_status ratio_setting(const op *o, const char *key, double *out) {
    str text = ops_setting(o, key);
    if (str_is_null(text)) return SILT_OK;
    return str_to_f64(text, out) && *out >= 0 ? SILT_OK : err_INVALID_PARAMETER_VALUE(o->err, str_of(key), text, "a share between 0 and 1");
}

/* A table that says how large its files should be is compacted to that, unless the session says otherwise. */
static silt_status table_size(const op *o, const delta_metadata *m, int64_t *out) {
    str key = STR("delta.targetFileSize"), text = str_map_get(&m->configuration, key);
    *out = DEFAULT_FILE_BYTES;
    if (str_is_null(text)) return SILT_OK;
    return ops_parse_bytes(text, out) && *out > 0 ? SILT_OK : err_INVALID_PARAMETER_VALUE(o->err, key, text, "a size such as 128mb");
}

silt_status optimize_limits_of(const op *o, const delta_snapshot *s, optimize_limits *out) {
    bool given;
    *out = (optimize_limits){.max_deleted = DEFAULT_MAX_DELETED, .batch_bytes = DEFAULT_BATCH_BYTES};
    TRY(table_size(o, delta_snapshot_metadata(s), &out->max_bytes));
    out->min_bytes = out->max_bytes;
    TRY(size_setting(o, "spark.databricks.delta.optimize.minFileSize", 0, &out->min_bytes, &given));
    TRY(size_setting(o, "spark.databricks.delta.optimize.maxFileSize", 0, &out->max_bytes, &given));
    TRY(ratio_setting(o, "spark.databricks.delta.optimize.maxDeletedRowsRatio", &out->max_deleted));
    TRY(size_setting(o, "silt.optimize.batchSize", 1, &out->batch_bytes, &given));
    return size_setting(o, "spark.databricks.delta.optimize.batchSize", 1, &out->batch_bytes, &out->has_batch_setting);
}

int optimize_threads(const op *o) {
    int64_t n;
    return str_to_i64(ops_setting(o, "silt.threads"), &n) && n > 0 && n < 1024 ? (int)n : thread_count_default();
}

/* ---- what takes part ---- */

static void choose_small(optimize_run *r) {
    for (size_t i = 0; i < r->n_files; i++) {
        optimize_file *f = &r->files[i];
        f->is_candidate = r->mode != OPTIMIZE_COMPACT || f->bytes < r->limits.min_bytes || (double)f->hidden_share > r->limits.max_deleted;
    }
}

static silt_status choose(optimize_run *r) {
    for (size_t i = 0; i < r->n_files; i++) r->considered += r->partitions[r->files[i].partition].is_wanted;
    if (r->spec->purge) TRY(optimize_choose_purged(r));
    else choose_small(r);
    return optimize_make_bins(r);
}

/* ---- running ---- */

static void tell(const optimize_run *r, size_t done) {
    char text[96];
    if (!r->o->env->progress || r->n_bins == 0) return;
    (void)snprintf(text, sizeof text, "optimizing: %zu of %zu groups of files", done, r->n_bins);
    r->o->env->progress(r->o->env->progress_ctx, text, (double)done / (double)r->n_bins);
}

silt_status optimize_execute(optimize_run *r) {
    size_t *ends, n, from = 0;
    TRY(choose(r));
    TRY(optimize_make_batches(r, &ends, &n));
    for (size_t i = 0; i < n; i++) {
        tell(r, from);
        TRY(optimize_run_batch(r, r->bins + from, ends[i] - from));
        from = ends[i];
    }
    r->batches = n == 0 && !r->limits.has_batch_setting ? 1 : (int64_t)n;
    return SILT_OK;
}

/* ---- the statement ---- */

/* Errors in Spark's order. */
static silt_status prepare(optimize_run *r) {
    const op *o = r->o;
    const optimize_spec *spec = r->spec;
    bool clustered, has_columns;
    TRY(delta_protocol_check_write(delta_snapshot_protocol(r->snapshot), delta_snapshot_metadata(r->snapshot), spec->table_name, o->err));
    TRY(cluster_check(o, r->snapshot, spec->full, spec->where ? spec->where_text : STR_NULL, spec->zorder_by, spec->n_zorder_by));
    if (spec->where) TRY(optimize_check_where(o, delta_snapshot_metadata(r->snapshot), spec->where));
    if (spec->n_zorder_by) {
        TRY(curve_zorder_columns(o, r->snapshot, spec->zorder_by, spec->n_zorder_by, &r->curve));
        r->mode = OPTIMIZE_ZORDER;
    }
    TRY(optimize_limits_of(o, r->snapshot, &r->limits));
    TRY(cluster_is_clustered(o, r->snapshot, &clustered, &has_columns));
    r->keeps_cubes = has_columns && spec->purge;
    if (!has_columns || spec->purge) return SILT_OK;
    TRY(cluster_plan_make(o, r->snapshot, spec->full, &r->cluster));
    r->curve = r->cluster.columns;
    r->mode = OPTIMIZE_CLUSTER;
    return SILT_OK;
}

static silt_status predicate_text(optimize_run *r, str *text) {
    if (!r->spec->where) return SILT_OK;
    TRY(optimize_where_text(r->o, r->spec->where, r->spec->where_text, text));
    r->predicate = text;
    return SILT_OK;
}

static silt_status run(optimize_run *r, arena *a, const data_type **out_type, arrow_builder **out_rows) {
    str text;
    TRY(prepare(r));
    TRY(predicate_text(r, &text));
    TRY(optimize_list_files(r));
    TRY(optimize_apply_where(r, r->spec->where));
    TRY(optimize_execute(r));
    return optimize_result_rows(r, a, out_type, out_rows);
}

silt_status ops_optimize(const ops_env *env, const optimize_spec *spec, arena *a, const data_type **out_type, arrow_builder **out_rows, optimize_done *out,
                         silt_error *err) {
    op o = {env, arena_new(), err};
    optimize_run r = {.o = &o, .spec = spec, .snapshot = spec->snapshot, .version = -1, .started_ms = time_now_ms()};
    *out_rows = NULL;
    if (!o.a) return error_no_memory(err);
    silt_status status = run(&r, a, out_type, out_rows);
    *out = (optimize_done){.version = r.version,
                           .commits = r.commits,
                           .files_removed = r.removed.files,
                           .files_added = r.added.files,
                           .bytes_removed = r.removed.bytes,
                           .bytes_added = r.added.bytes};
    arena_free(o.a);
    return status;
}

/* ---- EXPLAIN ---- */

static silt_status explain(optimize_run *r, buf *out) {
    static const char *const ways[] = {"to one file each", "in the order of a Z-curve", "clustered"};
    size_t *ends, n, files = 0;
    int64_t bytes = 0;
    TRY(prepare(r));
    TRY(optimize_list_files(r));
    TRY(optimize_apply_where(r, r->spec->where));
    TRY(choose(r));
    TRY(optimize_make_batches(r, &ends, &n));
    for (size_t i = 0; i < r->n_bins; i++) {
        files += r->bins[i].n_files;
        bytes += r->bins[i].bytes;
    }
    buf_printf(out, "%s `%.*s`\n", r->spec->purge ? "Purge" : "Optimize", STR_ARG(r->spec->table_name));
    buf_printf(out, "  files: %lld of %zu in %zu partition%s considered, %zu rewritten (%lld bytes)\n", (long long)r->considered, r->n_files, r->n_partitions,
               r->n_partitions == 1 ? "" : "s", files, (long long)bytes);
    buf_printf(out, "  way: %zu group%s of files %s, in %zu commit%s\n", r->n_bins, r->n_bins == 1 ? "" : "s", ways[r->mode], n, n == 1 ? "" : "s");
    return buf_ok(out) ? SILT_OK : error_no_memory(r->o->err);
}

silt_status ops_explain_optimize(const ops_env *env, const optimize_spec *spec, buf *out, silt_error *err) {
    op o = {env, arena_new(), err};
    optimize_run r = {.o = &o, .spec = spec, .snapshot = spec->snapshot};
    if (!o.a) return error_no_memory(err);
    silt_status status = explain(&r, out);
    arena_free(o.a);
    return status;
}
