/* Fetching small files of logs ahead of their reading, many at once, into their packs. */
#include <stdlib.h>

#include "store/cache/cache.h"

#define BATCH_BYTES ((int64_t)16 << 20) /* in memory at once */

typedef struct batch {
    const store_sparse **files; /* those that are missing, as many as fit */
    buf *bytes;
    store_range *ranges;
    cache_packed *packed;
    size_t count;
} batch;

static bool make_room(batch *b, size_t n, arena *a) {
    b->files = ARENA_ARRAY(a, n, const store_sparse *);
    b->bytes = ARENA_ARRAY(a, n, buf);
    b->ranges = ARENA_ARRAY(a, n, store_range);
    b->packed = ARENA_ARRAY(a, n, cache_packed);
    return b->files && b->bytes && b->ranges && b->packed;
}

/* From *next on. */
static void fill(batch *b, const store_sparse *files, const bool *there, size_t n, size_t *next) {
    int64_t bytes = 0;
    for (b->count = 0; *next < n && bytes < BATCH_BYTES; ++*next) {
        if (there[*next]) continue;
        bytes += files[*next].size_bytes;
        b->files[b->count++] = &files[*next];
    }
    for (size_t i = 0; i < b->count; i++) {
        buf_init(&b->bytes[i], (size_t)b->files[i]->size_bytes + 1);
        b->ranges[i] = (store_range){.path = b->files[i]->path, .length = b->files[i]->size_bytes, .out = &b->bytes[i]};
    }
}

/* What did not come, or came with another length than was told, is left to who reads it. */
static size_t take_whole(batch *b, cache_counts *out) {
    size_t n = 0;
    for (size_t i = 0; i < b->count; i++) {
        if (b->ranges[i].status != SILT_OK || (int64_t)b->bytes[i].len != b->files[i]->size_bytes) continue;
        b->packed[n++] = (cache_packed){b->files[i], buf_str(&b->bytes[i])};
        out->bytes_fetched += b->bytes[i].len;
    }
    out->misses += b->count;
    return n;
}

silt_status cache_ahead(cache_packs *all, store *inner, int in_flight, const cache_folder *f, str identity, const store_sparse *files, size_t n, const cancel_token *cancel, cache_counts *out, silt_error *err) {
    batch b = {0};
    size_t next = 0;
    silt_status status = SILT_OK;
    arena *a = arena_new();
    bool *there = a ? ARENA_ARRAY(a, n + 1, bool) : NULL;
    if (!there || !make_room(&b, n + 1, a)) status = error_no_memory(err);
    if (status == SILT_OK) cache_packs_look(all, f, identity, files, n, there);
    while (status == SILT_OK && next < n) {
        store_read_options o = {.in_flight = inner->ops->read_many ? 0 : in_flight, .cancel = cancel, .keep_going = true};
        fill(&b, files, there, n, &next);
        if (b.count == 0) break;
        status = store_read_many(inner, b.ranges, b.count, &o, err);
        size_t whole = take_whole(&b, out);
        if (whole && !cache_packs_add(all, f, identity, b.packed, whole)) next = n; /* no room: then nothing more is kept */
        for (size_t i = 0; i < b.count; i++) buf_dispose(&b.bytes[i]);
    }
    for (size_t i = 0; there && i < n; i++) {
        out->hits += there[i];
        if (there[i]) out->bytes_hit += (uint64_t)files[i].size_bytes;
    }
    out->bytes += (int64_t)out->bytes_fetched;
    arena_free(a);
    return status;
}
