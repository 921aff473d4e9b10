// The fp32 functions over rows of numbers in AVX2.
#include "kernels/math/math_avx2.h"

void math_exp_row_avx2(const float *x, float *y, size_t n) {
    for (size_t i = 0; i < n; i += 8) {
        __m256i in = math_first_avx2(n - i < 8 ? (int)(n - i) : 8);
        _mm256_maskstore_ps(y + i, in, math_exp_avx2(_mm256_maskload_ps(x + i, in)));
    }
}

void math_sigmoid_row_avx2(const float *x, float *y, size_t n) {
    for (size_t i = 0; i < n; i += 8) {
        __m256i in = math_first_avx2(n - i < 8 ? (int)(n - i) : 8);
        _mm256_maskstore_ps(y + i, in, math_sigmoid_avx2(_mm256_maskload_ps(x + i, in)));
    }
}
