// The meaning of the linear kernels in plain C: one output after the other, each sum a plain ascending loop.
#include "kernels/linear/linear_tile.h"

#include "base/float16.h"

#include <math.h>

// Code i (0..31) of a lane.
static int code_q4(const uint32_t code[4][LINEAR_LANES], uint32_t lane, uint32_t i) {
    return (int)(code[i / 8][lane] >> (16 * (i & 1) + 4 * (i % 8 / 2)) & 15);
}

static int code_q8(const int32_t code[8][LINEAR_LANES], uint32_t lane, uint32_t i) {
    static const uint32_t shift[4] = {0, 16, 8, 24};
    return (int8_t)((uint32_t)code[i / 4][lane] >> shift[i % 4]);
}

// The activations of one row: 32 codes a group, and a scale and a scaled sum a group.
struct row {
    const int16_t *q;
    const float *scale, *scaled_sum;
};

static struct row row_of(const struct linear_args *a, uint32_t r) {
    size_t k = a->w->k, groups = k / LINEAR_GROUP;
    return (struct row){a->x.q + r * k, a->x.scale + r * groups, a->x.scaled_sum + r * groups};
}

static float sum_q4_0(const struct linear_weight *w, uint32_t t, uint32_t lane, const struct row *x) {
    const struct linear_q4_0 *tile = LINEAR_TILE(struct linear_q4_0, w, t);
    float y = 0;
    for (uint32_t g = 0; g < w->k / LINEAR_GROUP; g++) {
        int32_t dot = 0;
        for (uint32_t i = 0; i < LINEAR_GROUP; i++)
            dot += code_q4(tile[g].code, lane, i) * x->q[g * LINEAR_GROUP + i];
        float d = f16_to_float(tile[g].d[lane]);
        y = fmaf(d * x->scale[g], (float)dot, y);
        y = fmaf(-8.0f * d, x->scaled_sum[g], y);
    }
    return y;
}

static float sum_q4_1(const struct linear_weight *w, uint32_t t, uint32_t lane, const struct row *x) {
    const struct linear_q4_1 *tile = LINEAR_TILE(struct linear_q4_1, w, t);
    float y = 0;
    for (uint32_t g = 0; g < w->k / LINEAR_GROUP; g++) {
        int32_t dot = 0;
        for (uint32_t i = 0; i < LINEAR_GROUP; i++)
            dot += code_q4(tile[g].code, lane, i) * x->q[g * LINEAR_GROUP + i];
        y = fmaf(f16_to_float(tile[g].d[lane]) * x->scale[g], (float)dot, y);
        y = fmaf(f16_to_float(tile[g].m[lane]), x->scaled_sum[g], y);
    }
    return y;
}

static float sum_q8_0(const struct linear_weight *w, uint32_t t, uint32_t lane, const struct row *x) {
    const struct linear_q8_0 *tile = LINEAR_TILE(struct linear_q8_0, w, t);
    float y = 0;
    for (uint32_t g = 0; g < w->k / LINEAR_GROUP; g++) {
        int32_t dot = 0;
        for (uint32_t i = 0; i < LINEAR_GROUP; i++)
            dot += code_q8(tile[g].code, lane, i) * x->q[g * LINEAR_GROUP + i];
        y = fmaf(f16_to_float(tile[g].d[lane]) * x->scale[g], (float)dot, y);
    }
    return y;
}

// A float weight as fp32: element i of lane `lane` in tile t.
static float stored(const struct linear_weight *w, uint32_t t, uint32_t lane, uint32_t i) {
    size_t at = ((size_t)t * w->k + i) * LINEAR_LANES + lane;
    if (w->format == LINEAR_F32) return ((const float *)w->tiles)[at];
    uint16_t half = ((const uint16_t *)w->tiles)[at];
    return w->format == LINEAR_F16 ? f16_to_float(half) : bf16_to_float(half);
}

static float sum_float(const struct linear_weight *w, uint32_t t, uint32_t lane, const float *x) {
    float y = 0;
    for (uint32_t i = 0; i < w->k; i++) y = fmaf(x[i], stored(w, t, lane, i), y);
    return y;
}

static float sum_of(const struct linear_args *a, uint32_t r, uint32_t t, uint32_t lane) {
    const struct linear_weight *w = a->w;
    if (w->format <= LINEAR_BF16) return sum_float(w, t, lane, a->x.x + (size_t)r * a->x.ldx);
    struct row x = row_of(a, r);
    if (w->format == LINEAR_Q4_0) return sum_q4_0(w, t, lane, &x);
    if (w->format == LINEAR_Q4_1) return sum_q4_1(w, t, lane, &x);
    return sum_q8_0(w, t, lane, &x);
}

static void product(const struct linear_args *a, uint32_t tile_begin, uint32_t tile_end) {
    for (uint32_t t = tile_begin; t < tile_end; t++) {
        uint32_t width = linear_tile_width(a->w, t);
        for (uint32_t r = 0; r < a->n_rows; r++) {
            float sum[LINEAR_LANES];
            for (uint32_t lane = 0; lane < width; lane++) sum[lane] = sum_of(a, r, t, lane);
            linear_finish(a, r, t, width, sum);
        }
    }
}

void linear_f32_ref(const struct linear_args *a, uint32_t begin, uint32_t end) { product(a, begin, end); }
void linear_f16_ref(const struct linear_args *a, uint32_t begin, uint32_t end) { product(a, begin, end); }
void linear_bf16_ref(const struct linear_args *a, uint32_t begin, uint32_t end) { product(a, begin, end); }
void linear_q4_0_ref(const struct linear_args *a, uint32_t begin, uint32_t end) { product(a, begin, end); }
void linear_q4_1_ref(const struct linear_args *a, uint32_t begin, uint32_t end) { product(a, begin, end); }
void linear_q8_0_ref(const struct linear_args *a, uint32_t begin, uint32_t end) { product(a, begin, end); }

// The largest magnitude by its bits, so that a NaN counts as larger than any number.
static float largest(const float *x) {
    uint32_t most = 0;
    for (uint32_t i = 0; i < LINEAR_GROUP; i++) {
        uint32_t bits = float_bits(x[i]) & 0x7fffffff;
        if (bits > most) most = bits;
    }
    return float_from_bits(most);
}

// One group; returns the sum of its codes through *scaled_sum.
static void quantise_group(const float *x, int16_t *q, float *scale, float *scaled_sum) {
    float m = largest(x);
    bool tiny = m < LINEAR_TINY, finite = m <= LINEAR_HUGE;
    float inverse = 32767.0f / m;
    int32_t sum = 0;
    for (uint32_t i = 0; i < LINEAR_GROUP; i++) {
        q[i] = tiny || !finite ? 0 : (int16_t)rintf(x[i] * inverse);
        sum += q[i];
    }
    *scale = tiny ? 0.0f : finite ? m / 32767.0f : NAN;
    *scaled_sum = *scale * (float)sum;
}

void linear_quantise_ref(const struct linear_activations *a, uint32_t k, uint32_t row_begin, uint32_t row_end) {
    size_t groups = k / LINEAR_GROUP;
    for (size_t r = row_begin; r < row_end; r++) {
        for (size_t g = 0; g < groups; g++) {
            quantise_group(a->x + r * a->ldx + g * LINEAR_GROUP, a->q + r * k + g * LINEAR_GROUP,
                           &a->scale[r * groups + g], &a->scaled_sum[r * groups + g]);
        }
    }
}

static void row_float(const struct linear_weight *w, uint32_t t, uint32_t lane, float *y) {
    for (uint32_t i = 0; i < w->k; i++) y[i] = stored(w, t, lane, i);
}

static float element(const struct linear_weight *w, uint32_t t, uint32_t lane, uint32_t i) {
    uint32_t g = i / LINEAR_GROUP, at = i % LINEAR_GROUP;
    if (w->format == LINEAR_Q4_0) {
        const struct linear_q4_0 *b = LINEAR_TILE(struct linear_q4_0, w, t) + g;
        return f16_to_float(b->d[lane]) * (float)(code_q4(b->code, lane, at) - 8);
    }
    if (w->format == LINEAR_Q4_1) {
        const struct linear_q4_1 *b = LINEAR_TILE(struct linear_q4_1, w, t) + g;
        return fmaf(f16_to_float(b->d[lane]), (float)code_q4(b->code, lane, at), f16_to_float(b->m[lane]));
    }
    const struct linear_q8_0 *b = LINEAR_TILE(struct linear_q8_0, w, t) + g;
    return f16_to_float(b->d[lane]) * (float)code_q8(b->code, lane, at);
}

void linear_row(const struct linear_weight *w, uint32_t o, float *y) {
    uint32_t t = o / LINEAR_LANES, lane = o % LINEAR_LANES;
    if (w->format <= LINEAR_BF16) {
        row_float(w, t, lane, y);
        return;
    }
    for (uint32_t i = 0; i < w->k; i++) y[i] = element(w, t, lane, i);
}
