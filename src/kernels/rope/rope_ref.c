// Rotary frequencies and angles, the plain meaning of turning pairs, and the choice among its variants.
#include "kernels/rope/rope.h"

#include "kernels/math/math.h"

#include <math.h>
#include <stddef.h>

void rope_frequencies(double theta, uint32_t dims, double *inverse) {
    double log_theta = math_log64(theta);
    for (uint32_t i = 0; 2 * i < dims; i++) inverse[i] = math_exp64(-(2.0 * (double)i / (double)dims) * log_theta);
}

void rope_scale_llama3(const struct rope_llama3 *s, uint32_t n, double *inverse) {
    const double two_pi = 0x1.921fb54442d18p+2;
    for (uint32_t i = 0; i < n; i++) {
        double wavelength = two_pi / inverse[i];
        double turns = s->original_context / wavelength; // within the context the model was first trained on
        double keep = (turns - s->low_freq_factor) / (s->high_freq_factor - s->low_freq_factor);
        if (wavelength > s->original_context / s->low_freq_factor) keep = 0.0;
        if (wavelength < s->original_context / s->high_freq_factor) keep = 1.0;
        inverse[i] = (1.0 - keep) * (inverse[i] / s->factor) + keep * inverse[i];
    }
}

void rope_row(int64_t position, const double *inverse, uint32_t n, float scale, float *cosine, float *sine) {
    for (uint32_t i = 0; i < n; i++) {
        double s, c;
        math_sincos64((double)position * inverse[i], &s, &c);
        cosine[i] = (float)c * scale;
        sine[i] = (float)s * scale;
    }
}

void rope_ref(const struct rope_args *a, uint32_t row_begin, uint32_t row_end) {
    uint32_t half = a->dims / 2;
    for (uint32_t r = row_begin; r < row_end; r++) {
        const float *c = a->cosine + (size_t)r * half, *s = a->sine + (size_t)r * half;
        for (uint32_t h = 0; h < a->heads; h++) {
            float *lower = a->x + (size_t)r * a->ldx + (size_t)h * a->head_dim, *upper = lower + half;
            for (uint32_t i = 0; i < half; i++) {
                float x = lower[i], y = upper[i];
                lower[i] = fmaf(x, c[i], -(y * s[i]));
                upper[i] = fmaf(y, c[i], x * s[i]);
            }
        }
    }
}

rope_fn *rope_select(enum isa isa) {
    rope_fn *best = rope_ref;
#define VARIANT(fn, needs) best = isa >= (needs) ? fn : best;
#include "kernels/rope/rope.def"
#undef VARIANT
    return best;
}
