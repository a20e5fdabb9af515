/* One scan of the chosen files through the source that shows only those, one write, removes and adds that say that no row has changed (PROTOCOL.md "Add File": dataChange). */
#include "ops/file_rewrite.h"

#include <stdlib.h>

#include "base/uri.h"
#include "delta/properties.h"

/* The columns of the target, then the two of the row ids as the change has them. */
static silt_status row_schema(const file_rewrite *r, const data_type **out) {
    const data_type *read = r->change.row_schema, *write = r->target.schema;
    size_t n = write->n_fields, more = read->n_fields - r->read.schema->n_fields;
    field *fields = ARENA_ARRAY(r->o->a, n + more + 1, field);
    if (!fields) return error_no_memory(r->o->err);
    memcpy(fields, write->fields, n * sizeof *fields);
    if (more) memcpy(fields + n, read->fields + r->read.schema->n_fields, more * sizeof *fields);
    *out = type_struct(r->o->a, fields, n + more);
    return *out ? SILT_OK : error_no_memory(r->o->err);
}

static silt_status write_rows(file_rewrite *r) {
    const op *o = r->o;
    relation *rows;
    query *q;
    write_options options = {0};
    TRY(row_change_rows(&r->change, r->files, STR_NULL, &rows));
    TRY(row_change_select(&r->change, rows, NULL, &q));
    TRY(expr_push_predicates(q, o->env->bind, o->a, o->err));
    TRY(ops_write_plan(o, &r->target, r->root, &options, &r->spec));
    TRY(row_schema(r, &r->spec.schema));
    r->spec.n_extra_columns = r->spec.schema->n_fields - r->target.schema->n_fields;
    if (o->env->progress) o->env->progress(o->env->progress_ctx, "writing data files anew", -1);
    TRY(engine_write(o->env->engine, q, o->env->bind, &r->spec, o->a, &r->written, o->err));
    r->has_written = true;
    return SILT_OK;
}

static silt_status stage_adds(file_rewrite *r, delta_txn *txn) {
    const op *o = r->o;
    for (size_t i = 0; i < r->written.n_files; i++) {
        const written_file *f = &r->written.files[i];
        delta_add add = {.path = uri_encode_path(f->path, o->a),
                         .size_bytes = f->size_bytes,
                         .modification_time_ms = f->modified_ms,
                         .stats = f->stats,
                         .dv = {.offset = -1},
                         .base_row_id = -1,
                         .default_row_commit_version = -1};
        if (str_is_null(add.path)) return error_no_memory(o->err);
        TRY(ops_write_partition_values(o, &r->target, f, &add.partition_values));
        TRY(delta_txn_add(txn, &add, o->err));
    }
    return SILT_OK;
}

silt_status file_rewrite_apply(file_rewrite *r, delta_txn *txn) {
    const op *o = r->o;
    r->change = (row_change){.o = o, .table_name = r->table_name, .root = r->root, .snapshot = r->snapshot, .txn = txn, .target = r->read, .whole_files = r->files};
    TRY(row_change_plan(&r->change));
    if (r->change.n_files == 0) return SILT_OK;
    TRY(write_rows(r));
    for (size_t i = 0; i < r->change.n_files; i++) TRY(delta_txn_remove_file(txn, &r->change.files[i].add, false, o->err));
    return stage_adds(r, txn);
}

void file_rewrite_discard(file_rewrite *r) {
    if (r->has_written) engine_write_discard(&r->spec, &r->written);
    r->has_written = false;
}

void file_rewrite_end(file_rewrite *r) {
    if (r->change.o) row_change_end(&r->change);
}

str file_rewrite_tags(const write_target *t) {
    bool tracked = delta_protocol_has(&t->protocol, "rowTracking") && delta_config_bool(&t->metadata.configuration, "delta.enableRowTracking");
    return tracked ? STR("{\"delta.rowTracking.preserved\":\"true\"}") : STR_NULL;
}

static int by_size(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

str file_rewrite_metrics(const file_rewrite *r) {
    size_t n = r->written.n_files;
    int64_t *sizes = ARENA_ARRAY(r->o->a, n + 1, int64_t); /* zeroed: a single 0 where nothing was written */
    json_object j;
    if (!sizes) return STR_NULL;
    for (size_t i = 0; i < n; i++) sizes[i] = r->written.files[i].size_bytes;
    qsort(sizes, n, sizeof *sizes, by_size);
    ops_json_object_begin(&j);
    ops_json_object_count(&j, "numRemovedFiles", (int64_t)r->change.n_files);
    ops_json_object_count(&j, "numRemovedBytes", r->change.counts.bytes_removed);
    ops_json_object_count(&j, "p25FileSize", sizes[n / 4]);
    ops_json_object_count(&j, "numDeletionVectorsRemoved", r->change.counts.dvs_removed);
    ops_json_object_count(&j, "minFileSize", sizes[0]);
    ops_json_object_count(&j, "p75FileSize", sizes[n * 3 / 4]);
    ops_json_object_count(&j, "p50FileSize", sizes[n / 2]);
    ops_json_object_count(&j, "numAddedBytes", r->written.bytes);
    ops_json_object_count(&j, "numAddedFiles", (int64_t)n);
    ops_json_object_count(&j, "maxFileSize", sizes[n ? n - 1 : 0]);
    return ops_json_object_end(&j, r->o->a);
}
