/*
 * Checkpoints. Only the columns that a file list needs are asked for: path, partition values, sizes, times, vectors, row ids, and
 * numRecords where the file has statistics as columns. Statistics as JSON are most of a checkpoint's bytes and stay there; a row
 * of a batch notes its row number in the file instead (stats_fetch.c). Tombstones cannot change which files are live (a
 * checkpoint is reconciled), so they too are read only when somebody asks for them.
 */
#include "delta/checkpoint_read.h"

#include "base/uri.h"
#include "delta/action_json.h"
#include "delta/arrow_read.h"
#include "delta/log_fetch.h"

/* ---- what is asked for ---- */

static const data_type *child_type(const data_type *t, str name) {
    if (!t || t->id != TYPE_STRUCT) return NULL;
    for (size_t i = 0; i < t->n_fields; i++)
        if (str_eq(t->fields[i].name, name)) return t->fields[i].type;
    return NULL;
}

const data_type *checkpoint_column(const data_type *file_schema, const char *path) {
    str rest = str_of(path), piece;
    const data_type *t = file_schema;
    while (t && str_next(&rest, '.', &piece)) t = child_type(t, piece);
    return t;
}

/* The wanted shape, as a schema text of few words: s string, l long, i int, b boolean, m map of strings, a array of strings, {…}
 * struct. */
typedef struct shape {
    const char *name;
    const char *type;           /* NULL: struct of `fields` */
    const struct shape *fields; /* ends with a NULL name */
} shape;

static const shape dv_shape[] = {{"storageType", "s", NULL}, {"pathOrInlineDv", "s", NULL}, {"offset", "i", NULL},
                                 {"sizeInBytes", "i", NULL}, {"cardinality", "l", NULL},    {0}};
static const shape records_shape[] = {{"numRecords", "l", NULL}, {0}};
static const shape add_shape[] = {{"path", "s", NULL},
                                  {"partitionValues", "m", NULL},
                                  {"size", "l", NULL},
                                  {"modificationTime", "l", NULL},
                                  {"dataChange", "b", NULL},
                                  {"tags", "m", NULL},
                                  {"deletionVector", NULL, dv_shape},
                                  {"baseRowId", "l", NULL},
                                  {"defaultRowCommitVersion", "l", NULL},
                                  {"clusteringProvider", "s", NULL},
                                  {"stats_parsed", NULL, records_shape},
                                  {0}};
static const shape format_shape[] = {{"provider", "s", NULL}, {"options", "m", NULL}, {0}};
static const shape metadata_shape[] = {{"id", "s", NULL},
                                       {"name", "s", NULL},
                                       {"description", "s", NULL},
                                       {"format", NULL, format_shape},
                                       {"schemaString", "s", NULL},
                                       {"partitionColumns", "a", NULL},
                                       {"configuration", "m", NULL},
                                       {"createdTime", "l", NULL},
                                       {0}};
static const shape protocol_shape[] = {{"minReaderVersion", "i", NULL},
                                       {"minWriterVersion", "i", NULL},
                                       {"readerFeatures", "a", NULL},
                                       {"writerFeatures", "a", NULL},
                                       {0}};
static const shape txn_shape[] = {{"appId", "s", NULL}, {"version", "l", NULL}, {"lastUpdated", "l", NULL}, {0}};
static const shape domain_shape[] = {{"domain", "s", NULL}, {"configuration", "s", NULL}, {"removed", "b", NULL}, {0}};
static const shape sidecar_shape[] = {{"path", "s", NULL}, {0}};
static const shape state_shape[] = {{"add", NULL, add_shape},
                                    {"metaData", NULL, metadata_shape},
                                    {"protocol", NULL, protocol_shape},
                                    {"txn", NULL, txn_shape},
                                    {"domainMetadata", NULL, domain_shape},
                                    {"sidecar", NULL, sidecar_shape},
                                    {0}};
static const shape adds_shape[] = {{"add", NULL, add_shape}, {0}};
static const shape rest_shape[] = {{"metaData", NULL, metadata_shape}, {"protocol", NULL, protocol_shape},
                                   {"txn", NULL, txn_shape},           {"domainMetadata", NULL, domain_shape},
                                   {"sidecar", NULL, sidecar_shape},   {0}};
static const shape remove_shape[] = {{"path", "s", NULL},
                                     {"deletionTimestamp", "l", NULL},
                                     {"dataChange", "b", NULL},
                                     {"extendedFileMetadata", "b", NULL},
                                     {"partitionValues", "m", NULL},
                                     {"size", "l", NULL},
                                     {"deletionVector", NULL, dv_shape},
                                     {"baseRowId", "l", NULL},
                                     {"defaultRowCommitVersion", "l", NULL},
                                     {0}};
static const shape removes_shape[] = {{"remove", NULL, remove_shape}, {0}};

static const data_type *leaf_type(char code, arena *a) {
    switch (code) {
        case 's': return &type_string;
        case 'l': return &type_long;
        case 'i': return &type_int;
        case 'b': return &type_boolean;
        case 'm': return type_map(a, &type_string, &type_string, true);
        default: return type_array(a, &type_string, true);
    }
}

/* A struct type of those fields of `shape` that the file has; NULL on exhaustion. */
static const data_type *shape_type(const shape *wanted, const data_type *file, arena *a) {
    field *fields = NULL;
    size_t n = 0, capacity = 0;
    for (; wanted->name; wanted++) {
        const data_type *in_file = child_type(file, str_of(wanted->name));
        if (!in_file) continue;
        const data_type *t = wanted->type ? leaf_type(wanted->type[0], a) : shape_type(wanted->fields, in_file, a);
        if (!t) return NULL;
        if (t->id == TYPE_STRUCT && t->n_fields == 0) continue;
        if (!ARENA_PUSH(a, fields, n, capacity, field_make(str_of(wanted->name), t, true))) return NULL;
    }
    return type_struct(a, fields, n);
}

/* ---- opening ---- */

/* What the service reports about a file of the log is damage of the checkpoint, unless it has nothing to do with the file. */
static silt_status wrap_failure(silt_status status, const silt_error *why, const store *st, str path, silt_error *err) {
    if (status == SILT_OK) return status;
    if (status == SILT_NO_MEMORY || status == SILT_CANCELLED || status == SILT_DENIED || status == SILT_INTERNAL) {
        if (err) *err = *why;
        return status;
    }
    silt_status s = store_path_error(st, path, err_DELTA_CHECKPOINT_CORRUPT, err);
    error_detail(err, "%s", why->message);
    return s;
}

static silt_status read_schema(const delta_env *env, const log_file *f, arena *a, const data_type **out, silt_error *err) {
    str local;
    silt_error why = {0};
    TRY(log_fetch_parquet(env, f, NULL, NULL, 0, a, &local, err));
    return wrap_failure(env->parquet->read_schema(env->parquet, local, a, out, &why), &why, env->store, f->path, err);
}

silt_status checkpoint_schema(const delta_env *env, str path, arena *a, const data_type **out, silt_error *err) {
    log_file f = {.path = path, .size_bytes = -1};
    return read_schema(env, &f, a, out, err);
}

silt_status checkpoint_open(const delta_env *env, str path, const data_type *columns, arena *a, struct ArrowArrayStream *out,
                            silt_error *err) {
    str local;
    silt_error why = {0};
    log_file f = {.path = path, .size_bytes = -1};
    TRY(log_fetch_parquet(env, &f, columns, NULL, 0, a, &local, err));
    return wrap_failure(env->parquet->read(env->parquet, local, columns, out, &why), &why, env->store, path, err);
}

/* ---- rows of add ---- */

typedef struct add_columns {
    arrow_column self, path, partition, keys, values, size, modified, data_change, tags, tag_keys, tag_values;
    arrow_column dv, dv_storage, dv_text, dv_offset, dv_size, dv_cardinality;
    arrow_column base_row_id, commit_version, clustering, records;
} add_columns;

typedef struct dv_columns {
    arrow_column self, storage, text, offset, size, cardinality;
} dv_columns;

static dv_columns find_dv(const arrow_column *parent) {
    dv_columns d = {.self = arrow_column_field(parent, "deletionVector")};
    d.storage = arrow_column_field(&d.self, "storageType");
    d.text = arrow_column_field(&d.self, "pathOrInlineDv");
    d.offset = arrow_column_field(&d.self, "offset");
    d.size = arrow_column_field(&d.self, "sizeInBytes");
    d.cardinality = arrow_column_field(&d.self, "cardinality");
    return d;
}

static add_columns find_add(const arrow_column *root) {
    add_columns c = {.self = arrow_column_field(root, "add")};
    dv_columns d = find_dv(&c.self);
    c.path = arrow_column_field(&c.self, "path");
    c.partition = arrow_column_field(&c.self, "partitionValues");
    c.keys = arrow_column_item(&c.partition, 0);
    c.values = arrow_column_item(&c.partition, 1);
    c.size = arrow_column_field(&c.self, "size");
    c.modified = arrow_column_field(&c.self, "modificationTime");
    c.data_change = arrow_column_field(&c.self, "dataChange");
    c.tags = arrow_column_field(&c.self, "tags");
    c.tag_keys = arrow_column_item(&c.tags, 0);
    c.tag_values = arrow_column_item(&c.tags, 1);
    c.dv = d.self;
    c.dv_storage = d.storage;
    c.dv_text = d.text;
    c.dv_offset = d.offset;
    c.dv_size = d.size;
    c.dv_cardinality = d.cardinality;
    c.base_row_id = arrow_column_field(&c.self, "baseRowId");
    c.commit_version = arrow_column_field(&c.self, "defaultRowCommitVersion");
    c.clustering = arrow_column_field(&c.self, "clusteringProvider");
    arrow_column parsed = arrow_column_field(&c.self, "stats_parsed");
    c.records = arrow_column_field(&parsed, "numRecords");
    return c;
}

typedef enum read_kind {
    READ_ALL,
    READ_FILES, /* the adds of rows [row, end_row) */
    READ_REST   /* the actions that are no files */
} read_kind;

/* One Parquet file, or a part of it, being read. */
typedef struct file_reader {
    const delta_env *env;
    str path, tag;
    int64_t version, size_bytes;
    arena *arena; /* of the state */
    checkpoint_state *state;
    str **sidecars;
    size_t *n_sidecars, *sidecars_capacity;
    bool has_stats_json, has_stats_parsed;
    file_batch *batch;
    read_kind part;
    int64_t row;     /* number in the file of the next row */
    int64_t end_row; /* READ_FILES */
    buf scratch;
} file_reader;

static log_file file_of(const file_reader *r) { return (log_file){.path = r->path, .size_bytes = r->size_bytes, .tag = r->tag}; }

#define BATCH_STRINGS ((size_t)1 << 30)

static silt_status corrupt(file_reader *r, const char *why, silt_error *err) {
    silt_status s = store_path_error(r->env->store, r->path, err_DELTA_CHECKPOINT_CORRUPT, err);
    error_detail(err, "row %lld: %s", (long long)r->row, why);
    return s;
}

static silt_status finish_batch(file_reader *r, silt_error *err) {
    if (!r->batch) return SILT_OK;
    if (r->batch->n_rows == 0) {
        file_batch_release(r->batch);
        r->batch = NULL;
        return SILT_OK;
    }
    file_batch_freeze(r->batch);
    if (!ARENA_PUSH(r->arena, r->state->batches, r->state->n_batches, r->state->batches_capacity, r->batch))
        return error_no_memory(err);
    r->batch = NULL;
    return SILT_OK;
}

static silt_status current_batch(file_reader *r, silt_error *err) {
    if (r->batch && r->batch->strings_len < BATCH_STRINGS) return SILT_OK;
    TRY(finish_batch(r, err));
    r->batch = file_batch_new();
    if (!r->batch || !file_batch_add_source(r->batch, r->path, r->version, true)) return error_no_memory(err);
    batch_source *s = &r->batch->sources[0];
    s->has_stats_json = r->has_stats_json;
    s->has_stats_parsed = r->has_stats_parsed;
    return SILT_OK;
}

/* Keys and values with their lengths between them: equal texts, equal maps. */
static void map_text(const arrow_column *keys, const arrow_column *values, int64_t from, int64_t to, buf *out) {
    buf_clear(out);
    for (int64_t i = from; i < to; i++) {
        str k = arrow_str(keys, i), v = arrow_str(values, i);
        uint32_t lengths[2] = {(uint32_t)k.len, v.ptr ? (uint32_t)v.len : UINT32_MAX};
        buf_append_bytes(out, lengths, sizeof lengths);
        buf_append(out, k);
        buf_append(out, v);
    }
}

static silt_status arrow_map(const arrow_column *keys, const arrow_column *values, int64_t from, int64_t to, arena *a, bool copy,
                             str_map *out, silt_error *err) {
    size_t n = (size_t)(to - from);
    str *k = ARENA_ARRAY(a, n, str), *v = ARENA_ARRAY(a, n, str);
    if (!k || !v) return error_no_memory(err);
    for (size_t i = 0; i < n; i++) {
        k[i] = arrow_str(keys, from + (int64_t)i);
        v[i] = arrow_str(values, from + (int64_t)i);
        if (copy && !(k[i] = arena_str(a, k[i])).ptr) return error_no_memory(err);
        if (copy && v[i].ptr && !(v[i] = arena_str(a, v[i])).ptr) return error_no_memory(err);
    }
    *out = (str_map){.keys = k, .values = v, .count = n};
    return SILT_OK;
}

static silt_status take_partition(file_reader *r, const add_columns *c, int64_t i, file_row *row, silt_error *err) {
    int64_t from, to;
    if (!arrow_list(&c->partition, i, &from, &to)) return SILT_OK;
    row->flags |= ROW_HAS_PARTITION;
    map_text(&c->keys, &c->values, from, to, &r->scratch);
    if (!buf_ok(&r->scratch)) return error_no_memory(err);
    row->partition = file_batch_find_partition(r->batch, buf_str(&r->scratch));
    if (row->partition != UINT32_MAX) return SILT_OK;
    str_map map;
    arena *local = arena_new();
    if (!local) return error_no_memory(err);
    silt_status status = arrow_map(&c->keys, &c->values, from, to, local, false, &map, err);
    if (status == SILT_OK) row->partition = file_batch_add_partition(r->batch, buf_str(&r->scratch), &map);
    arena_free(local);
    TRY(status);
    return row->partition == UINT32_MAX ? error_no_memory(err) : SILT_OK;
}

static silt_status take_tags(file_reader *r, const add_columns *c, int64_t i, file_extra *extra, silt_error *err) {
    int64_t from, to;
    if (!arrow_list(&c->tags, i, &from, &to) || from == to) return SILT_OK;
    bool first = true;
    buf_clear(&r->scratch);
    buf_append_char(&r->scratch, '{');
    for (int64_t k = from; k < to; k++) {
        str text = arrow_str(&c->tag_values, k);
        json_write_key_str(&r->scratch, &first, arrow_str(&c->tag_keys, k));
        if (text.ptr)
            json_write_str(&r->scratch, text);
        else
            buf_append_z(&r->scratch, "null");
    }
    buf_append_char(&r->scratch, '}');
    if (!buf_ok(&r->scratch) || !file_batch_string(r->batch, buf_str(&r->scratch), &extra->tags)) return error_no_memory(err);
    extra->tags_len = (uint32_t)r->scratch.len;
    return SILT_OK;
}

static silt_status take_dv(file_reader *r, const add_columns *c, int64_t i, file_row *row, silt_error *err) {
    if (arrow_is_null(&c->dv, i)) return SILT_OK;
    str storage = arrow_str(&c->dv_storage, i), text = arrow_str(&c->dv_text, i);
    if (str_is_null(storage) && str_is_null(text)) return SILT_OK; /* some writers leave a struct of nulls for none */
    if (storage.len != 1 || str_is_null(text)) return corrupt(r, "a deletion vector needs storageType and pathOrInlineDv", err);
    batch_dv dv = {.storage = storage.ptr[0],
                   .path_len = (uint32_t)text.len,
                   .offset = (int32_t)arrow_i64(&c->dv_offset, i, -1),
                   .size_bytes = (int32_t)arrow_i64(&c->dv_size, i, 0),
                   .cardinality = arrow_i64(&c->dv_cardinality, i, 0)};
    if (!file_batch_string(r->batch, text, &dv.path) || !file_batch_push_dv(r->batch, &dv, &row->dv)) return error_no_memory(err);
    return SILT_OK;
}

static silt_status take_add(file_reader *r, const add_columns *c, int64_t i, silt_error *err) {
    str path = arrow_str(&c->path, i);
    if (path.len == 0) return corrupt(r, "an add has no path", err);
    TRY(current_batch(r, err));
    bool has_stats = r->has_stats_json || r->has_stats_parsed;
    file_row row = {.path_len = (uint32_t)path.len,
                    .flags = (arrow_bool(&c->data_change, i, false) ? ROW_DATA_CHANGE : 0) | (has_stats ? ROW_HAS_STATS : 0),
                    .stats_offset = r->row,
                    .size_bytes = arrow_i64(&c->size, i, 0),
                    .time_ms = arrow_i64(&c->modified, i, 0),
                    .num_records = arrow_i64(&c->records, i, r->has_stats_json ? ROW_RECORDS_UNKNOWN : ROW_RECORDS_ABSENT)};
    file_extra extra = {.base_row_id = arrow_i64(&c->base_row_id, i, -1),
                        .default_row_commit_version = arrow_i64(&c->commit_version, i, -1)};
    if (!file_batch_string(r->batch, path, &row.path)) return error_no_memory(err);
    TRY(take_partition(r, c, i, &row, err));
    TRY(take_tags(r, c, i, &extra, err));
    TRY(take_dv(r, c, i, &row, err));
    str clustering = arrow_str(&c->clustering, i);
    extra.clustering_len = (uint32_t)clustering.len;
    if (clustering.len && !file_batch_string(r->batch, clustering, &extra.clustering)) return error_no_memory(err);
    return file_batch_push(r->batch, &row, &extra) ? SILT_OK : error_no_memory(err);
}

/* ---- the other actions ---- */

static silt_status copy_str(const arrow_column *c, int64_t i, arena *a, str *out, silt_error *err) {
    *out = arrow_str(c, i);
    if (str_is_null(*out)) return SILT_OK;
    *out = arena_str(a, *out);
    return out->ptr ? SILT_OK : error_no_memory(err);
}

static silt_status copy_field(const arrow_column *parent, const char *name, int64_t i, arena *a, str *out, silt_error *err) {
    arrow_column c = arrow_column_field(parent, name);
    return copy_str(&c, i, a, out, err);
}

static int64_t field_i64(const arrow_column *parent, const char *name, int64_t i, int64_t absent) {
    arrow_column c = arrow_column_field(parent, name);
    return arrow_i64(&c, i, absent);
}

static silt_status copy_list(const arrow_column *parent, const char *name, int64_t i, arena *a, const str **out, size_t *out_n,
                             bool *out_present, silt_error *err) {
    arrow_column list = arrow_column_field(parent, name), items = arrow_column_item(&list, 0);
    int64_t from, to;
    *out = NULL;
    *out_n = 0;
    if (out_present) *out_present = false;
    if (!arrow_list(&list, i, &from, &to)) return SILT_OK;
    if (out_present) *out_present = true;
    str *names = ARENA_ARRAY(a, (size_t)(to - from), str);
    if (!names) return error_no_memory(err);
    for (int64_t k = from; k < to; k++) TRY(copy_str(&items, k, a, &names[k - from], err));
    *out = names;
    *out_n = (size_t)(to - from);
    return SILT_OK;
}

static silt_status copy_map(const arrow_column *parent, const char *name, int64_t i, arena *a, str_map *out, silt_error *err) {
    arrow_column map = arrow_column_field(parent, name), keys = arrow_column_item(&map, 0), values = arrow_column_item(&map, 1);
    int64_t from, to;
    *out = (str_map){0};
    return arrow_list(&map, i, &from, &to) ? arrow_map(&keys, &values, from, to, a, true, out, err) : SILT_OK;
}

static silt_status take_protocol(file_reader *r, const arrow_column *c, int64_t i, silt_error *err) {
    delta_protocol *p = ARENA_NEW(r->arena, delta_protocol);
    if (!p) return error_no_memory(err);
    p->min_reader_version = (int32_t)field_i64(c, "minReaderVersion", i, 0);
    p->min_writer_version = (int32_t)field_i64(c, "minWriterVersion", i, 0);
    TRY(copy_list(c, "readerFeatures", i, r->arena, &p->reader_features, &p->n_reader_features, &p->has_reader_features, err));
    TRY(copy_list(c, "writerFeatures", i, r->arena, &p->writer_features, &p->n_writer_features, &p->has_writer_features, err));
    r->state->protocol = p;
    return SILT_OK;
}

static silt_status take_metadata(file_reader *r, const arrow_column *c, int64_t i, silt_error *err) {
    delta_metadata *m = ARENA_NEW(r->arena, delta_metadata);
    if (!m) return error_no_memory(err);
    arrow_column format = arrow_column_field(c, "format");
    TRY(copy_field(c, "id", i, r->arena, &m->id, err));
    TRY(copy_field(c, "name", i, r->arena, &m->name, err));
    TRY(copy_field(c, "description", i, r->arena, &m->description, err));
    TRY(copy_field(c, "schemaString", i, r->arena, &m->schema_json, err));
    TRY(copy_field(&format, "provider", i, r->arena, &m->format_provider, err));
    TRY(copy_map(&format, "options", i, r->arena, &m->format_options, err));
    TRY(copy_map(c, "configuration", i, r->arena, &m->configuration, err));
    TRY(copy_list(c, "partitionColumns", i, r->arena, &m->partition_columns, &m->n_partition_columns, NULL, err));
    m->created_time_ms = field_i64(c, "createdTime", i, -1);
    if (str_is_null(m->id)) m->id = STR("");
    if (str_is_null(m->format_provider)) m->format_provider = STR("parquet");
    r->state->metadata = m;
    return SILT_OK;
}

static silt_status take_txn(file_reader *r, const arrow_column *c, int64_t i, silt_error *err) {
    delta_txn_id t = {.version = field_i64(c, "version", i, -1), .last_updated_ms = field_i64(c, "lastUpdated", i, -1)};
    TRY(copy_field(c, "appId", i, r->arena, &t.app_id, err));
    if (str_is_null(t.app_id)) return corrupt(r, "a txn has no appId", err);
    return ARENA_PUSH(r->arena, r->state->txns, r->state->n_txns, r->state->txns_capacity, t) ? SILT_OK : error_no_memory(err);
}

static silt_status take_domain(file_reader *r, const arrow_column *c, int64_t i, silt_error *err) {
    arrow_column removed = arrow_column_field(c, "removed");
    delta_domain d = {.removed = arrow_bool(&removed, i, false)};
    TRY(copy_field(c, "domain", i, r->arena, &d.domain, err));
    TRY(copy_field(c, "configuration", i, r->arena, &d.configuration, err));
    if (str_is_null(d.domain)) return corrupt(r, "a domainMetadata has no domain", err);
    if (str_is_null(d.configuration)) d.configuration = STR("");
    return ARENA_PUSH(r->arena, r->state->domains, r->state->n_domains, r->state->domains_capacity, d) ? SILT_OK
                                                                                                       : error_no_memory(err);
}

static silt_status take_sidecar(file_reader *r, const arrow_column *c, int64_t i, silt_error *err) {
    str path;
    TRY(copy_field(c, "path", i, r->arena, &path, err));
    if (path.len == 0) return corrupt(r, "a sidecar has no path", err);
    if (!r->sidecars) return corrupt(r, "a sidecar names sidecars", err);
    return ARENA_PUSH(r->arena, *r->sidecars, *r->n_sidecars, *r->sidecars_capacity, path) ? SILT_OK : error_no_memory(err);
}

/* A struct column may be a struct of nulls where it should be null: the field that every such action has decides. */
static bool is_present(const arrow_column *c, const arrow_column *required, int64_t i) {
    return !arrow_is_null(c, i) && !arrow_is_null(required, i);
}

static silt_status take_batch(void *ctx, const struct ArrowSchema *schema, const struct ArrowArray *array, silt_error *err) {
    file_reader *r = ctx;
    arrow_column root = arrow_column_root(schema, array);
    add_columns add = find_add(&root);
    arrow_column metadata = arrow_column_field(&root, "metaData"), protocol = arrow_column_field(&root, "protocol"),
                 txn = arrow_column_field(&root, "txn");
    arrow_column domain = arrow_column_field(&root, "domainMetadata"), sidecar = arrow_column_field(&root, "sidecar");
    arrow_column schema_string = arrow_column_field(&metadata, "id"), reader = arrow_column_field(&protocol, "minReaderVersion");
    arrow_column app = arrow_column_field(&txn, "appId"), name = arrow_column_field(&domain, "domain"),
                 target = arrow_column_field(&sidecar, "path");
    TRY(cancel_check(r->env->cancel, err));
    for (int64_t i = 0; i < array->length; i++, r->row++) {
        if (is_present(&add.self, &add.path, i))
            TRY(take_add(r, &add, i, err));
        else if (is_present(&protocol, &reader, i))
            TRY(take_protocol(r, &protocol, i, err));
        else if (is_present(&metadata, &schema_string, i))
            TRY(take_metadata(r, &metadata, i, err));
        else if (is_present(&txn, &app, i))
            TRY(take_txn(r, &txn, i, err));
        else if (is_present(&domain, &name, i))
            TRY(take_domain(r, &domain, i, err));
        else if (is_present(&sidecar, &target, i))
            TRY(take_sidecar(r, &sidecar, i, err));
    }
    return SILT_OK;
}

/* ---- files ---- */

static silt_status open_stream(file_reader *r, const data_type *columns, arena *a, struct ArrowArrayStream *out,
                               silt_error *err) {
    static const str file_leaves[] = {{"add.size", 8}, {"remove.path", 11}}; /* null in every row that is no file */
    parquet_service *p = r->env->parquet;
    str local;
    silt_error why = {0};
    silt_status status = SILT_OK;
    log_file f = file_of(r);
    TRY(log_fetch_parquet(r->env, &f, columns, file_leaves, r->part == READ_REST ? ARRAY_LEN(file_leaves) : 0, a, &local, err));
    switch (r->part) {
        case READ_ALL: status = p->read(p, local, columns, out, &why); break;
        case READ_FILES: status = p->read_rows(p, local, columns, r->row, r->end_row, out, &why); break;
        case READ_REST: status = p->read_where_null(p, local, columns, file_leaves, ARRAY_LEN(file_leaves), out, &why); break;
    }
    return wrap_failure(status, &why, r->env->store, r->path, err);
}

/* One pass over the rows of r->part, with the columns that the part asks for and the file has. */
static silt_status read_part(file_reader *r, const data_type *file, silt_error *err) {
    arena *local = arena_new();
    if (!local) return error_no_memory(err);
    buf_init(&r->scratch, BUF_MAX_DEFAULT);
    struct ArrowArrayStream stream = {0};
    const data_type *columns = shape_type(r->part == READ_ALL     ? state_shape
                                          : r->part == READ_FILES ? adds_shape
                                                                  : rest_shape,
                                          file, local);
    silt_status status = columns ? SILT_OK : error_no_memory(err);
    if (status == SILT_OK && columns->n_fields) {
        status = open_stream(r, columns, local, &stream, err);
        if (status == SILT_OK) status = arrow_each_batch(&stream, store_path_named(r->env->store, r->path, local), take_batch, r, err);
        if (status == SILT_OK) status = finish_batch(r, err);
    }
    file_batch_release(r->batch);
    r->batch = NULL;
    buf_dispose(&r->scratch);
    arena_free(local);
    return status;
}

/*
 * A large file is read in parts at the same time: the files' columns in as many ranges of rows as there are threads, and the
 * columns of the few other actions only where they are. Decoding those for a million rows that have none of them would cost as
 * much as the files themselves.
 */
#define LARGE_BYTES ((int64_t)8 << 20)
#define PARTS_MAX   16

typedef struct split_read {
    const data_type *file;
    file_reader readers[PARTS_MAX];
    checkpoint_state states[PARTS_MAX];
} split_read;

static silt_status read_one(void *ctx, size_t i, silt_error *err) {
    split_read *s = ctx;
    return read_part(&s->readers[i], s->file, err);
}

static void free_arena(void *a) { arena_free(a); }

/* The state of one part into that of the whole; takes the batches over, whatever happens. */
static silt_status merge_state(checkpoint_state *part, checkpoint_state *out, arena *a, silt_error *err) {
    bool good = true;
    for (size_t i = 0; i < part->n_batches; i++) {
        good = good && ARENA_PUSH(a, out->batches, out->n_batches, out->batches_capacity, part->batches[i]);
        if (!good) file_batch_release(part->batches[i]);
    }
    part->n_batches = 0;
    if (part->protocol) out->protocol = part->protocol;
    if (part->metadata) out->metadata = part->metadata;
    for (size_t i = 0; good && i < part->n_txns; i++)
        good = ARENA_PUSH(a, out->txns, out->n_txns, out->txns_capacity, part->txns[i]);
    for (size_t i = 0; good && i < part->n_domains; i++)
        good = ARENA_PUSH(a, out->domains, out->n_domains, out->domains_capacity, part->domains[i]);
    return good ? SILT_OK : error_no_memory(err);
}

/* Reader 0 is for the other actions, which are found soonest; the others share the rows. */
static silt_status plan_parts(file_reader *r, split_read *s, size_t n, int64_t n_rows, silt_error *err) {
    for (size_t i = 0; i < n; i++) {
        file_reader *part = &s->readers[i];
        *part = *r;
        part->state = &s->states[i];
        part->arena = arena_new(); /* an arena belongs to one thread */
        if (!part->arena || !arena_defer(r->arena, free_arena, part->arena)) {
            arena_free(part->arena);
            return error_no_memory(err);
        }
        part->part = i == 0 ? READ_REST : READ_FILES;
        if (i == 0) continue;
        part->row = n_rows / (int64_t)(n - 1) * (int64_t)(i - 1);
        part->end_row = i == n - 1 ? n_rows : n_rows / (int64_t)(n - 1) * (int64_t)i;
    }
    return SILT_OK;
}

static silt_status read_split(file_reader *r, const data_type *file, silt_error *err) {
    parquet_service *p = r->env->parquet;
    int threads = r->env->n_threads > 0 ? r->env->n_threads : thread_count_default();
    size_t n = 1 + (size_t)(threads > PARTS_MAX - 1 ? PARTS_MAX - 1 : threads);
    int64_t n_rows = 0;
    str local;
    silt_error why = {0};
    log_file f = file_of(r);
    TRY(log_fetch_parquet(r->env, &f, NULL, NULL, 0, r->arena, &local, err));
    TRY(wrap_failure(p->count_rows(p, local, &n_rows, &why), &why, r->env->store, r->path, err));
    if (n_rows < (int64_t)n) return read_part(r, file, err);
    split_read *s = ARENA_NEW(r->arena, split_read);
    if (!s) return error_no_memory(err);
    s->file = file;
    TRY(plan_parts(r, s, n, n_rows, err));
    silt_status status = thread_for(threads, n, read_one, s, err);
    for (size_t i = 0; i < n; i++) {
        silt_status merged = merge_state(&s->states[i], r->state, r->arena, status == SILT_OK ? err : NULL);
        if (status == SILT_OK) status = merged;
    }
    return status;
}

/* Some action has a column; a part may hold only one kind. */
static bool is_checkpoint(const data_type *file) {
    for (const shape *known = state_shape; known->name; known++)
        if (child_type(file, str_of(known->name))) return true;
    return child_type(file, STR("remove")) || child_type(file, STR("checkpointMetadata"));
}

static bool can_split(const parquet_service *p) { return p->read_where_null && p->read_rows && p->count_rows; }

static silt_status read_parquet(file_reader *r, silt_error *err) {
    arena *local = arena_new();
    if (!local ||
        !ARENA_PUSH(r->arena, r->state->parquet_files, r->state->n_parquet_files, r->state->parquet_files_capacity, r->path)) {
        arena_free(local);
        return error_no_memory(err);
    }
    const data_type *file = NULL;
    log_file f = file_of(r);
    silt_status status = read_schema(r->env, &f, local, &file, err);
    if (status == SILT_OK) {
        r->has_stats_json = checkpoint_column(file, "add.stats") != NULL;
        r->has_stats_parsed = checkpoint_column(file, "add.stats_parsed") != NULL;
        if (!is_checkpoint(file))
            status = corrupt(r, "it has no column of a checkpoint", err);
        else if (r->size_bytes >= LARGE_BYTES && can_split(r->env->parquet))
            status = read_split(r, file, err);
        else
            status = read_part(r, file, err);
    }
    arena_free(local);
    return status;
}

static silt_status take_raw(const raw_action *action, arena *a, checkpoint_state *state, str **sidecars, size_t *n,
                            size_t *capacity, silt_error *err) {
    delta_txn_id txn;
    delta_domain domain;
    const json_node *node;
    switch (action->kind) {
        case ACTION_PROTOCOL:
            if (!(state->protocol = ARENA_NEW(a, delta_protocol))) return error_no_memory(err);
            return action_parse_protocol(action->text, a, state->protocol, err);
        case ACTION_METADATA:
            if (!(state->metadata = ARENA_NEW(a, delta_metadata))) return error_no_memory(err);
            return action_parse_metadata(action->text, a, state->metadata, err);
        case ACTION_TXN:
            TRY(action_parse_txn(action->text, a, &txn, err));
            return ARENA_PUSH(a, state->txns, state->n_txns, state->txns_capacity, txn) ? SILT_OK : error_no_memory(err);
        case ACTION_DOMAIN:
            TRY(action_parse_domain(action->text, a, &domain, err));
            return ARENA_PUSH(a, state->domains, state->n_domains, state->domains_capacity, domain) ? SILT_OK
                                                                                                    : error_no_memory(err);
        case ACTION_SIDECAR:
            TRY(json_parse(action->text, a, &node, err));
            str path = json_get_str(node, "path", STR_NULL);
            if (path.len == 0) return err_DELTA_CHECKPOINT_CORRUPT(err, action->path);
            return ARENA_PUSH(a, *sidecars, *n, *capacity, path) ? SILT_OK : error_no_memory(err);
        case ACTION_COMMIT_INFO:
        case ACTION_CDC: break;
    }
    return SILT_OK;
}

/* A V2 checkpoint in JSON; adds may stand in it directly. */
static silt_status read_json(const delta_env *env, const log_file *f, arena *a, checkpoint_state *state, str **sidecars,
                             size_t *n, size_t *capacity, silt_error *err) {
    parsed_log parsed;
    TRY(replay_parse(env, f, 1, -1, a, &parsed, err));
    silt_status status = parsed.status;
    if (status != SILT_OK && err) *err = parsed.error;
    for (size_t i = 0; status == SILT_OK && i < parsed.actions.count; i++)
        status = take_raw(&parsed.actions.items[i], a, state, sidecars, n, capacity, err);
    for (size_t i = 0; i < parsed.n_batches; i++) {
        if (status == SILT_OK && ARENA_PUSH(a, state->batches, state->n_batches, state->batches_capacity, parsed.batches[i]))
            continue;
        file_batch_release(parsed.batches[i]);
        if (status == SILT_OK) status = error_no_memory(err);
    }
    return status;
}

/* A sidecar's name, or (allowed, never seen) a path or URI. */
static silt_status sidecar_path(const delta_env *env, str root, str name, arena *a, str *out, silt_error *err) {
    str decoded = uri_decode(name, a);
    if (!decoded.ptr) return error_no_memory(err);
    if (str_find_char(decoded, '/') == SIZE_MAX) {
        *out = path_join(a, log_path_sidecars(root, a), decoded);
        return out->ptr ? SILT_OK : error_no_memory(err);
    }
    store *s;
    return delta_resolve_path(env, root, name, a, &s, out, err);
}

typedef struct sidecar_look {
    const delta_env *env;
    int64_t version;
    log_file *files;
    arena **arenas; /* one per file: an arena belongs to one thread */
} sidecar_look;

static silt_status look_at_sidecar(void *ctx, size_t i, silt_error *err) {
    sidecar_look *l = ctx;
    store_entry entry;
    silt_status status = store_stat(l->env->store, l->files[i].path, l->arenas[i], &entry, err);
    if (status == SILT_NOT_FOUND) return err_DELTA_MISSING_PART_FILES(err, l->version, store_path_named(l->env->store, l->files[i].path, l->arenas[i]));
    TRY(status);
    l->files[i].size_bytes = entry.size_bytes;
    return log_file_tag(l->env, &entry, l->arenas[i], &l->files[i].tag, err);
}

static silt_status look_at_sidecars(const delta_env *env, str root, int64_t version, const str *names, size_t n, arena *a, log_file **out, silt_error *err) {
    sidecar_look l = {env, version, ARENA_ARRAY(a, n + 1, log_file), ARENA_ARRAY(a, n + 1, arena *)};
    if (!l.files || !l.arenas) return error_no_memory(err);
    for (size_t i = 0; i < n; i++) {
        TRY(sidecar_path(env, root, names[i], a, &l.files[i].path, err));
        l.arenas[i] = arena_new();
        if (!l.arenas[i]) return error_no_memory(err);
        if (arena_defer(a, free_arena, l.arenas[i])) continue;
        arena_free(l.arenas[i]);
        return error_no_memory(err);
    }
    *out = l.files;
    return thread_for(store_is_remote(env->store) ? store_parallel(env->store) : 1, n, look_at_sidecar, &l, err);
}

static const str wanted_names[] = {{"add.path", 8}, {"add.partitionValues", 19}, {"add.size", 8}, {"add.modificationTime", 20}, {"add.dataChange", 14}, {"add.tags", 8},
                                   {"add.deletionVector", 18}, {"add.baseRowId", 13}, {"add.defaultRowCommitVersion", 27}, {"add.clusteringProvider", 22},
                                   {"add.stats_parsed.numRecords", 27}, {"metaData", 8}, {"protocol", 8}, {"txn", 3}, {"domainMetadata", 14}, {"sidecar", 7}, {"remove.path", 11}};

static silt_status read_sidecars(const delta_env *env, str root, int64_t version, const str *names, size_t n, arena *a,
                                 checkpoint_state *out, silt_error *err) {
    log_file *files;
    if (n == 0) return SILT_OK;
    TRY(look_at_sidecars(env, root, version, names, n, a, &files, err));
    TRY(log_fetch_parquets(env, files, n, NULL, wanted_names, ARRAY_LEN(wanted_names), a, err));
    for (size_t i = 0; i < n; i++) {
        file_reader r = {.env = env, .version = version, .arena = a, .state = out, .path = files[i].path, .size_bytes = files[i].size_bytes, .tag = files[i].tag};
        TRY(read_parquet(&r, err));
    }
    return SILT_OK;
}

/* The parts in Parquet, with the columns that reading them asks for; a V2 checkpoint's top in JSON among them is left to its reader. */
static silt_status fetch_parts(const delta_env *env, const delta_segment *segment, arena *a, silt_error *err) {
    bool json = segment->n_checkpoint > 0 && segment->checkpoint[0].name.kind == LOG_CHECKPOINT_V2_JSON;
    if (json) return SILT_OK;
    return log_fetch_parquets(env, segment->checkpoint, segment->n_checkpoint, NULL, wanted_names, ARRAY_LEN(wanted_names), a, err);
}

void checkpoint_state_release(checkpoint_state *s) {
    for (size_t i = 0; i < s->n_batches; i++) file_batch_release(s->batches[i]);
    s->n_batches = 0;
}

static silt_status read_all(const delta_env *env, str root, const delta_segment *segment, arena *a, checkpoint_state *out,
                            silt_error *err) {
    str *sidecars = NULL;
    size_t n = 0, capacity = 0;
    TRY(fetch_parts(env, segment, a, err));
    for (size_t i = 0; i < segment->n_checkpoint; i++) {
        const log_file *f = &segment->checkpoint[i];
        if (f->name.kind == LOG_CHECKPOINT_V2_JSON) {
            TRY(read_json(env, f, a, out, &sidecars, &n, &capacity, err));
            continue;
        }
        file_reader r = {.env = env,
                         .path = f->path,
                         .version = f->name.version,
                         .size_bytes = f->size_bytes,
                         .tag = f->tag,
                         .arena = a,
                         .state = out,
                         .sidecars = &sidecars,
                         .n_sidecars = &n,
                         .sidecars_capacity = &capacity};
        TRY(read_parquet(&r, err));
    }
    return read_sidecars(env, root, segment->checkpoint_version, sidecars, n, a, out, err);
}

/* A copy of the segment whose parts can be brought up to date. */
static silt_status copy_parts(const delta_segment *segment, arena *a, delta_segment *out, log_file **parts, silt_error *err) {
    *out = *segment;
    *parts = ARENA_ARRAY(a, segment->n_checkpoint + 1, log_file);
    if (!*parts) return error_no_memory(err);
    if (segment->n_checkpoint) memcpy(*parts, segment->checkpoint, segment->n_checkpoint * sizeof **parts);
    out->checkpoint = *parts;
    return SILT_OK;
}

static silt_status check_parts(const delta_env *env, log_file *parts, size_t n, bool met_another, arena *a, bool *same, silt_error *err) {
    *same = true;
    for (size_t i = 0; i < n; i++) {
        bool one;
        TRY(log_fetch_check(env, &parts[i], met_another, a, &one, err));
        *same = *same && one;
    }
    return SILT_OK;
}

silt_status checkpoint_read(const delta_env *env, str root, const delta_segment *segment, arena *a, checkpoint_state *out,
                            silt_error *err) {
    delta_segment now;
    log_file *parts;
    *out = (checkpoint_state){0};
    TRY(copy_parts(segment, a, &now, &parts, err));
    for (int i = 0; i < LOG_REWRITES_MAX; i++) {
        bool same;
        silt_error why = {.status = SILT_OK};
        *out = (checkpoint_state){0};
        silt_status status = read_all(env, root, &now, a, out, &why), checked = SILT_OK;
        bool another = store_met_another_version(&why), hopeless = status == SILT_CANCELLED || status == SILT_NO_MEMORY || status == SILT_NOT_FOUND;
        if (!hopeless) checked = check_parts(env, parts, now.n_checkpoint, another, a, &same, err);
        if (status == SILT_OK && checked == SILT_OK && same) return SILT_OK;
        checkpoint_state_release(out);
        if (checked != SILT_OK) return checked;
        if (!hopeless && (!same || another)) continue;
        if (err) *err = why;
        return status;
    }
    return err_IO_ERROR(err, "read a whole version of", store_path_named(env->store, parts[0].path, a));
}

/* ---- tombstones ---- */

typedef struct remove_reader {
    checkpoint_remove_fn fn;
    void *ctx;
    arena *arena; /* of one row */
} remove_reader;

static silt_status take_remove(remove_reader *r, const arrow_column *c, const arrow_column *path, const dv_columns *dv, int64_t i,
                               silt_error *err) {
    arrow_column map = arrow_column_field(c, "partitionValues"), keys = arrow_column_item(&map, 0),
                 values = arrow_column_item(&map, 1);
    arrow_column data_change = arrow_column_field(c, "dataChange"), extended = arrow_column_field(c, "extendedFileMetadata");
    int64_t from, to;
    str storage = arrow_str(&dv->storage, i);
    delta_remove remove = {.path = arrow_str(path, i),
                           .deletion_timestamp_ms = field_i64(c, "deletionTimestamp", i, -1),
                           .data_change = arrow_bool(&data_change, i, true),
                           .extended_file_metadata = arrow_bool(&extended, i, false),
                           .size_bytes = field_i64(c, "size", i, -1),
                           .dv = {.offset = -1},
                           .base_row_id = field_i64(c, "baseRowId", i, -1),
                           .default_row_commit_version = field_i64(c, "defaultRowCommitVersion", i, -1)};
    if (!arrow_is_null(&dv->self, i) && storage.len == 1)
        remove.dv = (delta_dv){.storage = storage.ptr[0],
                               .path_or_inline = arrow_str(&dv->text, i),
                               .offset = (int32_t)arrow_i64(&dv->offset, i, -1),
                               .size_bytes = (int32_t)arrow_i64(&dv->size, i, 0),
                               .cardinality = arrow_i64(&dv->cardinality, i, 0)};
    arena_reset(r->arena);
    if (arrow_list(&map, i, &from, &to)) TRY(arrow_map(&keys, &values, from, to, r->arena, false, &remove.partition_values, err));
    return r->fn(r->ctx, &remove, err);
}

static silt_status take_remove_batch(void *ctx, const struct ArrowSchema *schema, const struct ArrowArray *array,
                                     silt_error *err) {
    remove_reader *r = ctx;
    arrow_column root = arrow_column_root(schema, array), remove = arrow_column_field(&root, "remove"),
                 path = arrow_column_field(&remove, "path");
    dv_columns dv = find_dv(&remove);
    for (int64_t i = 0; i < array->length; i++)
        if (is_present(&remove, &path, i)) TRY(take_remove(r, &remove, &path, &dv, i, err));
    return SILT_OK;
}

silt_status checkpoint_each_remove(const delta_env *env, str parquet_path, checkpoint_remove_fn fn, void *ctx, silt_error *err) {
    arena *local = arena_new();
    remove_reader r = {.fn = fn, .ctx = ctx, .arena = arena_new()};
    const data_type *file, *columns;
    struct ArrowArrayStream stream = {0};
    silt_status status = local && r.arena ? checkpoint_schema(env, parquet_path, local, &file, err) : error_no_memory(err);
    if (status == SILT_OK) {
        columns = shape_type(removes_shape, file, local);
        if (!columns)
            status = error_no_memory(err);
        else if (columns->n_fields) {
            status = checkpoint_open(env, parquet_path, columns, local, &stream, err);
            if (status == SILT_OK) status = arrow_each_batch(&stream, store_path_named(env->store, parquet_path, local), take_remove_batch, &r, err);
        }
    }
    arena_free(r.arena);
    arena_free(local);
    return status;
}
