// The gated delta rule: what a row makes of its convolved channels, and one step of the recurrence.
#ifndef TF_KERNELS_DELTA_DELTA_H
#define TF_KERNELS_DELTA_DELTA_H

#include "base/cpu.h"
#include "kernels/math/math.h"

#include <stddef.h>
#include <stdint.h>

// Channels of a row, side by side: q [k_heads][k_dim], k [k_heads][k_dim], v [v_heads][v_dim].
// Value head j goes with key head j / (v_heads / k_heads); v_heads is a multiple of k_heads.
struct delta_shape {
    uint32_t k_heads, v_heads, k_dim, v_dim;
};

static inline size_t delta_channels(const struct delta_shape *s) {
    return (size_t)2 * s->k_heads * s->k_dim + (size_t)s->v_heads * s->v_dim;
}

// q[h] = (q[h] * s) * k_dim^-1/2,  k[h] = k[h] * s,  each with its own s = 1 / sqrtf(sum of its squares + 1e-6)
// alpha[j] = exp(decay[j] * softplus(a[j] + dt_bias[j])),  beta[j] = sigmoid(b[j])
// softplus(x) = x above 20, else log(1 + exp(x)) in double, rounded once
// shape   c [channels] of one row, changed in place; the others [v_heads]; decay is -exp(A_log)
// order   of the sums of squares: math_squares
// check   equal bits to the reference
struct delta_prepare_args {
    const struct delta_shape *shape;
    float *c;
    const float *a, *b, *decay, *dt_bias;
    float *alpha, *beta;
};
// Key heads [begin, end) and the gates of their value heads.
typedef void delta_prepare_fn(const struct delta_prepare_args *a, uint32_t begin, uint32_t end);

#define DELTA_UNIT_EPS 1e-6f

// What every variant of delta_prepare shares: k_dim^-1/2 rounded once; the gates of key heads [begin, end).
float delta_query_factor(const struct delta_shape *s);
void delta_gates(const struct delta_prepare_args *a, uint32_t begin, uint32_t end, math_row_fn *exp,
                 math_row_fn *sigmoid);

// One row of one value head, columns of its state S [k_dim][columns] each by itself:
//   D = S * alpha;  m = sum over i of D[i] * k[i];  d = beta * (v - m);  S'[i] = fmaf(k[i], d, D[i]);
//   y = sum over i of S'[i] * q[i]
// shape   q, k [k_dim]; v, y [columns]; from, to [k_dim] rows ld_from and ld_to floats apart
// needs   to == from with the same stride allowed, no other overlap
// order   both sums: 0, then i ascending: m = fmaf(D[i], k[i], m), y = fmaf(S'[i], q[i], y)
// check   equal bits to the reference
struct delta_step_args {
    const float *q, *k, *v;
    float alpha, beta;
    const float *from;
    float *to, *y;
    uint32_t k_dim, columns, ld_from, ld_to;
};
typedef void delta_step_fn(const struct delta_step_args *a);

delta_prepare_fn *delta_prepare_select(enum isa isa);
delta_step_fn *delta_step_select(enum isa isa);
uint32_t delta_step_columns(enum isa isa); // that are best done at once: enough sums to fill the pipes

#define VARIANT(fn, isa) delta_prepare_fn fn;
#include "kernels/delta/delta_prepare.def"
#undef VARIANT
#define VARIANT(fn, isa) delta_step_fn fn;
#include "kernels/delta/delta.def"
#undef VARIANT

#endif
