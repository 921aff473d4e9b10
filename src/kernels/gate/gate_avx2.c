// The sigmoid gate in AVX2, eight outputs side by side.
#include "kernels/gate/gate.h"
#include "kernels/math/math_avx2.h"

void gate_sigmoid_avx2(const struct gate_sigmoid_args *a, uint32_t row_begin, uint32_t row_end) {
    for (uint32_t r = row_begin; r < row_end; r++) {
        const float *x = a->x + (size_t)r * a->ldx, *gate = a->gate + (size_t)r * a->ldgate;
        float *y = a->y + (size_t)r * a->ldy;
        uint32_t i = 0;
        for (; i + 8 <= a->n; i += 8) {
            __m256 share = math_sigmoid_avx2(_mm256_loadu_ps(gate + i));
            _mm256_storeu_ps(y + i, _mm256_mul_ps(_mm256_loadu_ps(x + i), share));
        }
        if (i == a->n) continue;
        __m256i in = math_first_avx2((int)(a->n - i));
        __m256 share = math_sigmoid_avx2(_mm256_maskload_ps(gate + i, in));
        _mm256_maskstore_ps(y + i, in, _mm256_mul_ps(_mm256_maskload_ps(x + i, in), share));
    }
}
