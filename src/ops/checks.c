/*
 * What every written row must satisfy, as a query around the rows: CASE WHEN one check is violated OR another THEN raise ELSE column END instead of the first column, which is always
 * written, so that no row passes without it. Each row is judged in this order, which is Spark's, and what is raised is the first violation of the first such row (of some thousand rows that are looked at together; an
 * expression that itself fails for one of them comes first):
 *
 *   CHECK             delta.constraints.*: must be TRUE, NULL violates (PROTOCOL.md "CHECK Constraints")
 *   NOT NULL          columns and fields reachable through structs; a null parent violates the NOT NULL of its child; with them the older delta.invariants ("Column Invariants")
 *   CHAR, VARCHAR     length in characters, trailing spaces count
 *   generated         a value given for a generated column must be equal to what its expression gives
 *
 * Before them the empty string becomes NULL in string partition columns, as a partition value cannot tell the two apart.
 */
#include "expr/tree_tools.h"
#include "ops/generated.h"

typedef struct branch {
    expr *violated, *message; /* bound */
} branch;

typedef struct checks {
    const op *o;
    relation *rows;   /**< columns by the table's names */
    branch *branches; /**< in the order in which a row is judged */
    size_t n, capacity;
} checks;

/* `columns`: all that the two trees name. */
static silt_status add_branch(checks *c, const size_t *columns, size_t n_columns, expr *violated, expr *message) {
    branch b;
    TRY(ops_rows_bind(c->o, c->rows, columns, n_columns, violated, &b.violated));
    TRY(ops_rows_bind(c->o, c->rows, columns, n_columns, message, &b.message));
    return ARENA_PUSH(c->o->a, c->branches, c->n, c->capacity, b) ? SILT_OK : error_no_memory(c->o->err);
}

/** A column or a field reached through structs: each of its uses is a tree of its own. */
typedef struct place {
    size_t column;
    const str *names; /**< of the fields below the column */
    size_t depth;
    str text; /**< a.b.c */
} place;

static silt_status place_value(const checks *c, const place *p, expr **out) {
    TRY(ops_rows_name(c->o, c->rows, p->column, out));
    for (size_t i = 0; i < p->depth; i++) TRY(ops_tree_field(c->o, *out, p->names[i], out));
    return SILT_OK;
}

static silt_status place_below(const checks *c, const place *p, str name, place *out) {
    str *names = ARENA_ARRAY(c->o->a, p->depth + 1, str);
    if (!names) return error_no_memory(c->o->err);
    if (p->depth) memcpy(names, p->names, p->depth * sizeof *names);
    names[p->depth] = name;
    *out = (place){.column = p->column,
                   .names = names,
                   .depth = p->depth + 1,
                   .text = arena_printf(c->o->a, "%.*s.%.*s", STR_ARG(p->text), STR_ARG(name))};
    return str_is_null(out->text) ? error_no_memory(c->o->err) : SILT_OK;
}

/* ---- NOT NULL ---- */

static silt_status check_not_null(checks *c, const place *p) {
    silt_error e;
    expr *at, *violated, *message;
    (void)err_DELTA_NOT_NULL_CONSTRAINT_VIOLATED(&e, p->text);
    TRY(place_value(c, p, &at));
    TRY(ops_tree_call(c->o, "isnull", at, NULL, &violated));
    TRY(ops_tree_error_text(c->o, &e, &message));
    return add_branch(c, &p->column, 1, violated, message);
}

/* ---- CHAR and VARCHAR ---- */

static bool has_length(const data_type *t) {
    if (t->id == TYPE_STRING) return t->length > 0;
    if (t->id == TYPE_ARRAY) return has_length(t->element);
    if (t->id == TYPE_MAP) return has_length(t->key) || has_length(t->element);
    for (size_t i = 0; t->id == TYPE_STRUCT && i < t->n_fields; i++)
        if (has_length(t->fields[i].type)) return true;
    return false;
}

static silt_status too_long(checks *c, expr *at, const data_type *t, int depth, expr **out);

/* Some field of a struct inside an array or a map. */
static silt_status field_too_long(checks *c, const expr *at, const data_type *t, int depth, expr **out) {
    *out = NULL;
    for (size_t i = 0; i < t->n_fields; i++) {
        if (!has_length(t->fields[i].type)) continue;
        expr *part = expr_clone(at, c->o->a);
        if (!part) return error_no_memory(c->o->err);
        TRY(ops_tree_field(c->o, part, t->fields[i].name, &part));
        TRY(too_long(c, part, t->fields[i].type, depth, &part));
        if (*out)
            TRY(ops_tree_call(c->o, "or", *out, part, out));
        else
            *out = part;
    }
    return SILT_OK;
}

/* TRUE where the value is too long, at any depth of arrays and maps. */
static silt_status too_long(checks *c, expr *at, const data_type *t, int depth, expr **out) {
    const op *o = c->o;
    if (t->id == TYPE_STRING) {
        expr *length, *limit = expr_literal_i64(o->a, t->length);
        if (!limit) return error_no_memory(o->err);
        TRY(ops_tree_call(o, "length", at, NULL, &length));
        return ops_tree_call(o, ">", length, limit, out);
    }
    if (t->id == TYPE_STRUCT) return field_too_long(c, at, t, depth, out);
    if (t->id == TYPE_MAP) {
        data_type keys = {.id = TYPE_ARRAY, .element = t->key}, values = {.id = TYPE_ARRAY, .element = t->element};
        expr *k, *v, *again = expr_clone(at, o->a);
        if (!again) return error_no_memory(o->err);
        TRY(ops_tree_call(o, has_length(t->key) ? "map_keys" : "map_values", at, NULL, &k));
        TRY(too_long(c, k, has_length(t->key) ? &keys : &values, depth, out));
        if (!has_length(t->key) || !has_length(t->element)) return SILT_OK;
        TRY(ops_tree_call(o, "map_values", again, NULL, &v));
        TRY(too_long(c, v, &values, depth, &v));
        return ops_tree_call(o, "or", *out, v, out);
    }
    expr *lambda, *item;
    TRY(ops_tree_lambda(o, depth, &item, &lambda));
    TRY(too_long(c, item, t->element, depth + 1, &lambda->args[0]));
    return ops_tree_call(o, "exists", at, lambda, out);
}

static silt_status check_length(checks *c, const place *p, const data_type *t) {
    silt_error e;
    expr *at, *violated, *message;
    (void)err_DELTA_EXCEED_CHAR_VARCHAR_LIMIT(&e, p->text, type_sql(t, c->o->a));
    TRY(place_value(c, p, &at));
    TRY(too_long(c, at, t, 0, &violated));
    TRY(ops_tree_error_text(c->o, &e, &message));
    return add_branch(c, &p->column, 1, violated, message);
}

/* ---- CHECK ---- */

static silt_status parse_constraint(const op *o, str text, expr **out) {
    TRY(expr_parse(text, o->a, out, o->err));
    return ops_tree_has_subquery(*out) ? err_UNSUPPORTED_FEATURE(o->err, "CHECK constraints with subqueries") : SILT_OK;
}

/** The columns that a constraint speaks of. */
typedef struct mentioned {
    const relation *rows;
    bool *seen;
} mentioned;

static bool note_column(void *ctx, expr *e) {
    mentioned *m = ctx;
    if (e->kind != EXPR_COLUMN) return true;
    for (size_t i = 0; e->name.count > 0 && i < m->rows->n_columns; i++)
        if (str_eq_fold(m->rows->columns[i].name, e->name.parts[0])) m->seen[i] = true;
    return true;
}

static silt_status append_text(const op *o, expr **text, expr *more) { return ops_tree_call(o, "||", *text, more, text); }

static silt_status append_literal(const op *o, expr **text, str more) {
    expr *e;
    TRY(ops_tree_text(o, more, &e));
    return append_text(o, text, e);
}

/* " - a : 1": the row's value, "null" for NULL. */
static silt_status append_value(const checks *c, size_t column, expr **text) {
    const op *o = c->o;
    TRY(append_literal(o, text, arena_printf(o->a, " - %.*s : ", STR_ARG(c->rows->columns[column].name))));
    expr *shown, *none;
    TRY(ops_rows_name(o, c->rows, column, &shown));
    TRY(ops_tree_cast(o, shown, &type_string, &shown));
    TRY(ops_tree_text(o, STR("null"), &none));
    TRY(ops_tree_call(o, "coalesce", shown, none, &shown));
    return append_text(o, text, shown);
}

static silt_status violation_text(const checks *c, str name, str text, const size_t *columns, size_t n, expr **out) {
    const op *o = c->o;
    silt_error e;
    (void)err_DELTA_VIOLATE_CONSTRAINT_WITH_VALUES(&e, name, text);
    TRY(ops_tree_text(o, arena_printf(o->a, "[%s|%s] %s with values:", e.condition, e.sqlstate, e.message), out));
    for (size_t i = 0; i < n; i++) {
        const data_type *type = c->rows->columns[columns[i]].type;
        if (!type_is_nested(type) && type->id != TYPE_VARIANT) TRY(append_value(c, columns[i], out));
    }
    return append_literal(o, out, STR("[/]"));
}

/* What is to be TRUE, with the columns that it names. */
static silt_status add_constraint(checks *c, str name, str text, expr *holds) {
    const op *o = c->o;
    expr *message, *violated;
    mentioned m = {c->rows, ARENA_ARRAY(o->a, c->rows->n_columns + 1, bool)};
    size_t *columns = ARENA_ARRAY(o->a, c->rows->n_columns + 1, size_t), n = 0;
    if (!m.seen || !columns) return error_no_memory(o->err);
    expr_walk(holds, note_column, &m);
    for (size_t i = 0; i < c->rows->n_columns; i++)
        if (m.seen[i]) columns[n++] = i;
    TRY(violation_text(c, name, text, columns, n, &message));
    TRY(ops_tree_call(o, "not", holds, NULL, &violated));
    return add_branch(c, columns, n, violated, message);
}

static silt_status check_constraint(checks *c, str name, str text) {
    const op *o = c->o;
    expr *constraint;
    str shown = arena_printf(o->a, "(%.*s)", STR_ARG(text));
    if (str_is_null(shown)) return error_no_memory(o->err);
    TRY(parse_constraint(o, text, &constraint));
    TRY(ops_tree_is_true(o, constraint, &constraint));
    return add_constraint(c, name, shown, constraint);
}

/* {"expression":{"expression":"a > 3"}}, a text in the column's metadata. */
static silt_status check_invariant(checks *c, const field *f) {
    const json_node *text = field_metadata_get(f, "delta.invariants", c->o->a), *root;
    if (!text || text->type != JSON_STRING) return SILT_OK;
    TRY(json_parse(text->text, c->o->a, &root, c->o->err));
    str expression = json_get_str(json_get(root, "expression"), "expression", STR_NULL);
    if (str_is_null(expression)) return err_UNSUPPORTED_FEATURE(c->o->err, "this form of delta.invariants");
    return check_constraint(c, f->name, expression);
}

static silt_status spark_text(const op *o, const expr *e, str *out) {
    buf b;
    buf_init(&b, BUF_MAX_DEFAULT);
    expr_print_spark(e, &b);
    *out = buf_take(&b, o->a);
    return str_is_null(*out) ? error_no_memory(o->err) : SILT_OK;
}

/* A value that was given for a generated column must be the one that would be computed; NULLs are equal here. */
static silt_status check_generated(checks *c, size_t column, const field *f, str generation) {
    const op *o = c->o;
    expr *given, *computed, *holds;
    str shown;
    TRY(expr_parse(generation, o->a, &computed, o->err));
    TRY(ops_rows_name(o, c->rows, column, &given));
    TRY(ops_tree_call(o, "<=>", given, computed, &holds));
    TRY(spark_text(o, holds, &shown));
    TRY(ops_tree_cast(o, computed, f->type->id == TYPE_STRING ? &type_string : f->type, &computed));
    TRY(ops_rows_name(o, c->rows, column, &given));
    TRY(ops_tree_call(o, "<=>", given, computed, &holds));
    return add_constraint(c, STR("Generated Column"), shown, holds);
}

static bool constraint_name(str key, str *out) {
    str prefix = STR("delta.constraints.");
    if (!str_starts_with(key, prefix)) return false;
    *out = str_slice(key, prefix.len, key.len);
    return true;
}

/* ---- all of them ---- */

static bool has_invariant(const checks *c, const data_type *t) {
    if (t->element && has_invariant(c, t->element)) return true;
    if (t->key && has_invariant(c, t->key)) return true;
    for (size_t i = 0; t->id == TYPE_STRUCT && i < t->n_fields; i++)
        if (field_metadata_get(&t->fields[i], "delta.invariants", c->o->a) || has_invariant(c, t->fields[i].type)) return true;
    return false;
}

static silt_status check_supported(const checks *c, const place *p, const field *f) {
    if (p->depth > 0 && ops_is_generated(f, c->o->a, NULL)) return err_UNSUPPORTED_FEATURE(c->o->err, "generated columns inside structs");
    if (f->type->id != TYPE_STRUCT && has_invariant(c, f->type))
        return err_UNSUPPORTED_FEATURE(c->o->err, "column invariants inside arrays and maps");
    return SILT_OK;
}

/* What the column itself asks for. */
static silt_status check_presence(checks *c, const place *p, const field *f) {
    TRY(check_supported(c, p, f));
    if (!f->nullable) TRY(check_not_null(c, p));
    return check_invariant(c, f);
}

/* Fields of a struct are places of their own. */
static silt_status check_size(checks *c, const place *p, const field *f) {
    return f->type->id != TYPE_STRUCT && has_length(f->type) ? check_length(c, p, f->type) : SILT_OK;
}

typedef silt_status (*field_check)(checks *c, const place *p, const field *f);

static silt_status each_field(checks *c, const place *p, const field *f, field_check check) {
    TRY(check(c, p, f));
    for (size_t i = 0; f->type->id == TYPE_STRUCT && i < f->type->n_fields; i++) {
        place below;
        TRY(place_below(c, p, f->type->fields[i].name, &below));
        TRY(each_field(c, &below, &f->type->fields[i], check));
    }
    return SILT_OK;
}

static silt_status each_column(checks *c, const data_type *schema, field_check check) {
    for (size_t i = 0; i < schema->n_fields; i++) {
        place p = {.column = i, .text = schema->fields[i].name};
        TRY(each_field(c, &p, &schema->fields[i], check));
    }
    return SILT_OK;
}

static silt_status check_all_generated(checks *c, const write_target *t) {
    str generation;
    for (size_t i = 0; i < t->schema->n_fields; i++) {
        bool computed = t->computed && i < t->metadata.schema->n_fields && t->computed[i]; /* row ids may stand behind the table's columns */
        if (!computed && ops_is_generated(&t->schema->fields[i], c->o->a, &generation))
            TRY(check_generated(c, i, &t->schema->fields[i], generation));
    }
    return SILT_OK;
}

static silt_status collect(checks *c, const write_target *t) {
    const str_map *configuration = &t->metadata.configuration;
    str name;
    for (size_t i = 0; i < configuration->count; i++)
        if (constraint_name(configuration->keys[i], &name)) TRY(check_constraint(c, name, configuration->values[i]));
    TRY(each_column(c, t->schema, check_presence));
    TRY(each_column(c, t->schema, check_size));
    return check_all_generated(c, t);
}

/* ---- around the first column: trees of bound parts ---- */

/* As shallow as the number of checks allows: each of a wide table's columns may be NOT NULL. */
static silt_status any_violated(const checks *c, size_t from, size_t to, expr **out) {
    expr *left, *right;
    if (to - from == 1) {
        *out = expr_clone(c->branches[from].violated, c->o->a);
        return *out ? SILT_OK : error_no_memory(c->o->err);
    }
    TRY(any_violated(c, from, from + (to - from) / 2, &left));
    TRY(any_violated(c, from + (to - from) / 2, to, &right));
    return ops_tree_call(c->o, "or", left, right, out);
}

/* The last is taken for granted: a check that answers otherwise when it is asked again (a random one) raises all the same. */
static silt_status first_message(const checks *c, expr **out) {
    size_t n = c->n - 1;
    *out = c->branches[n].message;
    if (n == 0) return SILT_OK;
    TRY(ops_tree_case(c->o, n, *out, out));
    for (size_t i = 0; i < n; i++) {
        (*out)->args[2 * i] = c->branches[i].violated;
        (*out)->args[2 * i + 1] = c->branches[i].message;
    }
    return SILT_OK;
}

static silt_status checked_column(const checks *c, expr **out) {
    const op *o = c->o;
    expr *unchecked, *violated, *message, *raise, *e;
    TRY(ops_rows_column(o, c->rows, 0, &unchecked));
    TRY(any_violated(c, 0, c->n, &violated));
    TRY(first_message(c, &message));
    TRY(ops_tree_call(o, "silt_raise", message, NULL, &raise));
    TRY(ops_tree_case(o, 1, unchecked, &e));
    e->args[0] = violated;
    e->args[1] = raise;
    return ops_rows_bind(o, c->rows, NULL, 0, e, out);
}

static silt_status column_names(const op *o, const data_type *schema, const str **out) {
    str *names = ARENA_ARRAY(o->a, schema->n_fields + 1, str);
    if (!names) return error_no_memory(o->err);
    for (size_t i = 0; i < schema->n_fields; i++) names[i] = schema->fields[i].name;
    *out = names;
    return SILT_OK;
}

static bool is_text_partition(const write_target *t, size_t column) {
    const field *f = &t->schema->fields[column];
    for (size_t i = 0; f->type->id == TYPE_STRING && i < t->metadata.n_partition_columns; i++)
        if (str_eq_fold(t->metadata.partition_columns[i], f->name)) return true;
    return false;
}

static silt_status empty_to_null(const op *o, relation *rows, size_t column, expr **out) {
    expr *at, *empty, *e;
    TRY(ops_rows_name(o, rows, column, &at));
    TRY(ops_tree_text(o, STR(""), &empty));
    TRY(ops_tree_call(o, "nullif", at, empty, &e));
    return ops_rows_bind(o, rows, &column, 1, e, out);
}

static silt_status wrap_empty_partitions(const op *o, const write_target *t, query *q, query **out) {
    bool any = false;
    for (size_t i = 0; i < t->schema->n_fields; i++) any |= is_text_partition(t, i);
    *out = q;
    if (!any || !ops_setting_bool(o, "spark.databricks.delta.convertEmptyToNullForStringPartitionCol", true)) return SILT_OK;
    const str *names;
    relation *rows;
    expr **items = ARENA_ARRAY(o->a, t->schema->n_fields + 1, expr *);
    if (!items) return error_no_memory(o->err);
    TRY(column_names(o, t->schema, &names));
    TRY(ops_rows_over(o, q, names, &rows));
    for (size_t i = 0; i < t->schema->n_fields; i++) {
        if (is_text_partition(t, i))
            TRY(empty_to_null(o, rows, i, &items[i]));
        else
            TRY(ops_rows_column(o, rows, i, &items[i]));
    }
    return ops_rows_select(o, rows, items, t->schema, out);
}

static silt_status checks_init(checks *c, const op *o, query *q, const data_type *schema) {
    const str *names;
    *c = (checks){.o = o};
    TRY(column_names(o, schema, &names));
    return ops_rows_over(o, q, names, &c->rows);
}

silt_status ops_checks_wrap(const op *o, const write_target *t, query *q, query **out) {
    checks c;
    TRY(wrap_empty_partitions(o, t, q, &q));
    TRY(checks_init(&c, o, q, t->schema));
    TRY(collect(&c, t));
    *out = q;
    if (c.n == 0) return SILT_OK;
    expr **items = ARENA_ARRAY(o->a, t->schema->n_fields + 1, expr *);
    if (!items) return error_no_memory(o->err);
    TRY(checked_column(&c, &items[0]));
    for (size_t i = 1; i < t->schema->n_fields; i++) TRY(ops_rows_column(o, c.rows, i, &items[i]));
    return ops_rows_select(o, c.rows, items, t->schema, out);
}

/* ---- constraints of one column ---- */

typedef struct column_search {
    str name;
    bool found;
} column_search;

static bool names_column(void *ctx, expr *e) {
    column_search *s = ctx;
    if (e->kind == EXPR_COLUMN && e->name.count > 0 && str_eq_fold(e->name.parts[0], s->name)) s->found = true;
    return !s->found;
}

silt_status ops_checks_find(const op *o, const str_map *configuration, str column, str *out_constraint) {
    str name;
    *out_constraint = STR_NULL;
    for (size_t i = 0; i < configuration->count && str_is_null(*out_constraint); i++) {
        expr *e;
        column_search s = {column, false};
        if (!constraint_name(configuration->keys[i], &name)) continue;
        TRY(expr_parse(configuration->values[i], o->a, &e, o->err));
        expr_walk(e, names_column, &s);
        if (s.found) *out_constraint = name;
    }
    return SILT_OK;
}

/* ---- validation at CREATE ---- */

silt_status ops_checks_validate(const op *o, const data_type *schema, const str_map *configuration) {
    relation *rows = ARENA_NEW(o->a, relation);
    str name;
    if (!rows || !(rows->columns = ARENA_ARRAY(o->a, schema->n_fields + 1, relation_column))) return error_no_memory(o->err);
    rows->kind = REL_SUBQUERY;
    rows->n_columns = schema->n_fields;
    for (size_t i = 0; i < schema->n_fields; i++)
        rows->columns[i] = (relation_column){
            .name = schema->fields[i].name, .type = schema->fields[i].type, .nullable = schema->fields[i].nullable};
    for (size_t i = 0; i < configuration->count; i++) {
        expr *e;
        if (!constraint_name(configuration->keys[i], &name)) continue;
        TRY(parse_constraint(o, configuration->values[i], &e));
        TRY(expr_bind(e, rows, o->env->bind, o->a, &e, o->err));
        if (e->type->id != TYPE_BOOLEAN)
            return err_DATATYPE_MISMATCH_FILTER_NOT_BOOLEAN(o->err, configuration->values[i], type_sql(e->type, o->a));
    }
    return SILT_OK;
}
