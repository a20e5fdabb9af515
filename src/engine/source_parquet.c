/** parquet.`path`: the scan node's own source of files, with their folders' partition values and pruning by them. */
#include "engine/source_file.h"
#include "table/parquet_fetch.h"
#include "table/stats.h"

static silt_status scan(const table_source *t, const predicate *where, arena *a, table_scan *out, silt_error *err) {
    const file_source *s = (const file_source *)t;
    scan_file *kept = ARENA_ARRAY(a, s->list.n_files + 1, scan_file);
    if (!kept) return error_no_memory(err);
    *out = (table_scan){.files = kept, .total_files = s->list.n_files, .used = where};
    for (size_t i = 0; i < s->list.n_files; i++) {
        out->total_bytes += s->files[i].size_bytes;
        file_stats known;
        stats_source stats;
        file_stats_parse(STR_NULL, t->schema, a, &known);
        file_stats_set_partition(&known, t->partition_columns, t->n_partition_columns, s->files[i].partition);
        file_stats_source(&known, &stats);
        if (where && t->n_partition_columns && !predicate_may_match(where, &stats)) {
            out->pruned_by_partition++;
            continue;
        }
        kept[out->n_files++] = s->files[i];
        out->read_bytes += s->files[i].size_bytes;
    }
    return SILT_OK;
}

static const table_source_ops ops = {
    .scan = scan, .row_count = own_source_row_count, .column_bounds = own_source_bounds, .release = file_source_release};

/* ---- schema ---- */

static silt_status add_columns(arena *a, const data_type *more, field **fields, size_t *n, size_t *capacity, silt_error *err) {
    for (size_t i = 0; i < more->n_fields; i++) {
        const field *f = &more->fields[i];
        const data_type known = {.id = TYPE_STRUCT, .fields = *fields, .n_fields = *n};
        int found = schema_find(&known, f->name);
        if (found < 0) {
            if (!ARENA_PUSH(a, *fields, *n, *capacity, *f)) return error_no_memory(err);
        } else if (!type_equal((*fields)[found].type, f->type)) {
            return err_DELTA_FAILED_TO_MERGE_FIELDS(err, f->name, type_sql((*fields)[found].type, a), type_sql(f->type, a));
        }
    }
    return SILT_OK;
}

/* Where its footer can be read. */
static silt_status find_local(const file_source *s, const listed_file *f, str *out, silt_error *err) {
    parquet_want want = {.path = f->path, .size_bytes = f->size_bytes, .tag = f->tag};
    if (f->store) TRY(parquet_fetch_footers(f->store, &want, 1, s->own.engine->cancel, s->arena, NULL, err));
    *out = f->store ? want.local : f->local;
    return SILT_OK;
}

/* Of the first file; of all with mergeSchema. */
static silt_status infer(file_source *s, const data_type **out, silt_error *err) {
    bool merge;
    TRY(source_option_bool(&s->options, "mergeSchema", false, &merge, err));
    parquet_service *service = engine_parquet(s->own.engine);
    field *fields = NULL;
    size_t n = 0, capacity = 0;
    for (size_t i = 0; i < (merge ? s->list.n_files : 1); i++) {
        const data_type *found;
        str local;
        TRY(find_local(s, &s->list.files[i], &local, err));
        silt_status status = service->read_schema(service, local, s->arena, &found, err);
        const listed_file *file = &s->list.files[i];
        if (status != SILT_OK) return file->store ? engine_failure_of_copy(status, file->store, file->path, local, err) : status;
        TRY(add_columns(s->arena, found, &fields, &n, &capacity, err));
    }
    *out = type_struct(s->arena, fields, n);
    return *out ? SILT_OK : error_no_memory(err);
}

silt_status parquet_source_init(file_source *s, const data_type *declared, silt_error *err) {
    const data_type *columns = declared;
    if (!columns && s->list.n_files == 0) return err_UNABLE_TO_INFER_SCHEMA(err, STR("Parquet"));
    if (!columns) TRY(infer(s, &columns, err));
    TRY(file_source_set_schema(s, columns, declared != NULL, err));
    TRY(store_local_open(&s->store, err));
    s->files = ARENA_ARRAY(s->arena, s->list.n_files + 1, scan_file);
    if (!s->files) return error_no_memory(err);
    for (size_t i = 0; i < s->list.n_files; i++)
        s->files[i] = (scan_file){.path = s->list.files[i].path,
                                  .store = s->list.files[i].store ? s->list.files[i].store : s->store,
                                  .tag = s->list.files[i].tag,
                                  .size_bytes = s->list.files[i].size_bytes,
                                  .num_records = -1,
                                  .base_row_id = -1,
                                  .default_row_commit_version = -1,
                                  .modified_ms = s->list.files[i].modified_ms,
                                  .partition = s->list.values[i],
                                  .index = i};
    s->own.base.ops = &ops;
    return SILT_OK;
}
