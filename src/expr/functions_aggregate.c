/* Aggregate functions. Sums of integers are BIGINT and raise when they leave it; sums and averages of decimals widen by Spark's rules. */
#include "expr/functions_tables.h"

#define AGG(name_, aliases_, signature_, flags_, sql_, doc_)                                                      \
    {                                                                                                             \
        .name = name_, .aliases = aliases_, .signature = signature_, .flags = (flags_), .sql = sql_, .doc = doc_, \
        .kind = FUNCTION_AGGREGATE                                                                                \
    }
#define AGG_X(name_, aliases_, signature_, flags_, bind_, print_, doc_)                                                 \
    {                                                                                                                   \
        .name = name_, .aliases = aliases_, .signature = signature_, .flags = (flags_), .bind = bind_, .print = print_, \
        .doc = doc_, .kind = FUNCTION_AGGREGATE                                                                         \
    }

static silt_status bind_count(binder *b, expr *e) {
    (void)b;
    e->type = &type_long;
    e->nullable = false;
    return SILT_OK;
}

/* count(a, b) counts rows where no argument is null; DISTINCT compares them together. */
static silt_status print_count(printer *p, const expr *e) {
    if (e->n_args == 1 && e->args[0]->kind == EXPR_LITERAL && !e->args[0]->literal.is_null && !e->is_distinct) {
        buf_append_z(p->out, "count(*)");
        return print_window_tail(p, e);
    }
    buf_append_z(p->out, e->is_distinct ? "count(DISTINCT " : "count(");
    if (e->n_args > 1) {
        buf_append_z(p->out, "CASE WHEN ");
        for (size_t i = 0; i < e->n_args; i++) {
            if (i) buf_append_z(p->out, " AND ");
            TRY(print_argument(p, e, e->args[i]));
            buf_append_z(p->out, " IS NOT NULL");
        }
        buf_append_z(p->out, " THEN ROW(");
        TRY(print_exprs(p, e->args, e->n_args, ", "));
        buf_append_z(p->out, ") END");
    } else {
        TRY(print_argument(p, e, e->args[0]));
    }
    buf_append_char(p->out, ')');
    return print_window_tail(p, e);
}

static silt_status bind_sum(binder *b, expr *e) {
    const data_type *t = e->args[0]->type;
    if (t->id == TYPE_DECIMAL)
        BIND_NEW(e->type, type_decimal(b->a, t->precision + 10 > 38 ? 38 : t->precision + 10, t->scale));
    else
        e->type = type_is_integral(t) ? &type_long : &type_double;
    if (t->id == TYPE_FLOAT) return bind_cast_slot(b, &e->args[0], &type_double);
    return SILT_OK;
}

static bool is_try(const expr *e) {
    return str_starts_with(e->function_name, STR("try_")) || str_starts_with(e->function_name, STR("TRY_"));
}

static silt_status print_sum_of(printer *p, const expr *e, const expr *arg) {
    buf_append_z(p->out, e->is_distinct ? "sum(DISTINCT " : "sum(");
    TRY(print_argument(p, e, arg));
    buf_append_char(p->out, ')');
    return print_window_tail(p, e);
}

static silt_status print_sum(printer *p, const expr *e) {
    bool cast = e->type->id != TYPE_DOUBLE;
    if (cast) buf_append_z(p->out, is_try(e) ? "TRY_CAST(" : "CAST(");
    TRY(print_sum_of(p, e, e->args[0]));
    if (!cast) return SILT_OK;
    buf_append_z(p->out, " AS ");
    type_print_duckdb(p->out, e->type, false);
    buf_append_char(p->out, ')');
    return SILT_OK;
}

static silt_status bind_avg(binder *b, expr *e) {
    const data_type *t = e->args[0]->type;
    if (t->id != TYPE_DECIMAL) {
        e->type = &type_double;
        return t->id == TYPE_FLOAT ? bind_cast_slot(b, &e->args[0], &type_double) : SILT_OK;
    }
    BIND_NEW(e->type,
             coerce_decimal_adjust(b->a, t->precision + 4 > 38 ? 38 : t->precision + 4, t->scale + 4 > 38 ? 38 : t->scale + 4));
    return SILT_OK;
}

/* Decimals: the exact sum divided once, half up. */
static silt_status print_avg(printer *p, const expr *e) {
    if (e->type->id != TYPE_DECIMAL) return print_template(p, "avg($D$1)$F", e);
    print_decimal_begin(p, e->type, false);
    buf_append_z(p->out, "silt_decimal_op('/', ");
    TRY(print_sum_of(p, e, e->args[0]));
    buf_append_z(p->out, ", CAST(");
    TRY(print_template(p, "count($D$1)$F", e));
    buf_printf(p->out, " AS DECIMAL(20,0)), %d)", e->type->scale);
    print_decimal_end(p, false);
    return SILT_OK;
}

static silt_status print_first(printer *p, const expr *e) {
    bool last = str_starts_with(e->function_name, STR("last")) || str_starts_with(e->function_name, STR("LAST"));
    bool ignore = e->ignore_nulls || (e->n_args == 2 && e->args[1]->kind == EXPR_LITERAL && e->args[1]->literal.as.boolean);
    if (e->over) {
        buf_append_z(p->out, last ? "last_value(" : "first_value(");
        TRY(print_argument(p, e, e->args[0]));
        buf_append_z(p->out, ignore ? " IGNORE NULLS)" : ")");
        return print_window_tail(p, e);
    }
    buf_append_z(p->out, last ? "last(" : "first(");
    TRY(print_argument(p, e, e->args[0]));
    buf_append_char(p->out, ')');
    if (!ignore) return print_window_tail(p, e);
    buf_append_z(p->out, " FILTER (WHERE ");
    TRY(print_argument(p, e, e->args[0]));
    buf_append_z(p->out, " IS NOT NULL");
    if (e->filter) {
        buf_append_z(p->out, " AND ");
        TRY(print_expr(p, e->filter));
    }
    buf_append_char(p->out, ')');
    return SILT_OK;
}

/* Lists leave nulls out and are empty, not null, over no rows. */
static silt_status print_collect(printer *p, const expr *e) {
    bool set = str_eq_ascii_fold(e->function_name, STR("collect_set"));
    buf_append_z(p->out, "coalesce(list(");
    if (set || e->is_distinct) buf_append_z(p->out, "DISTINCT ");
    TRY(print_argument(p, e, e->args[0]));
    if (e->n_within_order) TRY(print_template(p, " $O", e));
    buf_append_z(p->out, ") FILTER (WHERE ");
    TRY(print_argument(p, e, e->args[0]));
    buf_append_z(p->out, " IS NOT NULL");
    if (e->filter) {
        buf_append_z(p->out, " AND ");
        TRY(print_expr(p, e->filter));
    }
    buf_append_char(p->out, ')');
    if (e->over) {
        expr bare = *e;
        bare.filter = NULL;
        TRY(print_window_tail(p, &bare));
    }
    buf_append_z(p->out, ", CAST([] AS ");
    type_print_duckdb(p->out, e->type, false);
    buf_append_z(p->out, "))");
    return SILT_OK;
}

static silt_status bind_collect(binder *b, expr *e) {
    BIND_NEW(e->type, type_array(b->a, e->args[0]->type, false));
    e->nullable = false;
    return SILT_OK;
}

/* percentile(x, p): linear interpolation; with WITHIN GROUP the values are in the ORDER BY. */
static silt_status print_percentile(printer *p, const expr *e) {
    bool discrete = str_eq_ascii_fold(e->function_name, STR("percentile_disc"));
    const expr *source = e->n_within_order ? e->within_order[0].value : e->args[0],
               *fraction = e->n_within_order ? e->args[0] : e->args[1];
    buf_append_z(p->out, discrete ? "quantile_disc(CAST(" : "quantile_cont(CAST(");
    TRY(print_expr(p, source));
    buf_append_z(p->out, " AS DOUBLE), ");
    TRY(print_expr(p, fraction));
    if (e->n_within_order && e->within_order[0].descending) {
        buf_append_z(p->out, " ORDER BY ");
        TRY(print_expr(p, source));
        buf_append_z(p->out, " DESC");
    }
    buf_append_char(p->out, ')');
    return print_window_tail(p, e);
}

/* Greatest and least; a struct by Spark's order of its fields. */
static silt_status print_extreme(printer *p, const expr *e) {
    bool max = (e->function_name.ptr[1] | 0x20) == 'a';
    const expr *arg = e->args[0];
    if (!print_needs_order_key(arg->type)) return print_template(p, max ? "max($1)$F" : "min($1)$F", e);
    str text;
    TRY(print_expr_text(p, arg, &text));
    buf_printf(p->out, "arg_%s(%.*s, CASE WHEN %.*s IS NOT NULL THEN ", max ? "max" : "min", STR_ARG(text), STR_ARG(text));
    print_order_key(p, text, arg->type);
    buf_append_z(p->out, " END)");
    return print_window_tail(p, e);
}

static silt_status bind_percentile(binder *b, expr *e) {
    if (!e->n_within_order && e->n_args < 2) return err_WRONG_NUM_ARGS(b->err, e->function_name, STR("2"), (int64_t)e->n_args);
    bool several = e->args[e->n_within_order ? 0 : 1]->type->id == TYPE_ARRAY;
    const data_type *t = &type_double;
    if (several) BIND_NEW(t, type_array(b->a, t, true));
    e->type = t;
    if (several)
        TRY(bind_coerce_slot(b, &e->args[e->n_within_order ? 0 : 1], type_array(b->a, &type_double, true), e, 1));
    else
        TRY(bind_coerce_slot(b, &e->args[e->n_within_order ? 0 : 1], &type_double, e, 1));
    return SILT_OK;
}

static silt_status bind_percentile_approx(binder *b, expr *e) {
    bool several = e->args[1]->type->id == TYPE_ARRAY;
    e->type = e->args[0]->type;
    if (several) {
        BIND_NEW(e->type, type_array(b->a, e->type, true));
        return bind_coerce_slot(b, &e->args[1], type_array(b->a, &type_double, true), e, 1);
    }
    return bind_coerce_slot(b, &e->args[1], &type_double, e, 1);
}

static silt_status print_list_agg(printer *p, const expr *e) {
    buf_append_z(p->out, "string_agg(");
    if (e->is_distinct) buf_append_z(p->out, "DISTINCT ");
    TRY(print_argument(p, e, e->args[0]));
    buf_append_z(p->out, ", ");
    if (e->n_args == 2)
        TRY(print_expr(p, e->args[1]));
    else
        buf_append_z(p->out, "''");
    if (e->n_within_order) TRY(print_template(p, " $O", e));
    buf_append_char(p->out, ')');
    return print_window_tail(p, e);
}

static silt_status bind_grouping(binder *b, expr *e) {
    if (!b->grouping_sets) return err_UNSUPPORTED_GROUPING_EXPRESSION(b->err);
    e->type = str_eq_ascii_fold(e->function_name, STR("grouping")) ? &type_byte : &type_long;
    e->nullable = false;
    return SILT_OK;
}

/* Spark's var_samp and the like of one row are NULL; of no row NULL. */
static const function_row rows[] = {
    AGG_X("count", NULL, "any* -> custom", FN_DISTINCT, bind_count, print_count,
          "Number of rows, or of rows where no argument is null"),
    AGG_X("sum", NULL, "number -> custom", FN_DISTINCT, bind_sum, print_sum, "Sum; BIGINT for integers, raises on overflow"),
    AGG_X("try_sum", NULL, "number -> custom", FN_DISTINCT, bind_sum, print_sum, "Sum, NULL on overflow"),
    AGG_X("avg", "mean", "number -> custom", FN_DISTINCT, bind_avg, print_avg, "Mean"),
    AGG_X("try_avg", NULL, "number -> custom", FN_DISTINCT, bind_avg, print_avg, "Mean, NULL on overflow"),
    AGG_X("min", NULL, "any -> arg1", FN_DISTINCT, NULL, print_extreme, "Least value"),
    AGG_X("max", NULL, "any -> arg1", FN_DISTINCT, NULL, print_extreme, "Greatest value"),
    AGG_X("first", "first_value any_value", "any, bool? -> arg1", FN_DISTINCT, NULL, print_first,
          "A value of the first row (any order unless sorted)"),
    AGG_X("last", "last_value", "any, bool? -> arg1", FN_DISTINCT, NULL, print_first, "A value of the last row"),
    AGG_X("collect_list", "array_agg", "any -> custom", FN_ORDERED | FN_DISTINCT, bind_collect, print_collect,
          "All non-null values as an array"),
    AGG_X("collect_set", NULL, "any -> custom", FN_DISTINCT, bind_collect, print_collect,
          "The distinct non-null values as an array"),
    AGG("count_if", NULL, "bool -> long", FN_DISTINCT, "count($DCASE WHEN $1 THEN 1 END)$F",
        "Number of rows for which it is true"),
    AGG("bool_and", "every", "bool -> bool", FN_DISTINCT, "bool_and($1)$F", "Are all true"),
    AGG("bool_or", "some any", "bool -> bool", FN_DISTINCT, "bool_or($1)$F", "Is any true"),
    AGG("stddev", "std stddev_samp", "double -> double", FN_DISTINCT, "stddev_samp($D$1)$F", "Sample standard deviation"),
    AGG("stddev_pop", NULL, "double -> double", FN_DISTINCT, "stddev_pop($D$1)$F", "Population standard deviation"),
    AGG("variance", "var_samp", "double -> double", FN_DISTINCT, "var_samp($D$1)$F", "Sample variance"),
    AGG("var_pop", NULL, "double -> double", FN_DISTINCT, "var_pop($D$1)$F", "Population variance"),
    AGG("skewness", NULL, "double -> double", FN_DISTINCT,
        "CASE count($D$1)$F WHEN 0 THEN NULL WHEN 1 THEN 'nan'::DOUBLE WHEN 2 THEN 0 ELSE skewness($D$1)$F * (count($D$1)$F - 2) "
        "/ sqrt(CAST(count($D$1)$F AS DOUBLE) * (count($D$1)$F - 1)) END",
        "Skewness"),
    AGG("kurtosis", NULL, "double -> double", FN_DISTINCT, "kurtosis_pop($D$1)$F", "Excess kurtosis"),
    AGG("corr", NULL, "double, double -> double", FN_DISTINCT, "corr($D$1, $2)$F", "Pearson's correlation"),
    AGG("covar_pop", NULL, "double, double -> double", FN_DISTINCT, "covar_pop($D$1, $2)$F", "Population covariance"),
    AGG("covar_samp", NULL, "double, double -> double", FN_DISTINCT, "covar_samp($D$1, $2)$F", "Sample covariance"),
    AGG("regr_count", NULL, "double, double -> long", 0, "CAST(regr_count($1, $2)$F AS BIGINT)", "Number of pairs without null"),
    AGG("regr_avgx", NULL, "double, double -> double", 0, "regr_avgx($1, $2)$F", "Mean of the second argument"),
    AGG("regr_avgy", NULL, "double, double -> double", 0, "regr_avgy($1, $2)$F", "Mean of the first argument"),
    AGG("regr_slope", NULL, "double, double -> double", 0, "regr_slope($1, $2)$F", "Slope of the regression line"),
    AGG("regr_intercept", NULL, "double, double -> double", 0, "regr_intercept($1, $2)$F", "Intercept of the regression line"),
    AGG("regr_r2", NULL, "double, double -> double", 0, "regr_r2($1, $2)$F", "Coefficient of determination"),
    AGG("regr_sxx", NULL, "double, double -> double", 0, "regr_sxx($1, $2)$F", "Sum of squares of the second argument"),
    AGG("regr_syy", NULL, "double, double -> double", 0, "regr_syy($1, $2)$F", "Sum of squares of the first argument"),
    AGG("regr_sxy", NULL, "double, double -> double", 0, "regr_sxy($1, $2)$F", "Sum of products"),
    AGG_X("percentile", "percentile_cont percentile_disc", "any, any?, any? -> custom", FN_ORDERED, bind_percentile,
          print_percentile, "Exact percentile"),
    AGG("median", NULL, "double -> double", FN_DISTINCT, "quantile_cont($D$1, 0.5)$F", "Median"),
    {.name = "percentile_approx",
     .aliases = "approx_percentile",
     .signature = "any, any, int? -> custom",
     .sql = "quantile_disc($1, $2)$F",
     .bind = bind_percentile_approx,
     .doc = "Percentile that is a value of the column",
     .kind = FUNCTION_AGGREGATE},
    AGG("approx_count_distinct", NULL, "any, double? -> long", FN_DISTINCT, "approx_count_distinct($1)$F",
        "Estimated number of distinct values"),
    AGG("mode", NULL, "any, bool? -> arg1", 0, "mode($1)$F", "Most frequent value"),
    AGG("max_by", NULL, "any, any -> arg1", 0, "arg_max_null($1, $2)$F", "Value of the row with the greatest second argument"),
    AGG("min_by", NULL, "any, any -> arg1", 0, "arg_min_null($1, $2)$F", "Value of the row with the least second argument"),
    AGG("bit_and", NULL, "integral -> arg1", FN_DISTINCT, "bit_and($1)$F", "Bitwise AND of all values"),
    AGG("bit_or", NULL, "integral -> arg1", FN_DISTINCT, "bit_or($1)$F", "Bitwise OR of all values"),
    AGG("bit_xor", NULL, "integral -> arg1", FN_DISTINCT, "bit_xor($D$1)$F", "Bitwise XOR of all values"),
    AGG_X("listagg", "string_agg", "string, string? -> string", FN_ORDERED | FN_DISTINCT, NULL, print_list_agg,
          "All non-null values joined to one string"),
    AGG_X("grouping", NULL, "any -> custom", 0, bind_grouping, NULL, "1 where the grouping set leaves the column out"),
    AGG_X("grouping_id", NULL, "any* -> custom", 0, bind_grouping, NULL, "The grouping() of the columns as one number"),
};

GROUP_OF(functions_aggregate, "Aggregates", rows);
