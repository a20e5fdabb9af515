/*
 * Lateral views that unnest an array or map print as one derived table: the columns of what stands to the left, and unnest(…) beside them. DuckDB would run the
 * general form, a lateral join, by way of a duplicate elimination and a hash join as soon as a filter stands above it. The left side's columns are renamed on the
 * way (r3.c1 becomes x5.r3c1); the printer notes who moved where.
 *
 * Conditions of WHERE that do not need the view's columns go inside, below the unnest: all those at the front, and later ones that cannot raise, so that a condition
 * that guards another still stands before it.
 */
#include "expr/print.h"

static bool named(const expr *e, const char *name) { return str_eq_ascii_fold(e->function_name, str_of(name)); }

static bool is_inline(const expr *e) { return named(e, "inline") || named(e, "inline_outer"); }
static bool has_position(const expr *e) { return named(e, "posexplode") || named(e, "posexplode_outer"); }

bool print_is_flat_view(const relation *r) {
    if (r->kind != REL_LATERAL_VIEW) return false;
    const expr *e = r->args[0];
    return is_inline(e) || has_position(e) || named(e, "explode") || named(e, "explode_outer");
}

/* ---- conditions ---- */

typedef struct reference {
    const relation *r;
    bool found;
} reference;

static bool note_reference(void *ctx, expr *e) {
    reference *ref = ctx;
    if (e->subquery || (e->kind == EXPR_COLUMN && e->source == ref->r)) ref->found = true;
    return !ref->found;
}

static bool refers_to(const expr *e, const relation *r) {
    reference ref = {r, false};
    (void)expr_walk((expr *)(uintptr_t)e, note_reference, &ref);
    return ref.found;
}

/* Comparisons of columns with constants: nothing in them raises. */
static bool is_harmless(const expr *e) {
    if (e->kind == EXPR_COLUMN || e->kind == EXPR_LITERAL) return true;
    if (e->kind == EXPR_FIELD) return is_harmless(e->args[0]);
    if (e->kind != EXPR_CALL || e->function) return false;
    static const char *const ops[] = {"=",   "<>", "<",   "<=", ">",       ">=",     "<=>",
                                      "and", "or", "not", "in", "between", "isnull", "isnotnull"};
    bool known = false;
    for (size_t i = 0; i < ARRAY_LEN(ops); i++) known |= str_eqz(e->function_name, ops[i]);
    for (size_t i = 0; known && i < e->n_args; i++) known = is_harmless(e->args[i]);
    return known;
}

/* ---- columns ---- */

static silt_status move_to(printer *p, const relation *r, uint32_t view) {
    relation_move m = {r->id, view};
    return ARENA_PUSH(p->a, p->moves, p->n_moves, p->move_capacity, m) ? SILT_OK : error_no_memory(p->err);
}

/* Nothing has moved yet where the left side is printed (again). */
static silt_status forget_moves(printer *p, const relation *r) {
    for (size_t i = 0; i < p->n_moves; i++)
        if (p->moves[i].relation == r->id) p->moves[i].view = 0;
    if (r->kind == REL_JOIN || r->kind == REL_LATERAL_VIEW) TRY(forget_moves(p, r->left));
    return r->kind == REL_JOIN ? forget_moves(p, r->right) : SILT_OK;
}

static void take_columns(printer *p, const relation *r, bool *first) {
    for (size_t i = 0; i < r->n_columns; i++) {
        if (r->column_used ? !r->column_used[i] : r->kind == REL_TABLE) continue;
        buf_append_z(p->out, *first ? "" : ", ");
        *first = false;
        print_column_name(p, r, (uint32_t)i);
        buf_printf(p->out, " AS r%uc%zu", r->id, i);
    }
}

static void take_all(printer *p, const relation *r, bool *first) {
    if (r->kind == REL_JOIN) {
        take_all(p, r->left, first);
        if (r->join != JOIN_LEFT_SEMI && r->join != JOIN_LEFT_ANTI) take_all(p, r->right, first);
        return;
    }
    if (r->kind == REL_LATERAL_VIEW) take_all(p, r->left, first);
    if (r->kind != REL_EMPTY) take_columns(p, r, first);
}

static silt_status move_all(printer *p, const relation *r, uint32_t view) {
    if (r->kind == REL_JOIN) {
        TRY(move_all(p, r->left, view));
        return move_all(p, r->right, view);
    }
    if (r->kind == REL_LATERAL_VIEW) TRY(move_all(p, r->left, view));
    return r->kind == REL_EMPTY ? SILT_OK : move_to(p, r, view);
}

/* ---- unnest ---- */

/* unnest(list); for an OUTER view one null row where the list is empty or null. */
static void print_unnest(printer *p, str length_of, const char *list_open, str value_text, const char *list_close, bool outer,
                         bool integer) {
    buf_append_z(p->out, integer ? "CAST(unnest(" : "unnest(");
    if (outer) buf_printf(p->out, "CASE WHEN %.*s > 0 THEN ", STR_ARG(length_of));
    buf_printf(p->out, "%s%.*s%s", list_open, STR_ARG(value_text), list_close);
    if (outer) buf_append_z(p->out, " ELSE [NULL] END");
    buf_append_z(p->out, integer ? ") AS INTEGER)" : ")");
}

static silt_status print_generated(printer *p, const relation *r, bool *first) {
    const expr *call = r->args[0];
    const data_type *t = call->args[0]->type;
    bool map = t->id == TYPE_MAP;
    size_t column = 0;
    str text;
    TRY(print_expr_text(p, call->args[0], &text));
    str length = arena_printf(p->a, map ? "%s(%.*s) AS BIGINT)" : "%s(%.*s)", map ? "CAST(cardinality" : "len", STR_ARG(text));
    if (!length.ptr) return error_no_memory(p->err);
    for (size_t i = 0; i < call->type->n_fields; i++) {
        buf_append_z(p->out, *first ? "" : ", ");
        *first = false;
        if (has_position(call) && i == 0) {
            print_unnest(p, length, "range(", length, ")", r->outer, true);
        } else if (map) {
            print_unnest(p, length, column == 0 ? "map_keys(" : "map_values(", text, ")", r->outer, false);
            column++;
        } else if (is_inline(call)) {
            buf open;
            buf_init(&open, 4096);
            buf_append_z(&open, ", lambda s: struct_extract(s, ");
            buf *kept = p->out;
            p->out = &open;
            print_string(p, t->element->fields[column++].name);
            p->out = kept;
            buf_append_z(&open, "))");
            char *close = arena_cstr(p->a, buf_str(&open));
            buf_dispose(&open);
            if (!close) return error_no_memory(p->err);
            print_unnest(p, length, "list_transform(", text, close, r->outer, false);
        } else {
            print_unnest(p, length, "", text, "", r->outer, false);
        }
        buf_printf(p->out, " AS r%uc%zu", r->id, i);
    }
    return SILT_OK;
}

/* ---- the view ---- */

/* The conditions that may go below this view; the others stay in `all`. */
static silt_status take_inside(printer *p, const relation *r, condition_list *all, condition_list *inside) {
    size_t kept = 0;
    bool front = true;
    for (size_t i = 0; i < all->n; i++) {
        const expr *e = all->items[i];
        bool fits = !refers_to(e, r) && (front || is_harmless(e));
        if (fits && !ARENA_PUSH(p->a, inside->items, inside->n, inside->capacity, e)) return error_no_memory(p->err);
        if (!fits) all->items[kept++] = e, front = false;
    }
    all->n = kept;
    return SILT_OK;
}

silt_status print_flat_view(printer *p, const relation *r, condition_list *conditions) {
    condition_list inside = {0};
    bool first = true;
    TRY(forget_moves(p, r));
    if (conditions) TRY(take_inside(p, r, conditions, &inside));
    buf from, *kept = p->out;
    buf_init(&from, BUF_MAX_DEFAULT);
    p->out = &from;
    silt_status st = r->left->kind == REL_EMPTY    ? SILT_OK
                     : print_is_flat_view(r->left) ? print_flat_view(p, r->left, &inside)
                                                   : print_relation(p, r->left);
    p->out = kept;
    str from_text = print_take(p, &from);
    TRY(st);
    buf_append_z(p->out, "(SELECT ");
    take_all(p, r->left, &first);
    TRY(print_generated(p, r, &first));
    if (r->left->kind != REL_EMPTY) buf_printf(p->out, " FROM %.*s", STR_ARG(from_text));
    for (size_t i = 0; i < inside.n; i++) {
        buf_append_z(p->out, i ? " AND " : " WHERE ");
        TRY(print_expr(p, inside.items[i]));
    }
    buf_printf(p->out, ") AS x%u", r->id);
    TRY(move_all(p, r->left, r->id));
    return move_to(p, r, r->id);
}
