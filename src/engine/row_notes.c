/**
 * silt_note(notes, file, row) → true, and the row is in the notes' row set: how a query that writes rows tells which they were, so that they need not be looked for before.
 *
 * Volatile, so that DuckDB neither folds it away nor calls it twice; every call is counted all the same, and who reads the set compares the count with the rows that were written. A null place,
 * or one that was noted before, makes the notes wrong, which engine_row_notes_are_of tells.
 *
 * Rows are added under a mutex: a chunk of picked rows has a few dozen, and adding one takes nanoseconds.
 */
#include <stdlib.h>

#include "engine/functions.h"
#include "engine/internal.h"
#include "expr/functions.h"

/* A sample that tells how much of a file is picked. */
#define SAMPLE_ROWS 16384

struct row_notes {
    engine *engine;
    uint64_t id;
    row_set *into;
    double share_max;
    pthread_mutex_t mutex;
    int64_t *counts, *ends; /* per file: rows noted, and the highest of them + 1 */
    uint64_t calls;
    bool wrong, too_many;
};

silt_status engine_row_notes_new(engine *e, row_set *into, double share_max, row_notes **out, silt_error *err) {
    row_notes *n = calloc(1, sizeof *n);
    if (!n) return error_no_memory(err);
    size_t files = row_set_n_files(into) + 1;
    *n = (row_notes){.engine = e, .into = into, .share_max = share_max, .counts = calloc(files, sizeof(int64_t)), .ends = calloc(files, sizeof(int64_t))};
    pthread_mutex_init(&n->mutex, NULL);
    if (n->counts && n->ends && engine_register(e, &e->row_notes, n, &n->id)) {
        *out = n;
        return SILT_OK;
    }
    engine_row_notes_free(n);
    return error_no_memory(err);
}

void engine_row_notes_free(row_notes *n) {
    if (!n) return;
    if (n->id) engine_unregister(n->engine, &n->engine->row_notes, n->id);
    pthread_mutex_destroy(&n->mutex);
    free(n->counts);
    free(n->ends);
    free(n);
}

bool engine_row_notes_are_of(const row_notes *n, int64_t rows) { return !n->wrong && rows >= 0 && n->calls == (uint64_t)rows && row_set_count(n->into) == (uint64_t)rows; }
bool engine_row_notes_are_too_many(const row_notes *n) { return n->too_many; }

/* ---- the expression ---- */

static const function_row note_row = {.name = "silt_note",
                                      .signature = "long, long, long -> bool",
                                      .sql = "silt_note($1, $2, $3)",
                                      .doc = "",
                                      .kind = FUNCTION_SCALAR,
                                      .flags = FN_NEVER_NULL | FN_VOLATILE};

silt_status engine_note_row(const row_notes *n, expr *file, expr *row, arena *a, expr **out, silt_error *err) {
    return engine_place_call(&note_row, n->id, file, row, a, out, err);
}

/* ---- the function ---- */

static bool add(row_notes *n, size_t file, int64_t row) {
    bool added;
    if (file >= row_set_n_files(n->into)) {
        n->wrong = true;
        return true;
    }
    if (!row_set_add(n->into, file, (uint64_t)row, &added)) return false;
    n->wrong |= !added;
    n->counts[file]++;
    if (row >= n->ends[file]) n->ends[file] = row + 1;
    n->too_many |= n->counts[file] > SAMPLE_ROWS && (double)n->counts[file] > n->share_max * (double)n->ends[file];
    return true;
}

static bool add_all(row_notes *n, const place_chunk *places, size_t count) {
    bool ok = true;
    pthread_mutex_lock(&n->mutex);
    n->calls += count;
    for (size_t i = 0; ok && i < count; i++) {
        if (place_chunk_has(places, i)) ok = add(n, (size_t)places->files[i], places->rows[i]);
        else n->wrong = true;
    }
    pthread_mutex_unlock(&n->mutex);
    return ok;
}

static void note(duckdb_function_info info, duckdb_data_chunk in, duckdb_vector out) {
    engine *e = duckdb_scalar_function_get_extra_info(info);
    size_t count = duckdb_data_chunk_get_size(in);
    if (count == 0) return;
    const int64_t *id = duckdb_vector_get_data(duckdb_data_chunk_get_vector(in, 0));
    row_notes *n = engine_find(e, &e->row_notes, (uint64_t)id[0]);
    place_chunk places = place_chunk_of(in);
    memset(duckdb_vector_get_data(out), 1, count);
    if (!n) duckdb_scalar_function_set_error(info, "[INTERNAL_ERROR|XX000] the number of a query's notes is unknown[/]");
    else if (!add_all(n, &places, count)) duckdb_scalar_function_set_error(info, "Out of Memory Error: rows");
    else if (n->too_many) duckdb_scalar_function_set_error(info, "[INTERNAL_ERROR|XX000] a query picks more rows of a file than are worth noting[/]");
}

silt_status engine_register_row_notes(engine *e, duckdb_connection connection, silt_error *err) {
    bool ok = engine_register_place_function(e, connection, note_row.name, note, true);
    return ok ? SILT_OK : err_INTERNAL_ERROR(err, "silt_note cannot be registered");
}
