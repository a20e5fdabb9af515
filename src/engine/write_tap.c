/**
 * silt_tap_<type>(tap, x, c0, c1, …) → x. One function per type of x, because the C API has no way to say "the type of the second argument"; volatile, so that DuckDB
 * neither folds it away for constant columns nor calls it twice. What it saw is compared with what COPY says it wrote, so that a plan which evaluates it for other rows
 * never makes a wrong statistic: the write is then done again by the feed.
 */
#include "engine/write_tap.h"

#include <stdio.h>
#include <stdlib.h>

#include "engine/write_footer_stats.h"
#include "engine/write_watch.h"

/* Of one thread; owned by the tap, because statistics outlive the thread's part of the plan. */
typedef struct tap_local {
    bool types_fit; /* of the columns that it was called with */
    stats_tree *stats;
    struct tap_local *next;
} tap_local;

struct write_tap {
    engine *engine;
    uint64_t id;
    const write_spec *spec;
    size_t column;
    const char *type_name;
    pthread_mutex_t mutex;
    stats_tree *all; /* what comes of the locals */
    tap_local *locals;
    int64_t rows;
    write_watch watch;
};

static const struct {
    type_id id;
    const char *name;
    duckdb_type type;
} through[] = {{TYPE_LONG, "long", DUCKDB_TYPE_BIGINT},
               {TYPE_INT, "int", DUCKDB_TYPE_INTEGER},
               {TYPE_STRING, "string", DUCKDB_TYPE_VARCHAR},
               {TYPE_DOUBLE, "double", DUCKDB_TYPE_DOUBLE},
               {TYPE_DATE, "date", DUCKDB_TYPE_DATE},
               {TYPE_TIMESTAMP, "timestamp", DUCKDB_TYPE_TIMESTAMP_TZ},
               {TYPE_TIMESTAMP_NTZ, "ntz", DUCKDB_TYPE_TIMESTAMP},
               {TYPE_BOOLEAN, "boolean", DUCKDB_TYPE_BOOLEAN},
               {TYPE_SHORT, "short", DUCKDB_TYPE_SMALLINT},
               {TYPE_BYTE, "byte", DUCKDB_TYPE_TINYINT},
               {TYPE_FLOAT, "float", DUCKDB_TYPE_FLOAT},
               {TYPE_BINARY, "binary", DUCKDB_TYPE_BLOB}};

/* ---- the tap ---- */

/* Fixed-width columns first: giving one through costs nothing, whatever its values. */
static bool choose_column(const data_type *schema, size_t *out_column, const char **out_name) {
    for (size_t k = 0; k < ARRAY_LEN(through); k++)
        for (size_t i = 0; i < schema->n_fields; i++) {
            if (schema->fields[i].type->id != through[k].id) continue;
            *out_column = i;
            *out_name = through[k].name;
            return true;
        }
    return false;
}

bool write_tap_is_possible(const write_spec *spec) {
    size_t column;
    const char *name;
    return choose_column(spec->schema, &column, &name);
}

static stats_tree *new_tree(const write_spec *spec) {
    stats_tree *made = stats_tree_new(spec);
    if (made) stats_tree_leave_to_footer(made);
    return made;
}

silt_status write_tap_open(engine *e, const write_spec *spec, const char *local_path, write_tap **out, silt_error *err) {
    size_t column;
    const char *name;
    if (!choose_column(spec->schema, &column, &name))
        return err_INTERNAL_ERROR(err, "no column can carry the statistics of a write");
    write_tap *t = calloc(1, sizeof *t);
    if (!t) return error_no_memory(err);
    *t = (write_tap){.engine = e, .spec = spec, .column = column, .type_name = name, .watch = WRITE_WATCH_NONE};
    pthread_mutex_init(&t->mutex, NULL);
    write_watch_set(&t->watch, local_path);
    t->all = new_tree(spec);
    if (!t->all || !engine_register(e, &e->taps, t, &t->id)) {
        write_tap_close(t);
        return error_no_memory(err);
    }
    *out = t;
    return SILT_OK;
}

void write_tap_close(write_tap *t) {
    if (!t) return;
    if (t->id) engine_unregister(t->engine, &t->engine->taps, t->id);
    while (t->locals) {
        tap_local *next = t->locals->next;
        stats_tree_free(t->locals->stats);
        free(t->locals);
        t->locals = next;
    }
    stats_tree_free(t->all);
    write_watch_set(&t->watch, NULL);
    pthread_mutex_destroy(&t->mutex);
    free(t);
}

size_t write_tap_column(const write_tap *t) { return t->column; }

/* Of the others the footer tells their types and statistics; to see them too costs the copy that DuckDB makes of a vector for a C function. */
static bool is_seen(const write_tap *t, size_t column) {
    const data_type *type = t->spec->schema->fields[column].type;
    return type->id != TYPE_VOID && !stats_are_in_footer(type);
}

void write_tap_print(const write_tap *t, buf *sql) {
    buf_printf(sql, "silt_tap_%s(%llu, c%zu", t->type_name, (unsigned long long)t->id, t->column);
    for (size_t i = 0; i < t->spec->schema->n_fields; i++)
        if (is_seen(t, i)) buf_printf(sql, ", c%zu", i);
    buf_append_char(sql, ')');
}

int64_t write_tap_rows(write_tap *t) {
    pthread_mutex_lock(&t->mutex);
    int64_t rows = t->rows;
    pthread_mutex_unlock(&t->mutex);
    return rows;
}

silt_status write_tap_finish(write_tap *t, engine_connection *c, str local_path, bool *out_done, buf *stats, silt_error *err) {
    pthread_mutex_lock(&t->mutex);
    bool ok = true;
    for (tap_local *l = t->locals; ok && l; l = l->next) ok = stats_tree_merge(t->all, l->stats);
    pthread_mutex_unlock(&t->mutex);
    if (!ok) return error_no_memory(err);
    TRY(write_footer_stats(t->all, t->spec, c, local_path, t->rows, out_done, err));
    if (*out_done) stats_tree_write(t->all, stats);
    return SILT_OK;
}

/* ---- the function ---- */

/* A thread's state is a slot for its tap_local, found at the first call, when the tap is known. */
static void init(duckdb_init_info info) {
    tap_local **slot = calloc(1, sizeof *slot);
    if (!slot)
        duckdb_scalar_function_init_set_error(info, "Out of Memory Error: statistics");
    else
        duckdb_scalar_function_init_set_state(info, slot, free);
}

static tap_local *local_of(write_tap *t, tap_local **slot) {
    if (*slot) return *slot;
    tap_local *l = calloc(1, sizeof *l);
    if (!l || !(l->stats = new_tree(t->spec))) {
        free(l);
        return NULL;
    }
    pthread_mutex_lock(&t->mutex);
    l->next = t->locals;
    t->locals = l;
    pthread_mutex_unlock(&t->mutex);
    return *slot = l;
}

/* What the query gives must be what the table's file is to hold: COPY itself would write anything. */
static bool types_fit(const write_tap *t, duckdb_data_chunk in) {
    const write_spec *spec = t->spec;
    bool fit = true;
    for (size_t i = 0, at = 2; fit && i < spec->schema->n_fields; i++) {
        if (!is_seen(t, i)) continue;
        duckdb_logical_type found = duckdb_vector_get_column_type(duckdb_data_chunk_get_vector(in, at++));
        fit = engine_type_fits(found, spec->schema->fields[i].type);
        duckdb_destroy_logical_type(&found);
    }
    return fit;
}

static void watch_rows(write_tap *t, size_t n) {
    pthread_mutex_lock(&t->mutex);
    t->rows += (int64_t)n;
    (void)write_watch_rows(&t->watch, t->rows);
    pthread_mutex_unlock(&t->mutex);
}

static bool count_rows(tap_local *l, const write_tap *t, duckdb_data_chunk in, size_t n) {
    duckdb_vector few[64], *columns = few;
    size_t n_columns = t->spec->schema->n_fields;
    if (n_columns > ARRAY_LEN(few) && !(columns = calloc(n_columns, sizeof *columns))) return false;
    for (size_t i = 0, at = 2; i < n_columns; i++) columns[i] = is_seen(t, i) ? duckdb_data_chunk_get_vector(in, at++) : NULL;
    bool ok = stats_tree_add(l->stats, columns, 0, n);
    if (columns != few) free(columns);
    return ok;
}

static void tap(duckdb_function_info info, duckdb_data_chunk in, duckdb_vector out) {
    engine *e = duckdb_scalar_function_get_extra_info(info);
    size_t n = duckdb_data_chunk_get_size(in);
    const int64_t *id = duckdb_vector_get_data(duckdb_data_chunk_get_vector(in, 0));
    write_tap *t = n ? engine_find(e, &e->taps, (uint64_t)id[0]) : NULL;
    tap_local **slot = duckdb_scalar_function_get_state(info);
    duckdb_vector_reference_vector(out, duckdb_data_chunk_get_vector(in, 1));
    if (n == 0) return;
    tap_local *l = t && slot ? local_of(t, slot) : NULL;
    if (l && !l->types_fit && !(l->types_fit = types_fit(t, in)))
        duckdb_scalar_function_set_error(info,
                                         "[INTERNAL_ERROR|XX000] a write's query has a column of another type than its table[/]");
    else if (!l || !count_rows(l, t, in, n))
        duckdb_scalar_function_set_error(info, "Out of Memory Error: statistics");
    else
        watch_rows(t, n);
}

static bool register_one(engine *e, duckdb_connection connection, const char *name, duckdb_type given) {
    char full_name[40];
    snprintf(full_name, sizeof full_name, "silt_tap_%s", name);
    duckdb_scalar_function f = duckdb_create_scalar_function();
    duckdb_logical_type id = duckdb_create_logical_type(DUCKDB_TYPE_BIGINT), type = duckdb_create_logical_type(given),
                        any = duckdb_create_logical_type(DUCKDB_TYPE_ANY);
    duckdb_scalar_function_set_name(f, full_name);
    duckdb_scalar_function_add_parameter(f, id);
    duckdb_scalar_function_add_parameter(f, type);
    duckdb_scalar_function_set_varargs(f, any);
    duckdb_scalar_function_set_return_type(f, type);
    duckdb_scalar_function_set_special_handling(f); /* nulls are counted, not passed by */
    duckdb_scalar_function_set_volatile(f);
    duckdb_scalar_function_set_extra_info(f, e, NULL);
    duckdb_scalar_function_set_init(f, init);
    duckdb_scalar_function_set_function(f, tap);
    bool ok = duckdb_register_scalar_function(connection, f) == DuckDBSuccess;
    duckdb_destroy_logical_type(&id);
    duckdb_destroy_logical_type(&type);
    duckdb_destroy_logical_type(&any);
    duckdb_destroy_scalar_function(&f);
    return ok;
}

silt_status engine_register_tap(engine *e, duckdb_connection connection, silt_error *err) {
    for (size_t i = 0; i < ARRAY_LEN(through); i++)
        if (!register_one(e, connection, through[i].name, through[i].type))
            return err_INTERNAL_ERROR(err, "silt_tap cannot be registered");
    return SILT_OK;
}
