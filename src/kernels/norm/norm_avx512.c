// The RMS norm in AVX-512.
#include "kernels/math/math_avx512.h"
#include "kernels/norm/norm.h"

#include <stddef.h>

void norm_rms_avx512(const struct norm_rms_args *a, uint32_t row_begin, uint32_t row_end) {
    for (uint32_t r = row_begin; r < row_end; r++) {
        const float *x = a->x + (size_t)r * a->ldx;
        float *y = a->y + (size_t)r * a->ldy;
        float mean = math_squares_avx512(x, a->n) / (float)a->n;
        __m512 scale = _mm512_set1_ps(1.0f / sqrtf(mean + a->eps));
        for (uint32_t i = 0; i < a->n; i += 16) {
            __mmask16 in = math_first_avx512(a->n - i);
            __m512 scaled = _mm512_mul_ps(_mm512_maskz_loadu_ps(in, x + i), scale);
            _mm512_mask_storeu_ps(y + i, in, _mm512_mul_ps(scaled, _mm512_maskz_loadu_ps(in, a->w + i)));
        }
    }
}
