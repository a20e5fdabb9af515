/* Which scheme leads to which store. Remote ones are opened behind the read cache. A new store is one row here. */
#include "api/stores.h"

static silt_status open_local(str authority, void *config, store **out, silt_error *err) {
    (void)authority;
    (void)config;
    return store_local_open(out, err);
}

/* A new store is one row. */
static const struct { const char *scheme; store_open_fn open; } back_ends[] = {
    {"s3", store_s3_open},
    {"s3a", store_s3a_open},
    {"s3n", store_s3n_open},
    {"hdfs", store_hdfs_open},
    {"webhdfs", store_webhdfs_open},
    {"swebhdfs", store_swebhdfs_open},
    {"viewfs", store_viewfs_open},
    {"abfss", store_azure_open},
    {"abfs", store_azure_open},
    {"wasbs", store_azure_open},
    {"wasb", store_azure_open},
    {"az", store_azure_open},
    {"gs", store_gcs_open},
    {"http", store_http_open},
    {"https", store_https_open},
};

static silt_status open_remote(str authority, void *config, store **out, silt_error *err) {
    const remote_store *remote = config;
    store_cache_settings cache;
    arena *a = arena_new();
    store *inner = NULL;
    if (!a) return error_no_memory(err);
    silt_status status = store_cache_settings_get(remote->settings, a, &cache, err);
    if (status == SILT_OK) status = remote->open(authority, (void *)(uintptr_t)remote->settings, &inner, err);
    if (status == SILT_OK) *out = inner;
    if (status == SILT_OK && !str_is_null(cache.dir)) status = store_cache_open(inner, &cache, out, err);
    if (status != SILT_OK) store_close(inner);
    arena_free(a);
    return status;
}

silt_status api_add_stores(store_registry *r, const store_settings *settings, remote_store *remotes, silt_error *err) {
    TRY(store_registry_add(r, "file", open_local, NULL, err));
    for (size_t i = 0; i < ARRAY_LEN(back_ends); i++) {
        size_t first = 0;
        while (back_ends[first].open != back_ends[i].open) first++;
        remotes[first] = (remote_store){back_ends[first].open, settings};
        TRY(store_registry_add(r, back_ends[i].scheme, open_remote, &remotes[first], err));
    }
    return SILT_OK;
}
