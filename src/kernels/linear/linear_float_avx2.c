// AVX2 products with fp32, fp16 and bf16 weights: one fused chain an output, many outputs side by side.
//
// Few rows: several tiles at once, so that enough chains run to hide each step's latency. Many rows: a stretch of a
// tile becomes fp32 once in the first cache and meets the rows six at a time.
#include "kernels/linear/linear_avx2.h"

enum {
    CHAINS = 4,   // tiles times rows at once for one or two rows: 8 sums hide the latency of each
    ROW_TILE = 6, // rows at once: 12 chains, 2 weights and a broadcast fill the 16 registers
    PANEL_INPUTS = 128,
    ROW_BLOCK = 96,
};

// Half h of input i of a tile as fp32; `tile` is where the tile starts.
LINEAR_INLINE __m256 weight(enum linear_format f, const void *tile, size_t i, int h) {
    size_t at = i * LINEAR_LANES + 8 * (size_t)h;
    if (f == LINEAR_F32) return _mm256_loadu_ps((const float *)tile + at);
    const uint16_t *half = (const uint16_t *)tile + at;
    if (f == LINEAR_F16) return load_f16(half);
    __m256i wide = _mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i *)half));
    return _mm256_castsi256_ps(_mm256_slli_epi32(wide, 16));
}

LINEAR_INLINE const uint8_t *tile_at(enum linear_format f, const struct linear_weight *w, uint32_t t) {
    size_t bytes = (size_t)w->k * LINEAR_LANES * (f == LINEAR_F32 ? 4 : 2);
    return (const uint8_t *)w->tiles + t * bytes;
}

// `tiles` tiles from tile t on, for all `n` rows (constants; tiles * n at most CHAINS).
LINEAR_INLINE void direct(enum linear_format f, const struct linear_args *a, uint32_t t, int tiles, int n) {
    const float *x = a->x.x;
    const uint8_t *tile[CHAINS];
    __m256 y[2][CHAINS][2];
    size_t k = a->w->k, ldx = a->x.ldx;
    for (int j = 0; j < tiles; j++) {
        tile[j] = tile_at(f, a->w, t + (uint32_t)j);
        for (int i = 0; i < n; i++) y[i][j][0] = y[i][j][1] = _mm256_setzero_ps();
    }
    for (size_t at = 0; at < k; at++) {
        for (int j = 0; j < tiles; j++) {
            __m256 low = weight(f, tile[j], at, 0), high = weight(f, tile[j], at, 1);
            for (int i = 0; i < n; i++) {
                __m256 value = _mm256_broadcast_ss(x + (size_t)i * ldx + at);
                y[i][j][0] = _mm256_fmadd_ps(value, low, y[i][j][0]);
                y[i][j][1] = _mm256_fmadd_ps(value, high, y[i][j][1]);
            }
        }
    }
    float sum[2][CHAINS][LINEAR_LANES];
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < tiles; j++) {
            _mm256_storeu_ps(sum[i][j], y[i][j][0]);
            _mm256_storeu_ps(sum[i][j] + 8, y[i][j][1]);
        }
    }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < tiles; j++) finish_avx2(a, (uint32_t)i, t + (uint32_t)j, sum[i][j]);
}

// All tiles for `n` rows (a constant), `tiles` at a time.
LINEAR_INLINE void few_rows(enum linear_format f, const struct linear_args *a, uint32_t begin, uint32_t end, int tiles,
                            int n) {
    uint32_t t = begin;
    for (; t + (uint32_t)tiles <= end; t += (uint32_t)tiles) direct(f, a, t, tiles, n);
    for (; t < end; t++) direct(f, a, t, 1, n);
}

// Adds `n_inputs` inputs to the sums of `n` rows (a constant, at most ROW_TILE). w [n_inputs][16].
LINEAR_INLINE void meet(const float *w, size_t n_inputs, const float *x, size_t ldx, float (*sum)[LINEAR_LANES],
                        int n) {
    __m256 y[ROW_TILE][2];
    for (int i = 0; i < n; i++) {
        y[i][0] = _mm256_loadu_ps(sum[i]);
        y[i][1] = _mm256_loadu_ps(sum[i] + 8);
    }
    for (size_t j = 0; j < n_inputs; j++) {
        __m256 low = _mm256_loadu_ps(w + j * LINEAR_LANES), high = _mm256_loadu_ps(w + j * LINEAR_LANES + 8);
        for (int i = 0; i < n; i++) {
            __m256 value = _mm256_broadcast_ss(x + (size_t)i * ldx + j);
            y[i][0] = _mm256_fmadd_ps(value, low, y[i][0]);
            y[i][1] = _mm256_fmadd_ps(value, high, y[i][1]);
        }
    }
    for (int i = 0; i < n; i++) {
        _mm256_storeu_ps(sum[i], y[i][0]);
        _mm256_storeu_ps(sum[i] + 8, y[i][1]);
    }
}

static void meet_rest(const float *w, size_t n_inputs, const float *x, size_t ldx, float (*sum)[LINEAR_LANES],
                      uint32_t n) {
    switch (n) {
    case 1: meet(w, n_inputs, x, ldx, sum, 1); break;
    case 2: meet(w, n_inputs, x, ldx, sum, 2); break;
    case 3: meet(w, n_inputs, x, ldx, sum, 3); break;
    case 4: meet(w, n_inputs, x, ldx, sum, 4); break;
    case 5: meet(w, n_inputs, x, ldx, sum, 5); break;
    default: break;
    }
}

// Inputs [begin, begin + n) of a tile as fp32: in place for fp32 weights, else in `panel`.
LINEAR_INLINE const float *widen(enum linear_format f, const uint8_t *tile, size_t begin, size_t n, float *panel) {
    if (f == LINEAR_F32) return (const float *)tile + begin * LINEAR_LANES;
    for (size_t i = 0; i < n; i++) {
        _mm256_storeu_ps(panel + i * LINEAR_LANES, weight(f, tile, begin + i, 0));
        _mm256_storeu_ps(panel + i * LINEAR_LANES + 8, weight(f, tile, begin + i, 1));
    }
    return panel;
}

// Tile t for rows [begin, end), at most ROW_BLOCK of them.
LINEAR_INLINE void through_panel(enum linear_format f, const struct linear_args *a, uint32_t t, uint32_t begin,
                                 uint32_t end) {
    float panel[PANEL_INPUTS * LINEAR_LANES], sum[ROW_BLOCK][LINEAR_LANES];
    const uint8_t *tile = tile_at(f, a->w, t);
    size_t k = a->w->k, ldx = a->x.ldx;
    memset(sum, 0, (end - begin) * sizeof sum[0]);
    for (size_t i = 0; i < k; i += PANEL_INPUTS) {
        size_t n = k - i < PANEL_INPUTS ? k - i : PANEL_INPUTS;
        const float *w = widen(f, tile, i, n, panel);
        uint32_t r = begin;
        for (; r + ROW_TILE <= end; r += ROW_TILE) meet(w, n, a->x.x + r * ldx + i, ldx, sum + (r - begin), ROW_TILE);
        meet_rest(w, n, a->x.x + r * ldx + i, ldx, sum + (r - begin), end - r);
    }
    for (uint32_t r = begin; r < end; r++) finish_avx2(a, r, t, sum[r - begin]);
}

LINEAR_INLINE void many_rows(enum linear_format f, const struct linear_args *a, uint32_t begin, uint32_t end) {
    for (uint32_t r = 0; r < a->n_rows; r += ROW_BLOCK) {
        uint32_t to = a->n_rows - r < ROW_BLOCK ? a->n_rows : r + ROW_BLOCK;
        for (uint32_t t = begin; t < end; t++) through_panel(f, a, t, r, to);
    }
}

LINEAR_INLINE void product(enum linear_format f, const struct linear_args *a, uint32_t begin, uint32_t end) {
    switch (a->n_rows) {
    case 0: break;
    case 1: few_rows(f, a, begin, end, 4, 1); break;
    case 2: few_rows(f, a, begin, end, 2, 2); break;
    default: many_rows(f, a, begin, end); break;
    }
}

void linear_f32_avx2(const struct linear_args *a, uint32_t begin, uint32_t end) { product(LINEAR_F32, a, begin, end); }
void linear_f16_avx2(const struct linear_args *a, uint32_t begin, uint32_t end) { product(LINEAR_F16, a, begin, end); }
void linear_bf16_avx2(const struct linear_args *a, uint32_t begin, uint32_t end) {
    product(LINEAR_BF16, a, begin, end);
}
