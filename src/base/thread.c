/*
 * thread_for: threads take the next index from a shared counter until it runs out or one fails. Indices are handed out in order,
 * so every index below the lowest failed one has been taken, and the error returned does not depend on which thread was quicker.
 */
#include "base/thread.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

int thread_count_default(void) {
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0) {
        int n = CPU_COUNT(&set);
        return n < 1 ? 1 : n;
    }
    long n = sysconf(_SC_NPROCESSORS_ONLN); /* more processors than the set holds */
    return n < 1 ? 1 : n > 1024 ? 1024 : (int)n;
}

typedef struct loop {
    silt_status (*fn)(void *ctx, size_t i, silt_error *err);
    void *ctx;
    size_t n;
    pthread_mutex_t lock;
    size_t next;         /* under lock, as all below */
    size_t failed_index; /* SIZE_MAX: none */
    silt_status status;
    silt_error error;
} loop;

static bool take(loop *l, size_t *out) {
    pthread_mutex_lock(&l->lock);
    bool more = l->next < l->n && l->failed_index == SIZE_MAX;
    if (more) *out = l->next++;
    pthread_mutex_unlock(&l->lock);
    return more;
}

static void record_failure(loop *l, size_t i, silt_status status, const silt_error *error) {
    pthread_mutex_lock(&l->lock);
    if (i < l->failed_index) {
        l->failed_index = i;
        l->status = status;
        l->error = *error;
    }
    pthread_mutex_unlock(&l->lock);
}

static void *work(void *arg) {
    loop *l = arg;
    silt_error error = {0};
    size_t i;
    while (take(l, &i)) {
        silt_status status = l->fn(l->ctx, i, &error);
        if (status != SILT_OK) record_failure(l, i, status, &error);
    }
    return NULL;
}

silt_status thread_for(int n_threads, size_t n, silt_status (*fn)(void *ctx, size_t i, silt_error *err), void *ctx, silt_error *err) {
    if (n_threads <= 0) n_threads = thread_count_default();
    if ((size_t)n_threads > n) n_threads = (int)n;
    if (n_threads <= 1) {
        for (size_t i = 0; i < n; i++) TRY(fn(ctx, i, err));
        return SILT_OK;
    }
    loop l = {.fn = fn, .ctx = ctx, .n = n, .failed_index = SIZE_MAX, .status = SILT_OK};
    pthread_mutex_init(&l.lock, NULL);
    pthread_t *threads = calloc((size_t)n_threads - 1, sizeof *threads);
    int started = 0;
    /* Fewer threads than asked for is slower, not wrong. */
    if (threads)
        while (started < n_threads - 1 && pthread_create(&threads[started], NULL, work, &l) == 0) started++;
    work(&l);
    for (int i = 0; i < started; i++) pthread_join(threads[i], NULL);
    free(threads);
    pthread_mutex_destroy(&l.lock);
    if (l.status != SILT_OK && err) *err = l.error;
    return l.status;
}

silt_status cancel_check(const cancel_token *token, silt_error *err) {
    return cancel_is_requested(token) ? err_OPERATION_CANCELLED(err) : SILT_OK;
}
