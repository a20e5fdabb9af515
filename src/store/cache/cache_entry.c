/*
 * One object in the read cache: a sparse file and, beside it, the list of its stretches that are there.
 *
 * The list ("map") is a header that names the object, then records of one form, each with a checksum of its own, only ever appended, under a lock of the file. A record is written after the
 * bytes it speaks of, and holds their checksum and the time that the sparse file had then. That is what makes the rest cheap and safe without a single fsync:
 *
 *   - The file's time is that of the last record, and the machine has not been started since: nobody has touched the file but through here, all records hold. The usual case; no byte is read.
 *   - Otherwise (a process was killed between bytes and record, the power failed, somebody wrote to or cut the file): the bytes of each record are compared with its checksum, and what does not
 *     agree is forgotten.
 *
 * A record cut short by a kill has no valid checksum and ends the list. So a hole is never taken for data: no record speaks of it.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/uri.h"
#include "store/cache/cache.h"

#define NS_PER_S     1000000000LL
#define MAGIC        "SILTMAP1"
#define MAX_MAP      ((size_t)64 << 20)
#define VERIFY_BYTES ((size_t)1 << 20)

typedef struct map_head {
    char magic[8];
    int64_t size;
    uint64_t key_len;
    uint64_t sum; /* of the fields above and the key, which follows */
} map_head;

typedef struct map_record {
    int64_t offset, length; /* length 0: only a date */
    uint64_t bytes_sum;
    int64_t data_ns; /* the sparse file's time when the record was written */
    uint64_t boot;
    uint64_t sum;
} map_record;

/* An entry under its lock. */
typedef struct entry {
    const cache_folder *folder;
    const cache_key *key;
    int map, data;
    const map_record *records; /* in `arena` */
    size_t n_records;
    arena *arena;
} entry;

/* ---- checksums ---- */

static uint64_t head_sum(const map_head *h, str key) {
    return bytes_sum(key.ptr, key.len, str_hash((str){(const char *)h, offsetof(map_head, sum)}));
}

static uint64_t record_sum(const map_record *r) { return str_hash((str){(const char *)r, offsetof(map_record, sum)}); }

/* ---- names ---- */

/* What libraries look at in a name: what follows its first dot, as far as it is harmless. */
static str extension_of(str path) {
    str name = path_name(path);
    size_t dot = str_find_char(name, '.'), n = 0;
    if (dot == SIZE_MAX || dot == 0) return STR("");
    str end = str_slice(name, dot, name.len);
    if (end.len > 24) { /* the last two of them */
        size_t last = str_rfind_char(end, '.'), before = last ? str_rfind_char(str_slice(end, 0, last), '.') : SIZE_MAX;
        end = str_slice(end, before != SIZE_MAX && end.len - before <= 24 ? before : last, end.len);
    }
    for (; n < end.len; n++) {
        char c = end.ptr[n];
        bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '-' || c == '_';
        if (!plain) return STR("");
    }
    return end.len > 24 || str_ends_with(end, STR(".map")) ? STR("") : end;
}

silt_status cache_key_make(const cache_folder *f, str identity, const store_sparse *file, arena *a, cache_key *out, silt_error *err) {
    str tag = str_is_null(file->tag) ? STR("") : file->tag;
    str text = arena_printf(a, "%.*s\n%.*s\n%lld\n%.*s", STR_ARG(identity), STR_ARG(file->path), (long long)file->size_bytes, STR_ARG(tag));
    if (str_is_null(text)) return error_no_memory(err);
    uint64_t high = bytes_sum(text.ptr, text.len, 1), low = bytes_sum(text.ptr, text.len, 2);
    str ext = extension_of(file->path);
    str base = arena_printf(a, "%s/objects/%02x/%016llx%016llx", f->dir, (unsigned)(high >> 56), (unsigned long long)high, (unsigned long long)low);
    if (str_is_null(base)) return error_no_memory(err);
    *out = (cache_key){.text = text, .size = file->size_bytes};
    out->map = arena_printf(a, "%.*s.map", STR_ARG(base));
    out->data = arena_printf(a, "%.*s%.*s", STR_ARG(base), STR_ARG(ext));
    if (str_is_null(out->map) || str_is_null(out->data)) return error_no_memory(err);
    return out->map.len < PATH_MAX ? SILT_OK : err_INVALID_PARAMETER_VALUE(err, STR("silt.cache.dir"), str_of(f->dir), "a shorter path");
}

/* ---- spans ---- */

bool cache_spans_add(cache_spans *s, int64_t offset, int64_t length, arena *a) {
    if (length <= 0) return true;
    size_t from = 0;
    int64_t end = offset + length;
    while (from < s->count && s->items[from].offset + s->items[from].length < offset) from++;
    size_t to = from;
    for (; to < s->count && s->items[to].offset <= end; to++) {
        int64_t item_end = s->items[to].offset + s->items[to].length;
        if (s->items[to].offset < offset) offset = s->items[to].offset;
        if (item_end > end) end = item_end;
    }
    store_span joined = {offset, end - offset};
    if (to == from) {
        if (!ARENA_PUSH(a, s->items, s->count, s->capacity, joined)) return false;
        memmove(s->items + from + 1, s->items + from, (s->count - 1 - from) * sizeof *s->items);
    } else {
        memmove(s->items + from + 1, s->items + to, (s->count - to) * sizeof *s->items);
        s->count -= to - from - 1;
    }
    s->items[from] = joined;
    return true;
}

bool cache_spans_cover(const cache_spans *s, int64_t offset, int64_t length) {
    size_t low = 0, high = s->count;
    if (length <= 0) return true;
    while (low < high) { /* the last that begins at or before offset */
        size_t middle = (low + high) / 2;
        if (s->items[middle].offset <= offset)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 && s->items[low - 1].offset + s->items[low - 1].length >= offset + length;
}

/* ---- files ---- */

static int64_t data_ns(const struct stat *st) { return (int64_t)st->st_mtim.tv_sec * NS_PER_S + st->st_mtim.tv_nsec; }

bool cache_write_at(int fd, const char *p, size_t n, int64_t offset) {
    while (n > 0) {
        ssize_t done = pwrite(fd, p, n, offset);
        if (done < 0 && errno == EINTR) continue;
        if (done < 0) return false;
        p += done;
        offset += done;
        n -= (size_t)done;
    }
    return true;
}

bool cache_read_at(int fd, char *p, size_t n, int64_t offset) {
    while (n > 0) {
        ssize_t done = pread(fd, p, n, offset);
        if (done < 0 && errno == EINTR) continue;
        if (done <= 0) return false;
        p += done;
        offset += done;
        n -= (size_t)done;
    }
    return true;
}

static int open_again(const char *path, int flags) {
    int fd;
    do fd = open(path, flags | O_CLOEXEC | O_NOFOLLOW, 0600);
    while (fd < 0 && errno == EINTR);
    return fd;
}

bool cache_key_make_folder(const cache_key *k) {
    char path[PATH_MAX];
    size_t n = str_rfind_char(k->map, '/');
    memcpy(path, k->map.ptr, n);
    path[n] = '\0';
    return mkdir(path, 0700) == 0 || errno == EEXIST;
}

/* ---- the map ---- */

/* As much as is there: it may be cut or grow meanwhile. */
static size_t read_start(int fd, char *p, size_t n) {
    size_t got = 0;
    while (got < n) {
        ssize_t done = pread(fd, p + got, n - got, (off_t)got);
        if (done < 0 && errno == EINTR) continue;
        if (done <= 0) break;
        got += (size_t)done;
    }
    return got;
}

/* Does the map speak of this object? Then *out_records are its whole records, in `a`. */
static bool read_map(int fd, const cache_key *k, arena *a, const map_record **out_records, size_t *out_n) {
    struct stat st;
    map_head head;
    *out_n = 0;
    size_t before = sizeof head + k->text.len;
    if (fstat(fd, &st) != 0 || st.st_size < (off_t)before || (size_t)st.st_size > MAX_MAP) return false;
    char *bytes = arena_alloc(a, (size_t)st.st_size);
    size_t got = bytes ? read_start(fd, bytes, (size_t)st.st_size) : 0;
    if (got < before) return false;
    memcpy(&head, bytes, sizeof head);
    bool same = memcmp(head.magic, MAGIC, 8) == 0 && head.size == k->size && head.key_len == k->text.len && memcmp(bytes + sizeof head, k->text.ptr, k->text.len) == 0;
    if (!same || head.sum != head_sum(&head, k->text)) return false;
    size_t n = (got - before) / sizeof(map_record), good = 0;
    map_record *records = ARENA_ARRAY(a, n + 1, map_record);
    if (!records) return false;
    memcpy(records, bytes + before, n * sizeof *records);
    while (good < n && records[good].sum == record_sum(&records[good]) && records[good].offset >= 0 && records[good].length >= 0 &&
           records[good].length <= k->size - records[good].offset)
        good++;
    *out_records = records;
    *out_n = good;
    return true;
}

static bool is_untouched(const cache_folder *f, const cache_key *k, const map_record *records, size_t n, const struct stat *data) {
    return n > 0 && S_ISREG(data->st_mode) && data->st_size == k->size && records[n - 1].data_ns == data_ns(data) && records[n - 1].boot == f->boot;
}

static bool append_record(const entry *e, size_t at, map_record r) {
    struct stat st;
    if (fstat(e->data, &st) != 0) return false;
    r.data_ns = data_ns(&st);
    r.boot = e->folder->boot;
    r.sum = record_sum(&r);
    return cache_write_at(e->map, (const char *)&r, sizeof r, (int64_t)(sizeof(map_head) + e->key->text.len + at * sizeof r));
}

static bool cut_map(const entry *e, size_t n_records) {
    return ftruncate(e->map, (off_t)(sizeof(map_head) + e->key->text.len + n_records * sizeof(map_record))) == 0;
}

/* ---- beginning anew, and mending ---- */

static bool fill_with_poison(int fd, int64_t size) {
    char bytes[65536];
    memset(bytes, 0xdb, sizeof bytes);
    for (int64_t at = 0; at < size; at += (int64_t)sizeof bytes)
        if (!cache_write_at(fd, bytes, size - at < (int64_t)sizeof bytes ? (size_t)(size - at) : sizeof bytes, at)) return false;
    return true;
}

/* A query that reads the file of before goes on with it: that one loses its name only. */
static bool begin_anew(entry *e) {
    const cache_key *k = e->key;
    map_head head = {.size = k->size, .key_len = k->text.len};
    memcpy(head.magic, MAGIC, 8);
    head.sum = head_sum(&head, k->text);
    e->n_records = 0;
    if (ftruncate(e->map, 0) != 0) return false;
    if (e->data >= 0) close(e->data);
    if (unlink(k->data.ptr) != 0 && errno != ENOENT) return false;
    e->data = open_again(k->data.ptr, O_RDWR | O_CREAT | O_EXCL);
    if (e->data < 0 || ftruncate(e->data, k->size) != 0) return false;
    if (e->folder->poison && !fill_with_poison(e->data, k->size)) return false;
    return cache_write_at(e->map, (const char *)&head, sizeof head, 0) && cache_write_at(e->map, k->text.ptr, k->text.len, (int64_t)sizeof head) && append_record(e, 0, (map_record){0});
}

static bool agrees(const entry *e, const map_record *r, char *bytes) {
    uint64_t sum = 0;
    for (int64_t at = 0; at < r->length; at += (int64_t)VERIFY_BYTES) {
        size_t n = r->length - at < (int64_t)VERIFY_BYTES ? (size_t)(r->length - at) : VERIFY_BYTES;
        if (!cache_read_at(e->data, bytes, n, r->offset + at)) return false;
        sum = bytes_sum(bytes, n, sum);
    }
    return sum == r->bytes_sum;
}

static uint64_t sum_of(str bytes) {
    uint64_t sum = 0;
    for (size_t at = 0; at < bytes.len; at += VERIFY_BYTES) sum = bytes_sum(bytes.ptr + at, bytes.len - at < VERIFY_BYTES ? bytes.len - at : VERIFY_BYTES, sum);
    return sum;
}

/* Keeps the records whose bytes are what they were. The map is cut first, so that whatever happens meanwhile leaves fewer records, never wrong ones. */
static bool mend(entry *e) {
    char *bytes = malloc(VERIFY_BYTES);
    map_record *kept = ARENA_ARRAY(e->arena, e->n_records + 1, map_record);
    size_t n = 0;
    bool ok = bytes && kept;
    for (size_t i = 0; ok && i < e->n_records; i++)
        if (e->records[i].length > 0 && agrees(e, &e->records[i], bytes)) kept[n++] = e->records[i];
    free(bytes);
    ok = ok && cut_map(e, 0);
    for (size_t i = 0; ok && i < n; i++) ok = append_record(e, i, kept[i]);
    if (!ok || !append_record(e, n, (map_record){0})) return false;
    kept[n] = (map_record){0};
    e->records = kept;
    e->n_records = n + 1;
    return true;
}

/* ---- under the lock ---- */

static void entry_close(entry *e) {
    if (e->data >= 0) close(e->data);
    if (e->map >= 0) close(e->map); /* and with it the lock */
}

static bool lock_file(int fd) {
    int done;
    do done = flock(fd, LOCK_EX);
    while (done != 0 && errno == EINTR);
    return done == 0;
}

/* Opens what is there, in order; makes what is not. false: errno. */
static bool entry_open(entry *e) {
    struct stat st;
    const cache_key *k = e->key;
    e->map = open_again(k->map.ptr, O_RDWR | O_CREAT);
    if (e->map < 0 && errno == ENOENT && cache_key_make_folder(k)) e->map = open_again(k->map.ptr, O_RDWR | O_CREAT);
    if (e->map < 0 || !lock_file(e->map)) return false;
    bool ours = read_map(e->map, k, e->arena, &e->records, &e->n_records);
    e->data = ours ? open_again(k->data.ptr, O_RDWR) : -1;
    if (e->data < 0 || fstat(e->data, &st) != 0 || !S_ISREG(st.st_mode) || st.st_size > k->size) return begin_anew(e);
    if (is_untouched(e->folder, k, e->records, e->n_records, &st)) return true;
    return (st.st_size == k->size || ftruncate(e->data, k->size) == 0) && mend(e);
}

/* ---- looking ---- */

static bool collect(const map_record *records, size_t n, arena *a, cache_spans *out) {
    for (size_t i = 0; i < n; i++)
        if (!cache_spans_add(out, records[i].offset, records[i].length, a)) return false;
    return true;
}

static bool date(int fd, int64_t ns) {
    struct timespec t = {.tv_sec = (time_t)(ns / NS_PER_S), .tv_nsec = (long)(ns % NS_PER_S)};
    struct timespec both[2] = {t, t};
    return futimens(fd, both) == 0;
}

/* Without the lock: the usual case. false: look again with it. */
static bool look_quickly(const cache_folder *f, const cache_key *k, int64_t used_ns, arena *a, cache_spans *out) {
    struct stat st;
    const map_record *records;
    size_t n;
    int map = open_again(k->map.ptr, O_RDONLY);
    if (map < 0) return false;
    bool ok = stat(k->data.ptr, &st) == 0 && read_map(map, k, a, &records, &n) && is_untouched(f, k, records, n, &st) && date(map, used_ns);
    close(map);
    return ok && collect(records, n, a, out);
}

silt_status cache_entry_look(const cache_folder *f, const cache_key *k, int64_t used_ns, arena *a, cache_spans *out, silt_error *err) {
    *out = (cache_spans){0};
    if (look_quickly(f, k, used_ns, a, out)) return SILT_OK;
    *out = (cache_spans){0};
    entry e = {.folder = f, .key = k, .map = -1, .data = -1, .arena = a};
    bool ok = entry_open(&e) && date(e.map, used_ns);
    int saved = errno;
    if (ok && !collect(e.records, e.n_records, a, out)) ok = false, saved = ENOMEM;
    entry_close(&e);
    return ok ? SILT_OK : cache_folder_failure(f, saved, "open", err);
}

int cache_entry_open(const cache_folder *f, const cache_key *k, int64_t offset, int64_t length, arena *a) {
    struct timespec now;
    cache_spans present = {0};
    clock_gettime(CLOCK_REALTIME_COARSE, &now);
    int lock = cache_folder_lock(f, false); /* the two files are of one entry */
    if (lock < 0) return -1;
    bool there = look_quickly(f, k, (int64_t)now.tv_sec * NS_PER_S + now.tv_nsec, a, &present) && cache_spans_cover(&present, offset, length);
    int fd = there ? open_again(k->data.ptr, O_RDONLY) : -1;
    close(lock);
    return fd;
}

/* ---- adding ---- */

static bool add_bytes(entry *e, int64_t offset, str bytes, arena *a) {
    cache_spans present = {0};
    if (!collect(e->records, e->n_records, a, &present)) return errno = ENOMEM, false;
    if (cache_spans_cover(&present, offset, (int64_t)bytes.len)) return true; /* another one was quicker */
    map_record r = {.offset = offset, .length = (int64_t)bytes.len, .bytes_sum = sum_of(bytes)};
    return cache_write_at(e->data, bytes.ptr, bytes.len, offset) && append_record(e, e->n_records, r);
}

silt_status cache_entry_add(const cache_folder *f, const cache_key *k, int64_t offset, str bytes, silt_error *err) {
    arena *a = arena_new();
    if (!a) return error_no_memory(err);
    entry e = {.folder = f, .key = k, .map = -1, .data = -1, .arena = a};
    bool ok = entry_open(&e) && add_bytes(&e, offset, bytes, a);
    int saved = errno;
    entry_close(&e);
    arena_free(a);
    return ok ? SILT_OK : cache_folder_failure(f, saved, "write", err);
}
