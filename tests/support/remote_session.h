/**
 * Sessions whose local files are as if they were in a remote store: every table, file and log is read through a read cache with poison where nothing was fetched, around a store that counts.
 */
#ifndef SUPPORT_REMOTE_SESSION_H
#define SUPPORT_REMOTE_SESSION_H

#include "silt/silt.h"
#include "support/remote_like.h"

typedef struct remote_session {
    const char *cache_dir;
    int64_t latency_us;
    store *local, *remote; /**< of the session that was opened last; the registry ends `remote` */
} remote_session;

/** From now on the session reads through `r`, which must outlive it. Before its first statement. The scheme "remote" leads there too. */
silt_status remote_session_hook(silt_session *s, remote_session *r, silt_error *err);
/** After the session has been closed. */
void remote_session_end(remote_session *r);

#endif
