/*
 * Which files an overwrite removes, and what the transaction says that it read: a whole overwrite reads the whole table, one of some partitions reads those, so that
 * a concurrent writer of another partition is no conflict (notes on Delta's conflict rules). Partition values are compared as values, null equal to null: other
 * writers spell the same timestamp otherwise.
 */
#include "delta/path_set.h"
#include "ops/internal.h"
#include "table/stats.h"

typedef struct scan {
    const op *o;
    const delta_snapshot *s;
    delta_txn *txn;
    removal *out;
    arena *per_file;            /**< reset for each file */
    const value *values;        /**< wanted, one per partition column; NULL: no such test */
    const path_set *partitions; /**< wanted partitions by their key; NULL: no such test */
} scan;

static const data_type *partition_type(const delta_metadata *m, size_t i, str *out_physical) {
    int at = schema_find(m->schema, m->partition_columns[i]);
    if (at < 0) return NULL;
    *out_physical = m->schema->fields[at].physical_name;
    return m->schema->fields[at].type;
}

static silt_status file_value(const scan *c, const delta_add *add, size_t i, value *out, silt_error *err) {
    const delta_metadata *m = delta_snapshot_metadata(c->s);
    str physical, text = STR_NULL;
    const data_type *type = partition_type(m, i, &physical);
    if (!type) return err_DELTA_PARTITION_COLUMN_NOT_FOUND(err, m->partition_columns[i]);
    for (size_t k = 0; k < add->partition_values.count; k++)
        if (str_eq(add->partition_values.keys[k], physical)) text = add->partition_values.values[k];
    return partition_value_parse(text, str_is_null(text), type, c->o->env->delta->zone_offset_seconds, c->per_file, out, err);
}

static bool same_value(const value *a, const value *b) {
    bool comparable;
    if (a->is_null || b->is_null) return a->is_null && b->is_null;
    return value_compare(a, b, &comparable) == 0 && comparable;
}

/* One text for equal partitions: each value as Spark writes it, lengths in front. */
static bool append_key(buf *key, const value *v) {
    buf text;
    value zero = *v;
    if (!v->is_null && (v->type->id == TYPE_DOUBLE || v->type->id == TYPE_FLOAT) && v->as.f64 == 0)
        zero.as.f64 = 0; /* -0.0 is 0.0 */
    buf_init(&text, BUF_MAX_DEFAULT);
    bool set = partition_value_write(&text, &zero);
    if (set) {
        buf_printf(key, "%zu:", text.len);
        buf_append(key, buf_str(&text));
    } else {
        buf_append_z(key, "n:");
    }
    bool ok = buf_ok(&text) && buf_ok(key);
    buf_dispose(&text);
    return ok;
}

static silt_status in_partitions(const scan *c, const delta_add *add, bool *out, silt_error *err) {
    const delta_metadata *m = delta_snapshot_metadata(c->s);
    buf key;
    buf_init(&key, BUF_MAX_DEFAULT);
    silt_status status = SILT_OK;
    for (size_t i = 0; i < m->n_partition_columns && status == SILT_OK; i++) {
        value v;
        status = file_value(c, add, i, &v, err);
        if (status == SILT_OK && !append_key(&key, &v)) status = error_no_memory(err);
    }
    *out = status == SILT_OK && path_set_has(c->partitions, buf_str(&key));
    buf_dispose(&key);
    return status;
}

static silt_status has_values(const scan *c, const delta_add *add, bool *out, silt_error *err) {
    const delta_metadata *m = delta_snapshot_metadata(c->s);
    *out = true;
    for (size_t i = 0; i < m->n_partition_columns && *out; i++) {
        value v;
        if (!c->values[i].type) continue;
        TRY(file_value(c, add, i, &v, err));
        *out = same_value(&v, &c->values[i]);
    }
    return SILT_OK;
}

static void count_rows(const scan *c, const delta_add *add) {
    file_stats stats;
    file_stats_parse(add->stats, delta_snapshot_metadata(c->s)->schema, c->per_file, &stats);
    if (stats.num_records < 0)
        c->out->rows_known = false;
    else
        c->out->rows += stats.num_records - (add->dv.storage ? add->dv.cardinality : 0);
}

static silt_status remove_if_wanted(void *ctx, size_t index, const delta_add *add, silt_error *err) {
    const scan *c = ctx;
    bool wanted = true;
    (void)index;
    arena_reset(c->per_file);
    if (c->values) TRY(has_values(c, add, &wanted, err));
    if (c->partitions) TRY(in_partitions(c, add, &wanted, err));
    if (!wanted) return SILT_OK;
    c->out->files++;
    c->out->bytes += add->size_bytes;
    count_rows(c, add);
    return delta_txn_remove_file(c->txn, add, true, err);
}

static silt_status run_scan(scan *c) {
    *c->out = (removal){.rows_known = true};
    c->per_file = arena_new();
    if (!c->per_file) return error_no_memory(c->o->err);
    silt_status status = delta_snapshot_each_file(c->s, true, remove_if_wanted, c, c->o->err);
    arena_free(c->per_file);
    return status;
}

silt_status ops_overwrite_all(const op *o, const delta_snapshot *s, delta_txn *txn, removal *out) {
    scan c = {.o = o, .s = s, .txn = txn, .out = out};
    delta_txn_read_whole_table(txn);
    return run_scan(&c);
}

/* ---- what was read ---- */

/* column <=> value for each partition column with a value, all of them. */
static silt_status partition_predicate(const op *o, const delta_metadata *m, const value *values, const predicate **out) {
    const predicate **parts = ARENA_ARRAY(o->a, m->n_partition_columns + 1, const predicate *);
    size_t n = 0;
    if (!parts) return error_no_memory(o->err);
    for (size_t i = 0; i < m->n_partition_columns; i++) {
        if (!values[i].type) continue;
        predicate *p = ARENA_NEW(o->a, predicate);
        uint32_t *index = ARENA_NEW(o->a, uint32_t);
        if (!p || !index) return error_no_memory(o->err);
        int at = schema_find(m->schema, m->partition_columns[i]);
        if (at < 0) return err_DELTA_PARTITION_COLUMN_NOT_FOUND(o->err, m->partition_columns[i]);
        *index = (uint32_t)at;
        *p = (predicate){.kind = PRED_EQ_NULL_SAFE,
                         .column = {index, 1},
                         .column_type = m->schema->fields[at].type,
                         .literals = &values[i],
                         .n_literals = 1};
        parts[n++] = p;
    }
    predicate *all = ARENA_NEW(o->a, predicate);
    if (!all) return error_no_memory(o->err);
    *all = (predicate){.kind = n ? PRED_AND : PRED_TRUE, .children = parts, .n_children = n};
    *out = all;
    return SILT_OK;
}

silt_status ops_overwrite_partition(const op *o, const delta_snapshot *s, const value *values, delta_txn *txn, removal *out) {
    scan c = {.o = o, .s = s, .txn = txn, .out = out, .values = values};
    const predicate *read;
    TRY(partition_predicate(o, delta_snapshot_metadata(s), values, &read));
    TRY(delta_txn_read_predicate(txn, read, o->err));
    return run_scan(&c);
}

/* The partitions that the new files are in: their keys, and one predicate for them all. */
static silt_status written_partitions(const op *o, const delta_metadata *m, const write_result *written, path_set *keys,
                                      const predicate **out) {
    const predicate **parts = ARENA_ARRAY(o->a, written->n_files + 1, const predicate *);
    predicate *any = ARENA_NEW(o->a, predicate);
    size_t n = 0;
    if (!parts || !any) return error_no_memory(o->err);
    for (size_t f = 0; f < written->n_files; f++) {
        buf key;
        bool ok = true, added = false;
        buf_init(&key, BUF_MAX_DEFAULT);
        for (size_t i = 0; i < m->n_partition_columns; i++) ok = ok && append_key(&key, &written->files[f].partition[i]);
        str copy = ok ? arena_str(o->a, buf_str(&key)) : STR_NULL;
        buf_dispose(&key);
        if (str_is_null(copy) || !path_set_add(keys, copy, o->a, &added)) return error_no_memory(o->err);
        if (added) TRY(partition_predicate(o, m, written->files[f].partition, &parts[n++]));
    }
    *any = (predicate){.kind = PRED_OR, .children = parts, .n_children = n};
    *out = any;
    return SILT_OK;
}

silt_status ops_overwrite_written_partitions(const op *o, const delta_snapshot *s, const write_result *written, delta_txn *txn,
                                             removal *out) {
    path_set keys = {NULL, 0, 0};
    const predicate *read;
    scan c = {.o = o, .s = s, .txn = txn, .out = out, .partitions = &keys};
    *out = (removal){.rows_known = true};
    if (written->n_files == 0) return SILT_OK;
    TRY(written_partitions(o, delta_snapshot_metadata(s), written, &keys, &read));
    TRY(delta_txn_read_predicate(txn, read, o->err));
    return run_scan(&c);
}
