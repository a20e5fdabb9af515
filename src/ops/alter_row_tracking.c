/*
 * Row ids for the rows that are there (PROTOCOL.md "Row Tracking"). Enabling promises an id for every row, so before the property is set the feature goes into the protocol
 * (from then on every writer gives ids to its new files), and the files of before are added again with ids. A writer that removes one of them meanwhile wins: the backfill reads
 * what it adds, and starts again from what is there then.
 */
#include "delta/action_write.h"
#include "delta/properties.h"
#include "delta/protocol_upgrade.h"
#include "ops/alter_run.h"

#define FILES_PER_COMMIT 100000 /* as Spark */

static silt_status upgrade_parameters(alter_run *run) {
    const delta_protocol *p = &run->target.protocol;
    buf text;
    buf_init(&text, BUF_MAX_DEFAULT);
    buf_printf(&text, "{\"minReaderVersion\":%d,\"minWriterVersion\":%d,\"readerFeatures\":", p->min_reader_version, p->min_writer_version);
    for (int writer = 0; writer < 2; writer++) {
        bool has = writer ? p->has_writer_features : p->has_reader_features;
        const str *names = writer ? p->writer_features : p->reader_features;
        size_t n = writer ? p->n_writer_features : p->n_reader_features;
        buf_append_z(&text, has ? "[" : "null");
        for (size_t i = 0; has && i < n; i++) {
            if (i) buf_append_char(&text, ',');
            json_write_str(&text, names[i]);
        }
        if (has) buf_append_char(&text, ']');
        buf_append_z(&text, writer ? "}" : ",\"writerFeatures\":");
    }
    json_object j;
    ops_json_object_begin(&j);
    if (!buf_ok(&text)) j.text.failed = true;
    ops_json_object_str(&j, "newProtocol", buf_str(&text));
    run->parameters = ops_json_object_end(&j, run->o->a);
    buf_dispose(&text);
    return str_is_null(run->parameters) ? error_no_memory(run->o->err) : SILT_OK;
}

static silt_status upgrade(alter_run *run) {
    const char *feature = "rowTracking";
    delta_protocol with;
    ops_write_target_init(&run->target, run->snapshot);
    if (delta_protocol_has(&run->target.protocol, feature)) return SILT_OK;
    TRY(delta_protocol_add_features(&run->target.protocol, &feature, 1, run->o->a, &with, run->o->err));
    run->target.protocol = with;
    run->target.protocol_changed = true;
    run->operation = "UPGRADE PROTOCOL";
    TRY(upgrade_parameters(run));
    TRY(alter_commit(run, NULL, NULL));
    return alter_move_on(run);
}

typedef struct backfill {
    delta_txn *txn;
    size_t staged;
    bool more;
} backfill;

static silt_status stage_file(void *ctx, size_t i, const delta_add *add, silt_error *err) {
    backfill *b = ctx;
    (void)i;
    if (add->base_row_id >= 0) return SILT_OK;
    if (b->staged == FILES_PER_COMMIT) {
        b->more = true;
        return SILT_OK;
    }
    delta_add again = *add;
    again.data_change = false;
    again.default_row_commit_version = -1;
    b->staged++;
    TRY(delta_txn_read_file(b->txn, add->path, err));
    return delta_txn_add(b->txn, &again, err);
}

static silt_status stage_files(alter_run *run, delta_txn *txn, void *ctx) {
    backfill *b = ctx;
    b->txn = txn;
    return delta_snapshot_each_file(run->snapshot, true, stage_file, b, run->o->err);
}

static silt_status has_no_row_id(void *ctx, size_t i, const delta_add *add, silt_error *err) {
    (void)i;
    (void)err;
    if (add->base_row_id < 0) *(bool *)ctx = true;
    return SILT_OK;
}

static silt_status one_batch(alter_run *run, int64_t number, bool *out_more) {
    const op *o = run->o;
    backfill b = {.more = false};
    run->operation = "ROW TRACKING BACKFILL";
    run->parameters = arena_printf(o->a, "{\"batchId\":\"%lld\"}", (long long)number);
    if (str_is_null(run->parameters)) return error_no_memory(o->err);
    TRY(alter_commit(run, stage_files, &b));
    *out_more = b.more;
    return alter_move_on(run);
}

silt_status alter_row_tracking_backfill(alter_run *run) {
    if (delta_config_bool(&delta_snapshot_metadata(run->snapshot)->configuration, "delta.rowTrackingSuspended"))
        return err_UNSUPPORTED_FEATURE(run->o->err, "enabling row tracking while it is suspended; set delta.rowTrackingSuspended=false in a statement before");
    TRY(upgrade(run));
    bool missing = false;
    TRY(delta_snapshot_each_file(run->snapshot, false, has_no_row_id, &missing, run->o->err));
    for (int64_t i = 0; missing; i++) TRY(one_batch(run, i, &missing));
    return SILT_OK;
}
