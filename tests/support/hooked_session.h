/**
 * A session whose every storage call first asks a function, in the thread that makes the call. The function may do what other sessions do just then (run their
 * statements, wait for them) and may order a fault; see store_fault_fn.
 */
#ifndef SUPPORT_HOOKED_SESSION_H
#define SUPPORT_HOOKED_SESSION_H

#include "silt/silt.h"
#include "store/store.h"

/** A scheme of the session's registry, beside "file": the same local files under URIs, as the tables of a store are named. */
#define HOOKED_SCHEME "box"

typedef struct hooked_session {
    silt_session *session;
    store *local; /**< under the fault store */
    store_fault_fn before;
    void *ctx;
} hooked_session;

/** @param keys,values  settings, as silt_session_options has them */
silt_status hooked_session_open(hooked_session *h, const char *const *keys, const char *const *values, size_t n, store_fault_fn before, void *ctx, silt_error *err);
void hooked_session_close(hooked_session *h);

/** Run a statement to its end and drop its rows. */
silt_status session_execute(silt_session *s, const char *sql, silt_error *err);
/** The one BIGINT of a query. */
silt_status session_number(silt_session *s, const char *sql, int64_t *out, silt_error *err);

/** A call that makes a commit appear: a put of a log entry. */
bool is_commit_put(const char *call, str path);

#endif
