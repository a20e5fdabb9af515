#include "support/remote_session.h"

#include "api/api.h"

static silt_status open_remote_like(str authority, void *config, store **out, silt_error *err) {
    remote_session *r = config;
    (void)authority;
    if (!r->local) TRY(store_local_open(&r->local, err));
    TRY(remote_like_open(r->local, "remote-like", r->latency_us, &r->remote, err));
    store_cache_settings settings = {.dir = str_of(r->cache_dir), .max_bytes = (int64_t)1 << 40, .poison = true};
    return store_cache_open(r->remote, &settings, out, err);
}

silt_status remote_session_hook(silt_session *s, remote_session *r, silt_error *err) {
    TRY(store_registry_add(s->stores, "file", open_remote_like, r, err));
    return store_registry_add(s->stores, "remote", open_remote_like, r, err);
}

void remote_session_end(remote_session *r) {
    store_close(r->local);
    r->local = r->remote = NULL;
}
