/** A statement's rows kept whole: for the commands that say what a statement did instead of printing its rows. */
#ifndef CLI_ROWS_H
#define CLI_ROWS_H

#include "cli/cli.h"

typedef struct result_rows {
    struct ArrowSchema schema;
    struct ArrowArray *batches;
    size_t n_batches, capacity;
    int64_t count;
} result_rows;

/** Takes the stream over; false with the stream's error. To be freed in every case. */
bool rows_collect(struct ArrowArrayStream *stream, result_rows *out, silt_error *err);
/** Takes the stream over. EXIT_DONE, or EXIT_FAILED after an error, which it printed; to be freed in every case. */
int rows_read(struct ArrowArrayStream *stream, result_rows *out);
void rows_free(result_rows *r);

/** A value by dotted path ("metrics.numFilesAdded"); absent: the path is not there, or NULL. */
int64_t rows_i64(const result_rows *r, int64_t row, const char *path, int64_t absent);
bool rows_bool(const result_rows *r, int64_t row, const char *path);
/** As value_write_text has it, in fresh memory; NULL where absent. */
char *rows_text(const result_rows *r, int64_t row, const char *path);
/** As value_write_json has it; "null" where absent. */
char *rows_json(const result_rows *r, int64_t row, const char *path);
/** Items of a list column. */
int64_t rows_list_count(const result_rows *r, int64_t row, const char *path);
char *rows_list_text(const result_rows *r, int64_t row, const char *path, int64_t item);

/** The same value out of a batch that is not kept. */
bool batch_find(const struct ArrowSchema *schema, const struct ArrowArray *batch, int64_t row, const char *path,
                const struct ArrowSchema **out_schema, const struct ArrowArray **out_array, int64_t *out_row);

#endif
