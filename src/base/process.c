/* A process is known by its machine, its number, and the time of its start, which tells it from a later one of the same number. */
#include "base/process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* When it began, in the kernel's ticks; 0 where there is no /proc or no such process. */
static unsigned long long start_of(long pid) {
    char path[64], text[1024];
    (void)snprintf(path, sizeof path, "/proc/%ld/stat", pid);
    FILE *f = fopen(path, "r");
    if (!f) return 0;
    size_t n = fread(text, 1, sizeof text - 1, f);
    (void)fclose(f);
    text[n] = '\0';
    const char *at = strrchr(text, ')'); /* the name before it may hold anything */
    for (int field = 2; at && field < 22; field++) at = strchr(at + 1, ' ');
    return at ? strtoull(at + 1, NULL, 10) : 0;
}

/* Containers have numbers of their own, and as a rule names. */
static unsigned long long machine(void) {
    char name[256] = {0};
    (void)gethostname(name, sizeof name - 1);
    return str_hash(str_of(name));
}

void process_name(char out[static PROCESS_NAME_LEN + 1]) {
    (void)snprintf(out, PROCESS_NAME_LEN + 1, "%016llx_%lx_%llx", machine(), (long)getpid(), start_of((long)getpid()));
}

bool process_is_gone(str name) {
    char text[PROCESS_NAME_LEN + 1], rest;
    unsigned long long on, start;
    unsigned long pid;
    if (name.len > PROCESS_NAME_LEN) return false;
    memcpy(text, name.ptr, name.len);
    text[name.len] = '\0';
    if (sscanf(text, "%16llx_%lx_%llx%c", &on, &pid, &start, &rest) != 3 || on != machine() || pid == 0) return false;
    if (kill((pid_t)pid, 0) != 0 && errno == ESRCH) return true;
    unsigned long long now = start_of((long)pid);
    return start != 0 && now != 0 && now != start;
}

bool process_boot(uint64_t *out) {
    char text[64];
    int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? read(fd, text, sizeof text) : -1;
    if (fd >= 0) close(fd);
    if (n <= 0) return false;
    *out = str_hash((str){text, (size_t)n});
    return true;
}
