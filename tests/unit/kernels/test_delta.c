// The gated delta rule: lengths, gates and steps that can be worked out by hand, and every instruction set's bits.
#include "kernels/delta/delta.h"
#include "tests/support/test.h"

#include <math.h>
#include <string.h>

static void heads_get_unit_length_and_gates(void) {
    static const struct delta_shape shape = {1, 2, 4, 1};
    float c[10] = {3, 0, 4, 0, 0, -2, 0, 0, 7, 8}, alpha[2], beta[2];
    const float a[2] = {-1, 30}, b[2] = {0, 2}, decay[2] = {-1, -0.5f}, dt_bias[2] = {1, -2};
    delta_prepare_select(ISA_REF)(&(struct delta_prepare_args){&shape, c, a, b, decay, dt_bias, alpha, beta}, 0, 1);
    const float want[10] = {0.3f, 0, 0.4f, 0, 0, -1, 0, 0, 7, 8}; // 3/5 and 4/5, times 4^-1/2; then k; v as it was
    for (int i = 0; i < 10; i++) CHECK(fabsf(want[i] - c[i]) < 1e-6f);
    CHECK(fabsf(alpha[0] - 0.5f) < 1e-6f);            // exp(-log(1 + exp(0)))
    CHECK(fabsf(alpha[1] / expf(-14.0f) - 1) < 1e-5f); // softplus(28) is 28
    CHECK(beta[0] == 0.5f);
    CHECK(fabsf(beta[1] - 0.8807971f) < 1e-6f);
}

static void zero_heads_stay_zero(void) {
    static const struct delta_shape shape = {1, 1, 3, 1};
    float c[7] = {0}, gates[2];
    const float zero[1] = {0};
    const struct delta_prepare_args a = {&shape, c, zero, zero, zero, zero, gates, gates + 1};
    delta_prepare_select(ISA_REF)(&a, 0, 1);
    for (int i = 0; i < 7; i++) CHECK(c[i] == 0.0f);
    CHECK(gates[0] == 1.0f);
}

// One key value of 1 writes beta of the value into its row of the state; the query reads it; the next step decays it.
static void writes_and_reads_a_memory(void) {
    const float key[2] = {0, 1}, query[2] = {0.5f, 2}, v[1] = {8}, zero[1] = {0};
    float state[2] = {4, 0}, y[1];
    struct delta_step_args step = {query, key, v, 0.5f, 0.25f, state, state, y, 2, 1, 1, 1};
    delta_step_select(ISA_REF)(&step);
    CHECK(state[0] == 2.0f && state[1] == 2.0f); // 4 * 0.5; 0.25 * (8 - 0)
    CHECK(y[0] == 5.0f);                         // 0.5 * 2 + 2 * 2
    step.v = zero;
    delta_step_select(ISA_REF)(&step);
    CHECK(state[0] == 1.0f && state[1] == 0.75f); // 1 - 0.25 * 1
    CHECK(y[0] == 2.0f);
}

static void every_set_gives_the_same_bits(void) {
    enum { K = 24, N = 91 };
    struct test_random r = {5};
    static float from[K * N], want[K * N], got[K * N];
    float q[K], k[K], v[N], y_want[N], y_got[N];
    for (int i = 0; i < K * N; i++) from[i] = test_random_float(&r);
    for (int i = 0; i < K; i++) q[i] = test_random_float(&r), k[i] = test_random_float(&r);
    for (int i = 0; i < N; i++) v[i] = test_random_float(&r);
    delta_step_ref(&(struct delta_step_args){q, k, v, 0.9f, 0.3f, from, want, y_want, K, N, N, N});
    for (int isa = 0; isa < ISA_COUNT; isa++) {
        if (!isa_available((enum isa)isa)) continue;
        memset(got, 0, sizeof got);
        delta_step_select((enum isa)isa)(
            &(struct delta_step_args){q, k, v, 0.9f, 0.3f, from, got, y_got, K, N, N, N});
        CHECK_BYTES(want, got, sizeof want);
        CHECK_BYTES(y_want, y_got, sizeof y_want);
        CHECK(delta_step_columns((enum isa)isa) >= 1);
    }
}

static const struct test_case cases[] = {
    {"heads get unit length, gates open and decay", heads_get_unit_length_and_gates},
    {"heads of zeros stay zero", zero_heads_stay_zero},
    {"a step decays, writes and reads a memory", writes_and_reads_a_memory},
    {"every instruction set gives the same bits", every_set_gives_the_same_bits},
};
TEST_MAIN("delta", cases)
