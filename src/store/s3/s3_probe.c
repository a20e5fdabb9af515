/*
 * Does this server honour If-None-Match: *? Some that speak S3 overwrite, some refuse the header, some look before they write and so let two writers win. So before the first
 * commit several conditional PUTs of one new object are sent at once, of which exactly one may succeed, and then another, which must fail. The object stands beside the log,
 * where commits may be written if anything may, under a name that readers of tables pass over; it is removed.
 *
 * The outcome is kept by the store, and a good one in a file of the cache folder, by endpoint and bucket, for some weeks; not for servers of this machine, which come and go at one
 * port. Cost: two waits and one removal, once.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/ident.h"
#include "base/time.h"
#include "base/uri.h"
#include "store/s3/s3.h"

#define RACERS         4
#define ROUNDS         5
#define KEY_MAX        1024
#define REMEMBERED_MS  ((int64_t)30 * 86400000)

enum { UNPROVED, HONOURS };

/* ---- memory ---- */

static bool is_of_this_machine(str endpoint) {
    return str_starts_with(endpoint, STR("127.")) || str_starts_with(endpoint, STR("localhost")) || str_starts_with(endpoint, STR("[::1]"));
}

/* Null: nothing is to be remembered. */
static str memory_path(const s3_settings *c, arena *a) {
    char digest[65];
    str endpoint = str_is_null(c->endpoint) ? STR("aws") : c->endpoint;
    if (str_is_null(c->memory_folder) || is_of_this_machine(endpoint)) return STR_NULL;
    str id = arena_printf(a, "%s %.*s %.*s", c->tls ? "https" : "http", STR_ARG(endpoint), STR_ARG(c->bucket));
    if (str_is_null(id)) return STR_NULL;
    s3_sha256_hex(id, digest);
    if (!digest[0]) return STR_NULL;
    return arena_printf(a, "%.*s/s3-conditional-put/%.32s", STR_ARG(c->memory_folder), digest);
}

static bool is_remembered(str path) {
    struct stat st;
    return !str_is_null(path) && stat(path.ptr, &st) == 0 && S_ISREG(st.st_mode) && time_now_ms() - (int64_t)st.st_mtime * 1000 < REMEMBERED_MS;
}

static void make_folders(char *path) {
    for (char *p = path + 1; *p; p++) {
        if (*p != '/') continue;
        *p = '\0';
        mkdir(path, 0700);
        *p = '/';
    }
}

/* Best effort: the next process asks again. */
static void remember(str path, arena *a) {
    char *z = str_is_null(path) ? NULL : arena_cstr(a, path);
    if (!z) return;
    make_folders(z);
    FILE *file = fopen(z, "w");
    if (file) fclose(file);
}

/* ---- the question ---- */

static silt_status inconclusive(s3_store *s, const http_response *r, str key, arena *a, silt_error *err) {
    return object_error_of(&s->base, r, "Asking whether conditional writes are honoured at", key, a, err);
}

static silt_status ignored(s3_store *s, const char *how, silt_error *err) {
    silt_status status = err_S3_CONDITIONAL_PUT_IGNORED(err, s->base.where);
    error_detail(err, "%s", how);
    return status;
}

static bool is_refusal(const http_response *r) { return r->status == 412 || r->status == 409; }

/* Not repeatable: a second sending after a lost answer would look like a server that refuses, or one that overwrites. */
static silt_status make_request(s3_store *s, str key, arena *a, http_request *out, silt_error *err) {
    http_header *headers = ARENA_ARRAY(a, OBJECT_HEADERS, http_header);
    if (!headers) return error_no_memory(err);
    *out = (http_request){.headers = headers};
    TRY(s3_request(&s->base, OBJECT_PUT_IF_ABSENT, key, headers, out, a, err));
    out->body = STR("silt asks whether this server honours If-None-Match\n");
    return SILT_OK;
}

static silt_status put_once(s3_store *s, str key, arena *a, http_response *out, silt_error *err) {
    http_request r;
    TRY(make_request(s, key, a, &r, err));
    return object_send(&s->base, &r, "Writing", a, out, err);
}

static silt_status race(s3_store *s, str key, arena *a, silt_error *err) {
    http_request r[RACERS];
    http_response answers[RACERS];
    silt_status statuses[RACERS];
    int won = 0;
    for (int i = 0; i < RACERS; i++) TRY(make_request(s, key, a, &r[i], err));
    TRY(object_send_many(&s->base, r, RACERS, RACERS, "Writing", a, answers, statuses, err));
    for (int i = 0; i < RACERS; i++) {
        if (http_is_ok(&answers[i])) won++;
        else if (answers[i].status == 501 || answers[i].status == 400) return ignored(s, "The server does not know conditional writes.", err);
        else if (!is_refusal(&answers[i])) return inconclusive(s, &answers[i], key, a, err);
    }
    return won <= 1 ? SILT_OK : ignored(s, "Of several conditional writes of one object at once more than one succeeded.", err);
}

static silt_status ask(s3_store *s, str key, arena *a, silt_error *err) {
    http_response answer;
    TRY(race(s, key, a, err));
    TRY(put_once(s, key, a, &answer, err));
    if (http_is_ok(&answer)) /* it may have been the first: all before were told of each other */
        TRY(put_once(s, key, a, &answer, err));
    if (http_is_ok(&answer)) return ignored(s, "A conditional write overwrote an object.", err);
    return is_refusal(&answer) ? SILT_OK : inconclusive(s, &answer, key, a, err);
}

static silt_status ask_with_new_object(s3_store *s, str folder, arena *a, silt_error *err) {
    char id[37];
    uuid_generate(id);
    str key = arena_printf(a, "%.*s%s.silt-probe-%s", STR_ARG(str_slice(folder, 1, folder.len)), folder.len > 1 ? "/" : "", id);
    str path = arena_printf(a, "/%.*s", STR_ARG(key));
    if (str_is_null(key) || str_is_null(path)) return error_no_memory(err);
    silt_status status = ask(s, key, a, err);
    (void)!object_store_remove(&s->base.base, path, NULL);
    return status;
}

static void pause_after(int round) {
    struct timespec t = {0, (50 << round) * 1000000L};
    nanosleep(&t, NULL);
}

/* Until there is an answer: one that is lost proves nothing either way. Nothing was committed so far, so that no failure is an unknown outcome. */
static silt_status probe(s3_store *s, str path, arena *a, silt_error *err) {
    str memory = memory_path(&s->settings, a), folder = path_parent(path);
    silt_error why = {0};
    silt_status status = SILT_OK;
    if (is_remembered(memory)) return SILT_OK;
    while (folder.len > KEY_MAX - 64) folder = path_parent(folder);
    for (int round = 0; round < ROUNDS; round++) {
        status = ask_with_new_object(s, folder, a, &why);
        if (status != SILT_UNKNOWN && status != SILT_IO) break;
        if (round + 1 < ROUNDS) pause_after(round);
    }
    if (status == SILT_OK) remember(memory, a);
    if (status == SILT_UNKNOWN) {
        status = err_STORE_REQUEST_FAILED(err, "Asking whether conditional writes are honoured", s->base.where, 0);
        error_detail(err, "%s", why.message);
    } else if (status != SILT_OK && err) {
        *err = why;
    }
    return status;
}

silt_status s3_probe(s3_store *s, str path, silt_error *err) {
    pthread_mutex_lock(&s->lock);
    int proof = s->proof;
    pthread_mutex_unlock(&s->lock);
    if (proof == HONOURS) return SILT_OK;
    arena *a = arena_new();
    silt_status status = a ? probe(s, path, a, err) : error_no_memory(err);
    arena_free(a);
    if (status != SILT_OK) return status;
    pthread_mutex_lock(&s->lock);
    s->proof = HONOURS;
    pthread_mutex_unlock(&s->lock);
    return SILT_OK;
}
