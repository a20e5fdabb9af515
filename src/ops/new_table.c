/*
 * The first version of a table, or the new shape of a replaced one: metadata and protocol out of columns, partitioning, clustering and properties.
 *
 * A replaced table starts afresh (new id, new properties) but for what Delta keeps: enabled deletion vectors, row tracking with its column names, the checkpoint
 * policy, and the protocol, which is never lowered.
 */
#include "base/ident.h"
#include "base/time.h"
#include "base/uri.h"
#include "delta/metadata_copy.h"
#include "delta/properties.h"
#include "delta/protocol_upgrade.h"
#include "ops/generated.h"
#include "ops/identity.h"

#define DEFAULTS_PREFIX   "spark.databricks.delta.properties.defaults."
#define YOUNG_FILE_S      60

silt_status ops_new_table_schema_of(const op *o, const query *q, const data_type **out) {
    field *fields = ARENA_ARRAY(o->a, q->n_columns + 1, field);
    if (!fields) return error_no_memory(o->err);
    for (size_t i = 0; i < q->n_columns; i++) {
        const data_type *type;
        TRY(ops_schema_as_nullable(o, q->column_types[i], &type));
        fields[i] = field_make(q->column_names[i], type, true);
    }
    *out = type_struct(o->a, fields, q->n_columns);
    return *out ? SILT_OK : error_no_memory(o->err);
}

/* Files that came just now are likely those of a statement that is at work on the same table, whose log comes last. There is no telling when it ends, or whether it has died: the
 * user knows. */
static silt_status refuse_files(const op *o, str table_name, str root, const store_entry *newest, silt_error *err) {
    int64_t age_s = (time_now_ms() - newest->modified_ms) / 1000;
    silt_status status = err_DELTA_CREATE_TABLE_WITH_NON_EMPTY_LOCATION(err, table_name, store_path_named(o->env->delta->store, root, o->a));
    if (age_s > YOUNG_FILE_S) return status;
    str name = path_name(newest->path);
    error_detail(err, "%.*s is %lld s old: another statement may be making this table just now", STR_ARG(name), (long long)(age_s < 0 ? 0 : age_s));
    error_hint(err, "Run the statement again when the other one has ended. If none is at work, one has died: remove the folder.");
    return status;
}

static silt_status check_folder(const op *o, str table_name, str root, silt_error *err) {
    store_list_result list = {0};
    silt_error listing;
    const store_entry *newest = NULL;
    silt_status status = store_list(o->env->delta->store, root, STR_NULL, false, o->a, &list, &listing);
    if (status == SILT_NOT_FOUND) return SILT_OK;
    if (status != SILT_OK) {
        *err = listing;
        return status;
    }
    /* An empty _delta_log is what a CREATE that died leaves behind. */
    for (size_t i = 0; i < list.count; i++) {
        const store_entry *e = &list.items[i];
        if (!str_eqz(path_name(e->path), "_delta_log") && (!newest || e->modified_ms > newest->modified_ms)) newest = e;
    }
    return newest ? refuse_files(o, table_name, root, newest, err) : SILT_OK;
}

/* Files without a log may be those of a table that was made after the log was looked for: its log came before its files, so a second look tells. */
silt_status ops_new_table_look(const op *o, str table_name, str root, bool *out_exists) {
    silt_error refused = {.status = SILT_OK};
    TRY(delta_table_exists(o->env->delta, root, out_exists, o->err));
    if (*out_exists || check_folder(o, table_name, root, &refused) == SILT_OK) return SILT_OK;
    TRY(delta_table_exists(o->env->delta, root, out_exists, o->err));
    if (*out_exists) return SILT_OK;
    if (o->err) *o->err = refused;
    return refused.status;
}

/* ---- properties ---- */

typedef struct property_builder {
    const op *o;
    str *keys, *values;
    size_t count, key_capacity, value_capacity;
} property_builder;

static bool has_property(const property_builder *b, str key) {
    for (size_t i = 0; i < b->count; i++)
        if (str_eq_ascii_fold(b->keys[i], key)) return true;
    return false;
}

static silt_status push_property(property_builder *b, str key, str text) {
    size_t at = b->count;
    bool ok = ARENA_PUSH(b->o->a, b->keys, b->count, b->key_capacity, key) &&
              ARENA_PUSH(b->o->a, b->values, at, b->value_capacity, text);
    return ok ? SILT_OK : error_no_memory(b->o->err);
}

/* spark.databricks.delta.properties.defaults.X stands for delta.X where the statement does not give it. */
static silt_status push_session_default(property_builder *b, const char *name) {
    str property = arena_printf(b->o->a, "delta.%s", name), key = arena_printf(b->o->a, DEFAULTS_PREFIX "%s", name);
    if (str_is_null(property) || str_is_null(key)) return error_no_memory(b->o->err);
    str text = ops_setting(b->o, key.ptr); /* ends in a NUL */
    return str_is_null(text) || has_property(b, property) ? SILT_OK : push_property(b, property, text);
}

static silt_status push_session_defaults(property_builder *b, bool protocol_too) {
    for (size_t i = 0; i < delta_property_count(); i++) {
        const delta_property *p = delta_property_at(i);
        if (p->user_settable && strncmp(p->name, "delta.", 6) == 0) TRY(push_session_default(b, p->name + 6));
    }
    if (!protocol_too) return SILT_OK;
    TRY(push_session_default(b, "minReaderVersion"));
    TRY(push_session_default(b, "minWriterVersion"));
    for (size_t i = 0; i < delta_feature_count(); i++) {
        str name = arena_printf(b->o->a, "feature.%s", delta_feature_at(i)->name);
        if (str_is_null(name)) return error_no_memory(b->o->err);
        TRY(push_session_default(b, name.ptr));
    }
    return SILT_OK;
}

static silt_status all_properties(const op *o, const str_map *given, str_map *out) {
    property_builder b = {.o = o};
    bool ignore_defaults = false;
    for (size_t i = 0; i < given->count; i++) {
        if (str_eq_ascii_fold(given->keys[i], STR("delta.ignoreProtocolDefaults")))
            ignore_defaults = str_eq_ascii_fold(given->values[i], STR("true"));
        TRY(push_property(&b, given->keys[i], given->values[i]));
    }
    TRY(push_session_defaults(&b, !ignore_defaults));
    *out = (str_map){b.keys, b.values, b.count};
    return SILT_OK;
}

/* ---- what a replaced table keeps ---- */

static silt_status keep_property(const op *o, const str_map *old, const char *key, bool over_new, str_map *configuration) {
    str kept = str_map_get(old, str_of(key));
    if (str_is_null(kept) || (!over_new && !str_is_null(str_map_get(configuration, str_of(key))))) return SILT_OK;
    return str_map_with(configuration, str_of(key), kept, o->a, configuration) ? SILT_OK : error_no_memory(o->err);
}

static silt_status keep_properties(const op *o, const delta_snapshot *replaced, str_map *configuration) {
    const str_map *old = &delta_snapshot_metadata(replaced)->configuration;
    TRY(keep_property(o, old, "delta.enableDeletionVectors", false, configuration));
    TRY(keep_property(o, old, "delta.enableRowTracking", false, configuration));
    TRY(keep_property(o, old, "delta.checkpointPolicy", false, configuration));
    TRY(keep_property(o, old, "delta.rowTracking.materializedRowIdColumnName", true, configuration));
    return keep_property(o, old, "delta.rowTracking.materializedRowCommitVersionColumnName", true, configuration);
}

/* ---- definition ---- */

static silt_status map_columns(const op *o, write_target *t) {
    int64_t max_id;
    str mode = delta_config_str(&t->metadata.configuration, "delta.columnMapping.mode");
    if (mode.len == 0 || str_eq_ascii_fold(mode, STR("none"))) return SILT_OK;
    TRY(delta_assign_column_mapping(t->schema, 0, true, o->a, &t->schema, &max_id, o->err));
    str text = arena_printf(o->a, "%lld", (long long)max_id);
    if (str_is_null(text) ||
        !str_map_with(&t->metadata.configuration, STR("delta.columnMapping.maxColumnId"), text, o->a, &t->metadata.configuration))
        return error_no_memory(o->err);
    return SILT_OK;
}

static silt_status define_protocol(const op *o, const table_definition *d, const delta_snapshot *replaced, new_table *out) {
    write_target *t = &out->target;
    str_map properties;
    bool allow_arbitrary = ops_setting_bool(o, "spark.databricks.delta.allowArbitraryProperties.enabled", false);
    TRY(all_properties(o, &d->properties, &properties));
    TRY(delta_protocol_for(NULL, d->schema, properties, allow_arbitrary, o->a, &t->protocol, &t->metadata.configuration, o->err));
    if (d->n_cluster_columns) {
        const char *feature = "clustering";
        delta_protocol with = t->protocol;
        TRY(delta_protocol_add_features(&t->protocol, &feature, 1, o->a, &with, o->err));
        t->protocol = with;
    }
    if (replaced) {
        TRY(ops_protocol_merge(o, delta_snapshot_protocol(replaced), &t->protocol, &t->protocol));
        TRY(keep_properties(o, replaced, &t->metadata.configuration));
    }
    return SILT_OK;
}

static silt_status check_clustering(const op *o, const table_definition *d, const delta_snapshot *replaced) {
    if (d->n_cluster_columns && d->n_partition_columns) return err_DELTA_CLUSTER_BY_WITH_PARTITIONED_BY(o->err);
    if (replaced && d->n_partition_columns && delta_protocol_has(delta_snapshot_protocol(replaced), "clustering"))
        return err_DELTA_CLUSTERING_REPLACE_TABLE_WITH_PARTITIONED_TABLE(o->err);
    return SILT_OK;
}

/* Column metadata that belongs to another table's life, as CREATE TABLE LIKE hands it over. */
static silt_status fresh_field(const op *o, field *f) {
    static const char *const keys[] = {"delta.typeChanges", "EXISTS_DEFAULT", "delta.columnMapping.id",
                                       "delta.columnMapping.physicalName", "delta.columnMapping.nested.ids",
                                       "delta.identity.highWaterMark"};
    for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
        f->metadata = field_metadata_set(f->metadata, keys[i], STR_NULL, o->a);
        if (str_is_null(f->metadata)) return error_no_memory(o->err);
    }
    f->physical_name = f->name;
    f->field_id = -1;
    return SILT_OK;
}

static silt_status fresh_type(const op *o, const data_type *type, const data_type **out) {
    *out = type;
    if (type->id < TYPE_ARRAY) return SILT_OK;
    data_type *copy = ARENA_NEW(o->a, data_type);
    field *fields = ARENA_ARRAY(o->a, type->n_fields + 1, field);
    if (!copy || !fields) return error_no_memory(o->err);
    *copy = *type;
    if (type->id == TYPE_MAP) TRY(fresh_type(o, type->key, &copy->key));
    if (type->id != TYPE_STRUCT) TRY(fresh_type(o, type->element, &copy->element));
    for (size_t i = 0; i < type->n_fields; i++) {
        fields[i] = type->fields[i];
        TRY(fresh_field(o, &fields[i]));
        TRY(fresh_type(o, fields[i].type, &fields[i].type));
    }
    if (type->id == TYPE_STRUCT) copy->fields = fields;
    *out = copy;
    return SILT_OK;
}

silt_status ops_new_table_define(const op *o, const table_definition *d, const delta_snapshot *replaced, new_table *out) {
    *out = (new_table){0};
    write_target *t = &out->target;
    TRY(check_clustering(o, d, replaced));
    TRY(fresh_type(o, d->schema, &t->schema));
    TRY(define_protocol(o, d, replaced, out));
    TRY(ops_iceberg_defaults(o, t, true));
    TRY(ops_schema_check(o, t->schema, ops_write_target_is_mapped(t)));
    TRY(ops_schema_check_defaults(o, t->schema, &t->protocol));
    TRY(ops_schema_check_change_feed(o, t->schema, &t->metadata.configuration));
    TRY(ops_schema_check_partitioning(o, t->schema, d->partition_columns, d->n_partition_columns,
                                      &t->metadata.partition_columns));
    TRY(ops_checks_validate(o, t->schema, &t->metadata.configuration));
    TRY(ops_generated_validate(o, t->schema));
    TRY(ops_identity_validate(o, t->schema, d->partition_columns, d->n_partition_columns));
    TRY(map_columns(o, t));
    TRY(ops_iceberg_assign_ids(o, t));
    t->metadata.n_partition_columns = d->n_partition_columns;
    TRY(ops_iceberg_check(o, t, replaced));
    TRY(ops_iceberg_check_enabling(o, t, NULL));
    char id[37];
    uuid_generate(id);
    t->metadata.id = arena_str(o->a, str_of(id));
    t->metadata.name = STR_NULL;
    t->metadata.description = d->comment;
    t->metadata.format_provider = STR("parquet");
    t->metadata.schema = t->schema;
    t->metadata.created_time_ms = time_now_ms();
    t->metadata_changed = t->protocol_changed = true;
    out->n_cluster_names = d->n_cluster_columns;
    out->is_clustered = d->n_cluster_columns > 0;
    if (str_is_null(t->metadata.id)) return error_no_memory(o->err);
    if (!out->is_clustered) return SILT_OK;
    return ops_clustering_plan(o, t->schema, &t->metadata.configuration, d->cluster_columns, d->n_cluster_columns,
                               &out->clustering_domain, &out->cluster_names);
}

/* ---- staging ---- */

/* Domains of the replaced table end with it; clustering stays, with no columns, because its feature does. */
static silt_status end_old_domains(const op *o, const new_table *n, const delta_snapshot *replaced, delta_txn *txn) {
    for (size_t i = 0; i < delta_snapshot_n_domains(replaced); i++) {
        const delta_domain *d = delta_snapshot_domain(replaced, i);
        if (d->removed || str_eqz(d->domain, "delta.rowTracking")) continue;
        if (!str_eqz(d->domain, CLUSTERING_DOMAIN)) {
            TRY(delta_txn_set_domain(txn, d->domain, d->configuration, true, o->err));
        } else if (!n->is_clustered) {
            TRY(delta_txn_set_domain(txn, d->domain, STR(CLUSTERING_NONE), false, o->err));
        }
    }
    return SILT_OK;
}

silt_status ops_new_table_stage(const op *o, const new_table *n, const delta_snapshot *replaced, delta_txn *txn) {
    TRY(delta_txn_set_metadata(txn, &n->target.metadata, o->err));
    if (!replaced || !ops_protocol_equal(&n->target.protocol, delta_snapshot_protocol(replaced)))
        TRY(delta_txn_set_protocol(txn, &n->target.protocol, o->err));
    if (n->is_clustered) TRY(delta_txn_set_domain(txn, STR(CLUSTERING_DOMAIN), n->clustering_domain, false, o->err));
    return replaced ? end_old_domains(o, n, replaced, txn) : SILT_OK;
}
