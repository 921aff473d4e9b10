// Checks of the fp32 exp and sigmoid: bits over a dense sample of all floats, accuracy against libm in double.
#include "kernels/check_rows.h"
#include "kernels/math/math.h"

#include "base/float16.h"

#include <math.h>

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

struct function {
    math_row_fn *reference;
    double (*exact)(double x);
    double bound; // relative, of the fp32 result
};

struct variant {
    math_row_fn *fn;
    const struct function *of;
};

static double sigmoid(double x) { return 1 / (1 + exp(-x)); }

// exp: 1 ulp is at most 2^-23. sigmoid: that weighs at most 1 in the sum; then a sum and a quotient of half an ulp.
static const struct function exp_function = {math_exp_row_ref, exp, 0x1p-23};
static const struct function sigmoid_function = {math_sigmoid_row_ref, sigmoid, 0x1.01p-22};

// Every SAMPLE-th float (an odd number, so all exponents, signs and low bits come up), and those around the thresholds.
enum { SAMPLE = 4099, BATCH = 1000 };

static size_t batch(float *x, uint64_t *bits) {
    size_t n = 0;
    for (; n < BATCH && *bits < 0x100000000u; *bits += SAMPLE) x[n++] = float_from_bits((uint32_t)*bits);
    return n;
}

static size_t around_thresholds(float *x) {
    static const float middle[] = {MATH_EXP_LOWEST, MATH_EXP_HIGHEST, -MATH_EXP_LOWEST, -MATH_EXP_HIGHEST,
                                   INFINITY,        -INFINITY,        0x1p-126f,        0.34657359f};
    size_t n = 0;
    for (size_t i = 0; i < COUNT(middle); i++)
        for (uint32_t step = 0; step < 64; step++) x[n++] = float_from_bits(float_bits(middle[i]) + step - 32);
    return n;
}

static void bits(struct check *c, const void *variant) {
    const struct variant *v = variant;
    float x[BATCH], want[BATCH], got[BATCH];
    size_t n = around_thresholds(x);
    for (uint64_t at = 0; n && !check_failed(c); n = batch(x, &at)) {
        v->of->reference(x, want, n);
        v->fn(x, got, n);
        check_same(c, want, got, n, "from %a on: y", (double)x[0]);
    }
}

// Below the smallest normal number 0 is right too, above the largest finite one infinity is.
static void accuracy(struct check *c, const void *variant) {
    const struct variant *v = variant;
    float x[BATCH], y[BATCH];
    size_t n = around_thresholds(x);
    for (uint64_t at = 0; n && !check_failed(c); n = batch(x, &at)) {
        v->fn(x, y, n);
        for (size_t i = 0; i < n; i++) {
            double want = v->of->exact((double)x[i]);
            if (isnan(x[i]) && !isnan(y[i])) check_fail(c, "NaN gives %g", (double)y[i]);
            if (isnan(x[i]) || (want > 0x1.fffffefp+127 && isinf(y[i]))) continue;
            double flushed = want < 0x1.000001p-126 ? 0x1.0001p-126 : 0;
            check_near(c, want, (double)y[i], want * v->of->bound + flushed, "of %a", (double)x[i]);
        }
    }
}

static void run(const void *variant, const struct check_rows_call *call) {
    for (size_t r = call->begin; r < call->end; r++)
        ((const struct variant *)variant)->fn(call->in + r * call->ld, call->out + r * call->ld, call->n);
}

static const struct check_rows_op op = {1, 1, 0, run, NULL};
static void rows(struct check *c, const void *variant) { check_rows_alone(c, &op, variant); }
static void partition(struct check *c, const void *variant) { check_rows_partition(c, &op, variant); }
static void edges(struct check *c, const void *variant) { check_rows_edges(c, &op, variant); }

// Wrong on purpose.
static void short_log2(const float *x, float *y, size_t n) {
    for (size_t i = 0; i < n; i++) {
        float whole = rintf(x[i] * MATH_EXP_LOG2E);
        y[i] = fabsf(x[i]) < 80.0f ? ldexpf(math_exp(x[i] - whole * 0.6931f), (int)whole) : math_exp(x[i]);
    }
}

static void keeps_subnormals(const float *x, float *y, size_t n) {
    for (size_t i = 0; i < n; i++) y[i] = x[i] < MATH_EXP_LOWEST ? (float)exp((double)x[i]) : math_exp(x[i]);
}

static void loses_nan(const float *x, float *y, size_t n) {
    for (size_t i = 0; i < n; i++) y[i] = isnan(x[i]) ? 0.0f : math_exp(x[i]);
}

static void whole_registers(const float *x, float *y, size_t n) {
    math_exp_row_ref(x, y, n);
    for (; n % 8; n++) y[n] = 1.0f;
}

static const struct variant wrong[] = {
    {short_log2, &exp_function},
    {keeps_subnormals, &exp_function},
    {loses_nan, &exp_function},
    {whole_registers, &exp_function},
};
static const struct check_fault faults[] = {
    {"short_log2", "the reduction takes log 2 in four digits", CHECK_GATE_ACCURACY, &wrong[0]},
    {"keeps_subnormals", "results below the normal range are not flushed", CHECK_GATE_BITS, &wrong[1]},
    {"loses_nan", "NaN becomes 0", CHECK_GATE_BITS, &wrong[2]},
    {"whole_registers", "the last register is stored whole", CHECK_GATE_EDGES, &wrong[3]},
};

#define VARIANT(name, fn, isa) static const struct variant fn##_variant = {fn, &name##_function};
#include "kernels/math/math.def"
#undef VARIANT

static const struct check_kernel kernels[] = {
#define VARIANT(name, fn, isa) {#name, isa, &fn##_variant},
#include "kernels/math/math.def"
#undef VARIANT
};

const struct check_family math_check = {
    .name = "math",
    .domain = "any float, infinities and NaN included",
    .gate = {bits, accuracy, rows, partition, NULL, edges},
    .kernels = kernels,
    .n_kernels = COUNT(kernels),
    .faults = faults,
    .n_faults = COUNT(faults),
};
