// The short convolution: values that can be worked out by hand, ranges of channels, every instruction set's bits.
#include "kernels/conv/conv.h"
#include "tests/support/test.h"

#include <math.h>

static void newest_input_meets_the_last_weight(void) {
    const float old[2] = {1, 2}, new[2] = {10, -20}, w[4] = {2, 0.5f, 1, 0.25f};
    const float *const x[2] = {old, new};
    float y[2];
    conv_silu_select(ISA_REF)(&(struct conv_silu_args){x, w, y, 2, 2}, 0, 2);
    CHECK(fabsf(y[0] - 12.0f / (1.0f + expf(-12.0f))) < 1e-5f); // 1 * 2 + 10 * 1
    CHECK(fabsf(y[1] + 4.0f / (1.0f + expf(4.0f))) < 1e-6f);    // 2 * 0.5 - 20 * 0.25
}

static void a_range_leaves_other_channels(void) {
    const float in[5] = {1, 1, 1, 1, 1};
    const float *const x[1] = {in};
    for (int isa = 0; isa < ISA_COUNT; isa++) {
        float y[5] = {9, 9, 9, 9, 9};
        if (!isa_available((enum isa)isa)) continue;
        conv_silu_select((enum isa)isa)(&(struct conv_silu_args){x, in, y, 1, 5}, 1, 3);
        CHECK(y[0] == 9 && y[1] < 1 && y[2] < 1 && y[3] == 9 && y[4] == 9);
    }
}

static void every_set_gives_the_same_bits(void) {
    enum { N = 77 };
    struct test_random r = {21};
    float in[CONV_TAPS_MAX][N], w[CONV_TAPS_MAX * N], want[N], y[N];
    const float *x[CONV_TAPS_MAX];
    for (uint32_t t = 0; t < CONV_TAPS_MAX; t++) {
        x[t] = in[t];
        for (uint32_t i = 0; i < N; i++) in[t][i] = 2.0f * test_random_float(&r);
        for (uint32_t i = 0; i < N; i++) w[t * N + i] = test_random_float(&r);
    }
    for (uint32_t taps = 1; taps <= CONV_TAPS_MAX; taps++) {
        conv_silu_ref(&(struct conv_silu_args){x, w, want, taps, N}, 0, N);
        for (int isa = 0; isa < ISA_COUNT; isa++) {
            if (!isa_available((enum isa)isa)) continue;
            conv_silu_select((enum isa)isa)(&(struct conv_silu_args){x, w, y, taps, N}, 0, N);
            CHECK_BYTES(want, y, sizeof y);
        }
    }
}

static const struct test_case cases[] = {
    {"the newest input meets the last weight, then SiLU", newest_input_meets_the_last_weight},
    {"a range of channels leaves the others alone", a_range_leaves_other_channels},
    {"every instruction set gives the same bits for any number of taps", every_set_gives_the_same_bits},
};
TEST_MAIN("conv", cases)
