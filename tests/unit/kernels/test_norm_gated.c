// The gated norm: a row that can be worked out by hand, and every instruction set's bits.
#include "kernels/norm/norm_gated.h"
#include "tests/support/test.h"

#include <math.h>

static void norms_then_gates(void) {
    const float x[4] = {1, -7, 5, 5}, w[4] = {1, 2, 0.5f, 3}, gate[4] = {1, 0, -1, 40};
    float y[4];
    norm_gated_select(ISA_REF)(&(struct norm_gated_args){x, gate, y, w, 4, 4, 4, 4, 0.0f}, 0, 1); // mean of squares 25
    const float want[4] = {0.2f * 0.7310586f, 0.0f, 0.5f * -0.26894142f, 120.0f};
    for (int i = 0; i < 4; i++) CHECK(fabsf(want[i] - y[i]) < 1e-5f);
}

static void every_set_gives_the_same_bits(void) {
    enum { N = 83, ROWS = 3 };
    struct test_random r = {7};
    float x[ROWS * N], gate[ROWS * N], w[N], want[ROWS * N], y[ROWS * N];
    for (int i = 0; i < ROWS * N; i++) x[i] = 100.0f * test_random_float(&r), gate[i] = 9.0f * test_random_float(&r);
    for (int i = 0; i < N; i++) w[i] = test_random_float(&r);
    norm_gated_ref(&(struct norm_gated_args){x, gate, want, w, N, N, N, N, 1e-6f}, 0, ROWS);
    for (int isa = 0; isa < ISA_COUNT; isa++) {
        if (!isa_available((enum isa)isa)) continue;
        norm_gated_select((enum isa)isa)(&(struct norm_gated_args){x, gate, y, w, N, N, N, N, 1e-6f}, 0, ROWS);
        CHECK_BYTES(want, y, sizeof y);
    }
}

static const struct test_case cases[] = {
    {"norms a row, then multiplies by SiLU of its gate", norms_then_gates},
    {"every instruction set gives the same bits", every_set_gives_the_same_bits},
};
TEST_MAIN("norm_gated", cases)
