// Attention in AVX2: six queries against a key tile (lanes are keys), six queries against values (lanes are dims).
#include "kernels/attention/attention_blocks.h"
#include "kernels/math/math_avx2.h"

#define ALWAYS_INLINE static inline __attribute__((always_inline))
#ifdef __clang__
#define UNROLL _Pragma("clang loop unroll(full)")
#else
#define UNROLL _Pragma("GCC unroll 16")
#endif

// Sums of n queries times `parts` registers: sum[i][t] = fmaf(factor[i][at + s], row s part t, sum[i][t]), s ascending.
// Row s begins at rows + s * stride; its parts come in pairs, `apart` floats from pair to pair.
struct product {
    const float *const *factor;
    const float *rows;
    size_t at, stride, apart;
    uint32_t steps;
};

// Twelve sums fit the registers beside the shorter side of the product.
ALWAYS_INLINE void accumulate(__m256 sum[12], const struct product *p, int n, int parts) {
    const float *row = p->rows;
    for (size_t s = p->at; s < p->at + p->steps; s++, row += p->stride) {
        __m256 held[4];
        if (n < parts) {
            UNROLL for (int i = 0; i < n; i++) held[i] = _mm256_broadcast_ss(p->factor[i] + s);
            UNROLL for (int t = 0; t < parts; t++) {
                __m256 part = _mm256_loadu_ps(row + (size_t)(t / 2) * p->apart + (size_t)(t % 2) * 8);
                UNROLL for (int i = 0; i < n; i++)
                    sum[parts * i + t] = _mm256_fmadd_ps(held[i], part, sum[parts * i + t]);
            }
        } else {
            UNROLL for (int t = 0; t < parts; t++)
                held[t] = _mm256_loadu_ps(row + (size_t)(t / 2) * p->apart + (size_t)(t % 2) * 8);
            UNROLL for (int i = 0; i < n; i++) {
                __m256 factor = _mm256_broadcast_ss(p->factor[i] + s);
                UNROLL for (int t = 0; t < parts; t++)
                    sum[parts * i + t] = _mm256_fmadd_ps(factor, held[t], sum[parts * i + t]);
            }
        }
    }
}

ALWAYS_INLINE void score_tiles(const struct attention_queries *b, const float *keys, uint32_t at, int n, int tiles) {
    const struct product p = {b->q, keys, 0, ATTENTION_TILE, (size_t)b->dims * ATTENTION_TILE, b->dims};
    __m256 sum[12], scale = _mm256_set1_ps(b->scale);
    UNROLL for (int i = 0; i < 2 * n * tiles; i++) sum[i] = _mm256_setzero_ps();
    accumulate(sum, &p, n, 2 * tiles);
    UNROLL for (int i = 0; i < n; i++)
        UNROLL for (int t = 0; t < 2 * tiles; t++)
            _mm256_storeu_ps(b->score[i] + at + 8 * t, _mm256_mul_ps(sum[2 * tiles * i + t], scale));
}

// Pairs of tiles while there are two and the registers hold them, then single ones.
ALWAYS_INLINE void score_queries(const struct attention_queries *b, const float *keys, uint32_t tiles, uint32_t at,
                                 int n) {
    size_t tile = (size_t)b->dims * ATTENTION_TILE;
    uint32_t t = 0;
    if (n <= 3)
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
    default: score_queries(b, keys, tiles, at, 6);
    }
}

// Eight scores from s[p] on; those at n and beyond become -inf.
static inline __m256 scores_within(const float *s, uint32_t p, uint32_t n) {
    __m256 in = _mm256_castsi256_ps(math_first_avx2((int)(n - p)));
    return _mm256_blendv_ps(_mm256_set1_ps(-INFINITY), _mm256_loadu_ps(s + p), in);
}

static float largest(const float *s, uint32_t n) {
    __m256 low = _mm256_set1_ps(-INFINITY), high = low; // max(score, so far) passes over NaN
    uint32_t p = 0;
    for (; p + 16 <= n; p += 16) {
        low = _mm256_max_ps(_mm256_loadu_ps(s + p), low);
        high = _mm256_max_ps(_mm256_loadu_ps(s + p + 8), high);
    }
    if (p < n) low = _mm256_max_ps(scores_within(s, p, n), low);
    if (p + 8 < n) high = _mm256_max_ps(scores_within(s, p + 8, n), high);
    float lane[8], most = -INFINITY;
    _mm256_storeu_ps(lane, _mm256_max_ps(low, high));
    for (int l = 0; l < 8; l++) most = lane[l] > most ? lane[l] : most;
    return most;
}

static float weigh(float *s, uint32_t n) {
    __m256 most = _mm256_set1_ps(largest(s, n)), low = _mm256_setzero_ps(), high = low;
    uint32_t p = 0;
    for (; p + 16 <= n; p += 16) {
        __m256 a = math_exp_avx2(_mm256_sub_ps(_mm256_loadu_ps(s + p), most));
        __m256 b = math_exp_avx2(_mm256_sub_ps(_mm256_loadu_ps(s + p + 8), most));
        _mm256_storeu_ps(s + p, a);
        _mm256_storeu_ps(s + p + 8, b);
        low = _mm256_add_ps(low, a);
        high = _mm256_add_ps(high, b);
    }
    for (int half = 0; half < 2 && p < n; half++, p += 8) { // lanes past the end add +0
        __m256 in = _mm256_castsi256_ps(math_first_avx2((int)(n - p)));
        __m256 e = _mm256_and_ps(in, math_exp_avx2(_mm256_sub_ps(scores_within(s, p, n), most)));
        _mm256_storeu_ps(s + p, e);
        if (half == 0) low = _mm256_add_ps(low, e);
        if (half == 1) high = _mm256_add_ps(high, e);
    }
    return math_tree_avx2(low, high);
}

// Dims d, d + 1, ... of n queries, `parts` registers of them.
ALWAYS_INLINE void add_dims(const struct attention_queries *b, const float *values, const uint32_t run[2], uint32_t d,
                            int n, int parts) {
    const struct product p = {(const float *const *)b->score, values + d, run[0], b->dims, 16, run[1]};
    __m256 y[12];
    UNROLL for (int i = 0; i < n; i++)
        UNROLL for (int t = 0; t < parts; t++) y[parts * i + t] = _mm256_loadu_ps(b->y[i] + d + 8 * t);
    accumulate(y, &p, n, parts);
    UNROLL for (int i = 0; i < n; i++)
        UNROLL for (int t = 0; t < parts; t++) _mm256_storeu_ps(b->y[i] + d + 8 * t, y[parts * i + t]);
}

// run: position of the first value, number of values.
ALWAYS_INLINE void add_queries(const struct attention_queries *b, const float *values, const uint32_t run[2], int n) {
    uint32_t d = 0;
    if (n <= 3)
        for (; d + 32 <= b->dims; d += 32) add_dims(b, values, run, d, n, 4);
    for (; d + 16 <= b->dims; d += 16) add_dims(b, values, run, d, n, 2);
    for (; d + 8 <= b->dims; d += 8) add_dims(b, values, run, d, n, 1);
    for (; d < b->dims; d++)
        for (int i = 0; i < n; i++)
            for (uint32_t p = 0; p < run[1]; p++)
                b->y[i][d] = fmaf(b->score[i][run[0] + p], values[(size_t)p * b->dims + d], b->y[i][d]);
}

static void add(const struct attention_queries *b, const float *values, uint32_t n, uint32_t at) {
    const uint32_t run[2] = {at, n};
    switch (b->n) {
    case 1: add_queries(b, values, run, 1); break;
    case 2: add_queries(b, values, run, 2); break;
    case 3: add_queries(b, values, run, 3); break;
    case 4: add_queries(b, values, run, 4); break;
    case 5: add_queries(b, values, run, 5); break;
    default: add_queries(b, values, run, 6);
    }
}

void attention_avx2(const struct attention_args *a, uint32_t kv_head, uint32_t row_begin, uint32_t row_end,
                    float *scratch) {
    static const struct attention_steps steps = {6, score, weigh, add};
    attention_by_blocks(&steps, a, kv_head, (const uint32_t[]){row_begin, row_end}, scratch);
}
