/* Function calls: overload by number and type of arguments, coercion by the row's signature, where aggregates, windows and generators may stand. */
#include "expr/bind.h"

/* ---- signatures ---- */

/* The i-th parameter word (the last one for repeated ones); false when there is none. Flags '?', '*', '=' are cut off. */
static bool signature_param(const char *signature, size_t index, str *out_word, bool *out_exact) {
    const char *arrow = strstr(signature, "->");
    str params = str_trim((str){signature, arrow ? (size_t)(arrow - signature) : strlen(signature)}), piece;
    for (size_t i = 0; str_next(&params, ',', &piece); i++) {
        str word = str_trim(piece);
        if (word.len == 0) return false;
        bool repeats = word.ptr[word.len - 1] == '*';
        if (repeats || word.ptr[word.len - 1] == '?') word.len--;
        *out_exact = word.ptr[0] == '=';
        if (*out_exact) word = str_slice(word, 1, word.len);
        *out_word = word;
        if (i == index || repeats) return true;
    }
    return false;
}

void function_arity(const function_row *row, size_t *out_min, size_t *out_max) {
    const char *arrow = strstr(row->signature, "->");
    str params = str_trim((str){row->signature, arrow ? (size_t)(arrow - row->signature) : strlen(row->signature)}), piece;
    *out_min = *out_max = 0;
    while (str_next(&params, ',', &piece)) {
        str word = str_trim(piece);
        if (word.len == 0) continue;
        char last = word.ptr[word.len - 1];
        if (last == '*') {
            *out_max = SIZE_MAX;
            return;
        }
        if (last != '?') ++*out_min;
        ++*out_max;
    }
}

static const data_type *plain_type(str word) {
    static const struct {
        const char *word;
        const data_type *type;
    } words[] = {
        {"bool", &type_boolean},
        {"byte", &type_byte},
        {"short", &type_short},
        {"int", &type_int},
        {"long", &type_long},
        {"float", &type_float},
        {"double", &type_double},
        {"string", &type_string},
        {"binary", &type_binary},
        {"date", &type_date},
        {"timestamp", &type_timestamp},
        {"ntz", &type_timestamp_ntz},
        {"interval", &type_interval},
        {"interval_ym", &type_interval_ym},
        {"interval_dt", &type_interval_dt},
        {"variant", &type_variant},
        {"void", &type_void},
    };
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (str_eqz(word, words[i].word)) return words[i].type;
    return NULL;
}

static bool word_accepts(str word, const data_type *t) {
    const data_type *plain = plain_type(word);
    if (plain) return plain->id == t->id;
    if (str_eqz(word, "number")) return type_is_numeric(t);
    if (str_eqz(word, "integral")) return type_is_integral(t);
    if (str_eqz(word, "decimal")) return t->id == TYPE_DECIMAL;
    if (str_eqz(word, "datetime")) return t->id == TYPE_DATE || t->id == TYPE_TIMESTAMP || t->id == TYPE_TIMESTAMP_NTZ;
    if (str_eqz(word, "text")) return t->id == TYPE_STRING || t->id == TYPE_BINARY;
    if (str_eqz(word, "array")) return t->id == TYPE_ARRAY;
    if (str_eqz(word, "map")) return t->id == TYPE_MAP;
    if (str_eqz(word, "struct")) return t->id == TYPE_STRUCT;
    if (str_eqz(word, "lambda")) return true;
    return false;
}

static const data_type *first_of(const expr *e, type_id id) {
    for (size_t i = 0; i < e->n_args; i++)
        if (e->args[i]->type && e->args[i]->type->id == id) return e->args[i]->type;
    return NULL;
}

static silt_status mismatch(binder *b, const expr *e, size_t i, const char *wanted) {
    return err_DATATYPE_MISMATCH(b->err, bind_text(b, e),
                                 arena_printf(b->a, "parameter %zu requires the %s type, however \"%.*s\" has the type \"%.*s\"",
                                              i + 1, wanted, STR_ARG(bind_text(b, e->args[i])),
                                              STR_ARG(type_sql(e->args[i]->type, b->a))));
}

/* Class words: what is not of the class already is cast to its usual member, where that cast is implicit. */
static silt_status coerce_class(binder *b, expr *e, size_t i, str word) {
    const data_type *t = e->args[i]->type;
    if (word_accepts(word, t)) return SILT_OK;
    bool open = t->id == TYPE_STRING || t->id == TYPE_VOID;
    if (str_eqz(word, "number")) return open ? bind_cast_slot(b, &e->args[i], &type_double) : mismatch(b, e, i, "\"NUMERIC\"");
    if (str_eqz(word, "integral")) {
        if (open || type_is_numeric(t)) return bind_cast_slot(b, &e->args[i], &type_long);
        return mismatch(b, e, i, "\"INTEGRAL\"");
    }
    if (str_eqz(word, "decimal")) {
        const data_type *d = coerce_decimal_of(b->a, t);
        if (!d && open) BIND_NEW(d, type_decimal(b->a, 38, 18));
        if (!d && (t->id == TYPE_DOUBLE || t->id == TYPE_FLOAT)) BIND_NEW(d, type_decimal(b->a, 30, 15));
        return d ? bind_cast_slot(b, &e->args[i], d) : mismatch(b, e, i, "\"DECIMAL\"");
    }
    if (str_eqz(word, "datetime"))
        return open ? bind_cast_slot(b, &e->args[i], &type_timestamp) : mismatch(b, e, i, "(\"DATE\" or \"TIMESTAMP\")");
    if (str_eqz(word, "text")) return bind_coerce_slot(b, &e->args[i], &type_string, e, i);
    if (str_eqz(word, "array") && t->id == TYPE_VOID) {
        const data_type *a;
        BIND_NEW(a, type_array(b->a, &type_void, true));
        return bind_cast_slot(b, &e->args[i], a);
    }
    if (str_eqz(word, "map") && t->id == TYPE_VOID) {
        const data_type *m;
        BIND_NEW(m, type_map(b->a, &type_void, &type_void, true));
        return bind_cast_slot(b, &e->args[i], m);
    }
    if (str_eqz(word, "array")) return mismatch(b, e, i, "\"ARRAY\"");
    if (str_eqz(word, "map")) return mismatch(b, e, i, "\"MAP\"");
    return mismatch(b, e, i, str_eqz(word, "struct") ? "\"STRUCT\"" : "another");
}

/* An element argument and its array widen to a common element type. */
static silt_status coerce_element(binder *b, expr *e, size_t i) {
    for (size_t k = 0; k < e->n_args; k++) {
        const data_type *a = e->args[k]->type;
        if (!a || a->id != TYPE_ARRAY || k == i) continue;
        const data_type *common = coerce_common(b->a, a->element, e->args[i]->type), *wide;
        bool no_string_mix = (a->element->id == TYPE_STRING) == (e->args[i]->type->id == TYPE_STRING) ||
                             a->element->id == TYPE_VOID || e->args[i]->type->id == TYPE_VOID;
        if (!common || !no_string_mix)
            return err_DATATYPE_MISMATCH_DATA_DIFF_TYPES(b->err, bind_text(b, e),
                                                         arena_printf(b->a, "\"%.*s\" and \"%.*s\"", STR_ARG(type_sql(a, b->a)),
                                                                      STR_ARG(type_sql(e->args[i]->type, b->a))));
        BIND_NEW(wide, type_array(b->a, common, a->contains_null));
        TRY(bind_cast_slot(b, &e->args[k], wide));
        return bind_cast_slot(b, &e->args[i], common);
    }
    return SILT_OK;
}

static silt_status coerce_same(binder *b, expr *e, const char *signature, const data_type **out_same) {
    expr **slots;
    size_t n = 0, *at;
    BIND_NEW(slots, ARENA_ARRAY(b->a, e->n_args, expr *));
    BIND_NEW(at, ARENA_ARRAY(b->a, e->n_args, size_t));
    for (size_t i = 0; i < e->n_args; i++) {
        str word;
        bool exact;
        if (signature_param(signature, i, &word, &exact) && str_eqz(word, "same")) slots[n] = e->args[i], at[n++] = i;
    }
    if (n == 0) return SILT_OK;
    TRY(bind_common_slots(b, slots, n, e, out_same));
    for (size_t i = 0; i < n; i++) e->args[at[i]] = slots[i];
    return SILT_OK;
}

static silt_status coerce_args(binder *b, expr *e, const char *signature, const data_type **out_same) {
    TRY(coerce_same(b, e, signature, out_same));
    for (size_t i = 0; i < e->n_args; i++) {
        str word;
        bool exact;
        if (!signature_param(signature, i, &word, &exact) || str_eqz(word, "any") || str_eqz(word, "same")) continue;
        if (e->args[i]->kind == EXPR_LAMBDA) {
            if (!str_eqz(word, "lambda")) return mismatch(b, e, i, "value");
            continue;
        }
        if (str_eqz(word, "lambda")) return mismatch(b, e, i, "lambda");
        const data_type *plain = plain_type(word);
        if (plain)
            TRY(bind_coerce_slot(b, &e->args[i], plain, e, i));
        else if (str_eqz(word, "elem"))
            TRY(coerce_element(b, e, i));
        else if (str_eqz(word, "key")) {
            const data_type *m = first_of(e, TYPE_MAP);
            if (m) TRY(bind_coerce_slot(b, &e->args[i], m->key, e, i));
        } else
            TRY(coerce_class(b, e, i, word));
    }
    return SILT_OK;
}

/* ---- results ---- */

static const data_type *result_type(binder *b, const expr *e, str word, const data_type *same) {
    const data_type *plain = plain_type(word);
    if (plain) return plain;
    if (word.len == 4 && str_starts_with(word, STR("arg"))) {
        size_t i = (size_t)(word.ptr[3] - '1');
        return i < e->n_args ? e->args[i]->type : NULL;
    }
    if (str_eqz(word, "same")) return same;
    const data_type *array = first_of(e, TYPE_ARRAY), *map = first_of(e, TYPE_MAP);
    if (str_eqz(word, "elem")) return array ? array->element : NULL;
    if (str_eqz(word, "key")) return map ? map->key : NULL;
    if (str_eqz(word, "val")) return map ? map->element : NULL;
    if (str_starts_with(word, STR("array(")) && word.ptr[word.len - 1] == ')') {
        const data_type *t = result_type(b, e, str_slice(word, 6, word.len - 1), same);
        return t ? type_array(b->a, t, true) : NULL;
    }
    if (str_starts_with(word, STR("map(")) && word.ptr[word.len - 1] == ')') {
        str inner = str_slice(word, 4, word.len - 1);
        size_t comma = str_find_char(inner, ',');
        if (comma == SIZE_MAX) return NULL;
        const data_type *k = result_type(b, e, str_slice(inner, 0, comma), same),
                        *v = result_type(b, e, str_slice(inner, comma + 1, inner.len), same);
        return k && v ? type_map(b->a, k, v, true) : NULL;
    }
    return NULL;
}

static bool args_nullable(const expr *e) {
    for (size_t i = 0; i < e->n_args; i++)
        if (e->args[i]->nullable) return true;
    return false;
}

static bool row_accepts(const function_row *row, const expr *e) {
    for (size_t i = 0; i < e->n_args; i++) {
        str word;
        bool exact;
        if (signature_param(row->signature, i, &word, &exact) && exact &&
            !word_accepts(word, e->args[i]->type ? e->args[i]->type : &type_void))
            return false;
    }
    return true;
}

silt_status bind_function_row(binder *b, expr *e, const function_row *row, bool *out_matched) {
    *out_matched = row_accepts(row, e);
    if (!*out_matched) return SILT_OK;
    const data_type *same = NULL;
    TRY(coerce_args(b, e, row->signature, &same));
    e->function = row;
    e->nullable = row->kind == FUNCTION_AGGREGATE || (row->flags & FN_NULLABLE) ? true
                  : (row->flags & FN_NEVER_NULL)                                ? false
                                                                                : args_nullable(e);
    const char *arrow = strstr(row->signature, "->");
    str word = str_trim(str_of(arrow + 2));
    if (!str_eqz(word, "custom")) {
        const data_type *t = result_type(b, e, word, same);
        if (!t) return err_DATATYPE_MISMATCH(b->err, bind_text(b, e), STR("the argument types give no result type"));
        if (t->id == TYPE_VOID && row->kind == FUNCTION_SCALAR && !str_eqz(word, "void") && !str_eqz(word, "same") &&
            word.len != 4)
            t = &type_void;
        e->type = t;
    }
    return row->bind ? row->bind(b, e) : SILT_OK;
}

/* ---- lambdas ---- */

silt_status bind_lambda(binder *b, expr *lambda, const data_type *const *types, const bool *nullable, size_t n) {
    scope *s = b->current;
    if (lambda->kind != EXPR_LAMBDA || lambda->n_lambda_params > n || lambda->n_lambda_params == 0)
        return err_DATATYPE_MISMATCH(b->err, bind_text(b, lambda),
                                     arena_printf(b->a, "a lambda of at most %zu parameters is required", n));
    size_t kept = s->n_lambdas;
    str *unique;
    BIND_NEW(unique, ARENA_ARRAY(b->a, lambda->n_lambda_params, str));
    for (size_t i = 0; i < lambda->n_lambda_params; i++) {
        unique[i] = arena_printf(b->a, "v%u", b->next_id++);
        if (!unique[i].ptr) return error_no_memory(b->err);
        lambda_name name = {lambda->lambda_params[i], unique[i], types[i], nullable[i]};
        if (!ARENA_PUSH(b->a, s->lambdas, s->n_lambdas, s->lambda_capacity, name)) return error_no_memory(b->err);
    }
    silt_status st = bind_expr(b, s, lambda->args[0]);
    s->n_lambdas = kept;
    if (st != SILT_OK) return st;
    b->current = s;
    lambda->lambda_params = unique;
    lambda->type = lambda->args[0]->type;
    lambda->nullable = lambda->args[0]->nullable;
    lambda->is_aggregate = lambda->args[0]->is_aggregate;
    return SILT_OK;
}

/* ---- macros ---- */

typedef struct macro_args {
    binder *b;
    expr **args;
    size_t n;
    bool failed;
} macro_args;

static bool put_macro_arg(void *ctx, expr *e) {
    macro_args *m = ctx;
    if (e->kind != EXPR_PARAMETER || e->function_name.len != 2 || e->function_name.ptr[0] != 'p') return true;
    size_t i = (size_t)(e->function_name.ptr[1] - '1');
    expr *copy = i < m->n ? expr_clone(m->args[i], m->b->a) : NULL;
    if (!copy) {
        m->failed = true;
        return false;
    }
    *e = *copy;
    return true;
}

silt_status bind_macro(binder *b, scope *s, expr *e, const char *text) {
    expr *body;
    TRY(expr_parse(str_of(text), b->a, &body, b->err));
    macro_args m = {b, e->args, e->n_args, false};
    (void)expr_walk(body, put_macro_arg, &m);
    if (m.failed) return err_INTERNAL_ERROR(b->err, text);
    TRY(bind_expr(b, s, body));
    bind_become(e, body);
    return SILT_OK;
}

/* ---- calls ---- */

static silt_status wrong_count(binder *b, const expr *e, const function_row *row) {
    size_t min, max;
    function_arity(row, &min, &max);
    str expected = max == SIZE_MAX ? arena_printf(b->a, "> %zu", min ? min - 1 : 0)
                   : min == max    ? arena_printf(b->a, "%zu", min)
                                   : arena_printf(b->a, "[%zu, %zu]", min, max);
    return err_WRONG_NUM_ARGS(b->err, e->function_name, expected, (int64_t)e->n_args);
}

static silt_status check_place(binder *b, scope *s, const expr *e, const function_row *row) {
    bool aggregate = row->kind == FUNCTION_AGGREGATE && !e->over;
    if (row->kind == FUNCTION_WINDOW && !e->over) return err_WINDOW_FUNCTION_WITHOUT_OVER_CLAUSE(b->err);
    if (row->kind == FUNCTION_GENERATOR) {
        if (s && s->where == CLAUSE_WHERE) return err_INVALID_WHERE_CONDITION(b->err, bind_text(b, e));
        return err_UNSUPPORTED_GENERATOR_NESTED(b->err, bind_text(b, e));
    }
    if (!aggregate && !e->over) return SILT_OK;
    if (!s || s->where == CLAUSE_WHERE || s->where == CLAUSE_ON || s->where == CLAUSE_GENERATOR)
        return err_INVALID_WHERE_CONDITION(b->err, bind_text(b, e));
    if (s->where == CLAUSE_GROUP) return err_GROUP_BY_AGGREGATE(b->err, bind_text(b, e));
    if (aggregate && s->in_aggregate) return err_NESTED_AGGREGATE_FUNCTION(b->err);
    if (e->over && s->in_aggregate) return err_UNSUPPORTED_FEATURE(b->err, "a window function inside an aggregate function");
    if (e->over && e->is_distinct) return err_DISTINCT_WINDOW_FUNCTION_UNSUPPORTED(b->err, bind_text(b, e));
    return SILT_OK;
}

/* count(*) is count(1); a star elsewhere stands for the columns. */
static silt_status open_stars(binder *b, scope *s, expr *e) {
    for (size_t i = 0; i < e->n_args; i++) {
        if (e->args[i]->kind != EXPR_STAR) continue;
        bool count =
            str_eq_ascii_fold(e->function_name, STR("count")) && e->n_args == 1 && !e->is_distinct && e->args[i]->name.count == 0;
        if (count) {
            BIND_NEW(e->args[0], expr_literal_i64(b->a, 1));
            return SILT_OK;
        }
        if (!s) return err_STAR_GROUP_BY_POS(b->err, "without a FROM clause");
        expr **items, **args;
        str *names;
        size_t n;
        TRY(scope_expand_star(b, s, e->args[i], &items, &names, &n));
        BIND_NEW(args, ARENA_ARRAY(b->a, e->n_args + n, expr *));
        memcpy(args, e->args, i * sizeof *args);
        for (size_t k = 0; k < n; k++) args[i + k] = items[k];
        memcpy(args + i + n, e->args + i + 1, (e->n_args - i - 1) * sizeof *args);
        e->args = args;
        e->n_args += n - 1;
        i += n;
        i--;
    }
    return SILT_OK;
}

static silt_status bind_arguments(binder *b, scope *s, expr *e) {
    bool names_fields = str_eq_ascii_fold(e->function_name, STR("struct"));
    for (size_t i = 0; i < e->n_args; i++) {
        if (e->args[i]->kind == EXPR_LAMBDA) continue;
        if (e->args[i]->kind == EXPR_NAMED && !names_fields) e->args[i] = e->args[i]->args[0];
        TRY(bind_expr(b, s, e->args[i]));
    }
    for (size_t i = 0; i < e->n_within_order; i++) TRY(bind_expr(b, s, e->within_order[i].value));
    return SILT_OK;
}

static silt_status bind_row_overloads(binder *b, expr *e, const function_row *row) {
    for (; row; row = function_find_next(row, e->function_name, e->n_args)) {
        bool matched;
        TRY(bind_function_row(b, e, row, &matched));
        if (matched) return SILT_OK;
    }
    return err_DATATYPE_MISMATCH(b->err, bind_text(b, e), STR("no form of the function takes arguments of these types"));
}

bool bind_is_generator(const expr *e) {
    if (e->kind != EXPR_CALL) return false;
    bool known;
    const function_row *row = function_find(e->function_name, e->n_args, &known);
    return row && row->kind == FUNCTION_GENERATOR;
}

static bool operator_call(binder *b, expr *e, silt_status *out_status, scope *s) {
    char lower[16];
    if (e->function_name.len >= sizeof lower || e->over || e->is_distinct) return false;
    for (size_t i = 0; i < e->function_name.len; i++) {
        char c = e->function_name.ptr[i];
        lower[i] = (char)(c >= 'A' && c <= 'Z' ? c + 32 : c);
    }
    str name = {lower, e->function_name.len};
    static const struct {
        const char *alias, *op;
        size_t min, max;
    } written[] = {
        {"isnull", "isnull", 1, 1},
        {"isnotnull", "isnotnull", 1, 1},
        {"negative", "negative", 1, 1},
        {"positive", "positive", 1, 1},
        {"div", "div", 2, 2},
        {"mod", "%", 2, 2},
        {"like", "like", 2, 3},
        {"ilike", "ilike", 2, 3},
        {"rlike", "rlike", 2, 2},
        {"regexp", "rlike", 2, 2},
        {"regexp_like", "rlike", 2, 2},
        {"not", "not", 1, 1},
        {"and", "and", 2, 2},
        {"or", "or", 2, 2},
        {"in", "in", 2, SIZE_MAX},
        {"between", "between", 3, 3},
        {"equal_null", "<=>", 2, 2},
        {"=", "=", 2, 2},
        {"==", "=", 2, 2},
        {"<=>", "<=>", 2, 2},
        {"<>", "<>", 2, 2},
        {"!=", "<>", 2, 2},
        {"<", "<", 2, 2},
        {"<=", "<=", 2, 2},
        {">", ">", 2, 2},
        {">=", ">=", 2, 2},
        {"+", "+", 2, 2},
        {"-", "-", 2, 2},
        {"*", "*", 2, 2},
        {"/", "/", 2, 2},
        {"%", "%", 2, 2},
        {"~", "~", 1, 1},
        {"&", "&", 2, 2},
        {"|", "|", 2, 2},
        {"^", "^", 2, 2},
    };
    for (size_t i = 0; i < ARRAY_LEN(written); i++) {
        if (!str_eqz(name, written[i].alias) || e->n_args < written[i].min || e->n_args > written[i].max) continue;
        e->function_name = str_of(written[i].op);
        *out_status = bind_expr_list(b, s, e->args, e->n_args);
        if (*out_status == SILT_OK) *out_status = bind_operator(b, s, e);
        return true;
    }
    return false;
}

silt_status bind_call(binder *b, scope *s, expr *e) {
    silt_status st;
    if (operator_call(b, e, &st, s)) return st;
    scope none = {0};
    if (!s) s = &none;
    bool known;
    TRY(open_stars(b, s == &none ? NULL : s, e));
    const function_row *row = function_find(e->function_name, e->n_args, &known);
    if (!row && !known) return err_UNRESOLVED_ROUTINE(b->err, e->function_name);
    if (!row) return wrong_count(b, e, function_find(e->function_name, SIZE_MAX, &known));
    if (row->flags & FN_MACRO) return bind_macro(b, s, e, row->sql);
    TRY(check_place(b, s == &none ? NULL : s, e, row));
    if (e->is_distinct && !(row->flags & FN_DISTINCT)) return err_UNSUPPORTED_FEATURE(b->err, "DISTINCT in this function");
    if (e->n_within_order && !(row->flags & FN_ORDERED)) return err_UNSUPPORTED_FEATURE(b->err, "WITHIN GROUP for this function");
    if (e->filter && row->kind != FUNCTION_AGGREGATE)
        return err_UNSUPPORTED_FEATURE(b->err, "FILTER on a function that does not aggregate");
    bool aggregate = row->kind == FUNCTION_AGGREGATE && !e->over, kept_aggregate = s->in_aggregate;
    if (aggregate) s->in_aggregate = true;
    st = bind_arguments(b, s, e);
    if (st == SILT_OK && e->filter) st = bind_condition(b, s, &e->filter, err_INVALID_AGGREGATE_FILTER_NOT_BOOLEAN);
    s->in_aggregate = kept_aggregate;
    if (st != SILT_OK) return st;
    if (e->over) TRY(bind_window(b, s, e->over));
    if (e->over && row->kind == FUNCTION_WINDOW && e->over->n_order_by == 0)
        return err_WINDOW_NOT_ORDERED(b->err, bind_text(b, e));
    scope *kept = b->current;
    b->current = s;
    TRY(bind_row_overloads(b, e, row));
    b->current = kept;
    if (aggregate) e->is_aggregate = true;
    return SILT_OK;
}
