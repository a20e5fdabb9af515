/*
 * silt_deal(sorter, key, c0, c1, …) → 1: the rows of a query, handed to a sorter from within the query's own threads. Volatile, so that DuckDB neither folds it nor calls it
 * twice; and the sum over its results is compared with what the sorter got, so that a plan which evaluates it for other rows is found out.
 */
#include "engine/write_sorted.h"

#include <stdlib.h>
#include <string.h>

/* Of what DuckDB may use: it needs the rest for reading, and then for row groups that are being written. */
#define MEMORY_SHARE 4
#define LEAST_MEMORY ((int64_t)32 << 20)
#define MOST_MEMORY  ((int64_t)192 << 20) /* more saves but a little: pages that are written to the file come back from the system's cache */

#define BYTES_PER_FILE_BYTE 5 /* rows in memory to their compressed file, where the number of rows is not known */

struct write_sorted {
    engine *engine;
    uint64_t id;
    const write_spec *spec;
    row_sorter *rows;
    pthread_mutex_t mutex; /* guards the error */
    silt_error error;
};

row_sorter *write_sorted_rows(write_sorted *s) { return s->rows; }

/* ---- the query ---- */

const engine_curve *write_sorted_curve(engine *e, const query *q) {
    bool plain = q->set == SET_NONE && q->n_ctes == 0 && q->n_order_by == 1 && !q->distinct && !q->has_aggregates && !q->limit && !q->offset;
    return plain && !q->order_by[0].descending ? curve_of_key(e, q->order_by[0].value) : NULL;
}

silt_status write_sorted_query(arena *a, const query *q, query **out, silt_error *err) {
    query *made = ARENA_NEW(a, query);
    expr **items = ARENA_ARRAY(a, q->n_projections + 1, expr *);
    if (!made || !items) return error_no_memory(err);
    *made = *q;
    memcpy(items, q->projections, q->n_projections * sizeof *items);
    items[q->n_projections] = q->order_by[0].value;
    made->projections = items;
    made->n_projections = q->n_projections + 1;
    made->order_by = NULL;
    made->n_order_by = 0;
    made->column_used = NULL;
    *out = made;
    return SILT_OK;
}

static bool same_partition(const scan_file *a, const scan_file *b, size_t n) {
    for (size_t i = 0; i < n; i++) {
        const value *x = &a->partition[i], *y = &b->partition[i];
        bool comparable = true;
        if (x->is_null != y->is_null) return false;
        if (!x->is_null && (value_compare(x, y, &comparable) != 0 || !comparable)) return false;
    }
    return true;
}

bool write_sorted_is_possible(const write_spec *spec, const running_query *r) {
    for (size_t i = 0; i < spec->schema->n_fields; i++)
        if (!row_layout_takes(spec->schema->fields[i].type)) return false;
    if (spec->n_partition_columns == 0) return true;
    if (r->scans.n_nodes != 1) return false;
    const table_scan *scan = &r->scans.nodes[0]->scan;
    for (size_t i = 1; i < scan->n_files; i++)
        if (!scan->files[0].partition || !same_partition(&scan->files[0], &scan->files[i], spec->n_partition_columns)) return false;
    return true;
}

/* ---- memory ---- */

/* DuckDB's own text: "476.8 MiB". */
static int64_t parse_size(const char *text) {
    static const char units[] = "KMGTP";
    char *end;
    double n = strtod(text, &end);
    while (*end == ' ') end++;
    const char *unit = *end ? strchr(units, *end) : NULL;
    for (ptrdiff_t i = 0; unit && i <= unit - units; i++) n *= 1024;
    return n > 0 && n < 1e18 ? (int64_t)n : 0;
}

static silt_status memory_share(engine_connection *c, int64_t *out, silt_error *err) {
    duckdb_result result;
    TRY(engine_query(c, "SELECT current_setting('memory_limit')", &result, err));
    char *text = duckdb_value_varchar(&result, 0, 0);
    *out = text ? parse_size(text) / MEMORY_SHARE : 0;
    duckdb_free(text);
    duckdb_destroy_result(&result);
    if (*out < LEAST_MEMORY) *out = LEAST_MEMORY;
    if (*out > MOST_MEMORY) *out = MOST_MEMORY;
    return SILT_OK;
}

static int64_t type_bytes(const data_type *type) {
    int64_t bytes = 0;
    switch (type->id) {
        case TYPE_STRING:
        case TYPE_BINARY: return 32;
        case TYPE_ARRAY:
        case TYPE_MAP: return 128;
        case TYPE_STRUCT:
            for (size_t i = 0; i < type->n_fields; i++) bytes += type_bytes(type->fields[i].type);
            return bytes;
        case TYPE_DECIMAL: return type->precision > 18 ? 16 : 8;
        default: return 8;
    }
}

/* ---- the sorter ---- */

static silt_status make_sorter(write_sorted *s, const engine_curve *curve, row_sorter_options *options, silt_error *err) {
    options->sample = curve->quantiles;
    options->n_sample = curve->n_quantiles;
    options->temp_directory = s->engine->temp.path;
    s->rows = row_sorter_new(options);
    return s->rows ? SILT_OK : error_no_memory(err);
}

void write_sorted_free(write_sorted *s) {
    if (!s) return;
    if (s->id) engine_unregister(s->engine, &s->engine->sorters, s->id);
    row_sorter_free(s->rows);
    pthread_mutex_destroy(&s->mutex);
    free(s);
}

static void print_deal(const write_sorted *s, str rows, size_t n_columns, buf *out) {
    buf_printf(out, "SELECT CAST(coalesce(sum(silt_deal(%llu, c%zu", (unsigned long long)s->id, n_columns);
    for (size_t i = 0; i < n_columns; i++) buf_printf(out, ", c%zu", i);
    buf_append_z(out, ")), 0) AS BIGINT) FROM (");
    buf_append(out, rows);
    buf_append_z(out, ") r");
}

static silt_status run_deal(write_sorted *s, running_query *r, engine_connection *c, int64_t *out_rows, silt_error *err) {
    buf sql;
    duckdb_result result;
    buf_init(&sql, BUF_MAX_DEFAULT);
    print_deal(s, buf_str(&r->sql), s->spec->schema->n_fields, &sql);
    const char *text = buf_cstr(&sql);
    silt_status status = text ? engine_query(c, text, &result, err) : error_no_memory(err);
    buf_dispose(&sql);
    if (status == SILT_OK) {
        *out_rows = duckdb_value_int64(&result, 0, 0);
        duckdb_destroy_result(&result);
        return SILT_OK;
    }
    if (s->error.status != SILT_OK) {
        if (err) *err = s->error;
        return s->error.status;
    }
    return text ? running_query_failure(r, status, err) : status;
}

static silt_status run_sorter(write_sorted *s, running_query *r, const engine_curve *curve, int64_t bytes, int64_t rows, bool *out_done, silt_error *err) {
    engine_connection *c;
    row_sorter_options options = {.bytes = bytes * BYTES_PER_FILE_BYTE, .threads = s->engine->threads > 0 ? s->engine->threads : thread_count_default()};
    int64_t dealt = 0, row_bytes = 0;
    for (size_t i = 0; i < s->spec->schema->n_fields; i++) row_bytes += type_bytes(s->spec->schema->fields[i].type);
    if (rows >= 0) options.bytes = rows * row_bytes;
    TRY(running_query_connect(r, &c, err));
    silt_status status = memory_share(c, &options.memory_bytes, err);
    if (status == SILT_OK) status = make_sorter(s, curve, &options, err);
    if (status == SILT_OK && !engine_register(s->engine, &s->engine->sorters, s, &s->id)) status = error_no_memory(err);
    if (status == SILT_OK) status = run_deal(s, r, c, &dealt, err);
    engine_disconnect(c);
    *out_done = status == SILT_OK && dealt == row_sorter_rows(s->rows);
    return status;
}

silt_status write_sorted_run(running_query *r, const engine_curve *curve, const write_spec *spec, int64_t bytes, int64_t rows, write_sorted **out, silt_error *err) {
    bool done = false;
    *out = NULL;
    write_sorted *s = calloc(1, sizeof *s);
    if (!s) return error_no_memory(err);
    s->engine = r->engine;
    s->spec = spec;
    pthread_mutex_init(&s->mutex, NULL);
    silt_status status = run_sorter(s, r, curve, bytes, rows, &done, err);
    if (done)
        *out = s;
    else
        write_sorted_free(s);
    return status;
}

/* ---- the function ---- */

/* What the query gives must be what the table's files are to hold. */
static bool types_fit(const write_spec *spec, duckdb_data_chunk in) {
    bool fit = duckdb_data_chunk_get_column_count(in) == spec->schema->n_fields + 2;
    for (size_t i = 0; fit && i < spec->schema->n_fields; i++) {
        duckdb_logical_type found = duckdb_vector_get_column_type(duckdb_data_chunk_get_vector(in, 2 + i));
        fit = engine_type_fits(found, spec->schema->fields[i].type);
        duckdb_destroy_logical_type(&found);
    }
    return fit;
}

static silt_status deal_chunk(const write_sorted *s, row_dealer *dealer, duckdb_data_chunk in, size_t n, silt_error *err) {
    duckdb_vector few[64], *columns = few;
    size_t n_columns = s->spec->schema->n_fields;
    if (!types_fit(s->spec, in)) return err_INTERNAL_ERROR(err, "a write's query has a column of another type than its table");
    if (n_columns > ARRAY_LEN(few) && !(columns = calloc(n_columns, sizeof *columns))) return error_no_memory(err);
    for (size_t i = 0; i < n_columns; i++) columns[i] = duckdb_data_chunk_get_vector(in, 2 + i);
    silt_status status = row_sorter_deal(dealer, columns, n_columns, duckdb_vector_get_data(duckdb_data_chunk_get_vector(in, 1)), n, err);
    if (columns != few) free(columns);
    return status;
}

/* A thread's state is a slot for its dealer, found at the first call, when the sorter is known. */
static void init(duckdb_init_info info) {
    row_dealer **slot = calloc(1, sizeof *slot);
    if (!slot)
        duckdb_scalar_function_init_set_error(info, "Out of Memory Error: rows to be sorted");
    else
        duckdb_scalar_function_init_set_state(info, slot, free);
}

static silt_status deal_rows(write_sorted *s, row_dealer **slot, duckdb_data_chunk in, size_t n, silt_error *err) {
    if (!slot || (!*slot && !(*slot = row_sorter_join(s->rows)))) return error_no_memory(err);
    return deal_chunk(s, *slot, in, n, err);
}

static void deal(duckdb_function_info info, duckdb_data_chunk in, duckdb_vector out) {
    engine *e = duckdb_scalar_function_get_extra_info(info);
    size_t n = duckdb_data_chunk_get_size(in);
    int64_t *ones = duckdb_vector_get_data(out);
    if (n == 0) return;
    const int64_t *id = duckdb_vector_get_data(duckdb_data_chunk_get_vector(in, 0));
    write_sorted *s = engine_find(e, &e->sorters, (uint64_t)id[0]);
    if (!s) {
        duckdb_scalar_function_set_error(info, "[INTERNAL_ERROR|XX000] a sorter's number is unknown[/]");
        return;
    }
    silt_error error = {0};
    silt_status status = deal_rows(s, duckdb_scalar_function_get_state(info), in, n, &error);
    for (size_t i = 0; i < n; i++) ones[i] = 1;
    if (status == SILT_OK) return;
    pthread_mutex_lock(&s->mutex);
    if (s->error.status == SILT_OK) {
        s->error = error;
        s->error.status = status;
    }
    pthread_mutex_unlock(&s->mutex);
    duckdb_scalar_function_set_error(info, "the rows of a write could not be kept");
}

silt_status engine_register_sorted(engine *e, duckdb_connection connection, silt_error *err) {
    duckdb_scalar_function f = duckdb_create_scalar_function();
    duckdb_logical_type number = duckdb_create_logical_type(DUCKDB_TYPE_BIGINT), any = duckdb_create_logical_type(DUCKDB_TYPE_ANY);
    duckdb_scalar_function_set_name(f, "silt_deal");
    duckdb_scalar_function_add_parameter(f, number);
    duckdb_scalar_function_add_parameter(f, number);
    duckdb_scalar_function_set_varargs(f, any);
    duckdb_scalar_function_set_return_type(f, number);
    duckdb_scalar_function_set_special_handling(f);
    duckdb_scalar_function_set_volatile(f);
    duckdb_scalar_function_set_extra_info(f, e, NULL);
    duckdb_scalar_function_set_init(f, init);
    duckdb_scalar_function_set_function(f, deal);
    bool ok = duckdb_register_scalar_function(connection, f) == DuckDBSuccess;
    duckdb_destroy_logical_type(&number);
    duckdb_destroy_logical_type(&any);
    duckdb_destroy_scalar_function(&f);
    return ok ? SILT_OK : err_INTERNAL_ERROR(err, "silt_deal cannot be registered");
}
