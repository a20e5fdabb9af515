/*
 * One attempt of a request: the easy handle's options, what is sent, what comes back.
 *
 * A trap of libcurl: where a kept connection turns out dead before any byte of the answer came, it sends the request again by itself, whatever the
 * method. The server may have carried out the first one. CURLOPT_PREREQFUNCTION is called before each sending, which tells of it: a request that is not
 * repeatable is ended there, a repeatable one is marked (may_have_applied).
 */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/time.h"
#include "net/http_internal.h"

#define HEADERS_MAX      1000
#define BUFFER_BYTES       (512L << 10)
#define LEAST_BUFFER_BYTES (4L << 10)
#define BODY_AT_ONCE_MAX   ((size_t)256 << 20)
#define TRICKLE_BYTES_PER_S 64L /* less for so long is a stall */
#define TRICKLE_LEAST_S     30L
#define IDLE_MAX_S       60L /* a connection unused for longer is not used again: servers close theirs after about that */
#define IDLE_ONCE_MAX_S  5L  /* the same for a request that must not be sent twice */

/* ---- what is sent ---- */

static int64_t body_length(const http_request *r) { return r->body_file ? r->body_length : (int64_t)r->body.len; }

static bool has_body(const http_request *r) {
    return r->body_file || r->body.len > 0 || strcmp(r->method, "PUT") == 0 || strcmp(r->method, "POST") == 0 || strcmp(r->method, "PATCH") == 0;
}

static size_t on_read(char *into, size_t size, size_t n, void *ctx) {
    http_transfer *t = ctx;
    const http_request *r = t->request;
    int64_t left = body_length(r) - t->sent, want = (int64_t)(size * n);
    if (want > left) want = left;
    if (want > 0 && r->body_file) {
        ssize_t got;
        do got = pread(t->fd, into, (size_t)want, r->body_offset + t->sent);
        while (got < 0 && errno == EINTR);
        if (got <= 0) {
            t->failed = error_from_errno(&t->err, got < 0 ? errno : EIO, "read", str_of(r->body_file));
            if (got == 0) error_detail(&t->err, "The file is shorter than when its upload began.");
            return CURL_READFUNC_ABORT;
        }
        want = got;
    } else if (want > 0) {
        memcpy(into, r->body.ptr + t->sent, (size_t)want);
    }
    t->sent += want;
    t->moved_ms = time_monotonic_ms();
    atomic_fetch_add(&t->client->bytes_out, (uint_fast64_t)want);
    return (size_t)want;
}

static int on_seek(void *ctx, curl_off_t offset, int origin) {
    if (origin != SEEK_SET || offset < 0) return CURL_SEEKFUNC_CANTSEEK;
    ((http_transfer *)ctx)->sent = offset;
    return CURL_SEEKFUNC_OK;
}

static int on_send(void *ctx, char *ip, char *local_ip, int port, int local_port) {
    http_transfer *t = ctx;
    (void)ip;
    (void)local_ip;
    (void)port;
    (void)local_port;
    t->moved_ms = time_monotonic_ms();
    bool again = t->sends > 0 && !t->request->follow;
    if (again && !t->request->repeatable) return CURL_PREREQFUNC_ABORT;
    t->sends++;
    t->maybe_applied |= again;
    return CURL_PREREQFUNC_OK;
}

/* ---- what comes back ---- */

static size_t fail(http_transfer *t, silt_status status) {
    t->failed = status;
    return 0; /* fewer bytes than were given: libcurl ends the transfer */
}

static void forget_answer(http_transfer *t, int status) {
    t->status = status;
    t->out->n_headers = 0;
    t->content_length = -1;
    t->body_len = 0;
    t->sunk = 0;
}

static bool add_header(http_transfer *t, str line) {
    size_t colon = str_find_char(line, ':');
    if (colon == SIZE_MAX || t->out->n_headers >= HEADERS_MAX) return true;
    http_header h = {arena_str_lower(t->answer, str_slice(line, 0, colon)), arena_str(t->answer, str_trim(str_slice(line, colon + 1, line.len)))};
    if (str_is_null(h.name) || str_is_null(h.value)) return false;
    if (str_eqz(h.name, "content-length") && !str_to_i64(h.value, &t->content_length)) t->content_length = -1;
    return ARENA_PUSH(t->answer, t->out->headers, t->out->n_headers, t->header_capacity, h);
}

/* "HTTP/1.1 200 OK" begins an answer: of several, say behind a redirect, the last counts. */
static size_t on_header(char *bytes, size_t size, size_t n, void *ctx) {
    http_transfer *t = ctx;
    str line = {bytes, size * n};
    t->moved_ms = time_monotonic_ms();
    if (str_starts_with(line, STR("HTTP/"))) {
        str rest = line, version, code;
        int64_t status = 0;
        if (str_next(&rest, ' ', &version) && str_next(&rest, ' ', &code)) (void)str_to_i64(str_trim(code), &status);
        forget_answer(t, status > 0 && status < 1000 ? (int)status : 0);
    } else if (!add_header(t, line)) {
        return fail(t, error_no_memory(&t->err));
    }
    return size * n;
}

static bool is_good(const http_transfer *t) { return t->status >= 200 && t->status < 300; }

static bool make_room(http_transfer *t, size_t wanted) {
    size_t capacity = t->body_capacity ? t->body_capacity : 4096;
    if (wanted <= t->body_capacity) return true;
    if (t->content_length > 0 && (uint64_t)t->content_length <= BODY_AT_ONCE_MAX && (size_t)t->content_length > capacity) capacity = (size_t)t->content_length;
    while (capacity < wanted) capacity *= 2;
    char *p = arena_grow(t->answer, t->body, t->body_len, capacity);
    if (!p) return false;
    t->body = p;
    t->body_capacity = capacity;
    return true;
}

static size_t keep_body(http_transfer *t, str bytes) {
    size_t max = t->request->max_body_bytes > 0 ? (size_t)t->request->max_body_bytes : BUF_MAX_DEFAULT, n = bytes.len;
    if (!is_good(t)) {
        if (n > HTTP_ERROR_BODY_MAX - t->body_len) n = HTTP_ERROR_BODY_MAX - t->body_len;
    } else if (n > max - t->body_len) {
        return fail(t, err_HTTP_BODY_TOO_LARGE(&t->err, http_url_shown(t->request->url), (int64_t)max));
    }
    if (!make_room(t, t->body_len + n)) return fail(t, error_no_memory(&t->err));
    memcpy(t->body + t->body_len, bytes.ptr, n);
    t->body_len += n;
    return bytes.len;
}

static size_t on_body(char *bytes, size_t size, size_t n, void *ctx) {
    http_transfer *t = ctx;
    str piece = {bytes, size * n};
    t->moved_ms = time_monotonic_ms();
    atomic_fetch_add(&t->client->bytes_in, piece.len);
    if (piece.len == 0) return 0;
    if (!is_good(t) || !t->request->sink) return keep_body(t, piece);
    silt_status status = t->request->sink(t->request->sink_ctx, t->sunk, piece, &t->err);
    if (status != SILT_OK) return fail(t, status);
    t->sunk += (int64_t)piece.len;
    return piece.len;
}

/* ---- the handle ---- */

static bool is_clean(str s) {
    return str_find_char(s, '\r') == SIZE_MAX && str_find_char(s, '\n') == SIZE_MAX && str_find_char(s, '\0') == SIZE_MAX;
}

static silt_status add_line(http_transfer *t, const char *line, silt_error *err) {
    struct curl_slist *list = line ? curl_slist_append(t->header_list, line) : NULL;
    if (!list) return error_no_memory(err);
    t->header_list = list;
    return SILT_OK;
}

static silt_status set_headers(http_transfer *t, const http_attempt *at, silt_error *err) {
    for (size_t i = 0; i < at->n_headers; i++) {
        http_header h = at->headers[i];
        if (!is_clean(h.name) || !is_clean(h.value)) return err_INVALID_PARAMETER_VALUE(err, h.name, STR("…"), "a header without line breaks");
        /* libcurl leaves out "Name:"; "Name;" is how it sends an empty value. */
        str line = h.value.len ? arena_printf(t->attempt, "%.*s: %.*s", STR_ARG(h.name), STR_ARG(h.value)) : arena_printf(t->attempt, "%.*s;", STR_ARG(h.name));
        TRY(add_line(t, line.ptr, err));
    }
    TRY(add_line(t, "Expect:", err)); /* else libcurl waits for a "100 Continue" before larger bodies */
    return curl_easy_setopt(t->easy, CURLOPT_HTTPHEADER, t->header_list) == CURLE_OK ? SILT_OK : error_no_memory(err);
}

static silt_status open_body(http_transfer *t, silt_error *err) {
    if (!t->request->body_file) return SILT_OK;
    t->fd = open(t->request->body_file, O_RDONLY | O_CLOEXEC);
    return t->fd >= 0 ? SILT_OK : error_from_errno(err, errno, "open", str_of(t->request->body_file));
}

#define SET(option, value) ok = ok && curl_easy_setopt(t->easy, option, value) == CURLE_OK

static bool set_method(http_transfer *t) {
    const http_request *r = t->request;
    bool ok = true;
    if (strcmp(r->method, "HEAD") == 0) {
        SET(CURLOPT_NOBODY, 1L);
    } else if (has_body(r)) {
        SET(CURLOPT_UPLOAD, 1L);
        SET(CURLOPT_INFILESIZE_LARGE, (curl_off_t)body_length(r));
        SET(CURLOPT_READFUNCTION, on_read);
        SET(CURLOPT_READDATA, t);
        SET(CURLOPT_SEEKFUNCTION, on_seek);
        SET(CURLOPT_SEEKDATA, t);
        SET(CURLOPT_CUSTOMREQUEST, r->method);
    } else {
        SET(CURLOPT_HTTPGET, 1L);
        if (strcmp(r->method, "GET") != 0) SET(CURLOPT_CUSTOMREQUEST, r->method);
    }
    return ok;
}

static bool set_redirects(http_transfer *t, str url) {
    bool ok = true;
    SET(CURLOPT_PROTOCOLS_STR, "http,https");
    if (!t->request->follow) return ok;
    SET(CURLOPT_FOLLOWLOCATION, 1L);
    SET(CURLOPT_MAXREDIRS, 10L);
    SET(CURLOPT_REDIR_PROTOCOLS_STR, str_starts_with(url, STR("https:")) ? "https" : "http,https");
    return ok;
}

static bool set_rest(http_transfer *t) {
    const http_client *c = t->client;
    bool ok = true;
    SET(CURLOPT_SHARE, c->share);
    SET(CURLOPT_PRIVATE, t);
    SET(CURLOPT_ERRORBUFFER, t->curl_error);
    SET(CURLOPT_NOSIGNAL, 1L);
    SET(CURLOPT_PATH_AS_IS, 1L); /* a key may hold "/../" */
    SET(CURLOPT_DISALLOW_USERNAME_IN_URL, 1L);
    SET(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
    SET(CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    SET(CURLOPT_CONNECTTIMEOUT_MS, (long)c->options.connect_timeout_ms);
    SET(CURLOPT_TCP_KEEPALIVE, 1L);
    SET(CURLOPT_USERAGENT, c->user_agent);
    SET(CURLOPT_PREREQFUNCTION, on_send);
    SET(CURLOPT_PREREQDATA, t);
    SET(CURLOPT_HEADERFUNCTION, on_header);
    SET(CURLOPT_HEADERDATA, t);
    SET(CURLOPT_WRITEFUNCTION, on_body);
    SET(CURLOPT_WRITEDATA, t);
    if (t->request->negotiate) {
        SET(CURLOPT_HTTPAUTH, CURLAUTH_NEGOTIATE);
        SET(CURLOPT_USERPWD, ":"); /* whoever holds the ticket */
    }
    if (strcmp(t->request->method, "GET") == 0) { /* others may be kept alive by a few blanks while the server works (S3 joining parts) */
        int64_t s = c->options.stall_timeout_ms / 1000;
        SET(CURLOPT_LOW_SPEED_LIMIT, TRICKLE_BYTES_PER_S);
        SET(CURLOPT_LOW_SPEED_TIME, s > TRICKLE_LEAST_S ? (long)s : TRICKLE_LEAST_S);
    }
    if (c->ca_file) SET(CURLOPT_CAINFO, c->ca_file);
    if (c->proxy) SET(CURLOPT_PROXY, c->proxy);
    return ok;
}

#undef SET

/* A handle whose last transfer broke off may keep its buffers, and refuses new sizes then; the old ones will do. */
static void set_buffers(http_transfer *t) {
    int64_t expected = t->request->expected_bytes, bytes = expected > 0 && expected < BUFFER_BYTES - LEAST_BUFFER_BYTES ? expected + LEAST_BUFFER_BYTES : BUFFER_BYTES;
    (void)curl_easy_setopt(t->easy, CURLOPT_BUFFERSIZE, (long)bytes);
    if (body_length(t->request) > BUFFER_BYTES) (void)curl_easy_setopt(t->easy, CURLOPT_UPLOAD_BUFFERSIZE, BUFFER_BYTES);
}

static silt_status sign(http_transfer *t, http_attempt *at, silt_error *err) {
    const http_request *r = t->request;
    *at = (http_attempt){.arena = t->attempt, .headers = ARENA_ARRAY(t->attempt, r->n_headers + HTTP_SIGN_HEADERS, http_header),
                         .n_headers = r->n_headers, .url = r->url, .number = t->attempts};
    if (!at->headers) return error_no_memory(err);
    if (r->n_headers) memcpy(at->headers, r->headers, r->n_headers * sizeof *r->headers);
    return r->sign ? r->sign(r->sign_ctx, r, at, err) : SILT_OK;
}

static silt_status make_handles(http_transfer *t, silt_error *err) {
    if (!t->attempt) t->attempt = arena_new();
    if (!t->easy) t->easy = curl_easy_init();
    if (!t->attempt || !t->easy) return error_no_memory(err);
    arena_reset(t->attempt);
    return SILT_OK;
}

/* Of many small requests, setting the same options again would be a good part of the work. */
static bool is_plain(const http_request *r) { return strcmp(r->method, "GET") == 0 && !has_body(r) && !r->follow && !r->negotiate; }

static bool set_options(http_transfer *t, str url) {
    bool plain = is_plain(t->request);
    if (!t->plain || !plain) {
        t->plain = false;
        curl_easy_reset(t->easy);
        if (!set_method(t) || !set_redirects(t, url) || !set_rest(t)) return false;
        t->plain = plain;
    }
    return curl_easy_setopt(t->easy, CURLOPT_MAXAGE_CONN, t->request->repeatable ? IDLE_MAX_S : IDLE_ONCE_MAX_S) == CURLE_OK;
}

silt_status http_attempt_prepare(http_transfer *t, silt_error *err) {
    http_attempt at;
    TRY(make_handles(t, err));
    t->attempts++;
    t->sends = 0;
    t->sent = 0;
    t->failed = SILT_OK;
    t->curl_error[0] = '\0';
    forget_answer(t, 0);
    TRY(sign(t, &at, err));
    TRY(open_body(t, err));
    const char *url = arena_cstr(t->attempt, at.url);
    if (!url || !set_options(t, at.url) || curl_easy_setopt(t->easy, CURLOPT_URL, url) != CURLE_OK) return error_no_memory(err);
    TRY(set_headers(t, &at, err));
    set_buffers(t);
    return SILT_OK;
}

void http_attempt_started(http_transfer *t) {
    t->running = true;
    t->began_ms = t->moved_ms = time_monotonic_ms();
    atomic_fetch_add(&t->client->attempts, 1);
}

void http_attempt_end(http_transfer *t) {
    t->prepared = t->running = false;
    if (t->easy) curl_easy_setopt(t->easy, CURLOPT_HTTPHEADER, NULL);
    curl_slist_free_all(t->header_list);
    t->header_list = NULL;
    if (t->fd >= 0) close(t->fd);
    t->fd = -1;
}
