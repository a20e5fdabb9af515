/* A service account proves itself: a JSON Web Token, signed by its private key (RFC 7515, 7519, 7523). */
#include <openssl/evp.h>
#include <openssl/pem.h>

#include "base/ident.h"
#include "base/json.h"
#include "store/gcs/gcs.h"

#define SCOPE "https://www.googleapis.com/auth/devstorage.read_write"

/* Base64 in its alphabet for URLs, without padding. */
static void write_part(buf *out, str bytes) {
    size_t from = out->len;
    base64_write(out, (const uint8_t *)bytes.ptr, bytes.len);
    while (out->len > from && out->ptr[out->len - 1] == '=') out->len--;
    for (size_t i = from; i < out->len; i++) {
        if (out->ptr[i] == '+') out->ptr[i] = '-';
        if (out->ptr[i] == '/') out->ptr[i] = '_';
    }
}

static void write_header(buf *out, const gcs_account *c) {
    bool first = true;
    buf_append_char(out, '{');
    json_write_key(out, &first, "alg");
    json_write_str(out, STR("RS256"));
    json_write_key(out, &first, "typ");
    json_write_str(out, STR("JWT"));
    if (c->key_id.len) {
        json_write_key(out, &first, "kid");
        json_write_str(out, c->key_id);
    }
    buf_append_char(out, '}');
}

static void write_claims(buf *out, const gcs_account *c, int64_t now_s) {
    bool first = true;
    buf_append_char(out, '{');
    json_write_key(out, &first, "iss");
    json_write_str(out, c->email);
    json_write_key(out, &first, "scope");
    json_write_str(out, STR(SCOPE));
    json_write_key(out, &first, "aud");
    json_write_str(out, c->token_url);
    json_write_key(out, &first, "iat");
    json_write_i64(out, now_s);
    json_write_key(out, &first, "exp");
    json_write_i64(out, now_s + 3600);
    buf_append_char(out, '}');
}

/* A key under a password is not asked for on the terminal. */
static int no_password(char *out, int size, int is_writing, void *ctx) {
    (void)out;
    (void)size;
    (void)is_writing;
    (void)ctx;
    return 0;
}

static EVP_PKEY *read_key(str pem) {
    BIO *bio = pem.len < (1 << 20) ? BIO_new_mem_buf(pem.ptr, (int)pem.len) : NULL;
    EVP_PKEY *key = bio ? PEM_read_bio_PrivateKey(bio, NULL, no_password, NULL) : NULL;
    BIO_free(bio);
    if (key && EVP_PKEY_base_id(key) != EVP_PKEY_RSA) {
        EVP_PKEY_free(key);
        key = NULL;
    }
    return key;
}

static bool sign(EVP_PKEY *key, str text, unsigned char *out, size_t *length) {
    EVP_MD_CTX *ctx = EVP_MD_CTX_new();
    bool ok = ctx && EVP_DigestSignInit(ctx, NULL, EVP_sha256(), NULL, key) == 1 &&
              EVP_DigestSign(ctx, out, length, (const unsigned char *)text.ptr, text.len) == 1;
    EVP_MD_CTX_free(ctx);
    return ok;
}

static silt_status sign_token(const gcs_account *c, buf *token, silt_error *err) {
    unsigned char signature[2048];
    size_t length = sizeof signature;
    EVP_PKEY *key = read_key(c->key);
    if (!key) return err_STORE_CREDENTIAL_INVALID(err, c->email, "its private key is no RSA key in PEM");
    bool ok = (size_t)EVP_PKEY_size(key) <= sizeof signature && sign(key, buf_str(token), signature, &length);
    EVP_PKEY_free(key);
    if (!ok) return err_STORE_CREDENTIAL_INVALID(err, c->email, "its private key cannot sign");
    buf_append_char(token, '.');
    write_part(token, (str){(const char *)signature, length});
    return SILT_OK;
}

silt_status gcs_claim(const gcs_account *c, int64_t now_s, arena *a, str *out, silt_error *err) {
    buf part, token;
    buf_init(&part, 1 << 16);
    buf_init(&token, 1 << 17);
    write_header(&part, c);
    write_part(&token, buf_str(&part));
    buf_append_char(&token, '.');
    buf_clear(&part);
    write_claims(&part, c, now_s);
    write_part(&token, buf_str(&part));
    silt_status status = buf_ok(&part) && buf_ok(&token) ? sign_token(c, &token, err) : error_no_memory(err);
    if (status == SILT_OK) *out = buf_ok(&token) ? arena_str(a, buf_str(&token)) : STR_NULL;
    if (status == SILT_OK && str_is_null(*out)) status = error_no_memory(err);
    buf_dispose(&part);
    buf_dispose(&token);
    return status;
}
