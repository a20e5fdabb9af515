/** A work-sharing loop over threads, and a cancellation flag. */
#ifndef BASE_THREAD_H
#define BASE_THREAD_H

#include "base/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Processors this process may use (sched_getaffinity), at least 1. */
int thread_count_default(void);

/**
 * Call fn(ctx, i) for every i in [0, n) on up to `n_threads` threads (the caller's is one of them). The first failure (lowest i seen) stops the
 * handing out and is returned with its error. fn must use arenas of its own. n_threads <= 0 means thread_count_default().
 */
silt_status thread_for(int n_threads, size_t n, silt_status (*fn)(void *ctx, size_t i, silt_error *err), void *ctx, silt_error *err) MUST_CHECK;

/** Set from a signal handler or another thread; polled by long loops (cancel_check). `requested` is touched by the functions below alone, which are atomic. */
typedef struct cancel_token { volatile int requested; } cancel_token;
static inline void cancel_request(cancel_token *t, bool requested) { __atomic_store_n(&t->requested, requested, __ATOMIC_RELAXED); }
static inline bool cancel_is_requested(const cancel_token *t) { return t && __atomic_load_n(&t->requested, __ATOMIC_RELAXED); }
/** OPERATION_CANCELLED when requested; NULL token is never cancelled. */
silt_status cancel_check(const cancel_token *token, silt_error *err) MUST_CHECK;

#ifdef __cplusplus
}
#endif

#endif
