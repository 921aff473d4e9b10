// The plain meaning of the gated norm, and the choice among its variants.
#include "kernels/norm/norm_gated.h"

#include "kernels/math/math.h"

#include <math.h>
#include <stddef.h>

void norm_gated_ref(const struct norm_gated_args *a, uint32_t row_begin, uint32_t row_end) {
    for (uint32_t r = row_begin; r < row_end; r++) {
        const float *x = a->x + (size_t)r * a->ldx, *gate = a->gate + (size_t)r * a->ldgate;
        float *y = a->y + (size_t)r * a->ldy;
        float s = 1.0f / sqrtf(math_squares(x, a->n) / (float)a->n + a->eps);
        for (uint32_t i = 0; i < a->n; i++) y[i] = ((x[i] * s) * a->w[i]) * (gate[i] * math_sigmoid(gate[i]));
    }
}

norm_gated_fn *norm_gated_select(enum isa isa) {
    norm_gated_fn *best = norm_gated_ref;
#define VARIANT(fn, needs) best = isa >= (needs) ? fn : best;
#include "kernels/norm/norm_gated.def"
#undef VARIANT
    return best;
}
