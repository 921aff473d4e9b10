// AVX-512 quantiser of activations: 32 inputs a group to int16 codes, a scale and a scaled sum.
#include "kernels/linear/linear_avx512.h"

#include "base/float16.h"

#include <math.h>

LINEAR_INLINE __m512i magnitude(__m512 x) {
    return _mm512_and_si512(_mm512_castps_si512(x), _mm512_set1_epi32(0x7fffffff));
}

LINEAR_INLINE void quantise_group(const float *x, int16_t *q, float *scale, float *scaled_sum) {
    __m512 low = _mm512_loadu_ps(x), high = _mm512_loadu_ps(x + 16);
    // Compared by their bits, a NaN counts as larger than any number.
    float m = float_from_bits((uint32_t)_mm512_reduce_max_epi32(_mm512_max_epi32(magnitude(low), magnitude(high))));
    if (!(m >= LINEAR_TINY && m <= LINEAR_HUGE)) {
        memset(q, 0, LINEAR_GROUP * sizeof *q);
        *scale = *scaled_sum = m < LINEAR_TINY ? 0.0f : NAN;
        return;
    }
    __m512 inverse = _mm512_set1_ps(32767.0f / m);
    __m512i first = _mm512_cvtps_epi32(_mm512_mul_ps(low, inverse));
    __m512i second = _mm512_cvtps_epi32(_mm512_mul_ps(high, inverse));
    _mm256_storeu_si256((__m256i *)q, _mm512_cvtepi32_epi16(first));
    _mm256_storeu_si256((__m256i *)(q + 16), _mm512_cvtepi32_epi16(second));
    *scale = m / 32767.0f;
    *scaled_sum = *scale * (float)_mm512_reduce_add_epi32(_mm512_add_epi32(first, second));
}

void linear_quantise_avx512(const struct linear_activations *a, uint32_t k, uint32_t row_begin, uint32_t row_end) {
    size_t groups = k / LINEAR_GROUP;
    for (size_t r = row_begin; r < row_end; r++) {
        for (size_t g = 0; g < groups; g++) {
            quantise_group(a->x + r * a->ldx + g * LINEAR_GROUP, a->q + r * k + g * LINEAR_GROUP,
                           &a->scale[r * groups + g], &a->scaled_sum[r * groups + g]);
        }
    }
}
