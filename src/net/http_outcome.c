/*
 * What the end of an attempt means: an answer, another attempt after a wait, or an error. "Never sent" is known by the call that libcurl makes before it
 * sends (http_attempt.c); waits are drawn from [0, first_wait × 2^n] ("full jitter"), so that clients who failed together do not come back together.
 */
#include "base/ident.h"
#include "base/time.h"
#include "net/http_internal.h"

#define RETRY_AFTER_MAX_S    120 /* a server that asks for more gets no further attempt: its answer is the caller's */
#define RESOLVE_ATTEMPTS_MAX 3   /* a name that does not exist is nearly always a typing error */

str http_url_shown(str url) {
    size_t query = str_find_char(url, '?');
    return query == SIZE_MAX ? url : str_slice(url, 0, query);
}

static bool is_worth_another(int status) {
    return status == 408 || status == 429 || status == 500 || status == 502 || status == 503 || status == 504;
}

static int64_t backoff_ms(const http_transfer *t) {
    const http_options *o = &t->client->options;
    int64_t most = o->first_wait_ms;
    for (int i = 1; i < t->attempts && most < o->max_wait_ms; i++) most *= 2;
    if (most > o->max_wait_ms) most = o->max_wait_ms;
    uint32_t random;
    random_bytes(&random, sizeof random);
    return (int64_t)(random % (uint64_t)(most + 1));
}

static http_next again(http_transfer *t, int64_t at_least_ms) {
    int64_t wait = backoff_ms(t);
    t->due_ms = time_monotonic_ms() + (wait > at_least_ms ? wait : at_least_ms);
    return HTTP_AGAIN;
}

static http_next answered(http_transfer *t, silt_status *out) {
    curl_off_t retry_after_s = 0;
    bool tried_enough = t->attempts >= t->client->options.max_attempts;
    if (is_worth_another(t->status) && t->request->repeatable && !tried_enough) {
        curl_easy_getinfo(t->easy, CURLINFO_RETRY_AFTER, &retry_after_s);
        if (retry_after_s <= RETRY_AFTER_MAX_S) {
            t->maybe_applied |= t->status != 429;
            return again(t, (int64_t)retry_after_s * 1000);
        }
    }
    t->out->status = t->status;
    t->out->body = (str){t->body_len ? t->body : "", t->body_len};
    *out = SILT_OK;
    return HTTP_DONE;
}

static bool is_certificate_error(CURLcode result) {
    return result == CURLE_PEER_FAILED_VERIFICATION || result == CURLE_SSL_CACERT_BADFILE || result == CURLE_SSL_ISSUER_ERROR ||
           result == CURLE_SSL_CERTPROBLEM || result == CURLE_SSL_CIPHER;
}

/* What fails the same way each time. */
static bool is_lasting(const http_transfer *t, CURLcode result) {
    switch (result) {
        case CURLE_UNSUPPORTED_PROTOCOL: return t->sends == 0; /* otherwise the answer was no HTTP */
        case CURLE_URL_MALFORMAT:
        case CURLE_LOGIN_DENIED:
        case CURLE_TOO_MANY_REDIRECTS:
        case CURLE_BAD_FUNCTION_ARGUMENT: return true;
        case CURLE_COULDNT_RESOLVE_HOST:
        case CURLE_COULDNT_RESOLVE_PROXY: return t->attempts >= RESOLVE_ATTEMPTS_MAX;
        default: return is_certificate_error(result);
    }
}

static silt_status transport_error(http_transfer *t, CURLcode result, silt_error *err) {
    const char *what = t->request->what ? t->request->what : t->request->method;
    str url = http_url_shown(t->request->url);
    silt_status status;
    if (is_certificate_error(result)) status = err_HTTP_CERTIFICATE_REFUSED(err, url);
    else if (t->maybe_applied && !t->request->repeatable) status = err_HTTP_OUTCOME_UNKNOWN(err, what, url);
    else status = err_HTTP_REQUEST_FAILED(err, what, url);
    const char *why = t->curl_error[0] ? t->curl_error : result == CURLE_OPERATION_TIMEDOUT ? "No byte moved for too long" : curl_easy_strerror(result);
    error_detail(err, "%s (%s).", why, t->attempts + t->request->tries_before == 1 ? "one attempt" : "the last of several attempts");
    return status;
}

static http_next broken(http_transfer *t, CURLcode result, silt_status *out, silt_error *err) {
    bool sent = t->sends > 0;
    t->maybe_applied |= sent;
    bool may_repeat = !sent || t->request->repeatable;
    if (may_repeat && !is_lasting(t, result) && t->attempts < t->client->options.max_attempts) return again(t, 0);
    *out = transport_error(t, result, err);
    return HTTP_DONE;
}

http_next http_outcome(http_transfer *t, CURLcode result, silt_status *out, silt_error *err) {
    if (t->failed != SILT_OK) {
        t->maybe_applied |= t->sends > 0;
        *out = t->failed;
        *err = t->err;
        return HTTP_DONE;
    }
    if (result == CURLE_OUT_OF_MEMORY) {
        t->maybe_applied |= t->sends > 0;
        *out = error_no_memory(err);
        return HTTP_DONE;
    }
    return result == CURLE_OK && t->status > 0 ? answered(t, out) : broken(t, result, out, err);
}
