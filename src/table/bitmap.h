/** 64-bit row bitmaps: an array of 32-bit roaring bitmaps (croaring) keyed by the high word. For deletion vectors. */
#ifndef TABLE_BITMAP_H
#define TABLE_BITMAP_H

#include "base/base.h"

typedef struct bitmap bitmap;

bitmap *bitmap_new(void);
void bitmap_free(bitmap *b);
bool bitmap_add(bitmap *b, uint64_t row); /**< false on exhaustion */
bool bitmap_add_new(bitmap *b, uint64_t row, bool *out_added); /**< the same; *out_added false: the row was there already */
bool bitmap_contains(const bitmap *b, uint64_t row);
uint64_t bitmap_cardinality(const bitmap *b);
bool bitmap_or(bitmap *into, const bitmap *other);
/** PROTOCOL.md "Deletion Vector Format": magic 1681511377, count, (key, portable roaring)*. Bounds-checked; CORRUPT with the reason in detail. */
silt_status bitmap_parse_portable(str bytes, bitmap **out, silt_error *err) MUST_CHECK;
silt_status bitmap_write_portable(const bitmap *b, buf *out, silt_error *err) MUST_CHECK;
/** Set bits of out_live[i] (0/1 bytes) for rows first..first+n: 1 where the row is NOT in the bitmap. */
void bitmap_fill_live(const bitmap *b, uint64_t first, size_t n, uint8_t *out_live);
/** The same for any rows (>= 0), as a filtered scan gives them: mostly close together. */
void bitmap_fill_live_at(const bitmap *b, const int64_t *rows, size_t n, uint8_t *out_live);
/** The opposite: 1 where the row IS in the bitmap. */
void bitmap_fill_held_at(const bitmap *b, const int64_t *rows, size_t n, uint8_t *out_held);
/** Ascending iteration: first set row >= from; false when none. */
bool bitmap_next(const bitmap *b, uint64_t from, uint64_t *out_row);

#endif
