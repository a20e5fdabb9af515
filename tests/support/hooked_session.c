/* The registry of an open session gives the hooked store instead of the local one: nothing was read through it yet. */
#include "support/hooked_session.h"

#include <string.h>

#include "api/api.h"

static silt_status open_hooked(str authority, void *config, store **out, silt_error *err) {
    hooked_session *h = config;
    (void)authority;
    if (!h->local) TRY(store_local_open(&h->local, err));
    return store_fault_open(h->local, h->before, h->ctx, out, err);
}

silt_status hooked_session_open(hooked_session *h, const char *const *keys, const char *const *values, size_t n, store_fault_fn before, void *ctx, silt_error *err) {
    silt_session_options options = {.struct_size = sizeof options, .keys = keys, .values = values, .n_settings = n};
    *h = (hooked_session){.before = before, .ctx = ctx};
    TRY(silt_session_open(&options, &h->session, err));
    silt_status status = store_registry_add(h->session->stores, "file", open_hooked, h, err);
    if (status == SILT_OK) status = store_registry_add(h->session->stores, HOOKED_SCHEME, open_hooked, h, err);
    if (status != SILT_OK) hooked_session_close(h);
    return status;
}

void hooked_session_close(hooked_session *h) {
    silt_session_close(h->session);
    store_close(h->local);
    *h = (hooked_session){0};
}

silt_status session_execute(silt_session *s, const char *sql, silt_error *err) {
    struct ArrowArrayStream rows;
    struct ArrowArray batch = {0};
    silt_error failure = {.status = SILT_OK};
    silt_status status = silt_query(s, sql, NULL, &rows, &failure);
    int code = 0;
    while (status == SILT_OK && (code = rows.get_next(&rows, &batch)) == 0 && batch.release) batch.release(&batch);
    if (code != 0) silt_stream_error(&rows, &failure);
    if (status == SILT_OK) rows.release(&rows);
    if (failure.status != SILT_OK && err) *err = failure;
    return failure.status;
}

silt_status session_number(silt_session *s, const char *sql, int64_t *out, silt_error *err) {
    struct ArrowArrayStream rows;
    struct ArrowArray batch = {0};
    silt_error failure = {.status = SILT_OK};
    silt_status status = silt_query(s, sql, NULL, &rows, &failure);
    if (status == SILT_OK && rows.get_next(&rows, &batch) != 0) silt_stream_error(&rows, &failure);
    if (batch.release) {
        const struct ArrowArray *column = batch.children[0];
        *out = ((const int64_t *)column->buffers[1])[column->offset];
        batch.release(&batch);
    } else if (failure.status == SILT_OK) {
        failure.status = SILT_NOT_FOUND;
    }
    if (status == SILT_OK) rows.release(&rows);
    if (failure.status != SILT_OK && err) *err = failure;
    return failure.status;
}

bool is_commit_put(const char *call, str path) {
    return strcmp(call, "put") == 0 && str_ends_with(path, STR(".json")) && str_find(path, STR("/_delta_log/0")) != SIZE_MAX;
}
