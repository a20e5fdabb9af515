/* One bitmap per file that has rows, and the count of all, which callers ask for after every file. */
#include "table/row_set.h"

#include <stdlib.h>

struct row_set {
    bitmap **files; /* NULL: no rows */
    size_t n_files;
    uint64_t count;
};

row_set *row_set_new(size_t n_files) {
    row_set *s = calloc(1, sizeof *s);
    if (!s) return NULL;
    s->n_files = n_files;
    s->files = calloc(n_files ? n_files : 1, sizeof(bitmap *));
    if (s->files) return s;
    free(s);
    return NULL;
}

void row_set_free(row_set *s) {
    if (!s) return;
    for (size_t i = 0; i < s->n_files; i++) bitmap_free(s->files[i]);
    free(s->files);
    free(s);
}

bool row_set_add(row_set *s, size_t file, uint64_t row, bool *out_added) {
    bool added;
    if (file >= s->n_files) return false;
    if (!s->files[file] && !(s->files[file] = bitmap_new())) return false;
    if (!bitmap_add_new(s->files[file], row, &added)) return false;
    s->count += added;
    if (out_added) *out_added = added;
    return true;
}

const bitmap *row_set_of_file(const row_set *s, size_t file) { return file < s->n_files ? s->files[file] : NULL; }
size_t row_set_n_files(const row_set *s) { return s->n_files; }
uint64_t row_set_count(const row_set *s) { return s->count; }

bool row_set_contains(const row_set *s, size_t file, uint64_t row) {
    return file < s->n_files && s->files[file] && bitmap_contains(s->files[file], row);
}
