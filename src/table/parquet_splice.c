/*
 * A footer is copied field by field: most as they are, offsets moved, some left out. Fields in Thrift's compact protocol carry the difference of their number to the one before,
 * so that each header is written anew.
 */
#include "table/parquet_splice.h"

#include <string.h>

#define MAX_NESTING 32
#define MAX_GROUPS  100000 /* of one file */

enum { TYPE_STOP, TYPE_TRUE, TYPE_FALSE, TYPE_I8, TYPE_I16, TYPE_I32, TYPE_I64, TYPE_F64, TYPE_BINARY, TYPE_LIST, TYPE_SET, TYPE_MAP, TYPE_STRUCT, TYPE_UUID };

typedef struct reader {
    const unsigned char *at, *end;
    int depth;
    bool failed;
} reader;

/* ---- reading ---- */

static bool fail(reader *r) {
    r->failed = true;
    r->at = r->end;
    return false;
}

static uint64_t read_varint(reader *r) {
    uint64_t v = 0;
    for (int shift = 0; shift < 64 && r->at < r->end; shift += 7) {
        unsigned char byte = *r->at++;
        v |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80)) return v;
    }
    fail(r);
    return 0;
}

static int64_t read_integer(reader *r) {
    uint64_t v = read_varint(r);
    return (int64_t)(v >> 1) ^ -(int64_t)(v & 1);
}

static bool step(reader *r, uint64_t n) {
    if (n > (uint64_t)(r->end - r->at)) return fail(r);
    r->at += n;
    return true;
}

typedef struct thrift_field {
    int64_t id;
    int type;
} thrift_field;

/* false at the end of the struct, and on failure. */
static bool next_field(reader *r, thrift_field *f) {
    if (r->at == r->end) return fail(r);
    unsigned char head = *r->at++;
    f->type = head & 0x0f;
    if (f->type == TYPE_STOP) return false;
    f->id = head >> 4 ? f->id + (head >> 4) : read_integer(r);
    return f->id >= 0 && f->id < 32768 ? !r->failed : fail(r);
}

static uint32_t read_list(reader *r, int *out_type) {
    *out_type = TYPE_STOP;
    if (r->at == r->end) return fail(r);
    unsigned char head = *r->at++;
    uint64_t n = head >> 4;
    *out_type = head & 0x0f;
    if (n == 15) n = read_varint(r);
    if (n > (uint64_t)(r->end - r->at)) return fail(r); /* every item takes a byte at least */
    return (uint32_t)n;
}

static void skip(reader *r, int type);

static void skip_list(reader *r) {
    int type;
    uint32_t n = read_list(r, &type);
    bool is_flag = type == TYPE_TRUE || type == TYPE_FALSE;
    for (uint32_t i = 0; i < n && !r->failed; i++) is_flag ? (void)step(r, 1) : skip(r, type);
}

static void skip_map(reader *r) {
    uint64_t n = read_varint(r);
    if (n == 0 || r->failed) return;
    if (n > (uint64_t)(r->end - r->at)) {
        fail(r);
        return;
    }
    unsigned char types = *r->at++;
    for (uint64_t i = 0; i < n && !r->failed; i++) {
        skip(r, types >> 4);
        skip(r, types & 0x0f);
    }
}

static void skip_struct(reader *r) {
    thrift_field f = {0, 0};
    while (next_field(r, &f)) skip(r, f.type);
}

static void skip(reader *r, int type) {
    if (r->failed || ++r->depth > MAX_NESTING) {
        fail(r);
        return;
    }
    switch (type) {
        case TYPE_TRUE:
        case TYPE_FALSE: break; /* in a field's header */
        case TYPE_I8: step(r, 1); break;
        case TYPE_I16:
        case TYPE_I32:
        case TYPE_I64: (void)read_varint(r); break;
        case TYPE_F64: step(r, 8); break;
        case TYPE_BINARY: step(r, read_varint(r)); break;
        case TYPE_LIST:
        case TYPE_SET: skip_list(r); break;
        case TYPE_MAP: skip_map(r); break;
        case TYPE_STRUCT: skip_struct(r); break;
        case TYPE_UUID: step(r, 16); break;
        default: fail(r);
    }
    r->depth--;
}

/* ---- writing ---- */

static void write_varint(buf *out, uint64_t v) {
    for (; v >= 0x80; v >>= 7) buf_append_char(out, (char)(v | 0x80));
    buf_append_char(out, (char)v);
}

static void write_integer(buf *out, int64_t v) { write_varint(out, (uint64_t)v << 1 ^ (uint64_t)(v >> 63)); }

static void write_field(buf *out, int64_t *last, int64_t id, int type) {
    if (id > *last && id - *last <= 15) {
        buf_append_char(out, (char)((id - *last) << 4 | type));
    } else {
        buf_append_char(out, (char)type);
        write_integer(out, id);
    }
    *last = id;
}

static void write_list(buf *out, uint64_t n, int type) {
    buf_append_char(out, (char)((n < 15 ? n : 15) << 4 | (unsigned)type));
    if (n >= 15) write_varint(out, n);
}

/* ---- copying with changes ---- */

typedef enum rule_kind { RULE_COPY, RULE_LEAVE_OUT, RULE_MOVE, RULE_REFUSE, RULE_STRUCT, RULE_STRUCTS } rule_kind;
typedef struct rule_set rule_set;
typedef struct rule {
    int id;
    rule_kind kind;
    const rule_set *inner; /* STRUCT, STRUCTS (a list of them) */
} rule;
struct rule_set {
    const rule *rules;
    size_t n;
};

/* ColumnMetaData: sizes and offsets of the pages; statistics, encoding statistics and the Bloom filter go. */
static const rule chunk_data_rules[] = {{8, RULE_LEAVE_OUT, NULL},  {9, RULE_MOVE, NULL},       {10, RULE_MOVE, NULL},      {11, RULE_MOVE, NULL},     {12, RULE_LEAVE_OUT, NULL},
                                        {13, RULE_LEAVE_OUT, NULL}, {14, RULE_LEAVE_OUT, NULL}, {15, RULE_LEAVE_OUT, NULL}, {16, RULE_LEAVE_OUT, NULL}, {17, RULE_LEAVE_OUT, NULL}};
static const rule_set chunk_data = {chunk_data_rules, ARRAY_LEN(chunk_data_rules)};
/* ColumnChunk: a path of another file and encryption cannot be moved; the page indexes go. */
static const rule chunk_rules[] = {{1, RULE_REFUSE, NULL},    {2, RULE_MOVE, NULL},      {3, RULE_STRUCT, &chunk_data}, {4, RULE_LEAVE_OUT, NULL}, {5, RULE_LEAVE_OUT, NULL},
                                   {6, RULE_LEAVE_OUT, NULL}, {7, RULE_LEAVE_OUT, NULL}, {8, RULE_REFUSE, NULL},        {9, RULE_REFUSE, NULL}};
static const rule_set chunk = {chunk_rules, ARRAY_LEN(chunk_rules)};
/* RowGroup: its own offset and number are told by its place. */
static const rule group_rules[] = {{1, RULE_STRUCTS, &chunk}, {5, RULE_LEAVE_OUT, NULL}, {7, RULE_LEAVE_OUT, NULL}};
static const rule_set group = {group_rules, ARRAY_LEN(group_rules)};

typedef struct mover {
    reader r;
    int64_t delta;
    buf *out;
} mover;

static void copy_struct(mover *m, const rule_set *rules);

static const rule *rule_of(const rule_set *rules, int64_t id) {
    for (size_t i = 0; i < rules->n; i++)
        if (rules->rules[i].id == id) return &rules->rules[i];
    return NULL;
}

static void copy_plain(mover *m, int64_t *last, const thrift_field *f) {
    const unsigned char *from = m->r.at;
    skip(&m->r, f->type);
    write_field(m->out, last, f->id, f->type);
    buf_append(m->out, (str){(const char *)from, (size_t)(m->r.at - from)});
}

/* 0 stands for "none" where an offset has no presence of its own. */
static void move_offset(mover *m, int64_t *last, const thrift_field *f) {
    int64_t v = read_integer(&m->r);
    if (f->type != TYPE_I64 || v < 0 || v > INT64_MAX / 4) {
        fail(&m->r);
        return;
    }
    write_field(m->out, last, f->id, TYPE_I64);
    write_integer(m->out, v == 0 ? 0 : v + m->delta);
}

static void copy_structs(mover *m, int64_t *last, const thrift_field *f, const rule_set *rules) {
    int type;
    uint32_t n = read_list(&m->r, &type);
    if (f->type != TYPE_LIST || (n && type != TYPE_STRUCT)) {
        fail(&m->r);
        return;
    }
    write_field(m->out, last, f->id, TYPE_LIST);
    write_list(m->out, n, TYPE_STRUCT);
    for (uint32_t i = 0; i < n && !m->r.failed; i++) copy_struct(m, rules);
}

static void copy_field(mover *m, int64_t *last, const thrift_field *f, const rule_set *rules) {
    const rule *special = rule_of(rules, f->id);
    switch (special ? special->kind : RULE_COPY) {
        case RULE_COPY: copy_plain(m, last, f); return;
        case RULE_LEAVE_OUT: skip(&m->r, f->type); return;
        case RULE_MOVE: move_offset(m, last, f); return;
        case RULE_REFUSE: fail(&m->r); return;
        case RULE_STRUCTS: copy_structs(m, last, f, special->inner); return;
        case RULE_STRUCT:
            if (f->type != TYPE_STRUCT) fail(&m->r);
            write_field(m->out, last, f->id, TYPE_STRUCT);
            copy_struct(m, special->inner);
            return;
    }
}

static void copy_struct(mover *m, const rule_set *rules) {
    thrift_field f = {0, 0};
    int64_t last = 0;
    while (next_field(&m->r, &f)) copy_field(m, &last, &f, rules);
    buf_append_char(m->out, TYPE_STOP);
}

/* ---- the footer ---- */

static str raw_value(reader *r, int type) {
    const unsigned char *from = r->at;
    skip(r, type);
    return r->failed ? STR_NULL : (str){(const char *)from, (size_t)(r->at - from)};
}

static void copy_groups(mover *m, const thrift_field *f, parquet_parts *out) {
    int type;
    out->n_groups = read_list(&m->r, &type);
    if (f->type != TYPE_LIST || (out->n_groups && type != TYPE_STRUCT) || out->n_groups > MAX_GROUPS) {
        fail(&m->r);
        return;
    }
    for (uint32_t i = 0; i < out->n_groups && !m->r.failed; i++) copy_struct(m, &group);
}

/* A key of GeoParquet changes what columns are read as. */
static bool has_meaning(str key_values) {
    static const char word[] = "geo";
    for (size_t i = 0; i + sizeof word - 1 < key_values.len; i++)
        if (key_values.ptr[i] == (char)(sizeof word - 1) && memcmp(key_values.ptr + i + 1, word, sizeof word - 1) == 0) return true;
    return false;
}

static void take_field(mover *m, const thrift_field *f, parquet_parts *out) {
    str raw;
    bool is_list = f->type == TYPE_LIST;
    switch (f->id) {
        case 1: out->version = read_integer(&m->r); break;
        case 2: out->schema = is_list ? raw_value(&m->r, f->type) : STR_NULL; break;
        case 3: out->n_rows = read_integer(&m->r); break;
        case 4: copy_groups(m, f, out); break;
        case 5:
            raw = raw_value(&m->r, f->type);
            if (!str_is_null(raw) && has_meaning(raw)) fail(&m->r);
            break;
        case 6:
            if (f->type != TYPE_BINARY) fail(&m->r);
            raw = raw_value(&m->r, TYPE_BINARY);
            out->created_by = raw;
            break;
        case 7: out->column_orders = is_list ? raw_value(&m->r, f->type) : STR_NULL; break;
        case 8:
        case 9: fail(&m->r); break; /* encryption */
        default: skip(&m->r, f->type);
    }
}

bool parquet_splice_parse(str footer, int64_t delta, buf *groups, parquet_parts *out) {
    mover m = {.r = {.at = (const unsigned char *)footer.ptr, .end = (const unsigned char *)footer.ptr + footer.len}, .delta = delta, .out = groups};
    thrift_field f = {0, 0};
    size_t before = groups->len;
    *out = (parquet_parts){0};
    while (next_field(&m.r, &f)) take_field(&m, &f, out);
    bool ok = !m.r.failed && buf_ok(groups) && !str_is_null(out->schema) && out->n_rows >= 0;
    if (!ok && buf_ok(groups)) groups->len = before;
    return ok;
}

bool parquet_splice_fits(const parquet_parts *a, const parquet_parts *b) {
    return str_eq(a->schema, b->schema) && str_eq(a->created_by, b->created_by) && str_eq(a->column_orders, b->column_orders);
}

void parquet_splice_init(parquet_splice *s) {
    *s = (parquet_splice){0};
    buf_init(&s->groups, BUF_MAX_DEFAULT);
}

void parquet_splice_dispose(parquet_splice *s) { buf_dispose(&s->groups); }

void parquet_splice_write_end(const parquet_splice *s, buf *out) {
    int64_t last = 0;
    size_t from = out->len;
    write_field(out, &last, 1, TYPE_I32);
    write_integer(out, s->first.version);
    write_field(out, &last, 2, TYPE_LIST);
    buf_append(out, s->first.schema);
    write_field(out, &last, 3, TYPE_I64);
    write_integer(out, s->n_rows);
    write_field(out, &last, 4, TYPE_LIST);
    write_list(out, (uint64_t)s->n_groups, TYPE_STRUCT);
    buf_append(out, buf_str(&s->groups));
    if (!str_is_null(s->first.created_by)) {
        write_field(out, &last, 6, TYPE_BINARY);
        buf_append(out, s->first.created_by);
    }
    if (!str_is_null(s->first.column_orders)) {
        write_field(out, &last, 7, TYPE_LIST);
        buf_append(out, s->first.column_orders);
    }
    buf_append_char(out, TYPE_STOP);
    uint32_t length = (uint32_t)(out->len - from);
    for (int i = 0; i < 4; i++) buf_append_char(out, (char)(length >> 8 * i));
    buf_append_z(out, "PAR1");
}
