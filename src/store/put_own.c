/*
 * Objects under names that are their writer's own: vectors, and whatever else has a random name.
 *
 * Nobody else writes there, so "something is there" can only be this very put, by a request that something on the way sent twice, or that was sent
 * again after its answer was lost. That is looked at, not assumed: what is there is compared. The same settles an outcome that is not known. What
 * stays unsettled is no unknown commit: nothing refers to such an object before its writer has succeeded.
 */
#include "store/store.h"

#define ROUNDS 3

/* OK: it is what was put. NOT_FOUND: nothing is there. EXISTS: something else. */
static silt_status look(store *s, str path, str bytes, silt_error *err) {
    buf found;
    buf_init(&found, bytes.len + 1); /* one byte more than ours is enough to know */
    silt_status status = store_read(s, path, 0, (int64_t)bytes.len + 1, &found, err);
    if (status == SILT_OK && !str_eq(buf_str(&found), bytes)) status = store_path_error(s, path, err_PATH_ALREADY_EXISTS, err);
    buf_dispose(&found);
    return status;
}

static silt_status io_error(silt_error *err, str named) { return err_IO_ERROR(err, "write", named); }

static silt_status not_written(const store *s, str path, const silt_error *why, silt_error *err) {
    silt_status status = store_path_error(s, path, io_error, err);
    error_detail(err, "%s: %s", why->message, why->detail);
    return status;
}

silt_status store_put_own(store *s, str path, str bytes, silt_error *err) {
    silt_error why = {.status = SILT_OK};
    for (int round = 1;; round++) {
        silt_status status = store_put(s, path, bytes, STORE_PUT_IF_ABSENT, &why);
        if (status == SILT_OK) return SILT_OK;
        if (status != SILT_EXISTS && status != SILT_UNKNOWN) break;
        silt_error asked = {.status = SILT_OK};
        status = look(s, path, bytes, &asked);
        if (status == SILT_OK) return SILT_OK;
        if (status != SILT_NOT_FOUND) why = asked;
        if (status != SILT_NOT_FOUND || round == ROUNDS) break;
    }
    if (why.status == SILT_UNKNOWN) return not_written(s, path, &why, err);
    if (err) *err = why;
    return why.status;
}
