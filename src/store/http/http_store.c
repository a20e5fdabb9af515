/*
 * Tables on any web server, to read. HTTP has ranges, sizes and tags, but no listing and no conditional writing that servers agree on: writing is refused, and of folders only
 * a table's log can be listed (http_log.c).
 */
#include <stdlib.h>

#include "base/uri.h"
#include "store/http/http_store.h"

static silt_status http_request_fill(object_store *o, object_verb verb, str key, http_header *headers, http_request *out, arena *a, silt_error *err) {
    str encoded = http_encode(key, true, a);
    (void)headers;
    out->method = verb == OBJECT_STAT ? "HEAD" : "GET";
    out->follow = true;
    out->url = str_is_null(encoded) ? STR_NULL : arena_printf(a, "%.*s/%.*s", STR_ARG(o->where), STR_ARG(encoded));
    return str_is_null(out->url) ? error_no_memory(err) : SILT_OK;
}

bool http_info_parse(const http_response *r, arena *a, object_info *out) {
    str modified = http_header_get(r, "last-modified"), tag = http_header_get(r, "etag");
    (void)a;
    if (!http_date_parse(modified, &out->modified_ms)) out->modified_ms = 0;
    out->tag = str_is_null(tag) ? modified : tag;
    return str_to_i64(http_header_get(r, "content-length"), &out->size_bytes) && out->size_bytes >= 0;
}

static silt_status http_parse_info(object_store *o, const http_response *r, arena *a, object_info *out, silt_error *err) {
    return http_info_parse(r, a, out) ? SILT_OK : object_bad_answer(o, "Looking at", "it does not tell the length (Content-Length)", err);
}

/* ---- what is refused ---- */

static silt_status read_only(const store *s, const char *what, str path, silt_error *err) {
    const object_store *o = (const object_store *)s;
    silt_status status = err_STORE_READ_ONLY(err, what, path);
    error_detail(err, "The server is %.*s.", STR_ARG(o->where));
    return status;
}

static silt_status http_put(store *s, str path, str bytes, store_put_mode mode, silt_error *err) {
    (void)bytes;
    (void)mode;
    return read_only(s, "Writing", path, err);
}
static silt_status http_remove(store *s, str path, silt_error *err) { return read_only(s, "Removing", path, err); }
static silt_status http_make_dirs(store *s, str dir, silt_error *err) { return read_only(s, "Making a folder", dir, err); }
static silt_status http_remove_dir(store *s, str dir, silt_error *err) { return read_only(s, "Removing", dir, err); }
static silt_status http_write_begin(store *s, str path, arena *a, str *out_local, silt_error *err) {
    (void)a;
    (void)out_local;
    return read_only(s, "Writing", path, err);
}
static silt_status http_write_finish(store *s, str path, str local, silt_error *err) {
    (void)local;
    return read_only(s, "Writing", path, err);
}
static void http_write_abort(store *s, str path, str local) {
    (void)s;
    (void)path;
    (void)local;
}

/* "/" is a folder on every server; of other paths nothing tells whether they are folders. */
static const store_ops http_ops = {
    .name = "http",
    OBJECT_STORE_READING,
    .put = http_put,
    .list = http_log_list,
    .remove = http_remove,
    .make_dirs = http_make_dirs,
    .remove_dir = http_remove_dir,
    .write_begin = http_write_begin,
    .write_finish = http_write_finish,
    .write_abort = http_write_abort,
};

static const object_driver http_driver = {.ops = &http_ops, .request = http_request_fill, .parse_info = http_parse_info};

/* host or host:port; no user and password, which would end up in messages. */
static silt_status check_authority(str authority, silt_error *err) {
    bool ok = authority.len > 0 && authority.len < 300;
    for (size_t i = 0; i < authority.len; i++) {
        char c = authority.ptr[i];
        bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        ok &= plain || (c && strchr("-._:[]", c));
    }
    if (ok) return SILT_OK;
    return err_INVALID_PARAMETER_VALUE(err, STR("host"), str_find_char(authority, '@') == SIZE_MAX ? authority : STR("…"), "a host, or host:port, without a user");
}

static silt_status open_store(const char *scheme, str authority, const store_settings *settings, store **out, silt_error *err) {
    http_options options = {.max_connections = 32, .ca_file = store_setting(settings, "silt.http.caFile"), .proxy = store_setting(settings, "silt.http.proxy")};
    object_store *o;
    TRY(check_authority(authority, err));
    object_store_patience(settings, &options);
    TRY(object_store_new(&http_driver, sizeof *o, &options, &o, err));
    silt_status status = object_store_configure(o, settings, err);
    o->where = arena_printf(o->settings, "%s://%.*s", scheme, STR_ARG(authority));
    if (status == SILT_OK && str_is_null(o->where)) status = error_no_memory(err);
    if (status == SILT_OK) *out = &o->base;
    else store_close(&o->base);
    return status;
}

silt_status store_http_open(str authority, void *config, store **out, silt_error *err) { return open_store("http", authority, config, out, err); }

silt_status store_https_open(str authority, void *config, store **out, silt_error *err) { return open_store("https", authority, config, out, err); }
