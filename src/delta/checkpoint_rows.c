/*
 * A snapshot's actions → Arrow batches. The snapshot pushes its files one by one (so that it can fetch statistics in bulk) and the Parquet writer pulls batches:
 * a thread between them fills one batch while the writer takes the one before, and no more than these two exist at a time. Collecting everything first was
 * rejected: a million files with statistics are a gigabyte.
 */
#include "delta/checkpoint_rows.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "base/json.h"
#include "delta/properties.h"

#define BATCH_ROWS 8192

struct checkpoint_rows {
    const delta_snapshot *snapshot;
    const checkpoint_spec *spec;
    const checkpoint_shape *shape;
    int64_t now_ms, tombstones_from_ms; /* older tombstones have expired */

    /* the producer's */
    pthread_t thread;
    int64_t in_part; /* rows of the part that is being filled */
    arrow_builder *builder;
    arena *scratch; /* one row's */
    checkpoint_counts counts;

    /* the consumer's */
    bool began;
    int64_t taken; /* rows of the part that is being read */

    /* between the two, under the lock */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct ArrowArray ready; /* release == NULL: the slot is empty */
    bool is_done, is_stopped;
    silt_status status;
    silt_error error;
};

/* ---- filling a row ---- */

/* Appends report exhaustion only; it is remembered and looked at once per row. */
typedef struct row {
    arrow_builder *b;
    bool ok;
} row;

static void put_null(row *r, size_t i) { r->ok = r->ok && arrow_append_null(arrow_child(r->b, i)); }
static void put_str(row *r, size_t i, str s) {
    arrow_builder *b = arrow_child(r->b, i);
    r->ok = r->ok && (str_is_null(s) ? arrow_append_null(b) : arrow_append_str(b, s));
}
static void put_i64(row *r, size_t i, int64_t v) { r->ok = r->ok && arrow_append_i64(arrow_child(r->b, i), v); }
/* -1 is null. */
static void put_i64_opt(row *r, size_t i, int64_t v) {
    if (v < 0) put_null(r, i);
    else put_i64(r, i, v);
}
static void put_bool(row *r, size_t i, bool v) { r->ok = r->ok && arrow_append_bool(arrow_child(r->b, i), v); }

static void put_map(row *r, size_t i, const str_map *map) {
    arrow_builder *b = arrow_child(r->b, i);
    for (size_t k = 0; k < map->count && r->ok; k++) {
        r->ok = arrow_append_str(arrow_child(b, 0), map->keys[k]);
        r->ok = r->ok && (str_is_null(map->values[k]) ? arrow_append_null(arrow_child(b, 1)) : arrow_append_str(arrow_child(b, 1), map->values[k]));
    }
    r->ok = r->ok && arrow_finish_row(b);
}

static void put_list(row *r, size_t i, const str *items, size_t n, bool present) {
    arrow_builder *b = arrow_child(r->b, i);
    if (!present) {
        put_null(r, i);
        return;
    }
    for (size_t k = 0; k < n && r->ok; k++) r->ok = arrow_append_str(arrow_child(b, 0), items[k]);
    r->ok = r->ok && arrow_finish_row(b);
}

static void put_dv(row *r, size_t i, const delta_dv *dv) {
    if (dv->storage == 0) {
        put_null(r, i);
        return;
    }
    row d = {arrow_child(r->b, i), r->ok};
    put_str(&d, 0, (str){&dv->storage, 1});
    put_str(&d, 1, dv->path_or_inline);
    put_i64_opt(&d, 2, dv->offset);
    put_i64(&d, 3, dv->size_bytes);
    put_i64(&d, 4, dv->cardinality);
    put_null(&d, 5);
    r->ok = d.ok && arrow_finish_row(d.b);
}

/* The tags object is kept as JSON text; its values are strings, others are kept as their text. */
static void put_tags(row *r, size_t i, str tags, arena *scratch) {
    const json_node *root = NULL;
    if (str_is_null(tags) || json_parse(tags, scratch, &root, NULL) != SILT_OK || root->type != JSON_OBJECT) {
        put_null(r, i);
        return;
    }
    arrow_builder *b = arrow_child(r->b, i);
    for (size_t k = 0; k < root->count && r->ok; k++) {
        const json_node *v = &root->values[k];
        r->ok = arrow_append_str(arrow_child(b, 0), root->keys[k]);
        str text = v->type == JSON_BOOL ? (v->boolean ? STR("true") : STR("false")) : v->text;
        r->ok = r->ok && (v->type == JSON_NULL ? arrow_append_null(arrow_child(b, 1)) : arrow_append_str(arrow_child(b, 1), text));
    }
    r->ok = r->ok && arrow_finish_row(b);
}

/* ---- parsed statistics and partition values ---- */

static bool append_value(arrow_builder *b, const value *v) {
    if (v->is_null) return arrow_append_null(b);
    switch (v->type->id) {
        case TYPE_BOOLEAN: return arrow_append_bool(b, v->as.boolean);
        case TYPE_FLOAT:
        case TYPE_DOUBLE: return arrow_append_f64(b, v->as.f64);
        case TYPE_DECIMAL: return arrow_append_decimal(b, v->as.decimal);
        case TYPE_STRING:
        case TYPE_BINARY: return arrow_append_str(b, v->as.bytes);
        default: return arrow_append_i64(b, v->as.i64);
    }
}

/* The member, tried first where it stands when the object has the schema's order. */
static const json_node *member(const json_node *object, str key, size_t hint) {
    if (!object || object->type != JSON_OBJECT) return NULL;
    if (hint < object->count && str_eq(object->keys[hint], key)) return &object->values[hint];
    for (size_t i = object->count; i-- > 0;)
        if (str_eq(object->keys[i], key)) return &object->values[i];
    return NULL;
}

/* One object of bounds or counts; what is missing or malformed is null, which readers take as unknown. */
static bool append_stats(arrow_builder *b, const data_type *type, const json_node *object, arena *scratch) {
    if (!object || object->type != JSON_OBJECT) return arrow_append_null(b);
    for (size_t i = 0; i < type->n_fields; i++) {
        const field *f = &type->fields[i];
        const json_node *node = member(object, f->name, i);
        arrow_builder *child = arrow_child(b, i);
        value v;
        bool ok;
        if (f->type->id == TYPE_STRUCT) ok = append_stats(child, f->type, node, scratch);
        else if (node && node->type != JSON_NULL && value_from_stats_json(node, f->type, &v, scratch)) ok = append_value(child, &v);
        else ok = arrow_append_null(child);
        if (!ok) return false;
    }
    return arrow_finish_row(b);
}

static bool append_count(arrow_builder *b, const json_node *root, const char *key) {
    const json_node *node = json_get(root, key);
    int64_t n;
    return node && json_node_i64(node, &n) ? arrow_append_i64(b, n) : arrow_append_null(b);
}

static bool append_flag(arrow_builder *b, const json_node *root, const char *key) {
    const json_node *node = json_get(root, key);
    return node && node->type == JSON_BOOL ? arrow_append_bool(b, node->boolean) : arrow_append_null(b);
}

static bool append_stats_parsed(arrow_builder *b, const checkpoint_shape *shape, str stats, arena *scratch) {
    const json_node *root = NULL;
    if (str_is_null(stats) || json_parse(stats, scratch, &root, NULL) != SILT_OK || root->type != JSON_OBJECT) return arrow_append_null(b);
    bool ok = append_count(arrow_child(b, 0), root, "numRecords");
    const struct {
        int32_t at;
        const char *key;
    } objects[] = {{shape->min_values, "minValues"}, {shape->max_values, "maxValues"}, {shape->null_count, "nullCount"}};
    for (size_t i = 0; i < ARRAY_LEN(objects) && ok; i++)
        if (objects[i].at >= 0)
            ok = append_stats(arrow_child(b, (size_t)objects[i].at), shape->stats_type->fields[objects[i].at].type, json_get(root, objects[i].key),
                              scratch);
    if (ok && shape->tight_bounds >= 0) ok = append_flag(arrow_child(b, (size_t)shape->tight_bounds), root, "tightBounds");
    return ok && arrow_finish_row(b);
}

static str map_get_exact(const str_map *map, str key) {
    for (size_t i = 0; i < map->count; i++)
        if (str_eq(map->keys[i], key)) return map->values[i];
    return STR_NULL;
}

static silt_status append_partition_parsed(const checkpoint_rows *r, arrow_builder *b, const delta_add *add, silt_error *err) {
    const data_type *type = r->shape->partition_type;
    for (size_t i = 0; i < type->n_fields; i++) {
        value v;
        str text = map_get_exact(&add->partition_values, type->fields[i].name);
        TRY(partition_value_parse(text, str_is_null(text), type->fields[i].type, delta_snapshot_env(r->snapshot)->zone_offset_seconds, r->scratch, &v,
                                  err));
        if (!append_value(arrow_child(b, i), &v)) return error_no_memory(err);
    }
    return arrow_finish_row(b) ? SILT_OK : error_no_memory(err);
}

/* ---- batches ---- */

/* Hand the full batch over; waits until the one before has been taken. */
static silt_status flush(checkpoint_rows *r, silt_error *err) {
    struct ArrowArray batch;
    r->in_part += (int64_t)arrow_builder_rows(r->builder);
    if (r->in_part == r->spec->part_rows) r->in_part = 0;
    TRY(arrow_builder_finish(r->builder, &batch, err));
    pthread_mutex_lock(&r->lock);
    while (r->ready.release && !r->is_stopped) pthread_cond_wait(&r->changed, &r->lock);
    bool stopped = r->is_stopped;
    if (!stopped) r->ready = batch;
    pthread_cond_broadcast(&r->changed);
    pthread_mutex_unlock(&r->lock);
    if (stopped) batch.release(&batch);
    return stopped ? err_OPERATION_CANCELLED(err) : SILT_OK;
}

/* Close the row whose one action is in column `action`: the others are null. */
static silt_status end_row(checkpoint_rows *r, int32_t action, bool ok, silt_error *err) {
    for (size_t i = 0; i < r->shape->type->n_fields && ok; i++)
        if ((int32_t)i != action) ok = arrow_append_null(arrow_child(r->builder, i));
    if (!ok || !arrow_finish_row(r->builder)) return error_no_memory(err);
    arena_reset(r->scratch);
    int64_t rows = (int64_t)arrow_builder_rows(r->builder);
    bool ends_part = r->spec->part_rows > 0 && r->in_part + rows >= r->spec->part_rows; /* a batch is of one part */
    return rows >= BATCH_ROWS || ends_part ? flush(r, err) : SILT_OK;
}

static row begin_row(checkpoint_rows *r, int32_t action) { return (row){arrow_child(r->builder, (size_t)action), true}; }

/* ---- one function per action ---- */

static silt_status emit_add(void *ctx, size_t i, const delta_add *add, silt_error *err) {
    (void)i;
    checkpoint_rows *r = ctx;
    const checkpoint_shape *shape = r->shape;
    row a = begin_row(r, shape->add);
    put_str(&a, 0, add->path);
    put_map(&a, 1, &add->partition_values);
    put_i64(&a, 2, add->size_bytes);
    put_i64(&a, 3, add->modification_time_ms);
    put_bool(&a, 4, false);
    put_tags(&a, 5, add->tags, r->scratch);
    put_dv(&a, 6, &add->dv);
    put_i64_opt(&a, 7, add->base_row_id);
    put_i64_opt(&a, 8, add->default_row_commit_version);
    put_str(&a, 9, add->clustering_provider);
    if (shape->stats >= 0) put_str(&a, (size_t)shape->stats, add->stats);
    if (shape->partition_values_parsed >= 0)
        TRY(append_partition_parsed(r, arrow_child(a.b, (size_t)shape->partition_values_parsed), add, err));
    if (shape->stats_parsed >= 0) a.ok = a.ok && append_stats_parsed(arrow_child(a.b, (size_t)shape->stats_parsed), shape, add->stats, r->scratch);
    r->counts.adds++;
    return end_row(r, shape->add, a.ok && arrow_finish_row(a.b), err);
}

static bool is_expired(const delta_remove *remove, int64_t from_ms) {
    return (remove->deletion_timestamp_ms < 0 ? 0 : remove->deletion_timestamp_ms) <= from_ms;
}

static silt_status emit_remove(void *ctx, const delta_remove *remove, silt_error *err) {
    checkpoint_rows *r = ctx;
    if (is_expired(remove, r->tombstones_from_ms)) return SILT_OK;
    row d = begin_row(r, r->shape->remove);
    put_str(&d, 0, remove->path);
    put_i64_opt(&d, 1, remove->deletion_timestamp_ms);
    put_bool(&d, 2, false);
    put_bool(&d, 3, remove->extended_file_metadata);
    if (remove->extended_file_metadata) put_map(&d, 4, &remove->partition_values);
    else put_null(&d, 4);
    put_i64_opt(&d, 5, remove->size_bytes);
    put_dv(&d, 6, &remove->dv);
    put_i64_opt(&d, 7, remove->base_row_id);
    put_i64_opt(&d, 8, remove->default_row_commit_version);
    r->counts.removes++;
    return end_row(r, r->shape->remove, d.ok && arrow_finish_row(d.b), err);
}

static silt_status emit_protocol(checkpoint_rows *r, silt_error *err) {
    const delta_protocol *p = delta_snapshot_protocol(r->snapshot);
    row d = begin_row(r, r->shape->protocol);
    put_i64(&d, 0, p->min_reader_version);
    put_i64(&d, 1, p->min_writer_version);
    put_list(&d, 2, p->reader_features, p->n_reader_features, p->has_reader_features);
    put_list(&d, 3, p->writer_features, p->n_writer_features, p->has_writer_features);
    r->counts.others++;
    return end_row(r, r->shape->protocol, d.ok && arrow_finish_row(d.b), err);
}

static silt_status emit_metadata(checkpoint_rows *r, silt_error *err) {
    const delta_metadata *m = delta_snapshot_metadata(r->snapshot);
    row d = begin_row(r, r->shape->metadata);
    put_str(&d, 0, m->id);
    put_str(&d, 1, m->name);
    put_str(&d, 2, m->description);
    row format = {arrow_child(d.b, 3), d.ok};
    put_str(&format, 0, str_is_null(m->format_provider) ? STR("parquet") : m->format_provider);
    put_map(&format, 1, &m->format_options);
    d.ok = format.ok && arrow_finish_row(format.b);
    put_str(&d, 4, m->schema_json);
    put_list(&d, 5, m->partition_columns, m->n_partition_columns, true);
    put_map(&d, 6, &m->configuration);
    put_i64_opt(&d, 7, m->created_time_ms);
    r->counts.others++;
    return end_row(r, r->shape->metadata, d.ok && arrow_finish_row(d.b), err);
}

bool checkpoint_keeps_txn(const delta_metadata *m, const delta_txn_id *t, int64_t now_ms) {
    int64_t retention = delta_config_interval_ms(&m->configuration, "delta.setTransactionRetentionDuration");
    return retention < 0 || t->last_updated_ms < 0 || t->last_updated_ms > now_ms - retention;
}

static silt_status emit_txns(checkpoint_rows *r, silt_error *err) {
    for (size_t i = 0; i < delta_snapshot_n_txns(r->snapshot); i++) {
        const delta_txn_id *t = delta_snapshot_txn(r->snapshot, i);
        if (!checkpoint_keeps_txn(delta_snapshot_metadata(r->snapshot), t, r->now_ms)) continue;
        row d = begin_row(r, r->shape->txn);
        put_str(&d, 0, t->app_id);
        put_i64(&d, 1, t->version);
        put_i64_opt(&d, 2, t->last_updated_ms);
        r->counts.others++;
        TRY(end_row(r, r->shape->txn, d.ok && arrow_finish_row(d.b), err));
    }
    return SILT_OK;
}

static silt_status emit_domains(checkpoint_rows *r, silt_error *err) {
    for (size_t i = 0; i < delta_snapshot_n_domains(r->snapshot); i++) {
        const delta_domain *domain = delta_snapshot_domain(r->snapshot, i);
        if (domain->removed) continue;
        row d = begin_row(r, r->shape->domain);
        put_str(&d, 0, domain->domain);
        put_str(&d, 1, domain->configuration);
        put_bool(&d, 2, false);
        r->counts.others++;
        TRY(end_row(r, r->shape->domain, d.ok && arrow_finish_row(d.b), err));
    }
    return SILT_OK;
}

/* What a V2 checkpoint says of itself. */
static silt_status emit_top(checkpoint_rows *r, silt_error *err) {
    const checkpoint_spec *spec = r->spec;
    row m = begin_row(r, r->shape->checkpoint_metadata);
    put_i64(&m, 0, delta_snapshot_version(r->snapshot));
    put_map(&m, 1, &spec->tags);
    r->counts.others++;
    TRY(end_row(r, r->shape->checkpoint_metadata, m.ok && arrow_finish_row(m.b), err));
    for (size_t i = 0; i < spec->n_sidecars; i++) {
        row d = begin_row(r, r->shape->sidecar);
        put_str(&d, 0, spec->sidecars[i].name);
        put_i64(&d, 1, spec->sidecars[i].size_bytes);
        put_i64(&d, 2, spec->sidecars[i].modified_ms);
        put_null(&d, 3);
        r->counts.others++;
        TRY(end_row(r, r->shape->sidecar, d.ok && arrow_finish_row(d.b), err));
    }
    return SILT_OK;
}

static silt_status emit_all(checkpoint_rows *r, silt_error *err) {
    if (r->shape->content != CHECKPOINT_FILES) {
        TRY(emit_protocol(r, err));
        TRY(emit_metadata(r, err));
        TRY(emit_txns(r, err));
        TRY(emit_domains(r, err));
    }
    if (r->shape->content == CHECKPOINT_TOP) {
        TRY(emit_top(r, err));
        return arrow_builder_rows(r->builder) > 0 ? flush(r, err) : SILT_OK;
    }
    bool with_stats = r->shape->stats >= 0 || r->shape->stats_parsed >= 0;
    TRY(delta_snapshot_each_file(r->snapshot, with_stats, emit_add, r, err));
    TRY(delta_snapshot_each_remove(r->snapshot, emit_remove, r, err));
    return arrow_builder_rows(r->builder) > 0 ? flush(r, err) : SILT_OK;
}

static void *produce(void *ctx) {
    checkpoint_rows *r = ctx;
    silt_error error = {.status = SILT_OK};
    silt_status status = emit_all(r, &error);
    pthread_mutex_lock(&r->lock);
    r->status = status;
    r->error = error;
    r->is_done = true;
    pthread_cond_broadcast(&r->changed);
    pthread_mutex_unlock(&r->lock);
    return NULL;
}

/* ---- the stream ---- */

static int stream_get_schema(struct ArrowArrayStream *s, struct ArrowSchema *out) {
    checkpoint_rows *r = s->private_data;
    return arrow_schema_from_type(r->shape->type, out, NULL) == SILT_OK ? 0 : ENOMEM;
}

static int stream_get_next(struct ArrowArrayStream *s, struct ArrowArray *out) {
    checkpoint_rows *r = s->private_data;
    memset(out, 0, sizeof *out);
    if (r->spec->part_rows > 0 && r->taken >= r->spec->part_rows) return 0; /* the end of this part */
    pthread_mutex_lock(&r->lock);
    while (!r->ready.release && !r->is_done) pthread_cond_wait(&r->changed, &r->lock);
    int result = 0;
    if (r->ready.release) {
        *out = r->ready;
        r->ready.release = NULL;
        r->taken += out->length;
        pthread_cond_broadcast(&r->changed);
    } else if (r->status != SILT_OK) {
        result = EIO;
    }
    pthread_mutex_unlock(&r->lock);
    return result;
}

static const char *stream_last_error(struct ArrowArrayStream *s) {
    checkpoint_rows *r = s->private_data;
    return r->error.message[0] ? r->error.message : NULL;
}

/* The rows outlive the streams: checkpoint_rows_end frees them. */
static void stream_release(struct ArrowArrayStream *s) { s->release = NULL; }

static void rows_free(checkpoint_rows *r) {
    if (r->ready.release) r->ready.release(&r->ready);
    arrow_builder_free(r->builder);
    arena_free(r->scratch);
    pthread_cond_destroy(&r->changed);
    pthread_mutex_destroy(&r->lock);
    free(r);
}

static int64_t tombstones_from(const delta_snapshot *s, int64_t now_ms) {
    return now_ms - delta_config_interval_ms(&delta_snapshot_metadata(s)->configuration, "delta.deletedFileRetentionDuration");
}

silt_status checkpoint_rows_begin(const delta_snapshot *s, const checkpoint_spec *spec, checkpoint_rows **out, silt_error *err) {
    checkpoint_rows *r = calloc(1, sizeof *r);
    if (!r) return error_no_memory(err);
    r->snapshot = s;
    r->spec = spec;
    r->shape = spec->shape;
    r->now_ms = spec->now_ms;
    r->tombstones_from_ms = tombstones_from(s, spec->now_ms);
    pthread_mutex_init(&r->lock, NULL);
    pthread_cond_init(&r->changed, NULL);
    r->builder = arrow_builder_new(r->shape->type);
    r->scratch = arena_new();
    if (!r->builder || !r->scratch || pthread_create(&r->thread, NULL, produce, r) != 0) {
        rows_free(r);
        return error_no_memory(err);
    }
    *out = r;
    return SILT_OK;
}

void checkpoint_rows_part(checkpoint_rows *r, struct ArrowArrayStream *out_stream, bool *out_more) {
    pthread_mutex_lock(&r->lock);
    while (!r->ready.release && !r->is_done) pthread_cond_wait(&r->changed, &r->lock);
    *out_more = !r->began || r->ready.release;
    pthread_mutex_unlock(&r->lock);
    r->began = true;
    r->taken = 0;
    if (*out_more) *out_stream = (struct ArrowArrayStream){stream_get_schema, stream_get_next, stream_last_error, stream_release, r};
}

silt_status checkpoint_rows_end(checkpoint_rows *r, checkpoint_counts *out_counts, silt_error *err) {
    pthread_mutex_lock(&r->lock);
    r->is_stopped = true; /* a writer that failed may not have released the stream */
    pthread_cond_broadcast(&r->changed);
    pthread_mutex_unlock(&r->lock);
    pthread_join(r->thread, NULL);
    *out_counts = r->counts;
    silt_status status = r->status;
    if (status != SILT_OK && err) *err = r->error;
    rows_free(r);
    return status;
}

/* ---- counting ---- */

typedef struct remove_count {
    int64_t from_ms, n;
} remove_count;

static silt_status count_remove(void *ctx, const delta_remove *remove, silt_error *err) {
    remove_count *c = ctx;
    (void)err;
    c->n += !is_expired(remove, c->from_ms);
    return SILT_OK;
}

silt_status checkpoint_count_files(const delta_snapshot *s, int64_t now_ms, int64_t *out, silt_error *err) {
    remove_count c = {.from_ms = tombstones_from(s, now_ms)};
    TRY(delta_snapshot_each_remove(s, count_remove, &c, err));
    *out = (int64_t)delta_snapshot_n_files(s) + c.n;
    return SILT_OK;
}
