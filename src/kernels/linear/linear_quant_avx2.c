// AVX2 products with 4- and 8-bit weights: exact int32 dots of code pairs by vpmaddwd, then two fused steps a group.
//
// Few rows: codes are unpacked in registers and used for all of them. Many rows: a tile's codes are unpacked once into
// a panel in the first cache, which then meets the rows four at a time.
#include "kernels/linear/linear_avx2.h"

enum {
    PAIRS = LINEAR_GROUP / 2,
    STEP = 4,         // pairs unpacked by one round of a loop: one word of 4-bit codes, two of 8-bit codes
    FEW_ROWS = 8,     // most rows of the first form
    ROW_TILE = 4,     // rows at once: 8 sums, 2 weights, a broadcast and a product, with registers left to run ahead
    PANEL_GROUPS = 8, // groups unpacked at once
    ROW_BLOCK = 96,   // rows whose activations should stay in the second cache while all tiles pass
};

// One group of a tile, unpacked.
struct panel {
    int16_t pair[PAIRS][LINEAR_LANES][2];
    float d[LINEAR_LANES], m[LINEAR_LANES]; // m: what the scaled sum is multiplied by
};

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

LINEAR_INLINE __m256i load_codes(const void *p) { return _mm256_loadu_si256((const __m256i *)p); }

// The pair of codes q[0], q[1] in every lane.
LINEAR_INLINE __m256i broadcast_pair(const int16_t *q) {
    int32_t pair;
    memcpy(&pair, q, sizeof pair);
    return _mm256_set1_epi32(pair);
}

// Pair j (0..3) of a word of eight 4-bit codes.
LINEAR_INLINE __m256i nibbles(__m256i word, int j) {
    if (j == 3) return _mm256_srli_epi16(word, 12);
    return _mm256_and_si256(_mm256_srli_epi32(word, 4 * j), _mm256_set1_epi32(0x000f000f));
}

// Pair j (0..1) of a word of four 8-bit codes.
LINEAR_INLINE __m256i bytes(__m256i word, int j) {
    return _mm256_srai_epi16(j == 0 ? _mm256_slli_epi16(word, 8) : word, 8);
}

// dot + the pairs' products. The empty statement keeps compilers from regrouping the sums, which would spill them.
LINEAR_INLINE __m256i add_products(__m256i dot, __m256i code, __m256i q) {
    dot = _mm256_add_epi32(dot, _mm256_madd_epi16(code, q));
    __asm__("" : "+x"(dot));
    return dot;
}

// Half h of pair first + j of one group; `first` a multiple of STEP, j a constant below it.
LINEAR_INLINE __m256i unpack(enum linear_format f, const void *group, int first, int j, int h) {
    if (f == LINEAR_Q8_0)
        return bytes(load_codes(((const struct linear_q8_0 *)group)->code[first / 2 + j / 2] + 8 * h), j % 2);
    return nibbles(load_codes(((const struct linear_q4_0 *)group)->code[first / 4] + 8 * h), j);
}

LINEAR_INLINE __m256 group_d(enum linear_format f, const void *group, int h) {
    if (f == LINEAR_Q8_0) return load_f16(((const struct linear_q8_0 *)group)->d + 8 * h);
    return load_f16(((const struct linear_q4_0 *)group)->d + 8 * h); // at the same place in Q4_1
}

LINEAR_INLINE __m256 group_m(enum linear_format f, const void *group, int h) {
    if (f == LINEAR_Q4_1) return load_f16(((const struct linear_q4_1 *)group)->m + 8 * h);
    return _mm256_mul_ps(_mm256_set1_ps(-8.0f), group_d(f, group, h));
}

LINEAR_INLINE bool has_m(enum linear_format f) { return f != LINEAR_Q8_0; }

LINEAR_INLINE size_t group_bytes(enum linear_format f) {
    if (f == LINEAR_Q8_0) return sizeof(struct linear_q8_0);
    return f == LINEAR_Q4_1 ? sizeof(struct linear_q4_1) : sizeof(struct linear_q4_0);
}

// Asks for the group that will be needed a few hundred nanoseconds from now; past the last tile the hint has no effect.
LINEAR_INLINE void prefetch(enum linear_format f, const uint8_t *group) {
    enum { AHEAD = 4096, LINE = 64 };
    for (size_t i = 0; i < group_bytes(f); i += LINE) _mm_prefetch((const char *)group + AHEAD + i, _MM_HINT_T0);
}

// The two fused steps that end a group.
LINEAR_INLINE __m256 add_group(bool with_m, __m256 y, __m256i dot, __m256 d, __m256 m, const float *scale,
                               const float *scaled_sum) {
    y = _mm256_fmadd_ps(_mm256_mul_ps(d, _mm256_broadcast_ss(scale)), _mm256_cvtepi32_ps(dot), y);
    return with_m ? _mm256_fmadd_ps(m, _mm256_broadcast_ss(scaled_sum), y) : y;
}

// Tile t for `n` rows (a constant, at most ROW_TILE) from row r on.
LINEAR_INLINE void direct(enum linear_format f, const struct linear_args *a, uint32_t t, uint32_t r, int n) {
    size_t groups = a->w->k / LINEAR_GROUP;
    const uint8_t *group = (const uint8_t *)a->w->tiles + t * groups * group_bytes(f);
    struct rows x = rows_at(a, r, 0);
    __m256 y[ROW_TILE][2];
    for (int i = 0; i < n; i++) y[i][0] = y[i][1] = _mm256_setzero_ps();
    for (size_t g = 0; g < groups; g++, group += group_bytes(f)) {
        __m256i dot[ROW_TILE][2];
        for (int i = 0; i < n; i++) dot[i][0] = dot[i][1] = _mm256_setzero_si256();
        prefetch(f, group);
        for (int first = 0; first < PAIRS; first += STEP) {
            for (int j = 0; j < STEP; j++) {
                __m256i low = unpack(f, group, first, j, 0), high = unpack(f, group, first, j, 1);
                for (int i = 0; i < n; i++) {
                    __m256i q = broadcast_pair(x.q + (size_t)i * x.k + g * LINEAR_GROUP + 2 * (size_t)(first + j));
                    dot[i][0] = add_products(dot[i][0], low, q);
                    dot[i][1] = add_products(dot[i][1], high, q);
                }
            }
        }
        for (int h = 0; h < 2; h++) {
            __m256 d = group_d(f, group, h), m = group_m(f, group, h);
            for (int i = 0; i < n; i++) {
                size_t at = (size_t)i * x.groups + g;
                y[i][h] = add_group(has_m(f), y[i][h], dot[i][h], d, m, x.scale + at, x.scaled_sum + at);
            }
        }
    }
    float sum[ROW_TILE][LINEAR_LANES];
    for (int i = 0; i < n; i++) {
        _mm256_storeu_ps(sum[i], y[i][0]);
        _mm256_storeu_ps(sum[i] + 8, y[i][1]);
    }
    for (int i = 0; i < n; i++) finish_avx2(a, r + (uint32_t)i, t, sum[i]);
}

LINEAR_INLINE void unpack_panel(enum linear_format f, const uint8_t *group, size_t n_groups, struct panel *to) {
    for (size_t g = 0; g < n_groups; g++, group += group_bytes(f), to++) {
        for (int h = 0; h < 2; h++) {
            for (int first = 0; first < PAIRS; first += STEP)
                for (int j = 0; j < STEP; j++)
                    _mm256_storeu_si256((__m256i *)to->pair[first + j][8 * h], unpack(f, group, first, j, h));
            _mm256_storeu_ps(to->d + 8 * h, group_d(f, group, h));
            if (has_m(f)) _mm256_storeu_ps(to->m + 8 * h, group_m(f, group, h));
        }
    }
}

// Adds the panel's groups to the sums of `n` rows (a constant, at most ROW_TILE).
LINEAR_INLINE void meet(bool with_m, const struct panel *w, size_t n_groups, struct rows x,
                        float (*sum)[LINEAR_LANES], int n) {
    for (size_t g = 0; g < n_groups; g++, w++) {
        __m256i dot[ROW_TILE][2];
        for (int i = 0; i < n; i++) dot[i][0] = dot[i][1] = _mm256_setzero_si256();
#pragma GCC unroll 16
        for (int p = 0; p < PAIRS; p++) {
            __m256i low = load_codes(w->pair[p][0]), high = load_codes(w->pair[p][8]);
            for (int i = 0; i < n; i++) {
                __m256i q = broadcast_pair(x.q + (size_t)i * x.k + g * LINEAR_GROUP + 2 * (size_t)p);
                dot[i][0] = add_products(dot[i][0], low, q);
                dot[i][1] = add_products(dot[i][1], high, q);
            }
        }
        for (int h = 0; h < 2; h++) {
            __m256 d = _mm256_loadu_ps(w->d + 8 * h), m = with_m ? _mm256_loadu_ps(w->m + 8 * h) : d;
            for (int i = 0; i < n; i++) {
                size_t at = (size_t)i * x.groups + g;
                __m256 y = _mm256_loadu_ps(sum[i] + 8 * h);
                y = add_group(with_m, y, dot[i][h], d, m, x.scale + at, x.scaled_sum + at);
                _mm256_storeu_ps(sum[i] + 8 * h, y);
            }
        }
    }
}

// The same for any number of rows.
LINEAR_INLINE void meet_all(bool with_m, const struct panel *w, size_t n_groups, struct rows x,
                            float (*sum)[LINEAR_LANES], uint32_t n) {
    for (; n >= ROW_TILE; n -= ROW_TILE, sum += ROW_TILE, x = rows_after(x, ROW_TILE))
        meet(with_m, w, n_groups, x, sum, ROW_TILE);
    for (; n >= 2; n -= 2, sum += 2, x = rows_after(x, 2)) meet(with_m, w, n_groups, x, sum, 2);
    if (n) meet(with_m, w, n_groups, x, sum, 1);
}

static void meet_with_m(const struct panel *w, size_t n_groups, struct rows x, float (*sum)[LINEAR_LANES], uint32_t n) {
    meet_all(true, w, n_groups, x, sum, n);
}

static void meet_plain(const struct panel *w, size_t n_groups, struct rows x, float (*sum)[LINEAR_LANES], uint32_t n) {
    meet_all(false, w, n_groups, x, sum, n);
}

// Tile t for rows [begin, end), at most ROW_BLOCK of them.
LINEAR_INLINE void through_panel(enum linear_format f, const struct linear_args *a, uint32_t t, uint32_t begin,
                                 uint32_t end) {
    struct panel panel[PANEL_GROUPS];
    float sum[ROW_BLOCK][LINEAR_LANES];
    size_t groups = a->w->k / LINEAR_GROUP;
    const uint8_t *tile = (const uint8_t *)a->w->tiles + t * groups * group_bytes(f);
    memset(sum, 0, (end - begin) * sizeof sum[0]);
    for (size_t g = 0; g < groups; g += PANEL_GROUPS) {
        size_t n_groups = groups - g < PANEL_GROUPS ? groups - g : PANEL_GROUPS;
        unpack_panel(f, tile + g * group_bytes(f), n_groups, panel);
        (has_m(f) ? meet_with_m : meet_plain)(panel, n_groups, rows_at(a, begin, g), sum, end - begin);
    }
    for (uint32_t r = begin; r < end; r++) finish_avx2(a, r, t, sum[r - begin]);
}

// Tile t for a few rows, which find its codes in the first cache from the second round on.
LINEAR_INLINE void few_rows(enum linear_format f, const struct linear_args *a, uint32_t t) {
    uint32_t r = 0;
    for (; r + ROW_TILE <= a->n_rows; r += ROW_TILE) direct(f, a, t, r, ROW_TILE);
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
        uint32_t to = a->n_rows - r < ROW_BLOCK ? a->n_rows : r + ROW_BLOCK;
        for (uint32_t t = begin; t < end; t++) through_panel(f, a, t, r, to);
    }
}

void linear_q4_0_avx2(const struct linear_args *a, uint32_t begin, uint32_t end) {
    product(LINEAR_Q4_0, a, begin, end);
}

void linear_q4_1_avx2(const struct linear_args *a, uint32_t begin, uint32_t end) {
    product(LINEAR_Q4_1, a, begin, end);
}

void linear_q8_0_avx2(const struct linear_args *a, uint32_t begin, uint32_t end) {
    product(LINEAR_Q8_0, a, begin, end);
}
