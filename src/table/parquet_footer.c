/*
 * A reader of Thrift's compact protocol that knows the few structures of a Parquet footer and steps over all others. Every read is bounds-checked, a list is
 * believed only as far as there are bytes for it, nesting is bounded.
 */
#include "table/parquet_footer.h"

#define MAX_NESTING  64
#define MAX_ELEMENTS 1000000

/* ---- the compact protocol ---- */

typedef enum thrift_type {
    THRIFT_STOP,
    THRIFT_TRUE,
    THRIFT_FALSE,
    THRIFT_I8,
    THRIFT_I16,
    THRIFT_I32,
    THRIFT_I64,
    THRIFT_DOUBLE,
    THRIFT_BINARY,
    THRIFT_LIST,
    THRIFT_SET,
    THRIFT_MAP,
    THRIFT_STRUCT,
    THRIFT_UUID
} thrift_type;

typedef struct thrift {
    const unsigned char *at, *end;
    int depth;
    const char *wrong; /* the first thing that was; NULL: all well */
} thrift;

typedef struct thrift_field {
    int id;
    int type;
} thrift_field;

static bool fail(thrift *t, const char *why) {
    if (!t->wrong) t->wrong = why;
    t->at = t->end;
    return false;
}

static uint64_t read_varint(thrift *t) {
    uint64_t v = 0;
    for (int shift = 0; shift < 64; shift += 7) {
        if (t->at == t->end) break;
        unsigned char byte = *t->at++;
        v |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80)) return v;
    }
    fail(t, "a number is cut short");
    return 0;
}

static int64_t read_integer(thrift *t) {
    uint64_t v = read_varint(t);
    return (int64_t)(v >> 1) ^ -(int64_t)(v & 1);
}

static int32_t read_i32(thrift *t) {
    int64_t v = read_integer(t);
    if (v < INT32_MIN || v > INT32_MAX) fail(t, "a number is out of range");
    return v < INT32_MIN || v > INT32_MAX ? 0 : (int32_t)v;
}

static str read_binary(thrift *t) {
    uint64_t len = read_varint(t);
    if (len > (uint64_t)(t->end - t->at)) {
        fail(t, "a string is cut short");
        return STR("");
    }
    str s = {(const char *)t->at, (size_t)len};
    t->at += len;
    return s;
}

/* Next field of a struct; false at its end. */
static bool next_field(thrift *t, thrift_field *f) {
    if (t->wrong || t->at == t->end) return fail(t, "a structure is cut short");
    unsigned char head = *t->at++;
    f->type = head & 0x0f;
    if (f->type == THRIFT_STOP) return false;
    int delta = head >> 4;
    f->id = delta ? f->id + delta : read_i32(t);
    if (f->id < -32768 || f->id > 32767) return fail(t, "a field number is out of range");
    return !t->wrong;
}

static uint32_t read_list(thrift *t, int *out_type) {
    if (t->wrong || t->at == t->end) {
        fail(t, "a list is cut short");
        return 0;
    }
    unsigned char head = *t->at++;
    uint64_t n = head >> 4;
    *out_type = head & 0x0f;
    if (n == 15) n = read_varint(t);
    if (n > (uint64_t)(t->end - t->at)) { /* every item takes a byte at least */
        fail(t, "a list is cut short");
        return 0;
    }
    return (uint32_t)(n > UINT32_MAX ? 0 : n);
}

static void skip(thrift *t, int type);

static void skip_items(thrift *t) {
    int type;
    uint32_t n = read_list(t, &type);
    for (uint32_t i = 0; i < n && !t->wrong; i++) {
        if (type == THRIFT_TRUE || type == THRIFT_FALSE) /* in a list they take a byte */
            skip(t, THRIFT_I8);
        else
            skip(t, type);
    }
}

static void skip_map(thrift *t) {
    uint64_t n = read_varint(t);
    if (n == 0) return;
    if (t->at == t->end || n > (uint64_t)(t->end - t->at)) {
        fail(t, "a map is cut short");
        return;
    }
    unsigned char types = *t->at++;
    for (uint64_t i = 0; i < n && !t->wrong; i++) {
        skip(t, types >> 4);
        skip(t, types & 0x0f);
    }
}

static void skip_bytes(thrift *t, size_t n) {
    if ((size_t)(t->end - t->at) < n)
        fail(t, "a value is cut short");
    else
        t->at += n;
}

static void skip_struct(thrift *t) {
    thrift_field f = {0};
    while (next_field(t, &f)) skip(t, f.type);
}

static void skip(thrift *t, int type) {
    if (t->depth == MAX_NESTING) fail(t, "structures are nested too deeply");
    if (t->wrong) return;
    t->depth++;
    switch (type) {
        case THRIFT_TRUE:
        case THRIFT_FALSE: break;
        case THRIFT_I8: skip_bytes(t, 1); break;
        case THRIFT_I16:
        case THRIFT_I32:
        case THRIFT_I64: (void)read_varint(t); break;
        case THRIFT_DOUBLE: skip_bytes(t, 8); break;
        case THRIFT_BINARY: (void)read_binary(t); break;
        case THRIFT_LIST:
        case THRIFT_SET: skip_items(t); break;
        case THRIFT_MAP: skip_map(t); break;
        case THRIFT_STRUCT: skip_struct(t); break;
        case THRIFT_UUID: skip_bytes(t, 16); break;
        default: fail(t, "an unknown type"); break;
    }
    t->depth--;
}

/* Both words of a truth value are types of their own. */
static bool is_field(const thrift_field *f, int id, int type) {
    return f->id == id && (f->type == type || (type == THRIFT_TRUE && f->type == THRIFT_FALSE));
}

/* ---- schema ---- */

static void read_unit(thrift *t, parquet_element *e) {
    thrift_field f = {0};
    e->meaning = PARQUET_UNKNOWN_MEANING; /* of units that are not known */
    while (next_field(t, &f)) {
        if (f.type == THRIFT_STRUCT && f.id >= 1 && f.id <= 3) e->unit = (parquet_unit)(f.id - 1), e->meaning = PARQUET_PLAIN;
        skip(t, f.type);
    }
}

static void read_time(thrift *t, parquet_element *e, parquet_meaning meaning) {
    thrift_field f = {0};
    bool known = false;
    while (next_field(t, &f)) {
        if (is_field(&f, 1, THRIFT_TRUE)) {
            e->is_utc = f.type == THRIFT_TRUE;
        } else if (is_field(&f, 2, THRIFT_STRUCT)) {
            read_unit(t, e);
            known = e->meaning == PARQUET_PLAIN;
        } else {
            skip(t, f.type);
        }
    }
    e->meaning = known ? meaning : PARQUET_UNKNOWN_MEANING;
}

static void read_decimal(thrift *t, parquet_element *e) {
    thrift_field f = {0};
    e->meaning = PARQUET_DECIMAL;
    while (next_field(t, &f)) {
        if (is_field(&f, 1, THRIFT_I32))
            e->scale = read_i32(t);
        else if (is_field(&f, 2, THRIFT_I32))
            e->precision = read_i32(t);
        else
            skip(t, f.type);
    }
}

static void read_integer_type(thrift *t, parquet_element *e) {
    thrift_field f = {0};
    e->meaning = PARQUET_INTEGER;
    while (next_field(t, &f)) {
        if (is_field(&f, 1, THRIFT_I8)) {
            if (t->at < t->end) e->bits = *t->at;
            skip_bytes(t, 1);
        } else if (is_field(&f, 2, THRIFT_TRUE)) {
            e->is_signed = f.type == THRIFT_TRUE;
        } else {
            skip(t, f.type);
        }
    }
}

/* The union of logical types: one field, whose number tells which. */
static void read_logical_type(thrift *t, parquet_element *e) {
    static const parquet_meaning plain[] = {[1] = PARQUET_STRING, [2] = PARQUET_MAP,       [3] = PARQUET_LIST,      [4] = PARQUET_ENUM,
                                            [6] = PARQUET_DATE,   [11] = PARQUET_NULL,     [12] = PARQUET_JSON,     [13] = PARQUET_BSON,
                                            [14] = PARQUET_UUID,  [15] = PARQUET_FLOAT16,  [16] = PARQUET_VARIANT,  [17] = PARQUET_GEOMETRY,
                                            [18] = PARQUET_GEOGRAPHY};
    thrift_field f = {0};
    while (next_field(t, &f)) {
        if (f.type != THRIFT_STRUCT) {
            skip(t, f.type);
            continue;
        }
        if (f.id == 5) {
            read_decimal(t, e);
        } else if (f.id == 7) {
            read_time(t, e, PARQUET_TIME);
        } else if (f.id == 8) {
            read_time(t, e, PARQUET_TIMESTAMP);
        } else if (f.id == 10) {
            read_integer_type(t, e);
        } else {
            bool known = f.id > 0 && (size_t)f.id < ARRAY_LEN(plain) && plain[f.id] != PARQUET_PLAIN;
            e->meaning = known ? plain[f.id] : PARQUET_UNKNOWN_MEANING;
            skip(t, f.type);
        }
    }
}

/* The same in the old words, where the new ones are absent. */
static void take_converted_type(parquet_element *e, int32_t converted) {
    static const struct {
        parquet_meaning meaning;
        parquet_unit unit;
        uint8_t bits;
        bool is_signed;
    } words[] = {{PARQUET_STRING, 0, 0, false},
                 {PARQUET_MAP, 0, 0, false},
                 {PARQUET_MAP_KEY_VALUE, 0, 0, false},
                 {PARQUET_LIST, 0, 0, false},
                 {PARQUET_ENUM, 0, 0, false},
                 {PARQUET_DECIMAL, 0, 0, false},
                 {PARQUET_DATE, 0, 0, false},
                 {PARQUET_TIME, PARQUET_MILLIS, 0, false},
                 {PARQUET_TIME, PARQUET_MICROS, 0, false},
                 {PARQUET_TIMESTAMP, PARQUET_MILLIS, 0, false},
                 {PARQUET_TIMESTAMP, PARQUET_MICROS, 0, false},
                 {PARQUET_INTEGER, 0, 8, false},
                 {PARQUET_INTEGER, 0, 16, false},
                 {PARQUET_INTEGER, 0, 32, false},
                 {PARQUET_INTEGER, 0, 64, false},
                 {PARQUET_INTEGER, 0, 8, true},
                 {PARQUET_INTEGER, 0, 16, true},
                 {PARQUET_INTEGER, 0, 32, true},
                 {PARQUET_INTEGER, 0, 64, true},
                 {PARQUET_JSON, 0, 0, false},
                 {PARQUET_BSON, 0, 0, false},
                 {PARQUET_INTERVAL, 0, 0, false}};
    if (converted < 0 || (size_t)converted >= ARRAY_LEN(words)) {
        e->meaning = PARQUET_UNKNOWN_MEANING;
        return;
    }
    e->meaning = words[converted].meaning;
    e->unit = words[converted].unit;
    e->bits = words[converted].bits;
    e->is_signed = words[converted].is_signed;
    e->is_utc = true; /* the old words know no other times */
}

static void read_element(thrift *t, parquet_element *e) {
    thrift_field f = {0};
    int32_t physical = -1, converted = -1, repetition = PARQUET_REQUIRED;
    bool is_told = false;
    *e = (parquet_element){.physical = PARQUET_GROUP, .name = STR("")};
    while (next_field(t, &f)) {
        if (is_field(&f, 1, THRIFT_I32)) {
            physical = read_i32(t);
        } else if (is_field(&f, 2, THRIFT_I32)) {
            e->length = read_i32(t);
        } else if (is_field(&f, 3, THRIFT_I32)) {
            repetition = read_i32(t);
        } else if (is_field(&f, 4, THRIFT_BINARY)) {
            e->name = read_binary(t);
        } else if (is_field(&f, 5, THRIFT_I32)) {
            e->n_children = read_i32(t);
        } else if (is_field(&f, 6, THRIFT_I32)) {
            converted = read_i32(t);
        } else if (is_field(&f, 7, THRIFT_I32)) {
            e->scale = read_i32(t);
        } else if (is_field(&f, 8, THRIFT_I32)) {
            e->precision = read_i32(t);
        } else if (is_field(&f, 10, THRIFT_STRUCT)) {
            is_told = true;
            read_logical_type(t, e);
        } else {
            skip(t, f.type);
        }
    }
    if (converted >= 0 && !is_told) take_converted_type(e, converted);
    if (repetition < PARQUET_REQUIRED || repetition > PARQUET_REPEATED) fail(t, "an unknown repetition");
    if (physical > PARQUET_FIXED || physical < -1) fail(t, "an unknown physical type");
    e->repetition = (parquet_repetition)repetition;
    if (physical >= 0) e->physical = (parquet_physical)physical;
    if ((physical >= 0) == (e->n_children > 0) && physical >= 0) fail(t, "a column with children");
    if (e->n_children < 0) fail(t, "a negative number of children");
}

/* Numbers the columns and finds where each element's own part of the list ends. */
static size_t link_elements(thrift *t, parquet_element *all, size_t n, size_t at, uint32_t *leaf, int depth) {
    parquet_element *e = &all[at];
    size_t next = at + 1;
    if (depth > MAX_NESTING) {
        fail(t, "the schema is nested too deeply");
        return n;
    }
    e->leaf = *leaf;
    if (e->physical != PARQUET_GROUP) ++*leaf;
    for (int32_t i = 0; i < e->n_children && !t->wrong; i++) {
        if (next >= n) {
            fail(t, "the schema ends early");
            return n;
        }
        next = link_elements(t, all, n, next, leaf, depth + 1);
    }
    e->next = (uint32_t)next;
    return next;
}

static silt_status read_schema(thrift *t, arena *a, parquet_footer *out, silt_error *err) {
    int type;
    const unsigned char *from = t->at;
    uint32_t n = read_list(t, &type), leaf = 0;
    if (!t->wrong && (type != THRIFT_STRUCT || n == 0 || n > MAX_ELEMENTS)) fail(t, "no schema");
    if (t->wrong) return SILT_OK;
    parquet_element *all = ARENA_ARRAY(a, n, parquet_element);
    if (!all) return error_no_memory(err);
    for (uint32_t i = 0; i < n && !t->wrong; i++) read_element(t, &all[i]);
    if (t->wrong) return SILT_OK;
    if (all[0].physical != PARQUET_GROUP || link_elements(t, all, n, 0, &leaf, 0) != n) fail(t, "the schema is not one tree");
    out->elements = all;
    out->n_elements = n;
    out->n_leaves = leaf;
    out->schema_bytes = (str){(const char *)from, (size_t)(t->at - from)};
    return SILT_OK;
}

/* ---- row groups ---- */

static void read_statistics(thrift *t, parquet_chunk *c) {
    thrift_field f = {0};
    while (next_field(t, &f)) {
        if (is_field(&f, 1, THRIFT_BINARY)) {
            c->old_max = read_binary(t);
        } else if (is_field(&f, 2, THRIFT_BINARY)) {
            c->old_min = read_binary(t);
        } else if (is_field(&f, 3, THRIFT_I64)) {
            c->nulls = read_integer(t);
        } else if (is_field(&f, 5, THRIFT_BINARY)) {
            c->max = read_binary(t);
        } else if (is_field(&f, 6, THRIFT_BINARY)) {
            c->min = read_binary(t);
        } else if (is_field(&f, 7, THRIFT_TRUE)) {
            c->max_is_exact = f.type == THRIFT_TRUE;
            c->exact_is_told = true;
        } else if (is_field(&f, 8, THRIFT_TRUE)) {
            c->min_is_exact = f.type == THRIFT_TRUE;
            c->exact_is_told = true;
        } else {
            skip(t, f.type);
        }
    }
}

/* Some writers leave a dictionary's or index page's place at 0 instead of leaving it out. */
static int64_t first_place(int64_t a, int64_t b) { return a <= 0 || (b > 0 && b < a) ? b : a; }

static void read_column_metadata(thrift *t, parquet_chunk *c) {
    thrift_field f = {0};
    int64_t place = 0;
    while (next_field(t, &f)) {
        if (is_field(&f, 5, THRIFT_I64)) {
            c->values = read_integer(t);
        } else if (is_field(&f, 7, THRIFT_I64)) {
            c->length = read_integer(t);
        } else if (is_field(&f, 9, THRIFT_I64) || is_field(&f, 10, THRIFT_I64) || is_field(&f, 11, THRIFT_I64)) {
            place = first_place(place, read_integer(t));
        } else if (is_field(&f, 12, THRIFT_STRUCT)) {
            read_statistics(t, c);
        } else if (is_field(&f, 14, THRIFT_I64)) {
            c->bloom_offset = read_integer(t);
        } else if (is_field(&f, 15, THRIFT_I32)) {
            c->bloom_length = read_i32(t);
        } else {
            skip(t, f.type);
        }
    }
    c->offset = place;
}

static void read_chunk(thrift *t, parquet_chunk *c) {
    thrift_field f = {0};
    *c = (parquet_chunk){.values = -1, .nulls = -1};
    while (next_field(t, &f)) {
        if (is_field(&f, 1, THRIFT_BINARY)) {
            if (read_binary(t).len) fail(t, "the data is in another file");
        } else if (is_field(&f, 3, THRIFT_STRUCT)) {
            read_column_metadata(t, c);
        } else if (is_field(&f, 4, THRIFT_I64)) {
            c->offset_index_offset = read_integer(t);
        } else if (is_field(&f, 6, THRIFT_I64)) {
            c->column_index_offset = read_integer(t);
        } else {
            skip(t, f.type);
        }
    }
}

typedef struct chunk_list {
    parquet_chunk *items;
    size_t count, capacity;
} chunk_list;

static silt_status read_chunks(thrift *t, const parquet_footer *footer, chunk_list *list, arena *a, silt_error *err) {
    int type;
    uint32_t n = read_list(t, &type);
    if (!t->wrong && (type != THRIFT_STRUCT || n != footer->n_leaves)) fail(t, "a row group has not the schema's columns");
    for (uint32_t i = 0; i < n && !t->wrong; i++) {
        parquet_chunk chunk;
        read_chunk(t, &chunk);
        if (!ARENA_PUSH(a, list->items, list->count, list->capacity, chunk)) return error_no_memory(err);
    }
    return SILT_OK;
}

static silt_status read_row_group(thrift *t, const parquet_footer *footer, chunk_list *list, int64_t *rows, arena *a,
                                  silt_error *err) {
    thrift_field f = {0};
    size_t before = list->count;
    while (next_field(t, &f)) {
        if (list->items && is_field(&f, 1, THRIFT_LIST)) {
            TRY(read_chunks(t, footer, list, a, err));
        } else if (is_field(&f, 3, THRIFT_I64)) {
            int64_t n = read_integer(t);
            if (n < 0 || *rows > INT64_MAX - n)
                fail(t, "a row group has an impossible number of rows");
            else
                *rows += n;
        } else {
            skip(t, f.type);
        }
    }
    if (list->items && !t->wrong && list->count != before + footer->n_leaves) fail(t, "a row group without columns");
    return SILT_OK;
}

static silt_status read_row_groups(thrift *t, bool with_chunks, parquet_footer *out, arena *a, silt_error *err) {
    int type;
    uint32_t n = read_list(t, &type);
    int64_t rows = 0;
    chunk_list list = {0};
    if (!t->wrong && (type != THRIFT_STRUCT || !out->elements)) fail(t, "row groups before the schema");
    if (with_chunks && !t->wrong) {
        list.capacity = out->n_leaves ? out->n_leaves : 1;
        list.items = ARENA_ARRAY(a, list.capacity, parquet_chunk);
        if (!list.items) return error_no_memory(err);
    }
    for (uint32_t i = 0; i < n && !t->wrong; i++) TRY(read_row_group(t, out, &list, &rows, a, err));
    out->chunks = list.items;
    out->n_row_groups = n;
    if (!t->wrong && rows != out->n_rows) fail(t, "its rows are not the sum of its row groups'");
    return SILT_OK;
}

/* ---- the rest ---- */

static void read_key_value(thrift *t, parquet_footer *out) {
    thrift_field f = {0};
    str key = STR(""), val = STR_NULL;
    while (next_field(t, &f)) {
        if (is_field(&f, 1, THRIFT_BINARY))
            key = read_binary(t);
        else if (is_field(&f, 2, THRIFT_BINARY))
            val = read_binary(t);
        else
            skip(t, f.type);
    }
    if (str_eqz(key, "org.apache.spark.sql.parquet.row.metadata")) out->spark_schema = val;
    if (str_eqz(key, "org.apache.spark.legacyDateTime") || str_eqz(key, "org.apache.spark.legacyINT96")) out->is_rebased = true;
    bool before_3 = !str_is_null(val) && (str_starts_with(val, STR("2.")) || str_starts_with(val, STR("1.")));
    if (str_eqz(key, "org.apache.spark.version") && before_3) out->is_rebased = true;
    if (str_eqz(key, "writer.date.proleptic") && str_eqz(val, "false")) out->is_rebased = true; /* Hive */
}

static void read_key_values(thrift *t, parquet_footer *out) {
    int type;
    uint32_t n = read_list(t, &type);
    if (!t->wrong && type != THRIFT_STRUCT) fail(t, "key-value pairs of another type");
    for (uint32_t i = 0; i < n && !t->wrong; i++) read_key_value(t, out);
}

/* Every column by the order of its type, or the bounds mean nothing certain. */
static void read_orders(thrift *t, parquet_footer *out) {
    int type;
    uint32_t n = read_list(t, &type);
    bool all = n > 0 && type == THRIFT_STRUCT;
    for (uint32_t i = 0; i < n && !t->wrong; i++) {
        thrift_field f = {0};
        bool by_type = false;
        if (type != THRIFT_STRUCT) {
            skip(t, type);
            continue;
        }
        while (next_field(t, &f)) {
            by_type |= f.id == 1;
            skip(t, f.type);
        }
        all &= by_type;
    }
    out->has_type_order = all && !t->wrong;
}

static silt_status read_file_metadata(thrift *t, bool with_chunks, arena *a, parquet_footer *out, silt_error *err) {
    thrift_field f = {0};
    bool has_rows = false, has_groups = false;
    while (next_field(t, &f)) {
        if (is_field(&f, 2, THRIFT_LIST) && !out->elements) {
            TRY(read_schema(t, a, out, err));
        } else if (is_field(&f, 3, THRIFT_I64)) {
            out->n_rows = read_integer(t);
            has_rows = out->n_rows >= 0;
        } else if (is_field(&f, 4, THRIFT_LIST) && !has_groups) {
            has_groups = true;
            TRY(read_row_groups(t, with_chunks, out, a, err));
        } else if (is_field(&f, 5, THRIFT_LIST)) {
            read_key_values(t, out);
        } else if (is_field(&f, 6, THRIFT_BINARY)) {
            out->created_by = read_binary(t);
        } else if (is_field(&f, 7, THRIFT_LIST)) {
            read_orders(t, out);
        } else if (f.id == 8) {
            fail(t, "it is encrypted");
        } else {
            skip(t, f.type);
        }
    }
    if (!t->wrong && (!out->elements || !has_rows || !has_groups)) fail(t, "schema, rows or row groups are missing");
    return SILT_OK;
}

silt_status parquet_footer_parse(str bytes, bool with_chunks, arena *a, parquet_footer *out, silt_error *err) {
    thrift t = {.at = (const unsigned char *)bytes.ptr, .end = (const unsigned char *)bytes.ptr + bytes.len};
    *out = (parquet_footer){.created_by = STR_NULL, .spark_schema = STR_NULL};
    if (bytes.len == 0) t.at = t.end = (const unsigned char *)"";
    TRY(read_file_metadata(&t, with_chunks, a, out, err));
    if (!t.wrong) return SILT_OK;
    silt_status status = err_MALFORMED_PARQUET_FOOTER(err);
    error_detail(err, "%s", t.wrong);
    return status;
}

/* ---- files ---- */

#define TAIL_BYTES 16384 /* most footers are shorter */

static parquet_look look_at_head(store *s, str path, int64_t size) {
    buf head;
    parquet_look look = PARQUET_LOOKS_OTHER;
    if (size == 0) return PARQUET_LOOKS_EMPTY;
    buf_init(&head, 64);
    if (store_read(s, path, 0, 4, &head, NULL) == SILT_OK) {
        if (str_starts_with(buf_str(&head), STR("ORC"))) look = PARQUET_LOOKS_ORC;
        if (str_starts_with(buf_str(&head), STR("Obj\x01"))) look = PARQUET_LOOKS_AVRO;
    }
    buf_dispose(&head);
    return look;
}

static silt_status no_footer(silt_error *err, const char *why) {
    silt_status status = err_MALFORMED_PARQUET_FOOTER(err);
    error_detail(err, "%s", why);
    return status;
}

static uint32_t footer_length(const char *last8) {
    const unsigned char *b = (const unsigned char *)last8;
    return (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

static silt_status read_tail(store *s, str path, int64_t size, int64_t wanted, buf *bytes, silt_error *err) {
    buf_clear(bytes);
    TRY(store_read(s, path, size - wanted, wanted, bytes, err));
    if (!buf_ok(bytes)) return error_no_memory(err);
    return bytes->len == (size_t)wanted ? SILT_OK : no_footer(err, "it is shorter than it was when it was listed");
}

silt_status parquet_footer_read(store *s, str path, int64_t size, bool with_chunks, buf *bytes, arena *a, parquet_footer *out,
                                parquet_look *out_look, silt_error *err) {
    *out_look = PARQUET_LOOKS_RIGHT;
    if (size < 12) {
        *out_look = look_at_head(s, path, size);
        return no_footer(err, size == 0 ? "it is empty" : "it is too short to be a Parquet file");
    }
    int64_t wanted = size < TAIL_BYTES ? size : TAIL_BYTES;
    TRY(read_tail(s, path, size, wanted, bytes, err));
    const char *last8 = bytes->ptr + bytes->len - 8;
    if (memcmp(last8 + 4, "PARE", 4) == 0) {
        *out_look = PARQUET_LOOKS_ENCRYPTED;
        return no_footer(err, "it is encrypted");
    }
    if (memcmp(last8 + 4, "PAR1", 4) != 0) {
        *out_look = look_at_head(s, path, size);
        return no_footer(err, "it does not end as a Parquet file does");
    }
    int64_t length = footer_length(last8);
    if (length > size - 12) return no_footer(err, "its footer is longer than the file");
    if (length + 8 > wanted) {
        wanted = length + 8;
        TRY(read_tail(s, path, size, wanted, bytes, err));
    }
    return parquet_footer_parse((str){bytes->ptr + bytes->len - 8 - length, (size_t)length}, with_chunks, a, out, err);
}
