/* The chain of a chunk's pages; see parquet_pages.h. */
#include "table/parquet_pages.h"

#include <errno.h>
#include <unistd.h>

#include "base/ident.h"
#include "table/thrift.h"

#define HEADER_BYTES     ((int64_t)512) /* most headers are far shorter; one that holds long bounds is read again */
#define HEADER_BYTES_MAX ((int64_t)1 << 20)
#define CRC_BYTES_MAX    ((int64_t)256 << 20)

const char parquet_page_damaged[] = "a page's checksum is not that of its bytes";

enum { PAGE_DATA, PAGE_INDEX, PAGE_DICTIONARY, PAGE_DATA_2 };

/* ---- headers ---- */

/* Of either form of data page, and of a dictionary's: the fields that matter have other numbers. */
static void read_kind(thrift *t, parquet_page *p, int encoding, int definitions, int repetitions) {
    thrift_field f = {0};
    while (thrift_next(t, &f)) {
        if (thrift_is(&f, 1, THRIFT_I32)) p->values = thrift_i32(t);
        else if (thrift_is(&f, encoding, THRIFT_I32)) p->encoding = thrift_i32(t);
        else if (thrift_is(&f, definitions, THRIFT_I32)) p->definition_encoding = thrift_i32(t);
        else if (thrift_is(&f, repetitions, THRIFT_I32)) p->repetition_encoding = thrift_i32(t);
        else thrift_skip(t, f.type);
    }
}

bool parquet_page_parse(str bytes, parquet_page *out, size_t *out_length) {
    thrift t = {.at = (const unsigned char *)bytes.ptr, .end = (const unsigned char *)bytes.ptr + bytes.len};
    thrift_field f = {0};
    *out = (parquet_page){.kind = -1, .bytes = -1, .plain_bytes = -1, .values = -1, .encoding = -1, .definition_encoding = PARQUET_ENCODED_RLE, .repetition_encoding = PARQUET_ENCODED_RLE};
    if (bytes.len == 0) return false;
    while (thrift_next(&t, &f)) {
        if (thrift_is(&f, 1, THRIFT_I32)) out->kind = thrift_i32(&t);
        else if (thrift_is(&f, 2, THRIFT_I32)) out->plain_bytes = thrift_i32(&t);
        else if (thrift_is(&f, 3, THRIFT_I32)) out->bytes = thrift_i32(&t);
        else if (thrift_is(&f, 4, THRIFT_I32)) out->has_crc = true, out->crc = (uint32_t)thrift_i32(&t);
        else if (thrift_is(&f, 5, THRIFT_STRUCT)) read_kind(&t, out, 2, 3, 4);
        else if (thrift_is(&f, 7, THRIFT_STRUCT)) read_kind(&t, out, 2, 0, 0);
        else if (thrift_is(&f, 8, THRIFT_STRUCT)) read_kind(&t, out, 4, 0, 0);
        else thrift_skip(&t, f.type);
    }
    *out_length = t.wrong ? 0 : (size_t)(t.at - (const unsigned char *)bytes.ptr);
    return !t.wrong;
}

/* ---- reading ---- */

static silt_status read_at(int fd, int64_t offset, int64_t length, buf *out, silt_error *err) {
    buf_clear(out);
    if (!buf_reserve(out, (size_t)length)) return error_no_memory(err);
    for (int64_t done = 0; done < length;) {
        ssize_t n = pread(fd, out->ptr + done, (size_t)(length - done), offset + done);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return error_from_errno(err, errno, "pread", STR("a data file"));
        if (n == 0) break;
        done += n;
        out->len += (size_t)n;
    }
    return SILT_OK;
}

silt_status parquet_pages_end(int fd, int64_t size, int64_t *out_end, const char **out_wrong, silt_error *err) {
    buf b;
    buf_init(&b, 64);
    silt_status status = size < 12 ? SILT_OK : read_at(fd, 0, 4, &b, err);
    bool begins = status == SILT_OK && str_eq(buf_str(&b), STR("PAR1"));
    if (begins) status = read_at(fd, size - 8, 8, &b, err);
    const unsigned char *p = (const unsigned char *)b.ptr;
    bool ends = begins && status == SILT_OK && b.len == 8 && memcmp(b.ptr + 4, "PAR1", 4) == 0;
    if (ends) *out_end = size - 8 - (int64_t)((uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24);
    *out_wrong = ends && *out_end >= 4 ? NULL : "it does not begin and end as a Parquet file does";
    buf_dispose(&b);
    return status;
}

/* ---- one page ---- */

/* As much as the first bytes tell. */
static bool begins_right(int32_t codec, const parquet_page *p, str bytes) {
    const unsigned char *b = (const unsigned char *)bytes.ptr;
    if (p->kind == PAGE_DATA_2 || p->bytes == 0) return true; /* levels come first, and are never compressed */
    switch (codec) {
        case PARQUET_UNCOMPRESSED: return p->bytes == p->plain_bytes;
        case PARQUET_SNAPPY: {
            thrift t = {.at = b, .end = b + bytes.len};
            return thrift_varint(&t) == (uint64_t)p->plain_bytes && !t.wrong;
        }
        case PARQUET_GZIP: return bytes.len >= 2 && b[0] == 0x1f && b[1] == 0x8b;
        case PARQUET_ZSTD: return bytes.len >= 4 && b[0] == 0x28 && b[1] == 0xb5 && b[2] == 0x2f && b[3] == 0xfd;
        default: return true;
    }
}

static silt_status check_crc(int fd, int64_t offset, const parquet_page *p, buf *bytes, const char **out_wrong, silt_error *err) {
    if (p->bytes > CRC_BYTES_MAX) {
        *out_wrong = "a page is too large for its checksum to be compared";
        return SILT_OK;
    }
    TRY(read_at(fd, offset, p->bytes, bytes, err));
    if ((int64_t)bytes->len != p->bytes || crc32_of(bytes->ptr, bytes->len) != p->crc) *out_wrong = parquet_page_damaged;
    return SILT_OK;
}

static const char *check_header(const parquet_page *p, const parquet_pages_rules *rules, int64_t left) {
    if (p->kind < PAGE_DATA || p->kind > PAGE_DATA_2 || p->bytes < 0 || p->plain_bytes < 0 || p->bytes > left) return "a page's header is impossible";
    if (p->kind == PAGE_INDEX) return "it has a page of an unknown kind";
    if (p->values < 0) return "a page's header is impossible";
    bool known = p->encoding >= 0 && p->encoding < 32 && (rules->encodings & UINT32_C(1) << p->encoding);
    bool levels = (!rules->has_definitions || p->definition_encoding == PARQUET_ENCODED_RLE) && (!rules->has_repetitions || p->repetition_encoding == PARQUET_ENCODED_RLE);
    return known && (p->kind != PAGE_DATA || levels) ? NULL : "a page is encoded in a way that not all readers know";
}

/* ---- the chain ---- */

/* At least the header and the first bytes of what follows, as far as there are any. */
static silt_status read_header(int fd, int64_t offset, int64_t left, buf *bytes, parquet_page *out, size_t *out_length, const char **out_wrong, silt_error *err) {
    for (int64_t wanted = HEADER_BYTES;; wanted *= 16) {
        int64_t n = wanted < left ? wanted : left;
        TRY(read_at(fd, offset, n, bytes, err));
        if (parquet_page_parse(buf_str(bytes), out, out_length) && (n == left || bytes->len - *out_length >= 16)) return SILT_OK;
        if (n == left || wanted >= HEADER_BYTES_MAX) break;
    }
    *out_wrong = "a page's header cannot be read";
    return SILT_OK;
}

static silt_status check_chain(int fd, const parquet_chunk *chunk, const parquet_pages_rules *rules, buf *bytes, const char **out_wrong, silt_error *err) {
    int64_t at = chunk->offset, end = chunk->offset + chunk->length, values = 0;
    while (at < end) {
        parquet_page p;
        size_t length = 0;
        TRY(read_header(fd, at, end - at, bytes, &p, &length, out_wrong, err));
        if (!*out_wrong) *out_wrong = check_header(&p, rules, end - at - (int64_t)length);
        if (!*out_wrong && p.kind == PAGE_DICTIONARY && at != chunk->offset) *out_wrong = "a dictionary stands behind the pages that use it";
        if (!*out_wrong && !begins_right(chunk->codec, &p, str_slice(buf_str(bytes), length, bytes->len))) *out_wrong = "a page is not compressed as the footer says";
        if (*out_wrong) return SILT_OK;
        at += (int64_t)length;
        if (p.has_crc) TRY(check_crc(fd, at, &p, bytes, out_wrong, err));
        if (*out_wrong) return SILT_OK;
        at += p.bytes;
        if (p.kind != PAGE_DICTIONARY) values += p.values;
    }
    if (values != chunk->values) *out_wrong = "its pages have not as many values as the footer says";
    return SILT_OK;
}

silt_status parquet_pages_check(int fd, int64_t end, const parquet_chunk *chunk, const parquet_pages_rules *rules, const char **out_wrong, silt_error *err) {
    bool inside = chunk->offset >= 4 && chunk->length > 0 && chunk->offset <= end && chunk->length <= end - chunk->offset;
    *out_wrong = inside ? NULL : "a column's place is not in the file";
    if (!inside) return SILT_OK;
    buf bytes;
    buf_init(&bytes, BUF_MAX_DEFAULT);
    silt_status status = check_chain(fd, chunk, rules, &bytes, out_wrong, err);
    buf_dispose(&bytes);
    return status;
}
