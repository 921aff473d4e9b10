// The short convolution in AVX2, eight channels side by side.
#include "kernels/conv/conv.h"
#include "kernels/math/math_avx2.h"

static inline __m256 silu(__m256 s) { return _mm256_mul_ps(s, math_sigmoid_avx2(s)); }

void conv_silu_avx2(const struct conv_silu_args *a, uint32_t begin, uint32_t end) {
    uint32_t c = begin;
    for (; c + 8 <= end; c += 8) {
        __m256 s = _mm256_setzero_ps();
        for (uint32_t t = 0; t < a->taps; t++)
            s = _mm256_fmadd_ps(_mm256_loadu_ps(a->x[t] + c), _mm256_loadu_ps(a->w + (size_t)t * a->ldw + c), s);
        _mm256_storeu_ps(a->y + c, silu(s));
    }
    if (c >= end) return;
    __m256i in = math_first_avx2((int)(end - c));
    __m256 s = _mm256_setzero_ps();
    for (uint32_t t = 0; t < a->taps; t++) {
        __m256 w = _mm256_maskload_ps(a->w + (size_t)t * a->ldw + c, in);
        s = _mm256_fmadd_ps(_mm256_maskload_ps(a->x[t] + c, in), w, s);
    }
    _mm256_maskstore_ps(a->y + c, in, silu(s));
}
