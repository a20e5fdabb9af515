/*
 * CONVERT TO DELTA. Everything is found out before anything is written: names, partition values, schemas and statistics come together into version 0, which appears whole or not at
 * all. Whoever converts a folder that is a table already has nothing to do.
 */
#include "ops/maintain/convert.h"

#include <stdio.h>

#include "delta/properties.h"
#include "ops/commit.h"
#include "ops/maintain/convert_stats.h"
#include "ops/maintain/convert_verify.h"

typedef struct convert_run {
    const op *o;
    const convert_spec *spec;
    const field *partition;
    size_t n_partition;
    convert_files files;
    new_table table;
    bool has_stats;
    delta_txn *txn;
} convert_run;

/* ---- partition columns that nobody named ---- */

static silt_status infer_partition(convert_run *r) {
    const op *o = r->o;
    table_source *source;
    TRY(engine_file_source(o->env->engine, STR("parquet"), &r->spec->root, 1, NULL, NULL, 0, NULL, &source, o->err));
    field *fields = ARENA_ARRAY(o->a, source->n_partition_columns + 1, field);
    for (size_t i = 0; fields && i < source->n_partition_columns; i++) {
        const field *f = &source->schema->fields[source->partition_columns[i]];
        fields[i] = field_make(arena_str(o->a, f->name), f->type, true); /* types of folders are the static ones */
        if (str_is_null(fields[i].name)) fields = NULL;
    }
    r->partition = fields;
    r->n_partition = source->n_partition_columns;
    source->ops->release(source);
    return fields ? SILT_OK : error_no_memory(o->err);
}

static silt_status find_partition(convert_run *r) {
    r->partition = r->spec->partition;
    r->n_partition = r->spec->n_partition;
    if (r->spec->infer_partition) TRY(infer_partition(r));
    return convert_files_partition(r->o, &r->files, r->partition, r->n_partition);
}

/* ---- the table ---- */

static silt_status check_table(convert_run *r) {
    const op *o = r->o;
    const str_map *c = &r->table.target.metadata.configuration;
    str mode = delta_config_str(c, "delta.columnMapping.mode");
    if (mode.len && !str_eq_ascii_fold(mode, STR("none"))) return err_DELTA_CONVERSION_UNSUPPORTED_COLUMN_MAPPING(o->err, mode);
    bool tracks = delta_protocol_has(&r->table.target.protocol, "rowTracking");
    return tracks && !r->has_stats ? err_DELTA_CONVERT_TO_DELTA_ROW_TRACKING_WITHOUT_STATS(o->err) : SILT_OK;
}

static silt_status define_table(convert_run *r) {
    const op *o = r->o;
    const data_type *schema;
    str *names = ARENA_ARRAY(o->a, r->n_partition + 1, str);
    if (!names) return error_no_memory(o->err);
    for (size_t i = 0; i < r->n_partition; i++) names[i] = r->partition[i].name;
    TRY(convert_files_schema(o, &r->files, r->partition, r->n_partition, &schema));
    table_definition d = {.table_name = r->spec->table_name, .schema = schema, .partition_columns = names, .n_partition_columns = r->n_partition, .comment = STR_NULL};
    TRY(ops_new_table_define(o, &d, NULL, &r->table));
    r->has_stats = !r->spec->no_statistics && ops_setting_bool(o, "spark.databricks.delta.stats.collect", true);
    return check_table(r);
}

/* ---- the commit ---- */

static str parameters(const convert_run *r, int64_t n_files) {
    json_object j;
    str names[256];
    size_t n = 0; /* what the statement named, as Spark: not what a catalog knew */
    for (; n < r->spec->n_partition && n < ARRAY_LEN(names); n++) names[n] = r->spec->partition[n].name;
    ops_json_object_begin(&j);
    ops_json_object_number(&j, "numFiles", n_files);
    ops_json_object_names(&j, "partitionedBy", names, n);
    ops_json_object_bool(&j, "collectStats", r->has_stats);
    if (!str_is_null(r->spec->catalog_name)) ops_json_object_str(&j, "catalogTable", r->spec->catalog_name);
    ops_json_object_str(&j, "sourceFormat", STR("parquet"));
    return ops_json_object_end(&j, r->o->a);
}

static str metrics(const convert_run *r, int64_t n_files) {
    json_object j;
    ops_json_object_begin(&j);
    ops_json_object_count(&j, "numConvertedFiles", n_files);
    return ops_json_object_end(&j, r->o->a);
}

/* Strings of one action live until it is staged. */
static silt_status stage_files(void *ctx, size_t first, size_t n) {
    convert_run *r = ctx;
    arena *scratch = arena_new();
    op inner = {.env = r->o->env, .a = scratch, .err = r->o->err};
    silt_status status = scratch ? SILT_OK : error_no_memory(r->o->err);
    for (size_t i = first; status == SILT_OK && i < first + n; i++) {
        delta_add add;
        if (r->files.files[i].is_skipped) continue;
        status = convert_files_add(&inner, &r->files, i, &add);
        if (status == SILT_OK) status = delta_txn_add(r->txn, &add, r->o->err);
        arena_reset(scratch);
    }
    arena_free(scratch);
    return status;
}

static silt_status stage(convert_run *r) {
    const op *o = r->o;
    write_spec spec;
    write_options options = {0};
    TRY(ops_new_table_stage(o, &r->table, NULL, r->txn));
    if (!r->has_stats) return stage_files(r, 0, r->files.n_files);
    TRY(ops_write_plan(o, &r->table.target, r->spec->root, &options, &spec));
    return convert_stats_collect(o, &r->files, &spec, stage_files, r);
}

static silt_status commit(convert_run *r, convert_result *out) {
    const op *o = r->o;
    delta_commit_info info = {.operation = "CONVERT",
                              .operation_parameters = parameters(r, out->files),
                              .operation_metrics = metrics(r, out->files),
                              .user_metadata = ops_setting(o, "spark.databricks.delta.commitInfo.userMetadata"),
                              .is_blind_append_known = true};
    commit_target target = {.table_name = r->spec->table_name, .root = r->spec->root, .metadata = &r->table.target.metadata};
    if (str_is_null(info.operation_parameters) || str_is_null(info.operation_metrics)) return error_no_memory(o->err);
    TRY(stage(r));
    if (o->env->progress) o->env->progress(o->env->progress_ctx, "committing", -1);
    return ops_commit(o, &target, r->txn, &info, &out->version);
}

/* ---- the whole ---- */

static silt_status find_out(convert_run *r, convert_result *out) {
    const op *o = r->o;
    TRY(convert_files_list(o, r->spec->root, &r->files));
    if (r->files.n_files == 0) return err_DELTA_EMPTY_DIRECTORY(o->err, store_path_named(o->env->delta->store, r->spec->root, o->a));
    TRY(find_partition(r));
    TRY(convert_files_footers(o, &r->files));
    if (r->files.n_skipped == r->files.n_files) return err_DELTA_EMPTY_DIRECTORY(o->err, store_path_named(o->env->delta->store, r->spec->root, o->a));
    TRY(define_table(r));
    out->files = (int64_t)(r->files.n_files - r->files.n_skipped);
    out->skipped = (int64_t)r->files.n_skipped;
    out->rows = r->files.rows;
    out->bytes = r->files.bytes;
    return r->spec->verify ? convert_verify_before(o, &r->files, r->partition, r->n_partition, out) : SILT_OK;
}

static void tell(const convert_run *r, convert_result *out) {
    size_t n = strlen(out->note);
    if (out->skipped) snprintf(out->note + n, sizeof out->note - n, "%lld files are no Parquet files and were left out (spark.sql.files.ignoreCorruptFiles)", (long long)out->skipped);
    n = strlen(out->note);
    if (r->files.from_sink_log) snprintf(out->note + n, sizeof out->note - n, "%sonly the files that the stream's log _spark_metadata names were taken", n ? "; " : "");
}

static silt_status convert_new(convert_run *r, convert_result *out) {
    const op *o = r->o;
    ops_result told = {0};
    TRY(find_out(r, out));
    TRY(ops_protocol_upgrade(o, NULL, &r->table.target.protocol, &told));
    memcpy(out->note, told.note, sizeof told.note);
    tell(r, out);
    TRY(delta_txn_begin(o->env->delta, NULL, r->spec->root, &r->txn, o->err));
    silt_status status = commit(r, out);
    delta_txn_free(r->txn);
    TRY(status);
    return r->spec->verify ? convert_verify_after(o, r->spec, out) : SILT_OK;
}

silt_status ops_convert(const ops_env *env, const convert_spec *spec, arena *a, convert_result *out, silt_error *err) {
    op o = {.env = env, .a = a, .err = err};
    convert_run r = {.o = &o, .spec = spec};
    bool exists;
    *out = (convert_result){.version = -1};
    TRY(delta_table_exists(env->delta, spec->root, &exists, err));
    return exists ? SILT_OK : convert_new(&r, out);
}
