/*
 * Before: rows by footer, and rows as reading finds them. After: rows of the table by its partition columns, read through the log. Partitions are told apart by their values, not by
 * the texts of their folders: 7 and 07 are one partition of an integer column.
 */
#include <stdlib.h>

#include "base/uri.h"
#include "expr/parser.h"
#include "ops/maintain/convert_stats.h"
#include "ops/maintain/convert_verify.h"
#include "ops/query_values.h"

/* "p=1/q=b" of typed values, as a folder would be called. */
static silt_status partition_name(const op *o, const field *columns, size_t n, const value *values, str *out) {
    buf b;
    buf_init(&b, BUF_MAX_DEFAULT);
    for (size_t i = 0; i < n; i++) {
        if (i) buf_append_char(&b, '/');
        partition_folder_write(&b, columns[i].name, &values[i], o->a);
    }
    *out = buf_take(&b, o->a);
    return str_is_null(*out) ? error_no_memory(o->err) : SILT_OK;
}

static silt_status folder_name(const op *o, const convert_folder *folder, const field *columns, size_t n, str *out) {
    value *values = ARENA_ARRAY(o->a, n + 1, value);
    if (!values) return error_no_memory(o->err);
    for (size_t i = 0; i < n; i++) {
        str text = folder->values.values[i];
        TRY(partition_value_parse(text, str_is_null(text), columns[i].type, 0, o->a, &values[i], o->err));
        if (columns[i].type->id == TYPE_STRING && values[i].is_null == false && values[i].as.bytes.len == 0) values[i].is_null = true;
    }
    return partition_name(o, columns, n, values, out);
}

static int by_partition(const void *a, const void *b) { return str_cmp(((const convert_count *)a)->partition, ((const convert_count *)b)->partition); }

/* Equal names become one. */
static size_t join_counts(convert_count *counts, size_t n) {
    size_t kept = 0;
    if (n > 1) qsort(counts, n, sizeof *counts, by_partition);
    for (size_t i = 0; i < n; i++) {
        if (kept > 0 && str_eq(counts[kept - 1].partition, counts[i].partition)) {
            counts[kept - 1].before += counts[i].before;
            counts[kept - 1].after += counts[i].after;
        } else {
            counts[kept++] = counts[i];
        }
    }
    return kept;
}

silt_status convert_verify_before(const op *o, const convert_files *f, const field *partition, size_t n, convert_result *out) {
    int64_t *found;
    convert_count *counts = ARENA_ARRAY(o->a, f->n_folders + 1, convert_count);
    if (!counts) return error_no_memory(o->err);
    if (o->env->progress) o->env->progress(o->env->progress_ctx, "counting rows of the files", -1);
    TRY(convert_count_rows(o, f, &found));
    for (size_t i = 0; i < f->n_folders; i++) TRY(folder_name(o, &f->folders[i], partition, n, &counts[i].partition));
    for (size_t i = 0; i < f->n_files; i++) {
        const convert_file *file = &f->files[i];
        if (file->is_skipped) continue;
        if (found[i] != file->rows) return err_CONVERT_COUNTS_DIFFER(o->err, file->path, file->rows, found[i], "nothing was committed");
        counts[file->folder].before += file->rows;
    }
    out->counts = counts;
    out->n_counts = join_counts(counts, f->n_folders);
    return SILT_OK;
}

/* ---- after ---- */

static silt_status count_table(const op *o, const delta_snapshot *s, query_values *out) {
    const delta_metadata *m = delta_snapshot_metadata(s);
    table_source *source;
    relation *rel;
    query *q;
    parser p;
    buf sql;
    TRY(delta_table_source(s, &source, o->err));
    buf_init(&sql, BUF_MAX_DEFAULT);
    buf_append_z(&sql, "SELECT ");
    for (size_t i = 0; i < m->n_partition_columns; i++) {
        identifier_write(&sql, m->partition_columns[i]);
        buf_append_z(&sql, ", ");
    }
    buf_append_z(&sql, "count(1) FROM files");
    if (m->n_partition_columns) buf_append_z(&sql, " GROUP BY ALL");
    str text = buf_take(&sql, o->a);
    silt_status status = str_is_null(text) ? error_no_memory(o->err) : parser_init(&p, text, o->a, o->err);
    if (status == SILT_OK) status = parser_query(&p, &q);
    rel = ARENA_NEW(o->a, relation);
    if (status == SILT_OK && !rel) status = error_no_memory(o->err);
    if (status == SILT_OK) {
        *rel = (relation){.kind = REL_TABLE, .sample_percent = -1, .sample_rows = -1, .source = source};
        q->from = rel;
        bind_env env = *o->env->bind;
        env.source_text = text;
        status = query_bind(q, &env, o->a, o->err);
    }
    if (status == SILT_OK) status = ops_query_values(o, q, out);
    source->ops->release(source);
    return status;
}

static silt_status take_counts(const op *o, const delta_snapshot *s, const query_values *rows, convert_count **out, size_t *out_n) {
    const delta_metadata *m = delta_snapshot_metadata(s);
    size_t n_columns = m->n_partition_columns, n = rows->n / rows->n_columns;
    field *columns = ARENA_ARRAY(o->a, n_columns + 1, field);
    convert_count *counts = ARENA_ARRAY(o->a, n + 1, convert_count);
    if (!columns || !counts) return error_no_memory(o->err);
    for (size_t i = 0; i < n_columns; i++) columns[i] = m->schema->fields[schema_find(m->schema, m->partition_columns[i])];
    for (size_t i = 0; i < n; i++) {
        const value *row = &rows->items[i * rows->n_columns];
        TRY(partition_name(o, columns, n_columns, row, &counts[i].partition));
        counts[i].after = row[n_columns].as.i64;
    }
    *out = counts;
    *out_n = n;
    return SILT_OK;
}

static silt_status compare_counts(const op *o, convert_result *out, const convert_count *after, size_t n) {
    convert_count *all = ARENA_ARRAY(o->a, out->n_counts + n + 1, convert_count);
    if (!all) return error_no_memory(o->err);
    memcpy(all, out->counts, out->n_counts * sizeof *all);
    if (n) memcpy(all + out->n_counts, after, n * sizeof *all);
    size_t kept = join_counts(all, out->n_counts + n);
    for (size_t i = 0; i < kept; i++)
        if (all[i].before != all[i].after)
            return err_CONVERT_COUNTS_DIFFER(o->err, all[i].partition, all[i].before, all[i].after, "version 0 is committed; removing _delta_log makes it a folder of Parquet files again");
    out->counts = all;
    out->n_counts = kept;
    return SILT_OK;
}

silt_status convert_verify_after(const op *o, const convert_spec *spec, convert_result *out) {
    delta_snapshot *s;
    query_values rows;
    convert_count *after = NULL;
    size_t n = 0;
    if (o->env->progress) o->env->progress(o->env->progress_ctx, "counting rows of the table", -1);
    TRY(delta_snapshot_load(o->env->delta, spec->root, out->version, &s, o->err));
    silt_status status = count_table(o, s, &rows);
    if (status == SILT_OK) status = take_counts(o, s, &rows, &after, &n);
    if (status == SILT_OK) status = compare_counts(o, out, after, n);
    delta_snapshot_release(s);
    return status;
}
