// The gated norm in AVX2, eight outputs side by side.
#include "kernels/math/math_avx2.h"
#include "kernels/norm/norm_gated.h"

static inline __m256 gated(__m256 x, __m256 w, __m256 g) {
    return _mm256_mul_ps(_mm256_mul_ps(x, w), _mm256_mul_ps(g, math_sigmoid_avx2(g)));
}

void norm_gated_avx2(const struct norm_gated_args *a, uint32_t row_begin, uint32_t row_end) {
    for (uint32_t r = row_begin; r < row_end; r++) {
        const float *x = a->x + (size_t)r * a->ldx, *gate = a->gate + (size_t)r * a->ldgate;
        float *y = a->y + (size_t)r * a->ldy;
        __m256 s = _mm256_set1_ps(1.0f / sqrtf(math_squares_avx2(x, a->n) / (float)a->n + a->eps));
        uint32_t i = 0;
        for (; i + 8 <= a->n; i += 8) {
            __m256 scaled = _mm256_mul_ps(_mm256_loadu_ps(x + i), s);
            _mm256_storeu_ps(y + i, gated(scaled, _mm256_loadu_ps(a->w + i), _mm256_loadu_ps(gate + i)));
        }
        if (i == a->n) continue;
        __m256i in = math_first_avx2((int)(a->n - i));
        __m256 scaled = _mm256_mul_ps(_mm256_maskload_ps(x + i, in), s);
        __m256 w = _mm256_maskload_ps(a->w + i, in);
        _mm256_maskstore_ps(y + i, in, gated(scaled, w, _mm256_maskload_ps(gate + i, in)));
    }
}
