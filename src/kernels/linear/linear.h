// Linear products y = x W^T (+ bias) (+ residual) on packed weights, sixteen outputs side by side.
#ifndef TF_KERNELS_LINEAR_LINEAR_H
#define TF_KERNELS_LINEAR_LINEAR_H

#include "base/cpu.h"
#include "base/dtype.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    LINEAR_LANES = 16, // outputs a tile
    LINEAR_GROUP = 32, // inputs that share a scale, in the formats that have scales
};

// How a weight lies in memory. Every format: tiles of 16 outputs, tile after tile; outputs past n are zero.
enum linear_format {
    LINEAR_F32,  // [k][16] float
    LINEAR_F16,  // [k][16] binary16
    LINEAR_BF16, // [k][16] bfloat16
    LINEAR_Q4_0, // [k/32] struct linear_q4_0: w = d * (q - 8)
    LINEAR_Q4_1, // [k/32] struct linear_q4_1: w = d * q + m
    LINEAR_Q8_0, // [k/32] struct linear_q8_0: w = d * q
    LINEAR_FORMAT_COUNT
};

// Word w of a lane holds codes 8w .. 8w+7: the nibble at bit 16h + 4j is code 8w + 2j + h, so that
// (word >> 4j) & 0x000F000F is the pair 8w + 2j, 8w + 2j + 1 as int16s.
struct linear_q4_0 {
    uint32_t code[4][LINEAR_LANES];
    uint16_t d[LINEAR_LANES]; // binary16
};
struct linear_q4_1 {
    uint32_t code[4][LINEAR_LANES];
    uint16_t d[LINEAR_LANES], m[LINEAR_LANES]; // binary16
};
// Word w of a lane holds codes 4w .. 4w+3 as bytes in the order 0, 2, 1, 3: its even bytes are the pair (4w, 4w+1),
// its odd bytes the pair (4w+2, 4w+3).
struct linear_q8_0 {
    int32_t code[8][LINEAR_LANES];
    uint16_t d[LINEAR_LANES]; // binary16
};

struct linear_weight {
    enum linear_format format;
    uint32_t n, k;     // outputs, inputs; k % 32 == 0 in the formats with groups
    const void *tiles; // ceil(n / 16) tiles, 64-byte aligned
    const float *bias; // [n] or NULL
};

// True when stored dtype `t` has a packed format here, which goes to *f.
bool linear_format_of(enum dtype t, enum linear_format *f);
const char *linear_format_name(enum linear_format f);

// Bytes of one tile of k inputs, and of the whole packed weight; false on overflow or when k does not fit the format.
bool linear_tile_bytes(enum linear_format f, uint64_t k, size_t *bytes);
bool linear_packed_bytes(enum linear_format f, uint64_t n, uint64_t k, size_t *bytes);

// Packs tiles [tile_begin, tile_end) from stored rows. `rows` is the checkpoint's [n, k] tensor, of any alignment;
// output o is stored row row_map[o], or o when row_map is NULL. `tiles` is the start of the whole packed weight.
struct linear_pack_args {
    enum linear_format format;
    uint32_t n, k;
    const uint8_t *rows;
    const uint32_t *row_map; // [n] or NULL
    void *tiles;
};
void linear_pack(const struct linear_pack_args *a, uint32_t tile_begin, uint32_t tile_end);

// Activations as the formats with groups read them: made once for all weights that share the input.
// Per group of 32, m = max|x| with NaN above all:  m < 2^-100: q = 0, scale = 0;  m infinite or NaN: q = 0,
// scale = NaN;  else scale = m / 32767, q = rint(x * (32767 / m)), ties to even.
#define LINEAR_TINY 0x1p-100f
#define LINEAR_HUGE 0x1.fffffep127f // the largest finite number
struct linear_activations {
    const float *x;     // [rows][ldx]
    uint32_t ldx;       // floats from row to row
    int16_t *q;         // [rows][k]
    float *scale;       // [rows][k / 32]
    float *scaled_sum;  // [rows][k / 32]  scale * (float)(sum of q)
};

// Fills q, scale and scaled_sum of rows [row_begin, row_end). k % 32 == 0.
typedef void linear_quantise_fn(const struct linear_activations *a, uint32_t k, uint32_t row_begin, uint32_t row_end);

// y[r, o] for rows [0, n_rows) and tiles [tile_begin, tile_end):
//   formats with groups, per group g ascending, starting at y = 0:
//     dot = exact int32 sum of code * q;   y = fmaf(d * scale, (float)dot, y)
//     Q4_1: y = fmaf(m, scaled_sum, y)     Q4_0: y = fmaf(-8 * d, scaled_sum, y)     (d, m exact as fp32)
//   float formats, k ascending, starting at y = 0:  y = fmaf(x[k], w[k], y)
//   then, when there is one:  y = y + bias[o];  then, when there is one:  y = residual[r, o] + y
// shape   y, residual [n_rows][ldy] float, columns 0 .. n-1; only columns below n are written
// needs   activations of at least n_rows rows (q, scale, scaled_sum for formats with groups, x for the others);
//         residual == y allowed, no other overlap; n_rows >= 0
// order   above; a value never depends on n_rows, on the row's place, on the tile range or on the variant
// check   equal bits to the reference; where the result is NaN, a NaN (its payload is not defined)
struct linear_args {
    const struct linear_weight *w;
    struct linear_activations x;
    uint32_t n_rows;
    float *y;
    uint32_t ldy;
    const float *residual; // or NULL; same stride as y
};
typedef void linear_fn(const struct linear_args *a, uint32_t tile_begin, uint32_t tile_end);

// Row `o` of the weight as floats y[0..k): d * q, fmaf(d, q, m) or the stored number, exact before one rounding.
// Formats with code - 8 use fp32 d * (float)(q - 8).
void linear_row(const struct linear_weight *w, uint32_t o, float *y);

// The fastest variant of each that this processor runs with instruction set `isa`; never NULL.
linear_fn *linear_select(enum linear_format f, enum isa isa);
linear_quantise_fn *linear_quantise_select(enum isa isa);

#endif
