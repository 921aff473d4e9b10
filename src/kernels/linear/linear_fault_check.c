// Linear kernels that are wrong on purpose: each shows that a gate can go red.
#include "kernels/linear/linear_check.h"

#include "base/float16.h"
#include "kernels/linear/linear_tile.h"

#include <math.h>
#include <string.h>

// One way of being wrong, decided for one row and one range of groups.
struct fault {
    bool (*splits)(const struct linear_args *a, uint32_t r, uint32_t tile_begin); // sums the two halves of k apart
    bool backwards;      // groups from the last to the first
    bool half_sum;       // the running total is rounded to bfloat16
    bool stale_scale;    // a group of odd number is scaled by the one before it
    bool neighbour_row;  // an odd row reads the row before it
    bool leaks;          // 0 times the first value of the last row is added to all
    bool early_residual; // bias is added to the residual first
    bool forgets_place;  // the residual is read from row 0
    bool full_tiles;     // writes all 16 outputs of the last tile
    bool looks_ahead;    // reads the activations of the row after the last
};

static int code_of(const struct linear_q4_1 *b, uint32_t lane, uint32_t i) {
    return (int)(b->code[i / 8][lane] >> (16 * (i & 1) + 4 * (i % 8 / 2)) & 15);
}

static float add_group(const struct fault *f, const struct linear_args *a, const struct linear_q4_1 *tile,
                       uint32_t lane, uint32_t r, uint32_t g, float y) {
    size_t k = a->w->k, groups = k / LINEAR_GROUP, at = r * groups + g;
    const int16_t *q = a->x.q + r * k + g * LINEAR_GROUP;
    int32_t dot = 0;
    for (uint32_t i = 0; i < LINEAR_GROUP; i++) dot += code_of(&tile[g], lane, i) * q[i];
    float scale = a->x.scale[f->stale_scale && g % 2 ? at - 1 : at];
    y = fmaf(f16_to_float(tile[g].d[lane]) * scale, (float)dot, y);
    y = fmaf(f16_to_float(tile[g].m[lane]), a->x.scaled_sum[at], y);
    return f->half_sum ? bf16_to_float(float_to_bf16(y)) : y;
}

static float sum_of(const struct fault *f, const struct linear_args *a, uint32_t t, uint32_t lane, uint32_t r,
                    uint32_t tile_begin) {
    const struct linear_q4_1 *tile = LINEAR_TILE(struct linear_q4_1, a->w, t);
    uint32_t groups = a->w->k / LINEAR_GROUP;
    uint32_t half = f->splits && f->splits(a, r, tile_begin) ? groups / 2 : 0;
    uint32_t row = f->neighbour_row && r % 2 ? r - 1 : r;
    float first = 0, y = 0;
    for (uint32_t g = 0; g < groups; g++) {
        if (g == half) {
            first = y;
            y = 0;
        }
        y = add_group(f, a, tile, lane, row, f->backwards ? groups - 1 - g : g, y);
    }
    y = half ? first + y : y;
    if (f->leaks) y += 0.0f * a->x.scaled_sum[(size_t)(a->n_rows - 1) * groups];
    if (f->looks_ahead) y += 0.0f * (float)((const volatile int16_t *)a->x.q)[(size_t)a->n_rows * a->w->k];
    return y;
}

static void finish(const struct fault *f, const struct linear_args *a, uint32_t r, uint32_t t, const float *sum) {
    uint32_t width = f->full_tiles ? LINEAR_LANES : linear_tile_width(a->w, t);
    bool bias = a->w->bias, residual = a->residual;
    if (f->early_residual && bias && residual) {
        size_t at = (size_t)r * a->ldy + (size_t)t * LINEAR_LANES;
        for (uint32_t l = 0; l < width; l++)
            a->y[at + l] = (a->residual[at + l] + a->w->bias[t * LINEAR_LANES + l]) + sum[l];
    } else if (f->forgets_place && residual) {
        struct linear_args moved = *a;
        moved.residual = a->residual - (size_t)r * a->ldy;
        linear_finish(&moved, r, t, width, sum);
    } else {
        linear_finish(a, r, t, width, sum);
    }
}

static void product(const struct fault *f, const struct linear_args *a, uint32_t tile_begin, uint32_t tile_end) {
    for (uint32_t t = tile_begin; t < tile_end; t++) {
        for (uint32_t r = 0; r < a->n_rows; r++) {
            float sum[LINEAR_LANES];
            for (uint32_t lane = 0; lane < LINEAR_LANES; lane++) sum[lane] = sum_of(f, a, t, lane, r, tile_begin);
            finish(f, a, r, t, sum);
        }
    }
}

static bool when_wide(const struct linear_args *a, uint32_t r, uint32_t tile_begin) {
    (void)r, (void)tile_begin;
    return a->n_rows >= 4;
}

static bool when_in_the_tail(const struct linear_args *a, uint32_t r, uint32_t tile_begin) {
    (void)tile_begin;
    return r >= a->n_rows / 4 * 4 && a->n_rows > 4;
}

static bool when_not_first(const struct linear_args *a, uint32_t r, uint32_t tile_begin) {
    (void)a, (void)r;
    return tile_begin > 0;
}

static bool when_a_long_pass(const struct linear_args *a, uint32_t r, uint32_t tile_begin) {
    (void)r, (void)tile_begin;
    return a->n_rows >= 128;
}

// FAULT(name, sentence, gate, what is wrong)
#define FAULT_LIST(FAULT)                                                                          \
    FAULT(split_by_width, "four rows or more sum k in two halves", ROWS, .splits = when_wide)      \
    FAULT(tail_by_window, "rows after the last full four sum k in two halves", ROWS, .splits = when_in_the_tail) \
    FAULT(leak_of_last_row, "a NaN in the last row reaches all rows", ROWS, .leaks = true)         \
    FAULT(split_by_part, "parts after the first sum k in two halves", PARTITION, .splits = when_not_first) \
    FAULT(unordered_sum, "groups are added from the last to the first", BITS, .backwards = true)   \
    FAULT(stale_scale, "odd groups use the scale of the group before", BITS, .stale_scale = true)  \
    FAULT(half_sum, "the running total is kept in bfloat16", ACCURACY, .half_sum = true)           \
    FAULT(wrong_address, "odd rows read the row before", ACCURACY, .neighbour_row = true)          \
    FAULT(early_residual, "bias meets the residual before the sum does", COMPOSITION, .early_residual = true) \
    FAULT(residual_of_row_0, "every row adds the residual of row 0", COMPOSITION, .forgets_place = true) \
    FAULT(full_tiles, "the last tile is written past n", EDGES, .full_tiles = true)                \
    FAULT(looks_ahead, "the row after the last is read", EDGES, .looks_ahead = true)               \
    FAULT(split_long_pass, "passes of 128 rows or more sum k in two halves", COMPOSITION, .splits = when_a_long_pass)

#define DEFINE(name, sentence, gate, ...)                                                          \
    static const struct fault name = {__VA_ARGS__};                                                \
    static void run_##name(const struct linear_args *a, uint32_t begin, uint32_t end) {            \
        product(&name, a, begin, end);                                                             \
    }                                                                                              \
    static const struct linear_check_variant name##_variant = {run_##name, LINEAR_Q4_1};
FAULT_LIST(DEFINE)
#undef DEFINE

const struct check_fault linear_faults[LINEAR_FAULTS] = {
#define ENTRY(name, sentence, gate, ...) {#name, sentence, CHECK_GATE_##gate, &name##_variant},
    FAULT_LIST(ENTRY)
#undef ENTRY
};
