/** Random and derived identifiers, and checksums. */
#ifndef BASE_IDENT_H
#define BASE_IDENT_H

#include "base/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A version 4 UUID as 36 characters and a NUL, from the system's random source. */
void uuid_generate(char out[37]);
/** Parse 36 characters to 16 bytes and back. */
bool uuid_parse(str text, uint8_t out[16]);
void uuid_format(const uint8_t bytes[16], char out[37]);
/** Z85 (ZeroMQ RFC 32): false on a bad character or length. Encoded length = len / 4 * 5; len must be a multiple of 4. */
bool z85_decode(str text, uint8_t *out, size_t out_capacity, size_t *out_len);
bool z85_encode(const uint8_t *bytes, size_t len, char *out);
void base64_write(buf *out, const uint8_t *bytes, size_t len);
bool base64_decode(str text, buf *out);
uint32_t crc32_of(const void *bytes, size_t len); /**< CRC-32/ISO-HDLC (zlib) */
void md5_hex(const void *bytes, size_t len, char out[33]);
void random_bytes(void *out, size_t len);

#ifdef __cplusplus
}
#endif

#endif
