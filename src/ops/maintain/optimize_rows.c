/* The one row that OPTIMIZE and REORG answer: the table's path, and metrics as Delta 4.3 has them, every field by its name and place. */
#include "delta/properties.h"
#include "ops/maintain/optimize_run.h"

#define SIZES "STRUCT<min: BIGINT, max: BIGINT, avg: DOUBLE NOT NULL, totalFiles: BIGINT NOT NULL, totalSize: BIGINT NOT NULL>"
#define ORDERED "STRUCT<num: BIGINT NOT NULL, size: BIGINT NOT NULL>"
#define CUBED "STRUCT<numFiles: BIGINT NOT NULL, size: BIGINT NOT NULL>"

static const char columns[] =
    "path STRING, metrics STRUCT<numFilesAdded: BIGINT NOT NULL, numFilesRemoved: BIGINT NOT NULL, filesAdded: " SIZES ", filesRemoved: " SIZES
    ", partitionsOptimized: BIGINT NOT NULL, zOrderStats: STRUCT<strategyName: STRING, inputCubeFiles: " ORDERED ", inputOtherFiles: " ORDERED
    ", inputNumCubes: BIGINT NOT NULL, mergedFiles: " ORDERED ", numOutputCubes: BIGINT NOT NULL, mergedNumCubes: BIGINT>, clusteringStats: STRUCT<inputZCubeFiles: " CUBED
    ", inputOtherFiles: " CUBED ", inputNumZCubes: BIGINT NOT NULL, mergedFiles: " CUBED
    ", numOutputZCubes: BIGINT NOT NULL>, numBins: BIGINT NOT NULL, numBatches: BIGINT NOT NULL, totalConsideredFiles: BIGINT NOT NULL, totalFilesSkipped: BIGINT NOT NULL, "
    "preserveInsertionOrder: BOOLEAN NOT NULL, numFilesSkippedToReduceWriteAmplification: BIGINT NOT NULL, numBytesSkippedToReduceWriteAmplification: BIGINT NOT NULL, "
    "startTimeMs: BIGINT NOT NULL, endTimeMs: BIGINT NOT NULL, totalClusterParallelism: BIGINT NOT NULL, totalScheduledTasks: BIGINT NOT NULL, autoCompactParallelismStats: "
    "STRUCT<maxClusterActiveParallelism: BIGINT, minClusterActiveParallelism: BIGINT, maxSessionActiveParallelism: BIGINT, minSessionActiveParallelism: BIGINT>, "
    "deletionVectorStats: STRUCT<numDeletionVectorsRemoved: BIGINT NOT NULL, numDeletionVectorRowsRemoved: BIGINT NOT NULL>, numTableColumns: BIGINT NOT NULL, "
    "numTableColumnsWithStats: BIGINT NOT NULL>";

/** A struct's fields, appended in order. A failed append is remembered. */
typedef struct filler {
    arrow_builder *rows;
    size_t at;
    bool ok;
} filler;

static void put(filler *f, int64_t v) { f->ok = f->ok && arrow_append_i64(arrow_child(f->rows, f->at++), v); }
static void put_null(filler *f) { f->ok = f->ok && arrow_append_null(arrow_child(f->rows, f->at++)); }
static void put_text(filler *f, str s) { f->ok = f->ok && arrow_append_str(arrow_child(f->rows, f->at++), s); }
static void put_bool(filler *f, bool v) { f->ok = f->ok && arrow_append_bool(arrow_child(f->rows, f->at++), v); }
static filler begin(filler *f) { return (filler){.rows = arrow_child(f->rows, f->at++), .ok = f->ok}; }
static void end(filler *f, filler *inner) { f->ok = inner->ok && arrow_finish_row(inner->rows); }

static void put_sizes(filler *f, const file_sizes *s) {
    filler in = begin(f);
    if (s->files) {
        put(&in, s->min);
        put(&in, s->max);
    } else {
        put_null(&in);
        put_null(&in);
    }
    in.ok = in.ok && arrow_append_f64(arrow_child(in.rows, in.at++), s->files ? (double)s->bytes / (double)s->files : 0);
    put(&in, s->files);
    put(&in, s->bytes);
    end(f, &in);
}

static void put_pair(filler *f, int64_t files, int64_t bytes) {
    filler in = begin(f);
    put(&in, files);
    put(&in, bytes);
    end(f, &in);
}

/* All files of a partition take part, each partition makes one cube. */
static void put_zorder(filler *f, const optimize_run *r) {
    if (r->mode != OPTIMIZE_ZORDER) {
        put_null(f);
        return;
    }
    filler in = begin(f);
    put_text(&in, STR("all"));
    put_pair(&in, 0, 0);
    put_pair(&in, r->removed.files, r->removed.bytes);
    put(&in, 0);
    put_pair(&in, r->removed.files, r->removed.bytes);
    put(&in, r->optimized_partitions);
    put_null(&in);
    end(f, &in);
}

static void put_clustering(filler *f, const optimize_run *r) {
    const cluster_stats *s = &r->cluster.stats;
    if (r->mode != OPTIMIZE_CLUSTER) {
        put_null(f);
        return;
    }
    filler in = begin(f);
    put_pair(&in, s->input_cube_files.files, s->input_cube_files.bytes);
    put_pair(&in, s->input_other_files.files, s->input_other_files.bytes);
    put(&in, s->input_cubes);
    put_pair(&in, s->merged_files.files, s->merged_files.bytes);
    put(&in, (int64_t)r->n_bins);
    end(f, &in);
}

static void put_dvs(filler *f, const optimize_run *r) {
    if (r->dvs == 0) {
        put_null(f);
        return;
    }
    put_pair(f, r->dvs, r->dv_rows);
}

static void put_metrics(filler *f, const optimize_run *r) {
    const delta_metadata *m = delta_snapshot_metadata(r->snapshot);
    int64_t n_columns = (int64_t)m->schema->n_fields, indexed = delta_config_i64(&m->configuration, "delta.dataSkippingNumIndexedCols");
    put(f, r->added.files);
    put(f, r->removed.files);
    put_sizes(f, &r->added);
    put_sizes(f, &r->removed);
    put(f, r->optimized_partitions);
    put_zorder(f, r);
    put_clustering(f, r);
    put(f, (int64_t)r->n_bins);
    put(f, r->batches);
    put(f, r->considered);
    put(f, r->considered - r->removed.files);
    put_bool(f, false);
    put(f, 0);
    put(f, 0);
    put(f, r->started_ms);
    put(f, 0); /* Delta never fills it in */
    put(f, optimize_threads(r->o));
    put(f, 0);
    put_null(f);
    put_dvs(f, r);
    put(f, n_columns);
    put(f, indexed < n_columns ? indexed : n_columns);
}

/* As Spark shows it: file:/a/b, s3a://bucket/a. */
static str shown_path(const optimize_run *r, arena *a) {
    str root = delta_snapshot_root(r->snapshot);
    return arena_printf(a, "%s%.*s", store_uri_prefix(delta_snapshot_env(r->snapshot)->store), STR_ARG(root));
}

silt_status optimize_result_rows(const optimize_run *r, arena *a, const data_type **out_type, arrow_builder **out_rows) {
    const op *o = r->o;
    TRY(schema_parse_ddl(str_of(columns), a, out_type, o->err));
    *out_rows = arrow_builder_new(*out_type);
    if (!*out_rows) return error_no_memory(o->err);
    str path = shown_path(r, a);
    filler row = {.rows = *out_rows, .ok = !str_is_null(path)};
    if (row.ok) put_text(&row, path);
    filler metrics = begin(&row);
    put_metrics(&metrics, r);
    end(&row, &metrics);
    if (row.ok && arrow_finish_row(*out_rows)) return SILT_OK;
    arrow_builder_free(*out_rows);
    *out_rows = NULL;
    return error_no_memory(o->err);
}
