/* The read cache of remote stores, as the session's settings say where it is. */
#include "api/api.h"

/* Of the public struct as far as the caller's version of it goes. */
static void give(const store_cache_usage *u, silt_cache_usage *out) {
    silt_cache_usage all = {.struct_size = out->struct_size, .bytes = u->bytes, .entries = u->entries, .hits = u->hits, .misses = u->misses, .bytes_hit = u->bytes_hit,
                            .bytes_fetched = u->bytes_fetched};
    memcpy(out, &all, out->struct_size < sizeof all ? out->struct_size : sizeof all);
}

static silt_status find_folder(silt_session *s, arena *a, str *out, silt_error *err) {
    store_cache_settings settings;
    TRY(store_cache_settings_get(&s->store_settings, a, &settings, err));
    *out = settings.dir;
    return SILT_OK;
}

const char *silt_cache_folder(silt_session *s) {
    arena *a = arena_new();
    str folder = STR_NULL;
    if (!a) return NULL;
    if (find_folder(s, a, &folder, NULL) != SILT_OK) folder = STR_NULL;
    buf_clear(&s->text);
    if (folder.ptr) buf_append(&s->text, folder);
    arena_free(a);
    return folder.ptr ? buf_cstr(&s->text) : NULL;
}

static silt_status with_folder(silt_session *s, silt_status (*fn)(str dir, store_cache_usage *out, silt_error *err), silt_cache_usage *out, silt_error *err) {
    arena *a = arena_new();
    store_cache_usage usage = {0};
    str folder = STR_NULL;
    if (!a) return error_no_memory(err);
    silt_status status = find_folder(s, a, &folder, err);
    if (status == SILT_OK && folder.ptr) status = fn(folder, &usage, err);
    arena_free(a);
    if (status == SILT_OK) give(&usage, out);
    return status;
}

silt_status silt_cache_show(silt_session *s, silt_cache_usage *out, silt_error *err) { return with_folder(s, store_cache_show, out, err); }
silt_status silt_cache_clear(silt_session *s, silt_cache_usage *out, silt_error *err) { return with_folder(s, store_cache_clear, out, err); }
