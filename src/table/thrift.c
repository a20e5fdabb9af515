/* Thrift's compact protocol, read; see thrift.h. */
#include "table/thrift.h"

bool thrift_fail(thrift *t, const char *why) {
    if (!t->wrong) t->wrong = why;
    t->at = t->end;
    return false;
}

uint64_t thrift_varint(thrift *t) {
    uint64_t v = 0;
    for (int shift = 0; shift < 64; shift += 7) {
        if (t->at == t->end) break;
        unsigned char byte = *t->at++;
        v |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80)) return v;
    }
    thrift_fail(t, "a number is cut short");
    return 0;
}

int64_t thrift_integer(thrift *t) {
    uint64_t v = thrift_varint(t);
    return (int64_t)(v >> 1) ^ -(int64_t)(v & 1);
}

int32_t thrift_i32(thrift *t) {
    int64_t v = thrift_integer(t);
    if (v < INT32_MIN || v > INT32_MAX) thrift_fail(t, "a number is out of range");
    return v < INT32_MIN || v > INT32_MAX ? 0 : (int32_t)v;
}

str thrift_binary(thrift *t) {
    uint64_t len = thrift_varint(t);
    if (len > (uint64_t)(t->end - t->at)) {
        thrift_fail(t, "a string is cut short");
        return STR("");
    }
    str s = {(const char *)t->at, (size_t)len};
    t->at += len;
    return s;
}

/* Next field of a struct; false at its end. */
bool thrift_next(thrift *t, thrift_field *f) {
    if (t->wrong || t->at == t->end) return thrift_fail(t, "a structure is cut short");
    unsigned char head = *t->at++;
    f->type = head & 0x0f;
    if (f->type == THRIFT_STOP) return false;
    int delta = head >> 4;
    f->id = delta ? f->id + delta : thrift_i32(t);
    if (f->id < -32768 || f->id > 32767) return thrift_fail(t, "a field number is out of range");
    return !t->wrong;
}

uint32_t thrift_list(thrift *t, int *out_type) {
    if (t->wrong || t->at == t->end) {
        thrift_fail(t, "a list is cut short");
        return 0;
    }
    unsigned char head = *t->at++;
    uint64_t n = head >> 4;
    *out_type = head & 0x0f;
    if (n == 15) n = thrift_varint(t);
    if (n > (uint64_t)(t->end - t->at)) { /* every item takes a byte at least */
        thrift_fail(t, "a list is cut short");
        return 0;
    }
    return (uint32_t)(n > UINT32_MAX ? 0 : n);
}

static void skip_items(thrift *t) {
    int type;
    uint32_t n = thrift_list(t, &type);
    for (uint32_t i = 0; i < n && !t->wrong; i++) {
        if (type == THRIFT_TRUE || type == THRIFT_FALSE) /* in a list they take a byte */
            thrift_skip(t, THRIFT_I8);
        else
            thrift_skip(t, type);
    }
}

static void skip_map(thrift *t) {
    uint64_t n = thrift_varint(t);
    if (n == 0) return;
    if (t->at == t->end || n > (uint64_t)(t->end - t->at)) {
        thrift_fail(t, "a map is cut short");
        return;
    }
    unsigned char types = *t->at++;
    for (uint64_t i = 0; i < n && !t->wrong; i++) {
        thrift_skip(t, types >> 4);
        thrift_skip(t, types & 0x0f);
    }
}

void thrift_skip_bytes(thrift *t, size_t n) {
    if ((size_t)(t->end - t->at) < n)
        thrift_fail(t, "a value is cut short");
    else
        t->at += n;
}

static void skip_struct(thrift *t) {
    thrift_field f = {0};
    while (thrift_next(t, &f)) thrift_skip(t, f.type);
}

void thrift_skip(thrift *t, int type) {
    if (t->depth == THRIFT_NESTING_MAX) thrift_fail(t, "structures are nested too deeply");
    if (t->wrong) return;
    t->depth++;
    switch (type) {
        case THRIFT_TRUE:
        case THRIFT_FALSE: break;
        case THRIFT_I8: thrift_skip_bytes(t, 1); break;
        case THRIFT_I16:
        case THRIFT_I32:
        case THRIFT_I64: (void)thrift_varint(t); break;
        case THRIFT_DOUBLE: thrift_skip_bytes(t, 8); break;
        case THRIFT_BINARY: (void)thrift_binary(t); break;
        case THRIFT_LIST:
        case THRIFT_SET: skip_items(t); break;
        case THRIFT_MAP: skip_map(t); break;
        case THRIFT_STRUCT: skip_struct(t); break;
        case THRIFT_UUID: thrift_skip_bytes(t, 16); break;
        default: thrift_fail(t, "an unknown type"); break;
    }
    t->depth--;
}

bool thrift_is(const thrift_field *f, int id, int type) {
    return f->id == id && (f->type == type || (type == THRIFT_TRUE && f->type == THRIFT_FALSE));
}
