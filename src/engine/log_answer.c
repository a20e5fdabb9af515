/**
 * Answers from the log: count(*) over a deletion vector costs 20 times the footer count, and a table of a million files is counted without opening one.
 *
 * Only shapes whose meaning is beyond doubt are taken: one table, every output an aggregate over all of its rows. The table says itself whether a number is
 * certain (row_count, column_bounds); anything else runs as a query.
 */
#include "engine/log_answer.h"

#include "engine/sources.h"

typedef enum answer_kind { ANSWER_COUNT, ANSWER_MIN, ANSWER_MAX } answer_kind;

static bool is_plain_aggregate_query(const query *q) {
    return q->set == SET_NONE && q->n_ctes == 0 && !q->distinct && q->group == GROUP_NONE && !q->having && !q->qualify &&
           !q->offset && !q->limit && q->n_order_by == 0 && !q->order_by_all && q->n_hidden_order == 0 && q->from &&
           q->from->kind == REL_TABLE && q->from->source && !engine_source_is_own(q->from->source) &&
           q->from->sample_percent < 0 && q->from->sample_rows < 0 && q->n_projections == q->n_columns && q->n_columns > 0;
}

static const expr *unnamed(const expr *e) { return e->kind == EXPR_NAMED ? e->args[0] : e; }

static bool is_row_count(const expr *call) {
    if (!str_eq_ascii_fold(call->function_name, STR("count")) || call->n_args != 1) return false;
    const expr *arg = call->args[0];
    return arg->kind == EXPR_STAR || (arg->kind == EXPR_LITERAL && !arg->literal.is_null);
}

static bool classify(const expr *e, const relation *table, answer_kind *out_kind, uint32_t *out_column) {
    if (e->kind != EXPR_CALL || e->is_distinct || e->filter || e->over || e->n_within_order) return false;
    if (is_row_count(e)) {
        *out_kind = ANSWER_COUNT;
        return true;
    }
    bool is_min = str_eq_ascii_fold(e->function_name, STR("min"));
    if ((!is_min && !str_eq_ascii_fold(e->function_name, STR("max"))) || e->n_args != 1) return false;
    const expr *arg = e->args[0];
    if (arg->kind != EXPR_COLUMN || arg->source != table || arg->outer_levels || arg->column >= table->source->schema->n_fields)
        return false;
    *out_kind = is_min ? ANSWER_MIN : ANSWER_MAX;
    *out_column = arg->column;
    return true;
}

/* Types whose bounds the log keeps exactly and whose literals DuckDB reads without loss. */
static bool has_exact_bounds(const data_type *type) {
    switch (type->id) {
        case TYPE_BYTE:
        case TYPE_SHORT:
        case TYPE_INT:
        case TYPE_LONG:
        case TYPE_DECIMAL:
        case TYPE_DATE: return true;
        default: return false;
    }
}

static void print_bound(buf *out, const value *v, const data_type *type) {
    buf_append_z(out, "CAST(");
    if (v->is_null)
        buf_append_z(out, "NULL");
    else if (type->id == TYPE_DECIMAL) {
        buf_append_char(out, '\'');
        decimal_write(out, v->as.decimal, v->type->scale);
        buf_append_char(out, '\'');
    } else if (type->id == TYPE_DATE)
        buf_printf(out, "DATE '1970-01-01' + (%lld)", (long long)v->as.i64);
    else
        buf_printf(out, "%lld", (long long)v->as.i64);
    buf_append_z(out, " AS ");
    engine_write_type(out, type, false);
    buf_append_char(out, ')');
}

static bool print_answer(running_query *r, size_t i, int64_t rows, buf *out) {
    const query *q = r->query;
    const table_source *table = q->from->source;
    answer_kind kind;
    uint32_t column;
    if (!classify(unnamed(q->projections[i]), q->from, &kind, &column)) return false;
    if (i) buf_append_z(out, ", ");
    if (kind == ANSWER_COUNT) {
        buf_printf(out, "CAST(%lld AS BIGINT)", (long long)rows);
    } else {
        value low, high;
        const data_type *type = table->schema->fields[column].type;
        if (!has_exact_bounds(type) || !type_equal(type, q->column_types[i])) return false;
        if (!table->ops->column_bounds(table, (column_path){&column, 1}, r->arena, &low, &high)) return false;
        print_bound(out, kind == ANSWER_MIN ? &low : &high, type);
    }
    buf_printf(out, " AS c%zu", i);
    return true;
}

/* ---- WHERE over partition columns ---- */

/*
 * The pruning predicate may say less than the clause (parts that it cannot express fall away), so the clause itself must be of parts that it surely expresses:
 * comparisons of partition columns with literals. That each remaining file is wholly in is then proven by asking for the opposite.
 */
static bool is_partition_column(const table_source *t, uint32_t column) {
    for (size_t i = 0; i < t->n_partition_columns; i++)
        if (t->partition_columns[i] == column) return true;
    return false;
}

static bool is_simple_type(const data_type *type) {
    return type->id == TYPE_BOOLEAN || type->id == TYPE_STRING || type->id == TYPE_DATE || type->id == TYPE_DECIMAL ||
           type_is_integral(type);
}

static bool is_simple_operand(const expr *e, const relation *rel) {
    if (e->kind == EXPR_LITERAL) return true;
    return e->kind == EXPR_COLUMN && e->source == rel && !e->outer_levels && is_simple_type(e->type) &&
           is_partition_column(rel->source, e->column);
}

static bool is_one_of(str name, const char *const *names, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (str_eqz(name, names[i])) return true;
    return false;
}

static bool is_simple_filter(const expr *e, const relation *rel) {
    static const char *const joins[] = {"and", "or", "not"};
    static const char *const tests[] = {"=", "<=>", "<>", "!=", "<", "<=", ">", ">=", "in", "isnull", "isnotnull", "between"};
    if (e->kind != EXPR_CALL) return false;
    bool is_join = is_one_of(e->function_name, joins, ARRAY_LEN(joins));
    if (!is_join && !is_one_of(e->function_name, tests, ARRAY_LEN(tests))) return false;
    for (size_t i = 0; i < e->n_args; i++)
        if (is_join ? !is_simple_filter(e->args[i], rel) : !is_simple_operand(e->args[i], rel)) return false;
    return true;
}

static bool is_certain(const predicate *p) {
    if (p->kind == PRED_UNKNOWN) return false;
    for (size_t i = 0; i < p->n_children; i++)
        if (!is_certain(p->children[i])) return false;
    return true;
}

static bool is_ascending(const table_scan *s) {
    for (size_t i = 1; i < s->n_files; i++)
        if (s->files[i].index <= s->files[i - 1].index) return false;
    return true;
}

static bool may_have_file_in_common(const table_scan *a, const table_scan *b) {
    if (!is_ascending(a) || !is_ascending(b)) return true;
    for (size_t i = 0, k = 0; i < a->n_files && k < b->n_files;) {
        if (a->files[i].index == b->files[k].index) return true;
        if (a->files[i].index < b->files[k].index)
            i++;
        else
            k++;
    }
    return false;
}

static silt_status count_filtered(running_query *r, bool *out_known, int64_t *out_rows, silt_error *err) {
    const relation *rel = r->query->from;
    const table_source *t = rel->source;
    if (!rel->where || !is_simple_filter(r->query->where, rel) || !is_certain(rel->where)) return SILT_OK;
    const predicate *children[1] = {rel->where};
    const predicate opposite = {.kind = PRED_NOT, .children = children, .n_children = 1};
    table_scan in, out;
    TRY(t->ops->scan(t, rel->where, r->arena, &in, err));
    TRY(t->ops->scan(t, &opposite, r->arena, &out, err));
    if (may_have_file_in_common(&in, &out)) return SILT_OK;
    int64_t rows = 0;
    for (size_t i = 0; i < in.n_files; i++) {
        if (in.files[i].num_records < 0) return SILT_OK;
        rows += in.files[i].num_records - (in.files[i].deleted ? (int64_t)bitmap_cardinality(in.files[i].deleted) : 0);
    }
    *out_rows = rows;
    *out_known = true;
    return SILT_OK;
}

static silt_status count_rows(running_query *r, bool *out_known, int64_t *out_rows, silt_error *err) {
    const table_source *t = r->query->from->source;
    *out_known = false;
    if (r->query->where) return count_filtered(r, out_known, out_rows, err);
    *out_known = t->ops->row_count(t, out_rows);
    return SILT_OK;
}

static silt_status write_report(running_query *r, scan_report **out_reports, size_t *out_count, silt_error *err) {
    const table_source *t = r->query->from->source;
    scan_report *report = ARENA_NEW(r->arena, scan_report);
    if (!report) return error_no_memory(err);
    *report = (scan_report){.description = t->description, .from_log = true};
    *out_reports = report;
    *out_count = 1;
    return SILT_OK;
}

silt_status log_answer(running_query *r, bool *out_answered, scan_report **out_reports, size_t *out_count, silt_error *err) {
    *out_answered = false;
    if (!is_plain_aggregate_query(r->query)) return SILT_OK;
    bool wants_count = false, wants_bounds = false;
    for (size_t i = 0; i < r->query->n_columns; i++) {
        answer_kind kind;
        uint32_t column;
        if (!classify(unnamed(r->query->projections[i]), r->query->from, &kind, &column)) return SILT_OK;
        if (kind == ANSWER_COUNT)
            wants_count = true;
        else
            wants_bounds = true;
    }
    if (wants_bounds && r->query->where) return SILT_OK;
    bool known = true;
    int64_t rows = 0;
    if (wants_count) TRY(count_rows(r, &known, &rows, err));
    if (!known) return SILT_OK;
    buf_append_z(&r->sql, "SELECT ");
    for (size_t i = 0; i < r->query->n_columns; i++) {
        if (print_answer(r, i, rows, &r->sql)) continue;
        buf_clear(&r->sql);
        return SILT_OK;
    }
    *out_answered = true;
    return write_report(r, out_reports, out_count, err);
}
