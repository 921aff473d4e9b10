// The plain meaning of the short convolution, and the choice among its variants.
#include "kernels/conv/conv.h"

#include "kernels/math/math.h"

#include <math.h>
#include <stddef.h>

void conv_silu_ref(const struct conv_silu_args *a, uint32_t begin, uint32_t end) {
    for (uint32_t c = begin; c < end; c++) {
        float s = 0.0f;
        for (uint32_t t = 0; t < a->taps; t++) s = fmaf(a->x[t][c], a->w[(size_t)t * a->ldw + c], s);
        a->y[c] = s * math_sigmoid(s);
    }
}

conv_silu_fn *conv_silu_select(enum isa isa) {
    conv_silu_fn *best = conv_silu_ref;
#define VARIANT(fn, needs) best = isa >= (needs) ? fn : best;
#include "kernels/conv/conv.def"
#undef VARIANT
    return best;
}
