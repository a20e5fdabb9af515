/**
 * The Parquet service of table/format.h: how a format reads and writes its own metadata files (checkpoints).
 *
 * Reading projects to a given type by name: structs field by field, lists and maps by a cast. INT96 and timestamps without a zone are read as UTC, DuckDB's zone in this engine.
 */
#include "engine/internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "engine/scan_footer.h"
#include "engine/sources.h"

/* ---- reading ---- */

static const field *find_field(const data_type *t, str name) {
    for (size_t i = 0; t && t->id == TYPE_STRUCT && i < t->n_fields; i++)
        if (str_eq(t->fields[i].name, name)) return &t->fields[i];
    return NULL;
}

/*
 * The wanted shape of `path`, whose type in the file is `file` (NULL: not there), field by field: only then does DuckDB read nothing but the leaves that are named
 * (read_parquet's `schema=`, and a cast of the whole struct, read every field of a struct and drop the rest: 3x the time for a checkpoint).
 */
static void write_projection(buf *sql, const data_type *file, const data_type *wanted, str path) {
    if (wanted->id != TYPE_STRUCT || wanted->n_fields == 0 || !file || file->id != TYPE_STRUCT) {
        buf_append_z(sql, "CAST(");
        buf_append(sql, file ? path : STR("NULL"));
        buf_append_z(sql, " AS ");
        engine_write_type(sql, wanted, false);
        buf_append_char(sql, ')');
        return;
    }
    buf child;
    buf_init(&child, BUF_MAX_DEFAULT);
    buf_append_z(sql, "struct_pack(");
    for (size_t i = 0; i < wanted->n_fields; i++) {
        const field *in_file = find_field(file, wanted->fields[i].name);
        buf_clear(&child);
        buf_append(&child, path);
        buf_append_char(&child, '.');
        engine_write_name(&child, wanted->fields[i].name);
        if (i) buf_append_z(sql, ", ");
        engine_write_name(sql, wanted->fields[i].name);
        buf_append_z(sql, " := ");
        write_projection(sql, in_file ? in_file->type : NULL, wanted->fields[i].type, buf_str(&child));
    }
    buf_append_char(sql, ')');
    if (!buf_ok(&child)) sql->failed = true;
    buf_dispose(&child);
}

static void write_columns(buf *sql, const data_type *file, const data_type *columns) {
    buf path;
    buf_init(&path, BUF_MAX_DEFAULT);
    for (size_t i = 0; i < columns->n_fields; i++) {
        const field *in_file = find_field(file, columns->fields[i].name);
        buf_clear(&path);
        buf_append_z(&path, "f.");
        engine_write_name(&path, columns->fields[i].name);
        if (i) buf_append_z(sql, ", ");
        write_projection(sql, in_file ? in_file->type : NULL, columns->fields[i].type, buf_str(&path));
    }
    if (columns->n_fields == 0) buf_append_z(sql, "NULL");
    if (!buf_ok(&path)) sql->failed = true;
    buf_dispose(&path);
}

/* Which rows of a file. */
typedef struct row_choice {
    const str *null_leaves; /* dotted; all of them are null in the row */
    size_t n_null_leaves;
    int64_t first, end; /* row numbers [first, end) where end > 0: DuckDB opens only the row groups that hold them */
} row_choice;

/* Every dotted leaf that the file has must be null. */
static void write_null_filter(buf *sql, const data_type *file, const row_choice *rows) {
    bool first = true;
    for (size_t i = 0; i < rows->n_null_leaves; i++) {
        const data_type *t = file;
        str rest = rows->null_leaves[i], piece;
        const field *f = NULL;
        while (t && str_next(&rest, '.', &piece)) {
            f = find_field(t, piece);
            t = f ? f->type : NULL;
        }
        if (!t) continue;
        buf_append_z(sql, first ? " WHERE f" : " AND f");
        first = false;
        for (rest = rows->null_leaves[i]; str_next(&rest, '.', &piece);) {
            buf_append_char(sql, '.');
            engine_write_name(sql, piece);
        }
        buf_append_z(sql, " IS NULL");
    }
}

typedef struct parquet_reader {
    engine_stream stream;
    arena *arena; /* holds a copy of the type */
    const data_type *columns;
    silt_error error;
} parquet_reader;

static int reader_schema(struct ArrowArrayStream *s, struct ArrowSchema *out) {
    parquet_reader *r = s->private_data;
    return arrow_schema_from_type(r->columns, out, &r->error) == SILT_OK ? 0 : ENOMEM;
}

static int reader_next(struct ArrowArrayStream *s, struct ArrowArray *out) {
    parquet_reader *r = s->private_data;
    memset(out, 0, sizeof *out);
    duckdb_data_chunk chunk;
    silt_status status = engine_stream_next(&r->stream, &chunk, &r->error);
    if (status == SILT_OK && chunk) {
        status = engine_chunk_to_arrow(chunk, r->columns, out, &r->error);
        duckdb_destroy_data_chunk(&chunk);
    }
    if (status == SILT_OK) return 0;
    return status == SILT_NO_MEMORY ? ENOMEM : status == SILT_CANCELLED ? ECANCELED : EIO;
}

static const char *reader_error(struct ArrowArrayStream *s) {
    parquet_reader *r = s->private_data;
    return r->error.message[0] ? r->error.message : NULL;
}

static void reader_release(struct ArrowArrayStream *s) {
    parquet_reader *r = s->private_data;
    engine_stream_close(&r->stream);
    arena_free(r->arena);
    free(r);
    s->release = NULL;
}

static const data_type *copy_type(arena *a, const data_type *type);

static bool copy_fields(arena *a, const data_type *type, data_type *copy) {
    field *fields = ARENA_ARRAY(a, type->n_fields + 1, field);
    if (!fields) return false;
    for (size_t i = 0; i < type->n_fields; i++) {
        fields[i] = type->fields[i];
        fields[i].name = arena_str(a, type->fields[i].name);
        fields[i].physical_name = fields[i].name;
        fields[i].metadata = STR("{}");
        fields[i].type = copy_type(a, type->fields[i].type);
        if (!fields[i].name.ptr || !fields[i].type) return false;
    }
    copy->fields = fields;
    return true;
}

/* The stream may outlive the caller's arena. */
static const data_type *copy_type(arena *a, const data_type *type) {
    data_type *copy = ARENA_NEW(a, data_type);
    if (!copy) return NULL;
    *copy = *type;
    if (type->element && !(copy->element = copy_type(a, type->element))) return NULL;
    if (type->key && !(copy->key = copy_type(a, type->key))) return NULL;
    if (type->id == TYPE_STRUCT && !copy_fields(a, type, copy)) return NULL;
    return copy;
}

/* Damage shows when the first rows are fetched or in mid-stream: the path is named in each case. */
static silt_status name_file(silt_status status, str path, silt_error *err) {
    if ((status != SILT_INVALID && status != SILT_INTERNAL && status != SILT_CONSTRAINT) || !err) return status;
    char reason[sizeof err->message];
    snprintf(reason, sizeof reason, "%s", err->detail[0] ? err->detail : err->message);
    status = err_FAILED_READ_FILE(err, path, "it is damaged or not as expected");
    error_detail(err, "%s", reason);
    return status;
}

/* ---- the schema of a file ---- */

typedef struct schema_fix {
    arena *a;
    const data_type *type; /* what DuckDB says, then what Spark says */
} schema_fix;

static const data_type *fix_type(arena *a, const data_type *type, const footer_node *node);

static const data_type *fix_struct(arena *a, const data_type *type, const footer_node *node) {
    field *fields = ARENA_ARRAY(a, type->n_fields + 1, field);
    if (!fields) return NULL;
    for (size_t i = 0; i < type->n_fields; i++) {
        fields[i] = type->fields[i];
        fields[i].type = fix_type(a, type->fields[i].type, node && i < node->n_children ? &node->children[i] : NULL);
        if (!fields[i].type) return NULL;
    }
    return type_struct(a, fields, type->n_fields);
}

/* INT96 is Spark's TIMESTAMP; DuckDB reports a timestamp without a zone. */
static const data_type *fix_type(arena *a, const data_type *type, const footer_node *node) {
    switch (type->id) {
        case TYPE_TIMESTAMP_NTZ: return node && node->is_int96 ? &type_timestamp : type;
        case TYPE_STRUCT: return fix_struct(a, type, node);
        case TYPE_ARRAY: {
            const data_type *element = fix_type(a, type->element, footer_list_element(node));
            return element ? type_array(a, element, type->contains_null) : NULL;
        }
        case TYPE_MAP: {
            const data_type *key = fix_type(a, type->key, footer_map_part(node, 0)),
                            *item = fix_type(a, type->element, footer_map_part(node, 1));
            return key && item ? type_map(a, key, item, type->contains_null) : NULL;
        }
        default: return type;
    }
}

static silt_status on_footer(void *ctx, size_t file, const footer_node *root, silt_error *err) {
    (void)file;
    schema_fix *fix = ctx;
    fix->type = fix_type(fix->a, fix->type, root);
    return fix->type ? SILT_OK : error_no_memory(err);
}

static silt_status columns_of_result(duckdb_result *result, arena *a, const data_type **out, silt_error *err) {
    size_t n = duckdb_column_count(result);
    field *fields = ARENA_ARRAY(a, n + 1, field);
    if (!fields) return error_no_memory(err);
    for (size_t i = 0; i < n; i++) {
        duckdb_logical_type type = duckdb_column_logical_type(result, i);
        const data_type *made = NULL;
        silt_status status = engine_type_from_duck(type, a, &made, err);
        duckdb_destroy_logical_type(&type);
        TRY(status);
        str name = arena_str(a, str_of(duckdb_column_name(result, i)));
        if (!name.ptr) return error_no_memory(err);
        fields[i] = field_make(name, made, true);
    }
    *out = type_struct(a, fields, n);
    return *out ? SILT_OK : error_no_memory(err);
}

static silt_status describe(engine *e, str local_path, arena *a, const data_type **out, silt_error *err) {
    engine_connection *c;
    TRY(engine_connect(e, &c, err));
    buf sql;
    buf_init(&sql, BUF_MAX_DEFAULT);
    buf_append_z(&sql, "SELECT * FROM read_parquet(");
    engine_write_path(&sql, local_path);
    buf_append_z(&sql, ", hive_partitioning = false) LIMIT 0");
    duckdb_result result;
    const char *text = buf_cstr(&sql);
    silt_status status = text ? engine_query(c, text, &result, err) : error_no_memory(err);
    buf_dispose(&sql);
    if (status == SILT_OK) {
        status = columns_of_result(&result, a, out, err);
        duckdb_destroy_result(&result);
    }
    engine_disconnect(c);
    return status;
}

static silt_status parquet_read_schema(parquet_service *s, str local_path, arena *a, const data_type **out, silt_error *err) {
    schema_fix fix = {.a = a};
    silt_status status = describe(s->ctx, local_path, a, &fix.type, err);
    if (status == SILT_OK) status = footers_read(s->ctx, &local_path, 1, on_footer, &fix, err);
    *out = fix.type;
    return name_file(status, local_path, err);
}

/* ---- rows ---- */

static silt_status print_read(engine *e, str local_path, const data_type *columns, const row_choice *rows, buf *sql,
                              silt_error *err) {
    arena *a = arena_new();
    const data_type *file;
    if (!a) return error_no_memory(err);
    silt_status status = name_file(describe(e, local_path, a, &file, err), local_path, err);
    if (status == SILT_OK) {
        buf_append_z(sql, "SELECT ");
        write_columns(sql, file, columns);
        buf_append_z(sql, " FROM read_parquet(");
        engine_write_path(sql, local_path);
        buf_append_z(sql, ", hive_partitioning = false) AS f");
        if (rows->end > 0)
            buf_printf(sql, " WHERE file_row_number >= %lld AND file_row_number < %lld", (long long)rows->first, (long long)rows->end);
        else
            write_null_filter(sql, file, rows);
    }
    arena_free(a);
    return status;
}

static silt_status open_rows(parquet_service *s, str local_path, const data_type *columns, const row_choice *rows,
                             struct ArrowArrayStream *out, silt_error *err) {
    parquet_reader *r = calloc(1, sizeof *r);
    if (!r) return error_no_memory(err);
    buf sql;
    buf_init(&sql, BUF_MAX_DEFAULT);
    silt_status status = SILT_OK;
    r->arena = arena_new();
    r->columns = r->arena ? copy_type(r->arena, columns) : NULL;
    if (!r->columns) TRY_OUT(error_no_memory(err));
    TRY_OUT(print_read(s->ctx, local_path, columns, rows, &sql, err));
    const char *text = buf_cstr(&sql);
    if (!text) TRY_OUT(error_no_memory(err));
    engine_connection *c;
    TRY_OUT(engine_connect(s->ctx, &c, err));
    TRY_OUT(name_file(engine_stream_open(c, text, &r->stream, err), local_path, err));
    buf_dispose(&sql);
    *out = (struct ArrowArrayStream){reader_schema, reader_next, reader_error, reader_release, r};
    return SILT_OK;
out:
    buf_dispose(&sql);
    arena_free(r->arena);
    free(r);
    return status;
}

static silt_status parquet_read_where_null(parquet_service *s, str local_path, const data_type *columns, const str *leaves,
                                           size_t n_leaves, struct ArrowArrayStream *out, silt_error *err) {
    return open_rows(s, local_path, columns, &(row_choice){.null_leaves = leaves, .n_null_leaves = n_leaves}, out, err);
}

static silt_status parquet_read_rows(parquet_service *s, str local_path, const data_type *columns, int64_t first, int64_t end,
                                     struct ArrowArrayStream *out, silt_error *err) {
    return open_rows(s, local_path, columns, &(row_choice){.first = first, .end = end}, out, err);
}

static silt_status parquet_count_rows(parquet_service *s, str local_path, int64_t *out, silt_error *err) {
    engine_connection *c;
    TRY(engine_connect(s->ctx, &c, err));
    buf sql;
    buf_init(&sql, BUF_MAX_DEFAULT);
    buf_append_z(&sql, "SELECT sum(num_rows)::BIGINT FROM parquet_file_metadata(");
    engine_write_path(&sql, local_path);
    buf_append_char(&sql, ')');
    duckdb_result result;
    const char *text = buf_cstr(&sql);
    silt_status status = text ? name_file(engine_query(c, text, &result, err), local_path, err) : error_no_memory(err);
    buf_dispose(&sql);
    if (status == SILT_OK) {
        *out = duckdb_value_int64(&result, 0, 0);
        duckdb_destroy_result(&result);
    }
    engine_disconnect(c);
    return status;
}

static silt_status parquet_read(parquet_service *s, str local_path, const data_type *columns, struct ArrowArrayStream *out,
                                silt_error *err) {
    return open_rows(s, local_path, columns, &(row_choice){0}, out, err);
}

/* ---- writing ---- */

static silt_status parquet_write(parquet_service *s, str local_path, const data_type *columns, struct ArrowArrayStream *rows,
                                 silt_error *err) {
    engine *e = s->ctx;
    engine_connection *c = NULL;
    arrow_input *input = NULL;
    buf sql;
    buf_init(&sql, BUF_MAX_DEFAULT);
    silt_status status;
    TRY_OUT(engine_connect(e, &c, err));
    TRY_OUT(arrow_input_open(e, rows, columns, &input, err));
    buf_append_z(&sql, "COPY (SELECT ");
    for (size_t i = 0; i < columns->n_fields; i++) {
        buf_printf(&sql, "%sc%zu AS ", i ? ", " : "", i);
        engine_write_name(&sql, columns->fields[i].name);
    }
    buf_printf(&sql, " FROM silt_arrow(%llu)) TO ", (unsigned long long)arrow_input_id(input));
    engine_write_literal(&sql, local_path);
    buf_append_z(&sql, " (FORMAT parquet, COMPRESSION snappy)");
    const char *text = buf_cstr(&sql);
    if (!text) TRY_OUT(error_no_memory(err));
    status = engine_execute(c, text, err);
    if (status != SILT_OK && arrow_input_error(input)->status != SILT_OK) {
        if (err) *err = *arrow_input_error(input);
        status = arrow_input_error(input)->status;
    }
out:
    arrow_input_close(input);
    engine_disconnect(c);
    buf_dispose(&sql);
    return status;
}

static void parquet_soon(parquet_service *s) { engine_open_ahead(s->ctx); }

void engine_parquet_init(engine *e) {
    e->parquet = (parquet_service){.ctx = e,
                                   .read = parquet_read,
                                   .read_schema = parquet_read_schema,
                                   .write = parquet_write,
                                   .read_where_null = parquet_read_where_null,
                                   .read_rows = parquet_read_rows,
                                   .count_rows = parquet_count_rows,
                                   .soon = parquet_soon};
}
