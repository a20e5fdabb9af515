/* Threads, blocking sockets, and a lock around the test's handler. Stopping shuts the sockets down, which ends the threads. */
#include "support/tiny_server.h"

#include <arpa/inet.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#define CONNECTIONS_MAX 512

typedef struct connection {
    tiny_server *server;
    int fd, number;
    pthread_t thread;
} connection;

struct tiny_server {
    int listener, port;
    tiny_handler handler;
    void *ctx;
    pthread_t thread;
    pthread_mutex_t lock; /* over all below, and around the handler */
    connection connections[CONNECTIONS_MAX];
    int n_connections, n_requests;
    bool stopping;
};

static void send_all(int fd, const char *bytes, size_t n) {
    while (n > 0) {
        ssize_t sent = send(fd, bytes, n, MSG_NOSIGNAL);
        if (sent <= 0) return;
        bytes += sent;
        n -= (size_t)sent;
    }
}

str tiny_header(const tiny_request *q, const char *name) {
    str rest = q->head, line;
    while (str_next(&rest, '\n', &line)) {
        size_t colon = str_find_char(line, ':');
        if (colon != SIZE_MAX && str_eq_ascii_fold(str_slice(line, 0, colon), str_of(name))) return str_trim(str_slice(line, colon + 1, line.len));
    }
    return STR_NULL;
}

/* Until `have` holds a head: its length, or SIZE_MAX when the client went. */
static size_t read_head(int fd, buf *have) {
    char block[16384];
    for (;;) {
        size_t end = str_find(buf_str(have), STR("\r\n\r\n"));
        if (end != SIZE_MAX) return end + 4;
        ssize_t got = recv(fd, block, sizeof block, 0);
        if (got <= 0) return SIZE_MAX;
        buf_append_bytes(have, block, (size_t)got);
    }
}

static bool read_body(int fd, buf *have, size_t wanted) {
    char block[65536];
    while (have->len < wanted) {
        ssize_t got = recv(fd, block, sizeof block, 0);
        if (got <= 0) return false;
        buf_append_bytes(have, block, (size_t)got);
    }
    return true;
}

static void wait_for_end(int fd) {
    char c;
    while (recv(fd, &c, 1, 0) > 0) {}
}

/* true: the connection goes on. */
static bool answer(int fd, str method, tiny_answer *a) {
    if (a->way == TINY_RESET) {
        struct linger now = {1, 0};
        setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof now);
        return false;
    }
    if (a->way == TINY_GARBAGE) send_all(fd, "\x16\x03garbage\r\n\r\n", 13);
    if (a->way == TINY_GARBAGE) return false;
    if (a->way == TINY_STALL) wait_for_end(fd);
    if (a->way == TINY_STALL) return false;
    buf head;
    buf_init(&head, BUF_MAX_DEFAULT);
    buf_printf(&head, "HTTP/1.1 %d X\r\n%.*s", a->status, STR_ARG(a->headers));
    bool bodiless = str_eqz(method, "HEAD") || a->status == 204 || a->status == 304;
    if (!a->without_length && a->status != 204) buf_printf(&head, "Content-Length: %zu\r\n", a->body.len);
    if (a->without_length || a->way == TINY_CLOSE) buf_append_z(&head, "Connection: close\r\n");
    buf_append_z(&head, "\r\n");
    bool half = a->way == TINY_CUT || a->way == TINY_STALL_BODY;
    if (!bodiless) buf_append_bytes(&head, a->body.ptr, half ? a->body.len / 2 : a->body.len);
    send_all(fd, head.ptr, head.len);
    buf_dispose(&head);
    if (a->way == TINY_STALL_BODY) wait_for_end(fd);
    return a->way == TINY_ANSWER && !a->without_length;
}

static bool serve_one(connection *c, buf *have) {
    size_t head = read_head(c->fd, have);
    int64_t length = 0;
    if (head == SIZE_MAX) return false;
    tiny_request q = {.head = {have->ptr, head}};
    (void)str_to_i64(tiny_header(&q, "content-length"), &length);
    if (!read_body(c->fd, have, head + (size_t)length)) return false;
    q.head.ptr = have->ptr;
    q.body = (str){have->ptr + head, (size_t)length};
    str rest = q.head;
    str_next(&rest, ' ', &q.method);
    str_next(&rest, ' ', &q.target);
    tiny_answer a = {.status = 200};
    buf_init(&a.body, BUF_MAX_DEFAULT);
    pthread_mutex_lock(&c->server->lock);
    q.number = ++c->server->n_requests;
    q.connection = c->number;
    c->server->handler(c->server->ctx, &q, &a);
    pthread_mutex_unlock(&c->server->lock);
    bool goes_on = answer(c->fd, q.method, &a);
    buf_dispose(&a.body);
    size_t used = head + (size_t)length;
    memmove(have->ptr, have->ptr + used, have->len - used);
    have->len -= used;
    return goes_on;
}

static void *serve(void *ctx) {
    connection *c = ctx;
    buf have;
    buf_init(&have, BUF_MAX_DEFAULT);
    while (serve_one(c, &have)) {}
    buf_dispose(&have);
    pthread_mutex_lock(&c->server->lock); /* not closed while the stopping thread may shut it down */
    close(c->fd);
    c->fd = -1;
    pthread_mutex_unlock(&c->server->lock);
    return NULL;
}

static void *accept_all(void *ctx) {
    tiny_server *s = ctx;
    for (;;) {
        int fd = accept(s->listener, NULL, NULL);
        pthread_mutex_lock(&s->lock);
        if (fd < 0 || s->stopping || s->n_connections == CONNECTIONS_MAX) {
            if (fd >= 0) close(fd);
            pthread_mutex_unlock(&s->lock);
            return NULL;
        }
        connection *c = &s->connections[s->n_connections++];
        *c = (connection){.server = s, .fd = fd, .number = s->n_connections};
        pthread_create(&c->thread, NULL, serve, c);
        pthread_mutex_unlock(&s->lock);
    }
}

static void give_up(const char *call) {
    perror(call);
    abort();
}

tiny_server *tiny_server_start(tiny_handler handler, void *ctx) {
    tiny_server *s = calloc(1, sizeof *s);
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof at;
    if (!s) give_up("calloc");
    s->handler = handler;
    s->ctx = ctx;
    s->listener = socket(AF_INET, SOCK_STREAM, 0);
    if (s->listener < 0 || bind(s->listener, (struct sockaddr *)&at, sizeof at) != 0 || listen(s->listener, 128) != 0 ||
        getsockname(s->listener, (struct sockaddr *)&at, &len) != 0)
        give_up("listen");
    s->port = ntohs(at.sin_port);
    pthread_mutex_init(&s->lock, NULL);
    if (pthread_create(&s->thread, NULL, accept_all, s) != 0) give_up("pthread_create");
    return s;
}

void tiny_server_stop(tiny_server *s) {
    pthread_mutex_lock(&s->lock);
    s->stopping = true;
    shutdown(s->listener, SHUT_RDWR);
    for (int i = 0; i < s->n_connections; i++)
        if (s->connections[i].fd >= 0) shutdown(s->connections[i].fd, SHUT_RDWR);
    pthread_mutex_unlock(&s->lock);
    pthread_join(s->thread, NULL);
    for (int i = 0; i < s->n_connections; i++) pthread_join(s->connections[i].thread, NULL);
    close(s->listener);
    pthread_mutex_destroy(&s->lock);
    free(s);
}

int tiny_server_port(const tiny_server *s) { return s->port; }

int tiny_server_requests(tiny_server *s) {
    pthread_mutex_lock(&s->lock);
    int n = s->n_requests;
    pthread_mutex_unlock(&s->lock);
    return n;
}

str tiny_server_url(const tiny_server *s, const char *target, arena *a) { return arena_printf(a, "http://127.0.0.1:%d%s", s->port, target); }
