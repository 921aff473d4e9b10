// What the linear kernels share: prototypes of all variants, addresses of tiles, and the end of an output.
#ifndef TF_KERNELS_LINEAR_LINEAR_TILE_H
#define TF_KERNELS_LINEAR_LINEAR_TILE_H

#include "kernels/linear/linear.h"

#define LINEAR_VARIANT(symbol, isa, format) linear_fn symbol;
#define LINEAR_QUANTISE_VARIANT(symbol, isa) linear_quantise_fn symbol;
#include "kernels/linear/linear.def"

// Group g of tile t, in a format whose tiles are arrays of `struct linear_<format>`.
#define LINEAR_TILE(type, w, t) ((const type *)(w)->tiles + (size_t)(t) * ((w)->k / LINEAR_GROUP))

// Outputs of tile t that exist: 16, or fewer in the last one.
static inline uint32_t linear_tile_width(const struct linear_weight *w, uint32_t t) {
    uint32_t left = w->n - t * LINEAR_LANES;
    return left < LINEAR_LANES ? left : LINEAR_LANES;
}

// Adds bias and residual to the sums of `width` outputs of tile t and stores them as row r.
static inline void linear_finish(const struct linear_args *a, uint32_t r, uint32_t t, uint32_t width,
                                 const float *sum) {
    size_t at = (size_t)r * a->ldy + (size_t)t * LINEAR_LANES;
    const float *bias = a->w->bias ? a->w->bias + (size_t)t * LINEAR_LANES : NULL;
    for (uint32_t l = 0; l < width; l++) {
        float y = sum[l];
        if (bias) y = y + bias[l];
        if (a->residual) y = a->residual[at + l] + y;
        a->y[at + l] = y;
    }
}

#endif
