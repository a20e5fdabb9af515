/* Which scheme leads to which store. Remote ones are opened behind the read cache. A new store is one row here. */
#include "api/stores.h"

static silt_status open_local(str authority, void *config, store **out, silt_error *err) {
    (void)authority;
    (void)config;
    return store_local_open(out, err);
}

/* A new store is one row. */
static const struct { const char *scheme; store_open_fn open; } back_ends[] = {
    {"", NULL},
};

static silt_status open_remote(str authority, void *config, store **out, silt_error *err) {
    const remote_store *remote = config;
    return remote->open(authority, (void *)(uintptr_t)remote->settings, out, err);
}

silt_status api_add_stores(store_registry *r, const store_settings *settings, remote_store *remotes, silt_error *err) {
    TRY(store_registry_add(r, "file", open_local, NULL, err));
    for (size_t i = 0; i < ARRAY_LEN(back_ends); i++) {
        if (!back_ends[i].open) continue;
        size_t first = 0;
        while (back_ends[first].open != back_ends[i].open) first++;
        remotes[first] = (remote_store){back_ends[first].open, settings};
        TRY(store_registry_add(r, back_ends[i].scheme, open_remote, &remotes[first], err));
    }
    return SILT_OK;
}
