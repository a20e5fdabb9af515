/* FROM items: tables, CTEs, views, subqueries, VALUES, joins, table functions and lateral views; each gives its columns to the scope. */
#include "expr/bind.h"

static silt_status set_columns(binder *b, relation *r, size_t n) {
    r->n_columns = n;
    BIND_NEW(r->columns, ARENA_ARRAY(b->a, n, relation_column));
    return SILT_OK;
}

static silt_status apply_column_aliases(binder *b, relation *r) {
    if (r->n_column_aliases == 0) return SILT_OK;
    size_t visible = 0;
    for (size_t i = 0; i < r->n_columns; i++) visible += !r->columns[i].hidden;
    if (r->n_column_aliases != visible && r->kind == REL_VALUES)
        return err_INVALID_INLINE_TABLE_COLUMNS(b->err, (int64_t)r->n_column_aliases, 1, (int64_t)visible);
    if (r->n_column_aliases != visible)
        return err_ASSIGNMENT_ARITY_MISMATCH(b->err, (int64_t)r->n_column_aliases, (int64_t)visible);
    for (size_t i = 0; i < visible; i++) r->columns[i].name = r->column_aliases[i];
    return SILT_OK;
}

/* ---- tables ---- */

static const field *metadata_fields(bool row_ids, size_t *out_count) {
    static const field fields[] = {
        {{"file_path", 9}, &type_string, false, {"{}", 2}, {"file_path", 9}, -1},
        {{"file_name", 9}, &type_string, false, {"{}", 2}, {"file_name", 9}, -1},
        {{"file_size", 9}, &type_long, false, {"{}", 2}, {"file_size", 9}, -1},
        {{"file_block_start", 16}, &type_long, false, {"{}", 2}, {"file_block_start", 16}, -1},
        {{"file_block_length", 17}, &type_long, false, {"{}", 2}, {"file_block_length", 17}, -1},
        {{"file_modification_time", 22}, &type_timestamp, false, {"{}", 2}, {"file_modification_time", 22}, -1},
        {{"row_index", 9}, &type_long, true, {"{}", 2}, {"row_index", 9}, -1},
        {{"row_id", 6}, &type_long, true, {"{}", 2}, {"row_id", 6}, -1},
        {{"row_commit_version", 18}, &type_long, true, {"{}", 2}, {"row_commit_version", 18}, -1},
    };
    *out_count = row_ids ? ARRAY_LEN(fields) : ARRAY_LEN(fields) - 2;
    return fields;
}

const data_type *relation_metadata_type(const table_source *t, arena *a) {
    size_t n;
    const field *fields = metadata_fields(t->has_row_ids, &n);
    return type_struct(a, fields, n);
}

/* The table's own column wins the name: what is left to the hidden one nobody can type. */
static relation_column row_place(const data_type *schema, str name, str hidden_name) {
    bool taken = schema_find(schema, name) >= 0;
    return (relation_column){.name = taken ? hidden_name : name, .type = &type_long, .hidden = true};
}

silt_status relation_bind_columns(relation *r, arena *a, silt_error *err) {
    const data_type *schema = r->source->schema;
    size_t n = schema->n_fields;
    r->n_columns = n + (r->needs_row_id ? 3 : 1);
    r->columns = ARENA_ARRAY(a, r->n_columns, relation_column);
    r->column_used = ARENA_ARRAY(a, r->n_columns, bool);
    if (!r->columns || !r->column_used) return error_no_memory(err);
    bool is_delta = str_eqz(r->source->format, "delta"); /* Delta's readers leave VOID columns out of `*` */
    for (size_t i = 0; i < n; i++) {
        const field *f = &schema->fields[i];
        r->columns[i] = (relation_column){
            .name = f->name, .type = f->type, .nullable = f->nullable, .hidden = is_delta && f->type->id == TYPE_VOID};
    }
    const data_type *metadata = relation_metadata_type(r->source, a);
    if (!metadata) return error_no_memory(err);
    r->columns[n] = (relation_column){.name = STR("_metadata"), .type = metadata, .hidden = true};
    if (!r->needs_row_id) return SILT_OK;
    r->columns[n + 1] = row_place(schema, STR("silt_file"), STR("\x01silt_file"));
    r->columns[n + 2] = row_place(schema, STR("silt_row"), STR("\x01silt_row"));
    return SILT_OK;
}

silt_status bind_table_columns(binder *b, relation *r) {
    TRY(relation_bind_columns(r, b->a, b->err));
    if (r->id == 0) r->id = b->next_id++;
    return SILT_OK;
}

static silt_status query_columns(binder *b, relation *r, const query *q) {
    TRY(set_columns(b, r, q->n_columns));
    for (size_t i = 0; i < q->n_columns; i++)
        r->columns[i] =
            (relation_column){.name = q->column_names[i], .type = q->column_types[i], .nullable = q->column_nullable[i]};
    return SILT_OK;
}

static silt_status bind_view(binder *b, relation *r, str text) {
    cte_frame *kept = b->ctes;
    if (++b->depth > BIND_MAX_DEPTH) return err_UNSUPPORTED_FEATURE(b->err, "views nested that deeply");
    TRY(query_parse(text, b->a, &r->subquery, b->err));
    b->ctes = NULL;
    TRY(bind_query(b, r->subquery, NULL));
    b->ctes = kept;
    b->depth--;
    r->kind = REL_SUBQUERY;
    return query_columns(b, r, r->subquery);
}

static silt_status bind_cte_reference(binder *b, relation *r, cte_frame *f) {
    r->kind = REL_CTE;
    r->cte = f->def->body;
    r->cte_id = f->def->id;
    if (!f->columns) return err_UNSUPPORTED_FEATURE(b->err, "a recursive CTE whose first branch refers to itself");
    TRY(set_columns(b, r, f->n_columns));
    memcpy(r->columns, f->columns, f->n_columns * sizeof *f->columns);
    return SILT_OK;
}

static silt_status bind_table(binder *b, relation *r) {
    if (r->name.count == 1 && !r->travel.version && !r->travel.timestamp) {
        for (cte_frame *f = b->ctes; f; f = f->outer)
            if (str_eq_fold(f->def->name, r->name.parts[0])) return bind_cte_reference(b, r, f);
    }
    str view = STR_NULL;
    if (!r->source) {
        if (!b->env->resolver)
            return err_TABLE_OR_VIEW_NOT_FOUND(b->err, r->name.count ? r->name.parts[r->name.count - 1] : STR("?"));
        TRY(b->env->resolver->resolve(b->env->resolver, r, b->a, &r->source, &view, b->err));
    }
    return r->source ? bind_table_columns(b, r) : bind_view(b, r, view);
}

/* ---- VALUES ---- */

static silt_status bind_values(binder *b, relation *r, scope *outer) {
    scope s = {.outer = outer};
    size_t n = r->n_row_columns;
    TRY(set_columns(b, r, n));
    expr **column;
    BIND_NEW(column, ARENA_ARRAY(b->a, r->n_rows, expr *));
    for (size_t i = 0; i < r->n_rows; i++) TRY(bind_expr_list(b, &s, r->rows[i], n));
    for (size_t c = 0; c < n; c++) {
        relation_column *out = &r->columns[c];
        for (size_t i = 0; i < r->n_rows; i++) column[i] = r->rows[i][c], out->nullable |= column[i]->nullable;
        silt_error *kept = b->err;
        b->err = NULL;
        silt_status st = r->n_rows ? bind_common_slots(b, column, r->n_rows, r->rows[0][c], &out->type) : SILT_OK;
        b->err = kept;
        if (st != SILT_OK)
            return st == SILT_NO_MEMORY ? error_no_memory(b->err) : err_INVALID_INLINE_TABLE_TYPES(b->err, (int64_t)c + 1);
        for (size_t i = 0; i < r->n_rows; i++) r->rows[i][c] = column[i];
        out->name = arena_printf(b->a, "col%zu", c + 1);
        if (!out->name.ptr) return error_no_memory(b->err);
    }
    return SILT_OK;
}

/* ---- generators ---- */

static silt_status generator_columns(binder *b, relation *r, const expr *call, bool outer) {
    const data_type *t = call->type; /* a struct: one field per output column */
    TRY(set_columns(b, r, t->n_fields));
    for (size_t i = 0; i < t->n_fields; i++)
        r->columns[i] =
            (relation_column){.name = t->fields[i].name, .type = t->fields[i].type, .nullable = outer || t->fields[i].nullable};
    return SILT_OK;
}

silt_status bind_generator(binder *b, scope *s, expr *call, relation *r) {
    bool known;
    const function_row *row = function_find(call->function_name, call->n_args, &known);
    if (!row || row->kind != FUNCTION_GENERATOR) return err_UNRESOLVED_ROUTINE(b->err, call->function_name);
    clause kept = s->where;
    s->where = CLAUSE_GENERATOR;
    TRY(bind_expr_list(b, s, call->args, call->n_args));
    s->where = kept;
    bool matched = false;
    scope *kept_scope = b->current;
    b->current = s;
    for (; row && !matched; row = function_find_next(row, call->function_name, call->n_args))
        TRY(bind_function_row(b, call, row, &matched));
    b->current = kept_scope;
    if (!matched) return err_DATATYPE_MISMATCH(b->err, bind_text(b, call), STR("a generator takes an array or a map"));
    if (str_ends_with(call->function_name, STR("_outer")) || str_ends_with(call->function_name, STR("_OUTER"))) r->outer = true;
    return generator_columns(b, r, call, r->outer);
}

static silt_status bind_range(binder *b, relation *r, scope *outer) {
    scope s = {.outer = outer};
    if (r->n_args < 1 || r->n_args > 4) return err_WRONG_NUM_ARGS(b->err, r->function_name, STR("[1, 4]"), (int64_t)r->n_args);
    TRY(bind_expr_list(b, &s, r->args, r->n_args));
    for (size_t i = 0; i < r->n_args && i < 3; i++) TRY(bind_coerce_slot(b, &r->args[i], &type_long, r->args[i], i));
    TRY(set_columns(b, r, 1));
    r->columns[0] = (relation_column){.name = STR("id"), .type = &type_long};
    return SILT_OK;
}

/* explode(…) and the like as a FROM item: its arguments see the columns to its left when LATERAL. */
static silt_status bind_table_function(binder *b, relation *r, scope *left) {
    str name = r->function_name.len ? r->function_name : r->name.count ? r->name.parts[r->name.count - 1] : STR("");
    r->function_name = name;
    if (str_eq_ascii_fold(name, STR("range"))) return bind_range(b, r, left);
    expr *call;
    BIND_NEW(call, expr_call(b->a, "", r->args, r->n_args, r->span));
    call->function_name = name;
    scope s = {.outer = left};
    TRY(bind_generator(b, &s, call, r));
    BIND_NEW(r->args, ARENA_ARRAY(b->a, 1, expr *));
    r->args[0] = call;
    r->n_args = 1;
    return SILT_OK;
}

static silt_status bind_lateral_view(binder *b, relation *r, scope *s) {
    TRY(bind_relation(b, r->left, s, s->outer));
    TRY(bind_generator(b, s, r->args[0], r));
    r->id = b->next_id++;
    if (r->n_column_aliases > 0 && r->n_column_aliases == r->n_columns) return apply_column_aliases(b, r);
    if (r->n_column_aliases > 0)
        return err_ASSIGNMENT_ARITY_MISMATCH(b->err, (int64_t)r->n_column_aliases, (int64_t)r->n_columns);
    return SILT_OK;
}

/* ---- joins ---- */

static silt_status add_all(binder *b, scope *s, const scope *from, bool nullable) {
    for (size_t i = 0; i < from->n_items; i++) {
        scope_item item = from->items[i];
        item.nullable |= nullable;
        TRY(scope_add(b, s, item));
    }
    return SILT_OK;
}

static scope_item *find_visible(const binder *b, scope *s, str name, size_t *out_count) {
    scope_item *found = NULL;
    *out_count = 0;
    for (size_t i = 0; i < s->n_items; i++) {
        bool same = b->env->case_sensitive ? str_eq(s->items[i].name, name) : str_eq_fold(s->items[i].name, name);
        if (s->items[i].hidden || !same) continue;
        if (!found) found = &s->items[i];
        ++*out_count;
    }
    return found;
}

static silt_status natural_columns(binder *b, relation *r, scope *left, scope *right) {
    str *names;
    size_t n = 0, count;
    BIND_NEW(names, ARENA_ARRAY(b->a, left->n_items, str));
    for (size_t i = 0; i < left->n_items; i++)
        if (!left->items[i].hidden && find_visible(b, right, left->items[i].name, &count)) names[n++] = left->items[i].name;
    r->using_columns = names;
    r->n_using_columns = n;
    return SILT_OK;
}

static silt_status item_expr(binder *b, const scope_item *item, expr **out) {
    if (item->value) {
        BIND_NEW(*out, expr_clone(item->value, b->a));
        return SILT_OK;
    }
    BIND_NEW(*out, expr_new(b->a, EXPR_COLUMN, (source_span){0, 0}));
    (*out)->source = item->source;
    (*out)->column = item->column;
    (*out)->type = item->type;
    (*out)->nullable = item->nullable;
    return SILT_OK;
}

/* USING: equality of the pairs; one visible column for each, first in the star's order. */
static silt_status join_using(binder *b, relation *r, scope *left, scope *right, scope *out) {
    for (size_t i = 0; i < r->n_using_columns; i++) {
        str name = r->using_columns[i];
        size_t nl, nr;
        scope_item *l = find_visible(b, left, name, &nl), *rt = find_visible(b, right, name, &nr);
        if (!l) return err_UNRESOLVED_USING_COLUMN_FOR_JOIN(b->err, name, "left");
        if (!rt) return err_UNRESOLVED_USING_COLUMN_FOR_JOIN(b->err, name, "right");
        if (nl > 1 || nr > 1) return err_AMBIGUOUS_REFERENCE(b->err, name);
        expr *pair[2], *equal;
        TRY(item_expr(b, l, &pair[0]));
        TRY(item_expr(b, rt, &pair[1]));
        BIND_NEW(equal, expr_call(b->a, "=", pair, 2, r->span));
        TRY(bind_expr(b, NULL, equal));
        if (r->on) {
            expr *both[2] = {r->on, equal};
            BIND_NEW(equal, expr_call(b->a, "and", both, 2, r->span));
            TRY(bind_expr(b, NULL, equal));
        }
        r->on = equal;
        scope_item joined = r->join == JOIN_RIGHT ? *rt : *l;
        joined.n_qualifier = 0; /* a.id and b.id stay what they are; the bare name is the joined column */
        joined.name = l->name;
        if (r->join == JOIN_FULL) {
            expr *sides[2];
            TRY(item_expr(b, l, &sides[0]));
            TRY(item_expr(b, rt, &sides[1]));
            BIND_NEW(joined.value, expr_call(b->a, "coalesce", sides, 2, r->span));
            TRY(bind_expr(b, NULL, joined.value));
            joined.type = joined.value->type;
            joined.nullable = true;
        }
        TRY(scope_add(b, out, joined));
        l->hidden = rt->hidden = true;
    }
    return SILT_OK;
}

static silt_status bind_join(binder *b, relation *r, scope *s) {
    scope left = {.outer = s->outer}, right = {.outer = s->outer};
    TRY(bind_relation(b, r->left, &left, s->outer));
    bool lateral = r->lateral || r->right->lateral || r->right->kind == REL_LATERAL_VIEW;
    TRY(bind_relation(b, r->right, &right, lateral ? &left : s->outer));
    if (r->natural) TRY(natural_columns(b, r, &left, &right));
    bool left_nullable = r->join == JOIN_RIGHT || r->join == JOIN_FULL,
         right_nullable = r->join == JOIN_LEFT || r->join == JOIN_FULL;
    scope on = {.outer = s->outer, .where = CLAUSE_ON};
    TRY(add_all(b, &on, &left, false));
    TRY(add_all(b, &on, &right, false));
    if (r->on) {
        TRY(bind_condition(b, &on, &r->on, err_JOIN_CONDITION_IS_NOT_BOOLEAN_TYPE));
        TRY(bind_fold_condition(b, r->on));
    }
    scope merged = {0};
    if (r->n_using_columns) TRY(join_using(b, r, &left, &right, &merged));
    for (size_t i = 0; i < merged.n_items; i++) TRY(scope_add(b, s, merged.items[i]));
    bool semi = r->join == JOIN_LEFT_SEMI || r->join == JOIN_LEFT_ANTI;
    TRY(add_all(b, s, &left, left_nullable));
    return semi ? SILT_OK : add_all(b, s, &right, right_nullable);
}

/* ---- the scope's columns ---- */

/* catalog, database, table: a column may be qualified by as much of them as the query likes, whatever FROM wrote. */
static silt_status full_qualifier(binder *b, const relation *r, const str **out, size_t *out_n) {
    name_parts name = r->name;
    str *parts;
    BIND_NEW(parts, ARENA_ARRAY(b->a, 3, str));
    parts[0] = b->env->current_catalog.len ? b->env->current_catalog : STR("spark_catalog");
    parts[1] = name.count > 1                 ? name.parts[name.count - 2]
               : b->env->current_database.len ? b->env->current_database
                                              : STR("default");
    parts[2] = name.parts[name.count - 1];
    *out = parts;
    *out_n = 3;
    return SILT_OK;
}

silt_status scope_add_relation(binder *b, scope *s, relation *r) {
    if (r->kind == REL_JOIN) {
        TRY(scope_add_relation(b, s, r->left));
        return r->join == JOIN_LEFT_SEMI || r->join == JOIN_LEFT_ANTI ? SILT_OK : scope_add_relation(b, s, r->right);
    }
    if (r->kind == REL_LATERAL_VIEW) TRY(scope_add_relation(b, s, r->left));
    const str *qualifier = NULL;
    size_t n_qualifier = 0;
    if (r->alias.len) {
        str *alias;
        BIND_NEW(alias, ARENA_NEW(b->a, str));
        *alias = r->alias;
        qualifier = alias;
        n_qualifier = 1;
    } else if (r->kind == REL_TABLE && r->source && r->name.count) {
        TRY(full_qualifier(b, r, &qualifier, &n_qualifier));
    } else if (r->name.count) {
        qualifier = r->name.parts;
        n_qualifier = r->name.count;
    }
    for (size_t i = 0; i < r->n_columns; i++) {
        const relation_column *c = &r->columns[i];
        TRY(scope_add(b, s,
                      (scope_item){.name = c->name,
                                   .qualifier = qualifier,
                                   .n_qualifier = n_qualifier,
                                   .source = r,
                                   .column = (uint32_t)i,
                                   .type = c->type,
                                   .nullable = c->nullable,
                                   .hidden = c->hidden}));
    }
    return SILT_OK;
}

static silt_status bind_leaf(binder *b, relation *r, scope *outer) {
    if (r->kind == REL_FUNCTION) TRY(bind_resolver_function(b, r));
    switch (r->kind) {
        case REL_TABLE: TRY(bind_table(b, r)); break;
        case REL_SUBQUERY:
            TRY(bind_query(b, r->subquery, outer));
            TRY(query_columns(b, r, r->subquery));
            break;
        case REL_VALUES: TRY(bind_values(b, r, outer)); break;
        case REL_FUNCTION: TRY(bind_table_function(b, r, outer)); break;
        case REL_EMPTY: return SILT_OK;
        default: return err_INTERNAL_ERROR(b->err, "unexpected FROM item");
    }
    if (r->id == 0) r->id = b->next_id++;
    return apply_column_aliases(b, r);
}

silt_status bind_relation(binder *b, relation *r, scope *s, scope *outer) {
    if (!r) return SILT_OK;
    if (++b->depth > 1000) return err_UNSUPPORTED_FEATURE(b->err, "a FROM clause nested that deeply");
    if (r->kind == REL_JOIN)
        TRY(bind_join(b, r, s));
    else if (r->kind == REL_LATERAL_VIEW) {
        TRY(bind_lateral_view(b, r, s));
        relation own = *r;
        own.kind = REL_FUNCTION;
        size_t first = s->n_items;
        TRY(scope_add_relation(b, s, &own));
        for (size_t i = first; i < s->n_items; i++) s->items[i].source = r;
    } else {
        TRY(bind_leaf(b, r, outer));
        TRY(scope_add_relation(b, s, r));
    }
    b->depth--;
    return SILT_OK;
}
