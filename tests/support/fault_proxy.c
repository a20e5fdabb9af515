/*
 * A proxy between a client and an HTTP server of the tests, which does what networks and overloaded servers do: it resets, stalls, cuts bodies, answers 500 and 503, sends a
 * request twice, loses a reply before or after the server has acted, adds latency, counts, and kills a process at its Nth request.
 *
 * A program, not part of the helpers' archive. One thread per client connection, blocking sockets. It knows as much of HTTP/1.1 as is needed to see where a request and an
 * answer end, and hands all else through unchanged (a signature covers Host). Which request gets which fault follows from the seed and the request's number alone.
 *
 * usage: fault_proxy PORT [SEED]     PORT is the server's, on 127.0.0.1. The first line printed is "PROXY_PORT CONTROL_PORT". Ends with its standard input.
 *
 * Control: lines to CONTROL_PORT, one line of answer each ("ok" or what was asked for):
 *   faults [NAME=PERCENT]...     of requests; the names are in `fault_names`. Without any: no more faults
 *   only METHOD TEXT             faults and kills count only requests of this method (* any) whose target holds TEXT (* any)
 *   seed N | latency MS | stall MS
 *   strip [HEADER]               leave this request header away, lower case; without one: none
 *   redirects on                 answers that redirect to another port of 127.0.0.1 lead through this proxy instead: http://127.0.0.1:PROXY_PORT/~PORT/...
 *   kill N before|half|after PID SIGKILL at the Nth request from now: not handed on at all, half of its body, or when the server has answered
 *   counts                       requests=N in=BYTES out=BYTES faults=N killed=N  (bodies only; in: to the server)
 *   zero                         counts begin again
 *   log                          METHOD TARGET of each request since `zero`, ' '-separated pairs joined by '|' (the first 1,000)
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { HEAD_MAX = 65536, PIECE = 65536, LOGGED = 1000 };

typedef enum fault { NONE, RESET, LOST, STALL, STALL_AFTER, CUT, CUT_REQUEST, E500, E503, E500_AFTER, TWICE, TWICE_FIRST, N_FAULTS } fault;
static const char *const fault_names[N_FAULTS] = {
    [NONE] = "none",
    [RESET] = "reset",             /* the server never sees the request */
    [LOST] = "lost",               /* the server has answered; the client gets a reset */
    [STALL] = "stall",             /* nothing for `stall` ms, then a reset; the server never sees it */
    [STALL_AFTER] = "stall_after", /* the same when the server has answered */
    [CUT] = "cut",                 /* half of the answer's body */
    [CUT_REQUEST] = "cut_request", /* the server gets half of the request's body */
    [E500] = "e500",
    [E503] = "e503",
    [E500_AFTER] = "e500_after",   /* the server has done it, the client is told 500 */
    [TWICE] = "twice",             /* the server gets it twice, the client the second answer */
    [TWICE_FIRST] = "twice_first", /* … the first answer */
};

typedef enum kill_when { KILL_BEFORE, KILL_HALF, KILL_AFTER } kill_when;

static struct {
    pthread_mutex_t lock;
    int server_port, port;
    double percent[N_FAULTS];
    char method[16], text[256], strip[64];
    uint64_t seed;
    int latency_ms, stall_ms;
    bool redirects;
    int64_t kill_in; /* requests until then; 0: never */
    kill_when when;
    pid_t victim;
    uint64_t number, requests, bytes_in, bytes_out, faults, killed;
    char *log[LOGGED];
    size_t n_log;
} proxy = {.lock = PTHREAD_MUTEX_INITIALIZER, .method = "*", .text = "*", .stall_ms = 2000};

/* ---- sockets ---- */

static void wait_ms(int ms) {
    if (ms > 0) nanosleep(&(struct timespec){.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L}, NULL);
}

static int loopback(int type_port, bool listening) {
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons((uint16_t)type_port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM, 0), one = 1;
    if (fd < 0) return -1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    bool ok = listening ? bind(fd, (void *)&at, sizeof at) == 0 && listen(fd, SOMAXCONN) == 0 : connect(fd, (void *)&at, sizeof at) == 0;
    if (ok) return fd;
    close(fd);
    return -1;
}

static int port_of(int fd) {
    struct sockaddr_in at;
    socklen_t n = sizeof at;
    return getsockname(fd, (void *)&at, &n) == 0 ? ntohs(at.sin_port) : -1;
}

static void reset(int fd) {
    struct linger now = {.l_onoff = 1, .l_linger = 0};
    setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof now);
}

static bool send_all(int fd, const char *bytes, size_t n) {
    while (n > 0) {
        ssize_t sent = send(fd, bytes, n, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR) continue;
        if (sent <= 0) return false;
        bytes += sent;
        n -= (size_t)sent;
    }
    return true;
}

/* A connection and what was read of it beyond what was asked for. */
typedef struct peer {
    int fd, port;
    char buffer[HEAD_MAX];
    size_t begin, end;
} peer;

static bool fill(peer *p) {
    if (p->begin == p->end) p->begin = p->end = 0;
    if (p->end == sizeof p->buffer) {
        if (p->begin == 0) return false;
        memmove(p->buffer, p->buffer + p->begin, p->end - p->begin);
        p->end -= p->begin;
        p->begin = 0;
    }
    ssize_t n;
    do n = recv(p->fd, p->buffer + p->end, sizeof p->buffer - p->end, 0);
    while (n < 0 && errno == EINTR);
    if (n <= 0) return false;
    p->end += (size_t)n;
    return true;
}

/* ---- messages ---- */

typedef struct bytes {
    char *ptr;
    size_t len, capacity;
} bytes;

static bool append(bytes *b, const char *ptr, size_t n) {
    if (b->len + n > b->capacity) {
        size_t capacity = (b->len + n) * 2;
        char *grown = realloc(b->ptr, capacity);
        if (!grown) return false;
        b->ptr = grown;
        b->capacity = capacity;
    }
    memcpy(b->ptr + b->len, ptr, n);
    b->len += n;
    return true;
}

typedef struct message {
    char head[HEAD_MAX]; /* with the empty line at its end; NUL after it */
    size_t head_len;
    int64_t length;      /* of the body; -1: to the end of the connection */
    bool chunked, closes;
} message;

/* The value of a header in a head, up to its line's end; NULL: absent. */
static const char *header(const char *head, const char *name) {
    size_t n = strlen(name);
    for (const char *line = strstr(head, "\r\n"); line && line[2] != '\r'; line = strstr(line + 2, "\r\n"))
        if (strncasecmp(line + 2, name, n) == 0 && line[2 + n] == ':') {
            line += 3 + n;
            while (*line == ' ') line++;
            return line;
        }
    return NULL;
}

static void drop_header(message *m, const char *name) {
    const char *value = header(m->head, name);
    if (!value) return;
    char *line = m->head + (value - m->head);
    while (line[-1] != '\n') line--;
    char *next = strstr(line, "\r\n") + 2;
    memmove(line, next, m->head_len - (size_t)(next - m->head) + 1);
    m->head_len -= (size_t)(next - line);
}

static bool read_head(peer *p, message *m) {
    for (;;) {
        const char *found = p->end > p->begin ? memmem(p->buffer + p->begin, p->end - p->begin, "\r\n\r\n", 4) : NULL;
        if (found) {
            m->head_len = (size_t)(found + 4 - (p->buffer + p->begin));
            memcpy(m->head, p->buffer + p->begin, m->head_len);
            m->head[m->head_len] = 0;
            p->begin += m->head_len;
            break;
        }
        if (p->end - p->begin >= HEAD_MAX - 1 || !fill(p)) return false;
    }
    const char *length = header(m->head, "content-length"), *coding = header(m->head, "transfer-encoding"), *connection = header(m->head, "connection");
    m->chunked = coding && strncasecmp(coding, "chunked", 7) == 0;
    m->length = length ? atoll(length) : -1;
    m->closes = connection && strncasecmp(connection, "close", 5) == 0;
    return true;
}

/* A body goes to a socket (>= 0), to memory (into != NULL), or nowhere. */
typedef struct target {
    int fd;
    bytes *into;
    uint64_t *count;
} target;

static bool give(const target *t, const char *ptr, size_t n) {
    if (t->into && !append(t->into, ptr, n)) return false;
    return t->fd < 0 || send_all(t->fd, ptr, n);
}

static void count(uint64_t *counter, uint64_t n) {
    pthread_mutex_lock(&proxy.lock);
    *counter += n;
    pthread_mutex_unlock(&proxy.lock);
}

/* n bytes of p's, or with n < 0 all to its end. */
static bool pump(peer *p, int64_t n, const target *t) {
    while (n != 0) {
        if (p->begin == p->end && !fill(p)) return n < 0;
        size_t piece = p->end - p->begin;
        if (n > 0 && (int64_t)piece > n) piece = (size_t)n;
        if (!give(t, p->buffer + p->begin, piece)) return false;
        if (t->count) count(t->count, piece);
        p->begin += piece;
        if (n > 0) n -= (int64_t)piece;
    }
    return true;
}

static bool pump_line(peer *p, const target *t, char *line, size_t size) {
    const char *end;
    while (!(end = p->end > p->begin ? memmem(p->buffer + p->begin, p->end - p->begin, "\r\n", 2) : NULL))
        if (!fill(p)) return false;
    size_t n = (size_t)(end + 2 - (p->buffer + p->begin)), kept = n < size ? n : size - 1;
    memcpy(line, p->buffer + p->begin, kept);
    line[kept] = 0;
    p->begin += n;
    return give(t, end + 2 - n, n);
}

static bool pump_body(peer *p, const message *m, const target *t) {
    if (!m->chunked) return pump(p, m->length, t);
    for (;;) {
        char line[64];
        if (!pump_line(p, t, line, sizeof line)) return false;
        int64_t n = strtoll(line, NULL, 16);
        if (n > 0 && !pump(p, n, t)) return false;
        if (n > 0 && !pump_line(p, t, line, sizeof line)) return false;
        if (n > 0) continue;
        do /* trailers, and the empty line */
            if (!pump_line(p, t, line, sizeof line)) return false;
        while (strcmp(line, "\r\n") != 0);
        return true;
    }
}

/* ---- one request ---- */

typedef struct exchange {
    peer client, server;
    message request, answer;
    bytes body, reply; /* kept only where a fault needs them */
    char verb[16];
    int server_port;
    bool rude; /* the client's connection ends with a reset */
} exchange;

static uint64_t mix(uint64_t x) {
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

typedef struct plan {
    fault fault;
    bool kills;
    kill_when when;
    int latency_ms, stall_ms;
} plan;

static plan next_plan(const exchange *x) {
    plan p = {NONE, false, KILL_BEFORE, 0, 0};
    const char *where = strchr(x->request.head, ' ');
    char line[600];
    snprintf(line, sizeof line, "%s %.*s", x->verb, where ? (int)strcspn(where + 1, " \r") : 0, where ? where + 1 : "");
    pthread_mutex_lock(&proxy.lock);
    proxy.requests++;
    if (proxy.n_log < LOGGED && (proxy.log[proxy.n_log] = strdup(line))) proxy.n_log++;
    p.latency_ms = proxy.latency_ms;
    p.stall_ms = proxy.stall_ms;
    bool counts = (strcmp(proxy.method, "*") == 0 || strcmp(proxy.method, x->verb) == 0) && (strcmp(proxy.text, "*") == 0 || strstr(line, proxy.text));
    if (counts) {
        double at = (double)(mix(proxy.seed ^ mix(++proxy.number)) >> 11) / 9007199254740992.0 * 100;
        for (int f = 1; f < N_FAULTS && p.fault == NONE; f++) {
            if (at < proxy.percent[f]) p.fault = (fault)f;
            at -= proxy.percent[f];
        }
        proxy.faults += p.fault != NONE;
        if (proxy.kill_in > 0 && --proxy.kill_in == 0) {
            p.kills = true;
            p.when = proxy.when;
        }
    }
    pthread_mutex_unlock(&proxy.lock);
    return p;
}

static void kill_victim(void) {
    pthread_mutex_lock(&proxy.lock);
    if (proxy.victim > 0 && kill(proxy.victim, SIGKILL) == 0) proxy.killed++;
    proxy.victim = 0;
    pthread_mutex_unlock(&proxy.lock);
}

/* The server's connection of this client's; one that ended meanwhile is made anew. */
static bool connect_server(exchange *x) {
    struct pollfd waiting = {.fd = x->server.fd, .events = POLLIN};
    if (x->server.fd >= 0 && (x->server.port != x->server_port || poll(&waiting, 1, 0) != 0)) {
        close(x->server.fd);
        x->server.fd = -1;
    }
    if (x->server.fd >= 0) return true;
    x->server.begin = x->server.end = 0;
    x->server.port = x->server_port;
    x->server.fd = loopback(x->server_port, false);
    return x->server.fd >= 0;
}

/* "/~PORT/..." goes to that port, without this part. */
static void find_server(exchange *x) {
    char *target_at = strchr(x->request.head, ' ');
    x->server_port = proxy.server_port;
    if (!target_at || strncmp(target_at, " /~", 3) != 0) return;
    char *rest;
    long port = strtol(target_at + 3, &rest, 10);
    if (*rest != '/' || port <= 0 || port > 65535) return;
    x->server_port = (int)port;
    memmove(target_at + 1, rest, x->request.head_len - (size_t)(rest - x->request.head) + 1);
    x->request.head_len -= (size_t)(rest - (target_at + 1));
}

/* Lead a redirect to another port through this proxy; in a Location header or WebHDFS's {"Location":"..."}. */
static void lead_here(char *text, size_t *len, size_t size) {
    static const char base[] = "http://127.0.0.1:";
    char *at = memmem(text, *len, base, sizeof base - 1), put[64];
    if (!at) return;
    at += sizeof base - 1;
    size_t digits = strspn(at, "0123456789");
    int n = snprintf(put, sizeof put, "%d/~%.*s", proxy.port, (int)digits, at);
    if (n < 0 || *len + (size_t)n + 1 > size) return;
    memmove(at + n, at + digits, *len - (size_t)(at + digits - text) + 1);
    memcpy(at, put, (size_t)n);
    *len += (size_t)n - digits;
}

static bool has_body(const exchange *x) {
    int status = atoi(x->answer.head + 9);
    return strcmp(x->verb, "HEAD") != 0 && status != 204 && status != 304 && x->answer.length != 0;
}

/* Send the request, its body from memory (body_len of it), else straight from the client; read the answer's head. */
static bool ask(exchange *x, bool from_memory, size_t body_len) {
    if (!connect_server(x) || !send_all(x->server.fd, x->request.head, x->request.head_len)) return false;
    if (from_memory) {
        if (!send_all(x->server.fd, x->body.ptr, body_len)) return false;
        count(&proxy.bytes_in, body_len);
    } else if (x->request.chunked || x->request.length > 0) {
        target to = {.fd = x->server.fd, .count = &proxy.bytes_in};
        if (!pump_body(&x->client, &x->request, &to)) return false;
    }
    do
        if (!read_head(&x->server, &x->answer)) return false;
    while (x->answer.head[9] == '1');
    return true;
}

static bool keep_body(exchange *x) {
    target to = {.fd = -1, .into = &x->body};
    x->body.len = 0;
    return !(x->request.chunked || x->request.length > 0) || pump_body(&x->client, &x->request, &to);
}

/* Read the whole answer into x->reply. */
static bool keep_reply(exchange *x) {
    target to = {.fd = -1, .into = &x->reply};
    x->reply.len = 0;
    return !has_body(x) || pump_body(&x->server, &x->answer, &to);
}

static bool send_reply(exchange *x, size_t body_len) {
    count(&proxy.bytes_out, body_len);
    return send_all(x->client.fd, x->answer.head, x->answer.head_len) && (body_len == 0 || send_all(x->client.fd, x->reply.ptr, body_len));
}

static bool say_status(exchange *x, int status) {
    static const char body[] = "<?xml version=\"1.0\"?><Error><Code>%s</Code><Message>Please try again.</Message></Error>";
    char text[256], whole[600];
    int n = snprintf(text, sizeof text, body, status == 503 ? "SlowDown" : "InternalError");
    int length = snprintf(whole, sizeof whole, "HTTP/1.1 %d %s\r\nContent-Type: application/xml\r\nContent-Length: %d\r\n\r\n%s", status,
                          status == 503 ? "Service Unavailable" : "Internal Server Error", n, strcmp(x->verb, "HEAD") == 0 ? "" : text);
    return send_all(x->client.fd, whole, (size_t)length);
}

/* The answer's head, in one piece with what there is of its body: as servers send it, so that the client is not woken twice. */
static bool send_begin(exchange *x, bool with_body) {
    peer *s = &x->server;
    size_t n = with_body && !x->answer.chunked ? s->end - s->begin : 0;
    if (x->answer.length >= 0 && n > (size_t)x->answer.length) n = (size_t)x->answer.length;
    if (n > sizeof x->answer.head - x->answer.head_len) n = sizeof x->answer.head - x->answer.head_len;
    memcpy(x->answer.head + x->answer.head_len, s->buffer + s->begin, n);
    if (!send_all(x->client.fd, x->answer.head, x->answer.head_len + n)) return false;
    count(&proxy.bytes_out, n);
    s->begin += n;
    if (x->answer.length >= 0) x->answer.length -= (int64_t)n;
    return true;
}

static bool hand_through(exchange *x) {
    if (!ask(x, false, 0)) return false;
    int status = atoi(x->answer.head + 9);
    if (proxy.redirects && (status == 307 || status == 200) && (status == 307 || (x->answer.length > 0 && x->answer.length < 8192 && !x->answer.chunked))) {
        if (!keep_reply(x)) return false;
        if (status == 307) {
            if (header(x->answer.head, "location")) lead_here(x->answer.head, &x->answer.head_len, sizeof x->answer.head);
        } else if (x->reply.len > 12 && memcmp(x->reply.ptr, "{\"Location\":", 12) == 0) {
            char text[9000], line[64];
            size_t len = x->reply.len;
            memcpy(text, x->reply.ptr, len);
            text[len] = 0;
            lead_here(text, &len, sizeof text);
            x->reply.len = 0;
            if (!append(&x->reply, text, len)) return false;
            drop_header(&x->answer, "content-length");
            int n = snprintf(line, sizeof line, "Content-Length: %zu\r\n\r\n", len);
            memcpy(x->answer.head + x->answer.head_len - 2, line, (size_t)n + 1);
            x->answer.head_len += (size_t)n - 2;
        }
        x->rude = !send_reply(x, x->reply.len);
        return !x->rude && !x->answer.closes;
    }
    target to = {.fd = x->client.fd, .count = &proxy.bytes_out};
    bool body = has_body(x), to_the_end = body && !x->answer.chunked && x->answer.length < 0;
    if (!send_begin(x, body)) return false;
    x->rude = body && !pump_body(&x->server, &x->answer, &to);
    return !x->rude && !to_the_end && !x->answer.closes;
}

/* The faults. Returns whether the client's connection goes on; where it does not, it ends with a reset. */
static bool spoil(exchange *x, const plan *p) {
    if (!keep_body(x)) return false;
    switch (p->fault) {
    case RESET: return false;
    case STALL: wait_ms(p->stall_ms); return false;
    case E500: return say_status(x, 500);
    case E503: return say_status(x, 503);
    case CUT_REQUEST:
        if (connect_server(x) && send_all(x->server.fd, x->request.head, x->request.head_len)) (void)send_all(x->server.fd, x->body.ptr, x->body.len / 2);
        if (x->server.fd >= 0) reset(x->server.fd);
        return false;
    default: break;
    }
    if (!ask(x, true, x->body.len) || !keep_reply(x)) return false;
    switch (p->fault) {
    case STALL_AFTER: wait_ms(p->stall_ms); return false;
    case E500_AFTER: return say_status(x, 500);
    case CUT:
        if (!has_body(x)) return send_reply(x, x->reply.len); /* nothing to cut */
        (void)send_reply(x, x->reply.len / 2);
        wait_ms(20); /* a reset at once would take back what was sent */
        return false;
    case TWICE: return ask(x, true, x->body.len) && keep_reply(x) && send_reply(x, x->reply.len);
    case TWICE_FIRST: {
        message *first = malloc(sizeof *first);
        bytes kept = x->reply;
        if (!first) return false;
        *first = x->answer;
        x->reply = (bytes){0};
        bool ok = ask(x, true, x->body.len) && keep_reply(x);
        free(x->reply.ptr);
        x->reply = kept;
        x->answer = *first;
        free(first);
        return ok && send_reply(x, x->reply.len);
    }
    default: return false; /* LOST */
    }
}

static bool serve_and_kill(exchange *x, const plan *p) {
    if (!keep_body(x)) return false;
    if (p->when == KILL_HALF && connect_server(x) && send_all(x->server.fd, x->request.head, x->request.head_len))
        (void)send_all(x->server.fd, x->body.ptr, x->body.len / 2);
    if (p->when == KILL_AFTER && ask(x, true, x->body.len)) (void)keep_reply(x);
    kill_victim();
    return false;
}

static bool serve(exchange *x) {
    x->rude = false;
    if (!read_head(&x->client, &x->request)) return false;
    if (x->request.length < 0) x->request.length = 0; /* a request without a length has no body */
    size_t n = strcspn(x->request.head, " ");
    snprintf(x->verb, sizeof x->verb, "%.*s", (int)(n < 15 ? n : 15), x->request.head);
    if (header(x->request.head, "expect")) {
        drop_header(&x->request, "expect");
        if (!send_all(x->client.fd, "HTTP/1.1 100 Continue\r\n\r\n", 25)) return false;
    }
    plan p = next_plan(x);
    if (proxy.strip[0]) drop_header(&x->request, proxy.strip);
    find_server(x);
    wait_ms(p.latency_ms);
    bool closes = x->request.closes;
    x->rude = true;
    if (p.kills) return serve_and_kill(x, &p);
    if (p.fault == NONE) return hand_through(x) && !closes;
    x->rude = !spoil(x, &p);
    return !x->rude && !closes;
}

static void *serve_client(void *arg) {
    exchange *x = calloc(1, sizeof *x);
    int one = 1;
    if (x) {
        x->client.fd = (int)(intptr_t)arg;
        x->server.fd = -1;
        setsockopt(x->client.fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
        while (serve(x)) {}
        if (x->rude) reset(x->client.fd);
        if (x->server.fd >= 0) close(x->server.fd);
        free(x->body.ptr);
        free(x->reply.ptr);
    }
    close((int)(intptr_t)arg);
    free(x);
    return NULL;
}

/* ---- control ---- */

static bool set_faults(char *words) {
    double percent[N_FAULTS] = {0};
    for (char *save, *word = strtok_r(words, " ", &save); word; word = strtok_r(NULL, " ", &save)) {
        char *value = strchr(word, '=');
        int f = 1;
        if (!value) return false;
        *value = 0;
        while (f < N_FAULTS && strcmp(fault_names[f], word) != 0) f++;
        if (f == N_FAULTS) return false;
        percent[f] = atof(value + 1);
    }
    memcpy(proxy.percent, percent, sizeof percent);
    return true;
}

static void zero(void) {
    proxy.number = proxy.requests = proxy.bytes_in = proxy.bytes_out = proxy.faults = proxy.killed = 0;
    while (proxy.n_log > 0) free(proxy.log[--proxy.n_log]);
}

static bool set_kill(const char *words) {
    char when[16];
    long n;
    int pid;
    if (sscanf(words, "%ld %15s %d", &n, when, &pid) != 3 || n < 0) return false;
    proxy.when = strcmp(when, "before") == 0 ? KILL_BEFORE : strcmp(when, "half") == 0 ? KILL_HALF : KILL_AFTER;
    proxy.kill_in = n;
    proxy.victim = pid;
    return true;
}

/* Answers one line of control on `out`. The lock is held. */
static void obey(char *line, FILE *out) {
    char *words = line + strcspn(line, " ");
    bool ok = true;
    if (*words) *words++ = 0;
    if (strcmp(line, "faults") == 0) ok = set_faults(words);
    else if (strcmp(line, "only") == 0) ok = sscanf(words, "%15s %255s", proxy.method, proxy.text) == 2;
    else if (strcmp(line, "seed") == 0) proxy.seed = strtoull(words, NULL, 10);
    else if (strcmp(line, "latency") == 0) proxy.latency_ms = atoi(words);
    else if (strcmp(line, "stall") == 0) proxy.stall_ms = atoi(words);
    else if (strcmp(line, "strip") == 0) snprintf(proxy.strip, sizeof proxy.strip, "%s", words);
    else if (strcmp(line, "redirects") == 0) proxy.redirects = strcmp(words, "on") == 0;
    else if (strcmp(line, "kill") == 0) ok = set_kill(words);
    else if (strcmp(line, "zero") == 0) zero();
    else if (strcmp(line, "counts") == 0) {
        fprintf(out, "requests=%llu in=%llu out=%llu faults=%llu killed=%llu\n", (unsigned long long)proxy.requests, (unsigned long long)proxy.bytes_in,
                (unsigned long long)proxy.bytes_out, (unsigned long long)proxy.faults, (unsigned long long)proxy.killed);
        return;
    } else if (strcmp(line, "log") == 0) {
        for (size_t i = 0; i < proxy.n_log; i++) fprintf(out, "%s%s", i ? "|" : "", proxy.log[i]);
        fputc('\n', out);
        return;
    } else ok = false;
    fputs(ok ? "ok\n" : "not understood\n", out);
}

static void *serve_control(void *arg) {
    for (;;) {
        int fd = accept((int)(intptr_t)arg, NULL, NULL);
        FILE *in = fd >= 0 ? fdopen(fd, "r") : NULL, *out = fd >= 0 ? fdopen(dup(fd), "w") : NULL;
        char line[1024];
        while (in && out && fgets(line, sizeof line, in)) {
            line[strcspn(line, "\r\n")] = 0;
            pthread_mutex_lock(&proxy.lock);
            obey(line, out);
            pthread_mutex_unlock(&proxy.lock);
            fflush(out);
        }
        if (in) fclose(in);
        if (out) fclose(out);
    }
    return NULL;
}

static void *accept_clients(void *arg) {
    pthread_attr_t detached;
    pthread_attr_init(&detached);
    pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&detached, 256 * 1024);
    for (;;) {
        pthread_t thread;
        int fd = accept((int)(intptr_t)arg, NULL, NULL);
        if (fd >= 0 && pthread_create(&thread, &detached, serve_client, (void *)(intptr_t)fd) != 0) close(fd);
    }
    return NULL;
}

int main(int argc, char **argv) {
    int clients = loopback(0, true), control = loopback(0, true);
    pthread_t threads[2];
    if (argc < 2 || clients < 0 || control < 0) {
        fprintf(stderr, "usage: fault_proxy PORT [SEED]\n");
        return 2;
    }
    proxy.server_port = atoi(argv[1]);
    proxy.seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    proxy.port = port_of(clients);
    if (pthread_create(&threads[0], NULL, accept_clients, (void *)(intptr_t)clients) != 0) return 1;
    if (pthread_create(&threads[1], NULL, serve_control, (void *)(intptr_t)control) != 0) return 1;
    printf("%d %d\n", proxy.port, port_of(control));
    fflush(stdout);
    while (getchar() != EOF) {}
    return 0;
}
