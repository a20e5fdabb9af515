/*
 * Each thread fills one page of every bucket; full pages are handed to the bucket. They stay in memory as long as there is room and are written to the temporary file after that;
 * the file has no name, so it is gone whatever happens. A bucket of more bytes than may be in memory (very many rows of one key) is sorted in parts: then its order is a rough one,
 * and its rows are still there.
 */
#include "engine/row_sorter.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MOST_BUCKETS 1024
#define LEAST_BUCKET ((int64_t)4 << 20) /* bytes: below that a bucket is not worth its pages */
#define LEAST_PAGE   ((int64_t)8 << 10)
#define MOST_PAGE    ((int64_t)256 << 10)

typedef struct row_page {
    char *bytes; /* NULL: in the file */
    size_t used, capacity;
    int64_t file_at;
} row_page;

typedef struct page_list {
    row_page *pages;
    size_t count, capacity;
} page_list;

struct row_dealer {
    row_sorter *sorter;
    row_page *open; /* one per bucket */
    page_list full; /* while rows are still being written into them */
    uint32_t *full_of;
    size_t full_of_capacity;
    row_dealer *next;
};

/* A row's key and where it is. */
typedef struct sort_entry {
    uint64_t key;
    const char *row;
} sort_entry;

struct row_sorter {
    pthread_mutex_t mutex; /* guards what follows while rows are being dealt */
    row_layout layout;
    bool has_layout;
    page_list *buckets;
    row_dealer *dealers;
    int file; /* -1: none yet */
    int64_t file_end, in_memory, rows;
    /* from here on unchanging */
    size_t n_buckets, page_bytes;
    int64_t *bounds; /* n_buckets - 1: bucket i has keys below bounds[i] */
    int64_t memory_bytes;
    char *temp_directory;
    /* giving */
    size_t at_bucket, at_page; /* the next page to load */
    page_list loaded;
    sort_entry *order, *spare;
    size_t n_order, at_order, order_capacity;
    buf scratch;
};

/* ---- making ---- */

static size_t bucket_count(const row_sorter_options *o) {
    int64_t wanted = o->memory_bytes / 8 > LEAST_BUCKET ? o->memory_bytes / 8 : LEAST_BUCKET;
    int64_t n = o->bytes / wanted + 1;
    if (o->n_sample == 0) return 1;
    return n > MOST_BUCKETS ? MOST_BUCKETS : (size_t)n;
}

/* The pages that are being filled take at most a quarter of the memory. */
static size_t page_size(const row_sorter_options *o, size_t n_buckets) {
    int64_t bytes = o->memory_bytes / 4 / (int64_t)n_buckets / (o->threads > 0 ? o->threads : 1);
    return (size_t)(bytes < LEAST_PAGE ? LEAST_PAGE : bytes > MOST_PAGE ? MOST_PAGE : bytes);
}

row_sorter *row_sorter_new(const row_sorter_options *o) {
    row_sorter *s = calloc(1, sizeof *s);
    if (!s) return NULL;
    pthread_mutex_init(&s->mutex, NULL);
    buf_init(&s->scratch, BUF_MAX_DEFAULT);
    s->file = -1;
    s->n_buckets = bucket_count(o);
    s->page_bytes = page_size(o, s->n_buckets);
    s->memory_bytes = o->memory_bytes;
    s->temp_directory = strdup(o->temp_directory);
    s->bounds = calloc(s->n_buckets, sizeof *s->bounds);
    s->buckets = calloc(s->n_buckets, sizeof *s->buckets);
    if (!s->temp_directory || !s->bounds || !s->buckets) {
        row_sorter_free(s);
        return NULL;
    }
    /* Quantiles of the sample; a key of many rows may take several, then the buckets between stay empty. */
    for (size_t i = 1; i < s->n_buckets; i++) s->bounds[i - 1] = o->sample[i * o->n_sample / s->n_buckets];
    return s;
}

static void dispose_pages(page_list *l) {
    for (size_t i = 0; i < l->count; i++) free(l->pages[i].bytes);
    free(l->pages);
    *l = (page_list){0};
}

static void free_dealers(row_sorter *s) {
    while (s->dealers) {
        row_dealer *d = s->dealers;
        s->dealers = d->next;
        for (size_t i = 0; i < s->n_buckets; i++) free(d->open[i].bytes);
        free(d->open);
        free(d->full_of);
        dispose_pages(&d->full);
        free(d);
    }
}

void row_sorter_free(row_sorter *s) {
    if (!s) return;
    free_dealers(s);
    for (size_t i = 0; s->buckets && i < s->n_buckets; i++) dispose_pages(&s->buckets[i]);
    dispose_pages(&s->loaded);
    row_layout_dispose(&s->layout);
    buf_dispose(&s->scratch);
    free(s->order);
    free(s->spare);
    free(s->buckets);
    free(s->bounds);
    free(s->temp_directory);
    if (s->file >= 0) close(s->file);
    pthread_mutex_destroy(&s->mutex);
    free(s);
}

row_dealer *row_sorter_join(row_sorter *s) {
    row_dealer *d = calloc(1, sizeof *d);
    if (!d || !(d->open = calloc(s->n_buckets, sizeof *d->open))) {
        free(d);
        return NULL;
    }
    d->sorter = s;
    pthread_mutex_lock(&s->mutex);
    d->next = s->dealers;
    s->dealers = d;
    pthread_mutex_unlock(&s->mutex);
    return d;
}

int64_t row_sorter_rows(row_sorter *s) {
    pthread_mutex_lock(&s->mutex);
    int64_t n = s->rows;
    pthread_mutex_unlock(&s->mutex);
    return n;
}

/* ---- the temporary file ---- */

static silt_status open_file(row_sorter *s, silt_error *err) {
    char path[4096];
    if (s->file >= 0) return SILT_OK;
    int n = snprintf(path, sizeof path, "%s/silt-rows-XXXXXX", s->temp_directory);
    s->file = n > 0 && (size_t)n < sizeof path ? mkstemp(path) : -1;
    if (s->file < 0) return error_from_errno(err, errno, "mkstemp", str_of(s->temp_directory));
    unlink(path);
    return SILT_OK;
}

static silt_status write_page(const row_sorter *s, const row_page *p, silt_error *err) {
    for (size_t at = 0; at < p->used;) {
        ssize_t done = pwrite(s->file, p->bytes + at, p->used - at, p->file_at + (int64_t)at);
        if (done < 0 && errno == EINTR) continue;
        if (done <= 0) return error_from_errno(err, done < 0 ? errno : ENOSPC, "pwrite", str_of(s->temp_directory));
        at += (size_t)done;
    }
    return SILT_OK;
}

static silt_status read_page(const row_sorter *s, row_page *p, silt_error *err) {
    if (p->bytes) return SILT_OK;
    p->capacity = p->used;
    p->bytes = malloc(p->used);
    if (!p->bytes) return error_no_memory(err);
    for (size_t at = 0; at < p->used;) {
        ssize_t done = pread(s->file, p->bytes + at, p->used - at, p->file_at + (int64_t)at);
        if (done < 0 && errno == EINTR) continue;
        if (done <= 0) return error_from_errno(err, done < 0 ? errno : EIO, "pread", str_of(s->temp_directory));
        at += (size_t)done;
    }
    return SILT_OK;
}

/* ---- full pages ---- */

static bool push_page(page_list *l, const row_page *p) {
    if (l->count == l->capacity) {
        size_t capacity = l->capacity ? l->capacity * 2 : 16;
        row_page *made = realloc(l->pages, capacity * sizeof *made);
        if (!made) return false;
        l->pages = made;
        l->capacity = capacity;
    }
    l->pages[l->count++] = *p;
    return true;
}

/* Whether the page must go to the file, and where. */
static silt_status place_page(row_sorter *s, row_page *p, bool *out_spill, silt_error *err) {
    silt_status status = SILT_OK;
    pthread_mutex_lock(&s->mutex);
    *out_spill = s->in_memory + (int64_t)p->capacity > s->memory_bytes;
    if (*out_spill) {
        status = open_file(s, err);
        p->file_at = s->file_end;
        s->file_end += (int64_t)p->used;
    } else
        s->in_memory += (int64_t)p->capacity;
    pthread_mutex_unlock(&s->mutex);
    return status;
}

static silt_status hand_over(row_sorter *s, row_page *p, size_t bucket, silt_error *err) {
    bool spill;
    TRY(place_page(s, p, &spill, err));
    if (spill) {
        TRY(write_page(s, p, err));
        free(p->bytes);
        p->bytes = NULL;
    }
    pthread_mutex_lock(&s->mutex);
    bool ok = push_page(&s->buckets[bucket], p);
    pthread_mutex_unlock(&s->mutex);
    if (ok) p->bytes = NULL;
    return ok ? SILT_OK : error_no_memory(err);
}

static silt_status hand_over_full(row_dealer *d, silt_error *err) {
    silt_status status = SILT_OK;
    for (size_t i = 0; status == SILT_OK && i < d->full.count; i++) {
        row_page *p = &d->full.pages[i];
        status = hand_over(d->sorter, p, d->full_of[i], err);
    }
    for (size_t i = 0; i < d->full.count; i++) free(d->full.pages[i].bytes); /* of those that were not taken */
    d->full.count = 0;
    return status;
}

/* ---- dealing ---- */

static silt_status need_layout(row_sorter *s, const duckdb_vector *columns, size_t n, silt_error *err) {
    silt_status status = SILT_OK;
    pthread_mutex_lock(&s->mutex);
    if (!s->has_layout) {
        s->has_layout = row_layout_init(&s->layout, columns, n);
        if (!s->has_layout) {
            row_layout_dispose(&s->layout);
            status = error_no_memory(err);
        }
    } else if (s->layout.n_columns != n)
        status = err_INTERNAL_ERROR(err, "rows of another number of columns are to be sorted");
    pthread_mutex_unlock(&s->mutex);
    return status;
}

static size_t bucket_of(const row_sorter *s, int64_t key) {
    size_t low = 0, high = s->n_buckets - 1; /* the first bound above the key */
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (s->bounds[middle] <= key)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The page that has no room any more is handed over later: rows that were given a place in it are not written yet. */
static bool retire_page(row_dealer *d, size_t bucket) {
    if (d->full.count == d->full_of_capacity) {
        size_t capacity = d->full_of_capacity ? d->full_of_capacity * 2 : 64;
        uint32_t *made = realloc(d->full_of, capacity * sizeof *made);
        if (!made) return false;
        d->full_of = made;
        d->full_of_capacity = capacity;
    }
    d->full_of[d->full.count] = (uint32_t)bucket;
    if (!push_page(&d->full, &d->open[bucket])) return false;
    d->open[bucket] = (row_page){0};
    return true;
}

static char *place_row(row_dealer *d, size_t bucket, uint32_t bytes) {
    row_page *p = &d->open[bucket];
    if (p->bytes && p->used + bytes > p->capacity && !retire_page(d, bucket)) return NULL;
    if (!p->bytes) {
        p->capacity = bytes > d->sorter->page_bytes ? bytes : d->sorter->page_bytes;
        p->used = 0;
        p->bytes = malloc(p->capacity);
        if (!p->bytes) return NULL;
    }
    p->used += bytes;
    return p->bytes + p->used - bytes;
}

silt_status row_sorter_deal(row_dealer *d, const duckdb_vector *columns, size_t n_columns, const int64_t *keys, size_t n, silt_error *err) {
    uint32_t bytes[ROW_MAX_ROWS];
    char *to[ROW_MAX_ROWS];
    row_sorter *s = d->sorter;
    if (n > ROW_MAX_ROWS) return err_INTERNAL_ERROR(err, "a vector of more rows than DuckDB has");
    TRY(need_layout(s, columns, n_columns, err));
    if (!row_layout_measure(&s->layout, columns, n, bytes)) return error_no_memory(err);
    for (size_t i = 0; i < n; i++)
        if (!(to[i] = place_row(d, bucket_of(s, keys[i]), bytes[i]))) return error_no_memory(err);
    row_layout_write(&s->layout, columns, keys, bytes, n, to);
    pthread_mutex_lock(&s->mutex);
    s->rows += (int64_t)n;
    pthread_mutex_unlock(&s->mutex);
    return hand_over_full(d, err);
}

/* What the threads have not filled; it stays in memory, within the quarter that is theirs. */
static silt_status end_dealing(row_sorter *s, silt_error *err) {
    for (row_dealer *d = s->dealers; d; d = d->next)
        for (size_t i = 0; i < s->n_buckets; i++) {
            if (!d->open[i].bytes) continue;
            if (!push_page(&s->buckets[i], &d->open[i])) return error_no_memory(err);
            s->in_memory += (int64_t)d->open[i].capacity;
            d->open[i] = (row_page){0};
        }
    free_dealers(s);
    return SILT_OK;
}

/* ---- sorting ---- */

/* Least significant digit first, only over the digits in which keys differ. The result is in s->order. */
static void sort_entries(row_sorter *s) {
    uint64_t all_or = 0, all_and = UINT64_MAX;
    size_t n = s->n_order;
    for (size_t i = 0; i < n; i++) {
        all_or |= s->order[i].key;
        all_and &= s->order[i].key;
    }
    for (unsigned shift = 0; shift < 64; shift += 8) {
        size_t places[257] = {0};
        const sort_entry *from = s->order;
        sort_entry *to = s->spare;
        if (!((all_or ^ all_and) >> shift & 0xFF)) continue;
        for (size_t i = 0; i < n; i++) places[(from[i].key >> shift & 0xFF) + 1]++;
        for (size_t i = 1; i < 257; i++) places[i] += places[i - 1];
        for (size_t i = 0; i < n; i++) to[places[from[i].key >> shift & 0xFF]++] = from[i];
        s->spare = s->order;
        s->order = to;
    }
}

static bool reserve_order(row_sorter *s, size_t more) {
    if (s->n_order + more <= s->order_capacity) return true;
    size_t capacity = s->order_capacity * 2 > s->n_order + more ? s->order_capacity * 2 : s->n_order + more;
    sort_entry *made = realloc(s->order, capacity * sizeof *made);
    if (made) s->order = made;
    sort_entry *spare = made ? realloc(s->spare, capacity * sizeof *spare) : NULL;
    if (spare) s->spare = spare;
    if (spare) s->order_capacity = capacity;
    return spare != NULL;
}

static bool list_rows(row_sorter *s, const row_page *p) {
    for (size_t at = 0; at < p->used; at += row_bytes(p->bytes + at)) {
        if (!reserve_order(s, 1)) return false;
        s->order[s->n_order++] = (sort_entry){(uint64_t)row_key(p->bytes + at) ^ (uint64_t)1 << 63, p->bytes + at};
    }
    return true;
}

/* Pages of one bucket, no more than may be in memory: the rest comes next. */
static silt_status load_bucket(row_sorter *s, silt_error *err) {
    page_list *b = &s->buckets[s->at_bucket];
    size_t bytes = 0;
    do {
        row_page *p = &b->pages[s->at_page++];
        if (p->bytes) s->in_memory -= (int64_t)p->capacity;
        TRY(read_page(s, p, err));
        bytes += p->used;
        bool ok = push_page(&s->loaded, p);
        if (ok) p->bytes = NULL;
        if (!ok || !list_rows(s, &s->loaded.pages[s->loaded.count - 1])) return error_no_memory(err);
    } while (s->at_page < b->count && bytes <= (size_t)s->memory_bytes / 2);
    sort_entries(s);
    return SILT_OK;
}

static void drop_loaded(row_sorter *s) {
    for (size_t i = 0; i < s->loaded.count; i++) free(s->loaded.pages[i].bytes);
    s->loaded.count = 0;
    s->n_order = s->at_order = 0;
}

static silt_status need_rows(row_sorter *s, bool *out_more, silt_error *err) {
    if (s->dealers) TRY(end_dealing(s, err));
    while (s->at_order == s->n_order) {
        drop_loaded(s);
        while (s->at_bucket < s->n_buckets && s->at_page == s->buckets[s->at_bucket].count) {
            s->at_bucket++;
            s->at_page = 0;
        }
        *out_more = s->at_bucket < s->n_buckets;
        if (!*out_more) return SILT_OK;
        TRY(load_bucket(s, err));
    }
    *out_more = true;
    return SILT_OK;
}

silt_status row_sorter_next(row_sorter *s, duckdb_data_chunk *out, silt_error *err) {
    const char *rows[ROW_MAX_ROWS];
    bool more;
    *out = NULL;
    TRY(need_rows(s, &more, err));
    if (!more) return SILT_OK;
    size_t n = s->n_order - s->at_order < ROW_MAX_ROWS ? s->n_order - s->at_order : ROW_MAX_ROWS;
    for (size_t i = 0; i < n; i++) {
        rows[i] = s->order[s->at_order + i].row;
        for (size_t line = 0; line < 192; line += 64) __builtin_prefetch(rows[i] + line); /* rows lie anywhere in the bucket */
    }
    s->at_order += n;
    *out = duckdb_create_data_chunk(s->layout.types, s->layout.n_columns);
    if (*out && row_layout_read(&s->layout, rows, n, &s->scratch, *out)) return SILT_OK;
    if (*out) duckdb_destroy_data_chunk(out);
    *out = NULL;
    return error_no_memory(err);
}
