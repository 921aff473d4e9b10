// The plain meaning of the gated delta rule, and the choice among its variants.
#include "kernels/delta/delta.h"

#include "kernels/math/math.h"

#include <math.h>

static float softplus(float x) { return x > 20.0f ? x : (float)math_log1p64(math_exp64((double)x)); }

float delta_query_factor(const struct delta_shape *s) { return (float)(1.0 / sqrt((double)s->k_dim)); }

void delta_gates(const struct delta_prepare_args *a, uint32_t begin, uint32_t end, math_row_fn *exp,
                 math_row_fn *sigmoid) {
    uint32_t group = a->shape->v_heads / a->shape->k_heads, first = begin * group, n = (end - begin) * group;
    for (uint32_t j = first; j < first + n; j++) a->alpha[j] = a->decay[j] * softplus(a->a[j] + a->dt_bias[j]);
    exp(a->alpha + first, a->alpha + first, n);
    sigmoid(a->b + first, a->beta + first, n);
}

static void unit(float *x, uint32_t n, float factor) {
    float s = 1.0f / sqrtf(math_squares(x, n) + DELTA_UNIT_EPS);
    for (uint32_t i = 0; i < n; i++) x[i] = (x[i] * s) * factor;
}

void delta_prepare_ref(const struct delta_prepare_args *a, uint32_t begin, uint32_t end) {
    const struct delta_shape *s = a->shape;
    for (uint32_t h = begin; h < end; h++) {
        unit(a->c + (size_t)h * s->k_dim, s->k_dim, delta_query_factor(s));
        unit(a->c + (size_t)(s->k_heads + h) * s->k_dim, s->k_dim, 1.0f);
    }
    delta_gates(a, begin, end, math_exp_row_ref, math_sigmoid_row_ref);
}

void delta_step_ref(const struct delta_step_args *a) {
    for (uint32_t c = 0; c < a->columns; c++) {
        const float *from = a->from + c;
        float *to = a->to + c, m = 0.0f, y = 0.0f;
        for (uint32_t i = 0; i < a->k_dim; i++) {
            float decayed = from[(size_t)i * a->ld_from] * a->alpha;
            to[(size_t)i * a->ld_to] = decayed;
            m = fmaf(decayed, a->k[i], m);
        }
        float d = a->beta * (a->v[c] - m);
        for (uint32_t i = 0; i < a->k_dim; i++) {
            float updated = fmaf(a->k[i], d, to[(size_t)i * a->ld_to]);
            to[(size_t)i * a->ld_to] = updated;
            y = fmaf(updated, a->q[i], y);
        }
        a->y[c] = y;
    }
}

delta_prepare_fn *delta_prepare_select(enum isa isa) {
    delta_prepare_fn *best = delta_prepare_ref;
#define VARIANT(fn, needs) best = isa >= (needs) ? fn : best;
#include "kernels/delta/delta_prepare.def"
#undef VARIANT
    return best;
}

delta_step_fn *delta_step_select(enum isa isa) {
    delta_step_fn *best = delta_step_ref;
#define VARIANT(fn, needs) best = isa >= (needs) ? fn : best;
#include "kernels/delta/delta.def"
#undef VARIANT
    return best;
}

uint32_t delta_step_columns(enum isa isa) { return isa >= ISA_AVX512 ? 64 : 32; }
