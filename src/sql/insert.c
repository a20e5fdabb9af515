/* INSERT: resolve the target, bind the source, hand both to ops. */
#include "sql/dml_statement.h"
#include "sql/run.h"

typedef struct target_search { const delta_snapshot *target; bool found; } target_search;

static bool reads_target(void *ctx, relation *rel) {
    target_search *search = ctx;
    search->found |= rel->kind == REL_TABLE && delta_source_is_of(rel->source, search->target);
    return !search->found;
}

static str option(const statement *st, const char *key) {
    for (size_t i = 0; i < st->options.count; i++)
        if (str_eq_ascii_fold(st->options.keys[i], str_of(key))) return st->options.values[i];
    return STR_NULL;
}

static bool flag_option(run *r, const char *key, const char *conf) {
    str v = option(r->st, key);
    if (v.ptr) return str_eq_ascii_fold(v, STR("true"));
    return conf && session_flag(r->s, conf, false);
}

static silt_status write_options_of(run *r, write_options *out, silt_error *err) {
    *out = (write_options){0};
    out->merge_schema = flag_option(r, "mergeSchema", "spark.databricks.delta.schema.autoMerge.enabled");
    out->overwrite_schema = flag_option(r, "overwriteSchema", NULL);
    str mode = option(r->st, "partitionOverwriteMode");
    out->dynamic_known = mode.ptr != NULL;
    if (!mode.ptr) mode = session_get(r->s, STR("spark.sql.sources.partitionOverwriteMode"));
    out->dynamic_overwrite = str_eq_ascii_fold(mode, STR("dynamic"));
    out->replace_where = option(r->st, "replaceWhere");
    out->user_metadata = option(r->st, "userMetadata");
    if (!out->user_metadata.ptr) out->user_metadata = session_get(r->s, STR("spark.databricks.delta.commitInfo.userMetadata"));
    out->compression = option(r->st, "compression");
    str records = option(r->st, "maxRecordsPerFile");
    if (records.ptr && (!str_to_i64(records, &out->max_records_per_file) || out->max_records_per_file < 0))
        return err_INVALID_PARAMETER_VALUE(err, STR("maxRecordsPerFile"), records, "a whole number");
    str app = option(r->st, "txnAppId"), version = option(r->st, "txnVersion");
    if (!app.ptr && !version.ptr) {
        app = session_get(r->s, STR("spark.databricks.delta.write.txnAppId"));
        version = session_get(r->s, STR("spark.databricks.delta.write.txnVersion"));
    }
    if (!app.ptr && !version.ptr) return SILT_OK;
    out->has_txn = true;
    out->txn_app_id = app;
    if (!app.ptr || !version.ptr || !str_to_i64(version, &out->txn_version)) return err_DELTA_INVALID_IDEMPOTENT_WRITES_OPTIONS(err);
    return SILT_OK;
}

static silt_status bind_partition_values(run *r, insert_spec *spec, silt_error *err) {
    const statement *st = r->st;
    spec->has_partition_clause = st->has_partition;
    spec->partition_names = st->partition_names;
    spec->n_partition = st->n_partition;
    if (st->n_partition == 0) return SILT_OK;
    expr **bound = ARENA_ARRAY(r->a, st->n_partition, expr *);
    if (!bound) return error_no_memory(err);
    for (size_t i = 0; i < st->n_partition; i++)
        if (st->partition_values[i]) TRY(expr_bind(st->partition_values[i], NULL, &r->bind, r->a, &bound[i], err));
    spec->partition_values = bound;
    return SILT_OK;
}

/* A parenthesised query's alias, else that of its one FROM item: what the condition calls the new rows. */
static str source_alias(const dml_statement *d, const query *q) {
    if (!str_is_null(d->source_alias) || !q->from || q->from->kind == REL_JOIN) return d->source_alias;
    if (!str_is_null(q->from->alias)) return q->from->alias;
    return q->from->kind == REL_TABLE && q->from->name.count ? q->from->name.parts[q->from->name.count - 1] : STR_NULL;
}

static replace_clause replace_clause_of(const statement *st) {
    static const replace_clause_kind kinds[] = {[REPLACE_WHERE] = REPLACE_BY_WHERE, [REPLACE_ON] = REPLACE_BY_CONDITION, [REPLACE_USING] = REPLACE_BY_COLUMNS};
    const dml_statement *d = st->dml;
    if (!d) return (replace_clause){0};
    return (replace_clause){.kind = kinds[d->replace], .condition = d->condition, .text = d->condition_text, .columns = d->using_columns, .n_columns = d->n_using_columns,
                            .reference = st->table, .target_alias = st->table->alias, .source_alias = source_alias(d, st->query)};
}

silt_status run_insert(run *r, silt_error *err) {
    const statement *st = r->st;
    resolved_table t;
    delta_snapshot *snapshot;
    TRY(run_bind_rows(r, err));
    TRY(resolve_table(r, st->table, false, &t, err));
    if (!str_eqz(t.format, "delta")) return err_UNSUPPORTED_FEATURE(err, "INSERT into a table that is not Delta");
    TRY(open_snapshot(r, &t, NULL, &snapshot, err));
    insert_spec spec = {
        .table_name = t.display, .root = delta_snapshot_root(snapshot), .snapshot = snapshot, .source = st->query, .by_name = st->by_name, .columns = st->insert_columns,
        .n_columns = st->n_insert_columns, .overwrite = st->overwrite, .replace = replace_clause_of(st),
    };
    ops_env env = run_ops_env(r, delta_snapshot_env(snapshot));
    TRY(bind_partition_values(r, &spec, err));
    TRY(write_options_of(r, &spec.options, err));
    TRY(ops_insert_defaults(&env, &spec, st->query, r->a, err));
    TRY(query_bind(st->query, &r->bind, r->a, err));
    target_search search = {.target = snapshot};
    query_walk_relations(st->query, reads_target, &search);
    spec.reads_target = search.found;
    ops_result done = {0};
    TRY(ops_insert(&env, &spec, &done, err));
    r->result->message = done.version < 0 ? arena_printf(r->a, "nothing to write")
                                          : arena_printf(r->a, "%lld row%s in %lld file%s, version %lld", (long long)done.rows, done.rows == 1 ? "" : "s", (long long)done.files,
                                                         done.files == 1 ? "" : "s", (long long)done.version);
    return run_add_note(r, &done, err);
}
