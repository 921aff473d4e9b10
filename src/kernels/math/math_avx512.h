// exp and sigmoid of sixteen floats in AVX-512: the steps of math_ref.c, lane by lane.
#ifndef TF_KERNELS_MATH_MATH_AVX512_H
#define TF_KERNELS_MATH_MATH_AVX512_H

#include "kernels/math/math.h"

#include <immintrin.h>
#include <math.h>

// The first n lanes (n >= 16: all).
static inline __mmask16 math_first_avx512(uint32_t n) { return (__mmask16)(n < 16 ? (1u << n) - 1 : 0xffffu); }

static inline __m512 math_exp_avx512(__m512 x) {
    const __m512 lowest = _mm512_set1_ps(MATH_EXP_LOWEST), highest = _mm512_set1_ps(MATH_EXP_HIGHEST);
    const __m512 round = _mm512_set1_ps(MATH_EXP_ROUND);
    __m512 c = _mm512_min_ps(_mm512_max_ps(x, lowest), highest); // both give the second operand for NaN
    __m512 t = _mm512_fmadd_ps(c, _mm512_set1_ps(MATH_EXP_LOG2E), round);
    __m512 n = _mm512_sub_ps(t, round);
    __m512 r = _mm512_fmadd_ps(n, _mm512_set1_ps(-MATH_EXP_LN2_HI), c);
    r = _mm512_fmadd_ps(n, _mm512_set1_ps(-MATH_EXP_LN2_LO), r);
    __m512 p = _mm512_fmadd_ps(_mm512_set1_ps(MATH_EXP_C4), r, _mm512_set1_ps(MATH_EXP_C3));
    p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(MATH_EXP_C2));
    p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(MATH_EXP_C1));
    p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(MATH_EXP_C0));
    p = _mm512_add_ps(_mm512_fmadd_ps(p, _mm512_mul_ps(r, r), r), _mm512_set1_ps(1.0f));
    __m512i scaled = _mm512_add_epi32(_mm512_castps_si512(p), _mm512_slli_epi32(_mm512_castps_si512(t), 23));
    __m512 y = _mm512_maskz_mov_ps(_mm512_cmp_ps_mask(x, lowest, _CMP_NLT_UQ), _mm512_castsi512_ps(scaled));
    y = _mm512_mask_mov_ps(y, _mm512_cmp_ps_mask(x, highest, _CMP_GT_OQ), _mm512_set1_ps(INFINITY));
    return _mm512_mask_mov_ps(y, _mm512_cmp_ps_mask(x, x, _CMP_UNORD_Q), x);
}

static inline __m512 math_sigmoid_avx512(__m512 x) {
    const __m512 one = _mm512_set1_ps(1.0f);
    return _mm512_div_ps(one, _mm512_add_ps(one, math_exp_avx512(_mm512_xor_ps(x, _mm512_set1_ps(-0.0f)))));
}

// The fixed tree over sixteen lanes: l += l+8, l+4, l+2, l+1.
static inline float math_tree_avx512(__m512 lanes) {
    __m256 eight = _mm256_add_ps(_mm512_castps512_ps256(lanes), _mm512_extractf32x8_ps(lanes, 1));
    __m128 four = _mm_add_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
    __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)));
}

// Lanes without a value add 0 * 0, which leaves a sum of squares as it is.
static inline float math_squares_avx512(const float *x, uint32_t n) {
    __m512 lanes = _mm512_setzero_ps();
    for (uint32_t i = 0; i < n; i += 16) {
        __m512 v = _mm512_maskz_loadu_ps(math_first_avx512(n - i), x + i);
        lanes = _mm512_fmadd_ps(v, v, lanes);
    }
    return math_tree_avx512(lanes);
}

#endif
