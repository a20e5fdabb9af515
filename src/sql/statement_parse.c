/*
 * Statements of Spark SQL with Delta's extensions: the words at the front choose a parser by one table. Queries and expressions are expr/'s; so is the error with
 * its caret. A statement that Spark has and Silt has not yet is known by name here, so that it is refused rather than called a syntax error.
 */
#include "sql/dml_statement.h"
#include "sql/parse.h"

typedef silt_status (*statement_parser)(parser *p, statement *s);

silt_status parse_table_name(parser *p, relation **out) {
    relation *r = ARENA_NEW(p->a, relation);
    if (!r) return error_no_memory(p->err);
    r->kind = REL_TABLE;
    r->sample_percent = -1;
    r->sample_rows = -1;
    r->span.from = parser_peek(p, 0)->from;
    const token *t = parser_peek(p, 0);
    if (t->kind == TOKEN_STRING) { /* '/path/to/table', as Delta's own statements take it */
        str *parts = ARENA_ARRAY(p->a, 2, str);
        if (!parts) return error_no_memory(p->err);
        parts[0] = STR("delta");
        parts[1] = t->text;
        p->at++;
        r->name = (name_parts){parts, 2};
    } else {
        TRY(parser_name(p, &r->name));
    }
    r->span.to = p->tokens[p->at - 1].to;
    *out = r;
    return SILT_OK;
}

/* a.b.c; quoted: as text that names the same when it is parsed again. */
static str dotted(parser *p, const name_parts *name, bool quoted) {
    buf b;
    buf_init(&b, BUF_MAX_DEFAULT);
    for (size_t i = 0; i < name->count; i++) {
        if (i) buf_append_char(&b, '.');
        if (quoted) identifier_write(&b, name->parts[i]);
        else buf_append(&b, name->parts[i]);
    }
    return buf_take(&b, p->a);
}

static silt_status name_list(parser *p, bool quoted, const str **out, size_t *out_count) {
    str *names = NULL;
    size_t n = 0, capacity = 0;
    TRY(parser_expect_op(p, "("));
    do {
        name_parts name;
        TRY(parser_name(p, &name));
        str text = dotted(p, &name, quoted);
        if (!text.ptr || !ARENA_PUSH(p->a, names, n, capacity, text)) return error_no_memory(p->err);
    } while (parser_accept_op(p, ","));
    TRY(parser_expect_op(p, ")"));
    *out = names;
    *out_count = n;
    return SILT_OK;
}

silt_status parse_name_list(parser *p, const str **out, size_t *out_count) { return name_list(p, false, out, out_count); }

silt_status parse_cluster_columns(parser *p, const str **out, size_t *out_count) { return name_list(p, true, out, out_count); }

static bool accept_if_not_exists(parser *p) {
    const token *third = parser_peek(p, 2);
    if (!parser_at_keywords(p, "IF", "NOT") || third->kind != TOKEN_NAME || !str_eq_ascii_fold(third->text, STR("EXISTS"))) return false;
    p->at += 3;
    return true;
}

static bool accept_if_exists(parser *p) { return parser_accept_keywords(p, "IF", "EXISTS"); }

/* ---- CREATE TABLE ---- */

static silt_status column_definitions(parser *p, statement *s) {
    field *fields = NULL;
    size_t n = 0, capacity = 0;
    TRY(parser_expect_op(p, "("));
    do {
        if (parser_at_keyword(p, "CONSTRAINT") || parser_at_keywords(p, "PRIMARY", "KEY") || parser_at_keywords(p, "FOREIGN", "KEY"))
            return err_UNSUPPORTED_FEATURE(p->err, "table constraints in CREATE TABLE");
        field f;
        TRY(parser_column_def(p, &f));
        if (!ARENA_PUSH(p->a, fields, n, capacity, f)) return error_no_memory(p->err);
    } while (parser_accept_op(p, ","));
    TRY(parser_expect_op(p, ")"));
    s->columns = fields;
    s->n_columns = n;
    s->has_columns = true;
    return SILT_OK;
}

/* PARTITIONED BY (a, b) or, as Hive, (a INT, b STRING): the latter are appended to the columns. */
static silt_status partitioned_by(parser *p, statement *s) {
    str *names = NULL;
    field *fields = NULL;
    size_t n = 0, capacity = 0, n_fields = 0, field_capacity = 0;
    for (size_t i = 0; i < s->n_columns; i++)
        if (!ARENA_PUSH(p->a, fields, n_fields, field_capacity, s->columns[i])) return error_no_memory(p->err);
    TRY(parser_expect_op(p, "("));
    do {
        const token *next = parser_peek(p, 1);
        str name;
        if (next->kind == TOKEN_OP && str_eqz(next->text, "(")) return err_UNSUPPORTED_FEATURE(p->err, "partitioning by a transform in a Delta table");
        if (next->kind == TOKEN_NAME) {
            field f;
            TRY(parser_column_def(p, &f));
            name = f.name;
            if (!ARENA_PUSH(p->a, fields, n_fields, field_capacity, f)) return error_no_memory(p->err);
            s->has_columns = true;
        } else {
            TRY(parser_identifier(p, &name));
        }
        if (!ARENA_PUSH(p->a, names, n, capacity, name)) return error_no_memory(p->err);
    } while (parser_accept_op(p, ","));
    TRY(parser_expect_op(p, ")"));
    s->columns = fields;
    s->n_columns = n_fields;
    s->partition_columns = names;
    s->n_partition_columns = n;
    return SILT_OK;
}

static silt_status once(parser *p, bool already, const char *clause) {
    if (!already) return SILT_OK;
    silt_status st = err_DUPLICATE_CLAUSES(p->err, clause);
    error_detail(p->err, "%.*s", STR_ARG(lexer_caret(p->text, p->tokens[p->at - 1].from, p->a)));
    return st;
}

static silt_status table_clauses(parser *p, statement *s) {
    for (;;) {
        if (parser_accept_keyword(p, "USING")) {
            TRY(once(p, s->provider.ptr != NULL, "USING"));
            TRY(parser_identifier(p, &s->provider));
        } else if (parser_accept_keywords(p, "PARTITIONED", "BY")) {
            TRY(once(p, s->n_partition_columns > 0, "PARTITIONED BY"));
            TRY(partitioned_by(p, s));
        } else if (parser_accept_keywords(p, "CLUSTER", "BY")) {
            TRY(once(p, s->n_cluster_columns > 0, "CLUSTER BY"));
            TRY(parse_cluster_columns(p, &s->cluster_columns, &s->n_cluster_columns));
        } else if (parser_accept_keyword(p, "LOCATION")) {
            TRY(once(p, s->has_location, "LOCATION"));
            TRY(parser_string(p, &s->location));
            s->has_location = true;
        } else if (parser_accept_keyword(p, "COMMENT")) {
            TRY(once(p, s->has_comment, "COMMENT"));
            TRY(parser_string(p, &s->comment));
            s->has_comment = true;
        } else if (parser_accept_keyword(p, "TBLPROPERTIES")) {
            TRY(once(p, s->properties.count > 0, "TBLPROPERTIES"));
            TRY(parser_properties(p, &s->properties.keys, &s->properties.values, &s->properties.count));
        } else if (parser_accept_keyword(p, "OPTIONS")) {
            TRY(once(p, s->options.count > 0, "OPTIONS"));
            TRY(parser_properties(p, &s->options.keys, &s->options.values, &s->options.count));
        } else if (parser_at_keywords(p, "CLUSTERED", "BY") || parser_at_keywords(p, "STORED", "AS") || parser_at_keywords(p, "STORED", "BY") || parser_at_keywords(p, "ROW", "FORMAT")) {
            return err_UNSUPPORTED_FEATURE(p->err, "Hive table clauses (CLUSTERED BY, STORED AS, ROW FORMAT)");
        } else {
            return SILT_OK;
        }
    }
}

static silt_status create_table(parser *p, statement *s) {
    s->kind = STMT_CREATE_TABLE;
    s->if_not_exists = accept_if_not_exists(p);
    TRY(parse_table_name(p, &s->table));
    if (parser_accept_keyword(p, "LIKE")) {
        s->kind = STMT_CREATE_TABLE_LIKE;
        TRY(parse_table_name(p, &s->like));
        return table_clauses(p, s);
    }
    if (parse_at_clone(p)) return parse_clone(p, s);
    if (parser_at_op(p, "(")) {
        parser inner = *p;
        inner.at++;
        if (!parser_at_query(&inner)) TRY(column_definitions(p, s));
    }
    TRY(table_clauses(p, s));
    if (parser_accept_keyword(p, "AS") || parser_at_query(p)) TRY(parser_query(p, &s->query));
    return SILT_OK;
}

static silt_status create_view(parser *p, statement *s) {
    s->kind = STMT_CREATE_VIEW;
    s->if_not_exists = accept_if_not_exists(p);
    TRY(parse_table_name(p, &s->table));
    if (parser_at_op(p, "(")) {
        str *names = NULL;
        size_t n = 0, capacity = 0;
        p->at++;
        do {
            str name, comment;
            TRY(parser_identifier(p, &name));
            if (parser_accept_keyword(p, "COMMENT")) TRY(parser_string(p, &comment));
            if (!ARENA_PUSH(p->a, names, n, capacity, name)) return error_no_memory(p->err);
        } while (parser_accept_op(p, ","));
        TRY(parser_expect_op(p, ")"));
        s->view_columns = names;
        s->n_view_columns = n;
    }
    for (;;) {
        if (parser_accept_keyword(p, "COMMENT")) TRY(parser_string(p, &s->comment));
        else if (parser_accept_keyword(p, "TBLPROPERTIES")) TRY(parser_properties(p, &s->properties.keys, &s->properties.values, &s->properties.count));
        else break;
    }
    TRY(parser_expect_keyword(p, "AS"));
    uint32_t from = parser_peek(p, 0)->from;
    TRY(parser_query(p, &s->query));
    s->view_text = str_slice(p->text, from, p->tokens[p->at - 1].to);
    return SILT_OK;
}

static silt_status create_database(parser *p, statement *s) {
    s->kind = STMT_CREATE_DATABASE;
    s->if_not_exists = accept_if_not_exists(p);
    TRY(parser_name(p, &s->name));
    for (;;) {
        if (parser_accept_keyword(p, "COMMENT")) {
            TRY(parser_string(p, &s->comment));
        } else if (parser_accept_keyword(p, "LOCATION")) {
            TRY(parser_string(p, &s->location));
            s->has_location = true;
        } else if (parser_accept_keywords(p, "WITH", "DBPROPERTIES") || parser_accept_keywords(p, "WITH", "PROPERTIES")) {
            TRY(parser_properties(p, &s->properties.keys, &s->properties.values, &s->properties.count));
        } else {
            return SILT_OK;
        }
    }
}

static bool accept_database_word(parser *p) { return parser_accept_keyword(p, "DATABASE") || parser_accept_keyword(p, "SCHEMA") || parser_accept_keyword(p, "NAMESPACE"); }

static silt_status parse_create(parser *p, statement *s) {
    p->at++;
    s->or_replace = parser_accept_keywords(p, "OR", "REPLACE");
    if (parser_accept_keyword(p, "GLOBAL")) s->global_temporary = true;
    s->temporary = parser_accept_keyword(p, "TEMPORARY") || parser_accept_keyword(p, "TEMP");
    if (parser_accept_keyword(p, "VIEW")) return create_view(p, s);
    if (s->temporary) return parser_at_keyword(p, "FUNCTION") ? err_UNSUPPORTED_FEATURE(p->err, "CREATE FUNCTION") : parser_fail(p, "VIEW");
    if (parser_accept_keyword(p, "EXTERNAL")) {
        TRY(parser_expect_keyword(p, "TABLE"));
        return create_table(p, s);
    }
    if (parser_accept_keyword(p, "TABLE")) return create_table(p, s);
    if (accept_database_word(p)) return create_database(p, s);
    if (parser_at_keyword(p, "FUNCTION")) return err_UNSUPPORTED_FEATURE(p->err, "CREATE FUNCTION");
    return parser_fail(p, "TABLE, VIEW or DATABASE");
}

static silt_status parse_replace(parser *p, statement *s) {
    p->at++;
    TRY(parser_expect_keyword(p, "TABLE"));
    s->or_replace = s->replace_only = true;
    return create_table(p, s);
}

static silt_status parse_drop(parser *p, statement *s) {
    p->at++;
    if (parser_accept_keyword(p, "TABLE") || parser_at_keyword(p, "VIEW")) {
        s->kind = parser_accept_keyword(p, "VIEW") ? STMT_DROP_VIEW : STMT_DROP_TABLE;
        s->if_exists = accept_if_exists(p);
        TRY(parse_table_name(p, &s->table));
        (void)parser_accept_keyword(p, "PURGE");
        return SILT_OK;
    }
    if (accept_database_word(p)) {
        s->kind = STMT_DROP_DATABASE;
        s->if_exists = accept_if_exists(p);
        TRY(parser_name(p, &s->name));
        s->cascade = parser_accept_keyword(p, "CASCADE");
        if (!s->cascade) (void)parser_accept_keyword(p, "RESTRICT");
        return SILT_OK;
    }
    return parser_fail(p, "TABLE, VIEW or DATABASE");
}

/* ---- INSERT ---- */

static silt_status insert_partition(parser *p, statement *s) {
    str *names = NULL;
    expr **values = NULL;
    size_t n = 0, nv = 0, cn = 0, cv = 0;
    s->has_partition = true;
    TRY(parser_expect_op(p, "("));
    do {
        str name;
        expr *constant = NULL;
        TRY(parser_identifier(p, &name));
        if (parser_accept_op(p, "=")) TRY(parser_expr(p, &constant));
        if (!ARENA_PUSH(p->a, names, n, cn, name) || !ARENA_PUSH(p->a, values, nv, cv, constant)) return error_no_memory(p->err);
    } while (parser_accept_op(p, ","));
    TRY(parser_expect_op(p, ")"));
    s->partition_names = names;
    s->partition_values = values;
    s->n_partition = n;
    return SILT_OK;
}

/* INSERT INTO t AS a REPLACE ON …: an alias only where REPLACE or BY NAME REPLACE follows, so that INSERT INTO t SELECT … is read as ever. */
static silt_status insert_alias(parser *p, statement *s) {
    parser ahead = *p;
    if (!parser_accept_keyword(&ahead, "AS") && ahead.tokens[ahead.at].kind != TOKEN_NAME && ahead.tokens[ahead.at].kind != TOKEN_QUOTED_NAME) return SILT_OK;
    ahead.at++;
    (void)parser_accept_keywords(&ahead, "BY", "NAME");
    return parser_at_keyword(&ahead, "REPLACE") && !parser_at_keyword(p, "BY") ? parse_target_alias(p, s->table, "INSERT") : SILT_OK;
}

/* WITH in front of the INSERT: its names come before the query's own. */
static silt_status insert_ctes(parser *p, statement *s) {
    query *q = s->query;
    if (s->n_ctes == 0) return SILT_OK;
    cte_def *all = ARENA_ARRAY(p->a, s->n_ctes + q->n_ctes, cte_def);
    if (!all) return error_no_memory(p->err);
    memcpy(all, s->ctes, s->n_ctes * sizeof *all);
    if (q->n_ctes) memcpy(all + s->n_ctes, q->ctes, q->n_ctes * sizeof *all);
    q->ctes = all;
    q->n_ctes += s->n_ctes;
    q->recursive |= s->recursive;
    return SILT_OK;
}

static silt_status parse_insert(parser *p, statement *s) {
    p->at++;
    s->kind = STMT_INSERT;
    s->overwrite = parser_accept_keyword(p, "OVERWRITE");
    if (!s->overwrite) TRY(parser_expect_keyword(p, "INTO"));
    if (parser_at_keyword(p, "DIRECTORY") || parser_at_keywords(p, "LOCAL", "DIRECTORY")) return err_UNSUPPORTED_FEATURE(p->err, "INSERT OVERWRITE DIRECTORY");
    (void)parser_accept_keyword(p, "TABLE");
    TRY(parse_table_name(p, &s->table));
    TRY(insert_alias(p, s));
    if (parser_at_keyword(p, "WITH")) {
        const token *next = parser_peek(p, 1);
        if (next->kind == TOKEN_OP && str_eqz(next->text, "(")) {
            p->at++;
            TRY(parser_properties(p, &s->options.keys, &s->options.values, &s->options.count));
        }
    }
    if (parser_accept_keyword(p, "PARTITION")) TRY(insert_partition(p, s));
    s->if_not_exists = accept_if_not_exists(p);
    if (parser_accept_keywords(p, "BY", "NAME")) s->by_name = true;
    if (parser_at_op(p, "(")) {
        parser inner = *p;
        inner.at++;
        if (!parser_at_query(&inner)) TRY(parse_name_list(p, &s->insert_columns, &s->n_insert_columns));
    }
    if (parser_accept_keywords(p, "BY", "NAME")) s->by_name = true;
    if (!s->overwrite && parser_at_keyword(p, "REPLACE")) TRY(parse_insert_replace(p, s));
    if (s->dml && parser_accept_keywords(p, "BY", "NAME")) s->by_name = true;
    bool enclosed = parser_at_op(p, "(");
    TRY(parser_query(p, &s->query));
    if (s->dml && enclosed && (parser_accept_keyword(p, "AS") || parser_peek(p, 0)->kind == TOKEN_NAME)) TRY(parser_identifier(p, &s->dml->source_alias));
    return insert_ctes(p, s);
}

/* ---- SHOW ---- */

static silt_status like_pattern(parser *p, statement *s) {
    bool like = parser_accept_keyword(p, "LIKE");
    if (!like && parser_peek(p, 0)->kind != TOKEN_STRING) return SILT_OK;
    s->has_pattern = true;
    return parser_string(p, &s->pattern);
}

static silt_status in_database(parser *p, statement *s) {
    if (parser_accept_keyword(p, "IN") || parser_accept_keyword(p, "FROM")) TRY(parser_name(p, &s->name));
    return SILT_OK;
}

static silt_status parse_show(parser *p, statement *s) {
    p->at++;
    if (parser_accept_keyword(p, "DATABASES") || parser_accept_keyword(p, "SCHEMAS") || parser_accept_keyword(p, "NAMESPACES")) {
        s->kind = STMT_SHOW_DATABASES;
        return like_pattern(p, s);
    }
    if (parser_accept_keyword(p, "TABLES") || parser_at_keyword(p, "VIEWS")) {
        s->kind = parser_accept_keyword(p, "VIEWS") ? STMT_SHOW_VIEWS : STMT_SHOW_TABLES;
        TRY(in_database(p, s));
        return like_pattern(p, s);
    }
    if (parser_accept_keyword(p, "COLUMNS")) {
        s->kind = STMT_SHOW_COLUMNS;
        if (!parser_accept_keyword(p, "IN")) TRY(parser_expect_keyword(p, "FROM"));
        TRY(parse_table_name(p, &s->table));
        return in_database(p, s);
    }
    if (parser_accept_keyword(p, "TBLPROPERTIES")) {
        s->kind = STMT_SHOW_TBLPROPERTIES;
        TRY(parse_table_name(p, &s->table));
        if (!parser_accept_op(p, "(")) return SILT_OK;
        name_parts key;
        if (parser_peek(p, 0)->kind == TOKEN_STRING) {
            TRY(parser_string(p, &s->key));
        } else {
            TRY(parser_name(p, &key));
            s->key = key.parts[0];
            for (size_t i = 1; i < key.count; i++) {
                s->key = arena_printf(p->a, "%.*s.%.*s", STR_ARG(s->key), STR_ARG(key.parts[i]));
                if (!s->key.ptr) return error_no_memory(p->err);
            }
        }
        s->has_key = true;
        return parser_expect_op(p, ")");
    }
    if (parser_accept_keywords(p, "CREATE", "TABLE")) {
        s->kind = STMT_SHOW_CREATE_TABLE;
        return parse_table_name(p, &s->table);
    }
    if (parser_accept_keyword(p, "PARTITIONS")) {
        s->kind = STMT_SHOW_PARTITIONS;
        return parse_table_name(p, &s->table);
    }
    if (parser_at_keyword(p, "FUNCTIONS") || ((parser_at_keyword(p, "USER") || parser_at_keyword(p, "SYSTEM") || parser_at_keyword(p, "ALL")) && parser_peek(p, 1)->kind == TOKEN_NAME)) {
        s->kind = STMT_SHOW_FUNCTIONS;
        if (!parser_at_keyword(p, "FUNCTIONS")) p->at++;
        TRY(parser_expect_keyword(p, "FUNCTIONS"));
        return like_pattern(p, s);
    }
    if (parser_accept_keyword(p, "CURRENT")) {
        s->kind = STMT_SHOW_CURRENT;
        return accept_database_word(p) ? SILT_OK : parser_fail(p, "DATABASE");
    }
    return parser_fail(p, "DATABASES, TABLES, VIEWS, COLUMNS, TBLPROPERTIES, CREATE TABLE, PARTITIONS or FUNCTIONS");
}

/* ---- DESCRIBE ---- */

static silt_status parse_describe(parser *p, statement *s) {
    p->at++;
    const token *next = parser_peek(p, 1);
    bool target_follows = next->kind == TOKEN_NAME || next->kind == TOKEN_QUOTED_NAME || next->kind == TOKEN_STRING;
    if (target_follows && parser_accept_keyword(p, "HISTORY")) {
        s->kind = STMT_DESCRIBE_HISTORY;
        TRY(parse_table_name(p, &s->table));
        if (parser_accept_keyword(p, "LIMIT")) {
            s->has_limit = true;
            TRY(parser_integer(p, &s->limit));
        }
        return SILT_OK;
    }
    if (target_follows && parser_accept_keyword(p, "DETAIL")) {
        s->kind = STMT_DESCRIBE_DETAIL;
        return parse_table_name(p, &s->table);
    }
    if (target_follows && parser_accept_keyword(p, "FUNCTION")) {
        s->kind = STMT_DESCRIBE_FUNCTION;
        s->extended = parser_accept_keyword(p, "EXTENDED");
        return parser_name(p, &s->name);
    }
    if (target_follows && accept_database_word(p)) {
        s->kind = STMT_DESCRIBE_DATABASE;
        s->extended = parser_accept_keyword(p, "EXTENDED");
        return parser_name(p, &s->name);
    }
    bool is_query = parser_at_query(p) && !parser_at_keyword(p, "TABLE"); /* DESCRIBE TABLE t is about t, not about the query TABLE t */
    if (parser_at_keyword(p, "QUERY") || is_query) {
        s->kind = STMT_DESCRIBE_QUERY;
        (void)parser_accept_keyword(p, "QUERY");
        return parser_query(p, &s->query);
    }
    s->kind = STMT_DESCRIBE_TABLE;
    if (target_follows) (void)parser_accept_keyword(p, "TABLE");
    next = parser_peek(p, 1);
    target_follows = next->kind == TOKEN_NAME || next->kind == TOKEN_QUOTED_NAME || next->kind == TOKEN_STRING;
    if (target_follows && (parser_at_keyword(p, "EXTENDED") || parser_at_keyword(p, "FORMATTED"))) {
        s->extended = true;
        p->at++;
    }
    TRY(parse_table_name(p, &s->table));
    const token *t = parser_peek(p, 0);
    if (t->kind == TOKEN_NAME || t->kind == TOKEN_QUOTED_NAME) TRY(parser_name(p, &s->name));
    return SILT_OK;
}

/* ---- SET, USE, EXPLAIN ---- */

static bool has_space(str text) {
    for (size_t i = 0; i < text.len; i++)
        if (text.ptr[i] == ' ' || (text.ptr[i] >= '\t' && text.ptr[i] <= '\r')) return true;
    return false;
}

/* SET k = v takes the rest of the text as the value, as Spark does: paths and intervals need no quotes. */
static silt_status parse_set(parser *p, statement *s) {
    p->at++;
    s->kind = STMT_SET;
    if (parser_accept_keywords(p, "TIME", "ZONE")) {
        s->key = STR("spark.sql.session.timeZone");
        s->has_key = s->has_value = true;
        if (parser_accept_keyword(p, "LOCAL")) {
            s->value = STR("");
            return SILT_OK;
        }
        return parser_string(p, &s->value);
    }
    const token *t = parser_peek(p, 0);
    if (t->kind == TOKEN_END || parser_at_op(p, ";")) return SILT_OK;
    if (parser_accept_op(p, "-")) {
        s->extended = true;
        return parser_expect_keyword(p, "v");
    }
    uint32_t from = t->from, to = from;
    while (parser_peek(p, 0)->kind != TOKEN_END && !parser_at_op(p, "=") && !parser_at_op(p, ";")) to = parser_peek(p, 0)->to, p->at++;
    if (to == from) return parser_fail(p, "a configuration key");
    s->key = str_trim(str_slice(p->text, from, to));
    if (s->key.len >= 2 && s->key.ptr[0] == '`') s->key = str_slice(s->key, 1, s->key.len - 1);
    else if (has_space(s->key)) return err_INVALID_SET_SYNTAX(p->err); /* a forgotten '=': the rest may be a secret */
    s->has_key = true;
    if (!parser_accept_op(p, "=")) return SILT_OK;
    s->has_value = true;
    from = to = p->tokens[p->at - 1].to;
    if (parser_peek(p, 0)->kind == TOKEN_STRING && (parser_peek(p, 1)->kind == TOKEN_END || (parser_peek(p, 1)->kind == TOKEN_OP && str_eqz(parser_peek(p, 1)->text, ";")))) {
        return parser_string(p, &s->value);
    }
    while (parser_peek(p, 0)->kind != TOKEN_END && !parser_at_op(p, ";")) to = parser_peek(p, 0)->to, p->at++;
    s->value = str_trim(str_slice(p->text, from, to));
    return SILT_OK;
}

static silt_status parse_reset(parser *p, statement *s) {
    p->at++;
    s->kind = STMT_RESET;
    uint32_t from = parser_peek(p, 0)->from, to = from;
    while (parser_peek(p, 0)->kind != TOKEN_END && !parser_at_op(p, ";")) to = parser_peek(p, 0)->to, p->at++;
    s->has_key = to > from;
    if (s->has_key) s->key = str_trim(str_slice(p->text, from, to));
    return SILT_OK;
}

static silt_status parse_use(parser *p, statement *s) {
    p->at++;
    s->kind = STMT_USE;
    const token *next = parser_peek(p, 1);
    if (next->kind == TOKEN_NAME || next->kind == TOKEN_QUOTED_NAME) (void)accept_database_word(p);
    return parser_name(p, &s->name);
}

static silt_status parse_statement(parser *p, statement *s);

static silt_status parse_explain(parser *p, statement *s) {
    p->at++;
    s->kind = STMT_EXPLAIN;
    static const char *const modes[] = {"EXTENDED", "FORMATTED", "CODEGEN", "COST", "LOGICAL"};
    for (size_t i = 0; i < ARRAY_LEN(modes); i++)
        if (parser_accept_keyword(p, modes[i])) s->extended = true;
    s->inner = ARENA_NEW(p->a, statement);
    if (!s->inner) return error_no_memory(p->err);
    return parse_statement(p, s->inner);
}

static silt_status parse_query_statement(parser *p, statement *s) {
    s->kind = STMT_QUERY;
    return parser_query(p, &s->query);
}

/* Statements of Spark and Delta that are not run yet, by their first words. */
static silt_status refuse_known(parser *p) {
    static const struct { const char *word, *name; } known[] = {
        {"ANALYZE", "ANALYZE TABLE"},
        {"CACHE", "CACHE TABLE"}, {"UNCACHE", "UNCACHE TABLE"}, {"REFRESH", "REFRESH"}, {"MSCK", "MSCK REPAIR TABLE"}, {"LOAD", "LOAD DATA"},
        {"CALL", "CALL"}, {"GRANT", "GRANT"}, {"REVOKE", "REVOKE"}, {"COPY", "COPY INTO"}, {"DECLARE", "session variables"}, {"EXECUTE", "EXECUTE IMMEDIATE"}, {"BEGIN", "SQL scripting"},
    };
    for (size_t i = 0; i < ARRAY_LEN(known); i++)
        if (parser_at_keyword(p, known[i].word)) return err_UNSUPPORTED_FEATURE(p->err, known[i].name);
    return parser_fail(p, "a statement (SELECT, INSERT, CREATE, DROP, SHOW, DESCRIBE, USE, SET, EXPLAIN …)");
}

/* WITH … in front of a statement that changes rows. Where something else follows, or the text is wrong, nothing is taken: the query's parser goes over it again. */
static bool accept_ctes(parser *p, statement *s) {
    static const char *const words[] = {"INSERT", "DELETE", "UPDATE", "MERGE"};
    parser ahead = *p;
    cte_def *ctes, *again;
    size_t n;
    bool recursive, follows = false;
    ahead.err = NULL;
    if (s->n_ctes > 0 || !parser_accept_keyword(&ahead, "WITH")) return false;
    parser twin = ahead;
    if (parser_ctes(&ahead, &ctes, &n, &recursive) != SILT_OK || parser_ctes(&twin, &again, &n, &recursive) != SILT_OK) return false;
    for (size_t i = 0; i < ARRAY_LEN(words); i++) follows |= parser_at_keyword(&ahead, words[i]);
    if (!follows) return false;
    p->at = ahead.at;
    s->ctes = ctes;
    s->ctes_again = again;
    s->n_ctes = n;
    s->recursive = recursive;
    return true;
}

static silt_status parse_statement(parser *p, statement *s) {
    static const struct { const char *word; statement_parser parse; } table[] = {
        {"INSERT", parse_insert}, {"CREATE", parse_create}, {"REPLACE", parse_replace}, {"DROP", parse_drop}, {"SHOW", parse_show}, {"DESCRIBE", parse_describe},
        {"DESC", parse_describe}, {"SET", parse_set}, {"RESET", parse_reset}, {"USE", parse_use}, {"EXPLAIN", parse_explain}, {"DELETE", parse_delete}, {"UPDATE", parse_update},
        {"TRUNCATE", parse_truncate}, {"MERGE", parse_merge}, {"ALTER", parse_alter}, {"COMMENT", parse_comment_on}, {"DOCTOR", parse_doctor}, {"VACUUM", parse_vacuum}, {"FSCK", parse_fsck}, {"OPTIMIZE", parse_optimize}, {"REORG", parse_reorg}, {"RESTORE", parse_restore}, {"CONVERT", parse_convert}, {"PUBLISH", parse_publish}, {"GENERATE", parse_generate},
    };
    s->text = p->text;
    for (size_t i = 0; i < ARRAY_LEN(table); i++)
        if (parser_at_keyword(p, table[i].word)) return table[i].parse(p, s);
    if (accept_ctes(p, s)) return parse_statement(p, s);
    if (parser_at_query(p)) return parse_query_statement(p, s);
    return refuse_known(p);
}

silt_status statement_parse(str text, arena *a, statement *out, silt_error *err) {
    parser p;
    *out = (statement){0};
    TRY(parser_init(&p, text, a, err));
    TRY(parse_statement(&p, out));
    return parser_expect_end(&p);
}
