/** Log replay: commits → batches, in parallel, and action reconciliation, newest first. PROTOCOL.md "Action Reconciliation". */
#ifndef DELTA_REPLAY_H
#define DELTA_REPLAY_H

#include "delta/log_parse.h"
#include "delta/segment.h"

/** Ascending row numbers of one batch, shared by snapshots. */
typedef struct live_rows {
    int refs; /* atomic */
    uint32_t count;
    uint32_t rows[];
} live_rows;

/** What a snapshot shows of one batch. */
typedef struct batch_view {
    file_batch *batch;  /**< retained */
    live_rows *adds;    /**< NULL: every row is a live add */
    live_rows *removes; /**< NULL: none */
    uint32_t n_adds, n_removes;
    int64_t add_bytes; /**< sum of the live adds' sizes */
} batch_view;

static inline uint32_t batch_view_add(const batch_view *v, uint32_t i) { return v->adds ? v->adds->rows[i] : i; }
void batch_view_retain(const batch_view *v);
void batch_view_release(batch_view *v);

/** The outcome of parsing; everything ascending by version. */
typedef struct parsed_log {
    file_batch **batches; /**< frozen; one reference each, the caller's */
    size_t n_batches;
    raw_actions actions; /**< texts live as long as the arena */
    silt_status status;  /**< of the first piece that failed; other pieces may have given batches all the same */
    silt_error error;    /**< of that piece */
} parsed_log;

/**
 * Parse log files on env's threads. Fails only for want of memory: what is wrong with a file is in out->status, so that the
 * caller can look first whether a newer protocol forbids reading this log at all.
 * @param info_version  keep commitInfo of this version; -1: of none
 */
silt_status replay_parse(const delta_env *env, const log_file *files, size_t n_files, int64_t info_version, arena *a,
                         parsed_log *out, silt_error *err) MUST_CHECK;
void parsed_log_release(parsed_log *p); /**< gives the batches back */

/**
 * The live rows of batches, ascending by age: the newest action of each (path, deletion vector) counts. Retains the batches.
 * out_views[n]; on failure nothing is held.
 */
silt_status replay_reconcile(file_batch *const *batches, size_t n, int n_threads, batch_view *out_views,
                             silt_error *err) MUST_CHECK;
/**
 * The same for newer batches over views that are reconciled already: out_views[n_older + n_newer]. Cost: one look at each older
 * key.
 */
silt_status replay_reconcile_onto(const batch_view *older, size_t n_older, file_batch *const *newer, size_t n_newer,
                                  batch_view *out_views, silt_error *err) MUST_CHECK;

/** The keys of all live rows of views, to look up other actions in. Borrows the views. NULL on exhaustion. */
typedef struct live_keys live_keys;
live_keys *live_keys_new(const batch_view *views, size_t n);
void live_keys_free(live_keys *k);
bool live_keys_has(const live_keys *k, str path, const delta_dv *dv);

#endif
