/* Snapshots of the public API: opening, what is known of them, their files, scans and checkpoints. */
#include <stdio.h>
#include <stdlib.h>

#include "api/api.h"

silt_status silt_snapshot_open(silt_session *owner, const char *table, int64_t version, const char *timestamp, silt_snapshot **out, silt_error *err) {
    if (version != SILT_LATEST && version < 0) return err_INVALID_PARAMETER_VALUE(err, STR("version"), STR("negative"), "a version of at least 0, or SILT_LATEST");
    delta_snapshot *inner;
    TRY(session_open_table(owner->inner, api_str(table), version, api_str(timestamp), &inner, err));
    silt_snapshot *s = calloc(1, sizeof *s);
    str json = delta_snapshot_metadata(inner)->schema_json;
    char *schema = calloc(1, json.len + 1);
    if (!s || !schema) {
        free(s);
        free(schema);
        delta_snapshot_release(inner);
        return error_no_memory(err);
    }
    if (json.len) memcpy(schema, json.ptr, json.len);
    *s = (silt_snapshot){.session = owner, .inner = inner, .schema_json = schema};
    *out = s;
    return SILT_OK;
}

void silt_snapshot_close(silt_snapshot *s) {
    if (!s) return;
    delta_snapshot_release(s->inner);
    free(s->described);
    free(s->schema_json);
    free(s);
}

int64_t silt_snapshot_version(const silt_snapshot *s) { return delta_snapshot_version(s->inner); }
int64_t silt_snapshot_timestamp_ms(const silt_snapshot *s) { return delta_snapshot_commit_time_ms(s->inner); }
int64_t silt_snapshot_num_files(const silt_snapshot *s) { return (int64_t)delta_snapshot_n_files(s->inner); }
int64_t silt_snapshot_size_bytes(const silt_snapshot *s) { return delta_snapshot_size_bytes(s->inner); }
const char *silt_snapshot_schema_json(const silt_snapshot *s) { return s->schema_json; }
int64_t silt_snapshot_txn_version(const silt_snapshot *s, const char *app_id) { return delta_snapshot_txn_version(s->inner, api_str(app_id)); }

int64_t silt_snapshot_num_records(silt_snapshot *s, silt_error *err) {
    bool known = false;
    int64_t n = -1;
    silt_status status = delta_snapshot_num_records(s->inner, &known, &n, err);
    return status == SILT_OK && known ? n : -1;
}

/* ---- describe ---- */

static void write_strings(buf *b, const str *items, size_t n) {
    buf_append_char(b, '[');
    for (size_t i = 0; i < n; i++) {
        if (i) buf_append_char(b, ',');
        json_write_str(b, items[i]);
    }
    buf_append_char(b, ']');
}

static void write_nullable(buf *b, str s) {
    if (s.ptr) json_write_str(b, s);
    else buf_append_z(b, "null");
}

static void write_protocol(buf *b, const delta_protocol *p) {
    buf_printf(b, "{\"minReaderVersion\":%d,\"minWriterVersion\":%d", p->min_reader_version, p->min_writer_version);
    if (p->has_reader_features) {
        buf_append_z(b, ",\"readerFeatures\":");
        write_strings(b, p->reader_features, p->n_reader_features);
    }
    if (p->has_writer_features) {
        buf_append_z(b, ",\"writerFeatures\":");
        write_strings(b, p->writer_features, p->n_writer_features);
    }
    buf_append_char(b, '}');
}

static void write_map(buf *b, const str_map *map) {
    bool first = true;
    buf_append_char(b, '{');
    for (size_t i = 0; i < map->count; i++) {
        json_write_key_str(b, &first, map->keys[i]);
        write_nullable(b, map->values[i]);
    }
    buf_append_char(b, '}');
}

static void write_domains(buf *b, const delta_snapshot *s) {
    bool first = true;
    buf_append_char(b, '{');
    for (size_t i = 0; i < delta_snapshot_n_domains(s); i++) {
        const delta_domain *d = delta_snapshot_domain(s, i);
        json_write_key_str(b, &first, d->domain);
        json_write_str(b, d->configuration);
    }
    buf_append_char(b, '}');
}

static void write_txns(buf *b, const delta_snapshot *s) {
    bool first = true;
    buf_append_char(b, '{');
    for (size_t i = 0; i < delta_snapshot_n_txns(s); i++) {
        const delta_txn_id *t = delta_snapshot_txn(s, i);
        json_write_key_str(b, &first, t->app_id);
        json_write_i64(b, t->version);
    }
    buf_append_char(b, '}');
}

/* A local path as it is, any other as a URI. */
static void write_location(buf *b, const delta_snapshot *s) {
    const char *prefix = store_uri_prefix(delta_snapshot_env(s)->store);
    char location[4096];
    str root = delta_snapshot_root(s);
    int n = strcmp(prefix, "file:") == 0 ? -1 : snprintf(location, sizeof location, "%s%.*s", prefix, STR_ARG(root));
    json_write_str(b, n > 0 && (size_t)n < sizeof location ? (str){location, (size_t)n} : root);
}

/* What keeps writers apart, where a store does not always do that. */
static void write_guard(buf *b, bool *first, store *st) {
    buf text;
    buf_init(&text, 1024);
    store_guard(st, &text);
    if (text.len) {
        json_write_key(b, first, "commitGuard");
        json_write_str(b, buf_str(&text));
    }
    buf_dispose(&text);
}

static void write_description(buf *b, const delta_snapshot *s, bool records_known, int64_t records) {
    const delta_metadata *m = delta_snapshot_metadata(s);
    bool first = true;
    buf_append_char(b, '{');
    json_write_key(b, &first, "location");
    write_location(b, s);
    json_write_key(b, &first, "format");
    buf_append_z(b, "\"delta\"");
    json_write_key(b, &first, "version");
    json_write_i64(b, delta_snapshot_version(s));
    json_write_key(b, &first, "timestamp");
    json_write_i64(b, delta_snapshot_commit_time_ms(s));
    json_write_key(b, &first, "protocol");
    write_protocol(b, delta_snapshot_protocol(s));
    json_write_key(b, &first, "id");
    json_write_str(b, m->id);
    json_write_key(b, &first, "name");
    write_nullable(b, m->name);
    json_write_key(b, &first, "description");
    write_nullable(b, m->description);
    json_write_key(b, &first, "createdTime");
    if (m->created_time_ms >= 0) json_write_i64(b, m->created_time_ms);
    else buf_append_z(b, "null");
    json_write_key(b, &first, "schema");
    if (m->schema_json.len) buf_append(b, m->schema_json);
    else buf_append_z(b, "null");
    json_write_key(b, &first, "partitionColumns");
    write_strings(b, m->partition_columns, m->n_partition_columns);
    json_write_key(b, &first, "configuration");
    write_map(b, &m->configuration);
    json_write_key(b, &first, "numFiles");
    json_write_i64(b, (int64_t)delta_snapshot_n_files(s));
    json_write_key(b, &first, "sizeInBytes");
    json_write_i64(b, delta_snapshot_size_bytes(s));
    json_write_key(b, &first, "numRecords");
    if (records_known) json_write_i64(b, records);
    else buf_append_z(b, "null");
    json_write_key(b, &first, "domainMetadata");
    write_domains(b, s);
    json_write_key(b, &first, "transactions");
    write_txns(b, s);
    write_guard(b, &first, delta_snapshot_env(s)->store);
    buf_append_char(b, '}');
}

silt_status silt_snapshot_describe_json(silt_snapshot *s, const char **out, silt_error *err) {
    bool known = false;
    int64_t records = 0;
    if (!s->described) {
        TRY(delta_snapshot_num_records(s->inner, &known, &records, err));
        buf b;
        buf_init(&b, BUF_MAX_DEFAULT);
        write_description(&b, s->inner, known, records);
        if (!buf_cstr(&b)) {
            buf_dispose(&b);
            return error_no_memory(err);
        }
        s->described = b.ptr; /* the buffer's memory moves into the handle */
    }
    *out = s->described;
    return SILT_OK;
}

/* ---- files ---- */

typedef struct files_rows { arrow_builder *rows; arena *scratch; } files_rows;

static bool append_or_null(arrow_builder *b, str s) { return s.ptr ? arrow_append_str(b, s) : arrow_append_null(b); }

static bool append_file(files_rows *f, const delta_add *add) {
    arrow_builder *b = f->rows, *map = arrow_child(b, 3);
    bool ok = arrow_append_str(arrow_child(b, 0), add->path) && arrow_append_i64(arrow_child(b, 1), add->size_bytes) && arrow_append_i64(arrow_child(b, 2), add->modification_time_ms * 1000);
    for (size_t i = 0; ok && i < add->partition_values.count; i++)
        ok = arrow_append_str(arrow_child(map, 0), add->partition_values.keys[i]) && append_or_null(arrow_child(map, 1), add->partition_values.values[i]);
    const json_node *stats = NULL;
    int64_t records = -1;
    if (add->stats.ptr && json_parse(add->stats, f->scratch, &stats, NULL) == SILT_OK) records = json_get_i64(stats, "numRecords", -1);
    ok = ok && arrow_finish_row(map) && (records >= 0 ? arrow_append_i64(arrow_child(b, 4), records) : arrow_append_null(arrow_child(b, 4)));
    str dv = add->dv.storage ? delta_dv_unique_id(&add->dv, f->scratch) : STR_NULL;
    ok = ok && append_or_null(arrow_child(b, 5), dv) && (add->dv.storage ? arrow_append_i64(arrow_child(b, 6), add->dv.cardinality) : arrow_append_null(arrow_child(b, 6)));
    return ok && append_or_null(arrow_child(b, 7), add->stats) && arrow_finish_row(b);
}

static silt_status add_file(void *ctx, size_t i, const delta_add *add, silt_error *err) {
    files_rows *f = ctx;
    (void)i;
    arena_reset(f->scratch);
    return append_file(f, add) ? SILT_OK : error_no_memory(err);
}

silt_status silt_snapshot_files(silt_snapshot *s, struct ArrowArrayStream *out, silt_error *err) {
    out->release = NULL;
    arena *a = arena_new();
    files_rows f = {.scratch = arena_new()};
    const data_type *type = NULL;
    silt_status status = a && f.scratch ? SILT_OK : error_no_memory(err);
    if (status != SILT_OK) goto out;
    TRY_OUT(schema_parse_ddl(STR("path STRING, size BIGINT, modificationTime TIMESTAMP, partitionValues MAP<STRING, STRING>, numRecords BIGINT, deletionVector STRING, "
                                 "numDeletedRows BIGINT, stats STRING"),
                             a, &type, err));
    f.rows = arrow_builder_new(type);
    if (!f.rows) {
        status = error_no_memory(err);
        goto out;
    }
    TRY_OUT(delta_snapshot_each_file(s->inner, true, add_file, &f, err));
out:
    arena_free(f.scratch);
    if (status == SILT_OK) return api_stream_from_rows(a, type, f.rows, out, err);
    arrow_builder_free(f.rows);
    arena_free(a);
    return status;
}

/* ---- scan, checkpoint ---- */

silt_status silt_snapshot_scan(silt_snapshot *s, const silt_scan_options *options, struct ArrowArrayStream *out, silt_error *err) {
    out->release = NULL;
    arena *a = arena_new();
    silt_status status = SILT_OK;
    size_t n = API_GET(options, columns, NULL) ? API_GET(options, n_columns, 0) : 0;
    str *columns = a ? api_strs(a, API_GET(options, columns, NULL), n) : NULL;
    if (!columns) {
        status = error_no_memory(err);
        goto out;
    }
    statement_result *result;
    TRY_OUT(session_scan(s->session->inner, s->inner, columns, n, api_str(API_GET(options, where, NULL)), API_GET(options, limit, 0), &result, err));
    status = api_stream_from_result(result, out, err);
out:
    arena_free(a);
    return status;
}

silt_status silt_snapshot_checkpoint(silt_snapshot *s, silt_error *err) { return delta_checkpoint_write(s->inner, err); }
