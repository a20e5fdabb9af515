/*
 * The client, and the sending of one or many requests.
 *
 * Each call takes a lane: a multi handle with its easy handles, which no other call touches, and gives it back to a last-in-first-out stack,
 * so that connections stay open from call to call. (libcurl can share connections between handles of several threads only unsafely.) The limit
 * of connections is the client's, over all lanes: an attempt holds one of max_connections slots while it runs, not while it waits for its next
 * try. Both kinds of send are one loop over a multi handle, which therefore notices cancellation and stalls by itself.
 */
#include <stdlib.h>
#include <time.h>

#include "base/time.h"
#include "net/http_internal.h"

#define POLL_MS 50 /* how late a cancellation may be noticed */

/* ---- the client ---- */

static void share_lock(CURL *easy, curl_lock_data data, curl_lock_access access, void *ctx) {
    (void)easy;
    (void)access;
    pthread_mutex_lock(&((http_client *)ctx)->share_locks[data]);
}

static void share_unlock(CURL *easy, curl_lock_data data, void *ctx) {
    (void)easy;
    pthread_mutex_unlock(&((http_client *)ctx)->share_locks[data]);
}

static bool make_share(http_client *c) {
    c->share = curl_share_init();
    return c->share && curl_share_setopt(c->share, CURLSHOPT_LOCKFUNC, share_lock) == CURLSHE_OK &&
           curl_share_setopt(c->share, CURLSHOPT_UNLOCKFUNC, share_unlock) == CURLSHE_OK &&
           curl_share_setopt(c->share, CURLSHOPT_USERDATA, c) == CURLSHE_OK &&
           curl_share_setopt(c->share, CURLSHOPT_SHARE, CURL_LOCK_DATA_DNS) == CURLSHE_OK &&
           curl_share_setopt(c->share, CURLSHOPT_SHARE, CURL_LOCK_DATA_SSL_SESSION) == CURLSHE_OK;
}

static bool copy_options(http_client *c, const http_options *options) {
    http_options *o = &c->options;
    if (options) *o = *options;
    if (o->max_connections <= 0) o->max_connections = 16;
    if (o->max_attempts <= 0) o->max_attempts = 8;
    if (o->connect_timeout_ms <= 0) o->connect_timeout_ms = 10000;
    if (o->stall_timeout_ms <= 0) o->stall_timeout_ms = 30000;
    if (o->first_wait_ms <= 0) o->first_wait_ms = 50;
    if (o->max_wait_ms <= 0) o->max_wait_ms = 10000;
    if (str_is_null(o->user_agent)) o->user_agent = STR("silt/" SILT_BUILD_VERSION);
    c->user_agent = arena_cstr(c->a, o->user_agent);
    c->ca_file = str_is_null(o->ca_file) ? NULL : arena_cstr(c->a, o->ca_file);
    c->proxy = str_is_null(o->proxy) ? NULL : arena_cstr(c->a, o->proxy);
    return c->user_agent && (str_is_null(o->ca_file) || c->ca_file) && (str_is_null(o->proxy) || c->proxy);
}

/* libcurl counts its global initialisations and, since 7.84, does so safely from several threads. */
static silt_status start_library(silt_error *err) {
    if (!(curl_version_info(CURLVERSION_NOW)->features & CURL_VERSION_THREADSAFE))
        return err_UNSUPPORTED_FEATURE(err, "a libcurl that was built without thread-safe initialisation; it");
    return curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK ? SILT_OK : error_no_memory(err);
}

silt_status http_client_new(const http_options *options, http_client **out, silt_error *err) {
    TRY(start_library(err));
    http_client *c = calloc(1, sizeof *c);
    if (!c) {
        curl_global_cleanup();
        return error_no_memory(err);
    }
    pthread_mutex_init(&c->lock, NULL);
    pthread_cond_init(&c->slot_free, NULL);
    for (size_t i = 0; i < ARRAY_LEN(c->share_locks); i++) pthread_mutex_init(&c->share_locks[i], NULL);
    c->a = arena_new();
    if (!c->a || !copy_options(c, options) || !make_share(c)) {
        http_client_free(c);
        return error_no_memory(err);
    }
    *out = c;
    return SILT_OK;
}

static void lane_free(http_lane *lane) {
    for (size_t i = 0; lane->transfers && i < lane->n; i++) {
        curl_easy_cleanup(lane->transfers[i].easy);
        arena_free(lane->transfers[i].attempt);
    }
    if (lane->multi) curl_multi_cleanup(lane->multi);
    free(lane->transfers);
    free(lane);
}

void http_client_free(http_client *c) {
    if (!c) return;
    while (c->idle) {
        http_lane *lane = c->idle;
        c->idle = lane->next;
        lane_free(lane);
    }
    if (c->share) curl_share_cleanup(c->share);
    for (size_t i = 0; i < ARRAY_LEN(c->share_locks); i++) pthread_mutex_destroy(&c->share_locks[i]);
    pthread_cond_destroy(&c->slot_free);
    pthread_mutex_destroy(&c->lock);
    arena_free(c->a);
    free(c);
    curl_global_cleanup();
}

http_counts http_client_counts(const http_client *c) {
    return (http_counts){atomic_load(&c->requests), atomic_load(&c->attempts), atomic_load(&c->bytes_in), atomic_load(&c->bytes_out)};
}

/* ---- lanes and slots ---- */

static http_lane *lane_new(http_client *c) {
    http_lane *lane = calloc(1, sizeof *lane);
    if (!lane) return NULL;
    lane->n = (size_t)c->options.max_connections;
    lane->transfers = calloc(lane->n, sizeof *lane->transfers);
    lane->multi = curl_multi_init();
    if (lane->transfers && lane->multi && curl_multi_setopt(lane->multi, CURLMOPT_MAXCONNECTS, (long)lane->n) == CURLM_OK) return lane;
    lane_free(lane);
    return NULL;
}

static http_lane *lane_take(http_client *c) {
    pthread_mutex_lock(&c->lock);
    http_lane *lane = c->idle;
    if (lane) c->idle = lane->next;
    pthread_mutex_unlock(&c->lock);
    return lane ? lane : lane_new(c);
}

static void lane_give(http_client *c, http_lane *lane) {
    pthread_mutex_lock(&c->lock);
    lane->next = c->idle;
    c->idle = lane;
    pthread_mutex_unlock(&c->lock);
}

/* wait: for up to POLL_MS. */
static bool slot_take(http_client *c, bool wait) {
    pthread_mutex_lock(&c->lock);
    if (c->busy >= c->options.max_connections && wait) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += POLL_MS * 1000000;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        pthread_cond_timedwait(&c->slot_free, &c->lock, &until);
    }
    bool taken = c->busy < c->options.max_connections;
    if (taken) c->busy++;
    pthread_mutex_unlock(&c->lock);
    return taken;
}

static void slot_give(http_client *c) {
    pthread_mutex_lock(&c->lock);
    c->busy--;
    pthread_cond_signal(&c->slot_free);
    pthread_mutex_unlock(&c->lock);
}

/* ---- one call ---- */

typedef struct batch {
    http_client *c;
    http_lane *lane;
    const http_request *requests;
    size_t n, next, done;
    size_t in_flight; /* transfers in use at most */
    size_t used, running;
    arena *a;
    http_response *out;
    silt_status *statuses;
    size_t first_failed; /* SIZE_MAX: none */
    silt_error *err;     /* of that one */
} batch;

static void stop_running(batch *b, http_transfer *t) {
    curl_multi_remove_handle(b->lane->multi, t->easy);
    http_attempt_end(t);
    b->running--;
    slot_give(b->c);
}

static void finish(batch *b, http_transfer *t, silt_status status, const silt_error *err) {
    b->statuses[t->index] = status;
    t->out->attempts = t->attempts;
    t->out->may_have_applied = t->maybe_applied;
    if (status != SILT_OK && t->index < b->first_failed) {
        b->first_failed = t->index;
        if (b->err) *b->err = *err;
    }
    t->request = NULL;
    b->used--;
    b->done++;
}

static void begin(batch *b, http_transfer *t) {
    size_t i = b->next++;
    CURL *easy = t->easy;
    arena *attempt = t->attempt;
    *t = (http_transfer){.client = b->c, .request = &b->requests[i], .out = &b->out[i], .index = i, .answer = b->a, .easy = easy,
                         .attempt = attempt, .fd = -1};
    b->out[i] = (http_response){0};
    b->used++;
    atomic_fetch_add(&b->c->requests, 1);
}

static void begin_more(batch *b) {
    for (size_t k = 0; k < b->lane->n && b->next < b->n && b->used < b->in_flight && b->first_failed == SIZE_MAX; k++)
        if (!b->lane->transfers[k].request) begin(b, &b->lane->transfers[k]);
}

/* Start the attempts whose time has come, as far as there are slots. */
static void start_due(batch *b) {
    int64_t now = time_monotonic_ms();
    for (size_t k = 0; k < b->lane->n; k++) {
        http_transfer *t = &b->lane->transfers[k];
        if (!t->request || t->running || t->due_ms > now) continue;
        if (cancel_is_requested(t->request->cancel)) {
            silt_error err = {0};
            http_attempt_end(t);
            finish(b, t, err_OPERATION_CANCELLED(&err), &err);
            continue;
        }
        /* Signed before it has a slot: signing may send requests of its own (for a token) by the same client. */
        silt_error err = {0};
        silt_status status = t->prepared ? SILT_OK : http_attempt_prepare(t, &err);
        t->prepared = status == SILT_OK;
        if (t->prepared && !slot_take(b->c, b->running == 0)) return;
        if (t->prepared && curl_multi_add_handle(b->lane->multi, t->easy) != CURLM_OK) {
            slot_give(b->c);
            status = error_no_memory(&err);
        }
        if (status != SILT_OK) {
            http_attempt_end(t);
            finish(b, t, status, &err);
            continue;
        }
        http_attempt_started(t);
        b->running++;
    }
}

static void attempt_over(batch *b, http_transfer *t, CURLcode result) {
    silt_error err = {0};
    silt_status status = SILT_OK;
    http_next next = http_outcome(t, result, &status, &err);
    stop_running(b, t);
    if (next == HTTP_DONE) finish(b, t, status, &err);
}

static void collect(batch *b) {
    CURLMsg *message;
    int left;
    while ((message = curl_multi_info_read(b->lane->multi, &left)) != NULL) {
        if (message->msg != CURLMSG_DONE) continue;
        void *t = NULL;
        CURLcode result = message->data.result;
        curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, (char **)&t);
        attempt_over(b, t, result);
    }
}

/* Cancelled ones, and those of which no byte has moved for too long. */
static void look_after(batch *b) {
    int64_t now = time_monotonic_ms();
    for (size_t k = 0; k < b->lane->n; k++) {
        http_transfer *t = &b->lane->transfers[k];
        if (!t->request || !t->running) continue;
        if (cancel_is_requested(t->request->cancel)) {
            silt_error err = {0};
            t->maybe_applied |= t->sends > 0;
            stop_running(b, t);
            finish(b, t, err_OPERATION_CANCELLED(&err), &err);
        } else if (now - t->moved_ms >= b->c->options.stall_timeout_ms && t->sends > 0) {
            attempt_over(b, t, CURLE_OPERATION_TIMEDOUT);
        }
    }
}

static void sleep_ms(int64_t ms) {
    struct timespec t = {ms / 1000, ms % 1000 * 1000000};
    nanosleep(&t, NULL);
}

/* Until something moves, a wait is over, or it is time to look at the cancel tokens. */
static void wait_a_little(batch *b) {
    int64_t now = time_monotonic_ms(), wait = POLL_MS;
    for (size_t k = 0; k < b->lane->n; k++) {
        const http_transfer *t = &b->lane->transfers[k];
        if (t->request && !t->running && t->due_ms - now < wait) wait = t->due_ms > now ? t->due_ms - now : 1;
    }
    if (b->running) curl_multi_poll(b->lane->multi, NULL, 0, (int)wait, NULL);
    else if (b->used) sleep_ms(wait);
}

static void run(batch *b) {
    while (b->used || (b->next < b->n && b->first_failed == SIZE_MAX)) {
        int still;
        begin_more(b);
        start_due(b);
        curl_multi_perform(b->lane->multi, &still);
        collect(b);
        look_after(b);
        if ((size_t)still == b->running) wait_a_little(b);
    }
}

silt_status http_send_many(http_client *c, const http_request *requests, size_t n, int in_flight, arena *a, http_response *out, silt_status *statuses,
                           silt_error *err) {
    http_lane *lane = lane_take(c);
    if (!lane) return error_no_memory(err);
    batch b = {.c = c, .lane = lane, .requests = requests, .n = n, .in_flight = in_flight > 0 ? (size_t)in_flight : lane->n, .a = a, .out = out,
               .statuses = statuses, .first_failed = SIZE_MAX, .err = err};
    run(&b);
    lane_give(c, lane);
    for (size_t i = b.next; i < n; i++) {
        out[i] = (http_response){0};
        statuses[i] = SILT_CANCELLED;
    }
    return b.first_failed == SIZE_MAX ? SILT_OK : statuses[b.first_failed];
}

silt_status http_send(http_client *c, const http_request *r, arena *a, http_response *out, silt_error *err) {
    silt_status status;
    return http_send_many(c, r, 1, 1, a, out, &status, err);
}
