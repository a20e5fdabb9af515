/* Rows kept whole, and values found in them by path. */
#include "cli/rows.h"

#include <stdlib.h>
#include <string.h>

bool rows_collect(struct ArrowArrayStream *stream, result_rows *out, silt_error *err) {
    *out = (result_rows){0};
    bool good = stream->get_schema(stream, &out->schema) == 0;
    while (good) {
        struct ArrowArray batch;
        good = stream->get_next(stream, &batch) == 0;
        if (!good || !batch.release) break;
        if (out->n_batches == out->capacity) {
            out->capacity = out->capacity ? out->capacity * 2 : 4;
            out->batches = realloc(out->batches, out->capacity * sizeof *out->batches);
            if (!out->batches) exit(EXIT_FAILED);
        }
        out->batches[out->n_batches++] = batch;
        out->count += batch.length;
    }
    if (!good) silt_stream_error(stream, err);
    stream->release(stream);
    return good;
}

int rows_read(struct ArrowArrayStream *stream, result_rows *out) {
    silt_error err;
    return rows_collect(stream, out, &err) ? EXIT_DONE : report_error(&err);
}

void rows_free(result_rows *r) {
    for (size_t i = 0; i < r->n_batches; i++) r->batches[i].release(&r->batches[i]);
    free(r->batches);
    if (r->schema.release) r->schema.release(&r->schema);
    *r = (result_rows){0};
}

static bool is_null(const struct ArrowArray *a, int64_t row) {
    if (a->n_buffers == 0 || !a->buffers[0]) return a->n_buffers == 0;
    int64_t i = row + a->offset;
    return !(((const uint8_t *)a->buffers[0])[i / 8] >> (i % 8) & 1);
}

bool batch_find(const struct ArrowSchema *s, const struct ArrowArray *a, int64_t row, const char *path,
                const struct ArrowSchema **out_schema, const struct ArrowArray **out_array, int64_t *out_row) {
    while (*path) {
        size_t n = strcspn(path, ".");
        int64_t c = 0;
        if (strcmp(s->format, "+s") != 0) return false;
        while (c < s->n_children && (strncmp(s->children[c]->name, path, n) != 0 || s->children[c]->name[n] != '\0')) c++;
        if (c == s->n_children) return false;
        row += a->offset;
        s = s->children[c];
        a = a->children[c];
        if (is_null(a, row)) return false;
        path += n + (path[n] == '.');
    }
    *out_schema = s;
    *out_array = a;
    *out_row = row;
    return true;
}

static bool find(const result_rows *r, int64_t row, const char *path, const struct ArrowSchema **s, const struct ArrowArray **a,
                 int64_t *at) {
    for (size_t i = 0; i < r->n_batches; row -= r->batches[i++].length)
        if (row < r->batches[i].length) return row >= 0 && batch_find(&r->schema, &r->batches[i], row, path, s, a, at);
    return false;
}

int64_t rows_i64(const result_rows *r, int64_t row, const char *path, int64_t absent) {
    const struct ArrowSchema *s;
    const struct ArrowArray *a;
    int64_t at;
    if (!find(r, row, path, &s, &a, &at)) return absent;
    at += a->offset;
    switch (s->format[0]) {
        case 'c': return ((const int8_t *)a->buffers[1])[at];
        case 's': return ((const int16_t *)a->buffers[1])[at];
        case 'i': return ((const int32_t *)a->buffers[1])[at];
        case 'l':
        case 't': return ((const int64_t *)a->buffers[1])[at];
        default: return absent;
    }
}

bool rows_bool(const result_rows *r, int64_t row, const char *path) {
    const struct ArrowSchema *s;
    const struct ArrowArray *a;
    int64_t at;
    if (!find(r, row, path, &s, &a, &at) || s->format[0] != 'b') return false;
    at += a->offset;
    return ((const uint8_t *)a->buffers[1])[at / 8] >> (at % 8) & 1;
}

char *rows_text(const result_rows *r, int64_t row, const char *path) {
    const struct ArrowSchema *s;
    const struct ArrowArray *a;
    int64_t at;
    text_buf b = {0};
    if (!find(r, row, path, &s, &a, &at)) return NULL;
    text_add_z(&b, "");
    value_write_text(&b, s, a, at);
    return b.ptr;
}

char *rows_json(const result_rows *r, int64_t row, const char *path) {
    const struct ArrowSchema *s;
    const struct ArrowArray *a;
    int64_t at;
    text_buf b = {0};
    if (find(r, row, path, &s, &a, &at))
        value_write_json(&b, s, a, at);
    else
        text_add_z(&b, "null");
    return b.ptr;
}

static bool find_list(const result_rows *r, int64_t row, const char *path, const struct ArrowSchema **s,
                      const struct ArrowArray **a, int64_t *from, int64_t *to) {
    int64_t at;
    if (!find(r, row, path, s, a, &at) || strcmp((*s)->format, "+l") != 0) return false;
    const int32_t *offsets = (const int32_t *)(*a)->buffers[1] + at + (*a)->offset;
    *from = offsets[0];
    *to = offsets[1];
    return true;
}

int64_t rows_list_count(const result_rows *r, int64_t row, const char *path) {
    const struct ArrowSchema *s;
    const struct ArrowArray *a;
    int64_t from, to;
    return find_list(r, row, path, &s, &a, &from, &to) ? to - from : 0;
}

char *rows_list_text(const result_rows *r, int64_t row, const char *path, int64_t item) {
    const struct ArrowSchema *s;
    const struct ArrowArray *a;
    int64_t from, to;
    text_buf b = {0};
    if (!find_list(r, row, path, &s, &a, &from, &to) || item >= to - from) return NULL;
    text_add_z(&b, "");
    value_write_text(&b, s->children[0], a->children[0], from + item);
    return b.ptr;
}
