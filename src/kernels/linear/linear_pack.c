// Packs stored weight rows, sixteen at a time, into the tiles that the linear kernels read.
#include "kernels/linear/linear.h"

#include <string.h>

enum { Q4_0_BYTES = 18, Q4_1_BYTES = 20, Q8_0_BYTES = 34 };

// Inputs of a row that are packed before the next row's: long runs of reading, and a written part that stays in cache.
enum { FLOAT_STEP = 256, GROUP_STEP = 32 };

static uint16_t load16(const uint8_t *p) {
    uint16_t v;
    memcpy(&v, p, sizeof v);
    return v;
}

static uint32_t load32(const uint8_t *p) {
    uint32_t v;
    memcpy(&v, p, sizeof v);
    return v;
}

static uint64_t load64(const uint8_t *p) {
    uint64_t v;
    memcpy(&v, p, sizeof v);
    return v;
}

// Eight codes, one in the low nibble of each byte b0..b7, to one word: b0 b2 b4 b6 in its low half, b1 b3 b5 b7 above.
static inline uint32_t interleave_nibbles(uint64_t bytes) {
    uint64_t x = bytes & 0x0f0f0f0f0f0f0f0fu;
    x |= x >> 12; // byte 0: b0 b2, byte 1: b1 b3, byte 4: b4 b6, byte 5: b5 b7
    return (uint32_t)((x & 0xff) | (x >> 24 & 0xff00) | (x & 0xff00) << 8 | (x >> 16 & 0xff000000u));
}

// The 16 bytes of a stored 4-bit block: byte i holds code i below and code i + 16 above.
static inline void pack_nibbles(const uint8_t *from, uint32_t code[4][LINEAR_LANES], uint32_t lane) {
    uint64_t first = load64(from), second = load64(from + 8);
    code[0][lane] = interleave_nibbles(first);
    code[1][lane] = interleave_nibbles(second);
    code[2][lane] = interleave_nibbles(first >> 4);
    code[3][lane] = interleave_nibbles(second >> 4);
}

static inline void pack_q4_0(const uint8_t *block, void *tile, size_t group, uint32_t lane) {
    struct linear_q4_0 *to = (struct linear_q4_0 *)tile + group;
    to->d[lane] = load16(block);
    pack_nibbles(block + 2, to->code, lane);
}

static inline void pack_q4_1(const uint8_t *block, void *tile, size_t group, uint32_t lane) {
    struct linear_q4_1 *to = (struct linear_q4_1 *)tile + group;
    to->d[lane] = load16(block);
    to->m[lane] = load16(block + 2);
    pack_nibbles(block + 4, to->code, lane);
}

static inline void pack_q8_0(const uint8_t *block, void *tile, size_t group, uint32_t lane) {
    struct linear_q8_0 *to = (struct linear_q8_0 *)tile + group;
    to->d[lane] = load16(block);
    for (uint32_t w = 0; w < 8; w += 2) { // two words of four codes: the middle two bytes of each change places
        uint64_t v = load64(block + 2 + 4 * w), middle = 0x0000ff000000ff00u;
        v = (v & 0xff0000ffff0000ffu) | (v >> 8 & middle) | (v & middle) << 8;
        to->code[w][lane] = (int32_t)v;
        to->code[w + 1][lane] = (int32_t)(v >> 32);
    }
}

// The stored rows of one tile's lanes; NULL past the last output.
struct sources {
    const uint8_t *row[LINEAR_LANES];
};

// What rows past the last output are read from; long enough for every format's step.
static const uint8_t nothing[FLOAT_STEP * sizeof(float)] = {0};

typedef void pack_block_fn(const uint8_t *block, void *tile, size_t group, uint32_t lane);

static inline __attribute__((always_inline)) void pack_groups(const struct sources *s, uint32_t k, size_t block_bytes,
                                                              void *tile, pack_block_fn *pack_block) {
    size_t groups = k / LINEAR_GROUP;
    for (size_t begin = 0; begin < groups; begin += GROUP_STEP) {
        size_t end = groups - begin < GROUP_STEP ? groups : begin + GROUP_STEP;
        for (uint32_t lane = 0; lane < LINEAR_LANES; lane++) {
            const uint8_t *row = s->row[lane];
            for (size_t g = begin; g < end; g++) pack_block(row ? row + g * block_bytes : nothing, tile, g, lane);
        }
    }
}

// Four lanes of `n` inputs: one 64-bit word an input.
static void pack_four_16_bits(const uint8_t *const row[4], size_t n, uint16_t *to) {
    for (size_t i = 0; i < n; i++) {
        uint64_t word = load16(row[0] + 2 * i) | (uint64_t)load16(row[1] + 2 * i) << 16 |
                        (uint64_t)load16(row[2] + 2 * i) << 32 | (uint64_t)load16(row[3] + 2 * i) << 48;
        memcpy(to + i * LINEAR_LANES, &word, sizeof word);
    }
}

// [16 rows][k] to [k][16].
static void pack_16_bits(const struct sources *s, uint32_t k, uint16_t *tile) {
    for (size_t begin = 0; begin < k; begin += FLOAT_STEP) {
        size_t n = k - begin < FLOAT_STEP ? k - begin : FLOAT_STEP;
        for (uint32_t lane = 0; lane < LINEAR_LANES; lane += 4) {
            const uint8_t *row[4];
            for (uint32_t l = 0; l < 4; l++) row[l] = s->row[lane + l] ? s->row[lane + l] + 2 * begin : nothing;
            pack_four_16_bits(row, n, tile + begin * LINEAR_LANES + lane);
        }
    }
}

static void pack_32_bits(const struct sources *s, uint32_t k, uint32_t *tile) {
    for (size_t begin = 0; begin < k; begin += FLOAT_STEP) {
        size_t n = k - begin < FLOAT_STEP ? k - begin : FLOAT_STEP;
        for (uint32_t lane = 0; lane < LINEAR_LANES; lane++) {
            const uint8_t *row = s->row[lane] ? s->row[lane] + 4 * begin : nothing;
            for (size_t i = 0; i < n; i++) tile[(begin + i) * LINEAR_LANES + lane] = load32(row + 4 * i);
        }
    }
}

static size_t stored_row_bytes(enum linear_format f, uint32_t k) {
    switch (f) {
    case LINEAR_F32: return (size_t)k * 4;
    case LINEAR_F16:
    case LINEAR_BF16: return (size_t)k * 2;
    case LINEAR_Q4_0: return (size_t)k / LINEAR_GROUP * Q4_0_BYTES;
    case LINEAR_Q4_1: return (size_t)k / LINEAR_GROUP * Q4_1_BYTES;
    case LINEAR_Q8_0: return (size_t)k / LINEAR_GROUP * Q8_0_BYTES;
    case LINEAR_FORMAT_COUNT: break;
    }
    return 0;
}

static void pack_tile(enum linear_format f, const struct sources *s, uint32_t k, void *tile) {
    switch (f) {
    case LINEAR_F32: pack_32_bits(s, k, tile); break;
    case LINEAR_F16:
    case LINEAR_BF16: pack_16_bits(s, k, tile); break;
    case LINEAR_Q4_0: pack_groups(s, k, Q4_0_BYTES, tile, pack_q4_0); break;
    case LINEAR_Q4_1: pack_groups(s, k, Q4_1_BYTES, tile, pack_q4_1); break;
    case LINEAR_Q8_0: pack_groups(s, k, Q8_0_BYTES, tile, pack_q8_0); break;
    case LINEAR_FORMAT_COUNT: break;
    }
}

void linear_pack(const struct linear_pack_args *a, uint32_t tile_begin, uint32_t tile_end) {
    size_t row_bytes = stored_row_bytes(a->format, a->k), tile_bytes;
    if (!linear_tile_bytes(a->format, a->k, &tile_bytes)) return;
    for (uint32_t t = tile_begin; t < tile_end; t++) {
        struct sources s;
        for (uint32_t lane = 0; lane < LINEAR_LANES; lane++) {
            uint32_t o = t * LINEAR_LANES + lane;
            uint32_t row = o < a->n && a->row_map ? a->row_map[o] : o;
            s.row[lane] = o < a->n ? a->rows + row * row_bytes : NULL;
        }
        pack_tile(a->format, &s, a->k, (uint8_t *)a->tiles + t * tile_bytes);
    }
}
