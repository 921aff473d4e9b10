// The RMS norm in AVX2: the sixteen lanes of its sum are two registers.
#include "kernels/math/math_avx2.h"
#include "kernels/norm/norm.h"

#include <stddef.h>

static float total_of_squares(const float *x, uint32_t n) {
    __m256 low = _mm256_setzero_ps(), high = _mm256_setzero_ps();
    uint32_t i = 0;
    for (; i + 16 <= n; i += 16) {
        __m256 a = _mm256_loadu_ps(x + i), b = _mm256_loadu_ps(x + i + 8);
        low = _mm256_fmadd_ps(a, a, low);
        high = _mm256_fmadd_ps(b, b, high);
    }
    if (i < n) { // lanes without a value add 0 * 0, which leaves a sum of squares as it is
        int left = (int)(n - i);
        __m256 a = _mm256_maskload_ps(x + i, math_first_avx2(left));
        low = _mm256_fmadd_ps(a, a, low);
        if (left > 8) a = _mm256_maskload_ps(x + i + 8, math_first_avx2(left - 8));
        if (left > 8) high = _mm256_fmadd_ps(a, a, high);
    }
    return math_tree_avx2(low, high);
}

void norm_rms_avx2(const struct norm_rms_args *a, uint32_t row_begin, uint32_t row_end) {
    for (uint32_t r = row_begin; r < row_end; r++) {
        const float *x = a->x + (size_t)r * a->ldx;
        float *y = a->y + (size_t)r * a->ldy;
        float mean = total_of_squares(x, a->n) / (float)a->n;
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
