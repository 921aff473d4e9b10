// exp and sigmoid of eight floats in AVX2: the steps of math_ref.c, lane by lane.
#ifndef TF_KERNELS_MATH_MATH_AVX2_H
#define TF_KERNELS_MATH_MATH_AVX2_H

#include "kernels/math/math.h"

#include <immintrin.h>
#include <math.h>

// All bits set in the first n lanes (n <= 0: none; n >= 8: all).
static inline __m256i math_first_avx2(int n) {
    return _mm256_cmpgt_epi32(_mm256_set1_epi32(n), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}

static inline __m256 math_exp_avx2(__m256 x) {
    const __m256 lowest = _mm256_set1_ps(MATH_EXP_LOWEST), highest = _mm256_set1_ps(MATH_EXP_HIGHEST);
    const __m256 round = _mm256_set1_ps(MATH_EXP_ROUND);
    __m256 c = _mm256_min_ps(_mm256_max_ps(x, lowest), highest); // both give the second operand for NaN
    __m256 t = _mm256_fmadd_ps(c, _mm256_set1_ps(MATH_EXP_LOG2E), round);
    __m256 n = _mm256_sub_ps(t, round);
    __m256 r = _mm256_fmadd_ps(n, _mm256_set1_ps(-MATH_EXP_LN2_HI), c);
    r = _mm256_fmadd_ps(n, _mm256_set1_ps(-MATH_EXP_LN2_LO), r);
    __m256 p = _mm256_fmadd_ps(_mm256_set1_ps(MATH_EXP_C4), r, _mm256_set1_ps(MATH_EXP_C3));
    p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(MATH_EXP_C2));
    p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(MATH_EXP_C1));
    p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(MATH_EXP_C0));
    p = _mm256_add_ps(_mm256_fmadd_ps(p, _mm256_mul_ps(r, r), r), _mm256_set1_ps(1.0f));
    __m256i scaled = _mm256_add_epi32(_mm256_castps_si256(p), _mm256_slli_epi32(_mm256_castps_si256(t), 23));
    __m256 y = _mm256_andnot_ps(_mm256_cmp_ps(x, lowest, _CMP_LT_OQ), _mm256_castsi256_ps(scaled));
    y = _mm256_blendv_ps(y, _mm256_set1_ps(INFINITY), _mm256_cmp_ps(x, highest, _CMP_GT_OQ));
    return _mm256_blendv_ps(y, x, _mm256_cmp_ps(x, x, _CMP_UNORD_Q));
}

static inline __m256 math_sigmoid_avx2(__m256 x) {
    const __m256 one = _mm256_set1_ps(1.0f);
    return _mm256_div_ps(one, _mm256_add_ps(one, math_exp_avx2(_mm256_xor_ps(x, _mm256_set1_ps(-0.0f)))));
}

// The fixed tree over sixteen lanes, the first eight in `low`: l += l+8, l+4, l+2, l+1.
static inline float math_tree_avx2(__m256 low, __m256 high) {
    __m256 eight = _mm256_add_ps(low, high);
    __m128 four = _mm_add_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
    __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)));
}

static inline float math_squares_avx2(const float *x, uint32_t n) {
    __m256 low = _mm256_setzero_ps(), high = _mm256_setzero_ps();
    uint32_t i = 0;
    for (; i + 16 <= n; i += 16) {
        __m256 a = _mm256_loadu_ps(x + i), b = _mm256_loadu_ps(x + i + 8);
        low = _mm256_fmadd_ps(a, a, low);
        high = _mm256_fmadd_ps(b, b, high);
    }
    if (i < n) { // lanes without a value add 0 * 0, which leaves a sum of squares as it is
        int left = (int)(n - i);
        __m256 a = _mm256_maskload_ps(x + i, math_first_avx2(left));
        low = _mm256_fmadd_ps(a, a, low);
        if (left > 8) a = _mm256_maskload_ps(x + i + 8, math_first_avx2(left - 8));
        if (left > 8) high = _mm256_fmadd_ps(a, a, high);
    }
    return math_tree_avx2(low, high);
}

#endif
