// The RMS norm: a row that can be worked out by hand, and every instruction set's bits.
#include "base/float16.h"
#include "kernels/norm/norm.h"
#include "tests/support/test.h"

#include <math.h>

static void divides_by_the_root_of_the_mean_square(void) {
    const float x[4] = {1, -7, 5, 5}, w[4] = {1, 2, 0.5f, 0};
    float y[4];
    norm_rms_select(ISA_REF)(&(struct norm_rms_args){x, y, w, 4, 4, 4, 0.0f}, 0, 1); // mean of squares 25
    const float want[4] = {0.2f, -2.8f, 0.5f, 0.0f};
    for (int i = 0; i < 4; i++) CHECK(fabsf(want[i] - y[i]) < 1e-6f);
}

static void zeros_stay_zeros(void) {
    float x[3] = {0}, w[3] = {1, 1, 1};
    norm_rms_select(ISA_REF)(&(struct norm_rms_args){x, x, w, 3, 3, 3, 1e-5f}, 0, 1);
    for (int i = 0; i < 3; i++) CHECK(x[i] == 0.0f);
}

static void every_set_gives_the_same_bits(void) {
    enum { N = 83, ROWS = 3 };
    struct test_random r = {7};
    float x[ROWS * N], w[N], want[ROWS * N], y[ROWS * N];
    for (int i = 0; i < ROWS * N; i++) x[i] = 100.0f * test_random_float(&r);
    for (int i = 0; i < N; i++) w[i] = test_random_float(&r);
    norm_rms_ref(&(struct norm_rms_args){x, want, w, N, N, N, 1e-6f}, 0, ROWS);
    for (int isa = 0; isa < ISA_COUNT; isa++) {
        if (!isa_available((enum isa)isa)) continue;
        norm_rms_select((enum isa)isa)(&(struct norm_rms_args){x, y, w, N, N, N, 1e-6f}, 0, ROWS);
        CHECK_BYTES(want, y, sizeof y);
    }
}

static const struct test_case cases[] = {
    {"divides by the root of the mean square", divides_by_the_root_of_the_mean_square},
    {"a row of zeros stays zero, in place", zeros_stay_zeros},
    {"every instruction set gives the same bits", every_set_gives_the_same_bits},
};
TEST_MAIN("norm", cases)
