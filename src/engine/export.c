/** A query's rows as one Parquet file for the user: logical names, variants and intervals as text. The file appears whole or not at all. */
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "base/ident.h"
#include "engine/run.h"

static void write_statement(buf *sql, const running_query *r, str path) {
    buf_append_z(sql, "COPY (SELECT ");
    for (size_t i = 0; i < r->query->n_columns; i++) {
        buf_printf(sql, "%sc%zu AS ", i ? ", " : "", i);
        engine_write_name(sql, r->query->column_names[i]);
    }
    buf_append_z(sql, " FROM (");
    buf_append(sql, buf_str(&r->sql));
    buf_append_z(sql, ")) TO ");
    engine_write_literal(sql, path);
    buf_append_z(sql, " (FORMAT parquet, COMPRESSION snappy)");
}

static silt_status copy_to(running_query *r, str path, silt_error *err) {
    TRY(running_query_print(r, true, err));
    buf sql;
    buf_init(&sql, BUF_MAX_DEFAULT);
    write_statement(&sql, r, path);
    const char *text = buf_cstr(&sql);
    engine_connection *c = NULL;
    silt_status status = text ? running_query_connect(r, &c, err) : error_no_memory(err);
    if (status == SILT_OK) {
        status = engine_execute(c, text, err);
        if (status != SILT_OK) status = running_query_failure(r, status, err);
    }
    engine_disconnect(c);
    buf_dispose(&sql);
    return status;
}

silt_status engine_export_parquet(engine *e, query *q, const bind_env *env, str local_path, silt_error *err) {
    char uuid[37];
    uuid_generate(uuid);
    running_query r;
    TRY(running_query_init(&r, e, q, env, err));
    char *target = arena_cstr(r.arena, local_path);
    str temporary = arena_printf(r.arena, "%.*s.%s.tmp", STR_ARG(local_path), uuid);
    silt_status status = target && temporary.ptr ? copy_to(&r, temporary, err) : error_no_memory(err);
    if (status == SILT_OK && rename(temporary.ptr, target) != 0) status = error_from_errno(err, errno, "rename", local_path);
    if (status != SILT_OK && temporary.ptr) unlink(temporary.ptr);
    running_query_dispose(&r);
    return status;
}
