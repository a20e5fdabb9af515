/*
 * Which connections of a lane have something to do. libcurl's own loop (curl_multi_perform, curl_multi_poll) looks at every transfer whenever one of them moves, which with hundreds under way is much of its
 * work. Here it tells which sockets it waits for, epoll says which of them moved, and only their transfers are looked at. Where the system has no room for that, libcurl's own loop does it.
 */
#include <errno.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/time.h"
#include "net/http_internal.h"

#define EVENTS_AT_ONCE 256

static bool control(http_lane *lane, int fd, bool known, uint32_t events) {
    struct epoll_event e = {.events = events, .data.fd = fd};
    if (epoll_ctl(lane->epoll, known ? EPOLL_CTL_MOD : EPOLL_CTL_ADD, fd, &e) == 0) return true;
    if (errno != (known ? ENOENT : EEXIST)) return false;
    return epoll_ctl(lane->epoll, known ? EPOLL_CTL_ADD : EPOLL_CTL_MOD, fd, &e) == 0; /* a number that was closed and given out anew */
}

/* `mark` is what was assigned to the socket: not NULL when it is watched already. */
static int on_socket(CURL *easy, curl_socket_t fd, int what, void *ctx, void *mark) {
    http_lane *lane = ctx;
    uint32_t events = (what & CURL_POLL_IN ? EPOLLIN : 0u) | (what & CURL_POLL_OUT ? EPOLLOUT : 0u);
    (void)easy;
    if (what == CURL_POLL_REMOVE) (void)epoll_ctl(lane->epoll, EPOLL_CTL_DEL, fd, NULL); /* closed already: then it is gone by itself */
    else if (!control(lane, fd, mark != NULL, events)) lane->watches = false;
    else if (!mark) (void)curl_multi_assign(lane->multi, fd, lane);
    return 0;
}

static int on_timer(CURLM *multi, long timeout_ms, void *ctx) {
    (void)multi;
    ((http_lane *)ctx)->due_ms = timeout_ms < 0 ? INT64_MAX : time_monotonic_ms() + timeout_ms;
    return 0;
}

void http_events_open(http_lane *lane) {
    lane->due_ms = INT64_MAX;
    lane->epoll = epoll_create1(EPOLL_CLOEXEC);
    lane->watches = lane->epoll >= 0 && curl_multi_setopt(lane->multi, CURLMOPT_TIMERFUNCTION, on_timer) == CURLM_OK &&
                    curl_multi_setopt(lane->multi, CURLMOPT_TIMERDATA, lane) == CURLM_OK && curl_multi_setopt(lane->multi, CURLMOPT_SOCKETFUNCTION, on_socket) == CURLM_OK &&
                    curl_multi_setopt(lane->multi, CURLMOPT_SOCKETDATA, lane) == CURLM_OK;
}

void http_events_close(http_lane *lane) {
    if (lane->epoll >= 0) close(lane->epoll);
}

/* An error is seen by whoever reads or writes, as libcurl's own loop has it. */
static int mask_of(uint32_t events) {
    return (events & (EPOLLIN | EPOLLERR | EPOLLHUP) ? CURL_CSELECT_IN : 0) | (events & (EPOLLOUT | EPOLLERR) ? CURL_CSELECT_OUT : 0);
}

static void move_watched(http_lane *lane, int wait_ms) {
    struct epoll_event events[EVENTS_AT_ONCE];
    int still, n;
    int64_t left = lane->due_ms - time_monotonic_ms();
    n = epoll_wait(lane->epoll, events, EVENTS_AT_ONCE, left < wait_ms ? (left > 0 ? (int)left : 0) : wait_ms);
    for (int i = 0; i < n; i++) curl_multi_socket_action(lane->multi, events[i].data.fd, mask_of(events[i].events), &still);
    if (time_monotonic_ms() < lane->due_ms) return;
    lane->due_ms = INT64_MAX; /* libcurl says when next */
    curl_multi_socket_action(lane->multi, CURL_SOCKET_TIMEOUT, 0, &still);
}

void http_events_move(http_lane *lane, size_t running, int wait_ms) {
    int still;
    if (lane->watches) {
        move_watched(lane, wait_ms);
        return;
    }
    curl_multi_perform(lane->multi, &still);
    if ((size_t)still == running) curl_multi_poll(lane->multi, NULL, 0, wait_ms, NULL);
}
