/*
 * Column mapping goes away: every file is written anew with the columns' logical names, because files of before name them otherwise (a renamed column) or hold columns that are
 * dropped. One commit has the new files, the metadata without ids and the clustering columns by their names; the feature stays in the protocol.
 */
#include "delta/properties.h"
#include "ops/alter_run.h"
#include "ops/file_rewrite.h"

static const char *const mapping_keys[] = {"delta.columnMapping.id", "delta.columnMapping.physicalName", "delta.columnMapping.nested.ids"};

static silt_status check_names(const alter_run *run, const data_type *type) {
    if (type->element) TRY(check_names(run, type->element));
    if (type->key) TRY(check_names(run, type->key));
    for (size_t i = 0; i < type->n_fields; i++) {
        str name = type->fields[i].name;
        for (size_t k = 0; k < name.len; k++)
            if (strchr(" ,;{}()\n\t=", name.ptr[k])) return err_DELTA_INVALID_COLUMN_NAMES_WHEN_REMOVING_COLUMN_MAPPING(run->o->err, name);
        TRY(check_names(run, type->fields[i].type));
    }
    return SILT_OK;
}

static silt_status stage(alter_run *run, delta_txn *txn, void *ctx) {
    file_rewrite *rewrite = ctx;
    json_object j;
    TRY(file_rewrite_apply(rewrite, txn));
    ops_json_object_begin(&j);
    ops_json_object_count(&j, "numOutputBytes", rewrite->written.bytes);
    run->metrics = ops_json_object_end(&j, run->o->a);
    return str_is_null(run->metrics) ? error_no_memory(run->o->err) : SILT_OK;
}

silt_status alter_remove_column_mapping(alter_run *run) {
    const op *o = run->o;
    write_target *t = &run->target;
    TRY(check_names(run, t->schema));
    file_rewrite rewrite = {.o = o, .table_name = run->spec->table_name, .root = run->spec->root, .snapshot = run->snapshot};
    ops_write_target_init(&rewrite.read, run->snapshot);
    uint8_t *all = ARENA_ARRAY(o->a, delta_snapshot_n_files(run->snapshot) + 1, uint8_t);
    if (!all) return error_no_memory(o->err);
    memset(all, 1, delta_snapshot_n_files(run->snapshot));
    rewrite.files = all;
    t->schema = schema_strip(t->schema, mapping_keys, ARRAY_LEN(mapping_keys), true, o->a);
    if (!t->schema) return error_no_memory(o->err);
    t->metadata.schema = t->schema;
    t->metadata.schema_json = STR_NULL;
    t->metadata_changed = true;
    TRY(alter_configuration_set(run, &t->metadata.configuration, STR("delta.columnMapping.maxColumnId"), STR_NULL));
    rewrite.target = *t;
    TRY(ops_clustering_by_names(run->snapshot, o->a, &run->domain_configuration, o->err));
    if (!str_is_null(run->domain_configuration)) run->domain = STR(CLUSTERING_DOMAIN);
    run->operation = "REMOVE COLUMN MAPPING";
    run->parameters = STR("{}");
    run->rewrites = true;
    run->tags = file_rewrite_tags(&rewrite.read);
    run->nothing = true; /* committed here */
    silt_status status = alter_commit(run, stage, &rewrite);
    if (status != SILT_OK && status != SILT_UNKNOWN) file_rewrite_discard(&rewrite);
    file_rewrite_end(&rewrite);
    return status;
}
