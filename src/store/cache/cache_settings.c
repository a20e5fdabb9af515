/* What the session says of the read cache. */
#include <stdlib.h>

#include "store/cache/cache.h"
#include "store/settings.h"
#include "store/store.h"

str store_cache_default_dir(arena *a) {
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    if (cache && cache[0] == '/') return arena_printf(a, "%s/silt/data", cache);
    return home && home[0] == '/' ? arena_printf(a, "%s/.cache/silt/data", home) : STR_NULL;
}

/* 1048576, 512mb, 10g: Spark's way to write sizes. */
static bool parse_bytes(str text, int64_t *out) {
    static const struct { const char *unit; int shift; } units[] = {{"b", 0}, {"k", 10}, {"kb", 10}, {"m", 20}, {"mb", 20}, {"g", 30}, {"gb", 30}, {"t", 40}, {"tb", 40}};
    size_t n = 0;
    int64_t number;
    while (n < text.len && text.ptr[n] >= '0' && text.ptr[n] <= '9') n++;
    if (!str_to_i64(str_slice(text, 0, n), &number)) return false;
    str unit = str_trim(str_slice(text, n, text.len));
    int shift = unit.len == 0 ? 0 : -1;
    for (size_t i = 0; i < ARRAY_LEN(units); i++)
        if (str_eq_ascii_fold(unit, str_of(units[i].unit))) shift = units[i].shift;
    if (shift < 0 || number > INT64_MAX >> shift) return false;
    *out = number << shift;
    return true;
}

/* A home that cannot hold it (read-only in a container, full, another user's) is as good as none. */
static bool is_usable(str dir) {
    cache_folder f;
    return !str_is_null(dir) && cache_folder_set(&f, dir, NULL) == SILT_OK && cache_folder_make(&f, NULL) == SILT_OK;
}

silt_status store_cache_settings_get(const store_settings *s, arena *a, store_cache_settings *out, silt_error *err) {
    str dir = store_setting(s, "silt.cache.dir"), size = store_setting(s, "silt.cache.maxSize");
    *out = (store_cache_settings){.dir = dir.len ? arena_str(a, dir) : store_cache_default_dir(a), .max_bytes = -1};
    if (dir.len && str_is_null(out->dir)) return error_no_memory(err);
    if (size.len && !parse_bytes(str_trim(size), &out->max_bytes)) return err_INVALID_PARAMETER_VALUE(err, STR("silt.cache.maxSize"), size, "a size such as 10gb, or 0 for none");
    if (out->max_bytes == 0 || (dir.len == 0 && !is_usable(out->dir))) out->dir = STR_NULL;
    return SILT_OK;
}
