/* The HTTP client against a server that breaks in each way: what is sent again, what is not, and what the caller is told. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/time.h"
#include "net/http_internal.h"
#include "support/tiny_server.h"

typedef struct world {
    arena *a;
    http_client *client;
    tiny_server *server;
    silt_error err;
    /* what the server is to do */
    tiny_way ways[32]; /* of its n-th request, from 0; later ones answer */
    int statuses[32];  /* 0: 200 */
    int works_ms;      /* on each request, one after the other, also for a client that has gone */
    str headers;
    size_t body_bytes; /* 0: echo the request's body */
    /* what it saw */
    int seen, connections;
    char methods[64][8], targets[64][64], bodies[64][64], auth[64][64];
} world;

static void handle(void *ctx, const tiny_request *q, tiny_answer *a) {
    world *w = ctx;
    int i = q->number - 1;
    w->seen = q->number;
    usleep((useconds_t)w->works_ms * 1000);
    if (q->connection > w->connections) w->connections = q->connection;
    if (i < 64) {
        snprintf(w->methods[i], sizeof w->methods[i], "%.*s", STR_ARG(q->method));
        snprintf(w->targets[i], sizeof w->targets[i], "%.*s", STR_ARG(q->target));
        snprintf(w->bodies[i], sizeof w->bodies[i], "%.*s", STR_ARG(q->body));
        snprintf(w->auth[i], sizeof w->auth[i], "%.*s", STR_ARG(tiny_header(q, "authorization")));
    }
    if (i < 32) {
        a->way = w->ways[i];
        if (w->statuses[i]) a->status = w->statuses[i];
    }
    a->headers = w->headers;
    if (w->body_bytes) {
        for (size_t k = 0; k < w->body_bytes; k++) buf_append_char(&a->body, (char)('a' + k % 26));
    } else {
        buf_append(&a->body, q->body);
    }
}

static int setup(void **state) {
    world *w = calloc(1, sizeof *w);
    w->a = arena_new();
    w->server = tiny_server_start(handle, w);
    http_options o = {.max_attempts = 5, .first_wait_ms = 1, .max_wait_ms = 4, .stall_timeout_ms = 300, .connect_timeout_ms = 2000};
    assert_int_equal(http_client_new(&o, &w->client, &w->err), SILT_OK);
    *state = w;
    return 0;
}

static int teardown(void **state) {
    world *w = *state;
    http_client_free(w->client);
    tiny_server_stop(w->server);
    arena_free(w->a);
    free(w);
    return 0;
}

static http_request request(world *w, const char *method, const char *target) {
    return (http_request){.method = method, .url = tiny_server_url(w->server, target, w->a)};
}

static void get_and_headers(void **state) {
    world *w = *state;
    http_response r;
    w->body_bytes = 100000;
    w->headers = STR("X-Thing:  seven \r\nETag: \"q\"\r\n");
    http_request q = request(w, "GET", "/a/../b%20c?x=1");
    assert_int_equal(http_send(w->client, &q, w->a, &r, &w->err), SILT_OK);
    assert_int_equal(r.status, 200);
    assert_int_equal(r.body.len, 100000);
    assert_int_equal(r.attempts, 1);
    assert_false(r.may_have_applied);
    assert_true(str_eqz(http_header_get(&r, "x-thing"), "seven"));
    assert_true(str_is_null(http_header_get(&r, "absent")));
    assert_string_equal(w->targets[0], "/a/../b%20c?x=1"); /* as it was written */
    assert_int_equal(http_client_counts(w->client).bytes_in, 100000);
}

static void methods_and_bodies(void **state) {
    world *w = *state;
    http_response r;
    const char *methods[] = {"PUT", "POST", "DELETE", "HEAD", "PUT"};
    for (int i = 0; i < 5; i++) {
        http_request q = request(w, methods[i], "/m");
        if (i < 2) q.body = STR("some bytes");
        assert_int_equal(http_send(w->client, &q, w->a, &r, &w->err), SILT_OK);
        assert_string_equal(w->methods[i], methods[i]);
        assert_string_equal(w->bodies[i], i < 2 ? "some bytes" : "");
        assert_true(str_eqz(r.body, i < 2 ? "some bytes" : ""));
    }
    assert_int_equal(w->connections, 1); /* kept */
}

static void piece_of_a_file(void **state) {
    world *w = *state;
    http_response r;
    char path[] = "/tmp/silt-http-XXXXXX";
    int fd = mkstemp(path);
    assert_int_equal(write(fd, "0123456789", 10), 10);
    close(fd);
    w->statuses[0] = 503; /* sent again from its beginning */
    http_request q = request(w, "PUT", "/f");
    q.body_file = path;
    q.body_offset = 3;
    q.body_length = 4;
    q.repeatable = true;
    assert_int_equal(http_send(w->client, &q, w->a, &r, &w->err), SILT_OK);
    assert_string_equal(w->bodies[1], "3456");
    assert_true(r.may_have_applied);
    q.body_length = 40;
    assert_int_equal(http_send(w->client, &q, w->a, &r, &w->err), SILT_IO); /* shorter than said */
    unlink(path);
    assert_int_equal(http_send(w->client, &q, w->a, &r, &w->err), SILT_NOT_FOUND);
}

static void answers_are_repeated(void **state) {
    world *w = *state;
    http_response r;
    int statuses[] = {408, 429, 500, 503};
    memcpy(w->statuses, statuses, sizeof statuses);
    http_request q = request(w, "GET", "/");
    q.repeatable = true;
    assert_int_equal(http_send(w->client, &q, w->a, &r, &w->err), SILT_OK);
    assert_int_equal(r.status, 200);
    assert_int_equal(r.attempts, 5);
}

static void the_last_answer_is_given(void **state) {
    world *w = *state;
    http_response r;
    for (int i = 0; i < 32; i++) w->statuses[i] = 503;
    w->body_bytes = 100000;
    http_request q = request(w, "GET", "/");
    q.repeatable = true;
    assert_int_equal(http_send(w->client, &q, w->a, &r, &w->err), SILT_OK);
    assert_int_equal(r.status, 503);
    assert_int_equal(r.attempts, 5);
    assert_int_equal(r.body.len, 65536); /* cut */
    q.repeatable = false;
    assert_int_equal(http_send(w->client, &q, w->a, &r, &w->err), SILT_OK);
    assert_int_equal(r.attempts, 1);
    assert_false(r.may_have_applied); /* the answer itself tells */
}

static void refusals_are_not_repeated(void **state) {
    world *w = *state;
    http_response r;
    int statuses[] = {400, 403, 404, 409, 412, 416, 301, 307};
    memcpy(w->statuses, statuses, sizeof statuses);
    for (int i = 0; i < 8; i++) {
        http_request q = request(w, "PUT", "/");
        q.repeatable = true;
        assert_int_equal(http_send(w->client, &q, w->a, &r, &w->err), SILT_OK);
        assert_int_equal(r.status, statuses[i]);
        assert_int_equal(r.attempts, 1);
    }
}

static void broken_connections(void **state) {
    world *w = *state;
    http_response r;
    tiny_way ways[] = {TINY_RESET, TINY_CUT, TINY_STALL_BODY, TINY_GARBAGE};
    memcpy(w->ways, ways, sizeof ways);
    w->body_bytes = 1000;
    http_request q = request(w, "GET", "/");
    q.repeatable = true;
    assert_int_equal(http_send(w->client, &q, w->a, &r, &w->err), SILT_OK);
    assert_int_equal(r.body.len, 1000);
    assert_int_equal(r.attempts, 5);
    assert_true(r.may_have_applied);
}

/* A server that needs longer than the client would wait: asking again and again at the same pace only adds to its work. */
static void patience_grows_with_each_stall(void **state) {
    world *w = *state;
    http_response r;
    w->works_ms = 450; /* 300 are waited for at first */
    http_request q = request(w, "GET", "/");
    q.repeatable = true;
    assert_int_equal(http_send(w->client, &q, w->a, &r, &w->err), SILT_OK);
    assert_true(r.attempts > 1);
}

/* Whatever breaks once it was sent, a request that must not be sent twice is not, on a fresh connection or on a kept one. */
static void not_repeatable_is_sent_once(void **state) {
    world *w = *state;
    http_response r;
    tiny_way ways[] = {TINY_RESET, TINY_STALL, TINY_CUT};
    w->body_bytes = 10;
    for (int i = 0; i < 3; i++) {
        for (int kept = 0; kept < 2; kept++) {
            http_request q = request(w, "GET", "/warm");
            int before = tiny_server_requests(w->server);
            if (kept) assert_int_equal(http_send(w->client, &q, w->a, &r, &w->err), SILT_OK);
            w->ways[tiny_server_requests(w->server)] = ways[i];
            q = request(w, "POST", "/once?X-Amz-Signature=secret");
            q.body = STR("b");
            assert_int_equal(http_send(w->client, &q, w->a, &r, &w->err), SILT_UNKNOWN);
            assert_true(r.may_have_applied);
            assert_int_equal(tiny_server_requests(w->server), before + 1 + kept);
            assert_null(strstr(w->err.message, "secret"));
            assert_null(strstr(w->err.detail, "secret"));
        }
    }
}

/* libcurl sends again by itself where a kept connection dies without an answer: the caller must hear of it. */
static void silent_second_sending_is_told(void **state) {
    world *w = *state;
    http_response r;
    http_request q = request(w, "PUT", "/p");
    q.repeatable = true;
    q.body = STR("b");
    assert_int_equal(http_send(w->client, &q, w->a, &r, &w->err), SILT_OK);
    w->ways[1] = TINY_RESET;
    w->statuses[2] = 412;
    assert_int_equal(http_send(w->client, &q, w->a, &r, &w->err), SILT_OK);
    assert_int_equal(r.status, 412);
    assert_true(r.may_have_applied);
    assert_int_equal(w->seen, 3);
}

static void never_sent_is_tried_again_and_told(void **state) {
    world *w = *state;
    http_response r;
    http_request q = {.method = "POST", .url = STR("http://127.0.0.1:1/"), .what = "writing"};
    assert_int_equal(http_send(w->client, &q, w->a, &r, &w->err), SILT_IO); /* IO, not UNKNOWN */
    assert_int_equal(r.attempts, 5);
    assert_false(r.may_have_applied);
    assert_string_equal(w->err.condition, "HTTP_REQUEST_FAILED");
    q.url = STR("http://no-such-host.invalid/");
    assert_int_equal(http_send(w->client, &q, w->a, &r, &w->err), SILT_IO);
    assert_int_equal(r.attempts, 3);
    q.url = STR("ftp://127.0.0.1/");
    assert_int_equal(http_send(w->client, &q, w->a, &r, &w->err), SILT_IO);
    assert_int_equal(r.attempts, 1);
}

static void retry_after(void **state) {
    world *w = *state;
    http_response r;
    w->statuses[0] = 503;
    w->headers = STR("Retry-After: 1\r\n");
    http_request q = request(w, "GET", "/");
    q.repeatable = true;
    int64_t began = time_monotonic_ms();
    assert_int_equal(http_send(w->client, &q, w->a, &r, &w->err), SILT_OK);
    assert_in_range(time_monotonic_ms() - began, 950, 3000);
    w->statuses[w->seen] = 503;
    w->headers = STR("Retry-After: 86400\r\n");
    assert_int_equal(http_send(w->client, &q, w->a, &r, &w->err), SILT_OK);
    assert_int_equal(r.status, 503); /* not waited for */
    assert_int_equal(r.attempts, 1);
}

static silt_status sign_by_number(void *ctx, const http_request *r, http_attempt *at, silt_error *err) {
    (void)ctx;
    (void)err;
    assert_int_equal(at->n_headers, r->n_headers);
    at->headers[at->n_headers++] = (http_header){STR("Authorization"), arena_printf(at->arena, "attempt %d", at->number)};
    at->url = arena_printf(at->arena, "%.*s?n=%d", STR_ARG(r->url), at->number);
    return SILT_OK;
}

static silt_status sign_refuses(void *ctx, const http_request *r, http_attempt *at, silt_error *err) {
    (void)ctx;
    (void)r;
    (void)at;
    return err_PERMISSION_DENIED(err, STR("no credentials"));
}

static void each_attempt_is_signed(void **state) {
    world *w = *state;
    http_response r;
    http_header fixed = {STR("X-Fixed"), STR("1")};
    w->statuses[0] = w->statuses[1] = 500;
    http_request q = request(w, "GET", "/s");
    q.repeatable = true;
    q.headers = &fixed;
    q.n_headers = 1;
    q.sign = sign_by_number;
    assert_int_equal(http_send(w->client, &q, w->a, &r, &w->err), SILT_OK);
    assert_string_equal(w->auth[0], "attempt 1");
    assert_string_equal(w->auth[2], "attempt 3");
    assert_string_equal(w->targets[2], "/s?n=3");
    q.sign = sign_refuses;
    assert_int_equal(http_send(w->client, &q, w->a, &r, &w->err), SILT_DENIED);
    assert_int_equal(w->seen, 3);
}

static silt_status sign_by_a_request(void *ctx, const http_request *r, http_attempt *at, silt_error *err) {
    world *w = ctx;
    http_response token;
    http_request q = request(w, "GET", "/token");
    TRY(http_send(w->client, &q, at->arena, &token, err));
    return sign_by_number(NULL, r, at, err);
}

/* A signature may need a request of its own by a client whose only connection is asked for already. */
static void signing_may_send(void **state) {
    world *w = *state;
    http_response r;
    http_options o = {.max_connections = 1};
    http_client_free(w->client);
    assert_int_equal(http_client_new(&o, &w->client, &w->err), SILT_OK);
    http_request q = request(w, "GET", "/s");
    q.sign = sign_by_a_request;
    q.sign_ctx = w;
    assert_int_equal(http_send(w->client, &q, w->a, &r, &w->err), SILT_OK);
    assert_string_equal(w->targets[0], "/token");
    assert_string_equal(w->targets[1], "/s?n=1");
}

static void headers_cannot_be_injected(void **state) {
    world *w = *state;
    http_response r;
    http_header bad = {STR("X"), STR("a\r\nAuthorization: mine")};
    http_request q = request(w, "GET", "/");
    q.headers = &bad;
    q.n_headers = 1;
    assert_int_equal(http_send(w->client, &q, w->a, &r, &w->err), SILT_INVALID);
    assert_int_equal(w->seen, 0);
}

typedef struct sunk {
    buf bytes;
    int restarts;
    bool refuse;
} sunk;

static silt_status take(void *ctx, int64_t offset, str bytes, silt_error *err) {
    sunk *s = ctx;
    if (s->refuse) return err_NO_SPACE_LEFT(err, STR("here"));
    if (offset == 0) {
        s->restarts++;
        buf_clear(&s->bytes);
    }
    assert_int_equal(offset, s->bytes.len);
    buf_append(&s->bytes, bytes);
    return SILT_OK;
}

static void sink_begins_again(void **state) {
    world *w = *state;
    http_response r;
    sunk s = {0};
    buf_init(&s.bytes, BUF_MAX_DEFAULT);
    w->body_bytes = 300000;
    w->ways[0] = TINY_CUT;
    w->statuses[1] = 500; /* its body is not for the sink */
    http_request q = request(w, "GET", "/");
    q.repeatable = true;
    q.sink = take;
    q.sink_ctx = &s;
    assert_int_equal(http_send(w->client, &q, w->a, &r, &w->err), SILT_OK);
    assert_int_equal(s.bytes.len, 300000);
    assert_int_equal(s.restarts, 2);
    assert_int_equal(r.body.len, 0);
    s.refuse = true;
    assert_int_equal(http_send(w->client, &q, w->a, &r, &w->err), SILT_NO_SPACE);
    assert_int_equal(r.attempts, 1);
    buf_dispose(&s.bytes);
}

static void too_long_an_answer(void **state) {
    world *w = *state;
    http_response r;
    w->body_bytes = 5000;
    http_request q = request(w, "GET", "/");
    q.repeatable = true;
    q.max_body_bytes = 4999;
    assert_int_equal(http_send(w->client, &q, w->a, &r, &w->err), SILT_IO);
    assert_string_equal(w->err.condition, "HTTP_BODY_TOO_LARGE");
    assert_int_equal(w->seen, 1);
    q.max_body_bytes = 5000;
    assert_int_equal(http_send(w->client, &q, w->a, &r, &w->err), SILT_OK);
}

static void *cancel_soon(void *ctx) {
    usleep(100000);
    cancel_request(ctx, true);
    return NULL;
}

static void cancelled(void **state) {
    world *w = *state;
    http_response r;
    cancel_token token = {0};
    pthread_t thread;
    http_options o = {.stall_timeout_ms = 60000};
    http_client_free(w->client);
    assert_int_equal(http_client_new(&o, &w->client, &w->err), SILT_OK);
    w->ways[0] = TINY_STALL;
    http_request q = request(w, "PUT", "/");
    q.cancel = &token;
    pthread_create(&thread, NULL, cancel_soon, &token);
    int64_t began = time_monotonic_ms();
    assert_int_equal(http_send(w->client, &q, w->a, &r, &w->err), SILT_CANCELLED);
    assert_in_range(time_monotonic_ms() - began, 50, 10000);
    assert_true(r.may_have_applied);
    pthread_join(thread, NULL);
    assert_int_equal(http_send(w->client, &q, w->a, &r, &w->err), SILT_CANCELLED);
    assert_int_equal(tiny_server_requests(w->server), 1);
    assert_false(r.may_have_applied);
}

static void redirects(void **state) {
    world *w = *state;
    http_response r;
    w->statuses[0] = 302;
    w->headers = STR("Location: /elsewhere\r\n");
    http_request q = request(w, "GET", "/");
    q.follow = true;
    w->body_bytes = 7;
    assert_int_equal(http_send(w->client, &q, w->a, &r, &w->err), SILT_OK);
    assert_int_equal(r.status, 200);
    assert_string_equal(w->targets[1], "/elsewhere");
    assert_int_equal(r.body.len, 7);
    assert_false(r.may_have_applied);
}

static void many_at_once(void **state) {
    world *w = *state;
    enum { N = 60 };
    http_request q[N];
    http_response r[N];
    silt_status statuses[N];
    w->ways[5] = TINY_RESET;
    w->statuses[9] = 503;
    for (int i = 0; i < N; i++) {
        q[i] = request(w, "PUT", "/");
        q[i].body = arena_printf(w->a, "body %d", i);
        q[i].repeatable = true;
    }
    assert_int_equal(http_send_many(w->client, q, N, 4, w->a, r, statuses, &w->err), SILT_OK);
    for (int i = 0; i < N; i++) {
        assert_int_equal(statuses[i], SILT_OK);
        assert_true(str_eq(r[i].body, q[i].body));
    }
    assert_in_range(w->connections, 2, 6);
}

static void many_stop_at_a_failure(void **state) {
    world *w = *state;
    enum { N = 40 };
    http_request q[N];
    http_response r[N];
    silt_status statuses[N];
    for (int i = 0; i < N; i++) q[i] = request(w, "GET", "/");
    q[3].sign = sign_refuses;
    assert_int_equal(http_send_many(w->client, q, N, 2, w->a, r, statuses, &w->err), SILT_DENIED);
    assert_string_equal(w->err.condition, "PERMISSION_DENIED");
    assert_int_equal(statuses[0], SILT_OK);
    assert_int_equal(statuses[3], SILT_DENIED);
    assert_int_equal(statuses[N - 1], SILT_CANCELLED);
}

typedef struct sender {
    world *w;
    pthread_t thread;
    int good;
} sender;

static void *send_some(void *ctx) {
    sender *s = ctx;
    arena *a = arena_new();
    for (int i = 0; i < 40; i++) {
        http_request q = {.method = "PUT", .url = tiny_server_url(s->w->server, "/", a), .body = arena_printf(a, "%p %d", ctx, i), .repeatable = true};
        http_response r;
        s->good += http_send(s->w->client, &q, a, &r, NULL) == SILT_OK && str_eq(r.body, q.body);
    }
    arena_free(a);
    return NULL;
}

static void threads_share_a_client(void **state) {
    world *w = *state;
    sender senders[12] = {0};
    http_options o = {.max_connections = 3, .first_wait_ms = 1};
    http_client_free(w->client);
    assert_int_equal(http_client_new(&o, &w->client, &w->err), SILT_OK);
    for (int i = 0; i < 12; i++) {
        senders[i].w = w;
        pthread_create(&senders[i].thread, NULL, send_some, &senders[i]);
    }
    for (int i = 0; i < 12; i++) {
        pthread_join(senders[i].thread, NULL);
        assert_int_equal(senders[i].good, 40);
    }
    assert_int_equal(http_client_counts(w->client).requests, 480);
}

/* A handle keeps what it was set to for a plain GET, and for nothing else. */
static void one_kind_of_request_after_another(void **state) {
    static const struct { const char *method; const char *body; bool follow, repeatable; } kinds[] = {
        {"GET", "", false, true}, {"GET", "", false, false}, {"PUT", "a body", false, false}, {"GET", "", false, true}, {"HEAD", "", false, true}, {"GET", "", false, true},
        {"GET", "", true, true},  {"GET", "", false, true},  {"DELETE", "", false, true},     {"GET", "of a GET", false, true}, {"GET", "", false, true}, {"POST", "", false, false}, {"GET", "", false, true}};
    world *w = *state;
    http_response r;
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        http_request q = request(w, kinds[i].method, kinds[i].follow ? "/led" : "/k");
        http_header mine = {STR("Authorization"), arena_printf(w->a, "number %zu", i)};
        q.headers = &mine;
        q.n_headers = i % 3 != 0;
        q.body = str_of(kinds[i].body);
        q.follow = kinds[i].follow;
        q.repeatable = kinds[i].repeatable;
        assert_int_equal(http_send(w->client, &q, w->a, &r, &w->err), SILT_OK);
        assert_int_equal(r.status, 200);
        assert_string_equal(w->methods[i], kinds[i].method);
        assert_string_equal(w->bodies[i], kinds[i].body);
        assert_string_equal(w->auth[i], q.n_headers ? mine.value.ptr : "");
    }
    assert_int_equal(w->connections, 1);
}

/* The system has no room for epoll: libcurl's own loop does the same. */
static void without_epoll(void **state) {
    world *w = *state;
    enum { N = 60 };
    http_request requests[N];
    http_response answers[N];
    silt_status statuses[N];
    requests[0] = request(w, "GET", "/first");
    assert_int_equal(http_send(w->client, &requests[0], w->a, &answers[0], &w->err), SILT_OK);
    http_lane *lane = w->client->idle;
    assert_true(lane->watches);
    close(lane->epoll);
    lane->epoll = -1;
    w->ways[3] = TINY_RESET;
    w->ways[5] = TINY_CUT;
    w->ways[9] = TINY_STALL;
    w->statuses[11] = 503;
    for (int i = 0; i < N; i++) {
        requests[i] = request(w, "PUT", "/n");
        requests[i].body = arena_printf(w->a, "body %d", i);
        requests[i].repeatable = true;
    }
    assert_int_equal(http_send_many(w->client, requests, N, 16, w->a, answers, statuses, &w->err), SILT_OK);
    for (int i = 0; i < N; i++) {
        assert_int_equal(answers[i].status, 200);
        assert_true(str_eq(answers[i].body, requests[i].body));
    }
    assert_false(lane->watches);
    cancel_token stop = {1};
    requests[0].cancel = &stop;
    assert_int_equal(http_send(w->client, &requests[0], w->a, &answers[0], &w->err), SILT_CANCELLED);
}

static void encoding(void **state) {
    world *w = *state;
    assert_true(str_eqz(http_encode(STR("a b/c+d%e~é"), false, w->a), "a%20b%2Fc%2Bd%25e~%C3%A9"));
    assert_true(str_eqz(http_encode(STR("a b/c"), true, w->a), "a%20b/c"));
    assert_true(str_eqz(http_encode(STR(""), true, w->a), ""));
}

#define HTTP_TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void) {
    const struct CMUnitTest tests[] = {
        HTTP_TEST(get_and_headers),           HTTP_TEST(methods_and_bodies),
        HTTP_TEST(piece_of_a_file),           HTTP_TEST(answers_are_repeated),
        HTTP_TEST(the_last_answer_is_given),  HTTP_TEST(refusals_are_not_repeated),
        HTTP_TEST(broken_connections),        HTTP_TEST(not_repeatable_is_sent_once),
        HTTP_TEST(patience_grows_with_each_stall),
        HTTP_TEST(silent_second_sending_is_told), HTTP_TEST(never_sent_is_tried_again_and_told),
        HTTP_TEST(retry_after),               HTTP_TEST(each_attempt_is_signed),
        HTTP_TEST(signing_may_send),          HTTP_TEST(headers_cannot_be_injected), HTTP_TEST(sink_begins_again),
        HTTP_TEST(too_long_an_answer),        HTTP_TEST(cancelled),
        HTTP_TEST(redirects),                 HTTP_TEST(many_at_once),
        HTTP_TEST(many_stop_at_a_failure),    HTTP_TEST(threads_share_a_client),
        HTTP_TEST(one_kind_of_request_after_another), HTTP_TEST(without_epoll),
        HTTP_TEST(encoding),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
