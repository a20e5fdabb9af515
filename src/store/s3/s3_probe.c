/*
 * Does this server honour If-None-Match: *? Some that speak S3 overwrite, some refuse the header, some look before they write and so let two writers win. So before the first
 * commit several conditional PUTs of one new object are sent at once, of which exactly one may succeed, and then another, which must fail. The object stands beside the log,
 * where commits may be written if anything may, under a name that readers of tables pass over; it is removed.
 *
 * The outcome is kept by the store, and a good one in a file of the cache folder, by endpoint and bucket, for some weeks; not for servers of this machine, which come and go at one
 * port. Cost: two waits and one removal, once; not even those where data are written first, since it is asked meanwhile.
 */
#include <ctype.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/ident.h"
#include "base/time.h"
#include "base/uri.h"
#include "store/object/object_internal.h"
#include "store/s3/s3.h"

#define RACERS         4
#define ROUNDS         8
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

static bool is_passing(silt_status status, const http_response *r) {
    if (status != SILT_OK) return status == SILT_UNKNOWN || status == SILT_IO;
    return r->status >= 500 || r->status == 408 || r->status == 429;
}

static void pause_after(int round) {
    struct timespec t = {0, (50 << (round < 4 ? round : 4)) * 1000000L};
    nanosleep(&t, NULL);
}

/* Until there is an answer. A put without one may have been carried out, which makes no difference to what the next must be told once the object is there. */
static silt_status put(s3_store *s, str key, arena *a, http_response *out, silt_error *err) {
    for (int round = 0;; round++) {
        http_request r;
        TRY(make_request(s, key, a, &r, err));
        silt_status status = object_send(&s->base, &r, "Writing", a, out, err);
        if (!is_passing(status, out) || round + 1 == ROUNDS) return status;
        pause_after(round);
    }
}

/*
 * At most one may win. Of one racer the answer may stay out: the others prove as much. Where more do, nothing is proved. Answers that teach something (a region)
 * are acted upon only when all have come, so that before that none is taken for a refusal of the header.
 */
static silt_status race(s3_store *s, str key, arena *a, silt_error *err) {
    http_request r[RACERS];
    http_response answers[RACERS];
    silt_status statuses[RACERS] = {SILT_CANCELLED, SILT_CANCELLED, SILT_CANCELLED, SILT_CANCELLED};
    int won = 0, silent = 0;
    silt_error why = {0};
    for (int i = 0; i < RACERS; i++) TRY(make_request(s, key, a, &r[i], err));
    silt_status sent = object_send_many(&s->base, r, RACERS, RACERS, "Writing", a, answers, statuses, &why);
    if (sent != SILT_OK && !is_passing(sent, NULL)) return object_copy_error(&why, err);
    for (int i = 0; i < RACERS; i++) {
        bool answered = statuses[i] == SILT_OK;
        int status = answered ? answers[i].status : 0;
        if (answered && http_is_ok(&answers[i])) {
            won++;
        } else if (!answered || !is_refusal(&answers[i])) {
            if (sent == SILT_OK && (status == 501 || status == 400)) return ignored(s, "The server does not know conditional writes.", err);
            if (sent == SILT_OK && !is_passing(SILT_OK, &answers[i])) return inconclusive(s, &answers[i], key, a, err);
            if (sent == SILT_OK) (void)!inconclusive(s, &answers[i], key, a, &why);
            silent++;
        }
    }
    if (won > 1) return ignored(s, "Of several conditional writes of one object at once more than one succeeded.", err);
    return silent > 1 ? object_copy_error(&why, err) : SILT_OK;
}

static silt_status ask(s3_store *s, str key, arena *a, silt_error *err) {
    http_response answer;
    TRY(race(s, key, a, err));
    TRY(put(s, key, a, &answer, err));
    if (http_is_ok(&answer)) /* it may have been the first: all before were told of each other */
        TRY(put(s, key, a, &answer, err));
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

static bool is_proved(s3_store *s) {
    pthread_mutex_lock(&s->lock);
    bool yes = s->proof == HONOURS;
    pthread_mutex_unlock(&s->lock);
    return yes;
}

static silt_status prove(s3_store *s, str path, silt_error *err) {
    arena *a = arena_new();
    silt_status status = a ? probe(s, path, a, err) : error_no_memory(err);
    arena_free(a);
    if (status != SILT_OK) return status;
    pthread_mutex_lock(&s->lock);
    s->proof = HONOURS;
    pthread_mutex_unlock(&s->lock);
    return SILT_OK;
}

silt_status s3_probe(s3_store *s, str path, silt_error *err) {
    s3_probe_wait(s);
    return is_proved(s) ? SILT_OK : prove(s, path, err);
}

/* ---- while data are being written ---- */

struct s3_prover {
    pthread_t thread;
    s3_store *store;
    char path[]; /* ends in NUL */
};

/* Whatever goes wrong goes wrong again, and is told, when the commit asks. */
static void *prove_ahead(void *ctx) {
    s3_prover *p = ctx;
    (void)!prove(p->store, str_of(p->path), NULL);
    return NULL;
}

static bool start(s3_prover *p) {
    sigset_t all, before;
    sigfillset(&all); /* signals are for the threads that wait for them */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool ok = pthread_create(&p->thread, NULL, prove_ahead, p) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return ok;
}

void s3_probe_ahead(s3_store *s, str path) {
    if (is_proved(s) || s->settings.commit != S3_COMMIT_CONDITIONAL) return;
    s3_prover *p = malloc(sizeof *p + path.len + 1);
    if (!p) return;
    p->store = s;
    memcpy(p->path, path.ptr, path.len);
    p->path[path.len] = '\0';
    pthread_mutex_lock(&s->prover_lock);
    bool started = !s->asked_ahead && start(p);
    if (started) s->prover = p;
    s->asked_ahead = true;
    pthread_mutex_unlock(&s->prover_lock);
    if (!started) free(p);
}

void s3_probe_wait(s3_store *s) {
    pthread_mutex_lock(&s->prover_lock); /* others wait here for the one that joins */
    s3_prover *p = s->prover;
    s->prover = NULL;
    if (p) pthread_join(p->thread, NULL);
    pthread_mutex_unlock(&s->prover_lock);
    free(p);
}
