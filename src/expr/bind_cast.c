/* CAST as written by the user, and the casts that INSERT puts in. */
#include "expr/bind.h"

static silt_status cast_refused(binder *b, const expr *e, const data_type *from, const data_type *to) {
    str text = bind_text(b, e), f = type_sql(from, b->a), t = type_sql(to, b->a);
    bool number_to_date = type_is_numeric(from) && to->id == TYPE_DATE, date_to_number = from->id == TYPE_DATE && type_is_numeric(to);
    bool time_to_truth = (from->id == TYPE_TIMESTAMP || from->id == TYPE_DATE) && to->id == TYPE_BOOLEAN;
    bool conf = (from->id == TYPE_ARRAY && to->id == TYPE_ARRAY) || time_to_truth || (from->id == TYPE_BOOLEAN && to->id == TYPE_TIMESTAMP) ||
                (type_is_integral(from) && to->id == TYPE_BINARY);
    if (number_to_date || date_to_number) return err_DATATYPE_MISMATCH_CAST_FUNC(b->err, text, f, t);
    if (conf) return err_DATATYPE_MISMATCH_CAST_CONF(b->err, text, f, t);
    return err_DATATYPE_MISMATCH_CAST(b->err, text, f, t);
}

silt_status bind_cast(binder *b, expr *e) {
    const data_type *from = e->args[0]->type, *to = e->cast_type;
    if (to->id == TYPE_STRING && to->length) to = &type_string; /* CAST to CHAR/VARCHAR is to STRING */
    if (!coerce_explicit_ok(from, to)) return cast_refused(b, e, from, e->cast_type);
    e->type = to;
    e->nullable = e->args[0]->nullable || e->is_try;
    return SILT_OK;
}

/* ---- store assignment ---- */

static silt_status cast_node(arena *a, expr *e, const data_type *to, bool is_try, bool implicit, expr **out, silt_error *err) {
    expr *cast = expr_new(a, EXPR_CAST, e->span);
    if (!cast || !(cast->args = ARENA_ARRAY(a, 1, expr *))) return error_no_memory(err);
    cast->args[0] = e;
    cast->n_args = 1;
    cast->cast_type = cast->type = to;
    cast->is_try = is_try;
    cast->implicit = implicit;
    cast->nullable = e->nullable || is_try;
    cast->is_aggregate = e->is_aggregate;
    *out = cast;
    return SILT_OK;
}

silt_status expr_coerce(expr *e, const data_type *target, cast_mode mode, str column, const bind_env *env, arena *a, expr **out,
                        silt_error *err) {
    *out = e;
    const data_type *to = target->id == TYPE_STRING && target->length ? &type_string : target;
    if (type_equal(e->type, to)) return SILT_OK;
    if (!coerce_explicit_ok(
            e->type,
            to)) { /* a write to a Delta table casts whatever CAST does (ANSI), not only what Spark's store assignment lists */
        binder b = {.env = env, .a = a, .err = err};
        return cast_refused(&b, e, e->type, to);
    }
    TRY(cast_node(a, e, to, mode == CAST_TRY, true, out, err));
    if (mode == CAST_STORE_ASSIGNMENT) (*out)->field_name = column.ptr ? column : STR("");
    return SILT_OK;
}
