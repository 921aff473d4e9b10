// The sigmoid gate: known values, the ends of the range, and every instruction set's bits.
#include "kernels/gate/gate.h"
#include "tests/support/test.h"

#include <math.h>

static void known_values(void) {
    const float x[4] = {2, 2, 2, -3}, gate[4] = {0, 1, -1, 30};
    const float want[4] = {1, 1.4621172f, 0.53788284f, -3};
    float y[4];
    gate_sigmoid_select(ISA_REF)(&(struct gate_sigmoid_args){x, gate, y, 4, 4, 4, 4}, 0, 1);
    for (int i = 0; i < 4; i++) CHECK(fabsf(want[i] - y[i]) < 1e-6f);
}

static void far_ends_close_and_open(void) {
    const float x[2] = {7, 7}, gate[2] = {-1000, 1000};
    float y[2];
    gate_sigmoid_select(ISA_REF)(&(struct gate_sigmoid_args){x, gate, y, 2, 2, 2, 2}, 0, 1);
    CHECK(y[0] == 0.0f);
    CHECK(y[1] == 7.0f);
}

static void every_set_gives_the_same_bits(void) {
    enum { N = 45 };
    struct test_random r = {8};
    float x[N], gate[N], want[N], y[N];
    for (int i = 0; i < N; i++) gate[i] = 50.0f * test_random_float(&r), x[i] = test_random_float(&r);
    gate_sigmoid_ref(&(struct gate_sigmoid_args){x, gate, want, N, N, N, N}, 0, 1);
    for (int isa = 0; isa < ISA_COUNT; isa++) {
        if (!isa_available((enum isa)isa)) continue;
        gate_sigmoid_select((enum isa)isa)(&(struct gate_sigmoid_args){x, gate, y, N, N, N, N}, 0, 1);
        CHECK_BYTES(want, y, sizeof y);
    }
}

static const struct test_case cases[] = {
    {"gives x times the sigmoid of its gate", known_values},
    {"gates far from zero give 0 or x itself", far_ends_close_and_open},
    {"every instruction set gives the same bits", every_set_gives_the_same_bits},
};
TEST_MAIN("gate", cases)
