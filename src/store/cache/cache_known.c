/*
 * What listings and stats told of the files of logs, so that reading one that was just listed needs no request to learn whether what is kept of it is still it. Only files of logs are
 * remembered: those are written once (but for _last_checkpoint), small, and read again and again, first whole, later their statistics.
 *
 * Forgotten as soon as this store writes or removes a path, and all at once when there are too many.
 */
#include <stdlib.h>

#include "base/uri.h"
#include "store/cache/cache.h"

#define MAX_KNOWN 131072

typedef struct known {
    char *path; /* owned; NULL: free. The tag follows its NUL */
    uint64_t hash;
    int64_t size;
    const char *tag;
} known;

struct cache_known {
    pthread_mutex_t lock;
    known *items; /* open addressing; under lock, as below */
    size_t capacity, count;
};

cache_known *cache_known_new(void) {
    cache_known *k = calloc(1, sizeof *k);
    if (k) pthread_mutex_init(&k->lock, NULL);
    return k;
}

static void clear(cache_known *k) {
    for (size_t i = 0; i < k->capacity; i++) free(k->items[i].path);
    free(k->items);
    k->items = NULL;
    k->capacity = k->count = 0;
}

void cache_known_free(cache_known *k) {
    if (!k) return;
    clear(k);
    pthread_mutex_destroy(&k->lock);
    free(k);
}

static bool is_written_once(str path) {
    str name = path_name(path);
    return name.len && name.ptr[0] != '_' && name.ptr[0] != '.' && str_find(path, STR("/_delta_log/")) != SIZE_MAX;
}

/* The slot of the path, or the free one where it would be. */
static known *slot_of(const cache_known *k, str path, uint64_t hash) {
    for (size_t i = hash & (k->capacity - 1);; i = (i + 1) & (k->capacity - 1)) {
        known *s = &k->items[i];
        if (!s->path || (s->hash == hash && str_eqz(path, s->path))) return s;
    }
}

static bool grow(cache_known *k) {
    if (k->count * 2 < k->capacity) return true;
    if (k->count >= MAX_KNOWN) clear(k);
    cache_known larger = {.capacity = k->capacity ? k->capacity * 2 : 256};
    larger.items = calloc(larger.capacity, sizeof *larger.items);
    if (!larger.items) return false;
    for (size_t i = 0; i < k->capacity; i++)
        if (k->items[i].path) *slot_of(&larger, str_of(k->items[i].path), k->items[i].hash) = k->items[i];
    free(k->items);
    k->items = larger.items;
    k->capacity = larger.capacity;
    return true;
}

static void put_locked(cache_known *k, str path, int64_t size, str tag) {
    if (!grow(k)) return;
    char *copy = malloc(path.len + tag.len + 2);
    if (!copy) return;
    memcpy(copy, path.ptr, path.len);
    copy[path.len] = '\0';
    memcpy(copy + path.len + 1, tag.ptr, tag.len);
    copy[path.len + 1 + tag.len] = '\0';
    uint64_t hash = str_hash(path);
    known *s = slot_of(k, path, hash);
    k->count += s->path == NULL;
    free(s->path);
    *s = (known){copy, hash, size, copy + path.len + 1};
}

str cache_tag_of(const store_entry *e, arena *a) { return str_is_null(e->tag) ? arena_printf(a, "%lld", (long long)e->modified_ms) : e->tag; }

void cache_known_clear(cache_known *k) {
    pthread_mutex_lock(&k->lock);
    clear(k);
    pthread_mutex_unlock(&k->lock);
}

void cache_known_tell(cache_known *k, const store_entry *entries, size_t n) {
    arena *a = arena_new();
    size_t skip = n > MAX_KNOWN / 2 ? n - MAX_KNOWN / 2 : 0; /* the newest are those that will be read */
    entries += skip;
    n -= skip;
    pthread_mutex_lock(&k->lock);
    for (size_t i = 0; a && i < n; i++) {
        if (entries[i].is_dir || !is_written_once(entries[i].path)) continue;
        arena_reset(a);
        str tag = cache_tag_of(&entries[i], a);
        if (!str_is_null(tag)) put_locked(k, entries[i].path, entries[i].size_bytes, tag);
    }
    pthread_mutex_unlock(&k->lock);
    arena_free(a);
}

void cache_known_forget(cache_known *k, str path) {
    if (!is_written_once(path)) return;
    pthread_mutex_lock(&k->lock);
    known *s = k->capacity ? slot_of(k, path, str_hash(path)) : NULL;
    if (s && s->path) s->size = -1; /* the slot stays, since others may have been moved behind it */
    pthread_mutex_unlock(&k->lock);
}

bool cache_known_find(cache_known *k, str path, arena *a, int64_t *out_size, str *out_tag) {
    if (!is_written_once(path)) return false;
    pthread_mutex_lock(&k->lock);
    const known *s = k->capacity ? slot_of(k, path, str_hash(path)) : NULL;
    bool found = s && s->path && s->size >= 0;
    if (found) *out_size = s->size;
    if (found) *out_tag = arena_str(a, str_of(s->tag));
    pthread_mutex_unlock(&k->lock);
    return found && !str_is_null(*out_tag);
}
