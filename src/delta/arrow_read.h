/**
 * Reading columns of an Arrow struct array by name: validity, integers, strings, lists and maps, with every offset of the format
 * taken into account.
 */
#ifndef DELTA_ARROW_READ_H
#define DELTA_ARROW_READ_H

#include "table/arrow.h"

typedef struct arrow_column {
    const struct ArrowSchema *schema; /**< NULL: the column is not there; every row of it is null */
    const struct ArrowArray *array;
    const uint8_t *validity; /**< NULL: no nulls */
    int64_t base; /**< row r stands at base + r of the buffers: the offsets of the array and of the structs around it */
    char
        kind; /**< of the format: 'u' (string, binary), 'U' (the same, 64-bit offsets), 'b', 'c' 's' 'i' 'l' and the unsigned ones, '+' with `nested` */
    char nested; /**< 's', 'l', 'L', 'm' */
} arrow_column;

arrow_column arrow_column_root(const struct ArrowSchema *schema, const struct ArrowArray *array);
/** Field of a struct column; absent when there is none. Row numbers are the parent's. */
arrow_column arrow_column_field(const arrow_column *parent, const char *name);
/** Field by position, which must exist. */
arrow_column arrow_column_child(const arrow_column *parent, int64_t i);
/** Item column of a list; key (0) or value (1) column of a map. Row numbers are those of arrow_list. */
arrow_column arrow_column_item(const arrow_column *parent, int which);

bool arrow_is_null(const arrow_column *c, int64_t row); /**< absent columns are null */
/** Strings and binary; {NULL,0} when null. Borrowed from the array. */
str arrow_str(const arrow_column *c, int64_t row);
int64_t arrow_i64(const arrow_column *c, int64_t row, int64_t absent);
bool arrow_bool(const arrow_column *c, int64_t row, bool absent);
/** Items [*from, *to) of a list or map; false when null. */
bool arrow_list(const arrow_column *c, int64_t row, int64_t *from, int64_t *to);

/** Call fn for every batch of a stream; ends the stream. `what` names it in errors (DELTA_CHECKPOINT_CORRUPT). */
silt_status arrow_each_batch(struct ArrowArrayStream *stream, str what,
                             silt_status (*fn)(void *ctx, const struct ArrowSchema *schema, const struct ArrowArray *batch,
                                               silt_error *err),
                             void *ctx, silt_error *err) MUST_CHECK;

#endif
