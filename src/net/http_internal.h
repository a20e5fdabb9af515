/** The parts of the HTTP client. Internal to net/. */
#ifndef NET_HTTP_INTERNAL_H
#define NET_HTTP_INTERNAL_H

#include <curl/curl.h>
#include <pthread.h>
#include <stdatomic.h>

#include "net/http.h"

/** A body of an answer that is not 2xx is for a message: more of it is left unread. */
#define HTTP_ERROR_BODY_MAX ((size_t)64 << 10)

/** One request on its way, from its first attempt to its end. */
typedef struct http_transfer {
    http_client *client;
    const http_request *request; /**< NULL: free */
    http_response *out;
    size_t index; /**< of the request in its call */
    arena *answer; /**< the caller's: headers and body go there */
    arena *attempt; /**< of the attempt that runs; owned */
    CURL *easy;     /**< owned, kept from request to request */
    bool plain;     /**< the handle's options are those of a plain GET, which stay from one to the next */
    struct curl_slist *header_list;
    bool prepared;     /**< signed and ready; waits for a slot of the client */
    bool running;      /**< in the multi handle, and holds a slot */
    int attempts;      /**< begun */
    int sends;         /**< times that libcurl set out to send in this attempt: on a kept connection that proves dead it does so again by itself */
    bool maybe_applied;
    int stalls;        /**< attempts that were given up because no byte moved */
    int64_t due_ms;    /**< when the next attempt may begin */
    int64_t began_ms;  /**< the attempt */
    int64_t moved_ms;  /**< the last byte moved */
    /* what is sent */
    int fd;            /**< of body_file, -1: none */
    int64_t sent;      /**< of the body */
    /* the answer */
    int status;
    size_t header_capacity;
    char *body;
    size_t body_len, body_capacity;
    int64_t content_length; /**< -1: not told */
    int64_t sunk;           /**< bytes given to the sink */
    silt_status failed; /**< a call-back's failure, which ends the request for good; told in err */
    silt_error err;
    char curl_error[CURL_ERROR_SIZE];
} http_transfer;

/** What one call of http_send or http_send_many uses alone: a multi handle, whose connections are kept for the next call, and its transfers. */
typedef struct http_lane {
    struct http_lane *next;
    CURLM *multi;
    http_transfer **transfers; /**< room for the client's max_connections; each owned */
    size_t n;                  /**< that are there: as many as a call had under way at once */
    int epoll;                 /**< over its connections (http_events.c) */
    bool watches;              /**< false: libcurl's own loop looks for what moves */
    int64_t due_ms;            /**< when libcurl wants to look at its timers; INT64_MAX: not */
} http_lane;

struct http_client {
    http_options options; /**< defaults filled in; strings owned by `a` */
    arena *a;
    const char *ca_file, *proxy, *user_agent; /**< NUL-terminated, or NULL */
    pthread_mutex_t lock; /**< over idle and busy */
    pthread_cond_t slot_free;
    http_lane *idle; /**< the last used first: its connections are the likeliest to live */
    int busy;        /**< attempts that run */
    int limit;       /**< of them: max_connections, or fewer since the server asked for less */
    int good;        /**< answers since the limit was last changed */
    int64_t eased_ms; /**< when it was last lowered */
    CURLSH *share;   /**< names resolved and TLS sessions, for all lanes */
    pthread_mutex_t share_locks[CURL_LOCK_DATA_LAST];
    atomic_uint_fast64_t requests, attempts, bytes_in, bytes_out;
};

/** http_attempt.c: make the easy handle ready for the next attempt of t->request. Failures are final (signing, memory, a header that cannot be sent). */
silt_status http_attempt_prepare(http_transfer *t, silt_error *err) MUST_CHECK;
/** It is on its way. */
void http_attempt_started(http_transfer *t);
/** Release what the attempt held. */
void http_attempt_end(http_transfer *t);

/** http_events.c. A lane with its multi handle: from now on its connections are watched, where that can be. */
void http_events_open(http_lane *lane);
void http_events_close(http_lane *lane); /**< after its multi handle */
/** Wait for up to wait_ms until something moves, and let libcurl do what there is to do; `running` transfers are under way. */
void http_events_move(http_lane *lane, size_t running, int wait_ms);

/** http_outcome.c: what the end of an attempt means. */
typedef enum http_next { HTTP_DONE, HTTP_AGAIN } http_next;
/** HTTP_AGAIN: t->due_ms is set. HTTP_DONE: *out is the request's status, its answer or error is filled in. */
http_next http_outcome(http_transfer *t, CURLcode result, silt_status *out, silt_error *err);
/** `url` without what is behind its '?' (which may sign). */
str http_url_shown(str url);

#endif
