// The RMS norm in AVX2.
#include "kernels/math/math_avx2.h"
#include "kernels/norm/norm.h"

#include <stddef.h>

void norm_rms_avx2(const struct norm_rms_args *a, uint32_t row_begin, uint32_t row_end) {
    for (uint32_t r = row_begin; r < row_end; r++) {
        const float *x = a->x + (size_t)r * a->ldx;
        float *y = a->y + (size_t)r * a->ldy;
        float mean = math_squares_avx2(x, a->n) / (float)a->n;
        float s = 1.0f / sqrtf(mean + a->eps);
        __m256 scale = _mm256_set1_ps(s);
        uint32_t i = 0;
        for (; i + 8 <= a->n; i += 8) {
            __m256 scaled = _mm256_mul_ps(_mm256_loadu_ps(x + i), scale);
            _mm256_storeu_ps(y + i, _mm256_mul_ps(scaled, _mm256_loadu_ps(a->w + i)));
        }
        for (; i < a->n; i++) y[i] = (x[i] * s) * a->w[i];
    }
}
