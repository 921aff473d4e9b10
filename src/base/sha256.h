// SHA-256 for reply fingerprints and content identities, over OpenSSL's libcrypto.
#ifndef TF_BASE_SHA256_H
#define TF_BASE_SHA256_H

#include <stddef.h>
#include <stdint.h>

struct sha256; // opaque running sum

struct sha256 *sha256_new(void); // NULL when there is no memory
void sha256_free(struct sha256 *s);
void sha256_add(struct sha256 *s, const void *bytes, size_t n);

// Writes the sum so far as 64 lower-case hex digits and a zero byte; the running sum may go on.
void sha256_hex(const struct sha256 *s, char out[65]);

#endif
