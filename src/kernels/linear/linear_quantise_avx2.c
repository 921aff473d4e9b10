// AVX2 quantiser of activations: 32 inputs a group to int16 codes, a scale and a scaled sum.
#include "kernels/linear/linear_avx2.h"

#include "base/float16.h"

#include <math.h>

enum { PARTS = LINEAR_GROUP / 8 };

// The largest magnitude among 32 numbers, by its bits: a NaN counts as larger than any number.
LINEAR_INLINE float largest(const __m256 x[PARTS]) {
    __m256i magnitude = _mm256_set1_epi32(0x7fffffff), most = _mm256_setzero_si256();
    for (int i = 0; i < PARTS; i++)
        most = _mm256_max_epi32(most, _mm256_and_si256(_mm256_castps_si256(x[i]), magnitude));
    __m128i four = _mm_max_epi32(_mm256_castsi256_si128(most), _mm256_extracti128_si256(most, 1));
    four = _mm_max_epi32(four, _mm_shuffle_epi32(four, 0x4e));
    four = _mm_max_epi32(four, _mm_shuffle_epi32(four, 0xb1));
    return float_from_bits((uint32_t)_mm_cvtsi128_si32(four));
}

LINEAR_INLINE int32_t total(__m256i v) {
    __m128i four = _mm_add_epi32(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1));
    four = _mm_add_epi32(four, _mm_shuffle_epi32(four, 0x4e));
    four = _mm_add_epi32(four, _mm_shuffle_epi32(four, 0xb1));
    return _mm_cvtsi128_si32(four);
}

// Two times eight numbers, multiplied and rounded to even, as sixteen int16 in order.
LINEAR_INLINE __m256i codes(__m256 low, __m256 high, __m256 inverse) {
    __m256i a = _mm256_cvtps_epi32(_mm256_mul_ps(low, inverse)), b = _mm256_cvtps_epi32(_mm256_mul_ps(high, inverse));
    return _mm256_permute4x64_epi64(_mm256_packs_epi32(a, b), 0xd8);
}

LINEAR_INLINE void quantise_group(const float *from, int16_t *q, float *scale, float *scaled_sum) {
    __m256 x[PARTS];
    for (int i = 0; i < PARTS; i++) x[i] = _mm256_loadu_ps(from + 8 * i);
    float m = largest(x);
    if (!(m >= LINEAR_TINY && m <= LINEAR_HUGE)) {
        memset(q, 0, LINEAR_GROUP * sizeof *q);
        *scale = *scaled_sum = m < LINEAR_TINY ? 0.0f : NAN;
        return;
    }
    __m256 inverse = _mm256_set1_ps(32767.0f / m);
    __m256i first = codes(x[0], x[1], inverse), second = codes(x[2], x[3], inverse), ones = _mm256_set1_epi16(1);
    _mm256_storeu_si256((__m256i *)q, first);
    _mm256_storeu_si256((__m256i *)(q + 16), second);
    int32_t sum = total(_mm256_add_epi32(_mm256_madd_epi16(first, ones), _mm256_madd_epi16(second, ones)));
    *scale = m / 32767.0f;
    *scaled_sum = *scale * (float)sum;
}

void linear_quantise_avx2(const struct linear_activations *a, uint32_t k, uint32_t row_begin, uint32_t row_end) {
    size_t groups = k / LINEAR_GROUP;
    for (size_t r = row_begin; r < row_end; r++) {
        for (size_t g = 0; g < groups; g++) {
            quantise_group(a->x + r * a->ldx + g * LINEAR_GROUP, a->q + r * k + g * LINEAR_GROUP,
                           &a->scale[r * groups + g], &a->scaled_sum[r * groups + g]);
        }
    }
}
