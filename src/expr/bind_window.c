/* OVER clauses: named windows, partition and order expressions, frames. */
#include "expr/bind.h"

/* OVER w and OVER (w …): what the named window says comes first. */
static silt_status inherit(binder *b, scope *s, window_spec *w) {
    if (w->base_name.len == 0) return SILT_OK;
    for (size_t i = 0; i < s->n_windows; i++) {
        if (!str_eq_fold(s->window_names[i], w->base_name)) continue;
        window_spec *base;
        BIND_NEW(base, window_clone(s->window_specs[i], b->a));
        TRY(inherit(b, s, base));
        if (w->n_partition_by == 0) w->partition_by = base->partition_by, w->n_partition_by = base->n_partition_by;
        if (w->n_order_by == 0) w->order_by = base->order_by, w->n_order_by = base->n_order_by;
        if (!w->has_frame && base->has_frame) {
            w->has_frame = true;
            w->is_range = base->is_range;
            w->start_kind = base->start_kind, w->end_kind = base->end_kind;
            w->start = base->start, w->end = base->end;
        }
        w->base_name = STR_NULL;
        return SILT_OK;
    }
    return err_MISSING_WINDOW_SPECIFICATION(b->err, w->base_name);
}

silt_status bind_window(binder *b, scope *s, window_spec *w) {
    TRY(inherit(b, s, w));
    for (size_t i = 0; i < w->n_partition_by; i++) TRY(bind_expr(b, s, w->partition_by[i]));
    for (size_t i = 0; i < w->n_order_by; i++) TRY(bind_expr(b, s, w->order_by[i].value));
    if (w->start) TRY(bind_expr(b, s, w->start));
    if (w->end) TRY(bind_expr(b, s, w->end));
    return SILT_OK;
}
