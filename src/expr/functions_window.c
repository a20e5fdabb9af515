/* Window functions. */
#include "expr/functions_tables.h"

#define WINDOW(name_, signature_, flags_, sql_, doc_) \
    { .name = name_, .signature = signature_, .flags = (flags_), .sql = sql_, .doc = doc_, .kind = FUNCTION_WINDOW }
#define WINDOW_X(name_, signature_, flags_, bind_, print_, doc_)                                                \
    {                                                                                                           \
        .name = name_, .signature = signature_, .flags = (flags_), .bind = bind_, .print = print_, .doc = doc_, \
        .kind = FUNCTION_WINDOW                                                                                 \
    }

static silt_status bind_offset(binder *b, expr *e) {
    e->type = e->args[0]->type;
    e->nullable = true;
    if (e->n_args < 3) return SILT_OK;
    expr *both[2] = {e->args[0], e->args[2]};
    TRY(bind_common_slots(b, both, 2, e, &e->type));
    e->args[0] = both[0];
    e->args[2] = both[1];
    return SILT_OK;
}

static silt_status print_offset(printer *p, const expr *e) {
    bool lag = (e->function_name.ptr[1] | 0x20) == 'a';
    buf_append_z(p->out, lag ? "lag(" : "lead(");
    TRY(print_exprs(p, e->args, e->n_args, ", "));
    buf_append_z(p->out, e->ignore_nulls ? " IGNORE NULLS)" : ")");
    return print_window_tail(p, e);
}

static silt_status print_nth(printer *p, const expr *e) {
    buf_append_z(p->out, "nth_value(");
    TRY(print_exprs(p, e->args, 2, ", "));
    bool ignore = e->ignore_nulls || (e->n_args == 3 && e->args[2]->kind == EXPR_LITERAL && e->args[2]->literal.as.boolean);
    buf_append_z(p->out, ignore ? " IGNORE NULLS)" : ")");
    return print_window_tail(p, e);
}

static const function_row rows[] = {
    WINDOW("row_number", "-> int", FN_NEVER_NULL, "CAST(row_number()$F AS INTEGER)",
           "Number of the row in its partition, from 1"),
    WINDOW("rank", "-> int", FN_NEVER_NULL, "CAST(rank()$F AS INTEGER)", "Rank with gaps"),
    WINDOW("dense_rank", "-> int", FN_NEVER_NULL, "CAST(dense_rank()$F AS INTEGER)", "Rank without gaps"),
    WINDOW("percent_rank", "-> double", FN_NEVER_NULL, "percent_rank()$F", "(rank - 1) / (rows - 1)"),
    WINDOW("cume_dist", "-> double", FN_NEVER_NULL, "cume_dist()$F", "Share of rows up to this one"),
    WINDOW("ntile", "int? -> int", FN_NEVER_NULL, "CAST(ntile($*)$F AS INTEGER)", "Number of the bucket, from 1"),
    WINDOW_X("lag", "any, int?, any? -> custom", FN_NULLABLE, bind_offset, print_offset, "Value of an earlier row"),
    WINDOW_X("lead", "any, int?, any? -> custom", FN_NULLABLE, bind_offset, print_offset, "Value of a later row"),
    WINDOW_X("nth_value", "any, int, bool? -> arg1", FN_NULLABLE, NULL, print_nth, "Value of the n-th row of the frame"),
};

GROUP_OF(functions_window, "Windows", rows);
