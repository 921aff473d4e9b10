// The gated activation of the MLP: silu(gate) * up.
#ifndef TF_KERNELS_SWIGLU_SWIGLU_H
#define TF_KERNELS_SWIGLU_SWIGLU_H

#include "base/cpu.h"

#include <stdint.h>

// y[r,i] = (g * sigmoid(g)) * u,  g = gate[r,i], u = up[r,i],  sigmoid(g) = 1 / (1 + exp(-g)) with our own exp
// shape   gate, up, y [rows][ld] float, n values a row
// needs   y == gate or y == up allowed, no other overlap
// order   none: every output stands alone
// check   equal bits to the reference
struct swiglu_args {
    const float *gate, *up;
    float *y;
    uint32_t n, ld;
};
typedef void swiglu_fn(const struct swiglu_args *a, uint32_t row_begin, uint32_t row_end);

swiglu_fn *swiglu_select(enum isa isa);

#define VARIANT(fn, isa) swiglu_fn fn;
#include "kernels/swiglu/swiglu.def"
#undef VARIANT

#endif
