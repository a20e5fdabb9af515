/*
 * The S3 driver: URLs, headers, what answers mean; and what is learned under way: the bucket's region, the service's clock, credentials that ended. Each of those makes the
 * request be sent once more (s3_again), since signing and the host are made anew for each attempt.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/time.h"
#include "store/log_store.h"
#include "store/s3/s3.h"
#include "store/s3/s3_dynamodb.h"

#define SKEW_MS (5 * 60000) /* S3 takes 15 minutes */

/* ---- URLs ---- */

str s3_base_url(s3_store *s, arena *a) {
    const s3_settings *c = &s->settings;
    const char *scheme = c->tls ? "https" : "http";
    str host = c->endpoint;
    if (str_is_null(host)) {
        pthread_mutex_lock(&s->lock);
        bool china = strncmp(s->region, "cn-", 3) == 0;
        host = arena_printf(a, "s3.%s.amazonaws.com%s", s->region, china ? ".cn" : "");
        pthread_mutex_unlock(&s->lock);
    }
    if (str_is_null(host)) return STR_NULL;
    if (c->path_style) return arena_printf(a, "%s://%.*s/%.*s", scheme, STR_ARG(host), STR_ARG(c->bucket));
    return arena_printf(a, "%s://%.*s.%.*s", scheme, STR_ARG(c->bucket), STR_ARG(host));
}

str s3_url(s3_store *s, str key, arena *a) {
    str base = s3_base_url(s, a), path = http_encode(key, true, a);
    if (str_is_null(base) || str_is_null(path)) return STR_NULL;
    return arena_printf(a, "%.*s/%.*s", STR_ARG(base), STR_ARG(path));
}

/* The request was made for the host of a moment ago; what is behind it stays. */
static str rebase(s3_store *s, str url, arena *a) {
    str base = s3_base_url(s, a);
    size_t scheme = str_find(url, STR("://"));
    if (str_is_null(base) || scheme == SIZE_MAX || !str_is_null(s->settings.endpoint)) return url;
    size_t slash = str_find_char(str_slice(url, scheme + 3, url.len), '/');
    size_t host = str_find_char(str_slice(base, str_find(base, STR("://")) + 3, base.len), '/');
    if (host != SIZE_MAX) base = str_slice(base, 0, host + str_find(base, STR("://")) + 3);
    return arena_printf(a, "%.*s%.*s", STR_ARG(base), STR_ARG(slash == SIZE_MAX ? STR("/") : str_slice(url, scheme + 3 + slash, url.len)));
}

/* ---- signing ---- */

/*
 * Pieces of data files are not hashed: within TLS it would add nothing, and without it the hash costs more than the sending (310 MB/s on one core without SHA instructions), while
 * what the network changes its own checksums find, as on every other store. Commits, checkpoints and vectors, which are in memory, are.
 */
static str payload_of(const http_request *r, char out[65]) {
    if (r->body_file) return STR("UNSIGNED-PAYLOAD");
    s3_sha256_hex(r->body, out);
    return out[0] ? (str){out, 64} : STR_NULL;
}

static silt_status sign(void *ctx, const http_request *r, http_attempt *at, silt_error *err) {
    s3_store *s = ctx;
    s3_identity identity = {STR_NULL, STR_NULL, STR_NULL};
    char digest[65], region[sizeof s->region];
    at->url = rebase(s, r->url, at->arena);
    if (str_is_null(at->url)) return error_no_memory(err);
    if (s->credentials) TRY(s3_credentials_get(s->credentials, at->arena, &identity, err));
    if (str_is_null(identity.access_key)) return SILT_OK;
    str payload = payload_of(r, digest);
    if (!str_is_null(payload)) payload = arena_str(at->arena, payload);
    if (str_is_null(payload)) return error_no_memory(err);
    pthread_mutex_lock(&s->lock);
    memcpy(region, s->region, sizeof region);
    int64_t now = time_now_ms() + s->clock_ahead_ms;
    pthread_mutex_unlock(&s->lock);
    s3_signing signing = {.identity = &identity, .region = s->settings.google ? STR("auto") : str_of(region), .service = s->settings.google ? "storage" : "s3", .now_ms = now, .payload = payload,
                          .kept = &s->signing_key};
    return s3_sign(&signing, r->method, at, err);
}

/* ---- what is learned from refusals ---- */

/* It becomes part of a host's name. */
static bool is_region(const s3_store *s, str region) {
    if (region.len == 0 || region.len >= sizeof s->region) return false;
    for (size_t i = 0; i < region.len; i++)
        if (!((region.ptr[i] >= 'a' && region.ptr[i] <= 'z') || (region.ptr[i] >= '0' && region.ptr[i] <= '9') || region.ptr[i] == '-')) return false;
    return true;
}

/* true: it is another one than before. */
static bool set_region(s3_store *s, str region) {
    pthread_mutex_lock(&s->lock);
    bool news = !str_eqz(region, s->region);
    memcpy(s->region, region.ptr, region.len);
    s->region[region.len] = '\0';
    pthread_mutex_unlock(&s->lock);
    return news;
}

/* true: ours is, or was for a request before this one, too far from theirs. */
static bool set_clock(s3_store *s, const http_response *r) {
    int64_t theirs;
    if (!http_date_parse(http_header_get(r, "date"), &theirs)) return false;
    int64_t ahead = theirs - time_now_ms();
    pthread_mutex_lock(&s->lock);
    int64_t off = ahead - s->clock_ahead_ms;
    if (off > SKEW_MS || off < -SKEW_MS) s->clock_ahead_ms = ahead;
    bool corrected = s->clock_ahead_ms != 0;
    pthread_mutex_unlock(&s->lock);
    return corrected;
}

static const char *const ended_tokens[] = {"ExpiredToken", "ExpiredTokenException", "InvalidToken", "TokenRefreshRequired"};

static bool is_one_of(str code, const char *const *codes, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (str_eqz(code, codes[i])) return true;
    return false;
}

/*
 * "Try again", says the service of an unconditional put beside another of that key; versitygw says "is a directory" where two first files of one folder come at once. A conditional put's 409 is is_unsettled's, and a
 * commit by the only writer must not follow another writer's blindly.
 */
#define ABORTED_PAUSE_NS 100000000L /* of three tries */

static bool is_aborted(const http_request *q, const http_response *r, arena *a) {
    static const char *const conditions[] = {"If-None-Match", "x-goog-if-generation-match"};
    static const char *const aborted[] = {"OperationAborted", "ExistingObjectIsDirectory"};
    s3_fault f = {STR_NULL, STR_NULL, STR_NULL};
    for (size_t i = 0; i < q->n_headers; i++)
        for (size_t c = 0; c < ARRAY_LEN(conditions); c++)
            if (str_eq_fold(q->headers[i].name, str_of(conditions[c]))) return false;
    bool ours = strcmp(q->method, "PUT") == 0 && q->repeatable && str_find(q->url, STR("/_delta_log/")) == SIZE_MAX;
    if (!ours || !s3_fault_parse(r->body, a, &f) || !is_one_of(f.code, aborted, ARRAY_LEN(aborted))) return false;
    nanosleep(&(struct timespec){.tv_nsec = ABORTED_PAUSE_NS}, NULL);
    return true;
}

/*
 * Should the request be sent once more? (The caller does so a few times at most.) What is learned may be known already, by another thread's request: this one was signed before.
 * An answer to HEAD has no body that would name its error.
 */
static bool s3_again(object_store *o, const http_request *q, const http_response *r, arena *a) {
    static const char *const passing[] = {"RequestTimeout", "SlowDown", "InternalError"};
    s3_store *s = (s3_store *)o;
    s3_fault f = {STR_NULL, STR_NULL, STR_NULL};
    if (r->status == 409) return is_aborted(q, r, a);
    bool redirects = r->status == 301 || r->status == 307;
    if (!redirects && r->status != 400 && r->status != 403) return false;
    bool silent = !s3_fault_parse(r->body, a, &f) && strcmp(q->method, "HEAD") == 0;
    str region = http_header_get(r, "x-amz-bucket-region");
    if (str_is_null(region)) region = f.region;
    if (is_region(s, region) && (set_region(s, region) || redirects || silent || str_eqz(f.code, "AuthorizationHeaderMalformed"))) return true;
    if (redirects) return false;
    if (r->status == 403 && (silent || str_eqz(f.code, "RequestTimeTooSkewed")) && set_clock(s, r)) return true;
    if ((silent && r->status == 400) || is_one_of(f.code, ended_tokens, ARRAY_LEN(ended_tokens))) return s->credentials && s3_credentials_expire(s->credentials);
    return is_one_of(f.code, passing, ARRAY_LEN(passing)) && q->repeatable;
}

/* ---- requests about one object ---- */

static bool add_all(http_request *r, const http_header *headers, size_t n) {
    http_header *to = (http_header *)(uintptr_t)r->headers;
    if (r->n_headers + n > OBJECT_HEADERS) return false;
    if (n) memcpy(to + r->n_headers, headers, n * sizeof *headers);
    r->n_headers += n;
    return true;
}

silt_status s3_request(object_store *o, object_verb verb, str key, http_header *headers, http_request *out, arena *a, silt_error *err) {
    static const char *const methods[] = {[OBJECT_READ] = "GET", [OBJECT_STAT] = "HEAD", [OBJECT_PUT] = "PUT", [OBJECT_PUT_IF_ABSENT] = "PUT", [OBJECT_REMOVE] = "DELETE"};
    static const http_header if_none = {{"If-None-Match", 13}, {"*", 1}}, payer = {{"x-amz-request-payer", 19}, {"requester", 9}};
    static const http_header no_generation = {{"x-goog-if-generation-match", 26}, {"0", 1}}; /* Google knows If-None-Match for reading alone */
    s3_store *s = (s3_store *)o;
    bool writes = verb == OBJECT_PUT || verb == OBJECT_PUT_IF_ABSENT;
    out->method = methods[verb];
    out->headers = headers;
    out->url = s3_url(s, key, a);
    if (str_is_null(out->url)) return error_no_memory(err);
    bool ok = true;
    if (verb == OBJECT_PUT_IF_ABSENT) ok = add_all(out, s->settings.google ? &no_generation : &if_none, 1);
    if (writes) ok = ok && add_all(out, s->settings.fixed, s->settings.n_fixed);
    if (verb != OBJECT_REMOVE) ok = ok && add_all(out, s->settings.customer_key, s->settings.n_customer_key);
    if (s->settings.requester_pays) ok = ok && add_all(out, &payer, 1);
    return ok ? SILT_OK : error_no_memory(err);
}

static str tag_of(const http_response *r) { return http_header_get(r, "etag"); }

static silt_status parse_info(object_store *o, const http_response *r, arena *a, object_info *out, silt_error *err) {
    (void)a;
    str length = http_header_get(r, "content-length");
    if (!str_to_i64(length, &out->size_bytes) || out->size_bytes < 0) return object_bad_answer(o, "Looking at an object", "no Content-Length", err);
    if (!http_date_parse(http_header_get(r, "last-modified"), &out->modified_ms)) return object_bad_answer(o, "Looking at an object", "no Last-Modified", err);
    out->tag = tag_of(r);
    return SILT_OK;
}

static bool is_taken(const http_response *r, const object_error *e) {
    (void)e;
    return r->status == 412;
}

/* Another conditional write to the key is under way: nobody won yet. */
static bool is_unsettled(const http_response *r, const object_error *e) {
    return r->status == 409 && (str_eqz(e->code, "ConditionalRequestConflict") || str_eqz(e->code, "OperationAborted"));
}

/* Codes about users and keys differ from server to server, and so do their statuses (XAdminUserNotFound with 404). */
static bool is_about_who(str code) {
    static const char *const words[] = {"User", "AccessKey", "Account", "Credential", "Principal", "Signature"};
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (str_find(code, str_of(words[i])) != SIZE_MAX) return true;
    return false;
}

static object_meaning meaning_of(str code) {
    static const char *const absent[] = {"NoSuchKey", "NotFound", "NoSuchUpload", "NoSuchVersion"};
    if (is_one_of(code, absent, ARRAY_LEN(absent))) return OBJECT_ABSENT;
    if (str_eqz(code, "NoSuchBucket")) return OBJECT_NO_BUCKET;
    if (is_one_of(code, ended_tokens, ARRAY_LEN(ended_tokens))) return OBJECT_TOKEN_ENDED;
    if (str_eqz(code, "RequestTimeTooSkewed")) return OBJECT_CLOCK;
    return is_about_who(code) ? OBJECT_DENIED : OBJECT_OTHER;
}

static void parse_error(object_store *o, const http_response *r, arena *a, object_error *out) {
    s3_fault f;
    (void)o;
    if (s3_fault_parse(r->body, a, &f)) *out = (object_error){f.code, str_is_null(f.message) ? STR("") : f.message, meaning_of(f.code), NULL};
}

/* ---- listing ---- */

/*
 * start-after is exclusive. What comes right before the first key wanted: its last byte made one less, and "~" behind it, which few keys lie behind; those are passed over by the
 * caller. Where that is not possible, a whole byte less.
 */
static str before_key(str key, arena *a) {
    unsigned char last = (unsigned char)key.ptr[key.len - 1];
    if (last > 0x21 && last < 0x7f) return arena_printf(a, "%.*s%c~", STR_ARG(str_slice(key, 0, key.len - 1)), last - 1);
    size_t cut = key.len - 1;
    while (cut > 0 && ((unsigned char)key.ptr[cut] & 0xc0) == 0x80) cut--;
    return arena_str(a, str_slice(key, 0, cut));
}

/* Null, as memory ran out: the URL is not sent, since a list without its prefix is that of the whole bucket. */
static void add_encoded(buf *url, const char *name, str value, arena *a) {
    str encoded = str_is_null(value) ? value : http_encode(value, false, a);
    if (str_is_null(encoded)) url->failed = true;
    else buf_printf(url, "&%s=%.*s", name, STR_ARG(encoded));
}

static str list_url(s3_store *s, const object_listing *l, str mark, arena *a) {
    buf url;
    str base = s3_url(s, STR(""), a);
    if (str_is_null(base)) return STR_NULL;
    buf_init(&url, BUF_MAX_DEFAULT);
    buf_append(&url, base);
    buf_append_z(&url, "?list-type=2");
    if (l->prefix.len) add_encoded(&url, "prefix", l->prefix, a);
    if (l->by_folder) add_encoded(&url, "delimiter", STR("/"), a);
    if (l->limit > 0) buf_printf(&url, "&max-keys=%d", l->limit);
    if (!str_is_null(mark)) add_encoded(&url, "continuation-token", mark, a);
    else if (l->start_at.len > l->prefix.len) add_encoded(&url, "start-after", before_key(l->start_at, a), a);
    return buf_take(&url, a);
}

static silt_status list_request(object_store *o, const object_listing *l, str mark, http_header *headers, http_request *out, arena *a, silt_error *err) {
    static const http_header payer = {{"x-amz-request-payer", 19}, {"requester", 9}};
    s3_store *s = (s3_store *)o;
    out->method = "GET";
    out->url = list_url(s, l, mark, a);
    out->headers = headers;
    if (str_is_null(out->url) || (s->settings.requester_pays && !add_all(out, &payer, 1))) return error_no_memory(err);
    return SILT_OK;
}

static silt_status parse_page(object_store *o, const object_listing *l, str body, arena *a, object_page *out, silt_error *err) {
    (void)l;
    return s3_page_parse(body, a, out) ? SILT_OK : object_bad_answer(o, "Listing", "it is no ListObjectsV2 result", err);
}

static silt_status s3_list(store *s, str dir, str start_at, bool recursive, arena *a, store_list_result *out, silt_error *err) {
    s3_store *o = (s3_store *)s;
    if (o->dynamodb && dynamodb_is_log(dir)) return dynamodb_list(o->dynamodb, o, dir, start_at, recursive, a, out, err);
    return object_store_list(s, dir, start_at, recursive, a, out, err);
}

/* What is in DynamoDB belongs to a listing too, and would have to be asked for. */
static silt_status s3_list_first(store *s, str dir, const cancel_token *cancel, arena *a, store_list_result *out, bool *out_all, silt_error *err) {
    return ((s3_store *)s)->dynamodb && dynamodb_is_log(dir) ? SILT_OK : object_store_list_first(s, dir, cancel, a, out, out_all, err);
}

/* ---- the rest ---- */

static void s3_write_follow(store *s, str path, str local) {
    s3_probe_ahead((s3_store *)s, path);
    object_store_write_follow(s, path, local);
}

static void s3_guard(store *s, buf *out) {
    static const char *const words[] = {
        [S3_COMMIT_CONDITIONAL] = "conditional PUT (If-None-Match), which the server has to prove before the first commit",
        [S3_COMMIT_DYNAMODB] = "DynamoDB (S3DynamoDBLogStore)",
        [S3_COMMIT_SINGLE_WRITER] = "unsafe: nothing, by silt.s3.commit=single-writer; a second writer can overwrite commits, which is told only afterwards",
        [S3_COMMIT_UNKNOWN] = "a LogStore that is not known here: commits are refused",
    };
    buf_append_z(out, words[((s3_store *)s)->settings.commit]);
}

/* True of the table as soon as its first entry is in DynamoDB: who is not told would learn it by an error of every other writer. */
static const char *s3_take_news(store *s) {
    s3_store *o = (s3_store *)s;
    if (!o->dynamodb || !dynamodb_take_first(o->dynamodb)) return NULL;
    return "from now on every writer of this table has to commit through DynamoDB (silt.s3.commit=dynamodb, Spark's S3DynamoDBLogStore) with the same DynamoDB table and region";
}

static const char *refuses(str key) { return key.len > 1024 ? "a key of at most 1024 bytes" : NULL; }

static void dispose(object_store *o) {
    s3_store *s = (s3_store *)o;
    s3_probe_wait(s);
    dynamodb_close(s->dynamodb);
    s3_credentials_free(s->credentials);
    s3_signing_key_dispose(&s->signing_key);
    s3_last_free(s->last);
    pthread_mutex_destroy(&s->lock);
    pthread_mutex_destroy(&s->prover_lock);
}

static const store_ops ops = {
    OBJECT_STORE_READING,
    .name = "s3",
    .put = s3_put,
    .list = s3_list,
    .list_first = s3_list_first,
    .remove = object_store_remove, /* of what is not there: OK, as S3 has it */
    .make_dirs = object_store_make_dirs,
    .remove_dir = object_store_remove_dir,
    .write_begin = object_store_write_begin,
    .write_follow = s3_write_follow,
    .write_finish = object_store_write_finish,
    .write_abort = object_store_write_abort,
    .write_finish_many = object_store_write_finish_many,
    .walk = object_store_walk,
    .remove_below = s3_remove_below,
    .guard = s3_guard,
    .take_news = s3_take_news,
};

static const object_driver driver = {
    .ops = &ops,
    .dispose = dispose,
    .request = s3_request,
    .parse_info = parse_info,
    .tag_of = tag_of,
    .is_taken = is_taken,
    .is_unsettled = is_unsettled,
    .again = s3_again,
    .list_request = list_request,
    .parse_page = parse_page,
    .upload = s3_upload,
    .early = &s3_early,
    .parse_error = parse_error,
    .refuses = refuses,
    .has_start_at = true,
};

/* ---- opening ---- */

static const char *process_env(void *ctx, const char *name) {
    (void)ctx;
    return getenv(name);
}

static silt_status open_parts(s3_store *s, str authority, const store_settings *settings, silt_error *err) {
    arena *a = s->base.settings;
    s3_credentials_options who = {.bucket = s->settings.bucket, .settings = settings, .env = process_env, .region = s->settings.region};
    who.providers = s3_setting(settings, authority, "aws.credentials.provider");
    if (!str_is_null(s->settings.keys.access_key)) who.keys = &s->settings.keys;
    s->base.sign = sign;
    s->base.where = arena_printf(a, "%s://%.*s", strcmp(s->settings.scheme, "gs") == 0 ? "gs" : "s3", STR_ARG(authority));
    if (!str_is_null(s->settings.endpoint)) s->base.where = arena_printf(a, "%.*s (%.*s)", STR_ARG(s->base.where), STR_ARG(s->settings.endpoint));
    if (str_is_null(s->base.where)) return error_no_memory(err);
    if (s->settings.region.len >= sizeof s->region) return err_INVALID_PARAMETER_VALUE(err, STR("fs.s3a.endpoint.region"), s->settings.region, "a region's name");
    memcpy(s->region, s->settings.region.ptr, s->settings.region.len);
    static const char *const google_schemes[] = {"gs", NULL}; /* S3's own have more than one way of committing: s3_commit.c */
    if (strcmp(s->settings.scheme, "gs") == 0) TRY(log_store_find_unknown(settings, google_schemes, a, &s->base.log_store, err));
    TRY(object_store_configure(&s->base, settings, err));
    TRY(s3_credentials_new(&who, &s->credentials, err));
    if (s->settings.commit == S3_COMMIT_DYNAMODB) TRY(dynamodb_open(s, settings, process_env, NULL, &s->dynamodb, err));
    return SILT_OK;
}

/* What is opened: a bucket by its scheme, or one of Google's. */
typedef struct opening {
    const char *scheme;
    str authority;
    const s3_google *google; /* NULL: none */
    const store_settings *settings;
} opening;

static silt_status read_settings(const opening *w, arena *a, s3_settings *out, silt_error *err) {
    if (w->google) return s3_settings_google(w->google, w->settings, process_env, NULL, a, out, err);
    return s3_settings_read(w->scheme, w->authority, w->settings, process_env, NULL, a, out, err);
}

static silt_status open_store(const opening *w, arena *a, store **out, silt_error *err) {
    s3_settings read;
    object_store *o;
    TRY(read_settings(w, a, &read, err));
    http_options options = {.max_connections = read.max_connections ? read.max_connections : OBJECT_CONNECTIONS, .max_attempts = read.max_attempts, .ca_file = read.ca_file,
                            .proxy = read.proxy};
    object_store_patience(w->settings, &options);
    TRY(object_store_new(&driver, sizeof(s3_store), &options, &o, err));
    s3_store *s = (s3_store *)o;
    pthread_mutex_init(&s->lock, NULL);
    s3_signing_key_init(&s->signing_key);
    pthread_mutex_init(&s->prover_lock, NULL);
    silt_status status = read_settings(w, o->settings, &s->settings, err);
    if (status == SILT_OK) status = open_parts(s, w->authority, w->settings, err);
    if (status == SILT_OK) *out = &o->base;
    else store_close(&o->base);
    return status;
}

static silt_status run_opening(const opening *w, store **out, silt_error *err) {
    arena *a = arena_new();
    if (!a) return error_no_memory(err);
    silt_status status = open_store(w, a, out, err);
    arena_free(a);
    return status;
}

silt_status store_s3_open(str authority, void *config, store **out, silt_error *err) { return run_opening(&(opening){"s3", authority, NULL, config}, out, err); }
silt_status store_s3a_open(str authority, void *config, store **out, silt_error *err) { return run_opening(&(opening){"s3a", authority, NULL, config}, out, err); }
silt_status store_s3n_open(str authority, void *config, store **out, silt_error *err) { return run_opening(&(opening){"s3n", authority, NULL, config}, out, err); }
silt_status s3_google_open(const s3_google *g, const store_settings *settings, store **out, silt_error *err) { return run_opening(&(opening){"gs", g->bucket, g, settings}, out, err); }
