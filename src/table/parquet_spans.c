/* Wanted columns → stretches of the file. */
#include <stdlib.h>

#include "table/parquet_fetch.h"

#define SLACK_BYTES ((int64_t)64 << 10)

/* ---- columns ---- */

static bool is_named(const parquet_element *e, const parquet_path *p, size_t depth) { return depth < p->n_names && str_eq_fold(e->name, p->names[depth]); }

/* Marks every leaf at or below the path; `at` is the group that the path has led to. */
static void mark(const parquet_footer *f, size_t at, const parquet_path *p, size_t depth, bool *wanted) {
    const parquet_element *e = &f->elements[at];
    if (depth == p->n_names) {
        size_t end = e->next < f->n_elements ? f->elements[e->next].leaf : f->n_leaves;
        for (size_t leaf = e->leaf; leaf < end; leaf++) wanted[leaf] = true;
        return;
    }
    for (size_t child = at + 1; child < e->next; child = f->elements[child].next)
        if (is_named(&f->elements[child], p, depth)) mark(f, child, p, depth + 1, wanted);
}

/* ---- places ---- */

typedef struct places {
    int64_t *items; /* ascending */
    size_t count;
} places;

static int by_place(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return x < y ? -1 : x > y;
}

static bool collect_places(const parquet_footer *f, int64_t footer_offset, arena *a, places *out) {
    size_t n = f->n_row_groups * f->n_leaves;
    out->items = ARENA_ARRAY(a, n * 4 + 1, int64_t);
    if (!out->items) return false;
    for (size_t i = 0; i < n; i++) {
        const parquet_chunk *c = &f->chunks[i];
        const int64_t all[] = {c->offset, c->bloom_offset, c->column_index_offset, c->offset_index_offset};
        for (size_t k = 0; k < ARRAY_LEN(all); k++)
            if (all[k] > 0) out->items[out->count++] = all[k];
    }
    out->items[out->count++] = footer_offset;
    qsort(out->items, out->count, sizeof *out->items, by_place);
    return true;
}

/* The first place at or after `at`; at the latest the footer. */
static int64_t next_place(const places *p, int64_t at, int64_t footer_offset) {
    size_t low = 0, high = p->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (p->items[middle] < at)
            low = middle + 1;
        else
            high = middle;
    }
    return low < p->count ? p->items[low] : footer_offset;
}

/* ---- stretches ---- */

typedef struct span_list {
    store_span *items;
    size_t count, capacity;
    const places *places;
    int64_t footer_offset;
    arena *arena;
} span_list;

/* length 0: it is not told. */
static bool add_span(span_list *l, int64_t offset, int64_t length) {
    if (offset < 4 || length < 0 || offset > l->footer_offset || length > l->footer_offset - offset) return false;
    int64_t end = offset + length, next = next_place(l->places, length ? end : offset + 1, l->footer_offset);
    if (next - end <= SLACK_BYTES || length == 0) end = next;
    store_span span = {offset, end - offset};
    return ARENA_PUSH(l->arena, l->items, l->count, l->capacity, span);
}

static bool add_chunk(span_list *l, const parquet_chunk *c) {
    if (c->values == 0 && c->length == 0) return true;
    if (c->length <= 0 || !add_span(l, c->offset, c->length)) return false;
    return c->bloom_offset == 0 || add_span(l, c->bloom_offset, c->bloom_length);
}

static int by_offset(const void *a, const void *b) { return by_place(&((const store_span *)a)->offset, &((const store_span *)b)->offset); }

bool parquet_spans(const parquet_footer *f, int64_t footer_offset, const parquet_path *paths, size_t n_paths, arena *a, store_span **out, size_t *out_count) {
    places known = {0};
    bool *wanted = ARENA_ARRAY(a, f->n_leaves + 1, bool);
    span_list l = {.places = &known, .footer_offset = footer_offset, .arena = a};
    *out_count = 0;
    if (!wanted || !collect_places(f, footer_offset, a, &known)) return false;
    for (size_t i = 0; i < n_paths; i++) mark(f, 0, &paths[i], 0, wanted);
    for (size_t g = 0; g < f->n_row_groups; g++)
        for (size_t leaf = 0; leaf < f->n_leaves; leaf++)
            if (wanted[leaf] && !add_chunk(&l, &f->chunks[g * f->n_leaves + leaf])) return false;
    if (l.count) qsort(l.items, l.count, sizeof *l.items, by_offset);
    *out = l.items;
    *out_count = l.count;
    return true;
}
