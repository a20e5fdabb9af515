/* DESCRIBE DETAIL: one row about the table as it is at this snapshot, in Spark's columns. */
#include <stdlib.h>

#include "delta/log_path.h"
#include "ops/describe_rows.h"

static const char columns[] =
    "format STRING, id STRING, name STRING, description STRING, location STRING, createdAt TIMESTAMP, lastModified TIMESTAMP, "
    "partitionColumns ARRAY<STRING>, clusteringColumns ARRAY<STRING>, numFiles BIGINT, sizeInBytes BIGINT, properties "
    "MAP<STRING, STRING>, "
    "minReaderVersion INT, minWriterVersion INT, tableFeatures ARRAY<STRING>";

static int compare_names(const void *a, const void *b) { return str_cmp(*(const str *)a, *(const str *)b); }

static bool push_name(str name, str *names, size_t *n) {
    for (size_t i = 0; i < *n; i++)
        if (str_eq(names[i], name)) return false;
    names[(*n)++] = name;
    return true;
}

/* Listed and implied features, by name. Names that this build does not know are listed too. */
static silt_status table_features(const delta_protocol *p, arena *a, const str **out, size_t *out_n, silt_error *err) {
    str *names = ARENA_ARRAY(a, delta_feature_count() + p->n_writer_features + p->n_reader_features + 1, str);
    size_t n = 0;
    if (!names) return error_no_memory(err);
    for (size_t i = 0; i < p->n_writer_features; i++) push_name(p->writer_features[i], names, &n);
    for (size_t i = 0; i < p->n_reader_features; i++) push_name(p->reader_features[i], names, &n);
    for (size_t i = 0; i < delta_feature_count(); i++)
        if (delta_protocol_has(p, delta_feature_at(i)->name)) push_name(str_of(delta_feature_at(i)->name), names, &n);
    qsort(names, n, sizeof *names, compare_names);
    *out = names;
    *out_n = n;
    return SILT_OK;
}

/* As Spark shows it: file:/a/b, s3a://bucket/a. */
static str location_of(const delta_snapshot *s, arena *a) {
    str root = delta_snapshot_root(s);
    return arena_printf(a, "%s%.*s", store_uri_prefix(delta_snapshot_env(s)->store), STR_ARG(root));
}

/* When the commit file was written, also where commits have times of their own. */
static int64_t last_modified_ms(const delta_snapshot *s, arena *a) {
    store_entry entry;
    str path = log_path_file(delta_snapshot_root(s), delta_snapshot_version(s), ".json", a);
    bool found = !str_is_null(path) && store_stat(delta_snapshot_env(s)->store, path, a, &entry, NULL) == SILT_OK;
    return found ? entry.modified_ms : delta_snapshot_commit_time_ms(s);
}

static silt_status add_row(const delta_snapshot *s, str name, arena *a, arrow_builder *rows, silt_error *err) {
    const delta_metadata *m = delta_snapshot_metadata(s);
    const delta_protocol *p = delta_snapshot_protocol(s);
    const str *clustered, *features;
    size_t n_clustered, n_features;
    TRY(ops_clustering_columns(s, a, &clustered, &n_clustered, err));
    TRY(table_features(p, a, &features, &n_features, err));
    describe_row r = {.rows = rows};
    ops_describe_str(&r, STR("delta"));
    ops_describe_str(&r, m->id);
    ops_describe_str(&r, str_is_null(name) ? m->name : name);
    ops_describe_str(&r, m->description);
    ops_describe_str(&r, location_of(s, a));
    ops_describe_timestamp_ms(&r, m->created_time_ms);
    ops_describe_timestamp_ms(&r, last_modified_ms(s, a));
    ops_describe_list(&r, m->partition_columns, m->n_partition_columns);
    ops_describe_list(&r, clustered, n_clustered);
    ops_describe_i64(&r, (int64_t)delta_snapshot_n_files(s));
    ops_describe_i64(&r, delta_snapshot_size_bytes(s));
    ops_describe_map(&r, &m->configuration);
    ops_describe_i64(&r, p->min_reader_version);
    ops_describe_i64(&r, p->min_writer_version);
    ops_describe_list(&r, features, n_features);
    return ops_describe_finish(&r, err);
}

static silt_status add_folder_row(str location, arrow_builder *rows, silt_error *err) {
    describe_row r = {.rows = rows};
    for (int i = 0; i < 4; i++) ops_describe_null(&r);
    ops_describe_str(&r, location);
    for (int i = 0; i < 6; i++) ops_describe_null(&r);
    ops_describe_map(&r, &(str_map){NULL, NULL, 0});
    for (int i = 0; i < 3; i++) ops_describe_null(&r);
    return ops_describe_finish(&r, err);
}

silt_status ops_detail_of_folder(str location, arena *a, const data_type **out_type, arrow_builder **out_rows, silt_error *err) {
    TRY(ops_describe_begin(columns, a, out_type, out_rows, err));
    silt_status status = add_folder_row(location, *out_rows, err);
    if (status == SILT_OK) return SILT_OK;
    arrow_builder_free(*out_rows);
    *out_rows = NULL;
    return status;
}

silt_status ops_detail(const delta_snapshot *snapshot, str name, arena *a, const data_type **out_type, arrow_builder **out_rows,
                       silt_error *err) {
    TRY(ops_describe_begin(columns, a, out_type, out_rows, err));
    silt_status status = add_row(snapshot, name, a, *out_rows, err);
    if (status == SILT_OK) return SILT_OK;
    arrow_builder_free(*out_rows);
    *out_rows = NULL;
    return status;
}
