/* Deletion vectors in the portable format: any bytes. What is taken must keep its rows when it is written and read again. */
#include <stdlib.h>

#include "table/bitmap.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool claim) {
    if (!claim) abort();
}

static void compare(const bitmap *a, const bitmap *b) {
    uint64_t row = 0, same = 0, last;
    must(bitmap_cardinality(a) == bitmap_cardinality(b));
    for (int i = 0; i < 5000 && bitmap_next(a, row, &row); i++, row++)
        must(bitmap_next(b, row, &same) && same == row && bitmap_contains(a, row));
    uint8_t live[300];
    last = row > 150 ? row - 150 : 0;
    bitmap_fill_live(a, last, sizeof live, live);
    for (size_t i = 0; i < sizeof live; i++) must(live[i] == !bitmap_contains(b, last + i));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    bitmap *b = NULL, *again = NULL;
    silt_error err = {0};
    if (bitmap_parse_portable((str){(const char *)data, size}, &b, &err) != SILT_OK) {
        must(err.detail[0] != 0 && !b);
        return 0;
    }
    buf out;
    buf_init(&out, BUF_MAX_DEFAULT);
    must(bitmap_write_portable(b, &out, NULL) == SILT_OK);
    must(bitmap_parse_portable(buf_str(&out), &again, NULL) == SILT_OK);
    compare(b, again);
    must(bitmap_or(again, b));
    compare(b, again);
    buf_dispose(&out);
    bitmap_free(again);
    bitmap_free(b);
    return 0;
}
