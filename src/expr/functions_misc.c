/* Hashes, checks, what the session is, and the type functions that are casts. */
#include "expr/functions_tables.h"

static bool named(const expr *e, const char *name) { return str_eq_ascii_fold(e->function_name, str_of(name)); }

static silt_status become_text(binder *b, expr *e, str text) {
    expr *lit;
    BIND_NEW(lit, expr_literal_str(b->a, text));
    bind_become(e, lit);
    return SILT_OK;
}

static silt_status bind_typeof(binder *b, expr *e) {
    bool aggregate = e->args[0]->is_aggregate;
    TRY(become_text(b, e, type_simple(e->args[0]->type, b->a)));
    e->is_aggregate = aggregate; /* typeof(sum(x)) still makes one row of all */
    return SILT_OK;
}

static silt_status bind_session(binder *b, expr *e) {
    const bind_env *env = b->env;
    if (named(e, "version")) return become_text(b, e, STR("4.1.2 (Silt)"));
    if (named(e, "current_catalog"))
        return become_text(b, e, env->current_catalog.len ? env->current_catalog : STR("spark_catalog"));
    if (named(e, "current_database") || named(e, "current_schema"))
        return become_text(b, e, env->current_database.len ? env->current_database : STR("default"));
    return become_text(b, e, env->current_user);
}

/* int(x), string(x), …: casts by a name */
static silt_status bind_type_call(binder *b, expr *e) {
    static const struct {
        const char *name;
        const data_type *type;
    } types[] = {
        {"boolean", &type_boolean},     {"tinyint", &type_byte},  {"smallint", &type_short}, {"int", &type_int},
        {"bigint", &type_long},         {"float", &type_float},   {"double", &type_double},  {"date", &type_date},
        {"timestamp", &type_timestamp}, {"binary", &type_binary}, {"string", &type_string},
    };
    const data_type *to = NULL;
    for (size_t i = 0; i < ARRAY_LEN(types); i++)
        if (named(e, types[i].name)) to = types[i].type;
    if (!to) BIND_NEW(to, type_decimal(b->a, 10, 0));
    expr *cast;
    BIND_NEW(cast, expr_new(b->a, EXPR_CAST, e->span));
    cast->args = e->args;
    cast->n_args = 1;
    cast->cast_type = to;
    TRY(bind_cast(b, cast));
    bind_become(e, cast);
    return SILT_OK;
}

static silt_status bind_hash(binder *b, expr *e) {
    for (size_t i = 0; i < e->n_args; i++)
        if (e->args[i]->type->id == TYPE_MAP) return err_DATATYPE_MISMATCH_HASH_MAP_TYPE(b->err, bind_text(b, e));
    e->type = named(e, "hash") ? &type_int : &type_long;
    e->nullable = false;
    return SILT_OK;
}

/* Dates and booleans hash as ints, as Spark stores them; the C function tells types apart by DuckDB's. */
static silt_status print_hash(printer *p, const expr *e) {
    buf_append_z(p->out, named(e, "hash") ? "silt_hash(" : "silt_xxhash64(");
    TRY(print_exprs(p, e->args, e->n_args, ", "));
    buf_append_char(p->out, ')');
    return SILT_OK;
}

static silt_status bind_raise(binder *b, expr *e) {
    (void)b;
    e->type = &type_void;
    e->nullable = true;
    return SILT_OK;
}

static silt_status bind_assert(binder *b, expr *e) {
    TRY(bind_truth_slot(b, &e->args[0], e, 0));
    return bind_raise(b, e);
}

static silt_status print_raise(printer *p, const expr *e) {
    return print_template(p, "error('[USER_RAISED_EXCEPTION|P0001] ' || coalesce($1, 'null') || '[/]')", e);
}

static silt_status print_assert(printer *p, const expr *e) {
    buf_append_z(p->out, "CASE WHEN ");
    TRY(print_expr(p, e->args[0]));
    buf_append_z(p->out, " THEN NULL ELSE error('[USER_RAISED_EXCEPTION|P0001] ' || ");
    if (e->n_args == 2)
        TRY(print_expr(p, e->args[1]));
    else {
        buf text;
        buf_init(&text, 4096);
        expr_print_spark(e->args[0], &text);
        print_string(p, arena_printf(p->a, "'%.*s' is not true!", STR_ARG(buf_str(&text))));
        buf_dispose(&text);
    }
    buf_append_z(p->out, " || '[/]') END");
    return SILT_OK;
}

static const function_row rows[] = {
    CUSTOM("hash", NULL, "any* -> custom", 0, bind_hash, print_hash, "Murmur3 hash, as Spark's"),
    CUSTOM("xxhash64", NULL, "any* -> custom", 0, bind_hash, print_hash, "64-bit xxHash, as Spark's"),
    SCALAR("md5", NULL, "binary -> string", "md5($1)", "MD5 as hexadecimal digits"),
    SCALAR("sha1", "sha", "binary -> string", "sha1($1)", "SHA-1 as hexadecimal digits"),
    SCALAR_F("sha2", NULL, "binary, int -> string", FN_NULLABLE, "silt_sha2($1, $2)", "SHA-2 of 224, 256, 384 or 512 bits"),
    SCALAR("crc32", NULL, "binary -> long", "silt_crc32($1)", "CRC-32"),
    CUSTOM("typeof", NULL, "any -> custom", 0, bind_typeof, NULL, "Name of the type"),
    CUSTOM("version", NULL, "-> custom", 0, bind_session, NULL, "Version of Spark whose answers these are"),
    CUSTOM("current_catalog", NULL, "-> custom", 0, bind_session, NULL, "The current catalog"),
    CUSTOM("current_database", "current_schema", "-> custom", 0, bind_session, NULL, "The current database"),
    CUSTOM("current_user", "user session_user", "-> custom", 0, bind_session, NULL, "The user"),
    SCALAR_F("uuid", NULL, "-> string", FN_VOLATILE | FN_NEVER_NULL, "CAST(uuid() AS VARCHAR)", "A random UUID"),
    SCALAR_F("monotonically_increasing_id", NULL, "-> long", FN_VOLATILE | FN_NEVER_NULL, "(row_number() OVER () - 1)",
             "A number that grows from row to row"),
    SCALAR_F("spark_partition_id", NULL, "-> int", FN_NEVER_NULL, "0::INTEGER", "0: there is one partition"),
    SCALAR("input_file_name", NULL, "-> string", "''", "Empty; use _metadata.file_path"),
    CUSTOM("raise_error", NULL, "string -> custom", FN_VOLATILE, bind_raise, print_raise, "Raises an error with the text"),
    CUSTOM("assert_true", NULL, "any, string? -> custom", FN_VOLATILE, bind_assert, print_assert,
           "Raises an error unless the first argument, a condition, is true"),
    CUSTOM("boolean", "tinyint smallint int bigint float double decimal date timestamp binary string", "any -> custom", 0,
           bind_type_call, NULL, "CAST to the type of that name"),
};

GROUP_OF(functions_misc, "Hashes, session and others", rows);
