// AVX-512 products with 4- and 8-bit weights: exact int32 dots of code pairs by vpdpwssd, then two fused steps a group.
//
// Few rows: codes are unpacked in registers and used for all of them. Many rows: two tiles' codes are unpacked once
// into a panel in the first cache, which then meets the rows twelve at a time.
#include "kernels/linear/linear_avx512.h"

enum {
    PAIRS = LINEAR_GROUP / 2,
    STEP = 4,        // pairs unpacked by one round of a loop: one word of 4-bit codes, two of 8-bit codes
    FEW_ROWS = 8,    // most rows of the first form
    DIRECT_ROWS = 4, // rows at once of the first form
    TILES = 2,       // tiles of the second form: each broadcast of an activation pair serves both
    ROW_TILE = 12,   // rows of the second form: 24 sums, 2 weights and a broadcast fit the 32 registers
    PANEL_GROUPS = 8,
    ROW_BLOCK = 96,  // rows whose activations should stay in the second cache while all tiles pass
};

// One group of up to two tiles, unpacked.
struct panel {
    int16_t pair[PAIRS][TILES][LINEAR_LANES][2];
    float d[TILES][LINEAR_LANES], m[TILES][LINEAR_LANES]; // m: what the scaled sum is multiplied by
};

typedef float row_sums[TILES][LINEAR_LANES];

// Activations of consecutive rows, from one group on.
struct rows {
    const int16_t *q;
    const float *scale, *scaled_sum;
    size_t k, groups; // from row to row
};

static struct rows rows_at(const struct linear_args *a, size_t r, size_t g) {
    size_t k = a->w->k, groups = k / LINEAR_GROUP;
    return (struct rows){a->x.q + r * k + g * LINEAR_GROUP, a->x.scale + r * groups + g,
                         a->x.scaled_sum + r * groups + g, k, groups};
}

static inline struct rows rows_after(struct rows x, size_t n) {
    return (struct rows){x.q + n * x.k, x.scale + n * x.groups, x.scaled_sum + n * x.groups, x.k, x.groups};
}

// The pair of codes q[0], q[1] in every lane.
LINEAR_INLINE __m512i broadcast_pair(const int16_t *q) {
    int32_t pair;
    memcpy(&pair, q, sizeof pair);
    return _mm512_set1_epi32(pair);
}

// Pair j (0..3) of a word of eight 4-bit codes.
LINEAR_INLINE __m512i nibbles(__m512i word, int j) {
    if (j == 3) return _mm512_srli_epi16(word, 12);
    return _mm512_and_si512(_mm512_srli_epi32(word, (unsigned)(4 * j)), _mm512_set1_epi32(0x000f000f));
}

// Pair j (0..1) of a word of four 8-bit codes.
LINEAR_INLINE __m512i bytes(__m512i word, int j) {
    return _mm512_srai_epi16(j == 0 ? _mm512_slli_epi16(word, 8) : word, 8);
}

// Pair first + j of one group; `first` a multiple of STEP, j a constant below it.
LINEAR_INLINE __m512i unpack(enum linear_format f, const void *group, int first, int j) {
    if (f == LINEAR_Q8_0)
        return bytes(_mm512_loadu_si512(((const struct linear_q8_0 *)group)->code[first / 2 + j / 2]), j % 2);
    return nibbles(_mm512_loadu_si512(((const struct linear_q4_0 *)group)->code[first / 4]), j);
}

LINEAR_INLINE __m512 group_d(enum linear_format f, const void *group) {
    if (f == LINEAR_Q8_0) return load_f16(((const struct linear_q8_0 *)group)->d);
    return load_f16(((const struct linear_q4_0 *)group)->d); // at the same place in Q4_1
}

LINEAR_INLINE __m512 group_m(enum linear_format f, const void *group) {
    if (f == LINEAR_Q4_1) return load_f16(((const struct linear_q4_1 *)group)->m);
    return _mm512_mul_ps(_mm512_set1_ps(-8.0f), group_d(f, group));
}

LINEAR_INLINE bool has_m(enum linear_format f) { return f != LINEAR_Q8_0; }

LINEAR_INLINE size_t group_bytes(enum linear_format f) {
    if (f == LINEAR_Q8_0) return sizeof(struct linear_q8_0);
    return f == LINEAR_Q4_1 ? sizeof(struct linear_q4_1) : sizeof(struct linear_q4_0);
}

LINEAR_INLINE const uint8_t *group_at(enum linear_format f, const struct linear_weight *w, uint32_t t, size_t g) {
    return (const uint8_t *)w->tiles + ((size_t)t * (w->k / LINEAR_GROUP) + g) * group_bytes(f);
}

// dot + the pairs' products. The empty statement keeps compilers from hoisting what comes next, which would spill.
LINEAR_INLINE __m512i add_products(__m512i dot, __m512i code, __m512i q) {
    dot = _mm512_dpwssd_epi32(dot, code, q);
    __asm__("" : "+v"(dot));
    return dot;
}

// Asks for the group that will be needed a few hundred nanoseconds from now; past the last tile the hint has no effect.
LINEAR_INLINE void prefetch(enum linear_format f, const uint8_t *group) {
    enum { AHEAD = 4096, LINE = 64 };
    for (size_t i = 0; i < group_bytes(f); i += LINE) _mm_prefetch((const char *)group + AHEAD + i, _MM_HINT_T0);
}

// The two fused steps that end a group.
LINEAR_INLINE __m512 add_group(bool with_m, __m512 y, __m512i dot, __m512 d, __m512 m, float scale,
                               float scaled_sum) {
    y = _mm512_fmadd_ps(_mm512_mul_ps(d, _mm512_set1_ps(scale)), _mm512_cvtepi32_ps(dot), y);
    return with_m ? _mm512_fmadd_ps(m, _mm512_set1_ps(scaled_sum), y) : y;
}

// Tile t for `n` rows (a constant, at most DIRECT_ROWS) from row r on. Fewer rows have more partial dots, so that
// enough chains run at once.
LINEAR_INLINE void direct(enum linear_format f, const struct linear_args *a, uint32_t t, uint32_t r, int n) {
    enum { CHAINS = 4 };
    int chains = n == 1 ? 4 : n == 2 ? 2 : 1;
    size_t groups = a->w->k / LINEAR_GROUP;
    const uint8_t *group = group_at(f, a->w, t, 0);
    struct rows x = rows_at(a, r, 0);
    __m512 y[DIRECT_ROWS];
    for (int i = 0; i < n; i++) y[i] = _mm512_setzero_ps();
    for (size_t g = 0; g < groups; g++, group += group_bytes(f)) {
        __m512i dot[DIRECT_ROWS][CHAINS];
        for (int i = 0; i < n; i++)
            for (int j = 0; j < chains; j++) dot[i][j] = _mm512_setzero_si512();
        prefetch(f, group);
        for (int first = 0; first < PAIRS; first += STEP) {
            for (int j = 0; j < STEP; j++) {
                __m512i code = unpack(f, group, first, j);
                for (int i = 0; i < n; i++) {
                    __m512i q = broadcast_pair(x.q + (size_t)i * x.k + g * LINEAR_GROUP + 2 * (size_t)(first + j));
                    dot[i][j % chains] = add_products(dot[i][j % chains], code, q);
                }
            }
        }
        __m512 d = group_d(f, group), m = group_m(f, group);
        for (int i = 0; i < n; i++) {
            for (int j = chains / 2; j > 0; j /= 2)
                for (int l = 0; l < j; l++) dot[i][l] = _mm512_add_epi32(dot[i][l], dot[i][l + j]);
            size_t at = (size_t)i * x.groups + g;
            y[i] = add_group(has_m(f), y[i], dot[i][0], d, m, x.scale[at], x.scaled_sum[at]);
        }
    }
    float sum[DIRECT_ROWS][LINEAR_LANES];
    for (int i = 0; i < n; i++) _mm512_storeu_ps(sum[i], y[i]);
    for (int i = 0; i < n; i++) finish_avx512(a, r + (uint32_t)i, t, sum[i]);
}

LINEAR_INLINE void unpack_panel(enum linear_format f, const struct linear_args *a, uint32_t t, int tiles, size_t g,
                                size_t n_groups, struct panel *to) {
    for (int j = 0; j < tiles; j++) {
        const uint8_t *group = group_at(f, a->w, t + (uint32_t)j, g);
        for (size_t i = 0; i < n_groups; i++, group += group_bytes(f)) {
            for (int first = 0; first < PAIRS; first += STEP)
                for (int l = 0; l < STEP; l++)
                    _mm512_storeu_si512(to[i].pair[first + l][j], unpack(f, group, first, l));
            _mm512_storeu_ps(to[i].d[j], group_d(f, group));
            if (has_m(f)) _mm512_storeu_ps(to[i].m[j], group_m(f, group));
        }
    }
}

// Adds the panel's groups to the sums of `n` rows (tiles and n constants, at most TILES and ROW_TILE).
LINEAR_INLINE void meet(bool with_m, const struct panel *w, size_t n_groups, int tiles, struct rows x, row_sums *sum,
                        int n) {
    for (size_t g = 0; g < n_groups; g++, w++) {
        __m512i dot[ROW_TILE][TILES];
        for (int i = 0; i < n; i++)
            for (int j = 0; j < tiles; j++) dot[i][j] = _mm512_setzero_si512();
#pragma GCC unroll 1
        for (int p = 0; p < PAIRS; p++) {
            __m512i code[TILES];
            for (int j = 0; j < tiles; j++) code[j] = _mm512_loadu_si512(w->pair[p][j]);
            for (int i = 0; i < n; i++) {
                __m512i q = broadcast_pair(x.q + (size_t)i * x.k + g * LINEAR_GROUP + 2 * (size_t)p);
                for (int j = 0; j < tiles; j++) dot[i][j] = add_products(dot[i][j], code[j], q);
            }
        }
        for (int j = 0; j < tiles; j++) {
            __m512 d = _mm512_loadu_ps(w->d[j]), m = with_m ? _mm512_loadu_ps(w->m[j]) : d;
            for (int i = 0; i < n; i++) {
                size_t at = (size_t)i * x.groups + g;
                __m512 y = _mm512_loadu_ps(sum[i][j]);
                _mm512_storeu_ps(sum[i][j], add_group(with_m, y, dot[i][j], d, m, x.scale[at], x.scaled_sum[at]));
            }
        }
    }
}

// The same for any number of rows.
LINEAR_INLINE void meet_all(bool with_m, const struct panel *w, size_t n_groups, int tiles, struct rows x,
                            row_sums *sum, uint32_t n) {
    for (; n >= ROW_TILE; n -= ROW_TILE, sum += ROW_TILE, x = rows_after(x, ROW_TILE))
        meet(with_m, w, n_groups, tiles, x, sum, ROW_TILE);
    for (; n >= 4; n -= 4, sum += 4, x = rows_after(x, 4)) meet(with_m, w, n_groups, tiles, x, sum, 4);
    for (; n >= 2; n -= 2, sum += 2, x = rows_after(x, 2)) meet(with_m, w, n_groups, tiles, x, sum, 2);
    if (n) meet(with_m, w, n_groups, tiles, x, sum, 1);
}

static void meet_with_m(const struct panel *w, size_t n_groups, int tiles, struct rows x, row_sums *sum, uint32_t n) {
    if (tiles == TILES) meet_all(true, w, n_groups, TILES, x, sum, n);
    else meet_all(true, w, n_groups, 1, x, sum, n);
}

static void meet_plain(const struct panel *w, size_t n_groups, int tiles, struct rows x, row_sums *sum, uint32_t n) {
    if (tiles == TILES) meet_all(false, w, n_groups, TILES, x, sum, n);
    else meet_all(false, w, n_groups, 1, x, sum, n);
}

// `tiles` tiles from tile t on, for rows [begin, end), at most ROW_BLOCK of them.
LINEAR_INLINE void through_panel(enum linear_format f, const struct linear_args *a, uint32_t t, int tiles,
                                 uint32_t begin, uint32_t end) {
    struct panel panel[PANEL_GROUPS];
    row_sums sum[ROW_BLOCK];
    size_t groups = a->w->k / LINEAR_GROUP;
    memset(sum, 0, (end - begin) * sizeof sum[0]);
    for (size_t g = 0; g < groups; g += PANEL_GROUPS) {
        size_t n_groups = groups - g < PANEL_GROUPS ? groups - g : PANEL_GROUPS;
        unpack_panel(f, a, t, tiles, g, n_groups, panel);
        (has_m(f) ? meet_with_m : meet_plain)(panel, n_groups, tiles, rows_at(a, begin, g), sum, end - begin);
    }
    for (uint32_t r = begin; r < end; r++)
        for (int j = 0; j < tiles; j++) finish_avx512(a, r, t + (uint32_t)j, sum[r - begin][j]);
}

// Tile t for a few rows, which find its codes in the first cache from the second round on.
LINEAR_INLINE void few_rows(enum linear_format f, const struct linear_args *a, uint32_t t) {
    uint32_t r = 0;
    for (; r + DIRECT_ROWS <= a->n_rows; r += DIRECT_ROWS) direct(f, a, t, r, DIRECT_ROWS);
    switch (a->n_rows - r) {
    case 1: direct(f, a, t, r, 1); break;
    case 2: direct(f, a, t, r, 2); break;
    case 3: direct(f, a, t, r, 3); break;
    default: break;
    }
}

LINEAR_INLINE void product(enum linear_format f, const struct linear_args *a, uint32_t begin, uint32_t end) {
    if (a->n_rows <= FEW_ROWS) {
        for (uint32_t t = begin; t < end; t++) few_rows(f, a, t);
        return;
    }
    for (uint32_t r = 0; r < a->n_rows; r += ROW_BLOCK) {
        uint32_t to = a->n_rows - r < ROW_BLOCK ? a->n_rows : r + ROW_BLOCK, t = begin;
        for (; t < end; t += TILES) through_panel(f, a, t, end - t < TILES ? 1 : TILES, r, to);
    }
}

void linear_q4_0_avx512(const struct linear_args *a, uint32_t begin, uint32_t end) {
    product(LINEAR_Q4_0, a, begin, end);
}

void linear_q4_1_avx512(const struct linear_args *a, uint32_t begin, uint32_t end) {
    product(LINEAR_Q4_1, a, begin, end);
}

void linear_q8_0_avx512(const struct linear_args *a, uint32_t begin, uint32_t end) {
    product(LINEAR_Q8_0, a, begin, end);
}
