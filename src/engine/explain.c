/** EXPLAIN: what the scans read and why, the bound query as Spark SQL and, extended, the printed SQL with DuckDB's own plan. */
#include "engine/log_answer.h"
#include "engine/run.h"

static void write_scan(buf *out, const scan_report *r) {
    buf_printf(out, "Scan %.*s\n", STR_ARG(r->description));
    if (r->from_log) {
        buf_append_z(out, "  answered from the log, no data file is read\n");
        return;
    }
    buf_printf(out, "  files: %zu of %zu read, %zu pruned by partition values, %zu pruned by statistics\n", r->files_read,
               r->files_total, r->pruned_by_partition, r->pruned_by_stats);
    buf_printf(out, "  bytes: %lld of %lld read, %lld pruned\n", (long long)r->bytes_read, (long long)r->bytes_total,
               (long long)(r->bytes_total - r->bytes_read));
    if (r->predicate.len) buf_printf(out, "  predicate: %.*s\n", STR_ARG(r->predicate));
}

static silt_status write_duckdb_plan(running_query *r, buf *out, silt_error *err) {
    buf sql;
    buf_init(&sql, BUF_MAX_DEFAULT);
    buf_append_z(&sql, "EXPLAIN ");
    buf_append(&sql, buf_str(&r->sql));
    engine_connection *c = NULL;
    duckdb_result result;
    const char *text = buf_cstr(&sql);
    r->scans.only_explains = true;
    silt_status status = text ? running_query_connect(r, &c, err) : error_no_memory(err);
    if (status == SILT_OK) {
        status = engine_query(c, text, &result, err);
        if (status != SILT_OK) status = running_query_failure(r, status, err);
    }
    if (status == SILT_OK) {
        duckdb_data_chunk chunk;
        while ((chunk = duckdb_fetch_chunk(result)) != NULL) {
            duckdb_string_t *texts = duckdb_vector_get_data(duckdb_data_chunk_get_vector(chunk, 1));
            for (idx_t i = 0; i < duckdb_data_chunk_get_size(chunk); i++)
                buf_append(out, (str){duckdb_string_t_data(&texts[i]), duckdb_string_t_length(texts[i])});
            duckdb_destroy_data_chunk(&chunk);
        }
        duckdb_destroy_result(&result);
    }
    engine_disconnect(c);
    buf_dispose(&sql);
    return status;
}

static silt_status write_explanation(running_query *r, bool extended, buf *out, silt_error *err) {
    bool answered = false;
    scan_report *reports = NULL;
    size_t n = 0;
    if (!r->engine->no_pruning) TRY(log_answer(r, &answered, &reports, &n, err));
    if (!answered) TRY(running_query_print(r, true, err));
    if (!answered) TRY(scan_plan_reports(&r->scans, &reports, &n, err));
    buf_append_z(out, "== Query ==\n");
    query_print_spark(r->query, out);
    buf_append_z(out, "\n\n== Scans ==\n");
    for (size_t i = 0; i < n; i++) write_scan(out, &reports[i]);
    if (n == 0) buf_append_z(out, "none\n");
    if (!extended) return SILT_OK;
    buf_append_z(out, "\n== DuckDB SQL ==\n");
    buf_append(out, buf_str(&r->sql));
    buf_append_z(out, "\n\n== DuckDB plan ==\n");
    return write_duckdb_plan(r, out, err);
}

silt_status engine_explain(engine *e, query *q, const bind_env *env, bool extended, buf *out, silt_error *err) {
    running_query r;
    silt_status status = running_query_init(&r, e, q, env, err);
    if (status == SILT_OK) status = write_explanation(&r, extended, out, err);
    running_query_dispose(&r);
    return status != SILT_OK || buf_ok(out) ? status : error_no_memory(err);
}
