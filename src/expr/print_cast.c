/*
 * CAST(from AS to) with Spark's ANSI meaning. DuckDB's own cast is used where it does the same thing (integers to wider ones, decimals to decimals); it raises by itself on
 * overflow. Everything to and from text, from doubles to decimals and between times goes through functions of Silt. try_cast passes `true` to them and gives NULL.
 */
#include "expr/bind.h"
#include "expr/print.h"

typedef struct cast_job {
    const data_type *from, *to;
    bool is_try;
    str column; /**< of the table that INSERT writes to, empty for CAST */
} cast_job;

/* The value to cast: an expression, or a name that a lambda gave to part of a nested value. */
typedef struct operand {
    const expr *e;
    str text;
} operand;

static silt_status print_operand(printer *p, operand x) {
    if (x.e) return print_expr(p, x.e);
    buf_append(p->out, x.text);
    return SILT_OK;
}

static silt_status print_value_cast(printer *p, operand x, const cast_job *job);

static void print_type(printer *p, const data_type *t) { type_print_duckdb(p->out, t, false); }

static const char *bool_word(bool b) { return b ? "true" : "false"; }

static silt_status print_native(printer *p, operand x, const cast_job *job) {
    buf_append_z(p->out, job->is_try ? "TRY_CAST(" : "CAST(");
    TRY(print_operand(p, x));
    buf_append_z(p->out, " AS ");
    print_type(p, job->to);
    buf_append_char(p->out, ')');
    return SILT_OK;
}

static void begin_raising(printer *p, const cast_job *job) {
    if (!job->is_try) print_guard_begin(p);
}

static void end_raising(printer *p, const cast_job *job) {
    if (!job->is_try) print_guard_end(p);
}

/* "Fail to assign …": what an INSERT raises instead of the plain overflow. Empty for CAST. */
static str insert_message(printer *p, const cast_job *job) {
    if (job->column.len == 0) return STR("");
    return arena_printf(
        p->a, "Fail to assign a value of \"%.*s\" type to the \"%.*s\" type column or variable `%.*s` due to an overflow",
        STR_ARG(type_sql(job->from, p->a)), STR_ARG(type_sql(job->to, p->a)), STR_ARG(job->column));
}

/* ---- to numbers ---- */

static silt_status to_decimal(printer *p, operand x, const cast_job *job) {
    const data_type *from = job->from, *to = job->to;
    bool plain = job->column.len == 0;
    if (plain && (from->id == TYPE_DECIMAL || type_is_integral(from))) return print_native(p, x, job);
    print_decimal_begin(p, to, job->is_try);
    buf_append_z(p->out, "silt_to_decimal(");
    if (from->id == TYPE_BOOLEAN) buf_append_z(p->out, "CAST(");
    if (from->id == TYPE_TIMESTAMP) buf_append_z(p->out, "(CAST(epoch_us(");
    TRY(print_operand(p, x));
    if (from->id == TYPE_TIMESTAMP) buf_append_z(p->out, ") AS DECIMAL(20,0)) * '0.000001'::DECIMAL(6,6))");
    if (from->id == TYPE_BOOLEAN) buf_append_z(p->out, " AS INTEGER)");
    buf_printf(p->out, ", %s, %d, %d, ", bool_word(job->is_try), to->precision, to->scale);
    print_string(p, insert_message(p, job));
    buf_append_char(p->out, ')');
    print_decimal_end(p, job->is_try);
    return SILT_OK;
}

static silt_status narrow_for_insert(printer *p, operand x, const cast_job *job) {
    static const struct {
        type_id id;
        const char *low, *high;
    } ranges[] = {{TYPE_BYTE, "-128", "127"},
                  {TYPE_SHORT, "-32768", "32767"},
                  {TYPE_INT, "-2147483648", "2147483647"},
                  {TYPE_LONG, "-9223372036854775808", "9223372036854775807"}};
    size_t i = 0;
    while (ranges[i].id != job->to->id) i++;
    print_guard_begin(p);
    buf_append_z(p->out, "CAST(silt_narrow(");
    TRY(print_operand(p, x));
    buf_printf(p->out, ", (%s)::BIGINT, (%s)::BIGINT, ", ranges[i].low, ranges[i].high);
    print_string(p, insert_message(p, job));
    buf_append_z(p->out, ") AS ");
    print_type(p, job->to);
    buf_append_char(p->out, ')');
    print_guard_end(p);
    return SILT_OK;
}

static silt_status to_integral(printer *p, operand x, const cast_job *job) {
    const data_type *from = job->from;
    if (from->id == TYPE_STRING) {
        begin_raising(p, job);
        buf_append_z(p->out, "CAST(silt_parse_long(");
        TRY(print_operand(p, x));
        buf_printf(p->out, ", %s, ", bool_word(job->is_try));
        print_string(p, type_sql(job->to, p->a));
        buf_append_z(p->out, ") AS ");
        print_type(p, job->to);
        buf_append_char(p->out, ')');
        end_raising(p, job);
        return SILT_OK;
    }
    bool narrows = type_is_numeric(from) && (!type_is_integral(from) || from->id > job->to->id);
    if (narrows && job->column.len) return narrow_for_insert(p, x, job);
    if (type_is_integral(from) || from->id == TYPE_BOOLEAN) return print_native(p, x, job);
    buf_append_z(p->out, job->is_try ? "TRY_CAST(" : "CAST(");
    if (from->id == TYPE_TIMESTAMP) {
        buf_append_z(p->out, "silt_floor_div(epoch_us(");
        TRY(print_operand(p, x));
        buf_append_z(p->out, "), 1000000::BIGINT)");
    } else if (from->id == TYPE_INTERVAL_YM || from->id == TYPE_INTERVAL_DT) {
        buf_printf(p->out, "silt_interval_part(");
        TRY(print_operand(p, x));
        buf_printf(p->out, ", '%s')", from->id == TYPE_INTERVAL_YM ? "months" : "seconds");
    } else { /* Spark cuts the fraction off, DuckDB would round */
        buf_append_z(p->out, "trunc(");
        TRY(print_operand(p, x));
        buf_append_char(p->out, ')');
    }
    buf_append_z(p->out, " AS ");
    print_type(p, job->to);
    buf_append_char(p->out, ')');
    return SILT_OK;
}

static silt_status to_floating(printer *p, operand x, const cast_job *job) {
    if (job->from->id == TYPE_STRING) {
        begin_raising(p, job);
        buf_append_z(p->out, "CAST(silt_parse_double(");
        TRY(print_operand(p, x));
        buf_printf(p->out, ", %s, '%s') AS ", bool_word(job->is_try), job->to->id == TYPE_FLOAT ? "FLOAT" : "DOUBLE");
        print_type(p, job->to);
        buf_append_char(p->out, ')');
        end_raising(p, job);
        return SILT_OK;
    }
    if (job->from->id == TYPE_TIMESTAMP) {
        buf_append_z(p->out, "CAST((epoch_us(");
        TRY(print_operand(p, x));
        buf_append_z(p->out, ") / 1e6::DOUBLE) AS ");
        print_type(p, job->to);
        buf_append_char(p->out, ')');
        return SILT_OK;
    }
    if (job->from->id == TYPE_DECIMAL) { /* correctly rounded from the digits */
        buf_append_z(p->out, "CAST(silt_decimal_double(");
        TRY(print_operand(p, x));
        buf_append_z(p->out, ") AS ");
        print_type(p, job->to);
        buf_append_char(p->out, ')');
        return SILT_OK;
    }
    if (job->from->id == TYPE_DOUBLE && job->to->id == TYPE_FLOAT) { /* beyond the range: infinity, no error */
        buf_append_z(p->out, "silt_double_float(");
        TRY(print_operand(p, x));
        buf_append_char(p->out, ')');
        return SILT_OK;
    }
    return print_native(p, x, job);
}

static silt_status to_boolean(printer *p, operand x, const cast_job *job) {
    if (job->from->id == TYPE_STRING) {
        begin_raising(p, job);
        buf_append_z(p->out, "silt_parse_boolean(");
        TRY(print_operand(p, x));
        buf_printf(p->out, ", %s)", bool_word(job->is_try));
        end_raising(p, job);
        return SILT_OK;
    }
    buf_append_char(p->out, '(');
    TRY(print_operand(p, x));
    buf_append_z(p->out, " <> 0)");
    return SILT_OK;
}

/* ---- to text and bytes ---- */

/* The type with local times for zoned ones; the same pointer when there are none. */
static const data_type *local_type(arena *a, const data_type *t) {
    if (t->id == TYPE_TIMESTAMP) return &type_timestamp_ntz;
    if (t->id == TYPE_ARRAY || t->id == TYPE_MAP) {
        const data_type *k = t->id == TYPE_MAP ? local_type(a, t->key) : NULL, *v = local_type(a, t->element);
        if (!v || (t->id == TYPE_MAP && !k)) return NULL;
        if (v == t->element && (t->id == TYPE_ARRAY || k == t->key)) return t;
        return t->id == TYPE_ARRAY ? type_array(a, v, t->contains_null) : type_map(a, k, v, t->contains_null);
    }
    if (t->id != TYPE_STRUCT) return t;
    field *fields = ARENA_ARRAY(a, t->n_fields, field);
    bool changed = false;
    for (size_t i = 0; fields && i < t->n_fields; i++) {
        fields[i] = t->fields[i];
        fields[i].type = local_type(a, t->fields[i].type);
        if (!fields[i].type) return NULL;
        changed |= fields[i].type != t->fields[i].type;
    }
    return !fields ? NULL : changed ? type_struct(a, fields, t->n_fields) : t;
}

static silt_status to_string(printer *p, operand x, const cast_job *job) {
    const char *fn;
    switch (job->from->id) {
        case TYPE_BOOLEAN:
        case TYPE_BYTE:
        case TYPE_SHORT:
        case TYPE_INT:
        case TYPE_LONG:
        case TYPE_VOID: return print_native(p, x, job);
        case TYPE_DECIMAL: /* DuckDB writes .5 where no digit may stand before the point */
            if (job->from->precision != job->from->scale) return print_native(p, x, job);
            fn = "silt_decimal_text(";
            break;
        case TYPE_FLOAT: fn = "silt_float_text("; break;
        case TYPE_DOUBLE: fn = "silt_double_text("; break;
        case TYPE_DATE: fn = "silt_date_text("; break;
        case TYPE_BINARY: fn = "silt_binary_text("; break;
        case TYPE_TIMESTAMP_NTZ: fn = "silt_timestamp_text("; break;
        case TYPE_INTERVAL_YM:
        case TYPE_INTERVAL_DT:
        case TYPE_INTERVAL:
            buf_append_z(p->out, "silt_interval_text(");
            TRY(print_operand(p, x));
            buf_printf(p->out, ", '%s')",
                       job->from->id == TYPE_INTERVAL_YM   ? "ym"
                       : job->from->id == TYPE_INTERVAL_DT ? "dt"
                                                           : "");
            return SILT_OK;
        case TYPE_VARIANT:
            buf_append_z(p->out, "silt_variant_text(CAST(");
            TRY(print_operand(p, x));
            buf_append_z(p->out, " AS JSON))");
            return SILT_OK;
        case TYPE_TIMESTAMP:
            buf_append_z(p->out, "silt_timestamp_text(");
            if (p->fixed_zone)
                buf_append_z(p->out, "silt_local(");
            else {
                buf_append_z(p->out, "timezone(");
                print_string(p, p->env->time_zone);
                buf_append_z(p->out, ", ");
            }
            TRY(print_operand(p, x));
            if (p->fixed_zone) buf_printf(p->out, ", (%lld)::BIGINT", (long long)p->zone_offset_us);
            buf_append_z(p->out, "))");
            return SILT_OK;
        default: fn = "silt_text("; break;
    }
    buf_append_z(p->out, fn);
    const data_type *shown = type_is_nested(job->from) && !p->fixed_zone ? local_type(p->a, job->from) : job->from;
    if (!shown) return error_no_memory(p->err);
    if (shown != job->from) { /* DuckDB's own cast goes by the session's zone */
        buf_append_z(p->out, "CAST(");
        TRY(print_operand(p, x));
        buf_append_z(p->out, " AS ");
        print_type(p, shown);
        buf_append_char(p->out, ')');
    } else
        TRY(print_operand(p, x));
    if (type_is_nested(job->from)) buf_printf(p->out, ", (%lld)::BIGINT", (long long)p->zone_offset_us);
    buf_append_char(p->out, ')');
    return SILT_OK;
}

static silt_status to_binary(printer *p, operand x) {
    buf_append_z(p->out, "encode(");
    TRY(print_operand(p, x));
    buf_append_char(p->out, ')');
    return SILT_OK;
}

/* ---- to times ---- */

/* A text may end in an offset (an instant), in a region's name, which DuckDB's ICU knows, or in no zone: then it is local time of the session. */
static silt_status text_to_timestamp(printer *p, operand x, const cast_job *job) {
    str text = x.text;
    const char *is_try = bool_word(job->is_try);
    buf_printf(p->out,
               "CASE WHEN silt_text_region(%.*s) IS NOT NULL THEN timezone(silt_text_region(%.*s), "
               "silt_parse_ntz(silt_text_without_region(%.*s), %s)) ",
               STR_ARG(text), STR_ARG(text), STR_ARG(text), is_try);
    if (p->fixed_zone) {
        buf_printf(p->out, "ELSE silt_parse_timestamp(%.*s, %s, (%lld)::BIGINT) END", STR_ARG(text), is_try,
                   (long long)p->zone_offset_us);
        return SILT_OK;
    }
    buf_printf(p->out, "WHEN silt_has_zone(%.*s) THEN silt_parse_timestamp(%.*s, %s, 0::BIGINT) ELSE timezone(", STR_ARG(text),
               STR_ARG(text), is_try);
    print_string(p, p->env->time_zone);
    buf_printf(p->out, ", silt_parse_ntz(%.*s, %s)) END", STR_ARG(text), is_try);
    return SILT_OK;
}

static silt_status timestamp_body(printer *p, str name, const void *ctx) {
    return text_to_timestamp(p, (operand){.text = name}, ctx);
}

static silt_status from_text_to_time(printer *p, operand x, const cast_job *job) {
    type_id to = job->to->id;
    begin_raising(p, job);
    if (to == TYPE_TIMESTAMP)
        TRY(x.e ? print_let(p, x.e, timestamp_body, job) : text_to_timestamp(p, x, job));
    else {
        buf_append_z(p->out, to == TYPE_DATE ? "silt_parse_date(" : "silt_parse_ntz(");
        TRY(print_operand(p, x));
        buf_printf(p->out, ", %s)", bool_word(job->is_try));
    }
    end_raising(p, job);
    return SILT_OK;
}

static silt_status number_to_timestamp(printer *p, operand x, const cast_job *job) {
    begin_raising(p, job);
    buf_append_z(p->out, "silt_seconds_timestamp(");
    TRY(print_operand(p, x));
    buf_append_char(p->out, ')');
    end_raising(p, job);
    return SILT_OK;
}

static silt_status local_operand(printer *p, operand x, const data_type *from) {
    if (x.e) return print_local(p, x.e);
    if (from->id != TYPE_TIMESTAMP) {
        buf_printf(p->out, from->id == TYPE_DATE ? "CAST(%.*s AS TIMESTAMP)" : "%.*s", STR_ARG(x.text));
        return SILT_OK;
    }
    if (p->fixed_zone) {
        buf_printf(p->out, "silt_local(%.*s, (%lld)::BIGINT)", STR_ARG(x.text), (long long)p->zone_offset_us);
        return SILT_OK;
    }
    buf_append_z(p->out, "timezone(");
    print_string(p, p->env->time_zone);
    buf_printf(p->out, ", %.*s)", STR_ARG(x.text));
    return SILT_OK;
}

static silt_status to_time(printer *p, operand x, const cast_job *job) {
    if (job->from->id == TYPE_STRING) return from_text_to_time(p, x, job);
    if (type_is_numeric(job->from)) return number_to_timestamp(p, x, job);
    if (job->to->id == TYPE_TIMESTAMP) {
        print_zoned_begin(p);
        TRY(local_operand(p, x, job->from));
        print_zoned_end(p);
        return SILT_OK;
    }
    bool date = job->to->id == TYPE_DATE;
    if (date) buf_append_z(p->out, "CAST(");
    TRY(local_operand(p, x, job->from));
    if (date) buf_append_z(p->out, " AS DATE)");
    return SILT_OK;
}

static silt_status to_interval(printer *p, operand x, const cast_job *job) {
    const char *kind = job->to->id == TYPE_INTERVAL_YM ? "ym" : job->to->id == TYPE_INTERVAL_DT ? "dt" : "";
    begin_raising(p, job);
    if (job->from->id == TYPE_STRING) {
        buf_append_z(p->out, "silt_parse_interval(");
        TRY(print_operand(p, x));
        buf_printf(p->out, ", %s, '%s')", bool_word(job->is_try), kind);
    } else {
        buf_append_z(p->out, "silt_number_interval(CAST(");
        TRY(print_operand(p, x));
        buf_printf(p->out, " AS DOUBLE), '%s')", kind);
    }
    end_raising(p, job);
    return SILT_OK;
}

/* ---- nested ---- */

/* DuckDB's cast of a list or map does each element as its own cast would: right where no leaf needs Silt's rules. */
static bool native_is_right(const data_type *from, const data_type *to) {
    if (from->id == TYPE_VOID) return true;
    if (from->id == TYPE_ARRAY) return native_is_right(from->element, to->element);
    if (from->id == TYPE_MAP) return native_is_right(from->key, to->key) && native_is_right(from->element, to->element);
    if (from->id == TYPE_STRUCT) {
        for (size_t i = 0; i < from->n_fields; i++)
            if (!str_eq(from->fields[i].name, to->fields[i].name) || !native_is_right(from->fields[i].type, to->fields[i].type))
                return false;
        return true;
    }
    if (type_equal(from, to)) return true;
    if (type_is_integral(from) && (type_is_integral(to) || to->id == TYPE_DOUBLE || to->id == TYPE_FLOAT)) return true;
    if (type_is_integral(from) || from->id == TYPE_DECIMAL)
        return to->id == TYPE_DECIMAL || (to->id == TYPE_STRING && from->id != TYPE_DECIMAL);
    return from->id == TYPE_FLOAT && to->id == TYPE_DOUBLE;
}

static silt_status cast_list(printer *p, operand x, const cast_job *job) {
    str name = arena_printf(p->a, "l%u", p->next_name++);
    cast_job element = {job->from->element, job->to->element, job->is_try, job->column};
    buf_append_z(p->out, "list_transform(");
    begin_raising(p, job);
    TRY(print_operand(p, x));
    end_raising(p, job);
    buf_printf(p->out, ", lambda %.*s: ", STR_ARG(name));
    TRY(print_value_cast(p, (operand){.text = name}, &element));
    buf_append_char(p->out, ')');
    return SILT_OK;
}

static silt_status cast_map(printer *p, operand x, const cast_job *job) {
    str text = x.text, name = arena_printf(p->a, "l%u", p->next_name++);
    if (x.e) TRY(print_expr_text(p, x.e, &text));
    cast_job key = {job->from->key, job->to->key, job->is_try, job->column},
             element = {job->from->element, job->to->element, job->is_try, job->column};
    buf_append_z(p->out, "map_from_entries(list_transform(");
    begin_raising(p, job);
    buf_printf(p->out, "map_entries(%.*s)", STR_ARG(text));
    end_raising(p, job);
    buf_printf(p->out, ", lambda %.*s: {'key': ", STR_ARG(name));
    TRY(print_value_cast(p, (operand){.text = arena_printf(p->a, "%.*s.key", STR_ARG(name))}, &key));
    buf_append_z(p->out, ", 'value': ");
    TRY(print_value_cast(p, (operand){.text = arena_printf(p->a, "%.*s.value", STR_ARG(name))}, &element));
    buf_append_z(p->out, "}))");
    return SILT_OK;
}

static silt_status struct_body(printer *p, str name, const void *ctx) {
    const cast_job *job = ctx;
    buf_printf(p->out, "CASE WHEN %.*s IS NULL THEN NULL ELSE {", STR_ARG(name));
    for (size_t i = 0; i < job->from->n_fields; i++) {
        cast_job part = {job->from->fields[i].type, job->to->fields[i].type, job->is_try, job->column};
        buf_append_z(p->out, i ? ", " : "");
        print_string(p, job->to->fields[i].name);
        buf_append_z(p->out, ": ");
        buf member, *kept = p->out;
        buf_init(&member, BUF_MAX_DEFAULT);
        p->out = &member;
        buf_printf(&member, "struct_extract(%.*s, ", STR_ARG(name));
        print_string(p, job->from->fields[i].name);
        buf_append_char(&member, ')');
        p->out = kept;
        str text = print_take(p, &member);
        TRY(print_value_cast(p, (operand){.text = text}, &part));
    }
    buf_append_z(p->out, "} END");
    return SILT_OK;
}

static silt_status cast_struct(printer *p, operand x, const cast_job *job) {
    return x.e ? print_let(p, x.e, struct_body, job) : struct_body(p, x.text, job);
}

/* ---- dispatch ---- */

static silt_status print_value_cast(printer *p, operand x, const cast_job *job) {
    const data_type *from = job->from, *to = job->to;
    if (type_equal(from, to) && !type_is_nested(to)) return print_operand(p, x);
    if (from->id == TYPE_VOID) return print_native(p, x, job);
    if (to->id == TYPE_STRING) return to_string(p, x, job);
    if (type_is_nested(from) && type_is_nested(to)) {
        if (native_is_right(from, to)) return print_native(p, x, job);
        return from->id == TYPE_ARRAY ? cast_list(p, x, job)
               : from->id == TYPE_MAP ? cast_map(p, x, job)
                                      : cast_struct(p, x, job);
    }
    if (from->id == TYPE_VARIANT || to->id == TYPE_VARIANT) return print_native(p, x, job);
    switch (to->id) {
        case TYPE_BOOLEAN: return to_boolean(p, x, job);
        case TYPE_BYTE:
        case TYPE_SHORT:
        case TYPE_INT:
        case TYPE_LONG: return to_integral(p, x, job);
        case TYPE_FLOAT:
        case TYPE_DOUBLE: return to_floating(p, x, job);
        case TYPE_DECIMAL: return to_decimal(p, x, job);
        case TYPE_BINARY: return to_binary(p, x);
        case TYPE_DATE:
        case TYPE_TIMESTAMP:
        case TYPE_TIMESTAMP_NTZ: return to_time(p, x, job);
        case TYPE_INTERVAL_YM:
        case TYPE_INTERVAL_DT:
        case TYPE_INTERVAL: return to_interval(p, x, job);
        default: return print_native(p, x, job);
    }
}

/* A cast of a literal whose value is known here prints as the literal: row groups can be pruned by it. */
static bool print_folded(printer *p, const expr *arg, const data_type *to, silt_status *out_status) {
    if (arg->kind != EXPR_LITERAL || arg->type->id == TYPE_VOID || arg->literal.is_null) return false;
    value v;
    expr cast = {.kind = EXPR_CAST, .type = to, .cast_type = to, .args = (expr *[]){(expr *)(uintptr_t)arg}, .n_args = 1};
    if (!fold_simple(&cast, p->env, p->a, &v)) return false;
    *out_status = print_literal(p, &v);
    return true;
}

silt_status print_cast(printer *p, const expr *arg, const data_type *to, bool is_try, str insert_column) {
    silt_status st;
    if (print_folded(p, arg, to, &st)) return st;
    cast_job job = {arg->type, to, is_try, insert_column};
    return print_value_cast(p, (operand){.e = arg}, &job);
}
