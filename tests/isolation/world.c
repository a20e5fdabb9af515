/* Sessions as threads that stop before the put of a commit, and the two warehouses. */
#include "isolation/world.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "api/api.h"
#include "cli/cli.h"
#include "isolation/rewrite.h"
#include "support/hooked_session.h"
#include "support/table_files.h"

#define MAX_ACTORS 8
#define MAX_SETUPS 8

struct actor {
    char name[16];
    hooked_session hooked;
    pthread_t thread;
    sem_t may_move, has_stopped;
    const char *sql;    /* the statement to run next; NULL: the thread ends */
    bool stops;         /* before the next put of a commit */
    bool is_stopped;
    store_fault fault;  /* of the next put of a commit that is made */
    silt_error outcome;
};

struct world {
    char folder[96], shared[128], serial[128];
    bool in_store;
    silt_session *plain, *serial_session; /* one of each warehouse, without a hook */
    actor actors[MAX_ACTORS];
    size_t n_actors;
    char *setups[MAX_SETUPS];
    size_t n_setups;
};

/* What the command's value printer wants of its program. */
char *text_of(const char *format, ...) {
    char *out = NULL;
    va_list args;
    va_start(args, format);
    if (vasprintf(&out, format, args) < 0) abort();
    va_end(args);
    return out;
}

static void wait_for(sem_t *sem) {
    while (sem_wait(sem) != 0) continue; /* EINTR */
}

/* ---- statements ---- */

static silt_status execute(silt_session *s, const char *sql, silt_error *err) {
    *err = (silt_error){0};
    return rewrite_is_meant(sql) ? rewrite_run(s, sql, err) : session_execute(s, sql, err);
}

static int compare_text(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

static char *row_text(const struct ArrowSchema *s, const struct ArrowArray *batch, int64_t i) {
    text_buf b = {0};
    text_add_z(&b, "[");
    for (int64_t c = 0; c < s->n_children; c++) {
        if (c) text_add_z(&b, ",");
        value_write_json(&b, s->children[c], batch->children[c], i + batch->offset);
    }
    text_add_z(&b, "]");
    return b.ptr;
}

static char *sorted_rows(struct ArrowArrayStream *stream, silt_error *err) {
    struct ArrowSchema schema = {0};
    struct ArrowArray batch;
    char **rows = NULL;
    size_t n = 0;
    int code = stream->get_schema(stream, &schema);
    while (code == 0 && (code = stream->get_next(stream, &batch)) == 0 && batch.release) {
        for (int64_t i = 0; i < batch.length; i++) {
            rows = realloc(rows, (n + 1) * sizeof *rows);
            rows[n++] = row_text(&schema, &batch, i);
        }
        batch.release(&batch);
    }
    if (code != 0) silt_stream_error(stream, err);
    if (schema.release) schema.release(&schema);
    text_buf all = {0};
    text_add_z(&all, "");
    if (n) qsort(rows, n, sizeof *rows, compare_text);
    for (size_t i = 0; i < n; i++) {
        text_add_z(&all, rows[i]);
        free(rows[i]);
    }
    free(rows);
    if (code == 0) return all.ptr;
    free(all.ptr);
    return NULL;
}

char *world_rows(world *w, bool serial, silt_error *err) {
    struct ArrowArrayStream stream;
    if (silt_query(serial ? w->serial_session : w->plain, "SELECT * FROM t", NULL, &stream, err) != SILT_OK) return NULL;
    char *rows = sorted_rows(&stream, err);
    stream.release(&stream);
    return rows;
}

bool world_run_serially(world *w, const char *sql, silt_error *err) { return execute(w->serial_session, sql, err) == SILT_OK; }

/* ---- sessions ---- */

static store_fault before(void *ctx, const char *call, str path, size_t nth) {
    actor *a = ctx;
    (void)nth;
    if (!is_commit_put(call, path)) return FAULT_NONE;
    if (a->stops) {
        a->is_stopped = true;
        sem_post(&a->has_stopped);
        wait_for(&a->may_move);
        a->is_stopped = false;
    }
    store_fault fault = a->fault;
    a->fault = FAULT_NONE;
    return fault;
}

static void *actor_main(void *arg) {
    actor *a = arg;
    for (;;) {
        wait_for(&a->may_move);
        if (!a->sql) return NULL;
        silt_status status = execute(a->hooked.session, a->sql, &a->outcome);
        a->outcome.status = status;
        sem_post(&a->has_stopped);
    }
}

static void go_on(actor *a, bool stops, store_fault fault) {
    a->stops = stops;
    a->fault = fault;
    sem_post(&a->may_move);
    wait_for(&a->has_stopped);
}

void world_actor_start(actor *a, const char *sql, bool stops, store_fault fault) {
    a->sql = sql;
    go_on(a, stops, fault);
}

void world_actor_continue(actor *a, bool stops, store_fault fault) { go_on(a, stops, fault); }
bool world_actor_is_stopped(const actor *a) { return a->is_stopped; }
const silt_error *world_actor_outcome(const actor *a) { return &a->outcome; }
const char *world_actor_name(const actor *a) { return a->name; }

#define N_SETTINGS 4

static const char *const setting_keys[N_SETTINGS] = {"spark.sql.warehouse.dir", "silt.catalog.dir", "spark.sql.session.timeZone", "silt.threads"};

typedef struct settings {
    char warehouse[160];
    const char *values[N_SETTINGS];
} settings;

static void fill_settings(const world *w, const char *folder, settings *out) {
    snprintf(out->warehouse, sizeof out->warehouse, "%s%s", w->in_store ? HOOKED_SCHEME "://test" : "", folder);
    const char *values[N_SETTINGS] = {out->warehouse, folder, "UTC", "1"};
    memcpy(out->values, values, sizeof values);
}

actor *world_actor(world *w, const char *name) {
    for (size_t i = 0; i < w->n_actors; i++)
        if (strcmp(w->actors[i].name, name) == 0) return &w->actors[i];
    if (w->n_actors == MAX_ACTORS) abort();
    actor *a = &w->actors[w->n_actors++];
    settings set;
    silt_error err = {0};
    fill_settings(w, w->shared, &set);
    snprintf(a->name, sizeof a->name, "%s", name);
    sem_init(&a->may_move, 0, 0);
    sem_init(&a->has_stopped, 0, 0);
    if (hooked_session_open(&a->hooked, setting_keys, set.values, N_SETTINGS, before, a, &err) != SILT_OK || pthread_create(&a->thread, NULL, actor_main, a) != 0) abort();
    return a;
}

static void actor_end(actor *a) {
    a->sql = NULL;
    sem_post(&a->may_move);
    pthread_join(a->thread, NULL);
    hooked_session_close(&a->hooked);
    sem_destroy(&a->may_move);
    sem_destroy(&a->has_stopped);
}

/* ---- the world ---- */

static silt_status open_local(str authority, void *config, store **out, silt_error *err) {
    (void)authority;
    (void)config;
    return store_local_open(out, err);
}

static silt_session *open_plain(const world *w, const char *folder, silt_error *err) {
    settings set;
    fill_settings(w, folder, &set);
    silt_session_options o = {.struct_size = sizeof o, .keys = setting_keys, .values = set.values, .n_settings = N_SETTINGS};
    silt_session *s = NULL;
    if (mkdir(folder, 0700) != 0 || silt_session_open(&o, &s, err) != SILT_OK) return NULL;
    if (store_registry_add(s->stores, HOOKED_SCHEME, open_local, NULL, err) == SILT_OK) return s;
    silt_session_close(s);
    return NULL;
}

world *world_open(bool in_store, silt_error *err) {
    world *w = calloc(1, sizeof *w);
    const char *tmp = getenv("TMPDIR");
    if (!w) return NULL;
    snprintf(w->folder, sizeof w->folder, "%s/silt-isolation-XXXXXX", tmp ? tmp : "/tmp");
    if (!mkdtemp(w->folder)) {
        free(w);
        return NULL;
    }
    snprintf(w->shared, sizeof w->shared, "%s/shared", w->folder);
    snprintf(w->serial, sizeof w->serial, "%s/serial", w->folder);
    w->in_store = in_store;
    w->plain = open_plain(w, w->shared, err);
    w->serial_session = open_plain(w, w->serial, err);
    if (w->plain && w->serial_session) return w;
    world_close(w);
    return NULL;
}

void world_close(world *w) {
    for (size_t i = 0; i < w->n_actors; i++) actor_end(&w->actors[i]);
    silt_session_close(w->plain);
    silt_session_close(w->serial_session);
    for (size_t i = 0; i < w->n_setups; i++) free(w->setups[i]);
    char *command = text_of("rm -rf '%s'", w->folder);
    if (system(command) != 0) fprintf(stderr, "%s stays\n", w->folder);
    free(command);
    free(w);
}

void world_add_setup(world *w, const char *sql) {
    if (w->n_setups == MAX_SETUPS) abort();
    w->setups[w->n_setups++] = text_of("%s", sql);
}

bool world_begin(world *w, bool serial, const char *level, silt_error *err) {
    silt_session *s = serial ? w->serial_session : w->plain;
    if (execute(s, "DROP TABLE IF EXISTS t", err) != SILT_OK) return false;
    for (size_t i = 0; i < w->n_setups; i++)
        if (execute(s, w->setups[i], err) != SILT_OK) return false;
    return strcmp(level, "Serializable") == 0 || rewrite_set_level(s, level, err) == SILT_OK;
}

/* ---- files ---- */

char *world_stray_files(world *w) {
    char root[160], found[512];
    snprintf(root, sizeof root, "%s/t", w->shared);
    return table_stray_file(root, found, sizeof found) ? text_of("%s", found) : NULL;
}
