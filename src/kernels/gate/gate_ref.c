// The plain meaning of the sigmoid gate, and the choice among its variants.
#include "kernels/gate/gate.h"

#include "kernels/math/math.h"

#include <stddef.h>

void gate_sigmoid_ref(const struct gate_sigmoid_args *a, uint32_t row_begin, uint32_t row_end) {
    for (uint32_t r = row_begin; r < row_end; r++) {
        const float *x = a->x + (size_t)r * a->ldx, *gate = a->gate + (size_t)r * a->ldgate;
        float *y = a->y + (size_t)r * a->ldy;
        for (uint32_t i = 0; i < a->n; i++) y[i] = x[i] * math_sigmoid(gate[i]);
    }
}

gate_sigmoid_fn *gate_sigmoid_select(enum isa isa) {
    gate_sigmoid_fn *best = gate_sigmoid_ref;
#define VARIANT(fn, needs) best = isa >= (needs) ? fn : best;
#include "kernels/gate/gate.def"
#undef VARIANT
    return best;
}
