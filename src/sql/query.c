/* SELECT and EXPLAIN. */
#include "sql/run.h"

static silt_status bind_query(run *r, query *q, silt_error *err) {
    TRY(run_bind_rows(r, err));
    TRY(query_bind(q, &r->bind, r->a, err));
    return expr_push_predicates(q, &r->bind, r->a, err);
}

silt_status run_query(run *r, silt_error *err) {
    TRY(bind_query(r, r->st->query, err));
    TRY(engine_run(r->s->engine, r->st->query, &r->bind, &r->result->stream, err));
    r->result->type = engine_result_type(r->result->stream);
    return SILT_OK;
}

silt_status run_explain(run *r, silt_error *err) {
    const statement *inner = r->st->inner;
    bool is_merge = inner->kind == STMT_MERGE, is_optimize = inner->kind == STMT_OPTIMIZE;
    bool is_dml = is_merge || is_optimize || inner->kind == STMT_DELETE || inner->kind == STMT_UPDATE;
    if (!inner->query && !is_dml) return err_UNSUPPORTED_FEATURE(err, "EXPLAIN of a statement without a query");
    if (!is_dml) TRY(bind_query(r, inner->query, err));
    buf text;
    buf_init(&text, BUF_MAX_DEFAULT);
    if (inner->kind == STMT_INSERT) buf_printf(&text, "%s %.*s from the query below\n", inner->dml ? "Replace rows of" : inner->overwrite ? "Overwrite" : "Append to", STR_ARG(name_join(inner->table->name, r->a)));
    if (inner->kind == STMT_CREATE_TABLE) buf_printf(&text, "Create table %.*s from the query below\n", STR_ARG(name_join(inner->table->name, r->a)));
    silt_status status = is_merge ? explain_merge(r, inner, &text, err) : is_optimize ? explain_optimize(r, inner, &text, err) : is_dml ? explain_dml(r, inner, &text, err) : engine_explain(r->s->engine, inner->query, &r->bind, r->st->extended, &text, err);
    if (status == SILT_OK) status = rows_begin(r, "plan STRING", err);
    if (status == SILT_OK && !buf_ok(&text)) status = error_no_memory(err);
    str rest = buf_str(&text), line;
    while (status == SILT_OK && str_next(&rest, '\n', &line)) status = rows_add(r, &line, 1, err);
    buf_dispose(&text);
    return status;
}

silt_status run_describe_query(run *r, silt_error *err) {
    query *q = r->st->query;
    TRY(run_bind(r, err));
    TRY(query_bind(q, &r->bind, r->a, err));
    TRY(rows_begin(r, "col_name STRING, data_type STRING, comment STRING", err));
    for (size_t i = 0; i < q->n_columns; i++) TRY(rows_add(r, (str[]){q->column_names[i], type_simple(q->column_types[i], r->a), STR_NULL}, 3, err));
    return SILT_OK;
}
