/** The storage back ends by URI scheme: the one table of them. */
#ifndef API_STORES_H
#define API_STORES_H

#include "store/settings.h"
#include "store/store.h"

/** What opening a remote store takes: its back end and the session's settings. Rows of one back end share one. */
typedef struct remote_store {
    store_open_fn open;
    const store_settings *settings;
} remote_store;

#define API_MAX_STORES 32

/** Adds every back end to `r`. `remotes` has room for API_MAX_STORES and lives, as `settings`, as long as `r`. */
silt_status api_add_stores(store_registry *r, const store_settings *settings, remote_store *remotes, silt_error *err) MUST_CHECK;

#endif
