// The sigmoid gate of an attention layer's output.
#ifndef TF_KERNELS_GATE_GATE_H
#define TF_KERNELS_GATE_GATE_H

#include "base/cpu.h"

#include <stdint.h>

// y[r,i] = x[r,i] * sigmoid(gate[r,i])
// shape   x [rows][ldx], gate [rows][ldgate], y [rows][ldy] float, n values a row
// needs   n >= 1; y may be x or gate with the same stride, no other overlap
// order   elementwise
// check   equal bits to the reference
struct gate_sigmoid_args {
    const float *x, *gate;
    float *y;
    uint32_t n, ldx, ldgate, ldy;
};
typedef void gate_sigmoid_fn(const struct gate_sigmoid_args *a, uint32_t row_begin, uint32_t row_end);

gate_sigmoid_fn *gate_sigmoid_select(enum isa isa);

#define VARIANT(fn, isa) gate_sigmoid_fn fn;
#include "kernels/gate/gate.def"
#undef VARIANT

#endif
