// SHA-256 over OpenSSL's EVP interface.
#include "base/sha256.h"

#include "base/mem.h"

#include <openssl/evp.h>

struct sha256 {
    EVP_MD_CTX *running, *copy; // the copy lets the sum be read without ending it
};

struct sha256 *sha256_new(void) {
    struct sha256 *s = mem_new(1, sizeof *s);
    if (!s) return NULL;
    s->running = EVP_MD_CTX_new();
    s->copy = EVP_MD_CTX_new();
    if (!s->running || !s->copy || EVP_DigestInit_ex(s->running, EVP_sha256(), NULL) != 1) {
        sha256_free(s);
        return NULL;
    }
    return s;
}

void sha256_free(struct sha256 *s) {
    if (!s) return;
    EVP_MD_CTX_free(s->running);
    EVP_MD_CTX_free(s->copy);
    mem_free(s);
}

void sha256_add(struct sha256 *s, const void *bytes, size_t n) {
    EVP_DigestUpdate(s->running, bytes, n);
}

void sha256_hex(const struct sha256 *s, char out[65]) {
    unsigned char sum[32];
    EVP_MD_CTX_copy_ex(s->copy, s->running);
    EVP_DigestFinal_ex(s->copy, sum, NULL);
    for (int i = 0; i < 32; i++) {
        out[2 * i] = "0123456789abcdef"[sum[i] >> 4];
        out[2 * i + 1] = "0123456789abcdef"[sum[i] & 15];
    }
    out[64] = '\0';
}
