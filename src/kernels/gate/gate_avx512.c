// The sigmoid gate in AVX-512, sixteen outputs side by side.
#include "kernels/gate/gate.h"
#include "kernels/math/math_avx512.h"

void gate_sigmoid_avx512(const struct gate_sigmoid_args *a, uint32_t row_begin, uint32_t row_end) {
    for (uint32_t r = row_begin; r < row_end; r++) {
        const float *x = a->x + (size_t)r * a->ldx, *gate = a->gate + (size_t)r * a->ldgate;
        float *y = a->y + (size_t)r * a->ldy;
        for (uint32_t i = 0; i < a->n; i += 16) {
            __mmask16 in = math_first_avx512(a->n - i);
            __m512 share = math_sigmoid_avx512(_mm512_maskz_loadu_ps(in, gate + i));
            _mm512_mask_storeu_ps(y + i, in, _mm512_mul_ps(_mm512_maskz_loadu_ps(in, x + i), share));
        }
    }
}
