/*
 * Walking local folders, and removing below one. Folders are shared out to threads; a folder's names come from getdents, and only entries that the caller takes
 * cost a stat. Links are told of and never followed, neither on the way to a file that is to be removed: every folder of a name is opened by its own name
 * without following, so that whoever swaps a folder for a link cannot lead a removal out of the table.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/thread.h"
#include "store/local/local.h"

typedef struct walk {
    const store_walker *w;
    str dir;
    int root; /* of `dir`, open */
    pthread_mutex_t lock, take_lock;
    pthread_cond_t more;
    char **folders; /* relative paths still to visit; under lock, as what follows */
    size_t n_folders, capacity;
    size_t n_busy; /* threads that may add some */
    bool stop;
} walk;

static silt_status take(walk *k, const store_walk_entry *e, silt_error *err) {
    pthread_mutex_lock(&k->take_lock);
    silt_status status = k->w->take(k->w->ctx, e, err);
    pthread_mutex_unlock(&k->take_lock);
    return status;
}

static silt_status add_folder(walk *k, str path, silt_error *err) {
    char *copy = strndup(path.ptr, path.len);
    bool ok = copy != NULL;
    pthread_mutex_lock(&k->lock);
    if (ok && k->n_folders == k->capacity) {
        size_t capacity = k->capacity ? k->capacity * 2 : 64;
        char **p = realloc(k->folders, capacity * sizeof *p);
        ok = p != NULL;
        if (ok) {
            k->folders = p;
            k->capacity = capacity;
        }
    }
    if (ok) k->folders[k->n_folders++] = copy;
    if (ok) pthread_cond_signal(&k->more);
    pthread_mutex_unlock(&k->lock);
    if (!ok) free(copy);
    return ok ? SILT_OK : error_no_memory(err);
}

/* NULL: nothing is left and nobody can add anything. */
static char *next_folder(walk *k) {
    char *path = NULL;
    pthread_mutex_lock(&k->lock);
    k->n_busy--;
    while (k->n_folders == 0 && k->n_busy > 0 && !k->stop) pthread_cond_wait(&k->more, &k->lock);
    if (k->n_folders > 0 && !k->stop) path = k->folders[--k->n_folders];
    if (path)
        k->n_busy++;
    else
        pthread_cond_broadcast(&k->more);
    pthread_mutex_unlock(&k->lock);
    return path;
}

static void stop(walk *k) {
    pthread_mutex_lock(&k->lock);
    k->stop = true;
    pthread_cond_broadcast(&k->more);
    pthread_mutex_unlock(&k->lock);
}

static int64_t modified_ms(const struct stat *st) { return (int64_t)st->st_mtim.tv_sec * 1000 + st->st_mtim.tv_nsec / 1000000; }

/* *out_known false: it vanished, or is a device, a pipe or a socket. */
static silt_status kind_of(int folder, const struct dirent *d, str path, store_kind *out, bool *out_known, silt_error *err) {
    struct stat st;
    unsigned char type = d->d_type;
    if (type == DT_UNKNOWN) {
        if (fstatat(folder, d->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0) {
            *out_known = false;
            return errno == ENOENT ? SILT_OK : error_from_errno(err, errno, "stat", path);
        }
        type = S_ISREG(st.st_mode) ? DT_REG : S_ISDIR(st.st_mode) ? DT_DIR : S_ISLNK(st.st_mode) ? DT_LNK : DT_UNKNOWN;
    }
    *out_known = type == DT_REG || type == DT_DIR || type == DT_LNK;
    *out = type == DT_REG ? STORE_FILE : type == DT_DIR ? STORE_FOLDER : STORE_LINK;
    return SILT_OK;
}

static silt_status take_file(walk *k, int folder, const char *name, store_walk_entry *e, silt_error *err) {
    struct stat st;
    if (fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) != 0) return errno == ENOENT ? SILT_OK : error_from_errno(err, errno, "stat", e->path);
    e->modified_ms = modified_ms(&st);
    e->size_bytes = e->kind == STORE_FILE ? st.st_size : 0;
    return take(k, e, err);
}

static silt_status visit_entry(walk *k, int folder, const struct dirent *d, buf *path, store_walk_entry *counts, silt_error *err) {
    store_walk_entry e = {.kind = STORE_FILE};
    bool known;
    buf_append_z(path, d->d_name);
    if (!buf_ok(path)) return error_no_memory(err);
    e.path = buf_str(path);
    TRY(kind_of(folder, d, e.path, &e.kind, &known, err));
    if (known && e.kind == STORE_FOLDER)
        counts->n_folders++;
    else
        counts->n_files++;
    if (!known) return SILT_OK;
    store_walk_wish wish = k->w->look(k->w->ctx, &e);
    if (wish == STORE_WALK_SKIP) return SILT_OK;
    if (e.kind == STORE_FOLDER) return add_folder(k, e.path, err);
    return wish == STORE_WALK_TAKE ? take_file(k, folder, d->d_name, &e, err) : SILT_OK;
}

static silt_status visit_stream(walk *k, DIR *stream, str relative, buf *path, silt_error *err) {
    store_walk_entry counts = {.path = relative, .kind = STORE_FOLDER};
    struct stat st;
    buf_clear(path);
    buf_append(path, relative);
    if (relative.len) buf_append_char(path, '/');
    size_t base = path->len, n = 0;
    if (!buf_ok(path)) return error_no_memory(err);
    if (fstat(dirfd(stream), &st) != 0) return error_from_errno(err, errno, "stat", relative);
    for (;;) {
        errno = 0;
        struct dirent *d = readdir(stream);
        if (!d && errno) return error_from_errno(err, errno, "readdir", relative.len ? relative : k->dir);
        if (!d) break;
        if (strcmp(d->d_name, ".") == 0 || strcmp(d->d_name, "..") == 0) continue;
        if ((++n & 0xfff) == 0) TRY(cancel_check(k->w->cancel, err));
        path->len = base;
        TRY(visit_entry(k, dirfd(stream), d, path, &counts, err));
    }
    if (relative.len == 0 || k->w->look(k->w->ctx, &(store_walk_entry){.path = relative, .kind = STORE_FOLDER}) != STORE_WALK_TAKE) return SILT_OK;
    counts.modified_ms = modified_ms(&st);
    return take(k, &counts, err);
}

static silt_status visit_folder(walk *k, const char *relative, buf *path, silt_error *err) {
    int fd = openat(k->root, relative[0] ? relative : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0) return errno == ENOENT || errno == ENOTDIR || errno == ELOOP ? SILT_OK : error_from_errno(err, errno, "open", str_of(relative));
    DIR *stream = fdopendir(fd);
    if (!stream) {
        silt_status status = error_from_errno(err, errno, "opendir", str_of(relative));
        close(fd);
        return status;
    }
    silt_status status = visit_stream(k, stream, str_of(relative), path, err);
    closedir(stream);
    return status;
}

static silt_status work(void *ctx, size_t i, silt_error *err) {
    walk *k = ctx;
    char *folder;
    buf path;
    silt_status status = SILT_OK;
    (void)i;
    buf_init(&path, BUF_MAX_DEFAULT);
    while (status == SILT_OK && (folder = next_folder(k)) != NULL) {
        status = cancel_check(k->w->cancel, err);
        if (status == SILT_OK) status = visit_folder(k, folder, &path, err);
        free(folder);
    }
    if (status != SILT_OK) stop(k);
    buf_dispose(&path);
    return status;
}

static silt_status run_walk(walk *k, silt_error *err) {
    int n = k->w->n_threads > 0 ? k->w->n_threads : thread_count_default();
    k->n_busy = (size_t)n;
    TRY(add_folder(k, STR(""), err));
    return thread_for(n, (size_t)n, work, k, err);
}

silt_status local_walk(store *s, str dir, const store_walker *w, silt_error *err) {
    (void)s;
    local_path z;
    TRY(local_path_set(&z, dir, err));
    walk k = {.w = w, .dir = dir, .root = open(z.z, O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
    if (k.root < 0) return error_from_errno(err, errno, "open", dir);
    pthread_mutex_init(&k.lock, NULL);
    pthread_mutex_init(&k.take_lock, NULL);
    pthread_cond_init(&k.more, NULL);
    silt_status status = run_walk(&k, err);
    for (size_t i = 0; i < k.n_folders; i++) free(k.folders[i]);
    free(k.folders);
    pthread_cond_destroy(&k.more);
    pthread_mutex_destroy(&k.take_lock);
    pthread_mutex_destroy(&k.lock);
    close(k.root);
    return status;
}

/* ---- removing ---- */

static int open_below(int folder, str name) {
    char z[NAME_MAX + 1];
    if (name.len > NAME_MAX) {
        errno = ENAMETOOLONG;
        return -1;
    }
    memcpy(z, name.ptr, name.len);
    z[name.len] = '\0';
    return openat(folder, z, O_PATH | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
}

/* The folder of a relative path, part by part; -1 with errno. */
static int open_folder(int root, str folder) {
    str rest = folder, part;
    int fd = openat(root, ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    while (fd >= 0 && str_next(&rest, '/', &part)) {
        int next = open_below(fd, part), error = errno;
        close(fd);
        fd = next;
        errno = error;
    }
    return fd;
}

typedef struct removal {
    int root, folder;
    str folder_name; /* what `folder` is; null: nothing is open */
} removal;

static int remove_one(removal *r, str name) {
    local_path z;
    str folder = str_rfind_char(name, '/') == SIZE_MAX ? STR("") : str_slice(name, 0, str_rfind_char(name, '/'));
    if (str_is_null(r->folder_name) || !str_eq(r->folder_name, folder)) {
        if (r->folder >= 0) close(r->folder);
        r->folder_name = STR_NULL;
        r->folder = folder.len ? open_folder(r->root, folder) : openat(r->root, ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
        if (r->folder < 0) return errno == ENOTDIR || errno == ELOOP ? EACCES : errno; /* a link stands where a folder was */
        r->folder_name = folder;
    }
    str last = folder.len ? str_slice(name, folder.len + 1, name.len) : name;
    if (local_path_set(&z, last, NULL) != SILT_OK) return ENAMETOOLONG;
    return unlinkat(r->folder, z.z, 0) == 0 ? 0 : errno;
}

silt_status local_remove_below(store *s, str dir, const str *names, size_t n, silt_status *out, silt_error *err) {
    (void)s;
    local_path z;
    bool told = false;
    TRY(local_path_set(&z, dir, err));
    removal r = {.root = open(z.z, O_PATH | O_DIRECTORY | O_CLOEXEC), .folder = -1};
    if (r.root < 0) return error_from_errno(err, errno, "open", dir);
    for (size_t i = 0; i < n; i++) {
        silt_error why = {.status = SILT_OK};
        int error = remove_one(&r, names[i]);
        out[i] = error == 0 ? SILT_OK : error_from_errno(&why, error, "unlink", names[i]);
        if (!told && out[i] != SILT_OK && out[i] != SILT_NOT_FOUND && err) *err = why, told = true;
    }
    if (r.folder >= 0) close(r.folder);
    close(r.root);
    return SILT_OK;
}

silt_status local_real_path(store *s, str path, arena *a, str *out, silt_error *err) {
    (void)s;
    local_path z;
    char real[PATH_MAX];
    TRY(local_path_set(&z, path, err));
    if (!realpath(z.z, real)) return error_from_errno(err, errno, "realpath", path);
    *out = arena_str(a, str_of(real));
    return str_is_null(*out) ? error_no_memory(err) : SILT_OK;
}
