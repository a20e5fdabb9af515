/*
 * Queries. Relations are r<id> with columns c0…, output columns are named c0…. A query with aggregates prints as two: the inner groups (keys k0…, aggregates a0…), the
 * outer computes the select list, HAVING and ORDER BY over those names, so that DuckDB never has to recognise a grouped expression by its text.
 */
#include "expr/print.h"

/* ---- FROM ---- */

static silt_status print_table(printer *p, const relation *r) {
    bool sampled = r->sample_percent >= 0 || r->sample_rows >= 0;
    if (!p->scans) return err_INTERNAL_ERROR(p->err, "a table where none can be read");
    if (sampled) buf_append_z(p->out, "(SELECT * FROM ");
    TRY(p->scans->print(p->scans, r, p->out, p->err));
    if (r->sample_percent >= 0)
        buf_printf(p->out, " USING SAMPLE %.17g PERCENT (bernoulli))", r->sample_percent);
    else if (r->sample_rows >= 0)
        buf_printf(p->out, " LIMIT %lld)", (long long)r->sample_rows);
    buf_printf(p->out, " AS r%u", r->id);
    return SILT_OK;
}

static silt_status print_values(printer *p, const relation *r) {
    if (r->n_rows == 0) return err_INTERNAL_ERROR(p->err, "VALUES without rows");
    buf_append_z(p->out, "(VALUES ");
    for (size_t i = 0; i < r->n_rows; i++) {
        buf_append_z(p->out, i ? ", (" : "(");
        TRY(print_exprs(p, r->rows[i], r->n_row_columns, ", "));
        buf_append_char(p->out, ')');
    }
    buf_printf(p->out, ") AS r%u(", r->id);
    for (size_t i = 0; i < r->n_row_columns; i++) buf_printf(p->out, "%sc%zu", i ? ", " : "", i);
    buf_append_char(p->out, ')');
    return SILT_OK;
}

static silt_status print_range(printer *p, const relation *r) {
    buf_append_z(p->out, "(SELECT range AS c0 FROM range(");
    TRY(print_exprs(p, r->args, r->n_args < 3 ? r->n_args : 3, ", "));
    buf_printf(p->out, ")) AS r%u", r->id);
    return SILT_OK;
}

static silt_status print_generator(printer *p, const relation *r) {
    const expr *call = r->args[0];
    buf_append_char(p->out, '(');
    TRY(call->function->print ? call->function->print(p, call) : print_template(p, call->function->sql, call));
    buf_printf(p->out, ") AS r%u", r->id);
    return SILT_OK;
}

static silt_status print_lateral_view(printer *p, const relation *r) {
    if (print_is_flat_view(r)) return print_flat_view(p, r, NULL);
    bool alone = r->left->kind == REL_EMPTY;
    if (alone && r->outer)
        buf_printf(p->out, "(SELECT 1) AS e%u", r->id);
    else if (!alone)
        TRY(print_relation(p, r->left));
    if (!alone || r->outer) buf_append_z(p->out, r->outer ? " LEFT JOIN LATERAL " : " CROSS JOIN LATERAL ");
    TRY(print_generator(p, r));
    if (r->outer) buf_append_z(p->out, " ON true");
    return SILT_OK;
}

static bool is_compound(const relation *r) { return r->kind == REL_JOIN || r->kind == REL_LATERAL_VIEW; }

static silt_status print_join(printer *p, const relation *r) {
    static const char *const words[] = {" JOIN ",       " LEFT JOIN ", " RIGHT JOIN ", " FULL JOIN ",
                                        " CROSS JOIN ", " SEMI JOIN ", " ANTI JOIN "};
    bool cross = r->join == JOIN_CROSS || (r->join == JOIN_INNER && !r->on);
    bool lateral = r->lateral || r->right->lateral ||
                   (r->right->kind == REL_FUNCTION && !str_eq_ascii_fold(r->right->function_name, STR("range")));
    TRY(print_relation(p, r->left));
    if (cross && r->on) cross = false;
    buf_append_z(p->out, cross ? words[JOIN_CROSS] : r->join == JOIN_CROSS ? words[JOIN_INNER] : words[r->join]);
    if (lateral) buf_append_z(p->out, "LATERAL ");
    bool parens = is_compound(r->right) && r->right->kind == REL_JOIN;
    if (parens) buf_append_char(p->out, '(');
    TRY(print_relation(p, r->right));
    if (parens) buf_append_char(p->out, ')');
    if (cross) return SILT_OK;
    buf_append_z(p->out, " ON (");
    if (r->on)
        TRY(print_expr(p, r->on));
    else
        buf_append_z(p->out, "true");
    buf_append_char(p->out, ')');
    return SILT_OK;
}

silt_status print_relation(printer *p, const relation *r) {
    switch (r->kind) {
        case REL_TABLE: return print_table(p, r);
        case REL_SUBQUERY:
            buf_append_char(p->out, '(');
            TRY(print_query(p, r->subquery));
            buf_printf(p->out, ") AS r%u", r->id);
            return SILT_OK;
        case REL_CTE: buf_printf(p->out, "w%u AS r%u", r->cte_id, r->id); return SILT_OK;
        case REL_VALUES: return print_values(p, r);
        case REL_JOIN: return print_join(p, r);
        case REL_FUNCTION: return str_eq_ascii_fold(r->function_name, STR("range")) ? print_range(p, r) : print_generator(p, r);
        case REL_LATERAL_VIEW: return print_lateral_view(p, r);
        case REL_EMPTY: buf_append_z(p->out, "(SELECT 1)"); return SILT_OK;
    }
    return err_INTERNAL_ERROR(p->err, "unknown FROM item");
}

static silt_status split_and(printer *p, const expr *e, condition_list *out) {
    if (e->kind == EXPR_CALL && str_eqz(e->function_name, "and")) {
        TRY(split_and(p, e->args[0], out));
        return split_and(p, e->args[1], out);
    }
    return ARENA_PUSH(p->a, out->items, out->n, out->capacity, e) ? SILT_OK : error_no_memory(p->err);
}

static silt_status print_from_where(printer *p, const query *q) {
    condition_list conditions = {0};
    if (q->where && q->from && print_is_flat_view(q->from)) {
        TRY(split_and(p, q->where, &conditions));
        buf_append_z(p->out, " FROM ");
        TRY(print_flat_view(p, q->from, &conditions));
        for (size_t i = 0; i < conditions.n; i++) {
            buf_append_z(p->out, i ? " AND " : " WHERE ");
            TRY(print_expr(p, conditions.items[i]));
        }
        return SILT_OK;
    }
    if (q->from) {
        buf_append_z(p->out, " FROM ");
        TRY(print_relation(p, q->from));
    }
    if (q->where) {
        buf_append_z(p->out, " WHERE ");
        TRY(print_expr(p, q->where));
    }
    return SILT_OK;
}

/* ---- aggregation ---- */

static silt_status map_add(printer *p, print_map *m, const expr *e, str text) {
    bool ok = text.ptr && ARENA_PUSH(p->a, m->exprs, m->n, m->capacity, e) &&
              ARENA_PUSH(p->a, m->texts, m->text_count, m->text_capacity, text);
    return ok ? SILT_OK : error_no_memory(p->err);
}

typedef struct aggregate_list {
    printer *p;
    const expr **items;
    size_t n, capacity;
    silt_status status;
} aggregate_list;

/* Aggregates are found from the top so that what is inside them is not looked at. */
static silt_status collect_aggregates(aggregate_list *list, const expr *e);

static silt_status collect_keys(aggregate_list *list, const sort_key *keys, size_t n) {
    for (size_t i = 0; i < n; i++) TRY(collect_aggregates(list, keys[i].value));
    return SILT_OK;
}

static silt_status collect_aggregates(aggregate_list *list, const expr *e) {
    if (!e || !e->is_aggregate) return SILT_OK;
    if (e->kind == EXPR_CALL && !e->over && e->function && e->function->kind == FUNCTION_AGGREGATE) {
        for (size_t i = 0; i < list->n; i++)
            if (expr_equal(list->items[i], e)) return SILT_OK;
        return ARENA_PUSH(list->p->a, list->items, list->n, list->capacity, e) ? SILT_OK : error_no_memory(list->p->err);
    }
    for (size_t i = 0; i < e->n_args; i++) TRY(collect_aggregates(list, e->args[i]));
    if (!e->over) return SILT_OK;
    for (size_t i = 0; i < e->over->n_partition_by; i++) TRY(collect_aggregates(list, e->over->partition_by[i]));
    return collect_keys(list, e->over->order_by, e->over->n_order_by);
}

static silt_status collect_query(aggregate_list *list, const query *q) {
    for (size_t i = 0; i < q->n_projections; i++) TRY(collect_aggregates(list, q->projections[i]));
    TRY(collect_aggregates(list, q->having));
    TRY(collect_aggregates(list, q->qualify));
    return collect_keys(list, q->order_by, q->n_order_by);
}

static size_t group_index(const query *q, const expr *e) {
    size_t i = 0;
    while (i < q->n_group_items && !expr_equal(q->group_items[i], e)) i++;
    return i;
}

static void print_group_clause(printer *p, const query *q) {
    if (q->n_group_items == 0 && q->group != GROUP_SETS) return;
    buf_append_z(p->out, " GROUP BY ");
    if (q->group == GROUP_SETS) {
        buf_append_z(p->out, "GROUPING SETS (");
        for (size_t i = 0; i < q->n_group_sets; i++) {
            buf_append_z(p->out, i ? ", (" : "(");
            for (size_t k = 0; k < q->group_sets[i].count; k++)
                buf_printf(p->out, "%sk%zu", k ? ", " : "", group_index(q, q->group_sets[i].items[k]));
            buf_append_char(p->out, ')');
        }
        buf_append_char(p->out, ')');
        return;
    }
    if (q->group == GROUP_ROLLUP) buf_append_z(p->out, "ROLLUP (");
    if (q->group == GROUP_CUBE) buf_append_z(p->out, "CUBE (");
    for (size_t i = 0; i < q->n_group_items; i++) buf_printf(p->out, "%sk%zu", i ? ", " : "", i);
    if (q->group == GROUP_ROLLUP || q->group == GROUP_CUBE) buf_append_char(p->out, ')');
}

/* grouping(x): DuckDB's takes the keys by their alias; its bits are in the order of its arguments, as Spark's grouping_id. */
static silt_status print_grouping(printer *p, const query *q, const expr *e) {
    bool id = str_eq_ascii_fold(e->function_name, STR("grouping_id"));
    size_t n = id && e->n_args == 0 ? q->n_group_items : e->n_args;
    if (q->n_group_items == 0) {
        buf_append_z(p->out, id ? "0::BIGINT" : "0::TINYINT");
        return SILT_OK;
    }
    buf_append_z(p->out, "CAST(GROUPING(");
    for (size_t i = 0; i < n; i++) {
        size_t k = id && e->n_args == 0 ? i : group_index(q, e->args[i]);
        if (k >= q->n_group_items) return err_GROUPING_COLUMN_MISMATCH(p->err, STR("?"));
        buf_printf(p->out, "%sk%zu", i ? ", " : "", k);
    }
    buf_append_z(p->out, id ? ") AS BIGINT)" : ") AS TINYINT)");
    return SILT_OK;
}

static bool is_grouping(const expr *e) {
    return str_eq_ascii_fold(e->function_name, STR("grouping")) || str_eq_ascii_fold(e->function_name, STR("grouping_id"));
}

/* Spark puts -0.0 and 0.0 in one group and shows 0.0. */
static silt_status print_group_key(printer *p, const expr *e) {
    bool floating = e->type->id == TYPE_DOUBLE || e->type->id == TYPE_FLOAT;
    if (floating)
        buf_append_z(p->out, e->type->id == TYPE_DOUBLE ? "silt_no_negative_zero(" : "CAST(silt_no_negative_zero(CAST(");
    TRY(print_expr(p, e));
    if (floating) buf_append_z(p->out, e->type->id == TYPE_DOUBLE ? ")" : " AS DOUBLE)) AS FLOAT)");
    return SILT_OK;
}

/* FROM and WHERE as a text: printed before what stands in front of them, since a lateral view there says what columns are called. */
static silt_status print_from_text(printer *p, const query *q, str *out) {
    buf from, *kept = p->out;
    buf_init(&from, BUF_MAX_DEFAULT);
    p->out = &from;
    silt_status st = print_from_where(p, q);
    p->out = kept;
    *out = st == SILT_OK && buf_ok(&from) ? arena_str(p->a, buf_str(&from)) : STR_NULL;
    buf_dispose(&from);
    return st == SILT_OK && !out->ptr ? error_no_memory(p->err) : st;
}

static silt_status print_grouped_from(printer *p, const query *q, print_map *m) {
    aggregate_list list = {.p = p};
    str from;
    TRY(collect_query(&list, q));
    TRY(print_from_text(p, q, &from));
    buf_append_z(p->out, " FROM (SELECT ");
    for (size_t i = 0; i < q->n_group_items; i++) {
        if (i) buf_append_z(p->out, ", ");
        TRY(print_group_key(p, q->group_items[i]));
        buf_printf(p->out, " AS k%zu", i);
        TRY(map_add(p, m, q->group_items[i], arena_printf(p->a, "q%u.k%zu", q->id, i)));
    }
    for (size_t i = 0; i < list.n; i++) {
        if (i || q->n_group_items) buf_append_z(p->out, ", ");
        TRY(is_grouping(list.items[i]) ? print_grouping(p, q, list.items[i]) : print_call(p, list.items[i]));
        buf_printf(p->out, " AS a%zu", i);
        TRY(map_add(p, m, list.items[i], arena_printf(p->a, "q%u.a%zu", q->id, i)));
    }
    if (list.n + q->n_group_items == 0) buf_append_z(p->out, "count(*) AS a0");
    buf_append(p->out, from);
    print_group_clause(p, q);
    buf_printf(p->out, ") AS q%u", q->id);
    return SILT_OK;
}

/* ---- ORDER BY, LIMIT ---- */

static void print_direction(printer *p, const sort_key *k) {
    buf_append_z(p->out, k->descending ? " DESC" : " ASC");
    buf_append_z(p->out, k->nulls_first ? " NULLS FIRST" : " NULLS LAST");
}

/* A null struct is null itself, then its fields decide. */
static silt_status print_struct_key(printer *p, const sort_key *k) {
    str text;
    TRY(print_expr_text(p, k->value, &text));
    buf_printf(p->out, "CASE WHEN %.*s IS NOT NULL THEN ", STR_ARG(text));
    print_order_key(p, text, k->value->type);
    buf_append_z(p->out, " END");
    return SILT_OK;
}

static silt_status print_order(printer *p, const query *q, bool ordinals) {
    for (size_t i = 0; i < q->n_order_by; i++) {
        const sort_key *k = &q->order_by[i];
        buf_append_z(p->out, i ? ", " : " ORDER BY ");
        size_t at = 0;
        bool by_position = ordinals && !print_needs_order_key(k->value->type);
        while (by_position && at < q->n_projections && !expr_equal(q->projections[at], k->value)) at++;
        if (by_position && at < q->n_projections)
            buf_printf(p->out, "%zu", at + 1);
        else if (k->value->kind == EXPR_LITERAL)
            buf_append_z(p->out, "NULL"); /* a constant orders nothing, and a number would be a position */
        else if (print_needs_order_key(k->value->type))
            TRY(print_struct_key(p, k));
        else
            TRY(print_expr(p, k->value));
        print_direction(p, k);
    }
    return SILT_OK;
}

static void print_limit(printer *p, const query *q) {
    if (q->limit) buf_printf(p->out, " LIMIT %lld", (long long)q->limit->literal.as.i64);
    if (q->offset) buf_printf(p->out, " OFFSET %lld", (long long)q->offset->literal.as.i64);
}

/* ---- bodies ---- */

static bool no_null(void *ctx, expr *e) {
    (void)ctx;
    return !(e->kind == EXPR_LITERAL && e->literal.is_null);
}

/* What DuckDB can compute to a bare NULL loses its type there; the cast says it again and costs nothing where the type is right. */
static silt_status print_typed(printer *p, const expr *e) {
    bool retype = e->kind != EXPR_LITERAL && e->type->id != TYPE_VOID && !expr_walk((expr *)(uintptr_t)e, no_null, NULL);
    if (!retype) return print_expr(p, e);
    buf_append_z(p->out, "CAST(");
    TRY(print_expr(p, e));
    buf_append_z(p->out, " AS ");
    type_print_duckdb(p->out, e->type, false);
    buf_append_char(p->out, ')');
    return SILT_OK;
}

static silt_status print_projections(printer *p, const query *q) {
    buf_append_z(p->out, q->distinct ? "SELECT DISTINCT " : "SELECT ");
    for (size_t i = 0; i < q->n_projections; i++) {
        if (i) buf_append_z(p->out, ", ");
        const expr *e = q->projections[i];
        if (q->column_used && !q->column_used[i] && !q->distinct)
            TRY(print_literal(p, &(value){.type = e->type, .is_null = true})); /* nobody reads it */
        else
            TRY(q->distinct ? print_group_key(p, e) : print_typed(p, e));
        buf_printf(p->out, " AS c%zu", i);
    }
    return SILT_OK;
}

/* The FROM of a grouped query is printed first, since it says what the select list's aggregates are called. */
static silt_status print_select_body(printer *p, const query *q, print_map *m) {
    const print_map *outer = p->map;
    buf from, *kept = p->out;
    buf_init(&from, BUF_MAX_DEFAULT);
    p->out = &from;
    silt_status st = q->has_aggregates ? print_grouped_from(p, q, m) : print_from_where(p, q);
    p->out = kept;
    if (q->has_aggregates) p->map = m;
    if (st == SILT_OK) st = print_projections(p, q);
    if (st == SILT_OK) buf_append(p->out, buf_str(&from));
    bool memory = buf_ok(&from);
    buf_dispose(&from);
    if (st != SILT_OK || !memory) {
        p->map = outer;
        return st != SILT_OK ? st : error_no_memory(p->err);
    }
    if (q->having) {
        buf_append_z(p->out, " WHERE ");
        TRY(print_expr(p, q->having));
    }
    if (q->qualify) {
        buf_append_z(p->out, " QUALIFY ");
        TRY(print_expr(p, q->qualify));
    }
    return SILT_OK;
}

/* SELECT DISTINCT … ORDER BY: the order is over the distinct rows, each select item by its output name. */
static silt_status print_distinct_ordered(printer *p, const query *q) {
    print_map grouped = {.outer = p->map}, output = {.outer = p->map};
    const print_map *outer = p->map;
    buf_append_z(p->out, "SELECT * FROM (");
    TRY(print_select_body(p, q, &grouped));
    p->map = outer;
    buf_printf(p->out, ") AS d%u", q->id);
    for (size_t i = 0; i < q->n_projections; i++)
        TRY(map_add(p, &output, q->projections[i], arena_printf(p->a, "d%u.c%zu", q->id, i)));
    p->map = &output;
    TRY(print_order(p, q, true));
    p->map = outer;
    return SILT_OK;
}

static silt_status print_select(printer *p, const query *q) {
    if (q->distinct && q->n_order_by) {
        TRY(print_distinct_ordered(p, q));
    } else {
        const print_map *outer = p->map;
        print_map m = {.outer = outer};
        TRY(print_select_body(p, q, &m));
        TRY(print_order(p, q, true));
        p->map = outer;
    }
    print_limit(p, q);
    return SILT_OK;
}

static silt_status print_set(printer *p, const query *q) {
    static const char *const words[] = {"", " UNION ", " INTERSECT ", " EXCEPT "};
    bool wrapped = q->n_order_by || q->limit || q->offset;
    if (wrapped) buf_append_z(p->out, "SELECT * FROM (");
    buf_append_char(p->out, '(');
    TRY(print_query(p, q->left));
    buf_append_char(p->out, ')');
    buf_append_z(p->out, words[q->set]);
    if (q->set_all) buf_append_z(p->out, "ALL ");
    buf_append_char(p->out, '(');
    TRY(print_query(p, q->right));
    buf_append_char(p->out, ')');
    if (!wrapped) return SILT_OK;
    buf_printf(p->out, ") AS r%u", q->id);
    TRY(print_order(p, q, false));
    print_limit(p, q);
    return SILT_OK;
}

static silt_status print_ctes(printer *p, const query *q) {
    for (size_t i = 0; i < q->n_ctes; i++) {
        const cte_def *c = &q->ctes[i];
        buf_append_z(p->out, i ? ", " : q->recursive ? "WITH RECURSIVE " : "WITH ");
        buf_printf(p->out, "w%u(", c->id);
        for (size_t k = 0; k < c->body->n_columns; k++) buf_printf(p->out, "%sc%zu", k ? ", " : "", k);
        buf_append_z(p->out, ") AS (");
        TRY(print_query(p, c->body));
        buf_append_char(p->out, ')');
    }
    if (q->n_ctes) buf_append_char(p->out, ' ');
    return SILT_OK;
}

silt_status print_query(printer *p, const query *q) {
    TRY(print_ctes(p, q));
    return q->set == SET_NONE ? print_select(p, q) : print_set(p, q);
}
