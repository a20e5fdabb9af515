/*
 * 64-bit row bitmaps over croaring's 32-bit ones, kept in a sorted array by high word (rows beyond 2^32 are rare, so that the
 * array has mostly one item). Delta protocol, "Deletion Vector Format": portable 64-bit roaring behind a magic number.
 *
 * croaring 0.2.66 checks bounds while it reads, but not that a container is what it claims to be (sorted, of the stated
 * cardinality); such a bitmap misbehaves later. So the bytes are checked here in full first (portable_size), then handed over.
 */
#include "table/bitmap.h"

#include <roaring/roaring.h>
#include <stdlib.h>

#define MAGIC            1681511377u
#define MAX_KEY          0x7fffffffu /* the protocol keeps the sign bit of keys clear */
#define COOKIE_NO_RUNS   12346u
#define COOKIE_RUNS      12347u
#define MAX_ARRAY        4096u
#define BITSET_BYTES     8192u
#define NO_OFFSETS_BELOW 4u /* with runs, a bitmap of fewer containers has no offset table */

typedef struct bucket {
    uint32_t key;
    roaring_bitmap_t *low;
} bucket;

struct bitmap {
    bucket *items; /* ascending by key */
    size_t count, capacity;
};

bitmap *bitmap_new(void) { return calloc(1, sizeof(bitmap)); }

void bitmap_free(bitmap *b) {
    if (!b) return;
    for (size_t i = 0; i < b->count; i++) roaring_bitmap_free(b->items[i].low);
    free(b->items);
    free(b);
}

/* Index of the first bucket with a key >= key. */
static size_t lower_bound(const bitmap *b, uint32_t key) {
    size_t lo = 0, hi = b->count;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (b->items[mid].key < key)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo;
}

static const bucket *find(const bitmap *b, uint32_t key) {
    size_t i = lower_bound(b, key);
    return i < b->count && b->items[i].key == key ? &b->items[i] : NULL;
}

/* Takes `low` over on success. */
static bool insert(bitmap *b, size_t at, uint32_t key, roaring_bitmap_t *low) {
    if (!low) return false;
    if (b->count == b->capacity) {
        size_t capacity = b->capacity ? b->capacity * 2 : 4;
        bucket *items = realloc(b->items, capacity * sizeof *items);
        if (!items) return false;
        b->items = items;
        b->capacity = capacity;
    }
    memmove(&b->items[at + 1], &b->items[at], (b->count - at) * sizeof *b->items);
    b->items[at] = (bucket){key, low};
    b->count++;
    return true;
}

bool bitmap_add_new(bitmap *b, uint64_t row, bool *out_added) {
    uint32_t key = (uint32_t)(row >> 32);
    size_t i = lower_bound(b, key);
    if (i == b->count || b->items[i].key != key) {
        roaring_bitmap_t *low = roaring_bitmap_create();
        if (!insert(b, i, key, low)) {
            if (low) roaring_bitmap_free(low);
            return false;
        }
    }
    *out_added = roaring_bitmap_add_checked(b->items[i].low, (uint32_t)row);
    return true;
}

bool bitmap_add(bitmap *b, uint64_t row) {
    bool added;
    return bitmap_add_new(b, row, &added);
}

bool bitmap_contains(const bitmap *b, uint64_t row) {
    const bucket *found = find(b, (uint32_t)(row >> 32));
    return found && roaring_bitmap_contains(found->low, (uint32_t)row);
}

uint64_t bitmap_cardinality(const bitmap *b) {
    uint64_t n = 0;
    for (size_t i = 0; i < b->count; i++) n += roaring_bitmap_get_cardinality(b->items[i].low);
    return n;
}

bool bitmap_or(bitmap *into, const bitmap *other) {
    for (size_t i = 0; i < other->count; i++) {
        const bucket *from = &other->items[i];
        size_t at = lower_bound(into, from->key);
        if (at < into->count && into->items[at].key == from->key) {
            roaring_bitmap_or_inplace(into->items[at].low, from->low);
            continue;
        }
        roaring_bitmap_t *copy = roaring_bitmap_copy(from->low);
        if (!insert(into, at, from->key, copy)) {
            if (copy) roaring_bitmap_free(copy);
            return false;
        }
    }
    return true;
}

void bitmap_fill_live(const bitmap *b, uint64_t first, size_t n, uint8_t *out_live) {
    memset(out_live, 1, n);
    uint64_t row;
    for (uint64_t from = first; from - first < n; from = (row | UINT32_MAX) + 1) { /* one round a bucket */
        row = from;
        const bucket *found = find(b, (uint32_t)(from >> 32));
        if (!found) continue;
        roaring_uint32_iterator_t it;
        roaring_init_iterator(found->low, &it);
        if (!roaring_move_uint32_iterator_equalorlarger(&it, (uint32_t)from)) continue;
        while (it.has_value) {
            uint64_t at = ((from >> 32) << 32 | it.current_value) - first;
            if (at >= n) return;
            out_live[at] = 0;
            roaring_advance_uint32_iterator(&it);
        }
    }
}

/* Rows of one chunk lie within a few thousand: one pass over the bitmap for all is several times faster than a search for each. */
#define NEAR_ROWS 8192u

void bitmap_fill_live_at(const bitmap *b, const int64_t *rows, size_t n, uint8_t *out_live) {
    if (n == 0) return;
    int64_t low = rows[0], high = rows[0];
    for (size_t i = 1; i < n; i++) {
        low = rows[i] < low ? rows[i] : low;
        high = rows[i] > high ? rows[i] : high;
    }
    uint64_t span = (uint64_t)high - (uint64_t)low + 1;
    if (span == n && rows[0] == low && rows[n - 1] == high) { /* perhaps all of them, in order */
        size_t i = 1;
        while (i < n && rows[i] == low + (int64_t)i) i++;
        if (i == n) {
            bitmap_fill_live(b, (uint64_t)low, n, out_live);
            return;
        }
    }
    if (span > NEAR_ROWS) {
        for (size_t i = 0; i < n; i++) out_live[i] = !bitmap_contains(b, (uint64_t)rows[i]);
        return;
    }
    uint8_t live[NEAR_ROWS];
    bitmap_fill_live(b, (uint64_t)low, span, live);
    for (size_t i = 0; i < n; i++) out_live[i] = live[rows[i] - low];
}

void bitmap_fill_held_at(const bitmap *b, const int64_t *rows, size_t n, uint8_t *out_held) {
    bitmap_fill_live_at(b, rows, n, out_held);
    for (size_t i = 0; i < n; i++) out_held[i] ^= 1;
}

bool bitmap_next(const bitmap *b, uint64_t from, uint64_t *out_row) {
    uint32_t low_from = (uint32_t)from, key = (uint32_t)(from >> 32);
    for (size_t i = lower_bound(b, key); i < b->count; i++, low_from = 0) {
        roaring_uint32_iterator_t it;
        if (b->items[i].key != key) low_from = 0;
        roaring_init_iterator(b->items[i].low, &it);
        if (!roaring_move_uint32_iterator_equalorlarger(&it, low_from)) continue;
        *out_row = (uint64_t)b->items[i].key << 32 | it.current_value;
        return true;
    }
    return false;
}

/* ---- the portable format ---- */

/* Bytes not read yet. */
typedef struct reader {
    const uint8_t *p;
    size_t left;
} reader;

static bool take(reader *r, size_t n, const uint8_t **out) {
    if (n > r->left) return false;
    *out = r->p;
    r->p += n;
    r->left -= n;
    return true;
}

static uint32_t le16(const uint8_t *p) { return (uint32_t)p[0] | (uint32_t)p[1] << 8; }
static uint32_t le32(const uint8_t *p) { return le16(p) | le16(p + 2) << 16; }
static uint64_t le64(const uint8_t *p) { return le32(p) | (uint64_t)le32(p + 4) << 32; }

static const char *const cut_short = "the bytes end too early";

static const char *check_array(reader *r, uint32_t cardinality) {
    const uint8_t *p;
    if (!take(r, cardinality * 2, &p)) return cut_short;
    for (uint32_t i = 1; i < cardinality; i++)
        if (le16(p + 2 * i) <= le16(p + 2 * (i - 1))) return "an array container is not in ascending order";
    return NULL;
}

static const char *check_bitset(reader *r, uint32_t cardinality) {
    const uint8_t *p;
    uint32_t n = 0;
    if (!take(r, BITSET_BYTES, &p)) return cut_short;
    for (size_t i = 0; i < BITSET_BYTES; i += 8) n += (uint32_t)__builtin_popcountll(le64(p + i));
    return n == cardinality ? NULL : "a bitset container has another cardinality than stated";
}

static const char *check_runs(reader *r) {
    const uint8_t *p;
    uint32_t next = 0; /* where the next run may start */
    if (!take(r, 2, &p)) return cut_short;
    uint32_t n = le16(p);
    if (n == 0) return "a run container is empty";
    if (!take(r, (size_t)n * 4, &p)) return cut_short;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t start = le16(p + 4 * i), last = start + le16(p + 4 * i + 2);
        if (start < next || last > UINT16_MAX) return "a run container's runs overlap or run over";
        next = last + 1;
    }
    return NULL;
}

/* Check one 32-bit bitmap at the reader and step over it; NULL or what is wrong with it. */
static const char *check_bitmap32(reader *r) {
    const uint8_t *p, *run_flags = NULL, *header;
    if (!take(r, 4, &p)) return cut_short;
    uint32_t cookie = le32(p), n;
    if ((cookie & 0xffff) == COOKIE_RUNS) {
        n = (cookie >> 16) + 1;
        if (!take(r, (n + 7) / 8, &run_flags)) return cut_short;
    } else {
        if (cookie != COOKIE_NO_RUNS) return "a roaring bitmap has an unknown cookie";
        if (!take(r, 4, &p)) return cut_short;
        n = le32(p);
        if (n > UINT16_MAX + 1u) return "a roaring bitmap has too many containers";
    }
    if (!take(r, (size_t)n * 4, &header)) return cut_short;
    bool has_offsets = !run_flags || n >= NO_OFFSETS_BELOW;
    if (has_offsets && !take(r, (size_t)n * 4, &p)) return cut_short; /* redundant: the containers stand in order */

    for (uint32_t i = 0; i < n; i++) {
        const uint8_t *description = header + 4 * (size_t)i;
        if (i && le16(description) <= le16(description - 4)) return "container keys are not in ascending order";
        uint32_t cardinality = le16(description + 2) + 1;
        const char *wrong;
        if (run_flags && run_flags[i / 8] >> (i % 8) & 1)
            wrong = check_runs(r);
        else
            wrong = cardinality <= MAX_ARRAY ? check_array(r, cardinality) : check_bitset(r, cardinality);
        if (wrong) return wrong;
    }
    return NULL;
}

/* Reads the buckets; *out_wrong says what is wrong with the bytes, false without it means exhaustion. */
static bool parse_buckets(reader *r, bitmap *b, const char **out_wrong) {
    const uint8_t *p;
    *out_wrong = cut_short;
    if (!take(r, 12, &p)) return false;
    *out_wrong = "unknown magic number";
    if (le32(p) != MAGIC) return false;
    uint64_t n = le64(p + 4);
    *out_wrong = "it claims more groups than its bytes can hold";
    if (n > r->left / 8) return false;

    int64_t previous = -1;
    for (uint64_t i = 0; i < n; i++) {
        *out_wrong = cut_short;
        if (!take(r, 4, &p)) return false;
        uint32_t key = le32(p);
        *out_wrong = "group keys are not in ascending order, or too large";
        if (key > MAX_KEY || (int64_t)key <= previous) return false;
        previous = key;

        const char *start = (const char *)r->p;
        if ((*out_wrong = check_bitmap32(r))) return false;
        size_t size = (size_t)((const char *)r->p - start);
        roaring_bitmap_t *low = roaring_bitmap_portable_deserialize_safe(start, size);
        if (!insert(b, b->count, key, low)) {
            if (low) roaring_bitmap_free(low);
            return false;
        }
    }
    *out_wrong = r->left ? "bytes follow its last group" : NULL;
    return r->left == 0;
}

silt_status bitmap_parse_portable(str bytes, bitmap **out, silt_error *err) {
    reader r = {(const uint8_t *)bytes.ptr, bytes.len};
    const char *wrong = NULL;
    bitmap *b = bitmap_new();
    if (!b) return error_no_memory(err);
    if (parse_buckets(&r, b, &wrong)) {
        *out = b;
        return SILT_OK;
    }
    bitmap_free(b);
    if (!wrong) return error_no_memory(err);
    silt_status s = err_DELTA_DELETION_VECTOR_INVALID(err, STR("a data file"), wrong);
    error_detail(err, "%s", wrong);
    return s;
}

static void append_le(buf *out, uint64_t v, int bytes) {
    for (int i = 0; i < bytes; i++) buf_append_char(out, (char)(v >> (8 * i) & 0xff));
}

/* Runs where they are smaller, as Spark does; on a copy, since the bitmap may be shared. */
static bool write_bucket(const bucket *from, buf *out) {
    roaring_bitmap_t *copy = roaring_bitmap_copy(from->low);
    if (!copy) return false;
    roaring_bitmap_run_optimize(copy);
    size_t size = roaring_bitmap_portable_size_in_bytes(copy);
    append_le(out, from->key, 4);
    if (buf_reserve(out, size)) {
        roaring_bitmap_portable_serialize(copy, out->ptr + out->len);
        out->len += size;
    }
    roaring_bitmap_free(copy);
    return buf_ok(out);
}

silt_status bitmap_write_portable(const bitmap *b, buf *out, silt_error *err) {
    append_le(out, MAGIC, 4);
    append_le(out, b->count, 8);
    for (size_t i = 0; i < b->count; i++)
        if (!write_bucket(&b->items[i], out)) return error_no_memory(err);
    return buf_ok(out) ? SILT_OK : error_no_memory(err);
}
