// Rotary positions: angles in double once a position, then pairs of head values turned in fp32.
#ifndef TF_KERNELS_ROPE_ROPE_H
#define TF_KERNELS_ROPE_ROPE_H

#include "base/cpu.h"

#include <stdint.h>

// Inverse frequencies 1 / theta^(2i/dims), 2i < dims (which may be odd), in double by the project's own exp and log.
void rope_frequencies(double theta, uint32_t dims, double *inverse);

// The llama3 rule on top of them: wavelengths over original/low are divided by factor, those under original/high stay,
// those between are blended.
struct rope_llama3 {
    double factor, low_freq_factor, high_freq_factor, original_context;
};
void rope_scale_llama3(const struct rope_llama3 *s, uint32_t n, double *inverse);

// cosine[i], sine[i] of position * inverse[i], reduced and evaluated in double, rounded once to fp32, times `scale`.
// shape   cosine, sine [n] float; inverse [n] double.  position >= 0
void rope_row(int64_t position, const double *inverse, uint32_t n, float scale, float *cosine, float *sine);

// In place, halves paired (i, i + dims/2), i < dims/2; values past `dims` of a head stay:
//   x'[i]          = fmaf(x[i], c, -(x[i + dims/2] * s))
//   x'[i + dims/2] = fmaf(x[i + dims/2], c, x[i] * s)
// shape   x [rows][ldx] float holding `heads` heads of `head_dim`; cosine, sine [rows][dims/2]
// check   equal bits to the reference
struct rope_args {
    float *x;
    uint32_t ldx, heads, head_dim, dims;
    const float *cosine, *sine;
};
typedef void rope_fn(const struct rope_args *a, uint32_t row_begin, uint32_t row_end);

rope_fn *rope_select(enum isa isa);

#define VARIANT(fn, isa) rope_fn fn;
#include "kernels/rope/rope.def"
#undef VARIANT

#endif
