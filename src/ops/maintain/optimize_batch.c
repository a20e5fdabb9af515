/*
 * One batch of OPTIMIZE: its bins rewritten, several at a time, and one commit. All rows of a bin share their partition, so that a bin is written like an unpartitioned table
 * into the partition's folder: one file, straight from the scan, without a sort and without asking each row for its partition.
 */
#include <stdlib.h>

#include "base/uri.h"
#include "delta/path_set.h"
#include "delta/properties.h"
#include "ops/commit.h"
#include "ops/file_rewrite.h"
#include "ops/maintain/optimize_run.h"
#include "table/stats.h"

#define MAX_RETRIES 10 /* of a commit that lost against changes of metadata */

/* ---- a bin's files as a table of their own ---- */

/* The scan of the batch is planned once (its deletion vectors loaded, its partition values parsed); each bin shows its part of it. */
typedef struct bin_source {
    table_source base;
    table_scan scan;
} bin_source;

static silt_status bin_scan(const table_source *t, const predicate *where, arena *a, table_scan *out, silt_error *err) {
    (void)where, (void)a, (void)err;
    *out = ((const bin_source *)t)->scan;
    return SILT_OK;
}

static bool bin_row_count(const table_source *t, int64_t *out) {
    (void)t, (void)out;
    return false;
}

static bool bin_bounds(const table_source *t, column_path column, arena *a, value *out_min, value *out_max) {
    (void)t, (void)column, (void)a, (void)out_min, (void)out_max;
    return false;
}

static void bin_release(table_source *t) { (void)t; /* of the batch's memory */ }

static const table_source_ops bin_ops = {.scan = bin_scan, .row_count = bin_row_count, .column_bounds = bin_bounds, .release = bin_release};

/* ---- one batch ---- */

typedef struct bin_job {
    const optimize_bin *bin;
    bin_source source;
    int64_t n_rows; /* of its files by the log; -1: it does not tell, or hides some */
    query *rows;
    write_spec spec;
    curve *curve;
    str tags; /* of a cube's files */
    arena *own; /* of its writer's thread */
    write_result written;
} bin_job;

typedef struct optimize_batch {
    optimize_run *run;
    op o; /* memory of the batch */
    row_change change;
    write_target target;
    const data_type *schema; /* what is written: the columns that stand in the files */
    bool keeps_partition_columns; /* they stand in the files too, and the writer deals rows out by them */
    table_source *source;
    table_scan scan;
    size_t *slot_of; /* by position in change.files: in scan.files */
    bin_job *jobs;
    size_t n_jobs;
    file_sizes added, removed;
    int64_t dvs, dv_rows;
} optimize_batch;

static void count_size(file_sizes *s, int64_t bytes) {
    if (s->files == 0 || bytes < s->min) s->min = bytes;
    if (s->files == 0 || bytes > s->max) s->max = bytes;
    s->files++;
    s->bytes += bytes;
}

static void merge_sizes(file_sizes *into, const file_sizes *s) {
    if (s->files == 0) return;
    if (into->files == 0 || s->min < into->min) into->min = s->min;
    if (into->files == 0 || s->max > into->max) into->max = s->max;
    into->files += s->files;
    into->bytes += s->bytes;
}

/* ---- the scan ---- */

static const touched_file *find_touched(const optimize_batch *b, size_t index, size_t *out_at) {
    size_t low = 0, high = b->change.n_files;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (b->change.files[middle].index < index) low = middle + 1;
        else high = middle;
    }
    *out_at = low;
    return low < b->change.n_files && b->change.files[low].index == index ? &b->change.files[low] : NULL;
}

static void release_source(void *source) {
    table_source *t = source;
    t->ops->release(t);
}

static silt_status plan_scan(optimize_batch *b) {
    const op *o = &b->o;
    TRY(delta_table_source_files(b->run->snapshot, b->change.touched, &b->source, o->err));
    if (!arena_defer(o->a, release_source, b->source)) {
        release_source(b->source);
        return error_no_memory(o->err);
    }
    TRY(b->source->ops->scan(b->source, NULL, o->a, &b->scan, o->err));
    b->slot_of = ARENA_ARRAY(o->a, b->change.n_files + 1, size_t);
    if (!b->slot_of) return error_no_memory(o->err);
    for (size_t i = 0, at; i < b->scan.n_files; i++)
        if (find_touched(b, b->scan.files[i].index, &at)) b->slot_of[at] = i;
    return b->scan.n_files == b->change.n_files ? SILT_OK : err_INTERNAL_ERROR(o->err, "a scan without a predicate left files out");
}

static void count_rows(const optimize_batch *b, const touched_file *f, arena *scratch, int64_t *n) {
    file_stats stats;
    if (*n < 0) return;
    arena_reset(scratch);
    file_stats_parse(f->add.stats, b->target.schema, scratch, &stats);
    *n = f->add.dv.storage || stats.num_records < 0 ? -1 : *n + stats.num_records;
}

static silt_status plan_bin_source(const optimize_batch *b, arena *scratch, bin_job *j) {
    const optimize_bin *bin = j->bin;
    scan_file *files = ARENA_ARRAY(b->o.a, bin->n_files, scan_file);
    if (!files) return error_no_memory(b->o.err);
    j->source = (bin_source){.base = *b->source, .scan = {.files = files, .n_files = bin->n_files, .total_files = b->scan.total_files, .total_bytes = b->scan.total_bytes}};
    j->source.base.ops = &bin_ops;
    for (size_t i = 0, at; i < bin->n_files; i++) {
        const touched_file *f = find_touched(b, bin->files[i], &at);
        if (!f) return err_INTERNAL_ERROR(b->o.err, "a bin has a file that its batch lacks");
        files[i] = b->scan.files[b->slot_of[at]];
        j->source.scan.read_bytes += files[i].size_bytes;
        count_rows(b, f, scratch, &j->n_rows);
    }
    return SILT_OK;
}

/* ---- what is written, and where ---- */

static bool is_partition_column(const delta_metadata *m, str name) {
    for (size_t i = 0; i < m->n_partition_columns; i++)
        if (str_eq(m->partition_columns[i], name)) return true;
    return false;
}

/* change.row_schema less the partition columns, unless they stand in the files. */
static silt_status choose_columns(optimize_batch *b, expr **all, expr ***out_items) {
    const data_type *rows = b->change.row_schema;
    const delta_metadata *m = &b->target.metadata;
    field *fields = ARENA_ARRAY(b->o.a, rows->n_fields + 1, field);
    expr **items = ARENA_ARRAY(b->o.a, rows->n_fields + 1, expr *);
    size_t n = 0;
    if (!fields || !items) return error_no_memory(b->o.err);
    for (size_t i = 0; i < rows->n_fields; i++) {
        bool left_out = !b->keeps_partition_columns && i < b->target.schema->n_fields && is_partition_column(m, rows->fields[i].name);
        if (left_out) continue;
        fields[n] = rows->fields[i];
        items[n++] = all[i];
    }
    b->schema = type_struct(b->o.a, fields, n);
    *out_items = items;
    return b->schema ? SILT_OK : error_no_memory(b->o.err);
}

static silt_status order_rows(optimize_batch *b, bin_job *j, relation *rows) {
    const optimize_run *r = b->run;
    if (r->mode == OPTIMIZE_COMPACT) return SILT_OK;
    uint8_t *keep = ARENA_ARRAY(b->o.a, delta_snapshot_n_files(r->snapshot) + 1, uint8_t);
    if (!keep) return error_no_memory(b->o.err);
    for (size_t i = 0; i < j->bin->n_files; i++) keep[j->bin->files[i]] = 1;
    TRY(curve_open(&b->o, r->snapshot, keep, &r->curve, r->mode == OPTIMIZE_ZORDER ? CURVE_ZORDER : CURVE_HILBERT, &j->curve));
    if (r->mode == OPTIMIZE_CLUSTER) TRY(cluster_cube_tags(&b->o, &r->cluster, &j->tags));
    return curve_order(&b->o, j->curve, rows, &j->rows->order_by, &j->rows->n_order_by);
}

static silt_status plan_rows(optimize_batch *b, bin_job *j) {
    const op *o = &b->o;
    const data_type *columns = b->change.row_schema;
    size_t n = b->target.schema->n_fields;
    relation *rows;
    expr **all = ARENA_ARRAY(o->a, columns->n_fields + 1, expr *), **items;
    if (!all) return error_no_memory(o->err);
    TRY(ops_rows_of_source(o, &j->source.base, false, STR_NULL, &rows));
    for (size_t i = 0; i < n; i++) TRY(ops_rows_column(o, rows, i, &all[i]));
    if (b->change.has_row_ids) TRY(row_change_row_ids(&b->change, rows, &all[n], &all[n + 1]));
    TRY(choose_columns(b, all, &items));
    TRY(ops_rows_select(o, rows, items, b->schema, &j->rows));
    TRY(order_rows(b, j, rows));
    return expr_push_predicates(j->rows, o->env->bind, o->a, o->err);
}

/* "p=1/q=x", as the writer makes it of the rows themselves. */
static silt_status partition_folder(const optimize_batch *b, const optimize_bin *bin, str *out) {
    const delta_metadata *m = &b->target.metadata;
    const optimize_partition *p = &b->run->partitions[bin->partition];
    buf path;
    *out = STR_NULL;
    if (m->n_partition_columns == 0) return SILT_OK;
    buf_init(&path, BUF_MAX_DEFAULT);
    for (size_t i = 0; i < m->n_partition_columns; i++) {
        if (i) buf_append_char(&path, '/');
        partition_folder_write(&path, m->partition_columns[i], &p->values[i], b->o.a);
    }
    *out = buf_take(&path, b->o.a);
    return str_is_null(*out) ? error_no_memory(b->o.err) : SILT_OK;
}

/* Paths of columns in the narrower schema. */
static silt_status move_stats_columns(const optimize_batch *b, write_spec *spec) {
    column_path *paths = ARENA_ARRAY(b->o.a, spec->n_stats_columns + 1, column_path);
    if (!paths) return error_no_memory(b->o.err);
    for (size_t i = 0; i < spec->n_stats_columns; i++) {
        const column_path *from = &spec->stats_columns[i];
        uint32_t *index = ARENA_ARRAY(b->o.a, from->depth, uint32_t);
        if (!index) return error_no_memory(b->o.err);
        memcpy(index, from->index, from->depth * sizeof *index);
        for (uint32_t k = 0; k < from->index[0]; k++) index[0] -= is_partition_column(&b->target.metadata, b->target.schema->fields[k].name);
        paths[i] = (column_path){index, from->depth};
    }
    spec->stats_columns = paths;
    return SILT_OK;
}

/* ---- how many at once ---- */

#define MAX_PROCESSORS 4
#define SMALL_BIN      ((int64_t)64 << 20)

static int n_processors(const optimize_batch *b) {
    int n = optimize_threads(&b->o);
    return n > MAX_PROCESSORS ? MAX_PROCESSORS : n;
}

/* Many small bins, each the work of one thread: nobody waits long for the last of them. */
static bool are_small(const optimize_batch *b) {
    bool small = b->run->mode == OPTIMIZE_COMPACT && b->n_jobs >= 2 * (size_t)n_processors(b);
    for (size_t i = 0; small && i < b->n_jobs; i++) small = b->jobs[i].bin->bytes <= SMALL_BIN;
    return small;
}

/* Ordered bins sort, which takes memory and all processors by itself. Of small ones twice as many are at work as there are processors: half of them wait for the disk. */
static int n_writers(const optimize_batch *b) {
    if (b->run->mode != OPTIMIZE_COMPACT) return 1;
    return are_small(b) ? 2 * n_processors(b) : n_processors(b);
}

/* ---- the file ---- */

/* A bin of rows in no order makes one file, as Delta has it; ordered ones make files of equal size. */
static int64_t file_bytes(const optimize_batch *b, const optimize_bin *bin) {
    int64_t max = b->run->limits.max_bytes, n;
    if (b->run->mode == OPTIMIZE_COMPACT) return 0;
    n = max > 0 ? bin->bytes / max : 0;
    return n > 1 ? bin->bytes / n + 1 : 0;
}

static silt_status plan_file(optimize_batch *b, bin_job *j) {
    write_options options = {0};
    TRY(ops_write_plan(&b->o, &b->target, b->run->spec->root, &options, &j->spec));
    j->spec.schema = b->schema;
    j->spec.n_extra_columns = b->change.row_schema->n_fields - b->target.schema->n_fields;
    j->spec.any_order = b->run->mode == OPTIMIZE_COMPACT;
    j->spec.target_file_bytes = file_bytes(b, j->bin);
    j->spec.one_thread = are_small(b);
    if (b->keeps_partition_columns) return SILT_OK;
    j->spec.n_partition_columns = 0;
    if (!j->spec.random_prefix) TRY(partition_folder(b, j->bin, &j->spec.folder));
    return j->spec.has_stats_columns ? move_stats_columns(b, &j->spec) : SILT_OK;
}

/* ---- writing ---- */

static bool is_final(silt_status status) { return status == SILT_CANCELLED || status == SILT_NO_MEMORY || status == SILT_NO_SPACE; }

/*
 * With small files read as few at first. Whatever is then not as expected, an error or a number of rows that is not the log's, is found out file by file: it names the file at fault,
 * and what it reads is what a reader of the table gets.
 */
static silt_status write_bin(void *ctx, size_t i, silt_error *err) {
    const optimize_batch *b = ctx;
    bin_job *j = &b->jobs[i];
    const op *o = &b->o;
    silt_error first = {.status = SILT_OK};
    j->own = arena_new();
    if (!j->own) return error_no_memory(err);
    TRY(cancel_check(o->env->delta->cancel, err));
    j->spec.bundles_small = b->run->mode == OPTIMIZE_COMPACT && j->n_rows >= 0;
    if (j->spec.bundles_small) {
        silt_status status = engine_write(o->env->engine, j->rows, o->env->bind, &j->spec, j->own, &j->written, &first);
        if (status == SILT_OK && j->written.rows == j->n_rows) return SILT_OK;
        if (status == SILT_OK) engine_write_discard(&j->spec, &j->written);
        if (is_final(status)) {
            if (err) *err = first;
            return status;
        }
    }
    j->spec.bundles_small = false;
    return engine_write(o->env->engine, j->rows, o->env->bind, &j->spec, j->own, &j->written, err);
}

static silt_status plan_jobs(optimize_batch *b) {
    silt_status status = SILT_OK;
    arena *scratch = arena_new();
    if (!scratch) return error_no_memory(b->o.err);
    for (size_t i = 0; i < b->n_jobs && status == SILT_OK; i++) {
        status = plan_bin_source(b, scratch, &b->jobs[i]);
        if (status == SILT_OK) status = plan_rows(b, &b->jobs[i]);
        if (status == SILT_OK) status = plan_file(b, &b->jobs[i]);
    }
    arena_free(scratch);
    return status;
}

static silt_status write_bins(optimize_batch *b) {
    const op *o = &b->o;
    TRY(plan_jobs(b));
    if (o->env->progress) o->env->progress(o->env->progress_ctx, "writing data files anew", -1);
    return thread_for(n_writers(b), b->n_jobs, write_bin, b, o->err);
}

static void discard(const optimize_batch *b) {
    for (size_t i = 0; b->jobs && i < b->n_jobs; i++) engine_write_discard(&b->jobs[i].spec, &b->jobs[i].written);
}

/* ---- the commit ---- */

/* Purged files of one cube are still of that cube; of several, they are not clustered any more. */
static void stay_in_cube(const optimize_batch *b, const optimize_bin *bin, delta_add *add) {
    size_t at;
    const delta_add *first = &find_touched(b, bin->files[0], &at)->add;
    for (size_t i = 1; i < bin->n_files; i++) {
        const delta_add *other = &find_touched(b, bin->files[i], &at)->add;
        if (!str_eq(other->tags, first->tags) || !str_eq(other->clustering_provider, first->clustering_provider)) return;
    }
    add->tags = first->tags;
    add->clustering_provider = first->clustering_provider;
}

static silt_status stage_add(optimize_batch *b, const bin_job *j, written_file f, delta_txn *txn) {
    const op *o = &b->o;
    delta_add add = {.path = uri_encode_path(f.path, o->a),
                     .size_bytes = f.size_bytes,
                     .modification_time_ms = f.modified_ms,
                     .stats = f.stats,
                     .dv = {.offset = -1},
                     .base_row_id = -1,
                     .default_row_commit_version = -1};
    if (str_is_null(add.path)) return error_no_memory(o->err);
    f.partition = b->run->partitions[j->bin->partition].values;
    TRY(ops_write_partition_values(o, &b->target, &f, &add.partition_values));
    TRY(ops_iceberg_file(o, &b->target, &add));
    if (b->run->mode == OPTIMIZE_CLUSTER) {
        add.tags = j->tags;
        add.clustering_provider = STR(CLUSTER_PROVIDER);
    } else if (b->run->keeps_cubes)
        stay_in_cube(b, j->bin, &add);
    return delta_txn_add(txn, &add, o->err);
}

/* What was read are the files: a winner that removed one of them has changed its rows. */
static silt_status stage(optimize_batch *b, delta_txn *txn) {
    const op *o = &b->o;
    for (size_t i = 0; i < b->n_jobs; i++) {
        const bin_job *j = &b->jobs[i];
        for (size_t k = 0; k < j->written.n_files; k++) TRY(stage_add(b, j, j->written.files[k], txn));
        for (size_t k = 0, at; k < j->bin->n_files; k++) {
            const touched_file *f = find_touched(b, j->bin->files[k], &at);
            TRY(delta_txn_read_file(txn, f->add.path, o->err));
            TRY(delta_txn_remove_file(txn, &f->add, false, o->err));
        }
    }
    return SILT_OK;
}

static void count(optimize_batch *b) {
    for (size_t i = 0; i < b->n_jobs; i++)
        for (size_t k = 0; k < b->jobs[i].written.n_files; k++) count_size(&b->added, b->jobs[i].written.files[k].size_bytes);
    for (size_t i = 0; i < b->change.n_files; i++) {
        const delta_add *add = &b->change.files[i].add;
        count_size(&b->removed, add->size_bytes);
        b->dvs += add->dv.storage != 0;
        b->dv_rows += add->dv.storage ? add->dv.cardinality : 0;
    }
}

static int by_size(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static str metrics(const optimize_batch *b) {
    size_t n = 0;
    int64_t *sizes = ARENA_ARRAY(b->o.a, (size_t)b->added.files + 1, int64_t);
    json_object j;
    if (!sizes) return STR_NULL;
    for (size_t i = 0; i < b->n_jobs; i++)
        for (size_t k = 0; k < b->jobs[i].written.n_files; k++) sizes[n++] = b->jobs[i].written.files[k].size_bytes;
    qsort(sizes, n, sizeof *sizes, by_size);
    ops_json_object_begin(&j);
    ops_json_object_count(&j, "numRemovedFiles", b->removed.files);
    ops_json_object_count(&j, "numRemovedBytes", b->removed.bytes);
    ops_json_object_count(&j, "p25FileSize", sizes[n / 4]);
    ops_json_object_count(&j, "numDeletionVectorsRemoved", b->dvs);
    ops_json_object_count(&j, "minFileSize", b->added.min);
    ops_json_object_count(&j, "p75FileSize", sizes[n * 3 / 4]);
    ops_json_object_count(&j, "p50FileSize", sizes[n / 2]);
    ops_json_object_count(&j, "numAddedBytes", b->added.bytes);
    ops_json_object_count(&j, "numAddedFiles", b->added.files);
    ops_json_object_count(&j, "maxFileSize", b->added.max);
    return ops_json_object_end(&j, b->o.a);
}

/* With five keys Spark's map has another order. */
static str parameters(const optimize_batch *b) {
    const optimize_run *r = b->run;
    size_t n_predicates = r->predicate ? 1 : 0;
    json_object j;
    ops_json_object_begin(&j);
    if (r->spec->purge) {
        ops_json_object_names(&j, "predicate", r->predicate, n_predicates);
        ops_json_object_true(&j, "applyPurge");
    } else if (r->mode == OPTIMIZE_CLUSTER) {
        ops_json_object_names(&j, "clusterBy", r->curve.names, r->curve.n);
        ops_json_object_names(&j, "predicate", r->predicate, n_predicates);
        ops_json_object_bool(&j, "auto", r->is_auto);
        ops_json_object_bool(&j, "isFull", r->spec->full);
        ops_json_object_names(&j, "zOrderBy", NULL, 0);
    } else {
        ops_json_object_names(&j, "predicate", r->predicate, n_predicates);
        ops_json_object_names(&j, "zOrderBy", r->curve.names, r->curve.n);
        ops_json_object_names(&j, "clusterBy", NULL, 0);
        ops_json_object_bool(&j, "auto", r->is_auto);
    }
    return ops_json_object_end(&j, b->o.a);
}

static silt_status try_commit(optimize_batch *b, const delta_snapshot *s, delta_txn *txn) {
    const op *o = &b->o;
    delta_commit_info info = {.operation = b->run->spec->purge ? "REORG" : "OPTIMIZE",
                              .operation_parameters = parameters(b),
                              .operation_metrics = metrics(b),
                              .tags = file_rewrite_tags(&b->target),
                              .user_metadata = ops_setting(o, "spark.databricks.delta.commitInfo.userMetadata")};
    if (str_is_null(info.operation_parameters) || str_is_null(info.operation_metrics)) return error_no_memory(o->err);
    TRY(stage(b, txn));
    const commit_target table = {b->run->spec->table_name, b->run->spec->root, delta_snapshot_metadata(s)};
    return ops_commit(o, &table, txn, &info, &b->run->version);
}

/* ---- a winner that only seems to be in the way ---- */

typedef struct live_check {
    const optimize_batch *b;
    path_set live; /* path and deletion vector */
    arena *a;
} live_check;

static str file_key(const delta_add *add, arena *a) {
    str dv = add->dv.storage ? delta_dv_unique_id(&add->dv, a) : STR("");
    return str_is_null(dv) ? STR_NULL : arena_printf(a, "%.*s\n%.*s", STR_ARG(add->path), STR_ARG(dv));
}

static silt_status note_live(void *ctx, size_t i, const delta_add *add, silt_error *err) {
    live_check *c = ctx;
    bool added;
    (void)i;
    str key = file_key(add, c->a);
    return !str_is_null(key) && path_set_add(&c->live, key, c->a, &added) ? SILT_OK : error_no_memory(err);
}

static silt_status are_all_live(const optimize_batch *b, const delta_snapshot *now, bool *out) {
    live_check c = {.b = b, .a = b->o.a};
    TRY(delta_snapshot_each_file(now, false, note_live, &c, b->o.err));
    *out = true;
    for (size_t i = 0; i < b->change.n_files && *out; i++) {
        str key = file_key(&b->change.files[i].add, c.a);
        if (str_is_null(key)) return error_no_memory(b->o.err);
        *out = path_set_has(&c.live, key);
    }
    return SILT_OK;
}

static bool same_property(const delta_metadata *a, const delta_metadata *b, const char *key) {
    str x = delta_config_str(&a->configuration, key), y = delta_config_str(&b->configuration, key);
    return str_eq(x, y);
}

/* The new files must still be what this table's writer would write: its columns may have changed, not how rows are numbered or files are laid out. */
static bool is_same_layout(const delta_metadata *a, const delta_metadata *b) {
    static const char *const keys[] = {"delta.enableRowTracking", "delta.rowTracking.materializedRowIdColumnName", "delta.enableIcebergCompatV1",
                                       "delta.enableIcebergCompatV2", "delta.enableIcebergCompatV3", "delta.enableMaterializePartitionColumnsFeature"};
    bool same = str_eq(a->id, b->id) && a->n_partition_columns == b->n_partition_columns;
    for (size_t i = 0; same && i < a->n_partition_columns; i++) {
        int x = schema_find(a->schema, a->partition_columns[i]), y = schema_find(b->schema, b->partition_columns[i]);
        same = str_eq(a->partition_columns[i], b->partition_columns[i]) && x >= 0 && y >= 0 &&
               type_equal(a->schema->fields[x].type, b->schema->fields[y].type) &&
               str_eq(a->schema->fields[x].physical_name, b->schema->fields[y].physical_name);
    }
    for (size_t i = 0; same && i < ARRAY_LEN(keys); i++) same = same_property(a, b, keys[i]);
    return same;
}

static silt_status retry_on(optimize_batch *b, const delta_snapshot *now, bool *out_tried) {
    delta_txn *txn;
    *out_tried = is_same_layout(&b->target.metadata, delta_snapshot_metadata(now));
    if (*out_tried) TRY(are_all_live(b, now, out_tried));
    if (!*out_tried) return SILT_OK;
    TRY(delta_txn_begin(b->o.env->delta, now, b->run->spec->root, &txn, b->o.err));
    silt_status status = try_commit(b, now, txn);
    delta_txn_free(txn);
    return status;
}

/*
 * As Delta: where the conflict is of metadata or protocol, and all files that were rewritten are still there, the same actions are a valid commit on top of the newest version.
 * Otherwise the first conflict stands.
 */
static silt_status commit(optimize_batch *b) {
    silt_error *given = b->o.err, err = {.status = SILT_OK};
    b->o.err = &err;
    silt_status status = try_commit(b, b->run->snapshot, b->change.txn);
    for (int i = 0; status == SILT_CONFLICT && i < MAX_RETRIES; i++) {
        silt_error first = err;
        delta_snapshot *now;
        bool tried = false;
        status = delta_snapshot_update(b->o.env->delta, b->run->snapshot, &now, &err);
        if (status != SILT_OK) break;
        status = retry_on(b, now, &tried);
        delta_snapshot_release(now);
        if (status != SILT_OK || tried) continue;
        err = first;
        status = first.status;
        break;
    }
    b->o.err = given;
    if (status != SILT_OK && given) *given = err;
    return status;
}

/* ---- a batch from beginning to end ---- */

static silt_status plan(optimize_batch *b, const optimize_bin *bins) {
    const op *o = &b->o;
    optimize_run *r = b->run;
    uint8_t *whole = ARENA_ARRAY(o->a, delta_snapshot_n_files(r->snapshot) + 1, uint8_t);
    b->jobs = ARENA_ARRAY(o->a, b->n_jobs, bin_job);
    if (!whole || !b->jobs) return error_no_memory(o->err);
    for (size_t i = 0; i < b->n_jobs; i++) {
        b->jobs[i].bin = &bins[i];
        for (size_t k = 0; k < bins[i].n_files; k++) whole[bins[i].files[k]] = 1;
    }
    ops_write_target_init(&b->target, r->snapshot);
    const str_map *configuration = &b->target.metadata.configuration;
    b->keeps_partition_columns =
        b->target.metadata.n_partition_columns > 0 &&
        (delta_config_bool(configuration, "delta.enableMaterializePartitionColumnsFeature") || delta_config_iceberg_compat(configuration) > 0);
    delta_txn *txn = b->change.txn;
    b->change = (row_change){.o = o, .table_name = r->spec->table_name, .root = r->spec->root, .snapshot = r->snapshot, .txn = txn, .target = b->target, .whole_files = whole};
    TRY(row_change_plan(&b->change));
    return plan_scan(b);
}

static void close_jobs(optimize_batch *b) {
    for (size_t i = 0; b->jobs && i < b->n_jobs; i++) {
        curve_close(&b->o, b->jobs[i].curve);
        arena_free(b->jobs[i].own);
    }
    if (b->change.o) row_change_end(&b->change);
}

static silt_status rewrite_and_commit(optimize_batch *b, const optimize_bin *bins) {
    optimize_run *r = b->run;
    TRY(plan(b, bins));
    TRY(write_bins(b));
    count(b);
    if (b->added.files == 0) { /* every row of them is deleted: as Delta, such a batch commits nothing */
        b->removed = (file_sizes){0};
        b->dvs = b->dv_rows = 0;
        return SILT_OK;
    }
    TRY(commit(b));
    r->commits++;
    merge_sizes(&r->added, &b->added);
    merge_sizes(&r->removed, &b->removed);
    r->dvs += b->dvs;
    r->dv_rows += b->dv_rows;
    return SILT_OK;
}

silt_status optimize_run_batch(optimize_run *r, const optimize_bin *bins, size_t n) {
    optimize_batch b = {.run = r, .o = {r->o->env, arena_new(), r->o->err}, .n_jobs = n};
    if (!b.o.a) return error_no_memory(r->o->err);
    silt_status status = delta_txn_begin(r->o->env->delta, r->snapshot, r->spec->root, &b.change.txn, r->o->err);
    if (status == SILT_OK) {
        delta_txn *txn = b.change.txn;
        status = rewrite_and_commit(&b, bins);
        if (status != SILT_OK && status != SILT_UNKNOWN) discard(&b);
        delta_txn_free(txn);
    }
    close_jobs(&b);
    arena_free(b.o.a);
    return status;
}
