// Pieces the AVX-512 linear kernels share.
#ifndef TF_KERNELS_LINEAR_LINEAR_AVX512_H
#define TF_KERNELS_LINEAR_LINEAR_AVX512_H

#include "kernels/linear/linear_tile.h"

#include <immintrin.h>
#include <string.h>

// Kernels are written once for any number of rows and any format; calls with constants make the variants.
#define LINEAR_INLINE static inline __attribute__((always_inline))

// Sixteen binary16 numbers as fp32.
LINEAR_INLINE __m512 load_f16(const uint16_t *p) { return _mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)p)); }

// linear_finish for a whole tile. Not inlined: dozens of copies would gain nothing. The sums come through memory, since
// gcc does not clear the upper parts of registers on the way out of a function that takes them as values.
__attribute__((noinline, unused)) static void finish_avx512(const struct linear_args *a, uint32_t r, uint32_t t,
                                                            const float sum[LINEAR_LANES]) {
    __mmask16 mask = (__mmask16)(0xffffu >> (LINEAR_LANES - linear_tile_width(a->w, t)));
    __m512 y = _mm512_loadu_ps(sum);
    size_t at = (size_t)r * a->ldy + (size_t)t * LINEAR_LANES;
    if (a->w->bias) y = _mm512_add_ps(y, _mm512_maskz_loadu_ps(mask, a->w->bias + (size_t)t * LINEAR_LANES));
    if (a->residual) y = _mm512_add_ps(_mm512_maskz_loadu_ps(mask, a->residual + at), y);
    _mm512_mask_storeu_ps(a->y + at, mask, y);
}

#endif
