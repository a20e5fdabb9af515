/* Memory for threads that come and go: an arena belongs to one thread at a time, and what they keep must outlive them. */
#include <pthread.h>

#include "ops/maintain/convert_files.h"

#define WORKERS_MAX 64

struct convert_pool {
    pthread_mutex_t lock;
    convert_worker workers[WORKERS_MAX];
    size_t n;
};

int convert_pool_threads(const op *o) {
    int n = o->env->delta->n_threads > 0 ? o->env->delta->n_threads : thread_count_default();
    return n > WORKERS_MAX ? WORKERS_MAX : n;
}

int convert_pool_askers(const op *o) {
    int n = store_threads(o->env->delta->store, convert_pool_threads(o));
    return n > WORKERS_MAX ? WORKERS_MAX : n;
}

static void pool_free(void *ctx) {
    convert_pool *p = ctx;
    for (size_t i = 0; i < p->n; i++) {
        arena_free(p->workers[i].keep);
        arena_free(p->workers[i].scratch);
        buf_dispose(&p->workers[i].bytes);
    }
    pthread_mutex_destroy(&p->lock);
}

silt_status convert_pool_new(const op *o, convert_pool **out) {
    convert_pool *p = ARENA_NEW(o->a, convert_pool);
    if (!p) return error_no_memory(o->err);
    pthread_mutex_init(&p->lock, NULL);
    if (!arena_defer(o->a, pool_free, p)) {
        pool_free(p);
        return error_no_memory(o->err);
    }
    *out = p;
    return SILT_OK;
}

static convert_worker *take_free(convert_pool *p) {
    for (size_t i = 0; i < p->n; i++)
        if (!p->workers[i].is_taken) return &p->workers[i];
    if (p->n == WORKERS_MAX) return NULL;
    convert_worker *w = &p->workers[p->n];
    *w = (convert_worker){.keep = arena_new(), .scratch = arena_new()};
    buf_init(&w->bytes, BUF_MAX_DEFAULT);
    if (w->keep && w->scratch) {
        p->n++;
        return w;
    }
    arena_free(w->keep);
    arena_free(w->scratch);
    return NULL;
}

convert_worker *convert_pool_take(convert_pool *p, silt_error *err) {
    pthread_mutex_lock(&p->lock);
    convert_worker *w = take_free(p);
    if (w) w->is_taken = true;
    pthread_mutex_unlock(&p->lock);
    if (!w) (void)error_no_memory(err);
    if (w) arena_reset(w->scratch);
    return w;
}

void convert_pool_give(convert_pool *p, convert_worker *w) {
    pthread_mutex_lock(&p->lock);
    w->is_taken = false;
    pthread_mutex_unlock(&p->lock);
}
