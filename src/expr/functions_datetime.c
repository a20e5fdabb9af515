/*
 * Dates and times. Fields of a timestamp are those of local time in the session's zone ($L1); what gives a timestamp turns the local one back. Patterns are Java's
 * (DateTimeFormatter), read by Silt's own functions.
 */
#include "base/time.h"
#include "expr/functions_tables.h"

static bool named(const expr *e, const char *name) { return str_eq_ascii_fold(e->function_name, str_of(name)); }

/* ---- the moment of the statement ---- */

static int64_t floor_div(int64_t x, int64_t y) { return x / y - (x % y != 0 && (x < 0) != (y < 0)); }

static silt_status bind_now(binder *b, expr *e) {
    bool date = named(e, "current_date") || named(e, "curdate");
    expr *lit;
    BIND_NEW(lit, expr_literal(b->a, (value){.type = &type_timestamp, .as.i64 = b->env->now_us}, e->span));
    lit->type = &type_timestamp;
    if (!date && !named(e, "localtimestamp")) {
        bind_become(e, lit);
        return SILT_OK;
    }
    const data_type *to = date ? &type_date : &type_timestamp_ntz;
    TRY(bind_cast_slot(b, &lit, to));
    bind_become(e, lit);
    return SILT_OK;
}

/* ---- results of the argument's kind of time ---- */

/* Prints fn(local argument …) as the call's own type: zoned again for TIMESTAMP. */
static silt_status print_shifted(printer *p, const expr *e, const char *text) {
    bool zoned = e->type->id == TYPE_TIMESTAMP, date = e->type->id == TYPE_DATE;
    if (zoned) print_zoned_begin(p);
    if (date) buf_append_z(p->out, "CAST(");
    TRY(print_template(p, text, e));
    if (date) buf_append_z(p->out, " AS DATE)");
    if (zoned) print_zoned_end(p);
    return SILT_OK;
}

static silt_status bind_date_trunc(binder *b, expr *e) {
    if (e->args[1]->type->id != TYPE_TIMESTAMP) TRY(bind_cast_slot(b, &e->args[1], &type_timestamp));
    e->type = &type_timestamp;
    e->nullable = true;
    return SILT_OK;
}

static silt_status print_date_trunc(printer *p, const expr *e) { return print_shifted(p, e, "silt_date_trunc($1, $L2)"); }

/* ---- extract, date_part ---- */

typedef struct part {
    const char *names, *function, *sql;
} part;

static const part parts[] = {
    {"year y years yr yrs", "year", NULL},
    {"yearofweek", NULL, "CAST(isoyear($L1) AS INTEGER)"},
    {"quarter qtr", "quarter", NULL},
    {"month mon mons months", "month", NULL},
    {"week w weeks", "weekofyear", NULL},
    {"day d days", "day", NULL},
    {"dayofweek dow", "dayofweek", NULL},
    {"dayofweek_iso dow_iso", NULL, "CAST(isodow($L1) AS INTEGER)"},
    {"doy", "dayofyear", NULL},
    {"hour h hours hr hrs", "hour", NULL},
    {"minute m min mins minutes", "minute", NULL},
    {"second s sec seconds secs", "$seconds", NULL},
};

static const part *part_find(str name) {
    for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
        str rest = str_of(parts[i].names), word;
        while (rest.len && str_next(&rest, ' ', &word))
            if (str_eq_ascii_fold(word, name)) return &parts[i];
    }
    return NULL;
}

static silt_status bind_interval_part(binder *b, expr *e, str part_name) {
    static const char *const known[] = {"year", "month", "day", "hour", "minute", "second"};
    const part *found = part_find(part_name);
    bool ym = e->args[1]->type->id == TYPE_INTERVAL_YM;
    for (size_t i = 0; found && i < ARRAY_LEN(known); i++) {
        str first = str_of(found->names), word;
        (void)str_next(&first, ' ', &word);
        if (!str_eqz(word, known[i]) || ym != (i < 2)) continue;
        e->column = (uint32_t)i;
        if (i == 5)
            BIND_NEW(e->type, type_decimal(b->a, 8, 6));
        else
            e->type = i == 2 ? &type_int : i == 0 ? &type_int : &type_byte;
        if (i == 2) e->type = &type_int;
        e->function_data = (void *)(uintptr_t)known[i];
        return SILT_OK;
    }
    return err_INVALID_EXTRACT_FIELD(b->err, part_name);
}

static silt_status bind_part(binder *b, expr *e) {
    if (e->args[0]->kind != EXPR_LITERAL || e->args[0]->literal.is_null)
        return err_NON_FOLDABLE_ARGUMENT(b->err, e->function_name, "`field`");
    str part_name = e->args[0]->literal.as.bytes;
    type_id t = e->args[1]->type->id;
    if (t == TYPE_INTERVAL_YM || t == TYPE_INTERVAL_DT) return bind_interval_part(b, e, part_name);
    const part *found = part_find(part_name);
    if (!found) return err_INVALID_EXTRACT_FIELD(b->err, part_name);
    if (t == TYPE_STRING || t == TYPE_VOID) TRY(bind_cast_slot(b, &e->args[1], &type_timestamp));
    if (found->sql) {
        e->function_data = (void *)(uintptr_t)found->sql;
        e->type = &type_int;
        return SILT_OK;
    }
    if (found->function[0] == '$') {
        BIND_NEW(e->type, type_decimal(b->a, 8, 6));
        return SILT_OK;
    }
    expr *call;
    BIND_NEW(call, expr_call(b->a, found->function, &e->args[1], 1, e->span));
    TRY(bind_expr(b, b->current, call));
    bind_become(e, call);
    return SILT_OK;
}

static silt_status print_part(printer *p, const expr *e) {
    type_id t = e->args[1]->type->id;
    expr shifted = *e; /* templates count from the time argument */
    shifted.args = e->args + 1;
    shifted.n_args = 1;
    if (t == TYPE_INTERVAL_YM || t == TYPE_INTERVAL_DT) {
        const char *unit = e->function_data;
        bool seconds = str_eqz(str_of(unit), "second");
        buf_append_z(p->out, seconds ? "CAST(CAST(silt_interval_part(" : "CAST(silt_interval_part(");
        TRY(print_expr(p, e->args[1]));
        buf_printf(p->out, ", '%s')", seconds ? "micros" : unit);
        if (seconds) {
            buf_append_z(p->out, " AS DECIMAL(12,0)) * '0.000001'::DECIMAL(6,6) AS DECIMAL(8,6))");
            return SILT_OK;
        }
        buf_append_z(p->out, " AS ");
        type_print_duckdb(p->out, e->type, false);
        buf_append_char(p->out, ')');
        return SILT_OK;
    }
    if (e->function_data) return print_template(p, e->function_data, &shifted);
    return print_template(p, "CAST(CAST(microsecond($L1) AS DECIMAL(12,0)) * '0.000001'::DECIMAL(6,6) AS DECIMAL(8,6))",
                          &shifted);
}

/* ---- formats ---- */

/* Arguments of silt_date_format: local time, pattern, the zone's offset in us at that time, its name. */
static silt_status print_format(printer *p, const expr *e) {
    const expr *pattern = e->n_args == 2 ? e->args[1] : NULL;
    bool seconds = named(e, "from_unixtime");
    print_guard_begin(p);
    str ts;
    buf text, *kept = p->out;
    buf_init(&text, BUF_MAX_DEFAULT);
    p->out = &text;
    silt_status st = SILT_OK;
    if (seconds) {
        buf_append_z(&text, "silt_seconds_timestamp(");
        st = print_expr(p, e->args[0]);
        buf_append_char(&text, ')');
    } else {
        st = print_expr(p, e->args[0]);
    }
    p->out = kept;
    ts = print_take(p, &text);
    TRY(st);
    bool zoned = seconds || e->args[0]->type->id == TYPE_TIMESTAMP;
    buf_append_z(p->out, "silt_date_format(");
    if (!zoned)
        TRY(print_local(p, e->args[0]));
    else if (p->fixed_zone)
        buf_printf(p->out, "silt_local(%.*s, (%lld)::BIGINT)", STR_ARG(ts), (long long)p->zone_offset_us);
    else {
        buf_append_z(p->out, "timezone(");
        print_string(p, p->env->time_zone);
        buf_printf(p->out, ", %.*s)", STR_ARG(ts));
    }
    buf_append_z(p->out, ", ");
    if (pattern)
        TRY(print_expr(p, pattern));
    else
        buf_append_z(p->out, "'yyyy-MM-dd HH:mm:ss'");
    buf_append_z(p->out, ", ");
    if (p->fixed_zone || !zoned)
        buf_printf(p->out, "(%lld)::BIGINT", (long long)(zoned ? p->zone_offset_us : 0));
    else {
        buf_append_z(p->out, "epoch_us(timezone(");
        print_string(p, p->env->time_zone);
        buf_printf(p->out, ", %.*s)) - epoch_us(%.*s)", STR_ARG(ts), STR_ARG(ts));
    }
    buf_append_z(p->out, ", ");
    print_string(p, p->env->time_zone.len ? p->env->time_zone : STR("UTC"));
    buf_append_char(p->out, ')');
    print_guard_end(p);
    return SILT_OK;
}

static silt_status bind_format(binder *b, expr *e) {
    (void)b;
    e->type = &type_string;
    return SILT_OK;
}

/* to_date(s), to_timestamp(s), to_timestamp_ntz(s) without a pattern are casts; with one Silt's parser reads the local time. */
static silt_status bind_to_time(binder *b, expr *e) {
    bool is_try = str_starts_with(e->function_name, STR("try_")) || str_starts_with(e->function_name, STR("TRY_"));
    str base = is_try ? str_slice(e->function_name, 4, e->function_name.len) : e->function_name;
    const data_type *to = str_eq_ascii_fold(base, STR("to_date"))            ? &type_date
                          : str_eq_ascii_fold(base, STR("to_timestamp_ntz")) ? &type_timestamp_ntz
                                                                             : &type_timestamp;
    type_id from = e->args[0]->type->id;
    if (e->n_args == 1 || from != TYPE_STRING) {
        if (from == TYPE_VOID || type_is_nested(e->args[0]->type) || (type_is_numeric(e->args[0]->type) && to->id == TYPE_DATE))
            TRY(bind_coerce_slot(b, &e->args[0], &type_string, e, 0));
        expr *cast;
        BIND_NEW(cast, expr_new(b->a, EXPR_CAST, e->span));
        BIND_NEW(cast->args, ARENA_ARRAY(b->a, 1, expr *));
        cast->args[0] = e->args[0];
        cast->n_args = 1;
        cast->cast_type = to;
        cast->is_try = is_try;
        cast->implicit = true;
        TRY(bind_cast(b, cast));
        bind_become(e, cast);
        return SILT_OK;
    }
    e->type = to;
    if (is_try) e->nullable = true;
    return SILT_OK;
}

static silt_status print_to_time(printer *p, const expr *e) {
    bool is_try = str_starts_with(e->function_name, STR("try_")) || str_starts_with(e->function_name, STR("TRY_"));
    bool zoned = e->type->id == TYPE_TIMESTAMP;
    if (!is_try) print_guard_begin(p);
    if (e->type->id == TYPE_DATE) buf_append_z(p->out, "CAST(");
    if (zoned && p->fixed_zone) {
        TRY(print_template(p, "silt_parse_pattern_zoned($1, $2", e));
        buf_printf(p->out, ", %s, (%lld)::BIGINT)", is_try ? "true" : "false", (long long)p->zone_offset_us);
    } else {
        if (zoned) print_zoned_begin(p);
        TRY(print_template(p, "silt_parse_pattern($1, $2", e));
        buf_printf(p->out, ", %s, %s)", is_try ? "true" : "false", e->type->id == TYPE_DATE ? "'DATE'" : "'TIMESTAMP'");
        if (zoned) print_zoned_end(p);
    }
    if (e->type->id == TYPE_DATE) buf_append_z(p->out, " AS DATE)");
    if (!is_try) print_guard_end(p);
    return SILT_OK;
}

/* unix_timestamp([t[, pattern]]) */
static silt_status bind_unix(binder *b, expr *e) {
    e->type = &type_long;
    if (e->n_args == 0) {
        expr *lit;
        BIND_NEW(lit, expr_literal(b->a, (value){.type = &type_long, .as.i64 = floor_div(b->env->now_us, 1000000)}, e->span));
        bind_become(e, lit);
        e->type = &type_long;
        return SILT_OK;
    }
    type_id t = e->args[0]->type->id;
    if (t == TYPE_STRING && e->n_args == 1) {
        expr **args;
        BIND_NEW(args, ARENA_ARRAY(b->a, 2, expr *));
        args[0] = e->args[0];
        BIND_NEW(args[1], expr_literal_str(b->a, STR("yyyy-MM-dd HH:mm:ss")));
        e->args = args;
        e->n_args = 2;
    }
    if (t == TYPE_STRING) {
        expr *parsed;
        BIND_NEW(parsed, expr_call(b->a, "to_timestamp", e->args, 2, e->span));
        TRY(bind_expr(b, b->current, parsed));
        e->args[0] = parsed;
    } else {
        TRY(bind_coerce_slot(b, &e->args[0], &type_timestamp, e, 0));
    }
    e->n_args = 1;
    return SILT_OK;
}

/* ---- zones ---- */

static silt_status print_utc(printer *p, const expr *e) {
    bool from = named(e, "from_utc_timestamp");
    str zone = e->args[1]->kind == EXPR_LITERAL && !e->args[1]->literal.is_null ? e->args[1]->literal.as.bytes : STR_NULL;
    int32_t seconds;
    if (zone.ptr && time_zone_fixed_offset(zone, &seconds)) {
        buf_append_z(p->out, "silt_zoned(silt_local(");
        TRY(print_expr(p, e->args[0]));
        buf_printf(p->out, ", (%lld)::BIGINT), 0::BIGINT)", (from ? 1LL : -1LL) * seconds * 1000000);
        return SILT_OK;
    }
    if (from) return print_template(p, "silt_zoned(timezone($2, $1), 0::BIGINT)", e);
    return print_template(p, "timezone($2, silt_local($1, 0::BIGINT))", e);
}

/* ---- intervals and units ---- */

static silt_status print_make_timestamp(printer *p, const expr *e) {
    bool zoned = e->type->id == TYPE_TIMESTAMP;
    bool is_try = str_starts_with(e->function_name, STR("try_")) || str_starts_with(e->function_name, STR("TRY_"));
    if (!is_try) print_guard_begin(p);
    if (zoned && e->n_args == 7) {
        buf_append_z(p->out, "timezone(");
        TRY(print_expr(p, e->args[6]));
        buf_append_z(p->out, ", ");
    } else if (zoned)
        print_zoned_begin(p);
    TRY(print_template(p, "silt_make_timestamp($1, $2, $3, $4, $5, $6", e));
    buf_append_z(p->out, is_try ? ", true)" : ", false)");
    if (zoned && e->n_args == 7)
        buf_append_char(p->out, ')');
    else if (zoned)
        print_zoned_end(p);
    if (!is_try) print_guard_end(p);
    return SILT_OK;
}

static silt_status bind_make_timestamp(binder *b, expr *e) {
    const data_type *d;
    BIND_NEW(d, type_decimal(b->a, 16, 6));
    TRY(bind_coerce_slot(b, &e->args[5], d, e, 5));
    str name = e->function_name;
    e->type = str_ends_with(name, STR("_ntz")) || str_ends_with(name, STR("_NTZ")) ? &type_timestamp_ntz : &type_timestamp;
    e->nullable = true;
    return SILT_OK;
}

static bool unit_is_time(str unit) {
    static const char *const units[] = {"hour", "minute", "second", "millisecond", "microsecond"};
    for (size_t i = 0; i < ARRAY_LEN(units); i++)
        if (str_eq_ascii_fold(unit, str_of(units[i]))) return true;
    return false;
}

/* timestampadd(unit, n, t): the type of t, but a date with a unit below the day becomes a timestamp; dateadd(unit, …) of a date stays one. */
static silt_status check_unit(binder *b, const expr *e) {
    static const char *const units[] = {"year", "quarter", "month",  "week",        "day",        "dayofyear",
                                        "hour", "minute",  "second", "millisecond", "microsecond"};
    const expr *unit = e->args[0];
    if (unit->kind != EXPR_LITERAL || unit->literal.is_null) return err_NON_FOLDABLE_ARGUMENT(b->err, e->function_name, "`unit`");
    for (size_t i = 0; i < ARRAY_LEN(units); i++)
        if (str_eq_ascii_fold(unit->literal.as.bytes, str_of(units[i]))) return SILT_OK;
    return err_INVALID_DATETIME_UNIT(b->err, e->function_name, unit->literal.as.bytes);
}

static silt_status bind_add_unit(binder *b, expr *e) {
    TRY(check_unit(b, e));
    type_id t = e->args[2]->type->id;
    if (t == TYPE_DATE) TRY(bind_cast_slot(b, &e->args[2], &type_timestamp));
    e->type = e->args[2]->type;
    return SILT_OK;
}

static silt_status print_add_unit(printer *p, const expr *e) {
    str unit = e->args[0]->literal.as.bytes;
    bool exact = unit_is_time(unit) && e->type->id == TYPE_TIMESTAMP;
    print_guard_begin(p);
    if (exact)
        TRY(print_template(p, "silt_zoned(silt_add_unit($1, $2, silt_local($3, 0::BIGINT)), 0::BIGINT)", e));
    else
        TRY(print_shifted(p, e, "silt_add_unit($1, $2, $L3)"));
    print_guard_end(p);
    return SILT_OK;
}

static silt_status bind_diff_unit(binder *b, expr *e) {
    TRY(check_unit(b, e));
    for (size_t i = 1; i < 3; i++)
        if (e->args[i]->type->id == TYPE_DATE) TRY(bind_cast_slot(b, &e->args[i], &type_timestamp));
    e->type = &type_long;
    return SILT_OK;
}

static silt_status bind_make_interval(binder *b, expr *e) {
    bool ym = named(e, "make_ym_interval"), dt = named(e, "make_dt_interval");
    size_t seconds_at = ym ? SIZE_MAX : dt ? 3 : 6;
    const data_type *d;
    BIND_NEW(d, type_decimal(b->a, 18, 6));
    size_t n = ym ? 2 : dt ? 4 : 7;
    expr **args;
    BIND_NEW(args, ARENA_ARRAY(b->a, n, expr *));
    for (size_t i = 0; i < n; i++) {
        if (i < e->n_args)
            args[i] = e->args[i];
        else
            BIND_NEW(args[i], expr_literal_i64(b->a, 0));
        args[i]->type = args[i]->type ? args[i]->type : args[i]->literal.type;
        TRY(bind_coerce_slot(b, &args[i], i == seconds_at ? d : &type_int, e, i));
        if (i == seconds_at) TRY(bind_cast_slot(b, &args[i], &type_double));
    }
    e->args = args;
    e->n_args = n;
    e->type = ym ? &type_interval_ym : dt ? &type_interval_dt : &type_interval;
    return SILT_OK;
}

static silt_status print_make_interval(printer *p, const expr *e) {
    if (e->type->id == TYPE_INTERVAL_YM) return print_template(p, "to_months($1 * 12 + $2)", e);
    if (e->type->id == TYPE_INTERVAL_DT)
        return print_template(
            p, "silt_interval_us(to_days($1) + to_hours($2) + to_minutes($3) + to_microseconds(CAST(round($4 * 1e6) AS BIGINT)))",
            e);
    return print_template(p,
                          "(to_months($1 * 12 + $2) + to_days($3 * 7 + $4) + to_hours($5) + to_minutes($6) + "
                          "to_microseconds(CAST(round($7 * 1e6) AS BIGINT)))",
                          e);
}

static silt_status bind_seconds(binder *b, expr *e) {
    (void)b;
    e->type = &type_timestamp;
    return SILT_OK;
}

/* ---- window(t, '10 minutes'): the tumbling window that a time falls into, from the epoch on ---- */

static bool window_length(str s, int64_t *out_us) {
    static const struct {
        const char *unit;
        int64_t us;
    } units[] = {{"microsecond", 1},   {"millisecond", 1000}, {"second", 1000000},   {"minute", 60000000},
                 {"hour", 3600000000}, {"day", 86400000000},  {"week", 604800000000}};
    s = str_trim(s);
    size_t space = str_find_char(s, ' ');
    int64_t n;
    if (space == SIZE_MAX || !str_to_i64(str_slice(s, 0, space), &n) || n <= 0) return false;
    str unit = str_trim(str_slice(s, space, s.len));
    if (unit.len > 1 && (unit.ptr[unit.len - 1] | 0x20) == 's') unit.len--;
    for (size_t i = 0; i < ARRAY_LEN(units); i++)
        if (str_eq_ascii_fold(unit, str_of(units[i].unit))) return !__builtin_mul_overflow(n, units[i].us, out_us);
    return false;
}

static silt_status bind_time_window(binder *b, expr *e) {
    int64_t us;
    bool literal = e->args[1]->kind == EXPR_LITERAL && !e->args[1]->literal.is_null;
    if (!literal || !window_length(e->args[1]->literal.as.bytes, &us))
        return err_NON_FOLDABLE_ARGUMENT(b->err, e->function_name, "`window_duration`");
    field *fields;
    BIND_NEW(fields, ARENA_ARRAY(b->a, 2, field));
    fields[0] = field_make(STR("start"), &type_timestamp, true);
    fields[1] = field_make(STR("end"), &type_timestamp, true);
    BIND_NEW(e->args[1], expr_literal(b->a, (value){.type = &type_long, .as.i64 = us}, e->span));
    BIND_NEW(e->type, type_struct(b->a, fields, 2));
    return SILT_OK;
}

static const function_row rows[] = {
    {.name = "window",
     .signature = "timestamp, string -> custom",
     .bind = bind_time_window,
     .sql = "{'start': make_timestamptz(silt_floor_div(epoch_us($1), $2) * $2), 'end': "
            "make_timestamptz(silt_floor_div(epoch_us($1), $2) * $2 + $2)}",
     .doc = "Start and end of the tumbling window of a time"},
    CUSTOM("current_timestamp", "now", "-> custom", 0, bind_now, NULL, "The moment at which the statement began"),
    CUSTOM("localtimestamp", NULL, "-> custom", 0, bind_now, NULL, "Local time at which the statement began"),
    CUSTOM("current_date", "curdate", "-> custom", 0, bind_now, NULL, "The date at which the statement began"),
    SCALAR("current_timezone", NULL, "-> string", "$Z", "The session's zone"),
    SCALAR("year", NULL, "date -> int", "CAST(year($1) AS INTEGER)", "Year"),
    SCALAR("quarter", NULL, "date -> int", "CAST(quarter($1) AS INTEGER)", "Quarter, 1 to 4"),
    SCALAR("month", NULL, "date -> int", "CAST(month($1) AS INTEGER)", "Month, 1 to 12"),
    SCALAR("day", "dayofmonth", "date -> int", "CAST(day($1) AS INTEGER)", "Day of the month"),
    SCALAR("dayofweek", NULL, "date -> int", "CAST(dayofweek($1) + 1 AS INTEGER)", "Day of the week, 1 = Sunday"),
    SCALAR("weekday", NULL, "date -> int", "CAST(isodow($1) - 1 AS INTEGER)", "Day of the week, 0 = Monday"),
    SCALAR("dayofyear", NULL, "date -> int", "CAST(dayofyear($1) AS INTEGER)", "Day of the year"),
    SCALAR("weekofyear", NULL, "date -> int", "CAST(weekofyear($1) AS INTEGER)", "ISO week"),
    SCALAR("dayname", NULL, "date -> string", "substring(dayname($1), 1, 3)", "Mon … Sun"),
    SCALAR("monthname", NULL, "date -> string", "substring(monthname($1), 1, 3)", "Jan … Dec"),
    SCALAR("hour", NULL, "datetime -> int", "CAST(hour($L1) AS INTEGER)", "Hour"),
    SCALAR("minute", NULL, "datetime -> int", "CAST(minute($L1) AS INTEGER)", "Minute"),
    SCALAR("second", NULL, "datetime -> int", "CAST(second($L1) AS INTEGER)", "Second"),
    CUSTOM("date_part", "datepart extract", "string, any -> custom", 0, bind_part, print_part,
           "One field of a date, time or interval"),
    SCALAR_F("date_add", "dateadd", "date, int -> date", FN_RAISES, "silt_date_add($1, $2)", "Days later"),
    SCALAR_F("date_sub", NULL, "date, int -> date", FN_RAISES, "silt_date_add($1, -CAST($2 AS BIGINT))", "Days earlier"),
    SCALAR("datediff", "date_diff", "date, date -> int", "CAST($1 - $2 AS INTEGER)", "Days from the second to the first"),
    SCALAR_F("add_months", NULL, "date, int -> date", FN_RAISES, "silt_add_months($1, $2)",
             "Months later, at most the month's last day"),
    SCALAR("months_between", NULL, "datetime, datetime -> double", "silt_months_between($L1, $L2, true)",
           "Months from the second to the first, in parts of 31 days"),
    SCALAR("months_between", NULL, "datetime, datetime, bool -> double", "silt_months_between($L1, $L2, $3)",
           "Months from the second to the first"),
    SCALAR("last_day", NULL, "date -> date", "last_day($1)", "Last day of the month"),
    SCALAR_F("next_day", NULL, "date, string -> date", FN_RAISES, "silt_next_day($1, $2)", "The next such weekday"),
    SCALAR_F("trunc", NULL, "date, string -> date", FN_NULLABLE, "silt_trunc($1, $2)", "First day of the unit"),
    CUSTOM("date_trunc", NULL, "string, datetime -> custom", FN_NULLABLE, bind_date_trunc, print_date_trunc,
           "Beginning of the unit"),
    SCALAR_F("make_date", NULL, "int, int, int -> date", FN_RAISES, "silt_make_date($1, $2, $3)", "Date of year, month, day"),
    CUSTOM("make_timestamp",
           "make_timestamp_ltz make_timestamp_ntz try_make_timestamp try_make_timestamp_ntz try_make_timestamp_ltz",
           "int, int, int, int, int, any, string? -> custom", FN_NULLABLE, bind_make_timestamp, print_make_timestamp,
           "Timestamp of its fields"),
    CUSTOM("date_format", NULL, "datetime, string -> custom", 0, bind_format, print_format, "Text by a pattern"),
    CUSTOM("from_unixtime", NULL, "long, string? -> custom", 0, bind_format, print_format, "Text of seconds since 1970"),
    CUSTOM("to_date", "try_to_date", "any, string? -> custom", 0, bind_to_time, print_to_time, "Date of a text"),
    CUSTOM("to_timestamp", "try_to_timestamp to_timestamp_ntz to_timestamp_ltz", "any, string? -> custom", 0, bind_to_time,
           print_to_time, "Timestamp of a text"),
    {.name = "unix_timestamp",
     .aliases = "to_unix_timestamp",
     .signature = "any?, string? -> custom",
     .sql = "silt_floor_div(epoch_us($1), 1000000::BIGINT)",
     .bind = bind_unix,
     .doc = "Seconds since 1970"},
    {.name = "timestamp_seconds",
     .signature = "number -> custom",
     .flags = FN_RAISES,
     .sql = "silt_seconds_timestamp($1)",
     .bind = bind_seconds,
     .doc = "Timestamp of seconds since 1970"},
    SCALAR_F("timestamp_millis", NULL, "long -> timestamp", FN_RAISES, "silt_us_timestamp($1, 1000::BIGINT)",
             "Timestamp of milliseconds since 1970"),
    SCALAR_F("timestamp_micros", NULL, "long -> timestamp", FN_RAISES, "silt_us_timestamp($1, 1::BIGINT)",
             "Timestamp of microseconds since 1970"),
    SCALAR("unix_seconds", NULL, "timestamp -> long", "silt_floor_div(epoch_us($1), 1000000::BIGINT)", "Seconds since 1970"),
    SCALAR("unix_millis", NULL, "timestamp -> long", "silt_floor_div(epoch_us($1), 1000::BIGINT)", "Milliseconds since 1970"),
    SCALAR("unix_micros", NULL, "timestamp -> long", "epoch_us($1)", "Microseconds since 1970"),
    SCALAR("unix_date", NULL, "date -> int", "CAST($1 - DATE '1970-01-01' AS INTEGER)", "Days since 1970"),
    SCALAR("date_from_unix_date", NULL, "int -> date", "(DATE '1970-01-01' + $1)", "Date of days since 1970"),
    CUSTOM("from_utc_timestamp", NULL, "timestamp, string -> timestamp", 0, NULL, print_utc, "UTC shown as local time of a zone"),
    CUSTOM("to_utc_timestamp", NULL, "timestamp, string -> timestamp", 0, NULL, print_utc, "Local time of a zone shown as UTC"),
    SCALAR("convert_timezone", NULL, "string, string, ntz -> ntz", "timezone($2, timezone($1, $3))",
           "Local time of one zone in another"),
    SCALAR("convert_timezone", NULL, "string, ntz -> ntz", "timezone($1, timezone($Z, $2))",
           "Local time of the session in another zone"),
    CUSTOM("timestampadd", "dateadd date_add", "string, int, datetime -> custom", 0, bind_add_unit, print_add_unit,
           "Units later"),
    {.name = "timestampdiff",
     .aliases = "datediff date_diff",
     .signature = "string, datetime, datetime -> custom",
     .flags = FN_RAISES,
     .sql = "silt_diff_unit($1, $L2, $L3)",
     .bind = bind_diff_unit,
     .doc = "Whole units from the second to the third"},
    CUSTOM("make_interval", "make_dt_interval make_ym_interval", "any* -> custom", 0, bind_make_interval, print_make_interval,
           "Interval of its fields"),
};

GROUP_OF(functions_datetime, "Dates and times", rows);
