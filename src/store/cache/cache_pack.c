/*
 * Small files of logs: all those of one log folder in one file of the cache, since a thousand commits of a kilobyte each would otherwise be two thousand files.
 *
 * A pack is a header that names the folder, then whole files one behind the other, each with its name, size, tag and a checksum over all of it, only ever appended, under a lock of the file. It is read
 * through once per process, which verifies every checksum; from then on it is known where each file begins. What is damaged, or cut short by a kill, ends the pack, and the next one to add something begins there.
 * So nothing needs an fsync, and what was removed by others stays readable by its descriptor. Its name ends as that of a map, and its time is that of its last use: it is removed like any other entry.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/uri.h"
#include "store/cache/cache.h"

#define MAGIC       "SILTPAK1"
#define FILE_MAX    ((int64_t)128 << 10) /* larger files are worth an entry of their own */
#define PACK_BYTES  ((int64_t)8 << 20)   /* beyond that it begins anew, since each process reads it through: when a log is fetched, unless half of it is wanted */
#define PACK_MOST   ((int64_t)64 << 20)  /* and then in any case */
#define A_LOG       16                   /* files that are more than what is new in one */
#define PACKS_MAX   16                   /* open at once */
#define BLOCK_BYTES ((size_t)1 << 20)

typedef struct pack_head {
    char magic[8];
    uint64_t text_len, sum; /* of the key's text, which follows */
} pack_head;

typedef struct file_head {
    uint64_t sum; /* of what follows, and of name, tag and bytes behind it */
    uint32_t name_len, tag_len;
    int64_t size;
} file_head;

typedef struct packed {
    char *name; /* owned; the tag follows its NUL. NULL: free */
    uint64_t hash;
    int64_t size, at; /* where its bytes begin */
} packed;

typedef struct pack {
    struct pack *next; /* the last used first */
    str folder;        /* owned */
    cache_key key;     /* strings owned by `a` */
    arena *a;
    int fd;      /* -1: not there yet */
    int64_t end; /* of what was verified */
    packed *files; /* open addressing */
    size_t capacity, count;
} pack;

struct cache_packs {
    pthread_rwlock_t lock;
    pack *first; /* under lock, as below */
    size_t count;
};

/* ---- in memory ---- */

static void forget_files(pack *p) {
    for (size_t i = 0; i < p->capacity; i++) free(p->files[i].name);
    free(p->files);
    p->files = NULL;
    p->capacity = p->count = 0;
    p->end = 0;
}

static void close_pack(pack *p) {
    forget_files(p);
    if (p->fd >= 0) close(p->fd);
    p->fd = -1;
}

static void free_pack(pack *p) {
    close_pack(p);
    arena_free(p->a);
    free(p);
}

cache_packs *cache_packs_new(void) {
    cache_packs *all = calloc(1, sizeof *all);
    if (all) pthread_rwlock_init(&all->lock, NULL);
    return all;
}

void cache_packs_free(cache_packs *all) {
    if (!all) return;
    while (all->first) {
        pack *p = all->first;
        all->first = p->next;
        free_pack(p);
    }
    pthread_rwlock_destroy(&all->lock);
    free(all);
}

static uint64_t hash_of(str name, str tag, int64_t size) { return str_hash(name) ^ (str_hash(tag) * 31) ^ ((uint64_t)size * 0x9e3779b97f4a7c15u); }

static packed *slot_of(const pack *p, str name, str tag, int64_t size, uint64_t hash) {
    for (size_t i = hash & (p->capacity - 1);; i = (i + 1) & (p->capacity - 1)) {
        packed *f = &p->files[i];
        bool same = f->name && f->hash == hash && f->size == size && str_eqz(name, f->name) && str_eqz(tag, f->name + strlen(f->name) + 1);
        if (!f->name || same) return f;
    }
}

static const packed *find(const pack *p, str name, str tag, int64_t size) {
    const packed *f = p->capacity ? slot_of(p, name, tag, size, hash_of(name, tag, size)) : NULL;
    return f && f->name ? f : NULL;
}

static bool grow(pack *p) {
    if (p->count * 2 < p->capacity) return true;
    size_t before = p->capacity, capacity = before ? before * 2 : 256;
    packed *old = p->files, *files = calloc(capacity, sizeof *files);
    if (!files) return false;
    p->files = files;
    p->capacity = capacity;
    for (size_t i = 0; i < before; i++) {
        const packed *f = &old[i];
        if (f->name) *slot_of(p, str_of(f->name), str_of(f->name + strlen(f->name) + 1), f->size, f->hash) = *f;
    }
    free(old);
    return true;
}

static bool note(pack *p, str name, str tag, int64_t size, int64_t at) {
    uint64_t hash = hash_of(name, tag, size);
    char *copy = grow(p) ? malloc(name.len + tag.len + 2) : NULL;
    if (!copy) return false;
    memcpy(copy, name.ptr, name.len);
    copy[name.len] = '\0';
    memcpy(copy + name.len + 1, tag.ptr, tag.len);
    copy[name.len + 1 + tag.len] = '\0';
    packed *f = slot_of(p, name, tag, size, hash);
    p->count += f->name == NULL;
    free(f->name);
    *f = (packed){copy, hash, size, at};
    return true;
}

/* ---- reading through ---- */

static uint64_t sum_of(const file_head *h, const char *rest, size_t n) {
    return bytes_sum(rest, n, str_hash((str){(const char *)&h->name_len, sizeof *h - offsetof(file_head, name_len)}));
}

static bool is_plain(str s) { return str_find_char(s, '\0') == SIZE_MAX; }

/* How far `bytes`, which begin at p->end, hold whole files; notes them. false: they are damaged there, or memory ran out. */
static bool take_files(pack *p, const char *bytes, size_t n, size_t *out_used) {
    file_head h;
    size_t at = 0;
    bool good = true;
    while (good && n - at >= sizeof h) {
        memcpy(&h, bytes + at, sizeof h);
        bool sane = h.size >= 0 && h.size <= FILE_MAX && h.name_len > 0 && h.name_len <= PATH_MAX && h.tag_len <= PATH_MAX;
        size_t rest = sane ? (size_t)h.name_len + h.tag_len + (size_t)h.size : 0;
        if (sane && n - at - sizeof h < rest) break;
        const char *text = bytes + at + sizeof h;
        str name = {text, h.name_len}, tag = {text + h.name_len, h.tag_len};
        good = sane && h.sum == sum_of(&h, text, rest) && is_plain(name) && is_plain(tag) &&
               note(p, name, tag, h.size, p->end + (int64_t)(at + sizeof h + h.name_len + h.tag_len));
        if (good) at += sizeof h + rest;
    }
    *out_used = at;
    return good;
}

/* What was appended since p->end. */
static void read_on(pack *p) {
    size_t room = BLOCK_BYTES + sizeof(file_head) + 2 * PATH_MAX + (size_t)FILE_MAX, used = 1;
    struct stat st;
    char *block = malloc(room);
    bool good = block && fstat(p->fd, &st) == 0;
    while (good && used > 0 && p->end < st.st_size) {
        size_t n = st.st_size - p->end < (int64_t)room ? (size_t)(st.st_size - p->end) : room;
        used = 0;
        good = cache_read_at(p->fd, block, n, p->end) && take_files(p, block, n, &used);
        p->end += (int64_t)used; /* also as far as it is good before damage */
    }
    free(block);
}

static bool begins_right(const pack *p) {
    pack_head h;
    char text[4 * PATH_MAX];
    size_t n = p->key.text.len;
    return n <= sizeof text && cache_read_at(p->fd, (char *)&h, sizeof h, 0) && memcmp(h.magic, MAGIC, 8) == 0 && h.text_len == n && cache_read_at(p->fd, text, n, (int64_t)sizeof h) &&
           h.sum == bytes_sum(text, n, 1) && memcmp(text, p->key.text.ptr, n) == 0;
}

static bool is_removed(int fd) {
    struct stat st;
    return fstat(fd, &st) != 0 || st.st_nlink == 0;
}

/* What is new in it; its end is 0 where it has to be begun anew. */
static void catch_up(pack *p) {
    struct stat st;
    if (fstat(p->fd, &st) != 0 || st.st_size < p->end) forget_files(p); /* somebody cut it */
    if (p->end == 0 && begins_right(p)) p->end = (int64_t)(sizeof(pack_head) + p->key.text.len);
    if (p->end) read_on(p);
    (void)!futimens(p->fd, NULL);
}

static void open_to_read(pack *p) {
    if (p->fd >= 0 && is_removed(p->fd)) close_pack(p);
    if (p->fd < 0) p->fd = open(p->key.map.ptr, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (p->fd >= 0) catch_up(p);
}

/* ---- adding ---- */

static bool lock_file(int fd) {
    int done;
    do done = flock(fd, LOCK_EX);
    while (done != 0 && errno == EINTR);
    return done == 0;
}

static int open_anew(const cache_key *k) {
    int fd = open(k->map.ptr, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0 && errno == ENOENT && cache_key_make_folder(k)) fd = open(k->map.ptr, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    return fd;
}

/* The pack's file, locked and read to its end. */
static bool open_locked(pack *p) {
    for (;;) {
        if (p->fd < 0) p->fd = open_anew(&p->key);
        if (p->fd < 0 || !lock_file(p->fd)) return false;
        if (!is_removed(p->fd)) break;
        close_pack(p);
    }
    catch_up(p);
    return true;
}

/* Who reads the file of before goes on with it: that one loses its name only. */
static bool begin_anew(pack *p) {
    pack_head h = {.text_len = p->key.text.len, .sum = bytes_sum(p->key.text.ptr, p->key.text.len, 1)};
    memcpy(h.magic, MAGIC, 8);
    int before = p->fd;
    p->fd = -1;
    forget_files(p);
    if (unlink(p->key.map.ptr) == 0 || errno == ENOENT) p->fd = open(p->key.map.ptr, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    bool ok = p->fd >= 0 && lock_file(p->fd) && cache_write_at(p->fd, (const char *)&h, sizeof h, 0) && cache_write_at(p->fd, p->key.text.ptr, p->key.text.len, (int64_t)sizeof h);
    if (ok) p->end = (int64_t)(sizeof h + p->key.text.len);
    close(before);
    return ok;
}

static bool add_file(buf *out, const cache_packed *f) {
    str name = path_name(f->file->path), tag = f->file->tag;
    file_head h = {.name_len = (uint32_t)name.len, .tag_len = (uint32_t)tag.len, .size = f->file->size_bytes};
    size_t at = out->len;
    buf_append_bytes(out, (const char *)&h, sizeof h);
    buf_append(out, name);
    buf_append(out, tag);
    buf_append(out, f->bytes);
    if (!buf_ok(out)) return false;
    h.sum = sum_of(&h, out->ptr + at + sizeof h, out->len - at - sizeof h);
    memcpy(out->ptr + at, &h, sizeof h);
    return true;
}

/* A file of one size and tag whose last version counts. */
#define HINT_NAME   "_last_checkpoint"
#define HINT_TAG    "hint"
#define HINT_DIGITS 20

static bool is_hint(const store_sparse *file) { return str_eqz(path_name(file->path), HINT_NAME); }

static bool append(pack *p, const cache_packed *files, size_t n) {
    buf text;
    size_t used = 0;
    buf_init(&text, BUF_MAX_DEFAULT);
    bool ok = true;
    for (size_t i = 0; ok && i < n; i++)
        if (is_hint(files[i].file) || !find(p, path_name(files[i].file->path), files[i].file->tag, files[i].file->size_bytes)) ok = add_file(&text, &files[i]);
    if (ok && p->end == 0) ok = begin_anew(p);
    ok = ok && ftruncate(p->fd, p->end) == 0 && cache_write_at(p->fd, text.ptr, text.len, p->end) && take_files(p, text.ptr, text.len, &used);
    p->end += (int64_t)used;
    buf_dispose(&text);
    return ok;
}

/* ---- by folder ---- */

static pack *new_pack(const cache_folder *f, str identity, str folder) {
    silt_error ignored;
    pack *p = calloc(1, sizeof *p);
    if (!p) return NULL;
    p->fd = -1;
    p->a = arena_new();
    store_sparse as_file = {.path = folder, .size_bytes = 0, .tag = STR("pack")};
    if (p->a) p->folder = arena_str(p->a, folder);
    if (p->a && p->folder.ptr && cache_key_make(f, identity, &as_file, p->a, &p->key, &ignored) == SILT_OK) return p;
    arena_free(p->a);
    free(p);
    return NULL;
}

/* Under the lock; it is the first now. NULL: no memory. */
static pack *pack_of(cache_packs *all, const cache_folder *f, str identity, str folder) {
    pack **at = &all->first, *p;
    while (*at && !str_eq((*at)->folder, folder)) at = &(*at)->next;
    p = *at;
    if (p) *at = p->next;
    else p = new_pack(f, identity, folder), all->count += p != NULL;
    if (!p) return NULL;
    p->next = all->first;
    all->first = p;
    if (all->count <= PACKS_MAX) return p;
    for (at = &all->first; (*at)->next; at = &(*at)->next) {}
    free_pack(*at);
    *at = NULL;
    all->count--;
    return p;
}

bool cache_packs_takes(const store_sparse *file) {
    str name = path_name(file->path), folder = path_parent(file->path);
    bool is_text = str_ends_with(name, STR(".json")) || str_ends_with(name, STR(".crc"));
    return is_text && file->size_bytes > 0 && file->size_bytes <= FILE_MAX && !str_is_null(file->tag) && file->n_spans == 0 && name.len < PATH_MAX && file->tag.len < PATH_MAX && is_plain(name) &&
           is_plain(file->tag) && str_ends_with(folder, STR("/_delta_log"));
}

/* What is in it is old, mostly. */
static bool is_worn(const pack *p, const store_sparse *files, size_t n) {
    int64_t wanted = 0;
    for (size_t i = 0; i < n; i++) wanted += files[i].size_bytes;
    int64_t most = n >= A_LOG ? PACK_BYTES : PACK_MOST;
    return p->end > most && p->end / 2 > wanted;
}

static void open_to_look(pack *p, const store_sparse *files, size_t n) {
    open_to_read(p);
    if (p->fd < 0 || !is_worn(p, files, n)) return;
    if (!open_locked(p) || !begin_anew(p)) close_pack(p);
    if (p->fd >= 0) (void)!flock(p->fd, LOCK_UN);
}

void cache_packs_look(cache_packs *all, const cache_folder *f, str identity, const store_sparse *files, size_t n, bool *out_there) {
    str folder = STR_NULL;
    pack *p = NULL;
    pthread_rwlock_wrlock(&all->lock);
    for (size_t i = 0; i < n; i++) {
        str own = path_parent(files[i].path);
        out_there[i] = false;
        if (!p || !str_eq(own, folder)) {
            folder = own;
            p = pack_of(all, f, identity, folder);
            if (p) open_to_look(p, files + i, n - i);
        }
        if (p) out_there[i] = find(p, path_name(files[i].path), files[i].tag, files[i].size_bytes) != NULL;
    }
    pthread_rwlock_unlock(&all->lock);
}

bool cache_packs_add(cache_packs *all, const cache_folder *f, str identity, const cache_packed *files, size_t n) {
    bool ok = true;
    pthread_rwlock_wrlock(&all->lock);
    for (size_t i = 0; ok && i < n;) {
        str folder = path_parent(files[i].file->path);
        size_t end = i + 1;
        while (end < n && str_eq(path_parent(files[end].file->path), folder)) end++;
        pack *p = pack_of(all, f, identity, folder);
        ok = p && open_locked(p) && append(p, files + i, end - i);
        if (p && p->fd >= 0) (void)!flock(p->fd, LOCK_UN);
        i = end;
    }
    pthread_rwlock_unlock(&all->lock);
    return ok;
}

bool cache_packs_read(cache_packs *all, const store_sparse *file, int64_t offset, int64_t length, buf *out) {
    bool done = false;
    pthread_rwlock_rdlock(&all->lock);
    const pack *p = all->first;
    str folder = path_parent(file->path);
    while (p && !str_eq(p->folder, folder)) p = p->next;
    const packed *found = p && p->fd >= 0 ? find(p, path_name(file->path), file->tag, file->size_bytes) : NULL;
    if (found && buf_reserve(out, (size_t)length)) done = cache_read_at(p->fd, out->ptr + out->len, (size_t)length, found->at + offset);
    if (done) out->len += (size_t)length;
    pthread_rwlock_unlock(&all->lock);
    return done;
}

int64_t cache_packs_hint(cache_packs *all, const cache_folder *f, str identity, str folder) {
    char digits[HINT_DIGITS];
    int64_t version = -1;
    pthread_rwlock_wrlock(&all->lock);
    pack *p = pack_of(all, f, identity, folder);
    if (p) open_to_read(p);
    const packed *found = p && p->fd >= 0 ? find(p, STR(HINT_NAME), STR(HINT_TAG), HINT_DIGITS) : NULL;
    if (found && (!cache_read_at(p->fd, digits, sizeof digits, found->at) || !str_to_i64((str){digits, sizeof digits}, &version))) version = -1;
    pthread_rwlock_unlock(&all->lock);
    return version;
}

void cache_packs_set_hint(cache_packs *all, const cache_folder *f, str identity, str folder, int64_t version) {
    char digits[HINT_DIGITS + 1], path[PATH_MAX];
    int n = snprintf(path, sizeof path, "%.*s/" HINT_NAME, STR_ARG(folder));
    if (version < 0 || n < 0 || (size_t)n >= sizeof path) return;
    snprintf(digits, sizeof digits, "%0*lld", HINT_DIGITS, (long long)version);
    store_sparse file = {.path = {path, (size_t)n}, .size_bytes = HINT_DIGITS, .tag = STR(HINT_TAG)};
    (void)!cache_packs_add(all, f, identity, &(cache_packed){&file, {digits, HINT_DIGITS}}, 1);
}
