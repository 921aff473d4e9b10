// AVX-512 products with fp32, fp16 and bf16 weights: one fused chain an output, many outputs side by side.
//
// Few rows: several tiles at once, so that enough chains run to hide each step's latency. Many rows: a stretch of two
// tiles becomes fp32 once in the first cache and meets the rows twelve at a time.
#include "kernels/linear/linear_avx512.h"

enum {
    CHAINS = 16,   // most tiles times rows at once for few rows: 8 at least hide the latency
    TILES = 2,     // tiles at once for many rows: each broadcast of an input serves both
    ROW_TILE = 12, // rows at once: 24 chains, 2 weights and a broadcast fit the 32 registers
    PANEL_INPUTS = 128,
    ROW_BLOCK = 96,
};

typedef float row_sums[TILES][LINEAR_LANES];

LINEAR_INLINE const uint8_t *input_at(enum linear_format f, const struct linear_weight *w, uint32_t t, size_t i) {
    size_t bytes = f == LINEAR_F32 ? sizeof(float) : sizeof(uint16_t);
    return (const uint8_t *)w->tiles + ((size_t)t * w->k + i) * LINEAR_LANES * bytes;
}

// Sixteen stored weights as fp32.
LINEAR_INLINE __m512 weight(enum linear_format f, const uint8_t *p) {
    if (f == LINEAR_F32) return _mm512_loadu_ps(p);
    if (f == LINEAR_F16) return load_f16((const uint16_t *)p);
    __m512i wide = _mm512_cvtepu16_epi32(_mm256_loadu_si256((const __m256i *)p));
    return _mm512_castsi512_ps(_mm512_slli_epi32(wide, 16));
}

// `tiles` tiles from tile t on, for all `n` rows (constants; tiles * n at most CHAINS).
LINEAR_INLINE void direct(enum linear_format f, const struct linear_args *a, uint32_t t, int tiles, int n) {
    size_t k = a->w->k, ldx = a->x.ldx, step = LINEAR_LANES * (f == LINEAR_F32 ? sizeof(float) : sizeof(uint16_t));
    const float *x = a->x.x;
    const uint8_t *w[CHAINS];
    __m512 y[CHAINS]; // row i of tile j at i * tiles + j
    for (int j = 0; j < tiles; j++) {
        w[j] = input_at(f, a->w, t + (uint32_t)j, 0);
        for (int i = 0; i < n; i++) y[i * tiles + j] = _mm512_setzero_ps();
    }
    for (size_t at = 0; at < k; at++) {
        for (int j = 0; j < tiles; j++) {
            __m512 stored = weight(f, w[j] + at * step);
            for (int i = 0; i < n; i++)
                y[i * tiles + j] = _mm512_fmadd_ps(_mm512_set1_ps(x[(size_t)i * ldx + at]), stored, y[i * tiles + j]);
        }
    }
    float sum[CHAINS][LINEAR_LANES];
    for (int i = 0; i < n * tiles; i++) _mm512_storeu_ps(sum[i], y[i]);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < tiles; j++) finish_avx512(a, (uint32_t)i, t + (uint32_t)j, sum[i * tiles + j]);
}

// All tiles for `n` rows (a constant), `tiles` at a time.
LINEAR_INLINE void few_rows(enum linear_format f, const struct linear_args *a, uint32_t begin, uint32_t end, int tiles,
                            int n) {
    uint32_t t = begin;
    for (; t + (uint32_t)tiles <= end; t += (uint32_t)tiles) direct(f, a, t, tiles, n);
    for (; t < end; t++) direct(f, a, t, 1, n);
}

// Adds `n_inputs` inputs to the sums of `n` rows (tiles and n constants). w: tile j starts at w[j].
LINEAR_INLINE void meet(const float *const w[TILES], int tiles, size_t n_inputs, const float *x, size_t ldx,
                        row_sums *sum, int n) {
    __m512 y[ROW_TILE][TILES];
    for (int i = 0; i < n; i++)
        for (int j = 0; j < tiles; j++) y[i][j] = _mm512_loadu_ps(sum[i][j]);
    for (size_t at = 0; at < n_inputs; at++) {
        __m512 stored[TILES];
        for (int j = 0; j < tiles; j++) stored[j] = _mm512_loadu_ps(w[j] + at * LINEAR_LANES);
        for (int i = 0; i < n; i++) {
            __m512 value = _mm512_set1_ps(x[(size_t)i * ldx + at]);
            for (int j = 0; j < tiles; j++) y[i][j] = _mm512_fmadd_ps(value, stored[j], y[i][j]);
        }
    }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < tiles; j++) _mm512_storeu_ps(sum[i][j], y[i][j]);
}

// The same for any number of rows.
LINEAR_INLINE void meet_all(const float *const w[TILES], int tiles, size_t n_inputs, const float *x, size_t ldx,
                            row_sums *sum, uint32_t n) {
    for (; n >= ROW_TILE; n -= ROW_TILE, x += ROW_TILE * ldx, sum += ROW_TILE)
        meet(w, tiles, n_inputs, x, ldx, sum, ROW_TILE);
    for (; n >= 4; n -= 4, x += 4 * ldx, sum += 4) meet(w, tiles, n_inputs, x, ldx, sum, 4);
    if (n == 3) meet(w, tiles, n_inputs, x, ldx, sum, 3);
    if (n == 2) meet(w, tiles, n_inputs, x, ldx, sum, 2);
    if (n == 1) meet(w, tiles, n_inputs, x, ldx, sum, 1);
}

// Inputs [begin, begin + n) of tile t as fp32: in place for fp32 weights, else in `panel`.
LINEAR_INLINE const float *widen(enum linear_format f, const struct linear_weight *w, uint32_t t, size_t begin,
                                 size_t n, float *panel) {
    const uint8_t *from = input_at(f, w, t, begin);
    if (f == LINEAR_F32) return (const float *)from;
    for (size_t i = 0; i < n; i++)
        _mm512_storeu_ps(panel + i * LINEAR_LANES, weight(f, from + i * LINEAR_LANES * sizeof(uint16_t)));
    return panel;
}

// `tiles` tiles (a constant) from tile t on, for rows [begin, end), at most ROW_BLOCK of them.
LINEAR_INLINE void through_panel(enum linear_format f, const struct linear_args *a, uint32_t t, int tiles,
                                 uint32_t begin, uint32_t end) {
    float panel[TILES][PANEL_INPUTS * LINEAR_LANES];
    row_sums sum[ROW_BLOCK];
    size_t k = a->w->k, ldx = a->x.ldx;
    memset(sum, 0, (end - begin) * sizeof sum[0]);
    for (size_t i = 0; i < k; i += PANEL_INPUTS) {
        size_t n = k - i < PANEL_INPUTS ? k - i : PANEL_INPUTS;
        const float *w[TILES];
        for (int j = 0; j < tiles; j++) w[j] = widen(f, a->w, t + (uint32_t)j, i, n, panel[j]);
        meet_all(w, tiles, n, a->x.x + begin * ldx + i, ldx, sum, end - begin);
    }
    for (uint32_t r = begin; r < end; r++)
        for (int j = 0; j < tiles; j++) finish_avx512(a, r, t + (uint32_t)j, sum[r - begin][j]);
}

LINEAR_INLINE void many_rows(enum linear_format f, const struct linear_args *a, uint32_t begin, uint32_t end) {
    for (uint32_t r = 0; r < a->n_rows; r += ROW_BLOCK) {
        uint32_t to = a->n_rows - r < ROW_BLOCK ? a->n_rows : r + ROW_BLOCK, t = begin;
        for (; t + TILES <= end; t += TILES) through_panel(f, a, t, TILES, r, to);
        if (t < end) through_panel(f, a, t, 1, r, to);
    }
}

LINEAR_INLINE void product(enum linear_format f, const struct linear_args *a, uint32_t begin, uint32_t end) {
    switch (a->n_rows) {
    case 0: break;
    case 1: few_rows(f, a, begin, end, 8, 1); break;
    case 2: few_rows(f, a, begin, end, 4, 2); break;
    case 3: few_rows(f, a, begin, end, 4, 3); break;
    case 4: few_rows(f, a, begin, end, 4, 4); break;
    default: many_rows(f, a, begin, end); break;
    }
}

void linear_f32_avx512(const struct linear_args *a, uint32_t begin, uint32_t end) {
    product(LINEAR_F32, a, begin, end);
}

void linear_f16_avx512(const struct linear_args *a, uint32_t begin, uint32_t end) {
    product(LINEAR_F16, a, begin, end);
}

void linear_bf16_avx512(const struct linear_args *a, uint32_t begin, uint32_t end) {
    product(LINEAR_BF16, a, begin, end);
}
