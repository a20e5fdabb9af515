/**
 * Arenas: memory freed all at once. One arena per operation, a child per file or batch (arena_reset in loops).
 * Every function that may fail returns NULL on exhaustion and the caller reports SILT_NO_MEMORY (error_no_memory(err)).
 * An arena belongs to one thread at a time.
 */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include <stdarg.h>
#include <stddef.h>

#include "base/str.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct arena arena;

/** @return NULL on exhaustion. End with arena_free. */
arena *arena_new(void);
/** Runs the deferred calls, newest first, then frees everything. NULL is fine. */
void arena_free(arena *a);
/** Runs the deferred calls and makes the memory reusable; keeps one block. */
void arena_reset(arena *a);
/** Aligned to 16 bytes, not zeroed; size 0 gives a non-NULL pointer. */
void *arena_alloc(arena *a, size_t size);
/** n * size bytes, zeroed; NULL on overflow of the product too. */
void *arena_calloc(arena *a, size_t n, size_t size);
/** Grow an array taken from this arena: copies old_size bytes into a block of new_size. */
void *arena_grow(arena *a, void *old, size_t old_size, size_t new_size);
/** Call fn(ctx) at reset or free. false on exhaustion (then fn was NOT registered: run it yourself). */
bool arena_defer(arena *a, void (*fn)(void *ctx), void *ctx);
/** Bytes held from the system. */
size_t arena_bytes(const arena *a);

/** 1, 2, 3, …: another number at each call, also after a reset; for names that are unique in one operation. */
uint32_t arena_number(arena *a);

/** Copies end in a NUL that is not counted. {NULL,0} on exhaustion (a null input gives an empty string). */
str arena_str(arena *a, str s);
char *arena_cstr(arena *a, str s);
str arena_printf(arena *a, const char *format, ...) __attribute__((format(printf, 2, 3)));
str arena_vprintf(arena *a, const char *format, va_list args);
/** A lower-case copy, by the rules of str_eq_fold: two names are equal there exactly when these copies are equal bytes. */
str arena_str_lower(arena *a, str s);

#define ARENA_NEW(a, type)      ((type *)arena_calloc((a), 1, sizeof(type)))
#define ARENA_ARRAY(a, n, type) ((type *)arena_calloc((a), (n), sizeof(type)))

/**
 * Append-only growth of an arena array: `items`, `count`, `capacity` are lvalues. Evaluates to false on exhaustion.
 * if (!ARENA_PUSH(a, list->items, list->count, list->capacity, value)) return error_no_memory(err);
 */
#define ARENA_PUSH(a, items, count, capacity, value)                                                                \
    (((count) < (capacity) ||                                                                                       \
      arena_grow_array_((a), (void **)&(items), (count), &(capacity), sizeof(*(items))))                            \
         ? ((items)[(count)++] = (value), true)                                                                     \
         : false)
bool arena_grow_array_(arena *a, void **items, size_t count, size_t *capacity, size_t item_size);

#ifdef __cplusplus
}
#endif

#endif
