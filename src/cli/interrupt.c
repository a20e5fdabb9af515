/* Ctrl-C: the handler asks the running statement to stop; a second one within the same statement ends the process. */
#include <signal.h>
#include <unistd.h>

#include "cli/cli.h"

/* A signal handler has no context: the one place of the command that needs static state. */
static silt_session *volatile attached;
static volatile sig_atomic_t seen;

static void on_interrupt(int signal) {
    if (seen++ > 0 || !attached) _exit(128 + signal);
    silt_session_cancel(attached);
}

void interrupt_attach(silt_session *session) {
    attached = session;
    struct sigaction action = {.sa_handler = on_interrupt};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

bool interrupt_seen(void) {
    bool was = seen > 0;
    seen = 0;
    return was;
}
