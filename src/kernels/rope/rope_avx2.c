// Turning pairs in AVX2, eight pairs side by side.
#include "kernels/rope/rope.h"

#include <immintrin.h>
#include <math.h>
#include <stddef.h>

static void turn(float *lower, float *upper, const float *cosine, const float *sine, uint32_t half) {
    uint32_t i = 0;
    for (; i + 8 <= half; i += 8) {
        __m256 c = _mm256_loadu_ps(cosine + i), s = _mm256_loadu_ps(sine + i);
        __m256 x = _mm256_loadu_ps(lower + i), y = _mm256_loadu_ps(upper + i);
        _mm256_storeu_ps(lower + i, _mm256_fmsub_ps(x, c, _mm256_mul_ps(y, s)));
        _mm256_storeu_ps(upper + i, _mm256_fmadd_ps(y, c, _mm256_mul_ps(x, s)));
    }
    for (; i < half; i++) {
        float x = lower[i], y = upper[i];
        lower[i] = fmaf(x, cosine[i], -(y * sine[i]));
        upper[i] = fmaf(y, cosine[i], x * sine[i]);
    }
}

void rope_avx2(const struct rope_args *a, uint32_t row_begin, uint32_t row_end) {
    uint32_t half = a->dims / 2;
    for (uint32_t r = row_begin; r < row_end; r++) {
        size_t row = (size_t)r * half;
        for (uint32_t h = 0; h < a->heads; h++) {
            float *head = a->x + (size_t)r * a->ldx + (size_t)h * a->head_dim;
            turn(head, head + half, a->cosine + row, a->sine + row, half);
        }
    }
}
