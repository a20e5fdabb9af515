/*
 * Actions → JSON lines. The order of the keys is that of Delta's own writer (PROTOCOL.md "Actions" lists the fields; the literals come from Spark): readers do not
 * depend on it, people and byte comparisons do.
 */
#include "delta/action_write.h"

#include "base/json.h"

static void key_str(buf *out, bool *first, const char *key, str val) {
    json_write_key(out, first, key);
    json_write_str(out, val);
}

static void key_str_opt(buf *out, bool *first, const char *key, str val) {
    if (!str_is_null(val)) key_str(out, first, key, val);
}

static void key_i64(buf *out, bool *first, const char *key, int64_t val) {
    json_write_key(out, first, key);
    json_write_i64(out, val);
}

/* -1 stands for absent in the structs. */
static void key_i64_opt(buf *out, bool *first, const char *key, int64_t val) {
    if (val >= 0) key_i64(out, first, key, val);
}

static void key_bool(buf *out, bool *first, const char *key, bool val) {
    json_write_key(out, first, key);
    buf_append_z(out, val ? "true" : "false");
}

/* Text that is JSON already. */
static void key_raw_opt(buf *out, bool *first, const char *key, str json) {
    if (str_is_null(json)) return;
    json_write_key(out, first, key);
    buf_append(out, json);
}

static void key_map(buf *out, bool *first, const char *key, const str_map *map) {
    bool first_entry = true;
    json_write_key(out, first, key);
    buf_append_char(out, '{');
    for (size_t i = 0; i < map->count; i++) {
        json_write_key_str(out, &first_entry, map->keys[i]);
        if (str_is_null(map->values[i])) buf_append_z(out, "null");
        else json_write_str(out, map->values[i]);
    }
    buf_append_char(out, '}');
}

static void key_list(buf *out, bool *first, const char *key, const str *items, size_t n) {
    json_write_key(out, first, key);
    buf_append_char(out, '[');
    for (size_t i = 0; i < n; i++) {
        if (i) buf_append_char(out, ',');
        json_write_str(out, items[i]);
    }
    buf_append_char(out, ']');
}

static void key_dv(buf *out, bool *first_key, const delta_dv *dv) {
    if (dv->storage == 0) return;
    bool first = true;
    json_write_key(out, first_key, "deletionVector");
    buf_append_char(out, '{');
    key_str(out, &first, "storageType", (str){&dv->storage, 1});
    key_str(out, &first, "pathOrInlineDv", dv->path_or_inline);
    key_i64_opt(out, &first, "offset", dv->offset);
    key_i64(out, &first, "sizeInBytes", dv->size_bytes);
    key_i64(out, &first, "cardinality", dv->cardinality);
    buf_append_char(out, '}');
}

void delta_write_protocol_object(buf *out, const delta_protocol *p) {
    bool first = true;
    buf_append_char(out, '{');
    key_i64(out, &first, "minReaderVersion", p->min_reader_version);
    key_i64(out, &first, "minWriterVersion", p->min_writer_version);
    if (p->has_reader_features) key_list(out, &first, "readerFeatures", p->reader_features, p->n_reader_features);
    if (p->has_writer_features) key_list(out, &first, "writerFeatures", p->writer_features, p->n_writer_features);
    buf_append_char(out, '}');
}

static void key_format(buf *out, bool *first_key, const delta_metadata *m) {
    bool first = true;
    json_write_key(out, first_key, "format");
    buf_append_char(out, '{');
    key_str(out, &first, "provider", str_is_null(m->format_provider) ? STR("parquet") : m->format_provider);
    key_map(out, &first, "options", &m->format_options);
    buf_append_char(out, '}');
}

void delta_write_metadata_object(buf *out, const delta_metadata *m) {
    bool first = true;
    buf_append_char(out, '{');
    key_str(out, &first, "id", m->id);
    key_str_opt(out, &first, "name", m->name);
    key_str_opt(out, &first, "description", m->description);
    key_format(out, &first, m);
    key_str(out, &first, "schemaString", m->schema_json);
    key_list(out, &first, "partitionColumns", m->partition_columns, m->n_partition_columns);
    key_map(out, &first, "configuration", &m->configuration);
    key_i64_opt(out, &first, "createdTime", m->created_time_ms);
    buf_append_char(out, '}');
}

void delta_write_add(buf *out, const delta_add *a) {
    bool first = true;
    buf_append_z(out, "{\"add\":{");
    key_str(out, &first, "path", a->path);
    key_map(out, &first, "partitionValues", &a->partition_values);
    key_i64(out, &first, "size", a->size_bytes);
    key_i64(out, &first, "modificationTime", a->modification_time_ms);
    key_bool(out, &first, "dataChange", a->data_change);
    key_str_opt(out, &first, "stats", a->stats);
    key_raw_opt(out, &first, "tags", a->tags);
    key_dv(out, &first, &a->dv);
    key_i64_opt(out, &first, "baseRowId", a->base_row_id);
    key_i64_opt(out, &first, "defaultRowCommitVersion", a->default_row_commit_version);
    key_str_opt(out, &first, "clusteringProvider", a->clustering_provider);
    buf_append_z(out, "}}\n");
}

void delta_write_remove(buf *out, const delta_remove *r) {
    bool first = true;
    buf_append_z(out, "{\"remove\":{");
    key_str(out, &first, "path", r->path);
    key_i64_opt(out, &first, "deletionTimestamp", r->deletion_timestamp_ms);
    key_bool(out, &first, "dataChange", r->data_change);
    if (r->extended_file_metadata) {
        key_bool(out, &first, "extendedFileMetadata", true);
        key_map(out, &first, "partitionValues", &r->partition_values);
    }
    key_i64_opt(out, &first, "size", r->size_bytes);
    key_raw_opt(out, &first, "tags", r->tags);
    key_dv(out, &first, &r->dv);
    key_i64_opt(out, &first, "baseRowId", r->base_row_id);
    key_i64_opt(out, &first, "defaultRowCommitVersion", r->default_row_commit_version);
    key_str_opt(out, &first, "stats", r->stats);
    buf_append_z(out, "}}\n");
}

void delta_write_cdc(buf *out, const delta_cdc *c) {
    bool first = true;
    buf_append_z(out, "{\"cdc\":{");
    key_str(out, &first, "path", c->path);
    key_map(out, &first, "partitionValues", &c->partition_values);
    key_i64(out, &first, "size", c->size_bytes);
    key_raw_opt(out, &first, "tags", c->tags);
    key_bool(out, &first, "dataChange", false);
    buf_append_z(out, "}}\n");
}

void delta_write_txn_object(buf *out, const delta_txn_id *t) {
    bool first = true;
    buf_append_char(out, '{');
    key_str(out, &first, "appId", t->app_id);
    key_i64(out, &first, "version", t->version);
    key_i64_opt(out, &first, "lastUpdated", t->last_updated_ms);
    buf_append_char(out, '}');
}

void delta_write_domain_object(buf *out, const delta_domain *d) {
    bool first = true;
    buf_append_char(out, '{');
    key_str(out, &first, "domain", d->domain);
    key_str(out, &first, "configuration", d->configuration);
    key_bool(out, &first, "removed", d->removed);
    buf_append_char(out, '}');
}

static void end_line(buf *out) { buf_append_z(out, "}\n"); }

void delta_write_protocol(buf *out, const delta_protocol *p) {
    buf_append_z(out, "{\"protocol\":");
    delta_write_protocol_object(out, p);
    end_line(out);
}

void delta_write_metadata(buf *out, const delta_metadata *m) {
    buf_append_z(out, "{\"metaData\":");
    delta_write_metadata_object(out, m);
    end_line(out);
}

void delta_write_txn(buf *out, const delta_txn_id *t) {
    buf_append_z(out, "{\"txn\":");
    delta_write_txn_object(out, t);
    end_line(out);
}

void delta_write_domain(buf *out, const delta_domain *d) {
    buf_append_z(out, "{\"domainMetadata\":");
    delta_write_domain_object(out, d);
    end_line(out);
}
