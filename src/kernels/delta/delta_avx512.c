// The gated delta rule in AVX-512: lanes are columns of a state, in groups of up to four registers.
#include "kernels/delta/delta.h"
#include "kernels/math/math_avx512.h"

#define ALWAYS_INLINE static inline __attribute__((always_inline))
#ifdef __clang__
#define UNROLL _Pragma("clang loop unroll(full)")
#else
#define UNROLL _Pragma("GCC unroll 4")
#endif

static void unit(float *x, uint32_t n, float factor) {
    __m512 s = _mm512_set1_ps(1.0f / sqrtf(math_squares_avx512(x, n) + DELTA_UNIT_EPS)), f = _mm512_set1_ps(factor);
    for (uint32_t i = 0; i < n; i += 16) {
        __mmask16 in = math_first_avx512(n - i);
        __m512 scaled = _mm512_mul_ps(_mm512_maskz_loadu_ps(in, x + i), s);
        _mm512_mask_storeu_ps(x + i, in, _mm512_mul_ps(scaled, f));
    }
}

void delta_prepare_avx512(const struct delta_prepare_args *a, uint32_t begin, uint32_t end) {
    const struct delta_shape *s = a->shape;
    for (uint32_t h = begin; h < end; h++) {
        unit(a->c + (size_t)h * s->k_dim, s->k_dim, delta_query_factor(s));
        unit(a->c + (size_t)(s->k_heads + h) * s->k_dim, s->k_dim, 1.0f);
    }
    delta_gates(a, begin, end, math_exp_row_avx512, math_sigmoid_row_avx512);
}

// n registers of columns from c on, the last one maybe in part: one sweep reads the memory, the next
// updates it and reads it again. Decaying twice is cheaper than storing twice.
ALWAYS_INLINE void step_registers(const struct delta_step_args *a, uint32_t c, int n) {
    const float *from = a->from + c;
    float *to = a->to + c;
    __mmask16 in[4];
    __m512 alpha = _mm512_set1_ps(a->alpha), beta = _mm512_set1_ps(a->beta), d[4], y[4];
    UNROLL for (int t = 0; t < n; t++) in[t] = math_first_avx512(a->columns - c - 16 * (uint32_t)t);
    UNROLL for (int t = 0; t < n; t++) d[t] = y[t] = _mm512_setzero_ps();
    for (uint32_t i = 0; i < a->k_dim; i++, from += a->ld_from) {
        __m512 k = _mm512_set1_ps(a->k[i]);
        UNROLL for (int t = 0; t < n; t++)
            d[t] = _mm512_fmadd_ps(_mm512_mul_ps(_mm512_maskz_loadu_ps(in[t], from + 16 * t), alpha), k, d[t]);
    }
    UNROLL for (int t = 0; t < n; t++)
        d[t] = _mm512_mul_ps(beta, _mm512_sub_ps(_mm512_maskz_loadu_ps(in[t], a->v + c + 16 * t), d[t]));
    from = a->from + c;
    for (uint32_t i = 0; i < a->k_dim; i++, from += a->ld_from, to += a->ld_to) {
        __m512 k = _mm512_set1_ps(a->k[i]), q = _mm512_set1_ps(a->q[i]);
        UNROLL for (int t = 0; t < n; t++) {
            __m512 decayed = _mm512_mul_ps(_mm512_maskz_loadu_ps(in[t], from + 16 * t), alpha);
            __m512 updated = _mm512_fmadd_ps(k, d[t], decayed);
            _mm512_mask_storeu_ps(to + 16 * t, in[t], updated);
            y[t] = _mm512_fmadd_ps(updated, q, y[t]);
        }
    }
    UNROLL for (int t = 0; t < n; t++) _mm512_mask_storeu_ps(a->y + c + 16 * t, in[t], y[t]);
}

void delta_step_avx512(const struct delta_step_args *a) {
    uint32_t c = 0;
    for (; c + 64 <= a->columns; c += 64) step_registers(a, c, 4);
    for (; c + 16 < a->columns; c += 32) step_registers(a, c, 2);
    if (c < a->columns) step_registers(a, c, 1);
}
