/**
 * Running queries: plan the scans, print, prepare on a connection of its own, stream.
 *
 * A failure is told in this order: what Silt's own code met while DuckDB called it (an Arrow stream), a data file that is not there, DuckDB's own words.
 */
#include <stdio.h>
#include <stdlib.h>

#include "engine/log_answer.h"
#include "engine/run.h"
#include "engine/scan_limit.h"
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
    *r = (running_query){.engine = e, .query = q, .env = env};
    TRY(engine_need(e, err));
    r->arena = arena_new();
    if (!r->arena) return error_no_memory(err);
    buf_init(&r->sql, BUF_MAX_DEFAULT);
    scan_plan_init(&r->scans, e, r->arena);
    scan_limit_find(&r->scans, q);
    return SILT_OK;
}

void running_query_dispose(running_query *r) {
    if (!r->arena) return;
    scan_plan_dispose(&r->scans);
    buf_dispose(&r->sql);
    arena_free(r->arena);
    r->arena = NULL;
}

/* ---- variants inside other types: the printer gives those of the top level as JSON text, here the rest follows ---- */

static bool holds_variant(const data_type *type) {
    if (type->id == TYPE_VARIANT) return true;
    if (type->element && holds_variant(type->element)) return true;
    if (type->key && holds_variant(type->key)) return true;
    for (size_t i = 0; i < type->n_fields; i++)
        if (holds_variant(type->fields[i].type)) return true;
    return false;
}

static void write_as_text(buf *out, str value_text, const data_type *type, int depth);

static void write_struct_as_text(buf *out, str value_text, const data_type *type, int depth) {
    buf part;
    buf_init(&part, BUF_MAX_DEFAULT);
    buf_printf(out, "CASE WHEN %.*s IS NOT NULL THEN struct_pack(", STR_ARG(value_text));
    for (size_t i = 0; i < type->n_fields; i++) {
        buf_clear(&part);
        buf_printf(&part, "struct_extract_at(%.*s, %zu)", STR_ARG(value_text), i + 1);
        if (i) buf_append_z(out, ", ");
        engine_write_name(out, type->fields[i].name);
        buf_append_z(out, " := ");
        write_as_text(out, buf_str(&part), type->fields[i].type, depth);
    }
    buf_append_z(out, ") END");
    if (!buf_ok(&part)) out->failed = true;
    buf_dispose(&part);
}

static void write_as_text(buf *out, str value_text, const data_type *type, int depth) {
    char element[24], part[40];
    snprintf(element, sizeof element, "silt_v%d", depth);
    if (!holds_variant(type))
        buf_append(out, value_text);
    else if (type->id == TYPE_VARIANT)
        buf_printf(out, "CASE WHEN %.*s IS NOT NULL THEN CAST(CAST(%.*s AS JSON) AS VARCHAR) END", STR_ARG(value_text),
                   STR_ARG(value_text));
    else if (type->id == TYPE_STRUCT)
        write_struct_as_text(out, value_text, type, depth);
    else if (type->id == TYPE_ARRAY) {
        buf_printf(out, "list_transform(%.*s, lambda %s: ", STR_ARG(value_text), element);
        write_as_text(out, str_of(element), type->element, depth + 1);
        buf_append_char(out, ')');
    } else {
        buf_printf(out, "map_from_entries(list_transform(map_entries(%.*s), lambda %s: struct_pack(k := %s.key, v := ",
                   STR_ARG(value_text), element, element);
        snprintf(part, sizeof part, "%s.value", element);
        write_as_text(out, str_of(part), type->element, depth + 1);
        buf_append_z(out, ")))");
    }
}

static silt_status wrap_nested_variants(running_query *r, silt_error *err) {
    const query *q = r->query;
    bool any = false;
    for (size_t i = 0; i < q->n_columns; i++) any |= q->column_types[i]->id != TYPE_VARIANT && holds_variant(q->column_types[i]);
    if (!any) return SILT_OK;
    str inner = arena_str(r->arena, buf_str(&r->sql));
    if (!inner.ptr || !buf_ok(&r->sql)) return error_no_memory(err);
    buf_clear(&r->sql);
    buf_append_z(&r->sql, "SELECT ");
    for (size_t i = 0; i < q->n_columns; i++) {
        char name[24];
        snprintf(name, sizeof name, "c%zu", i);
        if (i) buf_append_z(&r->sql, ", ");
        if (q->column_types[i]->id == TYPE_VARIANT)
            buf_append_z(&r->sql, name);
        else
            write_as_text(&r->sql, str_of(name), q->column_types[i], 0);
        buf_printf(&r->sql, " AS c%zu", i);
    }
    buf_append_z(&r->sql, " FROM (");
    buf_append(&r->sql, inner);
    buf_append_char(&r->sql, ')');
    return SILT_OK;
}

silt_status running_query_print(running_query *r, bool for_output, silt_error *err) {
    TRY(query_print_duckdb(r->query, r->env, &r->scans.printer, for_output, &r->sql, err));
    if (for_output) TRY(wrap_nested_variants(r, err));
    return buf_cstr(&r->sql) ? SILT_OK : error_no_memory(err);
}

typedef struct failure_walk {
    const silt_error *found;
} failure_walk;

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

static bool is_interval(const data_type *type) {
    return type->id == TYPE_INTERVAL_YM || type->id == TYPE_INTERVAL_DT || type->id == TYPE_INTERVAL;
}

const data_type *running_query_type(const running_query *r, silt_error *err) {
    const query *q = r->query;
    field *fields = ARENA_ARRAY(r->arena, q->n_columns + 1, field);
    const data_type *type = fields ? type_struct(r->arena, fields, q->n_columns) : NULL;
    if (!type) {
        if (error_no_memory(err)) return NULL;
        return NULL;
    }
    for (size_t i = 0; i < q->n_columns; i++) /* the printer gives intervals as Spark's text */
        fields[i] = field_make(q->column_names[i], is_interval(q->column_types[i]) ? &type_string : q->column_types[i],
                               q->column_nullable ? q->column_nullable[i] : true);
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
