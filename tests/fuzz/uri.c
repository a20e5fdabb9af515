/* Locations and escaping over any bytes: what is escaped comes back, and a path once normalized stays as it is. */
#include <assert.h>

#include "base/uri.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_location(str text, arena *a) {
    uri u, again;
    if (uri_parse(text, a, &u, NULL) != SILT_OK) return;
    assert(u.scheme.len > 0 && u.path.len > 0 && u.path.ptr[0] == '/');
    if (!str_eqz(u.scheme, "file") || u.authority.len > 0) return;
    silt_status status = uri_parse(u.path, a, &again, NULL); /* a local path is a location of its own */
    assert(status == SILT_OK && str_eq(again.path, u.path));
    assert(str_eq(path_normalize(a, u.path), u.path));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    str text = {(const char *)data, size};
    arena *a = arena_new();
    if (!a) return 0;
    check_location(text, a);
    assert(str_eq(uri_decode(uri_encode_path(text, a), a), text));
    assert(str_eq(hive_unescape(hive_escape(text, a), a), text));
    assert(str_find_char(hive_escape(text, a), '/') == SIZE_MAX);
    assert(uri_decode(text, a).len <= size);
    str normal = path_normalize(a, text);
    assert(str_eq(path_normalize(a, normal), normal));
    str joined = path_join(a, path_parent(normal), path_name(normal));
    if (normal.len > 1 && normal.ptr[0] == '/') assert(str_eq(joined, normal));
    arena_free(a);
    return 0;
}
