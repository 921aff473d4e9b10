// The gated norm in AVX-512, sixteen outputs side by side.
#include "kernels/math/math_avx512.h"
#include "kernels/norm/norm_gated.h"

void norm_gated_avx512(const struct norm_gated_args *a, uint32_t row_begin, uint32_t row_end) {
    for (uint32_t r = row_begin; r < row_end; r++) {
        const float *x = a->x + (size_t)r * a->ldx, *gate = a->gate + (size_t)r * a->ldgate;
        float *y = a->y + (size_t)r * a->ldy;
        __m512 s = _mm512_set1_ps(1.0f / sqrtf(math_squares_avx512(x, a->n) / (float)a->n + a->eps));
        for (uint32_t i = 0; i < a->n; i += 16) {
            __mmask16 in = math_first_avx512(a->n - i);
            __m512 g = _mm512_maskz_loadu_ps(in, gate + i);
            __m512 scaled = _mm512_mul_ps(_mm512_maskz_loadu_ps(in, x + i), s);
            __m512 normed = _mm512_mul_ps(scaled, _mm512_maskz_loadu_ps(in, a->w + i));
            __m512 silu = _mm512_mul_ps(g, math_sigmoid_avx512(g));
            _mm512_mask_storeu_ps(y + i, in, _mm512_mul_ps(normed, silu));
        }
    }
}
