/* The read cache's folder: who may use it, its lock, and the counts that all processes share. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/ident.h"
#include "base/process.h"
#include "store/cache/cache.h"

/* ---- the machine's boot ---- */

static uint64_t boot_number(void) {
    uint64_t boot;
    if (!process_boot(&boot)) random_bytes(&boot, sizeof boot); /* then what was kept is looked at once more by every process */
    return boot;
}

/* ---- folders ---- */

silt_status cache_folder_set(cache_folder *f, str dir, silt_error *err) {
    *f = (cache_folder){.boot = boot_number()};
    while (dir.len > 1 && dir.ptr[dir.len - 1] == '/') dir.len--;
    bool fits = dir.len > 0 && dir.ptr[0] == '/' && dir.len + 8 < sizeof f->dir && str_find_char(dir, '\0') == SIZE_MAX;
    if (!fits) return err_INVALID_PARAMETER_VALUE(err, STR("silt.cache.dir"), dir, "an absolute path of a folder");
    snprintf(f->dir, sizeof f->dir, "%.*s/v1", STR_ARG(dir));
    return SILT_OK;
}

silt_status cache_folder_failure(const cache_folder *f, int saved_errno, const char *call, silt_error *err) {
    char text[128];
    bool full = saved_errno == ENOSPC || saved_errno == EDQUOT;
    silt_status status = full ? err_NO_SPACE_LEFT(err, str_of(f->dir)) : err_READ_CACHE_UNUSABLE(err, str_of(f->dir));
    error_detail(err, "%s: %s", call, strerror_r(saved_errno, text, sizeof text));
    if (full) error_hint(err, "Free space on that disk, lower silt.cache.maxSize, or put silt.cache.dir on a larger one.");
    return status;
}

/* mkdir -p of what `path` begins with. Parents get the user's usual permissions, as `mkdir -p` gives them. */
static bool make_parents(char *path) {
    for (char *p = path + 1; *p; p++) {
        if (*p != '/') continue;
        *p = '\0';
        bool ok = mkdir(path, 0777) == 0 || errno == EEXIST;
        *p = '/';
        if (!ok) return false;
    }
    return true;
}

static silt_status make_own(const cache_folder *f, const char *dir, silt_error *err) {
    struct stat st;
    if (mkdir(dir, 0700) != 0 && errno != EEXIST) return cache_folder_failure(f, errno, "mkdir", err);
    if (lstat(dir, &st) != 0) return cache_folder_failure(f, errno, "stat", err);
    bool is_ours = S_ISDIR(st.st_mode) && st.st_uid == geteuid() && (st.st_mode & 022) == 0;
    if (is_ours) return SILT_OK;
    silt_status status = err_READ_CACHE_UNUSABLE(err, str_of(dir));
    error_detail(err, S_ISDIR(st.st_mode) ? "It belongs to another user, or others may write to it." : "It is no folder.");
    return status;
}

silt_status cache_folder_make(const cache_folder *f, silt_error *err) {
    char path[PATH_MAX];
    struct stat st;
    snprintf(path, sizeof path, "%s/leases", f->dir);
    if (stat(path, &st) != 0) {
        snprintf(path, sizeof path, "%s", f->dir);
        if (!make_parents(path)) return cache_folder_failure(f, errno, "mkdir", err);
    }
    TRY(make_own(f, f->dir, err));
    static const char *const parts[] = {"objects", "leases"};
    for (size_t i = 0; i < ARRAY_LEN(parts); i++) {
        snprintf(path, sizeof path, "%s/%s", f->dir, parts[i]);
        TRY(make_own(f, path, err));
    }
    return SILT_OK;
}

int cache_folder_lock(const cache_folder *f, bool exclusive) {
    char path[PATH_MAX];
    int done;
    snprintf(path, sizeof path, "%s/lock", f->dir);
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0) return -1;
    do done = flock(fd, exclusive ? LOCK_EX : LOCK_SH);
    while (done != 0 && errno == EINTR);
    if (done == 0) return fd;
    close(fd);
    return -1;
}

/* ---- counts ---- */

typedef struct counts_file {
    cache_counts counts;
    uint64_t sum;
} counts_file;

static int open_counts(const cache_folder *f, counts_file *out) {
    char path[PATH_MAX];
    *out = (counts_file){0};
    snprintf(path, sizeof path, "%s/counts", f->dir);
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0) return -1;
    (void)!flock(fd, LOCK_EX);
    bool whole = pread(fd, out, sizeof *out, 0) == (ssize_t)sizeof *out && out->sum == str_hash((str){(const char *)&out->counts, sizeof out->counts});
    if (!whole) *out = (counts_file){0};
    return fd;
}

static void write_counts(int fd, counts_file *c) {
    c->sum = str_hash((str){(const char *)&c->counts, sizeof c->counts});
    (void)!pwrite(fd, c, sizeof *c, 0);
}

void cache_counts_add(const cache_folder *f, const cache_counts *add, cache_counts *out) {
    counts_file c;
    int fd = open_counts(f, &c);
    if (fd >= 0 && add) {
        c.counts.hits += add->hits;
        c.counts.misses += add->misses;
        c.counts.bytes_hit += add->bytes_hit;
        c.counts.bytes_fetched += add->bytes_fetched;
        c.counts.bytes += add->bytes;
        write_counts(fd, &c);
    }
    if (fd >= 0) close(fd);
    *out = c.counts;
}

void cache_counts_set(const cache_folder *f, int64_t bytes, bool reset) {
    counts_file c;
    int fd = open_counts(f, &c);
    if (fd < 0) return;
    if (reset) c.counts = (cache_counts){0};
    c.counts.bytes = bytes;
    write_counts(fd, &c);
    close(fd);
}
