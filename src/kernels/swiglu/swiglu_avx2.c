// The gated activation in AVX2, eight outputs side by side.
#include "kernels/math/math_avx2.h"
#include "kernels/swiglu/swiglu.h"

#include <stddef.h>

static inline __m256 gated(__m256 g, __m256 u) { return _mm256_mul_ps(_mm256_mul_ps(g, math_sigmoid_avx2(g)), u); }

void swiglu_avx2(const struct swiglu_args *a, uint32_t row_begin, uint32_t row_end) {
    for (uint32_t r = row_begin; r < row_end; r++) {
        const float *gate = a->gate + (size_t)r * a->ld, *up = a->up + (size_t)r * a->ld;
        float *y = a->y + (size_t)r * a->ld;
        uint32_t i = 0;
        for (; i + 8 <= a->n; i += 8)
            _mm256_storeu_ps(y + i, gated(_mm256_loadu_ps(gate + i), _mm256_loadu_ps(up + i)));
        if (i == a->n) continue;
        __m256i in = math_first_avx2((int)(a->n - i));
        _mm256_maskstore_ps(y + i, in, gated(_mm256_maskload_ps(gate + i, in), _mm256_maskload_ps(up + i, in)));
    }
}
