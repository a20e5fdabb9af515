/*
 * From a time to a version, PROTOCOL.md "In-Commit Timestamps" ("Recommendations for Readers"); without those, the modification
 * times of the commit files, made strictly increasing. Only versions that can be rebuilt are considered.
 */
#include "base/time.h"
#include "delta/commit_read.h"
#include "delta/commit_times.h"

silt_status commit_times(const log_listing *l, arena *a, commit_time **out, size_t *out_count, silt_error *err) {
    commit_time *times = ARENA_ARRAY(a, l->count, commit_time);
    size_t n = 0;
    if (!times) return error_no_memory(err);
    for (size_t i = 0; i < l->count; i++) {
        if (l->files[i].name.kind != LOG_COMMIT) continue;
        int64_t t = l->files[i].modified_ms;
        if (n && t <= times[n - 1].time_ms) t = times[n - 1].time_ms + 1;
        times[n++] = (commit_time){.version = l->files[i].name.version, .time_ms = t};
    }
    *out = times;
    *out_count = n;
    return SILT_OK;
}

/* ---- in-commit timestamps ---- */

static silt_status read_ict(const delta_env *env, str root, int64_t version, arena *a, str *out_info, int64_t *out,
                            silt_error *err) {
    const json_node *node;
    *out = -1;
    TRY(delta_commit_info_read(env, root, version, a, out_info, err));
    if (out_info->ptr && json_parse(*out_info, a, &node, NULL) == SILT_OK) *out = json_get_i64(node, "inCommitTimestamp", -1);
    return SILT_OK;
}

silt_status ict_of_version(const delta_env *env, str root, int64_t version, int64_t *out, silt_error *err) {
    arena *a = arena_new();
    if (!a) return error_no_memory(err);
    str info = STR_NULL;
    silt_status status = read_ict(env, root, version, a, &info, out, err);
    if (status == SILT_OK && str_is_null(info))
        status = err_DELTA_MISSING_COMMIT_INFO(err, STR("inCommitTimestamp"), version);
    else if (status == SILT_OK && *out < 0)
        status = err_DELTA_MISSING_COMMIT_TIMESTAMP(err, version);
    arena_free(a);
    return status;
}

static int64_t property_i64(const delta_snapshot *s, const char *key, int64_t absent) {
    int64_t v;
    str text = delta_snapshot_property(s, key);
    return text.ptr && str_to_i64(str_trim(text), &v) ? v : absent;
}

silt_status ict_range_load(const delta_env *env, str root, int64_t latest, arena *a, ict_range *out, silt_error *err) {
    *out = (ict_range){.from_time_ms = INT64_MIN};
    str info;
    int64_t ict;
    silt_status status = read_ict(env, root, latest, a, &info, &ict, err);
    if (status != SILT_OK && status != SILT_NOT_FOUND) return status;
    if (status == SILT_OK && ict < 0) return SILT_OK; /* where they are on, every commit has one */
    delta_snapshot *s;
    TRY(delta_snapshot_load(env, root, latest, &s, err));
    out->enabled = str_eq_ascii_fold(delta_snapshot_property(s, "delta.enableInCommitTimestamps"), STR("true"));
    out->from_version = property_i64(s, "delta.inCommitTimestampEnablementVersion", 0);
    out->from_time_ms = property_i64(s, "delta.inCommitTimestampEnablementTimestamp", INT64_MIN);
    delta_snapshot_release(s);
    return SILT_OK;
}

/* ---- searching ---- */

typedef struct search {
    const delta_env *env;
    str root;
    commit_time *times;  /* ascending; time_ms by the files */
    size_t n, first_ict; /* times[first_ict …] count by their in-commit timestamps */
} search;

static silt_status time_of(const search *s, size_t i, int64_t *out, silt_error *err) {
    *out = s->times[i].time_ms;
    return i >= s->first_ict ? ict_of_version(s->env, s->root, s->times[i].version, out, err) : SILT_OK;
}

static silt_status time_text(int64_t ms, arena *a, str *out, silt_error *err) {
    buf b;
    buf_init(&b, 128);
    time_write_timestamp_short(&b, ms * 1000, ' ');
    *out = buf_take(&b, a);
    return out->ptr ? SILT_OK : error_no_memory(err);
}

static silt_status too_early(const search *s, int64_t asked, arena *a, silt_error *err) {
    int64_t first;
    str at, earliest;
    TRY(time_of(s, 0, &first, err));
    TRY(time_text(asked, a, &at, err));
    TRY(time_text(first, a, &earliest, err));
    return err_DELTA_TIMESTAMP_EARLIER_THAN_COMMIT_RETENTION(err, at, earliest);
}

static silt_status too_late(int64_t asked, int64_t last, arena *a, silt_error *err) {
    str at, latest;
    TRY(time_text(asked, a, &at, err));
    TRY(time_text(last, a, &latest, err));
    return err_DELTA_TIMESTAMP_GREATER_THAN_COMMIT(err, at, latest);
}

/* The last of times[lo, hi) at or before the time; *found false when none is. Times ascend in each of the two kinds. */
static silt_status last_before(const search *s, size_t lo, size_t hi, int64_t timestamp_ms, bool *found, size_t *out,
                               silt_error *err) {
    size_t from = lo;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        int64_t t;
        TRY(time_of(s, mid, &t, err));
        if (t <= timestamp_ms)
            lo = mid + 1;
        else
            hi = mid;
    }
    *found = lo > from;
    *out = lo - 1;
    return SILT_OK;
}

static silt_status find_version(const search *s, const ict_range *ict, int64_t timestamp_ms, arena *a, int64_t *out,
                                silt_error *err) {
    int64_t last;
    bool found = false;
    size_t at;
    TRY(time_of(s, s->n - 1, &last, err));
    if (timestamp_ms > last) return too_late(timestamp_ms, last, a, err);
    if (s->first_ict < s->n && timestamp_ms >= ict->from_time_ms)
        TRY(last_before(s, s->first_ict, s->n, timestamp_ms, &found, &at, err));
    if (!found) TRY(last_before(s, 0, s->first_ict < s->n ? s->first_ict : s->n, timestamp_ms, &found, &at, err));
    if (!found) return too_early(s, timestamp_ms, a, err);
    *out = s->times[at].version;
    return SILT_OK;
}

/* The commits that can be rebuilt, with their times. */
static silt_status load_times(const delta_env *env, str root, arena *a, search *out, silt_error *err) {
    log_listing l;
    TRY(log_list(env, root, 0, a, &l, err));
    int64_t earliest = log_listing_earliest(&l);
    if (log_listing_latest(&l) < 0) return err_DELTA_TABLE_NOT_FOUND(err, delta_table_name(env, root, a));
    *out = (search){.env = env, .root = root};
    TRY(commit_times(&l, a, &out->times, &out->n, err));
    while (out->n && (earliest < 0 || out->times[0].version < earliest)) {
        out->times++;
        out->n--;
    }
    return out->n ? SILT_OK : err_DELTA_NO_COMMITS_FOUND(err, delta_table_name(env, root, a));
}

static silt_status version_at(const delta_env *env, str root, int64_t timestamp_ms, arena *a, int64_t *out, silt_error *err) {
    search s;
    ict_range ict;
    TRY(load_times(env, root, a, &s, err));
    TRY(ict_range_load(env, root, s.times[s.n - 1].version, a, &ict, err));
    s.first_ict = s.n;
    if (ict.enabled)
        for (s.first_ict = 0; s.first_ict < s.n && s.times[s.first_ict].version < ict.from_version;) s.first_ict++;
    return find_version(&s, &ict, timestamp_ms, a, out, err);
}

silt_status delta_version_at(const delta_env *env, str root, int64_t timestamp_ms, int64_t *out_version, silt_error *err) {
    arena *a = arena_new();
    if (!a) return error_no_memory(err);
    silt_status status = version_at(env, root, timestamp_ms, a, out_version, err);
    arena_free(a);
    return status;
}

silt_status delta_version_range(const delta_env *env, str root, int64_t *out_earliest, int64_t *out_latest, silt_error *err) {
    arena *a = arena_new();
    if (!a) return error_no_memory(err);
    log_listing l;
    silt_status status = log_list(env, root, 0, a, &l, err);
    if (status == SILT_OK) {
        *out_earliest = log_listing_earliest(&l);
        *out_latest = log_listing_latest(&l);
        if (*out_latest < 0)
            status = err_DELTA_TABLE_NOT_FOUND(err, delta_table_name(env, root, a));
        else if (*out_earliest < 0)
            status = err_DELTA_TRUNCATED_TRANSACTION_LOG(err, delta_table_name(env, root, a), *out_latest);
    }
    arena_free(a);
    return status;
}
