/* The history of a table: the commits that are still in the log, newest first, each with its time and its commitInfo as it was
 * written. */
#include "base/time.h"
#include "delta/commit_read.h"
#include "delta/commit_times.h"

static silt_status read_entry(const delta_env *env, str root, const ict_range *ict, arena *a, delta_history_entry *e,
                              silt_error *err) {
    const json_node *node;
    TRY(delta_commit_info_read(env, root, e->version, a, &e->commit_info, err));
    if (!ict->enabled || e->version < ict->from_version || !e->commit_info.ptr) return SILT_OK;
    arena *local = arena_new();
    if (!local) return error_no_memory(err);
    if (json_parse(e->commit_info, local, &node, NULL) == SILT_OK)
        e->timestamp_ms = json_get_i64(node, "inCommitTimestamp", e->timestamp_ms);
    arena_free(local);
    return SILT_OK;
}

silt_status delta_history(const delta_env *env, str root, int64_t limit, arena *a, delta_history_entry **out, size_t *out_count,
                          silt_error *err) {
    log_listing l;
    commit_time *times;
    ict_range ict;
    size_t n;
    TRY(log_list(env, root, 0, a, &l, err));
    TRY(commit_times(&l, a, &times, &n, err));
    if (n == 0) return err_DELTA_TABLE_NOT_FOUND(err, delta_table_name(env, root, a));
    TRY(ict_range_load(env, root, times[n - 1].version, a, &ict, err));
    size_t wanted = limit >= 0 && (uint64_t)limit < n ? (size_t)limit : n;
    delta_history_entry *entries = ARENA_ARRAY(a, wanted, delta_history_entry);
    if (!entries) return error_no_memory(err);
    for (size_t i = 0; i < wanted; i++) {
        TRY(cancel_check(env->cancel, err));
        entries[i] = (delta_history_entry){.version = times[n - 1 - i].version, .timestamp_ms = times[n - 1 - i].time_ms};
        TRY(read_entry(env, root, &ict, a, &entries[i], err));
    }
    *out = entries;
    *out_count = wanted;
    return SILT_OK;
}
