/*
 * ALTER TABLE | VIEW | DATABASE and COMMENT ON: Spark's grammar with Delta's additions (constraints, DROP FEATURE, CLUSTER BY, SYNC IDENTITY). What belongs to Hive tables is
 * known by name and refused.
 */
#include "sql/alter_statement.h"
#include "sql/parse.h"

static silt_status unsupported(parser *p, const char *what) { return err_UNSUPPORTED_FEATURE(p->err, what); }

/* The text of the tokens since `from`. */
static str text_since(const parser *p, uint32_t from) { return str_slice(p->text, from, p->tokens[p->at - 1].to); }

/* ---- columns ---- */

static silt_status json_text(parser *p, str text, str *out) {
    buf b;
    buf_init(&b, BUF_MAX_DEFAULT);
    json_write_str(&b, text);
    *out = buf_take(&b, p->a);
    return out->ptr ? SILT_OK : error_no_memory(p->err);
}

static silt_status set_metadata(parser *p, field *f, const char *key, str text) {
    str json;
    TRY(json_text(p, text, &json));
    f->metadata = field_metadata_set(f->metadata, key, json, p->a);
    return f->metadata.ptr ? SILT_OK : error_no_memory(p->err);
}

static silt_status position(parser *p, column_edit *e, bool *out_found) {
    *out_found = true;
    if (parser_accept_keyword(p, "FIRST")) {
        e->place = PLACE_FIRST;
        return SILT_OK;
    }
    *out_found = parser_accept_keyword(p, "AFTER");
    if (!*out_found) return SILT_OK;
    e->place = PLACE_AFTER;
    return parser_identifier(p, &e->after);
}

/* a.b.c TYPE [NOT NULL] [DEFAULT e] [COMMENT s] [FIRST | AFTER x], the clauses in any order. */
static silt_status new_column(parser *p, column_edit *e) {
    *e = (column_edit){0};
    bool found;
    TRY(parser_name(p, &e->path));
    p->at--; /* the last part is the column's name */
    TRY(parser_column_def(p, &e->column));
    TRY(position(p, e, &found));
    while (found) {
        uint32_t from = parser_peek(p, 1)->from;
        if (parser_accept_keyword(p, "COMMENT")) {
            str comment;
            TRY(parser_string(p, &comment));
            TRY(set_metadata(p, &e->column, "comment", comment));
        } else if (parser_accept_keyword(p, "DEFAULT")) {
            expr *ignored;
            TRY(parser_expr(p, &ignored));
            TRY(set_metadata(p, &e->column, "CURRENT_DEFAULT", text_since(p, from)));
        } else if (parser_accept_keywords(p, "NOT", "NULL")) {
            e->column.nullable = false;
        } else {
            break;
        }
    }
    return SILT_OK;
}

typedef silt_status (*edit_parser)(parser *p, column_edit *e);

static silt_status edit_list(parser *p, bool may_be_bracketed, edit_parser one, alter_spec *spec) {
    column_edit *edits = NULL;
    size_t n = 0, capacity = 0;
    bool bracket = may_be_bracketed && parser_accept_op(p, "(");
    do {
        column_edit e = {0};
        TRY(one(p, &e));
        if (!ARENA_PUSH(p->a, edits, n, capacity, e)) return error_no_memory(p->err);
    } while (parser_accept_op(p, ","));
    if (bracket) TRY(parser_expect_op(p, ")"));
    spec->columns = edits;
    spec->n_columns = n;
    return SILT_OK;
}

static silt_status edited_path(parser *p, column_edit *e) { return parser_name(p, &e->path); }

/* One change of ALTER COLUMN; no change at all is allowed by the grammar and does nothing. */
static silt_status change(parser *p, column_edit *e) {
    bool found;
    TRY(parser_name(p, &e->path));
    if (parser_accept_keyword(p, "TYPE")) {
        e->is_redundant = true;
        return parser_type(p, &e->type);
    }
    if (parser_accept_keyword(p, "COMMENT")) return parser_string(p, &e->comment);
    TRY(position(p, e, &found));
    if (found) return SILT_OK;
    bool set = parser_accept_keyword(p, "SET"), drop = !set && parser_accept_keyword(p, "DROP");
    if (set || drop) {
        if (parser_accept_keywords(p, "NOT", "NULL")) {
            e->set_not_null = set;
            e->drop_not_null = drop;
            return SILT_OK;
        }
        TRY(parser_expect_keyword(p, "DEFAULT"));
        if ((e->drop_default = drop)) return SILT_OK;
        uint32_t from = parser_peek(p, 0)->from;
        expr *ignored;
        TRY(parser_expr(p, &ignored));
        e->default_text = text_since(p, from);
        return SILT_OK;
    }
    return parser_fail(p, "TYPE, COMMENT, FIRST, AFTER, SET or DROP");
}

/* CHANGE COLUMN a a INT COMMENT 'x' FIRST: Hive's form repeats the name. Spark does not rename by it, so neither does this. */
static silt_status hive_change(parser *p, column_edit *e) {
    bool found;
    TRY(parser_name(p, &e->path));
    TRY(parser_column_def(p, &e->column));
    e->type = e->column.type;
    if (!str_eq_fold(e->column.name, e->path.parts[e->path.count - 1]))
        return unsupported(p, "renaming by CHANGE COLUMN; use ALTER TABLE … RENAME COLUMN a TO b");
    if (!e->column.nullable) return unsupported(p, "NOT NULL in CHANGE COLUMN; use ALTER COLUMN … SET NOT NULL");
    const json_node *comment = field_metadata_get(&e->column, "comment", p->a);
    if (comment) e->comment = comment->text;
    TRY(position(p, e, &found));
    e->is_redundant = !e->comment.ptr && !found;
    return SILT_OK;
}

static bool at_change_word(const parser *p) {
    static const char *const words[] = {"TYPE", "COMMENT", "FIRST", "AFTER", "SET", "DROP", "SYNC"};
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (parser_at_keyword(p, words[i])) return true;
    return false;
}

/* Which form is it? The name is read ahead: what follows it decides. */
static silt_status change_columns(parser *p, alter_spec *spec) {
    spec->kind = ALTER_CHANGE_COLUMNS;
    (void)parser_accept_keyword(p, "COLUMN");
    parser ahead = *p;
    name_parts name;
    TRY(parser_name(&ahead, &name));
    if (parser_at_keywords(&ahead, "SYNC", "IDENTITY")) {
        spec->kind = ALTER_SYNC_IDENTITY;
        TRY(edit_list(p, false, edited_path, spec));
        p->at += 2;
        return SILT_OK;
    }
    const token *t = parser_peek(&ahead, 0), *next = parser_peek(&ahead, 1);
    bool is_word = t->kind == TOKEN_NAME || t->kind == TOKEN_QUOTED_NAME;
    /* CHANGE COLUMN type type INT: a name followed by a name and a type is Hive's form even where the name is a keyword. */
    bool repeats = is_word && next->kind == TOKEN_NAME && str_eq_fold(t->text, name.parts[name.count - 1]) && !str_eqz(next->text, "NOT");
    return edit_list(p, false, is_word && (!at_change_word(&ahead) || repeats) ? hive_change : change, spec);
}

static silt_status rename_column(parser *p, alter_spec *spec) {
    column_edit *e = ARENA_NEW(p->a, column_edit);
    if (!e) return error_no_memory(p->err);
    spec->kind = ALTER_RENAME_COLUMN;
    spec->columns = e;
    spec->n_columns = 1;
    TRY(parser_name(p, &e->path));
    TRY(parser_expect_keyword(p, "TO"));
    return parser_identifier(p, &e->new_name);
}

/* ---- ADD, DROP, SET … of a table ---- */

/* ADD CONSTRAINT name CHECK (expression): the text is kept as it was written. */
static silt_status add_constraint(parser *p, alter_spec *spec) {
    spec->kind = ALTER_ADD_CONSTRAINT;
    TRY(parser_identifier(p, &spec->name));
    if (parser_at_keyword(p, "PRIMARY") || parser_at_keyword(p, "FOREIGN") || parser_at_keyword(p, "UNIQUE"))
        return unsupported(p, "constraints other than CHECK");
    TRY(parser_expect_keyword(p, "CHECK"));
    TRY(parser_expect_op(p, "("));
    uint32_t from = parser_peek(p, 0)->from;
    expr *ignored;
    TRY(parser_expr(p, &ignored));
    spec->expression = text_since(p, from);
    return parser_expect_op(p, ")");
}

static silt_status add(parser *p, alter_spec *spec) {
    if (parser_accept_keyword(p, "CONSTRAINT")) return add_constraint(p, spec);
    if (parser_at_keyword(p, "PARTITION") || parser_at_keyword(p, "IF")) return unsupported(p, "ALTER TABLE … ADD PARTITION; a Delta table's partitions come with its rows");
    if (parser_at_keyword(p, "CHECK")) return unsupported(p, "constraints without a name");
    if (!parser_accept_keyword(p, "COLUMN") && !parser_accept_keyword(p, "COLUMNS")) return parser_fail(p, "COLUMN, COLUMNS or CONSTRAINT");
    if (parser_at_keywords(p, "IF", "NOT")) return parser_fail(p, "a column's name and type; there is no IF NOT EXISTS here");
    spec->kind = ALTER_ADD_COLUMNS;
    return edit_list(p, true, new_column, spec);
}

static silt_status drop_feature(parser *p, alter_spec *spec) {
    spec->kind = ALTER_DROP_FEATURE;
    if (parser_peek(p, 0)->kind == TOKEN_STRING) {
        TRY(parser_string(p, &spec->name));
    } else {
        uint32_t from = parser_peek(p, 0)->from; /* variantType-preview needs no quotes */
        TRY(parser_identifier(p, &spec->name));
        while (parser_accept_op(p, "-")) {
            str part;
            TRY(parser_identifier(p, &part));
            spec->name = text_since(p, from);
        }
    }
    if (!parser_accept_keyword(p, "TRUNCATE")) return SILT_OK;
    spec->truncate_history = true;
    return parser_expect_keyword(p, "HISTORY");
}

static silt_status drop(parser *p, alter_spec *spec) {
    if (parser_accept_keyword(p, "FEATURE")) return drop_feature(p, spec);
    if (parser_accept_keyword(p, "CONSTRAINT")) {
        spec->kind = ALTER_DROP_CONSTRAINT;
        spec->if_exists = parser_accept_keywords(p, "IF", "EXISTS");
        return parser_identifier(p, &spec->name);
    }
    if (parser_at_keyword(p, "PARTITION") || parser_at_keyword(p, "IF")) return unsupported(p, "ALTER TABLE … DROP PARTITION; use DELETE FROM … WHERE");
    if (!parser_accept_keyword(p, "COLUMN") && !parser_accept_keyword(p, "COLUMNS")) return parser_fail(p, "COLUMN, COLUMNS, CONSTRAINT or FEATURE");
    spec->kind = ALTER_DROP_COLUMNS;
    spec->if_exists = parser_accept_keywords(p, "IF", "EXISTS");
    return edit_list(p, true, edited_path, spec);
}

static silt_status set(parser *p, statement *s) {
    alter_spec *spec = &s->alter->spec;
    if (parser_accept_keyword(p, "LOCATION")) {
        s->alter->entry = ENTRY_LOCATION;
        return parser_string(p, &s->location);
    }
    if (parser_at_keyword(p, "SERDE") || parser_at_keyword(p, "SERDEPROPERTIES")) return unsupported(p, "ALTER TABLE … SET SERDE");
    TRY(parser_expect_keyword(p, "TBLPROPERTIES"));
    spec->kind = ALTER_SET_PROPERTIES;
    return parser_properties(p, &spec->properties.keys, &spec->properties.values, &spec->properties.count);
}

static silt_status unset(parser *p, alter_spec *spec) {
    TRY(parser_expect_keyword(p, "TBLPROPERTIES"));
    spec->kind = ALTER_UNSET_PROPERTIES;
    spec->if_exists = parser_accept_keywords(p, "IF", "EXISTS");
    const str *values;
    return parser_properties(p, &spec->keys, &values, &spec->n_keys);
}

static silt_status cluster_by(parser *p, alter_spec *spec) {
    spec->kind = ALTER_CLUSTER_BY;
    if (parser_accept_keyword(p, "NONE")) return SILT_OK;
    if (parser_at_keyword(p, "AUTO")) return unsupported(p, "CLUSTER BY AUTO");
    return parse_cluster_columns(p, &spec->cluster_columns, &spec->n_cluster_columns);
}

/* What a table and a view have in common. */
static silt_status alter_either(parser *p, statement *s, bool *out_done) {
    *out_done = true;
    if (parser_accept_keywords(p, "RENAME", "TO")) {
        s->alter->entry = ENTRY_RENAME;
        return parser_name(p, &s->alter->new_name);
    }
    if (parser_accept_keyword(p, "SET")) return set(p, s);
    if (parser_accept_keyword(p, "UNSET")) return unset(p, &s->alter->spec);
    *out_done = false;
    return SILT_OK;
}

static silt_status alter_table(parser *p, statement *s) {
    static const char *const hive[] = {"PARTITION", "RECOVER", "CLUSTERED", "TOUCH", "ARCHIVE", "CONCATENATE", "SKEWED", "EXCHANGE"};
    alter_spec *spec = &s->alter->spec;
    bool done;
    TRY(parse_table_name(p, &s->table));
    TRY(alter_either(p, s, &done));
    if (done) return SILT_OK;
    if (parser_accept_keyword(p, "ADD")) return add(p, spec);
    if (parser_accept_keyword(p, "DROP")) return drop(p, spec);
    if (parser_accept_keyword(p, "ALTER") || parser_accept_keyword(p, "CHANGE")) return change_columns(p, spec);
    if (parser_accept_keywords(p, "RENAME", "COLUMN")) return rename_column(p, spec);
    if (parser_accept_keywords(p, "CLUSTER", "BY")) return cluster_by(p, spec);
    if (parser_accept_keywords(p, "REPLACE", "COLUMNS")) {
        spec->kind = ALTER_REPLACE_COLUMNS;
        return edit_list(p, true, new_column, spec);
    }
    for (size_t i = 0; i < ARRAY_LEN(hive); i++)
        if (parser_at_keyword(p, hive[i])) return unsupported(p, "Hive's forms of ALTER TABLE (PARTITION, RECOVER PARTITIONS …)");
    return parser_fail(p, "ADD, DROP, ALTER, CHANGE, RENAME, REPLACE, SET, UNSET or CLUSTER BY");
}

static silt_status alter_view(parser *p, statement *s) {
    bool done;
    s->alter->object = ALTER_OF_VIEW;
    TRY(parse_table_name(p, &s->table));
    TRY(alter_either(p, s, &done));
    if (done) return SILT_OK;
    if (parser_at_keyword(p, "WITH")) return unsupported(p, "ALTER VIEW … WITH SCHEMA");
    (void)parser_accept_keyword(p, "AS");
    s->alter->entry = ENTRY_VIEW_QUERY;
    uint32_t from = parser_peek(p, 0)->from;
    TRY(parser_query(p, &s->query));
    s->view_text = text_since(p, from);
    return SILT_OK;
}

static bool accept_database_word(parser *p) {
    return parser_accept_keyword(p, "DATABASE") || parser_accept_keyword(p, "SCHEMA") || parser_accept_keyword(p, "NAMESPACE");
}

static silt_status alter_database(parser *p, statement *s) {
    s->alter->object = ALTER_OF_DATABASE;
    TRY(parser_name(p, &s->name));
    TRY(parser_expect_keyword(p, "SET"));
    if (parser_accept_keyword(p, "LOCATION")) {
        s->alter->entry = ENTRY_LOCATION;
        return parser_string(p, &s->location);
    }
    s->alter->entry = ENTRY_PROPERTIES;
    if (!parser_accept_keyword(p, "DBPROPERTIES")) TRY(parser_expect_keyword(p, "PROPERTIES"));
    return parser_properties(p, &s->properties.keys, &s->properties.values, &s->properties.count);
}

static silt_status begin(parser *p, statement *s) {
    p->at++;
    s->kind = STMT_ALTER;
    s->alter = ARENA_NEW(p->a, alter_statement);
    return s->alter ? SILT_OK : error_no_memory(p->err);
}

silt_status parse_alter(parser *p, statement *s) {
    TRY(begin(p, s));
    if (parser_accept_keyword(p, "TABLE")) return alter_table(p, s);
    if (parser_accept_keyword(p, "VIEW")) return alter_view(p, s);
    if (accept_database_word(p)) return alter_database(p, s);
    return parser_fail(p, "TABLE, VIEW or DATABASE");
}

/* ---- COMMENT ON ---- */

/* COMMENT ON COLUMN t.c: the last part is the column. Spark has it as ALTER COLUMN … COMMENT. */
static silt_status comment_on_column(parser *p, statement *s) {
    relation *r = ARENA_NEW(p->a, relation);
    column_edit *e = ARENA_NEW(p->a, column_edit);
    if (!r || !e) return error_no_memory(p->err);
    *r = (relation){.kind = REL_TABLE, .sample_percent = -1, .sample_rows = -1, .span = {.from = parser_peek(p, 0)->from}};
    TRY(parser_name(p, &r->name));
    if (r->name.count < 2) return parser_fail(p, "the table before the column: t.c");
    r->span.to = p->tokens[p->at - 1].to;
    e->path = (name_parts){&r->name.parts[r->name.count - 1], 1};
    r->name.count--;
    s->table = r;
    s->alter->spec.kind = ALTER_CHANGE_COLUMNS;
    s->alter->spec.columns = e;
    s->alter->spec.n_columns = 1;
    return SILT_OK;
}

silt_status parse_comment_on(parser *p, statement *s) {
    TRY(begin(p, s));
    TRY(parser_expect_keyword(p, "ON"));
    bool on_column = parser_accept_keyword(p, "COLUMN");
    if (on_column) {
        TRY(comment_on_column(p, s));
    } else if (parser_accept_keyword(p, "TABLE")) {
        TRY(parse_table_name(p, &s->table));
        s->alter->spec.kind = ALTER_COMMENT;
    } else if (accept_database_word(p)) {
        TRY(parser_name(p, &s->name));
        s->alter->object = ALTER_OF_DATABASE;
        s->alter->entry = ENTRY_COMMENT;
    } else {
        return parser_fail(p, "TABLE, COLUMN or DATABASE");
    }
    TRY(parser_expect_keyword(p, "IS"));
    if (!parser_accept_keyword(p, "NULL")) {
        TRY(parser_string(p, &s->comment));
        s->has_comment = true;
    }
    s->alter->spec.comment = s->comment;
    if (on_column) ((column_edit *)(uintptr_t)s->alter->spec.columns)->comment = s->has_comment ? s->comment : STR("");
    return SILT_OK;
}
