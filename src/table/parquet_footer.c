/* The few structures of a Parquet footer that are of use here; all others are stepped over. */
#include "table/parquet_footer.h"

#include "table/thrift.h"

#define MAX_ELEMENTS 1000000

/* ---- schema ---- */

static void read_unit(thrift *t, parquet_element *e) {
    thrift_field f = {0};
    e->meaning = PARQUET_UNKNOWN_MEANING; /* of units that are not known */
    while (thrift_next(t, &f)) {
        if (f.type == THRIFT_STRUCT && f.id >= 1 && f.id <= 3) e->unit = (parquet_unit)(f.id - 1), e->meaning = PARQUET_PLAIN;
        thrift_skip(t, f.type);
    }
}

static void read_time(thrift *t, parquet_element *e, parquet_meaning meaning) {
    thrift_field f = {0};
    bool known = false;
    while (thrift_next(t, &f)) {
        if (thrift_is(&f, 1, THRIFT_TRUE)) {
            e->is_utc = f.type == THRIFT_TRUE;
        } else if (thrift_is(&f, 2, THRIFT_STRUCT)) {
            read_unit(t, e);
            known = e->meaning == PARQUET_PLAIN;
        } else {
            thrift_skip(t, f.type);
        }
    }
    e->meaning = known ? meaning : PARQUET_UNKNOWN_MEANING;
}

static void read_decimal(thrift *t, parquet_element *e) {
    thrift_field f = {0};
    e->meaning = PARQUET_DECIMAL;
    while (thrift_next(t, &f)) {
        if (thrift_is(&f, 1, THRIFT_I32))
            e->scale = thrift_i32(t);
        else if (thrift_is(&f, 2, THRIFT_I32))
            e->precision = thrift_i32(t);
        else
            thrift_skip(t, f.type);
    }
}

static void read_integer_type(thrift *t, parquet_element *e) {
    thrift_field f = {0};
    e->meaning = PARQUET_INTEGER;
    while (thrift_next(t, &f)) {
        if (thrift_is(&f, 1, THRIFT_I8)) {
            if (t->at < t->end) e->bits = *t->at;
            thrift_skip_bytes(t, 1);
        } else if (thrift_is(&f, 2, THRIFT_TRUE)) {
            e->is_signed = f.type == THRIFT_TRUE;
        } else {
            thrift_skip(t, f.type);
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
    while (thrift_next(t, &f)) {
        if (f.type != THRIFT_STRUCT) {
            thrift_skip(t, f.type);
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
            thrift_skip(t, f.type);
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
    while (thrift_next(t, &f)) {
        if (thrift_is(&f, 1, THRIFT_I32)) {
            physical = thrift_i32(t);
        } else if (thrift_is(&f, 2, THRIFT_I32)) {
            e->length = thrift_i32(t);
        } else if (thrift_is(&f, 3, THRIFT_I32)) {
            repetition = thrift_i32(t);
        } else if (thrift_is(&f, 4, THRIFT_BINARY)) {
            e->name = thrift_binary(t);
        } else if (thrift_is(&f, 5, THRIFT_I32)) {
            e->n_children = thrift_i32(t);
        } else if (thrift_is(&f, 6, THRIFT_I32)) {
            converted = thrift_i32(t);
        } else if (thrift_is(&f, 7, THRIFT_I32)) {
            e->scale = thrift_i32(t);
        } else if (thrift_is(&f, 8, THRIFT_I32)) {
            e->precision = thrift_i32(t);
        } else if (thrift_is(&f, 10, THRIFT_STRUCT)) {
            is_told = true;
            read_logical_type(t, e);
        } else {
            thrift_skip(t, f.type);
        }
    }
    if (converted >= 0 && !is_told) take_converted_type(e, converted);
    if (repetition < PARQUET_REQUIRED || repetition > PARQUET_REPEATED) thrift_fail(t, "an unknown repetition");
    if (physical > PARQUET_FIXED || physical < -1) thrift_fail(t, "an unknown physical type");
    e->repetition = (parquet_repetition)repetition;
    if (physical >= 0) e->physical = (parquet_physical)physical;
    if ((physical >= 0) == (e->n_children > 0) && physical >= 0) thrift_fail(t, "a column with children");
    if (e->n_children < 0) thrift_fail(t, "a negative number of children");
}

/* Numbers the columns and finds where each element's own part of the list ends. */
static size_t link_elements(thrift *t, parquet_element *all, size_t n, size_t at, uint32_t *leaf, int depth) {
    parquet_element *e = &all[at];
    size_t next = at + 1;
    if (depth > THRIFT_NESTING_MAX) {
        thrift_fail(t, "the schema is nested too deeply");
        return n;
    }
    e->leaf = *leaf;
    if (e->physical != PARQUET_GROUP) ++*leaf;
    for (int32_t i = 0; i < e->n_children && !t->wrong; i++) {
        if (next >= n) {
            thrift_fail(t, "the schema ends early");
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
    uint32_t n = thrift_list(t, &type), leaf = 0;
    if (!t->wrong && (type != THRIFT_STRUCT || n == 0 || n > MAX_ELEMENTS)) thrift_fail(t, "no schema");
    if (t->wrong) return SILT_OK;
    parquet_element *all = ARENA_ARRAY(a, n, parquet_element);
    if (!all) return error_no_memory(err);
    for (uint32_t i = 0; i < n && !t->wrong; i++) read_element(t, &all[i]);
    if (t->wrong) return SILT_OK;
    if (all[0].physical != PARQUET_GROUP || link_elements(t, all, n, 0, &leaf, 0) != n) thrift_fail(t, "the schema is not one tree");
    out->elements = all;
    out->n_elements = n;
    out->n_leaves = leaf;
    out->schema_bytes = (str){(const char *)from, (size_t)(t->at - from)};
    return SILT_OK;
}

/* ---- row groups ---- */

static void read_statistics(thrift *t, parquet_chunk *c) {
    thrift_field f = {0};
    while (thrift_next(t, &f)) {
        if (thrift_is(&f, 1, THRIFT_BINARY)) {
            c->old_max = thrift_binary(t);
        } else if (thrift_is(&f, 2, THRIFT_BINARY)) {
            c->old_min = thrift_binary(t);
        } else if (thrift_is(&f, 3, THRIFT_I64)) {
            c->nulls = thrift_integer(t);
        } else if (thrift_is(&f, 5, THRIFT_BINARY)) {
            c->max = thrift_binary(t);
        } else if (thrift_is(&f, 6, THRIFT_BINARY)) {
            c->min = thrift_binary(t);
        } else if (thrift_is(&f, 7, THRIFT_TRUE)) {
            c->max_is_exact = f.type == THRIFT_TRUE;
            c->exact_is_told = true;
        } else if (thrift_is(&f, 8, THRIFT_TRUE)) {
            c->min_is_exact = f.type == THRIFT_TRUE;
            c->exact_is_told = true;
        } else {
            thrift_skip(t, f.type);
        }
    }
}

/* Some writers leave a dictionary's or index page's place at 0 instead of leaving it out. */
static int64_t first_place(int64_t a, int64_t b) { return a <= 0 || (b > 0 && b < a) ? b : a; }

static void read_encodings(thrift *t, parquet_chunk *c) {
    int type;
    uint32_t n = thrift_list(t, &type);
    for (uint32_t i = 0; i < n && !t->wrong; i++) {
        if (type != THRIFT_I32) {
            thrift_skip(t, type == THRIFT_TRUE || type == THRIFT_FALSE ? THRIFT_I8 : type); /* in a list a truth value takes a byte */
            continue;
        }
        int32_t encoding = thrift_i32(t);
        c->encodings |= encoding >= 0 && encoding < 32 ? UINT32_C(1) << encoding : PARQUET_ENCODING_UNKNOWN;
    }
}

static void read_column_metadata(thrift *t, parquet_chunk *c) {
    thrift_field f = {0};
    int64_t place = 0;
    while (thrift_next(t, &f)) {
        if (thrift_is(&f, 2, THRIFT_LIST)) {
            read_encodings(t, c);
        } else if (thrift_is(&f, 4, THRIFT_I32)) {
            c->codec = thrift_i32(t);
        } else if (thrift_is(&f, 5, THRIFT_I64)) {
            c->values = thrift_integer(t);
        } else if (thrift_is(&f, 7, THRIFT_I64)) {
            c->length = thrift_integer(t);
        } else if (thrift_is(&f, 9, THRIFT_I64) || thrift_is(&f, 10, THRIFT_I64) || thrift_is(&f, 11, THRIFT_I64)) {
            place = first_place(place, thrift_integer(t));
        } else if (thrift_is(&f, 12, THRIFT_STRUCT)) {
            read_statistics(t, c);
        } else if (thrift_is(&f, 14, THRIFT_I64)) {
            c->bloom_offset = thrift_integer(t);
        } else if (thrift_is(&f, 15, THRIFT_I32)) {
            c->bloom_length = thrift_i32(t);
        } else {
            thrift_skip(t, f.type);
        }
    }
    c->offset = place;
}

static void read_chunk(thrift *t, parquet_chunk *c) {
    thrift_field f = {0};
    *c = (parquet_chunk){.values = -1, .nulls = -1, .codec = -1};
    while (thrift_next(t, &f)) {
        if (thrift_is(&f, 1, THRIFT_BINARY)) {
            if (thrift_binary(t).len) thrift_fail(t, "the data is in another file");
        } else if (thrift_is(&f, 3, THRIFT_STRUCT)) {
            read_column_metadata(t, c);
        } else if (thrift_is(&f, 4, THRIFT_I64)) {
            c->offset_index_offset = thrift_integer(t);
        } else if (thrift_is(&f, 6, THRIFT_I64)) {
            c->column_index_offset = thrift_integer(t);
        } else if (f.id == 8 || f.id == 9) {
            c->is_encrypted = true;
            thrift_skip(t, f.type);
        } else {
            thrift_skip(t, f.type);
        }
    }
}

typedef struct chunk_list {
    parquet_chunk *items;
    size_t count, capacity;
} chunk_list;

static silt_status read_chunks(thrift *t, const parquet_footer *footer, chunk_list *list, arena *a, silt_error *err) {
    int type;
    uint32_t n = thrift_list(t, &type);
    if (!t->wrong && (type != THRIFT_STRUCT || n != footer->n_leaves)) thrift_fail(t, "a row group has not the schema's columns");
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
    while (thrift_next(t, &f)) {
        if (list->items && thrift_is(&f, 1, THRIFT_LIST)) {
            TRY(read_chunks(t, footer, list, a, err));
        } else if (thrift_is(&f, 3, THRIFT_I64)) {
            int64_t n = thrift_integer(t);
            if (n < 0 || *rows > INT64_MAX - n)
                thrift_fail(t, "a row group has an impossible number of rows");
            else
                *rows += n;
        } else {
            thrift_skip(t, f.type);
        }
    }
    if (list->items && !t->wrong && list->count != before + footer->n_leaves) thrift_fail(t, "a row group without columns");
    return SILT_OK;
}

static silt_status read_row_groups(thrift *t, bool with_chunks, parquet_footer *out, arena *a, silt_error *err) {
    int type;
    uint32_t n = thrift_list(t, &type);
    int64_t rows = 0;
    chunk_list list = {0};
    if (!t->wrong && (type != THRIFT_STRUCT || !out->elements)) thrift_fail(t, "row groups before the schema");
    if (with_chunks && !t->wrong) {
        list.capacity = out->n_leaves ? out->n_leaves : 1;
        list.items = ARENA_ARRAY(a, list.capacity, parquet_chunk);
        if (!list.items) return error_no_memory(err);
    }
    for (uint32_t i = 0; i < n && !t->wrong; i++) TRY(read_row_group(t, out, &list, &rows, a, err));
    out->chunks = list.items;
    out->n_row_groups = n;
    if (!t->wrong && rows != out->n_rows) thrift_fail(t, "its rows are not the sum of its row groups'");
    return SILT_OK;
}

/* ---- the rest ---- */

static void read_key_value(thrift *t, parquet_footer *out) {
    thrift_field f = {0};
    str key = STR(""), val = STR_NULL;
    while (thrift_next(t, &f)) {
        if (thrift_is(&f, 1, THRIFT_BINARY))
            key = thrift_binary(t);
        else if (thrift_is(&f, 2, THRIFT_BINARY))
            val = thrift_binary(t);
        else
            thrift_skip(t, f.type);
    }
    if (str_eqz(key, "org.apache.spark.sql.parquet.row.metadata")) out->spark_schema = val;
    if (str_eqz(key, "org.apache.spark.legacyDateTime") || str_eqz(key, "org.apache.spark.legacyINT96")) out->is_rebased = true;
    bool before_3 = !str_is_null(val) && (str_starts_with(val, STR("2.")) || str_starts_with(val, STR("1.")));
    if (str_eqz(key, "org.apache.spark.version") && before_3) out->is_rebased = true;
    if (str_eqz(key, "writer.date.proleptic") && str_eqz(val, "false")) out->is_rebased = true; /* Hive */
}

static void read_key_values(thrift *t, parquet_footer *out) {
    int type;
    uint32_t n = thrift_list(t, &type);
    if (!t->wrong && type != THRIFT_STRUCT) thrift_fail(t, "key-value pairs of another type");
    for (uint32_t i = 0; i < n && !t->wrong; i++) read_key_value(t, out);
}

/* Every column by the order of its type, or the bounds mean nothing certain. */
static void read_orders(thrift *t, parquet_footer *out) {
    int type;
    uint32_t n = thrift_list(t, &type);
    bool all = n > 0 && type == THRIFT_STRUCT;
    for (uint32_t i = 0; i < n && !t->wrong; i++) {
        thrift_field f = {0};
        bool by_type = false;
        if (type != THRIFT_STRUCT) {
            thrift_skip(t, type);
            continue;
        }
        while (thrift_next(t, &f)) {
            by_type |= f.id == 1;
            thrift_skip(t, f.type);
        }
        all &= by_type;
    }
    out->has_type_order = all && !t->wrong;
}

static silt_status read_file_metadata(thrift *t, bool with_chunks, arena *a, parquet_footer *out, silt_error *err) {
    thrift_field f = {0};
    bool has_rows = false, has_groups = false;
    while (thrift_next(t, &f)) {
        if (thrift_is(&f, 2, THRIFT_LIST) && !out->elements) {
            TRY(read_schema(t, a, out, err));
        } else if (thrift_is(&f, 3, THRIFT_I64)) {
            out->n_rows = thrift_integer(t);
            has_rows = out->n_rows >= 0;
        } else if (thrift_is(&f, 4, THRIFT_LIST) && !has_groups) {
            has_groups = true;
            TRY(read_row_groups(t, with_chunks, out, a, err));
        } else if (thrift_is(&f, 5, THRIFT_LIST)) {
            read_key_values(t, out);
        } else if (thrift_is(&f, 6, THRIFT_BINARY)) {
            out->created_by = thrift_binary(t);
        } else if (thrift_is(&f, 7, THRIFT_LIST)) {
            read_orders(t, out);
        } else if (f.id == 8) {
            thrift_fail(t, "it is encrypted");
        } else {
            thrift_skip(t, f.type);
        }
    }
    if (!t->wrong && (!out->elements || !has_rows || !has_groups)) thrift_fail(t, "schema, rows or row groups are missing");
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
