// Attention in AVX-512: eight queries against key tiles (lanes are keys), eight against values (lanes are dims).
#include "kernels/attention/attention_blocks.h"
#include "kernels/math/math_avx512.h"

#define ALWAYS_INLINE static inline __attribute__((always_inline))
#ifdef __clang__
#define UNROLL _Pragma("clang loop unroll(full)")
#else
#define UNROLL _Pragma("GCC unroll 16")
#endif

// Sums of n queries times `parts` registers: sum[i][t] = fmaf(factor[i][at + s], row s part t, sum[i][t]), s ascending.
// Row s begins at rows + s * stride, its parts `apart` floats from one another; `in` holds the lanes that exist.
struct product {
    const float *const *factor;
    const float *rows;
    size_t at, stride, apart;
    uint32_t steps;
    __mmask16 in;
};

// Sixteen sums keep both multipliers busy.
ALWAYS_INLINE void accumulate(__m512 sum[16], const struct product *p, int n, int parts) {
    const float *row = p->rows;
    for (size_t s = p->at; s < p->at + p->steps; s++, row += p->stride) {
        __m512 part[4];
        UNROLL for (int t = 0; t < parts; t++) part[t] = _mm512_maskz_loadu_ps(p->in, row + (size_t)t * p->apart);
        UNROLL for (int i = 0; i < n; i++) {
            __m512 factor = _mm512_set1_ps(p->factor[i][s]);
            UNROLL for (int t = 0; t < parts; t++)
                sum[parts * i + t] = _mm512_fmadd_ps(factor, part[t], sum[parts * i + t]);
        }
    }
}

ALWAYS_INLINE void score_tiles(const struct attention_queries *b, const float *keys, uint32_t at, int n, int tiles) {
    const struct product p = {b->q, keys, 0, ATTENTION_TILE, (size_t)b->dims * ATTENTION_TILE, b->dims, 0xffff};
    __m512 sum[16], scale = _mm512_set1_ps(b->scale);
    UNROLL for (int i = 0; i < n * tiles; i++) sum[i] = _mm512_setzero_ps();
    accumulate(sum, &p, n, tiles);
    UNROLL for (int i = 0; i < n; i++)
        UNROLL for (int t = 0; t < tiles; t++)
            _mm512_storeu_ps(b->score[i] + at + ATTENTION_TILE * t, _mm512_mul_ps(sum[tiles * i + t], scale));
}

ALWAYS_INLINE void score_queries(const struct attention_queries *b, const float *keys, uint32_t tiles, uint32_t at,
                                 int n) {
    size_t tile = (size_t)b->dims * ATTENTION_TILE;
    uint32_t t = 0;
    if (n <= 4)
        for (; t + 4 <= tiles; t += 4) score_tiles(b, keys + t * tile, at + t * ATTENTION_TILE, n, 4);
    for (; t + 2 <= tiles; t += 2) score_tiles(b, keys + t * tile, at + t * ATTENTION_TILE, n, 2);
    for (; t < tiles; t++) score_tiles(b, keys + t * tile, at + t * ATTENTION_TILE, n, 1);
}

static void score(const struct attention_queries *b, const float *keys, uint32_t tiles, uint32_t at) {
    switch (b->n) {
    case 1: score_queries(b, keys, tiles, at, 1); break;
    case 2: score_queries(b, keys, tiles, at, 2); break;
    case 3: score_queries(b, keys, tiles, at, 3); break;
    case 4: score_queries(b, keys, tiles, at, 4); break;
    case 5: score_queries(b, keys, tiles, at, 5); break;
    case 6: score_queries(b, keys, tiles, at, 6); break;
    case 7: score_queries(b, keys, tiles, at, 7); break;
    default: score_queries(b, keys, tiles, at, 8);
    }
}

static float largest(const float *s, uint32_t n) {
    const __m512 nothing = _mm512_set1_ps(-INFINITY);
    __m512 most = nothing; // max(score, so far) passes over NaN
    for (uint32_t p = 0; p < n; p += 16)
        most = _mm512_max_ps(_mm512_mask_loadu_ps(nothing, math_first_avx512(n - p), s + p), most);
    return _mm512_reduce_max_ps(most);
}

static float weigh(float *s, uint32_t n) {
    __m512 most = _mm512_set1_ps(largest(s, n)), lanes = _mm512_setzero_ps();
    for (uint32_t p = 0; p < n; p += 16) {
        __mmask16 in = math_first_avx512(n - p);
        __m512 e = math_exp_avx512(_mm512_sub_ps(_mm512_maskz_loadu_ps(in, s + p), most));
        _mm512_mask_storeu_ps(s + p, in, e);
        lanes = _mm512_mask_add_ps(lanes, in, lanes, e);
    }
    return math_tree_avx512(lanes);
}

// Dims d, d + 1, ... of n queries, `parts` registers of them; a lone register may reach past the last dim.
ALWAYS_INLINE void add_dims(const struct attention_queries *b, const float *values, const uint32_t run[2], uint32_t d,
                            int n, int parts) {
    __mmask16 in = parts > 1 ? 0xffff : math_first_avx512(b->dims - d);
    const struct product p = {(const float *const *)b->score, values + d, run[0], b->dims, 16, run[1], in};
    __m512 y[16];
    UNROLL for (int i = 0; i < n; i++)
        UNROLL for (int t = 0; t < parts; t++) y[parts * i + t] = _mm512_maskz_loadu_ps(in, b->y[i] + d + 16 * t);
    accumulate(y, &p, n, parts);
    UNROLL for (int i = 0; i < n; i++)
        UNROLL for (int t = 0; t < parts; t++) _mm512_mask_storeu_ps(b->y[i] + d + 16 * t, in, y[parts * i + t]);
}

// run: position of the first value, number of values.
ALWAYS_INLINE void add_queries(const struct attention_queries *b, const float *values, const uint32_t run[2], int n) {
    uint32_t d = 0;
    if (n <= 4)
        for (; d + 64 <= b->dims; d += 64) add_dims(b, values, run, d, n, 4);
    for (; d + 32 <= b->dims; d += 32) add_dims(b, values, run, d, n, 2);
    for (; d < b->dims; d += 16) add_dims(b, values, run, d, n, 1);
}

static void add(const struct attention_queries *b, const float *values, uint32_t n, uint32_t at) {
    const uint32_t run[2] = {at, n};
    switch (b->n) {
    case 1: add_queries(b, values, run, 1); break;
    case 2: add_queries(b, values, run, 2); break;
    case 3: add_queries(b, values, run, 3); break;
    case 4: add_queries(b, values, run, 4); break;
    case 5: add_queries(b, values, run, 5); break;
    case 6: add_queries(b, values, run, 6); break;
    case 7: add_queries(b, values, run, 7); break;
    default: add_queries(b, values, run, 8);
    }
}

void attention_avx512(const struct attention_args *a, uint32_t kv_head, uint32_t row_begin, uint32_t row_end,
                      float *scratch) {
    static const struct attention_steps steps = {8, score, weigh, add};
    attention_by_blocks(&steps, a, kv_head, (const uint32_t[]){row_begin, row_end}, scratch);
}
