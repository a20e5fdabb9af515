/*
 * Bin packing as Delta's OPTIMIZE does it: the candidates of a partition by size, into one bin until the next would pass the target. What is alone in its bin is left as it is,
 * unless it is to be ordered or purged.
 */
#include <stdlib.h>

#include "ops/maintain/optimize_run.h"

static int by_partition_and_size(const void *a, const void *b) {
    const optimize_file *x = a, *y = b;
    if (x->partition != y->partition) return x->partition < y->partition ? -1 : 1;
    if (x->bytes != y->bytes) return x->bytes < y->bytes ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

static int by_number(const void *a, const void *b) {
    size_t x = *(const size_t *)a, y = *(const size_t *)b;
    return x < y ? -1 : x > y;
}

/* Within a bin files go in the order of the log: neighbours in time stay neighbours. */
static silt_status push_bin(optimize_run *r, const optimize_file *files, size_t n, size_t *capacity) {
    const op *o = r->o;
    optimize_bin bin = {.n_files = n, .partition = files[0].partition};
    size_t *numbers = ARENA_ARRAY(o->a, n, size_t);
    if (!numbers) return error_no_memory(o->err);
    for (size_t i = 0; i < n; i++) {
        numbers[i] = files[i].index;
        bin.bytes += files[i].bytes;
    }
    qsort(numbers, n, sizeof *numbers, by_number);
    bin.files = numbers;
    return ARENA_PUSH(o->a, r->bins, r->n_bins, *capacity, bin) ? SILT_OK : error_no_memory(o->err);
}

static silt_status pack(optimize_run *r, const optimize_file *files, size_t n) {
    bool takes_single = r->spec->purge || r->mode != OPTIMIZE_COMPACT;
    int64_t max_bytes = r->mode == OPTIMIZE_ZORDER ? INT64_MAX : r->limits.max_bytes;
    size_t capacity = 0, from = 0;
    int64_t bytes = 0;
    for (size_t i = 0; i <= n; i++) {
        bool ends = i == n || (i > from && files[i].partition != files[from].partition) || files[i].bytes > max_bytes - bytes;
        if (ends) {
            if (i - from > 1 || (i - from == 1 && takes_single)) TRY(push_bin(r, files + from, i - from, &capacity));
            from = i;
            bytes = 0;
        }
        if (i < n) bytes += files[i].bytes;
    }
    return SILT_OK;
}

/* The cubes were chosen already; a clustered table has no partitions. */
static silt_status take_cubes(optimize_run *r) {
    r->bins = ARENA_ARRAY(r->o->a, r->cluster.n_bins + 1, optimize_bin);
    if (!r->bins) return error_no_memory(r->o->err);
    for (size_t i = 0; i < r->cluster.n_bins; i++)
        r->bins[r->n_bins++] = (optimize_bin){.files = r->cluster.bins[i].files, .n_files = r->cluster.bins[i].n_files, .bytes = r->cluster.bins[i].bytes};
    return SILT_OK;
}

static void count_partitions(optimize_run *r) {
    for (size_t i = 0; i < r->n_bins; i++) r->optimized_partitions += i == 0 || r->bins[i].partition != r->bins[i - 1].partition;
}

silt_status optimize_make_bins(optimize_run *r) {
    optimize_file *chosen = ARENA_ARRAY(r->o->a, r->n_files + 1, optimize_file);
    size_t n = 0;
    if (!chosen) return error_no_memory(r->o->err);
    for (size_t i = 0; i < r->n_files; i++)
        if (r->files[i].is_candidate && r->partitions[r->files[i].partition].is_wanted) chosen[n++] = r->files[i];
    qsort(chosen, n, sizeof *chosen, by_partition_and_size);
    TRY(r->mode == OPTIMIZE_CLUSTER ? take_cubes(r) : pack(r, chosen, n));
    count_partitions(r);
    return SILT_OK;
}

/* ---- batches ---- */

#define MAX_BINS 1000 /* of one commit: each is planned with a query of its own, whose memory stays until then */

static int by_bytes(const void *a, const void *b) {
    const optimize_bin *x = a, *y = b;
    if (x->bytes != y->bytes) return x->bytes < y->bytes ? -1 : 1;
    return x->files[0] < y->files[0] ? -1 : x->files[0] > y->files[0];
}

silt_status optimize_make_batches(optimize_run *r, size_t **out_ends, size_t *out_n) {
    size_t *ends = ARENA_ARRAY(r->o->a, r->n_bins + 1, size_t), from = 0;
    int64_t bytes = 0;
    if (!ends) return error_no_memory(r->o->err);
    *out_n = 0;
    *out_ends = ends;
    if (r->n_bins > 1) qsort(r->bins, r->n_bins, sizeof *r->bins, by_bytes);
    for (size_t i = 0; i < r->n_bins; i++) {
        bool is_full = bytes >= r->limits.batch_bytes || r->bins[i].bytes > r->limits.batch_bytes - bytes || i - from == MAX_BINS;
        if (i > 0 && is_full) {
            ends[(*out_n)++] = from = i;
            bytes = 0;
        }
        bytes += r->bins[i].bytes;
    }
    if (r->n_bins > 0) ends[(*out_n)++] = r->n_bins;
    return SILT_OK;
}
