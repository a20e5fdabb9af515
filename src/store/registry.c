/* Stores by scheme and authority. They are few and live as long as the registry, so two arrays and one lock are enough; a store is
 * opened under the lock, so that two threads never open the same one. */
#include <pthread.h>
#include <stdlib.h>

#include "base/uri.h"
#include "store/store.h"

typedef struct back_end {
    str scheme;
    store_open_fn open;
    void *config;
} back_end;

typedef struct opened {
    store_open_fn open; /* with config and authority: what it was opened by */
    void *config;
    str authority;
    store *store;
    bool outdated; /* settings have changed since */
} opened;

struct store_registry {
    pthread_mutex_t lock;
    arena *a; /* under lock, as all below */
    back_end *back_ends;
    size_t n_back_ends, back_end_capacity;
    opened *stores;
    size_t n_stores, store_capacity;
};

silt_status store_registry_new(store_registry **out, silt_error *err) {
    store_registry *r = calloc(1, sizeof *r);
    if (!r) return error_no_memory(err);
    r->a = arena_new();
    if (!r->a) {
        free(r);
        return error_no_memory(err);
    }
    pthread_mutex_init(&r->lock, NULL);
    *out = r;
    return SILT_OK;
}

void store_registry_free(store_registry *r) {
    if (!r) return;
    for (size_t i = r->n_stores; i > 0; i--) store_close(r->stores[i - 1].store);
    arena_free(r->a);
    pthread_mutex_destroy(&r->lock);
    free(r);
}

static back_end *find_back_end(const store_registry *r, str scheme) {
    for (size_t i = 0; i < r->n_back_ends; i++)
        if (str_eq(r->back_ends[i].scheme, scheme)) return &r->back_ends[i];
    return NULL;
}

static silt_status add_locked(store_registry *r, const char *scheme, store_open_fn open, void *config, silt_error *err) {
    back_end entry = {arena_str(r->a, str_of(scheme)), open, config};
    if (str_is_null(entry.scheme)) return error_no_memory(err);
    back_end *old = find_back_end(r, entry.scheme);
    if (old) {
        *old = entry;
        return SILT_OK;
    }
    bool ok = ARENA_PUSH(r->a, r->back_ends, r->n_back_ends, r->back_end_capacity, entry);
    return ok ? SILT_OK : error_no_memory(err);
}

silt_status store_registry_add(store_registry *r, const char *scheme, store_open_fn open, void *config, silt_error *err) {
    pthread_mutex_lock(&r->lock);
    silt_status status = add_locked(r, scheme, open, config, err);
    pthread_mutex_unlock(&r->lock);
    return status;
}

void store_registry_renew(store_registry *r) {
    pthread_mutex_lock(&r->lock);
    for (size_t i = 0; i < r->n_stores; i++)
        if (r->stores[i].config) r->stores[i].outdated = true;
    pthread_mutex_unlock(&r->lock);
}

static silt_status open_locked(store_registry *r, const back_end *b, str authority, store **out, silt_error *err) {
    opened entry = {.open = b->open, .config = b->config, .authority = arena_str(r->a, authority)};
    bool local = str_eqz(b->scheme, "file");
    str prefix = local ? STR("file:") : arena_printf(r->a, "%.*s://%.*s", STR_ARG(b->scheme), STR_ARG(authority));
    if (str_is_null(entry.authority) || str_is_null(prefix)) return error_no_memory(err);
    TRY(b->open(entry.authority, b->config, &entry.store, err));
    for (store *s = entry.store; s; s = s->inner) s->uri_prefix = prefix.ptr;
    if (!ARENA_PUSH(r->a, r->stores, r->n_stores, r->store_capacity, entry)) {
        store_close(entry.store);
        return error_no_memory(err);
    }
    *out = entry.store;
    return SILT_OK;
}

static silt_status find_locked(store_registry *r, const uri *location, store **out, silt_error *err) {
    const back_end *b = find_back_end(r, location->scheme);
    for (size_t i = 0; b && i < r->n_stores; i++) {
        const opened *o = &r->stores[i];
        if (o->outdated || o->open != b->open || o->config != b->config || !str_eq(o->authority, location->authority)) continue;
        *out = o->store;
        return SILT_OK;
    }
    if (b) return open_locked(r, b, location->authority, out, err);
    str what = arena_printf(r->a, "locations that start with %.*s:", STR_ARG(location->scheme));
    return str_is_null(what) ? error_no_memory(err) : err_UNSUPPORTED_FEATURE(err, what.ptr);
}

silt_status store_registry_find(store_registry *r, str location, arena *a, store **out_store, str *out_path, silt_error *err) {
    uri parsed;
    TRY(uri_parse(location, a, &parsed, err));
    pthread_mutex_lock(&r->lock);
    silt_status status = find_locked(r, &parsed, out_store, err);
    pthread_mutex_unlock(&r->lock);
    if (status == SILT_OK) *out_path = parsed.path;
    return status;
}
