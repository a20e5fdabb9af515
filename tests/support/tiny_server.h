/** A small HTTP/1.1 server inside a test: answers by a function of the test, and breaks in the ways that it is told to. One thread per connection. */
#ifndef TESTS_TINY_SERVER_H
#define TESTS_TINY_SERVER_H

#include "base/base.h"

typedef enum tiny_way {
    TINY_ANSWER,     /**< and keep the connection */
    TINY_CLOSE,      /**< answer, then close */
    TINY_CUT,        /**< the head, half of the body, then close */
    TINY_RESET,      /**< read the request, then reset without a byte */
    TINY_STALL,      /**< read the request, then nothing until the client goes */
    TINY_STALL_BODY, /**< the head and half of the body, then nothing */
    TINY_GARBAGE     /**< bytes that are no HTTP */
} tiny_way;

/** Valid during the call. */
typedef struct tiny_request {
    str method, target; /**< the target as it came, with its query */
    str head;           /**< the whole head */
    str body;
    int number;     /**< of the server, from 1 */
    int connection; /**< from 1 */
} tiny_request;

typedef struct tiny_answer {
    int status; /**< 200 unless set */
    tiny_way way;
    str headers; /**< whole lines, each ended by \r\n */
    buf body;    /**< filled by the handler; freed by the server */
    bool without_length; /**< the body ends with the connection */
} tiny_answer;

/** Called by one thread at a time. */
typedef void (*tiny_handler)(void *ctx, const tiny_request *q, tiny_answer *a);

typedef struct tiny_server tiny_server;
/** Listens on a free port of 127.0.0.1; fails the test where it cannot. */
tiny_server *tiny_server_start(tiny_handler handler, void *ctx);
void tiny_server_stop(tiny_server *s);
int tiny_server_port(const tiny_server *s);
int tiny_server_requests(tiny_server *s);
/** "http://127.0.0.1:PORT" and `target`, in `a`. */
str tiny_server_url(const tiny_server *s, const char *target, arena *a);
/** A header of a request (any case), null when absent. */
str tiny_header(const tiny_request *q, const char *name);

#endif
