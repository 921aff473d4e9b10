// The fingerprint of a reply: SHA-256 over its ids, short enough to compare by eye.
#include "engine/engine.h"

#include "base/sha256.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void engine_token_sha(const int32_t *ids, size_t n, char out[13]) {
    char hex[65] = "", text[16];
    struct sha256 *sum = sha256_new();
    for (size_t i = 0; sum && i < n; i++) {
        int length = snprintf(text, sizeof text, i ? ",%d" : "%d", ids[i]);
        sha256_add(sum, text, (size_t)length);
    }
    if (sum) sha256_hex(sum, hex);
    sha256_free(sum);
    memcpy(out, hex, 12);
    out[12] = '\0';
}

uint64_t engine_default_seed(const int32_t *prompt, size_t n) {
    char sha[13];
    engine_token_sha(prompt, n, sha);
    return strtoull(sha, NULL, 16);
}
