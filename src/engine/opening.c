/*
 * When the engine is opened: by the first call that needs it, or before that by a thread, while its session waits for something else (an answer of a store).
 *
 * Whoever needs it holds `opening` while it is opened or its thread is joined; afterwards `is_open` alone tells. The thread takes no lock: it is the only one that touches the engine's database until
 * it is joined.
 */
#include <signal.h>
#include <stdlib.h>

#include "engine/internal.h"

static bool copy_options(engine *e, const engine_options *options) {
    arena_reset(e->options_arena);
    e->options = *options;
    str *strings[] = {&e->options.temp_directory, &e->options.memory_limit, &e->options.time_zone};
    for (size_t i = 0; i < ARRAY_LEN(strings); i++)
        if (strings[i]->ptr && !(*strings[i] = arena_str(e->options_arena, *strings[i])).ptr) return false;
    e->cancel = options->cancel;
    e->stores = options->stores;
    e->no_pruning = options->no_pruning;
    e->ends_with_process = options->ends_with_process;
    e->threads = options->threads;
    return true;
}

silt_status engine_new(const engine_options *options, engine **out, silt_error *err) {
    engine *e = calloc(1, sizeof *e);
    if (!e) return error_no_memory(err);
    pthread_mutex_init(&e->opening, NULL);
    pthread_mutex_init(&e->mutex, NULL);
    pthread_mutex_init(&e->decimals_mutex, NULL);
    pthread_cond_init(&e->watcher_wake, NULL);
    engine_parquet_init(e);
    e->options_arena = arena_new();
    if (!e->options_arena || !copy_options(e, options)) {
        engine_close(e);
        return error_no_memory(err);
    }
    *out = e;
    return SILT_OK;
}

silt_status engine_open(const engine_options *options, engine **out, silt_error *err) {
    engine *e;
    TRY(engine_new(options, &e, err));
    silt_status status = engine_need(e, err);
    if (status == SILT_OK) *out = e;
    else engine_close(e);
    return status;
}

silt_status engine_set_options(engine *e, const engine_options *options, silt_error *err) {
    if (e->is_open) return SILT_OK;
    pthread_mutex_lock(&e->opening);
    bool done = e->is_open || e->ahead_runs || copy_options(e, options);
    pthread_mutex_unlock(&e->opening);
    return done ? SILT_OK : error_no_memory(err);
}

/* ---- ahead ---- */

static void *open_ahead(void *ctx) {
    engine *e = ctx;
    e->ahead_status = engine_open_database(e, &e->ahead_error);
    return NULL;
}

/* Signals are for the threads that wait for them, and the database's own threads inherit this one's mask. */
static bool start_thread(engine *e) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool runs = pthread_create(&e->ahead, NULL, open_ahead, e) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return runs;
}

void engine_open_ahead(engine *e) {
    if (e->is_open) return;
    pthread_mutex_lock(&e->opening);
    if (!e->is_open && !e->ahead_runs && e->ahead_status == SILT_OK) e->ahead_runs = start_thread(e);
    pthread_mutex_unlock(&e->opening);
}

/* Under `opening`. */
static void join(engine *e) {
    if (!e->ahead_runs) return;
    pthread_join(e->ahead, NULL);
    e->ahead_runs = false;
    e->is_open = e->ahead_status == SILT_OK;
}

void engine_end_ahead(engine *e) {
    pthread_mutex_lock(&e->opening);
    join(e);
    pthread_mutex_unlock(&e->opening);
}

/* ---- needed ---- */

/* Under `opening`. A failure ahead is told once; who needs the engine after that tries again, perhaps by other options. */
static silt_status open_now(engine *e, silt_error *err) {
    join(e);
    if (e->is_open) return SILT_OK;
    silt_status status = e->ahead_status;
    if (status != SILT_OK) {
        if (err) *err = e->ahead_error;
        e->ahead_status = SILT_OK;
        return status;
    }
    status = engine_open_database(e, err);
    e->is_open = status == SILT_OK;
    return status;
}

silt_status engine_need(engine *e, silt_error *err) {
    if (e->is_open) return SILT_OK;
    pthread_mutex_lock(&e->opening);
    silt_status status = open_now(e, err);
    pthread_mutex_unlock(&e->opening);
    return status;
}
