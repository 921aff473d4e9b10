// The plain meaning of the gated activation, and the choice among its variants.
#include "kernels/swiglu/swiglu.h"

#include "kernels/math/math.h"

#include <stddef.h>

void swiglu_ref(const struct swiglu_args *a, uint32_t row_begin, uint32_t row_end) {
    for (uint32_t r = row_begin; r < row_end; r++) {
        size_t row = (size_t)r * a->ld;
        for (uint32_t i = 0; i < a->n; i++) {
            float g = a->gate[row + i];
            a->y[row + i] = (g * math_sigmoid(g)) * a->up[row + i];
        }
    }
}

swiglu_fn *swiglu_select(enum isa isa) {
    swiglu_fn *best = swiglu_ref;
#define VARIANT(fn, needs) best = isa >= (needs) ? fn : best;
#include "kernels/swiglu/swiglu.def"
#undef VARIANT
    return best;
}
