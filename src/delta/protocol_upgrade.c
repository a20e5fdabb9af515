/*
 * From what a table needs to its protocol: the user's properties and the schema name features, features have dependencies, and the set of features has one
 * lowest protocol (PROTOCOL.md "Protocol Evolution", "Table Features"; the normal form is the one that Delta 4.3 writes):
 *
 *   - every feature legacy and the set exactly what one of the versions 1/1, 1/2, 1/3, 1/4, 2/5, 2/6 implies: that version, no lists;
 *   - otherwise writer 7 with the full list, the legacy ones too; reader 3 with its list if a native reader-writer feature is in it, else reader 2 if
 *     columnMapping is, else reader 1, both without a list.
 *
 * A protocol is never lowered here, and names that this build does not know stay where they are.
 */
#include "base/ident.h"
#include "delta/features.h"
#include "delta/properties.h"
#include "delta/protocol_upgrade.h"
#include "delta/stats_columns.h"

#define MAX_FEATURES 64
#define PREFIX(s, literal) ((s).len >= sizeof(literal) - 1 && str_eq_ascii_fold(str_slice((s), 0, sizeof(literal) - 1), STR(literal)))

/** Features by their index in the registry. */
typedef struct feature_set {
    bool has[MAX_FEATURES];
} feature_set;

typedef struct upgrade {
    const delta_protocol *old; /**< NULL: a new table */
    arena *arena;
    feature_set features;      /**< what the new protocol has */
    feature_set by_hand;       /**< named by delta.feature.X or an explicit version: no further permission needed */
    int64_t min_reader, min_writer; /**< from the properties, 0 when absent */
    str *keys, *values;        /**< configuration to store */
    size_t count, key_capacity, value_capacity;
} upgrade;

static size_t feature_index(const char *name) {
    for (size_t i = 0; i < delta_feature_count(); i++)
        if (strcmp(delta_feature_at(i)->name, name) == 0) return i;
    return SIZE_MAX;
}

static bool set_has(const feature_set *set, const char *name) {
    size_t i = feature_index(name);
    return i < MAX_FEATURES && set->has[i];
}

static void set_add(feature_set *set, const char *name) {
    size_t i = feature_index(name);
    if (i < MAX_FEATURES) set->has[i] = true;
}

/* What the version numbers alone stand for: writer versions up to 6 (7 has lists). */
static void add_implied(feature_set *set, int64_t reader, int64_t writer) {
    if (writer >= 7) return;
    for (size_t i = 0; i < delta_feature_count() && i < MAX_FEATURES; i++) {
        const delta_feature *f = delta_feature_at(i);
        if (f->legacy_writer > 0 && f->legacy_writer <= writer && f->legacy_reader <= reader) set->has[i] = true;
    }
}

static void add_old(feature_set *set, const delta_protocol *old) {
    for (size_t i = 0; i < delta_feature_count() && i < MAX_FEATURES; i++)
        if (delta_protocol_has(old, delta_feature_at(i)->name)) set->has[i] = true;
}

/* Until nothing changes: dependencies may have dependencies. */
static void close_over_dependencies(feature_set *set) {
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t i = 0; i < delta_feature_count() && i < MAX_FEATURES; i++) {
            if (!set->has[i]) continue;
            const delta_feature *f = delta_feature_at(i);
            for (size_t d = 0; d < ARRAY_LEN(f->depends_on) && f->depends_on[d]; d++) {
                size_t needed = feature_index(f->depends_on[d]);
                if (needed >= MAX_FEATURES || set->has[needed]) continue;
                set->has[needed] = true;
                changed = true;
            }
        }
    }
}

/* ---- properties ---- */

static silt_status store_property(upgrade *u, str key, str val, silt_error *err) {
    for (size_t i = 0; i < u->count; i++) {
        if (!str_eq(u->keys[i], key)) continue;
        u->values[i] = arena_str(u->arena, val);
        return SILT_OK;
    }
    str k = arena_str(u->arena, key), v = arena_str(u->arena, val);
    if (str_is_null(k) || str_is_null(v)) return error_no_memory(err);
    size_t index = u->count;
    if (!ARENA_PUSH(u->arena, u->keys, u->count, u->key_capacity, k)) return error_no_memory(err);
    if (!ARENA_PUSH(u->arena, u->values, index, u->value_capacity, v)) return error_no_memory(err);
    return SILT_OK;
}

static const delta_feature *find_feature_fold(str name) {
    for (size_t i = 0; i < delta_feature_count(); i++)
        if (str_eq_ascii_fold(str_of(delta_feature_at(i)->name), name)) return delta_feature_at(i);
    return NULL;
}

static silt_status take_feature(upgrade *u, str key, str val, silt_error *err) {
    str name = str_slice(key, sizeof("delta.feature.") - 1, key.len);
    if (!str_eq_ascii_fold(val, STR("supported")) && !str_eq_ascii_fold(val, STR("enabled")))
        return err_DELTA_INVALID_PROPERTY_VALUE(err, key, val, "supported");
    if (str_eq_ascii_fold(name, STR("clustering")))
        return u->old ? err_DELTA_ALTER_TABLE_SET_CLUSTERING_TABLE_FEATURE_NOT_ALLOWED(err)
                      : err_DELTA_CREATE_TABLE_SET_CLUSTERING_TABLE_FEATURE_NOT_ALLOWED(err);
    if (str_eq_ascii_fold(name, STR("catalogManaged")) || str_eq_ascii_fold(name, STR("catalogOwned-preview")))
        return err_DELTA_UNSUPPORTED_CATALOG_MANAGED_TABLE_CREATION(err);
    const delta_feature *f = find_feature_fold(name);
    bool of_kernel = PREFIX(name, "icebergWriterCompat"); /* Delta for Spark does not know these, and could not write the table */
    if (!f || of_kernel) return err_DELTA_UNSUPPORTED_FEATURES_IN_CONFIG(err, name);
    set_add(&u->features, f->name);
    set_add(&u->by_hand, f->name);
    return SILT_OK;
}

static silt_status take_version(str key, str val, int64_t max, int64_t *out, silt_error *err) {
    if (str_to_i64(str_trim(val), out) && *out >= 1 && *out <= max) return SILT_OK;
    return err_DELTA_INVALID_PROPERTY_VALUE(err, key, val, max == 3 ? "an integer from 1 to 3" : "an integer from 1 to 7");
}

/* Properties that ask for work after each commit that this build does not do: stale manifests would be wrong answers elsewhere. */
static silt_status refuse_unsupported_property(const delta_property *p, str val, silt_error *err) {
    static const char *const flags[] = {"delta.writePartitionColumnsToParquet"};
    static const char *const texts[] = {"delta.universalFormat.enabledFormats", "delta.coordinatedCommits.commitCoordinator-preview",
                                        "delta.coordinatedCommits.commitCoordinatorConf-preview", "delta.coordinatedCommits.tableConf-preview",
                                        "delta.redirectReaderWriter-preview", "delta.redirectWriterOnly-preview"};
    for (size_t i = 0; i < ARRAY_LEN(flags); i++)
        if (strcmp(p->name, flags[i]) == 0 && str_eq_ascii_fold(str_trim(val), STR("true"))) return err_UNSUPPORTED_FEATURE(err, flags[i]);
    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        if (strcmp(p->name, texts[i]) == 0 && str_trim(val).len > 0) return err_UNSUPPORTED_FEATURE(err, texts[i]);
    return SILT_OK;
}

static silt_status take_known(upgrade *u, const delta_property *p, str val, silt_error *err) {
    if (!p->user_settable) return err_DELTA_CANNOT_MODIFY_TABLE_PROPERTY(err, str_of(p->name));
    TRY(delta_property_validate(p, val, err));
    TRY(refuse_unsupported_property(p, val, err));
    if (u->old && strcmp(p->name, "delta.columnMapping.mode") == 0 && str_eqz(val, "id"))
        return err_DELTA_UNSUPPORTED_COLUMN_MAPPING_MODE_CHANGE(err, STR("none"), val);
    return store_property(u, str_of(p->name), val, err);
}

/* A constraint's name is stored in lower case. */
static silt_status take_constraint(upgrade *u, str key, str val, silt_error *err) {
    if (u->old) return err_DELTA_ADD_CONSTRAINTS(err);
    char *lower = arena_cstr(u->arena, key);
    if (!lower) return error_no_memory(err);
    for (char *c = lower; *c; c++)
        if (*c >= 'A' && *c <= 'Z') *c = (char)(*c - 'A' + 'a');
    set_add(&u->features, "checkConstraints");
    set_add(&u->by_hand, "checkConstraints");
    return store_property(u, str_of(lower), val, err);
}

static silt_status take_property(upgrade *u, str key, str val, bool allow_arbitrary, silt_error *err) {
    if (!PREFIX(key, "delta.")) return store_property(u, key, val, err);
    if (PREFIX(key, "delta.feature.")) return take_feature(u, key, val, err);
    if (PREFIX(key, "delta.constraints.")) return take_constraint(u, key, val, err);
    if (str_eq_ascii_fold(key, STR("delta.minReaderVersion"))) return take_version(key, val, 3, &u->min_reader, err);
    if (str_eq_ascii_fold(key, STR("delta.minWriterVersion"))) return take_version(key, val, 7, &u->min_writer, err);
    if (str_eq_ascii_fold(key, STR("delta.ignoreProtocolDefaults"))) return SILT_OK;
    const delta_property *p = delta_property_find(key);
    if (p) return take_known(u, p, val, err);
    if (allow_arbitrary) return store_property(u, key, val, err);
    return err_DELTA_UNKNOWN_CONFIGURATION(err, key);
}

/* The columns of delta.dataSkippingStatsColumns must be there and have bounds; a struct stands for its leaves. */
static silt_status check_stats_columns(const data_type *schema, const str_map *configuration, arena *mem, silt_error *err) {
    const delta_metadata m = {.schema = schema, .configuration = *configuration};
    const column_path *paths;
    size_t n;
    bool given;
    TRY(delta_stats_columns(&m, mem, &paths, &n, &given, err));
    for (size_t i = 0; i < n; i++) {
        const field *f = NULL;
        const data_type *in = schema;
        for (size_t d = 0; d < paths[i].depth; d++, in = f->type) f = &in->fields[paths[i].index[d]];
        type_id id = f->type->id;
        if (id == TYPE_ARRAY || id == TYPE_MAP || id == TYPE_BOOLEAN || id == TYPE_BINARY)
            return err_DELTA_COLUMN_DATA_SKIPPING_NOT_SUPPORTED_TYPE(err, f->name, type_sql(f->type, mem));
    }
    return SILT_OK;
}

/* ---- what properties and schema enable ---- */

static silt_status enable(upgrade *u, const char *name, feature_set *manual, silt_error *err) {
    size_t i = feature_index(name);
    if (i >= MAX_FEATURES) return err_UNSUPPORTED_FEATURE(err, name);
    if (u->features.has[i]) return SILT_OK;
    const delta_feature *f = delta_feature_at(i);
    /* Legacy features and those marked so join an existing table by themselves; the others need delta.feature.X=supported. */
    if (u->old && f->legacy_writer == 0 && !f->auto_enable_existing) manual->has[i] = true;
    u->features.has[i] = true;
    return SILT_OK;
}

static silt_status enable_by_properties(upgrade *u, const str_map *configuration, feature_set *manual, silt_error *err) {
    for (size_t i = 0; i < delta_feature_count() && i < MAX_FEATURES; i++) {
        const delta_feature *f = delta_feature_at(i);
        if (f->enabled_by && str_eq_ascii_fold(str_trim(str_map_get(configuration, str_of(f->enabled_by))), STR("true")))
            TRY(enable(u, f->name, manual, err));
    }
    str mode = str_map_get(configuration, STR("delta.columnMapping.mode"));
    if (mode.len && !str_eqz(mode, "none")) TRY(enable(u, "columnMapping", manual, err));
    if (str_eqz(str_map_get(configuration, STR("delta.checkpointPolicy")), "v2")) TRY(enable(u, "v2Checkpoint", manual, err));
    return SILT_OK;
}

static silt_status enable_by_type(upgrade *u, const data_type *type, feature_set *manual, silt_error *err);

static silt_status enable_by_field(upgrade *u, const field *f, feature_set *manual, silt_error *err) {
    if (f->metadata.len > 2) {
        if (field_metadata_get(f, "delta.generationExpression", u->arena)) TRY(enable(u, "generatedColumns", manual, err));
        if (field_metadata_get(f, "delta.identity.start", u->arena)) TRY(enable(u, "identityColumns", manual, err));
        /* Unlike the others, a default never brings its feature along, not even on a new table. */
        if (field_metadata_get(f, "CURRENT_DEFAULT", u->arena) && !set_has(&u->features, "allowColumnDefaults"))
            return err_WRONG_COLUMN_DEFAULTS_FOR_DELTA_FEATURE_NOT_ENABLED(err, f->name);
        if (field_metadata_get(f, "delta.invariants", u->arena)) TRY(enable(u, "invariants", manual, err));
    }
    if (!f->nullable) TRY(enable(u, "invariants", manual, err));
    return enable_by_type(u, f->type, manual, err);
}

static silt_status enable_by_type(upgrade *u, const data_type *type, feature_set *manual, silt_error *err) {
    switch (type->id) {
    case TYPE_TIMESTAMP_NTZ: return enable(u, "timestampNtz", manual, err);
    case TYPE_VARIANT:
        if (set_has(&u->features, "variantType-preview")) return SILT_OK;
        return enable(u, "variantType", manual, err);
    case TYPE_STRUCT:
        for (size_t i = 0; i < type->n_fields; i++) TRY(enable_by_field(u, &type->fields[i], manual, err));
        return SILT_OK;
    case TYPE_MAP: TRY(enable_by_type(u, type->key, manual, err)); return enable_by_type(u, type->element, manual, err);
    case TYPE_ARRAY: return enable_by_type(u, type->element, manual, err);
    default: return SILT_OK;
    }
}

static silt_status report_manual(upgrade *u, const feature_set *manual, silt_error *err) {
    buf names;
    buf_init(&names, 4096);
    for (size_t i = 0; i < delta_feature_count() && i < MAX_FEATURES; i++) {
        if (!manual->has[i] || u->by_hand.has[i]) continue;
        if (names.len) buf_append_z(&names, ", ");
        buf_append_z(&names, delta_feature_at(i)->name);
    }
    silt_status status = names.len ? err_DELTA_FEATURES_REQUIRE_MANUAL_ENABLEMENT(err, buf_str(&names)) : SILT_OK;
    buf_dispose(&names);
    return status;
}

/* ---- the normal form ---- */

/* The order in which Delta lists a small set: features with their dependencies before them, the two that every table has at the end. */
static const char *const list_order[] = {"deletionVectors", "domainMetadata", "v2Checkpoint", "rowTracking", "clustering", "variantType",
                                         "variantShredding", "columnMapping", "icebergCompatV1", "icebergCompatV2", "icebergCompatV3",
                                         "inCommitTimestamp", "checkConstraints", "generatedColumns", "changeDataFeed", "identityColumns"};

static bool is_late(const char *name) {
    return strcmp(name, "invariants") == 0 || strcmp(name, "appendOnly") == 0;
}

static bool is_ordered(const char *name) {
    for (size_t i = 0; i < ARRAY_LEN(list_order); i++)
        if (strcmp(list_order[i], name) == 0) return true;
    return false;
}

static bool list_has(const str *list, size_t n, const char *name) {
    for (size_t i = 0; i < n; i++)
        if (str_eqz(list[i], name)) return true;
    return false;
}

typedef struct name_list {
    str *items;
    size_t count;
} name_list;

static void list_push(name_list *list, const feature_set *set, const char *name) {
    size_t i = feature_index(name);
    if (i >= MAX_FEATURES || !set->has[i]) return;
    if (!list_has(list->items, list->count, name)) list->items[list->count++] = str_of(delta_feature_at(i)->name);
}

/* The old list as it was, the new names before its closing invariants and appendOnly. */
static silt_status build_writer_list(const upgrade *u, const str *old, size_t n_old, const str **out, size_t *out_n, silt_error *err) {
    name_list list = {ARENA_ARRAY(u->arena, n_old + MAX_FEATURES + 1, str), 0};
    if (!list.items) return error_no_memory(err);
    size_t n_head = n_old;
    while (n_head > 0 && (str_eqz(old[n_head - 1], "invariants") || str_eqz(old[n_head - 1], "appendOnly"))) n_head--;
    for (size_t i = 0; i < n_head; i++) list.items[list.count++] = old[i];
    for (size_t i = 0; i < ARRAY_LEN(list_order); i++)
        if (!list_has(old, n_old, list_order[i])) list_push(&list, &u->features, list_order[i]);
    for (size_t i = 0; i < delta_feature_count(); i++) {
        const char *name = delta_feature_at(i)->name;
        if (!is_late(name) && !is_ordered(name) && !list_has(old, n_old, name)) list_push(&list, &u->features, name);
    }
    for (size_t i = n_head; i < n_old; i++) list.items[list.count++] = old[i];
    list_push(&list, &u->features, "invariants");
    list_push(&list, &u->features, "appendOnly");
    *out = list.items;
    *out_n = list.count;
    return SILT_OK;
}

/* The old readers' list, then the reader-writer features of the writers' list in its order. */
static silt_status build_reader_list(const upgrade *u, delta_protocol *p, silt_error *err) {
    size_t n_old = u->old && u->old->has_reader_features ? u->old->n_reader_features : 0;
    str *items = ARENA_ARRAY(u->arena, n_old + p->n_writer_features + 1, str);
    if (!items) return error_no_memory(err);
    for (size_t i = 0; i < n_old; i++) items[p->n_reader_features++] = u->old->reader_features[i];
    for (size_t i = 0; i < p->n_writer_features; i++) {
        const delta_feature *f = delta_feature_find(p->writer_features[i]);
        bool listed = false;
        for (size_t k = 0; k < n_old; k++) listed |= str_eq(items[k], p->writer_features[i]);
        if (f && f->kind == FEATURE_READER_WRITER && !listed) items[p->n_reader_features++] = p->writer_features[i];
    }
    p->reader_features = items;
    p->has_reader_features = true;
    return SILT_OK;
}

static bool same_set(const feature_set *a, const feature_set *b) { return memcmp(a->has, b->has, sizeof a->has) == 0; }

/* 1..6 when that writer version implies exactly this set, else 0. */
static int legacy_version_of(const feature_set *set, int *out_reader) {
    for (int writer = 1; writer <= 6; writer++) {
        int reader = writer >= 5 ? 2 : 1;
        feature_set implied = {{false}};
        add_implied(&implied, reader, writer);
        if (!same_set(&implied, set)) continue;
        *out_reader = reader;
        return writer;
    }
    return 0;
}

static int32_t lowest_reader(const feature_set *set) {
    for (size_t i = 0; i < delta_feature_count() && i < MAX_FEATURES; i++)
        if (set->has[i] && delta_feature_at(i)->kind == FEATURE_READER_WRITER && delta_feature_at(i)->legacy_writer == 0) return 3;
    return set_has(set, "columnMapping") ? 2 : 1;
}

/* A version number stands for its features; as a list they are written out. */
static silt_status explicit_old(const upgrade *u, const str **out, size_t *out_n, silt_error *err) {
    *out = NULL;
    *out_n = 0;
    if (!u->old) return SILT_OK;
    if (u->old->has_writer_features) {
        *out = u->old->writer_features;
        *out_n = u->old->n_writer_features;
        return SILT_OK;
    }
    upgrade before = {.arena = u->arena};
    add_old(&before.features, u->old);
    return build_writer_list(&before, NULL, 0, out, out_n, err);
}

static silt_status normal_form(const upgrade *u, delta_protocol *out, silt_error *err) {
    int reader = 0, writer = legacy_version_of(&u->features, &reader);
    *out = (delta_protocol){.min_reader_version = reader, .min_writer_version = writer};
    if (writer > 0 && !(u->old && u->old->min_writer_version >= 7)) return SILT_OK;
    const str *old_writer;
    size_t n_old_writer;
    TRY(explicit_old(u, &old_writer, &n_old_writer, err));
    out->min_writer_version = 7;
    out->has_writer_features = true;
    TRY(build_writer_list(u, old_writer, n_old_writer, &out->writer_features, &out->n_writer_features, err));
    out->min_reader_version = lowest_reader(&u->features);
    if (u->old && u->old->min_reader_version > out->min_reader_version) out->min_reader_version = u->old->min_reader_version;
    return out->min_reader_version < 3 ? SILT_OK : build_reader_list(u, out, err);
}

/* ---- the results ---- */

/* The hidden columns' names are fixed when the feature arrives, whether or not row tracking is enabled yet. */
static silt_status name_row_tracking_columns(upgrade *u, silt_error *err) {
    if (!set_has(&u->features, "rowTracking") || (u->old && delta_protocol_has(u->old, "rowTracking"))) return SILT_OK;
    char id[37];
    uuid_generate(id);
    str name = arena_printf(u->arena, "_row-id-col-%s", id);
    if (str_is_null(name)) return error_no_memory(err);
    TRY(store_property(u, STR("delta.rowTracking.materializedRowIdColumnName"), name, err));
    uuid_generate(id);
    name = arena_printf(u->arena, "_row-commit-version-col-%s", id);
    if (str_is_null(name)) return error_no_memory(err);
    return store_property(u, STR("delta.rowTracking.materializedRowCommitVersionColumnName"), name, err);
}

/* The features that the table starts from: the old ones, or what the explicit versions, else 1/2, stand for. */
static void start_set(upgrade *u) {
    if (u->old) add_old(&u->features, u->old);
    bool given = u->min_reader > 0 || u->min_writer > 0;
    if (!given && u->old) return;
    int64_t reader = u->min_reader > 0 ? u->min_reader : 1, writer = u->min_writer > 0 ? u->min_writer : 2;
    if (reader == 3 && writer < 7) reader = 2; /* lists belong to writer 7: the rest of the pair says nothing */
    add_implied(&u->features, reader, writer);
    add_implied(&u->by_hand, reader, writer);
}

/* A new table that asks for IcebergCompat gets column mapping, too, as Delta has it, and row tracking, on which V3 stands. */
static silt_status complete_iceberg_compat(upgrade *u, silt_error *err) {
    const str_map given = {u->keys, u->values, u->count};
    int version = delta_config_iceberg_compat(&given);
    bool mapped = !str_is_null(str_map_get(&given, STR("delta.columnMapping.mode"))), tracked = !str_is_null(str_map_get(&given, STR("delta.enableRowTracking")));
    if (version == 0) return SILT_OK;
    if (!mapped) TRY(store_property(u, STR("delta.columnMapping.mode"), STR("name"), err));
    if (version == 3 && !tracked) TRY(store_property(u, STR("delta.enableRowTracking"), STR("true"), err));
    return store_property(u, STR("delta.universalFormat.iceberg.atomicConversion.supported"), STR("true"), err);
}

silt_status delta_protocol_for(const delta_protocol *old, const data_type *schema, str_map properties, bool allow_arbitrary, arena *mem,
                               delta_protocol *out_protocol, str_map *out_configuration, silt_error *err) {
    if (delta_feature_count() > MAX_FEATURES) return err_INTERNAL_ERROR(err, "more table features than protocol_upgrade.c has room for");
    upgrade u = {.old = old, .arena = mem};
    feature_set before = {{false}}, manual = {{false}};
    for (size_t i = 0; i < properties.count; i++) TRY(take_property(&u, properties.keys[i], properties.values[i], allow_arbitrary, err));
    start_set(&u);
    if (!old) TRY(complete_iceberg_compat(&u, err));
    str_map stored = {u.keys, u.values, u.count};
    TRY(enable_by_properties(&u, &stored, &manual, err));
    if (schema) TRY(enable_by_type(&u, schema, &manual, err));
    if (schema) TRY(check_stats_columns(schema, &stored, mem, err));
    close_over_dependencies(&u.features);
    TRY(report_manual(&u, &manual, err));
    TRY(name_row_tracking_columns(&u, err));
    *out_configuration = (str_map){u.keys, u.values, u.count};
    if (!old) TRY(delta_properties_check_together(out_configuration, err));

    if (old) add_old(&before, old);
    if (old && same_set(&before, &u.features)) *out_protocol = *old;
    else TRY(normal_form(&u, out_protocol, err));
    delta_metadata metadata = {.schema = schema, .configuration = *out_configuration};
    return delta_protocol_check_write(out_protocol, &metadata, STR("being defined"), err);
}

silt_status delta_protocol_add_features(const delta_protocol *old, const char *const *names, size_t n, arena *mem, delta_protocol *out, silt_error *err) {
    upgrade u = {.old = old, .arena = mem};
    feature_set before = {{false}};
    if (old) add_old(&before, old);
    start_set(&u);
    for (size_t i = 0; i < n; i++) {
        if (feature_index(names[i]) >= MAX_FEATURES) return err_UNSUPPORTED_FEATURE(err, names[i]);
        set_add(&u.features, names[i]);
    }
    close_over_dependencies(&u.features);
    if (old && same_set(&before, &u.features)) {
        *out = *old;
        return SILT_OK;
    }
    return normal_form(&u, out, err);
}

/* ---- fewer features ---- */

str delta_protocol_dependents(const delta_protocol *p, const char *feature, arena *mem) {
    str names = STR("");
    for (size_t i = 0; i < delta_feature_count(); i++) {
        const delta_feature *f = delta_feature_at(i);
        bool depends = false;
        for (size_t d = 0; d < ARRAY_LEN(f->depends_on) && f->depends_on[d]; d++) depends |= strcmp(f->depends_on[d], feature) == 0;
        if (!depends || !delta_protocol_has(p, f->name)) continue;
        names = names.len ? arena_printf(mem, "%.*s, %s", STR_ARG(names), f->name) : str_of(f->name);
        if (str_is_null(names)) return names;
    }
    return names;
}

silt_status delta_protocol_without(const delta_protocol *old, const char *feature, bool with_protection, arena *mem, delta_protocol *out, silt_error *err) {
    upgrade u = {.arena = mem}; /* no old one: this is the one way down */
    size_t dropped = feature_index(feature);
    add_old(&u.features, old);
    if (dropped < MAX_FEATURES) u.features.has[dropped] = false;
    if (with_protection) set_add(&u.features, "checkpointProtection");
    return normal_form(&u, out, err);
}
