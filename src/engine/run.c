/**
 * Running queries: plan the scans, print, prepare on a connection of its own, stream.
 *
 * A failure is told in this order: what Silt's own code met while DuckDB called it (an Arrow stream), a data file that is not there, DuckDB's own words.
 */
#include <stdlib.h>

#include "engine/log_answer.h"
#include "engine/run.h"
#include "engine/sources.h"

struct engine_result {
    running_query run;
    engine_stream stream;
    const data_type *type;
    scan_report *reports;
    size_t n_reports;
    bool finished;
};

/* ---- one prepared query, shared with engine_write and engine_export_parquet ---- */

silt_status running_query_init(running_query *r, engine *e, query *q, const bind_env *env, silt_error *err) {
    *r = (running_query){.engine = e, .query = q, .env = env, .arena = arena_new()};
    if (!r->arena) return error_no_memory(err);
    buf_init(&r->sql, BUF_MAX_DEFAULT);
    scan_plan_init(&r->scans, e, r->arena);
    return SILT_OK;
}

void running_query_dispose(running_query *r) {
    if (!r->arena) return;
    scan_plan_dispose(&r->scans);
    buf_dispose(&r->sql);
    arena_free(r->arena);
    r->arena = NULL;
}

silt_status running_query_print(running_query *r, bool for_output, silt_error *err) {
    TRY(query_print_duckdb(r->query, r->env, &r->scans.printer, for_output, &r->sql, err));
    return buf_cstr(&r->sql) ? SILT_OK : error_no_memory(err);
}

typedef struct failure_walk { const silt_error *found; } failure_walk;

static bool look_at_source(void *ctx, relation *rel) {
    failure_walk *w = ctx;
    if (rel->kind == REL_TABLE && rel->source) w->found = engine_source_failure(rel->source);
    return w->found == NULL;
}

silt_status running_query_failure(const running_query *r, silt_status status, silt_error *err) {
    failure_walk w = {NULL};
    query_walk_relations(r->query, look_at_source, &w);
    if (w.found) {
        if (err) *err = *w.found;
        return w.found->status;
    }
    return scan_plan_failure(&r->scans, status, err);
}

silt_status running_query_connect(running_query *r, engine_connection **out, silt_error *err) {
    TRY(engine_connect(r->engine, out, err));
    silt_status status = scan_plan_apply(&r->scans, *out, err);
    if (status == SILT_OK) return SILT_OK;
    engine_disconnect(*out);
    return status;
}

silt_status running_query_stream(running_query *r, const char *sql, engine_stream *out, silt_error *err) {
    engine_connection *c;
    TRY(running_query_connect(r, &c, err));
    silt_status status = engine_stream_open(c, sql, out, err);
    return status == SILT_OK ? SILT_OK : running_query_failure(r, status, err);
}

/* ---- results ---- */

static bool is_interval(const data_type *type) { return type->id == TYPE_INTERVAL_YM || type->id == TYPE_INTERVAL_DT || type->id == TYPE_INTERVAL; }

const data_type *running_query_type(const running_query *r, silt_error *err) {
    const query *q = r->query;
    field *fields = ARENA_ARRAY(r->arena, q->n_columns + 1, field);
    const data_type *type = fields ? type_struct(r->arena, fields, q->n_columns) : NULL;
    if (!type) {
        if (error_no_memory(err)) return NULL;
        return NULL;
    }
    for (size_t i = 0; i < q->n_columns; i++) /* the printer gives intervals as Spark's text */
        fields[i] = field_make(q->column_names[i], is_interval(q->column_types[i]) ? &type_string : q->column_types[i], q->column_nullable ? q->column_nullable[i] : true);
    return type;
}

silt_status engine_run(engine *e, query *q, const bind_env *env, engine_result **out, silt_error *err) {
    engine_result *r = calloc(1, sizeof *r);
    if (!r) return error_no_memory(err);
    silt_status status;
    TRY_OUT(running_query_init(&r->run, e, q, env, err));
    r->type = running_query_type(&r->run, err);
    if (!r->type) TRY_OUT(SILT_NO_MEMORY);
    bool answered = false;
    if (!e->no_pruning) TRY_OUT(log_answer(&r->run, &answered, &r->reports, &r->n_reports, err));
    if (!answered) TRY_OUT(running_query_print(&r->run, true, err));
    if (!answered) TRY_OUT(scan_plan_reports(&r->run.scans, &r->reports, &r->n_reports, err));
    const char *sql = buf_cstr(&r->run.sql);
    if (!sql) TRY_OUT(error_no_memory(err));
    TRY_OUT(running_query_stream(&r->run, sql, &r->stream, err));
    *out = r;
    return SILT_OK;
out:
    engine_result_free(r);
    return status;
}

void engine_result_free(engine_result *r) {
    if (!r) return;
    if (r->stream.connection && !r->finished) duckdb_interrupt(r->stream.connection->duck);
    engine_stream_close(&r->stream);
    running_query_dispose(&r->run);
    free(r);
}

const data_type *engine_result_type(const engine_result *r) { return r->type; }

silt_status engine_result_next(engine_result *r, struct ArrowArray *out, silt_error *err) {
    memset(out, 0, sizeof *out);
    if (r->finished) return SILT_OK;
    duckdb_data_chunk chunk;
    silt_status status = engine_stream_next(&r->stream, &chunk, err);
    if (status == SILT_OK && chunk) {
        status = engine_chunk_to_arrow(chunk, r->type, out, err);
        duckdb_destroy_data_chunk(&chunk);
        if (status == SILT_OK) return SILT_OK;
    }
    r->finished = true;
    return status == SILT_OK ? SILT_OK : running_query_failure(&r->run, status, err);
}

const scan_report *engine_result_scans(const engine_result *r, size_t *out_count) {
    *out_count = r->n_reports;
    return r->reports;
}

double engine_result_progress(const engine_result *r) {
    if (!r->stream.connection) return r->finished ? 1.0 : -1.0;
    duckdb_query_progress_type progress = duckdb_query_progress(r->stream.connection->duck);
    return progress.percentage < 0 ? -1.0 : progress.percentage / 100.0;
}
