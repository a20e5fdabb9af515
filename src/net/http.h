/**
 * HTTP for the object stores and services: requests over a pool of connections, sent again where that is safe, several at once where that is faster.
 *
 * Over libcurl. A client may be used by several threads at once. Neither errors nor logs hold header values, query parameters that sign, or bodies sent; an error's
 * URL is cut at its '?'. TLS certificates are checked always; `ca_file` adds a root, nothing turns the check off.
 *
 * What is safe to send again: a request whose connection could not be made was never sent. Any other failure of transport (reset, time-out, body cut short) and the
 * answers 408, 429, 500, 502, 503, 504 are tried again with exponential back-off and full jitter (a Retry-After is obeyed) only where the request says that
 * it is `repeatable`: that sending it twice does no harm. What the second answer then means is the caller's to know: see `http_response.may_have_applied`.
 *
 * A server that says that it is asked too much (429, 503) gets fewer requests at once, over all threads: at each such answer a third less, and one more again for as many good answers as are under way.
 */
#ifndef NET_HTTP_H
#define NET_HTTP_H

#include <pthread.h>

#include "base/base.h"
#include "base/thread.h"

typedef struct http_client http_client;

/** The user for whom requests are sent. */
typedef struct http_waiter {
    /** May be NULL. Set: nothing is tried again, and a request under way is given up once no byte has moved for a second, or after five; one that is merely under way (a commit's) comes to its end. */
    const cancel_token *cancel;
    void (*tell)(void *ctx, const char *text, double fraction); /**< may be NULL: what is waited for, and 0..1 of it (negative: unknown), now and then, from `thread` alone */
    void *ctx;
    pthread_t thread;
} http_waiter;

typedef struct http_options {
    int max_connections;         /**< at once, over all threads; 0: 16. Never more than a quarter of the descriptors that the process may have */
    int max_attempts;            /**< of one request; 0: 8 */
    int64_t connect_timeout_ms;  /**< 0: 10,000 */
    int64_t stall_timeout_ms;    /**< no byte moved for so long ends the attempt; 0: 30,000. Doubled for the next one each time, up to 30,000 where it is less */
    int64_t first_wait_ms, max_wait_ms; /**< before the second attempt, doubled up to the maximum; 0: 50 and 10,000 */
    str ca_file;                 /**< PEM, instead of the system's bundle (the system's folder of roots, where libcurl knows one, stays); null: the system's */
    str proxy;                   /**< URL; null: what the environment says (https_proxy, no_proxy); empty: none, whatever the environment says */
    str user_agent;              /**< null: silt/<version> */
    http_waiter waiter;          /**< all zero: nobody */
} http_options;

typedef struct http_header { str name, value; } http_header;

/** What the request is made of at one attempt; `sign` may add headers. */
typedef struct http_attempt {
    arena *arena;         /**< of this attempt */
    http_header *headers; /**< room for n_headers + HTTP_SIGN_HEADERS; request.headers come first */
    size_t n_headers;
    str url;              /**< may be replaced (a signature in the query) */
    int number;           /**< 1: the first */
} http_attempt;
#define HTTP_SIGN_HEADERS 8

typedef struct http_request http_request;
struct http_request {
    const char *method;         /**< "GET", "PUT", … */
    str url;                    /**< encoded; http or https */
    const http_header *headers; /**< the same at each attempt */
    size_t n_headers;
    str body;                   /**< or a piece of a local file: */
    const char *body_file;      /**< NULL: `body` */
    int64_t body_offset, body_length;
    bool repeatable;            /**< see above */
    bool follow;                /**< follow redirects (GET and HEAD only); otherwise 3xx is an answer like others */
    bool negotiate;             /**< authenticate by Kerberos (SPNEGO) with the ticket of the process's user */
    /** May be NULL. Called before each attempt: dates and signatures of the moment. From the thread that sends. */
    silt_status (*sign)(void *ctx, const http_request *r, http_attempt *at, silt_error *err);
    void *sign_ctx;
    /** Where a body of status 2xx goes: NULL: response.body. Otherwise called with its pieces in order; `offset` is within this attempt's body, so that an attempt that begins again begins at 0. */
    silt_status (*sink)(void *ctx, int64_t offset, str bytes, silt_error *err);
    void *sink_ctx;
    int64_t max_body_bytes;     /**< of response.body; 0: BUF_MAX_DEFAULT. More is an error, never a cut body */
    int64_t expected_bytes;     /**< of the answer, which makes a small buffer do; 0: not known */
    const cancel_token *cancel; /**< may be NULL */
    int tries_before;           /**< of a caller that makes attempts of its own; for errors and what is told of the waiting */
    const char *what;           /**< for errors: "reading", "listing", …; NULL: the method */
};

typedef struct http_response {
    int status;
    http_header *headers; /**< names in lower case; in the arena given to http_send */
    size_t n_headers;
    str body;             /**< in the arena; of errors too (up to 64 KiB, then cut). Empty where a sink took it */
    int attempts;         /**< how often it was sent, 1 = once */
    bool may_have_applied; /**< an attempt before this answer, or the one that failed, may have been carried out by the server */
} http_response;

silt_status http_client_new(const http_options *options, http_client **out, silt_error *err) MUST_CHECK;
void http_client_free(http_client *c); /**< NULL is fine; no request may be under way */

/**
 * Send one request and wait. Any answer of a server, 4xx and 5xx too, is SILT_OK: response.status tells. Failure of transport after the last attempt: SILT_IO
 * (never sent, or a repeatable request), SILT_UNKNOWN (sent, not repeatable: the outcome could not be learned; out->may_have_applied is set then), SILT_CANCELLED.
 */
silt_status http_send(http_client *c, const http_request *r, arena *arena, http_response *out, silt_error *err) MUST_CHECK;

/**
 * Send several, at most `in_flight` at once (0: max_connections), on this thread. out[i] and statuses[i] belong to requests[i]. Returns the first failure of transport in the
 * order of requests, after all have ended; where one failed those not yet begun are not sent (SILT_CANCELLED).
 */
silt_status http_send_many(http_client *c, const http_request *requests, size_t n, int in_flight, arena *arena, http_response *out, silt_status *statuses, silt_error *err) MUST_CHECK;

/**
 * The same, told of each as soon as it has ended: out[i] and statuses[i] are set. false: those not yet begun are not sent. From the thread that sends, and no other request moves meanwhile: it must not take
 * long, and must not send by this client.
 */
typedef bool (*http_ended)(void *ctx, size_t i);
silt_status http_send_each(http_client *c, const http_request *requests, size_t n, int in_flight, arena *arena, http_response *out, silt_status *statuses, http_ended ended, void *ctx,
                           silt_error *err) MUST_CHECK;
/** How many at once at most. */
int http_max_connections(const http_client *c);

/** The value of a header (name in lower case), null when absent. */
str http_header_get(const http_response *r, const char *name);
/** Percent-encode as RFC 3986 says: all but unreserved characters, and but '/' where keep_slash. */
str http_encode(str s, bool keep_slash, arena *arena);

/** Requests sent and bytes moved since the client was made, for tests and `silt cache`. */
typedef struct http_counts { uint64_t requests, attempts, bytes_in, bytes_out; } http_counts;
http_counts http_client_counts(const http_client *c);

#endif
