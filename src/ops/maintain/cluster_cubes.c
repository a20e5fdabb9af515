/*
 * The files of a cube are told by two of their tags, ZCUBE_ID and ZCUBE_ZORDER_BY (the columns' logical names as JSON text). A run takes the files that belong to no cube and
 * those of cubes below the least size, unless one small cube is all there is; FULL also takes the cubes of other clustering columns, once the columns were changed.
 * The files of other providers are not touched without FULL. Sizes are those of the session (…mergeStrategy.minCubeSize.threshold and .targetCubeSize, 100 and 150 GB).
 */
#include "ops/maintain/cluster_cubes.h"

#include <stdlib.h>

#include "base/ident.h"
#include "delta/features.h"
#include "delta/stats_fetch.h"

#define MIN_CUBE_KEY    "spark.databricks.delta.optimize.clustering.mergeStrategy.minCubeSize.threshold"
#define TARGET_CUBE_KEY "spark.databricks.delta.optimize.clustering.mergeStrategy.minCubeSize.targetCubeSize"
#define MIN_CUBE        ((int64_t)100 << 30)
#define TARGET_CUBE     ((int64_t)150 << 30)

/* ---- what the statement may say ---- */

silt_status cluster_is_clustered(const op *o, const delta_snapshot *s, bool *out, bool *out_columns) {
    const str *names;
    size_t n = 0;
    *out = delta_protocol_has(delta_snapshot_protocol(s), "clustering");
    if (*out) TRY(ops_clustering_columns(s, o->a, &names, &n, o->err));
    *out_columns = n > 0;
    return SILT_OK;
}

silt_status cluster_check(const op *o, const delta_snapshot *s, bool full, str where, const name_parts *zorder_by, size_t n_zorder_by) {
    bool clustered, has_columns;
    str names;
    TRY(cluster_is_clustered(o, s, &clustered, &has_columns));
    if (clustered && !str_is_null(where)) return err_DELTA_CLUSTERING_WITH_PARTITION_PREDICATE(o->err, where);
    if (clustered && n_zorder_by) {
        TRY(curve_names(o, zorder_by, n_zorder_by, &names));
        return err_DELTA_CLUSTERING_WITH_ZORDER_BY(o->err, names);
    }
    return full && !has_columns ? err_DELTA_OPTIMIZE_FULL_NOT_SUPPORTED(o->err) : SILT_OK;
}

/* ---- files ---- */

/* One file of the table, with what its tags say. */
typedef struct cube_file {
    size_t index;
    int64_t bytes, live_bytes; /* live: less what a deletion vector hides */
    str cube;                  /* its id, null: of no cube */
    bool has_columns;          /* ZCUBE_ZORDER_BY is there: only then it is of a cube */
    bool ours;                 /* of the table's present clustering columns */
    bool other_provider;
} cube_file;

typedef struct file_list {
    const op *o;
    const curve_columns *columns;
    cube_file *files;
    size_t n;
    arena *scratch;
} file_list;

static str tag(const json_node *tags, const char *key) { return json_get_str(tags, key, STR_NULL); }

static bool same_names(const json_node *names, const curve_columns *columns) {
    if (!names || names->type != JSON_ARRAY || names->count != columns->n) return false;
    for (size_t i = 0; i < columns->n; i++)
        if (names->values[i].type != JSON_STRING || !str_eq(names->values[i].text, columns->names[i])) return false;
    return true;
}

static int64_t live_bytes(const delta_add *add, arena *scratch) {
    int64_t rows;
    if (!add->dv.storage || str_is_null(add->stats) || !stats_num_records(add->stats, scratch, &rows) || rows <= 0) return add->size_bytes;
    double live = (double)(rows - add->dv.cardinality) / (double)rows;
    return live > 0 ? (int64_t)(live * (double)add->size_bytes) : 0;
}

/* Tags that are no JSON object, or a list of columns that is none, are those of a file of no cube. */
static silt_status take_file(void *ctx, size_t i, const delta_add *add, silt_error *err) {
    file_list *l = ctx;
    const json_node *tags = NULL, *by = NULL;
    arena_reset(l->scratch);
    cube_file *f = &l->files[l->n++];
    *f = (cube_file){.index = i, .bytes = add->size_bytes, .live_bytes = live_bytes(add, l->scratch)};
    f->other_provider = !str_is_null(add->clustering_provider) && !str_eqz(add->clustering_provider, CLUSTER_PROVIDER);
    if (str_is_null(add->tags) || json_parse(add->tags, l->scratch, &tags, NULL) != SILT_OK) return SILT_OK;
    str id = tag(tags, "ZCUBE_ID"), columns = tag(tags, "ZCUBE_ZORDER_BY");
    if (str_is_null(id)) return SILT_OK;
    f->cube = arena_str(l->o->a, id);
    if (str_is_null(f->cube)) return error_no_memory(err);
    f->has_columns = !str_is_null(columns) && json_parse(columns, l->scratch, &by, NULL) == SILT_OK;
    f->ours = f->has_columns && same_names(by, l->columns);
    return SILT_OK;
}

/* Those without an id first, then cube by cube. */
static int by_cube(const void *a, const void *b) {
    const cube_file *x = a, *y = b;
    bool has_x = !str_is_null(x->cube), has_y = !str_is_null(y->cube);
    if (has_x != has_y) return has_x ? 1 : -1;
    int by = has_x ? str_cmp(x->cube, y->cube) : 0;
    return by ? by : (x->index > y->index) - (x->index < y->index);
}

static silt_status has_vector(void *ctx, size_t i, const delta_add *add, silt_error *err) {
    (void)i, (void)err;
    *(bool *)ctx |= add->dv.storage != 0;
    return SILT_OK;
}

static silt_status list_files(const op *o, const delta_snapshot *s, const curve_columns *columns, file_list *out) {
    bool with_vectors = false;
    *out = (file_list){.o = o, .columns = columns, .files = ARENA_ARRAY(o->a, delta_snapshot_n_files(s) + 1, cube_file), .scratch = arena_new()};
    silt_status status = out->files && out->scratch ? SILT_OK : error_no_memory(o->err);
    if (status == SILT_OK) status = delta_snapshot_each_file(s, false, has_vector, &with_vectors, o->err);
    if (status == SILT_OK) status = delta_snapshot_each_file(s, with_vectors, take_file, out, o->err);
    arena_free(out->scratch);
    if (status == SILT_OK) qsort(out->files, out->n, sizeof *out->files, by_cube);
    return status;
}

/* ---- the choice ---- */

/* A cube whose columns are not known is like a file of none. */
static str cube_of(const cube_file *f) { return f->has_columns ? f->cube : STR_NULL; }

static bool is_same_cube(const cube_file *a, const cube_file *b) {
    return !str_is_null(cube_of(a)) && !str_is_null(cube_of(b)) && str_eq(a->cube, b->cube);
}

/* May it take part without FULL? */
static bool is_candidate(const cube_file *f) { return !f->other_provider && (str_is_null(cube_of(f)) || f->ours); }

static void drop_large_cubes(file_list *l, int64_t least) {
    size_t kept = 0;
    for (size_t from = 0, to; from < l->n; from = to) {
        int64_t bytes = l->files[from].live_bytes;
        for (to = from + 1; to < l->n && is_same_cube(&l->files[from], &l->files[to]); to++) bytes += l->files[to].live_bytes;
        if (!str_is_null(cube_of(&l->files[from])) && bytes >= least) continue;
        for (size_t i = from; i < to; i++) l->files[kept++] = l->files[i];
    }

    l->n = kept;

}

static bool is_one_cube(const file_list *l) {
    for (size_t i = 0; i < l->n; i++)
        if (str_is_null(cube_of(&l->files[i])) || !is_same_cube(&l->files[0], &l->files[i])) return false;
    return true;
}

/* Leaves those that take part in l->files, and gives the others that only FULL takes. */
static silt_status split(file_list *l, file_list *out_skipped) {
    size_t kept = 0;
    *out_skipped = (file_list){.files = ARENA_ARRAY(l->o->a, l->n + 1, cube_file)};
    if (!out_skipped->files) return error_no_memory(l->o->err);
    for (size_t i = 0; i < l->n; i++) {
        if (is_candidate(&l->files[i]))
            l->files[kept++] = l->files[i];
        else
            out_skipped->files[out_skipped->n++] = l->files[i];
    }
    l->n = kept;
    return SILT_OK;
}

static silt_status choose(file_list *l, bool full, int64_t least) {
    file_list skipped;
    TRY(split(l, &skipped));
    drop_large_cubes(l, least);
    if (full && skipped.n) {
        for (size_t i = 0; i < skipped.n; i++) l->files[l->n++] = skipped.files[i]; /* there was room for all of them */
    } else if (is_one_cube(l))
        l->n = 0;
    return SILT_OK;
}

/* ---- metrics ---- */

/* Files of the cubes that count, and others; the number of such cubes among files that come cube by cube. */
static void count_files(const file_list *l, bool full, cluster_file_stats *cubes, cluster_file_stats *others, int64_t *out_cubes) {
    const cube_file *last = NULL;
    for (size_t i = 0; i < l->n; i++) {
        const cube_file *f = &l->files[i];
        bool counts = f->has_columns && (full || f->ours);
        cluster_file_stats *into = counts ? cubes : others;
        into->files++;
        into->bytes += f->bytes;
        if (!counts) continue;
        if (!last || !is_same_cube(last, f)) (*out_cubes)++;
        last = f;
    }
}

/* ---- bins ---- */

static silt_status make_bins(const op *o, const file_list *l, int64_t most, cluster_plan *out) {
    size_t *files = ARENA_ARRAY(o->a, l->n + 1, size_t);
    out->bins = ARENA_ARRAY(o->a, l->n + 1, cluster_bin);
    if (!files || !out->bins) return error_no_memory(o->err);
    for (size_t i = 0; i < l->n; i++) {
        cluster_bin *bin = out->n_bins ? &out->bins[out->n_bins - 1] : NULL;
        files[i] = l->files[i].index;
        if (!bin || bin->bytes + l->files[i].bytes > most) {
            bin = &out->bins[out->n_bins++];
            *bin = (cluster_bin){.files = &files[i]};
        }
        bin->n_files++;
        bin->bytes += l->files[i].bytes;
    }
    out->stats.output_cubes = (int64_t)out->n_bins;
    return SILT_OK;
}

static silt_status size_setting(const op *o, const char *key, int64_t absent, int64_t *out) {
    str text = ops_setting(o, key);
    *out = absent;
    if (str_is_null(text)) return SILT_OK;
    return ops_parse_bytes(text, out) && *out >= 0 ? SILT_OK : err_INVALID_PARAMETER_VALUE(o->err, str_of(key), text, "a size in bytes");
}

silt_status cluster_plan_make(const op *o, const delta_snapshot *s, bool full, cluster_plan *out) {
    file_list list;
    int64_t least, target;
    cluster_file_stats merged = {0}, merged_others = {0};
    *out = (cluster_plan){0};
    TRY(size_setting(o, MIN_CUBE_KEY, MIN_CUBE, &least));
    TRY(size_setting(o, TARGET_CUBE_KEY, TARGET_CUBE, &target));
    TRY(curve_clustering_columns(o, s, &out->columns));
    TRY(list_files(o, s, &out->columns, &list));
    count_files(&list, full, &out->stats.input_cube_files, &out->stats.input_other_files, &out->stats.input_cubes);
    TRY(choose(&list, full, least));
    int64_t merged_cubes = 0;
    count_files(&list, full, &merged, &merged_others, &merged_cubes);
    out->stats.merged_files = (cluster_file_stats){merged.files + merged_others.files, merged.bytes + merged_others.bytes};
    return make_bins(o, &list, target > least ? target : least, out);
}

silt_status cluster_cube_tags(const op *o, const cluster_plan *p, str *out) {
    char id[37];
    buf names, b;
    uuid_generate(id);
    buf_init(&names, BUF_MAX_DEFAULT);
    buf_init(&b, BUF_MAX_DEFAULT);
    buf_append_char(&names, '[');
    for (size_t i = 0; i < p->columns.n; i++) {
        if (i) buf_append_char(&names, ',');
        json_write_str(&names, p->columns.names[i]);
    }
    buf_append_char(&names, ']');
    buf_printf(&b, "{\"ZCUBE_ID\":\"%s\",\"ZCUBE_ZORDER_BY\":", id);
    json_write_str(&b, buf_str(&names));
    buf_append_char(&b, '}');
    *out = buf_ok(&names) && buf_ok(&b) ? arena_str(o->a, buf_str(&b)) : STR_NULL;
    buf_dispose(&names);
    buf_dispose(&b);
    return str_is_null(*out) ? error_no_memory(o->err) : SILT_OK;
}
