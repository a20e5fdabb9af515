/*
 * Temporary folders and what becomes of them.
 *
 * The lock is on the folder itself, so that there is no moment in which a folder has no lock file yet, and cleaners that know of such locks pass it
 * by. A folder that was just made is not locked for a moment: who clears away locks it first, and its maker, who then cannot, or finds it gone,
 * makes another.
 *
 * The name holds a number of the machine's boot. Locks are seen by all who share a kernel, not by those who share a disk: of another boot, a folder
 * may be of another machine that is alive, and is only taken when it is old, as cleaners of /tmp do it.
 */
#include "base/temp_folder.h"

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
#include "base/process.h"
#include "base/uri.h"

#define TRIES       100
#define DEPTH_MAX   8
#define LOOKS_MAX   20000 /* a few milliseconds; in a folder of more than that some stay */
#define OLD_S       (10 * 86400)
#define NAME_PREFIX "silt-"
#define BOOT_DIGITS 8
#define NAME_LEN    (sizeof NAME_PREFIX - 1 + BOOT_DIGITS + 1 + 6)

/* ---- names ---- */

/* As it stands in names; false: not known, and `out` is like no other. */
static bool boot_digits(char out[BOOT_DIGITS + 1]) {
    uint64_t boot;
    bool known = process_boot(&boot);
    if (!known) random_bytes(&boot, sizeof boot);
    snprintf(out, BOOT_DIGITS + 1, "%08x", (unsigned)(boot & 0xffffffff));
    return known;
}

static bool is_folder_name(const char *name) {
    size_t at = sizeof NAME_PREFIX - 1;
    if (strlen(name) != NAME_LEN || memcmp(name, NAME_PREFIX, at) != 0) return false;
    return strspn(name + at, "0123456789abcdef") == BOOT_DIGITS && name[at + BOOT_DIGITS] == '-';
}

/* ---- clearing away ---- */

/* What is in an open folder. Links are removed, never followed. */
static void empty(int folder, int depth) {
    struct dirent *e;
    int fd = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *stream = fd >= 0 ? fdopendir(fd) : NULL;
    if (!stream && fd >= 0) close(fd);
    while (stream && (e = readdir(stream)) != NULL) {
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0 || unlinkat(folder, e->d_name, 0) == 0) continue;
        int below = depth < DEPTH_MAX ? openat(folder, e->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) : -1;
        if (below < 0) continue;
        empty(below, depth + 1);
        close(below);
        (void)unlinkat(folder, e->d_name, AT_REMOVEDIR);
    }
    if (stream) closedir(stream);
}

static void clear_if_dead(int base, const char *name, bool same_boot) {
    struct stat st;
    int folder = openat(base, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (folder < 0) return;
    bool ours = fstat(folder, &st) == 0 && st.st_uid == geteuid();
    if (ours && (same_boot || time(NULL) - st.st_mtime > OLD_S) && flock(folder, LOCK_EX | LOCK_NB) == 0) {
        empty(folder, 0);
        (void)unlinkat(base, name, AT_REMOVEDIR);
    }
    close(folder);
}

/* Where others could give one of our folders such a name, nothing is removed by its name. */
static bool may_clear(int base) {
    struct stat st;
    return fstat(base, &st) == 0 && (!(st.st_mode & S_IWOTH) || (st.st_mode & S_ISVTX));
}

static void clear_dead(const char *base, const char *boot, bool boot_known) {
    struct dirent *e;
    int fd = open(base, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *stream = fd >= 0 && may_clear(fd) ? fdopendir(fd) : NULL;
    if (!stream && fd >= 0) close(fd);
    for (int looked = 0; stream && looked < LOOKS_MAX && (e = readdir(stream)) != NULL; looked++)
        if (is_folder_name(e->d_name)) clear_if_dead(fd, e->d_name, boot_known && memcmp(e->d_name + sizeof NAME_PREFIX - 1, boot, BOOT_DIGITS) == 0);
    if (stream) closedir(stream);
}

/* ---- making ---- */

static bool is_at(int folder, const char *path) {
    struct stat st, there;
    return fstat(folder, &st) == 0 && lstat(path, &there) == 0 && st.st_dev == there.st_dev && st.st_ino == there.st_ino;
}

/* false: somebody else has it, or it is gone. A file system without locks is no reason: nobody can then take it for dead either. */
static bool lock_folder(const char *path, int *out) {
    struct stat st;
    int folder = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    bool ours = folder >= 0 && fstat(folder, &st) == 0 && st.st_uid == geteuid();
    if (ours && (flock(folder, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) && is_at(folder, path)) {
        *out = folder;
        return true;
    }
    if (folder >= 0) close(folder);
    return false;
}

static silt_status not_made(temp_folder *t, const char *base, int why, silt_error *err) {
    t->path[0] = '\0';
    return error_from_errno(err, why, "mkdtemp", str_of(base));
}

static silt_status make(temp_folder *t, const char *base, silt_error *err) {
    char boot[BOOT_DIGITS + 1];
    bool known = boot_digits(boot);
    if (mkdir(base, 0700) != 0) clear_dead(base, boot, known);
    for (int i = 0; i < TRIES; i++) {
        int n = snprintf(t->path, sizeof t->path, "%s/" NAME_PREFIX "%s-XXXXXX", base, boot);
        if (n < 0 || (size_t)n >= sizeof t->path) return not_made(t, base, ENAMETOOLONG, err);
        if (!mkdtemp(t->path)) return not_made(t, base, errno, err);
        if (lock_folder(t->path, &t->lock)) return SILT_OK;
    }
    return not_made(t, base, EBUSY, err);
}

/* Under the name that others were told of. Somebody may have made it meanwhile (the engine makes its own). */
static silt_status make_again(temp_folder *t, silt_error *err) {
    int folder = -1;
    for (int i = 0; i < TRIES && folder < 0; i++) {
        if (mkdir(t->path, 0700) != 0 && errno != EEXIST) return error_from_errno(err, errno, "mkdir", str_of(t->path));
        if (!lock_folder(t->path, &folder)) folder = -1;
    }
    if (folder < 0) return error_from_errno(err, EBUSY, "flock", str_of(t->path));
    close(t->lock);
    t->lock = folder;
    return SILT_OK;
}

silt_status temp_folder_open(temp_folder *t, str base, silt_error *err) {
    char z[TEMP_FOLDER_PATH_MAX];
    if (t->path[0]) return is_at(t->lock, t->path) ? SILT_OK : make_again(t, err);
    const char *set = getenv("TMPDIR");
    if (base.len == 0) base = str_of(set && *set ? set : "/tmp");
    if (base.len >= sizeof z) return error_from_errno(err, ENAMETOOLONG, "mkdtemp", base);
    memcpy(z, base.ptr, base.len);
    z[base.len] = '\0';
    return make(t, z, err);
}

void temp_folder_close(temp_folder *t) {
    if (!t->path[0]) return;
    if (is_at(t->lock, t->path)) {
        empty(t->lock, 0);
        (void)rmdir(t->path);
    }
    close(t->lock);
    t->path[0] = '\0';
}

/* ---- files ---- */

silt_status temp_folder_name(temp_folder *t, str base, str path, arena *a, str *out, silt_error *err) {
    TRY(temp_folder_open(t, base, err));
    str end = path_name(path);
    if (end.len > 100) end = str_slice(end, end.len - 100, end.len);
    *out = arena_printf(a, "%s/%llu-%.*s", t->path, (unsigned long long)t->next_file++, STR_ARG(end));
    return str_is_null(*out) ? error_no_memory(err) : SILT_OK;
}

void temp_folder_remove(const temp_folder *t, str name) {
    char z[TEMP_FOLDER_PATH_MAX + 256];
    size_t len = strlen(t->path);
    if (len == 0 || name.len >= sizeof z || name.len <= len || !str_starts_with(name, (str){t->path, len}) || name.ptr[len] != '/') return;
    memcpy(z, name.ptr, name.len);
    z[name.len] = '\0';
    unlink(z);
}
