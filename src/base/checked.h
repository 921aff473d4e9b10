// Sizes from outside go through checked arithmetic: each call says whether the result fits.
#ifndef TF_BASE_CHECKED_H
#define TF_BASE_CHECKED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

static inline bool checked_add(size_t a, size_t b, size_t *out) {
    return !__builtin_add_overflow(a, b, out);
}

static inline bool checked_mul(size_t a, size_t b, size_t *out) {
    return !__builtin_mul_overflow(a, b, out);
}

// Rounds up to a multiple of `step` (a power of two).
static inline bool checked_round_up(size_t n, size_t step, size_t *out) {
    if (!checked_add(n, step - 1, &n)) return false;
    *out = n & ~(step - 1);
    return true;
}

static inline size_t ceil_div(size_t n, size_t d) { return n / d + (n % d != 0); }

#endif
