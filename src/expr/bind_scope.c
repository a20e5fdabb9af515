/*
 * Names → columns. A dotted name is matched with the longest qualifier first (catalog.db.table.column, db.table.column, table.column, column), what is left over are
 * struct fields. A name that this query's FROM does not know is looked for in the select list's aliases, then in the enclosing queries.
 */
#include "expr/bind.h"

silt_status scope_add(binder *b, scope *s, scope_item item) {
    return ARENA_PUSH(b->a, s->items, s->n_items, s->item_capacity, item) ? SILT_OK : error_no_memory(b->err);
}

static bool name_eq(const binder *b, str x, str y) { return b->env->case_sensitive ? str_eq(x, y) : str_eq_fold(x, y); }

static bool qualifier_matches(const binder *b, const scope_item *item, const str *parts, size_t n) {
    if (n > item->n_qualifier) return false;
    const str *tail = item->qualifier + (item->n_qualifier - n);
    for (size_t i = 0; i < n; i++)
        if (!name_eq(b, tail[i], parts[i])) return false;
    return true;
}

/* Items named parts[n_qualifier] behind that qualifier. Within one relation an exact spelling beats others; SIZE_MAX in *out_first: none. */
static size_t find_items(const binder *b, const scope *s, const str *parts, size_t n_qualifier, size_t *out_first) {
    size_t count = 0, exact = 0, exact_at = SIZE_MAX;
    bool one_relation = true;
    *out_first = SIZE_MAX;
    for (size_t i = 0; i < s->n_items; i++) {
        const scope_item *item = &s->items[i];
        if (!name_eq(b, item->name, parts[n_qualifier])) continue;
        if (n_qualifier > 0 ? !qualifier_matches(b, item, parts, n_qualifier) : item->hidden && !str_eqz(item->name, "_metadata"))
            continue;
        if (*out_first == SIZE_MAX)
            *out_first = i;
        else if (s->items[*out_first].source != item->source)
            one_relation = false;
        if (str_eq(item->name, parts[n_qualifier])) exact++, exact_at = i;
        count++;
    }
    if (count > 1 && one_relation && exact == 1) {
        *out_first = exact_at;
        return 1;
    }
    return count;
}

static str dotted(binder *b, const str *parts, size_t n) {
    str text = STR("");
    for (size_t i = 0; i < n; i++) text = arena_printf(b->a, "%.*s%s%.*s", STR_ARG(text), i ? "`.`" : "", STR_ARG(parts[i]));
    return text;
}

/* e becomes `base`.field…: struct fields for the rest of a dotted name. */
static silt_status add_fields(binder *b, expr *e, const str *fields, size_t n) {
    for (size_t i = 0; i < n; i++) {
        expr *base, *node;
        BIND_NEW(base, ARENA_NEW(b->a, expr));
        *base = *e;
        BIND_NEW(node, expr_new(b->a, EXPR_FIELD, e->span));
        BIND_NEW(node->args, ARENA_ARRAY(b->a, 1, expr *));
        node->args[0] = base;
        node->n_args = 1;
        node->field_name = fields[i];
        *e = *node;
        TRY(bind_expr(b, NULL, e));
    }
    return SILT_OK;
}

static silt_status become_item(binder *b, expr *e, const scope_item *item, uint32_t levels) {
    if (item->value) {
        expr *copy;
        BIND_NEW(copy, expr_clone(item->value, b->a));
        bind_become(e, copy);
        return SILT_OK;
    }
    e->kind = EXPR_COLUMN;
    e->source = item->source;
    e->column = item->column;
    e->outer_levels = levels;
    e->type = item->type->id == TYPE_STRING ? &type_string : item->type; /* CHAR(n) and VARCHAR(n) are STRING in expressions */
    e->nullable = item->nullable;
    return SILT_OK;
}

typedef enum lookup { LOOKUP_NONE, LOOKUP_DONE } lookup;

static silt_status resolve_item(binder *b, const scope *s, expr *e, uint32_t levels, lookup *out) {
    const name_parts name = e->name;
    size_t most = name.count - 1 < 3 ? name.count - 1 : 3;
    *out = LOOKUP_NONE;
    for (size_t q = most + 1; q-- > 0;) {
        size_t first, n = find_items(b, s, name.parts, q, &first);
        if (n == 0) continue;
        if (n > 1) return err_AMBIGUOUS_REFERENCE(b->err, dotted(b, name.parts, q + 1));
        e->name.count = q + 1; /* the rest are fields of it */
        TRY(become_item(b, e, &s->items[first], levels));
        *out = LOOKUP_DONE;
        return add_fields(b, e, name.parts + q + 1, name.count - q - 1);
    }
    return SILT_OK;
}

static silt_status resolve_lambda(binder *b, const scope *s, expr *e, lookup *out) {
    *out = LOOKUP_NONE;
    for (size_t i = s->n_lambdas; i-- > 0;) {
        const lambda_name *l = &s->lambdas[i];
        if (!name_eq(b, l->name, e->name.parts[0])) continue;
        name_parts name = e->name;
        e->kind = EXPR_LAMBDA_VAR;
        e->name.count = 1;
        e->function_name = l->unique;
        e->type = l->type;
        e->nullable = l->nullable;
        *out = LOOKUP_DONE;
        return add_fields(b, e, name.parts + 1, name.count - 1);
    }
    return SILT_OK;
}

int scope_find_alias(const scope *s, str name) {
    int found = -1;
    for (size_t i = 0; s->q && i < s->n_aliases; i++) {
        if (!str_eq_fold(s->q->column_names[i], name)) continue;
        if (found >= 0 && !expr_equal(s->q->projections[found], s->q->projections[i])) return -2;
        if (found < 0) found = (int)i;
    }
    return found;
}

/* An alias of the select list stands for its expression. */
static silt_status resolve_alias(binder *b, const scope *s, expr *e, lookup *out) {
    *out = LOOKUP_NONE;
    int at = scope_find_alias(s, e->name.parts[0]);
    if (at == -2) return err_AMBIGUOUS_REFERENCE(b->err, e->name.parts[0]);
    if (at < 0) return SILT_OK;
    name_parts name = e->name;
    expr *copy;
    BIND_NEW(copy, expr_clone(s->q->projections[at], b->a));
    bind_become(e, copy);
    *out = LOOKUP_DONE;
    return add_fields(b, e, name.parts + 1, name.count - 1);
}

static silt_status resolve_here(binder *b, scope *s, expr *e, uint32_t levels, lookup *out) {
    *out = LOOKUP_NONE;
    if (s->n_lambdas) TRY(resolve_lambda(b, s, e, out));
    if (*out == LOOKUP_NONE && levels == 0 && s->aliases_first && !s->in_aggregate) TRY(resolve_alias(b, s, e, out));
    if (*out == LOOKUP_NONE) TRY(resolve_item(b, s, e, levels, out));
    if (*out == LOOKUP_NONE && levels == 0) TRY(resolve_alias(b, s, e, out));
    return SILT_OK;
}

static silt_status unresolved(binder *b, const scope *s, const expr *e) {
    str text = dotted(b, e->name.parts, e->name.count);
    if (s->n_items == 0) return err_UNRESOLVED_COLUMN_ALONE(b->err, text);
    silt_status st = err_UNRESOLVED_COLUMN(b->err, text);
    str names = STR("");
    size_t shown = 0;
    for (size_t i = 0; i < s->n_items && shown < 8; i++) {
        const scope_item *item = &s->items[i];
        if (item->hidden) continue;
        str q = item->n_qualifier ? item->qualifier[item->n_qualifier - 1] : STR_NULL;
        names =
            q.len ? arena_printf(b->a, "%.*s%s`%.*s`.`%.*s`", STR_ARG(names), shown ? ", " : "", STR_ARG(q), STR_ARG(item->name))
                  : arena_printf(b->a, "%.*s%s`%.*s`", STR_ARG(names), shown ? ", " : "", STR_ARG(item->name));
        shown++;
    }
    error_detail(b->err, "Did you mean one of the following? [%.*s]", STR_ARG(names));
    return st;
}

silt_status scope_resolve(binder *b, scope *s, expr *e) {
    lookup found;
    uint32_t levels = 0;
    for (scope *at = s; at; at = at->outer, levels++) {
        TRY(resolve_here(b, at, e, levels, &found));
        if (found == LOOKUP_DONE) return SILT_OK;
    }
    return unresolved(b, s, e);
}

/* ---- stars ---- */

static bool excluded(binder *b, const expr *star, const scope_item *item, bool *used) {
    for (size_t i = 0; i < star->n_except; i++) {
        const name_parts *n = &star->except[i];
        if (n->count == 0 || !name_eq(b, n->parts[n->count - 1], item->name)) continue;
        if (n->count > 1 && !qualifier_matches(b, item, n->parts, n->count - 1)) continue;
        used[i] = true;
        return true;
    }
    return false;
}

typedef struct star_list {
    expr **items;
    str *names;
    size_t n, capacity, name_count, name_capacity;
} star_list;

/* `_metadata` and the places of rows are no columns of the table, whatever the star's qualifier. */
static bool is_beside_schema(const scope_item *item) {
    if (str_eqz(item->name, "_metadata")) return true;
    return item->source && item->source->kind == REL_TABLE && item->source->source &&
           item->column >= item->source->source->schema->n_fields;
}

static silt_status star_add(binder *b, star_list *list, expr *e, str name) {
    bool ok = ARENA_PUSH(b->a, list->items, list->n, list->capacity, e) &&
              ARENA_PUSH(b->a, list->names, list->name_count, list->name_capacity, name);
    return ok ? SILT_OK : error_no_memory(b->err);
}

/* s.* over the fields of a struct column. */
static silt_status expand_struct(binder *b, scope *s, const expr *star, star_list *list, bool *out_done) {
    expr *base;
    BIND_NEW(base, expr_new(b->a, EXPR_COLUMN, star->span));
    base->name = star->name;
    silt_error *kept = b->err;
    b->err = NULL;
    silt_status st = scope_resolve(b, s, base);
    b->err = kept;
    *out_done = st == SILT_OK && base->type->id == TYPE_STRUCT;
    for (size_t i = 0; *out_done && i < base->type->n_fields; i++) {
        expr *node, *copy;
        BIND_NEW(node, expr_new(b->a, EXPR_FIELD, star->span));
        BIND_NEW(copy, expr_clone(base, b->a));
        BIND_NEW(node->args, ARENA_ARRAY(b->a, 1, expr *));
        node->args[0] = copy;
        node->n_args = 1;
        node->field_name = base->type->fields[i].name;
        TRY(bind_expr(b, s, node));
        bool skip = false;
        for (size_t x = 0; x < star->n_except; x++)
            skip |= name_eq(b, star->except[x].parts[star->except[x].count - 1], node->field_name);
        if (!skip) TRY(star_add(b, list, node, node->field_name));
    }
    return SILT_OK;
}

silt_status scope_expand_star(binder *b, scope *s, const expr *star, expr ***out, str **out_names, size_t *out_count) {
    star_list list = {0};
    bool any = false, *used;
    BIND_NEW(used, ARENA_ARRAY(b->a, star->n_except, bool));
    for (size_t i = 0; i < s->n_items; i++) {
        const scope_item *item = &s->items[i];
        bool qualified = star->name.count > 0;
        if (qualified && !qualifier_matches(b, item, star->name.parts, star->name.count)) continue;
        any = true;
        if (item->hidden && (!qualified || is_beside_schema(item))) continue;
        if (excluded(b, star, item, used)) continue;
        expr *e;
        BIND_NEW(e, expr_new(b->a, EXPR_COLUMN, star->span));
        TRY(become_item(b, e, item, 0));
        TRY(star_add(b, &list, e, item->name));
    }
    if (star->name.count > 0 && !any) {
        TRY(expand_struct(b, s, star, &list, &any));
        if (!any)
            return err_UNRESOLVED_COLUMN(b->err,
                                         arena_printf(b->a, "%.*s.*", STR_ARG(dotted(b, star->name.parts, star->name.count))));
    } else {
        for (size_t i = 0; i < star->n_except; i++)
            if (!used[i]) return err_UNRESOLVED_COLUMN(b->err, dotted(b, star->except[i].parts, star->except[i].count));
    }
    *out = list.items;
    *out_names = list.names;
    *out_count = list.n;
    return SILT_OK;
}
