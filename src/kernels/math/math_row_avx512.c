// The fp32 functions over rows of numbers in AVX-512.
#include "kernels/math/math_avx512.h"

void math_exp_row_avx512(const float *x, float *y, size_t n) {
    for (size_t i = 0; i < n; i += 16) {
        __mmask16 in = math_first_avx512(n - i < 16 ? (uint32_t)(n - i) : 16);
        _mm512_mask_storeu_ps(y + i, in, math_exp_avx512(_mm512_maskz_loadu_ps(in, x + i)));
    }
}

void math_sigmoid_row_avx512(const float *x, float *y, size_t n) {
    for (size_t i = 0; i < n; i += 16) {
        __mmask16 in = math_first_avx512(n - i < 16 ? (uint32_t)(n - i) : 16);
        _mm512_mask_storeu_ps(y + i, in, math_sigmoid_avx512(_mm512_maskz_loadu_ps(in, x + i)));
    }
}
