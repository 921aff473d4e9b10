// The short causal convolution of each channel by itself, and SiLU of what it gives.
#ifndef TF_KERNELS_CONV_CONV_H
#define TF_KERNELS_CONV_CONV_H

#include "base/cpu.h"

#include <stdint.h>

enum { CONV_TAPS_MAX = 8 };

// y[c] = s * sigmoid(s),  s = sum over taps t of x[t][c] * w[t][c]
// shape   x [taps] rows of floats, oldest first, the last one the row itself: anywhere in memory, so that a row of a
//         tree has its own ancestors; w [taps][ldw]; y one row
// needs   1 <= taps <= CONV_TAPS_MAX, y overlaps nothing
// order   s = 0; taps ascending: s = fmaf(x, w, s)
// check   equal bits to the reference
struct conv_silu_args {
    const float *const *x;
    const float *w;
    float *y;
    uint32_t taps, ldw;
};
// Channels [begin, end).
typedef void conv_silu_fn(const struct conv_silu_args *a, uint32_t begin, uint32_t end);

conv_silu_fn *conv_silu_select(enum isa isa);

#define VARIANT(fn, isa) conv_silu_fn fn;
#include "kernels/conv/conv.def"
#undef VARIANT

#endif
