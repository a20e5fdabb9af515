/*
 * SYNC IDENTITY: rows that were inserted with values of their own may be ahead of the column's high water mark. The mark is set to the value of the column's sequence
 * (start + k · step) that covers them; it never goes back.
 */
#include "ops/alter_run.h"

typedef struct identity {
    int64_t start, step, mark;
    bool has_mark;
} identity;

static bool number(const field *f, const char *key, arena *a, int64_t *out) {
    const json_node *node = field_metadata_get(f, key, a);
    return node && json_node_i64(node, out);
}

static bool read_identity(const field *f, arena *a, identity *out) {
    out->has_mark = number(f, "delta.identity.highWaterMark", a, &out->mark);
    return number(f, "delta.identity.start", a, &out->start) && number(f, "delta.identity.step", a, &out->step) && out->step != 0;
}

/* SELECT max(column) FROM table, or min where the sequence goes down. */
static silt_status extreme_query(const alter_run *run, table_source *source, size_t column, bool down, query **out) {
    const op *o = run->o;
    relation *rows;
    expr *e;
    const field f = field_make(STR("extreme"), &type_long, true);
    const data_type *schema = type_struct(o->a, &f, 1);
    expr **items = ARENA_ARRAY(o->a, 1, expr *);
    if (!schema || !items) return error_no_memory(o->err);
    TRY(ops_rows_of_source(o, source, false, STR_NULL, &rows));
    TRY(ops_rows_name(o, rows, column, &e));
    TRY(ops_tree_call(o, down ? "min" : "max", e, NULL, &e));
    TRY(ops_rows_bind(o, rows, &column, 1, e, &items[0]));
    TRY(ops_rows_select(o, rows, items, schema, out));
    (*out)->has_aggregates = true;
    return expr_push_predicates(*out, o->env->bind, o->a, o->err);
}

static silt_status first_value(const op *o, query *q, bool *out_found, int64_t *out) {
    engine_result *rows;
    struct ArrowArray batch;
    TRY(engine_run(o->env->engine, q, o->env->bind, &rows, o->err));
    silt_status status = engine_result_next(rows, &batch, o->err);
    *out_found = false;
    if (status == SILT_OK && batch.release) {
        const struct ArrowArray *column = batch.children[0];
        const uint8_t *valid = column->buffers[0];
        *out_found = batch.length == 1 && (!valid || ((valid[column->offset / 8] >> (column->offset % 8)) & 1));
        if (*out_found) *out = ((const int64_t *)column->buffers[1])[column->offset];
        batch.release(&batch);
    }
    engine_result_free(rows);
    return status;
}

static silt_status find_extreme(const alter_run *run, size_t column, bool down, bool *out_found, int64_t *out) {
    table_source *source;
    query *q;
    TRY(delta_table_source(run->snapshot, &source, run->o->err));
    silt_status status = extreme_query(run, source, column, down, &q);
    if (status == SILT_OK) status = first_value(run->o, q, out_found, out);
    source->ops->release(source);
    return status;
}

/* The first value of the sequence at or behind `v`, in its direction; false where BIGINT has none. */
static bool cover(const identity *i, int64_t v, int64_t *out) {
    bool behind = i->step > 0 ? v <= i->start : v >= i->start;
    *out = i->start;
    if (behind) return v == i->start; /* the sequence has not begun yet: nothing to cover */
    __int128 distance = (__int128)v - i->start, steps = distance / i->step;
    if (steps * i->step != distance) steps++;
    __int128 covered = i->start + steps * i->step;
    *out = (int64_t)covered;
    return covered <= INT64_MAX && covered >= INT64_MIN;
}

static silt_status set_mark(alter_run *run, size_t column, int64_t mark) {
    const op *o = run->o;
    field f = run->target.schema->fields[column];
    str text = arena_printf(o->a, "%lld", (long long)mark);
    schema_path path = {.steps = {{STEP_FIELD, column}}, .depth = 1};
    f.metadata = str_is_null(text) ? STR_NULL : field_metadata_set(f.metadata, "delta.identity.highWaterMark", text, o->a);
    const data_type *schema = str_is_null(f.metadata) ? NULL : schema_replace_field(run->target.schema, path.steps, 1, &f, o->a);
    if (!schema) return error_no_memory(o->err);
    run->target.schema = run->target.metadata.schema = schema;
    run->target.metadata.schema_json = STR_NULL;
    return SILT_OK;
}

static silt_status parameters(alter_run *run, size_t column) {
    const field *f = &run->target.schema->fields[column];
    buf text;
    json_object j;
    buf_init(&text, BUF_MAX_DEFAULT);
    alter_column_json(&text, f->name, f);
    ops_json_object_begin(&j);
    if (!buf_ok(&text)) j.text.failed = true;
    ops_json_object_str(&j, "column", buf_str(&text));
    run->parameters = ops_json_object_end(&j, run->o->a);
    buf_dispose(&text);
    return str_is_null(run->parameters) ? error_no_memory(run->o->err) : SILT_OK;
}

silt_status alter_sync_identity(alter_run *run) {
    const op *o = run->o;
    name_parts name = run->spec->columns[0].path;
    identity i;
    int64_t extreme, mark;
    bool found;
    int at = schema_find(run->target.schema, name.parts[0]);
    if (at < 0) return err_UNRESOLVED_COLUMN(o->err, name.parts[0]);
    size_t column = (size_t)at;
    if (name.count > 1 || !read_identity(&run->target.schema->fields[column], o->a, &i)) return err_DELTA_IDENTITY_COLUMNS_ALTER_NON_IDENTITY_COLUMN(o->err);
    TRY(find_extreme(run, column, i.step < 0, &found, &extreme));
    bool ahead = found && cover(&i, extreme, &mark);
    if (ahead && i.has_mark) ahead = i.step > 0 ? mark > i.mark : mark < i.mark;
    if (ahead) TRY(set_mark(run, column, mark));
    run->target.metadata_changed = run->rewrites = true;
    run->operation = "CHANGE COLUMN";
    run->tags = STR("{\"delta.identity.schemaUpdate\":\"true\"}");
    return parameters(run, column);
}
