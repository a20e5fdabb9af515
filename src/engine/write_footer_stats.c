/* Footer → leaves, row group by row group. */
#include "engine/write_footer_stats.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/write_stats_leaf.h"
#include "table/parquet_footer.h"

#define TAIL 8 /* the footer's length and the magic */

typedef struct taker {
    stats_tree *tree;
    const write_spec *spec;
    engine_connection *connection;
    str path;
    parquet_footer footer;
    arena *a;
    silt_error *err;
} taker;

/* ---- the footer's bytes ---- */

static bool read_at(int fd, void *into, size_t n, int64_t at) {
    for (size_t done = 0; done < n;) {
        ssize_t got = pread(fd, (char *)into + done, n - done, at + (int64_t)done);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return false;
        done += (size_t)got;
    }
    return true;
}

static bool read_footer(int fd, arena *a, str *out) {
    struct stat sb;
    unsigned char tail[TAIL];
    if (fstat(fd, &sb) != 0 || sb.st_size < TAIL || !read_at(fd, tail, TAIL, sb.st_size - TAIL) || memcmp(tail + 4, "PAR1", 4) != 0) return false;
    uint32_t n = (uint32_t)tail[0] | (uint32_t)tail[1] << 8 | (uint32_t)tail[2] << 16 | (uint32_t)tail[3] << 24;
    char *bytes = (int64_t)n + TAIL <= sb.st_size ? arena_alloc(a, n ? n : 1) : NULL;
    *out = (str){bytes, n};
    return bytes && read_at(fd, bytes, n, sb.st_size - TAIL - (int64_t)n);
}

static silt_status open_footer(taker *t, bool *out_done, silt_error *err) {
    str bytes;
    const char *path = arena_cstr(t->a, t->path);
    int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (fd < 0) return path ? error_from_errno(err, errno, "open", t->path) : error_no_memory(err);
    *out_done = read_footer(fd, t->a, &bytes);
    close(fd);
    return *out_done ? parquet_footer_parse(bytes, true, t->a, &t->footer, err) : SILT_OK;
}

/* ---- is the column what it should be? ---- */

static bool is_integer(const parquet_element *e, parquet_physical physical, int32_t bits) {
    return e->physical == physical && ((e->meaning == PARQUET_INTEGER && e->bits == bits && e->is_signed) || (e->meaning == PARQUET_PLAIN && bits >= 32));
}

static bool is_time(const parquet_element *e, bool is_utc) {
    return e->physical == PARQUET_INT64 && e->meaning == PARQUET_TIMESTAMP && e->unit == PARQUET_MICROS && e->is_utc == is_utc;
}

static bool element_fits(const parquet_element *e, const data_type *type) {
    if (e->n_children || e->repetition == PARQUET_REPEATED) return false;
    switch (type->id) {
        case TYPE_BOOLEAN: return e->physical == PARQUET_BOOLEAN;
        case TYPE_BYTE: return is_integer(e, PARQUET_INT32, 8);
        case TYPE_SHORT: return is_integer(e, PARQUET_INT32, 16);
        case TYPE_INT: return is_integer(e, PARQUET_INT32, 32);
        case TYPE_LONG: return is_integer(e, PARQUET_INT64, 64);
        case TYPE_DATE: return e->physical == PARQUET_INT32 && e->meaning == PARQUET_DATE;
        case TYPE_TIMESTAMP: return is_time(e, true);
        case TYPE_TIMESTAMP_NTZ: return is_time(e, false);
        case TYPE_STRING: return e->physical == PARQUET_BYTES && e->meaning == PARQUET_STRING;
        case TYPE_BINARY: return e->physical == PARQUET_BYTES && e->meaning == PARQUET_PLAIN;
        case TYPE_DECIMAL: return (e->physical == PARQUET_INT32 || e->physical == PARQUET_INT64) && e->meaning == PARQUET_DECIMAL && e->scale == type->scale;
        default: return false;
    }
}

static const parquet_element *find_column(const parquet_footer *f, str name) {
    for (size_t i = 1; i < f->n_elements; i = f->elements[i].next)
        if (str_eq(f->elements[i].name, name)) return &f->elements[i];
    return NULL;
}

/* ---- bounds ---- */

static bool read_number(const parquet_element *e, str bytes, int128 *out) {
    size_t width = e->physical == PARQUET_INT32 ? 4 : 8;
    uint64_t v = 0;
    if (bytes.len != width) return false;
    for (size_t i = 0; i < width; i++) v |= (uint64_t)(unsigned char)bytes.ptr[i] << (8 * i);
    *out = width == 4 ? (int64_t)(int32_t)(uint32_t)v : (int64_t)v;
    return true;
}

static uint32_t head_of(str s) {
    uint32_t head = 0;
    for (size_t i = 0; i < 4; i++) head = head << 8 | (i < s.len ? (unsigned char)s.ptr[i] : 0);
    return head;
}

static kept_text borrow(str s) { return (kept_text){.bytes = (char *)(uintptr_t)s.ptr, .len = s.len, .head = head_of(s)}; }

/* A cut bound is right up to its last byte, which a cut maximum counts up: does that go as far as the statistic looks? */
static bool reaches(const stats_leaf *l, str cut) {
    size_t pos = 0, units = 0;
    str right = str_slice(cut, 0, cut.len ? cut.len - 1 : 0);
    while (pos < right.len) {
        uint32_t c = str_next_codepoint(right, &pos);
        units += c > 0xffff ? 2 : 1;
    }
    return units >= 2 * l->prefix + 4;
}

typedef enum outcome { TAKEN, TOO_SHORT, UNTOLD, NO_MEMORY } outcome;

static outcome take_bounds(stats_leaf *l, const parquet_element *e, const parquet_chunk *c) {
    stats_leaf one = {.type = l->type, .prefix = l->prefix, .has_value = true};
    if (l->type->id != TYPE_STRING) {
        if (str_is_null(c->min) || str_is_null(c->max) || !read_number(e, c->min, &one.low) || !read_number(e, c->max, &one.high)) return UNTOLD;
    } else {
        if (str_is_null(c->min) || str_is_null(c->max) || !c->exact_is_told) return TOO_SHORT;
        if ((!c->min_is_exact && !reaches(l, c->min)) || (!c->max_is_exact && !reaches(l, c->max))) return TOO_SHORT;
        one.text_low = borrow(c->min);
        one.text_high = borrow(c->max);
    }
    return stats_leaf_merge(l, &one) ? TAKEN : NO_MEMORY;
}

static outcome take_chunks(const taker *t, stats_leaf *l, bool bounded, const parquet_element *e) {
    outcome all = TAKEN;
    for (size_t i = 0; i < t->footer.n_row_groups; i++) {
        const parquet_chunk *c = &t->footer.chunks[i * t->footer.n_leaves + e->leaf];
        if (c->values < 0 || c->nulls < 0 || c->nulls > c->values) return UNTOLD;
        l->nulls += c->nulls;
        if (!bounded || c->nulls == c->values || all == TOO_SHORT) continue;
        outcome one = take_bounds(l, e, c);
        if (one == TOO_SHORT) all = one;
        else if (one != TAKEN) return one;
    }
    return all;
}

/* ---- long strings: their beginnings are read back ---- */

static bool text_in(duckdb_data_chunk chunk, idx_t column, str *out) {
    duckdb_vector v = duckdb_data_chunk_get_vector(chunk, column);
    uint64_t *validity = duckdb_vector_get_validity(v);
    if (validity && !duckdb_validity_row_is_valid(validity, 0)) return false;
    duckdb_string_t *s = duckdb_vector_get_data(v);
    *out = (str){duckdb_string_t_data(s), duckdb_string_t_length(*s)};
    return true;
}

static silt_status take_answer(stats_leaf *l, duckdb_result *result, silt_error *err) {
    stats_leaf one = {.type = l->type, .prefix = l->prefix, .has_value = true};
    duckdb_data_chunk chunk = duckdb_fetch_chunk(*result);
    str low, high;
    if (!chunk) return err_INTERNAL_ERROR(err, "no bounds came of a file that was just written");
    silt_status status = SILT_OK;
    if (text_in(chunk, 0, &low) && text_in(chunk, 1, &high)) {
        one.text_low = borrow(low);
        one.text_high = borrow(high);
        l->has_value = false;
        if (!stats_leaf_merge(l, &one)) status = error_no_memory(err);
    }
    duckdb_destroy_data_chunk(&chunk);
    return status;
}

/* left() counts characters, and keeps the order of what it is of. */
static silt_status read_back(const taker *t, stats_leaf *l, str name) {
    buf sql, column;
    duckdb_result result;
    buf_init(&sql, BUF_MAX_DEFAULT);
    buf_init(&column, BUF_MAX_DEFAULT);
    engine_write_name(&column, name);
    buf_printf(&sql, "SELECT min(left(%.*s, %zu)), max(left(%.*s, %zu)) FROM read_parquet(", STR_ARG(buf_str(&column)), 2 * l->prefix + 4, STR_ARG(buf_str(&column)), 2 * l->prefix + 4);
    engine_write_path(&sql, t->path);
    buf_append_char(&sql, ')');
    const char *text = buf_ok(&column) ? buf_cstr(&sql) : NULL;
    silt_status status = text ? engine_query(t->connection, text, &result, t->err) : error_no_memory(t->err);
    if (status == SILT_OK) {
        status = take_answer(l, &result, t->err);
        duckdb_destroy_result(&result);
    }
    buf_dispose(&column);
    buf_dispose(&sql);
    return status;
}

/* ---- all columns ---- */

static silt_status take_column(const taker *t, size_t i, bool *out_done) {
    bool bounded;
    const field *f = &t->spec->schema->fields[i];
    if (!stats_are_in_footer(f->type)) return SILT_OK;
    const parquet_element *e = find_column(&t->footer, f->physical_name);
    *out_done = e && element_fits(e, f->type);
    stats_leaf *l = stats_tree_left_out(t->tree, i, &bounded);
    if (!*out_done || !l) return SILT_OK;
    switch (take_chunks(t, l, bounded, e)) {
        case TAKEN: return SILT_OK;
        case TOO_SHORT: return read_back(t, l, f->physical_name);
        case NO_MEMORY: return error_no_memory(t->err);
        case UNTOLD: *out_done = false; break;
    }
    return SILT_OK;
}

static silt_status take_all(taker *t, int64_t n_rows, bool *out_done) {
    TRY(open_footer(t, out_done, t->err));
    if (!*out_done) return SILT_OK;
    *out_done = t->footer.n_rows == n_rows;
    for (size_t i = 0; *out_done && i < t->spec->schema->n_fields; i++) TRY(take_column(t, i, out_done));
    return SILT_OK;
}

silt_status write_footer_stats(stats_tree *tree, const write_spec *spec, engine_connection *c, str local_path, int64_t n_rows, bool *out_done, silt_error *err) {
    taker t = {.tree = tree, .spec = spec, .connection = c, .path = local_path, .a = arena_new(), .err = err};
    if (!t.a) return error_no_memory(err);
    silt_status status = take_all(&t, n_rows, out_done);
    arena_free(t.a);
    return status;
}
