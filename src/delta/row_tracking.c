/*
 * Fresh row ids: every added file takes the next numRecords ids above the table's high water mark, which is kept in the domain delta.rowTracking, and the version of
 * its commit (PROTOCOL.md "Row Tracking"). Ids are given anew at each attempt, because a winner may have taken them.
 */
#include "delta/properties.h"
#include "delta/stats_fetch.h"
#include "delta/txn_state.h"

#include "base/json.h"

bool row_tracking_is_on(const delta_protocol *p, const delta_metadata *m) {
    return p && m && delta_protocol_has(p, "rowTracking") && !delta_config_bool(&m->configuration, "delta.rowTrackingSuspended");
}

int64_t row_tracking_high_water(const delta_domain *domains, size_t n) {
    int64_t mark = -1;
    for (size_t i = 0; i < n; i++) {
        if (!str_eqz(domains[i].domain, ROW_TRACKING_DOMAIN) || domains[i].removed) continue;
        arena *scratch = arena_new();
        const json_node *root = NULL;
        if (scratch && json_parse(domains[i].configuration, scratch, &root, NULL) == SILT_OK) mark = json_get_i64(root, "rowIdHighWaterMark", -1);
        arena_free(scratch);
    }
    return mark;
}

silt_status row_tracking_assign(delta_txn *t, int64_t version, int64_t *out_high_water, silt_error *err) {
    *out_high_water = t->row_id_high_water;
    if (!row_tracking_is_on(txn_protocol(t), txn_metadata(t))) return SILT_OK;
    if (t->row_id_floor > *out_high_water) *out_high_water = t->row_id_floor;
    arena *scratch = arena_new();
    if (!scratch) return error_no_memory(err);
    silt_status status = SILT_OK;
    for (size_t i = 0; i < t->n_files && status == SILT_OK; i++) {
        file_action *f = &t->files[i];
        if (f->is_remove) continue;
        if (f->fresh_version) f->as.add.default_row_commit_version = version;
        if (!f->fresh_row_ids) continue;
        int64_t n;
        if (!stats_num_records(f->as.add.stats, scratch, &n) || n > INT64_MAX - 1 - *out_high_water) {
            status = err_DELTA_ROW_ID_ASSIGNMENT_WITHOUT_STATS(err);
            error_detail(err, "%.*s has no numRecords", STR_ARG(f->as.add.path));
        } else {
            f->as.add.base_row_id = *out_high_water + 1;
            *out_high_water += n;
        }
        arena_reset(scratch);
    }
    arena_free(scratch);
    return status;
}
