/* From a table's properties to how its data files are written, and from written files to the log's add actions. */
#include "base/uri.h"
#include "delta/properties.h"
#include "delta/stats_columns.h"
#include "ops/internal.h"

/* Large enough for few requests per scan, small enough that rewriting one file is cheap; what Delta's own file size tuning takes for tables below 2.5 TB. */
#define DEFAULT_FILE_BYTES ((int64_t)256 << 20)

/* What Delta's optimized writes put into one file of a partition; a bare number is MiB. */
#define OPTIMIZED_FILE_BYTES ((int64_t)512 << 20)

static bool writes_optimized(const op *o, const delta_metadata *m) {
    static const char *const properties[] = {"delta.autoOptimize.optimizeWrite", "delta.autoOptimize"};
    str text = ops_setting(o, "spark.databricks.delta.optimizeWrite.enabled");
    for (size_t i = 0; i < ARRAY_LEN(properties) && str_is_null(text); i++) text = str_map_get(&m->configuration, str_of(properties[i]));
    return !str_is_null(text) && str_eq_ascii_fold(text, STR("true"));
}

static silt_status optimized_bytes(const op *o, int64_t *out) {
    str key = STR("spark.databricks.delta.optimizeWrite.binSize"), text = ops_setting(o, "spark.databricks.delta.optimizeWrite.binSize");
    int64_t mib;
    *out = OPTIMIZED_FILE_BYTES;
    if (str_is_null(text)) return SILT_OK;
    bool is_bare = str_to_i64(text, &mib) && mib > 0 && mib < INT64_MAX >> 20;
    if (is_bare) *out = mib << 20;
    return is_bare || (ops_parse_bytes(text, out) && *out > 0) ? SILT_OK : err_INVALID_PARAMETER_VALUE(o->err, key, text, "a size such as 512m");
}

/* Rows come together by partition in every write here, which is what optimized writes are about; what is left of them is the size. */
static silt_status target_bytes(const op *o, const delta_metadata *m, int64_t *out) {
    *out = DEFAULT_FILE_BYTES;
    str key = STR("delta.targetFileSize"), text = str_map_get(&m->configuration, key);
    if (str_is_null(text)) {
        key = STR("spark.databricks.delta.targetFileSize");
        text = ops_setting(o, "spark.databricks.delta.targetFileSize");
    }
    if (str_is_null(text)) return writes_optimized(o, m) ? optimized_bytes(o, out) : SILT_OK;
    return ops_parse_bytes(text, out) && *out > 0 ? SILT_OK
                                                  : err_INVALID_PARAMETER_VALUE(o->err, key, text, "a size such as 128mb");
}

static silt_status compression(const op *o, const write_options *options, str *out) {
    static const struct codec {
        const char *spark, *name;
    } codecs[] = {
        {"none", "uncompressed"}, {"uncompressed", "uncompressed"}, {"snappy", "snappy"}, {"gzip", "gzip"}, {"zstd", "zstd"},
        {"lz4raw", "lz4_raw"},    {"lz4_raw", "lz4_raw"},           {"brotli", "brotli"}};
    str text = options->compression;
    if (text.len == 0) text = ops_setting(o, "spark.sql.parquet.compression.codec");
    *out = STR("snappy");
    if (text.len == 0) return SILT_OK;
    for (size_t i = 0; i < ARRAY_LEN(codecs); i++) {
        if (!str_eq_ascii_fold(text, str_of(codecs[i].spark))) continue;
        *out = str_of(codecs[i].name);
        return SILT_OK;
    }
    return err_INVALID_PARAMETER_VALUE(o->err, STR("compression"), text, "one of none, snappy, gzip, zstd, lz4raw, brotli");
}

static silt_status partition_indexes(const op *o, const write_target *t, write_spec *out) {
    const delta_metadata *m = &t->metadata;
    uint32_t *columns = ARENA_ARRAY(o->a, m->n_partition_columns + 1, uint32_t);
    if (!columns) return error_no_memory(o->err);
    for (size_t i = 0; i < m->n_partition_columns; i++) {
        int at = schema_find(t->schema, m->partition_columns[i]);
        if (at < 0) return err_DELTA_PARTITION_COLUMN_NOT_FOUND(o->err, m->partition_columns[i]);
        columns[i] = (uint32_t)at;
    }
    out->partition_columns = columns;
    out->n_partition_columns = m->n_partition_columns;
    return SILT_OK;
}

/* The properties choose the columns; the write itself has no say. */
static silt_status statistics(const op *o, const write_target *t, write_spec *out) {
    const str_map *c = &t->metadata.configuration;
    out->collect_stats = ops_setting_bool(o, "spark.databricks.delta.stats.collect", true);
    out->num_indexed_columns = (int32_t)delta_config_i64(c, "delta.dataSkippingNumIndexedCols");
    int64_t prefix = delta_config_i64(c, "delta.dataSkippingStringPrefixLength");
    out->string_prefix_length = prefix > 0 && prefix <= INT32_MAX ? (int32_t)prefix : 32;
    out->write_tight_bounds = delta_protocol_has(&t->protocol, "deletionVectors");
    return delta_stats_columns(&t->metadata, o->a, &out->stats_columns, &out->n_stats_columns, &out->has_stats_columns, o->err);
}

static silt_status records_per_file(const op *o, const write_options *options, int64_t *out) {
    *out = options->max_records_per_file;
    str text = ops_setting(o, "spark.sql.files.maxRecordsPerFile");
    if (*out > 0 || str_is_null(text)) return SILT_OK;
    return str_to_i64(text, out)
               ? SILT_OK
               : err_INVALID_PARAMETER_VALUE(o->err, STR("spark.sql.files.maxRecordsPerFile"), text, "a whole number");
}

silt_status ops_write_plan(const op *o, const write_target *t, str root, const write_options *options, write_spec *out) {
    const str_map *c = &t->metadata.configuration;
    bool mapped = ops_write_target_is_mapped(t);
    *out = (write_spec){.store = o->env->delta->store, .root = root, .schema = t->schema, .time_zone = o->env->bind->time_zone};
    TRY(ops_iceberg_check_writable(o, t));
    TRY(target_bytes(o, &t->metadata, &out->target_file_bytes));
    TRY(compression(o, options, &out->compression));
    TRY(partition_indexes(o, t, out));
    TRY(statistics(o, t, out));
    TRY(records_per_file(o, options, &out->max_records_per_file));
    out->random_prefix = delta_config_bool(c, "delta.randomizeFilePrefixes") || mapped;
    out->write_field_ids = mapped;
    out->write_partition_columns = delta_config_bool(c, "delta.enableMaterializePartitionColumnsFeature") || delta_config_iceberg_compat(c) > 0;
    return SILT_OK;
}

silt_status ops_write_rows(const op *o, const write_target *t, const write_spec *spec, query *q, write_result *out) {
    query *checked;
    TRY(ops_checks_wrap(o, t, q, &checked));
    TRY(expr_push_predicates(checked, o->env->bind, o->a, o->err));
    if (o->env->progress) o->env->progress(o->env->progress_ctx, "writing data files", -1);
    return engine_write(o->env->engine, checked, o->env->bind, spec, o->a, out, o->err);
}

/* ---- written files → add actions ---- */

silt_status ops_write_partition_values(const op *o, const write_target *t, const written_file *f, str_map *out) {
    size_t n = t->metadata.n_partition_columns;
    str *keys = ARENA_ARRAY(o->a, n + 1, str), *values = ARENA_ARRAY(o->a, n + 1, str);
    if (!keys || !values) return error_no_memory(o->err);
    for (size_t i = 0; i < n; i++) {
        buf b;
        int at = schema_find(t->schema, t->metadata.partition_columns[i]);
        keys[i] = t->schema->fields[at].physical_name;
        buf_init(&b, BUF_MAX_DEFAULT);
        bool set = partition_value_write(&b, &f->partition[i]);
        values[i] = set && buf_ok(&b) ? arena_str(o->a, buf_str(&b)) : STR_NULL;
        buf_dispose(&b);
        if (set && str_is_null(values[i])) return error_no_memory(o->err);
    }
    *out = (str_map){keys, values, n};
    return SILT_OK;
}

silt_status ops_write_add_files(const op *o, const write_target *t, const write_result *written, delta_txn *txn) {
    for (size_t i = 0; i < written->n_files; i++) {
        const written_file *f = &written->files[i];
        delta_add add = {.path = uri_encode_path(f->path, o->a),
                         .size_bytes = f->size_bytes,
                         .modification_time_ms = f->modified_ms,
                         .data_change = true,
                         .stats = f->stats,
                         .dv = {.offset = -1},
                         .base_row_id = -1,
                         .default_row_commit_version = -1};
        if (str_is_null(add.path)) return error_no_memory(o->err);
        TRY(ops_write_partition_values(o, t, f, &add.partition_values));
        TRY(ops_iceberg_file(o, t, &add));
        TRY(delta_txn_add(txn, &add, o->err));
    }
    return SILT_OK;
}
