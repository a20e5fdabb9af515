/*
 * Conflict rules: may this transaction still commit after a winner took the version that it wanted? One function per rule, applied in this order to every winner
 * in turn; what a tolerated winner changed (protocol, metadata, row ids, time) becomes the state that the next attempt builds on. The rules are those of Delta's
 * optimistic transactions (PROTOCOL.md leaves them to the writer); other engines trust that everyone keeps them.
 *
 *   1 protocol      2 metadata      3 domain metadata      4 application transactions     5 row ids
 *   6 added files that we would have read      7 removed files that we read      8 removed files that we remove      9 commit time
 */
#include "base/uri.h"
#include "delta/log_path.h"
#include "delta/metadata_copy.h"
#include "delta/properties.h"
#include "delta/txn_state.h"

/* ---- what a conflict says ---- */

/* "p=1, q=null": the partition columns of the table that was read. */
static bool write_partition(buf *out, const delta_txn *t, const str_map *values) {
    const delta_metadata *m = delta_snapshot_metadata(t->snapshot);
    for (size_t i = 0; i < m->n_partition_columns; i++) {
        int at = m->schema ? schema_find(m->schema, m->partition_columns[i]) : -1;
        str text = at < 0 ? STR_NULL : str_map_get(values, m->schema->fields[at].physical_name);
        buf_printf(out, "%s%.*s=%.*s", i ? ", " : "", STR_ARG(m->partition_columns[i]), STR_ARG(str_is_null(text) ? STR("null") : text));
    }
    return m->n_partition_columns > 0 && values->count > 0;
}

static str txn_id_of(str commit_info, arena *scratch) {
    const json_node *root = NULL;
    if (str_is_null(commit_info) || json_parse(commit_info, scratch, &root, NULL) != SILT_OK) return STR("unknown");
    return json_get_str(root, "txnId", STR("unknown"));
}

static void say_who_won(const delta_commit *winner, str about, arena *scratch, silt_error *err) {
    error_detail(err, "winner: version %lld, operation %.*s, txnId %.*s%s%.*s; nothing was committed by this transaction", (long long)winner->version,
                 STR_ARG(commit_info_operation(winner->commit_info, scratch)), STR_ARG(txn_id_of(winner->commit_info, scratch)), about.len ? ", " : "", STR_ARG(about));
}

/* The two forms of each conflict over a file: with its partition, and without where there is none or it is not known. */
typedef struct file_conflict_rows {
    silt_status (*in_partition)(silt_error *err, str operation, int64_t version, str table, str partition);
    silt_status (*plain)(silt_error *err, str operation, int64_t version, str table);
} file_conflict_rows;

static const file_conflict_rows concurrent_append = {err_CONCURRENT_APPEND_IN_PARTITION, err_CONCURRENT_APPEND};
static const file_conflict_rows concurrent_delete_read = {err_CONCURRENT_DELETE_READ_IN_PARTITION, err_CONCURRENT_DELETE_READ};
static const file_conflict_rows concurrent_delete_delete = {err_CONCURRENT_DELETE_DELETE_IN_PARTITION, err_CONCURRENT_DELETE_DELETE};

static silt_status file_conflict(const delta_txn *t, const file_conflict_rows *rows, const delta_commit *winner, str path, const str_map *partition, silt_error *err) {
    arena *scratch = arena_new();
    if (!scratch) return error_no_memory(err);
    buf text;
    buf_init(&text, 4096);
    str operation = commit_info_operation(winner->commit_info, scratch), table = txn_table_name(t);
    silt_status status = write_partition(&text, t, partition) ? rows->in_partition(err, operation, winner->version, table, buf_str(&text))
                                                              : rows->plain(err, operation, winner->version, table);
    say_who_won(winner, arena_printf(scratch, "file %.*s", STR_ARG(path)), scratch, err);
    arena_free(scratch);
    buf_dispose(&text);
    return status;
}

/* Any other: "version 7 (DELETE) changed domain x". */
static silt_status conflict(silt_status (*row)(silt_error *err, str detail), const delta_commit *winner, const char *verb, str what, silt_error *err) {
    arena *scratch = arena_new();
    if (!scratch) return error_no_memory(err);
    str operation = commit_info_operation(winner->commit_info, scratch);
    silt_status status = row(err, arena_printf(scratch, "version %lld (%.*s)%s%.*s", (long long)winner->version, STR_ARG(operation), verb, STR_ARG(what)));
    say_who_won(winner, STR(""), scratch, err);
    arena_free(scratch);
    return status;
}

static silt_status conflict_plain(silt_status (*row)(silt_error *err, str detail), const delta_commit *winner, silt_error *err) {
    return conflict(row, winner, "", STR(""), err);
}

/* ---- 1: protocol ---- */

static bool is_dropped(const delta_protocol *old, const delta_protocol *now, const char *feature) {
    return delta_protocol_has(old, feature) && !delta_protocol_has(now, feature);
}

bool txn_protocol_drops_features(const delta_protocol *old, const delta_protocol *now) {
    for (size_t i = 0; i < delta_feature_count(); i++)
        if (is_dropped(old, now, delta_feature_at(i)->name)) return true;
    return false;
}

/* Files of before such a feature must not come after it, and no metadata says so: it holds from the protocol on. */
static bool adds_rule_for_files(const delta_protocol *old, const delta_protocol *now) { return is_dropped(now, old, "materializePartitionColumns"); }

/* What of a feature the winner put into the table while this transaction drops the feature. Those that live in the metadata meet rule 2. */
static const char *feature_used(const delta_txn *t, const delta_commit *winner) {
    if (winner->n_domains > 0 && is_dropped(t->protocol, t->new_protocol, "domainMetadata")) return "domainMetadata";
    bool vectors = is_dropped(t->protocol, t->new_protocol, "deletionVectors"), row_ids = is_dropped(t->protocol, t->new_protocol, "rowTracking");
    for (size_t i = 0; i < winner->n_adds; i++) {
        if (vectors && winner->adds[i].dv.storage) return "deletionVectors";
        if (row_ids && winner->adds[i].base_row_id >= 0) return "rowTracking";
    }
    return NULL;
}

static silt_status check_dropped_features(const delta_txn *t, const delta_commit *winner, silt_error *err) {
    const char *feature = t->new_protocol ? feature_used(t, winner) : NULL;
    if (!feature) return SILT_OK;
    arena *scratch = arena_new();
    if (!scratch) return error_no_memory(err);
    silt_status status = err_DELTA_FEATURE_DROP_CONFLICT_REVALIDATION_FAIL(err, str_of(feature), commit_info_operation(winner->commit_info, scratch), winner->version);
    say_who_won(winner, STR(""), scratch, err);
    arena_free(scratch);
    return status;
}

/* Work that was done under `old` may not stand under the winner's protocol. Asked after rule 2: of both, the metadata is what Delta names. */
static silt_status check_work_stands(const delta_txn *t, const delta_protocol *old, const delta_commit *winner, silt_error *err) {
    if (!winner->protocol) return SILT_OK;
    bool stands = !txn_protocol_drops_features(old, winner->protocol) && !(t->n_files > 0 && adds_rule_for_files(old, winner->protocol));
    return stands ? SILT_OK : conflict_plain(err_DELTA_PROTOCOL_CHANGED, winner, err);
}

static silt_status check_protocol(delta_txn *t, const delta_commit *winner, silt_error *err) {
    if (!winner->protocol) return check_dropped_features(t, winner, err);
    TRY(delta_protocol_check_read(winner->protocol, txn_table_name(t), err));
    if (t->new_protocol) return conflict_plain(err_DELTA_PROTOCOL_CHANGED, winner, err);
    const delta_protocol *copy = delta_protocol_copy(winner->protocol, t->arena);
    if (!copy) return error_no_memory(err);
    t->protocol = copy;
    return SILT_OK;
}

/* ---- 2: metadata ---- */

static bool strs_equal(const str *a, size_t n_a, const str *b, size_t n_b) {
    if (n_a != n_b) return false;
    for (size_t i = 0; i < n_a; i++)
        if (!str_eq(a[i], b[i])) return false;
    return true;
}

static bool maps_equal(const str_map *a, const str_map *b) {
    if (a->count != b->count) return false;
    for (size_t i = 0; i < a->count; i++) {
        str other = str_map_get(b, a->keys[i]);
        if (str_is_null(other) != str_is_null(a->values[i]) || !str_eq(other, a->values[i])) return false;
    }
    return true;
}

static bool is_true(str text) { return str_eq_ascii_fold(text, STR("true")); }

/* One configuration key that the winner added (old null) or changed. Work done before the feature was enabled must stay valid after it. */
static bool may_change(str key, str old, str now, const delta_metadata *winner, const delta_protocol *p) {
    if (str_eqz(key, "delta.enableDeletionVectors")) return delta_protocol_has(p, "deletionVectors") && is_true(now);
    if (str_eqz(key, "delta.checkpointPolicy")) return delta_protocol_has(p, "v2Checkpoint") && str_eqz(now, "v2");
    if (str_eqz(key, "delta.enableRowTracking")) return delta_protocol_has(p, "rowTracking") && is_true(now);
    if (str_eqz(key, "delta.rowTracking.materializedRowIdColumnName") || str_eqz(key, "delta.rowTracking.materializedRowCommitVersionColumnName"))
        return is_true(str_map_get(&winner->configuration, STR("delta.enableRowTracking")));
    if (str_eqz(key, "delta.columnMapping.mode"))
        return delta_protocol_has(p, "columnMapping") && str_eqz(now, "name") && (str_is_null(old) || str_eqz(old, "none"));
    if (str_eqz(key, "delta.columnMapping.maxColumnId")) return true;
    if (str_eqz(key, "delta.enableInCommitTimestamps")) return delta_protocol_has(p, "inCommitTimestamp") && is_true(now);
    if (str_eqz(key, "delta.inCommitTimestampEnablementVersion") || str_eqz(key, "delta.inCommitTimestampEnablementTimestamp")) return str_is_null(old);
    return false;
}

static bool configuration_tolerated(const delta_metadata *old, const delta_metadata *now, const delta_protocol *p) {
    for (size_t i = 0; i < old->configuration.count; i++)
        if (str_is_null(str_map_get(&now->configuration, old->configuration.keys[i]))) return false;
    for (size_t i = 0; i < now->configuration.count; i++) {
        str key = now->configuration.keys[i], after = now->configuration.values[i], before = str_map_get(&old->configuration, key);
        if (!str_is_null(before) && str_eq(before, after)) continue;
        if (!may_change(key, before, after, now, p)) return false;
    }
    return true;
}

static bool is_mapping_key(str key) { return str_eqz(key, "delta.columnMapping.id") || str_eqz(key, "delta.columnMapping.physicalName"); }

static bool json_equal(const json_node *a, const json_node *b) {
    if (a->type != b->type) return false;
    switch (a->type) {
        case JSON_NULL: return true;
        case JSON_BOOL: return a->boolean == b->boolean;
        case JSON_NUMBER:
        case JSON_STRING: return str_eq(a->text, b->text);
        case JSON_ARRAY:
        case JSON_OBJECT: break;
    }
    if (a->count != b->count) return false;
    for (size_t i = 0; i < a->count; i++)
        if ((a->keys && !str_eq(a->keys[i], b->keys[i])) || !json_equal(&a->values[i], &b->values[i])) return false;
    return true;
}

/* Every key of `a` but the two of column mapping is in `b` with the same value. */
static bool metadata_within(const json_node *a, const json_node *b, arena *scratch) {
    for (size_t i = 0; a && i < a->count; i++) {
        if (is_mapping_key(a->keys[i])) continue;
        char *key = arena_cstr(scratch, a->keys[i]);
        const json_node *other = key ? json_get(b, key) : NULL;
        if (!other || !json_equal(&a->values[i], other)) return false;
    }
    return true;
}

static bool field_metadata_equal(const field *a, const field *b, arena *scratch) {
    if (str_eq(a->metadata, b->metadata)) return true;
    const json_node *in_a = NULL, *in_b = NULL;
    if (json_parse(a->metadata, scratch, &in_a, NULL) != SILT_OK || json_parse(b->metadata, scratch, &in_b, NULL) != SILT_OK) return false;
    return metadata_within(in_a, in_b, scratch) && metadata_within(in_b, in_a, scratch);
}

/* Equal at every depth but for the values that column mapping puts into the fields. */
static bool schema_equal_but_mapping(const data_type *a, const data_type *b, arena *scratch) {
    if (a->id != b->id || a->precision != b->precision || a->scale != b->scale || a->contains_null != b->contains_null) return false;
    if (a->id == TYPE_MAP && !schema_equal_but_mapping(a->key, b->key, scratch)) return false;
    if (a->id == TYPE_MAP || a->id == TYPE_ARRAY) return schema_equal_but_mapping(a->element, b->element, scratch);
    if (a->id != TYPE_STRUCT) return true;
    if (a->n_fields != b->n_fields) return false;
    for (size_t i = 0; i < a->n_fields; i++) {
        const field *x = &a->fields[i], *y = &b->fields[i];
        if (!str_eq(x->name, y->name) || x->nullable != y->nullable || !field_metadata_equal(x, y, scratch)) return false;
        if (!schema_equal_but_mapping(x->type, y->type, scratch)) return false;
    }
    return true;
}

static bool enables_name_mapping(const delta_metadata *old, const delta_metadata *now) {
    str before = str_map_get(&old->configuration, STR("delta.columnMapping.mode"));
    return (str_is_null(before) || str_eqz(before, "none")) && str_eqz(str_map_get(&now->configuration, STR("delta.columnMapping.mode")), "name");
}

static bool metadata_tolerated(const delta_metadata *old, const delta_metadata *now, const delta_protocol *p) {
    if (!str_eq(old->id, now->id) || !str_eq(old->name, now->name) || !str_eq(old->description, now->description) ||
        !str_eq(old->format_provider, now->format_provider) || !maps_equal(&old->format_options, &now->format_options) ||
        old->created_time_ms != now->created_time_ms)
        return false;
    if (!strs_equal(old->partition_columns, old->n_partition_columns, now->partition_columns, now->n_partition_columns)) return false;
    if (!configuration_tolerated(old, now, p)) return false;
    if (str_eq(old->schema_json, now->schema_json)) return true;
    if (!enables_name_mapping(old, now) || !old->schema || !now->schema) return false;
    arena *scratch = arena_new();
    bool equal = scratch && schema_equal_but_mapping(old->schema, now->schema, scratch);
    arena_free(scratch);
    return equal;
}

/* A commit that only moved an identity column's high water mark says so in its tags. */
static bool is_identity_update(const delta_commit *winner) {
    arena *scratch = arena_new();
    const json_node *root = NULL;
    bool is = scratch && !str_is_null(winner->commit_info) && json_parse(winner->commit_info, scratch, &root, NULL) == SILT_OK &&
              is_true(json_get_str(json_get(root, "tags"), "delta.identity.schemaUpdate", STR_NULL));
    arena_free(scratch);
    return is;
}

static silt_status check_metadata(delta_txn *t, const delta_commit *winner, silt_error *err) {
    if (!winner->metadata) return SILT_OK;
    if (t->new_metadata) return conflict_plain(err_DELTA_METADATA_CHANGED, winner, err);
    bool tolerated = is_identity_update(winner) || metadata_tolerated(t->metadata, winner->metadata, t->protocol);
    if (!tolerated) return conflict_plain(err_DELTA_METADATA_CHANGED, winner, err);
    if (!delta_config_bool(&t->metadata->configuration, "delta.enableRowTracking") &&
        delta_config_bool(&winner->metadata->configuration, "delta.enableRowTracking"))
        t->row_tracking_enabled_by_winner = true;
    delta_metadata *copy;
    TRY(delta_metadata_copy(winner->metadata, t->arena, &copy, err));
    t->metadata = copy;
    return SILT_OK;
}

/* Rules 1 and 2 may have changed what has to be written for: check the pair again. */
static silt_status check_still_writable(delta_txn *t, const delta_commit *winner, silt_error *err) {
    if (!winner->protocol && !winner->metadata) return SILT_OK;
    return delta_protocol_check_write(txn_protocol(t), txn_metadata(t), txn_table_name(t), err);
}

/* ---- 3: domain metadata ---- */

static silt_status check_domains(delta_txn *t, const delta_commit *winner, silt_error *err) {
    for (size_t w = 0; w < winner->n_domains; w++) {
        str domain = winner->domains[w].domain;
        if (str_eqz(domain, ROW_TRACKING_DOMAIN)) continue;
        bool ours = false;
        for (size_t i = 0; i < t->n_domains; i++) ours |= str_eq(t->domains[i].domain, domain);
        /* A table that is replaced would have to undo a domain that it never saw. */
        if (ours || txn_replaces_table(t)) return conflict(err_DELTA_CONCURRENT_TRANSACTION, winner, " changed domain ", domain, err);
    }
    return SILT_OK;
}

/* ---- 4: application transactions ---- */

static silt_status check_txn_ids(delta_txn *t, const delta_commit *winner, silt_error *err) {
    for (size_t w = 0; w < winner->n_txns; w++)
        for (size_t i = 0; i < t->n_txn_ids; i++)
            if (str_eq(winner->txns[w].app_id, t->txn_ids[i].app_id))
                return conflict(err_DELTA_CONCURRENT_TRANSACTION, winner, " wrote for application ", winner->txns[w].app_id, err);
    return SILT_OK;
}

/* ---- 5: row ids ---- */

bool operation_is_backfill(str operation) { return str_eqz(operation, "ROW TRACKING BACKFILL") || str_eqz(operation, "ROW TRACKING UNBACKFILL"); }

/* A backfill adds every file again as it was, but for its row ids. */
static bool winner_is_backfill(const delta_commit *winner) {
    arena *scratch = arena_new();
    bool is = scratch && operation_is_backfill(commit_info_operation(winner->commit_info, scratch));
    arena_free(scratch);
    return is;
}

/* The ids that the winner's backfill gave to a file which this transaction removes, or adds again with a deletion vector, are the file's. */
static void take_over_ids(delta_txn *t, const delta_add *given, str path, arena *scratch) {
    for (size_t i = 0; i < t->n_files; i++) {
        file_action *f = &t->files[i];
        if (!str_eq(uri_decode(f->is_remove ? f->as.remove.path : f->as.add.path, scratch), path)) continue;
        if (f->is_remove) {
            f->as.remove.base_row_id = given->base_row_id;
            f->as.remove.default_row_commit_version = given->default_row_commit_version;
        } else {
            f->as.add.base_row_id = given->base_row_id;
            f->as.add.default_row_commit_version = given->default_row_commit_version;
            f->fresh_row_ids = given->base_row_id < 0;
            f->fresh_version = given->default_row_commit_version < 0;
        }
    }
}

static silt_status follow_backfill(delta_txn *t, const delta_commit *winner, silt_error *err) {
    if (t->removed_paths.count == 0) return SILT_OK;
    arena *scratch = arena_new();
    if (!scratch) return error_no_memory(err);
    for (size_t i = 0; i < winner->n_adds; i++) {
        str path = uri_decode(winner->adds[i].path, scratch);
        if (path_set_has(&t->removed_paths, path)) take_over_ids(t, &winner->adds[i], path, scratch);
    }
    arena_free(scratch);
    return SILT_OK;
}

/* A file that the winner added or removed is not to be added again by this backfill: it has its ids, or is gone. */
static silt_status leave_out_touched_files(delta_txn *t, const delta_commit *winner, silt_error *err) {
    arena *scratch = arena_new();
    path_set touched = {NULL, 0, 0};
    bool added, ok = scratch != NULL;
    for (size_t i = 0; ok && i < winner->n_adds; i++) ok = path_set_add(&touched, uri_decode(winner->adds[i].path, scratch), scratch, &added);
    for (size_t i = 0; ok && i < winner->n_removes; i++) ok = path_set_add(&touched, uri_decode(winner->removes[i].path, scratch), scratch, &added);
    size_t kept = 0;
    for (size_t i = 0; ok && i < t->n_files; i++) {
        const file_action *f = &t->files[i];
        if (f->is_remove || !path_set_has(&touched, uri_decode(f->as.add.path, scratch))) t->files[kept++] = *f;
    }
    if (ok) t->n_files = kept;
    arena_free(scratch);
    return ok ? SILT_OK : error_no_memory(err);
}

static silt_status resolve_backfill(delta_txn *t, const delta_commit *winner, silt_error *err) {
    if (t->is_backfill) return leave_out_touched_files(t, winner, err);
    return winner_is_backfill(winner) ? follow_backfill(t, winner, err) : SILT_OK;
}

static void rebase_row_ids(delta_txn *t, const delta_commit *winner) {
    int64_t mark = row_tracking_high_water(winner->domains, winner->n_domains);
    if (mark > t->row_id_high_water) t->row_id_high_water = mark;
}

/* ---- 6: added files that we would have read ---- */

/* A file's partition values, which hold for every row of it; nothing else is known. */
typedef struct partition_stats {
    const delta_txn *t;
    const str_map *values;
    arena *scratch;
} partition_stats;

/* The value of a partition column of the schema that was read; false for any other column, or when it does not parse. */
static bool partition_value(const partition_stats *p, column_path column, const data_type *type, value *out) {
    const delta_metadata *m = delta_snapshot_metadata(p->t->snapshot);
    if (column.depth != 1 || !m->schema || column.index[0] >= m->schema->n_fields) return false;
    const field *f = &m->schema->fields[column.index[0]];
    for (size_t i = 0; i < m->n_partition_columns; i++) {
        if (!str_eq_fold(m->partition_columns[i], f->name)) continue;
        for (size_t k = 0; k < p->values->count; k++) {
            if (!str_eq(p->values->keys[k], f->physical_name)) continue;
            str text = p->values->values[k];
            return partition_value_parse(text, str_is_null(text), type ? type : f->type, p->t->env->zone_offset_seconds, p->scratch, out, NULL) ==
                   SILT_OK;
        }
    }
    return false;
}

static bool partition_constant(const stats_source *s, column_path column, const data_type *type, value *out) {
    return partition_value(s->ctx, column, type, out);
}

static bool matches_read(const delta_txn *t, const str_map *partition_values, arena *scratch) {
    partition_stats p = {t, partition_values, scratch};
    stats_source s = {.ctx = &p, .tight_bounds = true, .constant = partition_constant};
    for (size_t i = 0; i < t->n_read_predicates; i++)
        if (predicate_may_match(t->read_predicates[i], &s)) return true;
    return false;
}

static bool read_everything(const delta_txn *t) { return t->read_whole_table || txn_replaces_table(t); }

static bool is_partitioned(const delta_txn *t) { return delta_snapshot_metadata(t->snapshot)->n_partition_columns > 0; }

static bool winner_is_blind(const delta_commit *winner) {
    arena *scratch = arena_new();
    const json_node *root = NULL;
    bool blind = scratch && !str_is_null(winner->commit_info) && json_parse(winner->commit_info, scratch, &root, NULL) == SILT_OK &&
                 json_get_bool(root, "isBlindAppend", false);
    arena_free(scratch);
    return blind;
}

static silt_status check_added_files(delta_txn *t, const delta_commit *winner, silt_error *err) {
    if (t->is_blind || t->is_backfill || winner->n_adds == 0 || str_eqz(t->isolation, "SnapshotIsolation") || winner_is_backfill(winner)) return SILT_OK;
    if (str_eqz(t->isolation, "WriteSerializable") && !t->new_metadata && winner_is_blind(winner)) return SILT_OK;
    if (read_everything(t) || !is_partitioned(t))
        return file_conflict(t, &concurrent_append, winner, winner->adds[0].path, &winner->adds[0].partition_values, err);
    arena *scratch = arena_new();
    if (!scratch) return error_no_memory(err);
    silt_status status = SILT_OK;
    for (size_t i = 0; i < winner->n_adds && status == SILT_OK; i++) {
        const delta_add *add = &winner->adds[i];
        if (matches_read(t, &add->partition_values, scratch))
            status = file_conflict(t, &concurrent_append, winner, add->path, &add->partition_values, err);
        arena_reset(scratch);
    }
    arena_free(scratch);
    return status;
}

/* ---- 7: removed files that we read ---- */

/* Files named one by one decide; a transaction that gave a predicate alone has read every file that it matches. */
static bool was_read(const delta_txn *t, const delta_remove *remove, arena *scratch) {
    if (read_everything(t) || path_set_has(&t->read_files, uri_decode(remove->path, scratch))) return true;
    if (t->read_files.count > 0 || t->n_read_predicates == 0) return false;
    if (!is_partitioned(t) || !remove->extended_file_metadata) return true;
    return matches_read(t, &remove->partition_values, scratch);
}

static silt_status check_removed_against_reads(delta_txn *t, const delta_commit *winner, silt_error *err) {
    if (t->is_blind || t->is_backfill || winner->n_removes == 0) return SILT_OK;
    arena *scratch = arena_new();
    if (!scratch) return error_no_memory(err);
    silt_status status = SILT_OK;
    for (size_t i = 0; i < winner->n_removes && status == SILT_OK; i++) {
        const delta_remove *remove = &winner->removes[i];
        if (was_read(t, remove, scratch))
            status = file_conflict(t, &concurrent_delete_read, winner, remove->path, &remove->partition_values, err);
        arena_reset(scratch);
    }
    arena_free(scratch);
    return status;
}

/* ---- 8: removed files that we remove ---- */

static silt_status check_removed_against_removes(delta_txn *t, const delta_commit *winner, silt_error *err) {
    if (t->removed_paths.count == 0 || winner->n_removes == 0) return SILT_OK;
    arena *scratch = arena_new();
    if (!scratch) return error_no_memory(err);
    silt_status status = SILT_OK;
    for (size_t i = 0; i < winner->n_removes && status == SILT_OK; i++) {
        const delta_remove *remove = &winner->removes[i];
        if (path_set_has(&t->removed_paths, uri_decode(remove->path, scratch)))
            status = file_conflict(t, &concurrent_delete_delete, winner, remove->path, &remove->partition_values, err);
        arena_reset(scratch);
    }
    arena_free(scratch);
    return status;
}

/* ---- 9: commit time ---- */

static silt_status rebase_time(delta_txn *t, const delta_commit *winner, silt_error *err) {
    t->base_time_ms = winner->in_commit_timestamp_ms;
    if (t->base_time_ms >= 0 || !delta_config_bool(&txn_metadata(t)->configuration, "delta.enableInCommitTimestamps")) return SILT_OK;
    /* Only the commit that enables in-commit timestamps meets this: the winner before it has none, and its file's time counts. */
    arena *scratch = arena_new();
    if (!scratch) return error_no_memory(err);
    store_entry entry;
    str path = log_path_file(t->root, winner->version, ".json", scratch);
    silt_status status = str_is_null(path) ? error_no_memory(err) : store_stat(t->env->store, path, scratch, &entry, err);
    if (status == SILT_OK) t->base_time_ms = entry.modified_ms;
    arena_free(scratch);
    return status;
}

/* ---- all of them ---- */

silt_status conflict_check(delta_txn *t, const delta_commit *winner, silt_error *err) {
    const delta_protocol *old = t->protocol;
    TRY(check_protocol(t, winner, err));
    TRY(check_metadata(t, winner, err));
    TRY(check_work_stands(t, old, winner, err));
    TRY(check_still_writable(t, winner, err));
    TRY(check_domains(t, winner, err));
    TRY(check_txn_ids(t, winner, err));
    TRY(resolve_backfill(t, winner, err));
    rebase_row_ids(t, winner);
    TRY(check_added_files(t, winner, err));
    TRY(check_removed_against_reads(t, winner, err));
    TRY(check_removed_against_removes(t, winner, err));
    TRY(rebase_time(t, winner, err));
    t->base_version = winner->version;
    return SILT_OK;
}

/* Operations that only rearrange rows or do not touch them. */
static bool never_changes_data(const char *operation) {
    static const char *const names[] = {"OPTIMIZE", "REORG", "VACUUM START", "VACUUM END", "Empty Commit", "COMPUTE STATS", "ROW TRACKING BACKFILL",
                                        "ROW TRACKING UNBACKFILL", "Deletion Vector Tombstones", "SET TBLPROPERTIES", "UNSET TBLPROPERTIES"};
    for (size_t i = 0; operation && i < ARRAY_LEN(names); i++)
        if (strcmp(operation, names[i]) == 0) return true;
    return false;
}

bool txn_has_data_change(const delta_txn *t) {
    for (size_t i = 0; i < t->n_files; i++)
        if (t->files[i].is_remove ? t->files[i].as.remove.data_change : t->files[i].as.add.data_change) return true;
    return false;
}

/* A commit of nothing but file actions that change no data cannot break a reader's order: it needs snapshot isolation only. */
str conflict_isolation_level(const delta_txn *t, const char *operation) {
    str level = delta_config_str(&txn_metadata(t)->configuration, "delta.isolationLevel");
    bool write_serializable = str_eqz(level, "WriteSerializable");
    bool only_files = !t->new_protocol && !t->new_metadata && t->n_txn_ids == 0 && t->n_domains == 0;
    if (only_files && !txn_has_data_change(t) && (!write_serializable || never_changes_data(operation))) return STR("SnapshotIsolation");
    return write_serializable ? STR("WriteSerializable") : STR("Serializable");
}
