// Root-mean-square norm of rows, each value times SiLU of its gate.
#ifndef TF_KERNELS_NORM_NORM_GATED_H
#define TF_KERNELS_NORM_NORM_GATED_H

#include "base/cpu.h"

#include <stdint.h>

// y[r,i] = ((x[r,i] * s) * w[i]) * (g * sigmoid(g)),  g = gate[r,i],  s as in norm.h
// shape   x [rows][ldx], gate [rows][ldgate], y [rows][ldy] float, n values a row; w [n]
// needs   n >= 1; y may be x or gate with the same stride, no other overlap
// order   of the sum of squares: as in norm.h
// check   equal bits to the reference
struct norm_gated_args {
    const float *x, *gate;
    float *y;
    const float *w;
    uint32_t n, ldx, ldgate, ldy;
    float eps;
};
typedef void norm_gated_fn(const struct norm_gated_args *a, uint32_t row_begin, uint32_t row_end);

norm_gated_fn *norm_gated_select(enum isa isa);

#define VARIANT(fn, isa) norm_gated_fn fn;
#include "kernels/norm/norm_gated.def"
#undef VARIANT

#endif
