// The gated activation: known values, the ends of the range, and every instruction set's bits.
#include "kernels/swiglu/swiglu.h"
#include "tests/support/test.h"

#include <math.h>

static void known_values(void) {
    const float gate[4] = {0, 1, -1, 30}, up[4] = {5, 2, 2, -1};
    const float want[4] = {0, 1.4621172f, -0.53788284f, -30};
    float y[4];
    swiglu_select(ISA_REF)(&(struct swiglu_args){gate, up, y, 4, 4}, 0, 1);
    for (int i = 0; i < 4; i++) CHECK(fabsf(want[i] - y[i]) < 1e-6f);
}

static void far_ends_stay_finite(void) {
    const float gate[2] = {-1000, 1000}, up[2] = {3, 3};
    float y[2];
    swiglu_select(ISA_REF)(&(struct swiglu_args){gate, up, y, 2, 2}, 0, 1);
    CHECK(y[0] == 0.0f);
    CHECK(y[1] == 3000.0f);
}

static void every_set_gives_the_same_bits(void) {
    enum { N = 45 };
    struct test_random r = {8};
    float gate[N], up[N], want[N], y[N];
    for (int i = 0; i < N; i++) gate[i] = 50.0f * test_random_float(&r), up[i] = test_random_float(&r);
    swiglu_ref(&(struct swiglu_args){gate, up, want, N, N}, 0, 1);
    for (int isa = 0; isa < ISA_COUNT; isa++) {
        if (!isa_available((enum isa)isa)) continue;
        swiglu_select((enum isa)isa)(&(struct swiglu_args){gate, up, y, N, N}, 0, 1);
        CHECK_BYTES(want, y, sizeof y);
    }
}

static const struct test_case cases[] = {
    {"gives silu of the gate times up", known_values},
    {"gates far from zero give 0 or the gate itself", far_ends_stay_finite},
    {"every instruction set gives the same bits", every_set_gives_the_same_bits},
};
TEST_MAIN("swiglu", cases)
