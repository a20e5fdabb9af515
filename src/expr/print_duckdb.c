/*
 * Bound expressions as DuckDB SQL. Every text keeps Spark's meaning: types are explicit, nothing is left to DuckDB's own coercion, and what Spark raises is raised, either
 * by an operator of DuckDB that raises by itself or by a function of Silt behind the guard. Operands are printed once wherever that matters (print_let), so that the
 * text grows with the tree and not with its power set.
 */
#include "expr/print.h"

#include "base/time.h"

/* ---- pieces ---- */

void print_guard_begin(printer *p) { buf_append_z(p->out, "CASE WHEN silt_never() THEN error('') ELSE "); }
void print_guard_end(printer *p) { buf_append_z(p->out, " END"); }

silt_status print_guarded(printer *p, const expr *e) {
    print_guard_begin(p);
    TRY(print_expr(p, e));
    print_guard_end(p);
    return SILT_OK;
}

void print_constant_error(printer *p, const char *condition, const char *sqlstate, const char *message, const data_type *type) {
    buf_append_z(p->out, "CAST(");
    print_string(p, arena_printf(p->a, "[%s|%s] %s[/]", condition, sqlstate, message));
    buf_append_z(p->out, " AS ");
    type_print_duckdb(p->out, type, false);
    buf_append_char(p->out, ')');
}

silt_status print_expr_text(printer *p, const expr *e, str *out) {
    buf text, *kept = p->out;
    buf_init(&text, BUF_MAX_DEFAULT);
    p->out = &text;
    silt_status st = print_expr(p, e);
    p->out = kept;
    *out = st == SILT_OK && buf_ok(&text) ? arena_str(p->a, buf_str(&text)) : STR_NULL;
    buf_dispose(&text);
    if (st == SILT_OK && !out->ptr) return error_no_memory(p->err);
    return st;
}

str print_take(printer *p, buf *b) {
    str text = buf_take(b, p->a);
    if (str_is_null(text)) p->out->failed = true;
    return text;
}

silt_status print_exprs(printer *p, expr *const *items, size_t n, const char *separator) {
    for (size_t i = 0; i < n; i++) {
        if (i) buf_append_z(p->out, separator);
        TRY(print_expr(p, items[i]));
    }
    return SILT_OK;
}

static bool is_cheap(const expr *e) {
    if (e->kind == EXPR_COLUMN || e->kind == EXPR_LAMBDA_VAR || e->kind == EXPR_LITERAL) return true;
    if (e->kind == EXPR_FIELD) return is_cheap(e->args[0]);
    return e->kind == EXPR_CAST && e->args[0]->kind == EXPR_LITERAL;
}

silt_status print_let(printer *p, const expr *e, print_let_fn body, const void *ctx) {
    str text;
    TRY(print_expr_text(p, e, &text));
    bool mapped = text.len < 24 && memchr(text.ptr, '(', text.len) == NULL;
    if (is_cheap(e) || mapped) return body(p, text, ctx);
    str name = arena_printf(p->a, "l%u", p->next_name++);
    if (!name.ptr) return error_no_memory(p->err);
    buf_append_z(p->out, "list_transform(");
    print_guard_begin(p);
    buf_printf(p->out, "[%.*s]", STR_ARG(text));
    print_guard_end(p);
    buf_printf(p->out, ", lambda %.*s: ", STR_ARG(name));
    TRY(body(p, name, ctx));
    buf_append_z(p->out, ")[1]");
    return SILT_OK;
}

/* ---- zones ---- */

silt_status print_local(printer *p, const expr *e) {
    if (e->type->id != TYPE_TIMESTAMP) {
        bool date = e->type->id == TYPE_DATE;
        if (date) buf_append_z(p->out, "CAST(");
        TRY(print_expr(p, e));
        if (date) buf_append_z(p->out, " AS TIMESTAMP)");
        return SILT_OK;
    }
    if (p->fixed_zone) {
        buf_append_z(p->out, "silt_local(");
        TRY(print_expr(p, e));
        buf_printf(p->out, ", (%lld)::BIGINT)", (long long)p->zone_offset_us);
        return SILT_OK;
    }
    buf_append_z(p->out, "timezone(");
    print_string(p, p->env->time_zone);
    buf_append_z(p->out, ", ");
    TRY(print_expr(p, e));
    buf_append_char(p->out, ')');
    return SILT_OK;
}

void print_zoned_begin(printer *p) {
    if (p->fixed_zone) {
        buf_append_z(p->out, "silt_zoned(");
        return;
    }
    buf_append_z(p->out, "timezone(");
    print_string(p, p->env->time_zone);
    buf_append_z(p->out, ", ");
}

void print_zoned_end(printer *p) {
    if (p->fixed_zone)
        buf_printf(p->out, ", (%lld)::BIGINT)", (long long)p->zone_offset_us);
    else
        buf_append_char(p->out, ')');
}

/* ---- columns and struct fields ---- */

/* A value straight from a scan: its nested names are still the files' (physical) ones. */
static bool is_physical(const expr *e) {
    if (e->kind == EXPR_FIELD) return e->args[0]->type->id == TYPE_STRUCT && is_physical(e->args[0]);
    return e->kind == EXPR_COLUMN && e->source && e->source->kind == REL_TABLE && e->source->source &&
           e->column < e->source->source->schema->n_fields;
}

static bool has_mapped_names(const data_type *t) {
    if (t->id == TYPE_ARRAY) return has_mapped_names(t->element);
    if (t->id == TYPE_MAP) return has_mapped_names(t->key) || has_mapped_names(t->element);
    for (size_t i = 0; t->id == TYPE_STRUCT && i < t->n_fields; i++)
        if (!str_eq(t->fields[i].name, t->fields[i].physical_name) || has_mapped_names(t->fields[i].type)) return true;
    return false;
}

static void print_mapping(printer *p, const data_type *t);

static void print_mapping_entry(printer *p, str target, str source, const data_type *t) {
    print_identifier(p->out, target);
    buf_append_z(p->out, ": ");
    if (type_is_nested(t) && has_mapped_names(t)) {
        buf_append_z(p->out, "ROW(");
        print_string(p, source);
        buf_append_z(p->out, ", ");
        print_mapping(p, t);
        buf_append_char(p->out, ')');
    } else {
        print_string(p, source);
    }
}

/* remap_struct's third argument: logical name → physical name, nested by ROW(name, {…}). */
static void print_mapping(printer *p, const data_type *t) {
    buf_append_char(p->out, '{');
    if (t->id == TYPE_ARRAY) {
        print_mapping_entry(p, STR("list"), STR("list"), t->element);
    } else if (t->id == TYPE_MAP) {
        print_mapping_entry(p, STR("key"), STR("key"), t->key);
        buf_append_z(p->out, ", ");
        print_mapping_entry(p, STR("value"), STR("value"), t->element);
    }
    for (size_t i = 0; t->id == TYPE_STRUCT && i < t->n_fields; i++) {
        if (i) buf_append_z(p->out, ", ");
        print_mapping_entry(p, t->fields[i].name, t->fields[i].physical_name, t->fields[i].type);
    }
    buf_append_char(p->out, '}');
}

void print_column_name(printer *p, const relation *r, uint32_t column) {
    for (size_t i = p->n_moves; i-- > 0;) {
        if (p->moves[i].relation != r->id || p->moves[i].view == 0) continue;
        buf_printf(p->out, "x%u.r%uc%u", p->moves[i].view, r->id, column);
        return;
    }
    buf_printf(p->out, "r%u.c%u", r->id, column);
}

static silt_status print_raw(printer *p, const expr *e) {
    if (e->kind == EXPR_COLUMN) {
        print_column_name(p, e->source, e->column);
        return SILT_OK;
    }
    const data_type *base = e->args[0]->type;
    buf_append_z(p->out, "struct_extract(");
    TRY(print_raw(p, e->args[0]));
    buf_append_z(p->out, ", ");
    print_string(p, base->fields[e->field_index].physical_name);
    buf_append_char(p->out, ')');
    return SILT_OK;
}

static silt_status print_physical(printer *p, const expr *e) {
    if (!type_is_nested(e->type) || !has_mapped_names(e->type)) return print_raw(p, e);
    buf_append_z(p->out, "remap_struct(");
    TRY(print_raw(p, e));
    buf_append_z(p->out, ", NULL::");
    type_print_duckdb(p->out, e->type, false);
    buf_append_z(p->out, ", ");
    print_mapping(p, e->type);
    buf_append_z(p->out, ", NULL)");
    return SILT_OK;
}

/* ---- CHAR(n), which reads padded at any depth ---- */

static bool has_char(const data_type *t) {
    if (t->id == TYPE_STRING) return t->is_char && t->length > 0;
    if (t->id == TYPE_ARRAY) return has_char(t->element);
    if (t->id == TYPE_MAP) return has_char(t->key) || has_char(t->element);
    for (size_t i = 0; t->id == TYPE_STRUCT && i < t->n_fields; i++)
        if (has_char(t->fields[i].type)) return true;
    return false;
}

static void print_padded(printer *p, str text, const data_type *t);

/* A part of a nested value, given as a format over its text. */
static void print_padded_part(printer *p, str part, const data_type *t) {
    if (!part.ptr)
        p->out->failed = true;
    else
        print_padded(p, part, t);
}

static void print_padded_struct(printer *p, str text, const data_type *t) {
    buf_printf(p->out, "CASE WHEN (%.*s) IS NOT NULL THEN {", STR_ARG(text));
    for (size_t i = 0; i < t->n_fields; i++) {
        buf name, *kept = p->out;
        buf_init(&name, BUF_MAX_DEFAULT);
        p->out = &name;
        print_string(p, t->fields[i].name);
        p->out = kept;
        str quoted = print_take(p, &name);
        buf_append_z(p->out, i ? ", " : "");
        buf_append(p->out, quoted);
        buf_append_z(p->out, ": ");
        print_padded_part(p, arena_printf(p->a, "struct_extract(%.*s, %.*s)", STR_ARG(text), STR_ARG(quoted)), t->fields[i].type);
    }
    buf_append_z(p->out, "} END");
}

static void print_padded(printer *p, str text, const data_type *t) {
    if (!has_char(t)) {
        buf_append(p->out, text);
    } else if (t->id == TYPE_STRING) {
        buf_printf(p->out, "CASE WHEN length(%.*s) < %d THEN rpad(%.*s, %d, ' ') ELSE %.*s END", STR_ARG(text), t->length,
                   STR_ARG(text), t->length, STR_ARG(text));
    } else if (t->id == TYPE_STRUCT) {
        print_padded_struct(p, text, t);
    } else {
        uint32_t n = p->next_name++;
        bool is_map = t->id == TYPE_MAP;
        buf_printf(p->out,
                   is_map ? "map_from_entries(list_transform(map_entries(%.*s), lambda l%u: {'key': "
                          : "list_transform(%.*s, lambda l%u: ",
                   STR_ARG(text), n);
        print_padded_part(p, is_map ? arena_printf(p->a, "l%u.key", n) : arena_printf(p->a, "l%u", n),
                          is_map ? t->key : t->element);
        if (is_map) {
            buf_append_z(p->out, ", 'value': ");
            print_padded_part(p, arena_printf(p->a, "l%u.value", n), t->element);
        }
        buf_append_z(p->out, is_map ? "}))" : ")");
    }
}

/* A column of a table, or a field reached through its structs only. */
static silt_status print_stored(printer *p, const expr *e, const data_type *t) {
    if (!has_char(t)) return is_physical(e) ? print_physical(p, e) : print_raw(p, e);
    buf text, *kept = p->out;
    buf_init(&text, BUF_MAX_DEFAULT);
    p->out = &text;
    silt_status status = is_physical(e) ? print_physical(p, e) : print_raw(p, e);
    p->out = kept;
    str copy = status == SILT_OK ? arena_str(p->a, buf_str(&text)) : STR_NULL;
    buf_dispose(&text);
    TRY(status);
    if (!copy.ptr) return error_no_memory(p->err);
    print_padded(p, copy, t);
    return SILT_OK;
}

static silt_status print_column(printer *p, const expr *e) {
    if (!e->source) return err_INTERNAL_ERROR(p->err, "a column that was never bound");
    const data_type *t = e->column < e->source->n_columns ? e->source->columns[e->column].type : e->type;
    if (e->source->kind == REL_TABLE) return print_stored(p, e, t);
    return is_physical(e) ? print_physical(p, e) : print_raw(p, e);
}

static silt_status print_field(printer *p, const expr *e) {
    const expr *base = e->args[0];
    if (base->type->id == TYPE_ARRAY) {
        str name = arena_printf(p->a, "l%u", p->next_name++);
        buf_append_z(p->out, "list_transform(");
        TRY(print_expr(p, base));
        buf_printf(p->out, ", lambda %.*s: struct_extract(%.*s, ", STR_ARG(name), STR_ARG(name));
        print_string(p, base->type->element->fields[e->field_index].name);
        buf_append_z(p->out, "))");
        return SILT_OK;
    }
    if (is_physical(e)) return print_stored(p, e, e->type);
    buf_append_z(p->out, "struct_extract(");
    TRY(print_expr(p, base));
    buf_append_z(p->out, ", ");
    print_string(p, base->type->fields[e->field_index].name);
    buf_append_char(p->out, ')');
    return SILT_OK;
}

/* ---- order of structs ---- */

bool print_needs_order_key(const data_type *t) { return t->id == TYPE_STRUCT && t->n_fields > 0; }

/* {f0: is it there, v0: its value, f1: …}: false sorts before true, so that nulls come first; what stands beside a false is equal everywhere. */
void print_order_key(printer *p, str text, const data_type *t) {
    if (!print_needs_order_key(t)) {
        buf_append(p->out, text);
        return;
    }
    buf_append_char(p->out, '{');
    for (size_t i = 0; i < t->n_fields; i++) {
        buf part, *kept = p->out;
        buf_init(&part, BUF_MAX_DEFAULT);
        p->out = &part;
        buf_printf(&part, "struct_extract(%.*s, ", STR_ARG(text));
        print_string(p, t->fields[i].name);
        buf_append_char(&part, ')');
        p->out = kept;
        str member = print_take(p, &part);
        buf_printf(p->out, "%s'f%zu': %.*s IS NOT NULL, 'v%zu': ", i ? ", " : "", i, STR_ARG(member), i);
        print_order_key(p, member, t->fields[i].type);
    }
    buf_append_char(p->out, '}');
}

/* ---- a[i], m[k] ---- */

static silt_status print_index_of(printer *p, str array, const void *ctx) {
    const expr *e = ctx;
    buf_printf(p->out, "list_extract(%.*s, ", STR_ARG(array));
    print_guard_begin(p);
    buf_append_z(p->out, "silt_array_index(CAST(");
    TRY(print_expr(p, e->args[1]));
    buf_printf(p->out, " AS BIGINT), len(%.*s))", STR_ARG(array));
    print_guard_end(p);
    buf_append_char(p->out, ')');
    return SILT_OK;
}

static silt_status print_index(printer *p, const expr *e) {
    if (e->args[0]->type->id == TYPE_ARRAY) return print_let(p, e->args[0], print_index_of, e);
    buf_append_z(p->out, "map_extract_value(");
    TRY(print_expr(p, e->args[0]));
    buf_append_z(p->out, ", ");
    TRY(print_expr(p, e->args[1]));
    buf_append_char(p->out, ')');
    return SILT_OK;
}

/* ---- the rest ---- */

static silt_status print_case(printer *p, const expr *e) {
    buf_append_z(p->out, "CASE");
    for (size_t i = 0; i + 1 < e->n_args; i += 2) {
        buf_append_z(p->out, " WHEN ");
        TRY(print_expr(p, e->args[i]));
        buf_append_z(p->out, " THEN ");
        TRY(print_expr(p, e->args[i + 1]));
    }
    if (e->has_else) {
        buf_append_z(p->out, " ELSE ");
        TRY(print_expr(p, e->args[e->n_args - 1]));
    }
    buf_append_z(p->out, " END");
    return SILT_OK;
}

static silt_status print_subquery(printer *p, const expr *e) {
    if (e->kind == EXPR_IN_SUBQUERY) {
        buf_append_char(p->out, '(');
        if (e->n_args > 1) buf_append_char(p->out, '(');
        TRY(print_exprs(p, e->args, e->n_args, ", "));
        if (e->n_args > 1) buf_append_char(p->out, ')');
        buf_append_z(p->out, e->negated ? " NOT IN (" : " IN (");
        if (e->n_args > 1) {
            buf_append_z(p->out, "SELECT (");
            for (size_t i = 0; i < e->n_args; i++) buf_printf(p->out, "%ss.c%zu", i ? ", " : "", i);
            buf_append_z(p->out, ") FROM (");
        }
        TRY(print_query(p, e->subquery));
        if (e->n_args > 1) buf_append_z(p->out, ") AS s");
        buf_append_z(p->out, "))");
        return SILT_OK;
    }
    if (e->kind == EXPR_EXISTS) buf_append_z(p->out, e->negated ? "(NOT EXISTS " : "(EXISTS ");
    buf_append_char(p->out, '(');
    TRY(print_query(p, e->subquery));
    buf_append_char(p->out, ')');
    if (e->kind == EXPR_EXISTS) buf_append_char(p->out, ')');
    return SILT_OK;
}

static void print_interval(printer *p, const expr *e) {
    if (e->type->id == TYPE_INTERVAL_YM)
        buf_printf(p->out, "to_months(%d)", e->interval_months);
    else if (e->type->id == TYPE_INTERVAL_DT)
        buf_printf(p->out, "to_microseconds(%lld)", (long long)e->interval_us);
    else
        buf_printf(p->out, "(to_months(%d) + to_microseconds(%lld))", e->interval_months, (long long)e->interval_us);
}

static const str *find_mapped(const print_map *map, const expr *e) {
    if (e->kind == EXPR_LITERAL) return NULL;
    for (; map; map = map->outer)
        for (size_t i = 0; i < map->n; i++)
            if (expr_equal(map->exprs[i], e)) return &map->texts[i];
    return NULL;
}

silt_status print_expr(printer *p, const expr *e) {
    const str *mapped = find_mapped(p->map, e);
    if (mapped) {
        buf_append(p->out, *mapped);
        return SILT_OK;
    }
    switch (e->kind) {
        case EXPR_LITERAL: return print_literal(p, &e->literal);
        case EXPR_COLUMN: return print_column(p, e);
        case EXPR_CALL: return print_call(p, e);
        case EXPR_CAST: return print_cast(p, e->args[0], e->type, e->is_try, e->field_name);
        case EXPR_CASE: return print_case(p, e);
        case EXPR_FIELD: return print_field(p, e);
        case EXPR_INDEX: return print_index(p, e);
        case EXPR_LAMBDA:
            buf_append_z(p->out, "lambda ");
            for (size_t i = 0; i < e->n_lambda_params; i++)
                buf_printf(p->out, "%s%.*s", i ? ", " : "", STR_ARG(e->lambda_params[i]));
            buf_append_z(p->out, ": ");
            return print_expr(p, e->args[0]);
        case EXPR_LAMBDA_VAR: buf_append(p->out, e->function_name); return SILT_OK;
        case EXPR_SUBQUERY:
        case EXPR_EXISTS:
        case EXPR_IN_SUBQUERY: return print_subquery(p, e);
        case EXPR_INTERVAL: print_interval(p, e); return SILT_OK;
        case EXPR_NAMED: return print_expr(p, e->args[0]);
        case EXPR_STAR:
        case EXPR_PARAMETER:
        case EXPR_DEFAULT: break;
    }
    return err_INTERNAL_ERROR(p->err, "an expression that was never bound");
}

/* ---- the face ---- */

static silt_status printer_open(printer *p, const bind_env *env, scan_printer *scans, buf *out, silt_error *err) {
    *p = (printer){.out = out, .env = env, .scans = scans, .err = err, .a = arena_new()};
    if (!p->a) return error_no_memory(err);
    int32_t seconds;
    p->fixed_zone = env->time_zone.len == 0 || time_zone_fixed_offset(env->time_zone, &seconds);
    p->zone_offset_us = p->fixed_zone && env->time_zone.len ? (int64_t)seconds * 1000000 : 0;
    return SILT_OK;
}

silt_status expr_print_duckdb(const expr *e, const bind_env *env, scan_printer *scans, buf *out, silt_error *err) {
    printer p;
    TRY(printer_open(&p, env, scans, out, err));
    silt_status st = print_expr(&p, e);
    arena_free(p.a);
    return st != SILT_OK || buf_ok(out) ? st : error_no_memory(err);
}

static bool needs_output_form(const data_type *t) {
    return t->id == TYPE_VARIANT || t->id == TYPE_INTERVAL_YM || t->id == TYPE_INTERVAL_DT || t->id == TYPE_INTERVAL;
}

/* Around the whole query: what Arrow does not carry is given as text. */
static silt_status print_output(printer *p, const query *q) {
    bool any = false;
    for (size_t i = 0; i < q->n_columns; i++) any |= needs_output_form(q->column_types[i]);
    if (!any) return print_query(p, q);
    buf_append_z(p->out, "SELECT ");
    for (size_t i = 0; i < q->n_columns; i++) {
        const data_type *t = q->column_types[i];
        if (i) buf_append_z(p->out, ", ");
        if (t->id == TYPE_VARIANT)
            buf_printf(p->out, "CASE WHEN o.c%zu IS NOT NULL THEN CAST(CAST(o.c%zu AS JSON) AS VARCHAR) END AS c%zu", i, i,
                       i); /* a NULL would be 'null' */
        else if (needs_output_form(t))
            buf_printf(p->out, "silt_interval_text(o.c%zu, '%s') AS c%zu", i,
                       t->id == TYPE_INTERVAL_YM   ? "ym"
                       : t->id == TYPE_INTERVAL_DT ? "dt"
                                                   : "",
                       i);
        else
            buf_printf(p->out, "o.c%zu", i);
    }
    buf_append_z(p->out, " FROM (");
    TRY(print_query(p, q));
    buf_append_z(p->out, ") AS o");
    return SILT_OK;
}

silt_status query_print_duckdb(const query *q, const bind_env *env, scan_printer *scans, bool for_output, buf *out,
                               silt_error *err) {
    printer p;
    TRY(printer_open(&p, env, scans, out, err));
    silt_status st = for_output ? print_output(&p, q) : print_query(&p, q);
    arena_free(p.a);
    return st != SILT_OK || buf_ok(out) ? st : error_no_memory(err);
}
