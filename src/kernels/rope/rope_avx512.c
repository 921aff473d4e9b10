// Turning pairs in AVX-512, sixteen pairs side by side.
#include "kernels/math/math_avx512.h"
#include "kernels/rope/rope.h"

#include <stddef.h>

static void turn(float *lower, float *upper, const float *cosine, const float *sine, uint32_t half) {
    for (uint32_t i = 0; i < half; i += 16) {
        __mmask16 in = math_first_avx512(half - i);
        __m512 c = _mm512_maskz_loadu_ps(in, cosine + i), s = _mm512_maskz_loadu_ps(in, sine + i);
        __m512 x = _mm512_maskz_loadu_ps(in, lower + i), y = _mm512_maskz_loadu_ps(in, upper + i);
        _mm512_mask_storeu_ps(lower + i, in, _mm512_fmsub_ps(x, c, _mm512_mul_ps(y, s)));
        _mm512_mask_storeu_ps(upper + i, in, _mm512_fmadd_ps(y, c, _mm512_mul_ps(x, s)));
    }
}

void rope_avx512(const struct rope_args *a, uint32_t row_begin, uint32_t row_end) {
    uint32_t half = a->dims / 2;
    for (uint32_t r = row_begin; r < row_end; r++) {
        size_t row = (size_t)r * half;
        for (uint32_t h = 0; h < a->heads; h++) {
            float *head = a->x + (size_t)r * a->ldx + (size_t)h * a->head_dim;
            turn(head, head + half, a->cosine + row, a->sine + row, half);
        }
    }
}
