/*
 * The version checksum, PROTOCOL.md "Version Checksum File": what replay found, against what the writer of this version noted. A
 * file that cannot be read says nothing and is ignored; one that disagrees means that the log was tampered with or torn, and then
 * no answer is better than a wrong one.
 */
#include "delta/action_json.h"
#include "delta/snapshot.h"

#define CHECKSUM_MAX ((int64_t)256 << 20) /* small tables carry all their files in it */

static silt_status failed(const delta_snapshot *s, silt_error *err, const char *what, int64_t noted, int64_t found) {
    silt_status status = err_DELTA_TXN_LOG_FAILED_INTEGRITY(err, s->version, what);
    error_detail(err, "the checksum file says %lld, the log gives %lld", (long long)noted, (long long)found);
    return status;
}

static bool same_list(const str *a, size_t n, const str *b, size_t m) {
    if (n != m) return false;
    for (size_t i = 0; i < n; i++) {
        bool found = false;
        for (size_t k = 0; k < m && !found; k++) found = str_eq(a[i], b[k]);
        if (!found) return false;
    }
    return true;
}

static bool same_protocol(const delta_protocol *a, const delta_protocol *b) {
    return a->min_reader_version == b->min_reader_version && a->min_writer_version == b->min_writer_version &&
           same_list(a->reader_features, a->n_reader_features, b->reader_features, b->n_reader_features) &&
           same_list(a->writer_features, a->n_writer_features, b->writer_features, b->n_writer_features);
}

static bool same_map(const str_map *a, const str_map *b) {
    if (a->count != b->count) return false;
    for (size_t i = 0; i < a->count; i++) {
        bool found = false;
        for (size_t k = 0; k < b->count && !found; k++)
            found = str_eq(a->keys[i], b->keys[k]) && str_eq(a->values[i], b->values[k]);
        if (!found) return false;
    }
    return true;
}

static bool same_metadata(const delta_metadata *a, const delta_metadata *b) {
    return str_eq(a->id, b->id) && str_eq(a->schema_json, b->schema_json) &&
           same_list(a->partition_columns, a->n_partition_columns, b->partition_columns, b->n_partition_columns) &&
           same_map(&a->configuration, &b->configuration);
}

static bool is_object(const json_node *n) { return n && n->type == JSON_OBJECT; }

static silt_status verify_actions(const delta_snapshot *s, const json_node *crc, arena *a, silt_error *err) {
    const json_node *protocol = json_get(crc, "protocol"), *metadata = json_get(crc, "metadata");
    delta_protocol p;
    delta_metadata m;
    if (is_object(protocol) && action_parse_protocol(protocol->text, a, &p, NULL) == SILT_OK &&
        !same_protocol(&p, &s->table->protocol))
        return err_DELTA_TXN_LOG_FAILED_INTEGRITY(err, s->version, "the protocol differs");
    if (is_object(metadata) && action_parse_metadata(metadata->text, a, &m, NULL) == SILT_OK &&
        !same_metadata(&m, &s->table->metadata))
        return err_DELTA_TXN_LOG_FAILED_INTEGRITY(err, s->version, "the metadata differs");
    return SILT_OK;
}

/* Does it keep to its own specification? The required counts, one protocol and metadata, and an in-commit timestamp exactly where
 * these are on. Otherwise some tool made it up. */
static bool is_sound(const json_node *crc, arena *a, int64_t *out_files, int64_t *out_bytes) {
    const json_node *files = json_get(crc, "numFiles"), *bytes = json_get(crc, "tableSizeBytes"),
                    *protocol = json_get(crc, "protocol"), *metadata = json_get(crc, "metadata");
    delta_protocol p;
    delta_metadata m;
    if (!files || !json_node_i64(files, out_files) || !bytes || !json_node_i64(bytes, out_bytes)) return false;
    if (json_get_i64(crc, "numMetadata", 1) != 1 || json_get_i64(crc, "numProtocol", 1) != 1) return false;
    if (json_get_i64(crc, "inCommitTimestampOpt", -1) < 0 || !is_object(protocol) || !is_object(metadata)) return true;
    return action_parse_protocol(protocol->text, a, &p, NULL) == SILT_OK &&
           action_parse_metadata(metadata->text, a, &m, NULL) == SILT_OK && state_has_ict(&p, &m);
}

static silt_status verify(const delta_snapshot *s, const json_node *crc, arena *a, silt_error *err) {
    int64_t files, bytes, n_files = (int64_t)delta_snapshot_n_files(s);
    if (!is_sound(crc, a, &files, &bytes)) return SILT_OK;
    if (files != n_files) return failed(s, err, "the number of files differs", files, n_files);
    if (bytes != s->size_bytes) return failed(s, err, "the sum of the files' sizes differs", bytes, s->size_bytes);
    return verify_actions(s, crc, a, err);
}

silt_status checksum_verify(const delta_snapshot *s, const log_file *crc, silt_error *err) {
    if (crc->size_bytes > CHECKSUM_MAX) return SILT_OK;
    arena *a = arena_new();
    if (!a) return error_no_memory(err);
    buf text;
    const json_node *root;
    buf_init(&text, BUF_MAX_DEFAULT);
    silt_status status = SILT_OK;
    if (store_read(s->env->store, crc->path, 0, -1, &text, NULL) == SILT_OK &&
        json_parse(buf_str(&text), a, &root, NULL) == SILT_OK)
        status = verify(s, root, a, err);
    buf_dispose(&text);
    arena_free(a);
    return status;
}
