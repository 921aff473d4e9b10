// The short convolution in AVX-512, sixteen channels side by side.
#include "kernels/conv/conv.h"
#include "kernels/math/math_avx512.h"

void conv_silu_avx512(const struct conv_silu_args *a, uint32_t begin, uint32_t end) {
    for (uint32_t c = begin; c < end; c += 16) {
        __mmask16 in = math_first_avx512(end - c);
        __m512 s = _mm512_setzero_ps();
        for (uint32_t t = 0; t < a->taps; t++) {
            __m512 w = _mm512_maskz_loadu_ps(in, a->w + (size_t)t * a->ldw + c);
            s = _mm512_fmadd_ps(_mm512_maskz_loadu_ps(in, a->x[t] + c), w, s);
        }
        _mm512_mask_storeu_ps(a->y + c, in, _mm512_mul_ps(s, math_sigmoid_avx512(s)));
    }
}
