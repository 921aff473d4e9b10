// Linear kernels: sizes, packing against a dequantiser of the test's own, products small enough to know by heart.
#include "base/float16.h"
#include "base/mem.h"
#include "kernels/linear/linear.h"
#include "tests/support/test.h"

#include <math.h>
#include <string.h>

enum { STORED = 50, N = 37, K = 96, TILES = 3 };

static uint16_t load16(const uint8_t *p) { return (uint16_t)(p[0] | p[1] << 8); }

// Element i of a stored row, by the definition of its format.
static float stored(enum dtype t, const uint8_t *row, uint32_t i) {
    const uint8_t *block = row + (size_t)(i / dtype_block(t)) * dtype_block_bytes(t);
    uint32_t at = i % 32;
    float value, d = f16_to_float(load16(block));
    switch (t) {
    case DTYPE_F32: memcpy(&value, block, sizeof value); return value;
    case DTYPE_F16: return d;
    case DTYPE_BF16: return bf16_to_float(load16(block));
    case DTYPE_Q4_0: return d * (float)((at < 16 ? block[2 + at] & 15 : block[2 + at - 16] >> 4) - 8);
    case DTYPE_Q4_1:
        value = (float)(at < 16 ? block[4 + at] & 15 : block[4 + at - 16] >> 4);
        return fmaf(d, value, f16_to_float(load16(block + 2)));
    case DTYPE_Q8_0: return d * (float)(int8_t)block[2 + at];
    default: return NAN;
    }
}

// Random finite stored rows at an odd address.
static uint8_t *random_rows(enum dtype t, size_t *row_bytes) {
    struct test_random random = {42 + (uint64_t)t};
    uint64_t bytes;
    CHECK(dtype_bytes(t, K, &bytes));
    *row_bytes = (size_t)bytes;
    uint8_t *rows = (uint8_t *)mem_new(STORED * bytes + 1, 1) + 1;
    for (size_t i = 0; i < STORED * bytes; i++) rows[i] = (uint8_t)test_random_u64(&random);
    size_t step = dtype_block_bytes(t), heads = t == DTYPE_Q4_1 ? 2 : 1;
    for (size_t i = 0; i < STORED * bytes; i += step) {
        if (t == DTYPE_F32 || t == DTYPE_BF16) rows[i + step - 1] &= 0xbf; // exponents below the top half
        else for (size_t h = 0; h < heads; h++) rows[i + 2 * h + 1] &= 0xbf;
    }
    return rows;
}

static void check_packing(enum dtype t) {
    struct linear_weight w = {.n = N, .k = K};
    size_t row_bytes, bytes;
    uint32_t map[N];
    float got[K];
    CHECK(linear_format_of(t, &w.format));
    CHECK(linear_packed_bytes(w.format, N, K, &bytes));
    uint8_t *rows = random_rows(t, &row_bytes), *tiles = mem_map(bytes);
    for (uint32_t o = 0; o < N; o++) map[o] = (o * 29 + 7) % STORED;
    struct linear_pack_args pack = {w.format, N, K, rows, map, tiles};
    linear_pack(&pack, 1, TILES);
    linear_pack(&pack, 0, 1);
    w.tiles = tiles;
    for (uint32_t o = 0; o < N; o++) {
        linear_row(&w, o, got);
        for (uint32_t i = 0; i < K; i++) {
            float want = stored(t, rows + map[o] * row_bytes, i);
            if (float_bits(want) == float_bits(got[i])) continue;
            test_fail(__FILE__, __LINE__, "%s [%u][%u]: expected %a, got %a", dtype_name(t), o, i, (double)want,
                      (double)got[i]);
            break;
        }
    }
    for (uint32_t o = N; o < TILES * LINEAR_LANES; o++) {
        linear_row(&w, o, got);
        for (uint32_t i = 0; i < K; i++) CHECK(got[i] == 0);
    }
    mem_unmap(tiles, bytes);
    mem_free(rows - 1);
}

static void packs_every_format(void) {
    static const enum dtype types[] = {DTYPE_F32, DTYPE_F16, DTYPE_BF16, DTYPE_Q4_0, DTYPE_Q4_1, DTYPE_Q8_0};
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) check_packing(types[i]);
}

static void packs_rows_in_order_without_a_map(void) {
    enum { ROWS = 3, WIDTH = 5 };
    float rows[ROWS][WIDTH], got[WIDTH];
    _Alignas(64) float tiles[WIDTH][LINEAR_LANES];
    for (int r = 0; r < ROWS; r++)
        for (int i = 0; i < WIDTH; i++) rows[r][i] = (float)(10 * r + i);
    linear_pack(&(struct linear_pack_args){LINEAR_F32, ROWS, WIDTH, (const uint8_t *)rows, NULL, tiles}, 0, 1);
    struct linear_weight w = {.format = LINEAR_F32, .n = ROWS, .k = WIDTH, .tiles = tiles};
    for (uint32_t r = 0; r < ROWS; r++) {
        linear_row(&w, r, got);
        CHECK_BYTES(rows[r], got, sizeof got);
    }
}

static void says_how_large_a_packed_weight_is(void) {
    size_t bytes;
    CHECK(linear_packed_bytes(LINEAR_Q4_0, 17, 64, &bytes));
    CHECK_INT(2 * 2 * 288, bytes);
    CHECK(linear_packed_bytes(LINEAR_Q4_1, 16, 32, &bytes));
    CHECK_INT(320, bytes);
    CHECK(linear_packed_bytes(LINEAR_Q8_0, 1, 32, &bytes));
    CHECK_INT(544, bytes);
    CHECK(linear_packed_bytes(LINEAR_BF16, 33, 7, &bytes));
    CHECK_INT(3 * 7 * 32, bytes);
}

static void refuses_sizes_that_do_not_fit(void) {
    size_t bytes;
    CHECK(!linear_packed_bytes(LINEAR_Q4_0, 16, 48, &bytes));
    CHECK(!linear_packed_bytes(LINEAR_Q8_0, 16, 0, &bytes));
    CHECK(!linear_packed_bytes(LINEAR_F32, 16, (uint64_t)1 << 32, &bytes));
    CHECK(!linear_packed_bytes(LINEAR_F32, (uint64_t)1 << 32, 16, &bytes));
    CHECK(!linear_packed_bytes(LINEAR_F32, UINT32_MAX, 16, &bytes));
}

static void has_no_format_for_integers(void) {
    enum linear_format f;
    CHECK(!linear_format_of(DTYPE_I32, &f));
    CHECK(linear_format_of(DTYPE_BF16, &f));
    CHECK_INT(LINEAR_BF16, f);
    CHECK_TEXT("BF16", linear_format_name(f));
}

// One group of Q8_0 with scale 1 and codes 0, 1, 2, ...; inputs whose largest is 32767, so that they are their codes.
static void multiplies_whole_numbers_exactly(void) {
    uint8_t block[34] = {0x00, 0x3c};
    _Alignas(64) struct linear_q8_0 tile[1];
    float x[32], y, scale, scaled_sum, want = 0;
    int16_t q[32];
    for (int i = 0; i < 32; i++) {
        block[2 + i] = (uint8_t)i;
        x[i] = i == 5 ? 32767.0f : (float)(i * i - 300);
        want += x[i] * (float)i;
    }
    linear_pack(&(struct linear_pack_args){LINEAR_Q8_0, 1, 32, block, NULL, tile}, 0, 1);
    struct linear_weight w = {.format = LINEAR_Q8_0, .n = 1, .k = 32, .tiles = tile};
    for (int isa = 0; isa < ISA_COUNT; isa++) {
        if (!isa_available((enum isa)isa)) continue;
        struct linear_args a = {.w = &w, .x = {x, 32, q, &scale, &scaled_sum}, .n_rows = 1, .y = &y, .ldy = 1};
        linear_quantise_select((enum isa)isa)(&a.x, 32, 0, 1);
        linear_select(LINEAR_Q8_0, (enum isa)isa)(&a, 0, 1);
        CHECK(scale == 1.0f);
        CHECK(y == want);
    }
}

static void adds_bias_then_residual(void) {
    _Alignas(64) float tile[1][LINEAR_LANES] = {{3}};
    float x = 2, y = 0, bias = 0x1p-24f, residual = 1;
    struct linear_weight w = {.format = LINEAR_F32, .n = 1, .k = 1, .tiles = tile, .bias = &bias};
    for (int isa = 0; isa < ISA_COUNT; isa++) {
        if (!isa_available((enum isa)isa)) continue;
        struct linear_args a = {.w = &w, .x = {.x = &x, .ldx = 1}, .n_rows = 1, .y = &y, .ldy = 1};
        a.residual = &residual;
        linear_select(LINEAR_F32, (enum isa)isa)(&a, 0, 1);
        CHECK(y == 7.0f); // 6 + 2^-24 rounds to 6
    }
}

static void rounds_codes_to_even(void) {
    float x[32] = {32767, 0.5f, 1.5f, 2.5f, -0.5f, -1.5f, -2.5f, -32767};
    static const int16_t want[32] = {32767, 0, 2, 2, 0, -2, -2, -32767};
    for (int isa = 0; isa < ISA_COUNT; isa++) {
        if (!isa_available((enum isa)isa)) continue;
        int16_t q[32];
        float scale, scaled_sum;
        linear_quantise_select((enum isa)isa)(&(struct linear_activations){x, 32, q, &scale, &scaled_sum}, 32, 0, 1);
        CHECK_BYTES(want, q, sizeof q);
        CHECK(scaled_sum == 0.0f);
    }
}

static void marks_groups_that_have_no_scale(void) {
    float x[96] = {[3] = 0x1p-101f, [40] = NAN, [70] = -INFINITY};
    for (int isa = 0; isa < ISA_COUNT; isa++) {
        if (!isa_available((enum isa)isa)) continue;
        int16_t q[96];
        float scale[3], scaled_sum[3];
        memset(q, 1, sizeof q);
        linear_quantise_select((enum isa)isa)(&(struct linear_activations){x, 96, q, scale, scaled_sum}, 96, 0, 1);
        for (int i = 0; i < 96; i++) CHECK_INT(0, q[i]);
        CHECK(scale[0] == 0 && scaled_sum[0] == 0);
        CHECK(isnan(scale[1]) && isnan(scaled_sum[1]) && isnan(scale[2]) && isnan(scaled_sum[2]));
    }
}

static void selects_a_kernel_for_every_format(void) {
    for (int f = 0; f < LINEAR_FORMAT_COUNT; f++) {
        for (int isa = 0; isa < ISA_COUNT; isa++) CHECK(linear_select((enum linear_format)f, (enum isa)isa) != NULL);
    }
}

static const struct test_case cases[] = {
    {"packs every format from misaligned rows in any order", packs_every_format},
    {"packs rows in order without a map", packs_rows_in_order_without_a_map},
    {"says how large a packed weight is", says_how_large_a_packed_weight_is},
    {"refuses sizes that do not fit", refuses_sizes_that_do_not_fit},
    {"has no format for integers", has_no_format_for_integers},
    {"multiplies whole numbers exactly", multiplies_whole_numbers_exactly},
    {"adds the bias, then the residual", adds_bias_then_residual},
    {"rounds codes to even", rounds_codes_to_even},
    {"marks groups that have no scale", marks_groups_that_have_no_scale},
    {"selects a kernel for every format", selects_a_kernel_for_every_format},
};
TEST_MAIN("kernels/linear", cases)
