// Formats of packed linear weights: names, sizes, and the choice of a kernel.
#include "kernels/linear/linear_tile.h"

#include "base/checked.h"

static const struct {
    const char *name;
    enum dtype dtype;
    uint32_t block;       // inputs that are packed together
    uint32_t block_bytes; // of a tile
} formats[LINEAR_FORMAT_COUNT] = {
    [LINEAR_F32] = {"F32", DTYPE_F32, 1, LINEAR_LANES * sizeof(float)},
    [LINEAR_F16] = {"F16", DTYPE_F16, 1, LINEAR_LANES * sizeof(uint16_t)},
    [LINEAR_BF16] = {"BF16", DTYPE_BF16, 1, LINEAR_LANES * sizeof(uint16_t)},
    [LINEAR_Q4_0] = {"Q4_0", DTYPE_Q4_0, LINEAR_GROUP, sizeof(struct linear_q4_0)},
    [LINEAR_Q4_1] = {"Q4_1", DTYPE_Q4_1, LINEAR_GROUP, sizeof(struct linear_q4_1)},
    [LINEAR_Q8_0] = {"Q8_0", DTYPE_Q8_0, LINEAR_GROUP, sizeof(struct linear_q8_0)},
};

bool linear_format_of(enum dtype t, enum linear_format *f) {
    for (int i = 0; i < LINEAR_FORMAT_COUNT; i++) {
        if (formats[i].dtype != t) continue;
        *f = (enum linear_format)i;
        return true;
    }
    return false;
}

const char *linear_format_name(enum linear_format f) { return formats[f].name; }

bool linear_tile_bytes(enum linear_format f, uint64_t k, size_t *bytes) {
    if (k == 0 || k > UINT32_MAX || k % formats[f].block != 0) return false;
    return checked_mul(k / formats[f].block, formats[f].block_bytes, bytes);
}

bool linear_packed_bytes(enum linear_format f, uint64_t n, uint64_t k, size_t *bytes) {
    size_t tile;
    if (n > UINT32_MAX - LINEAR_LANES || !linear_tile_bytes(f, k, &tile)) return false;
    return checked_mul(ceil_div(n, LINEAR_LANES), tile, bytes);
}

static const struct {
    linear_fn *fn;
    enum isa isa;
    enum linear_format format;
} variants[] = {
#define LINEAR_VARIANT(symbol, isa, format) {symbol, isa, LINEAR_##format},
#include "kernels/linear/linear.def"
};

static const struct {
    linear_quantise_fn *fn;
    enum isa isa;
} quantisers[] = {
#define LINEAR_QUANTISE_VARIANT(symbol, isa) {symbol, isa},
#include "kernels/linear/linear.def"
};

// Index of the variant with the most capable instruction set up to `isa`.
static size_t best_variant(enum linear_format f, enum isa isa) {
    size_t best = SIZE_MAX;
    for (size_t i = 0; i < sizeof variants / sizeof variants[0]; i++) {
        if (variants[i].format != f || variants[i].isa > isa) continue;
        if (best == SIZE_MAX || variants[i].isa > variants[best].isa) best = i;
    }
    return best; // every format has a reference, so there is one
}

linear_fn *linear_select(enum linear_format f, enum isa isa) { return variants[best_variant(f, isa)].fn; }

linear_quantise_fn *linear_quantise_select(enum isa isa) {
    size_t best = 0;
    for (size_t i = 0; i < sizeof quantisers / sizeof quantisers[0]; i++) {
        if (quantisers[i].isa <= isa && quantisers[i].isa >= quantisers[best].isa) best = i;
    }
    return quantisers[best].fn;
}
