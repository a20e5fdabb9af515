/* hash() and xxhash64() as Spark computes them: Murmur3_x86_32 and XXH64 over each value's Spark representation, seed 42, each result seeding the next. */
#include "engine/functions_call.h"
#include "engine/functions_nested.h"

/* ---- Murmur3, 32 bits, as org.apache.spark.unsafe.hash does it (trailing bytes one by one, signed) ---- */

static uint32_t rotl32(uint32_t x, int r) { return x << r | x >> (32 - r); }
static uint32_t mix_k(uint32_t k) { return rotl32(k * 0xcc9e2d51u, 15) * 0x1b873593u; }
static uint32_t mix_h(uint32_t h, uint32_t k) { return rotl32(h ^ k, 13) * 5 + 0xe6546b64u; }
static uint32_t finish32(uint32_t h, uint32_t len) {
    h ^= len;
    h ^= h >> 16;
    h *= 0x85ebca6bu;
    h ^= h >> 13;
    h *= 0xc2b2ae35u;
    return h ^ h >> 16;
}
static uint32_t murmur_int(uint32_t v, uint32_t seed) { return finish32(mix_h(seed, mix_k(v)), 4); }
static uint32_t murmur_long(uint64_t v, uint32_t seed) {
    return finish32(mix_h(mix_h(seed, mix_k((uint32_t)v)), mix_k((uint32_t)(v >> 32))), 8);
}
static uint32_t murmur_bytes(str s, uint32_t seed) {
    uint32_t h = seed, k;
    size_t i = 0;
    for (; i + 4 <= s.len; i += 4) {
        memcpy(&k, s.ptr + i, 4);
        h = mix_h(h, mix_k(k));
    }
    for (; i < s.len; i++) h = mix_h(h, mix_k((uint32_t)(int32_t)(int8_t)s.ptr[i]));
    return finish32(h, (uint32_t)s.len);
}

/* ---- XXH64 ---- */

#define P1 0x9E3779B185EBCA87u
#define P2 0xC2B2AE3D27D4EB4Fu
#define P3 0x165667B19E3779F9u
#define P4 0x85EBCA77C2B2AE63u
#define P5 0x27D4EB2F165667C5u

static uint64_t rotl64(uint64_t x, int r) { return x << r | x >> (64 - r); }
static uint64_t finish64(uint64_t h) {
    h ^= h >> 33;
    h *= P2;
    h ^= h >> 29;
    h *= P3;
    return h ^ h >> 32;
}
static uint64_t xx_int(uint32_t v, uint64_t seed) {
    uint64_t h = seed + P5 + 4;
    h ^= (uint64_t)v * P1;
    return finish64(rotl64(h, 23) * P2 + P3);
}
static uint64_t xx_long(uint64_t v, uint64_t seed) {
    uint64_t h = seed + P5 + 8;
    h ^= rotl64(v * P2, 31) * P1;
    return finish64(rotl64(h, 27) * P1 + P4);
}
static uint64_t xx_round(uint64_t acc, uint64_t v) { return rotl64(acc + v * P2, 31) * P1; }
static uint64_t xx_bytes(str s, uint64_t seed) {
    const char *p = s.ptr;
    size_t left = s.len;
    uint64_t h, v;
    uint32_t w;
    if (left >= 32) {
        uint64_t a[4] = {seed + P1 + P2, seed + P2, seed, seed - P1};
        for (; left >= 32; left -= 32) {
            for (int i = 0; i < 4; i++, p += 8) {
                memcpy(&v, p, 8);
                a[i] = xx_round(a[i], v);
            }
        }
        h = rotl64(a[0], 1) + rotl64(a[1], 7) + rotl64(a[2], 12) + rotl64(a[3], 18);
        for (int i = 0; i < 4; i++) h = (h ^ xx_round(0, a[i])) * P1 + P4;
    } else {
        h = seed + P5;
    }
    h += s.len;
    for (; left >= 8; left -= 8, p += 8) {
        memcpy(&v, p, 8);
        h = rotl64(h ^ xx_round(0, v), 27) * P1 + P4;
    }
    if (left >= 4) {
        memcpy(&w, p, 4);
        h = rotl64(h ^ (uint64_t)w * P1, 23) * P2 + P3;
        left -= 4;
        p += 4;
    }
    for (; left > 0; left--, p++) h = rotl64(h ^ (uint64_t)(unsigned char)*p * P5, 11) * P1;
    return finish64(h);
}

/* ---- values ---- */

typedef struct hasher {
    bool wide;
} hasher;

static uint64_t hash_int(const hasher *h, uint32_t v, uint64_t seed) {
    return h->wide ? xx_int(v, seed) : murmur_int(v, (uint32_t)seed);
}
static uint64_t hash_long(const hasher *h, uint64_t v, uint64_t seed) {
    return h->wide ? xx_long(v, seed) : murmur_long(v, (uint32_t)seed);
}
static uint64_t hash_bytes(const hasher *h, str s, uint64_t seed) {
    return h->wide ? xx_bytes(s, seed) : murmur_bytes(s, (uint32_t)seed);
}

/* A decimal beyond 18 digits hashes as the bytes of its BigInteger: big-endian two's complement, as short as possible. */
static uint64_t hash_big(const hasher *h, int128 v, uint64_t seed) {
    char bytes[16];
    for (int i = 0; i < 16; i++) bytes[i] = (char)(v >> (8 * (15 - i)));
    int from = 0;
    while (from < 15 &&
           ((bytes[from] == 0 && !(bytes[from + 1] & 0x80)) || (bytes[from] == (char)0xFF && (bytes[from + 1] & 0x80))))
        from++;
    return hash_bytes(h, (str){bytes + from, (size_t)(16 - from)}, seed);
}

static uint64_t hash_value(const hasher *h, const nested *n, idx_t row, uint64_t seed) {
    if (nested_is_null(n, row)) return seed;
    int128 v = 0;
    switch (n->id) {
        case DUCKDB_TYPE_BOOLEAN: return hash_int(h, ((const bool *)n->data)[row], seed);
        case DUCKDB_TYPE_TINYINT:
        case DUCKDB_TYPE_SMALLINT:
        case DUCKDB_TYPE_INTEGER: (void)nested_exact(n, row, &v); return hash_int(h, (uint32_t)(int32_t)v, seed);
        case DUCKDB_TYPE_DATE: return hash_int(h, (uint32_t)((const int32_t *)n->data)[row], seed);
        case DUCKDB_TYPE_BIGINT:
        case DUCKDB_TYPE_TIMESTAMP:
        case DUCKDB_TYPE_TIMESTAMP_TZ: return hash_long(h, ((const uint64_t *)n->data)[row], seed);
        case DUCKDB_TYPE_FLOAT: {
            float f = ((const float *)n->data)[row];
            uint32_t bits;
            if (f == 0) f = 0; /* -0.0 hashes as 0.0 */
            memcpy(&bits, &f, 4);
            if (f != f) bits = 0x7fc00000u;
            return hash_int(h, bits, seed);
        }
        case DUCKDB_TYPE_DOUBLE: {
            double d = ((const double *)n->data)[row];
            uint64_t bits;
            if (d == 0) d = 0;
            memcpy(&bits, &d, 8);
            if (d != d) bits = 0x7ff8000000000000u;
            return hash_long(h, bits, seed);
        }
        case DUCKDB_TYPE_DECIMAL:
            (void)nested_exact(n, row, &v);
            return n->precision <= 18 ? hash_long(h, (uint64_t)(int64_t)v, seed) : hash_big(h, v, seed);
        case DUCKDB_TYPE_INTERVAL: {
            duckdb_interval i = ((const duckdb_interval *)n->data)[row];
            if (i.months) return hash_int(h, (uint32_t)i.months, seed);
            return hash_long(h, (uint64_t)((int64_t)i.days * 86400000000LL + i.micros), seed);
        }
        case DUCKDB_TYPE_VARCHAR:
        case DUCKDB_TYPE_BLOB: return hash_bytes(h, nested_str(n, row), seed);
        case DUCKDB_TYPE_LIST: {
            duckdb_list_entry e = nested_list(n, row);
            for (idx_t i = 0; i < e.length; i++) seed = hash_value(h, &n->children[0], e.offset + i, seed);
            return seed;
        }
        case DUCKDB_TYPE_STRUCT:
            for (idx_t i = 0; i < n->n_children; i++) seed = hash_value(h, &n->children[i], row, seed);
            return seed;
        default: return seed;
    }
}

static bool hash_row(call *c, idx_t row, bool wide, uint64_t *out) {
    hasher h = {wide};
    uint64_t seed = 42;
    for (idx_t i = 0; i < c->n_args; i++) {
        const nested *n = call_nested(c, i);
        if (!n) {
            call_raise(c, "OUT_OF_MEMORY", "53200", "Out of memory");
            return false;
        }
        seed = hash_value(&h, n, row, seed);
    }
    *out = seed;
    return true;
}

static void hash32(call *c, idx_t row) {
    uint64_t v;
    if (hash_row(c, row, false, &v)) ret_i32(c, row, (int32_t)(uint32_t)v);
}

static void hash64(call *c, idx_t row) {
    uint64_t v;
    if (hash_row(c, row, true, &v)) ret_i64(c, row, (int64_t)v);
}

static const call_def defs[] = {{"silt_hash", hash32, "+", 'i', CALL_NULLS}, {"silt_xxhash64", hash64, "+", 'l', CALL_NULLS}};

const call_group calls_hash = {defs, ARRAY_LEN(defs)};
