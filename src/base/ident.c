/* UUIDs (RFC 4122), Z85 (ZeroMQ RFC 32), base64 (RFC 4648), CRC-32 and MD5 (RFC 1321). */
#include "base/ident.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/random.h>
#include <unistd.h>
#include <zlib.h>

void random_bytes(void *out, size_t len) {
    char *p = out;
    while (len > 0) {
        ssize_t n = getrandom(p, len, 0);
        if (n < 0) {
            if (errno == EINTR) continue;
            break;
        }
        p += n;
        len -= (size_t)n;
    }
    if (len == 0) return;
    int fd = open("/dev/urandom", O_RDONLY | O_CLOEXEC); /* kernels before 3.17, or a filter that forbids the call */
    while (len > 0 && fd >= 0) {
        ssize_t n = read(fd, p, len);
        if (n <= 0) {
            if (n < 0 && errno == EINTR) continue;
            break;
        }
        p += n;
        len -= (size_t)n;
    }
    if (fd >= 0) close(fd);
    if (len > 0) abort(); /* an identifier that might repeat would overwrite another writer's files */
}

void uuid_format(const uint8_t bytes[16], char out[37]) {
    static const char hex[] = "0123456789abcdef";
    char *p = out;
    for (int i = 0; i < 16; i++) {
        if (i == 4 || i == 6 || i == 8 || i == 10) *p++ = '-';
        *p++ = hex[bytes[i] >> 4];
        *p++ = hex[bytes[i] & 15];
    }
    *p = '\0';
}

void uuid_generate(char out[37]) {
    uint8_t bytes[16];
    random_bytes(bytes, sizeof bytes);
    bytes[6] = (uint8_t)((bytes[6] & 0x0f) | 0x40);
    bytes[8] = (uint8_t)((bytes[8] & 0x3f) | 0x80);
    uuid_format(bytes, out);
}

static int hex_value(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

bool uuid_parse(str text, uint8_t out[16]) {
    if (text.len != 36) return false;
    size_t at = 0;
    for (int i = 0; i < 16; i++) {
        if ((i == 4 || i == 6 || i == 8 || i == 10) && text.ptr[at++] != '-') return false;
        int high = hex_value(text.ptr[at]), low = hex_value(text.ptr[at + 1]);
        if (high < 0 || low < 0) return false;
        out[i] = (uint8_t)(high << 4 | low);
        at += 2;
    }
    return true;
}

static const char z85_digits[] = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#";

bool z85_encode(const uint8_t *bytes, size_t len, char *out) {
    if (len % 4 != 0) return false;
    for (size_t i = 0; i < len; i += 4) {
        uint32_t word = (uint32_t)bytes[i] << 24 | (uint32_t)bytes[i + 1] << 16 | (uint32_t)bytes[i + 2] << 8 | bytes[i + 3];
        for (int d = 4; d >= 0; d--) {
            out[d] = z85_digits[word % 85];
            word /= 85;
        }
        out += 5;
    }
    return true;
}

bool z85_decode(str text, uint8_t *out, size_t out_capacity, size_t *out_len) {
    if (text.len % 5 != 0 || text.len / 5 * 4 > out_capacity) return false;
    for (size_t i = 0; i < text.len; i += 5) {
        uint64_t word = 0;
        for (size_t d = 0; d < 5; d++) {
            char c = text.ptr[i + d];
            const char *digit = c ? strchr(z85_digits, c) : NULL;
            if (!digit) return false;
            word = word * 85 + (uint64_t)(digit - z85_digits);
        }
        if (word > UINT32_MAX) return false;
        for (int shift = 24; shift >= 0; shift -= 8) *out++ = (uint8_t)(word >> shift);
    }
    *out_len = text.len / 5 * 4;
    return true;
}

static const char base64_digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void base64_write(buf *out, const uint8_t *bytes, size_t len) {
    for (size_t i = 0; i < len; i += 3) {
        size_t n = len - i < 3 ? len - i : 3;
        uint32_t word = (uint32_t)bytes[i] << 16 | (n > 1 ? (uint32_t)bytes[i + 1] << 8 : 0) | (n > 2 ? bytes[i + 2] : 0u);
        char quad[4] = {base64_digits[word >> 18], base64_digits[word >> 12 & 63], base64_digits[word >> 6 & 63],
                        base64_digits[word & 63]};
        for (size_t pad = n + 1; pad < 4; pad++) quad[pad] = '=';
        buf_append_bytes(out, quad, 4);
    }
}

/* Padding is required and unused bits must be 0, so that one byte string has one text. */
bool base64_decode(str text, buf *out) {
    if (text.len % 4 != 0) return false;
    for (size_t i = 0; i < text.len; i += 4) {
        size_t n = 4;
        if (i + 4 == text.len) {
            if (text.ptr[i + 3] == '=') n = 3;
            if (n == 3 && text.ptr[i + 2] == '=') n = 2;
        }
        uint32_t word = 0;
        for (size_t d = 0; d < 4; d++) {
            char c = d < n ? text.ptr[i + d] : 'A';
            const char *digit = c ? strchr(base64_digits, c) : NULL;
            if (!digit) return false;
            word = word << 6 | (uint32_t)(digit - base64_digits);
        }
        if ((n == 2 && (word & 0xffff)) || (n == 3 && (word & 0xff))) return false;
        const char triple[3] = {(char)(word >> 16), (char)(word >> 8), (char)word};
        buf_append_bytes(out, triple, n - 1);
    }
    return buf_ok(out);
}

uint32_t crc32_of(const void *bytes, size_t len) { return (uint32_t)crc32_z(crc32_z(0, NULL, 0), len ? bytes : (const void *)"", len); }

/* ---- MD5 ---- */

static const uint32_t md5_sines[64] = {
    0xd76aa478, 0xe8c7b756, 0x242070db, 0xc1bdceee, 0xf57c0faf, 0x4787c62a, 0xa8304613, 0xfd469501, 0x698098d8, 0x8b44f7af, 0xffff5bb1,
    0x895cd7be, 0x6b901122, 0xfd987193, 0xa679438e, 0x49b40821, 0xf61e2562, 0xc040b340, 0x265e5a51, 0xe9b6c7aa, 0xd62f105d, 0x02441453,
    0xd8a1e681, 0xe7d3fbc8, 0x21e1cde6, 0xc33707d6, 0xf4d50d87, 0x455a14ed, 0xa9e3e905, 0xfcefa3f8, 0x676f02d9, 0x8d2a4c8a, 0xfffa3942,
    0x8771f681, 0x6d9d6122, 0xfde5380c, 0xa4beea44, 0x4bdecfa9, 0xf6bb4b60, 0xbebfbc70, 0x289b7ec6, 0xeaa127fa, 0xd4ef3085, 0x04881d05,
    0xd9d4d039, 0xe6db99e5, 0x1fa27cf8, 0xc4ac5665, 0xf4292244, 0x432aff97, 0xab9423a7, 0xfc93a039, 0x655b59c3, 0x8f0ccc92, 0xffeff47d,
    0x85845dd1, 0x6fa87e4f, 0xfe2ce6e0, 0xa3014314, 0x4e0811a1, 0xf7537e82, 0xbd3af235, 0x2ad7d2bb, 0xeb86d391};
static const uint8_t md5_shifts[4][4] = {{7, 12, 17, 22}, {5, 9, 14, 20}, {4, 11, 16, 23}, {6, 10, 15, 21}};

static void md5_block(uint32_t state[4], const uint8_t *p) {
    uint32_t a = state[0], b = state[1], c = state[2], d = state[3];
    for (unsigned i = 0; i < 64; i++) {
        uint32_t f;
        unsigned g;
        switch (i / 16) {
            case 0: f = (b & c) | (~b & d), g = i; break;
            case 1: f = (d & b) | (~d & c), g = (5 * i + 1) % 16; break;
            case 2: f = b ^ c ^ d, g = (3 * i + 5) % 16; break;
            default: f = c ^ (b | ~d), g = 7 * i % 16; break;
        }
        uint32_t word = (uint32_t)p[g * 4] | (uint32_t)p[g * 4 + 1] << 8 | (uint32_t)p[g * 4 + 2] << 16 | (uint32_t)p[g * 4 + 3] << 24;
        uint32_t sum = a + f + md5_sines[i] + word;
        unsigned shift = md5_shifts[i / 16][i % 4];
        a = d, d = c, c = b;
        b += sum << shift | sum >> (32 - shift);
    }
    state[0] += a, state[1] += b, state[2] += c, state[3] += d;
}

void md5_hex(const void *bytes, size_t len, char out[33]) {
    static const char hex[] = "0123456789abcdef";
    uint32_t state[4] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476};
    const uint8_t *p = bytes;
    size_t left = len;
    for (; left >= 64; left -= 64, p += 64) md5_block(state, p);
    uint8_t tail[128] = {0};
    if (left) memcpy(tail, p, left);
    tail[left] = 0x80;
    size_t tail_len = left < 56 ? 64 : 128;
    uint64_t bits = (uint64_t)len * 8;
    for (unsigned i = 0; i < 8; i++) tail[tail_len - 8 + i] = (uint8_t)(bits >> (8 * i));
    for (size_t at = 0; at < tail_len; at += 64) md5_block(state, tail + at);
    for (unsigned i = 0; i < 16; i++) {
        uint8_t byte = (uint8_t)(state[i / 4] >> (8 * (i % 4)));
        out[2 * i] = hex[byte >> 4];
        out[2 * i + 1] = hex[byte & 15];
    }
    out[32] = '\0';
}
