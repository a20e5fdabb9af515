/**
 * A store around a store that is like a remote one: every call is counted and takes the time that it is told to, local paths are not given out (but for writing), and it has an identity,
 * so that a read cache around it keeps what it reads from one opening to the next.
 */
#ifndef SUPPORT_REMOTE_LIKE_H
#define SUPPORT_REMOTE_LIKE_H

#include "store/store.h"

typedef struct remote_counts {
    uint64_t reads, stats, lists, puts, others; /**< calls; every one would be a request */
    int64_t bytes;                              /**< read */
    int most_in_flight;                         /**< reads at one moment */
} remote_counts;

/** Does not own `inner`. latency_us is added to every call. */
silt_status remote_like_open(store *inner, const char *identity, int64_t latency_us, store **out, silt_error *err) MUST_CHECK;
remote_counts remote_like_counts(const store *s);
void remote_like_reset(store *s);
static inline uint64_t remote_requests(remote_counts c) { return c.reads + c.stats + c.lists + c.puts + c.others; }

/** Called before each read with its number since the opening, from 1; may end the process. NULL: nothing. */
void remote_like_before_read(store *s, void (*fn)(void *ctx, uint64_t nth), void *ctx);

#endif
