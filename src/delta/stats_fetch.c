/* Fetching statistics: see the header. */
#include "delta/stats_fetch.h"

#include "base/json.h"
#include "base/time.h"
#include "delta/arrow_read.h"
#include "delta/checkpoint_read.h"
#include "delta/json_walk.h"
#include "delta/log_fetch.h"
#include "delta/log_parse.h"
#include "table/value.h"

/* ---- one text ---- */

/* {"numRecords":N in front, as every writer has it: parsing a million texts for one number takes longer than reading them. */
static bool records_in_front(str stats, int64_t *out) {
    static const char front[] = "{\"numRecords\":";
    size_t at = sizeof front - 1, end = at;
    if (stats.len <= at || memcmp(stats.ptr, front, at) != 0) return false;
    for (*out = 0; end < stats.len && end < at + 18 && stats.ptr[end] >= '0' && stats.ptr[end] <= '9'; end++)
        *out = *out * 10 + (stats.ptr[end] - '0');
    return end > at && end < stats.len && (stats.ptr[end] == ',' || stats.ptr[end] == '}');
}

bool stats_num_records(str stats, arena *scratch, int64_t *out) {
    const json_node *root = NULL;
    if (records_in_front(stats, out)) return true;
    if (str_is_null(stats) || json_parse(stats, scratch, &root, NULL) != SILT_OK) return false;
    const json_node *node = json_get(root, "numRecords");
    return node && json_node_i64(node, out) && *out >= 0;
}

/* ---- */

typedef struct fetch {
    const delta_env *env;
    const file_batch *b;
    const uint32_t *rows;
    uint32_t n;
    stats_fn fn;
    void *ctx;
    buf text;  /* a window of the log */
    buf plain; /* one text, unescaped or written */
} fetch;

static uint32_t row_at(const fetch *f, uint32_t k) { return f->rows ? f->rows[k] : k; }

/* ---- from the log ---- */

#define WINDOW_BYTES (4 << 20)
#define GAP_BYTES    (64 << 10)

/* The last k of a window that starts at k: tokens near each other in one file are read at once. */
static uint32_t window_end(const fetch *f, uint32_t k, uint32_t limit, int64_t *out_from, int64_t *out_to) {
    *out_from = *out_to = -1;
    for (; k < limit; k++) {
        const file_row *r = &f->b->rows[row_at(f, k)];
        if (!(r->flags & ROW_HAS_STATS)) continue;
        int64_t end = r->stats_offset + r->stats_len;
        if (*out_from < 0)
            *out_from = r->stats_offset;
        else if (r->stats_offset - *out_to > GAP_BYTES || end - *out_from > WINDOW_BYTES)
            break;
        *out_to = end;
    }
    return k;
}

static silt_status emit_raw(fetch *f, uint32_t k, int64_t from, silt_error *err) {
    const file_row *r = &f->b->rows[row_at(f, k)];
    if (!(r->flags & ROW_HAS_STATS)) return f->fn(f->ctx, k, STR_NULL, err);
    str raw = {f->text.ptr + (r->stats_offset - from) + 1, r->stats_len - 2};
    if (json_raw_is_plain(raw)) return f->fn(f->ctx, k, raw, err);
    buf_clear(&f->plain);
    bool good = json_raw_unescape(raw, &f->plain);
    if (f->plain.failed) return error_no_memory(err);
    return f->fn(f->ctx, k, good ? buf_str(&f->plain) : STR_NULL, err);
}

static silt_status fetch_window(fetch *f, const batch_source *s, uint32_t k, uint32_t end, int64_t from, int64_t to,
                                silt_error *err) {
    buf_clear(&f->text);
    if (from >= 0) {
        silt_status status = store_read(f->env->store, s->path, from, to - from, &f->text, err);
        if (status == SILT_NOT_FOUND) return store_path_error(f->env->store, s->path, err_DELTA_LOG_FILE_NOT_FOUND, err);
        TRY(status);
        if (f->text.len != (size_t)(to - from))
            return log_parse_bad_line(f->env->store, s->path, from, "the file has become shorter", err);
    }
    for (; k < end; k++) TRY(emit_raw(f, k, from, err));
    return SILT_OK;
}

static silt_status fetch_log(fetch *f, const batch_source *s, uint32_t k, uint32_t limit, silt_error *err) {
    while (k < limit) {
        int64_t from, to;
        uint32_t end = window_end(f, k, limit, &from, &to);
        TRY(cancel_check(f->env->cancel, err));
        TRY(fetch_window(f, s, k, end, from, to, err));
        k = end;
    }
    return SILT_OK;
}

/* ---- from a checkpoint ---- */

typedef struct column_reader {
    fetch *f;
    const batch_source *source;
    const data_type *parsed; /* type of stats_parsed, NULL when it is not read */
    uint32_t k, limit;       /* next row to emit */
    int64_t row;             /* of the file, at the start of the batch */
    bool checks_paths;       /* the file may be another one than the batch was read from */
    bool needs_parsed;       /* a row has no JSON: begin again with both columns */
    bool rewritten;          /* and it is: its rows are not those of the batch */
    bool stopped;            /* all rows have been emitted, or needs_parsed, or rewritten */
} column_reader;

static void write_leaf(buf *out, const arrow_column *c, const data_type *t, int64_t i) {
    const void *values = c->array->n_buffers > 1 ? c->array->buffers[1] : NULL;
    switch (t->id) {
        case TYPE_BOOLEAN: buf_append_z(out, arrow_bool(c, i, false) ? "true" : "false"); break;
        case TYPE_FLOAT: json_write_f32(out, ((const float *)values)[i + c->base]); break;
        case TYPE_DOUBLE: json_write_f64(out, ((const double *)values)[i + c->base]); break;
        case TYPE_STRING: json_write_str(out, arrow_str(c, i)); break;
        case TYPE_DECIMAL: {
            int128 unscaled;
            memcpy(&unscaled, (const char *)values + (i + c->base) * 16, sizeof unscaled);
            decimal_write(out, unscaled, t->scale);
            break;
        }
        case TYPE_DATE:
            buf_append_char(out, '"');
            time_write_date(out, arrow_i64(c, i, 0));
            buf_append_char(out, '"');
            break;
        case TYPE_TIMESTAMP:
        case TYPE_TIMESTAMP_NTZ:
            buf_append_char(out, '"');
            time_write_timestamp(out, arrow_i64(c, i, 0), 'T', 6, t->id == TYPE_TIMESTAMP ? "Z" : "");
            buf_append_char(out, '"');
            break;
        default: buf_append_i64(out, arrow_i64(c, i, 0)); break;
    }
}

static bool has_json_form(const data_type *t) {
    return t->id == TYPE_STRUCT || (t->id >= TYPE_BOOLEAN && t->id <= TYPE_STRING) ||
           (t->id >= TYPE_DATE && t->id <= TYPE_TIMESTAMP_NTZ);
}

/* A struct as the JSON object that Delta's statistics would be: absent where null. */
static void write_struct(buf *out, const arrow_column *c, const data_type *t, int64_t i) {
    bool first = true;
    buf_append_char(out, '{');
    for (size_t k = 0; k < t->n_fields; k++) {
        const data_type *type = t->fields[k].type;
        if ((int64_t)k >= c->schema->n_children || !has_json_form(type)) continue;
        arrow_column child = arrow_column_child(c, (int64_t)k);
        if (arrow_is_null(&child, i)) continue;
        json_write_key_str(out, &first, t->fields[k].name);
        if (type->id == TYPE_STRUCT)
            write_struct(out, &child, type, i);
        else
            write_leaf(out, &child, type, i);
    }
    buf_append_char(out, '}');
}

static silt_status emit_columns(column_reader *r, const arrow_column *stats, const arrow_column *parsed, int64_t i,
                                silt_error *err) {
    fetch *f = r->f;
    str text = arrow_str(stats, i);
    if (text.ptr) return f->fn(f->ctx, r->k, text, err);
    if (!r->parsed || arrow_is_null(parsed, i)) return f->fn(f->ctx, r->k, STR_NULL, err);
    buf_clear(&f->plain);
    write_struct(&f->plain, parsed, r->parsed, i);
    if (f->plain.failed) return error_no_memory(err);
    return f->fn(f->ctx, r->k, f->plain.len > 2 ? buf_str(&f->plain) : STR_NULL, err);
}

/* Ends the stream early: the status only stops arrow_each_batch, fetch_pass looks at `stopped`. */
static silt_status stop(column_reader *r) {
    r->stopped = true;
    return SILT_CANCELLED;
}

/* Whoever writes a checkpoint of that version again may have its rows in another order. */
static bool is_of_row(const column_reader *r, const arrow_column *path, int64_t i) {
    return !r->checks_paths || str_eq(arrow_str(path, i), file_batch_path(r->f->b, row_at(r->f, r->k)));
}

static silt_status take_columns(void *ctx, const struct ArrowSchema *schema, const struct ArrowArray *array, silt_error *err) {
    column_reader *r = ctx;
    arrow_column root = arrow_column_root(schema, array), add = arrow_column_field(&root, "add");
    arrow_column stats = arrow_column_field(&add, "stats"), parsed = arrow_column_field(&add, "stats_parsed"), path = arrow_column_field(&add, "path");
    TRY(cancel_check(r->f->env->cancel, err));
    for (; r->k < r->limit; r->k++) {
        int64_t i = r->f->b->rows[row_at(r->f, r->k)].stats_offset - r->row;
        if (i >= array->length) break;
        if (!is_of_row(r, &path, i)) {
            r->rewritten = true;
            return stop(r);
        }
        if (!r->parsed && r->source->has_stats_parsed && arrow_is_null(&stats, i)) {
            r->needs_parsed = true;
            return stop(r);
        }
        TRY(emit_columns(r, &stats, &parsed, i, err));
    }
    r->row += array->length;
    return r->k < r->limit ? SILT_OK : stop(r);
}

/* {add: {path, stats, stats_parsed}}: what is read of it, with the types that the file has. */
static silt_status stats_columns(const column_reader *r, bool with_parsed, arena *a, const data_type **out_columns,
                                 const data_type **out_parsed, silt_error *err) {
    field inner[3];
    size_t n = 0;
    *out_parsed = NULL;
    if (r->checks_paths) inner[n++] = field_make(STR("path"), &type_string, true);
    if (r->source->has_stats_json) inner[n++] = field_make(STR("stats"), &type_string, true);
    if (with_parsed) {
        const data_type *file;
        TRY(checkpoint_schema(r->f->env, r->source->path, a, &file, err));
        *out_parsed = checkpoint_column(file, "add.stats_parsed");
        if (*out_parsed) inner[n++] = field_make(STR("stats_parsed"), *out_parsed, true);
    }
    field *fields = ARENA_ARRAY(a, n + 1, field);
    if (!fields) return error_no_memory(err);
    memcpy(fields, inner, n * sizeof *fields);
    const data_type *add = type_struct(a, fields, n);
    if (!add) return error_no_memory(err);
    fields[n] = field_make(STR("add"), add, true);
    *out_columns = type_struct(a, &fields[n], 1);
    return *out_columns ? SILT_OK : error_no_memory(err);
}

static silt_status fetch_pass(column_reader *r, bool with_parsed, silt_error *err) {
    arena *a = arena_new();
    if (!a) return error_no_memory(err);
    const data_type *columns;
    struct ArrowArrayStream stream = {0};
    r->row = 0;
    r->needs_parsed = r->rewritten = r->stopped = false;
    silt_status status = stats_columns(r, with_parsed, a, &columns, &r->parsed, err);
    if (status == SILT_OK) status = checkpoint_open(r->f->env, r->source->path, columns, a, &stream, err);
    if (status == SILT_OK) status = arrow_each_batch(&stream, store_path_named(r->f->env->store, r->source->path, a), take_columns, r, err);
    arena_free(a);
    bool shorter = !r->stopped && status == SILT_OK && r->k < r->limit;
    if (shorter || r->rewritten) return store_path_error(r->f->env->store, r->source->path, err_STORE_OBJECT_CHANGED, err);
    return r->stopped ? SILT_OK : status;
}

static silt_status fetch_columns(fetch *f, const batch_source *s, uint32_t k, uint32_t limit, silt_error *err) {
    column_reader r = {.f = f, .source = s, .k = k, .limit = limit, .checks_paths = log_fetch_may_be_rewritten(s->path)};
    if (!s->has_stats_json && !s->has_stats_parsed) {
        for (; k < limit; k++) TRY(f->fn(f->ctx, k, STR_NULL, err));
        return SILT_OK;
    }
    TRY(fetch_pass(&r, !s->has_stats_json, err));
    return r.needs_parsed ? fetch_pass(&r, true, err) : SILT_OK;
}

/* ---- */

static silt_status fetch_all(fetch *f, silt_error *err) {
    for (uint32_t k = 0; k < f->n;) { /* one source after the other */
        const batch_source *s = file_batch_source(f->b, row_at(f, k));
        bool last = s == &f->b->sources[f->b->n_sources - 1];
        uint32_t end = k;
        while (end < f->n && (last || row_at(f, end) < s[1].first_row)) end++;
        TRY(s->is_parquet ? fetch_columns(f, s, k, end, err) : fetch_log(f, s, k, end, err));
        k = end;
    }
    return SILT_OK;
}

silt_status stats_fetch(const delta_env *env, const file_batch *b, const uint32_t *rows, uint32_t n, stats_fn fn, void *ctx,
                        silt_error *err) {
    fetch f = {.env = env, .b = b, .rows = rows, .n = n, .fn = fn, .ctx = ctx};
    buf_init(&f.text, BUF_MAX_DEFAULT);
    buf_init(&f.plain, BUF_MAX_DEFAULT);
    silt_status status = fetch_all(&f, err);
    buf_dispose(&f.text);
    buf_dispose(&f.plain);
    return status;
}
