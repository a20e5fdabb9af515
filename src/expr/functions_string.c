/* Strings: positions count code points from 1, comparisons are bytewise, nulls in give null out but where said. */
#include "expr/functions_tables.h"

static bool named(const expr *e, const char *name) { return str_eq_ascii_fold(e->function_name, str_of(name)); }

/* ---- concat and || ---- */

static silt_status bind_concat(binder *b, expr *e) {
    if (e->n_args == 0) {
        expr *empty;
        BIND_NEW(empty, expr_literal_str(b->a, STR("")));
        bind_become(e, empty);
        return SILT_OK;
    }
    bool arrays = false, binaries = true;
    for (size_t i = 0; i < e->n_args; i++) {
        arrays |= e->args[i]->type->id == TYPE_ARRAY;
        binaries &= e->args[i]->type->id == TYPE_BINARY;
    }
    if (arrays) return bind_common_slots(b, e->args, e->n_args, e, &e->type);
    e->type = binaries ? &type_binary : &type_string;
    for (size_t i = 0; i < e->n_args; i++) TRY(bind_coerce_slot(b, &e->args[i], e->type, e, i));
    return SILT_OK;
}

/* DuckDB's || of strings is NULL for a null operand, but not for lists. */
static silt_status print_concat(printer *p, const expr *e) {
    if (e->type->id != TYPE_ARRAY) {
        buf_append_char(p->out, '(');
        TRY(print_exprs(p, e->args, e->n_args, " || "));
        buf_append_char(p->out, ')');
        return SILT_OK;
    }
    str *texts = ARENA_ARRAY(p->a, e->n_args, str);
    if (!texts) return error_no_memory(p->err);
    bool any = false;
    for (size_t i = 0; i < e->n_args; i++) TRY(print_expr_text(p, e->args[i], &texts[i]));
    for (size_t i = 0; i < e->n_args; i++) {
        if (!e->args[i]->nullable) continue;
        buf_printf(p->out, "%s%.*s IS NULL", any ? " OR " : "CASE WHEN ", STR_ARG(texts[i]));
        any = true;
    }
    if (any) buf_append_z(p->out, " THEN NULL ELSE ");
    for (size_t i = 0; i + 1 < e->n_args; i++) buf_append_z(p->out, "list_concat(");
    for (size_t i = 0; i < e->n_args; i++) {
        if (i) buf_append_z(p->out, ", ");
        buf_append(p->out, texts[i]);
        if (i) buf_append_char(p->out, ')');
    }
    if (any) buf_append_z(p->out, " END");
    return SILT_OK;
}

static silt_status bind_concat_ws(binder *b, expr *e) {
    for (size_t i = 1; i < e->n_args; i++) {
        if (e->args[i]->type->id == TYPE_ARRAY)
            TRY(bind_coerce_slot(b, &e->args[i], type_array(b->a, &type_string, true), e, i));
        else
            TRY(bind_coerce_slot(b, &e->args[i], &type_string, e, i));
    }
    e->type = &type_string;
    e->nullable = e->args[0]->nullable;
    return SILT_OK;
}

/* Nulls are left out, of arrays too; a null separator gives null. */
static silt_status print_concat_ws(printer *p, const expr *e) {
    bool arrays = false;
    for (size_t i = 1; i < e->n_args; i++) arrays |= e->args[i]->type->id == TYPE_ARRAY;
    if (e->n_args == 1) return print_template(p, "CASE WHEN $1 IS NOT NULL THEN '' END", e);
    if (!arrays) return print_template(p, "concat_ws($*)", e);
    buf_append_z(p->out, "silt_join(");
    for (size_t i = 1; i + 1 < e->n_args; i++) buf_append_z(p->out, "list_concat(");
    for (size_t i = 1; i < e->n_args; i++) {
        bool array = e->args[i]->type->id == TYPE_ARRAY;
        if (i > 1) buf_append_z(p->out, ", ");
        buf_append_z(p->out, array ? "coalesce(" : "[");
        TRY(print_expr(p, e->args[i]));
        buf_append_z(p->out, array ? ", CAST([] AS VARCHAR[]))" : "]");
        if (i > 1) buf_append_char(p->out, ')');
    }
    buf_append_z(p->out, ", ");
    TRY(print_expr(p, e->args[0]));
    buf_append_char(p->out, ')');
    return SILT_OK;
}

/* ---- substring ---- */

static silt_status print_substring(printer *p, const expr *e) {
    const expr *from = e->args[1], *length = e->n_args == 3 ? e->args[2] : NULL;
    bool plain = from->kind == EXPR_LITERAL && !from->literal.is_null && from->literal.as.i64 > 0 && e->type->id == TYPE_STRING &&
                 (!length || (length->kind == EXPR_LITERAL && !length->literal.is_null && length->literal.as.i64 >= 0));
    if (plain) return print_template(p, length ? "substring($1, $2, $3)" : "substring($1, $2)", e);
    if (e->type->id == TYPE_BINARY)
        return print_template(p, length ? "silt_subbinary($1, $2, $3)" : "silt_subbinary($1, $2, 2147483647)", e);
    return print_template(p, length ? "silt_substring($1, $2, $3)" : "silt_substring($1, $2, 2147483647)", e);
}

/* ---- elt, format, trims ---- */

static silt_status bind_elt(binder *b, expr *e) {
    for (size_t i = 1; i < e->n_args; i++) TRY(bind_coerce_slot(b, &e->args[i], &type_string, e, i));
    e->type = &type_string;
    e->nullable = true;
    return SILT_OK;
}

static silt_status print_elt(printer *p, const expr *e) {
    buf_append_z(p->out, "list_extract([");
    TRY(print_exprs(p, e->args + 1, e->n_args - 1, ", "));
    buf_append_z(p->out, "], ");
    print_guard_begin(p);
    buf_append_z(p->out, "silt_elt_index(CAST(");
    TRY(print_expr(p, e->args[0]));
    buf_printf(p->out, " AS BIGINT), %zu::BIGINT)", e->n_args - 1);
    print_guard_end(p);
    buf_append_char(p->out, ')');
    return SILT_OK;
}

/* trim(chars, text) is how the parser and Spark's function form write it; btrim(text, chars). */
static silt_status print_trim(printer *p, const expr *e) {
    bool left = named(e, "ltrim"), right = named(e, "rtrim"), text_first = named(e, "btrim");
    buf_append_z(p->out, left ? "ltrim(" : right ? "rtrim(" : "trim(");
    TRY(print_expr(p, e->n_args == 2 && !text_first ? e->args[1] : e->args[0]));
    buf_append_z(p->out, ", ");
    if (e->n_args == 1)
        buf_append_z(p->out, "' '");
    else
        TRY(print_expr(p, text_first ? e->args[1] : e->args[0]));
    buf_append_char(p->out, ')');
    return SILT_OK;
}

static silt_status bind_text_result(binder *b, expr *e) {
    (void)b;
    e->type = &type_string;
    return SILT_OK;
}

static silt_status bind_mask(binder *b, expr *e) {
    for (size_t i = 0; i < e->n_args; i++) TRY(bind_coerce_slot(b, &e->args[i], &type_string, e, i));
    static const char *const defaults[] = {NULL, "X", "x", "n"};
    expr **args;
    BIND_NEW(args, ARENA_ARRAY(b->a, 5, expr *));
    for (size_t i = 0; i < 5; i++) {
        if (i < e->n_args)
            args[i] = e->args[i];
        else if (i < 4)
            BIND_NEW(args[i], expr_literal_str(b->a, str_of(defaults[i])));
        else
            BIND_NEW(args[i], expr_literal(b->a, (value){.type = &type_string, .is_null = true}, e->span));
    }
    e->args = args;
    e->n_args = 5;
    e->type = &type_string;
    return SILT_OK;
}

static silt_status bind_collate(binder *b, expr *e) {
    bool binary = e->args[1]->kind == EXPR_LITERAL && str_eq_ascii_fold(e->args[1]->literal.as.bytes, STR("UTF8_BINARY"));
    if (!binary) return err_UNSUPPORTED_FEATURE(b->err, "collations other than UTF8_BINARY");
    bind_become(e, e->args[0]);
    return SILT_OK;
}

/* ---- number formats ---- */

static bool is_try(const expr *e) {
    return str_starts_with(e->function_name, STR("try_")) || str_starts_with(e->function_name, STR("TRY_"));
}

/* The format's digits are the result's precision and scale. */
static silt_status bind_to_number(binder *b, expr *e) {
    if (e->args[1]->kind != EXPR_LITERAL || e->args[1]->literal.is_null)
        return err_NON_FOLDABLE_ARGUMENT(b->err, e->function_name, "`format`");
    str f = e->args[1]->literal.as.bytes;
    int digits = 0, scale = 0;
    bool after = false;
    for (size_t i = 0; i < f.len; i++) {
        bool digit = f.ptr[i] == '9' || f.ptr[i] == '0';
        digits += digit;
        scale += digit && after;
        after |= f.ptr[i] == '.' || (f.ptr[i] | 0x20) == 'd';
    }
    BIND_NEW(e->type, type_decimal(b->a, digits < 1 ? 1 : digits > 38 ? 38 : digits, scale > 38 ? 38 : scale));
    if (is_try(e)) e->nullable = true;
    return SILT_OK;
}

static silt_status print_to_number(printer *p, const expr *e) {
    print_decimal_begin(p, e->type, is_try(e));
    TRY(print_template(p, "silt_to_number($1, $2", e));
    buf_append_z(p->out, is_try(e) ? ", true)" : ", false)");
    print_decimal_end(p, is_try(e));
    return SILT_OK;
}

/* to_char(number, format); of dates date_format, of binaries an encoding. */
static silt_status bind_to_char(binder *b, expr *e) {
    type_id t = e->args[0]->type->id;
    if (t == TYPE_DATE || t == TYPE_TIMESTAMP || t == TYPE_TIMESTAMP_NTZ || t == TYPE_BINARY) {
        bool base64 = t == TYPE_BINARY && e->args[1]->kind == EXPR_LITERAL &&
                      str_eq_ascii_fold(e->args[1]->literal.as.bytes, STR("base64"));
        bool hex =
            t == TYPE_BINARY && e->args[1]->kind == EXPR_LITERAL && str_eq_ascii_fold(e->args[1]->literal.as.bytes, STR("hex"));
        expr *call;
        BIND_NEW(call, expr_call(b->a,
                                 t != TYPE_BINARY ? "date_format"
                                 : base64         ? "base64"
                                 : hex            ? "hex"
                                                  : "decode",
                                 e->args, base64 || hex ? 1 : 2, e->span));
        TRY(bind_expr(b, b->current, call));
        bind_become(e, call);
        return SILT_OK;
    }
    if (!type_is_numeric(e->args[0]->type)) {
        const data_type *d;
        BIND_NEW(d, type_decimal(b->a, 38, 18));
        TRY(bind_coerce_slot(b, &e->args[0], d, e, 0));
    } else if (e->args[0]->type->id == TYPE_DOUBLE || e->args[0]->type->id == TYPE_FLOAT) {
        const data_type *d;
        BIND_NEW(d, type_decimal(b->a, 30, 15));
        TRY(bind_cast_slot(b, &e->args[0], d));
    }
    e->type = &type_string;
    e->nullable = true;
    return SILT_OK;
}

static const function_row rows[] = {
    CUSTOM("to_number", "try_to_number", "string, string -> custom", 0, bind_to_number, print_to_number,
           "Decimal of a text by a format"),
    {.name = "to_char",
     .aliases = "to_varchar",
     .signature = "any, string -> custom",
     .flags = FN_RAISES,
     .sql = "silt_to_char($1, $2)",
     .bind = bind_to_char,
     .doc = "Text of a number (or date) by a format"},
    CUSTOM("concat", "||", "any* -> custom", 0, bind_concat, print_concat,
           "Strings, binaries or arrays put together; NULL if one is null"),
    CUSTOM("concat_ws", NULL, "string, any* -> custom", 0, bind_concat_ws, print_concat_ws,
           "Strings and arrays of strings joined by a separator, nulls left out"),
    SCALAR("length", "char_length character_length len", "=binary -> int", "CAST(octet_length($1) AS INTEGER)",
           "Number of bytes"),
    SCALAR("length", "char_length character_length len", "string -> int", "CAST(length($1) AS INTEGER)", "Number of characters"),
    SCALAR("octet_length", NULL, "=binary -> int", "CAST(octet_length($1) AS INTEGER)", "Number of bytes"),
    SCALAR("octet_length", NULL, "string -> int", "CAST(strlen($1) AS INTEGER)", "Number of bytes"),
    SCALAR("bit_length", NULL, "=binary -> int", "CAST(octet_length($1) * 8 AS INTEGER)", "Number of bits"),
    SCALAR("bit_length", NULL, "string -> int", "CAST(strlen($1) * 8 AS INTEGER)", "Number of bits"),
    SCALAR("upper", "ucase", "string -> string", "upper(replace($1, 'ß', 'SS'))", "Capital letters"),
    SCALAR("lower", "lcase", "string -> string", "lower(replace($1, 'İ', 'i̇'))", "Small letters"),
    SCALAR("initcap", NULL, "string -> string", "silt_initcap(lower($1))", "Words with a capital first letter"),
    CUSTOM("trim", NULL, "string, string? -> string", 0, NULL, print_trim,
           "Without spaces (or the given characters) on both sides"),
    CUSTOM("ltrim", NULL, "string, string? -> string", 0, NULL, print_trim, "Without leading spaces (or characters)"),
    CUSTOM("rtrim", NULL, "string, string? -> string", 0, NULL, print_trim, "Without trailing spaces (or characters)"),
    CUSTOM("btrim", NULL, "string, string? -> string", 0, NULL, print_trim,
           "Without spaces (or the given characters) on both sides"),
    CUSTOM("substring", "substr", "=binary, int, int? -> binary", 0, NULL, print_substring,
           "Part from a position, negative from the end"),
    CUSTOM("substring", "substr", "string, int, int? -> string", 0, NULL, print_substring,
           "Part from a position, negative from the end"),
    SCALAR("left", NULL, "string, int -> string", "silt_substring($1, 1, $2)", "The first characters"),
    SCALAR("right", NULL, "string, int -> string", "silt_right($1, $2)", "The last characters"),
    SCALAR("lpad", NULL, "string, int -> string", "silt_lpad($1, $2, ' ')", "Filled up on the left, or cut"),
    SCALAR("lpad", NULL, "string, int, string -> string", "silt_lpad($1, $2, $3)", "Filled up on the left, or cut"),
    SCALAR("rpad", NULL, "string, int -> string", "silt_rpad($1, $2, ' ')", "Filled up on the right, or cut"),
    SCALAR("rpad", NULL, "string, int, string -> string", "silt_rpad($1, $2, $3)", "Filled up on the right, or cut"),
    SCALAR("replace", NULL, "string, string -> string", "silt_replace($1, $2, '')", "Every occurrence replaced"),
    SCALAR("replace", NULL, "string, string, string -> string", "silt_replace($1, $2, $3)", "Every occurrence replaced"),
    SCALAR("translate", NULL, "string, string, string -> string", "silt_translate($1, $2, $3)", "Characters replaced one by one"),
    SCALAR("overlay", NULL, "string, string, int -> string", "silt_overlay($1, $2, $3, -1)", "A part replaced by another string"),
    SCALAR("overlay", NULL, "string, string, int, int -> string", "silt_overlay($1, $2, $3, $4)",
           "A part replaced by another string"),
    SCALAR("instr", NULL, "string, string -> int", "silt_locate($2, $1, 1)",
           "Position of the second in the first, 0 if it is not there"),
    SCALAR("locate", "position", "string, string -> int", "silt_locate($1, $2, 1)", "Position of the first in the second"),
    SCALAR("locate", "position", "string, string, int -> int", "silt_locate($1, $2, $3)",
           "Position of the first in the second, from a position on"),
    SCALAR("find_in_set", NULL, "string, string -> int", "silt_find_in_set($1, $2)", "Position in a list with commas"),
    SCALAR("repeat", NULL, "string, int -> string", "silt_repeat($1, $2)", "Repeated n times"),
    SCALAR("space", NULL, "int -> string", "silt_repeat(' ', $1)", "n spaces"),
    SCALAR("ascii", NULL, "string -> int", "silt_ascii($1)", "Code point of the first character"),
    SCALAR("chr", "char", "long -> string", "silt_chr($1)", "The character of a code (modulo 256)"),
    SCALAR_F("split_part", NULL, "string, string, int -> string", FN_RAISES, "silt_split_part($1, $2, $3)",
             "One part between delimiters, from 1, negative from the end"),
    SCALAR("substring_index", NULL, "string, string, int -> string", "silt_substring_index($1, $2, $3)",
           "The part before the n-th delimiter"),
    SCALAR("startswith", NULL, "=binary, =binary -> bool", "silt_starts($1, $2)", "Does it begin with"),
    SCALAR("startswith", NULL, "string, string -> bool", "starts_with($1, $2)", "Does it begin with"),
    SCALAR("endswith", NULL, "=binary, =binary -> bool", "silt_ends($1, $2)", "Does it end with"),
    SCALAR("endswith", NULL, "string, string -> bool", "ends_with($1, $2)", "Does it end with"),
    SCALAR("contains", NULL, "string, string -> bool", "contains($1, $2)", "Does it hold"),
    CUSTOM("elt", NULL, "int, any, any* -> custom", FN_NULLABLE, bind_elt, print_elt, "The n-th of the strings"),
    {.name = "format_string",
     .aliases = "printf",
     .signature = "string, any* -> custom",
     .flags = FN_RAISES,
     .sql = "silt_format_string($*)",
     .bind = bind_text_result,
     .doc = "printf with Java's format letters"},
    SCALAR("format_number", NULL, "number, =int -> string", "silt_format_number($1, $2)",
           "With thousands separators and n decimals"),
    SCALAR("format_number", NULL, "number, string -> string", "silt_format_pattern($1, $2)",
           "By a decimal pattern like #,##0.00"),
    SCALAR("levenshtein", NULL, "string, string -> int", "silt_levenshtein($1, $2, -1)", "Edit distance"),
    SCALAR("levenshtein", NULL, "string, string, int -> int", "silt_levenshtein($1, $2, $3)",
           "Edit distance, -1 beyond the threshold"),
    SCALAR("soundex", NULL, "string -> string", "silt_soundex($1)", "How it sounds in English"),
    SCALAR("luhn_check", NULL, "string -> bool", "silt_luhn($1)", "Do the digits pass the Luhn check"),
    {.name = "mask",
     .signature = "string, any?, any?, any?, any? -> custom",
     .flags = 0,
     .sql = "silt_mask($*)",
     .bind = bind_mask,
     .doc = "Letters and digits hidden"},
    SCALAR("quote", NULL, "string -> string", "silt_quote($1)", "In single quotes, inner ones escaped"),
    SCALAR("base64", NULL, "binary -> string", "silt_base64($1)", "Base 64 text"),
    SCALAR_F("unbase64", NULL, "string -> binary", FN_RAISES, "silt_unbase64($1)", "Bytes of a base 64 text"),
    SCALAR_F("encode", NULL, "string, string -> binary", FN_RAISES, "silt_encode($1, $2)", "Bytes in a charset"),
    SCALAR_F("decode", NULL, "binary, string -> string", FN_RAISES, "silt_decode($1, $2)", "Text of bytes in a charset"),
    SCALAR_F("to_binary", NULL, "string -> binary", FN_RAISES, "silt_to_binary($1, 'hex', false)",
             "Bytes of a text by a format: hex, utf-8, base64"),
    SCALAR_F("to_binary", NULL, "string, string -> binary", FN_RAISES, "silt_to_binary($1, $2, false)",
             "Bytes of a text by a format"),
    SCALAR_F("try_to_binary", NULL, "string -> binary", FN_NULLABLE, "silt_to_binary($1, 'hex', true)",
             "to_binary, NULL where it fails"),
    SCALAR_F("try_to_binary", NULL, "string, string -> binary", FN_NULLABLE, "silt_to_binary($1, $2, true)",
             "to_binary, NULL where it fails"),
    SCALAR("url_encode", NULL, "string -> string", "silt_url_encode($1)", "Form-encoded"),
    SCALAR_F("url_decode", NULL, "string -> string", FN_RAISES, "silt_url_decode($1, false)", "Decoded from form encoding"),
    SCALAR_F("try_url_decode", NULL, "string -> string", FN_NULLABLE, "silt_url_decode($1, true)",
             "url_decode, NULL where it fails"),
    SCALAR_F("parse_url", NULL, "string, string -> string", FN_NULLABLE, "silt_parse_url($1, $2, '')",
             "A part of a URL: HOST, PATH, QUERY, REF, PROTOCOL, FILE, AUTHORITY, USERINFO"),
    SCALAR_F("parse_url", NULL, "string, string, string -> string", FN_NULLABLE, "silt_parse_url($1, $2, $3)",
             "One value of a URL's query"),
    SCALAR_F("randstr", NULL, "int, long? -> string", FN_VOLATILE | FN_RAISES, "silt_randstr($1)", "Random letters and digits"),
    CUSTOM("collate", NULL, "string, string -> string", 0, bind_collate, NULL,
           "The string itself; the only collation is UTF8_BINARY"),
    SCALAR("is_valid_utf8", NULL, "string -> bool", "silt_is_utf8($1)", "Is it valid UTF-8"),
    SCALAR("validate_utf8", "make_valid_utf8", "string -> string", "$1", "The string itself when it is valid UTF-8"),
    MACRO("str_to_map", NULL, "any ->",
          "map_from_entries(transform(split(:p1, ','), kv -> struct(split(kv, ':', 2)[0] AS key, get(split(kv, ':', 2), 1) AS "
          "value)))",
          "Map of a text with delimiters"),
    MACRO("str_to_map", NULL, "any, any ->",
          "map_from_entries(transform(split(:p1, :p2), kv -> struct(split(kv, ':', 2)[0] AS key, get(split(kv, ':', 2), 1) AS "
          "value)))",
          "Map of a text with delimiters"),
    MACRO("str_to_map", NULL, "any, any, any ->",
          "map_from_entries(transform(split(:p1, :p2), kv -> struct(split(kv, :p3, 2)[0] AS key, get(split(kv, :p3, 2), 1) AS "
          "value)))",
          "Map of a text with delimiters"),
};

GROUP_OF(functions_string, "Strings", rows);
