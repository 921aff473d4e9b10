// Root-mean-square norm of rows.
#ifndef TF_KERNELS_NORM_NORM_H
#define TF_KERNELS_NORM_NORM_H

#include "base/cpu.h"

#include <stdint.h>

// y[r,i] = (x[r,i] * s) * w[i],  s = 1 / sqrtf(mean + eps),  mean = total / (float)n
// shape   x [rows][ldx], y [rows][ldy] float, n values a row; w [n] float (zero-centred weights are stored as 1 + w)
// needs   n >= 1, y == x allowed, no other overlap
// order   total: 16 lanes, lane l sums i = l, l+16, ... ascending with fmaf(x, x, lane); then the fixed tree
//         lane[l] += lane[l+8], += lane[l+4], += lane[l+2], += lane[l+1]
// check   equal bits to the reference
struct norm_rms_args {
    const float *x;
    float *y;
    const float *w;
    uint32_t n, ldx, ldy;
    float eps;
};
typedef void norm_rms_fn(const struct norm_rms_args *a, uint32_t row_begin, uint32_t row_end);

norm_rms_fn *norm_rms_select(enum isa isa);

#define VARIANT(fn, isa) norm_rms_fn fn;
#include "kernels/norm/norm.def"
#undef VARIANT

#endif
