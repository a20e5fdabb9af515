/*
 * Arenas: a list of blocks filled from the front, and a list of calls to make at the end.
 *
 * Blocks double from 4 KiB up to 1 MiB, so that a small operation costs one malloc and a large one few; a request larger than
 * a quarter of the next block gets a block of its own, so that it does not waste the rest of the current one. The newest
 * allocation can grow in place, which makes ARENA_PUSH on one array linear.
 */
#include "base/arena.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ALIGNMENT   ((size_t)16)
#define FIRST_BLOCK ((size_t)4096)
#define LAST_BLOCK  ((size_t)1 << 20)

typedef struct block block;
struct block {
    block *next;
    size_t size; /* bytes behind the header */
    size_t used;
    size_t padding_; /* keeps the data 16-byte aligned */
};

typedef struct deferred deferred;
struct deferred {
    deferred *next;
    void (*fn)(void *ctx);
    void *ctx;
};

struct arena {
    block *current; /* allocations come from here; older blocks follow */
    block *large;   /* one allocation each */
    deferred *deferred;
    size_t next_block;
    size_t bytes;
    uint32_t number;
};

_Static_assert(sizeof(block) % 16 == 0, "block data must be 16-byte aligned");

static char *block_data(block *b) { return (char *)(b + 1); }

static block *block_new(arena *a, size_t size) {
    if (size > SIZE_MAX - sizeof(block)) return NULL;
    block *b = malloc(sizeof(block) + size);
    if (!b) return NULL;
    *b = (block){.size = size};
    a->bytes += sizeof(block) + size;
    return b;
}

static void block_free_all(arena *a, block *b) {
    while (b) {
        block *next = b->next;
        a->bytes -= sizeof(block) + b->size;
        free(b);
        b = next;
    }
}

arena *arena_new(void) {
    arena *a = malloc(sizeof *a);
    if (!a) return NULL;
    *a = (arena){.next_block = FIRST_BLOCK, .bytes = sizeof *a};
    return a;
}

static void run_deferred(arena *a) {
    while (a->deferred) { /* popped first: a call may defer another one */
        deferred *d = a->deferred;
        a->deferred = d->next;
        d->fn(d->ctx);
    }
}

void arena_free(arena *a) {
    if (!a) return;
    run_deferred(a);
    block_free_all(a, a->current);
    block_free_all(a, a->large);
    free(a);
}

void arena_reset(arena *a) {
    run_deferred(a);
    block_free_all(a, a->large);
    a->large = NULL;
    if (a->current) {
        block_free_all(a, a->current->next);
        a->current->next = NULL;
        a->current->used = 0;
    }
}

void *arena_alloc(arena *a, size_t size) {
    if (size > SIZE_MAX - ALIGNMENT) return NULL;
    size = size == 0 ? ALIGNMENT : (size + ALIGNMENT - 1) & ~(ALIGNMENT - 1);
    block *b = a->current;
    if (!b || b->size - b->used < size) {
        if (size > a->next_block / 4) {
            b = block_new(a, size);
            if (!b) return NULL;
            b->used = size;
            b->next = a->large;
            a->large = b;
            return block_data(b);
        }
        b = block_new(a, a->next_block);
        if (!b) return NULL;
        if (a->next_block < LAST_BLOCK) a->next_block *= 2;
        b->next = a->current;
        a->current = b;
    }
    void *p = block_data(b) + b->used;
    b->used += size;
    return p;
}

void *arena_calloc(arena *a, size_t n, size_t size) {
    size_t total;
    if (__builtin_mul_overflow(n, size, &total)) return NULL;
    void *p = arena_alloc(a, total);
    if (p) memset(p, 0, total);
    return p;
}

void *arena_grow(arena *a, void *old, size_t old_size, size_t new_size) {
    if (new_size > SIZE_MAX - ALIGNMENT) return NULL;
    block *b = a->current;
    size_t old_rounded = (old_size + ALIGNMENT - 1) & ~(ALIGNMENT - 1);
    size_t new_rounded = (new_size + ALIGNMENT - 1) & ~(ALIGNMENT - 1);
    if (old && old_size > 0 && new_size >= old_size && b && b->used >= old_rounded &&
        (char *)old == block_data(b) + b->used - old_rounded && b->size - b->used >= new_rounded - old_rounded) {
        b->used += new_rounded - old_rounded;
        return old;
    }
    void *p = arena_alloc(a, new_size);
    if (p && old && old_size > 0) memcpy(p, old, old_size < new_size ? old_size : new_size);
    return p;
}

bool arena_grow_array_(arena *a, void **items, size_t count, size_t *capacity, size_t item_size) {
    size_t wanted = *capacity < 4 ? 8 : *capacity * 2;
    size_t old_size, new_size;
    if (wanted < *capacity || __builtin_mul_overflow(*capacity, item_size, &old_size) ||
        __builtin_mul_overflow(wanted, item_size, &new_size))
        return false;
    void *p = arena_grow(a, count ? *items : NULL, count ? old_size : 0, new_size);
    if (!p) return false;
    *items = p;
    *capacity = wanted;
    return true;
}

bool arena_defer(arena *a, void (*fn)(void *ctx), void *ctx) {
    deferred *d = arena_alloc(a, sizeof *d);
    if (!d) return false;
    *d = (deferred){.next = a->deferred, .fn = fn, .ctx = ctx};
    a->deferred = d;
    return true;
}

uint32_t arena_number(arena *a) { return ++a->number; }

size_t arena_bytes(const arena *a) { return a->bytes; }

char *arena_cstr(arena *a, str s) {
    if (s.len == SIZE_MAX) return NULL;
    char *p = arena_alloc(a, s.len + 1);
    if (!p) return NULL;
    if (s.len > 0) memcpy(p, s.ptr, s.len);
    p[s.len] = '\0';
    return p;
}

str arena_str(arena *a, str s) {
    char *p = arena_cstr(a, s);
    return p ? (str){p, s.len} : STR_NULL;
}

str arena_vprintf(arena *a, const char *format, va_list args) {
    va_list again;
    va_copy(again, args);
    char small[256];
    int n = vsnprintf(small, sizeof small, format, args);
    str out = STR_NULL;
    if (n >= 0 && (size_t)n < sizeof small) {
        out = arena_str(a, (str){small, (size_t)n});
    } else if (n >= 0) {
        char *p = arena_alloc(a, (size_t)n + 1);
        if (p) {
            vsnprintf(p, (size_t)n + 1, format, again);
            out = (str){p, (size_t)n};
        }
    }
    va_end(again);
    return out;
}

str arena_printf(arena *a, const char *format, ...) {
    va_list args;
    va_start(args, format);
    str out = arena_vprintf(a, format, args);
    va_end(args);
    return out;
}
