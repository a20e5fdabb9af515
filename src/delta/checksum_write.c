/*
 * Version checksums, N.crc: one JSON object with the totals of version N (PROTOCOL.md "Version Checksum File"). After a commit they come from the totals of the
 * version before and the commit's own actions; the table's files are not read again. What is not known for certain is left out, and where the required totals are
 * not known no file is written: readers must do without it anyway.
 */
#include "base/json.h"
#include "delta/action_write.h"
#include "delta/log_path.h"
#include "delta/properties.h"
#include "delta/txn_state.h"

#define KB INT64_C(1024)
#define MB (1024 * KB)
#define GB (1024 * MB)

/* Lower bounds of the file size bins, as Delta writes them. */
static const int64_t size_bins[] = {
    0, 8 * KB, 16 * KB, 32 * KB, 64 * KB, 128 * KB, 256 * KB, 512 * KB, 1 * MB, 2 * MB, 4 * MB, 8 * MB, 12 * MB, 16 *
    MB, 20 * MB, 24 * MB, 28 * MB, 32 * MB, 36 * MB, 40 * MB, 48 * MB, 56 * MB, 64 * MB, 72 * MB, 80 * MB, 88 * MB, 96 *
    MB, 104 * MB, 112 * MB, 120 * MB, 124 * MB, 128 * MB, 132 * MB, 136 * MB, 140 * MB, 144 * MB, 160 * MB, 176 * MB,
    192 * MB, 208 * MB, 224 * MB, 240 * MB, 256 * MB, 272 * MB, 288 * MB, 304 * MB, 320 * MB, 336 * MB, 352 * MB, 368 *
    MB, 384 * MB, 400 * MB, 416 * MB, 432 * MB, 448 * MB, 464 * MB, 480 * MB, 496 * MB, 512 * MB, 528 * MB, 544 * MB,
    560 * MB, 576 * MB, 640 * MB, 704 * MB, 768 * MB, 832 * MB, 896 * MB, 960 * MB, 1 * GB, 1088 * MB, 1152 * MB, 1216 *
    MB, 1280 * MB, 1344 * MB, 1408 * MB, 1536 * MB, 1664 * MB, 1792 * MB, 1920 * MB, 2 * GB, 2304 * MB, 2560 * MB, 2816
    * MB, 3 * GB, 3328 * MB, 3584 * MB, 3840 * MB, 4 * GB, 8 * GB, 16 * GB, 32 * GB, 64 * GB, 128 * GB, 256 * GB};
#define N_SIZE_BINS    ARRAY_LEN(size_bins)
#define N_DELETED_BINS 10

#define MAX_LISTED      1000  /* txn and domainMetadata actions; more are left out */
#define MAX_FILES_READ  5000  /* a table of so few files is counted when the chain of checksums is broken */

typedef struct totals {
    int64_t n_files, size_bytes;
    bool has_histogram;
    int64_t bin_files[N_SIZE_BINS], bin_bytes[N_SIZE_BINS];
    bool has_deleted;         /* the three below are known */
    int64_t deleted_records, n_dvs;
    int64_t deleted_bins[N_DELETED_BINS];
    const delta_txn_id *txns; /* NULL with n_txns 0: none, unless !has_lists */
    size_t n_txns;
    const delta_domain *domains;
    size_t n_domains;
    bool has_lists;
} totals;

/* ---- counting ---- */

static size_t size_bin(int64_t size) {
    size_t low = 0, high = N_SIZE_BINS;
    while (high - low > 1) {
        size_t middle = (low + high) / 2;
        if (size_bins[middle] <= size) low = middle;
        else high = middle;
    }
    return low;
}

/* 0, 1–9, 10–99, … 10,000,000–2^31-2, above. */
static size_t deleted_bin(int64_t records) {
    if (records <= 0) return 0;
    if (records >= INT32_MAX) return 9;
    size_t bin = 1;
    for (int64_t bound = 10; bin < 8 && records >= bound; bound *= 10) bin++;
    return bin;
}

static void count_file(totals *t, int64_t size, const delta_dv *dv, int64_t sign) {
    t->n_files += sign;
    t->size_bytes += sign * size;
    t->bin_files[size_bin(size)] += sign;
    t->bin_bytes[size_bin(size)] += sign * size;
    int64_t deleted = dv->storage ? dv->cardinality : 0;
    t->deleted_records += sign * deleted;
    t->n_dvs += dv->storage ? sign : 0;
    t->deleted_bins[deleted_bin(deleted)] += sign;
}

static silt_status count_live_file(void *ctx, size_t i, const delta_add *add, silt_error *err) {
    (void)i;
    (void)err;
    count_file(ctx, add->size_bytes, &add->dv, 1);
    return SILT_OK;
}

/* ---- the version before ---- */

static silt_status lists_from_snapshot(const delta_snapshot *s, totals *out, arena *mem, silt_error *err) {
    out->n_txns = delta_snapshot_n_txns(s);
    out->n_domains = delta_snapshot_n_domains(s);
    delta_txn_id *txns = ARENA_ARRAY(mem, out->n_txns + 1, delta_txn_id);
    delta_domain *domains = ARENA_ARRAY(mem, out->n_domains + 1, delta_domain);
    if (!txns || !domains) return error_no_memory(err);
    for (size_t i = 0; i < out->n_txns; i++) txns[i] = *delta_snapshot_txn(s, i);
    size_t kept = 0;
    for (size_t i = 0; i < out->n_domains; i++)
        if (!delta_snapshot_domain(s, i)->removed) domains[kept++] = *delta_snapshot_domain(s, i);
    out->n_domains = kept;
    out->txns = txns;
    out->domains = domains;
    out->has_lists = true;
    return SILT_OK;
}

static bool read_counts(const json_node *array, int64_t *out, size_t n) {
    if (!array || array->type != JSON_ARRAY || array->count != n) return false;
    for (size_t i = 0; i < n; i++)
        if (!json_node_i64(&array->values[i], &out[i])) return false;
    return true;
}

static bool same_bins(const json_node *boundaries) {
    int64_t found[N_SIZE_BINS];
    return read_counts(boundaries, found, N_SIZE_BINS) && memcmp(found, size_bins, sizeof size_bins) == 0;
}

static silt_status lists_from_checksum(const json_node *root, totals *out, arena *mem, silt_error *err) {
    const json_node *txns = json_get(root, "setTransactions"), *domains = json_get(root, "domainMetadata");
    if (!txns || txns->type != JSON_ARRAY || !domains || domains->type != JSON_ARRAY) return SILT_OK;
    delta_txn_id *t = ARENA_ARRAY(mem, txns->count + 1, delta_txn_id);
    delta_domain *d = ARENA_ARRAY(mem, domains->count + 1, delta_domain);
    if (!t || !d) return error_no_memory(err);
    for (size_t i = 0; i < txns->count; i++)
        t[i] = (delta_txn_id){json_get_str(&txns->values[i], "appId", STR("")), json_get_i64(&txns->values[i], "version", 0),
                              json_get_i64(&txns->values[i], "lastUpdated", -1)};
    for (size_t i = 0; i < domains->count; i++)
        d[i] = (delta_domain){json_get_str(&domains->values[i], "domain", STR("")), json_get_str(&domains->values[i], "configuration", STR("")),
                              json_get_bool(&domains->values[i], "removed", false)};
    out->txns = t;
    out->n_txns = txns->count;
    out->domains = d;
    out->n_domains = domains->count;
    out->has_lists = true;
    return SILT_OK;
}

/* *out_found false: no checksum of that version, or not one to build on. */
static silt_status totals_from_checksum(const delta_txn *t, int64_t version, arena *mem, totals *out, bool *out_found, silt_error *err) {
    buf text;
    const json_node *root = NULL;
    *out_found = false;
    str path = log_path_file(t->root, version, ".crc", mem);
    if (str_is_null(path)) return error_no_memory(err);
    buf_init(&text, 64 * MB);
    silt_status status = store_read(t->env->store, path, 0, -1, &text, NULL);
    if (status == SILT_OK) status = json_parse(buf_str(&text), mem, &root, NULL);
    buf_dispose(&text);
    if (status != SILT_OK) return status == SILT_NO_MEMORY ? error_no_memory(err) : SILT_OK;
    memset(out, 0, sizeof *out);
    const json_node *files = json_get(root, "numFiles"), *bytes = json_get(root, "tableSizeBytes");
    if (!files || !bytes || !json_node_i64(files, &out->n_files) || !json_node_i64(bytes, &out->size_bytes)) return SILT_OK;
    const json_node *histogram = json_get(root, "fileSizeHistogram");
    out->has_histogram = same_bins(json_get(histogram, "sortedBinBoundaries")) &&
                         read_counts(json_get(histogram, "fileCounts"), out->bin_files, N_SIZE_BINS) &&
                         read_counts(json_get(histogram, "totalBytes"), out->bin_bytes, N_SIZE_BINS);
    const json_node *deleted = json_get(root, "numDeletedRecordsOpt"), *dvs = json_get(root, "numDeletionVectorsOpt");
    out->has_deleted = deleted && dvs && json_node_i64(deleted, &out->deleted_records) && json_node_i64(dvs, &out->n_dvs) &&
                       read_counts(json_get(json_get(root, "deletedRecordCountsHistogramOpt"), "deletedRecordCounts"), out->deleted_bins,
                                   N_DELETED_BINS);
    *out_found = true;
    return lists_from_checksum(root, out, mem, err);
}

static silt_status totals_from_files(const delta_snapshot *s, arena *mem, totals *out, silt_error *err) {
    memset(out, 0, sizeof *out);
    out->has_histogram = out->has_deleted = true;
    TRY(delta_snapshot_each_file(s, false, count_live_file, out, err));
    return lists_from_snapshot(s, out, mem, err);
}

/* The snapshot that the transaction read is the version before: its totals are known, the histograms only from its checksum or by counting. */
static silt_status totals_before(const delta_txn *t, int64_t version, arena *mem, totals *out, bool *out_known, silt_error *err) {
    memset(out, 0, sizeof *out);
    *out_known = true;
    if (version == 0) {
        out->has_histogram = out->has_deleted = out->has_lists = true;
        return SILT_OK;
    }
    TRY(totals_from_checksum(t, version - 1, mem, out, out_known, err));
    if (t->read_version != version - 1) return SILT_OK; /* winners came between: their checksum or nothing */
    int64_t n_files = (int64_t)delta_snapshot_n_files(t->snapshot), size = delta_snapshot_size_bytes(t->snapshot);
    bool fits = *out_known && out->n_files == n_files && out->size_bytes == size;
    *out_known = true;
    if (!fits && n_files <= MAX_FILES_READ) return totals_from_files(t->snapshot, mem, out, err);
    if (!fits) {
        memset(out, 0, sizeof *out);
        out->n_files = n_files;
        out->size_bytes = size;
    }
    return lists_from_snapshot(t->snapshot, out, mem, err);
}

/* ---- this commit ---- */

/* false: a removed file of unknown size, so the totals are lost. */
static bool apply_files(const delta_txn *t, totals *out) {
    for (size_t i = 0; i < t->n_files; i++) {
        const file_action *f = &t->files[i];
        if (f->is_remove && f->as.remove.size_bytes < 0) return false;
        if (f->is_remove) count_file(out, f->as.remove.size_bytes, &f->as.remove.dv, -1);
        else count_file(out, f->as.add.size_bytes, &f->as.add.dv, 1);
    }
    return out->n_files >= 0 && out->size_bytes >= 0;
}

static silt_status apply_txns(const delta_txn *t, totals *out, arena *mem, silt_error *err) {
    delta_txn_id *all = ARENA_ARRAY(mem, out->n_txns + t->n_txn_ids + 1, delta_txn_id);
    if (!all) return error_no_memory(err);
    size_t n = 0;
    for (size_t i = 0; i < out->n_txns; i++) {
        bool replaced = false;
        for (size_t k = 0; k < t->n_txn_ids; k++) replaced |= str_eq(out->txns[i].app_id, t->txn_ids[k].app_id);
        if (!replaced) all[n++] = out->txns[i];
    }
    for (size_t k = 0; k < t->n_txn_ids; k++) all[n++] = t->txn_ids[k];
    out->txns = all;
    out->n_txns = n;
    return SILT_OK;
}

static silt_status apply_domains(const delta_txn *t, totals *out, arena *mem, silt_error *err) {
    delta_domain *all = ARENA_ARRAY(mem, out->n_domains + t->n_domains + 2, delta_domain);
    if (!all) return error_no_memory(err);
    bool new_mark = t->written_high_water > t->row_id_high_water;
    size_t n = 0;
    for (size_t i = 0; i < out->n_domains; i++) {
        bool replaced = new_mark && str_eqz(out->domains[i].domain, ROW_TRACKING_DOMAIN);
        for (size_t k = 0; k < t->n_domains; k++) replaced |= str_eq(out->domains[i].domain, t->domains[k].domain);
        if (!replaced) all[n++] = out->domains[i];
    }
    for (size_t k = 0; k < t->n_domains; k++)
        if (!t->domains[k].removed) all[n++] = t->domains[k];
    if (new_mark) {
        str text = arena_printf(mem, "{\"rowIdHighWaterMark\":%lld,\"domainName\":\"" ROW_TRACKING_DOMAIN "\"}", (long long)t->written_high_water);
        if (str_is_null(text)) return error_no_memory(err);
        all[n++] = (delta_domain){STR(ROW_TRACKING_DOMAIN), text, false};
    }
    out->domains = all;
    out->n_domains = n;
    return SILT_OK;
}

/* ---- writing ---- */

static void key_i64(buf *out, bool *first, const char *key, int64_t val) {
    json_write_key(out, first, key);
    json_write_i64(out, val);
}

static void write_counts(buf *out, const int64_t *items, size_t n) {
    buf_append_char(out, '[');
    for (size_t i = 0; i < n; i++) {
        if (i) buf_append_char(out, ',');
        buf_append_i64(out, items[i]);
    }
    buf_append_char(out, ']');
}

static void write_lists(buf *out, bool *first, const totals *t) {
    if (!t->has_lists || t->n_txns > MAX_LISTED || t->n_domains > MAX_LISTED) return;
    json_write_key(out, first, "setTransactions");
    buf_append_char(out, '[');
    for (size_t i = 0; i < t->n_txns; i++) {
        if (i) buf_append_char(out, ',');
        delta_write_txn_object(out, &t->txns[i]);
    }
    buf_append_char(out, ']');
    json_write_key(out, first, "domainMetadata");
    buf_append_char(out, '[');
    for (size_t i = 0; i < t->n_domains; i++) {
        if (i) buf_append_char(out, ',');
        delta_write_domain_object(out, &t->domains[i]);
    }
    buf_append_char(out, ']');
}

static void write_histogram(buf *out, bool *first, const totals *t) {
    if (!t->has_histogram) return;
    json_write_key(out, first, "fileSizeHistogram");
    buf_append_z(out, "{\"sortedBinBoundaries\":");
    write_counts(out, size_bins, N_SIZE_BINS);
    buf_append_z(out, ",\"fileCounts\":");
    write_counts(out, t->bin_files, N_SIZE_BINS);
    buf_append_z(out, ",\"totalBytes\":");
    write_counts(out, t->bin_bytes, N_SIZE_BINS);
    buf_append_char(out, '}');
}

typedef struct checksum_head {
    str txn_id;
    int64_t timestamp_ms; /* -1: no in-commit timestamps */
    const delta_protocol *protocol;
    const delta_metadata *metadata;
} checksum_head;

static void write_checksum(buf *out, const checksum_head *head, const totals *t) {
    bool first = true, dvs = t->has_deleted && delta_protocol_has(head->protocol, "deletionVectors");
    buf_append_char(out, '{');
    if (!str_is_null(head->txn_id)) {
        json_write_key(out, &first, "txnId");
        json_write_str(out, head->txn_id);
    }
    key_i64(out, &first, "tableSizeBytes", t->size_bytes);
    key_i64(out, &first, "numFiles", t->n_files);
    if (dvs) key_i64(out, &first, "numDeletedRecordsOpt", t->deleted_records);
    if (dvs) key_i64(out, &first, "numDeletionVectorsOpt", t->n_dvs);
    key_i64(out, &first, "numMetadata", 1);
    key_i64(out, &first, "numProtocol", 1);
    if (head->timestamp_ms >= 0) key_i64(out, &first, "inCommitTimestampOpt", head->timestamp_ms);
    write_lists(out, &first, t);
    json_write_key(out, &first, "metadata");
    delta_write_metadata_object(out, head->metadata);
    json_write_key(out, &first, "protocol");
    delta_write_protocol_object(out, head->protocol);
    write_histogram(out, &first, t);
    if (dvs) {
        json_write_key(out, &first, "deletedRecordCountsHistogramOpt");
        buf_append_z(out, "{\"deletedRecordCounts\":");
        write_counts(out, t->deleted_bins, N_DELETED_BINS);
        buf_append_char(out, '}');
    }
    buf_append_z(out, "}\n");
}

/* A checksum that is there already is never written over. It need not survive a crash of the machine: half of the cost of a commit would go into that. */
static silt_status put_checksum(const delta_env *env, str root, int64_t version, const checksum_head *head, const totals *t, arena *mem,
                                silt_error *err) {
    buf text;
    buf_init(&text, BUF_MAX_DEFAULT);
    write_checksum(&text, head, t);
    str path = log_path_file(root, version, ".crc", mem);
    silt_status status = buf_ok(&text) && !str_is_null(path) ? store_put(env->store, path, buf_str(&text), STORE_PUT_IF_ABSENT_RELAXED, err)
                                                             : error_no_memory(err);
    buf_dispose(&text);
    return status == SILT_EXISTS ? SILT_OK : status;
}

/* These write a file again that is live already, without removing it: totals by addition would count it twice. */
static bool adds_again(const char *operation) {
    return strcmp(operation, "COMPUTE STATS") == 0 || strcmp(operation, "ROW TRACKING BACKFILL") == 0 || strcmp(operation, "ROW TRACKING UNBACKFILL") == 0;
}

static silt_status write_incremental(delta_txn *t, int64_t version, arena *mem, silt_error *err) {
    totals now;
    bool known;
    TRY(totals_before(t, version, mem, &now, &known, err));
    if (!known || !apply_files(t, &now)) return SILT_OK;
    if (now.has_lists) {
        TRY(apply_txns(t, &now, mem, err));
        TRY(apply_domains(t, &now, mem, err));
    }
    checksum_head head = {str_of(t->uuid), t->timestamp_ms, txn_protocol(t), t->written_metadata ? t->written_metadata : txn_metadata(t)};
    return put_checksum(t->env, t->root, version, &head, &now, mem, err);
}

silt_status checksum_write_incremental(delta_txn *t, const delta_commit_info *info, int64_t version, silt_error *err) {
    if (adds_again(info->operation)) return SILT_OK;
    arena *mem = arena_new();
    if (!mem) return error_no_memory(err);
    silt_status status = write_incremental(t, version, mem, err);
    arena_free(mem);
    return status;
}

silt_status delta_checksum_write(const delta_snapshot *s, str txn_id, silt_error *err) {
    arena *mem = arena_new();
    if (!mem) return error_no_memory(err);
    totals now;
    silt_status status = totals_from_files(s, mem, &now, err);
    if (status == SILT_OK) {
        const delta_metadata *m = delta_snapshot_metadata(s);
        bool timestamps = delta_config_bool(&m->configuration, "delta.enableInCommitTimestamps");
        checksum_head head = {txn_id, timestamps ? delta_snapshot_commit_time_ms(s) : -1, delta_snapshot_protocol(s), m};
        status = put_checksum(delta_snapshot_env(s), delta_snapshot_root(s), delta_snapshot_version(s), &head, &now, mem, err);
    }
    arena_free(mem);
    return status;
}
