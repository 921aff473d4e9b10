// The gated delta rule in AVX2: lanes are columns of a state, in groups of four registers.
#include "kernels/delta/delta.h"
#include "kernels/math/math_avx2.h"

#define ALWAYS_INLINE static inline __attribute__((always_inline))
#ifdef __clang__
#define UNROLL _Pragma("clang loop unroll(full)")
#else
#define UNROLL _Pragma("GCC unroll 4")
#endif

static void unit(float *x, uint32_t n, float factor) {
    __m256 s = _mm256_set1_ps(1.0f / sqrtf(math_squares_avx2(x, n) + DELTA_UNIT_EPS)), f = _mm256_set1_ps(factor);
    uint32_t i = 0;
    for (; i + 8 <= n; i += 8) _mm256_storeu_ps(x + i, _mm256_mul_ps(_mm256_mul_ps(_mm256_loadu_ps(x + i), s), f));
    if (i == n) return;
    __m256i in = math_first_avx2((int)(n - i));
    _mm256_maskstore_ps(x + i, in, _mm256_mul_ps(_mm256_mul_ps(_mm256_maskload_ps(x + i, in), s), f));
}

void delta_prepare_avx2(const struct delta_prepare_args *a, uint32_t begin, uint32_t end) {
    const struct delta_shape *s = a->shape;
    for (uint32_t h = begin; h < end; h++) {
        unit(a->c + (size_t)h * s->k_dim, s->k_dim, delta_query_factor(s));
        unit(a->c + (size_t)(s->k_heads + h) * s->k_dim, s->k_dim, 1.0f);
    }
    delta_gates(a, begin, end, math_exp_row_avx2, math_sigmoid_row_avx2);
}

// n whole registers of columns from c on: one sweep reads the memory, the next updates it and reads it
// again. Decaying twice is cheaper than storing twice.
ALWAYS_INLINE void step_registers(const struct delta_step_args *a, uint32_t c, int n) {
    const float *from = a->from + c;
    float *to = a->to + c;
    __m256 alpha = _mm256_set1_ps(a->alpha), beta = _mm256_set1_ps(a->beta), d[4], y[4];
    UNROLL for (int t = 0; t < n; t++) d[t] = y[t] = _mm256_setzero_ps();
    for (uint32_t i = 0; i < a->k_dim; i++, from += a->ld_from) {
        __m256 k = _mm256_broadcast_ss(a->k + i);
        UNROLL for (int t = 0; t < n; t++)
            d[t] = _mm256_fmadd_ps(_mm256_mul_ps(_mm256_loadu_ps(from + 8 * t), alpha), k, d[t]);
    }
    UNROLL for (int t = 0; t < n; t++)
        d[t] = _mm256_mul_ps(beta, _mm256_sub_ps(_mm256_loadu_ps(a->v + c + 8 * t), d[t]));
    from = a->from + c;
    for (uint32_t i = 0; i < a->k_dim; i++, from += a->ld_from, to += a->ld_to) {
        __m256 k = _mm256_broadcast_ss(a->k + i), q = _mm256_broadcast_ss(a->q + i);
        UNROLL for (int t = 0; t < n; t++) {
            __m256 decayed = _mm256_mul_ps(_mm256_loadu_ps(from + 8 * t), alpha);
            __m256 updated = _mm256_fmadd_ps(k, d[t], decayed);
            _mm256_storeu_ps(to + 8 * t, updated);
            y[t] = _mm256_fmadd_ps(updated, q, y[t]);
        }
    }
    UNROLL for (int t = 0; t < n; t++) _mm256_storeu_ps(a->y + c + 8 * t, y[t]);
}

// The last columns, fewer than a register.
static void step_tail(const struct delta_step_args *a, uint32_t c) {
    const float *from = a->from + c;
    float *to = a->to + c;
    __m256i in = math_first_avx2((int)(a->columns - c));
    __m256 alpha = _mm256_set1_ps(a->alpha), m = _mm256_setzero_ps(), y = m;
    for (uint32_t i = 0; i < a->k_dim; i++, from += a->ld_from) {
        __m256 decayed = _mm256_mul_ps(_mm256_maskload_ps(from, in), alpha);
        m = _mm256_fmadd_ps(decayed, _mm256_broadcast_ss(a->k + i), m);
    }
    __m256 d = _mm256_mul_ps(_mm256_set1_ps(a->beta), _mm256_sub_ps(_mm256_maskload_ps(a->v + c, in), m));
    from = a->from + c;
    for (uint32_t i = 0; i < a->k_dim; i++, from += a->ld_from, to += a->ld_to) {
        __m256 decayed = _mm256_mul_ps(_mm256_maskload_ps(from, in), alpha);
        __m256 updated = _mm256_fmadd_ps(_mm256_broadcast_ss(a->k + i), d, decayed);
        _mm256_maskstore_ps(to, in, updated);
        y = _mm256_fmadd_ps(updated, _mm256_broadcast_ss(a->q + i), y);
    }
    _mm256_maskstore_ps(a->y + c, in, y);
}

void delta_step_avx2(const struct delta_step_args *a) {
    uint32_t c = 0;
    for (; c + 32 <= a->columns; c += 32) step_registers(a, c, 4);
    for (; c + 16 <= a->columns; c += 16) step_registers(a, c, 2);
    for (; c + 8 <= a->columns; c += 8) step_registers(a, c, 1);
    if (c < a->columns) step_tail(a, c);
}
