#include "support.h"

#include <sys/stat.h>
#include <unistd.h>

#include "base/time.h"
#include "engine/internal.h"

fixture fix;
const bind_env plain_env = {.time_zone = {"UTC", 3}, .ansi = true};

int fixture_open(void **state) {
    (void)state;
    silt_error err = {0};
    fix = (fixture){.arena = arena_new()};
    snprintf(fix.folder, sizeof fix.folder, "/tmp/silt-engine-XXXXXX");
    if (!mkdtemp(fix.folder)) return -1;
    engine_options options = {.threads = 2, .cancel = &fix.cancel};
    if (engine_open(&options, &fix.engine, &err) != SILT_OK || store_local_open(&fix.store, &err) != SILT_OK) {
        print_error("%s: %s %s\n", err.condition, err.message, err.detail);
        return -1;
    }
    return 0;
}

int fixture_close(void **state) {
    (void)state;
    char command[128];
    engine_close(fix.engine);
    store_close(fix.store);
    arena_free(fix.arena);
    snprintf(command, sizeof command, "rm -rf '%s'", fix.folder);
    return system(command) == 0 ? 0 : -1;
}

void assert_ok(silt_status status, const silt_error *err) {
    if (status != SILT_OK) print_error("%s: %s | %s\n", err->condition, err->message, err->detail);
    assert_int_equal(status, SILT_OK);
}

void assert_condition(silt_status status, const silt_error *err, const char *condition) {
    assert_int_not_equal(status, SILT_OK);
    if (strcmp(err->condition, condition) != 0) print_error("%s: %s | %s\n", err->condition, err->message, err->detail);
    assert_string_equal(err->condition, condition);
    assert_int_equal(err->status, status);
}

str in_folder(const char *name) { return arena_printf(fix.arena, "%s/%s", fix.folder, name); }

static char *with_folder(const char *sql) {
    buf out;
    buf_init(&out, BUF_MAX_DEFAULT);
    for (const char *p = sql; *p; p++) {
        if (p[0] == '{' && p[1] == '}') {
            buf_append_z(&out, fix.folder);
            p++;
        } else
            buf_append_char(&out, *p);
    }
    char *text = arena_cstr(fix.arena, buf_str(&out));
    buf_dispose(&out);
    return text;
}

void run_sql(const char *sql) {
    engine_connection *c;
    silt_error err = {0};
    assert_ok(engine_connect(fix.engine, &c, &err), &err);
    assert_ok(engine_execute(c, with_folder(sql), &err), &err);
    engine_disconnect(c);
}

/* ---- tables ---- */

static silt_status fake_scan(const table_source *t, const predicate *where, arena *a, table_scan *out, silt_error *err) {
    (void)where;
    (void)a;
    (void)err;
    fake_table *f = (fake_table *)(uintptr_t)t;
    f->scans++;
    *out = (table_scan){.files = f->files, .n_files = f->n_files, .total_files = f->n_files};
    for (size_t i = 0; i < f->n_files; i++) out->read_bytes += f->files[i].size_bytes;
    return SILT_OK;
}

static bool fake_row_count(const table_source *t, int64_t *out) {
    *out = ((const fake_table *)t)->rows;
    return *out >= 0;
}

static bool fake_bounds(const table_source *t, column_path column, arena *a, value *out_min, value *out_max) {
    (void)a;
    const fake_table *f = (const fake_table *)t;
    const data_type *type = t->schema->fields[column.index[0]].type;
    *out_min = (value){.type = type, .as.i64 = f->low};
    *out_max = (value){.type = type, .as.i64 = f->high};
    return f->has_bounds;
}

static void fake_release(table_source *t) { (void)t; }

fake_table *make_table(const char *ddl) {
    static const table_source_ops ops = {fake_scan, fake_row_count, fake_bounds, fake_release};
    fake_table *t = ARENA_NEW(fix.arena, fake_table);
    const data_type *schema;
    silt_error err = {0};
    assert_ok(schema_parse_ddl(str_of(ddl), fix.arena, &schema, &err), &err);
    *t = (fake_table){.base = {.ops = &ops,
                               .schema = schema,
                               .match = MATCH_BY_NAME,
                               .description = STR("delta.`/t`"),
                               .format = STR("delta"),
                               .version = 0},
                      .rows = -1};
    t->files = ARENA_ARRAY(fix.arena, 64, scan_file);
    return t;
}

scan_file *add_file(fake_table *t, const char *name) {
    scan_file *f = &t->files[t->n_files];
    *f = (scan_file){.path = in_folder(name),
                     .store = fix.store,
                     .num_records = -1,
                     .base_row_id = -1,
                     .default_row_commit_version = -1,
                     .index = t->n_files};
    struct stat sb;
    if (stat(f->path.ptr, &sb) == 0) f->size_bytes = (int64_t)sb.st_size;
    t->n_files++;
    return f;
}

static void free_bitmap(void *b) { bitmap_free(b); }

const bitmap *deleted_rows(const int64_t *rows, size_t n) {
    bitmap *b = bitmap_new();
    arena_defer(fix.arena, free_bitmap, b);
    for (size_t i = 0; i < n; i++) assert_true(bitmap_add(b, (uint64_t)rows[i]));
    return b;
}

/* ---- queries ---- */

relation *make_relation(fake_table *t) { return relation_over(&t->base); }

relation *relation_over(table_source *t) {
    relation *r = ARENA_NEW(fix.arena, relation);
    const data_type *schema = t->schema;
    *r = (relation){
        .kind = REL_TABLE, .id = 1, .source = t, .sample_percent = -1, .sample_rows = -1, .n_columns = schema->n_fields + 1};
    r->columns = ARENA_ARRAY(fix.arena, r->n_columns, relation_column);
    r->column_used = ARENA_ARRAY(fix.arena, r->n_columns, bool);
    for (size_t i = 0; i < schema->n_fields; i++)
        r->columns[i] = (relation_column){.name = schema->fields[i].name, .type = schema->fields[i].type, .nullable = true};
    r->columns[schema->n_fields] =
        (relation_column){.name = STR("_metadata"), .type = relation_metadata_type(t, fix.arena), .hidden = true};
    return r;
}

static expr *column_at(relation *r, size_t i) {
    expr *e = expr_new(fix.arena, EXPR_COLUMN, (source_span){0, 0});
    e->source = r;
    e->column = (uint32_t)i;
    e->type = r->columns[i].type;
    e->nullable = true;
    r->column_used[i] = true;
    return e;
}

expr *column_of(relation *r, const char *name) {
    for (size_t i = 0; i < r->n_columns; i++)
        if (str_eqz(r->columns[i].name, name)) return column_at(r, i);
    fail_msg("no column %s", name);
    return NULL;
}

expr *long_literal(int64_t v) {
    expr *e = expr_new(fix.arena, EXPR_LITERAL, (source_span){0, 0});
    e->literal = (value){.type = &type_long, .as.i64 = v};
    e->type = &type_long;
    return e;
}

expr *call_of(const char *name, const data_type *type, expr *a, expr *b) {
    expr *args[2] = {a, b};
    expr *e = expr_call(fix.arena, name, args, b ? 2 : a ? 1 : 0, (source_span){0, 0});
    e->type = type;
    bool known;
    e->function = function_find(str_of(name), e->n_args, &known);
    return e;
}

query *make_query(relation *r, expr *const *items, size_t n, expr *where) {
    query *q = ARENA_NEW(fix.arena, query);
    *q = (query){.from = r, .where = where, .n_projections = n, .n_columns = n, .id = 1};
    q->projections = ARENA_ARRAY(fix.arena, n, expr *);
    q->column_names = ARENA_ARRAY(fix.arena, n, str);
    q->column_types = ARENA_ARRAY(fix.arena, n, const data_type *);
    q->column_nullable = ARENA_ARRAY(fix.arena, n, bool);
    for (size_t i = 0; i < n; i++) {
        q->projections[i] = items[i];
        q->column_names[i] = arena_printf(fix.arena, "c%zu", i);
        q->column_types[i] = items[i]->type;
        q->column_nullable[i] = true;
    }
    return q;
}

query *select_all(relation *r) {
    size_t n = r->source->schema->n_fields;
    expr **items = ARENA_ARRAY(fix.arena, n, expr *);
    for (size_t i = 0; i < n; i++) items[i] = column_at(r, i);
    query *q = make_query(r, items, n, NULL);
    for (size_t i = 0; i < n; i++) q->column_names[i] = r->source->schema->fields[i].name;
    return q;
}

/* ---- rows as text ---- */

static bool is_valid(const struct ArrowArray *a, int64_t i) {
    return a->n_buffers == 0
               ? false
               : !a->buffers[0] || (((const uint8_t *)a->buffers[0])[(a->offset + i) >> 3] >> ((a->offset + i) & 7) & 1);
}

static void write_list(buf *out, const struct ArrowArray *a, const data_type *type, int64_t row) {
    const int32_t *offsets = a->buffers[1];
    bool map = type->id == TYPE_MAP;
    buf_append_char(out, map ? '{' : '[');
    for (int32_t i = offsets[row]; i < offsets[row + 1]; i++) {
        if (i > offsets[row]) buf_append_char(out, ' ');
        if (map) {
            write_array_value(out, a->children[0]->children[0], type->key, i);
            buf_append_char(out, ':');
            write_array_value(out, a->children[0]->children[1], type->element, i);
        } else
            write_array_value(out, a->children[0], type->element, i);
    }
    buf_append_char(out, map ? '}' : ']');
}

static void write_bytes(buf *out, const struct ArrowArray *a, const data_type *type, int64_t row) {
    const int32_t *offsets = a->buffers[1];
    str s = {(const char *)a->buffers[2] + offsets[row], (size_t)(offsets[row + 1] - offsets[row])};
    if (type->id != TYPE_BINARY)
        buf_append(out, s);
    else
        for (size_t i = 0; i < s.len; i++) buf_printf(out, "%02x", (unsigned char)s.ptr[i]);
}

void write_array_value(buf *out, const struct ArrowArray *a, const data_type *type, int64_t row) {
    if (!is_valid(a, row)) {
        buf_append_z(out, "null");
        return;
    }
    const void *data = type->id == TYPE_STRUCT ? NULL : a->buffers[1];
    switch (type->id) {
        case TYPE_BOOLEAN: buf_append_z(out, ((const uint8_t *)data)[row >> 3] >> (row & 7) & 1 ? "true" : "false"); break;
        case TYPE_BYTE: buf_append_i64(out, ((const int8_t *)data)[row]); break;
        case TYPE_SHORT: buf_append_i64(out, ((const int16_t *)data)[row]); break;
        case TYPE_INT: buf_append_i64(out, ((const int32_t *)data)[row]); break;
        case TYPE_LONG: buf_append_i64(out, ((const int64_t *)data)[row]); break;
        case TYPE_FLOAT: text_write_f32_java(out, ((const float *)data)[row]); break;
        case TYPE_DOUBLE: text_write_f64_java(out, ((const double *)data)[row]); break;
        case TYPE_DECIMAL: {
            int128 v;
            memcpy(&v, (const char *)data + row * 16, 16);
            decimal_write(out, v, type->scale);
            break;
        }
        case TYPE_DATE: time_write_date(out, ((const int32_t *)data)[row]); break;
        case TYPE_TIMESTAMP: time_write_timestamp_short(out, ((const int64_t *)data)[row], 'T'), buf_append_char(out, 'Z'); break;
        case TYPE_TIMESTAMP_NTZ: time_write_timestamp_short(out, ((const int64_t *)data)[row], 'T'); break;
        case TYPE_ARRAY:
        case TYPE_MAP: write_list(out, a, type, row); break;
        case TYPE_STRUCT:
            buf_append_char(out, '(');
            for (size_t i = 0; i < type->n_fields; i++) {
                if (i) buf_append_char(out, ' ');
                write_array_value(out, a->children[i], type->fields[i].type, row);
            }
            buf_append_char(out, ')');
            break;
        default: write_bytes(out, a, type, row); break;
    }
}

static void write_batch(buf *out, const struct ArrowArray *batch, const data_type *type) {
    for (int64_t row = 0; row < batch->length; row++) {
        if (out->len) buf_append_char(out, '\n');
        for (size_t i = 0; i < type->n_fields; i++) {
            if (i) buf_append_char(out, ',');
            write_array_value(out, batch->children[i], type->fields[i].type, row);
        }
    }
}

silt_status try_rows(query *q, const char **out, silt_error *err) {
    engine_result *result;
    silt_status status = engine_run(fix.engine, q, &plain_env, &result, err);
    if (status != SILT_OK) return status;
    buf text;
    buf_init(&text, BUF_MAX_DEFAULT);
    for (;;) {
        struct ArrowArray batch;
        status = engine_result_next(result, &batch, err);
        if (status != SILT_OK || !batch.release) break;
        write_batch(&text, &batch, engine_result_type(result));
        batch.release(&batch);
    }
    *out = arena_cstr(fix.arena, buf_str(&text));
    buf_dispose(&text);
    engine_result_free(result);
    return status;
}

const char *rows_of(query *q) {
    const char *text = NULL;
    silt_error err = {0};
    assert_ok(try_rows(q, &text, &err), &err);
    return text;
}

const char *duck_rows(const char *sql) {
    engine_connection *c;
    engine_stream stream;
    silt_error err = {0};
    assert_ok(engine_connect(fix.engine, &c, &err), &err);
    assert_ok(engine_stream_open(c, with_folder(sql), &stream, &err), &err);
    size_t n = duckdb_column_count(&stream.result);
    field *fields = ARENA_ARRAY(fix.arena, n, field);
    for (size_t i = 0; i < n; i++) {
        duckdb_logical_type type = duckdb_column_logical_type(&stream.result, i);
        const data_type *made;
        assert_ok(engine_type_from_duck(type, fix.arena, &made, &err), &err);
        duckdb_destroy_logical_type(&type);
        fields[i] = field_make(STR("c"), made, true);
    }
    const data_type *type = type_struct(fix.arena, fields, n);
    buf text;
    buf_init(&text, BUF_MAX_DEFAULT);
    duckdb_data_chunk chunk;
    for (;;) {
        assert_ok(engine_stream_next(&stream, &chunk, &err), &err);
        if (!chunk) break;
        struct ArrowArray batch;
        assert_ok(engine_chunk_to_arrow(chunk, type, &batch, &err), &err);
        duckdb_destroy_data_chunk(&chunk);
        write_batch(&text, &batch, type);
        batch.release(&batch);
    }
    engine_stream_close(&stream);
    const char *kept = arena_cstr(fix.arena, buf_str(&text));
    buf_dispose(&text);
    return kept;
}
