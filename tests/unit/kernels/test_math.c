// Own exp, log, sine and cosine: special values, known values, thresholds, and every instruction set's bits.
#include "base/float16.h"
#include "kernels/math/math.h"
#include "tests/support/test.h"

#include <math.h>

#define CHECK_NEAR(expected, got, bound)                                                                               \
    do {                                                                                                               \
        double e_ = (expected), g_ = (got);                                                                            \
        if (!(fabs(e_ - g_) <= (bound))) test_fail(__FILE__, __LINE__, "%s: expected %a, got %a", #got, e_, g_);       \
    } while (0)

static void special_values(void) {
    CHECK_INT(float_bits(1.0f), float_bits(math_exp(0.0f)));
    CHECK_INT(float_bits(1.0f), float_bits(math_exp(-0.0f)));
    CHECK_INT(float_bits(0.0f), float_bits(math_exp(-INFINITY)));
    CHECK_INT(float_bits(INFINITY), float_bits(math_exp(INFINITY)));
    CHECK(isnan(math_exp(NAN)));
    CHECK_INT(float_bits(0.5f), float_bits(math_sigmoid(0.0f)));
    CHECK_INT(float_bits(0.0f), float_bits(math_sigmoid(-200.0f)));
    CHECK_INT(float_bits(1.0f), float_bits(math_sigmoid(200.0f)));
    CHECK(math_exp64(-INFINITY) == 0.0 && math_exp64(INFINITY) == INFINITY && isnan(math_exp64(NAN)));
    CHECK(math_log64(0.0) == -INFINITY && isnan(math_log64(-1.0)) && math_log64(1.0) == 0.0);
    CHECK(math_log64(INFINITY) == INFINITY);
    CHECK(math_log1p64(-1.0) == -INFINITY && isnan(math_log1p64(-2.0)) && math_log1p64(0.0) == 0.0);
}

static void exp_ends_where_floats_do(void) {
    CHECK(math_exp(MATH_EXP_LOWEST) >= 0x1p-126f);
    CHECK(math_exp(nextafterf(MATH_EXP_LOWEST, -100.0f)) == 0.0f);
    CHECK(isfinite(math_exp(MATH_EXP_HIGHEST)));
    CHECK(isinf(math_exp(nextafterf(MATH_EXP_HIGHEST, 100.0f))));
}

static void known_values(void) {
    CHECK_NEAR(2.718281828459045, (double)math_exp(1.0f), 0x1p-22);
    CHECK_NEAR(0.36787944117144233, math_exp64(-1.0), 0x1p-53);
    CHECK_NEAR(2.302585092994046, math_log64(10.0), 0x1p-51);
    CHECK_NEAR(-744.4400719213812, math_log64(5e-324), 0x1p-42);
    CHECK_NEAR(1e-18, math_log1p64(1e-18), 1e-34);
    CHECK_NEAR(-44.3614195558365, math_log1p64(-1.0 + 0x1p-53) - 11 * 0.6931471805599453, 1e-13);
    double s, c;
    math_sincos64(1e9, &s, &c);
    CHECK_NEAR(0.5458434494486996, s, 1e-15);
    CHECK_NEAR(0.8378871813639024, c, 1e-15);
    math_sincos64(-2.0, &s, &c);
    CHECK_NEAR(-0.9092974268256817, s, 2e-16);
    CHECK_NEAR(-0.4161468365471424, c, 2e-16);
}

static void rows_of_doubles_give_the_single_bits(void) {
    struct test_random r = {1};
    double x[9], y[9];
    for (int i = 0; i < 9; i++) x[i] = 700.0 * (double)test_random_float(&r);
    for (size_t n = 0; n <= 9; n++) {
        math_exp64_row(x, y, n);
        for (size_t i = 0; i < n; i++) CHECK(y[i] == math_exp64(x[i]));
    }
}

static void every_set_gives_the_same_bits(void) {
    static const struct {
        const char *name;
        math_row_fn *fn;
        enum isa isa;
    } variants[] = {
#define VARIANT(name, fn, isa) {#name, fn, isa},
#include "kernels/math/math.def"
#undef VARIANT
    };
    for (size_t v = 0; v < sizeof variants / sizeof variants[0]; v++) {
        if (!isa_available(variants[v].isa)) continue;
        for (uint64_t bits = 0; bits < 0x100000000u; bits += 16411 * 13) {
            float x[13], y[13];
            for (uint32_t i = 0; i < 13; i++) x[i] = float_from_bits((uint32_t)bits + i * 16411);
            variants[v].fn(x, y, 13);
            for (int i = 0; i < 13; i++) {
                float want = variants[v].name[0] == 'e' ? math_exp(x[i]) : math_sigmoid(x[i]);
                if (!isnan(want)) CHECK_INT(float_bits(want), float_bits(y[i]));
                else CHECK(isnan(y[i]));
            }
            if (test_failed()) return;
        }
    }
}

static const struct test_case cases[] = {
    {"special values have their special results", special_values},
    {"exp gives 0 and infinity where floats end", exp_ends_where_floats_do},
    {"known values are met", known_values},
    {"rows of doubles have the bits of single calls", rows_of_doubles_give_the_single_bits},
    {"every instruction set gives the same bits", every_set_gives_the_same_bits},
};
TEST_MAIN("math", cases)
