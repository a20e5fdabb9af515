/* Opening a table at a version or a time. */
#include "ops/internal.h"

/* The text as CAST(… AS TIMESTAMP) reads it in the session's zone: microseconds. A bare number is no time (Spark refuses it too). */
static silt_status parse_timestamp(const op *o, str text, int64_t *out_us) {
    int64_t number;
    value v = {0};
    silt_error ignored;
    op quiet = {o->env, o->a, &ignored};
    expr *cast;
    TRY(ops_tree_text(o, text, &cast));
    TRY(ops_tree_cast(o, cast, &type_timestamp, &cast));
    silt_status status =
        str_to_i64(str_trim(text), &number) ? SILT_INVALID : expr_bind(cast, NULL, o->env->bind, o->a, &cast, quiet.err);
    if (status == SILT_OK) status = expr_fold(cast, o->env->bind, o->a, &v, quiet.err);
    if (status == SILT_NO_MEMORY) return error_no_memory(o->err);
    if (status != SILT_OK || v.is_null) return err_DELTA_TIMESTAMP_INVALID(o->err, text);
    *out_us = v.as.i64;
    return SILT_OK;
}

static int64_t floor_ms(int64_t us) { return us / 1000 - (us % 1000 < 0); }

silt_status ops_open(const ops_env *env, str root, int64_t version, str timestamp, delta_snapshot **out, silt_error *err) {
    if (str_is_null(timestamp)) return delta_snapshot_load(env->delta, root, version, out, err);
    if (version != DELTA_LATEST) return err_DELTA_ONEOF_IN_TIMETRAVEL(err);
    op o = {env, arena_new(), err};
    int64_t us;
    if (!o.a) return error_no_memory(err);
    silt_status status = parse_timestamp(&o, timestamp, &us);
    arena_free(o.a);
    if (status == SILT_OK) status = delta_version_at(env->delta, root, floor_ms(us), &version, err);
    return status == SILT_OK ? delta_snapshot_load(env->delta, root, version, out, err) : status;
}
