/* Queries over one given source under a name that no statement can write: scans of a snapshot for the C API, and writes of rows from outside SQL. */
#include "sql/run.h"

#define SOURCE_NAME "\x01source"

typedef struct given_source {
    table_resolver resolver; /* first: the binder sees this one */
    table_resolver *next;    /* the session's, for subqueries in the predicate */
    table_source *source;
} given_source;

static silt_status resolve_given(table_resolver *self, const relation *rel, arena *a, table_source **out_source, str *out_view, silt_error *err) {
    given_source *g = self->ctx;
    if (rel->name.count != 1 || !str_eqz(rel->name.parts[0], SOURCE_NAME)) return g->next->resolve(g->next, rel, a, out_source, out_view, err);
    *out_source = g->source;
    *out_view = STR_NULL;
    return SILT_OK;
}

static silt_status use_source(run *r, table_source *source, silt_error *err) {
    given_source *g = ARENA_NEW(r->a, given_source);
    if (!g) return error_no_memory(err);
    *g = (given_source){.resolver = {.ctx = g, .resolve = resolve_given}, .next = r->bind.resolver, .source = source};
    r->bind.resolver = &g->resolver;
    return SILT_OK;
}

static void release_source(void *source) {
    table_source *t = source;
    t->ops->release(t);
}

static silt_status own_source(run *r, table_source *source, silt_error *err) {
    if (arena_defer(r->a, release_source, source)) return SILT_OK;
    release_source(source);
    return error_no_memory(err);
}

static silt_status new_run(session *s, run **out, silt_error *err) {
    arena *a = arena_new();
    run *r = a ? ARENA_NEW(a, run) : NULL;
    statement_result *result = r ? ARENA_NEW(a, statement_result) : NULL;
    if (!result) {
        arena_free(a);
        return error_no_memory(err);
    }
    *result = (statement_result){.a = a};
    *r = (run){.s = s, .a = a, .result = result};
    *out = r;
    return SILT_OK;
}

static str scan_text(run *r, const str *columns, size_t n_columns, str where, int64_t limit) {
    buf b;
    buf_init(&b, BUF_MAX_DEFAULT);
    buf_append_z(&b, "SELECT ");
    for (size_t i = 0; i < n_columns; i++) {
        if (i) buf_append_z(&b, ", ");
        buf_append(&b, columns[i]);
    }
    if (n_columns == 0) buf_append_char(&b, '*');
    buf_append_z(&b, "\nFROM `" SOURCE_NAME "`");
    if (where.ptr) buf_printf(&b, "\nWHERE (%.*s\n)", STR_ARG(where)); /* the line end closes a comment at the predicate's end */
    if (limit > 0) buf_printf(&b, "\nLIMIT %lld", (long long)limit);
    return buf_take(&b, r->a);
}

silt_status session_scan(session *s, const delta_snapshot *snapshot, const str *columns, size_t n_columns, str where, int64_t limit, statement_result **out, silt_error *err) {
    run *r;
    query *q;
    table_source *source;
    silt_status status = SILT_OK;
    TRY(new_run(s, &r, err));
    TRY_OUT(run_bind_rows(r, err));
    TRY_OUT(delta_table_source(snapshot, &source, err));
    TRY_OUT(own_source(r, source, err));
    TRY_OUT(use_source(r, source, err));
    r->bind.source_text = scan_text(r, columns, n_columns, where, limit);
    if (!r->bind.source_text.ptr) {
        status = error_no_memory(err);
        goto out;
    }
    TRY_OUT(query_parse(r->bind.source_text, r->a, &q, err));
    TRY_OUT(query_bind(q, &r->bind, r->a, err));
    TRY_OUT(expr_push_predicates(q, &r->bind, r->a, err));
    TRY_OUT(engine_run(s->engine, q, &r->bind, &r->result->stream, err));
    r->result->type = engine_result_type(r->result->stream);
    *out = r->result;
    return SILT_OK;
out:
    statement_result_free(r->result);
    return status;
}

static silt_status write_rows(run *r, const session_write_spec *spec, const table_source *source, ops_result *out, silt_error *err) {
    query *q;
    resolved_table t;
    bool managed = false;
    r->bind.source_text = STR("SELECT * FROM `" SOURCE_NAME "`");
    TRY(query_parse(r->bind.source_text, r->a, &q, err));
    TRY(query_bind(q, &r->bind, r->a, err));
    TRY(resolve_text(r, spec->table, &t, err));
    if (!t.location.ptr) {
        managed = true;
        TRY(r->s->catalog->ops->managed_location(r->s->catalog, t.database, t.name, r->a, &t.location, err));
        TRY(resolve_location(r->s, t.location, r->a, &t.store, &t.root, err));
        t.format = STR("delta");
    }
    if (!str_eqz(t.format, "delta")) return err_DELTA_TABLE_ONLY_OPERATION(err, t.display);
    if (t.in_catalog && spec->mode == SAVE_ERROR_IF_EXISTS) return err_TABLE_OR_VIEW_ALREADY_EXISTS(err, t.display);
    delta_env *env;
    TRY(session_env(r->s, t.store, &env, err));
    ops_env ops = run_ops_env(r, env);
    load_spec load = {.table_name = t.display, .root = t.root, .source = q, .mode = spec->mode, .partition_columns = spec->partition_columns,
                      .n_partition_columns = spec->n_partition_columns, .properties = spec->properties, .options = spec->options, .is_managed = managed};
    if (str_eqz(source->format, "parquet")) load.options.files = source;
    TRY(ops_load(&ops, &load, out, err));
    return managed ? register_table(r, &t, true, STR_NULL, err) : SILT_OK;
}

silt_status session_write(session *s, const session_write_spec *spec, table_source *source, ops_result *out, silt_error *err) {
    run *r;
    silt_status status = new_run(s, &r, err);
    if (status != SILT_OK) {
        release_source(source);
        return status;
    }
    *out = (ops_result){.version = -1};
    TRY_OUT(own_source(r, source, err));
    TRY_OUT(run_bind_rows(r, err));
    TRY_OUT(use_source(r, source, err));
    TRY_OUT(write_rows(r, spec, source, out, err));
out:
    statement_result_free(r->result);
    return status;
}
