// The table of stored number formats.
#include "base/dtype.h"

#include <string.h>

static const struct {
    const char *name;
    uint32_t block, bytes;
} dtypes[DTYPE_COUNT] = {
#define X(name, text, elements, bytes) {text, elements, bytes},
    DTYPE_LIST(X)
#undef X
};

const char *dtype_name(enum dtype t) { return dtypes[t].name; }
uint32_t dtype_block(enum dtype t) { return dtypes[t].block; }
uint32_t dtype_block_bytes(enum dtype t) { return dtypes[t].bytes; }

bool dtype_find(const char *name, size_t n, enum dtype *out) {
    for (int t = 0; t < DTYPE_COUNT; t++) {
        if (strlen(dtypes[t].name) == n && memcmp(dtypes[t].name, name, n) == 0) {
            *out = (enum dtype)t;
            return true;
        }
    }
    return false;
}

bool dtype_bytes(enum dtype t, uint64_t n, uint64_t *bytes) {
    if (n % dtypes[t].block) return false;
    return !__builtin_mul_overflow(n / dtypes[t].block, (uint64_t)dtypes[t].bytes, bytes);
}
