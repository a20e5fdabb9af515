/* Some threads look at the files that are being written and send what is whole of them. See object_early.h. */
#include "store/object/object_early.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "store/object/object_internal.h"

#define SENDERS    3
#define LOOK_MS    20
#define PIECES_MAX 10000
#define SUM_BYTES  ((size_t)1 << 20)

typedef enum begun { NOT_BEGUN, BEGINNING, BEGUN, HOPELESS } begun;

/* A file being written. Under the pool's lock, but for what never changes. */
typedef struct followed {
    struct followed *next;
    str key, local; /* in `a`, as all below */
    arena *a;
    begun state;
    str id;
    object_early_piece *pieces;
    size_t n_pieces, capacity; /* claimed */
    int under_way;
    bool ended; /* nothing more is claimed */
    cancel_token cancel;
} followed;

struct object_early_pool {
    object_store *store;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    followed *first;
    pthread_t threads[SENDERS];
    int n_threads;
    bool closing;
};

/* ---- checksums of what is in a file ---- */

static bool sum_of(str local, int64_t offset, int64_t length, uint64_t *out) {
    char *bytes = malloc(SUM_BYTES);
    int fd = bytes ? open(local.ptr, O_RDONLY | O_CLOEXEC) : -1;
    uint64_t sum = 0;
    bool ok = fd >= 0;
    while (ok && length > 0) {
        size_t want = length < (int64_t)SUM_BYTES ? (size_t)length : SUM_BYTES;
        ssize_t n = pread(fd, bytes, want, offset);
        if (n < 0 && errno == EINTR) continue;
        ok = n > 0 && (size_t)n == want; /* a block cut elsewhere would give another sum */
        sum = bytes_sum(bytes, ok ? want : 0, sum);
        offset += (int64_t)want;
        length -= (int64_t)want;
    }
    if (fd >= 0) close(fd);
    free(bytes);
    *out = sum;
    return ok;
}

/* ---- one piece ---- */

static bool is_on_disk(const object_store *o, const followed *f) {
    struct stat st;
    return stat(f->local.ptr, &st) == 0 && st.st_size / o->piece_bytes > (int64_t)f->n_pieces;
}

/* A piece to be sent, or an upload to be begun; under the lock. */
static followed *claim(object_early_pool *p, size_t *out_index) {
    for (followed *f = p->first; f; f = f->next) {
        if (f->ended || f->state == BEGINNING || f->state == HOPELESS || f->n_pieces >= PIECES_MAX || !is_on_disk(p->store, f)) continue;
        if (f->state == NOT_BEGUN) {
            f->state = BEGINNING;
            *out_index = SIZE_MAX;
        } else {
            object_early_piece none = {.sent = false};
            *out_index = f->n_pieces;
            if (!ARENA_PUSH(f->a, f->pieces, f->n_pieces, f->capacity, none)) {
                f->state = HOPELESS;
                continue;
            }
        }
        f->under_way++;
        return f;
    }
    return NULL;
}

static void begin_upload(object_early_pool *p, followed *f, arena *a) {
    str id = STR_NULL;
    silt_status status = p->store->driver->early->begin(p->store, f->key, a, &id, NULL);
    pthread_mutex_lock(&p->lock);
    if (status == SILT_OK) f->id = arena_str(f->a, id);
    f->state = status == SILT_OK && !str_is_null(f->id) ? BEGUN : HOPELESS;
    pthread_mutex_unlock(&p->lock);
}

/* What fails is sent when the file is finished, by then with an error that is told. */
static void send_piece(object_early_pool *p, followed *f, size_t index, arena *a) {
    int64_t length = p->store->piece_bytes;
    uint64_t sum;
    str mark = STR_NULL;
    bool ok = sum_of(f->local, (int64_t)index * length, length, &sum) &&
              p->store->driver->early->send(p->store, f->key, f->id, index, f->local, &f->cancel, a, &mark, NULL) == SILT_OK;
    pthread_mutex_lock(&p->lock);
    if (ok) mark = arena_str(f->a, mark);
    if (ok && !str_is_null(mark)) f->pieces[index] = (object_early_piece){true, sum, mark};
    else f->state = HOPELESS;
    pthread_mutex_unlock(&p->lock);
}

static void wait_for_change(object_early_pool *p) {
    struct timespec until;
    if (!p->first) {
        pthread_cond_wait(&p->changed, &p->lock);
        return;
    }
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += LOOK_MS * 1000000L;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_cond_timedwait(&p->changed, &p->lock, &until);
}

static void *run(void *ctx) {
    object_early_pool *p = ctx;
    pthread_mutex_lock(&p->lock);
    while (!p->closing) {
        size_t index;
        followed *f = claim(p, &index);
        if (!f) {
            wait_for_change(p);
            continue;
        }
        pthread_mutex_unlock(&p->lock);
        arena *a = arena_new();
        if (a && index == SIZE_MAX) begin_upload(p, f, a);
        else if (a) send_piece(p, f, index, a);
        arena_free(a);
        pthread_mutex_lock(&p->lock);
        if (!a) f->state = HOPELESS;
        f->under_way--;
        pthread_cond_broadcast(&p->changed);
    }
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

/* ---- the pool ---- */

/* Signals are for the threads that wait for them. */
static void start_threads(object_early_pool *p) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    while (p->n_threads < SENDERS && pthread_create(&p->threads[p->n_threads], NULL, run, p) == 0) p->n_threads++;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static object_early_pool *pool_of(object_store *o) {
    pthread_mutex_lock(&o->lock);
    object_early_pool *p = o->early;
    if (!p && (p = calloc(1, sizeof *p)) != NULL) {
        p->store = o;
        pthread_mutex_init(&p->lock, NULL);
        pthread_cond_init(&p->changed, NULL);
        start_threads(p);
        o->early = p;
    }
    pthread_mutex_unlock(&o->lock);
    return p;
}

static void free_followed(followed *f) {
    if (!f) return;
    arena_free(f->a);
    free(f);
}

void object_early_follow(object_store *o, str path, str local) {
    object_early_pool *p = o->driver->early ? pool_of(o) : NULL;
    if (!p || p->n_threads == 0) return;
    followed *f = calloc(1, sizeof *f);
    if (!f) return;
    f->a = arena_new();
    f->id = STR_NULL;
    if (f->a) f->key = arena_str(f->a, object_key(path));
    if (f->a) f->local = arena_str(f->a, local);
    if (!f->a || str_is_null(f->key) || str_is_null(f->local)) {
        free_followed(f);
        return;
    }
    pthread_mutex_lock(&p->lock);
    f->next = p->first;
    p->first = f;
    pthread_cond_broadcast(&p->changed);
    pthread_mutex_unlock(&p->lock);
}

/* Out of the list, with nothing under way; NULL where it is not followed. */
static followed *take(object_store *o, str local, bool give_up) {
    pthread_mutex_lock(&o->lock);
    object_early_pool *p = o->early;
    pthread_mutex_unlock(&o->lock);
    if (!p) return NULL;
    pthread_mutex_lock(&p->lock);
    followed *f = p->first;
    while (f && !str_eq(f->local, local)) f = f->next;
    if (f) f->ended = true;
    if (f && give_up) cancel_request(&f->cancel, true);
    while (f && f->under_way > 0) pthread_cond_wait(&p->changed, &p->lock);
    for (followed **at = &p->first; f && *at; at = &(*at)->next)
        if (*at == f) {
            *at = f->next;
            break;
        }
    pthread_mutex_unlock(&p->lock);
    return f;
}

static void abort_upload(object_store *o, const followed *f) {
    arena *a = str_is_null(f->id) ? NULL : arena_new();
    if (a) o->driver->early->abort(o, f->key, f->id, a);
    arena_free(a);
}

static bool is_unchanged(const object_store *o, const followed *f, int64_t size) {
    for (size_t i = 0; i < f->n_pieces; i++) {
        uint64_t sum;
        int64_t offset = (int64_t)i * o->piece_bytes;
        if (!f->pieces[i].sent) continue;
        if (offset + o->piece_bytes > size || !sum_of(f->local, offset, o->piece_bytes, &sum) || sum != f->pieces[i].sum) return false;
    }
    return size / o->piece_bytes < PIECES_MAX;
}

static bool copy_out(const followed *f, arena *a, object_early *out) {
    *out = (object_early){.id = arena_str(a, f->id), .pieces = ARENA_ARRAY(a, f->n_pieces + 1, object_early_piece), .n_pieces = f->n_pieces};
    bool ok = !str_is_null(out->id) && out->pieces;
    for (size_t i = 0; ok && i < f->n_pieces; i++) {
        out->pieces[i] = f->pieces[i];
        if (f->pieces[i].sent) ok = !str_is_null(out->pieces[i].mark = arena_str(a, f->pieces[i].mark));
    }
    return ok;
}

bool object_early_finish(object_store *o, str key, str local, int64_t size, arena *a, object_early *out) {
    followed *f = take(o, local, false);
    if (!f) return false;
    bool good = !str_is_null(f->id) && str_eq(f->key, key) && is_unchanged(o, f, size) && copy_out(f, a, out);
    if (!good) abort_upload(o, f);
    free_followed(f);
    return good;
}

void object_early_give_up(object_store *o, str local) {
    followed *f = take(o, local, true);
    if (!f) return;
    abort_upload(o, f);
    free_followed(f);
}

void object_early_close(object_store *o) {
    object_early_pool *p = o->early;
    if (!p) return;
    while (p->first) {
        str local = p->first->local;
        object_early_give_up(o, local);
    }
    pthread_mutex_lock(&p->lock);
    p->closing = true;
    pthread_cond_broadcast(&p->changed);
    pthread_mutex_unlock(&p->lock);
    for (int i = 0; i < p->n_threads; i++) pthread_join(p->threads[i], NULL);
    pthread_cond_destroy(&p->changed);
    pthread_mutex_destroy(&p->lock);
    free(p);
    o->early = NULL;
}
