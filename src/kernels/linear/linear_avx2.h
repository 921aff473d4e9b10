// Pieces the AVX2 linear kernels share.
#ifndef TF_KERNELS_LINEAR_LINEAR_AVX2_H
#define TF_KERNELS_LINEAR_LINEAR_AVX2_H

#include "kernels/linear/linear_tile.h"

#include <immintrin.h>
#include <string.h>

// Kernels are written once for any number of rows and any format; calls with constants make the variants.
#define LINEAR_INLINE static inline __attribute__((always_inline))

// Eight binary16 numbers as fp32.
LINEAR_INLINE __m256 load_f16(const uint16_t *p) { return _mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)p)); }

// linear_finish for the two halves of a tile. Not inlined: dozens of copies would gain nothing. The sums come through
// memory, since gcc does not clear the upper halves of registers on the way out of a function that takes vectors.
__attribute__((noinline, unused)) static void finish_avx2(const struct linear_args *a, uint32_t r, uint32_t t,
                                                          const float sum[LINEAR_LANES]) {
    uint32_t width = linear_tile_width(a->w, t);
    if (width < LINEAR_LANES) {
        linear_finish(a, r, t, width, sum);
        return;
    }
    __m256 low = _mm256_loadu_ps(sum), high = _mm256_loadu_ps(sum + 8);
    size_t at = (size_t)r * a->ldy + (size_t)t * LINEAR_LANES;
    if (a->w->bias) {
        const float *bias = a->w->bias + (size_t)t * LINEAR_LANES;
        low = _mm256_add_ps(low, _mm256_loadu_ps(bias));
        high = _mm256_add_ps(high, _mm256_loadu_ps(bias + 8));
    }
    if (a->residual) {
        low = _mm256_add_ps(_mm256_loadu_ps(a->residual + at), low);
        high = _mm256_add_ps(_mm256_loadu_ps(a->residual + at + 8), high);
    }
    _mm256_storeu_ps(a->y + at, low);
    _mm256_storeu_ps(a->y + at + 8, high);
}

#endif
