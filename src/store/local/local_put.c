/*
 * Putting whole objects on the local file system.
 *
 * The bytes go to a file without a name (O_TMPFILE), or, where the file system has none, under a temporary name that listings
 * hide; they are fsynced, and only then does the object get its name, in one step that cannot replace (link, or
 * renameat2 with RENAME_NOREPLACE) or that replaces atomically (rename). Then the folder is fsynced. A process that dies at
 * any moment leaves the object whole or absent, at worst with a hidden temporary file beside it. O_EXCL on the object itself was
 * rejected: between open and the last write a reader sees a torn file, and a crash leaves it.
 *
 * On NFS a retransmitted link can answer EEXIST although the first one succeeded, so EEXIST counts only where the name belongs
 * to another file.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/ident.h"
#include "base/uri.h"
#include "store/local/local.h"

#define TEMPORARY_PREFIX ".silt-"
#define TEMPORARY_SUFFIX ".tmp"
#define WRITE_MAX        ((size_t)1 << 30) /* Linux writes at most 2 GiB - 4 KiB in one call */

bool local_is_temporary(const char *name) {
    return str_starts_with(str_of(name), STR(TEMPORARY_PREFIX)) && str_ends_with(str_of(name), STR(TEMPORARY_SUFFIX));
}

static void temporary_name(char out[64]) {
    char uuid[37];
    uuid_generate(uuid);
    snprintf(out, 64, TEMPORARY_PREFIX "%s" TEMPORARY_SUFFIX, uuid);
}

/* A file on its way to its name. */
typedef struct pending {
    local_store *store;
    str path;           /* the object */
    local_path name;    /* its last component */
    int folder;         /* open folder */
    int fd;             /* the new file, -1: none */
    char temporary[64]; /* its name in `folder`; empty: it has none */
    bool is_relaxed;    /* nothing is synced */
} pending;

static silt_status failed(const pending *p, int error, const char *call, silt_error *err) {
    return error_from_errno(err, error, call, p->path);
}

static silt_status open_folder(pending *p, str dir, silt_error *err) {
    local_path z;
    TRY(local_path_set(&z, dir, err));
    for (int attempt = 0;; attempt++) {
        p->folder = open(z.z, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (p->folder >= 0) return SILT_OK;
        int error = errno;
        if (error == EINTR) continue;
        if ((error != ENOENT && error != ENOTDIR) || attempt > 2) return error_from_errno(err, error, "open", dir);
        TRY(local_folders_make(p->store, dir, err)); /* names what stands in the way after ENOTDIR */
    }
}

static int open_retry(int folder, const char *name, int flags) {
    int fd;
    do fd = openat(folder, name, flags | O_WRONLY | O_CLOEXEC, 0666);
    while (fd < 0 && errno == EINTR);
    return fd;
}

static bool open_unnamed(pending *p) {
    p->temporary[0] = '\0';
    p->fd = open_retry(p->folder, ".", O_TMPFILE);
    return p->fd >= 0;
}

static silt_status open_named(pending *p, silt_error *err) {
    temporary_name(p->temporary);
    p->fd = open_retry(p->folder, p->temporary, O_CREAT | O_EXCL);
    if (p->fd >= 0) return SILT_OK;
    p->temporary[0] = '\0';
    return failed(p, errno, "open", err);
}

static silt_status write_all(pending *p, str bytes, silt_error *err) {
    size_t done = 0;
    while (done < bytes.len) {
        size_t n = bytes.len - done < WRITE_MAX ? bytes.len - done : WRITE_MAX;
        ssize_t written = write(p->fd, bytes.ptr + done, n);
        if (written < 0 && errno == EINTR) continue;
        if (written < 0) return failed(p, errno, "write", err);
        if (written == 0) return failed(p, EIO, "write", err);
        done += (size_t)written;
    }
    int error = p->is_relaxed ? 0 : local_fsync(p->fd);
    return error ? failed(p, error, "fsync", err) : SILT_OK;
}

/* Best effort: what cannot be removed stays hidden. */
static void discard_file(pending *p) {
    if (p->fd >= 0) close(p->fd);
    if (p->temporary[0]) unlinkat(p->folder, p->temporary, 0);
    p->fd = -1;
    p->temporary[0] = '\0';
}

static bool is_this_file(const pending *p) {
    struct stat mine, there;
    return fstat(p->fd, &mine) == 0 && fstatat(p->folder, p->name.z, &there, AT_SYMLINK_NOFOLLOW) == 0 &&
           mine.st_dev == there.st_dev && mine.st_ino == there.st_ino;
}

/* Give the file its name where that is free. 0 or errno. */
static int link_named(pending *p) {
    if (linkat(p->folder, p->temporary, p->folder, p->name.z, 0) == 0) return 0; /* discard_file takes the other name */
    int error = errno;
    if (error == EEXIST) return is_this_file(p) ? 0 : EEXIST;
    if (error != EPERM && error != EOPNOTSUPP && error != ENOSYS && error != EMLINK) return error;
    if (renameat2(p->folder, p->temporary, p->folder, p->name.z, RENAME_NOREPLACE) == 0) {
        p->temporary[0] = '\0';
        return 0;
    }
    return errno;
}

static int link_unnamed(pending *p) {
    char self[64];
    snprintf(self, sizeof self, "/proc/self/fd/%d", p->fd);
    if (linkat(AT_FDCWD, self, p->folder, p->name.z, AT_SYMLINK_FOLLOW) == 0) return 0;
    return errno == EEXIST && is_this_file(p) ? 0 : errno;
}

static silt_status exists(const pending *p, silt_error *err) {
    return err_PATH_ALREADY_EXISTS(err, p->path);
}

/* Whether the object is there cannot be in doubt before this point; after it only its survival of a crash can. */
static silt_status finish(pending *p, silt_error *err) {
    silt_error cause = {0};
    if (p->is_relaxed) return SILT_OK;
    if (local_folders_sync_fd(p->store, path_parent(p->path), p->folder, &cause) == SILT_OK) return SILT_OK;
    silt_status status = err_WRITE_OUTCOME_UNKNOWN(err, p->path);
    error_detail(err, "It was written, but its folder could not be made durable: %s", cause.detail);
    if (err) err->code = cause.code;
    return status;
}

/* Without a name at first. *out_unsupported: the file system or /proc cannot; nothing was done. */
static silt_status put_unnamed(pending *p, str bytes, bool *out_unsupported, silt_error *err) {
    *out_unsupported = !open_unnamed(p);
    if (*out_unsupported) return SILT_OK; /* any other reason shows again with a named file */
    TRY(write_all(p, bytes, err));
    int error = link_unnamed(p);
    if (error == EEXIST) return exists(p, err);
    *out_unsupported = error != 0;
    return error ? SILT_OK : finish(p, err);
}

/* Without one of the two a commit could replace another one's. */
static silt_status cannot_keep(silt_error *err) {
    return err_UNSUPPORTED_FEATURE(err, "writing to a file system that has neither hard links nor renames that do not replace");
}

static silt_status put_named(pending *p, str bytes, silt_error *err) {
    TRY(open_named(p, err));
    TRY(write_all(p, bytes, err));
    int error = link_named(p);
    if (error == EEXIST) return exists(p, err);
    if (error == EINVAL || error == ENOSYS || error == EOPNOTSUPP) return cannot_keep(err);
    if (error) return failed(p, error, "link", err);
    discard_file(p);
    return finish(p, err);
}

static silt_status put_replacing(pending *p, str bytes, silt_error *err) {
    TRY(open_named(p, err));
    TRY(write_all(p, bytes, err));
    if (renameat(p->folder, p->temporary, p->folder, p->name.z) != 0) {
        int error = errno;
        return error == EISDIR || error == EEXIST || error == ENOTEMPTY ? exists(p, err) : failed(p, error, "rename", err);
    }
    p->temporary[0] = '\0';
    return finish(p, err);
}

silt_status local_put(store *s, str path, str bytes, store_put_mode mode, silt_error *err) {
    pending p = {.store = (local_store *)s, .path = path, .folder = -1, .fd = -1, .is_relaxed = mode == STORE_PUT_IF_ABSENT_RELAXED};
    bool unsupported = true;
    silt_status status;
    TRY_OUT(local_path_set(&p.name, path_name(path), err));
    TRY_OUT(open_folder(&p, path_parent(path), err));
    if (mode == STORE_PUT_REPLACE) {
        TRY_OUT(put_replacing(&p, bytes, err));
        goto out;
    }
    TRY_OUT(put_unnamed(&p, bytes, &unsupported, err));
    if (unsupported) {
        discard_file(&p);
        TRY_OUT(put_named(&p, bytes, err));
    }
out:
    discard_file(&p);
    if (p.folder >= 0) close(p.folder);
    return status;
}
