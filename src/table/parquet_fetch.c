/* Footers, then columns, of many files at once: see parquet_fetch.h. */
#include "table/parquet_fetch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#define WHOLE_BYTES ((int64_t)32 << 10) /* a second request costs more than the rest of such a file */
#define TAIL_MIN    ((int64_t)2 << 10)
#define TAIL_MAX    ((int64_t)1 << 20)
#define FILE_MIN    12 /* magic, length, magic */
#define END_BYTES   8  /* length, magic */

int64_t parquet_footer_guess(size_t n_leaves, int64_t rows, int64_t size_bytes) {
    int64_t groups = rows >= 0 ? rows / 122880 + 1 : size_bytes / ((int64_t)64 << 20) + 1; /* DuckDB's and Spark's usual row groups */
    int64_t by_size = size_bytes / ((int64_t)128 << 10) + 1;                               /* few rows fill no row group, however many there are */
    if (groups > by_size) groups = by_size;
    return 1024 + (int64_t)n_leaves * (80 + 200 * groups);
}

/* ---- asking the store ---- */

/* Fetch of wants[index[i]] what spans[i] say. A size that is not the object's is asked for anew. */
typedef struct fetch_round {
    store *s;
    parquet_want *wants;
    const cancel_token *cancel;
    arena *a;
    size_t *index;
    store_sparse *files;
    str *paths;
    size_t count;
} fetch_round;

static silt_status round_begin(fetch_round *r, store *s, parquet_want *wants, size_t n, const cancel_token *cancel, arena *a, silt_error *err) {
    *r = (fetch_round){.s = s, .wants = wants, .cancel = cancel, .a = a, .index = ARENA_ARRAY(a, n + 1, size_t), .files = ARENA_ARRAY(a, n + 1, store_sparse), .paths = ARENA_ARRAY(a, n + 1, str)};
    return r->index && r->files && r->paths ? SILT_OK : error_no_memory(err);
}

static void round_add(fetch_round *r, size_t want, const store_span *spans, size_t n_spans) {
    parquet_want *w = &r->wants[want];
    r->index[r->count] = want;
    r->files[r->count++] = (store_sparse){.path = w->path, .size_bytes = w->size_bytes, .tag = w->tag, .spans = spans, .n_spans = n_spans, .proves_tag = w->proves_tag, .present = &w->present};
}

static silt_status round_run(fetch_round *r, size_t *out_failed, silt_error *err) {
    size_t failed = r->count;
    silt_error why = {0};
    silt_status status;
    for (;;) {
        status = store_local_ranges(r->s, r->files, r->count, r->cancel, r->a, r->paths, &failed, &why);
        if (status != SILT_IO || failed >= r->count || r->files[failed].size_bytes < 0 || store_met_another_version(&why)) break; /* a size that is asked for anew would be that of another version than the caller knows of */
        r->files[failed].size_bytes = r->wants[r->index[failed]].size_bytes = -1; /* perhaps it is only shorter than the log says */
        r->files[failed].n_spans = 0;
        r->wants[r->index[failed]].whole = true;
    }
    if (status != SILT_OK && err) *err = why;
    if (out_failed) *out_failed = failed < r->count ? r->index[failed] : SIZE_MAX;
    for (size_t i = 0; status == SILT_OK && i < r->count; i++) r->wants[r->index[i]].local = r->paths[i];
    return status;
}

/* ---- footers ---- */

static bool read_file_at(str local, int64_t offset, char *out, size_t n) {
    int fd = open(local.ptr, O_RDONLY | O_CLOEXEC); /* of store_local_ranges: ends in NUL */
    if (fd < 0) return false;
    ssize_t got;
    do got = pread(fd, out, n, offset);
    while (got < 0 && errno == EINTR);
    close(fd);
    return got == (ssize_t)n;
}

/* How long the footer is; -1: the file does not end as a Parquet file does. */
static int64_t footer_length(const parquet_want *w) {
    unsigned char end[END_BYTES];
    if (!read_file_at(w->local, w->size_bytes - END_BYTES, (char *)end, sizeof end) || memcmp(end + 4, "PAR1", 4) != 0) return -1;
    int64_t length = (int64_t)end[0] | (int64_t)end[1] << 8 | (int64_t)end[2] << 16 | (int64_t)end[3] << 24;
    return length <= w->size_bytes - FILE_MIN ? length : -1;
}

static int64_t tail_of(const parquet_want *w) {
    int64_t tail = w->footer_guess <= 0 ? TAIL_MIN * 8 : w->footer_guess < TAIL_MIN ? TAIL_MIN : w->footer_guess > TAIL_MAX ? TAIL_MAX : w->footer_guess;
    return tail < w->size_bytes ? tail : w->size_bytes;
}

static bool is_small(const parquet_want *w) { return w->size_bytes <= WHOLE_BYTES; }

static silt_status fetch_tails(fetch_round *r, size_t n, store_span *tails, size_t *out_failed, silt_error *err) {
    for (size_t i = 0; i < n; i++) {
        parquet_want *w = &r->wants[i];
        if (w->size_bytes < FILE_MIN) w->size_bytes = -1; /* nothing that a log may say of a Parquet file */
        w->whole |= w->size_bytes < 0 || is_small(w);
        tails[i] = (store_span){w->size_bytes - tail_of(w), tail_of(w)};
        round_add(r, i, w->whole ? NULL : &tails[i], w->whole ? 0 : 1);
    }
    return round_run(r, out_failed, err);
}

/* Those that were guessed too short, and whole those that are no Parquet files of that size. */
static silt_status fetch_rest(fetch_round *r, size_t n, store_span *tails, size_t *out_failed, silt_error *err) {
    r->count = 0;
    for (size_t i = 0; i < n; i++) {
        parquet_want *w = &r->wants[i];
        if (w->whole) continue;
        int64_t length = footer_length(w);
        if (length >= 0) w->footer_bytes = length;
        if (length >= 0 && length + END_BYTES <= tails[i].length) continue;
        w->whole = length < 0;
        if (w->whole) w->size_bytes = -1;
        tails[i] = (store_span){w->size_bytes - END_BYTES - length, length + END_BYTES};
        round_add(r, i, w->whole ? NULL : &tails[i], w->whole ? 0 : 1);
    }
    return r->count ? round_run(r, out_failed, err) : SILT_OK;
}

static void name_failed(size_t *failed, size_t n) {
    if (failed && *failed > n) *failed = n;
}

silt_status parquet_fetch_footers(store *s, parquet_want *wants, size_t n, const cancel_token *cancel, arena *a, size_t *out_failed, silt_error *err) {
    fetch_round r;
    store_span *tails = ARENA_ARRAY(a, n + 1, store_span);
    if (out_failed) *out_failed = n;
    if (!tails) return error_no_memory(err);
    TRY(round_begin(&r, s, wants, n, cancel, a, err));
    silt_status status = fetch_tails(&r, n, tails, out_failed, err);
    if (status == SILT_OK) status = fetch_rest(&r, n, tails, out_failed, err);
    name_failed(out_failed, n);
    return status;
}

/* ---- columns ---- */

typedef struct column_job {
    parquet_want *wants;
    size_t n, n_slices;
    arena **arenas;     /* one per slice, for spans */
    store_span **spans; /* by file */
    size_t *n_spans;
} column_job;

/* false: the whole file. */
static bool find_spans(const parquet_want *w, arena *scratch, arena *keep, store_span **out, size_t *out_count) {
    int64_t length = w->footer_bytes > 0 ? w->footer_bytes : footer_length(w);
    char *bytes = length >= 0 ? arena_alloc(scratch, (size_t)length + 1) : NULL;
    parquet_footer f;
    store_span *spans;
    int64_t offset = w->size_bytes - END_BYTES - length;
    if (!bytes || !read_file_at(w->local, offset, bytes, (size_t)length)) return false;
    if (parquet_footer_parse((str){bytes, (size_t)length}, true, scratch, &f, NULL) != SILT_OK) return false;
    if (!parquet_spans(&f, offset, w->paths, w->n_paths, scratch, &spans, out_count)) return false;
    *out = ARENA_ARRAY(keep, *out_count + 1, store_span);
    if (!*out) return false;
    if (*out_count) memcpy(*out, spans, *out_count * sizeof *spans);
    (*out)[(*out_count)++] = (store_span){offset, length + END_BYTES}; /* it is there; but a file of no wanted columns must not look like one that is wanted whole */
    return true;
}

static silt_status find_spans_of_slice(void *ctx, size_t slice, silt_error *err) {
    column_job *j = ctx;
    size_t from = j->n * slice / j->n_slices, to = j->n * (slice + 1) / j->n_slices;
    arena *scratch = arena_new();
    if (!scratch) return error_no_memory(err);
    for (size_t i = from; i < to; i++) {
        arena_reset(scratch);
        if (!j->wants[i].whole && !find_spans(&j->wants[i], scratch, j->arenas[slice], &j->spans[i], &j->n_spans[i])) j->n_spans[i] = 0;
    }
    arena_free(scratch);
    return SILT_OK;
}

static void free_arena(void *a) { arena_free(a); }

static silt_status begin_job(column_job *j, arena *a, silt_error *err) {
    j->n_slices = j->n < 8 ? 1 : (size_t)thread_count_default();
    j->arenas = ARENA_ARRAY(a, j->n_slices, arena *);
    j->spans = ARENA_ARRAY(a, j->n + 1, store_span *);
    j->n_spans = ARENA_ARRAY(a, j->n + 1, size_t);
    if (!j->arenas || !j->spans || !j->n_spans) return error_no_memory(err);
    for (size_t i = 0; i < j->n_slices; i++) {
        j->arenas[i] = arena_new();
        if (!j->arenas[i]) return error_no_memory(err);
        if (arena_defer(a, free_arena, j->arenas[i])) continue;
        arena_free(j->arenas[i]);
        return error_no_memory(err);
    }
    return SILT_OK;
}

static bool is_there(const store_present *p, const store_span *spans, size_t n) {
    size_t at = 0;
    for (size_t i = 0; i < n; i++) {
        while (at < p->n && p->items[at].offset + p->items[at].length < spans[i].offset + spans[i].length) at++;
        if (at == p->n || p->items[at].offset > spans[i].offset) return false;
    }
    return n > 0;
}

silt_status parquet_fetch_columns(store *s, parquet_want *wants, size_t n, const cancel_token *cancel, arena *a, size_t *out_failed, silt_error *err) {
    column_job j = {.wants = wants, .n = n};
    fetch_round r;
    if (out_failed) *out_failed = n;
    TRY(begin_job(&j, a, err));
    TRY(thread_for((int)j.n_slices, j.n_slices, find_spans_of_slice, &j, err));
    TRY(round_begin(&r, s, wants, n, cancel, a, err));
    for (size_t i = 0; i < n; i++)
        if (!wants[i].whole && !is_there(&wants[i].present, j.spans[i], j.n_spans[i])) round_add(&r, i, j.spans[i], j.n_spans[i]);
    silt_status status = r.count ? round_run(&r, out_failed, err) : SILT_OK;
    name_failed(out_failed, n);
    return status;
}
