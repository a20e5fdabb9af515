/*
 * The commit loop: put-if-absent of the next version (PROTOCOL.md "Delta Log Entries", "Writer Requirements"). Exactly one writer gets a version.
 *
 *   attempt n:  build the entry for version base + 1  →  store_put(IF_ABSENT)
 *     done          the entry is there and carries our txnId
 *     taken         read that winner, and those after it, once each; check the conflict rules; attempt again after the last of them
 *     not known     the store failed or its reply was lost: read the entry back. Ours: done. Another's: taken. Not there: put the SAME bytes at the SAME version
 *                   again. That is safe even if the first request is still under way: whichever of the two lands, it is this commit, once.
 *
 * The table's state is not loaded again: what a winner changed is taken from its entry alone. When the store cannot be asked any more, the outcome is reported as
 * unknown (40003) and never guessed.
 */
#include "base/json.h"
#include "base/time.h"
#include "delta/action_write.h"
#include "delta/log_path.h"
#include "delta/metadata_copy.h"
#include "delta/properties.h"
#include "delta/snapshot.h"
#include "delta/txn_state.h"

#include <stdio.h>
#include <time.h>

#define MAX_COMMIT_ATTEMPTS 10000000 /* lost races, as Spark */
#define MAX_STORE_TRIES     10       /* failures of the store, as Spark */

/* ---- the entry ---- */

static bool in_commit_timestamps_on(const delta_metadata *m) {
    return m && delta_config_bool(&m->configuration, "delta.enableInCommitTimestamps");
}

static void set_timestamp(delta_txn *t) {
    t->timestamp_ms = -1;
    if (!in_commit_timestamps_on(txn_metadata(t))) return;
    int64_t now = time_now_ms();
    t->timestamp_ms = now > t->base_time_ms ? now : t->base_time_ms + 1;
}

#define CHECKPOINT_PROTECTION "delta.requireCheckpointProtectionBeforeVersion"

static bool set_number(delta_txn *t, delta_metadata *m, str key, int64_t number) {
    str text = arena_printf(t->arena, "%lld", (long long)number);
    return !str_is_null(text) && str_map_with(&m->configuration, key, text, t->arena, &m->configuration);
}

/* Properties that name this commit's own version or time: from where on in-commit timestamps count, when they are enabled after version 0, and up to where history needs
 * protection, when a feature is dropped. They change with every attempt. */
static silt_status set_written_metadata(delta_txn *t, int64_t version, silt_error *err) {
    t->written_metadata = t->new_metadata;
    if (!t->new_metadata || !t->snapshot) return SILT_OK;
    bool timestamps = in_commit_timestamps_on(t->new_metadata) && !in_commit_timestamps_on(t->metadata);
    str protected = str_map_get(&t->new_metadata->configuration, STR(CHECKPOINT_PROTECTION)), before = str_map_get(&t->metadata->configuration, STR(CHECKPOINT_PROTECTION));
    bool protection = t->new_protocol && txn_protocol_drops_features(t->protocol, t->new_protocol) && !str_is_null(protected) && !str_eq(protected, before);
    if (!timestamps && !protection) return SILT_OK;
    delta_metadata *m = ARENA_NEW(t->arena, delta_metadata);
    bool ok = m != NULL;
    if (ok) *m = *t->new_metadata;
    if (ok && timestamps)
        ok = set_number(t, m, STR("delta.inCommitTimestampEnablementVersion"), version) &&
             set_number(t, m, STR("delta.inCommitTimestampEnablementTimestamp"), t->timestamp_ms);
    if (ok && protection) ok = set_number(t, m, STR(CHECKPOINT_PROTECTION), version);
    if (!ok) return error_no_memory(err);
    t->written_metadata = m;
    return SILT_OK;
}

static void write_row_id_mark(buf *out, const delta_txn *t, int64_t mark) {
    if (mark <= t->row_id_high_water) return;
    char text[96];
    int n = snprintf(text, sizeof text, "{\"rowIdHighWaterMark\":%lld,\"domainName\":\"" ROW_TRACKING_DOMAIN "\"}", (long long)mark);
    delta_domain d = {STR(ROW_TRACKING_DOMAIN), {text, (size_t)n}, false};
    delta_write_domain(out, &d);
}

/* commitInfo, metaData, protocol, txn, files, domains: Spark's order. */
static silt_status write_entry(delta_txn *t, const delta_commit_info *info, int64_t version, buf *out, silt_error *err) {
    buf_clear(out);
    TRY(row_tracking_assign(t, version, &t->written_high_water, err));
    set_timestamp(t);
    TRY(set_written_metadata(t, version, err));
    commit_info_write(out, t, info);
    if (t->written_metadata) delta_write_metadata(out, t->written_metadata);
    if (t->new_protocol) delta_write_protocol(out, t->new_protocol);
    for (size_t i = 0; i < t->n_txn_ids; i++) delta_write_txn(out, &t->txn_ids[i]);
    for (size_t i = 0; i < t->n_files; i++) {
        file_action *f = &t->files[i];
        if (f->is_remove) delta_write_remove(out, &f->as.remove);
        else delta_write_add(out, &f->as.add);
    }
    for (size_t i = 0; i < t->n_cdcs; i++) delta_write_cdc(out, &t->cdcs[i]);
    for (size_t i = 0; i < t->n_domains; i++) delta_write_domain(out, &t->domains[i]);
    write_row_id_mark(out, t, t->written_high_water);
    return buf_ok(out) ? SILT_OK : error_no_memory(err);
}

/* ---- one version ---- */

typedef enum put_outcome { PUT_DONE, PUT_TAKEN } put_outcome;

typedef enum entry_owner { ENTRY_OURS, ENTRY_OTHERS, ENTRY_ABSENT, ENTRY_UNREADABLE } entry_owner;

static bool is_ours(const delta_txn *t, str commit_info, arena *scratch) {
    const json_node *root = NULL;
    return !str_is_null(commit_info) && json_parse(commit_info, scratch, &root, NULL) == SILT_OK &&
           str_eqz(json_get_str(root, "txnId", STR_NULL), t->uuid);
}

/* Whose entry is at this version now? */
static entry_owner read_back(const delta_txn *t, int64_t version, silt_error *err) {
    arena *scratch = arena_new();
    if (!scratch) {
        (void)error_no_memory(err);
        return ENTRY_UNREADABLE;
    }
    str text = STR_NULL;
    entry_owner owner = ENTRY_OTHERS;
    silt_status status = delta_commit_info_read(t->env, t->root, version, scratch, &text, err);
    if (status == SILT_NOT_FOUND) owner = ENTRY_ABSENT;
    else if (status != SILT_OK) owner = ENTRY_UNREADABLE;
    else if (is_ours(t, text, scratch)) owner = ENTRY_OURS;
    arena_free(scratch);
    return owner;
}

static void wait_before_try(int tries) {
    static const int64_t base_ns = 500000, max_ns = 50000000;
    if (tries < 2) return;
    int64_t ns = base_ns << (tries < 8 ? tries : 8);
    struct timespec pause = {0, ns < max_ns ? ns : max_ns};
    (void)nanosleep(&pause, NULL);
}

/* Failures that asking again does not mend. */
static bool is_final(silt_status status) {
    return status == SILT_DENIED || status == SILT_NO_SPACE || status == SILT_NO_MEMORY || status == SILT_CANCELLED || status == SILT_INVALID ||
           status == SILT_UNSUPPORTED;
}

static silt_status outcome_unknown(const delta_txn *t, int64_t version, const silt_error *cause, silt_error *err) {
    silt_status status = err_COMMIT_OUTCOME_UNKNOWN(err, version);
    error_detail(err, "txnId %s; the store said: %s", t->uuid, cause->message);
    return status;
}

static silt_status put_entry(delta_txn *t, const delta_commit_info *info, int64_t version, str path, str text, put_outcome *out,
                             silt_error *err) {
    silt_error failure = {.status = SILT_OK}, asked = {.status = SILT_OK};
    bool may_be_under_way = false; /* a put whose end nobody saw */
    entry_owner owner = ENTRY_ABSENT;
    for (int tries = 0; tries < MAX_STORE_TRIES; tries++) {
        if (!info->no_pauses) wait_before_try(tries);
        silt_status status = store_put(t->env->store, path, text, STORE_PUT_IF_ABSENT, &failure);
        *out = PUT_DONE;
        if (status == SILT_OK) return SILT_OK;
        if (status == SILT_UNKNOWN) may_be_under_way = true;
        owner = read_back(t, version, &asked);
        if (owner == ENTRY_OURS) return SILT_OK;
        *out = PUT_TAKEN;
        if (owner == ENTRY_OTHERS) return SILT_OK;
        if (owner == ENTRY_ABSENT && is_final(status)) break;
        if (owner == ENTRY_UNREADABLE && cancel_is_requested(t->env->cancel)) break; /* nobody waits for a store that does not answer */
    }
    if (may_be_under_way || owner == ENTRY_UNREADABLE) return outcome_unknown(t, version, owner == ENTRY_UNREADABLE ? &asked : &failure, err);
    if (err) *err = failure;
    return failure.status;
}

/* ---- lost races ---- */

static silt_status table_exists_by_now(const delta_txn *t, const delta_commit *winner, silt_error *err) {
    arena *scratch = arena_new();
    silt_status status = err_DELTA_TABLE_ALREADY_EXISTS(err, txn_table_name(t));
    if (scratch)
        error_detail(err, "version %lld was committed meanwhile by %.*s", (long long)winner->version,
                     STR_ARG(commit_info_operation(winner->commit_info, scratch)));
    arena_free(scratch);
    return status;
}

/*
 * Every winner from `version` on, once; after the last one t->base_version is the newest version there is. *out_ours: the "winner" is this very commit after all
 * (an entry that could not be read whole when it was read back), at t->base_version + 1.
 */
static silt_status catch_up(delta_txn *t, int64_t version, bool *out_ours, silt_error *err) {
    *out_ours = false;
    for (int64_t v = version;; v++) {
        arena *scratch = arena_new();
        if (!scratch) return error_no_memory(err);
        delta_commit winner;
        silt_error reading = {.status = SILT_OK};
        silt_status status = delta_commit_read(t->env, t->root, v, scratch, &winner, &reading);
        bool at_end = status == SILT_NOT_FOUND && v > version;
        if (status == SILT_OK) *out_ours = is_ours(t, winner.commit_info, scratch);
        if (status == SILT_OK && !*out_ours) status = t->snapshot ? conflict_check(t, &winner, err) : table_exists_by_now(t, &winner, err);
        else if (status != SILT_OK && !at_end && err) *err = reading;
        arena_free(scratch);
        if (at_end || *out_ours) return SILT_OK;
        if (status != SILT_OK) return status;
    }
}

/* ---- before the first attempt ---- */

static silt_status replaced_underneath(const delta_txn *t, const char *what, silt_error *err) {
    silt_status status = err_DELTA_TABLE_ID_MISMATCH(err, txn_table_name(t));
    error_detail(err, "%s version %lld, which was read, is not the one that is there now", what, (long long)t->read_version);
    return status;
}

/* The entry that was read is gone: its table too, or it was cleaned up and later ones are there. */
static silt_status check_what_is_left(const delta_txn *t, silt_error *err) {
    int64_t earliest, latest;
    silt_error asked = {.status = SILT_OK};
    silt_status status = delta_version_range(t->env, t->root, &earliest, &latest, &asked);
    if (status == SILT_NOT_FOUND || (status == SILT_OK && latest < t->read_version)) return replaced_underneath(t, "the log ends before", err);
    if (status != SILT_OK) {
        if (err) *err = asked;
        return status;
    }
    if (earliest <= t->read_version + 1) return SILT_OK;
    status = err_DELTA_CONCURRENT_WRITE(err, STR("the log was cleaned up past the version that was read"));
    error_detail(err, "version %lld was read, the log begins at %lld now", (long long)t->read_version, (long long)earliest);
    return status;
}

typedef enum log_now { LOG_SAME, LOG_REPLACED, LOG_ENTRY_GONE } log_now;

static silt_status compare_table_ids(const delta_txn *t, log_now *out, silt_error *err) {
    delta_snapshot *now;
    TRY(delta_snapshot_load(t->env, t->root, t->read_version, &now, err));
    *out = str_eq(delta_snapshot_metadata(now)->id, delta_snapshot_metadata(t->snapshot)->id) ? LOG_SAME : LOG_REPLACED;
    delta_snapshot_release(now);
    return SILT_OK;
}

/*
 * Is the entry of the version that was read the one that is there? Another time alone says nothing: who makes up for a writer that died (commits by DynamoDB), or restores
 * a backup, writes the same bytes again. Then the table's id tells.
 */
static silt_status compare_log(const delta_txn *t, log_now *out, silt_error *err) {
    const delta_snapshot *s = t->snapshot;
    store_entry entry;
    silt_error asked = {.status = SILT_OK};
    str path = log_path_file(t->root, t->read_version, ".json", t->arena);
    if (str_is_null(path)) return error_no_memory(err);
    silt_status status = store_stat(t->env->store, path, t->arena, &entry, &asked);
    *out = status == SILT_NOT_FOUND ? LOG_ENTRY_GONE : LOG_SAME;
    if (status != SILT_OK && status != SILT_NOT_FOUND) {
        if (err) *err = asked;
        return status;
    }
    if (*out == LOG_ENTRY_GONE || s->commit_size < 0 || (entry.size_bytes == s->commit_size && store_times_agree(t->env->store, entry.modified_ms, s->commit_modified_ms)))
        return SILT_OK;
    if (entry.size_bytes == s->commit_size) return compare_table_ids(t, out, err);
    *out = LOG_REPLACED;
    return SILT_OK;
}

/*
 * A version that is absent may have been cleaned up rather than never written (0.json of an old table for a CREATE), and the whole table may have been replaced by another
 * one: putting the next version would then corrupt a log. As long as the entry that was read is there as it was, the next one can only be missing because
 * nobody has written it: clean-up goes from the oldest up.
 */
static silt_status check_same_log(const delta_txn *t, silt_error *err) {
    if (!t->snapshot) {
        bool exists;
        TRY(delta_table_exists(t->env, t->root, &exists, err));
        return exists ? err_DELTA_TABLE_ALREADY_EXISTS(err, txn_table_name(t)) : SILT_OK;
    }
    log_now now;
    TRY(compare_log(t, &now, err));
    if (now == LOG_ENTRY_GONE) return check_what_is_left(t, err);
    return now == LOG_SAME ? SILT_OK : replaced_underneath(t, "the entry of", err);
}

/* ---- after the put ---- */

/* Does a listing show what the table of the version read had: its entry, or a checkpoint? */
static bool is_listed_still(const delta_txn *t) {
    store_list_result found = {0};
    bool has = false;
    str dir = arena_printf(t->arena, "%.*s/_delta_log", STR_ARG(t->root)), path = log_path_file(t->root, t->read_version, ".json", t->arena);
    if (str_is_null(dir) || str_is_null(path) || store_list(t->env->store, dir, STR_NULL, false, t->arena, &found, NULL) != SILT_OK) return true;
    for (size_t i = 0; i < found.count; i++) has |= str_eq(found.items[i].path, path) || str_find(found.items[i].path, STR(".checkpoint.")) != SIZE_MAX;
    return has;
}

/* Is the entry that was read still there, or gone by clean-up alone? Only what is known for sure is a no: a committed entry is at stake. */
static bool is_same_log_still(const delta_txn *t) {
    log_now now;
    if (compare_log(t, &now, NULL) != SILT_OK) return true;
    return now == LOG_ENTRY_GONE ? is_listed_still(t) : now == LOG_SAME;
}

/*
 * A table may be dropped between the look at its log and the put, which then makes the folder again, with one entry that belongs to nothing: the name could not be used any more,
 * and a table that was created there meanwhile would have a gap. Such an entry is taken back.
 */
static silt_status check_not_orphaned(const delta_txn *t, str path, silt_error *err) {
    if (!t->snapshot || is_same_log_still(t)) return SILT_OK;
    (void)!store_remove(t->env->store, path, NULL);
    str dir = str_slice(path, 0, str_rfind_char(path, '/'));
    (void)!store_remove_dir(t->env->store, dir, NULL);
    return replaced_underneath(t, "the table was dropped or replaced before the commit:", err);
}

/* Where rows are not tracked, ids of the caller's are dropped rather than written. */
static void drop_row_ids_if_untracked(delta_txn *t) {
    if (delta_protocol_has(txn_protocol(t), "rowTracking")) return;
    for (size_t i = 0; i < t->n_files; i++) {
        file_action *f = &t->files[i];
        if (f->is_remove) f->as.remove.base_row_id = f->as.remove.default_row_commit_version = -1;
        else f->as.add.base_row_id = f->as.add.default_row_commit_version = -1;
        f->fresh_row_ids = f->fresh_version = !f->is_remove;
    }
}

silt_status delta_txn_commit(delta_txn *t, const delta_commit_info *info, int64_t *out_version, silt_error *err) {
    TRY(commit_check(t, info, err));
    TRY(check_same_log(t, err));
    drop_row_ids_if_untracked(t);
    int64_t max_attempts = info->max_attempts > 0 ? info->max_attempts : MAX_COMMIT_ATTEMPTS;
    buf entry;
    buf_init(&entry, BUF_MAX_DEFAULT);
    silt_status status = SILT_OK;
    for (int64_t attempt = 0; attempt < max_attempts; attempt++) {
        int64_t version = t->base_version + 1;
        put_outcome outcome;
        bool ours = true;
        TRY_OUT(cancel_check(t->env->cancel, err));
        TRY_OUT(write_entry(t, info, version, &entry, err));
        str path = log_path_file(t->root, version, ".json", t->arena);
        if (str_is_null(path)) TRY_OUT(error_no_memory(err));
        TRY_OUT(put_entry(t, info, version, path, buf_str(&entry), &outcome, err));
        if (outcome == PUT_TAKEN) TRY_OUT(catch_up(t, version, &ours, err));
        if (!ours && t->before_retry) TRY_OUT(t->before_retry(t->before_retry_ctx, t->base_version, err));
        if (ours) {
            TRY_OUT(check_not_orphaned(t, path, err));
            t->committed = true;
            *out_version = version;
            post_commit(t, info, version);
            goto out;
        }
    }
    status = err_DELTA_MAX_COMMIT_RETRIES_EXCEEDED(err, max_attempts, t->base_version + 1);
out:
    buf_dispose(&entry);
    return status;
}
