/*
 * The registry of table features and the checks of a protocol. PROTOCOL.md "Table Features", "Valid Feature Names in Table
 * Features"; what Delta 4.3 accepts where the protocol leaves it open: a reader-writer feature in the writer list alone is read,
 * writer 7 may have an empty list, a writer-only feature that nobody knows does not stop a read.
 */
#include "delta/features.h"

#define RW FEATURE_READER_WRITER
#define W  FEATURE_WRITER

static const delta_feature registry[] = {
    /* name, kind, legacy reader and writer version, can_read, can_write, enabled_by, depends_on, auto_enable_existing */
    {"appendOnly", W, 1, 2, true, true, "delta.appendOnly", {NULL}, true},
    {"invariants", W, 1, 2, true, true, NULL, {NULL}, true},
    {"checkConstraints", W, 1, 3, true, true, NULL, {NULL}, true},
    {"changeDataFeed", W, 1, 4, true, true, "delta.enableChangeDataFeed", {NULL}, true},
    {"generatedColumns", W, 1, 4, true, true, NULL, {NULL}, true},
    {"columnMapping", RW, 2, 5, true, true, NULL, {NULL}, true},
    {"identityColumns", W, 1, 6, true, true, NULL, {NULL}, true},
    {"deletionVectors", RW, 0, 0, true, true, "delta.enableDeletionVectors", {NULL}, true},
    {"rowTracking", W, 0, 0, true, true, "delta.enableRowTracking", {"domainMetadata"}, true},
    {"domainMetadata", W, 0, 0, true, true, NULL, {NULL}, false},
    {"clustering", W, 0, 0, true, true, NULL, {"domainMetadata"}, false},
    {"timestampNtz", RW, 0, 0, true, true, NULL, {NULL}, false},
    {"typeWidening", RW, 0, 0, true, true, "delta.enableTypeWidening", {NULL}, true},
    {"typeWidening-preview", RW, 0, 0, true, true, NULL, {NULL}, false},
    {"v2Checkpoint", RW, 0, 0, true, true, NULL, {NULL}, true},
    {"vacuumProtocolCheck", RW, 0, 0, true, true, NULL, {NULL}, false},
    {"inCommitTimestamp", W, 0, 0, true, true, "delta.enableInCommitTimestamps", {NULL}, true},
    {"allowColumnDefaults", W, 0, 0, true, true, NULL, {NULL}, false},
    {"icebergCompatV1", W, 0, 0, true, true, "delta.enableIcebergCompatV1", {"columnMapping"}, true},
    {"icebergCompatV2", W, 0, 0, true, true, "delta.enableIcebergCompatV2", {"columnMapping"}, true},
    {"icebergCompatV3", W, 0, 0, true, true, "delta.enableIcebergCompatV3", {"columnMapping", "rowTracking"}, true},
    {"icebergWriterCompatV1", W, 0, 0, true, false, "delta.enableIcebergWriterCompatV1", {"icebergCompatV2"}, true},
    {"icebergWriterCompatV3", W, 0, 0, true, false, "delta.enableIcebergWriterCompatV3", {"icebergCompatV3"}, true},
    {"variantType", RW, 0, 0, true, true, NULL, {NULL}, true},
    {"variantType-preview", RW, 0, 0, true, true, NULL, {NULL}, false},
    {"variantShredding", RW, 0, 0, true, true, NULL, {"variantType"}, false},
    {"variantShredding-preview", RW, 0, 0, true, true, "delta.enableVariantShredding", {NULL}, true},
    {"checkpointProtection", W, 0, 0, true, true, NULL, {NULL}, false},
    {"materializePartitionColumns", W, 0, 0, true, true, "delta.enableMaterializePartitionColumnsFeature", {NULL}, true},
    {"catalogManaged", RW, 0, 0, false, false, NULL, {"inCommitTimestamp", "vacuumProtocolCheck"}, false},
    {"catalogOwned-preview", RW, 0, 0, false, false, NULL, {"inCommitTimestamp", "vacuumProtocolCheck"}, false},
    {"coordinatedCommits-preview", W, 0, 0, true, false, NULL, {"inCommitTimestamp", "vacuumProtocolCheck"}, false},
    {"geospatial", RW, 0, 0, false, false, NULL, {NULL}, false},
    {"geospatial-dev", RW, 0, 0, false, false, NULL, {NULL}, false},
    {"collations", W, 0, 0, true, false, NULL, {"domainMetadata"}, false},
    {"collations-preview", W, 0, 0, true, false, NULL, {"domainMetadata"}, false},
    {"redirectReaderWriter-preview", RW, 0, 0, false, false, NULL, {NULL}, false},
    {"redirectWriterOnly-preview", W, 0, 0, true, false, NULL, {NULL}, false},
};

size_t delta_feature_count(void) { return ARRAY_LEN(registry); }
const delta_feature *delta_feature_at(size_t i) { return &registry[i]; }

const delta_feature *delta_feature_find(str name) {
    for (size_t i = 0; i < ARRAY_LEN(registry); i++)
        if (str_eqz(name, registry[i].name)) return &registry[i];
    return NULL;
}

/* ---- what a protocol has ---- */

static bool list_has(const str *names, size_t n, str name) {
    for (size_t i = 0; i < n; i++)
        if (str_eq(names[i], name)) return true;
    return false;
}

static bool is_implied(const delta_protocol *p, const delta_feature *f) {
    if (f->legacy_writer == 0) return false;
    if (p->min_writer_version < 7) return f->legacy_writer <= p->min_writer_version && f->legacy_reader <= p->min_reader_version;
    return f->kind == RW && p->min_reader_version < 3 &&
           f->legacy_reader <= p->min_reader_version; /* 2/7: the reader's half is a number still */
}

bool delta_protocol_has(const delta_protocol *p, const char *feature) {
    str name = str_of(feature);
    if (list_has(p->writer_features, p->n_writer_features, name) || list_has(p->reader_features, p->n_reader_features, name))
        return true;
    const delta_feature *f = delta_feature_find(name);
    return f && is_implied(p, f);
}

/* ---- checks ---- */

static silt_status check_versions(const delta_protocol *p, str table, silt_error *err) {
    int r = p->min_reader_version, w = p->min_writer_version;
    const char *why = NULL;
    if (r < 1 || r > 3)
        why = "the reader version is not known";
    else if (w < 1 || w > 7)
        why = "the writer version is not known";
    else if (r == 3 && w != 7)
        why = "reader version 3 needs writer version 7";
    else if (r == 3 && !p->has_reader_features)
        why = "reader version 3 needs a list of readerFeatures";
    else if (w == 7 && !p->has_writer_features)
        why = "writer version 7 needs a list of writerFeatures";
    else if (r < 3 && p->n_reader_features > 0)
        why = "readerFeatures belong to reader version 3 only";
    else if (w < 7 && p->n_writer_features > 0)
        why = "writerFeatures belong to writer version 7 only";
    return why ? err_DELTA_INVALID_PROTOCOL_VERSION(err, table, r, w, why) : SILT_OK;
}

static void add_name(buf *names, str name) {
    if (names->len) buf_append_z(names, ", ");
    buf_append(names, name);
}

/* Fails with the names gathered, if there are any. */
static silt_status report(buf *names, str table, silt_status (*fail)(silt_error *err, str table, str features), silt_error *err) {
    silt_status status = !buf_ok(names) ? error_no_memory(err) : names->len ? fail(err, table, buf_str(names)) : SILT_OK;
    buf_dispose(names);
    return status;
}

static silt_status fail_read(silt_error *err, str table, str features) {
    return err_DELTA_UNSUPPORTED_FEATURES_FOR_READ(err, table, features);
}
static silt_status fail_write(silt_error *err, str table, str features) {
    return err_DELTA_UNSUPPORTED_FEATURES_FOR_WRITE(err, table, features);
}
static silt_status fail_mismatch(silt_error *err, str table, str features) {
    (void)table;
    return err_DELTA_FEATURES_PROTOCOL_METADATA_MISMATCH(err, features);
}

/* A listed feature whose dependency is not: such a protocol was never written by a sound writer. */
static silt_status check_dependencies(const delta_protocol *p, str table, silt_error *err) {
    buf missing;
    buf_init(&missing, BUF_MAX_DEFAULT);
    for (size_t i = 0; i < ARRAY_LEN(registry); i++) {
        const delta_feature *f = &registry[i];
        if (!list_has(p->writer_features, p->n_writer_features, str_of(f->name))) continue;
        for (size_t d = 0; d < ARRAY_LEN(f->depends_on) && f->depends_on[d]; d++)
            if (!delta_protocol_has(p, f->depends_on[d])) add_name(&missing, str_of(f->depends_on[d]));
    }
    return report(&missing, table, fail_mismatch, err);
}

static bool is_catalog_managed(const delta_protocol *p) {
    return delta_protocol_has(p, "catalogManaged") || delta_protocol_has(p, "catalogOwned-preview");
}

silt_status delta_protocol_check_read(const delta_protocol *p, str table, silt_error *err) {
    TRY(check_versions(p, table, err));
    if (is_catalog_managed(p)) {
        TRY(check_dependencies(p, table, err));
        return err_DELTA_PATH_BASED_ACCESS_TO_CATALOG_MANAGED_TABLE_BLOCKED(err, table);
    }
    buf names;
    buf_init(&names, BUF_MAX_DEFAULT);
    for (size_t i = 0; i < p->n_reader_features; i++) {
        const delta_feature *f = delta_feature_find(p->reader_features[i]);
        if (!f || !f->can_read) add_name(&names, p->reader_features[i]);
    }
    for (size_t i = 0; i < p->n_writer_features; i++) { /* what readers must know counts wherever it is listed */
        const delta_feature *f = delta_feature_find(p->writer_features[i]);
        if (f && f->kind == RW && !f->can_read && !list_has(p->reader_features, p->n_reader_features, p->writer_features[i]))
            add_name(&names, p->writer_features[i]);
    }
    return report(&names, table, fail_read, err);
}

/* ---- is it active? ---- */

static bool type_has_variant(const data_type *t) {
    if (!t) return false;
    if (t->id == TYPE_VARIANT) return true;
    if (type_has_variant(t->element) || type_has_variant(t->key)) return true;
    for (size_t i = 0; i < t->n_fields; i++)
        if (type_has_variant(t->fields[i].type)) return true;
    return false;
}

/* Some field, at any depth, whose metadata has the key. The text is searched first: parsing ten thousand of them for nothing
 * would be felt at each commit. */
static bool type_has_metadata(const data_type *t, const char *key, arena *a) {
    if (!t) return false;
    if (type_has_metadata(t->element, key, a) || type_has_metadata(t->key, key, a)) return true;
    for (size_t i = 0; i < t->n_fields; i++) {
        const field *f = &t->fields[i];
        if (str_find(f->metadata, str_of(key)) != SIZE_MAX) {
            const json_node *v = field_metadata_get(f, key, a);
            if (v && v->type != JSON_NULL) return true;
        }
        if (type_has_metadata(f->type, key, a)) return true;
    }
    return false;
}

static bool property_is_true(const delta_metadata *m, const char *key) {
    return str_eq_ascii_fold(str_trim(str_map_get(&m->configuration, str_of(key))), STR("true"));
}

static bool has_constraint(const delta_metadata *m) {
    for (size_t i = 0; i < m->configuration.count; i++)
        if (str_starts_with(m->configuration.keys[i], STR("delta.constraints."))) return true;
    return false;
}

/* Does the feature ask anything of a writer of this table? PROTOCOL.md "Active Features". */
static bool is_active(const delta_feature *f, const delta_metadata *m, arena *a) {
    str name = str_of(f->name);
    if (!m) return true;
    if (str_eqz(name, "checkConstraints")) return has_constraint(m);
    if (str_eqz(name, "changeDataFeed"))
        return property_is_true(m, f->enabled_by) || property_is_true(m, "delta.enableChangeDataCapture");
    if (str_eqz(name, "generatedColumns")) return type_has_metadata(m->schema, "delta.generationExpression", a);
    if (str_eqz(name, "identityColumns")) return type_has_metadata(m->schema, "delta.identity.start", a);
    if (str_eqz(name, "allowColumnDefaults")) return type_has_metadata(m->schema, "CURRENT_DEFAULT", a);
    if (str_starts_with(name, STR("collations"))) return type_has_metadata(m->schema, "__COLLATIONS", a);
    if (str_starts_with(name, STR("variant"))) return type_has_variant(m->schema);
    return f->enabled_by ? property_is_true(m, f->enabled_by) : true;
}

static void gather_unwritable(const delta_protocol *p, const delta_metadata *m, arena *a, buf *names) {
    for (size_t i = 0; i < p->n_writer_features; i++)
        if (!delta_feature_find(p->writer_features[i])) add_name(names, p->writer_features[i]);
    for (size_t i = 0; i < ARRAY_LEN(registry); i++) {
        const delta_feature *f = &registry[i];
        if (f->can_write || !delta_protocol_has(p, f->name)) continue;
        if (is_active(f, m, a)) add_name(names, str_of(f->name));
    }
}

silt_status delta_protocol_check_write(const delta_protocol *p, const delta_metadata *m, str table, silt_error *err) {
    TRY(delta_protocol_check_read(p, table, err));
    arena *a = arena_new();
    if (!a) return error_no_memory(err);
    buf names;
    buf_init(&names, BUF_MAX_DEFAULT);
    gather_unwritable(p, m, a, &names);
    silt_status status = report(&names, table, fail_write, err);
    arena_free(a);
    return status;
}
