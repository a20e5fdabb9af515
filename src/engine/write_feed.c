/**
 * silt_feed: see write_feed.h.
 *
 * Several threads of one COPY call it. Each keeps its turn for the rows of one row group, so that groups hold rows that follow each other (their bounds stay narrow, a
 * sorted input gives a sorted file) while another thread still compresses its own group; statistics are counted outside the lock, in a tree per thread. A turn
 * that is not used ends after a moment: DuckDB may run another task on the thread that had it, and waiting for it for good could be waiting for oneself.
 */
#include "engine/write_feed.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "engine/write_copy.h"
#include "engine/write_partition.h"
#include "engine/write_watch.h"

#define ROW_GROUP_ROWS 122880 /* DuckDB's default: 60 chunks */
#define FIRST_RATIO    0.5 /* file bytes per byte in memory until a file has been written; that file is looked at on disk too */

typedef struct feed_local {
    stats_tree *stats;
    int64_t turn_rows; /* rows left in the turn */
    struct feed_local *next;
} feed_local;

struct write_feed {
    engine *engine;
    uint64_t id;
    const write_spec *spec;
    running_query *query;
    engine_stream stream;
    row_sorter *sorter; /* gives the rows instead of the stream where there is one */
    pthread_mutex_t mutex;
    pthread_cond_t turn_free;
    /* guarded by the mutex */
    duckdb_data_chunk chunk; /* the current chunk, NULL before the first and behind the last */
    size_t at, n;            /* rows of it not yet given: [at, n) */
    bool at_end, file_full;
    duckdb_data_chunk first; /* holds the file's partition values, at row first_row */
    size_t first_row;
    int64_t rows, memory_bytes; /* of the file */
    write_watch watch;
    double ratio;
    bool ratio_is_known;
    const feed_local *turn;
    feed_local *locals;
    silt_error error;
};

/* ---- opening ---- */

static silt_status check_types(write_feed *f, silt_error *err) {
    const data_type *schema = f->spec->schema;
    if (duckdb_column_count(&f->stream.result) != schema->n_fields)
        return err_INTERNAL_ERROR(err, "a write's query has another number of columns than its table");
    for (size_t i = 0; i < schema->n_fields; i++) {
        duckdb_logical_type found = duckdb_column_logical_type(&f->stream.result, i);
        bool fits = schema->fields[i].type->id == TYPE_VOID || engine_type_fits(found, schema->fields[i].type);
        duckdb_destroy_logical_type(&found);
        if (fits) continue;
        silt_status status = err_INTERNAL_ERROR(err, "a write's query has a column of another type than its table");
        error_detail(err, "column %.*s", STR_ARG(schema->fields[i].name));
        return status;
    }
    return SILT_OK;
}

/* One of `sql` and `sorter` is NULL. */
static silt_status open_feed(running_query *source, const char *sql, row_sorter *sorter, const write_spec *spec, write_feed **out,
                             silt_error *err) {
    write_feed *f = calloc(1, sizeof *f);
    if (!f) return error_no_memory(err);
    *f = (write_feed){.engine = source->engine, .spec = spec, .query = source, .sorter = sorter, .ratio = FIRST_RATIO, .watch = WRITE_WATCH_NONE};
    pthread_mutex_init(&f->mutex, NULL);
    pthread_cond_init(&f->turn_free, NULL);
    silt_status status;
    if (sql) TRY_OUT(running_query_stream(source, sql, &f->stream, err));
    if (sql) TRY_OUT(check_types(f, err));
    if (!engine_register(f->engine, &f->engine->feeds, f, &f->id)) TRY_OUT(error_no_memory(err));
    *out = f;
    return SILT_OK;
out:
    write_feed_close(f);
    return status;
}

silt_status write_feed_open(running_query *source, const char *sql, const write_spec *spec, write_feed **out, silt_error *err) {
    return open_feed(source, sql, NULL, spec, out, err);
}

silt_status write_feed_open_sorted(running_query *source, row_sorter *sorter, const write_spec *spec, write_feed **out,
                                   silt_error *err) {
    return open_feed(source, NULL, sorter, spec, out, err);
}

static void free_locals(write_feed *f) {
    while (f->locals) {
        feed_local *next = f->locals->next;
        stats_tree_free(f->locals->stats);
        free(f->locals);
        f->locals = next;
    }
}

void write_feed_close(write_feed *f) {
    if (!f) return;
    if (f->id) engine_unregister(f->engine, &f->engine->feeds, f->id);
    if (f->first && f->first != f->chunk) duckdb_destroy_data_chunk(&f->first);
    if (f->chunk) duckdb_destroy_data_chunk(&f->chunk);
    if (!f->sorter) engine_stream_close(&f->stream);
    free_locals(f);
    write_watch_set(&f->watch, NULL);
    pthread_cond_destroy(&f->turn_free);
    pthread_mutex_destroy(&f->mutex);
    free(f);
}

uint64_t write_feed_id(const write_feed *f) { return f->id; }
const silt_error *write_feed_error(const write_feed *f) { return &f->error; }

/* ---- rows ---- */

/* Makes sure that there are rows in [at, n), or at_end. */
static silt_status fill_chunk(write_feed *f, silt_error *err) {
    if (f->at < f->n || f->at_end) return SILT_OK;
    if (f->chunk && f->chunk != f->first) duckdb_destroy_data_chunk(&f->chunk);
    f->chunk = NULL;
    f->at = f->n = 0;
    if (f->sorter) {
        TRY(row_sorter_next(f->sorter, &f->chunk, err));
    } else {
        silt_status status = engine_stream_next(&f->stream, &f->chunk, err);
        if (status != SILT_OK) return running_query_failure(f->query, status, err);
    }
    f->at_end = f->chunk == NULL;
    if (f->chunk) f->n = duckdb_data_chunk_get_size(f->chunk);
    return SILT_OK;
}

static bool is_same_partition(const write_feed *f, size_t row) {
    for (size_t i = 0; i < f->spec->n_partition_columns; i++) {
        uint32_t column = f->spec->partition_columns[i];
        if (!partition_rows_equal(duckdb_data_chunk_get_vector(f->chunk, column), f->spec->schema->fields[column].type, row,
                                  duckdb_data_chunk_get_vector(f->first, column), f->first_row))
            return false;
    }
    return true;
}

/* End of the rows of the current chunk that belong to the file's partition. Sorted input: a binary search. */
static size_t partition_end(const write_feed *f) {
    if (f->spec->n_partition_columns == 0 || is_same_partition(f, f->n - 1)) return f->n;
    size_t low = f->at, high = f->n - 1; /* the first different row is in [low, high] */
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (is_same_partition(f, middle))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

void write_feed_set_path(write_feed *f, const char *local_path) { write_watch_set(&f->watch, local_path); }

silt_status write_feed_begin_file(write_feed *f, arena *a, bool *out_more, value **out_partition, silt_error *err) {
    TRY(fill_chunk(f, err));
    *out_more = !f->at_end;
    if (f->at_end) return SILT_OK;
    if (f->first && f->first != f->chunk) duckdb_destroy_data_chunk(&f->first);
    f->first = f->chunk;
    f->first_row = f->at;
    f->rows = f->memory_bytes = 0;
    write_watch_set(&f->watch, NULL);
    f->file_full = false;
    f->turn = NULL;
    size_t n = f->spec->n_partition_columns;
    *out_partition = ARENA_ARRAY(a, n + 1, value);
    if (!*out_partition) return error_no_memory(err);
    for (size_t i = 0; i < n; i++) {
        uint32_t column = f->spec->partition_columns[i];
        TRY(partition_row_value(duckdb_data_chunk_get_vector(f->chunk, column), f->spec->schema->fields[column].type, f->at, a,
                                &(*out_partition)[i], err));
    }
    return SILT_OK;
}

static silt_status merge_stats(write_feed *f, buf *stats, silt_error *err) {
    stats_tree *all = stats_tree_new(f->spec);
    bool ok = all != NULL;
    for (feed_local *l = f->locals; ok && l; l = l->next) ok = stats_tree_merge(all, l->stats);
    silt_status status = SILT_OK;
    if (!ok)
        status = error_no_memory(err);
    else if (stats_tree_rows(all) != f->rows)
        status = err_INTERNAL_ERROR(err, "statistics and rows of a written file differ in number");
    else
        stats_tree_write(all, stats);
    stats_tree_free(all);
    return status;
}

/* The lock makes what the threads counted visible here; each of them took it once more after its last rows. */
silt_status write_feed_end_file(write_feed *f, int64_t file_bytes, int64_t *out_rows, buf *stats, silt_error *err) {
    pthread_mutex_lock(&f->mutex);
    *out_rows = f->rows;
    if (f->memory_bytes > 0 && file_bytes > 0) {
        f->ratio = (double)file_bytes / (double)f->memory_bytes;
        f->ratio_is_known = true;
    }
    silt_status status = f->spec->collect_stats ? merge_stats(f, stats, err) : SILT_OK;
    free_locals(f);
    pthread_mutex_unlock(&f->mutex);
    return status;
}

/* ---- the table function ---- */

static write_feed *find_feed(duckdb_bind_info info) {
    engine *e = duckdb_bind_get_extra_info(info);
    duckdb_value id = duckdb_bind_get_parameter(info, 0);
    write_feed *f = engine_find(e, &e->feeds, (uint64_t)duckdb_get_int64(id));
    duckdb_destroy_value(&id);
    return f;
}

static void bind(duckdb_bind_info info) {
    write_feed *f = find_feed(info);
    if (!f) {
        duckdb_bind_set_error(info, "unknown feed");
        return;
    }
    for (size_t i = 0; i < f->spec->schema->n_fields; i++) {
        const data_type *type = f->spec->schema->fields[i].type;
        char name[24];
        snprintf(name, sizeof name, "c%zu", i);
        /* Physical names: the vectors are the query's, under the names of the file. */
        duckdb_logical_type made =
            write_holds_variant(type) ? duckdb_column_logical_type(&f->stream.result, i) : engine_logical_type(type, true);
        if (!made) {
            duckdb_bind_set_error(info, "out of memory");
            return;
        }
        duckdb_bind_add_result_column(info, name, made);
        duckdb_destroy_logical_type(&made);
    }
    duckdb_bind_set_bind_data(info, f, NULL);
}

static void init(duckdb_init_info info) {
    write_feed *f = duckdb_init_get_bind_data(info);
    int threads = f->engine->threads > 0 ? f->engine->threads : thread_count_default();
    duckdb_init_set_max_threads(info, (idx_t)threads);
}

static void init_local(duckdb_init_info info) {
    write_feed *f = duckdb_init_get_bind_data(info);
    feed_local *l = calloc(1, sizeof *l);
    if (l && f->spec->collect_stats && !(l->stats = stats_tree_new(f->spec))) {
        free(l);
        l = NULL;
    }
    if (!l) {
        duckdb_init_set_error(info, "out of memory");
        return;
    }
    pthread_mutex_lock(&f->mutex);
    l->next = f->locals;
    f->locals = l;
    pthread_mutex_unlock(&f->mutex);
    duckdb_init_set_init_data(info, l, NULL); /* freed by the feed, which still needs its statistics */
}

static void take_turn(write_feed *f, feed_local *l) {
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += 20 * 1000 * 1000;
    if (until.tv_nsec >= 1000 * 1000 * 1000) {
        until.tv_nsec -= 1000 * 1000 * 1000;
        until.tv_sec++;
    }
    while (f->turn && f->turn != l && !f->file_full && !f->at_end)
        if (pthread_cond_timedwait(&f->turn_free, &f->mutex, &until) != 0) break;
    if (f->turn == l) return;
    f->turn = l;
    l->turn_rows = ROW_GROUP_ROWS;
}

static void give_turn(write_feed *f, const feed_local *l) {
    if (f->turn != l) return;
    f->turn = NULL;
    pthread_cond_broadcast(&f->turn_free);
}

static size_t text_bytes(duckdb_vector vector, size_t from, size_t to) {
    const duckdb_string_t *s = duckdb_vector_get_data(vector);
    uint64_t *validity = duckdb_vector_get_validity(vector);
    size_t bytes = 4 * (to - from);
    for (size_t i = from; i < to; i++)
        if (!validity || duckdb_validity_row_is_valid(validity, i)) bytes += s[i].value.inlined.length;
    return bytes;
}

static size_t vector_bytes(duckdb_vector vector, const data_type *type, size_t from, size_t to) {
    size_t n = to - from, bytes = 0;
    switch (type->id) {
        case TYPE_STRING:
        case TYPE_BINARY: return text_bytes(vector, from, to);
        case TYPE_BOOLEAN:
        case TYPE_BYTE: return n;
        case TYPE_SHORT: return 2 * n;
        case TYPE_INT:
        case TYPE_FLOAT:
        case TYPE_DATE: return 4 * n;
        case TYPE_DECIMAL: return (type->precision > 18 ? 16 : 8) * n;
        case TYPE_STRUCT:
            for (size_t i = 0; i < type->n_fields; i++)
                bytes += vector_bytes(duckdb_struct_vector_get_child(vector, i), type->fields[i].type, from, to);
            return bytes;
        case TYPE_ARRAY: {
            size_t all = duckdb_list_vector_get_size(vector);
            return 4 * n + vector_bytes(duckdb_list_vector_get_child(vector), type->element, 0, all);
        }
        case TYPE_MAP: return 4 * n + 32 * duckdb_list_vector_get_size(vector);
        case TYPE_VARIANT: return 64 * n;
        default: return 8 * n;
    }
}

static int64_t chunk_bytes(const write_feed *f, duckdb_data_chunk chunk, size_t from, size_t to) {
    size_t bytes = 0;
    for (size_t i = 0; i < f->spec->schema->n_fields; i++)
        bytes += vector_bytes(duckdb_data_chunk_get_vector(chunk, i), f->spec->schema->fields[i].type, from, to);
    return (int64_t)bytes;
}

/* By what the last file taught, and for the first one by what is on disk already (whole row groups). */
static bool is_large_enough(write_feed *f) {
    int64_t on_disk = write_watch_rows(&f->watch, f->rows);
    if (f->spec->target_file_bytes <= 0) return false;
    if ((double)f->memory_bytes * f->ratio >= (double)f->spec->target_file_bytes) return true;
    return !f->ratio_is_known && on_disk >= f->spec->target_file_bytes;
}

/* Rows [*out_from, *out_to) of *out_chunk for this call, none when the file is complete. *out_owned: the caller ends the chunk. */
static silt_status take_rows(write_feed *f, feed_local *l, duckdb_data_chunk *out_chunk, size_t *out_from, size_t *out_to,
                             bool *out_owned, silt_error *err) {
    *out_chunk = NULL;
    if (f->error.status != SILT_OK || f->file_full) return SILT_OK;
    TRY(fill_chunk(f, err));
    if (f->at_end) return SILT_OK;
    size_t end = partition_end(f);
    int64_t most = f->spec->max_records_per_file - f->rows;
    if (f->spec->max_records_per_file > 0 && (int64_t)(end - f->at) > most) end = f->at + (size_t)most;
    if (end == f->at) {
        f->file_full = true;
        return SILT_OK;
    }
    int64_t limit = f->spec->max_records_per_file;
    if (limit > 0 && (int64_t)(end - f->at) > limit - f->rows) end = f->at + (size_t)(limit - f->rows);
    *out_chunk = f->chunk;
    *out_from = f->at;
    *out_to = end;
    f->rows += (int64_t)(end - f->at);
    f->memory_bytes += chunk_bytes(f, f->chunk, f->at, end);
    l->turn_rows -= (int64_t)(end - f->at);
    f->at = end;
    if (end < f->n) f->file_full = true; /* the next row is of another partition, or one too many */
    if (limit > 0 && f->rows >= limit) f->file_full = true;
    if (is_large_enough(f)) f->file_full = true;
    *out_owned = f->at == f->n && f->chunk != f->first;
    if (*out_owned) {
        f->chunk = NULL;
        f->at = f->n = 0;
    }
    return SILT_OK;
}

static void emit(duckdb_data_chunk chunk, size_t from, size_t to, duckdb_data_chunk out) {
    size_t n = to - from, rows = duckdb_data_chunk_get_size(chunk);
    duckdb_selection_vector selection = NULL;
    if (n < rows) {
        selection = duckdb_create_selection_vector(n);
        sel_t *index = duckdb_selection_vector_get_data_ptr(selection);
        for (size_t i = 0; i < n; i++) index[i] = (sel_t)(from + i);
    }
    for (idx_t i = 0; i < duckdb_data_chunk_get_column_count(out); i++) {
        duckdb_vector to_vector = duckdb_data_chunk_get_vector(out, i);
        duckdb_vector_reference_vector(to_vector, duckdb_data_chunk_get_vector(chunk, i));
        if (selection) duckdb_slice_vector(to_vector, selection, n);
    }
    if (selection) duckdb_destroy_selection_vector(selection);
    duckdb_data_chunk_set_size(out, n);
}

static bool count_rows(const write_feed *f, feed_local *l, duckdb_data_chunk chunk, size_t from, size_t to) {
    if (!l->stats) return true;
    arena *a = arena_new();
    size_t n = f->spec->schema->n_fields;
    duckdb_vector *columns = a ? ARENA_ARRAY(a, n + 1, duckdb_vector) : NULL;
    for (size_t i = 0; columns && i < n; i++)
        if (f->spec->schema->fields[i].type->id != TYPE_VOID) columns[i] = duckdb_data_chunk_get_vector(chunk, i);
    bool ok = columns && stats_tree_add(l->stats, columns, from, to);
    arena_free(a);
    return ok;
}

static void run(duckdb_function_info info, duckdb_data_chunk out) {
    write_feed *f = duckdb_function_get_bind_data(info);
    feed_local *l = duckdb_function_get_local_init_data(info);
    duckdb_data_chunk chunk;
    size_t from = 0, to = 0;
    bool owned = false;
    pthread_mutex_lock(&f->mutex);
    take_turn(f, l);
    silt_error error = {0};
    silt_status status = take_rows(f, l, &chunk, &from, &to, &owned, &error);
    if (status != SILT_OK && f->error.status == SILT_OK) {
        f->error = error;
        f->error.status = status;
    }
    if (!chunk || l->turn_rows <= 0 || f->file_full) give_turn(f, l);
    bool failed = f->error.status != SILT_OK;
    if (chunk) emit(chunk, from, to, out); /* under the lock: the chunk may be shared with the next file */
    pthread_mutex_unlock(&f->mutex);
    if (!chunk) duckdb_data_chunk_set_size(out, 0);
    if (failed) duckdb_function_set_error(info, "the query of a write failed");
    if (chunk && !count_rows(f, l, chunk, from, to)) duckdb_function_set_error(info, "Out of Memory Error: statistics");
    if (chunk && owned) duckdb_destroy_data_chunk(&chunk);
}

silt_status engine_register_feed(engine *e, duckdb_connection connection, silt_error *err) {
    duckdb_table_function f = duckdb_create_table_function();
    duckdb_logical_type id = duckdb_create_logical_type(DUCKDB_TYPE_BIGINT);
    duckdb_table_function_set_name(f, "silt_feed");
    duckdb_table_function_add_parameter(f, id);
    duckdb_table_function_set_extra_info(f, e, NULL);
    duckdb_table_function_set_bind(f, bind);
    duckdb_table_function_set_init(f, init);
    duckdb_table_function_set_local_init(f, init_local);
    duckdb_table_function_set_function(f, run);
    bool ok = duckdb_register_table_function(connection, f) == DuckDBSuccess;
    duckdb_destroy_logical_type(&id);
    duckdb_destroy_table_function(&f);
    return ok ? SILT_OK : err_INTERNAL_ERROR(err, "silt_feed cannot be registered");
}
