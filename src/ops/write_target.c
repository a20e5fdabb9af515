/* The table as a write will leave it: its metadata and protocol, changed only by what the written rows bring. */
#include "delta/metadata_copy.h"
#include "delta/properties.h"
#include "delta/protocol_upgrade.h"
#include "ops/internal.h"

#define MAX_COLUMN_ID "delta.columnMapping.maxColumnId"

void ops_write_target_init(write_target *t, const delta_snapshot *snapshot) {
    const delta_metadata *m = delta_snapshot_metadata(snapshot);
    *t = (write_target){.metadata = *m, .protocol = *delta_snapshot_protocol(snapshot), .schema = m->schema};
}

bool ops_write_target_is_mapped(const write_target *t) {
    str mode = delta_config_str(&t->metadata.configuration, "delta.columnMapping.mode");
    return mode.len > 0 && !str_eq_ascii_fold(mode, STR("none"));
}

/* A column that appears on an existing table never takes the physical name of a dropped one. */
static silt_status map_columns(const op *o, write_target *t, const data_type **schema) {
    int64_t max_id = delta_config_i64(&t->metadata.configuration, MAX_COLUMN_ID);
    TRY(delta_assign_column_mapping(*schema, max_id, true, o->a, schema, &max_id, o->err));
    str text = arena_printf(o->a, "%lld", (long long)max_id);
    if (str_is_null(text) ||
        !str_map_with(&t->metadata.configuration, STR(MAX_COLUMN_ID), text, o->a, &t->metadata.configuration))
        return error_no_memory(o->err);
    return SILT_OK;
}

silt_status ops_protocol_merge(const op *o, const delta_protocol *old, const delta_protocol *other, delta_protocol *out) {
    const char **names = ARENA_ARRAY(o->a, delta_feature_count() + 1, const char *);
    size_t n = 0;
    if (!names) return error_no_memory(o->err);
    for (size_t i = 0; i < delta_feature_count(); i++)
        if (delta_protocol_has(other, delta_feature_at(i)->name)) names[n++] = delta_feature_at(i)->name;
    return delta_protocol_add_features(old, names, n, o->a, out, o->err);
}

bool ops_protocol_equal(const delta_protocol *a, const delta_protocol *b) {
    return a->min_reader_version == b->min_reader_version && a->min_writer_version == b->min_writer_version &&
           a->n_reader_features == b->n_reader_features && a->n_writer_features == b->n_writer_features;
}

silt_status ops_write_target_set_schema(const op *o, write_target *t, const data_type *schema) {
    bool mapped = ops_write_target_is_mapped(t);
    TRY(ops_schema_check(o, schema, mapped));
    TRY(ops_schema_check_change_feed(o, schema, &t->metadata.configuration));
    if (mapped) TRY(map_columns(o, t, &schema));
    delta_protocol needed;
    str_map ignored;
    TRY(delta_protocol_for(&t->protocol, schema, (str_map){NULL, NULL, 0}, true, o->a, &needed, &ignored, o->err));
    TRY(ops_protocol_upgrade(o, &t->protocol, &needed, NULL));
    t->protocol_changed = !ops_protocol_equal(&needed, &t->protocol);
    if (t->protocol_changed) t->protocol = needed;
    t->metadata.schema = t->schema = schema;
    t->metadata.schema_json = STR_NULL; /* written anew from the schema */
    t->metadata_changed = true;
    TRY(ops_iceberg_check(o, t, NULL));
    return ops_iceberg_assign_ids(o, t);
}
