/**
 * Connections and streams. One connection per open stream: a second query on a connection silently ends the first one's rows (rule 9). Every fetch is followed
 * by the error check, because a failed stream ends like a finished one.
 *
 * Cancellation: one watcher thread looks at the token every 20 ms while queries run, and interrupts them all. Polling between chunks would not do: a sort or a
 * COPY works for minutes inside one call.
 */
#include "engine/internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/time.h"

/* ---- the watcher ---- */

static void *watch(void *ctx) {
    engine *e = ctx;
    pthread_mutex_lock(&e->mutex);
    while (!e->watcher_stop) {
        if (!e->connections) {
            pthread_cond_wait(&e->watcher_wake, &e->mutex);
            continue;
        }
        if (cancel_is_requested(e->cancel))
            for (engine_connection *c = e->connections; c; c = c->next) duckdb_interrupt(c->duck);
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += 20 * 1000 * 1000;
        if (until.tv_nsec >= 1000 * 1000 * 1000) {
            until.tv_nsec -= 1000 * 1000 * 1000;
            until.tv_sec++;
        }
        pthread_cond_timedwait(&e->watcher_wake, &e->mutex, &until);
    }
    pthread_mutex_unlock(&e->mutex);
    return NULL;
}

static void list_connection(engine *e, engine_connection *c) {
    pthread_mutex_lock(&e->mutex);
    c->next = e->connections;
    if (c->next) c->next->previous = c;
    e->connections = c;
    if (e->cancel) {
        if (!e->watcher_runs) e->watcher_runs = pthread_create(&e->watcher, NULL, watch, e) == 0;
        pthread_cond_signal(&e->watcher_wake);
    }
    pthread_mutex_unlock(&e->mutex);
}

static void unlist_connection(engine *e, engine_connection *c) {
    pthread_mutex_lock(&e->mutex);
    if (c->previous)
        c->previous->next = c->next;
    else
        e->connections = c->next;
    if (c->next) c->next->previous = c->previous;
    pthread_mutex_unlock(&e->mutex);
}

/* ---- connections ---- */

silt_status engine_connect(engine *e, engine_connection **out, silt_error *err) {
    TRY(engine_need(e, err));
    return engine_connect_open(e, out, err);
}

silt_status engine_connect_open(engine *e, engine_connection **out, silt_error *err) {
    TRY(cancel_check(e->cancel, err));
    (void)!engine_keep_temp(e, NULL); /* only what spills needs it, and tells */
    engine_connection *c = calloc(1, sizeof *c);
    if (!c) return error_no_memory(err);
    c->engine = e;
    if (duckdb_connect(e->database, &c->duck) != DuckDBSuccess) {
        free(c);
        return err_INTERNAL_ERROR(err, "the engine gives no connection");
    }
    list_connection(e, c);
    *out = c;
    return SILT_OK;
}

void engine_disconnect(engine_connection *c) {
    if (!c) return;
    unlist_connection(c->engine, c);
    duckdb_disconnect(&c->duck);
    free(c);
}

silt_status engine_query(engine_connection *c, const char *sql, duckdb_result *out, silt_error *err) {
    TRY(engine_know_decimals(c->engine, sql, err));
    if (duckdb_query(c->duck, sql, out) == DuckDBSuccess) return SILT_OK;
    silt_status status = engine_failure(err, duckdb_result_error(out), duckdb_result_error_type(out));
    duckdb_destroy_result(out);
    return status;
}

silt_status engine_execute(engine_connection *c, const char *sql, silt_error *err) {
    duckdb_result result;
    TRY(engine_query(c, sql, &result, err));
    duckdb_destroy_result(&result);
    return SILT_OK;
}

/* ---- errors of statements that are prepared ---- */

static duckdb_error_type type_of_text(const char *message) {
    static const struct {
        const char *prefix;
        duckdb_error_type type;
    } known[] = {{"INTERRUPT Error", DUCKDB_ERROR_INTERRUPT},
                 {"Interrupted", DUCKDB_ERROR_INTERRUPT},
                 {"IO Error", DUCKDB_ERROR_IO},
                 {"Out of Memory Error", DUCKDB_ERROR_OUT_OF_MEMORY}};
    for (size_t i = 0; message && i < ARRAY_LEN(known); i++)
        if (strncmp(message, known[i].prefix, strlen(known[i].prefix)) == 0) return known[i].type;
    return DUCKDB_ERROR_INVALID;
}

/* ---- statements that work for long ---- */

/* Longer and longer, up to half a millisecond: what is waited for takes from some microseconds to minutes. */
static void pause_for(int *rounds) {
    struct timespec pause = {0, 20000L << (*rounds < 5 ? *rounds : 5)};
    ++*rounds;
    (void)nanosleep(&pause, NULL);
}

static silt_status work_off(duckdb_prepared_statement statement, duckdb_pending_result *pending, duckdb_result *out, silt_error *err) {
    duckdb_pending_state state = DUCKDB_PENDING_ERROR;
    int rounds = 0;
    bool started = duckdb_pending_prepared(statement, pending) == DuckDBSuccess;
    while (started && (state = duckdb_pending_execute_task(*pending)) != DUCKDB_PENDING_ERROR && state != DUCKDB_PENDING_RESULT_READY)
        if (state == DUCKDB_PENDING_NO_TASKS_AVAILABLE) pause_for(&rounds);
        else rounds = 0;
    if (state == DUCKDB_PENDING_ERROR) {
        const char *message = duckdb_pending_error(*pending);
        return engine_failure(err, message, type_of_text(message));
    }
    if (duckdb_execute_pending(*pending, out) == DuckDBSuccess) return SILT_OK;
    silt_status status = engine_failure(err, duckdb_result_error(out), duckdb_result_error_type(out));
    duckdb_destroy_result(out);
    return status;
}

silt_status engine_work(engine_connection *c, const char *sql, duckdb_result *out, silt_error *err) {
    duckdb_prepared_statement statement = NULL;
    duckdb_pending_result pending = NULL;
    silt_status status;
    TRY(engine_know_decimals(c->engine, sql, err));
    if (duckdb_prepare(c->duck, sql, &statement) == DuckDBSuccess) status = work_off(statement, &pending, out, err);
    else status = engine_failure(err, duckdb_prepare_error(statement), type_of_text(duckdb_prepare_error(statement)));
    duckdb_destroy_pending(&pending);
    duckdb_destroy_prepare(&statement);
    return status;
}

/* ---- streams ---- */

silt_status engine_stream_open(engine_connection *c, const char *sql, engine_stream *out, silt_error *err) {
    *out = (engine_stream){.connection = c};
    silt_status status;
    TRY_OUT(engine_know_decimals(c->engine, sql, err));
    if (duckdb_prepare(c->duck, sql, &out->statement) != DuckDBSuccess) {
        const char *message = duckdb_prepare_error(out->statement);
        status = engine_failure(err, message, type_of_text(message));
        goto out;
    }
    if (duckdb_pending_prepared_streaming(out->statement, &out->pending) != DuckDBSuccess) {
        const char *message = duckdb_pending_error(out->pending);
        status = engine_failure(err, message, type_of_text(message));
        goto out;
    }
    if (duckdb_execute_pending(out->pending, &out->result) != DuckDBSuccess) {
        status = engine_failure(err, duckdb_result_error(&out->result), duckdb_result_error_type(&out->result));
        duckdb_destroy_result(&out->result);
        goto out;
    }
    out->has_result = true;
    return SILT_OK;
out:
    engine_stream_close(out);
    return status;
}

silt_status engine_stream_next(engine_stream *s, duckdb_data_chunk *out, silt_error *err) {
    *out = NULL;
    while (!s->finished) {
        duckdb_data_chunk chunk = duckdb_fetch_chunk(s->result);
        if (!chunk) {
            s->finished = true;
            const char *message = duckdb_result_error(&s->result);
            if (message && *message) return engine_failure(err, message, duckdb_result_error_type(&s->result));
            return SILT_OK;
        }
        if (duckdb_data_chunk_get_size(chunk)) {
            *out = chunk;
            return SILT_OK;
        }
        duckdb_destroy_data_chunk(&chunk);
    }
    return SILT_OK;
}

void engine_stream_close(engine_stream *s) {
    if (s->has_result) duckdb_destroy_result(&s->result);
    if (s->pending) duckdb_destroy_pending(&s->pending);
    if (s->statement) duckdb_destroy_prepare(&s->statement);
    engine_disconnect(s->connection);
    *s = (engine_stream){.finished = true};
}
