/*
 * Requests to NameNodes, and to where they redirect.
 *
 * The client sends each request once; what to do next is decided here, because another attempt may go to another NameNode. A NameNode that is standby or starting has
 * done nothing, so any request may go to the next one. A broken connection is different: the request may have been carried out, and only the caller knows how to find out.
 */
#include <stdlib.h>
#include <time.h>

#include "base/ident.h"
#include "base/uri.h"
#include "store/hdfs/hdfs.h"

/* ---- paths and URLs ---- */

const char *hdfs_path_refused(str path) {
    str rest = path, part;
    if (!str_is_utf8(path)) return "a path in UTF-8";
    while (str_next(&rest, '/', &part))
        if (str_eqz(part, ".") || str_eqz(part, "..")) return "a path without the names . and ..";
    return NULL;
}

silt_status hdfs_check_path(str path, silt_error *err) {
    const char *why = hdfs_path_refused(path);
    return why ? err_INVALID_PARAMETER_VALUE(err, STR("path"), path, why) : SILT_OK;
}

str hdfs_url(const hdfs_site *site, str service, const hdfs_request *r, arena *a) {
    str path = http_encode(r->path, true, a);
    if (str_is_null(path)) return path;
    return arena_printf(a, "%.*s%.*s?op=%s%.*s%.*s", STR_ARG(service), STR_ARG(path), r->op, STR_ARG(r->params), STR_ARG(site->login));
}

/* With a name and password, if there are any. */
static str authority_of(str url) {
    size_t from = str_find(url, STR("://"));
    if (from == SIZE_MAX) return STR("");
    str rest = str_slice(url, from + 3, url.len);
    size_t end = 0;
    while (end < rest.len && rest.ptr[end] != '/' && rest.ptr[end] != '?' && rest.ptr[end] != '#') end++;
    return str_slice(rest, 0, end);
}

str hdfs_host_of(str url) {
    str authority = authority_of(url);
    size_t at = str_rfind_char(authority, '@');
    return at == SIZE_MAX ? authority : str_slice(authority, at + 1, authority.len);
}

const char *hdfs_redirect_refused(str service, str location) {
    bool tls = str_starts_with(location, STR("https://"));
    if (str_find_char(authority_of(location), '@') != SIZE_MAX) return "the address holds a name or a password";
    str host = hdfs_host_of(location), name;
    int64_t port;
    if (!tls && !str_starts_with(location, STR("http://"))) return "the address is neither http nor https";
    if (!tls && str_starts_with(service, STR("https://"))) return "the data would leave TLS";
    for (size_t i = 0; i < location.len; i++)
        if ((unsigned char)location.ptr[i] <= ' ' || location.ptr[i] == 0x7f) return "the address holds control characters";
    return hdfs_authority_split(host, &name, &port) ? NULL : "the address names no host";
}

/* ---- waiting ---- */

void hdfs_wait(const hdfs_store *s, int number) {
    int64_t most = s->site.first_wait_ms;
    uint32_t random;
    for (int i = 2; i < number && most < s->site.max_wait_ms; i++) most *= 2;
    if (most > s->site.max_wait_ms) most = s->site.max_wait_ms;
    random_bytes(&random, sizeof random);
    int64_t ms = (int64_t)(random % (uint64_t)(most + 1));
    for (int64_t nap; ms > 0 && !cancel_is_requested(s->site.http.waiter.cancel); ms -= nap) {
        nap = ms < 50 ? ms : 50;
        struct timespec t = {.tv_nsec = (long)nap * 1000000};
        nanosleep(&t, NULL);
    }
}

/* ---- Kerberos ---- */

/* What SPNEGO costs is paid once: the server's ticket is shown with the next requests. */
static str cookie_of(hdfs_store *s, arena *a) {
    pthread_mutex_lock(&s->lock);
    str cookie = s->cookie ? arena_str(a, str_of(s->cookie)) : STR_NULL;
    pthread_mutex_unlock(&s->lock);
    return cookie;
}

static void keep_cookie(hdfs_store *s, const http_response *r) {
    for (size_t i = 0; i < r->n_headers; i++) {
        str value = r->headers[i].value;
        if (!str_eqz(r->headers[i].name, "set-cookie") || !str_starts_with(value, STR("hadoop.auth="))) continue;
        size_t end = str_find_char(value, ';');
        char *copy = strndup(value.ptr, end == SIZE_MAX ? value.len : end);
        pthread_mutex_lock(&s->lock);
        free(s->cookie);
        s->cookie = copy;
        pthread_mutex_unlock(&s->lock);
    }
}

static void forget_cookie(hdfs_store *s) {
    pthread_mutex_lock(&s->lock);
    free(s->cookie);
    s->cookie = NULL;
    pthread_mutex_unlock(&s->lock);
}

static silt_status send_with_login(hdfs_store *s, http_request *r, arena *a, http_response *out, silt_error *err) {
    if (!s->site.negotiate) return http_send(s->client, r, a, out, err);
    str cookie = cookie_of(s, a);
    if (!str_is_null(cookie)) {
        http_header *headers = ARENA_ARRAY(a, r->n_headers + 1, http_header);
        http_request with = *r;
        if (!headers) return error_no_memory(err);
        if (r->n_headers) memcpy(headers, r->headers, r->n_headers * sizeof *headers);
        headers[r->n_headers] = (http_header){STR("Cookie"), cookie};
        with.headers = headers;
        with.n_headers = r->n_headers + 1;
        TRY(http_send(s->client, &with, a, out, err));
        if (out->status != 401) return SILT_OK;
        forget_cookie(s);
    }
    r->negotiate = true;
    TRY(http_send(s->client, r, a, out, err));
    if (out->status < 400) keep_cookie(s, out);
    return SILT_OK;
}

/* ---- NameNodes ---- */

static size_t active_service(hdfs_store *s) {
    pthread_mutex_lock(&s->lock);
    size_t active = s->active;
    pthread_mutex_unlock(&s->lock);
    return active;
}

static void set_active(hdfs_store *s, size_t active) {
    pthread_mutex_lock(&s->lock);
    s->active = active;
    pthread_mutex_unlock(&s->lock);
}

static bool is_worth_another(int status) { return status == 408 || status == 429 || (status >= 500 && status <= 504); }

static bool is_lasting(const silt_error *e) { return strcmp(e->condition, "HTTP_CERTIFICATE_REFUSED") == 0; }

typedef enum verdict { ANSWERED, NEXT, FAILED } verdict;

/* One request to one NameNode. NEXT: *out_status and *why say what to tell when no other is better. */
static verdict ask_one(hdfs_store *s, str service, int tries, const hdfs_request *r, arena *a, hdfs_answer *out, silt_status *out_status, silt_error *why) {
    http_response response = {0};
    http_request request = {.method = r->method, .url = hdfs_url(&s->site, service, r, a), .repeatable = r->repeatable, .cancel = r->cancel, .what = r->what, .tries_before = tries,
                            .sink = r->sink, .sink_ctx = r->sink_ctx};
    bool before = out->may_have_applied;
    if (str_is_null(request.url)) {
        *out_status = error_no_memory(why);
        return FAILED;
    }
    *out_status = send_with_login(s, &request, a, &response, why);
    if (*out_status != SILT_OK) {
        out->may_have_applied = before || response.may_have_applied;
        return *out_status == SILT_IO && !is_lasting(why) ? NEXT : FAILED;
    }
    *out_status = hdfs_answer_parse(&response, a, out, why);
    out->may_have_applied |= before || *out_status != SILT_OK;
    if (*out_status != SILT_OK) return FAILED;
    if (hdfs_is_elsewhere(out)) {
        *out_status = hdfs_failure(s, out, r->what, r->path, why);
        return NEXT;
    }
    if (!str_is_null(out->exception) || !is_worth_another(out->status)) return ANSWERED;
    *out_status = hdfs_failure(s, out, r->what, r->path, why);
    out->may_have_applied |= out->status != 429;
    if (r->repeatable || out->status == 429) return NEXT;
    *out_status = store_path_error(&s->base, r->path, err_WRITE_OUTCOME_UNKNOWN, why);
    error_detail(why, "Status %d.", out->status);
    return FAILED;
}

static bool is_standby(const hdfs_answer *a) { return hdfs_is(a, "StandbyException"); }

silt_status hdfs_call(hdfs_store *s, const hdfs_request *r, arena *a, hdfs_answer *out, silt_error *err) {
    size_t n = s->site.n_services, at = active_service(s) % n, first = at;
    silt_error why = {.status = SILT_OK};
    silt_status status = SILT_IO;
    *out = (hdfs_answer){.exception = STR_NULL, .location = STR_NULL};
    for (int i = 0; i < s->site.attempts; i++) {
        if (i > 0 && i % (int)n == 0) hdfs_wait(s, i / (int)n + 1);
        TRY(cancel_check(r->cancel, err));
        if (i > 0) TRY(cancel_check(s->site.http.waiter.cancel, err));
        verdict v = ask_one(s, s->site.services[at], i, r, a, out, &status, &why);
        if (v == ANSWERED) {
            if (at != first) set_active(s, at);
            return SILT_OK;
        }
        if (v == FAILED) break;
        if (n == 1 && is_standby(out) && i >= 3) break; /* the one NameNode there is does not serve */
        at = (at + 1) % n;
    }
    if (strcmp(why.condition, "HTTP_REQUEST_FAILED") == 0)
        error_hint(&why, "Check that NameNodes are up and that their HTTP addresses are right: dfs.namenode.http-address in HADOOP_CONF_DIR, or silt.hdfs.<authority>.http.");
    if (err) *err = why;
    return status;
}

silt_status hdfs_call_ok(hdfs_store *s, const hdfs_request *r, arena *a, hdfs_answer *out, silt_error *err) {
    TRY(hdfs_call(s, r, a, out, err));
    return hdfs_is_ok(out) ? SILT_OK : hdfs_failure(s, out, r->what, r->path, err);
}

/* ---- behind a redirect ---- */

/* The login goes no further than to the server that it is for: a DataNode's address holds what the NameNode gave it. */
silt_status hdfs_send_to(hdfs_store *s, str url, http_request *r, arena *a, hdfs_answer *out, silt_error *err) {
    http_response response = {0};
    str service = s->site.services[active_service(s) % s->site.n_services];
    const char *why = hdfs_redirect_refused(service, url);
    *out = (hdfs_answer){.exception = STR_NULL, .location = STR_NULL};
    if (why) return err_HDFS_REDIRECT_REFUSED(err, hdfs_host_of(url), why);
    r->url = url;
    bool same_server = str_eq(hdfs_host_of(service), hdfs_host_of(url));
    silt_status status = same_server ? send_with_login(s, r, a, &response, err) : http_send(s->client, r, a, &response, err);
    out->may_have_applied = response.may_have_applied;
    TRY(status);
    return hdfs_answer_parse(&response, a, out, err);
}
