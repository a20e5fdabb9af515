/*
 * Asking the data: files of one schema as a table source of their own, whose columns are the few that are wanted, read through the one scan node that also reads tables; grouped by file.
 */
#include <stdio.h>

#include "expr/parser.h"
#include "ops/maintain/convert_stats.h"
#include "ops/query_values.h"

/* ---- the source ---- */

typedef struct listed_source {
    table_source base;
    const scan_file *files;
    size_t n_files;
} listed_source;

static silt_status listed_scan(const table_source *t, const predicate *where, arena *a, table_scan *out, silt_error *err) {
    (void)a;
    (void)err;
    const listed_source *s = (const listed_source *)t;
    *out = (table_scan){.files = s->files, .n_files = s->n_files, .total_files = s->n_files, .used = where};
    return SILT_OK;
}

static bool listed_row_count(const table_source *t, int64_t *out) {
    (void)t;
    (void)out;
    return false; /* the files are to be read */
}

static bool listed_bounds(const table_source *t, column_path column, arena *a, value *out_min, value *out_max) {
    (void)t;
    (void)column;
    (void)a;
    (void)out_min;
    (void)out_max;
    return false;
}

static void listed_release(table_source *t) { (void)t; } /* of the operation's arena */

static const table_source_ops listed_ops = {.scan = listed_scan, .row_count = listed_row_count, .column_bounds = listed_bounds, .release = listed_release};

static silt_status make_source(const op *o, const convert_files *f, const size_t *files, size_t n, const data_type *schema, table_source **out) {
    listed_source *s = ARENA_NEW(o->a, listed_source);
    scan_file *list = ARENA_ARRAY(o->a, n + 1, scan_file);
    if (!s || !list) return error_no_memory(o->err);
    for (size_t i = 0; i < n; i++) {
        const convert_file *file = &f->files[files[i]];
        list[i] = (scan_file){.path = arena_printf(o->a, "%.*s/%.*s", STR_ARG(f->root), STR_ARG(file->path)),
                              .store = f->store,
                              .size_bytes = file->size_bytes,
                              .num_records = file->rows,
                              .base_row_id = -1,
                              .default_row_commit_version = -1,
                              .modified_ms = file->modified_ms,
                              .index = i};
        if (str_is_null(list[i].path)) return error_no_memory(o->err);
    }
    s->base = (table_source){.ops = &listed_ops, .schema = schema, .match = MATCH_BY_NAME, .description = f->root, .format = STR("parquet"), .location = f->root, .version = -1};
    s->files = list;
    s->n_files = n;
    *out = &s->base;
    return SILT_OK;
}

/* ---- the columns ---- */

/* The type with nothing in it but the wanted fields; they keep the files' names. */
static silt_status prune(const op *o, const data_type *type, const slot_column **wanted, size_t n, size_t depth, const data_type **out) {
    *out = type;
    if (type->id != TYPE_STRUCT || n == 0 || wanted[0]->depth <= depth) return SILT_OK;
    field *fields = ARENA_ARRAY(o->a, type->n_fields + 1, field);
    const slot_column **inner = ARENA_ARRAY(o->a, n + 1, const slot_column *);
    size_t count = 0;
    if (!fields || !inner) return error_no_memory(o->err);
    for (size_t i = 0; i < type->n_fields; i++) {
        size_t m = 0;
        for (size_t k = 0; k < n; k++)
            if (wanted[k]->path[depth] == i) inner[m++] = wanted[k];
        if (m == 0) continue;
        fields[count] = type->fields[i];
        TRY(prune(o, type->fields[i].type, inner, m, depth + 1, &fields[count].type));
        count++;
    }
    *out = type_struct(o->a, fields, count);
    return *out ? SILT_OK : error_no_memory(o->err);
}

/* A table type c0, c1, … of the wanted top-level columns, read by their own names. */
static silt_status source_schema(const op *o, const data_type *own, const slot_column **wanted, size_t n, const data_type **out, uint32_t **out_column) {
    const data_type *pruned;
    TRY(prune(o, own, wanted, n, 0, &pruned));
    field *fields = ARENA_ARRAY(o->a, pruned->n_fields + 1, field);
    uint32_t *column = ARENA_ARRAY(o->a, own->n_fields + 1, uint32_t);
    if (!fields || !column) return error_no_memory(o->err);
    for (size_t i = 0; i < pruned->n_fields; i++) {
        fields[i] = pruned->fields[i];
        fields[i].physical_name = pruned->fields[i].name;
        fields[i].name = arena_printf(o->a, "c%zu", i);
        if (str_is_null(fields[i].name)) return error_no_memory(o->err);
        for (size_t k = 0; k < own->n_fields; k++)
            if (str_eq(own->fields[k].name, pruned->fields[i].name)) column[k] = (uint32_t)i;
    }
    *out = type_struct(o->a, fields, pruned->n_fields);
    *out_column = column;
    return *out ? SILT_OK : error_no_memory(o->err);
}

/* c3.`a`.`b` */
static void write_reference(buf *sql, const data_type *own, const slot_column *c, const uint32_t *column) {
    const data_type *t = own->fields[c->path[0]].type;
    buf_printf(sql, "c%u", column[c->path[0]]);
    for (size_t d = 1; d < c->depth; d++) {
        buf_append_z(sql, ".`");
        str name = t->fields[c->path[d]].name;
        for (size_t i = 0; i < name.len; i++) {
            buf_append_char(sql, name.ptr[i]);
            if (name.ptr[i] == '`') buf_append_char(sql, '`');
        }
        buf_append_char(sql, '`');
        t = t->fields[c->path[d]].type;
    }
}

static void write_item(buf *sql, const char *before, const data_type *own, const slot_column *c, const uint32_t *column, const char *after) {
    buf_append_z(sql, before);
    write_reference(sql, own, c, column);
    buf_append_z(sql, after);
}

/* ---- the query ---- */

static silt_status run_over(const op *o, str text, table_source *source, query_values *out) {
    parser p;
    query *q;
    relation *rel = ARENA_NEW(o->a, relation);
    if (!rel) return error_no_memory(o->err);
    *rel = (relation){.kind = REL_TABLE, .alias = STR("files"), .sample_percent = -1, .sample_rows = -1, .source = source, .needs_row_id = true};
    TRY(parser_init(&p, text, o->a, o->err));
    TRY(parser_query(&p, &q));
    q->from = rel;
    bind_env env = *o->env->bind;
    env.source_text = text;
    TRY(query_bind(q, &env, o->a, o->err));
    return ops_query_values(o, q, out);
}

typedef struct wanted_slots {
    const slot_column **columns;
    size_t *slots;
    size_t n;
    const data_type *own; /* the files' type */
} wanted_slots;

static silt_status find_wanted(const op *o, const stats_plan *plan, const slot_column *columns, const bool *wanted, wanted_slots *out) {
    out->columns = ARENA_ARRAY(o->a, plan->n_slots + 1, const slot_column *);
    out->slots = ARENA_ARRAY(o->a, plan->n_slots + 1, size_t);
    if (!out->columns || !out->slots) return error_no_memory(o->err);
    for (size_t s = 0; s < plan->n_slots; s++) {
        if (!wanted[s] || columns[s].is_missing) continue;
        out->slots[out->n] = s;
        out->columns[out->n++] = &columns[s];
    }
    return SILT_OK;
}

/* Of texts a little more comes back than a bound keeps. */
static str scan_text(const op *o, const stats_plan *plan, const wanted_slots *w, const uint32_t *column) {
    buf sql;
    buf_init(&sql, BUF_MAX_DEFAULT);
    char cut[48];
    snprintf(cut, sizeof cut, "), 1, %zu)", 2 * plan->prefix + 2);
    buf_append_z(&sql, "SELECT files.silt_file, count(1)");
    for (size_t i = 0; i < w->n; i++) {
        bool is_bounded = plan->slots[w->slots[i]].is_bounded, is_text = w->columns[i]->type->id == TYPE_STRING;
        write_item(&sql, ", count(", w->own, w->columns[i], column, ")");
        if (!is_bounded) continue;
        write_item(&sql, is_text ? ", substring(min(" : ", min(", w->own, w->columns[i], column, is_text ? cut : ")");
        write_item(&sql, is_text ? ", substring(max(" : ", max(", w->own, w->columns[i], column, is_text ? cut : ")");
    }
    buf_append_z(&sql, " FROM files GROUP BY files.silt_file");
    return buf_take(&sql, o->a);
}

/* The files' own integers may be narrower than the table's: the values are the same. */
static void take_row(const stats_plan *plan, const wanted_slots *w, const value *row, slot_stats *stats) {
    int64_t rows = row[1].as.i64;
    size_t at = 2;
    for (size_t i = 0; i < w->n; i++) {
        const stats_slot *slot = &plan->slots[w->slots[i]];
        slot_stats *s = &stats[w->slots[i]];
        *s = (slot_stats){.nulls = rows - row[at++].as.i64};
        if (!slot->is_bounded) continue;
        s->min = row[at++];
        s->max = row[at++];
        s->has_bounds = !s->min.is_null && !s->max.is_null;
        s->min.type = s->max.type = slot->type;
    }
}

silt_status convert_scan(const op *o, const convert_files *f, const stats_plan *plan, const slot_column *columns, const size_t *files, size_t n,
                         const bool *wanted, slot_stats *out) {
    wanted_slots w = {.own = f->variants[f->files[files[0]].variant].type};
    const data_type *schema;
    uint32_t *column;
    table_source *source;
    query_values rows;
    TRY(find_wanted(o, plan, columns, wanted, &w));
    if (w.n == 0) return SILT_OK;
    TRY(source_schema(o, w.own, w.columns, w.n, &schema, &column));
    TRY(make_source(o, f, files, n, schema, &source));
    str text = scan_text(o, plan, &w, column);
    if (str_is_null(text)) return error_no_memory(o->err);
    TRY(run_over(o, text, source, &rows));
    for (size_t i = 0; i < rows.n; i += rows.n_columns) {
        int64_t file = rows.items[i].as.i64;
        if (file >= 0 && (size_t)file < n) take_row(plan, &w, &rows.items[i], &out[(size_t)file * plan->n_slots]);
    }
    return SILT_OK;
}

#define COUNT_BATCH 8192

static silt_status count_batch(const op *o, const convert_files *f, const size_t *files, size_t n, int64_t *counts) {
    table_source *source;
    query_values rows;
    const data_type *schema = type_struct(o->a, NULL, 0);
    if (!schema) return error_no_memory(o->err);
    TRY(make_source(o, f, files, n, schema, &source));
    TRY(run_over(o, STR("SELECT files.silt_file, count(1) FROM files GROUP BY files.silt_file"), source, &rows));
    for (size_t i = 0; i < rows.n; i += rows.n_columns) {
        int64_t file = rows.items[i].as.i64;
        if (file >= 0 && (size_t)file < n) counts[files[file]] = rows.items[i + 1].as.i64;
    }
    return SILT_OK;
}

silt_status convert_count_rows(const op *o, const convert_files *f, int64_t **out) {
    int64_t *counts = ARENA_ARRAY(o->a, f->n_files + 1, int64_t);
    size_t *files = ARENA_ARRAY(o->a, COUNT_BATCH, size_t);
    arena *batch = arena_new();
    op inner = {.env = o->env, .a = batch, .err = o->err};
    silt_status status = counts && files && batch ? SILT_OK : error_no_memory(o->err);
    for (size_t i = 0; status == SILT_OK && i < f->n_files;) {
        size_t n = 0;
        for (; i < f->n_files && n < COUNT_BATCH; i++)
            if (!f->files[i].is_skipped) files[n++] = i;
        if (n) status = count_batch(&inner, f, files, n, counts);
        arena_reset(batch);
    }
    arena_free(batch);
    *out = counts;
    return status;
}
