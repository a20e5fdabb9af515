/**
 * Thrift's compact protocol, read: what Parquet's footers and page headers are written in. Every read is bounds-checked, a list is believed only as far as there are bytes for it,
 * nesting is bounded. After the first thing that is wrong all reads give nothing and `wrong` says what it was. Internal to table/.
 * Source: Apache Thrift's specification of the compact protocol.
 */
#ifndef TABLE_THRIFT_H
#define TABLE_THRIFT_H

#include "base/base.h"

#define THRIFT_NESTING_MAX 64

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
    const char *wrong; /**< the first thing that was; NULL: all well */
} thrift;

typedef struct thrift_field {
    int id;
    int type;
} thrift_field;

bool thrift_fail(thrift *t, const char *why); /**< false */
uint64_t thrift_varint(thrift *t);
int64_t thrift_integer(thrift *t); /**< I16, I32, I64 */
int32_t thrift_i32(thrift *t);
str thrift_binary(thrift *t); /**< borrowed; "" after a failure */
/** Next field of a struct; false at its end. Begin with {0}. */
bool thrift_next(thrift *t, thrift_field *f);
/** The number of items that follow. */
uint32_t thrift_list(thrift *t, int *out_type);
void thrift_skip(thrift *t, int type);
void thrift_skip_bytes(thrift *t, size_t n);
/** Is it that field, of that type? Both words of a truth value are types of their own: THRIFT_TRUE asks for either. */
bool thrift_is(const thrift_field *f, int id, int type);

#endif
