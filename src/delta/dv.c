/*
 * Deletion vectors, PROTOCOL.md "Deletion Vectors" and "Deletion Vector File Storage Format": where one is stored, and its bytes
 * checked in every way the format offers (version byte, stored size against the descriptor, CRC-32, cardinality) before a row is
 * left out because of it.
 */
#include "base/ident.h"
#include "base/uri.h"
#include "delta/delta.h"

#define UUID_TEXT  20 /* Z85 of 16 bytes */
#define DV_MAX     ((int64_t)1 << 31)
#define DV_VERSION 1

str delta_dv_unique_id(const delta_dv *dv, arena *a) {
    if (!dv || dv->storage == 0) return STR("");
    if (dv->offset < 0) return arena_printf(a, "%c%.*s", dv->storage, STR_ARG(dv->path_or_inline));
    return arena_printf(a, "%c%.*s@%d", dv->storage, STR_ARG(dv->path_or_inline), (int)dv->offset);
}

/* ---- paths of the log ---- */

/* "scheme:" at the front of a URI, where a '/' follows; 0 when there is none. */
static size_t scheme_length(str s) {
    size_t colon = str_find_char(s, ':');
    if (colon == SIZE_MAX || colon < 2 || colon + 1 >= s.len || s.ptr[colon + 1] != '/') return 0;
    for (size_t i = 0; i < colon; i++) {
        char c = s.ptr[i];
        bool letter = (c | 32) >= 'a' && (c | 32) <= 'z';
        if (!letter && (i == 0 || !((c >= '0' && c <= '9') || c == '+' || c == '-' || c == '.'))) return 0;
    }
    return colon;
}

static silt_status resolve_file_uri(const delta_env *env, str rest, arena *a, store **out_store, str *out_path, silt_error *err) {
    if (str_starts_with(rest, STR("//"))) { /* an authority, empty or this host */
        rest = str_slice(rest, 2, rest.len);
        size_t slash = str_find_char(rest, '/');
        rest = slash == SIZE_MAX ? STR("/") : str_slice(rest, slash, rest.len);
    }
    *out_store = env->store;
    *out_path = uri_decode(rest, a);
    if (!out_path->ptr) return error_no_memory(err);
    if (!env->stores) return SILT_OK;
    str location = arena_printf(a, "file:%.*s", STR_ARG(rest)); /* the local store may not be the one that holds the table */
    str ignored;
    if (!location.ptr) return error_no_memory(err);
    return store_registry_find(env->stores, location, a, out_store, &ignored, err);
}

silt_status delta_resolve_path(const delta_env *env, str root, str action_path, arena *a, store **out_store, str *out_path,
                               silt_error *err) {
    size_t scheme = scheme_length(action_path);
    if (scheme == 4 && memcmp(action_path.ptr, "file", 4) == 0)
        return resolve_file_uri(env, str_slice(action_path, 5, action_path.len), a, out_store, out_path, err);
    str path = uri_decode(action_path, a);
    if (!path.ptr) return error_no_memory(err);
    if (scheme) {
        if (!env->stores) return err_UNSUPPORTED_FEATURE(err, "files in another store than their table's");
        return store_registry_find(env->stores, path, a, out_store, out_path, err);
    }
    *out_store = env->store;
    *out_path = path.len && path.ptr[0] == '/' ? path : path_join(a, root, path);
    return out_path->ptr ? SILT_OK : error_no_memory(err);
}

/* ---- loading ---- */

static silt_status invalid(silt_error *err, str path, const char *why) {
    return err_DELTA_DELETION_VECTOR_INVALID(err, path, why);
}

/* "ab^-aqEH.-t@S}K{vb[*k^" → ab/deletion_vector_<uuid>.bin */
silt_status delta_dv_relative_path(const delta_dv *dv, arena *a, str *out, silt_error *err) {
    str text = dv->path_or_inline;
    uint8_t bytes[16];
    size_t n;
    char uuid[37];
    if (text.len < UUID_TEXT || !z85_decode(str_slice(text, text.len - UUID_TEXT, text.len), bytes, sizeof bytes, &n) ||
        n != sizeof bytes)
        return invalid(err, text, "its name is no encoded UUID");
    uuid_format(bytes, uuid);
    str prefix = str_slice(text, 0, text.len - UUID_TEXT);
    *out = prefix.len ? arena_printf(a, "%.*s/deletion_vector_%s.bin", STR_ARG(prefix), uuid)
                      : arena_printf(a, "deletion_vector_%s.bin", uuid);
    return out->ptr ? SILT_OK : error_no_memory(err);
}

static silt_status relative_path(const delta_env *env, str root, const delta_dv *dv, arena *a, store **out_store, str *out_path,
                                 silt_error *err) {
    str name;
    TRY(delta_dv_relative_path(dv, a, &name, err));
    *out_store = env->store;
    *out_path = path_join(a, root, name);
    return out_path->ptr ? SILT_OK : error_no_memory(err);
}

static uint32_t big_endian(const char *p) {
    const uint8_t *b = (const uint8_t *)p;
    return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
}

/* A file with vectors: `name` is what messages call it. */
typedef struct dv_file {
    store *store;
    str path, name;
} dv_file;

static silt_status read_range(const dv_file *f, int64_t offset, int64_t length, buf *out, silt_error *err) {
    silt_status status = store_read(f->store, f->path, offset, length, out, err);
    if (status == SILT_NOT_FOUND) return err_DELTA_FILE_NOT_FOUND_DETAILED(err, f->name);
    return status;
}

/* In a remote store a request costs more than so many bytes. */
#define READ_ALONG_BYTES 65536

/* The version byte, and what stands at `offset`; the former is taken off again. */
static silt_status read_stored_bytes(const dv_file *f, int64_t offset, int64_t length, buf *bytes, silt_error *err) {
    bool at_once = offset <= READ_ALONG_BYTES && store_is_remote(f->store);
    TRY(read_range(f, 0, at_once ? offset + length : 1, bytes, err));
    if (bytes->len == 0) return invalid(err, f->name, "the file is empty");
    if (bytes->ptr[0] != DV_VERSION) return invalid(err, f->name, "the file has an unknown format version");
    if (!at_once) {
        buf_clear(bytes);
        return read_range(f, offset, length, bytes, err);
    }
    size_t before = bytes->len < (size_t)offset ? bytes->len : (size_t)offset;
    memmove(bytes->ptr, bytes->ptr + before, bytes->len - before);
    bytes->len -= before;
    return SILT_OK;
}

/* size, body and CRC at the descriptor's offset; *out_body is in `bytes`. */
static silt_status read_stored(const dv_file *f, const delta_dv *dv, buf *bytes, str *out_body, silt_error *err) {
    TRY(read_stored_bytes(f, dv->offset < 0 ? 1 : dv->offset, (int64_t)dv->size_bytes + 8, bytes, err));
    if (bytes->len < 4) return err_DELTA_DELETION_VECTOR_SIZE_MISMATCH(err, f->name);
    if (big_endian(bytes->ptr) != (uint32_t)dv->size_bytes) return err_DELTA_DELETION_VECTOR_SIZE_MISMATCH(err, f->name);
    if (bytes->len != (size_t)dv->size_bytes + 8) return invalid(err, f->name, "the file is cut short");
    *out_body = (str){bytes->ptr + 4, (size_t)dv->size_bytes};
    if (crc32_of(out_body->ptr, out_body->len) != big_endian(bytes->ptr + 4 + out_body->len))
        return err_DELTA_DELETION_VECTOR_CHECKSUM_MISMATCH(err, f->name);
    return SILT_OK;
}

/*
 * Z85 encodes four bytes at a time. Writers that use Rust's z85 crate end a body of another length with a group such as "##093":
 * one '#' per byte that is missing, then the digits of the rest. A group of Z85 proper cannot begin with '#' (84 x 85^4 is above
 * 2^32), so the two never mix.
 */
static bool decode_inline(str text, uint8_t *out, size_t capacity, size_t *out_len) {
    static const char digits[] = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#";
    str tail = text.len >= 5 ? str_slice(text, text.len - 5, text.len) : STR("");
    size_t missing = 0;
    while (missing < tail.len && tail.ptr[missing] == '#') missing++;
    if (missing == 0 || missing > 3) return z85_decode(text, out, capacity, out_len);
    size_t n;
    uint64_t v = 0;
    if (!z85_decode(str_slice(text, 0, text.len - 5), out, capacity, &n) || capacity - n < 4 - missing) return false;
    for (size_t i = missing; i < 5; i++) {
        const char *at = tail.ptr[i] ? strchr(digits, tail.ptr[i]) : NULL;
        if (!at) return false;
        v = v * 85 + (uint64_t)(at - digits);
    }
    if (v >> (8 * (4 - missing))) return false;
    for (size_t i = 4 - missing; i-- > 0; v >>= 8) out[n + i] = (uint8_t)v;
    *out_len = n + 4 - missing;
    return true;
}

static silt_status read_inline(const delta_dv *dv, arena *a, str *out_body, silt_error *err) {
    str text = dv->path_or_inline;
    size_t capacity = text.len / 5 * 4 + 4, n;
    uint8_t *bytes = arena_alloc(a, capacity);
    if (!bytes) return error_no_memory(err);
    if (!decode_inline(text, bytes, capacity, &n)) return invalid(err, STR("<inline>"), "its text is not Z85");
    if ((size_t)dv->size_bytes > n) return err_DELTA_DELETION_VECTOR_SIZE_MISMATCH(err, STR("<inline>"));
    *out_body = (str){(const char *)bytes, (size_t)dv->size_bytes};
    return SILT_OK;
}

static silt_status read_body(const delta_env *env, str root, const delta_dv *dv, arena *a, buf *bytes, str *out_body,
                             str *out_name, silt_error *err) {
    dv_file f;
    *out_name = STR("<inline>");
    if (dv->size_bytes < 0 || dv->size_bytes >= DV_MAX - 8)
        return err_DELTA_DELETION_VECTOR_SIZE_MISMATCH(err, dv->path_or_inline);
    switch (dv->storage) {
        case 'i': return read_inline(dv, a, out_body, err);
        case 'u': TRY(relative_path(env, root, dv, a, &f.store, &f.path, err)); break;
        case 'p': TRY(delta_resolve_path(env, root, dv->path_or_inline, a, &f.store, &f.path, err)); break;
        default: return invalid(err, dv->path_or_inline, "its storage type is unknown");
    }
    *out_name = f.name = store_path_named(f.store, f.path, a);
    return read_stored(&f, dv, bytes, out_body, err);
}

static silt_status parse_body(str body, str path, int64_t cardinality, bitmap **out, silt_error *err) {
    silt_error why = {0};
    silt_status status = bitmap_parse_portable(body, out, &why);
    if (status == SILT_NO_MEMORY) return error_no_memory(err);
    if (status != SILT_OK) return invalid(err, path, why.detail[0] ? why.detail : "its bytes are no bitmap");
    int64_t found = (int64_t)bitmap_cardinality(*out);
    if (found == cardinality) return SILT_OK;
    bitmap_free(*out);
    *out = NULL;
    return err_DELTA_DELETION_VECTOR_CARDINALITY_MISMATCH(err, path, cardinality, found);
}

silt_status delta_dv_load(const delta_env *env, str root, const delta_dv *dv, bitmap **out, silt_error *err) {
    *out = NULL;
    arena *a = arena_new();
    if (!a) return error_no_memory(err);
    buf bytes;
    buf_init(&bytes, (size_t)DV_MAX);
    str body, path;
    silt_status status = read_body(env, root, dv, a, &bytes, &body, &path, err);
    if (status == SILT_OK) status = parse_body(body, path, dv->cardinality, out, err);
    buf_dispose(&bytes);
    arena_free(a);
    return status;
}
