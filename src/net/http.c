/*
 * The client, and the sending of one or many requests.
 *
 * Each call takes a lane: a multi handle with its easy handles, which no other call touches, and gives it back to a last-in-first-out stack,
 * so that connections stay open from call to call. (libcurl can share connections between handles of several threads only unsafely.) The limit
 * of connections is the client's, over all lanes: an attempt holds one of max_connections slots (fewer, where the server asked for that) while it runs, not while
 * it waits for its next try. Both kinds of send are one loop over a multi handle, which therefore notices cancellation and stalls by itself.
 */
#include <limits.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

#include "base/time.h"
#include "net/http_internal.h"

#define PATIENCE_MAX_MS 30000
#define POLL_MS     50 /* how late a cancellation may be noticed */
#define POLL_OWN_MS 5  /* one that the request brings along: somebody may wait for its end */
#define GIVE_UP_SILENT_MS 1000 /* of what nobody waits for any more */
#define GIVE_UP_MS        5000
#define TELL_AFTER_MS     1000
#define TELL_EACH_MS      500
#define TELL_SILENT_MS    5000
#define CROWD   32 /* under way: it is better to let answers come together, so that not each of them wakes everybody */

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

/* That this process may have open. */
static int descriptors(void) {
    struct rlimit r;
    return getrlimit(RLIMIT_NOFILE, &r) != 0 || r.rlim_cur > INT_MAX ? INT_MAX : (int)r.rlim_cur;
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
    int most = descriptors() / 4;
    if (o->max_connections > most) o->max_connections = most > 1 ? most : 1;
    c->limit = o->max_connections;
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
    for (size_t i = 0; i < lane->n; i++) {
        curl_easy_cleanup(lane->transfers[i]->easy);
        arena_free(lane->transfers[i]->attempt);
        free(lane->transfers[i]);
    }
    if (lane->multi) curl_multi_cleanup(lane->multi);
    http_events_close(lane);
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
    lane->epoll = -1;
    lane->transfers = calloc((size_t)c->options.max_connections, sizeof *lane->transfers);
    lane->multi = curl_multi_init();
    if (!lane->transfers || !lane->multi || curl_multi_setopt(lane->multi, CURLMOPT_MAXCONNECTS, (long)c->options.max_connections) != CURLM_OK) {
        lane_free(lane);
        return NULL;
    }
    http_events_open(lane);
    return lane;
}

/* With `wanted` transfers at least. */
static bool lane_grow(http_lane *lane, size_t wanted) {
    for (; lane->n < wanted; lane->n++) {
        http_transfer *t = calloc(1, sizeof *t);
        if (!t) return false;
        lane->transfers[lane->n] = t;
    }
    return true;
}

static http_lane *lane_take(http_client *c, size_t wanted) {
    pthread_mutex_lock(&c->lock);
    http_lane *lane = c->idle;
    if (lane) c->idle = lane->next;
    pthread_mutex_unlock(&c->lock);
    if (!lane) lane = lane_new(c);
    if (!lane || lane_grow(lane, wanted)) return lane;
    lane_free(lane);
    return NULL;
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
    if (c->busy >= c->limit && wait) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += POLL_MS * 1000000;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        pthread_cond_timedwait(&c->slot_free, &c->lock, &until);
    }
    bool taken = c->busy < c->limit;
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

#define LIMIT_LEAST 4
#define EASE_MS     50 /* answers to what was sent together are one complaint */

/* What an answer says of how much the server can bear. */
static void adjust_limit(http_client *c, int status) {
    if (status == 0) return;
    pthread_mutex_lock(&c->lock);
    int64_t now = time_monotonic_ms();
    if (status == 429 || status == 503) {
        bool again = now - c->eased_ms < EASE_MS;
        int lower = c->limit * 2 / 3;
        if (!again && lower >= LIMIT_LEAST) c->limit = lower;
        c->eased_ms = now;
        c->good = 0;
    } else if (c->limit < c->options.max_connections && ++c->good >= c->limit) {
        c->limit++;
        c->good = 0;
    }
    pthread_mutex_unlock(&c->lock);
}

/* ---- one call ---- */

typedef struct batch {
    http_client *c;
    http_lane *lane;
    const http_request *requests;
    size_t n, next;
    size_t in_flight; /* transfers in use at most */
    size_t used, running;
    arena *a;
    http_response *out;
    silt_status *statuses;
    size_t first_failed; /* SIZE_MAX: none */
    silt_error *err;     /* of that one */
    http_ended ended;    /* may be NULL */
    void *ctx;
    bool enough; /* nothing more is begun */
    int64_t began_ms, told_ms;
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
    b->enough |= status != SILT_OK || (b->ended && !b->ended(b->ctx, t->index));
}

static void begin(batch *b, http_transfer *t) {
    size_t i = b->next++;
    *t = (http_transfer){.client = b->c, .request = &b->requests[i], .out = &b->out[i], .index = i, .answer = b->a, .easy = t->easy, .plain = t->plain,
                         .attempt = t->attempt, .fd = -1};
    b->out[i] = (http_response){0};
    b->used++;
    atomic_fetch_add(&b->c->requests, 1);
}

static void begin_more(batch *b) {
    for (size_t k = 0; k < b->lane->n && b->next < b->n && b->used < b->in_flight && !b->enough; k++)
        if (!b->lane->transfers[k]->request) begin(b, b->lane->transfers[k]);
}

static bool is_unwanted(const batch *b, const http_transfer *t, int64_t now) {
    if (cancel_is_requested(t->request->cancel)) return true;
    if (!cancel_is_requested(b->c->options.waiter.cancel)) return false;
    return t->running ? now - t->moved_ms >= GIVE_UP_SILENT_MS || now - t->began_ms >= GIVE_UP_MS : t->attempts > 0;
}

/* Start the attempts whose time has come, as far as there are slots. */
static void start_due(batch *b) {
    int64_t now = time_monotonic_ms();
    for (size_t k = 0; k < b->lane->n; k++) {
        http_transfer *t = b->lane->transfers[k];
        if (!t->request || t->running) continue;
        if (is_unwanted(b, t, now)) {
            silt_error err = {0};
            http_attempt_end(t);
            finish(b, t, err_OPERATION_CANCELLED(&err), &err);
            continue;
        }
        if (t->due_ms > now) continue;
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
    if (result == CURLE_OK) adjust_limit(b->c, t->status);
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

/* A server that is merely slow works on for a client that has gone: who asks again at the same pace never gets an answer from it. */
static int64_t patience_ms(const batch *b, const http_transfer *t) {
    int64_t first = b->c->options.stall_timeout_ms, grown = first << (t->stalls < 10 ? t->stalls : 10), most = first > PATIENCE_MAX_MS ? first : PATIENCE_MAX_MS;
    return grown < most ? grown : most;
}

/* Cancelled ones, and those of which no byte has moved for too long. */
static void look_after(batch *b) {
    int64_t now = time_monotonic_ms();
    for (size_t k = 0; k < b->lane->n; k++) {
        http_transfer *t = b->lane->transfers[k];
        if (!t->request || !t->running) continue;
        if (is_unwanted(b, t, now)) {
            silt_error err = {0};
            t->maybe_applied |= t->sends > 0;
            stop_running(b, t);
            finish(b, t, err_OPERATION_CANCELLED(&err), &err);
        } else if (t->sends > 0 && now - t->moved_ms >= patience_ms(b, t)) {
            t->stalls++;
            attempt_over(b, t, CURLE_OPERATION_TIMEDOUT);
        }
    }
}

static void sleep_ms(int64_t ms) {
    struct timespec t = {ms / 1000, ms % 1000 * 1000000};
    nanosleep(&t, NULL);
}

/* How long to wait until something moves: until the next attempt is due, or it is time to look at the cancel tokens. */
static int patience_of_loop(const batch *b) {
    int64_t now = time_monotonic_ms(), wait = POLL_MS;
    for (size_t k = 0; k < b->lane->n; k++) {
        const http_transfer *t = b->lane->transfers[k];
        if (!t->request) continue;
        if (t->request->cancel && wait > POLL_OWN_MS) wait = POLL_OWN_MS;
        if (!t->running && t->due_ms - now < wait) wait = t->due_ms > now ? t->due_ms - now : 1;
    }
    return (int)wait;
}

static void move(batch *b) {
    int wait = patience_of_loop(b);
    if (b->running >= CROWD) sleep_ms(1);
    if (b->running) http_events_move(b->lane, b->running, wait);
    else if (b->used) sleep_ms(wait);
}

static str host_of(str url) {
    size_t scheme = str_find(url, STR("://")), end = 0;
    str rest = scheme == SIZE_MAX ? url : str_slice(url, scheme + 3, url.len);
    while (end < rest.len && !strchr("/?#", rest.ptr[end])) end++;
    return str_slice(rest, 0, end);
}

/* The user is told what takes long: a server that is silent, or how far many requests have come. */
static void tell(batch *b) {
    const http_waiter *w = &b->c->options.waiter;
    int64_t now = time_monotonic_ms(), silent = INT64_MAX;
    if (!w->tell || now - b->began_ms < TELL_AFTER_MS || now - b->told_ms < TELL_EACH_MS || !pthread_equal(pthread_self(), w->thread)) return;
    const http_transfer *first = NULL;
    for (size_t k = 0; k < b->lane->n; k++) {
        const http_transfer *t = b->lane->transfers[k];
        if (!t->request) continue;
        if (!first) first = t;
        if (t->running && now - t->moved_ms < silent) silent = now - t->moved_ms;
    }
    if (!first) return;
    char text[320];
    str host = host_of(first->request->url);
    if (host.len > 200) host.len = 200;
    b->told_ms = now;
    int before = first->request->tries_before, attempt = before + (first->attempts > 0 ? first->attempts : 1);
    if (silent >= TELL_SILENT_MS || attempt > 1) {
        int n = snprintf(text, sizeof text, "waiting for %.*s: %lld s, attempt %d", STR_ARG(host), (long long)(now - b->began_ms) / 1000, attempt);
        if (before == 0 && b->c->options.max_attempts > 1) snprintf(text + n, sizeof text - (size_t)n, " of %d", b->c->options.max_attempts);
        w->tell(w->ctx, text, -1);
    } else if (b->n > 1) {
        snprintf(text, sizeof text, "fetching from %.*s", STR_ARG(host));
        w->tell(w->ctx, text, (double)(b->next - b->used) / (double)b->n);
    }
}

static void run(batch *b) {
    while (b->used || (b->next < b->n && !b->enough)) {
        begin_more(b);
        start_due(b);
        move(b);
        collect(b);
        look_after(b);
        tell(b);
    }
}

silt_status http_send_each(http_client *c, const http_request *requests, size_t n, int in_flight, arena *a, http_response *out, silt_status *statuses, http_ended ended, void *ctx,
                           silt_error *err) {
    size_t most = (size_t)c->options.max_connections, wanted = in_flight > 0 && (size_t)in_flight < most ? (size_t)in_flight : most;
    if (wanted > n) wanted = n;
    http_lane *lane = lane_take(c, wanted);
    if (!lane) return error_no_memory(err);
    batch b = {.c = c, .lane = lane, .requests = requests, .n = n, .in_flight = wanted, .a = a, .out = out, .statuses = statuses, .first_failed = SIZE_MAX, .err = err,
               .ended = ended, .ctx = ctx, .began_ms = time_monotonic_ms()};
    run(&b);
    lane_give(c, lane);
    for (size_t i = b.next; i < n; i++) {
        out[i] = (http_response){0};
        statuses[i] = SILT_CANCELLED;
    }
    return b.first_failed == SIZE_MAX ? SILT_OK : statuses[b.first_failed];
}

silt_status http_send_many(http_client *c, const http_request *requests, size_t n, int in_flight, arena *a, http_response *out, silt_status *statuses,
                           silt_error *err) {
    return http_send_each(c, requests, n, in_flight, a, out, statuses, NULL, NULL, err);
}

int http_max_connections(const http_client *c) { return c->options.max_connections; }

silt_status http_send(http_client *c, const http_request *r, arena *a, http_response *out, silt_error *err) {
    silt_status status;
    return http_send_many(c, r, 1, 1, a, out, &status, err);
}
