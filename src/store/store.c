/*
 * The wrappers that callers use: they check paths once for all back ends. A path that is not absolute or holds a NUL byte comes
 * from a damaged log or from the user, so it is an error, not an assertion.
 */
#include "store/store.h"

#include <assert.h>

#include "base/uri.h"

static silt_status check_path(str path, silt_error *err) {
    if (path.len > 0 && path.ptr[0] == '/' && str_find_char(path, '\0') == SIZE_MAX) return SILT_OK;
    return err_INVALID_PARAMETER_VALUE(err, STR("path"), path, "an absolute path without a NUL byte");
}

/* A file's path must not end in a slash. */
static silt_status check_file(str path, silt_error *err) {
    TRY(check_path(path, err));
    if (path.ptr[path.len - 1] != '/') return SILT_OK;
    return err_INVALID_PARAMETER_VALUE(err, STR("path"), path, "the path of a file");
}

static str without_slash(str dir) {
    while (dir.len > 1 && dir.ptr[dir.len - 1] == '/') dir.len--;
    return dir;
}

const char *store_uri_prefix(const store *s) {
    if (s->uri_prefix) return s->uri_prefix;
    return strcmp(s->ops->name, "local") == 0 ? "file:" : "";
}

/* Of URIs, those of web servers alone are decoded where they are read: only they are encoded here. */
str store_path_named(const store *s, str path, arena *a) {
    const char *prefix = store_uri_prefix(s);
    if (strcmp(prefix, "file:") == 0) return path;
    str text = strncmp(prefix, "http", 4) == 0 ? uri_encode_path(path, a) : path;
    str named = str_is_null(text) ? text : arena_printf(a, "%s%.*s", prefix, STR_ARG(text));
    return str_is_null(named) ? path : named;
}

silt_status store_path_error(const store *s, str path, silt_status (*make)(silt_error *err, str named), silt_error *err) {
    arena *a = err ? arena_new() : NULL;
    silt_status status = make(err, a ? store_path_named(s, path, a) : path);
    arena_free(a);
    return status;
}

void store_close(store *s) {
    if (s) s->ops->close(s);
}

void store_guard(store *s, buf *out) {
    if (s->ops->guard) s->ops->guard(s, out);
}

const char *store_take_news(store *s) {
    const char *news = NULL;
    for (; s && !news; s = s->inner)
        if (s->ops->take_news) news = s->ops->take_news(s);
    return news;
}

silt_status store_read(store *s, str path, int64_t offset, int64_t length, buf *out, silt_error *err) {
    assert(offset >= 0);
    TRY(check_file(path, err));
    return s->ops->read(s, path, offset, length, out, err);
}

silt_status store_stat(store *s, str path, arena *a, store_entry *out, silt_error *err) {
    TRY(check_path(path, err));
    return s->ops->stat(s, without_slash(path), a, out, err);
}

bool store_times_agree(const store *s, int64_t a_ms, int64_t b_ms) {
    return a_ms == b_ms || (store_is_remote(s) && (a_ms % 1000 == 0 || b_ms % 1000 == 0) && a_ms / 1000 == b_ms / 1000);
}

silt_status store_put(store *s, str path, str bytes, store_put_mode mode, silt_error *err) {
    TRY(check_file(path, err));
    return s->ops->put(s, path, bytes, mode, err);
}

silt_status store_list(store *s, str dir, str start_at, bool recursive, arena *a, store_list_result *out, silt_error *err) {
    assert(!recursive || str_is_null(start_at));
    TRY(check_path(dir, err));
    *out = (store_list_result){0};
    return s->ops->list(s, without_slash(dir), start_at, recursive, a, out, err);
}

silt_status store_list_first(store *s, str dir, const cancel_token *cancel, arena *a, store_list_result *out, bool *out_all, silt_error *err) {
    TRY(check_path(dir, err));
    *out = (store_list_result){0};
    *out_all = false;
    return s->ops->list_first ? s->ops->list_first(s, without_slash(dir), cancel, a, out, out_all, err) : SILT_OK;
}

silt_status store_remove(store *s, str path, silt_error *err) {
    TRY(check_file(path, err));
    return s->ops->remove(s, path, err);
}

silt_status store_make_dirs(store *s, str dir, silt_error *err) {
    TRY(check_path(dir, err));
    return s->ops->make_dirs(s, without_slash(dir), err);
}

silt_status store_remove_dir(store *s, str dir, silt_error *err) {
    TRY(check_path(dir, err));
    return s->ops->remove_dir(s, without_slash(dir), err);
}

bool store_can_move(const store *s) { return s->ops->move_dir != NULL; }

silt_status store_move_dir(store *s, str from, str to, silt_error *err) {
    TRY(check_path(from, err));
    TRY(check_path(to, err));
    return s->ops->move_dir(s, without_slash(from), without_slash(to), err);
}

bool store_can_swap(const store *s) { return s->ops->swap_dirs != NULL; }

silt_status store_swap_dirs(store *s, str a, str b, silt_error *err) {
    TRY(check_path(a, err));
    TRY(check_path(b, err));
    return s->ops->swap_dirs(s, without_slash(a), without_slash(b), err);
}

silt_status store_local_read_path(store *s, str path, arena *a, str *out, silt_error *err) {
    TRY(check_file(path, err));
    return s->ops->local_read_path(s, path, a, out, err);
}

silt_status store_write_begin(store *s, str path, arena *a, str *out_local, silt_error *err) {
    TRY(check_file(path, err));
    return s->ops->write_begin(s, path, a, out_local, err);
}

void store_write_follow(store *s, str path, str local) {
    if (s->ops->write_follow) s->ops->write_follow(s, path, local);
}

/* A data file in doubt is no commit in doubt: nothing refers to it, and its statement has failed. */
static silt_status not_written(silt_error *err, str named) { return err_IO_ERROR(err, "write", named); }

static silt_status data_file_status(const store *s, silt_status status, str path, silt_error *err) {
    if (status != SILT_UNKNOWN) return status;
    silt_error why = err ? *err : (silt_error){.status = SILT_OK};
    status = store_path_error(s, path, not_written, err);
    error_detail(err, "%s", why.message);
    return status;
}

silt_status store_write_finish(store *s, str path, str local, silt_error *err) {
    TRY(check_file(path, err));
    return data_file_status(s, s->ops->write_finish(s, path, local, err), path, err);
}

silt_status store_write_finish_many(store *s, const str *paths, const str *locals, size_t n, silt_error *err) {
    for (size_t i = 0; i < n; i++) TRY(check_file(paths[i], err));
    if (s->ops->write_finish_many) return data_file_status(s, s->ops->write_finish_many(s, paths, locals, n, err), n ? paths[0] : STR_NULL, err);
    for (size_t i = 0; i < n; i++) TRY(store_write_finish(s, paths[i], locals[i], err));
    return SILT_OK;
}

void store_write_abort(store *s, str path, str local) {
    if (check_file(path, NULL) == SILT_OK) s->ops->write_abort(s, path, local);
}
