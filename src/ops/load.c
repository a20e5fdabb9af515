/* `silt load` and the API's append: a query's rows into a table by a save mode, as Spark's DataFrame writer does it. */
#include "ops/commit.h"
#include "ops/take_files.h"

static const char *mode_name(save_mode mode) {
    switch (mode) {
        case SAVE_OVERWRITE: return "Overwrite";
        case SAVE_ERROR_IF_EXISTS: return "ErrorIfExists";
        case SAVE_IGNORE: return "Ignore";
        default: return "Append";
    }
}

static silt_status load_existing(const op *o, const load_spec *spec, ops_result *out);

/* ---- a table that is not there yet ---- */

static silt_status commit_new(const op *o, const load_spec *spec, const write_options *options, const new_table *table,
                              const write_result *written, delta_txn *txn, ops_result *out) {
    TRY(ops_new_table_stage(o, table, NULL, txn));
    if (options->has_txn) TRY(delta_txn_set_txn_id(txn, options->txn_app_id, options->txn_version, o->err));
    TRY(ops_write_add_files(o, &table->target, written, txn));
    write_words words = {.mode = mode_name(spec->mode),
                         .partition_by = table->target.metadata.partition_columns,
                         .n_partition_by = table->target.metadata.n_partition_columns,
                         .overwrite_schema = options->overwrite_schema,
                         .merge_schema = options->merge_schema};
    delta_commit_info info = {.operation = "WRITE",
                              .operation_parameters = ops_write_parameters(o, &words),
                              .operation_metrics = ops_write_metrics(o, written, NULL, false),
                              .user_metadata = ops_write_user_metadata(o, options)};
    if (str_is_null(info.operation_parameters) || str_is_null(info.operation_metrics)) return error_no_memory(o->err);
    const commit_target target = {spec->table_name, spec->root, &table->target.metadata};
    return ops_commit(o, &target, txn, &info, &out->version);
}

static silt_status write_new(const op *o, const load_spec *spec, const write_options *options, const new_table *table,
                             delta_txn *txn, ops_result *out) {
    write_spec files;
    write_result written = {0};
    TRY(delta_protocol_check_write(&table->target.protocol, &table->target.metadata, spec->table_name, o->err));
    TRY(ops_write_plan(o, &table->target, spec->root, options, &files));
    TRY(ops_load_rows(o, &table->target, &files, options, spec->source, &written, out));
    silt_status status = commit_new(o, spec, options, table, &written, txn, out);
    if (status != SILT_OK && status != SILT_UNKNOWN) engine_write_discard(&files, &written);
    if (status != SILT_OK) return status;
    out->rows = written.rows;
    out->bytes = written.bytes;
    out->files = (int64_t)written.n_files;
    return SILT_OK;
}

static silt_status load_new(const op *o, const load_spec *spec, ops_result *out) {
    write_options options = spec->options;
    table_definition d = {.table_name = spec->table_name,
                          .partition_columns = spec->partition_columns,
                          .n_partition_columns = spec->n_partition_columns,
                          .properties = spec->properties};
    new_table table;
    delta_txn *txn;
    TRY(ops_idempotence_options(o, &options));
    TRY(ops_new_table_schema_of(o, spec->source, &d.schema));
    TRY(ops_new_table_define(o, &d, NULL, &table));
    TRY(delta_txn_begin(o->env->delta, NULL, spec->root, &txn, o->err));
    silt_status status = write_new(o, spec, &options, &table, txn, out);
    delta_txn_free(txn);
    return status;
}

/* saveAsTable's form of it, as the log records it. */
static silt_status load_new_managed(const op *o, const load_spec *spec, ops_result *out) {
    create_spec create = {.table_name = spec->table_name,
                          .root = spec->root,
                          .partition_columns = spec->partition_columns,
                          .n_partition_columns = spec->n_partition_columns,
                          .properties = spec->properties,
                          .source = spec->source,
                          .is_managed = true,
                          .options = spec->options};
    TRY(ops_idempotence_options(o, &create.options));
    return ops_create_new(o, &create, out);
}

/* Somebody else made a table here while the rows were written. They are gone from the source and have not been fitted to that table: only where nothing is to be
 * written is the mode's answer to an existing table possible. */
static silt_status created_meanwhile(const op *o, const load_spec *spec, const silt_error *lost, ops_result *out) {
    *out = (ops_result){.version = -1};
    if (spec->mode == SAVE_IGNORE || spec->mode == SAVE_ERROR_IF_EXISTS) return load_existing(o, spec, out);
    silt_status status = err_DELTA_PROTOCOL_CHANGED(o->err, STR("the table was created meanwhile"));
    error_detail(o->err, "%s", lost->detail);
    return status;
}

static silt_status load_absent(const op *o, const load_spec *spec, ops_result *out) {
    silt_error lost = {.status = SILT_OK};
    const op attempt = {o->env, o->a, &lost};
    silt_status status = spec->is_managed ? load_new_managed(&attempt, spec, out) : load_new(&attempt, spec, out);
    if (status == SILT_EXISTS) return created_meanwhile(o, spec, &lost, out);
    if (status != SILT_OK && o->err) *o->err = lost;
    return status;
}

/* ---- one that is ---- */

static silt_status load_existing(const op *o, const load_spec *spec, ops_result *out) {
    delta_snapshot *s;
    if (spec->mode == SAVE_ERROR_IF_EXISTS) return err_DELTA_PATH_EXISTS(o->err, store_path_named(o->env->delta->store, spec->root, o->a));
    if (spec->mode == SAVE_IGNORE) {
        out->existed = true;
        return SILT_OK;
    }
    TRY(delta_snapshot_load(o->env->delta, spec->root, DELTA_LATEST, &s, o->err));
    insert_spec insert = {.table_name = spec->table_name,
                          .root = spec->root,
                          .snapshot = s,
                          .source = spec->source,
                          .overwrite = spec->mode == SAVE_OVERWRITE,
                          .is_data_frame = true,
                          .options = spec->options};
    write_job job = {.insert = &insert,
                     .mode = mode_name(spec->mode),
                     .partition_by = spec->partition_columns,
                     .n_partition_by = spec->n_partition_columns};
    silt_status status = ops_write_into_table(o, &job, out);
    delta_snapshot_release(s);
    return status;
}

static silt_status load(const op *o, const load_spec *spec, ops_result *out) {
    bool exists;
    *out = (ops_result){.version = -1};
    TRY(ops_new_table_look(o, spec->table_name, spec->root, &exists));
    return exists ? load_existing(o, spec, out) : load_absent(o, spec, out);
}

silt_status ops_load(const ops_env *env, const load_spec *spec, ops_result *out, silt_error *err) {
    op o = {env, arena_new(), err};
    if (!o.a) return error_no_memory(err);
    silt_status status = load(&o, spec, out);
    arena_free(o.a);
    return status;
}
