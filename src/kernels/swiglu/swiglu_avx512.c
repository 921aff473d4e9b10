// The gated activation in AVX-512, sixteen outputs side by side.
#include "kernels/math/math_avx512.h"
#include "kernels/swiglu/swiglu.h"

#include <stddef.h>

void swiglu_avx512(const struct swiglu_args *a, uint32_t row_begin, uint32_t row_end) {
    for (uint32_t r = row_begin; r < row_end; r++) {
        size_t row = (size_t)r * a->ld;
        for (uint32_t i = 0; i < a->n; i += 16) {
            __mmask16 in = math_first_avx512(a->n - i);
            __m512 g = _mm512_maskz_loadu_ps(in, a->gate + row + i);
            __m512 u = _mm512_maskz_loadu_ps(in, a->up + row + i);
            _mm512_mask_storeu_ps(a->y + row + i, in, _mm512_mul_ps(_mm512_mul_ps(g, math_sigmoid_avx512(g)), u));
        }
    }
}
