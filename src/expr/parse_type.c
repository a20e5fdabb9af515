/* Type texts and column definitions. */
#include "expr/parse_internal.h"

static silt_status struct_fields(parser *p, field **out, size_t *out_count) {
    field *fields = NULL;
    size_t count = 0, capacity = 0;
    while (!parser_at_op(p, ">")) {
        str name;
        const data_type *type;
        TRY(parser_identifier(p, &name));
        (void)parser_accept_op(p, ":");
        TRY(parser_type(p, &type));
        field f = field_make(name, type, true);
        if (parser_accept_keywords(p, "NOT", "NULL")) f.nullable = false;
        if (parser_accept_keyword(p, "COMMENT")) {
            str comment;
            TRY(parser_string(p, &comment));
            buf b;
            buf_init(&b, BUF_MAX_DEFAULT);
            bool first = true;
            buf_append_char(&b, '{');
            json_write_key(&b, &first, "comment");
            json_write_str(&b, comment);
            buf_append_char(&b, '}');
            f.metadata = buf_take(&b, p->a);
            if (!f.metadata.ptr) return error_no_memory(p->err);
        }
        if (!ARENA_PUSH(p->a, fields, count, capacity, f)) return error_no_memory(p->err);
        if (!parser_accept_op(p, ",")) break;
    }
    *out = fields;
    *out_count = count;
    return SILT_OK;
}

static silt_status nested_type(parser *p, const data_type **out, bool *handled) {
    const token *open = parser_peek(p, 1);
    *handled = false;
    if (open->kind != TOKEN_OP || (!str_eqz(open->text, "<") && !str_eqz(open->text, "<>"))) return SILT_OK;
    bool is_array = parser_at_keyword(p, "ARRAY"), is_map = parser_at_keyword(p, "MAP"), is_struct = parser_at_keyword(p, "STRUCT");
    if (!is_array && !is_map && !is_struct) return SILT_OK;
    *handled = true;
    p->at++;
    if (is_struct && parser_accept_op(p, "<>")) {
        NEW_OR_FAIL(*out, type_struct(p->a, NULL, 0));
        return SILT_OK;
    }
    TRY(parser_expect_op(p, "<"));
    if (is_struct) {
        field *fields;
        size_t n;
        TRY(struct_fields(p, &fields, &n));
        NEW_OR_FAIL(*out, type_struct(p->a, fields, n));
    } else {
        const data_type *a, *b = NULL;
        TRY(parser_type(p, &a));
        if (is_map) {
            TRY(parser_expect_op(p, ","));
            TRY(parser_type(p, &b));
            NEW_OR_FAIL(*out, type_map(p->a, a, b, true));
        } else {
            NEW_OR_FAIL(*out, type_array(p->a, a, true));
        }
    }
    return parser_expect_op(p, ">");
}

static silt_status parse_decimal(parser *p, const data_type **out) {
    int64_t precision = 10, scale = 0;
    if (parser_accept_op(p, "(")) {
        TRY(parser_integer(p, &precision));
        if (parser_accept_op(p, ",")) TRY(parser_integer(p, &scale));
        TRY(parser_expect_op(p, ")"));
    }
    if (precision > 38) return err_DECIMAL_PRECISION_EXCEEDS_MAX_PRECISION(p->err, precision);
    if (precision < 1 || scale < 0 || scale > precision) {
        return err_INVALID_DECIMAL_TYPE(p->err, precision, scale);
    }
    NEW_OR_FAIL(*out, type_decimal(p->a, (int)precision, (int)scale));
    return SILT_OK;
}

static silt_status parse_char(parser *p, bool is_char, const data_type **out) {
    int64_t n;
    TRY(parser_expect_op(p, "("));
    TRY(parser_integer(p, &n));
    if (n < 1 || n > INT32_MAX) return parser_fail(p, "a length of at least 1");
    TRY(parser_expect_op(p, ")"));
    data_type *t;
    NEW_OR_FAIL(t, ARENA_NEW(p->a, data_type));
    *t = type_string;
    t->length = (int32_t)n;
    t->is_char = is_char;
    *out = t;
    return SILT_OK;
}

static silt_status parse_interval_type(parser *p, const data_type **out) {
    str from = STR(""), to;
    const token *t = parser_peek(p, 0);
    static const char *const ym[] = {"YEAR", "MONTH"}, *const dt[] = {"DAY", "HOUR", "MINUTE", "SECOND"};
    bool is_ym = false, is_dt = false;
    for (size_t i = 0; i < ARRAY_LEN(ym); i++) is_ym = is_ym || parser_at_keyword(p, ym[i]);
    for (size_t i = 0; i < ARRAY_LEN(dt); i++) is_dt = is_dt || parser_at_keyword(p, dt[i]);
    if (t->kind == TOKEN_NAME && (is_ym || is_dt)) {
        TRY(parser_identifier(p, &from));
        if (parser_accept_keyword(p, "TO")) TRY(parser_identifier(p, &to));
    }
    *out = is_ym ? &type_interval_ym : is_dt ? &type_interval_dt : &type_interval;
    return SILT_OK;
}

silt_status parser_type(parser *p, const data_type **out) {
    static const struct { const char *name; const data_type *type; } simple[] = {
        {"BOOLEAN", &type_boolean}, {"TINYINT", &type_byte}, {"BYTE", &type_byte}, {"SMALLINT", &type_short}, {"SHORT", &type_short}, {"INT", &type_int},
        {"INTEGER", &type_int}, {"BIGINT", &type_long}, {"LONG", &type_long}, {"FLOAT", &type_float}, {"REAL", &type_float}, {"DOUBLE", &type_double},
        {"STRING", &type_string}, {"BINARY", &type_binary}, {"DATE", &type_date}, {"TIMESTAMP", &type_timestamp}, {"TIMESTAMP_LTZ", &type_timestamp},
        {"TIMESTAMP_NTZ", &type_timestamp_ntz}, {"VOID", &type_void}, {"VARIANT", &type_variant},
    };
    bool handled;
    TRY(parse_enter(p));
    TRY(nested_type(p, out, &handled));
    parse_leave(p);
    if (handled) return SILT_OK;
    const token *t = parser_peek(p, 0);
    if (t->kind != TOKEN_NAME) return parser_fail(p, "a data type");
    p->at++;
    if (str_eq_ascii_fold(t->text, STR("DECIMAL")) || str_eq_ascii_fold(t->text, STR("DEC")) || str_eq_ascii_fold(t->text, STR("NUMERIC"))) return parse_decimal(p, out);
    if (str_eq_ascii_fold(t->text, STR("VARCHAR"))) return parse_char(p, false, out);
    if (str_eq_ascii_fold(t->text, STR("CHAR")) || str_eq_ascii_fold(t->text, STR("CHARACTER"))) return parse_char(p, true, out);
    if (str_eq_ascii_fold(t->text, STR("INTERVAL"))) return parse_interval_type(p, out);
    for (size_t i = 0; i < ARRAY_LEN(simple); i++) {
        if (str_eq_ascii_fold(t->text, str_of(simple[i].name))) {
            *out = simple[i].type;
            if (*out == &type_string && parser_accept_keyword(p, "COLLATE")) return err_UNSUPPORTED_FEATURE(p->err, "collations");
            return SILT_OK;
        }
    }
    p->at--;
    silt_status s = err_UNSUPPORTED_DATATYPE(p->err, t->text);
    error_detail(p->err, "%.*s", STR_ARG(lexer_caret(p->text, t->from, p->a)));
    return s;
}

/* ---- column definitions ---- */

typedef struct column_extras {
    str comment, default_text, generation;
    bool has_comment, has_default, has_generation, is_identity, identity_always;
    int64_t identity_start, identity_step;
} column_extras;

static bool has_char_type(const data_type *t) {
    if (t->id == TYPE_STRING) return t->length > 0;
    if (t->id == TYPE_ARRAY) return has_char_type(t->element);
    if (t->id == TYPE_MAP) return has_char_type(t->key) || has_char_type(t->element);
    for (size_t i = 0; t->id == TYPE_STRUCT && i < t->n_fields; i++)
        if (has_char_type(t->fields[i].type)) return true;
    return false;
}

static silt_status column_metadata(parser *p, const data_type *type, const column_extras *x, str *out) {
    buf b;
    bool first = true;
    buf_init(&b, BUF_MAX_DEFAULT);
    buf_append_char(&b, '{');
    if (x->has_comment) {
        json_write_key(&b, &first, "comment");
        json_write_str(&b, x->comment);
    }
    if (x->has_default) {
        json_write_key(&b, &first, "CURRENT_DEFAULT");
        json_write_str(&b, x->default_text);
    }
    if (x->has_generation) {
        json_write_key(&b, &first, "delta.generationExpression");
        json_write_str(&b, x->generation);
    }
    if (x->is_identity) {
        json_write_key(&b, &first, "delta.identity.start");
        json_write_i64(&b, x->identity_start);
        json_write_key(&b, &first, "delta.identity.step");
        json_write_i64(&b, x->identity_step);
        json_write_key(&b, &first, "delta.identity.allowExplicitInsert");
        buf_append_z(&b, x->identity_always ? "false" : "true");
    }
    if (has_char_type(type)) {
        json_write_key(&b, &first, "__CHAR_VARCHAR_TYPE_STRING");
        json_write_str(&b, type_simple(type, p->a));
    }
    buf_append_char(&b, '}');
    *out = arena_str(p->a, buf_str(&b));
    bool ok = buf_ok(&b) && out->ptr;
    buf_dispose(&b);
    return ok ? SILT_OK : error_no_memory(p->err);
}

static silt_status parse_identity(parser *p, column_extras *x) {
    x->is_identity = true;
    x->identity_start = x->identity_step = 1;
    if (!parser_accept_op(p, "(")) return SILT_OK;
    while (!parser_at_op(p, ")")) {
        if (parser_accept_keywords(p, "START", "WITH")) TRY(parser_integer(p, &x->identity_start));
        else if (parser_accept_keywords(p, "INCREMENT", "BY")) TRY(parser_integer(p, &x->identity_step));
        else return parser_fail(p, "START WITH or INCREMENT BY");
        (void)parser_accept_op(p, ",");
    }
    return parser_expect_op(p, ")");
}

static silt_status parse_generated(parser *p, column_extras *x) {
    if (parser_accept_keyword(p, "ALWAYS")) x->identity_always = true;
    else if (!parser_accept_keywords(p, "BY", "DEFAULT")) return parser_fail(p, "ALWAYS or BY DEFAULT");
    TRY(parser_expect_keyword(p, "AS"));
    if (parser_accept_keyword(p, "IDENTITY")) return parse_identity(p, x);
    TRY(parser_expect_op(p, "("));
    expr *e;
    size_t from = parser_peek(p, 0)->from;
    TRY(parser_expr(p, &e));
    x->generation = str_slice(p->text, from, p->tokens[p->at - 1].to);
    x->has_generation = true;
    return parser_expect_op(p, ")");
}

silt_status parser_column_def(parser *p, field *out) {
    str name;
    const data_type *type;
    column_extras x = {0};
    TRY(parser_identifier(p, &name));
    (void)parser_accept_op(p, ":");
    TRY(parser_type(p, &type));
    field f = field_make(name, type, true);
    for (;;) {
        if (parser_accept_keywords(p, "NOT", "NULL")) {
            f.nullable = false;
        } else if (parser_accept_keyword(p, "NULL")) {
            f.nullable = true;
        } else if (parser_accept_keyword(p, "COMMENT")) {
            TRY(parser_string(p, &x.comment));
            x.has_comment = true;
        } else if (parser_accept_keyword(p, "DEFAULT")) {
            size_t from = parser_peek(p, 0)->from;
            expr *e;
            TRY(parser_expr(p, &e));
            x.default_text = str_slice(p->text, from, p->tokens[p->at - 1].to);
            x.has_default = true;
        } else if (parser_accept_keyword(p, "GENERATED")) {
            TRY(parse_generated(p, &x));
        } else {
            break;
        }
    }
    TRY(column_metadata(p, type, &x, &f.metadata));
    *out = f;
    return SILT_OK;
}

silt_status type_parse(str text, arena *a, const data_type **out, silt_error *err) {
    parser p;
    TRY(parser_init(&p, text, a, err));
    TRY(parser_type(&p, out));
    return parser_expect_end(&p);
}

silt_status schema_parse_ddl(str text, arena *a, const data_type **out, silt_error *err) {
    parser outer, *p = &outer;
    field *fields = NULL;
    size_t count = 0, capacity = 0;
    TRY(parser_init(p, text, a, err));
    do {
        field f;
        TRY(parser_column_def(p, &f));
        if (!ARENA_PUSH(a, fields, count, capacity, f)) return error_no_memory(err);
    } while (parser_accept_op(p, ","));
    TRY(parser_expect_end(p));
    NEW_OR_FAIL(*out, type_struct(a, fields, count));
    return SILT_OK;
}
