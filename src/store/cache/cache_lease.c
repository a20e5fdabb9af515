/*
 * Which entries are in use. Not one lock per file, of which a scan of 10,000 files would need as many descriptors, but one time per process: whatever was used since its oldest query began
 * stays. That keeps a little more than needed and never less, and costs one call per query.
 *
 * The lease is a file that is locked as long as its process lives; its modification time is that time, or far in the future where nothing is under way.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/ident.h"
#include "store/cache/cache.h"

#define NS_PER_S      1000000000LL
#define NOTHING_HELD_S ((time_t)1 << 32) /* a time of every file system: the year 2106 */

typedef struct hold hold;
struct hold {
    cache_lease *lease;
    int64_t ns;
    hold *previous, *next;
};

struct cache_lease {
    const char *folder; /* owned copy */
    pthread_mutex_t lock;
    int refs; /* under lock, as below: the store's and one per hold */
    int fd;   /* -1: not there yet */
    char path[PATH_MAX];
    hold *oldest, *newest;
};

static int64_t ns_of(const struct timespec *t) { return (int64_t)t->tv_sec * NS_PER_S + t->tv_nsec; }
static struct timespec time_of(int64_t ns) { return (struct timespec){.tv_sec = (time_t)(ns / NS_PER_S), .tv_nsec = (long)(ns % NS_PER_S)}; }

cache_lease *cache_lease_new(const cache_folder *f) {
    cache_lease *l = calloc(1, sizeof *l);
    char *folder = strdup(f->dir);
    if (!l || !folder) {
        free(l);
        free(folder);
        return NULL;
    }
    *l = (cache_lease){.folder = folder, .refs = 1, .fd = -1};
    pthread_mutex_init(&l->lock, NULL);
    return l;
}

/* Called with the lock, which it gives back. */
static void drop_locked(cache_lease *l) {
    bool last = --l->refs == 0;
    pthread_mutex_unlock(&l->lock);
    if (!last) return;
    if (l->fd >= 0) {
        (void)unlink(l->path);
        close(l->fd);
    }
    pthread_mutex_destroy(&l->lock);
    free((void *)(uintptr_t)l->folder);
    free(l);
}

void cache_lease_release(cache_lease *l) {
    if (!l) return;
    pthread_mutex_lock(&l->lock);
    drop_locked(l);
}

/* Under the folder's shared lock: no eviction sees the file before it is locked. */
static bool open_locked(cache_lease *l) {
    char uuid[37];
    if (l->fd >= 0) return true;
    uuid_generate(uuid);
    snprintf(l->path, sizeof l->path, "%s/leases/%s", l->folder, uuid);
    l->fd = open(l->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (l->fd < 0) return false;
    if (flock(l->fd, LOCK_EX | LOCK_NB) == 0) return true;
    int saved = errno;
    close(l->fd);
    (void)unlink(l->path);
    l->fd = -1;
    errno = saved;
    return false;
}

static bool set_time(const cache_lease *l) {
    struct timespec t = l->oldest ? time_of(l->oldest->ns) : (struct timespec){.tv_sec = NOTHING_HELD_S};
    struct timespec both[2] = {t, t};
    return futimens(l->fd, both) == 0;
}

static void end_hold(void *ctx) {
    hold *h = ctx;
    cache_lease *l = h->lease;
    pthread_mutex_lock(&l->lock);
    bool was_oldest = l->oldest == h;
    if (h->previous) h->previous->next = h->next;
    if (h->next) h->next->previous = h->previous;
    if (l->oldest == h) l->oldest = h->next;
    if (l->newest == h) l->newest = h->previous;
    if (was_oldest) (void)!set_time(l);
    free(h);
    drop_locked(l);
}

/* The files' own clock, and never backwards in one process. */
static int64_t now_locked(const cache_lease *l) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME_COARSE, &now);
    int64_t ns = ns_of(&now);
    return l->newest && l->newest->ns > ns ? l->newest->ns : ns;
}

static bool begin_locked(cache_lease *l, hold *h) {
    if (!open_locked(l)) return false;
    *h = (hold){.lease = l, .ns = now_locked(l), .previous = l->newest};
    if (l->newest) l->newest->next = h;
    l->newest = h;
    if (!l->oldest) l->oldest = h;
    l->refs++;
    if (l->oldest != h || set_time(l)) return true;
    int saved = errno;
    l->oldest = l->newest = NULL;
    l->refs--;
    errno = saved;
    return false;
}

silt_status cache_lease_hold(cache_lease *l, arena *a, int64_t *out_ns, silt_error *err) {
    hold *h = malloc(sizeof *h);
    if (!h) return error_no_memory(err);
    pthread_mutex_lock(&l->lock);
    bool ok = begin_locked(l, h);
    int saved = errno;
    if (ok) *out_ns = h->ns;
    pthread_mutex_unlock(&l->lock);
    if (!ok) {
        free(h);
        silt_status status = err_READ_CACHE_UNUSABLE(err, str_of(l->folder));
        char text[128];
        error_detail(err, "lease: %s", strerror_r(saved, text, sizeof text));
        return status;
    }
    if (arena_defer(a, end_hold, h)) return SILT_OK;
    end_hold(h);
    return error_no_memory(err);
}

/* INT64_MAX where its process is gone or has nothing under way. */
static int64_t time_of_lease(int folder, const char *name) {
    struct stat st;
    int fd = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0) return INT64_MAX;
    bool dead = flock(fd, LOCK_EX | LOCK_NB) == 0;
    if (dead) (void)unlinkat(folder, name, 0);
    bool known = fstat(fd, &st) == 0;
    close(fd);
    if (dead) return INT64_MAX;
    return known ? ns_of(&st.st_mtim) : 0;
}

int64_t cache_lease_oldest(const cache_folder *f) {
    char path[PATH_MAX];
    int64_t oldest = INT64_MAX;
    snprintf(path, sizeof path, "%s/leases", f->dir);
    DIR *d = opendir(path);
    if (!d) return 0; /* it cannot be told: then all of them are in use */
    for (struct dirent *e; (e = readdir(d));) {
        if (e->d_name[0] == '.') continue;
        int64_t ns = time_of_lease(dirfd(d), e->d_name);
        if (ns < oldest) oldest = ns;
    }
    closedir(d);
    return oldest >= (int64_t)NOTHING_HELD_S * NS_PER_S ? INT64_MAX : oldest;
}
