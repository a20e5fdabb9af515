/*
 * Stores over services of objects, against small servers that keep a few objects and break as told: what a conditional put whose reply was lost has done, what is made of odd
 * ranges and lists, how tokens are renewed, how uploads in pieces go on after a break, and that no credential is in any message.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/uri.h"
#include "store/object/object_store.h"
#include "support/tiny_server.h"

enum { OBJECTS = 8, STEPS = 64 };

/* What the server does at its nth request of one kind; the rest are answered as they should be. */
typedef enum step { OBEY, LOSE_BEFORE, LOSE_AFTER, FAIL_BEFORE, FAIL_AFTER, FORBID, CUT_ANSWER } step;

typedef struct object {
    char name[128];
    buf bytes;
} object;

typedef struct world {
    tiny_server *server;
    store *store;
    arena *a, *served; /* the test's and the server's */
    silt_error err;
    object objects[OBJECTS];
    step puts[STEPS], gets[STEPS]; /* by number of the PUT (or POST of an object), of the GET of an object */
    int n_puts, n_gets, n_heads, n_tokens, n_lists, n_blocks;
    bool list_comes_twice; /* a block list, and what is told is the answer to the second */
    bool drops_blocks;     /* before the list comes */
    const char *refusal, *refusal_header; /* body of a 404 that every request gets, and its x-ms-error-code */
    const char *put_status; /* "409 BlobAlreadyExists": answer of every put */
    bool no_ranges, wrong_range;
    const char *pages[4]; /* of listings */
    int expired_tokens;   /* the first so many are not taken */
    const char *token_error;
    char auth[256], query[512], last_list[512]; /* of the last request */
    /* resumable */
    int sessions, lost_sessions, closed_early;
    int64_t keep_of_piece; /* 0: all; else only so many bytes of the first piece are kept */
    const char *location_host;
    buf session;
    bool done;
} world;

/* ---- the server ---- */

static object *find(world *w, str name, bool make) {
    for (size_t i = 0; i < OBJECTS; i++)
        if (str_eqz(name, w->objects[i].name)) return &w->objects[i];
    for (size_t i = 0; make && i < OBJECTS; i++) {
        if (w->objects[i].name[0]) continue;
        snprintf(w->objects[i].name, sizeof w->objects[i].name, "%.*s", STR_ARG(name));
        buf_init(&w->objects[i].bytes, 100 << 20);
        return &w->objects[i];
    }
    return NULL;
}

static void set_object(world *w, const char *name, str bytes) {
    object *o = find(w, str_of(name), true);
    buf_clear(&o->bytes);
    buf_append(&o->bytes, bytes);
}

static void answer_error(tiny_answer *a, int status, const char *code) {
    a->status = status;
    buf_printf(&a->body, "<?xml version=\"1.0\"?><Error><Code>%s</Code><Message>%s happened.\nRequestId:1</Message></Error>", code, code);
}

/* A put to `name`. */
static void serve_put(world *w, str name, bool if_absent, str body, tiny_answer *a) {
    step s = w->n_puts < STEPS ? w->puts[w->n_puts] : OBEY;
    w->n_puts++;
    if (w->put_status) {
        answer_error(a, atoi(w->put_status), w->put_status + 4);
        return;
    }
    if (s == FORBID) answer_error(a, 403, "AuthorizationFailure");
    if (s == LOSE_BEFORE) a->way = TINY_RESET;
    if (s == FAIL_BEFORE) answer_error(a, 500, "InternalError");
    if (s == FORBID || s == LOSE_BEFORE || s == FAIL_BEFORE) return;
    if (if_absent && find(w, name, false)) {
        answer_error(a, 412, "ConditionNotMet");
        return;
    }
    object *o = find(w, name, true);
    buf_clear(&o->bytes);
    buf_append(&o->bytes, body);
    a->status = 201;
    if (s == LOSE_AFTER) a->way = TINY_RESET;
    if (s == FAIL_AFTER) answer_error(a, 503, "ServerBusy");
}

static str content_range(world *w, int64_t x, int64_t y, int64_t z) {
    return arena_printf(w->served, "Content-Range: bytes %lld-%lld/%lld\r\n", (long long)x, (long long)y, (long long)z);
}

static void serve_get(world *w, str name, str range, tiny_answer *a) {
    object *o = find(w, name, false);
    step s = w->n_gets < STEPS ? w->gets[w->n_gets] : OBEY;
    w->n_gets++;
    if (s == FORBID || !o) {
        answer_error(a, o ? 403 : 404, o ? "AuthorizationFailure" : "BlobNotFound");
        return;
    }
    int64_t size = (int64_t)o->bytes.len, from = 0, to = size - 1;
    if (!str_is_null(range) && !w->no_ranges) {
        assert_int_equal(sscanf(range.ptr, "bytes=%ld-%ld", &from, &to) >= 1, 1);
        if (to >= size) to = size - 1;
        if (from >= size) {
            answer_error(a, 416, "InvalidRange");
            return;
        }
        a->status = 206;
        a->headers = content_range(w, from + w->wrong_range, to + w->wrong_range, size);
    }
    buf_append(&a->body, str_slice(buf_str(&o->bytes), (size_t)from, (size_t)to + 1));
    if (s == CUT_ANSWER) a->way = TINY_CUT;
    if (s == LOSE_BEFORE) a->way = TINY_RESET;
}

static void serve_head(world *w, str name, tiny_answer *a) {
    object *o = find(w, name, false);
    w->n_heads++;
    a->headers = STR("Last-Modified: Sun, 06 Nov 1994 08:49:37 GMT\r\nETag: \"0x1\"\r\n");
    if (o) buf_append(&a->body, buf_str(&o->bytes)); /* its length is told, no byte is sent */
    else a->status = 404;
}

static void serve_token(world *w, const tiny_request *q, tiny_answer *a) {
    w->n_tokens++;
    assert_non_null(strstr(arena_cstr(w->served, q->body), "client_secret=hush%26hush"));
    if (w->token_error) {
        a->status = 401;
        buf_printf(&a->body, "{\"error\":\"%s\",\"error_description\":\"the secret hush&hush is wrong\"}", w->token_error);
        return;
    }
    buf_printf(&a->body, "{\"access_token\":\"token-%d\",\"expires_in\":3600}", w->n_tokens);
}

static void serve_azure(world *w, const tiny_request *q, str path, tiny_answer *a) {
    str name = str_slice(path, str_starts_with(path, STR("/acct/c/")) ? 8 : 0, path.len);
    bool block = strstr(w->query, "comp=block&") != NULL, list = strstr(w->query, "comp=list") != NULL, commit = strstr(w->query, "comp=blocklist") != NULL;
    if (w->expired_tokens > 0 && strstr(w->auth, "Bearer")) {
        w->expired_tokens--;
        answer_error(a, 401, "InvalidAuthenticationInfo");
    } else if (list) {
        snprintf(w->last_list, sizeof w->last_list, "%s", w->query);
        buf_append_z(&a->body, w->pages[w->n_lists] ? w->pages[w->n_lists] : "<EnumerationResults/>");
        w->n_lists++;
    } else if (block) {
        step s = w->puts[w->n_puts++];
        w->n_blocks++;
        if (s == LOSE_BEFORE) a->way = TINY_RESET;
        else buf_append(&w->session, q->body);
        a->status = 201;
    } else if (commit) {
        if (w->done || w->drops_blocks) answer_error(a, 400, "InvalidBlockList");
        else serve_put(w, name, false, buf_str(&w->session), a);
        if (w->list_comes_twice) {
            buf_clear(&a->body);
            answer_error(a, 400, "InvalidBlockList");
        }
        w->done = true;
    } else if (str_eqz(q->method, "PUT")) {
        serve_put(w, name, str_eqz(tiny_header(q, "if-none-match"), "*"), q->body, a);
    } else if (str_eqz(q->method, "HEAD")) {
        serve_head(w, name, a);
    } else {
        serve_get(w, name, tiny_header(q, "range"), a);
    }
}

static void serve_session(world *w, const tiny_request *q, tiny_answer *a) {
    str range = tiny_header(q, "content-range");
    long from, to, size;
    if (w->lost_sessions > 0) {
        w->lost_sessions--;
        a->status = 410;
        return;
    }
    if (sscanf(range.ptr, "bytes %ld-%ld/%ld", &from, &to, &size) == 3) {
        step s = w->puts[w->n_puts++];
        assert_int_equal(from, w->session.len);
        assert_int_equal(to - from + 1, q->body.len);
        str kept = w->keep_of_piece && from == 0 ? str_slice(q->body, 0, (size_t)w->keep_of_piece) : q->body;
        if (s != LOSE_BEFORE) buf_append(&w->session, kept);
        if (s == LOSE_BEFORE || s == LOSE_AFTER) a->way = TINY_RESET;
    } else {
        assert_int_equal(sscanf(range.ptr, "bytes */%ld", &size), 1);
    }
    w->done = w->session.len == (size_t)size;
    if (w->done) set_object(w, "big", buf_str(&w->session));
    a->status = w->done ? 200 : 308;
    if (w->closed_early > 0) { /* says that it is done, with less than there is */
        w->closed_early--;
        a->status = 200;
    }
    if (a->status == 200) buf_printf(&a->body, "{\"name\":\"big\",\"size\":\"%zu\",\"updated\":\"2026-11-30T08:58:58Z\",\"generation\":\"7\"}", w->session.len);
    if (!w->done && w->session.len > 0) a->headers = arena_printf(w->served, "Range: bytes=0-%zu\r\n", w->session.len - 1);
}

static void serve_gcs(world *w, const tiny_request *q, str path, tiny_answer *a) {
    if (strstr(w->query, "upload_id=")) {
        serve_session(w, q, a);
    } else if (strstr(w->query, "uploadType=resumable")) {
        w->sessions++;
        buf_clear(&w->session);
        a->headers = arena_printf(w->served, "Location: %s/upload/storage/v1/b/bucket/o?upload_id=x\r\n", w->location_host ? w->location_host : tiny_server_url(w->server, "", w->served).ptr);
    } else if (str_eqz(q->method, "POST")) {
        size_t at = str_find(str_of(w->query), STR("name="));
        str rest = str_of(w->query + at + 5), name;
        str_next(&rest, '&', &name);
        serve_put(w, uri_decode(name, w->served), strstr(w->query, "ifGenerationMatch=0") != NULL, q->body, a);
        if (a->status == 201) a->status = 200;
    } else {
        size_t at = str_find(path, STR("/o/"));
        str name = uri_decode(str_slice(path, at + 3, path.len), w->served);
        if (strstr(w->query, "alt=media") && !find(w, name, false)) a->status = 404, buf_append_z(&a->body, "No such object: bucket/x");
        else if (strstr(w->query, "alt=media")) serve_get(w, name, tiny_header(q, "range"), a);
        else if (find(w, name, false)) buf_printf(&a->body, "{\"name\":\"x\",\"size\":\"%zu\",\"updated\":\"2026-11-30T08:58:58Z\",\"generation\":\"7\"}", find(w, name, false)->bytes.len);
        else a->status = 404;
    }
}

static void handle(void *ctx, const tiny_request *q, tiny_answer *a) {
    world *w = ctx;
    size_t mark = str_find_char(q->target, '?');
    str path = mark == SIZE_MAX ? q->target : str_slice(q->target, 0, mark);
    snprintf(w->query, sizeof w->query, "%.*s", STR_ARG(mark == SIZE_MAX ? STR("") : str_slice(q->target, mark + 1, q->target.len)));
    snprintf(w->auth, sizeof w->auth, "%.*s", STR_ARG(tiny_header(q, "authorization")));
    if (w->refusal) {
        a->status = 404;
        if (w->refusal_header) a->headers = arena_printf(w->served, "x-ms-error-code: %s\r\n", w->refusal_header);
        buf_append_z(&a->body, w->refusal);
        return;
    }
    if (str_eqz(path, "/token")) serve_token(w, q, a);
    else if (str_starts_with(path, STR("/acct/"))) serve_azure(w, q, path, a);
    else if (str_find(path, STR("/storage/v1/")) != SIZE_MAX) serve_gcs(w, q, path, a);
    else if (str_eqz(path, "/moved")) a->status = 302, a->headers = STR("Location: /x\r\n");
    else if (str_eqz(q->method, "HEAD")) serve_head(w, str_slice(path, 1, path.len), a);
    else serve_get(w, str_slice(path, 1, path.len), tiny_header(q, "range"), a);
}

/* ---- the stores ---- */

typedef struct pair {
    const char *key, *value;
} pair;

static str get_setting(void *ctx, const char *key) {
    for (const pair *p = ctx; p->key; p++)
        if (strcmp(p->key, key) == 0) return str_of(p->value);
    return STR_NULL;
}

static void open_with(world *w, store_open_fn open, const char *authority, const pair *pairs) {
    store_settings s = {.get = get_setting, .ctx = (void *)(uintptr_t)pairs};
    if (open(str_of(authority), &s, &w->store, &w->err) != SILT_OK) fail_msg("%s %s", w->err.message, w->err.detail);
}

static int start(void **state) {
    world *w = calloc(1, sizeof *w);
    w->a = arena_new();
    w->served = arena_new();
    buf_init(&w->session, 100 << 20);
    w->server = tiny_server_start(handle, w);
    *state = w;
    return 0;
}

static void open_azure(world *w, const pair *more) {
    pair pairs[8] = {{"silt.azure.endpoint", tiny_server_url(w->server, "/acct", w->a).ptr}};
    for (size_t i = 0; more[i].key; i++) pairs[i + 1] = more[i];
    open_with(w, store_azure_open, "c@acct", pairs);
}

static int start_azure(void **state) {
    start(state);
    open_azure(*state, (const pair[]){{"fs.azure.account.key", "c2VjcmV0"}, {NULL, NULL}});
    return 0;
}

static int start_stranger(void **state) {
    start(state);
    open_azure(*state, (const pair[]){{NULL, NULL}});
    return 0;
}

static int start_sas(void **state) {
    start(state);
    open_azure(*state, (const pair[]){{"fs.azure.sas.fixed.token", "sv=1&sig=topsecret"}, {NULL, NULL}});
    return 0;
}

static int start_oauth(void **state) {
    start(state);
    world *w = *state;
    const pair pairs[] = {{"fs.azure.account.auth.type", "OAuth"}, {"fs.azure.account.oauth2.client.id", "me"}, {"fs.azure.account.oauth2.client.secret", "hush&hush"},
                          {"fs.azure.account.oauth2.client.endpoint", tiny_server_url(w->server, "/token", w->a).ptr}, {NULL, NULL}};
    open_azure(w, pairs);
    return 0;
}

static int start_gcs(void **state) {
    start(state);
    world *w = *state;
    const pair pairs[] = {{"silt.gcs.endpoint", tiny_server_url(w->server, "", w->a).ptr}, {NULL, NULL}};
    open_with(w, store_gcs_open, "bucket", pairs);
    return 0;
}

static int start_http(void **state) {
    start(state);
    world *w = *state;
    char authority[64];
    snprintf(authority, sizeof authority, "127.0.0.1:%d", tiny_server_port(w->server));
    open_with(w, store_http_open, authority, (const pair[]){{NULL, NULL}});
    return 0;
}

static int stop(void **state) {
    world *w = *state;
    store_close(w->store);
    if (w->server) tiny_server_stop(w->server);
    for (size_t i = 0; i < OBJECTS; i++)
        if (w->objects[i].name[0]) buf_dispose(&w->objects[i].bytes);
    buf_dispose(&w->session);
    arena_free(w->a);
    arena_free(w->served);
    free(w);
    return 0;
}

static void assert_object(world *w, const char *name, const char *bytes) {
    object *o = find(w, str_of(name), false);
    assert_non_null(o);
    assert_true(str_eqz(buf_str(&o->bytes), bytes));
}

static silt_status put(world *w, const char *bytes) { return store_put(w->store, STR("/log/1.json"), str_of(bytes), STORE_PUT_IF_ABSENT, &w->err); }

static void assert_no_secret(const silt_error *err) {
    static const char *const secrets[] = {"c2VjcmV0", "topsecret", "hush", "token-", "sig=", "Bearer", "SharedKey"};
    for (size_t i = 0; i < ARRAY_LEN(secrets); i++) {
        assert_null(strstr(err->message, secrets[i]));
        assert_null(strstr(err->detail, secrets[i]));
        assert_null(strstr(err->hint, secrets[i]));
    }
}

/* ---- conditional puts: the same for both services ---- */

static void a_put_whose_reply_was_lost_is_known_as_ours(void **state) {
    world *w = *state;
    w->puts[0] = LOSE_AFTER;
    assert_int_equal(put(w, "mine"), SILT_OK);
    assert_object(w, "log/1.json", "mine");
}

static void a_put_that_was_done_and_answered_with_an_error_is_known_as_ours(void **state) {
    world *w = *state;
    w->puts[0] = FAIL_AFTER;
    assert_int_equal(put(w, "mine"), SILT_OK);
    assert_object(w, "log/1.json", "mine");
}

static void a_put_that_never_came_is_put_again(void **state) {
    world *w = *state;
    w->puts[0] = LOSE_BEFORE;
    w->puts[1] = FAIL_BEFORE;
    assert_int_equal(put(w, "mine"), SILT_OK);
    assert_object(w, "log/1.json", "mine");
    assert_int_equal(w->n_puts, 3);
}

static void a_lost_race_is_told_although_the_first_reply_was_lost(void **state) {
    world *w = *state;
    set_object(w, "log/1.json", STR("another's"));
    w->puts[0] = LOSE_BEFORE;
    assert_int_equal(put(w, "mine"), SILT_EXISTS);
    assert_object(w, "log/1.json", "another's");
}

/* One begins as the other does. */
static void longer_and_shorter_bytes_are_not_ours(void **state) {
    world *w = *state;
    set_object(w, "log/1.json", STR("mine and more"));
    w->puts[0] = LOSE_BEFORE;
    assert_int_equal(put(w, "mine"), SILT_EXISTS);
    set_object(w, "log/1.json", STR("mi"));
    w->puts[w->n_puts] = LOSE_BEFORE;
    assert_int_equal(put(w, "mine"), SILT_EXISTS);
}

static void what_was_there_before_a_clean_put_is_another_writers(void **state) {
    world *w = *state;
    set_object(w, "log/1.json", STR("mine")); /* even when equal: nothing was lost, so nobody looks */
    assert_int_equal(put(w, "mine"), SILT_EXISTS);
    assert_int_equal(w->n_gets, 0);
}

static void an_outcome_that_cannot_be_learned_is_unknown(void **state) {
    world *w = *state;
    w->puts[0] = LOSE_AFTER;
    w->gets[0] = FORBID;
    assert_int_equal(put(w, "mine"), SILT_UNKNOWN);
    assert_string_equal(w->err.condition, "WRITE_OUTCOME_UNKNOWN");
}

static void a_refused_put_is_refused(void **state) {
    world *w = *state;
    w->puts[0] = FORBID;
    assert_int_equal(put(w, "mine"), SILT_DENIED);
    assert_int_equal(w->n_puts, 1);
    assert_int_equal(w->n_gets, 0);
    assert_no_secret(&w->err);
}

/* After an attempt that may have been carried out, even a refusal does not say that nothing was written. */
static void a_put_refused_at_its_second_attempt_is_looked_for(void **state) {
    world *w = *state;
    w->puts[0] = LOSE_AFTER;
    w->puts[1] = FORBID;
    assert_int_equal(put(w, "mine"), SILT_OK);
    assert_int_equal(w->n_gets, 1);
}

static void a_replacement_is_sent_until_it_is_there(void **state) {
    world *w = *state;
    set_object(w, "log/1.json", STR("old"));
    w->puts[0] = LOSE_BEFORE;
    w->puts[1] = LOSE_AFTER;
    assert_int_equal(store_put(w->store, STR("/log/1.json"), STR("new"), STORE_PUT_REPLACE, &w->err), SILT_OK);
    assert_object(w, "log/1.json", "new");
}

static void all_answers_that_mean_taken(void **state) {
    static const char *const taken[] = {"409 BlobAlreadyExists", "412 ConditionNotMet", "403 UnauthorizedBlobOverwrite"}, *const failed[] = {"409 ContainerBeingDeleted", "400 InvalidHeaderValue"};
    world *w = *state;
    for (size_t i = 0; i < ARRAY_LEN(taken); i++) {
        w->put_status = taken[i];
        assert_int_equal(put(w, "mine"), SILT_EXISTS);
    }
    for (size_t i = 0; i < ARRAY_LEN(failed); i++) {
        w->put_status = failed[i];
        assert_int_equal(put(w, "mine"), SILT_IO);
        assert_non_null(strstr(w->err.detail, failed[i] + 4));
    }
    w->put_status = "404 ContainerNotFound"; /* not "absent": nothing is known of the object */
    assert_int_equal(put(w, "mine"), SILT_INVALID);
    assert_string_equal(w->err.condition, "STORE_BUCKET_NOT_FOUND");
}

/* ---- reading ---- */

static void assert_reads(world *w, int64_t offset, int64_t length, const char *expected) {
    buf b;
    buf_init(&b, 1000);
    buf_append_z(&b, ">");
    assert_int_equal(store_read(w->store, STR("/x"), offset, length, &b, &w->err), SILT_OK);
    assert_string_equal(buf_cstr(&b) + 1, expected);
    buf_dispose(&b);
}

static void a_server_without_ranges_is_read_right(void **state) {
    world *w = *state;
    set_object(w, "x", STR("0123456789"));
    w->no_ranges = true;
    assert_reads(w, 3, 4, "3456");
    assert_reads(w, 8, 100, "89");
    assert_reads(w, 100, 1, "");
    assert_reads(w, 0, 2, "01");
    assert_reads(w, 5, -1, "56789");
}

/* All of the object comes, in many pieces, and there is room for the range alone: that is neither an error nor a lack of memory. */
static void a_part_of_a_large_object_needs_its_own_room_only(void **state) {
    world *w = *state;
    const size_t size = 1 << 20;
    char *bytes = malloc(size);
    for (size_t i = 0; i < size; i++) bytes[i] = (char)('a' + i % 23);
    set_object(w, "x", (str){bytes, size});
    w->no_ranges = true;
    const int64_t places[] = {0, 1, 5000, 16 << 10, (16 << 10) - 7, 500000, (int64_t)size - 2048, (int64_t)size - 100, (int64_t)size + 5};
    for (size_t i = 0; i < ARRAY_LEN(places); i++) {
        int64_t left = (int64_t)size - places[i], n = left < 0 ? 0 : left < 2048 ? left : 2048;
        buf b;
        buf_init(&b, 2049);
        buf_append_z(&b, ">");
        if (store_read(w->store, STR("/x"), places[i], 2048, &b, &w->err) != SILT_OK) fail_msg("%lld: %s %s", (long long)places[i], w->err.message, w->err.detail);
        assert_int_equal(b.len, n + 1);
        if (n) assert_memory_equal(b.ptr + 1, bytes + places[i], (size_t)n);
        buf_dispose(&b);
    }
    free(bytes);
}

static void ranges_are_checked(void **state) {
    world *w = *state;
    set_object(w, "x", STR("0123456789"));
    assert_reads(w, 3, 4, "3456");
    assert_reads(w, 10, 4, "");
    w->wrong_range = true;
    buf b;
    buf_init(&b, 1000);
    assert_int_equal(store_read(w->store, STR("/x"), 3, 4, &b, &w->err), SILT_IO);
    assert_int_equal(b.len, 0);
    buf_dispose(&b);
}

static void a_body_cut_short_is_read_again(void **state) {
    world *w = *state;
    set_object(w, "x", STR("0123456789"));
    w->gets[0] = CUT_ANSWER;
    w->gets[1] = LOSE_BEFORE;
    assert_reads(w, 0, -1, "0123456789");
    assert_int_equal(w->n_gets, 3);
}

static void a_copy_is_whole_although_an_attempt_was_cut(void **state) {
    world *w = *state;
    str local;
    set_object(w, "x", STR("0123456789"));
    w->gets[0] = CUT_ANSWER;
    arena *a = arena_new();
    assert_int_equal(store_local_read_path(w->store, STR("/x"), a, &local, &w->err), SILT_OK);
    FILE *f = fopen(local.ptr, "rb");
    char bytes[32] = {0};
    assert_int_equal(fread(bytes, 1, sizeof bytes, f), 10);
    fclose(f);
    assert_string_equal(bytes, "0123456789");
    char *path = strdup(local.ptr);
    arena_free(a); /* the copy goes with its arena */
    assert_int_not_equal(access(path, F_OK), 0);
    free(path);
}

/* ---- lists ---- */

#define ITEM(name) "<Blob><Name>" name "</Name><Properties><Last-Modified>Sun, 06 Nov 1994 08:49:37 GMT</Last-Modified><Content-Length>1</Content-Length></Properties></Blob>"
#define LIST(items, next) "<EnumerationResults><Blobs>" items "</Blobs><NextMarker>" next "</NextMarker></EnumerationResults>"

static void assert_list(world *w, const char *start_at, bool recursive, const char *expected) {
    store_list_result list;
    buf names;
    buf_init(&names, 10000);
    assert_int_equal(store_list(w->store, STR("/t"), str_of(start_at), recursive, w->a, &list, &w->err), SILT_OK);
    for (size_t i = 0; i < list.count; i++) buf_printf(&names, "%s%.*s%s", i ? "|" : "", STR_ARG(list.items[i].path), list.items[i].is_dir ? "/" : "");
    assert_string_equal(buf_cstr(&names), expected);
    buf_dispose(&names);
}

static void pages_are_followed_and_put_in_order(void **state) {
    world *w = *state;
    w->pages[0] = LIST(ITEM("t/a-c") ITEM("t/b") "<BlobPrefix><Name>t/a/</Name></BlobPrefix>", "m&amp;1");
    w->pages[1] = LIST("", "m2"); /* an empty page is not the last */
    w->pages[2] = LIST("<BlobPrefix><Name>t/a/</Name></BlobPrefix>" ITEM("t/") ITEM("other/x") ITEM("t/c"), "");
    assert_list(w, NULL, false, "/t/a/|/t/a-c|/t/b|/t/c");
    assert_int_equal(w->n_lists, 3);
    assert_non_null(strstr(w->last_list, "marker=m2"));
    assert_non_null(strstr(w->last_list, "delimiter=%2F"));
    assert_non_null(strstr(w->last_list, "prefix=t%2F"));
}

static void the_first_page_alone(void **state) {
    world *w = *state;
    store_list_result list;
    bool all = true;
    w->pages[0] = LIST("", "m1"); /* an empty page says nothing */
    w->pages[1] = LIST(ITEM("t/a") ITEM("t/b"), "m2");
    assert_int_equal(store_list_first(w->store, STR("/t/"), NULL, w->a, &list, &all, &w->err), SILT_OK);
    assert_false(all);
    assert_int_equal(list.count, 2);
    assert_int_equal(w->n_lists, 2);
    w->pages[2] = LIST(ITEM("t/a"), "");
    assert_int_equal(store_list_first(w->store, STR("/t"), NULL, w->a, &list, &all, &w->err), SILT_OK);
    assert_true(all);
    assert_int_equal(list.count, 1);
    w->pages[3] = LIST("", "");
    assert_int_equal(store_list_first(w->store, STR("/t"), NULL, w->a, &list, &all, &w->err), SILT_NOT_FOUND);
}

static void markers_of_folders_are_no_files(void **state) {
    world *w = *state;
    w->pages[0] = LIST(ITEM("t/") ITEM("t/d/") ITEM("t/d/x"), "");
    assert_list(w, NULL, true, "/t/d/x");
    w->pages[1] = LIST(ITEM("t/"), "");
    assert_list(w, NULL, false, ""); /* an empty folder, made by another program */
}

static void names_before_the_start_are_left_out(void **state) {
    world *w = *state;
    w->pages[0] = LIST(ITEM("t/1.json") ITEM("t/2.json") ITEM("t/3.json"), "");
    assert_list(w, "2", false, "/t/2.json|/t/3.json");
    w->pages[1] = LIST(ITEM("t/1.json"), "");
    assert_list(w, "2", false, "");
}

static void lists_that_make_no_sense_are_errors(void **state) {
    world *w = *state;
    store_list_result list;
    w->pages[0] = LIST(ITEM("t/a"), "again");
    w->pages[1] = LIST(ITEM("t/a"), "again");
    assert_int_equal(store_list(w->store, STR("/t"), STR_NULL, true, w->a, &list, &w->err), SILT_IO);
    w->pages[2] = "<html>a proxy's page</html>";
    assert_int_equal(store_list(w->store, STR("/t"), STR_NULL, true, w->a, &list, &w->err), SILT_IO);
    w->n_lists = 2;
    w->pages[2] = "<EnumerationResults/>";
    assert_int_equal(store_list(w->store, STR("/t"), STR_NULL, true, w->a, &list, &w->err), SILT_NOT_FOUND);
}

/* ---- who asks ---- */

static void a_signature_in_the_query_is_in_no_message(void **state) {
    world *w = *state;
    buf b, text;
    buf_init(&b, 100);
    buf_init(&text, 1000);
    set_object(w, "x", STR("1"));
    assert_int_equal(store_read(w->store, STR("/x"), 0, -1, &b, &w->err), SILT_OK);
    assert_string_equal(w->query, "sv=1&sig=topsecret");
    w->put_status = "400 AuthenticationFailed";
    assert_int_equal(put(w, "1"), SILT_IO);
    assert_no_secret(&w->err);
    assert_int_equal(store_read(w->store, STR("/none"), 0, -1, &b, &w->err), SILT_NOT_FOUND);
    assert_no_secret(&w->err);
    w->store->ops->identity(w->store, &text);
    assert_null(strstr(buf_cstr(&text), "topsecret"));
    buf_dispose(&b);
    buf_dispose(&text);
}

static void one_token_serves_many_and_is_renewed_when_it_is_not_taken(void **state) {
    world *w = *state;
    set_object(w, "x", STR("1"));
    assert_reads(w, 0, -1, "1");
    assert_reads(w, 0, -1, "1");
    assert_int_equal(w->n_tokens, 1);
    assert_string_equal(w->auth, "Bearer token-1");
    w->expired_tokens = 1;
    assert_reads(w, 0, -1, "1");
    assert_int_equal(w->n_tokens, 2);
    assert_string_equal(w->auth, "Bearer token-2");
}

static void a_refused_secret_is_told_without_it(void **state) {
    world *w = *state;
    buf b;
    buf_init(&b, 100);
    w->token_error = "invalid_client";
    assert_int_equal(store_read(w->store, STR("/x"), 0, -1, &b, &w->err), SILT_DENIED);
    assert_string_equal(w->err.condition, "STORE_TOKEN_REFUSED");
    assert_non_null(strstr(w->err.detail, "invalid_client"));
    assert_no_secret(&w->err);
    buf_dispose(&b);
}

/* ---- uploads in pieces ---- */

static str write_local(world *w, const char *path, size_t size, char *bytes) {
    str local;
    for (size_t i = 0; i < size; i++) bytes[i] = (char)(i * 2654435761u >> 13);
    assert_int_equal(store_write_begin(w->store, str_of(path), w->a, &local, &w->err), SILT_OK);
    FILE *f = fopen(local.ptr, "wb");
    assert_int_equal(fwrite(bytes, 1, size, f), size);
    fclose(f);
    return local;
}

enum { PIECE = 256 * 1024, SIZE = 5 * PIECE + 12345 };

static void upload(world *w, silt_status expected) {
    static char bytes[SIZE];
    ((object_store *)w->store)->piece_bytes = PIECE;
    str local = write_local(w, "/big", SIZE, bytes);
    silt_status status = store_write_finish(w->store, STR("/big"), local, &w->err);
    if (status != expected) fail_msg("%s %s", w->err.message, w->err.detail);
    if (status != SILT_OK) {
        store_write_abort(w->store, STR("/big"), local);
        return;
    }
    object *o = find(w, STR("big"), false);
    assert_non_null(o);
    assert_int_equal(o->bytes.len, SIZE);
    assert_int_not_equal(access(local.ptr, F_OK), 0);
    if (w->n_blocks == 0) assert_memory_equal(o->bytes.ptr, bytes, SIZE); /* blocks come in any order */
}

static void a_large_file_goes_in_blocks(void **state) {
    world *w = *state;
    w->puts[2] = LOSE_BEFORE;
    upload(w, SILT_OK);
    assert_int_equal(w->n_blocks, 7);
}

static void a_block_list_whose_reply_was_lost_is_found_done(void **state) {
    world *w = *state;
    w->puts[6] = LOSE_AFTER; /* behind six blocks */
    upload(w, SILT_OK);
}

/* Something on the way sent the request again: to us it is the first answer. */
static void a_block_list_that_came_twice_is_found_done(void **state) {
    world *w = *state;
    w->list_comes_twice = true;
    upload(w, SILT_OK);
}

static void a_block_list_that_is_refused_is_no_success(void **state) {
    world *w = *state;
    w->drops_blocks = true;
    set_object(w, "big", STR("of another length"));
    upload(w, SILT_IO);
    assert_non_null(strstr(w->err.detail, "InvalidBlockList"));
}

static void a_large_file_goes_by_a_session(void **state) {
    world *w = *state;
    upload(w, SILT_OK);
    assert_int_equal(w->sessions, 1);
    assert_int_equal(w->n_puts, 6);
}

static void a_broken_piece_goes_on_where_the_service_says(void **state) {
    world *w = *state;
    w->puts[1] = LOSE_BEFORE;
    w->puts[3] = LOSE_AFTER;
    upload(w, SILT_OK);
    assert_int_equal(w->sessions, 1);
}

static void a_last_piece_whose_reply_was_lost_is_done(void **state) {
    world *w = *state;
    w->puts[5] = LOSE_AFTER;
    upload(w, SILT_OK);
    assert_int_equal(w->n_puts, 6);
}

static void a_piece_kept_in_part_is_completed(void **state) {
    world *w = *state;
    w->keep_of_piece = 1000;
    upload(w, SILT_OK);
}

static void a_lost_session_begins_anew(void **state) {
    world *w = *state;
    w->lost_sessions = 1;
    upload(w, SILT_OK);
    assert_int_equal(w->sessions, 2);
}

static void an_upload_closed_too_early_is_made_again(void **state) {
    world *w = *state;
    w->closed_early = 1;
    upload(w, SILT_OK);
    assert_int_equal(w->sessions, 2);
}

/* The one request can be sent again as often as it takes. */
static void after_sessions_lost_again_and_again_it_goes_in_one_piece(void **state) {
    world *w = *state;
    w->lost_sessions = 100;
    w->puts[0] = LOSE_AFTER;
    upload(w, SILT_OK);
    assert_int_equal(w->sessions, 3);
    assert_int_equal(w->n_puts, 2);
}

static void a_service_that_takes_neither_is_an_error(void **state) {
    world *w = *state;
    w->lost_sessions = 100;
    w->put_status = "403 Forbidden";
    upload(w, SILT_DENIED);
}

static void an_upload_goes_to_no_other_host(void **state) {
    world *w = *state;
    w->location_host = "http://evil.invalid";
    upload(w, SILT_OK);
}

static void names_are_one_part_of_the_path(void **state) {
    world *w = *state;
    store_entry entry;
    assert_int_equal(store_put(w->store, STR("/a b/%2F+\xc3\xa9"), STR("1"), STORE_PUT_IF_ABSENT, &w->err), SILT_OK);
    assert_object(w, "a b/%2F+\xc3\xa9", "1");
    assert_int_equal(store_stat(w->store, STR("/a b/%2F+\xc3\xa9"), w->a, &entry, &w->err), SILT_OK);
    assert_int_equal(entry.size_bytes, 1);
    assert_true(str_eqz(entry.tag, "7"));
    assert_int_equal(store_put(w->store, STR("/a/../b"), STR("1"), STORE_PUT_IF_ABSENT, &w->err), SILT_INVALID);
    assert_int_equal(store_put(w->store, STR("/a\xff"), STR("1"), STORE_PUT_IF_ABSENT, &w->err), SILT_INVALID);
}

/* ---- plain HTTP ---- */

static void http_is_read_and_not_written(void **state) {
    world *w = *state;
    store_entry entry;
    str local;
    set_object(w, "x", STR("0123456789"));
    assert_reads(w, 3, 4, "3456");
    assert_int_equal(store_stat(w->store, STR("/x"), w->a, &entry, &w->err), SILT_OK);
    assert_int_equal(entry.size_bytes, 10);
    assert_true(entry.modified_ms == INT64_C(784111777000));
    assert_true(str_eqz(entry.tag, "\"0x1\""));
    assert_int_equal(store_stat(w->store, STR("/none"), w->a, &entry, &w->err), SILT_NOT_FOUND);
    assert_int_equal(put(w, "1"), SILT_UNSUPPORTED);
    assert_string_equal(w->err.condition, "STORE_READ_ONLY");
    assert_int_equal(store_remove(w->store, STR("/x"), &w->err), SILT_UNSUPPORTED);
    assert_int_equal(store_write_begin(w->store, STR("/y"), w->a, &local, &w->err), SILT_UNSUPPORTED);
    assert_int_equal(w->n_puts, 0);
}

static void redirects_are_followed(void **state) {
    world *w = *state;
    buf b;
    buf_init(&b, 100);
    set_object(w, "x", STR("there"));
    assert_int_equal(store_read(w->store, STR("/moved"), 0, -1, &b, &w->err), SILT_OK);
    assert_string_equal(buf_cstr(&b), "there");
    buf_dispose(&b);
}

static void put_commit(world *w, int version) {
    char name[64];
    snprintf(name, sizeof name, "t/_delta_log/%020d.json", version);
    set_object(w, name, STR("{}"));
}

static void assert_log(world *w, const char *start_at, const char *expected) {
    store_list_result list;
    buf names;
    buf_init(&names, 10000);
    if (store_list(w->store, STR("/t/_delta_log"), str_of(start_at), false, w->a, &list, &w->err) != SILT_OK) fail_msg("%s %s", w->err.message, w->err.detail);
    for (size_t i = 0; i < list.count; i++) buf_printf(&names, "%s%.*s", i ? "|" : "", STR_ARG(str_slice(path_name(list.items[i].path), 18, path_name(list.items[i].path).len)));
    assert_string_equal(buf_cstr(&names), expected);
    buf_dispose(&names);
}

static void a_log_is_listed_by_the_names_of_its_files(void **state) {
    world *w = *state;
    put_commit(w, 0);
    put_commit(w, 1);
    put_commit(w, 2);
    put_commit(w, 4); /* behind a gap: no part of the log */
    assert_log(w, NULL, "00.json|01.json|02.json");
    assert_log(w, "00000000000000000001", "01.json|02.json");
    assert_log(w, "00000000000000000003", "");
}

static void a_log_is_listed_from_its_checkpoint(void **state) {
    world *w = *state;
    set_object(w, "t/_delta_log/_last_checkpoint", STR("{\"version\":10,\"size\":5}"));
    set_object(w, "t/_delta_log/00000000000000000010.checkpoint.parquet", STR("PAR1"));
    put_commit(w, 9); /* those before it were cleaned up in part */
    put_commit(w, 10);
    put_commit(w, 11);
    assert_log(w, NULL, "09.json|10.checkpoint.parquet|10.json|11.json");
    assert_log(w, "00000000000000000010", "10.checkpoint.parquet|10.json|11.json");
    assert_log(w, "00000000000000000010.json", "10.json|11.json");
    assert_log(w, "00000000000000000012", "");
}

static void other_folders_cannot_be_listed(void **state) {
    world *w = *state;
    store_list_result list;
    assert_int_equal(store_list(w->store, STR("/t"), STR_NULL, false, w->a, &list, &w->err), SILT_UNSUPPORTED);
    assert_int_equal(store_list(w->store, STR("/t/_delta_log"), STR_NULL, true, w->a, &list, &w->err), SILT_UNSUPPORTED);
    assert_int_equal(store_list(w->store, STR("/t/_delta_log"), STR_NULL, false, w->a, &list, &w->err), SILT_NOT_FOUND);
}

#define WITH(test, start) cmocka_unit_test_setup_teardown(test, start, stop)
#define PUTS(start)                                                                                                                                                              \
    WITH(a_put_whose_reply_was_lost_is_known_as_ours, start), WITH(a_put_that_was_done_and_answered_with_an_error_is_known_as_ours, start), WITH(a_put_that_never_came_is_put_again, start), \
        WITH(a_lost_race_is_told_although_the_first_reply_was_lost, start), WITH(longer_and_shorter_bytes_are_not_ours, start),                                                   \
        WITH(what_was_there_before_a_clean_put_is_another_writers, start), WITH(an_outcome_that_cannot_be_learned_is_unknown, start), WITH(a_refused_put_is_refused, start),       \
        WITH(a_put_refused_at_its_second_attempt_is_looked_for, start), WITH(a_replacement_is_sent_until_it_is_there, start)

static void times_of_listings_and_of_headers(void **state) {
    world *w = *state;
    store *local;
    assert_int_equal(store_memory_open(0, &local, NULL), SILT_OK);
    assert_true(store_times_agree(w->store, 1700000000123, 1700000000123));
    assert_true(store_times_agree(w->store, 1700000000123, 1700000000000));
    assert_true(store_times_agree(w->store, 1700000000000, 1700000000999));
    assert_false(store_times_agree(w->store, 1700000000123, 1700000000124));
    assert_false(store_times_agree(w->store, 1700000000999, 1700000001000));
    assert_false(store_times_agree(w->store, 1700000000000, 1700000001000));
    assert_true(store_times_agree(local, 1700000000123, 1700000000123));
    assert_false(store_times_agree(local, 1700000000123, 1700000000000));
    store_close(local);
}

/* ---- what is absent ---- */

static void assert_refusal(world *w, const char *header, const char *body, const char *condition, const char *detail) {
    buf b;
    buf_init(&b, 1000);
    w->refusal = body;
    w->refusal_header = header;
    w->err = (silt_error){0};
    silt_status status = store_read(w->store, STR("/x"), 0, -1, &b, &w->err);
    if (strcmp(w->err.condition, condition) != 0 || !strstr(w->err.detail, detail)) fail_msg("%s %s: %s, %s", header ? header : "", body, w->err.condition, w->err.detail);
    assert_int_equal(status == SILT_NOT_FOUND, strcmp(condition, "FILE_NOT_FOUND") == 0);
    buf_dispose(&b);
}

static void only_what_says_so_is_absent_on_azure(void **state) {
    world *w = *state;
    assert_refusal(w, "BlobNotFound", "", "FILE_NOT_FOUND", "BlobNotFound");
    assert_refusal(w, "PathNotFound", "", "FILE_NOT_FOUND", "");
    assert_refusal(w, "ResourceNotFound", "", "FILE_NOT_FOUND", "");
    assert_refusal(w, NULL, "", "FILE_NOT_FOUND", "");
    assert_refusal(w, "ContainerNotFound", "", "STORE_BUCKET_NOT_FOUND", "");
    assert_refusal(w, "AccountIsGone", "", "STORE_REQUEST_FAILED", "AccountIsGone");
    assert_refusal(w, NULL, "<html>nginx</html>", "STORE_REQUEST_FAILED", "404");
}

/* A private container tells strangers that nothing is there. */
static void strangers_are_told_so_on_azure(void **state) {
    world *w = *state;
    assert_refusal(w, "ResourceNotFound", "", "STORE_ACCESS_DENIED", "without a credential");
    assert_refusal(w, "BlobNotFound", "", "FILE_NOT_FOUND", "");
}

static void only_what_says_so_is_absent_on_gcs(void **state) {
    world *w = *state;
    assert_refusal(w, NULL, "No such object: bucket/x", "FILE_NOT_FOUND", "");
    assert_refusal(w, NULL, "{\"error\":{\"code\":404,\"message\":\"No such object: b/x\",\"errors\":[{\"reason\":\"notFound\"}]}}", "FILE_NOT_FOUND", "");
    assert_refusal(w, NULL, "{\"error\":{\"code\":404,\"message\":\"The specified bucket does not exist.\",\"errors\":[{\"reason\":\"notFound\"}]}}", "STORE_BUCKET_NOT_FOUND", "");
    assert_refusal(w, NULL, "The specified bucket does not exist.", "STORE_BUCKET_NOT_FOUND", "");
    assert_refusal(w, NULL, "{\"error\":{\"code\":404,\"message\":\"x\",\"errors\":[{\"reason\":\"billingGone\"}]}}", "STORE_REQUEST_FAILED", "billingGone");
    assert_refusal(w, NULL, "<html>nginx</html>", "STORE_REQUEST_FAILED", "404");
}

/* A listing and a put need no object: what is not there then is the bucket, also of a service (or an emulator) that has one word for both. */
static void an_absent_bucket_is_no_empty_folder(void **state) {
    world *w = *state;
    store_list_result list = {0};
    w->refusal = "{\"error\":{\"code\":404,\"message\":\"Not Found\",\"errors\":[{\"reason\":\"notFound\"}]}}";
    assert_int_equal(store_list(w->store, STR("/t/_delta_log"), STR_NULL, false, w->a, &list, &w->err), SILT_INVALID);
    assert_string_equal(w->err.condition, "STORE_BUCKET_NOT_FOUND");
    w->err = (silt_error){0};
    assert_int_equal(put(w, "mine"), SILT_INVALID);
    assert_string_equal(w->err.condition, "STORE_BUCKET_NOT_FOUND");
}

/* ---- writing where nothing can be written ---- */

static void http_is_read_only(void **state) {
    world *w = *state;
    str local;
    assert_int_equal(put(w, "mine"), SILT_UNSUPPORTED);
    assert_int_equal(store_write_begin(w->store, STR("/t/x.parquet"), w->a, &local, &w->err), SILT_UNSUPPORTED);
    assert_string_equal(w->err.condition, "STORE_READ_ONLY");
    assert_int_equal(store_remove(w->store, STR("/t/x.parquet"), &w->err), SILT_UNSUPPORTED);
    assert_string_equal(w->err.condition, "STORE_READ_ONLY");
}

int main(void) {
    cmocka_set_message_output(CM_OUTPUT_TAP);
    const struct CMUnitTest tests[] = {
        PUTS(start_azure),
        PUTS(start_gcs),
        WITH(all_answers_that_mean_taken, start_azure),
        WITH(only_what_says_so_is_absent_on_azure, start_azure),
        WITH(strangers_are_told_so_on_azure, start_stranger),
        WITH(only_what_says_so_is_absent_on_gcs, start_gcs),
        WITH(an_absent_bucket_is_no_empty_folder, start_gcs),
        WITH(http_is_read_only, start_http),
        WITH(a_server_without_ranges_is_read_right, start_azure),
        WITH(a_server_without_ranges_is_read_right, start_http),
        WITH(a_part_of_a_large_object_needs_its_own_room_only, start_http),
        WITH(a_part_of_a_large_object_needs_its_own_room_only, start_azure),
        WITH(ranges_are_checked, start_azure),
        WITH(ranges_are_checked, start_http),
        WITH(a_body_cut_short_is_read_again, start_azure),
        WITH(a_copy_is_whole_although_an_attempt_was_cut, start_azure),
        WITH(pages_are_followed_and_put_in_order, start_azure), WITH(the_first_page_alone, start_azure),
        WITH(markers_of_folders_are_no_files, start_azure),
        WITH(names_before_the_start_are_left_out, start_azure),
        WITH(times_of_listings_and_of_headers, start_azure),
        WITH(lists_that_make_no_sense_are_errors, start_azure),
        WITH(a_signature_in_the_query_is_in_no_message, start_sas),
        WITH(one_token_serves_many_and_is_renewed_when_it_is_not_taken, start_oauth),
        WITH(a_refused_secret_is_told_without_it, start_oauth),
        WITH(a_large_file_goes_in_blocks, start_azure),
        WITH(a_block_list_whose_reply_was_lost_is_found_done, start_azure),
        WITH(a_block_list_that_came_twice_is_found_done, start_azure),
        WITH(a_block_list_that_is_refused_is_no_success, start_azure),
        WITH(a_large_file_goes_by_a_session, start_gcs),
        WITH(a_broken_piece_goes_on_where_the_service_says, start_gcs),
        WITH(a_last_piece_whose_reply_was_lost_is_done, start_gcs),
        WITH(a_piece_kept_in_part_is_completed, start_gcs),
        WITH(a_lost_session_begins_anew, start_gcs),
        WITH(an_upload_closed_too_early_is_made_again, start_gcs),
        WITH(after_sessions_lost_again_and_again_it_goes_in_one_piece, start_gcs),
        WITH(a_service_that_takes_neither_is_an_error, start_gcs),
        WITH(an_upload_goes_to_no_other_host, start_gcs),
        WITH(names_are_one_part_of_the_path, start_gcs),
        WITH(http_is_read_and_not_written, start_http),
        WITH(redirects_are_followed, start_http),
        WITH(a_log_is_listed_by_the_names_of_its_files, start_http),
        WITH(a_log_is_listed_from_its_checkpoint, start_http),
        WITH(other_folders_cannot_be_listed, start_http),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
