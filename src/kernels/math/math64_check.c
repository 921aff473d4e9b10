// Checks of the double-precision exp, log, log1p, sine and cosine against libm in long double.
#include "kernels/check.h"
#include "kernels/math/math.h"

#include <float.h>
#include <math.h>

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

struct variant {
    double (*fn)(double x);
    long double (*exact)(long double x);
    double low, high;  // the domain that is sampled
    bool magnitudes;   // sampled evenly by exponent: x = +-2^uniform(low, high)
    double least, ulps; // off by at most `ulps` last places, of `least` for results below it
};

static double sine(double x) {
    double s, c;
    math_sincos64(x, &s, &c);
    return s;
}

static double cosine(double x) {
    double s, c;
    math_sincos64(x, &s, &c);
    return c;
}

static double sample(struct check *c, const struct variant *v) {
    double at = (double)(check_random(c) >> 11) * 0x1p-53, x = v->low + (v->high - v->low) * at;
    if (!v->magnitudes) return x;
    return v->fn == math_log64 || check_below(c, 2) ? exp2(x) : -exp2(x);
}

static void accuracy(struct check *c, const void *variant) {
    const struct variant *v = variant;
    for (int i = 0; i < 200000 && !check_failed(c); i++) {
        double x = sample(c, v);
        long double want = v->exact((long double)x);
        double last_place = exp2(floor(log2(fmax((double)fabsl(want), v->least))) - 52);
        long double off = fabsl((long double)v->fn(x) - want);
        if (!(off <= (long double)(v->ulps * last_place)))
            check_fail(c, "of %a: %.2f last places off, at most %.2f", x, (double)off / last_place, v->ulps);
    }
}

// Wrong on purpose.
static double exp_drifts(double x) { return math_exp64(x) * (1.0 + 1e-15); }
static double log_of_sum(double x) { return math_log64(1.0 + x); }
static double sine_reduced_once(double x) { return sin(x - 6.283185307179586 * rint(x / 6.283185307179586)); }

#define EXP expl, -708, 709, false, DBL_MIN, 1.5
#define LOG logl, -1022, 1023, true, DBL_MIN, 1.5
#define LOG1P log1pl, -70, -0.001, true, DBL_MIN, 1.5
#define SINE sinl, -0x1p+31, 0x1p+31, false, 0x1p-20, 1.5
#define COSINE cosl, -0x1p+31, 0x1p+31, false, 0x1p-20, 1.5

static const struct variant right[] = {
    {math_exp64, EXP}, {math_log64, LOG}, {math_log1p64, LOG1P}, {sine, SINE}, {cosine, COSINE}};
static const struct variant wrong[] = {{exp_drifts, EXP}, {log_of_sum, LOG1P}, {sine_reduced_once, SINE}};

static const struct check_kernel kernels[] = {{"exp", ISA_REF, &right[0]},
                                              {"log", ISA_REF, &right[1]},
                                              {"log1p", ISA_REF, &right[2]},
                                              {"sine", ISA_REF, &right[3]},
                                              {"cosine", ISA_REF, &right[4]}};
static const struct check_fault faults[] = {
    {"drifting_exp", "exp is ten last places too large", CHECK_GATE_ACCURACY, &wrong[0]},
    {"log_of_sum", "log1p rounds 1 + x first", CHECK_GATE_ACCURACY, &wrong[1]},
    {"sine_reduced_once", "the angle is reduced by one double", CHECK_GATE_ACCURACY, &wrong[2]},
};

const struct check_family math64_check = {
    .name = "math64",
    .domain = "exp: any; log: x >= 0; log1p: x >= -1; sine and cosine: |x| <= 2^31",
    .gate = {[CHECK_GATE_ACCURACY] = accuracy},
    .kernels = kernels,
    .n_kernels = COUNT(kernels),
    .faults = faults,
    .n_faults = COUNT(faults),
};
