// The plain meaning of the RMS norm, and the choice among its variants.
#include "kernels/norm/norm.h"

#include "kernels/math/math.h"

#include <math.h>
#include <stddef.h>

void norm_rms_ref(const struct norm_rms_args *a, uint32_t row_begin, uint32_t row_end) {
    for (uint32_t r = row_begin; r < row_end; r++) {
        const float *x = a->x + (size_t)r * a->ldx;
        float *y = a->y + (size_t)r * a->ldy;
        float mean = math_squares(x, a->n) / (float)a->n;
        float s = 1.0f / sqrtf(mean + a->eps);
        for (uint32_t i = 0; i < a->n; i++) y[i] = (x[i] * s) * a->w[i];
    }
}

norm_rms_fn *norm_rms_select(enum isa isa) {
    norm_rms_fn *best = norm_rms_ref;
#define VARIANT(fn, needs) best = isa >= (needs) ? fn : best;
#include "kernels/norm/norm.def"
#undef VARIANT
    return best;
}
