/**
 * Writing a query's rows as data files: one COPY per file, so that file names, folders, sizes and statistics are Silt's own (what DuckDB's PARTITION_BY and
 * FILE_SIZE_BYTES do otherwise: docs/decisions/002-engine-rules.md). Where one file is surely enough, its COPY reads the query itself, with a tap in its SELECT; else the
 * query streams once and silt_feed deals it out. The files are made durable at the end, several at a time; on any failure all are removed.
 */
#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>

#include "base/ident.h"
#include "base/uri.h"
#include "engine/sources.h"
#include "engine/write_copy.h"
#include "engine/write_feed.h"
#include "engine/write_partition.h"
#include "engine/write_sorted.h"
#include "engine/write_tap.h"

/* A file on its way: where COPY writes it, and what the store calls it. */
typedef struct open_file {
    str path, local; /* in the store; on this machine */
    bool sent, finished;
} open_file;

typedef struct writer {
    engine *engine;
    const write_spec *spec;
    arena *arena;
    running_query query;
    write_feed *feed;
    write_sorted *sorted;
    engine_connection *copier;
    open_file *open;
    size_t n_open, open_capacity, file_capacity;
    write_result *out;
    copy_format format;
} writer;

/* ---- the query ---- */

static const scan_node *node_of(const writer *w, const relation *rel) {
    for (size_t i = 0; i < w->query.scans.n_nodes; i++)
        if (w->query.scans.nodes[i]->rel == rel) return w->query.scans.nodes[i];
    return NULL;
}

/*
 * Rows of a table with the same partition columns, as a rewrite reads them: its files are scanned in the order of their partitions, and a sort would do nothing. Should the
 * order be another one after all, the feed only makes more files.
 */
static bool comes_by_partition(const writer *w, const query *q) {
    const write_spec *spec = w->spec;
    if (q->set != SET_NONE || q->n_ctes || q->has_aggregates || q->distinct || q->n_order_by || !q->from ||
        q->from->kind != REL_TABLE || !node_of(w, q->from))
        return false;
    const table_source *source = q->from->source;
    if (source->n_partition_columns != spec->n_partition_columns) return false;
    for (size_t i = 0; i < spec->n_partition_columns; i++) {
        const expr *e = spec->partition_columns[i] < q->n_projections ? q->projections[spec->partition_columns[i]] : NULL;
        if (!e || e->kind != EXPR_COLUMN || e->source != q->from || e->outer_levels || e->column != source->partition_columns[i])
            return false;
    }
    return true;
}

/* The printed query's rows, brought together by partition. */
static void print_rows(const writer *w, buf *out) {
    const write_spec *spec = w->spec;
    if (spec->n_partition_columns == 0 || comes_by_partition(w, w->query.query)) {
        buf_append(out, buf_str(&w->query.sql));
        return;
    }
    buf_append_z(out, "SELECT * FROM (");
    buf_append(out, buf_str(&w->query.sql));
    buf_append_z(out, ") ORDER BY ");
    for (size_t i = 0; i < spec->n_partition_columns; i++) {
        uint32_t column = spec->partition_columns[i];
        if (i) buf_append_z(out, ", ");
        partition_write_sort_key(out, spec->schema->fields[column].type, column);
    }
}

/* The rows with their key as the last column: in the order of partitions, then of the key. */
static void print_ordered(const writer *w, buf *out) {
    const write_spec *spec = w->spec;
    buf_append_z(out, "SELECT ");
    for (size_t i = 0; i < spec->schema->n_fields; i++) buf_printf(out, i ? ", c%zu" : "c%zu", i);
    buf_append_z(out, " FROM (");
    buf_append(out, buf_str(&w->query.sql));
    buf_append_z(out, ") r ORDER BY ");
    for (size_t i = 0; i < spec->n_partition_columns; i++) {
        uint32_t column = spec->partition_columns[i];
        partition_write_sort_key(out, spec->schema->fields[column].type, column);
        buf_append_z(out, ", ");
    }
    buf_printf(out, "c%zu", spec->schema->n_fields);
}

static silt_status open_copier(writer *w, silt_error *err) {
    TRY(engine_connect(w->engine, &w->copier, err));
    return engine_execute(w->copier, "SET SESSION preserve_insertion_order = false",
                          err); /* else COPY would run on one thread; silt_feed keeps the order as it can */
}

static silt_status open_feed(writer *w, bool by_key, silt_error *err) {
    buf sql;
    buf_init(&sql, BUF_MAX_DEFAULT);
    if (by_key)
        print_ordered(w, &sql);
    else
        print_rows(w, &sql);
    const char *text = buf_cstr(&sql);
    silt_status status = text ? write_feed_open(&w->query, text, w->spec, &w->feed, err) : error_no_memory(err);
    buf_dispose(&sql);
    TRY(status);
    return open_copier(w, err);
}

/* ---- one file ---- */

static silt_status name_file(writer *w, const value *partition, str *out_relative, silt_error *err) {
    char uuid[37];
    uuid_generate(uuid);
    buf path;
    buf_init(&path, BUF_MAX_DEFAULT);
    partition_write_folder(&path, w->spec, partition, w->arena);
    bool dotted = w->spec->n_partition_columns > 0 ||
                  w->spec->folder.len; /* Spark's two committers differ here; its change files are always partitioned */
    buf_printf(&path, "%s-%05zu-%s%cc000%s", w->spec->file_prefix ? w->spec->file_prefix : "part", w->n_open, uuid,
               dotted ? '.' : '-', w->format.suffix);
    *out_relative = buf_take(&path, w->arena);
    return out_relative->ptr ? SILT_OK : error_no_memory(err);
}

static silt_status begin_store_file(writer *w, str relative, open_file *out, silt_error *err) {
    *out = (open_file){.path = path_join(w->arena, w->spec->root, relative)};
    if (!out->path.ptr) return error_no_memory(err);
    TRY(store_write_begin(w->spec->store, out->path, w->arena, &out->local, err));
    store_write_follow(w->spec->store, out->path, out->local);
    if (ARENA_PUSH(w->arena, w->open, w->n_open, w->open_capacity, *out)) return SILT_OK;
    store_write_abort(w->spec->store, out->path, out->local);
    return error_no_memory(err);
}

static silt_status copy_rows(writer *w, const open_file *file, silt_error *err) {
    buf sql;
    buf_init(&sql, BUF_MAX_DEFAULT);
    char rows[48];
    snprintf(rows, sizeof rows, "silt_feed(%llu)", (unsigned long long)write_feed_id(w->feed));
    copy_write_statement(&sql, w->spec, &w->format, str_of(rows), NULL, file->local);
    const char *text = buf_cstr(&sql);
    duckdb_result result;
    silt_status status = text ? engine_work(w->copier, text, &result, err) : error_no_memory(err);
    if (status == SILT_OK) duckdb_destroy_result(&result);
    buf_dispose(&sql);
    const silt_error *cause = write_feed_error(w->feed);
    if (status == SILT_OK || cause->status == SILT_OK) return status;
    if (err) *err = *cause;
    return cause->status;
}

static silt_status file_size(writer *w, str local, int64_t *out, silt_error *err) {
    struct stat sb;
    const char *z = arena_cstr(w->arena, local);
    if (!z) return error_no_memory(err);
    if (stat(z, &sb) != 0) return error_from_errno(err, errno, "stat", local);
    *out = (int64_t)sb.st_size;
    return SILT_OK;
}

static silt_status keep_file(writer *w, written_file *made, const buf *stats, silt_error *err) {
    if (w->spec->collect_stats) {
        made->stats = buf_ok(stats) ? arena_str(w->arena, buf_str(stats)) : STR_NULL;
        if (!made->stats.ptr) return error_no_memory(err);
    }
    if (!ARENA_PUSH(w->arena, w->out->files, w->out->n_files, w->file_capacity, *made)) return error_no_memory(err);
    w->out->rows += made->num_records;
    w->out->bytes += made->size_bytes;
    return SILT_OK;
}

static silt_status write_file(writer *w, value *partition, silt_error *err) {
    written_file made = {.partition = partition};
    open_file file;
    TRY(name_file(w, partition, &made.path, err));
    TRY(begin_store_file(w, made.path, &file, err));
    write_feed_set_path(w->feed, arena_cstr(w->arena, file.local));
    TRY(copy_rows(w, &file, err));
    TRY(file_size(w, file.local, &made.size_bytes, err));
    buf stats;
    buf_init(&stats, BUF_MAX_DEFAULT);
    silt_status status = write_feed_end_file(w->feed, made.size_bytes, &made.num_records, &stats, err);
    if (status == SILT_OK) status = keep_file(w, &made, &stats, err);
    buf_dispose(&stats);
    return status;
}

static void close_feed(writer *w) {
    write_feed_close(w->feed);
    engine_disconnect(w->copier);
    w->feed = NULL;
    w->copier = NULL;
}

/* Files until the rows end. */
static silt_status write_files(writer *w, silt_error *err) {
    for (;;) {
        bool more;
        value *partition;
        TRY(write_feed_begin_file(w->feed, w->arena, &more, &partition, err));
        if (!more) break;
        TRY(write_file(w, partition, err));
    }
    close_feed(w);
    return SILT_OK;
}

static silt_status write_by_feed(writer *w, silt_error *err) {
    TRY(open_feed(w, false, err));
    return write_files(w, err);
}

static silt_status write_part(writer *w, query *q, silt_error *err) {
    w->query.query = q;
    buf_clear(&w->query.sql);
    TRY(running_query_print(&w->query, false, err));
    return write_by_feed(w, err);
}

/* ---- the fast way: one file, straight from the query ---- */

static bool has_own_names(const data_type *type) {
    if (type->element && !has_own_names(type->element)) return false;
    if (type->key && !has_own_names(type->key)) return false;
    for (size_t i = 0; i < type->n_fields; i++)
        if (!str_eq(type->fields[i].name, type->fields[i].physical_name) || !has_own_names(type->fields[i].type)) return false;
    return true;
}

/* Renaming nested fields is what the feed does for nothing. */
static bool nested_names_are_physical(const data_type *schema) {
    for (size_t i = 0; i < schema->n_fields; i++)
        if (!has_own_names(schema->fields[i].type)) return false;
    return true;
}

/* What is known of a query's rows before it runs. */
typedef struct rows_guess {
    int64_t file_bytes, file_rows; /* of the data files that are read; file_rows < 0: not known */
    int64_t kept_rows;             /* of tables in memory, and of VALUES */
} rows_guess;

/* A table in memory of so few rows is no reason for a second file, however wide they are. */
#define FEW_ROWS ((int64_t)100000)

static bool guess_table(const writer *w, const relation *rel, rows_guess *out) {
    int64_t rows;
    if (engine_source_is_own(rel->source)) {
        if (!rel->source->ops->row_count(rel->source, &rows)) return false;
        out->kept_rows += rows;
        return true;
    }
    const scan_node *node = node_of(w, rel);
    if (!node || (node->scan.n_files && node->scan.read_bytes <= 0)) return false;
    out->file_bytes += node->scan.read_bytes;
    for (size_t i = 0; i < node->scan.n_files; i++) {
        bool known = out->file_rows >= 0 && node->scan.files[i].num_records >= 0;
        out->file_rows = known ? out->file_rows + node->scan.files[i].num_records : -1;
    }
    return true;
}

/* Rows of one table after another, filtered, computed or aggregated: then they take at most about what they take now. */
static bool guess_rows(const writer *w, const query *q, rows_guess *out) {
    if (q->n_ctes) return false;
    if (q->set == SET_UNION && q->set_all) return guess_rows(w, q->left, out) && guess_rows(w, q->right, out);
    if (q->set != SET_NONE) return false;
    if (!q->from) { /* one row */
        out->kept_rows++;
        return true;
    }
    switch (q->from->kind) {
        case REL_SUBQUERY: return q->from->subquery && guess_rows(w, q->from->subquery, out);
        case REL_TABLE: return guess_table(w, q->from, out);
        case REL_VALUES: out->kept_rows += (int64_t)q->from->n_rows; return true;
        default: return false;
    }
}

/* Below that a sort costs less than a second file in a partition does later. */
#define MANY_BYTES ((int64_t)32 << 20)

/* Kept rows and new rows apart: the many that come by partition need no sort, the few others get theirs. A partition of both has two files then. */
static bool is_in_two_parts(const writer *w, const query *q) {
    bool both = w->spec->n_partition_columns && q->set == SET_UNION && q->set_all && q->n_ctes == 0 && !q->limit && !q->offset &&
                !q->n_order_by;
    rows_guess guess = {0};
    return both && w->spec->any_order && comes_by_partition(w, q->left) && guess_rows(w, q->left, &guess) &&
           guess.file_bytes > MANY_BYTES;
}

/* What a row takes in a file at most, but for long texts. */
static int64_t wide_row_bytes(const data_type *schema) {
    int64_t bytes = 0;
    for (size_t i = 0; i < schema->n_fields; i++) {
        const data_type *t = schema->fields[i].type;
        bytes += type_is_nested(t) ? 512 : t->id == TYPE_STRING || t->id == TYPE_BINARY || t->id == TYPE_VARIANT ? 128 : 16;
    }
    return bytes;
}

static bool makes_one_file(const writer *w) {
    const write_spec *spec = w->spec;
    rows_guess guess = {0};
    if (spec->n_partition_columns || spec->max_records_per_file > 0 || !spec->collect_stats ||
        !nested_names_are_physical(spec->schema) || !guess_rows(w, w->query.query, &guess))
        return false;
    if (spec->target_file_bytes <= 0) return true;
    int64_t bytes = guess.file_bytes;
    if (guess.kept_rows > FEW_ROWS)
        bytes += (int64_t)((double)guess.kept_rows * (guess.file_rows > 0 ? (double)guess.file_bytes / (double)guess.file_rows
                                                                          : (double)wide_row_bytes(spec->schema)));
    return bytes - spec->target_file_bytes <= spec->target_file_bytes / 4; /* a small rest is no file of its own */
}

static silt_status copy_query(writer *w, const write_tap *tap, const open_file *file, int64_t *out_rows, silt_error *err) {
    buf sql, rows, column;
    buf_init(&sql, BUF_MAX_DEFAULT);
    buf_init(&rows, BUF_MAX_DEFAULT);
    buf_init(&column, BUF_MAX_DEFAULT);
    buf_append_char(&rows, '(');
    buf_append(&rows, buf_str(&w->query.sql));
    buf_append_char(&rows, ')');
    write_tap_print(tap, &column);
    const copy_override override = {write_tap_column(tap), buf_str(&column)};
    copy_write_statement(&sql, w->spec, &w->format, buf_str(&rows), &override, file->local);
    const char *text = buf_ok(&rows) && buf_ok(&column) ? buf_cstr(&sql) : NULL;
    duckdb_result result;
    silt_status status = text ? engine_work(w->copier, text, &result, err) : error_no_memory(err);
    if (status == SILT_OK) {
        *out_rows = (int64_t)duckdb_rows_changed(&result);
        duckdb_destroy_result(&result);
    } else if (text)
        status = running_query_failure(&w->query, status, err);
    buf_dispose(&column);
    buf_dispose(&rows);
    buf_dispose(&sql);
    return status;
}

/*
 * Keeping the order costs COPY one more copy of all rows, a fifth of its time. Without it each thread writes groups of the rows that it happened to read: their bounds overlap
 * as much as there are threads, so that on many of them scans would pay for it.
 */
#define REORDER_THREADS 4

static bool may_reorder(const writer *w) {
    int threads = w->engine->threads > 0 ? w->engine->threads : thread_count_default();
    return w->spec->any_order && threads <= REORDER_THREADS;
}

/* A group of a bundle has some kilobytes: one read of it instead of two for each of its pages. */
static silt_status read_groups_whole(writer *w, silt_error *err) { return engine_execute(w->copier, "SET SESSION prefetch_all_parquet_files = true", err); }

static silt_status forget_file(writer *w, const open_file *file) {
    store_write_abort(w->spec->store, file->path, file->local);
    w->n_open = 0;
    return SILT_OK;
}

static silt_status write_with_tap(writer *w, write_tap *tap, const open_file *file, written_file *made, bool *out_done,
                                  silt_error *err) {
    TRY(running_query_connect(&w->query, &w->copier, err));
    if (may_reorder(w)) TRY(engine_execute(w->copier, "SET SESSION preserve_insertion_order = false", err));
    if (w->spec->bundles_small) TRY(read_groups_whole(w, err));
    TRY(copy_query(w, tap, file, &made->num_records, err));
    *out_done = write_tap_rows(tap) == made->num_records;
    if (made->num_records == 0 || !*out_done) return forget_file(w, file); /* COPY makes a file of no rows; and statistics of other rows are none */
    TRY(file_size(w, file->local, &made->size_bytes, err));
    buf stats;
    buf_init(&stats, BUF_MAX_DEFAULT);
    silt_status status = write_tap_finish(tap, w->copier, file->local, out_done, &stats, err);
    if (status == SILT_OK) status = *out_done ? keep_file(w, made, &stats, err) : forget_file(w, file);
    buf_dispose(&stats);
    return status;
}

/* *out_done is false when no column can carry the tap, or it was called for other rows than were written; nothing is left then. */
static silt_status write_directly(writer *w, bool *out_done, silt_error *err) {
    written_file made = {.partition = ARENA_ARRAY(w->arena, 1, value)};
    open_file file;
    write_tap *tap;
    if (!made.partition) return error_no_memory(err);
    *out_done = write_tap_is_possible(w->spec);
    if (!*out_done) return SILT_OK;
    TRY(name_file(w, NULL, &made.path, err));
    TRY(begin_store_file(w, made.path, &file, err));
    TRY(write_tap_open(w->engine, w->spec, arena_cstr(w->arena, file.local), &tap, err));
    silt_status status = write_with_tap(w, tap, &file, &made, out_done, err);
    engine_disconnect(w->copier);
    w->copier = NULL;
    write_tap_close(tap);
    return status;
}

/* ---- rows in the order of a curve ---- */

static silt_status write_ordered(writer *w, const engine_curve *curve, silt_error *err) {
    rows_guess guess = {0};
    query *q = w->query.query;
    TRY(write_sorted_query(w->arena, q, &w->query.query, err));
    TRY(running_query_print(&w->query, false, err));
    if (guess_rows(w, q, &guess) && write_sorted_is_possible(w->spec, &w->query))
        TRY(write_sorted_run(&w->query, curve, w->spec, guess.file_bytes, guess.file_rows, &w->sorted, err));
    if (!w->sorted) {
        TRY(open_feed(w, true, err));
        return write_files(w, err);
    }
    TRY(write_feed_open_sorted(&w->query, write_sorted_rows(w->sorted), w->spec, &w->feed, err));
    TRY(open_copier(w, err));
    return write_files(w, err);
}

static silt_status write_rows(writer *w, silt_error *err) {
    bool done = false;
    const engine_curve *curve = write_sorted_curve(w->engine, w->query.query);
    if (curve) return write_ordered(w, curve, err);
    TRY(running_query_print(&w->query, false, err));
    if (makes_one_file(w)) TRY(write_directly(w, &done, err));
    query *q = w->query.query;
    if (done) return SILT_OK;
    if (!is_in_two_parts(w, q)) return write_by_feed(w, err);
    TRY(write_part(w, q->left, err));
    return write_part(w, q->right, err);
}

/* ---- durability ---- */

/* What the store says of its time: on a remote one another request each, so that it is asked beside the others' uploads. */
static silt_status note_time(writer *w, size_t i, silt_error *err) {
    store_entry entry;
    arena *a = arena_new();
    if (!a) return error_no_memory(err);
    silt_status status = store_stat(w->spec->store, w->open[i].path, a, &entry, err);
    if (status == SILT_OK) w->out->files[i].modified_ms = entry.modified_ms;
    arena_free(a);
    return status;
}

static silt_status finish_one(void *ctx, size_t i, silt_error *err) {
    writer *w = ctx;
    w->open[i].sent = true;
    TRY(store_write_finish(w->spec->store, w->open[i].path, w->open[i].local, err));
    w->open[i].finished = true;
    return i < w->out->n_files ? note_time(w, i, err) : SILT_OK;
}

/* Each waits for the disk or the network, not for a processor. */
static silt_status finish_files(writer *w, silt_error *err) { return thread_for(16, w->n_open, finish_one, w, err); }

static void remove_files(writer *w) {
    for (size_t i = 0; i < w->n_open; i++) {
        if (!w->open[i].finished) store_write_abort(w->spec->store, w->open[i].path, w->open[i].local);
        if (w->open[i].finished || (w->open[i].sent && store_is_remote(w->spec->store))) /* it may have arrived */
            (void)!store_remove(w->spec->store, w->open[i].path, NULL);
    }
}

/*
 * DuckDB keeps what it reads of files in memory, for who reads it again. Bundles are read once, in pieces of a few hundred bytes of which the keeping costs more than the reading. The
 * setting is the whole engine's: what else reads at the same time goes to the system's cache meanwhile.
 */
static silt_status keep_what_is_read(engine *e, bool keep, silt_error *err) {
    engine_connection *c;
    TRY(engine_connect(e, &c, err));
    silt_status status = engine_execute(c, keep ? "SET GLOBAL enable_external_file_cache = true" : "SET GLOBAL enable_external_file_cache = false", err);
    engine_disconnect(c);
    return status;
}

silt_status engine_write(engine *e, query *q, const bind_env *env, const write_spec *spec, arena *a, write_result *out,
                         silt_error *err) {
    *out = (write_result){0};
    writer w = {.engine = e, .spec = spec, .arena = a, .out = out};
    silt_status status;
    TRY(copy_choose_format(spec->compression, &w.format, err));
    if (spec->bundles_small) TRY(keep_what_is_read(e, false, err));
    TRY_OUT(running_query_init(&w.query, e, q, env, err));
    w.query.scans.by_partition = spec->n_partition_columns > 0;
    w.query.scans.bundles_small = spec->bundles_small;
    w.query.scans.one_thread = spec->one_thread;
    TRY_OUT(write_rows(&w, err));
    TRY_OUT(finish_files(&w, err));
out:
    write_feed_close(w.feed);
    engine_disconnect(w.copier);
    write_sorted_free(w.sorted);
    running_query_dispose(&w.query);
    if (spec->bundles_small) (void)!keep_what_is_read(e, true, NULL);
    if (status != SILT_OK) {
        remove_files(&w);
        *out = (write_result){0};
    }
    return status;
}

void engine_write_discard(const write_spec *spec, const write_result *r) {
    arena *a = arena_new();
    for (size_t i = 0; a && i < r->n_files; i++) {
        str path = path_join(a, spec->root, r->files[i].path);
        if (path.ptr) (void)!store_remove(spec->store, path, NULL);
    }
    arena_free(a);
}
