/* Logs in memory for the tests of the reading half. */
#include "read_support.h"

#include <stdio.h>
#include <stdlib.h>

#include "table/arrow.h"
#include "table/value.h"

/* ---- the log ---- */

str log_text(log_fixture *f, const char *text) {
    buf b;
    buf_init(&b, BUF_MAX_DEFAULT);
    for (; *text; text++) {
        if (*text == '\'')
            buf_append_char(&b, '"');
        else if (*text == '`')
            buf_append_z(&b, "\\\"");
        else
            buf_append_char(&b, *text);
    }
    assert_true(buf_ok(&b));
    str out = arena_str(f->arena, buf_str(&b));
    buf_dispose(&b);
    assert_non_null(out.ptr);
    return out;
}

void log_put(log_fixture *f, const char *name, const char *text) {
    str path = arena_printf(f->arena, "/t/_delta_log/%s", name);
    assert_int_equal(store_put(f->store, path, log_text(f, text), STORE_PUT_REPLACE, &f->err), SILT_OK);
}

const char *log_name(log_fixture *f, int64_t version, const char *suffix) {
    return arena_printf(f->arena, "%020lld%s", (long long)version, suffix).ptr;
}
void log_commit(log_fixture *f, int64_t version, const char *text) { log_put(f, log_name(f, version, ".json"), text); }

void log_remove(log_fixture *f, const char *name) {
    assert_int_equal(store_remove(f->store, arena_printf(f->arena, "/t/_delta_log/%s", name), &f->err), SILT_OK);
}

void assert_condition(const silt_error *err, const char *condition) {
    if (strcmp(err->condition, condition) != 0)
        fail_msg("expected %s, got %s: %s (%s)", condition, err->condition, err->message, err->detail);
}

void assert_text(const char *expected, str got) {
    if (!str_eqz(got, expected)) fail_msg("expected \"%s\", got \"%.*s\"", expected, STR_ARG(got));
}

delta_snapshot *log_load(log_fixture *f, int64_t version) {
    delta_snapshot *s;
    if (delta_snapshot_load(&f->env, LOG_ROOT, version, &s, &f->err) != SILT_OK)
        fail_msg("%s: %s (%s)", f->err.condition, f->err.message, f->err.detail);
    return s;
}

void log_load_fails(log_fixture *f, int64_t version, const char *condition) {
    delta_snapshot *s = NULL;
    f->err = (silt_error){0};
    silt_status status = delta_snapshot_load(&f->env, LOG_ROOT, version, &s, &f->err);
    delta_snapshot_release(s);
    if (status == SILT_OK) fail_msg("expected %s, but it was loaded", condition);
    assert_int_equal(status, f->err.status);
    assert_condition(&f->err, condition);
}

static silt_status append_add(void *ctx, size_t i, const delta_add *add, silt_error *err) {
    buf *b = ctx;
    (void)i;
    (void)err;
    if (b->len) buf_append_char(b, ',');
    buf_append(b, add->path);
    return SILT_OK;
}

static silt_status append_remove(void *ctx, const delta_remove *remove, silt_error *err) {
    return append_add(ctx, 0, &(delta_add){.path = remove->path}, err);
}

static const char *take(log_fixture *f, buf *b) {
    const char *out = arena_cstr(f->arena, buf_str(b));
    buf_dispose(b);
    assert_non_null(out);
    return out;
}

const char *log_files(log_fixture *f, const delta_snapshot *s) {
    buf b;
    buf_init(&b, BUF_MAX_DEFAULT);
    assert_int_equal(delta_snapshot_each_file(s, false, append_add, &b, &f->err), SILT_OK);
    return take(f, &b);
}

const char *log_removes(log_fixture *f, const delta_snapshot *s) {
    buf b;
    buf_init(&b, BUF_MAX_DEFAULT);
    assert_int_equal(delta_snapshot_each_remove(s, append_remove, &b, &f->err), SILT_OK);
    return take(f, &b);
}

/* ---- JSON as Parquet ---- */

static bool append_json(arrow_builder *b, const data_type *t, const json_node *n, arena *a);

static bool append_items(arrow_builder *b, const data_type *t, const json_node *n, arena *a) {
    for (size_t i = 0; i < n->count; i++) {
        if (t->id == TYPE_MAP && !arrow_append_str(arrow_child(b, 0), n->keys[i])) return false;
        if (!append_json(arrow_child(b, t->id == TYPE_MAP ? 1 : 0), t->element, &n->values[i], a)) return false;
    }
    return arrow_finish_row(b);
}

static bool append_json(arrow_builder *b, const data_type *t, const json_node *n, arena *a) {
    int64_t i = 0;
    double d = 0;
    value v;
    if (!n || n->type == JSON_NULL) return arrow_append_null(b);
    switch (t->id) {
        case TYPE_STRUCT:
            for (size_t k = 0; k < t->n_fields; k++)
                if (!append_json(arrow_child(b, k), t->fields[k].type, json_get(n, arena_cstr(a, t->fields[k].name)), a))
                    return false;
            return arrow_finish_row(b);
        case TYPE_ARRAY:
        case TYPE_MAP: return append_items(b, t, n, a);
        case TYPE_BOOLEAN: return arrow_append_bool(b, n->boolean);
        case TYPE_STRING: return arrow_append_str(b, n->text);
        case TYPE_FLOAT:
        case TYPE_DOUBLE: return json_node_f64(n, &d) && arrow_append_f64(b, d);
        case TYPE_DECIMAL: return value_from_stats_json(n, t, &v, a) && arrow_append_decimal(b, v.as.decimal);
        case TYPE_DATE:
        case TYPE_TIMESTAMP:
        case TYPE_TIMESTAMP_NTZ: return value_from_stats_json(n, t, &v, a) && arrow_append_i64(b, v.as.i64);
        default: return json_node_i64(n, &i) && arrow_append_i64(b, i);
    }
}

typedef struct json_stream {
    int64_t row, first, end; /* only rows [first, end) where end > 0 */
    const str *null_leaves;  /* only rows in which these are null */
    size_t n_null_leaves;
    buf text;
    str rest;
    const data_type *type;
    arena *arena;
    silt_error err;
} json_stream;

static int stream_schema(struct ArrowArrayStream *s, struct ArrowSchema *out) {
    json_stream *j = s->private_data;
    return arrow_schema_from_type(j->type, out, &j->err) == SILT_OK ? 0 : 5;
}

static bool is_chosen(json_stream *j, const json_node *row) {
    int64_t number = j->row++;
    if (j->end > 0 && (number < j->first || number >= j->end)) return false;
    for (size_t i = 0; i < j->n_null_leaves; i++) {
        str rest = j->null_leaves[i], piece;
        const json_node *n = row;
        while (n && str_next(&rest, '.', &piece)) n = json_get(n, arena_cstr(j->arena, piece));
        if (n && n->type != JSON_NULL) return false;
    }
    return true;
}

/* Two rows a batch, so that every test meets a border. */
static int stream_next(struct ArrowArrayStream *s, struct ArrowArray *out) {
    json_stream *j = s->private_data;
    arrow_builder *b = arrow_builder_new(j->type);
    str line;
    bool good = b != NULL;
    for (int i = 0; good && i < 2 && str_next(&j->rest, '\n', &line);) {
        const json_node *n;
        if (line.len == 0) continue;
        good = json_parse(line, j->arena, &n, &j->err) == SILT_OK;
        if (!good || !is_chosen(j, n)) continue;
        good = append_json(b, j->type, n, j->arena);
        i++;
    }
    memset(out, 0, sizeof *out);
    if (good && arrow_builder_rows(b) > 0) good = arrow_builder_finish(b, out, &j->err) == SILT_OK;
    arrow_builder_free(b);
    return good ? 0 : 5;
}

static const char *stream_error(struct ArrowArrayStream *s) { return ((json_stream *)s->private_data)->err.message; }

static void stream_release(struct ArrowArrayStream *s) {
    json_stream *j = s->private_data;
    buf_dispose(&j->text);
    arena_free(j->arena);
    free(j);
    s->release = NULL;
}

/* The file's bytes; *out_schema is its first line. */
static silt_status open_json(str local_path, buf *text, str *out_schema, str *out_rest, silt_error *err) {
    store *files;
    buf_init(text, BUF_MAX_DEFAULT);
    TRY(store_local_open(&files, err));
    silt_status status = store_read(files, local_path, 0, -1, text, err);
    store_close(files);
    *out_rest = buf_str(text);
    if (status == SILT_OK && !str_next(out_rest, '\n', out_schema)) status = err_FAILED_READ_FILE(err, local_path, "it is empty");
    return status;
}

static silt_status open_stream(str local_path, const data_type *columns, const json_stream *choice, struct ArrowArrayStream *out,
                               silt_error *err) {
    json_stream *j = calloc(1, sizeof *j);
    str schema;
    assert_non_null(j);
    *j = *choice;
    j->type = columns; /* the caller's type outlives the stream in these tests */
    j->arena = arena_new();
    *out = (struct ArrowArrayStream){stream_schema, stream_next, stream_error, stream_release, j};
    silt_status status = open_json(local_path, &j->text, &schema, &j->rest, err);
    if (status != SILT_OK) stream_release(out);
    return status;
}

static silt_status fake_read(parquet_service *s, str local_path, const data_type *columns, struct ArrowArrayStream *out,
                             silt_error *err) {
    (void)s;
    return open_stream(local_path, columns, &(json_stream){0}, out, err);
}

static silt_status fake_read_where_null(parquet_service *s, str local_path, const data_type *columns, const str *leaves, size_t n,
                                        struct ArrowArrayStream *out, silt_error *err) {
    (void)s;
    return open_stream(local_path, columns, &(json_stream){.null_leaves = leaves, .n_null_leaves = n}, out, err);
}

static silt_status fake_read_rows(parquet_service *s, str local_path, const data_type *columns, int64_t first, int64_t end,
                                  struct ArrowArrayStream *out, silt_error *err) {
    (void)s;
    return open_stream(local_path, columns, &(json_stream){.first = first, .end = end}, out, err);
}

static silt_status fake_count_rows(parquet_service *s, str local_path, int64_t *out, silt_error *err) {
    buf text;
    str schema, rest, line;
    (void)s;
    *out = 0;
    silt_status status = open_json(local_path, &text, &schema, &rest, err);
    while (status == SILT_OK && str_next(&rest, '\n', &line)) *out += line.len > 0;
    buf_dispose(&text);
    return status;
}

static silt_status fake_read_schema(parquet_service *s, str local_path, arena *a, const data_type **out, silt_error *err) {
    buf text;
    str schema, rest;
    (void)s;
    silt_status status = open_json(local_path, &text, &schema, &rest, err);
    if (status == SILT_OK) status = schema_parse_json(schema, a, out, err);
    buf_dispose(&text);
    return status;
}

/* ---- fixture ---- */

int log_setup(void **state) {
    log_fixture *f = calloc(1, sizeof *f);
    if (!f || !(f->arena = arena_new()) || store_memory_open(1000, &f->store, &f->err) != SILT_OK) return -1;
    f->parquet = (parquet_service){.read = fake_read,
                                   .read_schema = fake_read_schema,
                                   .read_where_null = fake_read_where_null,
                                   .read_rows = fake_read_rows,
                                   .count_rows = fake_count_rows};
    f->env = (delta_env){.store = f->store, .parquet = &f->parquet};
    *state = f;
    return 0;
}

int log_teardown(void **state) {
    log_fixture *f = *state;
    store_close(f->store);
    arena_free(f->arena);
    free(f);
    return 0;
}
