/* Sessions: opening, closing, and the dispatch of one statement to its runner. */
#include "sql/run.h"

#include "base/time.h"

silt_status session_open(const session_options *options, session **out, silt_error *err) {
    arena *a = arena_new();
    session *s = a ? ARENA_NEW(a, session) : NULL;
    if (!s) {
        arena_free(a);
        return error_no_memory(err);
    }
    *s = (session){.a = a, .stores = options->stores, .database = STR("default"), .cancel = options->cancel, .progress = options->progress, .progress_ctx = options->progress_ctx, .ends_with_process = options->ends_with_process};
    s->process_zone = time_system_zone(a);
    silt_status status = SILT_OK;
    for (size_t i = 0; i < options->n_settings; i++) TRY_OUT(session_set(s, options->keys[i], options->values[i], err));
    s->n_initial = s->n_settings;
    s->initial = ARENA_ARRAY(a, s->n_initial, setting);
    if (!s->initial) {
        status = error_no_memory(err);
        goto out;
    }
    for (size_t i = 0; i < s->n_initial; i++) s->initial[i] = s->settings[i];
    TRY_OUT(catalog_local_open(session_get(s, STR("spark.sql.warehouse.dir")), session_get(s, STR("silt.catalog.dir")), &s->catalog, err));
    *out = s;
    return SILT_OK;
out:
    session_close(s);
    return status;
}

void session_close(session *s) {
    if (!s) return;
    session_forget_snapshots(s);
    catalog_close(s->catalog);
    engine_close(s->engine);
    arena_free(s->a);
}

silt_status session_engine(session *s, engine **out, silt_error *err) {
    TRY(session_need_engine(s, err));
    *out = s->engine;
    return SILT_OK;
}

silt_status session_need_engine(session *s, silt_error *err) {
    str memory = session_get(s, STR("silt.memory.limit")), temp = session_get(s, STR("silt.temp.dir"));
    int64_t threads = 0;
    (void)str_to_i64(session_get(s, STR("silt.threads")), &threads);
    engine_options options = {
        .temp_directory = temp.len ? temp : STR_NULL,
        .memory_limit = memory.len ? memory : STR_NULL,
        .threads = threads > 0 && threads < 1024 ? (int)threads : 0,
        .time_zone = session_get(s, STR("spark.sql.session.timeZone")),
        .cancel = s->cancel,
        .stores = s->stores,
        .ends_with_process = s->ends_with_process,
        .no_pruning = session_flag(s, "silt.selfcheck.unpruned", false),
    };
    return s->engine ? engine_set_options(s->engine, &options, err) : engine_new(&options, &s->engine, err);
}

/* One row per statement kind. */
static const statement_runner runners[] = {
    [STMT_QUERY] = run_query, [STMT_EXPLAIN] = run_explain, [STMT_INSERT] = run_insert,
    [STMT_CREATE_TABLE] = run_create_table, [STMT_CREATE_TABLE_LIKE] = run_create_table_like, [STMT_DROP_TABLE] = run_drop_table,
    [STMT_CREATE_VIEW] = run_create_view, [STMT_DROP_VIEW] = run_drop_view,
    [STMT_CREATE_DATABASE] = run_create_database, [STMT_DROP_DATABASE] = run_drop_database, [STMT_USE] = run_use,
    [STMT_SHOW_DATABASES] = run_show_databases, [STMT_SHOW_TABLES] = run_show_tables, [STMT_SHOW_VIEWS] = run_show_views, [STMT_SHOW_COLUMNS] = run_show_columns,
    [STMT_SHOW_TBLPROPERTIES] = run_show_tblproperties, [STMT_SHOW_CREATE_TABLE] = run_show_create_table, [STMT_SHOW_PARTITIONS] = run_show_partitions,
    [STMT_SHOW_FUNCTIONS] = run_show_functions, [STMT_SHOW_CURRENT] = run_show_current,
    [STMT_DESCRIBE_TABLE] = run_describe_table, [STMT_DESCRIBE_QUERY] = run_describe_query, [STMT_DESCRIBE_DETAIL] = run_describe_detail,
    [STMT_DESCRIBE_HISTORY] = run_describe_history, [STMT_DESCRIBE_DATABASE] = run_describe_database, [STMT_DESCRIBE_FUNCTION] = run_describe_function,
    [STMT_SET] = run_set, [STMT_RESET] = run_reset, [STMT_ALTER] = run_alter,
    [STMT_DELETE] = run_delete, [STMT_UPDATE] = run_update, [STMT_TRUNCATE] = run_truncate, [STMT_MERGE] = run_merge,
    [STMT_DOCTOR] = run_doctor,
    [STMT_VACUUM] = run_vacuum, [STMT_FSCK] = run_fsck,
    [STMT_OPTIMIZE] = run_optimize,
    [STMT_CONVERT] = run_convert, [STMT_PUBLISH] = run_publish,
    [STMT_RESTORE] = run_restore, [STMT_CLONE] = run_clone, [STMT_GENERATE] = run_generate,
};

/* Copies: the tree outlives the caller's strings. */
static silt_status parameter_exprs(run *r, const statement_parameters *p, silt_error *err) {
    if (!p || p->count == 0) return SILT_OK;
    expr **values = ARENA_ARRAY(r->a, p->count, expr *);
    str *names = ARENA_ARRAY(r->a, p->count, str);
    if (!values || !names) return error_no_memory(err);
    for (size_t i = 0; i < p->count; i++) {
        value v = p->values[i];
        names[i] = arena_str(r->a, p->names[i]);
        if (v.type->id == TYPE_DECIMAL) v.type = type_decimal(r->a, v.type->precision, v.type->scale);
        if (!v.is_null && (v.type->id == TYPE_STRING || v.type->id == TYPE_BINARY)) v.as.bytes = arena_str(r->a, v.as.bytes);
        values[i] = v.type ? expr_literal(r->a, v, (source_span){0, 0}) : NULL;
        if (!values[i] || !names[i].ptr) return error_no_memory(err);
    }
    r->bind.parameter_names = names;
    r->bind.parameter_values = values;
    r->bind.n_parameters = p->count;
    return SILT_OK;
}

silt_status session_run_once(session *s, str text, const statement_parameters *parameters, statement_result **out, silt_error *err) {
    arena *a = arena_new();
    statement_result *result = a ? ARENA_NEW(a, statement_result) : NULL;
    statement *st = result ? ARENA_NEW(a, statement) : NULL;
    run *r = st ? ARENA_NEW(a, run) : NULL;
    if (!r) {
        arena_free(a);
        return error_no_memory(err);
    }
    *result = (statement_result){.a = a, .type = type_struct(a, NULL, 0)};
    silt_status status = SILT_OK;
    str copy = arena_str(a, text); /* the tree points into the text */
    if (!copy.ptr || !result->type) {
        status = error_no_memory(err);
        goto out;
    }
    TRY_OUT(statement_parse(copy, a, st, err));
    *r = (run){.s = s, .a = a, .st = st, .result = result};
    r->bind.source_text = copy;
    TRY_OUT(parameter_exprs(r, parameters, err));
    TRY_OUT(runners[st->kind](r, err));
    if (s->catalog->news) run_note(r, s->catalog->news);
    s->catalog->news = NULL;
    *out = result;
    return SILT_OK;
out:
    if (status == SILT_IO && err && store_met_another_version(err)) session_forget_snapshots(s); /* to be read anew by whoever tries again */
    statement_result_free(result);
    return status;
}

silt_status session_export_parquet(session *s, str text, str local_path, silt_error *err) {
    arena *a = arena_new();
    silt_status status = SILT_OK;
    statement st;
    run *r = a ? ARENA_NEW(a, run) : NULL;
    str copy = r ? arena_str(a, text) : STR_NULL;
    if (!copy.ptr) {
        status = error_no_memory(err);
        goto out;
    }
    TRY_OUT(statement_parse(copy, a, &st, err));
    if (st.kind != STMT_QUERY) {
        status = err_INVALID_PARAMETER_VALUE(err, STR("statement"), STR("not a query"), "a query: only rows can be written as Parquet");
        goto out;
    }
    *r = (run){.s = s, .a = a, .st = &st};
    r->bind.source_text = copy;
    TRY_OUT(run_bind_rows(r, err));
    TRY_OUT(query_bind(st.query, &r->bind, a, err));
    TRY_OUT(expr_push_predicates(st.query, &r->bind, a, err));
    TRY_OUT(engine_export_parquet(s->engine, st.query, &r->bind, local_path, err));
out:
    arena_free(a);
    return status;
}
