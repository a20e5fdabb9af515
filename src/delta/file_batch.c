/* Columns of file actions: see the header. The key of a row is a 64-bit hash computed once, in the thread that parses; replay
 * compares keys first and bytes only where they are equal. */
#include "delta/file_batch.h"

#include <stdlib.h>

/* ---- canonical paths and keys ---- */

static int hex_digit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

bool path_is_plain(str path) {
    if (path.len == 0) return true;
    if (memchr(path.ptr, '%', path.len)) return false;
    if (path.len > 5 && memcmp(path.ptr, "file:", 5) == 0) return false;
    const char *p = path.ptr, *end = path.ptr + path.len;
    while ((p = memchr(p, '/', (size_t)(end - p))) != NULL) {
        if (++p == end) break;
        if (*p == '/') return false;
    }
    return true;
}

/* Behind "scheme:" of a URI, 0 when there is none. */
static size_t scheme_end(str path) {
    size_t i = 0;
    while (i < path.len && ((path.ptr[i] | 32) >= 'a' && (path.ptr[i] | 32) <= 'z')) i++;
    while (i > 0 && i < path.len &&
           ((path.ptr[i] >= '0' && path.ptr[i] <= '9') || path.ptr[i] == '+' || path.ptr[i] == '-' || path.ptr[i] == '.' ||
            ((path.ptr[i] | 32) >= 'a' && (path.ptr[i] | 32) <= 'z')))
        i++;
    return i > 1 && i + 1 < path.len && path.ptr[i] == ':' && path.ptr[i + 1] == '/' ? i + 1 : 0;
}

/* Walks the canonical text character by character, so that comparing and hashing need no memory. */
typedef struct canonical {
    str path;
    size_t at, verbatim; /* the next byte; up to `verbatim` they stand for themselves ("scheme://") */
    bool after_slash;
} canonical;

static canonical canonical_start(str path) {
    canonical c = {.path = path};
    size_t i = scheme_end(path);
    if (i == 5 && memcmp(path.ptr, "file:", 5) == 0) {
        if (path.len - i >= 2 && path.ptr[i + 1] == '/') { /* file://authority/path: only the local host is meant */
            i += 2;
            while (i < path.len && path.ptr[i] != '/') i++;
        }
        c.at = i;
    } else if (i > 0) {
        c.verbatim = i + 1 < path.len && path.ptr[i] == '/' && path.ptr[i + 1] == '/' ? i + 2 : i;
    }
    return c;
}

/* The next character, -1 at the end. */
static int canonical_next(canonical *c) {
    while (c->at < c->path.len) {
        char ch = c->path.ptr[c->at++];
        if (c->at <= c->verbatim) return (unsigned char)ch;
        if (ch == '%' && c->at + 1 < c->path.len) {
            int hi = hex_digit(c->path.ptr[c->at]), lo = hex_digit(c->path.ptr[c->at + 1]);
            if (hi >= 0 && lo >= 0) {
                c->at += 2;
                c->after_slash = hi * 16 + lo == '/';
                return hi * 16 + lo;
            }
        }
        if (ch == '/' && c->after_slash) continue;
        c->after_slash = ch == '/';
        return (unsigned char)ch;
    }
    return -1;
}

size_t path_canonical(str path, char *out) {
    canonical c = canonical_start(path);
    size_t n = 0;
    for (int ch; (ch = canonical_next(&c)) >= 0;) out[n++] = (char)ch;
    return n;
}

static inline uint64_t fold(uint64_t a, uint64_t b) {
    unsigned __int128 p = (unsigned __int128)a * b;
    return (uint64_t)p ^ (uint64_t)(p >> 64);
}

static uint64_t hash_bytes(const char *p, size_t len, uint64_t seed) {
    uint64_t h = seed ^ fold(len ^ 0x2d358dccaa6c78a5u, 0x8bb84b93962eacc9u), a, b;
    for (; len >= 16; len -= 16, p += 16) {
        memcpy(&a, p, 8);
        memcpy(&b, p + 8, 8);
        h = fold(a ^ 0x4b33a62ed433d4a3u, b ^ h);
    }
    a = b = 0;
    if (len >= 8) {
        memcpy(&a, p, 8);
        memcpy(&b, p + len - 8, 8);
    } else if (len > 0) {
        memcpy(&a, p, len);
    }
    return fold(a ^ 0x2d358dccaa6c78a5u, fold(b ^ 0x9e3779b97f4a7c15u, h ^ 0x4b33a62ed433d4a3u));
}

/* In steps of a fixed size, so that the plain and the made-up canonical text give the same key without a buffer for the whole. */
#define HASH_STEP 512

static uint64_t hash_path(str path) {
    uint64_t h = 0;
    if (path_is_plain(path)) {
        for (; path.len > HASH_STEP; path = str_slice(path, HASH_STEP, path.len)) h = hash_bytes(path.ptr, HASH_STEP, h);
        return hash_bytes(path.ptr, path.len, h);
    }
    char step[HASH_STEP];
    canonical c = canonical_start(path);
    size_t n = 0;
    for (int ch; (ch = canonical_next(&c)) >= 0; step[n++] = (char)ch)
        if (n == HASH_STEP) {
            h = hash_bytes(step, n, h);
            n = 0;
        }
    return hash_bytes(step, n, h);
}

uint64_t file_key(str path, const delta_dv *dv) {
    uint64_t h = hash_path(path);
    if (!dv || dv->storage == 0) return h;
    return hash_bytes(dv->path_or_inline.ptr, dv->path_or_inline.len,
                      h ^ fold((uint64_t)(unsigned char)dv->storage << 32 | (uint32_t)dv->offset, 0x8bb84b93962eacc9u));
}

static bool same_path(str a, bool a_plain, str b, bool b_plain) {
    if (str_eq(a, b)) return true;
    if (a_plain && b_plain) return false;
    canonical x = canonical_start(a), y = canonical_start(b);
    for (;;) {
        int c = canonical_next(&x), d = canonical_next(&y);
        if (c != d) return false;
        if (c < 0) return true;
    }
}

static bool same_dv(const delta_dv *p, const delta_dv *q) {
    return p->storage == q->storage &&
           (p->storage == 0 || (p->offset == q->offset && str_eq(p->path_or_inline, q->path_or_inline)));
}

bool file_batch_same_file(const file_batch *a, uint32_t row_a, const file_batch *b, uint32_t row_b) {
    const file_row *x = &a->rows[row_a], *y = &b->rows[row_b];
    if (x->dv || y->dv) {
        delta_dv p = file_batch_dv(a, row_a), q = file_batch_dv(b, row_b);
        if (!same_dv(&p, &q)) return false;
    }
    return same_path(file_batch_path(a, row_a), x->flags & ROW_PLAIN_PATH, file_batch_path(b, row_b), y->flags & ROW_PLAIN_PATH);
}

bool file_batch_is_file(const file_batch *b, uint32_t row, str path, const delta_dv *dv) {
    delta_dv own = file_batch_dv(b, row);
    return same_dv(&own, dv) &&
           same_path(file_batch_path(b, row), b->rows[row].flags & ROW_PLAIN_PATH, path, path_is_plain(path));
}

/* ---- life ---- */

file_batch *file_batch_new(void) {
    file_batch *b = calloc(1, sizeof *b);
    if (!b) return NULL;
    b->refs = 1;
    b->last_partition = UINT32_MAX;
    b->arena = arena_new();
    if (!b->arena) {
        free(b);
        return NULL;
    }
    return b;
}

file_batch *file_batch_retain(const file_batch *b) {
    file_batch *m = (file_batch *)(uintptr_t)b;
    __atomic_add_fetch(&m->refs, 1, __ATOMIC_RELAXED);
    return m;
}

void file_batch_release(file_batch *b) {
    if (!b || __atomic_sub_fetch(&b->refs, 1, __ATOMIC_ACQ_REL) != 0) return;
    free(b->rows);
    free(b->keys);
    free(b->extras);
    free(b->strings);
    free(b->dvs);
    free(b->partitions);
    free(b->partition_keys);
    free(b->partition_index);
    free(b->sources);
    arena_free(b->arena);
    free(b);
}

static void shrink(void **p, size_t size) {
    if (size == 0) {
        free(*p);
        *p = NULL;
        return;
    }
    void *smaller = realloc(*p, size);
    if (smaller) *p = smaller;
}

void file_batch_freeze(file_batch *b) {
    free(b->partition_index);
    b->partition_index = NULL;
    b->partition_index_capacity = 0;
    free(b->partition_keys);
    b->partition_keys = NULL;
    shrink((void **)&b->rows, b->n_rows * sizeof *b->rows);
    shrink((void **)&b->keys, b->n_rows * sizeof *b->keys);
    if (b->extras) shrink((void **)&b->extras, b->n_rows * sizeof *b->extras);
    shrink((void **)&b->strings, b->strings_len);
    b->capacity = b->n_rows;
    b->strings_capacity = b->strings_len;
}

/* ---- filling ---- */

/* Make room for one more item of a malloc'd array. */
static bool grow(void **items, uint32_t count, uint32_t *capacity, size_t item_size, uint32_t first) {
    if (count < *capacity) return true;
    if (count >= UINT32_MAX / 2) return false;
    uint32_t bigger = *capacity ? *capacity * 2 : first;
    void *p = realloc(*items, bigger * item_size);
    if (!p) return false;
    *items = p;
    *capacity = bigger;
    return true;
}

bool file_batch_add_source(file_batch *b, str path, int64_t version, bool is_parquet) {
    uint32_t capacity = (uint32_t)b->sources_capacity;
    if (!grow((void **)&b->sources, (uint32_t)b->n_sources, &capacity, sizeof *b->sources, 4)) return false;
    b->sources_capacity = capacity;
    str copy = arena_str(b->arena, path);
    if (!copy.ptr) return false;
    b->sources[b->n_sources++] =
        (batch_source){.path = copy, .version = version, .is_parquet = is_parquet, .first_row = b->n_rows};
    return true;
}

bool file_batch_string(file_batch *b, str s, uint32_t *out_offset) {
    size_t need = b->strings_len + s.len;
    if (need > UINT32_MAX) return false;
    if (need > b->strings_capacity) {
        size_t bigger = b->strings_capacity ? b->strings_capacity * 2 : 4096;
        while (bigger < need) bigger *= 2;
        char *p = realloc(b->strings, bigger);
        if (!p) return false;
        b->strings = p;
        b->strings_capacity = bigger;
    }
    if (s.len) memcpy(b->strings + b->strings_len, s.ptr, s.len);
    *out_offset = (uint32_t)b->strings_len;
    b->strings_len = need;
    return true;
}

static bool grow_rows(file_batch *b) {
    if (b->n_rows < b->capacity) return true;
    if (b->capacity >= UINT32_MAX / 2) return false;
    uint32_t bigger = b->capacity ? b->capacity * 2 : 64;
    file_row *rows = realloc(b->rows, bigger * sizeof *rows);
    if (!rows) return false;
    b->rows = rows;
    uint64_t *keys = realloc(b->keys, bigger * sizeof *keys);
    if (!keys) return false;
    b->keys = keys;
    if (b->extras) {
        file_extra *extras = realloc(b->extras, bigger * sizeof *extras);
        if (!extras) return false;
        b->extras = extras;
    }
    b->capacity = bigger;
    return true;
}

static const file_extra no_extra = {.base_row_id = -1, .default_row_commit_version = -1};

static bool is_extra(const file_extra *e) {
    return e->base_row_id != -1 || e->default_row_commit_version != -1 || e->tags_len || e->clustering_len;
}

bool file_batch_push(file_batch *b, const file_row *row, const file_extra *extra) {
    if (!grow_rows(b)) return false;
    if (extra && is_extra(extra) && !b->extras) {
        b->extras = malloc(b->capacity * sizeof *b->extras);
        if (!b->extras) return false;
        for (uint32_t i = 0; i < b->n_rows; i++) b->extras[i] = no_extra;
    }
    if (b->extras) b->extras[b->n_rows] = extra ? *extra : no_extra;
    file_row *r = &b->rows[b->n_rows];
    *r = *row;
    if (path_is_plain(file_batch_text(b, r->path, r->path_len))) r->flags |= ROW_PLAIN_PATH;
    if (r->flags & ROW_REMOVE) b->n_removes++;
    delta_dv dv = file_batch_dv(b, b->n_rows);
    b->keys[b->n_rows] = file_key(file_batch_text(b, r->path, r->path_len), &dv);
    b->n_rows++;
    return true;
}

bool file_batch_push_dv(file_batch *b, const batch_dv *dv, uint32_t *out_number) {
    if (!grow((void **)&b->dvs, b->n_dvs, &b->dvs_capacity, sizeof *b->dvs, 16)) return false;
    b->dvs[b->n_dvs++] = *dv;
    *out_number = b->n_dvs;
    return true;
}

static uint32_t *partition_slot(const file_batch *b, str raw) {
    uint32_t mask = b->partition_index_capacity - 1;
    uint32_t i = (uint32_t)hash_bytes(raw.ptr, raw.len, 1) & mask;
    while (b->partition_index[i] != UINT32_MAX && !str_eq(b->partition_keys[b->partition_index[i]], raw)) i = (i + 1) & mask;
    return &b->partition_index[i];
}

uint32_t file_batch_find_partition(file_batch *b, str raw) {
    if (b->last_partition != UINT32_MAX && str_eq(b->partition_keys[b->last_partition], raw)) return b->last_partition;
    if (b->n_partitions == 0) return UINT32_MAX;
    uint32_t found = *partition_slot(b, raw);
    if (found != UINT32_MAX) b->last_partition = found;
    return found;
}

static bool grow_partition_index(file_batch *b) {
    if (b->n_partitions * 2 < b->partition_index_capacity) return true;
    uint32_t bigger = b->partition_index_capacity ? b->partition_index_capacity * 2 : 16;
    uint32_t *index = malloc(bigger * sizeof *index);
    if (!index) return false;
    memset(index, 0xff, bigger * sizeof *index);
    free(b->partition_index);
    b->partition_index = index;
    b->partition_index_capacity = bigger;
    for (uint32_t i = 0; i < b->n_partitions; i++) *partition_slot(b, b->partition_keys[i]) = i;
    return true;
}

static bool same_keys(const str_map *a, const str_map *b) {
    if (a->count != b->count) return false;
    for (size_t i = 0; i < a->count; i++)
        if (!str_eq(a->keys[i], b->keys[i])) return false;
    return true;
}

/* Deep copy; the array of keys is shared with the partition before, which nearly always has the same. */
static bool copy_map(file_batch *b, const str_map *map, str_map *out) {
    out->count = map->count;
    const str_map *before = b->n_partitions ? &b->partitions[b->n_partitions - 1] : NULL;
    if (before && same_keys(before, map)) {
        out->keys = before->keys;
    } else {
        str *keys = ARENA_ARRAY(b->arena, map->count, str);
        if (!keys) return false;
        for (size_t i = 0; i < map->count; i++)
            if (!(keys[i] = arena_str(b->arena, map->keys[i])).ptr) return false;
        out->keys = keys;
    }
    str *values = ARENA_ARRAY(b->arena, map->count, str);
    if (!values) return false;
    for (size_t i = 0; i < map->count; i++)
        if (map->values[i].ptr && !(values[i] = arena_str(b->arena, map->values[i])).ptr) return false;
    out->values = values;
    return true;
}

uint32_t file_batch_add_partition(file_batch *b, str raw, const str_map *map) {
    uint32_t capacity = b->partitions_capacity;
    if (!grow((void **)&b->partition_keys, b->n_partitions, &capacity, sizeof *b->partition_keys, 4)) return UINT32_MAX;
    if (!grow((void **)&b->partitions, b->n_partitions, &b->partitions_capacity, sizeof *b->partitions, 4)) return UINT32_MAX;
    str_map copy;
    if (!copy_map(b, map, &copy)) return UINT32_MAX;
    b->partitions[b->n_partitions] = copy;
    if (!(b->partition_keys[b->n_partitions] = arena_str(b->arena, raw)).ptr) return UINT32_MAX;
    if (!grow_partition_index(b)) return UINT32_MAX;
    *partition_slot(b, b->partition_keys[b->n_partitions]) = b->n_partitions;
    b->last_partition = b->n_partitions;
    return b->n_partitions++;
}

/* ---- reading ---- */

const batch_source *file_batch_source(const file_batch *b, uint32_t row) {
    size_t lo = 0, hi = b->n_sources;
    while (hi - lo > 1) {
        size_t mid = lo + (hi - lo) / 2;
        if (b->sources[mid].first_row <= row)
            lo = mid;
        else
            hi = mid;
    }
    return &b->sources[lo];
}

delta_dv file_batch_dv(const file_batch *b, uint32_t row) {
    uint32_t number = b->rows[row].dv;
    if (number == 0) return (delta_dv){.offset = -1};
    const batch_dv *d = &b->dvs[number - 1];
    return (delta_dv){.storage = d->storage,
                      .path_or_inline = file_batch_text(b, d->path, d->path_len),
                      .offset = d->offset,
                      .size_bytes = d->size_bytes,
                      .cardinality = d->cardinality};
}

static str optional_text(const file_batch *b, uint32_t offset, uint32_t len) {
    return len ? file_batch_text(b, offset, len) : STR_NULL;
}

void file_batch_get_add(const file_batch *b, uint32_t row, delta_add *out) {
    const file_row *r = &b->rows[row];
    const file_extra *e = b->extras ? &b->extras[row] : &no_extra;
    *out = (delta_add){.path = file_batch_path(b, row),
                       .partition_values = r->flags & ROW_HAS_PARTITION ? b->partitions[r->partition] : (str_map){0},
                       .size_bytes = r->size_bytes,
                       .modification_time_ms = r->time_ms,
                       .data_change = (r->flags & ROW_DATA_CHANGE) != 0,
                       .tags = optional_text(b, e->tags, e->tags_len),
                       .dv = file_batch_dv(b, row),
                       .base_row_id = e->base_row_id,
                       .default_row_commit_version = e->default_row_commit_version,
                       .clustering_provider = optional_text(b, e->clustering, e->clustering_len)};
}

void file_batch_get_remove(const file_batch *b, uint32_t row, delta_remove *out) {
    const file_row *r = &b->rows[row];
    const file_extra *e = b->extras ? &b->extras[row] : &no_extra;
    *out = (delta_remove){.path = file_batch_path(b, row),
                          .deletion_timestamp_ms = r->time_ms,
                          .data_change = (r->flags & ROW_DATA_CHANGE) != 0,
                          .extended_file_metadata = (r->flags & ROW_EXTENDED) != 0,
                          .partition_values = r->flags & ROW_HAS_PARTITION ? b->partitions[r->partition] : (str_map){0},
                          .size_bytes = r->size_bytes,
                          .tags = optional_text(b, e->tags, e->tags_len),
                          .dv = file_batch_dv(b, row),
                          .base_row_id = e->base_row_id,
                          .default_row_commit_version = e->default_row_commit_version};
}
