/*
 * Deletion vectors as Delta's own writer lays them out: one file holds the vectors of many data files, each as its size (big-endian), its bytes and their CRC-32
 * (big-endian) behind one version byte, so that a DELETE that touches a thousand data files makes one or two objects and not a thousand. A vector of a few rows may go
 * into the log itself: no object, no request when it is read.
 */
#include "delta/dv_write.h"

#include "base/ident.h"
#include "base/uri.h"

#define FORMAT_VERSION 1
#define PACK_BYTES     ((size_t)2 << 20)
#define FILE_MAX       ((size_t)1 << 31)

/** The file being filled. */
typedef struct packer {
    const delta_env *env;
    str root, prefix;
    size_t inline_max;
    arena *a;
    silt_error *err;
    buf bytes;
    delta_dv_job **waiting; /* whose bytes are in `bytes` */
    size_t n_waiting;
    str *paths;
    size_t n_paths, paths_capacity;
} packer;

static void append_big_endian(buf *b, uint32_t v) {
    for (int shift = 24; shift >= 0; shift -= 8) buf_append_char(b, (char)(v >> shift & 0xff));
}

/* Z85 takes four bytes at a time: zeros behind the last one, which sizeInBytes leaves out again. */
static silt_status store_inline(const packer *p, str body, delta_dv *out) {
    size_t padded = (body.len + 3) / 4 * 4;
    uint8_t *bytes = arena_calloc(p->a, padded, 1);
    char *text = arena_alloc(p->a, padded / 4 * 5 + 1);
    if (!bytes || !text) return error_no_memory(p->err);
    memcpy(bytes, body.ptr, body.len);
    if (!z85_encode(bytes, padded, text)) return err_INTERNAL_ERROR(p->err, "a deletion vector that cannot be encoded");
    out->storage = 'i';
    out->path_or_inline = (str){text, padded / 4 * 5};
    out->offset = -1;
    out->size_bytes = (int32_t)body.len;
    return SILT_OK;
}

/* A name in the descriptor's form: prefix and Z85 of the UUID. */
static silt_status name_file(const packer *p, str *out_path, str *out_encoded) {
    char uuid[37], encoded[21] = {0};
    uint8_t bytes[16];
    uuid_generate(uuid);
    if (!uuid_parse((str){uuid, 36}, bytes) || !z85_encode(bytes, sizeof bytes, encoded))
        return err_INTERNAL_ERROR(p->err, "a UUID that cannot be encoded");
    str folder = str_is_null(p->prefix) ? p->root : path_join(p->a, p->root, p->prefix);
    str name = arena_printf(p->a, "deletion_vector_%s.bin", uuid);
    if (str_is_null(folder) || str_is_null(name)) return error_no_memory(p->err);
    *out_path = path_join(p->a, folder, name);
    *out_encoded = arena_printf(p->a, "%.*s%.20s", STR_ARG(p->prefix), encoded);
    return str_is_null(*out_path) || str_is_null(*out_encoded) ? error_no_memory(p->err) : SILT_OK;
}

static silt_status flush(packer *p) {
    if (p->n_waiting == 0) return SILT_OK;
    str path, encoded;
    TRY(name_file(p, &path, &encoded));
    if (!buf_ok(&p->bytes) || !ARENA_PUSH(p->a, p->paths, p->n_paths, p->paths_capacity, path)) return error_no_memory(p->err);
    TRY(store_put_own(p->env->store, path, buf_str(&p->bytes), p->err));
    for (size_t i = 0; i < p->n_waiting; i++) p->waiting[i]->out.path_or_inline = encoded;
    p->n_waiting = 0;
    buf_clear(&p->bytes);
    return SILT_OK;
}

static silt_status pack(packer *p, str body, delta_dv_job *job) {
    if (body.len > FILE_MAX - 64) return err_UNSUPPORTED_FEATURE(p->err, "deletion vectors of more than 2 GB");
    if (p->n_waiting > 0 && p->bytes.len + body.len > PACK_BYTES) TRY(flush(p));
    if (p->n_waiting == 0) buf_append_char(&p->bytes, FORMAT_VERSION);
    job->out.storage = 'u';
    job->out.offset = (int32_t)p->bytes.len;
    job->out.size_bytes = (int32_t)body.len;
    append_big_endian(&p->bytes, (uint32_t)body.len);
    buf_append(&p->bytes, body);
    append_big_endian(&p->bytes, crc32_of(body.ptr, body.len));
    p->waiting[p->n_waiting++] = job;
    return SILT_OK;
}

static silt_status write_one(packer *p, delta_dv_job *job, buf *body) {
    buf_clear(body);
    TRY(bitmap_write_portable(job->rows, body, p->err));
    job->out = (delta_dv){.cardinality = (int64_t)bitmap_cardinality(job->rows)};
    return body->len <= p->inline_max ? store_inline(p, buf_str(body), &job->out) : pack(p, buf_str(body), job);
}

silt_status delta_dv_write(const delta_env *env, const delta_dv_place *place, delta_dv_job *jobs, size_t n, arena *a,
                           str **out_paths, size_t *out_n, silt_error *err) {
    packer p = {.env = env,
                .root = place->root,
                .prefix = place->random_prefix,
                .inline_max = place->inline_max_bytes,
                .a = a,
                .err = err,
                .waiting = ARENA_ARRAY(a, n + 1, delta_dv_job *)};
    buf body;
    silt_status status = p.waiting ? SILT_OK : error_no_memory(err);
    buf_init(&p.bytes, FILE_MAX);
    buf_init(&body, FILE_MAX);
    for (size_t i = 0; i < n && status == SILT_OK; i++) status = write_one(&p, &jobs[i], &body);
    if (status == SILT_OK) status = flush(&p);
    buf_dispose(&p.bytes);
    buf_dispose(&body);
    *out_paths = p.paths;
    *out_n = p.n_paths;
    return status;
}
