// Rotary positions: frequencies, the llama3 rule at its borders, turning, and every instruction set's bits.
#include "kernels/rope/rope.h"
#include "tests/support/test.h"

#include <math.h>

static void frequencies_fall_from_one_to_theta(void) {
    double inverse[4];
    rope_frequencies(10000.0, 8, inverse);
    const double want[4] = {1.0, 0.1, 0.01, 0.001};
    for (int i = 0; i < 4; i++) CHECK(fabs(want[i] - inverse[i]) < want[i] * 1e-14);
}

// Wavelengths up to 8192/4 stay, those above 8192/1 are divided by 8, one in between is blended.
static void llama3_scales_long_waves_only(void) {
    const struct rope_llama3 s = {8.0, 1.0, 4.0, 8192.0};
    const double two_pi = 6.283185307179586;
    double inverse[5] = {two_pi / 100, two_pi / 2047, two_pi / 4096, two_pi / 8193, two_pi / 1e6};
    rope_scale_llama3(&s, 5, inverse);
    const double keep = (8192.0 / 4096.0 - 1.0) / (4.0 - 1.0);
    const double want[5] = {two_pi / 100, two_pi / 2047, two_pi / 4096 * ((1 - keep) / 8 + keep), two_pi / 8193 / 8,
                            two_pi / 1e6 / 8};
    for (int i = 0; i < 5; i++) CHECK(fabs(want[i] - inverse[i]) < want[i] * 1e-14);
}

static void position_zero_turns_nothing(void) {
    double inverse[2];
    float c[2], s[2];
    rope_frequencies(10000.0, 4, inverse);
    rope_row(0, inverse, 2, 1.0f, c, s);
    for (int i = 0; i < 2; i++) CHECK(c[i] == 1.0f && s[i] == 0.0f);
}

static void quarter_turn_swaps_the_halves(void) {
    float x[5] = {1, 2, 3, 4, 9};
    const float c[2] = {0, 0}, s[2] = {1, 1}, want[5] = {-3, -4, 1, 2, 9};
    rope_select(ISA_REF)(&(struct rope_args){x, 5, 1, 5, 4, c, s}, 0, 1);
    for (int i = 0; i < 5; i++) CHECK(x[i] == want[i]);
}

static void far_positions_keep_their_precision(void) {
    const double inverse = 1.0;
    float c, s;
    rope_row(1000000, &inverse, 1, 2.0f, &c, &s);
    CHECK(fabs(2 * 0.9367521275331447 - (double)c) < 1e-7);
    CHECK(fabs(2 * -0.34999350217129294 - (double)s) < 1e-7);
}

static void every_set_gives_the_same_bits(void) {
    enum { HEADS = 3, DIM = 50, HALF = 21 };
    struct test_random r = {9};
    float x[HEADS * DIM], want[HEADS * DIM], c[HALF], s[HALF];
    for (int i = 0; i < HALF; i++) c[i] = test_random_float(&r), s[i] = test_random_float(&r);
    for (int isa = 0; isa < ISA_COUNT; isa++) {
        if (!isa_available((enum isa)isa)) continue;
        for (int i = 0; i < HEADS * DIM; i++) x[i] = want[i] = 10.0f * test_random_float(&r);
        rope_ref(&(struct rope_args){want, HEADS * DIM, HEADS, DIM, 2 * HALF, c, s}, 0, 1);
        rope_select((enum isa)isa)(&(struct rope_args){x, HEADS * DIM, HEADS, DIM, 2 * HALF, c, s}, 0, 1);
        CHECK_BYTES(want, x, sizeof x);
    }
}

static const struct test_case cases[] = {
    {"frequencies fall from 1 to theta", frequencies_fall_from_one_to_theta},
    {"llama3 scaling divides long waves only", llama3_scales_long_waves_only},
    {"position 0 turns nothing", position_zero_turns_nothing},
    {"a quarter turn swaps the halves of the turned dims", quarter_turn_swaps_the_halves},
    {"far positions keep their precision, times the scale", far_positions_keep_their_precision},
    {"every instruction set gives the same bits", every_set_gives_the_same_bits},
};
TEST_MAIN("rope", cases)
