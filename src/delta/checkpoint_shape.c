/*
 * The columns of a checkpoint file (PROTOCOL.md "Checkpoint Schema"), in the order in which Spark writes them. stats_parsed and partitionValues_parsed are typed by the
 * table's schema with its physical names; stats in JSON beside them, each by its property (both on by default). All fields are nullable: a row is one action.
 */
#include "delta/checkpoint_rows.h"
#include "delta/features.h"
#include "delta/properties.h"
#include "delta/stats_columns.h"

typedef struct columns {
    arena *arena;
    field *items;
    size_t count, capacity;
    bool failed;
} columns;

static int32_t put(columns *c, str name, const data_type *type) {
    if (!type || !ARENA_PUSH(c->arena, c->items, c->count, c->capacity, field_make(name, type, true))) {
        c->failed = true;
        return -1;
    }
    return (int32_t)c->count - 1;
}

static int32_t put_z(columns *c, const char *name, const data_type *type) { return put(c, str_of(name), type); }

static const data_type *finish(columns *c) { return c->failed ? NULL : type_struct(c->arena, c->items, c->count); }

static const data_type *string_map(arena *mem) { return type_map(mem, &type_string, &type_string, true); }

static const data_type *txn_type(arena *mem) {
    columns c = {.arena = mem};
    put_z(&c, "appId", &type_string);
    put_z(&c, "version", &type_long);
    put_z(&c, "lastUpdated", &type_long);
    return finish(&c);
}

static const data_type *dv_type(arena *mem) {
    columns c = {.arena = mem};
    put_z(&c, "storageType", &type_string);
    put_z(&c, "pathOrInlineDv", &type_string);
    put_z(&c, "offset", &type_int);
    put_z(&c, "sizeInBytes", &type_int);
    put_z(&c, "cardinality", &type_long);
    put_z(&c, "maxRowIndex", &type_long);
    return finish(&c);
}

static const data_type *remove_type(arena *mem) {
    columns c = {.arena = mem};
    put_z(&c, "path", &type_string);
    put_z(&c, "deletionTimestamp", &type_long);
    put_z(&c, "dataChange", &type_boolean);
    put_z(&c, "extendedFileMetadata", &type_boolean);
    put_z(&c, "partitionValues", string_map(mem));
    put_z(&c, "size", &type_long);
    put_z(&c, "deletionVector", dv_type(mem));
    put_z(&c, "baseRowId", &type_long);
    put_z(&c, "defaultRowCommitVersion", &type_long);
    return finish(&c);
}

static const data_type *metadata_type(arena *mem) {
    columns format = {.arena = mem}, c = {.arena = mem};
    put_z(&format, "provider", &type_string);
    put_z(&format, "options", string_map(mem));
    put_z(&c, "id", &type_string);
    put_z(&c, "name", &type_string);
    put_z(&c, "description", &type_string);
    put_z(&c, "format", finish(&format));
    put_z(&c, "schemaString", &type_string);
    put_z(&c, "partitionColumns", type_array(mem, &type_string, true));
    put_z(&c, "configuration", string_map(mem));
    put_z(&c, "createdTime", &type_long);
    return finish(&c);
}

static const data_type *protocol_type(arena *mem) {
    columns c = {.arena = mem};
    put_z(&c, "minReaderVersion", &type_int);
    put_z(&c, "minWriterVersion", &type_int);
    put_z(&c, "readerFeatures", type_array(mem, &type_string, true));
    put_z(&c, "writerFeatures", type_array(mem, &type_string, true));
    return finish(&c);
}

static const data_type *domain_type(arena *mem) {
    columns c = {.arena = mem};
    put_z(&c, "domain", &type_string);
    put_z(&c, "configuration", &type_string);
    put_z(&c, "removed", &type_boolean);
    return finish(&c);
}

static const data_type *checkpoint_metadata_type(arena *mem) {
    columns c = {.arena = mem};
    put_z(&c, "version", &type_long);
    put_z(&c, "tags", string_map(mem));
    return finish(&c);
}

static const data_type *sidecar_type(arena *mem) {
    columns c = {.arena = mem};
    put_z(&c, "path", &type_string);
    put_z(&c, "sizeInBytes", &type_long);
    put_z(&c, "modificationTime", &type_long);
    put_z(&c, "tags", string_map(mem));
    return finish(&c);
}

static const data_type *plain(const data_type *type) { return type->id == TYPE_STRING ? &type_string : type; }

/* NULL for an unpartitioned table. */
static silt_status partition_type(const delta_metadata *m, arena *mem, const data_type **out, silt_error *err) {
    columns c = {.arena = mem};
    *out = NULL;
    for (size_t i = 0; i < m->n_partition_columns; i++) {
        int at = schema_find(m->schema, m->partition_columns[i]);
        if (at < 0) return err_DELTA_PARTITION_COLUMN_NOT_FOUND(err, m->partition_columns[i]);
        const field *f = &m->schema->fields[at];
        put(&c, f->physical_name, plain(f->type));
    }
    if (c.count == 0) return SILT_OK;
    *out = finish(&c);
    return *out ? SILT_OK : error_no_memory(err);
}

static silt_status stats_type(const delta_snapshot *s, arena *mem, checkpoint_shape *out, silt_error *err) {
    const data_type *bounds, *counts;
    columns c = {.arena = mem};
    TRY(delta_stats_types(delta_snapshot_metadata(s), mem, &bounds, &counts, err));
    put_z(&c, "numRecords", &type_long);
    if (bounds) out->min_values = put_z(&c, "minValues", bounds);
    if (bounds) out->max_values = put_z(&c, "maxValues", bounds);
    if (counts) out->null_count = put_z(&c, "nullCount", counts);
    if (delta_protocol_has(delta_snapshot_protocol(s), "deletionVectors")) out->tight_bounds = put_z(&c, "tightBounds", &type_boolean);
    out->stats_type = finish(&c);
    return out->stats_type ? SILT_OK : error_no_memory(err);
}

static silt_status add_type(const delta_snapshot *s, arena *mem, checkpoint_shape *out, const data_type **out_type, silt_error *err) {
    const str_map *configuration = &delta_snapshot_metadata(s)->configuration;
    bool as_struct = delta_config_bool(configuration, "delta.checkpoint.writeStatsAsStruct");
    columns c = {.arena = mem};
    put_z(&c, "path", &type_string);
    put_z(&c, "partitionValues", string_map(mem));
    put_z(&c, "size", &type_long);
    put_z(&c, "modificationTime", &type_long);
    put_z(&c, "dataChange", &type_boolean);
    put_z(&c, "tags", string_map(mem));
    put_z(&c, "deletionVector", dv_type(mem));
    put_z(&c, "baseRowId", &type_long);
    put_z(&c, "defaultRowCommitVersion", &type_long);
    put_z(&c, "clusteringProvider", &type_string);
    if (delta_config_bool(configuration, "delta.checkpoint.writeStatsAsJson")) out->stats = put_z(&c, "stats", &type_string);
    if (as_struct) {
        TRY(partition_type(delta_snapshot_metadata(s), mem, &out->partition_type, err));
        TRY(stats_type(s, mem, out, err));
        if (out->partition_type) out->partition_values_parsed = put_z(&c, "partitionValues_parsed", out->partition_type);
        out->stats_parsed = put_z(&c, "stats_parsed", out->stats_type);
    }
    *out_type = finish(&c);
    return *out_type ? SILT_OK : error_no_memory(err);
}

silt_status checkpoint_shape_of(const delta_snapshot *s, checkpoint_content content, arena *mem, checkpoint_shape *out, silt_error *err) {
    *out = (checkpoint_shape){.content = content, .txn = -1, .metadata = -1, .protocol = -1, .domain = -1, .checkpoint_metadata = -1, .sidecar = -1, .stats = -1, .partition_values_parsed = -1,
                              .stats_parsed = -1, .min_values = -1, .max_values = -1, .null_count = -1, .tight_bounds = -1};
    const data_type *add;
    columns c = {.arena = mem};
    TRY(add_type(s, mem, out, &add, err));
    bool all = content != CHECKPOINT_FILES;
    if (all) out->txn = put_z(&c, "txn", txn_type(mem));
    out->add = put_z(&c, "add", add);
    out->remove = put_z(&c, "remove", remove_type(mem));
    if (all) out->metadata = put_z(&c, "metaData", metadata_type(mem));
    if (all) out->protocol = put_z(&c, "protocol", protocol_type(mem));
    if (all) out->domain = put_z(&c, "domainMetadata", domain_type(mem));
    if (content == CHECKPOINT_TOP) out->checkpoint_metadata = put_z(&c, "checkpointMetadata", checkpoint_metadata_type(mem));
    if (content == CHECKPOINT_TOP) out->sidecar = put_z(&c, "sidecar", sidecar_type(mem));
    out->type = finish(&c);
    return out->type ? SILT_OK : error_no_memory(err);
}
